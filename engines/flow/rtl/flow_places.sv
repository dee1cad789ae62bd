// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// The places of a key, one in each way, without registers: a Toeplitz hash under a secret, so that nobody who does not know it can choose keys
// that share their places, and behind it two products. Sums alone are linear: of keys that count up, as addresses do, a way whose part of the secret
// lacks rank over the bits that change would use half of its places, or fewer, and of secrets 2 in 5 have such a way.
//
//   key ─────────────┐                          sum n ─────────────────┐
//                    and ─> XOR of 320 bits ─>  sum n + 1, n + 2 ─ and ─ XOR ─> bit n / 2 of the place in way n % 2
//   secret from n on ┘                          sum n + 3, n + 5 ─ and ┘        │
//                                               both, turned round ──── XOR ─> the places in ways 2 and 3
//
//   levels of LUT6    3 pairs, 6 x 6 x 6 sums: 4                       1, and 1 for ways 2 and 3, with the mask behind it
//
// Each sum is changed by such behind it alone, so places of random keys are as random as before; and no product is that of another bit, so none cancels.
// Two hashes are enough for four ways, as with double hashing (Mitzenmacher, Thaler: Peeling Arguments and Double Hashing, 2012): `bench flow-table`
// says how full they become.
module flow_places
  import flow_pkg::*;
#(
    parameter int unsigned AddrW = 12
) (
    input  wire logic [KeyBits-1:0]            key,
    input  wire logic [secret_bits(AddrW)-1:0] secret,
    output logic      [Ways-1:0][AddrW-1:0]    addr
);
  localparam int unsigned Bits = 2 * AddrW;
  localparam int unsigned Sums = Bits + SpreadBits;
  localparam int unsigned Sixths = (KeyBits + 17) / 18;

  function automatic logic [AddrW-1:0] turned(logic [AddrW-1:0] place, int unsigned by);
    return place << by | place >> AddrW - by;
  endfunction

  logic [Sums-1:0] sum;
  for (genvar n = 0; n < Sums; n++) begin : gen_sum
    wire [18*Sixths-1:0] terms = (18 * Sixths)'(key & secret[n+:KeyBits]);
    // As many at a time as LUTs of six inputs take.
    logic [6*Sixths-1:0] thirds;
    logic [Sixths-1:0] sixths;
    for (genvar i = 0; i < 6 * Sixths; i++) begin : gen_third
      assign thirds[i] = ^terms[3*i+:3];
    end
    for (genvar i = 0; i < Sixths; i++) begin : gen_sixth
      assign sixths[i] = ^thirds[6*i+:6];
    end
    assign sum[n] = ^sixths;
  end
  always_comb begin
    for (int unsigned n = 0; n < Bits; n++) addr[n%2][n/2] = sum[n] ^ (sum[n+1] & sum[n+2]) ^ (sum[n+3] & sum[n+5]);
    addr[2] = addr[0] ^ turned(addr[1], AddrW / 2);
    addr[3] = turned(addr[0], AddrW / 3) ^ turned(addr[1], 1);
  end
endmodule

`default_nettype wire
