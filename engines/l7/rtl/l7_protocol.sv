// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// The walker of protocols: reads the payload of a message of another protocol than QNP, and makes a window of fields of
// it, as messages of QNP have one. Behind it nothing knows of protocols.
//
//   window ─> load ─> 64 bytes from ─┬─> walk ────────────────────> first ─> pieces ─> window
//             1 a     a place on     │   notes ranges and pieces ─^  ^ 1 a field; beats leave as they fill
//             beat    (one barrel)   └───────────────────────────────┘
//
//   DNS        Walk, 1 a label ─> Fields                   first ─> pieces: 1 a label, the last label first
//   memcached  Open ─> Scan, 1 for each 64 bytes of a key  first ─> pieces: 1 for each 64 bytes
//      binary  Open                                        the same
//   QUIC       Open ─> Source, for a long header           the same
//   CoAP       Open ─> Option, 1 an option ─> Close        first ─> the host's bytes ─> first ─> the path: 1 a segment
//                      │  ^
//                      Segment, 1 for each 64 bytes
//   RADIUS     Open ─> Option, 1 an attribute ─> Close     first ─> a user's bytes ─> first ─> a server's ─> first ─> realm
//                      │  ^
//                      Realm, 1 for each label and `@`, or for each 64 bytes without one
//
// A field is a range of the payload, of which there are two (A, B), or a list of pieces of up to 64 bytes, the first byte of
// which may be another one than in the payload: a label has its length there, a segment of a path a slash. Fields of fixed
// places stand in front of them (`fixed`).
//
// Windows of QNP pass in the same cycle. A name of L labels takes 2L + 4 cycles, a key of up to 64 bytes 5, a path of S
// segments 3S + 5; machine.md has all counts.
//
// docs/hardware.md has the LUTs that synthesis counts. The window is 2,048 flip-flops. The longest path is that of Realm:
// place, one of 256 bytes, the first dot or `@` of 64, three sums, compare. It is not placed.
module l7_protocol
  import penstock_pkg::*, l7_pkg::*;
(
    input wire logic            clk,
    input wire logic            rst,
    input wire protocol_e       protocol,
    input wire logic      [4:0] id_bytes,  // QUIC: of a connection ID in a short header

    input  wire logic    in_valid,
    output logic         in_pop,
    input  wire window_t in,

    output logic         out_valid,
    input  wire logic    out_pop,
    output window_t      out
);
  /* verilator no_inline_module */  // the model compiles it once for all instances
  localparam int unsigned MaxPieces = 32;
  localparam place_in_window_t DnsHeader = 9'd12;

  typedef enum logic [3:0] {
    Load,
    Walk,     // DNS: a label
    Fields,   // DNS: the type behind the name
    Open,     // others: the first bytes
    Scan,     // memcached: 64 bytes of the key
    Source,   // QUIC: the second connection ID
    Option,   // CoAP: an option; RADIUS: an attribute
    Segment,  // CoAP: 64 bytes of a segment of the path
    Realm,    // RADIUS: a label
    Close,    // CoAP, RADIUS: the bytes of all fields
    First,    // number and length of a field, behind the fixed fields
    Pieces,
    Flush
  } state_e;

  typedef logic [$clog2(MaxPieces):0] count_t;
  typedef logic [$clog2(MaxPieces)-1:0] piece_no_t;
  typedef struct packed {
    logic replaced;  // its first byte is another one than in the payload
    logic [6:0] bytes;
    logic [7:0] place;
  } piece_t;

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
  (* ram_style = "distributed" *) piece_t pieces[MaxPieces];
  piece_no_t piece_q;  // that leaves
  piece_t entry;
  count_t count_q;     // of pieces
  logic list_q;        // the field that leaves is the list of pieces
  logic [DataW-1:0] there;
  logic is_dns, is_coap;
  assign is_dns = protocol == ProtocolDns;
  assign is_coap = protocol == ProtocolCoap;
  assign entry = pieces[piece_q];

  always_comb begin
    place = at_q;
    if (state_q == Fields) place = end_q;
    if (state_q == Pieces && list_q) place = 9'(entry.place);
    there = DataW'(bytes_q >> {place[7:0], 3'd0});
  end

  // ---- DNS: the name, label by label
  logic [7:0] label;
  logic is_query, is_label, is_pointer, is_end, bad, jumped_q;
  logic [9:0] past_of_name;
  logic [13:0] target;
  place_in_window_t length_q;  // of the list's pieces, or of the key that is scanned

  assign label = there[7:0];
  assign is_query = size_q >= DnsHeader && bytes_q[8*2+3+:5] == '0 && bytes_q[8*4+:16] == 16'h0100;
  assign is_end = label == '0;
  assign is_label = label[7:6] == 2'b00 && !is_end;
  assign is_pointer = label[7:6] == 2'b11;
  assign past_of_name = 10'(length_q) + 10'(label) + 10'd1;
  assign target = {label[5:0], there[15:8]};
  assign bad = !is_query || at_q >= size_q || !(is_end || is_label || is_pointer) ||
      (is_label && (past_of_name > 10'(MaxField) || count_q == count_t'(MaxPieces))) ||
      (is_pointer && (10'(at_q) + 10'd2 > 10'(size_q) || target >= 14'(low_q)));

  // ---- the first bytes of other protocols
  opening_t opening;
  logic is_datagram;
  assign is_datagram = size_q >= DatagramHeader && bytes_q[8*2+:16] == '0 && bytes_q[8*4+:16] == 16'h0100;

  l7_opening i_opening (
      .protocol,
      .id_bytes,
      .is_datagram,
      .bytes(there[95:0]),
      .size(size_q),
      .opening
  );

  // ---- an option or attribute
  logic option_ends, option_bad, is_cut_q;
  logic [3:0] number_q;
  logic [7:0] option_number;
  place_in_window_t option_value, option_past;
  logic [8:0] option_len;

  l7_option i_option (
      .is_coap,
      .first(there[15:0]),
      .at(at_q),
      .last(end_q),
      .is_cut(is_cut_q),
      .previous(number_q),
      .ends(option_ends),
      .bad(option_bad),
      .number(option_number),
      .value(option_value),
      .len(option_len),
      .past(option_past)
  );

  // ---- the first of 64 bytes that ends a key, a segment or a label
  place_in_window_t rest_q;  // bytes of the segment or user's name from here on
  place_in_window_t next_q;  // RADIUS: the attribute behind the user's name
  logic lead_q;              // CoAP: the first byte is that in front of the segment
  logic realm_q;             // RADIUS: behind an `@`, with labels that are right so far
  logic [BeatBytes-1:0] stops, ats, lowest, bounded;
  place_in_window_t bound;
  logic some, is_at;
  logic [6:0] behind;  // the place behind the first of them

  // Comparisons of each byte's number or letter with a range would become a carry chain each; these are plain logic.
  function automatic logic [BeatBytes-1:0] first_bytes(logic [6:0] count);  // 0 to 64
    return count[6] ? '1 : ~('1 << count[5:0]);
  endfunction

  assign bound = state_q == Scan ? size_q - at_q : rest_q;
  assign bounded = first_bytes(bound[8:6] != '0 ? 7'd64 : bound[6:0]);
  always_comb begin
    for (int b = int'(BeatBytes) - 1; b >= 0; b--) begin
      ats[b] = there[8*b+:8] == "@";
      unique case (state_q)
        Segment: stops[b] = there[8*b+:8] == "/" && !(b == 0 && lead_q);
        Realm: stops[b] = ats[b] || (there[8*b+:8] == "." && realm_q);
        default: stops[b] = there[8*b+:8] inside {8'h20, 8'h0D, 8'h0A};
      endcase
    end
    stops &= bounded;
    some = stops != '0;
    behind = behind_first(stops);
    lowest = stops & (~stops + 1'b1);
    is_at = (lowest & ats) != '0;
  end

  logic [8:0] scanned;  // bytes of a key up to the first of them
  assign scanned = length_q + 9'(behind) - 9'd1;

  logic [6:0] segment_bytes, label_bytes;  // with the byte in front
  logic [9:0] past_of_realm;
  logic label_fits;
  assign segment_bytes = rest_q > 9'd64 ? 7'd64 : rest_q[6:0];
  assign label_bytes = some ? behind : 7'(rest_q[5:0]) + 7'd1;
  assign past_of_realm = 10'(length_q) + 10'(label_bytes);
  assign label_fits = label_bytes != 7'd1 && (some || rest_q < 9'd64) && count_q != count_t'(MaxPieces) &&
      past_of_realm <= 10'(MaxField);

  // ---- the list of pieces
  logic piece_we;
  piece_t piece_in;
  always_comb begin
    piece_we = 1'b0;
    piece_in = '{replaced: 1'b1, bytes: 7'(label) + 7'd1, place: at_q[7:0]};
    unique case (state_q)
      Walk: piece_we = is_label;
      Segment: begin
        piece_we = 1'b1;
        piece_in = '{replaced: lead_q, bytes: segment_bytes, place: at_q[7:0]};
      end
      Option: begin
        // A path without segments
        piece_we = count_q == '0;
        piece_in.bytes = 7'd1;
      end
      Realm: begin
        piece_we = realm_q;
        piece_in = '{replaced: 1'b1, bytes: label_bytes, place: at_q[7:0] - 8'd1};
      end
      default: ;
    endcase
  end
  always_ff @(posedge clk) if (piece_we) pieces[piece_no_t'(count_q)] <= piece_in;

  // ---- fields that leave
  logic go, emits, piece_valid, piece_last, field_last, ends, has;
  logic [6:0] piece_bytes, sum;
  logic [BeatBytes-1:0] in_piece;
  logic [DataW-1:0] piece, masked, kept_q;
  logic [2*DataW-1:0] joined;
  logic [5:0] kept_bytes_q;
  logic [3:0] mtype_q;
  logic [8:0] left_q;    // bytes of the field
  logic [9:0] total_q;   // bytes of all fields
  logic [55:0] fixed_q;
  logic [2:0] fixed_bytes_q;
  logic [2:0] fields_q, next_fields;  // A, B and list that have not left
  place_in_window_t from_a_q, from_b_q, field_from;
  logic [7:0] len_a_q, len_b_q, field_len, field_number;
  logic begun_q, out_valid_q;
  window_t out_q;

  function automatic logic [7:0] lower(logic [7:0] letter);
    logic behind_z;
    behind_z = letter[4:3] == 2'b11 && (letter[2] || letter[1:0] == 2'b11);
    return letter[7:5] == 3'b010 && letter[4:0] != '0 && !behind_z ? letter | 8'h20 : letter;
  endfunction

  assign go = !out_valid_q || out_pop;
  assign has = fields_q != '0;
  assign next_fields = fields_q & (fields_q - 1'b1);

  always_comb begin
    if (fields_q[0]) begin
      field_from = from_a_q;
      field_len = len_a_q;
      field_number = is_coap ? 8'd4 : 8'd1;
    end else if (fields_q[1]) begin
      field_from = from_b_q;
      field_len = len_b_q;
      field_number = 8'd2;
    end else begin
      field_from = from_b_q;  // not used
      field_len = length_q[7:0];
      field_number = protocol == ProtocolRadius ? 8'd3 : 8'd1;
    end
  end

  always_comb begin
    piece_valid = state_q == First || state_q == Pieces;
    piece = there;
    piece_bytes = left_q > 9'd64 ? 7'd64 : left_q[6:0];
    if (list_q) begin
      piece_bytes = entry.bytes;
      if (!is_coap) for (int unsigned b = 0; b < BeatBytes; b++) piece[8*b+:8] = lower(there[8*b+:8]);
      if (entry.replaced) piece[7:0] = is_coap ? "/" : {1'b0, entry.bytes} - 8'd1;
    end
    field_last = left_q == 9'(piece_bytes);
    if (state_q == First) begin
      piece = DataW'(fixed_q);
      if (has) piece |= DataW'({field_len, field_number}) << {fixed_bytes_q, 3'd0};
      piece_bytes = 7'(fixed_bytes_q) + (has ? 7'd2 : 7'd0);
      field_last = !has || field_len == '0;
    end
    piece_last = field_last && (state_q == First ? next_fields : fields_q) == '0;
    in_piece = first_bytes(piece_bytes);
    for (int unsigned b = 0; b < BeatBytes; b++) masked[8*b+:8] = in_piece[b] ? piece[8*b+:8] : '0;
    joined = (2*DataW)'(masked) << {kept_bytes_q, 3'd0};
    joined[DataW-1:0] |= kept_q;
    sum = 7'(kept_bytes_q) + piece_bytes;
    emits = piece_valid && (sum[6] || piece_last);
    ends = go && piece_valid && piece_last;
  end

  logic rejects;  // the message is of type 0
  always_comb
    unique case (state_q)
      Open: rejects = !opening.known;
      Source: rejects = 10'(at_q) + 10'd1 > 10'(size_q) || 10'(at_q) + 10'd1 + 10'(there[7:0]) > 10'(size_q);
      Option: rejects = option_bad;
      Segment: rejects = some || count_q == count_t'(MaxPieces);
      Close: rejects = total_q > 10'(WindowBytes);
      default: rejects = 1'b0;
    endcase

  always_ff @(posedge clk) begin
    if (go && (emits || state_q == Flush)) begin
      out_q <= head_q;
      out_q.first <= !begun_q;
      out_q.last <= state_q == Flush || (piece_last && sum <= 7'd64);
      out_q.mtype <= mtype_q;
      out_q.limit <= total_q[8:0];
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
        at_q <= is_dns ? DnsHeader : protocol == ProtocolMemcached ? DatagramHeader : '0;
        low_q <= DnsHeader;
        number_q <= '0;
        count_q <= '0;
        length_q <= '0;
        total_q <= '0;
        jumped_q <= 1'b0;
        list_q <= 1'b0;
        mtype_q <= '0;
        fields_q <= '0;
        fixed_q <= '0;
        fixed_bytes_q <= '0;
        begun_q <= 1'b0;
        kept_q <= '0;
        kept_bytes_q <= '0;
        if (takes && in.last) state_q <= is_dns ? Walk : Open;
      end
      Walk: begin
        if (is_label) begin
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
        if (10'(end_q) + 10'd4 <= 10'(size_q)) begin
          mtype_q <= 4'd1;
          fields_q <= 3'b100;
          fixed_q <= 56'({there[15:0], 8'd2, 8'd2});
          fixed_bytes_q <= 3'd4;
          total_q <= 10'(length_q) + 10'd6;
        end
      end
      Open: begin
        mtype_q <= opening.mtype;
        fixed_q <= opening.fixed;
        fixed_bytes_q <= opening.fixed_bytes;
        fields_q <= {2'b0, opening.has_field};
        from_a_q <= opening.at;
        len_a_q <= opening.len;
        at_q <= opening.at;
        end_q <= opening.last;
        is_cut_q <= opening.is_cut;
        total_q <= 10'(opening.fixed_bytes) + (opening.has_field ? 10'(opening.len) + 10'd2 : '0);
        state_q <= First;
        if (protocol == ProtocolMemcached && there[7:0] != 8'h80) state_q <= Scan;
        if (protocol == ProtocolQuic && there[7]) begin
          state_q <= Source;
          at_q <= opening.at + 9'(opening.len);
        end
        if (is_coap || protocol == ProtocolRadius) state_q <= Option;
      end
      Scan: begin
        at_q <= at_q + 9'd64;
        length_q <= some ? scanned : length_q + 9'd64;
        if (some || 10'(at_q) + 10'd64 >= 10'(size_q)) begin
          state_q <= First;
          len_a_q <= 8'(scanned);
          if (some && scanned != '0 && scanned <= 9'(MaxField)) begin
            fields_q <= 3'b001;
            total_q <= 10'(scanned) + 10'd2;
          end
        end
      end
      Source: state_q <= First;
      Option: begin
        at_q <= option_past;
        number_q <= option_number[3:0];
        next_q <= option_past;
        lead_q <= 1'b1;
        realm_q <= 1'b0;
        rest_q <= option_len;
        if (option_ends) begin
          state_q <= Close;
          if (is_coap) begin
            fields_q[2] <= 1'b1;
            total_q <= total_q + (count_q == '0 ? 10'd3 : 10'd2);
            if (count_q == '0) begin
              count_q <= count_t'(1);
              length_q <= 9'd1;
            end
          end
        end else if (is_coap) begin
          if (option_number == UriPath) begin
            state_q <= Segment;
            at_q <= option_value - 9'd1;
            rest_q <= option_len + 9'd1;
          end
          if (option_number == UriHost && option_len != '0 && !fields_q[0]) begin
            fields_q[0] <= 1'b1;
            from_a_q <= option_value;
            len_a_q <= option_len[7:0];
            total_q <= total_q + 10'(option_len) + 10'd2;
          end
          if (option_number == ContentFormat && option_len <= 9'd2 && fixed_bytes_q == 3'd3) begin
            fixed_q[55:24] <= {
              option_len[1] ? there[23:16] : option_len[0] ? there[15:8] : 8'd0,
              option_len[1] ? there[15:8] : 8'd0,
              8'd2,
              8'd3
            };
            fixed_bytes_q <= 3'd7;
            total_q <= total_q + 10'd4;
          end
        end else begin
          if (option_number == UserName && !fields_q[0]) begin
            state_q <= Realm;
            at_q <= option_value;
            fields_q[0] <= 1'b1;
            from_a_q <= option_value;
            len_a_q <= option_len[7:0];
            total_q <= total_q + 10'(option_len) + 10'd2;
          end
          if (option_number == NasIdentifier && !fields_q[1]) begin
            fields_q[1] <= 1'b1;
            from_b_q <= option_value;
            len_b_q <= option_len[7:0];
            total_q <= total_q + 10'(option_len) + 10'd2;
          end
        end
      end
      Segment: begin
        count_q <= count_q + 1'b1;
        length_q <= length_q + 9'(segment_bytes);
        total_q <= total_q + 10'(segment_bytes);
        at_q <= at_q + 9'(segment_bytes);
        rest_q <= rest_q - 9'(segment_bytes);
        lead_q <= 1'b0;
        if (rest_q <= 9'd64) state_q <= Option;
      end
      Realm: begin
        at_q <= at_q + (some ? 9'(label_bytes) : 9'd64);
        rest_q <= rest_q - (some ? 9'(label_bytes) : 9'd64);
        if (some && is_at) begin
          realm_q <= 1'b1;
          count_q <= '0;
          length_q <= '0;
        end else if (realm_q && label_fits) begin
          count_q <= count_q + 1'b1;
          length_q <= past_of_realm[8:0];
        end else realm_q <= 1'b0;
        if (!some && rest_q <= 9'd64) begin
          state_q <= Option;
          at_q <= next_q;
          if (realm_q && label_fits) begin
            fields_q[2] <= 1'b1;
            total_q <= total_q + past_of_realm + 10'd2;
          end
        end
      end
      Close: state_q <= First;
      First:
      if (go) begin
        fields_q <= next_fields;
        fixed_q <= '0;
        fixed_bytes_q <= '0;
        at_q <= field_from;
        left_q <= 9'(field_len);
        list_q <= fields_q[1:0] == '0;
        piece_q <= is_coap ? '0 : piece_no_t'(count_q - 1'b1);
        state_q <= !field_last ? Pieces : !piece_last ? First : sum > 7'd64 ? Flush : Load;
      end
      Pieces:
      if (go) begin
        piece_q <= is_coap ? piece_q + 1'b1 : piece_q - 1'b1;
        left_q <= left_q - 9'(piece_bytes);
        at_q <= at_q + 9'd64;
        if (field_last) begin
          list_q <= 1'b0;
          state_q <= First;
        end
        if (ends) state_q <= sum > 7'd64 ? Flush : Load;
      end
      default: if (go) state_q <= Load;
    endcase
    if (rejects) begin
      state_q <= First;
      mtype_q <= '0;
      fields_q <= '0;
      fixed_q <= '0;
      fixed_bytes_q <= '0;
      total_q <= '0;
    end
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
    if (!rst && go && piece_valid && (state_q == Pieces || has)) begin
      assert (piece_bytes != '0 && piece_bytes <= 7'd64) else $error("%m: a piece of %0d bytes", piece_bytes);
      assert (state_q == First || 9'(piece_bytes) <= left_q) else $error("%m: a piece behind the field");
    end
`endif
endmodule

`default_nettype wire
