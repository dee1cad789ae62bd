/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/* Byte 0 of the frame selects the operation on maps of processors and sockets, byte 1 is the key. A looked-up value
 * goes back in bytes 2 and 3. */
#include <packet.h>

struct {
  __uint(type, BPF_MAP_TYPE_CPUMAP);
  __uint(key_size, 4);
  __uint(value_size, 4);
  __uint(max_entries, 6);
} cpus SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_XSKMAP);
  __uint(key_size, 4);
  __uint(value_size, 4);
  __uint(max_entries, 5);
} sockets SEC(".maps");

/* For entries with programs, which are refused. */
struct {
  __uint(type, BPF_MAP_TYPE_DEVMAP);
  __uint(key_size, 4);
  __uint(value_size, 8);
  __uint(max_entries, 2);
} devices SEC(".maps");

SEC("xdp") int targets(struct xdp_md *ctx) {
  __u8 *data = frame_start(ctx);
  if ((void *)(data + 14) > frame_end(ctx)) return XDP_DROP;
  __u32 key = data[1];
  switch (data[0]) {
    case 0: return bpf_redirect_map(&cpus, key, XDP_PASS);
    case 1: return bpf_redirect_map(&sockets, key, XDP_TX);
    case 2: {
      __u32 *queue = bpf_map_lookup_elem(&sockets, &key);
      data[2] = queue != 0;
      data[3] = queue ? *queue : 0;
      return XDP_TX;
    }
    /* Flags of maps of devices. */
    case 3: return bpf_redirect_map(&cpus, key, 8);
    case 4: return bpf_redirect_map(&sockets, key, 16);
    /* It takes the place of the interface that was named before, also when there is no entry. */
    default:
      bpf_redirect(1, 0);
      bpf_redirect_map(&cpus, key, 0);
      return XDP_REDIRECT;
  }
}
