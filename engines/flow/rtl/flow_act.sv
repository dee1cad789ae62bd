// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// The end of an element: it applies the row to a frame's headers, metadata and verdict.
//
//   flow_core's A                                                             │ register
//     results, operands, registers, constants ──> value of each write ──┐      │
//     row ──> write of each sink ───────────────────────────────────────┴─┐    │
//     vector ──> tags ──> swaps ──────────────────────────────────────────┴──> │ ──> out
//
// One cycle, the eighth of an element; a frame each cycle. Values are those of the frame on entry, so tags, swaps and
// writes need not wait for each other: the sources of a bit are its old value, the bits that tags and swaps move to it,
// and one write for each of the few fields that contain it.
module flow_act
  import fields_pkg::*;
  import flow_pkg::*;
  import edit_pkg::*;
(
    input wire logic clk,
    input wire logic rst,

    // A frame leaves flow_core. All of these belong to the cycle in which it does (A).
    input wire logic                   in_valid,
    input wire logic                   takes,    // it is this element's turn: `in.next` is its number
    input wire logic                   fits,     // a row was taken (out_fits)
    input wire vector_t                in,       // as it came into the element
    // the row's edit of the frame: read by out_row from distributed memory, in A
    input wire edit_t                  row,
    input wire word_t [Functions-1:0]  results,  // one register behind r_results_q
    input wire word_t [Operands-1:0]   x,        // out_x
    input wire word_t [Registers-1:0]  r,        // out_r, out_g: as the row leaves them
    input wire word_t [Globals-1:0]    g,

    output logic    out_valid,
    output vector_t out
);
  localparam logic [15:0] TypeIp = 16'h0800;
  localparam logic [15:0] TypeIp6 = 16'h86DD;
  localparam logic [15:0] TypeVlan = 16'h8100;
  localparam logic [15:0] TypeProvider = 16'h88A8;
  localparam logic [15:0] TypeMpls = 16'h8847;

  // Three levels of 6 inputs and less, in the order of the sources' numbers.
  function automatic word_t value_of(from_t from, word_t constant, word_t [Functions-1:0] of_results, word_t [Globals+Operands-1:0] of_rest,
                                     word_t [Registers-1:0] of_flow);
    unique case (from[5:4])
      2'd0: return of_results[from[3:0]];
      2'd1: return of_rest[from[3:0]];
      2'd2: return of_flow[from[1:0]];
      2'd3: return constant;
    endcase
  endfunction

  // A frame that passes, or that matches no row, has no edits. The edits are suppressed where they are few bits, not
  // where they meet the frame.
  wire acts = takes && fits;
  edit_t edit;
  always_comb begin
    edit = row;
    if (!acts) {edit.popped, edit.pushed, edit.label_out, edit.label_in} = '0;
    if (!acts) {edit.swap_eth, edit.swap_ip, edit.swap_ip6, edit.swap_l4} = '0;
  end

  // ---- tags
  typedef struct packed {
    logic [15:0] kind;
    logic [15:0] tci;
  } tag_t;

  typedef struct packed {
    logic [47:0] dst;
    logic [47:0] src;
    tag_t outer;
    tag_t inner;
    logic [15:0] rest;
  } eth_t;

  eth_t eth_in, eth_tagged;
  logic [1:0] own, left;
  headers_t with_tags;

  always_comb begin
    logic is_ip;
    tag_t stays;  // the first of the frame's own
    is_ip = in.headers.parts[PART_IP];
    eth_in = eth_t'(in.headers.eth);
    own = {in.headers.parts[PART_VLAN2], in.headers.parts[PART_VLAN] && !in.headers.parts[PART_VLAN2]};
    left = own - edit.popped + edit.pushed;
    stays = edit.popped == 2'd0 ? eth_in.outer : eth_in.inner;

    // Behind the last tag these bytes mean nothing, and the control information of new ones is written.
    eth_tagged = eth_in;
    eth_tagged.outer = stays;
    if (edit.pushed != 2'd0) eth_tagged.outer.kind = left == 2'd2 ? TypeProvider : TypeVlan;
    if (edit.pushed == 2'd1) eth_tagged.inner = stays;
    if (edit.pushed == 2'd2) eth_tagged.inner.kind = TypeVlan;

    with_tags = in.headers;
    with_tags.eth = eth_tagged;
    with_tags.parts[PART_VLAN] = left != 2'd0;
    with_tags.parts[PART_VLAN2] = left == 2'd2;
    with_tags.parts[PART_MPLS] = edit.label_in || (in.headers.parts[PART_MPLS] && !edit.label_out);
    if (edit.label_out) with_tags.kind = is_ip ? TypeIp : TypeIp6;
    if (edit.label_in) begin
      with_tags.kind = TypeMpls;
      // Traffic class 0, the last label.
      with_tags.mpls[11:0] =
          {3'd0, 1'b1, is_ip ? in.headers[IP_TTL_AT+:IP_TTL_BITS] : in.headers[IP6_HOPS_AT+:IP6_HOPS_BITS]};
    end
  end

  // ---- swaps
  headers_t swapped;
  always_comb begin
    swapped = with_tags;
    if (edit.swap_eth) begin
      swapped[ETH_SRC_AT+:ETH_SRC_BITS] = with_tags[ETH_DST_AT+:ETH_DST_BITS];
      swapped[ETH_DST_AT+:ETH_DST_BITS] = with_tags[ETH_SRC_AT+:ETH_SRC_BITS];
    end
    if (edit.swap_ip) begin
      swapped[IP_SRC_AT+:IP_SRC_BITS] = with_tags[IP_DST_AT+:IP_DST_BITS];
      swapped[IP_DST_AT+:IP_DST_BITS] = with_tags[IP_SRC_AT+:IP_SRC_BITS];
    end
    if (edit.swap_ip6) begin
      swapped[IP6_SRC_AT+:IP6_SRC_BITS] = with_tags[IP6_DST_AT+:IP6_DST_BITS];
      swapped[IP6_DST_AT+:IP6_DST_BITS] = with_tags[IP6_SRC_AT+:IP6_SRC_BITS];
    end
    if (edit.swap_l4) begin
      swapped[L4_SPORT_AT+:L4_SPORT_BITS] = with_tags[L4_DPORT_AT+:L4_DPORT_BITS];
      swapped[L4_DPORT_AT+:L4_DPORT_BITS] = with_tags[L4_SPORT_AT+:L4_SPORT_BITS];
    end
  end

  // ---- writes: the value of each, and for each sink which one goes there
  word_t [Writes-1:0] values;
  for (genvar w = 0; w < Writes; w++) begin : gen_write
    assign values[w] = value_of(edit.writes[w].from, edit.writes[w].constant, results, {g, x}, r);
  end

  localparam int unsigned AllSinks = SINKS + 2;  // with metadata
  logic [AllSinks-1:0][Writes-1:0] names;
  logic [AllSinks-1:0] writes;
  word_t [AllSinks-1:0] written;
  for (genvar s = 0; s < AllSinks; s++) begin : gen_sink
    logic [$clog2(Writes)-1:0] which;
    always_comb begin
      which = '0;
      for (int unsigned w = 0; w < Writes; w++) begin
        names[s][w] = edit.writes[w].sink == sink_t'(s);
        if (names[s][w]) which |= ($clog2(Writes))'(w);
      end
    end
    assign writes[s] = acts && names[s] != '0;
    assign written[s] = values[which];
  end

  headers_t edited;
  always_comb begin
    edited = swapped;
    for (int unsigned s = 0; s < SINKS; s++)
      for (int unsigned b = 0; b < SINK_BITS[s]; b++) if (writes[s]) edited[SINK_AT[s]+b] = written[s][b];
  end

  // ---- what leaves
  wire word_t port_value = value_of(edit.port_from, word_t'(edit.port), results, {g, x}, r);
  // The verdict has eight bits for a port. NoPort, which no card has, represents every number that does not fit.
  wire penstock_pkg::port_t port = port_value[31:8] == '0 ? port_value[7:0] : NoPort;
  wire [2:0] more = 3'(edit.pushed) - 3'(edit.popped) + 3'(edit.label_in) - 3'(edit.label_out);  // tags of 4 bytes

  always_ff @(posedge clk) begin
    out_valid <= in_valid;
    out <= in;
    out.headers <= edited;
    if (writes[SINK_META0]) out.meta0 <= written[SINK_META0];
    if (writes[SINK_META1]) out.meta1 <= written[SINK_META1];
    out.len <= in.len + {{11{more[2]}}, more, 2'b0};
    if (takes && !fits) out.next <= in.next + 1'b1;
    if (acts) begin
      out.verdict <= '{edit.kind, edit.opposite ? in.port ^ 8'd1 : port};
      out.next <= edit.next;
    end
    if (rst) out_valid <= 1'b0;
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk) begin
    if (!rst && in_valid && acts) begin
      // A row whose edits cannot be carried out does not fit.
      assert (edit.popped <= own && 3'(own) - 3'(edit.popped) + 3'(edit.pushed) <= 3'd2)
        else $error("%m: tags that there cannot be");
      assert (!edit.label_out || in.headers.parts[PART_MPLS]) else $error("%m: no label");
      assert (!edit.label_in || edit.label_out || !in.headers.parts[PART_MPLS]) else $error("%m: a second label");
      assert (!(edit.label_in || edit.label_out) || in.headers.parts[PART_NET])
        else $error("%m: a label before no packet");
      assert (edit.next > in.next) else $error("%m: frames go one way");
      for (int unsigned s = 0; s < AllSinks; s++) assert ($onehot0(names[s]))
        else $error("%m: sink %0d is written twice", s);
      for (int unsigned w = 0; w < Writes; w++)
      assert (edit.writes[w].sink < sink_t'(AllSinks) || edit.writes[w].sink == NoSink) else $error("%m: no such sink");
    end
  end
`endif
endmodule

`default_nettype wire
