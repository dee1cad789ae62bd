// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// The elements of a flow block, one after the other, and the verdict from the decision of the last one.
//
//   headers ─> element 0 ─> queue ─> element 1 ─> queue ─> … ─> verdict ─> headers, verdict
//                           2                     2             0
//
// One frame's headers a cycle, in order. An element may stall its input, but not its output. Each element except the
// last therefore has a queue behind it, and takes a frame only while the queue has room for it and for all frames
// between the element's input and the end of the queue. The output of the last element is taken at once
// (flow_frames.sv). An element therefore waits only for later elements, and the last one waits for none: a chain
// without new frames is soon empty.
module flow_chain
  import penstock_pkg::*, fields_pkg::*, flow_pkg::*;
#(
    parameter int unsigned Ports    = 2,
    parameter int unsigned Elements = 1,              // 1..MaxElements
    parameter int unsigned Contexts = 16384,          // places of an element's table, a power of two
    parameter int unsigned PortW    = $clog2(Ports+1)
) (
    input wire logic  clk,
    input wire logic  rst,
    input wire word_t now,  // us

    input  wire logic close,  // frames wait in front of the chain
    output logic      empty,  // none is in it

    input  wire logic        to_valid,
    output logic             to_ready,
    input  wire frame_meta_t to_meta,
    input  wire headers_t    to_headers,

    output logic                 from_valid,
    output logic     [PortW-1:0] from_port,
    output verdict_t             from_verdict,
    output logic     [     31:0] from_mark,
    output headers_t             from_headers,

    cfg_if.snk cfg[Elements],  // 20 address bits

    output block_event_t events[Ports]
);
  // of a queue: frames at full rate in an element and on the way through the queue, and some to spare
  localparam int unsigned Depth = 32;
  localparam int unsigned CountW = $clog2(Depth) + 1;
  localparam int unsigned InsideW = $clog2(MaxPorts * 512) + 1;  // no more than have room in flow_frames.sv

  if (Elements < 1 || Elements > MaxElements) begin : gen_elements
    $error("flow_chain: Elements must be 1 to %0d", MaxElements);
  end

  // The input of element n, and the output of the last one
  logic [Elements:0] valid;
  logic [Elements-1:0] ready;
  vector_t vectors[Elements+1];

  wire enter = !close;
  assign valid[0] = to_valid && enter;
  assign to_ready = ready[0] && enter;
  assign vectors[0] = '{
          headers: to_headers,
          hash: to_meta.hash,
          // programs count ports as people do; of 0, 1, PortEthHigh + 2 and + 3 these bits
          port: port_t'(to_meta.src[1:0]),
          len: to_meta.len,
          meta0: to_meta.mark,
          verdict: '{kind: DecisionOnward, port: '0},
          default: '0
      };

  for (genvar n = 0; n < Elements; n++) begin : gen_element
    logic open, takes, leaves;
    vector_t left;

    flow_stage #(
        .Number  (n),
        .Contexts(Contexts)
    ) i_element (
        .clk,
        .rst,
        .now,
        .valid(valid[n] && open),
        .ready(takes),
        .in(vectors[n]),
        .out_valid(leaves),
        .out(left),
        .cfg(cfg[n])
    );
    assign ready[n] = takes && open;

    if (n == Elements - 1) begin : gen_last
      assign open = 1'b1;
      assign valid[n+1] = leaves;
      assign vectors[n+1] = left;
    end else begin : gen_queue
      logic [CountW-1:0] inside_q;  // frames between the element's input and the queue's end
      logic open_q, pop;
      assign open = open_q;
      assign pop = valid[n+1] && ready[n+1];
      always_ff @(posedge clk) begin
        inside_q <= inside_q + CountW'(valid[n] && ready[n]) - CountW'(pop);
        // One may be taken before this is seen.
        open_q <= inside_q < CountW'(Depth - 1);
        if (rst) begin
          inside_q <= '0;
          open_q   <= 1'b0;
        end
      end
      fifo_dist #(
          .Width($bits(vector_t)),
          .Depth(Depth)
      ) i_queue (
          .clk,
          .rst,
          .push (leaves),
          .din  (left),
          .ready(),
          .valid(valid[n+1]),
          .pop,
          .dout (vectors[n+1]),
          .level()
      );
    end
  end

  logic [InsideW-1:0] inside_q;  // frames in the chain
  assign empty = inside_q == '0;
  always_ff @(posedge clk) begin
    inside_q <= inside_q + InsideW'(valid[0] && ready[0]) - InsideW'(valid[Elements]);
    if (rst) inside_q <= '0;
  end

  // ---- the verdict
  vector_t out;

  assign out = vectors[Elements];
  assign from_valid = valid[Elements];
  assign from_port = PortW'(out.port);
  assign from_mark = out.meta0;
  assign from_headers = out.headers;
  always_comb begin
    from_verdict = '0;
    unique case (out.verdict.kind)
      DecisionOnward: from_verdict.kind = VerdictOnward;
      DecisionPort: begin
        from_verdict.kind   = VerdictPort;
        from_verdict.target = out.verdict.port;
      end
      DecisionHost: from_verdict.kind = VerdictHost;
      DecisionDrop: from_verdict.kind = VerdictDrop;
    endcase
    if (out.len > len_t'(MaxFrame) && out.verdict.kind != DecisionDrop) begin
      from_verdict.kind   = VerdictDrop;
      from_verdict.reason = ReasonOversize;
    end
  end

  always_ff @(posedge clk)
    for (int unsigned p = 0; p < Ports; p++) begin
      events[p] <= '0;
      events[p].dropped <= from_valid && from_verdict.kind == VerdictDrop && 32'(from_port) == p && !rst;
      events[p].reason <= from_verdict.reason;
    end
endmodule

`default_nettype wire
