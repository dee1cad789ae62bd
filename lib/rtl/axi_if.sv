// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// AXI4 as the card speaks it to its own memory: INCR bursts of whole beats at multiples of the beat, within a page of
// 4 KiB. `addr` is a byte address, `len` beats - 1. Answers to one ID come in the order of its requests, those to
// different IDs in any; reads and writes are not ordered, except that a read that is asked for after the answer to a
// write sees what was written. A manager has room for every answer that it asks for: `rready` and `bready` are up when
// an answer comes (axi_check.sv checks the contract in every simulation). Signals that never change are added where the
// card ends.
interface axi_if #(
    parameter int unsigned DATA_W = 512,
    parameter int unsigned ADDR_W = 40,
    parameter int unsigned ID_W   = 6
) ();
  logic [ID_W-1:0]     awid;
  logic [ADDR_W-1:0]   awaddr;
  logic [7:0]          awlen;
  logic                awvalid;
  logic                awready;
  logic [DATA_W-1:0]   wdata;
  logic [DATA_W/8-1:0] wstrb;
  logic                wlast;
  logic                wvalid;
  logic                wready;
  logic [ID_W-1:0]     bid;
  logic [1:0]          bresp;
  logic                bvalid;
  logic                bready;
  logic [ID_W-1:0]     arid;
  logic [ADDR_W-1:0]   araddr;
  logic [7:0]          arlen;
  logic                arvalid;
  logic                arready;
  logic [ID_W-1:0]     rid;
  logic [DATA_W-1:0]   rdata;
  logic [1:0]          rresp;
  logic                rlast;
  logic                rvalid;
  logic                rready;

  modport mgr(
      output awid, awaddr, awlen, awvalid, wdata, wstrb, wlast, wvalid, bready, arid, araddr, arlen, arvalid, rready,
      input awready, wready, bid, bresp, bvalid, arready, rid, rdata, rresp, rlast, rvalid
  );
  modport sub(
      input awid, awaddr, awlen, awvalid, wdata, wstrb, wlast, wvalid, bready, arid, araddr, arlen, arvalid, rready,
      output awready, wready, bid, bresp, bvalid, arready, rid, rdata, rresp, rlast, rvalid
  );
  modport mon(
      input awid, awaddr, awlen, awvalid, wdata, wstrb, wlast, wvalid, bready, arid, araddr, arlen, arvalid, rready,
      input awready, wready, bid, bresp, bvalid, arready, rid, rdata, rresp, rlast, rvalid
  );
endinterface

`default_nettype wire
