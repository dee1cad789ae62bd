// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// Applies the last row of the parser to a frame: flags, error, and the places of extracted words. 1 cycle.
module rmt_settle
  import rmt_pkg::*, rmt_parse_pkg::*;
(
    input wire logic clk,
    input wire logic rst,

    input wire parse_t  parse,
    input wire origin_t place[Extracted],
    input wire late_t   late,
    output     parse_t  out,
    output     origin_t out_place[Extracted]
);
  logic does, extracts, past_end, past_window;
  logic [VectorWords-1:0] fixed_words, var_words;
  logic [4:0] fixed_delta, var_delta;  // from a word of the vector to its place
  parse_t settled;

  assign past_window = late.ends > 9'(WindowWords);
  assign past_end = late.extra && 18'({late.ends, 2'b0}) > 18'(parse.info.len) + 18'(PadBytes);
  assign does = !parse.done && late.misfit == ErrorNone;
  assign extracts = late.extra && late.vextract && late.words <= 8'(late.vmax) && !past_end && !past_window;

  always_comb begin
    settled = parse;
    if (!parse.done) begin
      if (late.misfit != ErrorNone) {settled.done, settled.error} = {1'b1, late.misfit};
      else begin
        settled.flags = parse.flags | late.flags;
        if (late.next[3]) {settled.done, settled.error} = {1'b1, late.next[2:0]};
        if (past_window) {settled.done, settled.error} = {1'b1, ErrorWindow};
        if (past_end) {settled.done, settled.error} = {1'b1, ErrorShort};
        if (late.extra && late.words > 8'(late.vmax)) {settled.done, settled.error} = {1'b1, ErrorHeader};
      end
    end
  end

  // The ranges of words, from the first on; words beyond the last one are lost.
  assign fixed_words = does ? VectorWords'((64'd1 << late.count) - 64'd1) << late.dst : '0;
  assign var_words = does && extracts ? VectorWords'((64'd1 << late.words[4:0]) - 64'd1) << late.vdst : '0;
  assign fixed_delta = late.offset[4:0] - late.dst;
  assign var_delta = late.fixed[4:0] - late.vdst;

  always_ff @(posedge clk) begin
    out <= settled;
    for (int unsigned w = 0; w < Extracted; w++)
      out_place[w] <=
          var_words[w] ? {1'b1, 5'(w) + var_delta} : fixed_words[w] ? {1'b1, 5'(w) + fixed_delta} : place[w];
    if (rst) out.ctl.valid <= 1'b0;
  end
endmodule

`default_nettype wire
