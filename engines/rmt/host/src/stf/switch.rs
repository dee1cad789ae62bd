// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! What a test in STF is run on: the native program alone, or a card in RTL around it.

use std::path::Path;

use penstock_engine::{Request, TestCard, ToolError, Workbench};
use penstock_rmt::Block;
use penstock_unit::{Block as _, Entering, Verdict};
use serde_json::{Value as Json, json};

use crate::ask::NAME;
use crate::entry::{Meant, NamedEntry, find};
use crate::image::Source;

/// Ethernet ports of the card in RTL; the engine has two lanes.
const PORTS: u8 = 2;
/// Shortest frame that a card takes, in bytes.
const SHORTEST: usize = 14;

/// Something that runs a P4 program.
pub trait Switch {
    /// Carries a frame; gives the frames that leave, with their ports.
    fn carry(&mut self, port: u32, frame: &[u8]) -> Result<Vec<(u32, Vec<u8>)>, ToolError>;
    /// Adds an entry, or sets a default action.
    fn insert(&mut self, entry: &NamedEntry) -> Result<(), ToolError>;
    /// Packets and bytes of a cell of an indirect counter.
    fn counter(&mut self, name: &str, index: u32) -> Result<(u64, u64), ToolError>;
    /// Writes a cell of a register.
    fn write_register(&mut self, name: &str, index: u32, value: &str) -> Result<(), ToolError>;
}

/// The native program. It has all ports of v1model, and takes frames of any length.
pub struct Native {
    source: Source,
    block: Block,
}

impl Native {
    /// The program as it begins.
    pub fn new(source: Source) -> Self {
        let mut block = Block::default();
        block.load(0, source.program.clone());
        Self { source, block }
    }
}

impl Switch for Native {
    fn carry(&mut self, port: u32, frame: &[u8]) -> Result<Vec<(u32, Vec<u8>)>, ToolError> {
        let port = u8::try_from(port).map_err(|_| format!("port {port}: ports are 0 to 255"))?;
        let (mut bytes, mut made, mut mark) = (frame.to_vec(), Vec::new(), 0);
        let entering = Entering { port, ..Entering::default() };
        let verdict = self.block.carry(&mut bytes, &mut mark, entering, &mut made);
        let own = [(verdict, bytes)].into_iter();
        let all = made.into_iter().map(|made| (made.verdict, made.frame)).chain(own);
        let left = all.filter_map(|(verdict, bytes)| match verdict {
            Verdict::Port(port) => Some(Ok((port, bytes))),
            Verdict::Drop | Verdict::Absorb => None,
            other => Some(Err(format!("a frame left the pipeline by {other:?}, which STF has no word for").into())),
        });
        left.collect()
    }

    fn insert(&mut self, entry: &NamedEntry) -> Result<(), ToolError> {
        let tenant = self.block.tenant_mut(0).ok_or("the program is not loaded")?;
        match entry.read(&self.source.program, true).map_err(|refusal| refusal.message)? {
            Meant::Entry(table, entry) => Ok(tenant.insert(table, &entry)?),
            Meant::Default(table, Some(call)) => {
                tenant.set_default(table, &call);
                Ok(())
            }
            Meant::Default(_, None) => Err("the default action is missing".into()),
        }
    }

    fn counter(&mut self, name: &str, index: u32) -> Result<(u64, u64), ToolError> {
        let counters = &self.source.program.counters;
        let names = counters.iter().map(|counter| counter.name.as_str());
        let at = find(names, name, "counter").map_err(|refusal| refusal.message)?;
        let cells = self.block.tenant(0).map(|tenant| tenant.counter(at)).unwrap_or_default();
        let cell = cells.get(index as usize).ok_or_else(|| format!("{name} has {} cells", cells.len()))?;
        Ok((cell.packets, cell.bytes))
    }

    fn write_register(&mut self, name: &str, index: u32, value: &str) -> Result<(), ToolError> {
        let registers = &self.source.program.registers;
        let names = registers.iter().map(|register| register.name.as_str());
        let at = find(names, name, "register").map_err(|refusal| refusal.message)?;
        let value = crate::value::read_text(value, registers[at].width)?;
        if u64::from(index) >= u64::from(registers[at].size) {
            return Err(format!("{name} has {} cells", registers[at].size).into());
        }
        if let Some(tenant) = self.block.tenant_mut(0) {
            tenant.set_register(at, index, value);
        }
        Ok(())
    }
}

/// A card in RTL with the program in its only block.
pub struct OnCard {
    card: Box<dyn TestCard>,
}

impl OnCard {
    /// Opens and loads the card.
    ///
    /// # Errors
    /// The program does not fit the hardware.
    pub fn open(program: &Path, bench: &dyn Workbench) -> Result<Self, ToolError> {
        let program = std::path::absolute(program)?;
        let unit = bench.root().join("engines/rpu/programs/forward.c");
        let text = |path: &Path| json!(path.display().to_string());
        let manifest = format!(
            "[card]\nname = \"stf\"\nports = {PORTS}\n[[inline]]\nengine = \"{NAME}\"\nprogram = {}\n[[units]]\nengine = \"rpu\"\ncount = 1\nprogram = {}\n",
            text(&program),
            text(&unit),
        );
        let folder = program.parent().unwrap_or(Path::new(""));
        Ok(Self { card: bench.card(folder, &manifest, true)? })
    }

    fn ask(&mut self, ask: Json) -> Result<Json, ToolError> {
        self.card.ask(Request { service: NAME.to_owned(), ask })
    }
}

impl Switch for OnCard {
    fn carry(&mut self, port: u32, frame: &[u8]) -> Result<Vec<(u32, Vec<u8>)>, ToolError> {
        let known = u8::try_from(port).ok().filter(|port| *port < PORTS);
        let port = known.ok_or_else(|| format!("port {port}: the card in RTL has ports 0 to {}", PORTS - 1))?;
        if frame.len() < SHORTEST {
            return Err(
                format!("a card takes frames from {SHORTEST} bytes on: run this test with --target soft").into()
            );
        }
        let left = self.card.carry(&[(port, frame.to_vec())])?;
        let port = |port: Option<u8>| port.map(u32::from).ok_or("a frame left to the host, which STF has no word for");
        left.into_iter().map(|left| Ok((port(left.port)?, left.bytes))).collect()
    }

    fn insert(&mut self, entry: &NamedEntry) -> Result<(), ToolError> {
        self.ask(json!({"insert": {"entry": entry}})).map(drop)
    }

    fn counter(&mut self, name: &str, index: u32) -> Result<(u64, u64), ToolError> {
        let answer = self.ask(json!({"counters": {"counter": name}}))?;
        let cell = &answer[0]["cells"][index as usize];
        match (cell["packets"].as_u64(), cell["bytes"].as_u64()) {
            (Some(packets), Some(bytes)) => Ok((packets, bytes)),
            _ => Err(format!("{name} has no cell {index}").into()),
        }
    }

    fn write_register(&mut self, _: &str, _: u32, _: &str) -> Result<(), ToolError> {
        Err("register_write is for --target soft; on rtl the program's frames write registers".into())
    }
}
