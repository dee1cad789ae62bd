// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Messages for the error flags of packet units.

use penstock_engine::window::read_unit;
use penstock_engine::{Bus, CardError, Driver, regs};
use penstock_rpu::accelerator::Kinds;
use penstock_rpu::regs as own;

use crate::diagnosis;
use crate::driver::RpuDriver;

/// A bit of the register ERRORS of a unit (engines/rpu/regs/rpu.rdl).
struct Error {
    bit: u32,
    name: &'static str,
    /// The register with the address of the instruction that raised it, if one did.
    pc: Option<u32>,
}

const ERRORS: [Error; 6] = [
    Error { bit: WILD_ADDRESS, name: "wild address", pc: Some(own::RPU_HOST_WILD_PC) },
    Error {
        bit: BAD_DESCRIPTOR,
        name: "descriptor of a slot that it does not hold",
        pc: Some(own::RPU_HOST_DESCRIPTOR_PC),
    },
    Error { bit: BAD_DESTINATION, name: "destination that does not exist", pc: Some(own::RPU_HOST_DESTINATION_PC) },
    Error { bit: BAD_SLOT, name: "bad slot set-up", pc: Some(own::RPU_HOST_SLOT_PC) },
    Error { bit: ACCELERATOR_ERROR, name: "accelerator error", pc: None },
    Error { bit: 13, name: "host memory that does not exist or that the unit may not reach", pc: None },
];
const WILD_ADDRESS: u32 = 8;
const BAD_DESCRIPTOR: u32 = 9;
const BAD_DESTINATION: u32 = 10;
const BAD_SLOT: u32 = 11;
const ACCELERATOR_ERROR: u32 = 12;

/// The fault of a program that uses an accelerator on units without any.
const NO_ACCELERATOR: &str = "the program uses an accelerator and the design's units have none; \
                              add what it needs to [units.rpu], for example `accelerators = [\"ip_prefix\"]`";

/// Whether the flags come from a program that uses an accelerator on units without any.
fn lacks_accelerator(bus: &mut dyn Bus, unit: u32, flags: u32) -> Result<bool, CardError> {
    Ok(flags >> ACCELERATOR_ERROR & 1 == 1 && RpuDriver::accelerators(bus, unit)? == Kinds::default())
}

/// The common cause of all other faults, if the flags tell.
pub(crate) fn cause(bus: &mut dyn Bus, unit: u32, flags: u32) -> Result<Option<String>, CardError> {
    Ok(lacks_accelerator(bus, unit, flags)?.then(|| NO_ACCELERATOR.to_owned()))
}

/// A sentence for each flag.
pub(crate) fn explain(driver: &RpuDriver, bus: &mut dyn Bus, unit: u32, flags: u32) -> Result<Vec<String>, CardError> {
    let lacks = lacks_accelerator(bus, unit, flags)?;
    let told = ERRORS.iter().filter(|error| flags >> error.bit & 1 == 1 && !(error.bit == ACCELERATOR_ERROR && lacks));
    told.map(|error| sentence(driver, bus, unit, error)).collect()
}

/// The message for the last access to memory that does not exist, if there was one.
pub(crate) fn wild_access(driver: &RpuDriver, bus: &mut dyn Bus, unit: u32) -> Result<Option<String>, CardError> {
    let flags = read_unit(bus, unit, regs::UNIT_ERRORS)? & 1 << WILD_ADDRESS;
    Ok(explain(driver, bus, unit, flags)?.pop())
}

/// The message for an error.
fn sentence(driver: &RpuDriver, bus: &mut dyn Bus, unit: u32, error: &Error) -> Result<String, CardError> {
    let mut text = error.name.to_owned();
    if error.bit == WILD_ADDRESS {
        text += &format!(" 0x{:x}", read_unit(bus, unit, regs::UNIT_ERROR_ADDR)?);
    }
    if let Some(register) = error.pc {
        let pc = read_unit(bus, unit, register)?;
        let place = driver.locate(unit, pc).map_or(String::new(), |place| format!(" ({place})"));
        text += &format!(", pc=0x{pc:x}{place}");
    }
    text += &match error.bit {
        WILD_ADDRESS => {
            let ended = diagnosis::ended_by_wild_access(driver, unit, read_unit(bus, unit, regs::UNIT_PC)?);
            if ended { "; the program ended there".to_owned() } else { String::new() }
        }
        BAD_DESCRIPTOR => "; most often the frame was sent or dropped twice, or a frame without a slot was to be sent from where no frame can be".to_owned(),
        BAD_DESTINATION => format!("; this card has {}", destinations(driver)),
        BAD_SLOT => "; slots are declared once, before frames arrive, 1 to 32 of them within packet memory, at places that are even and at \
                     most 14 modulo 64, and header copies at multiples of 32 from 0x804000 to 0x806000"
            .to_owned(),
        ACCELERATOR_ERROR => {
            let names: Vec<&str> = RpuDriver::accelerators(bus, unit)?.iter().map(|kind| kind.name()).collect();
            let there = names.join(", ");
            format!(": the program gave it bytes outside packet memory, or used one that is not there; such units have {there}")
        }
        _ => String::new(),
    };
    Ok(text)
}

/// The destinations that units can send to.
fn destinations(driver: &RpuDriver) -> String {
    let all = |what: &str, count: u32| match count {
        1 => format!("{what} 0"),
        count => format!("{what}s 0..{}", count - 1),
    };
    let (ports, units) = (all("Ethernet port", driver.shape.ports), all("unit", driver.shape.units));
    format!("{ports}, {units}, and the host; frames that programs make cannot go to units")
}
