// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Conditions that remember: `flowbits`, `threshold` and `detection_filter`.

use std::sync::Arc;

use crate::byte_ops::Wrong;
use crate::numbers::number;

/// What a rule does with the bits of a flow, or asks of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FlowBit {
    /// Sets the bit when the rule matches.
    Set(Arc<str>),
    /// Clears it when the rule matches.
    Unset(Arc<str>),
    /// Inverts it when the rule matches.
    Toggle(Arc<str>),
    /// One of the bits is set.
    IsSet(Vec<Arc<str>>),
    /// None of the bits is set.
    IsNotSet(Vec<Arc<str>>),
}

impl FlowBit {
    /// Whether it asks something.
    #[must_use]
    pub fn is_test(&self) -> bool {
        matches!(self, Self::IsSet(_) | Self::IsNotSet(_))
    }
}

/// The value of `flowbits`; None: `noalert`.
///
/// # Errors
/// A sentence.
pub fn flowbits(text: &str) -> Result<Option<FlowBit>, String> {
    let (what, names) = text.split_once(',').map_or((text.trim(), ""), |(what, names)| (what.trim(), names.trim()));
    if what == "noalert" {
        return Ok(None);
    }
    let list: Vec<Arc<str>> = names.split('|').map(|name| Arc::from(name.trim())).collect();
    if list.iter().any(|name| name.is_empty()) {
        return Err("write flowbits:set,NAME".to_owned());
    }
    let only = || match &list[..] {
        [name] => Ok(Arc::clone(name)),
        _ => Err(format!("flowbits:{what} has one name")),
    };
    Ok(Some(match what {
        "set" => FlowBit::Set(only()?),
        "unset" => FlowBit::Unset(only()?),
        "toggle" => FlowBit::Toggle(only()?),
        "isset" => FlowBit::IsSet(list),
        "isnotset" => FlowBit::IsNotSet(list),
        other => return Err(format!("`{other}` is none of set, unset, toggle, isset, isnotset, noalert")),
    }))
}

/// When a rule that matches often reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ThresholdKind {
    /// With the first `count` matches of a period.
    Limit,
    /// With every `count`-th match of a period.
    Threshold,
    /// Once in a period, with the `count`-th match.
    Both,
    /// With every match of a period behind the `count`-th: `detection_filter`.
    Filter,
}

/// What matches are counted by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Track {
    /// Source address.
    Source,
    /// Destination address.
    Destination,
    /// Both addresses.
    Both,
    /// All matches of the rule.
    Rule,
}

/// `threshold` or `detection_filter`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Threshold {
    /// When the rule reports.
    pub kind: ThresholdKind,
    /// What matches are counted by.
    pub track: Track,
    /// Matches.
    pub count: u32,
    /// Length of a period in s. It begins with a match.
    pub seconds: u32,
}

/// The value of `threshold`, or of `detection_filter` if `filter`.
///
/// # Errors
/// A sentence, or something that is not supported.
pub fn threshold(text: &str, filter: bool) -> Result<Threshold, Wrong> {
    let mut kind = filter.then_some(ThresholdKind::Filter);
    let (mut track, mut count, mut seconds) = (None, None, None);
    for part in text.split(',') {
        let (key, value) = part.trim().split_once(char::is_whitespace).unwrap_or((part.trim(), ""));
        match (key, value.trim()) {
            ("type", "limit") if !filter => kind = Some(ThresholdKind::Limit),
            ("type", "threshold") if !filter => kind = Some(ThresholdKind::Threshold),
            ("type", "both") if !filter => kind = Some(ThresholdKind::Both),
            ("type", other) => return Err(Wrong::Unsupported(format!("the type `{other}` is not supported"))),
            ("track", "by_src") => track = Some(Track::Source),
            ("track", "by_dst") => track = Some(Track::Destination),
            ("track", "by_both") => track = Some(Track::Both),
            ("track", "by_rule") => track = Some(Track::Rule),
            ("track", other) => return Err(Wrong::Unsupported(format!("track `{other}` is not supported"))),
            ("count", value) => count = Some(number(value)?),
            ("seconds", value) => seconds = Some(number(value)?),
            (other, _) => return Err(Wrong::Value(format!("there is no `{other}`"))),
        }
    }
    match (kind, track, count, seconds) {
        (Some(kind), Some(track), Some(count @ 1..), Some(seconds @ 1..)) => {
            Ok(Threshold { kind, track, count, seconds })
        }
        _ => Err(Wrong::Value("write type limit, track by_src, count 1, seconds 60".to_owned())),
    }
}
