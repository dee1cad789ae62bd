// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// The xdp unit: a core of sixteen contexts, buffers for thirty-two frames, and its own maps.
//
//   rx ─> frames ─> packet_memory B        A <─ core ─> requests ─> maps, division; maps of the card ═>
//   tx <─   │ ^                                  │
//           │ └── verdict ───────────────────────┘
//           └──── start ─────────────────────────┘
//
// Out of reset it declares its slots, and frees them as their frames leave. It sends nothing over loopback and
// broadcasts nothing.
module xdp
  import penstock_pkg::*;
  import xdp_pkg::*;
#(
    parameter int unsigned Lanes = 4,
    parameter int unsigned MapBytes = 65536
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
    map_if.unit       card_maps,
    cfg_if.snk        cfg
);
  localparam int unsigned Longest = BufferBytes - Tailroom - Headroom;

  assign loop.valid = 1'b0;
  assign loop.dst = '0;
  assign loop.len = '0;
  assign loop.hash = '0;
  assign bc.out_valid = 1'b0;
  assign bc.out = '0;

  // A reset lasts until no frame of the program before is here.
  logic reset, bank, by_flow, empty, reset_q, declared_q;
  word_t ns;
  always_ff @(posedge clk) begin
    reset_q <= rst || reset || (reset_q && !empty);
    declared_q <= !reset_q && !rst;
  end

  logic free;
  buffer_t free_buffer;
  always_ff @(posedge clk) begin
    slots.free_valid <= free && !rst;
    slots.free_slot <= slot_t'(free_buffer) + 6'd1;
    slots.setup_valid <= !reset_q && !declared_q && !rst;
    slots.setup_count <= slot_t'(Buffers);
    slots.setup_size <= len_t'(Longest);
  end

  // ---- the core and its packets
  logic start, done, store, starved, io_write, a_whole;
  ctx_t start_ctx, done_ctx;
  packet_t start_packet, done_packet;
  logic [Contexts-1:0] idle;
  verdict_e done_verdict;
  logic [12:0] a_arrived;
  buffer_t a_buffer, store_buffer, io_buffer;
  offset_t a_place, store_place, io_place;
  window_t a_window, b_window;
  logic [Window-1:0] store_be;
  logic [Window-1:0][7:0] store_data;
  logic [DataW-1:0] io_data;
  logic row_we, row_bank, issued;
  row_t row;
  logic [$clog2(Lanes+1)-1:0] row_part;
  word_t row_data;
  logic request, answer, answer_taken, looked, looked_here, accepted, wild, stray;
  request_t request_data;
  answer_t answer_data;
  ctx_t accepted_ctx;

  xdp_core #(
      .Lanes(Lanes)
  ) i_core (
      .clk,
      .rst,
      .unit_id,
      .now(ns),
      .bank,
      .row_we,
      .row_write_bank(row_bank),
      .row_write_row(row),
      .row_write_part(row_part),
      .row_write_data(row_data),
      .start,
      .start_ctx,
      .start_packet,
      .idle,
      .issued,
      .a_whole,
      .a_arrived,
      .done,
      .done_ctx,
      .done_packet,
      .done_verdict,
      .a_buffer,
      .a_place,
      .a_window,
      .store,
      .store_buffer,
      .store_place,
      .store_be,
      .store_data,
      .starved,
      .request,
      .request_data,
      .answer,
      .answer_data,
      .answer_taken,
      .looked,
      .looked_here,
      .accepted,
      .accepted_ctx,
      .stray
  );

  xdp_packet_memory packets (
      .clk,
      .a_buffer,
      .a_place,
      .a_window,
      .b_buffer(store ? store_buffer : io_buffer),
      .b_place(store ? store_place : io_place),
      .b_be(store ? store_be : {Window{io_write}}),
      .b_data(store ? store_data : io_data),
      .b_window
  );

  logic dropped, aborted, refused;
  logic [Buffers-1:0] used;
  xdp_frames i_frames (
      .clk,
      .rst,
      .unit_id,
      .card,
      .by_flow,
      .rx_valid,
      .rx,
      .rx_room,
      .tx,
      .free,
      .free_buffer,
      .start,
      .start_ctx,
      .start_packet,
      .idle,
      .a_buffer,
      .a_whole,
      .a_arrived,
      .done,
      .done_packet,
      .done_verdict,
      .busy(store),
      .starved,
      .io_buffer,
      .io_place,
      .io_write,
      .io_data,
      .io_window(b_window),
      .dropped,
      .aborted,
      .refused,
      .used,
      .empty
  );

  // ---- maps, divisions, host
  logic map_ask, map_we, map_done;
  logic [$clog2(MapBytes)-1:2] map_addr;
  logic [31:0] map_wdata, map_rdata;
  xdp_requests #(
      .MapBytes(MapBytes)
  ) i_requests (
      .clk,
      .rst,
      .unit_id,
      .request,
      .request_data,
      .answer,
      .answer_data,
      .answer_taken,
      .looked,
      .looked_here,
      .accepted,
      .accepted_ctx,
      .wild,
      .host_ask(map_ask),
      .host_we(map_we),
      .host_addr(map_addr),
      .host_wdata(map_wdata),
      .host_done(map_done),
      .host_rdata(map_rdata),
      .card(card_maps)
  );

  // Which contexts work with which bank
  logic [Contexts-1:0] in_bank_q;
  always_ff @(posedge clk) if (start) in_bank_q[start_ctx] <= bank;

  xdp_window #(
      .Lanes(Lanes),
      .MapBytes(MapBytes)
  ) window (
      .clk,
      .rst,
      .unit_id,
      .cfg,
      .row_we,
      .row_bank,
      .row,
      .row_part,
      .row_data,
      .map_ask,
      .map_we,
      .map_addr,
      .map_wdata,
      .map_done,
      .map_rdata,
      .reset,
      .bank,
      .by_flow,
      .ns,
      .working({~idle & in_bank_q, ~idle & ~in_bank_q}),
      .used,
      .rx_frame(rx_valid && rx.last),
      .rx_bytes(rx.meta.len),
      .rx_stall(!rx_room),
      .tx_frame(tx.valid && tx.ready && tx.last),
      .tx_bytes(tx.meta.len),
      .tx_stall(tx.valid && !tx.ready),
      .dropped,
      .refused,
      .aborted,
      .issued,
      .wild,
      .stray
  );
endmodule

`default_nettype wire
