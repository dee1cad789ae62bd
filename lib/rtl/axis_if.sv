// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// The edge of the card: AXI4-Stream as a MAC or a DMA engine speaks it. `tkeep` is contiguous from bit 0 and
// full on all beats but the last; `tuser` on the last beat marks a frame that arrived damaged.
//
// Ethernet ports have 128 bytes. A converter of width and clock connects them to a MAC of 512 bits at 322 MHz. Each
// frame of up to 128 bytes is therefore one beat, and a port keeps up with line rate with one frame start a beat at 250
// MHz. The host's streams have 64 bytes.
interface axis_if
  import penstock_pkg::*;
#(
    parameter int unsigned Bytes = PortBytes
) ();
  logic               tvalid;
  logic               tready;
  logic [8*Bytes-1:0] tdata;
  logic [  Bytes-1:0] tkeep;
  logic               tlast;
  logic               tuser;

  modport src(output tvalid, tdata, tkeep, tlast, tuser, input tready);
  modport snk(input tvalid, tdata, tkeep, tlast, tuser, output tready);
  modport mon(input tvalid, tdata, tkeep, tlast, tuser, tready);
endinterface

`default_nettype wire
