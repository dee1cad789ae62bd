// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// Reads an option of CoAP or an attribute of RADIUS: its number, where its value stands, and whether the walk ends here.
//
//   first bytes ─> number, length ─┬─> value, past
//                                  └─> compared with the end ─> ends, bad
//
// Combinational: a mux of two, an addition, a comparison. `CoAP` adds the difference of numbers to the last one.
//
//            number            length          value from byte
//   CoAP     + [7:4] of 0      [3:0] of 0      1; 2, with byte 1 as more of the length
//   RADIUS   byte 0            byte 1, less 2  2
module l7_option
  import l7_pkg::*;
(
    input wire logic             is_coap,   // otherwise RADIUS
    input wire logic [15:0]      first,     // bytes at the place
    input wire place_in_window_t at,        // the place
    input wire place_in_window_t last,      // the place behind all options, as far as they are seen
    input wire logic             is_cut,    // RADIUS: there are more
    input wire logic [3:0]       previous,  // CoAP: number of the option before

    output logic             ends,   // there is no option here that the walker reads
    output logic             bad,    // the message contradicts itself
    output logic [7:0]       number,
    output place_in_window_t value,
    output logic [8:0]       len,
    output place_in_window_t past    // as far as it fits the window; otherwise it is `bad` or `ends`
);
  localparam logic [4:0] LastOption = 5'd12;  // Content-Format

  logic [3:0] delta, size;
  logic is_marker, stops, wrong;
  logic [4:0] sum;
  logic [9:0] behind, room;

  assign delta = first[7:4];
  assign size = first[3:0];
  assign sum = 5'(previous) + 5'(delta);
  assign is_marker = first[7:0] == 8'hFF;
  assign stops = delta >= 4'd13 || sum > LastOption;
  assign wrong = delta == 4'd15 || size == 4'd15;

  always_comb begin
    if (is_coap) begin
      number = {3'b0, sum};
      value = at + (size == 4'd13 ? 9'd2 : 9'd1);
      len = size == 4'd13 ? 9'd13 + 9'(first[15:8]) : 9'(size);
      // Options that reach the end of the window may have others behind them.
      room = last > 9'd255 ? 10'd255 : 10'(last);
    end else begin
      number = first[7:0];
      value = at + 9'd2;
      len = 9'(first[15:8]) - 9'd2;
      room = 10'(last);
    end
    behind = 10'(value) + 10'(len);
    if (!is_coap) behind = 10'(at) + 10'(first[15:8]);
    past = behind[8:0];

    ends = at == last;
    bad = 1'b0;
    if (!ends) begin
      if (is_coap) begin
        ends = is_marker || stops;
        bad = is_marker ? 10'(at) + 10'd1 >= 10'(last) : wrong || (!stops && (size == 4'd14 || behind > room));
      end else if (10'(at) + 10'd2 > room) begin
        ends = is_cut;
        bad = !is_cut;
      end else if (first[15:8] < 8'd2) bad = 1'b1;
      else if (behind > room) begin
        ends = is_cut;
        bad = !is_cut;
      end
    end
  end
endmodule

`default_nettype wire
