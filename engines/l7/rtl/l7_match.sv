// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// Decides messages: a queue of windows for each application, the matchers, and the table of decisions.
//
//   windows ─> queue ×2 ─> protocol ×2 ─┬────────────> matcher ×4 ─> arbiter ─> decision table ─> decided
//                                       └> classes ×2 ─^
//              2           0 for QNP       0           2N + 2                                     1 cycle
//
// A window waits in the queue of its application for one of the matchers that serve it. Two applications are served
// in turn where their sets of matchers overlap. A beat of a window takes a cycle of its queue.
//
// Memories: rows 2 × 19 UltraRAM (l7_rows.sv), a copy for two matchers. Decisions 6 BRAM36, which are read together with
// the hits of the decision, 2 UltraRAM. The other port of the hits writes them, or reads them for the host.
module l7_match
  import penstock_pkg::*, l7_pkg::*;
(
    input wire logic clk,
    input wire logic rst,

    input wire logic             row_we,
    input wire row_no_t          row_waddr,  // these stay while `row_busy`
    input wire row_t             row_wdata,
    output logic                 row_busy,   // a row is being written
    input wire logic             start_we,
    input wire logic       [5:0] start_waddr,  // application, bank, type
    input wire branch_t          start_wdata,
    input wire logic             decision_we,
    input wire decision_no_t     decision_waddr,
    input wire decision_t        decision_wdata,
    input wire logic             classes_we,
    input wire logic       [6:0] classes_waddr,  // application, bank, byte value / 8
    input wire logic      [31:0] classes_wdata,
    input wire logic             hits_we,
    input wire logic             hits_re,
    input wire decision_no_t     hits_addr,
    input wire logic      [31:0] hits_wdata,
    output logic                 hits_ready,   // a write or read is taken
    output logic          [63:0] hits_rdata,   // a cycle later, until the next read

    input wire logic [Matchers-1:0] serves[Apps],
    input wire protocol_e protocol[Apps],
    input wire logic [4:0] id_bytes[Apps],

    input  wire logic    [Apps-1:0] window_push,
    input  wire window_t            window,
    output logic         [Apps-1:0] window_ready,  // room for a whole window behind one that is being pushed
    input  wire logic    [Apps-1:0] enters,        // a message, in this bank
    input  wire logic               enters_bank,
    output logic         [9:0]      live[Apps][2], // messages that have entered and are not decided

    output logic     decided_valid,
    output msg_t     decided_slot,
    output app_t     decided_app,
    output port_no_t decided_port,
    output logic     decided_stuck,
    output decided_t decided
);
  // ---- queues, and walkers of protocols
  logic [Apps-1:0] queued_valid, queued_pop, head_valid, head_pop;
  window_t queued[Apps];
  window_t head[Apps];
  class_t [BeatBytes-1:0] classes[Apps];

  for (genvar a = 0; a < Apps; a++) begin : gen_queue
    fifo_dist #(
        .Width($bits(window_t)),
        .Depth(64),
        .Room(2 * WindowBeats)
    ) i_queue (
        .clk,
        .rst,
        .push(window_push[a]),
        .din(window),
        .ready(window_ready[a]),
        .valid(queued_valid[a]),
        .pop(queued_pop[a]),
        .dout(queued[a]),
        .level()
    );

    l7_protocol i_protocol (
        .clk,
        .rst,
        .protocol(protocol[a]),
        .id_bytes(id_bytes[a]),
        .in_valid(queued_valid[a]),
        .in_pop(queued_pop[a]),
        .in(queued[a]),
        .out_valid(head_valid[a]),
        .out_pop(head_pop[a]),
        .out(head[a])
    );

    l7_classes i_classes (
        .clk,
        .we(classes_we && 32'(classes_waddr[6]) == a),
        .waddr(classes_waddr[5:0]),
        .wdata(classes_wdata),
        .bank(head[a].bank),
        .data(head[a].data),
        .classes(classes[a])
    );
  end

  // ---- a matcher for each window
  logic [Matchers-1:0] idle, pick[Apps], current_q[Apps], taken;
  logic turn_q;  // the application that chooses last

  always_comb begin
    taken = '0;
    for (int unsigned a = 0; a < Apps; a++) pick[a] = '0;
    for (int unsigned i = 0; i < Apps; i++) begin
      automatic app_t a = app_t'(i + 32'(turn_q) + 1);
      if (head_valid[a]) begin
        if (head[a].first) begin
          pick[a] = idle & serves[a] & ~taken;
          pick[a] = pick[a] & (~pick[a] + 1'b1);
        end else pick[a] = current_q[a];
      end
      taken |= pick[a];
    end
    for (int unsigned a = 0; a < Apps; a++) head_pop[a] = pick[a] != '0;
  end

  always_ff @(posedge clk) begin
    turn_q <= !turn_q && !rst;
    for (int unsigned a = 0; a < Apps; a++) if (head_pop[a]) current_q[a] <= pick[a];
  end

  // ---- first branches
  (* ram_style = "distributed" *) branch_t starts[64];
  branch_t start[Apps];
  always_ff @(posedge clk) if (start_we) starts[start_waddr] <= start_wdata;
  for (genvar a = 0; a < Apps; a++) begin : gen_start
    assign start[a] = starts[{app_t'(a), head[a].bank, head[a].mtype}];
  end

  // ---- matchers
  logic [Matchers-1:0] found_valid, grant, row_free, row_re;
  row_no_t [Matchers-1:0] row_addr;
  row_t [Matchers-1:0] row;
  logic [Matchers/2-1:0] rows_busy;
  found_t found[Matchers];

  for (genvar c = 0; c < Matchers / 2; c++) begin : gen_rows
    l7_rows i_rows (
        .clk,
        .rst,
        .we(row_we),
        .waddr(row_waddr),
        .wdata(row_wdata),
        .busy(rows_busy[c]),
        .re(row_re[2*c+:2]),
        .raddr(row_addr[2*c+:2]),
        .second_free(row_free[2*c+1]),
        .rows(row[2*c+:2])
    );
  end
  assign row_busy = rows_busy != '0;

  for (genvar m = 0; m < Matchers; m++) begin : gen_matcher
    logic load;
    window_t beat;
    class_t [BeatBytes-1:0] beat_classes;
    app_t app;
    branch_t first;

    always_comb begin
      load = 1'b0;
      app = '0;
      beat = head[0];
      beat_classes = classes[0];
      first = start[0];
      for (int unsigned a = 0; a < Apps; a++)
        if (pick[a][m]) begin
          load = 1'b1;
          app = app_t'(a);
          beat = head[a];
          beat_classes = classes[a];
          first = start[a];
        end
    end

    l7_matcher i_matcher (
        .clk,
        .rst,
        .idle(idle[m]),
        .load,
        .window_i(beat),
        .classes_i(beat_classes),
        .app,
        .start(first),
        .row_free(row_free[m]),
        .row_re(row_re[m]),
        .row_addr(row_addr[m]),
        .row(row[m]),
        .found_valid(found_valid[m]),
        .found(found[m]),
        .take(grant[m])
    );
  end

  // ---- decisions
  rr_arbiter #(
      .N(Matchers)
  ) i_arbiter (
      .clk,
      .rst,
      .req(found_valid),
      .accept(found_valid != '0),
      .grant
  );

  found_t chosen, found_q;
  decision_t word;
  logic valid_q;

  always_comb begin
    chosen = '0;
    for (int unsigned m = 0; m < Matchers; m++) if (grant[m]) chosen |= found[m];
  end

  always_ff @(posedge clk) begin
    found_q <= chosen;
    valid_q <= found_valid != '0 && !rst;
  end

  ram_sdp #(
      .Width($bits(decision_t)),
      .Depth(Decisions)
  ) i_decisions (
      .clk,
      .we(decision_we),
      .waddr(decision_waddr),
      .wdata(decision_wdata),
      .re(found_valid != '0),
      .raddr(chosen.decision),
      .rdata(word)
  );

  // The hits of the decision that was found in the cycle before. If they were written in that cycle, the memory may have
  // returned either value.
  logic [63:0] hits, hits_read, written_q, hits_write;
  decision_no_t hits_at, written_at_q;
  logic hits_writes, wrote_q;
  assign hits = wrote_q && written_at_q == found_q.decision ? written_q : hits_read;
  assign hits_ready = !valid_q;
  assign hits_writes = valid_q ? !found_q.stuck : hits_we;
  assign hits_at = valid_q ? found_q.decision : hits_addr;
  assign hits_write = valid_q ? hits + 64'd1 : 64'(hits_wdata);
  always_ff @(posedge clk) begin
    wrote_q <= hits_writes;
    written_at_q <= hits_at;
    written_q <= hits_write;
  end

  ram_two #(
      .Width(64),
      .Depth(Decisions)
  ) i_hits (
      .clk,
      .re_a(found_valid != '0),
      .addr_a(chosen.decision),
      .rdata_a(hits_read),
      .we_b(hits_writes),
      .re_b(hits_re && hits_ready),
      .addr_b(hits_at),
      .wdata_b(hits_write),
      .rdata_b(hits_rdata)
  );

  assign decided_valid = valid_q;
  assign decided_slot = found_q.slot;
  assign decided_app = found_q.app;
  assign decided_port = found_q.port;
  assign decided_stuck = found_q.stuck;
  always_comb begin
    decided.kind = found_q.stuck ? DecideDrop : word.kind;
    decided.number = word.first + ((word.in_turn ? hits[15:0] : found_q.hash) & 16'((17'd1 << word.bits) - 17'd1));
  end

  // ---- messages under way, by bank
  always_ff @(posedge clk) begin
    for (int unsigned a = 0; a < Apps; a++)
      for (int unsigned b = 0; b < 2; b++) begin
        live[a][b] <= live[a][b] + 10'(enters[a] && 32'(enters_bank) == b) -
            10'(valid_q && 32'(found_q.app) == a && 32'(found_q.bank) == b);
        if (rst) live[a][b] <= '0;
      end
  end
endmodule

`default_nettype wire
