/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/* Looks up a route with arguments from the frame, and reads the engine's own state. */
#include <packet.h>

SEC("xdp") int route(struct xdp_md *ctx) {
  struct bpf_fib_lookup *query = frame_start(ctx);
  if ((void *)(query + 1) > frame_end(ctx)) return 77;
  return bpf_fib_lookup(ctx, query, sizeof(*query), 0);
}

SEC("xdp") int time_and_chance(struct xdp_md *ctx) {
  __u64 *words = frame_start(ctx);
  if ((void *)(words + 3) > frame_end(ctx)) return 77;
  words[0] = bpf_ktime_get_ns();
  words[1] = bpf_get_prandom_u32();
  words[2] = bpf_ktime_get_coarse_ns();
  return XDP_PASS;
}

char _license[] SEC("license") = "GPL";
