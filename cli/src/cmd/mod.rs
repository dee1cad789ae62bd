// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The commands: each file gives `Args` and `run`.

pub mod bench;
pub mod capture;
pub mod check;
pub mod ctl;
pub mod debugger;
pub mod demo;
pub mod extcap;
pub mod fpga;
pub mod generate;
pub mod model;
pub mod run;
pub mod servers;
pub mod service;
pub mod shell;
pub mod sweep;
pub mod synth;
pub mod tables;
pub mod test;
pub mod tool;
pub mod top;
pub mod up;
