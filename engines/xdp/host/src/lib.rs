// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The host side of the xdp engine: units that run XDP programs.
//!
//! [`XDP`] reads the engine's tables of a design, compiles programs to [`XdpImage`]s and makes the [`XdpDriver`] of a
//! card. The driver loads and swaps programs and works with maps and routes, on a card in native code through its units
//! ([`penstock_xdp_soft::Unit`]), on a card in hardware through registers ([`rows`]).

mod compile;
mod driver;
pub mod executed;
mod image;
pub mod maps;
mod native;
mod program;
pub mod routes;
pub mod rows;
pub mod services;
mod settings;
pub mod window;

use std::sync::Arc;

use penstock_engine::{
    CardShape, Driver, Engine, EngineError, Fault, Image, Job, Kind, Part, Schemas, Section, Service, Tool,
};
use schemars::SchemaGenerator;

pub use driver::{DriverError, XdpDriver};
pub use image::{Program, UnknownName, XdpImage};
pub use penstock_xdp_compiler::btf::Value;
pub use penstock_xdp_compiler::rows::Lanes;
pub use program::{PROCESSORS, Settings, Table, XdpError, XdpProgram, object_of};
pub use settings::{CardSettings, GroupSettings};

/// Its number in RTL (engines/engines.toml).
const NUMBER: u32 = 1;

/// The engine, of which there is one.
#[derive(Debug)]
pub struct Xdp;

/// The engine.
pub static XDP: Xdp = Xdp;

impl Engine for Xdp {
    fn name(&self) -> &'static str {
        "xdp"
    }

    fn number(&self) -> u32 {
        NUMBER
    }

    fn kind(&self) -> Kind {
        Kind::Units
    }

    fn card(&self, section: Option<Section<'_>>) -> Result<Arc<dyn Part>, Fault> {
        Ok(Arc::new(section.map_or(Ok(CardSettings::default()), CardSettings::read)?))
    }

    fn part(&self, section: Option<Section<'_>>) -> Result<Arc<dyn Part>, Fault> {
        Ok(Arc::new(section.map_or(Ok(GroupSettings::default()), GroupSettings::read)?))
    }

    fn schemas(&self, generator: &mut SchemaGenerator) -> Schemas {
        Schemas {
            card: generator.subschema_for::<settings::CardTable>(),
            part: generator.subschema_for::<settings::GroupTable>(),
        }
    }

    fn way_out(&self) -> &'static str {
        image::PROGRAM
    }

    fn compile(&self, job: &Job<'_>) -> Result<Vec<Arc<dyn Image>>, EngineError> {
        image::compile(job)
    }

    fn driver(&self, shape: &CardShape, _card: &dyn Part) -> Box<dyn Driver> {
        Box::new(XdpDriver::new(shape))
    }

    fn services(&self) -> &'static [Service] {
        &[services::map::MAP, services::routes::ROUTES]
    }

    fn compile_tool(&self) -> Option<Tool> {
        Some(compile::COMPILE)
    }
}
