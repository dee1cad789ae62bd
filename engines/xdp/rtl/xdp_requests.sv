// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// Requests of the core: accesses to the unit's maps and to its own context's memories, and divisions, one at a time;
// and requests to the card's maps, of all contexts at once.
//
//   request ─> queue ─┬─> unit_maps ─┬──> order, sign ─> answer ─> SEL of the core
//              (8)    ├─> division ──┤                     │
//                     ├─> own ───────┤                     │
//                     └─> map_port ──│── look ─────────────┘
//                          ║    card's maps ─> queue (8)
//                          link
//
// A load or store of the stack or the packet (own) the core carries out in its answer's turn; where bytes of the packet
// have not arrived, it is sent again until they have. An atomic operation there is not to be had. Requests begin in the
// order of the queue; those to the card's maps are answered in any order, of which a context sees nothing, for it
// waits. A context has one request at most, so the queue is never full. A tail call is answered with the row where its
// context goes on. A request for an address without memory, or of a kind that the unit does not implement (helpers),
// gets the answer 0 and is counted.
module xdp_requests
  import xdp_pkg::*;
  import xdp_isa_pkg::*;
  import map_pkg::reply_t;
#(
    parameter int unsigned MapBytes = 65536
) (
    input wire logic clk,
    input wire logic rst,
    input wire penstock_pkg::unit_t unit_id,

    input  wire logic     request,
    input  wire request_t request_data,
    output logic          answer,
    output answer_t       answer_data,
    input  wire logic     answer_taken,
    input  wire logic     looked,
    input  wire logic     looked_here,
    output logic          accepted,
    output ctx_t          accepted_ctx,
    output logic          wild,         // for one cycle

    // The host's way into the maps, between two requests
    input  wire logic                        host_ask,  // held until host_done
    input  wire logic                        host_we,
    input  wire logic [$clog2(MapBytes)-1:2] host_addr,
    input  wire logic [31:0]                 host_wdata,
    output logic                             host_done,
    output logic [31:0]                      host_rdata,

    map_if.unit card
);
  typedef enum logic [2:0] {
    Idle,
    Maps,     // an access of the program is under way,
    Host,     // one of the host,
    Dividing,
    Answer,   // an answer waits for its turn,
    Own       // the core for the packet's bytes
  } state_e;

  // The block that carries out a request: decoded before the request waits, because comparing addresses takes long.
  typedef struct packed {
    logic maps;      // the unit's
    logic own;       // the core, in its context's own memories: a store, or a load whose answer is wanted
    logic division;
    logic jump;      // nobody: the row of a tail call is the answer
    logic card;      // the card's maps
  } by_t;

  function automatic by_t by_whom(request_t asked);
    logic [31:0] kind;
    kind = 32'(asked.what[REQUEST_KIND_AT+:REQUEST_KIND_BITS]);
    return '{
        maps: kind <= KIND_ATOMIC && (asked.arg0 ^ 64'(ADDRESS_UNIT_MAPS)) < 64'(MapBytes),
        own: (kind == KIND_STORE || (kind == KIND_LOAD && !asked.silent)) && in_own(asked.arg0) && !asked.ends,
        division: kind == KIND_DIV,
        jump: kind == KIND_TAIL_CALL && !asked.ends,
        // From the card's first address on, as far as its maps can reach
        card: (kind <= KIND_ATOMIC && asked.arg0[63:25] == 39'(ADDRESS_CARD_MAPS >> 25)) ||
            (kind >= KIND_LOOKUP && kind <= KIND_DELETE)
    };
  endfunction

  request_t next;
  by_t by;
  logic next_valid, pop;
  fifo_dist #(
      .Width($bits(by_t) + $bits(request_t)),
      .Depth(Contexts)
  ) waiting (
      .clk,
      .rst,
      .push (request),
      .din  ({by_whom(request_data), request_data}),
      .ready(),
      .valid(next_valid),
      .pop,
      .dout ({by, next}),
      .level()
  );

  state_e state_q;
  word_t value_q;
  ctx_t ctx_q;
  logic silent_q, in_packet_q;

  wire [7:0] kind = next.what[REQUEST_KIND_AT+:REQUEST_KIND_BITS];
  wire place_t next_place = place_of(next.arg0);
  // The host comes at the latest after one request.
  logic after_request_q;
  wire host_turn = host_ask && !host_done && (after_request_q || !next_valid);
  wire begins = state_q == Idle && next_valid && !by.card && !host_turn;

  logic maps_done, division_done, division_busy;
  word_t maps_before, quotient;
  access_e what;
  always_comb begin
    unique case (32'(kind))
      KIND_LOAD: what = AccessLoad;
      KIND_STORE: what = AccessStore;
      default: what = AccessAtomic;
    endcase
  end

  function automatic word_t turned(word_t x, logic [3:0] count);
    word_t all;
    all = {<<8{x}};
    return all >> {4'd8 - count, 3'd0};
  endfunction

  wire [3:0] count = next.what[REQUEST_COUNT_AT+:REQUEST_COUNT_BITS];
  wire host_begins = state_q == Idle && host_turn;

  xdp_unit_maps #(
      .Bytes(MapBytes)
  ) maps (
      .clk,
      .rst,
      .ask(host_begins || (begins && by.maps)),
      .what(host_begins ? (host_we ? AccessStore : AccessLoad) : what),
      .at(host_begins ? {host_addr, 2'd0} : next.arg0[$clog2(MapBytes)-1:0]),
      .count(host_begins ? 4'd4 : count),
      .atomic(next.what[REQUEST_ATOMIC_AT+:REQUEST_ATOMIC_BITS]),
      .value(host_begins ? word_t'(host_wdata) :
             what == AccessStore && next.what[REQUEST_SWAP_AT] ? turned(next.arg1, count) : next.arg1),
      .expected(next.arg2),
      .done(maps_done),
      .old_value(maps_before)
  );

  xdp_division i_division (
      .clk,
      .rst,
      .start(begins && by.division),
      .dividend(next.arg0),
      .divisor(next.arg1),
      .is_signed(next.what[REQUEST_DIV_SIGNED_AT]),
      .remainder(next.what[REQUEST_DIV_REMAINDER_AT]),
      .narrow(next.what[REQUEST_DIV_NARROW_AT]),
      .busy(division_busy),
      .done(division_done),
      .result(quotient)
  );

  // ---- the card's maps
  logic card_taken, card_wild, look, look_taken;
  ctx_t look_ctx;
  word_t look_at;
  map_port i_port (
      .clk,
      .rst,
      .unit_id,
      .valid(next_valid && by.card),
      .next,
      .taken(card_taken),
      .wild(card_wild),
      .look,
      .look_ctx,
      .look_at,
      .look_taken,
      .looked,
      .looked_ctx(request_data.ctx),
      .looked_here,
      .looked_window(request_data.around),
      .maps(card)
  );

  logic reply_valid, reply_taken;
  reply_t reply;
  fifo_dist #(
      .Width($bits(reply_t)),
      .Depth(Contexts)
  ) replies (
      .clk,
      .rst,
      .push (card.reply_valid && !card.reply.shape),
      .din  (card.reply),
      .ready(),
      .valid(reply_valid),
      .pop  (reply_taken),
      .dout (reply),
      .level()
  );

  assign pop = begins || card_taken;
  always_ff @(posedge clk) begin
    if (begins) begin
      ctx_q <= next.ctx;
      silent_q <= next.silent;
      in_packet_q <= by.own && !next_place.on_stack;
    end
    if (state_q == Maps) value_q <= maps_before;
    if (state_q == Dividing) value_q <= quotient;
    if (begins && !by.maps && !by.division) value_q <= by.own ? next.arg1 : by.jump ? next.arg0 : '0;
    host_rdata <= maps_before[31:0];
  end

  // Whether the answer's register takes another
  logic answer_q;
  wire room = !answer_q || answer_taken;
  wire local_taken = state_q == Answer && !reply_valid && room;
  always_ff @(posedge clk) begin
    unique case (state_q)
      Idle: begin
        if (host_begins) state_q <= Host;
        else if (begins && by.maps) state_q <= Maps;
        else if (begins && by.division) state_q <= Dividing;
        else if (begins && (by.own || by.jump || !next.silent)) state_q <= Answer;
      end
      Maps: if (maps_done) state_q <= silent_q ? Idle : Answer;
      Host: if (maps_done) state_q <= Idle;
      Dividing: if (division_done) state_q <= silent_q ? Idle : Answer;
      Own: if (looked && request_data.ctx == ctx_q) state_q <= looked_here ? Idle : Answer;
      default: if (local_taken) state_q <= in_packet_q ? Own : Idle;
    endcase
    if (begins) after_request_q <= 1'b1;
    if (host_begins) after_request_q <= 1'b0;
    host_done <= state_q == Host && maps_done;
    // The context's next request must see the effect of a silent operation on a map, so the operation waits for its
    // completion as for an answer.
    accepted <= pop && (next.ends || (next.silent && !by.own && !by.jump && (begins || 32'(kind) <= KIND_ATOMIC)));
    accepted_ctx <= next.ctx;
    wild <= (begins && !by.maps && !by.division && !by.own && !by.jump) || card_wild;
    if (rst) begin
      state_q <= Idle;
      after_request_q <= 1'b0;
      host_done <= 1'b0;
      accepted <= 1'b0;
      wild <= 1'b0;
    end
  end

  // ---- the state of each context's waiting request
  typedef struct packed {
    logic [4:0] dst;
    logic       silent;
    logic       load;
    logic       own;
    logic       jumps;
    place_t     place;
    logic [3:0] count;
    logic       is_signed;
    logic       swap;
  } pending_t;
  (* ram_style = "distributed" *) pending_t pending[Contexts];
  always_ff @(posedge clk)
    if (pop && !next.ends)
      pending[next.ctx] <= '{
          dst: next.dst,
          silent: next.silent,
          load: 32'(kind) == KIND_LOAD,
          own: by.own,
          jumps: by.jump,
          place: next_place,
          count: count,
          is_signed: next.what[REQUEST_SIGNED_AT],
          swap: next.what[REQUEST_SWAP_AT]
      };

  // ---- answers: the card's first, then looks
  logic raw_valid_q, raw_looks_q;
  ctx_t raw_ctx_q;
  word_t raw_q;
  pending_t of_q;
  wire ctx_t raw_ctx = reply_valid ? reply.ctx : state_q == Answer ? ctx_q : look_ctx;
  assign reply_taken = reply_valid && room;
  assign look_taken = look && !reply_valid && state_q != Answer && room;
  always_ff @(posedge clk) begin
    if (room) begin
      raw_valid_q <= reply_valid || state_q == Answer || look;
      raw_looks_q <= !reply_valid && state_q != Answer;
      raw_ctx_q <= raw_ctx;
      raw_q <= reply_valid ? reply.value : state_q == Answer ? value_q : look_at;
      of_q <= pending[raw_ctx];
    end
    if (rst) raw_valid_q <= 1'b0;
  end

  // The value of a load: byte order, then sign
  wire word_t ordered = of_q.load && of_q.swap ? turned(raw_q, of_q.count) : raw_q;
  wire negative = of_q.load && of_q.is_signed && ordered[6'({of_q.count, 3'd0} - 7'd1)];
  wire word_t above = of_q.count[3] ? '0 : 64'hFFFFFFFFFFFFFFFF << {of_q.count[2:0], 3'd0};
  always_ff @(posedge clk) begin
    if (room) begin
      answer_q <= raw_valid_q;
      answer_data <= '{
          ctx: raw_ctx_q,
          dst: of_q.dst,
          jumps: !raw_looks_q && of_q.jumps,
          silent: of_q.silent || of_q.own,
          looks: raw_looks_q,
          loads: !raw_looks_q && of_q.own && of_q.load,
          stores: !raw_looks_q && of_q.own && !of_q.load,
          place: raw_looks_q ? place_of(raw_q) : of_q.place,
          count: of_q.count,
          is_signed: of_q.is_signed,
          swap: of_q.swap,
          value: negative ? ordered | above : ordered
      };
    end
    if (rst) answer_q <= 1'b0;
  end
  assign answer = answer_q;

`ifndef SYNTHESIS
  always_ff @(posedge clk)
  if (!rst) assert (!(begins && by.division) || !division_busy) else $error("%m: divides already");
`endif
endmodule

`default_nettype wire
