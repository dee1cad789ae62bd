// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The flow engine by the contract of engines.

use std::path::Path;
use std::sync::Arc;

use penstock_engine::{
    CardShape, Driver, Engine, EngineError, Fault, Image, Job, Kind, Part, Schemas, Section, Service, Tool,
};
use schemars::SchemaGenerator;
use serde_json::{Value as Json, json};

use crate::compile::COMPILE;
use crate::counters::BlockCounters;
use crate::driver::FlowDriver;
use crate::image::{FlowImage, PROGRAM};
use crate::service::SERVICES;
use crate::settings::{self, Settings};

/// The flow engine.
pub static FLOW: Flow = Flow;

/// The engine, exported as [`FLOW`].
#[derive(Debug)]
pub struct Flow;

impl Engine for Flow {
    fn name(&self) -> &'static str {
        "flow"
    }

    fn number(&self) -> u32 {
        2
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
        program.extension().is_some_and(|extension| extension == "efsm")
    }

    fn compile(&self, job: &Job<'_>) -> Result<Vec<Arc<dyn Image>>, EngineError> {
        let image = |part| Ok(Arc::new(FlowImage::compile(part, job.ports)?) as Arc<dyn Image>);
        job.parts.iter().map(image).collect()
    }

    fn driver(&self, shape: &CardShape, _card: &dyn Part) -> Box<dyn Driver> {
        Box::new(FlowDriver::new(shape))
    }

    fn services(&self) -> &'static [Service] {
        SERVICES
    }

    fn compile_tool(&self) -> Option<Tool> {
        Some(COMPILE)
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
