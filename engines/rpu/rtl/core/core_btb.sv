// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// Branch target buffer: 16 entries, direct mapped, whole tags, in distributed memory. The look-up is combinational from
// the fetch PC; EX writes an entry when it resolves a branch or a jump. Entry contents are only ever a hint.
module core_btb
  import core_pkg::*;
(
    input  wire      clk,
    input  wire pc_t pc,
    output counter_t counter,  // 0 when there is no entry
    output pc_t      target,
    // resolution
    input  wire           we,
    input  wire pc_t      wpc,
    input  wire pc_t      wtarget,
    input  wire counter_t wcounter
);

  typedef struct packed {
    logic [9:0] tag;
    pc_t        target;
    counter_t   counter;
  } entry_t;

  (* ram_style = "distributed" *) entry_t mem[16];

  initial for (int i = 0; i < 16; i++) mem[i] = '0;

  always_ff @(posedge clk) if (we) mem[wpc[3:0]] <= '{tag: wpc[13:4], target: wtarget, counter: wcounter};

  wire entry_t entry = mem[pc[3:0]];
  assign counter = entry.tag == pc[13:4] ? entry.counter : '0;
  assign target  = entry.target;

endmodule

`default_nettype wire
