// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The commands of engines. Written by tools/registry.py from engines/engines.toml; change that.

use penstock_engine::Tool;

#[rustfmt::skip]
pub(crate) static EXEC: &[(&str, Tool)] = &[
    ("xdp", penstock_xdp_bare::EXEC),
];
