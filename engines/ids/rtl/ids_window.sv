// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// Prepends the preceding bytes of the stream to the payload of a port's frames, for the filter, and keeps the stream's
// state.
//
//   requests ─> lookup (ids_flow) ─> PLAN ─┐
//   bodies ────────────────────────────────┴─> STEP ─┬─> beats to the filter: 64 bytes, 7 before them, payload mask
//                                                    ├─> bodies, and what is known of the frame, to ids_out
//                                                    └─> update of the flow line, with the frame's last step
//
// One beat a cycle; a folded frame that is searched takes two steps. A frame's lookup begins when there is room for all
// of it after the filter, so a frame that holds the lock of its set never waits for an output.
module ids_window
  import penstock_pkg::*, ids_pkg::*;
#(
    parameter int unsigned Port  = 0,
    parameter int unsigned Depth = 512  // beats behind the filter
) (
    input wire logic clk,
    input wire logic rst,

    input wire logic bank,  // of the exact table, for frames that begin now
    input wire logic hold,  // no step in this cycle

    input  wire logic     request_valid,
    output logic          request_pop,
    input  wire request_t request,

    output logic              lookup_valid,
    input  wire logic         lookup_ready,
    input  wire logic         answer_valid,
    output logic              answer_pop,
    input  wire answer_t      answer,
    output logic              update_valid,
    input  wire logic         update_ready,
    output update_t           update,

    input  wire logic  body_valid,
    output logic       body_pop,
    input  wire body_t body,

    // to the filter
    output logic                 x_valid,
    output logic                 x_last,
    output logic                 x_bank,
    output logic [BeatBytes-1:0] x_mask,
    output span_t                x,
    output logic  [1:0]          begins,  // a frame begins to be searched in this bank

    // to ids_out
    output logic  out_push,
    output body_t out_body,
    output logic  info_push,
    output info_t info,
    input  wire logic out_popped,  // a beat has left

    output row_t  log_head  // position that the next frame gets in the log
);
  localparam int unsigned LevelW = $clog2(Depth) + 1;

  // ---- lookups, in the order of frames
  logic [LevelW-1:0] reserved_q;
  logic [10:0] beats;
  logic [5:0] locks_q;  // lookups whose updates are not written
  logic room, waiting_ready, waiting_valid, waiting_pop;
  request_t waiting;

  assign beats = is_folded(request.len) ? 11'd1 : beats_of(request.len);
  assign room = 12'(reserved_q) + 12'(beats) <= 12'(Depth) && waiting_ready && 32'(locks_q) < InFlight;
  assign lookup_valid = request_valid && room && request.lookup;
  assign request_pop = request_valid && room && (!request.lookup || lookup_ready);

  fifo_dist #(
      .Width($bits(request_t))
  ) i_waiting (
      .clk,
      .rst,
      .push (request_pop),
      .din  (request),
      .ready(waiting_ready),
      .valid(waiting_valid),
      .pop  (waiting_pop),
      .dout (waiting),
      .level()
  );
  assign answer_pop = waiting_pop && waiting.lookup;

  always_ff @(posedge clk) begin
    reserved_q <= reserved_q + (request_pop ? LevelW'(beats) : '0) - LevelW'(out_popped);
    locks_q <= locks_q + 6'(request_pop && request.lookup) - 6'(update_valid && update_ready);
    if (rst) begin
      reserved_q <= '0;
      locks_q <= '0;
    end
  end

  // ---- PLAN: what becomes of the frame and its direction
  typedef struct packed {
    request_t   request;
    line_t      line;
    spot_t      place;
    logic       logs;
    logic       chained;
    logic [1:0] chain_port;
    row_t       chain;
    logic [2:0] known;
    prior_t    prior;
    direction_t state;      // behind the frame, but for the stream's last bytes and the log
  } plan_t;

  plan_t plan_d, plan_q;
  logic plan_valid_q, load, ends;

  always_comb begin
    direction_t state;
    logic [31:0] next;
    state = waiting.lookup ? answer.state : '0;
    next = waiting.seq + 32'(waiting.syn) + (waiting.search ? 32'(waiting.length) : 32'b0);
    plan_d = '0;
    plan_d.request = waiting;
    plan_d.line = answer.line;
    plan_d.place = answer.place;
    plan_d.state = state;
    if (waiting.lookup) begin
      if (!state.open || (waiting.syn && answer.aged)) begin
        plan_d.request.reasons.midstream = !waiting.syn;
        plan_d.request.reasons.followed = !state.open && state.followed;
        plan_d.state = '0;
        plan_d.state.followed = plan_d.request.reasons.followed;
        plan_d.state.open = 1'b1;
        plan_d.state.next = next;
      end else begin
        plan_d.request.reasons.followed = state.followed;
        if (!state.lost && waiting.syn && !waiting.search && state.known == '0 && waiting.seq + 32'd1 == state.next) begin
          // A SYN that is sent again changes nothing.
        end else if (state.lost || waiting.syn || waiting.seq != state.next) begin
          plan_d.request.reasons.order = 1'b1;
          plan_d.request.search = 1'b0;
          plan_d.state.lost = 1'b1;
        end else begin
          plan_d.known = state.known;
          plan_d.prior = state.prior;
          plan_d.state.next = next;
        end
      end
    end
    plan_d.logs = waiting.search || plan_d.request.reasons != '0;
    plan_d.chained = plan_d.state.logged;
    plan_d.chain_port = plan_d.state.chain_port;
    plan_d.chain = plan_d.state.chain;
  end

  assign load = waiting_valid && (!waiting.lookup || answer_valid) && (!plan_valid_q || ends);
  assign waiting_pop = load;

  always_ff @(posedge clk) begin
    if (load) plan_q <= plan_d;
    plan_valid_q <= load || (plan_valid_q && !ends);
    if (rst) plan_valid_q <= 1'b0;
  end

  // ---- STEP
  logic [8:0] beat_q;  // of the frame
  logic tail_q;        // the tail's step
  logic step, has_tail, bank_q, frame_bank;
  prior_t prev_q, behind_q;
  span_t patched, from_end;
  logic [BeatBytes-1:0] mask;
  len_t stop;
  prior_t behind;     // the stream's last bytes
  logic is_end;        // the payload ends in this step

  assign has_tail = body.tail.valid && plan_q.request.search;
  assign step = plan_valid_q && body_valid && !hold;
  assign ends = step && body.last && (!has_tail || tail_q);
  assign body_pop = step && (!has_tail || tail_q);
  assign frame_bank = beat_q == '0 ? bank : bank_q;

  always_comb begin
    logic [DataW-1:0] data;
    logic [8:0] beat;
    logic [5:0] at, last_at;
    len_t last_byte;
    data = tail_q ? DataW'(body.tail.data) : body.data;
    beat = beat_q;
    at = plan_q.request.start[5:0];
    stop = plan_q.request.start + plan_q.request.length;
    last_byte = stop - 1'b1;
    last_at = last_byte[5:0];

    // The bytes before the payload are replaced by those of the stream.
    patched = {data, prev_q};
    if (beat == 9'(plan_q.request.start >> 6)) begin
      patched = patched & ~(($bits(span_t))'({8 * Before{1'b1}}) << {at, 3'b0});
      patched = patched | (($bits(span_t))'(plan_q.prior) << {at, 3'b0});
    end
    mask = '1;
    if (beat < 9'(plan_q.request.start >> 6)) mask = '0;
    else if (beat == 9'(plan_q.request.start >> 6)) mask = mask << at;
    if (beat > 9'(last_byte >> 6)) mask = '0;
    else if (beat == 9'(last_byte >> 6)) mask = mask & ({BeatBytes{1'b1}} >> (6'd63 - last_at));

    is_end = beat == 9'(last_byte >> 6);
    from_end = (patched >> 8) >> {last_at, 3'b0};
    behind = is_end ? from_end[Before-1:0] : behind_q;
  end

  always_ff @(posedge clk) begin
    x_valid <= step && plan_q.request.search;
    begins <= '0;
    if (step) begin
      x <= patched;
      x_mask <= mask;
      x_last <= ends;
      x_bank <= frame_bank;
      bank_q <= frame_bank;
      prev_q <= patched[Span-1-:Before];
      if (is_end) behind_q <= behind;
      tail_q <= has_tail && !tail_q;
      beat_q <= ends ? '0 : beat_q + 1'b1;
      if (beat_q == '0 && plan_q.request.search) begins[frame_bank] <= 1'b1;
    end
    if (rst) begin
      x_valid <= 1'b0;
      beat_q <= '0;
      tail_q <= 1'b0;
    end
  end

  // ---- behind the frame
  row_t log_q;
  logic [10:0] rows;
  logic [3:0] known_sum;
  update_t update_in;

  assign rows = beats_of(plan_q.request.len);
  assign log_head = log_q;
  always_ff @(posedge clk) begin
    if (ends && plan_q.logs) log_q <= log_q + row_t'(rows) + 1'b1;
    if (rst) log_q <= '0;
  end

  always_comb begin
    info.number = plan_q.request.number;
    info.hash = body.meta.hash[7:0];
    info.len = plan_q.request.len;
    info.start = plan_q.request.start;
    info.length = plan_q.request.length;
    info.search = plan_q.request.search;
    info.lookup = plan_q.request.lookup;
    info.logs = plan_q.logs;
    info.bank = frame_bank;
    info.reasons = plan_q.request.reasons;
    info.seq = plan_q.request.seq;
    info.direction = plan_q.request.direction;
    info.line = plan_q.line;
    info.known = plan_q.known;
    info.prior = plan_q.prior;
    info.chained = plan_q.chained;
    info.chain_port = plan_q.chain_port;
    info.chain = plan_q.chain;
    info.first = log_q;
    info.place = log_q + row_t'(rows);

    known_sum = plan_q.request.length >= len_t'(Before) ? 4'(Before) : 4'(plan_q.known) + plan_q.request.length[3:0];
    update_in.place = plan_q.place;
    update_in.direction = plan_q.request.direction;
    update_in.state = plan_q.state;
    if (plan_q.request.search) begin
      update_in.state.known = known_sum > 4'(Before) ? 3'(Before) : 3'(known_sum);
      update_in.state.prior = behind;
    end
    if (plan_q.logs) begin
      update_in.state.logged = 1'b1;
      update_in.state.chain_port = 2'(Port);
      update_in.state.chain = info.place;
    end
  end

  assign out_push = body_pop;
  assign out_body = body;
  assign info_push = ends;

  fifo_dist #(
      .Width($bits(update_t))
  ) i_updates (
      .clk,
      .rst,
      .push (ends && plan_q.request.lookup),
      .din  (update_in),
      .ready(),
      .valid(update_valid),
      .pop  (update_ready),
      .dout (update),
      .level()
  );
endmodule

`default_nettype wire
