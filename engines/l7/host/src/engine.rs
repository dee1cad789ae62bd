// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The l7 engine by the contract of engines.

use std::path::Path;
use std::sync::Arc;

use penstock_engine::{
    CardShape, Driver, Engine, EngineError, Fault, Image, Job, Kind, Part, Schemas, Section, Service, Tool,
};
use schemars::SchemaGenerator;
use serde_json::{Value as Json, json};

use crate::compile::COMPILE;
use crate::counters::BlockCounters;
use crate::driver::L7Driver;
use crate::image::{L7Image, PROGRAM};
use crate::service::SERVICES;
use crate::settings::{self, Settings};

/// The l7 engine.
pub static L7: L7Engine = L7Engine;

/// The engine, exported as [`L7`].
#[derive(Debug)]
pub struct L7Engine;

impl Engine for L7Engine {
    fn name(&self) -> &'static str {
        "l7"
    }

    fn number(&self) -> u32 {
        5
    }

    fn kind(&self) -> Kind {
        Kind::Inline
    }

    fn card(&self, section: Option<Section<'_>>) -> Result<Arc<dyn Part>, Fault> {
        settings::card(section)
    }

    fn part(&self, section: Option<Section<'_>>) -> Result<Arc<dyn Part>, Fault> {
        Ok(Arc::new(Settings::read(section)?))
    }

    fn schemas(&self, generator: &mut SchemaGenerator) -> Schemas {
        Schemas {
            card: generator.subschema_for::<settings::CardKeys>(),
            part: generator.subschema_for::<settings::Keys>(),
        }
    }

    fn way_out(&self) -> &'static str {
        PROGRAM
    }

    fn claims(&self, program: &Path) -> bool {
        program.extension().is_some_and(|extension| extension == "l7")
    }

    fn compile(&self, job: &Job<'_>) -> Result<Vec<Arc<dyn Image>>, EngineError> {
        let image = |part| Ok(Arc::new(L7Image::compile(part)?) as Arc<dyn Image>);
        job.parts.iter().map(image).collect()
    }

    fn compile_tool(&self) -> Option<Tool> {
        Some(COMPILE)
    }

    fn driver(&self, shape: &CardShape, _card: &dyn Part) -> Box<dyn Driver> {
        Box::new(L7Driver::new(shape))
    }

    fn services(&self) -> &'static [Service] {
        SERVICES
    }

    fn counted(&self, now: &Json, then: &Json) -> Json {
        let read = |counters: &Json| serde_json::from_value::<BlockCounters>(counters.clone());
        match (read(now), read(then)) {
            (Ok(now), Ok(then)) => json!(now.since(&then)),
            // There were no counters before.
            _ => now.clone(),
        }
    }
}
