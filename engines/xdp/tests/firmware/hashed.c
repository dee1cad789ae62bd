/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/* Byte 0 of the frame is the key in a map of devices. If byte 1 is odd, the program first looks the key up, and sends
 * the frame to the host if there is no entry. */
#include <packet.h>

struct {
  __uint(type, BPF_MAP_TYPE_DEVMAP_HASH);
  __uint(key_size, 4);
  __uint(value_size, 8);
  __uint(max_entries, 8);
} ports SEC(".maps");

SEC("xdp") int hashed(struct xdp_md *ctx) {
  __u8 *data = frame_start(ctx);
  if ((void *)(data + 14) > frame_end(ctx)) return XDP_DROP;
  __u32 key = data[0];
  if ((data[1] & 1) && !bpf_map_lookup_elem(&ports, &key)) return XDP_PASS;
  return bpf_redirect_map(&ports, key, XDP_TX);
}
