// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The engines by their numbers. Written by tools/registry.py from engines/engines.toml; change that.

use penstock_engine::Engine;
use penstock_flow_host::FLOW;
use penstock_ids_host::IDS;
use penstock_l7_host::L7;
use penstock_rmt_host::RMT;
use penstock_rpu_host::RPU;
use penstock_xdp_host::XDP;

#[rustfmt::skip]
pub(crate) static ENGINES: &[&dyn Engine] = &[
    &RPU,
    &XDP,
    &FLOW,
    &RMT,
    &IDS,
    &L7,
];
