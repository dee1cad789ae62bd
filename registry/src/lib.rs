// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The engines. No other crate outside engines/ names them. A test compares them with
//! engines/engines.toml.

mod list;

use penstock_engine::Engine;

use crate::list::ENGINES;

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

#[cfg(test)]
mod tests {
    use penstock_engine::Kind;

    use super::*;

    /// engines.toml, from which RTL and registers are written, and this crate name the same engines.
    #[test]
    fn the_entries_are_those_of_engines_toml() {
        let text = include_str!("../../engines/engines.toml");
        let table: toml::Table = text.parse().unwrap();
        let entry = |entry: &toml::Value| {
            let text = |key: &str| entry[key].as_str().unwrap().to_owned();
            (text("name"), entry["number"].as_integer().unwrap(), text("kind"))
        };
        let mut entries: Vec<_> = table["engine"].as_array().unwrap().iter().map(entry).collect();
        entries.sort_by_key(|(_, number, _)| *number);
        let known = engines().iter().map(|engine| {
            let kind = match engine.kind() {
                Kind::Units => "unit",
                Kind::Inline => "inline",
            };
            (engine.name().to_owned(), i64::from(engine.number()), kind.to_owned())
        });
        assert_eq!(known.collect::<Vec<_>>(), entries);
    }
}
