/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/*
 * Hash tables with a value for each processor. Behind byte 40 of the frame byte 0 says in which and what is done, byte
 * 1 makes the key, byte 2 is the flags and bytes 4 to 7 are the value of an update. The frame goes back with the result
 * in bytes 8 to 11, the processor in 12 to 15, and what its value began with in 16 to 19.
 */
#include <packet.h>

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_HASH);
  __type(key, __u32);
  __type(value, __u64);
  __uint(max_entries, 8);
} small SEC(".maps");

struct place {
  __u32 words[5];
};

struct told {
  __u32 first;
  __u32 rest[5];
};

struct {
  __uint(type, BPF_MAP_TYPE_LRU_PERCPU_HASH);
  __type(key, struct place);
  __type(value, struct told);
  __uint(max_entries, 16);
} large SEC(".maps");

enum { COUNT, LOOKUP, UPDATE, DELETE };

#define DO(map, key, value)                                                     \
  __u32 *found = bpf_map_lookup_elem(&map, &key);                               \
  out[2] = found ? *found : 0;                                                  \
  switch (data[0] >> 1) {                                                       \
    case COUNT:                                                                 \
      if (found) (*found)++;                                                    \
      else result = bpf_map_update_elem(&map, &key, &value, 0);                 \
      break;                                                                    \
    case LOOKUP: result = found != 0; break;                                    \
    case UPDATE: result = bpf_map_update_elem(&map, &key, &value, data[2]); break; \
    default: result = bpf_map_delete_elem(&map, &key);                          \
  }

SEC("xdp") int each(struct xdp_md *ctx) {
  __u8 *data = frame_start(ctx) + 40;
  if ((void *)(data + 20) > frame_end(ctx)) return XDP_DROP;
  __u32 *out = (void *)(data + 8);
  long result = 0;
  if (data[0] & 1) {
    struct place key = {{data[1], 0, 7, data[1], 1}};
    struct told value = {*(__u32 *)(data + 4), {1, 2, 3, 4, data[1]}};
    DO(large, key, value)
  } else {
    __u32 key = data[1];
    __u64 value = *(__u32 *)(data + 4);
    DO(small, key, value)
  }
  out[0] = result;
  out[1] = bpf_get_smp_processor_id();
  return XDP_TX;
}
