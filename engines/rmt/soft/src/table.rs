// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Tables: entries, and stores that find them fast. Entries are those that the program's source, or whoever checks
//! requests, has found to fit their table.

mod exact;
mod prefix;
mod rows;
mod target;
mod words;

use std::sync::Arc;

use hashbrown::HashMap;
use penstock_rmt_compiler::ir::{ActionCall, Entry, Key, Match, MatchKind, Rates, Table as About};

use exact::Exact;
use prefix::Prefixes;
use rows::Rows;
use target::Targets;
pub(crate) use target::{Call, Target};

use crate::color::Bucket;

/// Why a table does not change.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TableError {
    /// There is an entry with these keys and this priority.
    #[error("the table {0} has this entry already: modify it, or delete it first")]
    Exists(String),
    /// There is none.
    #[error("the table {0} has no such entry: insert it")]
    Missing(String),
    /// The table has as many entries as its `size` allows.
    #[error("the table {0} is full, it holds {1} entries: give it a larger `size` in the program")]
    Full(String, u32),
}

/// Frames and bytes of an entry with a direct counter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Hits {
    pub packets: u64,
    pub bytes: u64,
}

/// An entry in its place.
#[derive(Debug, Clone)]
struct Stored {
    entry: Entry,
    hits: Hits,
    meter: Bucket,
    /// Time of its last frame, or of its last change, in ns.
    last: u64,
    /// The controller was told that it is idle.
    told: bool,
}

/// Finds the number of an entry by the words of the keys.
#[derive(Debug)]
enum Store {
    Exact(Exact),
    Prefix(Prefixes),
    Rows(Rows),
}

/// A table at work.
#[derive(Debug)]
pub(crate) struct Table {
    name: String,
    size: u32,
    /// For each action of the program, the bits of its parameters.
    params: Arc<[Vec<u32>]>,
    store: Store,
    entries: Vec<Option<Stored>>,
    /// The actions of each entry, apart from what frames seldom need: these stay in the cache.
    targets: Targets,
    free: Vec<usize>,
    numbers: HashMap<(Vec<Match>, i32), usize>,
    default: ActionCall,
    default_call: Call,
}

/// The keys of a table in the order in which a lookup takes their words: a prefix is the last one, unless entries have
/// priorities.
pub(crate) fn keys_in_order(about: &About) -> Vec<&Key> {
    let mut keys: Vec<&Key> = about.keys.iter().collect();
    if !about.has_priorities() {
        keys.sort_by_key(|key| key.kind == MatchKind::Lpm);
    }
    keys
}

impl Table {
    /// A table as its program begins.
    pub(crate) fn new(about: &About, params: Arc<[Vec<u32>]>) -> Self {
        let widths: Vec<(MatchKind, u32)> = about.keys.iter().map(|key| (key.kind, key.width)).collect();
        let has = |kind| about.keys.iter().any(|key| key.kind == kind);
        let store = if about.has_priorities() {
            Store::Rows(Rows::new(&widths))
        } else if has(MatchKind::Lpm) {
            Store::Prefix(Prefixes::new(&widths))
        } else {
            Store::Exact(Exact::new(&widths))
        };
        let default_call = call(&about.default, &params);
        let mut this = Self {
            name: about.name.clone(),
            // The entries of the source fit in any case.
            size: about.size.max(u32::try_from(about.entries.len()).unwrap_or(u32::MAX)),
            targets: Targets::new(&params),
            params,
            store,
            entries: Vec::new(),
            free: Vec::new(),
            numbers: HashMap::new(),
            default: about.default.clone(),
            default_call,
        };
        for entry in &about.entries {
            let target = Target { call: this.resolve(&entry.call), choice: None };
            // If two entries of the source are equal, the first one counts.
            let _ = this.insert(entry, target, 0);
        }
        this
    }

    /// The number of the entry of these words of the keys.
    #[inline]
    pub(crate) fn find(&self, words: &[u64]) -> Option<usize> {
        match &self.store {
            Store::Exact(exact) => exact.find(words),
            Store::Prefix(prefixes) => prefixes.find(words),
            Store::Rows(rows) => rows.find(words),
        }
    }

    /// The number of an entry's actions, if each frame chooses one of them.
    #[inline]
    pub(crate) fn choices(&self, number: usize) -> Option<usize> {
        self.targets.choices(number)
    }

    /// The action of an entry, of several ones that of a number, and its arguments; without an entry, the default
    /// action.
    #[inline]
    pub(crate) fn call(&self, number: Option<usize>, chosen: usize) -> (usize, &[u64]) {
        number.and_then(|number| self.targets.get(number, chosen)).unwrap_or_else(|| self.default_call.parts())
    }

    /// Counts a frame for an entry; gives the color of the entry's meter.
    pub(crate) fn hit(&mut self, number: usize, bytes: u64, tokens: u64, time: u64) -> u64 {
        let Some(Some(stored)) = self.entries.get_mut(number) else { return 0 };
        stored.hits.packets += 1;
        stored.hits.bytes += bytes;
        (stored.last, stored.told) = (time, false);
        stored.meter.color(tokens, time)
    }

    /// An action with its arguments as slots.
    pub(crate) fn resolve(&self, to: &ActionCall) -> Call {
        call(to, &self.params)
    }

    /// Finds the actions of all entries anew.
    pub(crate) fn retarget(&mut self, target: impl Fn(&Entry, &dyn Fn(&ActionCall) -> Call) -> Target) {
        let params = self.params.clone();
        for (number, stored) in self.entries.iter().enumerate() {
            if let Some(stored) = stored.as_ref().filter(|stored| stored.entry.via.is_some()) {
                self.targets.set(number, target(&stored.entry, &|of| call(of, &params)));
            }
        }
    }

    /// Entries that have had no frame for longer than they may, each once.
    pub(crate) fn take_idle(&mut self, time: u64) -> Vec<Entry> {
        let idle = |stored: &&mut Stored| {
            let most = stored.entry.idle_timeout;
            most != 0 && !stored.told && time.saturating_sub(stored.last) > most
        };
        let told = |stored: &mut Stored| {
            stored.told = true;
            stored.entry.clone()
        };
        self.entries.iter_mut().flatten().filter(idle).map(told).collect()
    }

    /// Rates of an entry's meter, and time of its last frame.
    pub(crate) fn state(&self, like: &Entry) -> Option<(Option<Rates>, u64)> {
        let stored = self.entries[self.number(like)?].as_ref()?;
        Some((stored.meter.rates(), stored.last))
    }

    /// Frames and bytes of an entry.
    pub(crate) fn hits(&self, like: &Entry) -> Option<Hits> {
        Some(self.entries[self.number(like)?].as_ref()?.hits)
    }

    /// Sets the rates of an entry's meter.
    pub(crate) fn set_meter(&mut self, like: &Entry, rates: Option<Rates>, time: u64) {
        if let Some(number) = self.number(like)
            && let Some(stored) = &mut self.entries[number]
        {
            stored.meter = Bucket::new(rates, time);
        }
    }

    /// Sets frames and bytes of an entry.
    pub(crate) fn set_hits(&mut self, like: &Entry, hits: Hits) {
        if let Some(number) = self.number(like)
            && let Some(stored) = &mut self.entries[number]
        {
            stored.hits = hits;
        }
    }

    fn number(&self, entry: &Entry) -> Option<usize> {
        self.numbers.get(&(entry.keys.clone(), entry.priority)).copied()
    }

    fn needed(&self, entry: &Entry) -> Result<usize, TableError> {
        self.number(entry).ok_or_else(|| TableError::Missing(self.name.clone()))
    }

    /// Adds an entry.
    pub(crate) fn insert(&mut self, entry: &Entry, target: Target, time: u64) -> Result<(), TableError> {
        if self.number(entry).is_some() {
            return Err(TableError::Exists(self.name.clone()));
        }
        if self.numbers.len() >= self.size as usize {
            return Err(TableError::Full(self.name.clone(), self.size));
        }
        let stored =
            Stored { entry: entry.clone(), hits: Hits::default(), meter: Bucket::default(), last: time, told: false };
        let number = self.free.pop().unwrap_or(self.entries.len());
        if number == self.entries.len() {
            self.entries.push(None);
        }
        self.entries[number] = Some(stored);
        self.targets.set(number, target);
        self.numbers.insert((entry.keys.clone(), entry.priority), number);
        match &mut self.store {
            Store::Exact(exact) => exact.insert(&entry.keys, number),
            Store::Prefix(prefixes) => prefixes.insert(&entry.keys, number),
            Store::Rows(rows) => rows.insert(entry, number),
        }
        Ok(())
    }

    /// Gives an entry another action. Its counter and meter stay.
    pub(crate) fn modify(&mut self, entry: &Entry, target: Target, time: u64) -> Result<(), TableError> {
        let number = self.needed(entry)?;
        if let Some(stored) = &mut self.entries[number] {
            stored.entry = entry.clone();
            (stored.last, stored.told) = (time, false);
            self.targets.set(number, target);
        }
        Ok(())
    }

    /// Removes the entry with the keys and priority of this one.
    pub(crate) fn delete(&mut self, entry: &Entry) -> Result<(), TableError> {
        let number = self.needed(entry)?;
        self.numbers.remove(&(entry.keys.clone(), entry.priority));
        match &mut self.store {
            Store::Exact(exact) => exact.remove(&entry.keys),
            Store::Prefix(prefixes) => prefixes.remove(&entry.keys, number),
            Store::Rows(rows) => rows.remove(number),
        }
        self.entries[number] = None;
        self.free.push(number);
        Ok(())
    }

    /// The entry with the keys and priority of this one.
    pub(crate) fn like(&self, entry: &Entry) -> Option<&Entry> {
        self.number(entry).and_then(|number| self.entries[number].as_ref()).map(|stored| &stored.entry)
    }

    /// How many entries it has.
    pub(crate) fn len(&self) -> usize {
        self.numbers.len()
    }

    /// All entries and what they counted, in the order of their numbers.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (&Entry, Hits)> {
        self.entries.iter().flatten().map(|stored| (&stored.entry, stored.hits))
    }

    /// The default action.
    pub(crate) fn default(&self) -> &ActionCall {
        &self.default
    }

    /// Sets the default action.
    pub(crate) fn set_default(&mut self, to: &ActionCall) {
        (self.default, self.default_call) = (to.clone(), call(to, &self.params));
    }
}

/// A value as words: one, or the lower half and the upper one.
fn push_words(words: &mut Vec<u64>, value: u128, width: u32) {
    words.push(value as u64);
    if width > 64 {
        words.push((value >> 64) as u64);
    }
}

fn call(call: &ActionCall, params: &[Vec<u32>]) -> Call {
    let mut args = Vec::new();
    for (at, width) in params[call.action].iter().enumerate() {
        // Native code reads all arguments.
        push_words(&mut args, call.args.get(at).copied().unwrap_or(0), *width);
    }
    Call { action: call.action, args }
}
