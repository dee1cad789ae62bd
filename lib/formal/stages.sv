// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// The proof that links with a handshake work with one register stage each way: rtl/frame_stages.sv loses no beat, doubles
// none, keeps their order and never overflows, with its own assertions; rtl/cfg_stages.sv carries out each access once.
//
// The sender numbers its beats, and the receiver must find the numbers in turn. When either is ready is open. The
// requester of accesses holds `req` until `ack`, and lets it fall for a cycle or more; the far end answers some time.
module stages
  import penstock_pkg::*;
(
    input wire logic clk,
    input wire logic valid,
    input wire logic ready,
    input wire logic ask,
    input wire logic answer
);
  logic started_q = 1'b0;
  always_ff @(posedge clk) started_q <= 1'b1;
  wire rst = !started_q;

  // ---- frames
  frame_if from ();
  frame_if to ();
  logic [3:0] in_q, out_q;
  assign from.valid = valid && !rst;
  assign from.data = in_q;
  assign from.last = in_q[0];
  assign from.meta = ~in_q;
  assign to.ready = ready;
  always_ff @(posedge clk) begin
    if (from.valid && from.ready) in_q <= in_q + 1'b1;
    if (to.valid && to.ready) out_q <= out_q + 1'b1;
    if (rst) {in_q, out_q} <= '0;
  end
  frame_stages #(
      .Stages(1)
  ) frames (
      .clk,
      .rst,
      .from(from),
      .to(to)
  );
  wire [3:0] level = frames.gen_stages.i_queue.level_now;
  wire [3:0] first = out_q + 4'(to.valid);  // number of the first beat in the memory
  wire push = frames.gen_stages.push;
  wire beat_t late = frames.gen_stages.late;
  always_ff @(posedge clk)
    if (!rst) begin
      assert (!to.valid || (to.data == out_q && to.last == out_q[0] && to.meta == ~out_q));
      // For the induction
      assert (in_q == first + level + 4'(push));
      assert (!push || late == {~(in_q - 4'd1), in_q[0] == 1'b0, in_q - 4'd1});
      assert (level + 4'(push) <= 4'd8);
      for (int unsigned i = 0; i < 8; i++)
        assert (4'(i) >= level || frames.gen_stages.i_queue.mem[3'(frames.gen_stages.i_queue.rd_q + 4'(i))] ==
            {~(first + 4'(i)), first[0] ^ (i % 2 == 1), first + 4'(i)});
    end

  // ---- accesses
  cfg_if #(.ADDR_W(2)) near ();
  cfg_if #(.ADDR_W(2)) far ();
  logic req_q, idle_q;
  logic carried_q;  // the far end has carried out the access that the requester waits for
  assign near.req = req_q;
  assign near.we = 1'b0;
  assign near.addr = '0;
  assign near.wdata = '0;
  assign far.ack = far.req && answer;
  assign far.err = 1'b0;
  assign far.rdata = '0;
  always_ff @(posedge clk) begin
    req_q <= req_q ? !near.ack : ask;
    carried_q <= far.ack || (carried_q && !near.ack);
    if (rst) {req_q, carried_q} <= '0;
  end
  cfg_stages #(
      .AddrW (2),
      .Stages(1)
  ) accesses (
      .clk,
      .rst,
      .from(near),
      .to(far)
  );
  wire seen = accesses.gen_stages.req;
  wire done = accesses.gen_stages.done_q;
  always_ff @(posedge clk)
    if (!rst) begin
      assert (!near.ack || req_q);
      assert (!far.req || req_q);                // nobody asks for nothing
      assert (!far.ack || !carried_q);           // once
      assert (!near.ack || (carried_q && done));
      // For the induction: where an access may be
      assert (!carried_q || (req_q && seen && done));
      assert (!(done && req_q && seen) || carried_q);
    end

`ifdef COVER
  always_ff @(posedge clk)
    if (!rst) begin
      cover (level == 4'd5 && to.valid);
      cover (out_q == 4'd9);
      cover (near.ack && in_q == 4'd3);
    end
`endif
endmodule

`default_nettype wire
