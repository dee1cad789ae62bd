// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// A queue from one clock to another, in block RAM, with a registered output.
//
//   push ─> RAM (Depth words) ──────────────────────────────┆─> RAM output ─> output register ─> pop
//           kept ─> published, one word a cycle ─> Gray code ┆─> words there are
//           room <─ words that were read <───── Gray code <──┆── read
//
// Words become visible with `commit`, those of this cycle's push included; `discard` forgets the words since the last
// commit. A queue
// that needs no frames commits each word. After a commit of n words the reader sees one more in each cycle of
// `wr_clk`, because a Gray
// code counts by one.
//
// Both resets come together (reset_pair). No word is pushed without room.
module fifo_async #(
    parameter int unsigned Width = 8,
    parameter int unsigned Depth = 512,  // a power of two, at least 4
    // words that are free while `ready`: for a writer with Room - 1 stages behind it
    parameter int unsigned Room  = 1
) (
    input  wire logic             wr_clk,
    input  wire logic             wr_rst,
    input  wire logic             wr_clear,
    input  wire logic             push,
    input  wire logic [Width-1:0] din,
    input  wire logic             commit,
    input  wire logic             discard,
    output logic                  ready,

    input  wire logic             rd_clk,
    input  wire logic             rd_rst,
    input  wire logic             rd_clear,
    output logic                  valid,
    input  wire logic             pop,    // ignored while !valid
    output logic      [Width-1:0] dout,
    output logic                  more    // another word stands behind this one
);
  localparam int unsigned AddrW = $clog2(Depth);
  typedef logic [AddrW:0] pointer_t;

  if (Depth < 4 || Depth != 1 << AddrW) begin : gen_depth
    $error("fifo_async: Depth must be a power of two and at least 4");
  end

  // Writer
  pointer_t wr_q, kept_q, published_q, read_gray, read_q, after;
  logic ready_q;
  assign after = wr_q + pointer_t'(push);
  always_ff @(posedge wr_clk) begin
    if (!wr_rst) begin
      wr_q <= discard ? kept_q : after;
      if (commit) kept_q <= after;
      published_q <= published_q + pointer_t'(published_q != kept_q);
    end
    for (int unsigned i = 0; i <= AddrW; i++) read_q[i] <= ^(read_gray >> i);
    ready_q <= pointer_t'(after - read_q) <= pointer_t'(Depth - Room);
    if (wr_rst) ready_q <= 1'b0;
    if (wr_clear) begin
      wr_q        <= '0;
      kept_q      <= '0;
      published_q <= '0;
      read_q      <= '0;
    end
  end
  assign ready = ready_q;

  // Reader
  pointer_t rd_q, published_gray;
  logic mem_valid_q, valid_q, some, read, load;
  logic [Width-1:0] mem_data, dout_q;
  assign some = (rd_q ^ (rd_q >> 1)) != published_gray;
  assign load = mem_valid_q && (!valid_q || pop);
  assign read = some && !rd_rst && (!mem_valid_q || load);
  always_ff @(posedge rd_clk) begin
    if (load) dout_q <= mem_data;
    rd_q        <= rd_q + pointer_t'(read);
    mem_valid_q <= read || (mem_valid_q && !load);
    valid_q     <= load || (valid_q && !pop);
    if (rd_rst) begin
      mem_valid_q <= 1'b0;
      valid_q     <= 1'b0;
    end
    if (rd_clear) rd_q <= '0;
  end
  assign valid = valid_q;
  assign dout  = dout_q;
  assign more  = mem_valid_q;

  ram_two_clocks #(
      .Width(Width),
      .Depth(Depth)
  ) i_ram (
      .wclk(wr_clk),
      .we(push),
      .waddr(wr_q[AddrW-1:0]),
      .wdata(din),
      .rclk(rd_clk),
      .re(read),
      .raddr(rd_q[AddrW-1:0]),
      .rdata(mem_data)
  );

  sync_bits #(
      .Width(AddrW + 1)
  ) i_published (
      .src_clk(wr_clk),
      .src_rst(wr_clear),
      .d(published_q ^ (published_q >> 1)),
      .clk(rd_clk),
      .rst(rd_rst),
      .q(published_gray)
  );
  sync_bits #(
      .Width(AddrW + 1)
  ) i_read (
      .src_clk(rd_clk),
      .src_rst(rd_clear),
      .d(rd_q ^ (rd_q >> 1)),
      .clk(wr_clk),
      .rst(wr_rst),
      .q(read_gray)
  );

`ifndef SYNTHESIS
  always_ff @(posedge wr_clk)
    if (!wr_rst) begin
      assert (!push || pointer_t'(wr_q - read_q) < pointer_t'(Depth)) else $error("%m: push into a full queue");
      assert (!(commit && discard)) else $error("%m: commit and discard at once");
    end
`endif
endmodule

`default_nettype wire
