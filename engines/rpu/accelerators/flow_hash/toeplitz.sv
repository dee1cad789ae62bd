// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// The flow_hash accelerator: Toeplitz hash (Microsoft, "RSS hashing functions"): bit i of the input, the first bit on
// the wire being bit 0, adds bits i to i + 31 of the key to the hash when it is 1.
//
//   PUSH written ‖ bytes in order ‖ 32 products, each a 1 of the input times 32 bits of the key ‖ HASH
//                                 ‖ key moves on by as many bits
//
// One push a cycle. HASH, read in the cycle behind a push, holds the core for one cycle. The key is followed by zeros.
// The host writes it in words of the table, byte 0 in the lowest bits of word 0; until it does it is Microsoft's.
module toeplitz
  import rpu_pkg::at;
(
    input wire logic clk,
    input wire logic rst,
    accel_if.accel   bus
);
  localparam int unsigned KeyW = 320;
  localparam int unsigned Words = KeyW / 32;
  // Byte 0 on top.
  localparam logic [KeyW-1:0] Microsoft =
      320'h6d5a56da_255b0ec2_4167253d_43a38fb0_d0ca2bcb_ae7b30b4_77cb2da3_8030f20c_6a42b73b_beac01fa;

  function automatic logic [31:0] reversed(logic [31:0] bytes);
    return {bytes[7:0], bytes[15:8], bytes[23:16], bytes[31:24]};
  endfunction

  // --- Hash ---------------------------------------------------------------------------------------------------------

  typedef enum logic [1:0] {
    None,
    One,
    Two,
    Four
  } push_e;

  push_e push_q;
  logic clear_q;
  logic [31:0] bytes_q, hash_q, sum;  // bytes: the first on top, zeros below those that are pushed
  logic [KeyW-1:0] key_q, rest_q;  // rest: from the bit on that the next bit of the input meets

  always_ff @(posedge clk) begin
    push_q  <= None;
    clear_q <= 1'b0;
    if (bus.wr_en) begin
      if (at(bus.addr[7:2], rpu_regs_pkg::FLOW_HASH_CLEAR)) clear_q <= 1'b1;
      if (at(bus.addr[7:2], rpu_regs_pkg::FLOW_HASH_PUSH1)) push_q <= One;
      if (at(bus.addr[7:2], rpu_regs_pkg::FLOW_HASH_PUSH2)) push_q <= Two;
      if (at(bus.addr[7:2], rpu_regs_pkg::FLOW_HASH_PUSH4)) push_q <= Four;
    end
    bytes_q <= reversed(bus.wdata);
    if (at(bus.addr[7:2], rpu_regs_pkg::FLOW_HASH_PUSH1)) bytes_q[23:0] <= '0;
    if (at(bus.addr[7:2], rpu_regs_pkg::FLOW_HASH_PUSH2)) bytes_q[15:0] <= '0;
    if (rst) begin
      push_q  <= None;
      clear_q <= 1'b1;
    end
  end

  always_comb begin
    sum = '0;
    for (int unsigned i = 0; i < 32; i++) if (bytes_q[31-i]) sum ^= rest_q[KeyW-32-i+:32];
  end

  always_ff @(posedge clk) begin
    unique case (push_q)
      One:     rest_q <= rest_q << 8;
      Two:     rest_q <= rest_q << 16;
      Four:    rest_q <= rest_q << 32;
      default: ;
    endcase
    if (push_q != None) hash_q <= hash_q ^ sum;
    if (clear_q) begin
      rest_q <= key_q;
      hash_q <= '0;
    end
  end

  assign bus.rdata    = at(bus.addr[7:2], rpu_regs_pkg::FLOW_HASH_HASH) ? hash_q : '0;
  assign bus.rd_valid = bus.rd_en && push_q == None && !clear_q;

  // --- Key ----------------------------------------------------------------------------------------------------------

  wire in_key = bus.ld_addr[23:2] < 22'(Words);

  always_ff @(posedge clk) begin
    bus.ld_rdata <= '0;
    for (int unsigned w = 0; w < Words; w++)
      if (bus.ld_addr[5:2] == 4'(w)) begin
        if (bus.ld_wr && in_key) key_q[KeyW-32-32*w+:32] <= reversed(bus.ld_wdata);
        if (in_key) bus.ld_rdata <= reversed(key_q[KeyW-32-32*w+:32]);
      end
    bus.ld_rvalid <= bus.ld_rd && !rst;
    if (rst) key_q <= Microsoft;
  end

  assign bus.error  = 1'b0;
  assign bus.pm_en  = 1'b0;
  assign bus.pm_row = '0;

  wire unused = &{1'b0, bus.addr, bus.ld_addr[1:0], bus.pm_ready, bus.pm_rdata, bus.pm_rvalid};
endmodule

`default_nettype wire
