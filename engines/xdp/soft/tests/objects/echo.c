/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/* The first byte is the verdict, the second the port of a redirection; after them the program writes its unit and
 * context and the frame's source. */
#include <packet.h>

SEC("xdp") int echo(struct xdp_md *ctx) {
  __u8 *data = frame_start(ctx);
  if ((void *)(data + 8) > frame_end(ctx)) return XDP_ABORTED;
  data[2] = bpf_get_smp_processor_id();
  data[3] = ctx->ingress_ifindex;
  return data[0] == XDP_REDIRECT ? bpf_redirect(data[1], 0) : data[0];
}
