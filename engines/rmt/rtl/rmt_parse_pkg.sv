// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0

// What goes from depth to depth of the parser.
package rmt_parse_pkg;
  import rmt_pkg::*;

  typedef struct packed {
    ctl_t                   ctl;
    info_t                  info;
    logic                   done;
    logic [2:0]             error;
    logic [5:0]             offset;  // in words, up to 32
    logic [15:0]            flags;
    origin_t [Extracted-1:0] place;
  } parse_t;

  // A frame between two depths: what the last row says is decided, but not yet in `parse`.
  typedef struct packed {
    parse_t     parse;
    state_row_t row;
    error_e     misfit; // the fixed part does not fit
    logic       extra;  // there is a variable part
    logic [7:0] words;  // of the variable part
    goto_t      next;
  } step_t;

  // The word at `offset` + `relative`, which is signed; outside of the window 0
  function automatic word_t word_at(window_t window, logic [5:0] offset, logic [5:0] relative);
    logic [7:0] at;
    at = 8'(offset) + {{2{relative[5]}}, relative};
    return at < 8'(WindowWords) ? window[at[4:0]] : '0;
  endfunction

  // Whether a frame of `len` bytes ends before `bytes` behind the word at `offset`
  function automatic logic ends_before(logic [15:0] len, logic [8:0] words, logic [7:0] bytes);
    return 18'({words, 2'b0}) + 18'(bytes) > 18'(len) + 18'(PadBytes);
  endfunction

  function automatic error_e fixed_error(parse_t p, state_row_t row);
    if (ends_before(p.info.len, 9'(p.offset), row.need)) return ErrorShort;
    return 8'(p.offset) + 8'(row.count) > 8'(WindowWords) ? ErrorWindow : ErrorNone;
  endfunction

  // `parse` with all that the last row says
  function automatic parse_t settle(step_t s);
    parse_t p;
    logic [8:0] fixed, ends;
    p = s.parse;
    fixed = 9'(p.offset) + 9'(s.row.advance);
    ends = fixed + (s.extra ? 9'(s.words) : '0);
    if (s.parse.done) return p;
    if (s.misfit != ErrorNone) begin
      p.done  = 1'b1;
      p.error = s.misfit;
      return p;
    end
    p.flags |= s.row.flags;
    for (int unsigned w = 0; w < Extracted; w++)
      if (w >= 32'(s.row.dst) && w < 32'(s.row.dst) + 32'(s.row.count))
        p.place[w] = origin_t'({1'b1, 5'(32'(p.offset) + w - 32'(s.row.dst))});
    if (s.next[3]) begin
      p.done  = 1'b1;
      p.error = s.next[2:0];
    end
    if (s.extra && s.words > 8'(s.row.vmax)) begin
      p.done  = 1'b1;
      p.error = ErrorHeader;
    end else if (s.extra && ends_before(p.info.len, ends, '0)) begin
      p.done  = 1'b1;
      p.error = ErrorShort;
    end else if (ends > 9'(WindowWords)) begin
      p.done  = 1'b1;
      p.error = ErrorWindow;
    end else if (s.extra && s.row.vextract) begin
      for (int unsigned w = 0; w < Extracted; w++)
        if (w >= 32'(s.row.vdst) && w < 32'(s.row.vdst) + 32'(s.words))
          p.place[w] = origin_t'({1'b1, 5'(32'(fixed) + w - 32'(s.row.vdst))});
    end
    p.offset = ends[5:0];
    return p;
  endfunction

endpackage
