// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// ingress with flat ports, of an Ethernet port (Bytes = 128) or the host (64).
module ingress_bench
  import penstock_pkg::*, shell_pkg::*;
#(
    parameter int unsigned Bytes = PortBytes,
    parameter int unsigned Depth = 512
) (
    input wire logic clk,
    input wire logic rst,
    input wire logic enable,

    input  wire logic               rx_tvalid,
    output logic                    rx_tready,
    input  wire logic [8*Bytes-1:0] rx_tdata,
    input  wire logic [  Bytes-1:0] rx_tkeep,
    input  wire logic               rx_tlast,
    input  wire logic               rx_tuser,
    output logic                    pause,
    output logic                    crowded,

    output logic             out_valid,
    input  wire logic        out_ready,
    output logic [DataW-1:0] out_data,
    output logic             out_last,
    output logic [     15:0] out_len,   // with a frame's first beat, as the next two
    output logic [     31:0] out_time,
    output logic [     31:0] out_hash,
    output logic             out_folded,
    output logic [TailW-1:0] out_tail,

    // for one cycle: bad[0] disabled, [1] damaged, [2] oversize, [3] runt, [4] overflow
    output logic        event_frame,
    output logic [15:0] event_bytes,
    output logic [ 4:0] event_bad,
    output logic [15:0] level
);
  axis_if #(.Bytes(Bytes)) rx ();
  frame_if frames ();
  tail_t tail;
  rx_event_t events;
  time_t now_q;

  always_ff @(posedge clk) now_q <= rst ? '0 : now_q + 1'b1;

  assign rx.tvalid = rx_tvalid;
  assign rx_tready = rx.tready;
  assign rx.tdata = rx_tdata;
  assign rx.tkeep = rx_tkeep;
  assign rx.tlast = rx_tlast;
  assign rx.tuser = rx_tuser;
  assign out_valid = frames.valid;
  assign frames.ready = out_ready;
  assign out_data = frames.data;
  assign out_last = frames.last;
  assign out_len = frames.meta.len;
  assign out_time = frames.meta.timestamp;
  assign out_hash = frames.meta.hash;
  assign out_folded = tail.valid;
  assign out_tail = tail.data;
  assign event_frame = events.frame;
  assign event_bytes = events.bytes;
  assign event_bad = {events.overflow, events.runt, events.oversize, events.damaged, events.disabled};
  assign level = events.level;

  ingress #(
      .Depth(Depth),
      .Lossless(Bytes == BeatBytes)
  ) i_ingress (
      .clk,
      .rst,
      .now(now_q),
      .enable,
      .rx(rx),
      .pause,
      .crowded,
      .frames(frames),
      .tail,
      .events
  );
  frame_check #(
      .Tails(Bytes == PortBytes)
  ) i_check (
      .clk,
      .rst,
      .link(frames)
  );
endmodule

`default_nettype wire
