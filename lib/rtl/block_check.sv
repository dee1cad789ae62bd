// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// Checks in every simulation that an inline block loses and doubles no frame: while it is not busy, frames in + made
// = frames out + dropped + absorbed. Checks also what may leave a block. Nothing of it is left in hardware.
module block_check
  import penstock_pkg::*;
#(
    parameter int unsigned Ports = 2
) (
    input wire logic         clk,
    input wire logic         rst,
    frame_if.mon             frames      [Ports],
    frame_if.mon             out         [Ports],
    input wire verdict_t     out_verdicts[Ports],
    input wire block_event_t events      [Ports],
    input wire logic         busy
);
`ifndef SYNTHESIS
  // Cycles in which events may still be on their way to `busy` and `events`
  localparam int unsigned Quiet = 8;

  logic [Ports-1:0] begins, ends, more, absorbs, drops, moves;
  for (genvar p = 0; p < Ports; p++) begin : gen_port
    logic first_q, out_first_q;
    assign moves[p] = frames[p].valid || out[p].valid || !first_q;
    assign begins[p] = frames[p].valid && frames[p].ready && first_q;
    assign ends[p] = out[p].valid && out[p].ready && out[p].last;
    always_ff @(posedge clk) begin
      if (frames[p].valid && frames[p].ready) first_q <= frames[p].last;
      if (out[p].valid && out[p].ready) out_first_q <= out[p].last;
      if (!rst && out[p].valid && out_first_q) begin
        assert (out_verdicts[p].kind != VerdictDrop) else $error("%m: port %0d: a frame that was dropped leaves", p);
        assert (out[p].meta.len <= len_t'(MaxFrame))
          else $error("%m: port %0d: a frame of %0d bytes leaves", p, out[p].meta.len);
      end
      if (rst) {first_q, out_first_q} <= '1;
    end
    assign more[p] = events[p].made;
    assign absorbs[p] = events[p].absorbed;
    assign drops[p] = events[p].dropped;
  end

  int inside_q, quiet_q;
  always_ff @(posedge clk) begin
    inside_q <= inside_q + $countones({begins, more}) - $countones({ends, absorbs, drops});
    quiet_q <= busy || moves != '0 ? 0 : quiet_q + 1;
    if (rst) begin
      inside_q <= 0;
      quiet_q  <= 0;
    end else if (quiet_q > int'(Quiet)) begin
      assert (inside_q == 0)
        else $error("%m: frames in + made exceed frames out + dropped + absorbed by %0d", inside_q);
    end
  end
`endif
endmodule

`default_nettype wire
