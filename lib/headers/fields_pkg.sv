// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
// Written by tools/fields.py from lib/headers/fields.toml; change that.

// The output of the parser of frames (lib/rtl/header_parser.sv).
package fields_pkg;
  // Bits of `parts`
  localparam int unsigned PARTS = 32'd24;
  localparam int unsigned PART_VLAN = 32'd0;
  localparam int unsigned PART_VLAN2 = 32'd1;
  localparam int unsigned PART_MPLS = 32'd2;
  localparam int unsigned PART_IP = 32'd3;
  localparam int unsigned PART_IP6 = 32'd4;
  localparam int unsigned PART_TCP = 32'd5;
  localparam int unsigned PART_UDP = 32'd6;
  localparam int unsigned PART_ICMP = 32'd7;
  localparam int unsigned PART_FRAGMENT = 32'd8;
  localparam int unsigned PART_ETH = 32'd9;
  localparam int unsigned PART_TYPE = 32'd10;
  localparam int unsigned PART_NET = 32'd11;
  localparam int unsigned PART_PROTO = 32'd12;
  localparam int unsigned PART_L4 = 32'd13;
  localparam int unsigned PART_SUMS = 32'd14;
  localparam int unsigned PART_ROUTED = 32'd15;
  localparam int unsigned PART_DATA_0 = 32'd16;
  localparam int unsigned PART_DATA_1 = 32'd17;
  localparam int unsigned PART_DATA_2 = 32'd18;
  localparam int unsigned PART_DATA_3 = 32'd19;
  localparam int unsigned PART_DATA_4 = 32'd20;
  localparam int unsigned PART_DATA_5 = 32'd21;
  localparam int unsigned PART_DATA_6 = 32'd22;
  localparam int unsigned PART_DATA_7 = 32'd23;

  // Bytes in the order of the frame, the first one topmost
  typedef struct packed {
    logic [PARTS-1:0] parts;
    logic [175:0] eth;  // the frame's first byte
    logic [15:0] kind;  // its type, behind the VLAN tags
    logic [31:0] mpls;  // the label's entry
    logic [319:0] net;  // the IPv4 or IPv6 header
    logic [7:0] proto;  // the number of the protocol behind IPv4, or behind IPv6 and its extension headers
    logic [159:0] l4;  // the header behind that
    logic [255:0] data;  // the payload of TCP or UDP
    logic [15:0] tcp_len;  // TCP's payload in bytes
  } headers_t;

  // Fields: the lowest bit in a headers_t, the number of bits, and the part that makes them valid
  localparam int unsigned ETH_DST_AT = 32'd936;
  localparam int unsigned ETH_DST_BITS = 32'd48;
  localparam int unsigned ETH_DST_PART = 32'd9;
  localparam int unsigned ETH_SRC_AT = 32'd888;
  localparam int unsigned ETH_SRC_BITS = 32'd48;
  localparam int unsigned ETH_SRC_PART = 32'd9;
  localparam int unsigned ETH_TYPE_AT = 32'd792;
  localparam int unsigned ETH_TYPE_BITS = 32'd16;
  localparam int unsigned ETH_TYPE_PART = 32'd10;
  localparam int unsigned VLAN_ID_AT = 32'd856;
  localparam int unsigned VLAN_ID_BITS = 32'd12;
  localparam int unsigned VLAN_ID_PART = 32'd0;
  localparam int unsigned VLAN_PCP_AT = 32'd869;
  localparam int unsigned VLAN_PCP_BITS = 32'd3;
  localparam int unsigned VLAN_PCP_PART = 32'd0;
  localparam int unsigned VLAN_TCI_AT = 32'd856;
  localparam int unsigned VLAN_TCI_BITS = 32'd16;
  localparam int unsigned VLAN_TCI_PART = 32'd0;
  localparam int unsigned VLAN2_ID_AT = 32'd824;
  localparam int unsigned VLAN2_ID_BITS = 32'd12;
  localparam int unsigned VLAN2_ID_PART = 32'd1;
  localparam int unsigned VLAN2_PCP_AT = 32'd837;
  localparam int unsigned VLAN2_PCP_BITS = 32'd3;
  localparam int unsigned VLAN2_PCP_PART = 32'd1;
  localparam int unsigned VLAN2_TCI_AT = 32'd824;
  localparam int unsigned VLAN2_TCI_BITS = 32'd16;
  localparam int unsigned VLAN2_TCI_PART = 32'd1;
  localparam int unsigned MPLS_LABEL_AT = 32'd772;
  localparam int unsigned MPLS_LABEL_BITS = 32'd20;
  localparam int unsigned MPLS_LABEL_PART = 32'd2;
  localparam int unsigned MPLS_TC_AT = 32'd769;
  localparam int unsigned MPLS_TC_BITS = 32'd3;
  localparam int unsigned MPLS_TC_PART = 32'd2;
  localparam int unsigned MPLS_TTL_AT = 32'd760;
  localparam int unsigned MPLS_TTL_BITS = 32'd8;
  localparam int unsigned MPLS_TTL_PART = 32'd2;
  localparam int unsigned IP_SRC_AT = 32'd632;
  localparam int unsigned IP_SRC_BITS = 32'd32;
  localparam int unsigned IP_SRC_PART = 32'd3;
  localparam int unsigned IP_DST_AT = 32'd600;
  localparam int unsigned IP_DST_BITS = 32'd32;
  localparam int unsigned IP_DST_PART = 32'd3;
  localparam int unsigned IP_PROTO_AT = 32'd680;
  localparam int unsigned IP_PROTO_BITS = 32'd8;
  localparam int unsigned IP_PROTO_PART = 32'd3;
  localparam int unsigned IP_TOS_AT = 32'd744;
  localparam int unsigned IP_TOS_BITS = 32'd8;
  localparam int unsigned IP_TOS_PART = 32'd3;
  localparam int unsigned IP_TTL_AT = 32'd688;
  localparam int unsigned IP_TTL_BITS = 32'd8;
  localparam int unsigned IP_TTL_PART = 32'd3;
  localparam int unsigned IP_LEN_AT = 32'd728;
  localparam int unsigned IP_LEN_BITS = 32'd16;
  localparam int unsigned IP_LEN_PART = 32'd3;
  localparam int unsigned IP_ID_AT = 32'd712;
  localparam int unsigned IP_ID_BITS = 32'd16;
  localparam int unsigned IP_ID_PART = 32'd3;
  localparam int unsigned IP_FRAG_AT = 32'd696;
  localparam int unsigned IP_FRAG_BITS = 32'd16;
  localparam int unsigned IP_FRAG_PART = 32'd3;
  localparam int unsigned IP6_SRC_AT = 32'd568;
  localparam int unsigned IP6_SRC_BITS = 32'd128;
  localparam int unsigned IP6_SRC_PART = 32'd4;
  localparam int unsigned IP6_DST_AT = 32'd440;
  localparam int unsigned IP6_DST_BITS = 32'd128;
  localparam int unsigned IP6_DST_PART = 32'd4;
  localparam int unsigned IP6_PROTO_AT = 32'd432;
  localparam int unsigned IP6_PROTO_BITS = 32'd8;
  localparam int unsigned IP6_PROTO_PART = 32'd12;
  localparam int unsigned IP6_CLASS_AT = 32'd748;
  localparam int unsigned IP6_CLASS_BITS = 32'd8;
  localparam int unsigned IP6_CLASS_PART = 32'd4;
  localparam int unsigned IP6_LABEL_AT = 32'd728;
  localparam int unsigned IP6_LABEL_BITS = 32'd20;
  localparam int unsigned IP6_LABEL_PART = 32'd4;
  localparam int unsigned IP6_HOPS_AT = 32'd696;
  localparam int unsigned IP6_HOPS_BITS = 32'd8;
  localparam int unsigned IP6_HOPS_PART = 32'd4;
  localparam int unsigned IP6_LEN_AT = 32'd712;
  localparam int unsigned IP6_LEN_BITS = 32'd16;
  localparam int unsigned IP6_LEN_PART = 32'd4;
  localparam int unsigned TCP_SPORT_AT = 32'd416;
  localparam int unsigned TCP_SPORT_BITS = 32'd16;
  localparam int unsigned TCP_SPORT_PART = 32'd5;
  localparam int unsigned TCP_DPORT_AT = 32'd400;
  localparam int unsigned TCP_DPORT_BITS = 32'd16;
  localparam int unsigned TCP_DPORT_PART = 32'd5;
  localparam int unsigned TCP_SEQ_AT = 32'd368;
  localparam int unsigned TCP_SEQ_BITS = 32'd32;
  localparam int unsigned TCP_SEQ_PART = 32'd5;
  localparam int unsigned TCP_ACK_AT = 32'd336;
  localparam int unsigned TCP_ACK_BITS = 32'd32;
  localparam int unsigned TCP_ACK_PART = 32'd5;
  localparam int unsigned TCP_FLAGS_AT = 32'd320;
  localparam int unsigned TCP_FLAGS_BITS = 32'd8;
  localparam int unsigned TCP_FLAGS_PART = 32'd5;
  localparam int unsigned TCP_WINDOW_AT = 32'd304;
  localparam int unsigned TCP_WINDOW_BITS = 32'd16;
  localparam int unsigned TCP_WINDOW_PART = 32'd5;
  localparam int unsigned TCP_LEN_AT = 32'd0;
  localparam int unsigned TCP_LEN_BITS = 32'd16;
  localparam int unsigned TCP_LEN_PART = 32'd5;
  localparam int unsigned TCP_SYN_AT = 32'd321;
  localparam int unsigned TCP_SYN_BITS = 32'd1;
  localparam int unsigned TCP_SYN_PART = 32'd5;
  localparam int unsigned TCP_ACK_FLAG_AT = 32'd324;
  localparam int unsigned TCP_ACK_FLAG_BITS = 32'd1;
  localparam int unsigned TCP_ACK_FLAG_PART = 32'd5;
  localparam int unsigned TCP_FIN_AT = 32'd320;
  localparam int unsigned TCP_FIN_BITS = 32'd1;
  localparam int unsigned TCP_FIN_PART = 32'd5;
  localparam int unsigned TCP_RST_AT = 32'd322;
  localparam int unsigned TCP_RST_BITS = 32'd1;
  localparam int unsigned TCP_RST_PART = 32'd5;
  localparam int unsigned UDP_SPORT_AT = 32'd416;
  localparam int unsigned UDP_SPORT_BITS = 32'd16;
  localparam int unsigned UDP_SPORT_PART = 32'd6;
  localparam int unsigned UDP_DPORT_AT = 32'd400;
  localparam int unsigned UDP_DPORT_BITS = 32'd16;
  localparam int unsigned UDP_DPORT_PART = 32'd6;
  localparam int unsigned UDP_LEN_AT = 32'd384;
  localparam int unsigned UDP_LEN_BITS = 32'd16;
  localparam int unsigned UDP_LEN_PART = 32'd6;
  localparam int unsigned ICMP_TYPE_AT = 32'd424;
  localparam int unsigned ICMP_TYPE_BITS = 32'd8;
  localparam int unsigned ICMP_TYPE_PART = 32'd7;
  localparam int unsigned ICMP_CODE_AT = 32'd416;
  localparam int unsigned ICMP_CODE_BITS = 32'd8;
  localparam int unsigned ICMP_CODE_PART = 32'd7;
  localparam int unsigned L4_SPORT_AT = 32'd416;
  localparam int unsigned L4_SPORT_BITS = 32'd16;
  localparam int unsigned L4_SPORT_PART = 32'd13;
  localparam int unsigned L4_DPORT_AT = 32'd400;
  localparam int unsigned L4_DPORT_BITS = 32'd16;
  localparam int unsigned L4_DPORT_PART = 32'd13;
  localparam int unsigned L4_PROTO_AT = 32'd432;
  localparam int unsigned L4_PROTO_BITS = 32'd8;
  localparam int unsigned L4_PROTO_PART = 32'd13;
  localparam int unsigned DATA_0_AT = 32'd240;
  localparam int unsigned DATA_0_BITS = 32'd32;
  localparam int unsigned DATA_0_PART = 32'd16;
  localparam int unsigned DATA_1_AT = 32'd208;
  localparam int unsigned DATA_1_BITS = 32'd32;
  localparam int unsigned DATA_1_PART = 32'd17;
  localparam int unsigned DATA_2_AT = 32'd176;
  localparam int unsigned DATA_2_BITS = 32'd32;
  localparam int unsigned DATA_2_PART = 32'd18;
  localparam int unsigned DATA_3_AT = 32'd144;
  localparam int unsigned DATA_3_BITS = 32'd32;
  localparam int unsigned DATA_3_PART = 32'd19;
  localparam int unsigned DATA_4_AT = 32'd112;
  localparam int unsigned DATA_4_BITS = 32'd32;
  localparam int unsigned DATA_4_PART = 32'd20;
  localparam int unsigned DATA_5_AT = 32'd80;
  localparam int unsigned DATA_5_BITS = 32'd32;
  localparam int unsigned DATA_5_PART = 32'd21;
  localparam int unsigned DATA_6_AT = 32'd48;
  localparam int unsigned DATA_6_BITS = 32'd32;
  localparam int unsigned DATA_6_PART = 32'd22;
  localparam int unsigned DATA_7_AT = 32'd16;
  localparam int unsigned DATA_7_BITS = 32'd32;
  localparam int unsigned DATA_7_PART = 32'd23;

  // Words of fields, by number, a field's lowest first; fields in one place share words. Number 0 is no word
  localparam int unsigned WORDS = 32'd63;
  // Words of more than 16 bits
  localparam logic [WORDS-1:0] WIDE = 63'h7f80189fe06402f8;
  // Words of metadata, which are not in the frame
  localparam int unsigned WORD_PORT = 32'd1;
  localparam int unsigned WORD_LEN = 32'd2;
  localparam int unsigned WORD_TIME = 32'd3;
  localparam int unsigned WORD_HASH = 32'd4;
  localparam int unsigned WORD_META0 = 32'd5;
  localparam int unsigned WORD_META1 = 32'd6;

  // All other words; they are valid if their part is present
  function automatic logic [WORDS-1:0][31:0] words_of(headers_t headers);
    words_of = '0;
    words_of[7] = 32'(headers[ETH_DST_AT+:32]);
    words_of[8] = 32'(headers[ETH_DST_AT+32+:16]);
    words_of[9] = 32'(headers[ETH_SRC_AT+:32]);
    words_of[10] = 32'(headers[ETH_SRC_AT+32+:16]);
    words_of[11] = 32'(headers[ETH_TYPE_AT+:16]);
    words_of[12] = 32'(headers[VLAN_ID_AT+:12]);
    words_of[13] = 32'(headers[VLAN_PCP_AT+:3]);
    words_of[14] = 32'(headers[VLAN_TCI_AT+:16]);
    words_of[15] = 32'(headers[VLAN2_ID_AT+:12]);
    words_of[16] = 32'(headers[VLAN2_PCP_AT+:3]);
    words_of[17] = 32'(headers[VLAN2_TCI_AT+:16]);
    words_of[18] = 32'(headers[MPLS_LABEL_AT+:20]);
    words_of[19] = 32'(headers[MPLS_TC_AT+:3]);
    words_of[20] = 32'(headers[MPLS_TTL_AT+:8]);
    words_of[21] = 32'(headers[IP_SRC_AT+:32]);
    words_of[22] = 32'(headers[IP_DST_AT+:32]);
    words_of[23] = 32'(headers[IP_PROTO_AT+:8]);
    words_of[24] = 32'(headers[IP_TOS_AT+:8]);
    words_of[25] = 32'(headers[IP_TTL_AT+:8]);
    words_of[26] = 32'(headers[IP_LEN_AT+:16]);
    words_of[27] = 32'(headers[IP_ID_AT+:16]);
    words_of[28] = 32'(headers[IP_FRAG_AT+:16]);
    words_of[29] = 32'(headers[IP6_SRC_AT+:32]);
    words_of[30] = 32'(headers[IP6_SRC_AT+32+:32]);
    words_of[31] = 32'(headers[IP6_SRC_AT+64+:32]);
    words_of[32] = 32'(headers[IP6_SRC_AT+96+:32]);
    words_of[33] = 32'(headers[IP6_DST_AT+:32]);
    words_of[34] = 32'(headers[IP6_DST_AT+32+:32]);
    words_of[35] = 32'(headers[IP6_DST_AT+64+:32]);
    words_of[36] = 32'(headers[IP6_DST_AT+96+:32]);
    words_of[37] = 32'(headers[IP6_PROTO_AT+:8]);
    words_of[38] = 32'(headers[IP6_CLASS_AT+:8]);
    words_of[39] = 32'(headers[IP6_LABEL_AT+:20]);
    words_of[40] = 32'(headers[IP6_HOPS_AT+:8]);
    words_of[41] = 32'(headers[TCP_SPORT_AT+:16]);
    words_of[42] = 32'(headers[TCP_DPORT_AT+:16]);
    words_of[43] = 32'(headers[TCP_SEQ_AT+:32]);
    words_of[44] = 32'(headers[TCP_ACK_AT+:32]);
    words_of[45] = 32'(headers[TCP_FLAGS_AT+:8]);
    words_of[46] = 32'(headers[TCP_WINDOW_AT+:16]);
    words_of[47] = 32'(headers[TCP_LEN_AT+:16]);
    words_of[48] = 32'(headers[TCP_SYN_AT+:1]);
    words_of[49] = 32'(headers[TCP_ACK_FLAG_AT+:1]);
    words_of[50] = 32'(headers[TCP_FIN_AT+:1]);
    words_of[51] = 32'(headers[TCP_RST_AT+:1]);
    words_of[52] = 32'(headers[UDP_LEN_AT+:16]);
    words_of[53] = 32'(headers[ICMP_TYPE_AT+:8]);
    words_of[54] = 32'(headers[ICMP_CODE_AT+:8]);
    words_of[55] = 32'(headers[DATA_0_AT+:32]);
    words_of[56] = 32'(headers[DATA_1_AT+:32]);
    words_of[57] = 32'(headers[DATA_2_AT+:32]);
    words_of[58] = 32'(headers[DATA_3_AT+:32]);
    words_of[59] = 32'(headers[DATA_4_AT+:32]);
    words_of[60] = 32'(headers[DATA_5_AT+:32]);
    words_of[61] = 32'(headers[DATA_6_AT+:32]);
    words_of[62] = 32'(headers[DATA_7_AT+:32]);
  endfunction

  // Sinks, where edits write: the lowest bit in a headers_t, and the number of bits. Sinks of metadata follow
  localparam int unsigned SINKS = 32'd47;
  localparam int unsigned SINK_AT[SINKS] = '{
    440, 472, 504, 536, 568, 600, 632, 664, 888, 920, 936, 968, 16, 48, 80, 112, 144, 176, 208, 240, 336, 368, 728, 772,
    304, 400, 416, 712, 824, 856, 824, 856, 320, 416, 424, 688, 696, 744, 748, 760, 769, 837, 869, 320, 321, 322, 324
  };
  localparam int unsigned SINK_BITS[SINKS] = '{
    32, 32, 32, 32, 32, 32, 32, 32, 32, 16, 32, 16, 32, 32, 32, 32, 32, 32, 32, 32, 32, 32, 20, 20, 16, 16, 16, 16, 16,
    16, 12, 12, 8, 8, 8, 8, 8, 8, 8, 8, 3, 3, 3, 1, 1, 1, 1
  };
  localparam int unsigned SINK_META0 = 32'd47;
  localparam int unsigned SINK_META1 = 32'd48;
endpackage
