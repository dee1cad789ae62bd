// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// Toeplitz flow hash of a frame's first beat (docs/architecture.md, "Flow hash"; the key is Microsoft's, from the RSS
// specification).
//
//   valid, data ─> VLAN tags ─> align layer 3 ─> decide IPv4/IPv6/ports ─> fields × key, eight parts ─> XOR ─> hash
//                  1            2                3                          4                           5 cycles
//
// Latency 5 cycles, one frame a cycle, never stalls. `bytes` (frame bytes within the beat) comes one cycle after
// `data`, because it is still being counted when `data` arrives.
module flow_hash
  import penstock_pkg::*;
(
    input wire logic clk,
    input wire logic rst,

    input wire logic             valid,
    input wire logic [DataW-1:0] data,
    input wire logic [      6:0] bytes,  // 0..64, one cycle later

    output logic        hash_valid,
    output logic [31:0] hash
);
  localparam logic [319:0] Key = 320'h6d5a56da255b0ec24167253d43a38fb0d0ca2bcbae7b30b477cb2da38030f20c6a42b73bbeac01fa;
  localparam int unsigned FieldBytes = 36;  // two IPv6 addresses, two ports
  localparam int unsigned Parts = 8;
  localparam int unsigned PartBytes = 5;  // the last part has one
  localparam int unsigned L3Bytes = 44;  // fixed IPv6 header and ports

  function automatic logic is_vlan(logic [15:0] ethertype);
    return ethertype == 16'h8100 || ethertype == 16'h88A8;
  endfunction

  // The value that one byte of the fields adds to the hash; its bit 7 is the first on the wire and has the key's bits
  // from 8 * place.
  function automatic logic [31:0] toeplitz(logic [7:0] octet, int unsigned place);
    logic [31:0] sum;
    sum = '0;
    for (int unsigned b = 0; b < 8; b++) sum ^= {32{octet[7-b]}} & Key[319-(8*place+b)-:32];
    return sum;
  endfunction

  logic [4:0] valid_q;
  always_ff @(posedge clk) begin
    valid_q <= {valid_q[3:0], valid};
    if (rst) valid_q <= '0;
  end
  assign hash_valid = valid_q[4];

  // 1: how many VLAN tags
  logic [DataW-1:0] data1_q;
  logic vlan1_q, vlan2_q;
  always_ff @(posedge clk)
    if (valid) begin
      data1_q <= data;
      vlan1_q <= is_vlan({data[12*8+:8], data[13*8+:8]});
      vlan2_q <= is_vlan({data[16*8+:8], data[17*8+:8]});
    end

  // 2: layer 3 to a fixed place; the part of it that the frame has
  logic [L3Bytes*8-1:0] l3_q;
  logic [15:0] ethertype_q;
  logic has20_q, has24_q, has40_q, has44_q;
  logic [1:0] tags;
  logic [6:0] start;
  assign tags = vlan1_q ? (vlan2_q ? 2'd2 : 2'd1) : 2'd0;
  assign start = 7'd14 + {3'b0, tags, 2'b0};
  always_ff @(posedge clk)
    if (valid_q[0]) begin
      if (tags == 2) begin
        l3_q <= {16'b0, data1_q[DataW-1:22*8]};
        ethertype_q <= {data1_q[20*8+:8], data1_q[21*8+:8]};
      end else if (tags == 1) begin
        l3_q <= data1_q[18*8+:L3Bytes*8];
        ethertype_q <= {data1_q[16*8+:8], data1_q[17*8+:8]};
      end else begin
        l3_q <= data1_q[14*8+:L3Bytes*8];
        ethertype_q <= {data1_q[12*8+:8], data1_q[13*8+:8]};
      end
      has20_q <= bytes >= start + 7'd20;
      has24_q <= bytes >= start + 7'd24;
      has40_q <= bytes >= start + 7'd40;
      has44_q <= bytes >= start + 7'd44;
    end

  // 3: which fields count
  logic [L3Bytes*8-1:0] l3b_q;
  logic v4_q, v4_ports_q, v6_q, v6_ports_q;
  function automatic logic has_ports(logic [7:0] protocol);
    return protocol == 8'd6 || protocol == 8'd17;
  endfunction
  always_ff @(posedge clk)
    if (valid_q[1]) begin
      l3b_q <= l3_q;
      v4_q <= ethertype_q == 16'h0800 && l3_q[7:4] == 4'd4 && l3_q[3:0] >= 4'd5 && has20_q;
      // Header of 20 bytes; bytes 6 and 7: more fragments is bit 5, the offset the 13 bits below
      v4_ports_q <= l3_q[3:0] == 4'd5 && {l3_q[6*8+:6], l3_q[7*8+:8]} == 14'b0 && has_ports(l3_q[9*8+:8]) && has24_q;
      v6_q <= ethertype_q == 16'h86DD && l3_q[7:4] == 4'd6 && has40_q;
      v6_ports_q <= has_ports(l3_q[6*8+:8]) && has44_q;
    end

  // 4: fields, in the order of the wire, times the key
  logic [31:0] part_q[Parts];
  logic [FieldBytes*8-1:0] fields;
  always_comb begin
    fields = '0;
    if (v4_q) begin
      fields[0+:64] = l3b_q[12*8+:64];
      if (v4_ports_q) fields[64+:32] = l3b_q[20*8+:32];
    end else if (v6_q) begin
      fields[0+:256] = l3b_q[8*8+:256];
      if (v6_ports_q) fields[256+:32] = l3b_q[40*8+:32];
    end
  end
  for (genvar p = 0; p < Parts; p++) begin : gen_part
    logic [31:0] sum;
    always_comb begin
      sum = '0;
      for (int unsigned i = p * PartBytes; i < (p + 1) * PartBytes && i < FieldBytes; i++)
        sum ^= toeplitz(fields[8*i+:8], i);
    end
    always_ff @(posedge clk) if (valid_q[2]) part_q[p] <= sum;
  end

  // 5
  logic [31:0] whole;
  always_comb begin
    whole = '0;
    for (int unsigned p = 0; p < Parts; p++) whole ^= part_q[p];
  end
  always_ff @(posedge clk) if (valid_q[3]) hash <= whole;
endmodule

`default_nettype wire
