// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// The checkers of an inline block with flat ports: two ports, frames of one beat that are always taken.
module checks_bench
  import penstock_pkg::*;
#(
    parameter int unsigned Ports = 2
) (
    input wire logic clk,
    input wire logic rst,

    input wire logic [Ports-1:0]       in_valid,
    input wire logic [Ports-1:0]       out_valid,
    input wire logic [Ports-1:0][15:0] out_len,
    input wire logic [Ports-1:0][ 7:0] out_src,
    input wire logic [Ports-1:0][31:0] out_time,
    input wire logic [Ports-1:0][31:0] out_hash,
    input wire logic [Ports-1:0][ 2:0] out_kind,
    input wire logic [Ports-1:0]       made,
    input wire logic [Ports-1:0]       absorbed,
    input wire logic [Ports-1:0]       dropped,
    input wire logic                   busy
);
  frame_if frames[Ports] ();
  frame_if out[Ports] ();
  verdict_t verdicts[Ports];
  block_event_t events[Ports];

  for (genvar p = 0; p < Ports; p++) begin : gen_port
    assign frames[p].valid = in_valid[p];
    assign frames[p].ready = 1'b1;
    assign frames[p].last = 1'b1;
    assign frames[p].data = '0;
    assign frames[p].meta = '{len: 16'd60, default: '0};
    assign out[p].valid = out_valid[p];
    assign out[p].ready = 1'b1;
    assign out[p].last = 1'b1;
    assign out[p].data = '0;
    assign out[p].meta = '{len: out_len[p], src: out_src[p], timestamp: out_time[p], hash: out_hash[p], default: '0};
    assign verdicts[p] = '{kind: verdict_kind_e'(out_kind[p]), target: '0, reason: ReasonBlocked, word: '0};
    assign events[p] = '{made: made[p], absorbed: absorbed[p], dropped: dropped[p], reason: ReasonBlocked};
    order_check i_order (
        .clk,
        .rst,
        .link(out[p])
    );
  end

  block_check #(
      .Ports(Ports)
  ) i_check (
      .clk,
      .rst,
      .frames(frames),
      .out(out),
      .out_verdicts(verdicts),
      .events,
      .busy
  );
endmodule

`default_nettype wire
