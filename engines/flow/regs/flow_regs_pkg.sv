// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
// Written by tools/regs.py from the .rdl files; change those.
package flow_regs_pkg;

  // engines/flow/regs/flow.rdl
  localparam logic [31:0] FLOW_BLOCK_ELEMENTS = 32'h00000000;
  localparam logic [31:0] FLOW_BLOCK_CONTEXTS = 32'h00000004;

  // engines/flow/regs/flow.rdl
  localparam logic [31:0] FLOW_HOST_SHAPE = 32'h00000000;
  localparam logic [31:0] FLOW_HOST_STATUS = 32'h00000004;
  localparam logic [31:0] FLOW_HOST_BEGIN = 32'h00000008;
  localparam logic [31:0] FLOW_HOST_PROGRAM = 32'h0000000C;
  localparam logic [31:0] FLOW_HOST_CHANGE = 32'h00000010;
  localparam logic [31:0] FLOW_HOST_SECRET = 32'h00000014;
  localparam logic [31:0] FLOW_HOST_COMMAND = 32'h00000018;
  localparam logic [31:0] FLOW_HOST_PLACE = 32'h0000001C;
  localparam logic [31:0] FLOW_HOST_CONTEXTS = 32'h00000020;
  localparam logic [31:0] FLOW_HOST_STASH = 32'h00000024;
  localparam logic [31:0] FLOW_HOST_FRAMES = 32'h00000028;
  localparam logic [31:0] FLOW_HOST_KEYLESS = 32'h0000002C;
  localparam logic [31:0] FLOW_HOST_UNMATCHED = 32'h00000030;
  localparam logic [31:0] FLOW_HOST_UNKEPT = 32'h00000034;
  localparam logic [31:0] FLOW_HOST_EXPIRED = 32'h00000038;
  localparam logic [31:0] FLOW_HOST_EVICTED = 32'h0000003C;
  localparam logic [31:0] FLOW_HOST_MOVED = 32'h00000040;
  localparam logic [31:0] FLOW_HOST_EVENTS_LOST = 32'h00000044;
  localparam logic [31:0] FLOW_HOST_TABLE = 32'h00000048;
  localparam logic [31:0] FLOW_HOST_ROOM = 32'h0000004C;
  localparam logic [31:0] FLOW_HOST_TELL = 32'h00000050;
  localparam logic [31:0] FLOW_HOST_COUNT_H = 32'h00000054;
  localparam logic [31:0] FLOW_HOST_GLOBALS = 32'h00000060;
  localparam logic [31:0] FLOW_HOST_GLOBALS_COUNT = 32'h00000008;
  localparam logic [31:0] FLOW_HOST_KEY = 32'h00000080;
  localparam logic [31:0] FLOW_HOST_KEY_COUNT = 32'h0000000A;
  localparam logic [31:0] FLOW_HOST_STATE = 32'h000000A8;
  localparam logic [31:0] FLOW_HOST_REGISTERS = 32'h000000AC;
  localparam logic [31:0] FLOW_HOST_REGISTERS_COUNT = 32'h00000004;
  localparam logic [31:0] FLOW_HOST_TIMEOUT = 32'h000000BC;
  localparam logic [31:0] FLOW_HOST_TIMEOUT_COUNT = 32'h00000002;
  localparam logic [31:0] FLOW_HOST_DEADLINE = 32'h000000C4;
  localparam logic [31:0] FLOW_HOST_DEADLINE_COUNT = 32'h00000002;
  localparam logic [31:0] FLOW_HOST_ROWS = 32'h00000100;
  localparam logic [31:0] FLOW_HOST_ROWS_COUNT = 32'h00000040;
  localparam logic [31:0] FLOW_HOST_EVENT = 32'h00000200;
  localparam logic [31:0] FLOW_HOST_EVENT_TIME = 32'h00000204;
  localparam logic [31:0] FLOW_HOST_EVENT_FLOW = 32'h00000208;
  localparam logic [31:0] FLOW_HOST_EVENT_FLOW_COUNT = 32'h0000000F;
  localparam logic [31:0] FLOW_HOST_EVENT_GONE = 32'h00000244;
  localparam logic [31:0] FLOW_HOST_EVENT_GONE_COUNT = 32'h0000000F;

endpackage
