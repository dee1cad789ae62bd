// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// The edge of the card: AXI4-Stream as a MAC or a DMA engine speaks it. `tkeep` is contiguous from bit 0 and
// full on all beats but the last; `tuser` on the last beat marks a frame that arrived damaged.
interface axis_if
  import penstock_pkg::*;
();
  logic                 tvalid;
  logic                 tready;
  logic [DataW-1:0]     tdata;
  logic [BeatBytes-1:0] tkeep;
  logic                 tlast;
  logic                 tuser;

  modport src(output tvalid, tdata, tkeep, tlast, tuser, input tready);
  modport snk(input tvalid, tdata, tkeep, tlast, tuser, output tready);
  modport mon(input tvalid, tdata, tkeep, tlast, tuser, tready);
endinterface

`default_nettype wire
