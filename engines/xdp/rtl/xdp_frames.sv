// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// Frames into buffers, to contexts, and out again.
//
//   rx ─> queue ─> port B of packet memory      one beat a cycle, when the core does not store;
//           │
//           └─ first beat ─> queues of buffers ─> start        of an idle context, one a cycle
//                            by flow: one a context; else one for all
//   done ─┬─> queue of frames to send ─> transmitter (port B, when neither of the others needs it) ─> tx
//         └─> buffer free, after its headroom was cleared if the packet had grown into it (port B, before frames that
//         leave; four cycles)
//
// The core's stores have priority, but when they have kept frames from port B for four cycles in a row, the core leaves
// every other cycle to frames until no row of a frame waits (`starved`). Frames therefore arrive at half the link's
// rate or more, whatever programs do.
//
// A frame may start when its first beat is there; the core asks how much of it has come. A buffer is a slot of the
// dispatcher: slot n is buffer n - 1. It is free again when its frame's last beat has left, or at once when the frame
// is dropped.
module xdp_frames
  import penstock_pkg::*;
  import xdp_pkg::*;
(
    input wire logic  clk,
    input wire logic  rst,
    input wire unit_t unit_id,
    input wire card_t card,
    input wire logic  by_flow,  // frames of a flow go to one context

    input  wire logic  rx_valid,
    input  wire beat_t rx,
    output logic       rx_room,
    frame_if.src       tx,
    output logic       free,
    output buffer_t    free_buffer,

    // Core
    output logic                     start,
    output ctx_t                     start_ctx,
    output packet_t                  start_packet,
    input  wire logic [Contexts-1:0] idle,
    input  wire buffer_t             a_buffer,
    output logic                     a_whole,
    output logic      [12:0]         a_arrived,
    input  wire logic                done,
    input  wire packet_t             done_packet,
    input  wire verdict_e            done_verdict,

    // Port B
    input  wire logic     busy,      // the core stores
    output logic          starved,   // it does so too often
    output buffer_t       io_buffer,
    output offset_t        io_place,
    output logic          io_write,
    output logic [DataW-1:0] io_data,
    input  wire window_t  io_window, // two cycles later

    output logic dropped,  // a frame was dropped, and why: one cycle
    output logic aborted,
    output logic refused,
    output logic [Buffers-1:0] used,
    output logic empty     // no frame is here
);
  localparam int unsigned ContextBit = 7;  // of the flow hash: the dispatcher's table takes those below
  localparam int unsigned HeadroomRows = Headroom / Window;

  typedef struct packed {
    port_t src;
    time_t timestamp;
    logic [31:0] hash;
  } info_t;

  // ---- in
  beat_t beat;
  logic beat_valid, first_q;
  wire take = beat_valid && !busy;
  wire first = take && first_q;

  fifo_dist #(
      .Width($bits(beat_t)),
      .Room (UnitRoom)
  ) beats_in (
      .clk,
      .rst,
      .push (rx_valid),
      .din  (rx),
      .ready(rx_room),
      .valid(beat_valid),
      .pop  (take),
      .dout (beat),
      .level()
  );

  (* ram_style = "distributed" *) info_t infos[Buffers];
  (* ram_style = "distributed" *) len_t lengths[Buffers];
  logic [Buffers-1:0] whole_q;
  logic [6:0] rows_q[Buffers];  // that have come
  logic [5:0] row_q;
  wire buffer_t into = buffer_t'(beat.meta.slot - 6'd1);

  always_ff @(posedge clk) begin
    if (take) first_q <= beat.last;
    if (rst) first_q <= 1'b1;
  end

  always_ff @(posedge clk) begin
    if (take) begin
      row_q <= beat.last ? '0 : row_q + 1'b1;
      rows_q[into] <= 7'(row_q) + 1'b1;
    end
    if (rst) row_q <= '0;
    if (first) begin
      infos[into] <= '{src: beat.meta.src, timestamp: beat.meta.timestamp, hash: beat.meta.hash};
      lengths[into] <= beat.meta.len;
    end
  end

  for (genvar b = 0; b < Buffers; b++) begin : gen_buffer
    always_ff @(posedge clk) begin
      if (take && into == buffer_t'(b)) whole_q[b] <= beat.last;
      if (first && into == buffer_t'(b)) used[b] <= 1'b1;
      if (free && free_buffer == buffer_t'(b)) used[b] <= 1'b0;
      if (rst) used[b] <= 1'b0;
    end
  end

  assign a_whole = whole_q[a_buffer];
  assign a_arrived = 13'(Headroom) + {rows_q[a_buffer], 6'd0};
  assign empty = used == '0 && !beat_valid;

  // ---- to a context: queue c is context c's, the last is for all
  logic [Contexts:0] queue_valid, queue_pop;
  buffer_t queue_out[Contexts+1];
  ctx_t flow_ctx;
  assign flow_ctx = beat.meta.hash[ContextBit+:$bits(ctx_t)];

  for (genvar c = 0; c <= Contexts; c++) begin : gen_queue
    fifo_dist #(
        .Width($bits(buffer_t)),
        .Depth(Buffers)
    ) waiting (
        .clk,
        .rst,
        .push(first && (c == Contexts ? !by_flow : by_flow && flow_ctx == ctx_t'(c))),
        .din(into),
        .ready(),
        .valid(queue_valid[c]),
        .pop(queue_pop[c]),
        .dout(queue_out[c]),
        .level()
    );
  end

  // A context that was given a frame in the last two cycles does not look busy yet.
  logic [Contexts-1:0] given, given_q, given_before_q, own, can, grant;
  assign own = idle & ~given_q & ~given_before_q;
  assign can = own & (queue_valid[Contexts-1:0] | {Contexts{queue_valid[Contexts]}});
  rr_arbiter #(
      .N(Contexts)
  ) pick (
      .clk,
      .rst,
      .req(can),
      .accept(1'b1),
      .grant
  );

  buffer_t chosen, start_buffer_q;
  logic from_all;
  always_comb begin
    chosen = '0;
    for (int unsigned c = 0; c < Contexts; c++) if (grant[c] && queue_valid[c]) chosen |= queue_out[c];
    from_all = grant != '0 && (grant & queue_valid[Contexts-1:0]) == '0;
    if (from_all) chosen = queue_out[Contexts];
    queue_pop = {from_all, grant & queue_valid[Contexts-1:0]};
    given = grant;
  end

  logic given_any_q;
  ctx_t given_ctx_q;
  always_ff @(posedge clk) begin
    given_q <= given;
    given_before_q <= given_q;
    given_any_q <= grant != '0;
    start_buffer_q <= chosen;
    for (int unsigned c = 0; c < Contexts; c++) if (grant[c]) given_ctx_q <= ctx_t'(c);
    if (rst) begin
      given_q <= '0;
      given_before_q <= '0;
      given_any_q <= 1'b0;
    end
  end

  always_ff @(posedge clk) begin
    start <= given_any_q;
    start_ctx <= given_ctx_q;
    start_packet <= '{
        at: start_buffer_q,
        extent: '{
            grown: 1'b0,
            meta: offset_t'(Headroom),
            start: offset_t'(Headroom),
            finish: offset_t'(Headroom) + lengths[start_buffer_q][11:0]
        },
        ifindex: ifindex_of(infos[start_buffer_q].src),
        egress: 8'd0,
        target: 8'd0
    };
    if (rst) start <= 1'b0;
  end

  // ---- out: where a frame goes
  typedef struct packed {
    buffer_t at;
    extent_t extent;
    port_t   dst;
  } send_t;

  logic [7:0] target_index;
  assign target_index = done_packet.target - 8'd1;
  wire target_there =
      done_packet.target == IfindexHost || (done_packet.target != 0 && done_packet.target <= 8'(card.port_count));
  port_t target_port, dst;
  logic sends, refuses;

  always_comb begin
    if (done_packet.target == IfindexHost) target_port = PortHost;
    else target_port = target_index < 8'd2 ? port_t'(target_index) : PortEthHigh | port_t'(target_index);
    sends = 1'b0;
    refuses = 1'b0;
    dst = PortHost;
    unique case (done_verdict)
      XdpPass: sends = 1'b1;
      XdpTx: begin  // the unit sends nothing over loopback
        sends = infos[done_packet.at].src != PortLoopback;
        refuses = !sends;
        dst = infos[done_packet.at].src;
      end
      XdpRedirect: begin
        sends = target_there;
        refuses = !target_there;
        dst = target_port;
      end
      default: ;
    endcase
  end

  send_t next;
  logic next_valid, next_pop, drop_valid;
  buffer_t drop_buffer;
  fifo_dist #(
      .Width($bits(send_t)),
      .Depth(Buffers)
  ) sends_q (
      .clk,
      .rst,
      .push (done && sends),
      .din  ({done_packet.at, done_packet.extent, dst}),
      .ready(),
      .valid(next_valid),
      .pop  (next_pop),
      .dout (next),
      .level()
  );

  // ---- transmitter: rows from the multiple of 8 at or before the first byte on; a beat is the upper part of one and the lower part of the next
  logic busy_q, room, meta_room;
  send_t now_q;
  offset_t place_q;
  logic [6:0] rows_left_q, beats_left_q;
  wire [12:0] length = 13'(next.extent.finish) - 13'(next.extent.start);
  logic clear_valid, clear_pop;  // a buffer's headroom is to be cleared
  logic [$clog2(HeadroomRows)-1:0] clear_row_q;
  buffer_t clear_buffer;
  wire row_cleared = clear_valid && !busy && !beat_valid;
  wire row_asked = busy_q && room && !busy && !beat_valid && !clear_valid;
  wire last_row = row_asked && rows_left_q == 7'd1;

  wire waits = beat_valid || clear_valid || (busy_q && room);
  logic [3:0] denied_q;
  always_ff @(posedge clk) begin
    denied_q <= {denied_q[2:0], waits && busy};
    starved <= waits && (starved || denied_q == '1) && !rst;
  end

  // A program may be done before its frame has arrived wholly.
  assign next_pop = next_valid && whole_q[next.at] && meta_room && !busy_q;

  always_ff @(posedge clk) begin
    if (last_row) busy_q <= 1'b0;
    if (next_pop) busy_q <= 1'b1;
    if (rst) busy_q <= 1'b0;
  end

  always_ff @(posedge clk) begin
    if (row_asked) begin
      place_q <= place_q + offset_t'(Window);
      rows_left_q <= rows_left_q - 7'd1;
      if (beats_left_q != 0) beats_left_q <= beats_left_q - 7'd1;
    end
    if (next_pop) begin
      now_q <= next;
      place_q <= {next.extent.start[11:3], 3'd0};
      rows_left_q <= 7'((length + 13'(next.extent.start[2:0]) + 13'd63) >> 6);
      beats_left_q <= 7'((length + 13'd63) >> 6);
    end
  end

  always_comb begin
    io_write = take || row_cleared;
    io_data = beat_valid ? beat.data : '0;
    io_buffer = beat_valid ? into : clear_valid ? clear_buffer : now_q.at;
    io_place = place_q;
    if (clear_valid) io_place = offset_t'({clear_row_q, 6'd0});
    if (beat_valid) io_place = offset_t'(Headroom) + {row_q, 6'd0};
  end

  typedef struct packed {
    logic valid;
    logic beat;    // a beat begins in this row,
    logic last;    // the frame's last,
    logic single;  // which needs nothing of the next row
    logic [2:0] group;
    logic [2:0] shift;
  } tag_t;

  tag_t memory_q, output_q, turned_q;
  logic [DataW-1:0] turned_data_q;
  always_ff @(posedge clk) begin
    memory_q <= '{
        valid: row_asked,
        beat: beats_left_q != 0,
        last: beats_left_q == 7'd1,
        single: rows_left_q == 7'd1,
        group: place_q[5:3],
        shift: now_q.extent.start[2:0]
    };
    output_q <= memory_q;
    if (rst) begin
      memory_q.valid <= 1'b0;
      output_q.valid <= 1'b0;
    end
  end

  // Groups to their order
  window_t ordered;
  always_comb for (int unsigned g = 0; g < Groups; g++) ordered[g] = io_window[3'(g)+output_q.group];

  tag_t before_q;
  logic [DataW-1:0] before_data_q;
  always_ff @(posedge clk) begin
    turned_q <= output_q;
    turned_data_q <= ordered;
    if (rst) turned_q.valid <= 1'b0;
  end

  wire complete = before_q.valid && (before_q.single || turned_q.valid);
  always_ff @(posedge clk) begin
    if (turned_q.valid) begin
      before_q <= turned_q;
      before_data_q <= turned_data_q;
    end else if (complete) before_q.valid <= 1'b0;
    if (rst) before_q.valid <= 1'b0;
  end

  wire [DataW+63:0] both = {turned_data_q[63:0], before_data_q};
  wire [DataW-1:0] out = both[{4'd0, before_q.shift, 3'd0}+:DataW];

  fifo_dist #(
      .Width(DataW + 1),
      .Room (8)
  ) beats_out (
      .clk,
      .rst,
      .push (complete && before_q.beat),
      .din  ({before_q.last, out}),
      .ready(room),
      .valid(tx.valid),
      .pop  (tx.ready),
      .dout ({tx.last, tx.data}),
      .level()
  );

  wire info_t next_info = infos[next.at];
  fifo_dist #(
      .Width($bits(frame_meta_t)),
      .Room (2)
  ) metas_out (
      .clk,
      .rst,
      .push(next_pop),
      .din({
        tenant_t'(0),
        32'd0,
        len_t'(length),
        next_info.src,
        next.dst,
        unit_id,
        slot_t'(next.at) + 6'd1,
        next_info.timestamp,
        next_info.hash
      }),
      .ready(meta_room),
      .valid(),
      .pop(tx.valid && tx.ready && tx.last),
      .dout(tx.meta),
      .level()
  );

  // ---- buffers that come back: of frames that have left, and of those that are dropped. One whose packet has grown
  // into the headroom is cleared there first, so that no later frame shows what was stored.
  logic [Buffers-1:0] grown_q;
  always_ff @(posedge clk) if (done) grown_q[done_packet.at] <= done_packet.extent.grown;
  logic sent_q;
  buffer_t sent_buffer_q;
  fifo_dist #(
      .Width($bits(buffer_t)),
      .Depth(Buffers)
  ) drops_q (
      .clk,
      .rst,
      .push (done && !sends),
      .din  (done_packet.at),
      .ready(),
      .valid(drop_valid),
      .pop  (!sent_q),
      .dout (drop_buffer),
      .level()
  );

  wire back_valid = sent_q || drop_valid;
  buffer_t back;
  assign back = sent_q ? sent_buffer_q : drop_buffer;
  wire back_free = back_valid && !grown_q[back];
  assign clear_pop = row_cleared && clear_row_q == '1 && !back_free;
  fifo_dist #(
      .Width($bits(buffer_t)),
      .Depth(Buffers)
  ) clears_q (
      .clk,
      .rst,
      .push (back_valid && grown_q[back]),
      .din  (back),
      .ready(),
      .valid(clear_valid),
      .pop  (clear_pop),
      .dout (clear_buffer),
      .level()
  );
  always_ff @(posedge clk) begin
    if (row_cleared && (clear_row_q != '1 || clear_pop)) clear_row_q <= clear_row_q + 1'b1;
    if (rst) clear_row_q <= '0;
  end

  always_ff @(posedge clk) begin
    sent_q <= tx.valid && tx.ready && tx.last;
    sent_buffer_q <= buffer_t'(tx.meta.slot - 6'd1);
    free <= back_free || clear_pop;
    free_buffer <= back_free ? back : clear_buffer;
    dropped <= done && done_verdict == XdpDrop;
    aborted <= done && done_verdict == XdpAborted;
    refused <= done && refuses;
    if (rst) begin
      sent_q <= 1'b0;
      free <= 1'b0;
      {dropped, aborted, refused} <= '0;
    end
  end
endmodule

`default_nettype wire
