// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// Instruction memory: one port for fetches, which reads every cycle, and one for the host. Both answer in the next
// cycle.
module imem #(
    parameter int unsigned Bytes = 65536
) (
    input  wire logic                       clk,
    input  wire logic [$clog2(Bytes)-1:2]   fetch_addr,
    output logic      [31:0]                fetch_data,
    input  wire logic                       host_en,
    input  wire logic                       host_we,
    input  wire logic [$clog2(Bytes)-1:2]   host_addr,
    input  wire logic [31:0]                host_wdata,
    output logic      [31:0]                host_rdata
);
  (* ram_style = "block", no_rw_check *) logic [31:0] mem[Bytes/4];

  always_ff @(posedge clk) fetch_data <= mem[fetch_addr];

  always_ff @(posedge clk) begin
    if (host_en) begin
      if (host_we) mem[host_addr] <= host_wdata;
      else host_rdata <= mem[host_addr];
    end
  end
endmodule

`default_nettype wire
