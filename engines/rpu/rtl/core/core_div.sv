// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// Divider: restoring, one bit a cycle; a leading zero byte of the dividend goes in one cycle.
//   start: magnitudes | 1..32 steps | done: `res` holds until `leave`
module core_div (
    input  wire         clk,
    input  wire         rst,
    input  wire         start,  // operands are in EX; held by the pipeline until `done`
    input  wire         leave,  // EX goes on, with the result or without
    input  wire  [1:0]  f3,
    input  wire  [31:0] a,
    input  wire  [31:0] b,
    output logic        done,
    output logic [31:0] res
);

  typedef enum logic [1:0] {
    Idle,
    Step,
    Done
  } state_e;

  state_e state_q;
  logic [5:0] left_q;       // bits of quotient still to come
  logic lead_q;             // so far only zeros came out of the dividend, and the divisor is not 0
  logic negate_q;           // of the wanted result
  logic [31:0] rem_q, quo_q, divisor_q;

  wire is_signed = !f3[0];
  wire is_rem = f3[1];
  wire a_neg = is_signed & a[31];
  wire b_neg = is_signed & b[31];

  wire [32:0] trial = {rem_q, quo_q[31]};
  wire [32:0] diff = trial - {1'b0, divisor_q};
  wire skip = lead_q && quo_q[31:24] == 8'd0 && left_q[5:3] != 3'd0;

  always_ff @(posedge clk) begin
    unique case (state_q)
      Idle: begin
        left_q    <= 6'd32;
        lead_q    <= b != 32'd0;
        negate_q  <= is_rem ? a_neg : (a_neg ^ b_neg) && b != 32'd0;
        rem_q     <= '0;
        quo_q     <= (a ^ {32{a_neg}}) + 32'(a_neg);
        divisor_q <= (b ^ {32{b_neg}}) + 32'(b_neg);
        if (start) state_q <= Step;
      end
      Step: begin
        if (skip) begin
          left_q <= left_q - 6'd8;
          quo_q  <= {quo_q[23:0], 8'd0};
          if (left_q == 6'd8) state_q <= Done;
        end else begin
          left_q <= left_q - 6'd1;
          lead_q <= 1'b0;
          rem_q  <= diff[32] ? trial[31:0] : diff[31:0];
          quo_q  <= {quo_q[30:0], !diff[32]};
          if (left_q == 6'd1) state_q <= Done;
        end
      end
      default: ;
    endcase
    if (rst || leave) state_q <= Idle;
  end

  assign done = state_q == Done;
  wire [31:0] raw = is_rem ? rem_q : quo_q;
  assign res = (raw ^ {32{negate_q}}) + 32'(negate_q);

endmodule

`default_nettype wire
