// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// An accelerator with the unit's side of its bus as plain ports, for test benches.
module accel_bench #(
    parameter int Accel = 1
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
    output logic             error
);
  accel_if bus ();

  assign bus.addr      = addr;
  assign bus.wr_en     = wr_en;
  assign bus.rd_en     = rd_en;
  assign bus.wdata     = wdata;
  assign bus.wstrb     = '1;
  assign bus.ld_wr     = ld_wr;
  assign bus.ld_rd     = ld_rd;
  assign bus.ld_addr   = ld_addr;
  assign bus.ld_wdata  = ld_wdata;
  assign bus.pm_ready  = '0;
  assign bus.pm_rdata  = '0;
  assign bus.pm_rvalid = '0;

  assign rdata     = bus.rdata;
  assign rd_valid  = bus.rd_valid;
  assign ld_rdata  = bus.ld_rdata;
  assign ld_rvalid = bus.ld_rvalid;
  assign error     = bus.error;

  accel #(.Accel(Accel)) i_accel (.clk, .rst, .bus);

  wire unused = &{1'b0, bus.pm_en, bus.pm_we, bus.pm_row, bus.pm_wstrb, bus.pm_wdata};
endmodule

`default_nettype wire
