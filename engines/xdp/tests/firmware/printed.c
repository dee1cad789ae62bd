/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/* Prints the line that byte 0 of the frame selects, with numbers from byte 16 on. */
#include <packet.h>

static long (*const bpf_trace_vprintk)(const char *format, __u32 size, const void *data, __u32 bytes) = (void *)177;

SEC("xdp") int printed(struct xdp_md *ctx) {
  __u64 *frame = frame_start(ctx);
  if ((void *)(frame + 8) > frame_end(ctx)) return XDP_DROP;
  __u64 words[6];
  __builtin_memcpy(words, frame + 2, sizeof(words));
  switch (*(__u8 *)frame) {
    case 0: bpf_printk("hello"); break;
    case 1: bpf_printk("%d and %u, 0x%08x", words[0], words[1], words[2]); break;
    case 2: bpf_printk("a line of more than sixty-four bytes, with [%-21llu] and [%+6d] in it", words[0], words[1]); break;
    case 3: {
      char built[] = "built ? %c%%";
      built[6] = 'A' + (words[0] & 15);
      bpf_trace_printk(built, sizeof(built), words[1]);
      break;
    }
    case 4: {
      static const char text[] = "%lx %lx %lx %lx %lx";
      bpf_trace_vprintk(text, sizeof(text), words, 40);
      break;
    }
    default: bpf_printk("%d %d %d %d", words[0]);
  }
  return XDP_DROP;
}

char _license[] SEC("license") = "GPL";
