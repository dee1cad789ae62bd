// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// The counters of an element. A new program resets the counts of rows.
module flow_counters
  import flow_pkg::*;
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

    output counts_t   counts,
    input  wire row_t of_row,
    output word_t     row_count  // a register
);
  logic frame_q, keyless_q, fits_q, unkept_q, expired_q, evicted_q, moved_q;
  row_t row_q;
  counts_t counts_q;
  always_ff @(posedge clk) begin
    {frame_q, keyless_q, fits_q, unkept_q} <= {frame, frame && keyless, frame && fits, frame && unkept};
    {expired_q, evicted_q, moved_q} <= {expired, evicted, moved};
    row_q <= row;
    counts_q.frames <= counts_q.frames + word_t'(frame_q);
    counts_q.keyless <= counts_q.keyless + word_t'(keyless_q);
    counts_q.unmatched <= counts_q.unmatched + word_t'(frame_q && !keyless_q && !fits_q);
    counts_q.unkept <= counts_q.unkept + word_t'(unkept_q);
    counts_q.expired <= counts_q.expired + word_t'(expired_q);
    counts_q.evicted <= counts_q.evicted + word_t'(evicted_q);
    counts_q.moved <= counts_q.moved + word_t'(moved_q);
    if (rst) begin
      {frame_q, keyless_q, fits_q, unkept_q, expired_q, evicted_q, moved_q} <= '0;
      counts_q <= '0;
    end
  end
  assign counts = counts_q;

  // A row whose count has not begun has 0.
  (* ram_style = "distributed" *) word_t rows[Rows];
  logic [Rows-1:0] begun_q;
  wire word_t so_far = begun_q[row_q] ? rows[row_q] : '0;
  always_ff @(posedge clk) begin
    if (fits_q) rows[row_q] <= so_far + 1'b1;
    if (fits_q) begun_q[row_q] <= 1'b1;
    if (rst || begin_rows) begun_q <= '0;
    row_count <= begun_q[of_row] ? rows[of_row] : '0;
  end
endmodule

`default_nettype wire
