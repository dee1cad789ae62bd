// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// An action changes the vector of a frame, and asks for operations on registers, meters and counters, in the same way
// whatever other tenants do: rtl/rmt_action.sv and rmt_units.sv as they are. Registers, meters and counters are left
// open (open_action.sv); state.sv proves what is taken for granted of registers.
//
// The proof compares two runs. In both, one frame of tenant A comes through lane `Lane`: it is here in cycle 0, with
// the same contents. Everything else is open: the state in which the runs begin, the frames ahead of it, behind it and
// in the other lane, the host's accesses and the rows of all memories. `at_q` counts the cycles.
//
// Taken for granted: the rows of ACTION and SEGMENT of the frame's own bank and tenant, and no other rows, are the same
// in both runs; the host's slot is not the frame's, and two stateful frames do not come at once (entry.sv).
module action
  import rmt_pkg::*;
#(
    parameter int unsigned Lane = 0
) (
    input wire logic clk,

    input wire logic [63:0] now,
    input wire logic [3:0]  number,
    input wire logic  [1:0] slot,
    input wire host_t [1:0] host,
    input wire ctl_t    [1:0][Lanes-1:0] ctl,
    input wire vector_t [1:0][Lanes-1:0] vector,
    input wire found_t  [1:0][Lanes-1:0] found,
    input wire hash_t   [1:0][Lanes-1:0] crcs
);
  localparam int unsigned Other = 1 - Lane;

  function automatic logic is_stateful(ctl_t of);
    return of.valid && of.loaded && of.stateful;
  endfunction

  logic [3:0] at_q = '0;
  always_ff @(posedge clk) at_q <= at_q + 4'(at_q != '1);
  bt_t bt, bt_q;
  assign bt = at_q == '0 ? ctl[0][Lane].bt : bt_q;
  logic [3:0] number_q;
  always_ff @(posedge clk) begin
    bt_q <= bt;
    number_q <= number;
  end
  always_comb assume (at_q == '0 || number == number_q);
  always_comb
    if (at_q == '0) begin
      assume (ctl[0][Lane].valid && slot == '0);
      for (int unsigned r = 0; r < 2; r++) assume (!is_stateful(ctl[0][Lane]) || !is_stateful(ctl[r][Other]));
    end

  for (genvar r = 0; r < 2; r++) begin : run
    ctl_t [Lanes-1:0] in_ctl;
    vector_t [Lanes-1:0] in_vector, early, out;
    found_t [Lanes-1:0] in_found;
    hash_t [Lanes-1:0] in_crcs;
    insert_t [Lanes-1:0] insert, late;
    always_comb begin
      {in_ctl, in_vector, in_found, in_crcs} = {ctl[r], vector[r], found[r], crcs[r]};
      if (at_q == '0) begin
        in_ctl[Lane] = ctl[0][Lane];
        in_vector[Lane] = vector[0][Lane];
        in_found[Lane] = found[0][Lane];
        in_crcs[Lane] = crcs[0][Lane];
      end
    end
    rmt_action i_action (
        .clk,
        .rst(1'b0),
        .now,
        .slot(slot[r]),
        .stage(number),
        .host(host[r]),
        .host_word(),
        .ctl(in_ctl),
        .vector(in_vector),
        .found(in_found),
        .crcs(in_crcs),
        .early,
        .out,
        .insert,
        .late
    );
  end

`define SAME(signal) (run[0].signal == run[1].signal)
`define FREE(memory) (!run[0].memory.slot && !run[1].memory.slot)

  // ---- rows of ACTION and SEGMENT
  always_comb begin
    if (at_q == 4'd0) begin
      assert (`FREE(i_action.i_rows));
      assert (run[0].i_action.i_rows.addr[Lane][9:3] == bt && run[1].i_action.i_rows.addr[Lane][9:3] == bt);
      assert (`SAME(i_action.i_rows.addr[Lane]));
    end
    if (at_q == 4'd1) begin
      assume (`SAME(i_action.i_rows.data[Lane]));
      assert (`FREE(i_action.i_segments));
      assert (run[0].i_action.i_segments.addr[Lane] == bt && run[1].i_action.i_segments.addr[Lane] == bt);
    end
    if (at_q == 4'd2) assume (`SAME(i_action.i_segments.data[Lane]));
  end

  // ---- registers, meters, counters
  logic operates_q, operates;
  assign operates = at_q == 4'd3 ? run[0].i_action.access[Lane].valid : operates_q;
  always_ff @(posedge clk) operates_q <= operates;
  always_comb begin
    if (at_q == 4'd3) begin
      assert (`SAME(i_action.access[Lane]));
      assert (!operates || (!run[0].i_action.access[Other].valid && !run[1].i_action.access[Other].valid));
      assert (`SAME(i_action.count[Lane]));
      assert (`FREE(i_action.i_register) && `FREE(i_action.gen_meter.i_meter) && `FREE(i_action.i_counter));
    end
    if (at_q == 4'd5 && operates) assume (`SAME(i_action.result));
    if (at_q == 4'd8 && operates) assume (`SAME(i_action.color));
  end

  // ---- behind the action
  always_comb begin
    if (at_q == 4'd4) assert (`SAME(early[Lane]));
    if (at_q == 4'd5) begin
      assert (`SAME(out[Lane]));
      assert (`SAME(insert[Lane].valid));
      assert (!run[0].insert[Lane].valid || `SAME(insert[Lane]));
    end
    if (at_q == 4'd8) begin
      assert (`SAME(late[Lane].valid));
      assert (!run[0].late[Lane].valid || `SAME(late[Lane]));
    end
  end
endmodule

`default_nettype wire
