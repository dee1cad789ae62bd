// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// The registry of engines: what a unit of the card is. Whoever adds an engine adds it here.
//
// A unit takes beats on `rx` into the slot that their metadata names, sends frames on `tx`, declares and frees slots on `slots` (one message
// a cycle at most, always accepted), and answers every access on `cfg` in bounded time. Beats come without a handshake: while `rx_room` is
// up there is room for four, and up to three cycles after it has fallen they still come. It must take a frame for any of its free slots whatever
// its program does, and never be without room for 256 cycles (card.sv asserts it), as three others share its link. Before it sends a
// frame over loopback it gets a place for it on `loop` (lib/rtl/loop_if.sv); meanwhile it must let its other frames pass. On `bc` it takes every word that comes. `maps` leads to the card's maps, where
// the card has them (lib/rtl/map_if.sv).
module unit
  import penstock_pkg::*;
#(
    parameter int          Engine = 0,  // 0 rpu, 1 xdp
    parameter int          Accel = 1,   // accelerators of the rpu, a bit each: engines/rpu/rtl/accel.sv
    parameter int unsigned Lanes = 4    // of the core of the xdp engine: 1, 2, 3, 4 or 8
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
  if (Engine == 0) begin : gen_rpu
    assign maps.valid = 1'b0;
    assign maps.flit  = '0;
    rpu #(
        .Accel(Accel)
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
  end else begin : gen_xdp
    xdp #(
        .Lanes(Lanes)
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
  end
endmodule

`default_nettype wire
