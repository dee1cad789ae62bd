// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// The card's 250 MHz out of the shell's 125 MHz register clock: one MMCM, the only vendor macro of a plugin. It does
// not depend on the
// CMACs' clocks, so a port whose clock stops stops nobody else.
module card_clock (
    input  wire logic axil_aclk,
    input  wire logic rst,
    output logic      card_clk,
    output logic      card_lock
);
  logic feedback, clk;
  MMCME4_BASE #(
      .CLKIN1_PERIOD(8.000),
      .CLKFBOUT_MULT_F(8.000),
      .CLKOUT0_DIVIDE_F(4.000)
  ) i_mmcm (
      .CLKIN1(axil_aclk),
      .RST(rst),
      .PWRDWN(1'b0),
      .CLKFBIN(feedback),
      .CLKFBOUT(feedback),
      .CLKFBOUTB(),
      .CLKOUT0(clk),
      .CLKOUT0B(),
      .CLKOUT1(),
      .CLKOUT1B(),
      .CLKOUT2(),
      .CLKOUT2B(),
      .CLKOUT3(),
      .CLKOUT3B(),
      .CLKOUT4(),
      .CLKOUT5(),
      .CLKOUT6(),
      .LOCKED(card_lock)
  );
  BUFG i_buffer (
      .I(clk),
      .O(card_clk)
  );
endmodule

`default_nettype wire
