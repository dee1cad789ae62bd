// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// A frame leaves a stage in the same cycle and with the same vector, whatever other tenants do: rtl/rmt_stage.sv and
// rmt_key.sv as they are. The searches and the action are left open (open_stage.sv); lookups.sv, ternary.sv and
// action.sv prove what is taken for granted of them.
//
// The proof compares two runs. In both, one frame of tenant A comes through lane `Lane`: it is here in cycle 0, with
// the same contents. Everything else is open: the state in which the runs begin, the frames ahead of it, behind it and
// in the other lane, the host's accesses and the rows of all memories. `at_q` counts the cycles.
//
// Taken for granted: the row of KEY of the frame's own bank and tenant, and no other row, is the same in both runs; the
// host's slot is not the frame's, and two stateful frames do not come at once (entry.sv).
module stage
  import rmt_pkg::*;
#(
    parameter int unsigned Lane = 0
) (
    input wire logic clk,

    input wire logic [63:0]          now,
    input wire logic [3:0]           number,
    input wire logic  [1:0]           slot,
    input wire host_t [1:0]           host,
    input wire ctl_t    [1:0][Lanes-1:0] ctl,
    input wire vector_t [1:0][Lanes-1:0] early,
    input wire vector_t [1:0][Lanes-1:0] vector,
    input wire insert_t [1:0][Lanes-1:0] insert,
    input wire insert_t [1:0][Lanes-1:0] late
);
  localparam int unsigned Other = 1 - Lane;

  function automatic logic is_stateful(ctl_t of);
    return of.valid && of.loaded && of.stateful;
  endfunction

  // ---- the frame
  logic [3:0] at_q = '0;
  always_ff @(posedge clk) at_q <= at_q == '1 ? at_q : at_q + 1'b1;

  ctl_t ctl_q, mine;
  always_ff @(posedge clk) ctl_q <= mine;
  assign mine = at_q == '0 ? ctl[0][Lane] : ctl_q;
  wire bt_t bt = mine.bt;

  logic [3:0] number_q;
  always_ff @(posedge clk) number_q <= number;
  always_comb assume (at_q == '0 || number == number_q);
  always_comb
    if (at_q == '0) begin
      assume (mine.valid && slot == '0);
      for (int unsigned r = 0; r < 2; r++)
        assume (!is_stateful(mine) || !is_stateful(ctl[r][Other]));
    end

  for (genvar r = 0; r < 2; r++) begin : run
    logic slot_out, busy;
    word_t host_word;
    ctl_t [Lanes-1:0] in_ctl, out_ctl;
    vector_t [Lanes-1:0] in_early, in_vector, out_early, out;
    insert_t [Lanes-1:0] in_insert, in_late, out_insert, out_late;
    always_comb begin
      in_ctl = ctl[r];
      in_early = early[r];
      in_vector = vector[r];
      in_insert = insert[r];
      in_late = late[r];
      if (at_q == 4'd0) in_ctl[Lane] = ctl[0][Lane];
      if (at_q == 4'd1) in_early[Lane] = early[0][Lane];
      if (at_q == 4'd2) in_vector[Lane] = vector[0][Lane];
      if (at_q == 4'd2) in_insert[Lane] = insert[0][Lane];
      if (at_q == 4'd5) in_late[Lane] = late[0][Lane];
    end
    rmt_stage i_stage (
        .clk,
        .rst(1'b0),
        .now,
        .slot(slot[r]),
        .slot_out,
        .stage(number),
        .host(host[r]),
        .host_word,
        .busy,
        .ctl(in_ctl),
        .early(in_early),
        .vector(in_vector),
        .insert(in_insert),
        .late(in_late),
        .out_ctl,
        .out_early,
        .out,
        .out_insert,
        .out_late
    );
  end

`define SAME(signal) (run[0].signal == run[1].signal)
`define FREE(memory) (!run[0].memory.slot && !run[1].memory.slot)

  // ---- KEY
  always_comb begin
    if (at_q == 4'd0) begin
      assert (`FREE(i_stage.i_key.i_rows));
      assert (run[0].i_stage.i_key.i_rows.addr[Lane] == bt && run[1].i_stage.i_key.i_rows.addr[Lane] == bt);
    end
    if (at_q == 4'd1) assume (`SAME(i_stage.i_key.i_rows.data[Lane]));
  end

  // ---- the searches
  always_comb begin
    if (at_q == 4'd2) begin
      assert (!run[0].i_stage.gen_lpm.i_lpm.slot && !run[1].i_stage.gen_lpm.i_lpm.slot);
      assert (`SAME(i_stage.gen_lpm.i_lpm.walk[Lane]));
    end
    if (at_q == 4'd3) begin
      assert (!run[0].i_stage.i_exact.slot && !run[1].i_stage.i_exact.slot);
      assert (run[0].i_stage.i_exact.tenant[Lane] == bt[5:0] && run[1].i_stage.i_exact.tenant[Lane] == bt[5:0]);
      assert (`SAME(i_stage.i_exact.key[Lane]));
      assert (`SAME(i_stage.i_exact.bucket[Lane]));
    end
    if (at_q == 4'd5) begin
      assert (run[0].i_stage.gen_lpm.i_lpm.tenant[Lane] == bt[5:0] && run[1].i_stage.gen_lpm.i_lpm.tenant[Lane] == bt[5:0]);
      assume (`SAME(i_stage.i_exact.found[Lane].hit));
      if (run[0].i_stage.i_exact.found[Lane].hit) assume (`SAME(i_stage.i_exact.found[Lane]));
      assume (`SAME(i_stage.gen_lpm.i_lpm.found[Lane].hit));
      if (run[0].i_stage.gen_lpm.i_lpm.found[Lane].hit) assume (`SAME(i_stage.gen_lpm.i_lpm.found[Lane]));
    end
  end
  // ---- ternary
  always_comb begin
    if (at_q == 4'd3) begin
      assert (!run[0].i_stage.gen_ternary.i_ternary.slot && !run[1].i_stage.gen_ternary.i_ternary.slot);
      assert (run[0].i_stage.gen_ternary.i_ternary.bt[Lane] == bt && run[1].i_stage.gen_ternary.i_ternary.bt[Lane] == bt);
      assert (run[0].i_stage.gen_ternary.i_ternary.valid[Lane] && run[1].i_stage.gen_ternary.i_ternary.valid[Lane]);
      assert (`SAME(i_stage.gen_ternary.i_ternary.key[Lane]));
    end
    if (at_q == 4'd5) begin
      assume (`SAME(i_stage.gen_ternary.i_ternary.found[Lane].hit));
      if (run[0].i_stage.gen_ternary.i_ternary.found[Lane].hit) assume (`SAME(i_stage.gen_ternary.i_ternary.found[Lane]));
    end
  end

  // ---- the action
  always_comb begin
    if (at_q == 4'd5) begin
      assert (!run[0].i_stage.i_action.slot && !run[1].i_stage.i_action.slot);
      assert (run[0].i_stage.i_action.ctl[Lane] == mine && run[1].i_stage.i_action.ctl[Lane] == mine);
      assert (`SAME(i_stage.i_action.vector[Lane]));
      assert (`SAME(i_stage.i_action.found[Lane]));
      assert (`SAME(i_stage.i_action.crcs[Lane]));
      assert (!is_stateful(mine) ||
              !is_stateful(run[0].i_stage.i_action.ctl[Other]) && !is_stateful(run[1].i_stage.i_action.ctl[Other]));
    end
    if (at_q == 4'd9) assume (`SAME(i_stage.i_action.early[Lane]));
    if (at_q == 4'd10) begin
      assume (`SAME(i_stage.i_action.out[Lane]));
      assume (`SAME(i_stage.i_action.insert[Lane].valid));
      assume (!run[0].i_stage.i_action.insert[Lane].valid || `SAME(i_stage.i_action.insert[Lane]));
    end
    if (at_q == 4'd13) begin
      assume (`SAME(i_stage.i_action.late[Lane].valid));
      assume (!run[0].i_stage.i_action.late[Lane].valid || `SAME(i_stage.i_action.late[Lane]));
    end
  end

  // ---- behind the stage
  for (genvar r = 0; r < 2; r++) begin : gen_out
    always_comb
      if (at_q == 4'd8) begin
        assert (run[r].out_ctl[Lane] == mine);
        assert (!run[r].slot_out);
      end
  end
  always_comb begin
    if (at_q == 4'd9) assert (`SAME(out_early[Lane]));
    if (at_q == 4'd10) begin
      assert (`SAME(out[Lane]));
      assert (`SAME(out_insert[Lane].valid));
      assert (!run[0].out_insert[Lane].valid || `SAME(out_insert[Lane]));
    end
    if (at_q == 4'd13) begin
      assert (`SAME(out_late[Lane].valid));
      assert (!run[0].out_late[Lane].valid || `SAME(out_late[Lane]));
    end
  end
endmodule

`default_nettype wire
