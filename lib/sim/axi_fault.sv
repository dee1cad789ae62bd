// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none
`ifndef SYNTHESIS

// Faults of card memory for simulations, between a manager and the model of a channel: bursts that fail, and a channel
// that stops.
//
//   from ─> requests ─> to
//   from <─ queue of answers <─ to
//           1 cycle
//
// The address of a burst decides whether it fails. Bursts have one ID, so answers come in the order of their bursts.
module axi_fault (
    input wire logic       clk,
    input wire logic       rst,
    input wire logic       fail_write,  // a write that begins now reaches no byte, and is answered with an error
    input wire logic [1:0] fail_read,   // the first and the last beat of a read that begins now are errors
    input wire logic       stop,        // neither requests nor answers move
    axi_if.sub             from,
    axi_if.mgr             to
);
  localparam int unsigned DataW = from.DATA_W;
  localparam int unsigned IdW = from.ID_W;
  localparam logic [1:0] SlvErr = 2'b10;

  typedef struct packed {
    logic [IdW-1:0] id;
    logic [1:0] resp;
  } written_t;

  typedef struct packed {
    logic [IdW-1:0] id;
    logic [1:0] resp;
    logic last;
    logic [DataW-1:0] data;
  } beat_t;

  logic fail_beats[$], fail_written[$];
  logic [1:0] fail_reads[$];
  written_t written[$];
  beat_t beats[$];
  logic failing_q, second_q;

  assign to.awid = from.awid;
  assign to.awaddr = from.awaddr;
  assign to.awlen = from.awlen;
  assign to.awvalid = from.awvalid && !stop;
  assign from.awready = to.awready && !stop;
  assign to.wdata = from.wdata;
  assign to.wstrb = failing_q ? '0 : from.wstrb;
  assign to.wlast = from.wlast;
  assign to.wvalid = from.wvalid && !stop;
  assign from.wready = to.wready && !stop;
  assign to.bready = 1'b1;
  assign to.arid = from.arid;
  assign to.araddr = from.araddr;
  assign to.arlen = from.arlen;
  assign to.arvalid = from.arvalid && !stop;
  assign from.arready = to.arready && !stop;
  assign to.rready = 1'b1;

  // verilog_lint: waive-start always-ff-non-blocking
  // verilator lint_off BLKSEQ
  always_ff @(posedge clk) begin
    if (to.awvalid && to.awready) begin
      fail_beats.push_back(fail_write);
      fail_written.push_back(fail_write);
    end
    if (to.wvalid && to.wready && to.wlast) void'(fail_beats.pop_front());
    failing_q <= fail_beats.size() != 0 ? fail_beats[0] : 1'b0;
    if (to.arvalid && to.arready) fail_reads.push_back(fail_read);

    if (to.bvalid) begin
      automatic logic fails = fail_written.pop_front();
      written.push_back('{id: to.bid, resp: fails ? SlvErr : to.bresp});
    end
    if (to.rvalid) begin
      automatic logic fails = (fail_reads[0][0] && !second_q) || (fail_reads[0][1] && to.rlast);
      beats.push_back('{
          id: to.rid,
          resp: fails ? SlvErr : to.rresp,
          last: to.rlast,
          data: fails ? ~to.rdata : to.rdata
      });
      second_q <= !to.rlast;
      if (to.rlast) void'(fail_reads.pop_front());
    end

    from.bvalid <= 1'b0;
    from.rvalid <= 1'b0;
    if (written.size() != 0 && !stop) begin
      automatic written_t one = written.pop_front();
      from.bvalid <= 1'b1;
      from.bid <= one.id;
      from.bresp <= one.resp;
    end
    if (beats.size() != 0 && !stop) begin
      automatic beat_t one = beats.pop_front();
      from.rvalid <= 1'b1;
      from.rid <= one.id;
      from.rdata <= one.data;
      from.rresp <= one.resp;
      from.rlast <= one.last;
    end
    if (rst) begin
      fail_beats.delete();
      fail_written.delete();
      fail_reads.delete();
      written.delete();
      beats.delete();
      failing_q <= 1'b0;
      second_q <= 1'b0;
      from.bvalid <= 1'b0;
      from.rvalid <= 1'b0;
    end
  end
  // verilator lint_on BLKSEQ
  // verilog_lint: waive-stop always-ff-non-blocking
endmodule

`endif

`default_nettype wire
