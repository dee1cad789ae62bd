// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// The hash of keys: Multilinear-HM (Lemire and Kaser, Strongly universal string hashing is fast, 2014) over words of 32
// bits, modulo 2^64:
//
//   hash = upper half of  seed[0] + sum over k of (seed[2k+1] + word[2k]) * (seed[2k+2] + word[2k+1])
//
// For two keys that were chosen without knowledge of the seed, all pairs of hashes are equally likely: a sender of
// packets cannot make collisions.
//
//   part ─> sums ─> products ─> register ─> added ─> over parts ─> hash
//
// Five cycles, a part of 16 bytes a cycle. Nothing stalls.
module map_hash
  import map_pkg::*;
  import maps_pkg::*;
(
    input wire logic clk,
    input wire logic rst,

    input wire logic       seed_we,
    input wire logic [4:0] seed_at,
    input wire logic [63:0] seed,

    input wire logic       valid,
    input wire logic [1:0] part,      // of the key, from 0
    input wire logic       key_end,
    input wire data_t      data,

    output logic        done,         // five cycles after key_end
    output logic [31:0] hash
);
  logic [63:0] first_q;
  always_ff @(posedge clk) begin
    if (seed_we && seed_at == '0) first_q <= seed;
  end

  logic [63:0] sums_q[4];
  for (genvar w = 0; w < 4; w++) begin : gen_sum
    (* ram_style = "distributed" *) logic [63:0] seeds[MaxKey/FlitBytes];
    wire [4:0] previous = seed_at - 5'd1;
    always_ff @(posedge clk) begin
      if (seed_we && seed_at != '0 && previous[1:0] == 2'(w)) seeds[previous[3:2]] <= seed;
      sums_q[w] <= seeds[part] + 64'(data[4*w+:4]);
    end
  end

  // A product modulo 2^64, in three of 32 bits each; two registers behind them are for the multipliers' own stages.
  typedef struct packed {
    logic [63:0] low;
    logic [31:0] upper;
    logic [31:0] mixed;
  } products_t;
  products_t products_q[2], held_q[2];
  logic [63:0] added_q, total_q;
  logic [3:0] valid_q, starts_q, ends_q;
  always_ff @(posedge clk) begin
    for (int unsigned i = 0; i < 2; i++) begin
      products_q[i].low <= 64'(sums_q[2*i][31:0]) * 64'(sums_q[2*i+1][31:0]);
      products_q[i].upper <= sums_q[2*i][63:32] * sums_q[2*i+1][31:0];
      products_q[i].mixed <= sums_q[2*i][31:0] * sums_q[2*i+1][63:32];
      held_q[i] <= products_q[i];
    end
    added_q <= held_q[0].low + held_q[1].low +
        {held_q[0].upper + held_q[0].mixed + held_q[1].upper + held_q[1].mixed, 32'd0};
    if (valid_q[3]) total_q <= (starts_q[3] ? first_q : total_q) + added_q;
    starts_q <= {starts_q[2:0], part == '0};
    ends_q <= {ends_q[2:0], key_end};
  end

  always_ff @(posedge clk) begin
    valid_q <= {valid_q[2:0], valid};
    done <= valid_q[3] && ends_q[3];
    if (rst) begin
      valid_q <= '0;
      done <= 1'b0;
    end
  end
  assign hash = total_q[63:32];
endmodule

`default_nettype wire
