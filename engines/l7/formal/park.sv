// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// A message in card memory is whole once, with each of its packets once, and its pages are a chain that nobody changes:
// rtl/l7_park.sv as it is, up to the queues of writes, of whole messages and of expired ones, with two sets of the
// table, eight places and eight pages, and two ports. By induction from a reset on, for the messages of any key, which
// the proof watches.
//
// - A packet is accepted only if it is new to its message and has the message's count. The last page of the packet that
//   makes the message whole is marked as the message's end, with the message's first page, and no other page is.
// - A message that is whole or has expired has left the table; it does one of both, once.
// - Each page that the message takes is free, and is linked behind the message's last one. Links of its pages do not
//   change until they are given back. A message that expires is handed over with its first and last page.
//
// Keys have two bits of each of their numbers, the other bits are 0.
//
// Taken for granted:
// - of the pool (pool.sv): a page that it offers is free, and a free page is offered two cycles after its return;
// - of l7_filter: as for the lane (lane.sv); a packet's information stands until its last beat is taken; its message
//   has two packets or more;
// - of the walk: only pages of messages that have left the table are given back.
module park
  import penstock_pkg::*, l7_pkg::*;
#(
    parameter int unsigned Ports = 2,
    parameter int unsigned SetsLog2 = 1
) (
    input wire logic clk,

    input wire logic [8:0] watched_bits,
    input wire logic [31:0] now,
    input wire logic [31:0] timeout,
    input wire parked_t pages_max,
    input wire parked_t messages_max,
    input wire logic [Ports-1:0] packet_valid,
    input wire packet_t [Ports-1:0] any_packets,
    input wire logic whole_take
);
  localparam int unsigned Sets = 1 << SetsLog2;
  localparam int unsigned PageW = SetsLog2 + 2;
  localparam int unsigned PageCount = 1 << PageW;
  typedef logic [Packets-1:0] set_t;
  typedef logic [PageW-1:0] chain_t;
  typedef logic [PageCount-1:0] pages_t;

  // As in rtl/l7_park.sv
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
    Clear,
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

  function automatic key_t key_of(logic [8:0] bits);
    return '{tenant: tenant_t'(bits[1:0]), v6: bits[2], address: {bits[4], 126'd0, bits[3]}, sport: 16'(bits[6:5]),
             id: 32'(bits[8:7])};
  endfunction
  function automatic logic [8:0] bits_of_key(key_t key);
    return {key.id[1:0], key.sport[1:0], key.address[127], key.address[0], key.v6, key.tenant[1:0]};
  endfunction

  logic started_q = 1'b0;
  logic [8:0] watched_bits_q;
  always_ff @(posedge clk) begin
    started_q <= 1'b1;
    watched_bits_q <= watched_bits;
  end
  wire rst = !started_q;
  always_comb if (started_q) assume (watched_bits == watched_bits_q);
  wire key_t watched = key_of(watched_bits);

  packet_t packet[Ports];
  packet_t [Ports-1:0] packets;
  for (genvar p = 0; p < Ports; p++) begin : gen_packet
    always_comb begin
      packets[p] = any_packets[p];
      packets[p].info.key = key_of(bits_of_key(any_packets[p].info.key));
    end
    assign packet[p] = packets[p];
  end
  axi_if mem[MemoryChannels/Apps] ();

  logic [Ports-1:0] packet_take;
  l7_park #(
      .Ports(Ports),
      .SetsLog2(SetsLog2)
  ) dut (
      .clk,
      .rst,
      .now,
      .timeout,
      .pages_max,
      .messages_max,
      .pages_used(),
      .messages_used(),
      .packet_valid,
      .packet,
      .packet_take,
      .whole_valid(),
      .whole(),
      .whole_take,
      .mem(mem),
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
    wire info_t of = packets[p].info;
    always_comb begin
      if (waited_q[p]) assume (packet_valid[p] && packets[p] == packets_q[p]);
      assume (!packet_valid[p] || packets[p].first == !inside_q[p]);
      if (inside_q[p]) assume (of == packets_q[p].info);
      assume (of.len != '0 && of.len < 15'd1 << 14 && of.count >= 6'd2 && of.count <= 6'(Packets) &&
          6'(of.number) < of.count);
    end
  end

  wire info_t info = packets[dut.port_q].info;
  wire accepts = dut.decide && dut.accept;

  // The packet that is stored has all beats of its payload.
  logic [8:0] beats_q, seen_q;
  always_ff @(posedge clk)
    if (dut.decide) begin
      beats_q <= dut.payload_beats;
      seen_q <= '0;
    end else if (dut.beat) seen_q <= seen_q + 9'(seen_q != '1);
  always_comb begin
    if (dut.take_head) assume (!dut.head_beat.last);
    if (dut.beat && dut.body_beat.last && dut.accept_q) assume (seen_q >= beats_q - 9'd1);
  end

  // ---- pages: those in use, and of those the watched message's
  pages_t used_q, mine_q, done_q;  // `done`: of messages of the key that have left the table
  logic [1:0] given_q;
  chain_t chain_first_q, chain_last_q;
  logic mine_body;  // the packet that is stored is the watched message's
  assign mine_body = dut.accept_q && dut.new_q.key == watched && (dut.state_q inside {Body, Store});
  wire opens = dut.opens && mine_body;
  wire leaves = dut.state_q == Store && mine_body && dut.complete_q;
  wire is_expired = dut.expires && dut.found_q.key == watched;

  always_ff @(posedge clk) begin
    if (dut.opens) used_q[dut.page] <= 1'b1;
    if (dut.page_give) used_q[dut.page_give_id] <= 1'b0;
    if (dut.page_give) done_q[dut.page_give_id] <= 1'b0;
    if (opens) begin
      mine_q[dut.page] <= 1'b1;
      chain_last_q <= dut.page;
      if (mine_q == '0) chain_first_q <= dut.page;
    end
    if (leaves || is_expired) begin
      mine_q <= '0;
      done_q <= done_q | mine_q;
      if (dut.page_give) done_q[dut.page_give_id] <= 1'b0;
    end
    given_q <= {given_q[0], dut.page_give};
    if (rst) {used_q, mine_q, done_q, given_q} <= '0;
  end

  // ---- the watched message
  logic tabled_q;
  logic [SetsLog2-1:0] set_q;
  logic [1:0] way_q;
  set_t got_q;
  logic [5:0] count_q;
  logic [14:0] len_q;
  always_ff @(posedge clk) begin
    if (dut.state_q == Store && mine_body) begin
      tabled_q <= !dut.complete_q;
      set_q <= dut.place_set_q;
      way_q <= dut.place_way_q;
    end
    if (is_expired) tabled_q <= 1'b0;
    if (accepts && info.key == watched) begin
      got_q <= (tabled_q ? got_q : '0) | set_t'(1) << info.number;
      len_q <= (tabled_q ? len_q : '0) + info.len;
      count_q <= info.count;
    end
    if (rst) tabled_q <= 1'b0;
  end
  wire set_t all = (set_t'(1) << count_q) - 1'b1;

  // ---- the table
  entry_t [3:0][Sets-1:0] rows;
  entry_t [3:0] ways;
  logic [3:0][Sets-1:0] holds;
  for (genvar w = 0; w < 4; w++) begin : gen_way
    assign ways[w] = dut.ways[w];
    for (genvar s = 0; s < Sets; s++) begin : gen_set
      assign rows[w][s] = dut.gen_way[w].i_ram.gen_block.mem[s];
      assign holds[w][s] = rows[w][s].valid && rows[w][s].key == watched;
    end
  end
  wire [SetsLog2-1:0] set_a = dut.fold(info.key);
  wire [SetsLog2-1:0] set_b = SetsLog2'(hash_of((8 * MatchBytes)'(info.key)));
  wire [SetsLog2-1:0] my_set_a = dut.fold(watched);
  wire [SetsLog2-1:0] my_set_b = SetsLog2'(hash_of((8 * MatchBytes)'(watched)));
  wire entry_t at_place = rows[dut.place_way_q][dut.place_set_q];

  // ---- what others guarantee
  always_comb begin
    assume (!dut.page_valid || !used_q[dut.page]);
    assume (dut.page_valid || 5'(PageCount) - 5'($countones(used_q)) <= 5'($countones(given_q)));
    if (dut.page_give) begin
      assume (used_q[dut.page_give_id] && !mine_q[dut.page_give_id]);
      for (int unsigned w = 0; w < 4; w++)
        for (int unsigned s = 0; s < Sets; s++)
          assume (!rows[w][s].valid || rows[w][s].last != dut.page_give_id);
      assume (!(dut.state_q inside {Body, Store} && dut.accept_q && dut.begun_q && dut.page_q == dut.page_give_id));
      assume (!(dut.state_q == Expire && dut.found_q.last == dut.page_give_id));
    end
  end

  // ---- what must hold
  wire bodies = dut.state_q inside {Body, Store} && dut.accept_q;
  // As in rtl/l7_park.sv
  typedef struct packed {
    chain_t page;
    page_beats_t beats;
    logic ends;
    chain_t first;
  } desc_t;
  typedef struct packed {
    chain_t first;
    chain_t last;
  } message_t;
  wire link_writes = dut.i_links.we;
  wire chain_t link_from = dut.i_links.waddr;
  wire desc_t desc = dut.i_descs.din;
  wire message_t expired = dut.i_expired.din;
  always_comb
    if (started_q) begin
      if (accepts && info.key == watched) begin
        assert (dut.hit_q == tabled_q);
        if (tabled_q) assert (!got_q[info.number] && info.count == count_q);
        assert (dut.complete == (((tabled_q ? got_q : '0) | set_t'(1) << info.number) ==
            (set_t'(1) << info.count) - 1'b1));
      end
      if (dut.opens) assert (dut.page_valid);
      if (opens) begin
        assert (link_writes == (mine_q != '0));
        assert (!link_writes || link_from == chain_last_q);
      end else if (link_writes) assert (!mine_q[link_from]);
      if (link_writes) assert (!done_q[link_from] && dut.i_links.wdata == dut.page);
      // The message's end is marked on the last page of the packet that makes it whole.
      assert (!dut.i_descs.push || bodies);
      if (dut.i_descs.push && mine_body) begin
        assert (desc.ends == (got_q == all && dut.at_q + 9'd1 == dut.total_q));
        assert (desc.first == (mine_q == '0 ? dut.page : chain_first_q));
        assert (desc.page == (dut.opens ? dut.page : chain_last_q));
      end
      if (leaves) assert (got_q == all && dut.at_q == dut.total_q);
      assert (dut.i_expired.push == dut.expires);
      if (is_expired)
        assert (tabled_q && got_q != all && expired.first == chain_first_q && expired.last == chain_last_q);
    end

  // ---- for the induction
  wire looks = dut.state_q inside {ReadA, ReadB, Compare, Decide};
  wire [8:0] total = dut.total_q;
  wire [8:0] at = dut.at_q;
  wire [4:0] pages_left = 5'((10'(total) + 10'd31) >> 5) - 5'((10'(at) + 10'd31) >> 5);
  always_comb
    if (started_q) begin
      assert (32'(dut.state_q) <= 32'(Sweep));
      // The packet in hand
      if (looks) assert (waited_q[dut.port_q] && packets_q[dut.port_q].first);
      for (int unsigned p = 0; p < Ports; p++)
        assert (!inside_q[p] || (dut.state_q == Body && 32'(dut.port_q) == p));
      if (dut.state_q inside {ReadA, ReadB, Compare, Decide}) begin
        assert (dut.set_a_q == SetsLog2'(dut.fold(packets_q[dut.port_q].info.key)));
        assert (dut.set_b_q == SetsLog2'(hash_of((8 * MatchBytes)'(packets_q[dut.port_q].info.key))));
      end
      if (dut.state_q == ReadA) assert (!dut.hit_q && dut.room_q == '0);
      if (dut.state_q == ReadB) assert (!dut.hit_q && dut.room_q == '0);
      for (int unsigned w = 0; w < 4; w++) begin
        if (dut.state_q == ReadB) assert (ways[w] == rows[w][dut.set_a_q]);
        if (dut.state_q == Compare) assert (ways[w] == rows[w][dut.set_b_q]);
        if (dut.state_q == Sweep) assert (ways[w] == rows[w][dut.sweep_q]);
      end
      if (dut.state_q inside {Compare, Decide}) begin
        if (dut.hit_q || dut.room_q != '0)
          assert (dut.place_set_q == dut.set_a_q || dut.place_set_q == dut.set_b_q);
        if (dut.hit_q) begin
          assert (dut.found_q == at_place && at_place.valid && at_place.key == packets_q[dut.port_q].info.key);
        end else begin
          if (dut.room_q != '0) assert (!at_place.valid);
          for (int unsigned w = 0; w < 4; w++) begin
            if (packets_q[dut.port_q].info.key == watched) begin
              assert (!holds[w][dut.set_a_q]);
              if (dut.state_q == Decide) assert (!holds[w][dut.set_b_q]);
            end
          end
        end
      end
      if (dut.state_q == Expire) assert (dut.found_q == at_place && at_place.valid);

      // The table and the message
      for (int unsigned w = 0; w < 4; w++)
        for (int unsigned s = 0; s < Sets; s++) begin
          assert (holds[w][s] == (tabled_q && SetsLog2'(s) == set_q && 2'(w) == way_q) ||
              (dut.state_q == Clear && SetsLog2'(s) >= dut.clear_q));
          if (dut.state_q != Clear && rows[w][s].valid) begin
            assert (used_q[rows[w][s].last] && !done_q[rows[w][s].last]);
            assert (mine_q[rows[w][s].last] == holds[w][s]);
          end
          if (dut.state_q == Clear && SetsLog2'(s) < dut.clear_q) assert (!rows[w][s].valid);
        end
      if (dut.state_q == Clear) assert (!tabled_q && used_q == '0);
      if (tabled_q || mine_body) assert ((got_q & ~all) == '0);
      if (tabled_q) begin
        assert (set_q == my_set_a || set_q == my_set_b);
        if (!mine_body) begin
          assert (rows[way_q][set_q].received == got_q && rows[way_q][set_q].count == count_q &&
              15'(rows[way_q][set_q].len) == len_q);
          assert (rows[way_q][set_q].first == chain_first_q && rows[way_q][set_q].last == chain_last_q);
          assert (mine_q != '0 && got_q != all && count_q <= 6'(Packets) && count_q >= 6'd2);
        end
      end else if (!mine_body) assert (mine_q == '0);
      assert ((mine_q & ~used_q) == '0 && (done_q & ~used_q) == '0 && (done_q & mine_q) == '0);
      if (mine_q != '0) assert (mine_q[chain_first_q] && mine_q[chain_last_q]);

      // The packet that is stored
      if (bodies) begin
        assert (dut.new_q.valid == !dut.complete_q);
        if (dut.known_q)
          assert (dut.found_q == at_place && at_place.valid && at_place.key == dut.new_q.key);
        else assert (!at_place.valid);
        assert (dut.new_q.key == key_of(bits_of_key(dut.new_q.key)));
        assert (dut.place_set_q == SetsLog2'(dut.fold(dut.new_q.key)) ||
            dut.place_set_q == SetsLog2'(hash_of((8 * MatchBytes)'(dut.new_q.key))));
        assert (at <= total && total != '0 && dut.begun_q == (at != '0));
        if (dut.begun_q) assert (used_q[dut.page_q] && !done_q[dut.page_q] && mine_q[dut.page_q] == mine_body);
        for (int unsigned w = 0; w < 4; w++)
          for (int unsigned s = 0; s < Sets; s++)
            if (dut.begun_q && rows[w][s].valid) assert (rows[w][s].last != dut.page_q);
      end
      if (mine_body) begin
        assert (dut.known_q == tabled_q);
        if (tabled_q) assert (set_q == dut.place_set_q && way_q == dut.place_way_q);
        assert (dut.new_q.received == got_q && dut.new_q.count == count_q && 15'(dut.new_q.len) == len_q);
        assert (dut.complete_q == (got_q == all) && count_q <= 6'(Packets) && count_q >= 6'd2);
        assert ((mine_q != '0) == (dut.known_q || dut.begun_q));
        if (dut.begun_q) assert (dut.page_q == chain_last_q);
        else if (dut.known_q) assert (dut.found_q.last == chain_last_q);
        if (dut.known_q) assert (dut.found_q.first == chain_first_q);
        else if (dut.begun_q) assert (dut.first_q == chain_first_q);
      end
      if (dut.state_q == Store && dut.accept_q) assert (at == total);
      if (dut.state_q == Body) begin
        assert (beats_q <= 9'd256);
        assert (inside_q[dut.port_q] || (seen_q == '0 && waited_q[dut.port_q] && packets_q[dut.port_q].first));
      end
      if (dut.state_q == Body && dut.accept_q)
        assert (total == beats_q + 9'(info.number == '0 ? 2 : 0) &&
            at == (info.number == '0 ? (at < 9'd2 ? at : 9'd2 + (seen_q < beats_q ? seen_q : beats_q)) :
            (seen_q < beats_q ? seen_q : beats_q)) && (at >= 9'd2 || seen_q == '0 || info.number != '0));

      // Pages
      assert (dut.gives_q[1:0] == given_q);
      assert (32'(dut.pages_used) == $countones(used_q) + $countones(dut.gives_q) + (bodies ? 32'(pages_left) : 0));
      assert (32'(dut.pages_used) <= PageCount);
    end
endmodule

`default_nettype wire
