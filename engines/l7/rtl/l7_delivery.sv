// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// Delivers messages that are whole and decided: reads their packets in the order of their numbers and joins them
// behind the headers of packet 0.
//
//   whole ───┬─> both ─┬─> queue of a port and application ─┬─> head ─> packets ─> join ─> fold ─> l7_out
//   decided ─┘         │   …                                │   4       3 each, and 1 a beat
//                      └─> queue of messages to drop ───────┘
//   expired ─────────────>
//
// A message takes 5 cycles, 2 for each packet, and 1 for each beat of payload and of headers: 8 at least. The queues
// are served in turn; one whose port has no room for a longest message is passed over. A message that is dropped is
// read like any other, for its pages, and nothing of it leaves.
module l7_delivery
  import penstock_pkg::*, l7_pkg::*;
#(
    parameter int unsigned Ports  = 2,
    parameter int unsigned Number = 0  // of the block
) (
    input wire logic clk,
    input wire logic rst,

    input wire logic     decided_valid,
    input wire msg_t     decided_slot,
    input wire app_t     decided_app,
    input wire port_no_t decided_port,
    input wire logic     decided_stuck,
    input wire decided_t decided,

    input wire logic   whole_we,
    input wire logic   whole_expired,
    input wire msg_t   whole_slot,
    input wire app_t   whole_app,
    input wire whole_t whole,

    input wire logic       mem_we,
    input wire page_t      mem_page,
    input wire logic [$clog2(PageBeats)-1:0] mem_beat,
    input wire logic [DataW-1:0] mem_data,
    input wire logic       link_we,
    input wire page_t      link_from,
    input wire logic       at_we,
    input wire msg_t       at_slot,
    input wire number_t    at_number,
    input wire packet_at_t at,
    input wire logic       head_we,
    input wire msg_t       head_slot,
    input wire head_t      head,

    output logic  page_give,
    output page_t page_give_id,
    output logic  slot_give,
    output msg_t  slot_give_id,
    output app_t  give_app,

    input  wire logic [Ports-1:0] room,
    output logic      [Ports-1:0] push,
    output logic                  push_last,
    output logic      [DataW-1:0] push_data,
    output frame_meta_t           push_meta,
    output tail_t                 push_tail,
    output verdict_t              push_verdict,

    output counted_t counted[Apps],  // delivered, denied, stuck
    output logic     busy
);
  localparam int unsigned Queues = Ports * Apps + 1;  // the last one: messages to drop

  // ---- whole and decided
  typedef struct packed {
    logic expired;
    app_t app;
    msg_t slot;
  } event_t;

  typedef struct packed {
    logic stuck;
    logic drop;
    port_no_t port;
    app_t app;
  } dest_t;

  event_t event_i;
  logic event_valid, event_pop;
  logic [6:0] event_level;
  logic [Slots-1:0] whole_q, decided_q;
  (* ram_style = "distributed" *) dest_t dests[Slots];
  dest_t dest, dest_i;
  logic joined, to_drop;
  msg_t joined_slot;

  fifo_dist #(
      .Width($bits(event_t)),
      .Depth(64)
  ) i_events (
      .clk,
      .rst,
      .push(whole_we),
      .din({whole_expired, whole_app, whole_slot}),
      .ready(),
      .valid(event_valid),
      .pop(event_pop),
      .dout(event_i),
      .level(event_level)
  );

  assign dest_i = '{stuck: decided_stuck, drop: decided.kind == DecideDrop, port: decided_port, app: decided_app};
  assign event_pop = event_valid && !decided_valid;

  always_comb begin
    dest = decided_valid ? dest_i : dests[event_i.slot];
    if (event_pop && event_i.expired) dest = '{stuck: 1'b0, drop: 1'b1, port: '0, app: event_i.app};
    joined_slot = decided_valid ? decided_slot : event_i.slot;
    joined = decided_valid ? whole_q[decided_slot] : event_pop && (event_i.expired || decided_q[event_i.slot]);
    to_drop = dest.drop;
  end

  always_ff @(posedge clk) begin
    if (decided_valid) dests[decided_slot] <= dest_i;
    if (decided_valid) decided_q[decided_slot] <= !joined;
    if (event_pop) begin
      whole_q[event_i.slot]   <= !joined;
      decided_q[event_i.slot] <= 1'b0;
    end
    if (decided_valid && joined) whole_q[decided_slot] <= 1'b0;
    if (rst) {whole_q, decided_q} <= '0;
  end

  // ---- queues
  typedef struct packed {
    app_t app;
    msg_t slot;
  } queued_t;

  logic [Queues-1:0] queue_push, queue_valid, queue_pop, request, grant;
  queued_t queued[Queues];
  logic [$clog2(Slots):0] waiting_q;  // messages in the queues and in the reader
  logic finish;

  always_comb begin
    queue_push = '0;
    for (int unsigned p = 0; p < Ports; p++)
      for (int unsigned a = 0; a < Apps; a++)
        queue_push[Apps*p+a] = joined && !to_drop && 32'(dest.port) == p && 32'(dest.app) == a;
    queue_push[Queues-1] = joined && to_drop;
  end

  for (genvar q = 0; q < Queues; q++) begin : gen_queue
    fifo_block #(
        .Width($bits(queued_t)),
        .Depth(Slots)
    ) i_queue (
        .clk,
        .rst,
        .push(queue_push[q]),
        .din({dest.app, joined_slot}),
        .valid(queue_valid[q]),
        .pop(queue_pop[q]),
        .dout(queued[q])
    );
  end

  always_ff @(posedge clk) begin
    waiting_q <= waiting_q + ($clog2(Slots) + 1)'(joined) - ($clog2(Slots) + 1)'(finish);
    for (int unsigned a = 0; a < Apps; a++) begin
      counted[a] <= '0;
      if (joined && 32'(dest.app) == a && !(event_pop && event_i.expired)) begin
        counted[a].delivered <= !dest.drop;
        counted[a].denied <= dest.drop && !dest.stuck;
        counted[a].stuck <= dest.stuck;
      end
      if (rst) counted[a] <= '0;
    end
    if (rst) waiting_q <= '0;
  end

  // ---- memories
  typedef enum logic [2:0] {
    Idle,
    Read,    // head, decision and packets of the message
    Edit,
    Head,
    More,    // head bytes from 64 on
    Next,    // packet
    At,      // where it lies
    Beats
  } state_e;

  state_e state_q;
  queued_t chosen, message_q;
  logic drops_q;
  head_t head_read;
  decided_t decided_read;
  whole_t whole_read;
  packet_at_t at_read;
  page_t link_read, page_q;
  logic [DataW-1:0] mem_read;
  logic mem_re;
  logic [2:0] beat_q;
  number_t number;

  ram_sdp #(
      .Width($bits(head_t)),
      .Depth(Slots)
  ) i_heads (
      .clk,
      .we(head_we),
      .waddr(head_slot),
      .wdata(head),
      .re(state_q == Read),
      .raddr(message_q.slot),
      .rdata(head_read)
  );

  ram_sdp #(
      .Width($bits(decided_t)),
      .Depth(Slots)
  ) i_decided (
      .clk,
      .we(decided_valid),
      .waddr(decided_slot),
      .wdata(decided),
      .re(state_q == Read),
      .raddr(message_q.slot),
      .rdata(decided_read)
  );

  ram_sdp #(
      .Width($bits(whole_t)),
      .Depth(Slots)
  ) i_wholes (
      .clk,
      .we(whole_we),
      .waddr(whole_slot),
      .wdata(whole),
      .re(state_q == Read),
      .raddr(message_q.slot),
      .rdata(whole_read)
  );

  ram_sdp #(
      .Width($bits(packet_at_t)),
      .Depth(Slots * Packets)
  ) i_at (
      .clk,
      .we(at_we),
      .waddr({at_slot, at_number}),
      .wdata(at),
      .re(state_q == Next),
      .raddr({message_q.slot, number}),
      .rdata(at_read)
  );

  ram_sdp #(
      .Width($bits(page_t)),
      .Depth(Pages)
  ) i_links (
      .clk,
      .we(link_we),
      .waddr(link_from),
      .wdata(mem_page),
      .re(state_q == Beats && beat_q == '0),
      .raddr(page_q),
      .rdata(link_read)
  );

  ram_sdp #(
      .Width(DataW),
      .Depth(Pages * PageBeats),
      .Ultra(1'b1)
  ) i_memory (
      .clk,
      .we(mem_we),
      .waddr({mem_page, mem_beat}),
      .wdata(mem_data),
      .re(mem_re),
      .raddr({page_q, beat_q}),
      .rdata(mem_read)
  );

  // ---- reader
  logic [Packets-1:0] left_q;   // packets to be read
  logic [8:0] beats_q;          // of the packet
  logic [6:0] tail_bytes_q;     // of its last beat, 1 to 64
  logic last_beat;
  logic [8*HeadBytes-1:0] edited, head_q;
  frame_meta_t meta, meta_q;
  verdict_t verdict, verdict_q;
  logic [6:0] head_len;
  logic [4:0] more_q;  // head bytes from 64 on
  port_no_t port_q;

  for (genvar q = 0; q < Queues; q++) begin : gen_request
    if (q == Queues - 1) begin : gen_drop
      assign request[q] = queue_valid[q];
    end else begin : gen_room
      assign request[q] = queue_valid[q] && room[q/Apps];
    end
  end

  rr_arbiter #(
      .N(Queues)
  ) i_arbiter (
      .clk,
      .rst,
      .req(request),
      .accept(state_q == Idle && request != '0),
      .grant
  );
  assign queue_pop = state_q == Idle ? grant : '0;

  always_comb begin
    chosen = '0;
    for (int unsigned q = 0; q < Queues; q++) if (grant[q]) chosen |= queued[q];
    number = '0;
    for (int n = int'(Packets) - 1; n >= 0; n--) if (left_q[n]) number = number_t'(n);
  end

  assign last_beat = beats_q == 9'd1;
  assign finish = state_q == Next && left_q == '0;
  assign mem_re = state_q == Beats;
  assign page_give = state_q == Beats && (beat_q == '1 || last_beat);
  assign page_give_id = page_q;
  assign slot_give = finish;
  assign slot_give_id = message_q.slot;
  assign give_app = message_q.app;

  l7_head i_head (
      .head(head_read.head),
      .shape(head_read.shape),
      .payload(whole_read.len),
      .joins(whole_read.received[1]),
      .edited
  );

  assign head_len = head_bytes(head_read.shape);
  always_comb begin
    meta = '0;
    meta.tenant = head_read.tenant;
    meta.mark = {12'd0, 4'(head_read.port), decided_read.number};
    meta.len = len_t'(whole_read.len) + len_t'(head_len);
    meta.src = PortBlock + port_t'(Number);
    meta.hash = head_read.hash;
    verdict = '0;
    unique case (decided_read.kind)
      DecideUnit: begin
        verdict.kind = VerdictUnit;
        // A number above 255 names no unit, and must not become another one's.
        verdict.target = decided_read.number > 16'hFF ? 8'hFF : decided_read.number[7:0];
      end
      DecideDispatch: begin
        verdict.kind = VerdictDispatch;
        verdict.word = 32'(decided_read.number);
      end
      default: verdict.kind = VerdictHost;
    endcase
  end

  always_ff @(posedge clk) begin
    unique case (state_q)
      Idle:
      if (request != '0) begin
        state_q   <= Read;
        message_q <= chosen;
        drops_q   <= grant[Queues-1];
      end
      Read: state_q <= Edit;
      Edit: begin
        state_q <= drops_q ? Next : Head;
        left_q <= whole_read.received;
        head_q <= edited;
        meta_q <= meta;
        verdict_q <= verdict;
        more_q <= 5'(head_len - 7'd64);
        port_q <= head_read.port;
      end
      Head: state_q <= more_q != '0 ? More : Next;
      More: state_q <= Next;
      Next: begin
        state_q <= left_q != '0 ? At : Idle;
        left_q[number] <= 1'b0;
      end
      At: begin
        state_q <= Beats;
        page_q <= at_read.page;
        beat_q <= '0;
        beats_q <= 9'((15'(at_read.len) + 15'(BeatBytes - 1)) >> $clog2(BeatBytes));
        tail_bytes_q <= at_read.len[5:0] == '0 ? 7'd64 : 7'(at_read.len[5:0]);
      end
      default: begin
        beats_q <= beats_q - 1'b1;
        beat_q  <= beat_q + 1'b1;
        if (beat_q == '1) page_q <= link_read;
        if (last_beat) state_q <= Next;
      end
    endcase
    if (rst) state_q <= Idle;
  end

  // ---- pieces of the frame, in their order: bytes to be joined
  typedef struct packed {
    logic valid;
    logic head;   // from the headers, not from memory
    logic first;
    logic last;   // piece of the frame
    logic [6:0] bytes;
    logic [DataW-1:0] data;  // of the headers
  } piece_t;

  piece_t piece, piece_q, join_q;

  always_comb begin
    piece = '0;
    piece.head = 1'b1;
    piece.first = state_q == Head;
    piece.data = state_q == Head ? head_q[DataW-1:0] : DataW'(head_q[8*HeadBytes-1:DataW]);
    piece.bytes = 7'd64;
    unique case (state_q)
      Head: piece.valid = 1'b1;
      More: begin
        piece.valid = 1'b1;
        piece.bytes = 7'(more_q);
      end
      Beats: begin
        piece.valid = !drops_q;
        piece.head = 1'b0;
        piece.bytes = last_beat ? tail_bytes_q : 7'd64;
        piece.last = last_beat && left_q == '0;
      end
      default: ;
    endcase
  end

  always_ff @(posedge clk) begin
    piece_q <= piece;
    join_q  <= piece_q;
    if (!piece_q.head) join_q.data <= mem_read;
    if (rst) begin
      piece_q.valid <= 1'b0;
      join_q.valid  <= 1'b0;
    end
  end

  // ---- join: bytes that have not filled a beat yet, and those of the next piece behind them
  logic [DataW-1:0] kept_q, masked;
  logic [2*DataW-1:0] joined_bytes;
  logic [5:0] kept_bytes_q;
  logic [6:0] sum;
  logic flush_q;  // the frame's last bytes stand in kept_q

  typedef struct packed {
    logic valid;
    logic first;
    logic last;
    logic [DataW-1:0] data;
  } made_t;

  made_t made_q;
  frame_meta_t made_meta_q;
  verdict_t made_verdict_q;
  port_no_t made_port_q;

  always_comb begin
    for (int unsigned b = 0; b < BeatBytes; b++) masked[8*b+:8] = 7'(b) < join_q.bytes ? join_q.data[8*b+:8] : '0;
    joined_bytes = (2*DataW)'(masked) << {kept_bytes_q, 3'd0};
    joined_bytes[DataW-1:0] |= kept_q;
    sum = 7'(kept_bytes_q) + join_q.bytes;
  end

  always_ff @(posedge clk) begin
    made_q.valid <= 1'b0;
    if (join_q.valid) begin
      made_q.valid <= sum[6] || join_q.last;
      made_q.first <= join_q.first;
      made_q.last <= join_q.last && sum <= 7'd64;
      made_q.data <= joined_bytes[DataW-1:0];
      kept_q <= sum[6] ? joined_bytes[2*DataW-1:DataW] : joined_bytes[DataW-1:0];
      kept_bytes_q <= sum[5:0];
      if (join_q.last && sum <= 7'd64) begin
        kept_q <= '0;
        kept_bytes_q <= '0;
      end
      if (join_q.first) begin
        made_meta_q <= meta_q;
        made_verdict_q <= verdict_q;
        made_port_q <= port_q;
      end
    end
    flush_q <= join_q.valid && join_q.last && sum > 7'd64;
    if (flush_q) begin
      made_q <= '{valid: 1'b1, first: 1'b0, last: 1'b1, data: kept_q};
      kept_q <= '0;
      kept_bytes_q <= '0;
    end
    if (rst) begin
      made_q.valid <= 1'b0;
      kept_q <= '0;
      kept_bytes_q <= '0;
      flush_q <= 1'b0;
    end
  end

  // ---- fold: the second beat of a frame of 65 to 80 bytes becomes its tail
  logic [DataW-1:0] folded_q;
  logic folds;
  assign folds = is_folded(made_meta_q.len);

  always_ff @(posedge clk) begin
    if (made_q.valid) begin
      if (made_q.first) folded_q <= made_q.data;
      push_data <= folds ? folded_q : made_q.data;
      push_last <= made_q.last;
      push_meta <= made_meta_q;
      push_verdict <= made_verdict_q;
      push_tail <= '{valid: folds, data: made_q.data[TailW-1:0]};
    end
    for (int unsigned p = 0; p < Ports; p++) push[p] <= made_q.valid && 32'(made_port_q) == p && !(folds && made_q.first) && !rst;
  end

  assign busy = waiting_q != '0 || event_valid || event_level != '0 || decided_valid || piece_q.valid || join_q.valid ||
      made_q.valid || flush_q || push != '0;
endmodule

`default_nettype wire
