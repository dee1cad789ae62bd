/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/* Updates the context's own values as the frame requests: key, flags and the place of the value in bytes 1 to 3, the
 * value from byte 16 on. The frame goes back with the helper's result from byte 8 on and, after the value, the
 * present value of the key. */
#include <packet.h>

struct value {
  __u64 words[2];
  __u16 end;
};

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __type(key, __u32);
  __type(value, struct value);
  __uint(max_entries, 5);
} own SEC(".maps");

SEC("xdp") int owned(struct xdp_md *ctx) {
  __u8 *frame = frame_start(ctx);
  if ((void *)(frame + 64) > frame_end(ctx)) return XDP_DROP;
  __u32 key = frame[1];
  long answer;
  if (frame[0] == 1) {
    answer = bpf_map_delete_elem(&own, &key);
  } else if (frame[3]) {
    answer = bpf_map_update_elem(&own, &key, frame + 16, frame[2]);
  } else {
    struct value value;
    __builtin_memcpy(&value, frame + 16, sizeof(value));
    answer = bpf_map_update_elem(&own, &key, &value, frame[2]);
  }
  *(__u64 *)(frame + 8) = answer;
  struct value *now = bpf_map_lookup_elem(&own, &key);
  if (now) __builtin_memcpy(frame + 40, now, 18);
  return XDP_TX;
}
