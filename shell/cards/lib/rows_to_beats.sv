// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// From rows of 128 bytes to beats of 64, at one clock.
//
//   rx ─> half by half ─> register ─> tx       a beat a cycle
//                           1
module rows_to_beats
  import penstock_pkg::*;
(
    input wire logic clk,
    input wire logic rst,
    axis_if.snk      rx,
    axis_if.src      tx
);
  if (rx.Bytes != PortBytes || tx.Bytes != BeatBytes) begin : gen_width
    $error("rows_to_beats: rx must have %0d bytes and tx %0d", PortBytes, BeatBytes);
  end

  logic half_q, valid_q, last_q, user_q, free, two;
  logic [8*BeatBytes-1:0] data_q;
  logic [BeatBytes-1:0] keep_q;
  assign free = !valid_q || tx.tready;
  assign two = rx.tkeep[BeatBytes];
  assign rx.tready = free && (half_q || !two);
  always_ff @(posedge clk) begin
    if (free) begin
      valid_q <= rx.tvalid;
      data_q <= rx.tdata[8*BeatBytes*32'(half_q)+:8*BeatBytes];
      keep_q <= rx.tkeep[BeatBytes*32'(half_q)+:BeatBytes];
      last_q <= rx.tlast && (half_q || !two);
      user_q <= rx.tuser;
      if (rx.tvalid) half_q <= !half_q && two;
    end
    if (rst) begin
      half_q  <= 1'b0;
      valid_q <= 1'b0;
    end
  end
  assign tx.tvalid = valid_q;
  assign tx.tdata  = data_q;
  assign tx.tkeep  = keep_q;
  assign tx.tlast  = last_q;
  assign tx.tuser  = user_q;

`ifndef SYNTHESIS
  always_ff @(posedge clk)
    if (!rst) assert (!rx.tvalid || rx.tlast || two) else $error("%m: a row that is not full inside a frame");
`endif
endmodule

`default_nettype wire
