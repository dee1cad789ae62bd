// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// A frame enters within three cycles whatever the other lane and the host do, a frame without state in a cycle that
// depends on neither, with the row of TENANT of its own tenant, which nobody but the host writes: rtl/rmt_entry.sv as
// it is. By induction from a reset on.
//
// The proof compares two runs, as frames.sby does; A is any tenant. A frame of A is looked up in the same cycle in both
// runs. All other frames, waits and accesses differ.
//
// Taken for granted: the host's writes to the row of A are the same in both runs, in the same cycles.
module entry
  import rmt_pkg::*, rmt_parse_pkg::*;
#(
    parameter int unsigned Lane = 0
) (
    input wire logic clk,

    input wire logic [5:0]               tenant,  // A
    input wire logic                     shares,  // the lane's frame of A is in both runs
    input wire logic    [1:0][Lanes-1:0] valid,
    input wire window_t [1:0][Lanes-1:0] window,
    input wire info_t   [1:0][Lanes-1:0] info,
    input wire logic  [1:0] under_way,
    input wire logic  [1:0] request,
    input wire host_t [1:0] host
);
  logic started_q = 1'b0;
  logic [5:0] tenant_q;
  always_ff @(posedge clk) begin
    started_q <= 1'b1;
    tenant_q <= tenant;
  end
  always_comb if (started_q) assume (tenant == tenant_q);

  logic [1:0] writes;  // the host writes the row of A
  for (genvar r = 0; r < 2; r++) begin : run
    logic [Lanes-1:0] pop, controller;
    logic started, request_q, started2_q;
    host_t host_q;
    bt_t [Lanes-1:0] bt;
    parse_t [Lanes-1:0] out;
    window_t [Lanes-1:0] out_window;
    window_t [Lanes-1:0] in_window;
    info_t [Lanes-1:0] in_info;

    always_comb begin
      in_window = window[r];
      in_info = info[r];
      if (shares && info[0][Lane].tenant == tenant) begin
        in_window[Lane] = window[0][Lane];
        in_info[Lane] = info[0][Lane];
      end
    end
    rmt_entry i_entry (
        .clk,
        .rst(!started_q),
        .valid(valid[r]),
        .pop,
        .window(in_window),
        .info(in_info),
        .under_way(under_way[r]),
        .request(request[r]),
        .started,
        .host(host[r]),
        .host_word(),
        .bt,
        .controller,
        .out,
        .out_window
    );
    assign writes[r] = started && host[r].memory == MemTenant && host[r].we && host[r].row[5:0] == tenant;
    always_comb assume (!request[r] || under_way[r]);

    // ---- at the lane's register: waits are bounded
    wire waits = i_entry.next_valid_q[Lane];
    wire enters = i_entry.enters[Lane];
    wire mine = waits && i_entry.info_q[Lane].tenant == tenant;
    logic [1:0] waited_q;  // cycles in which the frame has not entered
    logic mine_q;
    always_ff @(posedge clk) begin
      waited_q <= waits && !enters ? waited_q + 2'(waited_q != '1) : '0;
      mine_q <= mine && enters;
      if (!started_q) {waited_q, mine_q} <= '0;
    end
    wire host_slot = i_entry.wheel_q == 3'd7;
    always_comb
      if (started_q) begin
        assert (i_entry.pop[Lane] == (valid[r][Lane] && (!waits || enters)));
        // Stateless: in the first slot that is not the host's
        if (waits && !i_entry.stateful[Lane]) assert (enters == !host_slot);
        // Stateful: after at most two other cycles
        assert (waited_q < 2'd2 || !waits || enters);
        // For the induction: how far the turn is
        if (waits) begin
          if (waited_q == 2'd2) assert (enters);
          if (waited_q == 2'd1) assert (enters || (i_entry.stateful[Lane]));
          if (waited_q == 2'd1 && i_entry.stateful[Lane])
            assert (i_entry.wheel_q == 3'd0 || i_entry.turn_q == Lane || !i_entry.stateful[1-Lane]);
          if (waited_q == 2'd2) assert (i_entry.wheel_q == 3'd0 || i_entry.turn_q == Lane || !i_entry.stateful[1-Lane]);
        end
        assert (!(out[0].ctl.valid && out[0].ctl.loaded && out[0].ctl.stateful &&
                  out[1].ctl.valid && out[1].ctl.loaded && out[1].ctl.stateful));
        assert (!started || i_entry.enters == '0);
        // No frame meets the slot of an access that is under way
        assert (!(host_slot && under_way[r]) || i_entry.enters == '0);
        if (mine && enters) assert (bt[Lane][5:0] == tenant);
      end
  end

`define SAME(signal) (run[0].signal == run[1].signal)
  always_comb begin
    // The driver writes the row of A in the same cycles of both runs.
    assume (writes[0] == writes[1]);
    if (writes[0]) assume (host[0].data == host[1].data);
    if (started_q) assert (`SAME(i_entry.wheel_q));
    if (started_q) assert (run[0].i_entry.tenants_q[tenant] == run[1].i_entry.tenants_q[tenant]);
    if (!started_q) assume (run[0].i_entry.tenants_q[tenant] == run[1].i_entry.tenants_q[tenant]);
  end

  // ---- a frame of A that is looked up in the same cycle in both runs
  logic both_q, same_q, entered_q;
  wire looked_up = shares && run[0].pop[Lane] && run[1].pop[Lane] && info[0][Lane].tenant == tenant;
  always_ff @(posedge clk) begin
    both_q <= looked_up || (both_q && !run[0].enters && !run[1].enters);
    entered_q <= both_q && run[0].enters && run[1].enters;
    if (!started_q) {both_q, entered_q} <= '0;
  end
  always_comb
    if (started_q) begin
      if (both_q) begin
        assert (run[0].waits && run[1].waits);
        assert (run[0].mine && `SAME(i_entry.window_q[Lane]));
        assert (`SAME(i_entry.info_q[Lane]) && `SAME(i_entry.row_q[Lane]));
        if (!run[0].i_entry.stateful[Lane]) assert (run[0].enters == run[1].enters);
      end
      if (entered_q) begin
        assert (`SAME(out[Lane]) && `SAME(out_window[Lane]));
        assert (run[0].out[Lane].ctl.valid && run[0].out[Lane].ctl.bt[5:0] == tenant);
        assert (!run[0].out[Lane].done && run[0].out[Lane].flags == '0 && run[0].out[Lane].error == '0);
      end
    end

  // ---- nobody but the host writes the row of A
  logic checks_q = 1'b0;
  always_ff @(posedge clk) checks_q <= started_q;
  logic wrote_q;
  tenant_row_t row_q, data_q;
  always_ff @(posedge clk) begin
    wrote_q <= writes[0];
    row_q <= run[0].i_entry.tenants_q[tenant];
    data_q <= tenant_row_t'(host[0].data[0][$bits(tenant_row_t)-1:0]);
  end
  always_comb
    if (checks_q) assert (run[0].i_entry.tenants_q[tenant] == (wrote_q ? data_q : row_q));
endmodule

`default_nettype wire
