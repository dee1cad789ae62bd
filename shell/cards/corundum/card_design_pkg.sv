// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
// The design that the card is built for. `penstock fpga init` writes this file with the design's values.
package card_design_pkg;
  import penstock_pkg::*, shell_pkg::*;

  localparam int unsigned Ports = 2;
  localparam logic [127:0] Design = '0;  // hash of the hardware
  localparam int unsigned Units = 16;
  localparam int unsigned IngressDepth = 4096;
  localparam int unsigned Blocks = 0;
  localparam int unsigned MapRows = 16384;
  localparam logic [MaxBlocks-1:0][7:0] BlockEngine = '0;
  localparam logic [MaxBlocks-1:0][63:0] BlockParam = '0;
  localparam logic [MaxUnits-1:0][7:0] Engine = '0;
  localparam logic [MaxUnits-1:0][31:0] UnitParam = '0;
endpackage
