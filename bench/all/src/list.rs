// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The benches of the engines. Written by tools/registry.py from engines/engines.toml; change that.

use penstock_bench::Bench;

#[rustfmt::skip]
pub(crate) static BENCHES: &[&[Bench]] = &[
    penstock_rpu_bench::BENCHES,
    penstock_xdp_bench::BENCHES,
    penstock_flow_bench::BENCHES,
    penstock_rmt_bench::BENCHES,
    penstock_ids_bench::BENCHES,
    penstock_l7_bench::BENCHES,
];
