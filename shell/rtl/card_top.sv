// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// The card with flat ports, for a simulation's clock loop and for a real card's shell. Port p has bits [p*W+:W] of its vectors.
module card_top
  import penstock_pkg::*;
#(
    parameter int unsigned Ports        = 2,
    parameter int unsigned Units        = 16,
    parameter int          Accel        = 1,
    parameter int unsigned IngressDepth = 4096
) (
    input wire logic clk,
    input wire logic rst,

    input  wire logic [    Ports*DataW-1:0] rx_tdata,
    input  wire logic [Ports*BeatBytes-1:0] rx_tkeep,
    input  wire logic [          Ports-1:0] rx_tvalid,
    input  wire logic [          Ports-1:0] rx_tlast,
    input  wire logic [          Ports-1:0] rx_tuser,
    output logic      [          Ports-1:0] rx_pause,

    output logic      [    Ports*DataW-1:0] tx_tdata,
    output logic      [Ports*BeatBytes-1:0] tx_tkeep,
    output logic      [          Ports-1:0] tx_tvalid,
    output logic      [          Ports-1:0] tx_tlast,
    input  wire logic [          Ports-1:0] tx_tready,
    output logic      [        Ports*8-1:0] tx_src,
    output logic      [       Ports*32-1:0] tx_timestamp,

    input  wire logic [    DataW-1:0] host_rx_tdata,
    input  wire logic [BeatBytes-1:0] host_rx_tkeep,
    input  wire logic                 host_rx_tvalid,
    input  wire logic                 host_rx_tlast,
    input  wire logic                 host_rx_tuser,
    output logic                      host_rx_tready,

    output logic      [    DataW-1:0] host_tx_tdata,
    output logic      [BeatBytes-1:0] host_tx_tkeep,
    output logic                      host_tx_tvalid,
    output logic                      host_tx_tlast,
    input  wire logic                 host_tx_tready,
    output logic      [          7:0] host_tx_src,
    output logic      [         31:0] host_tx_timestamp,

    input  wire logic [31:0] s_axil_awaddr,
    input  wire logic        s_axil_awvalid,
    output logic             s_axil_awready,
    input  wire logic [31:0] s_axil_wdata,
    input  wire logic [ 3:0] s_axil_wstrb,
    input  wire logic        s_axil_wvalid,
    output logic             s_axil_wready,
    output logic      [ 1:0] s_axil_bresp,
    output logic             s_axil_bvalid,
    input  wire logic        s_axil_bready,
    input  wire logic [31:0] s_axil_araddr,
    input  wire logic        s_axil_arvalid,
    output logic             s_axil_arready,
    output logic      [31:0] s_axil_rdata,
    output logic      [ 1:0] s_axil_rresp,
    output logic             s_axil_rvalid,
    input  wire logic        s_axil_rready
);
  axis_if rx[Ports] ();
  axis_if tx[Ports] ();
  axis_if host_rx ();
  axis_if host_tx ();
  port_t src[Ports];
  time_t timestamp[Ports];

  for (genvar p = 0; p < Ports; p++) begin : gen_port
    assign rx[p].tdata = rx_tdata[p*DataW+:DataW];
    assign rx[p].tkeep = rx_tkeep[p*BeatBytes+:BeatBytes];
    assign rx[p].tvalid = rx_tvalid[p];
    assign rx[p].tlast = rx_tlast[p];
    assign rx[p].tuser = rx_tuser[p];
    assign tx_tdata[p*DataW+:DataW] = tx[p].tdata;
    assign tx_tkeep[p*BeatBytes+:BeatBytes] = tx[p].tkeep;
    assign tx_tvalid[p] = tx[p].tvalid;
    assign tx_tlast[p] = tx[p].tlast;
    assign tx[p].tready = tx_tready[p];
    assign tx_src[p*8+:8] = src[p];
    assign tx_timestamp[p*32+:32] = timestamp[p];
  end

  assign host_rx.tdata = host_rx_tdata;
  assign host_rx.tkeep = host_rx_tkeep;
  assign host_rx.tvalid = host_rx_tvalid;
  assign host_rx.tlast = host_rx_tlast;
  assign host_rx.tuser = host_rx_tuser;
  assign host_rx_tready = host_rx.tready;
  assign host_tx_tdata = host_tx.tdata;
  assign host_tx_tkeep = host_tx.tkeep;
  assign host_tx_tvalid = host_tx.tvalid;
  assign host_tx_tlast = host_tx.tlast;
  assign host_tx.tready = host_tx_tready;

  card #(
      .Ports(Ports),
      .Units(Units),
      .Accel(Accel),
      .IngressDepth(IngressDepth)
  ) i_card (
      .clk,
      .rst,
      .rx(rx),
      .rx_pause,
      .tx(tx),
      .tx_src(src),
      .tx_timestamp(timestamp),
      .host_rx(host_rx),
      .host_tx(host_tx),
      .host_tx_src,
      .host_tx_timestamp,
      .axil_awaddr(s_axil_awaddr),
      .axil_awvalid(s_axil_awvalid),
      .axil_awready(s_axil_awready),
      .axil_wdata(s_axil_wdata),
      .axil_wstrb(s_axil_wstrb),
      .axil_wvalid(s_axil_wvalid),
      .axil_wready(s_axil_wready),
      .axil_bresp(s_axil_bresp),
      .axil_bvalid(s_axil_bvalid),
      .axil_bready(s_axil_bready),
      .axil_araddr(s_axil_araddr),
      .axil_arvalid(s_axil_arvalid),
      .axil_arready(s_axil_arready),
      .axil_rdata(s_axil_rdata),
      .axil_rresp(s_axil_rresp),
      .axil_rvalid(s_axil_rvalid),
      .axil_rready(s_axil_rready)
  );
endmodule

`default_nettype wire
