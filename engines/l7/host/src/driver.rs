// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! All l7 blocks of one card.

use penstock_engine::{Bus, CardShape, Driver, EngineError, Image, Kept, LoadUnits, Request};
use penstock_l7::Block;
use penstock_l7_compiler::Compiled;
use penstock_l7_compiler::program::Application;
use serde_json::{Value as Json, json};

use crate::ask::Ask;
use crate::card::{CardBlock, OnCard};
use crate::clock::Clock;
use crate::counters::{AppCounters, BlockCounters, rules};
use crate::error::L7Error;
use crate::image::L7Image;
use crate::machine::Machine;
use crate::native;

/// A block of the design.
#[derive(Debug)]
struct Place {
    /// Its place in the design.
    block: usize,
    /// Comes before the names of its applications.
    prefix: String,
    /// The running program; None before the first load.
    program: Option<Running>,
    /// Its contents in hardware; None for a native block.
    card: Option<CardBlock>,
}

/// The program of a block.
#[derive(Debug)]
struct Running {
    /// For each application the program that has its rules, in which the application has the same index.
    apps: Vec<App>,
    /// The timeout of messages, in ns.
    timeout: u64,
    /// Cycles in which a block in hardware checks all messages for expiry.
    sweep: u64,
}

#[derive(Debug, Clone)]
struct App {
    compiled: Compiled,
    /// How often its rules were swapped.
    swaps: u64,
}

impl Running {
    fn application(&self, app: usize) -> &Application {
        &self.apps[app].compiled.program.applications[app]
    }

    fn names(&self) -> Vec<String> {
        (0..self.apps.len()).map(|app| self.application(app).name.clone()).collect()
    }
}

/// The driver of all l7 blocks of a card.
#[derive(Debug)]
pub struct L7Driver {
    places: Vec<Place>,
    clock: Clock,
    /// Units and Ethernet ports of the card.
    units: u32,
    ports: u32,
}

impl L7Driver {
    /// A driver for a card whose parts of this engine are `shape.parts`.
    #[must_use]
    pub fn new(shape: &CardShape) -> Self {
        let several = shape.parts.len() > 1;
        let place = |(block, name, _): &(usize, String, _)| Place {
            block: *block,
            prefix: if several { format!("{name}.") } else { String::new() },
            program: None,
            card: None,
        };
        Self {
            places: shape.parts.iter().map(place).collect(),
            clock: Clock::default(),
            units: shape.units,
            ports: shape.ports,
        }
    }

    fn place(&mut self, block: usize) -> Result<&mut Place, L7Error> {
        self.places.iter_mut().find(|place| place.block == block).ok_or(L7Error::NoBlock(block))
    }

    /// Whether the card has the units and ports that the rules of a source name.
    fn check_places(&self, file: &str, text: &str) -> Result<(), L7Error> {
        Ok(penstock_l7_compiler::check_places(file, text, self.units, self.ports)?)
    }

    /// Counters of all applications, with their names.
    fn count(&mut self, bus: &mut dyn Bus) -> Result<Vec<AppCounters>, L7Error> {
        let mut all = Vec::new();
        for place in &mut self.places {
            all.extend(place.count(bus)?.applications);
        }
        Ok(all)
    }

    /// Gives an application other rules.
    fn load_rules(&mut self, bus: &mut dyn Bus, name: &str, file: &str, text: &str) -> Result<Json, L7Error> {
        let compiled = penstock_l7_compiler::compile(file, text)?;
        self.check_places(file, text)?;
        let mut there = Vec::new();
        for place in &mut self.places {
            let Some(running) = &place.program else { return Err(L7Error::NotLoaded(place.block)) };
            let names = running.names();
            let at = names.iter().position(|own| format!("{}{own}", place.prefix) == name);
            let Some(app) = at else {
                there.extend(names.iter().map(|own| format!("{}{own}", place.prefix)));
                continue;
            };
            let own = compiled.program.applications.iter().position(|other| other.name == names[app]);
            let Some(own) = own else {
                return Err(L7Error::OtherApplications { file: file.to_owned(), name: names[app].clone() });
            };
            place.set_rules(bus, app, &moved(&compiled, own, app))?;
            return Ok(place.app(app).into_iter().collect());
        }
        Err(L7Error::NoApplication { name: name.to_owned(), there })
    }

    /// Carries out a request.
    ///
    /// # Errors
    /// It is not possible; then nothing has changed.
    pub fn ask(&mut self, bus: &mut dyn Bus, ask: &Ask) -> Result<Json, L7Error> {
        match ask {
            Ask::Apps => Ok(self.apps()),
            Ask::Load { application, file, text } => self.load_rules(bus, application, file, text),
            Ask::Counters => Ok(json!(self.count(bus)?)),
            Ask::Cycles => {
                let of_card = self.places.iter().filter(|place| place.card.is_some());
                of_card.map(|place| Ok(json!(CardBlock::cycles(bus, place.block)?))).collect()
            }
            Ask::Rules => {
                let of = |app: &AppCounters| {
                    let rule = |rule: &crate::RuleCounter| {
                        json!({"application": app.name, "message": rule.message,
                        "rule": rule.rule, "action": rule.action, "messages": rule.messages})
                    };
                    app.rules.iter().map(rule).collect::<Vec<_>>()
                };
                Ok(self.count(bus)?.iter().flat_map(of).collect())
            }
            Ask::Queues => Ok(json!(self.count(bus)?.iter().flat_map(queues).collect::<Vec<_>>())),
            Ask::Messages => {
                let of = |app: &AppCounters| json!({"application": app.name, "in_flight": app.in_flight, "pages": app.pages});
                Ok(self.count(bus)?.iter().map(of).collect())
            }
        }
    }

    fn apps(&self) -> Json {
        let of = |place: &Place| {
            let apps = place.program.as_ref().map_or(0, |running| running.apps.len());
            (0..apps).filter_map(|app| place.app(app)).collect::<Vec<_>>()
        };
        self.places.iter().flat_map(of).collect()
    }
}

/// Messages of an application by queue.
fn queues(app: &AppCounters) -> Vec<Json> {
    let mut queues = std::collections::BTreeMap::new();
    for rule in &app.rules {
        if let Some(queue) = rule.queue {
            *queues.entry(queue).or_insert(0) += rule.messages;
        }
    }
    queues
        .into_iter()
        .map(|(queue, messages)| json!({"application": app.name, "queue": queue, "messages": messages}))
        .collect()
}

/// The same program with the application `from` in the place `to`, as the application that it replaces.
fn moved(compiled: &Compiled, from: usize, to: usize) -> Compiled {
    let mut moved = compiled.clone();
    let (application, image) = (moved.program.applications[from].clone(), moved.images[from].clone());
    moved.program.applications.resize(to + 1, application.clone());
    moved.images.resize(to + 1, image.clone());
    (moved.program.applications[to], moved.images[to]) = (application, image);
    moved
}

impl Place {
    /// An application and the size of its rules.
    fn app(&self, app: usize) -> Option<Json> {
        let running = self.program.as_ref()?;
        let Application { name, number, port, tenant, types, .. } = running.application(app);
        // Parts of one rule share a decision.
        let rules: usize =
            types.iter().map(|rules| rules.decisions().into_iter().max().map_or(0, |last| last + 1)).sum();
        let rows = running.apps[app].compiled.images[app].row_count();
        let swaps = running.apps[app].swaps;
        Some(json!({"name": format!("{}{name}", self.prefix), "number": number, "port": port, "tenant": tenant,
            "rules": rules, "rows": rows, "swaps": swaps}))
    }

    fn machine<R>(
        &mut self,
        bus: &mut dyn Bus,
        job: impl FnOnce(&mut dyn Machine) -> Result<R, L7Error>,
    ) -> Result<R, L7Error> {
        match &mut self.card {
            Some(card) => job(&mut OnCard { card, block: self.block, bus }),
            None => job(native::find(bus, self.block)?),
        }
    }

    fn count(&mut self, bus: &mut dyn Bus) -> Result<BlockCounters, L7Error> {
        let apps = self.program.as_ref().map_or(0, |running| running.apps.len());
        let mut applications = Vec::new();
        for app in 0..apps {
            let (counters, hits) = self.machine(bus, |machine| machine.count(app))?;
            let Some(running) = &self.program else { continue };
            let App { compiled, swaps } = &running.apps[app];
            let application = running.application(app);
            let rules = rules(application, &compiled.program, &compiled.images[app], &hits);
            let name = format!("{}{}", self.prefix, application.name);
            applications.push(AppCounters { name, rules, swaps: *swaps, ..counters });
        }
        Ok(BlockCounters { applications })
    }

    /// Whether an application keeps its number, port, tenant and protocol, which a swap does not change.
    fn check_wire(&self, app: usize, compiled: &Compiled) -> Result<(), L7Error> {
        let wire = |application: &Application| {
            (application.number, application.port, application.tenant, application.protocol, application.id_bytes)
        };
        let Some(running) = &self.program else { return Err(L7Error::NotLoaded(self.block)) };
        let (old, new) = (running.application(app), &compiled.program.applications[app]);
        if wire(old) != wire(new) {
            return Err(L7Error::OtherPlace(old.name.clone()));
        }
        Ok(())
    }

    fn set_rules(&mut self, bus: &mut dyn Bus, app: usize, compiled: &Compiled) -> Result<(), L7Error> {
        self.check_wire(app, compiled)?;
        self.machine(bus, |machine| machine.set_rules(app, compiled))?;
        if let Some(running) = &mut self.program {
            let swaps = running.apps[app].swaps + 1;
            running.apps[app] = App { compiled: compiled.clone(), swaps };
        }
        Ok(())
    }
}

impl Driver for L7Driver {
    fn check(&self, images: &[(usize, &dyn Image)], _native: bool) -> Result<(), EngineError> {
        for (_, image) in images {
            let L7Image { file, text, .. } = L7Image::of(*image)?;
            self.check_places(file, text)?;
        }
        Ok(())
    }

    fn load_units(&mut self, _bus: &mut dyn Bus, _load: LoadUnits, _image: &dyn Image) -> Result<(), EngineError> {
        Err(L7Error::NoUnits.into())
    }

    fn load_block(&mut self, bus: &mut dyn Bus, block: usize, image: &dyn Image) -> Result<(), EngineError> {
        let image = L7Image::of(image)?;
        let place = self.place(block)?;
        match bus.native() {
            Some(native) => {
                let new = Block::new(&image.compiled.program, image.settings.limits());
                native.set_block(block, Box::new(new));
            }
            None => place.card = Some(CardBlock::load(bus, block, image)?),
        }
        let app = |_: &Application| App { compiled: image.compiled.clone(), swaps: 0 };
        let apps = image.compiled.program.applications.iter().map(app).collect();
        place.program = Some(Running { apps, timeout: image.settings.limits().timeout, sweep: image.settings.sweep() });
        Ok(())
    }

    /// Swaps the rules of all applications of a block, one application after the other. If one cannot be swapped, those
    /// before it get their old rules again, whose counters then begin at 0.
    fn swap(&mut self, bus: &mut dyn Bus, part: usize, image: &dyn Image) -> Result<Kept, EngineError> {
        let image = L7Image::of(image)?;
        self.check_places(&image.file, &image.text)?;
        let place = self.place(part)?;
        let Some(running) = &place.program else { return Err(L7Error::NotLoaded(part).into()) };
        let (names, old) = (running.names(), running.apps.clone());
        let new: Vec<String> = image.compiled.program.applications.iter().map(|one| one.name.clone()).collect();
        if names != new {
            return Err(L7Error::OtherProgram(names).into());
        }
        for app in 0..names.len() {
            place.check_wire(app, &image.compiled)?;
        }
        for app in 0..names.len() {
            let Err(error) = place.set_rules(bus, app, &image.compiled) else { continue };
            for (before, App { compiled, .. }) in old.iter().enumerate().take(app) {
                let name = names[before].clone();
                let failed =
                    |again| L7Error::HalfSwapped { name, error: Box::new(error.clone()), again: Box::new(again) };
                place.machine(bus, |machine| machine.set_rules(before, compiled)).map_err(failed)?;
            }
            if let Some(running) = &mut place.program {
                running.apps = old;
            }
            return Err(error.into());
        }
        Ok(Vec::new())
    }

    fn count_block(&mut self, bus: &mut dyn Bus, block: usize) -> Result<Json, EngineError> {
        Ok(json!(self.place(block)?.count(bus)?))
    }

    fn set_time(&mut self, bus: &mut dyn Bus, ns: u64) -> Result<(), EngineError> {
        let on_card = self.places.iter().filter(|place| place.card.is_some());
        let running = on_card.filter_map(|place| place.program.as_ref()).filter(|running| running.timeout > 0);
        let (timeouts, sweeps): (Vec<u64>, Vec<u64>) = running.map(|one| (one.timeout, one.sweep)).unzip();
        if let (Some(shortest), Some(longest)) = (timeouts.into_iter().min(), sweeps.into_iter().max()) {
            self.clock.hold(bus, ns, shortest, longest)?;
        }
        Ok(())
    }

    fn release_time(&mut self, bus: &mut dyn Bus) -> Result<(), EngineError> {
        Ok(self.clock.release(bus)?)
    }

    fn call(&mut self, bus: &mut dyn Bus, request: &Request) -> Result<Json, EngineError> {
        Ok(self.ask(bus, &Ask::read(&request.ask)?)?)
    }
}
