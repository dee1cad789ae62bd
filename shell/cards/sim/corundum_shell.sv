// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// Corundum's application block with what corundum.cpp has of its ports, and with models of DRAM at its DDR channels, as
// the board's DDR4 controllers are.
module corundum_shell
  import penstock_pkg::*, shell_pkg::*;
#(
    parameter int unsigned Ports = 2,
    parameter int unsigned Units = 16,
    parameter int unsigned IngressDepth = 4096,
    parameter int unsigned Blocks = 0,
    parameter int unsigned MapRows = 16384,
    parameter logic [MaxBlocks-1:0][7:0] BlockEngine = '0,
    parameter logic [MaxBlocks-1:0][63:0] BlockParam = '0,
    parameter logic [MaxUnits-1:0][7:0] Engine = '0,
    parameter int unsigned Memories = 0,  // DDR channels
    // of Corundum's streams
    parameter int unsigned TxUserW = 17,
    parameter int unsigned RxUserW = 97,
    parameter int unsigned DdrCh = Memories == 0 ? 1 : Memories
) (
    output logic [split_pkg::BundleW-1:0] to_unit[Units],
    input wire logic [split_pkg::BundleW-1:0] from_unit[Units],
    output logic unit_rst,
    input wire logic [127:0] design_hash,
    input wire logic [DdrCh-1:0] ddr_clk,
    input wire logic [DdrCh-1:0] ddr_rst,
    input wire logic [DdrCh-1:0] ddr_calibrates,  // a controller calibrates its memory, some cycles after its reset
    input  wire logic clk,
    input  wire logic rst,
    input  wire logic [23:0] s_axil_app_ctrl_awaddr,
    input  wire logic s_axil_app_ctrl_awvalid,
    output logic      s_axil_app_ctrl_awready,
    input  wire logic [31:0] s_axil_app_ctrl_wdata,
    input  wire logic s_axil_app_ctrl_wvalid,
    output logic      s_axil_app_ctrl_wready,
    output logic      s_axil_app_ctrl_bvalid,
    input  wire logic s_axil_app_ctrl_bready,
    input  wire logic [23:0] s_axil_app_ctrl_araddr,
    input  wire logic s_axil_app_ctrl_arvalid,
    output logic      s_axil_app_ctrl_arready,
    output logic      [31:0] s_axil_app_ctrl_rdata,
    output logic      s_axil_app_ctrl_rvalid,
    input  wire logic s_axil_app_ctrl_rready,
    output logic      m_axil_ctrl_awvalid,
    output logic      m_axil_ctrl_arvalid,
    output logic      m_axis_ctrl_dma_read_desc_valid,
    output logic      m_axis_ctrl_dma_write_desc_valid,
    output logic      m_axis_data_dma_read_desc_valid,
    output logic      m_axis_data_dma_write_desc_valid,
    input  wire logic [Ports-1:0] direct_tx_clk,
    input  wire logic [Ports-1:0] direct_tx_rst,
    input  wire logic [Ports*512-1:0] s_axis_direct_tx_tdata,
    input  wire logic [Ports*64-1:0] s_axis_direct_tx_tkeep,
    input  wire logic [Ports-1:0] s_axis_direct_tx_tvalid,
    output logic      [Ports-1:0] s_axis_direct_tx_tready,
    input  wire logic [Ports-1:0] s_axis_direct_tx_tlast,
    input  wire logic [Ports*TxUserW-1:0] s_axis_direct_tx_tuser,
    output logic      [Ports*512-1:0] m_axis_direct_tx_tdata,
    output logic      [Ports*64-1:0] m_axis_direct_tx_tkeep,
    output logic      [Ports-1:0] m_axis_direct_tx_tvalid,
    input  wire logic [Ports-1:0] m_axis_direct_tx_tready,
    output logic      [Ports-1:0] m_axis_direct_tx_tlast,
    output logic      [Ports*TxUserW-1:0] m_axis_direct_tx_tuser,
    output logic      [Ports*16-1:0] m_axis_direct_tx_cpl_tag,
    output logic      [Ports-1:0] m_axis_direct_tx_cpl_valid,
    input  wire logic [Ports-1:0] m_axis_direct_tx_cpl_ready,
    input  wire logic [Ports-1:0] direct_rx_clk,
    input  wire logic [Ports-1:0] direct_rx_rst,
    input  wire logic [Ports*512-1:0] s_axis_direct_rx_tdata,
    input  wire logic [Ports*64-1:0] s_axis_direct_rx_tkeep,
    input  wire logic [Ports-1:0] s_axis_direct_rx_tvalid,
    input  wire logic [Ports-1:0] s_axis_direct_rx_tlast,
    input  wire logic [Ports*RxUserW-1:0] s_axis_direct_rx_tuser,
    output logic      [Ports*512-1:0] m_axis_direct_rx_tdata,
    output logic      [Ports*64-1:0] m_axis_direct_rx_tkeep,
    output logic      [Ports-1:0] m_axis_direct_rx_tvalid,
    input  wire logic [Ports-1:0] m_axis_direct_rx_tready,
    output logic      [Ports-1:0] m_axis_direct_rx_tlast,
    output logic      [Ports*RxUserW-1:0] m_axis_direct_rx_tuser,
    output logic      [0:0] m_axi_hbm_awvalid,
    output logic      [0:0] m_axi_hbm_arvalid,
    output logic      m_axis_stat_tvalid
);
  localparam int unsigned IdW = 8;
  localparam int unsigned AddrW = 34;
  localparam int unsigned Calibration = 200;  // cycles
  logic [DdrCh-1:0] ddr_status;
  logic [DdrCh*IdW-1:0] ddr_awid;
  logic [DdrCh*AddrW-1:0] ddr_awaddr;
  logic [DdrCh*8-1:0] ddr_awlen;
  logic [DdrCh-1:0] ddr_awvalid;
  logic [DdrCh*512-1:0] ddr_wdata;
  logic [DdrCh*64-1:0] ddr_wstrb;
  logic [DdrCh-1:0] ddr_wlast;
  logic [DdrCh-1:0] ddr_wvalid;
  logic [DdrCh-1:0] ddr_bready;
  logic [DdrCh*IdW-1:0] ddr_arid;
  logic [DdrCh*AddrW-1:0] ddr_araddr;
  logic [DdrCh*8-1:0] ddr_arlen;
  logic [DdrCh-1:0] ddr_arvalid;
  logic [DdrCh-1:0] ddr_rready;
  logic [DdrCh-1:0] ddr_awready;
  logic [DdrCh-1:0] ddr_wready;
  logic [DdrCh*IdW-1:0] ddr_bid;
  logic [DdrCh*2-1:0] ddr_bresp;
  logic [DdrCh-1:0] ddr_bvalid;
  logic [DdrCh-1:0] ddr_arready;
  logic [DdrCh*IdW-1:0] ddr_rid;
  logic [DdrCh*512-1:0] ddr_rdata;
  logic [DdrCh*2-1:0] ddr_rresp;
  logic [DdrCh-1:0] ddr_rlast;
  logic [DdrCh-1:0] ddr_rvalid;

  mqnic_app_block #(
      .Ports(Ports),
      .Units(Units),
      .IngressDepth(IngressDepth),
      .Blocks(Blocks),
      .MapRows(MapRows),
      .BlockEngine(BlockEngine),
      .BlockParam(BlockParam),
      .Engine(Engine),
      .IF_COUNT(Ports),
      .DDR_ENABLE(Memories),
      .DDR_CH(DdrCh),
      .AXI_DDR_DATA_WIDTH(512),
      .AXI_DDR_ADDR_WIDTH(AddrW),
      .AXI_DDR_ID_WIDTH(IdW)
  ) i_block (
      .to_unit,
      .from_unit,
      .unit_rst,
      .design_hash,
      .ddr_clk,
      .ddr_rst,
      .ddr_status,
      .clk,
      .rst,
      .s_axil_app_ctrl_awaddr,
      .s_axil_app_ctrl_awvalid,
      .s_axil_app_ctrl_awready,
      .s_axil_app_ctrl_wdata,
      .s_axil_app_ctrl_wvalid,
      .s_axil_app_ctrl_wready,
      .s_axil_app_ctrl_bvalid,
      .s_axil_app_ctrl_bready,
      .s_axil_app_ctrl_araddr,
      .s_axil_app_ctrl_arvalid,
      .s_axil_app_ctrl_arready,
      .s_axil_app_ctrl_rdata,
      .s_axil_app_ctrl_rvalid,
      .s_axil_app_ctrl_rready,
      .m_axil_ctrl_awvalid,
      .m_axil_ctrl_arvalid,
      .m_axis_ctrl_dma_read_desc_valid,
      .m_axis_ctrl_dma_write_desc_valid,
      .m_axis_data_dma_read_desc_valid,
      .m_axis_data_dma_write_desc_valid,
      .direct_tx_clk,
      .direct_tx_rst,
      .s_axis_direct_tx_tdata,
      .s_axis_direct_tx_tkeep,
      .s_axis_direct_tx_tvalid,
      .s_axis_direct_tx_tready,
      .s_axis_direct_tx_tlast,
      .s_axis_direct_tx_tuser,
      .m_axis_direct_tx_tdata,
      .m_axis_direct_tx_tkeep,
      .m_axis_direct_tx_tvalid,
      .m_axis_direct_tx_tready,
      .m_axis_direct_tx_tlast,
      .m_axis_direct_tx_tuser,
      .m_axis_direct_tx_cpl_tag,
      .m_axis_direct_tx_cpl_valid,
      .m_axis_direct_tx_cpl_ready,
      .direct_rx_clk,
      .direct_rx_rst,
      .s_axis_direct_rx_tdata,
      .s_axis_direct_rx_tkeep,
      .s_axis_direct_rx_tvalid,
      .s_axis_direct_rx_tlast,
      .s_axis_direct_rx_tuser,
      .m_axis_direct_rx_tdata,
      .m_axis_direct_rx_tkeep,
      .m_axis_direct_rx_tvalid,
      .m_axis_direct_rx_tready,
      .m_axis_direct_rx_tlast,
      .m_axis_direct_rx_tuser,
      .m_axi_hbm_awvalid,
      .m_axi_hbm_arvalid,
      .m_axis_stat_tvalid,
      .m_axi_ddr_awid(ddr_awid),
      .m_axi_ddr_awaddr(ddr_awaddr),
      .m_axi_ddr_awlen(ddr_awlen),
      .m_axi_ddr_awvalid(ddr_awvalid),
      .m_axi_ddr_wdata(ddr_wdata),
      .m_axi_ddr_wstrb(ddr_wstrb),
      .m_axi_ddr_wlast(ddr_wlast),
      .m_axi_ddr_wvalid(ddr_wvalid),
      .m_axi_ddr_bready(ddr_bready),
      .m_axi_ddr_arid(ddr_arid),
      .m_axi_ddr_araddr(ddr_araddr),
      .m_axi_ddr_arlen(ddr_arlen),
      .m_axi_ddr_arvalid(ddr_arvalid),
      .m_axi_ddr_rready(ddr_rready),
      .m_axi_ddr_awready(ddr_awready),
      .m_axi_ddr_wready(ddr_wready),
      .m_axi_ddr_bid(ddr_bid),
      .m_axi_ddr_bresp(ddr_bresp),
      .m_axi_ddr_bvalid(ddr_bvalid),
      .m_axi_ddr_arready(ddr_arready),
      .m_axi_ddr_rid(ddr_rid),
      .m_axi_ddr_rdata(ddr_rdata),
      .m_axi_ddr_rresp(ddr_rresp),
      .m_axi_ddr_rlast(ddr_rlast),
      .m_axi_ddr_rvalid(ddr_rvalid)
  );

  for (genvar c = 0; c < int'(Memories); c++) begin : gen_memory
    axi_if #(
        .ADDR_W(AddrW),
        .ID_W  (IdW)
    ) link ();
    assign link.awid = ddr_awid[c*IdW+:IdW];
    assign link.awaddr = ddr_awaddr[c*AddrW+:AddrW];
    assign link.awlen = ddr_awlen[c*8+:8];
    assign link.awvalid = ddr_awvalid[c];
    assign link.wdata = ddr_wdata[c*512+:512];
    assign link.wstrb = ddr_wstrb[c*64+:64];
    assign link.wlast = ddr_wlast[c];
    assign link.wvalid = ddr_wvalid[c];
    assign link.bready = ddr_bready[c];
    assign link.arid = ddr_arid[c*IdW+:IdW];
    assign link.araddr = ddr_araddr[c*AddrW+:AddrW];
    assign link.arlen = ddr_arlen[c*8+:8];
    assign link.arvalid = ddr_arvalid[c];
    assign link.rready = ddr_rready[c];
    assign ddr_awready[c] = link.awready;
    assign ddr_wready[c] = link.wready;
    assign ddr_bid[c*IdW+:IdW] = link.bid;
    assign ddr_bresp[c*2+:2] = link.bresp;
    assign ddr_bvalid[c] = link.bvalid;
    assign ddr_arready[c] = link.arready;
    assign ddr_rid[c*IdW+:IdW] = link.rid;
    assign ddr_rdata[c*512+:512] = link.rdata;
    assign ddr_rresp[c*2+:2] = link.rresp;
    assign ddr_rlast[c] = link.rlast;
    assign ddr_rvalid[c] = link.rvalid;
    int left_q;  // cycles of the calibration
    always_ff @(posedge ddr_clk[c])
      if (ddr_rst[c] || !ddr_calibrates[c]) left_q <= int'(Calibration);
      else if (left_q != 0) left_q <= left_q - 1;
    assign ddr_status[c] = !ddr_rst[c] && ddr_calibrates[c] && left_q == 0;
    axi_memory #(
        .Bytes(64'd1 << AddrW)
    ) i_memory (
        .clk(ddr_clk[c]),
        .rst(!ddr_status[c]),
        .link(link)
    );
    axi_check i_check (
        .clk(ddr_clk[c]),
        .rst(!ddr_status[c]),
        .link(link)
    );
  end
  if (Memories == 0) begin : gen_no_memory
    assign ddr_status = '0;
  end
endmodule

`default_nettype wire
