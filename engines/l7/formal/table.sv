// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// The table of messages finds a key exactly while it is in the table, with the slot that it was inserted with:
// rtl/l7_cache.sv as it is, with eight sets of four places, for any key of
// any application. By induction from a reset on. Keys have two bits of each of their numbers, the other bits are 0.
//
// The memories keep one set, that of the watched key (lib/formal/ram_sdp.sv).
//
// Taken for granted, of the lane: a key is inserted only behind a lookup that did not find it and found room, with no
// insert or remove in between; no lookup is under way in the cycle of an insert or remove.
module table_of_messages
  import penstock_pkg::*, l7_pkg::*;
#(
    parameter int unsigned Sets = 8,
    localparam int unsigned SetW = $clog2(Sets)
) (
    input wire logic clk,

    input wire app_t       watched_app,
    input wire logic [8:0] watched_bits,

    input wire logic look,
    input wire app_t app,
    input wire logic [8:0] key_bits,
    input wire logic insert,
    input wire msg_t insert_slot,
    input wire logic remove,
    input wire logic [SetW+1:0] remove_place
);
  function automatic key_t key_of(logic [8:0] bits);
    return '{tenant: tenant_t'(bits[1:0]), v6: bits[2], address: {bits[4], 126'd0, bits[3]}, sport: 16'(bits[6:5]),
             id: 32'(bits[8:7])};
  endfunction

  wire key_t watched = key_of(watched_bits);
  wire key_t key = key_of(key_bits);

  logic started_q = 1'b0;
  app_t watched_app_q;
  key_t watched_q;
  always_ff @(posedge clk) begin
    started_q <= 1'b1;
    watched_app_q <= watched_app;
    watched_q <= watched;
  end
  wire rst = !started_q;
  always_comb if (started_q) assume (watched == watched_q && watched_app == watched_app_q);

  logic hit, room;
  msg_t slot, found;
  logic [SetW+1:0] place;
  l7_cache #(
      .Sets(Sets)
  ) dut (
      .clk,
      .rst,
      .look,
      .app,
      .key,
      .found,
      .hit,
      .slot,
      .room,
      .place,
      .insert,
      .insert_slot,
      .remove,
      .remove_place
  );

  wire [SetW-1:0] set = dut.set_of(watched_app, watched);

  // ---- what may come
  logic result_q;  // of the last lookup is there, and still true
  logic looked_q;  // it was for the watched key
  always_comb begin
    assume (!(insert && remove) && !(look && (insert || remove)));
    assume (!((dut.look_q || dut.read_q) && (look || insert || remove)));
    assume (!insert || (result_q && !hit && room));
  end
  always_ff @(posedge clk) begin
    result_q <= (result_q || dut.read_q) && !look && !insert && !remove && !rst;
    if (look) looked_q <= app == watched_app && key == watched;
  end

  // ---- what must hold
  logic present_q;
  logic [SetW+1:0] place_q;
  msg_t slot_q;
  always_ff @(posedge clk) begin
    if (insert && looked_q) begin
      present_q <= 1'b1;
      place_q <= place;
      slot_q <= insert_slot;
    end
    if (remove && remove_place == place_q) present_q <= 1'b0;
    if (rst) present_q <= 1'b0;
  end

  typedef struct packed {
    key_t key;
    msg_t slot;
  } entry_t;

  logic [3:0] holds;  // the ways that hold the watched key
  logic [3:0] valids;  // the ways of its set that hold a key
  msg_t [3:0] slots;
  for (genvar w = 0; w < 4; w++) begin : gen_way
    always_comb assume (dut.gen_way[w].i_ram.open_watched == set);
    wire entry_t row = dut.gen_way[w].i_ram.row_q;
    assign valids[w] = dut.valid_q[w][set];
    assign holds[w] = valids[w] && row.key == watched;
    assign slots[w] = row.slot;
    // For the induction: the lookup has read the row, and compared it.
    always_comb
      if (started_q && dut.set_q == set) begin
        if (dut.look_q) assert (!valids[w] || dut.ways[w] == row);
        if (dut.read_q)
          assert (dut.valids_q[w] == valids[w] && (!valids[w] ||
              (dut.equal_q[w] == dut.equal_bytes(row.key, dut.key_q) && dut.slots_q[w] == row.slot)));
      end
  end

  always_comb
    if (started_q) begin
      if (dut.read_q && looked_q) assert (!present_q || found == slot_q);
      if (result_q && looked_q) begin
        assert (hit == present_q);
        assert (!hit || (slot == slot_q && place == place_q));
        assert (hit || !room || (place[SetW+1:2] == set && !valids[place[1:0]]));
      end
      // A key that is inserted takes no place of another one.
      if (result_q && !hit && room) assert (!present_q || looked_q || place != place_q);

      // For the induction
      assert ((holds != '0) == present_q);
      if (present_q)
        assert (place_q[SetW+1:2] == set && holds == 4'd1 << place_q[1:0] && slots[place_q[1:0]] == slot_q);
      if (dut.look_q || dut.read_q || result_q) begin
        assert (looked_q == (dut.set_q == set && dut.key_q == watched));
        if (result_q) assert (place[SetW+1:2] == dut.set_q);
      end
      if (result_q && !hit && room && place[SetW+1:2] == set) assert (!valids[place[1:0]]);
    end
endmodule

`default_nettype wire
