/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/* The part of the C library that compiled code and firmware call. */
#include "string.h"

#include <stdint.h>

/* The bodies must not be recognised as calls of themselves. */
#define NO_BUILTIN __attribute__((no_builtin))

NO_BUILTIN void *memcpy(void *restrict to, const void *restrict from, size_t bytes) {
  uint8_t *out = to;
  const uint8_t *in = from;
  /* Words when both ends allow: the packet offset makes an IP header aligned on both sides. */
  if ((((uintptr_t)out ^ (uintptr_t)in) & 3u) == 0) {
    for (; bytes != 0 && ((uintptr_t)out & 3u) != 0; bytes--) *out++ = *in++;
    for (; bytes >= 4; bytes -= 4, out += 4, in += 4) {
      uint32_t word = *(const uint32_t __attribute__((may_alias)) *)in;
      *(uint32_t __attribute__((may_alias)) *)out = word;
    }
  }
  for (; bytes != 0; bytes--) *out++ = *in++;
  return to;
}

NO_BUILTIN void *memmove(void *to, const void *from, size_t bytes) {
  uint8_t *out = to;
  const uint8_t *in = from;
  if (out <= in) {
    for (size_t i = 0; i < bytes; i++) out[i] = in[i];
  } else {
    for (size_t i = bytes; i-- > 0;) out[i] = in[i];
  }
  return to;
}

NO_BUILTIN void *memset(void *to, int value, size_t bytes) {
  uint8_t *out = to;
  for (size_t i = 0; i < bytes; i++) out[i] = (uint8_t)value;
  return to;
}

NO_BUILTIN int memcmp(const void *a, const void *b, size_t bytes) {
  const uint8_t *left = a;
  const uint8_t *right = b;
  for (size_t i = 0; i < bytes; i++) {
    if (left[i] != right[i]) return left[i] - right[i];
  }
  return 0;
}

NO_BUILTIN size_t strlen(const char *text) {
  size_t length = 0;
  while (text[length] != '\0') length++;
  return length;
}
