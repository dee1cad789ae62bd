// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// The counters of an inline block (`block_t` in shell/regs/inline.rdl). `rdata` and `known` follow `offset` by one
// cycle.
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

    input wire logic [4:0] offset,
    output logic [31:0]    rdata,
    output logic           known
);
  logic [Ports-1:0] entered_q, made_q, absorbed_q;
  logic [Ports-1:0] dropped_q[Reasons];
  logic [31:0] frames_q, mades_q, absorbeds_q, outsides_q;
  logic [31:0] drops_q[Reasons];

  always_ff @(posedge clk) begin
    entered_q <= entered;
    for (int unsigned p = 0; p < Ports; p++) begin
      made_q[p] <= events[p].made;
      absorbed_q[p] <= events[p].absorbed;
      for (int unsigned r = 0; r < Reasons; r++) dropped_q[r][p] <= events[p].dropped && 32'(events[p].reason) == r;
    end
    frames_q <= frames_q + 32'($countones(entered_q));
    mades_q <= mades_q + 32'($countones(made_q));
    absorbeds_q <= absorbeds_q + 32'($countones(absorbed_q));
    outsides_q <= outsides_q + 32'(outside);
    for (int unsigned r = 0; r < Reasons; r++) drops_q[r] <= drops_q[r] + 32'($countones(dropped_q[r]));
    if (rst) begin
      entered_q <= '0;
      made_q <= '0;
      absorbed_q <= '0;
      frames_q <= '0;
      mades_q <= '0;
      absorbeds_q <= '0;
      outsides_q <= '0;
      for (int unsigned r = 0; r < Reasons; r++) begin
        dropped_q[r] <= '0;
        drops_q[r]   <= '0;
      end
    end
  end

  always_ff @(posedge clk) begin
    known <= 1'b1;
    rdata <= '0;
    case (32'(offset))
      INLINE_BLOCK_ENGINE: rdata <= Engine;
      INLINE_BLOCK_FRAMES: rdata <= frames_q;
      INLINE_BLOCK_MADE: rdata <= mades_q;
      INLINE_BLOCK_ABSORBED: rdata <= absorbeds_q;
      INLINE_BLOCK_BLOCKED: rdata <= drops_q[ReasonBlocked];
      INLINE_BLOCK_OVERSIZE: rdata <= drops_q[ReasonOversize];
      INLINE_BLOCK_REFUSED: rdata <= drops_q[ReasonRefused];
      INLINE_BLOCK_MEMORY_ERRORS: rdata <= outsides_q;
      default: known <= 1'b0;
    endcase
  end
endmodule

`default_nettype wire
