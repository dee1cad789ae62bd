// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// Queues for the proof of the delivery (delivery.sv), of any size. A queue counts its words and keeps one of them,
// which the proof watches and which comes out in its turn; the other words are any. This is what the proof of the queues says
// of them (lib/formal/fifos.sv), except that a queue is not proven to have a place for each push. A queue of as many
// words as there are slots has, because a message is in it once; of the others it is proven here. The scripts cut
// signals whose names begin with `open`.
module fifo_watched
  import l7_pkg::*;
#(
    parameter int unsigned Width = 8,
    parameter int unsigned Depth = 32
) (
    input wire logic clk,
    input wire logic rst,

    input wire logic             push,
    input wire logic             watch,  // the word that is pushed now
    input wire logic [Width-1:0] din,

    output logic             valid,
    input  wire logic        pop,
    output logic [Width-1:0] dout
);
  wire open_valid = '0;
  wire [Width-1:0] open_dout = '0;
  logic [9:0] count_q, ahead_q;  // words, and those in front of the watched one
  logic has_q, kept_q;
  logic [Width-1:0] word_q, kept_word_q;
  wire first = has_q && ahead_q == '0;
  wire pops = valid && pop;

  assign valid = open_valid;
  assign dout  = first ? word_q : open_dout;

  always_ff @(posedge clk) begin
    count_q <= count_q + 10'(push) - 10'(pops);
    if (pops) begin
      if (first) has_q <= 1'b0;
      ahead_q <= ahead_q - 1'b1;
    end
    if (push && watch) begin
      has_q <= 1'b1;
      ahead_q <= count_q - 10'(pops);
      word_q <= din;
    end
    kept_q <= valid && !pop;
    kept_word_q <= dout;
    if (rst) {count_q, has_q, kept_q} <= '0;
  end

  always_comb begin
    if (count_q == '0) assume (!valid);
    if (kept_q) assume (valid && dout == kept_word_q);
    if (Depth >= Slots) assume (32'(count_q) + 32'(push) <= Depth);
    if (!rst) begin
      if (Depth < Slots) assert (32'(count_q) <= Depth + 1);  // with the output register
      assert (!kept_q || (count_q != '0 && (!first || kept_word_q == word_q)));
      assert (!has_q || ahead_q < count_q);
      assert (!(push && watch && has_q));
    end
  end
endmodule

module fifo_block #(
    parameter int unsigned Width  = 8,
    parameter int unsigned Depth  = 512,
    parameter bit          Bypass = 1'b0
) (
    input wire logic clk,
    input wire logic rst,

    input wire logic             push,
    input wire logic [Width-1:0] din,

    output logic             valid,
    input  wire logic        pop,
    output logic [Width-1:0] dout
);
  wire open_watch = '0;
  fifo_watched #(
      .Width(Width),
      .Depth(Depth)
  ) i_queue (
      .watch(open_watch),
      .*
  );
endmodule

module fifo_dist #(
    parameter int unsigned Width = 8,
    parameter int unsigned Depth = 32,
    parameter int unsigned Room  = 1
) (
    input wire logic clk,
    input wire logic rst,

    input  wire logic             push,
    input  wire logic [Width-1:0] din,
    output logic                  ready,

    output logic                  valid,
    input  wire logic             pop,
    output logic      [Width-1:0] dout,

    output logic [$clog2(Depth):0] level
);
  wire open_watch = '0;
  wire open_ready = '0;
  wire [$clog2(Depth):0] open_level = '0;
  assign ready = open_ready;
  assign level = open_level;
  always_comb assume (!ready || 32'(i_queue.count_q) <= Depth - Room + 1);
  fifo_watched #(
      .Width(Width),
      .Depth(Depth)
  ) i_queue (
      .watch(open_watch),
      .*
  );
endmodule

`default_nettype wire
