// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// An inline block of the flow engine (engines/inline_block.sv has the contract).
//
//   frames of   ─> flow_frames ───────────────────────> out
//   each port      bodies wait, headers go  headers │      ^
//                  a frame a cycle                  v      │ headers, verdict
//                                              flow_chain: the elements
//
// For all ports together one frame a cycle, 250 Mpps: with two ports of 100 Gb/s that is 84 % of line rate at 60
// bytes without FCS, and all of it from 76 bytes on. A port alone has line rate at all sizes. docs/hardware.md says what
// a second chain beside this one would cost.
//
// The elements wait only for each other. Ports wait for their turn in front of the chain. Frames of a port wait for
// earlier frames of that port, which wait for the next stage after the block. A port whose frames cannot leave
// therefore fills its own queues, and other ports' frames pass through the same elements.
//
// A frame's mark is meta0 of the first element, and meta0 of the last one the mark.
module flow_block
  import penstock_pkg::*, fields_pkg::*;
#(
    parameter int unsigned Ports  = 2,
    parameter int unsigned Number = 0,         // of the block, from the ports on; this engine makes no frames
    parameter logic [63:0] Param  = 64'h0E01   // elements [7:0], places of an element's table as a power of two [15:8]
) (
    input wire logic        clk,
    input wire logic        rst,
    input wire logic [63:0] now,  // ns

    frame_if.snk         frames  [Ports],
    input wire tail_t    tails   [Ports],
    input wire verdict_t verdicts[Ports],

    frame_if.src     out         [Ports],
    output tail_t    out_tails   [Ports],
    output verdict_t out_verdicts[Ports],

    output block_event_t events[Ports],
    output logic [Ports-1:0] crowded,
    output logic         busy,

    cfg_if.snk cfg  // 24 address bits
);
  localparam int unsigned Elements = 32'(Param[7:0]);
  localparam int unsigned Contexts = 32'd1 << Param[15:8];
  localparam int unsigned PortW = $clog2(Ports + 1);

  logic to_valid, to_ready, from_valid, close, empty, steady;
  logic [PortW-1:0] from_port;
  frame_meta_t to_meta;
  verdict_t from_verdict;
  logic [31:0] from_mark, us;
  headers_t to_headers, from_headers;
  cfg_if #(.ADDR_W(20)) elements[Elements] ();

  flow_frames #(
      .Ports(Ports)
  ) i_frames (
      .clk,
      .rst,
      .frames(frames),
      .tail(tails),
      .verdict(verdicts),
      .to_valid,
      .to_ready,
      .to_port(),
      .to_meta,
      .to_headers,
      .from_valid,
      .from_port,
      .from_verdict,
      .from_mark,
      .from_headers,
      .out(out),
      .out_tail(out_tails),
      .out_verdict(out_verdicts),
      .busy
  );

  assign crowded = '0;

  flow_clock i_clock (
      .clk,
      .rst,
      .ns(now),
      .us,
      .steady
  );

  flow_chain #(
      .Ports(Ports),
      .Elements(Elements),
      .Contexts(Contexts)
  ) i_chain (
      .clk,
      .rst,
      .now(us),
      .close(close || !steady),
      .empty,
      .to_valid,
      .to_ready,
      .to_meta,
      .to_headers,
      .from_valid,
      .from_port,
      .from_verdict,
      .from_mark,
      .from_headers,
      .cfg(elements),
      .events
  );

  flow_regs #(
      .Elements(Elements),
      .Contexts(Contexts)
  ) i_regs (
      .clk,
      .rst,
      .cfg(cfg),
      .elements(elements),
      .steady,
      .close,
      .empty
  );
endmodule

`default_nettype wire
