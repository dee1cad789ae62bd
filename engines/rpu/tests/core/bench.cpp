// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
// Runs programs on core_bench. Each line of standard input is one run:
//   PROGRAM DATA SEED STALL IRQ CYCLES TRACE MEMORY
// PROGRAM and DATA are raw little-endian images, loaded at the start of instruction and data memory. STALL and IRQ are chances in
// 1/1000 per cycle that a response waits and that an interrupt is raised. At most CYCLES cycles. TRACE takes eight 32-bit words per
// event (kind, pc, rd, value, byte enables, address, data, cycle); MEMORY takes the data memory at the end. "-" stands for no file.
// For each run prints "ok CYCLES EVENTS" or "timeout pc".
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

bool run(const std::string &line) {
  std::string program, data, trace_name, memory_name;
  uint32_t seed = 0, stall = 0, irq = 0;
  uint64_t limit = 0;
  std::istringstream(line) >> program >> data >> seed >> stall >> irq >> limit >> trace_name >> memory_name;

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

  std::vector<uint32_t> trace;
  const bool tracing = trace_name != "-";
  uint64_t cycle = 0;
  uint64_t events = 0;
  int tail = 0;  // cycles after the last store, in which the pipeline empties
  while (cycle < limit && tail < 4) {
    top->stall = chance(stall);
    top->noise = stall != 0 ? random() : 0;
    if (!top->irq) top->irq = chance(irq);
    top->eval();
    const bool ack = top->ack;
    if (top->finished || (tail != 0 && !top->stall)) tail++;
    if (top->trace_kind != 0) {
      events++;
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
  if (tail == 0) std::cout << "timeout " << std::hex << top->pc_o << std::dec << std::endl;
  else std::cout << "ok " << cycle << ' ' << events << std::endl;
  return true;
}

}  // namespace

int main() {
  std::string line;
  while (std::getline(std::cin, line))
    if (!run(line)) return 1;
  return 0;
}
