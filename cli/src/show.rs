// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Progress displays, and the format of numbers.

use std::fmt;
use std::io::{IsTerminal, stderr};
use std::sync::OnceLock;
use std::time::Instant;

use indicatif::{ProgressBar, ProgressStyle};
use penstock_device::Progress;
use penstock_engine::{note, say};

/// How much is printed beside results and errors.
static LEVEL: OnceLock<(Level, Instant)> = OnceLock::new();

/// How much is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Level {
    /// Results and errors alone.
    Quiet,
    /// Also progress, warnings of compilers and summaries.
    Normal,
    /// Also each step, with its time.
    Verbose,
}

/// Sets how much the command prints, once.
pub(crate) fn set_level(quiet: bool, verbose: bool) {
    let level = match (quiet, verbose) {
        (true, _) => Level::Quiet,
        (_, true) => Level::Verbose,
        _ => Level::Normal,
    };
    LEVEL.get_or_init(|| (level, Instant::now()));
}

/// Whether only results and errors are wanted.
pub(crate) fn is_quiet() -> bool {
    LEVEL.get().is_some_and(|(level, _)| *level == Level::Quiet)
}

/// Prints messages of compilers, unless the user wants none.
pub(crate) fn warn(messages: &str) {
    if !is_quiet() {
        say::notes(messages);
    }
}

/// Prints a step that is done, with the time since the start, if the user wants steps.
pub(crate) fn step(words: fmt::Arguments<'_>) {
    if let Some((Level::Verbose, start)) = LEVEL.get() {
        note!("{:9.3} s  {}", start.elapsed().as_secs_f64(), words);
    }
}

/// A progress bar on standard error. If that is not a terminal, only steps that take minutes are reported, with a line
/// each.
pub(crate) struct Bar {
    bar: ProgressBar,
    /// Units of the card.
    units: u32,
    /// Whether the output is a terminal; if not, steps that take minutes are reported as lines.
    watched: bool,
    /// The last of them.
    told: String,
}

impl Bar {
    /// For a card of this many units.
    pub(crate) fn new(units: u32) -> Self {
        let bar = if is_quiet() { ProgressBar::hidden() } else { ProgressBar::new(0) };
        Self { bar, units, watched: stderr().is_terminal(), told: String::new() }
    }

    /// Writes a line, once, if the output is not a terminal.
    fn tell(&mut self, line: String) {
        if !self.watched && !is_quiet() && self.told != line {
            note!("{line}");
            self.told = line;
        }
    }

    /// Shows the progress of a device.
    pub(crate) fn show(&mut self, progress: Progress) {
        let (template, done, total, message) = match progress {
            Progress::Building { done, total } => {
                let units = if self.units == 1 { "1 unit".to_string() } else { format!("{} units", self.units) };
                self.tell(format!("building the model of this card ({units}), a minute or two, once"));
                ("building the model  {bar:40} {pos}/{len} files, once for this card", done, total, String::new())
            }
            Progress::Waiting => {
                self.tell("waiting for the model of this card, which another command builds".to_string());
                ("waiting for the model, which another command builds", 0, 0, String::new())
            }
            Progress::Loading => ("loading programs and tables", 0, 0, String::new()),
            Progress::Running { entered, left, cycles } => {
                let clock = if cycles > 0 { format!(", cycle {}", grouped(cycles)) } else { String::new() };
                let counts = format!("{} frames in, {} out{clock}", grouped(entered), grouped(left));
                ("{spinner} {msg}", entered, entered, counts)
            }
        };
        if let Ok(style) = ProgressStyle::with_template(template) {
            self.bar.set_style(style);
        }
        self.bar.set_length(total);
        self.bar.set_message(message);
        self.bar.set_position(done);
    }

    /// Takes the bar off the screen.
    pub(crate) fn finish(self) {
        self.bar.finish_and_clear();
    }
}

/// A number with commas between thousands.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    #[test]
    fn groups_thousands() {
        let texts = [0, 999, 1000, 1234567].map(super::grouped);
        assert_eq!(texts, ["0", "999", "1,000", "1,234,567"]);
    }
}
