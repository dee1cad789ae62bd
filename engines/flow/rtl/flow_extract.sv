// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// Extracts the key of a frame and the operands of the element's program.
//
//   vector, time ─> words of fields ─┬─> operands
//                                    └─> halves of the key ─> in the order of both directions ─> key
//   both sides of each pair ─> the larger ─────────────────────────┘
//
// Without registers, in front of the first register of the core. The comparison of the sides runs in parallel with the
// choice of the halves, so their delays do not add up: the halves change places after the choice. Each side therefore
// has its own places in a key. Each half and each operand chooses among some of the words only (tools/flow_choices.py).
module flow_extract
  import flow_pkg::*;
  import fields_pkg::*;
  import choices_pkg::*;
(
    input wire key_word_t              key_i,      // of the program
    input wire choose_t [Operands-1:0] operands_i,

    input  wire vector_t              vector,
    input  wire word_t                now,    // us
    output logic                      keyed,  // the frame has all fields of the key
    output logic        [KeyBits-1:0] key,
    output word_t       [Operands-1:0] x
);
  word_t [WORDS-1:0] words;
  always_comb begin
    words = words_of(vector.headers);
    words[WORD_PORT] = 32'(vector.port);
    words[WORD_LEN] = 32'(vector.len);
    words[WORD_TIME] = now;
    words[WORD_HASH] = vector.hash;
    words[WORD_META0] = vector.meta0;
    words[WORD_META1] = vector.meta1;
  end

  // ---- operands
  for (genvar i = 0; i < Operands; i++) begin : gen_operand
    localparam int unsigned NumberW = $clog2(OPERANDS_COUNT[i]);
    word_t [(1<<NumberW)-1:0] from;
    for (genvar n = 0; n < (1 << NumberW); n++) begin : gen_choice
      assign from[n] = words[OPERANDS[i][n]];
    end
    assign x[i] = from[operands_i[i][NumberW-1:0]];
  end

  // ---- which side is the larger
  logic [3:0] larger, differ;  // by pair_e: the source is, or they are not the same
  logic swap;
  assign larger[PairEth] = vector.headers[ETH_SRC_AT+:ETH_SRC_BITS] > vector.headers[ETH_DST_AT+:ETH_DST_BITS];
  assign differ[PairEth] = vector.headers[ETH_SRC_AT+:ETH_SRC_BITS] != vector.headers[ETH_DST_AT+:ETH_DST_BITS];
  assign larger[PairIp] = vector.headers[IP_SRC_AT+:IP_SRC_BITS] > vector.headers[IP_DST_AT+:IP_DST_BITS];
  assign differ[PairIp] = vector.headers[IP_SRC_AT+:IP_SRC_BITS] != vector.headers[IP_DST_AT+:IP_DST_BITS];
  assign larger[PairIp6] = vector.headers[IP6_SRC_AT+:IP6_SRC_BITS] > vector.headers[IP6_DST_AT+:IP6_DST_BITS];
  assign differ[PairIp6] = vector.headers[IP6_SRC_AT+:IP6_SRC_BITS] != vector.headers[IP6_DST_AT+:IP6_DST_BITS];
  assign larger[PairL4] = vector.headers[L4_SPORT_AT+:L4_SPORT_BITS] > vector.headers[L4_DPORT_AT+:L4_DPORT_BITS];
  assign differ[PairL4] = vector.headers[L4_SPORT_AT+:L4_SPORT_BITS] != vector.headers[L4_DPORT_AT+:L4_DPORT_BITS];

  always_comb begin
    swap = 1'b0;
    for (int unsigned i = 3; i > 0; i--) if (differ[key_i.order[i-1]]) swap = larger[key_i.order[i-1]];
  end

  // ---- the key
  wire [2*WORDS-1:0][15:0] halves = words;
  logic [KeyHalves-1:0][15:0] chosen, placed;
  for (genvar i = 0; i < KeyHalves; i++) begin : gen_half
    localparam int unsigned NumberW = $clog2(HALVES_COUNT[i]);
    logic [(1<<NumberW)-1:0][15:0] from;
    for (genvar n = 0; n < (1 << NumberW); n++) begin : gen_choice
      assign from[n] = halves[HALVES[i][n]];
    end
    assign chosen[i] = from[key_i.halves[i][NumberW-1:0]];
  end

  always_comb begin
    placed = chosen;
    for (int unsigned i = 0; i < 8; i++) if (swap && key_i.swap[i]) {placed[i+8], placed[i]} = {chosen[i], chosen[i+8]};
    if (swap && key_i.swap[8]) {placed[17], placed[16]} = {chosen[16], chosen[17]};
  end
  assign key = placed;
  assign keyed = (key_i.parts & ~vector.headers.parts) == 0;

  wire unused = &{1'b0, vector.verdict, vector.next, key_i, operands_i};
endmodule

`default_nettype wire
