// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The coverage of helpers by the tests. Every helper of the engine has an entry, so that no program is skipped because
//! the tests forgot one of its helpers.

use penstock_xdp_compiler::check::find_helper;

/// The extent to which a helper is tested, lowest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Reach {
    /// Not covered: its result differs at each call, or it needs features that [`super::world::Plain`] lacks.
    Nowhere,
    /// That the form and rows get the same from [`super::world::Plain`].
    Rows,
    /// Linux gives the same result.
    Linux,
}

/// How far the tests go with the helper of that number.
pub(crate) fn reach(number: u32) -> Reach {
    match find_helper(number).unwrap().name {
        "ktime_get_ns" | "ktime_get_boot_ns" | "ktime_get_coarse_ns" | "get_prandom_u32" => Reach::Nowhere,
        "fib_lookup" | "trace_vprintk" => Reach::Nowhere,
        "ringbuf_output" | "ringbuf_reserve" | "ringbuf_submit" | "ringbuf_discard" | "ringbuf_query" => Reach::Nowhere,
        "trace_printk" | "get_smp_processor_id" | "tail_call" | "perf_event_output" => Reach::Rows,
        "map_lookup_elem" | "map_update_elem" | "map_delete_elem" | "redirect" | "redirect_map" => Reach::Linux,
        "xdp_adjust_head" | "xdp_adjust_meta" | "xdp_adjust_tail" => Reach::Linux,
        "xdp_get_buff_len" | "xdp_load_bytes" | "xdp_store_bytes" | "csum_diff" => Reach::Linux,
        name => panic!("say here how far the tests go with {name}"),
    }
}

/// How far they go with a program that calls these.
pub(crate) fn reach_of<'a>(helpers: impl IntoIterator<Item = &'a u32>) -> Reach {
    helpers.into_iter().map(|helper| reach(*helper)).min().unwrap_or(Reach::Linux)
}
