// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// Accelerators with the unit's side of their bus as plain ports, and packet memory as the unit has it behind port B,
// for test benches.
module accel_bench
  import penstock_pkg::*;
#(
    parameter int unsigned Accel = 1
) (
    input  wire logic        clk,
    input  wire logic        rst,
    input  wire logic [21:0] addr,
    input  wire logic        wr_en,
    input  wire logic        rd_en,
    input  wire logic [31:0] wdata,
    output logic      [31:0] rdata,
    output logic             rd_valid,
    input  wire logic        ld_wr,
    input  wire logic        ld_rd,
    input  wire logic [23:0] ld_addr,
    input  wire logic [31:0] ld_wdata,
    output logic      [31:0] ld_rdata,
    output logic             ld_rvalid,
    output logic             error,

    input  wire logic             mem_we,     // port A, for the bench
    input  wire logic [13:0]      mem_row,
    input  wire logic [DataW-1:0] mem_wdata,
    input  wire logic             host_takes  // port B is the host's in this cycle
);
  accel_if bus ();

  assign bus.addr     = addr;
  assign bus.wr_en    = wr_en;
  assign bus.rd_en    = rd_en;
  assign bus.wdata    = wdata;
  assign bus.ld_wr    = ld_wr;
  assign bus.ld_rd    = ld_rd;
  assign bus.ld_addr  = ld_addr;
  assign bus.ld_wdata = ld_wdata;

  assign rdata     = bus.rdata;
  assign rd_valid  = bus.rd_valid;
  assign ld_rdata  = bus.ld_rdata;
  assign ld_rvalid = bus.ld_rvalid;
  assign error     = bus.error;

  accel #(.Accel(Accel)) i_accel (.clk, .rst, .bus);

  logic [1:0] reads_q;
  logic [1:0][DataW-1:0] mem_rdata;

  always_ff @(posedge clk) reads_q <= rst ? '0 : {reads_q[0], bus.pm_en && bus.pm_ready};

  assign bus.pm_ready  = !host_takes;
  assign bus.pm_rdata  = reads_q[1] ? mem_rdata[1] : 'x;
  assign bus.pm_rvalid = reads_q[1];

  pmem i_pmem (
      .clk,
      .we({1'b0, mem_we}),
      .be('1),
      .row({bus.pm_row, mem_row}),
      .wdata({DataW'(0), mem_wdata}),
      .rdata(mem_rdata)
  );

`ifndef SYNTHESIS
  logic asked_q;
  logic [13:0] row_q;
  always_ff @(posedge clk) begin
    asked_q <= bus.pm_en && !bus.pm_ready && !rst;
    row_q   <= bus.pm_row;
    if (!rst && asked_q) assert (bus.pm_en && bus.pm_row == row_q)
      else $error("%m: a request changed before it was taken");
  end
`endif
endmodule

`default_nettype wire
