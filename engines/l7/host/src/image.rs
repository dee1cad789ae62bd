// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Compiled programs of l7 blocks.

use std::any::Any;

use penstock_engine::{EngineError, Image, PartJob, files};
use penstock_l7_compiler::Compiled;

use crate::error::L7Error;
use crate::settings::Settings;

/// Way out when a program cannot be read.
pub const PROGRAM: &str = "give message types and rules, for example engines/l7/programs/reviews.l7";

/// A program that an l7 block is loaded with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct L7Image {
    /// The program's file, for faults.
    pub file: String,
    /// The program as it was written.
    pub text: String,
    /// The program.
    pub compiled: Compiled,
    /// The settings of the block.
    pub settings: Settings,
}

impl L7Image {
    /// Compiles the program of a block.
    ///
    /// # Errors
    /// The program has faults, or its file cannot be read.
    pub fn compile(job: &PartJob<'_>) -> Result<Self, EngineError> {
        let text = files::read(job.program, PROGRAM)?;
        let file = job.program.display().to_string();
        let compiled = penstock_l7_compiler::compile(&file, &text).map_err(EngineError::program)?;
        Ok(Self { file, text, compiled, settings: Settings::of(job.part) })
    }

    /// The image of an l7 block in an engine-neutral image.
    pub(crate) fn of(image: &dyn Image) -> Result<&Self, L7Error> {
        (image as &dyn Any).downcast_ref().ok_or(L7Error::Image)
    }
}

impl Image for L7Image {
    fn parameter(&self) -> Option<u64> {
        Some(self.settings.parameter())
    }
}
