// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The driver of all xdp units of a card.

use std::any::Any;
use std::ops::Range;
use std::sync::Arc;

use penstock_engine::window::{UNIT_WINDOW, count_unit, mask_of, read_unit};
use penstock_engine::{
    Bus, CardShape, Driver, EngineError, Image, Kept, LoadUnits, Log, Native, Request, UnitCounters, regs,
};
use penstock_xdp_compiler::card::CardMap;
use penstock_xdp_compiler::ir;
use penstock_xdp_soft::Loaded;
use serde_json::Value as Json;

use crate::image::{Program, XdpImage};
use crate::maps::{Map, Maps};
use crate::native;
use crate::program::XdpProgram;
use crate::routes::{self, Routes};
use crate::rows::{self, CardRoutes, RowImage};
use crate::services;

/// A request of the engines' contract that xdp units, or this card, cannot do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DriverError {
    /// Rows on native code.
    #[error("rows run on cards in RTL only; load the object on soft")]
    RowsOnSoft,
    /// A swap to rows.
    #[error("nobody knows the maps of rows that were put together by hand: load them")]
    SwapToRows,
    /// A swap of units that run no object.
    #[error("these units have no program to swap: load one")]
    NothingToSwap,
    /// A swap to rows for other cores.
    #[error("the program was compiled for {new} lanes, the card's cores have {old}")]
    Lanes {
        /// Lanes that the program is for.
        new: usize,
        /// Lanes of the cores.
        old: usize,
    },
    /// Images of two compilations.
    #[error("maps of two groups of units lie in the same place; compile the groups together")]
    Overlap,
    /// A group of units that the card does not have.
    #[error("there is no group of xdp units with number {0}")]
    NoGroup(usize),
    /// An inline block.
    #[error("xdp has no inline blocks; put the program into [[units]]")]
    NoBlocks,
    /// Another service.
    #[error("xdp has no service `{0}`; it has `map` and `routes`")]
    NoService(String),
}

impl From<DriverError> for EngineError {
    fn from(error: DriverError) -> Self {
        Self::new(penstock_engine::ErrorKind::Unsupported, error)
    }
}

/// A group of units and its program.
#[derive(Debug)]
pub(crate) struct Group {
    /// Index in the design.
    part: usize,
    pub name: String,
    pub units: Range<u32>,
    /// The program of the last load or swap; None before, and of rows that were put together by hand.
    pub running: Option<Running>,
}

/// A program that units run.
#[derive(Debug, Clone)]
pub(crate) struct Running {
    pub program: Arc<XdpProgram>,
    /// Its rows, on a card in hardware.
    pub rows: Option<Arc<RowImage>>,
}

/// All xdp units of a card.
#[derive(Debug)]
pub struct XdpDriver {
    groups: Vec<Group>,
    routes: Routes,
    /// The tables of routes, on a card in hardware.
    tables: CardRoutes,
    /// Lines of programs that no unit runs any more, and how many lines were lost since the load.
    log: Log,
}

impl XdpDriver {
    pub(crate) fn new(shape: &CardShape) -> Self {
        let group = |(part, name, units): &(usize, String, Range<u32>)| Group {
            part: *part,
            name: name.clone(),
            units: units.clone(),
            running: None,
        };
        let groups = shape.parts.iter().map(group).collect();
        Self { groups, routes: Routes::default(), tables: CardRoutes::default(), log: Log::default() }
    }

    /// The driver in an engine-neutral driver; None if it belongs to another engine.
    pub fn of(driver: &mut dyn Driver) -> Option<&mut Self> {
        (driver as &mut dyn Any).downcast_mut()
    }

    /// The maps of the programs that units run.
    pub fn maps<'a>(&'a self, bus: &'a mut dyn Bus) -> Maps<'a> {
        Maps::new(&self.groups, bus)
    }

    /// The routes that programs look up.
    #[must_use]
    pub fn routes(&self) -> &Routes {
        &self.routes
    }

    /// Gives the card other routes, between two frames.
    ///
    /// # Errors
    /// No card can have them, or the card refuses.
    pub fn set_routes(&mut self, bus: &mut dyn Bus, routes: &Routes) -> Result<(), EngineError> {
        routes::check(routes)?;
        self.routes.clone_from(routes);
        self.put_routes(bus)
    }

    /// Gives the programs that units run now the routes.
    fn put_routes(&mut self, bus: &mut dyn Bus) -> Result<(), EngineError> {
        if let Some(native) = bus.native() {
            for loaded in native::running(native, self.units()) {
                loaded.with(|engine| engine.routes().clone_from(&self.routes));
            }
            return Ok(());
        }
        match self.route_tables() {
            Some(tables) => Ok(self.tables.put(bus, &tables, &self.routes)?),
            None => Ok(()),
        }
    }

    /// The places of the tables of routes on a card in hardware. All programs that look up routes share them.
    fn route_tables(&self) -> Option<ir::Routes> {
        self.on_card().find_map(|(_, image)| image.layout.routes)
    }

    /// The rows that a card in hardware runs, each with its units.
    fn on_card(&self) -> impl Iterator<Item = (u32, &Arc<RowImage>)> {
        let groups = self.groups.iter();
        groups.filter_map(|group| Some((mask_of(&group.units), group.running.as_ref()?.rows.as_ref()?)))
    }

    /// All xdp units, a bit each.
    fn units(&self) -> u32 {
        self.groups.iter().fold(0, |mask, group| mask | mask_of(&group.units))
    }

    fn group(&self, part: usize) -> Result<usize, DriverError> {
        self.groups.iter().position(|group| group.part == part).ok_or(DriverError::NoGroup(part))
    }

    /// Keeps the lines of native programs, which units may stop running.
    fn keep_log(&mut self, of: &[Loaded]) {
        for loaded in of {
            self.log.append(loaded.with(|engine| engine.take_log()));
        }
    }

    /// Makes native code of a program that no unit runs yet.
    fn make_native(&self, image: &XdpImage, program: &XdpProgram) -> Result<Loaded, EngineError> {
        let loaded = program.native()?;
        native::begin(&loaded, &image.maps)?;
        loaded.with(|engine| engine.routes().clone_from(&self.routes));
        Ok(loaded)
    }

    /// Gives units of a group in native code a program.
    fn run_native(
        &mut self,
        native: &mut dyn Native,
        group: usize,
        units: u32,
        program: &Arc<XdpProgram>,
        loaded: &Loaded,
    ) {
        let before = native::running(native, units);
        self.keep_log(&before);
        native::load(native, units, loaded);
        self.groups[group].running = Some(Running { program: Arc::clone(program), rows: None });
    }

    fn load_native(
        &mut self,
        native: &mut dyn Native,
        group: usize,
        load: LoadUnits,
        image: &XdpImage,
    ) -> Result<(), EngineError> {
        let program = image.program().ok_or(DriverError::RowsOnSoft)?;
        let others = mask_of(&self.groups[group].units) & !load.units;
        let shared = native::find(native, others, program.number).filter(|_| load.join);
        let loaded = shared.map_or_else(|| self.make_native(image, program), Ok)?;
        self.run_native(native, group, load.units, program, &loaded);
        Ok(())
    }

    fn load_rows(
        &mut self,
        bus: &mut dyn Bus,
        group: usize,
        load: LoadUnits,
        image: &XdpImage,
    ) -> Result<(), EngineError> {
        let rows = image.rows()?;
        rows::load(bus, &rows, load.join)?;
        let of_object = |program| Running { program: Arc::clone(program), rows: Some(rows) };
        self.groups[group].running = image.program().map(of_object);
        if !load.join {
            self.maps(bus).begin(&image.maps, |_| true)?;
            // Entries in units' own memory were written unit by unit.
            bus.write(regs::CARD_UNIT_WRITE_MASK, load.units)?;
        }
        Ok(())
    }

    fn swap_native(
        &mut self,
        native: &mut dyn Native,
        group: usize,
        image: &XdpImage,
        program: &Arc<XdpProgram>,
    ) -> Result<Kept, EngineError> {
        // Entries that the image's maps begin with go in first: a map that takes over those of the program before loses
        // them again.
        let mut loaded = self.make_native(image, program)?;
        let units = mask_of(&self.groups[group].units);
        let old = self.groups[group].running.as_ref().map(|running| &running.program);
        let running = old.and_then(|old| Some((native::find(native, units, old.number)?, old)));
        let kept = running.map(|(running, old)| loaded.take_over(program.object(), &running, old.object()));
        self.run_native(native, group, units, program, &loaded);
        Ok(kept.unwrap_or_default())
    }

    fn swap_rows(
        &mut self,
        bus: &mut dyn Bus,
        group: usize,
        image: &XdpImage,
        program: &Arc<XdpProgram>,
    ) -> Result<Kept, EngineError> {
        let Group { units, running, .. } = &self.groups[group];
        let units = units.clone();
        let mask = mask_of(&units);
        let before = running.clone().ok_or(DriverError::NothingToSwap)?;
        let (new, old) = (program.lanes.count(), before.program.lanes.count());
        if new != old {
            return Err(DriverError::Lanes { new, old }.into());
        }
        let has_routes = self.route_tables().is_some();
        let running = self.groups.iter().filter_map(|group| Some(Arc::clone(&group.running.as_ref()?.program)));
        let next = Arc::new(program.in_place_of(&before.program, running, units.end)?);
        let image_of_next = next.rows()?;
        rows::await_end(bus, mask)?;
        rows::bring(bus, mask, &image_of_next)?;
        let (layout, maps) = (&image_of_next.layout, &next.object().maps);
        let variable = (0..).zip(maps).filter(|(_, map)| map.constants().is_none());
        let is_kept = |index| image_of_next.kept.contains(&layout.number(index));
        let kept: Kept = variable.map(|(index, map)| (map.name.clone(), is_kept(index))).collect();
        self.groups[group].running =
            Some(Running { program: Arc::clone(&next), rows: Some(Arc::clone(&image_of_next)) });
        if let Err(error) = self.begin_swapped(bus, image, &kept, has_routes) {
            self.groups[group].running = Some(before);
            return Err(error);
        }
        rows::change(bus, mask)?;
        rows::await_end(bus, mask)?;
        if let Some(rows) = &before.rows {
            self.log.append(rows::take_log(bus, mask, rows)?);
        }
        Ok(kept)
    }

    /// Puts entries into the new maps of a program that was swapped in, and routes into tables that it is the first to
    /// use.
    fn begin_swapped(
        &mut self,
        bus: &mut dyn Bus,
        image: &XdpImage,
        kept: &Kept,
        has_routes: bool,
    ) -> Result<(), EngineError> {
        let is_new = |map: &Map| !kept.iter().any(|(name, kept)| *kept && name == map.declared());
        self.maps(bus).begin(&image.maps, is_new)?;
        if has_routes {
            return Ok(());
        }
        self.tables.forget();
        self.put_routes(bus)
    }
}

impl Driver for XdpDriver {
    fn begin(&mut self, bus: &mut dyn Bus) -> Result<(), EngineError> {
        match bus.native() {
            Some(_) => Ok(()),
            None => Ok(rows::seed(bus)?),
        }
    }

    fn check(&self, images: &[(usize, &dyn Image)], native: bool) -> Result<(), EngineError> {
        let images = images.iter().map(|(_, image)| XdpImage::of(*image)).collect::<Result<Vec<_>, _>>()?;
        if native {
            let has_rows = images.iter().any(|image| matches!(image.program, Program::Rows(_)));
            return if has_rows { Err(DriverError::RowsOnSoft.into()) } else { Ok(()) };
        }
        let mut taken = Vec::new();
        for image in images {
            taken.extend(image.rows()?.maps.iter().map(CardMap::rows));
        }
        taken.sort_by_key(|rows| rows.start);
        match taken.windows(2).any(|pair| pair[0].end > pair[1].start) {
            true => Err(DriverError::Overlap.into()),
            false => Ok(()),
        }
    }

    fn load_units(&mut self, bus: &mut dyn Bus, load: LoadUnits, image: &dyn Image) -> Result<(), EngineError> {
        let image = XdpImage::of(image)?;
        let group = self.group(load.group)?;
        bus.write(UNIT_WINDOW + penstock_xdp_soft::regs::XDP_HOST_BY_FLOW, load.by_flow.into())?;
        match bus.native() {
            Some(native) => self.load_native(native, group, load, image),
            None => self.load_rows(bus, group, load, image),
        }
    }

    fn load_block(&mut self, _bus: &mut dyn Bus, _block: usize, _image: &dyn Image) -> Result<(), EngineError> {
        Err(DriverError::NoBlocks.into())
    }

    fn loaded(&mut self, bus: &mut dyn Bus, images: &[(usize, &dyn Image)]) -> Result<(), EngineError> {
        self.log = Log::default();
        self.tables.forget();
        if let Some((_, image)) = images.first() {
            self.routes.clone_from(&XdpImage::of(*image)?.routes);
        }
        self.put_routes(bus)
    }

    fn swap(&mut self, bus: &mut dyn Bus, part: usize, image: &dyn Image) -> Result<Kept, EngineError> {
        let image = XdpImage::of(image)?;
        let program = image.program().ok_or(DriverError::SwapToRows)?;
        let group = self.group(part)?;
        match bus.native() {
            Some(native) => self.swap_native(native, group, image, program),
            None => self.swap_rows(bus, group, image, program),
        }
    }

    fn steps(&mut self, bus: &mut dyn Bus, unit: u32) -> Result<u32, EngineError> {
        Ok(read_unit(bus, unit, penstock_xdp_soft::regs::XDP_HOST_ROWS)?)
    }

    fn count(&mut self, bus: &mut dyn Bus, unit: u32, counters: &mut UnitCounters) -> Result<(), EngineError> {
        counters.aborted = count_unit(bus, unit, penstock_xdp_soft::regs::XDP_HOST_ABORTED)?;
        counters.wild = count_unit(bus, unit, penstock_xdp_soft::regs::XDP_HOST_WILD)?;
        Ok(())
    }

    fn take_log(&mut self, bus: &mut dyn Bus) -> Result<Log, EngineError> {
        if let Some(native) = bus.native() {
            let running = native::running(native, self.units());
            self.keep_log(&running);
        }
        let mut log = Log { lines: std::mem::take(&mut self.log.lines), lost: self.log.lost };
        for (units, rows) in self.on_card() {
            log.append(rows::take_log(bus, units, rows)?);
        }
        Ok(log)
    }

    fn call(&mut self, bus: &mut dyn Bus, request: &Request) -> Result<Json, EngineError> {
        match request.service.as_str() {
            services::map::SERVICE => services::map::answer(&mut self.maps(bus), &request.ask),
            services::routes::SERVICE => services::routes::answer(self, bus, &request.ask),
            other => Err(DriverError::NoService(other.to_owned()).into()),
        }
    }
}
