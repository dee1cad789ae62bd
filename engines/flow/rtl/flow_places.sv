// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// The places of a key, one in each way, without registers: a Toeplitz hash under a secret, so that nobody who does not
// know it can choose keys that share their places, and behind it two products. Sums alone are linear: of keys that
// count up, as addresses do, a way whose part of the secret lacks rank over the bits that change would use half of its
// places, or fewer, and of secrets 2 in 5 have such a way.
//
//   key ─────────────┐                          sum n ─────────────────┐
//                    and ─> XOR of 320 bits ─>  sum n + 1, n + 2 ─ and ─ XOR ─> bit n / 2 of the place in way n % 2
//   secret from n on ┘                          sum n + 3, n + 5 ─ and ┘        │
//                                               both, turned round ──── XOR ─> the places in ways 2 and 3
//
//   levels of LUT6    3 pairs, 6 x 6 x 6 sums: 4                       1, and 1 for ways 2 and 3, with the mask behind it
//
// Each sum is changed by such behind it alone, so places of random keys are as random as before; and no product is that
// of another bit, so none cancels. Two hashes are enough for four ways, as with double hashing (Mitzenmacher, Thaler:
// Peeling Arguments and Double Hashing, 2012): `bench flow-table` says how full they become.
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

  function automatic logic [AddrW-1:0] turned(logic [AddrW-1:0] place, int unsigned by);
    return place << by | place >> AddrW - by;
  endfunction

  logic [Bits+SpreadBits-1:0] sum;
  always_comb begin
    for (int unsigned n = 0; n < Bits + SpreadBits; n++) sum[n] = ^(key & secret[n+:KeyBits]);
    for (int unsigned n = 0; n < Bits; n++) addr[n%2][n/2] = sum[n] ^ (sum[n+1] & sum[n+2]) ^ (sum[n+3] & sum[n+5]);
    addr[2] = addr[0] ^ turned(addr[1], AddrW / 2);
    addr[3] = turned(addr[0], AddrW / 3) ^ turned(addr[1], 1);
  end
endmodule

`default_nettype wire
