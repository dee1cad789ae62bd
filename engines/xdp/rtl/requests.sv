// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// Requests of the core: accesses to the unit's maps, and divisions. Each of both works on one at a time; the queue before them keeps their order.
//
//   request ─> queue ─┬─> unit_maps ─┬─> answer ─> SEL of the core
//              (16)   └─> division ──┘
//
// A request for an address where nothing is, or of a kind that the unit has not got (helpers, lookups in maps, tail calls), is answered with 0
// and counted.
module requests
  import xdp_pkg::*;
  import xdp_isa_pkg::*;
#(
    parameter int unsigned MapBytes = 65536
) (
    input wire logic clk,
    input wire logic rst,

    input  wire logic     request,
    input  wire request_t request_data,
    output logic          answer,
    output answer_t       answer_data,
    input  wire logic     answer_taken,
    output logic          accepted,
    output ctx_t          accepted_ctx,
    output logic          wild,         // for one cycle

    // The host's way into the maps, between two requests
    input  wire logic                        host_ask,  // held until host_done
    input  wire logic                        host_we,
    input  wire logic [$clog2(MapBytes)-1:2] host_addr,
    input  wire logic [31:0]                 host_wdata,
    output logic                             host_done,
    output logic [31:0]                      host_rdata
);
  typedef enum logic [2:0] {
    Idle,
    Maps,     // an access of the program is under way,
    Host,     // one of the host,
    Dividing,
    Answer    // an answer waits for its turn in the core
  } state_e;

  request_t next;
  logic next_valid, pop;
  fifo_dist #(
      .Width($bits(request_t)),
      .Depth(16)
  ) waiting (
      .clk,
      .rst,
      .push (request),
      .din  (request_data),
      .ready(),
      .valid(next_valid),
      .pop,
      .dout (next),
      .level()
  );

  state_e state_q;
  request_t now_q;
  word_t value_q;

  wire [7:0] kind = next.what[REQUEST_KIND_AT+:REQUEST_KIND_BITS];
  wire is_access = 32'(kind) <= KIND_ATOMIC && (next.arg0 ^ 64'(ADDRESS_UNIT_MAPS)) < 64'(MapBytes);
  wire is_division = 32'(kind) == KIND_DIV;
  // The host comes at the latest after one request.
  logic after_request_q;
  wire host_turn = host_ask && !host_done && (after_request_q || !next_valid);
  wire begins = state_q == Idle && next_valid && !host_turn;

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

  unit_maps #(
      .Bytes(MapBytes)
  ) maps (
      .clk,
      .rst,
      .ask(host_begins || (begins && is_access)),
      .what(host_begins ? (host_we ? AccessStore : AccessLoad) : what),
      .at(host_begins ? {host_addr, 2'd0} : next.arg0[$clog2(MapBytes)-1:0]),
      .count(host_begins ? 4'd4 : count),
      .atomic(next.what[REQUEST_ATOMIC_AT+:REQUEST_ATOMIC_BITS]),
      .value(host_begins ? word_t'(host_wdata) : what == AccessStore && next.what[REQUEST_SWAP_AT] ? turned(next.arg1, count) : next.arg1),
      .expected(next.arg2),
      .done(maps_done),
      .old_value(maps_before)
  );

  division i_division (
      .clk,
      .rst,
      .start(begins && is_division),
      .dividend(next.arg0),
      .divisor(next.arg1),
      .is_signed(next.what[REQUEST_DIV_SIGNED_AT]),
      .remainder(next.what[REQUEST_DIV_REMAINDER_AT]),
      .narrow(next.what[REQUEST_DIV_NARROW_AT]),
      .busy(division_busy),
      .done(division_done),
      .result(quotient)
  );

  // What a load gives: order, then sign
  wire [3:0] loaded_count = now_q.what[REQUEST_COUNT_AT+:REQUEST_COUNT_BITS];
  wire is_load = 32'(now_q.what[REQUEST_KIND_AT+:REQUEST_KIND_BITS]) == KIND_LOAD;
  wire word_t ordered = is_load && now_q.what[REQUEST_SWAP_AT] ? turned(maps_before, loaded_count) : maps_before;
  wire sign = is_load && now_q.what[REQUEST_SIGNED_AT] && ordered[6'({loaded_count, 3'd0} - 7'd1)];
  wire word_t above = loaded_count[3] ? '0 : 64'hFFFFFFFFFFFFFFFF << {loaded_count[2:0], 3'd0};

  assign pop = begins;
  always_ff @(posedge clk) begin
    if (begins) now_q <= next;
    if (state_q == Maps) value_q <= sign ? ordered | above : ordered;
    if (state_q == Dividing) value_q <= quotient;
    if (begins && !is_access && !is_division) value_q <= '0;
    host_rdata <= maps_before[31:0];
  end

  always_ff @(posedge clk) begin
    unique case (state_q)
      Idle: begin
        if (host_begins) state_q <= Host;
        else if (begins && is_access) state_q <= Maps;
        else if (begins && is_division) state_q <= Dividing;
        else if (begins && !next.silent) state_q <= Answer;
      end
      Maps: if (maps_done) state_q <= now_q.silent ? Idle : Answer;
      Host: if (maps_done) state_q <= Idle;
      Dividing: if (division_done) state_q <= now_q.silent ? Idle : Answer;
      default: if (answer_taken) state_q <= Idle;
    endcase
    if (begins) after_request_q <= 1'b1;
    if (host_begins) after_request_q <= 1'b0;
    host_done <= state_q == Host && maps_done;
    accepted <= begins && next.silent && next.wakes;
    accepted_ctx <= next.ctx;
    wild <= begins && !is_access && !is_division;
    if (rst) begin
      state_q <= Idle;
      after_request_q <= 1'b0;
      host_done <= 1'b0;
      accepted <= 1'b0;
      wild <= 1'b0;
    end
  end

  assign answer = state_q == Answer;
  assign answer_data = '{ctx: now_q.ctx, dst: now_q.dst, jumps: 1'b0, value: value_q};

`ifndef SYNTHESIS
  always_ff @(posedge clk) if (!rst) assert (!(begins && is_division) || !division_busy) else $error("%m: divides already");
`endif
endmodule

`default_nettype wire
