// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// The step of a lane at a depth of the parser: a word of the window is the key, which selects the next state.
//
//   frame ─┬─> row's memory ─> PICK ──────────> DECIDE ─> frame
//          └─> SETTLE ───────> key, length      case,
//              offset, places  field's word     under
//
// 3 cycles, a frame a cycle; nothing stops. The state of the next depth is known first, and addresses its memory while
// the offset is added. The row follows `parse` by a cycle.
module rmt_step
  import rmt_pkg::*, rmt_parse_pkg::*;
(
    input wire logic clk,
    input wire logic rst,

    input wire parse_t     parse,
    input wire late_t      late,
    input wire origin_t    place[Extracted],
    input wire window_t    window,
    input wire state_row_t row,
    output     parse_t     out_parse,
    output     late_t      out_late,
    output     origin_t    out_place[Extracted],
    output     window_t    out_window
);
  // Many instances: one model serves all.
  /* verilator no_inline_module */
  parse_t settled, picked_q;
  origin_t settled_place[Extracted], place2_q[Extracted];
  window_t window1_q, window2_q;
  state_row_t row2_q;
  word_t key_q, field_q, shifted;
  error_e misfit_q;
  logic [7:0] key_at, field_at;
  logic [5:0] field;
  logic [Cases-1:0] match;
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
  assign key_at = 8'(settled.offset) + {{2{row.kword[5]}}, row.kword};
  assign field_at = 8'(settled.offset) + {{2{row.vword[5]}}, row.vword};

  always_ff @(posedge clk) begin
    window1_q <= window;
    window2_q <= window1_q;
    place2_q  <= settled_place;
    picked_q  <= settled;
    row2_q    <= row;
    key_q     <= key_at < 8'(WindowWords) ? window1_q[key_at[4:0]] : '0;
    field_q   <= field_at < 8'(WindowWords) ? window1_q[field_at[4:0]] : '0;
    misfit_q  <= 18'({settled.offset, 2'b0}) + 18'(row.need) > 18'(settled.info.len) + 18'(PadBytes) ? ErrorShort :
        8'(settled.offset) + 8'(row.count) > 8'(WindowWords) ? ErrorWindow : ErrorNone;
    if (rst) picked_q.ctl.valid <= 1'b0;
  end

  // ---- DECIDE
  assign shifted = field_q >> row2_q.vshift;
  assign field = shifted[5:0] & row2_q.vmask;
  for (genvar c = 0; c < Cases; c++) begin : gen_case
    assign match[c] = row2_q.valid[c] && (key_q & row2_q.mask[c]) == row2_q.value[c];
  end
  assign next = row2_q.has_var && field < row2_q.least ? row2_q.under :
      match[0] ? row2_q.next[0] :
      match[1] ? row2_q.next[1] :
      match[2] ? row2_q.next[2] :
      match[3] ? row2_q.next[3] : row2_q.otherwise;

  always_ff @(posedge clk) begin
    out_parse  <= picked_q;
    out_place  <= place2_q;
    out_window <= window2_q;
    out_late   <= '{
        next: next,
        misfit: misfit_q,
        extra: row2_q.has_var && field >= row2_q.least,
        words: 8'(field - row2_q.least) << row2_q.doubled,
        vextract: row2_q.vextract,
        vmax: row2_q.vmax,
        vdst: row2_q.vdst,
        advance: row2_q.advance,
        count: row2_q.count,
        dst: row2_q.dst,
        flags: row2_q.flags
    };
    if (rst) out_parse.ctl.valid <= 1'b0;
  end
endmodule

`default_nettype wire
