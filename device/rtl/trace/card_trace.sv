// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// Tells the clock loop when a frame's first beat passes a place between the blocks of the card, and when a slot is free
// again. A frame is identified by the place and time of its entry. Requests to host memory, whose metadata differ, are
// left out. On a card with an inline chain `sources` are behind it.
module card_trace
  import penstock_pkg::*;
#(
    parameter int unsigned Ports    = 2,
    parameter int unsigned Units    = 16,
    parameter int unsigned Blocks   = 0,
    parameter int unsigned Sources  = Ports + 2,
    parameter int unsigned Clusters = (Units + UnitsPerCluster - 1) / UnitsPerCluster,
    parameter int unsigned Links    = Clusters  // to an exit
) (
    input wire logic clk,
    input wire logic rst,
    frame_if.mon entered[Ports],                      // ingress to the inline chain
    frame_if.mon sources[Ports+1],                    // ingress to dispatcher
    input wire logic [Clusters-1:0] in_valid[Sources], // dispatcher and loopback to switch
    input wire beat_t in_beat[Sources],
    input wire logic [Units-1:0] unit_valid,          // to units
    input wire beat_t unit_beat[Clusters],
    frame_if.mon from_units[Units],
    input wire slot_msg_t slots[Units],
    input wire logic [Links-1:0] exit_valid[Ports+1], // to exits
    input wire beat_t exit_beat[Links],
    // the same without frames that bypass the units; to loopback, host memory
    input wire logic [Clusters-1:0] out_valid[Sources+1],
    input wire beat_t out_beat[Clusters]
);
  // The places, as device/src/hop.rs has them.
  localparam byte Ingress = 0;
  localparam byte Dispatched = 1;
  localparam byte UnitIn = 2;
  localparam byte UnitOut = 3;
  localparam byte Exit = 4;
  localparam byte SlotFree = 5;
  localparam byte Chain = 6;

  import "DPI-C" function void penstock_hop(
    input byte place, input byte index, input byte source, input byte to_unit, input byte slot, input int timestamp
  );

  function automatic logic is_frame(frame_meta_t meta);
    return meta.src != PortHostMem && meta.dst != PortHostMem && meta.dst != PortHostRead;
  endfunction

  task automatic beat(byte place, int unsigned index, frame_meta_t meta, logic first);
    if (first && is_frame(meta))
      penstock_hop(place, byte'(index), meta.src, byte'(meta.unit_id), byte'(meta.slot), meta.timestamp);
  endtask

  for (genvar s = 0; s <= Ports; s++) begin : gen_ingress
    logic first_q;
    always_ff @(posedge clk) begin
      if (sources[s].valid && sources[s].ready) begin
        first_q <= sources[s].last;
        beat(Ingress, s, sources[s].meta, first_q);
      end
      if (rst) first_q <= 1'b1;
    end
  end

  if (Blocks != 0) begin : gen_chain
    for (genvar p = 0; p < Ports; p++) begin : gen_port
      logic first_q;
      always_ff @(posedge clk) begin
        if (entered[p].valid && entered[p].ready) begin
          first_q <= entered[p].last;
          beat(Chain, p, entered[p].meta, first_q);
        end
        if (rst) first_q <= 1'b1;
      end
    end
  end

  for (genvar s = 0; s < Sources; s++) begin : gen_in
    logic first_q;
    always_ff @(posedge clk) begin
      if (in_valid[s] != 0) begin
        first_q <= in_beat[s].last;
        beat(Dispatched, s, in_beat[s].meta, first_q);
      end
      if (rst) first_q <= 1'b1;
    end
  end

  for (genvar u = 0; u < Units; u++) begin : gen_unit
    logic in_first_q, out_first_q;
    always_ff @(posedge clk) begin
      if (unit_valid[u]) begin
        in_first_q <= unit_beat[u/UnitsPerCluster].last;
        beat(UnitIn, u, unit_beat[u/UnitsPerCluster].meta, in_first_q);
      end
      if (from_units[u].valid && from_units[u].ready) begin
        out_first_q <= from_units[u].last;
        beat(UnitOut, u, from_units[u].meta, out_first_q);
      end
      if (slots[u].free_valid) penstock_hop(SlotFree, byte'(u), 0, byte'(u), byte'(slots[u].free_slot), 0);
      if (rst) begin
        in_first_q  <= 1'b1;
        out_first_q <= 1'b1;
      end
    end
  end

  for (genvar d = 0; d <= Ports; d++) begin : gen_exit
    for (genvar l = 0; l < Links; l++) begin : gen_link
      logic first_q;
      always_ff @(posedge clk) begin
        if (exit_valid[d][l]) begin
          first_q <= exit_beat[l].last;
          beat(Exit, d, exit_beat[l].meta, first_q);
        end
        if (rst) first_q <= 1'b1;
      end
    end
  end

  for (genvar c = 0; c < Clusters; c++) begin : gen_loopback
    logic first_q;
    always_ff @(posedge clk) begin
      if (out_valid[Ports+1][c]) begin
        first_q <= out_beat[c].last;
        beat(Exit, Ports + 1, out_beat[c].meta, first_q);
      end
      if (rst) first_q <= 1'b1;
    end
  end
endmodule

bind card card_trace #(
    .Ports(Ports),
    .Units(Units),
    .Blocks(Blocks),
    .Links(Links)
) i_trace (
    .clk,
    .rst,
    .entered(entered),
    .sources(sources),
    .in_valid,
    .in_beat,
    .unit_valid,
    .unit_beat,
    .from_units(from_units),
    .slots,
    .exit_valid,
    .exit_beat,
    .out_valid,
    .out_beat
);

`default_nettype wire
