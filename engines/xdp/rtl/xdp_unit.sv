// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// The xdp engine as a unit of the card (engines/unit.sv). `Param`: lanes of its core, 1, 2, 3, 4 or 8.
module xdp_unit
  import penstock_pkg::*;
#(
    parameter logic [31:0] Param = 32'd4
) (
    input wire logic  clk,
    input wire logic  rst,
    input wire unit_t unit_id,
    input wire card_t card,
    input wire logic  rx_valid,
    input wire beat_t rx,
    output logic      rx_room,
    frame_if.src      tx,
    loop_if.unit      loop,
    broadcast_if.unit bc,
    output slot_msg_t slots,
    map_if.unit       maps,
    cfg_if.snk        cfg
);
  xdp #(
      .Lanes(Param)
  ) i_xdp (
      .clk,
      .rst,
      .unit_id,
      .card,
      .rx_valid,
      .rx,
      .rx_room,
      .tx,
      .loop,
      .bc,
      .slots,
      .card_maps(maps),
      .cfg
  );
endmodule

`default_nettype wire
