// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// The step of a lane at a depth of the parser: a word of the window is the key, which selects the next state.
//
//   row's memory ─> PICK ──────────> DECIDE ─┬─> next depth's memory
//   offset ───────> key, length              └─> offset
//                   field's word
//   frame, late ──> SETTLE ──────────────────> frame, late
//
// 2 cycles, a frame a cycle; nothing stops. The next state and the next offset are known first. What the row does to
// the frame apart from that, SETTLE of the next depth does.
module rmt_step
  import rmt_pkg::*, rmt_parse_pkg::*;
(
    input wire logic clk,
    input wire logic rst,

    input wire parse_t     parse,
    input wire late_t      late,
    input wire logic [5:0] offset,
    input wire origin_t    place[Extracted],
    input wire window_t    window,
    input wire state_row_t row,        // is there with the frame
    output     bt_t        next_bt,    // a cycle ahead of `out_parse`, as `next_state` is
    output     logic [2:0] next_state,
    output     parse_t     out_parse,
    output     late_t      out_late,
    output     logic [5:0] out_offset,
    output     origin_t    out_place[Extracted],
    output     window_t    out_window
);
  // Many instances: one model serves all.
  /* verilator no_inline_module */
  parse_t settled;
  origin_t settled_place[Extracted];
  window_t window1_q;
  state_row_t row1_q;
  word_t key_q, field_q, shifted;
  error_e misfit_q;
  logic [7:0] key_at, field_at, words;
  logic [5:0] offset1_q, field;
  logic [6:0] fixed_q;
  logic [8:0] ends;
  logic [Cases-1:0] match;
  logic extra;
  goto_t next;

  rmt_settle i_settle (
      .clk,
      .rst,
      .parse,
      .place,
      .late,
      .out(settled),
      .out_place(settled_place)
  );

  // ---- PICK: words outside of the window are 0
  assign key_at = 8'(offset) + {{2{row.kword[5]}}, row.kword};
  assign field_at = 8'(offset) + {{2{row.vword[5]}}, row.vword};

  always_ff @(posedge clk) begin
    window1_q <= window;
    row1_q    <= row;
    key_q     <= key_at < 8'(WindowWords) ? window[key_at[4:0]] : '0;
    field_q   <= field_at < 8'(WindowWords) ? window[field_at[4:0]] : '0;
    offset1_q <= offset;
    fixed_q   <= 7'(offset) + 7'(row.advance);
    misfit_q  <= 18'({offset, 2'b0}) + 18'(row.need) > 18'(parse.info.len) + 18'(PadBytes) ? ErrorShort :
        8'(offset) + 8'(row.count) > 8'(WindowWords) ? ErrorWindow : ErrorNone;
  end

  // ---- DECIDE
  assign shifted = field_q >> row1_q.vshift;
  assign field = shifted[5:0] & row1_q.vmask;
  assign extra = row1_q.has_var && field >= row1_q.least;
  assign words = 8'(field - row1_q.least) << row1_q.doubled;
  assign ends = 9'(fixed_q) + (extra ? 9'(words) : '0);
  for (genvar c = 0; c < Cases; c++) begin : gen_case
    assign match[c] = row1_q.valid[c] && (key_q & row1_q.mask[c]) == row1_q.value[c];
  end
  assign next = row1_q.has_var && field < row1_q.least ? row1_q.under :
      match[0] ? row1_q.next[0] :
      match[1] ? row1_q.next[1] :
      match[2] ? row1_q.next[2] :
      match[3] ? row1_q.next[3] : row1_q.otherwise;
  assign next_bt = settled.ctl.bt;
  assign next_state = next[2:0];

  always_ff @(posedge clk) begin
    out_parse  <= settled;
    out_place  <= settled_place;
    out_window <= window1_q;
    out_offset <= ends[5:0];
    out_late   <= '{
        next: next,
        misfit: misfit_q,
        offset: offset1_q,
        fixed: fixed_q,
        ends: ends,
        extra: extra,
        words: words,
        vextract: row1_q.vextract,
        vmax: row1_q.vmax,
        vdst: row1_q.vdst,
        count: row1_q.count,
        dst: row1_q.dst,
        flags: row1_q.flags
    };
    if (rst) out_parse.ctl.valid <= 1'b0;
  end
endmodule

`default_nettype wire
