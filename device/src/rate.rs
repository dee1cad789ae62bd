// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! How fast frames enter.

use std::fmt;
use std::str::FromStr;

/// The rate at which frames enter. `soft` always takes them as fast as it can, except in turns.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Rate {
    /// Line rate, but no frame starts while its port is paused: nothing overflows.
    Lossless,
    /// 100 Gb/s a port, including preamble, gap and FCS, even if the card asks for a pause.
    Line,
    /// This many Gb/s a port, including preamble, gap and FCS, even if the card asks for a pause.
    Gbps(f64),
    /// Ports of this many Gb/s: no byte enters or leaves faster. This measures a card at another clock, because only
    /// the number of bytes a cycle matters.
    Ports(f64),
    /// At the times of the frames, counted from the first one, even if the card asks for a pause. A frame whose time is
    /// over when the port is free, and one without a time, enters right behind the frame before it. The simulation also
    /// runs through the time between frames.
    Captured,
    /// One frame at a time, in the order of their times: the next enters when the one before has left or was dropped.
    /// Programs that read the time see that of the capture (docs/clocks.md), so stateful programs send the same frames on
    /// all targets.
    Turns,
}

/// The word that is no [`Rate`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no rate: give `lossless`, `line`, `captured`, `turns`, or Gb/s between 0.001 and 100")]
pub struct ParseRateError(String);

impl FromStr for Rate {
    type Err = ParseRateError;

    /// Parses `lossless`, `line`, `captured`, `turns` or a number of Gb/s.
    fn from_str(word: &str) -> Result<Self, ParseRateError> {
        match word {
            "lossless" => Ok(Self::Lossless),
            "line" => Ok(Self::Line),
            "captured" => Ok(Self::Captured),
            "turns" => Ok(Self::Turns),
            _ => match word.parse() {
                Ok(gbps) if (0.001..=100.0).contains(&gbps) => Ok(Self::Gbps(gbps)),
                _ => Err(ParseRateError(word.to_owned())),
            },
        }
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lossless => f.write_str("line rate with pauses"),
            Self::Turns => f.write_str("one frame at a time"),
            Self::Line => f.write_str("line rate"),
            Self::Captured => f.write_str("the times of the captures"),
            Self::Gbps(gbps) => write!(f, "{gbps} Gb/s a port"),
            Self::Ports(gbps) => write!(f, "line rate of ports of {gbps} Gb/s"),
        }
    }
}
