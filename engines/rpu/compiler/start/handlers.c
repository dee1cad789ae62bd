/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/* The default trap handlers, for programs that define none. */
#include "penstock.h"

/* A program ends here after an access to memory that does not exist. The host knows the end by this name. */
static __attribute__((noinline, noreturn)) void ended_by_wild_access(void) {
  for (;;) pn_barrier();
}

__attribute__((weak)) void int_handler(void) {
  uint32_t flags = pn_interrupts();
  if (flags & PN_INT_WILD_ADDRESS) ended_by_wild_access();
  if (flags & PN_INT_EVICT) PN_REG(RPU_CORE_READY_TO_EVICT) = 1;
  pn_ack(flags);
}

__attribute__((weak)) void fault_handler(uint32_t cause, uint32_t pc) {
  pn_debug(pc, cause);
  for (;;) pn_barrier();
}
