// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// Finds the units that hold up the frames of others. Frames that may go to one unit only wait for its slot with all
// frames behind them.
//
//   stuck  Frames have waited `timeout` cycles in all since the unit last had a free slot. Ends when the unit has a
//          slot.
//   slow   Frames have waited Patience cycles more than one cycle in Share. Ends when the waits have become as rare as
//          that again.
//
// A unit whose frames wait less than one cycle in Share is never slow: a port catches up on such waits, since its ring
// is read at 250 million beats a second and filled with 142 million. For a stuck unit no frame waits; for a slow one no
// frame waits while its port's ring is crowded (dispatcher.sv).
module stuck_units
  import shell_pkg::*;
#(
    parameter int unsigned N = 4
) (
    input wire logic clk,
    input wire logic rst,
    input wire cycles_t timeout,  // 0: for ever

    input wire logic [N-1:0] awaited,  // a frame waits for this unit
    input wire logic [N-1:0] ready,    // it has a slot
    output logic     [N-1:0] stuck,
    output logic     [N-1:0] slow
);
  // In cycles, a power of two. The waits for all units fit the quarter of a ring that is left when it is crowded.
  localparam int unsigned Patience = 128;
  localparam int unsigned Share = 64;
  localparam int unsigned DebtW = $clog2(Patience) + 1;

  logic [$clog2(Share)-1:0] share_q;
  logic forgive_q;  // a cycle of each unit's waits is forgotten
  always_ff @(posedge clk) begin
    share_q <= share_q + 1'b1;
    forgive_q <= share_q == '1;
    if (rst) share_q <= '0;
  end

  for (genvar u = 0; u < N; u++) begin : gen_unit
    cycles_t waited_q;
    always_ff @(posedge clk) begin
      if (ready[u] || rst) waited_q <= '0;
      else if (awaited[u] && !stuck[u]) waited_q <= waited_q + 1'b1;
      stuck[u] <= waited_q >= timeout && timeout != 0 && !ready[u] && !rst;
    end

    // The cycles that were waited and are not forgotten
    logic [DebtW-1:0] debt_q;
    logic waits;
    assign waits = awaited[u] && !ready[u];
    always_ff @(posedge clk) begin
      if (waits && !forgive_q && debt_q != '1) debt_q <= debt_q + 1'b1;
      else if (!waits && forgive_q && debt_q != 0) debt_q <= debt_q - 1'b1;
      slow[u] <= debt_q[DebtW-1] && !rst;
      if (rst) debt_q <= '0;
    end
  end
endmodule

`default_nettype wire
