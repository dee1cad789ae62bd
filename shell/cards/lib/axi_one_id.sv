// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// Gives all requests one ID, for a memory with short IDs whose answers then come in order, and gives the answers the
// IDs of their requests again.
//
//   from ─> addresses, while there is room for their answers ─> to
//             └─> queue of IDs ─┐
//   from <─ answers with IDs <──┴── to
//                                   no cycle
//
// The queues on the way back (axi_cross.sv) have room for all answers: it asks for at most Beats beats of reads and
// Writes + 1 answers to writes at a time, as many as the queue of IDs holds.
module axi_one_id #(
    parameter int unsigned Reads = 64,
    parameter int unsigned Writes = 32,
    parameter int unsigned Beats = 512   // at least 256
) (
    input wire logic clk,
    input wire logic rst,
    axi_if.sub       from,
    axi_if.mgr       to    // its IDs are 0
);
  localparam int unsigned IdW = from.ID_W;
  localparam int unsigned CountW = $clog2(Beats) + 1;

  // Reads
  logic read_room, read_known, take_read, read_ends;
  logic [IdW-1:0] read_id;
  logic [CountW-1:0] asked_q;  // beats that have not come
  wire read_fits = asked_q <= CountW'(Beats) - CountW'(from.arlen) - 1'b1;
  assign take_read = from.arvalid && from.arready;
  assign read_ends = to.rvalid && to.rlast;
  assign to.arvalid = from.arvalid && read_room && read_fits;
  assign from.arready = to.arready && read_room && read_fits;
  assign to.arid = '0;
  assign to.araddr = from.araddr;
  assign to.arlen = from.arlen;
  fifo_dist #(
      .Width(IdW),
      .Depth(Reads)
  ) i_reads (
      .clk,
      .rst,
      .push(take_read),
      .din(from.arid),
      .ready(read_room),
      .valid(read_known),
      .pop(read_ends),
      .dout(read_id),
      .level()
  );
  always_ff @(posedge clk) begin
    asked_q <= asked_q + (take_read ? CountW'(from.arlen) + 1'b1 : '0) - CountW'(to.rvalid);
    if (rst) asked_q <= '0;
  end
  assign from.rvalid = to.rvalid && !rst;
  assign from.rid = read_id;
  assign from.rdata = to.rdata;
  assign from.rresp = to.rresp;
  assign from.rlast = to.rlast;
  assign to.rready = 1'b1;

  // Writes
  logic write_room, write_known, take_write;
  logic [IdW-1:0] write_id;
  assign take_write = from.awvalid && from.awready;
  assign to.awvalid = from.awvalid && write_room;
  assign from.awready = to.awready && write_room;
  assign to.awid = '0;
  assign to.awaddr = from.awaddr;
  assign to.awlen = from.awlen;
  assign to.wvalid = from.wvalid;
  assign from.wready = to.wready;
  assign to.wdata = from.wdata;
  assign to.wstrb = from.wstrb;
  assign to.wlast = from.wlast;
  fifo_dist #(
      .Width(IdW),
      .Depth(Writes)
  ) i_writes (
      .clk,
      .rst,
      .push(take_write),
      .din(from.awid),
      .ready(write_room),
      .valid(write_known),
      .pop(to.bvalid),
      .dout(write_id),
      .level()
  );
  assign from.bvalid = to.bvalid && !rst;
  assign from.bid = write_id;
  assign from.bresp = to.bresp;
  assign to.bready = 1'b1;

`ifndef SYNTHESIS
  always_ff @(posedge clk)
    if (!rst) begin
      assert (!to.rvalid || read_known) else $error("%m: data for no read");
      assert (!to.bvalid || write_known) else $error("%m: an answer to no write");
    end
`else
  logic unused;
  assign unused = read_known ^ write_known;
`endif
endmodule

`default_nettype wire
