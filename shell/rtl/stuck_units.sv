// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// Which units frames must not wait for any more. A unit is stuck when frames that may go to no other unit have waited for it for `timeout`
// cycles in all since it last had a free slot. It is not stuck any more when it has one.
module stuck_units
  import shell_pkg::*;
#(
    parameter int unsigned N = 4
) (
    input wire logic clk,
    input wire logic rst,
    input wire cycles_t timeout,  // 0: for ever

    input wire logic [N-1:0] awaited,  // a frame waits for this unit
    input wire logic [N-1:0] ready,    // it has a slot
    output logic     [N-1:0] stuck
);
  for (genvar u = 0; u < N; u++) begin : gen_unit
    cycles_t waited_q;
    always_ff @(posedge clk) begin
      if (ready[u] || rst) waited_q <= '0;
      else if (awaited[u] && !stuck[u]) waited_q <= waited_q + 1'b1;
      stuck[u] <= waited_q >= timeout && timeout != 0 && !ready[u] && !rst;
    end
  end
endmodule

`default_nettype wire
