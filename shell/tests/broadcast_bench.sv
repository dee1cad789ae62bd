// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// broadcast with flat ports. Checks that all units receive the same words.
module broadcast_bench
  import penstock_pkg::*;
#(
    parameter int unsigned Units  = 16,
    parameter int unsigned Stages = 0
) (
    input wire logic clk,
    input wire logic rst,

    input  wire logic [Units-1:0]       out_valid,
    input  wire logic [Units-1:0][31:0] out_data,
    output logic      [Units-1:0]       out_ready,

    output logic        in_valid,
    output logic [ 4:0] in_from,
    output logic [10:0] in_addr,
    output logic [ 3:0] in_be,
    output logic [31:0] in_data
);
  broadcast_if links[Units] ();

  for (genvar u = 0; u < Units; u++) begin : gen_unit
    assign links[u].out_valid = out_valid[u];
    // Address and enables follow from the data, so that a mix-up is visible.
    assign links[u].out = '{addr: out_data[u][10:0] ^ 11'h5A5, be: ~out_data[u][3:0], data: out_data[u]};
    assign out_ready[u] = links[u].out_ready;

    always_ff @(posedge clk) begin
      if (!rst) begin
        assert (links[u].in_valid == in_valid) else $error("unit %0d is told at another time", u);
        assert (!in_valid || (links[u].from == in_from && links[u].in == links[0].in))
          else $error("unit %0d is told something else", u);
      end
    end
  end

  assign in_valid = links[0].in_valid;
  assign in_from = links[0].from;
  assign in_addr = links[0].in.addr;
  assign in_be = links[0].in.be;
  assign in_data = links[0].in.data;

  broadcast #(
      .Units(Units),
      .Stages(Stages)
  ) i_broadcast (
      .clk,
      .rst,
      .links(links)
  );
endmodule

`default_nettype wire
