/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/* Asks for a route as the frame says, from byte 16 on, and sends it back with the answer: in place when bit 0 of byte
 * 0 is set, else on the stack. Bit 1 gives a struct that is too short; byte 1 are the flags. */
#include <packet.h>

SEC("xdp") int routed(struct xdp_md *ctx) {
  __u8 *data = frame_start(ctx);
  if ((void *)(data + 80) > frame_end(ctx)) return XDP_DROP;
  struct bpf_fib_lookup query, *own = (void *)(data + 16);
  int size = data[0] & 2 ? 32 : sizeof(query);
  long answer;
  if (data[0] & 1) {
    answer = bpf_fib_lookup(ctx, own, size, data[1]);
  } else {
    __builtin_memcpy(&query, own, sizeof(query));
    answer = bpf_fib_lookup(ctx, &query, size, data[1]);
    __builtin_memcpy(own, &query, sizeof(query));
  }
  *(__u64 *)(data + 8) = answer;
  return XDP_TX;
}

char _license[] SEC("license") = "GPL";
