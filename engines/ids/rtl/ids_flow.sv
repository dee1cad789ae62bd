// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// The flow table, shared by all ports: 2^SetsLog2 sets of four lines (engines/ids/machine.md, section 3).
//
//   lookups, marks ─> ISSUE ─> READ ─> COMPARE ─> CHOOSE ─> answer        1 a cycle, 4 cycles
//                     locks the set               allocates
//   updates ────────> WRITE: unlocks the set                              1 a cycle
//
// A set is locked from its lookup until the update that follows each lookup. A lookup or mark of a locked set waits,
// and its port's later lookups wait behind it. The owner of a lock never waits for an output: its place behind the
// filter is reserved.
module ids_flow
  import penstock_pkg::*, ids_pkg::*;
#(
    parameter int unsigned Ports    = 2,
    parameter int unsigned SetsLog2 = 8
) (
    input wire logic        clk,
    input wire logic        rst,
    input wire logic [15:0] now,  // 2^28 ns
    input wire logic [15:0] age,

    input  wire logic clear,  // all lines become invalid, a set a cycle; no frame is searched meanwhile
    output logic      ready,

    input  wire logic      [Ports-1:0] lookup_valid,
    output logic           [Ports-1:0] lookup_ready,
    input  wire request_t              lookup[Ports],

    output logic    [Ports-1:0] answer_valid,
    output answer_t             answer,

    input  wire logic    [Ports-1:0] update_valid,
    output logic         [Ports-1:0] update_ready,
    input  wire update_t             update[Ports],

    // of the ports, followed by the host's
    input  wire logic  [Ports:0] mark_valid,
    output logic       [Ports:0] mark_ready,
    input  wire mark_t           mark[Ports+1],

    output logic taken,    // a line was given to a flow
    output logic evicted   // that another flow had
);
  localparam int unsigned Sets = 1 << SetsLog2;
  localparam int unsigned Readers = 2 * Ports + 1;  // lookups, then marks
  typedef logic [SetsLog2-1:0] set_t;

  typedef struct packed {
    logic       valid;
    logic [4:0] gen;
    flow_key_t  key;
  } head_t;

  assign ready = ready_q;

  // ---- ISSUE
  logic [Sets-1:0] locked_q;
  logic [SetsLog2:0] init_q;  // sets that have been emptied after a reset
  logic ready_q, mark_busy_q;
  set_t sets[Readers];
  logic [Readers-1:0] eligible, grant;

  always_comb begin
    for (int unsigned p = 0; p < Ports; p++) begin
      sets[p] = set_t'(lookup[p].set);
      eligible[p] = lookup_valid[p] && ready_q && !locked_q[sets[p]];
    end
    for (int unsigned m = 0; m <= Ports; m++) begin
      sets[Ports+m] = set_t'(mark[m].line.set);
      eligible[Ports+m] = mark_valid[m] && ready_q && !mark_busy_q && !locked_q[sets[Ports+m]];
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
    logic             direction;
    set_t             set;
    flow_key_t        key;
    mark_t            mark;
  } op_t;

  op_t issue, read_q, compare_q;

  always_comb begin
    issue = '0;
    issue.valid = grant != '0;
    for (int unsigned p = 0; p < Ports; p++)
      if (grant[p]) begin
        issue.port[p] = 1'b1;
        issue.direction = lookup[p].direction;
        issue.set = sets[p];
        issue.key = lookup[p].key;
      end
    for (int unsigned m = 0; m <= Ports; m++)
      if (grant[Ports+m]) begin
        issue.is_mark = 1'b1;
        issue.direction = mark[m].direction;
        issue.set = sets[Ports+m];
        issue.mark = mark[m];
      end
    lookup_ready = grant[Ports-1:0];
    mark_ready = grant[Readers-1:Ports];
  end

  // ---- memories
  logic [Ways-1:0] head_we, used_we;
  logic [Ways-1:0][1:0] state_we;
  set_t head_set, state_set;
  head_t head_new;
  direction_t state_new[2];
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
        .waddr(head_set),
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
        .waddr(compare_q.set),
        .wdata(now),
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
          .waddr(state_set),
          .wdata(state_new[d]),
          .re(1'b1),
          .raddr(issue.set),
          .rdata(states[w][d])
      );
    end
  end

  // ---- READ, COMPARE
  logic [Ways-1:0] hit_q, valid_q;
  logic [Ways-1:0][4:0] gen_q;
  logic [Ways-1:0][15:0] since_q;  // how long the line was not used
  direction_t [Ways-1:0] state_q;

  always_ff @(posedge clk) begin
    read_q <= issue;
    compare_q <= read_q;
    for (int unsigned w = 0; w < Ways; w++) begin
      hit_q[w]   <=
          heads[w].valid && (read_q.is_mark ? read_q.mark.line.way == 2'(w) && read_q.mark.line.gen == heads[w].gen :
                                                        read_q.key == heads[w].key);
      valid_q[w] <= heads[w].valid;
      gen_q[w]   <= heads[w].gen;
      since_q[w] <= now - used[w];
      state_q[w] <= states[w][read_q.direction];
    end
    if (rst) begin
      read_q.valid    <= 1'b0;
      compare_q.valid <= 1'b0;
    end
  end

  // ---- CHOOSE
  logic [1:0] way;
  logic hit, allocates;
  answer_t answer_d;

  always_comb begin
    hit = hit_q != '0;
    way = '0;
    // An invalid line, else the one that was unused for longest
    for (int unsigned w = 1; w < Ways; w++)
      if (valid_q[way] && (!valid_q[w] || since_q[w] > since_q[way])) way = 2'(w);
    for (int unsigned w = 0; w < Ways; w++) if (hit_q[w]) way = 2'(w);
    allocates = compare_q.valid && !compare_q.is_mark && !hit;
    answer_d.line = '{set: 14'(compare_q.set), way: way, gen: gen_q[way] + 5'(allocates)};
    answer_d.fresh = !hit;
    answer_d.aged = hit && since_q[way] >= age;
    answer_d.state = hit ? state_q[way] : '0;

    head_we = '0;
    used_we = '0;
    head_set = compare_q.set;
    head_new = '{valid: 1'b1, gen: answer_d.line.gen, key: compare_q.key};
    if (allocates) head_we[way] = 1'b1;
    if (compare_q.valid && !compare_q.is_mark) used_we[way] = 1'b1;
    if (!ready_q) begin
      head_we  = '1;
      head_set = set_t'(init_q);
      head_new = '0;
    end
  end

  always_ff @(posedge clk) begin
    answer <= answer_d;
    answer_valid <= compare_q.valid && !compare_q.is_mark ? compare_q.port : '0;
    taken <= allocates;
    evicted <= allocates && valid_q[way];
    if (!ready_q) init_q <= init_q + 1'b1;
    ready_q <= init_q[SetsLog2] || (SetsLog2 + 1)'(init_q + 1'b1) == (SetsLog2 + 1)'(Sets);
    if (clear || rst) begin
      init_q  <= '0;
      ready_q <= 1'b0;
    end
    if (rst) begin
      answer_valid <= '0;
      taken <= 1'b0;
      evicted <= 1'b0;
    end
  end

  // ---- marks become updates, one at a time
  logic marked_q, marked_hit_q;
  update_t marked_update_q;
  logic [Ports:0] write_req, write_grant;

  assign write_req = {marked_q, update_valid};
  assign update_ready = write_grant[Ports-1:0];

  always_ff @(posedge clk) begin
    if (write_grant[Ports]) marked_q <= 1'b0;
    if (write_grant[Ports]) mark_busy_q <= 1'b0;
    if (issue.valid && issue.is_mark) mark_busy_q <= 1'b1;
    if (compare_q.valid && compare_q.is_mark) begin
      marked_q <= 1'b1;
      marked_hit_q <= hit;
      marked_update_q <= '{line: answer_d.line, direction: compare_q.direction, fresh: 1'b0, state: answer_d.state};
      marked_update_q.line.set <= 14'(compare_q.set);
      marked_update_q.state.followed <= compare_q.mark.follow;
    end
    if (rst) begin
      marked_q <= 1'b0;
      mark_busy_q <= 1'b0;
    end
  end

  // ---- WRITE
  rr_arbiter #(
      .N(Ports + 1)
  ) i_writers (
      .clk,
      .rst,
      .req(write_req),
      .accept(write_req != '0),
      .grant(write_grant)
  );

  update_t writes;
  logic write_any, write_state;

  always_comb begin
    writes = marked_update_q;
    write_any = write_grant != '0;
    write_state = marked_hit_q;
    for (int unsigned p = 0; p < Ports; p++)
      if (write_grant[p]) begin
        writes = update[p];
        write_state = 1'b1;
      end
    state_set = set_t'(writes.line.set);
    state_we = '0;
    for (int unsigned d = 0; d < 2; d++) begin
      state_new[d] = writes.direction == 1'(d) ? writes.state : '0;
      state_we[writes.line.way][d] = write_any && write_state && (writes.fresh || writes.direction == 1'(d));
    end
  end

  always_ff @(posedge clk) begin
    if (write_any) locked_q[set_t'(writes.line.set)] <= 1'b0;
    if (issue.valid) locked_q[issue.set] <= 1'b1;
    if (rst) locked_q <= '0;
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk)
    if (!rst && write_any) assert (locked_q[set_t'(writes.line.set)])
      else $error("%m: update of a set that is not locked");
`endif
endmodule

`default_nettype wire
