// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// One depth of the parser: a row for the frame's state, a word of the window as its key, and where to go.
//
//   step ─┬─> row's memory ─> PICK ──────────> DECIDE ─> step
//         └─> SETTLE ───────> key, length      case,
//             offset, places  field's word     under
//
// 3 cycles, a frame a cycle in each lane; nothing stops. The state of the next depth is known first, and addresses its
// memory while the offset is added up.
module rmt_transition
  import rmt_pkg::*, rmt_parse_pkg::*;
#(
    parameter int unsigned Depth = 0
) (
    input wire logic clk,
    input wire logic rst,

    input wire logic  slot,
    output     logic  slot_out,
    input wire host_t host,
    output     word_t host_word,

    input wire step_t   [Lanes-1:0] in,
    input wire window_t [Lanes-1:0] in_window,
    output     step_t   [Lanes-1:0] out,
    output     window_t [Lanes-1:0] out_window
);
  logic [1:0] slot_q;
  logic [Lanes-1:0][9:0] addr;
  state_row_t [Lanes-1:0] row;

  rmt_ram #(
      .Width($bits(state_row_t)),
      .Depth(1024)
  ) i_rows (
      .clk,
      .slot,
      .selected(host.memory == MemParser && 32'(host.stage) == Depth),
      .host,
      .host_word,
      .addr,
      .data(row)
  );

  always_ff @(posedge clk) begin
    {slot_out, slot_q} <= {slot_q, slot};
    if (rst) {slot_out, slot_q} <= '0;
  end

  for (genvar l = 0; l < Lanes; l++) begin : gen_lane
    parse_t settled_q, picked_q;
    window_t window1_q, window2_q;
    state_row_t row2_q;
    word_t key_q, field_q;
    error_e short_q;
    logic [5:0] field;
    goto_t next;

    assign addr[l] = {in[l].parse.ctl.bt, in[l].next[2:0]};

    // ---- SETTLE
    always_ff @(posedge clk) begin
      settled_q <= settle(in[l]);
      window1_q <= in_window[l];
      if (rst) settled_q.ctl.valid <= 1'b0;
    end

    // ---- PICK
    always_ff @(posedge clk) begin
      picked_q  <= settled_q;
      window2_q <= window1_q;
      row2_q    <= row[l];
      key_q     <= word_at(window1_q, settled_q.offset, row[l].kword);
      field_q   <= word_at(window1_q, settled_q.offset, row[l].vword);
      short_q   <= fixed_error(settled_q, row[l]);
      if (rst) picked_q.ctl.valid <= 1'b0;
    end

    // ---- DECIDE
    always_comb begin
      field = 6'(field_q >> row2_q.vshift) & row2_q.vmask;
      next  = row2_q.otherwise;
      for (int c = Cases - 1; c >= 0; c--)
        if (row2_q.valid[c] && (key_q & row2_q.mask[c]) == row2_q.value[c]) next = row2_q.next[c];
      if (row2_q.has_var && field < row2_q.least) next = row2_q.under;
    end

    always_ff @(posedge clk) begin
      out[l].parse  <= picked_q;
      out[l].row    <= row2_q;
      out[l].misfit  <= short_q;
      out[l].extra  <= row2_q.has_var && field >= row2_q.least;
      out[l].words  <= 8'(field - row2_q.least) << row2_q.doubled;
      out[l].next   <= next;
      out_window[l] <= window2_q;
      if (rst) out[l].parse.ctl.valid <= 1'b0;
    end
  end
endmodule

`default_nettype wire
