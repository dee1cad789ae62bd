// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Where alerts go: a file of EVE records, and a list that a service takes.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use serde_json::Value as Json;

use crate::report::{Alert, stats_line};
use crate::stats::Stats;

/// Alerts that wait for the service; the oldest ones make room.
const MOST: usize = 1 << 16;

/// A file that cannot be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogError {
    /// The file.
    pub path: PathBuf,
    /// Why.
    pub why: String,
}

/// Alerts on their way out.
#[derive(Debug, Default)]
pub struct Log {
    file: Option<(PathBuf, BufWriter<File>)>,
    fault: Option<LogError>,
    waiting: VecDeque<Alert>,
    lost: u64,
}

impl Log {
    /// A log that also writes a file, if one is given. The file's old contents are removed.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn new(path: Option<&Path>) -> Result<Self, LogError> {
        let open = |path: &Path| match File::create(path) {
            Ok(file) => Ok((path.to_path_buf(), BufWriter::new(file))),
            Err(error) => Err(LogError { path: path.to_path_buf(), why: error.to_string() }),
        };
        Ok(Self { file: path.map(open).transpose()?, ..Self::default() })
    }

    /// Takes records of messages, as lines, for the file.
    pub fn records(&mut self, lines: &[String]) {
        lines.iter().for_each(|line| self.write(line));
    }

    /// Takes alerts. The file has them at once: other programs follow it.
    pub fn push(&mut self, alerts: Vec<Alert>) {
        let any = !alerts.is_empty();
        for alert in alerts {
            if self.file.is_some() {
                self.write(&alert.line());
            }
            if self.waiting.len() >= MOST {
                self.waiting.pop_front();
                self.lost += 1;
            }
            self.waiting.push_back(alert);
        }
        if any {
            // A fault here is reported at the end of the run.
            drop(self.flush());
        }
    }

    /// Writes what was counted, by the inspector and by a card in hardware, and sees to it that the file has
    /// everything.
    ///
    /// # Errors
    /// The file could not be written, here or before.
    pub fn finish(&mut self, ns: u64, stats: &Stats, card: &Json) -> Result<(), LogError> {
        if self.file.is_some() {
            self.write(&stats_line(ns, stats, card));
        }
        self.flush()
    }

    /// Sees to it that the file has everything.
    ///
    /// # Errors
    /// The file could not be written, here or before.
    pub fn flush(&mut self) -> Result<(), LogError> {
        if let Some((path, file)) = &mut self.file
            && let Err(error) = file.flush()
        {
            self.fault.get_or_insert(LogError { path: path.clone(), why: error.to_string() });
        }
        self.fault.clone().map_or(Ok(()), Err)
    }

    /// Takes the alerts that wait, oldest first.
    pub fn take(&mut self) -> Vec<Alert> {
        self.waiting.drain(..).collect()
    }

    /// Alerts that nobody took before they had to make room.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.lost
    }

    fn write(&mut self, line: &str) {
        if let Some((path, file)) = &mut self.file
            && let Err(error) = writeln!(file, "{line}")
        {
            self.fault.get_or_insert(LogError { path: path.clone(), why: error.to_string() });
        }
    }
}
