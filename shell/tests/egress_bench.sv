// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// egress with flat ports, to an Ethernet port (Bytes = 128) or the host (64).
module egress_bench
  import penstock_pkg::*, shell_pkg::*;
#(
    parameter int unsigned Bytes = PortBytes,
    parameter int unsigned Clusters = 2
) (
    input wire logic clk,
    input wire logic rst,
    input wire cycles_t timeout,

    input  wire logic [Clusters-1:0]            in_valid,
    input  wire logic [Clusters-1:0]            in_last,
    input  wire logic [Clusters-1:0][DataW-1:0] in_data,
    input  wire logic [Clusters-1:0][15:0]      in_len,
    input  wire logic [Clusters-1:0][31:0]      in_time,
    output logic      [Clusters-1:0]            room,

    output logic               tx_tvalid,
    input  wire logic          tx_tready,
    output logic [8*Bytes-1:0] tx_tdata,
    output logic [  Bytes-1:0] tx_tkeep,
    output logic               tx_tlast,
    output logic [       31:0] tx_time,  // with a frame's first beat

    output logic        event_frame,
    output logic [15:0] event_bytes,
    output logic [ 3:0] event_unsent
);
  axis_if #(.Bytes(Bytes)) tx ();
  beat_t beat[Clusters];
  tx_event_t events;

  for (genvar c = 0; c < Clusters; c++) begin : gen_cluster
    assign beat[c] = '{
            meta: '{len: in_len[c], timestamp: in_time[c], default: '0},
            last: in_last[c],
            data: in_data[c]
        };
    beat_check i_check (
        .clk,
        .rst,
        .valid(in_valid[c]),
        .beat (beat[c])
    );
  end

  assign tx_tvalid = tx.tvalid;
  assign tx.tready = tx_tready;
  assign tx_tdata = tx.tdata;
  assign tx_tkeep = tx.tkeep;
  assign tx_tlast = tx.tlast;
  assign event_frame = events.frame;
  assign event_bytes = events.bytes;
  assign event_unsent = events.unsent;

  egress #(
      .Links(Clusters)
  ) i_egress (
      .clk,
      .rst,
      .timeout,
      .in_valid,
      .in_beat(beat),
      .room,
      .tx(tx),
      .tx_src(),
      .tx_mark(),
      .tx_timestamp(tx_time),
      .events
  );
endmodule

`default_nettype wire
