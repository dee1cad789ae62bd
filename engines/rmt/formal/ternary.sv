// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// A ternary row that may match matches the frames of its own bank and tenant with its key, and no others, also while
// other rows are set out: rtl/rmt_ternary.sv as it is. By induction from a reset on, for row `Row`, any key, any bank
// and tenant; the rows are alike. A row of another tenant therefore matches no frame of A, whatever it has.
//
// Taken for granted: the host has its own slot on the wheel, in which no frame comes while a row is set out, and its
// access stands until then (entry.sv).
module ternary
  import rmt_pkg::*;
#(
    parameter int unsigned TernaryW = 7,
    parameter logic [TernaryW-1:0] Row = TernaryW'(37)
) (
    input wire logic clk,

    input wire key_t                    sought,   // of the watched frames
    input wire logic [6:0]              sought_bt,
    input wire logic [3:0]              number,
    input wire logic                    slot,
    input wire host_t                   host,
    input wire logic [Lanes-1:0]        valid,
    input wire logic [Lanes-1:0][6:0]   bt,
    input wire key_t [Lanes-1:0]        key
);
  localparam int unsigned DigitW = 5;
  localparam int unsigned Digits = ($bits(key_t) + 7 + DigitW - 1) / DigitW;
  typedef logic [Digits-1:0][DigitW-1:0] digits_t;

  logic [1:0] cycle_q = '0;
  logic started;
  assign started = cycle_q == '1;
  key_t sought_q;
  logic [6:0] sought_bt_q;
  localparam logic [TernaryW-1:0] watched = Row;
  logic [3:0] number_q;
  host_t host_q;
  logic [2:0] phase_q;  // of the wheel; 0: the host's slot
  always_ff @(posedge clk) begin
    cycle_q <= cycle_q + 2'(cycle_q != '1);
    {sought_q, sought_bt_q, number_q, host_q} <= {sought, sought_bt, number, host};
    phase_q <= phase_q + 1'b1;
  end

  word_t host_word;
  logic busy;
  found_t [Lanes-1:0] found;
  rmt_ternary i_ternary (
      .clk,
      .rst(!started),
      .slot,
      .stage(number),
      .host,
      .host_word,
      .busy,
      .valid,
      .bt,
      .key,
      .found
  );

  always_comb begin
    assume (i_ternary.i_copy.open_watched == watched);
    if (cycle_q != '0)
      assume ({sought_q, sought_bt_q, number_q} == {sought, sought_bt, number});
    // The host has its slot, and its access stands until it is done; no frame is in its slot meanwhile.
    assume (!slot || (phase_q == '0 && !busy));
    if (busy) assume (host == host_q);
    assume (!(busy && phase_q == '0) || valid == '0);
    assume (started || !slot);
  end

  // ---- whether the watched row matches the watched key
  ternary_t row;
  digits_t digits, wanted, masks;
  logic [Digits-1:0] takes, fits;
  logic is_set_out;
  assign row = i_ternary.i_copy.row_q;
  assign digits = $bits(digits_t)'({sought_bt, sought});
  assign wanted = $bits(digits_t)'({row.bt, row.value});
  assign masks = {{($bits(digits_t) - $bits(key_t)) {1'b1}}, row.mask};
  for (genvar d = 0; d < Digits; d++) begin : gen_digit
    wire [(1<<TernaryW)-1:0] line = i_ternary.gen_digit[d].mem[digits[d]];
    assign takes[d] = line[watched];
    assign fits[d] = (digits[d] & masks[d]) == wanted[d];
    always_comb
      if (started) begin
        if (i_ternary.valid_q[watched]) assert (takes[d] == fits[d]);
        if (is_set_out && digits[d] < i_ternary.value_q) assert (takes[d] == fits[d]);
      end
  end
  assign is_set_out = busy && host.row[TernaryW-1:0] == watched;

  logic [Lanes-1:0] seen_q, expected_q;  // a watched frame was compared; whether the row is its own and matches
  wire is_match = row.valid && row.bt == sought_bt && ((sought ^ row.value) & row.mask) == '0 &&
      (row.value & ~row.mask) == '0;
  always_ff @(posedge clk)
    for (int unsigned l = 0; l < Lanes; l++) begin
      seen_q[l] <= started && valid[l] && bt[l] == sought_bt && key[l] == sought;
      expected_q[l] <= i_ternary.valid_q[watched] && is_match;
    end
  always_comb begin
    if (cycle_q != '0 && !started) assert (!busy && i_ternary.valid_q == '0);
    if (started) begin
      if (busy) assert (i_ternary.wheel_q == phase_q);
      if (is_set_out) assert ($bits(ternary_t)'(host_q.data) == row && row.valid && !i_ternary.valid_q[watched]);
      if (busy) assert (host_q.memory == MemTernary && host_q.stage == 8'(number));
      if (i_ternary.valid_q[watched]) assert (row.valid);
      for (int unsigned l = 0; l < Lanes; l++) begin
        if (seen_q[l]) assert (i_ternary.match_q[l][watched] == expected_q[l]);
      end
    end
  end
endmodule

// The result of the search is that of the first row that matched, from any state.
module first
  import rmt_pkg::*;
(
    input wire logic clk,

    input wire logic [6:0]              any,  // row
    input wire logic [3:0]              number,
    input wire logic                    slot,
    input wire host_t                   host,
    input wire logic [Lanes-1:0]        valid,
    input wire logic [Lanes-1:0][6:0]   bt,
    input wire key_t [Lanes-1:0]        key
);
  found_t [Lanes-1:0] found;
  rmt_ternary i_ternary (
      .clk,
      .rst(1'b0),
      .slot,
      .stage(number),
      .host,
      .host_word(),
      .busy(),
      .valid,
      .bt,
      .key,
      .found
  );

  logic after_q = 1'b0;
  logic [Lanes-1:0] hit_q;
  always_ff @(posedge clk) begin
    after_q <= 1'b1;
    for (int unsigned l = 0; l < Lanes; l++) hit_q[l] <= i_ternary.match_q[l] != '0;
  end

  for (genvar l = 0; l < Lanes; l++) begin : gen_lane
    logic [6:0] addr;
    target_t target;
    assign addr = i_ternary.i_targets.addr[l];
    assign target = i_ternary.i_targets.data[l];
    always_comb begin
      if (i_ternary.match_q[l] != '0) assert (i_ternary.match_q[l][addr]);
      if (i_ternary.match_q[l][any]) assert (addr <= any);
      if (after_q) assert (found[l] == found_t'{hit: hit_q[l], action: target.action, params: target.params});
    end
  end
endmodule

`default_nettype wire
