// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// Counters of 64 bits. Each has a narrow counter in registers, which follows every cycle, and a total in distributed
// RAM. One narrow counter a cycle is added to its total and begins again: those in turn, or the one that is read.
//
//   step ─> narrow counters ─> select, clear ─> total + narrow ─> RAM
//              1                 +1                +1         └─> value, of the counter that is read
//
// A register and an adder of 64 bits for each counter would cost more by estimate; that form was not synthesized. `value` is
// exact: it has all steps before the cycle of `read`, and none of that cycle or later ones. It holds until the next
// read.
module wide_counters #(
    parameter int unsigned Counters = 2,
    parameter int unsigned StepW    = 1,  // a counter grows by up to so many bits a cycle,
    parameter logic [Counters-1:0] Bytes = '0,  // these by the 16 bits of a length
    localparam int unsigned IndexW = Counters > 1 ? $clog2(Counters) : 1
) (
    input wire logic clk,
    input wire logic rst,

    input wire logic [15:0]       step[Counters],
    input wire logic              read,  // begins a read; not in the cycle after another one
    input wire logic [IndexW-1:0] index,
    output logic     [63:0]       value  // two cycles after `read`
);
  // Cycles between two visits of a counter: every other one may be a read of another counter.
  localparam int unsigned GapW = $clog2(2 * Counters + 1);
  localparam int unsigned NarrowW = 16 + GapW;

  logic [IndexW-1:0] walk_q, visit, index_q;
  logic read_q;
  logic [NarrowW-1:0] narrow[Counters], narrow_q;
  assign visit = read ? index : walk_q;

  for (genvar i = 0; i < Counters; i++) begin : gen_counter
    localparam int unsigned Width = (Bytes[i] ? 16 : StepW) + GapW;
    logic [Width-1:0] count_q;
    // The enable saves simulation time: most steps are zero.
    always_ff @(posedge clk) begin
      if (visit == IndexW'(i)) count_q <= Width'(step[i]);
      else if (step[i] != '0) count_q <= count_q + Width'(step[i]);
      if (rst) count_q <= '0;
    end
    assign narrow[i] = NarrowW'(count_q);
  end

  // The RAM has no reset: until its first visit a total is `first`.
  (* ram_style = "distributed" *) logic [63:0] total[2**IndexW];
  logic [Counters-1:0] begun_q;
  logic [63:0] sum, first;
  first_count i_first (.first);
  assign sum = (begun_q[index_q] ? total[index_q] : first) + 64'(narrow_q);

  always_ff @(posedge clk) begin
    index_q <= visit;
    narrow_q <= narrow[visit];
    total[index_q] <= sum;
    if (read_q) value <= sum;
    if (rst) narrow_q <= '0;
  end
  always_ff @(posedge clk) begin
    if (!read) walk_q <= walk_q == IndexW'(Counters - 1) ? '0 : walk_q + 1'b1;
    read_q <= read;
    begun_q[index_q] <= 1'b1;
    if (rst) begin
      walk_q <= '0;
      read_q <= 1'b0;
      begun_q <= '0;
    end
  end

`ifndef SYNTHESIS
  // A narrow counter cannot wrap if its steps fit, since the walk goes on in every other cycle at least.
  logic [15:0] bits;  // that the steps have, except lengths
  always_comb begin
    bits = '0;
    for (int unsigned i = 0; i < Counters; i++) if (!Bytes[i]) bits |= step[i];
  end
  always_ff @(posedge clk)
    if (!rst) begin
      assert (32'(bits) < 32'd1 << StepW) else $error("%m: a step that is wider than StepW");
      assert (!(read && read_q)) else $error("%m: two reads without a cycle between them");
      assert (!read || 32'(index) < Counters) else $error("%m: a read of a counter that does not exist");
    end
`endif
endmodule

`default_nettype wire
