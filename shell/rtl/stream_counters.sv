// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// The counters of one stream (`stream_t` in shell/regs/card.rdl), 64 bits each. `count` and `known` answer a `read` of
// `offset`, which stands until then, two cycles later.
module stream_counters
  import penstock_pkg::*, shell_pkg::*, regs_pkg::*;
(
    input wire logic clk,
    input wire logic rst,

    input wire rx_event_t       rx,
    input wire dispatch_event_t dispatch,
    input wire tx_event_t       tx,
    input wire logic [3:0]      inline_oversize,  // frames that inline blocks dropped since they had become too long

    input wire logic       read,
    input wire logic [5:0] offset,
    output logic [63:0]    count,
    output logic           known
);
  // The counters by their registers' offsets; RX_LEVEL has the place of one that never counts.
  localparam int unsigned Counters = 14;
  localparam int unsigned StepW = 5;  // of `oversize`
  localparam logic [Counters-1:0] Bytes =
      Counters'(1) << (CARD_STREAM_RX_BYTES / 4) | Counters'(1) << (CARD_STREAM_TX_BYTES / 4);

  logic [15:0] step[Counters];
  always_comb begin
    step = '{default: '0};
    step[CARD_STREAM_RX_FRAMES/4] = 16'(rx.frame);
    step[CARD_STREAM_RX_BYTES/4] = rx.frame ? rx.bytes : '0;
    step[CARD_STREAM_DROP_OVERFLOW/4] = 16'(rx.overflow);
    step[CARD_STREAM_DROP_OVERSIZE/4] = 16'(rx.oversize) + 16'(dispatch.oversize) + 16'(inline_oversize);
    step[CARD_STREAM_DROP_RUNT/4] = 16'(rx.runt);
    step[CARD_STREAM_DROP_DAMAGED/4] = 16'(rx.damaged);
    step[CARD_STREAM_DROP_DISABLED/4] = 16'(rx.disabled);
    step[CARD_STREAM_DROP_POLICY/4] = 16'(dispatch.policy);
    step[CARD_STREAM_RX_STALLS/4] = 16'(dispatch.stall);
    step[CARD_STREAM_TX_FRAMES/4] = 16'(tx.frame);
    step[CARD_STREAM_TX_BYTES/4] = tx.frame ? tx.bytes : '0;
    step[CARD_STREAM_TX_STALLS/4] = 16'(tx.stall);
    step[CARD_STREAM_DROP_UNSENT/4] = 16'(tx.unsent);
  end

  logic [63:0] value;
  wire is_there = 32'(offset[5:2]) < Counters;
  wide_counters #(
      .Counters(Counters),
      .StepW(StepW),
      .Bytes(Bytes)
  ) i_counters (
      .clk,
      .rst,
      .step(step),
      .read(read && is_there),
      .index(offset[5:2]),
      .value
  );

  assign count = 32'(offset) == CARD_STREAM_RX_LEVEL ? 64'(rx.level) : value;
  always_ff @(posedge clk) known <= is_there;
endmodule

`default_nettype wire
