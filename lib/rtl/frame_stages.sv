// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// The register stages of a link with a handshake: Stages registers for beats, as many for `ready`, and behind them a
// queue for the beats on their way.
//
//   from ─> stages ─> queue (fifo_dist) ─> to
//      ready <─ stages <─┘
//
// Latency Stages + 2 cycles, none without stages. One beat a cycle.
module frame_stages
  import penstock_pkg::*;
#(
    parameter int unsigned Stages = 0
) (
    input wire logic clk,
    input wire logic rst,

    frame_if.snk from,
    frame_if.src to
);
  if (Stages == 0) begin : gen_wires
    assign to.valid = from.valid;
    assign to.data = from.data;
    assign to.last = from.last;
    assign to.meta = from.meta;
    assign from.ready = to.ready;
  end else begin : gen_stages
    // On their way when `ready` falls: a beat in each stage there, one for each cycle that `ready` needs back, and the
    // one that leaves now
    localparam int unsigned OnTheWay = 2 * Stages + 1;
    beat_t beat, head;
    logic push, room, valid;
    assign beat = '{meta: from.meta, last: from.last, data: from.data};

    link_stages #(
        .Stages(Stages)
    ) i_ready (
        .clk,
        .rst,
        .d(room),
        .q(from.ready)
    );
    link_stages #(
        .Stages(Stages)
    ) i_valid (
        .clk,
        .rst,
        .d(from.valid && from.ready),
        .q(push)
    );
    beat_t late;
    link_stages #(
        .Width ($bits(beat_t)),
        .Stages(Stages)
    ) i_beat (
        .clk,
        .rst(1'b0),
        .d(beat),
        .q(late)
    );
    fifo_dist #(
        .Width($bits(beat_t)),
        .Depth(1 << $clog2(2 * OnTheWay)),
        .Room (OnTheWay)
    ) i_queue (
        .clk,
        .rst,
        .push,
        .din(late),
        .ready(room),
        .valid,
        .pop(to.ready),
        .dout(head),
        .level()
    );
    assign to.valid = valid;
    assign to.data = head.data;
    assign to.last = head.last;
    assign to.meta = head.meta;
  end
endmodule

`default_nettype wire
