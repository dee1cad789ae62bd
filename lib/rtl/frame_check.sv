// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// Checks the contract of a frame_if in every simulation; nothing of it is left in hardware.
module frame_check
  import penstock_pkg::*;
#(
    parameter bit Tails = 1'b0  // frames are folded
) (
    input wire logic clk,
    input wire logic rst,
    frame_if.mon     link
);
`ifndef SYNTHESIS
  logic first_q, waits_q, last_q;
  logic [10:0] left_q;
  logic [DataW-1:0] data_q;
  frame_meta_t meta_q;
  wire [10:0] beats = Tails && is_folded(link.meta.len) ? 11'd1 : beats_of(link.meta.len);

  always_ff @(posedge clk) begin
    if (rst) begin
      first_q <= 1'b1;
      waits_q <= 1'b0;
    end else begin
      if (waits_q) begin
        assert (link.valid) else $error("%m: valid fell before ready");
        assert (link.data == data_q && link.last == last_q) else $error("%m: a beat changed while it waited");
        assert (!first_q || link.meta == meta_q) else $error("%m: metadata changed while it waited");
      end
      waits_q <= link.valid && !link.ready;
      if (link.valid && !link.ready) begin
        data_q <= link.data;
        last_q <= link.last;
        meta_q <= link.meta;
      end
      if (link.valid && link.ready) begin
        first_q <= link.last;
        if (first_q) begin
          assert (link.meta.len != 0) else $error("%m: frame of length 0");
          assert (link.last == (beats == 1)) else $error("%m: `last` does not fit the length");
          left_q <= beats - 11'd1;
        end else begin
          assert (link.last == (left_q == 1)) else $error("%m: `last` does not fit the length");
          left_q <= left_q - 11'd1;
        end
      end
    end
  end
`endif
endmodule

`default_nettype wire
