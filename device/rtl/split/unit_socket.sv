// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// Takes the place of a unit in the card, and gathers its wires in two bundles for card_top.sv.
module unit
  import penstock_pkg::*;
  import split_pkg::*;
#(
    parameter int          Engine = 0,
    parameter logic [31:0] Param = 0
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
  logic [BundleW-1:0] to_unit;
  logic [BundleW-1:0] from_unit;
  to_unit_t in;
  from_unit_t out;

  assign to_unit = BundleW'(in);
  assign out     = from_unit_t'(from_unit[$bits(from_unit_t)-1:0]);

  assign in.rx_valid  = rx_valid;
  assign in.rx        = rx;
  assign in.tx_ready  = tx.ready;
  assign in.loop_answer  = loop.answer;
  assign in.loop_granted = loop.granted;
  assign in.loop_unit_id = loop.unit_id;
  assign in.loop_slot    = loop.slot;
  assign in.bc_out_ready = bc.out_ready;
  assign in.bc_in_valid  = bc.in_valid;
  assign in.bc_from      = bc.from;
  assign in.bc_in        = bc.in;
  assign in.cfg_req   = cfg.req;
  assign in.cfg_we    = cfg.we;
  assign in.cfg_addr  = cfg.addr;
  assign in.cfg_wdata = cfg.wdata;
  assign in.map_room        = maps.room;
  assign in.map_reply_valid = maps.reply_valid;
  assign in.map_reply       = maps.reply;

  assign tx.valid  = out.tx_valid;
  assign tx.last   = out.tx_last;
  assign tx.meta   = out.tx_meta;
  assign tx.data   = out.tx_data;
  assign rx_room   = out.rx_room;
  assign loop.valid = out.loop_valid;
  assign loop.dst   = out.loop_dst;
  assign loop.len   = out.loop_len;
  assign loop.hash  = out.loop_hash;
  assign bc.out_valid = out.bc_out_valid;
  assign bc.out       = out.bc_out;
  assign slots     = out.slots;
  assign cfg.ack   = out.cfg_ack;
  assign cfg.err   = out.cfg_err;
  assign cfg.rdata = out.cfg_rdata;
  assign maps.valid = out.map_valid;
  assign maps.flit  = out.map_flit;
endmodule

`default_nettype wire
