// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Stages for the parts of a program. A part goes into the first stage behind those whose results it reads or
//! overwrites. Units of a stage read the vector as it is in front of the stage, so a part may overwrite what another
//! one of its stage reads. A table of longest prefixes takes its key a stage ahead. A meter's color is there when the
//! action of the next stage reads the vector: too late for key and gate of that stage.

use super::pipeline::{Feature, Pipeline};
use super::place::place;
use super::steps::{Item, Literal, Step};
use super::tables::{Kind, kind_of};
use super::units::{Draft, Drafts, Source};
use super::vector::too_much;
use super::words::{Piece, ROWS, RegisterOp, UNITS};
use crate::fault::{Check, Fault};
use crate::ir::{Program, TableId};
use crate::source::Span;

/// The contents of a stage.
#[derive(Debug, Clone, Default)]
pub(super) struct Stage {
    /// Units of every action's row.
    pub shared: Vec<Draft>,
    pub step: Option<Box<Step>>,
}

/// Word of the verdict, and the one that has whether a checksum is wrong.
const VERDICT: usize = 29;
const FLAGS: usize = 31;
const CHECKSUM_ERROR: u32 = 1 << 19;

/// Bits of the vector's words.
type Bits = [u32; 32];

struct Placed {
    stage: usize,
    reads: Bits,
    writes: Bits,
    /// Those of its writes that are colors.
    late: Bits,
    table: Option<TableId>,
    span: Span,
}

/// Gives the parts stages; fails if the pipeline has not enough.
pub(super) fn schedule(program: &Program, items: Vec<Item>, pipeline: &Pipeline) -> Check<Vec<Stage>> {
    let mut made: Vec<Stage> = Vec::new();
    let mut placed: Vec<Placed> = Vec::new();
    for item in items {
        let (mut reads, mut writes) = ([0; 32], [0; 32]);
        let (mut table, mut after, span) = (None, 0, item_span(&item));
        let (mut early, mut searched, mut late) = ([0; 32], [0; 32], [0; 32]);
        match &item {
            Item::Group(units) => units.iter().for_each(|unit| unit_bits(unit, &mut reads, &mut writes)),
            Item::Step(step) => {
                table = step.table;
                if kind(program, step) == Some(Kind::Prefix) {
                    step.keys.iter().for_each(|piece| mark(&mut early, *piece));
                    // Stage 0 searches for what stands in front of the check, which writes these bits.
                    after = usize::from(early[VERDICT] != 0 || early[FLAGS] & CHECKSUM_ERROR != 0);
                }
                step_bits(step, &mut reads, &mut writes);
                search_bits(step, &mut searched);
                late_bits(step, &mut late);
                for literal in &step.gate {
                    if let Literal::Hit(of, _) = literal {
                        let stage =
                            placed.iter().find(|other| other.table == Some(*of)).map_or(0, |other| other.stage + 1);
                        after = after.max(stage);
                    }
                }
            }
        }
        let mut stage = after;
        for other in &placed {
            let meets = |a: &Bits, b: &Bits| a.iter().zip(b).any(|(a, b)| a & b != 0);
            if meets(&other.writes, &early) || meets(&other.late, &searched) {
                stage = stage.max(other.stage + 2);
            } else if meets(&other.writes, &reads) || meets(&other.writes, &writes) {
                stage = stage.max(other.stage + 1);
            } else if meets(&other.reads, &writes) {
                stage = stage.max(other.stage);
            }
        }
        let (first, needed) = (stage, features(program, &item));
        loop {
            // A color needs a stage in which it arrives.
            let last = stage + usize::from(late != [0; 32]);
            if made.len() <= last {
                made.resize_with(last + 1, Stage::default);
            }
            let has_all = needed.iter().all(|feature| stage >= pipeline.stages || pipeline.has(*feature, stage));
            if has_all && fits(program, &made[stage], &item)? {
                break;
            }
            stage += 1;
        }
        // Otherwise more stages are what it needs.
        let is_rare = |feature: Feature| (first..pipeline.stages).any(|stage| !pipeline.has(feature, stage));
        if let Some(lacks) = needed.iter().find(|feature| stage >= pipeline.stages && is_rare(**feature)) {
            let is_free = |at: &usize| made[*at].step.is_none();
            let free = (first..pipeline.stages).find(is_free).unwrap_or(stage);
            return Err(too_late(pipeline, *lacks, (first, free), span));
        }
        match item {
            Item::Group(units) => made[stage].shared.extend(units),
            Item::Step(step) => made[stage].step = Some(step),
        }
        placed.push(Placed { stage, reads, writes, late, table, span });
    }
    let stages = pipeline.stages;
    if made.len() > stages {
        let last = placed.iter().max_by_key(|part| part.stage).map(|part| part.span).unwrap_or_default();
        return Err(too_many(&placed, last, made.len(), stages));
    }
    made.resize_with(stages, Stage::default);
    Ok(made)
}

/// The kind of a step's table.
fn kind(program: &Program, step: &Step) -> Option<Kind> {
    step.table.map(|table| kind_of(&program.tables[table], &step.keys))
}

/// The features that a part needs in its stage.
fn features(program: &Program, item: &Item) -> Vec<Feature> {
    let Item::Step(step) = item else { return Vec::new() };
    let metered = step.rows().any(|row| row.register.is_some_and(|draft| draft.op == RegisterOp::Meter));
    let table = kind(program, step).and_then(Kind::feature);
    table.into_iter().chain(metered.then_some(Feature::Meters)).collect()
}

/// The fault of a part for which no stage is left that has what it needs. `first` is the earliest stage that the parts
/// in front of it leave, and `free` one in which it would have room.
fn too_late(pipeline: &Pipeline, lacks: Feature, (first, free): (usize, usize), span: Span) -> Box<Fault> {
    let (those, stages) = (pipeline.those_with(lacks), pipeline.stages);
    let what =
        format!("this needs a free stage from stage {first} on that has {lacks}; of the {stages} stages, {those} them");
    let more = if free < stages { String::new() } else { format!("`stages = {}` and ", free + 1) };
    too_much(span, &what).help(format!("give the block {more}`{}` with stage {free} in the design", lacks.key()))
}

/// The fault of too many stages, with the part of each stage but the last.
fn too_many(placed: &[Placed], last: Span, needed: usize, stages: usize) -> Box<Fault> {
    let mut fault = too_much(last, &format!("the program needs {needed} stages, the design has {stages}"))
        .help(format!("give the block `stages = {needed}` in the design, or make conditions and tables that do not depend on each other"));
    for stage in 0..needed - 1 {
        if let Some(part) = placed.iter().find(|part| part.stage == stage && part.span != last) {
            fault = fault.also(part.span, format!("stage {stage}"));
        }
    }
    fault
}

fn item_span(item: &Item) -> Span {
    match item {
        Item::Group(units) => units.first().map(|unit| unit.span).unwrap_or_default(),
        Item::Step(step) => step.span,
    }
}

/// Whether a part has room in a stage.
fn fits(program: &Program, stage: &Stage, item: &Item) -> Check<bool> {
    let rows = |step: &Step, beside: &[Draft]| {
        let rows = step.open.iter().map(|(_, row)| &row.units).chain([&step.closed.units]);
        rows.map(|row| place(row.iter().chain(&stage.shared).chain(beside))).all(|found| found.is_some())
    };
    match item {
        Item::Group(units) => {
            if place(units).is_none() {
                return Err(crowded(item_span(item), "a condition or assignment", units));
            }
            Ok(match &stage.step {
                Some(step) => rows(step, units),
                None => place(stage.shared.iter().chain(units)).is_some(),
            })
        }
        Item::Step(step) => {
            for (action, row) in &step.open {
                if place(&row.units).is_none() {
                    let name = action.map_or("this block".to_owned(), |of| format!("`{}`", program.actions[of].name));
                    let span = action.map_or(step.span, |action| program.actions[action].span);
                    return Err(crowded(span, &name, &row.units));
                }
            }
            if place(&step.closed.units).is_none() {
                return Err(crowded(step.span, "the other branch", &step.closed.units));
            }
            if step.open.len() > ROWS - 1 {
                return Err(too_much(
                    step.span,
                    &format!("the table has {} actions, on the card {} are possible", step.open.len(), ROWS - 1),
                ));
            }
            Ok(stage.step.is_none() && rows(step, &[]))
        }
    }
}

/// The fault of units that no stage can do at once.
fn crowded(span: Span, name: &str, units: &[Draft]) -> Box<Fault> {
    if units.len() > UNITS {
        return too_much(span, &format!("{name} needs {} units, a stage has {UNITS}", units.len()))
            .help("a unit writes at most 32 bits of one vector word: fewer or narrower assignments need fewer units");
    }
    too_much(span, &format!("{name} writes more parts of vector words than have units: three units write a word"))
        .help("assign whole fields, or assign some of them in another table or control")
}

fn mark(bits: &mut Bits, piece: Piece) {
    bits[piece.word as usize] |= piece.mask();
}

fn source_bits(source: Source, reads: &mut Bits) {
    if let Source::Piece(piece) = source {
        mark(reads, piece);
    }
}

fn unit_bits(unit: &Draft, reads: &mut Bits, writes: &mut Bits) {
    source_bits(unit.a, reads);
    source_bits(unit.b, reads);
    if let Some(predicate) = unit.predicate {
        mark(reads, predicate.bit);
    }
    mark(writes, unit.to);
}

fn row_bits(row: &Drafts, reads: &mut Bits, writes: &mut Bits) {
    row.units.iter().for_each(|unit| unit_bits(unit, reads, writes));
    if let Some(register) = &row.register {
        source_bits(register.index, reads);
        source_bits(register.operand, reads);
        if let Some((to, _)) = register.result {
            mark(writes, to);
        }
    }
    if let Some(index) = row.count.and_then(|count| count.index) {
        source_bits(index, reads);
    }
}

/// Adds the bits that gate and key read.
fn search_bits(step: &Step, reads: &mut Bits) {
    for literal in &step.gate {
        if let Literal::Mask { word, mask, .. } = literal {
            reads[*word as usize] |= mask;
        }
    }
    step.keys.iter().for_each(|piece| mark(reads, *piece));
}

/// Where colors of meters go.
fn late_bits(step: &Step, late: &mut Bits) {
    for row in step.rows() {
        if let Some((to, _)) = row.register.filter(|draft| draft.op == RegisterOp::Meter).and_then(|draft| draft.result)
        {
            mark(late, to);
        }
    }
}

fn step_bits(step: &Step, reads: &mut Bits, writes: &mut Bits) {
    search_bits(step, reads);
    for row in step.rows() {
        row_bits(row, reads, writes);
    }
}
