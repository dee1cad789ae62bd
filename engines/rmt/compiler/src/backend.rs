// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Programs as rows of the machine in hardware (engines/rmt/machine.md). Features that the machine lacks are refused,
//! with their place.

mod checksums;
mod clones;
mod copies;
mod digests;
mod effects;
mod hashes;
mod head;
mod parser;
mod pipeline;
mod place;
mod schedule;
mod show;
mod steps;
mod tables;
mod units;
mod uses;
mod vector;
mod words;

use crate::fault::{Check, Fault};
use crate::ir::{Expr, ExprKind, Extern, PORT_DROP, PORT_ONWARD, Program, Standard, Stmt, StmtKind};
use crate::source::Span;
use digests::DIGEST_WORDS;
pub use digests::{DigestCode, RECORD_WORDS};
use effects::Cells;
use head::Head;
pub use pipeline::{Feature, MOST_STAGES, Pipeline};
use place::{arranged, place};
use schedule::Stage;
use steps::{Item, Literal, Steps};
use tables::param_piece;
pub use tables::{ActionCode, EntryError, Kind, Line, ParamPlace, TableCode};
use units::{CountDraft, Draft, Drafts, RegisterDraft, Source, Units, lacks_copies};
use uses::Uses;
use vector::{Layout, Vector, too_much};
pub use words::{ACTION_WORDS, Piece};
use words::{
    ActionRow, BITS, ChecksumRow, CountUnit, Emit, HEAD_WORDS, KeyRow, ParserRow, RegisterUnit, Second, UNITS, Unit,
    WORDS, low_bits,
};

/// `egress_spec` counts, and is 0.
const VERDICT_BEGIN: u32 = 1 << 16;
/// Registers of a stage.
const REGISTERS: u32 = 4096;
/// Counters of a stage.
const COUNTERS: u32 = 1024;
/// Meters of a stage.
const METERS: u32 = 1024;
/// Words of the vector at which headers may begin.
const FIRST_WORDS: [u32; 11] = [0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 19];
/// Words that values between stages may leave for variables.
const SPARE_WORDS: [u32; 5] = [0, 2, 4, 8, WORDS as u32];
/// Words of the vector for copies that operands B read, at most.
const MOST_COPIES: u32 = 8;
/// The highest number of a multicast group, and of a clone session.
pub const LAST_GROUP: u16 = 63;
/// Words of a row of EXIT.
const EXIT_WORDS: usize = 4 + HEAD_WORDS + DIGEST_WORDS;
/// Copies of a multicast group or clone session, at most.
pub const GROUP_COPIES: usize = 8;

/// A program as rows of the machine.
#[derive(Debug, Clone)]
pub struct Lowered {
    /// Rows of PARSER: of each depth, each state that a frame can be in.
    pub parser: Vec<Vec<[u32; 12]>>,
    /// Row of CHECK.
    pub check: [u32; 4],
    /// Row of EXIT, of which [`Lowered::exit`] gives the whole.
    exit: [u32; EXIT_WORDS],
    /// The digests that the program sends, in the order of their calls.
    pub digests: Vec<DigestCode>,
    /// The program sends frames to multicast groups.
    pub has_groups: bool,
    /// The program clones frames.
    pub has_clones: bool,
    /// Frames to the host go to the controller.
    pub has_controller: bool,
    /// Stages.
    pub stages: Vec<StageCode>,
    /// Tables, by their index in the program; None if the program never applies the table.
    pub tables: Vec<Option<TableCode>>,
    /// Registers, by their index in the program; None if no frame reaches the register.
    pub registers: Vec<Option<RegisterPlace>>,
    /// Counters, direct and indirect, by their index in the program; None if no frame reaches the counter.
    pub counters: Vec<Option<RegisterPlace>>,
    /// Meters, direct and indirect, by their index in the program; None if no frame reaches the meter.
    pub meters: Vec<Option<RegisterPlace>>,
    shown: String,
}

impl Lowered {
    /// The program needs a queue for frames of which copies are made.
    #[must_use]
    pub fn has_copies(&self) -> bool {
        self.has_groups || self.has_clones || self.has_controller
    }

    /// The row of EXIT. `queue` is for frames of which copies are made, and counts only if the program has some.
    #[must_use]
    pub fn exit(&self, queue: u32) -> [u32; EXIT_WORDS] {
        let mut words = self.exit;
        if self.has_copies() {
            words[3] |= queue << 21;
        }
        words
    }

    /// The program has registers or meters: TENANT's `stateful`.
    #[must_use]
    pub fn stateful(&self) -> bool {
        self.stages.iter().any(|stage| stage.cells.registers + stage.cells.meters > 0)
    }
}

/// Rows of a stage.
#[derive(Debug, Clone)]
pub struct StageCode {
    key: KeyRow,
    /// Row of a stage without table if its gate is open; None if a table says what is done.
    open: Option<u32>,
    /// Rows of ACTION that a frame can meet.
    pub actions: Vec<[u32; ACTION_WORDS]>,
    /// Cells that the tenant takes.
    pub cells: StageCells,
}

/// Cells of a tenant's segments in a stage.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StageCells {
    /// Registers.
    pub registers: u32,
    /// Counters.
    pub counters: u32,
    /// Meters.
    pub meters: u32,
}

impl StageCode {
    /// The row of KEY. `base` and `size` say where the table's partition is, in the machine's units; `miss` is what
    /// [`TableCode::call`] makes of the table's default action. A stage without table takes neither.
    #[must_use]
    pub fn key(&self, base: u32, size: u32, miss: (u32, [u32; 4])) -> [u32; 12] {
        match self.open {
            Some(row) => self.key.words(0, 0, (row, [0; 4])),
            None => self.key.words(base, size, miss),
        }
    }
}

/// Where a register, a counter or a meter is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RegisterPlace {
    /// Its stage.
    pub stage: usize,
    /// Its first cell in the tenant's segment.
    pub offset: u32,
}

/// Lowers a program for a block with this pipeline.
///
/// # Errors
/// If the machine cannot run it: the missing feature, and the place in the program that needs it.
pub fn lower(program: &Program, pipeline: &Pipeline) -> Result<Lowered, Fault> {
    lowered(program, pipeline).map_err(|fault| *fault)
}

fn lowered(program: &Program, pipeline: &Pipeline) -> Check<Lowered> {
    let mut fault: Option<Box<Fault>> = None;
    // Words for copies are no words for variables: the fewest that are enough. Operand B sees more of headers that begin
    // later, so the program may need fewer stages.
    for copies in 0..=MOST_COPIES {
        let mut found: Option<(Lowered, usize)> = None;
        for (first, spare) in FIRST_WORDS.into_iter().flat_map(|first| SPARE_WORDS.map(|spare| (first, spare))) {
            match placed(program, pipeline, Layout { first, copies, spare }) {
                Ok(made) if found.as_ref().is_none_or(|known| made.1 < known.1) => found = Some(made),
                Err(other) if fault.as_ref().is_none_or(|known| lacks_copies(known)) && first == 0 && spare == 0 => {
                    fault = Some(other)
                }
                _ => {}
            }
        }
        if let Some((lowered, _)) = found {
            return Ok(lowered);
        }
    }
    Err(fault.unwrap_or_else(|| too_much(Span::default(), "the program")))
}

/// Lowers a program in a layout of the vector. Also how many stages it takes.
fn placed(program: &Program, pipeline: &Pipeline, layout: Layout) -> Check<(Lowered, usize)> {
    let cloning = clones::mark(program)?;
    let program = cloning.as_ref().map_or(program, |cloning| &cloning.program);
    let marked = digests::mark(program)?;
    let program = marked.as_ref().map_or(program, |marked| &marked.program);
    let mut uses = Uses::of(program);
    check_operations(program)?;
    if let Some(marked) = &marked {
        marked.note(&mut uses);
    }
    if let Some(cloning) = &cloning {
        // The exit reads it.
        uses.read[cloning.session] += 1;
    }
    let has_groups = copies::has_groups(program);
    let has_controller = program.controller_headers.iter().any(|header| header.name == "packet_in");
    let (mut egress, mut prunes) = (program.egress.clone(), false);
    if has_groups {
        (egress, prunes) = copies::egress(program)?;
        // The exit reads it.
        uses.read[Standard::McastGrp.field()] += 1;
    }
    let head = Head::of(program, &uses);
    let mut vector = Vector::new(program, &uses, &head.instances, layout);
    marked.iter().try_for_each(|marked| marked.place(&mut vector))?;
    let emitted = head.place(program, &mut vector)?;
    let parser = parser::lower(program, &mut vector, &head)?;
    let check = checksums::lower(program, &mut vector, &program.verify)?;
    let exit = checksums::lower(program, &mut vector, &program.update)?;
    let onward = writes_onward(&program.ingress) || program.actions.iter().any(|action| writes_onward(&action.body));
    if onward && uses.read[Standard::EgressSpec.field()] + uses.read[Standard::EgressPort.field()] > 0 {
        let span = program.parser.states[0].span;
        return Err(too_much(span, "the program compares egress_spec, and also sends frames onward"));
    }
    let mut units = Units { program, vector: &mut vector, onward, before: Vec::new(), known: Vec::new() };
    let mut steps = Steps { units: &mut units, uses: &uses, items: Vec::new(), applied: Vec::new() };
    steps.block(&program.ingress, &Vec::new())?;
    check_egress(&egress)?;
    steps.block(&egress, &Vec::new())?;
    check_deparse(program)?;
    steps.block(&program.deparse, &Vec::new())?;
    let items = steps.items;
    let group = has_groups.then(|| copies::group(program, &mut vector)).transpose()?;
    let session = cloning.as_ref().map(|cloning| cloning.half(&mut vector)).transpose()?;
    let digests = marked.as_ref().map(|marked| marked.codes(&mut vector)).transpose()?;
    let (digests, record) = digests.unwrap_or_default();
    let written = written_words(&items, exit.as_ref(), &vector);
    let staged = schedule::schedule(program, items, pipeline)?;
    let mut made = Assemble {
        program,
        pipeline,
        stages: Vec::new(),
        tables: vec![None; program.tables.len()],
        registers: vec![None; program.registers.len()],
        counters: vec![None; program.counters.len()],
        meters: vec![None; program.meters.len()],
    };
    for index in 0..staged.len() {
        made.stage(&staged, index)?;
    }
    let shown = show::show(program, &vector, (&head, &parser), (group, session, &digests), &staged, &made);
    let mut parser: Vec<Vec<_>> = parser.iter().map(|states| states.iter().map(ParserRow::words).collect()).collect();
    if let [begins, ..] = &mut parser[..] {
        // Frames of controllers begin in state 1.
        let of_controllers = begins.last().copied();
        begins.truncate(1);
        begins.extend(of_controllers);
    }
    let row = |first: u32, sum: Option<&ChecksumRow>| {
        let [low, high, control] = ChecksumRow::words(sum);
        [first, low, high, control]
    };
    let taken = staged.iter().rposition(|stage| stage.step.is_some() || !stage.shared.is_empty());
    let lowered = Lowered {
        parser,
        check: row(VERDICT_BEGIN, check.as_ref()),
        exit: {
            let mut words = [0; EXIT_WORDS];
            words[..4].copy_from_slice(&row(written, exit.as_ref()));
            words[3] |= u32::from(has_controller) << 25;
            words[3] |= group.map_or(0, |half| 1 << 14 | half << 15 | u32::from(prunes) << 24);
            words[3] |= session.map_or(0, |half| half << 26);
            words[4..][..HEAD_WORDS].copy_from_slice(&Emit::words(&emitted));
            words[4 + HEAD_WORDS..].copy_from_slice(&record);
            if let Some(cloning) = &cloning {
                words[4 + HEAD_WORDS] |= 1 << 30 | u32::from(!cloning.from_egress) << 31;
            }
            words
        },
        digests,
        has_groups,
        has_clones: cloning.is_some(),
        has_controller,
        stages: made.stages,
        tables: made.tables,
        registers: made.registers,
        counters: made.counters,
        meters: made.meters,
        shown,
    };
    Ok((lowered, taken.map_or(0, |last| last + 1)))
}

/// The card has no units for random numbers and messages, and starts no frame again.
fn check_operations(program: &Program) -> Check<()> {
    if let Some(table) = program.tables.iter().find(|table| table.profile.is_some()) {
        return Err(too_much(table.span, "the card has no action profiles").help("leave `implementation` out"));
    }
    let mut found = None;
    program.walk(&mut |stmt| {
        let what = match &stmt.kind {
            StmtKind::Extern(of)
                if matches!(**of, Extern::Hash { .. } | Extern::Meter { .. } | Extern::DirectMeter { .. }) =>
            {
                None
            }
            StmtKind::Extern(of) => Some(format!("the card has no unit for `{}`", of.name())),
            _ => None,
        };
        if let Some(what) = what.filter(|_| found.is_none()) {
            found = Some(too_much(stmt.span, &what).help("run the program on `soft`"));
        }
    });
    found.map_or(Ok(()), Err)
}

/// Whether statements set `egress_spec` to [`PORT_ONWARD`].
fn writes_onward(stmts: &[Stmt]) -> bool {
    stmts.iter().any(|stmt| match &stmt.kind {
        StmtKind::Assign(field, Expr { kind: ExprKind::Const(value), .. }) => {
            *field == Standard::EgressSpec.field() && *value == PORT_ONWARD
        }
        StmtKind::If { then, otherwise, .. } => writes_onward(then) || writes_onward(otherwise),
        StmtKind::Loop { body, .. } => writes_onward(body),
        StmtKind::Apply(apply) => {
            let cases = apply.cases.iter().map(|(_, block)| block);
            [&apply.hit, &apply.miss, &apply.otherwise].into_iter().chain(cases).any(|block| writes_onward(block))
        }
        _ => false,
    })
}

/// The statements of the deparser follow those of egress, in front of the checksum that the card computes: they must not
/// read it.
fn check_deparse(program: &Program) -> Check<()> {
    let sums: Vec<_> = program.update.iter().map(|sum| sum.field).collect();
    let mut found = None;
    program.walk_deparse(&mut |stmt, value| {
        if found.is_none() && value.reads(&sums) {
            found = Some(too_much(stmt.span, "the deparser compares a checksum that the card computes"));
        }
    });
    found.map_or(Ok(()), Err)
}

/// Egress sees frames that ingress has dropped, on the card: it may not forward them, or count them.
fn check_egress(stmts: &[Stmt]) -> Check<()> {
    for stmt in stmts {
        match &stmt.kind {
            StmtKind::Assign(field, value)
                if *field == Standard::EgressSpec.field() && value.value() != Some(PORT_DROP) =>
            {
                return Err(
                    too_much(stmt.span, "egress chooses a port").help("egress can only drop: choose in ingress")
                );
            }
            StmtKind::Extern(of) if matches!(**of, Extern::Meter { .. } | Extern::DirectMeter { .. }) => {
                return Err(too_much(stmt.span, "a meter in egress").help("move it to the end of ingress"));
            }
            StmtKind::Apply(_)
            | StmtKind::RegisterRead { .. }
            | StmtKind::RegisterWrite { .. }
            | StmtKind::Count { .. } => {
                return Err(too_much(stmt.span, "tables, registers and counters in egress")
                    .help("move them to the end of ingress"));
            }
            StmtKind::If { then, otherwise, .. } => {
                check_egress(then)?;
                check_egress(otherwise)?;
            }
            _ => {}
        }
    }
    Ok(())
}

/// Words of headers that are written back.
fn written_words(items: &[Item], exit: Option<&ChecksumRow>, vector: &Vector) -> u32 {
    let mut words = exit.map_or(0, |sum| 1 << (sum.at / 2));
    let mut row = |row: &Drafts| {
        row.units.iter().for_each(|unit| words |= 1 << unit.to.word);
        if let Some((to, _)) = row.register.and_then(|register| register.result) {
            words |= 1 << to.word;
        }
    };
    for item in items {
        match item {
            Item::Group(units) => row(&Drafts { units: units.clone(), ..Drafts::default() }),
            Item::Step(step) => step.open.iter().map(|(_, of)| of).chain([&step.closed]).for_each(&mut row),
        }
    }
    let mut headers = 0;
    for place in vector.headers.values() {
        headers |= (place.word..place.word + place.count).fold(0, |mask, word| mask | 1 << word);
    }
    words & headers & low_bits(WORDS as u32)
}

/// Puts rows together.
struct Assemble<'p> {
    program: &'p Program,
    pipeline: &'p Pipeline,
    stages: Vec<StageCode>,
    tables: Vec<Option<TableCode>>,
    registers: Vec<Option<RegisterPlace>>,
    counters: Vec<Option<RegisterPlace>>,
    meters: Vec<Option<RegisterPlace>>,
}

impl Assemble<'_> {
    fn stage(&mut self, staged: &[Stage], index: usize) -> Check<()> {
        let stage = &staged[index];
        let mut code =
            StageCode { key: KeyRow::default(), open: Some(0), actions: Vec::new(), cells: StageCells::default() };
        let mut rows = vec![self.row(&Drafts::default(), &stage.shared, &[], None, index, &mut code)?];
        if let Some(step) = &stage.step {
            if let Some(table) = step.table {
                let (kind, key, keys) = tables::keys(&self.program.tables[table], step, self.pipeline)?;
                (code.key, code.open) = (key, None);
                let priorities = self.program.tables[table].has_priorities();
                self.tables[table] = Some(TableCode {
                    table,
                    stage: index,
                    kind,
                    keys,
                    actions: Vec::new(),
                    priorities,
                    most_lines: self.pipeline.rows(),
                });
            }
            if step.table.is_none() {
                code.key.keys = step.keys.iter().map(|piece| (piece.word, piece.mask())).collect();
            }
            code.key.gate = gate(&step.gate, staged);
            rows[0] = self.row(&step.closed, &stage.shared, &[], None, index, &mut code)?;
            for (action, drafts) in &step.open {
                let (params, cell) = match action {
                    Some(action) => tables::params(self.program, *action, drafts)?,
                    None => (Vec::new(), None),
                };
                let row = rows.len() as u32;
                rows.push(self.row(drafts, &stage.shared, &params, cell, index, &mut code)?);
                match (action, step.table.and_then(|table| self.tables[table].as_mut())) {
                    (Some(action), Some(table)) => table.actions.push(ActionCode {
                        action: *action,
                        row,
                        params,
                        cell,
                        ports: drafts.ports.clone(),
                        name: self.program.actions[*action].name.clone(),
                    }),
                    _ => code.open = Some(row),
                }
            }
        }
        code.actions = rows.iter().map(ActionRow::words).collect();
        self.stages.push(code);
        Ok(())
    }

    /// A row of a stage. `cell` is the place of the cell of the entry's own counter.
    fn row(
        &mut self,
        drafts: &Drafts,
        shared: &[Draft],
        params: &[ParamPlace],
        cell: Option<Piece>,
        stage: usize,
        code: &mut StageCode,
    ) -> Check<ActionRow> {
        let mut units = [None; UNITS];
        let all = || drafts.units.iter().chain(shared);
        for (draft, at) in all().zip(place(all()).unwrap_or_default()) {
            units[at] = Some(self.unit(draft, params)?);
        }
        let register = drafts.register.as_ref();
        let register = register.map(|draft| self.register(draft, params, cell, stage, &mut code.cells)).transpose()?;
        let count = drafts.count.as_ref();
        let count = count.map(|draft| self.count(draft, params, cell, stage, &mut code.cells.counters)).transpose()?;
        Ok(ActionRow { units, register, count })
    }

    fn count(
        &mut self,
        draft: &CountDraft,
        params: &[ParamPlace],
        cell: Option<Piece>,
        stage: usize,
        cells: &mut u32,
    ) -> Check<CountUnit> {
        let about = &self.program.counters[draft.counter];
        let size = about.size.unwrap_or_else(|| entries(self.program, |table| table.counter == Some(draft.counter)));
        let places = &mut self.counters[draft.counter];
        let what = ("counter", about.name.as_str(), about.span, draft.span);
        let place = take(places, stage, cells, size, COUNTERS, &what)?;
        let (index, first) = match (draft.index, cell) {
            (None, Some(cell)) => (Second::of_param(cell), None),
            (None, None) => (Second::ZERO, Some(size)),
            (Some(Source::Const(index)), _) => (Second::ZERO, Some(index)),
            (Some(Source::Piece(piece)), _) => (Second::of(piece), None),
            (Some(Source::Param(param, low, width)), _) => {
                let place = param_piece(params, param, low, width).map(Second::of_param);
                (place.ok_or_else(|| too_much(draft.span, "a parameter in two words"))?, None)
            }
            (Some(Source::Hash(_)), _) => return Err(too_much(draft.span, "a hash as the cell of a counter")),
        };
        // A constant cell behind the end has no cells: nothing is counted.
        Ok(match first {
            None => CountUnit { index, offset: place.offset, cells: size },
            Some(first) if first < size => CountUnit { index, offset: place.offset + first, cells: 1 },
            Some(_) => CountUnit { index, offset: place.offset, cells: 0 },
        })
    }

    fn unit(&self, draft: &Draft, params: &[ParamPlace]) -> Check<Unit> {
        let made = arranged(draft.op, draft.a, draft.b)
            .ok_or_else(|| too_much(draft.span, "a unit computes with no value of the vector"))?;
        let b = match made.b {
            None | Some(Source::Const(_)) => Second::ZERO,
            Some(Source::Piece(piece)) => Second::of(piece),
            Some(Source::Hash(crc)) => Second::of_hash(crc as u32, crc.width()),
            Some(Source::Param(param, low, width)) => {
                let place = param_piece(params, param, low, width).map(Second::of_param);
                place.ok_or_else(|| too_much(draft.span, "a part of a parameter that lies in two words"))?
            }
        };
        let (op, to, predicate, immediate) = (made.op, draft.to, draft.predicate, made.immediate);
        Ok(Unit { op, to, predicate, a: made.a, b, immediate })
    }

    fn register(
        &mut self,
        draft: &RegisterDraft,
        params: &[ParamPlace],
        cell: Option<Piece>,
        stage: usize,
        cells: &mut StageCells,
    ) -> Check<RegisterUnit> {
        let (place, size) = match draft.cells {
            Cells::Register(register) => {
                let about = &self.program.registers[register];
                let what = ("register", about.name.as_str(), about.span, draft.span);
                let places = &mut self.registers[register];
                (take(places, stage, &mut cells.registers, about.size, REGISTERS, &what)?, about.size)
            }
            Cells::Meter(meter) | Cells::EntryMeter(meter) => {
                let about = &self.program.meters[meter];
                let size = about.size.unwrap_or_else(|| entries(self.program, |table| table.meter == Some(meter)));
                let what = ("meter", about.name.as_str(), about.span, draft.span);
                (take(&mut self.meters[meter], stage, &mut cells.meters, size, METERS, &what)?, size)
            }
        };
        let at = |source: Source| match source {
            Source::Piece(piece) => Ok(Second::of(piece)),
            Source::Param(param, low, width) => {
                let place = param_piece(params, param, low, width);
                place.map(Second::of_param).ok_or_else(|| too_much(draft.span, "a parameter in two words"))
            }
            Source::Const(_) => Ok(Second::ZERO),
            Source::Hash(_) => Err(too_much(draft.span, "a hash as an operand of a register")),
        };
        let (index, first) = match (draft.cells, cell, draft.index) {
            (Cells::EntryMeter(_), Some(cell), _) => (Second::of_param(cell), None),
            (_, _, Source::Const(index)) => (Second::ZERO, Some(index)),
            (_, _, other) => (at(other)?, None),
        };
        // A constant cell behind the end has no cells: nothing is touched.
        let length = first.map_or(size, |first| u32::from(first < size));
        let offset = place.offset + first.filter(|first| *first < size).unwrap_or(0);
        Ok(RegisterUnit {
            op: draft.op,
            result: draft.result,
            index,
            operand: at(draft.operand)?,
            one: matches!(draft.operand, Source::Const(1..)),
            offset,
            cells: length,
        })
    }
}

/// The cells of a direct counter or meter: one for each entry of its table.
fn entries(program: &Program, own: impl Fn(&crate::ir::Table) -> bool) -> u32 {
    program.tables.iter().find(|table| own(table)).map_or(0, |table| table.size.max(table.entries.len() as u32))
}

/// The place of a register, counter or meter with so many cells: with the first access to it, behind the others of the stage. `what` is what it is, its name, where
/// it is declared and where it is used.
fn take(
    known: &mut Option<RegisterPlace>,
    stage: usize,
    cells: &mut u32,
    size: u32,
    most: u32,
    (kind, name, declared, used): &(&str, &str, Span, Span),
) -> Check<RegisterPlace> {
    if let Some(place) = *known {
        if place.stage != stage {
            return Err(too_much(*used, &format!("`{name}` is used in stages {} and {stage}", place.stage))
                .also(*declared, format!("the {kind}"))
                .help(format!("a {kind} belongs to one stage: use it in the actions of one table")));
        }
        return Ok(place);
    }
    let place = RegisterPlace { stage, offset: *cells };
    *cells = cells.saturating_add(size);
    if *cells > most {
        let what = format!("the {kind}s of stage {stage} have {cells} cells, {most} are possible");
        return Err(too_much(*declared, &what));
    }
    *known = Some(place);
    Ok(place)
}

/// Word, mask and value of a gate.
fn gate(literals: &[Literal], staged: &[Stage]) -> (u32, u32, u32) {
    let mut gate = (BITS, 0, 0);
    for literal in literals {
        match *literal {
            Literal::Mask { word, mask, value } => gate = (word, gate.1 | mask, gate.2 | value),
            Literal::Hit(table, hit) => {
                let searched = |stage: &Stage| stage.step.as_ref().is_some_and(|step| step.table == Some(table));
                let bit = staged.iter().position(searched).unwrap_or_default();
                gate = (BITS, gate.1 | 1 << bit, gate.2 | u32::from(hit) << bit);
            }
        }
    }
    gate
}
