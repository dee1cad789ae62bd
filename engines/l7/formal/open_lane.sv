// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// A cache whose answers are any value: the proof of the lane (lane.sv) restricts them to what the proof of the
// module (table.sv) says. The script cuts signals whose names begin with `open`.
module l7_cache
  import penstock_pkg::*, l7_pkg::*;
(
    input wire logic clk,
    input wire logic rst,

    input wire logic look,
    input wire app_t app,
    input wire key_t key,

    output msg_t       found,
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
  assign found = open_slot;
  app_t app_q;
  key_t key_q;
  always_ff @(posedge clk) begin
    {look_q, read_q} <= {look, look_q};
    if (look) {app_q, key_q} <= {app, key};
    if (read_q) {hit, slot, room, place} <= {open_hit, open_slot, open_room, open_place};
    if (rst) {look_q, read_q} <= '0;
  end
endmodule

`default_nettype wire
