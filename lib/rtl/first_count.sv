// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// The number with which counters of 64 bits begin: 0. In simulation, a test may begin near a bound: +first_count=VALUE
module first_count (
    output logic [63:0] first
);
`ifdef SYNTHESIS
  assign first = '0;
`else
  initial if (!$value$plusargs("first_count=%d", first)) first = '0;
`endif
endmodule

`default_nettype wire
