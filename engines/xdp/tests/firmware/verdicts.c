/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/* Executes the verdict in the byte after the packet's UDP header, and replaces that byte by the number of the
 * interface on which the packet arrived. */
#include <bpf.h>

SEC("xdp") int verdicts(struct xdp_md *ctx) {
  __u8 *data = (__u8 *)(long)ctx->data;
  __u8 *end = (__u8 *)(long)ctx->data_end;
  if (data + 43 > end) return XDP_DROP;
  __u8 wish = data[42];
  data[42] = (__u8)ctx->ingress_ifindex;
  if (wish == 1) return XDP_TX;
  if (wish == 2) return bpf_redirect(1, 0);
  if (wish == 3) return bpf_redirect(2, 0);
  if (wish == 4) return XDP_PASS;
  return XDP_DROP;
}
