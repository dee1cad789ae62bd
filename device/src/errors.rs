// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! What units' error flags say, in words.

use penstock_shell::Accelerators;

use crate::device::DeviceError;
use crate::host::{Bus, Host};
use crate::outcome::UnitCounters;
use crate::regs;

/// A bit of a unit's register ERRORS (engines/rpu/regs/rpu.rdl).
struct Error {
    bit: u32,
    name: &'static str,
    /// The register that has the address of the instruction, where it is an instruction's.
    pc: Option<u32>,
}

const ERRORS: [Error; 6] = [
    Error { bit: WILD_ADDRESS, name: "wild address", pc: Some(regs::RPU_HOST_WILD_PC) },
    Error {
        bit: BAD_DESCRIPTOR,
        name: "descriptor of a slot that it does not hold",
        pc: Some(regs::RPU_HOST_DESCRIPTOR_PC),
    },
    Error { bit: BAD_DESTINATION, name: "destination that does not exist", pc: Some(regs::RPU_HOST_DESTINATION_PC) },
    Error { bit: BAD_SLOT, name: "bad slot set-up", pc: Some(regs::RPU_HOST_SLOT_PC) },
    Error { bit: ACCELERATOR_ERROR, name: "accelerator error", pc: None },
    Error { bit: 13, name: "host memory that does not exist", pc: None },
];
const WILD_ADDRESS: u32 = 8;
const BAD_DESCRIPTOR: u32 = 9;
const BAD_DESTINATION: u32 = 10;
const BAD_SLOT: u32 = 11;
const ACCELERATOR_ERROR: u32 = 12;

/// What is said when a program uses an accelerator and its units have none.
const NO_ACCELERATOR: &str = "the program uses an accelerator and the design's units have none; \
                              add what it needs to [[units]], for example `accelerators = [\"ip_prefix\"]`";

impl Host {
    /// Adds to faults what the error flags of the units say, once for all units that erred alike. Flags that were told before are taken out:
    /// they say nothing new, until the next load.
    pub fn tell_errors(
        &mut self,
        bus: &mut impl Bus,
        units: &mut [UnitCounters],
        faults: &mut Vec<String>,
    ) -> Result<(), DeviceError> {
        for (UnitCounters { errors, .. }, told) in units.iter_mut().zip(&mut self.told) {
            *errors &= !*told;
            *told |= *errors;
        }
        let mut lacks_accelerator = false;
        // What is said, and of which units, in the order in which it came up.
        let mut said: Vec<(String, Vec<u32>)> = Vec::new();
        for (unit, UnitCounters { errors, .. }) in (0..).zip(units.iter()) {
            for error in ERRORS.iter().filter(|error| errors >> error.bit & 1 == 1) {
                if error.bit == ACCELERATOR_ERROR && self.accelerators(unit) == Accelerators::default() {
                    lacks_accelerator = true;
                    continue;
                }
                let text = self.tell(bus, unit, error)?;
                match said.iter_mut().find(|(other, _)| *other == text) {
                    Some((_, units)) => units.push(unit),
                    None => said.push((text, vec![unit])),
                }
            }
        }
        faults.extend(said.into_iter().map(|(text, units)| format!("{}: {text}", numbers("unit", &units))));
        if lacks_accelerator {
            // The cause of whatever else went wrong.
            faults.insert(0, NO_ACCELERATOR.to_string());
        }
        Ok(())
    }

    /// What is said about slots of a unit that the card refused, if it did.
    pub fn tell_refused_slots(&self, bus: &mut impl Bus, unit: u32) -> Result<Option<String>, DeviceError> {
        let errors = self.read_unit(bus, unit, regs::RPU_HOST_ERRORS)?;
        let refused = ERRORS.iter().find(|error| error.bit == BAD_SLOT && errors >> BAD_SLOT & 1 == 1);
        refused.map(|error| Ok(format!("unit {unit}: {}", self.tell(bus, unit, error)?))).transpose()
    }

    /// What is said about an error of a unit.
    fn tell(&self, bus: &mut impl Bus, unit: u32, error: &Error) -> Result<String, DeviceError> {
        let mut text = error.name.to_owned();
        if error.bit == WILD_ADDRESS {
            text += &format!(" 0x{:x}", self.read_unit(bus, unit, regs::RPU_HOST_ERROR_ADDR)?);
        }
        if let Some(register) = error.pc {
            text += &format!(", {}", self.place(unit, self.read_unit(bus, unit, register)?));
        }
        text += &match error.bit {
            BAD_DESCRIPTOR => {
                "; most often the frame was sent or dropped twice, or one without a slot was to be sent from where no \
                               frame can be"
                    .to_owned()
            }
            BAD_DESTINATION => format!("; this card has {}", self.destinations()),
            BAD_SLOT => "; slots are declared once, before frames arrive, 1 to 32 of them within packet memory, at places that are even and at \
                         most 14 modulo 64, and header copies at multiples of 32 from 0x804000 to 0x806000"
                .to_owned(),
            ACCELERATOR_ERROR => {
                let names: Vec<&str> = self.accelerators(unit).iter().map(|kind| kind.name()).collect();
                format!(
                    ": it gave one bytes outside packet memory, or used one that is not there; such units have {}",
                    names.join(", ")
                )
            }
            _ => String::new(),
        };
        Ok(text)
    }

    /// Where units can send frames.
    fn destinations(&self) -> String {
        let all = |what: &str, count: u32| numbers(what, &(0..count).collect::<Vec<_>>());
        format!(
            "{}, {}, and the host; frames that programs make cannot go to units",
            all("Ethernet port", self.ports),
            all("unit", self.units)
        )
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_words() {
        assert_eq!(numbers("unit", &[3]), "unit 3");
        assert_eq!(numbers("unit", &[0, 1]), "units 0..1");
        assert_eq!(numbers("unit", &[0, 2, 3, 4, 9]), "units 0, 2..4, 9");
    }
}
