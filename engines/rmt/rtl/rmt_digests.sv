// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// Makes a record for the host of each frame whose program sends a digest.
//
//   vectors of each lane ─> queue of 512 ─┐
//   at the exit                           ├─> GATHER: a word of the record in each cycle ─> record ─> to_host
//                       ─> queue of 512 ─┘    10
//
// The lanes take turns, and a record takes 12 cycles, so a block sends 20.8 million records a second; the host takes
// an eighth of that. A vector that finds its queue full is lost and counted; no frame ever waits.
//
// A lane costs 16 block memories for its queue, about 1,100 flip-flops for the queue's output, and 260 LUTs that choose
// the word that is gathered.
module rmt_digests
  import penstock_pkg::*, rmt_pkg::*;
#(
    parameter int unsigned Ports = 2
) (
    input wire logic        clk,
    input wire logic        rst,
    input wire logic [63:0] now,  // ns

    input wire digest_t [Lanes-1:0] digests,

    record_if.src            to_host,
    output logic [Lanes-1:0] lost  // a frame of the lane
);
  localparam int unsigned Depth = 512;
  localparam int unsigned LevelW = $clog2(Depth) + 1;
  localparam int unsigned WordW = $clog2(DigestWords);

  typedef logic [$clog2(Lanes)-1:0] lane_t;

  logic [Lanes-1:0] waits, pop, full;
  digest_t [Lanes-1:0] head;

  for (genvar l = 0; l < Lanes; l++) begin : gen_lane
    if (l < Ports) begin : gen_queue
      logic push;
      logic [LevelW-1:0] level_q;

      assign push = digests[l].valid && level_q != LevelW'(Depth);
      assign full[l] = digests[l].valid && !push;
      always_ff @(posedge clk) begin
        level_q <= level_q + LevelW'(push) - LevelW'(pop[l]);
        if (rst) level_q <= '0;
      end
`ifndef SYNTHESIS
      always_ff @(posedge clk) begin
        if (!rst) begin
          assert (level_q <= LevelW'(Depth)) else $error("%m: the queue holds more than it has room for");
          assert (!pop[l] || waits[l]) else $error("%m: a vector is taken that is not there");
        end
      end
`endif

      fifo_block #(
          .Width($bits(digest_t)),
          .Depth(Depth)
      ) i_queue (
          .clk,
          .rst,
          .push,
          .din  (digests[l]),
          .valid(waits[l]),
          .pop  (pop[l]),
          .dout (head[l])
      );
    end else begin : gen_no_queue
      assign waits[l] = 1'b0;
      assign full[l] = 1'b0;
      assign head[l] = '0;
    end
  end

  // ---- GATHER
  logic active_q;
  lane_t lane_q, lane_d;
  logic [WordW-1:0] at_q;
  digest_t from;
  word_t [DigestWords-1:0] words_q;
  record_t record_d;

  always_comb begin
    lane_d = lane_q;
    for (int unsigned n = Lanes; n > 0; n--) if (waits[lane_t'(32'(lane_q)+n)]) lane_d = lane_t'(32'(lane_q) + n);
  end

  assign from = head[lane_q];
  wire gathered = 32'(at_q) == DigestWords;
  wire sends = active_q && gathered && !to_host.valid;

  always_comb begin
    for (int unsigned l = 0; l < Lanes; l++) pop[l] = sends && 32'(lane_q) == l;
    record_d = '0;
    record_d.own = words_q;
    record_d.mark = from.vector[MarkWord];
    record_d.at = now;
    record_d.queue_id = {from.sent, 3'd0, from.bt[6]};
    record_d.port = port_t'(lane_q);
    record_d.tenant = 8'(from.bt[5:0]);
    record_d.reason = 8'd1;
  end

  always_ff @(posedge clk) begin
    if (!active_q) begin
      active_q <= waits != '0;
      lane_q <= lane_d;
      at_q <= '0;
    end else if (!gathered) begin
      at_q <= at_q + 1'b1;
      words_q[at_q] <= from.vector[from.word[at_q]];
    end
    if (sends) begin
      active_q <= 1'b0;
      to_host.data <= record_d;
    end
    to_host.valid <= sends || (to_host.valid && !to_host.ready);
    lost <= full;
    if (rst) begin
      active_q <= 1'b0;
      lane_q <= '0;
      to_host.valid <= 1'b0;
      lost <= '0;
    end
  end
endmodule

`default_nettype wire
