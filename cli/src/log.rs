// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The messages of a card that is up.
//!
//! As text, the start and the summary go to standard output, and faults to standard error. As JSON, all goes to standard
//! error, a line each, which collectors of logs read: `timestamp` (RFC 3339), `level` (`WARN` for faults), `message`. A
//! change has a line too, with the `request` that a client of the control socket sent.

use std::io::{Write, stderr, stdout};

use clap::ValueEnum;
use penstock_engine::say::plain;
use tracing::{Level, info};
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{Layer, fmt, registry};

/// The form of messages.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Lines for people.
    #[default]
    Text,
    /// Lines of JSON.
    Json,
}

impl Format {
    /// Has messages printed in this form from now on.
    pub(crate) fn start(self) {
        let lines = fmt::layer().with_writer(stderr).with_target(false);
        let (layer, level) = match self {
            Self::Text => (lines.with_ansi(false).with_level(false).without_time().boxed(), Level::WARN),
            Self::Json => {
                let lines = lines.json().flatten_event(true).with_current_span(false).with_span_list(false);
                (lines.boxed(), Level::INFO)
            }
        };
        // Libraries log too, for example each connection.
        let own = Targets::new().with_target("penstock", level);
        registry().with(layer.with_filter(own)).init();
    }

    /// Prints lines about the start or the end.
    pub(crate) fn say(self, lines: &str) {
        match self {
            Self::Text => print(lines),
            Self::Json => lines.lines().for_each(|line| info!("{line}")),
        }
    }
}

/// Writes to standard output at once, also through a pipe. A closed output is no reason to stop.
pub(crate) fn print(text: &str) {
    let mut out = stdout();
    let _ = out.write_all(plain(text).as_bytes()).and_then(|()| out.flush());
}
