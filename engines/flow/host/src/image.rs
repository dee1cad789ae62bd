// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Compiled programs of flow blocks.

use std::any::Any;
use std::path::PathBuf;

use penstock_engine::{EngineError, Image, PartJob, files};
use penstock_flow_compiler::program::Program;

use crate::error::FlowError;
use crate::settings::Settings;

/// Way out when a program cannot be read.
pub const PROGRAM: &str =
    "give a state machine in the flow engine's language, for example engines/flow/programs/port_knocking.efsm";
/// Contexts for which a table of hardware finds places, of a hundred places.
const LOAD: u64 = 97;
/// Fewest and most places of a table.
const PLACES: (u32, u32) = (64, 1 << 20);

/// A program that a flow block is loaded with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlowImage {
    /// The file of the program.
    pub path: PathBuf,
    /// The program.
    pub program: Program,
    /// Contexts of each table whose size the program does not give.
    pub contexts: u32,
}

impl FlowImage {
    /// Compiles the program of a block, for a card with this number of ports.
    ///
    /// # Errors
    /// The program has faults, or its file cannot be read.
    pub fn compile(job: &PartJob<'_>, ports: u32) -> Result<Self, EngineError> {
        let text = files::read(job.program, PROGRAM)?;
        let compiled = penstock_flow_compiler::compile(&job.program.display().to_string(), &text);
        let compiled = compiled.map_err(EngineError::program)?;
        compiled.check_ports(ports).map_err(EngineError::program)?;
        let Settings { contexts } = Settings::of(job.part);
        Ok(Self { path: job.program.to_path_buf(), program: compiled.program, contexts })
    }

    /// The program as a block runs it: each table has its size, and each element's name begins with `prefix`.
    pub(crate) fn sized(&self, prefix: &str) -> Program {
        let mut program = self.program.clone();
        for element in &mut program.elements {
            element.name.insert_str(0, prefix);
            element.capacity = element.capacity.or(Some(self.contexts));
        }
        program
    }

    /// The flow block's image in an image of the contract.
    pub(crate) fn of(image: &dyn Image) -> Result<&Self, FlowError> {
        (image as &dyn Any).downcast_ref().ok_or(FlowError::Image)
    }
}

impl Image for FlowImage {
    /// The elements that have contexts.
    fn tables(&self) -> Vec<String> {
        let with_key = self.program.elements.iter().filter(|element| element.key.is_some());
        with_key.map(|element| element.name.clone()).collect()
    }

    /// Elements in bits 7:0, the binary logarithm of their tables' places in bits 15:8.
    fn parameter(&self) -> Option<u64> {
        Some(self.program.elements.len() as u64 | u64::from(places(self.contexts).ilog2()) << 8)
    }
}

/// Places of a table that has room for this number of contexts.
pub fn places(contexts: u32) -> u32 {
    let places = (u64::from(contexts) * 100).div_ceil(LOAD).next_power_of_two();
    u32::try_from(places).unwrap_or(PLACES.1).clamp(PLACES.0, PLACES.1)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use penstock_engine::ErrorKind;

    use super::*;

    #[test]
    fn tables_have_room() {
        for (contexts, expected) in [(1, 64), (62, 64), (63, 128), (16_384, 32_768), (1 << 20, 1 << 20)] {
            assert_eq!(places(contexts), expected, "{contexts}");
        }
    }

    #[test]
    fn hardware_follows_from_the_image() {
        let text = "element one { key ip.src table 50 ip => keep } element two { key ip.dst ip => keep }
            element three { ip => drop }";
        let program = penstock_flow_compiler::compile("three.efsm", text).unwrap().program;
        let image = FlowImage { path: "three.efsm".into(), program, contexts: 100 };
        assert_eq!(image.parameter(), Some(3 | 7 << 8));
        assert_eq!(image.tables(), ["one", "two"]);
        let sized = image.sized("nat.");
        let elements: Vec<_> = sized.elements.iter().map(|one| (one.name.as_str(), one.capacity)).collect();
        assert_eq!(elements, [("nat.one", Some(50)), ("nat.two", Some(100)), ("nat.three", Some(100))]);
    }

    #[test]
    fn a_program_is_compiled_for_its_card() {
        let path = std::env::temp_dir().join(format!("penstock-flow-{}.efsm", std::process::id()));
        let compile = |text: &str, ports| {
            fs::write(&path, text).unwrap();
            let part = Settings { contexts: 77 };
            let job = PartJob { name: "", index: 0, units: 0..0, program: &path, part: &part, given: false };
            FlowImage::compile(&job, ports)
        };
        assert_eq!(compile("element one { ip => port 1 }", 2).unwrap().contexts, 77);
        for (text, ports, words) in [
            ("element one { ip => port 1 }", 1, ".efsm:1:15: this row sends to port 1, and the card has 1"),
            ("element one { ip => prot 1 }", 1, ".efsm:1:21: "),
        ] {
            let error = compile(text, ports).unwrap_err();
            assert!(error.to_string().contains(words), "{error}");
            assert_eq!(error.kind, ErrorKind::Program);
        }
        let elements: String = (0..16).map(|at| format!("element e{at} {{ ip => drop }}\n")).collect();
        let error = compile(&elements, 2).unwrap_err().to_string();
        assert!(error.contains("16 elements, 15 at most"), "{error}");
        fs::remove_file(&path).unwrap();
        let missing = Path::new("no/such.efsm");
        let job =
            PartJob { name: "", index: 0, units: 0..0, program: missing, part: &Settings::default(), given: false };
        let error = FlowImage::compile(&job, 2).unwrap_err();
        assert_eq!(error.kind, ErrorKind::File);
        assert!(error.to_string().starts_with("no/such.efsm: ") && error.to_string().ends_with(PROGRAM), "{error}");
    }
}
