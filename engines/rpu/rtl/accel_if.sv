// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// Bundle between a packet unit and its accelerators, and between accel.sv and each of them: core registers, table load
// port, reads of packet memory.
//
// Core registers: one access at a time. `addr` is valid with the strobes. `wr_en` lasts one cycle and is always
//   taken. `rd_en` and `addr` stay up until `rd_valid`, which may answer in the first cycle or come late. A read changes
//   nothing: it may be repeated, and be of no consequence.
// Table load: writes are always taken. `ld_rd` lasts one cycle; `ld_rvalid` answers one or more cycles later, one
//   readback at a time.
// Packet memory: a request, out of registers, is taken in a cycle in which `pm_ready` is up, and stays until then. Rows
// come
//   back in order, with `pm_rvalid`; one that the unit takes two cycles later.
interface accel_if;
  logic [21:0] addr;
  logic        wr_en;
  logic        rd_en;
  logic [31:0] wdata;
  logic [31:0] rdata;
  logic        rd_valid;

  logic        ld_wr;
  logic        ld_rd;
  logic [23:0] ld_addr;
  logic [31:0] ld_wdata;
  logic [31:0] ld_rdata;
  logic        ld_rvalid;

  logic         pm_en;
  logic [ 13:0] pm_row;
  logic         pm_ready;
  logic [511:0] pm_rdata;
  logic         pm_rvalid;

  logic error;  // one-cycle pulse: the accelerator met an error

  modport unit(
      output addr, wr_en, rd_en, wdata, ld_wr, ld_rd, ld_addr, ld_wdata, pm_ready, pm_rdata, pm_rvalid,
      input rdata, rd_valid, ld_rdata, ld_rvalid, pm_en, pm_row, error
  );
  modport accel(
      input addr, wr_en, rd_en, wdata, ld_wr, ld_rd, ld_addr, ld_wdata, pm_ready, pm_rdata, pm_rvalid,
      output rdata, rd_valid, ld_rdata, ld_rvalid, pm_en, pm_row, error
  );
endinterface

`default_nettype wire
