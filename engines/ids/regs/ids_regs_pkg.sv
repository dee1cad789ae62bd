// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
// Written by tools/regs.py from the .rdl files; change those.
package ids_regs_pkg;

  // engines/ids/regs/ids.rdl
  localparam logic [31:0] IDS_BLOCK_SHAPE = 32'h00000000;
  localparam logic [31:0] IDS_BLOCK_CONTROL = 32'h00000004;
  localparam logic [31:0] IDS_BLOCK_STATUS = 32'h00000008;
  localparam logic [31:0] IDS_BLOCK_TELL = 32'h0000000C;
  localparam logic [31:0] IDS_BLOCK_TIMEOUT = 32'h00000010;
  localparam logic [31:0] IDS_BLOCK_AGE = 32'h00000014;
  localparam logic [31:0] IDS_BLOCK_CLEAR = 32'h00000018;
  localparam logic [31:0] IDS_BLOCK_BITMAP = 32'h0000001C;
  localparam logic [31:0] IDS_BLOCK_KEY_L = 32'h00000020;
  localparam logic [31:0] IDS_BLOCK_KEY_H = 32'h00000024;
  localparam logic [31:0] IDS_BLOCK_ENTRY = 32'h00000028;
  localparam logic [31:0] IDS_BLOCK_PLACE = 32'h0000002C;
  localparam logic [31:0] IDS_BLOCK_RECORD = 32'h00000030;
  localparam logic [31:0] IDS_BLOCK_VERDICT = 32'h00000034;
  localparam logic [31:0] IDS_BLOCK_RELEASE = 32'h00000038;
  localparam logic [31:0] IDS_BLOCK_FOLLOW = 32'h0000003C;
  localparam logic [31:0] IDS_BLOCK_LOG_HEAD = 32'h00000040;
  localparam logic [31:0] IDS_BLOCK_LOG_HEAD_COUNT = 32'h00000004;
  localparam logic [31:0] IDS_BLOCK_LOST_RECORDS = 32'h00000050;
  localparam logic [31:0] IDS_BLOCK_EVICTED = 32'h00000054;
  localparam logic [31:0] IDS_BLOCK_FLOWS = 32'h00000058;
  localparam logic [31:0] IDS_BLOCK_LATE = 32'h0000005C;
  localparam logic [31:0] IDS_BLOCK_FRAMES = 32'h00000060;
  localparam logic [31:0] IDS_BLOCK_FRAMES_COUNT = 32'h00000004;
  localparam logic [31:0] IDS_BLOCK_TOLD = 32'h00000070;
  localparam logic [31:0] IDS_BLOCK_TOLD_COUNT = 32'h00000004;
  localparam logic [31:0] IDS_BLOCK_STRINGS = 32'h00000080;
  localparam logic [31:0] IDS_BLOCK_STRINGS_COUNT = 32'h00000004;
  localparam logic [31:0] IDS_BLOCK_UNCHECKED = 32'h00000090;
  localparam logic [31:0] IDS_BLOCK_UNCHECKED_COUNT = 32'h00000004;
  localparam logic [31:0] IDS_BLOCK_SEARCHED = 32'h000000A0;
  localparam logic [31:0] IDS_BLOCK_SEARCHED_COUNT = 32'h00000004;
  localparam logic [31:0] IDS_BLOCK_TUNNEL = 32'h000000C0;
  localparam logic [31:0] IDS_BLOCK_TUNNEL_COUNT = 32'h00000008;
  localparam logic [31:0] IDS_BLOCK_FETCHED = 32'h000000E0;
  localparam logic [31:0] IDS_BLOCK_MEMORY_ERRORS = 32'h000000E4;
  localparam logic [31:0] IDS_BLOCK_SEEN = 32'h000000E8;
  localparam logic [31:0] IDS_BLOCK_COUNT_H = 32'h000000EC;

endpackage
