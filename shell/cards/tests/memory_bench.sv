// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// The channels of card memory on two ports of a board's memory, each a model of DRAM on a clock of its own. Both ends are
// checked; the memory's end outlives resets of the card.
module memory_bench
  import penstock_pkg::*;
#(
    parameter int unsigned Ports = 2
) (
    input wire logic             clk,
    input wire logic             rst_in,
    output logic                 rst,
    input wire logic [Ports-1:0] mem_clk,
    input wire logic             mem_rst_in,

    input  wire logic [ CardChannels*4-1:0] awid,
    input  wire logic [CardChannels*40-1:0] awaddr,
    input  wire logic [ CardChannels*8-1:0] awlen,
    input  wire logic [   CardChannels-1:0] awvalid,
    output logic      [   CardChannels-1:0] awready,
    input  wire logic [CardChannels*512-1:0] wdata,
    input  wire logic [CardChannels*64-1:0] wstrb,
    input  wire logic [   CardChannels-1:0] wlast,
    input  wire logic [   CardChannels-1:0] wvalid,
    output logic      [   CardChannels-1:0] wready,
    output logic      [ CardChannels*4-1:0] bid,
    output logic      [ CardChannels*2-1:0] bresp,
    output logic      [   CardChannels-1:0] bvalid,
    input  wire logic [ CardChannels*4-1:0] arid,
    input  wire logic [CardChannels*40-1:0] araddr,
    input  wire logic [ CardChannels*8-1:0] arlen,
    input  wire logic [   CardChannels-1:0] arvalid,
    output logic      [   CardChannels-1:0] arready,
    output logic      [ CardChannels*4-1:0] rid,
    output logic      [CardChannels*512-1:0] rdata,
    output logic      [ CardChannels*2-1:0] rresp,
    output logic      [   CardChannels-1:0] rlast,
    output logic      [   CardChannels-1:0] rvalid,
    output logic      [   CardChannels-1:0] errors,

    // At the memories: addresses that they take, and requests that they have not answered
    output logic [Ports-1:0] mem_awvalid,
    output logic [Ports-1:0] mem_arvalid,
    output logic [Ports*40-1:0] mem_awaddr,
    output logic [Ports*40-1:0] mem_araddr,
    output logic [Ports-1:0] mem_open
);
  axi_if #(.ID_W(9)) channel[CardChannels] ();
  axi_if #(.ID_W(1)) mem[Ports] ();
  assign errors = '0;

  reset_bridge i_rst (
      .clk,
      .rst_in(rst_in || mem_rst_in),
      .rst
  );
  for (genvar c = 0; c < int'(CardChannels); c++) begin : gen_channel
    // All bits of an ID come back.
    assign channel[c].awid = {~awid[c*4], awid[c*4+:4], awid[c*4+:4]};
    assign channel[c].awaddr = awaddr[c*40+:40];
    assign channel[c].awlen = awlen[c*8+:8];
    assign channel[c].awvalid = awvalid[c];
    assign awready[c] = channel[c].awready;
    assign channel[c].wdata = wdata[c*512+:512];
    assign channel[c].wstrb = wstrb[c*64+:64];
    assign channel[c].wlast = wlast[c];
    assign channel[c].wvalid = wvalid[c];
    assign wready[c] = channel[c].wready;
    assign bid[c*4+:4] = channel[c].bid[3:0];
    assign bresp[c*2+:2] = channel[c].bresp;
    assign bvalid[c] = channel[c].bvalid;
    assign channel[c].bready = 1'b1;
    assign channel[c].arid = {~arid[c*4], arid[c*4+:4], arid[c*4+:4]};
    assign channel[c].araddr = araddr[c*40+:40];
    assign channel[c].arlen = arlen[c*8+:8];
    assign channel[c].arvalid = arvalid[c];
    assign arready[c] = channel[c].arready;
    assign rid[c*4+:4] = channel[c].rid[3:0];
    assign rdata[c*512+:512] = channel[c].rdata;
    assign rresp[c*2+:2] = channel[c].rresp;
    assign rlast[c] = channel[c].rlast;
    assign rvalid[c] = channel[c].rvalid;
    assign channel[c].rready = 1'b1;
    axi_check i_check (
        .clk,
        .rst,
        .link(channel[c])
    );
    always_ff @(posedge clk)
      if (!rst) begin
        assert (!rvalid[c] || channel[c].rid[8:4] == {~rid[c*4], rid[c*4+:4]}) else $error("%m: another ID of a read");
        assert (!bvalid[c] || channel[c].bid[8:4] == {~bid[c*4], bid[c*4+:4]}) else $error("%m: another ID of a write");
      end
  end

  card_memory #(
      .Ports(Ports)
  ) i_memory (
      .clk,
      .rst,
      .channel(channel),
      .mem_clk,
      .mem_rst_in({Ports{mem_rst_in}}),
      .mem(mem)
  );
  for (genvar p = 0; p < int'(Ports); p++) begin : gen_port
    logic mem_rst;
    int open_q;
    reset_bridge i_mem_rst (
        .clk(mem_clk[p]),
        .rst_in(mem_rst_in),
        .rst(mem_rst)
    );
    axi_memory #(
        .Bytes(64'd1 << 32)
    ) i_memory (
        .clk(mem_clk[p]),
        .rst(mem_rst),
        .link(mem[p])
    );
    axi_check i_check (
        .clk(mem_clk[p]),
        .rst(mem_rst),
        .link(mem[p])
    );
    always_ff @(posedge mem_clk[p]) begin
      open_q <= open_q + int'(mem[p].awvalid && mem[p].awready) + int'(mem[p].arvalid && mem[p].arready) -
          int'(mem[p].bvalid) - int'(mem[p].rvalid && mem[p].rlast);
      if (mem_rst) open_q <= 0;
      assert (mem_rst || !mem[p].awvalid || mem[p].awid == '0) else $error("%m: an ID of a write");
      assert (mem_rst || !mem[p].arvalid || mem[p].arid == '0) else $error("%m: an ID of a read");
    end
    assign mem_awvalid[p] = mem[p].awvalid && mem[p].awready;
    assign mem_arvalid[p] = mem[p].arvalid && mem[p].arready;
    assign mem_awaddr[p*40+:40] = mem[p].awaddr;
    assign mem_araddr[p*40+:40] = mem[p].araddr;
    assign mem_open[p] = open_q != 0;
  end
endmodule

`default_nettype wire
