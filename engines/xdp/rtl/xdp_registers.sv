// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// Registers of all contexts: a bank for each lane, which that lane writes and all ports read. Distributed memory, one
// copy of every bank for each port; the row of a bank is {context, register}.
//
//   write ─> register, one for every three ports ─> memory       a value can be read in the second cycle behind that in
//   which it was given
//
// A value travels far, to the memories of all ports, so there is a register near each of them, followed only by wires.
module xdp_registers
  import xdp_pkg::*;
#(
    parameter int unsigned Lanes = 4,
    parameter int unsigned Ports = 9
) (
    input wire logic clk,

    input  wire ctx_t       read_ctx,
    input  wire logic [5:0] read_name[Ports],
    output word_t           read_value[Ports],  // in the same cycle

    // READ of the context's next row is two cycles behind this at the earliest
    input wire ctx_t             write_ctx,
    input wire logic [Lanes-1:0] write,
    input wire logic [4:0]       write_reg[Lanes],
    input wire word_t            write_value[Lanes]
);
  localparam int unsigned Size = bank_size(Lanes);
  localparam int unsigned RegW = $clog2(Size);
  localparam int unsigned LaneW = Lanes == 1 ? 1 : $clog2(Lanes);

  localparam int unsigned PortsPerCopy = 3;
  localparam int unsigned Copies = (Ports + PortsPerCopy - 1) / PortsPerCopy;

  typedef struct packed {
    logic                       write;
    ctx_t                       ctx;
    logic [RegW-1:0]            name;
    word_t                      value;
  } write_t;

  write_t write_q[Copies][Lanes];
  for (genvar c = 0; c < Copies; c++) begin : gen_copy
    for (genvar l = 0; l < Lanes; l++) begin : gen_write
      wire write_t now = '{write: write[l], ctx: write_ctx, name: write_reg[l][RegW-1:0], value: write_value[l]};
      reg_copy #(
          .Width($bits(write_t))
      ) i_write (
          .clk,
          .load(1'b1),
          .d(now),
          .q(write_q[c][l])
      );
    end
  end

  for (genvar p = 0; p < Ports; p++) begin : gen_port
    word_t banks[Lanes];
    wire [LaneW-1:0] lane = LaneW'(read_name[p] >> RegW);
    for (genvar l = 0; l < Lanes; l++) begin : gen_bank
      (* ram_style = "distributed" *) word_t mem[Contexts*Size];
      wire write_t put = write_q[p/PortsPerCopy][l];
      always_ff @(posedge clk) if (put.write) mem[{put.ctx, put.name}] <= put.value;
      assign banks[l] = mem[{read_ctx, read_name[p][RegW-1:0]}];
    end
    assign read_value[p] = banks[lane];
  end
endmodule

`default_nettype wire
