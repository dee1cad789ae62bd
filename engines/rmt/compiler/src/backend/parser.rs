// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The parser as rows of the machine. A state of the program that several ways reach after a different number of steps
//! has a row at each of these depths; a state that extracts several headers, or has more cases than a row, goes on in
//! the next depth.

use super::head::Head;
use super::vector::{Vector, too_much};
use super::words::{DEPTHS, END, ParserRow, ROWS, Variable, WINDOW, low_bits};
use crate::fault::Check;
use crate::ir::{
    BinaryOp, Expr, ExprKind, FieldId, FieldKind, InstanceId, Match, Next, PORT_HOST, ParserOp, Program, Standard,
    State, StateId, Transition, error,
};
use crate::source::Span;

/// Cases of a row.
const CASES: usize = 4;
/// Bytes of 0 in front of the frame in the window.
const FRONT: u32 = 2;

/// A place in the program's parser.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Node {
    state: StateId,
    /// Operations of the state that are done.
    ops: usize,
    /// Cases of the state that have been compared.
    cases: usize,
    /// Headers in front of the offset, and their size in words, while all headers between have a fixed length.
    heads: Vec<(InstanceId, u32)>,
    /// Order in which headers are extracted, for the deparser.
    order: usize,
    /// Words of the window that may be in front of it at most.
    far: u32,
    /// The offset is in the middle of a word: nothing more can be extracted.
    ragged: bool,
    /// The next header begins in the second half of the word at the offset: behind the two bytes of 0 in front of the
    /// frame, and a multiple of four bytes behind them.
    half: bool,
}

/// The rows of each depth.
pub(super) type Rows = Vec<Vec<ParserRow>>;

/// The states in which frames of ports begin, and frames of a controller: the first one may choose by `ingress_port`.
fn begins(program: &Program) -> Check<Vec<StateId>> {
    let state = &program.parser.states[0];
    let Transition::Select { keys, rows, span } = &state.next else { return Ok(vec![0]) };
    let port = Standard::IngressPort.field();
    if !state.ops.is_empty() || keys.len() != 1 || keys[0].kind != ExprKind::Field(port) {
        return Ok(vec![0]);
    }
    let wrong = |span| {
        let text =
            "a parser on the card tells by `ingress_port` frames of a controller from those of ports, and no more";
        too_much(span, text).help("select 510 and `default`, and compare other ports in the ingress control")
    };
    let mut of_controller = None;
    for row in rows {
        let next = match row.next {
            Next::State(state) => state,
            Next::Accept | Next::Reject => return Err(wrong(*span)),
        };
        match &row.keys[..] {
            [key] if ternaries(key, keys[0].width).iter().any(|(mask, _)| *mask == 0) => {
                return Ok(vec![next, of_controller.unwrap_or(next)]);
            }
            [Match::Exact(value)] if *value == PORT_HOST => of_controller = of_controller.or(Some(next)),
            _ => return Err(wrong(*span)),
        }
    }
    Err(wrong(*span))
}

/// Lowers the parser, and gives headers their places.
pub(super) fn lower(program: &Program, vector: &mut Vector, head: &Head) -> Check<Rows> {
    let first =
        |state| Node { state, ops: 0, cases: 0, heads: Vec::new(), order: 0, far: 0, ragged: false, half: true };
    let mut depths: Vec<Vec<Node>> = vec![begins(program)?.into_iter().map(first).collect()];
    let mut rows = Vec::new();
    for depth in 0..DEPTHS {
        let mut made = Vec::new();
        let mut at = 0;
        while let Some(node) = depths.get(depth).and_then(|nodes| nodes.get(at)).cloned() {
            if depths.len() == depth + 1 {
                depths.push(Vec::new());
            }
            let (row, _) = Step { program, vector: &mut *vector, head, node, next: &mut depths[depth + 1] }.row()?;
            made.push(row);
            at += 1;
            if at > ROWS {
                let span = program.parser.states[0].span;
                return Err(too_much(span, &format!("step {} of the parser has more than {ROWS} states", depth + 1)));
            }
        }
        rows.push(made);
    }
    if let Some(node) = depths.get(DEPTHS).and_then(|nodes| nodes.first()) {
        let state = &program.parser.states[node.state];
        return Err(too_much(
            state.span,
            &format!("the parser makes more than {DEPTHS} steps to the state `{}`", state.name),
        )
        .help("a step is a header that is extracted; a loop of states makes a step each time"));
    }
    Ok(rows)
}

struct Step<'s, 'p> {
    program: &'s Program,
    vector: &'s mut Vector<'p>,
    head: &'s Head,
    node: Node,
    next: &'s mut Vec<Node>,
}

impl Step<'_, '_> {
    fn row(mut self) -> Check<(ParserRow, Span)> {
        let program = self.program;
        let state = &program.parser.states[self.node.state];
        let mut row = ParserRow::default();
        let (mut behind, mut advance) = (self.node.clone(), 0);
        let mut extracted = false;
        if let Some(op) = state.ops.get(self.node.ops) {
            let ParserOp::Extract { instance, varbit, span } = op else {
                return match op {
                    ParserOp::Verify { condition, error, span } => self.verify(condition, *error, *span),
                    ParserOp::Advance { span, .. } => {
                        Err(too_much(*span, "`advance` shortens the frame, which the card cannot do yet"))
                    }
                    ParserOp::Assign { .. } | ParserOp::Extract { .. } | ParserOp::Run(_) => {
                        Err(too_much(op.span(), "parsers on the card assign nothing")
                            .help("assign in the ingress control"))
                    }
                };
            };
            advance = self.extract(&mut row, &mut behind, *instance, varbit.as_ref(), *span)?;
            behind.ops += 1;
            extracted = true;
        }
        if behind.ops < state.ops.len() || (extracted && looks_ahead(&state.next)) {
            row.default = self.go(behind);
            return Ok((row, state.span));
        }
        self.transition(&mut row, state, &behind, advance)?;
        Ok((row, state.span))
    }

    /// `verify(false, error)` ends the parser; other conditions have no place in a row.
    fn verify(&self, condition: &Expr, error: u128, span: Span) -> Check<(ParserRow, Span)> {
        match (condition.value(), u32::try_from(error)) {
            (Some(0), Ok(error)) if error <= 6 => Ok((ParserRow::end(error), span)),
            (Some(0), _) => Err(too_much(span, "errors that the program declares have no number on the card")
                .help("name one of core.p4, or leave the case out of the select: then the error is NoMatch")),
            _ => Err(too_much(span, "`verify` of a condition")
                .help("compare in a select: if no case matches, the error is NoMatch")),
        }
    }

    /// Fills in the extraction of a header; gives the words by which the offset moves, without a variable part.
    fn extract(
        &mut self,
        row: &mut ParserRow,
        behind: &mut Node,
        instance: InstanceId,
        varbit: Option<&Expr>,
        span: Span,
    ) -> Check<u32> {
        let about = &self.program.instances[instance];
        let ty = &self.program.headers[about.header];
        if behind.ragged {
            return Err(too_much(
                span,
                &format!("`{}` does not begin at a multiple of four bytes behind Ethernet", about.name),
            ));
        }
        let lead = self.lead() / 8;
        let place = self.vector.header(instance, lead * 8, span)?;
        let bytes = lead + ty.bits / 8;
        if lead > 0 && behind.far > 0 && !self.head.instances.contains(&instance) {
            let text = format!(
                "`{}` shares a word with the header in front of it, and both leave where they came",
                about.name
            );
            return Err(too_much(span, &text).help("leave the header in front of it out of the deparser"));
        }
        behind.half = lead > 0 && bytes % 4 == 2 && varbit.is_none();
        let words = if behind.half { bytes / 4 } else { bytes.div_ceil(4) };
        (row.dst, row.count, row.advance) = (place.word, place.count, words);
        row.need = bytes;
        if row.need > 255 {
            return Err(too_much(span, &format!("`{}` is longer than a step of the parser can be", about.name)));
        }
        behind.ragged = !bytes.is_multiple_of(4) && !behind.half;
        // The new head has its own order; headers behind it stay where they are.
        if let Some(emitted) = self.program.deparser.iter().position(|emit| emit.instance == instance)
            && !self.head.instances.contains(&instance)
        {
            if behind.order > emitted {
                return Err(too_much(span, &format!("`{}` leaves in another order than it is parsed in", about.name)));
            }
            behind.order = emitted + 1;
        }
        behind.far += words;
        let mut heads = std::mem::take(&mut behind.heads);
        heads.retain(|(of, _)| *of != instance);
        heads.iter_mut().for_each(|(_, distance)| *distance += words);
        heads.push((instance, words));
        behind.heads = heads;
        let flag = self.vector.flags.get(&instance).map_or(0, |flag| 1 << flag);
        if let Some(bits) = varbit {
            let varies = self.program.instances[instance].fields.iter().map(|field| &self.program.fields[*field]);
            let most = varies
                .filter(|field| matches!(field.kind, FieldKind::Header { varbit: true, .. }))
                .map(|field| field.width / 32);
            let most = most.max().unwrap_or(0);
            row.var = Some(self.variable(bits, instance, place.varbit.map(|(first, _)| first), most, span)?);
            behind.far += most;
            behind.heads.clear();
            if flag != 0 {
                return Err(too_much(
                    span,
                    &format!("the program asks whether `{}`, whose length varies, is valid", about.name),
                ));
            }
        }
        row.flags = flag;
        if behind.far + u32::from(behind.half) > WINDOW {
            return Err(too_much(
                span,
                &format!("`{}` may end behind the first {} bytes of a frame", about.name, WINDOW * 4 - FRONT),
            ));
        }
        Ok(words)
    }

    /// A length that a field gives: `((bit<32>)f - min) << 5`, or with 6.
    fn variable(&self, bits: &Expr, instance: InstanceId, dst: Option<u32>, most: u32, span: Span) -> Check<Variable> {
        let wrong = || {
            too_much(bits.span, "this length")
                .help("a length on the card is `((bit<32>)hdr.h.length - MIN) << 5`: a field of a header in front, less a constant, in words of 32 bits")
        };
        let (field, min, shift) = linear(bits).ok_or_else(wrong)?;
        let double = match shift {
            5 => false,
            6 => true,
            _ => return Err(wrong()),
        };
        let FieldKind::Header { instance: of, offset, .. } = self.program.fields[field].kind else {
            return Err(wrong());
        };
        let (at, low) = self.window(of, offset, self.program.fields[field].width, instance, span)?;
        let width = self.program.fields[field].width;
        if width > 6 || min >= 64 || most > 31 {
            return Err(wrong());
        }
        // For a smaller field the program's computation wraps, and gives more than the varbit can hold.
        let under = END + error::HEADER_TOO_SHORT as u32;
        let (min, mask) = (min as u32, low_bits(width));
        Ok(Variable {
            dst: dst.unwrap_or(0),
            most,
            double,
            extract: dst.is_some(),
            word: at,
            shift: low,
            mask,
            min,
            under,
        })
    }

    /// The window word of a field, relative to the offset of this row, and its lowest bit. `here` is the header that
    /// the row extracts.
    fn window(&self, of: InstanceId, offset: u32, width: u32, here: InstanceId, span: Span) -> Check<(i32, u32)> {
        let lead = self.vector.headers.get(&of).map_or(0, |place| place.lead);
        let distance = if of == here {
            0
        } else {
            let head = self.node.heads.iter().find(|(head, _)| *head == of);
            let head = head.ok_or_else(|| {
                let name = &self.program.instances[of].name;
                too_much(span, &format!("`{name}` is not at a fixed distance in front of this state"))
            })?;
            head.1.cast_signed()
        };
        let (from, to) = (lead + offset, lead + offset + width - 1);
        if from / 32 != to / 32 {
            return Err(too_much(span, "this field lies in two words"));
        }
        Ok(((from / 32).cast_signed() - distance, 31 - to % 32))
    }

    fn transition(&mut self, row: &mut ParserRow, state: &State, behind: &Node, advance: u32) -> Check<()> {
        let (keys, rows, span) = match &state.next {
            Transition::Direct(next) => {
                row.default = self.next(*next, behind);
                return Ok(());
            }
            Transition::Select { keys, rows, span } => (keys, rows, *span),
        };
        let here = self.extracted_here();
        let mut pieces: Vec<(i32, u32, u32)> = Vec::new();
        for key in keys {
            self.key(key, here, advance, &mut pieces)?;
        }
        let word = pieces.first().map_or(0, |piece| piece.0);
        if pieces.iter().any(|piece| piece.0 != word) {
            return Err(too_much(span, "the keys of this select lie in several words of the frame")
                .help("compare one after the other, in states of their own"));
        }
        for key in keys {
            key.walk(&mut |part| {
                if let ExprKind::Lookahead { offset } = part.kind {
                    row.need = row.need.max((self.lead() + offset + part.width).div_ceil(8));
                }
            });
        }
        let mut cases = Vec::new();
        let mut default = None;
        'rows: for select in rows {
            for (mask, value) in combinations(&select.keys, keys, &pieces) {
                if mask == 0 {
                    default = Some(select.next);
                    break 'rows;
                }
                cases.push((mask, value, select.next));
            }
        }
        let rest = cases.split_off(self.node.cases.min(cases.len()));
        row.key = word;
        let more = rest.len() > CASES;
        let here: Vec<_> = rest.into_iter().take(CASES).collect();
        for (mask, value, next) in &here {
            let next = self.next(*next, behind);
            row.cases.push((*mask, *value, next));
        }
        row.default = if more {
            let cases = self.node.cases + CASES;
            self.go(Node { cases, ..behind.clone() })
        } else {
            default.map_or(END + error::NO_MATCH as u32, |next| self.next(next, behind))
        };
        Ok(())
    }

    /// Bits of the window in front of the frame, at the offset.
    fn lead(&self) -> u32 {
        if self.node.half { FRONT * 8 } else { 0 }
    }

    /// The header that this row extracts.
    fn extracted_here(&self) -> Option<InstanceId> {
        match self.program.parser.states[self.node.state].ops.get(self.node.ops) {
            Some(ParserOp::Extract { instance, .. }) => Some(*instance),
            _ => None,
        }
    }

    /// The places of the parts of a key: window word, lowest bit, bits.
    fn key(&self, key: &Expr, here: Option<InstanceId>, advance: u32, pieces: &mut Vec<(i32, u32, u32)>) -> Check<()> {
        let wrong = || {
            too_much(key.span, "a key of select that is not a field or a part of one")
                .help("select by fields of headers, or by lookahead")
        };
        match &key.kind {
            ExprKind::Concat(a, b) => {
                self.key(a, here, advance, pieces)?;
                self.key(b, here, advance, pieces)
            }
            ExprKind::Lookahead { offset } => {
                let from = self.lead() + offset;
                let to = from + key.width - 1;
                if from / 32 != to / 32 {
                    return Err(too_much(key.span, "this lookahead lies in two words"));
                }
                pieces.push(((advance + from / 32).cast_signed(), 31 - to % 32, key.width));
                Ok(())
            }
            _ => {
                let (inner, low) = match &key.kind {
                    ExprKind::Slice(inner, low) => (&**inner, *low),
                    _ => (key, 0),
                };
                let ExprKind::Field(field) = inner.kind else { return Err(wrong()) };
                let about = &self.program.fields[field];
                let FieldKind::Header { instance, offset, varbit: false } = about.kind else { return Err(wrong()) };
                let from = offset + about.width - low - key.width;
                let (word, bit) = self.window(instance, from, key.width, here.unwrap_or(usize::MAX), key.span)?;
                pieces.push((word, bit, key.width));
                Ok(())
            }
        }
    }

    fn next(&mut self, next: Next, behind: &Node) -> u32 {
        match next {
            Next::Accept | Next::Reject => END,
            Next::State(state) => self.go(Node { state, ops: 0, cases: 0, ..behind.clone() }),
        }
    }

    /// The number of a place in the next depth.
    fn go(&mut self, node: Node) -> u32 {
        let same = |other: &Node| Node { far: 0, ..other.clone() } == Node { far: 0, ..node.clone() };
        let at = match self.next.iter().position(same) {
            Some(at) => {
                self.next[at].far = self.next[at].far.max(node.far);
                at
            }
            None => {
                self.next.push(node);
                self.next.len() - 1
            }
        };
        at as u32
    }
}

/// A select by a field that was not extracted.
fn looks_ahead(next: &Transition) -> bool {
    let mut found = false;
    if let Transition::Select { keys, .. } = next {
        for key in keys {
            key.walk(&mut |expr| found |= matches!(expr.kind, ExprKind::Lookahead { .. }));
        }
    }
    found
}

/// `(f - min) << shift`, for any order of these: field, least value, shift.
fn linear(bits: &Expr) -> Option<(FieldId, u128, u128)> {
    let strip = |expr: &Expr| {
        let mut expr = expr.clone();
        while let ExprKind::Resize(inner) = expr.kind {
            expr = *inner;
        }
        expr
    };
    let field = |expr: &Expr| if let ExprKind::Field(field) = strip(expr).kind { Some(field) } else { None };
    let shifted = |expr: &Expr| match strip(expr).kind {
        ExprKind::Binary(BinaryOp::Shl, a, b) => Some((*a, b.value()?)),
        ExprKind::Binary(BinaryOp::Mul, a, b) => {
            let (value, other) = if let Some(value) = b.value() { (value, *a) } else { (a.value()?, *b) };
            value.is_power_of_two().then(|| (other, value.trailing_zeros().into()))
        }
        _ => None,
    };
    if let Some((inner, shift)) = shifted(bits) {
        if let Some(field) = field(&inner) {
            return Some((field, 0, shift));
        }
        if let ExprKind::Binary(BinaryOp::Sub, a, b) = strip(&inner).kind {
            return Some((field(&a)?, b.value()?, shift));
        }
    }
    if let ExprKind::Binary(BinaryOp::Sub, a, b) = strip(bits).kind {
        let (inner, shift) = shifted(&a)?;
        let least = b.value()?;
        let unit = 1u128.checked_shl(u32::try_from(shift).ok()?)?;
        return (least % unit == 0).then_some((field(&inner)?, least / unit, shift));
    }
    None
}

/// All masks and values in the key's word for a row of keysets.
fn combinations(sets: &[Match], keys: &[Expr], pieces: &[(i32, u32, u32)]) -> Vec<(u32, u32)> {
    let mut all = vec![(0u32, 0u32)];
    let mut pieces = pieces.iter();
    for (set, key) in sets.iter().zip(keys) {
        // The pieces of this key, its upper bits first.
        let (mut own, mut bits) = (Vec::new(), 0);
        while bits < key.width {
            let Some(piece) = pieces.next() else { break };
            bits += piece.2;
            own.push(*piece);
        }
        let place = |value: u128| {
            let (mut placed, mut rest) = (0u32, bits);
            for (_, low, width) in &own {
                rest -= width;
                placed |= ((value >> rest) as u32 & low_bits(*width)) << low;
            }
            placed
        };
        let ternaries = ternaries(set, key.width);
        let extend = |(mask, value): (u32, u32)| {
            let place = &place;
            ternaries.iter().map(move |(m, v)| (mask | place(*m), value | place(*v))).collect::<Vec<_>>()
        };
        all = all.into_iter().flat_map(extend).collect();
    }
    all
}

/// A keyset as masks and values.
fn ternaries(set: &Match, width: u32) -> Vec<(u128, u128)> {
    let all = crate::fold::mask(width);
    match *set {
        Match::Exact(value) => vec![(all, value)],
        Match::Ternary(value, mask) => vec![(mask, value)],
        Match::Lpm(value, length) => vec![(all & !all.checked_shr(length).unwrap_or(0), value)],
        Match::Range(low, high) => {
            let (mut made, mut at) = (Vec::new(), Some(low));
            while let Some(first) = at.filter(|first| *first <= high) {
                // The largest power of two that begins here and does not go past the end.
                let mut bits = if first == 0 { width } else { first.trailing_zeros().min(width) };
                while bits > 0 && first + ((1u128 << (bits - 1)) - 1) * 2 + 1 > high {
                    bits -= 1;
                }
                let size = if bits >= 128 { u128::MAX } else { (1u128 << bits) - 1 };
                made.push((all & !size, first));
                at = (first + size).checked_add(1);
            }
            made
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_become_masks() {
        for (low, high) in [(0u128, 15u128), (6, 15), (1, 14), (5, 5), (0, 6), (9, 12)] {
            let made = ternaries(&Match::Range(low, high), 4);
            for value in 0..16 {
                let count = made.iter().filter(|(mask, of)| value & mask == *of).count();
                assert_eq!(count, usize::from((low..=high).contains(&value)), "{value} in {low}..{high}: {made:?}");
            }
        }
        assert_eq!(ternaries(&Match::Range(6, 15), 4).len(), 2);
        assert_eq!(ternaries(&Match::Range(0, u128::MAX), 128), [(0, 0)]);
    }
}
