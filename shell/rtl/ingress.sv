// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// The entry of a stream: stores whole frames, drops and counts what may not enter, computes the flow hash.
//
//   axis ─> input register ─┬─> ring of rows (UltraRAM) ───────────> RAM output ─> half of it ─> queue ─> frames
//           0               │   1            ^ address               +1            +2            +4
//                           └─> flow hash ─> descriptor queue ─> reader
//                               6            9                   9
//
// The data of `axis` in a cycle is a row of the ring: 64 bytes for the host, 128 for an Ethernet port. The reader makes
// beats of 64 bytes from it: two from a row, one from a last row of up to 64 bytes; a frame of 65 to 80 bytes is also
// one beat, with the rest as its tail. Successive cycles can therefore always be stored. At 100 Gb/s frames do not
// arrive faster than their beats leave, so the ring fills only while the dispatcher stalls the reader.
//
// A frame becomes visible when its last row is stored and its hash is known: its first beat leaves 13 cycles after its
// last one entered. One row a cycle in and one beat out, also when each is a frame. Nothing that leaves ever holds what
// enters; a full ring does: with Lossless = 0 (a MAC, which cannot wait) `tready` is constant 1 and a frame that does
// not fit is dropped whole, with Lossless = 1 (the host) `tready` falls. A frame that is longer than MaxFrame takes at
// most MaxFrame of ring, and gives it back at once. A frame with several faults counts once, in this order: disabled,
// damaged, oversize, runt, overflow.
module ingress
  import penstock_pkg::*, shell_pkg::*;
#(
    parameter port_t       Source   = 8'h00,  // `src` of its frames
    parameter int unsigned Depth    = 4096,   // rows of the ring, a power of two
    parameter bit          Lossless = 1'b0
) (
    input wire logic  clk,
    input wire logic  rst,
    input wire time_t now,
    input wire logic  enable,

    axis_if.snk  rx,
    output logic pause,    // the ring is half full: what a sender has on its way until it waits still fits
    output logic crowded,  // three quarters are full: see dispatcher.sv. A port whose sender waits at `pause` never is.

    frame_if.src      frames,
    output tail_t     tail,    // with the beat of `frames`; on the host's stream there are none
    output rx_event_t events
);
  localparam int unsigned RowBytes = rx.Bytes;
  localparam int unsigned RowW = 8 * RowBytes;
  localparam int unsigned Lanes = RowBytes / BeatBytes;  // beats of a row
  localparam int unsigned AddrW = $clog2(Depth);
  localparam int unsigned ByteW = $clog2(RowBytes);
  localparam int unsigned FrameRows = MaxFrame / RowBytes;
  localparam int unsigned HashCycles = 5;
  // A row that is stored shows in `full_q` and `tready_q` so many cycles later: `level_q` and they themselves. `full_q`
  // keeps places for the rows of these cycles.
  localparam int unsigned LevelRegisters = 2;
  // A row that is taken is stored so many cycles later. `tready_q` stops the host's stream so many rows before `full_q`
  // that none of its rows finds the ring full.
  localparam int unsigned InputRegisters = 1;

  if (RowBytes != BeatBytes && RowBytes != PortBytes) begin : gen_width
    $error("ingress: rx must have %0d or %0d bytes", BeatBytes, PortBytes);
  end
  if (Depth < 4 * FrameRows) begin : gen_depth
    $error("ingress: Depth must be at least four longest frames, %0d rows", 4 * FrameRows);
  end

  typedef struct packed {
    len_t len;
    time_t timestamp;
    logic [31:0] hash;
    logic folded;
  } desc_t;

  // 0: input register
  logic v0_q, first0_q, last0_q, user0_q, idle_q;
  logic [RowW-1:0] data0_q;
  logic [RowBytes-1:0] keep0_q;
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
  logic [AddrW:0] wr_q, start_q, rd_q;  // next row to write; first row of the frame; next row to read
  logic [AddrW:0] level_q;
  logic [8:0] rows_q, rows;             // rows of the frame before this one, up to FrameRows
  logic oversize_q, overflow_q, disabled_q, full_q;
  logic oversize, overflow, disabled, runt, good, lost, store;

  assign rows = first0_q ? 9'd0 : rows_q;
  assign disabled = first0_q ? !enable : disabled_q;
  assign oversize = (!first0_q && oversize_q) || rows == 9'(FrameRows);
  assign lost = disabled || oversize || (!first0_q && overflow_q);
  assign overflow = (!first0_q && overflow_q) || (full_q && !lost);
  assign runt = first0_q && last0_q && !keep0_q[MinFrame-1];
  assign store = v0_q && !lost && !full_q;
  assign good = !disabled && !oversize && !overflow && !runt && !user0_q;

  always_ff @(posedge clk) begin
    full_q  <= level_q >= (AddrW + 1)'(Depth - LevelRegisters);
    level_q <= wr_q - rd_q;
    pause   <= level_q >= (AddrW + 1)'(Depth / 2);
    crowded <= level_q >= (AddrW + 1)'(Depth - Depth / 4);
    if (v0_q) begin
      rows_q     <= (rows == 9'(FrameRows)) ? rows : rows + 9'd1;
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
      crowded <= 1'b0;
    end
  end
  logic tready_q;
  always_ff @(posedge clk) tready_q <= !rst && level_q < (AddrW + 1)'(Depth - LevelRegisters - InputRegisters);
  assign rx.tready = Lossless ? tready_q : 1'b1;

`ifndef SYNTHESIS
  always_ff @(posedge clk)
    if (!rst) begin
      assert (!store || (AddrW + 1)'(wr_q - rd_q) < (AddrW + 1)'(Depth)) else $error("%m: the ring overflows");
      assert (!Lossless || !v0_q || !full_q) else $error("%m: a row of the host finds no place");
    end
`endif

  // 1: the last beat of a good frame starts its descriptor, which the hash then completes
  logic [6:0] bytes1_q[Lanes];  // of each beat's worth
  always_ff @(posedge clk)
    if (v0_q) for (int unsigned l = 0; l < Lanes; l++) bytes1_q[l] <= keep_bytes(keep0_q[l*BeatBytes+:BeatBytes]);

  logic hash_valid;
  logic [31:0] hash, hash_q;
  flow_hash i_hash (
      .clk,
      .rst,
      .valid(v0_q && first0_q),
      .data(data0_q[DataW-1:0]),
      .bytes(bytes1_q[0]),
      .hash_valid,
      .hash
  );

  logic [HashCycles:1] end_q;
  logic [8:0] rows1_q;
  len_t row_len, len_q[2:HashCycles];
  logic folded_q;
  time_t time_q[1:HashCycles];
  always_comb begin
    row_len = '0;
    for (int unsigned l = 0; l < Lanes; l++) row_len += len_t'(bytes1_q[l]);
  end
  always_ff @(posedge clk) begin
    end_q <= {end_q[HashCycles-1:1], v0_q && last0_q && good};
    if (v0_q) begin
      rows1_q   <= rows;
      time_q[1] <= time0_q;
    end
    if (end_q[1]) len_q[2] <= (len_t'(rows1_q) << ByteW) + row_len;
    if (end_q[HashCycles-1]) folded_q <= Lanes > 1 && is_folded(len_q[HashCycles-1]);
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
  assign desc_in = '{len: len_q[HashCycles], timestamp: time_q[HashCycles], hash: hash_valid ? hash : hash_q, folded: folded_q};
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

  // Reader: one beat a cycle while the queue behind it has room. A row is read with its first beat, and stands in the
  // RAM's output for its second.
  logic [9:0] index_q, index_next_q;  // of the beat to read within its frame, and that plus one
  logic read, read_row, last_read, upper, room;
  assign last_read = (Lanes > 1 && desc.folded) || (desc.len[5:0] == 0 ? desc.len[15:6] == index_next_q : desc.len[15:6] == index_q);
  assign read = desc_valid && room;
  assign upper = Lanes > 1 && index_q[0];
  assign read_row = read && !upper;
  assign desc_pop = read && last_read;
  always_ff @(posedge clk) begin
    if (read_row) rd_q <= rd_q + 1'b1;
    if (read) begin
      index_q <= last_read ? 10'd0 : index_next_q;
      index_next_q <= last_read ? 10'd1 : index_next_q + 10'd1;
    end
    if (rst) begin
      rd_q <= '0;
      index_q <= 10'd0;
      index_next_q <= 10'd1;
    end
  end

  logic [RowW-1:0] ring_data;
  ram_sdp #(
      .Width(RowW),
      .Depth(Depth),
      .Ultra(1'b1)
  ) i_ring (
      .clk,
      .we(store),
      .waddr(wr_q[AddrW-1:0]),
      .wdata(data0_q),
      .re(read_row),
      .raddr(rd_q[AddrW-1:0]),
      .rdata(ring_data)
  );

  // The half of the row that the beat is; the lower one for a folded frame, whose tail is where the upper one begins.
  logic [DataW-1:0] half;
  logic [TailW-1:0] half_tail;
  if (Lanes > 1) begin : gen_halves
    localparam int unsigned Quarters = 4;
    localparam int unsigned QuarterW = DataW / Quarters;
    for (genvar q = 0; q < Quarters; q++) begin : gen_quarter
      logic upper_q;
      reg_copy i_upper (
          .clk,
          .load(read),
          .d(upper),
          .q(upper_q)
      );
      assign half[q*QuarterW+:QuarterW] = upper_q ? ring_data[DataW+q*QuarterW+:QuarterW] : ring_data[q*QuarterW+:QuarterW];
    end
    assign half_tail = ring_data[DataW+:TailW];
  end else begin : gen_whole
    assign half = ring_data;
    assign half_tail = '0;
  end

  typedef struct packed {
    logic [TailW-1:0] tail;  // first, so that it is not kept where there is none
    desc_t desc;
    logic last;
    logic [DataW-1:0] data;
  } entry_t;
  localparam int unsigned EntryW = $bits(entry_t) - (Lanes > 1 ? 0 : TailW);
  logic [1:0] read_q;
  logic last1_q;
  desc_t desc1_q;
  entry_t entry_q, head;
  logic [EntryW-1:0] head_bits;
  always_ff @(posedge clk) begin
    read_q <= {read_q[0], read};
    if (read) begin
      desc1_q <= desc;
      last1_q <= last_read;
    end
    if (read_q[0]) entry_q <= '{tail: half_tail, desc: desc1_q, last: last1_q, data: half};
    if (rst) read_q <= '0;
  end

  fifo_dist #(
      .Width(EntryW),
      .Room (4)
  ) i_out (
      .clk,
      .rst,
      .push (read_q[1]),
      .din  (entry_q[EntryW-1:0]),
      .ready(room),
      .valid(frames.valid),
      .pop  (frames.ready),
      .dout (head_bits),
      .level()
  );
  assign head = entry_t'(head_bits);
  assign frames.data = head.data;
  assign frames.last = head.last;
  assign tail = '{valid: Lanes > 1 && head.desc.folded, data: head.tail};
  assign frames.meta = '{
          len: head.desc.len,
          src: Source,
          timestamp: head.desc.timestamp,
          hash: head.desc.hash,
          default: '0
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
