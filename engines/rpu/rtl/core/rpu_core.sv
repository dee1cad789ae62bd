// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// RISC-V core of a packet unit: RV32IM, Zbb, Zicsr, machine mode, in order, one instruction a cycle.
//
//   FETCH ─────> WAIT ──────> DECODE ─────> EX ──────────> MEM ─────────> WB
//   address to   word comes   registers,    ALU, address   load data,     align a load,
//   memory, BTB  from memory  forwarding,   to data bus,   sum of         register file
//                             pc + offset   branch, trap   products
//
// FETCH, WAIT and DECODE move together. They stop while DECODE needs an operand that is on its way:
//   result of                                          instruction after it waits
//   add, logic, shift, comparison                      0 cycles
//   min, max, sext, rev8, orc.b, CSR read              1
//   load, multiply, clz, ctz, cpop                     2: memory and adders have the whole of MEM
//   divide                                             stays in EX: 3 to 33, see core_div.sv
// A CSR instruction or mret enters EX alone (1 cycle). `dbus_wait` stops everything. EX resolves branches and jumps: 0
// cycles if FETCH predicted them, else 3; a trap and mret also cost 3. An instruction in EX is never speculative:
// everything that could cancel it has passed EX. The address phase therefore needs no undo, and EX takes exceptions and
// interrupts. Only a load that waits in MEM may give up (`dbus_retry`); the interrupt then returns to it. minstret has
// counted this load by then, and counts it again.
//
// Halting takes an instruction in EX as an interrupt does, with its way out of a load that waits, but writes no CSR:
// its address stays in the PC of EX, and FETCH goes on without effect. Waking is a redirection to that address. A step
// halts again at the first instruction that comes into EX after one has left it, completed or with an exception. No
// interrupt is taken in a step.
//
// PCs have 16 bits: jumps and mepc are taken modulo 64 KiB, the size of the instruction memory.
module rpu_core
  import core_pkg::*;
(
    input  wire         clk,
    input  wire         rst,
    input  wire  [4:0]  hart_id,
    // instruction memory: the word follows its address by a cycle, every cycle
    output logic [15:2] imem_addr,
    input  wire  [31:0] imem_rdata,
    // data bus, address phase: taken in a cycle with !dbus_wait, and never speculative
    output logic        dbus_req,
    output logic        dbus_we,
    output logic [3:0]  dbus_be,
    output logic [31:0] dbus_addr,
    output logic [31:0] dbus_wdata,
    // data bus, response phase: the cycle after, or later while `dbus_wait` holds the core
    input  wire         dbus_wait,
    input  wire  [3:0][31:0] dbus_rdata,  // the word in four parts that meet in WB: all but one are zero
    input  wire         dbus_retry,  // the load in MEM gives up, without an effect, to what `irq_ready` announced
    // interrupt: level, masked by its source
    input  wire         irq,
    output logic        irq_ready,   // an interrupt would be taken now, or the core would halt
    output logic        irq_active,  // a trap was taken and mret has not come
    output logic [31:0] pc_o,        // address of the instruction in EX, or of the next to come there
    // debugging
    input  wire         halt,        // level: halt before the next instruction
    input  wire         halt_ebreak, // level: ebreak halts, and is no exception
    input  wire         halt_load,   // one cycle: a load that waits in a step gives up, and the step ends
    input  wire         resume,      // one cycle, while halted: go on
    input  wire         step,        // one cycle, while halted: carry out one instruction
    input  wire         pc_we,       // one cycle, while halted: go on elsewhere
    input  wire  [15:2] pc_wdata,
    output halted_e     halted,
    output logic        quiet        // halted or in a step
);

  localparam pc_t TrapPc = 14'd1;

  // ---- flow of the pipeline
  logic redirect;           // EX sends FETCH elsewhere and cancels what is behind it
  pc_t  redirect_pc;
  logic d_stall;            // DECODE waits for an operand
  logic e_busy;             // a division is under way
  wire e_go = !dbus_wait && !e_busy;
  wire d_go = e_go && !d_stall;
  logic halted_q;           // nothing is in DECODE, EX and MEM; what FETCH brings is not valid
  logic halt_due_q;         // the instruction in EX, or the next to come there, is taken out and the core halts
  logic wake_q;             // the last cycle of a halt

  // ---- FETCH
  pc_t f_pc_q, btb_target;
  counter_t btb_counter;

  assign imem_addr = f_pc_q;

  always_ff @(posedge clk) begin
    if (rst) f_pc_q <= '0;
    else if (e_go && redirect) f_pc_q <= redirect_pc;
    else if (d_go) f_pc_q <= btb_counter[1] ? btb_target : f_pc_q + 14'd1;
  end

  // ---- WAIT and the registers of DECODE
  logic i_valid_q, d_valid_q;
  pc_t i_pc_q, d_pc_q;
  counter_t i_counter_q, d_counter_q;
  logic [31:0] d_instr_q;

  // Memory goes on while DECODE stalls, so the word that it gave first is kept; an enable of the memory would arrive
  // late and has a long way.
  logic kept_valid_q;
  logic [31:0] kept_q;
  wire [31:0] i_instr = kept_valid_q ? kept_q : imem_rdata;

  always_ff @(posedge clk) begin
    kept_valid_q <= !d_go && !rst;
    kept_q <= i_instr;
  end

  always_ff @(posedge clk) begin
    if (d_go) begin
      i_valid_q   <= !halted_q;
      i_pc_q      <= f_pc_q;
      i_counter_q <= btb_counter;
      d_valid_q   <= i_valid_q;
      d_pc_q      <= i_pc_q;
      d_counter_q <= i_counter_q;
      d_instr_q   <= i_instr;
    end
    if (rst || (e_go && redirect)) begin
      i_valid_q <= 1'b0;
      d_valid_q <= 1'b0;
    end
  end

  // ---- DECODE
  ctl_t d_ctl;
  logic d_use_rs1, d_use_rs2, d_b_is_rs2, d_b_is_auipc, d_b_is_link, d_is_csr;
  logic [31:0] d_imm, d_const, rf_rs1, rf_rs2;
  logic [11:0] d_offset;
  logic [15:1] d_jump;

  core_decode decode (
      .instr(d_instr_q),
      .ctl(d_ctl),
      .use_rs1(d_use_rs1),
      .use_rs2(d_use_rs2),
      .b_is_rs2(d_b_is_rs2),
      .b_is_auipc(d_b_is_auipc),
      .b_is_link(d_b_is_link),
      .is_csr(d_is_csr),
      .imm(d_imm),
      .jump(d_jump),
      .offset(d_offset)
  );

  wire [15:1] d_target = {d_pc_q, 1'b0} + d_jump;
  wire [31:12] d_auipc = d_instr_q[31:12] + 20'(d_pc_q[13:10]);
  always_comb begin
    d_const = d_imm;
    if (d_b_is_auipc) d_const = {d_auipc, d_pc_q[9:0], 2'd0};
    if (d_b_is_link) d_const = {16'd0, d_pc_q + 14'd1, 2'd0};
  end

  // Results on their way. Each `_wb_q` is only set for a valid instruction that writes a register other than x0.
  ctl_t e_ctl_q;
  logic e_valid_q, m_wb_q, m_late_q, w_wb_q;
  logic [4:0] e_rd_q, m_rd_q, w_rd_q;
  logic [31:0] e_fast, m_value, w_value;

  core_regfile regfile (
      .clk,
      .we(w_wb_q && !rst),
      .waddr(w_rd_q),
      .wdata(w_value),
      .raddr1(d_instr_q[19:15]),
      .rdata1(rf_rs1),
      .raddr2(d_instr_q[24:20]),
      .rdata2(rf_rs2)
  );

  wire e_hit1 = e_ctl_q.wb && e_rd_q == d_instr_q[19:15];
  wire e_hit2 = e_ctl_q.wb && e_rd_q == d_instr_q[24:20];
  wire m_hit1 = m_wb_q && m_rd_q == d_instr_q[19:15];
  wire m_hit2 = m_wb_q && m_rd_q == d_instr_q[24:20];
  wire w_hit1 = w_wb_q && w_rd_q == d_instr_q[19:15];
  wire w_hit2 = w_wb_q && w_rd_q == d_instr_q[24:20];

  // A CSR instruction enters EX alone, so that minstret has counted all earlier instructions and the registers that it
  // reads are written; mret for the same reason.
  assign d_stall = d_valid_q && (((d_is_csr || d_ctl.mret) && e_valid_q) ||
                                 (d_use_rs1 && ((e_hit1 && e_ctl_q.late) || (m_hit1 && m_late_q)))
                              || (d_use_rs2 && ((e_hit2 && e_ctl_q.late) || (m_hit2 && m_late_q))));

  // The result of EX arrives last, so it enters at the last level.
  logic [1:0] d_from1, d_from2;
  logic [31:0] d_early1, d_early2, d_a, d_b;
  always_comb begin
    d_from1 = m_hit1 ? 2'd1 : w_hit1 ? 2'd2 : 2'd0;
    d_from2 = !d_b_is_rs2 ? 2'd3 : m_hit2 ? 2'd1 : w_hit2 ? 2'd2 : 2'd0;
    unique case (d_from1)
      2'd0:    d_early1 = rf_rs1;
      2'd1:    d_early1 = m_value;
      default: d_early1 = w_value;
    endcase
    unique case (d_from2)
      2'd0: d_early2 = rf_rs2;
      2'd1: d_early2 = m_value;
      2'd2: d_early2 = w_value;
      2'd3: d_early2 = d_const;
    endcase
    d_a = e_hit1 ? e_fast : d_early1;
    d_b = (e_hit2 && d_b_is_rs2 ? e_fast : d_early2) ^ {32{d_ctl.alu.inv_b}};
  end

  // ---- registers of EX
  pc_t e_pc_q, e_pc_d, e_target_q;
  counter_t e_counter_q;
  logic e_target_ok_q;      // the instruction that follows in DECODE is that at e_target_q
  logic e_target_odd_q;     // the target would lie between two words
  logic [31:0] e_a_q, e_b_q;
  logic [11:0] e_offset_q;

  always_ff @(posedge clk) begin
    if (e_go) begin
      e_valid_q <= d_valid_q && !d_stall && !redirect;
      e_ctl_q <= d_ctl;
      if (!d_valid_q || d_stall || redirect) begin
        e_ctl_q.wb     <= 1'b0;
        e_ctl_q.load   <= 1'b0;
        e_ctl_q.store  <= 1'b0;
        e_ctl_q.branch <= 1'b0;
        e_ctl_q.jal    <= 1'b0;
        e_ctl_q.jalr   <= 1'b0;
        e_ctl_q.mul    <= 1'b0;
        e_ctl_q.count  <= 1'b0;
        e_ctl_q.div    <= 1'b0;
        e_ctl_q.csr_we <= 1'b0;
        e_ctl_q.mret   <= 1'b0;
        e_ctl_q.exc    <= 1'b0;
        e_ctl_q.ebreak <= 1'b0;
      end
      e_pc_q         <= e_pc_d;
      e_counter_q    <= d_counter_q;
      e_rd_q         <= d_instr_q[11:7];
      e_target_q     <= d_target[1] ? TrapPc : d_target[15:2];
      e_target_ok_q  <= d_target[15:1] == {i_pc_q, 1'b0};
      e_target_odd_q <= d_target[1];
      e_a_q          <= d_a;
      e_b_q          <= d_b;
      e_offset_q     <= d_offset;
    end
    if (rst) begin
      e_valid_q <= 1'b0;
      e_ctl_q   <= '0;
      e_pc_q    <= '0;
    end
  end

  // ---- EX
  logic [31:0] e_minmax, e_unary, e_csr, e_quotient, e_slow;
  logic e_equal, e_less;

  core_alu alu (
      .ctl(e_ctl_q.alu),
      .a(e_a_q),
      .b(e_b_q),
      .fast(e_fast),
      .minmax(e_minmax),
      .unary(e_unary),
      .equal(e_equal),
      .less(e_less)
  );

  // Addresses: data, and jalr.
  wire [31:0] e_addr = e_a_q + {{20{e_offset_q[11]}}, e_offset_q};
  wire e_misaligned = e_ctl_q.f3[1] ? e_addr[1:0] != 2'd0 : e_ctl_q.f3[0] && e_addr[0];

  // Branches. The instruction after this one is in DECODE, so d_pc_q is FETCH's prediction.
  wire e_condition = (e_ctl_q.f3[2] ? e_less : e_equal) ^ e_ctl_q.f3[0];
  wire e_branch_taken = e_ctl_q.branch && e_condition;
  wire e_taken = e_branch_taken || e_ctl_q.jal || e_ctl_q.jalr;

  // Traps. A branch to the middle of a word has the trap handler as its target; its condition arrives late, so it
  // counts in MEM.
  logic irq_pending;
  pc_t epc, m_pc_q;
  // or halted: nothing of the instruction happens
  wire e_irq = (e_valid_q || dbus_retry) && (irq_pending || halt_due_q);
  wire e_break = e_ctl_q.ebreak && halt_ebreak && !e_irq;
  wire e_mem_fault = (e_ctl_q.load || e_ctl_q.store) && e_misaligned;
  wire e_jalr_fault = e_ctl_q.jalr && e_addr[1];
  wire e_trap = e_irq || e_ctl_q.exc || e_mem_fault || e_jalr_fault;
  logic m_branch_fault_q;
  always_ff @(posedge clk) m_branch_fault_q <= e_go && e_branch_taken && e_target_odd_q && !e_irq && !rst;

  pc_t e_other_pc;
  always_comb begin
    if (e_trap) e_other_pc = TrapPc;
    else if (e_ctl_q.mret) e_other_pc = epc;
    else if (e_ctl_q.jalr) e_other_pc = e_addr[15:2];
    else if (e_ctl_q.jal) e_other_pc = e_target_q;
    else e_other_pc = e_pc_q + 14'(!halted_q);
    redirect_pc = e_branch_taken && !e_irq ? e_target_q : e_other_pc;

    if (e_trap || e_ctl_q.mret) redirect = 1'b1;
    else if (e_ctl_q.jalr) redirect = e_addr[15:2] != d_pc_q;
    else if (e_ctl_q.jal) redirect = !e_target_ok_q;
    else redirect = e_branch_taken ? !e_target_ok_q : (e_valid_q && e_counter_q[1]) || wake_q;
  end

  // ---- debugging
  logic step_q;         // one instruction is carried out
  logic halt_load_q;
  halted_e cause_q;
  wire e_halts = (e_irq && halt_due_q) || e_break;

  always_ff @(posedge clk) begin
    // A request that is taken back may have been on its way.
    wake_q <= halted_q && !wake_q && (resume || step || (cause_q == HaltRequest && !halt));
    if (e_go && e_halts) begin
      halted_q    <= 1'b1;
      halt_due_q  <= 1'b0;
      halt_load_q <= 1'b0;
      step_q      <= 1'b0;
      cause_q     <= e_break ? HaltEbreak : step_q && !halt_load_q && !resume ? HaltStep : HaltRequest;
    end else begin
      if (wake_q) halted_q <= 1'b0;
      if (halted_q && step) step_q <= 1'b1;
      if (!halted_q && (step_q ? e_go && e_valid_q : halt)) halt_due_q <= 1'b1;
      if (step_q && halt_load) halt_load_q <= 1'b1;
      // Let go while a step waits in a load: it is no step any more.
      if (step_q && resume) step_q <= 1'b0;
    end
    if (rst) begin
      halted_q    <= 1'b0;
      wake_q      <= 1'b0;
      halt_due_q  <= 1'b0;
      halt_load_q <= 1'b0;
      step_q      <= 1'b0;
    end
  end

  always_comb begin
    e_pc_d = d_pc_q;
    if (halted_q) e_pc_d = pc_we ? pc_wdata : e_pc_q;
    else if (e_halts) e_pc_d = dbus_retry ? m_pc_q : e_pc_q;
  end

  assign halted = halted_q ? cause_q : Running;
  assign quiet = halted_q || step_q;
  // In a step a load waits as long as it must.
  assign irq_ready = irq_pending || (halt_due_q && (!step_q || halt_load_q));

  core_csr csr (
      .clk,
      .rst,
      .hart_id,
      .irq,
      .quiet,
      .sel(e_ctl_q.csr),
      .we(e_go && e_ctl_q.csr_we && !e_irq),
      .op(e_ctl_q.f3[1:0]),
      .operand(e_ctl_q.f3[2] ? e_b_q : e_a_q),
      .rdata(e_csr),
      .trap(e_go && e_trap && !halt_due_q && !e_break),
      .irq_taken(e_irq),
      .cause(e_jalr_fault ? ExcFetchMisaligned : e_ctl_q.cause),
      .pc(dbus_retry ? m_pc_q : e_pc_q),
      .tval(!e_irq && e_mem_fault ? e_addr : 32'd0),
      .mret(e_go && e_ctl_q.mret && !e_irq),
      .branch_fault(m_branch_fault_q),
      .branch_pc(m_pc_q),
      .retire(e_go && e_valid_q && !e_trap),
      .irq_pending,
      .irq_active,
      .epc
  );

  counter_t new_counter;
  always_comb begin
    unique case ({e_taken, e_counter_q})
      3'b100:  new_counter = 2'd2;
      3'b101:  new_counter = 2'd2;
      3'b110, 3'b111: new_counter = 2'd3;
      3'b011:  new_counter = 2'd2;
      3'b010:  new_counter = 2'd1;
      default: new_counter = 2'd0;
    endcase
  end

  core_btb btb (
      .clk,
      .pc(f_pc_q),
      .counter(btb_counter),
      .target(btb_target),
      .we(e_go && e_valid_q && (e_taken || e_counter_q != 2'd0)),
      .wpc(e_pc_q),
      .wtarget(e_ctl_q.jalr ? e_addr[15:2] : e_target_q),
      .wcounter(new_counter)
  );

  logic div_done;
  assign e_busy = e_ctl_q.div && !div_done && !e_irq;

  core_div div (
      .clk,
      .rst,
      .start(e_ctl_q.div),
      .leave(e_go),
      .f3(e_ctl_q.f3[1:0]),
      .a(e_a_q),
      .b(e_b_q),
      .done(div_done),
      .res(e_quotient)
  );

  always_comb begin
    unique case (e_ctl_q.slow)
      SlowMinMax: e_slow = e_minmax;
      SlowUnary:  e_slow = e_unary;
      SlowCsr:    e_slow = e_csr;
      SlowDiv:    e_slow = e_quotient;
    endcase
  end

  // Data bus, address phase.
  assign dbus_req = (e_ctl_q.load || e_ctl_q.store) && !e_irq && !e_misaligned;
  assign dbus_we = e_ctl_q.store;
  assign dbus_addr = e_addr;
  always_comb begin
    unique case (e_ctl_q.f3[1:0])
      2'd0: begin
        dbus_be = 4'b0001 << e_addr[1:0];
        dbus_wdata = {4{e_b_q[7:0]}};
      end
      2'd1: begin
        dbus_be = e_addr[1] ? 4'b1100 : 4'b0011;
        dbus_wdata = {2{e_b_q[15:0]}};
      end
      default: begin
        dbus_be = 4'b1111;
        dbus_wdata = e_b_q;
      end
    endcase
  end

  assign pc_o = {16'd0, e_pc_q, 2'd0};

  // ---- MEM
  logic m_is_slow_q, m_load_q, m_mul_q, m_count_q;
  logic [5:0] m_count;
  logic [2:0] m_f3_q;
  logic [1:0] m_byte_q;
  logic [31:0] m_fast_q, m_slow_q, m_product;

  always_ff @(posedge clk) begin
    if (!dbus_wait) begin
      m_wb_q      <= e_ctl_q.wb && e_go && !e_trap;  // a branch writes nothing
      m_rd_q      <= e_rd_q;
      m_pc_q      <= e_pc_q;
      m_late_q    <= e_ctl_q.load || e_ctl_q.mul || e_ctl_q.count;
      m_is_slow_q <= e_ctl_q.is_slow;
      m_load_q    <= e_ctl_q.load;
      m_mul_q     <= e_ctl_q.mul;
      m_count_q   <= e_ctl_q.count;
      m_f3_q      <= e_ctl_q.f3;
      m_byte_q    <= e_addr[1:0];
      m_slow_q    <= e_slow;
      m_fast_q    <= e_fast;
    end
    if (rst) m_wb_q <= 1'b0;
  end

  core_mul mul (
      .clk,
      .en(!dbus_wait && e_ctl_q.mul),
      .f3(e_ctl_q.f3[1:0]),
      .a(e_a_q),
      .b(e_b_q),
      .res(m_product)
  );

  core_count count (
      .clk,
      .en(!dbus_wait && e_ctl_q.count),
      .which(e_b_q[1:0]),
      .a(e_a_q),
      .res(m_count)
  );

  assign m_value = m_is_slow_q ? m_slow_q : m_fast_q;

  // ---- WB: what memory gave is a register here, so that its long way does not meet the forwarding.
  logic w_load_q;
  logic [2:0] w_f3_q;
  logic [1:0] w_byte_q;
  logic [31:0] w_value_q;
  logic [3:0][31:0] w_data_q;
  wire [31:0] w_data = w_data_q[0] | w_data_q[1] | w_data_q[2] | w_data_q[3];

  always_ff @(posedge clk) begin
    if (!dbus_wait) begin
      w_wb_q    <= m_wb_q && !dbus_retry;
      w_rd_q    <= m_rd_q;
      w_load_q  <= m_load_q;
      w_f3_q    <= m_f3_q;
      w_byte_q  <= m_byte_q;
      w_value_q <= m_mul_q ? m_product : m_count_q ? {26'd0, m_count} : m_value;
      w_data_q  <= dbus_rdata;
    end
    if (rst) w_wb_q <= 1'b0;
  end

  logic [7:0] w_load_byte;
  logic [15:0] w_load_half;
  always_comb begin
    w_load_half = w_byte_q[1] ? w_data[31:16] : w_data[15:0];
    w_load_byte = w_byte_q[0] ? w_load_half[15:8] : w_load_half[7:0];
    w_value = w_value_q;
    if (w_load_q) begin
      unique case (w_f3_q[1:0])
        2'd0:    w_value = {{24{w_load_byte[7] & !w_f3_q[2]}}, w_load_byte};
        2'd1:    w_value = {{16{w_load_half[15] & !w_f3_q[2]}}, w_load_half};
        default: w_value = w_data;
      endcase
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk) begin
    if (!rst && dbus_req) begin
      assert (e_valid_q) else $error("request of a cancelled instruction");
      assert (dbus_be != 4'b0000) else $error("request without bytes");
    end
    if (!rst && dbus_retry) assert ((irq_pending || halt_due_q) && !dbus_wait)
      else $error("retry without an interrupt");
    if (!rst && halted_q) assert (!e_valid_q && e_go) else $error("an instruction in a halted core");
  end
`endif

endmodule

`default_nettype wire
