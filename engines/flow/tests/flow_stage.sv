// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// An element for the tests of a flow block's chain: element n does what byte n of a frame's source address says. Upper
// digit: 0 nothing; 1 drop; 2 to the host; 3 to port `lower digit`; 4 a VLAN tag with that id comes in front; 5 IPv4's
// TTL becomes it; 6 the next element is passed by; 7 meta0 becomes it; 8 IPv4's TTL becomes meta0; 9 the source port of
// TCP or UDP does; A the VLAN tag in front goes; B meta0 becomes the edition; C to port `lower digit` when that is the
// edition, else drop.
//
// Configuration, byte addresses: 0 it takes a frame in so many of 256 cycles; 4 frames that it has taken; 8 the time
// that it read with the last one; C the edition. Others: error. A frame is Latency cycles in it.
module flow_stage
  import penstock_pkg::*, fields_pkg::*, flow_pkg::*;
#(
    parameter int unsigned Number   = 0,     // its place in the block
    parameter int unsigned Contexts = 16384
) (
    input wire logic  clk,
    input wire logic  rst,
    input wire word_t now,

    input  wire logic    valid,
    output logic         ready,
    input  wire vector_t in,
    output logic         out_valid,
    output vector_t      out,

    cfg_if.snk cfg
);
  localparam int unsigned Latency = 8 + 4 * Number;

  logic [8:0] share_q;
  logic [7:0] dice_q;
  logic [31:0] frames_q, edition_q;
  word_t time_q;
  logic [Latency-1:0] valid_q;
  vector_t vector_q[Latency];
  vector_t changed;
  logic [3:0] op, value;

  assign ready = 9'(dice_q) < share_q;
  assign {op, value} = in.headers[ETH_SRC_AT+8*(5-Number)+:8];

  always_comb begin
    changed = in;
    if (in.next == 4'(Number)) begin
      changed.next = in.next + 4'd1;
      case (op)
        4'h1: changed.verdict.kind = DecisionDrop;
        4'h2: changed.verdict.kind = DecisionHost;
        4'h3: changed.verdict = '{kind: DecisionPort, port: port_t'(value)};
        4'h4: begin
          changed.headers.eth = {in.headers.eth[175:80], 16'h8100, 12'h0, value, in.headers.eth[79:32]};
          changed.headers.parts[PART_VLAN] = 1'b1;
          changed.headers.parts[PART_VLAN2] = in.headers.parts[PART_VLAN];
          changed.len = in.len + 16'd4;
        end
        4'h5: changed.headers[IP_TTL_AT+:IP_TTL_BITS] = 8'(value);
        4'h6: changed.next = in.next + 4'd2;
        4'h7: changed.meta0 = 32'(value);
        4'h8: changed.headers[IP_TTL_AT+:IP_TTL_BITS] = in.meta0[7:0];
        4'h9: changed.headers[L4_SPORT_AT+:L4_SPORT_BITS] = in.meta0[15:0];
        4'hA: begin
          changed.headers.eth = {in.headers.eth[175:80], in.headers.eth[47:0], 32'h0};
          changed.headers.parts[PART_VLAN] = in.headers.parts[PART_VLAN2];
          changed.headers.parts[PART_VLAN2] = 1'b0;
          changed.len = in.len - 16'd4;
        end
        4'hB: changed.meta0 = edition_q;
        4'hC: changed.verdict = '{kind: in.meta0 == edition_q ? DecisionPort : DecisionDrop, port: port_t'(value)};
        default: ;
      endcase
      if (op inside {4'h1, 4'h2, 4'h3, 4'hC}) changed.next = 4'd15;
    end
  end

  always_ff @(posedge clk) begin
    dice_q <= {dice_q[6:0], dice_q[7] ^ dice_q[5] ^ dice_q[4] ^ dice_q[3]};
    valid_q <= {valid_q[Latency-2:0], valid && ready};
    vector_q[0] <= changed;
    for (int unsigned n = 1; n < Latency; n++) vector_q[n] <= vector_q[n-1];
    if (valid && ready) begin
      frames_q <= frames_q + 1;
      time_q   <= now;
    end
    cfg.ack   <= cfg.req && !cfg.ack;
    cfg.err   <= 1'b0;
    cfg.rdata <= '0;
    if (cfg.req && !cfg.ack)
      case (cfg.addr)
        20'h0: if (cfg.we) share_q <= cfg.wdata[8:0]; else cfg.rdata <= 32'(share_q);
        20'h4: cfg.rdata <= frames_q;
        20'h8: cfg.rdata <= time_q;
        20'hC: if (cfg.we) edition_q <= cfg.wdata; else cfg.rdata <= edition_q;
        default: cfg.err <= 1'b1;
      endcase
    if (rst) begin
      dice_q <= 8'(1 + Number);
      valid_q <= '0;
      frames_q <= '0;
      edition_q <= '0;
      share_q <= 9'd256;
      cfg.ack <= 1'b0;
    end
  end

  assign out_valid = valid_q[Latency-1];
  assign out = vector_q[Latency-1];
endmodule

`default_nettype wire
