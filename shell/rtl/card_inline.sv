// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// The inline chain of a card: the blocks that frames of Ethernet ports pass before the dispatcher, in the order of the
// design, and the exit of frames after the last one. The chain handles streams and verdicts, not the contents of a
// block (engines/inline_block.sv has the contract).
//
//   frames of   ─> tenant_stage ─> block 0 ─> block 1 ─> … ─> inline_exit ─┬─> dispatcher
//   each port      1                                         one a port   └─> links to the exits, one a port
//
// Between two blocks there is no register and no queue: a block's outputs are registers or heads of queues.
//
// A port whose frames cannot leave fills the queues of the blocks and then its ring in `ingress`, where what does not
// fit is counted as overflow. A port alone has line rate at all sizes on to the dispatcher, if the blocks have; past
// the units frames of 65 to 80 bytes take two cycles each, 125 Mpps.
module card_inline
  import penstock_pkg::*, shell_pkg::*;
#(
    parameter int unsigned Ports  = 2,
    parameter int unsigned Units  = 16,
    parameter int unsigned Blocks = 1,  // up to MaxBlocks
    parameter int unsigned Stages = 0,  // of the links past the units
    parameter logic [MaxBlocks-1:0][ 7:0] BlockEngine = '0,
    parameter logic [MaxBlocks-1:0][63:0] BlockParam  = '0,
    parameter int unsigned Exits  = Ports + 1  // the ports, the host
) (
    input wire logic clk,
    input wire logic rst,

    frame_if.snk      frames[Ports],  // from ingress
    input wire tail_t tails [Ports],

    frame_if.src  onward      [Ports],  // to the dispatcher
    output tail_t onward_tails[Ports],
    output told_t onward_told [Ports],

    output logic      [Exits-1:0] past_valid[Ports],  // to the exits (inline_exit.sv)
    output beat_t                 past_beat [Ports],
    input  wire logic [Exits-1:0] past_room [Ports],

    cfg_if.snk cfg,         // registers: 12 address bits
    cfg_if.snk blocks_cfg,  // windows of the blocks: 24 address bits, and above them the block

    axi_if.mgr memory[MemoryChannels],  // channels of card memory: IDs of 9 bits

    // frames for slow units must not wait at this port (engines/inline_block.sv)
    output logic [Ports-1:0] crowded,
    // frames of a port that blocks dropped in this cycle since they had become too long
    output logic [3:0] oversize[MaxPorts]
);
  if (Blocks > MaxBlocks) begin : gen_blocks
    $error("card_inline: Blocks must be up to %0d", MaxBlocks);
  end

  // ---- registers: records in the upper half, those of blocks that there are; all others in inline_regs
  cfg_if #(.ADDR_W(12)) regs_cfg ();
  logic [Blocks-1:0] record_acks, record_errs;
  logic [31:0] record_rdatas[Blocks];
  wire in_records = cfg.addr[11] && 32'(cfg.addr[10:8]) < Blocks;
  assign regs_cfg.req = cfg.req && !in_records;
  assign regs_cfg.we = cfg.we;
  assign regs_cfg.addr = cfg.addr;
  assign regs_cfg.wdata = cfg.wdata;
  always_comb begin
    cfg.ack = regs_cfg.ack || record_acks != '0;
    cfg.err = in_records ? (record_acks & record_errs) != '0 : regs_cfg.err;
    cfg.rdata = in_records ? '0 : regs_cfg.rdata;
    for (int unsigned b = 0; b < Blocks; b++) if (record_acks[b]) cfg.rdata |= record_rdatas[b];
  end

  // ---- the streams: hop b comes into block b, the last one out of the last block
  typedef struct packed {
    frame_meta_t      meta;
    verdict_t         verdict;
    tail_t            tail;
    logic             last;
    logic [DataW-1:0] data;
  } hop_t;

  hop_t hop[Blocks+1][Ports];
  logic [Ports-1:0] valid[Blocks+1];
  logic [Ports-1:0] ready[Blocks+1];

  // ---- whose each frame is
  frame_if owned[Ports] ();
  tail_t owned_tails[Ports];
  tenant_write_t tenant_write;
  logic tenants_ready;
  tenant_stage #(
      .Ports(Ports)
  ) i_tenants (
      .clk,
      .rst,
      .frames(frames),
      .tails,
      .out(owned),
      .out_tails(owned_tails),
      .write(tenant_write),
      .ready(tenants_ready)
  );

  for (genvar p = 0; p < Ports; p++) begin : gen_in
    assign valid[0][p] = owned[p].valid;
    assign hop[0][p] =
        '{meta: owned[p].meta, verdict: '0, tail: owned_tails[p], last: owned[p].last, data: owned[p].data};
    assign owned[p].ready = ready[0][p];
    frame_check #(
        .Tails(1'b1)
    ) i_check (
        .clk,
        .rst,
        .link(owned[p])
    );
  end

  // ---- the blocks
  logic [63:0] now;
  logic [Ports-1:0] entered[Blocks];
  block_event_t events[Blocks*Ports];
  logic [Blocks-1:0] busy, acks, errs;
  logic [Ports-1:0] crowded_of[Blocks];
  logic [31:0] rdatas[Blocks];
  axi_if mems[MemoryChannels*Blocks] ();  // of each channel those of all blocks
  logic [Blocks-1:0] outside, outside_of[MemoryChannels];

  for (genvar b = 0; b < Blocks; b++) begin : gen_block
    frame_if in[Ports] ();
    frame_if out[Ports] ();
    tail_t in_tails[Ports];
    tail_t out_tails[Ports];
    verdict_t in_verdicts[Ports];
    verdict_t out_verdicts[Ports];
    block_event_t of_ports[Ports];
    cfg_if #(.ADDR_W(24)) block_cfg ();
    axi_if mem[MemoryChannels] ();
    record_if to_host ();
    record_if from_host ();

    for (genvar p = 0; p < Ports; p++) begin : gen_port
      assign in[p].valid = valid[b][p];
      assign in[p].data = hop[b][p].data;
      assign in[p].last = hop[b][p].last;
      assign in[p].meta = hop[b][p].meta;
      assign in_tails[p] = hop[b][p].tail;
      assign in_verdicts[p] = hop[b][p].verdict;
      assign ready[b][p] = in[p].ready;
      assign entered[b][p] = in[p].valid && in[p].ready && in[p].last;
      assign events[b*Ports+p] = of_ports[p];

      assign valid[b+1][p] = out[p].valid;
      assign hop[b+1][p] = '{
              meta: out[p].meta,
              verdict: out_verdicts[p],
              tail: out_tails[p],
              last: out[p].last,
              data: out[p].data
          };
      assign out[p].ready = ready[b+1][p];

      frame_check #(
          .Tails(1'b1)
      ) i_check (
          .clk,
          .rst,
          .link(out[p])
      );
      order_check i_order (
          .clk,
          .rst,
          .link(out[p])
      );
    end

    inline_block #(
        .Ports(Ports),
        .Number(b),
        .Engine(32'(BlockEngine[b])),
        .Param(BlockParam[b])
    ) i_block (
        .clk,
        .rst,
        .now,
        .frames(in),
        .tails(in_tails),
        .verdicts(in_verdicts),
        .out(out),
        .out_tails,
        .out_verdicts,
        .events(of_ports),
        .crowded(crowded_of[b]),
        .busy(busy[b]),
        .cfg(block_cfg),
        .mem(mem),
        .to_host(to_host),
        .from_host(from_host)
    );
    for (genvar c = 0; c < int'(MemoryChannels); c++) begin : gen_memory
      axi_check i_check (
          .clk,
          .rst,
          .link(mem[c])
      );
      axi_wire i_wire (
          .from(mem[c]),
          .to(mems[c*Blocks+b])
      );
    end

    block_check #(
        .Ports(Ports)
    ) i_check (
        .clk,
        .rst,
        .frames(in),
        .out(out),
        .out_verdicts,
        .events(of_ports),
        .busy(busy[b])
    );

    record_port #(
        .Number(b)
    ) i_records (
        .clk,
        .rst,
        .from_block(to_host),
        .to_block(from_host),
        .req(cfg.req && !cfg.ack && in_records && 32'(cfg.addr[10:8]) == b),
        .we(cfg.we),
        .addr(cfg.addr[7:0]),
        .wdata(cfg.wdata),
        .ack(record_acks[b]),
        .err(record_errs[b]),
        .rdata(record_rdatas[b])
    );

    // Its window. The answer is a cycle late, so that the answers of all blocks have time.
    assign block_cfg.req = blocks_cfg.req && !blocks_cfg.ack && !acks[b] && 32'(blocks_cfg.addr[26:24]) == b;
    assign block_cfg.we = blocks_cfg.we;
    assign block_cfg.addr = blocks_cfg.addr[23:0];
    assign block_cfg.wdata = blocks_cfg.wdata;
    always_ff @(posedge clk) begin
      acks[b]   <= block_cfg.req && block_cfg.ack && !rst;
      errs[b]   <= block_cfg.err;
      rdatas[b] <= block_cfg.rdata;
    end
  end

  always_comb begin
    blocks_cfg.ack = acks != '0;
    blocks_cfg.err = (acks & errs) != '0;
    blocks_cfg.rdata = '0;
    for (int unsigned b = 0; b < Blocks; b++) if (acks[b]) blocks_cfg.rdata |= rdatas[b];
  end

  for (genvar c = 0; c < int'(MemoryChannels); c++) begin : gen_channel
    axi_share #(
        .Managers(Blocks),
        .RangeW(25)
    ) i_share (
        .clk,
        .rst,
        .from(mems[c*Blocks+:Blocks]),
        .to(memory[c]),
        .error(outside_of[c])
    );
  end
  always_comb begin
    outside = '0;
    for (int unsigned c = 0; c < MemoryChannels; c++) outside |= outside_of[c];
  end

  always_ff @(posedge clk) begin
    automatic logic [Ports-1:0] any = '0;
    for (int unsigned b = 0; b < Blocks; b++) any |= crowded_of[b];
    crowded <= any;
  end

  // ---- the exits
  logic [Ports-1:0] refused;
  for (genvar p = 0; p < Ports; p++) begin : gen_exit
    frame_if decided ();
    assign decided.valid = valid[Blocks][p];
    assign decided.data = hop[Blocks][p].data;
    assign decided.last = hop[Blocks][p].last;
    assign decided.meta = hop[Blocks][p].meta;
    assign ready[Blocks][p] = decided.ready;

    inline_exit #(
        .Ports(Ports),
        .Units(Units),
        .Stages(Stages)
    ) i_exit (
        .clk,
        .rst,
        .frames(decided),
        .tail(hop[Blocks][p].tail),
        .verdict(hop[Blocks][p].verdict),
        .onward(onward[p]),
        .onward_tail(onward_tails[p]),
        .onward_told(onward_told[p]),
        .out_valid(past_valid[p]),
        .out_beat(past_beat[p]),
        .room(past_room[p]),
        .refused(refused[p])
    );
    beat_check i_check_past (
        .clk,
        .rst,
        .valid(past_valid[p] != '0),
        .beat (past_beat[p])
    );
  end

  always_ff @(posedge clk)
    for (int unsigned p = 0; p < MaxPorts; p++) begin
      automatic logic [3:0] count = '0;
      if (p < Ports)
        for (int unsigned b = 0; b < Blocks; b++)
          count += 4'(events[b*Ports+p%Ports].dropped && events[b*Ports+p%Ports].reason == ReasonOversize);
      oversize[p] <= rst ? '0 : count;
    end

  inline_regs #(
      .Ports(Ports),
      .Blocks(Blocks),
      .BlockEngine(BlockEngine)
  ) i_regs (
      .clk,
      .rst,
      .cfg(regs_cfg),
      .now,
      .tenant_write,
      .tenants_ready,
      .entered,
      .events,
      .busy,
      .outside,
      .refused
  );
endmodule

`default_nettype wire
