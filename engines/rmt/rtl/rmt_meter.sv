// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// The meters of a stage: the color-blind markers of RFC 2698, a frame a cycle.
//
//   cycle of the stage     7            8            9          10          11        of the next one: 3, 4
//   lanes' accesses ─> BOUNDS ─> rates ─> MULTIPLY ─> SHIFT ─> BOUNDARY ─> moments ─> COLOR ─> color
//                                                     now                      ^        │ write
//                                                                              └────────┘ and to the next frame, which
//                                                                                         has read the same cycle
//
// A bucket is kept as the moment at which it is full. A frame of n tokens moves it on by n times the time of a token,
// from now on if it has passed. The frame fits if the moment is then not further away than the time in which an empty
// bucket fills. The product needs nothing of what frames change, so only comparisons and a sum are between two
// frames of one cell: the three of them are side by side, and choose.
//
// As for registers, the entry lets in one stateful frame a cycle, and the host's access is an operation in its slot. A
// row that the host writes begins with full buckets. Moments are 72 bits, modulo 2^72: a cell is right if less than
// 2^55 ns, a year, lie between two of its frames.
//
// Counted by hand for a stage: 10 RAMB36 (6 for the rates, 4 for the moments, 1,024 cells each), 2 DSP, 1,600 flip-flops,
// and of LUTs two times 216 (shift), 288 (four sums in SHIFT and BOUNDARY), 216 (two comparisons and a sum in COLOR) and
// 144 (choice and forwarding), and 100 for the rest: 1,830. The result waits in 43 LUTs of a lane (rmt_units). Twelve
// stages: 120 RAMB36, 24 DSP, 23,000 LUTs.
module rmt_meter
  import rmt_pkg::*;
(
    input wire logic clk,
    input wire logic rst,
    input wire logic [63:0] now,  // ns

    input wire logic  slot,
    input wire logic [3:0] stage,  // number, a constant
    input wire host_t host,
    output     word_t host_word,

    input wire access_t [Lanes-1:0] access,
    output     color_t              color  // 0 if there was no operation
);
  // ---- BOUNDS
  access_t chosen;
  logic selected, by_host;
  logic [16:0] place;  // place in the segment
  logic [MeterW-1:0] addr;
  logic [4:1] do_q, host_q;  // there is an operation of a frame; of the host, which writes
  logic [4:1][MeterW-1:0] addr_q;
  logic [TokensW-1:0] tokens1_q;

  assign chosen = access[access[1].valid];
  assign place = 17'(chosen.offset) + 17'(chosen.index[15:0]);
  assign selected = host.memory == MemMeter && host.stage == 8'(stage);
  assign by_host = slot && selected;
  assign addr = by_host ? host.row[MeterW-1:0] : chosen.segment.base[MeterW-1:0] + place[MeterW-1:0];

  always_ff @(posedge clk) begin
    do_q <= {do_q[3:1], chosen.valid && chosen.op == RegMeter && chosen.index < word_t'(chosen.length) &&
             place < 17'(chosen.segment.size)};
    host_q <= {host_q[3:1], by_host && host.we};
    addr_q <= {addr_q[3:1], addr};
    tokens1_q <= chosen.x[TokensW-1:0];
    if (rst) {do_q, host_q} <= '0;
  end

  // ---- rates
  meter_row_t row, row2_q;
  word_t [$bits(meter_row_t)/32-1:0] words;
  word_t word_q;
  logic read1_q;

  ram_sdp #(
      .Width($bits(meter_row_t)),
      .Depth(1 << MeterW)
  ) i_rates (
      .clk,
      .we(by_host && host.we),
      .waddr(addr),
      .wdata($bits(meter_row_t)'(host.data)),
      .re(1'b1),
      .raddr(addr),
      .rdata(row)
  );

  assign words = row;
  always_ff @(posedge clk) begin
    read1_q <= by_host && !host.we;
    if (read1_q) word_q <= host.word < 5'($bits(meter_row_t) / 32) ? words[host.word[2:0]] : '0;
  end
  assign host_word = selected ? word_q : '0;

  // ---- MULTIPLY
  logic [1:0][MantissaW+TokensW-1:0] product2_q;

  always_ff @(posedge clk) begin
    row2_q <= host_q[1] ? $bits(meter_row_t)'(host.data) : row;
    for (int unsigned b = 0; b < 2; b++) product2_q[b] <= row.pace[b].mantissa * tokens1_q;
  end

  // ---- SHIFT
  moment_t [1:0] cost3_q, now3_q, depth3_q, latest3_q;
  logic [4:3] metered_q;  // the cell has rates

  always_ff @(posedge clk) begin
    for (int unsigned b = 0; b < 2; b++) begin
      cost3_q[b]   <= moment_t'(product2_q[b]) << row2_q.pace[b].exponent;
      now3_q[b]    <= row2_q.pace[b].still ? '0 : {now[MomentW-FractionW-1:0], FractionW'(0)};
      latest3_q[b] <= (row2_q.pace[b].still ? '0 : {now[MomentW-FractionW-1:0], FractionW'(0)}) +
          moment_t'(row2_q.depth[b]);
      depth3_q[b]  <= moment_t'(row2_q.depth[b]);
    end
    metered_q <= {metered_q[3], row2_q.pace[0].mantissa != '0};
  end

  // ---- BOUNDARY: the latest moment of a bucket with room, and the moment of a bucket that was full
  moment_t [1:0] cost4_q, now4_q, latest4_q, fresh4_q, spare;
  logic [1:0] room4_q;  // a full bucket has room for the frame

  always_comb for (int unsigned b = 0; b < 2; b++) spare[b] = depth3_q[b] - cost3_q[b];

  always_ff @(posedge clk) begin
    cost4_q <= cost3_q;
    now4_q  <= now3_q;
    for (int unsigned b = 0; b < 2; b++) begin
      latest4_q[b] <= latest3_q[b] - cost3_q[b];
      fresh4_q[b]  <= now3_q[b] + cost3_q[b];
      room4_q[b]   <= !spare[b][MomentW-1];
    end
  end

  // ---- COLOR
  moment_t [1:0] read, full, full_d, full5_q, past, left;
  logic [1:0] later, fits, moves;
  logic write5_q;
  logic [MeterW-1:0] addr5_q;

  ram_sdp #(
      .Width($bits(full)),
      .Depth(1 << MeterW)
  ) i_moments (
      .clk,
      .we(do_q[4] || host_q[4]),
      .waddr(addr_q[4]),
      .wdata(full_d),
      .re(1'b1),
      .raddr(addr_q[3]),
      .rdata(read)
  );

  assign full = write5_q && addr5_q == addr_q[4] ? full5_q : read;

  always_comb begin
    for (int unsigned b = 0; b < 2; b++) begin
      past[b]  = now4_q[b] - full[b];
      left[b]  = latest4_q[b] - full[b];
      later[b] = past[b][MomentW-1];
      fits[b]  = later[b] ? !left[b][MomentW-1] : room4_q[b];
    end
    moves = {fits[1], fits[1] && fits[0]};
    for (int unsigned b = 0; b < 2; b++) begin
      full_d[b] = full[b];
      if (moves[b]) full_d[b] = later[b] ? full[b] + cost4_q[b] : fresh4_q[b];
      if (host_q[4]) full_d[b] = now4_q[b];
    end
  end

  always_ff @(posedge clk) begin
    write5_q <= (do_q[4] || host_q[4]) && !rst;
    addr5_q  <= addr_q[4];
    full5_q  <= full_d;
    color    <= !do_q[4] || !metered_q[4] ? 2'd0 : !fits[1] ? 2'd2 : !fits[0] ? 2'd1 : 2'd0;
  end

`ifndef SYNTHESIS
  segment_t segment_q;
  always_ff @(posedge clk) begin
    segment_q <= chosen.segment;
    if (!rst) begin
      assert (!(by_host && (access[0].valid || access[1].valid))) else $error("%m: an operation in the host's slot");
      assert (!do_q[1] || 16'(MeterW'(addr_q[1] - segment_q.base[MeterW-1:0])) < segment_q.size)
      else $error("%m: meter %0d is not in its segment", addr_q[1]);
    end
  end
`endif
endmodule

`default_nettype wire
