/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/* A map of each kind, for programs that tests put together themselves. */
#include <bpf.h>

#include "map.h"

MAP(array, ARRAY, 4, 16, 8, 0);
MAP(percpu_array, PERCPU_ARRAY, 4, 16, 8, 0);
MAP(hash, HASH, 8, 16, 8, 0);
MAP(percpu_hash, PERCPU_HASH, 8, 16, 8, 0);
MAP(lru_hash, LRU_HASH, 8, 16, 64, 0);
MAP(lru_percpu_hash, LRU_PERCPU_HASH, 8, 16, 64, 0);
MAP(lpm_trie, LPM_TRIE, 8, 16, 8, BPF_F_NO_PREALLOC);
MAP(prog_array, PROG_ARRAY, 4, 4, 8, 0);
MAP(perf, PERF_EVENT_ARRAY, 4, 4, 8, 0);
MAP(devmap, DEVMAP, 4, 4, 8, 0);
MAP(devmap_hash, DEVMAP_HASH, 4, 8, 8, 0);
MAP(cpumap, CPUMAP, 4, 4, 2, 0);
MAP(xskmap, XSKMAP, 4, 4, 8, 0);

struct inner {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(key_size, 4);
  __uint(value_size, 16);
  __uint(max_entries, 8);
};

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
  __uint(key_size, 4);
  __uint(max_entries, 4);
  __array(values, struct inner);
} array_of_maps SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_HASH_OF_MAPS);
  __uint(key_size, 4);
  __uint(max_entries, 4);
  __array(values, struct inner);
} hash_of_maps SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_RINGBUF);
  __uint(max_entries, 4096);
} ring SEC(".maps");

volatile const __u32 constant = 3;
__u64 variable;

SEC("xdp") int program(struct xdp_md *ctx) { return variable ? XDP_PASS : constant; }

char _license[] SEC("license") = "GPL";
