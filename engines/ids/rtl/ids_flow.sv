// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// The flow table, shared by all ports: 2^SetsLog2 sets of four lines on the chip (engines/ids/machine.md, section 3), and
// behind them 2^BucketsLog2 buckets of 16 lines in card memory, if BucketsLog2 is not 0.
//
//   lookups, marks ─> ISSUE ─> READ ─> COMPARE ─> CHOOSE ──────────────────────────┬─> ids_answers ─> ports
//                     locks     lines,  keys       hit: answer                     │   order of each port
//                     the set   tags              │                                │
//                                                 └─> PLACE ─> SEND ─┬─> channels ─┤   1 a cycle
//                                                     new line,      └─> new ──────┴─> FILL ─> COMPARE ─> WRITE
//                                                     or old one         lines
//   updates ────────────────────────────────────────────────────────────────────────────────────────────> WRITE
//                                                                                                  unlocks the set
//
// A lookup a cycle; a hit takes 4 cycles, a new line 11, a line from card memory 12 and the memory's 45 or more. A lookup
// that misses reads 128 bytes of card memory and writes 128 bytes for the line it replaces: two random accesses. With a
// million flows in turn nearly all lookups miss: 100 million a second are 200 million accesses, half of what eight
// channels of 50 million have, and keep some 30 lookups under way. The frames wait in the store of their port and
// behind the filter. Each port has up to InFlight lookups under way, as has each channel.
//
// A set is locked from its lookup until the update that follows each lookup. A lookup or mark of a locked set waits,
// and its port's later lookups wait behind it. All lines of a bucket belong into the same set, so the lock also keeps
// the bucket's row of the directory and its lines in memory. The owner of a lock never waits for an output: its place
// behind the filter is reserved, as are its places in the queues of a channel.
//
// A new flow takes an invalid line of its bucket, or the line of a flow with its tag, or else one that is not on the
// chip, in turn. So no two lines of a bucket have the same tag, and a line is in one place on the chip at most.
module ids_flow
  import penstock_pkg::*, ids_pkg::*;
#(
    parameter int unsigned Ports       = 2,
    parameter int unsigned SetsLog2    = 8,
    parameter int unsigned BucketsLog2 = 0   // 0: no lines in card memory
) (
    input wire logic        clk,
    input wire logic        rst,
    input wire logic [15:0] now,  // 2^28 ns
    input wire logic [15:0] age,

    // When no lookup is under way, all lines become invalid, a set and a bucket a cycle. Lookups wait for `ready`.
    input  wire logic clear,
    output logic      ready,

    input  wire logic      [Ports-1:0] lookup_valid,
    output logic           [Ports-1:0] lookup_ready,
    input  wire request_t              lookup[Ports],

    output logic      [Ports-1:0] answer_valid,
    input  wire logic [Ports-1:0] answer_pop,
    output answer_t               answer[Ports],

    input  wire logic    [Ports-1:0] update_valid,
    output logic         [Ports-1:0] update_ready,
    input  wire update_t             update[Ports],

    // of the ports, followed by the host's
    input  wire logic  [Ports:0] mark_valid,
    output logic       [Ports:0] mark_ready,
    input  wire mark_t           mark[Ports+1],

    axi_if.mgr mem[MemoryChannels],

    output logic taken,    // a line was given to a flow
    output logic evicted,  // that another flow had
    output logic fetched,  // a line was read from card memory
    output logic [4:0] failed  // reads and writes of lines that card memory answered with an error
);
  localparam bit Large = BucketsLog2 != 0;
  localparam int unsigned Sets = 1 << SetsLog2;
  localparam int unsigned Readers = 2 * Ports + 1;  // lookups, then marks
  localparam int unsigned BucketLog2 = Large ? BucketsLog2 : SetsLog2;
  localparam int unsigned ChannelW = $clog2(MemoryChannels);
  localparam int unsigned LineW = BucketLog2 - ChannelW + 4;
  localparam int unsigned WayW = Large ? 4 : 2;  // of a line's number; above it is the bucket, or the set
  typedef logic [SetsLog2-1:0] set_t;
  typedef logic [BucketLog2-1:0] bucket_t;
  typedef logic [ChannelW-1:0] channel_t;

  typedef struct packed {
    logic      valid;
    line_t     line;
    flow_key_t key;
  } head_t;

  if (Large && (BucketsLog2 > BucketW || SetsLog2 > BucketsLog2 || SetsLog2 < ChannelW)) begin : gen_shape
    $error("ids_flow: up to 2^17 buckets, not fewer than sets, and a set for each channel");
  end

  function automatic channel_t channel_of(line_t line);
    return channel_t'(line.number >> WayW);
  endfunction

  function automatic logic [LineW-1:0] at_of(line_t line);
    return LineW'({line.number >> (WayW + ChannelW), line.number[3:0]});
  endfunction

  // ---- ISSUE
  logic [Sets-1:0] locked_q;
  logic [BucketLog2:0] init_q;  // sets and buckets that have been emptied after a reset
  logic [SetsLog2:0] locks_q;
  logic ready_q, waits_q, empties, mark_busy_q, room, fill_waits_q;
  set_t sets[Readers];
  logic [Readers-1:0] eligible, grant;

  assign ready = ready_q;
  assign empties = !ready_q && !waits_q;

  always_comb begin
    for (int unsigned p = 0; p < Ports; p++) begin
      sets[p] = set_t'(lookup[p].hash);
      eligible[p] = lookup_valid[p] && ready_q && room && !fill_waits_q && !locked_q[sets[p]];
    end
    for (int unsigned m = 0; m <= Ports; m++) begin
      sets[Ports+m] = set_t'(mark[m].line.number >> WayW);
      eligible[Ports+m] =
          mark_valid[m] && ready_q && room && !fill_waits_q && !mark_busy_q && !locked_q[sets[Ports+m]];
    end
  end

  rr_arbiter #(
      .N(Readers)
  ) i_readers (
      .clk,
      .rst,
      .req(eligible),
      .accept(eligible != '0),
      .grant
  );

  typedef struct packed {
    logic             valid;
    logic             is_mark;
    logic [Ports-1:0] port;
    logic [4:0]       number;  // of the port's lookups
    logic             direction;
    set_t             set;
    bucket_t          bucket;
    logic [TagW-1:0]  tag;
    flow_key_t        key;
    line_t            line;    // of a mark
  } op_t;

  op_t issue, read_q, compare_q, choose_q;
  logic [4:0] number_q[Ports];
  mark_t mark_q;  // the one that is under way

  always_comb begin
    issue = '0;
    issue.valid = grant != '0;
    for (int unsigned p = 0; p < Ports; p++)
      if (grant[p]) begin
        issue.port[p] = 1'b1;
        issue.number = number_q[p];
        issue.direction = lookup[p].direction;
        issue.set = sets[p];
        issue.bucket = bucket_t'(lookup[p].hash);
        issue.tag = lookup[p].hash[31-:TagW];
        issue.key = lookup[p].key;
      end
    for (int unsigned m = 0; m <= Ports; m++)
      if (grant[Ports+m]) begin
        issue.is_mark = 1'b1;
        issue.direction = mark[m].direction;
        issue.set = sets[Ports+m];
        issue.bucket = bucket_t'(mark[m].line.number >> WayW);
        issue.line = mark[m].line;
      end
    lookup_ready = grant[Ports-1:0];
    mark_ready = grant[Readers-1:Ports];
  end

  always_ff @(posedge clk) begin
    for (int unsigned p = 0; p < Ports; p++) begin
      if (grant[p]) number_q[p] <= number_q[p] + 1'b1;
      if (rst) number_q[p] <= '0;
    end
    for (int unsigned m = 0; m <= Ports; m++) if (grant[Ports+m]) mark_q <= mark[m];
  end

  // ---- memories: of a line the key, the last use and each direction
  logic [Ways-1:0] head_we, used_we;
  logic [Ways-1:0][1:0] state_we;
  set_t write_set;
  head_t head_new;
  logic [15:0] used_new;
  direction_t [1:0] state_new;
  head_t [Ways-1:0] heads;
  logic [Ways-1:0][15:0] used;
  direction_t [Ways-1:0][1:0] states;

  for (genvar w = 0; w < int'(Ways); w++) begin : gen_way
    ram_sdp #(
        .Width($bits(head_t)),
        .Depth(Sets)
    ) i_heads (
        .clk,
        .we(head_we[w]),
        .waddr(write_set),
        .wdata(head_new),
        .re(1'b1),
        .raddr(issue.set),
        .rdata(heads[w])
    );
    ram_sdp #(
        .Width(16),
        .Depth(Sets)
    ) i_used (
        .clk,
        .we(used_we[w]),
        .waddr(write_set),
        .wdata(used_new),
        .re(1'b1),
        .raddr(issue.set),
        .rdata(used[w])
    );
    for (genvar d = 0; d < 2; d++) begin : gen_direction
      ram_sdp #(
          .Width($bits(direction_t)),
          .Depth(Sets)
      ) i_states (
          .clk,
          .we(state_we[w][d]),
          .waddr(write_set),
          .wdata(state_new[d]),
          .re(1'b1),
          .raddr(issue.set),
          .rdata(states[w][d])
      );
    end
  end

  // ---- READ, COMPARE
  logic [Ways-1:0] hit_q;
  logic [Ways-1:0][15:0] since_q;  // how long the line was not used
  whole_t [Ways-1:0] lines_q;
  home_t [Homes-1:0] row;  // of the directory; beside compare_q

  always_ff @(posedge clk) begin
    read_q <= issue;
    compare_q <= read_q;
    for (int unsigned w = 0; w < Ways; w++) begin
      hit_q[w]   <= heads[w].valid && (read_q.is_mark ? read_q.line == heads[w].line : read_q.key == heads[w].key);
      since_q[w] <= now - used[w];
      lines_q[w] <= '{
          valid: heads[w].valid,
          line: heads[w].line,
          key: heads[w].key,
          used: used[w],
          states: states[w]
      };
    end
    if (rst) begin
      read_q.valid    <= 1'b0;
      compare_q.valid <= 1'b0;
    end
  end

  // ---- CHOOSE
  logic [1:0] way, turn_q;
  logic hit, hits;
  answer_t hit_answer;

  always_comb begin
    hit = hit_q != '0;
    // An invalid line, else the one that was unused for longest. Of lines that have a copy in memory, that are as old,
    // one in turn.
    way = Large ? turn_q : '0;
    for (int unsigned w = 0; w < Ways; w++)
      if (lines_q[way].valid && (!lines_q[w].valid || since_q[w] > since_q[way])) way = 2'(w);
    for (int unsigned w = 0; w < Ways; w++) if (hit_q[w]) way = 2'(w);
    hits = compare_q.valid && !compare_q.is_mark && hit;
    hit_answer.line = lines_q[way].line;
    hit_answer.place = '{set: 14'(compare_q.set), way: way};
    hit_answer.aged = since_q[way] >= age;
    hit_answer.state = lines_q[way].states[compare_q.direction];
  end

  logic [1:0] way_q;
  whole_t victim_q;
  logic [Ways-1:0] there_q;
  line_t [Ways-1:0] there_line_q;
  logic [Homes-1:0] tag_q, valid_q;
  logic [Homes-1:0][4:0] gen_q;

  always_ff @(posedge clk) begin
    choose_q <= compare_q;
    choose_q.valid <= compare_q.valid && !hit && !rst;
    turn_q <= rst ? '0 : turn_q + 1'b1;
    way_q <= way;
    victim_q <= lines_q[way];
    for (int unsigned w = 0; w < Ways; w++) begin
      there_q[w] <= lines_q[w].valid;
      there_line_q[w] <= lines_q[w].line;
    end
    for (int unsigned n = 0; n < Homes; n++) begin
      valid_q[n] <= row[n].valid;
      gen_q[n] <= row[n].gen;
      tag_q[n] <= row[n].valid && (compare_q.is_mark
          ? compare_q.line.number[3:0] == 4'(n) && compare_q.line.gen == row[n].gen : row[n].tag == compare_q.tag);
    end
  end

  // ---- PLACE: the line's number, and whether memory has it. SEND
  fetch_t place_d, send_q;
  whole_t leaving_q;
  logic place_reads, place_new, place_leaves, place_evicts, send_reads_q, send_new_q, send_leaves_q;
  logic [Homes-1:0] on_chip, homes_we, homes_grant, choice;
  bucket_t home_at;
  home_t home_new;

  if (Large) begin : gen_choice
    rr_arbiter #(
        .N(Homes)
    ) i_choice (
        .clk,
        .rst,
        .req(~on_chip),
        .accept(place_new && choice == homes_grant),
        .grant(homes_grant)
    );
  end else begin : gen_none
    assign homes_grant = '0;
  end

  always_comb begin
    logic [3:0] home;
    logic twin;
    place_d = '0;
    place_d.is_mark = choose_q.is_mark;
    place_d.number = choose_q.number;
    place_d.direction = choose_q.direction;
    place_d.place = '{set: 14'(choose_q.set), way: way_q};
    place_d.tag = choose_q.tag;
    place_d.key = choose_q.key;
    for (int unsigned p = 0; p < Ports; p++) if (choose_q.port[p]) place_d.port = 2'(p);

    on_chip = '0;
    for (int unsigned w = 0; w < Ways; w++)
      if (there_q[w] && bucket_t'(there_line_q[w].number >> WayW) == choose_q.bucket)
        on_chip[there_line_q[w].number[3:0]] = 1'b1;
    // The line with this tag; else an invalid one; else one that is not on the chip
    choice = tag_q;
    if (choice == '0) choice = ~valid_q & (valid_q + 1'b1);
    if (choice == '0) choice = homes_grant;
    home = '0;
    for (int unsigned n = 0; n < Homes; n++) if (choice[n]) home = 4'(n);

    // On the chip the line with this tag belongs to another flow, or the lookup had found it.
    twin = 1'b0;
    for (int unsigned w = 0; w < Ways; w++)
      if (Large && tag_q != '0 && there_q[w] && there_line_q[w].number == 21'({choose_q.bucket, home})) begin
        twin = 1'b1;
        place_d.place.way = 2'(w);
      end
    place_reads = Large && choose_q.valid && tag_q != '0 && !twin;
    place_d.is_none = choose_q.is_mark && !place_reads;
    place_new = choose_q.valid && !choose_q.is_mark && !place_reads;
    place_leaves = Large && choose_q.valid && !place_d.is_none && !twin && victim_q.valid;
    place_evicts = place_new && (Large ? (choice & valid_q) != '0 : victim_q.valid);
    if (Large) place_d.line = '{number: 21'({choose_q.bucket, home}), gen: gen_q[home] + 5'(place_new)};
    else place_d.line = '{number: 21'({choose_q.set, way_q}), gen: victim_q.line.gen + 1'b1};
  end

  always_ff @(posedge clk) begin
    send_q <= place_d;
    leaving_q <= victim_q;
    send_reads_q <= place_reads && !rst;
    send_new_q <= choose_q.valid && !place_reads && !rst;
    send_leaves_q <= place_leaves && !rst;
    fetched <= place_reads && !rst;
  end

  // ---- answers: lines of the channels, and lookups that get a new line
  logic [MemoryChannels:0] back, back_grant;
  logic [MemoryChannels:0] rooms;
  logic [MemoryChannels-1:0] idles;
  logic [MemoryChannels-1:0][1:0] fails;
  fetch_t back_fetch[MemoryChannels+1];
  whole_t back_line[MemoryChannels+1];
  logic back_moves;

  if (Large) begin : gen_memory
    ids_directory #(
        .BucketsLog2(BucketsLog2)
    ) i_directory (
        .clk,
        .raddr(issue.bucket),
        .row,
        .we(homes_we),
        .waddr(home_at),
        .wdata(home_new)
    );
    for (genvar c = 0; c < int'(MemoryChannels); c++) begin : gen_channel
      wire here = channel_of(send_q.line) == channel_t'(c);
      ids_channel #(
          .LineW(LineW)
      ) i_channel (
          .clk,
          .rst,
          .clear(empties),
          .room(rooms[c]),
          .idle(idles[c]),
          .failed(fails[c]),
          .read(send_reads_q && here),
          .read_at(at_of(send_q.line)),
          .read_in(send_q),
          .write(send_leaves_q && here),
          .write_at(at_of(leaving_q.line)),
          .write_in(leaving_q),
          .valid(back[c]),
          .pop(back_moves && back_grant[c]),
          .fetch(back_fetch[c]),
          .line(back_line[c]),
          .mem(mem[c])
      );
    end
  end else begin : gen_no_memory
    assign row = '0;
    for (genvar c = 0; c < int'(MemoryChannels); c++) begin : gen_channel
      assign rooms[c] = 1'b1;
      assign idles[c] = 1'b1;
      assign fails[c] = '0;
      assign back[c] = 1'b0;
      assign back_fetch[c] = '0;
      assign back_line[c] = '0;
      axi_idle i_idle (.link(mem[c]));
    end
  end

  fifo_dist #(
      .Width($bits(fetch_t)),
      .Depth(InFlight),
      .Room(8)
  ) i_new (
      .clk,
      .rst,
      .push (send_new_q),
      .din  (send_q),
      .ready(rooms[MemoryChannels]),
      .valid(back[MemoryChannels]),
      .pop  (back_moves && back_grant[MemoryChannels]),
      .dout (back_fetch[MemoryChannels]),
      .level()
  );
  assign back_line[MemoryChannels] = '0;

  always_ff @(posedge clk) begin
    room   <= rooms == '1 && !rst;
    failed <= rst ? '0 : 5'($countones(fails));
  end

  // ---- FILL, COMPARE: whether it is the flow's line
  logic fill_q, same_q, filling_q, fill_goes;
  fetch_t fill_fetch_q, filling_fetch_q;
  whole_t fill_line_q, filling_line_q;

  rr_arbiter #(
      .N(MemoryChannels + 1)
  ) i_back (
      .clk,
      .rst,
      .req(back),
      .accept(back_moves && back != '0),
      .grant(back_grant)
  );

  wire filling_moves = !filling_q || fill_goes;
  assign back_moves = !fill_q || filling_moves;

  always_ff @(posedge clk) begin
    if (back_moves) begin
      fill_q <= back != '0;
      for (int unsigned c = 0; c <= MemoryChannels; c++)
        if (back_grant[c]) begin
          fill_fetch_q <= back_fetch[c];
          fill_line_q  <= back_line[c];
        end
    end
    if (filling_moves) begin
      filling_q <= fill_q;
      filling_fetch_q <= fill_fetch_q;
      filling_line_q <= fill_line_q;
      same_q <= fill_line_q.valid && fill_line_q.line == fill_fetch_q.line &&
          (fill_fetch_q.is_mark || fill_line_q.key == fill_fetch_q.key);
    end
    // Hits, which come before it, stop if no lookup is taken for some cycles.
    fill_waits_q <= filling_q && hits && !rst;
    if (rst) begin
      fill_q <= 1'b0;
      filling_q <= 1'b0;
    end
  end

  // The line of another flow with the same tag becomes this flow's, and its generation counts.
  logic fill_asks, fill_twin, fill_from_memory_q, filling_from_memory_q;
  whole_t filled;
  answer_t fill_answer;
  assign fill_twin = Large && !filling_fetch_q.is_mark && !same_q && filling_from_memory_q;

  always_ff @(posedge clk) begin
    if (back_moves) fill_from_memory_q <= !back_grant[MemoryChannels];
    if (filling_moves) filling_from_memory_q <= fill_from_memory_q;
  end

  always_comb begin
    filled = filling_line_q;
    if (!same_q) begin
      filled = '0;
      filled.valid = 1'b1;
      filled.line = '{number: filling_fetch_q.line.number, gen: filling_fetch_q.line.gen + 5'(fill_twin)};
      filled.key = filling_fetch_q.key;
      filled.used = now;
    end
    fill_answer.line = filled.line;
    fill_answer.place = filling_fetch_q.place;
    fill_answer.aged = 16'(now - filled.used) >= age && same_q;
    fill_answer.state = filled.states[filling_fetch_q.direction];
    // Hits own the answer port in this cycle; a new flow owns the directory's write port.
    fill_asks = filling_q && !hits && !(fill_twin && place_new);
  end

  // ---- answers
  answer_t answer_q;
  logic [Ports-1:0] answers_q;
  logic [4:0] answers_number_q;

  always_ff @(posedge clk) begin
    answers_q <= '0;
    if (hits) answers_q <= compare_q.port;
    if (fill_goes && !filling_fetch_q.is_mark) answers_q <= Ports'(1) << filling_fetch_q.port;
    answer_q <= hits ? hit_answer : fill_answer;
    answers_number_q <= hits ? compare_q.number : filling_fetch_q.number;
    if (rst) answers_q <= '0;
  end

  for (genvar p = 0; p < int'(Ports); p++) begin : gen_answers
    ids_answers i_answers (
        .clk,
        .rst,
        .write(answers_q[p]),
        .number(answers_number_q),
        .din(answer_q),
        .valid(answer_valid[p]),
        .pop(answer_pop[p]),
        .dout(answer[p])
    );
  end

  // ---- marks become updates, one at a time
  logic found_q, marked_q, marked_hit_q, is_last;
  update_t marked_update_q;
  logic [Ports+1:0] write_req, write_grant;

  // A release from before the direction's last record is none: the host has not looked at that frame.
  assign is_last = marked_update_q.state.logged && marked_update_q.state.chain_port == mark_q.port &&
      marked_update_q.state.chain == mark_q.place;
  assign write_req = {fill_asks, marked_q, update_valid};
  assign update_ready = write_grant[Ports-1:0];
  assign fill_goes = write_grant[Ports+1];

  always_ff @(posedge clk) begin
    if (write_grant[Ports]) marked_q <= 1'b0;
    if (write_grant[Ports]) mark_busy_q <= 1'b0;
    if (issue.valid && issue.is_mark) mark_busy_q <= 1'b1;
    found_q <= 1'b0;
    if (compare_q.valid && compare_q.is_mark && hit) begin
      found_q <= 1'b1;
      marked_hit_q <= 1'b1;
      marked_update_q <= '{place: hit_answer.place, direction: compare_q.direction, state: hit_answer.state};
    end
    if (fill_goes && filling_fetch_q.is_mark) begin
      found_q <= 1'b1;
      marked_hit_q <= same_q;
      marked_update_q <=
          '{place: filling_fetch_q.place, direction: filling_fetch_q.direction, state: fill_answer.state};
    end
    if (found_q) begin
      marked_q <= 1'b1;
      marked_update_q.state.followed <= mark_q.follow || (marked_update_q.state.followed && !is_last);
    end
    if (rst) begin
      found_q  <= 1'b0;
      marked_q <= 1'b0;
      mark_busy_q <= 1'b0;
    end
  end

  // ---- WRITE
  rr_arbiter #(
      .N(Ports + 2)
  ) i_writers (
      .clk,
      .rst,
      .req(write_req),
      .accept(write_req != '0),
      .grant(write_grant)
  );

  spot_t written;
  logic unlocks, fills;

  always_comb begin
    update_t writes;
    writes = marked_update_q;
    for (int unsigned p = 0; p < Ports; p++) if (write_grant[p]) writes = update[p];
    unlocks = write_grant[Ports:0] != '0;
    // A mark writes the line it fetched, unless another flow owns that line now.
    fills = fill_goes && (!filling_fetch_q.is_mark || same_q);
    written = fill_goes ? filling_fetch_q.place : writes.place;
    write_set = set_t'(written.set);
    head_we = '0;
    used_we = '0;
    state_we = '0;
    head_new = '{valid: 1'b1, line: filled.line, key: filled.key};
    used_new = fill_goes ? filled.used : now;
    for (int unsigned d = 0; d < 2; d++) begin
      state_new[d] = fill_goes ? filled.states[d] : writes.state;
      state_we[written.way][d] =
          fills || (unlocks && writes.direction == 1'(d) && (!write_grant[Ports] || marked_hit_q));
    end
    head_we[written.way] = fills;
    used_we[written.way] = fills || write_grant[Ports-1:0] != '0;

    homes_we = place_new ? choice : '0;
    home_at = choose_q.bucket;
    home_new = '{valid: 1'b1, tag: choose_q.tag, gen: place_d.line.gen};
    if (fill_goes && fill_twin) begin
      homes_we = Homes'(1) << filled.line.number[3:0];
      home_at = bucket_t'(filled.line.number >> WayW);
      home_new = '{valid: 1'b1, tag: filling_fetch_q.tag, gen: filled.line.gen};
    end

    if (empties) begin
      head_we = '1;
      write_set = set_t'(init_q);
      head_new = '0;
      homes_we = '1;
      home_at = bucket_t'(init_q);
      home_new = '0;
    end
  end

  always_ff @(posedge clk) begin
    if (unlocks) locked_q[set_t'(written.set)] <= 1'b0;
    if (issue.valid) locked_q[issue.set] <= 1'b1;
    locks_q <= locks_q + (SetsLog2 + 1)'(issue.valid) - (SetsLog2 + 1)'(unlocks);
    taken <= place_new || (fill_goes && fill_twin);
    evicted <= place_evicts || (fill_goes && fill_twin);
    if (locks_q == '0 && idles == '1) waits_q <= 1'b0;
    if (empties) init_q <= init_q + 1'b1;
    ready_q <= init_q[BucketLog2] || (BucketLog2 + 1)'(init_q + 1'b1) == {1'b1, BucketLog2'(0)};
    if (clear || rst) begin
      init_q  <= '0;
      waits_q <= 1'b1;
      ready_q <= 1'b0;
    end
    if (rst) begin
      locked_q <= '0;
      locks_q <= '0;
      taken <= 1'b0;
      evicted <= 1'b0;
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk)
    if (!rst) begin
      assert (!unlocks || locked_q[set_t'(written.set)]) else $error("%m: update of a set that is not locked");
      assert (!fill_goes || locked_q[set_t'(written.set)]) else $error("%m: a line for a set that is not locked");
      assert (!empties || locks_q == '0) else $error("%m: lines are cleared while a lookup is under way");
      assert ($onehot0(hit_q)) else $error("%m: a flow has two lines");
      assert (!choose_q.valid || $onehot0(tag_q)) else $error("%m: two lines of a bucket have the same tag");
      assert (!place_new || !Large || $onehot(choice)) else $error("%m: a new flow without a line");
      assert (!(place_new && fill_goes && fill_twin)) else $error("%m: two writes of the directory");
      assert (!send_leaves_q || !send_reads_q || channel_of(leaving_q.line) == channel_of(send_q.line))
        else $error("%m: a line leaves to another channel");
    end
`endif
endmodule

`default_nettype wire
