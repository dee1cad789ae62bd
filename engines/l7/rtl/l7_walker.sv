// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// Walks over the TLVs of a window, records where the fields 1 to 15 are, the first of each number, and looks up places in
// fields.
//
//   window, bytes that arrive ─> two bytes at the cursor ─> number, length ─┬─> record ─> lookups
//                                ^                                          │
//                                └──────── next cursor <────────────────────┘
//                                                                           1 cycle a TLV
//
// The first TLV is read from the beat that is being loaded. A TLV is recorded when its number and length are there. It is
// known as soon as the beat with its last byte is loaded, because it is read a cycle later. A TLV that ends after the
// window ends the walk.
//
// The two bytes at the next cursor are selected in the cycle that finds the cursor, from the window or from the beat that
// arrives: one from the even places, one from the odd places. The decision on a TLV starts at registers. A lookup takes
// the place that is recorded, and the one that is being recorded, and chooses last.
module l7_walker
  import penstock_pkg::*, l7_pkg::*;
#(
    parameter int unsigned Lookups = 1  // the last one is also of the first TLV, while it is loaded
) (
    input wire logic clk,
    input wire logic rst,

    input wire logic             load,    // beat 0 of a window
    input wire logic [DataW-1:0] beat,    // with `arrives`
    input wire place_in_window_t limit,   // bytes of the window; with `load`, and then until the next one

    input wire logic [8*WindowBytes-1:0] window,
    input wire place_in_window_t            loaded,  // bytes that are there
    input wire logic                        arrives, // a beat is loaded

    input  wire logic        [Lookups-1:0][3:0] field,
    input  wire logic        [Lookups-1:0][7:0] offset,  // into its value
    output place_in_window_t [Lookups-1:0]      place,   // of the offset
    output place_in_window_t [Lookups-1:0]      stop,    // one past the value
    output logic             [Lookups-1:0]      fails,   // there is no such place
    output logic             [Lookups-1:0]      known    // a cycle later: it can be read in the next cycle, or it is absent
);
  localparam int unsigned Pairs = WindowBytes / 2;

  logic [15:1] present_q;
  logic [7:0] start_q[16];
  logic [1:0] beat_q[16];  // that holds its last byte
  place_in_window_t stop_q[16];
  logic done_q;

  logic have_q;         // the bytes at the cursor are there
  logic [9:0] value_q;  // behind the two bytes at the cursor
  logic [15:0] next_q;  // at the cursor

  logic [7:0] number, len;
  logic [9:0] value, past, first_past;
  logic over, records, first_over, first_records;

  assign {len, number} = next_q;
  assign value = value_q;
  assign past = value_q + 10'(len);
  assign over = value > 10'(limit) || (have_q && past > 10'(limit));
  assign records = have_q && !done_q && !over && number[7:4] == '0 && number[3:0] != '0 && !present_q[number[3:0]];

  assign first_past = 10'd2 + 10'(beat[15:8]);
  assign first_over = first_past > 10'(limit);
  assign first_records = !first_over && beat[7:4] == '0 && beat[3:0] != '0;

  // ---- the bytes at the next cursor
  logic [9:0] at, second;     // of the second byte
  logic [9:0] after;          // bytes that are there with those that arrive
  logic [6:0] even, odd;      // pairs of the window
  logic [7:0] even_byte, odd_byte, even_new, odd_new;
  logic [15:0] first_next;
  assign at = have_q ? past : value_q - 10'd2;
  assign second = have_q ? past + 10'd1 : value_q - 10'd1;
  assign after = 10'(loaded) + (arrives ? 10'(BeatBytes) : 10'd0);
  assign even = second[7:1];
  assign odd = at[7:1];

  always_comb begin
    logic [Pairs-1:0][7:0] evens, odds;
    logic [BeatBytes/2-1:0][7:0] new_evens, new_odds;
    for (int unsigned p = 0; p < Pairs; p++) begin
      evens[p] = window[16*p+:8];
      odds[p]  = window[16*p+8+:8];
    end
    for (int unsigned p = 0; p < BeatBytes / 2; p++) begin
      new_evens[p] = beat[16*p+:8];
      new_odds[p]  = beat[16*p+8+:8];
    end
    even_new = new_evens[even[4:0]];
    odd_new = new_odds[odd[4:0]];
    // The beat that arrives is behind those that are there.
    even_byte = {1'b0, even[6:5]} == loaded[8:6] ? even_new : evens[even];
    odd_byte = {1'b0, odd[6:5]} == loaded[8:6] ? odd_new : odds[odd];
    first_next = 16'({8'd0, beat} >> {first_past[5:0], 3'd0});
  end

  always_ff @(posedge clk) begin
    if (load) begin
      present_q <= '0;
      next_q <= first_next;
      have_q <= first_past <= 10'(BeatBytes) - 10'd2;
      value_q <= first_past + 10'd2;
      done_q <= first_over;
      if (first_records) begin
        present_q[beat[3:0]] <= 1'b1;
      end
    end else begin
      next_q <= at[0] ? {even_byte, odd_byte} : {odd_byte, even_byte};
      have_q <= second < after;
      if (have_q) value_q <= past + 10'd2;
      if (over) done_q <= 1'b1;
      if (records) present_q[number[3:0]] <= 1'b1;
    end
    if (load ? first_records : records) begin
      start_q[load ? beat[3:0] : number[3:0]] <= load ? 8'd2 : value[7:0];
      stop_q[load ? beat[3:0] : number[3:0]] <= load ? first_past[8:0] : past[8:0];
      beat_q[load ? beat[3:0] : number[3:0]] <= load ? 2'((first_past - 10'd1) >> 6) : 2'((past - 10'd1) >> 6);
    end
    if (rst) begin
      present_q <= '0;
      done_q <= 1'b1;
      have_q <= 1'b0;
    end
  end

  // ---- lookups: of what is recorded, and of what is being recorded
  logic [2:0] beats;  // that can be read in the next cycle
  assign beats = loaded[8:6] + 3'(arrives);
  for (genvar i = 0; i < int'(Lookups); i++) begin : gen_lookup
    logic is_first, is_now, present;
    logic is_present_q, is_none_q;
    logic [1:0] last_q;
    logic [9:0] recorded;
    assign is_first = i == int'(Lookups) - 1 && load;
    assign is_now = records && number[3:0] == field[i];
    assign present = field[i] != '0 && present_q[field[i]];
    // Values begin at 2 to 256; start_q has no bit for 256.
    assign recorded = {1'b0, start_q[field[i]] == '0, start_q[field[i]]} + 10'(offset[i]);
    always_comb
      if (is_first) begin
        place[i] = 9'd2 + 9'(offset[i]);
        stop[i]  = first_past[8:0];
        fails[i] = !(first_records && beat[3:0] == field[i]) || offset[i] > beat[15:8];
      end else if (is_now) begin
        place[i] = value[8:0] + 9'(offset[i]);
        stop[i]  = past[8:0];
        fails[i] = offset[i] > len;
      end else begin
        place[i] = recorded[8:0];
        stop[i]  = stop_q[field[i]];
        fails[i] = !present || recorded > 10'(stop_q[field[i]]);
      end
    always_ff @(posedge clk) begin
      is_present_q <= is_first ? first_records && beat[3:0] == field[i] : is_now || present;
      last_q <= is_first ? 2'((first_past - 10'd1) >> 6) : is_now ? 2'((past - 10'd1) >> 6) : beat_q[field[i]];
      is_none_q <= field[i] == '0;
    end
    assign known[i] = is_present_q ? {1'b0, last_q} < beats : done_q || is_none_q;
  end
endmodule

`default_nettype wire
