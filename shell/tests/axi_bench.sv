// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// Managers that share a channel of memory, with flat ports: manager m has bits [m*W+:W].
module axi_bench #(
    parameter int unsigned Managers = 3,
    parameter int unsigned RangeW = 24
) (
    input wire logic clk,
    input wire logic rst,

    input  wire logic [    Managers*4-1:0] awid,
    input  wire logic [   Managers*40-1:0] awaddr,
    input  wire logic [    Managers*8-1:0] awlen,
    input  wire logic [      Managers-1:0] awvalid,
    output logic      [      Managers-1:0] awready,
    input  wire logic [  Managers*512-1:0] wdata,
    input  wire logic [   Managers*64-1:0] wstrb,
    input  wire logic [      Managers-1:0] wlast,
    input  wire logic [      Managers-1:0] wvalid,
    output logic      [      Managers-1:0] wready,
    output logic      [    Managers*4-1:0] bid,
    output logic      [    Managers*2-1:0] bresp,
    output logic      [      Managers-1:0] bvalid,
    input  wire logic [    Managers*4-1:0] arid,
    input  wire logic [   Managers*40-1:0] araddr,
    input  wire logic [    Managers*8-1:0] arlen,
    input  wire logic [      Managers-1:0] arvalid,
    output logic      [      Managers-1:0] arready,
    output logic      [    Managers*4-1:0] rid,
    output logic      [  Managers*512-1:0] rdata,
    output logic      [    Managers*2-1:0] rresp,
    output logic      [      Managers-1:0] rlast,
    output logic      [      Managers-1:0] rvalid,
    output logic      [      Managers-1:0] errors
);
  axi_if #(.ID_W(4)) from[Managers] ();
  axi_if #(.ID_W(7)) channel ();

  for (genvar m = 0; m < Managers; m++) begin : gen_manager
    assign from[m].awid = awid[m*4+:4];
    assign from[m].awaddr = awaddr[m*40+:40];
    assign from[m].awlen = awlen[m*8+:8];
    assign from[m].awvalid = awvalid[m];
    assign awready[m] = from[m].awready;
    assign from[m].wdata = wdata[m*512+:512];
    assign from[m].wstrb = wstrb[m*64+:64];
    assign from[m].wlast = wlast[m];
    assign from[m].wvalid = wvalid[m];
    assign wready[m] = from[m].wready;
    assign bid[m*4+:4] = from[m].bid;
    assign bresp[m*2+:2] = from[m].bresp;
    assign bvalid[m] = from[m].bvalid;
    assign from[m].bready = 1'b1;
    assign from[m].arid = arid[m*4+:4];
    assign from[m].araddr = araddr[m*40+:40];
    assign from[m].arlen = arlen[m*8+:8];
    assign from[m].arvalid = arvalid[m];
    assign arready[m] = from[m].arready;
    assign rid[m*4+:4] = from[m].rid;
    assign rdata[m*512+:512] = from[m].rdata;
    assign rresp[m*2+:2] = from[m].rresp;
    assign rlast[m] = from[m].rlast;
    assign rvalid[m] = from[m].rvalid;
    assign from[m].rready = 1'b1;
    axi_check i_check (
        .clk,
        .rst,
        .link(from[m])
    );
  end

  axi_share #(
      .Managers(Managers),
      .RangeW(RangeW)
  ) i_share (
      .clk,
      .rst,
      .from(from),
      .to(channel),
      .error(errors)
  );
  axi_check i_check (
      .clk,
      .rst,
      .link(channel)
  );
  axi_memory i_memory (
      .clk,
      .rst,
      .link(channel)
  );
endmodule

`default_nettype wire
