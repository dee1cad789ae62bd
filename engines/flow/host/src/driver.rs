// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! All flow blocks of one card.

use penstock_engine::{Bus, CardShape, Driver, EngineError, Image, Kept, LoadUnits, Request};
use penstock_flow::{Block, Chain, Options};
use penstock_unit::Block as _;
use serde_json::{Value as Json, json};

use crate::answers::{ElementAbout, EventAbout, SliceAbout};
use crate::ask::Ask;
use crate::card::{CardBlock, Clock, OnCard};
use crate::contexts;
use crate::elements::Elements;
use crate::error::FlowError;
use crate::image::FlowImage;
use crate::native;

/// A block of the design.
#[derive(Debug)]
struct Place {
    /// Its place in the design.
    block: usize,
    /// Comes before the names of its elements.
    prefix: String,
    /// Its program in hardware; None for a native block, or before the first load.
    card: Option<CardBlock>,
}

/// The driver of all flow blocks of a card.
#[derive(Debug)]
pub struct FlowDriver {
    places: Vec<Place>,
    clock: Clock,
    seed: u64,
}

impl FlowDriver {
    /// A driver for a card whose parts of this engine are `shape.parts`.
    pub fn new(shape: &CardShape) -> Self {
        let several = shape.parts.len() > 1;
        let place = |(block, name, _): &(usize, String, _)| Place {
            block: *block,
            prefix: if several { format!("{name}.") } else { String::new() },
            card: None,
        };
        Self { places: shape.parts.iter().map(place).collect(), clock: Clock::default(), seed: 0 }
    }

    fn place(&mut self, block: usize) -> Result<&mut Place, FlowError> {
        self.places.iter_mut().find(|place| place.block == block).ok_or(FlowError::NoBlock(block))
    }

    /// Hands the elements of a block to `job`.
    ///
    /// # Errors
    /// The engine has no such block, it has no program, or `job` fails.
    pub fn with<R>(
        &mut self,
        bus: &mut dyn Bus,
        block: usize,
        job: impl FnOnce(&mut dyn Elements) -> Result<R, FlowError>,
    ) -> Result<R, FlowError> {
        let Self { places, clock, .. } = self;
        let place = places.iter_mut().find(|place| place.block == block).ok_or(FlowError::NoBlock(block))?;
        match &mut place.card {
            Some(on) => job(&mut OnCard { on, clock, bus }),
            None => job(native::find(bus, block)?),
        }
    }

    /// Hands the elements of the block that has this element to `job`.
    fn with_element<R>(
        &mut self,
        bus: &mut dyn Bus,
        element: &str,
        job: impl FnOnce(&mut dyn Elements) -> Result<R, FlowError>,
    ) -> Result<R, FlowError> {
        let mut there = Vec::new();
        for at in 0..self.places.len() {
            let block = self.places[at].block;
            let names = |elements: &mut dyn Elements| {
                Ok(elements.program().elements.iter().map(|one| one.name.clone()).collect::<Vec<_>>())
            };
            let names = self.with(bus, block, names)?;
            if names.iter().any(|name| name == element) {
                return self.with(bus, block, job);
            }
            there.extend(names);
        }
        Err(FlowError::NoElement { name: element.to_owned(), there })
    }

    /// The elements of all blocks.
    ///
    /// # Errors
    /// The card refuses.
    pub fn list(&mut self, bus: &mut dyn Bus) -> Result<Vec<ElementAbout>, FlowError> {
        self.of_all(bus, |elements| contexts::list(elements))
    }

    /// A slice of the contexts of an element ([`Elements::slice`]).
    ///
    /// # Errors
    /// No block has this element, or its contexts move too fast to be listed.
    pub fn dump(&mut self, bus: &mut dyn Bus, element: &str, from: usize) -> Result<SliceAbout, FlowError> {
        self.with_element(bus, element, |elements| contexts::dump(elements, element, from))
    }

    /// Takes the events of all blocks, oldest first.
    ///
    /// # Errors
    /// The card refuses.
    pub fn events(&mut self, bus: &mut dyn Bus) -> Result<Vec<EventAbout>, FlowError> {
        let mut all = self.of_all(bus, |elements| contexts::events(elements))?;
        // Each block's events are in order; a stable sort merges them.
        all.sort_by_key(|event| event.time);
        Ok(all)
    }

    fn of_all<R>(
        &mut self,
        bus: &mut dyn Bus,
        job: impl Fn(&mut dyn Elements) -> Result<Vec<R>, FlowError>,
    ) -> Result<Vec<R>, FlowError> {
        let blocks: Vec<usize> = self.places.iter().map(|place| place.block).collect();
        let mut all = Vec::new();
        for block in blocks {
            all.extend(self.with(bus, block, &job)?);
        }
        Ok(all)
    }

    /// The time that frames see, in µs.
    ///
    /// # Errors
    /// The card refuses, or no block has a program yet.
    pub fn time(&mut self, bus: &mut dyn Bus) -> Result<u64, FlowError> {
        let block = self.places.first().ok_or(FlowError::NoBlock(0))?.block;
        self.with(bus, block, |elements| elements.time())
    }

    /// Sets the time that frames see, in µs, unless it is later already. Contexts whose deadline has passed expire.
    ///
    /// # Errors
    /// The card refuses, or a block has no program yet.
    pub fn set_time_us(&mut self, bus: &mut dyn Bus, us: u64) -> Result<(), FlowError> {
        let Self { places, clock, .. } = self;
        for place in places.iter().filter(|place| place.card.is_none()) {
            native::find(bus, place.block)?.set_time(us.saturating_mul(1000));
        }
        let mut blocks: Vec<&mut CardBlock> = places.iter_mut().filter_map(|place| place.card.as_mut()).collect();
        if blocks.is_empty() { Ok(()) } else { clock.set(bus, &mut blocks, us) }
    }

    /// Carries out a request.
    ///
    /// # Errors
    /// It is not possible; then nothing has changed.
    pub fn ask(&mut self, bus: &mut dyn Bus, ask: &Ask) -> Result<Json, FlowError> {
        let must = |there: bool, exist: &bool| if there || !exist { Ok(()) } else { Err(FlowError::NoContext) };
        match ask {
            Ask::List => Ok(json!(self.list(bus)?)),
            Ask::Dump { element, from } => Ok(json!(self.dump(bus, element, *from)?)),
            Ask::Get { element, key, exist } => {
                let found = self.with_element(bus, element, |elements| contexts::get(elements, element, key))?;
                must(found.is_some(), exist)?;
                Ok(json!(Vec::from_iter(found)))
            }
            Ask::Insert { element, key, context } => {
                self.with_element(bus, element, |elements| contexts::insert(elements, element, key, context))?;
                Ok(Json::Null)
            }
            Ask::Delete { element, key, exist } => {
                let had = self.with_element(bus, element, |elements| contexts::delete(elements, element, key))?;
                must(had, exist)?;
                Ok(had.into())
            }
            Ask::Clear { element } => {
                self.with_element(bus, element, |elements| contexts::clear(elements, element))?;
                Ok(Json::Null)
            }
            Ask::Set { element, registers } => {
                self.with_element(bus, element, |elements| contexts::set(elements, element, registers))?;
                Ok(Json::Null)
            }
            Ask::Events => Ok(json!(self.events(bus)?)),
            Ask::Tell { element, kinds } => {
                self.with_element(bus, element, |elements| contexts::tell(elements, element, kinds))?;
                Ok(Json::Null)
            }
            Ask::Time { us } => {
                us.map(|us| self.set_time_us(bus, us)).transpose()?;
                Ok(self.time(bus)?.into())
            }
            Ask::Table { element, forget } => Ok(json!(self.with_element(bus, element, |elements| {
                let (number, _) = contexts::find(elements, element)?;
                elements.table(number, *forget)
            })?)),
        }
    }
}

impl Driver for FlowDriver {
    fn load_units(&mut self, _bus: &mut dyn Bus, _load: LoadUnits, _image: &dyn Image) -> Result<(), EngineError> {
        Err(FlowError::NoUnits.into())
    }

    fn load_block(&mut self, bus: &mut dyn Bus, block: usize, image: &dyn Image) -> Result<(), EngineError> {
        let image = FlowImage::of(image)?;
        let options = Options { seed: self.seed, ..Options::default() };
        let place = self.place(block)?;
        match bus.native() {
            Some(native) => {
                let chain = Chain::new(&image.sized(&place.prefix), &options);
                native.set_block(block, Box::new(Block::new(chain)));
            }
            None => place.card = Some(CardBlock::load(bus, block, image, &place.prefix)?),
        }
        Ok(())
    }

    /// Starts the clock of hardware again: contexts of an earlier program had other times.
    fn loaded(&mut self, bus: &mut dyn Bus, _images: &[(usize, &dyn Image)]) -> Result<(), EngineError> {
        let mut blocks: Vec<&mut CardBlock> = self.places.iter_mut().filter_map(|place| place.card.as_mut()).collect();
        if !blocks.is_empty() {
            self.clock.begin(bus, &mut blocks)?;
        }
        Ok(())
    }

    /// Gives a block other rows. Contexts, registers and counters stay, except the counters of rows.
    fn swap(&mut self, bus: &mut dyn Bus, part: usize, image: &dyn Image) -> Result<Kept, EngineError> {
        let image = FlowImage::of(image)?;
        let place = self.place(part)?;
        match &mut place.card {
            Some(card) => card.change(bus, image, &place.prefix)?,
            None => {
                let chain = native::find(bus, part)?.chain_mut();
                chain.change(&image.sized(&place.prefix)).map_err(FlowError::from)?;
            }
        }
        Ok(image.tables().into_iter().map(|name| (name, true)).collect())
    }

    fn count_block(&mut self, bus: &mut dyn Bus, block: usize) -> Result<Json, EngineError> {
        Ok(json!(self.with(bus, block, |elements| elements.counters())?))
    }

    fn set_time(&mut self, bus: &mut dyn Bus, ns: u64) -> Result<(), EngineError> {
        let mut blocks: Vec<&mut CardBlock> = self.places.iter_mut().filter_map(|place| place.card.as_mut()).collect();
        if !blocks.is_empty() {
            self.clock.hold(bus, &mut blocks, ns / 1000)?;
        }
        Ok(())
    }

    fn release_time(&mut self, bus: &mut dyn Bus) -> Result<(), EngineError> {
        Ok(self.clock.release(bus)?)
    }

    fn set_seed(&mut self, seed: u64) {
        self.seed = seed;
    }

    fn call(&mut self, bus: &mut dyn Bus, request: &Request) -> Result<Json, EngineError> {
        Ok(self.ask(bus, &Ask::read(&request.ask)?)?)
    }
}

#[cfg(test)]
mod tests {
    use penstock_engine::{CardError, Engine, ErrorKind, Native};
    use penstock_unit::{Entering, Unit};

    use super::*;
    use crate::engine::FLOW;
    use crate::settings::Settings;

    /// A native card.
    struct Card(Vec<Option<Box<dyn penstock_unit::Block>>>);

    impl Bus for Card {
        fn read(&mut self, address: u32) -> Result<u32, CardError> {
            Err(CardError::Broken(format!("0x{address:08x} was read")))
        }

        fn write(&mut self, address: u32, _: u32) -> Result<(), CardError> {
            Err(CardError::Broken(format!("0x{address:08x} was written")))
        }

        fn pass(&mut self, _: u64) -> Result<(), CardError> {
            Ok(())
        }

        fn native(&mut self) -> Option<&mut dyn Native> {
            Some(self)
        }
    }

    impl Native for Card {
        fn unit(&mut self, _: u32) -> Option<&mut dyn Unit> {
            None
        }

        fn block(&mut self, block: usize) -> Option<&mut dyn penstock_unit::Block> {
            self.0[block].as_mut().map(Box::as_mut)
        }

        fn set_block(&mut self, block: usize, to: Box<dyn penstock_unit::Block>) {
            self.0[block] = Some(to);
        }
    }

    impl Card {
        /// Sends a frame through a block at a time in µs.
        fn send(&mut self, block: usize, us: u64) {
            let block = self.0[block].as_mut().unwrap();
            block.set_time(us * 1000);
            block.carry(&mut vec![0; 60], &mut 0, Entering::default(), &mut Vec::new());
        }
    }

    fn image(text: &str) -> FlowImage {
        let program = penstock_flow_compiler::compile("test.efsm", text).unwrap().program;
        FlowImage { path: "test.efsm".into(), program, contexts: 100 }
    }

    fn driver(parts: &[(usize, &str)]) -> Box<dyn Driver> {
        let parts = parts.iter().map(|(block, name)| (*block, (*name).to_owned(), 0..0)).collect();
        FLOW.driver(&CardShape { ports: 2, units: 1, parts, tenants: Vec::new() }, &Settings::default())
    }

    const SEEN: &str = "element seen { key eth.type states NEW, SEEN global hits
        in NEW { else => goto SEEN }
        in SEEN { else => drop } }";

    fn call(driver: &mut dyn Driver, card: &mut Card, ask: Ask) -> Result<Json, EngineError> {
        driver.call(card, &ask.request())
    }

    #[test]
    fn several_blocks_have_programs_of_their_own() {
        let mut card = Card(vec![None, None, None]);
        // The block between them is one of another engine.
        let mut driver = driver(&[(0, "front"), (2, "back")]);
        let driver = driver.as_mut();
        let error = call(driver, &mut card, Ask::List).unwrap_err();
        assert_eq!(error.downcast_ref(), Some(&FlowError::NotLoaded(0)));
        for block in [0, 2] {
            driver.load_block(&mut card, block, &image(SEEN)).unwrap();
        }
        driver.loaded(&mut card, &[]).unwrap();
        let names = call(driver, &mut card, Ask::List).unwrap();
        assert_eq!([&names[0]["name"], &names[1]["name"]], ["front.seen", "back.seen"]);
        card.send(2, 5);
        card.send(0, 3);
        card.send(2, 7);
        let key = json!({"eth.type": 0});
        let back = || "back.seen".to_owned();
        let get = |element: String| Ask::Get { element, key: key.clone(), exist: true };
        assert_eq!(call(driver, &mut card, get(back())).unwrap()[0]["state"], "SEEN");
        let events = call(driver, &mut card, Ask::Events).unwrap();
        let events: Vec<_> = events.as_array().unwrap().iter().map(|one| (&one["element"], &one["time"])).collect();
        assert_eq!(events, [(&json!("front.seen"), &json!(3)), (&json!("back.seen"), &json!(5))]);
        let delete = |exist| Ask::Delete { element: back(), key: key.clone(), exist };
        assert_eq!(call(driver, &mut card, delete(false)).unwrap(), true);
        assert_eq!(call(driver, &mut card, delete(false)).unwrap(), false);
        for ask in [get(back()), delete(true)] {
            let error = call(driver, &mut card, ask).unwrap_err();
            assert_eq!(error.downcast_ref(), Some(&FlowError::NoContext));
            assert_eq!(error.kind, ErrorKind::Service("flow"));
        }
        assert_eq!(call(driver, &mut card, get("front.seen".to_owned())).unwrap()[0]["state"], "SEEN");
        let error = call(driver, &mut card, Ask::Dump { element: "seen".to_owned(), from: 0 }).unwrap_err().to_string();
        assert_eq!(error, "there is no element `seen`; there are: front.seen, back.seen");
        let counters = driver.count_block(&mut card, 2).unwrap();
        assert_eq!(counters["elements"][0]["frames"], 2);
        assert_eq!(counters["elements"][0]["rows"][1], json!({"line": 3, "frames": 1}));
        let counted = FLOW.counted(&counters, &counters);
        assert_eq!((&counted["elements"][0]["frames"], &counted["elements"][0]["contexts"]), (&json!(0), &json!(0)));
        assert_eq!(FLOW.counted(&counters, &Json::Null), counters);
        assert_eq!(driver.count_block(&mut card, 1).unwrap_err().downcast_ref(), Some(&FlowError::NoBlock(1)));
    }

    #[test]
    fn a_swap_keeps_contexts() {
        let mut card = Card(vec![None]);
        let mut driver = driver(&[(0, "")]);
        let driver = driver.as_mut();
        driver.load_block(&mut card, 0, &image(SEEN)).unwrap();
        card.send(0, 1);
        let kept = driver.swap(&mut card, 0, &image(&SEEN.replace("drop", "host"))).unwrap();
        assert_eq!(kept, [("seen".to_owned(), true)]);
        let list = call(driver, &mut card, Ask::List).unwrap();
        assert_eq!((&list[0]["contexts"], &list[0]["of"]), (&json!(1), &json!(100)));
        let error = driver.swap(&mut card, 0, &image(&SEEN.replace("NEW", "OLD"))).unwrap_err();
        assert!(error.to_string().starts_with("element seen has other states"), "{error}");
        assert_eq!(error.kind, ErrorKind::Program);
        assert_eq!(driver.count_block(&mut card, 0).unwrap()["changes"], 1);
        // A load leaves nothing.
        driver.load_block(&mut card, 0, &image(SEEN)).unwrap();
        assert_eq!(call(driver, &mut card, Ask::List).unwrap()[0]["contexts"], 0);
        assert_eq!(driver.count_block(&mut card, 0).unwrap()["changes"], 0);
    }

    #[test]
    fn requests_change_blocks() {
        let mut card = Card(vec![None]);
        let mut driver = driver(&[(0, "only")]);
        let driver = driver.as_mut();
        driver.load_block(&mut card, 0, &image(SEEN)).unwrap();
        let element = || "seen".to_owned();
        let times = [(Ask::Time { us: None }, 0), (Ask::Time { us: Some(9) }, 9), (Ask::Time { us: Some(4) }, 9)];
        for (ask, time) in times {
            assert_eq!(call(driver, &mut card, ask).unwrap(), time);
        }
        // The card itself sets the time of native blocks.
        driver.set_time(&mut card, 20_000).unwrap();
        driver.release_time(&mut card).unwrap();
        assert_eq!(call(driver, &mut card, Ask::Time { us: None }).unwrap(), 9);
        for ask in [
            Ask::Tell { element: element(), kinds: vec![] },
            Ask::Insert { element: element(), key: 7.into(), context: Json::Null },
            Ask::Set { element: element(), registers: json!({"hits": 3}) },
        ] {
            assert_eq!(call(driver, &mut card, ask).unwrap(), Json::Null);
        }
        card.send(0, 10);
        assert_eq!(call(driver, &mut card, Ask::Events).unwrap(), json!([]));
        let list = call(driver, &mut card, Ask::List).unwrap();
        assert_eq!((&list[0]["registers"], &list[0]["contexts"]), (&json!({"hits": 3}), &json!(2)));
        let dump = || Ask::Dump { element: element(), from: 0 };
        assert_eq!(call(driver, &mut card, dump()).unwrap()["contexts"].as_array().unwrap().len(), 2);
        call(driver, &mut card, Ask::Clear { element: element() }).unwrap();
        assert_eq!(call(driver, &mut card, dump()).unwrap(), json!({"contexts": []}));
        let error = call(driver, &mut card, Ask::Table { element: element(), forget: false }).unwrap_err();
        assert_eq!((error.kind, error.downcast_ref()), (ErrorKind::Unsupported, Some(&FlowError::NoHardware)));
        let request = Request { service: "flow".to_owned(), ask: json!("lost") };
        assert!(driver.call(&mut card, &request).unwrap_err().to_string().contains("does not understand \"lost\""));
    }
}
