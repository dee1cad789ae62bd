// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Images for groups of xdp units.

use std::any::Any;
use std::path::PathBuf;
use std::sync::Arc;

use penstock_engine::{EngineError, Image, Job, Part, PartJob, files};
use penstock_xdp_compiler::card::Room;

use crate::maps::{self, Entry, Map};
use crate::program::{Table, XdpError, XdpProgram, unknown_map};
use crate::routes::{self, Routes};
use crate::rows::RowImage;
use crate::settings::{CardSettings, GroupSettings};

/// The way out in messages about a program that cannot be read.
pub(crate) const PROGRAM: &str = "give a C source or an object, for example engines/xdp/programs/tx.c";

/// A setting of the design that names something which the program does not have.
#[derive(Debug, thiserror::Error)]
#[error("{}: {source}", design.display())]
pub struct UnknownName {
    /// The manifest.
    pub design: PathBuf,
    /// What it names.
    pub source: Box<XdpError>,
}

impl From<UnknownName> for EngineError {
    fn from(error: UnknownName) -> Self {
        Self::program(error)
    }
}

/// A program, as units take it.
#[derive(Debug, Clone)]
pub enum Program {
    /// A program of an object.
    Object(Arc<XdpProgram>),
    /// Rows that were put together by hand, for a card in hardware only. Nobody knows their maps.
    Rows(Arc<RowImage>),
}

/// The image of a group of units.
#[derive(Debug, Clone)]
pub struct XdpImage {
    /// The program.
    pub program: Program,
    /// Entries that its maps begin with.
    pub maps: Vec<(Map, Vec<Entry>)>,
    /// Routes that programs of the card look up after a load. A swap does not change the card's routes.
    pub routes: Arc<Routes>,
    messages: String,
}

impl XdpImage {
    /// An image of rows that were put together by hand.
    #[must_use]
    pub fn of_rows(rows: RowImage) -> Self {
        let program = Program::Rows(Arc::new(rows));
        Self { program, maps: vec![], routes: Arc::default(), messages: String::new() }
    }

    /// The program, unless it is rows that were put together by hand.
    #[must_use]
    pub fn program(&self) -> Option<&Arc<XdpProgram>> {
        match &self.program {
            Program::Object(program) => Some(program),
            Program::Rows(_) => None,
        }
    }

    /// The image for a card in hardware.
    ///
    /// # Errors
    /// The program asks for something that a card in hardware cannot do.
    pub fn rows(&self) -> Result<Arc<RowImage>, XdpError> {
        match &self.program {
            Program::Object(program) => program.rows(),
            Program::Rows(rows) => Ok(Arc::clone(rows)),
        }
    }

    /// The image in an engine-neutral image.
    ///
    /// # Errors
    /// It is of another engine.
    pub(crate) fn of(image: &dyn Image) -> Result<&Self, EngineError> {
        let of_xdp = (image as &dyn Any).downcast_ref();
        of_xdp.ok_or_else(|| EngineError::unsupported("xdp units run XDP programs; compile the program for xdp"))
    }
}

impl Image for XdpImage {
    fn messages(&self) -> &str {
        &self.messages
    }

    fn elf(&self) -> &[u8] {
        self.program().map_or(&[], |program| &program.bytes)
    }

    fn name(&self) -> Option<&str> {
        Some(self.program()?.name())
    }

    fn tables(&self) -> Vec<String> {
        let maps = self.program().map(|program| &program.object().maps);
        maps.into_iter().flatten().map(|map| map.name.clone()).collect()
    }
}

/// Compiles programs of groups of units. Maps of two groups never have the same place.
pub(crate) fn compile(job: &Job<'_>) -> Result<Vec<Arc<dyn Image>>, EngineError> {
    let card: &CardSettings = settings(job.card)?;
    let routes = card.routes.as_deref().map(routes::of_file).transpose()?.unwrap_or_default();
    routes::check(&routes)?;
    let routes = Arc::new(routes);
    let mut room = Room::new(card.map_rows());
    let image = |part| Ok(Arc::new(compile_part(job, part, &mut room, &routes)?) as Arc<dyn Image>);
    job.parts.iter().map(image).collect()
}

fn compile_part(
    job: &Job<'_>,
    part: &PartJob<'_>,
    room: &mut Room,
    routes: &Arc<Routes>,
) -> Result<XdpImage, EngineError> {
    let GroupSettings { lanes, entry, settings, maps: files_of_maps } = settings(part.part)?;
    files::readable(part.program, PROGRAM)?;
    let mut left_out = String::new();
    let mut unknown = |source: XdpError| {
        let error = UnknownName { design: job.design.to_owned(), source: Box::new(source) };
        if !part.given {
            return Err(error);
        }
        left_out += &format!("{error}; left out\n");
        Ok(())
    };
    let mut settings = settings.clone();
    let program = loop {
        let units = part.units.end;
        match XdpProgram::of(job.root, part.program, entry.as_deref(), &settings, *lanes, room, units) {
            Err(source @ XdpError::Unknown { .. }) => {
                if let XdpError::Unknown { table, name, .. } = &source {
                    settings.forget(*table, name);
                }
                unknown(source)?;
            }
            program => break Arc::new(program?),
        }
    };
    let all = maps::of_program(part.name, &part.units, &program);
    let mut begin = Vec::new();
    for (name, file) in files_of_maps {
        match program.object().map(name) {
            Some(_) => {
                let map = maps::named(&all, name)?.clone();
                let entries = maps::entries_of(&map, file)?;
                begin.push((map, entries));
            }
            None => unknown(unknown_map(part.program, program.object(), Table::Maps, name))?,
        }
    }
    let messages = program.messages.clone() + &left_out;
    Ok(XdpImage { program: Program::Object(program), maps: begin, routes: Arc::clone(routes), messages })
}

/// Settings of this engine in engine-neutral settings.
fn settings<T: Part>(part: &dyn Part) -> Result<&T, EngineError> {
    let of_xdp = (part as &dyn Any).downcast_ref();
    of_xdp.ok_or_else(|| EngineError::unsupported("these settings are of another engine than xdp"))
}
