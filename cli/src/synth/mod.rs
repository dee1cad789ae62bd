// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Area and speed of the card's blocks with open tools.
//!
//! *Area* is what `synth_xilinx -family xcup` makes of a block, memories included. *Speed* is a ratio: the block and a
//! reference core (VexRiscv_Lite, which met 250 MHz on the card that Rosebud used) are placed and routed on an ECP5 by
//! the same tools with the same seeds, and their median Fmax are divided. 1.0 or more stands for 250 MHz.
//!
//! ```text
//! synth.toml -> registry       -> area    (yosys)                        -> Area
//!                              -> timing  (yosys, harness, nextpnr x 3)  -> Timing
//!                                 cache: kept until a source file changes, a placement until the netlist does
//! ```

pub(crate) mod area;
pub(crate) mod cache;
pub(crate) mod harness;
pub(crate) mod registry;
pub(crate) mod timing;
pub(crate) mod tools;

use std::path::PathBuf;

use crate::files::FileError;

/// Why a block has no figures.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SynthError {
    #[error(transparent)]
    File(#[from] FileError),
    #[error("{path}: {source}; is the disk full, or the folder not yours? With build/synth deleted all begins anew")]
    Io { path: PathBuf, source: std::io::Error },
    #[error("{path}: {message}")]
    Registry { path: PathBuf, message: String },
    #[error("there is no block '{name}'; there are: {known}")]
    UnknownBlock { name: String, known: String },
    #[error("{path} is not there; run ./penstock once, it installs the pinned tools")]
    NoTool { path: PathBuf },
    #[error("{tool} stopped ({status}): {message}\n  its log: {log}")]
    Tool { tool: String, status: String, message: String, log: PathBuf },
    #[error("{path}: the tool wrote something else than expected: {message}")]
    Output { path: PathBuf, message: String },
    #[error("slower than 0.9 of the reference core: {0}")]
    TooSlow(String),
    #[error("without figures: {0}")]
    Incomplete(String),
    #[error("the synthesis tools refuse: {0}")]
    Unreadable(String),
}

/// Adds the path to an input or output error.
pub(crate) fn io_error(path: &std::path::Path) -> impl FnOnce(std::io::Error) -> SynthError + '_ {
    move |source| SynthError::Io { path: path.to_path_buf(), source }
}
