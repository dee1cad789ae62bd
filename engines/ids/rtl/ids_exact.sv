// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// The second stage of the filter for two lanes: looks up the windows that the bitmaps let through, one a cycle and
// lane, and collects the ids of a frame.
//
//   hits ─> queue of beats ─> PICK ─> WINDOW ─> h ─> INDEX ─> READ ─> MATCH ─> queue ─> collect ─> result
//
// Lane 0 reads on one port of the memories, lane 1 on the other; the host writes the bank that is not in use on lane
// 0's port. The stage never holds the filter: when half of the queue is used, PICK abandons the lookups of each beat,
// and their frames are `unchecked`. A frame's lookups are all in the bank with which its beats came.
module ids_exact
  import penstock_pkg::*, ids_pkg::*;
#(
    parameter int unsigned Lanes       = 2,
    parameter int unsigned EntriesLog2 = 11  // of a way
) (
    input wire logic clk,
    input wire logic rst,

    input wire logic                 y_valid[Lanes],
    input wire logic                 y_last [Lanes],
    input wire logic                 y_bank [Lanes],
    input wire logic [BeatBytes-1:0] y_long [Lanes],
    input wire logic [BeatBytes-1:0] y_short[Lanes],
    input wire span_t                y      [Lanes],

    output logic [Lanes-1:0] result_valid,
    output logic [Lanes-1:0] result_bank,
    output result_t          result[Lanes],

    input wire logic                   write,        // an entry, in one cycle
    input wire logic                   write_bank,   // in which no lane searches
    input wire logic [       Ways-1:0] write_way,
    input wire logic [EntriesLog2-1:0] write_index,
    input wire entry_t                 write_entry
);
  localparam int unsigned QueueDepth = 32;
  localparam int unsigned MatchRoom = 10;  // lookups on their way to the queue of matches
  typedef logic [EntriesLog2-1:0] index_t;

  typedef struct packed {
    logic                 last;
    logic                 bank;
    logic [BeatBytes-1:0] longs;
    logic [BeatBytes-1:0] shorts;
    span_t                x;
  } hits_t;

  // A lookup, or the end of a frame, or both
  typedef struct packed {
    logic    valid;
    logic    bank;
    logic    looks;
    lookup_e kind;
    logic    last;
    logic    unchecked;
  } step_t;

  typedef struct packed {
    logic            bank;
    logic            last;
    logic            unchecked;
    logic [Ways-1:0] match;
    id_t [Ways-1:0]  ids;
  } match_t;

  // [bank][way] of both ports
  logic [Lanes-1:0][1:0] lane_reads;
  index_t [Ways-1:0] lane_index[2];
  entry_t [Ways-1:0] read_entry[2][2];

  for (genvar l = 0; l < int'(Lanes); l++) begin : gen_lane
    // ---- queue of beats with hits, and of last beats
    logic queue_push, queue_valid, queue_pop;
    logic [$clog2(QueueDepth):0] level;
    hits_t hits_in, head;
    logic hurry_q;

    assign hits_in = '{last: y_last[l], bank: y_bank[l], longs: y_long[l], shorts: y_short[l], x: y[l]};
    assign queue_push = y_valid[l] && (y_last[l] || y_long[l] != '0 || y_short[l] != '0);

    fifo_dist #(
        .Width($bits(hits_t)),
        .Depth(QueueDepth)
    ) i_queue (
        .clk,
        .rst,
        .push (queue_push),
        .din  (hits_in),
        .ready(),
        .valid(queue_valid),
        .pop  (queue_pop),
        .dout (head),
        .level
    );
    always_ff @(posedge clk) hurry_q <= level >= ($clog2(QueueDepth) + 1)'(QueueDepth / 2);

    // ---- PICK
    logic current_q, last_q, bank_q, lost_q;
    logic [BeatBytes-1:0] left_8_q, left_4_q, left_3_q, any, pick, next_8, next_4, next_3;
    span_t x_q;
    logic room, go, done;
    lookup_e kind;
    step_t [5:1] step_q;
    logic [BeatBytes-1:0] pick_q;
    span_t picked_q;

    always_comb begin
      any = left_8_q | left_4_q | left_3_q;
      pick = any & (~any + 1'b1);
      next_8 = left_8_q;
      next_4 = left_4_q;
      next_3 = left_3_q;
      kind = Lookup3;
      if ((left_8_q & pick) != '0) begin
        kind = Lookup8;
        next_8 = left_8_q & ~pick;
      end else if ((left_4_q & pick) != '0) begin
        kind = Lookup4;
        next_4 = left_4_q & ~pick;
      end else next_3 = left_3_q & ~pick;
      done = (next_8 | next_4 | next_3) == '0 || hurry_q;
    end
    assign go = current_q && room;
    assign queue_pop = queue_valid && (!current_q || (go && done));

    always_ff @(posedge clk) begin
      if (go) begin
        left_8_q <= next_8;
        left_4_q <= next_4;
        left_3_q <= next_3;
        // The frame's other beats are looked up if there is time for them.
        if (hurry_q && any != '0) lost_q <= 1'b1;
        if (done && last_q) lost_q <= 1'b0;
      end
      if (queue_pop) begin
        left_8_q <= head.longs;
        left_4_q <= head.shorts;
        left_3_q <= head.shorts;
        x_q      <= head.x;
        last_q   <= head.last;
        bank_q   <= head.bank;
      end
      current_q <= queue_pop || (current_q && !(go && done));
      step_q[1] <= '{
          valid: go,
          bank: bank_q,
          looks: any != '0 && !hurry_q,
          kind: kind,
          last: last_q && done,
          unchecked: lost_q || (hurry_q && any != '0)
      };
      pick_q   <= pick;
      picked_q <= x_q;
      step_q[5:2] <= step_q[4:1];
      if (rst) begin
        current_q <= 1'b0;
        lost_q    <= 1'b0;
        for (int unsigned n = 1; n <= 5; n++) step_q[n].valid <= 1'b0;
      end
    end

    // ---- WINDOW, h, INDEX
    logic [31:0] a, b, a_q, b_q;
    logic [31:0] g_q, g2;
    logic [3:1][63:0] window_q;  // beside h, INDEX and READ
    index_t [Ways-1:0] index_d;

    always_comb begin
      a = '0;
      b = '0;
      for (int unsigned n = 0; n < BeatBytes; n++)
        if (pick_q[n]) begin
          a |= picked_q[n+:4];
          b |= picked_q[n+4+:4];
        end
    end
    assign g2 = crc(g_q);
    always_comb begin
      index_d[0] = index_t'(g_q);
      index_d[1] = g_q[31-:EntriesLog2];
      index_d[2] = index_t'(g2);
      index_d[3] = g2[31-:EntriesLog2];
    end
    always_ff @(posedge clk) begin
      if (step_q[1].valid) begin
        a_q <= a;
        b_q <= b;
      end
      if (step_q[2].valid) begin
        g_q <= crc((step_q[2].kind == Lookup3 ? b_q & 32'hFFFF_FF00 : b_q) ^ (step_q[2].kind == Lookup8 ? crc(a_q) : 32'b0));
        window_q[1] <= {b_q, a_q};
      end
      lane_index[l] <= index_d;
      window_q[3:2] <= window_q[2:1];
    end
    for (genvar k = 0; k < 2; k++) begin : gen_reads
      assign lane_reads[l][k] = step_q[4].valid && step_q[4].bank == 1'(k);
    end

    // ---- MATCH
    match_t match_d, match_q;
    logic match_push_q;
    always_comb begin
      match_d.bank = step_q[5].bank;
      match_d.last = step_q[5].last;
      match_d.unchecked = step_q[5].unchecked;
      for (int unsigned w = 0; w < Ways; w++) begin
        entry_t entry;
        logic [63:0] seen;
        logic fits;
        entry = read_entry[step_q[5].bank][l][w];
        seen = '0;
        for (int unsigned n = 0; n < 8; n++) if (4'(7 - n) < entry.length) seen[8*n+:8] = window_q[3][8*n+:8];
        fits = step_q[5].kind == Lookup8 ? entry.length == 4'd8 :
               step_q[5].kind == Lookup3 ? entry.length == 4'd3 : entry.length >= 4'd4 && entry.length <= 4'd7;
        match_d.match[w] = step_q[5].looks && fits && seen == {entry.b, entry.a};
        match_d.ids[w] = entry.id;
      end
    end
    always_ff @(posedge clk) begin
      match_q <= match_d;
      match_push_q <= step_q[5].valid && (match_d.match != '0 || step_q[5].last);
      if (rst) match_push_q <= 1'b0;
    end

    // ---- collect: an id a cycle
    match_t found;
    logic found_valid, found_pop, known;
    logic [Ways-1:0] pending, one, seen_q;
    id_t id;
    result_t sum_q, sum_d;

    fifo_dist #(
        .Width($bits(match_t)),
        .Room (MatchRoom)
    ) i_matches (
        .clk,
        .rst,
        .push (match_push_q),
        .din  (match_q),
        .ready(room),
        .valid(found_valid),
        .pop  (found_pop),
        .dout (found),
        .level()
    );

    always_comb begin
      pending = found.match & ~seen_q;
      one = pending & (~pending + 1'b1);
      // When time is short the first id of a lookup must do, so that both queues drain a word a cycle.
      found_pop = (pending & ~one) == '0 || hurry_q;
      id = '0;
      for (int unsigned w = 0; w < Ways; w++) if (one[w]) id |= found.ids[w];
      known = 1'b0;
      for (int unsigned n = 0; n < Ids; n++) if (3'(n) < sum_q.count && sum_q.ids[n] == id) known = 1'b1;
      sum_d = sum_q;
      sum_d.unchecked = sum_q.unchecked || found.unchecked || (hurry_q && (pending & ~one) != '0);
      if (one != '0 && !known) begin
        if (sum_q.count == 3'(Ids)) sum_d.more = 1'b1;
        else begin
          sum_d.ids[sum_q.count] = id;
          sum_d.count = sum_q.count + 1'b1;
        end
      end
    end

    always_ff @(posedge clk) begin
      result_valid[l] <= found_valid && found_pop && found.last && !rst;
      result_bank[l] <= found.bank;
      result[l] <= sum_d;
      if (found_valid) begin
        seen_q <= found_pop ? '0 : seen_q | one;
        sum_q  <= found_pop && found.last ? '0 : sum_d;
      end
      if (rst) begin
        seen_q <= '0;
        sum_q  <= '0;
      end
    end
  end

  // ---- the table
  if (Lanes == 1) begin : gen_one
    assign lane_index[1] = '0;
  end
  for (genvar k = 0; k < 2; k++) begin : gen_bank
    for (genvar w = 0; w < int'(Ways); w++) begin : gen_way
      logic we, re_1;
      assign we = write && write_bank == 1'(k) && write_way[w];
      if (Lanes > 1) begin : gen_two
        assign re_1 = lane_reads[1][k];
      end else begin : gen_none
        assign re_1 = 1'b0;
      end
      ids_bitmap #(
          .Width($bits(entry_t)),
          .Depth(1 << EntriesLog2)
      ) i_entries (
          .clk,
          .we,
          .wdata(write_entry),
          .re_0(lane_reads[0][k]),
          .addr_0(we ? write_index : lane_index[0][w]),
          .rdata_0(read_entry[k][0][w]),
          .re_1,
          .addr_1(lane_index[1][w]),
          .rdata_1(read_entry[k][1][w])
      );
    end
  end
endmodule

`default_nettype wire
