// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
// Written by tools/regs.py from the .rdl files; change those.
package l7_regs_pkg;

  // engines/l7/regs/l7.rdl
  localparam logic [31:0] L7_BLOCK_SHAPE = 32'h00000000;
  localparam logic [31:0] L7_BLOCK_LIMITS = 32'h00000004;
  localparam logic [31:0] L7_BLOCK_TIMEOUT = 32'h00000008;
  localparam logic [31:0] L7_BLOCK_ROW = 32'h0000000C;
  localparam logic [31:0] L7_BLOCK_CYCLES = 32'h00000010;
  localparam logic [31:0] L7_BLOCK_CARD = 32'h00000014;
  localparam logic [31:0] L7_BLOCK_COUNT_H = 32'h00000018;
  localparam logic [31:0] L7_BLOCK_FILTER = 32'h00000020;
  localparam logic [31:0] L7_BLOCK_FILTER_COUNT = 32'h00000008;
  localparam logic [31:0] L7_BLOCK_STARTS = 32'h00000400;
  localparam logic [31:0] L7_BLOCK_STARTS_COUNT = 32'h00000040;
  localparam logic [31:0] L7_BLOCK_ROW_WORDS = 32'h00001000;
  localparam logic [31:0] L7_BLOCK_ROW_WORDS_COUNT = 32'h0000002E;
  localparam logic [31:0] L7_BLOCK_CLASSES = 32'h00002000;
  localparam logic [31:0] L7_BLOCK_CLASSES_COUNT = 32'h00000080;
  localparam logic [31:0] L7_BLOCK_DECISIONS = 32'h00010000;
  localparam logic [31:0] L7_BLOCK_DECISIONS_COUNT = 32'h00002000;
  localparam logic [31:0] L7_BLOCK_HITS = 32'h00018000;
  localparam logic [31:0] L7_BLOCK_HITS_COUNT = 32'h00002000;

  // engines/l7/regs/l7.rdl
  localparam logic [31:0] L7_APP_BANK = 32'h00000000;
  localparam logic [31:0] L7_APP_OLD = 32'h00000004;
  localparam logic [31:0] L7_APP_MATCHERS = 32'h00000008;
  localparam logic [31:0] L7_APP_PAGES_MAX = 32'h0000000C;
  localparam logic [31:0] L7_APP_MESSAGES_MAX = 32'h00000010;
  localparam logic [31:0] L7_APP_PAGES = 32'h00000014;
  localparam logic [31:0] L7_APP_MESSAGES = 32'h00000018;
  localparam logic [31:0] L7_APP_PROTOCOL = 32'h0000001C;
  localparam logic [31:0] L7_APP_PACKETS = 32'h00000020;
  localparam logic [31:0] L7_APP_MALFORMED = 32'h00000024;
  localparam logic [31:0] L7_APP_DUPLICATES = 32'h00000028;
  localparam logic [31:0] L7_APP_OVERSIZE = 32'h0000002C;
  localparam logic [31:0] L7_APP_REFUSED = 32'h00000030;
  localparam logic [31:0] L7_APP_BUSY = 32'h00000034;
  localparam logic [31:0] L7_APP_DELIVERED = 32'h00000038;
  localparam logic [31:0] L7_APP_DENIED = 32'h0000003C;
  localparam logic [31:0] L7_APP_EXPIRED = 32'h00000040;
  localparam logic [31:0] L7_APP_STUCK = 32'h00000044;
  localparam logic [31:0] L7_APP_FAILED = 32'h00000048;

endpackage
