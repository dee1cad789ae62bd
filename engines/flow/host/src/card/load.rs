// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Gives elements of hardware their programs.

use crate::regs as own;
use penstock_engine::Bus;
use penstock_flow_compiler::hardware::{self, Contexts, Hardware};
use penstock_flow_compiler::program::Element;

use super::window::{ALL, CHANGES, COMPLETE, Window, base};
use crate::error::{FlowError, ProgramFaults};
use crate::image::FlowImage;

/// Compiles a program for tables with room for this number of contexts. `before`: contexts that the elements hold
/// already and that stay.
///
/// # Errors
/// The tables are too small, or the elements cannot hold the program.
pub(super) fn compile(image: &FlowImage, room: u32, before: &[Option<Contexts>]) -> Result<Hardware, FlowError> {
    let by_design = |element: &Element| element.key.is_some() && element.capacity.is_none();
    if image.contexts > room && image.program.elements.iter().any(by_design) {
        return Err(FlowError::Room { wanted: image.contexts, room });
    }
    hardware::compile(&image.sized(""), room, before)
        .map_err(|faults| FlowError::Program(ProgramFaults { path: image.path.clone(), faults }))
}

/// Shifts each element's program into it. The elements go on with their present programs until a commit.
///
/// # Errors
/// If the elements are not the ones that the compiler knows, or words got lost.
pub(super) fn bring(bus: &mut dyn Bus, block: usize, programs: &[Vec<u32>]) -> Result<(), FlowError> {
    for (element, words) in programs.iter().enumerate() {
        let mut window = Window { bus, block, element };
        let shape = window.shape()?;
        if (shape.number, shape.words) != (element, words.len()) {
            let (number, program) = (shape.number, words.len());
            return Err(FlowError::Foreign { block, element, number, words: shape.words, program });
        }
        window.write(own::FLOW_HOST_BEGIN, 0)?;
        words.iter().try_for_each(|word| window.write(own::FLOW_HOST_PROGRAM, *word))?;
    }
    for element in 0..programs.len() {
        if (Window { bus, block, element }).read(own::FLOW_HOST_STATUS)? & COMPLETE == 0 {
            return Err(FlowError::Incomplete { block, element });
        }
    }
    Ok(())
}

/// Changes all elements of a block between the same two frames, and waits until that is done.
pub(super) fn change(bus: &mut dyn Bus, block: usize, elements: usize, what: u32) -> Result<(), FlowError> {
    bus.write(base(block) + ALL + own::FLOW_HOST_CHANGE, what)?;
    (0..elements).try_for_each(|element| Window { bus, block, element }.until_not(CHANGES).map(|_| ()))
}

/// Words of a table's secret, from which the places of keys follow. They are the same in each run, so that simulations
/// are repeatable; a card that strangers can send frames to needs random ones.
pub(super) fn secret(bits: u32) -> impl Iterator<Item = u32> {
    // SplitMix64
    (1..=u64::from(bits.div_ceil(32))).map(|step| {
        let mut mixed = step.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        (mixed >> 32) as u32
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_that_are_too_small_are_refused() {
        let refused = |table: &str, contexts| {
            let text = format!("element one {{ key eth.type {table} else => keep }}");
            let program = penstock_flow_compiler::compile("one.efsm", &text).unwrap().program;
            let image = FlowImage { path: "one.efsm".into(), program, contexts };
            compile(&image, 62, &[]).err().map(|error| error.to_string()).unwrap_or_default()
        };
        assert_eq!([refused("", 62), refused("table 62", 1000)], ["", ""]);
        // The error names the design or the program, whichever gives the size.
        assert_eq!(refused("", 63), "the design says contexts = 63, and a table of this card has room for 62");
        assert!(refused("table 63", 10).starts_with("one.efsm:1:9: the table of element `one` has 63 contexts"));
    }
}
