// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// The program of an element, in registers. It comes 32 bits at a time, the lowest first, and moves through all of them: so a register costs a wire and
// no address. While that lasts the element must have no frames.
module flow_program
  import flow_pkg::*;
(
    input  wire logic  clk,
    input  wire logic  shift,
    input  wire word_t word,
    output program_t   program_o
);
  logic [32*ProgramWords-1:0] words_q;
  always_ff @(posedge clk) if (shift) words_q <= {word, words_q[32*ProgramWords-1:32]};
  assign program_o = program_t'(words_q[$bits(program_t)-1:0]);
endmodule

`default_nettype wire
