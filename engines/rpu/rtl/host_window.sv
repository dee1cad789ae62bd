// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
`default_nettype none

// The host's window into a unit (cfg_if): registers (rpu.rdl, rpu_host), memories, accelerator tables.
//
//   request ─> register ─> access ─> 0 to 3 cycles by region ─> answer register ─> ack
//                              (a counter: 1)
//
// The host wins every port it asks for, in the cycle it asks, but that of the broadcast region, where words come first:
// accesses are rare, and each is answered in at most 24 cycles, of the broadcast region 68, whatever the core and the
// accelerator do.
module host_window
  import penstock_pkg::*;
  import rpu_pkg::*;
  import regs_pkg::*, rpu_regs_pkg::*;
#(
    parameter int unsigned PmemBytes = 1 << 20,
    parameter int unsigned Accel = 0
) (
    input wire logic  clk,
    input wire logic  rst,
    input wire unit_t unit_id,
    cfg_if.snk        cfg,

    // memories
    output logic         imem_en,
    output logic         dmem_en,
    output logic         pmem_en,
    output logic         bc_en,
    input  wire logic    bc_ready,
    output logic         we,
    output logic [19:2]  addr,
    output logic [7:0]   lane,  // of addr[4:2], a bit each
    output logic [31:0]  wdata,
    input  wire logic [31:0]      imem_rdata,
    input  wire logic [255:0]     dmem_rdata,
    input  wire logic [DataW-1:0] pmem_rdata,
    input  wire logic [31:0]      bc_rdata,

    // accelerator tables
    output logic              ld_wr,
    output logic              ld_rd,
    output logic       [23:0] ld_addr,
    input  wire logic  [31:0] ld_rdata,
    input  wire logic         ld_rvalid,

    // control
    output logic        core_reset,
    output logic        poke,
    output logic        evict,
    output logic [63:0] debug_in,
    output logic [63:0] ns,  // time of the programs

    // debugging: levels, and strobes of one cycle whose data is `wdata`
    output logic        halt,
    output logic        halt_ebreak,
    output logic        halt_load,
    output logic        resume,
    output logic        step,
    output logic        pc_we,
    output logic        data_we,
    input wire core_pkg::halted_e halted,
    input wire logic [31:0] data,

    // status
    input wire logic        irq_active,
    input wire logic        ready_to_evict,
    input wire logic [15:0] errors,
    input wire logic [31:0] error_addr,
    input wire error_pcs_t  error_pcs,
    input wire logic [31:0] pc,
    input wire logic [31:0] active,
    input wire logic [31:0] held_cycles,
    input wire logic [63:0] debug_out,

    // events to count
    input wire logic rx_frame,
    input wire len_t rx_bytes,
    input wire logic rx_stall,
    input wire logic tx_frame,
    input wire len_t tx_bytes,
    input wire logic tx_stall,
    input wire logic blocked,
    input wire logic refused,
    input wire logic generated
);
  typedef enum logic [2:0] {
    Registers,
    Imem,
    Dmem,
    Broadcast,
    Pmem,
    Tables,
    Nothing
  } region_e;

  // ---- counters, by their registers' offsets from RX_FRAMES; one in between is no counter
  localparam int unsigned Counters = 10;
  localparam int unsigned CountBase = UNIT_RX_FRAMES;
  localparam int unsigned RxBytes = (UNIT_RX_BYTES - CountBase) / 4;
  localparam int unsigned TxBytes = (UNIT_TX_BYTES - CountBase) / 4;
  logic [15:0] counted[Counters];
  logic [63:0] count;
  logic read_count, counts_q;
  logic [31:0] count_high_q;

  always_comb begin
    counted = '{default: '0};
    counted[0] = 16'(rx_frame);
    counted[RxBytes] = rx_frame ? rx_bytes : '0;
    counted[(UNIT_RX_STALLS-CountBase)/4] = 16'(rx_stall);
    counted[(UNIT_TX_FRAMES-CountBase)/4] = 16'(tx_frame);
    counted[TxBytes] = tx_frame ? tx_bytes : '0;
    counted[(UNIT_TX_STALLS-CountBase)/4] = 16'(tx_stall);
    counted[(UNIT_BLOCKED-CountBase)/4] = 16'(blocked);
    counted[(UNIT_REFUSED-CountBase)/4] = 16'(refused);
    counted[(UNIT_GENERATED-CountBase)/4] = 16'(generated);
  end
  wide_counters #(
      .Counters(Counters),
      .Bytes(Counters'(1) << RxBytes | Counters'(1) << TxBytes)
  ) i_counters (
      .clk,
      .rst,
      .step(counted),
      .read(read_count),
      .index(4'((8'(cfg.addr[7:0]) - 8'(CountBase)) >> 2)),
      .value(count)
  );

  function automatic logic is_count(logic [25:0] a);
    return a >= 26'(CountBase) && a <= 26'(UNIT_GENERATED) && !at(a[7:2], RPU_HOST_ACCEL);
  endfunction

  // ---- access
  region_e region_q;
  logic busy_q, served_q;
  logic [4:0] step_q;
  logic [25:0] addr_q;

  function automatic region_e region_of(logic [25:0] a);
    if (a[25:8] == 0) return Registers;
    if (a[25:15] == 11'h100) return a[14:13] == 2'd3 ? Broadcast : Dmem;
    if (a[25:20] == 6'h10 && 32'(a[19:0]) < PmemBytes) return Pmem;
    if (a[25:16] == 10'h200) return Imem;
    if (a[25:24] == 2'd3) return Tables;
    return Nothing;
  endfunction

  wire start = cfg.req && !busy_q && !served_q;
  wire first = busy_q && step_q == 0;
  assign read_count = start && !cfg.we && is_count(cfg.addr);

  // Out of registers: they select the owner of the memories' ports.
  always_ff @(posedge clk) begin
    imem_en <= start && region_of(cfg.addr) == Imem && !rst;
    dmem_en <= start && region_of(cfg.addr) == Dmem && !rst;
    pmem_en <= start && region_of(cfg.addr) == Pmem && !rst;
    bc_en   <= ((start && region_of(cfg.addr) == Broadcast) || (bc_en && !bc_ready)) && !rst;
  end

  assign ld_wr = first && region_q == Tables && we;
  assign ld_rd = first && region_q == Tables && !we;
  assign ld_addr = addr_q[23:0];
  assign addr = addr_q[19:2];

  logic finish, fails;

  always_comb begin
    fails = 1'b0;
    unique case (region_q)
      Registers: finish = !counts_q || step_q == 5'd1;
      Imem: finish = we || step_q == 5'd2;
      Dmem: finish = we || step_q == 5'd3;
      Broadcast: finish = (we && bc_en && bc_ready) || step_q == 5'd2;
      Pmem: finish = we || step_q == 5'd3;
      Tables: begin
        finish = we || ld_rvalid || step_q == 5'd20;
        fails = !we && !ld_rvalid;
      end
      default: begin
        finish = 1'b1;
        fails = 1'b1;
      end
    endcase
  end

  logic [31:0] register, imem_word_q, dmem_word_q, pmem_word_q, bc_word_q;
  logic [31:0] dmem_half_q[2];

  always_ff @(posedge clk) begin
    cfg.ack <= busy_q && finish;
    cfg.err <= fails;
    if (start) begin
      busy_q <= 1'b1;
      step_q <= '0;
    end else if (busy_q) begin
      if (!(bc_en && !bc_ready)) step_q <= step_q + 1;
      if (finish) busy_q <= 1'b0;
    end
    served_q <= cfg.req && (served_q || (busy_q && finish));
    if (rst) begin
      busy_q <= 1'b0;
      served_q <= 1'b0;
      cfg.ack <= 1'b0;
    end
  end

  always_ff @(posedge clk) begin
    if (start) begin
      addr_q <= cfg.addr;
      lane <= 8'd1 << cfg.addr[4:2];
      we <= cfg.we;
      wdata <= cfg.wdata;
      region_q <= region_of(cfg.addr);
      counts_q <= read_count;
    end
    if (busy_q && counts_q && finish) count_high_q <= count[63:32];
    // Memories are slow and their rows wide: a word is chosen in cycles of their own, two of them where no register
    // follows the memory.
    imem_word_q <= imem_rdata;
    for (int unsigned h = 0; h < 2; h++) dmem_half_q[h] <= dmem_rdata[(h*4+32'(addr_q[3:2]))*32+:32];
    dmem_word_q <= dmem_half_q[addr_q[4]];
    pmem_word_q <= pmem_rdata[addr_q[5:2]*32+:32];
    bc_word_q <= bc_rdata;
    unique case (region_q)
      Registers: cfg.rdata <= counts_q ? count[31:0] : register;
      Broadcast: cfg.rdata <= bc_word_q;
      Imem: cfg.rdata <= imem_word_q;
      Dmem: cfg.rdata <= dmem_word_q;
      Pmem: cfg.rdata <= pmem_word_q;
      Tables: cfg.rdata <= ld_rdata;
      default: cfg.rdata <= '0;
    endcase
  end

  // ---- registers
  wire write = first && we && region_q == Registers;

  unit_clock i_clock (
      .clk,
      .rst,
      .set_high(write && at(addr_q[7:2], UNIT_TIME_H)),
      .set_low(write && at(addr_q[7:2], UNIT_TIME_L)),
      .run(write && at(addr_q[7:2], UNIT_TIME_RUN)),
      .wdata,
      .ns
  );
  logic [31:0] ns_high_q;
  always_ff @(posedge clk) if (first && !we && at(addr_q[7:2], UNIT_TIME_L)) ns_high_q <= ns[63:32];

  always_ff @(posedge clk) begin
    poke  <= write && at(addr_q[7:2], UNIT_POKE);
    evict <= write && at(addr_q[7:2], UNIT_EVICT);
    pc_we   <= write && at(addr_q[7:2], UNIT_PC);
    data_we <= write && at(addr_q[7:2], UNIT_DATA);
    step    <= write && at(addr_q[7:2], UNIT_STEP);
    resume  <= write && at(addr_q[7:2], UNIT_HALT) && !wdata[0];
    halt_load <= write && at(addr_q[7:2], UNIT_HALT) && wdata[0];
    if (write && at(addr_q[7:2], UNIT_HALT)) {halt_ebreak, halt} <= wdata[1:0];
    if (write && at(addr_q[7:2], UNIT_RESET)) core_reset <= wdata[0];
    if (write && at(addr_q[7:2], UNIT_DEBUG_IN_L)) debug_in[31:0] <= wdata;
    if (write && at(addr_q[7:2], UNIT_DEBUG_IN_H)) debug_in[63:32] <= wdata;
    if (rst) begin
      poke <= 1'b0;
      evict <= 1'b0;
      core_reset <= 1'b1;
      debug_in <= '0;
      {halt_ebreak, halt} <= '0;
    end
  end

  always_comb begin
    unique case (addr_q[7:2])
      UNIT_RESET[7:2]: register = 32'(core_reset);
      UNIT_DEBUG_IN_L[7:2]: register = debug_in[31:0];
      UNIT_DEBUG_IN_H[7:2]: register = debug_in[63:32];
      UNIT_TIME_L[7:2]: register = ns[31:0];
      UNIT_TIME_H[7:2]: register = ns_high_q;
      UNIT_ENGINE[7:2]: register = 32'h0075_7072;
      UNIT_ID[7:2]: register = 32'(unit_id);
      UNIT_STATUS[7:2]: register = {29'd0, irq_active, ready_to_evict, core_reset};
      UNIT_ERRORS[7:2]: register = 32'(errors);
      UNIT_ERROR_ADDR[7:2]: register = error_addr;
      UNIT_PC[7:2]: register = pc;
      UNIT_ACTIVE_SLOTS[7:2]: register = active;
      UNIT_HELD_CYCLES[7:2]: register = held_cycles;
      UNIT_DEBUG_OUT_L[7:2]: register = debug_out[31:0];
      UNIT_DEBUG_OUT_H[7:2]: register = debug_out[63:32];
      UNIT_COUNT_H[7:2]: register = count_high_q;
      RPU_HOST_ACCEL[7:2]: register = Accel;
      UNIT_HALT[7:2]: register = {30'd0, halt_ebreak, halt};
      UNIT_HALTED[7:2]: register = {30'd0, halted};
      UNIT_DATA[7:2]: register = data;
      RPU_HOST_WILD_PC[7:2]: register = {16'd0, error_pcs.wild, 2'd0};
      RPU_HOST_DESCRIPTOR_PC[7:2]: register = {16'd0, error_pcs.descriptor, 2'd0};
      RPU_HOST_DESTINATION_PC[7:2]: register = {16'd0, error_pcs.destination, 2'd0};
      RPU_HOST_SLOT_PC[7:2]: register = {16'd0, error_pcs.slot, 2'd0};
      default: register = 32'd0;
    endcase
  end
endmodule

`default_nettype wire
