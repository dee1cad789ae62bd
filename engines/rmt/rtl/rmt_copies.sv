// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// Keeps frames that are to be copied, and makes their copies. Each lane has one for multicast groups, one for clones.
//
//   frames of which copies are made ─> KEEP ─> memory, eight queues of 64 beats ─> WALK ─> copies, a beat a cycle
//   a beat a cycle, and never held      │                                            │
//                                       └─> lost: no room in the queue               └─> done: all copies have left
//
// A tenant that copies frames has a queue of its own, so its frames take no room of another's. A frame is kept if all
// its beats fit; else it is lost, and the frames behind it may fit again. The walker takes one frame of each queue in
// turn and makes its copies one behind the other, so a queue waits for one frame of each other queue at most.
//
// Two cycles lie between the last copy of a frame and the first one of the next.
module rmt_copies
  import penstock_pkg::*, rmt_pkg::*;
#(
    parameter int unsigned Number = 0  // of the block, from the ports on
) (
    input wire logic clk,
    input wire logic rst,

    input wire logic       keep,
    input wire kept_t      kept,
    input wire logic       first,  // of the frame
    input wire logic [8:0] beats,  // of the frame

    output logic     copy_valid,
    input  wire logic copy_pop,
    output kept_t    copy,
    output verdict_t copy_verdict,
    output logic     copy_punted,  // it goes to the controller
    output logic     copy_bank,    // of the program that sends it there

    output logic waits,  // a frame waits whose copies have not all left
    output logic lost,
    output logic done
);
  localparam int unsigned RowW = $clog2(QueueBeats);
  localparam int unsigned IndexW = $clog2(MaxCopies);
  localparam int unsigned QueueW = $clog2(Queues);

  typedef logic [RowW-1:0] row_t;
  typedef logic [QueueW-1:0] queue_t;

  logic [Queues-1:0][RowW:0] used_q;  // beats of whole frames
  row_t [Queues-1:0] head_q, tail_q;

  // ---- KEEP
  logic fits, fits_q, we;
  row_t put_q, put;

  assign fits = first ? 10'(used_q[kept.queue_no]) + 10'(beats) <= 10'(QueueBeats) : fits_q;
  assign put = first ? tail_q[kept.queue_no] : put_q;
  assign we = keep && fits;
  assign lost = keep && kept.last && !fits;

  always_ff @(posedge clk)
    if (keep) begin
      fits_q <= fits;
      put_q  <= put + 1'b1;
    end

  // ---- WALK
  logic active_q, read, valid_q, more, some;
  queue_t queue_q, next_queue;
  row_t at_q, at;
  logic [MaxCopies-1:0] made_q, left;  // copies of the frame that have left, and those that have not
  logic [IndexW-1:0] index;  // of the copy that leaves
  kept_t row;

  always_comb begin
    some = 1'b0;
    next_queue = queue_q;
    for (int unsigned n = Queues; n > 0; n--)
      if (used_q[queue_t'(32'(queue_q)+n)] != '0) begin
        some = 1'b1;
        next_queue = queue_t'(32'(queue_q) + n);
      end
  end

  for (genvar n = 0; n < MaxCopies; n++) begin : gen_left
    assign left[n] = row.copies[n].valid && !made_q[n];
  end

  always_comb begin
    index = '0;
    more = 1'b0;  // than the one that leaves
    for (int unsigned n = MaxCopies; n > 0; n--)
      if (left[n-1]) begin
        more  = left != MaxCopies'(1) << (n - 1);
        index = IndexW'(n - 1);
      end
  end
  assign done = copy_pop && row.last && !more;
  assign waits = active_q || used_q != '0;
  assign at = !valid_q || row.last ? head_q[queue_q] : at_q + 1'b1;
  assign read = active_q && (!valid_q || (copy_pop && !done));

  ram_sdp #(
      .Width($bits(kept_t)),
      .Depth(Queues * QueueBeats)
  ) i_ram (
      .clk,
      .we,
      .waddr({kept.queue_no, put}),
      .wdata(kept),
      .re(read),
      .raddr({queue_q, at}),
      .rdata(row)
  );

  always_ff @(posedge clk) begin
    if (!active_q) begin
      active_q <= some;
      queue_q  <= next_queue;
      made_q   <= '0;
    end
    if (read) begin
      valid_q <= 1'b1;
      at_q <= at;
    end
    if (copy_pop && row.last) made_q[index] <= 1'b1;
    if (done) begin
      active_q <= 1'b0;
      valid_q <= 1'b0;
      head_q[queue_q] <= at_q + 1'b1;
    end
    if (we && kept.last) tail_q[kept.queue_no] <= put + 1'b1;
    for (int unsigned q = 0; q < Queues; q++)
      used_q[q] <= used_q[q] +
          (we && kept.last && 32'(kept.queue_no) == q ? (RowW + 1)'(row_t'(put - tail_q[q])) + 1'b1 : '0) -
          (done && 32'(queue_q) == q ? (RowW + 1)'(row_t'(at_q - head_q[q])) + 1'b1 : '0);
    if (rst) begin
      active_q <= 1'b0;
      valid_q <= 1'b0;
      queue_q <= '0;
      used_q <= '0;
      head_q <= '0;
      tail_q <= '0;
    end
  end

  // ---- a copy
  copy_t to;
  assign to = row.copies[index];
  assign copy_valid = valid_q;
  assign copy_punted = to.controller;
  assign copy_bank = to.port[0];

  always_comb begin
    copy = row;
    copy.meta.src = PortBlock + port_t'(Number);
    copy_verdict = '0;
    copy_verdict.kind = to.host ? VerdictHost : VerdictPort;
    copy_verdict.target = to.host ? '0 : to.port;
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk)
    if (!rst) begin
      assert (!copy_pop || valid_q) else $error("%m: a copy is taken that is not there");
      for (int unsigned q = 0; q < Queues; q++)
        assert (32'(used_q[q]) <= QueueBeats) else $error("%m: queue %0d holds more than it has room for", q);
    end
`endif
endmodule

`default_nettype wire
