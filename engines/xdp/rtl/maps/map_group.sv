// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// Up to four links to the banks and back: requests are queued, their prefixes cut, their keys hashed; then they know
// their bank.
//
//   links ─> queues ─> one by one ─> map_prefixes ─> register ─┬─> queue ─────────────┬─> out
//     ^                                                        └─> map_hash ─> queue ─┘
//     └────────────────────────── map_longest <─ register <─ one of the banks
//
// Ten cycles from a link's register to `out`, a part a cycle; three back. A bank without room blocks later requests of
// this group, but not of the others.
module map_group
  import map_pkg::*;
  import maps_pkg::*;
#(
    parameter int unsigned Banks = 16,
    parameter int unsigned Rows  = 16384
) (
    input wire logic   clk,
    input wire logic   rst,
    input wire group_t number,

    input  wire logic [PortsPerGroup-1:0] link_valid,
    input  wire flit_t                    link_flit[PortsPerGroup],
    output logic [PortsPerGroup-1:0]      link_room,
    output logic [PortsPerGroup-1:0]      reply_valid,
    output reply_t                        reply[PortsPerGroup],

    input wire logic        define,
    input wire map_t        define_map,
    input wire descriptor_t define_as,
    input wire logic        length_used,
    input wire map_t        length_map,
    input wire length_t     length,
    input wire logic        seed_we,
    input wire logic [4:0]  seed_at,
    input wire logic [63:0] seed,

    output logic                     out_valid,
    output logic [$clog2(Banks)-1:0] out_bank,
    output errand_t                  out,
    input  wire logic                out_taken,

    input  wire logic [Banks-1:0] back_valid,
    input  wire result_t          back[Banks],
    output logic [Banks-1:0]      back_pop
);
  localparam int unsigned BankShift = $clog2(Rows) + 4;
  localparam int unsigned HashCycles = 5;

  // ---- one request after the other
  logic [PortsPerGroup-1:0] valid, pop, grant, grant_q, chosen, asks;
  logic [Maps-1:0] prefixes;
  flit_t flits[PortsPerGroup];
  for (genvar p = 0; p < PortsPerGroup; p++) begin : gen_link
    fifo_dist #(
        .Width($bits(flit_t)),
        .Depth(32),
        .Room (LinkRoom)
    ) i_queue (
        .clk,
        .rst,
        .push (link_valid[p]),
        .din  (link_flit[p]),
        .ready(link_room[p]),
        .valid(valid[p]),
        .pop  (pop[p]),
        .dout (flits[p]),
        .level()
    );
    // Found beside the choice among links, not behind it
    wire map_info_t info = flits[p].info;
    assign asks[p] = flits[p].op inside {OpLookup, OpUpdate, OpDelete} && prefixes[info.map];
  end

  logic within_q, pick_valid, pick_pop;
  flit_t pick;
  port_t pick_port;
  rr_arbiter #(
      .N(PortsPerGroup)
  ) i_pick (
      .clk,
      .rst,
      .req(valid),
      .accept(pick_pop && !within_q),
      .grant
  );
  assign chosen = within_q ? grant_q : grant;
  assign pick_valid = (chosen & valid) != '0;
  assign pop = pick_pop ? chosen : '0;
  always_comb begin
    pick = '0;
    pick_port = '0;
    for (int unsigned p = 0; p < PortsPerGroup; p++) begin
      if (chosen[p]) begin
        pick |= flits[p];
        pick_port |= port_t'(p);
      end
    end
  end
  always_ff @(posedge clk) begin
    if (pick_pop) grant_q <= chosen;
    if (pick_pop) within_q <= !pick.last;
    if (rst) within_q <= 1'b0;
  end

  // ---- prefixes. The output belongs to the link that was picked last.
  logic cut_valid, cut_ready;
  flit_t cut_part;
  port_t port_q;
  map_prefixes i_prefixes (
      .clk,
      .rst,
      .define,
      .define_map,
      .define_as,
      .length_used,
      .length_map,
      .length,
      .prefixes,
      .in_valid(pick_valid),
      .in(pick),
      .in_asks((chosen & asks) != '0),
      .in_pop(pick_pop),
      .out_valid(cut_valid),
      .out(cut_part),
      .out_ready(cut_ready)
  );

  logic part_valid_q;
  flit_t part_q;
  port_t part_port_q;
  logic [1:0] number_q;  // of the part in its key
  always_ff @(posedge clk) begin
    if (pick_pop) port_q <= pick_port;
    part_q <= cut_part;
    part_port_q <= pick_pop ? pick_port : port_q;
    if (part_valid_q) number_q <= part_q.last || part_q.key_end ? '0 : number_q + 1'b1;
    part_valid_q <= cut_valid && cut_ready;
    if (rst) begin
      part_valid_q <= 1'b0;
      number_q <= '0;
    end
  end

  // ---- hash, and what stands for it: of an access the bank of its address, of an array's element its number
  logic behind_key_q, hashed;
  logic [31:0] hash;
  logic [Maps-1:0] arrays_q;
  wire map_info_t part_info = part_q.info;
  wire access_info_t part_access = part_q.info;
  wire accesses = part_q.op inside {OpLoad, OpStore, OpAtomic, OpRows};
  typedef struct packed {
    logic        given;
    logic [31:0] value;
  } given_t;
  given_t given_q[HashCycles];

  always_ff @(posedge clk) begin
    if (part_valid_q) behind_key_q <= !part_q.last && (behind_key_q || part_q.key_end);
    if (rst) behind_key_q <= 1'b0;
  end

  always_ff @(posedge clk) begin
    if (define) arrays_q[define_map] <= define_as.kind == MapArray;
    given_q[0].given <= accesses || arrays_q[part_info.map];
    given_q[0].value <= accesses ? 32'(part_access.address >> BankShift) : part_q.data[3:0];
    for (int unsigned i = 1; i < HashCycles; i++) given_q[i] <= given_q[i-1];
  end

  map_hash i_hash (
      .clk,
      .rst,
      .seed_we,
      .seed_at,
      .seed,
      .valid(part_valid_q && !behind_key_q),
      .part(number_q),
      .key_end(part_q.key_end),
      .data(part_q.data),
      .done(hashed),
      .hash
  );

  logic flits_valid, routes_valid;
  flit_t flit;
  port_t port;
  logic [31:0] route;
  fifo_dist #(
      .Width($bits(flit_t) + $bits(port_t)),
      .Depth(32),
      .Room (3)
  ) i_flits (
      .clk,
      .rst,
      .push (part_valid_q),
      .din  ({part_port_q, part_q}),
      .ready(cut_ready),
      .valid(flits_valid),
      .pop  (out_taken),
      .dout ({port, flit}),
      .level()
  );
  fifo_dist #(
      .Width(32),
      .Depth(32)
  ) i_routes (
      .clk,
      .rst,
      .push (hashed),
      .din  (given_q[HashCycles-1].given ? given_q[HashCycles-1].value : hash),
      .ready(),
      .valid(routes_valid),
      .pop  (out_taken && flit.last),
      .dout (route),
      .level()
  );
  assign out_valid = flits_valid && routes_valid;
  assign out_bank = route[$clog2(Banks)-1:0];
  assign out = '{group: number, port: port, hash: route, flit: flit};

  // ---- back
  logic [Banks-1:0] wants;
  for (genvar b = 0; b < Banks; b++) begin : gen_back
    assign wants[b] = back_valid[b] && back[b].group == number;
  end
  rr_arbiter #(
      .N(Banks)
  ) i_back (
      .clk,
      .rst,
      .req(wants),
      .accept(1'b1),
      .grant(back_pop)
  );
  result_t came, came_q;
  logic came_valid_q, longest_valid;
  port_t longest_port;
  reply_t longest_reply;
  always_comb begin
    came = '0;
    for (int unsigned n = 0; n < Banks; n++) if (back_pop[n]) came |= back[n];
  end
  always_ff @(posedge clk) begin
    came_q <= came;
    came_valid_q <= wants != '0 && !rst;
  end
  map_longest longest (
      .clk,
      .rst,
      .in_valid(came_valid_q),
      .in(came_q),
      .out_valid(longest_valid),
      .out_port(longest_port),
      .out(longest_reply)
  );

  // The group announces a new map to the units; the host makes maps one by one, and an answer in the same cycle goes
  // first.
  logic shape_q;
  shape_t shape_value_q;
  wire shape_t shape = '{
      unused: '0,
      value_bytes: define_as.kind == MapNone || define_as.value_bytes > 16'(MaxValue) ? '0 : 9'(define_as.value_bytes),
      none: '0,
      key_bytes: define_as.kind == MapNone ? '0 : define_as.key_bytes,
      map: define_map
  };
  wire told = shape_q && !longest_valid;
  always_ff @(posedge clk) begin
    shape_q <= define || (shape_q && !told);
    if (define) shape_value_q <= shape;
    for (int unsigned p = 0; p < PortsPerGroup; p++) begin
      reply[p] <= told ? '{shape: 1'b1, ctx: '0, value: shape_value_q} : longest_reply;
      reply_valid[p] <= told || (longest_valid && longest_port == port_t'(p));
    end
    if (rst) begin
      shape_q <= 1'b0;
      reply_valid <= '0;
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk)
    if (!rst) begin
      assert (!within_q || $onehot(grant_q)) else $error("%m: the parts of a request come from several links");
      assert (!out_taken || out_valid) else $error("%m: a part is taken before its bank is known");
      assert ($onehot0(back_pop) && (back_pop & ~wants) == '0) else $error("%m: a result of another group is taken");
      assert (!define || !shape_q || told) else $error("%m: a map is made before the one before was announced");
    end
`endif
endmodule

`default_nettype wire
