// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// A unit of the card: picks the engine by its number. Each engine NAME of the kind "unit" has a module NAME_unit with
// these ports and `Param`.
//
// A unit takes beats on `rx` into the slot that their metadata names, sends frames on `tx`, declares and frees slots on
// `slots` (one message a cycle at most, always accepted), and answers every access on `cfg` in bounded time. Beats come
// without a handshake, under the room contract of penstock_pkg.sv: while `rx_room` is up there is room for UnitRoom of
// them. It must take a frame for any of its free slots whatever its program does, and never be without room for
// 256 cycles (card.sv asserts it), as three others share its link. Before it sends a frame over loopback it gets a
// place for it on `loop` (lib/rtl/loop_if.sv); meanwhile it must let its other frames pass. On `bc` it takes every word
// that comes. `maps` leads to the card's maps, where the card has them (lib/rtl/map_if.sv).
module unit
  import penstock_pkg::*;
#(
    parameter int          Engine = 0,  // number in engines/engines.toml
    parameter logic [31:0] Param  = 0   // what only the engine understands: see its module NAME_unit
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
  // Written by tools/registry.py from engines/engines.toml.
  if (Engine == 0) begin : gen_rpu
    rpu_unit #(
        .Param(Param)
    ) i_rpu (
        .*
    );
  end
  if (Engine == 1) begin : gen_xdp
    xdp_unit #(
        .Param(Param)
    ) i_xdp (
        .*
    );
  end
  if (Engine != 0 && Engine != 1) begin : gen_unknown
    $error("unit: no engine of this kind has the number %0d: see engines/engines.toml", Engine);
  end
endmodule

`default_nettype wire
