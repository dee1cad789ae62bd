// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// Packet memory: rows of 64 bytes in UltraRAM, two ports. A port reads in every cycle in which it writes no byte; the
// row is there two cycles later (memory, output register), for one cycle.
//
// Port A belongs to the core and the frame engines, port B to the accelerators and the host.
// A row that one port writes while the other reads it is read as either value.
module pmem
  import penstock_pkg::*;
#(
    parameter int unsigned Bytes = 1 << 20
) (
    input wire logic clk,

    input  wire logic [1:0]                                   we,
    input  wire logic [1:0][BeatBytes-1:0]                    be,
    input  wire logic [1:0][$clog2(Bytes/BeatBytes)-1:0]      row,
    input  wire logic [1:0][DataW-1:0]                        wdata,
    output logic      [1:0][DataW-1:0]                        rdata
);
  // Two ports write one array: this describes a true dual port RAM.
  /* verilator lint_off MULTIDRIVEN */
  (* ram_style = "ultra", no_rw_check *) logic [DataW-1:0] mem[Bytes/BeatBytes];
  /* verilator lint_on MULTIDRIVEN */

  for (genvar p = 0; p < 2; p++) begin : gen_port
    logic [DataW-1:0] mem_q, out_q;
    wire [BeatBytes-1:0] writes = be[p] & {BeatBytes{we[p]}};

    // In this form a cycle is either a read or a write for any strobes, so yosys also infers that the port is always
    // enabled.
    always @(posedge clk) begin
      for (int unsigned b = 0; b < BeatBytes; b++) if (writes[b]) mem[row[p]][b*8+:8] <= wdata[p][b*8+:8];
      if (writes == '0) mem_q <= mem[row[p]];
    end

    always_ff @(posedge clk) out_q <= mem_q;

    assign rdata[p] = out_q;
  end
endmodule

`default_nettype wire
