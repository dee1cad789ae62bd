// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// The exit of a stream: complete frames from all clusters, as AXI4-Stream with registered outputs.
// No gap inside a frame; one beat a cycle. `tx_src` and `tx_timestamp` are valid with a frame's first beat.
module egress
  import penstock_pkg::*, shell_pkg::*;
#(
    parameter int unsigned Clusters = 4
) (
    input wire logic clk,
    input wire logic rst,

    input wire logic [Clusters-1:0] in_valid,
    input wire beat_t in_beat[Clusters],
    output logic [Clusters-1:0] room,

    axis_if.src   tx,
    output port_t tx_src,        // where the frame entered the card
    output time_t tx_timestamp,  // and when

    output tx_event_t events
);
  frame_if frames ();
  frame_gather #(
      .Clusters(Clusters)
  ) i_gather (
      .clk,
      .rst,
      .in_valid,
      .in_beat,
      .room,
      .frames(frames)
  );

  logic valid_q, step, last_q;
  logic [BeatBytes-1:0] keep_q;
  logic [DataW-1:0] data_q;
  frame_meta_t meta_q;
  assign step = !valid_q || tx.tready;
  assign frames.ready = step;
  always_ff @(posedge clk) begin
    if (step) valid_q <= frames.valid;
    if (step && frames.valid) begin
      data_q <= frames.data;
      last_q <= frames.last;
      keep_q <= frames.last ? bytes_keep(frames.meta.len[5:0]) : '1;
      meta_q <= frames.meta;
    end
    if (rst) valid_q <= 1'b0;
  end
  assign tx.tvalid = valid_q;
  assign tx.tdata = data_q;
  assign tx.tkeep = keep_q;
  assign tx.tlast = last_q;
  assign tx.tuser = 1'b0;
  assign tx_src = meta_q.src;
  assign tx_timestamp = meta_q.timestamp;

  always_ff @(posedge clk) begin
    events.frame <= valid_q && tx.tready && last_q && !rst;
    events.stall <= valid_q && !tx.tready && !rst;
    events.bytes <= meta_q.len;
  end
endmodule

`default_nettype wire
