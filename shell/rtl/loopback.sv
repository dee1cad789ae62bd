// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// From unit to unit: frames whose destination is the loopback, or a certain unit over loopback, become a source of the dispatcher.
//
//   clusters ─> frame_gather ─┬─> queue ──────────────┬─> dispatcher
//                             └─> flow hash ─> queue ─┘
//                                 6            2 cycles
//
// The hash is computed anew, because the unit may have changed the headers. `src` becomes PortLoopback; the time of arrival stays.
module loopback
  import penstock_pkg::*, shell_pkg::*;
#(
    parameter int unsigned Clusters = 4
) (
    input wire logic clk,
    input wire logic rst,

    input wire logic [Clusters-1:0] in_valid,
    input wire beat_t in_beat[Clusters],
    output logic [Clusters-1:0] room,

    frame_if.src frames,

    output rx_event_t rx_events,
    output tx_event_t tx_events
);
  frame_if gathered ();
  frame_gather #(
      .Clusters(Clusters)
  ) i_gather (
      .clk,
      .rst,
      .in_valid,
      .in_beat,
      .room,
      .frames(gathered)
  );

  // Into the queue, the first 64 bytes also into the hash
  beat_t entry, head;
  logic take, first_q, queue_ready, hash_ready, head_valid, head_pop;
  logic [5:0] level;
  logic [6:0] bytes_q;
  assign gathered.ready = queue_ready && hash_ready;
  assign take = gathered.valid && gathered.ready;
  assign entry = '{meta: gathered.meta, last: gathered.last, data: gathered.data};
  always_ff @(posedge clk) begin
    if (take) begin
      first_q <= gathered.last;
      bytes_q <= gathered.meta.len >= len_t'(BeatBytes) ? 7'(BeatBytes) : gathered.meta.len[6:0];
    end
    if (rst) first_q <= 1'b1;
  end
  fifo_dist #(
      .Width($bits(beat_t))
  ) i_queue (
      .clk,
      .rst,
      .push (take),
      .din  (entry),
      .ready(queue_ready),
      .valid(head_valid),
      .pop  (head_pop),
      .dout (head),
      .level
  );

  logic hash_valid, known;
  logic [31:0] hash, head_hash;
  flow_hash i_hash (
      .clk,
      .rst,
      .valid(take && first_q),
      .data(gathered.data),
      .bytes(bytes_q),
      .hash_valid,
      .hash
  );
  logic head_first_q;
  fifo_dist #(
      .Width(32),
      .Room (8)
  ) i_hashes (
      .clk,
      .rst,
      .push (hash_valid),
      .din  (hash),
      .ready(hash_ready),
      .valid(known),
      .pop  (head_pop && head_first_q),
      .dout (head_hash),
      .level()
  );

  assign frames.valid = head_valid && (known || !head_first_q);
  assign head_pop = frames.valid && frames.ready;
  assign frames.data = head.data;
  assign frames.last = head.last;
  assign frames.meta = '{
          len: head.meta.len,
          src: PortLoopback,
          dst: head.meta.dst,
          unit_id: '0,
          slot: '0,
          timestamp: head.meta.timestamp,
          hash: head_hash
      };
  always_ff @(posedge clk) begin
    if (head_pop) head_first_q <= head.last;
    if (rst) head_first_q <= 1'b1;
  end

  // Frames leave the units here and enter the card again
  logic sent_q;
  len_t sent_len_q;
  always_ff @(posedge clk) begin
    tx_events.frame <= take && gathered.last && !rst;
    tx_events.bytes <= gathered.meta.len;
    tx_events.stall <= gathered.valid && !gathered.ready && !rst;
    sent_q <= head_pop && head.last && !rst;
    sent_len_q <= head.meta.len;
    rx_events <= '0;
    rx_events.frame <= sent_q && !rst;
    rx_events.bytes <= sent_len_q;
    rx_events.level <= 16'(level);
  end
endmodule

`default_nettype wire
