// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The driver of a card behind a BAR, at a BAR of memory: cards that are not there, are others, vanish or are reset.
//! device/tests/test_fpga.py has the whole card in simulation.
#![allow(clippy::unwrap_used)]

use std::cell::RefCell;
use std::collections::HashMap;
use std::io;
use std::rc::Rc;

use penstock_device::fpga::registers::{
    BAR_DESIGN, BAR_ERRORS, BAR_MAGIC, BAR_PAGE, BAR_PORT_BASE, BAR_PORT_RX_LOST, BAR_RESET, BAR_SHAPE, BAR_STATUS,
    BAR_TIMEOUTS, BAR_VERSION,
};
use penstock_device::fpga::{Bar, FpgaDevice, FpgaError, Hardware, LiveCard, Place};
use penstock_device::{
    Design, Device, DeviceError, Image, LiveDevice, Port, Rate, Root, Target, Traffic, UnitState, regs,
};
use penstock_engine::window::UNIT_WINDOW;

const WINDOW: u32 = 0x1_0000;
/// A register that this card does not have, and one that never answers.
const NOWHERE: u32 = 0xFF0;
const SILENT: u32 = 0xFF4;

/// The contents of a card's BAR: its own registers, and those of the card.
#[derive(Default)]
struct Registers {
    bar: HashMap<u32, u32>,
    card: HashMap<u32, u32>,
    resets: u32,
    /// Reads give all ones.
    is_absent: bool,
    /// Its process has ended.
    is_gone: bool,
}

impl Registers {
    /// A card of the design's hardware.
    fn of(root: &Root, design: &Design) -> Self {
        let mut bar = HashMap::from([(BAR_MAGIC, 0x504E_4650), (BAR_VERSION, 0x2_0000), (BAR_SHAPE, 0x01_02)]);
        let hash = Hardware::of(root, design).unwrap().hash();
        bar.extend((0..).step_by(4).map(|offset| BAR_DESIGN + offset).zip(hash));
        Self { bar, ..Self::default() }
    }

    /// As after a reset: no unit reaches any host memory.
    fn reset(&mut self) {
        self.card = HashMap::from([(regs::CARD_MEMORY_BASE_L, u32::MAX), (regs::CARD_SLOTS_TOTAL, 32)]);
        self.card.insert(regs::CARD_UNITS_IDLE, u32::MAX);
        self.bar.insert(BAR_STATUS, 1);
    }

    fn add(&mut self, register: u32) {
        *self.bar.entry(register).or_default() += 1;
    }
}

#[derive(Clone)]
struct Fake(Rc<RefCell<Registers>>);

impl Fake {
    fn there(&self) -> io::Result<std::cell::RefMut<'_, Registers>> {
        let registers = self.0.borrow_mut();
        if registers.is_gone { Err(io::ErrorKind::BrokenPipe.into()) } else { Ok(registers) }
    }
}

impl Bar for Fake {
    fn read(&mut self, offset: u32) -> io::Result<u32> {
        let mut registers = self.there()?;
        if registers.is_absent {
            return Ok(u32::MAX);
        }
        if offset < WINDOW {
            return Ok(registers.bar.get(&offset).copied().unwrap_or_default());
        }
        let address = registers.bar[&BAR_PAGE] << 16 | (offset - WINDOW);
        match address {
            NOWHERE | SILENT => {
                registers.add(BAR_ERRORS);
                if address == SILENT {
                    registers.add(BAR_TIMEOUTS);
                }
                Ok(u32::MAX)
            }
            _ => Ok(registers.card.get(&address).copied().unwrap_or_default()),
        }
    }

    fn write(&mut self, offset: u32, value: u32) -> io::Result<()> {
        let mut registers = self.there()?;
        if offset == BAR_RESET {
            registers.resets += 1;
            // One that stays in reset has the status of before.
            if registers.bar.get(&BAR_STATUS) != Some(&0) {
                registers.reset();
            }
        } else if offset < WINDOW {
            registers.bar.insert(offset, value);
        } else {
            let address = registers.bar[&BAR_PAGE] << 16 | (offset - WINDOW);
            if address == NOWHERE {
                registers.add(BAR_ERRORS);
            }
            registers.card.insert(address, value);
        }
        Ok(())
    }

    fn pass(&mut self, _cycles: u64) -> io::Result<()> {
        self.there().map(|_| ())
    }
}

fn design(root: &Root) -> Design {
    Design::read(&root.join("designs/one-unit.toml")).unwrap()
}

fn place() -> Place {
    "pci:0000:81:00.0".parse().unwrap()
}

/// A card of memory, its driver, and the way to change it.
fn open() -> (Root, Design, FpgaDevice, Fake) {
    let root = Root::find().unwrap();
    let design = design(&root);
    let fake = Fake(Rc::new(RefCell::new(Registers::of(&root, &design))));
    let device = FpgaDevice::on(&root, &design, &place(), Box::new(fake.clone())).unwrap();
    (root, design, device, fake)
}

#[test]
fn a_card_that_is_another_is_refused_with_the_reason() {
    let root = Root::find().unwrap();
    let design = design(&root);
    type Change = fn(&mut Registers);
    let changes: [(Change, &str); 6] = [
        (|card| card.is_absent = true, "reads give all ones: the card is not there any more"),
        (|card| _ = card.bar.insert(BAR_MAGIC, 0x1234_5678), "no Penstock card is there: its first word is 0x12345678"),
        (|card| _ = card.bar.insert(BAR_VERSION, 0x3_0003), "of version 3.3, and this Penstock knows 2.x"),
        (|card| _ = card.bar.insert(BAR_DESIGN + 12, 7), "build the card for this design"),
        (|card| _ = card.bar.insert(BAR_STATUS, 0), "a memory that it uses is in reset or not calibrated"),
        (|card| card.is_gone = true, "is the card still there?"),
    ];
    for (change, says) in changes {
        let mut registers = Registers::of(&root, &design);
        change(&mut registers);
        let fake = Fake(Rc::new(RefCell::new(registers)));
        let error = FpgaDevice::on(&root, &design, &place(), Box::new(fake)).err().unwrap();
        assert!(matches!(error, DeviceError::Fpga(_)), "{error:?}");
        let text = error.to_string();
        assert!(text.starts_with("pci:0000:81:00.0: ") && text.contains(says), "{text}");
    }
}

#[test]
fn accesses_that_the_card_refuses_are_errors() {
    let (_, _, mut device, fake) = open();
    assert_eq!(device.target(), Target::Fpga);
    device.write(0x1_2344, 5).unwrap();
    assert_eq!(device.read(0x1_2344).unwrap(), 5);
    let text = |error: DeviceError| error.to_string();
    assert!(text(device.read(NOWHERE).unwrap_err()).contains("0x00000ff0"));
    assert!(text(device.write(NOWHERE, 1).unwrap_err()).contains("0x00000ff0"));
    assert!(text(device.read(SILENT).unwrap_err()).contains("did not answer"));
    // A part of a word
    let before = fake.0.borrow().bar[&BAR_PAGE];
    for address in [0x2, 0x1_2345, 0x1_2347] {
        let refused = format!("0x{address:08x}");
        for error in [device.read(address).unwrap_err(), device.write(address, 1).unwrap_err()] {
            assert!(error.to_string().contains(&refused), "{error}");
        }
    }
    assert_eq!(fake.0.borrow().bar[&BAR_PAGE], before, "the window was not moved");
    assert_eq!(device.read(0x1_2344).unwrap(), 5);
    // A word that is all ones is none that was refused.
    device.write(0x2_0000, u32::MAX).unwrap();
    assert_eq!(device.read(0x2_0000).unwrap(), u32::MAX);
}

#[test]
fn a_card_that_vanishes_says_so_at_each_use() {
    let (root, design, mut device, fake) = open();
    let image = Image::of(&root, &design).unwrap();
    device.load(&image).unwrap();
    fake.0.borrow_mut().is_absent = true;
    for _ in 0..2 {
        assert!(matches!(device.counters(), Err(DeviceError::Fpga(FpgaError::AllOnes(_)))));
        assert!(device.read(0).unwrap_err().to_string().contains("its BAR reads all ones"));
        assert!(matches!(device.load(&image), Err(DeviceError::Fpga(FpgaError::AllOnes(_)))));
    }
    fake.0.borrow_mut().is_gone = true;
    assert!(device.counters().unwrap_err().to_string().contains("the card is gone"));
    assert!(device.load(&image).unwrap_err().to_string().contains("the card is gone"));
}

#[test]
fn a_card_that_was_reset_is_loaded_anew() {
    let (root, design, mut device, fake) = open();
    let image = Image::of(&root, &design).unwrap();
    device.load(&image).unwrap();
    assert_eq!(fake.0.borrow().resets, 1);
    device.counters().unwrap();
    fake.0.borrow_mut().reset();
    for _ in 0..2 {
        let error = device.counters().unwrap_err();
        assert!(matches!(error, DeviceError::Fpga(FpgaError::WasReset(_))), "{error}");
        assert!(error.to_string().contains("load it again"), "{error}");
    }
    device.load(&image).unwrap();
    assert_eq!(fake.0.borrow().resets, 2);
    assert_eq!(fake.0.borrow().card[&regs::CARD_MEMORY_BASE_L], 0, "the driver has begun anew");
    device.counters().unwrap();
    device.load(&image).unwrap();
    assert_eq!(fake.0.borrow().resets, 2, "a load does not reset a card that is as it was");
    // Programmed with another design meanwhile
    fake.0.borrow_mut().reset();
    fake.0.borrow_mut().bar.insert(BAR_DESIGN, 7);
    assert!(matches!(device.load(&image), Err(DeviceError::Fpga(FpgaError::OtherDesign { .. }))));
}

#[test]
fn what_a_real_card_does_not_have_is_said() {
    let (_, _, mut device, _) = open();
    let sent = |device: &mut FpgaDevice, port| {
        let mut traffic = Traffic::default();
        traffic.push(port, &[0; 60], 0);
        device.send(&traffic, Rate::Lossless).unwrap_err()
    };
    let errors = [
        (sent(&mut device, Port::Ethernet(0)), "no cables that the host reaches: send from another machine"),
        (sent(&mut device, Port::Host), "no cables that the host reaches: send from another machine"),
        (device.host_read(0, &mut [0]).unwrap_err(), "no host memory: "),
        (device.host_write(0, &[0]).unwrap_err(), "no host memory: "),
        (device.set_host_range(0, 0..=1).unwrap_err(), "no host memory: "),
    ];
    for (error, says) in errors {
        assert!(matches!(error, DeviceError::NotOnFpga { .. }) && error.to_string().contains(says), "{error}");
    }
}

/// A card that is up: its unit is taken out, hangs and is loaded, and frames that the converters lose are counted.
#[test]
fn a_card_is_up() {
    let (root, design, device, fake) = open();
    let image = Image::of(&root, &design).unwrap();
    let mut card = LiveCard::new(device);
    card.bring_up(&image).unwrap();
    let enabled = || fake.0.borrow().card[&regs::CARD_UNIT_ENABLE];
    let set = |register, value| _ = fake.0.borrow_mut().card.insert(UNIT_WINDOW + register, value);
    let state = |card: &mut LiveCard| card.vitals().unwrap()[0].state;
    assert_eq!((enabled(), state(&mut card), card.take_faults().unwrap().len()), (1, UnitState::Running, 0));
    assert!(card.has_cables() && !card.is_closed() && !card.is_restless());
    assert_eq!(card.place().as_deref(), Some("pci:0000:81:00.0"));
    // The host does not see its frames.
    assert!(card.accept().is_err() && card.push(Port::Ethernet(0), &[0; 60]).is_err());
    assert_eq!(card.pump().count(), 0);

    card.set_enabled(0, false).unwrap();
    assert_eq!((enabled(), state(&mut card)), (0, UnitState::Disabled));
    card.set_enabled(0, true).unwrap();
    assert_eq!((enabled(), state(&mut card)), (1, UnitState::Running));
    set(regs::UNIT_HALTED, 1);
    assert_eq!(state(&mut card), UnitState::Halted);
    set(regs::UNIT_HALTED, 0);

    set(regs::UNIT_ACTIVE_SLOTS, 0b101);
    set(regs::UNIT_HELD_CYCLES, 10_000);
    assert!(card.take_faults().unwrap().is_empty());
    let vitals = card.vitals().unwrap();
    assert_eq!((vitals[0].slots, vitals[0].held, enabled()), (32, 2, 1));
    set(regs::UNIT_HELD_CYCLES, 10_001);
    let faults = card.take_faults().unwrap();
    assert!(faults.len() == 1 && faults[0].starts_with("unit 0 has not released a slot"), "{faults:?}");
    assert_eq!((enabled(), state(&mut card), card.lost()), (0, UnitState::Dead, 2));
    assert!(card.take_faults().unwrap().is_empty(), "it is reported once");
    assert!(card.set_enabled(0, true).unwrap_err().to_string().contains("reload its program"));
    set(regs::UNIT_HELD_CYCLES, 0);
    card.start_unit(0, &image).unwrap();
    assert!(card.take_faults().unwrap().is_empty());
    assert!(enabled() == 0 && card.is_closed(), "it has no frames while it starts");
    assert!(card.is_up(0).unwrap());
    assert_eq!((enabled(), state(&mut card), card.is_closed()), (1, UnitState::Running, false));

    // A program that does not declare its slots
    card.start_unit(0, &image).unwrap();
    fake.0.borrow_mut().card.insert(regs::CARD_SLOTS_TOTAL, 0);
    let error = (0..2_000).find_map(|_| card.is_up(0).err()).unwrap().to_string();
    assert!(error.contains("has not declared its slots") && enabled() == 0, "{error}");
    fake.0.borrow_mut().card.insert(regs::CARD_SLOTS_TOTAL, 32);
    card.start_unit(0, &image).unwrap();
    assert!(card.is_up(0).unwrap() && enabled() == 1);

    let lose = |frames| _ = fake.0.borrow_mut().bar.insert(BAR_PORT_BASE + BAR_PORT_RX_LOST, frames);
    lose(5);
    card.take_faults().unwrap();
    assert_eq!(card.lost(), 7);
    // Registers beside a unit's window
    for (unit, address) in [(1, 0), (0, 0x0400_0000), (0, u32::MAX - 3)] {
        assert!(card.read_unit(unit, address).is_err() && card.write_unit(unit, address, 1).is_err());
    }
    card.write_unit(0, regs::UNIT_POKE, 1).unwrap();
    assert_eq!(fake.0.borrow().card[&regs::CARD_UNIT_WRITE_MASK], 1);

    // Somebody else resets it: no frames are counted twice when it is taken into use again.
    fake.0.borrow_mut().reset();
    assert!(matches!(card.take_faults(), Err(DeviceError::Fpga(FpgaError::WasReset(_)))));
    assert!(matches!(card.set_enabled(0, false), Err(DeviceError::Fpga(FpgaError::WasReset(_)))));
    assert!(matches!(card.start_unit(0, &image), Err(DeviceError::Fpga(FpgaError::WasReset(_)))));
    card.bring_up(&image).unwrap();
    lose(6);
    assert!(card.take_faults().unwrap().is_empty());
    assert_eq!((enabled(), card.lost(), fake.0.borrow().resets), (1, 8, 2));
    fake.0.borrow_mut().is_absent = true;
    assert!(matches!(card.take_faults(), Err(DeviceError::Fpga(FpgaError::AllOnes(_)))));
}
