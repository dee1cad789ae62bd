// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Rules and frames of the benches.

use std::path::Path;
use std::sync::Arc;

use penstock_bench::BenchError;
use penstock_device::capture;
use penstock_ids_compiler::{Options, Program, RuleFile, Ruleset};
use penstock_ids_samples::{Frame, Rules, rules, traffic};

/// Bytes of frames in generated traffic.
const BYTES: usize = 24 << 20;
/// Of a thousand sessions so many meet a rule.
const MET: u64 = 5;
/// The seeds of rules and sessions.
const SEEDS: [u64; 2] = [1, 2];
/// The variable that names a folder with captures, and those in it of real clients and servers.
const DATA: &str = "PENSTOCK_DATA";
const CAPTURES: [&str; 9] = ["ftp", "http-apt", "http2", "mqtt", "pgsql", "sip", "smb2", "smtp", "tls"];

/// Rules of a number, as text with the ways to meet them.
pub(crate) fn sample(count: usize) -> Rules {
    rules(count, SEEDS[0])
}

/// The rules in a form in which frames meet them.
pub(crate) fn program(rules: &Rules) -> Result<Arc<Program>, BenchError> {
    let file = RuleFile { name: "sample.rules".into(), text: rules.text.clone() };
    let set = Ruleset::read(&[file], &Options::default()).map_err(|faults| BenchError::Program(Box::new(faults)))?;
    Ok(Arc::new(Program::new(set)))
}

/// Where frames come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Source {
    /// Sessions in segments of this many bytes.
    Sessions(usize),
    /// Captures of real programs.
    Captures,
}

impl Source {
    /// Its name in rows.
    pub(crate) fn name(self) -> String {
        match self {
            Self::Sessions(segment) => format!("sessions, segments of {segment} B"),
            Self::Captures => "captures".to_owned(),
        }
    }

    /// Its frames, in their order; None: there are no captures.
    pub(crate) fn frames(self, rules: &Rules) -> Result<Option<Vec<Frame>>, BenchError> {
        self.some_frames(rules, BYTES, usize::MAX)
    }

    /// The same with so many bytes of generated frames, and about so many from the beginning of each capture.
    pub(crate) fn some_frames(
        self,
        rules: &Rules,
        bytes: usize,
        captured: usize,
    ) -> Result<Option<Vec<Frame>>, BenchError> {
        let segment = match self {
            Self::Sessions(segment) => segment,
            Self::Captures => return captures(captured),
        };
        Ok(Some(traffic(rules, bytes, segment, MET, SEEDS[1]).frames))
    }
}

/// Frames from the beginning of each capture until they have this many bytes.
fn captures(most: usize) -> Result<Option<Vec<Frame>>, BenchError> {
    let Some(folder) = std::env::var_os(DATA) else { return Ok(None) };
    let mut frames: Vec<Frame> = Vec::new();
    for name in CAPTURES {
        let path = Path::new(&folder).join(format!("traffic/{name}.pcap"));
        let capture = capture::read(&path).map_err(|error| BenchError::Program(Box::new(error)))?;
        // One capture begins when the one before it is over.
        let end = frames.last().map_or(0, |frame| frame.time);
        let begin = capture.frames().next().map_or(0, |(time, _)| time);
        let mut bytes = 0;
        let is_before = |frame: &(u64, &[u8])| {
            let before = bytes < most;
            bytes += frame.1.len();
            before
        };
        frames.extend(
            capture
                .frames()
                .take_while(is_before)
                .map(|(time, bytes)| Frame { time: end + time.saturating_sub(begin), bytes: bytes.to_vec() }),
        );
    }
    Ok(Some(frames))
}
