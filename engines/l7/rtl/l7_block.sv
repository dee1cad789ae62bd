// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// An inline block of the l7 engine (engines/inline_block.sv has the contract, engines/l7/machine.md the machine).
//
//   frames of ─> l7_filter ─┬─ straight ────────────────────────────────────────────> l7_out ─> out
//   each port    3          └─ packets ─> l7_lane ─┬─ message memory ─> l7_delivery ─>
//                                         0 … 4    └─ l7_match: decisions ─>
//
// Straight frames take 6 cycles, one beat a cycle for each port. Packets of all ports share the lane, 64 bytes a
// cycle, and delivery, a cycle for each beat of headers and payload: 125 million messages a second of one packet and
// one beat.
//
// Frames of a port wait for earlier frames of that port; packets wait for their turn in the lane, which never stalls.
// Delivery reads a message only if the queue of its port has room for it. A blocked port therefore blocks no other
// port, and packets without room are dropped.
//
// Memories: messages 32 UltraRAM; rows 4 × 38, places of packets 13, table of messages 12, headers 11, output queues 12
// a port, rest 9: 221 BRAM36 with two ports.
module l7_block
  import penstock_pkg::*, l7_pkg::*;
#(
    parameter int unsigned Ports  = 2,
    parameter int unsigned Number = 0,    // of the block, from the ports on
    parameter logic [63:0] Param  = '0    // nothing is to be chosen yet: 0
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
    output logic         busy,

    cfg_if.snk cfg  // 24 address bits
);
  if (Param != '0) begin : gen_param
    $error("l7_block: Param must be 0");
  end
  if (Ports > MaxPorts) begin : gen_ports
    $error("l7_block: Ports must be up to %0d", MaxPorts);
  end

  time_t cycle_q;
  always_ff @(posedge clk) cycle_q <= rst ? '0 : cycle_q + 1'b1;

  // ---- settings
  filter_row_t [FilterRows-1:0] rows;
  logic [31:0] timeout;
  logic [15:0] decision_cycles;
  logic [11:0] pages_max[Apps];
  logic [11:0] pages_used[Apps];
  logic [9:0] messages_max[Apps];
  logic [9:0] messages_used[Apps];
  logic [9:0] live[Apps][2];
  logic [Matchers-1:0] serves[Apps];
  protocol_e protocol[Apps];
  logic [Apps-1:0] plain;
  logic [Apps-1:0] bank;
  counted_t lane_counted[Apps];
  counted_t delivery_counted[Apps];
  counted_t counted[Apps];
  logic row_we, start_we, decision_we, hits_we, hits_ready, classes_we;
  logic [9:0] row_waddr;
  row_t row_wdata;
  logic [5:0] start_waddr;
  branch_t start_wdata;
  logic [7:0] decision_waddr, hits_addr;
  logic [31:0] decision_wdata, hits_wdata, hits_rdata, classes_wdata;
  logic [6:0] classes_waddr;

  for (genvar a = 0; a < Apps; a++) begin : gen_app
    assign counted[a] = lane_counted[a] | delivery_counted[a];
    assign plain[a] = protocol[a] != ProtocolQnp;
  end

  l7_regs i_regs (.*);

  // ---- ports
  logic [Ports-1:0] packet_valid, packet_take, made, absorbed, dropped, filter_busy, out_busy, popped, push;
  packet_t packet[Ports];
  logic push_last;
  logic [DataW-1:0] push_data;
  frame_meta_t push_meta;
  tail_t push_tail;
  verdict_t push_verdict;

  for (genvar p = 0; p < Ports; p++) begin : gen_port
    logic straight_valid, straight_pop, straight_last;
    logic [DataW-1:0] straight_data;
    frame_meta_t straight_meta;
    tail_t straight_tail;
    verdict_t straight_verdict;

    l7_filter i_filter (
        .clk,
        .rst,
        .rows,
        .plain,
        .frames(frames[p]),
        .tail(tails[p]),
        .verdict(verdicts[p]),
        .straight_valid,
        .straight_pop,
        .straight_last,
        .straight_data,
        .straight_meta,
        .straight_tail,
        .straight_verdict,
        .packet_valid(packet_valid[p]),
        .packet_take(packet_take[p]),
        .packet(packet[p]),
        .busy(filter_busy[p])
    );

    l7_out i_out (
        .clk,
        .rst,
        .cycle(cycle_q),
        .straight_valid,
        .straight_pop,
        .straight_last,
        .straight_data,
        .straight_meta,
        .straight_tail,
        .straight_verdict,
        .push(push[p]),
        .last(push_last),
        .data(push_data),
        .meta(push_meta),
        .tail(push_tail),
        .verdict(push_verdict),
        .popped(popped[p]),
        .out(out[p]),
        .out_tail(out_tails[p]),
        .out_verdict(out_verdicts[p]),
        .made(made[p]),
        .busy(out_busy[p])
    );

    assign events[p] = '{made: made[p], absorbed: absorbed[p], dropped: dropped[p], reason: ReasonBlocked};
  end

  // ---- lane
  logic enters_bank, lane_busy;
  app_t whole_app, give_app;
  logic [DataW-1:0] mem_data;
  logic [Apps-1:0] window_ready, window_push, enters;
  window_t window;
  logic mem_we, link_we, at_we, head_we, whole_we, whole_expired, page_give, slot_give;
  page_t mem_page, link_from, page_give_id;
  logic [$clog2(PageBeats)-1:0] mem_beat;
  msg_t at_slot, head_slot, whole_slot, slot_give_id;
  number_t at_number;
  packet_at_t at;
  head_t head;
  whole_t whole;
  logic decided_valid, decided_stuck;
  msg_t decided_slot;
  app_t decided_app;
  port_no_t decided_port;
  decided_t decided;

  l7_lane #(
      .Ports(Ports)
  ) i_lane (
      .clk,
      .rst,
      .now(now[41:10]),
      .timeout,
      .pages_max,
      .messages_max,
      .bank,
      .pages_used,
      .messages_used,
      .packet_valid,
      .packet,
      .packet_take,
      .window_ready,
      .window_push,
      .window,
      .enters,
      .enters_bank,
      .decided(decided_valid),
      .decided_slot,
      .mem_we,
      .mem_page,
      .mem_beat,
      .mem_data,
      .link_we,
      .link_from,
      .at_we,
      .at_slot,
      .at_number,
      .at,
      .head_we,
      .head_slot,
      .head,
      .whole_we,
      .whole_expired,
      .whole_slot,
      .whole_app,
      .whole,
      .page_give,
      .page_give_id,
      .slot_give,
      .slot_give_id,
      .give_app,
      .absorbed,
      .dropped,
      .counted(lane_counted),
      .busy(lane_busy)
  );

  // ---- decisions
  l7_match i_match (.*);

  // ---- delivery
  logic delivery_busy;

  l7_delivery #(
      .Ports(Ports),
      .Number(Number)
  ) i_delivery (
      .counted(delivery_counted),
      .busy(delivery_busy),
      .*
  );

  logic matching;
  always_comb begin
    matching = 1'b0;
    for (int unsigned a = 0; a < Apps; a++) matching |= live[a][0] != '0 || live[a][1] != '0;
  end
  // ---- cycles of a decision: from a beat that finds the block idle to the first decision behind it
  logic [Ports-1:0] taken;
  logic [15:0] age_q;
  logic counts_q;
  for (genvar p = 0; p < Ports; p++) begin : gen_taken
    assign taken[p] = frames[p].valid && frames[p].ready;
  end
  always_ff @(posedge clk) begin
    if (taken != '0 && !busy) age_q <= 16'd1;
    else if (age_q != '1) age_q <= age_q + 16'd1;
    counts_q <= (counts_q && !decided_valid && busy) || (taken != '0 && !busy);
    if (counts_q && decided_valid) decision_cycles <= age_q;
    if (rst) begin
      counts_q <= 1'b0;
      decision_cycles <= '0;
    end
  end

  assign busy = filter_busy != '0 || out_busy != '0 || lane_busy || matching || delivery_busy;
endmodule

`default_nettype wire
