// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// Messages of several packets of one application, in card memory until they are whole.
//
//   packets ─> arbiter ─> table ─> accept ─> body ─┬─> beats ──> writer ─> card memory ─> retire ─> whole messages
//   of a port             4        or drop         └─> chain of pages                                  │
//               0                  1          1 + beats                                                v
//   lane <─ messages that are there <─ assemble <─ answers by channel <─ card memory <─ reader <─ walk the chain
//                                                                                                  3 a page
//
// The table, the chains of pages and the free pages are on the chip: whether a packet is accepted takes no access to
// card memory, and the table never waits for it. A packet takes 5 cycles and one for each beat of payload; packet 0
// takes two more, for its headers. The block writes each byte to card memory once and reads it once.
//
// A message is read back when all of its writes are answered; reads of several packets and messages are under way at
// once, and `assemble` puts their answers in order. The lane gets a message when all of its beats are there, so that
// card memory holds up neither the lane nor the other application, which has its own table, pages and channels.
//
// If card memory answers a write or a read of a page with an error, the message is dropped and counted (`failed`) when
// it has been read. A channel answers each burst in any case (l7_channel.sv), so that no message waits for ever.
//
// The table has two sets of four places for each key, and takes the emptier one. Half full, it has a place for all but
// about one of 100,000 keys. A sweep looks at a set every 16 cycles and ends messages that have expired.
//
// Memories for 65,536 messages of both applications, by count: table 160, chains 64 UltraRAM; free pages 64, whole
// messages 64, beats to write 16, answers 64, packets that are there 16, pages that failed 4 BRAM36.
module l7_park
  import penstock_pkg::*, l7_pkg::*;
#(
    parameter int unsigned Ports = 2,
    parameter int unsigned App = 0,
    parameter int unsigned SetsLog2 = 14,
    localparam int unsigned Channels = MemoryChannels / Apps
) (
    input wire logic clk,
    input wire logic rst,
    input wire logic [31:0] now,  // units of 1,024 ns

    input wire logic [31:0] timeout,
    input wire parked_t     pages_max,
    input wire parked_t     messages_max,
    output parked_t         pages_used,
    output parked_t         messages_used,

    input  wire logic    [Ports-1:0] packet_valid,  // of several packets, not malformed
    input  wire packet_t             packet      [Ports],
    output logic         [Ports-1:0] packet_take,

    output logic      whole_valid,  // packets of whole messages, message by message
    output packet_t   whole,
    input  wire logic whole_take,

    axi_if.mgr mem[Channels],

    output logic     [Ports-1:0] absorbed,
    output logic     [Ports-1:0] dropped,
    output counted_t             counted,
    output logic                 busy
);
  localparam int unsigned Ways = 4;
  localparam int unsigned WayW = $clog2(Ways);
  localparam int unsigned PageW = SetsLog2 + WayW;  // as many pages as places
  localparam int unsigned BurstW = $clog2(ParkedBeats);
  localparam int unsigned ChannelW = $clog2(Channels);
  localparam int unsigned HeadBeats = 2;  // of packet 0, in front of its payload
  localparam int unsigned WriteDepth = 512;
  localparam int unsigned ReadDepth = 512;  // beats: more than the longest message has
  localparam int unsigned Wholes = 1 << (PageW - 1);  // each of them has two pages or more
  localparam int unsigned PortW = Ports > 1 ? $clog2(Ports) : 1;

  typedef logic [SetsLog2-1:0] set_t;
  typedef logic [PageW-1:0] chain_t;     // a page of card memory
  typedef logic [ChannelW-1:0] channel_t;
  typedef logic [8:0] beats_t;           // beats of a packet in card memory

  typedef struct packed {
    logic valid;
    key_t key;
    logic [5:0] count;
    logic [Packets-1:0] received;
    logic [13:0] len;
    logic [31:0] stamp;
    chain_t first;
    chain_t last;
  } entry_t;

  typedef enum logic [3:0] {
    Clear,    // after a reset
    Idle,
    ReadA,
    ReadB,
    Compare,
    Decide,
    Body,
    Store,
    Expire,
    SweepRead,
    Sweep
  } state_e;

  state_e state_q;
  logic [Ports-1:0] grant;
  logic [PortW-1:0] granted, port_q;
  logic start, sweep_due_q;
  packet_t head_beat;
  info_t info;

  // ---- whose turn it is
  assign start = state_q == Idle && packet_valid != '0 && !sweep_due_q;

  rr_arbiter #(
      .N(Ports)
  ) i_arbiter (
      .clk,
      .rst,
      .req(packet_valid),
      .accept(start),
      .grant
  );

  always_comb begin
    granted = '0;
    for (int unsigned p = 0; p < Ports; p++) if (grant[p]) granted = PortW'(p);
  end
  assign head_beat = packet[port_q];
  assign info = head_beat.info;

  // ---- the table
  // Two hashes that share no structure: bits folded, and a CRC
  function automatic set_t fold(key_t key);
    set_t sum;
    logic [$bits(key_t)+SetsLog2-1:0] bits;
    bits = ($bits(key_t) + SetsLog2)'(key);
    sum = '0;
    for (int unsigned i = 0; i < $bits(key_t); i += SetsLog2) sum ^= bits[i+:SetsLog2];
    return sum;
  endfunction

  set_t set_a_q, set_b_q, sweep_q, clear_q, place_set_q, read_set;
  logic [WayW-1:0] place_way_q;
  entry_t ways[Ways];
  entry_t seen, found_q, new_q, write_entry;
  logic [Ways-1:0] hits, frees, overs, write_ways;
  logic [WayW-1:0] seen_way, free_way;
  logic [2:0] free_count, room_q;  // empty places of the set that has more of them
  logic hit_q, write;
  set_t write_set;

  assign read_set = state_q == ReadA ? set_a_q : state_q == ReadB ? set_b_q : sweep_q;

  for (genvar w = 0; w < int'(Ways); w++) begin : gen_way
    ram_sdp #(
        .Width($bits(entry_t)),
        .Depth(1 << SetsLog2),
        .Ultra(SetsLog2 >= 12)
    ) i_ram (
        .clk,
        .we(write && write_ways[w]),
        .waddr(write_set),
        .wdata(write_entry),
        .re(state_q inside {ReadA, ReadB, SweepRead}),
        .raddr(read_set),
        .rdata(ways[w])
    );
    assign hits[w] = ways[w].valid && ways[w].key == info.key;
    assign frees[w] = !ways[w].valid;
    assign overs[w] = ways[w].valid && timeout != '0 && now - ways[w].stamp >= timeout;
  end

  always_comb begin
    seen = '0;
    seen_way = '0;
    free_way = '0;
    for (int w = int'(Ways) - 1; w >= 0; w--) begin
      if (state_q == Sweep ? overs[w] : hits[w]) begin
        seen = ways[w];
        seen_way = WayW'(w);
      end
      if (frees[w]) free_way = WayW'(w);
    end
    free_count = 3'($countones(frees));
  end

  always_ff @(posedge clk) begin
    if (start) begin
      port_q <= granted;
      set_a_q <= fold(packet[granted].info.key);
      set_b_q <= hash_of((8 * MatchBytes)'(packet[granted].info.key))[SetsLog2-1:0];
      hit_q <= 1'b0;
      room_q <= '0;
    end
    // The first set's places come in ReadB, the second one's in Compare.
    if (state_q inside {ReadB, Compare}) begin
      if (hits != '0) begin
        hit_q <= 1'b1;
        found_q <= seen;
        place_set_q <= state_q == ReadB ? set_a_q : set_b_q;
        place_way_q <= seen_way;
      end else if (!hit_q && free_count > room_q) begin
        room_q <= free_count;
        place_set_q <= state_q == ReadB ? set_a_q : set_b_q;
        place_way_q <= free_way;
      end
    end
    if (state_q == Sweep) begin
      found_q <= seen;
      place_set_q <= sweep_q;
      place_way_q <= seen_way;
    end
  end

  // ---- accept or drop
  logic duplicate, malformed, oversize, refused, no_queue, accept, complete, stale, decide, expires;
  logic [14:0] sum;
  logic [14:0] bytes;  // in card memory
  logic [3:0] need;    // pages
  beats_t payload_beats;
  logic [Packets-1:0] received;
  logic descs_ready, expired_ready;
  logic [$clog2(WriteDepth):0] writing_q;  // beats in the queue of writes
  parked_t wholes_q;  // messages from their last packet until the lane has them

  assign payload_beats = 9'((info.len + 15'(BeatBytes - 1)) >> $clog2(BeatBytes));
  assign bytes = info.len + (info.number == '0 ? 15'(HeadBeats * BeatBytes) : '0);
  assign need = 4'((16'(bytes) + 16'(ParkedBytes - 1)) >> $clog2(ParkedBytes));
  assign sum = 15'(hit_q ? found_q.len : 14'd0) + info.len;
  assign received = (hit_q ? found_q.received : '0) | (Packets'(1) << info.number);
  assign complete = 6'($countones(received)) == info.count;
  assign stale = hit_q && timeout != '0 && now - found_q.stamp >= timeout;
  assign decide = state_q == Decide && !stale;
  assign expires = state_q == Expire && expired_ready;

  always_comb begin
    malformed = hit_q && found_q.count != info.count;
    duplicate = hit_q && found_q.received[info.number];
    oversize = 32'(sum) > MaxPayload;
    refused = 32'(pages_used) + 32'(need) > 32'(pages_max) || 32'(pages_used) + 32'(need) > 1 << PageW ||
        (!hit_q && (messages_used >= messages_max || room_q == '0));
    no_queue = 32'(writing_q) + 32'(payload_beats) + HeadBeats > WriteDepth - 4 || !descs_ready;
    accept = !malformed && !duplicate && !oversize && !refused && !no_queue;
  end

  // ---- body: beats into the queue of writes, pages into the chain
  typedef struct packed {
    chain_t page;
    page_beats_t beats;
    logic ends;     // it is the last page of a whole message,
    chain_t first;  // which begins with this page
  } desc_t;

  typedef struct packed {
    tenant_t tenant;
    logic [5:0] count;
    number_t number;
    logic [14:0] bytes;  // of the packet, from this page on
    logic [13:0] len;    // of the packet's payload
  } page_info_t;

  typedef struct packed {
    tenant_t tenant;
    shape_t shape;
    logic [7:0] mtype;
    logic [7:0] segments;
    logic [31:0] hash;
    port_no_t port;
    logic [8*HeadBytes-1:0] head;
  } stored_head_t;

  logic accept_q, known_q, complete_q, begun_q;
  beats_t at_q, total_q;  // beats that are written, beats to write
  logic [14:0] bytes_q;
  stored_head_t head_q;
  packet_t body_beat;
  logic take_head, in_head, beat, store, opens, closes, page_valid, page_give;
  chain_t page, page_q, first_q, first, page_give_id;
  desc_t desc, writes;
  logic desc_valid, desc_pop;
  logic [DataW-1:0] stored;
  page_info_t page_info;

  assign take_head = decide && !head_beat.merged;
  assign body_beat = packet[port_q];
  assign in_head = accept_q && info.number == '0 && 32'(at_q) < HeadBeats;
  assign beat = state_q == Body && packet_valid[port_q] && !in_head;
  assign store = state_q == Body && accept_q && (in_head || (beat && at_q != total_q));
  assign opens = store && at_q[BurstW-1:0] == '0;
  assign closes = store && (at_q[BurstW-1:0] == '1 || at_q + 1'b1 == total_q);
  assign first = known_q ? found_q.first : begun_q ? first_q : page;
  assign stored = !in_head ? body_beat.data : at_q == '0 ? head_q[DataW-1:0] : DataW'(head_q >> DataW);

  always_comb begin
    packet_take = '0;
    packet_take[port_q] = take_head || beat;
    desc = '{page: opens ? page : page_q, beats: page_beats_t'(at_q[BurstW-1:0]) + 1'b1,
        ends: complete_q && at_q + 1'b1 == total_q, first: first};
    page_info = '{tenant: info.key.tenant, count: info.count, number: info.number,
        bytes: bytes_q - {at_q, 6'd0}, len: info.len[13:0]};
    write = state_q == Clear || (state_q == Store && accept_q) || expires;
    write_ways = state_q == Clear ? '1 : Ways'(1) << place_way_q;
    write_set = state_q == Clear ? clear_q : place_set_q;
    write_entry = '0;
    if (state_q == Store) begin
      write_entry = new_q;
      write_entry.first = known_q ? found_q.first : first_q;
      write_entry.last = page_q;
    end
  end

  always_ff @(posedge clk) begin
    if (decide) begin
      accept_q <= accept;
      known_q <= hit_q;
      complete_q <= complete;
      at_q <= '0;
      total_q <= payload_beats + (info.number == '0 ? beats_t'(HeadBeats) : '0);
      bytes_q <= bytes;
      begun_q <= 1'b0;
      new_q <= '{
          valid: !complete,
          key: info.key,
          count: info.count,
          received: received,
          len: sum[13:0],
          stamp: now,
          first: '0,
          last: '0
      };
      head_q <= '{
          tenant: info.key.tenant,
          shape: info.shape,
          mtype: info.mtype,
          segments: info.segments,
          hash: info.hash,
          port: info.port,
          head: head_beat.head
      };
    end
    if (store) at_q <= at_q + 1'b1;
    if (opens) begin
      page_q <= page;
      begun_q <= 1'b1;
      if (!begun_q) first_q <= page;
    end

    unique case (state_q)
      Clear: begin
        clear_q <= clear_q + 1'b1;
        if (clear_q == '1) state_q <= Idle;
      end
      Idle:
      if (sweep_due_q) state_q <= SweepRead;
      else if (start) state_q <= ReadA;
      ReadA: state_q <= ReadB;
      ReadB: state_q <= Compare;
      Compare: state_q <= Decide;
      Decide: state_q <= stale ? Expire : Body;
      Body: if (beat && body_beat.last) state_q <= Store;
      Store: state_q <= Idle;
      Expire: if (expired_ready) state_q <= Idle;
      SweepRead: state_q <= Sweep;
      default: state_q <= overs != '0 ? Expire : Idle;
    endcase
    if (rst) begin
      state_q <= Clear;
      clear_q <= '0;
    end
  end

  // ---- the sweep stays at a set in which a message has expired, and looks for another one
  logic [3:0] tick_q;
  always_ff @(posedge clk) begin
    tick_q <= tick_q + 1'b1;
    if (tick_q == '1) sweep_due_q <= timeout != '0;
    if (state_q == SweepRead) sweep_due_q <= 1'b0;
    if (state_q == Sweep && overs == '0) sweep_q <= sweep_q + 1'b1;
    if (rst) begin
      tick_q <= '0;
      sweep_due_q <= 1'b0;
      sweep_q <= '0;
    end
  end

  // ---- pages: the free ones, and of those in use what comes behind each
  chain_t walk_page_q, next_page;
  page_info_t walked;
  logic walk_reads;

  l7_pool #(
      .Depth(1 << PageW)
  ) i_pages (
      .clk,
      .rst,
      .valid(page_valid),
      .id(page),
      .take(opens),
      .give(page_give),
      .give_id(page_give_id)
  );

  ram_sdp #(
      .Width(PageW),
      .Depth(1 << PageW),
      .Ultra(SetsLog2 >= 12)
  ) i_links (
      .clk,
      .we(opens && (known_q || begun_q)),
      .waddr(begun_q ? page_q : found_q.last),
      .wdata(page),
      .re(walk_reads),
      .raddr(walk_page_q),
      .rdata(next_page)
  );

  ram_sdp #(
      .Width($bits(page_info_t)),
      .Depth(1 << PageW),
      .Ultra(SetsLog2 >= 12)
  ) i_page_infos (
      .clk,
      .we(opens),
      .waddr(page),
      .wdata(page_info),
      .re(walk_reads),
      .raddr(walk_page_q),
      .rdata(walked)
  );

  // ---- the writer: a page at a time
  typedef struct packed {
    channel_t channel;
    logic ends;
    chain_t first;
    chain_t page;
  } retire_t;

  typedef struct packed {
    chain_t first;
    chain_t last;
  } message_t;

  function automatic parked_at_t in_channel(chain_t of);
    return parked_at_t'(of[PageW-1:ChannelW]);
  endfunction

  logic write_valid, write_pop, in_data_q, write_goes, w_last;
  logic [DataW-1:0] write_data;
  page_beats_t sent_q;
  channel_t write_channel;
  logic [Channels-1:0] write_readys, beat_readys, writtens, writes_failed, read_readys;
  retire_t retire;
  logic retire_ready, retire_valid, retires;
  logic [6:0] bursts_q;  // that are not answered

  fifo_block #(
      .Width(DataW),
      .Depth(WriteDepth)
  ) i_writes (
      .clk,
      .rst,
      .push(store),
      .din(stored),
      .valid(write_valid),
      .pop(write_pop),
      .dout(write_data)
  );

  fifo_dist #(
      .Width($bits(desc_t)),
      .Depth(32),
      .Room(10)
  ) i_descs (
      .clk,
      .rst,
      .push(closes),
      .din(desc),
      .ready(descs_ready),
      .valid(desc_valid),
      .pop(desc_pop),
      .dout(writes),
      .level()
  );

  assign write_channel = writes.page[ChannelW-1:0];
  assign write_goes = desc_valid && !in_data_q && retire_ready && write_readys[write_channel];
  assign w_last = sent_q + 1'b1 == writes.beats;
  assign write_pop = in_data_q && write_valid && beat_readys[write_channel];
  assign desc_pop = write_pop && w_last;

  fifo_dist #(
      .Width($bits(retire_t)),
      .Depth(32),
      .Room(2)
  ) i_retire (
      .clk,
      .rst,
      .push(desc_pop),
      .din({write_channel, writes.ends, writes.first, writes.page}),
      .ready(retire_ready),
      .valid(retire_valid),
      .pop(retires),
      .dout(retire),
      .level()
  );
  assign retires = retire_valid && writtens[retire.channel];

  always_ff @(posedge clk) begin
    in_data_q <= write_goes || (in_data_q && !desc_pop);
    if (write_goes) sent_q <= '0;
    else if (write_pop) sent_q <= sent_q + 1'b1;
    writing_q <= writing_q + ($clog2(WriteDepth) + 1)'(store) - ($clog2(WriteDepth) + 1)'(write_pop);
    bursts_q <= bursts_q + 7'(closes) - 7'(retires);
    if (rst) begin
      in_data_q <= 1'b0;
      writing_q <= '0;
      bursts_q <= '0;
    end
  end

  // Whether the last write of a page has failed
  logic page_failed;
  ram_sdp #(
      .Width(1),
      .Depth(1 << PageW)
  ) i_failed (
      .clk,
      .we(retires),
      .waddr(retire.page),
      .wdata(writes_failed[retire.channel]),
      .re(walk_reads),
      .raddr(walk_page_q),
      .rdata(page_failed)
  );

  // ---- whole messages, whose writes are answered, and those that have expired
  message_t next_whole, next_expired;
  logic next_whole_valid, next_expired_valid, begins;

  fifo_block #(
      .Width($bits(message_t)),
      .Depth(Wholes)
  ) i_wholes (
      .clk,
      .rst,
      .push(retires && retire.ends),
      .din({retire.first, retire.page}),
      .valid(next_whole_valid),
      .pop(begins && !next_expired_valid),
      .dout(next_whole)
  );

  fifo_dist #(
      .Width($bits(message_t)),
      .Depth(32),
      .Room(2)
  ) i_expired (
      .clk,
      .rst,
      .push(expires),
      .din({found_q.first, found_q.last}),
      .ready(expired_ready),
      .valid(next_expired_valid),
      .pop(begins),
      .dout(next_expired),
      .level()
  );

  // ---- the walk: pages of a message in the order in which they came
  typedef enum logic [1:0] {
    WalkIdle,
    WalkRead,
    WalkPage
  } walk_e;

  typedef struct packed {
    channel_t channel;
    chain_t page;
    page_beats_t beats;
    logic first;         // page of its packet
    logic last;          // page of its packet
    logic ends;          // last page of its message
    logic failed;        // its write has
    page_info_t of;
  } order_t;

  walk_e walk_q;
  logic walk_drop_q, walk_first_q, walk_goes, packet_ends, order_ready, order_valid, order_pop, assembled;
  chain_t walk_last_q;
  page_beats_t walk_beats;
  channel_t walk_channel;
  order_t order;

  assign begins = walk_q == WalkIdle && (next_expired_valid || next_whole_valid);
  assign walk_reads = walk_q == WalkRead;
  assign walk_channel = walk_page_q[ChannelW-1:0];
  assign packet_ends = 32'(walked.bytes) <= ParkedBytes;
  assign walk_beats = packet_ends ? page_beats_t'((walked.bytes + 15'(BeatBytes - 1)) >> $clog2(BeatBytes)) :
      page_beats_t'(ParkedBeats);
  assign walk_goes = walk_q == WalkPage && (walk_drop_q ? !assembled :
      order_ready && read_readys[walk_channel]);

  always_ff @(posedge clk) begin
    unique case (walk_q)
      WalkIdle: if (begins) walk_q <= WalkRead;
      WalkRead: walk_q <= WalkPage;
      default: if (walk_goes) walk_q <= walk_page_q == walk_last_q ? WalkIdle : WalkRead;
    endcase
    if (begins) begin
      walk_drop_q <= next_expired_valid;
      {walk_page_q, walk_last_q} <= next_expired_valid ? next_expired : next_whole;
      walk_first_q <= 1'b1;
    end
    if (walk_goes) begin
      walk_page_q <= next_page;
      walk_first_q <= packet_ends;
    end
    if (rst) walk_q <= WalkIdle;
  end

  fifo_dist #(
      .Width($bits(order_t)),
      .Depth(32),
      .Room(2)
  ) i_order (
      .clk,
      .rst,
      .push(walk_goes && !walk_drop_q),
      .din({
        walk_channel,
        walk_page_q,
        walk_beats,
        walk_first_q,
        packet_ends,
        walk_page_q == walk_last_q,
        page_failed,
        walked
      }),
      .ready(order_ready),
      .valid(order_valid),
      .pop(order_pop),
      .dout(order),
      .level()
  );

  // ---- channels
  logic [Channels-1:0] answer_valid, answer_pop, answer_failed;
  logic [DataW-1:0] answers[Channels];

  for (genvar c = 0; c < int'(Channels); c++) begin : gen_channel
    l7_channel i_channel (
        .clk,
        .rst,
        .write(write_goes && 32'(write_channel) == c),
        .write_at(in_channel(writes.page)),
        .write_beats(writes.beats),
        .write_ready(write_readys[c]),
        .beat_valid(in_data_q && write_valid && 32'(write_channel) == c),
        .beat_last(w_last),
        .beat(write_data),
        .beat_ready(beat_readys[c]),
        .written(writtens[c]),
        .written_failed(writes_failed[c]),
        .written_pop(retires && 32'(retire.channel) == c),
        .read(walk_goes && !walk_drop_q && 32'(walk_channel) == c),
        .read_at(in_channel(walk_page_q)),
        .read_beats(walk_beats),
        .read_ready(read_readys[c]),
        .answer_valid(answer_valid[c]),
        .answer_failed(answer_failed[c]),
        .answer(answers[c]),
        .answer_pop(answer_pop[c]),
        .mem(mem[c])
    );
  end

  // ---- assemble: headers of packet 0 into a register, payload behind each other
  // The memories behind it hold the longest message: a message is there when its last beat is, and leaves only then.
  typedef struct packed {
    logic failed;
    tenant_t tenant;
    logic [5:0] count;
    stored_head_t head;
  } there_t;

  typedef struct packed {
    logic ends;  // last packet of its message
    number_t number;
    logic [13:0] len;
  } packet_there_t;

  page_beats_t got_q;  // beats of the page
  logic goes, is_head, page_ends, packet_arrives, message_arrives;
  logic failed_q, fails;  // a page of the message has failed so far
  logic there_ready, there_valid, packets_ready, packet_there_valid, beat_valid, beat_last, first_beat_q;
  logic leaves, packet_leaves, message_leaves;  // to the lane, or to nowhere
  logic [$clog2(ReadDepth):0] level_q;
  logic [2*DataW-1:0] head_beats_q;
  there_t there;
  packet_there_t packet_there;
  info_t there_info;
  logic [DataW-1:0] beat_data;

  assign is_head = order.first && order.of.number == '0 && 32'(got_q) < HeadBeats;
  assign goes = order_valid && answer_valid[order.channel] && there_ready && packets_ready &&
      32'(level_q) < ReadDepth - 4;
  assign page_ends = got_q + 1'b1 == order.beats;
  assign order_pop = goes && page_ends;
  assign packet_arrives = order_pop && order.last;
  assign message_arrives = order_pop && order.ends;
  assign fails = failed_q || order.failed || answer_failed[order.channel];
  assign assembled = order_pop;
  assign page_give = assembled || (walk_goes && walk_drop_q);
  assign page_give_id = assembled ? order.page : walk_page_q;

  always_comb begin
    answer_pop = '0;
    answer_pop[order.channel] = goes;
  end

  always_ff @(posedge clk) begin
    if (goes) begin
      got_q <= page_ends ? '0 : got_q + 1'b1;
      failed_q <= fails && !message_arrives;
      if (is_head) head_beats_q <= {answers[order.channel], head_beats_q[2*DataW-1:DataW]};
    end
    level_q <= level_q + ($clog2(ReadDepth) + 1)'(goes && !is_head) - ($clog2(ReadDepth) + 1)'(leaves);
    if (leaves) first_beat_q <= beat_last;
    if (rst) begin
      got_q <= '0;
      failed_q <= 1'b0;
      level_q <= '0;
      first_beat_q <= 1'b1;
    end
  end

  fifo_block #(
      .Width(1 + DataW),
      .Depth(ReadDepth)
  ) i_beats (
      .clk,
      .rst,
      .push(goes && !is_head),
      .din({order.last && page_ends, answers[order.channel]}),
      .valid(beat_valid),
      .pop(leaves),
      .dout({beat_last, beat_data})
  );

  fifo_dist #(
      .Width($bits(packet_there_t)),
      .Depth(2 * Packets),
      .Room(2)
  ) i_packets (
      .clk,
      .rst,
      .push(packet_arrives),
      .din({order.ends, order.of.number, order.of.len}),
      .ready(packets_ready),
      .valid(packet_there_valid),
      .pop(packet_leaves),
      .dout(packet_there),
      .level()
  );

  fifo_dist #(
      .Width($bits(there_t)),
      .Depth(32),
      .Room(2)
  ) i_there (
      .clk,
      .rst,
      .push(message_arrives),
      .din({fails, order.of.tenant, order.of.count, head_beats_q[$bits(stored_head_t)-1:0]}),
      .ready(there_ready),
      .valid(there_valid),
      .pop(message_leaves),
      .dout(there),
      .level()
  );

  assign whole_valid = there_valid && !there.failed && packet_there_valid && beat_valid;
  assign leaves = whole_take || (there_valid && there.failed && packet_there_valid && beat_valid);
  assign packet_leaves = leaves && beat_last;
  assign message_leaves = packet_leaves && packet_there.ends;

  always_comb begin
    there_info = '0;
    there_info.parked = 1'b1;
    there_info.port = there.head.port;
    there_info.app = app_t'(App);
    // The lane has one unfinished message of the application at a time: it needs no further key.
    there_info.key.tenant = there.tenant;
    there_info.shape = there.head.shape;
    there_info.mtype = there.head.mtype;
    there_info.count = there.count;
    there_info.number = packet_there.number;
    there_info.segments = there.head.segments;
    there_info.len = 15'(packet_there.len);
    there_info.hash = there.head.hash;
    whole = '{
        first: first_beat_q,
        last: beat_last,
        merged: first_beat_q,
        data: beat_data,
        head: there.head.head,
        info: there_info
    };
  end

  // ---- counters
  logic [4:0] gives_q;  // given back, but not yet to be taken
  always_ff @(posedge clk) begin
    gives_q <= {gives_q[3:0], page_give};
    pages_used <= pages_used + (decide && accept ? parked_t'(need) : '0) - parked_t'(gives_q[4]);
    messages_used <= messages_used + parked_t'(decide && accept && !hit_q) -
        parked_t'((decide && accept && complete) || expires);
    wholes_q <= wholes_q + parked_t'(decide && accept && complete) - parked_t'(message_leaves);
    absorbed <= '0;
    dropped <= '0;
    counted <= '0;
    if (decide) begin
      absorbed[port_q] <= accept;
      dropped[port_q] <= !accept;
      counted.packet <= accept;
      counted.malformed <= malformed;
      counted.duplicate <= !malformed && duplicate;
      counted.oversize <= !malformed && !duplicate && oversize;
      counted.refused <= !malformed && !duplicate && !oversize && refused;
      counted.busy <= !malformed && !duplicate && !oversize && !refused && no_queue;
    end
    counted.expired <= expires;
    counted.failed <= message_leaves && there.failed;
    if (rst) begin
      gives_q <= '0;
      pages_used <= '0;
      messages_used <= '0;
      wholes_q <= '0;
      absorbed <= '0;
      dropped <= '0;
      counted <= '0;
    end
  end

  assign busy = !(state_q inside {Clear, Idle, SweepRead, Sweep, Expire}) || bursts_q != '0 || wholes_q != '0 ||
      absorbed != '0 || dropped != '0 || counted != '0;

`ifndef SYNTHESIS
  always_ff @(posedge clk)
    if (!rst) begin
      assert (!opens || page_valid) else $error("%m: no page for a packet that was accepted");
      assert (!decide || head_beat.first) else $error("%m: a packet does not begin with its first beat");
      assert (state_q != Compare || !hit_q || hits == '0 || set_a_q == set_b_q) else $error("%m: a key has two places");
    end
`endif
endmodule

`default_nettype wire
