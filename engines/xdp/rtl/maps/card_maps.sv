// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// The maps of a card, shared by its units (engines/xdp/maps.md): links in groups of four, the host's the last of them,
// and banks.
//
//   units ═> map_group ═╗                ╔═> map_bank ═╗
//   units ═> map_group ═╬═> one a bank ══╬═> map_bank ═╬═> one a group ═> map_group ═> units
//   host  ═> map_group ═╝   register     ╚═> map_bank ═╝
//                                  queue       └── map_ledger
//
// A group sends a part of a request each cycle and takes an answer. A bank starts a load every cycle or a lookup every
// two cycles. With evenly spread keys the groups are the limit, four of them at 3.6 lookups a cycle; if all units
// access one row, its bank is the limit, with one load a cycle.
module card_maps
  import map_pkg::*;
  import maps_pkg::*;
#(
    parameter int unsigned Units = 16,
    parameter int unsigned Banks = 16,
    parameter int unsigned Rows  = 16384,  // of 16 bytes, of each bank
    parameter int unsigned OnChip = Rows,  // of them; the others are in the card's memory
    parameter int unsigned Stages = 0      // of the links, each way
) (
    input wire logic clk,
    input wire logic rst,
    map_if.maps      links[Units],
    cfg_if.snk       cfg,
    axi_if.mgr       memory  // rows that are not on the chip
);
  localparam int unsigned Links = Units + 1;
  localparam int unsigned Groups = (Links + PortsPerGroup - 1) / PortsPerGroup;
  localparam int unsigned Slots = Groups * PortsPerGroup;
  localparam int unsigned BankW = $clog2(Banks);

  if (Banks < 2 || 1 << BankW != Banks || 1 << $clog2(Rows) != Rows || Rows > 65536) begin : gen_shape
    $error("card_maps: Banks and Rows must be powers of two, Rows up to 65,536");
  end
  if (1 << $clog2(OnChip) != OnChip || OnChip > Rows || OnChip < 2 * LineRows) begin : gen_on_chip
    $error("card_maps: OnChip must be a power of two, from two lines on and up to Rows");
  end

  if (Stages > LinkStages) begin : gen_stages
    $error("card_maps: a link has up to %0d stages", LinkStages);
  end

  logic [Slots-1:0] link_valid, link_room, reply_valid;
  flit_t link_flit[Slots];
  reply_t reply[Slots];
  logic define, seed_we;
  map_t define_map;
  descriptor_t define_as;
  logic [4:0] seed_at;
  logic [63:0] seed;
  logic [Banks-1:0] defining;
  logic memory_failed;

  for (genvar u = 0; u < Units; u++) begin : gen_link
    link_stages #(
        .Width (3),
        .Stages(Stages)
    ) i_control (
        .clk,
        .rst,
        .d({links[u].valid, link_room[u], reply_valid[u]}),
        .q({link_valid[u], links[u].room, links[u].reply_valid})
    );
    link_stages #(
        .Width ($bits(flit_t)),
        .Stages(Stages)
    ) i_flit (
        .clk,
        .rst(1'b0),
        .d(links[u].flit),
        .q(link_flit[u])
    );
    link_stages #(
        .Width ($bits(reply_t)),
        .Stages(Stages)
    ) i_reply (
        .clk,
        .rst(1'b0),
        .d(reply[u]),
        .q(links[u].reply)
    );
  end
  for (genvar s = Links; s < Slots; s++) begin : gen_none
    assign link_valid[s] = 1'b0;
    assign link_flit[s]  = '0;
  end

  map_host #(
      .Banks(Banks),
      .Rows (Rows)
  ) host (
      .clk,
      .rst,
      .cfg,
      .link_valid(link_valid[Units]),
      .link_flit(link_flit[Units]),
      .link_room(link_room[Units]),
      .reply_valid(reply_valid[Units]),
      .reply(reply[Units]),
      .define,
      .define_map,
      .define_as,
      .defining(defining != '0),
      .memory_failed,
      .seed_we,
      .seed_at,
      .seed
  );

  logic length_used;
  map_t length_map;
  length_t length;
  logic [Groups-1:0] out_valid, out_taken;
  logic [BankW-1:0] out_bank[Groups];
  errand_t out[Groups];
  logic [Banks-1:0] back_valid;
  result_t back[Banks];
  logic [Banks-1:0] back_pop[Groups];

  for (genvar g = 0; g < Groups; g++) begin : gen_group
    map_group #(
        .Banks(Banks),
        .Rows (Rows)
    ) i_group (
        .clk,
        .rst,
        .number(group_t'(g)),
        .link_valid(link_valid[g*PortsPerGroup+:PortsPerGroup]),
        .link_flit(link_flit[g*PortsPerGroup+:PortsPerGroup]),
        .link_room(link_room[g*PortsPerGroup+:PortsPerGroup]),
        .reply_valid(reply_valid[g*PortsPerGroup+:PortsPerGroup]),
        .reply(reply[g*PortsPerGroup+:PortsPerGroup]),
        .define,
        .define_map,
        .define_as,
        .length_used,
        .length_map,
        .length,
        .seed_we,
        .seed_at,
        .seed,
        .out_valid(out_valid[g]),
        .out_bank(out_bank[g]),
        .out(out[g]),
        .out_taken(out_taken[g]),
        .back_valid,
        .back,
        .back_pop(back_pop[g])
    );
  end

  logic [Banks-1:0] claim, claim_done;
  claim_t claim_what[Banks];
  logic claim_granted;
  map_ledger #(
      .Banks(Banks)
  ) ledger (
      .clk,
      .rst,
      .define,
      .define_map,
      .define_as,
      .claim,
      .what(claim_what),
      .done(claim_done),
      .granted(claim_granted),
      .length_used,
      .length_map,
      .length
  );

  // ---- the card's memory
  logic [Banks-1:0] line_write, line_read, line_taken, line_pop, line_written, coming, coming_pop;
  logic [Banks-1:0][$clog2(Rows/LineRows)-1:0] line;
  data_t line_row[Banks], coming_row;
  if (OnChip < Rows) begin : gen_memory
    map_memory #(
        .Banks(Banks),
        .Rows (Rows)
    ) i_memory (
        .clk,
        .rst,
        .line_write,
        .line_read,
        .line,
        .line_taken,
        .line_row,
        .line_pop,
        .line_written,
        .coming,
        .coming_row,
        .coming_pop,
        .memory,
        .failed(memory_failed)
    );
  end else begin : gen_no_memory
    assign {line_taken, line_pop, line_written, coming} = '0;
    assign coming_row = '0;
    assign memory_failed = 1'b0;
    axi_idle i_none (.link(memory));
  end

  logic [Groups-1:0] taken[Banks];
  for (genvar b = 0; b < Banks; b++) begin : gen_bank
    // A request's parts stay together.
    logic [Groups-1:0] wants, grant, grant_q, chosen;
    logic within_q, room, put, put_q, in_valid, in_pop, popped;
    errand_t one, one_q, in;

    for (genvar g = 0; g < Groups; g++) begin : gen_want
      assign wants[g] = out_valid[g] && out_bank[g] == BankW'(b);
    end
    rr_arbiter #(
        .N(Groups)
    ) i_pick (
        .clk,
        .rst,
        .req(wants),
        .accept(put && !within_q),
        .grant
    );
    assign chosen = within_q ? grant_q & wants : grant;
    assign put = chosen != '0 && room;
    assign taken[b] = room ? chosen : '0;
    always_comb begin
      one = '0;
      for (int unsigned g = 0; g < Groups; g++) if (chosen[g]) one |= out[g];
      popped = 1'b0;
      for (int unsigned g = 0; g < Groups; g++) popped |= back_pop[g][b];
    end
    always_ff @(posedge clk) begin
      one_q <= one;
      if (put) grant_q <= chosen;
      if (put) within_q <= !one.flit.last;
      put_q <= put;
      if (rst) begin
        within_q <= 1'b0;
        put_q <= 1'b0;
      end
    end
    fifo_dist #(
        .Width($bits(errand_t)),
        .Depth(32),
        .Room (2)
    ) i_queue (
        .clk,
        .rst,
        .push (put_q),
        .din  (one_q),
        .ready(room),
        .valid(in_valid),
        .pop  (in_pop),
        .dout (in),
        .level()
    );

    map_bank #(
        .Banks (Banks),
        .Rows  (Rows),
        .OnChip(OnChip)
    ) i_bank (
        .clk,
        .rst,
        .number(BankW'(b)),
        .define,
        .define_map,
        .define_as,
        .defining(defining[b]),
        .in_valid,
        .in,
        .in_pop,
        .out_valid(back_valid[b]),
        .out(back[b]),
        .out_pop(popped),
        .claim(claim[b]),
        .claim_what(claim_what[b]),
        .claim_done(claim_done[b]),
        .claim_granted,
        .line_write(line_write[b]),
        .line_read(line_read[b]),
        .line(line[b]),
        .line_taken(line_taken[b]),
        .line_row(line_row[b]),
        .line_pop(line_pop[b]),
        .line_written(line_written[b]),
        .coming(coming[b]),
        .coming_row,
        .coming_pop(coming_pop[b])
    );
  end
  always_comb begin
    out_taken = '0;
    for (int unsigned b = 0; b < Banks; b++) out_taken |= taken[b];
  end
endmodule

`default_nettype wire
