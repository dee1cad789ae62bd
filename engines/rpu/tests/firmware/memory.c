/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/*
 * Test firmware: changes frames of up to 256 bytes in packet memory with stores of all widths, and checks what loads
 * of all widths give, there, in the header copy and in data memory. They leave with each byte increased by one; a
 * wrong load is told by a debug word. Longer frames are forwarded as they are.
 */
#include <penstock.h>

static uint8_t copy[PN_HEADER_BYTES] __attribute__((aligned(4)));
static volatile uint32_t swapped[2];

static void wrong(uint32_t where, uint32_t desc) { pn_debug(where, desc); }

/* The same bytes as loads of 8, 16 and 32 bits, with and without sign. `p` is even. */
static void check_loads(const volatile uint8_t *p, uint32_t where, uint32_t desc) {
  const volatile uint16_t *half = (const volatile uint16_t *)p;
  uint32_t first = p[0], second = p[1];
  if (*half != (first | second << 8)) wrong(where, desc);
  if (*(const volatile int16_t *)p != (int16_t)(first | second << 8)) wrong(where + 1, desc);
  if (*(const volatile int8_t *)p != (int8_t)first) wrong(where + 2, desc);
  if (((uintptr_t)p & 3) == 0) {
    uint32_t word = *(const volatile uint32_t *)p;
    if (word != (first | second << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24)) wrong(where + 3, desc);
  }
}

/* A store and at once a load: of the same word in whole or in part, of another one, of what two stores made. */
static void check_data_memory(uint32_t a, uint32_t b, uint32_t desc) {
  static volatile uint32_t words[2];
  uint32_t got;
  words[0] = ~a;
  words[1] = ~b;
  __asm__ volatile("sw %2, 0(%1)\n lw %0, 0(%1)" : "=&r"(got) : "r"(words), "r"(a) : "memory");
  if (got != a) wrong(0x70, desc);
  __asm__ volatile("sb %2, 1(%1)\n lw %0, 0(%1)" : "=&r"(got) : "r"(words), "r"(b) : "memory");
  if (got != ((a & 0xFFFF00FFu) | (b & 0xFFu) << 8)) wrong(0x71, desc);
  __asm__ volatile("sh %2, 2(%1)\n lw %0, 0(%1)" : "=&r"(got) : "r"(words), "r"(b) : "memory");
  if (got != ((a & 0xFFu) | (b & 0xFFu) << 8 | b << 16)) wrong(0x72, desc);
  __asm__ volatile("sw %2, 0(%1)\n lbu %0, 3(%1)" : "=&r"(got) : "r"(words), "r"(a) : "memory");
  if (got != a >> 24) wrong(0x73, desc);
  __asm__ volatile("sw %2, 0(%1)\n lw %0, 4(%1)" : "=&r"(got) : "r"(words), "r"(b) : "memory");
  if (got != ~b) wrong(0x74, desc);
  __asm__ volatile("sw %2, 0(%1)\n sb %3, 0(%1)\n lw %0, 0(%1)" : "=&r"(got) : "r"(words), "r"(a), "r"(b) : "memory");
  if (got != ((a & 0xFFFFFF00u) | (b & 0xFFu))) wrong(0x75, desc);
  __asm__ volatile("sw %2, 4(%1)\n sw %3, 0(%1)\n lw %0, 4(%1)" : "=&r"(got) : "r"(words), "r"(a), "r"(b) : "memory");
  if (got != a || words[0] != b) wrong(0x76, desc);
  /* Consecutive stores while the host looks. */
  for (uint32_t n = 0; n < 8; n++) {
    __asm__ volatile("sw %1, 0(%0)\n sw %2, 4(%0)" ::"r"(words), "r"(a + n), "r"(b + n) : "memory");
    if (words[0] != a + n || words[1] != b + n) wrong(0x77, desc);
  }
  /* The window is another address of the same bytes. */
  uint32_t header = (uint32_t)(uintptr_t)pn_hdr() & ~3u, window = (uint32_t)(uintptr_t)pn_window() & ~3u, before;
  __asm__ volatile("lw %0, 0(%1)" : "=r"(before) : "r"(header) : "memory");
  __asm__ volatile("sw %3, 0(%2)\n lw %0, 0(%1)" : "=&r"(got) : "r"(header), "r"(window), "r"(a) : "memory");
  if (got != a) wrong(0x78, desc);
  __asm__ volatile("sw %3, 0(%1)\n lw %0, 0(%2)" : "=&r"(got) : "r"(header), "r"(window), "r"(before) : "memory");
  if (got != before) wrong(0x79, desc);
}

/*
 * Through the alias each word has its bytes in reverse order, whatever the width of the access. `p` is at a word, with
 * another one behind it.
 */
static void check_swapped(volatile uint8_t *p, uint32_t a, uint32_t b, uint32_t where, uint32_t desc) {
  volatile uint32_t *word = (volatile uint32_t *)p;
  volatile uint8_t *s = PN_SWAPPED(p);
  uint32_t got, next;
  __asm__ volatile("sw %2, 0(%1)\n lw %0, 0(%3)" : "=&r"(got) : "r"(p), "r"(a), "r"(s) : "memory");
  if (got != (a >> 24 | (a >> 8 & 0xFF00u) | (a << 8 & 0xFF0000u) | a << 24)) wrong(where, desc);
  for (uint32_t n = 0; n < 4; n++)
    if (s[n] != p[3 - n] || *(volatile int8_t *)(s + n) != (int8_t)p[3 - n]) wrong(where + 1, desc);
  for (uint32_t n = 0; n < 4; n += 2)
    if (*(volatile int16_t *)(s + n) != (int16_t)(p[3 - n] | p[2 - n] << 8)) wrong(where + 2, desc);
  /* Consecutive stores, and loads directly after them. */
  __asm__ volatile("sw %4, 0(%3)\n sw %5, 4(%3)\n lw %0, 0(%2)\n lw %1, 4(%2)"
                   : "=&r"(got), "=&r"(next)
                   : "r"(p), "r"(s), "r"(a), "r"(b)
                   : "memory");
  for (uint32_t n = 0; n < 32; n += 8)
    if ((got >> n & 0xFF) != (a >> (24 - n) & 0xFF) || (next >> n & 0xFF) != (b >> (24 - n) & 0xFF)) wrong(where + 3, desc);
  __asm__ volatile("sw %2, 0(%1)\n lw %0, 0(%1)" : "=&r"(got) : "r"(s), "r"(b) : "memory");
  if (got != b) wrong(where + 4, desc);
  *word = a;
  __asm__ volatile("sb %2, 1(%1)\n lw %0, 0(%1)" : "=&r"(got) : "r"(s), "r"(b) : "memory");
  if (*word != ((a & 0xFF00FFFFu) | (b & 0xFFu) << 16)) wrong(where + 5, desc);
  *word = a;
  __asm__ volatile("sh %2, 2(%1)\n lhu %0, 2(%1)" : "=&r"(got) : "r"(s), "r"(b) : "memory");
  if (got != (b & 0xFFFFu) || *word != ((a & 0xFFFF0000u) | (b & 0xFFu) << 8 | (b >> 8 & 0xFFu))) wrong(where + 6, desc);
}

int main(void) {
  pn_init();
  for (;;) {
    pn_desc_t desc = pn_recv();
    uint32_t len = pn_len(desc);
    volatile uint8_t *data = pn_data();
    const volatile uint8_t *header = pn_hdr(), *window = pn_window();
    if (len > 256) {
      pn_send(desc ^ pn_port(1));
      continue;
    }
    check_data_memory(desc * 0x9E3779B9u, ~desc * 0x85EBCA6Bu, desc);
    check_swapped((volatile uint8_t *)swapped, desc * 0x9E3779B9u, ~desc * 0x85EBCA6Bu, 0x80, desc);
    check_swapped(data + 1024 - ((uintptr_t)data & 3), ~desc * 0x9E3779B9u, desc * 0x85EBCA6Bu, 0x90, desc);
    uint32_t copied = len < PN_HEADER_BYTES ? len : PN_HEADER_BYTES;

    for (uint32_t i = 0; i < copied; i++) {
      if (header[i] != data[i]) wrong(0x10, desc);
      if (window[i] != data[i]) wrong(0x11, desc);
      copy[i] = header[i];
    }
    for (uint32_t i = 0; i + 4 <= copied; i += 6) {
      check_loads(data + i, 0x20, desc);
      check_loads(header + i, 0x30, desc);
      check_loads(window + i, 0x38, desc);
      check_loads(copy + i, 0x40, desc);
    }
    /* Consecutive stores of 32, 16 and 8 bits, then loads after stores. */
    uint32_t i = 0;
    while (i < len) {
      volatile uint8_t *p = data + i;
      uint32_t left = len - i;
      if (((uintptr_t)p & 3) == 0 && left >= 8 && (i & 16)) {
        uint32_t a = 0, b = 0;
        for (uint32_t n = 0; n < 4; n++) {
          a |= (uint32_t)(uint8_t)(p[n] + 1) << 8 * n;
          b |= (uint32_t)(uint8_t)(p[n + 4] + 1) << 8 * n;
        }
        ((volatile uint32_t *)p)[0] = a;
        ((volatile uint32_t *)p)[1] = b;
        if (((volatile uint32_t *)p)[0] != a) wrong(0x50, desc);
        i += 8;
      } else if (((uintptr_t)p & 1) == 0 && left >= 2) {
        uint16_t half = (uint16_t)((uint8_t)(p[0] + 1) | (uint8_t)(p[1] + 1) << 8);
        *(volatile uint16_t *)p = half;
        if (*(volatile uint16_t *)p != half) wrong(0x51, desc);
        i += 2;
      } else {
        uint8_t byte = (uint8_t)(p[0] + 1);
        *p = byte;
        if (*p != byte) wrong(0x52, desc);
        i += 1;
      }
    }
    /* The copy in data memory does not change. */
    for (uint32_t n = 0; n < copied; n++)
      if (header[n] != copy[n] || (uint8_t)(copy[n] + 1) != data[n]) wrong(0x60, desc);
    pn_send(desc ^ pn_port(1));
  }
}
