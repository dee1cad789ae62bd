// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! A card behind a BAR as a stream ([`LiveDevice`]): its frames come and go by its own ports. Those of a simulated card
//! can also be brought to the far ends of its cables.

use std::ops::Range;

use penstock_engine::window::{UNIT_WINDOW, read_unit};
use penstock_engine::{Bus, HELD_LIMIT};

use super::{Behind, FpgaDevice};
use crate::card::{Machine, QUIET};
use crate::counters::Counters;
use crate::device::Device;
use crate::error::DeviceError;
use crate::host::{BOOT_LIMIT, Host, LOOK};
use crate::image::Image;
use crate::live::{LiveDevice, UnitState, Vitals};
use crate::regs;
use crate::rtl::model::{Frame, Step};
use crate::traffic::Port;

/// Cycles of a simulated card between two looks at the host's side.
const PUMP: u64 = 5_000;
/// Bytes of the window of a unit.
const UNIT_BYTES: u32 = 0x0400_0000;
/// Frames that wait for a simulated card, above which it takes no others.
const WAITING: usize = 4_096;

/// Refuses an address outside of a unit's window, where other registers are.
fn check_unit(address: u32) -> Result<(), DeviceError> {
    match address {
        0..UNIT_BYTES => Ok(()),
        _ => Err(DeviceError::Unsupported(format!(
            "a unit has no address 0x{address:x}: its window ends at 0x{UNIT_BYTES:x}"
        ))),
    }
}

/// A card behind a BAR while it is up.
pub struct LiveCard {
    device: FpgaDevice,
    has_blocks: bool,
    /// The host reaches the far ends of the cables.
    is_wired: bool,
    /// Units that shall have frames, those that are being loaded, and those that hung; a bit each.
    wanted: u32,
    starting: u32,
    dead: u32,
    /// Units that somebody has disabled.
    disabled: u32,
    /// The time, in ns since 1970, at which the card was brought up.
    epoch: u64,
    /// How often the unit that is being loaded was looked at.
    looks: u64,
    /// Frames move in a simulated card, or there were records.
    moves: bool,
    /// Frames that have left since the last look.
    exits: Vec<(Port, Range<usize>)>,
    bytes: Vec<u8>,
    faults: Vec<String>,
    failed: Option<DeviceError>,
    /// Frames that the converters have lost; those lost before the last load, and the count at that load.
    lost: u64,
    lost_before: u64,
    lost_then: u64,
    /// Frames that units held when they died.
    held: u64,
}

impl LiveCard {
    /// A card that is to be brought up.
    #[must_use]
    pub fn new(mut device: FpgaDevice) -> Self {
        let is_wired = device.machine.accept().is_ok();
        Self {
            has_blocks: device.blocks > 0,
            device,
            is_wired,
            wanted: 0,
            starting: 0,
            dead: 0,
            disabled: 0,
            epoch: 0,
            looks: 0,
            moves: false,
            exits: Vec::new(),
            bytes: Vec::new(),
            faults: Vec::new(),
            failed: None,
            lost: 0,
            lost_before: 0,
            lost_then: 0,
            held: 0,
        }
    }

    fn parts(&mut self) -> (&mut Behind, &mut Host) {
        (&mut self.device.machine, &mut self.device.host)
    }

    /// The bit of a unit.
    fn bit(&self, unit: u32) -> Result<u32, DeviceError> {
        let units = self.device.host.units;
        let error =
            || DeviceError::Unsupported(format!("there is no unit {unit}; the card has units 0..{}", units - 1));
        if unit < units { Ok(1 << unit) } else { Err(error()) }
    }

    /// Gives frames to the units that shall have some and can take them.
    fn apply(&mut self) -> Result<(), DeviceError> {
        let (machine, host) = self.parts();
        let woken = if host.asleep == 0 { 0 } else { host.take_woken(machine)? };
        self.wanted |= woken;
        let alive = self.wanted & !self.dead & !self.starting;
        let (machine, host) = self.parts();
        if alive != host.enabled {
            host.enable(machine, alive)?;
            machine.flush()?;
        }
        Ok(())
    }

    /// Finds units that hang.
    fn watch(&mut self) -> Result<(), DeviceError> {
        let (machine, host) = self.parts();
        let (mut faults, mut dead, mut held) = (Vec::new(), 0, 0);
        for unit in (0..host.units).filter(|unit| host.enabled >> unit & 1 == 1) {
            if u64::from(read_unit(machine, unit, regs::UNIT_HELD_CYCLES)?) > HELD_LIMIT {
                faults.push(host.stands(machine, unit)?);
                held += u64::from(read_unit(machine, unit, regs::UNIT_ACTIVE_SLOTS)?.count_ones());
                dead |= 1 << unit;
            }
        }
        self.faults.extend(faults);
        self.held += held;
        self.dead |= dead;
        self.apply()
    }

    /// Frames that the converters have lost so far.
    fn converters(&mut self) -> Result<u64, DeviceError> {
        Ok(self.device.lost()?.iter().map(|(rx, tx)| u64::from(*rx) + u64::from(*tx)).sum())
    }

    /// Lets a simulated card work, takes the frames that left, and lets drivers answer records.
    fn work(&mut self) -> Result<(), DeviceError> {
        let ports = self.device.host.ports;
        self.moves = false;
        if self.is_wired {
            let machine = &mut self.device.machine;
            self.moves = machine.step(PUMP, QUIET)? != Step::Idle;
            let (exits, bytes) = machine.exits();
            for exit in exits {
                let (begin, from) = (self.bytes.len(), exit.offset as usize);
                self.bytes.extend(&bytes[from..from + exit.length as usize]);
                self.exits.push((Port::from_model_stream(exit.stream, ports), begin..self.bytes.len()));
            }
            machine.clear();
            // Where a frame entered is not asked here.
            machine.emptied();
        }
        let (machine, host) = self.parts();
        self.moves |= host.serve(machine)?;
        Ok(())
    }
}

impl LiveDevice for LiveCard {
    fn device(&mut self) -> &mut dyn Device {
        &mut self.device
    }

    fn bring_up(&mut self, image: &Image) -> Result<(), DeviceError> {
        self.device.revive()?;
        let epoch = self.epoch;
        self.device.host.each_driver(|driver| {
            driver.set_epoch(epoch);
            Ok(())
        })?;
        self.device.load(image)?;
        self.wanted = self.device.host.enabled & !self.disabled;
        (self.starting, self.dead) = (0, 0);
        if self.disabled != 0 {
            self.apply()?;
        }
        self.failed = None;
        self.lost_before = self.lost;
        self.lost_then = self.converters()?;
        Ok(())
    }

    fn has_cables(&self) -> bool {
        true
    }

    fn place(&self) -> Option<String> {
        Some(self.device.machine.place().to_string())
    }

    fn accept(&mut self) -> Result<(), DeviceError> {
        self.device.machine.accept()
    }

    fn push(&mut self, port: Port, bytes: &[u8]) -> Result<(), DeviceError> {
        let ports = self.device.host.ports;
        port.check(ports)?;
        // A MAC carries no frame without a byte.
        if bytes.is_empty() {
            return Ok(());
        }
        let frame = Frame { length: bytes.len() as u32, stream: port.model_stream(ports), ..Frame::default() };
        self.device.machine.accept()?;
        self.device.machine.add(&[frame], bytes)
    }

    fn pump(&mut self) -> Box<dyn Iterator<Item = (Port, &[u8])> + '_> {
        self.exits.clear();
        self.bytes.clear();
        if self.failed.is_none() {
            self.failed = self.work().err();
        }
        Box::new(self.exits.iter().map(|(port, range)| (*port, &self.bytes[range.clone()])))
    }

    fn set_seed(&mut self, seed: u64) -> Result<(), DeviceError> {
        Ok(self.device.host.each_driver(|driver| {
            driver.set_seed(seed);
            Ok(())
        })?)
    }

    fn set_epoch(&mut self, ns: u64) -> Result<(), DeviceError> {
        self.epoch = ns;
        Ok(())
    }

    fn end_run(&mut self) -> Result<(), DeviceError> {
        let (machine, host) = self.parts();
        Ok(host.each_driver(|driver| driver.end_run(machine))?)
    }

    /// The card has a clock of its own.
    fn set_time(&mut self, _ns: u64) {}

    fn pass(&mut self, _cycles: u64) {}

    fn until_timer(&self) -> Option<u64> {
        None
    }

    /// Records of blocks are looked for all the time.
    fn is_restless(&self) -> bool {
        self.moves || self.has_blocks
    }

    fn take_faults(&mut self) -> Result<Vec<String>, DeviceError> {
        // A reset by somebody else explains all that failed since.
        self.device.machine.is_as_left()?;
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        self.watch()?;
        self.lost = self.lost_before + self.converters()?.saturating_sub(self.lost_then);
        let mut faults = std::mem::take(&mut self.faults);
        let mut units = self.totals()?.units;
        let (machine, host) = self.parts();
        host.report_errors(machine, &mut units, &mut faults)?;
        Ok(faults)
    }

    fn has_faults(&self) -> bool {
        self.failed.is_some()
    }

    fn lost(&self) -> u64 {
        self.lost + self.held
    }

    fn totals(&mut self) -> Result<Counters, DeviceError> {
        self.device.counters()
    }

    fn vitals(&mut self) -> Result<Vec<Vitals>, DeviceError> {
        let (wanted, dead) = (self.wanted, self.dead);
        let (machine, host) = self.parts();
        (0..host.units)
            .map(|unit| {
                let is_in = |mask: u32| mask >> unit & 1 == 1;
                let state = match () {
                    () if is_in(dead) => UnitState::Dead,
                    () if read_unit(machine, unit, regs::UNIT_HALTED)? != 0 => UnitState::Halted,
                    () if is_in(wanted) => UnitState::Running,
                    () => UnitState::Disabled,
                };
                let held = read_unit(machine, unit, regs::UNIT_ACTIVE_SLOTS)?.count_ones().into();
                machine.write(regs::CARD_SLOTS_UNIT, unit)?;
                let slots = machine.read(regs::CARD_SLOTS_TOTAL)?.into();
                let pc = read_unit(machine, unit, regs::UNIT_PC)?;
                Ok(Vitals { state, slots, held, at: host.place(unit, pc) })
            })
            .collect()
    }

    fn set_enabled(&mut self, unit: u32, enabled: bool) -> Result<(), DeviceError> {
        let bit = self.bit(unit)?;
        self.device.machine.is_as_left()?;
        if enabled && self.dead & bit != 0 {
            return Err(DeviceError::Unsupported(format!("unit {unit} is dead; reload its program to start it anew")));
        }
        self.wanted = if enabled { self.wanted | bit } else { self.wanted & !bit };
        self.disabled = if enabled { self.disabled & !bit } else { self.disabled | bit };
        self.apply()
    }

    fn start_unit(&mut self, unit: u32, image: &Image) -> Result<(), DeviceError> {
        let bit = self.bit(unit)?;
        self.device.machine.is_as_left()?;
        self.starting |= bit;
        self.dead &= !bit;
        self.looks = 0;
        let (machine, host) = self.parts();
        host.load_unit(machine, unit, image)?;
        machine.flush()
    }

    fn is_up(&mut self, unit: u32) -> Result<bool, DeviceError> {
        let bit = self.bit(unit)?;
        let is_due = self.looks >= BOOT_LIMIT / LOOK;
        let (machine, host) = self.parts();
        let is_asleep = !host.has_slots(machine, unit, false)? && host.is_debugged(machine, unit)?;
        if is_asleep {
            let asleep = self.wanted & bit;
            self.device.host.asleep |= asleep;
            self.wanted &= !bit;
        } else if !host.has_slots(machine, unit, is_due)? {
            machine.pass(LOOK)?;
            self.looks += 1;
            return Ok(false);
        }
        self.starting &= !bit;
        self.apply()?;
        Ok(true)
    }

    fn is_closed(&self) -> bool {
        let host = &self.device.host;
        let is_starting = host.enabled & host.ingress() == 0 && self.starting & host.ingress() != 0;
        is_starting || self.device.machine.waiting() > WAITING
    }

    fn read_unit(&mut self, unit: u32, address: u32) -> Result<u32, DeviceError> {
        self.bit(unit)?;
        check_unit(address)?;
        self.device.read_unit(unit, address)
    }

    fn write_unit(&mut self, unit: u32, address: u32, value: u32) -> Result<(), DeviceError> {
        let bit = self.bit(unit)?;
        check_unit(address)?;
        let machine = &mut self.device.machine;
        machine.write(regs::CARD_UNIT_WRITE_MASK, bit)?;
        machine.write(UNIT_WINDOW + address, value)?;
        machine.flush()
    }

    /// The card goes on.
    fn finish(&mut self) -> u64 {
        0
    }
}
