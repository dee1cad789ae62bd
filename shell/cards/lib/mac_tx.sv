// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// From a port of the card of 1,024 bits at the card's clock to a MAC of 512 bits.
//
//   tx ─> bytes counted ─> fifo_async ─┆─> half by half ─> register ─> MAC
//         1                            ┆                   1
//
// A frame begins at the MAC when it is in the queue as a whole. The queue shows one more row of it in each cycle of
// `clk`, and the MAC
// takes a row in two cycles of its own or more. It begins when two rows are there, because a row may become visible up
// to two cycles late.
// The MAC never underruns while `clk` is faster than half of mac_clk.
//
// A frame that is shorter than an Ethernet frame is filled up with zeros to 60 bytes, to which the MAC adds the FCS.
// Bytes behind a
// frame's end are zero. When a reset of the card comes inside a frame, the frame ends with `mac_tuser`: the MAC sends
// it as bad. The
// rest of a frame that was cut by a reset of the MAC's side is dropped, and counts in `lost`.
module mac_tx
  import penstock_pkg::*;
#(
    parameter int unsigned Depth = 256  // rows of the queue
) (
    input wire logic clk,
    input wire logic own_rst,  // of the card: a new frame begins
    input wire logic rst,      // of the crossing, from reset_pair
    input wire logic clear,
    axis_if.snk      tx,
    output logic     lost,     // for one cycle of clk

    input  wire logic         mac_clk,
    input  wire logic         mac_own_rst,
    input  wire logic         mac_rst,
    input  wire logic         mac_clear,
    output logic              mac_tvalid,
    output logic      [511:0] mac_tdata,
    output logic      [ 63:0] mac_tkeep,
    output logic              mac_tlast,
    output logic              mac_tuser,
    input  wire logic         mac_tready
);
  import shell_pkg::*;
  localparam int unsigned MaxRows = MaxFrame / PortBytes;
  localparam int unsigned Shortest = 60;  // bytes of an Ethernet frame without its FCS

  if (tx.Bytes != PortBytes) begin : gen_width
    $error("mac_tx: tx must have %0d bytes", PortBytes);
  end
  if (Depth < 2 * MaxRows) begin : gen_depth
    $error("mac_tx: Depth must be at least two longest frames, %0d rows", 2 * MaxRows);
  end

  typedef struct packed {
    logic last;
    logic [6:0] bytes;  // of the last row; 0 is 128
    logic [8*PortBytes-1:0] data;
  } row_t;

  // 1: the row, its bytes counted. Bytes behind them are zero.
  logic ready, take, v1_q, first_q, lost_q, midway;
  row_t row_q;
  logic [6:0] bytes;
  logic [8*PortBytes-1:0] masked;
  assign tx.tready = ready && !rst;
  assign take = tx.tvalid && tx.tready;
  assign midway = take ? !tx.tlast : !first_q;
  assign bytes = keep_bytes(tx.tkeep[63:0]) + keep_bytes(tx.tkeep[127:64]);
  always_comb for (int unsigned i = 0; i < PortBytes; i++) masked[8*i+:8] = tx.tkeep[i] ? tx.tdata[8*i+:8] : 8'h00;
  always_ff @(posedge clk) begin
    v1_q <= take && !lost_q;
    if (take) begin
      row_q.last <= tx.tlast;
      row_q.bytes <= first_q && tx.tlast && !tx.tkeep[Shortest-1] ? 7'(Shortest) : bytes;
      row_q.data <= masked;
    end
    first_q <= !midway;
    lost_q  <= midway && (lost_q || rst);
    lost    <= lost_q && !midway;
    if (rst) v1_q <= 1'b0;
    if (own_rst) begin
      first_q <= 1'b1;
      lost_q  <= 1'b0;
      lost    <= 1'b0;
    end
  end

  row_t head;
  logic valid, more, pop;
  fifo_async #(
      .Width($bits(row_t)),
      .Depth(Depth),
      .Room(2)
  ) i_fifo (
      .wr_clk(clk),
      .wr_rst(rst),
      .wr_clear(clear),
      .push(v1_q),
      .din(row_q),
      .commit(v1_q && row_q.last),
      .discard(1'b0),
      .ready,
      .rd_clk(mac_clk),
      .rd_rst(mac_rst),
      .rd_clear(mac_clear),
      .valid,
      .pop,
      .dout(head),
      .more
  );

  // Half by half
  logic step, there, two, half_q, valid_q, last_q, user_q, midway_q, cut, cut_q, ends;
  logic [63:0] keep_q;
  logic [511:0] data_q;
  logic [127:0] keep;
  assign step = !valid_q || mac_tready;
  assign there = valid && !mac_rst && !cut_q && (midway_q || head.last || more);
  assign two = !head.last || head.bytes > 7'd64 || head.bytes == 0;
  assign ends = head.last && (half_q || !two);
  assign pop = step && there && (half_q || !two);
  assign cut = midway_q && (mac_rst || cut_q);
  assign keep = head.last ? bytes_keep(head.bytes) : '1;
  always_ff @(posedge mac_clk) begin
    if (step) begin
      valid_q <= there || cut;
      data_q <= half_q ? head.data[1023:512] : head.data[511:0];
      keep_q <= cut ? '1 : half_q ? keep[127:64] : keep[63:0];
      last_q <= cut || ends;
      user_q <= cut;
      if (there) midway_q <= !ends;
      if (there) half_q <= !half_q && two;
      if (cut) midway_q <= 1'b0;
    end
    cut_q <= cut && !step;
    if (mac_rst) half_q <= 1'b0;
    if (mac_own_rst) begin
      valid_q  <= 1'b0;
      midway_q <= 1'b0;
      cut_q    <= 1'b0;
    end
  end
  assign mac_tvalid = valid_q;
  assign mac_tdata  = data_q;
  assign mac_tkeep  = keep_q;
  assign mac_tlast  = last_q;
  assign mac_tuser  = user_q;

`ifndef SYNTHESIS
  always_ff @(posedge mac_clk)
    if (!mac_own_rst && !mac_rst) assert (!midway_q || valid_q) else $error("%m: a gap inside a frame: the MAC underruns");
`endif
endmodule

`default_nettype wire
