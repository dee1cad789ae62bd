// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! All ids blocks of one card.

use std::any::Any;
use std::sync::Arc;

use penstock_engine::window::INLINE_WINDOW;
use penstock_engine::{Bus, CardShape, Driver, EngineError, Image, Kept, LoadUnits, Request, regs};
use penstock_ids::{Alert, Block, Bounds, Inspector, Log};
use penstock_ids_compiler::{Program, RuleFile};
use serde_json::{Value as Json, json};

use crate::ask::{Ask, RuleAbout};
use crate::card::CardBlock;
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
    /// The block in hardware; None for a native block, or before the first load.
    card: Option<CardBlock>,
}

/// The driver of all ids blocks of a card.
#[derive(Debug)]
pub struct IdsDriver {
    places: Vec<Place>,
    /// The card's clock stands still.
    held: bool,
    /// No frame has seen the time since the load.
    unset: bool,
    /// When the card's time was 0, in ns since 1970 UTC.
    epoch: u64,
}

/// Registers of the card's time in ns (shell/regs/inline.rdl): low and high word, and whether it stands still. A write
/// to the low word sets both.
const TIME_L: u32 = INLINE_WINDOW + regs::INLINE_TIME_L;
const TIME_H: u32 = INLINE_WINDOW + regs::INLINE_TIME_H;
const HOLD: u32 = INLINE_WINDOW + regs::INLINE_HOLD;

/// Reads the card's time in ns.
fn now(bus: &mut dyn Bus) -> Result<u64, IdsError> {
    let low = bus.read(TIME_L)?;
    Ok(u64::from(bus.read(TIME_H)?) << 32 | u64::from(low))
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
        let place = |(block, _, _): &(usize, _, _)| Place { block: *block, settings: Settings::default(), card: None };
        Self { places: shape.parts.iter().map(place).collect(), held: false, unset: true, epoch: 0 }
    }

    fn place(&mut self, block: usize) -> Result<&mut Place, IdsError> {
        self.places.iter_mut().find(|place| place.block == block).ok_or(IdsError::NoBlock(block))
    }

    /// The first block, which requests are about.
    fn first(&self) -> Result<usize, IdsError> {
        self.places.first().map(|place| place.block).ok_or(IdsError::NoBlock(0))
    }

    /// Hands inspector and log of a block to `job`.
    fn with<R>(
        &mut self,
        bus: &mut dyn Bus,
        block: usize,
        job: impl FnOnce(&mut Inspector, &mut Log) -> R,
    ) -> Result<R, IdsError> {
        let place = self.place(block)?;
        match &mut place.card {
            Some(card) => {
                card.poll(bus)?;
                let (inspector, log) = card.parts();
                Ok(job(inspector, log))
            }
            None => {
                let (inspector, log) = native(bus, block)?.parts();
                Ok(job(inspector, log))
            }
        }
    }

    /// Takes the alerts of a block, oldest first.
    ///
    /// # Errors
    /// The block has no rules yet.
    pub fn alerts(&mut self, bus: &mut dyn Bus, block: usize) -> Result<Vec<Alert>, IdsError> {
        self.with(bus, block, |_, log| log.take())
    }

    /// Gives a block other rules between two frames.
    fn exchange(&mut self, bus: &mut dyn Bus, block: usize, program: &Arc<Program>) -> Result<(), IdsError> {
        match &mut self.place(block)?.card {
            Some(card) => card.exchange(bus, program),
            None => {
                native(bus, block)?.parts().0.reload(Arc::clone(program));
                Ok(())
            }
        }
    }

    /// The counters, in the inspector and, on a card, in the block's registers.
    fn stats(&mut self, bus: &mut dyn Bus, block: usize) -> Result<Json, IdsError> {
        let mut stats = json!(self.with(bus, block, |inspector, _| inspector.stats())?);
        if let Some(card) = &self.place(block)?.card {
            stats["card"] = json!(card.stats(bus)?);
        }
        Ok(stats)
    }

    fn ask(&mut self, bus: &mut dyn Bus, ask: Ask) -> Result<Json, IdsError> {
        let block = self.first()?;
        match ask {
            Ask::Stats => self.stats(bus, block),
            Ask::Rules { hits } => Ok(json!(self.with(bus, block, |inspector, _| rules(inspector, hits))?)),
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
        let bounds = Bounds { epoch: self.epoch, ..settings.bounds.clone() };
        let card = match bus.native() {
            Some(native) => {
                let (program, drops) = (Arc::clone(&image.program), settings.mode == Mode::Ips);
                let inspector = Inspector::reporting(program, bounds, drops, settings.reports);
                native.set_block(block, Box::new(Block::new(inspector, log)));
                None
            }
            None => Some(CardBlock::load(bus, block, &image.program, settings, bounds, log)?),
        };
        self.place(block)?.card = card;
        self.unset = true;
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
        Ok(self.stats(bus, block)?)
    }

    fn serve(&mut self, bus: &mut dyn Bus) -> Result<bool, EngineError> {
        let mut any = false;
        for card in self.places.iter_mut().filter_map(|place| place.card.as_mut()) {
            any |= card.poll(bus)?;
        }
        Ok(any)
    }

    fn end_run(&mut self, bus: &mut dyn Bus) -> Result<(), EngineError> {
        for place in &mut self.places {
            match &mut place.card {
                Some(card) => {
                    let time = now(bus)?;
                    card.finish(bus, time)?;
                }
                None => native(bus, place.block)?.finish().map_err(IdsError::from)?,
            }
        }
        Ok(())
    }

    fn set_epoch(&mut self, ns: u64) {
        self.epoch = ns;
    }

    fn set_time(&mut self, bus: &mut dyn Bus, ns: u64) -> Result<(), EngineError> {
        if self.places.iter().any(|place| place.card.is_some()) {
            if !self.held {
                bus.write(HOLD, 1)?;
                self.held = true;
            }
            if std::mem::take(&mut self.unset) || now(bus)? < ns {
                bus.write(TIME_H, (ns >> 32) as u32)?;
                bus.write(TIME_L, ns as u32)?;
            }
        }
        Ok(())
    }

    fn release_time(&mut self, bus: &mut dyn Bus) -> Result<(), EngineError> {
        if self.held {
            bus.write(HOLD, 0)?;
        }
        self.held = false;
        Ok(())
    }

    fn call(&mut self, bus: &mut dyn Bus, request: &Request) -> Result<Json, EngineError> {
        Ok(self.ask(bus, Ask::read(&request.ask)?)?)
    }
}
