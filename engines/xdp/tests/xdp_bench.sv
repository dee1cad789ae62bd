// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// One xdp unit and the maps of a small card, with their interfaces as plain ports, for test benches.
module xdp_bench
  import penstock_pkg::*;
#(
    parameter int unsigned Lanes = 4,
    parameter int unsigned Ports = 2
) (
    input wire logic  clk,
    input wire logic  rst,
    input wire unit_t unit_id,

    input  wire logic                           rx_valid,
    output logic                                rx_room,
    input  wire logic [DataW-1:0]               rx_data,
    input  wire logic                           rx_last,
    input  wire logic [$bits(frame_meta_t)-1:0] rx_meta,

    output logic                           tx_valid,
    input  wire logic                      tx_ready,
    output logic [DataW-1:0]               tx_data,
    output logic                           tx_last,
    output logic [$bits(frame_meta_t)-1:0] tx_meta,

    output logic             loop_valid,
    output port_t            loop_dst,
    output len_t             loop_len,
    output logic [6:0]       loop_hash,
    input  wire logic        loop_answer,
    input  wire logic        loop_granted,
    input  wire unit_t       loop_unit_id,
    input  wire slot_t       loop_slot,

    output logic                          bc_out_valid,
    input  wire logic                     bc_out_ready,
    output logic [$bits(broadcast_t)-1:0] bc_out,
    input  wire logic                     bc_in_valid,
    input  wire unit_t                    bc_from,
    input  wire logic [$bits(broadcast_t)-1:0] bc_in,

    output logic [$bits(slot_msg_t)-1:0] slots,

    input  wire logic        cfg_req,
    input  wire logic        cfg_we,
    input  wire logic [25:0] cfg_addr,
    input  wire logic [31:0] cfg_wdata,
    output logic             cfg_ack,
    output logic             cfg_err,
    output logic      [31:0] cfg_rdata,

    // The host at the card's maps
    input  wire logic        maps_req,
    input  wire logic        maps_we,
    input  wire logic [11:0] maps_addr,
    input  wire logic [31:0] maps_wdata,
    output logic             maps_ack,
    output logic             maps_err,
    output logic      [31:0] maps_rdata
);
  beat_t rx;
  frame_if tx ();
  loop_if loop ();
  broadcast_if bc ();
  cfg_if #(.ADDR_W(26)) cfg ();
  cfg_if #(.ADDR_W(12)) maps_cfg ();
  map_if links[1] ();

  assign rx = '{meta: rx_meta, last: rx_last, data: rx_data};

  assign tx_valid = tx.valid;
  assign tx_data = tx.data;
  assign tx_last = tx.last;
  assign tx_meta = tx.meta;
  assign tx.ready = tx_ready;

  assign loop_valid = loop.valid;
  assign loop_dst = loop.dst;
  assign loop_len = loop.len;
  assign loop_hash = loop.hash;
  assign loop.answer = loop_answer;
  assign loop.granted = loop_granted;
  assign loop.unit_id = loop_unit_id;
  assign loop.slot = loop_slot;

  assign bc_out_valid = bc.out_valid;
  assign bc_out = bc.out;
  assign bc.out_ready = bc_out_ready;
  assign bc.in_valid = bc_in_valid;
  assign bc.from = bc_from;
  assign bc.in = bc_in;

  assign cfg.req = cfg_req;
  assign cfg.we = cfg_we;
  assign cfg.addr = cfg_addr;
  assign cfg.wdata = cfg_wdata;
  assign cfg_ack = cfg.ack;
  assign cfg_err = cfg.err;
  assign cfg_rdata = cfg.rdata;

  xdp #(
      .Lanes(Lanes)
  ) unit (
      .clk,
      .rst,
      .unit_id,
      .card('{port_count: 3'(Ports), unit_count: 6'd16}),
      .rx_valid,
      .rx,
      .rx_room,
      .tx,
      .loop,
      .bc,
      .slots,
      .card_maps(links[0]),
      .cfg
  );

  assign maps_cfg.req = maps_req;
  assign maps_cfg.we = maps_we;
  assign maps_cfg.addr = maps_addr;
  assign maps_cfg.wdata = maps_wdata;
  assign maps_ack = maps_cfg.ack;
  assign maps_err = maps_cfg.err;
  assign maps_rdata = maps_cfg.rdata;
  axi_if memory ();  // all rows are on the chip
  axi_absent i_memory (.link(memory));
  card_maps #(
      .Units(1),
      .Banks(4),
      .Rows (1024)
  ) maps (
      .clk,
      .rst,
      .links,
      .cfg(maps_cfg),
      .memory
  );

  beat_check rx_check (
      .clk,
      .rst,
      .valid(rx_valid),
      .beat (rx)
  );

  frame_check tx_check (
      .clk,
      .rst,
      .link(tx)
  );
endmodule

`default_nettype wire
