// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// A number of a pool has one user at a time, a number that was returned can soon be allocated again, and a number that is
// offered stays until it is taken: rtl/l7_pool.sv and lib/rtl/fifo_block.sv as they are, with four numbers. By induction
// from a reset on.
//
// Taken for granted: a user takes a number only while `valid`, and returns only a number that it has.
module pool #(
    parameter int unsigned Depth = 4
) (
    input wire logic clk,

    input wire logic take,
    input wire logic give,
    input wire logic [$clog2(Depth)-1:0] give_id
);
  localparam int unsigned IdW = $clog2(Depth);
  typedef logic [IdW-1:0] id_t;
  typedef logic [IdW:0] count_t;

  logic started_q = 1'b0;
  always_ff @(posedge clk) started_q <= 1'b1;
  wire rst = !started_q;

  logic valid;
  id_t id;
  l7_pool #(
      .Depth(Depth)
  ) dut (
      .clk,
      .rst,
      .valid,
      .id,
      .take,
      .give,
      .give_id
  );

  logic [Depth-1:0] used_q;
  logic [1:0] given_q;  // in the last cycles
  logic offered_q;  // `offer_q`, and it was not taken
  id_t offer_q;
  always_comb begin
    assume (!take || valid);
    assume (!give || used_q[give_id]);
  end
  always_ff @(posedge clk) begin
    if (take) used_q[id] <= 1'b1;
    if (give) used_q[give_id] <= 1'b0;
    given_q <= {given_q[0], give};
    offered_q <= valid && !take;
    offer_q <= id;
    if (rst) begin
      used_q  <= '0;
      given_q <= '0;
      offered_q <= 1'b0;
    end
  end

  // For the induction: each number is in one place. It is used, or not yet taken, or in the queue.
  wire count_t stored = dut.i_old.wr_q - dut.i_old.rd_q;
  logic [Depth-1:0][IdW+1:0] places;  // of each number
  always_comb
    for (int unsigned n = 0; n < Depth; n++) begin
      places[n] = (IdW + 2)'(used_q[n]) + (IdW + 2)'(count_t'(n) >= dut.fresh_q) +
          (IdW + 2)'(dut.i_old.mem_valid_q && dut.i_old.mem_data == id_t'(n)) +
          (IdW + 2)'(dut.i_old.valid_q && dut.i_old.dout_q == id_t'(n));
      for (int unsigned i = 0; i < Depth; i++)
        if (count_t'(i) < stored && dut.i_old.i_ram.gen_block.mem[id_t'(dut.i_old.rd_q + count_t'(i))] == id_t'(n))
          places[n] = places[n] + 1'b1;
    end
  always_ff @(posedge clk)
    if (!rst) begin
      assert (!valid || !used_q[id]);
      assert (!offered_q || (valid && id == offer_q));
      assert (valid || count_t'(Depth) - count_t'($countones(used_q)) <= count_t'($countones(given_q)));
      assert (dut.fresh_q <= count_t'(Depth) && stored <= count_t'(Depth));
      for (int unsigned n = 0; n < Depth; n++) assert (places[n] == (IdW + 2)'(1));
    end
endmodule

`default_nettype wire
