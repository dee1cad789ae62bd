// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// The channels of the card's memory on the ports of a board's memory, of which there are fewer.
//
//   channel p ────────────┐
//   channel p + Ports ────┼─> memory_port ─┆─> port p
//   channel p + 2·Ports ──┘
//
// Channel c is on port c mod Ports, from byte (c div Ports)·2^28 of it on.
module card_memory
  import penstock_pkg::*;
#(
    parameter int unsigned Ports = 1
) (
    input wire logic clk,
    input wire logic rst,
    axi_if.sub       channel[CardChannels],  // IDs of 9 bits

    input wire logic [Ports-1:0] mem_clk,
    input wire logic [Ports-1:0] mem_rst_in,  // of any clock
    axi_if.mgr                   mem[Ports]    // IDs of 1 bit, always 0
);
  for (genvar p = 0; p < Ports; p++) begin : gen_mem
    localparam int unsigned Own = (CardChannels - p + Ports - 1) / Ports;
    axi_if #(.ID_W(9)) own[Own] ();
    for (genvar i = 0; i < Own; i++) begin : gen_own
      axi_wire i_wire (
          .from(channel[p+i*Ports]),
          .to  (own[i])
      );
    end
    memory_port #(
        .Channels(Own)
    ) i_port (
        .clk,
        .rst,
        .channel(own),
        .mem_clk(mem_clk[p]),
        .mem_rst_in(mem_rst_in[p]),
        .mem(mem[p])
    );
  end
endmodule

`default_nettype wire
