// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// The registers of an rmt block (engines/rmt/regs/rmt.rdl) and the host's access to the machine's memories.
//
// An access waits for its slot at the entry, travels down the lanes, and is acknowledged when it has passed the last
// memory and no stage is busy with it. `access` stands all that time. A read of a counter takes three cycles, other
// registers answer in the next one. An address without a register answers with `err`, and so does an access to a memory,
// stage or row that does not exist.
module rmt_regs
  import rmt_pkg::*, rmt_regs_pkg::*;
#(
    parameter pipeline_t   Pipeline = '0,
    parameter int unsigned Ports    = 2
) (
    input wire logic clk,
    input wire logic rst,

    cfg_if.snk cfg,  // 24 address bits

    output logic      under_way,  // there is an access, until it is acknowledged
    output logic      request,    // it waits for its slot
    input  wire logic started,
    output host_t     access,
    input  wire logic passed,
    input  wire logic busy,     // it has passed, but is not done yet
    input  wire word_t word,    // that was read
    input  wire logic [Lanes-1:0] lost_digests,  // of a frame of the lane
    input  wire logic [Lanes-1:0] lost_packets,
    input  wire logic [Lanes-1:0] lost_clones
);
  localparam int unsigned Stages = 32'(Pipeline.stages);

  word_t select_q;
  word_t [RowWords-1:0] data_q;
  logic request_q, busy_q, passed_q, we_q, start, is_data, travels;
  logic [4:0] index_q;

  // Rows of a memory that the host can select; 0: it does not exist.
  function automatic logic [16:0] rows_of(logic [7:0] memory, logic [7:0] stage);
    case (memory)
      MemTenant:          return stage == '0 ? 17'd64 : '0;
      MemCheck, MemExit:  return stage == '0 ? 17'd128 : '0;
      MemGroup, MemClone: return stage == '0 ? 17'd1 << (4 + MulticastW) : '0;
      MemParser:          return 32'(stage) < Depths ? 17'd1024 : '0;
      default: ;
    endcase
    if (32'(stage) >= Stages) return '0;
    case (memory)
      MemKey, MemSegment: return 17'd128;
      MemTernary, MemTarget: return Pipeline.ternary[stage[3:0]] ? 17'd1 << Pipeline.ternary_w : '0;
      MemCounter:         return 17'd1 << CounterW;
      MemMeter:           return Pipeline.meters[stage[3:0]] ? 17'd1 << MeterW : '0;
      MemAction:          return 17'd1024;
      MemRegister:        return 17'd1 << RegisterW;
      MemLeaf:            return Pipeline.prefixes[stage[3:0]] ? 17'd1 << LeafW : '0;
      default: ;
    endcase
    if (memory >= MemWay && 32'(memory) < 32'(MemWay) + Ways) return 17'd1 << BucketW;
    if (memory >= MemLpm && 32'(memory) < 32'(MemLpm) + Levels && Pipeline.prefixes[stage[3:0]])
      return 17'd1 << {memory[2:0], 2'b0};
    return '0;
  endfunction

  logic exists;
  assign exists = 17'(select_q[15:0]) < rows_of(select_q[31:24], select_q[23:16]);

  // ---- counters: 1 begins to read, 2 waits, 3 answers
  localparam int unsigned Counters = 3;
  logic counts, read_count;
  logic [1:0] counter, count_steps_q;
  logic [15:0] step[Counters];
  logic [63:0] count;
  word_t count_high_q;

  always_comb begin
    step = '{16'($countones(lost_digests)), 16'($countones(lost_packets)), 16'($countones(lost_clones))};
    counts = !cfg.we;
    counter = '0;
    case (32'(cfg.addr))
      RMT_BLOCK_LOST: ;
      RMT_BLOCK_LOST_PACKETS: counter = 2'd1;
      RMT_BLOCK_LOST_CLONES: counter = 2'd2;
      default: counts = 1'b0;
    endcase
  end
  assign read_count = start && counts;
  wide_counters #(
      .Counters(Counters),
      .StepW($clog2(Lanes + 1))
  ) i_counters (
      .clk,
      .rst,
      .step(step),
      .read(read_count),
      .index(counter),
      .value(count)
  );

  assign start = cfg.req && !cfg.ack && !busy_q && count_steps_q == '0;
  assign is_data = 32'(cfg.addr) >= RMT_BLOCK_DATA && 32'(cfg.addr) < RMT_BLOCK_DATA + 4 * RMT_BLOCK_DATA_COUNT;
  assign travels = cfg.we ? 32'(cfg.addr) == RMT_BLOCK_COMMIT : is_data;

  assign under_way = busy_q;
  assign request = request_q;
  assign access = '{
      we: we_q,
      memory: select_q[31:24],
      stage: select_q[23:16],
      row: select_q[15:0],
      word: index_q,
      data: data_q
  };

  always_ff @(posedge clk) begin
    cfg.ack <= 1'b0;
    count_steps_q <= {count_steps_q[0], read_count};
    if (count_steps_q[1]) begin
      cfg.ack <= 1'b1;
      cfg.err <= 1'b0;
      {count_high_q, cfg.rdata} <= count;
    end
    if (start && !counts && !(travels && exists)) begin
      cfg.ack   <= 1'b1;
      cfg.err   <= 1'b0;
      cfg.rdata <= '0;
      if (is_data && cfg.we) data_q[cfg.addr[6:2]] <= cfg.wdata;
      else
        case (32'(cfg.addr))
          RMT_BLOCK_SHAPE: begin
            cfg.rdata <= {8'(Levels), 8'(Ways), 8'(Depths), 8'(Stages)};
            cfg.err   <= cfg.we;
          end
          RMT_BLOCK_SIZES: begin
            cfg.rdata <= {8'(Ports), 8'(LeafW), 8'(RegisterW), 8'(BucketW)};
            cfg.err   <= cfg.we;
          end
          RMT_BLOCK_MORE: begin
            cfg.rdata <= {8'd0, 8'(MeterW), 8'(CounterW), 8'(Pipeline.ternary_w)};
            cfg.err   <= cfg.we;
          end
          RMT_BLOCK_TABLES: begin
            cfg.rdata <= {4'd0, Pipeline.prefixes, 4'd0, Pipeline.ternary};
            cfg.err   <= cfg.we;
          end
          RMT_BLOCK_METERS: begin
            cfg.rdata <= {20'd0, Pipeline.meters};
            cfg.err   <= cfg.we;
          end
          RMT_BLOCK_COUNT_H: begin
            cfg.rdata <= count_high_q;
            cfg.err   <= cfg.we;
          end
          RMT_BLOCK_SELECT: begin
            cfg.rdata <= select_q;
            if (cfg.we) select_q <= cfg.wdata;
          end
          default: cfg.err <= 1'b1;
        endcase
    end
    if (start && travels && exists) begin
      {busy_q, request_q} <= 2'b11;
      we_q <= cfg.we;
      index_q <= cfg.addr[6:2];
    end
    if (started) request_q <= 1'b0;
    passed_q <= busy_q && (passed || passed_q);
    if (busy_q && (passed || passed_q) && !busy) begin
      busy_q    <= 1'b0;
      passed_q  <= 1'b0;
      cfg.ack   <= 1'b1;
      cfg.err   <= 1'b0;
      cfg.rdata <= we_q ? '0 : word;
    end
    if (rst) begin
      {busy_q, request_q, passed_q} <= '0;
      count_steps_q <= '0;
      cfg.ack <= 1'b0;
      select_q <= '0;
    end
  end
endmodule

`default_nettype wire
