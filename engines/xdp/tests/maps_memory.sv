// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// The card's memory for test benches: accepts requests in any order, and answers after a while.
module maps_memory #(
    parameter int unsigned Beats = 1024  // of 64 bytes
) (
    input wire logic clk,
    input wire logic rst,
    axi_write_if     write,
    axi_read_if      read,

    // Lines that were read from it, and that were written to it
    output logic [31:0] lines_in,
    output logic [31:0] lines_out
);
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
  assign write.awready = !asked_q && dice_q[0];
  assign write.wready = came_q != 3'(Burst) && dice_q[1];
  assign write.bvalid = answers_q && dice_q[2] && write_wait_q == '0;
  assign write.bresp = '0;
  assign read.arready = !reading_q && dice_q[3];
  assign read.rvalid = reading_q && dice_q[4] && read_wait_q == '0;
  assign read.rdata = memory[read_at_q];
  assign read.rlast = left_q == '0;
  assign read.rresp = '0;
  always_ff @(posedge clk) begin
    dice_q <= $urandom;
    if (write_wait_q != '0) write_wait_q <= write_wait_q - 1'b1;
    if (read_wait_q != '0) read_wait_q <= read_wait_q - 1'b1;
    if (write.awvalid && write.awready) begin
      asked_q <= 1'b1;
      write_at_q <= AtW'(write.awaddr >> 6);
      assert (write.awlen == 8'(Burst - 1) && write.awaddr % (64 * Burst) == '0) else $error("%m: no line");
    end
    if (write.wvalid && write.wready) begin
      beats[came_q[1:0]] <= write.wdata;
      came_q <= came_q + 1'b1;
      assert (write.wlast == (came_q == 3'(Burst - 1))) else $error("%m: wlast");
    end
    if (asked_q && came_q == 3'(Burst) && !answers_q) begin
      for (int unsigned b = 0; b < Burst; b++) memory[write_at_q+AtW'(b)] <= beats[b];
      answers_q <= 1'b1;
      write_wait_q <= {3'd0, dice_q[12:8]};
    end
    if (write.bvalid && write.bready) {answers_q, asked_q, came_q} <= '0;
    if (read.arvalid && read.arready) begin
      reading_q <= 1'b1;
      read_at_q <= AtW'(read.araddr >> 6);
      left_q <= read.arlen;
      read_wait_q <= {3'd0, dice_q[17:13]};
    end
    if (read.rvalid && read.rready) begin
      read_at_q <= read_at_q + 1'b1;
      left_q <= left_q - 1'b1;
      if (left_q == '0) reading_q <= 1'b0;
    end
    lines_in <= lines_in + 32'(read.arvalid && read.arready);
    lines_out <= lines_out + 32'(write.awvalid && write.awready);
    if (rst) {asked_q, came_q, reading_q, answers_q, write_wait_q, read_wait_q, lines_in, lines_out} <= '0;
  end
endmodule

`default_nettype wire
