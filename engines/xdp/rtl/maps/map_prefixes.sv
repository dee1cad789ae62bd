// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// Longest prefixes, as lookups of exact ones: a request for a map of prefixes goes on with its key cut to the prefix; a
// lookup once for each length of which the map has had prefixes, the longest first, as a probe. map_longest combines
// the results of all probes. All else passes.
//
//   in ─> key ─> lengths that may be ─> the longest left ─> cut ─> out
//
// A part a cycle passes. A key of prefixes takes three cycles, then each probe one; one more if the key has more than
// 12 bytes after its length. A length that a map has had remains among the probed lengths until the map is made again.
module map_prefixes
  import map_pkg::*;
  import maps_pkg::*;
(
    input wire logic clk,
    input wire logic rst,

    input wire logic        define,
    input wire map_t        define_map,
    input wire descriptor_t define_as,
    input wire logic        length_used,  // by that map, from now on
    input wire map_t        length_map,
    input wire length_t     length,

    output logic [Maps-1:0] prefixes,  // which maps are of prefixes

    input wire logic  in_valid,
    input wire flit_t in,
    input wire logic  in_asks,  // it begins a request for one of them
    output logic      in_pop,

    output logic  out_valid,
    output flit_t out,
    input wire logic out_ready
);
  typedef logic [MaxLength:0] lengths_t;

  typedef enum logic [2:0] {
    Pass,
    Second,   // part of the key
    Which,    // lengths may be meant
    Longest,  // of them: the next ones are found while probes leave
    Cut,
    CutSecond,
    Rest      // of an update: its value
  } state_e;

  // A cycle after `define` the ledger reports no length, so none is lost; `define_map` is still valid.
  (* ram_style = "distributed" *) lengths_t lengths[Maps];
  logic [Maps-1:0] prefixes_q;
  length_t most_q[Maps];
  logic define_q;
  always_ff @(posedge clk) begin
    define_q <= define;
    if (define_q) lengths[define_map] <= '0;
    else if (length_used) lengths[length_map] <= lengths[length_map] | (lengths_t'(1) << length);
  end
  always_ff @(posedge clk) begin
    if (define) begin
      prefixes_q[define_map] <= define_as.kind == MapLpm;
      most_q[define_map] <= length_t'({define_as.key_bytes - 7'd4, 3'd0});
    end
    if (rst) prefixes_q <= '0;
  end

  assign prefixes = prefixes_q;

  state_e state_q;
  flit_t now_q;
  data_t second_q;
  logic two_q, ended_q, final_q;
  lengths_t left_q;
  length_t longest, longest_q, count_q;
  wire map_info_t now_info = now_q.info;
  wire [31:0] asked = now_q.data[3:0];
  wire wrong = asked > 32'(most_q[now_info.map]);  // longer than keys are

  // The highest of them: in each 16, then of those
  localparam int unsigned Parts = (MaxLength + 16) / 16;
  logic [16*Parts-1:0] left;
  logic [3:0] highest[Parts];
  always_comb begin
    left = (16 * Parts)'(left_q);
    longest = '0;
    for (int unsigned p = 0; p < Parts; p++) begin
      highest[p] = '0;
      for (int unsigned i = 0; i < 16; i++) if (left[16*p+i]) highest[p] = 4'(i);
      if (left[16*p+:16] != '0) longest = {4'(p), highest[p]};
    end
  end

  // The bits of `bits` that belong to a prefix, `first` bits of which stand before: the highest of each byte first
  function automatic data_t cut(data_t bits, length_t kept_bits, length_t first);
    data_t kept;
    for (int unsigned b = 0; b < FlitBytes; b++)
      for (int unsigned i = 0; i < 8; i++) kept[b][7-i] = bits[b][7-i] && 9'(first) + 9'(8 * b + i) < 9'(kept_bits);
    return kept;
  endfunction

  map_info_t info;
  always_comb begin
    info = now_info;
    info.length = longest_q;
    info.probe = now_q.op == OpLookup;
    info.probes = final_q ? count_q : '0;

    out = now_q;
    out_valid = 1'b0;
    in_pop = 1'b0;
    unique case (state_q)
      Pass: begin
        out = in;
        out_valid = in_valid && !in_asks;
        in_pop = in_valid && (in_asks || out_ready);
      end
      Second: in_pop = in_valid;
      Which: begin
        out.op = OpSay;
        out.info = now_q.op == OpLookup ? '0 : {24'd0, Invalid};
        out.key_end = 1'b1;
        out.last = ended_q;
        out_valid = wrong;
      end
      Longest: begin
        out.op = OpSay;
        out.info = '0;
        out.key_end = 1'b1;
        out.last = 1'b1;
        out_valid = left_q == '0;
      end
      Cut: begin
        out.info = info;
        out.data = cut(now_q.data, longest_q + 8'd32, '0);
        out.data[3:0] = 32'(longest_q);
        out.key_end = !two_q;
        out.last = ended_q && !two_q;
        out_valid = 1'b1;
      end
      CutSecond: begin
        out.info = info;
        out.data = cut(second_q, longest_q, 8'd96);
        out.key_end = 1'b1;
        out.last = ended_q;
        out_valid = 1'b1;
      end
      default: begin
        out = in;
        out_valid = in_valid;
        in_pop = in_valid && out_ready;
      end
    endcase
  end

  wire lengths_t too_long = {(MaxLength + 1) {1'b1}} << asked[7:0] << 1;
  wire state_e behind = ended_q ? Pass : Rest;

  task automatic take_longest();
    longest_q <= longest;
    count_q <= count_q + 1'b1;
    final_q <= (left_q & (left_q - 1'b1)) == '0;
    left_q[longest] <= 1'b0;
  endtask

  task automatic probe_next();
    take_longest();
    state_q <= final_q ? behind : Cut;
  endtask

  always_ff @(posedge clk) begin
    unique case (state_q)
      Pass: begin
        now_q <= in;
        two_q <= !in.key_end;
        ended_q <= in.last;
        count_q <= '0;
        if (in_valid && in_asks) state_q <= in.key_end ? Which : Second;
      end
      Second: begin
        second_q <= in.data;
        ended_q <= in.last;
        if (in_valid) state_q <= Which;
      end
      Which: begin
        left_q <= now_q.op == OpLookup ? lengths[now_info.map] & ~too_long : lengths_t'(1) << asked[7:0];
        if (!wrong) state_q <= Longest;
        else if (out_ready) state_q <= behind;
      end
      Longest: begin
        take_longest();
        if (left_q != '0) state_q <= Cut;
        else if (out_ready) state_q <= Pass;
      end
      Cut:
      if (out_ready) begin
        if (two_q) state_q <= CutSecond;
        else probe_next();
      end
      CutSecond: if (out_ready) probe_next();
      default: if (in_valid && out_ready && in.last) state_q <= Pass;
    endcase
    if (rst) state_q <= Pass;
  end
endmodule

`default_nettype wire
