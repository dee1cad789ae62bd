// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! `penstock model`: the RTL model of a design, built before it is needed.

use std::path::PathBuf;

use clap::Args as ClapArgs;
use penstock_device::{Design, DesignError, DeviceError, ForGroup, Override, Progress, Root, rtl};
use penstock_engine::say;

use crate::cmd::run::units;
use crate::show::Bar;

/// Builds the RTL model of a card, and prints its path.
///
/// `run --target rtl` does the same when it needs the model. The name of its folder is a hash of the sources, the
/// parameters and the tools, so the same model has the same path below every checkout.
#[derive(Debug, ClapArgs)]
pub(crate) struct Args {
    /// Manifest of the card.
    pub design: PathBuf,
    /// Build the card with this many units; with several groups, in the named group. Repeatable.
    #[arg(long, value_name = "[GROUP=]COUNT", value_parser = units)]
    pub units: Vec<ForGroup<u32>>,
}

/// Why there is no model.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ModelError {
    #[error(transparent)]
    Design(#[from] DesignError),
    #[error(transparent)]
    Device(#[from] DeviceError),
}

/// Builds the model, or finds it.
pub(crate) fn run(args: &Args, root: &Root) -> Result<(), ModelError> {
    let change = Override { units: args.units.clone(), ..Override::default() };
    let design = Design::read(&args.design)?.with(change)?;
    let mut bar = Bar::new(design.units());
    let path = rtl::library(root, &design, &mut |progress: Progress| bar.show(progress))?;
    bar.finish();
    say!("{}", path.display());
    Ok(())
}
