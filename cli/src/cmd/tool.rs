// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Commands of engines as subcommands of `penstock compile` and `penstock exec`, and the functions that the command
//! line offers them.

use std::ops::Range;
use std::path::Path;

use clap::{ArgMatches, Command};
use penstock_device::capture;
use penstock_device::{Design, Device, Image, Port, Rate, Request, Root, Target, Traffic, open};
use penstock_engine::{Left, TestCard, Tool, ToolError, Workbench, note};
use serde_json::Value as Json;

use crate::show::Bar;

/// Adds these commands of engines as subcommands, one of which must be given.
pub(crate) fn add(command: Command, tools: impl Iterator<Item = (&'static str, Tool)>) -> Command {
    let command = command.arg_required_else_help(true).subcommand_required(true);
    tools.fold(command, |command, (name, tool)| command.subcommand((tool.command)().name(name)))
}

/// Carries out the command of the engine that the arguments name.
pub(crate) fn run(
    matches: &ArgMatches,
    mut tools: impl Iterator<Item = (&'static str, Tool)>,
) -> Result<(), ToolError> {
    let chosen = matches.subcommand().and_then(|(name, arguments)| {
        let (_, tool) = tools.find(|(engine, _)| *engine == name)?;
        Some((tool, arguments))
    });
    // The parser has refused all else.
    let Some((tool, arguments)) = chosen else { return Ok(()) };
    (tool.run)(arguments, &Bench { root: Root::find()? })
}

/// The functions that the command line offers.
struct Bench {
    root: Root,
}

impl Workbench for Bench {
    fn root(&self) -> &Root {
        &self.root
    }

    fn groups(&self, design: &Path) -> Result<Vec<(String, Range<u32>)>, ToolError> {
        Ok(Design::read(design)?.named_groups())
    }

    fn frames(&self, file: &Path) -> Result<Vec<Vec<u8>>, ToolError> {
        let capture = capture::read(file)?;
        capture.faults.iter().for_each(|fault| note!("{fault}"));
        Ok(capture.frames().map(|(_, bytes)| bytes.to_vec()).collect())
    }

    fn card(&self, folder: &Path, manifest: &str, rtl: bool) -> Result<Box<dyn TestCard>, ToolError> {
        let design = Design::parse(&folder.join("test.toml"), manifest)?;
        let image = Image::of(&self.root, &design)?;
        let target = if rtl { Target::Rtl } else { Target::Soft };
        let mut bar = Bar::new(design.units());
        let mut device = open(&self.root, &design, target, &mut |progress| bar.show(progress))?;
        bar.finish();
        device.load(&image)?;
        Ok(Box::new(Card { device }))
    }
}

/// A card for a test.
struct Card {
    device: Box<dyn Device>,
}

impl TestCard for Card {
    fn carry(&mut self, frames: &[(u8, Vec<u8>)]) -> Result<Vec<Left>, ToolError> {
        let mut traffic = Traffic::default();
        for (time, (port, bytes)) in (0..).zip(frames) {
            traffic.push(Port::Ethernet(*port), bytes, time);
        }
        self.device.send(&traffic, Rate::Turns)?;
        let run = self.device.run(&mut |_| {})?;
        if !run.faults.is_empty() {
            return Err(run.faults.join("; ").into());
        }
        let left = run.departures.into_iter().map(|departure| {
            let port = match departure.to {
                Port::Ethernet(port) => Some(port),
                Port::Host => None,
            };
            Left { port, bytes: departure.bytes }
        });
        Ok(left.collect())
    }

    fn ask(&mut self, request: Request) -> Result<Json, ToolError> {
        Ok(self.device.call(&request)?)
    }
}
