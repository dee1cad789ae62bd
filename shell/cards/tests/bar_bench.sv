// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// bar_front between a shell's clock and the card's, with a card that the test plays.
module bar_bench (
    input  wire logic        clk,
    input  wire logic        rst_in,
    input  wire logic        card_clk,
    input  wire logic        card_rst_in,
    output logic             own_rst,
    output logic             card_reset,

    input  wire logic [31:0] s_axil_awaddr,
    input  wire logic        s_axil_awvalid,
    output logic             s_axil_awready,
    input  wire logic [31:0] s_axil_wdata,
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
    input  wire logic        s_axil_rready,

    output logic      [31:0] m_axil_awaddr,
    output logic             m_axil_awvalid,
    input  wire logic        m_axil_awready,
    output logic      [31:0] m_axil_wdata,
    output logic      [ 3:0] m_axil_wstrb,
    output logic             m_axil_wvalid,
    input  wire logic        m_axil_wready,
    input  wire logic [ 1:0] m_axil_bresp,
    input  wire logic        m_axil_bvalid,
    output logic             m_axil_bready,
    output logic      [31:0] m_axil_araddr,
    output logic             m_axil_arvalid,
    input  wire logic        m_axil_arready,
    input  wire logic [31:0] m_axil_rdata,
    input  wire logic [ 1:0] m_axil_rresp,
    input  wire logic        m_axil_rvalid,
    output logic             m_axil_rready
);
  logic card_own_rst, rst, clear, card_rst, card_clear;
  logic [31:0] rx_lost[2], tx_lost[2];
  assign rx_lost = '{32'd11, 32'd12};
  assign tx_lost = '{32'd21, 32'd22};
  reset_bridge i_own (
      .clk,
      .rst_in,
      .rst(own_rst)
  );
  reset_bridge i_card_own (
      .clk(card_clk),
      .rst_in(card_rst_in),
      .rst(card_own_rst)
  );
  reset_pair i_resets (
      .a_clk(clk),
      .a_rst_in(own_rst),
      .a_rst(rst),
      .a_clear(clear),
      .b_clk(card_clk),
      .b_rst_in(card_own_rst),
      .b_rst(card_rst),
      .b_clear(card_clear)
  );
  bar_front #(
      .Streams(2),
      .Shell("TEST"),
      .Shape(32'h00010402),
      .Timeout(200)
  ) i_bar (
      .design_hash(128'h00112233_44556677_8899AABB_CCDDEEFF),
      .port_up(2'b10),
      .*
  );
endmodule

`default_nettype wire
