// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// The core with its memories and a retirement trace. Driven by bench.cpp, a cycle at a time.
//   imem 64 KiB; data memory 1 MiB at 0x800000 (bits 31:20 of other addresses are not decoded)
//   store to 0x3C: interrupt acknowledged; store to 0xFFC: program ends
// `stall` prolongs the response of the request in MEM; its data is wrong until the last cycle.
module core_bench (
    input  wire         clk,
    input  wire         rst,
    input  wire  [4:0]  hart_id,
    input  wire         irq,
    input  wire         stall,
    input  wire  [31:0] noise,
    input  wire         halt,
    input  wire         halt_ebreak,
    input  wire         resume,
    input  wire         step,
    input  wire         pc_we,
    input  wire  [15:2] pc_wdata,
    output core_pkg::halted_e halted,
    output logic        quiet,
    output logic [1:0]  left_kind,    // what leaves EX in this cycle: kinds as below, 0 nothing
    output logic        irq_active,
    output logic [31:0] pc_o,
    output logic        ack,
    output logic        finished,
    // the event in WB: kind 1 retired, 2 exception, 3 interrupt
    output logic [1:0]  trace_kind,
    output logic [31:0] trace_pc,
    output logic [4:0]  trace_rd,     // 0: writes none
    output logic [31:0] trace_value,
    output logic [3:0]  trace_be,     // of a store
    output logic [31:0] trace_addr,
    output logic [31:0] trace_wdata
);

  logic [15:2] imem_addr;
  logic [31:0] imem_rdata;
  logic dbus_req, dbus_we;
  logic [3:0] dbus_be;
  logic [31:0] dbus_addr, dbus_wdata, dbus_rdata;
  logic dbus_wait;

  rpu_core dut (
      .dbus_rdata(128'(dbus_rdata) << {noise[8:7], 5'd0}),
      .dbus_retry(1'b0),
      .halt_load(1'b0),
      .irq_ready(),
      .*
  );

  logic [31:0] imem[16384]  /* verilator public */;
  logic [31:0] dmem[262144]  /* verilator public */;

  always_ff @(posedge clk) imem_rdata <= imem[imem_addr];

  logic pending_q;
  logic [31:0] rdata_q;
  wire taken = dbus_req && !dbus_wait;
  wire in_dmem = dbus_addr >= 32'h0080_0000;
  assign dbus_wait = pending_q && stall;
  assign dbus_rdata = pending_q && !stall ? rdata_q : noise;
  assign ack = taken && dbus_we && dbus_addr == 32'h3C;
  assign finished = taken && dbus_we && dbus_addr == 32'hFFC;

  always_ff @(posedge clk) begin
    if (rst) pending_q <= 1'b0;
    else if (!dbus_wait) pending_q <= dbus_req;
    if (taken) begin
      rdata_q <= in_dmem ? dmem[dbus_addr[19:2]] : 32'd0;
      for (int i = 0; i < 4; i++) begin
        if (dbus_we && in_dmem && dbus_be[i]) dmem[dbus_addr[19:2]][8*i+:8] <= dbus_wdata[8*i+:8];
      end
    end
  end

  // The trace follows each instruction from EX to WB beside the core, which decides in MEM that a branch has failed.
  wire traps = dut.e_trap || (dut.e_branch_taken && dut.e_target_odd_q);
  typedef struct packed {
    logic [1:0]  kind;
    logic [31:0] pc;
    logic [4:0]  rd;
    logic [3:0]  be;
    logic [31:0] addr;
    logic [31:0] wdata;
  } record_t;

  record_t m_q, w_q, e;
  always_comb begin
    e = '0;
    if (dut.e_go && dut.e_valid_q && !dut.e_halts) begin
      e.kind = !traps ? 2'd1 : dut.e_irq ? 2'd3 : 2'd2;
      e.pc   = pc_o;
      e.rd   = dut.e_ctl_q.wb && !traps ? dut.e_rd_q : 5'd0;
      if (taken && dbus_we) begin
        e.be    = dbus_be;
        e.addr  = dbus_addr;
        e.wdata = dbus_wdata;
      end
    end
  end

  always_ff @(posedge clk) begin
    if (!dbus_wait) {w_q, m_q} <= {m_q, e};
    if (rst) {w_q, m_q} <= '0;
  end

  assign left_kind = e.kind;
  assign trace_kind  = dbus_wait ? 2'd0 : w_q.kind;
  assign trace_pc    = w_q.pc;
  assign trace_rd    = w_q.rd;
  assign trace_value = dut.w_value;
  assign trace_be    = w_q.be;
  assign trace_addr  = w_q.addr;
  assign trace_wdata = w_q.wdata;

  // Before a program starts the branch target buffer is filled with noise, as another program would leave it: nothing
  // in it may change what the core does.
  always_ff @(posedge clk) if (rst) dut.btb.mem[noise[3:0]] <= {4'd0, noise[31:10]};

  logic [2:0] owed_q;  // instructions that completed although an interrupt was due
  always_ff @(posedge clk) begin
    if (rst || !irq || !dut.csr.mie_q || quiet) owed_q <= '0;
    else if (dut.e_go && dut.e_valid_q && !traps) owed_q <= owed_q + 3'd1;
    if (!rst) begin
      assert (w_q.kind == 2'd0 || dut.w_wb_q == (w_q.rd != 5'd0)) else $error("trace and register write differ");
      assert (owed_q < 3'd3) else $error("interrupt not taken");
    end
  end

endmodule

`default_nettype wire
