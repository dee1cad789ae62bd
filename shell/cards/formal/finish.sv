// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// The proof that the memory behind lib/axi_finish.sv, as it is, meets the rules of AXI through resets of the crossing:
// a request or a beat that is shown stands until it is taken, and each write gets as many beats as its address says, the
// last of them marked. That the crossing stays in its reset, by `hold`, until no burst is without an answer. And that
// the crossing meets only answers to requests that it has given since its last reset.
//
// Open are requests, beats, answers, and when each is taken, and when a reset comes.
//
// Taken for granted: the memory answers a request that it has taken, and a write after its last beat. The crossing's
// reset ends when `hold` is down, and not before its third cycle (reset_side.sv takes longer).
module finish (
    input wire logic       clk,
    input wire logic       any_reset,
    input wire logic       any_end,
    input wire logic [7:0] len,
    input wire logic [3:0] from_valid,   // addresses of writes, beats, addresses of reads; the beat's strobe
    input wire logic [2:0] taken,
    input wire logic [2:0] answer,       // to a write, to a read, and its last beat
    input wire logic [1:0] room
);
  localparam int unsigned Bursts = 2;
  axi_if #(.DATA_W(8), .ADDR_W(1), .ID_W(1)) from ();
  axi_if #(.DATA_W(8), .ADDR_W(1), .ID_W(1)) to ();

  logic started_q = 1'b0, hold;
  logic rst_q = 1'b1;
  logic [1:0] since_q = '0;  // cycles of the reset, up to 3
  always_ff @(posedge clk) begin
    started_q <= 1'b1;
    rst_q <= rst_q ? !(any_end && !hold && since_q == 2'd3) : any_reset;
    since_q <= !rst_q ? '0 : since_q == 2'd3 ? 2'd3 : since_q + 1'b1;
  end

  axi_finish #(
      .Bursts(Bursts)
  ) dut (
      .clk,
      .own_rst(!started_q),
      .rst(rst_q),
      .hold,
      .from(from),
      .to(to)
  );

  // The crossing. Bursts have up to four beats, so that their number is small.
  logic [2:0] beats_q;  // that it owes the burst that was taken
  assign from.awid = '0;
  assign from.awaddr = '0;
  assign from.awlen = {6'd0, len[1:0]};
  assign from.awvalid = from_valid[0];
  assign from.wdata = len;
  assign from.wstrb = from_valid[3];
  assign from.wlast = beats_q == 3'd1;
  assign from.wvalid = from_valid[1];
  assign from.bready = room[0];
  assign from.arid = '0;
  assign from.araddr = '0;
  assign from.arlen = {6'd0, len[3:2]};
  assign from.arvalid = from_valid[2];
  assign from.rready = room[1];

  // The memory
  logic [2:0] whole_q, asked_q, writes_q;  // writes with all beats, reads, and addresses of writes, without an answer
  assign to.awready = taken[0];
  assign to.wready = taken[1];
  assign to.arready = taken[2];
  assign to.bid = '0;
  assign to.bresp = '0;
  assign to.bvalid = answer[0] && whole_q != '0 && writes_q != '0;
  assign to.rid = '0;
  assign to.rdata = '0;
  assign to.rresp = '0;
  assign to.rlast = answer[2];
  assign to.rvalid = answer[1] && asked_q != '0;

  // Requests that the crossing has given since its last reset, without an answer
  logic [2:0] since_writes_q, since_reads_q;
  wire write_taken = from.awvalid && from.awready;
  wire read_taken = from.arvalid && from.arready;
  wire beat_given = to.wvalid && to.wready;
  wire wrote = to.bvalid && to.bready;
  wire has_read = to.rvalid && to.rready && to.rlast;
  always_ff @(posedge clk) begin
    beats_q <= write_taken ? {1'b0, len[1:0]} + 3'd1 : beats_q - 3'(dut.beat_load);
    whole_q <= whole_q + 3'(beat_given && to.wlast) - 3'(wrote);
    writes_q <= writes_q + 3'(to.awvalid && to.awready) - 3'(wrote);
    asked_q <= asked_q + 3'(to.arvalid && to.arready) - 3'(has_read);
    since_writes_q <= since_writes_q + 3'(write_taken) - 3'(from.bvalid && from.bready);
    since_reads_q <= since_reads_q + 3'(read_taken) - 3'(from.rvalid && from.rready && from.rlast);
    if (rst_q) {since_writes_q, since_reads_q} <= '0;
    if (!started_q) {beats_q, whole_q, writes_q, asked_q} <= '0;
  end

  // What was shown
  logic [2:0] shown_q;
  logic [7:0] awlen_q, arlen_q, wdata_q;
  logic wstrb_q, wlast_q;
  logic cut_q;  // a beat was made in a reset
  // Beats of the oldest write, and of the next one, that the memory has not taken
  logic [1:0][2:0] due_q, due;
  always_comb begin
    due = due_q;
    if (beat_given) due[0] = due_q[0] - 1'b1;
    if (due[0] == '0) due = {3'd0, due_q[1]};
    if (write_taken) due[due[0] != '0] = {1'b0, len[1:0]} + 3'd1;
  end
  always_ff @(posedge clk) begin
    shown_q <= {to.arvalid && !to.arready, to.wvalid && !to.wready, to.awvalid && !to.awready};
    {awlen_q, arlen_q, wdata_q, wstrb_q, wlast_q} <= {to.awlen, to.arlen, to.wdata, to.wstrb, to.wlast};
    if (dut.beat_free) cut_q <= dut.beat_load && rst_q;
    due_q <= due;
    if (!started_q) {shown_q, cut_q, due_q} <= '0;
  end

  always_comb
    if (started_q) begin
      assert (!shown_q[0] || (to.awvalid && to.awlen == awlen_q));
      assert (!shown_q[1] || (to.wvalid && {to.wdata, to.wstrb, to.wlast} == {wdata_q, wstrb_q, wlast_q}));
      assert (!shown_q[2] || (to.arvalid && to.arlen == arlen_q));
      // As many beats as the address says, and the last is marked
      assert (!to.wvalid || (due_q[0] != '0 && to.wlast == (due_q[0] == 3'd1)));
      assert (!rst_q || since_q < 2'd2 || hold || (dut.writes_q == '0 && dut.reads_q == '0));
      // An answer that passes belongs to a request since the reset.
      assert (!from.bvalid || since_writes_q != '0);
      assert (!from.rvalid || since_reads_q != '0);
      // Beats of a cut write change nothing.
      assert (!cut_q || (to.wvalid && to.wstrb == '0));

      // For the induction
      assert (3'(dut.writes_q) <= 3'(Bursts) && 3'(dut.reads_q) <= 3'(Bursts));
      assert (3'(dut.writes_q) == writes_q + 3'(to.awvalid));
      assert (3'(dut.reads_q) == asked_q + 3'(to.arvalid));
      assert (dut.left_q == 9'(beats_q) && beats_q <= 3'd4);
      assert (3'(dut.writes_q) == whole_q + 3'(dut.left_q != '0) + 3'(to.wvalid && dut.left_q == '0) + 3'(due_q[1] != '0));
      assert (due_q[1] == '0 || due_q[0] != '0);
      assert (due_q[0] == (due_q[1] != '0 ? 3'd1 : beats_q + 3'(to.wvalid)));
      assert (due_q[1] == '0 || (to.wvalid && due_q[1] == beats_q));
      assert (rst_q || (since_writes_q == 3'(dut.writes_q) && since_reads_q == 3'(dut.reads_q)));
      assert (whole_q <= 3'd2 && asked_q <= 3'd2 && writes_q <= 3'd2);
    end

`ifdef COVER
  always_comb begin
    cover (started_q && cut_q && to.wlast);                              // a reset has cut a write
    cover (started_q && rst_q && has_read && since_q == 2'd3);           // an answer in a reset
    cover (started_q && !rst_q && from.bvalid && dut.reads_q == 2'd2);
  end
`endif
endmodule

`default_nettype wire
