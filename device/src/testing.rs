// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The card of unit tests.

use std::path::{Path, PathBuf};

use penstock_engine::Root;

use crate::design::Design;

/// A card of two ports, with units that run a C program.
#[allow(clippy::unwrap_used)]
pub(crate) fn card(policy: &str, units: u32, program: &Path) -> Design {
    let text = include_str!("../tests/card.toml");
    let words = [("POLICY", policy), ("UNITS", &units.to_string()), ("PROGRAM", program.to_str().unwrap())];
    let text = words.iter().fold(text.to_owned(), |text, (place, word)| text.replace(place, word));
    Design::parse(&Root::find().unwrap().join("designs/test.toml"), &text).unwrap()
}

/// A program that an engine of this checkout brings with it, by its name.
#[allow(clippy::unwrap_used)]
pub(crate) fn program(name: &str) -> PathBuf {
    let root = Root::find().unwrap();
    let folder = |engine: &str| root.join("engines").join(engine).join("programs");
    let paths = penstock_registry::engines().iter().map(|engine| folder(engine.name()).join(name));
    paths.into_iter().find(|path| path.is_file()).unwrap()
}
