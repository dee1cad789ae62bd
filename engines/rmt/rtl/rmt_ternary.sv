// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// Ternary match: all rows are compared at once, and the first one that fits wins.
//
//   key, bt ─> MATCH ─────> FIRST ─────> target's memory ─> found     2 cycles, a frame a cycle in each lane
//              27 digits    row of the
//              of 5 bits    first of 16 groups
//
// A digit's memory has a bit for each row at each value of the digit: whether the row takes this value. The host writes
// a row as value and mask. It is set out over the 32 values in as many of the host's slots, one in eight cycles.
// Meanwhile no frame finds the row.
module rmt_ternary
  import rmt_pkg::*;
#(
    parameter int unsigned TernaryW = 7  // log2 of the rows
) (
    input wire logic clk,
    input wire logic rst,

    input wire logic  slot,
    input wire logic [3:0] stage,  // number, a constant
    input wire host_t host,
    output     word_t host_word,
    output     logic  busy,       // a row is being set out; the access stands until it ends

    input wire logic   [Lanes-1:0]      valid,   // there is a frame
    input wire logic   [Lanes-1:0][6:0] bt,  // bank and tenant: while a program is swapped, both have rows
    input wire key_t   [Lanes-1:0]      key,
    output     found_t [Lanes-1:0]      found
);
  localparam int unsigned DigitW = 5;
  localparam int unsigned Digits = ($bits(key_t) + 7 + DigitW - 1) / DigitW;
  localparam int unsigned TernaryRows = 1 << TernaryW;
  localparam int unsigned Groups = 16;
  localparam int unsigned GroupRows = TernaryRows / Groups;
  localparam int unsigned GroupW = $clog2(Groups);
  localparam int unsigned InsideW = $clog2(GroupRows);

  typedef logic [Digits-1:0][DigitW-1:0] digits_t;
  typedef logic [TernaryRows-1:0] rows_t;

  // ---- the host: a row as it was written
  ternary_t given;
  logic selected, starts, read_q;
  logic [2:0] wheel_q;  // cycles behind the host's slot
  word_t [8:0] copy;
  word_t copy_word_q;

  assign given = $bits(ternary_t)'(host.data);
  assign selected = host.memory == MemTernary && host.stage == 8'(stage);
  assign starts = slot && selected && host.we;

  ram_sdp #(
      .Width($bits(ternary_t)),
      .Depth(TernaryRows)
  ) i_copy (
      .clk,
      .we(starts),
      .waddr(host.row[TernaryW-1:0]),
      .wdata(given),
      .re(slot),
      .raddr(host.row[TernaryW-1:0]),
      .rdata(copy)
  );

  // ---- the host: a row is set out
  rows_t valid_q, row_bit;
  logic [DigitW-1:0] value_q;
  logic busy_q, writes;
  digits_t wanted, masks;

  assign busy = busy_q;
  assign row_bit = rows_t'(1) << host.row[TernaryW-1:0];
  assign writes = busy_q && wheel_q == '0;
  assign wanted = $bits(digits_t)'({given.bt, given.value});
  assign masks = {{($bits(digits_t) - $bits(key_t)) {1'b1}}, given.mask};

  always_ff @(posedge clk) begin
    wheel_q <= slot ? 3'd1 : wheel_q + 3'd1;
    if (starts) begin
      valid_q <= valid_q & ~row_bit;
      busy_q  <= given.valid;
      value_q <= '0;
    end
    if (writes) begin
      value_q <= value_q + 1'b1;
      if (value_q == '1) begin
        busy_q  <= 1'b0;
        valid_q <= valid_q | row_bit;
      end
    end
    read_q <= slot && selected && !host.we;
    if (read_q) copy_word_q <= host.word < 5'd9 ? copy[host.word[3:0]] : '0;
    if (rst) begin
      valid_q <= '0;
      busy_q  <= 1'b0;
      read_q  <= 1'b0;
    end
  end

  // ---- MATCH
  digits_t [Lanes-1:0] digits;
  rows_t [Lanes-1:0][Digits-1:0] fits;
  rows_t [Lanes-1:0] match_q;

  for (genvar l = 0; l < Lanes; l++) begin : gen_digits
    assign digits[l] = $bits(digits_t)'({bt[l], key[l]});
  end

  for (genvar d = 0; d < Digits; d++) begin : gen_digit
    (* ram_style = "distributed" *) rows_t mem[1 << DigitW];
    logic [DigitW-1:0] addr;

    assign addr = writes ? value_q : digits[0][d];
    assign fits[0][d] = mem[addr];
    for (genvar l = 1; l < Lanes; l++) begin : gen_lane
      assign fits[l][d] = mem[digits[l][d]];
    end
    always_ff @(posedge clk)
      if (writes) mem[addr] <= (value_q & masks[d]) == wanted[d] ? fits[0][d] | row_bit : fits[0][d] & ~row_bit;
  end

  function automatic rows_t all_of(rows_t [Digits-1:0] of_digits);
    all_of = '1;
    for (int unsigned d = 0; d < Digits; d++) all_of &= of_digits[d];
  endfunction

  // In cycles without a frame it holds still (rmt_units.sv).
  always_ff @(posedge clk)
    for (int unsigned l = 0; l < Lanes; l++) if (valid[l]) match_q[l] <= all_of(fits[l]) & valid_q;

  // ---- FIRST
  logic [Lanes-1:0] hit_d, hit_q;
  logic [Lanes-1:0][TernaryW-1:0] row;

  always_comb
    for (int unsigned l = 0; l < Lanes; l++) begin
      logic [Groups-1:0] any;
      logic [Groups-1:0][InsideW-1:0] place;
      place = '0;
      row[l] = '0;
      for (int unsigned g = 0; g < Groups; g++) begin
        any[g] = match_q[l][GroupRows*g+:GroupRows] != '0;
        for (int n = GroupRows - 1; n >= 0; n--) if (match_q[l][GroupRows*g+n]) place[g] = InsideW'(n);
      end
      for (int g = Groups - 1; g >= 0; g--) if (any[g]) row[l] = {GroupW'(g), place[g]};
      hit_d[l] = any != '0;
    end

  // ---- target
  logic slot_q;
  target_t [Lanes-1:0] target;
  word_t target_word;

  always_ff @(posedge clk) begin
    slot_q <= slot;
    hit_q  <= hit_d;
  end

  rmt_ram #(
      .Width($bits(target_t)),
      .Depth(TernaryRows)
  ) i_targets (
      .clk,
      .slot(slot_q),
      .selected(host.memory == MemTarget && host.stage == 8'(stage)),
      .host,
      .host_word(target_word),
      .addr(row),
      .data(target)
  );

  for (genvar l = 0; l < Lanes; l++) begin : gen_found
    assign found[l] = '{hit: hit_q[l], action: target[l].action, params: target[l].params};
  end

  assign host_word = target_word | (selected ? copy_word_q : '0);

`ifndef SYNTHESIS
  always_ff @(posedge clk) if (!rst) assert (!writes || valid == '0) else $error("%m: a frame in the host's slot");
`endif
endmodule

`default_nettype wire
