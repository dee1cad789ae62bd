// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// The unit's part of the broadcast: the region of memory for the words of all units, the queue of outgoing words, and
// the queue of messages (Rosebud, section 4.2).
//
//   core ─┬─> region, port A: loads in EX, stores in MEM; a load right behind a store reads again, a cycle later
//         └─> queue (8) ─> bc.out                        the core waits while it is full
//   bc.in ─> register ─┬─> region, port B (the host waits)
//                      └─> filter ─> message queue (2,048 addresses) ─> head register
//
// A word that a unit stores is in its own region at once. Some cycles later it is in all other regions, in one and the
// same cycle (broadcast.sv). An address is in the message queue once, however often it is stored before it reaches the
// head. The queue therefore cannot overflow, and no receiver ever stalls a sender. If a word arrives when its address
// is at the head, or has been there, it is queued again, so a program that reads the region after the address misses
// nothing. Without `listen` the queue drains, an address a cycle; in the 2,048 cycles after a reset nothing is queued.
// If the core and a word write a byte in the same cycle, the byte gets either value: a word should have one writer.
module broadcast_port
  import penstock_pkg::*;
(
    input wire logic  clk,
    input wire logic  rst,
    input wire unit_t unit_id,

    broadcast_if.unit bc,

    // core: a load has its address in EX and its data in MEM, a store arrives in MEM
    input  wire logic        load,
    input  wire logic [12:2] addr,    // in EX, whatever is there
    output logic      [31:0] rdata,
    input  wire logic        store,
    input  wire broadcast_t  stored,  // what is in MEM: of a load, its address
    output logic             hold,

    // host: `host_en` stays until `host_ready`; a read answers in the next cycle
    input  wire logic        host_en,
    input  wire logic        host_we,
    input  wire logic [12:2] host_addr,
    input  wire logic [31:0] host_wdata,
    output logic      [31:0] host_rdata,
    output logic             host_ready,

    // messages: of words whose address, masked, is `value`
    input  wire logic        listen,
    input  wire logic [12:2] mask,
    input  wire logic [12:2] value,
    input  wire logic        next,         // takes the head away
    output logic             head_valid,
    output logic      [12:2] head,
    output logic             head_load,    // a message has come to the head
    output logic      [7:0]  waiting,      // messages that are not read, 255 when there are more
    output logic      [3:0]  leaving       // words in the queue; one more may be at its output
);
  localparam int unsigned Words = BroadcastBytes / 4;

  // ---- words that leave
  logic room, leaves;

  fifo_dist #(
      .Width($bits(broadcast_t)),
      .Depth(8)
  ) i_out (
      .clk,
      .rst,
      .push (store && room),
      .din  (stored),
      .ready(room),
      .valid(bc.out_valid),
      .pop  (leaves),
      .dout (bc.out),
      .level(leaving)
  );

  logic again_q;  // a load came while a store had the port
  always_ff @(posedge clk) again_q <= load && store;

  assign leaves = bc.out_ready;
  assign hold = (store && !room) || again_q;

  // ---- words that come
  logic in_valid_q;
  broadcast_t in_q;

  always_ff @(posedge clk) begin
    in_valid_q <= bc.in_valid && bc.from != unit_id && !rst;
    in_q <= bc.in;
  end

  assign host_ready = !in_valid_q;

  // ---- region
  /* verilator lint_off MULTIDRIVEN */
  (* ram_style = "block", no_rw_check *) logic [31:0] mem[Words];
  /* verilator lint_on MULTIDRIVEN */

  // The address of a load arrives late, so it controls nothing else.
  wire [12:2] a_addr = store || again_q ? stored.addr : addr;

  always @(posedge clk) begin
    rdata <= mem[a_addr];
    if (store) for (int unsigned b = 0; b < 4; b++) if (stored.be[b]) mem[a_addr][b*8+:8] <= stored.data[b*8+:8];
  end

  wire b_en = in_valid_q || host_en;
  wire b_we = in_valid_q || host_we;
  wire [12:2] b_addr = in_valid_q ? in_q.addr : host_addr;
  wire [3:0] b_be = in_valid_q ? in_q.be : 4'hF;
  wire [31:0] b_wdata = in_valid_q ? in_q.data : host_wdata;

  always @(posedge clk) begin
    if (b_en) begin
      // The read comes first, even when the port also writes. The core, which may read the same word, sees the old one.
      host_rdata <= mem[b_addr];
      if (b_we) for (int unsigned b = 0; b < 4; b++) if (b_be[b]) mem[b_addr][b*8+:8] <= b_wdata[b*8+:8];
    end
  end

  // ---- messages
  //   in_q ─> read, filter ─> match_q ─> found_q ─> add
  // A memory marks the addresses that are in the queue. Its answer for a word's address counts two cycles later,
  // together with the addresses queued meanwhile. An address that has reached the head meanwhile may count as queued:
  // the word is in the region before anybody reads the head.
  (* ram_style = "block", no_rw_check *) logic queued[Words];
  logic [13:2] clear_q;  // after a reset: addresses up to here are cleared
  logic match_q, found_q, add, move, oldest_valid;
  logic [12:2] match_addr_q, found_addr_q, oldest, written;
  logic read_q, newer_q, queued_q;
  wire cleared = clear_q[13];

  always_ff @(posedge clk) begin
    match_q <= in_valid_q && listen && cleared && (in_q.addr & mask) == value && !rst;
    match_addr_q <= in_q.addr;
    found_q <= match_q && !rst;
    found_addr_q <= match_addr_q;
    if (!cleared) clear_q <= clear_q + 12'd1;
    if (rst) clear_q <= '0;
  end

  assign add = found_q && !queued_q;
  assign move = oldest_valid && !add && (!head_valid || next || !listen);
  assign written = add ? found_addr_q : cleared ? oldest : clear_q[12:2];

  always_ff @(posedge clk) begin
    if (add || move || !cleared) queued[written] <= add;
    read_q <= queued[in_q.addr];
    newer_q <= add && in_q.addr == found_addr_q;
    queued_q <= read_q || newer_q || (add && match_addr_q == found_addr_q);
  end

  fifo_block #(
      .Width(11),
      .Depth(Words)
  ) i_messages (
      .clk,
      .rst,
      .push (add),
      .din  (found_addr_q),
      .valid(oldest_valid),
      .pop  (move),
      .dout (oldest)
  );

  logic [11:0] count_q;

  always_ff @(posedge clk) begin
    if (move) head <= oldest;
    head_valid <= listen && (move || (head_valid && !next));
    head_load <= move && listen;
    waiting <= count_q > 12'd255 ? 8'd255 : count_q[7:0];
    count_q <= count_q + 12'(add) - 12'(move);
    if (rst) begin
      head_valid <= 1'b0;
      head_load <= 1'b0;
      count_q <= '0;
    end
  end
endmodule

`default_nettype wire
