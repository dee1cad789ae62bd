// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// The proof that the queue between two clocks, lib/fifo_async.sv as it is, with its own assertions and four places,
// loses no word, doubles none, keeps their order and never overflows, and that of its Gray codes at most one bit changes
// at a time.
// Both clocks are free: any edge of either may come in any step, or both at once. A bit that crosses may be sampled late
// (PENSTOCK_METASTABLE in sync_bits.sv), and which is open. When the writer writes, commits and discards, and when the
// reader pops, is open.
//
// The writer numbers the words that it will commit, and the reader must find the numbers in turn.
//
// Taken for granted: the registers are clear at the beginning, as reset_pair leaves them; the writer looks at `ready` in
// the cycle of its push.
module two_clocks (
    input wire logic wr_clk,
    input wire logic rd_clk,
    input wire logic go,
    input wire logic commit,
    input wire logic discard,
    input wire logic pop
);
  localparam int unsigned Depth = 4;
  typedef logic [3:0] number_t;

  logic ready, valid;
  number_t dout;
  number_t in_q = '0, kept_q = '0, out_q = '0;
  wire push = go && ready;
  wire number_t after = in_q + number_t'(push);

  fifo_async #(
      .Width(4),
      .Depth(Depth)
  ) queue (
      .wr_clk,
      .wr_rst(1'b0),
      .wr_clear(1'b0),
      .push,
      .din(in_q),
      .commit,
      .discard,
      .ready,
      .rd_clk,
      .rd_rst(1'b0),
      .rd_clear(1'b0),
      .valid,
      .pop,
      .dout,
      .more()
  );

  always_comb assume (!(commit && discard));
  always_ff @(posedge wr_clk) begin
    in_q <= discard ? kept_q : after;
    if (commit) kept_q <= after;
  end
  always_ff @(posedge rd_clk) begin
    if (valid && pop) out_q <= out_q + 1'b1;
    assert (!valid || dout == out_q);
  end

  // For the induction: the pointers stand in the order in which they follow each other, from what the writer knows of the
  // reader to the next word that it writes, at most Depth apart.
  typedef logic [2:0] pointer_t;
  function automatic pointer_t decoded(pointer_t gray);
    return {gray[2], gray[2] ^ gray[1], gray[2] ^ gray[1] ^ gray[0]};
  endfunction
  localparam int unsigned Pointers = 11;
  pointer_t [Pointers-1:0] chain;
  assign chain = {
    queue.wr_q,
    queue.kept_q,
    queue.published_q,
    decoded(queue.i_published.src_q),
    decoded(queue.i_published.first_q),
    decoded(queue.i_published.second_q),
    queue.rd_q,
    decoded(queue.i_read.src_q),
    decoded(queue.i_read.first_q),
    decoded(queue.i_read.second_q),
    queue.read_q
  };
  wire pointer_t published_src = decoded(queue.i_published.src_q);
  wire pointer_t published_before = decoded(queue.i_published.before_q);
  wire pointer_t read_src = decoded(queue.i_read.src_q);
  wire pointer_t read_before = decoded(queue.i_read.before_q);
  wire pointer_t level = queue.wr_q - queue.read_q;
  wire pointer_t held = queue.wr_q - queue.rd_q;
  wire number_t first = in_q - number_t'(held);  // number of the word that `rd_q` names
  always_comb begin
    for (int unsigned i = 1; i < Pointers; i++)
      assert (pointer_t'(chain[i-1] - queue.read_q) <= pointer_t'(chain[i] - queue.read_q));
    assert (level <= pointer_t'(Depth));
    assert (!ready || level < pointer_t'(Depth));
    // A sample is what the source register has, or had before; never less than the sample before it.
    assert (pointer_t'(queue.published_q - published_src) <= 3'd1);
    assert (pointer_t'(published_src - published_before) <= 3'd1);
    assert (pointer_t'(queue.rd_q - read_src) <= 3'd1 && pointer_t'(read_src - read_before) <= 3'd1);
    assert (queue.i_published.seen_q == queue.i_published.src_q ||
        pointer_t'(published_src - published_before) <= pointer_t'(published_src - decoded(queue.i_published.first_q)));
    assert (queue.i_read.seen_q == queue.i_read.src_q ||
        pointer_t'(read_src - read_before) <= pointer_t'(read_src - decoded(queue.i_read.first_q)));
    assert (number_t'(in_q - kept_q) == number_t'(pointer_t'(queue.wr_q - queue.kept_q)));
    assert (first == number_t'(out_q + number_t'(queue.valid_q) + number_t'(queue.mem_valid_q)));
    assert (!queue.mem_valid_q || queue.mem_data == number_t'(out_q + number_t'(queue.valid_q)));
    assert (!queue.valid_q || queue.dout_q == out_q);
    for (int unsigned i = 0; i < Depth; i++)
      assert (pointer_t'(i) >= held ||
          queue.i_ram.mem[2'(queue.rd_q + pointer_t'(i))] == number_t'(first + number_t'(i)));
  end

  // Gray codes
  pointer_t published_q = '0, read_q = '0;
  always_ff @(posedge wr_clk) begin
    published_q <= queue.i_published.d;
    assert ($onehot0(published_q ^ queue.i_published.d));
  end
  always_ff @(posedge rd_clk) begin
    read_q <= queue.i_read.d;
    assert ($onehot0(read_q ^ queue.i_read.d));
  end

`ifdef COVER
  always_ff @(posedge wr_clk) cover (in_q == 4'd4 && !ready && out_q == 0);  // to the last place
  always_ff @(posedge rd_clk) cover (out_q == 4'd2);
`endif
endmodule

`default_nettype wire
