// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// An xdp unit without core, requests and the host's registers: frames, their memory, and the arbiter of its port B.
module xdp_frames_alone
  import penstock_pkg::*;
  import xdp_pkg::*;
(
    input wire logic  clk,
    input wire logic  rst,
    input wire unit_t unit_id,
    input wire card_t card,
    input wire logic  by_flow,

    input  wire logic  rx_valid,
    input  wire beat_t rx,
    output logic       rx_room,
    frame_if.src       tx,
    output logic       free,
    output buffer_t    free_buffer,

    // Core
    output logic                      start,
    output ctx_t                      start_ctx,
    output packet_t                   start_packet,
    input  wire logic [Contexts-1:0]  idle,
    input  wire buffer_t              a_buffer,
    input  wire offset_t              a_place,
    output window_t                   a_window,
    output logic                      a_whole,
    output logic      [12:0]          a_arrived,
    input  wire logic                 store,
    input  wire buffer_t              store_buffer,
    input  wire offset_t              store_place,
    input  wire logic [Window-1:0]    store_be,
    input  wire logic [Window-1:0][7:0] store_data,
    input  wire logic                 done,
    input  wire packet_t              done_packet,
    input  wire verdict_e             done_verdict,

    output logic               starved,
    output logic               dropped,
    output logic               aborted,
    output logic               refused,
    output logic [Buffers-1:0] used,
    output logic               empty
);
  buffer_t io_buffer;
  offset_t io_place;
  logic io_write;
  logic [DataW-1:0] io_data;
  window_t b_window;

  xdp_frames i_frames (
      .busy(store),
      .io_window(b_window),
      .*
  );

  xdp_packet_memory packets (
      .b_buffer(store ? store_buffer : io_buffer),
      .b_place(store ? store_place : io_place),
      .b_be(store ? store_be : {Window{io_write}}),
      .b_data(store ? store_data : io_data),
      .*
  );
endmodule

`default_nettype wire
