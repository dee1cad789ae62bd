// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The rmt engine by the contract of engines.

use std::path::Path;
use std::sync::Arc;

use penstock_engine::{
    CardShape, Driver, Engine, EngineError, Fault, Image, Job, Kind, Part, Schemas, Section, Server, Service,
    TableOption, Tool,
};
use schemars::SchemaGenerator;
use serde_json::{Value as Json, json};

use crate::compile::COMPILE;
use crate::counters::BlockCounters;
use crate::driver::RmtDriver;
use crate::image::{PROGRAM, RmtImage};
use crate::server::SERVERS;
use crate::service::SERVICES;
use crate::settings::{self, ENTRIES, Settings};
use crate::stf::EXEC;

/// The rmt engine.
pub static RMT: Rmt = Rmt;

/// The engine, exported as [`RMT`].
#[derive(Debug)]
pub struct Rmt;

impl Engine for Rmt {
    fn name(&self) -> &'static str {
        "rmt"
    }

    fn number(&self) -> u32 {
        3
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

    fn options(&self) -> &'static [TableOption] {
        &[TableOption { name: ENTRIES, help: "Entries of P4 tables that the card begins with, JSON" }]
    }

    fn claims(&self, program: &Path) -> bool {
        program.extension().is_some_and(|extension| extension == "p4")
    }

    fn compile(&self, job: &Job<'_>) -> Result<Vec<Arc<dyn Image>>, EngineError> {
        let image = |part| Ok(Arc::new(RmtImage::compile(part)?) as Arc<dyn Image>);
        job.parts.iter().map(image).collect()
    }

    fn driver(&self, shape: &CardShape, _card: &dyn Part) -> Box<dyn Driver> {
        Box::new(RmtDriver::new(shape))
    }

    fn services(&self) -> &'static [Service] {
        SERVICES
    }

    fn exec_tool(&self) -> Option<Tool> {
        Some(EXEC)
    }

    fn compile_tool(&self) -> Option<Tool> {
        Some(COMPILE)
    }

    fn servers(&self) -> &'static [Server] {
        SERVERS
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
