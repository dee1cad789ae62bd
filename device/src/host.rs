// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The host's side of a card: starts it and reads its state over the host address space (shell/regs/card.rdl), in the
//! same way on every target. The drivers handle their engines.

use std::ops::{Range, RangeInclusive};

use penstock_engine::window::{INLINE_WINDOW, UNIT_WINDOW, read_count, read_unit, units_of};
use penstock_engine::{
    Bus, CardError, CardShape, Driver, Engine, EngineError, HELD_LIMIT, Kept, Kind, LoadUnits, Log, Request, Tenant,
    UnitCounters,
};
use penstock_registry::engines;
use penstock_shell::{Cause, Fault};
use serde_json::Value as Json;

use crate::counters::{BlockCounters, Counters, HostMemoryCounters, PortCounters};
use crate::design::{Design, Group, Policy};
use crate::error::DeviceError;
use crate::image::{Image, PartImage};
use crate::regs;

/// Streams of the register map after the Ethernet ports.
const HOST_STREAM: u32 = 4;
pub(crate) const LOOPBACK_STREAM: u32 = 5;

/// Cycles that a program may take to declare its slots.
pub(crate) const BOOT_LIMIT: u64 = 100_000;
/// Cycles between two checks whether it has, or whether units are empty.
pub(crate) const LOOK: u64 = 100;

/// The driver of an engine that the design uses.
struct Driven {
    engine: &'static dyn Engine,
    driver: Box<dyn Driver>,
}

/// The host's knowledge about a card.
pub(crate) struct Host {
    pub ports: u32,
    pub units: u32,
    policy: Policy,
    by_flow: bool,
    groups: Vec<Group>,
    /// Inline blocks: name and engine.
    blocks: Vec<(String, &'static dyn Engine)>,
    drivers: Vec<Driven>,
    tenants: Vec<Tenant>,
    /// Units that take frames, one bit each.
    pub enabled: u32,
    /// Units that shall, and that were halted before they had declared their slots; they may run by now.
    pub asleep: u32,
    /// Error flags of each unit that were reported since the load.
    reported: Vec<u32>,
}

impl Host {
    pub(crate) fn new(design: &Design) -> Self {
        let groups = &design.groups;
        let blocks: Vec<_> = design.inline.iter().map(|block| (block.name.clone(), block.engine)).collect();
        let drivers = engines().iter().filter_map(|engine| {
            let parts: Vec<_> = match engine.kind() {
                Kind::Units => (0..)
                    .zip(groups)
                    .filter(|(_, group)| group.engine.name() == engine.name())
                    .map(|(index, group)| (index, group.name.clone(), group.units.clone()))
                    .collect(),
                Kind::Inline => (0..)
                    .zip(&blocks)
                    .filter(|(_, (_, of))| of.name() == engine.name())
                    .map(|(index, (name, _))| (index, name.clone(), 0..0))
                    .collect(),
            };
            let card = design.card_of(*engine).filter(|_| !parts.is_empty())?;
            let shape =
                CardShape { ports: design.ports, units: design.units(), parts, tenants: design.tenants.clone() };
            Some(Driven { engine: *engine, driver: engine.driver(&shape, &**card) })
        });
        Self {
            ports: design.ports,
            units: design.units(),
            policy: design.policy,
            by_flow: design.by_flow(),
            groups: groups.clone(),
            drivers: drivers.collect(),
            tenants: design.tenants.clone(),
            blocks,
            enabled: 0,
            asleep: 0,
            reported: vec![0; design.units() as usize],
        }
    }

    /// Prepares a card after reset.
    pub(crate) fn begin(&mut self, bus: &mut dyn Bus) -> Result<(), EngineError> {
        for Tenant { number, vlan, ports, .. } in &self.tenants {
            bus.write(INLINE_WINDOW + regs::INLINE_TENANT_VLAN, ports << 16 | u32::from(*vlan))?;
            bus.write(INLINE_WINDOW + regs::INLINE_TENANT, (*number).into())?;
        }
        // Programs reach all host memory until the host narrows their ranges.
        give_host_range(bus, 0..self.units, 0..=u64::MAX)?;
        self.drivers.iter_mut().try_for_each(|driven| driven.driver.begin(bus))
    }

    /// Checks whether the card can be loaded with an image.
    pub(crate) fn check(&self, image: &Image, native: bool) -> Result<(), EngineError> {
        self.drivers.iter().try_for_each(|driven| driven.driver.check(&image.of_engine(driven.engine), native))
    }

    /// Loads every part, sets up the dispatcher, and opens the ports once every unit has declared its slots. No frame
    /// may be in an inline block. The host does not wait for halted units; the targets let no frame in before these
    /// have declared their slots. Frames of an earlier program that units still hold leave first, except over loopback:
    /// no unit takes them, so they are dropped as `policy`. Frames that a unit does not give up are lost.
    pub(crate) fn load(&mut self, bus: &mut dyn Bus, image: &Image) -> Result<(), DeviceError> {
        let all = u32::MAX >> (32 - self.units);
        bus.write(regs::CARD_PORT_ENABLE, 0)?;
        for block in &image.inline {
            self.driver_mut(block.engine)?.load_block(bus, block.part.index(), &*block.image)?;
        }
        bus.write(regs::CARD_UNIT_ENABLE, 0)?;
        self.enabled = 0;
        drain(bus, all)?;
        // All of them before the first is filled: tables of a group may be placed where those of another one were.
        bus.write(regs::CARD_UNIT_WRITE_MASK, all)?;
        bus.write(UNIT_WINDOW + regs::UNIT_RESET, 1)?;
        for group in &image.groups {
            let load = LoadUnits { join: false, keep: false, ..self.whole(group) };
            self.fill(bus, load, group)?;
        }
        bus.write(regs::CARD_POLICY, self.policy.code())?;
        bus.write(regs::CARD_UNIT_INGRESS, self.ingress())?;
        self.enable(bus, all)?;
        start(bus, all)?;
        self.asleep = self.await_slots(bus, all)?;
        bus.write(regs::CARD_PORT_ENABLE, (1 << self.ports) - 1)?;
        for Driven { engine, driver } in &mut self.drivers {
            driver.loaded(bus, &image.of_engine(*engine))?;
        }
        Ok(())
    }

    /// Sets the time that the programs of units see, in ns, where it stands from now on; without one it goes on from
    /// where it stands.
    pub(crate) fn set_unit_time(&self, bus: &mut dyn Bus, ns: Option<u64>) -> Result<(), CardError> {
        bus.write(regs::CARD_UNIT_WRITE_MASK, u32::MAX >> (32 - self.units))?;
        match ns {
            Some(ns) => {
                bus.write(UNIT_WINDOW + regs::UNIT_TIME_H, (ns >> 32) as u32)?;
                bus.write(UNIT_WINDOW + regs::UNIT_TIME_L, ns as u32)
            }
            None => bus.write(UNIT_WINDOW + regs::UNIT_TIME_RUN, 1),
        }
    }

    fn whole(&self, group: &PartImage) -> LoadUnits {
        let units = self.groups[group.part.index()].mask();
        LoadUnits { group: group.part.index(), units, join: false, keep: false, by_flow: self.by_flow }
    }

    /// Loads one unit while the others go on, and leaves it out of the dispatch: it gets no more frames, sends those
    /// that it has, and restarts with the variables that its program keeps. If it does not give up its frames, even
    /// after the evict interrupt, they are lost, and no variable is kept.
    pub(crate) fn load_unit(&mut self, bus: &mut dyn Bus, unit: u32, image: &Image) -> Result<(), DeviceError> {
        let none = || DeviceError::Unsupported(format!("there is nothing to load unit {unit} with"));
        let image = image.of_unit(unit).ok_or_else(none)?;
        let bit = 1 << unit;
        self.enable(bus, self.enabled & !bit)?;
        drain(bus, bit)?;
        if bus.read(regs::CARD_UNITS_IDLE)? & bit == 0 {
            bus.write(regs::CARD_UNIT_WRITE_MASK, bit)?;
            bus.write(UNIT_WINDOW + regs::UNIT_EVICT, 1)?;
            drain(bus, bit)?;
        }
        let keep = bus.read(regs::CARD_UNITS_IDLE)? & bit != 0;
        // Memories outlive the reset, and nothing changes them any more.
        bus.write(regs::CARD_UNIT_WRITE_MASK, bit)?;
        bus.write(UNIT_WINDOW + regs::UNIT_RESET, 1)?;
        let load = LoadUnits { units: bit, join: true, keep, ..self.whole(image) };
        self.fill(bus, load, image)?;
        Ok(start(bus, bit)?)
    }

    /// Loads one unit while the others go on, and gives it frames again once it has declared its slots; not while it is
    /// halted before.
    pub(crate) fn reload_unit(&mut self, bus: &mut dyn Bus, unit: u32, image: &Image) -> Result<(), DeviceError> {
        let enabled = self.enabled;
        self.load_unit(bus, unit, image)?;
        let halted = self.await_slots(bus, 1 << unit)?;
        self.asleep |= halted & enabled;
        self.enable(bus, enabled & !halted)
    }

    /// Has the engine load units, which are in reset, and lets the dispatcher forget their slots.
    fn fill(&mut self, bus: &mut dyn Bus, load: LoadUnits, image: &PartImage) -> Result<(), DeviceError> {
        bus.write(regs::CARD_UNIT_WRITE_MASK, load.units)?;
        self.driver_mut(image.engine)?.load_units(bus, load, &*image.image)?;
        for unit in units_of(load.units) {
            self.reported[unit as usize] = 0;
        }
        // Not earlier: frames that were on their way out at the reset have given their slots back meanwhile.
        Ok(bus.write(regs::CARD_UNIT_FLUSH, load.units)?)
    }

    /// Gives a part another program between two frames.
    pub(crate) fn swap(&mut self, bus: &mut dyn Bus, image: &PartImage) -> Result<Kept, EngineError> {
        self.driver_mut(image.engine)?.swap(bus, image.part.index(), &*image.image)
    }

    /// Fills the tables of a part again.
    pub(crate) fn refill(&mut self, bus: &mut dyn Bus, image: &PartImage) -> Result<(), EngineError> {
        self.driver_mut(image.engine)?.refill(bus, image.part.index(), &*image.image)
    }

    /// Carries out a request of a service.
    pub(crate) fn call(&mut self, bus: &mut dyn Bus, request: &Request) -> Result<Json, EngineError> {
        let has = |engine: &dyn Engine| engine.services().iter().any(|service| service.name == request.service);
        if let Some(driven) = self.drivers.iter_mut().find(|driven| has(driven.engine)) {
            return driven.driver.call(bus, request);
        }
        let name = &request.service;
        Err(EngineError::unsupported(match engines().iter().find(|engine| has(**engine)) {
            Some(engine) => format!("`{name}` is for parts of the engine {}, and this design has none", engine.name()),
            None => format!("there is no service `{name}`"),
        }))
    }

    fn driver_mut(&mut self, engine: &dyn Engine) -> Result<&mut dyn Driver, EngineError> {
        match self.drivers.iter_mut().find(|driven| driven.engine.name() == engine.name()) {
            Some(driven) => Ok(driven.driver.as_mut()),
            None => Err(EngineError::unsupported(format!("the design has no part of the engine {}", engine.name()))),
        }
    }

    /// The driver of a unit.
    fn driver_of(&self, unit: u32) -> Option<&dyn Driver> {
        let engine = self.groups.iter().find(|group| group.units.contains(&unit))?.engine;
        self.drivers.iter().find(|driven| driven.engine.name() == engine.name()).map(|driven| driven.driver.as_ref())
    }

    /// Has all drivers do something.
    pub(crate) fn each_driver(
        &mut self,
        mut work: impl FnMut(&mut dyn Driver) -> Result<(), EngineError>,
    ) -> Result<(), EngineError> {
        self.drivers.iter_mut().try_for_each(|driven| work(driven.driver.as_mut()))
    }

    /// Takes the lines that programs have printed.
    pub(crate) fn take_log(&mut self, bus: &mut dyn Bus) -> Result<Log, EngineError> {
        let mut log = Log::default();
        self.each_driver(|driver| {
            log.append(driver.take_log(bus)?);
            Ok(())
        })?;
        Ok(log)
    }

    /// Lets all drivers answer the records of their blocks; false when there were none.
    pub(crate) fn serve(&mut self, bus: &mut dyn Bus) -> Result<bool, EngineError> {
        let mut any = false;
        self.each_driver(|driver| {
            any |= driver.serve(bus)?;
            Ok(())
        })?;
        Ok(any)
    }

    /// Units that the dispatcher chooses among, a bit each.
    pub(crate) fn ingress(&self) -> u32 {
        self.groups.iter().filter(|group| group.ports).fold(0, |mask, group| mask | group.mask())
    }

    /// Has the dispatcher choose among the units of these groups, by their indices. Frames that others have they still
    /// send; none is lost.
    pub(crate) fn set_ingress(&mut self, bus: &mut dyn Bus, groups: &[usize]) -> Result<(), DeviceError> {
        if groups.is_empty() {
            return Err(DeviceError::Unsupported(
                "name a group of units that shall have the frames of the ports".to_string(),
            ));
        }
        let before = self.ingress();
        for (index, group) in self.groups.iter_mut().enumerate() {
            group.ports = groups.contains(&index);
        }
        // As in `enable`: the table never names a unit that gets no frames.
        bus.write(regs::CARD_UNIT_INGRESS, before | self.ingress())?;
        self.enable(bus, self.enabled)?;
        Ok(bus.write(regs::CARD_UNIT_INGRESS, self.ingress())?)
    }

    /// Lets a unit reach these bytes of host memory and no others.
    pub(crate) fn set_host_range(
        &self,
        bus: &mut dyn Bus,
        unit: u32,
        range: RangeInclusive<u64>,
    ) -> Result<(), DeviceError> {
        if unit >= self.units {
            let text = format!("the card has no unit {unit}: its units are 0 to {}", self.units - 1);
            return Err(DeviceError::Unsupported(text));
        }
        Ok(give_host_range(bus, unit..unit + 1, range)?)
    }

    /// Numbers of the units of the mask.
    fn each(&self, units: u32) -> impl Iterator<Item = u32> + use<> {
        (0..self.units).filter(move |unit| units >> unit & 1 == 1)
    }

    /// Reports the units that keep a card from taking frames.
    pub(crate) fn report_asleep(&self, bus: &mut dyn Bus, faults: &mut Vec<String>) -> Result<(), DeviceError> {
        for unit in self.each(self.asleep) {
            let place = self.place(unit, read_unit(bus, unit, regs::UNIT_PC)?);
            faults.push(format!(
                "unit {unit} was halted before it had declared its slots, {place}; no frame enters before it has"
            ));
        }
        Ok(())
    }

    /// Waits for the slots of the units of the mask; returns halted units instead.
    fn await_slots(&self, bus: &mut dyn Bus, units: u32) -> Result<u32, DeviceError> {
        let (mut waited, mut halted) = (0, 0);
        for unit in self.each(units) {
            while !self.has_slots(bus, unit, false)? {
                if self.is_debugged(bus, unit)? {
                    halted |= 1 << unit;
                    break;
                }
                self.has_slots(bus, unit, waited >= BOOT_LIMIT)?;
                bus.pass(LOOK)?;
                waited += LOOK;
            }
        }
        Ok(halted)
    }

    /// Whether a debugger is at work at a unit.
    pub(crate) fn is_debugged(&self, bus: &mut dyn Bus, unit: u32) -> Result<bool, DeviceError> {
        let is_halted = read_unit(bus, unit, regs::UNIT_HALTED)? != 0;
        Ok(is_halted || read_unit(bus, unit, regs::UNIT_HALT)? != 0)
    }

    /// Units at which a debugger is at work.
    pub(crate) fn debugged(&self, bus: &mut dyn Bus) -> Result<u32, DeviceError> {
        (0..self.units).try_fold(0, |mask, unit| Ok(mask | u32::from(self.is_debugged(bus, unit)?) << unit))
    }

    /// Units of those asleep that have declared their slots by now: they are no longer asleep.
    pub(crate) fn take_woken(&mut self, bus: &mut dyn Bus) -> Result<u32, DeviceError> {
        let mut woken = 0;
        for unit in self.each(self.asleep) {
            woken |= u32::from(self.has_slots(bus, unit, false)?) << unit;
        }
        self.asleep &= !woken;
        Ok(woken)
    }

    /// Whether a unit has declared its slots. If it is overdue, an error gives the reason.
    pub(crate) fn has_slots(&self, bus: &mut dyn Bus, unit: u32, had_to: bool) -> Result<bool, DeviceError> {
        bus.write(regs::CARD_SLOTS_UNIT, unit)?;
        if bus.read(regs::CARD_SLOTS_TOTAL)? > 0 {
            return Ok(true);
        }
        if !had_to {
            return Ok(false);
        }
        let pc = read_unit(bus, unit, regs::UNIT_PC)?;
        let waits = || {
            format!(
                "unit {unit} has not declared its slots {BOOT_LIMIT} cycles after reset, {}; \
                 its program must set slots up before it waits for frames",
                self.place(unit, pc)
            )
        };
        let flags = read_unit(bus, unit, regs::UNIT_ERRORS)?;
        let errors = match self.driver_of(unit) {
            Some(driver) if flags != 0 => driver.explain(bus, unit, flags)?,
            _ => Vec::new(),
        };
        // Slots that the card refused are an error flag; the program may have gone on since.
        let told = match errors.is_empty() {
            true => self.ending(bus, unit, pc)?,
            false => Some(format!("unit {unit}: {}", errors.join("; "))),
        };
        Err(CardError::Broken(told.unwrap_or_else(waits)).into())
    }

    /// Names the units that take frames, in the flow table and in the dispatcher. The table never names a unit that the
    /// dispatcher would refuse frames: a unit that comes is enabled before it is named, a unit that goes is enabled
    /// until it is named no more.
    pub(crate) fn enable(&mut self, bus: &mut dyn Bus, units: u32) -> Result<(), DeviceError> {
        let either = self.enabled | units;
        let some_come = either != self.enabled;
        if some_come {
            bus.write(regs::CARD_UNIT_ENABLE, either)?;
        }
        let all: Vec<u32> = self.each(self.ingress()).collect();
        for entry in 0..regs::CARD_RETA_COUNT {
            if let Some(unit) = unit_of_flows(entry as usize, &all, units) {
                bus.write(regs::CARD_RETA + 4 * entry, unit)?;
            }
        }
        if !some_come || either != units {
            bus.write(regs::CARD_UNIT_ENABLE, units)?;
        }
        self.enabled = units;
        Ok(())
    }

    /// A program counter of a unit in words: `pc=0x1c (forward.c:12 (main))`.
    pub(crate) fn place(&self, unit: u32, pc: u32) -> String {
        match self.driver_of(unit).and_then(|driver| driver.locate(unit, pc)) {
            Some(place) => format!("pc=0x{pc:x} ({place})"),
            None => format!("pc=0x{pc:x}"),
        }
    }

    /// Reports a unit that is stuck.
    pub(crate) fn fault(&self, bus: &mut dyn Bus, fault: &Fault) -> Result<String, DeviceError> {
        let ending = self.ending(bus, fault.unit.into(), fault.pc)?;
        Ok(ending.unwrap_or_else(|| format!("{fault}, {}", self.place(fault.unit.into(), fault.pc))))
    }

    /// Reports a unit with a clock that holds frames and has released none for [`HELD_LIMIT`] cycles.
    pub(crate) fn stands(&self, bus: &mut dyn Bus, unit: u32) -> Result<String, DeviceError> {
        let pc = read_unit(bus, unit, regs::UNIT_PC)?;
        let waits_at = match self.driver_of(unit) {
            Some(driver) => driver.waits_at(bus, unit, pc)?,
            None => None,
        };
        if let Some(pc) = waits_at {
            let slots = read_unit(bus, unit, regs::UNIT_ACTIVE_SLOTS)?;
            return self.fault(bus, &Fault { unit: unit as u8, pc, slots, cause: Cause::Waits });
        }
        let hangs = || {
            let limit = HELD_LIMIT / 1000;
            format!("unit {unit} has not released a slot for {limit},000 cycles, {}", self.place(unit, pc))
        };
        Ok(self.ending(bus, unit, pc)?.unwrap_or_else(hangs))
    }

    /// Why the program of a unit at `pc` ended, if it ended by itself.
    fn ending(&self, bus: &mut dyn Bus, unit: u32, pc: u32) -> Result<Option<String>, DeviceError> {
        let Some(driver) = self.driver_of(unit) else { return Ok(None) };
        Ok(driver.ending(bus, unit, pc)?.map(|text| format!("unit {unit}: {text}")))
    }

    /// Adds the meaning of the units' error flags to the faults, once for all units with the same error. Flags that
    /// were reported before are removed from the counters, until the next load.
    pub(crate) fn report_errors(
        &mut self,
        bus: &mut dyn Bus,
        units: &mut [UnitCounters],
        faults: &mut Vec<String>,
    ) -> Result<(), DeviceError> {
        for (UnitCounters { errors, .. }, reported) in units.iter_mut().zip(&mut self.reported) {
            *errors &= !*reported;
            *reported |= *errors;
        }
        let mut cause = None;
        // Sentences, and the units of each, in order of their first occurrence.
        let mut said: Vec<(String, Vec<u32>)> = Vec::new();
        for (unit, UnitCounters { errors, .. }) in (0..).zip(units.iter()).filter(|(_, unit)| unit.errors != 0) {
            let Some(driver) = self.driver_of(unit) else { continue };
            cause = cause.or(driver.cause(bus, unit, *errors)?);
            for text in driver.explain(bus, unit, *errors)? {
                // The unit may have been reported as stuck with the same sentence.
                faults.retain(|fault| *fault != format!("unit {unit}: {text}"));
                match said.iter_mut().find(|(other, _)| *other == text) {
                    Some((_, units)) => units.push(unit),
                    None => said.push((text, vec![unit])),
                }
            }
        }
        faults.extend(said.into_iter().map(|(text, units)| format!("{}: {text}", numbers("unit", &units))));
        if let Some(cause) = cause {
            faults.insert(0, cause);
        }
        Ok(())
    }

    /// All counters of the card except those of inline blocks.
    pub(crate) fn counters(&mut self, bus: &mut dyn Bus) -> Result<Counters, DeviceError> {
        let mut units = (0..self.units).map(|unit| unit_counters(bus, unit)).collect::<Result<Vec<_>, _>>()?;
        self.count_units(bus, &mut units)?;
        Ok(Counters {
            ports: (0..self.ports).map(|port| stream_counters(bus, port)).collect::<Result<_, _>>()?,
            host: stream_counters(bus, HOST_STREAM)?,
            loopback: stream_counters(bus, LOOPBACK_STREAM)?,
            units,
            host_memory: host_memory_counters(bus)?,
            inline: None,
        })
    }

    /// The work of all programs so far, modulo 2^32 ([`Driver::steps`]).
    pub(crate) fn steps(&mut self, bus: &mut dyn Bus) -> Result<u32, DeviceError> {
        let mut sum = 0u32;
        for group in &self.groups {
            let found = self.drivers.iter_mut().find(|driven| driven.engine.name() == group.engine.name());
            let Some(Driven { driver, .. }) = found else { continue };
            for unit in group.units.clone() {
                sum = sum.wrapping_add(driver.steps(bus, unit)?);
            }
        }
        Ok(sum)
    }

    /// Adds the counters that units have in registers of their engines.
    pub(crate) fn count_units(&mut self, bus: &mut dyn Bus, units: &mut [UnitCounters]) -> Result<(), DeviceError> {
        for group in &self.groups {
            let found = self.drivers.iter_mut().find(|driven| driven.engine.name() == group.engine.name());
            let Some(Driven { driver, .. }) = found else { continue };
            for unit in group.units.clone() {
                if let Some(counters) = units.get_mut(unit as usize) {
                    driver.count(bus, unit, counters)?;
                }
            }
        }
        Ok(())
    }

    /// Counters of the inline blocks; `of_shell` gives those of the shell.
    pub(crate) fn block_counters(
        &mut self,
        bus: &mut dyn Bus,
        mut of_shell: impl FnMut(&mut dyn Bus, usize) -> Result<BlockCounters, CardError>,
    ) -> Result<Vec<BlockCounters>, DeviceError> {
        let blocks = self.blocks.clone();
        let count = |(block, (name, engine)): (usize, (String, &'static dyn Engine))| {
            let counters = of_shell(bus, block)?;
            let own = self.driver_mut(engine)?.count_block(bus, block)?;
            Ok(BlockCounters { name, engine: engine.name().to_owned(), own, ..counters })
        };
        blocks.into_iter().enumerate().map(count).collect()
    }
}

/// Ascending numbers of things in words: `unit 3`, `units 0..15`, `units 0, 2..4`.
fn numbers(what: &str, numbers: &[u32]) -> String {
    let ranges = numbers.chunk_by(|one, next| one + 1 == *next).map(|range| match range {
        [first, .., last] => format!("{first}..{last}"),
        [only] => only.to_string(),
        [] => String::new(),
    });
    let plural = if numbers.len() == 1 { "" } else { "s" };
    format!("{what}{plural} {}", ranges.collect::<Vec<_>>().join(", "))
}

/// The unit of an entry of the flow table: its own, of `all` units in turn. While that unit is not `enabled`, another
/// unit stands in, a different one for each entry of the unit, and keeps the entry while others leave and return. When
/// a unit leaves, only its own flows move, and they return with it.
fn unit_of_flows(entry: usize, all: &[u32], enabled: u32) -> Option<u32> {
    let (round, own) = (entry / all.len().max(1), entry % all.len().max(1));
    let others = (0..all.len().saturating_sub(1)).map(|next| (own + 1 + (round + next) % (all.len() - 1)) % all.len());
    [own].into_iter().chain(others).filter_map(|place| all.get(place).copied()).find(|unit| enabled >> unit & 1 == 1)
}

/// Lets the units of the mask go.
fn start(bus: &mut dyn Bus, units: u32) -> Result<(), CardError> {
    bus.write(regs::CARD_UNIT_WRITE_MASK, units)?;
    bus.write(UNIT_WINDOW + regs::UNIT_RESET, 0)
}

/// Lets units reach these bytes of host memory, and no others.
fn give_host_range(bus: &mut dyn Bus, mut units: Range<u32>, range: RangeInclusive<u64>) -> Result<(), CardError> {
    let (base, limit) = if range.is_empty() { (u64::MAX, 0) } else { (*range.start(), *range.end()) };
    bus.write(regs::CARD_MEMORY_BASE_L, base as u32)?;
    bus.write(regs::CARD_MEMORY_BASE_H, (base >> 32) as u32)?;
    bus.write(regs::CARD_MEMORY_LIMIT_L, limit as u32)?;
    // The write of the last word gives the unit all four.
    units.try_for_each(|unit| {
        bus.write(regs::CARD_MEMORY_UNIT, unit)?;
        bus.write(regs::CARD_MEMORY_LIMIT_H, (limit >> 32) as u32)
    })
}

/// Waits until the units of the mask hold no frames, or one must be taken to hang.
fn drain(bus: &mut dyn Bus, units: u32) -> Result<(), CardError> {
    let mut waited = 0;
    while bus.read(regs::CARD_UNITS_IDLE)? & units != units && waited < HELD_LIMIT {
        bus.pass(LOOK)?;
        waited += LOOK;
    }
    Ok(())
}

fn stream_counters(bus: &mut dyn Bus, stream: u32) -> Result<PortCounters, CardError> {
    let base = regs::CARD_STREAM_BASE + stream * regs::CARD_STREAM_STRIDE;
    let mut read = |register: u32| read_count(bus, base + register, regs::CARD_COUNT_H);
    Ok(PortCounters {
        rx_frames: read(regs::CARD_STREAM_RX_FRAMES)?,
        rx_bytes: read(regs::CARD_STREAM_RX_BYTES)?,
        rx_stalls: read(regs::CARD_STREAM_RX_STALLS)?,
        tx_frames: read(regs::CARD_STREAM_TX_FRAMES)?,
        tx_bytes: read(regs::CARD_STREAM_TX_BYTES)?,
        tx_stalls: read(regs::CARD_STREAM_TX_STALLS)?,
        drop_overflow: read(regs::CARD_STREAM_DROP_OVERFLOW)?,
        drop_oversize: read(regs::CARD_STREAM_DROP_OVERSIZE)?,
        drop_runt: read(regs::CARD_STREAM_DROP_RUNT)?,
        drop_damaged: read(regs::CARD_STREAM_DROP_DAMAGED)?,
        drop_disabled: read(regs::CARD_STREAM_DROP_DISABLED)?,
        drop_policy: read(regs::CARD_STREAM_DROP_POLICY)?,
        drop_unsent: read(regs::CARD_STREAM_DROP_UNSENT)?,
    })
}

fn host_memory_counters(bus: &mut dyn Bus) -> Result<HostMemoryCounters, CardError> {
    let mut read = |register: u32| read_count(bus, register, regs::CARD_COUNT_H);
    Ok(HostMemoryCounters {
        reads: read(regs::CARD_HOST_READS)?,
        read_bytes: read(regs::CARD_HOST_READ_BYTES)?,
        writes: read(regs::CARD_HOST_WRITES)?,
        write_bytes: read(regs::CARD_HOST_WRITE_BYTES)?,
        errors: read(regs::CARD_HOST_ERRORS)?,
        denied: read(regs::CARD_MEMORY_DENIED)?,
    })
}

fn unit_counters(bus: &mut dyn Bus, unit: u32) -> Result<UnitCounters, CardError> {
    bus.write(regs::CARD_UNIT_READ, unit)?;
    let errors = bus.read(UNIT_WINDOW + regs::UNIT_ERRORS)?;
    let mut read = |register: u32| read_count(bus, UNIT_WINDOW + register, UNIT_WINDOW + regs::UNIT_COUNT_H);
    Ok(UnitCounters {
        rx_frames: read(regs::UNIT_RX_FRAMES)?,
        rx_bytes: read(regs::UNIT_RX_BYTES)?,
        rx_stalls: read(regs::UNIT_RX_STALLS)?,
        tx_frames: read(regs::UNIT_TX_FRAMES)?,
        tx_bytes: read(regs::UNIT_TX_BYTES)?,
        tx_stalls: read(regs::UNIT_TX_STALLS)?,
        blocked: read(regs::UNIT_BLOCKED)?,
        refused: read(regs::UNIT_REFUSED)?,
        generated: read(regs::UNIT_GENERATED)?,
        errors,
        ..UnitCounters::default()
    })
}

#[cfg(test)]
mod tests {
    use penstock_engine::{Native, Root};

    use super::*;
    use crate::testing;

    const UNIT_DMEM: u32 = 0x80_0000;

    /// The host's actions, in order.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    enum Step {
        Write(u32, u32),
        Pass(u64),
    }

    /// A card whose four units take several checks until they are empty.
    struct Notes {
        looks: u64,
        steps: Vec<Step>,
    }

    impl Bus for Notes {
        fn read(&mut self, address: u32) -> Result<u32, CardError> {
            Ok(match address {
                regs::CARD_UNITS_IDLE => {
                    let idle = self.looks == 0;
                    self.looks = self.looks.saturating_sub(1);
                    if idle { 0xF } else { 0xB }
                }
                regs::CARD_SLOTS_TOTAL => 32,
                _ => 0,
            })
        }

        fn write(&mut self, address: u32, value: u32) -> Result<(), CardError> {
            self.steps.push(Step::Write(address, value));
            Ok(())
        }

        fn pass(&mut self, cycles: u64) -> Result<(), CardError> {
            self.steps.push(Step::Pass(cycles));
            Ok(())
        }

        fn native(&mut self) -> Option<&mut dyn Native> {
            None
        }
    }

    #[test]
    fn units_drain_before_a_reset_and_slots_are_forgotten_at_its_end() {
        let design = testing::card("round-robin", 4, &testing::program("forward.c"));
        let image = Image::of(&Root::find().unwrap(), &design).unwrap();
        for (looks, waits) in [(0, 0), (1, LOOK), (7, 7 * LOOK), (u64::MAX, 10_000)] {
            let mut notes = Notes { looks, steps: Vec::new() };
            Host::new(&design).load(&mut notes, &image).unwrap();
            let steps = notes.steps;
            let at = |step| {
                let places: Vec<_> = (0..steps.len()).filter(|&i| steps[i] == step).collect();
                assert_eq!(places.len(), 1, "{step:x?} at {places:?}");
                places[0]
            };
            let passes = || steps.iter().enumerate().filter(|(_, step)| matches!(step, Step::Pass(_)));
            let waited: u64 = passes().map(|(_, step)| if let Step::Pass(cycles) = step { *cycles } else { 0 }).sum();
            assert_eq!(waited, waits);
            let closed = at(Step::Write(regs::CARD_PORT_ENABLE, 0)).max(at(Step::Write(regs::CARD_UNIT_ENABLE, 0)));
            let reset = at(Step::Write(UNIT_WINDOW + regs::UNIT_RESET, 1));
            assert!(passes().all(|(place, _)| closed < place && place < reset));
            let is_memory =
                |step: &Step| matches!(step, Step::Write(address, _) if *address >= UNIT_WINDOW + UNIT_DMEM);
            let first_word = steps.iter().position(is_memory).unwrap();
            let last_word = steps.iter().rposition(is_memory).unwrap();
            let flush = at(Step::Write(regs::CARD_UNIT_FLUSH, 0xF));
            let enable = at(Step::Write(regs::CARD_UNIT_ENABLE, 0xF));
            let start = at(Step::Write(UNIT_WINDOW + regs::UNIT_RESET, 0));
            let open = at(Step::Write(regs::CARD_PORT_ENABLE, 3));
            let order = [closed, reset, first_word, last_word, flush, enable, start, open];
            assert!(order.is_sorted(), "{order:?}");
        }
    }

    #[test]
    fn only_flows_of_a_unit_that_goes_change_theirs() {
        for units in 1..=32usize {
            let all: Vec<u32> = (0..units as u32).collect();
            let enabled = u32::MAX >> (32 - units);
            let table = |enabled| (0..128).map(|entry| unit_of_flows(entry, &all, enabled)).collect::<Vec<_>>();
            let whole = table(enabled);
            let counts = |table: &[Option<u32>], unit| table.iter().filter(|of| **of == Some(unit)).count();
            assert!(all.iter().all(|unit| (128 / units..=128usize.div_ceil(units)).contains(&counts(&whole, *unit))));
            assert_eq!(table(0), [None; 128]);
            for gone in &all {
                let without = table(enabled & !(1 << gone));
                for (then, now) in whole.iter().zip(&without) {
                    assert!(units == 1 || now.is_some_and(|unit| unit != *gone));
                    assert!(then == now || *then == Some(*gone), "{units} units without {gone}: {then:?} to {now:?}");
                }
                // Nobody gets more than one flow more of every few.
                let most = all.iter().map(|unit| counts(&without, *unit)).max().unwrap_or(0);
                let share = 128usize.div_ceil(units);
                assert!(
                    units == 1 || most <= share + share.div_ceil(units - 1),
                    "{units} units without {gone}: {most}"
                );
                // Units that stand in keep their entries while another one leaves.
                let other = (gone + 1) % units as u32;
                for (one, two) in without.iter().zip(&table(enabled & !(1 << gone | 1 << other))) {
                    assert!(one == two || *one == Some(other) || units < 3);
                }
            }
        }
    }

    #[test]
    fn units_come_before_they_are_named_and_go_after() {
        let mut host = Host::new(&testing::card("flow-hash", 4, &testing::program("forward.c")));
        // Units enabled, then named, as the dispatcher sees them.
        let (mut enabled, mut named) = (0u32, [None; 128]);
        for units in [0xF, 0xD, 0x5, 0xA, 0x8, 0x7, 0xF] {
            let mut notes = Notes { looks: 0, steps: Vec::new() };
            host.enable(&mut notes, units).unwrap();
            for step in notes.steps {
                match step {
                    Step::Write(regs::CARD_UNIT_ENABLE, mask) => enabled = mask,
                    Step::Write(address, unit) => named[(address - regs::CARD_RETA) as usize / 4] = Some(unit),
                    Step::Pass(_) => {}
                }
                let sound = named.iter().flatten().all(|unit| enabled >> unit & 1 == 1);
                assert!(sound, "{units:#x}: {enabled:#x}, {named:?}");
            }
            assert_eq!(enabled, units);
        }
    }
}
