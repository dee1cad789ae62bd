// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! `penstock fpga`: the project of a real card, and what is said to one. Never run on hardware: see docs/cards.md.

use std::path::PathBuf;

use clap::Subcommand;
use penstock_device::fpga::{FpgaCard, FpgaError, Identity, NoPlace, Place, ProjectError, open_bar, write_project};
use penstock_device::{Design, DesignError, DeviceError, EngineError, Image, Root};

/// Writes the project of a real card, and drives one over its BAR. Never run on hardware (docs/cards.md).
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Writes the project of a design for a shell and a board, and says how to build it.
    Init {
        /// The design.
        design: PathBuf,
        /// The card's shell.
        #[arg(long, default_value = "opennic")]
        shell: String,
        /// The board, as the shell calls it.
        #[arg(long, default_value = "au250")]
        board: String,
        /// Folder to write.
        #[arg(long, value_name = "DIR")]
        out: PathBuf,
    },
    /// Asks a card who it is.
    Check {
        /// Where it is: sim:SOCKET or pci:0000:81:00.0.
        card: String,
    },
    /// Loads a design's programs and tables into a card that was built for it, and prints its counters.
    Load {
        /// The design.
        design: PathBuf,
        /// Where it is: sim:SOCKET or pci:0000:81:00.0.
        #[arg(long)]
        card: String,
    },
}

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Design(#[from] DesignError),
    #[error(transparent)]
    Project(#[from] ProjectError),
    #[error(transparent)]
    Place(#[from] NoPlace),
    #[error(transparent)]
    Fpga(#[from] FpgaError),
    #[error(transparent)]
    Device(#[from] DeviceError),
    #[error(transparent)]
    Engine(#[from] EngineError),
}

/// Runs the command.
pub fn run(args: &Args, root: &Root) -> Result<(), Error> {
    match &args.command {
        Command::Init { design, shell, board, out } => {
            let commands = write_project(root, &Design::read(design)?, shell, board, out)?;
            println!("{}: the project is written; it was never built. To build it:", out.display());
            commands.iter().for_each(|command| println!("    {command}"));
        }
        Command::Check { card } => {
            let place: Place = card.parse()?;
            println!("{place}: {}", Identity::read(&place, &mut *open_bar(&place)?)?);
        }
        Command::Load { design, card } => {
            let design = Design::read(design)?;
            let image = Image::of(root, &design)?;
            let mut card = FpgaCard::open(root, &design, &card.parse()?)?;
            card.load(&image)?;
            println!("loaded; the card: {}", card.identity());
            let counters = card.counters()?;
            for (port, counters) in counters.ports.iter().enumerate() {
                println!("port {port}: {} frames in, {} out", counters.rx_frames, counters.tx_frames);
            }
        }
    }
    Ok(())
}
