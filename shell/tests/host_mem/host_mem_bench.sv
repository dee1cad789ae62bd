// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// host_mem with plain ports and four clusters that take turns, for test benches. `in_*` is a link of the switch.
module host_mem_bench
  import penstock_pkg::*, shell_pkg::*;
(
    input wire logic clk,
    input wire logic rst,

    input  wire logic [3:0]                     in_valid,  // from this cluster
    input  wire logic [$bits(frame_meta_t)-1:0] in_meta,
    input  wire logic                           in_last,
    input  wire logic [DataW-1:0]               in_data,
    output logic [3:0]                          room,

    input  wire logic        range_we,
    input  wire logic [4:0]  range_unit,
    input  wire logic [63:0] range_base,
    input  wire logic [63:0] range_limit,
    output logic [63:0]      shown_base,
    output logic [63:0]      shown_limit,

    output logic                                out_valid,
    input  wire logic                           out_ready,
    output logic [$bits(frame_meta_t)-1:0]      out_meta,
    output logic                                out_last,
    output logic [DataW-1:0]                    out_data,

    output logic [63:0]                awaddr,
    output logic [7:0]                 awlen,
    output logic                       awvalid,
    input  wire logic                  awready,
    output logic [DataW-1:0]           wdata,
    output logic [BeatBytes-1:0]       wstrb,
    output logic                       wlast,
    output logic                       wvalid,
    input  wire logic                  wready,
    input  wire logic [1:0]            bresp,
    input  wire logic                  bvalid,
    output logic                       bready,
    output logic [63:0]                araddr,
    output logic [7:0]                 arlen,
    output logic                       arvalid,
    input  wire logic                  arready,
    input  wire logic [DataW-1:0]      rdata,
    input  wire logic [1:0]            rresp,
    input  wire logic                  rlast,
    input  wire logic                  rvalid,
    output logic                       rready,

    output logic [$bits(host_event_t)-1:0] events
);
  axi_write_if axi_write ();
  axi_read_if axi_read ();
  frame_if answers ();
  beat_t beat[4];
  host_event_t event_out;
  host_range_t range_data, range_shown;

  for (genvar c = 0; c < 4; c++) begin : gen_beat
    assign beat[c] = '{meta: in_meta, last: in_last, data: in_data};
  end

  assign range_data = '{base: range_base, limit: range_limit};
  assign shown_base = range_shown.base;
  assign shown_limit = range_shown.limit;
  assign awaddr = axi_write.awaddr;
  assign awlen = axi_write.awlen;
  assign awvalid = axi_write.awvalid;
  assign axi_write.awready = awready;
  assign wdata = axi_write.wdata;
  assign wstrb = axi_write.wstrb;
  assign wlast = axi_write.wlast;
  assign wvalid = axi_write.wvalid;
  assign axi_write.wready = wready;
  assign axi_write.bresp = bresp;
  assign axi_write.bvalid = bvalid;
  assign bready = axi_write.bready;
  assign araddr = axi_read.araddr;
  assign arlen = axi_read.arlen;
  assign arvalid = axi_read.arvalid;
  assign axi_read.arready = arready;
  assign axi_read.rdata = rdata;
  assign axi_read.rresp = rresp;
  assign axi_read.rlast = rlast;
  assign axi_read.rvalid = rvalid;
  assign rready = axi_read.rready;
  assign out_valid = answers.valid;
  assign out_meta = answers.meta;
  assign out_last = answers.last;
  assign out_data = answers.data;
  assign answers.ready = out_ready;
  assign events = event_out;

  host_mem #(
      .Clusters(4)
  ) i_host_mem (
      .clk,
      .rst,
      .in_valid,
      .in_beat(beat),
      .room,
      .range_we,
      .range_unit,
      .range_data,
      .range_shown,
      .answers(answers),
      .axi_write(axi_write),
      .axi_read(axi_read),
      .events(event_out)
  );

  frame_check i_check (
      .clk,
      .rst,
      .link(answers)
  );
endmodule

`default_nettype wire
