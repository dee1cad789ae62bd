// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// The end of a port's way: frames that went straight on and messages that were delivered, frame by frame in turn.
//
//   straight ──────────┬─> register ─> out
//   messages ─> queue ─┘
//               3          1 cycle; one beat a cycle
//
// The queue has room for what is pushed: the delivery reserves the beats of a message before it begins to read it.
module l7_out
  import penstock_pkg::*, l7_pkg::*;
(
    input wire logic  clk,
    input wire logic  rst,
    input wire time_t cycle,

    input  wire logic             straight_valid,
    output logic                  straight_pop,
    input  wire logic             straight_last,
    input  wire logic [DataW-1:0] straight_data,
    input  wire frame_meta_t      straight_meta,
    input  wire tail_t            straight_tail,
    input  wire verdict_t         straight_verdict,

    input  wire logic             push,
    input  wire logic             last,
    input  wire logic [DataW-1:0] data,
    input  wire frame_meta_t      meta,
    input  wire tail_t            tail,
    input  wire verdict_t         verdict,
    output logic                  popped,  // a beat of a message has left the queue

    frame_if.src     out,
    output tail_t    out_tail,
    output verdict_t out_verdict,

    output logic made,  // a message begins to leave
    output logic busy
);
  /* verilator no_inline_module */  // the model compiles it once for all instances
  localparam int unsigned LevelW = $clog2(OutBeats) + 1;

  typedef struct packed {
    logic             last;
    frame_meta_t      meta;
    verdict_t         verdict;
    tail_t            tail;
    logic [DataW-1:0] data;
  } beat_out_t;

  beat_out_t message, chosen, out_q;
  logic message_valid, message_pop, load, valid_q, inside_q, is_message, is_message_q, first;
  logic [LevelW-1:0] level_q;

  fifo_block #(
      .Width($bits(beat_out_t)),
      .Depth(OutBeats)
  ) i_messages (
      .clk,
      .rst,
      .push,
      .din({last, meta, verdict, tail, data}),
      .valid(message_valid),
      .pop(message_pop),
      .dout(message)
  );

  always_ff @(posedge clk) begin
    level_q <= level_q + LevelW'(push) - LevelW'(message_pop);
    popped  <= message_pop;
    if (rst) begin
      level_q <= '0;
      popped  <= 1'b0;
    end
  end

  // Within a frame its stream goes on; between frames the other one has the turn.
  assign is_message = inside_q ? is_message_q : is_message_q ? message_valid && !straight_valid : message_valid;
  assign load = (is_message ? message_valid : straight_valid) && (!valid_q || out.ready);
  assign message_pop = load && is_message;
  assign straight_pop = load && !is_message;
  assign first = load && !inside_q;

  always_comb begin
    chosen = '{
        last: straight_last,
        meta: straight_meta,
        verdict: straight_verdict,
        tail: straight_tail,
        data: straight_data
    };
    if (is_message) begin
      chosen = message;
      chosen.meta.timestamp = cycle;
    end
  end

  always_ff @(posedge clk) begin
    if (load) begin
      out_q <= chosen;
      inside_q <= !chosen.last;
      is_message_q <= is_message;
    end
    valid_q <= load || (valid_q && !out.ready);
    made <= first && is_message && !rst;
    if (rst) begin
      valid_q <= 1'b0;
      inside_q <= 1'b0;
      is_message_q <= 1'b0;
    end
  end

  assign out.valid = valid_q;
  assign out.data = out_q.data;
  assign out.last = out_q.last;
  assign out.meta = out_q.meta;
  assign out_tail = out_q.tail;
  assign out_verdict = out_q.verdict;
  assign busy = valid_q || level_q != '0 || made;
endmodule

`default_nettype wire
