// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Settings of l7 blocks in a design.

use std::any::Any;
use std::sync::Arc;

use penstock_engine::{Fault, Part, Section};
use penstock_l7::Limits;
use schemars::JsonSchema;
use serde::Deserialize;
use toml::Spanned;

/// Default timeout of a message, in µs.
const TIMEOUT: u32 = 1_000_000;
/// The unit in which the card counts timeouts, in ns.
pub const TICK: u64 = 1024;

/// The settings of one block: `[inline.l7]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// Time in µs without a packet after which a message expires; 0: never.
    pub timeout_us: u32,
}

impl Default for Settings {
    fn default() -> Self {
        Self { timeout_us: TIMEOUT }
    }
}

impl Part for Settings {}

/// `[inline.l7]`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "inline.l7")]
pub(crate) struct Keys {
    /// Time in µs after which an unfinished message is given up; 0 is never.
    #[schemars(with = "Option<i64>", range(min = 0, max = u32::MAX))]
    timeout_us: Option<Spanned<i64>>,
}

impl Settings {
    /// Reads `[inline.l7]`.
    ///
    /// # Errors
    /// A key is unknown or has a wrong value.
    pub fn read(section: Option<Section<'_>>) -> Result<Self, Fault> {
        let Some(section) = section else { return Ok(Self::default()) };
        let Some(timeout) = section.read::<Keys>()?.timeout_us else { return Ok(Self::default()) };
        let wrong = |_| {
            let message = format!("timeout_us: 0 to {} µs, where 0 is never, not {}", u32::MAX, timeout.get_ref());
            Fault::at(timeout.span(), message)
        };
        Ok(Self { timeout_us: u32::try_from(*timeout.get_ref()).map_err(wrong)? })
    }

    /// The settings in a part of a design. All parts that the engine reads have them.
    pub(crate) fn of(part: &dyn Part) -> Self {
        (part as &dyn Any).downcast_ref::<Self>().cloned().unwrap_or_default()
    }

    /// The timeout in units of 1,024 ns, as the card counts it; at least one, unless it is 0.
    #[must_use]
    pub fn ticks(&self) -> u32 {
        let ticks = (u64::from(self.timeout_us) * 1000 + TICK / 2) / TICK;
        // A timeout is at most 2^32 µs, which are fewer ticks.
        (ticks as u32).max(u32::from(self.timeout_us > 0))
    }

    /// The limits of each application.
    #[must_use]
    pub fn limits(&self) -> Limits {
        Limits { timeout: u64::from(self.ticks()) * TICK, ..Limits::default() }
    }
}

/// `[card.l7]`, which has no keys.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "card.l7")]
pub(crate) struct CardKeys {}

/// The settings of the engine on the whole card, `[card.l7]`: it has no keys.
#[derive(Debug)]
struct OnCard;

impl Part for OnCard {}

/// Reads `[card.l7]`.
///
/// # Errors
/// The table has a key.
pub fn card(section: Option<Section<'_>>) -> Result<Arc<dyn Part>, Fault> {
    section.map(Section::read::<CardKeys>).transpose()?;
    Ok(Arc::new(OnCard))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::path::Path;

    use toml::de::DeTable;

    use super::*;

    /// Reads the table `l7` of a manifest.
    fn read(manifest: &str) -> Result<Settings, Fault> {
        let mut tables = DeTable::parse(manifest).unwrap().into_inner();
        let (_, table) = tables.remove_entry("l7").unwrap();
        Settings::read(Some(Section { folder: Path::new("."), table }))
    }

    #[test]
    fn timeouts_are_counted_in_ticks() {
        for (value, ticks) in [(0, 0), (1, 1), (1_000_000, 976_563), (u32::MAX, 4_194_303_999)] {
            assert_eq!(read(&format!("[l7]\ntimeout_us = {value}\n")).unwrap().ticks(), ticks, "{value}");
        }
        assert_eq!(Settings::default().limits(), Limits::default());
        for (value, words) in [("-1", "not -1"), ("4294967296", "not 4294967296"), ("\"long\"", "write a whole number")]
        {
            let fault = read(&format!("[l7]\ntimeout_us = {value}\n")).unwrap_err();
            assert!(fault.message.contains(words), "{fault:?}");
        }
    }
}
