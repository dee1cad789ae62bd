// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The host's side of a card: brings it up and reads it out over the host address space (shell/regs/card.rdl),
//! the same on every target.

use std::ops::Range;
use std::sync::Arc;

use penstock_rpu_sdk::{DMEM_BASE, Firmware};
use penstock_shell::Accelerators;

use crate::design::{Design, Group, Policy, mask_of};
use crate::device::DeviceError;
use crate::image::{GroupImage, Image, Program};
use crate::maps::{self, Map};
use crate::outcome::{Counters, HostMemoryCounters, PortCounters, UnitCounters};
use crate::regs;
use crate::window::{ROW_BANK_BYTES, ROW_BYTES, UNIT_DMEM, UNIT_IMEM, UNIT_MAPS, UNIT_ROWS, UNIT_TABLES, UNIT_WINDOW};
use crate::xdp::{RowImage, XdpProgram};

/// Streams of the register map behind the Ethernet ports.
const HOST_STREAM: u32 = 4;
pub const LOOPBACK_STREAM: u32 = 5;

/// Cycles that a unit may hold a slot without releasing any.
pub const HELD_LIMIT: u64 = 10_000;
/// Cycles that firmware may take to declare its slots.
pub const BOOT_LIMIT: u64 = 100_000;
/// Cycles between two looks at whether it has, or at whether units are empty.
pub const LOOK: u64 = 100;

/// How a target reaches the host address space.
pub trait Bus {
    /// Reads a register.
    fn read(&mut self, address: u32) -> Result<u32, DeviceError>;

    /// Writes a register.
    fn write(&mut self, address: u32, value: u32) -> Result<(), DeviceError>;

    /// Gives the xdp units of the mask, which UNIT_WRITE_MASK names, too, a program. Maps that units share begin anew unless the units of the
    /// mask are to `join` others, which run it already.
    fn load_xdp(&mut self, units: u32, program: &XdpProgram, join: bool) -> Result<(), DeviceError>;

    /// Lets the card work for about so many cycles.
    fn pass(&mut self, cycles: u64) -> Result<(), DeviceError>;
}

/// What the host knows about a card.
pub struct Host {
    pub ports: u32,
    pub units: u32,
    policy: Policy,
    groups: Vec<Group>,
    /// Units that take frames, one bit each.
    pub enabled: u32,
    /// Units that shall, and that were halted before they had declared their slots; they may run by now.
    pub asleep: u32,
    /// Program of each unit.
    firmware: Vec<Option<Arc<Firmware>>>,
    /// XDP program of each group of units: the one that was loaded last.
    xdp: Vec<Option<Arc<XdpProgram>>>,
    /// Error flags of each unit that have been told since the load.
    pub(crate) told: Vec<u32>,
}

impl Host {
    pub fn new(design: &Design) -> Self {
        Self {
            ports: design.ports,
            units: design.units(),
            policy: design.policy,
            groups: design.groups.clone(),
            enabled: 0,
            asleep: 0,
            firmware: vec![None; design.units() as usize],
            xdp: vec![None; design.groups.len()],
            told: vec![0; design.units() as usize],
        }
    }

    /// Loads every unit, sets the dispatcher up, and opens the ports once every unit has declared its slots. For those that are
    /// halted only the targets wait: they let no frame in before. What the units still
    /// have of an earlier program's frames leaves first, but for those that go over loopback: no unit takes them, so they are dropped
    /// as `policy`. What a unit does not give up is lost.
    pub fn load(&mut self, bus: &mut impl Bus, image: &Image) -> Result<(), DeviceError> {
        let all = u32::MAX >> (32 - self.units);
        bus.write(regs::CARD_PORT_ENABLE, 0)?;
        bus.write(regs::CARD_UNIT_ENABLE, 0)?;
        self.enabled = 0;
        drain(bus, all)?;
        // All of them before the first is filled: maps of a group may come to lie where those of another one were.
        bus.write(regs::CARD_UNIT_WRITE_MASK, all)?;
        bus.write(UNIT_WINDOW + regs::RPU_HOST_RESET, 1)?;
        for group in &image.groups {
            self.fill(bus, group.mask(), group, false)?;
        }
        bus.write(regs::CARD_POLICY, self.policy.code())?;
        bus.write(regs::CARD_UNIT_INGRESS, self.ingress())?;
        self.enable(bus, all)?;
        start(bus, all)?;
        self.asleep = self.await_slots(bus, all)?;
        bus.write(regs::CARD_PORT_ENABLE, (1 << self.ports) - 1)
    }

    /// Loads one unit while the others go on, and leaves it out of the dispatch: it gets no more frames, sends those that it has, and
    /// starts anew with the variables that its program keeps. What it does not give up, even when it is told to with the evict interrupt, is
    /// lost, and then nothing is kept.
    pub fn load_unit(&mut self, bus: &mut impl Bus, unit: u32, image: &Image) -> Result<(), DeviceError> {
        let none = || DeviceError::Unsupported(format!("there is nothing to load unit {unit} with"));
        let mut image = image.of_unit(unit).ok_or_else(none)?.clone();
        let bit = 1 << unit;
        self.enable(bus, self.enabled & !bit)?;
        drain(bus, bit)?;
        if bus.read(regs::CARD_UNITS_IDLE)? & bit == 0 {
            bus.write(regs::CARD_UNIT_WRITE_MASK, bit)?;
            bus.write(UNIT_WINDOW + regs::RPU_HOST_EVICT, 1)?;
            drain(bus, bit)?;
        }
        let is_idle = bus.read(regs::CARD_UNITS_IDLE)? & bit != 0;
        // Memories outlive the reset, and nothing changes them any more.
        bus.write(regs::CARD_UNIT_WRITE_MASK, bit)?;
        bus.write(UNIT_WINDOW + regs::RPU_HOST_RESET, 1)?;
        let before = self.firmware[unit as usize].clone().filter(|_| is_idle);
        if let (Some(before), Program::Rpu(next)) = (before, &mut image.program) {
            self.keep(bus, unit, &before, next)?;
        }
        self.fill(bus, bit, &image, true)?;
        start(bus, bit)
    }

    /// Puts the kept variables of the program that the unit runs into another program: those that it has under the same name and size.
    fn keep(&self, bus: &mut impl Bus, unit: u32, before: &Firmware, next: &mut Firmware) -> Result<(), DeviceError> {
        bus.write(regs::CARD_UNIT_READ, unit)?;
        for variable in &next.kept {
            let Some(old) = before.kept.iter().find(|old| (&old.name, old.size) == (&variable.name, variable.size))
            else {
                continue;
            };
            let (from, to) = (old.address - DMEM_BASE, (variable.address - DMEM_BASE) as usize);
            let mut bytes = Vec::new();
            for address in (from & !3..from + old.size).step_by(4) {
                bytes.extend(bus.read(UNIT_WINDOW + UNIT_DMEM + address)?.to_le_bytes());
            }
            let (skip, size) = ((from % 4) as usize, old.size as usize);
            next.dmem[to..to + size].copy_from_slice(&bytes[skip..skip + size]);
        }
        Ok(())
    }

    /// Loads one unit while the others go on, and gives it frames again once it has declared its slots; not while it is halted before.
    pub fn reload_unit(&mut self, bus: &mut impl Bus, unit: u32, image: &Image) -> Result<(), DeviceError> {
        let enabled = self.enabled;
        self.load_unit(bus, unit, image)?;
        let halted = self.await_slots(bus, 1 << unit)?;
        self.asleep |= halted & enabled;
        self.enable(bus, enabled & !halted)
    }

    /// Writes programs and tables into the units of the mask, which are in reset, and lets the dispatcher forget their slots.
    fn fill(&mut self, bus: &mut impl Bus, units: u32, image: &GroupImage, join: bool) -> Result<(), DeviceError> {
        bus.write(regs::CARD_UNIT_WRITE_MASK, units)?;
        let firmware = image.firmware().map(|firmware| Arc::new(firmware.clone()));
        if firmware.is_none() {
            let by_flow = matches!(self.policy, Policy::FlowHash | Policy::FlowHashDrop);
            bus.write(UNIT_WINDOW + regs::XDP_HOST_BY_FLOW, by_flow.into())?;
        }
        match &image.program {
            Program::Rpu(firmware) => fill_memories(bus, firmware)?,
            Program::Xdp(program) => {
                bus.load_xdp(units, program, join)?;
                self.note_xdp(units, program);
            }
            Program::Rows(rows) => load_rows(bus, rows, join)?,
        }
        fill_table(bus, &image.table)?;
        for unit in self.each(units) {
            self.firmware[unit as usize].clone_from(&firmware);
            self.told[unit as usize] = 0;
        }
        // Not earlier: frames that were on their way out at the reset have given their slots back meanwhile.
        bus.write(regs::CARD_UNIT_FLUSH, units)
    }

    /// Fills tables of these units while the programs stay.
    pub fn load_tables(&self, bus: &mut impl Bus, units: &Range<u32>, table: &[(u32, u32)]) -> Result<(), DeviceError> {
        bus.write(regs::CARD_UNIT_WRITE_MASK, mask_of(units))?;
        fill_table(bus, table)
    }

    /// Units that the dispatcher chooses among, a bit each.
    pub fn ingress(&self) -> u32 {
        self.groups.iter().filter(|group| group.ports).fold(0, |mask, group| mask | group.mask())
    }

    /// Has the dispatcher choose among the units of these groups, by their indices. Frames that others have they still send; none is lost.
    pub fn set_ingress(&mut self, bus: &mut impl Bus, groups: &[usize]) -> Result<(), DeviceError> {
        if groups.is_empty() {
            return Err(DeviceError::Unsupported(
                "name a group of units that shall have the frames of the ports".to_string(),
            ));
        }
        let before = self.ingress();
        for (index, group) in self.groups.iter_mut().enumerate() {
            group.ports = groups.contains(&index);
        }
        // As in `enable`: the table never names who gets no frames.
        bus.write(regs::CARD_UNIT_INGRESS, before | self.ingress())?;
        self.enable(bus, self.enabled)?;
        bus.write(regs::CARD_UNIT_INGRESS, self.ingress())
    }

    /// Accelerators of a unit.
    pub(crate) fn accelerators(&self, unit: u32) -> Accelerators {
        let group = self.groups.iter().find(|group| group.units.contains(&unit));
        group.map_or(Accelerators::default(), Group::accelerators)
    }

    /// Numbers of the units of the mask.
    fn each(&self, units: u32) -> impl Iterator<Item = u32> + use<> {
        (0..self.units).filter(move |unit| units >> unit & 1 == 1)
    }

    /// What is said about units that keep a card from taking frames.
    pub fn tell_asleep(&self, bus: &mut impl Bus, faults: &mut Vec<String>) -> Result<(), DeviceError> {
        for unit in self.each(self.asleep) {
            let place = self.place(unit, self.read_unit(bus, unit, regs::RPU_HOST_PC)?);
            faults.push(format!(
                "unit {unit} was halted before it had declared its slots, {place}; no frame enters before it has"
            ));
        }
        Ok(())
    }

    /// Waits for the slots of the units of the mask; gives those that are halted instead.
    fn await_slots(&self, bus: &mut impl Bus, units: u32) -> Result<u32, DeviceError> {
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
    pub fn is_debugged(&self, bus: &mut impl Bus, unit: u32) -> Result<bool, DeviceError> {
        let is_halted = self.read_unit(bus, unit, regs::RPU_HOST_HALTED)? != 0;
        Ok(is_halted || self.read_unit(bus, unit, regs::RPU_HOST_HALT)? != 0)
    }

    /// Units at which one is.
    pub fn debugged(&self, bus: &mut impl Bus) -> Result<u32, DeviceError> {
        (0..self.units).try_fold(0, |mask, unit| Ok(mask | u32::from(self.is_debugged(bus, unit)?) << unit))
    }

    /// Units of those asleep that have declared their slots by now: they are no longer.
    pub fn take_woken(&mut self, bus: &mut impl Bus) -> Result<u32, DeviceError> {
        let mut woken = 0;
        for unit in self.each(self.asleep) {
            woken |= u32::from(self.has_slots(bus, unit, false)?) << unit;
        }
        self.asleep &= !woken;
        Ok(woken)
    }

    /// Whether a unit has declared its slots. When it had to by now, an error says why it has not.
    pub fn has_slots(&self, bus: &mut impl Bus, unit: u32, had_to: bool) -> Result<bool, DeviceError> {
        bus.write(regs::CARD_SLOTS_UNIT, unit)?;
        if bus.read(regs::CARD_SLOTS_TOTAL)? > 0 {
            return Ok(true);
        }
        if !had_to {
            return Ok(false);
        }
        let pc = self.read_unit(bus, unit, regs::RPU_HOST_PC)?;
        let waits = || {
            format!(
                "unit {unit} has not declared its slots {BOOT_LIMIT} cycles after reset, {}; \
                 its program must set slots up before it waits for frames",
                self.place(unit, pc)
            )
        };
        Err(DeviceError::Card(self.end_of_program(bus, unit, pc)?.unwrap_or_else(waits)))
    }

    /// Names the units that take frames, in the flow table and in the dispatcher. The table never names one that the dispatcher would refuse
    /// frames: who comes is enabled before it is named, who goes is enabled until it is named no more.
    pub fn enable(&mut self, bus: &mut impl Bus, units: u32) -> Result<(), DeviceError> {
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

    /// Reads from the window of one unit.
    pub fn read_unit(&self, bus: &mut impl Bus, unit: u32, address: u32) -> Result<u32, DeviceError> {
        bus.write(regs::CARD_UNIT_READ, unit)?;
        bus.read(UNIT_WINDOW + address)
    }

    /// Takes down what XDP program units of the mask, and so of their groups, run.
    pub fn note_xdp(&mut self, units: u32, program: &Arc<XdpProgram>) {
        for (group, xdp) in self.groups.iter().zip(&mut self.xdp) {
            if group.mask() & units != 0 {
                *xdp = Some(Arc::clone(program));
            }
        }
    }

    /// The XDP program that units of a group run.
    pub fn xdp(&self, units: u32) -> Option<&Arc<XdpProgram>> {
        let of_group = self.groups.iter().position(|group| group.mask() & units != 0)?;
        self.xdp[of_group].as_ref()
    }

    /// The XDP programs that units run, each with those units.
    pub fn programs(&self) -> impl Iterator<Item = (u32, &Arc<XdpProgram>)> {
        let both = self.groups.iter().zip(&self.xdp);
        both.filter_map(|(group, program)| Some((group.mask(), program.as_ref()?)))
    }

    /// Maps of the XDP programs that units run.
    pub fn maps(&self) -> Vec<Map> {
        maps::list(&self.groups, &self.xdp)
    }

    /// The program that units run and that a map is of, as the card has it.
    pub fn program_of(&self, map: &Map) -> Option<&Arc<XdpProgram>> {
        self.xdp.iter().flatten().find(|program| program.number == map.program.number)
    }

    /// The program that a unit runs.
    pub fn firmware(&self, unit: u32) -> Option<&Firmware> {
        self.firmware.get(unit as usize)?.as_deref()
    }

    /// All counters of the card.
    pub fn counters(&self, bus: &mut impl Bus) -> Result<Counters, DeviceError> {
        Ok(Counters {
            ports: (0..self.ports).map(|port| stream_counters(bus, port)).collect::<Result<_, _>>()?,
            host: stream_counters(bus, HOST_STREAM)?,
            loopback: stream_counters(bus, LOOPBACK_STREAM)?,
            units: (0..self.units).map(|unit| unit_counters(bus, unit)).collect::<Result<_, _>>()?,
            host_memory: host_memory_counters(bus)?,
            inline: None,
        })
    }
}

/// The unit that an entry of the flow table names: its own, of `all` units in turn. While that is not among the `enabled` ones another one stands in,
/// for each of a unit's entries a different one, and goes on doing so while others come and go: so of the flows only those of a unit that goes
/// change theirs, and they come back to it.
fn unit_of_flows(entry: usize, all: &[u32], enabled: u32) -> Option<u32> {
    let (round, own) = (entry / all.len().max(1), entry % all.len().max(1));
    let others = (0..all.len().saturating_sub(1)).map(|next| (own + 1 + (round + next) % (all.len() - 1)) % all.len());
    [own].into_iter().chain(others).filter_map(|place| all.get(place).copied()).find(|unit| enabled >> unit & 1 == 1)
}

/// Writes firmware into the memories of the units that are written to.
fn fill_memories(bus: &mut impl Bus, firmware: &Firmware) -> Result<(), DeviceError> {
    for (base, memory) in [(UNIT_IMEM, &firmware.imem), (UNIT_DMEM, &firmware.dmem)] {
        for (index, bytes) in memory.chunks(4).enumerate() {
            bus.write(UNIT_WINDOW + base + 4 * index as u32, word_of(bytes))?;
        }
    }
    Ok(())
}

/// Up to four bytes as a word, zeros behind them.
pub fn word_of(bytes: &[u8]) -> u32 {
    bytes.iter().rev().fold(0, |word, byte| word << 8 | u32::from(*byte))
}

/// Gives the xdp units that are written to rows, and makes the maps that they share, unless they are to `join` units that run them already: how
/// cards in RTL and on FPGAs take a program.
pub fn load_rows(bus: &mut impl Bus, image: &RowImage, join: bool) -> Result<(), DeviceError> {
    write_rows(bus, image, 0)?;
    write_unit_maps(bus, image)?;
    bus.write(UNIT_WINDOW + regs::XDP_HOST_BANK, 0)?;
    if join { Ok(()) } else { maps::make::make(bus, image) }
}

/// Writes rows into a bank of the units that are written to.
pub fn write_rows(bus: &mut impl Bus, image: &RowImage, bank: u32) -> Result<(), DeviceError> {
    for (row, words) in (0..).zip(&image.rows) {
        let base = UNIT_WINDOW + UNIT_ROWS + bank * ROW_BANK_BYTES + row * ROW_BYTES;
        // Behind the control word stands none.
        for (place, word) in [0].into_iter().chain(2..).zip(words) {
            bus.write(base + 4 * place, *word)?;
        }
    }
    Ok(())
}

/// Writes maps of their own into the units that are written to.
pub fn write_unit_maps(bus: &mut impl Bus, image: &RowImage) -> Result<(), DeviceError> {
    for (first, bytes) in &image.unit {
        for (offset, bytes) in (*first..).step_by(4).zip(bytes.chunks(4)) {
            bus.write(UNIT_WINDOW + UNIT_MAPS + offset, word_of(bytes))?;
        }
    }
    Ok(())
}

/// Writes tables into the units that are written to.
fn fill_table(bus: &mut impl Bus, table: &[(u32, u32)]) -> Result<(), DeviceError> {
    table.iter().try_for_each(|(offset, word)| bus.write(UNIT_WINDOW + UNIT_TABLES + offset, *word))
}

/// Lets the units of the mask go.
fn start(bus: &mut impl Bus, units: u32) -> Result<(), DeviceError> {
    bus.write(regs::CARD_UNIT_WRITE_MASK, units)?;
    bus.write(UNIT_WINDOW + regs::RPU_HOST_RESET, 0)
}

/// Waits until the units of the mask hold no frames, or one must be taken to hang.
fn drain(bus: &mut impl Bus, units: u32) -> Result<(), DeviceError> {
    let mut waited = 0;
    while bus.read(regs::CARD_UNITS_IDLE)? & units != units && waited < HELD_LIMIT {
        bus.pass(LOOK)?;
        waited += LOOK;
    }
    Ok(())
}

fn stream_counters(bus: &mut impl Bus, stream: u32) -> Result<PortCounters, DeviceError> {
    let base = regs::CARD_STREAM_BASE + stream * regs::CARD_STREAM_STRIDE;
    let mut read = |register: u32| bus.read(base + register).map(u64::from);
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

fn host_memory_counters(bus: &mut impl Bus) -> Result<HostMemoryCounters, DeviceError> {
    let mut read = |register: u32| bus.read(register).map(u64::from);
    Ok(HostMemoryCounters {
        reads: read(regs::CARD_HOST_READS)?,
        read_bytes: read(regs::CARD_HOST_READ_BYTES)?,
        writes: read(regs::CARD_HOST_WRITES)?,
        write_bytes: read(regs::CARD_HOST_WRITE_BYTES)?,
        errors: read(regs::CARD_HOST_ERRORS)?,
    })
}

fn unit_counters(bus: &mut impl Bus, unit: u32) -> Result<UnitCounters, DeviceError> {
    bus.write(regs::CARD_UNIT_READ, unit)?;
    let errors = bus.read(UNIT_WINDOW + regs::RPU_HOST_ERRORS)?;
    let mut read = |register: u32| bus.read(UNIT_WINDOW + register).map(u64::from);
    Ok(UnitCounters {
        rx_frames: read(regs::RPU_HOST_RX_FRAMES)?,
        rx_bytes: read(regs::RPU_HOST_RX_BYTES)?,
        rx_stalls: read(regs::RPU_HOST_RX_STALLS)?,
        tx_frames: read(regs::RPU_HOST_TX_FRAMES)?,
        tx_bytes: read(regs::RPU_HOST_TX_BYTES)?,
        tx_stalls: read(regs::RPU_HOST_TX_STALLS)?,
        blocked: read(regs::RPU_HOST_BLOCKED)?,
        refused: read(regs::RPU_HOST_REFUSED)?,
        aborted: read(regs::XDP_HOST_ABORTED)?,
        wild: read(regs::XDP_HOST_WILD)?,
        generated: read(regs::RPU_HOST_GENERATED)?,
        errors,
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::root::Root;

    /// What the host did, in order.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    enum Step {
        Write(u32, u32),
        Pass(u64),
    }

    /// A card whose four units take some looks until they are empty.
    struct Notes {
        looks: u64,
        steps: Vec<Step>,
    }

    impl Bus for Notes {
        fn read(&mut self, address: u32) -> Result<u32, DeviceError> {
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

        fn write(&mut self, address: u32, value: u32) -> Result<(), DeviceError> {
            self.steps.push(Step::Write(address, value));
            Ok(())
        }

        fn load_xdp(&mut self, _units: u32, _program: &XdpProgram, _join: bool) -> Result<(), DeviceError> {
            Ok(())
        }

        fn pass(&mut self, cycles: u64) -> Result<(), DeviceError> {
            self.steps.push(Step::Pass(cycles));
            Ok(())
        }
    }

    #[test]
    fn units_drain_before_a_reset_and_slots_are_forgotten_at_its_end() {
        let text = "[card]\nname = \"test\"\nports = 2\n[dispatch]\npolicy = \"round-robin\"\n\
                    [[units]]\nengine = \"rpu\"\ncount = 4\nprogram = \"../engines/rpu/programs/forward.c\"\n";
        let root = Root::find().unwrap();
        let design = Design::parse(&root.join("designs/test.toml"), text).unwrap();
        let image = Image::of(&root, &design).unwrap();
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
            let reset = at(Step::Write(UNIT_WINDOW + regs::RPU_HOST_RESET, 1));
            assert!(passes().all(|(place, _)| closed < place && place < reset));
            let is_memory =
                |step: &Step| matches!(step, Step::Write(address, _) if *address >= UNIT_WINDOW + UNIT_DMEM);
            let first_word = steps.iter().position(is_memory).unwrap();
            let last_word = steps.iter().rposition(is_memory).unwrap();
            let flush = at(Step::Write(regs::CARD_UNIT_FLUSH, 0xF));
            let enable = at(Step::Write(regs::CARD_UNIT_ENABLE, 0xF));
            let start = at(Step::Write(UNIT_WINDOW + regs::RPU_HOST_RESET, 0));
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
                // Those who stand in stay while another one goes.
                let other = (gone + 1) % units as u32;
                for (one, two) in without.iter().zip(&table(enabled & !(1 << gone | 1 << other))) {
                    assert!(one == two || *one == Some(other) || units < 3);
                }
            }
        }
    }

    #[test]
    fn units_come_before_they_are_named_and_go_after() {
        let text = "[card]\nname = \"test\"\nports = 2\n[dispatch]\npolicy = \"flow-hash\"\n\
                    [[units]]\nengine = \"rpu\"\ncount = 4\nprogram = \"../engines/rpu/programs/forward.c\"\n";
        let design = Design::parse(&Root::find().unwrap().join("designs/test.toml"), text).unwrap();
        let mut host = Host::new(&design);
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
