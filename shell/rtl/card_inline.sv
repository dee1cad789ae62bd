// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// The inline chain of a card: what frames of Ethernet ports go through before the dispatcher.
//
//   frames of   ─> inline_frames ──────────────────────────────> inline_exit ─┬─> dispatcher
//   each port      bodies wait, headers go   headers │      ^    one a port   └─> links to the exits, one a port
//                  a frame a cycle                   v      │ headers, where to
//                                               inline_chain: the elements
//
// For all ports together one frame a cycle, 250 Mpps: with two ports of 100 Gb/s that is 84 % of line rate at 60 bytes without FCS, and all of it from 76
// bytes on. A port alone has line rate at all sizes on to the dispatcher; past the units frames of 65 to 80 bytes take two cycles each, 125 Mpps.
//
// Who waits for whom: the elements for nobody but each other; ports for their turn in front of the chain; frames of a port for those ahead of them, which wait
// for the dispatcher or an exit. So a port whose frames cannot leave fills its queues and then its ring in `ingress`, where what does not fit is counted as
// overflow, while other ports' frames pass through the same elements.
module card_inline
  import penstock_pkg::*, shell_pkg::*, fields_pkg::*;
#(
    parameter int unsigned Ports    = 2,
    parameter int unsigned Elements = 1,
    parameter int unsigned Contexts = 16384,
    parameter int unsigned Exits    = Ports + 1  // the ports, the host
) (
    input wire logic clk,
    input wire logic rst,

    frame_if.snk      frames[Ports],  // from ingress
    input wire tail_t tails [Ports],

    frame_if.src  onward      [Ports],  // to the dispatcher
    output tail_t onward_tails[Ports],

    output logic      [Exits-1:0] past_valid[Ports],  // to the exits (inline_exit.sv)
    output beat_t                 past_beat [Ports],
    input  wire logic [Exits-1:0] past_room [Ports],

    cfg_if.snk cfg,  // 24 address bits

    output logic [MaxPorts-1:0] oversize  // by port: a frame was dropped since it had become too long
);
  localparam int unsigned PortW = $clog2(Ports + 1);

  logic to_valid, to_ready, from_valid, from_drop;
  logic [PortW-1:0] from_port;
  frame_meta_t to_meta;
  headers_t to_headers, from_headers;
  port_t from_dst;
  frame_if changed[Ports] ();
  tail_t changed_tails[Ports];
  cfg_if #(.ADDR_W(20)) elements[Elements] ();
  inline_event_t events;
  logic close, empty;
  logic [31:0] now;

  inline_frames #(
      .Ports(Ports)
  ) i_frames (
      .clk,
      .rst,
      .frames(frames),
      .tail(tails),
      .to_valid,
      .to_ready,
      .to_port(),
      .to_meta,
      .to_headers,
      .from_valid,
      .from_port,
      .from_drop,
      .from_dst,
      .from_headers,
      .out(changed),
      .out_tail(changed_tails)
  );

  inline_chain #(
      .Ports(Ports),
      .Elements(Elements),
      .Contexts(Contexts)
  ) i_chain (
      .clk,
      .rst,
      .now,
      .close,
      .empty,
      .to_valid,
      .to_ready,
      .to_meta,
      .to_headers,
      .from_valid,
      .from_port,
      .from_drop,
      .from_dst,
      .from_headers,
      .cfg(elements),
      .events
  );
  assign oversize = events.oversize;

  inline_regs #(
      .Elements(Elements),
      .Contexts(Contexts)
  ) i_regs (
      .clk,
      .rst,
      .cfg(cfg),
      .elements(elements),
      .events,
      .now,
      .close,
      .empty
  );

  for (genvar p = 0; p < Ports; p++) begin : gen_exit
    inline_exit #(
        .Ports(Ports)
    ) i_exit (
        .clk,
        .rst,
        .frames(changed[p]),
        .tail(changed_tails[p]),
        .onward(onward[p]),
        .onward_tail(onward_tails[p]),
        .out_valid(past_valid[p]),
        .out_beat(past_beat[p]),
        .room(past_room[p])
    );

    frame_check #(
        .Tails(1'b1)
    ) i_check_changed (
        .clk,
        .rst,
        .link(changed[p])
    );
    beat_check i_check_past (
        .clk,
        .rst,
        .valid(past_valid[p] != '0),
        .beat (past_beat[p])
    );
  end
endmodule

`default_nettype wire
