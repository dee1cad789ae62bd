// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// The exit of a stream: complete frames from all links, as AXI4-Stream with registered outputs. `tx_src` and `tx_timestamp` are valid
// with a frame's first beat.
//
//   links    ─> buffers (frame_gather) ─> output register: half by half, or a folded frame at once ─> tx
//                                         1 cycle
//
// To the host a beat of 64 bytes a cycle. To an Ethernet port 128 bytes of a frame in two cycles, so that no frame has a gap of more than one
// cycle, and a frame of up to 64 bytes or a folded one in one: 50 bytes a cycle go onto the wire, so a MAC never underruns.
//
// A receiver that takes nothing for `timeout` cycles is stuck: from then on frames that find the buffers full are dropped whole and counted,
// so that units and links go on to the other exits. Frames in the buffers stay, and the one that has begun goes on where it stopped. The exit is
// not stuck any more when it has sent all that it holds: a receiver that takes a beat now and then does not hold the others up again and again.
module egress
  import penstock_pkg::*, shell_pkg::*;
#(
    parameter int unsigned Stages   = 0,  // of the links
    parameter int unsigned Links = 4   // links that lead here: one of each cluster, and of each port where there is an inline chain
) (
    input wire logic clk,
    input wire logic rst,
    input wire cycles_t timeout,  // 0: for ever

    input wire logic [Links-1:0] in_valid,
    input wire beat_t in_beat[Links],
    output logic [Links-1:0] room,

    axis_if.src   tx,
    output port_t tx_src,        // where the frame entered the card
    output time_t tx_timestamp,  // and when
    output logic [31:0] tx_mark, // what the inline blocks left in its metadata; 0 of a frame that a unit sends

    output tx_event_t events
);
  localparam int unsigned Lanes = tx.Bytes / BeatBytes;

  if (tx.Bytes != BeatBytes && tx.Bytes != PortBytes) begin : gen_width
    $error("egress: tx must have %0d or %0d bytes", BeatBytes, PortBytes);
  end

  frame_if frames ();
  tail_t tail;
  logic stuck_q;
  logic [Links-1:0] dropped;
  frame_gather #(
      .Links(Links),
      .Stages(Stages),
      .Tails(Lanes > 1),
      .Drops(1'b1)
  ) i_gather (
      .clk,
      .rst,
      .in_valid,
      .in_beat,
      .room,
      .stuck(stuck_q),
      .dropped,
      .frames(frames),
      .tail
  );

  logic valid_q, step, last_q, full;
  logic [tx.Bytes-1:0] keep_q, keep;
  frame_meta_t meta_q;
  assign step = !valid_q || tx.tready;
  assign frames.ready = step;
  always_ff @(posedge clk) begin
    if (step) valid_q <= frames.valid && full;
    if (step && frames.valid) begin
      last_q <= frames.last;
      keep_q <= frames.last ? keep : '1;
      meta_q <= frames.meta;
    end
    if (rst) valid_q <= 1'b0;
  end

  if (Lanes > 1) begin : gen_halves
    // The bytes beyond a frame's end are arbitrary.
    logic [DataW-1:0] lower_q, upper_q;
    logic half_q;  // the lower half is there
    assign full = half_q || frames.last;
    assign keep = bytes_keep(frames.meta.len[6:0]);
    always_ff @(posedge clk) begin
      if (step && frames.valid) begin
        half_q <= !full;
        if (half_q) upper_q <= frames.data;
        else begin
          lower_q <= frames.data;
          upper_q[TailW-1:0] <= tail.data;
        end
      end
      if (rst) half_q <= 1'b0;
    end
    assign tx.tdata = {upper_q, lower_q};
  end else begin : gen_whole
    logic [DataW-1:0] data_q;
    assign full = 1'b1;
    assign keep = BeatBytes'(bytes_keep({1'b0, frames.meta.len[5:0]}));
    always_ff @(posedge clk) if (step && frames.valid) data_q <= frames.data;
    assign tx.tdata = data_q;
  end
  assign tx.tvalid = valid_q;
  assign tx.tkeep = keep_q;
  assign tx.tlast = last_q;
  assign tx.tuser = 1'b0;
  assign tx_src = meta_q.src;
  assign tx_timestamp = meta_q.timestamp;
  assign tx_mark = meta_q.mark;

  // Out of `events.stall`, so that nothing here waits for `tready`
  cycles_t stalled_q;
  logic idle_q;
  always_ff @(posedge clk) begin
    if (!events.stall) stalled_q <= '0;
    else if (!stuck_q) stalled_q <= stalled_q + 1'b1;
    idle_q <= !valid_q && !frames.valid;
    stuck_q <= (stalled_q >= timeout && timeout != 0) || (stuck_q && !idle_q);
    if (rst) stuck_q <= 1'b0;
  end

`ifndef SYNTHESIS
  logic offered_q;
  always_ff @(posedge clk) begin
    offered_q <= valid_q && !tx.tready && !rst;
    if (!rst) assert (!offered_q || valid_q) else $error("%m: a beat that was offered is gone");
  end
`endif

  always_ff @(posedge clk) begin
    events.unsent <= 4'($countones(dropped));
    events.frame <= valid_q && tx.tready && last_q && !rst;
    events.stall <= valid_q && !tx.tready && !rst;
    events.bytes <= meta_q.len;
  end
endmodule

`default_nettype wire
