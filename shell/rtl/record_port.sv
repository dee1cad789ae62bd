// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// Records of one inline block on their way to the host and back (`record_t` in shell/regs/inline.rdl).
//
//   block ─> queue of 512 ─> HEAD: the host reads the oldest record word by word, and removes it with a write to POP
//            3
//   block <─ one record   <─ SEND: the host writes a record word by word; the last word sends it
//            1
//
// A full queue holds `from_block`; the block decides whether it waits or drops the record. The host must see ROOM
// before it sends: a last word without room is answered with an error, and changes nothing. An access takes two cycles.
module record_port
  import penstock_pkg::*, regs_pkg::*;
#(
    parameter int unsigned Number = 0  // of the block, which the shell writes into its records
) (
    input wire logic clk,
    input wire logic rst,

    record_if.snk from_block,
    record_if.src to_block,

    input  wire logic        req,   // until `ack`, which lasts one cycle
    input  wire logic        we,
    input  wire logic [ 7:0] addr,
    input  wire logic [31:0] wdata,
    output logic             ack,
    output logic             err,
    output logic      [31:0] rdata
);
  localparam int unsigned Depth = 512;
  localparam int unsigned Words = $bits(record_t) / 32;
  localparam int unsigned LevelW = $clog2(Depth) + 1;

  // ---- to the host
  logic [LevelW-1:0] level_q;
  logic ready_q, head_valid, pop;
  record_t in, head;
  assign from_block.ready = ready_q;
  wire push = from_block.valid && ready_q;
  always_comb begin
    in = from_block.data;
    in.block = 8'(Number);
  end

  fifo_block #(
      .Width($bits(record_t)),
      .Depth(Depth)
  ) i_queue (
      .clk,
      .rst,
      .push,
      .din  (in),
      .valid(head_valid),
      .pop,
      .dout (head)
  );

  // ---- from the host
  logic [Words-1:0][31:0] send_q;
  logic full_q, sends;
  assign to_block.valid = full_q;
  assign to_block.data  = record_t'(send_q);

  // ---- access
  wire starts = req && !ack;
  wire is_head = 32'(addr) < INLINE_RECORDS_HEAD + 4 * Words;
  wire is_send = 32'(addr) >= INLINE_RECORDS_SEND && 32'(addr) < INLINE_RECORDS_SEND + 4 * Words;
  wire is_last = 32'(addr) == INLINE_RECORDS_SEND + 4 * (Words - 1);
  wire is_level = 32'(addr) == INLINE_RECORDS_LEVEL;
  wire is_pop = 32'(addr) == INLINE_RECORDS_POP;
  wire is_room = 32'(addr) == INLINE_RECORDS_ROOM;
  assign pop = starts && we && is_pop && head_valid;
  assign sends = starts && we && is_last && !full_q;

  always_ff @(posedge clk) begin
    ack <= starts && !rst;
    err <= we ? !(is_send && !full_q) && !(is_pop && head_valid) : !is_head && !is_level && !is_room;
    rdata <= '0;
    if (is_head) rdata <= head_valid ? 32'(head >> {addr[5:2], 5'b0}) : '0;
    // A record on its way to the head does not count.
    if (is_level) rdata <= head_valid ? 32'(level_q) : '0;
    if (is_room) rdata <= 32'(!full_q);
    if (starts && we && is_send && !full_q) send_q[addr[5:2]] <= wdata;
    full_q <= sends || (full_q && !to_block.ready);
    level_q <= level_q + LevelW'(push) - LevelW'(pop);
    ready_q <= level_q < LevelW'(Depth - 4);
    if (rst) begin
      full_q  <= 1'b0;
      level_q <= '0;
      ready_q <= 1'b0;
    end
  end

`ifndef SYNTHESIS
  logic waits_q;
  record_t waiting_q;
  always_ff @(posedge clk) begin
    waits_q <= from_block.valid && !from_block.ready && !rst;
    waiting_q <= from_block.data;
    if (!rst && waits_q)
      assert (from_block.valid && from_block.data == waiting_q) else $error("%m: a record changed while it waited");
  end
`endif
endmodule

`default_nettype wire
