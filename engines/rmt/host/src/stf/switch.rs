// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The switch of a test in STF: the native program alone, or a card in RTL around it.

use std::collections::BTreeSet;
use std::path::Path;

use penstock_engine::{Request, TestCard, ToolError, Workbench};
use penstock_rmt::{Block, Count, Tenant};
use penstock_rmt_compiler::ir::{Rates, Replica, Session};
use penstock_unit::{Block as _, Entering, Verdict};
use serde_json::{Value as Json, json};

use crate::ask::NAME;
use crate::entry::{Meant, NamedEntry};
use crate::image::Source;

use super::names;
use super::statement::Change;

/// Ethernet ports of the card in RTL; the engine has two lanes.
const PORTS: u8 = 2;
/// Shortest frame that a card takes, in bytes.
const SHORTEST: usize = 14;

/// Way out of statements that the card in RTL cannot carry out.
const SOFT: &str = "this statement is for --target soft";

/// Something that runs a P4 program.
pub(super) trait Switch {
    /// Carries a frame; gives the frames that leave, with their ports.
    fn carry(&mut self, port: u32, frame: &[u8]) -> Result<Vec<(u32, Vec<u8>)>, ToolError>;
    /// Adds an entry, or sets a default action.
    fn insert(&mut self, entry: &NamedEntry) -> Result<(), ToolError>;
    /// Packets and bytes of a cell of an indirect counter.
    fn counter(&mut self, name: &str, index: u32) -> Result<(u64, u64), ToolError>;
    /// Writes a cell of a register.
    fn write_register(&mut self, name: &str, index: u32, value: &str) -> Result<(), ToolError>;
    /// A cell of a register, and its bits.
    fn register(&mut self, _name: &str, _index: u32) -> Result<(u128, u32), ToolError> {
        Err(SOFT.into())
    }
    /// Packets and bytes of an entry's direct counter.
    fn entry_counter(&mut self, _name: &str, _entry: &NamedEntry) -> Result<(u64, u64), ToolError> {
        Err(SOFT.into())
    }
    /// Takes all entries away but those of the source.
    fn remove_all(&mut self) -> Result<(), ToolError> {
        Err(SOFT.into())
    }
    /// Sets the ports of a multicast group, each with the number of its copy.
    fn set_group(&mut self, _group: u16, _copies: &[(u16, u16)]) -> Result<(), ToolError> {
        Err(SOFT.into())
    }
    /// Another change.
    fn change(&mut self, _change: &Change) -> Result<(), ToolError> {
        Err(SOFT.into())
    }
}

/// The native program. It has all ports of v1model, and takes frames of any length.
pub(super) struct Native {
    source: Source,
    block: Block,
}

impl Native {
    /// The program as it begins.
    ///
    /// # Errors
    /// There is no native code for it.
    pub(super) fn new(source: Source) -> Result<Self, ToolError> {
        let mut block = Block::default();
        let mut tenant = Tenant::new(source.program.clone())?;
        tenant.keep_short_frames();
        block.put(0, tenant);
        Ok(Self { source, block })
    }

    fn tenant(&mut self) -> Result<&mut Tenant, ToolError> {
        Ok(self.block.tenant_mut(0).ok_or("the program is not loaded")?)
    }

    fn register_of(&self, name: &str) -> Result<usize, ToolError> {
        let names: Vec<&str> = self.source.program.registers.iter().map(|register| register.name.as_str()).collect();
        Ok(names::find(&names, name, "register")?)
    }

    fn counter_of(&self, name: &str) -> Result<usize, ToolError> {
        let names: Vec<&str> = self.source.program.counters.iter().map(|counter| counter.name.as_str()).collect();
        Ok(names::find(&names, name, "counter")?)
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
        let at = self.counter_of(name)?;
        let cells = self.block.tenant(0).map(|tenant| tenant.counter(at)).unwrap_or_default();
        let cell = cells.get(index as usize).ok_or_else(|| format!("{name} has {} cells", cells.len()))?;
        Ok((cell.packets, cell.bytes))
    }

    fn write_register(&mut self, name: &str, index: u32, value: &str) -> Result<(), ToolError> {
        let (registers, at) = (&self.source.program.registers, self.register_of(name)?);
        let value = crate::value::read_text(value, registers[at].width)?;
        if u64::from(index) >= u64::from(registers[at].size) {
            return Err(format!("{name} has {} cells", registers[at].size).into());
        }
        if let Some(tenant) = self.block.tenant_mut(0) {
            tenant.set_register(at, index, value);
        }
        Ok(())
    }

    fn register(&mut self, name: &str, index: u32) -> Result<(u128, u32), ToolError> {
        let at = self.register_of(name)?;
        let width = self.source.program.registers[at].width;
        let cells = self.tenant()?.register(at);
        let cell = cells.get(index as usize).ok_or_else(|| format!("{name} has {} cells", cells.len()))?;
        Ok((*cell, width))
    }

    fn entry_counter(&mut self, name: &str, entry: &NamedEntry) -> Result<(u64, u64), ToolError> {
        let counter = self.counter_of(name)?;
        let program = self.source.program.clone();
        let Meant::Entry(table, wanted) = entry.read(&program, true).map_err(|refusal| refusal.message)? else {
            return Err("a default action has no counter".into());
        };
        if program.tables[table].counter != Some(counter) {
            return Err(format!("{name} is not the direct counter of {}", program.tables[table].name).into());
        }
        let same = |of: &penstock_rmt_compiler::ir::Entry| of.keys == wanted.keys && of.priority == wanted.priority;
        let found = self.tenant()?.entries(table).into_iter().find(|(entry, _)| same(entry));
        let (_, count) = found.ok_or("the entry is not there any more")?;
        Ok((count.packets, count.bytes))
    }

    fn remove_all(&mut self) -> Result<(), ToolError> {
        let program = self.source.program.clone();
        let tenant = self.tenant()?;
        for (table, about) in program.tables.iter().enumerate() {
            for (entry, _) in tenant.entries(table) {
                if !about.entries.contains(&entry) {
                    tenant.delete(table, &entry)?;
                }
            }
        }
        Ok(())
    }

    fn set_group(&mut self, group: u16, copies: &[(u16, u16)]) -> Result<(), ToolError> {
        let copies = copies.iter().map(|(port, instance)| Replica { port: *port, instance: *instance }).collect();
        self.tenant()?.set_group(group, copies);
        Ok(())
    }

    fn change(&mut self, change: &Change) -> Result<(), ToolError> {
        match change {
            Change::Mirror(session, port) => {
                let copies = vec![Replica { port: *port, instance: 0 }];
                self.tenant()?.set_session(*session, Some(Session { copies, ..Session::default() }));
            }
            Change::MirrorGroup(session, group) => {
                let to = Session { group: Some(*group), ..Session::default() };
                self.tenant()?.set_session(*session, Some(to));
            }
            Change::MirrorDelete(session) => self.tenant()?.set_session(*session, None),
            Change::Counter(name, index, packets, bytes) => {
                let at = self.counter_of(name)?;
                self.tenant()?.set_counter(at, *index, Count { packets: *packets, bytes: *bytes });
            }
            Change::CounterReset(name) => {
                let at = self.counter_of(name)?;
                let tenant = self.tenant()?;
                for index in 0..tenant.counter(at).len() as u32 {
                    tenant.set_counter(at, index, Count::default());
                }
            }
            Change::RegisterReset(name) => {
                let at = self.register_of(name)?;
                let tenant = self.tenant()?;
                for index in 0..tenant.register(at).len() as u32 {
                    tenant.set_register(at, index, 0);
                }
            }
            Change::Meter(name, index, [(cir, cbs), (pir, pbs)]) => {
                let meters = &self.source.program.meters;
                let names: Vec<&str> = meters.iter().map(|meter| meter.name.as_str()).collect();
                let at = names::find(&names, name, "meter")?;
                let size = meters[at].size.ok_or_else(|| format!("{name} is a direct meter: it has no cells"))?;
                let rates = Rates { cir: *cir, cbs: *cbs, pir: *pir, pbs: *pbs };
                let cells = index.map_or(0..size, |index| index..index.saturating_add(1));
                let tenant = self.tenant()?;
                cells.for_each(|cell| tenant.set_meter(at, cell, Some(rates)));
            }
            Change::Group(_) | Change::Node(..) | Change::Associate(..) => {
                return Err("groups are changed as a whole".into());
            }
        }
        Ok(())
    }
}

/// A card in RTL with the program in its only block.
pub(super) struct OnCard {
    card: Box<dyn TestCard>,
    /// Multicast groups and clone sessions that were set.
    groups: BTreeSet<u16>,
    sessions: BTreeSet<u16>,
}

impl OnCard {
    /// Opens and loads the card.
    ///
    /// # Errors
    /// The program does not fit the hardware.
    pub(super) fn open(program: &Path, bench: &dyn Workbench) -> Result<Self, ToolError> {
        let program = std::path::absolute(program)?;
        let unit = bench.root().join("engines/rpu/programs/forward.c");
        let text = |path: &Path| json!(path.display().to_string());
        let manifest = format!(
            "[card]\nname = \"stf\"\nports = {PORTS}\n[[inline]]\nengine = \"{NAME}\"\nprogram = {}\n[[units]]\nengine = \"rpu\"\ncount = 1\nprogram = {}\n",
            text(&program),
            text(&unit),
        );
        let folder = program.parent().unwrap_or(Path::new(""));
        let (groups, sessions) = (BTreeSet::new(), BTreeSet::new());
        Ok(Self { card: bench.card(folder, &manifest, true)?, groups, sessions })
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

    fn set_group(&mut self, group: u16, copies: &[(u16, u16)]) -> Result<(), ToolError> {
        let copies: Vec<Json> =
            copies.iter().map(|(port, instance)| json!({"port": port, "instance": instance})).collect();
        let act = if self.groups.insert(group) { "insert" } else { "modify" };
        self.ask(json!({act: {"entry": {"multicast": group, "copies": copies}}})).map(drop)
    }

    fn change(&mut self, change: &Change) -> Result<(), ToolError> {
        let ask = match change {
            Change::Mirror(session, port) => {
                let act = if self.sessions.insert(*session) { "insert" } else { "modify" };
                json!({act: {"entry": {"clone": session, "copies": [{"port": port}]}}})
            }
            Change::MirrorDelete(session) if self.sessions.remove(session) => {
                json!({"delete": {"entry": {"clone": session}}})
            }
            Change::MirrorDelete(_) => return Ok(()),
            _ => return Err(SOFT.into()),
        };
        self.ask(ask).map(drop)
    }
}
