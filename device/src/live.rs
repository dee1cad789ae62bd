// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! A design as a stream: frames enter and leave continuously, and in between units are inspected, taken out of the
//! dispatch and reloaded.
//!
//! ```no_run
//! use penstock_device::{Design, Image, LiveDevice, Port, Root, SoftDevice};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let root = Root::find()?;
//! let design = Design::read(&root.join("designs/forward.toml"))?;
//! let mut device = SoftDevice::open(&design)?;
//! device.bring_up(&Image::of(&root, &design)?)?;
//! device.push(Port::Ethernet(0), &[0; 60])?;
//! for (port, bytes) in device.pump() {
//!     println!("{port}: {} bytes", bytes.len());
//! }
//! for fault in device.take_faults()? {
//!     eprintln!("{fault}");
//! }
//! # Ok(()) }
//! ```

use penstock_engine::{CardError, UnitCounters};
use serde::{Deserialize, Serialize};

use crate::counters::{Counters, HostMemoryCounters, PortCounters};
use crate::device::Device;
use crate::error::DeviceError;
use crate::host::{BOOT_LIMIT, LOOK};
use crate::image::Image;
use crate::regs;
use crate::soft::{SoftBus, SoftDevice, port_of, source_of, stream_of};
use crate::traffic::Port;

/// Streams after the Ethernet ports.
const HOST_STREAM: usize = 4;
const LOOPBACK_STREAM: usize = 5;

/// Polls during which loopback frames may leave a unit's neighbours before it is reloaded.
const QUIET_POLLS: u32 = 10;

/// The state of a unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum UnitState {
    /// It takes frames.
    Running,
    /// It was taken out of the dispatch.
    Disabled,
    /// A debugger has halted it.
    Halted,
    /// It hung and was taken out of the dispatch; a reload restarts it.
    Dead,
}

/// How a unit is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Vitals {
    /// What it does.
    pub state: UnitState,
    /// Slots that it has declared.
    pub slots: u64,
    /// Those that hold a frame.
    pub held: u64,
    /// The place of its program: address and source line.
    pub at: String,
}

/// A card between interfaces, or one whose ports have cables of their own.
pub trait LiveDevice {
    /// The card as a device: its programs, tables, counters and registers.
    fn device(&mut self) -> &mut dyn Device;

    /// Loads programs and tables, and takes all units into use ([`Device::load`]).
    ///
    /// # Errors
    /// As there.
    fn bring_up(&mut self, image: &Image) -> Result<(), DeviceError>;

    /// Whether the card's ports have cables of their own: frames come and go without [`LiveDevice::push`], and those that
    /// [`LiveDevice::pump`] gives are copies of what has left.
    fn has_cables(&self) -> bool {
        false
    }

    /// Where the card is, if it is not in this process.
    fn place(&self) -> Option<String> {
        None
    }

    /// Refuses frames if none can be brought to the card, or seen.
    ///
    /// # Errors
    /// Its cables end elsewhere.
    fn accept(&mut self) -> Result<(), DeviceError> {
        Ok(())
    }

    /// Takes a frame (without FCS) in at a port. It leaves, if it does, with one of the next [`LiveDevice::pump`]s.
    fn push(&mut self, port: Port, bytes: &[u8]) -> Result<(), DeviceError>;

    /// Lets all units run until none has anything to do, gives up units that cannot go on, lets drivers answer records,
    /// and returns the frames that have left, each with its port.
    fn pump(&mut self) -> Box<dyn Iterator<Item = (Port, &[u8])> + '_>;

    /// Sets a secret number, from the next load on: places in native tables follow from it, so nobody can choose keys
    /// that collide.
    ///
    /// # Errors
    /// None today.
    fn set_seed(&mut self, seed: u64) -> Result<(), DeviceError>;

    /// Sets when the card's time was 0, in ns since 1970 UTC, from the next load on.
    ///
    /// # Errors
    /// None today.
    fn set_epoch(&mut self, ns: u64) -> Result<(), DeviceError>;

    /// Ends a run: drivers report everything that they have not reported yet.
    ///
    /// # Errors
    /// A report cannot be written.
    fn end_run(&mut self) -> Result<(), DeviceError>;

    /// Sets the time, in ns, that inline programs see for frames pushed after this call. The clock never goes back.
    fn set_time(&mut self, ns: u64);

    /// Tells the card that `cycles` have passed since the last call: programs see them in their clocks and timers. If
    /// this is never called, an instruction takes a cycle, and there is no other time.
    fn pass(&mut self, cycles: u64);

    /// Cycles until the next timer of a program rings.
    fn until_timer(&self) -> Option<u64>;

    /// There is work without new frames: frames circle over loopback, or units execute without one.
    fn is_restless(&self) -> bool;

    /// The faults since the last call, in sentences: units given up, which get no more frames from now on, and error
    /// flags.
    fn take_faults(&mut self) -> Result<Vec<String>, DeviceError>;

    /// A unit was given up since [`LiveDevice::take_faults`] was called: a cheap question.
    fn has_faults(&self) -> bool;

    /// Frames that no counter has: held by units that died.
    fn lost(&self) -> u64;

    /// All counters since the card was opened, 64 bits wide, where registers show the lower 32.
    fn totals(&mut self) -> Result<Counters, DeviceError>;

    /// How each unit is.
    fn vitals(&mut self) -> Result<Vec<Vitals>, DeviceError>;

    /// Starts or stops the flow of frames to a unit; it still sends the frames that it has.
    fn set_enabled(&mut self, unit: u32, enabled: bool) -> Result<(), DeviceError>;

    /// Reloads one unit while the others have their frames: it gets no more, sends those that it has, and restarts. A
    /// dead unit works again. [`LiveDevice::is_up`] tells when it takes frames.
    fn start_unit(&mut self, unit: u32, image: &Image) -> Result<(), DeviceError>;

    /// Whether the started unit has declared its slots, and takes frames unless it was disabled. Each call lets it go
    /// on for a while, and frames can flow between two calls. If it does not start, there is an error, and the unit is
    /// out of the dispatch. A halted unit is up, and takes frames when it has declared its slots.
    fn is_up(&mut self, unit: u32) -> Result<bool, DeviceError>;

    /// True while no unit takes frames of ports because one is starting: new frames should wait.
    fn is_closed(&self) -> bool;

    /// Reads a word of a unit's window (shell/regs/unit.rdl).
    fn read_unit(&mut self, unit: u32, address: u32) -> Result<u32, DeviceError>;

    /// Writes a word of a unit's window.
    fn write_unit(&mut self, unit: u32, address: u32, value: u32) -> Result<(), DeviceError>;

    /// Tells the card that no more frames will come: the frames that units still hold are lost. Frames that left
    /// meanwhile come with the next [`LiveDevice::pump`], and faults with the next [`LiveDevice::take_faults`].
    fn finish(&mut self) -> u64;
}

impl LiveDevice for SoftDevice {
    fn device(&mut self) -> &mut dyn Device {
        self
    }

    fn bring_up(&mut self, image: &Image) -> Result<(), DeviceError> {
        self.load(image)
    }

    fn push(&mut self, port: Port, bytes: &[u8]) -> Result<(), DeviceError> {
        let source = source_of(port);
        // Units may have died in any of the steps before.
        self.drop_dead()?;
        self.card.push(source, bytes).map_err(|error| DeviceError::Unsupported(error.to_string()))?;
        self.pushed[stream_of(source)] += 1;
        Ok(())
    }

    fn pump(&mut self) -> Box<dyn Iterator<Item = (Port, &[u8])> + '_> {
        self.card.settle();
        self.card.give_up_full();
        match self.host.serve(&mut SoftBus(&mut self.card)) {
            Ok(true) => self.card.settle(),
            Ok(false) => {}
            Err(error) => self.unserved = Some(error.to_string()),
        }
        Box::new(self.card.poll().iter().map(|frame| (port_of(frame.destination), frame.bytes)))
    }

    fn set_seed(&mut self, seed: u64) -> Result<(), DeviceError> {
        Ok(self.host.each_driver(|driver| {
            driver.set_seed(seed);
            Ok(())
        })?)
    }

    fn set_epoch(&mut self, ns: u64) -> Result<(), DeviceError> {
        Ok(self.host.each_driver(|driver| {
            driver.set_epoch(ns);
            Ok(())
        })?)
    }

    fn end_run(&mut self) -> Result<(), DeviceError> {
        Ok(self.host.each_driver(|driver| driver.end_run(&mut SoftBus(&mut self.card)))?)
    }

    fn set_time(&mut self, ns: u64) {
        self.card.set_time(ns);
    }

    fn pass(&mut self, cycles: u64) {
        self.card.pass(cycles);
    }

    fn until_timer(&self) -> Option<u64> {
        self.card.until_timer()
    }

    fn is_restless(&self) -> bool {
        self.card.busy() || self.card.spins()
    }

    fn take_faults(&mut self) -> Result<Vec<String>, DeviceError> {
        self.drop_dead()?;
        let mut faults = Vec::from_iter(self.unserved.take());
        let new = self.card.faults()[self.told..].to_vec();
        self.told += new.len();
        for fault in new {
            faults.push(self.host.fault(&mut SoftBus(&mut self.card), &fault)?);
        }
        let mut units = self.totals()?.units;
        self.host.report_errors(&mut SoftBus(&mut self.card), &mut units, &mut faults)?;
        Ok(faults)
    }

    fn has_faults(&self) -> bool {
        self.card.faults().len() > self.told || self.unserved.is_some()
    }

    fn lost(&self) -> u64 {
        self.card.lost()
    }

    fn totals(&mut self) -> Result<Counters, DeviceError> {
        let stream = |number: usize| {
            let counters = self.card.stream(number);
            PortCounters {
                rx_frames: counters.rx_frames,
                rx_bytes: counters.rx_bytes,
                tx_frames: counters.tx_frames,
                tx_bytes: counters.tx_bytes,
                drop_oversize: counters.oversize,
                drop_runt: counters.runt,
                drop_disabled: counters.disabled,
                drop_policy: counters.policy,
                ..PortCounters::default()
            }
        };
        let ports = (0..self.host.ports as usize).map(stream).collect();
        let (host, loopback) = (stream(HOST_STREAM), stream(LOOPBACK_STREAM));
        let memory = self.card.host_memory_counters();
        let unit = |number: u8| -> Result<UnitCounters, DeviceError> {
            let counters = self.card.unit(number);
            Ok(UnitCounters {
                rx_frames: counters.rx_frames,
                rx_bytes: counters.rx_bytes,
                tx_frames: counters.tx_frames,
                tx_bytes: counters.tx_bytes,
                blocked: counters.blocked,
                refused: counters.refused,
                generated: counters.generated,
                errors: self.card.read_unit(number, regs::UNIT_ERRORS).map_err(CardError::from)?,
                ..UnitCounters::default()
            })
        };
        let mut units = (0..self.host.units as u8).map(unit).collect::<Result<Vec<_>, _>>()?;
        self.host.count_units(&mut SoftBus(&mut self.card), &mut units)?;
        Ok(Counters {
            ports,
            host,
            loopback,
            units,
            host_memory: HostMemoryCounters {
                reads: memory.reads,
                read_bytes: memory.read_bytes,
                writes: memory.writes,
                write_bytes: memory.write_bytes,
                errors: memory.errors,
                denied: memory.denied,
            },
            inline: self.inline_counters()?,
        })
    }

    fn vitals(&mut self) -> Result<Vec<Vitals>, DeviceError> {
        (0..self.host.units as u8)
            .map(|unit| {
                let is_in = |mask: u32| mask >> unit & 1 == 1;
                let state = match () {
                    () if is_in(self.card.dead()) => UnitState::Dead,
                    () if is_in(self.card.halted()) => UnitState::Halted,
                    () if is_in(self.wanted) => UnitState::Running,
                    () => UnitState::Disabled,
                };
                let (slots, held) = self.card.slots(unit);
                let pc = self.card.read_unit(unit, regs::UNIT_PC).map_err(CardError::from)?;
                Ok(Vitals { state, slots, held, at: self.host.place(unit.into(), pc) })
            })
            .collect()
    }

    fn set_enabled(&mut self, unit: u32, enabled: bool) -> Result<(), DeviceError> {
        let bit = self.bit(unit)?;
        if enabled && self.card.dead() & bit != 0 {
            return Err(DeviceError::Unsupported(format!("unit {unit} is dead; reload its program to start it anew")));
        }
        self.wanted = if enabled { self.wanted | bit } else { self.wanted & !bit };
        self.drop_dead()
    }

    fn start_unit(&mut self, unit: u32, image: &Image) -> Result<(), DeviceError> {
        let bit = self.bit(unit)?;
        for _ in 0..QUIET_POLLS {
            self.card.settle();
            if !self.card.busy() {
                break;
            }
        }
        self.starting |= bit;
        self.looks = 0;
        self.host.load_unit(&mut SoftBus(&mut self.card), unit, image)
    }

    fn is_up(&mut self, unit: u32) -> Result<bool, DeviceError> {
        let bit = self.bit(unit)?;
        let is_asleep =
            self.card.halted() & bit != 0 && !self.host.has_slots(&mut SoftBus(&mut self.card), unit, false)?;
        if is_asleep {
            self.host.asleep |= self.wanted & bit;
            self.wanted &= !bit;
        } else if !self.host.has_slots(&mut SoftBus(&mut self.card), unit, self.looks >= BOOT_LIMIT / LOOK)? {
            self.card.settle();
            self.looks += 1;
            return Ok(false);
        }
        self.starting &= !bit;
        self.drop_dead()?;
        Ok(true)
    }

    fn is_closed(&self) -> bool {
        self.host.enabled & self.host.ingress() == 0 && self.starting & self.host.ingress() != 0
    }

    fn read_unit(&mut self, unit: u32, address: u32) -> Result<u32, DeviceError> {
        self.bit(unit)?;
        Ok(self.card.read_unit(unit as u8, address).map_err(CardError::from)?)
    }

    fn write_unit(&mut self, unit: u32, address: u32, value: u32) -> Result<(), DeviceError> {
        self.bit(unit)?;
        Ok(self.card.write_unit(unit as u8, address, value).map_err(CardError::from)?)
    }

    fn finish(&mut self) -> u64 {
        self.card.finish()
    }
}

impl SoftDevice {
    fn bit(&self, unit: u32) -> Result<u32, DeviceError> {
        let units = self.host.units;
        let error =
            || DeviceError::Unsupported(format!("there is no unit {unit}; the card has units 0..{}", units - 1));
        if unit < units { Ok(1 << unit) } else { Err(error()) }
    }
}

#[cfg(test)]
mod tests {
    use penstock_engine::Root;

    use super::*;
    use crate::testing;

    /// A card, and images of programs: of each the text, or that of its main alone.
    fn card(units: u32, policy: &str, loops: &[&str]) -> (SoftDevice, Vec<Image>) {
        let root = Root::find().unwrap();
        let folder = std::env::temp_dir().join(format!("penstock-live-{}-{units}-{policy}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let mut images = Vec::new();
        let mut device = None;
        for (number, body) in loops.iter().enumerate() {
            let name = format!("{number}-{}.c", body.len());
            let main = if body.contains("main(") { body.to_string() } else { format!("int main(void) {{ {body} }}") };
            let text = format!("#include <penstock.h>\n{main}\n");
            std::fs::write(folder.join(&name), text).unwrap();
            let design = testing::card(policy, units, &folder.join(name));
            images.push(Image::of(&root, &design).unwrap());
            device.get_or_insert_with(|| SoftDevice::open(&design).unwrap());
        }
        let mut device = device.unwrap();
        device.load(&images[0]).unwrap();
        (device, images)
    }

    /// Writes `mark` into the first byte of each frame and sends it to port 1.
    fn marker(mark: u8) -> String {
        format!("pn_init(); for (;;) {{ pn_desc_t d = pn_recv(); *pn_data() = {mark}; pn_send(pn_to(d, 1)); }}")
    }

    /// Loads a unit and waits until it is up.
    fn load_unit(device: &mut SoftDevice, unit: u32, image: &Image) -> Result<(), DeviceError> {
        device.start_unit(unit, image)?;
        while !device.is_up(unit)? {}
        Ok(())
    }

    fn marks(device: &mut SoftDevice) -> Vec<u8> {
        device.pump().map(|(_, bytes)| bytes[0]).collect()
    }

    fn push(device: &mut SoftDevice, frames: usize) {
        (0..frames).for_each(|_| device.push(Port::Ethernet(0), &[0; 100]).unwrap());
    }

    #[test]
    fn units_are_loaded_one_by_one_between_frames() {
        for (units, policy) in [(1, "round-robin"), (3, "round-robin"), (3, "flow-hash")] {
            let (mut device, images) = card(units, policy, &[&marker(1), &marker(2)]);
            push(&mut device, 7);
            for unit in 0..units {
                load_unit(&mut device, unit, &images[1]).unwrap();
                push(&mut device, 30);
            }
            let marks = marks(&mut device);
            assert_eq!((marks.len() as u32, device.lost()), (7 + 30 * units, 0));
            assert!(
                marks[..7].iter().all(|mark| *mark == 1) && marks[marks.len() - 30..].iter().all(|mark| *mark == 2)
            );
            assert!(device.take_faults().unwrap().is_empty());
        }
    }

    #[test]
    fn a_unit_keeps_what_its_program_says_when_it_is_loaded() {
        // Another place, another variable before it, and one of the same name that has become longer.
        let first = "static PN_KEPT uint16_t count = 100, longer = 7; static uint8_t not_kept = 50;
            int main(void) { pn_init(); for (;;) { pn_desc_t desc = pn_recv(); uint8_t *data = pn_data();
            data[0] = (uint8_t)count++; data[1] = (uint8_t)longer++; data[2] = not_kept++; pn_send(desc ^ pn_port(1)); } }";
        let second = first
            .replace("count = 100, longer = 7", "before[3] = {1, 2, 3}, count = 0; static PN_KEPT uint32_t longer = 9");
        let dies = "static PN_KEPT uint16_t count = 3;
            int main(void) { pn_init(); pn_send(pn_recv() ^ pn_port(1)); count = 9; __builtin_trap(); }";
        let (mut device, images) = card(1, "round-robin", &[first, &second, dies]);
        let next = |device: &mut SoftDevice| {
            push(device, 1);
            device.pump().next().unwrap().1[..3].to_vec()
        };
        assert_eq!([next(&mut device), next(&mut device)], [[100, 7, 50], [101, 8, 51]]);
        load_unit(&mut device, 0, &images[1]).unwrap();
        assert_eq!([next(&mut device), next(&mut device)], [[102, 9, 50], [103, 10, 51]]);
        load_unit(&mut device, 0, &images[0]).unwrap();
        assert_eq!(next(&mut device), [104, 7, 50]);
        // The kept data of a program that died with a frame may be the cause of its death.
        load_unit(&mut device, 0, &images[2]).unwrap();
        push(&mut device, 2);
        assert_eq!(device.pump().count(), 1);
        assert_eq!(device.vitals().unwrap()[0].state, UnitState::Dead);
        load_unit(&mut device, 0, &images[0]).unwrap();
        assert_eq!(next(&mut device), [100, 7, 50]);
        device.load(&images[0]).unwrap();
        assert_eq!(next(&mut device), [100, 7, 50]);
    }

    #[test]
    fn a_disabled_unit_stays_disabled_when_it_is_loaded() {
        let (mut device, images) = card(2, "round-robin", &[&marker(1), &marker(2)]);
        device.set_enabled(1, false).unwrap();
        load_unit(&mut device, 1, &images[1]).unwrap();
        push(&mut device, 10);
        assert_eq!(marks(&mut device), [1; 10]);
        assert_eq!(device.vitals().unwrap()[1].state, UnitState::Disabled);
        device.set_enabled(1, true).unwrap();
        push(&mut device, 10);
        assert_eq!(marks(&mut device).iter().filter(|mark| **mark == 2).count(), 5);
    }

    #[test]
    fn a_unit_that_hangs_is_told_of_once_and_lives_again_when_loaded() {
        let hangs = "pn_init(); pn_recv();\nfor (;;) pn_barrier();";
        let (mut device, images) = card(2, "flow-hash", &[hangs, &marker(2)]);
        push(&mut device, 1);
        assert_eq!(device.pump().count(), 0);
        let faults = device.take_faults().unwrap();
        assert!(faults.len() == 1 && faults[0].contains("unit 0") && faults[0].contains(".c:3"), "{faults:?}");
        assert!(device.take_faults().unwrap().is_empty());
        assert_eq!((device.vitals().unwrap()[0].state, device.lost()), (UnitState::Dead, 1));
        assert!(device.set_enabled(0, true).is_err());
        for unit in 0..2 {
            load_unit(&mut device, unit, &images[1]).unwrap();
        }
        push(&mut device, 5);
        assert_eq!((marks(&mut device), device.lost()), (vec![2; 5], 1));
    }

    #[test]
    fn a_unit_that_keeps_all_its_frames_is_given_up_and_loses_only_those() {
        let keeps = "pn_init_slots(4, PN_PMEM_BASE + 10, 2048); if (pn_unit() == 0) for (;;) pn_recv();\n\
                     for (;;) pn_send(pn_recv() ^ pn_port(1));";
        let (mut device, _) = card(2, "flow-hash", &[keeps]);
        let mut left = 0;
        for _ in 0..10 {
            push(&mut device, 1);
            left += device.pump().count();
        }
        // Three slots of unit 0 fill, and all that follows goes to unit 1.
        assert_eq!((left, device.lost()), (7, 3));
        let faults = device.take_faults().unwrap();
        assert!(faults.len() == 1 && faults[0].starts_with("unit 0 waits for frames"), "{faults:?}");
    }

    #[test]
    fn a_program_that_does_not_come_up_leaves_its_unit_out() {
        let (mut device, images) = card(2, "round-robin", &[&marker(1), "for (;;);"]);
        let error = load_unit(&mut device, 0, &images[1]).unwrap_err().to_string();
        assert!(error.contains("unit 0 has not declared its slots"), "{error}");
        push(&mut device, 4);
        assert_eq!(marks(&mut device), [1; 4]);
        load_unit(&mut device, 0, &images[0]).unwrap();
        push(&mut device, 4);
        assert_eq!((marks(&mut device), device.lost()), (vec![1; 4], 0));
        assert!(device.vitals().unwrap().iter().all(|unit| (unit.state, unit.slots) == (UnitState::Running, 32)));
    }

    /// The first program here starts slowly: meanwhile the others have its frames, and if it is the only unit, frames
    /// wait.
    #[test]
    fn frames_flow_while_a_unit_starts() {
        let slow = format!("for (volatile int n = 0; n < 30000; n++); {}", marker(2));
        for (units, closed) in [(2, false), (1, true)] {
            let (mut device, images) = card(units, "flow-hash", &[&marker(1), &slow]);
            device.start_unit(0, &images[1]).unwrap();
            let mut turns = 0;
            while !device.is_up(0).unwrap() {
                assert_eq!(device.is_closed(), closed);
                if !closed {
                    push(&mut device, 1);
                    assert_eq!(marks(&mut device), [1]);
                }
                turns += 1;
            }
            assert!((5..1000).contains(&turns), "{turns} turns");
            push(&mut device, 1);
            assert_eq!((marks(&mut device), device.lost(), device.is_closed()), (vec![2], 0, false));
            assert_eq!(device.totals().unwrap().ports[0].drop_policy, 0);
        }
    }

    #[test]
    fn a_unit_gives_up_what_it_keeps_when_it_is_told_to() {
        let keeps = "static volatile pn_desc_t kept;
            void int_handler(void) {
              uint32_t flags = pn_interrupts();
              if (kept && flags & PN_INT_EVICT) pn_send(pn_to(kept, 1));
              pn_ack(flags);
            }
            int main(void) { pn_init(); kept = pn_recv(); for (;;) pn_send(pn_recv() ^ pn_port(1)); }";
        let keeps_for_ever = keeps.replace("pn_send(pn_to(kept, 1))", "kept = kept");
        let (mut device, images) = card(1, "round-robin", &[keeps, &keeps_for_ever]);
        push(&mut device, 3);
        assert_eq!(device.pump().count(), 2);
        load_unit(&mut device, 0, &images[1]).unwrap();
        assert_eq!((device.pump().count(), device.lost()), (1, 0));
        push(&mut device, 3);
        assert_eq!(device.pump().count(), 2);
        load_unit(&mut device, 0, &images[0]).unwrap();
        assert_eq!((device.pump().count(), device.lost()), (0, 1));
    }

    #[test]
    fn what_is_not_there_is_an_error() {
        let (mut device, _) = card(2, "round-robin", &[&marker(1)]);
        assert!(device.read_unit(2, 0).unwrap_err().to_string().contains("units 0..1"));
        assert!(device.write_unit(0, 0x0FFF_FFFC, 1).is_err() && device.read_unit(0, 2).is_err());
        assert!(device.push(Port::Ethernet(2), &[0; 60]).is_err());
    }
}
