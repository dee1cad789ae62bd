/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/* Definitions for the kernel's samples that the installed headers lack: names from a kernel's tree, or from the
 * vmlinux.h that bpftool makes of a running kernel. With it the samples compile like any XDP program. */
#ifndef PENSTOCK_VMLINUX_H
#define PENSTOCK_VMLINUX_H

#include <linux/types.h>

#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/tcp.h>
#include <linux/udp.h>
#include <stdbool.h>
#include <stddef.h>

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;

struct vlan_hdr {
  __be16 h_vlan_TCI;
  __be16 h_vlan_encapsulated_proto;
};

#define AF_INET 2
#define AF_INET6 10
#define __force
#define __packed __attribute__((packed))
#define unlikely(x) __builtin_expect(!!(x), 0)
#define htons(x) __builtin_bswap16(x)
#define ntohs(x) __builtin_bswap16(x)
#define cpu_to_be32(x) __builtin_bswap32(x)
#define min(a, b) ((a) < (b) ? (a) : (b))
#define max(a, b) ((a) > (b) ? (a) : (b))
#define memcpy __builtin_memcpy
#define memset __builtin_memset

#endif
