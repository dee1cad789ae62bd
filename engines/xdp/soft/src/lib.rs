// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Runs XDP programs as native code: the soft side of the xdp engine.
//!
//! Programs are translated as the checker has taken them, instruction by instruction and without the engine's compiler,
//! so that the compiler's rows have something to be compared with.
//!
//! ```no_run
//! use penstock_xdp_compiler::object::Object;
//! use penstock_xdp_soft::{Engine, Frame, Input};
//!
//! let object = Object::read(&std::fs::read("xdp1.o")?)?;
//! let mut engine = Engine::new(&object, 8)?;
//! let program = engine.load(&object, "xdp1")?;
//! let mut frame = Frame::new(vec![0; 60]);
//! let verdict = engine.run(program, &mut frame, &Input { cpu: 0, ifindex: 1, ..Input::default() })?;
//! println!("{:?}", verdict.action());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod bare;
mod engine;
mod frame;
mod helpers;
mod hex;
mod native;
mod routes;
mod state;
mod unit;

#[path = "../../regs/regs.rs"]
mod own_regs;

/// Offsets of registers: of every unit, and of this engine. Written by tools/regs.py.
pub mod regs {
    pub use crate::own_regs::*;
    pub use penstock_unit::regs::*;
}

pub use engine::{Engine, LoadError, ProgramId, RunError};
pub use frame::{Action, Frame, Input, Port, Target, Verdict};
pub use helpers::render;
pub use hex::{HexError, read_hex};
pub use native::NativeError;
pub use routes::{Interface, Neighbour, Route, RouteKind, Routes};
pub use unit::{CONTEXTS, Loaded, Unit};
