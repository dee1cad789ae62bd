// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// The entry of a stream: stores whole frames, drops and counts what may not enter, computes the flow hash.
//
//   axis ─> input register ─┬─> ring of beats (UltraRAM) ──────────> RAM output ─> register ─> queue ─> frames
//           0               │   1            ^ address               +1            +2          +4
//                           └─> flow hash ─> descriptor queue ─> reader
//                               6            9                   9
//
// A frame becomes visible when its last beat is stored and its hash is known: its first beat leaves 13 cycles after its last one entered.
// One beat a cycle in and out, also when each beat is a frame. Nothing that leaves ever holds what enters; a full ring does:
// with Lossless = 0 (a MAC, which cannot wait) `tready` is constant 1 and a frame that does not fit is dropped whole, with Lossless = 1
// (the host) `tready` falls. A frame that is longer than MaxFrame takes at most MaxFrame of ring, and gives it back at once.
// A frame with several faults counts once, in this order: disabled, damaged, oversize, runt, overflow.
module ingress
  import penstock_pkg::*, shell_pkg::*;
#(
    parameter port_t       Source   = 8'h00,  // `src` of its frames
    parameter int unsigned Depth    = 4096,   // beats in the ring, a power of two
    parameter bit          Lossless = 1'b0
) (
    input wire logic  clk,
    input wire logic  rst,
    input wire time_t now,
    input wire logic  enable,

    axis_if.snk  rx,
    output logic pause,  // less than two longest frames are free: one that may be on its way, and one more

    frame_if.src      frames,
    output rx_event_t events
);
  localparam int unsigned AddrW = $clog2(Depth);
  localparam int unsigned FrameBeats = MaxFrame / BeatBytes;
  localparam int unsigned HashCycles = 5;
  localparam int unsigned Slack = 16;  // `level_q` is late by less than this

  if (Depth < 4 * FrameBeats) begin : gen_depth
    $error("ingress: Depth must be at least four longest frames, %0d beats", 4 * FrameBeats);
  end

  typedef struct packed {
    len_t len;
    time_t timestamp;
    logic [31:0] hash;
  } desc_t;

  // 0: input register
  logic v0_q, first0_q, last0_q, user0_q, idle_q;
  logic [DataW-1:0] data0_q;
  logic [BeatBytes-1:0] keep0_q;
  time_t time0_q;
  logic take;
  assign take = rx.tvalid && rx.tready;
  always_ff @(posedge clk) begin
    v0_q <= take;
    if (take) begin
      data0_q  <= rx.tdata;
      keep0_q  <= rx.tkeep;
      last0_q  <= rx.tlast;
      user0_q  <= rx.tuser;
      first0_q <= idle_q;
      idle_q   <= rx.tlast;
      if (idle_q) time0_q <= now;
    end
    if (rst) begin
      v0_q   <= 1'b0;
      idle_q <= 1'b1;
    end
  end

  // 0: into the ring, unless the frame is already lost
  logic [AddrW:0] wr_q, start_q, rd_q;  // next beat to write; first beat of the frame; next beat to read
  logic [AddrW:0] level_q;
  logic [8:0] beats_q, beats;           // beats of the frame before this one, up to FrameBeats
  logic oversize_q, overflow_q, disabled_q, full_q;
  logic oversize, overflow, disabled, runt, good, lost, store;

  assign beats = first0_q ? 9'd0 : beats_q;
  assign disabled = first0_q ? !enable : disabled_q;
  assign oversize = (!first0_q && oversize_q) || beats == 9'(FrameBeats);
  assign lost = disabled || oversize || (!first0_q && overflow_q);
  assign overflow = (!first0_q && overflow_q) || (full_q && !lost);
  assign runt = first0_q && last0_q && !keep0_q[MinFrame-1];
  assign store = v0_q && !lost && !full_q;
  assign good = !disabled && !oversize && !overflow && !runt && !user0_q;

  always_ff @(posedge clk) begin
    full_q  <= level_q >= (AddrW + 1)'(Depth - Slack);
    level_q <= wr_q - rd_q;
    pause   <= level_q > (AddrW + 1)'(Depth - 2 * FrameBeats - Slack);
    if (v0_q) begin
      beats_q    <= (beats == 9'(FrameBeats)) ? beats : beats + 9'd1;
      oversize_q <= oversize;
      overflow_q <= overflow;
      disabled_q <= disabled;
      if (last0_q) begin
        wr_q <= good ? wr_q + 1'b1 : start_q;
        if (good) start_q <= wr_q + 1'b1;
      end else begin
        wr_q <= store ? wr_q + 1'b1 : start_q;
      end
    end
    if (rst) begin
      wr_q    <= '0;
      start_q <= '0;
      level_q <= '0;
      full_q  <= 1'b0;
      pause   <= 1'b0;
    end
  end
  // The input register may hold a beat when the ring becomes full, so the host's stream stops earlier.
  logic tready_q;
  always_ff @(posedge clk) tready_q <= !rst && level_q < (AddrW + 1)'(Depth - 2 * Slack);
  assign rx.tready = Lossless ? tready_q : 1'b1;

  // 1: the last beat of a good frame starts its descriptor, which the hash then completes
  logic [6:0] bytes1_q;
  always_ff @(posedge clk) if (v0_q) bytes1_q <= keep_bytes(keep0_q);

  logic hash_valid;
  logic [31:0] hash, hash_q;
  flow_hash i_hash (
      .clk,
      .rst,
      .valid(v0_q && first0_q),
      .data(data0_q),
      .bytes(bytes1_q),
      .hash_valid,
      .hash
  );

  logic [HashCycles:1] end_q;
  logic [8:0] beats1_q;
  len_t len_q[2:HashCycles];
  time_t time_q[1:HashCycles];
  always_ff @(posedge clk) begin
    end_q <= {end_q[HashCycles-1:1], v0_q && last0_q && good};
    if (v0_q) begin
      beats1_q  <= beats;
      time_q[1] <= time0_q;
    end
    if (end_q[1]) len_q[2] <= {1'b0, beats1_q, 6'b0} + len_t'(bytes1_q);
    for (int unsigned i = 2; i <= HashCycles; i++) begin
      if (end_q[i-1]) time_q[i] <= time_q[i-1];
      if (i > 2 && end_q[i-1]) len_q[i] <= len_q[i-1];
    end
    if (hash_valid) hash_q <= hash;
    if (rst) end_q <= '0;
  end

  // Descriptors of the stored frames
  desc_t desc_in, desc;
  logic desc_valid, desc_pop;
  assign desc_in = '{len: len_q[HashCycles], timestamp: time_q[HashCycles], hash: hash_valid ? hash : hash_q};
  fifo_block #(
      .Width($bits(desc_t)),
      .Depth(Depth)
  ) i_descriptors (
      .clk,
      .rst,
      .push (end_q[HashCycles]),
      .din  (desc_in),
      .valid(desc_valid),
      .pop  (desc_pop),
      .dout (desc)
  );

  // Reader: one beat a cycle while the queue behind it has room
  logic [9:0] index_q, index_next_q;  // of the beat to read within its frame, and that plus one
  logic read, last_read, room;
  assign last_read = desc.len[5:0] == 0 ? desc.len[15:6] == index_next_q : desc.len[15:6] == index_q;
  assign read = desc_valid && room;
  assign desc_pop = read && last_read;
  always_ff @(posedge clk) begin
    if (read) begin
      rd_q <= rd_q + 1'b1;
      index_q <= last_read ? 10'd0 : index_next_q;
      index_next_q <= last_read ? 10'd1 : index_next_q + 10'd1;
    end
    if (rst) begin
      rd_q <= '0;
      index_q <= 10'd0;
      index_next_q <= 10'd1;
    end
  end

  logic [DataW-1:0] ring_data;
  ram_sdp #(
      .Width(DataW),
      .Depth(Depth),
      .Ultra(1'b1)
  ) i_ring (
      .clk,
      .we(store),
      .waddr(wr_q[AddrW-1:0]),
      .wdata(data0_q),
      .re(read),
      .raddr(rd_q[AddrW-1:0]),
      .rdata(ring_data)
  );

  typedef struct packed {
    desc_t desc;
    logic last;
    logic [DataW-1:0] data;
  } entry_t;
  logic [1:0] read_q;
  logic last1_q;
  desc_t desc1_q;
  entry_t entry_q, head;
  always_ff @(posedge clk) begin
    read_q <= {read_q[0], read};
    if (read) begin
      desc1_q <= desc;
      last1_q <= last_read;
    end
    if (read_q[0]) entry_q <= '{desc: desc1_q, last: last1_q, data: ring_data};
    if (rst) read_q <= '0;
  end

  fifo_dist #(
      .Width($bits(entry_t)),
      .Room (4)
  ) i_out (
      .clk,
      .rst,
      .push (read_q[1]),
      .din  (entry_q),
      .ready(room),
      .valid(frames.valid),
      .pop  (frames.ready),
      .dout (head),
      .level()
  );
  assign frames.data = head.data;
  assign frames.last = head.last;
  assign frames.meta = '{
          len: head.desc.len,
          src: Source,
          dst: '0,
          unit_id: '0,
          slot: '0,
          timestamp: head.desc.timestamp,
          hash: head.desc.hash
      };

  // Counters
  logic ended;
  assign ended = v0_q && last0_q;
  always_ff @(posedge clk) begin
    events.frame <= end_q[2];
    if (end_q[2]) events.bytes <= len_q[2];
    events.disabled <= ended && disabled;
    events.damaged <= ended && !disabled && user0_q;
    events.oversize <= ended && !disabled && !user0_q && oversize;
    events.runt <= ended && !disabled && !user0_q && runt;
    events.overflow <= ended && !disabled && !user0_q && !oversize && !runt && overflow;
    events.level <= 16'(level_q);
    if (rst) begin
      events.frame <= 1'b0;
      events.disabled <= 1'b0;
      events.damaged <= 1'b0;
      events.oversize <= 1'b0;
      events.runt <= 1'b0;
      events.overflow <= 1'b0;
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk)
    if (!rst && take) begin
      assert ((rx.tkeep & (rx.tkeep + 1'b1)) == 0 && rx.tkeep[0]) else $error("%m: tkeep has holes");
      assert (rx.tlast || (&rx.tkeep)) else $error("%m: a beat that is not the last is not full");
    end
`endif
endmodule

`default_nettype wire
