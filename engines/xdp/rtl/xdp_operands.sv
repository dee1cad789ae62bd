// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// A source's value: a register, or what the core knows of a packet and its surroundings. Within READ.
module xdp_operands
  import xdp_pkg::*;
(
    input  wire logic [6:0]  source,
    input  wire word_t       held,      // the register of that name
    input  wire packet_t     packet,
    input  wire word_t       now,       // ns
    input  wire logic [31:0] random,
    input  wire logic [8:0]  cpu,
    output word_t            value
);
  localparam logic [15:0] PacketBase = 16'h0001;  // upper halves of addresses: core.md
  localparam logic [15:0] StackBase = 16'h0002;

  function automatic word_t packet_address(offset_t place);
    return {32'd0, PacketBase, 4'd0, place};
  endfunction

  word_t special;
  always_comb begin
    unique case (source[3:0])
      SpecialData: special = packet_address(packet.extent.start);
      SpecialDataEnd: special = packet_address(packet.extent.finish);
      SpecialDataMeta: special = packet_address(packet.extent.meta);
      SpecialLen: special = {52'd0, packet.extent.finish - packet.extent.start};
      SpecialStack: special = {32'd0, StackBase, 16'(StackBytes)};
      SpecialIfindex: special = {56'd0, packet.ifindex};
      SpecialEgress: special = {56'd0, packet.egress};
      SpecialTime: special = now;
      SpecialCpu: special = 64'(cpu);
      SpecialRandom: special = {32'd0, random};
      default: special = '0;
    endcase
  end

  assign value = source[6] ? special : held;
endmodule

`default_nettype wire
