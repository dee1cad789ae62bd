// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// Reads the first bytes of a message: its type, the fields that stand at a fixed place, and where the walk goes on.
//
//   12 bytes ─> one reader for each protocol ─> choice by protocol
//
// Combinational: a comparison of words, or an addition and a comparison. memcached's bytes are those behind the header
// of the datagram.
module l7_opening
  import l7_pkg::*;
(
    input wire protocol_e        protocol,
    input wire logic       [4:0] id_bytes,  // QUIC: of a connection ID in a short header
    input wire logic             is_datagram,  // memcached: a request of one datagram
    input wire logic      [95:0] bytes,
    input wire place_in_window_t size,      // of the payload, as far as it is seen

    output opening_t opening
);
  // ---- memcached, text: the command
  logic [3:0] word_len, command;
  opening_t text;
  always_comb begin
    command = '0;
    word_len = '0;
    for (int unsigned i = 0; i < Commands; i++)
      if (((bytes[63:0] ^ CommandList[i].text) & ~({64{1'b1}} << (8 * CommandList[i].len))) == '0) begin
        command |= CommandList[i].of_type;
        word_len |= CommandList[i].len;
      end
    text = '0;
    text.mtype = command;
    text.at = DatagramHeader + place_in_window_t'(word_len);
    text.known = is_datagram && word_len != '0 && text.at <= size;
  end

  // ---- memcached, binary: opcode, lengths of key and extras
  opening_t binary;
  logic [15:0] key_len;
  logic [31:0] body;
  logic [16:0] key_past;
  always_comb begin
    key_len = {bytes[23:16], bytes[31:24]};
    body = {bytes[71:64], bytes[79:72], bytes[87:80], bytes[95:88]};
    binary = '0;
    unique case (bytes[15:8])
      8'h00, 8'h09, 8'h0C, 8'h0D: binary.mtype = 4'd1;
      8'h01, 8'h02, 8'h03, 8'h0E, 8'h0F, 8'h11, 8'h12, 8'h13, 8'h19, 8'h1A: binary.mtype = 4'd2;
      8'h04, 8'h05, 8'h06, 8'h14, 8'h15, 8'h16, 8'h1C: binary.mtype = 4'd3;
      default: binary.mtype = 4'd0;
    endcase
    binary.at = BinaryKey + place_in_window_t'(bytes[39:32]);
    binary.len = key_len[7:0];
    key_past = 17'(binary.at) + 17'(key_len);
    binary.has_field = key_len != '0 && key_len <= 16'(MaxField) && key_past <= 17'(size);
    binary.known = is_datagram && size >= BinaryKey && binary.mtype != '0 &&
        32'(key_len) + 32'(bytes[39:32]) <= body;
    if (binary.has_field) begin
      binary.fixed = 56'({bytes[15:8], 8'd1, 8'd2});
      binary.fixed_bytes = 3'd3;
    end
  end

  // ---- CoAP: version, type, method, length of the token
  opening_t coap;
  always_comb begin
    coap = '0;
    coap.mtype = 4'd1;
    coap.at = 9'd4 + 9'(bytes[3:0]);
    coap.last = size;
    coap.known = bytes[7:5] == 3'b010 && bytes[3:0] <= 4'd8 && bytes[15:13] == '0 && bytes[12:8] != '0 &&
        coap.at <= size;
    coap.fixed = 56'({bytes[15:8], 8'd1, 8'd2});
    coap.fixed_bytes = 3'd3;
  end

  // ---- RADIUS: code, length
  opening_t radius;
  logic [15:0] length;
  always_comb begin
    length = {bytes[23:16], bytes[31:24]};
    radius = '0;
    radius.mtype = bytes[7:0] == 8'd1 ? 4'd1 : bytes[7:0] == 8'd4 ? 4'd2 : 4'd3;
    radius.at = RadiusHeader;
    radius.is_cut = length > 16'(WindowBytes);
    radius.last = radius.is_cut ? size : length[8:0];
    radius.known = size >= RadiusHeader && length >= 16'(RadiusHeader) && length <= 16'd4096 &&
        (length <= 16'(size) || size == place_in_window_t'(WindowBytes));
    radius.fixed = 56'({bytes[7:0], 8'd1, 8'd4});
    radius.fixed_bytes = 3'd3;
  end

  // ---- QUIC: version, lengths of the connection IDs
  opening_t quic;
  always_comb begin
    quic = '0;
    quic.has_field = 1'b1;
    if (bytes[7]) begin
      quic.mtype = 4'd1;
      quic.at = 9'd6;
      quic.len = bytes[47:40];
      quic.known = size >= 9'd6 && bytes[47:40] <= 8'd20;
      quic.fixed = 56'({bytes[39:8], 8'd4, 8'd2});
      quic.fixed_bytes = 3'd6;
    end else begin
      quic.mtype = 4'd2;
      quic.at = 9'd1;
      quic.len = 8'(id_bytes);
      quic.known = 9'd1 + 9'(id_bytes) <= size;
    end
  end

  always_comb
    unique case (protocol)
      ProtocolCoap: opening = coap;
      ProtocolRadius: opening = radius;
      ProtocolQuic: opening = quic;
      default: opening = bytes[7:0] == 8'h80 ? binary : text;
    endcase
endmodule

`default_nettype wire
