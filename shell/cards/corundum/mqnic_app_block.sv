// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// The card as Corundum's application block, between the MACs and the NIC, on the `direct` streams.
//
//   direct_rx_clk[p]: MAC p ─> shell_card ─> MAC p :direct_tx_clk[p]      clk: shell_card, and AXI4-Lite ─> its registers
//                        NIC ─> nic_complete ─> completions ─> NIC        direct_tx_clk[p]
//   NIC, port 0 ─> shell_card ─> NIC, port 0                              the host's frames
//
// The `direct` streams run at the MACs' clocks, 512 bits at 322 MHz, and carry line rate at every length. The `sync`
// streams have 512 bits at 250 MHz, where a frame of 65 B takes two cycles: 125 Mpps, and a MAC receives 140 Mpps.
// The core's clock, 250 MHz, is the card's.
//
// The card takes all frames that the MACs receive. The host's frames use the NIC's port 0, hence its first network
// interface. The block drops frames that the host sends at other ports, and sends none there. nic_complete completes
// each frame that the NIC sends, because the NIC waits for that. Completions of the card's own frames end here.
//
// With DDR_ENABLE the channels of card memory are on the board's DDR4, at the clocks of its controllers:
//
//   ddr_clk[c]: shell_card ─> DDR4 channel c
//
// Other ports are unused: the `sync` and `if` streams pass through, and the block starts no transfer at the DMA engine,
// HBM, the NIC's registers or the statistics.
//
// Names and order of parameters and ports are Corundum's (mqnic_app_block, corundum 1ca0151b). The parameters of the
// design come first; their defaults are those of card_design_pkg, because Corundum sets only its own.
module mqnic_app_block
  import penstock_pkg::*, shell_pkg::*;
#(
    parameter int unsigned Ports = card_design_pkg::Ports,
    parameter logic [127:0] Design = card_design_pkg::Design,
    parameter int unsigned Units = card_design_pkg::Units,
    parameter int unsigned IngressDepth = card_design_pkg::IngressDepth,
    parameter int unsigned Blocks = card_design_pkg::Blocks,
    parameter int unsigned MapRows = card_design_pkg::MapRows,
    // of the links that cross from die to die: a choice of the floorplan, not of the design
    parameter link_stages_t Stages = '0,
    parameter logic [MaxBlocks-1:0][7:0] BlockEngine = card_design_pkg::BlockEngine,
    parameter logic [MaxBlocks-1:0][63:0] BlockParam = card_design_pkg::BlockParam,
    parameter logic [MaxUnits-1:0][7:0] Engine = card_design_pkg::Engine,
    parameter logic [MaxUnits-1:0][31:0] UnitParam = card_design_pkg::UnitParam,
    parameter IF_COUNT = 1,
    parameter PORTS_PER_IF = 1,
    parameter SCHED_PER_IF = PORTS_PER_IF,
    parameter PORT_COUNT = IF_COUNT*PORTS_PER_IF,
    parameter CLK_PERIOD_NS_NUM = 4,
    parameter CLK_PERIOD_NS_DENOM = 1,
    parameter PTP_CLK_PERIOD_NS_NUM = 4,
    parameter PTP_CLK_PERIOD_NS_DENOM = 1,
    parameter PTP_TS_WIDTH = 96,
    parameter PTP_PORT_CDC_PIPELINE = 0,
    parameter PTP_PEROUT_ENABLE = 0,
    parameter PTP_PEROUT_COUNT = 1,
    parameter PTP_TS_ENABLE = 1,
    parameter TX_TAG_WIDTH = 16,
    parameter MAX_TX_SIZE = 9214,
    parameter MAX_RX_SIZE = 9214,
    parameter DDR_CH = 1,
    parameter DDR_ENABLE = 0,
    parameter DDR_GROUP_SIZE = 1,
    parameter AXI_DDR_DATA_WIDTH = 256,
    parameter AXI_DDR_ADDR_WIDTH = 32,
    parameter AXI_DDR_STRB_WIDTH = (AXI_DDR_DATA_WIDTH/8),
    parameter AXI_DDR_ID_WIDTH = 8,
    parameter AXI_DDR_AWUSER_ENABLE = 0,
    parameter AXI_DDR_AWUSER_WIDTH = 1,
    parameter AXI_DDR_WUSER_ENABLE = 0,
    parameter AXI_DDR_WUSER_WIDTH = 1,
    parameter AXI_DDR_BUSER_ENABLE = 0,
    parameter AXI_DDR_BUSER_WIDTH = 1,
    parameter AXI_DDR_ARUSER_ENABLE = 0,
    parameter AXI_DDR_ARUSER_WIDTH = 1,
    parameter AXI_DDR_RUSER_ENABLE = 0,
    parameter AXI_DDR_RUSER_WIDTH = 1,
    parameter AXI_DDR_MAX_BURST_LEN = 256,
    parameter AXI_DDR_NARROW_BURST = 0,
    parameter AXI_DDR_FIXED_BURST = 0,
    parameter AXI_DDR_WRAP_BURST = 0,
    parameter HBM_CH = 1,
    parameter HBM_ENABLE = 0,
    parameter HBM_GROUP_SIZE = 1,
    parameter AXI_HBM_DATA_WIDTH = 256,
    parameter AXI_HBM_ADDR_WIDTH = 32,
    parameter AXI_HBM_STRB_WIDTH = (AXI_HBM_DATA_WIDTH/8),
    parameter AXI_HBM_ID_WIDTH = 8,
    parameter AXI_HBM_AWUSER_ENABLE = 0,
    parameter AXI_HBM_AWUSER_WIDTH = 1,
    parameter AXI_HBM_WUSER_ENABLE = 0,
    parameter AXI_HBM_WUSER_WIDTH = 1,
    parameter AXI_HBM_BUSER_ENABLE = 0,
    parameter AXI_HBM_BUSER_WIDTH = 1,
    parameter AXI_HBM_ARUSER_ENABLE = 0,
    parameter AXI_HBM_ARUSER_WIDTH = 1,
    parameter AXI_HBM_RUSER_ENABLE = 0,
    parameter AXI_HBM_RUSER_WIDTH = 1,
    parameter AXI_HBM_MAX_BURST_LEN = 256,
    parameter AXI_HBM_NARROW_BURST = 0,
    parameter AXI_HBM_FIXED_BURST = 0,
    parameter AXI_HBM_WRAP_BURST = 0,
    parameter APP_ID = 32'h504E4650,
    parameter APP_CTRL_ENABLE = 1,
    parameter APP_DMA_ENABLE = 1,
    parameter APP_AXIS_DIRECT_ENABLE = 1,
    parameter APP_AXIS_SYNC_ENABLE = 1,
    parameter APP_AXIS_IF_ENABLE = 1,
    parameter APP_STAT_ENABLE = 1,
    parameter APP_GPIO_IN_WIDTH = 32,
    parameter APP_GPIO_OUT_WIDTH = 32,
    parameter DMA_ADDR_WIDTH = 64,
    parameter DMA_IMM_ENABLE = 0,
    parameter DMA_IMM_WIDTH = 32,
    parameter DMA_LEN_WIDTH = 16,
    parameter DMA_TAG_WIDTH = 16,
    parameter RAM_SEL_WIDTH = 4,
    parameter RAM_ADDR_WIDTH = 16,
    parameter RAM_SEG_COUNT = 2,
    parameter RAM_SEG_DATA_WIDTH = 256*2/RAM_SEG_COUNT,
    parameter RAM_SEG_BE_WIDTH = RAM_SEG_DATA_WIDTH/8,
    parameter RAM_SEG_ADDR_WIDTH = RAM_ADDR_WIDTH-$clog2(RAM_SEG_COUNT*RAM_SEG_BE_WIDTH),
    parameter RAM_PIPELINE = 2,
    parameter AXIL_APP_CTRL_DATA_WIDTH = 32,
    parameter AXIL_APP_CTRL_ADDR_WIDTH = 24,
    parameter AXIL_APP_CTRL_STRB_WIDTH = (AXIL_APP_CTRL_DATA_WIDTH/8),
    parameter AXIL_CTRL_DATA_WIDTH = 32,
    parameter AXIL_CTRL_ADDR_WIDTH = 16,
    parameter AXIL_CTRL_STRB_WIDTH = (AXIL_CTRL_DATA_WIDTH/8),
    parameter AXIS_DATA_WIDTH = 512,
    parameter AXIS_KEEP_WIDTH = AXIS_DATA_WIDTH/8,
    parameter AXIS_TX_USER_WIDTH = TX_TAG_WIDTH + 1,
    parameter AXIS_RX_USER_WIDTH = (PTP_TS_ENABLE ? PTP_TS_WIDTH : 0) + 1,
    parameter AXIS_RX_USE_READY = 0,
    parameter AXIS_SYNC_DATA_WIDTH = AXIS_DATA_WIDTH,
    parameter AXIS_SYNC_KEEP_WIDTH = AXIS_SYNC_DATA_WIDTH/8,
    parameter AXIS_SYNC_TX_USER_WIDTH = AXIS_TX_USER_WIDTH,
    parameter AXIS_SYNC_RX_USER_WIDTH = AXIS_RX_USER_WIDTH,
    parameter AXIS_IF_DATA_WIDTH = AXIS_SYNC_DATA_WIDTH*2**$clog2(PORTS_PER_IF),
    parameter AXIS_IF_KEEP_WIDTH = AXIS_IF_DATA_WIDTH/8,
    parameter AXIS_IF_TX_ID_WIDTH = 12,
    parameter AXIS_IF_RX_ID_WIDTH = PORTS_PER_IF > 1 ? $clog2(PORTS_PER_IF) : 1,
    parameter AXIS_IF_TX_DEST_WIDTH = $clog2(PORTS_PER_IF)+4,
    parameter AXIS_IF_RX_DEST_WIDTH = 8,
    parameter AXIS_IF_TX_USER_WIDTH = AXIS_SYNC_TX_USER_WIDTH,
    parameter AXIS_IF_RX_USER_WIDTH = AXIS_SYNC_RX_USER_WIDTH,
    parameter STAT_ENABLE = 1,
    parameter STAT_INC_WIDTH = 24,
    parameter STAT_ID_WIDTH = 12
) (
`ifdef PENSTOCK_SPLIT
    // of the model: see shell_card
    output logic [split_pkg::BundleW-1:0] to_unit[Units],
    input wire logic [split_pkg::BundleW-1:0] from_unit[Units],
    output logic unit_rst,
    input wire logic [127:0] design_hash,
`endif

    input wire logic clk,
    input wire logic rst,
    input wire logic [AXIL_APP_CTRL_ADDR_WIDTH-1:0] s_axil_app_ctrl_awaddr,
    input wire logic [2:0] s_axil_app_ctrl_awprot,
    input wire logic s_axil_app_ctrl_awvalid,
    output logic s_axil_app_ctrl_awready,
    input wire logic [AXIL_APP_CTRL_DATA_WIDTH-1:0] s_axil_app_ctrl_wdata,
    input wire logic [AXIL_APP_CTRL_STRB_WIDTH-1:0] s_axil_app_ctrl_wstrb,
    input wire logic s_axil_app_ctrl_wvalid,
    output logic s_axil_app_ctrl_wready,
    output logic [1:0] s_axil_app_ctrl_bresp,
    output logic s_axil_app_ctrl_bvalid,
    input wire logic s_axil_app_ctrl_bready,
    input wire logic [AXIL_APP_CTRL_ADDR_WIDTH-1:0] s_axil_app_ctrl_araddr,
    input wire logic [2:0] s_axil_app_ctrl_arprot,
    input wire logic s_axil_app_ctrl_arvalid,
    output logic s_axil_app_ctrl_arready,
    output logic [AXIL_APP_CTRL_DATA_WIDTH-1:0] s_axil_app_ctrl_rdata,
    output logic [1:0] s_axil_app_ctrl_rresp,
    output logic s_axil_app_ctrl_rvalid,
    input wire logic s_axil_app_ctrl_rready,
    output logic [AXIL_CTRL_ADDR_WIDTH-1:0] m_axil_ctrl_awaddr,
    output logic [2:0] m_axil_ctrl_awprot,
    output logic m_axil_ctrl_awvalid,
    input wire logic m_axil_ctrl_awready,
    output logic [AXIL_CTRL_DATA_WIDTH-1:0] m_axil_ctrl_wdata,
    output logic [AXIL_CTRL_STRB_WIDTH-1:0] m_axil_ctrl_wstrb,
    output logic m_axil_ctrl_wvalid,
    input wire logic m_axil_ctrl_wready,
    input wire logic [1:0] m_axil_ctrl_bresp,
    input wire logic m_axil_ctrl_bvalid,
    output logic m_axil_ctrl_bready,
    output logic [AXIL_CTRL_ADDR_WIDTH-1:0] m_axil_ctrl_araddr,
    output logic [2:0] m_axil_ctrl_arprot,
    output logic m_axil_ctrl_arvalid,
    input wire logic m_axil_ctrl_arready,
    input wire logic [AXIL_CTRL_DATA_WIDTH-1:0] m_axil_ctrl_rdata,
    input wire logic [1:0] m_axil_ctrl_rresp,
    input wire logic m_axil_ctrl_rvalid,
    output logic m_axil_ctrl_rready,
    output logic [DMA_ADDR_WIDTH-1:0] m_axis_ctrl_dma_read_desc_dma_addr,
    output logic [RAM_SEL_WIDTH-1:0] m_axis_ctrl_dma_read_desc_ram_sel,
    output logic [RAM_ADDR_WIDTH-1:0] m_axis_ctrl_dma_read_desc_ram_addr,
    output logic [DMA_LEN_WIDTH-1:0] m_axis_ctrl_dma_read_desc_len,
    output logic [DMA_TAG_WIDTH-1:0] m_axis_ctrl_dma_read_desc_tag,
    output logic m_axis_ctrl_dma_read_desc_valid,
    input wire logic m_axis_ctrl_dma_read_desc_ready,
    input wire logic [DMA_TAG_WIDTH-1:0] s_axis_ctrl_dma_read_desc_status_tag,
    input wire logic [3:0] s_axis_ctrl_dma_read_desc_status_error,
    input wire logic s_axis_ctrl_dma_read_desc_status_valid,
    output logic [DMA_ADDR_WIDTH-1:0] m_axis_ctrl_dma_write_desc_dma_addr,
    output logic [RAM_SEL_WIDTH-1:0] m_axis_ctrl_dma_write_desc_ram_sel,
    output logic [RAM_ADDR_WIDTH-1:0] m_axis_ctrl_dma_write_desc_ram_addr,
    output logic [DMA_IMM_WIDTH-1:0] m_axis_ctrl_dma_write_desc_imm,
    output logic m_axis_ctrl_dma_write_desc_imm_en,
    output logic [DMA_LEN_WIDTH-1:0] m_axis_ctrl_dma_write_desc_len,
    output logic [DMA_TAG_WIDTH-1:0] m_axis_ctrl_dma_write_desc_tag,
    output logic m_axis_ctrl_dma_write_desc_valid,
    input wire logic m_axis_ctrl_dma_write_desc_ready,
    input wire logic [DMA_TAG_WIDTH-1:0] s_axis_ctrl_dma_write_desc_status_tag,
    input wire logic [3:0] s_axis_ctrl_dma_write_desc_status_error,
    input wire logic s_axis_ctrl_dma_write_desc_status_valid,
    output logic [DMA_ADDR_WIDTH-1:0] m_axis_data_dma_read_desc_dma_addr,
    output logic [RAM_SEL_WIDTH-1:0] m_axis_data_dma_read_desc_ram_sel,
    output logic [RAM_ADDR_WIDTH-1:0] m_axis_data_dma_read_desc_ram_addr,
    output logic [DMA_LEN_WIDTH-1:0] m_axis_data_dma_read_desc_len,
    output logic [DMA_TAG_WIDTH-1:0] m_axis_data_dma_read_desc_tag,
    output logic m_axis_data_dma_read_desc_valid,
    input wire logic m_axis_data_dma_read_desc_ready,
    input wire logic [DMA_TAG_WIDTH-1:0] s_axis_data_dma_read_desc_status_tag,
    input wire logic [3:0] s_axis_data_dma_read_desc_status_error,
    input wire logic s_axis_data_dma_read_desc_status_valid,
    output logic [DMA_ADDR_WIDTH-1:0] m_axis_data_dma_write_desc_dma_addr,
    output logic [RAM_SEL_WIDTH-1:0] m_axis_data_dma_write_desc_ram_sel,
    output logic [RAM_ADDR_WIDTH-1:0] m_axis_data_dma_write_desc_ram_addr,
    output logic [DMA_IMM_WIDTH-1:0] m_axis_data_dma_write_desc_imm,
    output logic m_axis_data_dma_write_desc_imm_en,
    output logic [DMA_LEN_WIDTH-1:0] m_axis_data_dma_write_desc_len,
    output logic [DMA_TAG_WIDTH-1:0] m_axis_data_dma_write_desc_tag,
    output logic m_axis_data_dma_write_desc_valid,
    input wire logic m_axis_data_dma_write_desc_ready,
    input wire logic [DMA_TAG_WIDTH-1:0] s_axis_data_dma_write_desc_status_tag,
    input wire logic [3:0] s_axis_data_dma_write_desc_status_error,
    input wire logic s_axis_data_dma_write_desc_status_valid,
    input wire logic [RAM_SEG_COUNT*RAM_SEL_WIDTH-1:0] ctrl_dma_ram_wr_cmd_sel,
    input wire logic [RAM_SEG_COUNT*RAM_SEG_BE_WIDTH-1:0] ctrl_dma_ram_wr_cmd_be,
    input wire logic [RAM_SEG_COUNT*RAM_SEG_ADDR_WIDTH-1:0] ctrl_dma_ram_wr_cmd_addr,
    input wire logic [RAM_SEG_COUNT*RAM_SEG_DATA_WIDTH-1:0] ctrl_dma_ram_wr_cmd_data,
    input wire logic [RAM_SEG_COUNT-1:0] ctrl_dma_ram_wr_cmd_valid,
    output logic [RAM_SEG_COUNT-1:0] ctrl_dma_ram_wr_cmd_ready,
    output logic [RAM_SEG_COUNT-1:0] ctrl_dma_ram_wr_done,
    input wire logic [RAM_SEG_COUNT*RAM_SEL_WIDTH-1:0] ctrl_dma_ram_rd_cmd_sel,
    input wire logic [RAM_SEG_COUNT*RAM_SEG_ADDR_WIDTH-1:0] ctrl_dma_ram_rd_cmd_addr,
    input wire logic [RAM_SEG_COUNT-1:0] ctrl_dma_ram_rd_cmd_valid,
    output logic [RAM_SEG_COUNT-1:0] ctrl_dma_ram_rd_cmd_ready,
    output logic [RAM_SEG_COUNT*RAM_SEG_DATA_WIDTH-1:0] ctrl_dma_ram_rd_resp_data,
    output logic [RAM_SEG_COUNT-1:0] ctrl_dma_ram_rd_resp_valid,
    input wire logic [RAM_SEG_COUNT-1:0] ctrl_dma_ram_rd_resp_ready,
    input wire logic [RAM_SEG_COUNT*RAM_SEL_WIDTH-1:0] data_dma_ram_wr_cmd_sel,
    input wire logic [RAM_SEG_COUNT*RAM_SEG_BE_WIDTH-1:0] data_dma_ram_wr_cmd_be,
    input wire logic [RAM_SEG_COUNT*RAM_SEG_ADDR_WIDTH-1:0] data_dma_ram_wr_cmd_addr,
    input wire logic [RAM_SEG_COUNT*RAM_SEG_DATA_WIDTH-1:0] data_dma_ram_wr_cmd_data,
    input wire logic [RAM_SEG_COUNT-1:0] data_dma_ram_wr_cmd_valid,
    output logic [RAM_SEG_COUNT-1:0] data_dma_ram_wr_cmd_ready,
    output logic [RAM_SEG_COUNT-1:0] data_dma_ram_wr_done,
    input wire logic [RAM_SEG_COUNT*RAM_SEL_WIDTH-1:0] data_dma_ram_rd_cmd_sel,
    input wire logic [RAM_SEG_COUNT*RAM_SEG_ADDR_WIDTH-1:0] data_dma_ram_rd_cmd_addr,
    input wire logic [RAM_SEG_COUNT-1:0] data_dma_ram_rd_cmd_valid,
    output logic [RAM_SEG_COUNT-1:0] data_dma_ram_rd_cmd_ready,
    output logic [RAM_SEG_COUNT*RAM_SEG_DATA_WIDTH-1:0] data_dma_ram_rd_resp_data,
    output logic [RAM_SEG_COUNT-1:0] data_dma_ram_rd_resp_valid,
    input wire logic [RAM_SEG_COUNT-1:0] data_dma_ram_rd_resp_ready,
    input wire logic ptp_clk,
    input wire logic ptp_rst,
    input wire logic ptp_sample_clk,
    input wire logic ptp_td_sd,
    input wire logic ptp_pps,
    input wire logic ptp_pps_str,
    input wire logic ptp_sync_locked,
    input wire logic [PTP_TS_WIDTH-1:0] ptp_sync_ts_rel,
    input wire logic ptp_sync_ts_rel_step,
    input wire logic [PTP_TS_WIDTH-1:0] ptp_sync_ts_tod,
    input wire logic ptp_sync_ts_tod_step,
    input wire logic ptp_sync_pps,
    input wire logic ptp_sync_pps_str,
    input wire logic [PTP_PEROUT_COUNT-1:0] ptp_perout_locked,
    input wire logic [PTP_PEROUT_COUNT-1:0] ptp_perout_error,
    input wire logic [PTP_PEROUT_COUNT-1:0] ptp_perout_pulse,
    input wire logic [PORT_COUNT-1:0] direct_tx_clk,
    // shell_card takes a reset of any clock; this one is of direct_tx_clk, as nic_complete needs it
    // verilator lint_off SYNCASYNCNET
    input wire logic [PORT_COUNT-1:0] direct_tx_rst,
    // verilator lint_on SYNCASYNCNET
    input wire logic [PORT_COUNT*AXIS_DATA_WIDTH-1:0] s_axis_direct_tx_tdata,
    input wire logic [PORT_COUNT*AXIS_KEEP_WIDTH-1:0] s_axis_direct_tx_tkeep,
    input wire logic [PORT_COUNT-1:0] s_axis_direct_tx_tvalid,
    output logic [PORT_COUNT-1:0] s_axis_direct_tx_tready,
    input wire logic [PORT_COUNT-1:0] s_axis_direct_tx_tlast,
    input wire logic [PORT_COUNT*AXIS_TX_USER_WIDTH-1:0] s_axis_direct_tx_tuser,
    output logic [PORT_COUNT*AXIS_DATA_WIDTH-1:0] m_axis_direct_tx_tdata,
    output logic [PORT_COUNT*AXIS_KEEP_WIDTH-1:0] m_axis_direct_tx_tkeep,
    output logic [PORT_COUNT-1:0] m_axis_direct_tx_tvalid,
    input wire logic [PORT_COUNT-1:0] m_axis_direct_tx_tready,
    output logic [PORT_COUNT-1:0] m_axis_direct_tx_tlast,
    output logic [PORT_COUNT*AXIS_TX_USER_WIDTH-1:0] m_axis_direct_tx_tuser,
    input wire logic [PORT_COUNT*PTP_TS_WIDTH-1:0] s_axis_direct_tx_cpl_ts,
    input wire logic [PORT_COUNT*TX_TAG_WIDTH-1:0] s_axis_direct_tx_cpl_tag,
    input wire logic [PORT_COUNT-1:0] s_axis_direct_tx_cpl_valid,
    output logic [PORT_COUNT-1:0] s_axis_direct_tx_cpl_ready,
    output logic [PORT_COUNT*PTP_TS_WIDTH-1:0] m_axis_direct_tx_cpl_ts,
    output logic [PORT_COUNT*TX_TAG_WIDTH-1:0] m_axis_direct_tx_cpl_tag,
    output logic [PORT_COUNT-1:0] m_axis_direct_tx_cpl_valid,
    input wire logic [PORT_COUNT-1:0] m_axis_direct_tx_cpl_ready,
    input wire logic [PORT_COUNT-1:0] direct_rx_clk,
    input wire logic [PORT_COUNT-1:0] direct_rx_rst,
    input wire logic [PORT_COUNT*AXIS_DATA_WIDTH-1:0] s_axis_direct_rx_tdata,
    input wire logic [PORT_COUNT*AXIS_KEEP_WIDTH-1:0] s_axis_direct_rx_tkeep,
    input wire logic [PORT_COUNT-1:0] s_axis_direct_rx_tvalid,
    output logic [PORT_COUNT-1:0] s_axis_direct_rx_tready,
    input wire logic [PORT_COUNT-1:0] s_axis_direct_rx_tlast,
    input wire logic [PORT_COUNT*AXIS_RX_USER_WIDTH-1:0] s_axis_direct_rx_tuser,
    output logic [PORT_COUNT*AXIS_DATA_WIDTH-1:0] m_axis_direct_rx_tdata,
    output logic [PORT_COUNT*AXIS_KEEP_WIDTH-1:0] m_axis_direct_rx_tkeep,
    output logic [PORT_COUNT-1:0] m_axis_direct_rx_tvalid,
    input wire logic [PORT_COUNT-1:0] m_axis_direct_rx_tready,
    output logic [PORT_COUNT-1:0] m_axis_direct_rx_tlast,
    output logic [PORT_COUNT*AXIS_RX_USER_WIDTH-1:0] m_axis_direct_rx_tuser,
    input wire logic [PORT_COUNT*AXIS_SYNC_DATA_WIDTH-1:0] s_axis_sync_tx_tdata,
    input wire logic [PORT_COUNT*AXIS_SYNC_KEEP_WIDTH-1:0] s_axis_sync_tx_tkeep,
    input wire logic [PORT_COUNT-1:0] s_axis_sync_tx_tvalid,
    output logic [PORT_COUNT-1:0] s_axis_sync_tx_tready,
    input wire logic [PORT_COUNT-1:0] s_axis_sync_tx_tlast,
    input wire logic [PORT_COUNT*AXIS_SYNC_TX_USER_WIDTH-1:0] s_axis_sync_tx_tuser,
    output logic [PORT_COUNT*AXIS_SYNC_DATA_WIDTH-1:0] m_axis_sync_tx_tdata,
    output logic [PORT_COUNT*AXIS_SYNC_KEEP_WIDTH-1:0] m_axis_sync_tx_tkeep,
    output logic [PORT_COUNT-1:0] m_axis_sync_tx_tvalid,
    input wire logic [PORT_COUNT-1:0] m_axis_sync_tx_tready,
    output logic [PORT_COUNT-1:0] m_axis_sync_tx_tlast,
    output logic [PORT_COUNT*AXIS_SYNC_TX_USER_WIDTH-1:0] m_axis_sync_tx_tuser,
    input wire logic [PORT_COUNT*PTP_TS_WIDTH-1:0] s_axis_sync_tx_cpl_ts,
    input wire logic [PORT_COUNT*TX_TAG_WIDTH-1:0] s_axis_sync_tx_cpl_tag,
    input wire logic [PORT_COUNT-1:0] s_axis_sync_tx_cpl_valid,
    output logic [PORT_COUNT-1:0] s_axis_sync_tx_cpl_ready,
    output logic [PORT_COUNT*PTP_TS_WIDTH-1:0] m_axis_sync_tx_cpl_ts,
    output logic [PORT_COUNT*TX_TAG_WIDTH-1:0] m_axis_sync_tx_cpl_tag,
    output logic [PORT_COUNT-1:0] m_axis_sync_tx_cpl_valid,
    input wire logic [PORT_COUNT-1:0] m_axis_sync_tx_cpl_ready,
    input wire logic [PORT_COUNT*AXIS_SYNC_DATA_WIDTH-1:0] s_axis_sync_rx_tdata,
    input wire logic [PORT_COUNT*AXIS_SYNC_KEEP_WIDTH-1:0] s_axis_sync_rx_tkeep,
    input wire logic [PORT_COUNT-1:0] s_axis_sync_rx_tvalid,
    output logic [PORT_COUNT-1:0] s_axis_sync_rx_tready,
    input wire logic [PORT_COUNT-1:0] s_axis_sync_rx_tlast,
    input wire logic [PORT_COUNT*AXIS_SYNC_RX_USER_WIDTH-1:0] s_axis_sync_rx_tuser,
    output logic [PORT_COUNT*AXIS_SYNC_DATA_WIDTH-1:0] m_axis_sync_rx_tdata,
    output logic [PORT_COUNT*AXIS_SYNC_KEEP_WIDTH-1:0] m_axis_sync_rx_tkeep,
    output logic [PORT_COUNT-1:0] m_axis_sync_rx_tvalid,
    input wire logic [PORT_COUNT-1:0] m_axis_sync_rx_tready,
    output logic [PORT_COUNT-1:0] m_axis_sync_rx_tlast,
    output logic [PORT_COUNT*AXIS_SYNC_RX_USER_WIDTH-1:0] m_axis_sync_rx_tuser,
    input wire logic [IF_COUNT*AXIS_IF_DATA_WIDTH-1:0] s_axis_if_tx_tdata,
    input wire logic [IF_COUNT*AXIS_IF_KEEP_WIDTH-1:0] s_axis_if_tx_tkeep,
    input wire logic [IF_COUNT-1:0] s_axis_if_tx_tvalid,
    output logic [IF_COUNT-1:0] s_axis_if_tx_tready,
    input wire logic [IF_COUNT-1:0] s_axis_if_tx_tlast,
    input wire logic [IF_COUNT*AXIS_IF_TX_ID_WIDTH-1:0] s_axis_if_tx_tid,
    input wire logic [IF_COUNT*AXIS_IF_TX_DEST_WIDTH-1:0] s_axis_if_tx_tdest,
    input wire logic [IF_COUNT*AXIS_IF_TX_USER_WIDTH-1:0] s_axis_if_tx_tuser,
    output logic [IF_COUNT*AXIS_IF_DATA_WIDTH-1:0] m_axis_if_tx_tdata,
    output logic [IF_COUNT*AXIS_IF_KEEP_WIDTH-1:0] m_axis_if_tx_tkeep,
    output logic [IF_COUNT-1:0] m_axis_if_tx_tvalid,
    input wire logic [IF_COUNT-1:0] m_axis_if_tx_tready,
    output logic [IF_COUNT-1:0] m_axis_if_tx_tlast,
    output logic [IF_COUNT*AXIS_IF_TX_ID_WIDTH-1:0] m_axis_if_tx_tid,
    output logic [IF_COUNT*AXIS_IF_TX_DEST_WIDTH-1:0] m_axis_if_tx_tdest,
    output logic [IF_COUNT*AXIS_IF_TX_USER_WIDTH-1:0] m_axis_if_tx_tuser,
    input wire logic [IF_COUNT*PTP_TS_WIDTH-1:0] s_axis_if_tx_cpl_ts,
    input wire logic [IF_COUNT*TX_TAG_WIDTH-1:0] s_axis_if_tx_cpl_tag,
    input wire logic [IF_COUNT-1:0] s_axis_if_tx_cpl_valid,
    output logic [IF_COUNT-1:0] s_axis_if_tx_cpl_ready,
    output logic [IF_COUNT*PTP_TS_WIDTH-1:0] m_axis_if_tx_cpl_ts,
    output logic [IF_COUNT*TX_TAG_WIDTH-1:0] m_axis_if_tx_cpl_tag,
    output logic [IF_COUNT-1:0] m_axis_if_tx_cpl_valid,
    input wire logic [IF_COUNT-1:0] m_axis_if_tx_cpl_ready,
    input wire logic [IF_COUNT*AXIS_IF_DATA_WIDTH-1:0] s_axis_if_rx_tdata,
    input wire logic [IF_COUNT*AXIS_IF_KEEP_WIDTH-1:0] s_axis_if_rx_tkeep,
    input wire logic [IF_COUNT-1:0] s_axis_if_rx_tvalid,
    output logic [IF_COUNT-1:0] s_axis_if_rx_tready,
    input wire logic [IF_COUNT-1:0] s_axis_if_rx_tlast,
    input wire logic [IF_COUNT*AXIS_IF_RX_ID_WIDTH-1:0] s_axis_if_rx_tid,
    input wire logic [IF_COUNT*AXIS_IF_RX_DEST_WIDTH-1:0] s_axis_if_rx_tdest,
    input wire logic [IF_COUNT*AXIS_IF_RX_USER_WIDTH-1:0] s_axis_if_rx_tuser,
    output logic [IF_COUNT*AXIS_IF_DATA_WIDTH-1:0] m_axis_if_rx_tdata,
    output logic [IF_COUNT*AXIS_IF_KEEP_WIDTH-1:0] m_axis_if_rx_tkeep,
    output logic [IF_COUNT-1:0] m_axis_if_rx_tvalid,
    input wire logic [IF_COUNT-1:0] m_axis_if_rx_tready,
    output logic [IF_COUNT-1:0] m_axis_if_rx_tlast,
    output logic [IF_COUNT*AXIS_IF_RX_ID_WIDTH-1:0] m_axis_if_rx_tid,
    output logic [IF_COUNT*AXIS_IF_RX_DEST_WIDTH-1:0] m_axis_if_rx_tdest,
    output logic [IF_COUNT*AXIS_IF_RX_USER_WIDTH-1:0] m_axis_if_rx_tuser,
    input wire logic [DDR_CH-1:0] ddr_clk,
    input wire logic [DDR_CH-1:0] ddr_rst,
    output logic [DDR_CH*AXI_DDR_ID_WIDTH-1:0] m_axi_ddr_awid,
    output logic [DDR_CH*AXI_DDR_ADDR_WIDTH-1:0] m_axi_ddr_awaddr,
    output logic [DDR_CH*8-1:0] m_axi_ddr_awlen,
    output logic [DDR_CH*3-1:0] m_axi_ddr_awsize,
    output logic [DDR_CH*2-1:0] m_axi_ddr_awburst,
    output logic [DDR_CH-1:0] m_axi_ddr_awlock,
    output logic [DDR_CH*4-1:0] m_axi_ddr_awcache,
    output logic [DDR_CH*3-1:0] m_axi_ddr_awprot,
    output logic [DDR_CH*4-1:0] m_axi_ddr_awqos,
    output logic [DDR_CH*AXI_DDR_AWUSER_WIDTH-1:0] m_axi_ddr_awuser,
    output logic [DDR_CH-1:0] m_axi_ddr_awvalid,
    input wire logic [DDR_CH-1:0] m_axi_ddr_awready,
    output logic [DDR_CH*AXI_DDR_DATA_WIDTH-1:0] m_axi_ddr_wdata,
    output logic [DDR_CH*AXI_DDR_STRB_WIDTH-1:0] m_axi_ddr_wstrb,
    output logic [DDR_CH-1:0] m_axi_ddr_wlast,
    output logic [DDR_CH*AXI_DDR_WUSER_WIDTH-1:0] m_axi_ddr_wuser,
    output logic [DDR_CH-1:0] m_axi_ddr_wvalid,
    input wire logic [DDR_CH-1:0] m_axi_ddr_wready,
    input wire logic [DDR_CH*AXI_DDR_ID_WIDTH-1:0] m_axi_ddr_bid,
    input wire logic [DDR_CH*2-1:0] m_axi_ddr_bresp,
    input wire logic [DDR_CH*AXI_DDR_BUSER_WIDTH-1:0] m_axi_ddr_buser,
    input wire logic [DDR_CH-1:0] m_axi_ddr_bvalid,
    output logic [DDR_CH-1:0] m_axi_ddr_bready,
    output logic [DDR_CH*AXI_DDR_ID_WIDTH-1:0] m_axi_ddr_arid,
    output logic [DDR_CH*AXI_DDR_ADDR_WIDTH-1:0] m_axi_ddr_araddr,
    output logic [DDR_CH*8-1:0] m_axi_ddr_arlen,
    output logic [DDR_CH*3-1:0] m_axi_ddr_arsize,
    output logic [DDR_CH*2-1:0] m_axi_ddr_arburst,
    output logic [DDR_CH-1:0] m_axi_ddr_arlock,
    output logic [DDR_CH*4-1:0] m_axi_ddr_arcache,
    output logic [DDR_CH*3-1:0] m_axi_ddr_arprot,
    output logic [DDR_CH*4-1:0] m_axi_ddr_arqos,
    output logic [DDR_CH*AXI_DDR_ARUSER_WIDTH-1:0] m_axi_ddr_aruser,
    output logic [DDR_CH-1:0] m_axi_ddr_arvalid,
    input wire logic [DDR_CH-1:0] m_axi_ddr_arready,
    input wire logic [DDR_CH*AXI_DDR_ID_WIDTH-1:0] m_axi_ddr_rid,
    input wire logic [DDR_CH*AXI_DDR_DATA_WIDTH-1:0] m_axi_ddr_rdata,
    input wire logic [DDR_CH*2-1:0] m_axi_ddr_rresp,
    input wire logic [DDR_CH-1:0] m_axi_ddr_rlast,
    input wire logic [DDR_CH*AXI_DDR_RUSER_WIDTH-1:0] m_axi_ddr_ruser,
    input wire logic [DDR_CH-1:0] m_axi_ddr_rvalid,
    output logic [DDR_CH-1:0] m_axi_ddr_rready,
    input wire logic [DDR_CH-1:0] ddr_status,
    input wire logic [HBM_CH-1:0] hbm_clk,
    input wire logic [HBM_CH-1:0] hbm_rst,
    output logic [HBM_CH*AXI_HBM_ID_WIDTH-1:0] m_axi_hbm_awid,
    output logic [HBM_CH*AXI_HBM_ADDR_WIDTH-1:0] m_axi_hbm_awaddr,
    output logic [HBM_CH*8-1:0] m_axi_hbm_awlen,
    output logic [HBM_CH*3-1:0] m_axi_hbm_awsize,
    output logic [HBM_CH*2-1:0] m_axi_hbm_awburst,
    output logic [HBM_CH-1:0] m_axi_hbm_awlock,
    output logic [HBM_CH*4-1:0] m_axi_hbm_awcache,
    output logic [HBM_CH*3-1:0] m_axi_hbm_awprot,
    output logic [HBM_CH*4-1:0] m_axi_hbm_awqos,
    output logic [HBM_CH*AXI_HBM_AWUSER_WIDTH-1:0] m_axi_hbm_awuser,
    output logic [HBM_CH-1:0] m_axi_hbm_awvalid,
    input wire logic [HBM_CH-1:0] m_axi_hbm_awready,
    output logic [HBM_CH*AXI_HBM_DATA_WIDTH-1:0] m_axi_hbm_wdata,
    output logic [HBM_CH*AXI_HBM_STRB_WIDTH-1:0] m_axi_hbm_wstrb,
    output logic [HBM_CH-1:0] m_axi_hbm_wlast,
    output logic [HBM_CH*AXI_HBM_WUSER_WIDTH-1:0] m_axi_hbm_wuser,
    output logic [HBM_CH-1:0] m_axi_hbm_wvalid,
    input wire logic [HBM_CH-1:0] m_axi_hbm_wready,
    input wire logic [HBM_CH*AXI_HBM_ID_WIDTH-1:0] m_axi_hbm_bid,
    input wire logic [HBM_CH*2-1:0] m_axi_hbm_bresp,
    input wire logic [HBM_CH*AXI_HBM_BUSER_WIDTH-1:0] m_axi_hbm_buser,
    input wire logic [HBM_CH-1:0] m_axi_hbm_bvalid,
    output logic [HBM_CH-1:0] m_axi_hbm_bready,
    output logic [HBM_CH*AXI_HBM_ID_WIDTH-1:0] m_axi_hbm_arid,
    output logic [HBM_CH*AXI_HBM_ADDR_WIDTH-1:0] m_axi_hbm_araddr,
    output logic [HBM_CH*8-1:0] m_axi_hbm_arlen,
    output logic [HBM_CH*3-1:0] m_axi_hbm_arsize,
    output logic [HBM_CH*2-1:0] m_axi_hbm_arburst,
    output logic [HBM_CH-1:0] m_axi_hbm_arlock,
    output logic [HBM_CH*4-1:0] m_axi_hbm_arcache,
    output logic [HBM_CH*3-1:0] m_axi_hbm_arprot,
    output logic [HBM_CH*4-1:0] m_axi_hbm_arqos,
    output logic [HBM_CH*AXI_HBM_ARUSER_WIDTH-1:0] m_axi_hbm_aruser,
    output logic [HBM_CH-1:0] m_axi_hbm_arvalid,
    input wire logic [HBM_CH-1:0] m_axi_hbm_arready,
    input wire logic [HBM_CH*AXI_HBM_ID_WIDTH-1:0] m_axi_hbm_rid,
    input wire logic [HBM_CH*AXI_HBM_DATA_WIDTH-1:0] m_axi_hbm_rdata,
    input wire logic [HBM_CH*2-1:0] m_axi_hbm_rresp,
    input wire logic [HBM_CH-1:0] m_axi_hbm_rlast,
    input wire logic [HBM_CH*AXI_HBM_RUSER_WIDTH-1:0] m_axi_hbm_ruser,
    input wire logic [HBM_CH-1:0] m_axi_hbm_rvalid,
    output logic [HBM_CH-1:0] m_axi_hbm_rready,
    input wire logic [HBM_CH-1:0] hbm_status,
    output logic [STAT_INC_WIDTH-1:0] m_axis_stat_tdata,
    output logic [STAT_ID_WIDTH-1:0] m_axis_stat_tid,
    output logic m_axis_stat_tvalid,
    input wire logic m_axis_stat_tready,
    input wire logic [APP_GPIO_IN_WIDTH-1:0] gpio_in,
    output logic [APP_GPIO_OUT_WIDTH-1:0] gpio_out,
    input wire logic jtag_tdi,
    output logic jtag_tdo,
    input wire logic jtag_tms,
    input wire logic jtag_tck
);
  if (APP_ID != 32'h504E4650) begin : gen_id
    $error("mqnic_app_block: APP_ID must be 32'h504e4650, Penstock's; source its config.tcl after the board's");
  end
  if (APP_CTRL_ENABLE == 0 || APP_AXIS_DIRECT_ENABLE == 0) begin : gen_enables
    $error("mqnic_app_block: APP_CTRL_ENABLE and APP_AXIS_DIRECT_ENABLE must be 1");
  end
  if (PORT_COUNT != Ports) begin : gen_ports
    $error("mqnic_app_block: the NIC has %0d ports, and the design has %0d: set IF_COUNT", PORT_COUNT, Ports);
  end
  if (AXIS_DATA_WIDTH != 512) begin : gen_width
    $error("mqnic_app_block: AXIS_DATA_WIDTH must be 512, as of a MAC of 100 Gb/s");
  end
  if (AXIL_APP_CTRL_DATA_WIDTH != 32 || AXIL_APP_CTRL_ADDR_WIDTH < 20 || AXIL_APP_CTRL_ADDR_WIDTH > 32) begin : gen_axil
    $error("mqnic_app_block: the application BAR must have words of 32 bits and 20 to 32 bits of address");
  end
  if (DDR_ENABLE != 0 && (AXI_DDR_DATA_WIDTH != 512 || AXI_DDR_ADDR_WIDTH < 32 || AXI_DDR_ADDR_WIDTH > 40)) begin : gen_ddr_width
    $error("mqnic_app_block: DDR channels must have 512 bits of data and 32 to 40 bits of address");
  end
  if (DDR_ENABLE == 0 && MapRows > OnChipMapRows) begin : gen_maps
    $error("mqnic_app_block: DDR_ENABLE must be 1: the design's maps are in card memory");
  end
  if (DDR_ENABLE != 0 && AXI_DDR_MAX_BURST_LEN < 64) begin : gen_ddr_burst
    $error("mqnic_app_block: AXI_DDR_MAX_BURST_LEN must be 64 at least");
  end
  if (CLK_PERIOD_NS_NUM != 4 * CLK_PERIOD_NS_DENOM) begin : gen_clock
    $error("mqnic_app_block: the core's clock must run at 250 MHz");
  end

  logic [Ports-1:0] rx_bad, tx_bad, nic_valid, nic_ready, mac_rx_ready;
  logic axil_rst, host_bad;
  logic [40*DDR_CH-1:0] mem_awaddr, mem_araddr;
  logic [512*DDR_CH-1:0] mem_wdata, mem_rdata;
  logic [64*DDR_CH-1:0] mem_wstrb;
  for (genvar p = 0; p < Ports; p++) begin : gen_port
    nic_complete #(
        .TagW(TX_TAG_WIDTH)
    ) i_complete (
        .clk(direct_tx_clk[p]),
        .rst(direct_tx_rst[p]),
        .tvalid(s_axis_direct_tx_tvalid[p]),
        .tready(s_axis_direct_tx_tready[p]),
        .tlast(s_axis_direct_tx_tlast[p]),
        .tag(s_axis_direct_tx_tuser[p*AXIS_TX_USER_WIDTH+1+:TX_TAG_WIDTH]),
        .take_valid(nic_valid[p]),
        .take_ready(nic_ready[p]),
        .cpl_tag(m_axis_direct_tx_cpl_tag[p*TX_TAG_WIDTH+:TX_TAG_WIDTH]),
        .cpl_valid(m_axis_direct_tx_cpl_valid[p]),
        .cpl_ready(m_axis_direct_tx_cpl_ready[p])
    );
    assign rx_bad[p] = s_axis_direct_rx_tuser[p*AXIS_RX_USER_WIDTH];
    assign m_axis_direct_tx_tuser[p*AXIS_TX_USER_WIDTH+:AXIS_TX_USER_WIDTH] = AXIS_TX_USER_WIDTH'(tx_bad[p]);
  end

  shell_card #(
      .Ports(Ports),
      .Shell("CORU"),
      .Design(Design),
      .Units(Units),
      .IngressDepth(IngressDepth),
      .Blocks(Blocks),
      .MapRows(MapRows),
      .Stages(Stages),
      .BlockEngine(BlockEngine),
      .BlockParam(BlockParam),
      .Engine(Engine),
      .UnitParam(UnitParam),
      .Memory(DDR_ENABLE != 0),
      .MemoryPorts(DDR_CH)
  ) i_shell_card (
      .card_clk(clk),
      .card_rst_in(rst),
`ifdef PENSTOCK_SPLIT
      .to_unit,
      .from_unit,
      .unit_rst,
      .design_hash,
`endif
      .axil_clk(clk),
      .axil_rst_in(rst),
      .axil_rst,
      .s_axil_awaddr(32'(s_axil_app_ctrl_awaddr)),
      .s_axil_awvalid(s_axil_app_ctrl_awvalid),
      .s_axil_awready(s_axil_app_ctrl_awready),
      .s_axil_wdata(s_axil_app_ctrl_wdata),
      .s_axil_wvalid(s_axil_app_ctrl_wvalid),
      .s_axil_wready(s_axil_app_ctrl_wready),
      .s_axil_bresp(s_axil_app_ctrl_bresp),
      .s_axil_bvalid(s_axil_app_ctrl_bvalid),
      .s_axil_bready(s_axil_app_ctrl_bready),
      .s_axil_araddr(32'(s_axil_app_ctrl_araddr)),
      .s_axil_arvalid(s_axil_app_ctrl_arvalid),
      .s_axil_arready(s_axil_app_ctrl_arready),
      .s_axil_rdata(s_axil_app_ctrl_rdata),
      .s_axil_rresp(s_axil_app_ctrl_rresp),
      .s_axil_rvalid(s_axil_app_ctrl_rvalid),
      .s_axil_rready(s_axil_app_ctrl_rready),
      .rx_clk({direct_tx_clk[0], direct_rx_clk}),
      .rx_rst_in({direct_tx_rst[0], direct_rx_rst}),
      .mac_rx_tvalid({nic_valid[0], s_axis_direct_rx_tvalid}),
      .mac_rx_tready({nic_ready[0], mac_rx_ready}),
      .mac_rx_tdata({s_axis_direct_tx_tdata[511:0], s_axis_direct_rx_tdata}),
      .mac_rx_tkeep({s_axis_direct_tx_tkeep[63:0], s_axis_direct_rx_tkeep}),
      .mac_rx_tlast({s_axis_direct_tx_tlast[0], s_axis_direct_rx_tlast}),
      .mac_rx_tuser({s_axis_direct_tx_tuser[0], rx_bad}),
      .tx_clk({direct_rx_clk[0], direct_tx_clk}),
      .tx_rst_in({direct_rx_rst[0], direct_tx_rst}),
      .mac_tx_tvalid({m_axis_direct_rx_tvalid[0], m_axis_direct_tx_tvalid}),
      .mac_tx_tdata({m_axis_direct_rx_tdata[511:0], m_axis_direct_tx_tdata}),
      .mac_tx_tkeep({m_axis_direct_rx_tkeep[63:0], m_axis_direct_tx_tkeep}),
      .mac_tx_tlast({m_axis_direct_rx_tlast[0], m_axis_direct_tx_tlast}),
      .mac_tx_tuser({host_bad, tx_bad}),
      .mac_tx_tready({m_axis_direct_rx_tready[0], m_axis_direct_tx_tready}),
      .mem_clk(ddr_clk),
      // A controller takes requests only when its memory is calibrated.
      .mem_rst_in(ddr_rst | ~ddr_status),
      .m_axi_mem_awaddr(mem_awaddr),
      .m_axi_mem_awlen(m_axi_ddr_awlen),
      .m_axi_mem_awvalid(m_axi_ddr_awvalid),
      .m_axi_mem_awready(m_axi_ddr_awready),
      .m_axi_mem_wdata(mem_wdata),
      .m_axi_mem_wstrb(mem_wstrb),
      .m_axi_mem_wlast(m_axi_ddr_wlast),
      .m_axi_mem_wvalid(m_axi_ddr_wvalid),
      .m_axi_mem_wready(m_axi_ddr_wready),
      .m_axi_mem_bresp(m_axi_ddr_bresp),
      .m_axi_mem_bvalid(m_axi_ddr_bvalid),
      .m_axi_mem_bready(m_axi_ddr_bready),
      .m_axi_mem_araddr(mem_araddr),
      .m_axi_mem_arlen(m_axi_ddr_arlen),
      .m_axi_mem_arvalid(m_axi_ddr_arvalid),
      .m_axi_mem_arready(m_axi_ddr_arready),
      .m_axi_mem_rdata(mem_rdata),
      .m_axi_mem_rresp(m_axi_ddr_rresp),
      .m_axi_mem_rlast(m_axi_ddr_rlast),
      .m_axi_mem_rvalid(m_axi_ddr_rvalid),
      .m_axi_mem_rready(m_axi_ddr_rready)
  );

  // MACs receive without ready; completions of the card's frames end here; the NIC's frames have no time stamp.
  assign s_axis_direct_rx_tready = '1;
  assign s_axis_direct_tx_cpl_ready = '1;
  assign m_axis_direct_tx_cpl_ts = '0;

  // Frames to the host have no time stamp.
  assign m_axis_direct_rx_tuser = (PORT_COUNT * AXIS_RX_USER_WIDTH)'(host_bad);
  // The NIC's other ports
  if (Ports > 1) begin : gen_others
    assign nic_ready[Ports-1:1] = '1;
    assign m_axis_direct_rx_tvalid[Ports-1:1] = '0;
    assign m_axis_direct_rx_tdata[512*Ports-1:512] = '0;
    assign m_axis_direct_rx_tkeep[64*Ports-1:64] = '0;
    assign m_axis_direct_rx_tlast[Ports-1:1] = '0;
  end

  // Streams that pass
  assign s_axis_sync_tx_tready = m_axis_sync_tx_tready;
  assign m_axis_sync_tx_tdata = s_axis_sync_tx_tdata;
  assign m_axis_sync_tx_tkeep = s_axis_sync_tx_tkeep;
  assign m_axis_sync_tx_tvalid = s_axis_sync_tx_tvalid;
  assign m_axis_sync_tx_tlast = s_axis_sync_tx_tlast;
  assign m_axis_sync_tx_tuser = s_axis_sync_tx_tuser;
  assign s_axis_sync_tx_cpl_ready = m_axis_sync_tx_cpl_ready;
  assign m_axis_sync_tx_cpl_ts = s_axis_sync_tx_cpl_ts;
  assign m_axis_sync_tx_cpl_tag = s_axis_sync_tx_cpl_tag;
  assign m_axis_sync_tx_cpl_valid = s_axis_sync_tx_cpl_valid;
  assign s_axis_sync_rx_tready = m_axis_sync_rx_tready;
  assign m_axis_sync_rx_tdata = s_axis_sync_rx_tdata;
  assign m_axis_sync_rx_tkeep = s_axis_sync_rx_tkeep;
  assign m_axis_sync_rx_tvalid = s_axis_sync_rx_tvalid;
  assign m_axis_sync_rx_tlast = s_axis_sync_rx_tlast;
  assign m_axis_sync_rx_tuser = s_axis_sync_rx_tuser;
  assign s_axis_if_tx_tready = m_axis_if_tx_tready;
  assign m_axis_if_tx_tdata = s_axis_if_tx_tdata;
  assign m_axis_if_tx_tkeep = s_axis_if_tx_tkeep;
  assign m_axis_if_tx_tvalid = s_axis_if_tx_tvalid;
  assign m_axis_if_tx_tlast = s_axis_if_tx_tlast;
  assign m_axis_if_tx_tid = s_axis_if_tx_tid;
  assign m_axis_if_tx_tdest = s_axis_if_tx_tdest;
  assign m_axis_if_tx_tuser = s_axis_if_tx_tuser;
  assign s_axis_if_tx_cpl_ready = m_axis_if_tx_cpl_ready;
  assign m_axis_if_tx_cpl_ts = s_axis_if_tx_cpl_ts;
  assign m_axis_if_tx_cpl_tag = s_axis_if_tx_cpl_tag;
  assign m_axis_if_tx_cpl_valid = s_axis_if_tx_cpl_valid;
  assign s_axis_if_rx_tready = m_axis_if_rx_tready;
  assign m_axis_if_rx_tdata = s_axis_if_rx_tdata;
  assign m_axis_if_rx_tkeep = s_axis_if_rx_tkeep;
  assign m_axis_if_rx_tvalid = s_axis_if_rx_tvalid;
  assign m_axis_if_rx_tlast = s_axis_if_rx_tlast;
  assign m_axis_if_rx_tid = s_axis_if_rx_tid;
  assign m_axis_if_rx_tdest = s_axis_if_rx_tdest;
  assign m_axis_if_rx_tuser = s_axis_if_rx_tuser;

  // The NIC's registers
  assign m_axil_ctrl_awaddr = '0;
  assign m_axil_ctrl_awprot = '0;
  assign m_axil_ctrl_awvalid = '0;
  assign m_axil_ctrl_wdata = '0;
  assign m_axil_ctrl_wstrb = '0;
  assign m_axil_ctrl_wvalid = '0;
  assign m_axil_ctrl_bready = '1;
  assign m_axil_ctrl_araddr = '0;
  assign m_axil_ctrl_arprot = '0;
  assign m_axil_ctrl_arvalid = '0;
  assign m_axil_ctrl_rready = '1;

  // DMA engine
  assign m_axis_ctrl_dma_read_desc_dma_addr = '0;
  assign m_axis_ctrl_dma_read_desc_ram_sel = '0;
  assign m_axis_ctrl_dma_read_desc_ram_addr = '0;
  assign m_axis_ctrl_dma_read_desc_len = '0;
  assign m_axis_ctrl_dma_read_desc_tag = '0;
  assign m_axis_ctrl_dma_read_desc_valid = '0;
  assign m_axis_ctrl_dma_write_desc_dma_addr = '0;
  assign m_axis_ctrl_dma_write_desc_ram_sel = '0;
  assign m_axis_ctrl_dma_write_desc_ram_addr = '0;
  assign m_axis_ctrl_dma_write_desc_imm = '0;
  assign m_axis_ctrl_dma_write_desc_imm_en = '0;
  assign m_axis_ctrl_dma_write_desc_len = '0;
  assign m_axis_ctrl_dma_write_desc_tag = '0;
  assign m_axis_ctrl_dma_write_desc_valid = '0;
  assign m_axis_data_dma_read_desc_dma_addr = '0;
  assign m_axis_data_dma_read_desc_ram_sel = '0;
  assign m_axis_data_dma_read_desc_ram_addr = '0;
  assign m_axis_data_dma_read_desc_len = '0;
  assign m_axis_data_dma_read_desc_tag = '0;
  assign m_axis_data_dma_read_desc_valid = '0;
  assign m_axis_data_dma_write_desc_dma_addr = '0;
  assign m_axis_data_dma_write_desc_ram_sel = '0;
  assign m_axis_data_dma_write_desc_ram_addr = '0;
  assign m_axis_data_dma_write_desc_imm = '0;
  assign m_axis_data_dma_write_desc_imm_en = '0;
  assign m_axis_data_dma_write_desc_len = '0;
  assign m_axis_data_dma_write_desc_tag = '0;
  assign m_axis_data_dma_write_desc_valid = '0;
  assign ctrl_dma_ram_wr_cmd_ready = '1;
  assign ctrl_dma_ram_wr_done = ctrl_dma_ram_wr_cmd_valid;
  assign ctrl_dma_ram_rd_cmd_ready = ctrl_dma_ram_rd_resp_ready;
  assign ctrl_dma_ram_rd_resp_data = '0;
  assign ctrl_dma_ram_rd_resp_valid = ctrl_dma_ram_rd_cmd_valid;
  assign data_dma_ram_wr_cmd_ready = '1;
  assign data_dma_ram_wr_done = data_dma_ram_wr_cmd_valid;
  assign data_dma_ram_rd_cmd_ready = data_dma_ram_rd_resp_ready;
  assign data_dma_ram_rd_resp_data = '0;
  assign data_dma_ram_rd_resp_valid = data_dma_ram_rd_cmd_valid;

  // Card memory is on the board's DDR4: bursts of whole beats, in order, from normal memory that may be buffered and
  // changed, of one ID.
  if (DDR_ENABLE != 0) begin : gen_ddr
    for (genvar c = 0; c < DDR_CH; c++) begin : gen_channel
      assign m_axi_ddr_awaddr[c*AXI_DDR_ADDR_WIDTH+:AXI_DDR_ADDR_WIDTH] = AXI_DDR_ADDR_WIDTH'(mem_awaddr[c*40+:40]);
      assign m_axi_ddr_araddr[c*AXI_DDR_ADDR_WIDTH+:AXI_DDR_ADDR_WIDTH] = AXI_DDR_ADDR_WIDTH'(mem_araddr[c*40+:40]);
    end
    assign m_axi_ddr_wdata = mem_wdata;
    assign m_axi_ddr_wstrb = mem_wstrb;
    assign mem_rdata = m_axi_ddr_rdata;
  end else begin : gen_no_ddr
    assign m_axi_ddr_awaddr = '0;
    assign m_axi_ddr_araddr = '0;
    assign m_axi_ddr_wdata = '0;
    assign m_axi_ddr_wstrb = '0;
    assign mem_rdata = '0;
  end
  assign m_axi_ddr_awid = '0;
  assign m_axi_ddr_awsize = {DDR_CH{3'd6}};
  assign m_axi_ddr_awburst = {DDR_CH{2'b01}};
  assign m_axi_ddr_awlock = '0;
  assign m_axi_ddr_awcache = {DDR_CH{4'b0011}};
  assign m_axi_ddr_awprot = '0;
  assign m_axi_ddr_awqos = '0;
  assign m_axi_ddr_awuser = '0;
  assign m_axi_ddr_wuser = '0;
  assign m_axi_ddr_arid = '0;
  assign m_axi_ddr_arsize = {DDR_CH{3'd6}};
  assign m_axi_ddr_arburst = {DDR_CH{2'b01}};
  assign m_axi_ddr_arlock = '0;
  assign m_axi_ddr_arcache = {DDR_CH{4'b0011}};
  assign m_axi_ddr_arprot = '0;
  assign m_axi_ddr_arqos = '0;
  assign m_axi_ddr_aruser = '0;

  // HBM
  assign m_axi_hbm_awid = '0;
  assign m_axi_hbm_awaddr = '0;
  assign m_axi_hbm_awlen = '0;
  assign m_axi_hbm_awsize = '0;
  assign m_axi_hbm_awburst = '0;
  assign m_axi_hbm_awlock = '0;
  assign m_axi_hbm_awcache = '0;
  assign m_axi_hbm_awprot = '0;
  assign m_axi_hbm_awqos = '0;
  assign m_axi_hbm_awuser = '0;
  assign m_axi_hbm_awvalid = '0;
  assign m_axi_hbm_wdata = '0;
  assign m_axi_hbm_wstrb = '0;
  assign m_axi_hbm_wlast = '0;
  assign m_axi_hbm_wuser = '0;
  assign m_axi_hbm_wvalid = '0;
  assign m_axi_hbm_bready = '1;
  assign m_axi_hbm_arid = '0;
  assign m_axi_hbm_araddr = '0;
  assign m_axi_hbm_arlen = '0;
  assign m_axi_hbm_arsize = '0;
  assign m_axi_hbm_arburst = '0;
  assign m_axi_hbm_arlock = '0;
  assign m_axi_hbm_arcache = '0;
  assign m_axi_hbm_arprot = '0;
  assign m_axi_hbm_arqos = '0;
  assign m_axi_hbm_aruser = '0;
  assign m_axi_hbm_arvalid = '0;
  assign m_axi_hbm_rready = '1;

  // Statistics, pins, JTAG
  assign m_axis_stat_tdata = '0;
  assign m_axis_stat_tid = '0;
  assign m_axis_stat_tvalid = '0;
  assign gpio_out = '0;
  assign jtag_tdo = jtag_tdi;
endmodule

`default_nettype wire
