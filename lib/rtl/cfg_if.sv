// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// The configuration bus: 32-bit words, one access at a time, from the host only. No frame can reach it. The requester
// holds `req` and everything beside it until `ack`, which lasts one cycle; `rdata` and `err` are valid with `ack`.
// `req` falls for at least one cycle between two accesses. `addr` is a byte address, a multiple of 4.
interface cfg_if #(
    parameter int unsigned ADDR_W = 26
) ();
  logic              req;
  logic              we;
  logic [ADDR_W-1:0] addr;
  logic [31:0]       wdata;
  logic              ack;
  logic              err;
  logic [31:0]       rdata;

  modport src(output req, we, addr, wdata, input ack, err, rdata);
  modport snk(input req, we, addr, wdata, output ack, err, rdata);
endinterface

`default_nettype wire
