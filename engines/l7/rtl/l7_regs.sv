// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// Registers of an l7 block (engines/l7/regs/l7.rdl). An access takes three cycles; one to HITS waits for a cycle in which
// no message is decided, and a write waits until the row before it is written. An address without a register answers
// with `err`, and so do a write to a register that can only be read, a read of one that can only be written, and a write
// to BANK while OLD is not 0.
module l7_regs
  import penstock_pkg::*, l7_pkg::*, l7_regs_pkg::*;
#(
    parameter int unsigned SetsLog2 = 0  // of the table of messages in card memory (l7_park.sv); 0: there is none
) (
    input wire logic clk,
    input wire logic rst,

    cfg_if.snk cfg,  // 24 address bits

    output filter_row_t [FilterRows-1:0] rows,
    output logic [31:0] timeout,
    output parked_t pages_max   [Apps],
    output parked_t messages_max[Apps],
    output logic [Matchers-1:0] serves[Apps],
    output protocol_e protocol[Apps],
    output logic [4:0] id_bytes[Apps],
    output logic [Apps-1:0] bank,
    input wire parked_t pages_used   [Apps],
    input wire parked_t messages_used[Apps],
    input wire logic [ 9:0] live[Apps][2],
    input wire counted_t    counted[Apps],
    input wire counted_t    park_counted[Apps],

    output logic           row_we,
    output row_no_t        row_waddr,
    output row_t           row_wdata,
    input  wire logic      row_busy,
    output logic           start_we,
    output logic     [5:0] start_waddr,
    output branch_t        start_wdata,
    output logic           decision_we,
    output decision_no_t   decision_waddr,
    output decision_t      decision_wdata,
    output logic           hits_we,
    output logic           hits_re,
    output decision_no_t   hits_addr,
    output logic    [31:0] hits_wdata,
    input  wire logic      hits_ready,
    input  wire logic [63:0] hits_rdata,
    input wire logic [15:0] decision_cycles,
    output logic           classes_we,
    output logic     [6:0] classes_waddr,
    output logic    [31:0] classes_wdata
);
  // ---- an access: its address is compared in the first cycle, in which the read of a counter begins, and it is answered
  // in the third one
  localparam logic [23:0] AppBase = 24'h000100;
  localparam int unsigned AppBits = 7;  // of the address, in the registers of an application

  logic [1:0] step_q;
  logic asks_write, writes, reads, bank_writes, ok, waits;
  logic [16:0] addr;
  logic in_app, in_filter, in_starts, in_decisions, in_hits, in_row_words, in_classes, is_low;
  app_t app;
  logic [AppBits-1:0] app_addr;
  logic [31:0] answer;

  assign is_low = cfg.addr[23:17] == '0;
  assign addr = cfg.addr[16:0];
  // The arrays have as many words as the number in front of _COUNT; each begins at a multiple of its size.
  assign in_app = is_low && addr[16:8] == AppBase[16:8];
  assign in_filter = is_low && addr[16:5] == L7_BLOCK_FILTER[16:5];
  assign in_starts = is_low && addr[16:8] == L7_BLOCK_STARTS[16:8];
  assign in_decisions = is_low && addr[16:15] == L7_BLOCK_DECISIONS[16:15];
  assign in_hits = is_low && addr[16:15] == L7_BLOCK_HITS[16:15];
  assign in_row_words = is_low && addr[16:8] == L7_BLOCK_ROW_WORDS[16:8] && 32'(addr[7:2]) < L7_BLOCK_ROW_WORDS_COUNT;
  assign in_classes = is_low && addr[16:9] == L7_BLOCK_CLASSES[16:9];
  assign app = app_t'(addr[AppBits]);
  assign app_addr = addr[AppBits-1:0];

  function automatic logic [AppBits-1:0] at(logic [31:0] register);
    return register[AppBits-1:0];
  endfunction

  assign asks_write = cfg.req && step_q[1] && !cfg.ack && cfg.we;
  assign writes = asks_write && !waits;
  assign reads = cfg.req && step_q[1] && !cfg.ack && !cfg.we;

  // ---- counters of all applications
  localparam int unsigned AllCounters = Apps * Counters;
  localparam int unsigned CounterW = $clog2(AllCounters);
  logic in_counters;
  logic [AppBits-1:0] counter_addr;
  logic [CounterW-1:0] counter;
  logic [15:0] step[AllCounters];
  logic [63:0] count;
  logic [31:0] count_high_q;
  assign in_counters = in_app && app_addr >= at(L7_APP_PACKETS) && app_addr <= at(L7_APP_FAILED);
  assign counter_addr = app_addr - at(L7_APP_PACKETS);
  assign counter = CounterW'(Counters * 32'(app) + 32'(counter_addr[AppBits-1:2]));
  always_comb
    for (int unsigned a = 0; a < Apps; a++)
      for (int unsigned c = 0; c < Counters; c++)
        step[Counters*a+c] = 16'(counted[a][c]) + 16'(park_counted[a][c]);
  wide_counters #(
      .Counters(AllCounters),
      .StepW(2)
  ) i_counters (
      .clk,
      .rst,
      .step(step),
      .read(cfg.req && step_q == '0 && !cfg.ack && !cfg.we && in_counters),
      .index(counter),
      .value(count)
  );

  // ---- reads
  logic readable, writable;
  filter_row_t filter;
  assign filter = rows[addr[4:2]];

  always_comb begin
    answer = '0;
    readable = 1'b1;
    if (in_filter) answer = {filter.valid, filter.app, filter.tenant, filter.app_id, filter.dport};
    else if (in_hits) answer = hits_rdata[31:0];
    else if (in_counters) answer = count[31:0];
    else if (in_app) begin
      unique case (app_addr)
        at(L7_APP_BANK): answer = 32'(bank[app]);
        at(L7_APP_OLD): answer = 32'(live[app][!bank[app]]);
        at(L7_APP_MATCHERS): answer = 32'(serves[app]);
        at(L7_APP_PAGES_MAX): answer = 32'(pages_max[app]);
        at(L7_APP_MESSAGES_MAX): answer = 32'(messages_max[app]);
        at(L7_APP_PAGES): answer = 32'(pages_used[app]);
        at(L7_APP_MESSAGES): answer = 32'(messages_used[app]);
        at(L7_APP_PROTOCOL): answer = {19'b0, id_bytes[app], 5'b0, protocol[app]};
        default: readable = 1'b0;
      endcase
    end else if (is_low && addr == L7_BLOCK_SHAPE[16:0]) answer = {16'(Rows), 8'(Matchers), 8'(Apps)};
    else if (is_low && addr == L7_BLOCK_LIMITS[16:0]) answer = {16'(Pages), 16'(Slots)};
    else if (is_low && addr == L7_BLOCK_TIMEOUT[16:0]) answer = timeout;
    else if (is_low && addr == L7_BLOCK_CYCLES[16:0]) answer = 32'(decision_cycles);
    else if (is_low && addr == L7_BLOCK_CARD[16:0]) answer = SetsLog2 == 0 ? 0 : 4 << SetsLog2;
    else if (is_low && addr == L7_BLOCK_COUNT_H[16:0]) answer = count_high_q;
    else readable = 1'b0;
  end

  // ---- writes
  always_comb begin
    writable = in_filter || in_starts || in_decisions || in_hits || in_row_words || in_classes;
    writable |= is_low && (addr == L7_BLOCK_TIMEOUT[16:0] || addr == L7_BLOCK_ROW[16:0]);
    bank_writes = 1'b0;
    if (in_app) begin
      bank_writes = app_addr == at(L7_APP_BANK) && live[app][!bank[app]] == '0;
      writable = bank_writes || app_addr == at(L7_APP_MATCHERS) || app_addr == at(L7_APP_PAGES_MAX) ||
          app_addr == at(L7_APP_MESSAGES_MAX) || app_addr == at(L7_APP_PROTOCOL);
    end
  end

  assign ok = cfg.we ? writable : readable;

  // A write waits until a row that was written before is in the memories, and one to HITS for a cycle without a
  // decision. A read of HITS waits for such a cycle, too, and takes the counter in the next one.
  logic hits_read_q;
  assign hits_re = reads && in_hits && !hits_read_q;
  assign waits = asks_write ? row_busy || (in_hits && !hits_ready) : hits_re;

  logic [RowWords-1:0][31:0] words_q;
  logic row_writes;
  assign row_writes = writes && is_low && addr == L7_BLOCK_ROW[16:0];

  always_ff @(posedge clk) begin
    step_q <= cfg.req && !cfg.ack ? {step_q[0], 1'b1} : '0;
    cfg.ack <= writes || (reads && !waits);
    cfg.err <= !ok;
    cfg.rdata <= answer;
    hits_read_q <= hits_re && hits_ready && !rst;
    if (reads && in_hits) count_high_q <= hits_rdata[63:32];
    if (reads && in_counters) count_high_q <= count[63:32];
    if (writes) begin
      if (is_low && addr == L7_BLOCK_TIMEOUT[16:0]) timeout <= cfg.wdata;
      if (in_filter)
        rows[addr[4:2]] <= '{
            valid: cfg.wdata[31],
            app: app_t'(cfg.wdata[30]),
            tenant: cfg.wdata[29:24],
            app_id: cfg.wdata[23:16],
            dport: cfg.wdata[15:0]
        };
      if (in_row_words) words_q[addr[7:2]] <= cfg.wdata;
      if (in_app) begin
        if (bank_writes) bank[app] <= cfg.wdata[0];
        if (app_addr == at(L7_APP_MATCHERS)) serves[app] <= cfg.wdata[Matchers-1:0];
        if (app_addr == at(L7_APP_PAGES_MAX)) pages_max[app] <= cfg.wdata[16:0];
        if (app_addr == at(L7_APP_MESSAGES_MAX)) messages_max[app] <= cfg.wdata[16:0];
        if (app_addr == at(L7_APP_PROTOCOL)) begin
          protocol[app] <= protocol_e'(cfg.wdata[2:0]);
          id_bytes[app] <= cfg.wdata[12:8];
        end
      end
    end
    row_we <= row_writes && !rst;
    if (row_writes) begin
      row_waddr <= row_no_t'(cfg.wdata);
      row_wdata <= row_of(words_q);
    end
    if (rst) begin
      step_q <= '0;
      cfg.ack <= 1'b0;
      timeout <= 32'd976563;
      bank <= '0;
      rows <= '0;
      for (int unsigned a = 0; a < Apps; a++) begin
        serves[a] <= '1;
        protocol[a] <= ProtocolQnp;
        id_bytes[a] <= '0;
        pages_max[a] <= parked_t'(SetsLog2 == 0 ? Pages / 2 : 4 << SetsLog2);
        messages_max[a] <= parked_t'(SetsLog2 == 0 ? Slots / 2 : 2 << SetsLog2);
      end
    end
  end

  assign start_we = writes && in_starts;
  assign start_waddr = addr[7:2];
  assign start_wdata = branch_of(cfg.wdata);
  assign decision_we = writes && in_decisions;
  assign decision_waddr = addr[14:2];
  assign decision_wdata = decision_of(cfg.wdata);
  assign hits_we = writes && in_hits;
  assign hits_addr = addr[14:2];
  assign hits_wdata = cfg.wdata;
  assign classes_we = writes && in_classes;
  assign classes_waddr = addr[8:2];
  assign classes_wdata = cfg.wdata;
endmodule

`default_nettype wire
