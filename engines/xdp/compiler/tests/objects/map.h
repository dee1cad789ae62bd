/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/* A map by the sizes of its keys and values. Maps in maps are written out: their `values` needs a type. */
#pragma once

#include <bpf.h>

#define MAP(name, kind, key_bytes, value_bytes, entries, flags) \
  struct {                                                      \
    __uint(type, BPF_MAP_TYPE_##kind);                          \
    __uint(key_size, key_bytes);                                \
    __uint(value_size, value_bytes);                            \
    __uint(max_entries, entries);                               \
    __uint(map_flags, flags);                                   \
  } name SEC(".maps")
