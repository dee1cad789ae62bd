/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/*
 * Maps in maps. Byte 0 of the frame says which map of maps and what is done, byte 1 which map in it, byte 2 the key,
 * byte 3 the flags; bytes 4 to 7 are the value of an update. They become the result; bytes 8 to 11 become what was
 * there before.
 */
#include <packet.h>

#define INNER(kind, value_bytes, entries)                 \
  struct {                                                \
    __uint(type, BPF_MAP_TYPE_##kind);                    \
    __uint(key_size, 4);                                  \
    __uint(value_size, value_bytes);                      \
    __uint(max_entries, entries);                         \
  }

INNER(HASH, 8, 6) hash_a SEC(".maps"), hash_b SEC(".maps");
INNER(ARRAY, 4, 3) array_a SEC(".maps"), array_b SEC(".maps");
INNER(LRU_PERCPU_HASH, 20, 6) own_a SEC(".maps"), own_b SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
  __uint(key_size, 4);
  __uint(max_entries, 4);
  __array(values, INNER(HASH, 8, 6));
} hashes SEC(".maps") = {.values = {[1] = (void *)&hash_a, [3] = (void *)&hash_b}};

struct {
  __uint(type, BPF_MAP_TYPE_HASH_OF_MAPS);
  __uint(key_size, 4);
  __uint(max_entries, 4);
  __array(values, INNER(ARRAY, 4, 3));
} arrays SEC(".maps") = {.values = {[0] = (void *)&array_a, [1] = (void *)&array_b, [2] = (void *)&array_b}};

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
  __uint(key_size, 4);
  __uint(max_entries, 2);
  __array(values, INNER(LRU_PERCPU_HASH, 20, 6));
} owns SEC(".maps") = {.values = {(void *)&own_a, (void *)&own_b}};

enum { LOOKUP, UPDATE, DELETE };

#define DO(inner, type)                                                             \
  type value = {*(__u32 *)(data + 4)};                                              \
  __u32 *found = bpf_map_lookup_elem(inner, &key);                                  \
  __u32 before = found ? *found : 0;                                                \
  long result;                                                                      \
  if (data[0] & 4) result = bpf_map_update_elem(inner, &key, &value, data[3] & 3);  \
  else if (data[0] & 8) result = bpf_map_delete_elem(inner, &key);                  \
  else result = found ? ++*found : 0;                                               \
  *(__u32 *)(data + 4) = result;                                                    \
  *(__u32 *)(data + 8) = before;                                                    \
  return XDP_TX

struct long_value {
  __u32 words[5];
};

SEC("xdp") int inner(struct xdp_md *ctx) {
  __u8 *data = frame_start(ctx);
  if ((void *)(data + 14) > frame_end(ctx)) return XDP_DROP;
  __u32 which = data[1] & 3, key = data[2] & 7;
  switch (data[0] & 3) {
    case 0: {
      void *map = bpf_map_lookup_elem(&hashes, &which);
      if (!map) return XDP_PASS;
      DO(map, __u64);
    }
    case 1: {
      void *map = bpf_map_lookup_elem(&arrays, &which);
      if (!map) return XDP_PASS;
      DO(map, __u32);
    }
    case 2: {
      void *map = bpf_map_lookup_elem(&owns, &which);
      if (!map) return XDP_PASS;
      DO(map, struct long_value);
    }
    default: {
      /* One of two that the program names. */
      void *map = which ? (void *)&hash_a : (void *)&hash_b;
      asm volatile("" : "+r"(map));
      DO(map, __u64);
    }
  }
}
