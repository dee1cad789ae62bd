// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// Registers of all contexts: a bank for each lane, which that lane writes and all ports read. Distributed memory, one copy of every bank for
// each port; the row of a bank is {context, register}.
module registers
  import xdp_pkg::*;
#(
    parameter int unsigned Lanes = 4,
    parameter int unsigned Ports = 9
) (
    input wire logic clk,

    input  wire ctx_t       read_ctx,
    input  wire logic [5:0] read_name[Ports],
    output word_t           read_value[Ports],  // in the same cycle

    input wire ctx_t             write_ctx,
    input wire logic [Lanes-1:0] write,
    input wire logic [4:0]       write_reg[Lanes],
    input wire word_t            write_value[Lanes]
);
  localparam int unsigned Size = bank_size(Lanes);
  localparam int unsigned RegW = $clog2(Size);
  localparam int unsigned LaneW = Lanes == 1 ? 1 : $clog2(Lanes);

  for (genvar p = 0; p < Ports; p++) begin : gen_port
    word_t banks[Lanes];
    wire [LaneW-1:0] lane = LaneW'(read_name[p] >> RegW);
    for (genvar l = 0; l < Lanes; l++) begin : gen_bank
      (* ram_style = "distributed" *) word_t mem[Contexts*Size];
      always_ff @(posedge clk) if (write[l]) mem[{write_ctx, write_reg[l][RegW-1:0]}] <= write_value[l];
      assign banks[l] = mem[{read_ctx, read_name[p][RegW-1:0]}];
    end
    assign read_value[p] = banks[lane];
  end
endmodule

`default_nettype wire
