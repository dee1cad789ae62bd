// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// The card's maps with their links as plain ports, for test benches.
module maps_bench
  import map_pkg::*;
#(
    parameter int unsigned Units = 16,
    parameter int unsigned Banks = 16,
    parameter int unsigned Rows  = 1024,
    parameter int unsigned OnChip = Rows
) (
    input wire logic clk,
    input wire logic rst,

    input  wire logic [Units-1:0]                 valid,
    input  wire logic [Units*$bits(flit_t)-1:0]   flit,
    output logic [Units-1:0]                      room,
    output logic [Units-1:0]                      reply_valid,
    output logic [Units*$bits(reply_t)-1:0]       reply,

    input  wire logic        cfg_req,
    input  wire logic        cfg_we,
    input  wire logic [11:0] cfg_addr,
    input  wire logic [31:0] cfg_wdata,
    output logic             cfg_ack,
    output logic             cfg_err,
    output logic [31:0]      cfg_rdata,

    // Lines that came from the card's memory, and that went there
    output logic [31:0] lines_in,
    output logic [31:0] lines_out
);
  map_if links[Units] ();
  cfg_if #(.ADDR_W(12)) cfg ();
  axi_write_if memory_write ();
  axi_read_if memory_read ();

  for (genvar u = 0; u < Units; u++) begin : gen_link
    assign links[u].valid = valid[u];
    assign links[u].flit = flit[u*$bits(flit_t)+:$bits(flit_t)];
    assign room[u] = links[u].room;
    assign reply_valid[u] = links[u].reply_valid;
    assign reply[u*$bits(reply_t)+:$bits(reply_t)] = links[u].reply;
  end
  assign cfg.req = cfg_req;
  assign cfg.we = cfg_we;
  assign cfg.addr = cfg_addr;
  assign cfg.wdata = cfg_wdata;
  assign cfg_ack = cfg.ack;
  assign cfg_err = cfg.err;
  assign cfg_rdata = cfg.rdata;

  card_maps #(
      .Units(Units),
      .Banks(Banks),
      .Rows(Rows),
      .OnChip(OnChip)
  ) maps (
      .clk,
      .rst,
      .links,
      .cfg,
      .memory_write,
      .memory_read
  );

  // The card's memory: takes what it is told in any order, and answers after a while
  localparam int unsigned Beats = Banks * Rows / 4;
  localparam int unsigned Burst = 4;
  localparam int unsigned AtW = $clog2(Beats);
  logic [511:0] memory[Beats];
  logic [511:0] beats[Burst];
  logic [31:0] dice_q;
  logic [AtW-1:0] write_at_q, read_at_q;
  logic [2:0] came_q;
  logic [7:0] left_q, write_wait_q, read_wait_q;
  logic asked_q, reading_q, answers_q;
  initial for (int unsigned b = 0; b < Beats; b++) memory[b] = {16{$urandom}};  // nobody has cleared it
  assign memory_write.awready = !asked_q && dice_q[0];
  assign memory_write.wready = came_q != 3'(Burst) && dice_q[1];
  assign memory_write.bvalid = answers_q && dice_q[2] && write_wait_q == '0;
  assign memory_write.bresp = '0;
  assign memory_read.arready = !reading_q && dice_q[3];
  assign memory_read.rvalid = reading_q && dice_q[4] && read_wait_q == '0;
  assign memory_read.rdata = memory[read_at_q];
  assign memory_read.rlast = left_q == '0;
  assign memory_read.rresp = '0;
  always_ff @(posedge clk) begin
    dice_q <= $urandom;
    if (write_wait_q != '0) write_wait_q <= write_wait_q - 1'b1;
    if (read_wait_q != '0) read_wait_q <= read_wait_q - 1'b1;
    if (memory_write.awvalid && memory_write.awready) begin
      asked_q <= 1'b1;
      write_at_q <= AtW'(memory_write.awaddr >> 6);
      assert (memory_write.awlen == 8'(Burst - 1) && memory_write.awaddr % (64 * Burst) == '0) else $error("%m: no line");
    end
    if (memory_write.wvalid && memory_write.wready) begin
      beats[came_q[1:0]] <= memory_write.wdata;
      came_q <= came_q + 1'b1;
      assert (memory_write.wlast == (came_q == 3'(Burst - 1))) else $error("%m: wlast");
    end
    if (asked_q && came_q == 3'(Burst) && !answers_q) begin
      for (int unsigned b = 0; b < Burst; b++) memory[write_at_q+AtW'(b)] <= beats[b];
      answers_q <= 1'b1;
      write_wait_q <= {3'd0, dice_q[12:8]};
    end
    if (memory_write.bvalid && memory_write.bready) {answers_q, asked_q, came_q} <= '0;
    if (memory_read.arvalid && memory_read.arready) begin
      reading_q <= 1'b1;
      read_at_q <= AtW'(memory_read.araddr >> 6);
      left_q <= memory_read.arlen;
      read_wait_q <= {3'd0, dice_q[17:13]};
    end
    if (memory_read.rvalid && memory_read.rready) begin
      read_at_q <= read_at_q + 1'b1;
      left_q <= left_q - 1'b1;
      if (left_q == '0) reading_q <= 1'b0;
    end
    lines_in <= lines_in + 32'(memory_read.arvalid && memory_read.arready);
    lines_out <= lines_out + 32'(memory_write.awvalid && memory_write.awready);
    if (rst) {asked_q, came_q, reading_q, answers_q, write_wait_q, read_wait_q, lines_in, lines_out} <= '0;
  end
endmodule

`default_nettype wire
