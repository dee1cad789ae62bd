// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// The counters of an element, 64 bits each. A new program resets the counts of rows.
module flow_counters
  import flow_pkg::*, flow_regs_pkg::*;
(
    input wire logic clk,
    input wire logic rst,

    // of an operation at the end of the element
    input wire logic frame,      // that is the element's
    input wire logic keyless,    // it lacks a field of the key
    input wire logic fits,
    input wire row_t row,
    input wire logic unkept,
    input wire logic expired,
    input wire logic evicted,
    input wire logic moved,
    input wire logic begin_rows,
    input wire kinds_count_t lost,  // events

    // reads: not in the cycle after another one
    input  wire logic     read,
    input  wire counter_t of_counter,  // FLOW_HOST_FRAMES is 0
    output logic [63:0]   count,       // two cycles after `read`
    input  wire row_t     of_row,
    output logic [63:0]   row_count    // a register
);
  logic frame_q, keyless_q, fits_q, unkept_q, expired_q, evicted_q, moved_q;
  row_t row_q;
  always_ff @(posedge clk) begin
    {frame_q, keyless_q, fits_q, unkept_q} <= {frame, frame && keyless, frame && fits, frame && unkept};
    {expired_q, evicted_q, moved_q} <= {expired, evicted, moved};
    row_q <= row;
    if (rst) {frame_q, keyless_q, fits_q, unkept_q, expired_q, evicted_q, moved_q} <= '0;
  end

  function automatic counter_t at(logic [31:0] register);
    return counter_t'((register - FLOW_HOST_FRAMES) / 4);
  endfunction

  logic [15:0] step[Counters];
  always_comb begin
    step[at(FLOW_HOST_FRAMES)] = 16'(frame_q);
    step[at(FLOW_HOST_KEYLESS)] = 16'(keyless_q);
    step[at(FLOW_HOST_UNMATCHED)] = 16'(frame_q && !keyless_q && !fits_q);
    step[at(FLOW_HOST_UNKEPT)] = 16'(unkept_q);
    step[at(FLOW_HOST_EXPIRED)] = 16'(expired_q);
    step[at(FLOW_HOST_EVICTED)] = 16'(evicted_q);
    step[at(FLOW_HOST_MOVED)] = 16'(moved_q);
    step[at(FLOW_HOST_EVENTS_LOST)] = 16'(lost);
  end
  wide_counters #(
      .Counters(Counters),
      .StepW($bits(kinds_count_t))
  ) i_counters (
      .clk,
      .rst,
      .step(step),
      .read,
      .index(of_counter),
      .value(count)
  );

  // A row whose count has not begun has `first`.
  (* ram_style = "distributed" *) logic [63:0] rows[Rows];
  logic [Rows-1:0] begun_q;
  logic [63:0] first;
  first_count i_first (.first);
  wire [63:0] so_far = begun_q[row_q] ? rows[row_q] : first;
  always_ff @(posedge clk) begin
    if (fits_q) rows[row_q] <= so_far + 1'b1;
    if (fits_q) begun_q[row_q] <= 1'b1;
    if (rst || begin_rows) begun_q <= '0;
    row_count <= begun_q[of_row] ? rows[of_row] : first;
  end
endmodule

`default_nettype wire
