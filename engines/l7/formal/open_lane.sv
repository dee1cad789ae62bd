// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// Modules that the proofs of the lane (lane.sv, room.sv) replace: their results are any value. The proofs restrict the
// results to what the proofs of these modules say. The scripts cut signals whose names begin with `open`.

// table.sv
module l7_cache
  import penstock_pkg::*, l7_pkg::*;
(
    input wire logic clk,
    input wire logic rst,

    input wire logic look,
    input wire app_t app,
    input wire key_t key,

    output logic       hit,
    output msg_t       slot,
    output logic       room,
    output logic [9:0] place,

    input wire logic insert,
    input wire msg_t insert_slot,

    input wire logic       remove,
    input wire logic [9:0] remove_place
);
  wire open_hit = '0;
  wire open_room = '0;
  wire msg_t open_slot = '0;
  wire [9:0] open_place = '0;
  logic look_q, read_q;
  app_t app_q;
  key_t key_q;
  always_ff @(posedge clk) begin
    {look_q, read_q} <= {look, look_q};
    if (look) {app_q, key_q} <= {app, key};
    if (read_q) {hit, slot, room, place} <= {open_hit, open_slot, open_room, open_place};
    if (rst) {look_q, read_q} <= '0;
  end
endmodule

// pool.sv
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
