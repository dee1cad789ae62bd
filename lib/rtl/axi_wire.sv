// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// Connects two axi_if.
module axi_wire (
    axi_if.sub from,
    axi_if.mgr to
);
  assign to.awid = from.awid;
  assign to.awaddr = from.awaddr;
  assign to.awlen = from.awlen;
  assign to.awvalid = from.awvalid;
  assign from.awready = to.awready;
  assign to.wdata = from.wdata;
  assign to.wstrb = from.wstrb;
  assign to.wlast = from.wlast;
  assign to.wvalid = from.wvalid;
  assign from.wready = to.wready;
  assign from.bid = to.bid;
  assign from.bresp = to.bresp;
  assign from.bvalid = to.bvalid;
  assign to.bready = from.bready;
  assign to.arid = from.arid;
  assign to.araddr = from.araddr;
  assign to.arlen = from.arlen;
  assign to.arvalid = from.arvalid;
  assign from.arready = to.arready;
  assign from.rid = to.rid;
  assign from.rdata = to.rdata;
  assign from.rresp = to.rresp;
  assign from.rlast = to.rlast;
  assign from.rvalid = to.rvalid;
  assign to.rready = from.rready;
endmodule

`default_nettype wire
