// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! An engine: the maps of an object, and programs that work on them.

use std::collections::BTreeMap;
use std::sync::Arc;

use penstock_xdp_compiler::check::{CheckError, check};
use penstock_xdp_compiler::maps::{Contents, MapKind};
use penstock_xdp_compiler::object::{LinkError, Object, Program};
use penstock_xdp_maps::{CreateError, Errno, MapId, Maps, MemoryError, Store};

use crate::frame::{Frame, Input, Verdict};
use crate::native::{Guard, Native, NativeError, Source};
use crate::routes::Routes;
use crate::state::{BUFFER_END, CONTEXT, HEADROOM, STACK_END, State};
use penstock_unit::Log;

/// A program that was loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ProgramId(pub(crate) u32);

impl ProgramId {
    /// The value that entries of program arrays and device maps hold for it: never 0.
    pub fn handle(self) -> u32 {
        self.0 + 1
    }

    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// Why an object or a program was not loaded.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages describe the variants and their fields")]
pub enum LoadError {
    #[error(transparent)]
    Memory(#[from] MemoryError),
    #[error(transparent)]
    Map(Arc<CreateError>),
    #[error("the object has no program `{name}`; it has {found}")]
    Name { name: String, found: String },
    #[error(transparent)]
    Link(#[from] LinkError),
    #[error(transparent)]
    Check(#[from] Box<CheckError>),
    #[error(transparent)]
    Native(#[from] NativeError),
    #[error("queue {index} of map {map} is not opened: {source}")]
    Queue { map: String, index: u32, source: Errno },
    #[error("entry {index} of map {map} does not take program `{name}`: {source}")]
    Entry { map: String, index: u32, name: String, source: Errno },
}

/// Why a program was not run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages describe the variants and their fields")]
pub enum RunError {
    #[error("the frame has {0} bytes; the buffer takes up to {limit}", limit = BUFFER_END - HEADROOM)]
    Frame(usize),
    #[error("processor {cpu} does not exist; the engine has {cpus}")]
    Processor { cpu: u32, cpus: u32 },
    #[error("this program is another engine's")]
    Program,
}

/// Runs programs, one frame at a time.
pub struct Engine {
    state: Box<State>,
    programs: Vec<Native>,
    names: BTreeMap<String, ProgramId>,
    /// By index in the object; None: the map was not made.
    ids: Vec<Option<MapId>>,
    /// By index in the object, why a map was not made. Only programs that use it are refused.
    missing: BTreeMap<u32, Arc<CreateError>>,
}

impl Engine {
    /// The maps of an object, for that many processors.
    pub fn new(object: &Object, cpus: u32) -> Result<Engine, LoadError> {
        let mut maps = Maps::new(cpus)?;
        let (mut ids, mut missing) = (Vec::new(), BTreeMap::new());
        for (made, index) in maps.add(&object.maps).into_iter().zip(0..) {
            ids.push(made.as_ref().ok().copied());
            missing.extend(made.err().map(|error| (index, Arc::new(error))));
        }
        Ok(Engine { state: Box::new(State::new(maps)), programs: Vec::new(), names: BTreeMap::new(), ids, missing })
    }

    /// Checks a program of the object and makes native code of it; also of those that its program arrays name at the
    /// start.
    pub fn load(&mut self, object: &Object, name: &str) -> Result<ProgramId, LoadError> {
        if let Some(known) = self.names.get(name) {
            return Ok(*known);
        }
        let entry = object.entries.iter().find(|entry| entry.name == name).ok_or_else(|| {
            let found: Vec<_> = object.entries.iter().map(|entry| format!("`{}`", entry.name)).collect();
            LoadError::Name { name: name.to_owned(), found: found.join(", ") }
        })?;
        let id = self.add(object, &object.program(entry)?)?;
        self.names.insert(name.to_owned(), id);
        for (map, declared) in self.ids.clone().into_iter().zip(&object.maps) {
            let (Some(map), Contents::Names(names), Ok(MapKind::ProgArray)) =
                (map, &declared.contents, declared.shape.kind())
            else {
                continue;
            };
            for (index, name) in names {
                let program = self.load(object, name)?;
                let set = self.state.maps.set(map, &index.to_ne_bytes(), &program.handle().to_ne_bytes(), Store::Any);
                set.map_err(|source| LoadError::Entry {
                    map: declared.name.clone(),
                    index: *index,
                    name: name.clone(),
                    source,
                })?;
            }
        }
        Ok(id)
    }

    /// Loads a program that is at hand, of the engine's object.
    pub fn add(&mut self, object: &Object, program: &Program) -> Result<ProgramId, LoadError> {
        let facts = check(object, program)?.facts;
        if let Some(error) = facts.maps.iter().find_map(|map| self.missing.get(map)) {
            return Err(LoadError::Map(Arc::clone(error)));
        }
        let frames = program.functions.iter().zip(&facts.stack).map(|(function, bytes)| (function.slots.start, *bytes));
        let native = Native::new(&Source {
            code: &program.code,
            guard: Guard::Masked,
            facts: Some(&facts),
            frames: frames.collect(),
            maps: &self.state.maps,
            ids: &self.ids,
        })?;
        let id = ProgramId(self.programs.len() as u32);
        self.state.entries.push(native.entry());
        self.programs.push(native);
        Ok(id)
    }

    /// Runs a program on a frame, which it may change.
    pub fn run(&mut self, program: ProgramId, frame: &mut Frame, input: &Input) -> Result<Verdict, RunError> {
        let entry = self.programs.get(program.index()).ok_or(RunError::Program)?.entry();
        let cpus = self.state.maps.cpus();
        if input.cpu >= cpus {
            return Err(RunError::Processor { cpu: input.cpu, cpus });
        }
        let state = &mut *self.state;
        let too_long = RunError::Frame(frame.data.len() + frame.meta.len());
        state.begin(frame, input).map_err(|_| too_long)?;
        let base = state.maps.memory.base();
        let (context, stack) = (CONTEXT.into(), STACK_END.into());
        // SAFETY: code of this engine, made for this memory and state; it accesses these, and so do the helpers that it
        // calls.
        let result = unsafe { entry(base, state, context, 0, 0, 0, 0, stack) };
        state.finish(frame).map_err(|_| too_long)?;
        let stopped = state.fuel < 0;
        let result = if stopped { 0 } else { result as u32 };
        let target = state.target.take().filter(|_| result == crate::Action::Redirect as u32);
        Ok(Verdict { result, target, stopped })
    }

    /// Takes over what maps of the same name, types and sizes hold in an engine whose programs are not run any more.
    /// Gives the names of all maps but constants, and whether they were taken over.
    pub fn take_over(&mut self, object: &Object, other: &mut Engine, theirs: &Object) -> Vec<(String, bool)> {
        let mut all = Vec::new();
        for (map, id) in object.maps.iter().zip(self.ids.clone()).filter(|(map, _)| map.constants().is_none()) {
            let same = theirs.maps.iter().zip(&other.ids).find(|(old, _)| map.goes_on(old));
            let both = id.zip(same.and_then(|(_, old)| *old));
            let taken = both.is_some_and(|(id, old)| self.state.maps.take_over(id, &mut other.state.maps, old));
            all.push((map.name.clone(), taken));
        }
        all
    }

    /// Opens the queues of all perf event arrays: entry n is that of processor n.
    pub fn open_events(&mut self, object: &Object) -> Result<(), LoadError> {
        for (declared, map) in object.maps.iter().zip(self.ids.clone()) {
            let (Some(map), Ok(MapKind::PerfEventArray)) = (map, declared.shape.kind()) else { continue };
            for index in 0..self.state.maps.map(map).shape.max_entries {
                let set = self.state.maps.set(map, &index.to_ne_bytes(), &index.to_ne_bytes(), Store::Any);
                set.map_err(|source| LoadError::Queue { map: declared.name.clone(), index, source })?;
            }
        }
        Ok(())
    }

    /// The map of that name, if it was made.
    pub fn map(&self, object: &Object, name: &str) -> Option<MapId> {
        object.map(name).and_then(|(index, _)| self.ids.get(index as usize).copied().flatten())
    }

    /// The engine's maps, in the order of its object's, then those that were created.
    pub fn maps(&mut self) -> &mut Maps {
        &mut self.state.maps
    }

    /// What `bpf_fib_lookup` asks.
    pub fn routes(&mut self) -> &mut Routes {
        &mut self.state.routes
    }

    /// Sets the clock that programs read, in ns. It stops until it is set again.
    pub fn set_time(&mut self, ns: u64) {
        self.state.time = ns;
    }

    /// The seed of random numbers. Each seed always gives the same ones.
    pub fn set_seed(&mut self, seed: u64) {
        // The generator's state must not be 0.
        self.state.random = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    }

    /// Takes the lines that programs have printed since the last call.
    pub fn take_log(&mut self) -> Log {
        std::mem::take(&mut self.state.log)
    }
}
