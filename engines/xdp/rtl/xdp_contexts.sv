// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// The sixteen contexts: which of them issues, where each one is, and where its packet lies.
//
//   SEL    one that is ready, or an answer from outside            round robin; an answer first
//   FETCH  its program counter -> row memory
//   ROW    what it knows of its packet -> READ
//   ...
//   MEM    what its row decided: goes on, stays, waits or ends     it may be selected in the next cycle
//
// A context is ready when it has a frame, has no row on its way and waits for nothing. An answer takes a turn of its
// own: it goes down the pipeline like a row and makes its context ready at the end, so that its value is in the
// register before the next row reads. An answer may be the row of a program that takes over, but only so often on a
// frame. A context whose last row has a request becomes idle when the unit accepts that request, so no context has more
// than one in the request queue.
module xdp_contexts
  import xdp_pkg::*;
(
    input wire logic clk,
    input wire logic rst,

    // A frame is given to an idle context.
    input  wire logic                start,
    input  wire ctx_t                start_ctx,
    input  wire packet_t             start_packet,
    input  wire logic                bank,          // of the program that it begins
    output logic      [Contexts-1:0] idle,

    // An answer from outside. Its value is the core's business.
    input  wire logic answer,
    input  wire ctx_t answer_ctx,
    output logic      answer_taken,

    // FETCH
    output logic fetch_valid,
    output logic fetch_answer,
    output ctx_t fetch_ctx,
    output logic fetch_bank,
    output row_t fetch_row,

    // ROW: of the context that is there
    input  wire ctx_t row_ctx,
    output packet_t   row_packet,  // in READ

    // MEM
    input wire logic    mem_valid,   // a row or an answer is there,
    input wire ctx_t    mem_ctx,
    input wire row_t    mem_next,    // goes on here,
    input wire logic    mem_hold,    // stays where it is,
    input wire logic    mem_waits,   // asks for something,
    input wire logic    mem_ends,    // ends,
    input wire logic    mem_jumps,   // goes on where an answer says,
    output logic        mem_may_jump, // which it may,
    input wire logic    mem_adjusts, // moves its packet
    input wire extent_t mem_extent,
    input wire logic    mem_redirects,  // names an interface
    input wire logic [7:0] mem_target,

    // A request that needs no answer, or that was its context's last, has been taken.
    input wire logic accepted,
    input wire ctx_t accepted_ctx
);
  logic [Contexts-1:0] active_q, ready_q, ending_q, grant, grant_q;
  logic [Contexts-1:0] bank_q;
  row_t pc_q[Contexts];
  logic [$clog2(MaxTailCalls+1)-1:0] jumps_q[Contexts];
  logic [Contexts-1:0] may_jump_q;

  rr_arbiter #(
      .N(Contexts)
  ) pick (
      .clk,
      .rst,
      .req(answer ? '0 : ready_q),
      .accept(1'b1),
      .grant
  );

  assign answer_taken = answer;
  assign idle = ~active_q;

  // ---- SEL -> FETCH
  logic answer_q;
  ctx_t answer_ctx_q;
  always_ff @(posedge clk) begin
    grant_q <= grant;
    answer_q <= answer;
    answer_ctx_q <= answer_ctx;
    if (rst) begin
      grant_q <= '0;
      answer_q <= 1'b0;
    end
  end

  always_comb begin
    fetch_row = '0;
    fetch_ctx = answer_q ? answer_ctx_q : '0;
    for (int unsigned c = 0; c < Contexts; c++) begin
      if (grant_q[c]) begin
        fetch_row |= pc_q[c];
        fetch_ctx |= ctx_t'(c);
      end
    end
  end
  assign fetch_bank = (grant_q & bank_q) != '0;
  assign fetch_valid = grant_q != '0;
  assign fetch_answer = answer_q;

  // ---- ROW -> READ: the packet as it was in the beginning, and what rows have changed since
  (* ram_style = "distributed" *) packet_t packets[Contexts];
  (* ram_style = "distributed" *) extent_t extents[Contexts];
  (* ram_style = "distributed" *) logic [7:0] targets[Contexts];
  logic [Contexts-1:0] adjusted_q, redirected_q;
  wire adjusts = mem_valid && mem_adjusts;
  wire redirects = mem_valid && mem_redirects;
  always_ff @(posedge clk) begin
    if (start) packets[start_ctx] <= start_packet;
    if (adjusts) extents[mem_ctx] <= mem_extent;
    if (redirects) targets[mem_ctx] <= mem_target;
  end
  always_ff @(posedge clk) begin
    row_packet <= packets[row_ctx];
    if (adjusted_q[row_ctx]) row_packet.extent <= extents[row_ctx];
    if (redirected_q[row_ctx]) row_packet.target <= targets[row_ctx];
  end

  // ---- MEM
  assign mem_may_jump = may_jump_q[mem_ctx];
  for (genvar c = 0; c < Contexts; c++) begin : gen_context
    wire mem_here = mem_valid && mem_ctx == ctx_t'(c);
    wire begins = start && start_ctx == ctx_t'(c);
    wire accepted_here = accepted && accepted_ctx == ctx_t'(c);

    always_ff @(posedge clk) begin
      if (grant[c]) ready_q[c] <= 1'b0;
      if (begins || (mem_here && !mem_waits && !mem_ends) || (accepted_here && !ending_q[c])) ready_q[c] <= 1'b1;
      if ((mem_here && mem_ends && !mem_waits) || (accepted_here && ending_q[c])) active_q[c] <= 1'b0;
      if (mem_here) ending_q[c] <= mem_ends && mem_waits;
      if (begins) active_q[c] <= 1'b1;
      if (rst) begin
        ready_q[c]  <= 1'b0;
        active_q[c] <= 1'b0;
      end
    end

    always_ff @(posedge clk) begin
      if (mem_here && !mem_hold) pc_q[c] <= mem_next;
      if (mem_here && mem_jumps) begin
        jumps_q[c] <= jumps_q[c] + 1'b1;
        may_jump_q[c] <= 32'(jumps_q[c]) + 1 < MaxTailCalls;
      end
      if (begins) begin
        pc_q[c] <= '0;
        jumps_q[c] <= '0;
        may_jump_q[c] <= 1'b1;
      end
      if (begins) bank_q[c] <= bank;
      if (mem_here && mem_adjusts) adjusted_q[c] <= 1'b1;
      if (mem_here && mem_redirects) redirected_q[c] <= 1'b1;
      if (begins) {adjusted_q[c], redirected_q[c]} <= '0;
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk) begin
    if (!rst) begin
      assert (!start || !active_q[start_ctx]) else $error("%m: a frame for a context that has one");
      assert (!mem_valid || active_q[mem_ctx]) else $error("%m: a row of no frame");
      assert (!mem_jumps || 32'(jumps_q[mem_ctx]) < MaxTailCalls) else $error("%m: one tail call too many");
      assert ((grant & ~active_q) == '0) else $error("%m: an idle context issues");
    end
  end
`endif
endmodule

`default_nettype wire
