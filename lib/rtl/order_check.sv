// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// Checks in every simulation that frames of equal (source, hash) leave in the order in which they entered the card,
// as their timestamps say. Frames of equal timestamps are copies of one. Nothing of it is left in hardware.
module order_check
  import penstock_pkg::*;
(
    input wire logic clk,
    input wire logic rst,
    frame_if.mon     link
);
`ifndef SYNTHESIS
  typedef logic [$bits(port_t)+31:0] flow_t;  // source and hash
  time_t last[flow_t];  // timestamp of the frame that left last
  logic first_q;

  // Whether a later frame of the flow has left already
  function automatic logic is_late(flow_t flow, time_t at);
    time_t since = last.exists(flow) != 0 ? at - last[flow] : '0;
    last[flow] = at;
    return since[$bits(time_t)-1];
  endfunction

  always_ff @(posedge clk) begin
    if (rst) begin
      first_q <= 1'b1;
      last.delete();
    end else if (link.valid && link.ready) begin
      first_q <= link.last;
      if (first_q)
        assert (!is_late({link.meta.src, link.meta.hash}, link.meta.timestamp))
        else $error("%m: source %0h, hash %0h: the frame of cycle %0d leaves too late", link.meta.src, link.meta.hash, link.meta.timestamp);
    end
  end
`endif
endmodule

`default_nettype wire
