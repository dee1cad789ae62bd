// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// Walks over the TLVs of a window and records where the fields 1 to 15 are, the first of each number.
//
//   window, bytes that are there ─> cursor ─> number, length ─> record, cursor moves
//                                             1 cycle a TLV
//
// The first TLV is read from the beat that is being loaded. A TLV is recorded when its number and length are there. It is
// known as soon as the beat with its last byte is loaded, because it is read a cycle later. A TLV that ends after the
// window ends the walk.
module l7_walker
  import penstock_pkg::*, l7_pkg::*;
(
    input wire logic clk,
    input wire logic rst,

    input wire logic             load,    // beat 0 of a window
    input wire logic [DataW-1:0] beat,
    input wire place_in_window_t limit,   // bytes of the window; with `load`, and then until the next one

    input wire logic [8*WindowBytes-1:0] window,
    input wire place_in_window_t            loaded,  // bytes that are there
    input wire logic                        arrives, // a further beat is loaded

    input  wire logic        [3:0] field,
    output logic                   known,    // it can be read in the next cycle, or it is absent
    output logic                   present,
    output place_in_window_t       start,    // of its value
    output place_in_window_t       stop      // one past its value
);
  logic [15:1] present_q;
  logic [15:1][7:0] start_q;
  logic [15:1][1:0] beat_q;  // that holds its last byte
  place_in_window_t stop_q[16];
  logic done_q;
  place_in_window_t cursor_q;

  logic [15:0] next;  // at the cursor
  logic [7:0] number, len;
  logic [9:0] from, value, past;
  logic step, over, records;
  place_in_window_t there;

  assign next = 16'(window >> {cursor_q[7:0], 3'd0});
  assign from = load ? '0 : 10'(cursor_q);
  assign number = load ? beat[7:0] : next[7:0];
  assign len = load ? beat[15:8] : next[15:8];
  assign there = load ? (limit < 9'd64 ? limit : 9'd64) : loaded < limit ? loaded : limit;
  assign value = from + 10'd2;
  assign past = value + 10'(len);
  assign over = value > 10'(limit) || (value <= 10'(there) && past > 10'(limit));
  assign step = (load || !done_q) && !over && value <= 10'(there);
  assign records = step && number[7:4] == '0 && number[3:0] != '0 && (load || !present_q[number[3:0]]);

  always_ff @(posedge clk) begin
    if (load) begin
      present_q <= '0;
      cursor_q  <= '0;
      done_q    <= 1'b0;
    end
    if ((load || !done_q) && over) done_q <= 1'b1;
    if (step) cursor_q <= past[8:0];
    if (records) begin
      present_q[number[3:0]] <= 1'b1;
      start_q[number[3:0]] <= value[7:0];
      stop_q[number[3:0]] <= past[8:0];
      beat_q[number[3:0]] <= 2'((past - 10'd1) >> $clog2(BeatBytes));
    end
    if (rst) begin
      present_q <= '0;
      done_q <= 1'b1;
    end
  end

  // Values begin at 2 to 256; start_q has no bit for 256.
  assign present = field != '0 && present_q[field];
  assign known = present ? {1'b0, beat_q[field]} < loaded[8:6] + 3'(arrives) : done_q || field == '0;
  assign stop = stop_q[field];
  assign start = {start_q[field] == '0, start_q[field]};
endmodule

`default_nettype wire
