// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// Answers on their way back to the units of a group. The answers to the probes of one lookup become one answer: that of
// the longest prefix found. The last probe has the number of probes; their answers return in any order.
//
//   in ─> what the context's lookup has found so far ─> out        one cycle, an answer a cycle
module map_longest
  import map_pkg::*;
  import maps_pkg::*;
(
    input wire logic clk,
    input wire logic rst,

    input wire logic    in_valid,
    input wire result_t in,

    output logic   out_valid,
    output port_t  out_port,
    output reply_t out
);
  typedef struct packed {
    logic        found;   // one of them; kept beside its value, so that nobody waits for 64 bits
    logic [63:0] value;   // of the longest one; 0: none was found
    length_t     length;
    logic [7:0]  came;
    logic [7:0]  probes;  // 0: not known yet
  } found_t;

  localparam int unsigned Lookups = PortsPerGroup * Contexts;

  (* ram_style = "distributed" *) found_t kept[Lookups];
  logic [Lookups-1:0] open_q;  // some of its probes have come
  wire [$clog2(Lookups)-1:0] at = {in.port, in.ctx};
  found_t so_far, now;
  logic finds, better, whole;

  always_comb begin
    so_far = kept[at];
    if (!open_q[at]) {so_far.found, so_far.came, so_far.probes} = '0;
    finds = in.value != '0;
    better = !so_far.found || (finds && in.length > so_far.length);
    now.found = so_far.found || finds;
    now.value = better ? in.value : so_far.value;
    now.length = better ? in.length : so_far.length;
    now.came = so_far.came + 1'b1;
    now.probes = in.probes != '0 ? in.probes : so_far.probes;
    whole = now.came == now.probes;
  end

  always_ff @(posedge clk) begin
    if (in_valid && in.probe) kept[at] <= now;
  end

  always_ff @(posedge clk) begin
    if (in_valid && in.probe) open_q[at] <= !whole;
    out_valid <= in_valid && (!in.probe || whole);
    out_port <= in.port;
    out <= '{shape: 1'b0, ctx: in.ctx, value: in.probe ? now.value : in.value};
    if (rst) begin
      open_q <= '0;
      out_valid <= 1'b0;
    end
  end
endmodule

`default_nettype wire
