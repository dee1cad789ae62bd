// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// Channels of the card's memory on a port of a board's memory, which has a clock of its own.
//
//   channels ─> axi_share ─> axi_one_id ─> axi_cross ─┆─> axi_cross ─> axi_finish ─> port
//               1                          3          ┆   4 to 5       1, data of writes 2
//   channels <─ axi_share <─ axi_one_id <─ axi_cross <┆── axi_cross <─ axi_finish <─ port
//               1                          4 to 5     ┆   3            0
//
// Channel i has 256 MiB of its own, from byte i·2^28 of the port on.
//
// A memory that is reset has forgotten what it was asked, so the wrapper resets the card with it. A card that is reset
// alone may be asking: the memory ends these bursts first, and until then the card's requests wait.
module memory_port
  import penstock_pkg::*;
#(
    parameter int unsigned Channels = 3
) (
    input wire logic clk,
    input wire logic rst,
    axi_if.sub       channel[Channels],  // IDs of 9 bits

    input wire logic mem_clk,
    input wire logic mem_rst_in,  // of any clock
    axi_if.mgr       mem          // IDs of 1 bit, always 0
);
  localparam int unsigned RangeW = 28;
  localparam int unsigned ChannelIdW = 9;
  localparam int unsigned MgrW = $clog2(CardChannels);
  axi_if #(.ID_W(ChannelIdW + MgrW)) shared ();
  axi_if #(.ID_W(1)) near ();
  axi_if #(.ID_W(1)) far ();
  logic mem_own_rst, cross_rst, cross_clear, mem_rst, mem_clear, hold;

  axi_share #(
      .Managers(Channels),
      .RangeW(RangeW),
      .MgrW(MgrW)
  ) i_share (
      .clk,
      .rst,
      .from(channel),
      .to(shared),
      .error()
  );
  axi_one_id i_one_id (
      .clk,
      .rst,
      .from(shared),
      .to(near)
  );

  reset_bridge i_mem_rst (
      .clk(mem_clk),
      .rst_in(mem_rst_in),
      .rst(mem_own_rst)
  );
  reset_pair i_mem_resets (
      .a_clk(mem_clk),
      .a_rst_in(mem_own_rst || hold),
      .a_rst(mem_rst),
      .a_clear(mem_clear),
      .b_clk(clk),
      .b_rst_in(rst),
      .b_rst(cross_rst),
      .b_clear(cross_clear)
  );
  axi_cross i_cross (
      .clk,
      .rst(cross_rst),
      .clear(cross_clear),
      .from(near),
      .mem_clk,
      .mem_rst,
      .mem_clear,
      .to(far)
  );
  axi_finish i_finish (
      .clk(mem_clk),
      .own_rst(mem_own_rst),
      .rst(mem_rst),
      .hold,
      .from(far),
      .to(mem)
  );
endmodule

`default_nettype wire
