// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// A card behind a shell (shell/cards) has the channels of its memory at its pins. Other simulations have models inside.
`ifdef SYNTHESIS
`define PENSTOCK_MEMORY_PINS
`elsif PENSTOCK_SHELL
`define PENSTOCK_MEMORY_PINS
`endif

// The card with flat ports, for a simulation's clock loop and for a real card's shell. Port p has bits [p*W+:W] of its vectors.
// A MAC of 512 bits at 322 MHz stands behind a converter of width and clock: a port has 1,024 bits, one frame start a beat.
module card_top
  import penstock_pkg::*, shell_pkg::*;
#(
    parameter int unsigned Ports        = 2,
    parameter int unsigned Units        = 16,
    parameter int unsigned IngressDepth = 4096,
    parameter int unsigned Blocks       = 0,
    parameter int unsigned MapRows      = 16384,
    parameter link_stages_t Stages      = '0,  // of the links that cross from die to die (shell_pkg.sv)
    // For each inline block its engine's number and the engine's own parameter: see engines/inline_block.sv
    parameter logic [MaxBlocks-1:0][ 7:0] BlockEngine = '0,
    parameter logic [MaxBlocks-1:0][63:0] BlockParam  = '0,
    // For each unit its engine's number and the engine's own parameter: see engines/unit.sv
    parameter logic [MaxUnits-1:0][7:0]  Engine    = '0,
    parameter logic [MaxUnits-1:0][31:0] UnitParam = '0
) (
    input wire logic clk,
    input wire logic rst,

`ifdef PENSTOCK_SPLIT
    // The clock loop has a model for each unit and carries its wires (device/rtl/split).
    output logic      [split_pkg::BundleW-1:0] to_unit  [Units],
    input  wire logic [split_pkg::BundleW-1:0] from_unit[Units],
`endif

    input  wire logic [Ports*8*PortBytes-1:0] rx_tdata,
    input  wire logic [  Ports*PortBytes-1:0] rx_tkeep,
    input  wire logic [            Ports-1:0] rx_tvalid,
    input  wire logic [            Ports-1:0] rx_tlast,
    input  wire logic [            Ports-1:0] rx_tuser,
    output logic      [            Ports-1:0] rx_pause,

    output logic      [Ports*8*PortBytes-1:0] tx_tdata,
    output logic      [  Ports*PortBytes-1:0] tx_tkeep,
    output logic      [            Ports-1:0] tx_tvalid,
    output logic      [            Ports-1:0] tx_tlast,
    input  wire logic [            Ports-1:0] tx_tready,
    output logic      [          Ports*8-1:0] tx_src,
    output logic      [         Ports*32-1:0] tx_timestamp,

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
    output logic      [         31:0] host_tx_mark,

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

`ifdef PENSTOCK_MEMORY_PINS
    // Channels of the card's own memory (penstock_pkg.sv)
    output logic [CardChannels-1:0][8:0]             m_axi_mem_awid,
    output logic [CardChannels-1:0][39:0]            m_axi_mem_awaddr,
    output logic [CardChannels-1:0][7:0]             m_axi_mem_awlen,
    output logic [CardChannels-1:0][2:0]             m_axi_mem_awsize,
    output logic [CardChannels-1:0][1:0]             m_axi_mem_awburst,
    output logic [CardChannels-1:0][3:0]             m_axi_mem_awcache,
    output logic [CardChannels-1:0][2:0]             m_axi_mem_awprot,
    output logic [CardChannels-1:0]                  m_axi_mem_awvalid,
    input  wire logic [CardChannels-1:0]                  m_axi_mem_awready,
    output logic [CardChannels-1:0][DataW-1:0]       m_axi_mem_wdata,
    output logic [CardChannels-1:0][BeatBytes-1:0]   m_axi_mem_wstrb,
    output logic [CardChannels-1:0]                  m_axi_mem_wlast,
    output logic [CardChannels-1:0]                  m_axi_mem_wvalid,
    input  wire logic [CardChannels-1:0]                  m_axi_mem_wready,
    input  wire logic [CardChannels-1:0][8:0]             m_axi_mem_bid,
    input  wire logic [CardChannels-1:0][1:0]             m_axi_mem_bresp,
    input  wire logic [CardChannels-1:0]                  m_axi_mem_bvalid,
    output logic [CardChannels-1:0]                  m_axi_mem_bready,
    output logic [CardChannels-1:0][8:0]             m_axi_mem_arid,
    output logic [CardChannels-1:0][39:0]            m_axi_mem_araddr,
    output logic [CardChannels-1:0][7:0]             m_axi_mem_arlen,
    output logic [CardChannels-1:0][2:0]             m_axi_mem_arsize,
    output logic [CardChannels-1:0][1:0]             m_axi_mem_arburst,
    output logic [CardChannels-1:0][3:0]             m_axi_mem_arcache,
    output logic [CardChannels-1:0][2:0]             m_axi_mem_arprot,
    output logic [CardChannels-1:0]                  m_axi_mem_arvalid,
    input  wire logic [CardChannels-1:0]                  m_axi_mem_arready,
    input  wire logic [CardChannels-1:0][8:0]             m_axi_mem_rid,
    input  wire logic [CardChannels-1:0][DataW-1:0]       m_axi_mem_rdata,
    input  wire logic [CardChannels-1:0][1:0]             m_axi_mem_rresp,
    input  wire logic [CardChannels-1:0]                  m_axi_mem_rlast,
    input  wire logic [CardChannels-1:0]                  m_axi_mem_rvalid,
    output logic [CardChannels-1:0]                  m_axi_mem_rready,
`endif

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
  axis_if #(.Bytes(BeatBytes)) host_rx ();
  axis_if #(.Bytes(BeatBytes)) host_tx ();
  axi_write_if host_write ();
  axi_read_if host_read ();
  axi_if #(.ID_W(9)) memory[CardChannels] ();
  port_t src[Ports];
  time_t timestamp[Ports];

  for (genvar p = 0; p < Ports; p++) begin : gen_port
    assign rx[p].tdata = rx_tdata[p*8*PortBytes+:8*PortBytes];
    assign rx[p].tkeep = rx_tkeep[p*PortBytes+:PortBytes];
    assign rx[p].tvalid = rx_tvalid[p];
    assign rx[p].tlast = rx_tlast[p];
    assign rx[p].tuser = rx_tuser[p];
    assign tx_tdata[p*8*PortBytes+:8*PortBytes] = tx[p].tdata;
    assign tx_tkeep[p*PortBytes+:PortBytes] = tx[p].tkeep;
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

  // Bursts of whole beats, in order, from normal memory that may be buffered and changed
  assign m_axi_awid = '0;
  assign m_axi_awaddr = host_write.awaddr;
  assign m_axi_awlen = host_write.awlen;
  assign m_axi_awsize = 3'd6;
  assign m_axi_awburst = 2'b01;
  assign m_axi_awcache = 4'b0011;
  assign m_axi_awprot = 3'b000;
  assign m_axi_awvalid = host_write.awvalid;
  assign host_write.awready = m_axi_awready;
  assign m_axi_wdata = host_write.wdata;
  assign m_axi_wstrb = host_write.wstrb;
  assign m_axi_wlast = host_write.wlast;
  assign m_axi_wvalid = host_write.wvalid;
  assign host_write.wready = m_axi_wready;
  assign host_write.bresp = m_axi_bresp;
  assign host_write.bvalid = m_axi_bvalid;
  assign m_axi_bready = host_write.bready;
  assign m_axi_arid = '0;
  assign m_axi_araddr = host_read.araddr;
  assign m_axi_arlen = host_read.arlen;
  assign m_axi_arsize = 3'd6;
  assign m_axi_arburst = 2'b01;
  assign m_axi_arcache = 4'b0011;
  assign m_axi_arprot = 3'b000;
  assign m_axi_arvalid = host_read.arvalid;
  assign host_read.arready = m_axi_arready;
  assign host_read.rdata = m_axi_rdata;
  assign host_read.rresp = m_axi_rresp;
  assign host_read.rlast = m_axi_rlast;
  assign host_read.rvalid = m_axi_rvalid;
  assign m_axi_rready = host_read.rready;

  for (genvar c = 0; c < int'(CardChannels); c++) begin : gen_memory
`ifdef PENSTOCK_MEMORY_PINS
    assign m_axi_mem_awid[c] = memory[c].awid;
    assign m_axi_mem_awaddr[c] = memory[c].awaddr;
    assign m_axi_mem_awlen[c] = memory[c].awlen;
    assign m_axi_mem_awsize[c] = 3'd6;
    assign m_axi_mem_awburst[c] = 2'b01;
    assign m_axi_mem_awcache[c] = 4'b0011;
    assign m_axi_mem_awprot[c] = 3'b000;
    assign m_axi_mem_awvalid[c] = memory[c].awvalid;
    assign memory[c].awready = m_axi_mem_awready[c];
    assign m_axi_mem_wdata[c] = memory[c].wdata;
    assign m_axi_mem_wstrb[c] = memory[c].wstrb;
    assign m_axi_mem_wlast[c] = memory[c].wlast;
    assign m_axi_mem_wvalid[c] = memory[c].wvalid;
    assign memory[c].wready = m_axi_mem_wready[c];
    assign memory[c].bid = m_axi_mem_bid[c];
    assign memory[c].bresp = m_axi_mem_bresp[c];
    assign memory[c].bvalid = m_axi_mem_bvalid[c];
    assign m_axi_mem_bready[c] = memory[c].bready;
    assign m_axi_mem_arid[c] = memory[c].arid;
    assign m_axi_mem_araddr[c] = memory[c].araddr;
    assign m_axi_mem_arlen[c] = memory[c].arlen;
    assign m_axi_mem_arsize[c] = 3'd6;
    assign m_axi_mem_arburst[c] = 2'b01;
    assign m_axi_mem_arcache[c] = 4'b0011;
    assign m_axi_mem_arprot[c] = 3'b000;
    assign m_axi_mem_arvalid[c] = memory[c].arvalid;
    assign memory[c].arready = m_axi_mem_arready[c];
    assign memory[c].rid = m_axi_mem_rid[c];
    assign memory[c].rdata = m_axi_mem_rdata[c];
    assign memory[c].rresp = m_axi_mem_rresp[c];
    assign memory[c].rlast = m_axi_mem_rlast[c];
    assign memory[c].rvalid = m_axi_mem_rvalid[c];
    assign m_axi_mem_rready[c] = memory[c].rready;
`else
    // A channel that nothing can ask has no model: its queues would cost time in each cycle.
    localparam bit IsUsed = c < int'(MemoryChannels) ? Blocks != 0 : MapRows > OnChipMapRows;
    if (IsUsed) begin : gen_channel
      axi_memory #(
          .Bytes(64'd1 << 28)
      ) i_memory (
          .clk,
          .rst,
          .link(memory[c])
      );
      axi_check i_check (
          .clk,
          .rst,
          .link(memory[c])
      );
    end else begin : gen_none
      axi_absent i_none (.link(memory[c]));
    end
`endif
  end

  card #(
      .Ports(Ports),
      .Units(Units),
      .Engine(Engine),
      .UnitParam(UnitParam),
      .IngressDepth(IngressDepth),
      .Blocks(Blocks),
      .BlockEngine(BlockEngine),
      .BlockParam(BlockParam),
      .MapRows(MapRows),
      .Stages(Stages)
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
      .host_tx_mark,
      .host_write(host_write),
      .host_read(host_read),
      .memory(memory),
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

`ifdef PENSTOCK_SPLIT
  for (genvar u = 0; u < Units; u++) begin : gen_split
    assign to_unit[u] = i_card.gen_unit[u].i_unit.to_unit;
    assign i_card.gen_unit[u].i_unit.from_unit = from_unit[u];
  end
`endif
endmodule

`undef PENSTOCK_MEMORY_PINS
`default_nettype wire
