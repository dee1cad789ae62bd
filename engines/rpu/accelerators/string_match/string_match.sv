// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// Searches any bytes of packet memory for up to 16 patterns, 128 bytes in total: Shift-And (Baeza-Yates and Gonnet, "A
// New Approach to Text Searching", 1992). Each byte of each pattern has a place, and the places of a pattern are
// adjacent. One bit per place is set if the bytes read last match the pattern up to that place. The table has, for each
// value of a byte, the places where it may occur.
//
//   LENGTH written ─> accel_rows ─> row, shifted by four bytes a cycle ─> 4 look-ups ‖ (block RAM) ‖ which count ‖ 4 steps ‖ ─┐
//   FOUND, END ‖ <─ places to patterns: one a cycle ‖ <──────────── first end ‖ <─ any? ‖ <─ any of 8? ‖ <─ ends of patterns ┘
//
// Four bytes a cycle, and always a whole row. If read directly after LENGTH is written, FOUND or END hold the core for
// 14 cycles and 16 for each row, and for 17 more if a pattern was found, without other reads of packet memory.
//
// The host writes the table at any time, from the window's start on: at 16 c + 4 w, for byte c, bits 32 w to 32 w + 31
// of its places; at 0x1000 + 4 w those of the places where patterns begin, at 0x1010 + 4 w where they end; at 0x1040 +
// 4 n the place where pattern n ends, and 0x80 if there is one. Its read takes a cycle from the search.
module string_match
  import penstock_pkg::*;
  import rpu_pkg::at;
(
    input wire logic clk,
    input wire logic rst,
    accel_if.accel   bus
);
  localparam int unsigned Places = 128;
  localparam int unsigned Patterns = 16;
  localparam int unsigned Lanes = 4;  // bytes a cycle
  localparam int unsigned Groups = Places / 8;
  // A row takes seven cycles to arrive, so the next row is requested when this many words are left.
  localparam int unsigned Ahead = 7;

  typedef logic [Places-1:0] places_t;
  typedef logic [21:0] offset_t;  // bytes from the start of the range on

  // --- Core ---------------------------------------------------------------------------------------------------------

  logic start, busy_q, done;
  logic [31:0] addr_q;
  logic [Patterns-1:0] found_q;
  offset_t end_q;

  assign start = bus.wr_en && at(bus.addr[7:2], rpu_regs_pkg::STRING_MATCH_LENGTH);

  always_ff @(posedge clk) begin
    if (bus.wr_en && at(bus.addr[7:2], rpu_regs_pkg::STRING_MATCH_ADDR)) addr_q <= bus.wdata;
    if (start) busy_q <= 1'b1;
    else if (done) busy_q <= 1'b0;
    if (rst) busy_q <= 1'b0;
  end

  always_comb begin
    bus.rdata = '0;
    if (at(bus.addr[7:2], rpu_regs_pkg::STRING_MATCH_FOUND)) bus.rdata = 32'(found_q);
    if (at(bus.addr[7:2], rpu_regs_pkg::STRING_MATCH_END)) bus.rdata = 32'(end_q);
  end
  assign bus.rd_valid = bus.rd_en && !busy_q;

  // --- Rows to words ------------------------------------------------------------------------------------------------

  logic row_valid, row_first, row_last, asked;
  logic [5:0] skip;
  logic [DataW-1:0] row;
  logic [BeatBytes-1:0] row_keep;

  logic coming_q, waits_q, last_q, take, advance, ld_rd_q;
  logic [4:0] words_q;  // in the register
  logic [DataW-1:0] row_q;
  logic [BeatBytes-1:0] keep_q;
  offset_t offset_q;  // of the first byte in the register

  accel_rows i_rows (
      .clk,
      .rst,
      .start,
      .addr(addr_q),
      .length(bus.wdata),
      .room(words_q <= 5'(Ahead) && !coming_q && !waits_q),
      .asked,
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
      .keep(row_keep),
      .tail()
  );

  assign advance = words_q != 0 && !ld_rd_q;
  assign take    = (row_valid || waits_q) && (words_q == 0 || (words_q == 1 && advance));

  always_ff @(posedge clk) begin
    if (advance) begin
      row_q    <= row_q >> 32;
      keep_q   <= keep_q >> Lanes;
      offset_q <= offset_q + offset_t'(Lanes);
      words_q  <= words_q - 5'd1;
    end
    if (take) begin
      row_q   <= row;
      keep_q  <= row_keep;
      last_q  <= row_last;
      words_q <= 5'd16;
      if (row_first) offset_q <= -offset_t'(skip);
    end
    waits_q  <= (row_valid || waits_q) && !take;
    coming_q <= asked || (coming_q && !row_valid);
    if (start || rst) begin
      words_q  <= '0;
      waits_q  <= 1'b0;
      coming_q <= 1'b0;
    end
  end

  // --- Table --------------------------------------------------------------------------------------------------------

  logic ld_wr_q, peek_q, ld_rvalid_q;
  logic [19:2] ld_addr_q;
  logic [31:0] ld_wdata_q, ld_rdata_q;
  places_t firsts_q, lasts_q;
  logic [Lanes-1:0][3:0][31:0] allowed_q;  // block RAM
  (* ram_style = "distributed" *) logic [7:0] ends_mem[Patterns];

  wire ld_byte = ld_addr_q[19:12] == 0;
  wire ld_firsts = ld_addr_q[19:4] == 16'h0100;
  wire ld_lasts = ld_addr_q[19:4] == 16'h0101;
  wire ld_ends = ld_addr_q[19:6] == 14'h0041;

  initial begin
    firsts_q = '0;
    lasts_q  = '0;
    for (int unsigned n = 0; n < Patterns; n++) ends_mem[n] = '0;
  end

  for (genvar l = 0; l < Lanes; l++) begin : gen_lane
    (* ram_style = "block" *) logic [3:0][31:0] allowed_mem[256];
    wire [7:0] value = l == 0 && ld_rd_q ? ld_addr_q[11:4] : row_q[l*8+:8];

    initial for (int unsigned c = 0; c < 256; c++) allowed_mem[c] = '0;

    always_ff @(posedge clk) begin
      if (ld_wr_q && ld_byte) allowed_mem[ld_addr_q[11:4]][ld_addr_q[3:2]] <= ld_wdata_q;
      allowed_q[l] <= allowed_mem[value];
    end
  end

  always_ff @(posedge clk) begin
    if (bus.ld_wr || bus.ld_rd) begin
      ld_addr_q  <= bus.ld_addr[19:2];
      ld_wdata_q <= bus.ld_wdata;
    end
    if (ld_wr_q && ld_firsts) firsts_q[{ld_addr_q[3:2], 5'd0}+:32] <= ld_wdata_q;
    if (ld_wr_q && ld_lasts) lasts_q[{ld_addr_q[3:2], 5'd0}+:32] <= ld_wdata_q;
    if (ld_wr_q && ld_ends) ends_mem[ld_addr_q[5:2]] <= ld_wdata_q[7:0];
    ld_rdata_q <= '0;
    if (ld_byte) ld_rdata_q <= allowed_q[0][ld_addr_q[3:2]];
    if (ld_firsts) ld_rdata_q <= firsts_q[{ld_addr_q[3:2], 5'd0}+:32];
    if (ld_lasts) ld_rdata_q <= lasts_q[{ld_addr_q[3:2], 5'd0}+:32];
    if (ld_ends) ld_rdata_q <= 32'(ends_mem[ld_addr_q[5:2]]);
  end

  always_ff @(posedge clk) begin
    ld_wr_q     <= bus.ld_wr && !rst;
    ld_rd_q     <= bus.ld_rd && !rst;
    peek_q      <= ld_rd_q && !rst;
    ld_rvalid_q <= peek_q && !rst;
  end
  assign bus.ld_rdata  = ld_rdata_q;
  assign bus.ld_rvalid = ld_rvalid_q;

  // --- Steps --------------------------------------------------------------------------------------------------------

  localparam int unsigned Stages = 6;

  logic [Stages:1] valid_q, end_of_range_q;
  offset_t [Stages:1] word_q;  // offset of the word in each stage
  logic [Lanes-1:0] counts_q;
  places_t [Lanes-1:0] may_q;
  places_t [Lanes:0] reached;
  places_t [Lanes:1] reached_q;
  logic [Lanes:1][Groups-1:0] any_q;
  logic [Lanes:1] ends_q;
  places_t seen_q;
  logic some_q;  // an end was seen
  offset_t first_end_q;

  assign reached[0] = reached_q[Lanes];
  for (genvar l = 0; l < Lanes; l++) begin : gen_step
    assign reached[l+1] = ({reached[l][Places-2:0], 1'b0} | firsts_q) & may_q[l];
  end

  always_ff @(posedge clk) begin
    counts_q <= keep_q[Lanes-1:0];
    for (int unsigned l = 0; l < Lanes; l++) may_q[l] <= counts_q[l] ? allowed_q[l] : '0;
    if (valid_q[2]) reached_q <= reached[Lanes:1];
    for (int unsigned l = 1; l <= Lanes; l++) begin
      for (int unsigned g = 0; g < Groups; g++) any_q[l][g] <= (reached_q[l][g*8+:8] & lasts_q[g*8+:8]) != 0;
      ends_q[l] <= any_q[l] != 0;
    end
    if (valid_q[3]) seen_q <= seen_q | ((reached_q[1] | reached_q[2] | reached_q[3] | reached_q[4]) & lasts_q);
    if (valid_q[5] && ends_q != 0 && !some_q) begin
      some_q      <= 1'b1;
      first_end_q <= word_q[5] + (ends_q[1] ? 22'd1 : ends_q[2] ? 22'd2 : ends_q[3] ? 22'd3 : 22'd4);
    end
    word_q         <= {word_q[Stages-1:1], offset_q};
    end_of_range_q <= {end_of_range_q[Stages-1:1], last_q && words_q == 1};
    valid_q        <= {valid_q[Stages-1:1], advance};
    if (start) begin
      reached_q[Lanes] <= '0;
      seen_q           <= '0;
      some_q           <= 1'b0;
      first_end_q      <= '0;
    end
    if (start || rst) valid_q <= '0;
  end

  // --- Places to patterns -------------------------------------------------------------------------------------------

  wire over = valid_q[Stages] && end_of_range_q[Stages];
  logic [4:0] pattern_q;  // Patterns: none
  logic pick_q;
  logic [3:0] number_q;
  logic [3:0] group_q;
  logic [Groups-1:0] of_group_q;  // of each group of eight places the one that the pattern would have
  wire [7:0] place = ends_mem[pattern_q[3:0]];

  always_ff @(posedge clk) begin
    if (over && some_q) pattern_q <= '0;
    else if (pattern_q != 5'(Patterns)) pattern_q <= pattern_q + 5'd1;
    for (int unsigned g = 0; g < Groups; g++) of_group_q[g] <= seen_q[g*8+32'(place[2:0])] && place[7];
    group_q     <= place[6:3];
    number_q    <= pattern_q[3:0];
    pick_q      <= pattern_q != 5'(Patterns);
    if (pick_q) begin
      found_q[number_q] <= of_group_q[group_q];
      end_q             <= first_end_q;
    end
    if (start || rst) begin
      pattern_q <= 5'(Patterns);
      pick_q    <= 1'b0;
      found_q   <= '0;
      end_q     <= '0;
    end
  end
  assign done = (over && !some_q) || (pick_q && number_q == 4'(Patterns - 1));

  wire unused = &{1'b0, bus.addr, bus.ld_addr};
endmodule

`default_nettype wire
