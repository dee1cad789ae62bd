// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// Counts the entries of each map over all banks, so that a map holds exactly max_entries; and tells which lengths of
// prefixes a map has.
//
//   claims of the banks ─> one of them ─> count + 1 or − 1, if there is room ─> granted
//
// Three cycles, a claim a cycle.
module map_ledger
  import map_pkg::*;
  import maps_pkg::*;
#(
    parameter int unsigned Banks = 16
) (
    input wire logic clk,
    input wire logic rst,

    input wire logic        define,
    input wire map_t        define_map,
    input wire descriptor_t define_as,

    input  wire logic [Banks-1:0] claim,
    input  wire claim_t           what[Banks],
    output logic [Banks-1:0]      done,
    output logic                  granted,

    output logic    length_used,
    output map_t    length_map,
    output length_t length
);
  (* ram_style = "distributed" *) logic [31:0] counts[Maps];
  (* ram_style = "distributed" *) logic [31:0] limits[Maps];

  logic [Banks-1:0] grant, grant_q;
  claim_t one, one_q;
  rr_arbiter #(
      .N(Banks)
  ) pick (
      .clk,
      .rst,
      .req(claim & ~grant_q & ~done),
      .accept(1'b1),
      .grant
  );
  always_comb begin
    one = '0;
    for (int unsigned b = 0; b < Banks; b++) if (grant[b]) one |= what[b];
  end

  wire [31:0] count = counts[one_q.map];
  wire room = count < limits[one_q.map];
  always_ff @(posedge clk) begin
    one_q <= one;
    if (define) limits[define_map] <= define_as.max_entries;
    if (define) counts[define_map] <= '0;
    else if (grant_q != '0 && (one_q.back || room)) counts[one_q.map] <= one_q.back ? count - 1'b1 : count + 1'b1;
    granted <= room;
    length_map <= one_q.map;
    length <= one_q.length;
  end

  always_ff @(posedge clk) begin
    grant_q <= define ? '0 : grant;
    done <= define ? '0 : grant_q;
    length_used <= grant_q != '0 && !define && one_q.prefix && !one_q.back && room;
    if (rst) begin
      grant_q <= '0;
      done <= '0;
      length_used <= 1'b0;
    end
  end
endmodule

`default_nettype wire
