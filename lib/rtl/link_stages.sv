// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// The register stages of a link, one direction of it: `q` follows `d` by Stages cycles. Synthesis makes no shift
// register of them, so that it can place each one on the way. Data need no reset: such users tie `rst` to 0.
module link_stages #(
    parameter int unsigned Width  = 1,
    parameter int unsigned Stages = 0
) (
    input wire logic clk,
    input wire logic rst,

    input  wire logic [Width-1:0] d,
    output logic      [Width-1:0] q
);
  if (Stages == 0) begin : gen_wire
    assign q = d;
  end else begin : gen_stages
    (* shreg_extract = "no" *) logic [Stages-1:0][Width-1:0] stage_q;
    always_ff @(posedge clk) begin
      stage_q[0] <= d;
      for (int unsigned i = 1; i < Stages; i++) stage_q[i] <= stage_q[i-1];
      if (rst) stage_q <= '0;
    end
    assign q = stage_q[Stages-1];
  end
endmodule

`default_nettype wire
