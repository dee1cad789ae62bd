// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! All mistakes of a manifest at once.
//!
//! [`Design::parse`] ends at the first mistake. [`check`] reports it, takes the wrong key out of the table and reads
//! again. If the key is required, a value that is never wrong takes its place; if none exists, the whole table goes.

use std::mem;
use std::ops::Range;
use std::path::Path;

use penstock_engine::{EngineError, Fault, Root, files};
use toml::Spanned;
use toml::de::{DeArray, DeString, DeTable, DeValue};

use crate::design::{Design, DesignError, PartId};
use crate::device::Device;
use crate::error::DeviceError;
use crate::image::{Image, PartImage};
use crate::soft::SoftDevice;

/// Mistakes of one manifest that are looked for at most.
const MOST: usize = 100;
/// Values that are right wherever their key is required: the most ports, as programs may use each.
const STAND_INS: &str = "name = \"stand_in\"\nports = 4\ncount = 1\nprogram = \".\"\npolicy = \"flow-hash\"\n";

/// A mistake, with its place and the way out.
#[derive(Debug, thiserror::Error)]
pub enum Mistake {
    /// In the manifest.
    #[error(transparent)]
    Design(#[from] DesignError),
    /// In a program or a table.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// A program that does not start, or that has no place on the card.
    #[error(transparent)]
    Device(#[from] DeviceError),
}

/// The findings about a design.
#[derive(Debug, Default)]
pub struct Checked {
    /// The design without its wrong keys, if a card is left.
    pub design: Option<Design>,
    /// All mistakes.
    pub mistakes: Vec<Mistake>,
    /// Warnings of compilers.
    pub messages: String,
}

/// Reads a manifest, its programs and its tables. Programs of parts with a mistake in the manifest are not compiled.
/// If there is no mistake, a card in native code is loaded, which finds programs that do not start.
#[must_use]
pub fn check(root: &Root, path: &Path) -> Checked {
    let mut checked = Checked::default();
    let text = match files::text(path) {
        Ok(text) => text,
        Err(source) => {
            checked.mistakes.push(DesignError::Read { path: path.to_path_buf(), source }.into());
            return checked;
        }
    };
    let (design, whole, faults) = read(path, &text);
    checked.mistakes.extend(faults.into_iter().map(|fault| DesignError::at(path, &text, fault).into()));
    let Some(design) = design else { return checked };
    for part in whole {
        match PartImage::of(root, &design, part) {
            Ok(image) => checked.messages += image.image.messages(),
            Err(error) => checked.mistakes.push(error.into()),
        }
    }
    if checked.mistakes.is_empty()
        && let Err(error) = start(root, &design)
    {
        checked.mistakes.push(error);
    }
    checked.design = Some(design);
    checked
}

/// Loads a card in native code.
fn start(root: &Root, design: &Design) -> Result<(), Mistake> {
    let image = Image::of(root, design)?;
    Ok(SoftDevice::open(design)?.load(&image)?)
}

/// The design without its wrong keys, its parts without a fault, and all faults.
fn read(path: &Path, text: &str) -> (Option<Design>, Vec<PartId>, Vec<Fault>) {
    let (table, errors) = DeTable::parse_recoverable(text);
    let mut faults: Vec<Fault> = errors
        .into_iter()
        .map(|error| Fault { span: error.span(), message: error.message().replace('\n', " ") })
        .collect();
    if !faults.is_empty() {
        // A table with a line that is not TOML has lost keys: all that is said about it could be wrong.
        faults.dedup_by(|one, other| line(text, one) == line(text, other));
        return (None, Vec::new(), faults);
    }
    let mut pruned = Pruned::of(table);
    for _ in 0..MOST {
        let fault = match Design::of_table(path, pruned.table.clone()) {
            Ok(design) => return (Some(design), pruned.whole(), faults),
            Err(fault) => fault,
        };
        let is_new = !pruned.is_consequence(&fault.message);
        let span = fault.span.clone().unwrap_or(0..0);
        let goes_on = match is_new {
            true => pruned.take_out(&fault.message, &span),
            false => pruned.stand_in(&fault.message, &span),
        };
        if is_new {
            faults.push(fault);
        }
        if !goes_on {
            break;
        }
    }
    (None, Vec::new(), faults)
}

fn line(text: &str, fault: &Fault) -> usize {
    let start = fault.span.as_ref().map_or(0, |span| span.start);
    text.as_bytes().iter().take(start).filter(|byte| **byte == b'\n').count()
}

/// A manifest without the keys that were wrong.
struct Pruned<'a> {
    table: Spanned<DeTable<'a>>,
    /// Names of keys that were taken out.
    gone: Vec<String>,
    /// The parts in the order of the file: the place of each, and whether a key of it was taken out. None: the part
    /// itself was.
    parts: Vec<(PartId, Option<bool>)>,
}

/// Something that was taken out of a table, and the way to it.
struct TakenOut {
    key: String,
    way: Vec<Step>,
}

/// A key of a table with its value.
type Entry<'a> = (Spanned<DeString<'a>>, Spanned<DeValue<'a>>);

/// A step from a table or a list to what is in it.
enum Step {
    Key(String),
    Index(usize),
}

impl<'a> Pruned<'a> {
    fn of(table: Spanned<DeTable<'a>>) -> Self {
        let number = |name: &str| match find(table.get_ref(), name).map(|value| value.get_ref()) {
            Some(DeValue::Array(all)) => all.len(),
            _ => 0,
        };
        let units = (0..number("units")).map(PartId::Units);
        let parts = units.chain((0..number("inline")).map(PartId::Inline)).map(|part| (part, Some(true))).collect();
        Self { table, gone: Vec::new(), parts }
    }

    /// The parts that are as in the file, by their present indices.
    fn whole(&self) -> Vec<PartId> {
        let of_kind = |is_kind: fn(&PartId) -> bool, make: fn(usize) -> PartId| {
            let left = self.parts.iter().filter(move |(part, whole)| is_kind(part) && whole.is_some());
            left.enumerate().filter(|(_, (_, whole))| *whole == Some(true)).map(move |(index, _)| make(index))
        };
        let units = of_kind(|part| matches!(part, PartId::Units(_)), PartId::Units);
        units.chain(of_kind(|part| matches!(part, PartId::Inline(_)), PartId::Inline)).collect()
    }

    /// Whether something is only missing because it was taken out.
    fn is_consequence(&self, message: &str) -> bool {
        let lost_part = self.parts.iter().any(|(_, whole)| whole.is_none());
        match message {
            _ if message.starts_with("unknown") => false,
            _ if message.starts_with("no ") || message.starts_with("[[tenants]] is for") => lost_part,
            // The name of two parts whose own names were wrong.
            _ if message.contains("`stand_in`") => true,
            _ => words(message).any(|word| self.gone.iter().any(|gone| gone == word)),
        }
    }

    /// Takes out the innermost key, or item of a list, whose place holds `span`, after a fault with this message.
    fn take_out(&mut self, message: &str, span: &Range<usize>) -> bool {
        let Some(mut taken) = take_from(self.table.get_mut(), span) else { return false };
        // The right key is missing because it was misspelt.
        self.gone
            .extend(message.split_once("did you mean").and_then(|(_, hint)| words(hint).next()).map(str::to_owned));
        taken.way.reverse();
        self.note(&taken.way);
        self.gone.push(taken.key);
        true
    }

    /// Puts a value in the place of a required key that was taken out; the table that lacks it is at `span`.
    fn stand_in(&mut self, message: &str, span: &Range<usize>) -> bool {
        let name = message.split('`').nth(1).unwrap_or_default();
        let value = DeTable::parse(STAND_INS).ok().and_then(|all| {
            // An empty place behind the file: no fault is in it.
            let nowhere = || usize::MAX..usize::MAX;
            let (key, value) = all.into_inner().into_iter().find(|(key, _)| key.get_ref() == name)?;
            Some((Spanned::new(nowhere(), key.into_inner()), Spanned::new(nowhere(), value.into_inner())))
        });
        let is_put =
            value.is_some_and(|entry| self.table.get_mut().iter_mut().any(|(_, value)| put(value, span, &entry)));
        is_put || self.take_out("", span)
    }

    /// Notes which part something was taken out of.
    fn note(&mut self, way: &[Step]) {
        let [Step::Key(list), Step::Index(index), rest @ ..] = way else { return };
        let is_kind = |part: &PartId| match part {
            PartId::Units(_) => list == "units",
            PartId::Inline(_) => list == "inline",
        };
        let mut left = self.parts.iter_mut().filter(|(part, whole)| is_kind(part) && whole.is_some());
        if let Some((_, whole)) = left.nth(*index) {
            *whole = (!rest.is_empty()).then_some(false);
        }
    }
}

/// The words of a message in quotes of any kind.
fn words(message: &str) -> impl Iterator<Item = &str> {
    message.split(['`', '"']).skip(1).step_by(2)
}

fn find<'t, 'a>(table: &'t DeTable<'a>, name: &str) -> Option<&'t Spanned<DeValue<'a>>> {
    table.iter().find(|(key, _)| key.get_ref() == name).map(|(_, value)| value)
}

fn holds(outer: &Range<usize>, inner: &Range<usize>) -> bool {
    outer.start <= inner.start && inner.end <= outer.end
}

/// Takes the innermost entry at `span` out of a table; the way to it is from its end.
fn take_from(table: &mut DeTable<'_>, span: &Range<usize>) -> Option<TakenOut> {
    let mut own = None;
    for (key, value) in table.iter_mut() {
        if holds(&key.span(), span) {
            own = Some(key.clone());
            break;
        }
        if let Some(mut taken) = take_inside(value, span) {
            taken.way.push(Step::Key(key.get_ref().to_string()));
            return Some(taken);
        }
        if holds(&value.span(), span) {
            own = Some(key.clone());
            break;
        }
    }
    let key = own?;
    table.remove(&key);
    let key = key.get_ref().to_string();
    Some(TakenOut { way: vec![Step::Key(key.clone())], key })
}

fn take_inside(value: &mut Spanned<DeValue<'_>>, span: &Range<usize>) -> Option<TakenOut> {
    match value.get_mut() {
        DeValue::Table(table) => take_from(table, span),
        DeValue::Array(items) => {
            for index in 0..items.len() {
                let item = items.get_mut(index)?;
                if let Some(mut taken) = take_inside(item, span) {
                    taken.way.push(Step::Index(index));
                    return Some(taken);
                }
                if holds(&item.span(), span) {
                    let all = mem::replace(items, DeArray::new()).into_iter().enumerate();
                    *items = all.filter(|(other, _)| *other != index).map(|(_, item)| item).collect();
                    return Some(TakenOut { key: String::new(), way: vec![Step::Index(index)] });
                }
            }
            None
        }
        _ => None,
    }
}

/// Puts an entry into the outermost table whose own place holds `span`; false if no such table exists.
fn put<'a>(value: &mut Spanned<DeValue<'a>>, span: &Range<usize>, entry: &Entry<'a>) -> bool {
    let here = holds(&value.span(), span);
    match value.get_mut() {
        DeValue::Table(table) if here => {
            table.insert(entry.0.clone(), entry.1.clone());
            true
        }
        DeValue::Table(table) => table.iter_mut().any(|(_, value)| put(value, span, entry)),
        DeValue::Array(items) => items.iter_mut().any(|item| put(item, span, entry)),
        _ => false,
    }
}
