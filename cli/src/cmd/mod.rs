// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The commands: each file gives `Args` and `run`.

pub(crate) mod bench;
pub(crate) mod capture;
pub(crate) mod check;
pub(crate) mod ctl;
pub(crate) mod debugger;
pub(crate) mod demo;
pub(crate) mod extcap;
pub(crate) mod fpga;
pub(crate) mod generate;
pub(crate) mod model;
pub(crate) mod run;
pub(crate) mod servers;
pub(crate) mod service;
pub(crate) mod shell;
pub(crate) mod sweep;
pub(crate) mod synth;
pub(crate) mod tables;
pub(crate) mod test;
pub(crate) mod tool;
pub(crate) mod top;
pub(crate) mod up;
