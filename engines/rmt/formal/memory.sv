// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// A row of a memory is what the host wrote last, and a frame that is not in the host's slot reads it: rtl/rmt_ram.sv as
// it is, with four rows. rtl/rmt_delay.sv delays by as many cycles as it says, as a ring too. By induction; the other
// proofs replace both modules (rmt_ram.sv, rmt_delay.sv here).
module memory
  import rmt_pkg::*;
(
    input wire logic clk,

    input wire logic [1:0]            watched,  // row
    input wire logic                  slot,
    input wire logic                  selected,
    input wire host_t                 host,
    input wire logic [Lanes-1:0][1:0] addr,
    input wire logic [3:0]            d
);
  logic started_q = 1'b0;
  logic [1:0] watched_q;
  always_ff @(posedge clk) begin
    started_q <= 1'b1;
    watched_q <= watched;
  end
  always_comb if (started_q) assume (watched == watched_q);

  // ---- rmt_ram
  logic [Lanes-1:0][3:0] data;
  rmt_ram #(
      .Width(4),
      .Depth(4)
  ) i_ram (
      .clk,
      .slot,
      .selected,
      .host,
      .host_word(),
      .addr,
      .data
  );
  logic [3:0] row_q;
  logic [Lanes-1:0] reads_q;
  logic [Lanes-1:0][3:0] read_q;
  always_ff @(posedge clk) begin
    if (slot && selected && host.we && host.row[1:0] == watched) row_q <= host.data[0][3:0];
    for (int unsigned l = 0; l < Lanes; l++) begin
      reads_q[l] <= started_q && !(slot && selected) && addr[l] == watched;
      read_q[l] <= row_q;
    end
  end
  always_comb begin
    if (!started_q) assume (i_ram.mem[watched] == row_q && reads_q == '0);
    assert (i_ram.mem[watched] == row_q);
    for (int unsigned l = 0; l < Lanes; l++) if (reads_q[l]) assert (data[l] == read_q[l]);
  end

  // ---- rmt_delay
  logic [4:0][3:0] line_q;
  logic [2:0] cycle_q = '0;
  logic [3:0] q;
  rmt_delay #(
      .Width (4),
      .Cycles(5)
  ) i_delay (
      .clk,
      .rst(!started_q),
      .d,
      .q
  );
  always_ff @(posedge clk) begin
    line_q <= {line_q[3:0], d};
    cycle_q <= cycle_q + 3'(cycle_q < 3'd6);
  end
  always_comb begin
    if (started_q) assert (cycle_q != '0);
    if (cycle_q == 3'd6) assert (q == line_q[4]);
  end
endmodule

`default_nettype wire
