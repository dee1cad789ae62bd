// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// The places of a key, one in each way: a Toeplitz hash under a secret, so that nobody who does not know it can choose keys that share their
// places. Without registers: as deep as a sum, modulo 2, of half as many bits as a key has.
module flow_places
  import flow_pkg::*;
#(
    parameter int unsigned AddrW = 12
) (
    input  wire logic [KeyBits-1:0]                 key,
    input  wire logic [KeyBits+Ways*AddrW-1:0]      secret,
    output logic      [Ways-1:0][AddrW-1:0]      addr
);
  always_comb begin
    for (int unsigned bit_ = 0; bit_ < Ways * AddrW; bit_++) addr[bit_/AddrW][bit_%AddrW] = ^(key & secret[bit_+:KeyBits]);
  end
endmodule

`default_nettype wire
