// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// The first stage of the filter for two lanes: at each of the 64 bytes of a beat, is a filter string's end possible?
//
//   beat ─> FOLD, h4 ─> h8 ─> READ ─> HITS      a beat a cycle and lane, 5 cycles, never held
//
// Each offset has its own copy of the three bitmaps; lane 0 reads on one port of each memory, lane 1 on the other. A
// write goes to all copies in a cycle in which lane 0 does not read; after 15 cycles without one it asks for it
// (`hold`).
module ids_filter
  import penstock_pkg::*, ids_pkg::*;
#(
    parameter int unsigned Lanes = 2
) (
    input wire logic clk,
    input wire logic rst,

    input wire logic                 x_valid[Lanes],
    input wire logic                 x_last [Lanes],
    input wire logic                 x_bank [Lanes],
    input wire logic [BeatBytes-1:0] x_mask [Lanes],
    input wire span_t                x      [Lanes],

    // one cycle: the beat and its hits, folded
    output logic                 y_valid[Lanes],
    output logic                 y_last [Lanes],
    output logic                 y_bank [Lanes],
    output logic [BeatBytes-1:0] y_long [Lanes],
    output logic [BeatBytes-1:0] y_short[Lanes],
    output span_t                y      [Lanes],

    // writes: held until `write_done`
    input  wire logic        write,
    input  wire logic [ 2:0] write_map,   // a bit each
    input  wire logic [15:0] write_index,
    input  wire logic [ 1:0] write_value,
    output logic             write_done,
    output logic             hold         // lane 0 makes no step
);
  localparam int unsigned Stages = 4;

  typedef struct packed {
    logic                 last;
    logic                 bank;
    logic [BeatBytes-1:0] mask;
    span_t                x;
  } beat_t;

  beat_t [Stages:1] beat_q[Lanes];
  logic [Stages:1] valid_q[Lanes];
  logic [Span-1:3][31:0] h4_q[Lanes];  // of the windows that end at these bytes of the span
  logic [BeatBytes-1:0][29:0] short_index_q[Lanes];
  logic [BeatBytes-1:0][15:0] long_index_q[Lanes];
  logic [BeatBytes-1:0][1:0] bits_0[2], bits_1[2];
  logic [BeatBytes-1:0] bits_2[2];

  for (genvar l = 0; l < int'(Lanes); l++) begin : gen_lane
    always_ff @(posedge clk) begin
      valid_q[l] <= {valid_q[l][Stages-1:1], x_valid[l]};
      // FOLD
      if (x_valid[l]) begin
        beat_q[l][1].last <= x_last[l];
        beat_q[l][1].bank <= x_bank[l];
        beat_q[l][1].mask <= x_mask[l];
        for (int unsigned n = 0; n < Span; n++) beat_q[l][1].x[n] <= fold(x[l][n]);
      end
      // h4
      if (valid_q[l][1]) begin
        beat_q[l][2] <= beat_q[l][1];
        for (int unsigned n = 3; n < Span; n++) h4_q[l][n] <= crc(beat_q[l][1].x[n-3+:4]);
      end
      // h8
      if (valid_q[l][2]) begin
        beat_q[l][3] <= beat_q[l][2];
        for (int unsigned n = 0; n < BeatBytes; n++) begin
          short_index_q[l][n] <= h4_q[l][Before+n][29:0];
          long_index_q[l][n]  <= 16'(crc(h4_q[l][Before+n-4] ^ beat_q[l][2].x[Before+n-3+:4]));
        end
      end
      // READ
      if (valid_q[l][3]) beat_q[l][4] <= beat_q[l][3];
      // HITS
      y_valid[l] <= valid_q[l][4] && !rst;
      if (valid_q[l][4]) begin
        y_last[l] <= beat_q[l][4].last;
        y_bank[l] <= beat_q[l][4].bank;
        y[l] <= beat_q[l][4].x;
        for (int unsigned n = 0; n < BeatBytes; n++) begin
          y_long[l][n]  <= beat_q[l][4].mask[n] && bits_0[l][n][0] && bits_1[l][n][0] && bits_2[l][n];
          y_short[l][n] <= beat_q[l][4].mask[n] && bits_0[l][n][1] && bits_1[l][n][1];
        end
      end
      if (rst) valid_q[l] <= '0;
    end
  end

  // ---- writes
  logic we;
  logic [3:0] wait_q;
  assign we = write && !valid_q[0][3];
  assign write_done = we;
  always_ff @(posedge clk) begin
    if (!write || we) wait_q <= '0;
    else if (wait_q != '1) wait_q <= wait_q + 1'b1;
    hold <= write && !we && wait_q == '1;
    if (rst) wait_q <= '0;
  end

  // ---- bitmaps
  for (genvar n = 0; n < int'(BeatBytes); n++) begin : gen_offset
    logic re_1;
    logic [29:0] short_1;
    logic [15:0] long_1;
    if (Lanes > 1) begin : gen_two
      assign re_1 = valid_q[1][3];
      assign short_1 = short_index_q[1][n];
      assign long_1 = long_index_q[1][n];
    end else begin : gen_one
      assign re_1 = 1'b0;
      assign short_1 = '0;
      assign long_1 = '0;
    end

    ids_bitmap #(
        .Width(2),
        .Depth(32768)
    ) i_0 (
        .clk,
        .we(we && write_map[0]),
        .wdata(write_value),
        .re_0(valid_q[0][3]),
        .addr_0(we ? write_index[14:0] : short_index_q[0][n][14:0]),
        .rdata_0(bits_0[0][n]),
        .re_1,
        .addr_1(short_1[14:0]),
        .rdata_1(bits_0[1][n])
    );
    ids_bitmap #(
        .Width(2),
        .Depth(32768)
    ) i_1 (
        .clk,
        .we(we && write_map[1]),
        .wdata(write_value),
        .re_0(valid_q[0][3]),
        .addr_0(we ? write_index[14:0] : short_index_q[0][n][29:15]),
        .rdata_0(bits_1[0][n]),
        .re_1,
        .addr_1(short_1[29:15]),
        .rdata_1(bits_1[1][n])
    );
    ids_bitmap #(
        .Width(1),
        .Depth(65536)
    ) i_2 (
        .clk,
        .we(we && write_map[2]),
        .wdata(write_value[0]),
        .re_0(valid_q[0][3]),
        .addr_0(we ? write_index : long_index_q[0][n]),
        .rdata_0(bits_2[0][n]),
        .re_1,
        .addr_1(long_1),
        .rdata_1(bits_2[1][n])
    );
  end
endmodule

`default_nettype wire
