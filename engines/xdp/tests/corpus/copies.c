/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/* Bytes that are copied into the frame and out of it, and read and written directly in between. */
#include <packet.h>

SEC("xdp") int copies(struct xdp_md *ctx) {
  __u8 *frame = frame_start(ctx);
  if ((void *)(frame + 40) > frame_end(ctx)) return XDP_DROP;
  __u64 before = *(__u64 *)(frame + 16), word = before ^ 0x1122334455667788, again = 0;
  long failed = bpf_xdp_store_bytes(ctx, 12 + 3 * (frame[5] & 3), &word, sizeof(word));
  __u64 direct = *(__u64 *)(frame + 16);
  frame[20] = 7;
  failed |= bpf_xdp_load_bytes(ctx, 18, &again, sizeof(again));
  *(__u64 *)(frame + 32) = before + 3 * direct + 5 * again;
  return failed ? XDP_ABORTED : XDP_TX;
}
