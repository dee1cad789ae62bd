// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// ids_flow with flat ports, in front of models of card memory. A flow is a number, and so is a direction's state.
module ids_flow_bench
  import penstock_pkg::*, ids_pkg::*;
#(
    parameter int unsigned Ports       = 2,
    parameter int unsigned SetsLog2    = 4,
    parameter int unsigned BucketsLog2 = 4
) (
    input wire logic        clk,
    input wire logic        rst,
    input wire logic [15:0] now,
    input wire logic        clear,
    output logic            ready,

    input  wire logic [Ports-1:0]       lookup_valid,
    output logic      [Ports-1:0]       lookup_ready,
    input  wire logic [Ports-1:0][31:0] lookup_flow,
    input  wire logic [Ports-1:0][31:0] lookup_hash,
    input  wire logic [Ports-1:0]       lookup_direction,

    output logic      [Ports-1:0]       answer_valid,
    input  wire logic [Ports-1:0]       answer_pop,
    output logic      [Ports-1:0][20:0] answer_number,
    output logic      [Ports-1:0][ 4:0] answer_gen,
    output logic      [Ports-1:0][15:0] answer_place,
    output logic      [Ports-1:0]       answer_aged,
    output logic      [Ports-1:0]       answer_open,
    output logic      [Ports-1:0]       answer_followed,
    output logic      [Ports-1:0][31:0] answer_next,

    input  wire logic [Ports-1:0]       update_valid,
    output logic      [Ports-1:0]       update_ready,
    input  wire logic [Ports-1:0][15:0] update_place,
    input  wire logic [Ports-1:0]       update_direction,
    input  wire logic [Ports-1:0]       update_followed,
    input  wire logic [Ports-1:0][31:0] update_next,

    input  wire logic        mark_valid,
    output logic             mark_ready,
    input  wire logic [20:0] mark_number,
    input  wire logic [ 4:0] mark_gen,
    input  wire logic        mark_direction,
    input  wire logic        mark_follow,

    output logic taken,
    output logic evicted,
    output logic fetched
);
  request_t lookup[Ports];
  answer_t answer[Ports];
  update_t update[Ports];
  mark_t mark[Ports+1];
  logic [Ports:0] marks_valid, marks_ready;
  axi_if mem[MemoryChannels] ();

  function automatic direction_t state_of(logic followed, logic [31:0] next);
    direction_t state;
    state = '0;
    state.open = 1'b1;
    state.followed = followed;
    state.next = next;
    state.prior = {next[23:0], next};
    state.chain = ~next;
    return state;
  endfunction

  always_comb begin
    for (int unsigned p = 0; p < Ports; p++) begin
      lookup[p] = '0;
      lookup[p].hash = lookup_hash[p];
      lookup[p].direction = lookup_direction[p];
      lookup[p].key.addresses[1] = {lookup_flow[p], ~lookup_flow[p], 64'b0};
      lookup[p].key.ports[0] = lookup_flow[p][15:0];
      answer_number[p] = answer[p].line.number;
      answer_gen[p] = answer[p].line.gen;
      answer_place[p] = answer[p].place;
      answer_aged[p] = answer[p].aged;
      answer_open[p] = answer[p].state.open;
      answer_followed[p] = answer[p].state.followed;
      answer_next[p] = answer[p].state.next;
      update[p] = '{
          place: update_place[p],
          direction: update_direction[p],
          state: state_of(update_followed[p], update_next[p])
      };
    end
    for (int unsigned m = 0; m <= Ports; m++)
      mark[m] = '{line: '{number: mark_number, gen: mark_gen}, direction: mark_direction, follow: mark_follow};
    marks_valid = '0;
    marks_valid[Ports] = mark_valid;
    mark_ready = marks_ready[Ports];
  end

  ids_flow #(
      .Ports(Ports),
      .SetsLog2(SetsLog2),
      .BucketsLog2(BucketsLog2)
  ) i_flow (
      .clk,
      .rst,
      .now,
      .age(16'd100),
      .clear,
      .ready,
      .lookup_valid,
      .lookup_ready,
      .lookup,
      .answer_valid,
      .answer_pop,
      .answer,
      .update_valid,
      .update_ready,
      .update,
      .mark_valid(marks_valid),
      .mark_ready(marks_ready),
      .mark,
      .mem(mem),
      .taken,
      .evicted,
      .fetched
  );

  for (genvar c = 0; c < int'(MemoryChannels); c++) begin : gen_channel
    axi_memory #(
        .Bytes(64'd1 << 25)
    ) i_memory (
        .clk,
        .rst,
        .link(mem[c])
    );
    axi_check i_check (
        .clk,
        .rst,
        .link(mem[c])
    );
  end

  always_ff @(posedge clk)
    if (!rst)
      for (int unsigned p = 0; p < Ports; p++)
        assert (!answer_valid[p] || !answer[p].state.open ||
                answer[p].state == state_of(answer[p].state.followed, answer[p].state.next))
          else $error("%m: a state with parts of another");
endmodule

`default_nettype wire
