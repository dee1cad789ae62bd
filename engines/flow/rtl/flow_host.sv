// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// The host's window into an element: registers by byte address (engines/flow/regs/flow.rdl). A write takes one cycle;
// read data follows two cycles after its address. A read of a counter begins with `host_re`, and its data follows four
// cycles after it if the address stands until then; COUNT_H then has the high word. Other reads have no side effects.
//
//   re, addr ─> decode ─> counter is read ─> low and high word
//               1         2                  1
module flow_host
  import flow_pkg::*;
  import edit_pkg::*;
  import flow_regs_pkg::*;
#(
    parameter int unsigned Entries = 16384,
    parameter int unsigned Number  = 0,
    localparam int unsigned AddrW  = $clog2(Entries / Ways),
    localparam int unsigned SecretW = secret_bits(AddrW)
) (
    input wire logic clk,
    input wire logic rst,

    input  wire logic       host_we,
    input  wire logic       host_re,
    input  wire logic [9:0] host_addr,
    input  wire word_t      host_wdata,
    output word_t           host_rdata,

    // the program, and changes between two frames
    output logic      first,
    output logic      shift,
    output word_t     word,
    input  wire logic complete,
    output logic      hold,
    input  wire logic idle,
    input  wire logic clearing,  // the table
    input  wire logic sweeping,
    output logic      commit,
    output logic      clear,
    output logic      sweep,
    output logic      begin_g,

    // global registers
    output logic  [Globals-1:0]      set_g,
    output word_t                    set_g_to,
    input  wire word_t [Globals-1:0] g,

    // contexts
    output logic      [SecretW-1:0] secret,
    output logic                    valid,
    input  wire logic               taken,
    output op_e                     op,
    output logic      [KeyBits-1:0] key,
    output context_t                content,
    output where_t                  where,
    output logic      [AddrW-1:0]   addr,
    input  wire logic               answer_valid,
    input  wire logic               answer_found,
    input  wire logic [KeyBits-1:0] answer_key,
    input  wire context_t           answer_context,

    // counters
    output logic              read_count,
    output counter_t          of_counter,
    input  wire logic [63:0]  count,
    output row_t              of_row,
    input  wire logic [63:0]  row_count,

    // events
    input  wire logic [$clog2(Entries):0]         contexts,
    input  wire logic                             is_full,
    input  wire logic [$clog2(StashEntries):0]    stash_used,
    input  wire logic                             told_valid,
    input  wire event_t                           told,
    output logic                                  told_take,
    output kinds_t                                tell
);
  // ---- a cycle to get here
  logic we_q;
  logic [2:0] read_q;  // the steps of a read
  logic [7:0] at_q;    // words
  word_t wdata_q;
  always_ff @(posedge clk) begin
    we_q <= host_we && !rst;
    read_q <= rst ? '0 : {read_q[1:0], host_re};
    at_q <= host_addr[9:2];
    wdata_q <= host_wdata;
  end

  function automatic logic [7:0] at(logic [31:0] register);
    return register[9:2];
  endfunction

  function automatic logic writes(logic we, logic [7:0] to, logic [31:0] register);
    return we && to == at(register);
  endfunction

  // ---- the program
  assign first = writes(we_q, at_q, FLOW_HOST_BEGIN);
  assign shift = writes(we_q, at_q, FLOW_HOST_PROGRAM);
  assign word = wdata_q;

  // Changes that wait until no frame is in flight
  logic [3:0] change_q;
  logic [Globals-1:0] set_g_q;
  word_t set_g_to_q;
  assign hold = change_q != '0 || set_g_q != '0;
  assign commit = change_q[0] && idle && complete;
  assign clear = change_q[1:0] == 2'b10 && idle;
  assign begin_g = change_q[2] && !change_q[0] && idle;
  assign sweep = change_q[3] && !change_q[0] && idle;
  assign set_g = set_g_q & {Globals{idle}};
  assign set_g_to = set_g_to_q;
  always_ff @(posedge clk) begin
    if (hold && idle) change_q <= change_q[0] ? change_q & 4'b1110 : '0;
    if (writes(we_q, at_q, FLOW_HOST_CHANGE)) change_q <= wdata_q[3:0];
    if (idle) set_g_q <= '0;
    for (int unsigned i = 0; i < Globals; i++) begin
      if (writes(we_q, at_q, FLOW_HOST_GLOBALS + 4 * i)) begin
        set_g_q[i] <= 1'b1;
        set_g_to_q <= wdata_q;
      end
    end
    if (rst) {change_q, set_g_q} <= '0;
  end

  // ---- contexts
  localparam int unsigned SecretWords = (SecretW + 31) / 32;
  logic [32*SecretWords-1:0] secret_q;
  logic [KeyBits/32-1:0][31:0] key_q;
  word_t place_q;
  context_t content_q;
  logic valid_q, busy_q, found_q;
  op_e op_q;
  always_ff @(posedge clk) begin
    if (writes(we_q, at_q, FLOW_HOST_SECRET)) secret_q <= {wdata_q, secret_q[32*SecretWords-1:32]};
    if (writes(we_q, at_q, FLOW_HOST_PLACE)) place_q <= wdata_q;
    for (int unsigned i = 0; i < KeyBits / 32; i++) if (writes(we_q, at_q, FLOW_HOST_KEY + 4 * i)) key_q[i] <= wdata_q;
    if (writes(we_q, at_q, FLOW_HOST_STATE)) content_q.state <= wdata_q[7:0];
    for (int unsigned i = 0; i < Registers; i++)
      if (writes(we_q, at_q, FLOW_HOST_REGISTERS + 4 * i)) content_q.r[i] <= wdata_q;
    if (writes(we_q, at_q, FLOW_HOST_TIMEOUT)) {content_q.hard.period, content_q.hard.on} <= wdata_q[3:0];
    if (writes(we_q, at_q, FLOW_HOST_TIMEOUT + 4)) {content_q.idle.period, content_q.idle.on} <= wdata_q[3:0];
    if (writes(we_q, at_q, FLOW_HOST_DEADLINE)) content_q.hard.at <= wdata_q;
    if (writes(we_q, at_q, FLOW_HOST_DEADLINE + 4)) content_q.idle.at <= wdata_q;
    if (writes(we_q, at_q, FLOW_HOST_COMMAND) && !busy_q) begin
      // The host's operations are the last four.
      op_q <= op_e'({1'b1, wdata_q[1:0]});
      {valid_q, busy_q} <= 2'b11;
    end
    if (taken) valid_q <= 1'b0;
    if (answer_valid) begin
      busy_q <= 1'b0;
      found_q <= answer_found;
      key_q <= answer_key;
      content_q <= answer_context;
    end
    if (rst) {valid_q, busy_q, found_q} <= '0;
  end
  assign secret = secret_q[SecretW-1:0];
  assign valid = valid_q;
  assign op = op_q;
  assign key = key_q;
  assign content = content_q;
  assign where = '{stash: place_q[31], way: place_q[20+:$bits(way_t)], slot: place_q[20+:$bits(slot_t)]};
  assign addr = place_q[AddrW-1:0];

  // ---- what is told
  logic [$clog2(StashEntries):0] most_q;
  always_ff @(posedge clk) begin
    if (stash_used > most_q || writes(we_q, at_q, FLOW_HOST_STASH)) most_q <= stash_used;
    if (rst) most_q <= '0;
  end
  assign told_take = writes(we_q, at_q, FLOW_HOST_EVENT);
  kinds_t tell_q;
  always_ff @(posedge clk) begin
    if (writes(we_q, at_q, FLOW_HOST_TELL)) tell_q <= kinds_t'(wdata_q[$bits(kinds_t)-1:0]);
    if (rst) tell_q <= '1;
  end
  assign tell = tell_q;

  // ---- counters
  localparam logic [7:0] FirstCounter = at(FLOW_HOST_FRAMES);
  localparam logic [7:0] FirstRow = at(FLOW_HOST_ROWS);
  logic in_counters, in_rows;
  word_t count_high_q;
  assign in_counters = at_q >= FirstCounter && at_q < FirstCounter + 8'(Counters);
  assign in_rows = at_q >= FirstRow && at_q < FirstRow + 8'(Rows);
  assign read_count = read_q[0] && in_counters;
  assign of_counter = counter_t'(at_q - FirstCounter);
  assign of_row = row_t'(at_q - FirstRow);
  wire [63:0] counted = in_rows ? row_count : count;

  word_t [255:0] all;
  always_comb begin
    all = '0;
    all[at(FLOW_HOST_SHAPE)] = {16'(LoadWords), 8'(Number), 8'($clog2(Entries))};
    all[at(FLOW_HOST_STATUS)] = {26'd0, told_valid, is_full, found_q, busy_q, hold || clearing || sweeping, complete};
    all[at(FLOW_HOST_PLACE)] = place_q;
    all[at(FLOW_HOST_CONTEXTS)] = word_t'(contexts);
    all[at(FLOW_HOST_STASH)] = {16'd0, 8'(most_q), 8'(stash_used)};
    all[at(FLOW_HOST_TABLE)] = {16'(SecretW), 8'(StashEntries), 8'(Ways)};
    all[at(FLOW_HOST_ROOM)] = room_of(Entries);
    all[at(FLOW_HOST_TELL)] = word_t'(tell_q);
    all[at(FLOW_HOST_COUNT_H)] = count_high_q;
    for (int unsigned i = 0; i < Globals; i++) all[at(FLOW_HOST_GLOBALS + 4 * i)] = g[i];
    for (int unsigned i = 0; i < KeyBits / 32; i++) all[at(FLOW_HOST_KEY + 4 * i)] = key_q[i];
    all[at(FLOW_HOST_STATE)] = word_t'(content_q.state);
    for (int unsigned i = 0; i < Registers; i++) all[at(FLOW_HOST_REGISTERS + 4 * i)] = content_q.r[i];
    all[at(FLOW_HOST_TIMEOUT)] = word_t'({content_q.hard.period, content_q.hard.on});
    all[at(FLOW_HOST_TIMEOUT + 4 * 1)] = word_t'({content_q.idle.period, content_q.idle.on});
    all[at(FLOW_HOST_DEADLINE)] = content_q.hard.at;
    all[at(FLOW_HOST_DEADLINE + 4 * 1)] = content_q.idle.at;
    all[at(FLOW_HOST_EVENT)] = told_valid ? word_t'(told.kinds) : '0;
    all[at(FLOW_HOST_EVENT_TIME)] = told.at;
    for (int unsigned i = 0; i < KeyBits / 32; i++) begin
      all[at(FLOW_HOST_EVENT_FLOW + 4 * i)] = told.flow.key[32*i+:32];
      all[at(FLOW_HOST_EVENT_GONE + 4 * i)] = told.gone.key[32*i+:32];
    end
    all[at(FLOW_HOST_EVENT_FLOW + 4 * 10)] = word_t'(told.flow.state);
    all[at(FLOW_HOST_EVENT_GONE + 4 * 10)] = word_t'(told.gone.state);
    for (int unsigned i = 0; i < Registers; i++) begin
      all[at(FLOW_HOST_EVENT_FLOW + 4 * (11 + i))] = told.flow.r[i];
      all[at(FLOW_HOST_EVENT_GONE + 4 * (11 + i))] = told.gone.r[i];
    end
  end

  word_t rdata_q;
  always_ff @(posedge clk) begin
    rdata_q <= in_counters || in_rows ? counted[31:0] : all[at_q];
    if (read_q[2] && (in_counters || in_rows)) count_high_q <= counted[63:32];
  end
  assign host_rdata = rdata_q;
endmodule

`default_nettype wire
