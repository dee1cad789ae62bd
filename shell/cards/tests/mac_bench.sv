// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// mac_rx and mac_tx of a port, with flat ports.
module mac_bench
  import penstock_pkg::*;
#(
    parameter bit Waits = 0  // the stream has a ready, as the host's
) (
    input wire logic mac_clk,
    input wire logic mac_rst_in,
    input wire logic clk,
    input wire logic rst_in,
    output logic     mac_rst,
    output logic     rst,

    input  wire logic         in_tvalid,
    output logic              in_tready,
    input  wire logic [511:0] in_tdata,
    input  wire logic [ 63:0] in_tkeep,
    input  wire logic         in_tlast,
    input  wire logic         in_tuser,
    output logic              rx_lost,
    output logic              rx_tvalid,
    input  wire logic         rx_tready,
    output logic      [1023:0] rx_tdata,
    output logic      [ 127:0] rx_tkeep,
    output logic              rx_tlast,
    output logic              rx_tuser,

    input  wire logic         tx_tvalid,
    output logic              tx_tready,
    input  wire logic [1023:0] tx_tdata,
    input  wire logic [ 127:0] tx_tkeep,
    input  wire logic         tx_tlast,
    output logic              tx_lost,
    output logic              out_tvalid,
    output logic      [511:0] out_tdata,
    output logic      [ 63:0] out_tkeep,
    output logic              out_tlast,
    output logic              out_tuser,
    input  wire logic         out_tready
);
  axis_if rx ();
  axis_if tx ();
  logic mac_own_rst, own_rst, mac_clear, clear;
  reset_bridge i_mac_own (
      .clk(mac_clk),
      .rst_in(mac_rst_in),
      .rst(mac_own_rst)
  );
  reset_bridge i_own (
      .clk,
      .rst_in,
      .rst(own_rst)
  );
  reset_pair i_resets (
      .a_clk(mac_clk),
      .a_rst_in(mac_own_rst),
      .a_rst(mac_rst),
      .a_clear(mac_clear),
      .b_clk(clk),
      .b_rst_in(own_rst),
      .b_rst(rst),
      .b_clear(clear)
  );
  mac_rx #(
      .Waits(Waits)
  ) i_rx (
      .mac_clk,
      .mac_own_rst,
      .mac_rst,
      .mac_clear,
      .mac_tvalid(in_tvalid),
      .mac_tready(in_tready),
      .mac_tdata(in_tdata),
      .mac_tkeep(in_tkeep),
      .mac_tlast(in_tlast),
      .mac_tuser(in_tuser),
      .lost(rx_lost),
      .clk,
      .own_rst,
      .rst,
      .clear,
      .rx(rx)
  );
  assign rx.tready = rx_tready;
  assign rx_tvalid = rx.tvalid;
  assign rx_tdata = rx.tdata;
  assign rx_tkeep = rx.tkeep;
  assign rx_tlast = rx.tlast;
  assign rx_tuser = rx.tuser;
  assign tx.tvalid = tx_tvalid;
  assign tx.tdata = tx_tdata;
  assign tx.tkeep = tx_tkeep;
  assign tx.tlast = tx_tlast;
  assign tx.tuser = 1'b0;
  assign tx_tready = tx.tready;
  mac_tx i_tx (
      .clk,
      .own_rst,
      .rst,
      .clear,
      .tx(tx),
      .lost(tx_lost),
      .mac_clk,
      .mac_own_rst,
      .mac_rst,
      .mac_clear,
      .mac_tvalid(out_tvalid),
      .mac_tdata(out_tdata),
      .mac_tkeep(out_tkeep),
      .mac_tlast(out_tlast),
      .mac_tuser(out_tuser),
      .mac_tready(out_tready)
  );
endmodule

`default_nettype wire
