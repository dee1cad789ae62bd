// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
// Written by tools/regs.py from the .rdl files; change those.
package rmt_regs_pkg;

  // engines/rmt/regs/rmt.rdl
  localparam logic [31:0] RMT_BLOCK_SHAPE = 32'h00000000;
  localparam logic [31:0] RMT_BLOCK_SIZES = 32'h00000004;
  localparam logic [31:0] RMT_BLOCK_SELECT = 32'h00000008;
  localparam logic [31:0] RMT_BLOCK_COMMIT = 32'h0000000C;
  localparam logic [31:0] RMT_BLOCK_MORE = 32'h00000010;
  localparam logic [31:0] RMT_BLOCK_LOST = 32'h00000014;
  localparam logic [31:0] RMT_BLOCK_LOST_PACKETS = 32'h00000018;
  localparam logic [31:0] RMT_BLOCK_LOST_CLONES = 32'h0000001C;
  localparam logic [31:0] RMT_BLOCK_TABLES = 32'h00000020;
  localparam logic [31:0] RMT_BLOCK_METERS = 32'h00000024;
  localparam logic [31:0] RMT_BLOCK_COUNT_H = 32'h00000028;
  localparam logic [31:0] RMT_BLOCK_DATA = 32'h00000100;
  localparam logic [31:0] RMT_BLOCK_DATA_COUNT = 32'h00000020;

endpackage
