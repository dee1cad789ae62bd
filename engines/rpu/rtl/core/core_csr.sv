// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// Control and status registers of machine mode. EX reads them, and decides traps and their returns. The writes of EX
// and the effects of a trap arrive a cycle later, out of registers, because the core knows late whether it goes on. No
// program can notice this: CSR instructions and mret are alone in EX, so the next one is two cycles behind and the
// handler of a trap more, and in that cycle no interrupt is pending. The trap of a branch comes from MEM anyhow.
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

  logic we_q, trap_q, irq_taken_q, mret_q;
  csr_e sel_q;
  logic [31:0] wdata_q, trap_tval_q;
  exc_e exc_q;
  pc_t trap_pc_q;

  always_ff @(posedge clk) begin
    we_q   <= we && !rst;
    trap_q <= trap && !rst;
    mret_q <= mret && !rst;
    sel_q       <= sel;
    wdata_q     <= wdata;
    irq_taken_q <= irq_taken;
    exc_q       <= cause;
    trap_pc_q   <= pc;
    trap_tval_q <= tval;
  end

  // A half that is written takes the value instead of its count: the choice is in front of the adder, where it costs
  // nothing.
  wire we_cycle = we_q && sel_q == CsrMcycle;
  wire we_cycleh = we_q && sel_q == CsrMcycleh;
  wire we_instret = we_q && sel_q == CsrMinstret;
  wire we_instreth = we_q && sel_q == CsrMinstreth;

  always_ff @(posedge clk) begin
    irq_q     <= irq && !quiet;
    retire_q  <= retire && !(we && sel == CsrMinstret);  // a CSR instruction that writes it is not counted on top
    cycle_q   <= {we_cycleh ? wdata_q : cycle_q[63:32], we_cycle ? wdata_q : cycle_q[31:0]} + 64'(!we_cycle);
    instret_q <= {we_instreth ? wdata_q : instret_q[63:32], we_instret ? wdata_q : instret_q[31:0]}
                 + 64'(retire_q && !branch_fault);

    if (we_q) begin
      unique case (sel_q)
        CsrMstatus:   {mpie_q, mie_q} <= {wdata_q[7], wdata_q[3]};
        CsrMscratch:  scratch_q <= wdata_q;
        CsrMepc:      epc <= wdata_q[15:2];
        CsrMcause:    {cause_irq_q, cause_q} <= {wdata_q[31], wdata_q[3:0]};
        CsrMtval:     tval_q <= wdata_q;
        default:      ;
      endcase
    end
    if (trap_q || branch_fault) begin
      {mpie_q, mie_q} <= {mie_q, 1'b0};
      cause_irq_q <= irq_taken_q && !branch_fault;
      cause_q     <= branch_fault ? ExcFetchMisaligned : irq_taken_q ? CauseExternal : exc_q;
      epc         <= branch_fault ? branch_pc : trap_pc_q;
      tval_q      <= branch_fault ? '0 : trap_tval_q;
      irq_active  <= 1'b1;
    end
    if (mret_q) begin
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

  assign irq_pending = irq_q & mie_q & !we_q;

endmodule

`default_nettype wire
