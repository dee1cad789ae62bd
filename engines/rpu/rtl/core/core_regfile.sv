// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// 32 registers, two asynchronous reads, one write: two copies in distributed memory. x0 is never written.
module core_regfile (
    input  wire         clk,
    input  wire         we,
    input  wire  [4:0]  waddr,
    input  wire  [31:0] wdata,
    input  wire  [4:0]  raddr1,
    output logic [31:0] rdata1,
    input  wire  [4:0]  raddr2,
    output logic [31:0] rdata2
);

  (* ram_style = "distributed" *) logic [31:0] mem1[32];
  (* ram_style = "distributed" *) logic [31:0] mem2[32];

  initial begin
    for (int i = 0; i < 32; i++) begin
      mem1[i] = '0;
      mem2[i] = '0;
    end
  end

  always_ff @(posedge clk) begin
    if (we) begin
      mem1[waddr] <= wdata;
      mem2[waddr] <= wdata;
    end
  end

  assign rdata1 = mem1[raddr1];
  assign rdata2 = mem2[raddr2];

`ifndef SYNTHESIS
  always_ff @(posedge clk) assert (!(we && waddr == 5'd0)) else $error("x0 written");
`endif

endmodule

`default_nettype wire
