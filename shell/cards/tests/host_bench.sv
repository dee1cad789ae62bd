// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// host_mark and both converters of width behind it, with flat ports.
module host_bench
  import penstock_pkg::*;
(
    input wire logic clk,
    input wire logic rst,

    input  wire logic         in_tvalid,
    output logic              in_tready,
    input  wire logic [511:0] in_tdata,
    input  wire logic [ 63:0] in_tkeep,
    input  wire logic         in_tlast,
    input  wire logic [  7:0] in_source,
    input  wire logic [ 31:0] in_mark,
    input  wire logic [ 31:0] in_timestamp,
    output logic              out_tvalid,
    input  wire logic         out_tready,
    output logic      [511:0] out_tdata,
    output logic      [ 63:0] out_tkeep,
    output logic              out_tlast
);
  axis_if #(.Bytes(BeatBytes)) frames ();
  axis_if #(.Bytes(BeatBytes)) marked ();
  axis_if rows ();
  axis_if #(.Bytes(BeatBytes)) beats ();
  assign frames.tvalid = in_tvalid;
  assign frames.tdata = in_tdata;
  assign frames.tkeep = in_tkeep;
  assign frames.tlast = in_tlast;
  assign frames.tuser = 1'b0;
  assign in_tready = frames.tready;
  host_mark i_mark (
      .clk,
      .rst,
      .rx(frames),
      .source(in_source),
      .mark(in_mark),
      .timestamp(in_timestamp),
      .tx(marked)
  );
  beats_to_rows i_rows (
      .clk,
      .rst,
      .rx(marked),
      .tx(rows)
  );
  rows_to_beats i_beats (
      .clk,
      .rst,
      .rx(rows),
      .tx(beats)
  );
  assign out_tvalid = beats.tvalid;
  assign out_tdata = beats.tdata;
  assign out_tkeep = beats.tkeep;
  assign out_tlast = beats.tlast;
  assign beats.tready = out_tready;
endmodule

`default_nettype wire
