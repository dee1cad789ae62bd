// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// Division, a bit a cycle: 64 cycles, 32 where the operands are narrow. By zero the quotient is 0 and the remainder
// what was divided (RFC 9669, section 4.1). The smallest number by -1 gives itself, and remains 0.
//
//   start ─> signs off ─> 32 or 64 steps ─> signs on ─> done
module xdp_division
  import xdp_pkg::*;
(
    input wire logic clk,
    input wire logic rst,

    input wire logic  start,
    input wire word_t dividend,
    input wire word_t divisor,
    input wire logic  is_signed,
    input wire logic  remainder,  // is wanted
    input wire logic  narrow,     // of the lower 32 bits, result extended with zeros

    output logic  busy,
    output logic  done,   // for one cycle
    output word_t result
);
  function automatic word_t part(word_t x, logic is_narrow, logic with_sign);
    return is_narrow ? {{32{with_sign && x[31]}}, x[31:0]} : x;
  endfunction

  word_t a, b, divisor_q, quotient_q;
  logic [64:0] rest_q;
  logic [5:0] left_q;
  logic negate_q, remainder_q, narrow_q, finish_q;
  assign a = part(dividend, narrow, is_signed);
  assign b = part(divisor, narrow, is_signed);
  wire a_negative = is_signed && a[63];
  wire b_negative = is_signed && b[63];
  wire word_t a_size = a_negative ? -a : a;
  wire word_t b_size = b_negative ? -b : b;

  // The rest takes in the dividend's highest bit, which leaves the quotient's register, and gives the divisor back when
  // it fits.
  wire [64:0] taken = {rest_q[63:0], quotient_q[63]};
  wire fits = taken >= {1'b0, divisor_q} && divisor_q != 0;
  wire word_t value = remainder_q ? rest_q[63:0] : quotient_q;
  wire word_t signed_value = negate_q ? -value : value;

  always_ff @(posedge clk) begin
    if (start) begin
      // A narrow dividend begins in the upper half, so that it is through after 32 steps.
      quotient_q <= narrow ? {a_size[31:0], 32'd0} : a_size;
      divisor_q <= b_size;
      rest_q <= '0;
      negate_q <= remainder ? a_negative : a_negative != b_negative;
      remainder_q <= remainder;
      narrow_q <= narrow;
      left_q <= narrow ? 6'd31 : 6'd63;
    end else if (busy) begin
      quotient_q <= {quotient_q[62:0], fits};
      rest_q <= fits ? taken - {1'b0, divisor_q} : taken;
      left_q <= left_q - 6'd1;
    end
    result <= narrow_q ? {32'd0, signed_value[31:0]} : signed_value;
    finish_q <= busy && left_q == 0;
    done <= finish_q;
    busy <= start || (busy && left_q != 0);
    if (rst) begin
      busy <= 1'b0;
      finish_q <= 1'b0;
      done <= 1'b0;
    end
  end
endmodule

`default_nettype wire
