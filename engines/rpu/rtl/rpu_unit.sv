// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// The rpu engine as a unit of the card (engines/unit.sv). `Param`: its accelerators, a bit each (accel.sv). It asks
// nothing of the card's maps.
module rpu_unit
  import penstock_pkg::*;
#(
    parameter logic [31:0] Param = 32'd1
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
  assign maps.valid = 1'b0;
  assign maps.flit  = '0;

  rpu #(
      .Accel(Param)
  ) i_rpu (
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
      .cfg
  );
endmodule

`default_nettype wire
