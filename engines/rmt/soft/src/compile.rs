// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! A program as code: see [`Machine`].

use penstock_rmt_compiler::ir::{
    Action, Apply, Checksum, ChecksumData, Expr, ExprKind, Extern, FieldId, FieldKind, HashAlgorithm, MAX_BITS, Match,
    Next, ParserOp, Program, Stmt, StmtKind, Transition,
};
use penstock_rmt_compiler::mask;

use crate::code::{Coder, Instr, Place, Slot};
use crate::operation::Operation;

/// A program as code.
#[derive(Debug)]
pub struct Machine {
    /// Slots that a frame begins with.
    pub slots: Vec<u64>,
    /// The first slots are those of fields, which are 0 when a frame enters.
    pub changing: usize,
    /// Of each field.
    pub fields: Vec<Place>,
    pub instances: Vec<Header>,
    /// Varbits of the program.
    pub varbits: usize,
    pub states: Vec<ParserState>,
    pub verify: Vec<Sum>,
    pub update: Vec<Sum>,
    pub ingress: Vec<Instr>,
    pub egress: Vec<Instr>,
    pub actions: Vec<ActionCode>,
    pub tables: Vec<TableCode>,
    /// Instances in the order of the deparser.
    pub emits: Vec<usize>,
    /// Frames may be copied, cut or begin anew.
    pub replicates: bool,
    /// Fields that keep their values in copies, by the number that operations name.
    pub kept: Vec<Vec<Place>>,
    /// Fields of metadata, which copies begin with as 0.
    pub metadata: Vec<Place>,
}

/// A header's way between frame and slots.
#[derive(Debug)]
pub struct Header {
    /// Bytes without the varbit.
    pub bytes: usize,
    pub valid: Slot,
    /// Fields that the program reads or writes: those in front of the varbit, those behind it.
    pub loads: [Vec<Wire>; 2],
    /// Fields that the program writes.
    pub stores: [Vec<Wire>; 2],
    pub varbit: Option<Varbit>,
}

/// A varbit of a header.
#[derive(Debug)]
pub struct Varbit {
    /// Its number.
    pub number: usize,
    /// Bytes of the header in front of it.
    pub at: usize,
    /// The most bytes.
    pub most: usize,
    /// The program copies another one to it.
    pub written: bool,
}

/// Part of a field on the wire: at most 64 bits, which have a slot.
#[derive(Debug, Clone, Copy)]
pub struct Wire {
    /// Bits in front of it in the header, without those of the varbit.
    pub offset: usize,
    pub width: u32,
    pub slot: Slot,
}

/// A state of the parser.
#[derive(Debug)]
pub struct ParserState {
    pub ops: Vec<Op>,
    /// Computes the keys.
    pub code: Vec<Instr>,
    pub next: Branch,
}

/// The code of a state.
#[derive(Debug)]
pub enum Op {
    Extract { instance: usize, code: Vec<Instr>, bits: Option<Place> },
    Advance { code: Vec<Instr>, bits: Place },
    Code(Vec<Instr>),
    Verify { code: Vec<Instr>, condition: Slot, error: u64 },
}

/// Where a state goes.
#[derive(Debug)]
pub enum Branch {
    Always(Next),
    /// One key of at most 64 bits: mask, value, next.
    Masks(Slot, Vec<(u64, u64, Next)>),
    /// In each row for each key lowest and highest value, or mask and value.
    Rows(Vec<Place>, Vec<Row>),
}

/// A row of `select`: what matches, a value set of which a member must match as well, and where the row leads.
pub type Row = (Vec<Match>, Option<usize>, Next);

/// A checksum.
#[derive(Debug)]
pub struct Sum {
    pub code: Vec<Instr>,
    pub condition: Slot,
    pub parts: Vec<Part>,
    pub field: Place,
    pub algorithm: HashAlgorithm,
    pub payload: bool,
}

/// Part of a checksum's data.
#[derive(Debug, Clone)]
pub enum Part {
    Value(Place),
    /// A varbit's number, and the validity of its header.
    Varbit(usize, Slot),
}

/// An action of tables.
#[derive(Debug)]
pub struct ActionCode {
    /// Where arguments go: slots from the first one on, and their number.
    pub args: (Slot, usize),
    pub code: Vec<Instr>,
}

/// A table's keys.
#[derive(Debug)]
pub struct TableCode {
    pub keys: Vec<Place>,
    /// Its entries note their frames: it has a direct counter or meter, or idle timeouts.
    pub counted: bool,
    /// How a frame chooses among the actions of a group: algorithm, hashed values, and bits of the hash.
    pub selector: Option<(HashAlgorithm, Vec<Part>, u32)>,
}

/// Fields that a program reads and writes.
#[derive(Default)]
struct Uses {
    read: Vec<bool>,
    written: Vec<bool>,
}

/// Compiles a program.
pub fn compile(program: &Program) -> Machine {
    let uses = Uses::of(program);
    let mut coder = Coder::new(program);
    let changing = coder.slots.len();
    let mut numbers = vec![None; program.fields.len()];
    let mut varbits = 0;
    for (field, number) in program.fields.iter().zip(&mut numbers) {
        if matches!(field.kind, FieldKind::Header { varbit: true, .. }) {
            *number = Some(varbits);
            varbits += 1;
        }
    }
    let number = |field: FieldId| numbers[field].unwrap_or_default();
    let instances = (0..program.instances.len()).map(|index| header(program, &coder, &uses, index, number)).collect();
    let mut make = Maker { program, coder: &mut coder, number: &number, kept: Vec::new() };
    let states = program.parser.states.iter().map(|state| make.state(state)).collect();
    let verify = program.verify.iter().map(|sum| make.sum(sum)).collect();
    let actions = program.actions.iter().map(|action| make.action(action)).collect();
    let ingress = make.code(&program.ingress);
    let egress = make.code(&program.egress);
    let update = program.update.iter().map(|sum| make.sum(sum)).collect();
    let kept = make.kept;
    let tables = program.tables.iter().map(|table| TableCode {
        keys: table.keys.iter().map(|key| coder.fields[key.field]).collect(),
        counted: table.counter.is_some() || table.meter.is_some() || table.idle_timeouts,
        selector: table.profile.and_then(|profile| program.profiles[profile].selector).map(|selector| {
            let parts = table.selector.iter().map(|field| Part::Value(coder.fields[*field])).collect();
            (selector.algorithm, parts, selector.width)
        }),
    });
    let tables = tables.collect();
    let emits = program.deparser.iter().map(|emit| emit.instance).collect();
    let mut replicates = false;
    program.walk(&mut |stmt| {
        let acts = matches!(&stmt.kind, StmtKind::Extern(of) if of.acts_on_frame());
        replicates |= acts || stmt.chooses_group();
    });
    let metadata = program.fields.iter().zip(&coder.fields);
    let metadata = metadata.filter(|(field, _)| {
        matches!(field.kind, FieldKind::Metadata | FieldKind::Standard(_) | FieldKind::Local) && field.width <= MAX_BITS
    });
    let metadata = metadata.map(|(_, place)| *place).collect();
    let (slots, fields) = (coder.slots, coder.fields);
    Machine {
        slots,
        changing,
        fields,
        instances,
        varbits,
        states,
        verify,
        update,
        ingress,
        egress,
        actions,
        tables,
        emits,
        replicates,
        kept,
        metadata,
    }
}

fn header(program: &Program, coder: &Coder, uses: &Uses, index: usize, number: impl Fn(FieldId) -> usize) -> Header {
    let instance = &program.instances[index];
    let mut made = Header {
        bytes: program.headers[instance.header].bits as usize / 8,
        valid: coder.fields[instance.valid].slot,
        loads: [Vec::new(), Vec::new()],
        stores: [Vec::new(), Vec::new()],
        varbit: None,
    };
    for field in &instance.fields {
        let FieldKind::Header { offset, varbit, .. } = program.fields[*field].kind else { continue };
        let (place, bits) = (coder.fields[*field], program.fields[*field].width);
        if varbit {
            let (at, most) = (offset as usize / 8, bits as usize / 8);
            made.varbit = Some(Varbit { number: number(*field), at, most, written: uses.written[*field] });
            continue;
        }
        let half = usize::from(made.varbit.is_some());
        let mut wires = vec![Wire { offset: offset as usize, width: bits, slot: place.slot }];
        if place.is_wide() {
            let upper = bits - 64;
            wires = vec![
                Wire { offset: offset as usize, width: upper, slot: place.slot + 1 },
                Wire { offset: (offset + upper) as usize, width: 64, slot: place.slot },
            ];
        }
        if uses.read[*field] || uses.written[*field] {
            made.loads[half].extend(&wires);
        }
        if uses.written[*field] {
            made.stores[half].extend(&wires);
        }
    }
    made
}

struct Maker<'m> {
    program: &'m Program,
    coder: &'m mut Coder,
    number: &'m dyn Fn(FieldId) -> usize,
    /// Fields that copies of the frame keep.
    kept: Vec<Vec<Place>>,
}

impl Maker<'_> {
    fn state(&mut self, state: &penstock_rmt_compiler::ir::State) -> ParserState {
        let ops = state.ops.iter().map(|op| self.op(op)).collect();
        let next = match &state.next {
            Transition::Direct(next) => Branch::Always(*next),
            Transition::Select { keys, rows, .. } => {
                let places: Vec<Place> = keys.iter().map(|key| self.coder.value(key)).collect();
                let masks = |row: &penstock_rmt_compiler::ir::SelectRow| match row.keys[0] {
                    Match::Exact(value) => Some((u64::MAX, value as u64, row.next)),
                    Match::Ternary(value, mask) => Some((mask as u64, value as u64, row.next)),
                    Match::Lpm(..) | Match::Range(..) => None,
                };
                match &places[..] {
                    [key] if !key.is_wide() && rows.iter().all(|row| row.set.is_none() && masks(row).is_some()) => {
                        Branch::Masks(key.slot, rows.iter().filter_map(masks).collect())
                    }
                    _ => Branch::Rows(places, rows.iter().map(|row| (row.keys.clone(), row.set, row.next)).collect()),
                }
            }
        };
        ParserState { ops, code: self.coder.take(), next }
    }

    fn op(&mut self, op: &ParserOp) -> Op {
        match op {
            ParserOp::Extract { instance, varbit, .. } => {
                let bits = varbit.as_ref().map(|bits| self.coder.value(bits));
                Op::Extract { instance: *instance, code: self.coder.take(), bits }
            }
            ParserOp::Advance { bits, .. } => {
                let bits = self.coder.value(bits);
                Op::Advance { code: self.coder.take(), bits }
            }
            ParserOp::Assign { to, value, .. } => {
                self.coder.assign(*to, value);
                Op::Code(self.coder.take())
            }
            ParserOp::Verify { condition, error, .. } => {
                let condition = self.coder.value(condition).slot;
                Op::Verify { code: self.coder.take(), condition, error: *error as u64 }
            }
        }
    }

    fn sum(&mut self, sum: &Checksum) -> Sum {
        let condition = self.coder.value(&sum.condition).slot;
        let parts = self.parts(&sum.data);
        let field = self.coder.fields[sum.field];
        let (algorithm, payload) = (sum.algorithm, sum.payload);
        Sum { code: self.coder.take(), condition, parts, field, algorithm, payload }
    }

    fn parts(&mut self, data: &[ChecksumData]) -> Vec<Part> {
        let parts = data.iter().map(|part| match part {
            ChecksumData::Value(value) => Part::Value(self.coder.value(value)),
            ChecksumData::Varbit(field) => {
                let valid = match self.program.fields[*field].kind {
                    FieldKind::Header { instance, .. } => self.program.instances[instance].valid,
                    _ => *field,
                };
                Part::Varbit((self.number)(*field), self.coder.fields[valid].slot)
            }
        });
        parts.collect()
    }

    fn operation(&mut self, of: &Extern) -> Operation {
        let places = |of: &Self, fields: &[FieldId]| fields.iter().map(|field| of.coder.fields[*field]).collect();
        let keep = |of: &mut Self, fields: &[FieldId]| {
            let fields = places(of, fields);
            of.kept.push(fields);
            of.kept.len() - 1
        };
        match of {
            Extern::Hash { to, algorithm, base, data, max } => Operation::Hash {
                to: self.coder.fields[*to],
                algorithm: *algorithm,
                base: self.coder.value(base),
                parts: self.parts(data),
                max: self.coder.value(max),
            },
            Extern::Random { to, low, high } => Operation::Random {
                to: self.coder.fields[*to],
                low: self.coder.value(low),
                high: self.coder.value(high),
            },
            Extern::Digest { digest, data } => {
                Operation::Digest { digest: *digest, data: data.iter().map(|value| self.coder.value(value)).collect() }
            }
            Extern::Clone { from_egress, session, keep: fields } => {
                let session = self.coder.value(session).slot;
                Operation::Clone { from_egress: *from_egress, session, keep: keep(self, fields) }
            }
            Extern::Resubmit { keep: fields } => Operation::Resubmit(keep(self, fields)),
            Extern::Recirculate { keep: fields } => Operation::Recirculate(keep(self, fields)),
            Extern::Truncate { length } => Operation::Truncate(self.coder.value(length).slot),
            Extern::Assert { condition } => Operation::Assert(self.coder.value(condition).slot),
            Extern::Meter { meter, index, to } => {
                Operation::Meter { meter: *meter, index: self.coder.value(index).slot, to: self.coder.fields[*to] }
            }
            Extern::DirectMeter { to, .. } => Operation::EntryColor(self.coder.fields[*to]),
        }
    }

    fn action(&mut self, action: &Action) -> ActionCode {
        let first = self.coder.slots.len();
        self.coder.params = Vec::new();
        for param in &action.params {
            let place = self.coder.place(param.width);
            self.coder.params.push(place);
        }
        let args = (first as Slot, self.coder.slots.len() - first);
        let code = self.code(&action.body);
        ActionCode { args, code }
    }

    fn code(&mut self, stmts: &[Stmt]) -> Vec<Instr> {
        self.block(stmts);
        self.coder.take()
    }

    fn block(&mut self, stmts: &[Stmt]) {
        for stmt in stmts {
            self.stmt(stmt);
        }
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Assign(to, value) => self.coder.assign(*to, value),
            StmtKind::CopyVarbit(to, from) => {
                let (to, from) = ((self.number)(*to), (self.number)(*from));
                self.coder.code.push(Instr::CopyVarbit { to, from });
            }
            StmtKind::RegisterRead { register, index, to } => {
                let index = self.coder.value(index).slot;
                let to = self.coder.fields[*to];
                self.coder.code.push(Instr::RegisterRead { register: *register, index, to });
            }
            StmtKind::RegisterWrite { register, index, value } => {
                let (index, value) = (self.coder.value(index).slot, self.coder.value(value));
                self.coder.code.push(Instr::RegisterWrite { register: *register, index, value });
            }
            StmtKind::Count { counter, index } => {
                let index = self.coder.value(index).slot;
                self.coder.code.push(Instr::Count { counter: *counter, index });
            }
            StmtKind::Extern(of) => {
                let operation = self.operation(of);
                self.coder.code.push(Instr::Operation(Box::new(operation)));
            }
            StmtKind::Apply(apply) => self.apply(apply),
            StmtKind::If { condition, then, otherwise } => {
                let condition = self.coder.value(condition).slot;
                self.choice(condition, then, otherwise);
            }
            StmtKind::Exit => self.coder.code.push(Instr::Exit),
        }
    }

    fn choice(&mut self, condition: Slot, then: &[Stmt], otherwise: &[Stmt]) {
        let test = self.coder.code.len();
        self.coder.code.push(Instr::JumpUnless(condition, 0));
        self.block(then);
        if !otherwise.is_empty() {
            let jump = self.coder.code.len();
            self.coder.code.push(Instr::Jump(0));
            self.coder.code[test] = Instr::JumpUnless(condition, jump + 1);
            self.block(otherwise);
            self.coder.code[jump] = Instr::Jump(self.coder.code.len());
        } else {
            self.coder.code[test] = Instr::JumpUnless(condition, self.coder.code.len());
        }
    }

    fn apply(&mut self, apply: &Apply) {
        let (hit, action) = (self.coder.place(1).slot, self.coder.place(32).slot);
        self.coder.code.push(Instr::Apply { table: apply.table, hit, action });
        if !apply.hit.is_empty() || !apply.miss.is_empty() {
            self.choice(hit, &apply.hit, &apply.miss);
        }
        let mut ends = Vec::new();
        for (actions, block) in &apply.cases {
            for each in actions {
                // Each action of the case leads to its block: copies are short, and cases with several actions rare.
                let is = self.coder.place(1).slot;
                let constant = self.coder.constant(*each as u128, 32).slot;
                self.coder.code.push(Instr::Eq { to: is, a: action, b: constant });
                let test = self.coder.code.len();
                self.coder.code.push(Instr::JumpUnless(is, 0));
                self.block(block);
                ends.push(self.coder.code.len());
                self.coder.code.push(Instr::Jump(0));
                self.coder.code[test] = Instr::JumpUnless(is, self.coder.code.len());
            }
        }
        self.block(&apply.otherwise);
        for end in ends {
            self.coder.code[end] = Instr::Jump(self.coder.code.len());
        }
    }
}

impl Uses {
    fn of(program: &Program) -> Self {
        let none = vec![false; program.fields.len()];
        let mut this = Self { read: none.clone(), written: none };
        for state in &program.parser.states {
            for op in &state.ops {
                match op {
                    ParserOp::Extract { varbit, .. } => varbit.iter().for_each(|bits| this.reads(bits)),
                    ParserOp::Advance { bits, .. } => this.reads(bits),
                    ParserOp::Assign { to, value, .. } => {
                        this.reads(value);
                        this.written[*to] = true;
                    }
                    ParserOp::Verify { condition, .. } => this.reads(condition),
                }
            }
            if let Transition::Select { keys, .. } = &state.next {
                keys.iter().for_each(|key| this.reads(key));
            }
        }
        for (sums, writes) in [(&program.verify, false), (&program.update, true)] {
            for sum in sums {
                this.reads(&sum.condition);
                for part in &sum.data {
                    if let ChecksumData::Value(value) = part {
                        this.reads(value);
                    }
                }
                this.read[sum.field] = true;
                this.written[sum.field] |= writes;
            }
        }
        this.block(&program.ingress);
        this.block(&program.egress);
        for action in &program.actions {
            this.block(&action.body);
        }
        for table in &program.tables {
            table.keys.iter().for_each(|key| this.read[key.field] = true);
            table.selector.iter().for_each(|field| this.read[*field] = true);
        }
        this
    }

    fn reads(&mut self, expr: &Expr) {
        expr.walk(&mut |expr| {
            if let ExprKind::Field(field) = expr.kind {
                self.read[field] = true;
            }
        });
    }

    fn block(&mut self, stmts: &[Stmt]) {
        for stmt in stmts {
            match &stmt.kind {
                StmtKind::Assign(to, value) => {
                    self.reads(value);
                    self.written[*to] = true;
                }
                StmtKind::CopyVarbit(to, _) => self.written[*to] = true,
                StmtKind::RegisterRead { index, to, .. } => {
                    self.reads(index);
                    self.written[*to] = true;
                }
                StmtKind::RegisterWrite { index, value, .. } => {
                    self.reads(index);
                    self.reads(value);
                }
                StmtKind::Count { index, .. } => self.reads(index),
                StmtKind::Extern(of) => {
                    of.reads().into_iter().for_each(|field| self.read[field] = true);
                    of.result()
                        .into_iter()
                        .chain(of.kept().iter().copied())
                        .for_each(|field| self.written[field] = true);
                }
                StmtKind::Apply(apply) => {
                    for block in [&apply.hit, &apply.miss, &apply.otherwise] {
                        self.block(block);
                    }
                    apply.cases.iter().for_each(|(_, block)| self.block(block));
                }
                StmtKind::If { condition, then, otherwise } => {
                    self.reads(condition);
                    self.block(then);
                    self.block(otherwise);
                }
                StmtKind::Exit => {}
            }
        }
    }
}

/// Whether a value is what a keyset says.
pub fn matches(keyset: &Match, value: u128, width: u32) -> bool {
    match *keyset {
        Match::Exact(of) => value == of,
        Match::Lpm(of, length) => (value ^ of) & mask(width) & !mask(width).checked_shr(length).unwrap_or(0) == 0,
        Match::Ternary(of, mask) => value & mask == of,
        Match::Range(low, high) => (low..=high).contains(&value),
    }
}
