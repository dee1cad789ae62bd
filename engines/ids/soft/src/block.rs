// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! An inspector as an inline block of a card.

use penstock_unit::{Entering, Made, Verdict};
use serde_json::Value as Json;

use crate::inspector::Inspector;
use crate::log::{Log, LogError};

/// An inspector, its log and its clock.
#[derive(Debug)]
pub struct Block {
    inspector: Inspector,
    log: Log,
    /// The time, in ns.
    time: u64,
}

impl Block {
    /// A block at time 0.
    #[must_use]
    pub fn new(inspector: Inspector, log: Log) -> Self {
        Self { inspector, log, time: 0 }
    }

    /// The inspector and the log of alerts.
    pub fn parts(&mut self) -> (&mut Inspector, &mut Log) {
        (&mut self.inspector, &mut self.log)
    }

    /// Ends a run: bytes behind holes are searched, and the log has everything.
    ///
    /// # Errors
    /// The log could not be written.
    pub fn finish(&mut self) -> Result<(), LogError> {
        let (alerts, records) = self.inspector.finish();
        self.log.push(alerts);
        self.log.records(&records);
        let time = self.inspector.bounds().epoch.saturating_add(self.time);
        self.log.finish(time, &self.inspector.stats(), &Json::Null)
    }
}

impl penstock_unit::Block for Block {
    fn carry(&mut self, frame: &mut Vec<u8>, _mark: &mut u32, entering: Entering, _made: &mut Vec<Made>) -> Verdict {
        let outcome = self.inspector.carry(frame, entering.tenant, self.time);
        self.log.records(&outcome.records);
        self.log.push(outcome.alerts);
        if outcome.drop { Verdict::Drop } else { Verdict::Onward }
    }

    fn set_time(&mut self, ns: u64) {
        self.time = self.time.max(ns);
    }
}
