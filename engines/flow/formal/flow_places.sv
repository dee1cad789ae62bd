// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// Any hash, for the proof of the table (flow_table.sv): the secret lists the places of all keys. rtl/flow_places.sv is
// one such hash.
module flow_places
  import flow_pkg::*;
#(
    parameter int unsigned AddrW = 1
) (
    input  wire logic [KeyBits-1:0]            key,
    input  wire logic [secret_bits(AddrW)-1:0] secret,
    output logic      [Ways-1:0][AddrW-1:0]    addr
);
  assign addr = secret[key*Ways*AddrW+:Ways*AddrW];
  wire unused = &{1'b0, secret};
endmodule

`default_nettype wire
