// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// The lane: packets of all ports, one after the other, into the message memory.
//
//   packets ─┬─> arbiter ─┬─────────────────────────> accept ─┬─> body ─> write ─┬─> message memory, packet by packet
//   of a     │            └─> table ─> record ───────> or drop │   beats         └─> window queue, of packet 0
//   port     └─> checks ──────2────────2────────────>         └─> book               (l7_match.sv)
//               0                                   0             1       2 cycles
//
// A packet takes a cycle and one for each beat behind its first, and four more if its message has several packets. The
// lane never waits: everything that a packet needs is reserved when it is accepted, and a packet for which there is
// no room is dropped. A packet of one port waits for the others' turns.
//
// The checks of all ports are ready when the arbiter chooses. The lane writes the changes of an accepted packet (room,
// record, table) a cycle later, in `book`. The first beat of the packet's body takes that cycle, and the next packet
// sees the changes. `left_q` counts a page that comes back a cycle late, which is safe.
//
// Packets of messages that were in card memory (l7_park.sv) come when the message is whole, one message of an application
// after the other. Such a packet is never dropped: without room it is held, and keeps its turn from nobody.
//
// Between packets a sweep looks at a message every 16 cycles and ends those that have expired. A packet that finds such
// a message ends it, too, and takes its turn again: it begins a new one.
module l7_lane
  import penstock_pkg::*, l7_pkg::*;
#(
    parameter int unsigned Ports = 2,
    parameter int unsigned Parks = 0,  // sources behind the ports: packets of whole messages, of each application
    localparam int unsigned Sources = Ports + Parks
) (
    input wire logic clk,
    input wire logic rst,
    input wire logic [31:0] now,  // units of 1,024 ns

    input wire logic [31:0] timeout,
    input wire logic [11:0] pages_max   [Apps],
    input wire logic [ 9:0] messages_max[Apps],
    input wire logic [Apps-1:0] bank,
    output logic [11:0] pages_used   [Apps],
    output logic [ 9:0] messages_used[Apps],

    input  wire logic    [Sources-1:0] packet_valid,
    input  wire packet_t               packet      [Sources],
    output logic         [Sources-1:0] packet_take,

    // window queues: room for a whole window when ready
    input  wire logic [Apps-1:0] window_ready,
    output logic      [Apps-1:0] window_push,
    output window_t              window,
    output logic      [Apps-1:0] enters,  // a message's packet 0 is accepted, to run in this bank of its application
    output logic                 enters_bank,
    input  wire logic            decided,
    input  wire msg_t            decided_slot,

    // message memory
    output logic                     mem_we,
    output page_t                    mem_page,
    output logic  [$clog2(PageBeats)-1:0] mem_beat,
    output logic         [DataW-1:0] mem_data,
    output logic                     link_we,    // page `link_from` is followed by `mem_page`
    output page_t                    link_from,
    output logic                     at_we,      // where a packet lies
    output msg_t                     at_slot,
    output number_t                  at_number,
    output packet_at_t               at,
    output logic                     head_we,
    output msg_t                     head_slot,
    output head_t                    head,
    output logic                     whole_we,   // the message is whole, or has expired
    output logic                     whole_expired,
    output msg_t                     whole_slot,
    output app_t                     whole_app,
    output whole_t                   whole,

    // given back
    input wire logic  page_give,
    input wire page_t page_give_id,
    input wire logic  slot_give,
    input wire msg_t  slot_give_id,
    input wire app_t  give_app,

    output logic     [Ports-1:0] absorbed,
    output logic     [Ports-1:0] dropped,
    output counted_t             counted [Apps],
    output logic                 busy
);
  localparam int unsigned PlaceW = 10;
  localparam int unsigned Roomy = 64;  // pages: those of two packets
  localparam int unsigned PortW = Sources > 1 ? $clog2(Sources) : 1;

  typedef enum logic [2:0] {
    Idle,
    Table,    // the ways are read
    Compare,  // the record is read
    Fetch,
    Record,
    Body,
    SweepRead,  // the record of the sweep was read
    Sweep
  } state_e;

  // The fields of a packet that the decision needs behind its record
  typedef struct packed {
    logic parked;
    app_t app;
    logic [5:0] count;
    number_t number;
    logic [14:0] len;
  } looked_t;

  typedef struct packed {
    logic [Packets-1:0] received;
    logic [5:0] count;
    logic [5:0] missing;
    logic [13:0] len;
    logic [31:0] stamp;
    app_t app;
    logic [PlaceW-1:0] place;
  } record_t;

  state_e state_q;
  logic [Sources-1:0] grant, asks;
  logic [PortW-1:0] granted, port, port_q;
  packet_t head_beat;
  info_t info;
  looked_t looked_q;
  record_t record, record_q;

  // ---- whose turn it is
  logic start, sweep_due_q;
  logic [Apps-1:0] roomy_q;  // there is room for a packet of any length
  assign start = state_q == Idle && asks != '0 && !sweep_due_q;
  for (genvar s = 0; s < int'(Sources); s++) begin : gen_asks
    if (s < int'(Ports)) begin : gen_port
      assign asks[s] = packet_valid[s];
    end else begin : gen_park
      assign asks[s] = packet_valid[s] && roomy_q[s-int'(Ports)];
    end
  end

  rr_arbiter #(
      .N(Sources)
  ) i_arbiter (
      .clk,
      .rst,
      .req(asks),
      .accept(start),
      .grant
  );

  always_comb begin
    granted = '0;
    for (int unsigned p = 0; p < Sources; p++) if (grant[p]) granted = PortW'(p);
  end
  assign port = state_q == Idle ? granted : port_q;
  assign head_beat = packet[port];
  assign info = head_beat.info;

  typedef struct packed {
    logic accept;
    logic complete;
    port_no_t port;
    app_t app;
    logic bank;
    msg_t slot;
    number_t number;
    logic [3:0] mtype;
    logic [13:0] len;
    logic [8:0] beats;        // of payload
    place_in_window_t limit;  // bytes of the window; 0: this is not packet 0
    whole_t whole;
  } body_t;

  body_t body_q;

  // ---- the table
  logic hit, room, insert, remove, decide, is_single, looks, stale, held;
  msg_t found_now, found_slot, slot;
  logic [PlaceW-1:0] place, remove_place;

  assign is_single = info.count == 6'd1;
  assign looks = start && !is_single && !info.malformed;
  assign decide = (start && !looks) || (state_q == Record && !stale && !held);

  l7_cache i_cache (
      .clk,
      .rst,
      .look(looks),
      .app(info.app),
      .key(info.key),
      .found(found_now),
      .hit,
      .slot(found_slot),
      .room,
      .place,
      .insert,
      .insert_slot(body_q.slot),
      .remove,
      .remove_place
  );

  // ---- room
  localparam int unsigned PageW = $clog2(BeatBytes * PageBeats);
  logic slot_valid, page_valid, page_take;
  msg_t new_slot;
  page_t page;
  logic [4:0] page_gives_q;  // given back, but not yet to be taken
  logic [11:0] free_q;
  logic [12:0] left_q[Apps];  // pages that an application may still take; negative if its share was made smaller
  logic known, accept;

  // ---- book: a packet was accepted in the cycle before
  typedef struct packed {
    logic known;
    logic is_single;
    logic [5:0] count;
    logic [5:0] missing;
    logic [5:0] need;
  } booked_t;
  logic accepted_q;
  booked_t booked_q;

  l7_pool #(
      .Depth(Slots)
  ) i_slots (
      .clk,
      .rst,
      .valid(slot_valid),
      .id(new_slot),
      .take(accepted_q && !booked_q.known),
      .give(slot_give),
      .give_id(slot_give_id)
  );

  l7_pool #(
      .Depth(Pages)
  ) i_pages (
      .clk,
      .rst,
      .valid(page_valid),
      .id(page),
      .take(page_take),
      .give(page_give),
      .give_id(page_give_id)
  );

  // ---- checks of each source; those of a packet whose record is read stay in registers
  typedef struct packed {
    logic oversize;
    logic no_pages;
    logic no_slot;  // or the application has too many messages
    logic no_queue;
  } checks_t;

  checks_t checks[Sources];
  checks_t check, checks_q;
  logic [Sources-1:0] accepts;
  for (genvar s = 0; s < int'(Sources); s++) begin : gen_checks
    info_t of;
    logic [12:0] pages;  // twice the pages that are full, and 1 if there is a rest
    logic [Apps-1:0] is_more, is_full;
    assign of = packet[s].info;
    assign pages = 13'({of.len[14:PageW], of.len[PageW-1:0] != '0});
    for (genvar a = 0; a < int'(Apps); a++) begin : gen_app
      assign is_more[a] = left_q[a][12] || pages > {left_q[a][11:0], 1'b0};
      assign is_full[a] = messages_used[a] >= messages_max[a];
    end
    assign checks[s] = '{
            oversize: 32'(of.len) > MaxPayload,
            no_pages: pages > {free_q, 1'b0} || is_more[of.app],
            no_slot: !slot_valid || is_full[of.app],
            no_queue: of.number == '0 && !window_ready[of.app]
        };
    assign accepts[s] = !of.malformed && checks[s] == '0;
  end

  // ---- accept or drop: a packet alone by the checks of its source, another one by its record as well
  logic malformed, duplicate, oversize, refused, no_queue, complete, accepts_looked;
  logic [14:0] sum;
  logic [Packets-1:0] received;
  logic [5:0] missing;
  logic miscounted_q;
  number_t number;

  assign known = state_q == Record && hit;
  assign slot = known ? found_slot : new_slot;
  assign check = state_q == Record ? checks_q : checks[granted];
  assign number = state_q == Record ? looked_q.number : info.number;
  assign sum = state_q == Record ? 15'(hit ? record_q.len : 14'd0) + looked_q.len : info.len;
  assign received = (known ? record_q.received : '0) | (Packets'(1) << number);
  assign missing = (known ? record_q.missing : state_q == Record ? looked_q.count : info.count) - 6'd1;

  always_comb begin
    malformed = state_q == Record ? hit && miscounted_q : info.malformed;
    duplicate = known && record_q.received[looked_q.number];
    oversize = state_q == Record ? 32'(15'(hit ? record_q.len : 14'd0) + looked_q.len) > MaxPayload : check.oversize;
    refused = check.no_pages || (!known && check.no_slot) || (state_q == Record && !hit && !room);
    no_queue = check.no_queue;
    accepts_looked = !(hit && miscounted_q) && !duplicate && 32'(sum) <= MaxPayload && !checks_q.no_pages &&
        (hit || (!checks_q.no_slot && room)) && !checks_q.no_queue;
    accept = state_q == Record ? accepts_looked : (grant & accepts) != '0;
    complete = missing == '0;
  end

  always_ff @(posedge clk) begin
    if (start) looked_q <= '{parked: info.parked, app: info.app, count: info.count, number: info.number, len: info.len};
    if (state_q == Fetch) begin
      checks_q <= checks[port_q];
      miscounted_q <= record.count != looked_q.count;
    end
  end

  assign held = looked_q.parked && !accepts_looked;

  always_ff @(posedge clk) begin
    accepted_q <= decide && accept && !rst;
    booked_q <= '{
        known: known,
        is_single: state_q != Record,
        count: state_q == Record ? looked_q.count : info.count,
        missing: missing,
        need: 6'(info.len[14:PageW]) + 6'(info.len[PageW-1:0] != '0)
    };
  end

  // ---- records of messages of several packets
  logic record_we, expires;
  logic over, collecting_at_q, matching_at_q;  // of the record that was read
  msg_t record_slot, sweep_slot_q;
  record_t new_record;
  logic [Slots-1:0] collecting_q, matching_q;

  assign insert = accepted_q && !booked_q.known && !booked_q.is_single && !body_q.complete;
  assign record_we = accepted_q && !booked_q.is_single;
  assign record_slot = state_q == Compare ? found_now : sweep_slot_q;
  assign new_record = '{
          received: body_q.whole.received,
          count: booked_q.count,
          missing: booked_q.missing,
          len: body_q.whole.len,
          stamp: now,
          app: body_q.app,
          place: booked_q.known ? record_q.place : place
      };

  ram_sdp #(
      .Width($bits(record_t)),
      .Depth(Slots)
  ) i_records (
      .clk,
      .we(record_we),
      .waddr(body_q.slot),
      .wdata(new_record),
      .re(state_q == Compare || (state_q == Idle && sweep_due_q)),
      .raddr(record_slot),
      .rdata(record)
  );

  assign remove = (record_we && booked_q.known && body_q.complete) || expires;
  assign remove_place = record_q.place;

  // ---- expiry: of a message that the sweep looks at, or that a packet finds
  //
  // A message is young if its stamp lies behind `horizon_q`, and not behind `now_q`, on the circle of 32 bits.
  logic [3:0] tick_q;
  logic [31:0] now_q, horizon_q;
  logic wraps_q, forever_q, wraps_at_q, forever_at_q, after_horizon_q, until_now_q;
  msg_t expiry_slot_q, read_slot;
  assign over = !forever_at_q && !(wraps_at_q ? after_horizon_q || until_now_q : after_horizon_q && until_now_q);
  assign stale = state_q == Record && hit && over && !matching_at_q;
  assign expires = state_q == Sweep && over && collecting_at_q && !matching_at_q;
  assign read_slot = state_q == Fetch ? found_slot : sweep_slot_q;

  always_ff @(posedge clk) begin
    now_q <= now;
    {wraps_q, horizon_q} <= {1'b0, now} - {1'b0, timeout};
    forever_q <= timeout == '0;
    if (state_q == Fetch || state_q == SweepRead) begin
      record_q <= record;
      {wraps_at_q, forever_at_q} <= {wraps_q, forever_q};
      after_horizon_q <= record.stamp > horizon_q;
      until_now_q <= record.stamp <= now_q;
      collecting_at_q <= collecting_q[read_slot];
      matching_at_q <= matching_q[read_slot];
    end
    tick_q <= tick_q + 1'b1;
    if (tick_q == '1 && !sweep_due_q) begin
      if (collecting_q[sweep_slot_q] && !forever_q) sweep_due_q <= 1'b1;
      else sweep_slot_q <= sweep_slot_q + 1'b1;
    end
    if (state_q == SweepRead) begin
      sweep_due_q  <= 1'b0;
      sweep_slot_q <= sweep_slot_q + 1'b1;
    end
    expiry_slot_q <= stale ? found_slot : sweep_slot_q;
    if (record_we) collecting_q[body_q.slot] <= !body_q.complete;
    if (expires) collecting_q[expiry_slot_q] <= 1'b0;
    if (decided) matching_q[decided_slot] <= 1'b0;
    if (accepted_q && body_q.number == '0) matching_q[body_q.slot] <= 1'b1;
    if (rst) begin
      tick_q <= '0;
      sweep_due_q <= 1'b0;
      sweep_slot_q <= '0;
      collecting_q <= '0;
      matching_q <= '0;
    end
  end

  // ---- body
  logic [8:0] at_q;   // beats of payload that have gone on
  logic take_head, beat, writes, new_page, ends;
  page_t page_q;
  logic [9:0] seg_bytes;
  place_in_window_t limit;
  packet_t body_beat;

  // The first beat may be a payload beat as well.
  assign take_head = decide && !head_beat.merged;
  assign body_beat = packet[port_q];
  assign beat = state_q == Body && packet_valid[port_q];
  assign writes = beat && body_q.accept && at_q != body_q.beats;
  assign new_page = writes && at_q[2:0] == '0;
  assign page_take = new_page;
  assign ends = (beat && body_beat.last) || (take_head && head_beat.last);

  always_comb begin
    packet_take = '0;
    packet_take[port] = take_head || beat;
  end

  assign seg_bytes = info.segments == '0 || info.segments > 8'(WindowBeats) ? 10'(WindowBytes) : {info.segments[3:0], 6'd0};
  assign limit = info.number != '0 ? '0 : info.len < 15'(seg_bytes) ? info.len[8:0] : seg_bytes[8:0];

  always_ff @(posedge clk) begin
    if (start || state_q == Record) begin
      body_q <= '{
          accept: accept,
          complete: complete,
          port: info.port,
          app: info.app,
          bank: bank[info.app],
          slot: slot,
          number: number,
          mtype: info.mtype > 8'd15 ? 4'd0 : info.mtype[3:0],
          len: info.len[13:0],
          beats: 9'((info.len + 15'(BeatBytes - 1)) >> $clog2(BeatBytes)),
          limit: limit,
          whole: '{received: received, len: sum[13:0]}
      };
      at_q <= '0;
    end else if (writes) at_q <= at_q + 1'b1;
    if (new_page) page_q <= page;
    if (start) port_q <= granted;

    unique case (state_q)
      Idle:
      if (sweep_due_q) state_q <= SweepRead;
      else if (looks) state_q <= Table;
      else if (start && !ends) state_q <= Body;
      Table: state_q <= Compare;
      Compare: state_q <= Fetch;
      Fetch: state_q <= Record;
      Record: state_q <= stale ? Sweep : held || ends ? Idle : Body;
      Body: if (ends) state_q <= Idle;
      SweepRead: state_q <= Sweep;
      default: state_q <= Idle;
    endcase
    if (rst) state_q <= Idle;
  end

  // ---- write
  logic to_window, whole_q;
  assign to_window = writes && {at_q, 6'd0} < 15'(body_q.limit);

  always_ff @(posedge clk) begin
    mem_we <= writes && !rst;
    mem_page <= new_page ? page : page_q;
    mem_beat <= at_q[2:0];
    mem_data <= body_beat.data;
    link_we <= new_page && at_q != '0 && !rst;
    link_from <= page_q;
    at_we <= new_page && at_q == '0 && !rst;
    at_slot <= body_q.slot;
    at_number <= body_q.number;
    at <= '{page: page, len: body_q.len};
    for (int unsigned a = 0; a < Apps; a++) window_push[a] <= to_window && 32'(body_q.app) == a && !rst;
    window <= '{
        first: at_q == '0,
        last: {at_q, 6'd0} + 15'(BeatBytes) >= 15'(body_q.limit),
        slot: body_q.slot,
        port: body_q.port,
        bank: body_q.bank,
        mtype: body_q.mtype,
        limit: body_q.limit,
        data: body_beat.data
    };
  end

  // Packet 0's headers, with the decision to accept it
  always_ff @(posedge clk) begin
    head_we <= decide && accept && info.number == '0 && !rst;
    head_slot <= slot;
    head <= '{port: info.port, tenant: info.key.tenant, shape: info.shape, hash: info.hash, head: head_beat.head};
    enters_bank <= bank[info.app];
    for (int unsigned a = 0; a < Apps; a++) enters[a] <= decide && accept && info.number == '0 && 32'(info.app) == a && !rst;
  end

  // The message is whole behind its last packet's last beat.
  always_ff @(posedge clk) begin
    whole_q <= ends && state_q == Body && body_q.accept && body_q.complete && !rst;
    whole_we <= whole_q || (expires && !rst);
    whole_expired <= expires;
    whole_slot <= expires ? expiry_slot_q : body_q.slot;
    whole_app <= expires ? record_q.app : body_q.app;
    whole <= expires ? '{received: record_q.received, len: record_q.len} : body_q.whole;
  end

  // ---- counters
  always_ff @(posedge clk) begin
    free_q <= free_q - (accepted_q ? 12'(booked_q.need) : '0) + 12'(page_gives_q[4]);
    page_gives_q <= {page_gives_q[3:0], page_give};
    for (int unsigned a = 0; a < Apps; a++)
      roomy_q[a] <= 32'(free_q) >= Roomy && 32'(pages_used[a]) + Roomy <= 32'(pages_max[a]) && slot_valid &&
          messages_used[a] < messages_max[a] && window_ready[a];
    for (int unsigned a = 0; a < Apps; a++) begin
      left_q[a] <= 13'(pages_max[a]) - 13'(pages_used[a]) - 13'(accepted_q && 32'(body_q.app) == a ? booked_q.need : '0);
      pages_used[a] <= pages_used[a] + (accepted_q && 32'(body_q.app) == a ? 12'(booked_q.need) : '0) -
          12'(page_give && 32'(give_app) == a);
      messages_used[a] <= messages_used[a] + 10'(accepted_q && !booked_q.known && 32'(body_q.app) == a) -
          10'(slot_give && 32'(give_app) == a);
    end
    if (rst) begin
      free_q <= 12'(Pages);
      page_gives_q <= '0;
      for (int unsigned a = 0; a < Apps; a++) begin
        pages_used[a] <= '0;
        messages_used[a] <= '0;
      end
    end
  end

  always_ff @(posedge clk) begin
    absorbed <= '0;
    dropped  <= '0;
    for (int unsigned a = 0; a < Apps; a++) counted[a] <= '0;
    if (decide && !rst) begin
      for (int unsigned p = 0; p < Ports; p++) begin
        absorbed[p] <= accept && 32'(port) == p;
        dropped[p] <= !accept && 32'(port) == p;
      end
      counted[info.app].packet <= accept && !info.parked;
      counted[info.app].malformed <= malformed;
      counted[info.app].duplicate <= !malformed && duplicate;
      counted[info.app].oversize <= !malformed && !duplicate && oversize;
      counted[info.app].refused <= !malformed && !duplicate && !oversize && refused;
      counted[info.app].busy <= !malformed && !duplicate && !oversize && !refused && no_queue;
    end
    if (expires && !rst) counted[record_q.app].expired <= 1'b1;
  end

  assign busy = (state_q inside {Table, Compare, Fetch, Record, Body}) || whole_q || whole_we || window_push != '0 || enters != '0 ||
      absorbed != '0 || dropped != '0 || (state_q == Sweep && expires);

`ifndef SYNTHESIS
  always_ff @(posedge clk) begin
    if (!rst) begin
      assert (!page_take || page_valid) else $error("%m: no page for a packet that was accepted");
      assert (!decide || accept == !(malformed || duplicate || oversize || refused || no_queue))
      else $error("%m: a packet is counted otherwise than it is decided");
      assert (!decide || head_beat.first) else $error("%m: a packet does not begin with its first beat");
      assert (!accepted_q || state_q == Body) else $error("%m: a packet without payload was accepted");
      assert (!(insert && remove)) else $error("%m: a place is made and removed at once");
    end
  end
`endif
endmodule

`default_nettype wire
