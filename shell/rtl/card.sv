// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// The card: everything around the units, and the units.
//
//   rx ─> ingress ─> inline chain ─┬──────────────────────────────────────┐ past the units
//                     ┌────────────┘                                      ├─> egress ─> tx
//   host ─> ingress ──┴─> dispatcher ─> switch_in ─> units ─> switch_out ─┼─> egress ─> host
//                             :          │  │           :                 ├─> loopback ─┐
//                             :          │  └───────────:─────────────────│─────────────┤
//                             :          │              :                 └─> host_mem ─┤ AXI4
//                             :          └──────────────:───────────────────────────────┘
//                             :....... places over ......:
//                                      loopback
//
// Ports are 1,024 bits wide, everything else 512. Between a port and the links of the clusters a frame of 65 to 80
// bytes is one beat, with a tail beside it (penstock_pkg.sv), so a port keeps up with frames of all sizes at line rate.
//
// The inline chain is there where the card has Blocks; its frames come to exits as over the link of a cluster, so each port is one more there.
//
// Beside the frames `broadcast` carries words from each unit to all others. Units of some engines share maps (`card_maps` in engines/engines.toml).
//
// Streams are numbered ports first, then the host (Ports), then the loopback (Ports + 1).
module card
  import penstock_pkg::*, shell_pkg::*;
#(
    parameter int unsigned Ports        = 2,    // 1..4
    parameter int unsigned Units        = 16,   // 1..32
    parameter int unsigned IngressDepth = 4096, // rows of 128 bytes of a port's ring, a power of two from 512
    parameter int unsigned Blocks       = 0,    // of the inline chain, 0..8
    parameter int unsigned MapRows      = 16384, // of 16 bytes, of each bank of maps: what is more than on the chip is in the card's memory
    parameter link_stages_t Stages      = '0,   // of the links that cross from die to die (shell_pkg.sv)
    // The engine of each block: see engines/inline_block.sv
    parameter logic [MaxBlocks-1:0][ 7:0] BlockEngine = '0,
    parameter logic [MaxBlocks-1:0][63:0] BlockParam  = '0,
    // The engine of each unit: see engines/unit.sv
    parameter logic [MaxUnits-1:0][7:0]  Engine    = '0,
    parameter logic [MaxUnits-1:0][31:0] UnitParam = '0
) (
    input wire logic clk,
    input wire logic rst,

    axis_if.snk              rx[Ports],
    output logic [Ports-1:0] rx_pause,
    axis_if.src              tx[Ports],
    output port_t            tx_src[Ports],
    output time_t            tx_timestamp[Ports],

    axis_if.snk   host_rx,
    axis_if.src   host_tx,
    output port_t host_tx_src,
    output time_t host_tx_timestamp,
    output logic [31:0] host_tx_mark,

    axi_write_if.mgr host_write,
    axi_read_if.mgr  host_read,
    axi_if.mgr       memory[CardChannels],  // the card's own: IDs of 9 bits

    input  wire logic [31:0] axil_awaddr,
    input  wire logic        axil_awvalid,
    output logic             axil_awready,
    input  wire logic [31:0] axil_wdata,
    input  wire logic [ 3:0] axil_wstrb,
    input  wire logic        axil_wvalid,
    output logic             axil_wready,
    output logic      [ 1:0] axil_bresp,
    output logic             axil_bvalid,
    input  wire logic        axil_bready,
    input  wire logic [31:0] axil_araddr,
    input  wire logic        axil_arvalid,
    output logic             axil_arready,
    output logic      [31:0] axil_rdata,
    output logic      [ 1:0] axil_rresp,
    output logic             axil_rvalid,
    input  wire logic        axil_rready
);
  localparam int unsigned Sources = Ports + 2;
  localparam int unsigned Clusters = (Units + UnitsPerCluster - 1) / UnitsPerCluster;
  localparam int unsigned Host = Ports;
  localparam int unsigned Loopback = Ports + 1;
  localparam int unsigned HostMem = Ports + 2;  // among destinations
  localparam int unsigned HostDepth = 1024;
  localparam bit HasMaps = has_maps();
  localparam bit HasChain = Blocks > 0;
  localparam int unsigned Links = Clusters + (HasChain ? Ports : 0);  // to an exit

  // Whether units share maps
  function automatic bit has_maps();
    for (int unsigned u = 0; u < Units; u++) if (engines_pkg::engine_has_maps(int'(Engine[u]))) return 1'b1;
    return 1'b0;
  endfunction

  if (Ports < 1 || Ports > MaxPorts) begin : gen_ports
    $error("card: Ports must be 1 to %0d", MaxPorts);
  end
  if (Units < 1 || Units > MaxUnits) begin : gen_units
    $error("card: Units must be 1 to %0d", MaxUnits);
  end

  if (32'(Stages.clusters) > MaxStages || 32'(Stages.exits) > MaxStages || 32'(Stages.broadcast) > MaxStages ||
      32'(Stages.configuration) > MaxStages) begin : gen_stages
    $error("card: a link has up to %0d stages", MaxStages);
  end

  time_t now;
  logic [MaxUnits-1:0] unit_write_mask, unit_enable, unit_ingress, unit_flush, units_idle;
  unit_t unit_read, reta_wdata, reta_rdata, show_unit;
  logic [MaxPorts-1:0] port_enable;
  policy_e policy;
  cycles_t exit_timeout, unit_timeout;
  logic reta_we;
  logic [6:0] reta_addr;
  slot_t show_free, show_total;
  len_t show_size;
  rx_event_t rx_events[Sources];
  dispatch_event_t dispatch_events[Sources];
  tx_event_t tx_events[Sources];
  host_event_t host_events;
  logic range_we;
  unit_t range_unit;
  host_range_t range_data, range_shown;

  // Configuration
  cfg_if #(.ADDR_W(12)) card_cfg ();
  cfg_if #(.ADDR_W(26)) unit_cfg[Units] ();
  cfg_if #(.ADDR_W(12)) maps_cfg ();
  cfg_if #(.ADDR_W(12)) chain_cfg ();
  cfg_if #(.ADDR_W(27)) blocks_cfg ();
  // the far ends of their links
  cfg_if #(.ADDR_W(26)) far_unit_cfg[Units] ();
  cfg_if #(.ADDR_W(12)) far_maps_cfg ();
  cfg_if #(.ADDR_W(12)) far_chain_cfg ();
  cfg_if #(.ADDR_W(27)) far_blocks_cfg ();
  logic [3:0] inline_oversize[MaxPorts];
  cfg_front #(
      .Units(Units),
      .HasMaps(HasMaps),
      .Blocks(Blocks)
  ) i_cfg (
      .clk,
      .rst,
      .awaddr(axil_awaddr),
      .awvalid(axil_awvalid),
      .awready(axil_awready),
      .wdata(axil_wdata),
      .wstrb(axil_wstrb),
      .wvalid(axil_wvalid),
      .wready(axil_wready),
      .bresp(axil_bresp),
      .bvalid(axil_bvalid),
      .bready(axil_bready),
      .araddr(axil_araddr),
      .arvalid(axil_arvalid),
      .arready(axil_arready),
      .rdata(axil_rdata),
      .rresp(axil_rresp),
      .rvalid(axil_rvalid),
      .rready(axil_rready),
      .write_mask(unit_write_mask),
      .read_unit(unit_read),
      .card(card_cfg),
      .unit_cfg(unit_cfg),
      .maps(maps_cfg),
      .chain(chain_cfg),
      .blocks(blocks_cfg)
  );
  for (genvar u = 0; u < Units; u++) begin : gen_cfg
    cfg_stages #(
        .AddrW(26),
        .Stages(32'(Stages.configuration))
    ) i_unit (
        .clk,
        .rst,
        .from(unit_cfg[u]),
        .to(far_unit_cfg[u])
    );
  end
  cfg_stages #(
      .AddrW(12),
      .Stages(32'(Stages.configuration))
  ) i_maps_cfg (
      .clk,
      .rst,
      .from(maps_cfg),
      .to(far_maps_cfg)
  );
  cfg_stages #(
      .AddrW(12),
      .Stages(32'(Stages.configuration))
  ) i_chain_cfg (
      .clk,
      .rst,
      .from(chain_cfg),
      .to(far_chain_cfg)
  );
  cfg_stages #(
      .AddrW(27),
      .Stages(32'(Stages.configuration))
  ) i_blocks_cfg (
      .clk,
      .rst,
      .from(blocks_cfg),
      .to(far_blocks_cfg)
  );
  card_regs #(
      .Ports(Ports),
      .Units(Units),
      .IngressDepth(IngressDepth)
  ) i_regs (
      .clk,
      .rst,
      .cfg(card_cfg),
      .now,
      .unit_write_mask,
      .unit_read,
      .port_enable,
      .policy,
      .unit_enable,
      .unit_ingress,
      .unit_flush,
      .exit_timeout,
      .unit_timeout,
      .reta_we,
      .reta_addr,
      .reta_wdata,
      .reta_rdata,
      .show_unit,
      .show_free,
      .show_total,
      .show_size,
      .units_idle,
      .range_we,
      .range_unit,
      .range_data,
      .range_shown,
      .rx_events,
      .dispatch_events,
      .tx_events,
      .inline_oversize,
      .host_events
  );

  // In
  frame_if entered[Ports] ();
  tail_t entered_tails[Ports];
  frame_if sources[Ports+1] ();
  tail_t tails[Ports];
  logic [Ports-1:0] rx_crowded;      // rings
  logic [Ports-1:0] inline_crowded;  // queues of inline blocks
  for (genvar p = 0; p < Ports; p++) begin : gen_rx
    ingress #(
        .Source(eth_port(port_t'(p))),
        .Depth (IngressDepth)
    ) i_ingress (
        .clk,
        .rst,
        .now,
        .enable(port_enable[p]),
        .rx(rx[p]),
        .pause(rx_pause[p]),
        .crowded(rx_crowded[p]),
        .frames(entered[p]),
        .tail(entered_tails[p]),
        .events(rx_events[p])
    );
  end
  ingress #(
      .Source(PortHost),
      .Depth(HostDepth),
      .Lossless(1'b1)
  ) i_host_ingress (
      .clk,
      .rst,
      .now,
      .enable(1'b1),
      .rx(host_rx),
      .pause(),
      .crowded(),
      .frames(sources[Host]),
      .tail(),
      .events(rx_events[Host])
  );

  told_t told[Ports];

  // Through the inline chain, on to the dispatcher or past the units
  logic [Ports:0] past_valid[Ports];
  logic [Ports:0] past_room[Ports];
  beat_t past_beat[Ports];
  if (HasChain) begin : gen_inline
    frame_if onward[Ports] ();
    axi_if #(.ID_W(9)) block_memory[MemoryChannels] ();
    for (genvar c = 0; c < int'(MemoryChannels); c++) begin : gen_memory
      axi_wire i_wire (
          .from(block_memory[c]),
          .to(memory[c])
      );
    end
    card_inline #(
        .Ports(Ports),
        .Units(Units),
        .Blocks(Blocks),
        .Stages(32'(Stages.exits)),
        .BlockEngine(BlockEngine),
        .BlockParam(BlockParam)
    ) i_inline (
        .clk,
        .rst,
        .frames(entered),
        .tails(entered_tails),
        .onward(onward),
        .onward_tails(tails),
        .onward_told(told),
        .past_valid,
        .past_beat,
        .past_room,
        .cfg(far_chain_cfg),
        .blocks_cfg(far_blocks_cfg),
        .memory(block_memory),
        .crowded(inline_crowded),
        .oversize(inline_oversize)
    );
    for (genvar p = 0; p < Ports; p++) begin : gen_onward
      assign sources[p].valid = onward[p].valid;
      assign sources[p].data = onward[p].data;
      assign sources[p].last = onward[p].last;
      assign sources[p].meta = onward[p].meta;
      assign onward[p].ready = sources[p].ready;
    end
  end else begin : gen_no_inline
    for (genvar p = 0; p < Ports; p++) begin : gen_onward
      assign sources[p].valid = entered[p].valid;
      assign sources[p].data = entered[p].data;
      assign sources[p].last = entered[p].last;
      assign sources[p].meta = entered[p].meta;
      assign entered[p].ready = sources[p].ready;
      assign tails[p] = entered_tails[p];
      assign past_valid[p] = '0;
      assign past_beat[p] = '0;
      assign told[p] = '0;
    end
    for (genvar c = 0; c < int'(MemoryChannels); c++) begin : gen_memory
      axi_idle i_none (.link(memory[c]));
    end
    assign far_blocks_cfg.ack = 1'b0;
    assign far_blocks_cfg.err = 1'b0;
    assign far_blocks_cfg.rdata = '0;
    assign far_chain_cfg.ack = 1'b0;
    assign far_chain_cfg.err = 1'b0;
    assign far_chain_cfg.rdata = '0;
    assign inline_oversize = '{default: '0};
    assign inline_crowded = '0;
  end

  // To the units
  logic [Clusters-1:0] in_valid[Sources];
  beat_t in_beat[Sources];
  tail_t in_tail[Ports];
  logic [Clusters-1:0] start_room[Sources];
  logic [Clusters-1:0] beat_room[Sources];
  slot_msg_t slots[Units];
  slot_msg_t far_slots[Units];  // at the dispatcher
  logic [Units-1:0] unit_valid, unit_room;
  beat_t unit_beat[Clusters];
  frame_if answers ();
  frame_if far_answers ();  // at the clusters
  loop_if loops[Units] ();
  logic loop_valid, loop_ready;
  loop_request_t loop_request;
  loop_answer_t loop_answer;
  dispatcher #(
      .Ports(Ports),
      .Units(Units)
  ) i_dispatcher (
      .clk,
      .rst,
      .sources(sources),
      .tails,
      .told,
      .crowded(rx_crowded | inline_crowded),
      .out_valid(in_valid[0:Host]),
      .out_beat(in_beat[0:Host]),
      .out_tail(in_tail),
      .start_room(start_room[0:Host]),
      .beat_room(beat_room[0:Host]),
      .loop_valid,
      .loop_ready,
      .loop_request,
      .loop_answer,
      .slots(far_slots),
      .policy,
      .unit_enable,
      .unit_ingress,
      .unit_flush,
      .unit_timeout,
      .reta_we,
      .reta_addr,
      .reta_wdata,
      .reta_rdata,
      .show_unit,
      .show_free,
      .show_total,
      .show_size,
      .units_idle,
      .events(dispatch_events)
  );
  switch_in #(
      .Sources(Sources),
      .Tails(Ports),
      .Units(Units),
      .Stages(32'(Stages.clusters))
  ) i_switch_in (
      .clk,
      .rst,
      .in_valid,
      .in_beat,
      .in_tail,
      .start_room,
      .beat_room,
      .answers(far_answers),
      .out_valid(unit_valid),
      .out_beat(unit_beat),
      .room(unit_room)
  );

  frame_stages #(
      .Stages(32'(Stages.clusters))
  ) i_answers (
      .clk,
      .rst,
      .from(answers),
      .to(far_answers)
  );

  broadcast_if broadcasts[Units] ();
  broadcast #(
      .Units(Units),
      .Stages(32'(Stages.broadcast))
  ) i_broadcast (
      .clk,
      .rst,
      .links(broadcasts)
  );

  frame_if from_units[Units] ();
  map_if maps[Units] ();
  for (genvar u = 0; u < Units; u++) begin : gen_unit
    unit #(
        .Engine(int'(Engine[u])),
        .Param(UnitParam[u])
    ) i_unit (
        .clk,
        .rst,
        .unit_id(5'(u)),
        .card('{port_count: 3'(Ports), unit_count: 6'(Units)}),
        .rx_valid(unit_valid[u]),
        .rx(unit_beat[u/UnitsPerCluster]),
        .rx_room(unit_room[u]),
        .tx(from_units[u]),
        .loop(loops[u]),
        .bc(broadcasts[u]),
        .slots(slots[u]),
        .maps(maps[u]),
        .cfg(far_unit_cfg[u])
    );
    link_stages #(
        .Width ($bits(slot_msg_t)),
        .Stages(32'(Stages.clusters))
    ) i_slots (
        .clk,
        .rst,
        .d(slots[u]),
        .q(far_slots[u])
    );
`ifndef SYNTHESIS
    // The contract that keeps a unit from holding up those that share its link
    logic [8:0] without_q;  // cycles without room
    always_ff @(posedge clk) begin
      without_q <= rst || unit_room[u] ? '0 : without_q + 1'b1;
      if (!rst) assert (without_q < 9'd256) else $error("%m: the unit takes no frames");
    end
`endif
  end

  // Maps that units share
  if (HasMaps) begin : gen_maps
    card_maps #(
        .Units(Units),
        .Rows(MapRows),
        .OnChip(MapRows < OnChipMapRows ? MapRows : OnChipMapRows),
        .Stages(32'(Stages.clusters))
    ) i_maps (
        .clk,
        .rst,
        .links(maps),
        .cfg(far_maps_cfg),
        .memory(memory[MemoryChannels])
    );
  end else begin : gen_no_maps
    for (genvar u = 0; u < Units; u++) begin : gen_link
      assign maps[u].room = 1'b0;
      assign maps[u].reply_valid = 1'b0;
      assign maps[u].reply = '0;
    end
    axi_idle i_none (.link(memory[MemoryChannels]));
    assign far_maps_cfg.ack = 1'b0;
    assign far_maps_cfg.err = 1'b0;
    assign far_maps_cfg.rdata = '0;
  end

  // Out
  logic [Clusters-1:0] out_valid[Sources+1];
  beat_t out_beat[Clusters];
  logic [Clusters-1:0] room[Sources+1];
  switch_out #(
      .Ports(Ports),
      .Units(Units),
      .Stages(32'(Stages.exits))
  ) i_switch_out (
      .clk,
      .rst,
      .from_units(from_units),
      .out_valid,
      .out_beat,
      .room
  );
  // To an exit the way of each port past the units is a link beside those of the clusters.
  logic [Links-1:0] exit_valid[Ports+1];
  logic [Links-1:0] exit_room[Ports+1];
  beat_t exit_beat[Links];
  for (genvar l = 0; l < Links; l++) begin : gen_link
    if (l < Clusters) begin : gen_cluster
      assign exit_beat[l] = out_beat[l];
    end else begin : gen_past
      assign exit_beat[l] = past_beat[l-Clusters];
    end
  end
  for (genvar d = 0; d <= Ports; d++) begin : gen_exit
    assign exit_valid[d][Clusters-1:0] = out_valid[d];
    assign room[d] = exit_room[d][Clusters-1:0];
    for (genvar l = Clusters; l < Links; l++) begin : gen_past
      assign exit_valid[d][l] = past_valid[l-Clusters][d];
      assign past_room[l-Clusters][d] = exit_room[d][l];
    end
  end
  for (genvar p = 0; p < Ports; p++) begin : gen_tx
    egress #(
        .Stages(32'(Stages.exits)),
        .Links(Links)
    ) i_egress (
        .clk,
        .rst,
        .timeout(exit_timeout),
        .in_valid(exit_valid[p]),
        .in_beat(exit_beat),
        .room(exit_room[p]),
        .tx(tx[p]),
        .tx_src(tx_src[p]),
        .tx_timestamp(tx_timestamp[p]),
        .tx_mark(),
        .events(tx_events[p])
    );
  end
  egress #(
      .Stages(32'(Stages.exits)),
      .Links(Links)
  ) i_host_egress (
      .clk,
      .rst,
      .timeout(exit_timeout),
      .in_valid(exit_valid[Host]),
      .in_beat(exit_beat),
      .room(exit_room[Host]),
      .tx(host_tx),
      .tx_src(host_tx_src),
      .tx_timestamp(host_tx_timestamp),
      .tx_mark(host_tx_mark),
      .events(tx_events[Host])
  );
  loopback #(
      .Units(Units),
      .Stages(32'(Stages.exits)),
      .PlaceStages(32'(Stages.clusters))
  ) i_loopback (
      .clk,
      .rst,
      .loops(loops),
      .request_valid(loop_valid),
      .request_ready(loop_ready),
      .request(loop_request),
      .answer(loop_answer),
      .in_valid(out_valid[Loopback]),
      .in_beat(out_beat),
      .room(room[Loopback]),
      .out_valid(in_valid[Loopback]),
      .out_beat(in_beat[Loopback]),
      .out_room(beat_room[Loopback]),
      .rx_events(rx_events[Loopback]),
      .tx_events(tx_events[Loopback])
  );

  host_mem #(
      .Stages(32'(Stages.exits)),
      .Clusters(Clusters)
  ) i_host_mem (
      .clk,
      .rst,
      .in_valid(out_valid[HostMem]),
      .in_beat(out_beat),
      .room(room[HostMem]),
      .range_we,
      .range_unit,
      .range_data,
      .range_shown,
      .answers(answers),
      .axi_write(host_write),
      .axi_read(host_read),
      .events(host_events)
  );

  // Checkers of the stream contract
  frame_check i_check_answers (
      .clk,
      .rst,
      .link(answers)
  );
  for (genvar s = 0; s <= Host; s++) begin : gen_check_source
    frame_check #(
        .Tails(s < Ports)
    ) i_check (
        .clk,
        .rst,
        .link(sources[s])
    );
  end
  for (genvar s = 0; s < Sources; s++) begin : gen_check_in
    beat_check #(
        .Tails(s < Ports)
    ) i_check (
        .clk,
        .rst,
        .valid(in_valid[s] != 0),
        .beat (in_beat[s])
    );
  end
  for (genvar c = 0; c < Clusters; c++) begin : gen_check_out
    logic valid;
    always_comb begin
      valid = 1'b0;
      for (int unsigned d = 0; d <= Sources; d++) valid |= out_valid[d][c];
    end
    beat_check i_check (
        .clk,
        .rst,
        .valid,
        .beat(out_beat[c])
    );
  end
  for (genvar u = 0; u < Units; u++) begin : gen_check_unit
    beat_check i_to (
        .clk,
        .rst,
        .valid(unit_valid[u]),
        .beat (unit_beat[u/UnitsPerCluster])
    );
    frame_check i_from (
        .clk,
        .rst,
        .link(from_units[u])
    );
  end
endmodule

`default_nettype wire
