// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The engines that there are. This crate is the only one outside engines/ that names them; tools/registry.py holds it against
//! engines/engines.toml.

use penstock_engine::Engine;
use penstock_flow_host::FLOW;
use penstock_rpu_host::RPU;
use penstock_xdp_host::XDP;

static ENGINES: &[&dyn Engine] = &[&RPU, &XDP, &FLOW];

/// All engines, by their numbers.
#[must_use]
pub fn engines() -> &'static [&'static dyn Engine] {
    ENGINES
}

/// The engine of this name.
#[must_use]
pub fn engine(name: &str) -> Option<&'static dyn Engine> {
    engines().iter().copied().find(|engine| engine.name() == name)
}
