// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// Delivers messages that are whole and decided: reads their packets in the order of their numbers and joins them
// behind the headers of packet 0.
//
//   whole ───┬─> both ─┬─> queue of a port and ─┬─> choose ─> fetch ─> read ─> edit ─┬─> messages ─┬─> pieces ─> join
//   decided ─┘   1     │   application, …       │   2         1        1       1     │             │   1 each     │
//                      └─> queue of messages ───┘                                    └─> packets ──┘              v
//   expired ─────────────> to drop                                                       1 each           fold ─> l7_out
//
// A piece is what a cycle adds to a frame: the headers (two pieces if they are longer than 64 bytes), then each beat of
// payload. A message of one packet and one beat takes two cycles, messages follow each other without a gap, and choose
// begins one every second cycle: 125 million messages a second at most. The cycle after a message stays free if join
// has bytes of it left (`bubble_q`).
//
// Several messages are under way at once: `messages` has those whose headers are read, `packets` the places of their
// packets, which are read ahead. Both keep the order in which messages were chosen.
//
// The queues are served in turn. A message is chosen only if the output queue of its port has room for it: its beats are
// reserved then, as many as it could have with the longest headers, and those that it does not need are given back in the
// cycle after `edit`.
// If a message finds no room, the port's other application has at most one message chosen before it, so that short
// messages do not keep long ones waiting for ever.
//
// A port is `crowded` while a message finds no room and the other application had a message chosen at this port in the
// last 2^Recent to 2^(Recent+1) cycles. The dispatcher then makes room (dispatcher.sv). The time is long enough for a
// frame that has left the queue and waits for a unit: after UNIT_TIMEOUT, a million cycles if nobody changes it, that
// unit is stuck. An application that is alone at a port waits for its own slow units.
// A message that is dropped is read like any other, for its pages, and nothing of it leaves.
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

    input  wire logic [Ports-1:0] popped,  // a beat has left the output queue
    output logic      [Ports-1:0] push,
    output logic                  push_last,
    output logic      [DataW-1:0] push_data,
    output frame_meta_t           push_meta,
    output tail_t                 push_tail,
    output verdict_t              push_verdict,

    output logic [Ports-1:0] crowded,
    output counted_t counted[Apps],  // delivered, denied, stuck
    output logic     busy
);
  localparam int unsigned Queues = Ports * Apps + 1;  // the last one: messages to drop
  localparam int unsigned LevelW = $clog2(OutBeats) + 1;
  localparam int unsigned Recent = 20;  // log2 of cycles
  localparam int unsigned Chosen = 4;   // messages under way from choose to the queues behind edit, at most
  typedef logic [LevelW-1:0] beats_t;
  if (Apps != 2) begin : gen_apps
    $error("l7_delivery: the turns of a port are those of two applications");
  end

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
  logic [$clog2(Slots):0] event_level;
  logic [Slots-1:0] whole_q, decided_q;
  (* ram_style = "distributed" *) dest_t dests[Slots];
  (* ram_style = "distributed" *) beats_t most_beats[Slots];  // of the message's frame, with the longest headers
  dest_t dest, dest_i;
  logic joined;
  msg_t joined_slot;

  // Nobody asks it for room: a message is in it at most once, and decisions can hold it up for as long as they come.
  fifo_dist #(
      .Width($bits(event_t)),
      .Depth(Slots)
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
  end

  always_ff @(posedge clk) begin
    if (decided_valid) dests[decided_slot] <= dest_i;
    if (whole_we)
      most_beats[whole_slot] <= beats_t'((15'(whole.len) + 15'(HeadBytes + BeatBytes - 1)) >> $clog2(BeatBytes));
    // Each slot follows from its own two bits, not from `joined`, which selects among all of them.
    for (int unsigned m = 0; m < Slots; m++) begin
      if (decided_valid && 32'(decided_slot) == m) begin
        decided_q[m] <= !whole_q[m];
        whole_q[m]   <= 1'b0;
      end
      if (event_pop && 32'(event_i.slot) == m) begin
        whole_q[m]   <= !event_i.expired && !decided_q[m];
        decided_q[m] <= 1'b0;
      end
    end
    if (rst) {whole_q, decided_q} <= '0;
  end

  // ---- queues
  typedef struct packed {
    app_t app;
    msg_t slot;
    beats_t beats;
  } queued_t;

  logic [Queues-1:0] queue_push, queue_valid, queue_pop, asks_q, grant;
  queued_t queued[Queues];
  logic joined_q, joined_expired_q;
  dest_t joined_dest_q;
  queued_t joining_q;
  logic [$clog2(Slots):0] waiting_q;  // messages in the queues and behind them
  logic finish;

  always_ff @(posedge clk) begin
    joined_q <= joined && !rst;
    joined_expired_q <= !decided_valid && event_i.expired;
    joined_dest_q <= dest;
    joining_q <= '{app: dest.app, slot: joined_slot, beats: most_beats[joined_slot]};
  end

  always_comb begin
    queue_push = '0;
    for (int unsigned p = 0; p < Ports; p++)
      for (int unsigned a = 0; a < Apps; a++)
        queue_push[Apps*p+a] = joined_q && !joined_dest_q.drop && 32'(joined_dest_q.port) == p && 32'(joined_dest_q.app) == a;
    queue_push[Queues-1] = joined_q && joined_dest_q.drop;
  end

  for (genvar q = 0; q < Queues; q++) begin : gen_queue
    fifo_block #(
        .Width($bits(queued_t)),
        .Depth(Slots)
    ) i_queue (
        .clk,
        .rst,
        .push(queue_push[q]),
        .din(joining_q),
        .valid(queue_valid[q]),
        .pop(queue_pop[q]),
        .dout(queued[q])
    );
  end

  always_ff @(posedge clk) begin
    waiting_q <= waiting_q + ($clog2(Slots) + 1)'(joined_q) - ($clog2(Slots) + 1)'(finish);
    for (int unsigned a = 0; a < Apps; a++) begin
      counted[a] <= '0;
      if (joined_q && 32'(joined_dest_q.app) == a && !joined_expired_q) begin
        counted[a].delivered <= !joined_dest_q.drop;
        counted[a].denied <= joined_dest_q.drop && !joined_dest_q.stuck;
        counted[a].stuck <= joined_dest_q.stuck;
      end
      if (rst) counted[a] <= '0;
    end
    if (rst) waiting_q <= '0;
  end

  // ---- choose: which queues have a message for which there is room, then one of them
  typedef struct packed {
    logic drop;
    port_no_t port;
    queued_t of;
  } chosen_t;

  logic second_q, chooses;  // the second of its two cycles
  logic messages_ready, packets_of_ready;
  chosen_t chosen, fetch_q, read_q, edit_q;
  logic fetch_valid_q, read_valid_q, edit_valid_q;
  beats_t reserved_q[Ports];  // in the output queues, and on the way there
  app_t last_q[Ports];  // whose message was chosen last
  logic [1:0] recent_q[Ports][Apps];  // periods in which one of the application was chosen: this one, the last one
  logic [Recent-1:0] period_q;
  beats_t unused;  // reserved for the message in `edit`, more than it needs
  beats_t unused_q[Ports];  // the same of the message before, at its port
  logic [Queues-1:0] fits, waits;  // waits: its first message has no room
  logic [Queues-1:0] waits_q;      // the same, until it is chosen

  for (genvar q = 0; q < Queues; q++) begin : gen_fits
    if (q == Queues - 1) begin : gen_drop
      assign fits[q] = 1'b1;
      assign waits[q] = 1'b0;
    end else begin : gen_room
      localparam int unsigned Port = q / Apps;
      localparam int unsigned App = q % Apps;
      localparam int unsigned Other = Apps * Port + (App + 1) % Apps;
      logic room;
      assign room = reserved_q[Port] + queued[q].beats <= beats_t'(OutBeats);
      assign waits[q] = queue_valid[q] && !room;
      assign fits[q] = room && !(waits_q[Other] && last_q[Port] == app_t'(App));
    end
  end

  assign chooses = second_q && asks_q != '0;
  rr_arbiter #(
      .N(Queues)
  ) i_arbiter (
      .clk,
      .rst,
      .req(asks_q),
      .accept(chooses),
      .grant
  );
  assign queue_pop = chooses ? grant : '0;

  always_comb begin
    chosen = '0;
    for (int unsigned q = 0; q < Queues; q++)
      if (grant[q]) begin
        chosen.of |= queued[q];
        chosen.port |= port_no_t'(q / Apps);
      end
    chosen.drop = grant[Queues-1];
  end

  always_ff @(posedge clk) begin
    second_q <= !second_q && !rst;
    asks_q <= second_q || !messages_ready || !packets_of_ready ? '0 : queue_valid & fits;
    fetch_valid_q <= chooses && !rst;
    fetch_q <= chosen;
    read_valid_q <= fetch_valid_q && !rst;
    read_q <= fetch_q;
    edit_valid_q <= read_valid_q && !rst;
    edit_q <= read_q;
    waits_q <= waits | (waits_q & ~queue_pop);
    period_q <= period_q + 1'b1;
    for (int unsigned p = 0; p < Ports; p++) begin
      if (chooses && !chosen.drop && 32'(chosen.port) == p) last_q[p] <= chosen.of.app;
      crowded[p] <= 1'b0;
      for (int unsigned a = 0; a < Apps; a++) begin
        if (period_q == '1) recent_q[p][a] <= {1'b0, recent_q[p][a][1]};
        if (queue_pop[Apps*p+a]) recent_q[p][a][1] <= 1'b1;
        if (waits[Apps*p+a] && recent_q[p][Apps-1-a] != '0 && !rst) crowded[p] <= 1'b1;
        if (rst) recent_q[p][a] <= '0;
      end
      unused_q[p] <= edit_valid_q && !edit_q.drop && 32'(edit_q.port) == p ? unused : '0;
      reserved_q[p] <= reserved_q[p] + (chooses && !chosen.drop && 32'(chosen.port) == p ? chosen.of.beats : '0) -
          unused_q[p] - beats_t'(popped[p]);
      if (rst) {last_q[p], unused_q[p], reserved_q[p]} <= '0;
    end
    if (rst) {asks_q, waits_q, period_q} <= '0;
  end

  // ---- fetch and read: headers, decision and packets of the message; the lengths of its frame
  head_t head_read, head_edit_q;
  decided_t decided_read, decided_edit_q;
  whole_t whole_read, whole_edit_q;
  head_lengths_t lengths_q;
  logic [6:0] head_len_q;
  len_t len_q;

  always_ff @(posedge clk) begin
    head_edit_q <= head_read;
    decided_edit_q <= decided_read;
    whole_edit_q <= whole_read;
    lengths_q <= head_lengths(head_read.shape, whole_read.len);
    head_len_q <= head_bytes(head_read.shape);
    len_q <= len_t'(whole_read.len) + len_t'(head_bytes(head_read.shape));
  end

  ram_sdp #(
      .Width($bits(head_t)),
      .Depth(Slots)
  ) i_heads (
      .clk,
      .we(head_we),
      .waddr(head_slot),
      .wdata(head),
      .re(fetch_valid_q),
      .raddr(fetch_q.of.slot),
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
      .re(fetch_valid_q),
      .raddr(fetch_q.of.slot),
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
      .re(fetch_valid_q),
      .raddr(fetch_q.of.slot),
      .rdata(whole_read)
  );

  // ---- edit
  typedef struct packed {
    logic drop;
    app_t app;
    msg_t slot;
    port_no_t port;
    frame_meta_t meta;
    verdict_t verdict;
    logic [6:0] head_len;
    logic [8*HeadBytes-1:0] head;
  } message_t;

  logic [8*HeadBytes-1:0] edited;
  frame_meta_t meta;
  verdict_t verdict;
  message_t message;
  logic message_valid, message_pop;

  l7_head i_head (
      .head(head_edit_q.head),
      .shape(head_edit_q.shape),
      .lengths(lengths_q),
      .joins(whole_edit_q.received[1]),
      .edited
  );

  assign unused = edit_q.of.beats - beats_t'(is_folded(meta.len) ? 11'd1 : beats_of(meta.len));
  always_comb begin
    meta = '0;
    meta.tenant = head_edit_q.tenant;
    meta.mark = {12'd0, 4'(head_edit_q.port), decided_edit_q.number};
    meta.len = len_q;
    meta.src = PortBlock + port_t'(Number);
    meta.hash = head_edit_q.hash;
    verdict = '0;
    unique case (decided_edit_q.kind)
      DecideUnit: begin
        verdict.kind = VerdictUnit;
        // A number above 255 names no unit, and must not become another one's.
        verdict.target = decided_edit_q.number > 16'hFF ? 8'hFF : decided_edit_q.number[7:0];
      end
      DecideDispatch: begin
        verdict.kind = VerdictDispatch;
        verdict.word = 32'(decided_edit_q.number);
      end
      DecidePort: begin
        verdict.kind = VerdictPort;
        verdict.target = decided_edit_q.number > 16'hFF ? 8'hFF : decided_edit_q.number[7:0];
      end
      default: verdict.kind = VerdictHost;
    endcase
  end

  fifo_dist #(
      .Width($bits(message_t)),
      .Depth(16),
      .Room(Chosen)
  ) i_messages (
      .clk,
      .rst,
      .push(edit_valid_q),
      .din({edit_q.drop, edit_q.of.app, edit_q.of.slot, edit_q.port, meta, verdict, head_len_q, edited}),
      .ready(messages_ready),
      .valid(message_valid),
      .pop(message_pop),
      .dout(message),
      .level()
  );

  // ---- packets: where each of them lies, one a cycle
  typedef struct packed {
    msg_t slot;
    logic [Packets-1:0] received;
  } packets_of_t;

  typedef struct packed {
    logic last;  // of its message
    packet_at_t at;
  } packet_place_t;

  packets_of_t packets_of;
  packet_place_t packet;
  packet_at_t at_read;
  logic packets_of_valid, begun_q, walks, walked_q, walks_last, walked_last_q, packets_ready, packet_valid, packet_pop;
  logic [Packets-1:0] left, left_q;
  number_t number;

  fifo_dist #(
      .Width($bits(packets_of_t)),
      .Depth(16),
      .Room(Chosen)
  ) i_packets_of (
      .clk,
      .rst,
      .push(edit_valid_q),
      .din({edit_q.of.slot, whole_edit_q.received}),
      .ready(packets_of_ready),
      .valid(packets_of_valid),
      .pop(walks && walks_last),
      .dout(packets_of),
      .level()
  );

  assign walks = packets_of_valid && packets_ready;
  assign left = begun_q ? left_q : packets_of.received;
  assign walks_last = (left & (left - 1'b1)) == '0;
  always_comb begin
    number = '0;
    for (int n = int'(Packets) - 1; n >= 0; n--) if (left[n]) number = number_t'(n);
  end

  always_ff @(posedge clk) begin
    if (walks) begin
      left_q  <= left & (left - 1'b1);
      begun_q <= !walks_last;
    end
    walked_q <= walks && !rst;
    walked_last_q <= walks_last;
    if (rst) begun_q <= 1'b0;
  end

  ram_sdp #(
      .Width($bits(packet_at_t)),
      .Depth(Slots * Packets)
  ) i_at (
      .clk,
      .we(at_we),
      .waddr({at_slot, at_number}),
      .wdata(at),
      .re(walks),
      .raddr({packets_of.slot, number}),
      .rdata(at_read)
  );

  fifo_dist #(
      .Width($bits(packet_place_t)),
      .Depth(16),
      .Room(2)
  ) i_packets (
      .clk,
      .rst,
      .push(walked_q),
      .din({walked_last_q, at_read}),
      .ready(packets_ready),
      .valid(packet_valid),
      .pop(packet_pop),
      .dout(packet),
      .level()
  );

  // ---- pieces: one a cycle
  typedef enum logic [1:0] {
    Head,
    More,  // head bytes from 64 on
    Beats
  } state_e;

  typedef struct packed {
    logic valid;
    logic head;   // from the headers, not from memory
    logic first;
    logic last;   // piece of the frame
    logic [6:0] bytes;
    port_no_t port;          // with the first piece, as meta and verdict
    frame_meta_t meta;
    verdict_t verdict;
    logic [DataW-1:0] data;  // of the headers
  } piece_t;

  state_e state_q;
  piece_t piece, piece_q, join_q;
  logic reads, opens_q, last_beat;  // a beat is read; the next one is a packet's first
  page_t page, page_q, link_read;
  logic [$clog2(PageBeats)-1:0] beat, beat_q;
  logic [8:0] beats, beats_q;  // of the packet, from this one on
  logic [6:0] sum_of_piece;
  logic [5:0] kept_of_piece_q;  // bytes that join has left behind the last piece
  logic bubble_q;
  logic [DataW-1:0] mem_read;

  assign page = opens_q ? packet.at.page : page_q;
  assign beat = opens_q ? '0 : beat_q;
  assign beats = opens_q ? 9'((15'(packet.at.len) + 15'(BeatBytes - 1)) >> $clog2(BeatBytes)) : beats_q;
  assign last_beat = beats == 9'd1;
  assign reads = packet_valid && message_valid && !bubble_q && (state_q == Beats || (state_q == Head && message.drop));
  assign packet_pop = reads && last_beat;
  assign finish = packet_pop && packet.last;
  assign message_pop = finish;
  assign page_give = reads && (beat == '1 || last_beat);
  assign page_give_id = page;
  assign slot_give = finish;
  assign slot_give_id = message.slot;
  assign give_app = message.app;

  always_comb begin
    piece = '0;
    piece.head = state_q != Beats;
    piece.first = state_q == Head;
    piece.port = message.port;
    piece.meta = message.meta;
    piece.verdict = message.verdict;
    piece.data = state_q == Head ? message.head[DataW-1:0] : DataW'(message.head[8*HeadBytes-1:DataW]);
    unique case (state_q)
      Head: begin
        piece.valid = message_valid && !message.drop && !bubble_q;
        piece.bytes = message.head_len < 7'd64 ? message.head_len : 7'd64;
      end
      More: begin
        piece.valid = 1'b1;
        piece.bytes = message.head_len - 7'd64;
      end
      default: begin
        piece.valid = reads && !message.drop;
        piece.bytes = last_beat && packet.at.len[5:0] != '0 ? 7'(packet.at.len[5:0]) : 7'd64;
        piece.last = last_beat && packet.last;
      end
    endcase
  end
  assign sum_of_piece = 7'(kept_of_piece_q) + piece.bytes;

  always_ff @(posedge clk) begin
    unique case (state_q)
      Head: if (piece.valid) state_q <= message.head_len > 7'd64 ? More : Beats;
      More: state_q <= Beats;
      default: if (finish) state_q <= Head;
    endcase
    if (reads) begin
      opens_q <= last_beat;
      beats_q <= beats - 1'b1;
      beat_q <= beat + 1'b1;
      page_q <= beat == '1 ? link_read : page;
    end
    if (piece.valid) kept_of_piece_q <= piece.last ? '0 : sum_of_piece[5:0];
    bubble_q <= piece.valid && piece.last && sum_of_piece > 7'd64;
    if (rst) begin
      state_q <= Head;
      opens_q <= 1'b1;
      kept_of_piece_q <= '0;
      bubble_q <= 1'b0;
    end
  end

  ram_sdp #(
      .Width($bits(page_t)),
      .Depth(Pages)
  ) i_links (
      .clk,
      .we(link_we),
      .waddr(link_from),
      .wdata(mem_page),
      .re(reads && beat == '0),
      .raddr(page),
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
      .re(reads),
      .raddr({page, beat}),
      .rdata(mem_read)
  );

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
  logic opens_frame_q;  // no beat of the frame has been made, as its headers are shorter than one

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
      made_q.first <= join_q.first || opens_frame_q;
      opens_frame_q <= (join_q.first || opens_frame_q) && !sum[6] && !join_q.last;
      made_q.last <= join_q.last && sum <= 7'd64;
      made_q.data <= joined_bytes[DataW-1:0];
      kept_q <= sum[6] ? joined_bytes[2*DataW-1:DataW] : joined_bytes[DataW-1:0];
      kept_bytes_q <= sum[5:0];
      if (join_q.last && sum <= 7'd64) begin
        kept_q <= '0;
        kept_bytes_q <= '0;
      end
      if (join_q.first) begin
        made_meta_q <= join_q.meta;
        made_verdict_q <= join_q.verdict;
        made_port_q <= join_q.port;
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
      opens_frame_q <= 1'b0;
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

  assign busy = joined_q || waiting_q != '0 || event_valid || event_level != '0 || decided_valid || piece_q.valid || join_q.valid ||
      made_q.valid || flush_q || push != '0;

`ifndef SYNTHESIS
  always_ff @(posedge clk)
    if (!rst) begin
      assert (!flush_q || !join_q.valid) else $error("%m: a piece comes while bytes of the message before are left");
      assert (!piece.valid || piece.bytes != '0) else $error("%m: an empty piece");
      assert (!edit_valid_q || edit_q.drop || edit_q.of.beats >= unused)
      else $error("%m: a message is longer than its room");
      for (int unsigned p = 0; p < Ports; p++)
        assert (reserved_q[p] <= beats_t'(OutBeats)) else $error("%m: more beats are reserved than there are");
    end
`endif
endmodule

`default_nettype wire
