// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// Ends the bursts that a memory has begun when the card behind a crossing is reset. A memory that waits for the rest of
// a write, or for its answers to be taken, would otherwise stand still for ever.
//
//   from ─> address register, beats left ─> data register ─> to
//           1                               2
//   from <───────────────────────────────────── to
//
// While `rst` is up, requests in the registers go on to the memory, the missing beats of a write have no strobes, and
// answers are dropped. `hold` keeps the crossing in its reset until the last answer has come, so the card meets no
// answer to a request from before.
//
// The data of a write begin after its address has been taken from the crossing. A write of n beats takes n + 1 cycles,
// a read one.
module axi_finish #(
    parameter int unsigned Bursts = 64  // reads and writes each that may be without an answer; a power of two
) (
    input wire logic clk,
    input wire logic own_rst,  // of the memory: it has forgotten all requests
    input wire logic rst,      // of the crossing
    output logic     hold,     // for the reset of the crossing
    axi_if.sub       from,
    axi_if.mgr       to
);
  localparam int unsigned AddrW = from.ADDR_W;
  localparam int unsigned DataW = from.DATA_W;
  localparam int unsigned IdW = from.ID_W;
  localparam int unsigned CountW = $clog2(Bursts) + 1;

  typedef struct packed {
    logic [IdW-1:0] id;
    logic [AddrW-1:0] addr;
    logic [7:0] len;
  } burst_t;

  // Writes
  burst_t write_q;
  logic write_valid_q, beat_valid_q, beat_last_q, write_take, beat_free, beat_load;
  logic [DataW-1:0] data_q;
  logic [DataW/8-1:0] strb_q;
  logic [8:0] left_q;  // beats that have not reached the data register
  logic [CountW-1:0] writes_q, reads_q;  // bursts without an answer
  assign from.awready = !rst && (!write_valid_q || to.awready) && left_q == '0 && writes_q != CountW'(Bursts);
  assign write_take = from.awvalid && from.awready;
  assign beat_free = !beat_valid_q || to.wready;
  assign beat_load = beat_free && left_q != '0 && (from.wvalid || rst);
  assign from.wready = beat_free && left_q != '0 && !rst;
  always_ff @(posedge clk) begin
    if (to.awready) write_valid_q <= 1'b0;
    if (write_take) begin
      write_valid_q <= 1'b1;
      write_q <= '{id: from.awid, addr: from.awaddr, len: from.awlen};
      left_q <= 9'(from.awlen) + 1'b1;
    end
    if (beat_free) beat_valid_q <= beat_load;
    if (beat_load) begin
      data_q <= from.wdata;
      strb_q <= rst ? '0 : from.wstrb;
      beat_last_q <= left_q == 9'd1;
      left_q <= left_q - 1'b1;
    end
    if (own_rst) begin
      write_valid_q <= 1'b0;
      beat_valid_q  <= 1'b0;
      left_q        <= '0;
    end
  end
  assign to.awid = write_q.id;
  assign to.awaddr = write_q.addr;
  assign to.awlen = write_q.len;
  assign to.awvalid = write_valid_q;
  assign to.wdata = data_q;
  assign to.wstrb = strb_q;
  assign to.wlast = beat_last_q;
  assign to.wvalid = beat_valid_q;

  // Reads
  burst_t read_q;
  logic read_valid_q, read_take;
  assign from.arready = !rst && (!read_valid_q || to.arready) && reads_q != CountW'(Bursts);
  assign read_take = from.arvalid && from.arready;
  always_ff @(posedge clk) begin
    if (to.arready) read_valid_q <= 1'b0;
    if (read_take) begin
      read_valid_q <= 1'b1;
      read_q <= '{id: from.arid, addr: from.araddr, len: from.arlen};
    end
    if (own_rst) read_valid_q <= 1'b0;
  end
  assign to.arid = read_q.id;
  assign to.araddr = read_q.addr;
  assign to.arlen = read_q.len;
  assign to.arvalid = read_valid_q;

  // Answers
  assign from.bid = to.bid;
  assign from.bresp = to.bresp;
  assign from.bvalid = to.bvalid && !rst;
  assign to.bready = from.bready || rst;
  assign from.rid = to.rid;
  assign from.rdata = to.rdata;
  assign from.rresp = to.rresp;
  assign from.rlast = to.rlast;
  assign from.rvalid = to.rvalid && !rst;
  assign to.rready = from.rready || rst;
  always_ff @(posedge clk) begin
    writes_q <= writes_q + CountW'(write_take) - CountW'(to.bvalid && to.bready);
    reads_q <= reads_q + CountW'(read_take) - CountW'(to.rvalid && to.rready && to.rlast);
    hold <= rst && (writes_q != '0 || reads_q != '0);
    if (own_rst) begin
      writes_q <= '0;
      reads_q  <= '0;
      hold     <= 1'b0;
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk)
    if (!own_rst && !rst)
      assert (!beat_load || from.wlast == (left_q == 9'd1)) else $error("%m: `wlast` does not fit the length");
`endif
endmodule

`default_nettype wire
