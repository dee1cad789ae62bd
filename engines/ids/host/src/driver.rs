// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! All ids blocks of one card.

use std::any::Any;
use std::sync::Arc;

use penstock_engine::{Bus, CardShape, Driver, EngineError, Image, Kept, LoadUnits, Request};
use penstock_ids::{Alert, Block, Inspector, Log};
use penstock_ids_compiler::{Program, RuleFile};
use serde_json::{Value as Json, json};

use crate::ask::{Ask, RuleAbout};
use crate::error::IdsError;
use crate::image::IdsImage;
use crate::settings::{Mode, Settings};

/// A block of the design.
#[derive(Debug)]
struct Place {
    /// Its place in the design.
    block: usize,
    /// Settings of the image that it was loaded with.
    settings: Settings,
}

/// The driver of all ids blocks of a card.
#[derive(Debug)]
pub struct IdsDriver {
    places: Vec<Place>,
}

/// The native block at this place of the design.
fn native(bus: &mut dyn Bus, block: usize) -> Result<&mut Block, IdsError> {
    let found = bus.native().and_then(|native| native.block(block));
    found.and_then(|found| (found as &mut dyn Any).downcast_mut()).ok_or(IdsError::NotLoaded(block))
}

impl IdsDriver {
    /// A driver for a card whose parts of this engine are `shape.parts`.
    #[must_use]
    pub fn new(shape: &CardShape) -> Self {
        let place = |(block, _, _): &(usize, _, _)| Place { block: *block, settings: Settings::default() };
        Self { places: shape.parts.iter().map(place).collect() }
    }

    fn place(&mut self, block: usize) -> Result<&mut Place, IdsError> {
        self.places.iter_mut().find(|place| place.block == block).ok_or(IdsError::NoBlock(block))
    }

    /// The first block, which requests are about.
    fn first(&self) -> Result<usize, IdsError> {
        self.places.first().map(|place| place.block).ok_or(IdsError::NoBlock(0))
    }

    /// Takes the alerts of a block, oldest first.
    ///
    /// # Errors
    /// The block has no rules yet.
    pub fn alerts(&mut self, bus: &mut dyn Bus, block: usize) -> Result<Vec<Alert>, IdsError> {
        Ok(native(bus, block)?.log().take())
    }

    /// Gives a block other rules between two frames.
    fn exchange(&mut self, bus: &mut dyn Bus, block: usize, program: &Arc<Program>) -> Result<(), IdsError> {
        native(bus, block)?.inspector().reload(Arc::clone(program));
        Ok(())
    }

    fn ask(&mut self, bus: &mut dyn Bus, ask: Ask) -> Result<Json, IdsError> {
        let block = self.first()?;
        match ask {
            Ask::Stats => Ok(json!(native(bus, block)?.inspector().stats())),
            Ask::Rules { hits } => Ok(json!(rules(native(bus, block)?.inspector(), hits))),
            Ask::Reload { files } => {
                let files: Vec<RuleFile> =
                    files.into_iter().map(|file| RuleFile { name: file.name, text: file.text }).collect();
                let image = IdsImage::new(&files, &self.place(block)?.settings)?;
                self.exchange(bus, block, &image.program)?;
                Ok(json!(image.messages().lines().collect::<Vec<_>>()))
            }
            Ask::Alerts => Ok(json!(self.alerts(bus, block)?)),
        }
    }
}

/// The rules of an inspector; with `hits` only those that have reported.
fn rules(inspector: &Inspector, hits: bool) -> Vec<RuleAbout> {
    let set = &inspector.program().set;
    let about = |(rule, count): (&penstock_ids_compiler::rule::Rule, &u64)| RuleAbout {
        gid: rule.gid,
        sid: rule.sid,
        rev: rule.rev,
        action: rule.action.name().to_owned(),
        msg: rule.message.clone(),
        place: set.place(rule),
        hits: *count,
    };
    let all = set.rules.iter().zip(inspector.hits());
    all.filter(|(_, count)| !hits || **count > 0).map(about).collect()
}

impl Driver for IdsDriver {
    fn load_units(&mut self, _bus: &mut dyn Bus, _load: LoadUnits, _image: &dyn Image) -> Result<(), EngineError> {
        Err(IdsError::NoUnits.into())
    }

    fn load_block(&mut self, bus: &mut dyn Bus, block: usize, image: &dyn Image) -> Result<(), EngineError> {
        let image = IdsImage::of(image)?;
        let settings = &image.settings;
        let log = Log::new(settings.eve.as_deref()).map_err(IdsError::from)?;
        let inspector = Inspector::new(Arc::clone(&image.program), settings.bounds, settings.mode == Mode::Ips);
        match bus.native() {
            Some(native) => native.set_block(block, Box::new(Block::new(inspector, log))),
            None => return Err(EngineError::unsupported("ids blocks run on soft only as yet")),
        }
        self.place(block)?.settings = settings.clone();
        Ok(())
    }

    /// Gives a block other rules. Flows, streams and the file of alerts stay.
    fn swap(&mut self, bus: &mut dyn Bus, part: usize, image: &dyn Image) -> Result<Kept, EngineError> {
        let image = IdsImage::of(image)?;
        self.exchange(bus, part, &image.program)?;
        Ok(Vec::new())
    }

    fn count_block(&mut self, bus: &mut dyn Bus, block: usize) -> Result<Json, EngineError> {
        Ok(json!(native(bus, block)?.inspector().stats()))
    }

    fn end_run(&mut self, bus: &mut dyn Bus) -> Result<(), EngineError> {
        for place in &self.places {
            native(bus, place.block)?.finish().map_err(IdsError::from)?;
        }
        Ok(())
    }

    fn call(&mut self, bus: &mut dyn Bus, request: &Request) -> Result<Json, EngineError> {
        Ok(self.ask(bus, Ask::read(&request.ask)?)?)
    }
}
