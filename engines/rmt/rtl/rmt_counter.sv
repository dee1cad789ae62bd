// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// The counters of a stage: each lane has its own, and the host reads their sum.
//
//   lane's count ─> BOUNDS ─> memory ─> ADD      3 cycles, a count a cycle in each lane
//                               ^        │ write
//                               └────────┘ and to the next count, which has read the same cycle
//
// The host reads and writes in its slot. A write goes to lane 0, and clears the other one. A read of word 0 keeps all
// words of the counter for the reads that follow.
module rmt_counter
  import rmt_pkg::*;
(
    input wire logic clk,
    input wire logic rst,

    input wire logic  slot,
    input wire logic [3:0] stage,  // number, a constant
    input wire host_t host,
    output     word_t host_word,

    input wire count_t [Lanes-1:0] count
);
  logic selected, by_host, host1_q, host2_q, kept_q;
  counter_t [Lanes-1:0] now;
  counter_t kept, sum_d;
  word_t [3:0] words;

  assign selected = host.memory == MemCounter && host.stage == 8'(stage);
  assign by_host = slot && selected;

  for (genvar l = 0; l < Lanes; l++) begin : gen_lane
    logic [16:0] place;  // place in the segment
    logic do1_q, do2_q, write3_q;
    logic [CounterW-1:0] addr1_q, addr2_q, addr3_q;
    logic [15:0] bytes1_q, bytes2_q;
    counter_t read, new_d, value3_q;

    // ---- BOUNDS
    assign place = 17'(count[l].offset) + 17'(count[l].index[15:0]);

    always_ff @(posedge clk) begin
      do1_q <= by_host ? host.we : count[l].valid && count[l].index < word_t'(count[l].length) &&
          place < 17'(count[l].segment.size);
      addr1_q <= by_host ? host.row[CounterW-1:0] : count[l].segment.base[CounterW-1:0] + place[CounterW-1:0];
      bytes1_q <= count[l].bytes;
      if (rst) do1_q <= 1'b0;
    end

    // ---- memory
    ram_sdp #(
        .Width($bits(counter_t)),
        .Depth(1 << CounterW)
    ) i_counters (
        .clk,
        .we(do2_q),
        .waddr(addr2_q),
        .wdata(new_d),
        .re(1'b1),
        .raddr(addr1_q),
        .rdata(read)
    );

    always_ff @(posedge clk) begin
      {addr2_q, bytes2_q} <= {addr1_q, bytes1_q};
      do2_q <= do1_q && !rst;
    end

    // ---- ADD
    assign now[l] = write3_q && addr3_q == addr2_q ? value3_q : read;

    always_comb begin
      new_d = '{packets: now[l].packets + 64'd1, bytes: now[l].bytes + 64'(bytes2_q)};
      if (host2_q) new_d = l == 0 ? $bits(counter_t)'(host.data) : '0;
    end

    always_ff @(posedge clk) begin
      write3_q <= do2_q && !rst;
      addr3_q  <= addr2_q;
      value3_q <= new_d;
    end

`ifndef SYNTHESIS
    segment_t segment_q;
    always_ff @(posedge clk) begin
      segment_q <= count[l].segment;
      if (!rst) begin
        assert (!(by_host && count[l].valid)) else $error("%m: a count in the host's slot");
        assert (!do1_q || host1_q || 16'(CounterW'(addr1_q - segment_q.base[CounterW-1:0])) < segment_q.size)
        else $error("%m: counter %0d is not in its segment", addr1_q);
      end
    end
`endif
  end

  // ---- the host
  always_comb begin
    sum_d = '0;
    for (int unsigned l = 0; l < Lanes; l++)
      sum_d = '{packets: sum_d.packets + now[l].packets, bytes: sum_d.bytes + now[l].bytes};
  end

  always_ff @(posedge clk) begin
    host1_q <= by_host && !rst;
    host2_q <= host1_q && !rst;
    if (host2_q && !host.we && host.word == '0) kept <= sum_d;
    kept_q <= host.word < 5'd4;
  end

  assign words = kept;
  assign host_word = selected && kept_q ? words[host.word[1:0]] : '0;
endmodule

`default_nettype wire
