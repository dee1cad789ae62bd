// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// The writing half of AXI4 as the card speaks it to host memory: 64-bit addresses, beats of 64 bytes at multiples of
// 64, INCR bursts within a page of 4 KiB, one ID. Signals that never change are added where the card ends
// (shell/rtl/card_top.sv).
interface axi_write_if
  import penstock_pkg::*;
();
  logic [63:0]          awaddr;
  logic [7:0]           awlen;   // beats - 1
  logic                 awvalid;
  logic                 awready;
  logic [DataW-1:0]     wdata;
  logic [BeatBytes-1:0] wstrb;
  logic                 wlast;
  logic                 wvalid;
  logic                 wready;
  logic [1:0]           bresp;
  logic                 bvalid;
  logic                 bready;

  modport mgr(output awaddr, awlen, awvalid, wdata, wstrb, wlast, wvalid, bready, input awready, wready, bresp, bvalid);
endinterface

`default_nettype wire
