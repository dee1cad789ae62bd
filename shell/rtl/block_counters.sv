// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// The counters of an inline block (`block_t` in shell/regs/inline.rdl), 64 bits each. `count` answers a `read` of
// `offset`, which stands until then, two cycles later.
module block_counters
  import penstock_pkg::*, regs_pkg::*;
#(
    parameter int unsigned Ports = 2,
    parameter int          Engine = 0
) (
    input wire logic clk,
    input wire logic rst,

    input wire logic [Ports-1:0] entered,        // a frame came into the block, by port
    input wire block_event_t     events[Ports],
    input wire logic             outside,  // a burst was beyond the block's range of memory

    input wire logic       read,
    input wire logic [4:0] offset,
    output logic [63:0]    count
);
  // The counters by their registers' offsets; ENGINE has the place of one that never counts.
  localparam int unsigned Counters = 8;

  logic [Ports-1:0] entered_q, made_q, absorbed_q;
  logic [Ports-1:0] dropped_q[Reasons];
  logic outside_q;
  always_ff @(posedge clk) begin
    entered_q <= entered;
    outside_q <= outside;
    for (int unsigned p = 0; p < Ports; p++) begin
      made_q[p] <= events[p].made;
      absorbed_q[p] <= events[p].absorbed;
      for (int unsigned r = 0; r < Reasons; r++) dropped_q[r][p] <= events[p].dropped && 32'(events[p].reason) == r;
    end
    if (rst) begin
      entered_q <= '0;
      outside_q <= 1'b0;
      made_q <= '0;
      absorbed_q <= '0;
      for (int unsigned r = 0; r < Reasons; r++) dropped_q[r] <= '0;
    end
  end

  logic [15:0] step[Counters];
  always_comb begin
    step = '{default: '0};
    step[INLINE_BLOCK_FRAMES/4] = 16'($countones(entered_q));
    step[INLINE_BLOCK_MADE/4] = 16'($countones(made_q));
    step[INLINE_BLOCK_ABSORBED/4] = 16'($countones(absorbed_q));
    step[INLINE_BLOCK_BLOCKED/4] = 16'($countones(dropped_q[ReasonBlocked]));
    step[INLINE_BLOCK_OVERSIZE/4] = 16'($countones(dropped_q[ReasonOversize]));
    step[INLINE_BLOCK_REFUSED/4] = 16'($countones(dropped_q[ReasonRefused]));
    step[INLINE_BLOCK_MEMORY_ERRORS/4] = 16'(outside_q);
  end

  logic [63:0] value;
  wide_counters #(
      .Counters(Counters),
      .StepW($clog2(Ports + 1))
  ) i_counters (
      .clk,
      .rst,
      .step(step),
      .read,
      .index(offset[4:2]),
      .value
  );
  assign count = 32'(offset) == INLINE_BLOCK_ENGINE ? 64'(Engine) : value;
endmodule

`default_nettype wire
