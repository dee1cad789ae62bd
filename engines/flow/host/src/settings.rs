// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Settings of flow blocks in a design.

use std::any::Any;
use std::sync::Arc;

use penstock_engine::{Fault, Part, Section};
use penstock_flow_compiler::limits::CONTEXTS as MOST;
use schemars::JsonSchema;
use serde::Deserialize;
use toml::Spanned;

/// Default number of contexts of a table.
pub const CONTEXTS: u32 = 15_892;

/// The settings of one block: `[inline.flow]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// Contexts of each table whose size the program does not give.
    pub contexts: u32,
}

impl Default for Settings {
    fn default() -> Self {
        Self { contexts: CONTEXTS }
    }
}

impl Part for Settings {}

/// `[inline.flow]`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "inline.flow")]
pub(crate) struct Keys {
    /// Contexts of each table for which the program gives no size.
    #[schemars(with = "Option<i64>", range(min = 1, max = MOST))]
    contexts: Option<Spanned<i64>>,
}

impl Settings {
    /// Reads `[inline.flow]`.
    ///
    /// # Errors
    /// A key is unknown or has a wrong value.
    pub fn read(section: Option<Section<'_>>) -> Result<Self, Fault> {
        let Some(section) = section else { return Ok(Self::default()) };
        let Some(contexts) = section.read::<Keys>()?.contexts else { return Ok(Self::default()) };
        let known = u32::try_from(*contexts.get_ref()).ok().filter(|contexts| (1..=MOST).contains(contexts));
        let wrong = || {
            let message = format!("contexts: a table has 1 to {MOST} contexts, not {}", contexts.get_ref());
            Fault::at(contexts.span(), message)
        };
        Ok(Self { contexts: known.ok_or_else(wrong)? })
    }

    /// The settings in a part of a design. All parts that the engine reads have them.
    pub(crate) fn of(part: &dyn Part) -> Self {
        (part as &dyn Any).downcast_ref::<Self>().cloned().unwrap_or_default()
    }
}

/// `[card.flow]`, which has no keys.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "card.flow")]
pub(crate) struct CardKeys {}

/// The settings of the engine on the whole card, `[card.flow]`: it has no keys.
#[derive(Debug)]
struct OnCard;

impl Part for OnCard {}

/// Reads `[card.flow]`.
///
/// # Errors
/// The table has a key.
pub(crate) fn card(section: Option<Section<'_>>) -> Result<Arc<dyn Part>, Fault> {
    section.map(Section::read::<CardKeys>).transpose()?;
    Ok(Arc::new(OnCard))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use toml::de::{DeTable, DeValue};

    use super::*;

    /// Reads the table `flow` of a manifest.
    fn read(manifest: &str) -> Result<Settings, Fault> {
        let mut tables = DeTable::parse(manifest).unwrap().into_inner();
        let (_, table) = tables.remove_entry("flow").unwrap();
        assert!(matches!(table.get_ref(), DeValue::Table(_)));
        Settings::read(Some(Section { folder: Path::new("."), table }))
    }

    #[test]
    fn contexts_have_a_default_and_bounds() {
        assert_eq!((Settings::read(None), read("[flow]\n")), (Ok(Settings::default()), Ok(Settings::default())));
        for contexts in [1, MOST] {
            assert_eq!(read(&format!("[flow]\ncontexts = {contexts}\n")), Ok(Settings { contexts }));
        }
        for (value, words) in [
            ("0", "contexts: a table has 1 to 1048576 contexts, not 0"),
            ("1048577", "not 1048577"),
            ("-1", "not -1"),
            ("\"many\"", "write a whole number"),
        ] {
            let fault = read(&format!("[flow]\ncontexts = {value}\n")).unwrap_err();
            assert!(fault.message.contains(words), "{fault:?}");
            assert_eq!(fault.span, Some(18..18 + value.len()), "{value}");
        }
    }

    #[test]
    fn other_keys_are_refused() {
        let fault = read("[flow]\nlanes = 4\n").unwrap_err();
        assert!(fault.message.contains("unknown field `lanes`"), "{fault:?}");
        assert!(fault.span.is_some());
    }
}
