// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// The proof that the queues in one clock lose no word, double none and keep their order, that they never overflow under
// the room contract (lib/rtl/penstock_pkg.sv), and that nothing comes out of an empty one: rtl/fifo_block.sv,
// fifo_dist.sv and fifo_keyed.sv as they are, with their own assertions, with four places each.
//
// A queue does not look at its words. The writer therefore numbers them, and the reader must find the numbers in turn.
// They count to 16, more than the words in a queue. The solver chooses when the writer pushes and the reader pops.
//
// Taken for granted: the writer of fifo_dist and fifo_keyed looks at `ready` Room - 1 cycles before its push; that of
// fifo_block counts the words that have not left; the reader of fifo_keyed pops while `valid` only.
module fifos #(
    parameter int unsigned Depth = 4,
    parameter int unsigned Room  = 2
) (
    input wire logic clk,
    input wire logic go_dist,
    input wire logic pop_dist,
    input wire logic go_keyed,
    input wire logic pop_keyed,
    input wire logic [1:0] push_block,
    input wire logic [1:0] pop_block
);
  localparam int unsigned AddrW = $clog2(Depth);
  typedef logic [3:0] number_t;
  typedef logic [AddrW-1:0] addr_t;
  typedef logic [AddrW:0] count_t;

  logic started_q = 1'b0;
  always_ff @(posedge clk) started_q <= 1'b1;
  wire rst = !started_q;

  // ---- fifo_dist
  logic ready_dist, push_dist, valid_dist;
  number_t in_dist_q, out_dist_q, dout_dist;
  count_t level_dist;
  always_comb assume (!go_dist || ready_dist);
  always_ff @(posedge clk) begin
    push_dist <= go_dist && !rst;
    if (push_dist) in_dist_q <= in_dist_q + 1'b1;
    if (valid_dist && pop_dist) out_dist_q <= out_dist_q + 1'b1;
    if (rst) {in_dist_q, out_dist_q} <= '0;
  end
  fifo_dist #(
      .Width(4),
      .Depth(Depth),
      .Room (Room)
  ) plain (
      .clk,
      .rst,
      .push (push_dist),
      .din  (in_dist_q),
      .ready(ready_dist),
      .valid(valid_dist),
      .pop  (pop_dist),
      .dout (dout_dist),
      .level(level_dist)
  );
  always_ff @(posedge clk)
    if (!rst) begin
      assert (!valid_dist || dout_dist == out_dist_q);
      assert (number_t'(in_dist_q - out_dist_q) == number_t'(level_dist) + number_t'(valid_dist));
      // For the induction: what lies in the memory; and the words on their way have places.
      for (int unsigned i = 0; i < Depth; i++)
        assert (count_t'(i) >= level_dist ||
            plain.mem[addr_t'(plain.rd_q + count_t'(i))] == out_dist_q + number_t'(valid_dist) + number_t'(i));
      assert (level_dist + count_t'(push_dist) <= count_t'(Depth));
      assert (!ready_dist || level_dist <= count_t'(Depth - Room));
    end

  // ---- fifo_keyed
  logic ready_keyed, push_keyed, valid_keyed, popped_q;
  number_t in_keyed_q, out_keyed_q, body_keyed;
  logic [1:0] key_keyed;
  count_t level_keyed;
  always_comb assume (!go_keyed || ready_keyed);
  always_comb assume (!pop_keyed || valid_keyed);
  always_ff @(posedge clk) begin
    push_keyed <= go_keyed && !rst;
    if (push_keyed) in_keyed_q <= in_keyed_q + 1'b1;
    if (pop_keyed) out_keyed_q <= out_keyed_q + 1'b1;
    popped_q <= pop_keyed && !rst;
    if (rst) {in_keyed_q, out_keyed_q} <= '0;
  end
  fifo_keyed #(
      .KeyW (2),
      .BodyW(4),
      .Depth(Depth),
      .Room (Room)
  ) keyed (
      .clk,
      .rst,
      .push   (push_keyed),
      .key_in (in_keyed_q[1:0]),
      .body_in(in_keyed_q),
      .ready  (ready_keyed),
      .valid  (valid_keyed),
      .key    (key_keyed),
      .pop    (pop_keyed),
      .body   (body_keyed),
      .level  (level_keyed)
  );
  wire number_t held_keyed = in_keyed_q - out_keyed_q;
  wire number_t before_keyed = out_keyed_q - 1'b1;
  always_ff @(posedge clk)
    if (!rst) begin
      assert (!valid_keyed || key_keyed == out_keyed_q[1:0]);
      assert (!popped_q || body_keyed == before_keyed);
      assert (held_keyed == number_t'(level_keyed) + number_t'(valid_keyed));
      for (int unsigned i = 0; i < Depth; i++) begin
        assert (count_t'(i) >= level_keyed || keyed.i_keys.mem[addr_t'(keyed.i_keys.rd_q + count_t'(i))] ==
            2'(out_keyed_q + number_t'(valid_keyed) + number_t'(i)));
        assert (number_t'(i) >= held_keyed ||
            keyed.mem[addr_t'(keyed.rd_q + addr_t'(i))] == number_t'(out_keyed_q + number_t'(i)));
      end
      assert (addr_t'(keyed.wr_q - keyed.rd_q) == addr_t'(held_keyed));
      assert (held_keyed + number_t'(push_keyed) <= number_t'(Depth));
      assert (!ready_keyed || level_keyed <= count_t'(Depth - Room - 1));
    end

  // ---- fifo_block, without a bypass and with one
  for (genvar b = 0; b < 2; b++) begin : gen_block
    logic valid;
    number_t in_q, out_q, dout;
    wire number_t held = in_q - out_q;
    always_comb assume (!push_block[b] || held < number_t'(Depth));
    always_ff @(posedge clk) begin
      if (push_block[b]) in_q <= in_q + 1'b1;
      if (valid && pop_block[b]) out_q <= out_q + 1'b1;
      if (rst) {in_q, out_q} <= '0;
    end
    fifo_block #(
        .Width (4),
        .Depth (Depth),
        .Bypass(b == 1)
    ) block (
        .clk,
        .rst,
        .push (push_block[b]),
        .din  (in_q),
        .valid(valid),
        .pop  (pop_block[b]),
        .dout (dout)
    );
    wire count_t stored = block.wr_q - block.rd_q;
    wire number_t first = out_q + number_t'(block.valid_q) + number_t'(block.mem_valid_q);
    always_ff @(posedge clk)
      if (!rst) begin
        assert (!valid || dout == out_q);
        assert (!block.mem_valid_q || block.mem_data == number_t'(out_q + number_t'(block.valid_q)));
        assert (number_t'(in_q - first) == number_t'(stored));
        assert (held <= number_t'(Depth));
        assert (stored <= count_t'(Depth));
        for (int unsigned i = 0; i < Depth; i++)
          assert (count_t'(i) >= stored ||
              block.i_ram.gen_block.mem[addr_t'(block.rd_q + count_t'(i))] == number_t'(first + number_t'(i)));
      end
`ifdef COVER
    always_ff @(posedge clk)
      if (!rst) begin
        cover (held == number_t'(Depth));
        cover (out_q == 4'd6 && !valid && stored == 0);
        cover (b == 0 || (block.passes && valid));
      end
`endif
  end

`ifdef COVER
  always_ff @(posedge clk)
    if (!rst) begin
      cover (level_dist == count_t'(Depth) && valid_dist);     // to the last place
      cover (held_keyed == number_t'(Depth));
      cover (out_dist_q == 4'd6 && !valid_dist);               // around the memory, and empty
      cover (out_keyed_q == 4'd6 && !valid_keyed);
    end
`endif
endmodule

`default_nettype wire
