// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// Transmit engine: reads frames out of packet memory and gives their slots back.
//
//   send ─┬──────────────────────────┬─> queue ─> current frame ─> rows, port A ─> memory ─> output ─> rotate back ─> queue ─> tx
//         └─> queue ─> place asked ──┘   (32)     one row a cycle  (core and rx    2 cycles           against the     (32)
//             (32)     for, register                                come first)                       row before
//
// Frames to other units over loopback wait in a queue of their own until they have a place there (loop_if.sv); the
// other frames pass them.
// Throughput is one row a cycle, also from frame to frame. Latency from send to the first beat on tx is 8 cycles
// without other traffic, and 11 more over loopback. The engine only reads rows while the queue has room for all rows in
// flight, so memory never has to stop.
// Requests to host memory go the same way (penstock_pkg.sv has their format) and return no slot. Frames that the
// program made return no slot either: their metadata has this unit as source, and the cycle in which they were begun.
// The queue has one place for both kinds together: `extra_busy` is up from `send` until the frame has begun, or until
// the request's first beat is in the queue. Address and parameters of the request must not change meanwhile. `unread`
// is up until the last row of a generated frame was read; until then its memory must not change.
// A slot returns when its frame's last beat has left. If the frame is not to be sent, its slot returns as soon as its
// turn in the queue comes.
module tx_dma
  import penstock_pkg::*;
  import rpu_pkg::*;
(
    input wire logic clk,
    input wire logic rst,
    input wire unit_t unit_id,

    input  wire logic  send,       // always taken: each slot is queued once at most, and one that has none
    input  wire send_t send_data,

    loop_if.unit loop,
    output slot_index_t loop_table_slot,
    input  wire logic [6:0] loop_table_hash,

    output logic                extra_busy,
    output logic                unread,
    input  wire logic [63:0]    mem_addr,
    input  wire host_read_t     mem_read,
    input  wire time_t          now,

    output slot_index_t      table_slot,
    input  wire port_t       table_src,
    input  wire time_t       table_timestamp,
    input  wire logic [31:0] table_hash,

    output logic                   row_valid,
    input  wire logic              row_ready,
    output logic [13:0]            row_addr,
    input  wire logic [DataW-1:0]  row_data,   // two cycles after row_ready

    frame_if.src tx,

    output logic        empty,     // nothing is to be sent, or on its way
    output logic        sent,      // a frame has left: one cycle
    output logic        free,
    output slot_index_t free_slot,
    output logic        blocked    // a frame was dropped by the program: one cycle
);
  // Beats between the grant of a row and the queue: memory, output, rotation, and the lag of the queue's `ready`.
  localparam int unsigned InFlight = 6;

  function automatic logic to_host_memory(port_t dst);
    return dst == PortHostMem || dst == PortHostRead;
  endfunction

  function automatic logic over_loopback(port_t dst);
    return dst == PortLoopback || dst >= PortUnit;
  endfunction

  // ---- queue of frames that wait for a place, and the one that has got it
  typedef struct packed {
    unit_t unit_id;
    slot_t slot;
  } label_t;

  logic [5:0] waits_level, sends_level, metas_level;
  send_t waiting, placed_q;
  label_t placed_label_q;
  logic waiting_valid, placed_valid_q;
  wire send_waits = send && !send_data.discard && over_loopback(send_data.dst);
  wire send_now = send && !send_waits;

  fifo_dist #(
      .Width($bits(send_t))
  ) waits (
      .clk,
      .rst,
      .push (send_waits),
      .din  (send_data),
      .ready(),
      .valid(waiting_valid),
      .pop  (loop.answer),
      .dout (waiting),
      .level(waits_level)
  );

  assign loop.valid = waiting_valid && !placed_valid_q;
  assign loop.dst = waiting.dst;
  assign loop.len = waiting.len;
  assign loop.hash = loop_table_hash;
  assign loop_table_slot = waiting.slot;

  always_ff @(posedge clk) begin
    if (loop.answer) begin
      placed_q <= waiting;
      placed_q.discard <= !loop.granted;
      placed_label_q <= '{unit_id: loop.unit_id, slot: loop.slot};
    end
    placed_valid_q <= loop.answer || (placed_valid_q && send_now);
    if (rst) placed_valid_q <= 1'b0;
  end

  // ---- queue of frames to send; those that the firmware sends come before one that has waited
  wire slot_t own_slot = send_data.generated ? 6'd0 : slot_t'(send_data.slot) + 6'd1;
  send_t next;
  label_t next_label;
  logic next_avail, next_pop;

  fifo_dist #(
      .Width($bits(send_t) + $bits(label_t))
  ) sends (
      .clk,
      .rst,
      .push (send_now || placed_valid_q),
      .din  (send_now ? {unit_id, own_slot, send_data} : {placed_label_q, placed_q}),
      .ready(),
      .valid(next_avail),
      .pop  (next_pop),
      .dout ({next_label, next}),
      .level(sends_level)
  );

  // ---- current frame
  logic busy_q, room, meta_room;
  logic [13:0] addr_q;
  logic [8:0] rows_left_q, beats_left_q;  // rows to ask for; beats that begin in them
  offset_t off_q;
  logic request_q, read_q;                 // the next row is the first of a request to host memory; that is a read
  logic waits_q, reading_q;                // a frame that the program made waits in the queue; is being read
  slot_index_t sent_slot;

  wire granted = row_valid && row_ready;
  wire ends = granted && rows_left_q == 9'd1;
  wire start = next_avail && !next.discard && meta_room && (!busy_q || ends);
  wire discard = next_avail && next.discard && !sent;

  wire next_request = to_host_memory(next.dst);
  logic request_taken;

  always_ff @(posedge clk) begin
    if (send && (send_data.generated || to_host_memory(send_data.dst)) && !send_data.discard) extra_busy <= 1'b1;
    else if (request_taken || (start && next.generated)) extra_busy <= 1'b0;
    if (send && send_data.generated) waits_q <= 1'b1;
    else if (start && next.generated) waits_q <= 1'b0;
    if (start) reading_q <= next.generated;
    else if (ends) reading_q <= 1'b0;
    if (rst) begin
      extra_busy <= 1'b0;
      waits_q <= 1'b0;
      reading_q <= 1'b0;
    end
  end

  assign unread = waits_q || reading_q;

  assign next_pop = start || discard;
  assign row_valid = busy_q && room;
  assign row_addr = addr_q;

  always_ff @(posedge clk) begin
    if (ends) busy_q <= 1'b0;
    if (start) busy_q <= 1'b1;
    if (rst) busy_q <= 1'b0;
  end

  wire [16:0] last_byte = {1'b0, next.len} + {13'b0, next.start[2:0], 1'b0} + 17'd63;

  always_ff @(posedge clk) begin
    if (granted) begin
      request_q <= 1'b0;
      addr_q <= addr_q + 14'd1;
      rows_left_q <= rows_left_q - 9'd1;
      if (beats_left_q != 0) beats_left_q <= beats_left_q - 9'd1;
    end
    if (start) begin
      addr_q <= next.start[18:5];
      off_q <= next.start[2:0];
      request_q <= next_request;
      read_q <= next.dst == PortHostRead;
      rows_left_q <= last_byte[14:6];
      beats_left_q <= 9'((17'(next.len) + 17'd63) >> 6);
    end
  end

  // ---- the properties of a row on its way from memory
  typedef struct packed {
    logic valid;
    logic beat;    // a beat begins in this row
    logic last;    // it is the frame's last
    logic single;  // it needs nothing of the row that follows
    logic request; // it is the first of a request to host memory,
    logic read;    // to read
    offset_t off;
  } tag_t;

  tag_t issue, memory_q, output_q, before_q;
  assign issue = '{
      valid: granted,
      beat: beats_left_q != 0,
      last: beats_left_q == 9'd1,
      single: rows_left_q == 9'd1,
      request: request_q,
      read: request_q && read_q,
      off: off_q
  };

  always_ff @(posedge clk) begin
    memory_q <= issue;
    output_q <= memory_q;
    if (rst) begin
      memory_q.valid <= 1'b0;
      output_q.valid <= 1'b0;
    end
  end

  // ---- rotation back: a beat is the upper part of one row and the lower part of the next
  logic [DataW-1:0] before_data_q, beat, queued;
  wire complete = before_q.valid && (before_q.single || output_q.valid);
  wire push = complete && before_q.beat;

  always_comb begin
    unique case (before_q.off)
      3'd0: beat = before_data_q;
      3'd1: beat = {row_data[15:0], before_data_q[DataW-1:16]};
      3'd2: beat = {row_data[31:0], before_data_q[DataW-1:32]};
      3'd3: beat = {row_data[47:0], before_data_q[DataW-1:48]};
      3'd4: beat = {row_data[63:0], before_data_q[DataW-1:64]};
      3'd5: beat = {row_data[79:0], before_data_q[DataW-1:80]};
      3'd6: beat = {row_data[95:0], before_data_q[DataW-1:96]};
      3'd7: beat = {row_data[111:0], before_data_q[DataW-1:112]};
    endcase
  end

  always_ff @(posedge clk) begin
    if (output_q.valid) begin
      before_q <= output_q;
      before_data_q <= row_data;
    end else if (complete) before_q.valid <= 1'b0;
    if (rst) before_q.valid <= 1'b0;
  end

  assign request_taken = push && before_q.request;
  assign queued = {beat[DataW-1:$bits(host_read_t)], before_q.read ? mem_read : beat[$bits(host_read_t)-1:0]};

  // ---- queue of beats, and of what tx says of their frames
  logic meta_avail, tx_request, tx_generated;
  frame_meta_t meta_in;

  assign table_slot = next.slot;
  assign meta_in = '{
      len: next.len,
      src: next.generated ? PortUnit + port_t'(unit_id) : table_src,
      dst: next.dst,
      unit_id: next_label.unit_id,
      slot: next_label.slot,
      timestamp: next_request ? mem_addr[63:32] : next.generated ? now : table_timestamp,
      hash: next_request ? mem_addr[31:0] : next.generated ? 32'd0 : table_hash,
      default: '0
  };

  fifo_dist #(
      .Width(DataW + 1),
      .Room (InFlight)
  ) beats (
      .clk,
      .rst,
      .push,
      .din  ({before_q.last, queued}),
      .ready(room),
      .valid(tx.valid),
      .pop  (tx.ready),
      .dout ({tx.last, tx.data}),
      .level()
  );

  fifo_dist #(
      .Width($bits(frame_meta_t) + 2 + $bits(slot_index_t)),
      .Room (2)
  ) metas (
      .clk,
      .rst,
      .push (start),
      .din  ({next_request, next.generated, next.slot, meta_in}),
      .ready(meta_room),
      .valid(meta_avail),
      .pop  (tx.valid && tx.ready && tx.last),
      .dout ({tx_request, tx_generated, sent_slot, tx.meta}),
      .level(metas_level)
  );

  // ---- slots that come back
  assign sent = tx.valid && tx.ready && tx.last && !tx_request;

  always_ff @(posedge clk) begin
    free <= (sent && !tx_generated) || discard;
    free_slot <= sent ? sent_slot : next.slot;
    blocked <= discard && next.blocked;
    if (rst) begin
      free <= 1'b0;
      blocked <= 1'b0;
    end
  end

  wire queues_empty = waits_level == 0 && sends_level == 0 && metas_level == 0;
  always_ff @(posedge clk)
    empty <= queues_empty && !send && !waiting_valid && !placed_valid_q && !next_avail && !meta_avail && !free;

`ifndef SYNTHESIS
  always_ff @(posedge clk) begin
    if (!rst) begin
      assert (!tx.valid || meta_avail) else $error("%m: a beat without its metadata");
      assert (!start || next.len != 0) else $error("%m: frame of length 0");
    end
  end
`endif
endmodule

`default_nettype wire
