// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! One frame on its way through the rules.

use std::sync::Arc;

use penstock_ids_compiler::rule::{Action, FlowBit, Rule, Step};
use penstock_streams::{Chunk, Packet};

use crate::matching::Bytes;
use crate::plan::{Plan, looks_at_packet};
use crate::report::Alert;
use crate::scan::Window;
use crate::seen::{Seen, check_holds, header_matches};
use crate::stats::DetectStats;
use crate::thresholds::Thresholds;

/// A rule whose key was found in a stream and that needs more than the key.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Armed {
    pub(crate) rule: u32,
    /// The rule has matched in this direction: it matches again only with bytes that are new.
    pub(crate) alerted: bool,
    /// Position of the stream from which on the key says nothing more.
    pub(crate) until: u64,
}

/// What is kept of one direction.
#[derive(Debug, Clone, Default)]
pub(crate) struct Side {
    window: Window,
    /// The last bytes of the stream.
    pub(crate) history: Vec<u8>,
    /// Position of the first byte of `history`.
    pub(crate) base: u64,
    pub(crate) armed: Vec<Armed>,
}

impl Side {
    /// Position behind the last byte.
    fn end(&self) -> u64 {
        self.base + self.history.len() as u64
    }

    /// Has a rule evaluated from now on, whose key ends at `end` or before.
    fn arm(&mut self, number: u32, rule: &Rule, end: u64) {
        if !rule.looks.stream {
            return;
        }
        // A content alone ends before its length has passed again; the other contents of a rule may come at any time.
        let until = match &rule.steps[..] {
            [Step::Content(content)] => end + content.bytes.len() as u64,
            _ => u64::MAX,
        };
        match self.armed.iter_mut().find(|armed| armed.rule == number) {
            Some(armed) => armed.until = until,
            None => self.armed.push(Armed { rule: number, alerted: false, until }),
        }
    }
}

/// What was reported.
#[derive(Debug)]
pub(crate) struct Reported {
    /// Alerts by rule.
    pub(crate) hits: Vec<u64>,
    pub(crate) thresholds: Thresholds,
}

/// A rule that matched.
pub(crate) struct Match {
    rule: u32,
    in_stream: bool,
}

/// One frame on its way through the rules.
pub(crate) struct Look<'a> {
    plan: &'a Plan,
    pub(crate) detect: &'a mut DetectStats,
    kept: &'a mut usize,
    drops: bool,
    matched: Vec<Match>,
    /// Numbers of the keys that the filter found last.
    keys: Vec<u16>,
    /// Numbers of those that it found in the bytes of this frame.
    own: Vec<u16>,
    /// Bits of the flow that are set.
    pub(crate) bits: Vec<Arc<str>>,
    pub(crate) evaluated: bool,
    pub(crate) hit: bool,
}

impl<'a> Look<'a> {
    pub(crate) fn new(plan: &'a Plan, detect: &'a mut DetectStats, kept: &'a mut usize, drops: bool) -> Self {
        let (matched, keys, own, bits) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Self { plan, detect, kept, drops, matched, keys, own, bits, evaluated: false, hit: false }
    }

    /// Takes bytes of a stream in order: finds their keys and keeps them. Bytes from `before` on are of this frame.
    pub(crate) fn take(&mut self, seen: &Seen<'_>, side: &mut Side, chunk: Chunk<'_>, before: u64) {
        let plan = self.plan;
        if chunk.gap > 0 {
            // No match has bytes on both sides of a gap.
            self.evaluate(seen, side, before);
            *self.kept -= side.history.len();
            *side = Side { base: chunk.at, armed: std::mem::take(&mut side.armed), ..Side::default() };
        }
        self.filter(&mut side.window, chunk.bytes);
        if chunk.direct {
            self.own.clone_from(&self.keys);
        }
        if plan.streams {
            side.history.extend_from_slice(chunk.bytes);
            *self.kept += chunk.bytes.len();
            let end = side.end();
            for key in &self.keys {
                for number in &plan.program.by_key[usize::from(*key)] {
                    side.arm(*number, plan.rule(*number), end);
                }
            }
        }
    }

    /// Evaluates rules on a stream whose bytes from `before` on are of this frame.
    fn evaluate(&mut self, seen: &Seen<'_>, side: &mut Side, before: u64) {
        let (plan, end) = (self.plan, side.end());
        if end <= before {
            return;
        }
        for number in &plan.always_stream {
            side.arm(*number, plan.rule(*number), end);
        }
        let new = usize::try_from(end - before).unwrap_or(usize::MAX);
        let count = side.armed.len();
        for (level, at) in (0..=plan.levels).flat_map(|level| (0..count).map(move |at| (level, at))) {
            let armed = &mut side.armed[at];
            let rule = plan.rule(armed.rule);
            if rule.level() != level || !header_matches(rule, seen) || !self.bits_fit(rule) {
                continue;
            }
            self.detect.evaluated += 1;
            self.evaluated = true;
            // Bits that a rule asks for say something about now, so its match has to be new.
            let fresh = if armed.alerted || rule.tests_bits() { before } else { 0 };
            // A content alone has a byte of this frame, or it was found before.
            let skip = match &rule.steps[..] {
                [Step::Content(content)] => {
                    side.history.len().saturating_sub(new.saturating_add(content.bytes.len() - 1))
                }
                _ => 0,
            };
            let bytes = Bytes { bytes: &side.history[skip..], base: side.base + skip as u64, fresh };
            if bytes.matches(&rule.steps, &mut self.detect.limited) {
                armed.alerted = true;
                let rule = armed.rule;
                self.found(Match { rule, in_stream: true });
            }
        }
    }

    /// Whether the bits of the flow are as a rule asks.
    fn bits_fit(&self, rule: &Rule) -> bool {
        rule.bits.iter().all(|bit| match bit {
            FlowBit::IsSet(names) => names.iter().any(|name| self.bits.contains(name)),
            FlowBit::IsNotSet(names) => !names.iter().any(|name| self.bits.contains(name)),
            _ => true,
        })
    }

    /// Takes a match, which may change bits of the flow.
    fn found(&mut self, found: Match) {
        for bit in &self.plan.rule(found.rule).bits {
            let (FlowBit::Set(name) | FlowBit::Unset(name) | FlowBit::Toggle(name)) = bit else { continue };
            let was = self.bits.iter().position(|known| known == name);
            match (bit, was) {
                (FlowBit::Set(_) | FlowBit::Toggle(_), None) => self.bits.push(Arc::clone(name)),
                (FlowBit::Unset(_) | FlowBit::Toggle(_), Some(at)) => drop(self.bits.swap_remove(at)),
                _ => {}
            }
        }
        self.matched.push(found);
    }

    /// Ends the stream's part of a frame: evaluates rules, and forgets what is too old.
    pub(crate) fn stream(&mut self, seen: &Seen<'_>, side: &mut Side, before: u64, keep: usize) {
        self.evaluate(seen, side, before);
        let (plan, end) = (self.plan, side.end());
        // A rule for other ends or the other direction never matches here; one that waits for the handshake may.
        side.armed.retain(|armed| {
            let rule = plan.rule(armed.rule);
            end < armed.until && (rule.flow.established.is_some() || header_matches(rule, seen))
        });
        // Twice as much as is kept may stay, so that bytes are moved seldom.
        if side.history.len() > 2 * keep {
            let gone = side.history.len() - keep;
            side.history.drain(..gone);
            side.base += gone as u64;
            *self.kept -= gone;
            self.detect.forgotten_bytes += gone as u64;
        }
    }

    /// Takes the payload of a packet. `searched`: the filter has just searched it as a part of a stream.
    pub(crate) fn packet(&mut self, seen: &Seen<'_>, packet: &Packet<'_>, searched: bool) {
        let plan = self.plan;
        let tcp = packet.protocol == 6 && !packet.fragment;
        let keys = if !tcp {
            self.filter(&mut Window::default(), packet.payload);
            std::mem::take(&mut self.keys)
        } else if !plan.tcp_packets {
            Vec::new()
        } else if searched {
            std::mem::take(&mut self.own)
        } else {
            self.filter(&mut Window::default(), packet.payload);
            // The bytes count once, with the stream.
            self.detect.searched_bytes -= packet.payload.len() as u64;
            std::mem::take(&mut self.keys)
        };
        let of_keys = || keys.iter().flat_map(|key| &plan.program.by_key[usize::from(*key)]);
        let all = |level: usize| of_keys().chain(&plan.always_packets).map(move |number| (level, number));
        for (level, number) in (0..=plan.levels).flat_map(all) {
            let rule = plan.rule(*number);
            let known = || self.matched.iter().any(|known| known.rule == *number);
            if rule.level() != level
                || !looks_at_packet(rule, packet.protocol)
                || !header_matches(rule, seen)
                || !self.bits_fit(rule)
                || known()
                || !rule.checks.iter().all(|check| check_holds(check, packet))
            {
                continue;
            }
            self.detect.evaluated += 1;
            self.evaluated = true;
            let bytes = Bytes { bytes: packet.payload, base: 0, fresh: 0 };
            if bytes.matches(&rule.steps, &mut self.detect.limited) {
                self.found(Match { rule: *number, in_stream: false });
            }
        }
    }

    /// Runs the filter; `keys` has what it found.
    fn filter(&mut self, window: &mut Window, bytes: &[u8]) {
        let keys = &mut self.keys;
        keys.clear();
        self.detect.searched_bytes += bytes.len() as u64;
        *window = self.plan.scanner.scan(*window, bytes, &mut |key, _| {
            if !keys.contains(&key) {
                keys.push(key);
            }
        });
        self.hit |= !keys.is_empty();
    }

    /// Whether a rule lets the frame pass whatever others say.
    fn passes(&self) -> bool {
        self.matched.iter().any(|known| self.plan.rule(known.rule).action == Action::Pass)
    }

    /// Whether rules drop the frame, and the flow: a match in a stream is more than this frame.
    pub(crate) fn drops(&self) -> (bool, bool) {
        let drops =
            |known: &&Match| self.drops && matches!(self.plan.rule(known.rule).action, Action::Drop | Action::Reject);
        if self.passes() {
            return (false, false);
        }
        let mut all = self.matched.iter().filter(drops).peekable();
        (all.peek().is_some(), all.any(|known| known.in_stream))
    }

    /// The alerts: rules that drop come first, otherwise the order is that of the rules.
    pub(crate) fn report(self, seen: &Seen<'_>, blocked: bool, told: &mut Reported) -> Vec<Alert> {
        if self.matched.is_empty() || self.passes() {
            return Vec::new();
        }
        let mut rules: Vec<u32> = self.matched.iter().map(|known| known.rule).collect();
        rules.sort_by_key(|number| (self.plan.rule(*number).action, *number));
        rules.dedup();
        let Reported { hits, thresholds } = told;
        rules.retain(|number| {
            let rule = self.plan.rule(*number);
            !rule.silent && thresholds.is_due(rule, seen.source.0, seen.destination.0, seen.time)
        });
        self.detect.alerts += rules.len() as u64;
        let alert = |number: u32| {
            hits[number as usize] += 1;
            seen.alert(self.plan.rule(number), blocked)
        };
        rules.into_iter().map(alert).collect()
    }
}
