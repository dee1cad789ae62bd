// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// The table of messages that are not whole: from application, sender and number to the slot of the message.
//
//   look ─> hash ─> four ways read ─> compare by bytes ─> all bytes ─┬─> hit, slot, place
//                   1                 2                              └─> found (in the same cycle)   3 cycles
//
// 1,024 places: each application has 128 sets of four. One lookup at a time; the result stays until the next one.
// `insert` and `remove` take a cycle. A lookup must not begin in the cycle of one of them.
module l7_cache
  import penstock_pkg::*, l7_pkg::*;
#(
    parameter int unsigned Ways = 4,
    parameter int unsigned Sets = 256,
    localparam int unsigned SetW = $clog2(Sets),
    localparam int unsigned WayW = $clog2(Ways)
) (
    input wire logic clk,
    input wire logic rst,

    input wire logic look,
    input wire app_t app,
    input wire key_t key,

    output msg_t               found,  // two cycles after `look`: the slot, if there is a hit
    output logic               hit,    // from three cycles after `look` on
    output msg_t               slot,
    output logic               room,   // no hit: `place` is empty
    output logic [SetW+WayW-1:0] place,

    input wire logic insert,       // the key that was looked up, at `place`
    input wire msg_t insert_slot,

    input wire logic                 remove,
    input wire logic [SetW+WayW-1:0] remove_place
);
  localparam int unsigned SetBits = SetW - $bits(app_t);  // that the key gives

  typedef struct packed {
    key_t key;
    msg_t slot;
  } entry_t;

  // Each application has its part of the sets, so that keys of one cannot fill places of the other.
  function automatic logic [SetW-1:0] set_of(app_t of, key_t which);
    logic [SetBits-1:0] sum;
    logic [$bits(key_t)+SetBits-1:0] bits;
    bits = ($bits(key_t) + SetBits)'(which);
    sum = '0;
    for (int unsigned i = 0; i < $bits(key_t); i += SetBits) sum ^= bits[i+:SetBits];
    return {of, sum};
  endfunction

  localparam int unsigned Bytes = ($bits(key_t) + 7) / 8;
  typedef logic [Bytes-1:0] by_byte_t;

  function automatic by_byte_t equal_bytes(key_t a, key_t b);
    logic [8*Bytes-1:0] differ;
    by_byte_t equal;
    differ = (8 * Bytes)'(a ^ b);
    for (int unsigned i = 0; i < Bytes; i++) equal[i] = differ[8*i+:8] == '0;
    return equal;
  endfunction

  logic [SetW-1:0] set, set_q;
  key_t key_q;
  by_byte_t equal_q[Ways];
  msg_t slots_q[Ways];
  logic [Ways-1:0] valids_q;  // of the set
  logic look_q, read_q;
  entry_t ways[Ways];
  logic [Sets-1:0] valid_q[Ways];
  logic [Ways-1:0] hits, frees;
  logic [WayW-1:0] at;
  assign set = set_of(app, key);

  for (genvar w = 0; w < Ways; w++) begin : gen_way
    ram_sdp #(
        .Width($bits(entry_t)),
        .Depth(Sets)
    ) i_ram (
        .clk,
        .we(insert && place[WayW-1:0] == WayW'(w)),
        .waddr(set_q),
        .wdata({key_q, insert_slot}),
        .re(look),
        .raddr(set),
        .rdata(ways[w])
    );
    assign hits[w] = valids_q[w] && equal_q[w] == '1;
    assign frees[w] = !valids_q[w];

    always_ff @(posedge clk) begin
      if (look_q) begin
        equal_q[w] <= equal_bytes(ways[w].key, key_q);
        slots_q[w] <= ways[w].slot;
        valids_q[w] <= valid_q[w][set_q];
      end
      if (insert && place[WayW-1:0] == WayW'(w)) valid_q[w][set_q] <= 1'b1;
      if (remove && remove_place[WayW-1:0] == WayW'(w)) valid_q[w][remove_place[SetW+WayW-1:WayW]] <= 1'b0;
      if (rst) valid_q[w] <= '0;
    end
  end

  always_comb begin
    at = '0;
    found = '0;
    for (int w = int'(Ways) - 1; w >= 0; w--) if (hits != '0 ? hits[w] : frees[w]) at = WayW'(w);
    for (int unsigned w = 0; w < Ways; w++) if (hits[w]) found |= slots_q[w];
  end

  always_ff @(posedge clk) begin
    look_q <= look;
    read_q <= look_q;
    if (look) begin
      set_q <= set;
      key_q <= key;
    end
    if (read_q) begin
      hit   <= hits != '0;
      room  <= frees != '0;
      slot  <= found;
      place <= {set_q, at};
    end
    if (rst) {look_q, read_q} <= '0;
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk) if (!rst && read_q) assert ($onehot0(hits)) else $error("%m: a key has two places");
`endif
endmodule

`default_nettype wire
