// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// Decoder: RV32I, M, Zbb, Zicsr and machine mode. Combinational. All other instructions are illegal.
module core_decode
  import core_pkg::*;
(
    input  wire  [31:0] instr,
    output ctl_t        ctl,
    output logic        use_rs1,
    output logic        use_rs2,
    output logic        b_is_rs2,   // operand b is rs2, otherwise `imm`
    output logic        b_is_auipc, // operand b is pc + upper immediate
    output logic        b_is_link,  // operand b is pc + 4
    output logic        is_csr,
    output logic [31:0] imm,        // otherwise operand b
    output logic [15:1] jump,       // what jal and branches add to pc, modulo 64 KiB
    output logic [11:0] offset      // what loads, stores and jalr add to rs1
);

  localparam logic [4:0] OpLoad = 5'h00, OpMiscMem = 5'h03, OpImm = 5'h04, OpAuipc = 5'h05, OpStore = 5'h08,
                         OpReg = 5'h0C, OpLui = 5'h0D, OpBranch = 5'h18, OpJalr = 5'h19, OpJal = 5'h1B,
                         OpSystem = 5'h1C;

  wire [4:0] opcode = instr[6:2];
  wire [2:0] f3 = instr[14:12];
  wire [6:0] f7 = instr[31:25];
  wire [4:0] rs2 = instr[24:20];
  wire is_reg = opcode == OpReg;
  wire is_zext = is_reg && f7 == 7'h04;
  wire [31:0] imm_u = {instr[31:12], 12'd0};
  wire [31:0] imm_i = {{20{instr[31]}}, instr[31:20]};

  always_comb begin
    unique case (opcode)
      OpLui:    imm = imm_u;
      OpSystem: imm = {27'd0, instr[19:15]};
      OpReg:    imm = 32'h0000_FFFF;  // zext.h is an AND with this
      default:  imm = imm_i;
    endcase
  end

  // Bit 3 distinguishes jal from a branch.
  assign jump =
      instr[3] ? {instr[15:12], instr[20], instr[30:21]} : {{4{instr[31]}}, instr[7], instr[30:25], instr[11:8]};
  assign offset = opcode == OpStore ? {instr[31:25], instr[11:7]} : instr[31:20];
  assign b_is_rs2 = opcode inside {OpStore, OpBranch} || (is_reg && !is_zext);
  assign b_is_auipc = opcode == OpAuipc;
  assign b_is_link = opcode inside {OpJal, OpJalr};
  assign use_rs1 = opcode inside {OpLoad, OpImm, OpStore, OpReg, OpBranch, OpJalr}
                   || (opcode == OpSystem && !f3[2] && f3 != 0);
  assign use_rs2 = b_is_rs2;

  csr_e csr;
  logic csr_known;
  always_comb begin
    csr = CsrMstatus;
    csr_known = 1'b1;
    unique case (instr[31:20])
      12'h300: csr = CsrMstatus;
      12'h305: csr = CsrMtvec;
      12'h340: csr = CsrMscratch;
      12'h341: csr = CsrMepc;
      12'h342: csr = CsrMcause;
      12'h343: csr = CsrMtval;
      12'hB00: csr = CsrMcycle;
      12'hB02: csr = CsrMinstret;
      12'hB80: csr = CsrMcycleh;
      12'hB82: csr = CsrMinstreth;
      12'hF14: csr = CsrMhartid;
      default: csr_known = 1'b0;
    endcase
  end

  // Arithmetic of registers and of immediates. `legal` means that funct7 (and rs2 where it is an opcode) exist.
  logic legal_reg, legal_imm;
  always_comb begin
    unique case (f7)
      7'h00, 7'h01: legal_reg = 1'b1;
      7'h20:   legal_reg = f3 inside {3'd0, 3'd4, 3'd5, 3'd6, 3'd7};
      7'h05:   legal_reg = f3[2];
      7'h30:   legal_reg = f3 inside {3'd1, 3'd5};
      7'h04:   legal_reg = f3 == 3'd4 && rs2 == 5'd0;
      default: legal_reg = 1'b0;
    endcase
    unique case (f3)
      3'd1:    legal_imm = f7 == 7'h00 || (f7 == 7'h30 && rs2 inside {5'd0, 5'd1, 5'd2, 5'd4, 5'd5});
      3'd5:    legal_imm =
          f7 inside {7'h00, 7'h20, 7'h30} || (f7 == 7'h14 && rs2 == 5'd7) || (f7 == 7'h34 && rs2 == 5'd24);
      default: legal_imm = 1'b1;
    endcase
  end

  wire is_imm = opcode == OpImm;
  wire is_muldiv = is_reg && f7 == 7'h01;
  wire is_minmax = is_reg && f7 == 7'h05;
  wire is_unary_left = is_imm && f3 == 3'd1 && f7[5];             // clz, ctz, cpop, sext.b, sext.h
  wire is_unary_right = is_imm && f3 == 3'd5 && f7[2];            // orc.b, rev8
  assign is_csr = opcode == OpSystem && f3[1:0] != 2'd0;
  wire is_count = is_unary_left && !rs2[2];

  logic legal, writes;
  always_comb begin
    ctl = '0;
    ctl.f3 = f3;
    ctl.csr = csr;
    ctl.alu.uns = opcode == OpBranch ? f3[1] : f3[0];
    ctl.alu.max = f3[1];
    ctl.alu.inv_b = opcode == OpBranch || is_minmax || ((is_reg || is_imm) && !is_muldiv && f3[2:1] == 2'b01)
                    || (is_reg && f7[5] && f3[1:0] != 2'b01);
    ctl.alu.left = !f3[2];
    ctl.alu.rotate = f7[5] && f7[4];
    ctl.alu.arith = f7[5];
    ctl.cause = ExcIllegal;

    unique case (f3)
      3'd4:    ctl.alu.lop = LogicXor;
      3'd6:    ctl.alu.lop = LogicOr;
      3'd7:    ctl.alu.lop = LogicAnd;
      default: ctl.alu.lop = LogicXor;
    endcase
    unique case (f3)
      3'd0:       ctl.alu.fast = FastAdd;
      3'd1, 3'd5: ctl.alu.fast = FastShift;
      3'd2, 3'd3: ctl.alu.fast = FastLess;
      default:    ctl.alu.fast = FastLogic;
    endcase
    if (!(is_reg || is_imm)) begin
      ctl.alu.fast = FastLogic;
      ctl.alu.lop  = LogicB;
    end
    if (is_zext) ctl.alu.lop = LogicAnd;
    if (is_unary_left) ctl.alu.unary = rs2[0] ? UnarySextH : UnarySextB;
    else ctl.alu.unary = f7[5] ? UnaryRev8 : UnaryOrcB;

    if (is_csr) ctl.slow = SlowCsr;
    else if (is_muldiv) ctl.slow = SlowDiv;
    else if (is_minmax) ctl.slow = SlowMinMax;
    else ctl.slow = SlowUnary;
    ctl.is_slow = is_csr || (is_muldiv && f3[2]) || is_minmax || is_unary_left || is_unary_right;
    ctl.count = is_count && legal_imm;

    legal = instr[1:0] == 2'b11;
    writes = 1'b0;
    unique case (opcode)
      OpLui, OpAuipc: writes = 1'b1;
      OpJal: begin
        ctl.jal = 1'b1;
        writes  = 1'b1;
        if (instr[21]) begin
          ctl.exc   = 1'b1;
          ctl.cause = ExcFetchMisaligned;
        end
      end
      OpJalr: begin
        legal &= f3 == 3'd0;
        ctl.jalr = 1'b1;
        writes   = 1'b1;
      end
      OpBranch: begin
        legal &= f3[2:1] != 2'b01;
        ctl.branch = 1'b1;
      end
      OpLoad: begin
        legal &= f3 inside {3'd0, 3'd1, 3'd2, 3'd4, 3'd5};
        ctl.load  = 1'b1;
        ctl.cause = ExcLoadMisaligned;
        writes    = 1'b1;
      end
      OpStore: begin
        legal &= f3 inside {3'd0, 3'd1, 3'd2};
        ctl.store = 1'b1;
        ctl.cause = ExcStoreMisaligned;
      end
      OpImm: begin
        legal &= legal_imm;
        writes = 1'b1;
      end
      OpReg: begin
        legal &= legal_reg;
        ctl.mul = is_muldiv && !f3[2];
        ctl.div = is_muldiv && f3[2];
        writes  = 1'b1;
      end
      OpMiscMem: legal &= f3 == 3'd0;
      OpSystem: begin
        if (is_csr) begin
          ctl.csr_we = !(f3[1] && instr[19:15] == 5'd0);
          legal &= csr_known && !(ctl.csr_we && instr[31:30] == 2'b11);
          writes = 1'b1;
        end else begin
          unique case (instr[31:7])
            25'h0000000: begin
              ctl.exc   = 1'b1;
              ctl.cause = ExcEcall;
            end
            25'h0002000: begin
              ctl.exc    = 1'b1;
              ctl.ebreak = 1'b1;
              ctl.cause  = ExcBreakpoint;
            end
            25'h0604000: ctl.mret = 1'b1;
            25'h020A000: ;  // wfi: an interrupt is taken while the core goes on
            default: legal = 1'b0;
          endcase
        end
      end
      default: legal = 1'b0;
    endcase

    if (!legal) begin
      {ctl.load, ctl.store, ctl.branch, ctl.jal, ctl.jalr, ctl.mul, ctl.div, ctl.csr_we, ctl.mret, ctl.ebreak} = '0;
      ctl.exc = 1'b1;
      ctl.cause = ExcIllegal;
    end
    ctl.wb = legal && writes && instr[11:7] != 5'd0;
    ctl.late = ctl.is_slow || ctl.load || ctl.mul;
  end

endmodule

`default_nettype wire
