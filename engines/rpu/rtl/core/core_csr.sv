// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// Control and status registers of machine mode. Read and written in EX, where a trap and its return are decided too. Only the trap of a branch
// comes from MEM: whether it is taken is known too late in EX to move these registers.
module core_csr
  import core_pkg::*;
(
    input  wire             clk,
    input  wire             rst,
    input  wire      [4:0]  hart_id,
    input  wire             irq,
    input  wire             quiet,     // no interrupt is pending, whatever `irq` says
    // CSR instruction
    input  wire csr_e       sel,
    input  wire             we,
    input  wire      [1:0]  op,        // 1 write, 2 set, 3 clear
    input  wire      [31:0] operand,
    output logic     [31:0] rdata,
    // trap: takes the cause of the exception unless `irq_taken`
    input  wire             trap,
    input  wire             irq_taken,
    input  wire exc_e       cause,
    input  wire pc_t        pc,
    input  wire      [31:0] tval,
    // a branch that was taken to the middle of a word, a cycle after it was in EX
    input  wire             branch_fault,
    input  wire pc_t        branch_pc,
    input  wire             mret,
    input  wire             retire,    // in EX; a branch that faults is taken back
    output logic            irq_pending,
    output logic            irq_active,
    output pc_t             epc
);

  localparam logic [3:0] CauseExternal = 4'd11;

  logic mie_q, mpie_q, irq_q, cause_irq_q, retire_q;
  logic [3:0] cause_q;
  logic [31:0] scratch_q, tval_q;
  logic [63:0] cycle_q, instret_q;

  always_comb begin
    unique case (sel)
      CsrMcycle:    rdata = cycle_q[31:0];
      CsrMcycleh:   rdata = cycle_q[63:32];
      CsrMinstret:  rdata = instret_q[31:0];
      CsrMinstreth: rdata = instret_q[63:32];
      CsrMscratch:  rdata = scratch_q;
      CsrMtval:     rdata = tval_q;
      CsrMepc:      rdata = {16'd0, epc, 2'd0};
      CsrMcause:    rdata = {cause_irq_q, 27'd0, cause_q};
      CsrMstatus:   rdata = {19'd0, 2'b11, 3'd0, mpie_q, 3'd0, mie_q, 3'd0};
      CsrMtvec:     rdata = 32'd4;
      default:      rdata = {27'd0, hart_id};
    endcase
  end

  logic [31:0] wdata;
  always_comb begin
    unique case (op)
      2'd2:    wdata = rdata | operand;
      2'd3:    wdata = rdata & ~operand;
      default: wdata = operand;
    endcase
  end

  // A half that is written takes the value instead of its count: the choice stands before the adder, where it costs nothing.
  wire we_cycle = we && sel == CsrMcycle;
  wire we_cycleh = we && sel == CsrMcycleh;
  wire we_instret = we && sel == CsrMinstret;
  wire we_instreth = we && sel == CsrMinstreth;

  always_ff @(posedge clk) begin
    irq_q     <= irq && !quiet;
    retire_q  <= retire && !we_instret;  // late by one cycle: no CSR instruction follows so closely
    cycle_q   <= {we_cycleh ? wdata : cycle_q[63:32], we_cycle ? wdata : cycle_q[31:0]} + 64'(!we_cycle);
    instret_q <= {we_instreth ? wdata : instret_q[63:32], we_instret ? wdata : instret_q[31:0]}
                 + 64'(retire_q && !branch_fault);

    if (we) begin
      unique case (sel)
        CsrMstatus:   {mpie_q, mie_q} <= {wdata[7], wdata[3]};
        CsrMscratch:  scratch_q <= wdata;
        CsrMepc:      epc <= wdata[15:2];
        CsrMcause:    {cause_irq_q, cause_q} <= {wdata[31], wdata[3:0]};
        CsrMtval:     tval_q <= wdata;
        default:      ;
      endcase
    end
    if (trap || branch_fault) begin
      {mpie_q, mie_q} <= {mie_q, 1'b0};
      cause_irq_q <= irq_taken && !branch_fault;
      cause_q     <= branch_fault ? ExcFetchMisaligned : irq_taken ? CauseExternal : cause;
      epc         <= branch_fault ? branch_pc : pc;
      tval_q      <= branch_fault ? '0 : tval;
      irq_active  <= 1'b1;
    end
    if (mret) begin
      {mpie_q, mie_q} <= {1'b1, mpie_q};
      irq_active <= 1'b0;
    end

    if (rst) begin
      {mpie_q, mie_q, irq_q, irq_active, retire_q} <= '0;
      {cause_irq_q, cause_q} <= '0;
      // firmware that reads them before it writes them does the same in each run
      epc       <= '0;
      tval_q    <= '0;
      scratch_q <= '0;
      cycle_q   <= '0;
      instret_q <= '0;
    end
  end

  assign irq_pending = irq_q & mie_q;

endmodule

`default_nettype wire
