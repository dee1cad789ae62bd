// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// Takes words from one clock to another by a handshake: the word stands still from the cycle in which it was taken
// until the other
// side has said that it has it. Six cycles of both clocks or so for each word. Both resets come together (reset_pair).
//
//   src_valid, src_data ─> word ─────────────────┆─> data
//                          └─> pulse ────────────┆─> valid, for one cycle
//   src_ready <── pulse <────────────────────────┆── └─> back
module cross_word #(
    parameter int unsigned Width = 32
) (
    input  wire logic             src_clk,
    input  wire logic             src_rst,
    input  wire logic             src_clear,
    input  wire logic             src_valid,
    output logic                  src_ready,
    input  wire logic [Width-1:0] src_data,

    input  wire logic             clk,
    input  wire logic             rst,
    input  wire logic             clear,
    output logic                  valid,
    output logic      [Width-1:0] data
);
  (* keep = "true" *) logic [Width-1:0] word_q, data_q;
  logic busy_q, take, back, arrived;
  assign src_ready = !busy_q && !src_rst;
  assign take = src_valid && src_ready;
  always_ff @(posedge src_clk) begin
    if (take) word_q <= src_data;
    busy_q <= take || (busy_q && !back);
    if (src_rst) busy_q <= 1'b0;
  end

  sync_pulse i_there (
      .src_clk,
      .src_clear,
      .src_pulse(take),
      .clk,
      .rst,
      .pulse(arrived)
  );
  always_ff @(posedge clk) begin
    valid <= arrived && !rst;
    if (arrived) data_q <= word_q;
  end
  assign data = data_q;
  sync_pulse i_back (
      .src_clk(clk),
      .src_clear(clear),
      .src_pulse(valid),
      .clk(src_clk),
      .rst(src_rst),
      .pulse(back)
  );
endmodule

`default_nettype wire
