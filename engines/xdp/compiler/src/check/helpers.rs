// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Helper functions of the engine with their argument and result types, and the names of all helpers of Linux, for
//! messages.

use crate::maps::MapKind;

/// The type of a helper's argument register.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Arg {
    /// Any number, and, as in Linux, any pointer.
    Anything,
    /// The program's context.
    Context,
    /// A map of a kind that the helper works on.
    Map,
    /// A key of the map before it.
    Key,
    /// A value of the map before it.
    Value,
    /// Bytes that are read; the size is in the next register.
    Read,
    /// Bytes that are read, or null and a size of 0.
    ReadOrNull,
    /// Bytes that are read and written.
    ReadWrite,
    /// Bytes that are written, or left as they are; the size is in the next register.
    Write,
    /// How many bytes the register before it points to; at least 1.
    Size,
    /// The same; may be 0.
    SizeOrZero,
    /// A known number of bytes.
    KnownSize,
    /// A record of a ring buffer, which is given back.
    Record,
}

/// The type of r0 after a helper.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Gives {
    /// A number.
    Number,
    /// A value of the map, or null.
    Value,
    /// A record of as many bytes as was asked for, or null.
    Record,
    /// Nothing: the helper has no result.
    Nothing,
}

/// A helper function.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Helper {
    /// The kernel's number of the helper.
    pub number: u32,
    /// Its name without `bpf_`.
    pub name: &'static str,
    /// The types of r1 and the registers after it, as many as it reads.
    pub args: &'static [Arg],
    /// The type of its result.
    pub gives: Gives,
    /// Only for programs under a free license.
    pub free_only: bool,
    /// It may be given pointers into the packet.
    pub packet_args: bool,
    /// It moves the packet: pointers into it are void afterwards.
    pub moves_packet: bool,
}

const fn helper(number: u32, name: &'static str, args: &'static [Arg]) -> Helper {
    Helper { number, name, args, gives: Gives::Number, free_only: false, packet_args: false, moves_packet: false }
}

impl Helper {
    const fn gives(self, gives: Gives) -> Helper {
        Helper { gives, ..self }
    }

    const fn free_only(self) -> Helper {
        Helper { free_only: true, ..self }
    }

    const fn packet_args(self) -> Helper {
        Helper { packet_args: true, ..self }
    }

    const fn moves_packet(self) -> Helper {
        Helper { moves_packet: true, ..self }
    }
}

use Arg::{
    Anything, Context, Key, KnownSize, Map, Read, ReadOrNull, ReadWrite, Record, Size, SizeOrZero, Value, Write,
};

/// Lookups in maps.
pub const LOOKUP: Helper = helper(1, "map_lookup_elem", &[Map, Key]).gives(Gives::Value).packet_args();
/// Numbers of the helpers that print.
pub const PRINTS: [u32; 2] = [6, 177];
/// Number of the helper that asks for routes.
pub const FIB_LOOKUP: u32 = 69;
/// The helper that names the output interface of a packet.
pub const REDIRECT: Helper = helper(23, "redirect", &[Anything, Anything]);

/// The helpers that the engine has.
pub const HELPERS: [Helper; 27] = [
    LOOKUP,
    helper(2, "map_update_elem", &[Map, Key, Value, Anything]).packet_args(),
    helper(3, "map_delete_elem", &[Map, Key]).packet_args(),
    helper(5, "ktime_get_ns", &[]),
    // The format decides which of r3 to r5 it reads; Linux does not check them either.
    helper(6, "trace_printk", &[Read, Size]).free_only(),
    helper(7, "get_prandom_u32", &[]),
    helper(8, "get_smp_processor_id", &[]),
    helper(12, "tail_call", &[Context, Map, Anything]),
    REDIRECT,
    helper(25, "perf_event_output", &[Context, Map, Anything, Read, SizeOrZero]).free_only(),
    helper(28, "csum_diff", &[ReadOrNull, SizeOrZero, ReadOrNull, SizeOrZero, Anything]).packet_args(),
    helper(44, "xdp_adjust_head", &[Context, Anything]).moves_packet(),
    helper(51, "redirect_map", &[Map, Anything, Anything]),
    helper(54, "xdp_adjust_meta", &[Context, Anything]).moves_packet(),
    helper(65, "xdp_adjust_tail", &[Context, Anything]).moves_packet(),
    helper(FIB_LOOKUP, "fib_lookup", &[Context, ReadWrite, Size, Anything]).free_only().packet_args(),
    helper(125, "ktime_get_boot_ns", &[]),
    helper(130, "ringbuf_output", &[Map, Read, SizeOrZero, Anything]),
    helper(131, "ringbuf_reserve", &[Map, KnownSize, Anything]).gives(Gives::Record),
    helper(132, "ringbuf_submit", &[Record, Anything]).gives(Gives::Nothing),
    helper(133, "ringbuf_discard", &[Record, Anything]).gives(Gives::Nothing),
    helper(134, "ringbuf_query", &[Map, Anything]),
    helper(160, "ktime_get_coarse_ns", &[]),
    helper(177, "trace_vprintk", &[Read, Size, ReadOrNull, SizeOrZero]).free_only(),
    helper(188, "xdp_get_buff_len", &[Context]),
    helper(189, "xdp_load_bytes", &[Context, Anything, Write, Size]),
    helper(190, "xdp_store_bytes", &[Context, Anything, Read, Size]),
];

/// The helper of that number, if the engine has it.
pub fn find(number: u32) -> Option<&'static Helper> {
    HELPERS.iter().find(|helper| helper.number == number)
}

/// What Linux calls the helper of that number.
pub fn name(number: u32) -> String {
    match NAMES.split(' ').nth(number as usize) {
        Some(name) if number > 0 => format!("bpf_{name}()"),
        _ => format!("number {number}"),
    }
}

/// Whether a helper works on maps of a kind. All other combinations are refused: the host fills maps of devices,
/// programs and processors.
pub(super) fn works_on(helper: &Helper, kind: MapKind) -> bool {
    use MapKind::{
        Array, ArrayOfMaps, Cpumap, Devmap, DevmapHash, Hash, HashOfMaps, LpmTrie, LruHash, LruPercpuHash, PercpuArray,
        PercpuHash, PerfEventArray, ProgArray, Ringbuf, Xskmap,
    };
    match kind {
        Array | PercpuArray | Hash | PercpuHash | LruHash | LruPercpuHash | LpmTrie => {
            matches!(helper.name, "map_lookup_elem" | "map_update_elem" | "map_delete_elem")
        }
        ArrayOfMaps | HashOfMaps => helper.name == "map_lookup_elem",
        Devmap | DevmapHash | Xskmap => matches!(helper.name, "map_lookup_elem" | "redirect_map"),
        Cpumap => helper.name == "redirect_map",
        ProgArray => helper.name == "tail_call",
        PerfEventArray => helper.name == "perf_event_output",
        Ringbuf => matches!(helper.name, "ringbuf_output" | "ringbuf_reserve" | "ringbuf_query"),
    }
}

/// By number.
const NAMES: &str = "\
    unspec map_lookup_elem map_update_elem map_delete_elem probe_read ktime_get_ns trace_printk get_prandom_u32 \
    get_smp_processor_id skb_store_bytes l3_csum_replace l4_csum_replace tail_call clone_redirect \
    get_current_pid_tgid get_current_uid_gid get_current_comm get_cgroup_classid skb_vlan_push skb_vlan_pop \
    skb_get_tunnel_key skb_set_tunnel_key perf_event_read redirect get_route_realm perf_event_output skb_load_bytes \
    get_stackid csum_diff skb_get_tunnel_opt skb_set_tunnel_opt skb_change_proto skb_change_type skb_under_cgroup \
    get_hash_recalc get_current_task probe_write_user current_task_under_cgroup skb_change_tail skb_pull_data \
    csum_update set_hash_invalid get_numa_node_id skb_change_head xdp_adjust_head probe_read_str get_socket_cookie \
    get_socket_uid set_hash setsockopt skb_adjust_room redirect_map sk_redirect_map sock_map_update xdp_adjust_meta \
    perf_event_read_value perf_prog_read_value getsockopt override_return sock_ops_cb_flags_set msg_redirect_map \
    msg_apply_bytes msg_cork_bytes msg_pull_data bind xdp_adjust_tail skb_get_xfrm_state get_stack \
    skb_load_bytes_relative fib_lookup sock_hash_update msg_redirect_hash sk_redirect_hash lwt_push_encap \
    lwt_seg6_store_bytes lwt_seg6_adjust_srh lwt_seg6_action rc_repeat rc_keydown skb_cgroup_id \
    get_current_cgroup_id get_local_storage sk_select_reuseport skb_ancestor_cgroup_id sk_lookup_tcp sk_lookup_udp \
    sk_release map_push_elem map_pop_elem map_peek_elem msg_push_data msg_pop_data rc_pointer_rel spin_lock \
    spin_unlock sk_fullsock tcp_sock skb_ecn_set_ce get_listener_sock skc_lookup_tcp tcp_check_syncookie \
    sysctl_get_name sysctl_get_current_value sysctl_get_new_value sysctl_set_new_value strtol strtoul sk_storage_get \
    sk_storage_delete send_signal tcp_gen_syncookie skb_output probe_read_user probe_read_kernel probe_read_user_str \
    probe_read_kernel_str tcp_send_ack send_signal_thread jiffies64 read_branch_records get_ns_current_pid_tgid \
    xdp_output get_netns_cookie get_current_ancestor_cgroup_id sk_assign ktime_get_boot_ns seq_printf seq_write \
    sk_cgroup_id sk_ancestor_cgroup_id ringbuf_output ringbuf_reserve ringbuf_submit ringbuf_discard ringbuf_query \
    csum_level skc_to_tcp6_sock skc_to_tcp_sock skc_to_tcp_timewait_sock skc_to_tcp_request_sock skc_to_udp6_sock \
    get_task_stack load_hdr_opt store_hdr_opt reserve_hdr_opt inode_storage_get inode_storage_delete d_path \
    copy_from_user snprintf_btf seq_printf_btf skb_cgroup_classid redirect_neigh per_cpu_ptr this_cpu_ptr \
    redirect_peer task_storage_get task_storage_delete get_current_task_btf bprm_opts_set ktime_get_coarse_ns \
    ima_inode_hash sock_from_file check_mtu for_each_map_elem snprintf sys_bpf btf_find_by_name_kind sys_close \
    timer_init timer_set_callback timer_start timer_cancel get_func_ip get_attach_cookie task_pt_regs \
    get_branch_snapshot trace_vprintk skc_to_unix_sock kallsyms_lookup_name find_vma loop strncmp get_func_arg \
    get_func_ret get_func_arg_cnt get_retval set_retval xdp_get_buff_len xdp_load_bytes xdp_store_bytes \
    copy_from_user_task skb_set_tstamp ima_file_hash kptr_xchg map_lookup_percpu_elem skc_to_mptcp_sock \
    dynptr_from_mem ringbuf_reserve_dynptr ringbuf_submit_dynptr ringbuf_discard_dynptr dynptr_read dynptr_write \
    dynptr_data tcp_raw_gen_syncookie_ipv4 tcp_raw_gen_syncookie_ipv6 tcp_raw_check_syncookie_ipv4 \
    tcp_raw_check_syncookie_ipv6 ktime_get_tai_ns user_ringbuf_drain cgrp_storage_get cgrp_storage_delete";
