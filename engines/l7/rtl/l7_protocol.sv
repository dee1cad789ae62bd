// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// The walker of protocols: reads the payload of a message of DNS or memcached, and makes a window of fields of it, as
// messages of QNP have one. Behind it nothing knows of protocols.
//
//   window ─> load ──────> walk or word ─> fields or scan ─> first ─> pieces ─────────> window
//             1 a beat     DNS: 1 a label                    1        1 a label, or 1 for each 64 bytes of a key
//                          memcached: 1    1                          (beats leave as they fill)
//
// Windows of QNP pass in the same cycle. A name of L labels takes about 2L + 5 cycles, a key of up to 64 bytes 6.
//
// docs/hardware.md has the LUTs that synthesis counts. The window is 2,048 flip-flops. The longest path is a label:
// place, one of 256 bytes, sum, compare.
module l7_protocol
  import penstock_pkg::*, l7_pkg::*;
(
    input wire logic      clk,
    input wire logic      rst,
    input wire protocol_e protocol,

    input  wire logic    in_valid,
    output logic         in_pop,
    input  wire window_t in,

    output logic         out_valid,
    input  wire logic    out_pop,
    output window_t      out
);
  /* verilator no_inline_module */  // the model compiles it once for all instances
  localparam int unsigned MaxLabels = 32;
  localparam int unsigned MaxField = 250;  // bytes of a name or key
  localparam place_in_window_t DnsHeader = 9'd12;
  localparam place_in_window_t DatagramHeader = 9'd8;  // of memcached over UDP

  typedef enum logic [2:0] {
    Load,
    Walk,    // DNS: a label
    Fields,  // DNS: the type behind the name
    Word,    // memcached: the command
    Scan,    // memcached: 64 bytes of the key
    First,   // numbers and lengths of the fields
    Pieces,
    Flush
  } state_e;

  typedef logic [$clog2(MaxLabels):0] label_t;

  state_e state_q;
  window_t head_q;  // slot, port and bank of the message
  logic [8*WindowBytes-1:0] bytes_q;
  logic [1:0] beat_q;
  place_in_window_t size_q;  // of the payload, as far as it is seen

  // ---- load
  logic takes;
  assign takes = in_valid && state_q == Load && protocol != ProtocolQnp;
  always_ff @(posedge clk)
    if (takes) begin
      for (int unsigned b = 0; b < WindowBeats; b++)
        if (32'(in.first ? 2'd0 : beat_q) == b) begin
          bytes_q[DataW*b+:DataW] <= in.data;
        end
      beat_q <= in.first ? 2'd1 : beat_q + 2'd1;
      if (in.first) begin
        head_q <= in;
        size_q <= in.limit;
      end
    end

  // ---- 64 bytes from a place on
  place_in_window_t at_q, end_q, low_q, place;
  (* ram_style = "distributed" *) logic [7:0] labels[MaxLabels];
  label_t count_q;  // labels; while they leave, those that are left
  logic [DataW-1:0] there;
  logic is_dns;
  assign is_dns = protocol == ProtocolDns;

  always_comb begin
    place = at_q;
    if (state_q == Fields) place = end_q;
    if (state_q == Word) place = DatagramHeader;
    if (state_q == Pieces && is_dns) place = {1'b0, labels[$clog2(MaxLabels)'(count_q-1'b1)]};
    there = DataW'(bytes_q >> {place[7:0], 3'd0});
  end

  // ---- DNS: the name, label by label
  logic [7:0] label;
  logic is_query, is_label, is_pointer, is_end, bad, jumped_q;
  logic [9:0] past_of_name;
  logic [13:0] target;
  logic [15:0] of_type_q;
  place_in_window_t length_q;  // of the name or key

  assign label = there[7:0];
  assign is_query = size_q >= DnsHeader && bytes_q[8*2+3+:5] == '0 && bytes_q[8*4+:16] == 16'h0100;
  assign is_end = label == '0;
  assign is_label = label[7:6] == 2'b00 && !is_end;
  assign is_pointer = label[7:6] == 2'b11;
  assign past_of_name = 10'(length_q) + 10'(label) + 10'd1;
  assign target = {label[5:0], there[15:8]};
  assign bad = !is_query || at_q >= size_q || !(is_end || is_label || is_pointer) ||
      (is_label && (past_of_name > 10'(MaxField) || count_q == label_t'(MaxLabels))) ||
      (is_pointer && (10'(at_q) + 10'd2 > 10'(size_q) || target >= 14'(low_q)));

  // ---- memcached: the command, and the end of the key
  logic is_datagram, known;
  logic [3:0] word_len;
  logic [3:0] command;
  logic [BeatBytes-1:0] stops;
  logic some;
  logic [5:0] first_at;

  assign is_datagram = size_q >= DatagramHeader && bytes_q[8*2+:16] == '0 && bytes_q[8*4+:16] == 16'h0100;
  always_comb begin
    command = '0;
    word_len = '0;
    for (int unsigned i = 0; i < Commands; i++)
      if (((there[63:0] ^ CommandList[i].text) & ~({64{1'b1}} << (8 * CommandList[i].len))) == '0) begin
        command |= CommandList[i].of_type;
        word_len |= CommandList[i].len;
      end
  end
  assign known = is_datagram && word_len != '0 && DatagramHeader + place_in_window_t'(word_len) <= size_q;

  always_comb begin
    first_at = '0;
    for (int b = int'(BeatBytes) - 1; b >= 0; b--) begin
      stops[b] = there[8*b+:8] inside {8'h20, 8'h0D, 8'h0A} && 10'(at_q) + 10'(b) < 10'(size_q);
      if (stops[b]) first_at = 6'(b);
    end
    some = stops != '0;
  end

  // ---- pieces of the window, and those bytes that have not filled a beat
  logic go, emits, piece_valid, piece_last, ends;
  logic [6:0] piece_bytes, sum;
  logic [DataW-1:0] piece, masked, kept_q;
  logic [2*DataW-1:0] joined;
  logic [5:0] kept_bytes_q;
  logic [3:0] mtype_q;
  logic [8:0] left_q;  // bytes of the key
  place_in_window_t limit;
  logic begun_q, out_valid_q, empty_q;
  window_t out_q;

  function automatic logic [7:0] lower(logic [7:0] letter);
    return letter >= "A" && letter <= "Z" ? letter | 8'h20 : letter;
  endfunction

  assign go = !out_valid_q || out_pop;
  assign limit = empty_q ? '0 : is_dns ? length_q + 9'd6 : length_q + 9'd2;

  always_comb begin
    piece_valid = state_q == First || state_q == Pieces;
    piece = there;
    piece_bytes = left_q > 9'd64 ? 7'd64 : left_q[6:0];
    piece_last = left_q <= 9'd64;
    if (is_dns) begin
      for (int unsigned b = 0; b < BeatBytes; b++) piece[8*b+:8] = lower(there[8*b+:8]);
      piece_bytes = 7'(label) + 7'd1;
      piece_last = count_q == label_t'(1);
    end
    if (state_q == First) begin
      piece = is_dns ? DataW'({length_q[7:0], 8'd1, of_type_q, 8'd2, 8'd2}) : DataW'({length_q[7:0], 8'd1});
      piece_bytes = empty_q ? 7'd0 : is_dns ? 7'd6 : 7'd2;
      piece_last = empty_q || (is_dns && count_q == '0);
    end
    for (int unsigned b = 0; b < BeatBytes; b++) masked[8*b+:8] = 7'(b) < piece_bytes ? piece[8*b+:8] : '0;
    joined = (2*DataW)'(masked) << {kept_bytes_q, 3'd0};
    joined[DataW-1:0] |= kept_q;
    sum = 7'(kept_bytes_q) + piece_bytes;
    emits = piece_valid && (sum[6] || piece_last);
    ends = go && piece_valid && piece_last;
  end

  always_ff @(posedge clk) begin
    if (go && (emits || state_q == Flush)) begin
      out_q <= head_q;
      out_q.first <= !begun_q;
      out_q.last <= state_q == Flush || (piece_last && sum <= 7'd64);
      out_q.mtype <= mtype_q;
      out_q.limit <= limit;
      out_q.data <= state_q == Flush ? kept_q : joined[DataW-1:0];
      begun_q <= 1'b1;
    end
    out_valid_q <= (go && (emits || state_q == Flush)) || (out_valid_q && !out_pop);
    if (go && piece_valid) begin
      kept_q <= sum[6] ? joined[2*DataW-1:DataW] : joined[DataW-1:0];
      kept_bytes_q <= sum[5:0];
    end

    unique case (state_q)
      Load: begin
        at_q <= DnsHeader;
        low_q <= DnsHeader;
        count_q <= '0;
        length_q <= '0;
        jumped_q <= 1'b0;
        mtype_q <= '0;
        empty_q <= 1'b1;
        begun_q <= 1'b0;
        kept_q <= '0;
        kept_bytes_q <= '0;
        if (takes && in.last) state_q <= is_dns ? Walk : Word;
      end
      Walk: begin
        if (is_label) begin
          labels[$clog2(MaxLabels)'(count_q)] <= at_q[7:0];
          count_q <= count_q + 1'b1;
          length_q <= past_of_name[8:0];
          at_q <= at_q + 9'(label) + 9'd1;  // behind the window, if the label ends there: `bad`
        end else begin
          at_q <= target[8:0];
          low_q <= target[8:0];
          jumped_q <= 1'b1;
          if (!jumped_q) end_q <= at_q + (is_end ? 9'd1 : 9'd2);
        end
        if (bad) begin
          state_q <= First;
        end else if (is_end) state_q <= Fields;
      end
      Fields: begin
        state_q <= First;
        of_type_q <= there[15:0];
        if (10'(end_q) + 10'd4 <= 10'(size_q)) begin
          mtype_q <= 4'd1;
          empty_q <= 1'b0;
        end
      end
      Word: begin
        mtype_q <= known ? command : '0;
        at_q <= DatagramHeader + place_in_window_t'(word_len);
        end_q <= DatagramHeader + place_in_window_t'(word_len);
        state_q <= known ? Scan : First;
      end
      Scan: begin
        at_q <= at_q + 9'd64;
        length_q <= length_q + (some ? 9'(first_at) : 9'd64);
        if (some || 10'(at_q) + 10'd64 >= 10'(size_q)) begin
          state_q <= First;
          at_q <= end_q;
          left_q <= length_q + 9'(first_at);
          empty_q <= !some || length_q + 9'(first_at) == '0 || length_q + 9'(first_at) > 9'(MaxField);
        end
      end
      First:
      if (go) state_q <= piece_last ? (sum > 7'd64 ? Flush : Load) : Pieces;
      Pieces:
      if (go) begin
        count_q <= count_q - 1'b1;
        left_q <= left_q - 9'd64;
        at_q <= at_q + 9'd64;
        if (ends) state_q <= sum > 7'd64 ? Flush : Load;
      end
      default: if (go) state_q <= Load;
    endcase
    if (rst) begin
      state_q <= Load;
      out_valid_q <= 1'b0;
    end
  end

  assign in_pop = protocol == ProtocolQnp ? out_pop : takes;
  assign out_valid = protocol == ProtocolQnp ? in_valid : out_valid_q;
  assign out = protocol == ProtocolQnp ? in : out_q;

`ifndef SYNTHESIS
  always_ff @(posedge clk)
    if (!rst && go && piece_valid && !empty_q)
      assert (piece_bytes != '0 && piece_bytes <= 7'd64) else $error("%m: a piece of %0d bytes", piece_bytes);
`endif
endmodule

`default_nettype wire
