// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// The card as a plugin of OpenNIC's box_322mhz, between the CMACs and the shell's way to the host. `penstock fpga init`
// writes the module that gives it its parameters and its clock.
//
//   CMAC p ─> shell_card ─> CMAC p      AXI4-Lite ─> shell_card's registers
//   adap 0 ─> shell_card ─> adap 0      the host's frames
//
// The host's frames use the shell's streams of port 0, `adap`, hence the network interface of that port. The plugin
// drops what the host sends at its other interfaces, which receive nothing.
module opennic_plugin
  import penstock_pkg::*, shell_pkg::*;
#(
    parameter int unsigned Ports = 2,
    parameter logic [127:0] Design = '0,  // hash of the hardware
    parameter int unsigned Units = 16,
    parameter int unsigned IngressDepth = 4096,
    parameter int unsigned Blocks = 0,
    parameter int unsigned MapRows = 16384,
    // of the links that cross from die to die: a choice of the floorplan, not of the design
    parameter link_stages_t Stages = '0,
    parameter logic [MaxBlocks-1:0][7:0] BlockEngine = '0,
    parameter logic [MaxBlocks-1:0][63:0] BlockParam = '0,
    parameter logic [MaxUnits-1:0][7:0] Engine = '0,
    parameter logic [MaxUnits-1:0][31:0] UnitParam = '0
) (
    input wire logic card_clk,   // 250 MHz
    input wire logic card_lock,  // it runs

`ifdef PENSTOCK_SPLIT
    // of the model: see shell_card
    output logic      [split_pkg::BundleW-1:0] to_unit  [Units],
    input  wire logic [split_pkg::BundleW-1:0] from_unit[Units],
    output logic unit_rst,
    input wire logic [127:0] design_hash,
`endif

    input  wire logic s_axil_awvalid,
    input  wire logic [31:0] s_axil_awaddr,
    output logic      s_axil_awready,
    input  wire logic s_axil_wvalid,
    input  wire logic [31:0] s_axil_wdata,
    output logic      s_axil_wready,
    output logic      s_axil_bvalid,
    output logic      [1:0] s_axil_bresp,
    input  wire logic s_axil_bready,
    input  wire logic s_axil_arvalid,
    input  wire logic [31:0] s_axil_araddr,
    output logic      s_axil_arready,
    output logic      s_axil_rvalid,
    output logic      [31:0] s_axil_rdata,
    output logic      [1:0] s_axil_rresp,
    input  wire logic s_axil_rready,
    input  wire logic [Ports-1:0] s_axis_adap_tx_322mhz_tvalid,
    input  wire logic [512*Ports-1:0] s_axis_adap_tx_322mhz_tdata,
    input  wire logic [64*Ports-1:0] s_axis_adap_tx_322mhz_tkeep,
    input  wire logic [Ports-1:0] s_axis_adap_tx_322mhz_tlast,
    input  wire logic [Ports-1:0] s_axis_adap_tx_322mhz_tuser_err,
    output logic      [Ports-1:0] s_axis_adap_tx_322mhz_tready,
    output logic      [Ports-1:0] m_axis_adap_rx_322mhz_tvalid,
    output logic      [512*Ports-1:0] m_axis_adap_rx_322mhz_tdata,
    output logic      [64*Ports-1:0] m_axis_adap_rx_322mhz_tkeep,
    output logic      [Ports-1:0] m_axis_adap_rx_322mhz_tlast,
    output logic      [Ports-1:0] m_axis_adap_rx_322mhz_tuser_err,
    output logic      [Ports-1:0] m_axis_cmac_tx_tvalid,
    output logic      [512*Ports-1:0] m_axis_cmac_tx_tdata,
    output logic      [64*Ports-1:0] m_axis_cmac_tx_tkeep,
    output logic      [Ports-1:0] m_axis_cmac_tx_tlast,
    output logic      [Ports-1:0] m_axis_cmac_tx_tuser_err,
    input  wire logic [Ports-1:0] m_axis_cmac_tx_tready,
    input  wire logic [Ports-1:0] s_axis_cmac_rx_tvalid,
    input  wire logic [512*Ports-1:0] s_axis_cmac_rx_tdata,
    input  wire logic [64*Ports-1:0] s_axis_cmac_rx_tkeep,
    input  wire logic [Ports-1:0] s_axis_cmac_rx_tlast,
    input  wire logic [Ports-1:0] s_axis_cmac_rx_tuser_err,
    input  wire logic [7:0] mod_rstn,
    output logic      [7:0] mod_rst_done,
    input  wire logic box_rstn,
    output logic      box_rst_done,
    input  wire logic axil_aclk,
    input  wire logic [Ports-1:0] cmac_clk
);
  logic axil_rst;
  wire shell_rst = !mod_rstn[0] || !box_rstn;
  assign mod_rst_done = {7'h7F, !axil_rst};
  assign box_rst_done = !axil_rst;

  // The shell's streams of the other ports
  if (Ports > 1) begin : gen_others
    assign s_axis_adap_tx_322mhz_tready[Ports-1:1] = '1;
    assign m_axis_adap_rx_322mhz_tvalid[Ports-1:1] = '0;
    assign m_axis_adap_rx_322mhz_tdata[512*Ports-1:512] = '0;
    assign m_axis_adap_rx_322mhz_tkeep[64*Ports-1:64] = '0;
    assign m_axis_adap_rx_322mhz_tlast[Ports-1:1] = '0;
    assign m_axis_adap_rx_322mhz_tuser_err[Ports-1:1] = '0;
  end
  logic [Ports-1:0] cmac_rx_ready;  // always 1

  shell_card #(
      .Ports(Ports),
      .Shell("ONIC"),
      .Design(Design),
      .Units(Units),
      .IngressDepth(IngressDepth),
      .Blocks(Blocks),
      .MapRows(MapRows),
      .Stages(Stages),
      .BlockEngine(BlockEngine),
      .BlockParam(BlockParam),
      .Engine(Engine),
      .UnitParam(UnitParam)
  ) i_shell_card (
      .card_clk,
      .card_rst_in(shell_rst || !card_lock),
`ifdef PENSTOCK_SPLIT
      .to_unit,
      .from_unit,
      .unit_rst,
      .design_hash,
`endif
      .axil_clk(axil_aclk),
      .axil_rst_in(shell_rst),
      .axil_rst,
      .s_axil_awaddr,
      .s_axil_awvalid,
      .s_axil_awready,
      .s_axil_wdata,
      .s_axil_wvalid,
      .s_axil_wready,
      .s_axil_bresp,
      .s_axil_bvalid,
      .s_axil_bready,
      .s_axil_araddr,
      .s_axil_arvalid,
      .s_axil_arready,
      .s_axil_rdata,
      .s_axil_rresp,
      .s_axil_rvalid,
      .s_axil_rready,
      .rx_clk({cmac_clk[0], cmac_clk}),
      .rx_rst_in({(Ports + 1) {shell_rst}}),
      .mac_rx_tvalid({s_axis_adap_tx_322mhz_tvalid[0], s_axis_cmac_rx_tvalid}),
      .mac_rx_tready({s_axis_adap_tx_322mhz_tready[0], cmac_rx_ready}),
      .mac_rx_tdata({s_axis_adap_tx_322mhz_tdata[511:0], s_axis_cmac_rx_tdata}),
      .mac_rx_tkeep({s_axis_adap_tx_322mhz_tkeep[63:0], s_axis_cmac_rx_tkeep}),
      .mac_rx_tlast({s_axis_adap_tx_322mhz_tlast[0], s_axis_cmac_rx_tlast}),
      .mac_rx_tuser({s_axis_adap_tx_322mhz_tuser_err[0], s_axis_cmac_rx_tuser_err}),
      .tx_clk({cmac_clk[0], cmac_clk}),
      .tx_rst_in({(Ports + 1) {shell_rst}}),
      .mac_tx_tvalid({m_axis_adap_rx_322mhz_tvalid[0], m_axis_cmac_tx_tvalid}),
      .mac_tx_tdata({m_axis_adap_rx_322mhz_tdata[511:0], m_axis_cmac_tx_tdata}),
      .mac_tx_tkeep({m_axis_adap_rx_322mhz_tkeep[63:0], m_axis_cmac_tx_tkeep}),
      .mac_tx_tlast({m_axis_adap_rx_322mhz_tlast[0], m_axis_cmac_tx_tlast}),
      .mac_tx_tuser({m_axis_adap_rx_322mhz_tuser_err[0], m_axis_cmac_tx_tuser_err}),
      .mac_tx_tready({1'b1, m_axis_cmac_tx_tready}),
      // The box has no port to a memory.
      .mem_clk(1'b0),
      .mem_rst_in(1'b0),
      .m_axi_mem_awaddr(),
      .m_axi_mem_awlen(),
      .m_axi_mem_awvalid(),
      .m_axi_mem_awready('0),
      .m_axi_mem_wdata(),
      .m_axi_mem_wstrb(),
      .m_axi_mem_wlast(),
      .m_axi_mem_wvalid(),
      .m_axi_mem_wready('0),
      .m_axi_mem_bresp('0),
      .m_axi_mem_bvalid('0),
      .m_axi_mem_bready(),
      .m_axi_mem_araddr(),
      .m_axi_mem_arlen(),
      .m_axi_mem_arvalid(),
      .m_axi_mem_arready('0),
      .m_axi_mem_rdata('0),
      .m_axi_mem_rresp('0),
      .m_axi_mem_rlast('0),
      .m_axi_mem_rvalid('0),
      .m_axi_mem_rready()
  );
endmodule

`default_nettype wire
