// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// The reading half of AXI4, as axi_write_if.sv is the writing one.
interface axi_read_if
  import penstock_pkg::*;
();
  logic [63:0]      araddr;
  logic [7:0]       arlen;    // beats - 1
  logic             arvalid;
  logic             arready;
  logic [DataW-1:0] rdata;
  logic [1:0]       rresp;
  logic             rlast;
  logic             rvalid;
  logic             rready;

  modport mgr(output araddr, arlen, arvalid, rready, input arready, rdata, rresp, rlast, rvalid);
endinterface

`default_nettype wire
