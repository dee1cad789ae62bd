// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0

`ifndef PENSTOCK_L7_PAGES
`define PENSTOCK_L7_PAGES 2048
`endif

// Sizes and types of the l7 engine (engines/l7/machine.md).
package l7_pkg;
  import penstock_pkg::*;

  localparam int unsigned Apps = 2;
  localparam int unsigned Matchers = 4;
  localparam int unsigned Rows = 4096;
  localparam int unsigned Decisions = 8192;  // 4,096 rules and defaults, and those that replace them
  localparam int unsigned Slots = 512;       // messages in flight
  localparam int unsigned Pages = `PENSTOCK_L7_PAGES;  // of the message memory; `penstock synth` places fewer
  localparam int unsigned PageBeats = 8;
  localparam int unsigned OutBeats = 512;    // of messages that wait at the end of a port's way
  localparam int unsigned Packets = 32;      // most packets of a message
  localparam int unsigned MaxPayload = 16256;  // bytes of a message
  localparam int unsigned FilterRows = 8;
  localparam int unsigned Steps = 128;       // of a program, at most

  // Protocols of messages: QNP, and those whose payload begins behind the UDP header
  typedef enum logic [2:0] {
    ProtocolQnp       = 3'd0,
    ProtocolDns       = 3'd1,
    ProtocolMemcached = 3'd2,
    ProtocolCoap      = 3'd3,
    ProtocolRadius    = 3'd4,
    ProtocolQuic      = 3'd5
  } protocol_e;

  // Most bytes in front of the payload, with IPv6, a VLAN tag and a QNP header
  localparam int unsigned HeadBytes = 88;

  typedef logic [$clog2(Apps)-1:0] app_t;
  typedef logic [$clog2(Slots)-1:0] msg_t;   // slot of a message
  typedef logic [$clog2(Pages)-1:0] page_t;
  typedef logic [$clog2(Packets)-1:0] number_t;  // of a packet in its message
  typedef logic [1:0] port_no_t;
  typedef logic [$clog2(Rows)-1:0] row_no_t;
  typedef logic [$clog2(Decisions)-1:0] decision_no_t;
  typedef logic [16:0] parked_t;  // messages of an application, or pages, in card memory

  // ---- pages of card memory
  localparam int unsigned ParkedBytes = 2048;
  localparam int unsigned ParkedBeats = ParkedBytes / BeatBytes;
  typedef logic [28:0] parked_at_t;  // page of a channel
  typedef logic [$clog2(ParkedBeats):0] page_beats_t;

  // ---- filter
  typedef struct packed {
    logic valid;
    app_t app;
    tenant_t tenant;
    logic [7:0] app_id;
    logic [15:0] dport;
  } filter_row_t;

  // The bytes before the payload: 64, 68, 84 or 88; 22 less without a QNP header
  typedef struct packed {
    logic plain;  // no QNP header
    logic v6;
    logic vlan;
  } shape_t;

  function automatic logic [6:0] head_bytes(shape_t shape);
    return (shape.plain ? 7'd42 : 7'd64) + (shape.v6 ? 7'd20 : 7'd0) + (shape.vlan ? 7'd4 : 7'd0);
  endfunction

  // Lengths in the headers of a message that was joined from packets: UDP's, and the one of IPv4 or IPv6
  typedef struct packed {
    logic [15:0] udp, ip;
  } head_lengths_t;

  function automatic head_lengths_t head_lengths(shape_t shape, logic [13:0] payload);
    return '{udp: 16'(payload) + 16'd30, ip: 16'(payload) + (shape.v6 ? 16'd30 : 16'd50)};
  endfunction

  // Sender and number of a message. The application stands beside it, because it picks half of the table.
  typedef struct packed {
    tenant_t tenant;
    logic v6;
    logic [127:0] address;
    logic [15:0] sport;
    logic [31:0] id;
  } key_t;

  typedef struct packed {
    logic malformed;
    logic parked;  // the message is whole and comes from card memory
    port_no_t port;
    app_t app;
    key_t key;
    shape_t shape;
    logic [7:0] mtype;
    logic [5:0] count;
    number_t number;
    logic [7:0] segments;
    logic [14:0] len;  // bytes of payload
    logic [31:0] hash;
  } info_t;

  // A beat of a packet on its way to the lane. Payload comes from the second beat on, or with the first one (`merged`) if it
  // begins in the first beat or the frame is folded.
  typedef struct packed {
    logic first;
    logic last;
    logic merged;
    logic [DataW-1:0] data;             // payload
    logic [8*HeadBytes-1:0] head;       // with the first beat
    info_t info;                        // with the first beat
  } packet_t;

  // ---- message memory
  localparam int unsigned WindowBeats = 4;
  localparam int unsigned WindowBytes = WindowBeats * BeatBytes;
  typedef logic [8:0] place_in_window_t;  // 0 to 256
  typedef logic [3:0] class_t;

  // A beat of the window of a message, in the queue of its application
  typedef struct packed {
    logic first;
    logic last;
    msg_t slot;
    port_no_t port;
    logic bank;
    logic [3:0] mtype;
    place_in_window_t limit;  // bytes of the window
    logic [DataW-1:0] data;
  } window_t;

  // ---- other protocols than QNP
  localparam int unsigned MaxField = 250;  // bytes of a name or key
  localparam place_in_window_t DatagramHeader = 9'd8;  // of memcached over UDP
  localparam place_in_window_t BinaryKey = 9'd32;      // behind both headers; extras stand in front of the key
  localparam place_in_window_t RadiusHeader = 9'd20;

  // Options of CoAP and attributes of RADIUS
  localparam logic [7:0] UriHost = 8'd3;
  localparam logic [7:0] UriPath = 8'd11;
  localparam logic [7:0] ContentFormat = 8'd12;
  localparam logic [7:0] UserName = 8'd1;
  localparam logic [7:0] NasIdentifier = 8'd32;

  // The first bytes of a message
  typedef struct packed {
    logic known;                // the walker can read it
    logic [3:0] mtype;
    logic [2:0] fixed_bytes;
    logic [55:0] fixed;         // fields that stand in front, with their numbers and lengths
    place_in_window_t at;       // the field, or where the walk goes on
    logic has_field;
    logic [7:0] len;            // of the field
    place_in_window_t last;     // behind all options or attributes, as far as they are seen
    logic is_cut;               // there are more
  } opening_t;

  // ---- commands of memcached, with the space behind them, and the message type of each
  localparam int unsigned Commands = 12;
  typedef struct packed {
    logic [3:0] of_type;  // 1 get, 2 set, 3 change
    logic [3:0] len;
    logic [63:0] text;    // the first byte in [7:0]
  } command_t;
  localparam command_t CommandList[Commands] = '{
      '{4'd1, 4'd4, {<<8{{"get ", 32'd0}}}},
      '{4'd1, 4'd5, {<<8{{"gets ", 24'd0}}}},
      '{4'd2, 4'd4, {<<8{{"set ", 32'd0}}}},
      '{4'd2, 4'd4, {<<8{{"add ", 32'd0}}}},
      '{4'd2, 4'd8, {<<8{{"replace "}}}},
      '{4'd2, 4'd7, {<<8{{"append ", 8'd0}}}},
      '{4'd2, 4'd8, {<<8{{"prepend "}}}},
      '{4'd2, 4'd4, {<<8{{"cas ", 32'd0}}}},
      '{4'd3, 4'd7, {<<8{{"delete ", 8'd0}}}},
      '{4'd3, 4'd5, {<<8{{"incr ", 24'd0}}}},
      '{4'd3, 4'd5, {<<8{{"decr ", 24'd0}}}},
      '{4'd3, 4'd6, {<<8{{"touch ", 16'd0}}}}
  };

  // ---- rules
  localparam int unsigned Alternatives = 4;
  localparam int unsigned MatchBytes = 32;
  localparam int unsigned RowWords = 46;

  typedef enum logic [1:0] {
    SkipBytes = 2'd0,
    SkipUntil = 2'd1,
    SkipField = 2'd2,
    SkipNever = 2'd3
  } skip_e;

  typedef struct packed {
    logic [15:0] operand;
    skip_e kind;
    logic last;
    decision_no_t next;  // row, or number of the decision
  } branch_t;

  typedef struct packed {
    branch_t branch;
    logic range;
    logic at_end;
    logic [5:0] len;
    logic [MatchBytes-1:0] mask;
    logic [8*MatchBytes-1:0] value;
  } alternative_t;

  typedef struct packed {
    logic hash_on;
    logic [3:0] hash_bits;
    row_no_t hash_base;
    logic [5:0] hash_len;
    branch_t miss;
    alternative_t [Alternatives-1:0] alternatives;
  } row_t;

  function automatic branch_t branch_of(logic [31:0] word);
    return '{operand: word[31:16], kind: skip_e'(word[15:14]), last: word[13], next: word[12:0]};
  endfunction

  function automatic row_t row_of(logic [RowWords-1:0][31:0] words);
    row_t row;
    for (int unsigned i = 0; i < Alternatives; i++) begin
      for (int unsigned w = 0; w < 8; w++) row.alternatives[i].value[32*w+:32] = words[11*i+w];
      row.alternatives[i].mask = words[11*i+8];
      row.alternatives[i].len = words[11*i+9][5:0];
      row.alternatives[i].at_end = words[11*i+9][8];
      row.alternatives[i].range = words[11*i+9][9];
      row.alternatives[i].branch = branch_of(words[11*i+10]);
    end
    row.miss = branch_of(words[44]);
    row.hash_len = words[45][5:0];
    row.hash_base = words[45][19:8];
    row.hash_bits = words[45][23:20];
    row.hash_on = words[45][31];
    return row;
  endfunction

  // CRC-16, polynomial 0x1021, initial value 0, of the bytes in their order, the most significant bit first, as a
  // matrix: bit k of the result is the parity of the input under row k
  typedef logic [15:0][8*MatchBytes-1:0] hash_matrix_t;

  function automatic hash_matrix_t hash_matrix();
    hash_matrix_t matrix;
    logic [15:0] crc;  // of a message with one bit set
    matrix = '0;
    crc = 16'h1021;
    for (int i = int'(MatchBytes) - 1; i >= 0; i--)
      for (int unsigned b = 0; b < 8; b++) begin
        for (int unsigned k = 0; k < 16; k++) matrix[k][8*i+32'(b)] = crc[k];
        crc = {crc[14:0], 1'b0} ^ (crc[15] ? 16'h1021 : 16'h0);
      end
    return matrix;
  endfunction

  // The bits of the bytes that a mask selects
  function automatic logic [8*MatchBytes-1:0] bits_of(logic [MatchBytes-1:0] mask);
    logic [8*MatchBytes-1:0] bits;
    for (int unsigned b = 0; b < MatchBytes; b++) bits[8*b+:8] = {8{mask[b]}};
    return bits;
  endfunction

  localparam hash_matrix_t HashMatrix = hash_matrix();

  function automatic logic [15:0] hash_of(logic [8*MatchBytes-1:0] bytes);
    logic [15:0] crc;
    for (int unsigned k = 0; k < 16; k++) crc[k] = ^(bytes & HashMatrix[k]);
    return crc;
  endfunction

  // ---- decisions
  typedef enum logic [2:0] {
    DecideDrop     = 3'd0,
    DecideHost     = 3'd1,
    DecideUnit     = 3'd2,
    DecideDispatch = 3'd3,
    DecidePort     = 3'd4
  } decide_e;

  // A decision word, without the bits that have no meaning
  typedef struct packed {
    logic [15:0] first;
    logic in_turn;
    logic [3:0] bits;
    decide_e kind;
  } decision_t;

  function automatic decision_t decision_of(logic [31:0] word);
    return '{first: word[31:16], in_turn: word[12], bits: word[11:8], kind: decide_e'(word[2:0])};
  endfunction

  // The result of a matcher
  typedef struct packed {
    app_t app;
    port_no_t port;
    msg_t slot;
    logic bank;
    logic stuck;
    decision_no_t decision;
    logic [15:0] hash;
  } found_t;

  // The fate of a message
  typedef struct packed {
    decide_e kind;
    logic [15:0] number;
  } decided_t;

  // ---- the part of a message that the delivery needs
  typedef struct packed {
    port_no_t port;
    tenant_t tenant;
    shape_t shape;
    logic [31:0] hash;
    logic [8*HeadBytes-1:0] head;
  } head_t;

  typedef struct packed {
    logic [Packets-1:0] received;
    logic [13:0] len;  // bytes of payload
  } whole_t;

  typedef struct packed {
    page_t page;       // the packet's first
    logic [13:0] len;  // bytes
  } packet_at_t;

  // ---- counters of an application; each bit counts one for a cycle
  localparam int unsigned Counters = 11;
  typedef struct packed {
    logic failed;
    logic stuck;
    logic expired;
    logic denied;
    logic delivered;
    logic busy;
    logic refused;
    logic oversize;
    logic duplicate;
    logic malformed;
    logic packet;
  } counted_t;

  // The number of the first of eight bits that is set
  function automatic logic [2:0] first_of_8(logic [7:0] bits);
    logic [3:0] half;
    logic [1:0] pair;
    half = bits[3:0] == '0 ? bits[7:4] : bits[3:0];
    pair = half[1:0] == '0 ? half[3:2] : half[1:0];
    return {bits[3:0] == '0, half[1:0] == '0, !pair[0]};
  endfunction

  // The place behind the first of 64 bits that is set, 1..64. From a loop over 64 bits, synthesis makes a chain of some
  // twenty levels; two steps of eight take nine.
  function automatic logic [6:0] behind_first(logic [BeatBytes-1:0] bits);
    logic [7:0] some_of;
    logic [7:0][3:0] behind_of;
    logic [2:0] eight;
    logic [3:0] behind;
    for (int unsigned e = 0; e < 8; e++) begin
      some_of[e] = bits[8*e+:8] != '0;
      behind_of[e] = 4'(first_of_8(bits[8*e+:8])) + 4'd1;
    end
    eight = first_of_8(some_of);
    behind = behind_of[eight];
    return {4'(eight) + 4'(behind[3]), behind[2:0]};
  endfunction
endpackage
