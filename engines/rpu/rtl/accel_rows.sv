// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// Reads any bytes of packet memory for an accelerator: it gives the rows that hold them, in order, with all other bytes
// zeroed.
//
//   start ‖ check, how many rows ‖ request ‖ ─> accel.sv, packet memory ─> ‖ row, which bytes ‖ zero the others ‖ ─> row
//
// One row a cycle while `room` is up and no other accelerator asks; the first row arrives eight cycles after `start`. A
// start before the last row begins again: rows of the earlier range no longer arrive. A range that is not completely in
// packet memory is an error, and none of its bytes count. A range of fewer than `Least` bytes gives as many rows as a
// range of `Least` bytes. A row stays until the next one arrives.
module accel_rows
  import penstock_pkg::*;
#(
    parameter int unsigned Least = 1  // 1..64
) (
    input wire logic clk,
    input wire logic rst,

    input wire logic        start,
    input wire logic [31:0] addr,
    input wire logic [31:0] length,
    input wire logic        room,    // another row may be asked for
    output logic            asked,   // and is
    output logic            error,   // pulse
    output logic     [ 5:0] skip,    // bytes of the first row before the range

    output logic                     pm_en,
    output logic             [ 13:0] pm_row,
    input  wire logic                pm_ready,
    input  wire logic [DataW-1:0]    pm_rdata,
    input  wire logic                pm_rvalid,

    output logic                 valid,
    output logic                 first,
    output logic                 last,
    output logic [DataW-1:0]     data,
    output logic [BeatBytes-1:0] keep,  // the bytes of the range
    // With `last`: bytes after the range, in this row and, if this row only exists for `Least`, in the one before.
    output logic [6:0]           tail
);
  // Bytes from the start of a row to the end of the range: from row to row, 64 less.
  typedef struct packed {
    logic signed [16:0] rows;
    logic [5:0] bytes;
  } reach_t;

  // --- The range ----------------------------------------------------------------------------------------------------

  logic check_q, wait_q, live_q, outside_q;
  logic [31:0] addr_q, length_q;
  reach_t end_q;
  logic all_q, part_q;  // the range reaches beyond the row, and ends in it: of the next row to come
  logic [16:0] ask_q, await_q;  // rows to ask for, and to come, less one; -1 in the end: none
  logic [13:0] row_q;
  logic [2:0] flying_q;  // rows asked for and not there

  // The sums do not wait for each other.
  wire outside =
      addr_q[31:20] != 12'h010 || length_q[31:21] != 0 || 22'(addr_q[19:0]) + 22'(length_q[20:0]) > 22'h100000;
  wire few = outside || length_q[20:0] < 21'(Least);
  wire [22:0] reach = 23'(addr_q[5:0]) + 23'(length_q[20:0]);
  wire here = live_q && pm_rvalid;
  logic [16:0] rows;  // less one

  assign rows  = few ? 17'(7'(addr_q[5:0]) > 7'(64 - Least)) : 17'((reach - 23'd1) >> 6);
  assign asked = live_q && !ask_q[16] && room && (!pm_en || pm_ready);

  always_ff @(posedge clk) begin
    if (start) begin
      addr_q   <= addr;
      length_q <= length;
    end
    if (check_q) begin
      end_q   <= outside ? 23'(addr_q[5:0]) : reach;
      ask_q   <= rows;
      await_q <= rows;
      row_q   <= addr_q[19:6];
    end
    if (here) begin
      end_q.rows <= end_q.rows - 17'sd1;
      await_q    <= await_q - 17'd1;
    end
    all_q  <= end_q.rows > (here ? 17'sd1 : 17'sd0);
    part_q <= end_q.rows == (here ? 17'sd1 : 17'sd0);
    if (!pm_en || pm_ready) begin
      pm_en  <= asked;
      pm_row <= row_q;
    end
    if (asked) begin
      ask_q <= ask_q - 17'd1;
      row_q <= row_q + 14'd1;
    end
    flying_q <= flying_q + 3'(asked) - 3'(pm_rvalid);

    check_q   <= start;
    outside_q <= check_q && outside;
    // Not before the rows of the last range have arrived.
    wait_q    <= (check_q || wait_q) && flying_q != 0 && !start;
    live_q    <= (live_q || ((check_q || wait_q) && flying_q == 0)) && !start;
    if (rst) begin
      check_q  <= 1'b0;
      wait_q   <= 1'b0;
      live_q   <= 1'b0;
      pm_en    <= 1'b0;
      flying_q <= '0;
    end
  end

  assign error = outside_q;
  assign skip  = addr_q[5:0];

  // --- Rows ---------------------------------------------------------------------------------------------------------

  logic came_q, begins_q, row_first_q, row_last_q;
  logic [DataW-1:0] row_data_q;
  logic [BeatBytes-1:0] row_keep_q;
  logic [6:0] row_tail_q;

  always_ff @(posedge clk) begin
    row_data_q  <= pm_rdata;
    row_first_q <= begins_q;
    row_last_q  <= await_q == 0;
    row_tail_q  <= 7'd64 - {end_q.rows[0], end_q.bytes};
    for (int unsigned b = 0; b < BeatBytes; b++)
      row_keep_q[b] <= (!begins_q || b >= 32'(skip)) && (all_q || (part_q && b < 32'(end_q.bytes)));
    if (check_q) begins_q <= 1'b1;
    else if (here) begins_q <= 1'b0;

    if (came_q) begin
      first <= row_first_q;
      last  <= row_last_q;
      tail  <= row_tail_q;
      keep  <= row_keep_q;
      for (int unsigned b = 0; b < BeatBytes; b++) data[b*8+:8] <= row_keep_q[b] ? row_data_q[b*8+:8] : 8'd0;
    end

    came_q <= here && !start && !rst;
    valid  <= came_q && !start && !rst;
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk)
    if (!rst) begin
      assert (!pm_rvalid || flying_q != 0) else $error("%m: a row that nobody asked for");
      assert (!here || !await_q[16]) else $error("%m: a row too many");
    end
`endif
endmodule

`default_nettype wire
