// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// The registers of a flow block (engines/flow/regs/flow.rdl), followed by the windows of its elements. An address
// without a register answers with `err`, and so does a write to a read-only register.
//
// A write to the window of all elements waits until the chain is empty, while frames wait in front of it; then all
// elements take it in the same cycle. An element that has answered blocks frames itself for as long as it needs.
// Therefore no frame is processed by a mix of old and new programs.
module flow_regs
  import flow_pkg::*, flow_regs_pkg::*;
#(
    parameter int unsigned Elements = 1,
    parameter int unsigned Contexts = 16384
) (
    input wire logic clk,
    input wire logic rst,

    cfg_if.snk cfg,               // 24 address bits
    cfg_if.src elements[Elements], // 20 address bits

    input  wire logic steady,  // the clock shows what the host has set; accesses wait for it
    output logic      close,   // no frame enters the chain
    input  wire logic empty    // none is in it
);
  localparam int unsigned Window = 20;  // address bits of an element's window

  // An access waits for the elements that it addresses; all others are answered in the next cycle.
  logic [Elements-1:0] targets, waiting_q, ack, err;
  logic [31:0] rdata[Elements];
  logic [31:0] answer;
  logic start, to_all, answered, err_q;
  logic close_q, asked_q;  // the entry of the chain is closed; the elements have been asked since

  for (genvar n = 0; n < Elements; n++) begin : gen_element
    assign targets[n] = cfg.addr[23:Window] == 4'(n + 1);
    assign elements[n].req = waiting_q[n];
    assign elements[n].we = cfg.we;
    assign elements[n].addr = {cfg.addr[Window-1] && !to_all, cfg.addr[Window-2:0]};
    assign elements[n].wdata = cfg.wdata;
    assign ack[n] = waiting_q[n] && elements[n].ack;
    assign err[n] = elements[n].err;
    assign rdata[n] = elements[n].rdata;
  end

  always_comb begin
    answer = '0;
    for (int unsigned n = 0; n < Elements; n++) if (ack[n]) answer |= rdata[n];
  end

  assign start = cfg.req && !cfg.ack && waiting_q == '0 && !close_q && steady;
  assign to_all = cfg.we && cfg.addr[23:Window-1] == 5'd1;
  assign answered = waiting_q != '0 && (waiting_q & ~ack) == '0;
  assign close = close_q;

  always_ff @(posedge clk) begin
    if (start && to_all) close_q <= 1'b1;
    if (close_q && empty) asked_q <= 1'b1;
    if (close_q && answered) {close_q, asked_q} <= '0;

    waiting_q <= start ? targets : close_q && empty && !asked_q ? '1 : waiting_q & ~ack;
    cfg.ack   <= answered || (start && targets == '0 && !to_all);
    cfg.rdata <= answer;
    cfg.err   <= err_q || (ack & err) != '0;
    err_q     <= !start && (err_q || (ack & err) != '0);
    if (start && targets == '0 && !to_all) begin
      cfg.err <= cfg.we;
      case (32'(cfg.addr))
        FLOW_BLOCK_ELEMENTS: cfg.rdata <= Elements;
        FLOW_BLOCK_CONTEXTS: cfg.rdata <= Contexts;
        default: cfg.err <= 1'b1;
      endcase
    end

    if (rst) begin
      waiting_q <= '0;
      close_q   <= 1'b0;
      asked_q   <= 1'b0;
      cfg.ack   <= 1'b0;
    end
  end
endmodule

`default_nettype wire
