// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! `penstock fpga`: the project of a real card, and what is said to one. Never run on hardware: see docs/cards.md.

mod build;

use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process;

use clap::Subcommand;
use penstock_device::fpga::{
    FpgaDevice, FpgaError, Identity, NoPlace, Place, ProjectError, ReportError, Reports, Shell, open_bar, simulator,
    write_project,
};
use penstock_device::{Design, DesignError, Device, DeviceError, EngineError, Image, Root};

use penstock_engine::say;

use crate::show::Bar;

/// Writes the project of a real card, and drives one over its BAR. Never run on hardware (docs/cards.md).
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Writes the project of a design for a shell and a board, and says how to build it.
    Init {
        /// The design.
        design: PathBuf,
        /// The card's shell: opennic or corundum.
        #[arg(long, default_value_t)]
        shell: Shell,
        /// The board, as the shell calls it.
        #[arg(long, default_value = "au250")]
        board: String,
        /// Folder to write.
        #[arg(long, value_name = "DIR")]
        out: PathBuf,
    },
    /// Builds a project of `init` with Vivado, and prints its reports of area and timing. Without Vivado it says what it
    /// would run.
    Build {
        /// The project.
        project: PathBuf,
        /// The checkout of the shell: open-nic-shell or corundum.
        #[arg(long, value_name = "DIR")]
        checkout: PathBuf,
    },
    /// Prints reports of Vivado as `synth` prints areas.
    Report {
        /// Reports of utilization or timing, or a folder in which Vivado has built.
        #[arg(required = true)]
        paths: Vec<PathBuf>,
    },
    /// Simulates a design's card in a shell, for hosts that come to a socket one after the other.
    Sim {
        /// The design.
        design: PathBuf,
        /// The card's shell: opennic or corundum.
        #[arg(long, default_value_t)]
        shell: Shell,
        /// The socket: other commands then find the card at sim:SOCKET.
        #[arg(long, value_name = "SOCKET")]
        at: PathBuf,
        /// How much faster than the card's clock those of the MACs and their cables run, in ppm.
        #[arg(long, default_value_t = 0.0, allow_negative_numbers = true)]
        drift: f64,
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
        /// Where it is: sim:SOCKET, pci:0000:81:00.0, or sim or sim-SHELL for a simulated one of its own.
        #[arg(long)]
        card: String,
    },
}

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error(transparent)]
    Design(#[from] DesignError),
    #[error(transparent)]
    Project(#[from] ProjectError),
    #[error(transparent)]
    Build(#[from] build::Error),
    #[error(transparent)]
    Report(#[from] ReportError),
    #[error(transparent)]
    Place(#[from] NoPlace),
    #[error(transparent)]
    Fpga(#[from] FpgaError),
    #[error(transparent)]
    Device(#[from] DeviceError),
    #[error(transparent)]
    Engine(#[from] EngineError),
    #[error("{program}: {source}")]
    Start { program: String, source: std::io::Error },
}

/// Runs the command.
pub(crate) fn run(args: &Args, root: &Root) -> Result<(), Error> {
    match &args.command {
        Command::Init { design, shell, board, out } => {
            let written = write_project(root, &Design::read(design)?, *shell, board, out)?;
            say::text(&written.areas.to_string());
            say!("{}: the project is written; it was never built. To build it:", out.display());
            written.commands.iter().for_each(|command| say!("    {command}"));
        }
        Command::Build { project, checkout } => build::run(project, checkout)?,
        Command::Report { paths } => {
            let reports = match &paths[..] {
                [folder] if folder.is_dir() => Reports::of_folder(folder, None)?,
                files => Reports::of_files(files)?,
            };
            say::text(&reports.to_string());
        }
        Command::Sim { design, shell, at, drift } => {
            let design = Design::read(design)?;
            let mut bar = Bar::new(design.units());
            let program = simulator(root, &design, *shell, &mut |progress| bar.show(progress));
            bar.finish();
            let program = program?;
            let source = process::Command::new(&program).arg(at).arg(drift.to_string()).exec();
            return Err(Error::Start { program: program.display().to_string(), source });
        }
        Command::Check { card } => {
            let place: Place = card.parse()?;
            say!("{place}: {}", Identity::read(&place, &mut *open_bar(&place)?)?);
        }
        Command::Load { design, card } => {
            let design = Design::read(design)?;
            let image = Image::of(root, &design)?;
            let mut bar = Bar::new(design.units());
            let card = FpgaDevice::open(root, &design, &card.parse()?, &mut |progress| bar.show(progress));
            bar.finish();
            let mut card = card?;
            card.load(&image)?;
            say!("loaded; the card: {}", card.identity());
            let counters = card.counters()?;
            for (port, counters) in counters.ports.iter().enumerate() {
                say!("port {port}: {} frames in, {} out", counters.rx_frames, counters.tx_frames);
            }
        }
    }
    Ok(())
}
