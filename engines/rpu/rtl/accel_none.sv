// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// No accelerator: whatever firmware does with its registers is an error that nobody waits for; reads give 0. Tables are empty.
module accel_none (
    input wire logic clk,
    input wire logic rst,
    accel_if.accel   bus
);
  logic ld_rvalid_q;

  always_ff @(posedge clk) begin
    ld_rvalid_q <= bus.ld_rd;
    if (rst) ld_rvalid_q <= 1'b0;
  end

  assign bus.rdata     = '0;
  assign bus.rd_valid  = bus.rd_en;
  assign bus.error     = bus.rd_en || bus.wr_en;
  assign bus.ld_rdata  = '0;
  assign bus.ld_rvalid = ld_rvalid_q;
  assign bus.pm_en     = '0;
  assign bus.pm_we     = '0;
  assign bus.pm_row    = '0;
  assign bus.pm_wstrb  = '0;
  assign bus.pm_wdata  = '0;

  wire unused = &{1'b0, bus.addr, bus.wdata, bus.wstrb, bus.ld_wr, bus.ld_addr, bus.ld_wdata, bus.pm_ready, bus.pm_rdata, bus.pm_rvalid};
endmodule

`default_nettype wire
