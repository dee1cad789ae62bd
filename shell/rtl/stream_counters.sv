// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// The counters of one stream (`stream_t` in shell/regs/card.rdl). `rdata` and `known` follow `offset` by one cycle.
module stream_counters
  import penstock_pkg::*, shell_pkg::*, regs_pkg::*;
(
    input wire logic clk,
    input wire logic rst,

    input wire rx_event_t       rx,
    input wire dispatch_event_t dispatch,
    input wire tx_event_t       tx,
    input wire logic [3:0]      inline_oversize,  // frames that inline blocks dropped since they had become too long

    input wire logic [5:0] offset,
    output logic [31:0] rdata,
    output logic        known
);
  logic [31:0] rx_frames_q, rx_bytes_q, overflow_q, oversize_q, runt_q, damaged_q, disabled_q, policy_q, rx_stalls_q;
  logic [31:0] tx_frames_q, tx_bytes_q, tx_stalls_q, unsent_q;

  always_ff @(posedge clk) begin
    if (rx.frame) begin
      rx_frames_q <= rx_frames_q + 32'd1;
      rx_bytes_q  <= rx_bytes_q + 32'(rx.bytes);
    end
    if (rx.overflow) overflow_q <= overflow_q + 32'd1;
    oversize_q <= oversize_q + 32'(rx.oversize) + 32'(dispatch.oversize) + 32'(inline_oversize);
    if (rx.runt) runt_q <= runt_q + 32'd1;
    if (rx.damaged) damaged_q <= damaged_q + 32'd1;
    if (rx.disabled) disabled_q <= disabled_q + 32'd1;
    if (dispatch.policy) policy_q <= policy_q + 32'd1;
    if (dispatch.stall) rx_stalls_q <= rx_stalls_q + 32'd1;
    if (tx.frame) begin
      tx_frames_q <= tx_frames_q + 32'd1;
      tx_bytes_q  <= tx_bytes_q + 32'(tx.bytes);
    end
    if (tx.stall) tx_stalls_q <= tx_stalls_q + 32'd1;
    unsent_q <= unsent_q + 32'(tx.unsent);
    if (rst) begin
      rx_frames_q <= '0;
      rx_bytes_q  <= '0;
      overflow_q  <= '0;
      oversize_q  <= '0;
      runt_q      <= '0;
      damaged_q   <= '0;
      disabled_q  <= '0;
      policy_q    <= '0;
      rx_stalls_q <= '0;
      tx_frames_q <= '0;
      tx_bytes_q  <= '0;
      tx_stalls_q <= '0;
      unsent_q    <= '0;
    end
  end

  always_ff @(posedge clk) begin
    known <= 1'b1;
    rdata <= '0;
    case (32'(offset))
      CARD_STREAM_RX_FRAMES: rdata <= rx_frames_q;
      CARD_STREAM_RX_BYTES: rdata <= rx_bytes_q;
      CARD_STREAM_DROP_OVERFLOW: rdata <= overflow_q;
      CARD_STREAM_DROP_OVERSIZE: rdata <= oversize_q;
      CARD_STREAM_DROP_RUNT: rdata <= runt_q;
      CARD_STREAM_DROP_DAMAGED: rdata <= damaged_q;
      CARD_STREAM_DROP_DISABLED: rdata <= disabled_q;
      CARD_STREAM_DROP_POLICY: rdata <= policy_q;
      CARD_STREAM_RX_STALLS: rdata <= rx_stalls_q;
      CARD_STREAM_TX_FRAMES: rdata <= tx_frames_q;
      CARD_STREAM_TX_BYTES: rdata <= tx_bytes_q;
      CARD_STREAM_TX_STALLS: rdata <= tx_stalls_q;
      CARD_STREAM_RX_LEVEL: rdata <= 32'(rx.level);
      CARD_STREAM_DROP_UNSENT: rdata <= unsent_q;
      default: known <= 1'b0;
    endcase
  end
endmodule

`default_nettype wire
