// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// The lane reports a message as whole once, behind its last packet, and only if it has accepted each packet of the
// message once: rtl/l7_lane.sv as it is, at its own sizes, with two ports. By induction from a reset on, for the
// messages of any slot, which the proof watches.
//
// The delivery relies on the following (delivery.sv). Packet 0's headers, the place of each packet and all beats of
// payload are written before; packet 0 goes to the matchers as one window; a message that expires is not whole, and no decision
// about it is outstanding. Each page that a packet needs is free when the lane takes it.
//
// Taken for granted:
// - of the table (table.sv) and the pool of slots (pool.sv): a lookup that finds the slot was for the key of its
//   message, which is in the table; a slot that is taken is not offered until it returns, and one that is offered stays
//   until it is taken; a free page is offered two cycles after its return;
// - of l7_filter: a packet begins with its first beat and has all beats of its payload; a packet that is not malformed
//   has payload, and its number is below its count; a beat waits unchanged until it is taken;
// - of the matchers: one decision for a window, after its last beat;
// - of the delivery (delivery.sv): a slot returns once, after the message has expired or is whole and decided; only
//   pages that were taken return.
module lane
  import penstock_pkg::*, l7_pkg::*;
#(
    parameter int unsigned Ports = 2
) (
    input wire logic clk,

    input wire msg_t watched,

    input wire logic [31:0] now,
    input wire logic [31:0] timeout,
    input wire logic [11:0] pages_max,
    input wire logic [9:0]  messages_max,
    input wire logic [Apps-1:0] bank,
    input wire logic [Ports-1:0] packet_valid,
    input wire packet_t [Ports-1:0] packets,
    input wire logic [Apps-1:0] window_ready,
    input wire logic decided,
    input wire msg_t decided_slot,
    input wire logic page_give,
    input wire page_t page_give_id,
    input wire logic slot_give,
    input wire msg_t slot_give_id,
    input wire app_t give_app
);
  typedef logic [Packets-1:0] set_t;

  // The states of the lane (rtl/l7_lane.sv)
  typedef enum logic [2:0] {
    Idle,
    Table,
    Compare,
    Fetch,
    Record,
    Body,
    SweepRead,
    Sweep
  } state_e;

  logic [1:0] started_q = '0;  // the reset takes two cycles
  logic started;
  msg_t watched_q;
  always_ff @(posedge clk) begin
    started_q <= {started_q[0], 1'b1};
    watched_q <= watched;
  end
  assign started = started_q[1];
  wire rst = !started;
  always_comb begin
    if (started_q[0]) assume (watched == watched_q);
    assert (started_q != 2'b10);
  end

  packet_t packet[Ports];
  logic [11:0] pages_maxes[Apps];
  logic [9:0] messages_maxes[Apps];
  for (genvar p = 0; p < Ports; p++) begin : gen_packet
    assign packet[p] = packets[p];
  end
  for (genvar a = 0; a < Apps; a++) begin : gen_app
    assign pages_maxes[a] = pages_max;
    assign messages_maxes[a] = messages_max;
  end

  logic [Ports-1:0] packet_take;
  logic [Apps-1:0] window_push;
  window_t window;
  logic mem_we, at_we, head_we, whole_we, whole_expired;
  msg_t at_slot, head_slot, whole_slot;
  number_t at_number;
  packet_at_t at;
  app_t whole_app;
  whole_t whole;
  l7_lane #(
      .Ports(Ports)
  ) dut (
      .clk,
      .rst,
      .now,
      .timeout,
      .pages_max(pages_maxes),
      .messages_max(messages_maxes),
      .bank,
      .pages_used(),
      .messages_used(),
      .packet_valid,
      .packet,
      .packet_take,
      .window_ready,
      .window_push,
      .window,
      .enters(),
      .enters_bank(),
      .decided,
      .decided_slot,
      .mem_we,
      .mem_page(),
      .mem_beat(),
      .mem_data(),
      .link_we(),
      .link_from(),
      .at_we,
      .at_slot,
      .at_number,
      .at,
      .head_we,
      .head_slot,
      .head(),
      .whole_we,
      .whole_expired,
      .whole_slot,
      .whole_app,
      .whole,
      .page_give,
      .page_give_id,
      .slot_give,
      .slot_give_id,
      .give_app,
      .absorbed(),
      .dropped(),
      .counted(),
      .busy()
  );

  // ---- packets of the ports
  packet_t [Ports-1:0] packets_q;
  logic [Ports-1:0] waited_q, inside_q;
  always_ff @(posedge clk) begin
    packets_q <= packets;
    waited_q <= packet_valid & ~packet_take;
    for (int unsigned p = 0; p < Ports; p++)
      if (packet_valid[p] && packet_take[p]) inside_q[p] <= !packets[p].last;
    if (rst) {waited_q, inside_q} <= '0;
  end
  for (genvar p = 0; p < Ports; p++) begin : gen_port
    wire info_t info = packets[p].info;
    always_comb begin
      if (waited_q[p]) assume (packet_valid[p] && packets[p] == packets_q[p]);
      assume (!packet_valid[p] || packets[p].first == !inside_q[p]);
      assume (info.malformed ||
          (info.len != '0 && info.len < 15'd1 << 14 && info.count != '0 && info.count <= 6'(Packets) &&
           6'(info.number) < info.count));
    end
  end

  // The packet in the lane has all beats of its payload.
  logic [8:0] beats_q, seen_q;
  logic accepts_q;
  wire info_t info = packets[dut.port].info;
  wire [8:0] beats = 9'((16'(info.len) + 16'd63) >> 6);
  wire accepts = dut.decide && dut.accept;
  always_ff @(posedge clk) begin
    if (dut.decide) begin
      beats_q <= beats;
      seen_q <= '0;
      accepts_q <= dut.accept;
    end else if (dut.beat) seen_q <= seen_q + 9'(seen_q != '1);
  end
  always_comb begin
    if (dut.take_head && dut.head_beat.last) assume (info.malformed);
    if (dut.beat && dut.body_beat.last && accepts_q) assume (seen_q >= beats_q - 9'd1);
  end

  // ---- the message in the watched slot
  logic used_q, ended_q, deciding_q, windowed_q, window_begun_q, headed_q, tabled_q;
  set_t got_q, placed_q;
  logic [5:0] count_q;
  logic [14:0] len_q;
  app_t app_q;
  key_t key_q;
  logic [9:0] place_q;
  wire mine = accepts && dut.slot == watched;
  wire set_t all = (set_t'(1) << count_q) - 1'b1;
  wire books = dut.accepted_q && dut.body_q.slot == watched;  // what `mine` changes is written
  wire msg_t record_of = dut.state_q == Sweep ? dut.expiry_slot_q : dut.body_q.slot;
  wire removes = dut.remove && record_of == watched;
  wire ends = whole_we && whole_slot == watched;
  wire windows = window_push != '0 && window.slot == watched;
  wire places = at_we && at_slot == watched;

  always_ff @(posedge clk) begin
    if (mine && !used_q) begin
      used_q <= 1'b1;
      {ended_q, windowed_q, window_begun_q, headed_q} <= '0;
      got_q <= set_t'(1) << info.number;
      placed_q <= '0;
      {count_q, len_q, app_q, key_q} <= {info.count, info.len, info.app, info.key};
    end
    if (mine && used_q) begin
      got_q[info.number] <= 1'b1;
      len_q <= len_q + info.len;
    end
    if (mine && info.number == '0) deciding_q <= 1'b1;
    if (dut.insert && dut.body_q.slot == watched) {tabled_q, place_q} <= {1'b1, dut.place};
    if (removes) tabled_q <= 1'b0;
    if (head_we && head_slot == watched) headed_q <= 1'b1;
    if (places) placed_q[at_number] <= 1'b1;
    if (windows) {window_begun_q, windowed_q} <= {!window.last, window.last};
    if (ends) ended_q <= 1'b1;
    if (decided && decided_slot == watched) deciding_q <= 1'b0;
    if (slot_give && slot_give_id == watched) used_q <= 1'b0;
    if (rst) {used_q, tabled_q, deciding_q} <= '0;
  end

  // ---- what others guarantee
  typedef struct packed {
    set_t received;
    logic [5:0] count, missing;
    logic [13:0] len;
    logic [31:0] stamp;
    app_t app;
    logic [9:0] place;
  } record_t;
  wire record_t other = dut.i_records.open_other;  // a record of another slot, for which this proof holds as well
  always_comb assume (32'(other.len) <= MaxPayload);
  always_comb begin
    assume (dut.i_records.open_watched == watched);
    if (dut.i_cache.read_q && dut.i_cache.open_hit && dut.i_cache.open_slot == watched)
      assume (tabled_q && dut.i_cache.app_q == app_q && dut.i_cache.key_q == key_q);
    if (decided && decided_slot == watched) assume (deciding_q && windowed_q);
    if (slot_give && slot_give_id == watched) assume (used_q && ended_q && !deciding_q);
  end

  // ---- slots of the pool
  logic offered_q, taken_q;
  msg_t offer_q;
  always_ff @(posedge clk) begin
    offered_q <= dut.slot_valid && !dut.i_slots.take && !rst;
    offer_q <= dut.new_slot;
    if (dut.i_slots.take && dut.new_slot == watched) taken_q <= 1'b1;
    if (slot_give && slot_give_id == watched) taken_q <= 1'b0;
    if (rst) taken_q <= 1'b0;
  end
  always_comb begin
    assume (!offered_q || (dut.slot_valid && dut.new_slot == offer_q));
    assume (!(dut.slot_valid && dut.new_slot == watched && taken_q));
  end

  // ---- pages of the pool: those that are free, and those that have come back in the last two cycles
  logic [11:0] free_q;
  logic [1:0] given_q;
  always_comb begin
    assume (!page_give || 32'(free_q) < Pages);
    assume (dut.page_valid || free_q <= 12'($countones(given_q)));
  end
  always_ff @(posedge clk) begin
    free_q <= free_q - 12'(dut.page_take) + 12'(page_give);
    given_q <= {given_q[0], page_give};
    if (rst) {free_q, given_q} <= {12'(Pages), 2'd0};
  end

  // ---- what must hold
  always_comb
    if (started) begin
      assert (!dut.page_take || dut.page_valid);
      // The slot that is taken is the one that the message has.
      assert (!dut.i_slots.take || (dut.slot_valid && dut.new_slot == dut.body_q.slot));
      if (mine) begin
        assert (dut.known == used_q);
        assert (!books);
        if (used_q)
          assert (!ended_q && tabled_q && !got_q[info.number] && info.count == count_q && info.app == app_q &&
              info.key == key_q);
      end
      if (ends) begin
        assert (used_q && !ended_q && whole_app == app_q);
        assert (whole.received == got_q && 15'(whole.len) == len_q && placed_q == got_q);
        assert (!tabled_q);
        if (whole_expired) assert (!deciding_q && got_q != all);
        else assert (got_q == all && headed_q && windowed_q);
      end
      if (head_we && head_slot == watched) assert (used_q && !ended_q && !headed_q);
      if (windows)
        assert (used_q && !ended_q && !windowed_q && window.first == !window_begun_q && got_q[0] && deciding_q &&
            window_push == Apps'(1) << app_q);
      if (places) assert (used_q && !ended_q && got_q[at_number] && !placed_q[at_number]);
      // All beats of a packet are written.
      if (dut.state_q == Body && dut.ends && accepts_q) assert (dut.at_q + 9'(dut.writes) == beats_q);
    end

  // ---- For the induction
  wire record_t row = dut.i_records.row_q;
  wire record_t read = dut.record, read_q = dut.record_q;
  logic [2:0] before_q;  // state of the lane, a cycle ago
  always_ff @(posedge clk) before_q <= rst ? Idle : dut.state_q;

  wire looks = dut.state_q inside {Table, Compare, Fetch, Record};
  wire in_body = dut.state_q == Body && dut.body_q.accept && dut.body_q.slot == watched;
  wire after_body = dut.whole_q && dut.body_q.slot == watched;
  wire number_t number = dut.body_q.number;
  wire [5:0] need = dut.booked_q.need;
  wire set_t placed = placed_q | (places ? set_t'(1) << at_number : '0);
  wire tabled = books ? got_q != all : tabled_q;  // when the last packet is in the books
  wire heads = head_we && head_slot == watched;
  wire [8:0] window_beats = 9'((10'(dut.body_q.limit) + 10'd63) >> 6);

  always_comb begin
    if (started_q == 2'b01) assert (!dut.whole_q);
    if (started) begin
      // The lane and its ports
      assert (dut.i_cache.look_q == (dut.state_q == Table) && dut.i_cache.read_q == (dut.state_q == Compare));
      assert (!dut.accepted_q || (dut.state_q == Body && accepts_q && seen_q == '0 && dut.free_q >= 12'(need) &&
          12'(need) == 12'((10'(beats_q) + 10'd7) >> 3)));
      assert (dut.state_q != SweepRead || dut.sweep_due_q);
      if (looks)
        assert (dut.looked_q.len == packets_q[dut.port_q].info.len && dut.looked_q.app == packets_q[dut.port_q].info.app &&
            dut.looked_q.count == packets_q[dut.port_q].info.count &&
            dut.looked_q.number == packets_q[dut.port_q].info.number && !dut.accepted_q);
      if (dut.state_q == Record) begin
        assert (dut.checks_q.no_pages || 12'((dut.looked_q.len + 15'd511) >> 9) <= dut.free_q);
        assert (dut.checks_q.no_slot || (offered_q && offer_q == dut.new_slot));
      end
      if (looks)
        assert (waited_q[dut.port_q] && packets_q[dut.port_q].first && !packets_q[dut.port_q].info.malformed &&
            dut.i_cache.app_q == packets_q[dut.port_q].info.app && dut.i_cache.key_q == packets_q[dut.port_q].info.key);
      for (int unsigned p = 0; p < Ports; p++)
        assert (!inside_q[p] || (dut.state_q == Body && 32'(dut.port_q) == p));
      if (dut.decide) assert (packets[dut.port].first);
      if (dut.state_q == Body) begin
        assert (dut.body_q.accept == accepts_q);
        assert (dut.at_q == (!accepts_q ? 9'd0 : seen_q < beats_q ? seen_q : beats_q));
        assert (!accepts_q ||
            (dut.body_q.beats == beats_q && beats_q != '0 && 15'(dut.body_q.limit) <= {beats_q, 6'd0}));
        assert (!accepts_q || (number == '0) == (dut.body_q.limit != '0));
      end
      assert (dut.page_gives_q[1:0] == given_q);
      assert (free_q == dut.free_q - (dut.accepted_q ? 12'(need) : 12'd0) + 12'($countones(dut.page_gives_q)) +
          (dut.state_q == Body && accepts_q ?
          12'((10'(beats_q) + 10'd7) >> 3) - 12'((10'(dut.at_q) + 10'd7) >> 3) : 12'd0));
      assert (32'(free_q) <= Pages && 32'(dut.free_q) <= Pages);
      assert (!at_we || before_q == Body);
      assert (window_push == '0 || before_q == Body);
      assert (!dut.whole_q || (before_q == Body && dut.state_q == Idle));
      assert (!whole_we || before_q == (whole_expired ? Sweep : Idle));
      assert (!(before_q == Idle && dut.state_q == Sweep));

      // The table
      if ((dut.state_q == Fetch || dut.state_q == Record) && dut.hit && dut.found_slot == watched)
        assert (tabled_q && dut.i_cache.app_q == app_q && dut.i_cache.key_q == key_q);
      if (dut.state_q == Fetch && dut.hit && dut.found_slot == watched) assert (read == row);
      if (dut.state_q == Record && dut.hit && dut.found_slot == watched)
        assert (read_q == row && dut.collecting_at_q && (dut.matching_at_q || !deciding_q) &&
            dut.miscounted_q == (count_q != dut.looked_q.count));
      if (dut.state_q == SweepRead && dut.sweep_slot_q == watched) assert (read == row);
      if (dut.state_q == Sweep && dut.expiry_slot_q == watched)
        assert (read_q == row && dut.collecting_at_q == tabled_q && (dut.matching_at_q || !deciding_q));
      if (books)
        assert (in_body && dut.booked_q.known == tabled_q && (!tabled_q || read_q.place == place_q) &&
            dut.booked_q.count == count_q && dut.booked_q.missing == count_q - 6'($countones(got_q)) &&
            (!dut.booked_q.is_single || got_q == all) && (!tabled_q || !dut.booked_q.is_single));
      if (tabled_q && !books)
        assert (row.received == got_q && row.count == count_q && row.missing == count_q - 6'($countones(got_q)) &&
            15'(row.len) == len_q && row.app == app_q && row.place == place_q);
      assert (dut.collecting_q[watched] == tabled_q);
      assert (dut.matching_q[watched] == (deciding_q && !(books && number == '0)));

      // The message
      assert (used_q == (taken_q || (books && !dut.booked_q.known)));
      if (!used_q)
        assert (!tabled_q && !deciding_q && !in_body && !after_body && !ends && !windows && !places && !heads);
      if (used_q) begin
        assert (got_q != '0 && (got_q & ~all) == '0 && count_q != '0 && count_q <= 6'(Packets));
        assert (len_q <= 15'(MaxPayload));
        if (tabled) assert (!ended_q && got_q != all && !after_body && !ends);
        else assert ($onehot({in_body, after_body, ends, ended_q}) && (!in_body || got_q == all));
        if (in_body) begin
          assert (!ended_q && !after_body && !ends && got_q[number] && dut.body_q.complete == (got_q == all));
          assert (before_q == Body || !windows);
        end
        if (in_body || after_body)
          assert (dut.body_q.app == app_q && dut.body_q.whole.received == got_q && 15'(dut.body_q.whole.len) == len_q);
        if (after_body) assert (got_q == all && dut.body_q.complete);
        assert (placed == (in_body && dut.at_q == '0 ? got_q & ~(set_t'(1) << number) : got_q));
        if (deciding_q) assert (got_q[0] && !(ended_q && got_q != all));
        if (ends && whole_expired) assert (!deciding_q);
        if (heads) assert (got_q[0] && !headed_q);
        assert (got_q[0] == (headed_q || heads));

        // The window
        if (!got_q[0]) assert (!windowed_q && !window_begun_q && !windows);
        else if (in_body && number == '0) begin
          if (windows)
            assert (!windowed_q && window_begun_q == !window.first && window.first == (dut.at_q == 9'd1) &&
                window.last == (dut.at_q == window_beats) && dut.at_q != '0 && dut.at_q <= window_beats);
          else assert (windowed_q == (dut.at_q >= window_beats) && window_begun_q == (dut.at_q != '0 && !windowed_q));
        end else if (windows) assert (!windowed_q && window.last && window_begun_q == !window.first);
        else assert (windowed_q && !window_begun_q);
        if (got_q[0] && !windowed_q) assert (deciding_q);
      end
    end
  end
endmodule

`default_nettype wire
