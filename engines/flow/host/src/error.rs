// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Errors of flow blocks.

use std::fmt;
use std::path::PathBuf;

use penstock_engine::{CardError, EngineError, ErrorKind};
use penstock_flow::{EventKind, HostError};
use penstock_flow_compiler::Fault;
use penstock_flow_compiler::limits::GLOBALS;
use penstock_flow_compiler::program::Timeout;
use serde_json::Value as Json;

use crate::ask::NAME;

/// Why a flow block did not carry out a request.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FlowError {
    /// A part was given the image of another engine.
    #[error("the image is not one of the flow engine; compile the program for an inline block of this engine")]
    Image,
    /// The engine has only inline blocks.
    #[error("the flow engine has no units; name it in [[inline]] (docs/designs.md)")]
    NoUnits,
    /// No part of this index is a flow block.
    #[error("inline block {0} of the design is not a flow block")]
    NoBlock(usize),
    /// The block has no program yet.
    #[error("inline block {0} has no program yet; load the card first")]
    NotLoaded(usize),
    /// The request is not one of the service.
    #[error("the service `flow` does not understand {request}: {why}")]
    Request {
        /// The request.
        request: Json,
        /// Why it cannot be read.
        why: String,
    },
    /// No element has this name.
    #[error("there is no element `{name}`; there are: {}", there.join(", "))]
    NoElement {
        /// The name.
        name: String,
        /// All names.
        there: Vec<String>,
    },
    /// The flow has no context.
    #[error("there is no context of this flow")]
    NoContext,
    /// The value is no key of the element.
    #[error("{key} is no key of element {element}: that is {}; write {{\"{}\": ...}}",
        fields.join(", "), fields.join("\": ..., \""))]
    Key {
        /// The value.
        key: Json,
        /// The element.
        element: String,
        /// Fields of its key.
        fields: Vec<&'static str>,
    },
    /// The value is no context.
    #[error("{0} is no context: give the name of a state, or an object with state, registers, for, idle")]
    Context(Json),
    /// The object has something that contexts do not have.
    #[error("`{name}`: {value} is no part of a context; those are state, registers, for, idle")]
    ContextPart {
        /// Its name.
        name: String,
        /// Its value.
        value: Json,
    },
    /// No state has this name.
    #[error("element {element} has no state `{name}`; it has: {}", there.join(", "))]
    State {
        /// The element.
        element: String,
        /// The name.
        name: String,
        /// Its states.
        there: Vec<String>,
    },
    /// The value is not an object of registers.
    #[error("{values} are no registers: give numbers of 32 bits by name, of {}",
        if there.is_empty() { "none".to_owned() } else { there.join(", ") })]
    Registers {
        /// The value.
        values: Json,
        /// Registers that there are.
        there: Vec<String>,
    },
    /// An element has no register of this number.
    #[error("there is no register {number}; elements have {GLOBALS}, counted from 0")]
    Register {
        /// Its number.
        number: usize,
    },
    /// The value is no time.
    #[error("{0} is no time: write {{\"us\": 1000000}}, up to 4,000 s, and to change to a state then, \"then\": STATE")]
    Time(Json),
    /// No events are of this kind.
    #[error("there are no events of the kind `{name}`; there are: {}", EventKind::ALL.map(EventKind::name).join(", "))]
    Kind {
        /// The name.
        name: String,
    },
    /// The hardware's element does not have this timeout.
    #[error(
        "the hardware's element {0} has only the timeouts that its program names; \
         use one of these, with the state that it leads to"
    )]
    Timeout(String),
    /// The deadline is too far ahead.
    #[error("a context ends after {} s at the latest", Timeout::LONGEST / 1_000_000)]
    TooLate,
    /// The table is not one of hardware.
    #[error("only tables in hardware have places and a stash; use target rtl")]
    NoHardware,
    /// Contexts moved while they were listed.
    #[error(
        "{found} of {contexts} contexts of element {element} were found, because contexts move while frames \
         come; list them again when there are fewer new flows"
    )]
    Moving {
        /// The element.
        element: String,
        /// Contexts that it has.
        contexts: usize,
        /// Contexts that were found.
        found: usize,
    },
    /// The card has another number of elements.
    #[error(
        "the program of inline block {block} has {program} elements, and this card was built for {card}; \
             open the design again with this program"
    )]
    Elements {
        /// The block.
        block: usize,
        /// Elements of the program.
        program: usize,
        /// Elements of the card.
        card: u32,
    },
    /// The elements are not the ones that the compiler knows.
    #[error(
        "element {element} of inline block {block} is number {number} and takes programs of {words} words, not of \
         {program}: the card was built from other sources; build it from these"
    )]
    Foreign {
        /// The block.
        block: usize,
        /// The element.
        element: usize,
        /// Number that the element has.
        number: usize,
        /// Words that its programs have.
        words: usize,
        /// Words of the program.
        program: usize,
    },
    /// The card's tables are smaller than those of the design.
    #[error("the design says contexts = {wanted}, and a table of this card has room for {room}")]
    Room {
        /// Contexts of the design.
        wanted: u32,
        /// Contexts of the card.
        room: u32,
    },
    /// The program does not fit the card's elements.
    #[error("{0}")]
    Program(ProgramFaults),
    /// An element lost words of its program.
    #[error(
        "element {element} of inline block {block} did not receive all words of its program, so the program \
         before still runs: load it again, and let nobody else load it meanwhile"
    )]
    Incomplete {
        /// The block.
        block: usize,
        /// The element.
        element: usize,
    },
    /// An element did not finish an operation.
    #[error("element {element} of inline block {block} does not answer")]
    Silent {
        /// The block.
        block: usize,
        /// The element.
        element: usize,
    },
    /// The element refused.
    #[error(transparent)]
    Host(#[from] HostError),
    /// The card refused an access or broke.
    #[error(transparent)]
    Card(#[from] CardError),
}

impl From<FlowError> for EngineError {
    fn from(error: FlowError) -> Self {
        let kind = match &error {
            FlowError::Card(_) | FlowError::Incomplete { .. } | FlowError::Silent { .. } => ErrorKind::Card,
            FlowError::Elements { .. }
            | FlowError::Foreign { .. }
            | FlowError::Room { .. }
            | FlowError::Image
            | FlowError::NoUnits
            | FlowError::NoHardware => ErrorKind::Unsupported,
            FlowError::Program(_) | FlowError::Host(HostError::Differs { .. }) => ErrorKind::Program,
            _ => ErrorKind::Service(NAME),
        };
        Self::new(kind, error)
    }
}

/// Faults of a program that fits elements in general, but not the ones of this card.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgramFaults {
    /// The program's file.
    pub path: PathBuf,
    /// The faults, in the order of the program.
    pub faults: Vec<Fault>,
}

impl fmt::Display for ProgramFaults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, Fault { span, message }) in self.faults.iter().enumerate() {
            let between = if at == 0 { "" } else { "\n" };
            write!(f, "{between}{}:{}:{}: {message}", self.path.display(), span.line, span.column)?;
        }
        Ok(())
    }
}
