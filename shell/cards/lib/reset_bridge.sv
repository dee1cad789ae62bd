// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// A reset for one clock: it rises at once with `rst_in`, whether the clock runs or not, and falls with an edge of the
// clock, four edges after `rst_in` has fallen.
module reset_bridge (
    input  wire logic clk,
    input  wire logic rst_in,  // of any clock, or of none
    output logic      rst
);
  (* ASYNC_REG = "TRUE", altera_attribute = "-name SYNCHRONIZER_IDENTIFICATION FORCED" *)
  logic [3:0] chain_q;
  always_ff @(posedge clk or posedge rst_in)
    if (rst_in) chain_q <= '1;
    else chain_q <= {chain_q[2:0], 1'b0};
  assign rst = chain_q[3];
endmodule

`default_nettype wire
