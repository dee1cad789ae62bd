// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// The manager of an axi_if that asks for nothing.
module axi_idle (
    axi_if.mgr link
);
  assign link.awid = '0;
  assign link.awaddr = '0;
  assign link.awlen = '0;
  assign link.awvalid = 1'b0;
  assign link.wdata = '0;
  assign link.wstrb = '0;
  assign link.wlast = 1'b0;
  assign link.wvalid = 1'b0;
  assign link.bready = 1'b1;
  assign link.arid = '0;
  assign link.araddr = '0;
  assign link.arlen = '0;
  assign link.arvalid = 1'b0;
  assign link.rready = 1'b1;
endmodule

`default_nettype wire
