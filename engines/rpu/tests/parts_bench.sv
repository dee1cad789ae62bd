// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// Receive engine, transmit engine and the firmware's registers of a packet unit side by side, each with its ports
// outside, so that a test bench plays memories, slot table, core and links. (Together they compile once.) The registers
// keep their slot table.
module parts_bench
  import penstock_pkg::*;
  import rpu_pkg::*;
(
    input wire logic clk,
    input wire logic rst,

    // ---- receive engine
    input  wire logic                           rx_valid,
    output logic                                rx_room,
    output logic                                rx_stall,
    input  wire logic [DataW-1:0]               rx_data,
    input  wire logic                           rx_last,
    input  wire logic [$bits(frame_meta_t)-1:0] rx_meta,
    output logic                                rx_info_we,
    output slot_index_t                         rx_info_slot,
    output logic [$bits(slot_info_t)-1:0]       rx_info_data,
    output slot_index_t                         rx_table_slot,
    input  wire half_t                          rx_table_place,
    input  wire header_row_t                    rx_table_header,
    input  wire logic                           rx_table_copies,
    output logic                                rx_row_valid,
    input  wire logic                           rx_row_ready,
    output logic [13:0]                         rx_row_addr,
    output logic [DataW-1:0]                    rx_row_data,
    output logic                                rx_head_valid,
    input  wire logic                           rx_head_ready,
    output logic [31:0]                         rx_head_be,
    output header_row_t                         rx_head_row,
    output logic [255:0]                        rx_head_data,
    output logic                                rx_done,
    output slot_index_t                         rx_done_slot,
    output len_t                                rx_done_len,
    output logic [BeatBytes-1:0]                rx_row_be,
    output logic                                rx_was_read,
    output slot_index_t                         rx_was_read_tag,
    output logic                                rx_was_read_error,
    output logic                                rx_wrote,
    output slot_index_t                         rx_wrote_tag,
    output logic                                rx_wrote_error,

    // ---- transmit engine
    input  wire logic                           tx_send,
    input  wire logic [$bits(send_t)-1:0]       tx_send_data,
    output logic                                loop_valid,
    output port_t                               loop_dst,
    output len_t                                loop_len,
    output logic [6:0]                          loop_hash,
    input  wire logic                           loop_answer,
    input  wire logic                           loop_granted,
    input  wire unit_t                          loop_unit_id,
    input  wire slot_t                          loop_slot,
    output slot_index_t                         tx_loop_table_slot,
    input  wire logic [6:0]                     tx_loop_table_hash,
    output slot_index_t                         tx_table_slot,
    input  wire port_t                          tx_table_src,
    input  wire time_t                          tx_table_timestamp,
    input  wire logic [31:0]                    tx_table_hash,
    output logic                                tx_row_valid,
    input  wire logic                           tx_row_ready,
    output logic [13:0]                         tx_row_addr,
    input  wire logic [DataW-1:0]               tx_row_data,
    output logic                                tx_valid,
    input  wire logic                           tx_ready,
    output logic [DataW-1:0]                    tx_data,
    output logic                                tx_last,
    output logic [$bits(frame_meta_t)-1:0]      tx_meta,
    output logic                                tx_free,
    output logic                                tx_empty,
    output logic                                tx_sent,
    output logic                                tx_extra_busy,
    output logic                                tx_unread,
    input  wire logic [63:0]                    tx_mem_addr,
    input  wire logic [$bits(host_read_t)-1:0]  tx_mem_read,
    input  wire time_t                          tx_now,
    output slot_index_t                         tx_free_slot,
    output logic                                tx_blocked,

    // ---- registers
    input  wire unit_t                          unit_id,
    input  wire logic [63:0]                    timer,
    input  wire logic                           rd,
    input  wire logic                           wr,
    input  wire logic [8:0]                     addr,
    input  wire logic [31:0]                    wdata,
    input  wire logic [3:0]                     be,
    output logic [1:0][31:0]                      rdata,
    output logic                                hold,
    output logic                                retry,
    input  wire logic                           irq_ready,
    output logic                                irq,
    input  wire logic                           wild,
    input  wire logic [15:2]                    pc,
    output error_pcs_t                          error_pcs,
    input  wire logic                           accel_error,
    input  wire logic                           poke,
    input  wire logic                           evict,
    input  wire logic                           info_we,
    input  wire slot_index_t                    info_slot,
    input  wire logic [$bits(slot_info_t)-1:0]  info_data,
    input  wire logic                           done,
    input  wire slot_index_t                    done_slot,
    input  wire logic                           was_read,
    input  wire slot_index_t                    was_read_tag,
    input  wire logic                           was_read_error,
    input  wire logic                           wrote,
    input  wire slot_index_t                    wrote_tag,
    input  wire logic                           wrote_error,
    input  wire logic                           extra_busy,
    input  wire logic                           unread,
    output logic [63:0]                         mem_addr,
    output logic [$bits(host_read_t)-1:0]       mem_read,
    output logic                                place_we,
    output logic                                header_we,
    output slot_index_t                         place_slot,
    output half_t                               place_data,
    output logic                                send,
    output logic [$bits(send_t)-1:0]            send_data,
    input  wire logic                           free,
    input  wire slot_index_t                    free_slot,
    output logic                                setup_valid,
    output slot_t                               setup_count,
    output len_t                                setup_size,
    input  wire logic [63:0]                    debug_in,
    output logic [63:0]                         debug_out,
    output logic                                ready_to_evict,
    output logic [31:0]                         active,
    output logic [31:0]                         held_cycles,
    output logic [15:0]                         errors,
    input  wire logic                           quiet,
    input  wire logic                           data_we,
    input  wire logic [31:0]                    data_wdata,
    output logic [31:0]                         data,
    output logic                                refused,
    output logic                                generated,
    output logic [6:0]                          window
);
  beat_t rx;
  frame_if tx ();
  loop_if loop ();

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

  slot_info_t info;
  assign rx_info_data = info;

  rx_dma rx_dma (
      .clk,
      .rst,
      .rx_valid,
      .rx,
      .rx_room,
      .stall(rx_stall),
      .info_we(rx_info_we),
      .info_slot(rx_info_slot),
      .info_data(info),
      .table_slot(rx_table_slot),
      .table_place(rx_table_place),
      .table_header(rx_table_header),
      .table_copies(rx_table_copies),
      .row_valid(rx_row_valid),
      .row_ready(rx_row_ready),
      .row_addr(rx_row_addr),
      .row_be(rx_row_be),
      .head_valid(rx_head_valid),
      .head_ready(rx_head_ready),
      .head_be(rx_head_be),
      .head_row(rx_head_row),
      .head_data(rx_head_data),
      .row_data(rx_row_data),
      .done(rx_done),
      .done_slot(rx_done_slot),
      .done_len(rx_done_len),
      .was_read(rx_was_read),
      .was_read_tag(rx_was_read_tag),
      .was_read_error(rx_was_read_error),
      .wrote(rx_wrote),
      .wrote_tag(rx_wrote_tag),
      .wrote_error(rx_wrote_error)
  );

  tx_dma tx_dma (
      .clk,
      .rst,
      .unit_id,
      .send(tx_send),
      .send_data(tx_send_data),
      .loop,
      .loop_table_slot(tx_loop_table_slot),
      .loop_table_hash(tx_loop_table_hash),
      .extra_busy(tx_extra_busy),
      .unread(tx_unread),
      .now(tx_now),
      .mem_addr(tx_mem_addr),
      .mem_read(tx_mem_read),
      .table_slot(tx_table_slot),
      .table_src(tx_table_src),
      .table_timestamp(tx_table_timestamp),
      .table_hash(tx_table_hash),
      .row_valid(tx_row_valid),
      .row_ready(tx_row_ready),
      .row_addr(tx_row_addr),
      .row_data(tx_row_data),
      .tx,
      .empty(tx_empty),
      .sent(tx_sent),
      .free(tx_free),
      .free_slot(tx_free_slot),
      .blocked(tx_blocked)
  );

  frame_check tx_check (
      .clk,
      .rst,
      .link(tx)
  );

  slot_index_t head_slot, taken_slot, send_slot;
  half_t head_place, taken_place, send_place;
  len_t head_len;
  port_t head_src;
  header_row_t head_header;
  logic head_copies;
  header_row_t taken_header;
  logic [31:0] taken_hash;
  time_t taken_timestamp;
  send_t sent;
  assign send_data = sent;
  host_read_t asked;
  assign mem_read = asked;

  core_regs #(
      .PmemBytes(1 << 20)
  ) core_regs (
      .clk,
      .rst,
      .unit_id,
      .card('{port_count: 3'd2, unit_count: 6'd16}),
      .timer,
      .ns(~timer),
      .rd,
      .wr,
      .addr(addr[8:2]),
      .wdata,
      .be,
      .line(128'd1 << addr[8:2]),
      .early(rd || wr ? early_of(wr, addr[8:2]) : '0),
      .rdata,
      .hold,
      .irq,
      .irq_ready,
      .retry,
      .wild,
      .pc,
      .error_pcs,
      .accel_error,
      .bc_listen(),
      .bc_mask(),
      .bc_value(),
      .bc_next(),
      .bc_head_valid(1'b0),
      .bc_head('0),
      .bc_head_load(1'b0),
      .bc_waiting('0),
      .bc_leaving('0),
      .poke,
      .evict,
      .done,
      .done_slot,
      .was_read,
      .was_read_tag,
      .was_read_error,
      .wrote,
      .wrote_tag,
      .wrote_error,
      .place_we,
      .header_we,
      .place_slot,
      .place_data,
      .head_slot,
      .head_place,
      .head_len,
      .head_src,
      .head_header,
      .head_copies,
      .taken_slot,
      .taken_place,
      .taken_header,
      .taken_hash,
      .taken_timestamp,
      .window,
      .send_slot,
      .send_place,
      .send,
      .send_data(sent),
      .extra_busy,
      .unread,
      .mem_addr,
      .mem_read(asked),
      .free,
      .free_slot,
      .setup_valid,
      .setup_count,
      .setup_size,
      .debug_in,
      .debug_out,
      .ready_to_evict,
      .active,
      .held_cycles,
      .errors,
      .quiet,
      .data_we,
      .data_wdata,
      .data,
      .refused,
      .generated
  );

  slot_table slot_table (
      .clk,
      .rst,
      .place_we,
      .header_we,
      .place_slot,
      .place_data,
      .info_we,
      .info_slot,
      .info_data,
      .rx_slot('0),
      .rx_place(),
      .rx_header(),
      .rx_copies(),
      .head_slot,
      .head_place,
      .head_len,
      .head_src,
      .head_header,
      .head_copies,
      .taken_slot,
      .taken_place,
      .taken_header,
      .taken_hash,
      .taken_timestamp,
      .send_slot,
      .send_place,
      .tx_slot('0),
      .tx_src(),
      .tx_timestamp(),
      .tx_hash(),
      .loop_slot('0),
      .loop_hash()
  );
endmodule

`default_nettype wire
