// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// The entry of the lanes: finds each frame's program, and turns the wheel.
//
//   windows ─> LOOK UP ─> ENTER ─> depth 0, whose memory already has the address
//              TENANT     slots 0 to 6: frames of both lanes, at most one of them stateful
//                         slot 7: the host's while it has an access, else of a stateful frame
//
// A frame without state leaves slot 7 alone also when the host has no access, so that its latency is the same whether
// the host writes or not. Stateful frames of both lanes share the slots and need all eight for a frame a cycle; one of
// them, and a frame behind it in its lane, can take a cycle longer while the host writes.
//
// A frame waits at most one slot for the other lane and one for the host. A frame that was looked up before a host
// access to TENANT therefore enters before the next access.
module rmt_entry
  import rmt_pkg::*, rmt_parse_pkg::*;
(
    input wire logic clk,
    input wire logic rst,

    input wire logic    [Lanes-1:0] valid,
    output     logic    [Lanes-1:0] pop,
    input wire window_t [Lanes-1:0] window,
    input wire info_t   [Lanes-1:0] info,

    input wire logic  under_way,  // the host has an access
    input wire logic  request,    // which waits for its slot; falls when `started`
    output     logic  started,
    input wire host_t host,
    output     word_t host_word,

    output bt_t     [Lanes-1:0] bt,          // a cycle ahead of `out`, as `started` is
    output logic    [Lanes-1:0] controller,  // beside `bt`: the frame is a controller's
    output parse_t  [Lanes-1:0] out,
    output window_t [Lanes-1:0] out_window
);
  localparam logic [2:0] HostSlot = 3'd7;

  tenant_row_t [63:0] tenants_q;
  logic [2:0] wheel_q;
  logic turn_q;  // the lane that goes first if both are stateful
  logic selected;

  // ---- LOOK UP
  logic [Lanes-1:0] next_valid_q, stateful, enters;
  window_t [Lanes-1:0] window_q;
  info_t [Lanes-1:0] info_q;
  tenant_row_t [Lanes-1:0] row_q;

  for (genvar l = 0; l < Lanes; l++) begin : gen_lane
    assign pop[l] = valid[l] && (!next_valid_q[l] || enters[l]);
    assign bt[l] = {row_q[l].bank, info_q[l].tenant};
    assign controller[l] = info_q[l].controller;
    assign stateful[l] = next_valid_q[l] && row_q[l].loaded && row_q[l].stateful;

    always_ff @(posedge clk) begin
      if (pop[l]) begin
        window_q[l] <= window[l];
        info_q[l]   <= info[l];
        row_q[l]    <= tenants_q[info[l].tenant];
      end
      next_valid_q[l] <= pop[l] || (next_valid_q[l] && !enters[l]);
      if (rst) next_valid_q[l] <= 1'b0;
    end
  end

  // ---- ENTER
  always_comb begin
    enters = next_valid_q;
    if (wheel_q == HostSlot) enters = under_way ? '0 : stateful;
    if (stateful == '1) enters[!turn_q] = 1'b0;
  end

  assign started = request && wheel_q == HostSlot;
  assign selected = host.memory == MemTenant;
  assign host_word = selected && host.word == '0 ? word_t'(tenants_q[host.row[5:0]]) : '0;

  always_ff @(posedge clk) begin
    wheel_q <= wheel_q + 3'd1;
    if (stateful == '1 && enters != '0) turn_q <= !turn_q;
    if (started && selected && host.we)
      tenants_q[host.row[5:0]] <= tenant_row_t'(host.data[0][$bits(tenant_row_t)-1:0]);
    for (int unsigned l = 0; l < Lanes; l++) begin
      out[l] <= '0;
      out[l].ctl <= '{
          valid: enters[l],
          loaded: row_q[l].loaded,
          stateful: row_q[l].stateful,
          bt: bt[l]
      };
      out[l].info <= info_q[l];
      out_window[l] <= window_q[l];
    end
    if (rst) begin
      wheel_q <= '0;
      turn_q <= 1'b0;
      tenants_q <= '0;
      for (int unsigned l = 0; l < Lanes; l++) out[l].ctl.valid <= 1'b0;
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk)
    if (!rst) begin
      assert (!(started && enters != '0)) else $error("%m: a frame in the host's slot");
      assert (!(out[0].ctl.valid && out[1].ctl.valid && out[0].ctl.loaded && out[1].ctl.loaded &&
                out[0].ctl.stateful && out[1].ctl.stateful)) else $error("%m: two stateful frames at once");
    end
`endif
endmodule

`default_nettype wire
