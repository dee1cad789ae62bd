// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Places of a program's fields in the vector.

use std::collections::HashMap;

use super::uses::Uses;
use super::words::{ABOUT, BITS, FIRST_SECOND, FLAGS, Piece, VERDICT, WORDS};
use crate::fault::{Check, Fault};
use crate::ir::{FieldId, FieldKind, InstanceId, Program, Standard};
use crate::source::Span;

/// Flags that rows of the parser can set.
const PARSER_FLAGS: u32 = 16;
/// First bit of [`BITS`] and of [`FLAGS`] that programs have.
const FIRST_BIT: u32 = 12;
const FIRST_FLAG: u32 = 20;
/// From this bit on, parts of the program share the bits that they need for a moment.
const LAST_NEW_BIT: u32 = 24;

/// A header's place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct HeaderPlace {
    /// First vector word.
    pub word: u32,
    /// Words of the fixed part that are extracted.
    pub count: u32,
    /// Bits of the first word in front of the header.
    pub lead: u32,
    /// First word of the varbit, and its most words; None if it is only skipped.
    pub varbit: Option<(u32, u32)>,
}

/// Where the vector has what.
#[derive(Debug, Clone, Copy)]
pub(super) struct Layout {
    /// The word at which headers begin.
    pub first: u32,
    /// How many of the last words are for values between stages alone.
    pub copies: u32,
    /// How many words values between stages leave for variables; behind that they take words that others of them had, and
    /// wait for those.
    pub spare: u32,
}

/// Places of fields.
#[derive(Debug, Clone)]
pub(super) struct Vector<'p> {
    program: &'p Program,
    uses: &'p Uses,
    /// Headers of which all words are needed, because they are part of the new head.
    whole: &'p [InstanceId],
    /// Words of headers begin at `first`, and variables end at the last word: operand B of a unit sees the last ones.
    next: u32,
    first: u32,
    end: u32,
    spare: u32,
    /// Words for values between two stages that no part of the program waits for, and those that are lent to the next
    /// part.
    free: Vec<u32>,
    lent: Vec<u32>,
    /// The same of bits of [`BITS`].
    free_bits: Vec<Piece>,
    lent_bits: Vec<Piece>,
    /// Places of extracted headers.
    pub headers: HashMap<InstanceId, HeaderPlace>,
    /// Bit of [`FLAGS`] of a header's validity.
    pub flags: HashMap<InstanceId, u32>,
    places: HashMap<FieldId, Vec<Piece>>,
    bits: u32,
    own_flags: u32,
}

impl<'p> Vector<'p> {
    pub(super) fn new(program: &'p Program, uses: &'p Uses, whole: &'p [InstanceId], layout: Layout) -> Self {
        let Layout { first, copies, spare } = layout;
        let end = WORDS as u32 - copies;
        let free = (end..WORDS as u32).collect();
        let (headers, flags, places) = (HashMap::new(), HashMap::new(), HashMap::new());
        Self {
            program,
            uses,
            whole,
            next: first,
            first,
            end,
            spare,
            free,
            lent: Vec::new(),
            free_bits: Vec::new(),
            lent_bits: Vec::new(),
            headers,
            flags,
            places,
            bits: FIRST_BIT,
            own_flags: FIRST_FLAG,
        }
    }

    /// Words that are in use.
    pub(super) fn used(&self) -> u32 {
        self.next - self.first + WORDS as u32 - self.end
    }

    fn take(&mut self, words: u32, what: &str, span: Span) -> Check<u32> {
        self.room(words, what, span)?;
        self.next += words;
        Ok(self.next - words)
    }

    fn take_last(&mut self, words: u32, what: &str, span: Span) -> Check<u32> {
        self.room(words, what, span)?;
        self.end -= words;
        Ok(self.end)
    }

    fn room(&self, words: u32, what: &str, span: Span) -> Check<()> {
        if self.next + words > self.end {
            return Err(too_much(span, &format!("{what} needs {words} vector words")).help(format!(
                "the vector has {WORDS}, of which headers and metadata in front of it take {}: leave out headers whose fields are not used", self.used()
            )));
        }
        Ok(())
    }

    /// The place of a header that the parser extracts `lead` bits after the beginning of a word.
    pub(super) fn header(&mut self, instance: InstanceId, lead: u32, span: Span) -> Check<HeaderPlace> {
        if let Some(place) = self.headers.get(&instance) {
            if place.lead != lead {
                return Err(too_much(
                    span,
                    "this header begins at different bytes of a word on different ways through the parser",
                )
                .help("headers in front of it differ by a multiple of four bytes, also a controller's: add @padding"));
            }
            return Ok(*place);
        }
        let of = &self.program.instances[instance];
        let ty = &self.program.headers[of.header];
        let whole = self.whole.contains(&instance);
        let used = whole || of.fields.iter().any(|field| self.uses.counts(*field));
        let count = if used { (lead + ty.bits).div_ceil(32) } else { 0 };
        let word = self.take(count, &format!("the header `{}`", of.name), of.span)?;
        let mut place = HeaderPlace { word, count, lead, varbit: None };
        for field in &of.fields {
            let about = &self.program.fields[*field];
            if matches!(about.kind, FieldKind::Header { varbit: true, .. }) && (whole || self.uses.counts(*field)) {
                let most = about.width.div_ceil(32);
                place.varbit = Some((self.take(most, &format!("`{}`", about.name), of.span)?, most));
            }
        }
        self.headers.insert(instance, place);
        if self.uses.counts(of.valid) {
            let flag = u32::try_from(self.flags.len()).unwrap_or(u32::MAX);
            if flag >= PARSER_FLAGS {
                return Err(too_much(
                    of.span,
                    &format!("the program asks whether more than {PARSER_FLAGS} headers are valid"),
                ));
            }
            self.flags.insert(instance, flag);
        }
        Ok(place)
    }

    /// A new bit in [`BITS`], or in [`FLAGS`].
    pub(super) fn bit(&mut self, word: u32, span: Span) -> Check<Piece> {
        let next = if word == FLAGS { &mut self.own_flags } else { &mut self.bits };
        if *next >= 32 {
            return Err(too_much(span, "the program has more conditions than the vector has bits for"));
        }
        *next += 1;
        Ok(Piece { word: if word == FLAGS { FLAGS } else { BITS }, low: *next - 1, width: 1 })
    }

    /// A word for a value that the next part of the program reads, and no other: if `second`, where operand B sees it.
    pub(super) fn lend(&mut self, width: u32, second: bool, span: Span) -> Check<Piece> {
        let new = self.next + self.spare < self.end && (!second || self.end > FIRST_SECOND);
        let fits = self.free.iter().position(|word| (*word >= FIRST_SECOND) == second);
        let other = (!second && !self.free.is_empty()).then_some(0);
        let word = match fits.or(other).filter(|_| !new) {
            Some(at) => self.free.remove(at),
            None => self.take_last(1, "a value between two stages", span)?,
        };
        self.lent.push(word);
        Ok(Piece { word, low: 0, width })
    }

    /// A bit of [`BITS`] that the next part of the program reads, and no other. The last bits are for conditions that stay.
    pub(super) fn lend_bit(&mut self, span: Span) -> Check<Piece> {
        let bit = match self.free_bits.first() {
            Some(_) if self.bits >= LAST_NEW_BIT => self.free_bits.remove(0),
            _ => self.bit(BITS, span)?,
        };
        self.lent_bits.push(bit);
        Ok(bit)
    }

    /// The part that reads the lent words stands in the order of the program: parts behind it may overwrite them. Those
    /// that have waited longest are lent first, so that few parts wait for each other.
    pub(super) fn release(&mut self) {
        self.free.append(&mut self.lent);
        self.free_bits.append(&mut self.lent_bits);
    }

    /// How many words and bits are lent.
    pub(super) fn lent(&self) -> (usize, usize) {
        (self.lent.len(), self.lent_bits.len())
    }

    /// The same as [`Self::release`] for what was lent since then.
    pub(super) fn release_since(&mut self, (words, bits): (usize, usize)) {
        self.free.extend(self.lent.drain(words..));
        self.free_bits.extend(self.lent_bits.drain(bits..));
    }

    /// A part that comes later than the next ones reads the lent words.
    pub(super) fn keep(&mut self) {
        self.lent.clear();
        self.lent_bits.clear();
    }

    /// Gives a value that no field of the program holds a field's number, by which expressions read it.
    pub(super) fn name(&mut self, field: FieldId, piece: Piece) {
        self.places.insert(field, vec![piece]);
    }

    /// The pieces of a field, its upper bits first. If they are fewer than the field has, the upper ones are 0.
    pub(super) fn pieces(&mut self, field: FieldId, span: Span) -> Check<Vec<Piece>> {
        if let Some(pieces) = self.places.get(&field) {
            return Ok(pieces.clone());
        }
        let pieces = self.place(field, span)?;
        self.places.insert(field, pieces.clone());
        Ok(pieces)
    }

    fn place(&mut self, field: FieldId, span: Span) -> Check<Vec<Piece>> {
        let about = &self.program.fields[field];
        let one = |word, low, width| Ok(vec![Piece { word, low, width }]);
        match about.kind {
            FieldKind::Header { instance, offset, varbit } => {
                let Some(place) = self.headers.get(&instance) else {
                    // No state extracts the header, and no frame leaves with it: its fields are 0, or variables.
                    return if self.uses.written[field] > 0 { self.variable(field, span) } else { Ok(Vec::new()) };
                };
                if varbit {
                    return Err(too_much(span, &format!("`{}` is used other than in a checksum", about.name)));
                }
                Ok(cut(place.word, place.lead + offset, about.width))
            }
            FieldKind::Valid(instance) => match self.flags.get(&instance) {
                Some(flag) => one(FLAGS, *flag, 1),
                None if self.uses.written[field] > 0 => self.variable(field, span),
                None => Ok(Vec::new()),
            },
            FieldKind::Standard(standard) => match standard {
                Standard::IngressPort => one(ABOUT, 16, 9),
                Standard::PacketLength => one(ABOUT, 0, 16),
                Standard::EgressSpec | Standard::EgressPort => one(VERDICT, 0, 9),
                Standard::ChecksumError => one(FLAGS, 19, 1),
                Standard::ParserError => one(FLAGS, 16, 3),
                Standard::IngressGlobalTimestamp | Standard::EgressGlobalTimestamp => {
                    Err(too_much(span, "the time is not in the card's vector"))
                }
                // Nobody but the program sets it.
                _ => self.variable(field, span),
            },
            FieldKind::Metadata | FieldKind::Local => self.variable(field, span),
        }
    }

    fn variable(&mut self, field: FieldId, span: Span) -> Check<Vec<Piece>> {
        let about = &self.program.fields[field];
        if about.width == 1 {
            return Ok(vec![self.bit(BITS, span)?]);
        }
        let words = about.width.div_ceil(32);
        let first = self.take_last(words, &format!("`{}`", about.name), span)?;
        Ok(cut(first, words * 32 - about.width, about.width))
    }
}

/// The pieces of `width` bits that begin `from` bits after the highest one of a word.
fn cut(word: u32, from: u32, width: u32) -> Vec<Piece> {
    let (mut pieces, mut at, end) = (Vec::new(), from, from + width);
    while at < end {
        let stop = end.min((at / 32 + 1) * 32);
        pieces.push(Piece { word: word + at / 32, low: (32 - stop % 32) % 32, width: stop - at });
        at = stop;
    }
    pieces
}

/// A fault of a program that the card's pipeline cannot run.
pub(super) fn too_much(span: Span, what: &str) -> Box<Fault> {
    Fault::new(span, format!("this does not fit the card: {what}")).label("here")
}
