// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// One unit, an engine's module `PENSTOCK_UNIT_MODULE, with its wires as two bundles: the model that the clock loop
// instantiates once for each unit of the card.
module unit_top
  import penstock_pkg::*;
  import split_pkg::*;
#(
    parameter logic [31:0] Param = 0
) (
    input  wire logic               clk,
    input  wire logic               rst,
    input  wire unit_t              unit_id,
    input  wire card_t              card,
    input  wire logic [BundleW-1:0] to_unit,
    output logic      [BundleW-1:0] from_unit
);
  frame_if tx ();
  loop_if loop ();
  broadcast_if bc ();
  cfg_if #(.ADDR_W(26)) cfg ();
  map_if maps ();
  to_unit_t in;
  from_unit_t out;

  if ($bits(to_unit_t) > BundleW || $bits(from_unit_t) > BundleW) begin : gen_width
    $error("unit_top: BundleW must be %0d at least", $bits(from_unit_t));
  end

  assign in        = to_unit_t'(to_unit[$bits(to_unit_t)-1:0]);
  assign from_unit = BundleW'(out);

  assign tx.ready  = in.tx_ready;
  assign loop.answer  = in.loop_answer;
  assign loop.granted = in.loop_granted;
  assign loop.unit_id = in.loop_unit_id;
  assign loop.slot    = in.loop_slot;
  assign bc.out_ready = in.bc_out_ready;
  assign bc.in_valid  = in.bc_in_valid;
  assign bc.from      = in.bc_from;
  assign bc.in        = in.bc_in;
  assign cfg.req   = in.cfg_req;
  assign cfg.we    = in.cfg_we;
  assign cfg.addr  = in.cfg_addr;
  assign cfg.wdata = in.cfg_wdata;
  assign maps.room        = in.map_room;
  assign maps.reply_valid = in.map_reply_valid;
  assign maps.reply       = in.map_reply;

  assign out.tx_valid  = tx.valid;
  assign out.tx_last   = tx.last;
  assign out.tx_meta   = tx.meta;
  assign out.tx_data   = tx.data;
  assign out.loop_valid = loop.valid;
  assign out.loop_dst   = loop.dst;
  assign out.loop_len   = loop.len;
  assign out.loop_hash  = loop.hash;
  assign out.bc_out_valid = bc.out_valid;
  assign out.bc_out       = bc.out;
  assign out.cfg_ack   = cfg.ack;
  assign out.cfg_err   = cfg.err;
  assign out.cfg_rdata = cfg.rdata;
  assign out.map_valid = maps.valid;
  assign out.map_flit  = maps.flit;

  `PENSTOCK_UNIT_MODULE #(
      .Param(Param)
  ) i_unit (
      .clk,
      .rst,
      .unit_id,
      .card,
      .rx_valid(in.rx_valid),
      .rx(in.rx),
      .rx_room(out.rx_room),
      .tx,
      .loop,
      .bc,
      .slots(out.slots),
      .maps,
      .cfg
  );
endmodule

`default_nettype wire
