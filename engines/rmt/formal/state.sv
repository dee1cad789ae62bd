// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// The registers of a tenant have the same values, and its operations the same results, whatever other tenants do:
// rtl/rmt_register.sv as it is. By induction from a reset on, for any register of A's segment (lib/formal/ram_sdp.sv).
//
// The proof compares two runs. Operations of A come in the same cycles of both, operations of others in any cycles.
//
// Taken for granted: segments are those that admission gives, so no two share a register or pass the end of the memory;
// a lane's access has the segment of its tenant (action.sv); two operations do not come at once (entry.sv); the host's
// accesses to the register are the same in both runs.
module registers
  import rmt_pkg::*;
(
    input wire logic clk,

    input wire logic [RegisterW-1:0] watched,
    input wire logic [3:0]           number,
    input wire segment_t             segment,  // of tenant A
    input wire logic [Lanes-1:0]     mine,     // the lane has a frame of tenant A
    input wire access_t              access,   // its operation
    input wire logic  [1:0]                  slot,
    input wire host_t [1:0]                  host,
    input wire access_t [1:0][Lanes-1:0]     others
);
  logic [1:0] cycle_q = '0;
  logic started;  // the reset is over
  logic [RegisterW-1:0] watched_q;
  logic [3:0] number_q;
  segment_t segment_q;
  always_ff @(posedge clk) begin
    cycle_q <= cycle_q + 2'(cycle_q != '1);
    {watched_q, number_q, segment_q} <= {watched, number, segment};
  end
  assign started = cycle_q == '1;
  always_comb begin
    if (cycle_q != '0) assume ({watched_q, number_q, segment_q} == {watched, number, segment});
    assume (mine != '1);
    assume (17'(segment.base) + 17'(segment.size) <= 17'd1 << RegisterW);
  end

  function automatic logic is_inside(logic [RegisterW-1:0] row, segment_t of);
    return 16'(row) >= of.base && 17'(row) < 17'(of.base) + 17'(of.size);
  endfunction

  access_t [1:0][Lanes-1:0] in;
  logic [1:0] by_host;
  for (genvar r = 0; r < 2; r++) begin : run
    word_t result;
    always_comb begin
      in[r] = others[r];
      for (int unsigned l = 0; l < Lanes; l++)
        if (mine[l]) begin
          in[r] = '0;
          in[r][l] = access;
          in[r][l].segment = segment;
        end
    end
    assign by_host[r] = slot[r] && host[r].memory == MemRegister && host[r].stage == 8'(number);
    always_comb begin
      // The entry lets in one stateful frame a cycle, and none in the slot of a host's access.
      assume (!(in[r][0].valid && in[r][1].valid));
      assume (!(by_host[r] && (in[r][0].valid || in[r][1].valid)));
      // Others have other registers.
      for (int unsigned l = 0; l < Lanes; l++)
        if (mine == '0 && in[r][l].valid) begin
          assume (17'(in[r][l].segment.base) + 17'(in[r][l].segment.size) <= 17'd1 << RegisterW);
          assume (!is_inside(watched, in[r][l].segment));
        end
    end
    rmt_register i_register (
        .clk,
        .rst(!started),
        .slot(slot[r]),
        .stage(number),
        .host(host[r]),
        .host_word(),
        .access(in[r]),
        .result
    );
    always_comb assume (i_register.i_registers.open_watched == watched);
  end
  // The host accesses the watched register in the same cycles of both runs.
  logic [1:0] at_watched;
  for (genvar r = 0; r < 2; r++) begin : gen_host
    assign at_watched[r] = by_host[r] && host[r].row[RegisterW-1:0] == watched;
  end
  always_comb begin
    assume (at_watched[0] == at_watched[1]);
    if (at_watched[0]) assume (host[0].we == host[1].we && host[0].data[0] == host[1].data[0]);
  end

  // ---- what must hold
  logic [16:0] place;
  logic sees;  // an operation of A on the watched register, or on none
  logic [2:1] sees_q;
  assign place = 17'(access.offset) + 17'(access.index[15:0]);
  assign sees = mine != '0 && access.valid && (access.index >= word_t'(access.length) || place >= 17'(segment.size) ||
                segment.base[RegisterW-1:0] + place[RegisterW-1:0] == watched);
  always_ff @(posedge clk) sees_q <= {sees_q[1], sees && started};

`define SAME(signal) (run[0].i_register.signal == run[1].i_register.signal)
  logic [1:0] touches1, touches2;  // an operation on the watched register is a cycle, or two, behind its bounds
  for (genvar r = 0; r < 2; r++) begin : gen_touches
    assign touches1[r] = run[r].i_register.do1_q && run[r].i_register.addr1_q == watched;
    assign touches2[r] = run[r].i_register.write2_q && run[r].i_register.addr2_q == watched;
    always_comb
      if (!started && cycle_q != '0) assert (!run[r].i_register.do1_q && !run[r].i_register.write2_q);
    always_comb
      if (cycle_q >= 2'd2) begin
        // For the induction: the register's value is in its row, and the next operation finds it.
        assert (!touches2[r] || run[r].i_register.value2_q == run[r].i_register.i_registers.row_q);
        assert (touches2[r] || run[r].i_register.addr1_q != watched ||
                run[r].i_register.read == run[r].i_register.i_registers.row_q);
        if (sees_q[1]) begin
          assert (run[r].i_register.valid1_q == (run[r].i_register.op1_q != RegMeter));
          assert (!run[r].i_register.do1_q || run[r].i_register.addr1_q == watched);
        end
      end
  end
  always_comb begin
    if (!started) assume (`SAME(i_registers.row_q) && sees_q == '0);
    assert (`SAME(i_registers.row_q));
    if (sees_q[2]) assert (run[0].result == run[1].result);
    if (cycle_q >= 2'd2) begin
      assert (touches1[0] == touches1[1] && touches2[0] == touches2[1]);
      assert (!touches1[0] || (`SAME(op1_q) && `SAME(x1_q)));
      if (sees_q[1])
        assert (`SAME(op1_q) && `SAME(x1_q) && `SAME(is_new1_q) && `SAME(valid1_q) && `SAME(do1_q));
    end
  end
endmodule

`default_nettype wire
