// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Rules that an ids block is loaded with.

use std::any::Any;
use std::path::Path;
use std::sync::Arc;

use penstock_engine::{EngineError, Image, PartJob, files};
use penstock_ids::Reports;
use penstock_ids_compiler::{Options, Program, RuleFile, Ruleset, tell};

use crate::error::IdsError;
use crate::settings::Settings;

/// Way out when rules cannot be read.
pub const RULES: &str = "give a file of rules, for example engines/ids/programs/demo.rules";

/// Rules that were left out and that a message lists.
const SHOWN: usize = 20;

/// Rules, filter and settings.
#[derive(Debug, Clone)]
pub struct IdsImage {
    /// The rules with their filter.
    pub program: Arc<Program>,
    /// The settings of the block in the design.
    pub settings: Settings,
    messages: String,
}

impl IdsImage {
    /// Reads the rules of a block.
    ///
    /// # Errors
    /// Rules are wrong, or a file cannot be read.
    pub fn compile(job: &PartJob<'_>) -> Result<Self, EngineError> {
        let settings = Settings::of(job.part);
        let named = Some(job.program).filter(|program| !program.as_os_str().is_empty());
        let own = || named.into_iter().chain(settings.rules.iter().map(|file| file.as_path()));
        let paths: Vec<&Path> = match &settings.given {
            Some(files) => files.iter().map(|file| file.as_path()).collect(),
            None if job.given => vec![job.program],
            None => own().collect(),
        };
        let read = |path: &&Path| Ok(RuleFile { name: path.display().to_string(), text: files::read(path, RULES)? });
        let files = paths.iter().map(read).collect::<Result<Vec<_>, EngineError>>()?;
        Ok(Self::new(&files, &settings)?)
    }

    /// The image of these rules.
    ///
    /// # Errors
    /// Rules are wrong.
    pub fn new(files: &[RuleFile], settings: &Settings) -> Result<Self, IdsError> {
        let options = Options {
            variables: settings.variables.clone(),
            classes: settings.classes.clone(),
            tuning: settings.tuning.clone(),
            datasets: settings.datasets.clone(),
            skip_unsupported: settings.skip_unsupported,
        };
        let set = Ruleset::read(files, &options)?;
        let mut messages = String::new();
        for fault in set.skipped.iter().take(SHOWN) {
            messages += &format!("left out: {fault}\n");
        }
        if set.skipped.len() > SHOWN {
            messages += &format!("left out: {} more rules\n", set.skipped.len() - SHOWN);
        }
        for remark in set.remarks() {
            messages += &format!("{remark}\n");
        }
        let Reports { messages: records, flows, files, drops: _, anomalies, fields: _ } = settings.reports;
        // Records of all messages or files need all frames that may have some; those of flows need all frames.
        let payload = if records || files || anomalies { tell::TCP_PAYLOAD | tell::UDP } else { 0 };
        let all = if flows { tell::TCP_PAYLOAD | tell::TCP_EMPTY | tell::UDP | tell::ICMP | tell::OTHER } else { 0 };
        let also = payload | all;
        Ok(Self { program: Arc::new(Program::telling(set, also)), settings: settings.clone(), messages })
    }

    /// The image of an ids block behind an image.
    pub(crate) fn of(image: &dyn Image) -> Result<&Self, IdsError> {
        (image as &dyn Any).downcast_ref().ok_or(IdsError::Image)
    }
}

impl Image for IdsImage {
    fn messages(&self) -> &str {
        &self.messages
    }

    /// Log2 sizes of the block's tables (engines/ids/rtl/ids_block.sv).
    fn parameter(&self) -> Option<u64> {
        Some(u64::from(self.settings.buckets) << 24)
    }
}
