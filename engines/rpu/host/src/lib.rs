// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The host side of the rpu engine: the settings of packet units in a design, their images, and the driver that loads
//! them.

mod compile;
mod debug;
mod diagnosis;
mod driver;
mod errors;
mod image;
mod kept;
mod service;
mod settings;
mod table;
mod value;

use std::path::Path;
use std::sync::Arc;

use penstock_engine::{
    CardShape, Core, Driver, Engine, EngineError, Fault, Image, Job, Kind, Part, Schemas, Section, Service, Tool,
    UnitMemory,
};
use schemars::SchemaGenerator;

use crate::driver::RpuDriver;
pub use crate::image::{PROGRAM, RpuImage, macros};
pub use crate::settings::Settings;
pub use crate::table::words_of;

/// The engine.
pub static RPU: Rpu = Rpu;

/// The rpu engine.
#[derive(Debug)]
pub struct Rpu;

impl Engine for Rpu {
    fn name(&self) -> &'static str {
        "rpu"
    }

    fn number(&self) -> u32 {
        0
    }

    fn kind(&self) -> Kind {
        Kind::Units
    }

    fn card(&self, section: Option<Section<'_>>) -> Result<Arc<dyn Part>, Fault> {
        settings::card(section)
    }

    fn part(&self, section: Option<Section<'_>>) -> Result<Arc<dyn Part>, Fault> {
        Ok(Arc::new(Settings::of(section)?))
    }

    fn schemas(&self, generator: &mut SchemaGenerator) -> Schemas {
        Schemas {
            card: generator.subschema_for::<settings::Nothing>(),
            part: generator.subschema_for::<settings::Table>(),
        }
    }

    fn way_out(&self) -> &'static str {
        PROGRAM
    }

    fn claims(&self, program: &Path) -> bool {
        program.extension().is_some_and(|extension| extension == "elf")
    }

    fn memories(&self) -> &'static [UnitMemory] {
        driver::MEMORIES
    }

    fn core(&self) -> Option<&'static Core> {
        Some(&debug::CORE)
    }

    fn compile(&self, job: &Job<'_>) -> Result<Vec<Arc<dyn Image>>, EngineError> {
        job.parts.iter().map(|part| Ok(Arc::new(RpuImage::of(job, part)?) as Arc<dyn Image>)).collect()
    }

    fn driver(&self, shape: &CardShape, _card: &dyn Part) -> Box<dyn Driver> {
        Box::new(RpuDriver::new(shape))
    }

    fn services(&self) -> &'static [Service] {
        service::SERVICES
    }

    fn compile_tool(&self) -> Option<Tool> {
        Some(compile::COMPILE)
    }
}
