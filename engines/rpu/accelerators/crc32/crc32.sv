// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// CRC-32 of Ethernet over any bytes of packet memory.
//
//   LENGTH written ─> accel_rows ─> row ‖ first four bytes ^ start value ‖ CRC of each word ‖ their sum ‖ state ‖ ─┐
//   CRC ‖ <─ back by 64 bytes ‖ <─ ... ‖ <─ by 2 ‖ <─ by 1 ‖ <───────────────────────────────── after the last row ┘
//
// A row a cycle. If CRC is read directly after LENGTH is written, n rows hold the core for 18 + n cycles without other
// reads of packet memory.
//
// No byte is moved: zeros before the first byte leave a state of zero as it is, and the start value, which the state
// would begin with, is added to the first four bytes instead, which comes to the same. The last row is filled up with
// zeros, which moves the state as far as so many bytes; each step at the end takes a power of two of them back.
module crc32
  import penstock_pkg::*;
  import rpu_pkg::at;
(
    input wire logic clk,
    input wire logic rst,
    accel_if.accel   bus
);
  localparam int unsigned Stages = 4;  // row to state
  localparam int unsigned Steps = 7;
  localparam logic [31:0] Polynomial = 32'hEDB8_8320;  // the lowest bit comes first

  typedef logic [31:0] state_t;
  typedef state_t [31:0] matrix_t;  // column i: what bit i becomes
  typedef state_t [DataW-1:0] row_matrix_t;

  function automatic state_t times(matrix_t matrix, state_t state);
    times = '0;
    for (int unsigned i = 0; i < 32; i++) if (state[i]) times ^= matrix[i];
  endfunction

  // For each bit of a row, the value that it adds to the state after the row.
  function automatic row_matrix_t row_columns();
    state_t state;
    for (int unsigned b = 0; b < 8; b++) begin
      state = 32'd1 << b;
      for (int p = BeatBytes - 1; p >= 0; p--) begin
        for (int unsigned i = 0; i < 8; i++) state = (state >> 1) ^ (state[0] ? Polynomial : '0);
        row_columns[32'(p)*8+b] = state;
      end
    end
  endfunction

  // The state before 2^n zero bytes, computed from the state after them.
  function automatic matrix_t back(int unsigned n);
    matrix_t double;
    for (int unsigned i = 0; i < 32; i++) begin
      back[i] = 32'd1 << i;
      for (int unsigned k = 0; k < 8; k++)
        back[i] = {back[i][30:0] ^ (back[i][31] ? Polynomial[30:0] : '0), 1'b0} | 32'(back[i][31]);
    end
    for (int unsigned k = 0; k < n; k++) begin
      for (int unsigned i = 0; i < 32; i++) double[i] = times(back, back[i]);
      back = double;
    end
  endfunction

  localparam row_matrix_t Row = row_columns();

  // --- Core ---------------------------------------------------------------------------------------------------------

  logic start, busy_q, done;
  state_t addr_q, initial_q, crc_q;

  assign start = bus.wr_en && at(bus.addr[7:2], rpu_regs_pkg::CRC32_LENGTH);

  always_ff @(posedge clk) begin
    if (bus.wr_en && at(bus.addr[7:2], rpu_regs_pkg::CRC32_ADDR)) addr_q <= bus.wdata;
    if (bus.wr_en && at(bus.addr[7:2], rpu_regs_pkg::CRC32_INITIAL)) initial_q <= bus.wdata;
    if (start) busy_q <= 1'b1;
    else if (done) busy_q <= 1'b0;
    if (rst) begin
      initial_q <= '0;
      busy_q    <= 1'b0;
    end
  end

  assign bus.rdata    = at(bus.addr[7:2], rpu_regs_pkg::CRC32_CRC) ? crc_q : '0;
  assign bus.rd_valid = bus.rd_en && !busy_q;

  // --- Rows ---------------------------------------------------------------------------------------------------------

  logic row_valid, row_first, row_last;
  logic [5:0] skip;
  logic [6:0] row_tail;
  logic [DataW-1:0] row;

  accel_rows #(
      .Least(4)
  ) i_rows (
      .clk,
      .rst,
      .start,
      .addr(addr_q),
      .length(bus.wdata),
      .room(1'b1),
      .asked(),
      .error(bus.error),
      .skip,
      .pm_en(bus.pm_en),
      .pm_row(bus.pm_row),
      .pm_ready(bus.pm_ready),
      .pm_rdata(bus.pm_rdata),
      .pm_rvalid(bus.pm_rvalid),
      .valid(row_valid),
      .first(row_first),
      .last(row_last),
      .data(row),
      .keep(),
      .tail(row_tail)
  );

  // --- State --------------------------------------------------------------------------------------------------------

  // The initial value is added to the first four bytes of the range, which may extend into the second row.
  logic second_q;
  state_t value_q;  // as a word of the row holds it
  logic [BeatBytes-1:0] in_first_q;
  logic [2:0] in_second_q;
  logic [BeatBytes-1:0] gets;

  assign gets = row_first ? in_first_q : second_q ? BeatBytes'(in_second_q) : '0;

  always_ff @(posedge clk) begin
    if (start) begin
      unique case (addr_q[1:0])
        2'd0: value_q <= ~initial_q;
        2'd1: value_q <= ~{initial_q[23:0], initial_q[31:24]};
        2'd2: value_q <= ~{initial_q[15:0], initial_q[31:16]};
        2'd3: value_q <= ~{initial_q[7:0], initial_q[31:8]};
      endcase
    end
    for (int unsigned b = 0; b < BeatBytes; b++) in_first_q[b] <= b >= 32'(skip) && b < 32'(skip) + 4;
    for (int unsigned b = 0; b < 3; b++) in_second_q[b] <= b + 64 < 32'(skip) + 4;
    if (row_valid) second_q <= row_first;
  end

  logic [Stages:1] valid_q, last_q;
  logic [Stages-1:1] first_q;
  logic [Stages:1][6:0] tail_q;
  logic [DataW-1:0] row_q;
  logic [DataW/32-1:0][31:0] words_q;
  state_t row_crc_q, state_q, row_crc, next;

  always_comb begin
    row_crc = '0;
    for (int unsigned w = 0; w < DataW / 32; w++) row_crc ^= words_q[w];
    next = row_crc_q;
    // The state meets the first four bytes of the row.
    for (int unsigned i = 0; i < 32; i++) if (state_q[i] && !first_q[3]) next ^= Row[i];
  end

  always_ff @(posedge clk) begin
    for (int unsigned b = 0; b < BeatBytes; b++) row_q[b*8+:8] <= row[b*8+:8] ^ (gets[b] ? value_q[b%4*8+:8] : 8'd0);
    for (int unsigned w = 0; w < DataW / 32; w++) words_q[w] <= times(Row[w*32+:32], row_q[w*32+:32]);
    row_crc_q <= row_crc;
    if (valid_q[3]) state_q <= next;
  end

  always_ff @(posedge clk) begin
    valid_q <= start ? '0 : {valid_q[Stages-1:1], row_valid};
    last_q  <= {last_q[Stages-1:1], row_last};
    first_q <= {first_q[Stages-2:1], row_first};
    tail_q  <= {tail_q[Stages-1:1], row_tail};
    if (rst) valid_q <= '0;
  end

  // --- Back by the zeros behind the last byte
  // -------------------------------------------------------------------------

  logic [Steps:0] step_valid_q;
  logic [Steps:0][Steps-1:0] count;
  state_t [Steps:0] step;
  logic [Steps:1][Steps-1:0] count_q;
  state_t [Steps:1] step_q;

  assign step  = {step_q, state_q};
  assign count = {count_q, tail_q[Stages]};

  for (genvar n = 0; n < Steps; n++) begin : gen_back
    localparam matrix_t Back = back(n);

    always_ff @(posedge clk) begin
      step_q[n+1]  <= count[n][n] ? times(Back, step[n]) : step[n];
      count_q[n+1] <= count[n];
    end
  end

  assign step_valid_q[0] = valid_q[Stages] && last_q[Stages];

  always_ff @(posedge clk) begin
    step_valid_q[Steps:1] <= start ? '0 : step_valid_q[Steps-1:0];
    if (rst) step_valid_q[Steps:1] <= '0;
    if (done) crc_q <= ~step_q[Steps];
    if (rst) crc_q <= '0;
  end
  assign done = step_valid_q[Steps];

  // --- No tables ----------------------------------------------------------------------------------------------------

  always_ff @(posedge clk) bus.ld_rvalid <= bus.ld_rd && !rst;
  assign bus.ld_rdata = '0;

  wire unused = &{1'b0, bus.addr, bus.ld_wr, bus.ld_addr, bus.ld_wdata, count_q[Steps]};
endmodule

`default_nettype wire
