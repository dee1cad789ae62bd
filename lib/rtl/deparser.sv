// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// Makes of a frame and of what its headers have become the frame that leaves, as edits in lib/headers do in native
// code.
//
//   frames, edit ─> TAKE ─> DIFFER ─> ADD ─> TOTAL ─> REPAIR ─> SHIFT ──> APPLY ──> HOLD ─> MOVE ──> queue ─> out
//                   beats   what has                  check-    layers'   changes   until   tags in  2
//                   and a   changed,                  sums      changes   to their  the     and out
//                   step    its sums                            by words  places    next
//                   more                                                  in it     beat
//
// One beat a cycle, also when each is a frame; a frame that grows over the end of its last beat takes a cycle more. A
// beat and the edit of its frame go side by side, and nothing on the way ever stops: beats are taken while the queue
// behind has room. A beat leaves 11 cycles after it was taken, unless the next one of its frame is late.
//
// The deparser does not write whole layers over the frame. It compares the headers on entry with those on exit and
// inverts the frame's bits where they differ. Absent layers therefore need no mask, IPv4's header may show bytes of
// TCP's, and checksums (RFC 1624) are sums over all halfwords that they may cover: an unchanged halfword adds 0xFFFF,
// which is 0. The frame is changed in its place on entry; then the bytes after tags and label move by -3 to 3 words,
// and Ethernet's header is written again before them.
//
// Behind Ethernet's header of 14 bytes layers begin at words of 4 bytes, so when all is counted from two bytes before
// the frame on, words have even places in its beats: byte 14 is word 4, byte 62, the last of a beat, begins word 16. A
// group is four words.
module deparser
  import penstock_pkg::*, fields_pkg::*, headers_pkg::*;
(
    input wire logic clk,
    input wire logic rst,

    frame_if.snk      frames,
    input wire tail_t tail,    // with the beat of `frames`

    // of the next frame; taken with its first beat. With VerdictDrop the frame ends here.
    input  wire logic  edit_valid,
    input  wire edit_t edit,
    output logic       edit_ready,

    frame_if.src     out,
    output tail_t    out_tail,
    output verdict_t out_verdict
);
  localparam int unsigned Reach = 12;  // bytes that a frame moves by at most: two tags and a label
  localparam int unsigned LinkBytes = EthBytes + Reach;
  localparam int unsigned AddressBytes = 12;
  localparam int unsigned NetBytes = $bits(edit.came.net) / 8;
  localparam int unsigned L4Bytes = $bits(edit.came.l4) / 8;
  localparam int unsigned DataBytes = $bits(edit.came.data) / 8;
  localparam int unsigned Stages = 8;  // registers between a step's beginning and the queue

  typedef logic [15:0] half_t;
  typedef logic [16:0] pair_t;  // a halfword that leaves minus the one that came
  typedef logic [22:0] sum_t;   // of 40 pairs and a checksum
  typedef logic [2:0] move_t;   // words to the back; signed

  function automatic logic [1:0] shims(headers_t headers);
    return 2'(headers.parts[PART_VLAN]) + 2'(headers.parts[PART_VLAN2]) + 2'(headers.parts[PART_MPLS]);
  endfunction

  // Whether a frame has an odd number of beats, which changes by one at most. `is_short`: the frame entered with less
  // than 128 bytes, so a frame that is or becomes folded has its length in these bits.
  function automatic logic is_odd(logic is_short, logic [6:0] len);
    return (is_short && is_folded(len_t'(len))) || (len[6] ^ (len[5:0] != '0));
  endfunction

  // ---- TAKE: a beat, and with the first one what becomes of the frame
  typedef struct packed {
    frame_meta_t meta;  // as it leaves
    tail_t       tail;
    edit_t       edit;
    move_t       move;
    logic        drop;
    logic        grows;    // by a beat
    logic        shrinks;
  } frame_t;

  logic starts_q;  // the next beat is a first one
  logic valid0_q, first0_q, second0_q, last0_q, flush_q;
  logic [DataW-1:0] data0_q;
  frame_t frame0_d, frame0_q;
  logic room, ready0, take, go, pop;

  assign ready0 = !valid0_q || pop;
  assign take = frames.valid && frames.ready;
  assign frames.ready = ready0 && (!starts_q || edit_valid);
  assign edit_ready = ready0 && starts_q && frames.valid;

  // A step is a beat or, after the last beat of a frame that grows, the bytes pushed out of it.
  assign go = valid0_q && room;
  assign pop = go && (flush_q || !last0_q || !frame0_q.grows);

  always_comb begin
    logic is_short, other;
    frame0_d = '{meta: frames.meta, tail: tail, edit: edit, default: '0};
    frame0_d.move = {1'b0, shims(edit.leaves)} - {1'b0, edit.layout.net};
    frame0_d.meta.mark = edit.mark;
    frame0_d.drop = edit.verdict.kind == VerdictDrop;
    frame0_d.meta.len = frames.meta.len + {{11{frame0_d.move[2]}}, frame0_d.move, 2'b0};
    is_short = frames.meta.len[15:7] == '0;
    other = is_odd(is_short, frames.meta.len[6:0]) != is_odd(is_short, frame0_d.meta.len[6:0]);
    frame0_d.grows = other && !frame0_d.move[2] && !frame0_d.drop;
    frame0_d.shrinks = other && frame0_d.move[2];
  end

  always_ff @(posedge clk) begin
    if (take) begin
      starts_q  <= frames.last;
      data0_q   <= frames.data;
      first0_q  <= starts_q;
      second0_q <= first0_q && !starts_q;
      last0_q   <= frames.last;
      if (starts_q) frame0_q <= frame0_d;
    end
    valid0_q <= take || (valid0_q && !pop);
    if (go) flush_q <= !pop;
    if (rst) begin
      starts_q <= 1'b1;
      valid0_q <= 1'b0;
      flush_q  <= 1'b0;
    end
  end

  // The data of a step, up to APPLY; its frame's metadata and tail come with each of its steps.
  typedef struct packed {
    logic             valid;
    logic             first;
    logic             second;
    logic             last;
    logic             shrinks;
    move_t            move;
    frame_meta_t      meta;
    verdict_t         verdict;
    tail_t            tail;
    logic [DataW-1:0] data;
  } step_t;

  step_t step_d;
  step_t [5:1] step_q;

  always_comb begin
    step_d.valid = go && !frame0_q.drop;
    step_d.first = first0_q && !flush_q;
    step_d.second = flush_q ? first0_q : second0_q;
    step_d.last = last0_q && (flush_q || !frame0_q.grows);
    step_d.shrinks = frame0_q.shrinks;
    step_d.move = frame0_q.move;
    step_d.meta = frame0_q.meta;
    step_d.verdict = frame0_q.edit.verdict;
    step_d.tail = '{valid: frame0_q.tail.valid && !frame0_q.grows, data: frame0_q.tail.data};
    // A folded frame that grows unfolds.
    step_d.data = data0_q;
    if (flush_q) step_d.data[TailW-1:0] = frame0_q.tail.data;
  end

  always_ff @(posedge clk) begin
    step_q <= {step_q[4:1], step_d};
    if (rst) for (int unsigned n = 1; n <= 5; n++) step_q[n].valid <= 1'b0;
  end

  // ---- DIFFER: the changed bits, in the frame's order of bytes, and their sums
  typedef struct packed {
    logic [PARTS-1:0]          parts;
    layout_t                   layout;
    logic [LinkBytes-1:0][7:0] link;    // Ethernet's header with tags and label, as it leaves
    logic [1:0]                shims;   // tags and label in it
    logic [NetBytes-1:0][7:0]  net;     // these three: bits that are not as they came
    logic [L4Bytes-1:0][7:0]   l4;
    logic [DataBytes-1:0][7:0] data;
    half_t                     ip_sum;  // checksums as they came
    half_t                     l4_sum;
  } patch_t;

  patch_t patch_d;
  patch_t [4:1] patch_q;

  function automatic pair_t difference(half_t came, half_t leaves);
    return pair_t'(leaves) + pair_t'(half_t'(~came));
  endfunction

  always_comb begin
    headers_t came, leaves;
    logic [5:0][7:0] behind_tags;
    logic [4:0] tags;  // bytes
    came = frame0_q.edit.came;
    leaves = frame0_q.edit.leaves;
    patch_d.parts = came.parts;
    patch_d.layout = frame0_q.edit.layout;
    patch_d.shims = shims(leaves);
    tags = 5'({2'(leaves.parts[PART_VLAN]) + 2'(leaves.parts[PART_VLAN2]), 2'b0});
    for (int unsigned n = 0; n < 2; n++) behind_tags[n] = leaves.kind[8*(1-n)+:8];
    for (int unsigned n = 0; n < 4; n++) behind_tags[2+n] = leaves.mpls[8*(3-n)+:8];
    for (int unsigned n = 0; n < LinkBytes; n++) patch_d.link[n] = n < 22 ? leaves.eth[8*(21-n)+:8] : '0;
    for (int unsigned n = 0; n < 6; n++) patch_d.link[5'(AddressBytes+n)+tags] = behind_tags[n];
    for (int unsigned n = 0; n < NetBytes; n++)
      patch_d.net[n] = came.net[8*(NetBytes-1-n)+:8] ^ leaves.net[8*(NetBytes-1-n)+:8];
    for (int unsigned n = 0; n < L4Bytes; n++)
      patch_d.l4[n] = came.l4[8*(L4Bytes-1-n)+:8] ^ leaves.l4[8*(L4Bytes-1-n)+:8];
    for (int unsigned n = 0; n < DataBytes; n++)
      patch_d.data[n] = came.data[8*(DataBytes-1-n)+:8] ^ leaves.data[8*(DataBytes-1-n)+:8];
    patch_d.ip_sum = came.net[16*(19-5)+:16];
    patch_d.l4_sum = came.parts[PART_TCP] ? came.l4[16*(9-8)+:16] : came.parts[PART_UDP] ? came.l4[16*(9-3)+:16] : came.l4[16*(9-1)+:16];
  end

  always_ff @(posedge clk) patch_q <= {patch_q[3:1], patch_d};

  // Halfwords of IP's header that checksums cover: IPv4's its own 0 (type of service), 2 (identification), 4 (time to
  // live) and 6 to 9 (addresses), those behind it 6 to 9, or of IPv6 4 to 11 (source) and, unless there are segments
  // left, 12 to 19.
  sum_t own_q, ttl_q, near_q, source_q, total_own_q;
  sum_t [1:0] dest_q, header_q;
  sum_t [3:0] payload_q;

  pair_t [19:0] net;
  pair_t [7:0] l4;
  pair_t [15:0] data;

  always_comb begin
    headers_t came, leaves;
    came = frame0_q.edit.came;
    leaves = frame0_q.edit.leaves;
    for (int unsigned n = 0; n < 20; n++) net[n] = difference(came.net[16*(19-n)+:16], leaves.net[16*(19-n)+:16]);
    for (int unsigned n = 0; n < 8; n++) l4[n] = difference(came.l4[16*(9-n)+:16], leaves.l4[16*(9-n)+:16]);
    for (int unsigned n = 0; n < 16; n++) data[n] = difference(came.data[16*(15-n)+:16], leaves.data[16*(15-n)+:16]);
  end

  always_ff @(posedge clk) begin
    own_q    <= sum_t'(net[0]) + sum_t'(net[2]);
    ttl_q    <= sum_t'(net[4]);
    near_q   <= sum_t'(net[6]) + sum_t'(net[7]) + sum_t'(net[8]) + sum_t'(net[9]);
    source_q <= sum_t'(net[5]) + sum_t'(net[10]) + sum_t'(net[11]);
    for (int unsigned n = 0; n < 2; n++) begin
      dest_q[n]   <= sum_t'(net[12+4*n]) + sum_t'(net[13+4*n]) + sum_t'(net[14+4*n]) + sum_t'(net[15+4*n]);
      header_q[n] <= sum_t'(l4[4*n]) + sum_t'(l4[4*n+1]) + sum_t'(l4[4*n+2]) + sum_t'(l4[4*n+3]);
    end
    for (int unsigned n = 0; n < 4; n++)
      payload_q[n] <= sum_t'(data[4*n]) + sum_t'(data[4*n+1]) + sum_t'(data[4*n+2]) + sum_t'(data[4*n+3]);
  end

  // ---- ADD, TOTAL
  sum_t add_own_q, addresses_q, headers_q, payloads_q, total_l4_q;
  logic covers_d;  // the checksum behind IP covers addresses: ICMP's over IPv4 does not

  assign covers_d = !(patch_q[1].parts[PART_IP] && patch_q[1].parts[PART_ICMP]);

  always_ff @(posedge clk) begin
    add_own_q   <= own_q + ttl_q + near_q + sum_t'(half_t'(~patch_q[1].ip_sum));
    addresses_q <= !covers_d ? '0 : near_q + source_q + (patch_q[1].parts[PART_IP6] ? ttl_q : '0) +
        (patch_q[1].parts[PART_ROUTED] ? '0 : dest_q[0] + dest_q[1]);
    headers_q   <= header_q[0] + header_q[1] + sum_t'(half_t'(~patch_q[1].l4_sum));
    payloads_q  <= payload_q[0] + payload_q[1] + payload_q[2] + payload_q[3];
    total_own_q <= add_own_q;
    total_l4_q  <= addresses_q + headers_q + payloads_q;
  end

  // ---- REPAIR: bits of the checksums that change
  half_t ip_flip_q, l4_flip_q;

  // 0 has two forms. UDP writes the other one, because 0 means no checksum; a checksum that had the other form keeps
  // it.
  function automatic half_t repaired(sum_t sum, half_t came, logic udp);
    logic [16:0] once;
    half_t checksum;
    once = 17'(sum[15:0]) + 17'(sum[22:16]);
    checksum = ~(once[15:0] + half_t'(once[16]));
    if (udp && came == '0) return '0;
    return checksum == '0 && (udp || came == '1) ? '1 : checksum;
  endfunction

  always_ff @(posedge clk) begin
    ip_flip_q <= patch_q[3].ip_sum ^ repaired(total_own_q, patch_q[3].ip_sum, 1'b0);
    l4_flip_q <= patch_q[3].l4_sum ^ repaired(total_l4_q, patch_q[3].l4_sum, patch_q[3].parts[PART_UDP]);
  end

  // ---- SHIFT: changes to their place in a group of words
  localparam int unsigned Groups = 6;  // of which a beat and a tail have a part
  localparam int unsigned Before = 2;  // groups before them in which a layer may begin

  logic [NetBytes+11:0][7:0] shifted_net_q;
  logic [31:0][7:0] shifted_l4_q;
  logic [47:0][7:0] shifted_data_q;
  // By the group in which the layer begins
  logic [Before+Groups-1:0] l4_at_q, data_at_q;
  logic [LinkBytes-1:0][7:0] link5_q;
  logic [1:0] shims5_q;

  // The group, counted from the step's beat on; none if the beat is after the second.
  function automatic logic [Before+Groups-1:0] group_of(logic [2:0] words, step_t on);
    logic [Before+Groups-1:0] at;
    for (int unsigned n = 0; n < Before + Groups; n++)
      at[n] = (on.first && 32'(words) + 1 + Before == n) || (on.second && 32'(words) + 1 + Before == n + 4);
    return at;
  endfunction

  patch_t patch;

  always_comb begin
    patch = patch_q[4];
    if (patch.parts[PART_IP]) {patch.net[10], patch.net[11]} = ip_flip_q;
    if (patch.parts[PART_TCP]) {patch.l4[16], patch.l4[17]} = l4_flip_q;
    if (patch.parts[PART_UDP]) {patch.l4[6], patch.l4[7]} = l4_flip_q;
    if (patch.parts[PART_ICMP]) {patch.l4[2], patch.l4[3]} = l4_flip_q;
  end

  always_ff @(posedge clk) begin
    shifted_net_q  <= {96'b0, patch.net} << {patch.layout.net, 5'b0};
    shifted_l4_q   <= {96'b0, patch.l4} << {patch.layout.l4[1:0], 5'b0};
    shifted_data_q <= {128'b0, patch.data} << {patch.layout.data[1:0], 5'b0};
    l4_at_q        <= group_of(patch.layout.l4[4:2], step_q[4]);
    data_at_q      <= group_of(patch.layout.data[4:2], step_q[4]);
    link5_q        <= patch.link;
    shims5_q       <= patch.shims;
  end

  // ---- APPLY: changes to the beat, and to the tail of a folded frame
  localparam int unsigned GroupBytes = 16;
  localparam int unsigned Start = 2;  // bytes of the first word that lie before the beat

  logic [Groups*GroupBytes-1:0][7:0] change;
  step_t apply_q;
  logic [LinkBytes-1:0][7:0] link6_q;
  logic [1:0] shims6_q;

  always_comb begin
    change = '0;
    // IP begins in word 4 to 7.
    if (step_q[5].first) change[GroupBytes+:NetBytes+12] = shifted_net_q;
    if (step_q[5].second) change[3:0] = shifted_net_q[48+:4];
    for (int unsigned g = 0; g < Groups; g++) begin
      for (int unsigned part = 0; part < 2; part++)
        if (l4_at_q[Before+g-part]) change[GroupBytes*g+:GroupBytes] ^= shifted_l4_q[GroupBytes*part+:GroupBytes];
      for (int unsigned part = 0; part < 3; part++)
        if (data_at_q[Before+g-part]) change[GroupBytes*g+:GroupBytes] ^= shifted_data_q[GroupBytes*part+:GroupBytes];
    end
  end

  always_ff @(posedge clk) begin
    apply_q           <= step_q[5];
    apply_q.data      <= step_q[5].data ^ change[Start+:BeatBytes];
    apply_q.tail.data <= step_q[5].tail.data ^ change[Start+BeatBytes+:TailBytes];
    link6_q           <= link5_q;
    shims6_q          <= shims5_q;
    if (rst) apply_q.valid <= 1'b0;
  end

  // ---- HOLD: a beat until the next one of its frame is there
  step_t hold_q;
  logic [Reach-1:0][7:0] passed_q;  // the last bytes of the beat before
  logic [LinkBytes-1:0][7:0] link7_q;
  logic [3:0] is_link_q;            // Ethernet's header, and each word behind it
  logic emit, ends;

  // The last beat of a frame that shrinks only gives its bytes.
  assign ends = hold_q.last || (apply_q.last && apply_q.shrinks);
  assign emit = hold_q.valid && (hold_q.last || apply_q.valid);

  always_ff @(posedge clk) begin
    if (apply_q.valid) begin
      hold_q   <= apply_q;
      passed_q <= hold_q.data[DataW-1-:8*Reach];
      link7_q  <= link6_q;
      for (int unsigned n = 0; n < 4; n++) is_link_q[n] <= apply_q.first && 32'(shims6_q) >= n;
    end
    hold_q.valid <= apply_q.valid ? !(apply_q.last && apply_q.shrinks) : hold_q.valid && !emit;
    if (rst) hold_q.valid <= 1'b0;
  end

  // ---- MOVE: by words, in five parts, each with a copy of what decides
  localparam int unsigned Parts = (BeatBytes + TailBytes) / GroupBytes;

  logic [TailBytes+Reach-1:0][7:0] follows;  // bytes behind the beat
  logic [Reach+BeatBytes+TailBytes+Reach-1:0][7:0] around;
  logic [BeatBytes+TailBytes-1:0][7:0] moved, moved_q;
  logic moved_valid_q, moved_last_q;
  logic moved_folded_q;
  frame_meta_t moved_meta_q;
  verdict_t moved_verdict_q;

  assign follows = hold_q.tail.valid ? {96'b0, hold_q.tail.data} : apply_q.data[8*(TailBytes+Reach)-1:0];
  assign around = {follows, hold_q.data, passed_q};

  for (genvar p = 0; p < Parts; p++) begin : gen_part
    localparam int unsigned PartFirst = GroupBytes * p;
    logic [2:0] back_q;  // words that what is wanted lies behind the beginning of `around`
    logic [GroupBytes+2*Reach-1:0][7:0] window;
    logic [GroupBytes-1:0][7:0] wanted;

    reg_copy #(
        .Width(3)
    ) i_back (
        .clk,
        .load(apply_q.valid),
        .d(3'd3 - apply_q.move),
        .q(back_q)
    );

    assign window = around[PartFirst+:GroupBytes+2*Reach];
    always_comb begin
      wanted = '0;
      for (int unsigned n = 0; n <= 2 * Reach / 4; n++) if (32'(back_q) == n) wanted = window[4*n+:GroupBytes];
      for (int unsigned n = PartFirst; n < PartFirst + GroupBytes && n < LinkBytes; n++)
        if (is_link_q[n<EthBytes?0 : (n-EthBytes)/4+1]) wanted[n-PartFirst] = link7_q[n];
    end
    assign moved[PartFirst+:GroupBytes] = wanted;
  end

  always_ff @(posedge clk) begin
    moved_valid_q  <= emit;
    moved_last_q   <= ends;
    moved_folded_q <= is_folded(hold_q.meta.len);
    moved_meta_q   <= hold_q.meta;
    moved_verdict_q <= hold_q.verdict;
    moved_q        <= moved;
    if (rst) moved_valid_q <= 1'b0;
  end

  // ---- the queue
  typedef struct packed {
    frame_meta_t meta;
    verdict_t verdict;
    logic last;
    tail_t tail;
    logic [DataW-1:0] data;
  } beat_tail_t;

  beat_tail_t head;

  fifo_dist #(
      .Width($bits(beat_tail_t)),
      .Room (Stages + 1)
  ) i_out (
      .clk,
      .rst,
      .push (moved_valid_q),
      .din  ({moved_meta_q, moved_verdict_q, moved_last_q, moved_folded_q, moved_q}),
      .ready(room),
      .valid(out.valid),
      .pop  (out.ready),
      .dout (head),
      .level()
  );

  assign out.data = head.data;
  assign out.last = head.last;
  assign out.meta = head.meta;
  assign out_tail = head.tail;
  assign out_verdict = head.verdict;

`ifndef SYNTHESIS
  always_ff @(posedge clk)
    if (!rst && take && starts_q) begin
      assert (edit.layout.net == shims(edit.came)) else $error("%m: places of another frame");
      assert (edit.came.parts[PARTS-1:PART_IP] == edit.leaves.parts[PARTS-1:PART_IP])
        else $error("%m: parts come or go");
      assert (edit.verdict.kind == VerdictDrop || edit.came.parts[PART_NET] ||
              edit.came.net == edit.leaves.net) else $error("%m: no IP has changed");
    end
`endif
endmodule

`default_nettype wire
