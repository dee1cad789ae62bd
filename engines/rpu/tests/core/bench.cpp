// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
// Runs programs on core_bench. Each line of standard input is one run:
//   PROGRAM DATA SEED STALL IRQ HALT INJECT CYCLES TRACE MEMORY
// PROGRAM and DATA are raw little-endian images, loaded at the start of instruction and data memory. STALL and IRQ are
// chances in 1/1000 per cycle that a response waits and that an interrupt is raised; HALT is the chance that a debugger
// halts the core. The debugger then executes a few steps, writes the PC and restores it, and with INJECT 1 reads a
// register through a store that it puts into the program for one step. The trace leaves all of this out. A run takes at
// most CYCLES cycles. TRACE gets eight 32-bit words per event (kind, pc, rd, value, byte enables, address, data,
// cycle); MEMORY gets the data memory at the end. "-" stands for no file. For each run the bench prints
// "ok CYCLES HALTS", "timeout pc", or "debugger: " and the fault of the halted core.
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <memory>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "Vcore_bench.h"
#include "Vcore_bench_core_bench.h"
#include "verilated.h"

namespace {

bool load(const std::string &name, uint32_t *memory, size_t words) {
  std::fill(memory, memory + words, 0);
  if (name == "-") return true;
  std::ifstream file(name, std::ios::binary);
  file.read(reinterpret_cast<char *>(memory), static_cast<std::streamsize>(words * 4));
  return file.gcount() > 0;
}

void save(const std::string &name, const void *data, size_t bytes) {
  if (name == "-") return;
  std::ofstream(name, std::ios::binary).write(static_cast<const char *>(data), static_cast<std::streamsize>(bytes));
}

// Debugs the core: `drive` runs before each cycle, and `look` within it, when the outputs are settled.
class Debugger {
 public:
  Debugger(Vcore_bench &top, uint32_t *imem, std::mt19937 &random, uint32_t halt, bool inject)
      : top_(top), imem_(imem), random_(random), halt_(halt), inject_(inject) {}

  void drive() {
    top_.step = top_.resume = top_.pc_we = 0;
    top_.halt_ebreak = halt_ != 0 && phase_ != Step;
    if (top_.halted == 0) {
      still_ = 0;
      // taken back: it runs on, at most after a moment
      if (phase_ == Run && top_.halt && random_() % 4 == 0) top_.halt = 0;
      else if (phase_ == Run && halt_ != 0 && random_() % 1000 < halt_) top_.halt = 1;
      return;
    }
    if (++still_ < 4 + random_() % 8) return;  // what went before has left the trace
    switch (phase_) {
      case Run:
        if (top_.halted != 2 && !(top_.halt && top_.halted == 1)) fail("halted without a cause");
        arrive();
        break;
      case Step:
        if (left_ != 1 || top_.halted != 3) fail("a step was not one instruction");
        arrive();
        break;
      case Inject:
        imem_[pc_ >> 2] = word_;
        if (seen_ != registers_[register_]) fail("a store that was put into the program shows another value");
        if (left_ != 1 || top_.pc_o != ((pc_ + 4) & 0xFFFF)) fail("a store that was put into the program was not one step");
        write_pc(pc_);
        break;
      case Elsewhere:
        if (top_.pc_o != (elsewhere_ & 0xFFFC)) fail("the PC cannot be written");
        write_pc(pc_);
        break;
      case Halted:
        if (top_.pc_o != pc_) fail("the PC moved while the core was halted");
        act();
        break;
    }
  }

  // Whether the trace of this cycle is the program's.
  bool look() {
    if (top_.left_kind != 0) {
      left_++;
      if (phase_ == Step && top_.left_kind == 3) fail("an interrupt in a step");
      if (leaves_ && top_.pc_o != pc_) fail("the core went on elsewhere");
      leaves_ = false;
    }
    if (top_.trace_kind == 0) return false;
    if (phase_ == Inject) {
      if (top_.trace_be != 0) seen_ = top_.trace_wdata;
      return false;
    }
    if (top_.trace_rd != 0) registers_[top_.trace_rd] = top_.trace_value;
    return true;
  }

  const char *failure = nullptr;
  unsigned halts = 0;

 private:
  enum Phase { Run, Halted, Elsewhere, Step, Inject };

  void fail(const char *why) {
    if (failure == nullptr) failure = why;
  }

  void arrive() {
    halts++;
    is_ebreak_ = top_.halted == 2;
    pc_ = top_.pc_o;
    phase_ = Halted;
  }

  void write_pc(uint32_t pc) {
    top_.pc_we = 1;
    top_.pc_wdata = (pc & 0xFFFF) >> 2;
    still_ = 0;
    phase_ = Halted;
  }

  void leave(Phase phase) {
    (phase == Run ? top_.resume : top_.step) = 1;
    if (phase == Run) top_.halt = 0;
    left_ = still_ = 0;
    leaves_ = true;
    phase_ = phase;
  }

  void act() {
    const auto choice = random_() % 4;
    if (choice == 0 && inject_) {
      register_ = 1 + random_() % 31;
      word_ = imem_[pc_ >> 2];
      imem_[pc_ >> 2] = register_ << 20 | 0x10002C23;  // sw register, 0x118(x0)
      leave(Inject);
    } else if (choice == 0) {
      elsewhere_ = random_();
      write_pc(elsewhere_);
      phase_ = Elsewhere;
    } else if (choice < 3 || is_ebreak_) {
      leave(Step);  // also takes an ebreak as the exception that it is otherwise
    } else {
      leave(Run);
    }
  }

  Vcore_bench &top_;
  uint32_t *imem_;
  std::mt19937 &random_;
  uint32_t halt_, registers_[32] = {}, pc_ = 0, elsewhere_ = 0, word_ = 0, register_ = 0, seen_ = 0;
  bool inject_, is_ebreak_ = false, leaves_ = false;
  unsigned left_ = 0, still_ = 0;
  Phase phase_ = Run;
};

bool run(const std::string &line) {
  std::string program, data, trace_name, memory_name;
  uint32_t seed = 0, stall = 0, irq = 0, halt = 0, inject = 0;
  uint64_t limit = 0;
  std::istringstream(line) >> program >> data >> seed >> stall >> irq >> halt >> inject >> limit >> trace_name >> memory_name;

  VerilatedContext context;
  context.randReset(2);
  context.randSeed(static_cast<int>(seed + 1));
  auto top = std::make_unique<Vcore_bench>(&context);
  auto &imem = top->core_bench->imem;
  auto &dmem = top->core_bench->dmem;
  std::mt19937 random(seed);
  const auto chance = [&](uint32_t per_mille) { return per_mille != 0 && random() % 1000 < per_mille; };
  const auto clock = [&] {
    top->clk = 1;
    top->eval();
    top->clk = 0;
    top->eval();
  };

  top->hart_id = seed % 32;
  top->clk = 0;
  top->rst = 1;
  top->irq = 0;
  top->stall = 0;
  top->halt = top->halt_ebreak = top->resume = top->step = top->pc_we = 0;
  top->eval();
  for (int i = 0; i < 64; i++) {
    top->noise = seed != 0 ? random() : 0;
    clock();
  }
  if (!load(program, imem.m_storage, 16384) || !load(data, dmem.m_storage, 262144)) {
    std::cout << "cannot read " << program << " or " << data << std::endl;
    return false;
  }
  top->rst = 0;

  Debugger debugger(*top, imem.m_storage, random, halt, inject != 0);
  std::vector<uint32_t> trace;
  const bool tracing = trace_name != "-";
  uint64_t cycle = 0;
  int tail = 0;  // cycles after the last store, in which the pipeline empties
  while (cycle < limit && tail < 4 && debugger.failure == nullptr) {
    top->stall = chance(stall);
    top->noise = stall != 0 ? random() : 0;
    if (!top->irq) top->irq = chance(irq);
    debugger.drive();
    top->eval();
    const bool ack = top->ack;
    if (top->finished || (tail != 0 && !top->stall)) tail++;
    if (debugger.look()) {
      if (tracing) {
        for (uint32_t word : {uint32_t(top->trace_kind), top->trace_pc, uint32_t(top->trace_rd), top->trace_value,
                              uint32_t(top->trace_be), top->trace_addr, top->trace_wdata, uint32_t(cycle)})
          trace.push_back(word);
      }
    }
    clock();
    if (ack) top->irq = 0;
    cycle++;
  }
  top->final();
  save(trace_name, trace.data(), trace.size() * 4);
  save(memory_name, dmem.m_storage, 262144 * 4);
  if (debugger.failure != nullptr) std::cout << "debugger: " << debugger.failure << std::endl;
  else if (tail == 0) std::cout << "timeout " << std::hex << top->pc_o << std::dec << std::endl;
  else std::cout << "ok " << cycle << ' ' << debugger.halts << std::endl;
  return true;
}

}  // namespace

int main() {
  std::string line;
  while (std::getline(std::cin, line))
    if (!run(line)) return 1;
  return 0;
}
