// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// The registers of the inline chain (shell/regs/inline.rdl) and the card's time. An access takes four cycles; an
// address without a register answers with `err`, and so does a write to one that can only be read, and a read of one
// that can only be written. A write to TENANT waits until the tenants can be written (tenant_stage.sv).
module inline_regs
  import penstock_pkg::*, shell_pkg::*, regs_pkg::*;
#(
    parameter int unsigned Ports  = 2,
    parameter int unsigned Blocks = 1,
    parameter logic [MaxBlocks-1:0][7:0] BlockEngine = '0
) (
    input wire logic clk,
    input wire logic rst,

    cfg_if.snk cfg,  // 12 address bits

    output logic [63:0] now,  // ns

    output tenant_write_t    tenant_write,
    input wire logic         tenants_ready,

    input wire logic [Ports-1:0]  entered[Blocks],       // a frame came into the block
    input wire block_event_t      events [Blocks*Ports], // block by block
    input wire logic [Blocks-1:0] busy,
    input wire logic [Blocks-1:0] outside,               // a burst of the block was beyond its range of memory
    input wire logic [Ports-1:0]  refused                // a frame was dropped behind the last block
);
  localparam int unsigned CycleNs = 4;
  localparam int unsigned StrideW = $clog2(INLINE_BLOCK_STRIDE);
  localparam int unsigned BlockW = Blocks > 1 ? $clog2(Blocks) : 1;

  // ---- counters
  logic [BlockW-1:0] block_d, block_q;
  logic [63:0] block_count[Blocks];
  logic read_block, read_refused;
  for (genvar b = 0; b < Blocks; b++) begin : gen_block
    block_event_t of_block[Ports];
    for (genvar p = 0; p < Ports; p++) begin : gen_port
      assign of_block[p] = events[b*Ports+p];
    end
    block_counters #(
        .Ports (Ports),
        .Engine(32'(BlockEngine[b]))
    ) i_counters (
        .clk,
        .rst,
        .entered(entered[b]),
        .events(of_block),
        .outside(outside[b]),
        .read(read_block && block_d == BlockW'(b)),
        .offset(cfg.addr[StrideW-1:0]),
        .count(block_count[b])
    );
  end

  logic [Ports-1:0] refused_q;
  logic [15:0] refusals[1];
  logic [63:0] refused_count;
  assign refusals[0] = 16'($countones(refused_q));
  always_ff @(posedge clk) begin
    refused_q <= refused;
    if (rst) refused_q <= '0;
  end
  wide_counters #(
      .Counters(1),
      .StepW($clog2(Ports + 1))
  ) i_refused (
      .clk,
      .rst,
      .step(refusals),
      .read(read_refused),
      .index(1'b0),
      .value(refused_count)
  );

  // ---- access: 1 read or written, 2 counters read, 3 selected, answered
  logic [1:0] step_q;
  logic in_blocks_q, counts_q, known_q, writes_q;
  logic [31:0] count_high_q;
  logic [11:0] tenant_vlan_q;
  logic [MaxPorts-1:0] tenant_ports_q;
  logic [31:0] single_q;
  wire [31:0] addr = 32'(cfg.addr);
  wire waits = cfg.we && addr == INLINE_TENANT && !tenants_ready;
  wire start = cfg.req && !cfg.ack && step_q == 0 && !waits;
  wire in_blocks = addr >= INLINE_BLOCK_BASE && addr < INLINE_BLOCK_BASE + Blocks * INLINE_BLOCK_STRIDE;

  assign block_d = BlockW'((addr - INLINE_BLOCK_BASE) >> StrideW);
  assign read_block = start && !cfg.we && in_blocks;
  assign read_refused = start && !cfg.we && addr == INLINE_REFUSED;
  wire [63:0] count = in_blocks_q ? block_count[block_q] : refused_count;

  // ---- the card's time
  logic [63:0] time_q;
  logic [31:0] high_q;  // latched by a read of the low word, or to be set with it
  logic held_q;
  assign now = time_q;

  always_ff @(posedge clk) begin
    if (!held_q) time_q <= time_q + 64'(CycleNs);
    step_q <= {step_q[0], start};
    tenant_write.valid <= start && cfg.we && addr == INLINE_TENANT && !rst;
    tenant_write.vlan <= tenant_vlan_q;
    tenant_write.ports <= tenant_ports_q;
    tenant_write.tenant <= cfg.wdata[5:0];
    if (start) begin
      in_blocks_q <= in_blocks;
      block_q <= block_d;
      counts_q <= read_block || read_refused;
      known_q <= 1'b1;
      writes_q <= 1'b0;
      single_q <= '0;
      case (addr)
        INLINE_BLOCKS: single_q <= Blocks;
        INLINE_BUSY: single_q <= 32'(busy);
        INLINE_TIME_L: begin
          single_q <= time_q[31:0];
          writes_q <= 1'b1;
          if (cfg.we) time_q <= {high_q, cfg.wdata};
          else high_q <= time_q[63:32];
        end
        INLINE_TIME_H: begin
          single_q <= high_q;
          writes_q <= 1'b1;
          if (cfg.we) high_q <= cfg.wdata;
        end
        INLINE_HOLD: begin
          single_q <= 32'(held_q);
          writes_q <= 1'b1;
          if (cfg.we) held_q <= cfg.wdata[0];
        end
        INLINE_REFUSED: ;
        INLINE_COUNT_H: single_q <= count_high_q;
        INLINE_TENANT_VLAN: begin
          single_q <= {12'b0, tenant_ports_q, 4'b0, tenant_vlan_q};
          writes_q <= 1'b1;
          if (cfg.we) {tenant_ports_q, tenant_vlan_q} <= {cfg.wdata[19:16], cfg.wdata[11:0]};
        end
        INLINE_TENANT: begin
          known_q  <= 1'b0;
          writes_q <= 1'b1;
        end
        default: known_q <= 1'b0;
      endcase
    end
    cfg.ack   <= step_q[1] && !rst;
    cfg.rdata <= counts_q ? count[31:0] : single_q;
    cfg.err   <= cfg.we ? !writes_q : !(in_blocks_q || known_q);
    if (step_q[1] && counts_q) count_high_q <= count[63:32];
    if (rst) begin
      step_q <= '0;
      time_q <= '0;
      high_q <= '0;
      held_q <= 1'b0;
    end
  end
endmodule

`default_nettype wire
