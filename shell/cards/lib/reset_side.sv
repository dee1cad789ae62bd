// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// One side of reset_pair.
module reset_side (
    input  wire logic clk,
    input  wire logic rst_in,  // of either side
    output logic      rst,
    output logic      clear,   // in reset, and the other side is, too
    output logic      seen,    // the other side has been seen in reset

    input wire logic peer_clk,
    input wire logic peer_rst,
    input wire logic peer_seen
);
  logic begun, peer_in_reset, peer_has_seen;
  reset_bridge i_begun (
      .clk,
      .rst_in,
      .rst(begun)
  );
  sync_bits i_peer_rst (
      .src_clk(peer_clk),
      .src_rst(1'b0),
      .d(peer_rst),
      .clk,
      .rst(begun),
      .q(peer_in_reset)
  );
  sync_bits i_peer_seen (
      .src_clk(peer_clk),
      .src_rst(1'b0),
      .d(peer_seen),
      .clk,
      .rst(begun),
      .q(peer_has_seen)
  );

  // The other side's `seen` falls with the edge with which its `rst` rises, and one of the two may arrive a cycle
  // later: the
  // old value is gone when `settled_q` rises.
  logic rst_q, seen_q, settled_q;
  always_ff @(posedge clk) begin
    seen_q    <= seen_q || peer_in_reset;
    settled_q <= seen_q;
    if (settled_q && peer_has_seen) rst_q <= 1'b0;
    if (begun) begin
      rst_q     <= 1'b1;
      seen_q    <= 1'b0;
      settled_q <= 1'b0;
    end
  end
  assign rst   = rst_q;
  assign seen  = seen_q;
  assign clear = rst_q && seen_q;
endmodule

`default_nettype wire
