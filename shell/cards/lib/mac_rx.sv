// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// From a stream of a shell of 512 bits to one of the card of 1,024 bits at the card's clock. A MAC's stream has no
// ready; with Waits the stream has one, as that of the host's frames.
//
//   MAC ─> register ─> bytes counted ─> pairs of beats: a row ─> fifo_async ─┆─> register ─> rx
//          0           1                2                                     ┆
//
// A frame becomes visible to the card when it is in the queue as a whole. A frame that finds no room is dropped as a
// whole, and counts in `lost`. A frame that the MAC marks bad goes on with `tuser`: the card drops it as `damaged`. A
// frame that is too long for the card is cut to MaxRows + 2 rows, so that it cannot fill the queue: the card drops it
// as `oversize`.
//
// A port of the card takes one row in each of its cycles, and 100 Gb/s bring at most 149 million rows a second, so the
// queue does not fill while the card's clock runs at more than that. With Waits the card may take no row, and a frame
// begins only when the queue has room for the longest one behind those under way: none is dropped, except in a reset.
// A frame of which some beats came during a reset is lost. A frame that a reset of the MAC's side cuts on its way to the
// card ends with a row that is marked bad.
module mac_rx
  import penstock_pkg::*;
#(
    parameter int unsigned Depth = 512,  // rows of the queue
    parameter bit          Waits = 0
) (
    input wire logic         mac_clk,
    input wire logic         mac_own_rst,  // of the MAC: a new frame begins
    input wire logic         mac_rst,      // of the crossing, from reset_pair
    input wire logic         mac_clear,
    input wire logic         mac_tvalid,
    output logic             mac_tready,   // always 1 without Waits
    input wire logic [511:0] mac_tdata,
    input wire logic [ 63:0] mac_tkeep,
    input wire logic         mac_tlast,
    input wire logic         mac_tuser,    // with the last beat: the frame is bad
    output logic             lost,         // for one cycle of mac_clk

    input wire logic clk,
    input wire logic own_rst,  // of the card
    input wire logic rst,      // of the crossing
    input wire logic clear,
    axis_if.src      rx
);
  import shell_pkg::*;
  localparam int unsigned MaxRows = MaxFrame / PortBytes;
  localparam int unsigned OnTheWay = 3;  // rows of short frames that have begun and that `ready` does not know of

  if (rx.Bytes != PortBytes) begin : gen_width
    $error("mac_rx: rx must have %0d bytes", PortBytes);
  end
  if (Depth < 2 * MaxRows) begin : gen_depth
    $error("mac_rx: Depth must be at least two longest frames, %0d rows", 2 * MaxRows);
  end

  typedef struct packed {
    logic user;
    logic last;
    logic [6:0] bytes;  // of the last row; 0 is 128
    logic [8*PortBytes-1:0] data;
  } row_t;

  // A reset of the crossing must not stop the shell: frames go on, and are lost.
  logic ready, inside_q;
  assign mac_tready = !Waits || inside_q || ready || mac_rst;
  always_ff @(posedge mac_clk) begin
    if (mac_tvalid && mac_tready) inside_q <= !mac_tlast;
    if (mac_own_rst) inside_q <= 1'b0;
  end

  // 0, 1
  logic v0_q, last0_q, user0_q, v1_q, last1_q, user1_q;
  logic [511:0] data0_q, data1_q;
  logic [63:0] keep0_q;
  logic [6:0] bytes1_q;
  always_ff @(posedge mac_clk) begin
    v0_q <= mac_tvalid && mac_tready;
    data0_q <= mac_tdata;
    keep0_q <= mac_tkeep;
    last0_q <= mac_tlast;
    user0_q <= mac_tuser;
    v1_q <= v0_q;
    data1_q <= data0_q;
    bytes1_q <= keep_bytes(keep0_q);
    last1_q <= last0_q;
    user1_q <= user0_q;
    if (mac_own_rst) begin
      v0_q <= 1'b0;
      v1_q <= 1'b0;
    end
  end

  // 2: rows
  logic half_q, v2_q;
  logic [511:0] lower_q;
  row_t row_q;
  always_ff @(posedge mac_clk) begin
    v2_q <= v1_q && (half_q || last1_q);
    if (v1_q) begin
      half_q <= !half_q && !last1_q;
      if (!half_q) lower_q <= data1_q;
      row_q <= '{
          user: user1_q,
          last: last1_q,
          bytes: {half_q, 6'b0} + bytes1_q,
          data: {data1_q, half_q ? lower_q : data1_q}
      };
    end
    if (mac_own_rst) begin
      v2_q   <= 1'b0;
      half_q <= 1'b0;
    end
  end

  // Into the queue, unless the frame is lost already
  logic room, push, skip, lost_q, lost_now, midway_q, midway, last;
  logic [7:0] rows_q;  // of the frame before this one, up to MaxRows + 1
  assign room = (ready || Waits) && !mac_rst;
  assign last = v2_q && row_q.last;
  assign skip = !row_q.last && rows_q == 8'(MaxRows + 1);
  assign lost_now = lost_q || (v2_q && !skip && !room);
  assign push = v2_q && !skip && !lost_now;
  assign midway = v2_q ? !row_q.last : midway_q;
  always_ff @(posedge mac_clk) begin
    midway_q <= midway;
    lost_q   <= !last && (lost_now || (mac_rst && midway));
    lost     <= last && lost_now;
    if (v2_q) rows_q <= row_q.last ? '0 : skip ? rows_q : rows_q + 1'b1;
    if (mac_own_rst) begin
      midway_q <= 1'b0;
      lost_q   <= 1'b0;
      lost     <= 1'b0;
      rows_q   <= '0;
    end
  end

  row_t head;
  logic valid, take;
  fifo_async #(
      .Width($bits(row_t)),
      .Depth(Depth),
      .Room (Waits ? MaxRows + 2 + OnTheWay : 1)
  ) i_fifo (
      .wr_clk(mac_clk),
      .wr_rst(mac_rst),
      .wr_clear(mac_clear),
      .push,
      .din(row_q),
      .commit(last && !lost_now),
      .discard(last && lost_now),
      .ready,
      .rd_clk(clk),
      .rd_rst(rst),
      .rd_clear(clear),
      .valid,
      .pop(take),
      .dout(head),
      .more()
  );

  logic valid_q, last_q, user_q, open_q, cut, cut_q, free;
  logic [PortBytes-1:0] keep_q;
  logic [8*PortBytes-1:0] data_q;
  assign free = !valid_q || rx.tready;
  assign cut  = open_q && (rst || cut_q);
  assign take = free && !cut;
  always_ff @(posedge clk) begin
    if (free) begin
      valid_q <= cut || (valid && !rst);
      data_q  <= head.data;
      keep_q  <= head.last && !cut ? bytes_keep(head.bytes) : '1;
      last_q  <= head.last || cut;
      user_q  <= (head.last && head.user) || cut;
      if (cut) open_q <= 1'b0;
      else if (valid && !rst) open_q <= !head.last;
    end
    cut_q <= cut && !free;
    if (own_rst) begin
      valid_q <= 1'b0;
      open_q  <= 1'b0;
      cut_q   <= 1'b0;
    end
  end
  assign rx.tvalid = valid_q;
  assign rx.tdata  = data_q;
  assign rx.tkeep  = keep_q;
  assign rx.tlast  = last_q;
  assign rx.tuser  = user_q;

`ifndef SYNTHESIS
  always_ff @(posedge clk) if (!own_rst) assert (Waits || !valid_q || rx.tready) else $error("%m: the card does not take a row");
`endif
endmodule

`default_nettype wire
