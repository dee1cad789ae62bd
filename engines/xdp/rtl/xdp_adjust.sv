// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// bpf_xdp_adjust_head, _meta and _tail: the packet's new place, and the helper's result. Linux keeps 40 bytes for
// itself before the headroom that a program may use, and 320 after the packet.
//
//   EXEC  sums and limits -> registers, in MEM
module xdp_adjust
  import xdp_pkg::*;
(
    input wire logic clk,

    input wire adjust_e     what,
    input wire logic [31:0] by,      // signed
    input wire extent_t     extent,

    output extent_t moved,
    output word_t   result  // 0, or an error: nothing moved
);
  localparam word_t Invalid = -64'd22;
  localparam word_t Refused = -64'd13;

  typedef logic signed [14:0] sum_t;
  localparam sum_t Kept = 40;
  localparam sum_t EthernetHeader = 14;
  localparam sum_t MaxMeta = 252;
  localparam sum_t End = sum_t'(BufferBytes - Tailroom);

  // Farther than the buffer is long is out of all limits.
  wire near = by[31:12] == '0 || by[31:12] == '1;
  wire sum_t offset = {{2{by[31]}}, by[12:0]};
  wire sum_t start = sum_t'({3'd0, extent.start});
  wire sum_t finish = sum_t'({3'd0, extent.finish});
  wire sum_t meta = sum_t'({3'd0, extent.meta});

  sum_t new_start, new_meta, new_finish, length;
  word_t error;
  wire grown = extent.grown || new_meta < sum_t'(Headroom);
  always_comb begin
    new_start = start + offset;
    new_meta = meta + offset;
    new_finish = finish + offset;
    length = start - new_meta;
    error = '0;
    unique case (what)
      AdjustHead:
      if (!near || new_start < Kept + (start - meta) || new_start > finish - EthernetHeader) error = Invalid;
      AdjustMeta:
      if (!near || new_meta < Kept || new_meta > start) error = Invalid;
      else if (length[1:0] != 0 || length > MaxMeta) error = Refused;
      default: if (!near || new_finish > End || new_finish < start + EthernetHeader) error = Invalid;
    endcase
  end

  always_ff @(posedge clk) begin
    moved <= extent;
    if (error == '0) begin
      unique case (what)
        AdjustHead: begin
          moved.start <= offset_t'(new_start);
          moved.meta <= offset_t'(new_meta);
          moved.grown <= grown;
        end
        AdjustMeta: begin
          moved.meta <= offset_t'(new_meta);
          moved.grown <= grown;
        end
        default: moved.finish <= offset_t'(new_finish);
      endcase
    end
    result <= error;
  end
endmodule

`default_nettype wire
