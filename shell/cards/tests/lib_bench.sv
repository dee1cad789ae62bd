// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// The crossings of shell/cards/lib between two clocks whose resets come and go alone.
module lib_bench #(
    parameter int unsigned Width = 16,
    parameter int unsigned Depth = 16
) (
    input wire logic a_clk,
    input wire logic a_rst_in,
    input wire logic b_clk,
    input wire logic b_rst_in,
    output logic     a_rst,
    output logic     b_rst,

    // A queue from a to b
    input  wire logic             push,
    input  wire logic [Width-1:0] din,
    input  wire logic             commit,
    input  wire logic             discard,
    output logic                  ready,
    output logic                  valid,
    input  wire logic             pop,
    output logic      [Width-1:0] dout,

    // Words from a to b
    input  wire logic             word_valid,
    output logic                  word_ready,
    input  wire logic [Width-1:0] word_in,
    output logic                  word_there,
    output logic      [Width-1:0] word_out,

    // Events of a, counted for b, and as pulses
    input  wire logic             event_in,
    output logic      [Width-1:0] count,
    output logic                  pulse
);
  logic a_clear, b_clear;
  reset_pair i_resets (
      .a_clk,
      .a_rst_in,
      .a_rst,
      .a_clear,
      .b_clk,
      .b_rst_in,
      .b_rst,
      .b_clear
  );
  fifo_async #(
      .Width(Width),
      .Depth(Depth)
  ) i_fifo (
      .wr_clk(a_clk),
      .wr_rst(a_rst),
      .wr_clear(a_clear),
      .push,
      .din,
      .commit,
      .discard,
      .ready,
      .rd_clk(b_clk),
      .rd_rst(b_rst),
      .rd_clear(b_clear),
      .valid,
      .pop,
      .dout,
      .more()
  );
  cross_word #(
      .Width(Width)
  ) i_word (
      .src_clk(a_clk),
      .src_rst(a_rst),
      .src_clear(a_clear),
      .src_valid(word_valid),
      .src_ready(word_ready),
      .src_data(word_in),
      .clk(b_clk),
      .rst(b_rst),
      .clear(b_clear),
      .valid(word_there),
      .data(word_out)
  );
  cross_count #(
      .Width(Width)
  ) i_count (
      .src_clk(a_clk),
      .src_rst(a_clear),
      .event_in,
      .clk(b_clk),
      .rst(b_rst),
      .count
  );
  sync_pulse i_pulse (
      .src_clk(a_clk),
      .src_clear(a_clear),
      .src_pulse(event_in),
      .clk(b_clk),
      .rst(b_rst),
      .pulse
  );
endmodule

`default_nettype wire
