// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// From beats of 64 bytes to rows of 128, at one clock.
//
//   rx ─> lower half kept ─> register ─> tx       a beat a cycle; a row a cycle if frames are short
module beats_to_rows
  import penstock_pkg::*;
(
    input wire logic clk,
    input wire logic rst,
    axis_if.snk      rx,
    axis_if.src      tx
);
  if (rx.Bytes != BeatBytes || tx.Bytes != PortBytes) begin : gen_width
    $error("beats_to_rows: rx must have %0d bytes and tx %0d", BeatBytes, PortBytes);
  end

  logic half_q, valid_q, last_q, user_q, take;
  logic [8*PortBytes-1:0] data_q;
  logic [PortBytes-1:0] keep_q;
  assign rx.tready = !valid_q || tx.tready;
  assign take = rx.tvalid && rx.tready;
  always_ff @(posedge clk) begin
    if (rx.tready) valid_q <= take && (half_q || rx.tlast);
    if (take) begin
      half_q <= !half_q && !rx.tlast;
      if (half_q) data_q[8*BeatBytes+:8*BeatBytes] <= rx.tdata;
      else data_q[8*BeatBytes-1:0] <= rx.tdata;
      keep_q <= half_q ? {rx.tkeep, {BeatBytes{1'b1}}} : PortBytes'(rx.tkeep);
      last_q <= rx.tlast;
      user_q <= rx.tuser;
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
endmodule

`default_nettype wire
