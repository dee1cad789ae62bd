// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// The core between memories of a unit's size, for the Fmax of the core alone: block memories answer slowly, and a core
// that is placed without them looks faster than it is. Other memories are outside.
module core_with_memories (
    input  wire         clk,
    input  wire         rst,
    input  wire  [4:0]  hart_id,
    input  wire         dbus_wait,
    input  wire  [31:0] io_rdata,
    input  wire         irq,
    input  wire         dbus_retry,
    output logic        irq_ready,
    input  wire         halt,
    input  wire         halt_ebreak,
    input  wire         halt_load,
    input  wire         resume,
    input  wire         step,
    input  wire         pc_we,
    input  wire  [15:2] pc_wdata,
    output core_pkg::halted_e halted,
    output logic        quiet,
    input  wire         imem_we,
    input  wire  [13:0] imem_waddr,
    input  wire  [31:0] imem_wdata,
    output logic        dbus_req,
    output logic        dbus_we,
    output logic [3:0]  dbus_be,
    output logic [31:0] dbus_addr,
    output logic [31:0] dbus_wdata,
    output logic        irq_active,
    output logic [31:0] pc_o
);

  logic [13:0] imem_addr;
  logic [31:0] imem_rdata;
  (* ram_style = "block" *)logic [31:0] imem[16384];
  always_ff @(posedge clk) begin
    if (imem_we) imem[imem_waddr] <= imem_wdata;
    imem_rdata <= imem[imem_addr];
  end

  logic [31:0] dmem_rdata;
  logic        dmem_hit_q;
  wire         dmem_en = dbus_req && !dbus_wait && dbus_addr[23];
  (* ram_style = "block" *)logic [31:0] dmem[8192];
  always_ff @(posedge clk) begin
    if (dmem_en) begin
      for (int i = 0; i < 4; i++) if (dbus_we && dbus_be[i]) dmem[dbus_addr[14:2]][8*i+:8] <= dbus_wdata[8*i+:8];
      dmem_rdata <= dmem[dbus_addr[14:2]];
    end
    if (!dbus_wait) dmem_hit_q <= dbus_addr[23];
  end

  rpu_core u_core (
      .dbus_rdata({64'd0, dmem_hit_q ? dmem_rdata : '0, dmem_hit_q ? '0 : io_rdata}),
      .*
  );

endmodule

`default_nettype wire
