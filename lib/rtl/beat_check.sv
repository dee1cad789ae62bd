// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// Checks in every simulation that beats on a link of the shell make whole frames, with their metadata; nothing of it is
// left in hardware.
module beat_check
  import penstock_pkg::*;
#(
    parameter bit Tails = 1'b0  // frames are folded
) (
    input wire logic  clk,
    input wire logic  rst,
    input wire logic  valid,
    input wire beat_t beat
);
`ifndef SYNTHESIS
  logic [10:0] left_q;  // beats of the frame that is on its way
  frame_meta_t meta_q;
  wire first = left_q == 0;
  wire [10:0] beats = Tails && is_folded(beat.meta.len) ? 11'd1 : beats_of(beat.meta.len);

  always_ff @(posedge clk) begin
    if (rst) left_q <= '0;
    else if (valid) begin
      assert (beat.meta.len != 0) else $error("%m: frame of length 0");
      assert (first || beat.meta == meta_q) else $error("%m: metadata changed in mid-frame");
      assert (beat.last == ((first ? beats : left_q) == 1)) else $error("%m: `last` does not fit the length");
      left_q <= (first ? beats : left_q) - 11'd1;
      meta_q <= beat.meta;
    end
  end
`endif
endmodule

`default_nettype wire
