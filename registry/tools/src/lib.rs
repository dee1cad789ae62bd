// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The commands that engines add to the command line. An engine's host crate, on which devices stand, has most of them;
//! those that open a device of their own are in a crate of their own (`bare` in engines/engines.toml).

mod list;

use penstock_engine::Tool;
use penstock_registry::engines;

/// The subcommands of `penstock compile`, with the names of their engines.
pub fn compile_tools() -> impl Iterator<Item = (&'static str, Tool)> {
    engines().iter().filter_map(|engine| Some((engine.name(), engine.compile_tool()?)))
}

/// The subcommands of `penstock exec`, with the names of their engines.
pub fn exec_tools() -> impl Iterator<Item = (&'static str, Tool)> {
    let of_hosts = engines().iter().filter_map(|engine| Some((engine.name(), engine.exec_tool()?)));
    list::EXEC.iter().copied().chain(of_hosts)
}
