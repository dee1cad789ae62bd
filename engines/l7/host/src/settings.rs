// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Settings of l7 blocks in a design.

use std::any::Any;
use std::ops::Range;
use std::sync::Arc;

use penstock_engine::{Fault, Part, Section};
use penstock_l7::Limits;
use schemars::JsonSchema;
use serde::Deserialize;
use toml::Spanned;

/// Default timeout of a message, in µs.
const TIMEOUT: u32 = 1_000_000;
/// Messages in flight that a block may have; more than the fewest are in card memory.
const MESSAGES: std::ops::RangeInclusive<u32> = 512..=65536;
/// The unit in which the card counts timeouts, in ns.
pub(crate) const TICK: u64 = 1024;

/// The settings of one block: `[inline.l7]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// Time in µs without a packet after which a message expires; 0: never.
    pub timeout_us: u32,
    /// Messages in flight of all applications: [`Limits::ON_CHIP`], or more in card memory.
    pub messages: u32,
    /// Where the manifest says how many.
    pub messages_at: Option<Range<usize>>,
}

impl Default for Settings {
    fn default() -> Self {
        Self { timeout_us: TIMEOUT, messages: Limits::ON_CHIP as u32, messages_at: None }
    }
}

impl Part for Settings {
    fn without_memory(&self) -> Option<Fault> {
        let message = format!(
            "messages: more than {} are in card memory, of which this card has no channels: leave the key out",
            Limits::ON_CHIP
        );
        self.is_in_card().then(|| Fault { span: self.messages_at.clone(), message })
    }
}

/// `[inline.l7]`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "inline.l7")]
pub(crate) struct Keys {
    /// Time in µs after which an unfinished message is given up; 0 is never.
    #[schemars(with = "Option<i64>", range(min = 0, max = u32::MAX))]
    timeout_us: Option<Spanned<i64>>,
    /// Messages of several packets that may be in flight, of all applications: 512, or a power of two from 1024 to 65536,
    /// which are in card memory.
    #[schemars(with = "Option<i64>", range(min = 512, max = 65536))]
    messages: Option<Spanned<i64>>,
}

impl Settings {
    /// Reads `[inline.l7]`.
    ///
    /// # Errors
    /// A key is unknown or has a wrong value.
    pub fn read(section: Option<Section<'_>>) -> Result<Self, Fault> {
        let Some(section) = section else { return Ok(Self::default()) };
        let keys = section.read::<Keys>()?;
        let mut settings = Self::default();
        if let Some(timeout) = keys.timeout_us {
            let wrong = |_| {
                let message = format!("timeout_us: 0 to {} µs, where 0 is never, not {}", u32::MAX, timeout.get_ref());
                Fault::at(timeout.span(), message)
            };
            settings.timeout_us = u32::try_from(*timeout.get_ref()).map_err(wrong)?;
        }
        if let Some(messages) = keys.messages {
            let number = *messages.get_ref();
            settings.messages = u32::try_from(number)
                .ok()
                .filter(|number| MESSAGES.contains(number) && number.is_power_of_two())
                .ok_or_else(|| {
                    let message = format!(
                        "messages: a power of two from {} to {}, not {number}",
                        MESSAGES.start(),
                        MESSAGES.end()
                    );
                    Fault::at(messages.span(), message)
                })?;
            settings.messages_at = Some(messages.span());
        }
        Ok(settings)
    }

    /// The parameter of the hardware: the logarithm of the sets of four messages that each of two applications has in
    /// card memory, half of which are in use; 0: no message is there.
    pub(crate) fn parameter(&self) -> u64 {
        if self.is_in_card() { u64::from(self.messages.ilog2() - 2) } else { 0 }
    }

    /// Messages in card memory, of all applications.
    pub(crate) fn in_card(&self) -> u32 {
        if self.is_in_card() { self.messages } else { 0 }
    }

    /// Whether messages of several packets are in card memory.
    fn is_in_card(&self) -> bool {
        self.messages as usize > Limits::ON_CHIP
    }

    /// Cycles in which a block checks all its messages for expiry: one, or a set of four places, every 16 cycles.
    pub(crate) fn sweep(&self) -> u64 {
        let looks = if self.is_in_card() { 1 << self.parameter() } else { u64::from(self.messages) };
        16 * looks + 100
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
        Limits::of(self.messages as usize, u64::from(self.ticks()) * TICK)
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
pub(crate) fn card(section: Option<Section<'_>>) -> Result<Arc<dyn Part>, Fault> {
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

    #[test]
    fn messages_are_a_power_of_two() {
        for (value, parameter, limits) in
            [(512, 0, (256, 1024, false)), (1024, 8, (512, 1024, true)), (65536, 14, (32768, 65536, true))]
        {
            let settings = read(&format!("[l7]\nmessages = {value}\n")).unwrap();
            assert_eq!((settings.parameter(), settings.without_memory().is_some()), (parameter, parameter > 0));
            let Limits { messages, pages, in_card, .. } = settings.limits();
            assert_eq!((messages, pages, in_card), limits);
        }
        for value in [0, 256, 513, 65535, 131_072, -1] {
            let fault = read(&format!("[l7]\nmessages = {value}\n")).unwrap_err();
            assert!(fault.message.contains("a power of two from 512 to 65536"), "{fault:?}");
        }
    }
}
