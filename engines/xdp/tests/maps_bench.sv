// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// The card's maps with their links as plain ports, for test benches.
module maps_bench
  import map_pkg::*;
#(
    parameter int unsigned Units = 16,
    parameter int unsigned Banks = 16,
    parameter int unsigned Rows  = 1024,
    parameter int unsigned OnChip = Rows,
    parameter int unsigned Stages = 0
) (
    input wire logic clk,
    input wire logic rst,

    input  wire logic [Units-1:0]                 valid,
    input  wire logic [Units*$bits(flit_t)-1:0]   flit,
    output logic [Units-1:0]                      room,
    output logic [Units-1:0]                      reply_valid,
    output logic [Units*$bits(reply_t)-1:0]       reply,

    input  wire logic        cfg_req,
    input  wire logic        cfg_we,
    input  wire logic [11:0] cfg_addr,
    input  wire logic [31:0] cfg_wdata,
    output logic             cfg_ack,
    output logic             cfg_err,
    output logic [31:0]      cfg_rdata,

    // The next line that is written or read fails
    input wire logic fail_write,
    input wire logic fail_read,

    // Lines that were read from the card's memory, and that were written to it
    output logic [31:0] lines_in,
    output logic [31:0] lines_out
);
  map_if links[Units] ();
  cfg_if #(.ADDR_W(12)) cfg ();
  axi_if #(.ID_W(9)) memory ();

  for (genvar u = 0; u < Units; u++) begin : gen_link
    assign links[u].valid = valid[u];
    assign links[u].flit = flit[u*$bits(flit_t)+:$bits(flit_t)];
    assign room[u] = links[u].room;
    assign reply_valid[u] = links[u].reply_valid;
    assign reply[u*$bits(reply_t)+:$bits(reply_t)] = links[u].reply;
  end
  assign cfg.req = cfg_req;
  assign cfg.we = cfg_we;
  assign cfg.addr = cfg_addr;
  assign cfg.wdata = cfg_wdata;
  assign cfg_ack = cfg.ack;
  assign cfg_err = cfg.err;
  assign cfg_rdata = cfg.rdata;

  card_maps #(
      .Units(Units),
      .Banks(Banks),
      .Rows(Rows),
      .OnChip(OnChip),
      .Stages(Stages)
  ) maps (
      .clk,
      .rst,
      .links,
      .cfg,
      .memory
  );

`ifndef SYNTHESIS
  // Lines that are not on the chip, and faults of their memory
  axi_if #(.ID_W(9)) channel ();
  axi_fault i_fault (
      .clk,
      .rst,
      .fail_write,
      .fail_read({1'b0, fail_read}),
      .stop(1'b0),
      .from(memory),
      .to(channel)
  );
  // Quicker than DRAM: the tests are about the order of events, not their time.
  axi_memory #(
      .Latency(4),
      .RowMiss(2),
      .RowCycle(4),
      .RowGap(1),
      .Turn(1),
      .Refresh(20)
  ) i_memory (
      .clk,
      .rst,
      .link(channel)
  );
  axi_check i_check (
      .clk,
      .rst,
      .link(memory)
  );
  always_ff @(posedge clk) begin
    lines_in <= rst ? '0 : lines_in + 32'(memory.arvalid && memory.arready);
    lines_out <= rst ? '0 : lines_out + 32'(memory.awvalid && memory.awready);
  end
`endif
endmodule

`default_nettype wire
