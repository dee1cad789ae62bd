// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// Checks the contract of an axi_if in every simulation; nothing of it is left in hardware.
module axi_check (
    input wire logic clk,
    input wire logic rst,
    axi_if.mon       link
);
`ifndef SYNTHESIS
  localparam int unsigned Bytes = link.DATA_W / 8;
  localparam int unsigned Ids = 1 << link.ID_W;
  localparam longint PageBytes = 4096;

  // Signals that must be stable while a transfer waits
  localparam int unsigned AddrBits = link.ID_W + link.ADDR_W + 8;
  localparam int unsigned DataBits = link.DATA_W + Bytes + 1;
  logic aw_waits_q, w_waits_q, ar_waits_q, r_waits_q, b_waits_q;
  logic [AddrBits-1:0] aw_q, ar_q;
  logic [DataBits-1:0] w_q;
  wire [AddrBits-1:0] aw = {link.awid, link.awaddr, link.awlen};
  wire [AddrBits-1:0] ar = {link.arid, link.araddr, link.arlen};
  wire [DataBits-1:0] w = {link.wdata, link.wstrb, link.wlast};

  // Requests without an answer, by ID
  int writes_q[Ids];
  int reads_q[Ids];
  int lens_q[Ids][$];    // beats of each read
  int got_q[Ids];        // beats of the first of them that have come
  int declared_q[$];     // beats of writes, as their addresses say
  int counted_q[$];      // and as `wlast` does
  int beats_q, whole_q;  // beats of the write that is on its way; writes whose data have come, without those answered

  function automatic bit leaves_page(longint addr, int beats);
    return addr / PageBytes != (addr + longint'(beats) * longint'(Bytes) - 1) / PageBytes;
  endfunction

  // verilator lint_off BLKSEQ
  // verilog_lint: waive-start always-ff-non-blocking
  always_ff @(posedge clk) begin
    aw_waits_q <= link.awvalid && !link.awready && !rst;
    w_waits_q <= link.wvalid && !link.wready && !rst;
    ar_waits_q <= link.arvalid && !link.arready && !rst;
    {aw_q, ar_q, w_q} <= {aw, ar, w};
    if (rst) begin
      for (int i = 0; i < int'(Ids); i++) begin
        writes_q[i] = 0;
        reads_q[i] = 0;
        got_q[i] = 0;
        lens_q[i].delete();
      end
      declared_q.delete();
      counted_q.delete();
      beats_q = 0;
      whole_q = 0;
    end else begin
      assert (!aw_waits_q || (link.awvalid && aw == aw_q))
        else $error("%m: the address of a write changed while it waited");
      assert (!w_waits_q || (link.wvalid && w == w_q)) else $error("%m: a beat of a write changed while it waited");
      assert (!ar_waits_q || (link.arvalid && ar == ar_q))
        else $error("%m: the address of a read changed while it waited");
      assert (!link.bvalid || link.bready) else $error("%m: the manager has no room for the answer to a write");
      assert (!link.rvalid || link.rready) else $error("%m: the manager has no room for what it reads");
      // Answers first: the answer to a request of this cycle comes later.
      if (link.bvalid && link.bready) begin
        assert (writes_q[link.bid] > 0) else $error("%m: an answer to no write, ID %0d", link.bid);
        assert (whole_q > 0) else $error("%m: an answer to a write before its data, ID %0d", link.bid);
        writes_q[link.bid]--;
        whole_q--;
      end
      if (link.rvalid && link.rready) begin
        assert (reads_q[link.rid] > 0) else $error("%m: data for no read, ID %0d", link.rid);
        if (reads_q[link.rid] > 0) begin
          got_q[link.rid]++;
          assert (link.rlast == (got_q[link.rid] == lens_q[link.rid][0]))
          else $error("%m: `rlast` does not fit the length, ID %0d", link.rid);
          if (link.rlast) begin
            reads_q[link.rid]--;
            got_q[link.rid] = 0;
            void'(lens_q[link.rid].pop_front());
          end
        end
      end
      if (link.awvalid && link.awready) begin
        assert (longint'(link.awaddr) % longint'(Bytes) == 0 && !leaves_page(longint'(link.awaddr), int'(link.awlen) + 1))
        else $error("%m: a write of %0d beats from %0h on leaves its page or its beats", link.awlen + 1, link.awaddr);
        writes_q[link.awid]++;
        declared_q.push_back(int'(link.awlen) + 1);
      end
      if (link.arvalid && link.arready) begin
        assert (longint'(link.araddr) % longint'(Bytes) == 0 && !leaves_page(longint'(link.araddr), int'(link.arlen) + 1))
        else $error("%m: a read of %0d beats from %0h on leaves its page or its beats", link.arlen + 1, link.araddr);
        reads_q[link.arid]++;
        lens_q[link.arid].push_back(int'(link.arlen) + 1);
      end
      if (link.wvalid && link.wready) begin
        beats_q++;
        if (link.wlast) begin
          counted_q.push_back(beats_q);
          beats_q = 0;
          whole_q++;
        end
      end
      if (declared_q.size() != 0 && counted_q.size() != 0) begin
        assert (declared_q[0] == counted_q[0])
          else $error("%m: `wlast` after %0d beats of %0d", counted_q[0], declared_q[0]);
        void'(declared_q.pop_front());
        void'(counted_q.pop_front());
      end
    end
  end
  // verilator lint_on BLKSEQ
  // verilog_lint: waive-stop always-ff-non-blocking
`endif
endmodule

`default_nettype wire
