// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The cards of the benches in RTL: two ports, tenants by VLAN id, each with the same program.

use std::fs;
use std::path::{Path, PathBuf};

use penstock_bench::{BenchError, Card, Lab, PORTS};
use penstock_device::rtl::RtlDevice;
use penstock_device::{Override, Root, files};
use serde_json::{Value, json};

use crate::load;

/// Stages of the paper's pipeline.
pub(crate) const STAGES: u8 = 5;
/// Most tenants of a card: 0 is the system.
pub(crate) const TENANTS: u16 = 63;

/// A program of the tenants.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Program {
    /// Its file in engines/rmt/programs, without the ending.
    pub name: &'static str,
    /// A declaration in it and what stands in its place, so that the tables of all tenants fit: its `size` is reserved.
    pub smaller: (&'static str, &'static str),
    /// The entries that each tenant has.
    pub entries: fn() -> Vec<Value>,
    /// A frame of a size, of a VLAN id, that enters at a port and leaves at the other one. Frames differ by their number.
    pub frame: fn(port: u8, vlan: u16, number: u32, size: usize) -> Vec<u8>,
    /// Whether its frames change registers.
    pub stateful: bool,
}

/// Longest prefixes and next hops, IPv4's checksum.
pub(crate) const ROUTER: Program = Program {
    name: "router",
    smaller: ("size = 256;", "size = 16;"),
    entries: load::routes,
    frame: load::ipv4,
    stateful: false,
};
/// Ternary and range keys, and classes by prefixes.
pub(crate) const ACL: Program = Program {
    name: "acl",
    smaller: ("size = 32;", "size = 16;"),
    entries: load::lines,
    frame: load::ipv4,
    stateful: false,
};
/// Each frame gets the next number of its chain from a register.
pub(crate) const NETCHAIN: Program = Program {
    name: "netchain",
    smaller: ("size = 64;", "size = 16;"),
    entries: load::chains,
    frame: load::request,
    stateful: true,
};

/// Opens a card with `tenants` tenants that run `program`, tenant n on VLAN id n.
pub(crate) fn open(lab: &Lab, stages: u8, program: Program, tenants: u16) -> Result<RtlDevice, BenchError> {
    let folder = lab.root.join("build/bench");
    let name = format!("rmt-{}-{stages}-{tenants}", program.name);
    let entries: serde_json::Map<_, _> = (1..=tenants).map(|n| (format!("t{n}"), json!((program.entries)()))).collect();
    write(&folder, &format!("{name}.json"), &Value::Object(entries).to_string())?;
    let file = write(&folder, &format!("{}.p4", program.name), &source(lab.root, program)?)?;
    let design = design(lab.root, &file, stages, tenants, &format!("{name}.json"));
    let path = write(&folder, &format!("{name}.toml"), &design)?;
    lab.rtl(&Card::read(lab.root, &path, Override::default())?)
}

/// A card of the same ports and unit without the block.
pub(crate) fn open_without_block(lab: &Lab) -> Result<RtlDevice, BenchError> {
    let text = format!("[card]\nname = \"no-rmt\"\nports = {PORTS}\n\n{}", unit(lab.root));
    let path = write(&lab.root.join("build/bench"), "no-rmt.toml", &text)?;
    lab.rtl(&Card::read(lab.root, &path, Override::default())?)
}

/// The text of a program.
pub(crate) fn source(root: &Root, program: Program) -> Result<String, BenchError> {
    let path = root.join("engines/rmt/programs").join(format!("{}.p4", program.name));
    let text = files::read(&path, "it is one of the engine's programs")?;
    let (from, to) = program.smaller;
    match text.contains(from) {
        true => Ok(text.replace(from, to)),
        false => Err(BenchError::Wrong("rmt", format!("{} has no `{from}`", path.display()))),
    }
}

fn design(root: &Root, program: &Path, stages: u8, tenants: u16, entries: &str) -> String {
    let of_tenant = |n: u16| format!("[[tenants]]\nname = \"t{n}\"\nvlan = {n}\n\n");
    let programs = (1..=tenants).map(|n| format!("t{n} = {:?}", program.display().to_string())).collect::<Vec<_>>();
    format!(
        "[card]\nname = \"rmt-bench\"\nports = {PORTS}\n\n{}[[inline]]\nengine = \"rmt\"\n\
         rmt.stages = {stages}\nrmt.entries = \"{entries}\"\nrmt.programs = {{ {} }}\n\n{}",
        (1..=tenants).map(of_tenant).collect::<String>(),
        programs.join(", "),
        unit(root),
    )
}

/// The card's unit, which frames of no tenant reach.
fn unit(root: &Root) -> String {
    let program = root.join("engines/rpu/programs/forward.c");
    format!("[[units]]\nengine = \"rpu\"\ncount = 1\nprogram = {:?}\n", program.display().to_string())
}

fn write(folder: &Path, name: &str, text: &str) -> Result<PathBuf, BenchError> {
    let path = folder.join(name);
    let written = fs::create_dir_all(folder).and_then(|()| fs::write(&path, text));
    written.map_err(|error| BenchError::Wrong("rmt", format!("{} cannot be written: {error}", path.display())))?;
    Ok(path)
}
