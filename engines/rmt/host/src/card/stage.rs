// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The table of a tenant in one stage of a card in hardware: its partition, and what stands there.

use std::collections::HashMap;
use std::ops::Range;

use penstock_rmt_compiler::backend::Line;
use penstock_rmt_p4runtime::{Reason, Refusal};

use crate::card::exact::{Exact, Plan, WAYS, Words};
use crate::card::lines::Lines;
use crate::card::prefixes::{self, Interval, Prefix};
use crate::card::room::Room;
use crate::card::window::{Memory, Row, Shape, Window};
use crate::error::RmtError;
use crate::shadow::EntryKey;

/// The planned load of an exact table, in percent.
const LOAD: u32 = 90;

/// Free room in the memories of one stage.
#[derive(Debug, Clone)]
pub(super) struct Rooms {
    /// Buckets of every way.
    pub buckets: Room,
    /// Leaves of the tree of prefixes.
    pub leaves: Room,
    /// Registers.
    pub registers: Room,
    /// Ternary rows.
    pub rows: Room,
    /// Counters.
    pub counters: Room,
    /// Meters.
    pub meters: Room,
}

impl Rooms {
    /// The memories of a stage, all free.
    pub(super) fn new(shape: &Shape) -> Self {
        Self {
            buckets: Room::new(shape.buckets),
            leaves: Room::new(shape.leaves),
            registers: Room::new(shape.registers),
            rows: Room::new(shape.pipeline.rows()),
            counters: Room::new(shape.counters),
            meters: Room::new(shape.meters),
        }
    }
}

/// The result of a hit: action and parameters.
pub(super) type Target = (u32, Words);

/// An exact table in its partition.
#[derive(Debug)]
pub(super) struct ExactTable {
    /// Its buckets.
    pub range: Range<u32>,
    placed: Exact,
    targets: HashMap<Words, Target>,
}

impl ExactTable {
    /// Takes room for a table with this many entries, and clears it.
    ///
    /// # Errors
    /// There is no room, or the card refuses.
    pub(super) fn begin(
        window: &mut Window<'_>,
        stage: usize,
        rooms: &mut Rooms,
        entries: u32,
    ) -> Result<Self, RmtError> {
        let buckets = (entries.max(1) * 100).div_ceil(LOAD * WAYS as u32).next_power_of_two();
        let range = rooms.buckets.take(buckets, buckets).ok_or_else(|| {
            let free = rooms.buckets.free();
            RmtError::Fit(format!(
                "stage {stage} has no room for a table of {entries} entries: that takes {buckets} of its buckets in a row, and \
                 {free} are free in all; give the table a smaller `size`, or the program to fewer tenants"
            ))
        })?;
        for way in 0..WAYS {
            window.clear(range.clone().map(|bucket| Row::way(way, stage, bucket)), ROW)?;
        }
        Ok(Self { range, placed: Exact::new(buckets), targets: HashMap::new() })
    }

    /// log2 of its buckets.
    pub(super) fn size(&self) -> u32 {
        self.placed.buckets().ilog2()
    }

    fn write(
        &self,
        window: &mut Window<'_>,
        stage: usize,
        tenant: u8,
        (way, bucket): (usize, u32),
        entry: Option<(&Words, &Target)>,
    ) -> Result<(), RmtError> {
        let mut row = [0; ROW];
        if let Some((key, (action, params))) = entry {
            row[0] = 1 | u32::from(tenant) << 1 | action << 7;
            row[1..5].copy_from_slice(key);
            row[5..9].copy_from_slice(params);
        }
        window.write_and_check(Row::way(way, stage, self.range.start + bucket), &row)
    }

    /// Adds an entry, or gives one that is there another target.
    ///
    /// # Errors
    /// There is no place for it, or the card refuses.
    pub(super) fn put(
        &mut self,
        window: &mut Window<'_>,
        stage: usize,
        tenant: u8,
        key: Words,
        target: Target,
    ) -> Result<(), RmtError> {
        let plan = match self.placed.place(&key) {
            Some(place) => Plan { moves: Vec::new(), place },
            None => self.placed.plan(&key).ok_or_else(|| {
                let text = "the table is full: no place is left that the hashes of the key lead to";
                Refusal::new(Reason::Full, text)
            })?,
        };
        // First the copy, then the original, so that no frame misses it.
        for (moved, from, to) in &plan.moves {
            let target = self.targets.get(moved).copied().unwrap_or_default();
            self.write(window, stage, tenant, *to, Some((moved, &target)))?;
            self.write(window, stage, tenant, *from, None)?;
        }
        self.write(window, stage, tenant, plan.place, Some((&key, &target)))?;
        self.placed.insert(key, &plan);
        self.targets.insert(key, target);
        Ok(())
    }

    /// Removes an entry.
    ///
    /// # Errors
    /// The card refuses.
    pub(super) fn remove(
        &mut self,
        window: &mut Window<'_>,
        stage: usize,
        tenant: u8,
        key: &Words,
    ) -> Result<(), RmtError> {
        if let Some(place) = self.placed.place(key) {
            self.write(window, stage, tenant, place, None)?;
            self.placed.remove(key);
            self.targets.remove(key);
        }
        Ok(())
    }
}

/// Words of a row of an exact table.
const ROW: usize = 9;

/// A table of longest prefixes: a tree over intervals, in a partition that changes with each change of the table.
#[derive(Debug, Clone)]
pub(super) struct PrefixTable {
    /// Its leaves.
    pub range: Range<u32>,
}

impl PrefixTable {
    /// Builds the tree of some prefixes beside the one that is there, which stays until [`PrefixTable::give`].
    ///
    /// # Errors
    /// There is no room, or the card refuses; then the room is given back.
    pub(super) fn build(
        window: &mut Window<'_>,
        stage: usize,
        rooms: &mut Rooms,
        tenant: u8,
        routes: &[(u32, u32, Target)],
    ) -> Result<Self, RmtError> {
        let all: Vec<Prefix> =
            routes.iter().enumerate().map(|(at, (value, length, _))| (*value, *length, at)).collect();
        let cut = prefixes::intervals(&all, |a, b| routes[a].2 == routes[b].2);
        let leaves = (cut.len() as u32).next_power_of_two();
        let range = rooms.leaves.take(leaves, leaves).ok_or_else(|| {
            let text = format!(
                "stage {stage} has no room for {} prefixes beside those that it has: they take {leaves} leaves in a \
                 row; remove some",
                routes.len()
            );
            RmtError::from(Refusal::new(Reason::Full, text))
        })?;
        let this = Self { range };
        if let Err(error) = this.fill(window, stage, tenant, &cut, routes) {
            this.give(rooms);
            return Err(error);
        }
        Ok(this)
    }

    fn fill(
        &self,
        window: &mut Window<'_>,
        stage: usize,
        tenant: u8,
        cut: &[Interval],
        routes: &[(u32, u32, Target)],
    ) -> Result<(), RmtError> {
        for node in prefixes::nodes(cut, self.range.clone()) {
            let row = Row::level(node.level, stage, node.row);
            let mut words = [0; prefixes::KEYS];
            if node.keys.contains(&None) {
                // Other tenants have branches of this node.
                words.copy_from_slice(&window.read(row, prefixes::KEYS)?);
            }
            for (word, key) in words.iter_mut().zip(node.keys) {
                *word = key.unwrap_or(*word);
            }
            window.write_and_check(row, &words)?;
        }
        let intervals = cut.iter().chain(std::iter::repeat_n(&cut[cut.len() - 1], self.range.len() - cut.len()));
        for (row, (_, route)) in self.range.clone().zip(intervals) {
            let words = route.map_or([0; LEAF_ROW], |route| {
                let (action, params) = routes[route].2;
                [1 | u32::from(tenant) << 1 | action << 7, params[0], params[1], params[2], params[3]]
            });
            window.write_and_check(Row::of(Memory::Leaf, stage, row), &words)?;
        }
        Ok(())
    }

    /// log2 of its leaves.
    pub(super) fn size(&self) -> u32 {
        (self.range.end - self.range.start).ilog2()
    }

    /// Gives the room of the tree back.
    pub(super) fn give(&self, rooms: &mut Rooms) {
        rooms.leaves.give(&self.range);
    }
}

/// Words of a leaf.
const LEAF_ROW: usize = 5;

/// A ternary table in its partition.
#[derive(Debug)]
pub(super) struct TernaryTable {
    /// Its rows.
    pub range: Range<u32>,
    placed: Lines<EntryKey>,
    /// The entry in each row, and its result.
    lines: Vec<Option<(Line, Target)>>,
}

impl TernaryTable {
    /// Takes so many rows, and clears them.
    ///
    /// # Errors
    /// There is no room, or the card refuses.
    pub(super) fn begin(window: &mut Window<'_>, stage: usize, rooms: &mut Rooms, rows: u32) -> Result<Self, RmtError> {
        let range = rooms.rows.take(rows.max(1), 1).ok_or_else(|| {
            let free = rooms.rows.free();
            RmtError::Fit(format!(
                "stage {stage} has no room for a ternary table of {rows} rows: {free} are free in all; give the table a smaller `size`"
            ))
        })?;
        let length = range.len();
        let table = Self { range, placed: Lines::new(length), lines: vec![None; length] };
        table.leave(window, stage)?;
        Ok(table)
    }

    /// Clears all its rows: the next program in the same bank would find them.
    ///
    /// # Errors
    /// The card refuses.
    pub(super) fn leave(&self, window: &mut Window<'_>, stage: usize) -> Result<(), RmtError> {
        Ok(window.clear(self.range.clone().map(|row| Row::of(Memory::Ternary, stage, row)), TERNARY_ROW)?)
    }

    fn row(&self, row: usize) -> u32 {
        self.range.start + row as u32
    }

    /// Writes a row: it finds nothing before its target is there.
    fn write(
        &mut self,
        window: &mut Window<'_>,
        stage: usize,
        bt: u32,
        row: usize,
        line: (Line, Target),
    ) -> Result<(), RmtError> {
        if self.lines[row].is_some() {
            self.clear(window, stage, row)?;
        }
        let ((values, masks), target) = line;
        self.point(window, stage, row, &target)?;
        let mut words = [0; TERNARY_ROW];
        words[0] = 1 | bt << 1;
        words[1..5].copy_from_slice(&values);
        words[5..9].copy_from_slice(&masks);
        window.write_and_check(Row::of(Memory::Ternary, stage, self.row(row)), &words)?;
        self.lines[row] = Some(line);
        Ok(())
    }

    /// Writes what a row leads to.
    fn point(
        &self,
        window: &mut Window<'_>,
        stage: usize,
        row: usize,
        (action, params): &Target,
    ) -> Result<(), RmtError> {
        let words = [*action, params[0], params[1], params[2], params[3]];
        window.write_and_check(Row::of(Memory::Target, stage, self.row(row)), &words)
    }

    fn clear(&mut self, window: &mut Window<'_>, stage: usize, row: usize) -> Result<(), RmtError> {
        window.write_and_check(Row::of(Memory::Ternary, stage, self.row(row)), &[0; TERNARY_ROW])?;
        self.lines[row] = None;
        Ok(())
    }

    /// Adds an entry with its rows, or gives one that is there another target.
    ///
    /// # Errors
    /// There are not enough free rows, or the card refuses.
    pub(super) fn put(
        &mut self,
        window: &mut Window<'_>,
        stage: usize,
        bt: u32,
        (key, rank): (&EntryKey, i32),
        lines: &[Line],
        target: Target,
    ) -> Result<(), RmtError> {
        let there = self.placed.rows(key);
        for row in &there {
            self.point(window, stage, *row, &target)?;
            if let Some((_, of)) = &mut self.lines[*row] {
                *of = target;
            }
        }
        if !there.is_empty() {
            return Ok(());
        }
        let (free, total) = (self.placed.free(), self.range.len());
        let full = || {
            let text = format!(
                "the entry takes {} ternary rows, and {free} of the table's {total} are free: give the table a larger `size`",
                lines.len()
            );
            RmtError::from(Refusal::new(Reason::Full, text))
        };
        if lines.len() > free {
            return Err(full());
        }
        for line in lines {
            let plan = self.placed.plan(rank).ok_or_else(full)?;
            // First the copy, then the original is overwritten, so that no frame misses it.
            for (from, to) in plan.moves {
                if let Some(moved) = self.lines[from] {
                    self.write(window, stage, bt, to, moved)?;
                    self.placed.moved(from, to);
                }
            }
            self.write(window, stage, bt, plan.row, (*line, target))?;
            self.placed.set(plan.row, rank, key.clone());
        }
        Ok(())
    }

    /// Removes an entry.
    ///
    /// # Errors
    /// The card refuses.
    pub(super) fn remove(&mut self, window: &mut Window<'_>, stage: usize, key: &EntryKey) -> Result<(), RmtError> {
        for row in self.placed.rows(key) {
            self.clear(window, stage, row)?;
            self.placed.clear(row);
        }
        Ok(())
    }
}

/// Words of a ternary row.
const TERNARY_ROW: usize = 9;
