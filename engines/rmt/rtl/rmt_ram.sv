// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// A memory of the machine that both lanes read and the host reads and writes.
//
//   lane 0, host ─> port A ─┬─> data[0]          1 cycle
//                           └─> word of the host  2 cycles
//   lane 1 ───────> port B ───> data[1]
//
// The host has its own slot on the wheel, in which neither lane has a frame here. No port therefore gets two requests,
// and no lane reads a row while it is written.
module rmt_ram
  import rmt_pkg::*;
#(
    parameter int unsigned Width = 32,
    parameter int unsigned Depth = 512,
    localparam int unsigned AddrW = Depth > 1 ? $clog2(Depth) : 1
) (
    input wire logic clk,

    input wire logic        slot,      // the host's slot is here
    input wire logic        selected,  // the access is to this memory; it stands long before the slot comes
    input wire host_t       host,
    output     word_t       host_word,

    input wire logic [Lanes-1:0][AddrW-1:0] addr,
    output     logic [Lanes-1:0][Width-1:0] data
);
  localparam int unsigned RowBits = 32 * ((Width + 31) / 32);

  (* ram_style = "block", no_rw_check *) logic [Width-1:0] mem[Depth];
  logic access, accessed_q;
  logic [AddrW-1:0] addr_a;
  word_t [RowBits/32-1:0] row;
  word_t word_q;

  assign access = slot && selected;
  assign addr_a = access ? host.row[AddrW-1:0] : addr[0];

  always_ff @(posedge clk) begin
    if (access && host.we) mem[addr_a] <= Width'(host.data);
    else data[0] <= mem[addr_a];
  end
  always_ff @(posedge clk) data[1] <= mem[addr[1]];

  assign row = RowBits'(data[0]);
  always_ff @(posedge clk) begin
    accessed_q <= access && !host.we;
    if (accessed_q) word_q <= 32'(host.word) < RowBits / 32 ? row[host.word] : '0;
  end
  assign host_word = selected ? word_q : '0;
endmodule

`default_nettype wire
