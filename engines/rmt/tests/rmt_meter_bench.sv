// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// rmt_meter with flat ports.
module rmt_meter_bench
  import rmt_pkg::*;
(
    input wire logic        clk,
    input wire logic        rst,
    input wire logic [63:0] now,

    input wire logic                   slot,
    input wire logic                   we,
    input wire logic [15:0]            row,
    input wire logic [32*RowWords-1:0] data,

    input wire logic [Lanes-1:0] valid,
    input wire logic [31:0]      index,
    input wire logic [31:0]      x,
    input wire logic [15:0]      offset,
    input wire logic [15:0]      length,
    input wire logic [15:0]      base,
    input wire logic [15:0]      size,
    output color_t               color
);
  host_t host;
  access_t [Lanes-1:0] access;

  assign host = '{we: we, memory: MemMeter, stage: '0, row: row, word: '0, data: data};
  for (genvar l = 0; l < Lanes; l++) begin : gen_lane
    assign access[l] = '{
        valid: valid[l],
        op: RegMeter,
        is_new: 1'b0,
        index: index,
        x: x,
        offset: offset,
        length: length,
        segment: '{base: base, size: size}
    };
  end

  rmt_meter i_meter (
      .clk,
      .rst,
      .now,
      .slot,
      .stage('0),
      .host,
      .host_word(),
      .access,
      .color
  );
endmodule

`default_nettype wire
