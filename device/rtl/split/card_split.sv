// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// The card with the wires of its units outside, so that the units can be a model of their own: sixteen units are then sixteen
// instances of one small model instead of sixteen copies of its code, which is what makes building and running fast.
module card_split
  import penstock_pkg::*;
  import split_pkg::*;
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

    output logic      [0:0]           m_axi_awid,
    output logic      [63:0]          m_axi_awaddr,
    output logic      [7:0]           m_axi_awlen,
    output logic      [2:0]           m_axi_awsize,
    output logic      [1:0]           m_axi_awburst,
    output logic      [3:0]           m_axi_awcache,
    output logic      [2:0]           m_axi_awprot,
    output logic                      m_axi_awvalid,
    input  wire logic                 m_axi_awready,
    output logic      [DataW-1:0]     m_axi_wdata,
    output logic      [BeatBytes-1:0] m_axi_wstrb,
    output logic                      m_axi_wlast,
    output logic                      m_axi_wvalid,
    input  wire logic                 m_axi_wready,
    input  wire logic [0:0]           m_axi_bid,
    input  wire logic [1:0]           m_axi_bresp,
    input  wire logic                 m_axi_bvalid,
    output logic                      m_axi_bready,
    output logic      [0:0]           m_axi_arid,
    output logic      [63:0]          m_axi_araddr,
    output logic      [7:0]           m_axi_arlen,
    output logic      [2:0]           m_axi_arsize,
    output logic      [1:0]           m_axi_arburst,
    output logic      [3:0]           m_axi_arcache,
    output logic      [2:0]           m_axi_arprot,
    output logic                      m_axi_arvalid,
    input  wire logic                 m_axi_arready,
    input  wire logic [0:0]           m_axi_rid,
    input  wire logic [DataW-1:0]     m_axi_rdata,
    input  wire logic [1:0]           m_axi_rresp,
    input  wire logic                 m_axi_rlast,
    input  wire logic                 m_axi_rvalid,
    output logic                      m_axi_rready,

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
    input  wire logic        s_axil_rready,

    output logic      [BundleW-1:0] to_unit[Units],
    input  wire logic [BundleW-1:0] from_unit[Units]
);
  card_top #(
      .Ports(Ports),
      .Units(Units),
      .Accel(Accel),
      .IngressDepth(IngressDepth)
  ) i_top (
      .*
  );

  for (genvar u = 0; u < Units; u++) begin : gen_wires
    assign to_unit[u] = i_top.i_card.gen_unit[u].i_unit.to_unit;
    assign i_top.i_card.gen_unit[u].i_unit.from_unit = from_unit[u];
  end
endmodule

`default_nettype wire
