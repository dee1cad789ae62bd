// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
// Written by tools/regs.py from the .rdl files; change those.
package bar_regs_pkg;

  // shell/cards/regs/bar.rdl
  localparam logic [31:0] BAR_MAGIC = 32'h00000000;
  localparam logic [31:0] BAR_VERSION = 32'h00000004;
  localparam logic [31:0] BAR_DESIGN = 32'h00000008;
  localparam logic [31:0] BAR_DESIGN_COUNT = 32'h00000004;
  localparam logic [31:0] BAR_SHELL = 32'h00000018;
  localparam logic [31:0] BAR_SHAPE = 32'h0000001C;
  localparam logic [31:0] BAR_PAGE = 32'h00000020;
  localparam logic [31:0] BAR_ERRORS = 32'h00000024;
  localparam logic [31:0] BAR_TIMEOUTS = 32'h00000028;
  localparam logic [31:0] BAR_STATUS = 32'h0000002C;
  localparam logic [31:0] BAR_RESET = 32'h00000030;
  localparam logic [31:0] BAR_PORT_BASE = 32'h00000040;
  localparam logic [31:0] BAR_PORT_STRIDE = 32'h00000008;
  localparam logic [31:0] BAR_PORT_COUNT = 32'h00000005;
  localparam logic [31:0] BAR_PORT_RX_LOST = 32'h00000000;
  localparam logic [31:0] BAR_PORT_TX_LOST = 32'h00000004;

endpackage
