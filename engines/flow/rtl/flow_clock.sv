// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// The card's time in us, modulo 2^32.
//
//   ns ─> register ─┬─> goes on or stands? ─> count of ns within the us ─> us
//                   └─> a leap ─> division by 1000, two bits a cycle ───────^
//
// While the card's time advances four ns a cycle, or stops, `us` follows two cycles later. After the host has set it,
// `us` is wrong for 36 cycles: `steady` is 0 then, and frames and the host wait.
module flow_clock
  import flow_pkg::*;
(
    input wire logic        clk,
    input wire logic        rst,
    input wire logic [63:0] ns,

    output word_t us,
    output logic  steady
);
  localparam int unsigned CycleNs = 4;
  localparam int unsigned MicroNs = 1000;
  localparam int unsigned Steps = 64 / 2;
  localparam int unsigned PartW = 11;  // of ns within a us, and of those that pass during a division

  typedef logic [PartW-1:0] part_t;

  // ---- the course of the card's time
  logic [63:0] ns_q, next_q;
  logic runs_q, leaps_q;
  always_ff @(posedge clk) begin
    ns_q    <= ns;
    next_q  <= ns + 64'(CycleNs);
    runs_q  <= ns == next_q;
    leaps_q <= ns != next_q && ns != ns_q;
    if (rst) begin
      {runs_q, leaps_q} <= '0;
      ns_q <= '0;
    end
  end

  // ---- division, from the highest bits on: the rest is always less than a us
  logic [$clog2(Steps):0] left_q;  // steps
  logic [63:0] bits_q;             // of which the highest two come next
  part_t rest_q;
  word_t quotient_q;

  function automatic logic [PartW:0] divided(part_t rest, logic high);  // a bit of the quotient, and the rest
    logic [PartW:0] twice;
    twice = {rest, high};
    return twice >= (PartW + 1)'(MicroNs) ? {1'b1, PartW'(twice - (PartW + 1)'(MicroNs))} : {1'b0, PartW'(twice)};
  endfunction

  logic [1:0] digits;
  part_t rest_d, middle;
  always_comb begin
    {digits[1], middle} = divided(rest_q, bits_q[63]);
    {digits[0], rest_d} = divided(middle, bits_q[62]);
  end

  // ---- us, and ns within it
  part_t part_q, part_d;
  word_t us_q;
  logic  divides, settles_q;

  assign divides = left_q != '0;
  assign part_d = part_q + part_t'(runs_q ? CycleNs : 0);
  assign us = us_q;
  assign steady = !divides && !settles_q && !leaps_q;

  always_ff @(posedge clk) begin
    part_q <= part_d >= part_t'(MicroNs) ? part_d - part_t'(MicroNs) : part_d;
    if (part_d >= part_t'(MicroNs)) us_q <= us_q + 1'b1;
    settles_q <= divides;  // its end may have brought more than a us
    if (divides) begin
      left_q <= left_q - 1'b1;
      bits_q <= bits_q << 2;
      rest_q <= rest_d;
      quotient_q <= {quotient_q[29:0], digits};
      // Cycles that pass meanwhile are added at the end.
      part_q <= part_d;
      us_q   <= us_q;
      if (left_q == 1) begin
        part_q <= part_d + rest_d;
        us_q   <= {quotient_q[29:0], digits};
      end
    end
    if (leaps_q) begin
      left_q <= ($bits(left_q))'(Steps);
      bits_q <= ns_q;
      rest_q <= '0;
      part_q <= '0;
    end
    if (rst) begin
      left_q <= '0;
      part_q <= '0;
      us_q   <= '0;
    end
  end
endmodule

`default_nettype wire
