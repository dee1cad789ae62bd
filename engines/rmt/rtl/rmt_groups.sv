// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// A memory of groups, each the ports that get copies of a frame, and the search of a frame's own group in both lanes.
//
//   number of the group, queue, bank ─> memory ─> MASK ─> wait ─> copies
//                    1                    1         1       2
//
// 5 cycles, a frame a cycle in each lane; nothing stops. A group with a number that no program can have is empty.
module rmt_groups
  import rmt_pkg::*;
#(
    parameter logic [7:0] Memory = MemGroup
) (
    input wire logic clk,

    input wire logic  slot,  // beside the memory's address, a cycle behind `ask`
    input wire host_t host,
    output     word_t host_word,

    input wire ask_t  [Lanes-1:0] ask,
    output group_t [Lanes-1:0] group
);
  logic [Lanes-1:0][MulticastW+3:0] addr;
  copies_t [Lanes-1:0] row;

  rmt_ram #(
      .Width($bits(copies_t)),
      .Depth(1 << (MulticastW + 4))
  ) i_ram (
      .clk,
      .slot,
      .selected(host.memory == Memory),
      .host,
      .host_word,
      .addr,
      .data(row)
  );

  for (genvar l = 0; l < Lanes; l++) begin : gen_lane
    ask_t ask1_q, ask2_q;
    logic known, some3, asked3_q;
    logic [2:0] queue3_q;
    copies_t copies_d, copies3_q;
    group_t group_d;

    assign addr[l] = {ask1_q.queue_no, ask1_q.bank, ask1_q.number[MulticastW-1:0]};
    assign known = ask2_q.number[15:MulticastW] == '0;

    always_comb begin
      copies_d = row[l];
      for (int unsigned n = 0; n < MaxCopies; n++)
        if (!known || (ask2_q.prunes && {copies_d[n].controller, copies_d[n].host} == '0 &&
            9'(copies_d[n].port) == ask2_q.port))
          copies_d[n].valid = 1'b0;
      some3 = 1'b0;
      for (int unsigned n = 0; n < MaxCopies; n++) some3 |= copies3_q[n].valid;
      group_d = '{asked: asked3_q, some: some3, queue_no: queue3_q, copies: copies3_q};
    end

    always_ff @(posedge clk) begin
      ask1_q    <= ask[l];
      ask2_q    <= ask1_q;
      asked3_q  <= ask2_q.valid && ask2_q.number != '0;
      queue3_q  <= ask2_q.queue_no;
      copies3_q <= copies_d;
    end
    rmt_delay #(
        .Width ($bits(group_t)),
        .Cycles(2)
    ) i_wait (
        .clk,
        .rst(1'b0),
        .d(group_d),
        .q(group[l])
    );
  end
endmodule

`default_nettype wire
