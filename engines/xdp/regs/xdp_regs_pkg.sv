// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
// Written by tools/regs.py from the .rdl files; change those.
package xdp_regs_pkg;

  // engines/xdp/regs/xdp.rdl
  localparam logic [31:0] XDP_HOST_BANK = 32'h00000090;
  localparam logic [31:0] XDP_HOST_BY_FLOW = 32'h00000094;
  localparam logic [31:0] XDP_HOST_WORKING = 32'h00000098;
  localparam logic [31:0] XDP_HOST_SHAPE = 32'h0000009C;
  localparam logic [31:0] XDP_HOST_ABORTED = 32'h000000A0;
  localparam logic [31:0] XDP_HOST_ROWS = 32'h000000A4;
  localparam logic [31:0] XDP_HOST_WILD = 32'h000000A8;
  localparam logic [31:0] XDP_HOST_STRAY = 32'h000000AC;

  // engines/xdp/regs/maps.rdl
  localparam logic [31:0] MAPS_HOST_SHAPE = 32'h00000000;
  localparam logic [31:0] MAPS_HOST_INFO = 32'h00000004;
  localparam logic [31:0] MAPS_HOST_COMMAND = 32'h00000008;
  localparam logic [31:0] MAPS_HOST_DEFINE = 32'h0000000C;
  localparam logic [31:0] MAPS_HOST_DESCRIPTOR = 32'h00000010;
  localparam logic [31:0] MAPS_HOST_DESCRIPTOR_COUNT = 32'h00000005;
  localparam logic [31:0] MAPS_HOST_SEED_LOW = 32'h00000024;
  localparam logic [31:0] MAPS_HOST_SEED_HIGH = 32'h00000028;
  localparam logic [31:0] MAPS_HOST_SEED_AT = 32'h0000002C;
  localparam logic [31:0] MAPS_HOST_MEMORY_ERRORS = 32'h00000030;
  localparam logic [31:0] MAPS_HOST_DATA = 32'h00000200;
  localparam logic [31:0] MAPS_HOST_DATA_COUNT = 32'h00000080;

endpackage
