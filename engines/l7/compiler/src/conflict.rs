// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Rules that contradict each other, and rules that never match.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::fault::{Fault, Span};
use crate::index::{Id, Index};
use crate::limits::{ALTERNATIVES, DECISIONS, LONGEST_FIELD, ROWS};
use crate::pattern::{Condition, Pattern};
use crate::program::{MessageType, Program, Rule, TypeRules, Variant};
use crate::syntax::Source;

/// Pairs of states of patterns that comparisons may visit for a message type, which is a matter of seconds.
const PAIRS: u64 = 30_000_000;
/// Looks at rules of higher priority that may take what two contradicting rules share, for a message type. Later pairs
/// count as contradictions.
const LOOKS: u64 = 1_000_000;

/// Looks for rules of equal priority and different actions that match a common message, and for rules all of whose
/// messages a rule of higher priority takes.
pub(crate) fn check(source: &Source, program: &Program) -> Vec<Fault> {
    let mut faults = Vec::new();
    for (written, application) in source.applications.iter().zip(&program.applications) {
        for (on, rules) in written.types.iter().zip(&application.types) {
            let message = program.message(rules);
            let place = |rule: &Rule| {
                on.rules.iter().find(|on| on.name.value == rule.name).map_or(Span::default(), |on| on.name.span)
            };
            if let Some((rule, fault)) = crowded(rules) {
                faults.push(Fault::new(rule.map_or(on.message.span, place), fault));
                continue;
            }
            let mut pairs = 0;
            let mut looks = LOOKS;
            // For each rule of the source, the reason why no part of it ever matches; None if a part does.
            let mut shadows: BTreeMap<&str, Option<Fault>> = BTreeMap::new();
            let mut index = Index::default();
            for (at, rule) in rules.rules.iter().enumerate() {
                let near = Near::new(&rules.rules, rule, &index);
                pairs += near.work();
                if pairs > PAIRS {
                    faults.push(Fault::new(place(rule), entangled(&rule.name)));
                    break;
                }
                let contradicts = near.contradiction(message, &mut looks);
                let shadow = if contradicts.is_none() { near.shadow() } else { None };
                faults.extend(contradicts.map(|fault| Fault::new(place(rule), fault)));
                let fault = shadow.map(|fault| Fault::new(place(rule), fault));
                shadows
                    .entry(&rule.name)
                    .and_modify(|known| *known = known.take().filter(|_| fault.is_some()))
                    .or_insert_with(|| fault.clone());
                (0..)
                    .zip(&rule.variants)
                    .for_each(|(number, variant)| index.add(Id { rule: at, variant: number }, variant));
            }
            faults.extend(shadows.into_values().flatten());
        }
    }
    faults
}

/// Rules for which the card has no room, whatever they match: comparing them would take longer than reporting this.
/// None for the rule: all of them together.
fn crowded(rules: &TypeRules) -> Option<(Option<&Rule>, String)> {
    let decisions = rules.decisions().into_iter().max().map_or(0, |last| last + 1);
    if decisions > DECISIONS - 2 {
        let text = format!(
            "{decisions} rules, and the card has room for {} beside the two defaults: leave rules out",
            DECISIONS - 2
        );
        return Some((None, text));
    }
    let rules = &rules.rules;
    let combinations: usize = rules.iter().map(|rule| rule.variants.len()).sum();
    let most = ROWS * ALTERNATIVES;
    if combinations <= most {
        return None;
    }
    let widest = rules.iter().max_by_key(|rule| rule.variants.len())?;
    let text = format!(
        "the alternatives of these rules have {combinations} combinations, and the card compares with {most}; `{}` has {} of \
         them: write fewer `|`",
        widest.name,
        widest.variants.len()
    );
    Some((Some(widest), text))
}

fn entangled(rule: &str) -> String {
    format!(
        "`{rule}` and the rules before it overlap in too many ways to be compared: write fewer `until` and `|`, or begin \
         patterns with bytes in which they differ"
    )
}

/// A rule, and those before it that may share messages with it.
struct Near<'a> {
    rules: &'a [Rule],
    rule: &'a Rule,
    /// For each variant of the rule, those of earlier rules.
    variants: Vec<Vec<Id>>,
}

impl<'a> Near<'a> {
    fn new(rules: &'a [Rule], rule: &'a Rule, index: &Index) -> Self {
        Self { rules, rule, variants: rule.variants.iter().map(|variant| index.near(variant)).collect() }
    }

    fn variant(&self, id: Id) -> &'a Variant {
        &self.rules[id.rule].variants[id.variant]
    }

    /// Pairs of states that the comparisons of the rule may visit, at most.
    fn work(&self) -> u64 {
        let conditions = |wide: &Variant, variant: &Variant| -> u64 {
            let same = |field: &u8| wide.iter().find(|(number, _)| number == field).map(|(_, condition)| condition);
            variant.iter().filter_map(|(field, condition)| Some(same(field)?.pairs(condition))).sum()
        };
        let own = self.rule.variants.iter().zip(&self.variants);
        own.flat_map(|(variant, near)| near.iter().map(move |id| conditions(self.variant(*id), variant))).sum()
    }

    fn contradiction(&self, message: &MessageType, looks: &mut u64) -> Option<String> {
        let rule = self.rule;
        let differs = |id: &Id| {
            let other = &self.rules[id.rule];
            other.priority == rule.priority && other.action != rule.action
        };
        let own = (0..).zip(&self.variants);
        let mut pairs: Vec<(Id, usize)> =
            own.flat_map(|(own, near)| near.iter().copied().filter(differs).map(move |id| (id, own))).collect();
        // The next rule before this one comes first.
        pairs.sort_unstable_by_key(|(id, own)| (Reverse(id.rule), id.variant, *own));
        pairs.into_iter().find_map(|(id, own)| {
            let (variant, theirs) = (&rule.variants[own], self.variant(id));
            let example = common(theirs, variant)?;
            let above = self.variants[own].iter().filter(|top| self.rules[top.rule].priority > rule.priority);
            let mut above = above.map(|top| (&self.rules[top.rule], self.variant(*top))).take(*looks as usize);
            // A rule of higher priority that has all messages that the two share decides them.
            let decided = above.clone().any(|(_, top)| {
                *looks = looks.saturating_sub(1);
                covers_both(top, variant, theirs)
            });
            if decided {
                return None;
            }
            let taker = above.find(|(_, top)| takes(top, &example));
            let other = &self.rules[id.rule];
            let fields = example.iter().map(|(field, bytes)| value(message, *field, bytes));
            let fields = fields.collect::<Vec<_>>().join(", ");
            Some(format!(
                "`{}` and `{}` (line {}) have the same priority and both match {}{}: write `priority N` behind the name of the one that wins",
                rule.name,
                other.name,
                other.line,
                if fields.is_empty() { "every message".to_owned() } else { fields },
                taker.map_or_else(String::new, |(taker, _)| format!(
                    " (which `{}` in line {} takes), and others",
                    taker.name, taker.line
                )),
            ))
        })
    }

    /// A rule that has all messages of this one.
    fn shadow(&self) -> Option<String> {
        let rule = self.rule;
        let takes = |(variant, near): (&Variant, &Vec<Id>)| {
            let wide = near.iter().filter(|id| covers(self.variant(**id), variant));
            wide.map(|id| id.rule).min()
        };
        let mut own = rule.variants.iter().zip(&self.variants);
        let first = &self.rules[takes(own.next()?)?];
        own.all(|own| takes(own).is_some()).then(|| {
            format!(
                "`{}` never matches: `{}` (line {}) takes its messages; remove it or give it a higher priority",
                rule.name, first.name, first.line
            )
        })
    }
}

/// Fields that both variants match.
fn common(a: &Variant, b: &Variant) -> Option<BTreeMap<u8, Vec<u8>>> {
    let any = Condition::Bytes(Pattern { steps: Vec::new(), open: true });
    let of = |variant: &Variant, field: u8| {
        variant
            .iter()
            .find(|(number, _)| *number == field)
            .map_or_else(|| any.clone(), |(_, condition)| condition.clone())
    };
    let numbers = a.iter().chain(b).map(|(number, _)| *number);
    numbers.map(|field| Some((field, of(a, field).common(&of(b, field), LONGEST_FIELD)?))).collect()
}

fn covers(wide: &Variant, narrow: &Variant) -> bool {
    wide.iter()
        .all(|(field, condition)| narrow.iter().any(|(number, other)| number == field && condition.covers(other)))
}

/// Whether a variant has all messages that two others share, as far as one of the two shows it for each field.
fn covers_both(wide: &Variant, a: &Variant, b: &Variant) -> bool {
    let both = || a.iter().chain(b);
    wide.iter().all(|(field, condition)| both().any(|(number, other)| number == field && condition.covers(other)))
}

/// Whether a variant matches a message.
fn takes(variant: &Variant, message: &BTreeMap<u8, Vec<u8>>) -> bool {
    variant.iter().all(|(field, condition)| message.get(field).is_some_and(|bytes| condition.matches(bytes)))
}

/// A field with its value in an example: an integer as a number, other bytes as a string of the language.
fn value(message: &MessageType, number: u8, bytes: &[u8]) -> String {
    let width = message.fields.iter().find(|field| field.number == number).and_then(|field| field.kind.width());
    let name = message.field_name(number);
    if width.is_some_and(|width| usize::from(width) == bytes.len()) {
        let number = bytes.iter().fold(0, |number: u64, byte| number << 8 | u64::from(*byte));
        return format!("{name} = {number}");
    }
    format!("{name} = \"{}\"", bytes.escape_ascii())
}
