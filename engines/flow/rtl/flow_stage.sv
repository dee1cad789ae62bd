// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// An element of a flow block with its window on the configuration bus: registers of engines/flow/regs/flow.rdl;
// addresses after them are unmapped.
//
// An element takes a frame's headers when `valid` and `ready`, gives each back later, in order, never held, and
// leaves those alone that name another element (`next`). It answers every access on `cfg` in bounded time, and takes
// no frame between the answer to a write and what the write does.
module flow_stage
  import flow_pkg::*;
#(
    parameter int unsigned Number   = 0,     // its place in the block
    parameter int unsigned Contexts = 16384  // places of its table, a power of two
) (
    input wire logic  clk,
    input wire logic  rst,
    input wire word_t now,  // us

    input  wire logic    valid,
    output logic         ready,
    input  wire vector_t in,
    output logic         out_valid,
    output vector_t      out,

    cfg_if.snk cfg  // 20 address bits
);
  // An access: the stage presents the address, reads the data four cycles later, which is the time of a counter, and answers.
  logic [3:0] step_q;
  logic start, outside;
  word_t rdata;

  assign start = cfg.req && step_q == '0 && !cfg.ack;
  assign outside = cfg.addr[19:10] != '0;

  always_ff @(posedge clk) begin
    step_q <= {step_q[2:0], start};
    cfg.ack <= step_q[3];
    cfg.err <= outside;
    cfg.rdata <= rdata;
    if (rst) begin
      step_q  <= '0;
      cfg.ack <= 1'b0;
    end
  end

  flow_element #(
      .Entries(Contexts),
      .Number (Number)
  ) i_flow (
      .clk,
      .rst,
      .now,
      .valid,
      .ready,
      .in,
      .out_valid,
      .out,
      .host_we(start && cfg.we && !outside),
      .host_re(start && !cfg.we && !outside),
      .host_addr(cfg.req && !outside ? cfg.addr[9:0] : '0),
      .host_wdata(cfg.wdata),
      .host_rdata(rdata)
  );
endmodule

`default_nettype wire
