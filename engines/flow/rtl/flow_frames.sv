// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// The way of frames around the elements of a flow block: bodies wait, headers of all ports go through the chain, one
// frame's a cycle.
//
//   port 0 ─ frames ─┬─> delay queue ──────────────────────────────────────────────> deparser ─> out
//                    └─> parser ─┬─> queue, as they came ─────────────────────────────┤
//                                └─> queue ─┬─> arbiter ─> chain ─> split ─┬─> queue ─┘
//   port 1 ─ frames ─ …                  ───┘   1                  1       └─ …
//
// The chain takes one frame's headers a cycle, the ports' in turn, and gives them back in the same order, never held.
// A frame leaves when it was the oldest of its port; ports do not wait for each other but in front of the chain.
//
// Only the delay queue controls the flow. All other queues are as deep, and a frame has a beat in the delay queue until
// the deparser takes it together with the rest. No queue can therefore overflow, however long the chain is. At full
// speed the delay queue may hold Depth frames of one beat.
module flow_frames
  import penstock_pkg::*, fields_pkg::*, headers_pkg::*;
#(
    parameter int unsigned Ports = 2,
    parameter int unsigned Depth = 512,             // beats of a port on their way, a power of two
    parameter int unsigned PortW = $clog2(Ports+1)
) (
    input wire logic clk,
    input wire logic rst,

    frame_if.snk         frames [Ports],
    input wire tail_t    tail   [Ports],
    input wire verdict_t verdict[Ports],

    // to the chain
    output logic                         to_valid,
    input  wire logic                    to_ready,
    output logic             [PortW-1:0] to_port,
    output frame_meta_t                  to_meta,
    output headers_t                     to_headers,
    // from the chain
    input  wire logic                    from_valid,
    input  wire logic        [PortW-1:0] from_port,
    input  wire verdict_t                from_verdict,  // without a word; VerdictOnward: as the frame came
    input  wire logic             [31:0] from_mark,
    input  wire headers_t                from_headers,

    frame_if.src     out        [Ports],
    output tail_t    out_tail   [Ports],
    output verdict_t out_verdict[Ports],

    output logic busy  // there are frames in it
);
  localparam int unsigned LevelW = $clog2(Depth) + 1;
  localparam int unsigned InsideW = $clog2(Depth + 64) + 1;  // with what the deparser has

  typedef struct packed {
    frame_meta_t      meta;
    logic             last;
    tail_t            tail;
    logic [DataW-1:0] data;
  } body_t;

  typedef struct packed {
    frame_meta_t meta;
    headers_t    headers;
  } request_t;

  typedef struct packed {
    verdict_t verdict;
    layout_t  layout;
    headers_t headers;
  } came_t;

  typedef struct packed {
    verdict_kind_e kind;
    port_t         target;
    logic [31:0]   mark;
    headers_t      headers;
  } answer_t;

  logic [Ports-1:0] request_valid, grant;
  request_t [Ports-1:0] request;
  logic load;
  logic [Ports-1:0] busy_of;
  assign busy = busy_of != '0;

  // ---- split
  logic [Ports-1:0] answer_valid_q;
  answer_t answer_q;

  always_ff @(posedge clk) begin
    for (int unsigned p = 0; p < Ports; p++) answer_valid_q[p] <= !rst && from_valid && 32'(from_port) == p;
    answer_q <= '{kind: from_verdict.kind, target: from_verdict.target, mark: from_mark, headers: from_headers};
  end

  for (genvar p = 0; p < Ports; p++) begin : gen_port
    // ---- in
    logic [LevelW-1:0] level_q;  // beats between `frames` and the deparser
    logic ready_q, starts_q, take;
    frame_if bodies ();
    body_t body;

    assign frames[p].ready = ready_q;
    assign take = frames[p].valid && ready_q;

    always_ff @(posedge clk) begin
      if (take) starts_q <= frames[p].last;
      level_q <= level_q + LevelW'(take) - LevelW'(bodies.valid && bodies.ready);
      // One may be taken before this is seen.
      ready_q <= level_q < LevelW'(Depth - 1);
      if (rst) begin
        starts_q <= 1'b1;
        level_q  <= '0;
        ready_q  <= 1'b0;
      end
    end

    fifo_block #(
        .Width($bits(body_t)),
        .Depth(Depth)
    ) i_delay (
        .clk,
        .rst,
        .push (take),
        .din  ({frames[p].meta, frames[p].last, tail[p], frames[p].data}),
        .valid(bodies.valid),
        .pop  (bodies.ready),
        .dout (body)
    );

    // ---- headers, and the metadata of their frame, which waits for them
    logic parsed;
    headers_t headers;
    layout_t layout;
    frame_meta_t meta;
    verdict_t came_verdict;

    header_parser i_parser (
        .clk,
        .rst,
        .valid(take),
        .data(frames[p].data),
        .last(frames[p].last),
        .len(frames[p].meta.len),
        .tail(tail[p]),
        .out_valid(parsed),
        .out(headers),
        .layout
    );

    fifo_dist #(
        .Width($bits(frame_meta_t) + $bits(verdict_t))
    ) i_meta (
        .clk,
        .rst,
        .push (take && starts_q),
        .din  ({frames[p].meta, verdict[p]}),
        .ready(),
        .valid(),
        .pop  (parsed),
        .dout ({meta, came_verdict}),
        .level()
    );

    fifo_block #(
        .Width($bits(request_t)),
        .Depth(Depth)
    ) i_requests (
        .clk,
        .rst,
        .push (parsed),
        .din  ({meta, headers}),
        .valid(request_valid[p]),
        .pop  (load && grant[p]),
        .dout (request[p])
    );

    // ---- out: when the frame's headers are back, which are later than those that came
    came_t came;
    answer_t answer;
    edit_t edit;
    logic answered, edit_ready, taken;

    assign taken = answered && edit_ready;
    always_comb begin
      edit =
          '{verdict: came.verdict, mark: answer.mark, layout: came.layout, came: came.headers, leaves: answer.headers};
      if (answer.kind != VerdictOnward) begin
        edit.verdict = '0;
        edit.verdict.kind = answer.kind;
        edit.verdict.target = answer.target;
      end
    end

    fifo_block #(
        .Width($bits(came_t)),
        .Depth(Depth)
    ) i_came (
        .clk,
        .rst,
        .push (parsed),
        .din  ({came_verdict, layout, headers}),
        .valid(),
        .pop  (taken),
        .dout (came)
    );

    fifo_block #(
        .Width($bits(answer_t)),
        .Depth(Depth)
    ) i_answers (
        .clk,
        .rst,
        .push (answer_valid_q[p]),
        .din  (answer_q),
        .valid(answered),
        .pop  (taken),
        .dout (answer)
    );

    assign bodies.data = body.data;
    assign bodies.last = body.last;
    assign bodies.meta = body.meta;

    deparser i_deparser (
        .clk,
        .rst,
        .frames(bodies),
        .tail(body.tail),
        .edit_valid(answered),
        .edit,
        .edit_ready,
        .out(out[p]),
        .out_tail(out_tail[p]),
        .out_verdict(out_verdict[p])
    );

    // ---- frames in it
    logic [InsideW-1:0] inside_q;
    assign busy_of[p] = inside_q != '0;
    always_ff @(posedge clk) begin
      inside_q <= inside_q + InsideW'(take && starts_q) - InsideW'(taken && answer.kind == VerdictDrop) -
          InsideW'(out[p].valid && out[p].ready && out[p].last);
      if (rst) inside_q <= '0;
    end
  end

  // ---- one after the other into the chain
  logic to_valid_q;
  logic [PortW-1:0] port, to_port_q;
  request_t chosen, to_q;

  assign load = request_valid != '0 && (!to_valid_q || to_ready);

  rr_arbiter #(
      .N(Ports)
  ) i_arbiter (
      .clk,
      .rst,
      .req(request_valid),
      .accept(load),
      .grant
  );

  always_comb begin
    port   = '0;
    chosen = '0;
    for (int unsigned p = 0; p < Ports; p++)
      if (grant[p]) begin
        port   |= PortW'(p);
        chosen |= request[p];
      end
  end

  always_ff @(posedge clk) begin
    to_valid_q <= load || (to_valid_q && !to_ready);
    if (load) begin
      to_port_q <= port;
      to_q <= chosen;
    end
    if (rst) to_valid_q <= 1'b0;
  end

  assign to_valid = to_valid_q;
  assign to_port = to_port_q;
  assign to_meta = to_q.meta;
  assign to_headers = to_q.headers;

`ifndef SYNTHESIS
  always_ff @(posedge clk) if (!rst) assert (!from_valid || 32'(from_port) < Ports)
    else $error("%m: headers of no port");
`endif
endmodule

`default_nettype wire
