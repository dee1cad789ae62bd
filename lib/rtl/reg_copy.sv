// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// A register that synthesis does not merge with others of the same value: a signal that decides over a wide bus is kept once for each part
// of the bus, near it. Vivado looks for the attribute at the signal, yosys at the process.
module reg_copy #(
    parameter int unsigned Width = 1
) (
    input wire logic             clk,
    input wire logic             load,
    input wire logic [Width-1:0] d,
    (* keep = "true" *)
    output logic     [Width-1:0] q
);
  (* keep *)
  always_ff @(posedge clk) if (load) q <= d;
endmodule

`default_nettype wire
