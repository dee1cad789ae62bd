// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The host's copy of the tables of a program on a card in hardware.

use std::collections::BTreeMap;
use std::sync::Arc;

use penstock_rmt_compiler::ir::{ActionCall, DigestId, Entry, Match, Program, Rates, Replica, Session, TableId};
use penstock_rmt_p4runtime::DigestConfig;

/// The identity of an entry: keys and priority.
pub(crate) type EntryKey = (Vec<(u8, u128, u128)>, i32);

/// The keys and the priority of an entry in an order.
#[must_use]
pub(crate) fn key(entry: &Entry) -> EntryKey {
    let order = |one: &Match| match *one {
        Match::Exact(value) => (0, value, 0),
        Match::Lpm(value, length) => (1, value, length.into()),
        Match::Ternary(value, mask) => (2, value, mask),
        Match::Range(low, high) => (3, low, high),
    };
    (entry.keys.iter().map(order).collect(), entry.priority)
}

/// Entries, default actions, multicast groups, clone sessions and rates of a program, and how its messages are sent.
#[derive(Debug, Clone)]
pub(crate) struct Shadow {
    /// The program.
    pub program: Arc<Program>,
    /// Entries of each table.
    pub tables: Vec<BTreeMap<EntryKey, Entry>>,
    /// Default action of each table.
    pub defaults: Vec<ActionCall>,
    /// Copies of each multicast group.
    pub groups: BTreeMap<u16, Vec<Replica>>,
    /// Clone sessions.
    pub sessions: BTreeMap<u16, Session>,
    /// Rates of the cells of each indirect meter.
    pub meters: Vec<Vec<Option<Rates>>>,
    /// Rates of entries of each table that has a direct meter.
    pub entry_rates: Vec<BTreeMap<EntryKey, Rates>>,
    /// Kinds of messages that are sent to controllers, and how. Frames do not see it.
    pub digests: BTreeMap<DigestId, DigestConfig>,
}

impl Shadow {
    /// A program as it begins.
    #[must_use]
    pub(crate) fn new(program: Arc<Program>) -> Self {
        let entries = |table: &penstock_rmt_compiler::ir::Table| {
            table.entries.iter().map(|entry| (key(entry), entry.clone())).collect()
        };
        Self {
            tables: program.tables.iter().map(entries).collect(),
            defaults: program.tables.iter().map(|table| table.default.clone()).collect(),
            groups: BTreeMap::new(),
            sessions: BTreeMap::new(),
            meters: program.meters.iter().map(|meter| vec![None; meter.size.unwrap_or(0) as usize]).collect(),
            entry_rates: vec![BTreeMap::new(); program.tables.len()],
            digests: BTreeMap::new(),
            program,
        }
    }

    /// The entry of a table with the same keys and priority.
    #[must_use]
    pub(crate) fn find(&self, table: TableId, like: &Entry) -> Option<&Entry> {
        self.tables.get(table)?.get(&key(like))
    }
}
