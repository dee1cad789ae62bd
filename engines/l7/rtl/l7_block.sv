// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// An inline block of the l7 engine (engines/inline_block.sv has the contract, engines/l7/machine.md the machine).
//
//   frames of ─> l7_filter ─┬─ straight ────────────────────────────────────────────> l7_out ─> out
//   each port    3          ├─ packets ─> l7_lane ─┬─ message memory ─> l7_delivery ─>
//                           │             0 … 4 ^  └─ l7_match: decisions ─>
//                           └─ of messages of   │
//                              several ─> l7_park, of each application, if there is card memory
//
// Straight frames take 6 cycles, one beat a cycle for each port. Packets of all ports share the lane, 64 bytes a
// cycle, and delivery, a cycle for each beat of headers and payload: 125 million messages a second of one packet and
// one beat.
//
// Frames of a port wait for earlier frames of that port; packets wait for their turn in the lane, which never stalls.
// Delivery reads a message only if the queue of its port has room for it. A blocked port therefore blocks no other
// port, and packets without room are dropped.
//
// Memories: messages 32, rows 2 × 19, hits 2: 72 UltraRAM. Places of packets 13, table of messages 12, headers 11, output
// queues 12 a port, decisions 6, rest 9: 75 BRAM36 with two ports.
module l7_block
  import penstock_pkg::*, l7_pkg::*;
#(
    parameter int unsigned Ports  = 2,
    parameter int unsigned Number = 0,    // of the block, from the ports on
    parameter logic [63:0] Param  = '0    // log2 of the sets of l7_park, 6 to 14; 0: no message is in card memory
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

    cfg_if.snk cfg,  // 24 address bits
    axi_if.mgr mem[MemoryChannels]
);
  if (Param != '0 && (Param < 6 || Param > 14)) begin : gen_param
    $error("l7_block: Param must be 0 or 6 to 14");
  end
  localparam int unsigned SetsLog2 = 32'(Param);
  localparam int unsigned Parks = SetsLog2 == 0 ? 0 : Apps;
  localparam int unsigned Sources = Ports + Parks;
  if (Ports > MaxPorts) begin : gen_ports
    $error("l7_block: Ports must be up to %0d", MaxPorts);
  end

  time_t cycle_q;
  always_ff @(posedge clk) cycle_q <= rst ? '0 : cycle_q + 1'b1;

  // ---- settings
  filter_row_t [FilterRows-1:0] rows;
  logic [31:0] timeout;
  logic [15:0] decision_cycles;
  parked_t pages_max[Apps];
  parked_t pages_used[Apps];
  parked_t messages_max[Apps];
  parked_t messages_used[Apps];
  logic [9:0] live[Apps][2];
  logic [Matchers-1:0] serves[Apps];
  protocol_e protocol[Apps];
  logic [4:0] id_bytes[Apps];
  logic [Apps-1:0] plain;
  logic [Apps-1:0] bank;
  counted_t lane_counted[Apps];
  counted_t delivery_counted[Apps];
  counted_t park_counted[Apps];
  counted_t counted[Apps];
  logic row_we, row_busy, start_we, decision_we, hits_we, hits_re, hits_ready, classes_we;
  row_no_t row_waddr;
  row_t row_wdata;
  logic [5:0] start_waddr;
  branch_t start_wdata;
  decision_no_t decision_waddr, hits_addr;
  decision_t decision_wdata;
  logic [31:0] hits_wdata, classes_wdata;
  logic [63:0] hits_rdata;
  logic [6:0] classes_waddr;

  for (genvar a = 0; a < Apps; a++) begin : gen_app
    assign counted[a] = lane_counted[a] | delivery_counted[a];
    assign plain[a] = protocol[a] != ProtocolQnp;
  end

  l7_regs #(
      .SetsLog2(SetsLog2)
  ) i_regs (
      .*
  );

  // ---- ports
  logic [Ports-1:0] found_valid, found_take, made, absorbed, dropped, filter_busy, out_busy, popped, push;
  logic [Ports-1:0] parks[Apps];  // the packet goes into card memory
  logic [Ports-1:0] park_take[Apps];
  logic [Ports-1:0] park_absorbed[Apps];
  logic [Ports-1:0] park_dropped[Apps];
  logic [Sources-1:0] packet_valid, packet_take;
  packet_t filtered[Ports];
  packet_t found[Ports];
  packet_t packet[Sources];
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
        .packet_valid(found_valid[p]),
        .packet_take(found_take[p]),
        .packet(filtered[p]),
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

    always_comb begin
      found[p] = filtered[p];
      found[p].info.port = port_no_t'(p);
      packet[p] = found[p];
      packet_valid[p] = found_valid[p];
      found_take[p] = packet_take[p];
      events[p] = '{made: made[p], absorbed: absorbed[p], dropped: dropped[p], reason: ReasonBlocked};
      for (int unsigned a = 0; a < Apps; a++) begin
        parks[a][p] = Parks != 0 && found_valid[p] && 32'(found[p].info.app) == a && found[p].info.count != 6'd1 &&
            !found[p].info.malformed;
        if (parks[a][p]) packet_valid[p] = 1'b0;
        found_take[p] |= park_take[a][p];
        events[p].absorbed |= park_absorbed[a][p];
        events[p].dropped |= park_dropped[a][p];
      end
    end
  end

  // ---- card memory
  logic [Apps-1:0] park_busy;
  logic [11:0] lane_pages_max[Apps];
  logic [11:0] lane_pages_used[Apps];
  logic [9:0] lane_messages_max[Apps];
  logic [9:0] lane_messages_used[Apps];

  if (Parks == 0) begin : gen_on_chip
    for (genvar c = 0; c < int'(MemoryChannels); c++) begin : gen_channel
      axi_idle i_idle (.link(mem[c]));
    end
    for (genvar a = 0; a < Apps; a++) begin : gen_app
      assign park_take[a] = '0;
      assign park_absorbed[a] = '0;
      assign park_dropped[a] = '0;
      assign park_counted[a] = '0;
      assign lane_pages_max[a] = pages_max[a] > parked_t'(Pages) ? 12'(Pages) : 12'(pages_max[a]);
      assign lane_messages_max[a] = messages_max[a] > parked_t'(Slots) ? 10'(Slots) : 10'(messages_max[a]);
      assign pages_used[a] = parked_t'(lane_pages_used[a]);
      assign messages_used[a] = parked_t'(lane_messages_used[a]);
    end
    assign park_busy = '0;
  end else begin : gen_in_card
    localparam int unsigned Channels = MemoryChannels / Apps;
    for (genvar a = 0; a < Apps; a++) begin : gen_app
      parked_t park_pages, park_messages;
      l7_park #(
          .Ports(Ports),
          .App(a),
          .SetsLog2(SetsLog2)
      ) i_park (
          .clk,
          .rst,
          .now(now[41:10]),
          .timeout,
          .pages_max(pages_max[a]),
          .messages_max(messages_max[a]),
          .pages_used(park_pages),
          .messages_used(park_messages),
          .packet_valid(parks[a]),
          .packet(found),
          .packet_take(park_take[a]),
          .whole_valid(packet_valid[Ports+a]),
          .whole(packet[Ports+a]),
          .whole_take(packet_take[Ports+a]),
          .mem(mem[a*Channels+:Channels]),
          .absorbed(park_absorbed[a]),
          .dropped(park_dropped[a]),
          .counted(park_counted[a]),
          .busy(park_busy[a])
      );
      // The shares are those of card memory; on the chip each application has half.
      assign lane_pages_max[a] = 12'(Pages / Apps);
      assign lane_messages_max[a] = 10'(Slots / Apps);
      assign pages_used[a] = park_pages + parked_t'(lane_pages_used[a]);
      assign messages_used[a] = park_messages + parked_t'(lane_messages_used[a]);
    end
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
      .Ports(Ports),
      .Parks(Parks)
  ) i_lane (
      .clk,
      .rst,
      .now(now[41:10]),
      .timeout(Parks == 0 ? timeout : '0),  // a message that is whole does not expire
      .pages_max(lane_pages_max),
      .messages_max(lane_messages_max),
      .bank,
      .pages_used(lane_pages_used),
      .messages_used(lane_messages_used),
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

  assign busy = filter_busy != '0 || out_busy != '0 || lane_busy || park_busy != '0 || matching || delivery_busy;
endmodule

`default_nettype wire
