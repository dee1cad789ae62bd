// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// Checks the rules of AXI4-Lite (AMBA AXI, IHI 0022, A3.2 and A3.3) in every simulation; nothing of it is left in
// hardware. Each channel keeps its values until it is ready, and every answer follows its request.
module axil_check (
    input wire logic clk,
    input wire logic rst,

    input wire logic [31:0] awaddr,
    input wire logic        awvalid,
    input wire logic        awready,
    input wire logic [31:0] wdata,
    input wire logic [ 3:0] wstrb,
    input wire logic        wvalid,
    input wire logic        wready,
    input wire logic [ 1:0] bresp,
    input wire logic        bvalid,
    input wire logic        bready,
    input wire logic [31:0] araddr,
    input wire logic        arvalid,
    input wire logic        arready,
    input wire logic [31:0] rdata,
    input wire logic [ 1:0] rresp,
    input wire logic        rvalid,
    input wire logic        rready
);
`ifndef SYNTHESIS
  logic aw_waits_q, w_waits_q, b_waits_q, ar_waits_q, r_waits_q;
  logic [31:0] awaddr_q, araddr_q;
  logic [35:0] w_q;
  logic [ 1:0] bresp_q;
  logic [33:0] r_q;
  logic [7:0] addresses_q, words_q, reads_q;  // taken and not answered

  always_ff @(posedge clk) begin
    aw_waits_q <= awvalid && !awready;
    w_waits_q <= wvalid && !wready;
    b_waits_q <= bvalid && !bready;
    ar_waits_q <= arvalid && !arready;
    r_waits_q <= rvalid && !rready;
    awaddr_q <= awaddr;
    w_q <= {wstrb, wdata};
    bresp_q <= bresp;
    araddr_q <= araddr;
    r_q <= {rresp, rdata};
    addresses_q <= addresses_q + 8'(awvalid && awready) - 8'(bvalid && bready);
    words_q <= words_q + 8'(wvalid && wready) - 8'(bvalid && bready);
    reads_q <= reads_q + 8'(arvalid && arready) - 8'(rvalid && rready);
    if (rst) begin
      {aw_waits_q, w_waits_q, b_waits_q, ar_waits_q, r_waits_q} <= '0;
      {addresses_q, words_q, reads_q} <= '0;
    end else begin
      assert (!aw_waits_q || (awvalid && awaddr == awaddr_q)) else $error("%m: the address of a write did not wait");
      assert (!w_waits_q || (wvalid && {wstrb, wdata} == w_q)) else $error("%m: the word of a write did not wait");
      assert (!ar_waits_q || (arvalid && araddr == araddr_q)) else $error("%m: the address of a read did not wait");
      assert (!b_waits_q || (bvalid && bresp == bresp_q)) else $error("%m: the answer to a write did not wait");
      assert (!r_waits_q || (rvalid && {rresp, rdata} == r_q)) else $error("%m: the answer to a read did not wait");
      assert (!bvalid || (addresses_q != 0 && words_q != 0)) else $error("%m: an answer to no write");
      assert (!rvalid || reads_q != 0) else $error("%m: an answer to no read");
    end
  end
`endif
endmodule

`default_nettype wire
