// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// The card with its registers and the converters of its ports, for the wrapper that fits it into a shell.
//
//   rx_clk[p]: MAC p ─> mac_rx ─┆─> card_top ─┆─> mac_tx ─> MAC p :tx_clk[p]     card_clk: card_top
//   rx_clk[Ports]: host ─> mac_rx ─┆─> card_top ─> host_mark ─┆─> mac_tx ─> host :tx_clk[Ports]
//   axil_clk:  AXI4-Lite ─> bar_front ─┆─> card_top's registers
//
// Stream Ports is the host's, behind those of the MACs. It has a ready: the host's frames wait while the card takes none.
// Shells carry it with the clocks of MAC 0; while these stand still, the host's frames wait.
//
// All clocks may be of different sources, and any of them may be the same. Each reset input may come from any clock,
// and resets its own side only: both sides of a crossing then wait for each other (reset_pair). A port whose clock
// stops stops no other port.
//
// With Memory the channels of card memory are on the board's memory (card_memory.sv), whose reset resets the card. Without
// it, a burst is refused, and so is a burst to host memory, which the card does not have.
//
//   mem_clk[m]: card_top ─> card_memory ─┆─> memory m
module shell_card
  import penstock_pkg::*, shell_pkg::*;
#(
    parameter int unsigned Ports = 2,
    parameter logic [31:0] Shell = '0,    // four letters
    parameter logic [127:0] Design = '0,  // hash of the hardware
    parameter int unsigned Units = 16,
    parameter int unsigned IngressDepth = 4096,
    parameter int unsigned Blocks = 0,
    parameter int unsigned MapRows = 16384,
    parameter bit Memory = 0,                // the shell has memory for the card
    parameter int unsigned MemoryPorts = 1,  // ports of this memory
    // of the links that cross from die to die: a choice of the floorplan, not of the design
    parameter link_stages_t Stages = '0,
    parameter logic [MaxBlocks-1:0][7:0] BlockEngine = '0,
    parameter logic [MaxBlocks-1:0][63:0] BlockParam = '0,
    parameter logic [MaxUnits-1:0][7:0] Engine = '0,
    parameter logic [MaxUnits-1:0][31:0] UnitParam = '0
) (
    input wire logic card_clk,     // 250 MHz
    input wire logic card_rst_in,

`ifdef PENSTOCK_SPLIT
    // The model of the shell has a model for each unit and carries its wires (device/rtl/split); it also says which
    // design it is, so that designs with the same card around their units share a model.
    output logic      [split_pkg::BundleW-1:0] to_unit  [Units],
    input  wire logic [split_pkg::BundleW-1:0] from_unit[Units],
    output logic unit_rst,
    input wire logic [127:0] design_hash,
`endif

    input  wire logic axil_clk,
    input  wire logic axil_rst_in,
    output logic      axil_rst,     // the registers are in reset
    input  wire logic [31:0] s_axil_awaddr,
    input  wire logic s_axil_awvalid,
    output logic      s_axil_awready,
    input  wire logic [31:0] s_axil_wdata,
    input  wire logic s_axil_wvalid,
    output logic      s_axil_wready,
    output logic      [1:0] s_axil_bresp,
    output logic      s_axil_bvalid,
    input  wire logic s_axil_bready,
    input  wire logic [31:0] s_axil_araddr,
    input  wire logic s_axil_arvalid,
    output logic      s_axil_arready,
    output logic      [31:0] s_axil_rdata,
    output logic      [1:0] s_axil_rresp,
    output logic      s_axil_rvalid,
    input  wire logic s_axil_rready,

    input  wire logic [Ports:0] rx_clk,
    input  wire logic [Ports:0] rx_rst_in,
    input  wire logic [Ports:0] mac_rx_tvalid,
    output logic      [Ports:0] mac_rx_tready,  // of a MAC always 1
    input  wire logic [512*Ports+511:0] mac_rx_tdata,
    input  wire logic [64*Ports+63:0] mac_rx_tkeep,
    input  wire logic [Ports:0] mac_rx_tlast,
    input  wire logic [Ports:0] mac_rx_tuser,   // with the last beat: the frame is bad
    input  wire logic [Ports:0] tx_clk,
    input  wire logic [Ports:0] tx_rst_in,
    output logic      [Ports:0] mac_tx_tvalid,
    output logic      [512*Ports+511:0] mac_tx_tdata,
    output logic      [64*Ports+63:0] mac_tx_tkeep,
    output logic      [Ports:0] mac_tx_tlast,
    output logic      [Ports:0] mac_tx_tuser,   // with the last beat: the MAC sends the frame as bad
    input  wire logic [Ports:0] mac_tx_tready,

    // AXI4 with one ID, and bursts as of axi_if.sv
    input  wire logic [MemoryPorts-1:0] mem_clk,
    input  wire logic [MemoryPorts-1:0] mem_rst_in,
    output logic      [MemoryPorts*40-1:0] m_axi_mem_awaddr,
    output logic      [MemoryPorts*8-1:0] m_axi_mem_awlen,
    output logic      [MemoryPorts-1:0] m_axi_mem_awvalid,
    input  wire logic [MemoryPorts-1:0] m_axi_mem_awready,
    output logic      [MemoryPorts*512-1:0] m_axi_mem_wdata,
    output logic      [MemoryPorts*64-1:0] m_axi_mem_wstrb,
    output logic      [MemoryPorts-1:0] m_axi_mem_wlast,
    output logic      [MemoryPorts-1:0] m_axi_mem_wvalid,
    input  wire logic [MemoryPorts-1:0] m_axi_mem_wready,
    input  wire logic [MemoryPorts*2-1:0] m_axi_mem_bresp,
    input  wire logic [MemoryPorts-1:0] m_axi_mem_bvalid,
    output logic      [MemoryPorts-1:0] m_axi_mem_bready,
    output logic      [MemoryPorts*40-1:0] m_axi_mem_araddr,
    output logic      [MemoryPorts*8-1:0] m_axi_mem_arlen,
    output logic      [MemoryPorts-1:0] m_axi_mem_arvalid,
    input  wire logic [MemoryPorts-1:0] m_axi_mem_arready,
    input  wire logic [MemoryPorts*512-1:0] m_axi_mem_rdata,
    input  wire logic [MemoryPorts*2-1:0] m_axi_mem_rresp,
    input  wire logic [MemoryPorts-1:0] m_axi_mem_rlast,
    input  wire logic [MemoryPorts-1:0] m_axi_mem_rvalid,
    output logic      [MemoryPorts-1:0] m_axi_mem_rready
);
  localparam int unsigned W = 8 * PortBytes;

  // Resets: the shell's, and the host's
  logic card_reset, card_own_rst, axil_cross_rst, axil_clear, card_cross_rst, card_clear;
  reset_bridge i_axil_rst (
      .clk(axil_clk),
      .rst_in(axil_rst_in),
      .rst(axil_rst)
  );
  reset_bridge i_card_rst (
      .clk(card_clk),
      .rst_in(card_rst_in || card_reset || (Memory && mem_rst_in != '0)),
      .rst(card_own_rst)
  );
  reset_pair i_bar_resets (
      .a_clk(axil_clk),
      .a_rst_in(axil_rst),
      .a_rst(axil_cross_rst),
      .a_clear(axil_clear),
      .b_clk(card_clk),
      .b_rst_in(card_own_rst),
      .b_rst(card_cross_rst),
      .b_clear(card_clear)
  );
  wire card_rst = card_own_rst;
`ifdef PENSTOCK_SPLIT
  assign unit_rst = card_rst;
`endif

  // Ports and the host's stream
  logic [Ports*W-1:0] rx_tdata, tx_tdata;
  logic [Ports*PortBytes-1:0] rx_tkeep, tx_tkeep;
  logic [Ports-1:0] rx_tvalid, rx_tlast, rx_tuser, tx_tvalid, tx_tlast, tx_tready;
  logic [8*BeatBytes-1:0] host_rx_tdata, host_tx_tdata;
  logic [BeatBytes-1:0] host_rx_tkeep, host_tx_tkeep;
  logic host_rx_tvalid, host_rx_tlast, host_rx_tuser, host_rx_tready, host_tx_tvalid, host_tx_tlast, host_tx_tready;
  port_t host_tx_src;
  logic [31:0] host_tx_mark;
  time_t host_tx_timestamp;
  logic [Ports:0] port_up;
  logic [31:0] rx_lost[Ports+1], tx_lost[Ports+1];
  for (genvar p = 0; p <= Ports; p++) begin : gen_port
    axis_if rx ();
    axis_if tx ();
    logic rx_own_rst, rx_mac_rst, rx_mac_clear, rx_rst, rx_clear, rx_lost_one;
    logic tx_own_rst, tx_mac_rst, tx_mac_clear, tx_rst, tx_clear, tx_lost_one;
    reset_bridge i_rx_rst (
        .clk(rx_clk[p]),
        .rst_in(rx_rst_in[p]),
        .rst(rx_own_rst)
    );
    reset_pair i_rx_resets (
        .a_clk(rx_clk[p]),
        .a_rst_in(rx_own_rst),
        .a_rst(rx_mac_rst),
        .a_clear(rx_mac_clear),
        .b_clk(card_clk),
        .b_rst_in(card_own_rst),
        .b_rst(rx_rst),
        .b_clear(rx_clear)
    );
    reset_bridge i_tx_rst (
        .clk(tx_clk[p]),
        .rst_in(tx_rst_in[p]),
        .rst(tx_own_rst)
    );
    reset_pair i_tx_resets (
        .a_clk(tx_clk[p]),
        .a_rst_in(tx_own_rst),
        .a_rst(tx_mac_rst),
        .a_clear(tx_mac_clear),
        .b_clk(card_clk),
        .b_rst_in(card_own_rst),
        .b_rst(tx_rst),
        .b_clear(tx_clear)
    );
    mac_rx #(
        .Waits(p == Ports)
    ) i_rx (
        .mac_clk(rx_clk[p]),
        .mac_own_rst(rx_own_rst),
        .mac_rst(rx_mac_rst),
        .mac_clear(rx_mac_clear),
        .mac_tvalid(mac_rx_tvalid[p]),
        .mac_tready(mac_rx_tready[p]),
        .mac_tdata(mac_rx_tdata[p*512+:512]),
        .mac_tkeep(mac_rx_tkeep[p*64+:64]),
        .mac_tlast(mac_rx_tlast[p]),
        .mac_tuser(mac_rx_tuser[p]),
        .lost(rx_lost_one),
        .clk(card_clk),
        .own_rst(card_own_rst),
        .rst(rx_rst),
        .clear(rx_clear),
        .rx(rx)
    );
    mac_tx i_tx (
        .clk(card_clk),
        .own_rst(card_own_rst),
        .rst(tx_rst),
        .clear(tx_clear),
        .tx(tx),
        .lost(tx_lost_one),
        .mac_clk(tx_clk[p]),
        .mac_own_rst(tx_own_rst),
        .mac_rst(tx_mac_rst),
        .mac_clear(tx_mac_clear),
        .mac_tvalid(mac_tx_tvalid[p]),
        .mac_tdata(mac_tx_tdata[p*512+:512]),
        .mac_tkeep(mac_tx_tkeep[p*64+:64]),
        .mac_tlast(mac_tx_tlast[p]),
        .mac_tuser(mac_tx_tuser[p]),
        .mac_tready(mac_tx_tready[p])
    );
    cross_count i_rx_lost (
        .src_clk(rx_clk[p]),
        .src_rst(rx_own_rst),
        .event_in(rx_lost_one),
        .clk(axil_clk),
        .rst(axil_rst),
        .count(rx_lost[p])
    );
    cross_count i_tx_lost (
        .src_clk(card_clk),
        .src_rst(card_own_rst),
        .event_in(tx_lost_one),
        .clk(axil_clk),
        .rst(axil_rst),
        .count(tx_lost[p])
    );
    sync_bits i_up (
        .src_clk(card_clk),
        .src_rst(1'b0),
        .d(!(rx_rst || tx_rst)),
        .clk(axil_clk),
        .rst(axil_rst),
        .q(port_up[p])
    );
    if (p < Ports) begin : gen_mac
      assign rx_tdata[p*W+:W] = rx.tdata;
      assign rx_tkeep[p*PortBytes+:PortBytes] = rx.tkeep;
      assign rx_tvalid[p] = rx.tvalid;
      assign rx_tlast[p] = rx.tlast;
      assign rx_tuser[p] = rx.tuser;
      assign rx.tready = 1'b1;
      assign tx.tdata = tx_tdata[p*W+:W];
      assign tx.tkeep = tx_tkeep[p*PortBytes+:PortBytes];
      assign tx.tvalid = tx_tvalid[p];
      assign tx.tlast = tx_tlast[p];
      assign tx.tuser = 1'b0;
      assign tx_tready[p] = tx.tready;
    end else begin : gen_host
      axis_if #(.Bytes(BeatBytes)) from_host ();
      axis_if #(.Bytes(BeatBytes)) to_host ();
      axis_if #(.Bytes(BeatBytes)) marked ();
      rows_to_beats i_beats (
          .clk(card_clk),
          .rst(card_own_rst),
          .rx(rx),
          .tx(from_host)
      );
      assign host_rx_tdata = from_host.tdata;
      assign host_rx_tkeep = from_host.tkeep;
      assign host_rx_tvalid = from_host.tvalid;
      assign host_rx_tlast = from_host.tlast;
      assign host_rx_tuser = from_host.tuser;
      assign from_host.tready = host_rx_tready;
      assign to_host.tdata = host_tx_tdata;
      assign to_host.tkeep = host_tx_tkeep;
      assign to_host.tvalid = host_tx_tvalid;
      assign to_host.tlast = host_tx_tlast;
      assign to_host.tuser = 1'b0;
      assign host_tx_tready = to_host.tready;
      host_mark i_mark (
          .clk(card_clk),
          .rst(card_own_rst),
          .rx(to_host),
          .source(host_tx_src),
          .mark(host_tx_mark),
          .timestamp(host_tx_timestamp),
          .tx(marked)
      );
      beats_to_rows i_rows (
          .clk(card_clk),
          .rst(card_own_rst),
          .rx(marked),
          .tx(tx)
      );
    end
  end

  // Registers
  logic [31:0] awaddr, wdata, araddr, rdata;
  logic [3:0] wstrb;
  logic [1:0] bresp, rresp;
  logic awvalid, awready, wvalid, wready, bvalid, bready, arvalid, arready, rvalid, rready;
  bar_front #(
      .Streams(Ports + 1),
      .Shell(Shell),
      .Shape({8'd0, 8'(Blocks), 8'(Units), 8'(Ports)})
  ) i_bar (
      .clk(axil_clk),
      .own_rst(axil_rst),
      .rst(axil_cross_rst),
      .clear(axil_clear),
`ifdef PENSTOCK_SPLIT
      .design_hash,
`else
      .design_hash(Design),
`endif
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
      .card_reset,
      .port_up,
      .rx_lost,
      .tx_lost,
      .card_clk,
      .card_rst(card_cross_rst),
      .card_clear,
      .m_axil_awaddr(awaddr),
      .m_axil_awvalid(awvalid),
      .m_axil_awready(awready),
      .m_axil_wdata(wdata),
      .m_axil_wstrb(wstrb),
      .m_axil_wvalid(wvalid),
      .m_axil_wready(wready),
      .m_axil_bresp(bresp),
      .m_axil_bvalid(bvalid),
      .m_axil_bready(bready),
      .m_axil_araddr(araddr),
      .m_axil_arvalid(arvalid),
      .m_axil_arready(arready),
      .m_axil_rdata(rdata),
      .m_axil_rresp(rresp),
      .m_axil_rvalid(rvalid),
      .m_axil_rready(rready)
  );

  // Host memory, which is not there
  logic [0:0] m_axi_awid, m_axi_bid, m_axi_arid, m_axi_rid;
  logic [7:0] m_axi_arlen;
  logic [1:0] m_axi_bresp, m_axi_rresp;
  logic m_axi_awvalid, m_axi_awready, m_axi_wlast, m_axi_wvalid, m_axi_wready;
  logic m_axi_bvalid, m_axi_bready;
  logic m_axi_arvalid, m_axi_arready, m_axi_rlast, m_axi_rvalid, m_axi_rready;
  axi_none #(
      .IdW(1)
  ) i_no_host (
      .clk(card_clk),
      .rst(card_rst),
      .awid(m_axi_awid),
      .awvalid(m_axi_awvalid),
      .awready(m_axi_awready),
      .wlast(m_axi_wlast),
      .wvalid(m_axi_wvalid),
      .wready(m_axi_wready),
      .bid(m_axi_bid),
      .bresp(m_axi_bresp),
      .bvalid(m_axi_bvalid),
      .bready(m_axi_bready),
      .arid(m_axi_arid),
      .arlen(m_axi_arlen),
      .arvalid(m_axi_arvalid),
      .arready(m_axi_arready),
      .rid(m_axi_rid),
      .rresp(m_axi_rresp),
      .rlast(m_axi_rlast),
      .rvalid(m_axi_rvalid),
      .rready(m_axi_rready)
  );
  // Card memory
  axi_if #(.ID_W(9)) channel[CardChannels] ();
  logic [CardChannels-1:0][8:0] channel_awid, channel_bid, channel_arid, channel_rid;
  logic [CardChannels-1:0][39:0] channel_awaddr, channel_araddr;
  logic [CardChannels-1:0][7:0] channel_awlen, channel_arlen;
  logic [CardChannels-1:0][DataW-1:0] channel_wdata, channel_rdata;
  logic [CardChannels-1:0][BeatBytes-1:0] channel_wstrb;
  logic [CardChannels-1:0][1:0] channel_bresp, channel_rresp;
  logic [CardChannels-1:0] channel_awvalid, channel_awready, channel_wlast, channel_wvalid, channel_wready;
  logic [CardChannels-1:0] channel_bvalid, channel_bready;
  logic [CardChannels-1:0] channel_arvalid, channel_arready, channel_rlast, channel_rvalid, channel_rready;
  for (genvar c = 0; c < int'(CardChannels); c++) begin : gen_channel
    assign channel[c].awid = channel_awid[c];
    assign channel[c].awaddr = channel_awaddr[c];
    assign channel[c].awlen = channel_awlen[c];
    assign channel[c].awvalid = channel_awvalid[c];
    assign channel_awready[c] = channel[c].awready;
    assign channel[c].wdata = channel_wdata[c];
    assign channel[c].wstrb = channel_wstrb[c];
    assign channel[c].wlast = channel_wlast[c];
    assign channel[c].wvalid = channel_wvalid[c];
    assign channel_wready[c] = channel[c].wready;
    assign channel_bid[c] = channel[c].bid;
    assign channel_bresp[c] = channel[c].bresp;
    assign channel_bvalid[c] = channel[c].bvalid;
    assign channel[c].bready = channel_bready[c];
    assign channel[c].arid = channel_arid[c];
    assign channel[c].araddr = channel_araddr[c];
    assign channel[c].arlen = channel_arlen[c];
    assign channel[c].arvalid = channel_arvalid[c];
    assign channel_arready[c] = channel[c].arready;
    assign channel_rid[c] = channel[c].rid;
    assign channel_rdata[c] = channel[c].rdata;
    assign channel_rresp[c] = channel[c].rresp;
    assign channel_rlast[c] = channel[c].rlast;
    assign channel_rvalid[c] = channel[c].rvalid;
    assign channel[c].rready = channel_rready[c];
  end
  if (Memory) begin : gen_memory
    axi_if #(.ID_W(1)) mem[MemoryPorts] ();
    card_memory #(
        .Ports(MemoryPorts)
    ) i_memory (
        .clk(card_clk),
        .rst(card_rst),
        .channel(channel),
        .mem_clk,
        .mem_rst_in,
        .mem(mem)
    );
    for (genvar m = 0; m < int'(MemoryPorts); m++) begin : gen_mem
      assign m_axi_mem_awaddr[m*40+:40] = mem[m].awaddr;
      assign m_axi_mem_awlen[m*8+:8] = mem[m].awlen;
      assign m_axi_mem_awvalid[m] = mem[m].awvalid;
      assign mem[m].awready = m_axi_mem_awready[m];
      assign m_axi_mem_wdata[m*512+:512] = mem[m].wdata;
      assign m_axi_mem_wstrb[m*64+:64] = mem[m].wstrb;
      assign m_axi_mem_wlast[m] = mem[m].wlast;
      assign m_axi_mem_wvalid[m] = mem[m].wvalid;
      assign mem[m].wready = m_axi_mem_wready[m];
      assign mem[m].bresp = m_axi_mem_bresp[m*2+:2];
      assign mem[m].bvalid = m_axi_mem_bvalid[m];
      assign m_axi_mem_bready[m] = mem[m].bready;
      assign m_axi_mem_araddr[m*40+:40] = mem[m].araddr;
      assign m_axi_mem_arlen[m*8+:8] = mem[m].arlen;
      assign m_axi_mem_arvalid[m] = mem[m].arvalid;
      assign mem[m].arready = m_axi_mem_arready[m];
      assign mem[m].rdata = m_axi_mem_rdata[m*512+:512];
      assign mem[m].rresp = m_axi_mem_rresp[m*2+:2];
      assign mem[m].rlast = m_axi_mem_rlast[m];
      assign mem[m].rvalid = m_axi_mem_rvalid[m];
      assign m_axi_mem_rready[m] = mem[m].rready;
      assign mem[m].bid = '0;
      assign mem[m].rid = '0;
    end
  end else begin : gen_no_memory
    assign m_axi_mem_awaddr = '0;
    assign m_axi_mem_awlen = '0;
    assign m_axi_mem_awvalid = '0;
    assign m_axi_mem_wdata = '0;
    assign m_axi_mem_wstrb = '0;
    assign m_axi_mem_wlast = '0;
    assign m_axi_mem_wvalid = '0;
    assign m_axi_mem_bready = '0;
    assign m_axi_mem_araddr = '0;
    assign m_axi_mem_arlen = '0;
    assign m_axi_mem_arvalid = '0;
    assign m_axi_mem_rready = '0;
    for (genvar c = 0; c < int'(CardChannels); c++) begin : gen_none
      axi_none #(
          .IdW(9)
      ) i_none (
          .clk(card_clk),
          .rst(card_rst),
          .awid(channel[c].awid),
          .awvalid(channel[c].awvalid),
          .awready(channel[c].awready),
          .wlast(channel[c].wlast),
          .wvalid(channel[c].wvalid),
          .wready(channel[c].wready),
          .bid(channel[c].bid),
          .bresp(channel[c].bresp),
          .bvalid(channel[c].bvalid),
          .bready(channel[c].bready),
          .arid(channel[c].arid),
          .arlen(channel[c].arlen),
          .arvalid(channel[c].arvalid),
          .arready(channel[c].arready),
          .rid(channel[c].rid),
          .rresp(channel[c].rresp),
          .rlast(channel[c].rlast),
          .rvalid(channel[c].rvalid),
          .rready(channel[c].rready)
      );
      assign channel[c].rdata = '0;
    end
  end

  card_top #(
      .Ports(Ports),
      .Units(Units),
      .IngressDepth(IngressDepth),
      .Blocks(Blocks),
      .MapRows(MapRows),
      .Stages(Stages),
      .BlockEngine(BlockEngine),
      .BlockParam(BlockParam),
      .Engine(Engine),
      .UnitParam(UnitParam)
  ) i_card (
      .clk(card_clk),
      .rst(card_rst),
`ifdef PENSTOCK_SPLIT
      .to_unit,
      .from_unit,
`endif
      .rx_tdata,
      .rx_tkeep,
      .rx_tvalid,
      .rx_tlast,
      .rx_tuser,
      .rx_pause(),
      .tx_tdata,
      .tx_tkeep,
      .tx_tvalid,
      .tx_tlast,
      .tx_tready,
      .tx_src(),
      .tx_timestamp(),
      .host_rx_tdata,
      .host_rx_tkeep,
      .host_rx_tvalid,
      .host_rx_tlast,
      .host_rx_tuser,
      .host_rx_tready,
      .host_tx_tdata,
      .host_tx_tkeep,
      .host_tx_tvalid,
      .host_tx_tlast,
      .host_tx_tready,
      .host_tx_src,
      .host_tx_mark,
      .host_tx_timestamp,
      .m_axi_awid(m_axi_awid),
      .m_axi_awaddr(),
      .m_axi_awlen(),
      .m_axi_awsize(),
      .m_axi_awburst(),
      .m_axi_awcache(),
      .m_axi_awprot(),
      .m_axi_awvalid(m_axi_awvalid),
      .m_axi_awready(m_axi_awready),
      .m_axi_wdata(),
      .m_axi_wstrb(),
      .m_axi_wlast(m_axi_wlast),
      .m_axi_wvalid(m_axi_wvalid),
      .m_axi_wready(m_axi_wready),
      .m_axi_bid(m_axi_bid),
      .m_axi_bresp(m_axi_bresp),
      .m_axi_bvalid(m_axi_bvalid),
      .m_axi_bready(m_axi_bready),
      .m_axi_arid(m_axi_arid),
      .m_axi_araddr(),
      .m_axi_arlen(m_axi_arlen),
      .m_axi_arsize(),
      .m_axi_arburst(),
      .m_axi_arcache(),
      .m_axi_arprot(),
      .m_axi_arvalid(m_axi_arvalid),
      .m_axi_arready(m_axi_arready),
      .m_axi_rid(m_axi_rid),
      .m_axi_rdata('0),
      .m_axi_rresp(m_axi_rresp),
      .m_axi_rlast(m_axi_rlast),
      .m_axi_rvalid(m_axi_rvalid),
      .m_axi_rready(m_axi_rready),
      .m_axi_mem_awid(channel_awid),
      .m_axi_mem_awaddr(channel_awaddr),
      .m_axi_mem_awlen(channel_awlen),
      .m_axi_mem_awvalid(channel_awvalid),
      .m_axi_mem_awready(channel_awready),
      .m_axi_mem_wdata(channel_wdata),
      .m_axi_mem_wstrb(channel_wstrb),
      .m_axi_mem_wlast(channel_wlast),
      .m_axi_mem_wvalid(channel_wvalid),
      .m_axi_mem_wready(channel_wready),
      .m_axi_mem_bid(channel_bid),
      .m_axi_mem_bresp(channel_bresp),
      .m_axi_mem_bvalid(channel_bvalid),
      .m_axi_mem_bready(channel_bready),
      .m_axi_mem_arid(channel_arid),
      .m_axi_mem_araddr(channel_araddr),
      .m_axi_mem_arlen(channel_arlen),
      .m_axi_mem_arvalid(channel_arvalid),
      .m_axi_mem_arready(channel_arready),
      .m_axi_mem_rid(channel_rid),
      .m_axi_mem_rdata(channel_rdata),
      .m_axi_mem_rresp(channel_rresp),
      .m_axi_mem_rlast(channel_rlast),
      .m_axi_mem_rvalid(channel_rvalid),
      .m_axi_mem_rready(channel_rready),
      .m_axi_mem_awsize(),
      .m_axi_mem_awburst(),
      .m_axi_mem_awcache(),
      .m_axi_mem_awprot(),
      .m_axi_mem_arsize(),
      .m_axi_mem_arburst(),
      .m_axi_mem_arcache(),
      .m_axi_mem_arprot(),
      .s_axil_awaddr(awaddr),
      .s_axil_awvalid(awvalid),
      .s_axil_awready(awready),
      .s_axil_wdata(wdata),
      .s_axil_wstrb(wstrb),
      .s_axil_wvalid(wvalid),
      .s_axil_wready(wready),
      .s_axil_bresp(bresp),
      .s_axil_bvalid(bvalid),
      .s_axil_bready(bready),
      .s_axil_araddr(araddr),
      .s_axil_arvalid(arvalid),
      .s_axil_arready(arready),
      .s_axil_rdata(rdata),
      .s_axil_rresp(rresp),
      .s_axil_rvalid(rvalid),
      .s_axil_rready(rready)
  );
endmodule

`default_nettype wire
