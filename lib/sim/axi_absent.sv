// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// In place of a channel of card memory that nothing asks.
module axi_absent (
    axi_if.sub link
);
  assign link.awready = 1'b0;
  assign link.wready = 1'b0;
  assign link.bid = '0;
  assign link.bresp = '0;
  assign link.bvalid = 1'b0;
  assign link.arready = 1'b0;
  assign link.rid = '0;
  assign link.rdata = '0;
  assign link.rresp = '0;
  assign link.rlast = 1'b0;
  assign link.rvalid = 1'b0;
endmodule

`default_nettype wire
