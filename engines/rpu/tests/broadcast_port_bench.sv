// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// broadcast_port with flat ports. As in the core, an access is in MEM one cycle after it was in EX.
module broadcast_port_bench
  import penstock_pkg::*;
(
    input wire logic clk,
    input wire logic rst,

    input  wire logic        out_ready,
    output logic             out_valid,
    output logic      [10:0] out_addr,
    output logic      [ 3:0] out_be,
    output logic      [31:0] out_data,
    input  wire logic        in_valid,
    input  wire logic [ 4:0] in_from,
    input  wire logic [10:0] in_addr,
    input  wire logic [ 3:0] in_be,
    input  wire logic [31:0] in_data,

    input  wire logic        req,     // ignored while `hold`
    input  wire logic        we,
    input  wire logic [ 3:0] be,
    input  wire logic [10:0] addr,
    input  wire logic [31:0] wdata,
    output logic      [31:0] rdata,
    output logic             hold,

    input  wire logic        host_en,
    input  wire logic        host_we,
    input  wire logic [10:0] host_addr,
    input  wire logic [31:0] host_wdata,
    output logic      [31:0] host_rdata,
    output logic             host_ready,

    input  wire logic        listen,
    input  wire logic [10:0] mask,
    input  wire logic [10:0] value,
    input  wire logic        next,
    output logic             head_valid,
    output logic      [10:0] head,
    output logic             head_load,
    output logic      [ 7:0] waiting,
    output logic      [ 3:0] leaving
);
  broadcast_if bc ();
  assign out_valid = bc.out_valid;
  assign {out_addr, out_be, out_data} = bc.out;
  assign bc.out_ready = out_ready;
  assign bc.in_valid = in_valid;
  assign bc.from = in_from;
  assign bc.in = {in_addr, in_be, in_data};

  logic store_q;
  broadcast_t stored_q;
  wire issue = req && !hold;

  always_ff @(posedge clk) begin
    if (!hold) store_q <= req && we;
    if (issue) stored_q <= '{addr: addr, be: be, data: wdata};
    if (rst) store_q <= 1'b0;
  end

  broadcast_port i_port (
      .clk,
      .rst,
      .unit_id(5'd3),
      .bc,
      .load(issue && !we),
      .addr,
      .rdata,
      .store(store_q),
      .stored(stored_q),
      .hold,
      .host_en,
      .host_we,
      .host_addr,
      .host_wdata,
      .host_rdata,
      .host_ready,
      .listen,
      .mask,
      .value,
      .next,
      .head_valid,
      .head,
      .head_load,
      .waiting,
      .leaving
  );
endmodule

`default_nettype wire
