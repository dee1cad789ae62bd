// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// Completes each frame that Corundum's NIC sends at a port with its tag, as the MAC would have done, when its last beat
// was taken. A frame that is not completed would keep its place in the NIC's transmit queue for ever.
//
//   NIC ─> last beat's tag ─> completion ─> NIC        one cycle; a completion that waits stalls the NIC's frames
module nic_complete #(
    parameter int unsigned TagW = 16
) (
    input wire logic clk,
    input wire logic rst,

    input  wire logic            tvalid,
    output logic                 tready,
    input  wire logic            tlast,
    input  wire logic [TagW-1:0] tag,
    output logic                 take_valid,  // the beat, for whom takes the frame
    input  wire logic            take_ready,

    output logic      [TagW-1:0] cpl_tag,
    output logic                 cpl_valid,
    input  wire logic            cpl_ready
);
  logic valid_q;
  logic [TagW-1:0] tag_q;
  assign take_valid = tvalid && !valid_q;
  assign tready = !valid_q && take_ready;
  assign cpl_valid = valid_q;
  assign cpl_tag = tag_q;
  always_ff @(posedge clk) begin
    if (tready) tag_q <= tag;
    valid_q <= valid_q ? !cpl_ready : tvalid && tready && tlast;
    if (rst) valid_q <= 1'b0;
  end
endmodule

`default_nettype wire
