// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// A message that is whole and decided is delivered once, as one frame, to the port, queue or unit of its decision, with
// each of its packets once. A message that a rule drops, or that expires, is never delivered. Its slot returns once:
// rtl/l7_delivery.sv as it is, at its own sizes, with two ports. By induction from a reset on, for the message of any
// slot and any packet of it, which the proof watches.
//
// Queues and memories keep what belongs to the watched message (open_delivery.sv, lib/formal/ram_sdp.sv).
//
// Taken for granted, of the lane (lane.sv): a message is reported once, as whole or expired, with the packets that have
// been accepted; their places are written before. It is decided at most once, and not behind its expiry. A packet has
// payload. Not looked at: the bytes of the payload and of the headers, the chain of pages of a packet, `join` and what
// is behind it.
module delivery
  import penstock_pkg::*, l7_pkg::*;
#(
    parameter int unsigned Ports = 2
) (
    input wire logic clk,

    input wire msg_t    watched,
    input wire number_t watched_number,

    input wire logic     begins,  // a message gets the watched slot
    input wire logic     decided_valid,
    input wire msg_t     decided_slot,
    input wire app_t     decided_app,
    input wire port_no_t decided_port,
    input wire logic     decided_stuck,
    input wire decided_t decided,
    input wire logic     whole_we,
    input wire logic     whole_expired,
    input wire msg_t     whole_slot,
    input wire app_t     whole_app,
    input wire whole_t   whole,
    input wire logic     at_we,
    input wire msg_t     at_slot,
    input wire number_t  at_number,
    input wire packet_at_t at,
    input wire logic [Ports-1:0] popped
);
  localparam int unsigned Queues = Ports * Apps + 1;
  localparam int unsigned LevelW = $clog2(OutBeats) + 1;

  // Types of rtl/l7_delivery.sv
  typedef enum logic [1:0] {
    Head,
    More,
    Beats
  } state_e;
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
  typedef struct packed {
    app_t app;
    msg_t slot;
    logic [LevelW-1:0] beats;
  } queued_t;
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
  typedef struct packed {
    msg_t slot;
    logic [Packets-1:0] received;
  } packets_of_t;
  typedef struct packed {
    logic last;
    packet_at_t at;
  } packet_place_t;

  logic [1:0] started_q = '0;  // the reset takes two cycles
  logic started;
  msg_t watched_q;
  number_t watched_number_q;
  always_ff @(posedge clk) begin
    started_q <= {started_q[0], 1'b1};
    watched_q <= watched;
    watched_number_q <= watched_number;
  end
  assign started = started_q[1];
  wire rst = !started;
  always_comb begin
    if (started_q[0]) assume (watched == watched_q && watched_number == watched_number_q);
    assert (started_q != 2'b10);
  end

  logic slot_give;
  msg_t slot_give_id;
  app_t give_app;
  l7_delivery #(
      .Ports(Ports)
  ) dut (
      .clk,
      .rst,
      .decided_valid,
      .decided_slot,
      .decided_app,
      .decided_port,
      .decided_stuck,
      .decided,
      .whole_we,
      .whole_expired,
      .whole_slot,
      .whole_app,
      .whole,
      .mem_we(1'b0),
      .mem_page('0),
      .mem_beat('0),
      .mem_data('0),
      .link_we(1'b0),
      .link_from('0),
      .at_we,
      .at_slot,
      .at_number,
      .at,
      .head_we(1'b0),
      .head_slot('0),
      .head('0),
      .page_give(),
      .page_give_id(),
      .slot_give,
      .slot_give_id,
      .give_app,
      .popped,
      .push(),
      .push_last(),
      .push_data(),
      .push_meta(),
      .push_tail(),
      .push_verdict(),
      .crowded(),
      .counted(),
      .busy()
  );

  // ---- the message in the watched slot
  logic used_q, reported_q, expired_q, decided_q, joined_q, begun_q, placed_q, read_q;
  logic event_q;  // its report has left the queue of events
  app_t app_q;
  port_no_t port_q;
  logic stuck_q;
  decided_t decision_q;
  whole_t whole_q;
  packet_at_t at_q;
  logic [8:0] beats_q;  // of the watched packet that have been read
  wire reports = whole_we && whole_slot == watched;
  wire decides = decided_valid && decided_slot == watched;
  wire places = at_we && at_slot == watched && at_number == watched_number;
  wire event_t event_i = dut.event_i;
  wire takes_event = dut.event_pop && event_i.slot == watched;
  wire joins = dut.joined && dut.joined_slot == watched;
  wire message_t message = dut.message;
  wire opens = dut.piece.valid && dut.piece.first && message.slot == watched;
  wire gives = slot_give && slot_give_id == watched;
  wire reads = dut.reads && dut.i_packets.i_queue.first;
  wire drops = expired_q || decision_q.kind == DecideDrop;

  always_ff @(posedge clk) begin
    if (begins) begin
      used_q <= 1'b1;
      {reported_q, expired_q, decided_q, joined_q, begun_q, placed_q, read_q, event_q} <= '0;
    end
    if (places) {placed_q, at_q} <= {1'b1, at};
    if (reports) {reported_q, expired_q, whole_q} <= {1'b1, whole_expired, whole};
    if (reports || decides) app_q <= reports ? whole_app : decided_app;
    if (decides) {decided_q, stuck_q, port_q, decision_q} <= {1'b1, decided_stuck, decided_port, decided};
    if (takes_event) event_q <= 1'b1;
    if (joins) joined_q <= 1'b1;
    if (opens) begun_q <= 1'b1;
    if (reads) beats_q <= beats_q + 1'b1;
    if (dut.packet_pop && dut.i_packets.i_queue.first) read_q <= 1'b1;
    if (begins) beats_q <= '0;
    if (gives) used_q <= 1'b0;
    if (rst) used_q <= 1'b0;
  end

  // ---- guarantees of the lane and the matchers
  always_comb begin
    if (begins) assume (!used_q && !reports && !decides && !places);
    if (reports)
      assume (used_q && !reported_q && whole.received != '0 && whole.received[watched_number] == placed_q &&
          !(whole_expired && decides));
    if (decides) assume (used_q && !decided_q && !expired_q && !(reports && whole_expired));
    if (reports && decided_q || decides && reported_q) assume ((reports ? whole_app : decided_app) == app_q);
    if (reports && decides) assume (whole_app == decided_app);
    if (decided_valid) assume (32'(decided_port) < Ports);
    if (places) assume (used_q && !placed_q && !reported_q && !reports);
    if (at_we) assume (at.len != '0);
    assume (!decided_stuck || decided.kind == DecideDrop);
  end

  // ---- what queues and memories keep
  wire queued_t queued_i = dut.joining_q;
  logic [Queues-1:0] in_queue;
  queued_t [Queues-1:0] queued;
  for (genvar q = 0; q < Queues; q++) begin : gen_queue
    wire queued_t other = dut.gen_queue[q].i_queue.i_queue.open_dout;
    always_comb begin
      assume (dut.gen_queue[q].i_queue.open_watch == (queued_i.slot == watched));
      assume (other.slot != watched);
    end
    assign in_queue[q] = dut.gen_queue[q].i_queue.i_queue.has_q;
    assign queued[q] = dut.gen_queue[q].i_queue.i_queue.word_q;
  end
  wire event_t open_event_i = dut.i_events.i_queue.open_dout;
  wire message_t other_message = dut.i_messages.i_queue.open_dout;
  wire packets_of_t other_packets_of = dut.i_packets_of.i_queue.open_dout;
  wire packet_place_t other_packet = dut.i_packets.i_queue.open_dout;
  wire packet_at_t other_at = dut.i_at.open_other;
  wire whole_t other_whole = dut.i_wholes.open_other;
  logic walked_q;  // the place of the watched packet is read
  always_ff @(posedge clk)
    walked_q <= dut.walks && dut.packets_of.slot == watched && dut.number == watched_number && !rst;

  // Ends of messages in the queue of packets: all, and those in front of the watched packet
  logic [9:0] ends_q, ends_ahead_q;
  wire pops_end = dut.packet_valid && dut.packet_pop && dut.packet.last;
  wire pushes_end = dut.walked_q && dut.walked_last_q;
  always_ff @(posedge clk) begin
    ends_q <= ends_q + 10'(pushes_end) - 10'(pops_end);
    if (dut.walked_q && walked_q) ends_ahead_q <= ends_q - 10'(pops_end);
    else if (pops_end) ends_ahead_q <= ends_ahead_q - 1'b1;
    if (rst) ends_q <= '0;
  end

  always_comb begin
    assume (dut.i_events.open_watch == (whole_slot == watched));
    assume (open_event_i.slot != watched);
    assume (dut.i_messages.open_watch == (dut.edit_q.of.slot == watched));
    assume (other_message.slot != watched);
    assume (dut.i_packets_of.open_watch == (dut.edit_q.of.slot == watched));
    assume (other_packets_of.slot != watched && other_packets_of.received != '0);
    assume (dut.i_packets.open_watch == walked_q);
    assume (other_packet.at.len != '0);
    assume (dut.i_at.open_watched == {watched, watched_number});
    assume (other_at.len != '0);
    assume (dut.i_wholes.open_watched == watched && dut.i_decided.open_watched == watched);
    assume (other_whole.received != '0);
    // Words of the queue of packets that are not watched: as many of them end a message as were pushed.
    if (dut.packet_valid && !dut.i_packets.i_queue.first) begin
      assume (!dut.packet.last || ends_q != '0);
      assume (dut.packet.last || ends_q < dut.i_packets.i_queue.count_q);
      if (dut.i_packets.i_queue.has_q) begin
        assume (!dut.packet.last || ends_ahead_q != '0);
        assume (dut.packet.last || ends_ahead_q < dut.i_packets.i_queue.ahead_q);
      end
    end
  end

  // ---- what must hold
  function automatic logic fits(decided_t decision, verdict_t verdict);
    unique case (decision.kind)
      DecideUnit, DecidePort:
      return verdict.kind == (decision.kind == DecideUnit ? VerdictUnit : VerdictPort) &&
          verdict.target == (decision.number > 16'd255 ? 8'd255 : decision.number[7:0]);
      DecideDispatch: return verdict.kind == VerdictDispatch && verdict.word == 32'(decision.number);
      default: return verdict.kind == VerdictHost && verdict.target == '0;
    endcase
  endfunction

  always_comb
    if (started) begin
      if (joins) assert (used_q && !joined_q && (expired_q || (decides || decided_q)) && reported_q);
      if (opens) begin
        assert (used_q && joined_q && !begun_q && !drops);
        assert (dut.piece.port == port_q && dut.piece.meta.mark[15:0] == decision_q.number &&
            fits(decision_q, dut.piece.verdict));
      end
      if (reads) assert (used_q && message.slot == watched && !read_q && (begun_q || drops));
      if (dut.packet_pop && dut.i_packets.i_queue.first)
        assert (dut.packet.at == at_q && beats_q + 9'd1 == 9'((15'(at_q.len) + 15'd63) >> 6));
      if (gives) begin
        assert (used_q && joined_q && give_app == app_q && begun_q == !drops);
        assert (whole_q.received[watched_number] == (read_q || (dut.packet_pop && dut.i_packets.i_queue.first)));
      end
      // A frame begins with its headers and ends with the last beat of its last packet.
      if (slot_give && !message.drop) assert (dut.piece.valid && dut.piece.last);
      if (dut.piece.valid && dut.piece.last) assert (slot_give);
    end

  // ---- For the induction: where the message is, and how far the messages in front of it are
  wire m_has = dut.i_messages.i_queue.has_q;
  wire m_first = dut.i_messages.i_queue.first;
  wire [9:0] m_count = dut.i_messages.i_queue.count_q;
  wire [9:0] m_ahead = dut.i_messages.i_queue.ahead_q;
  wire message_t m_word = dut.i_messages.i_queue.word_q;
  wire message_t m_kept = dut.i_messages.i_queue.kept_word_q;
  wire p_has = dut.i_packets_of.i_queue.has_q;
  wire [9:0] p_count = dut.i_packets_of.i_queue.count_q;
  wire [9:0] p_ahead = dut.i_packets_of.i_queue.ahead_q;
  wire packets_of_t p_word = dut.i_packets_of.i_queue.word_q;
  wire k_has = dut.i_packets.i_queue.has_q;
  wire k_first = dut.i_packets.i_queue.first;
  wire [9:0] k_count = dut.i_packets.i_queue.count_q;
  wire [9:0] k_ahead = dut.i_packets.i_queue.ahead_q;
  wire packet_place_t k_word = dut.i_packets.i_queue.word_q;
  wire packet_place_t k_kept = dut.i_packets.i_queue.kept_word_q;
  wire event_t e_word = dut.i_events.i_queue.word_q;
  wire in_join = dut.joined_q && dut.joining_q.slot == watched;
  wire in_fetch = dut.fetch_valid_q && dut.fetch_q.of.slot == watched;
  wire in_read = dut.read_valid_q && dut.read_q.of.slot == watched;
  wire in_edit = dut.edit_valid_q && dut.edit_q.of.slot == watched;
  // Chosen, and not yet pushed
  wire [2:0] chosen = 3'(dut.asks_q != '0) + 3'(dut.fetch_valid_q) + 3'(dut.read_valid_q) + 3'(dut.edit_valid_q);
  wire walks_it = p_has && p_ahead == '0 && dut.begun_q;
  wire [8:0] beats = 9'((15'(at_q.len) + 15'd63) >> 6);
  wire [9:0] walked_end = 10'(dut.walked_q && dut.walked_last_q);
  logic [Queues-1:0] queue_kept;
  for (genvar q = 0; q < Queues; q++) begin : gen_kept
    assign queue_kept[q] = dut.gen_queue[q].i_queue.i_queue.kept_q;
  end

  always_comb
    if (started) begin
      // All messages
      assert (m_count + 10'(chosen) <= 10'd17 && p_count + 10'(chosen) <= 10'd17);
      assert (k_count + 10'(dut.walked_q) <= 10'd17);
      assert (m_count == p_count + walked_end + ends_q && ends_q <= k_count);
      assert (!dut.begun_q || (dut.i_packets_of.i_queue.kept_q && dut.left_q != '0));
      assert (!dut.walked_q || dut.at_read.len != '0);
      assert (!dut.read_valid_q || dut.whole_read.received != '0);
      assert (!dut.edit_valid_q || dut.whole_edit_q.received != '0);
      assert (dut.second_q ? !dut.fetch_valid_q && !dut.edit_valid_q : !dut.read_valid_q);
      assert (dut.state_q == Head || (dut.i_messages.i_queue.kept_q && !m_kept.drop));
      assert (dut.opens_q || (dut.i_packets.i_queue.kept_q && dut.beats_q != '0));
      assert ((dut.asks_q & ~queue_kept) == '0 && (dut.asks_q == '0 || dut.second_q));

      // The watched one
      if (!used_q)
        assert (!dut.i_events.i_queue.has_q && !dut.whole_q[watched] && !dut.decided_q[watched] && in_queue == '0 &&
            !in_join && !in_fetch && !in_read && !in_edit && !m_has && !p_has && !k_has && !walked_q);
      else begin
        if (placed_q) assert (at_q.len != '0 && dut.i_at.row_q == at_q);
        assert (dut.i_events.i_queue.has_q == (reported_q && !event_q) && (!event_q || reported_q));
        if (dut.i_events.i_queue.has_q) assert (e_word == {expired_q, app_q, watched});
        assert (dut.whole_q[watched] == (event_q && !joined_q) && dut.decided_q[watched] == (decided_q && !joined_q));
        if (event_q && !joined_q) assert (!expired_q && !decided_q);
        if (joined_q) assert (event_q && (expired_q || decided_q));
        assert (!expired_q || reported_q);
        if (decided_q) begin
          assert (dut.i_decided.row_q == decision_q && 32'(port_q) < Ports);
          if (!joined_q)
            assert (dut.dests[watched] ==
                dest_t'{stuck: stuck_q, drop: decision_q.kind == DecideDrop, port: port_q, app: app_q});
        end
        if (reported_q)
          assert (dut.i_wholes.row_q == whole_q && whole_q.received != '0 &&
              whole_q.received[watched_number] == placed_q);
        if (joined_q) assert ($onehot({in_join, in_queue, in_fetch, in_read, in_edit, m_has}));
        else assert (in_queue == '0 && !in_join && !in_fetch && !in_read && !in_edit && !m_has);
        if (in_join)
          assert (dut.joined_dest_q.drop == drops && (drops || dut.joined_dest_q.port == port_q) &&
              dut.joined_dest_q.app == app_q && dut.joining_q.app == app_q && dut.joined_expired_q == expired_q);
        for (int unsigned q = 0; q < Queues; q++)
          if (in_queue[q])
            assert (q == (drops ? Queues - 1 : Apps * 32'(port_q) + 32'(app_q)) && queued[q].slot == watched &&
                queued[q].app == app_q);
        if (in_fetch)
          assert (dut.fetch_q.drop == drops && (drops || dut.fetch_q.port == port_q) && dut.fetch_q.of.app == app_q);
        if (in_read)
          assert (dut.read_q.drop == drops && (drops || dut.read_q.port == port_q) && dut.read_q.of.app == app_q &&
              dut.whole_read == whole_q && (drops || dut.decided_read == decision_q));
        if (in_edit)
          assert (dut.edit_q.drop == drops && (drops || dut.edit_q.port == port_q) && dut.edit_q.of.app == app_q &&
              dut.whole_edit_q == whole_q && (drops || dut.decided_edit_q == decision_q));
        if (m_has)
          assert (m_word.slot == watched && m_word.drop == drops && m_word.app == app_q && (drops ||
              (m_word.port == port_q && m_word.meta.mark[15:0] == decision_q.number &&
               fits(decision_q, m_word.verdict))));

        // Its packets
        if (p_has)
          assert (m_has && p_word == {watched, whole_q.received} && m_count - m_ahead == p_count - p_ahead);
        if (m_has && !p_has) assert (m_count - m_ahead > p_count);
        assert ($onehot0({walked_q, k_has, read_q}));
        if (walks_it)
          assert ((dut.left_q & ~whole_q.received) == '0 &&
              (walked_q || k_has || read_q) == (placed_q && !dut.left_q[watched_number]));
        else assert ((walked_q || k_has || read_q) == (m_has && !p_has && placed_q));
        if (walked_q)
          assert (dut.walked_q && dut.at_read == at_q && ends_q == m_ahead && (!dut.walked_last_q || !p_has));
        if (k_has)
          assert (k_word.at == at_q && ends_ahead_q == m_ahead && ends_ahead_q <= k_ahead && (!k_word.last || !p_has) &&
              ends_q >= ends_ahead_q + 10'(k_word.last) &&
              ends_q - ends_ahead_q - 10'(k_word.last) < k_count - k_ahead);
        if (k_first && !dut.opens_q) assert (dut.beats_q == beats - beats_q && beats_q != '0 && beats_q < beats);
        else assert (read_q || beats_q == '0);
        assert (begun_q == (m_first && dut.state_q != Head));
      end
    end
endmodule

`default_nettype wire
