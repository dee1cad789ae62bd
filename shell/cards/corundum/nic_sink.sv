// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// Drops the frames that Corundum's NIC sends at a port, and completes each with its tag, as the MAC would have done. A
// frame that is not completed would keep its place in the NIC's transmit queue for ever.
//
//   NIC ─> last beat's tag ─> completion ─> NIC        one cycle; a completion that waits stalls the NIC's frames
module nic_sink #(
    parameter int unsigned TagW = 16
) (
    input wire logic clk,
    input wire logic rst,

    input  wire logic            tvalid,
    output logic                 tready,
    input  wire logic            tlast,
    input  wire logic [TagW-1:0] tag,

    output logic      [TagW-1:0] cpl_tag,
    output logic                 cpl_valid,
    input  wire logic            cpl_ready
);
  logic valid_q;
  logic [TagW-1:0] tag_q;
  assign tready = !valid_q;
  assign cpl_valid = valid_q;
  assign cpl_tag = tag_q;
  always_ff @(posedge clk) begin
    if (tready) tag_q <= tag;
    valid_q <= valid_q ? !cpl_ready : tvalid && tlast;
    if (rst) valid_q <= 1'b0;
  end
endmodule

`default_nettype wire
