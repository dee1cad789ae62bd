// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// A port's way into the engine: stores its frames until they can be searched, and finds the part of each to search.
//
//   frames ─┬─> store (Depth beats) ────────────────────────────────────> bodies
//           └─> header_parser ─> classify ─> queue of requests ─────────> requests, one a frame
//
// One beat a cycle. A request comes 18 cycles after its frame's second beat. The store stalls its own port when it is
// full.
module ids_parse
  import penstock_pkg::*, fields_pkg::*, headers_pkg::*, ids_pkg::*;
#(
    parameter int unsigned Depth = 512
) (
    input wire logic clk,
    input wire logic rst,

    input wire logic       enable,  // CONTROL search
    input wire logic [6:0] tell,    // TELL
    input wire tunnel_t [Tunnels-1:0] tunnels,

    frame_if.snk         frames,
    input wire tail_t    tail,
    input wire verdict_t verdict,

    output logic  body_valid,
    input  wire logic body_pop,
    output body_t body,

    output logic     request_valid,
    input  wire logic request_pop,
    output request_t request
);
  localparam int unsigned LevelW = $clog2(Depth) + 1;
  localparam logic [7:0] Tcp = 8'd6, Udp = 8'd17;
  localparam logic [15:0] TypeIp = 16'h0800, TypeIp6 = 16'h86DD, TypeVlan = 16'h8100, TypeProvider = 16'h88A8;

  // ---- store
  logic [LevelW-1:0] level_q;
  logic ready_q, starts_q, take;

  assign frames.ready = ready_q;
  assign take = frames.valid && ready_q;

  always_ff @(posedge clk) begin
    if (take) starts_q <= frames.last;
    level_q <= level_q + LevelW'(take) - LevelW'(body_valid && body_pop);
    // One beat may be taken before this is seen.
    ready_q <= level_q < LevelW'(Depth - 1);
    if (rst) begin
      starts_q <= 1'b1;
      level_q  <= '0;
      ready_q  <= 1'b0;
    end
  end

  body_t body_in;
  assign body_in = '{meta: frames.meta, verdict: verdict, tail: tail, last: frames.last, data: frames.data};

  fifo_block #(
      .Width($bits(body_t)),
      .Depth(Depth)
  ) i_store (
      .clk,
      .rst,
      .push (take),
      .din  (body_in),
      .valid(body_valid),
      .pop  (body_pop),
      .dout (body)
  );

  // ---- headers
  logic parsed;
  headers_t h;
  layout_t layout;

  header_parser i_parser (
      .clk,
      .rst,
      .valid(take),
      .data(frames.data),
      .last(frames.last),
      .len(frames.meta.len),
      .tail(tail),
      .out_valid(parsed),
      .out(h),
      .layout
  );

  len_t len;
  tenant_t tenant;
  fifo_dist #(
      .Width($bits(len_t) + $bits(tenant_t))
  ) i_meta (
      .clk,
      .rst,
      .push (take && starts_q),
      .din  ({frames.meta.len, frames.meta.tenant}),
      .ready(),
      .valid(),
      .pop  (parsed),
      .dout ({len, tenant}),
      .level()
  );

  // ---- classify
  logic [31:0] number_q;
  request_t made;

  always_comb begin
    logic net, fragment, tcp, udp, known, swap, carries;
    logic [7:0] proto;
    logic [1:0][127:0] addresses;
    logic [1:0][15:0] ports;
    logic [6:0] classes;
    net = h.parts[PART_NET];
    fragment = h.parts[PART_FRAGMENT];
    tcp = h.parts[PART_TCP] && !fragment;
    udp = h.parts[PART_UDP] && !fragment;
    proto = h.proto;
    // The header after IP is found, or is not a searched one.
    known = h.parts[PART_SUMS] && (h.parts[PART_IP] || h.parts[PART_PROTO]) && (tcp || udp || (proto != Tcp && proto != Udp));

    made = '0;
    made.number = number_q;
    made.len = len;
    made.seq = h.l4[127:96];
    made.syn = tcp && h.l4[49];
    made.length = h.tcp_len;
    made.start = len_t'(14) + (len_t'(layout.l4) << 2) + (tcp ? len_t'(h.l4[63:60]) << 2 : len_t'(8));
    made.search = (tcp || udp) && made.length != '0;
    made.lookup = tcp && (made.search || made.syn);

    made.reasons.fragment = net && fragment;
    if (!net) begin
      // A third VLAN tag or a label that leads to no IP may hide anything.
      made.reasons.headers = h.parts[PART_MPLS] || (h.kind inside {TypeIp, TypeIp6, TypeVlan, TypeProvider});
    end else if (!fragment) begin
      made.reasons.headers = !known;
    end
    classes[0] = tcp && made.search;
    classes[1] = tcp && !made.search;
    classes[2] = udp;
    classes[3] = h.parts[PART_ICMP] && !fragment;
    classes[4] = net && !tcp && !udp && !h.parts[PART_ICMP];
    classes[5] = !net;
    classes[6] = tcp && {h.l4[50], h.l4[49], h.l4[48]} != '0;  // RST, SYN, FIN
    ports = {h.l4[143:128], h.l4[159:144]};
    carries = 1'b0;
    for (int unsigned n = 0; n < Tunnels; n++)
      carries |= (tunnels[n].to && ports[1] == tunnels[n].number) || (tunnels[n].from && ports[0] == tunnels[n].number);
    made.reasons.class_wanted = (classes & tell) != '0 || (udp && carries);

    if (h.parts[PART_IP]) addresses = {96'b0, h.net[191:160], 96'b0, h.net[223:192]};
    else addresses = {h.net[127:0], h.net[255:128]};
    swap = {addresses[1], ports[1]} < {addresses[0], ports[0]};
    made.direction = swap;
    made.key.tenant = tenant;
    made.key.ip6 = h.parts[PART_IP6];
    made.key.addresses = swap ? {addresses[0], addresses[1]} : addresses;
    made.key.ports = swap ? {ports[0], ports[1]} : ports;

    if (!enable) begin
      made.search  = 1'b0;
      made.lookup  = 1'b0;
      made.reasons = '0;
    end
  end

  // The hash of the flow, in a cycle of its own: the CRC of its whole key. A CRC is linear, and gives flows in a row
  // unequal shares of the buckets; carries of a sum behind it make them equal.
  logic made_q, hashed_q;
  request_t request_q, request_hash_q;
  logic [31:0] hash;

  always_comb begin
    logic [8:0][31:0] key_words;
    key_words = {request_q.key.ports, request_q.key.addresses};
    hash = 32'(request_q.key.tenant);
    for (int unsigned n = 0; n < 9; n++) hash = crc(hash ^ key_words[n]);
  end

  always_ff @(posedge clk) begin
    made_q <= parsed;
    hashed_q <= made_q;
    if (parsed) request_q <= made;
    if (parsed) number_q <= number_q + 1'b1;
    request_hash_q <= request_q;
    request_hash_q.hash <= hash;
    if (rst) begin
      made_q   <= 1'b0;
      hashed_q <= 1'b0;
      number_q <= '0;
    end
  end

  request_t request_mixed;
  always_comb begin
    request_mixed = request_hash_q;
    request_mixed.hash = request_hash_q.hash + {request_hash_q.hash[16:0], request_hash_q.hash[31:17]};
  end

  // Each frame has a beat in the store while its request waits.
  fifo_block #(
      .Width($bits(request_t)),
      .Depth(Depth)
  ) i_requests (
      .clk,
      .rst,
      .push (hashed_q),
      .din  (request_mixed),
      .valid(request_valid),
      .pop  (request_pop),
      .dout (request)
  );
endmodule

`default_nettype wire
