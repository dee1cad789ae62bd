// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// Shares a channel of card memory between managers. Each has a range of its own, 2^RangeW bytes from its number times
// that on, and sees it from address 0 on; a burst that leaves the range is answered with an error, and reaches nothing.
//
//   managers ─> range check ─> one in turn ─> address register ─> channel
//                                             1
//   managers <─ by the number in the ID <─ answer register <─ channel
//                                          1
//
// One address a cycle for reads and one for writes; a beat a cycle each way. A write has the data path from its address
// to its last beat, so a manager sends a burst's beats without a gap, or others wait. Answers hold nobody: managers
// have room for them (axi_if.sv). A burst out of range waits until all answers to its manager have come, so that
// answers keep their order.
module axi_share #(
    parameter int unsigned Managers = 2,
    parameter int unsigned RangeW = 29,   // log2 of the bytes of a range
    parameter int unsigned MgrW = 3       // bits of a manager's number in IDs and addresses
) (
    input wire logic clk,
    input wire logic rst,
    axi_if.sub from[Managers],  // ID_W
    axi_if.mgr to,              // ID_W + MgrW
    output logic [Managers-1:0] error  // for one cycle: a burst of the manager was out of its range
);
  localparam int unsigned AddrW = to.ADDR_W;
  localparam int unsigned DataW = to.DATA_W;
  localparam int unsigned IdW = to.ID_W - MgrW;
  localparam int unsigned BeatW = $clog2(DataW / 8);
  localparam logic [1:0] SlvErr = 2'b10;

  typedef logic [MgrW-1:0] manager_t;
  typedef struct packed {
    logic [IdW-1:0] id;
    logic [AddrW-1:0] addr;
    logic [7:0] len;
  } burst_t;
  typedef struct packed {
    logic [DataW-1:0] data;
    logic [DataW/8-1:0] strb;
    logic last;
  } beat_t;

  // ---- what managers ask for
  burst_t reads[Managers], writes[Managers];
  beat_t beats[Managers];
  logic [Managers-1:0] read_valid, write_valid, beat_valid;
  logic [Managers-1:0] read_outside, write_outside, read_quiet, write_quiet;
  logic [Managers-1:0] take_read, take_write, take_beat;
  logic [Managers-1:0] read_fails_q, write_fails_q;  // an error is being answered

  function automatic logic is_outside(burst_t burst);
    return (AddrW + 1)'(burst.addr) + ((AddrW + 1)'(burst.len) << BeatW) >= (AddrW + 1)'(64'd1 << RangeW);
  endfunction

  // ---- answers
  logic r_valid_q, r_last_q, b_valid_q;
  logic [1:0] r_resp_q, b_resp_q;
  logic [IdW+MgrW-1:0] r_id_q, b_id_q;
  logic [DataW-1:0] r_data_q;
  wire manager_t r_manager = r_id_q[IdW+:MgrW];
  wire manager_t b_manager = b_id_q[IdW+:MgrW];
  assign to.rready = 1'b1;
  assign to.bready = 1'b1;
  always_ff @(posedge clk) begin
    r_valid_q <= to.rvalid && !rst;
    r_id_q <= to.rid;
    r_data_q <= to.rdata;
    r_resp_q <= to.rresp;
    r_last_q <= to.rlast;
    b_valid_q <= to.bvalid && !rst;
    b_id_q <= to.bid;
    b_resp_q <= to.bresp;
  end

  for (genvar m = 0; m < Managers; m++) begin : gen_manager
    logic [IdW-1:0] read_id_q, write_id_q;
    logic [7:0] read_left_q;
    logic write_ends_q;
    logic [9:0] open_reads_q, open_writes_q;
    wire r_here = r_valid_q && r_manager == manager_t'(m);
    wire b_here = b_valid_q && b_manager == manager_t'(m);

    assign reads[m] = '{id: from[m].arid, addr: from[m].araddr, len: from[m].arlen};
    assign writes[m] = '{id: from[m].awid, addr: from[m].awaddr, len: from[m].awlen};
    assign beats[m] = '{data: from[m].wdata, strb: from[m].wstrb, last: from[m].wlast};
    assign read_outside[m] = is_outside(reads[m]);
    assign write_outside[m] = is_outside(writes[m]);
    assign read_quiet[m] = open_reads_q == '0;
    assign write_quiet[m] = open_writes_q == '0;
    // The counters have room for all open requests.
    assign read_valid[m] = from[m].arvalid && !read_fails_q[m] && !open_reads_q[9];
    assign write_valid[m] = from[m].awvalid && !write_fails_q[m] && !open_writes_q[9];
    assign beat_valid[m] = from[m].wvalid;
    assign from[m].arready = take_read[m];
    assign from[m].awready = take_write[m];
    assign from[m].wready = take_beat[m];

    always_ff @(posedge clk) begin
      open_reads_q <= open_reads_q + 10'(take_read[m] && !read_outside[m]) - 10'(r_here && r_last_q);
      open_writes_q <= open_writes_q + 10'(take_write[m] && !write_outside[m]) - 10'(b_here);
      if (take_read[m] && read_outside[m]) begin
        read_fails_q[m] <= 1'b1;
        read_id_q <= reads[m].id;
        read_left_q <= reads[m].len;
      end else if (read_fails_q[m]) begin
        read_left_q <= read_left_q - 1'b1;
        if (read_left_q == '0) read_fails_q[m] <= 1'b0;
      end
      write_ends_q <= write_fails_q[m] && take_beat[m] && beats[m].last;
      if (take_write[m] && write_outside[m]) begin
        write_fails_q[m] <= 1'b1;
        write_id_q <= writes[m].id;
      end else if (write_ends_q) begin
        write_fails_q[m] <= 1'b0;
      end
      error[m] <= (take_read[m] && read_outside[m]) || (take_write[m] && write_outside[m]);
      if (rst) begin
        open_reads_q <= '0;
        open_writes_q <= '0;
        read_fails_q[m] <= 1'b0;
        write_fails_q[m] <= 1'b0;
        write_ends_q <= 1'b0;
        error[m] <= 1'b0;
      end
    end

    assign from[m].rvalid = r_here || read_fails_q[m];
    assign from[m].rid = read_fails_q[m] ? read_id_q : r_id_q[IdW-1:0];
    assign from[m].rdata = read_fails_q[m] ? '0 : r_data_q;
    assign from[m].rresp = read_fails_q[m] ? SlvErr : r_resp_q;
    assign from[m].rlast = read_fails_q[m] ? read_left_q == '0 : r_last_q;
    assign from[m].bvalid = b_here || write_ends_q;
    assign from[m].bid = write_ends_q ? write_id_q : b_id_q[IdW-1:0];
    assign from[m].bresp = write_ends_q ? SlvErr : b_resp_q;
  end

  // ---- the addresses of reads
  burst_t read_q;
  manager_t reader_q, reader;
  logic read_valid_q;
  logic [Managers-1:0] read_may, read_win;
  wire read_moves = !read_valid_q || to.arready;
  assign read_may = read_valid & (~read_outside | read_quiet);
  rr_arbiter #(
      .N(Managers)
  ) i_reads (
      .clk,
      .rst,
      .req(read_may),
      .accept(read_moves && read_may != '0),
      .grant(read_win)
  );
  always_comb begin
    reader = '0;
    for (int unsigned m = 0; m < Managers; m++) if (read_win[m]) reader = manager_t'(m);
    take_read = read_moves ? read_win : '0;
  end
  always_ff @(posedge clk) begin
    if (read_moves) begin
      read_valid_q <= (read_win & ~read_outside) != '0;
      read_q <= reads[32'(reader)%Managers];
      reader_q <= reader;
    end
    if (rst) read_valid_q <= 1'b0;
  end
  assign to.arvalid = read_valid_q;
  assign to.arid = {reader_q, read_q.id};
  assign to.araddr = AddrW'({reader_q, read_q.addr[RangeW-1:0]});
  assign to.arlen = read_q.len;

  // ---- the addresses and the data of writes
  burst_t write_q;
  beat_t beat_q;
  manager_t writer_q, writer, owner_q;
  // owned: the data of a write are on their way, `fails` out of range
  logic write_valid_q, beat_valid_q, owned_q, fails_q;
  logic [Managers-1:0] write_may, write_win;
  wire beat_moves = !beat_valid_q || to.wready;
  wire beat_taken = owned_q && beat_valid[32'(owner_q)%Managers] && (fails_q || beat_moves);
  wire ends = beat_taken && beats[32'(owner_q)%Managers].last;
  wire write_moves = (!write_valid_q || to.awready) && (!owned_q || ends);
  assign write_may = write_valid & (~write_outside | write_quiet);
  rr_arbiter #(
      .N(Managers)
  ) i_writes (
      .clk,
      .rst,
      .req(write_may),
      .accept(write_moves && write_may != '0),
      .grant(write_win)
  );
  always_comb begin
    writer = '0;
    take_beat = '0;
    for (int unsigned m = 0; m < Managers; m++) begin
      if (write_win[m]) writer = manager_t'(m);
      take_beat[m] = beat_taken && owner_q == manager_t'(m);
    end
    take_write = write_moves ? write_win : '0;
  end
  always_ff @(posedge clk) begin
    if (to.awready) write_valid_q <= 1'b0;
    if (ends) owned_q <= 1'b0;
    if (write_moves && write_win != '0) begin
      write_valid_q <= (write_win & write_outside) == '0;
      write_q <= writes[32'(writer)%Managers];
      writer_q <= writer;
      owner_q <= writer;
      owned_q <= 1'b1;
      fails_q <= (write_win & write_outside) != '0;
    end
    if (beat_moves) begin
      beat_valid_q <= beat_taken && !fails_q;
      beat_q <= beats[32'(owner_q)%Managers];
    end
    if (rst) begin
      write_valid_q <= 1'b0;
      owned_q <= 1'b0;
      beat_valid_q <= 1'b0;
    end
  end
  assign to.awvalid = write_valid_q;
  assign to.awid = {writer_q, write_q.id};
  assign to.awaddr = AddrW'({writer_q, write_q.addr[RangeW-1:0]});
  assign to.awlen = write_q.len;
  assign to.wvalid = beat_valid_q;
  assign to.wdata = beat_q.data;
  assign to.wstrb = beat_q.strb;
  assign to.wlast = beat_q.last;

`ifndef SYNTHESIS
  always_ff @(posedge clk)
    if (!rst) begin
      assert ($onehot0(take_read) && $onehot0(take_write)) else $error("%m: two managers at once");
      assert (!to.rvalid || 32'(to.rid[IdW+:MgrW]) < Managers) else $error("%m: an answer to nobody");
    end
`endif
endmodule

`default_nettype wire
