// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// A pool whose numbers are any value: the proofs of its users restrict them to what the proof of l7_pool (pool.sv) says.
// The scripts cut signals whose names begin with `open`.
module l7_pool #(
    parameter int unsigned Depth = 512,
    localparam int unsigned IdW = $clog2(Depth)
) (
    input wire logic clk,
    input wire logic rst,

    output logic           valid,
    output logic [IdW-1:0] id,
    input  wire logic      take,

    input wire logic           give,
    input wire logic [IdW-1:0] give_id
);
  wire open_valid = '0;
  wire [IdW-1:0] open_id = '0;
  assign valid = open_valid;
  assign id = open_id;
endmodule

`default_nettype wire
