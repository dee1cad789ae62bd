/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/* Calls helpers with arguments from the frame; returns their results, or writes them into the frame. */
#include <packet.h>

#include "map.h"

static long (*const bpf_trace_vprintk)(const char *format, __u32 size, const void *data, __u32 bytes) = (void *)177;

MAP(array, ARRAY, 4, 8, 8, 0);
MAP(percpu_array, PERCPU_ARRAY, 4, 8, 8, 0);
MAP(hash, HASH, 4, 8, 8, 0);
MAP(percpu_hash, PERCPU_HASH, 4, 8, 8, 0);
MAP(lru_hash, LRU_HASH, 4, 8, 4096, 0);
MAP(lru_percpu_hash, LRU_PERCPU_HASH, 4, 8, 4096, 0);
MAP(lpm_trie, LPM_TRIE, 8, 8, 8, BPF_F_NO_PREALLOC);
MAP(devmap, DEVMAP, 4, 4, 8, 0);
MAP(devmap_hash, DEVMAP_HASH, 4, 8, 8, 0);
MAP(cpumap, CPUMAP, 4, 4, 2, 0);
MAP(xskmap, XSKMAP, 4, 4, 8, 0);
MAP(perf, PERF_EVENT_ARRAY, 4, 4, 8, 0);
MAP(ring, RINGBUF, 0, 0, 4096, 0);
MAP(programs, PROG_ARRAY, 4, 4, 4, 0);

struct command {
  __u32 what, which;
  __u64 flags;
  __u32 key[2];
  __u64 value;
  __u64 words[8];
};

/* The command that a frame begins with, or nothing. */
static __always_inline struct command *command(struct xdp_md *ctx) {
  struct command *command = frame_start(ctx);
  return (void *)(command + 1) > frame_end(ctx) ? 0 : command;
}

#define COMMAND                            \
  struct command *command_ = command(ctx); \
  if (!command_) return 77;                \
  struct command c = *command_

SEC("xdp") int head(struct xdp_md *ctx) { COMMAND; return bpf_xdp_adjust_head(ctx, c.which); }
SEC("xdp") int tail(struct xdp_md *ctx) { COMMAND; return bpf_xdp_adjust_tail(ctx, c.which); }
SEC("xdp") int meta(struct xdp_md *ctx) { COMMAND; return bpf_xdp_adjust_meta(ctx, c.which); }

SEC("xdp") int meta_then_head(struct xdp_md *ctx) {
  COMMAND;
  long first = bpf_xdp_adjust_meta(ctx, c.what);
  __u32 *meta = (void *)(long)ctx->data_meta;
  if ((void *)(meta + 1) <= frame_start(ctx)) *meta = 0x12345678;
  long second = bpf_xdp_adjust_head(ctx, c.which);
  long third = bpf_xdp_adjust_tail(ctx, c.key[0]);
  return first * 10000 + second * 100 + third;
}

SEC("xdp") int checksum(struct xdp_md *ctx) {
  COMMAND;
  __u32 from[8], to[8];
  for (int i = 0; i < 4; i++) {
    from[2 * i] = c.words[i];
    from[2 * i + 1] = c.words[i] >> 32;
    to[2 * i] = c.words[i + 4];
    to[2 * i + 1] = c.words[i + 4] >> 32;
  }
  __s64 sum = bpf_csum_diff(from, c.what & 31, to, c.which & 31, c.key[0]);
  command_->value = sum;
  return XDP_PASS;
}

SEC("xdp") int load_bytes(struct xdp_md *ctx) {
  COMMAND;
  __u8 bytes[64] = {1, 2, 3};
  long result = bpf_xdp_load_bytes(ctx, c.which, bytes, (c.what & 63) + 1);
  __builtin_memcpy(command_->words, bytes, 64);
  return result;
}

SEC("xdp") int store_bytes(struct xdp_md *ctx) {
  COMMAND;
  command_->value = bpf_xdp_get_buff_len(ctx);
  return bpf_xdp_store_bytes(ctx, c.which, c.words, (c.what & 63) + 1);
}

#define MAPS(name)                                                                  \
  SEC("xdp") int on_##name(struct xdp_md *ctx) {                                    \
    COMMAND;                                                                        \
    if (c.what == 0) {                                                              \
      __u64 *value = bpf_map_lookup_elem(&name, c.key);                             \
      if (!value) return XDP_DROP;                                                  \
      command_->value = *value;                                                     \
      *value += c.flags;                                                            \
      return XDP_PASS;                                                              \
    }                                                                               \
    if (c.what == 1) return bpf_map_update_elem(&name, c.key, &c.value, c.flags);   \
    return bpf_map_delete_elem(&name, c.key);                                       \
  }
MAPS(array)
MAPS(percpu_array)
MAPS(hash)
MAPS(percpu_hash)
MAPS(lru_hash)
MAPS(lru_percpu_hash)
MAPS(lpm_trie)

SEC("xdp") int to_port(struct xdp_md *ctx) { COMMAND; return bpf_redirect(c.which, c.flags); }

#define REDIRECT(name) \
  SEC("xdp") int to_##name(struct xdp_md *ctx) { COMMAND; return bpf_redirect_map(&name, c.key[0], c.flags); }
REDIRECT(devmap)
REDIRECT(devmap_hash)
REDIRECT(cpumap)
REDIRECT(xskmap)

SEC("xdp") int event(struct xdp_md *ctx) {
  COMMAND;
  return bpf_perf_event_output(ctx, &perf, c.flags, &c.words, c.which & 63);
}

SEC("xdp") int output(struct xdp_md *ctx) {
  COMMAND;
  return bpf_ringbuf_output(&ring, &c.words, c.which & 63, c.flags);
}

SEC("xdp") int query(struct xdp_md *ctx) { COMMAND; return bpf_ringbuf_query(&ring, c.flags); }

#define RESERVE(name, bytes)                                     \
  SEC("xdp") int name(struct xdp_md *ctx) {                      \
    COMMAND;                                                     \
    __u64 *record = bpf_ringbuf_reserve(&ring, bytes, c.flags);  \
    if (!record) return XDP_DROP;                                \
    *record = c.value;                                           \
    if (c.what) bpf_ringbuf_submit(record, 0);                   \
    else bpf_ringbuf_discard(record, 0);                         \
    return XDP_PASS;                                             \
  }
RESERVE(short_record, 12)
RESERVE(long_record, 2000)
RESERVE(too_long_record, 4096)

#define PRINT(name, format)                                                                            \
  SEC("xdp") int name(struct xdp_md *ctx) {                                                            \
    COMMAND;                                                                                           \
    static const char text[] = format;                                                                 \
    return bpf_trace_printk(text, sizeof(text), c.words[0], c.words[1], c.words[2]);                   \
  }
PRINT(print_plain, "no arguments")
PRINT(print_numbers, "%d %u %x")
PRINT(print_long, "a %ld b %lu c %lx")
PRINT(print_longer, "%lld%llu%llX.")
PRINT(print_padded, "[%08x] [%-12d] [%+5i]")
PRINT(print_percent, "100%% %c%c")
PRINT(print_unknown, "%f")
PRINT(print_four, "%d %d %d %d")

SEC("xdp") int print_many(struct xdp_md *ctx) {
  COMMAND;
  static const char text[] = "%d %d %d %d %d";
  return bpf_trace_vprintk(text, sizeof(text), c.words, 40);
}

SEC("xdp") int again(struct xdp_md *ctx) {
  COMMAND;
  __u32 zero = 0;
  __u64 *count = bpf_map_lookup_elem(&array, &zero);
  if (!count) return 99;
  *count += 1;
  bpf_tail_call(ctx, &programs, c.which);
  return *count;
}

/* The called program takes the place of the function that calls it; clang does not know that and must not know the
 * result. */
static __noinline int leave(struct xdp_md *ctx, __u32 which) {
  int result = 1000;
  bpf_tail_call(ctx, &programs, which);
  asm volatile("" : "+r"(result));
  return result;
}
SEC("xdp") int from_function(struct xdp_md *ctx) {
  COMMAND;
  return leave(ctx, c.which) + 7;
}

/* Leaves bytes on the stack. */
SEC("xdp") int fill_stack(struct xdp_md *ctx) {
  volatile __u8 bytes[64];
  for (int at = 0; at < 64; at++) bytes[at] = 0x5A;
  return bytes[ctx->rx_queue_index & 63];
}

/* Returns the bytes on the stack after the helper that should fill it has failed. */
SEC("xdp") int unfilled_stack(struct xdp_md *ctx) {
  __u8 bytes[64], all = 0;
  bpf_xdp_load_bytes(ctx, 60000, bytes, sizeof(bytes));
  for (int at = 0; at < 64; at++) all |= bytes[at];
  return all;
}

char _license[] SEC("license") = "GPL";
