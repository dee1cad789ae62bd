// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// Takes an axi_if from one clock to another: a queue for each of its five channels.
//
//   from ─┬─> addresses of writes ─┆─┬─> to
//         ├─> data of writes ──────┆─┤
//         ├─> addresses of reads ──┆─┤
//         ├─<─ data of reads <─────┆─┤
//         └─<─ answers to writes <─┆─┘
//
// The manager asks for no more answers than the queues have room for (axi_one_id.sv), so `rready` and `bready` are up
// whenever an answer comes. In a reset the queues lose their words: axi_finish then ends the bursts that have begun.
// Both resets come together (reset_pair).
module axi_cross #(
    parameter int unsigned Bursts = 64,  // addresses, and answers to writes
    parameter int unsigned Beats = 512   // beats of data each way
) (
    input wire logic clk,
    input wire logic rst,
    input wire logic clear,
    axi_if.sub       from,
    input wire logic mem_clk,
    input wire logic mem_rst,
    input wire logic mem_clear,
    axi_if.mgr       to
);
  localparam int unsigned IdW = from.ID_W;
  localparam int unsigned AddrW = from.ADDR_W;
  localparam int unsigned DataW = from.DATA_W;
  localparam int unsigned BurstW = IdW + AddrW + 8;

  fifo_async #(
      .Width(BurstW),
      .Depth(Bursts)
  ) i_aw (
      .wr_clk(clk),
      .wr_rst(rst),
      .wr_clear(clear),
      .push(from.awvalid && from.awready),
      .din({from.awid, from.awaddr, from.awlen}),
      .commit(from.awvalid && from.awready),
      .discard(1'b0),
      .ready(from.awready),
      .rd_clk(mem_clk),
      .rd_rst(mem_rst),
      .rd_clear(mem_clear),
      .valid(to.awvalid),
      .pop(to.awready),
      .dout({to.awid, to.awaddr, to.awlen}),
      .more()
  );
  fifo_async #(
      .Width(DataW + DataW / 8 + 1),
      .Depth(Beats)
  ) i_w (
      .wr_clk(clk),
      .wr_rst(rst),
      .wr_clear(clear),
      .push(from.wvalid && from.wready),
      .din({from.wdata, from.wstrb, from.wlast}),
      .commit(from.wvalid && from.wready),
      .discard(1'b0),
      .ready(from.wready),
      .rd_clk(mem_clk),
      .rd_rst(mem_rst),
      .rd_clear(mem_clear),
      .valid(to.wvalid),
      .pop(to.wready),
      .dout({to.wdata, to.wstrb, to.wlast}),
      .more()
  );
  fifo_async #(
      .Width(BurstW),
      .Depth(Bursts)
  ) i_ar (
      .wr_clk(clk),
      .wr_rst(rst),
      .wr_clear(clear),
      .push(from.arvalid && from.arready),
      .din({from.arid, from.araddr, from.arlen}),
      .commit(from.arvalid && from.arready),
      .discard(1'b0),
      .ready(from.arready),
      .rd_clk(mem_clk),
      .rd_rst(mem_rst),
      .rd_clear(mem_clear),
      .valid(to.arvalid),
      .pop(to.arready),
      .dout({to.arid, to.araddr, to.arlen}),
      .more()
  );
  fifo_async #(
      .Width(IdW + DataW + 3),
      .Depth(Beats)
  ) i_r (
      .wr_clk(mem_clk),
      .wr_rst(mem_rst),
      .wr_clear(mem_clear),
      .push(to.rvalid && to.rready),
      .din({to.rid, to.rdata, to.rresp, to.rlast}),
      .commit(to.rvalid && to.rready),
      .discard(1'b0),
      .ready(to.rready),
      .rd_clk(clk),
      .rd_rst(rst),
      .rd_clear(clear),
      .valid(from.rvalid),
      .pop(from.rready),
      .dout({from.rid, from.rdata, from.rresp, from.rlast}),
      .more()
  );
  fifo_async #(
      .Width(IdW + 2),
      .Depth(Bursts)
  ) i_b (
      .wr_clk(mem_clk),
      .wr_rst(mem_rst),
      .wr_clear(mem_clear),
      .push(to.bvalid && to.bready),
      .din({to.bid, to.bresp}),
      .commit(to.bvalid && to.bready),
      .discard(1'b0),
      .ready(to.bready),
      .rd_clk(clk),
      .rd_rst(rst),
      .rd_clear(clear),
      .valid(from.bvalid),
      .pop(from.bready),
      .dout({from.bid, from.bresp}),
      .more()
  );

`ifndef SYNTHESIS
  always_ff @(posedge mem_clk)
    if (!mem_rst) begin
      assert (!to.rvalid || to.rready) else $error("%m: no room for the data of a read");
      assert (!to.bvalid || to.bready) else $error("%m: no room for the answer to a write");
    end
`endif
endmodule

`default_nettype wire
