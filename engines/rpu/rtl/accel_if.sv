// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// Bundle between a packet unit and its accelerator: core registers, table load port, two streaming ports into
// packet memory.
//
// Core registers: one access at a time. `addr` is valid with the strobes. `wr_en` lasts one cycle and is always
//   taken. `rd_en` and `addr` stay up until `rd_valid`, which may answer in the first cycle or come late.
// Table load: writes are always taken. `ld_rd` lasts one cycle; `ld_rvalid` answers one or more cycles later, one
//   readback at a time.
// Packet memory: each port's request is taken when its `pm_ready` is up; data read comes back in order with
//   `pm_rvalid`.
interface accel_if;
  logic [21:0] addr;
  logic        wr_en;
  logic        rd_en;
  logic [31:0] wdata;
  logic [ 3:0] wstrb;
  logic [31:0] rdata;
  logic        rd_valid;

  logic        ld_wr;
  logic        ld_rd;
  logic [23:0] ld_addr;
  logic [31:0] ld_wdata;
  logic [31:0] ld_rdata;
  logic        ld_rvalid;

  logic [ 1:0]        pm_en;
  logic [ 1:0]        pm_we;
  logic [ 1:0][ 13:0] pm_row;
  logic [ 1:0][ 63:0] pm_wstrb;
  logic [ 1:0][511:0] pm_wdata;
  logic [ 1:0]        pm_ready;
  logic [511:0]       pm_rdata;
  logic [ 1:0]        pm_rvalid;

  logic error;  // one-cycle pulse: the accelerator met an error

  modport unit(
      output addr, wr_en, rd_en, wdata, wstrb, ld_wr, ld_rd, ld_addr, ld_wdata, pm_ready, pm_rdata, pm_rvalid,
      input rdata, rd_valid, ld_rdata, ld_rvalid, pm_en, pm_we, pm_row, pm_wstrb, pm_wdata, error
  );
  modport accel(
      input addr, wr_en, rd_en, wdata, wstrb, ld_wr, ld_rd, ld_addr, ld_wdata, pm_ready, pm_rdata, pm_rvalid,
      output rdata, rd_valid, ld_rdata, ld_rvalid, pm_en, pm_we, pm_row, pm_wstrb, pm_wdata, error
  );
endinterface

`default_nettype wire
