// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// Internet checksum (RFC 1071) over any bytes of packet memory.
//
//   LENGTH written ─> accel_rows ─> 32 words ‖ 8 sums of 4 ‖ 2 sums of 4 ‖ their sum ‖ total ‖ fold ‖ fold ‖ fold ‖ SUM
//
// A row a cycle. If SUM is read directly after LENGTH is written, n rows hold the core for 13 + n cycles without other
// reads of packet memory. The rows are summed in place. If the first byte is at an odd address, all bytes are in the
// other half of their words, and so are the bytes of the sum (RFC 1071, section 2B): the accelerator swaps the bytes of
// INITIAL and of the sum.
module checksum
  import penstock_pkg::*;
  import rpu_pkg::at;
(
    input wire logic clk,
    input wire logic rst,
    accel_if.accel   bus
);
  localparam int unsigned Stages = 6;

  function automatic logic [31:0] swap(logic odd, logic [31:0] halves);
    return odd ? {halves[23:16], halves[31:24], halves[7:0], halves[15:8]} : halves;
  endfunction

  // --- Core ---------------------------------------------------------------------------------------------------------

  logic start, busy_q, odd;
  logic [31:0] addr_q, initial_q, begin_q;
  logic [15:0] sum_q;

  assign start = bus.wr_en && at(bus.addr[7:2], rpu_regs_pkg::CHECKSUM_LENGTH);
  assign odd   = addr_q[0];

  always_ff @(posedge clk) begin
    if (bus.wr_en && at(bus.addr[7:2], rpu_regs_pkg::CHECKSUM_ADDR)) addr_q <= bus.wdata;
    if (bus.wr_en && at(bus.addr[7:2], rpu_regs_pkg::CHECKSUM_INITIAL)) initial_q <= bus.wdata;
    if (rst) initial_q <= '0;
  end

  assign bus.rdata    = at(bus.addr[7:2], rpu_regs_pkg::CHECKSUM_SUM) ? 32'(sum_q) : '0;
  assign bus.rd_valid = bus.rd_en && !busy_q;

  // --- Rows ---------------------------------------------------------------------------------------------------------

  logic row_valid, row_first, row_last;
  logic [DataW-1:0] row;

  accel_rows i_rows (
      .clk,
      .rst,
      .start,
      .addr(addr_q),
      .length(bus.wdata),
      .room(1'b1),
      .asked(),
      .error(bus.error),
      .skip(),
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
      .tail()
  );

  // --- Sums ---------------------------------------------------------------------------------------------------------

  logic [Stages:1] valid_q, last_q;
  logic [3:1] first_q;
  logic [7:0][17:0] fours_q;
  logic [1:0][19:0] sixteens_q;
  logic [20:0] row_sum_q;
  logic [35:0] total_q;  // of up to 2^19 words
  logic [17:0] fold_q;
  logic [16:0] refold_q;
  logic was_odd_q;

  always_ff @(posedge clk) begin
    if (start) begin
      begin_q   <= swap(odd, initial_q);
      was_odd_q <= odd;
    end
    for (int unsigned i = 0; i < 8; i++)
      fours_q[i] <= 18'(row[i*64+:16]) + 18'(row[i*64+16+:16]) + 18'(row[i*64+32+:16]) + 18'(row[i*64+48+:16]);
    for (int unsigned i = 0; i < 2; i++)
      sixteens_q[i] <= 20'(fours_q[i*4]) + 20'(fours_q[i*4+1]) + 20'(fours_q[i*4+2]) + 20'(fours_q[i*4+3]);
    row_sum_q <= 21'(sixteens_q[0]) + 21'(sixteens_q[1]);
    if (valid_q[3]) total_q <= (first_q[3] ? 36'(begin_q) : total_q) + 36'(row_sum_q);
    fold_q   <= 18'(total_q[15:0]) + 18'(total_q[31:16]) + 18'(total_q[35:32]);
    refold_q <= 17'(fold_q[15:0]) + 17'(fold_q[17:16]);
    if (valid_q[6] && last_q[6]) sum_q <= 16'(swap(was_odd_q, 32'(refold_q[15:0] + 16'(refold_q[16]))));
    if (rst) sum_q <= '0;
  end

  // A new start discards the rows of the last one that are in flight.
  always_ff @(posedge clk) begin
    valid_q <= start ? '0 : {valid_q[Stages-1:1], row_valid};
    last_q  <= {last_q[Stages-1:1], row_last};
    first_q <= {first_q[2:1], row_first};
    if (start) busy_q <= 1'b1;
    else if (valid_q[6] && last_q[6]) busy_q <= 1'b0;
    if (rst) begin
      valid_q <= '0;
      busy_q  <= 1'b0;
    end
  end

  // --- No tables ----------------------------------------------------------------------------------------------------

  always_ff @(posedge clk) bus.ld_rvalid <= bus.ld_rd && !rst;
  assign bus.ld_rdata = '0;

  wire unused = &{1'b0, bus.addr, bus.ld_wr, bus.ld_addr, bus.ld_wdata};
endmodule

`default_nettype wire
