// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// Finds the headers of frames, as lib/headers does in native code: the headers that are present, and the bytes of each
// layer (fields_pkg.sv).
//
//   beats ─> JOIN ─> TAGS ─> ALIGN ─> NET ──> PASS ×4 ──> PLACE ─> GROUP ─> WORD ──> CHECK ──> GROUP ─> WORD ─> headers
//            two     how     IP to a  IP's    one of      where    16 bytes, then    TCP, UDP  the same for
//            beats   many    fixed    header  IPv6's      the next 4 bytes of        and ICMP  the payload
//            are one         place            extensions  header   header's place
//                                             in each     begins
//
// One frame a cycle; the headers follow 14 cycles after the last beat that is parsed: the second, or the only one. The
// parser listens to a stream that goes elsewhere, so it never stalls it; beats may have gaps between them.
//
// Short paths: places are counted in units at which a header can begin (4 bytes after IP's, 8 between extensions), and
// two steps move the frame's bytes by them, so a byte has at most seven sources in a cycle. For the walk along the
// extensions, each of the nine places where an extension may begin has been decoded before: a step only selects a
// place's words.
module header_parser
  import penstock_pkg::*;
  import fields_pkg::*, headers_pkg::*;
(
    input wire logic clk,
    input wire logic rst,

    // a beat passes
    input wire logic             valid,
    input wire logic [DataW-1:0] data,
    input wire logic             last,
    input wire len_t             len,   // of the frame; only with its first beat
    input wire tail_t            tail,  // only with a beat that is a whole frame

    output logic     out_valid,
    output headers_t out,
    output layout_t  layout
);
  localparam int unsigned Window = 128;  // bytes of a frame that are seen
  localparam int unsigned Behind = Window - 14;  // of these, behind Ethernet's header
  localparam int unsigned Places = 9;  // where extensions begin: 8 bytes each, behind IPv6's header, within the window
  localparam int unsigned Steps = 4;  // extensions that are passed

  localparam logic [15:0] TypeIp = 16'h0800;
  localparam logic [15:0] TypeIp6 = 16'h86DD;
  localparam logic [15:0] TypeVlan = 16'h8100;
  localparam logic [15:0] TypeProvider = 16'h88A8;
  localparam logic [15:0] TypeMpls = 16'h8847;

  localparam logic [7:0] HopByHop = 8'd0;
  localparam logic [7:0] Icmp = 8'd1;
  localparam logic [7:0] Tcp = 8'd6;
  localparam logic [7:0] Udp = 8'd17;
  localparam logic [7:0] Routing = 8'd43;
  localparam logic [7:0] Fragment = 8'd44;
  localparam logic [7:0] Icmp6 = 8'd58;
  localparam logic [7:0] Destination = 8'd60;

  function automatic logic is_tag(logic [15:0] kind);
    return kind == TypeVlan || kind == TypeProvider;
  endfunction

  function automatic logic is_extension(logic [7:0] proto);
    return proto == HopByHop || proto == Routing || proto == Fragment || proto == Destination;
  endfunction

  // ---- JOIN: the first two beats side by side
  typedef enum logic [1:0] {
    First,
    Second,
    Rest
  } beat_e;

  typedef struct packed {
    logic valid;
    len_t len;
    logic [Window-1:0][7:0] bytes;
  } join_t;

  beat_e beat_q;
  logic [DataW-1:0] first_q;
  len_t len_q;
  join_t join_q;

  always_ff @(posedge clk) begin
    if (valid && beat_q == First) begin
      first_q <= data;
      len_q   <= len;
    end
    join_q.valid <= valid && (beat_q == Second || (beat_q == First && last));
    join_q.len   <= beat_q == First ? len : len_q;
    join_q.bytes <= beat_q == First ? {DataW'(tail.data), data} : {data, first_q};
    if (valid) beat_q <= last ? First : beat_q == First ? Second : Rest;
    if (rst) begin
      beat_q       <= First;
      join_q.valid <= 1'b0;
    end
  end

  // ---- TAGS: how many, and what is behind them
  typedef struct packed {
    logic                   valid;
    logic                   vlan;
    logic                   vlan2;
    logic                   typed;  // the type behind the tags is there
    logic [15:0]            kind;
    logic                   mpls;
    logic [1:0]             tags;   // VLAN tags
    logic [1:0]             shift;  // tags and label: words of 4 bytes between Ethernet's header and IP's
    len_t                   len;
    logic [Window-1:0][7:0] bytes;
  } tags_t;

  tags_t tags_d, tags_q;

  always_comb begin
    logic [2:0][15:0] kinds;
    logic [1:0] tag;
    for (int unsigned k = 0; k < 3; k++) kinds[k] = {join_q.bytes[12+4*k], join_q.bytes[13+4*k]};
    // A tag is present if the type after it is.
    for (int unsigned k = 0; k < 2; k++) tag[k] = is_tag(kinds[k]) && join_q.len >= len_t'(18 + 4 * k);
    tags_d.valid = join_q.valid;
    tags_d.vlan  = tag[0];
    tags_d.vlan2 = tag[0] && tag[1];
    tags_d.tags  = tags_d.vlan2 ? 2'd2 : 2'(tag[0]);
    tags_d.kind  = kinds[tags_d.tags];
    // Behind a damaged tag there is no type; a third tag is a type like any other.
    tags_d.typed = tags_d.vlan2 || !is_tag(tags_d.kind);
    tags_d.mpls  = tags_d.kind == TypeMpls && join_q.len >= len_t'(18) + len_t'({tags_d.tags, 2'b0});
    tags_d.shift = tags_d.tags + 2'(tags_d.mpls);
    tags_d.len   = join_q.len;
    tags_d.bytes = join_q.bytes;
  end

  always_ff @(posedge clk) begin
    tags_q <= tags_d;
    if (rst) tags_q.valid <= 1'b0;
  end

  // ---- ALIGN: the bytes after tags and label begin at byte 0
  typedef struct packed {
    logic             vlan;
    logic             vlan2;
    logic             typed;
    logic             mpls;
    logic [21:0][7:0] eth;
    logic [15:0]      kind;
    logic [31:0]      entry;  // of the label
  } link_t;

  typedef struct packed {
    logic                   valid;
    link_t                  link;
    logic [1:0]             shift;
    logic [16:0]            left;    // bytes of the frame from here on; below 0 when topmost
    logic [16:0]            left_6;  // and behind IPv6's header
    logic [Behind-1:0][7:0] bytes;
  } align_t;

  align_t align_d, align_q;

  always_comb begin
    align_d.valid = tags_q.valid;
    align_d.link.vlan = tags_q.vlan;
    align_d.link.vlan2 = tags_q.vlan2;
    align_d.link.typed = tags_q.typed;
    align_d.link.mpls = tags_q.mpls;
    align_d.link.eth = tags_q.bytes[21:0];
    align_d.link.kind = tags_q.kind;
    for (int unsigned n = 0; n < 4; n++)
      align_d.link.entry[8*(3-n)+:8] = tags_q.bytes[7'(14+n)+7'({tags_q.tags, 2'b0})];
    align_d.shift = tags_q.shift;
    align_d.left = 17'(tags_q.len) - 17'd14 - 17'({tags_q.shift, 2'b0});
    align_d.left_6 = 17'(tags_q.len) - 17'd54 - 17'({tags_q.shift, 2'b0});
    align_d.bytes = tags_q.bytes[Window-1:14] >> {tags_q.shift, 5'b0};
  end

  always_ff @(posedge clk) begin
    align_q <= align_d;
    if (rst) align_q.valid <= 1'b0;
  end

  // ---- NET: IP's own header, and what each place says if an extension of IPv6 begins there
  typedef struct packed {
    logic                   valid;
    link_t                  link;
    logic [1:0]             shift;
    logic [3:0]             words;  // of 4 bytes, in IPv4's header
    logic [16:0]            size;   // bytes of the packet
    logic [Behind-1:0][7:0] bytes;
  } frame_t;

  typedef struct packed {
    logic [7:0] proto;          // what comes next
    logic [8:0] behind;         // its place, unless this is a fragment header: these have 8 bytes
    logic       behind_fits;    // that is not behind the end of the packet
    logic       seen;           // the first 8 bytes are
    logic       segments_left;  // of a routing header
    logic       later;          // of a fragment header: not the first
    logic       more;
  } extension_t;

  // The progress of the search.
  typedef struct packed {
    logic        ip;
    logic        ip6;
    logic        fragment;
    logic        later;   // a fragment, not the first
    logic        routed;
    logic        hidden;  // limits have ended the search
    logic        gone;    // limits or damage have
    logic [7:0]  proto;
    logic [8:0]  at;      // place of the next header of IPv6
    logic [12:0] blocks;  // of 8 bytes behind IPv6's own header
  } walk_t;

  // Behind NET, each PASS, PLACE, GROUP, WORD, CHECK, GROUP, WORD.
  frame_t [Steps+6:0] frame_q;
  walk_t [Steps+6:0] walk_q;
  extension_t [Steps-1:0][Places-1:0] extension_q;

  frame_t frame_d;
  walk_t net_d;
  extension_t [Places-1:0] extension_d;

  always_comb begin
    logic label;
    logic [15:0] total, payload, offset;
    logic [3:0] version;
    label = align_q.link.mpls && align_q.link.entry[8];
    version = align_q.bytes[0][7:4];
    total = {align_q.bytes[2], align_q.bytes[3]};
    payload = {align_q.bytes[4], align_q.bytes[5]};
    offset = {align_q.bytes[6], align_q.bytes[7]};

    frame_d.valid = align_q.valid;
    frame_d.link = align_q.link;
    frame_d.shift = align_q.shift;
    frame_d.words = align_q.bytes[0][3:0];
    frame_d.bytes = align_q.bytes;

    net_d = '0;
    net_d.ip = (label || align_q.link.kind == TypeIp) && version == 4'd4 && frame_d.words >= 4'd5 &&
        total >= 16'({frame_d.words, 2'b0}) && !align_q.left[16] && align_q.left[15:0] >= total;
    net_d.ip6 = (label || align_q.link.kind == TypeIp6) && version == 4'd6 && !align_q.left_6[16] && align_q.left_6[15:0] >= payload;
    net_d.later = net_d.ip && offset[12:0] != '0;
    net_d.fragment = net_d.later || (net_d.ip && offset[13]);
    net_d.proto = version == 4'd4 ? align_q.bytes[9] : align_q.bytes[6];
    net_d.blocks = payload[15:3];
    frame_d.size = version == 4'd4 ? 17'(total) : 17'(payload) + 17'd40;

    for (int unsigned n = 0; n < Places; n++) begin
      logic [7:0] length;
      logic [15:0] word;
      length = align_q.bytes[41+8*n];
      word = {align_q.bytes[42+8*n], align_q.bytes[43+8*n]};
      extension_d[n].proto = align_q.bytes[40+8*n];
      extension_d[n].behind = 9'(length) + 9'(n + 1);
      extension_d[n].behind_fits = net_d.blocks >= 13'(length) + 13'(n + 1);
      extension_d[n].seen = 5'(2 * n) <= 5'd16 - 5'(align_q.shift);
      extension_d[n].segments_left = word[7:0] != '0;
      extension_d[n].later = word[15:3] != '0;
      extension_d[n].more = word[0];
    end
  end

  // ---- PASS: one extension of IPv6
  function automatic walk_t pass(walk_t walk, extension_t [Places-1:0] extensions);
    walk_t passed;
    extension_t here;
    logic is_fragment;
    passed = walk;
    here = walk.at < 9'(Places) ? extensions[walk.at[3:0]] : '0;
    is_fragment = walk.proto == Fragment;
    if (walk.ip6 && !walk.gone && !walk.later && is_extension(walk.proto)) begin
      if (walk.blocks <= 13'(walk.at)) begin
        passed.gone = 1'b1;
      end else if (!here.seen) begin
        passed.gone   = 1'b1;
        passed.hidden = 1'b1;
      end else if (!is_fragment && !here.behind_fits) begin
        passed.gone = 1'b1;
      end else begin
        passed.proto    = here.proto;
        passed.at       = is_fragment ? walk.at + 9'd1 : here.behind;
        passed.later    = is_fragment && here.later;
        passed.fragment = walk.fragment || (is_fragment && (here.later || here.more));
        passed.routed   = walk.routed || (walk.proto == Routing && here.segments_left);
      end
    end
    return passed;
  endfunction

  // ---- PLACE: of the header behind IP, in words of 4 bytes
  typedef struct packed {
    logic        tcp;    // is looked for; from CHECK on, is there
    logic        udp;
    logic        icmp;
    logic [9:0]  at;     // words from IP's header to this one
    logic [16:0] size;   // bytes from here to the end of the packet
  } transport_t;

  walk_t place_walk;
  logic number_d;
  logic [Steps+6:Steps+1] number_q;  // the protocol behind IPv6's extensions is known
  transport_t place_d, place_q;

  always_comb begin
    walk_t so_far;
    logic looked;
    so_far = walk_q[Steps];
    place_walk = so_far;
    // The frame has more extensions than the parser passes. The next header of a later fragment may be one too.
    if (so_far.ip6 && !so_far.gone && !so_far.later && is_extension(so_far.proto)) begin
      place_walk.gone   = 1'b1;
      place_walk.hidden = 1'b1;
    end
    number_d = so_far.ip6 && !so_far.gone && !is_extension(so_far.proto);
    looked = (so_far.ip || number_d) && !so_far.later;
    place_d.tcp = looked && so_far.proto == Tcp;
    place_d.udp = looked && so_far.proto == Udp;
    place_d.icmp = looked && so_far.proto == (so_far.ip ? Icmp : Icmp6);
    place_d.at = so_far.ip ? 10'(frame_q[Steps].words) : {so_far.at, 1'b0} + 10'd10;
    place_d.size = frame_q[Steps].size - 17'({place_d.at, 2'b0});
  end

  // ---- GROUP, WORD: its first 20 bytes
  transport_t group_d, group_q, word_q;
  walk_t group_walk;
  logic [31:0][7:0] group_bytes_q;
  logic [19:0][7:0] word_bytes_q;

  logic [Behind-1:0][7:0] grouped;
  logic [31:0][7:0] worded;
  assign grouped = frame_q[Steps+1].bytes >> {place_q.at[4:2], 7'b0};
  assign worded = group_bytes_q >> {group_q.at[1:0], 5'b0};

  always_comb begin
    logic fits, seen;
    fits = place_q.size >= (place_q.tcp ? 17'd20 : 17'd8);
    seen = place_q.at <= (place_q.tcp ? 10'd23 : 10'd26) - 10'(frame_q[Steps+1].shift);
    group_d = place_q;
    group_d.tcp = place_q.tcp && fits && seen;
    group_d.udp = place_q.udp && fits && seen;
    group_d.icmp = place_q.icmp && fits && seen;
    group_walk = walk_q[Steps+1];
    if ((place_q.tcp || place_q.udp || place_q.icmp) && fits && !seen) group_walk.hidden = 1'b1;
  end

  always_ff @(posedge clk) begin
    place_q       <= place_d;
    group_q       <= group_d;
    group_bytes_q <= grouped[31:0];
    word_q        <= group_q;
    word_bytes_q  <= worded[19:0];
  end

  // ---- CHECK: of TCP's and UDP's lengths; where their payload begins
  transport_t check_d, check_q, spread_q, last_q;
  logic [19:0][7:0] check_bytes_q, spread_bytes_q, last_bytes_q;
  logic [5:0] payload_d, payload_q;  // words from IP's header
  logic [16:0] length_d, length_q;   // bytes

  always_comb begin
    logic [3:0] words;
    logic [16:0] datagram;
    words = word_bytes_q[12][7:4];
    datagram = 17'({word_bytes_q[4], word_bytes_q[5]});
    check_d = word_q;
    check_d.tcp = word_q.tcp && words >= 4'd5 && word_q.size >= 17'({words, 2'b0});
    // A first fragment has the length of the whole datagram.
    check_d.udp = word_q.udp && datagram >= 17'd8 && (word_q.size >= datagram || walk_q[Steps+3].fragment);
    payload_d = 6'(word_q.at) + (word_q.tcp ? 6'(words) : 6'd2);
    if (word_q.tcp) length_d = word_q.size - 17'({words, 2'b0});
    else length_d = (word_q.size < datagram ? word_q.size : datagram) - 17'd8;
  end

  // ---- GROUP, WORD: the first 32 bytes of the payload, as far as they are seen
  logic [15:0] spread_length_q, last_length_q;
  logic [1:0] spread_at_q;
  layout_t spread_layout_q, last_layout_q;
  logic [43:0][7:0] spread_payload_q;
  logic [31:0][7:0] last_payload_q;
  logic [7:0] there_d, spread_there_q, last_there_q;
  logic [Behind-1:0][7:0] payload_grouped;
  logic [43:0][7:0] payload_worded;
  assign payload_grouped = frame_q[Steps+4].bytes >> {payload_q[4:2], 7'b0};
  assign payload_worded = spread_payload_q >> {spread_at_q, 5'b0};

  always_comb begin
    logic signed [6:0] seen;
    seen = 7'sd28 - 7'(frame_q[Steps+4].shift) - 7'(payload_q);
    for (int signed n = 0; n < 8; n++)
      there_d[n] = (check_q.tcp || check_q.udp) && length_q[16:2] > 15'(n) && seen > 7'(n);
  end

  always_ff @(posedge clk) begin
    check_q          <= check_d;
    check_bytes_q    <= word_bytes_q;
    payload_q        <= payload_d;
    length_q         <= length_d;
    spread_q         <= check_q;
    spread_bytes_q   <= check_bytes_q;
    spread_length_q  <= length_q[15:0];
    spread_at_q      <= payload_q[1:0];
    spread_payload_q <= payload_grouped[43:0];
    spread_there_q   <= there_d;
    // If a header is present, its place fits; IP's is known from its beginning.
    spread_layout_q  <= '{
        net: frame_q[Steps+4].shift,
        l4: 5'(check_q.at) + 5'(frame_q[Steps+4].shift),
        data: 5'(payload_q) + 5'(frame_q[Steps+4].shift)
    };
    last_layout_q    <= spread_layout_q;
    last_q           <= spread_q;
    last_bytes_q     <= spread_bytes_q;
    last_length_q    <= spread_length_q;
    last_payload_q   <= payload_worded[31:0];
    last_there_q     <= spread_there_q;
  end

  // ---- what goes along
  always_ff @(posedge clk) begin
    frame_q <= {frame_q[Steps+5:0], frame_d};
    extension_q <= {extension_q[Steps-2:0], extension_d};
    walk_q <= {walk_q[Steps+5:0], net_d};
    for (int unsigned n = 0; n < Steps; n++) walk_q[n+1] <= pass(walk_q[n], extension_q[n]);
    walk_q[Steps+1] <= place_walk;
    walk_q[Steps+2] <= group_walk;
    number_q <= {number_q[Steps+5:Steps+1], number_d};
    if (rst) for (int unsigned n = 0; n <= Steps + 6; n++) frame_q[n].valid <= 1'b0;
  end

  // ---- the headers
  frame_t frame;
  walk_t walk;
  assign frame = frame_q[Steps+6];
  assign walk = walk_q[Steps+6];
  assign out_valid = frame.valid;
  assign layout = last_layout_q;

  always_comb begin
    out.parts = '0;
    out.parts[PART_ETH] = 1'b1;
    out.parts[PART_VLAN] = frame.link.vlan;
    out.parts[PART_VLAN2] = frame.link.vlan2;
    out.parts[PART_TYPE] = frame.link.typed;
    out.parts[PART_MPLS] = frame.link.mpls;
    out.parts[PART_IP] = walk.ip;
    out.parts[PART_IP6] = walk.ip6;
    out.parts[PART_NET] = walk.ip || walk.ip6;
    out.parts[PART_FRAGMENT] = walk.fragment;
    out.parts[PART_ROUTED] = walk.routed;
    out.parts[PART_SUMS] = (walk.ip || walk.ip6) && !walk.hidden;
    out.parts[PART_PROTO] = number_q[Steps+6];
    out.parts[PART_TCP] = last_q.tcp;
    out.parts[PART_UDP] = last_q.udp;
    out.parts[PART_ICMP] = last_q.icmp;
    out.parts[PART_L4] = last_q.tcp || last_q.udp;
    out.parts[PART_DATA_0+:8] = last_there_q;
    // The first byte is the topmost.
    for (int unsigned n = 0; n < 22; n++) out.eth[8*(21-n)+:8] = frame.link.eth[n];
    for (int unsigned n = 0; n < 40; n++) out.net[8*(39-n)+:8] = frame.bytes[n];
    for (int unsigned n = 0; n < 20; n++) out.l4[8*(19-n)+:8] = last_bytes_q[n];
    for (int unsigned n = 0; n < 32; n++) out.data[8*(31-n)+:8] = last_payload_q[n];
    out.kind = frame.link.kind;
    out.mpls = frame.link.entry;
    out.proto = walk.proto;
    out.tcp_len = last_length_q;
  end
endmodule

`default_nettype wire
