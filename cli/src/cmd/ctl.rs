// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! `penstock ctl`: talks to a card that is up.

use std::io;
use std::path::{Path, PathBuf, absolute};

use clap::{Args as ClapArgs, Subcommand};
use penstock_debug::DebugError;
use penstock_device::{Design, DesignError, ForGroup};
use penstock_engine::say;
use penstock_live::protocol::{Loaded, Log, ProgramAbout, Reloaded, Reply, Request, Swapped};
use penstock_live::{Client, ControlError, control};

use crate::cmd::capture::Capture;
use crate::cmd::debugger::Debugger;
use crate::cmd::{run, tables};
use crate::files::FileError;
use crate::gdb::DebuggerError;
use crate::status::{Look, More};

/// Controls a card that is up: counters, memories, tables, interrupts, and programs that are loaded while it works.
#[derive(Debug, ClapArgs)]
pub(crate) struct Args {
    /// Which card.
    #[command(flatten)]
    pub which: Which,
    /// The command.
    #[command(subcommand)]
    pub action: Action,
}

/// Programs of a card that is up, as `ctl prog`.
#[derive(Debug, ClapArgs)]
pub(crate) struct ProgArgs {
    /// Which card.
    #[command(flatten)]
    pub which: Which,
    /// The operation on them.
    #[command(subcommand)]
    pub action: Prog,
}

/// A card that is up.
#[derive(Debug, ClapArgs)]
pub(crate) struct Which {
    /// Name or manifest of its design; may be left out when only one is up.
    pub design: Option<String>,
    /// Its control socket, as `penstock up` prints it.
    #[arg(long, value_name = "PATH", conflicts_with = "design")]
    pub socket: Option<PathBuf>,
    /// Print the answer as JSON.
    #[arg(long, global = true)]
    pub json: bool,
}

/// A command for a card. Numbers may be hexadecimal, such as 0x10.
#[derive(Debug, Subcommand)]
pub(crate) enum Action {
    /// Ports, units, drops and faults.
    Status,
    /// All counters, as JSON.
    Counters,
    /// Reads registers of the card (shell/regs/card.rdl).
    Read {
        /// Address of the first one.
        #[arg(value_parser = number)]
        address: u32,
        /// How many.
        #[arg(value_parser = number, default_value = "1")]
        count: u32,
    },
    /// Writes a register of the card.
    Write {
        /// Its address.
        #[arg(value_parser = number)]
        address: u32,
        /// What it becomes.
        #[arg(value_parser = number)]
        value: u32,
    },
    /// Reads or writes memory of a unit: 0x800000 data, 0x1000000 packets, 0x2000000 instructions, 0x3000000 tables.
    Mem {
        /// The operation on it.
        #[command(subcommand)]
        access: Mem,
    },
    /// Loads a table between two frames, for example `table ip_prefix list.txt`.
    Table {
        /// Its name; when several groups of units have it, GROUP.TABLE.
        name: String,
        /// The file.
        file: PathBuf,
    },
    /// Programs of groups and blocks, and other programs for them between two frames.
    Prog {
        /// The operation on them.
        #[command(subcommand)]
        action: Prog,
    },
    /// Takes the lines that programs have printed, each once.
    Log,
    /// Raises a unit's poke interrupt.
    Poke {
        /// The unit.
        unit: u32,
    },
    /// Raises a unit's evict interrupt.
    Evict {
        /// The unit.
        unit: u32,
    },
    /// Prints a unit's 64-bit debug word; with VALUE, first writes the word that its program reads.
    Debug {
        /// The unit.
        unit: u32,
        /// The word for its program.
        #[arg(value_parser = long_number)]
        value: Option<u64>,
    },
    /// Gives a unit no more frames.
    Disable {
        /// The unit.
        unit: u32,
    },
    /// Gives a unit frames again.
    Enable {
        /// The unit.
        unit: u32,
    },
    /// Gives frames of ports and host to these groups of units from now on, instead of those of the design; no frame is
    /// lost.
    Ingress {
        /// Their names.
        #[arg(required = true)]
        groups: Vec<String>,
    },
    /// Writes frames at a port into a pcapng file, until Ctrl-C or a limit.
    Capture(Capture),
    /// Debugs a unit.
    #[command(flatten)]
    Debugger(Debugger),
    /// Loads another program, unit by unit, while the others carry the traffic.
    Reload {
        /// C source or .elf; with several groups of units, for this group. If omitted, the running programs are
        /// compiled again.
        #[arg(value_name = "[GROUP=]PROGRAM", value_parser = run::program)]
        program: Option<ForGroup<PathBuf>>,
        /// Load this file into a table with it. Repeatable.
        #[arg(long = "table", value_name = "[PART.]TABLE=FILE", value_parser = tables::table)]
        tables: Vec<(String, PathBuf)>,
    },
}

/// Operations on programs.
#[derive(Debug, Subcommand)]
pub(crate) enum Prog {
    /// Lists the program and the tables of each group of units and inline block, and the program that waits for `swap`.
    List,
    /// Compiles and checks a program beside the running one; it waits for `swap`.
    Load {
        /// The program, of several parts for the group or block of this name.
        #[arg(value_name = "[NAME=]PROGRAM", value_parser = run::program)]
        program: ForGroup<PathBuf>,
    },
    /// Gives a group or block another program between two frames; its tables of the same name, types and sizes keep
    /// what they hold.
    Swap {
        /// The program; with several parts, for the group or block of this name. If omitted, the program that was
        /// loaded (that of NAME=, or the only one that waits), else the running one, compiled again.
        #[arg(value_name = "[NAME=][PROGRAM]", value_parser = swapped)]
        program: Option<ForGroup<Option<PathBuf>>>,
    },
}

/// Operations on memory of a unit.
#[derive(Debug, Subcommand)]
pub(crate) enum Mem {
    /// Reads words.
    Read {
        /// The unit.
        unit: u32,
        /// Address of the first one.
        #[arg(value_parser = number)]
        address: u32,
        /// How many.
        #[arg(value_parser = number, default_value = "1")]
        count: u32,
    },
    /// Writes words.
    Write {
        /// The unit.
        unit: u32,
        /// Address of the first one.
        #[arg(value_parser = number)]
        address: u32,
        /// What they become.
        #[arg(value_parser = number, required = true)]
        values: Vec<u32>,
    },
}

/// Why a card was not reached or did not do it.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CtlError {
    #[error(transparent)]
    Control(#[from] ControlError),
    #[error(transparent)]
    Design(#[from] DesignError),
    #[error(transparent)]
    File(#[from] FileError),
    #[error("{0}")]
    Arguments(String),
    #[error(transparent)]
    Parse(#[from] clap::Error),
    #[error("the answer is no JSON: {0}")]
    Json(#[from] serde_json::Error),
    #[error("cannot wait for signals or frames: {0}")]
    Signals(io::Error),
    #[error(transparent)]
    Debugger(#[from] DebuggerError),
}

impl From<DebugError> for CtlError {
    fn from(error: DebugError) -> Self {
        DebuggerError::from(error).into()
    }
}

impl Which {
    /// Connects to it.
    pub(crate) fn connect(&self) -> Result<Client, CtlError> {
        let socket = match (&self.socket, &self.design) {
            (Some(socket), _) => socket.clone(),
            (None, None) => control::only()?,
            (None, Some(word)) if Path::new(word).is_file() => control::path_of(&Design::read(Path::new(word))?.name)?,
            (None, Some(word)) => control::path_of(word)?,
        };
        Ok(Client::connect(&socket)?)
    }
}

/// Sends a request to a card, and prints its answer.
pub(crate) fn run(args: &Args) -> Result<(), CtlError> {
    let request = match (&args.action, request(&args.action)?) {
        (Action::Debugger(action), _) => return action.run(&args.which),
        (Action::Capture(capture), _) => return capture.run(&args.which),
        (_, None) => return Ok(()),
        (_, Some(request)) => request,
    };
    ask(&args.which, &request)
}

/// The same of `penstock prog`.
pub(crate) fn prog(args: &ProgArgs) -> Result<(), CtlError> {
    ask(&args.which, &args.action.request()?)
}

fn ask(which: &Which, request: &Request) -> Result<(), CtlError> {
    let mut client = which.connect()?;
    let reply = client.ask(request)?;
    if which.json {
        say!("{}", serde_json::to_string(&reply)?);
    } else if let Some(status) = &reply.status {
        say::text(&Look::since_start(status).text(&More::ask(&mut client)?));
    } else {
        say::text(&text(request, &reply)?);
    }
    Ok(())
}

/// The absolute path of a file: the card may have been started in another folder.
fn whole(path: &PathBuf) -> Result<PathBuf, FileError> {
    absolute(path).map_err(|error: io::Error| FileError::input(path, error, "give a path"))
}

impl Prog {
    /// The request to the card.
    fn request(&self) -> Result<Request, FileError> {
        Ok(match self {
            Prog::List => Request::Programs,
            Prog::Load { program } => Request::Load { group: program.group.clone(), program: whole(&program.value)? },
            Prog::Swap { program } => Request::Swap {
                group: program.as_ref().and_then(|program| program.group.clone()),
                program: program.as_ref().and_then(|program| program.value.as_ref()).map(whole).transpose()?,
            },
        })
    }
}

/// The request to the card; None if the action is more than a request.
fn request(action: &Action) -> Result<Option<Request>, FileError> {
    Ok(Some(match action {
        Action::Debugger(_) | Action::Capture(_) => return Ok(None),
        Action::Status => Request::Status,
        Action::Counters => Request::Counters,
        Action::Read { address, count } => Request::Read { address: *address, count: *count },
        Action::Write { address, value } => Request::Write { address: *address, value: *value },
        Action::Mem { access: Mem::Read { unit, address, count } } => {
            Request::MemRead { unit: *unit, address: *address, count: *count }
        }
        Action::Mem { access: Mem::Write { unit, address, values } } => {
            Request::MemWrite { unit: *unit, address: *address, values: values.clone() }
        }
        Action::Table { name, file } => Request::Table { name: name.clone(), file: whole(file)? },
        Action::Log => Request::Log,
        Action::Prog { action } => action.request()?,
        Action::Poke { unit } => Request::Poke { unit: *unit },
        Action::Evict { unit } => Request::Evict { unit: *unit },
        Action::Debug { unit, value } => Request::Debug { unit: *unit, value: *value },
        Action::Disable { unit } => Request::Disable { unit: *unit },
        Action::Enable { unit } => Request::Enable { unit: *unit },
        Action::Ingress { groups } => Request::Ingress { groups: groups.clone() },
        Action::Reload { program, tables } => Request::Reload {
            group: program.as_ref().and_then(|program| program.group.clone()),
            program: program.as_ref().map(|program| whole(&program.value)).transpose()?,
            tables: tables
                .iter()
                .map(|(name, file)| Ok((name.clone(), whole(file)?)))
                .collect::<Result<_, FileError>>()?,
        },
    }))
}

fn text(request: &Request, reply: &Reply) -> Result<String, serde_json::Error> {
    let mut text = String::new();
    if let Some(counters) = &reply.counters {
        text += &(serde_json::to_string_pretty(counters)? + "\n");
    }
    if let Some(words) = &reply.words
        && let Request::Read { address, .. } | Request::MemRead { address, .. } = request
    {
        for (index, words) in (0..).zip(words.chunks(4)) {
            let words: Vec<String> = words.iter().map(|word| format!("{word:08x}")).collect();
            text += &format!("0x{:08x}: {}\n", address + 16 * index, words.join(" "));
        }
    }
    for about in reply.programs.iter().flatten() {
        text += &format!("{}\n", program_line(about));
    }
    for about in reply.waiting.iter().flatten() {
        text += &format!("waits for `prog swap`: {}\n", program_line(about));
    }
    if let Some(Loaded { program, messages }) = &reply.load {
        text += &format!("{messages}waits for `prog swap`: {}\n", program_line(program));
    }
    if let Some(Swapped { kept, anew, messages }) = &reply.swap {
        let list = |tables: &[String]| if tables.is_empty() { "none".to_string() } else { tables.join(", ") };
        text += &format!("{messages}tables kept: {}; begun anew: {}\n", list(kept), list(anew));
    }
    if let Some(Log { lines, lost }) = &reply.log {
        lines.iter().for_each(|line| text += &format!("{line}\n"));
        if *lost > 0 {
            text += &format!("lines lost since the card is up: {lost}\n");
        }
    }
    if let Some(debug) = reply.debug {
        text += &format!("0x{debug:016x}\n");
    }
    if let Some(Reloaded { units, lost, messages }) = &reply.reload {
        let lost =
            if *lost == 0 { "no frame lost".to_string() } else { format!("{lost} frames lost, which units kept") };
        text += &format!("{messages}{units} units loaded, {lost}\n");
    }
    Ok(text)
}

fn program_line(ProgramAbout { group, engine, units, file, name, tables }: &ProgramAbout) -> String {
    let group = if group.is_empty() { String::new() } else { format!("{group}: ") };
    let part = units.map_or_else(|| "inline block".to_owned(), |(first, end)| format!("units {first}..{}", end - 1));
    let name = name.as_ref().map_or(String::new(), |name| format!("{name} of "));
    let tables = if tables.is_empty() { String::new() } else { format!("; tables: {}", tables.join(", ")) };
    format!("{group}{part} ({engine}): {name}{}{tables}", file.display())
}

/// Parses [GROUP=][FILE], one of them at least.
fn swapped(text: &str) -> Result<ForGroup<Option<PathBuf>>, String> {
    let ForGroup { group, value } = ForGroup::parse(text);
    match (value, group) {
        ("", None) => {
            Err(format!("`{text}` is no program: write FILE, GROUP=FILE, or GROUP= for the one that was loaded"))
        }
        (file, group) => Ok(ForGroup { group, value: Some(file.into()).filter(|_| !file.is_empty()) }),
    }
}

fn number(text: &str) -> Result<u32, String> {
    u32::try_from(long_number(text)?).map_err(|_| format!("{text} has more than 32 bits"))
}

fn long_number(text: &str) -> Result<u64, String> {
    let parsed = match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16),
        None => text.parse(),
    };
    parsed.map_err(|_| format!("`{text}` is no number: write 16 or 0x10"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_decimal_or_hexadecimal() {
        assert_eq!((number("16"), number("0x10"), long_number("0xffffffffffffffff")), (Ok(16), Ok(16), Ok(u64::MAX)));
        assert!(["", "0x", "-1", "0x100000000", "ten"].iter().all(|text| number(text).is_err()));
    }
}
