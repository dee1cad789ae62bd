// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0

// Types that the stages of the core share. PCs and code addresses are word addresses: 14 bits for 64 KiB.
package core_pkg;

  typedef logic [13:0] pc_t;

  // Two-bit counter of a branch target entry: 0 unknown, 1 weakly not taken, 2 and 3 taken.
  typedef logic [1:0] counter_t;

  // Results that the next instruction can use without a wait.
  typedef enum logic [1:0] {
    FastAdd,
    FastLogic,
    FastShift,
    FastLess
  } fast_e;

  typedef enum logic [1:0] {
    LogicXor,
    LogicOr,
    LogicAnd,
    LogicB  // operand b as it is: lui, auipc, links
  } logic_e;

  typedef enum logic [1:0] {
    UnarySextB,
    UnarySextH,
    UnaryRev8,
    UnaryOrcB
  } unary_e;

  // Results that leave EX with the instruction but are forwarded from MEM only.
  typedef enum logic [1:0] {
    SlowMinMax,
    SlowUnary,
    SlowCsr,
    SlowDiv
  } slow_e;

  // The order makes multiplexers of four.
  typedef enum logic [3:0] {
    CsrMcycle    = 4'd0,
    CsrMcycleh   = 4'd1,
    CsrMinstret  = 4'd2,
    CsrMinstreth = 4'd3,
    CsrMscratch  = 4'd4,
    CsrMtval     = 4'd5,
    CsrMepc      = 4'd6,
    CsrMcause    = 4'd7,
    CsrMstatus   = 4'd8,
    CsrMtvec     = 4'd9,
    CsrMhartid   = 4'd10
  } csr_e;

  // Exception codes of the privileged specification.
  typedef enum logic [3:0] {
    ExcFetchMisaligned = 4'd0,
    ExcIllegal         = 4'd2,
    ExcBreakpoint      = 4'd3,
    ExcLoadMisaligned  = 4'd4,
    ExcStoreMisaligned = 4'd6,
    ExcEcall           = 4'd11
  } exc_e;

  // The reason why a core is halted, as the host reads it (rpu.rdl, HALTED).
  typedef enum logic [1:0] {
    Running,
    HaltRequest,
    HaltEbreak,
    HaltStep
  } halted_e;

  typedef struct packed {
    fast_e  fast;
    logic_e lop;
    unary_e unary;
    logic   inv_b;   // operand b comes complemented: a - b, comparisons, andn, orn, xnor
    logic   uns;     // comparison is unsigned
    logic   max;     // maximum, otherwise minimum
    logic   left;    // shifter
    logic   rotate;
    logic   arith;
  } alu_ctl_t;

  // Control signals from DECODE to EX. Flags that cause an action are 0 in a bubble.
  typedef struct packed {
    alu_ctl_t   alu;
    logic [2:0] f3;      // funct3: branch condition, access size, multiply and divide variant, CSR operation
    slow_e      slow;
    csr_e       csr;
    logic       is_slow; // result is `slow`, not `fast`
    logic       late;    // result is not there at the end of EX
    logic       wb;      // writes rd, and rd is not x0
    logic       load;
    logic       store;
    logic       branch;
    logic       jal;
    logic       jalr;
    logic       mul;
    logic       count;
    logic       div;
    logic       csr_we;
    logic       mret;
    logic       exc;     // raises `cause`
    logic       ebreak;  // the cause is ebreak
    exc_e       cause;
  } ctl_t;

endpackage
