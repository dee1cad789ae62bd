// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! One frame on its way through the rules.

use penstock_ids_compiler::rule::{Action, Rule, Step};
use penstock_streams::{Chunk, Packet, Transport};
use serde_json::{Value as Json, json};

use crate::matching::{Bytes, Limited, change};
use crate::memory::{FlowMemory, HostBits};
use crate::plan::{Plan, looks_at_packet};
use crate::report::{Alert, AlertFields, AppObject};
use crate::scan::Window;
use crate::search::find;
use crate::seen::{Seen, change_sets, check_holds, direction_matches, flow_holds, header_holds, header_matches};
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
    /// The rule waits to be evaluated because the stream has cost too much: it was evaluated up to this position.
    pub(crate) deferred: Option<u64>,
    /// A content of the rule that the stream does not have up to a position, by its number among the steps: the rule
    /// cannot match before it comes.
    pub(crate) absent: Option<(usize, u64)>,
}

/// A rule whose messages have come and that still misses bytes of the stream.
#[derive(Debug, Clone)]
pub(crate) struct Mixed {
    pub(crate) rule: u32,
    /// Values that change the rule's sets if it matches, with the number of the conditions that have met them.
    pub(crate) values: Vec<(usize, Vec<u8>)>,
}

impl Mixed {
    /// Bytes that it keeps.
    pub(crate) fn memory(&self) -> usize {
        self.values.iter().map(|(_, value)| value.len()).sum()
    }
}

/// The budget for evaluating the rules of one direction, in compared bytes: an initial credit, and more for each byte
/// of the stream. Otherwise a sender of many short segments could have the whole history searched for each of them.
const CREDIT: i64 = 32 << 20;
const CREDIT_PER_BYTE: i64 = 4096;
/// The fixed cost of an evaluation, and of a search of a pcre.
const COST: i64 = 256;
const SEARCH_COST: i64 = 256;

/// Bytes by which the memory of a stream grows at most.
const LARGE: usize = 1 << 17;

/// The state of one direction.
#[derive(Debug, Clone)]
pub(crate) struct Side {
    window: Window,
    /// The remaining budget for evaluation.
    credit: i64,
    /// Rules that wait for bytes behind their messages.
    pub(crate) mixed: Vec<Mixed>,
    /// The last bytes of the stream.
    pub(crate) history: Vec<u8>,
    /// Position of the first byte of `history`.
    pub(crate) base: u64,
    pub(crate) armed: Vec<Armed>,
}

impl Default for Side {
    fn default() -> Self {
        let (window, history, mixed, armed) = (Window::default(), Vec::new(), Vec::new(), Vec::new());
        Self { window, credit: CREDIT, mixed, history, base: 0, armed }
    }
}

impl Side {
    /// Whether rules wait to be evaluated.
    pub(crate) fn is_behind(&self) -> bool {
        self.armed.iter().any(|armed| armed.deferred.is_some())
    }

    /// Forgets the bytes of a stream that has ended, unless rules have not been evaluated on all of them; the number of
    /// bytes.
    pub(crate) fn release(&mut self) -> usize {
        if self.is_behind() || !self.mixed.is_empty() {
            return 0;
        }
        self.base = self.end();
        std::mem::take(&mut self.history).len()
    }

    /// Keeps bytes that follow the last ones. The memory grows fourfold: most streams are short, and bytes of long ones
    /// are moved seldom.
    fn keep(&mut self, bytes: &[u8]) {
        let (length, room) = (self.history.len(), self.history.capacity());
        if length + bytes.len() > room {
            self.history.reserve_exact(bytes.len().max((4 * room).min(room + LARGE) - length));
        }
        self.history.extend_from_slice(bytes);
    }

    /// Bytes that it keeps.
    pub(crate) fn memory(&self) -> usize {
        self.history.len() + self.mixed.iter().map(Mixed::memory).sum::<usize>()
    }

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
            [Step::Content(content)] if is_alone(rule) => end + content.bytes.len() as u64,
            _ => u64::MAX,
        };
        match self.armed.iter_mut().find(|armed| armed.rule == number) {
            Some(armed) => armed.until = until,
            None => self.armed.push(Armed { rule: number, alerted: false, until, deferred: None, absent: None }),
        }
    }
}

/// Whether nothing but the bytes of a content decides.
fn is_alone(rule: &Rule) -> bool {
    rule.layers.is_empty() && rule.checks.is_empty()
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
    whole_flow: bool,
    app: Option<AppObject>,
}

/// One frame on its way through the rules.
pub(crate) struct Look<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) detect: &'a mut DetectStats,
    pub(crate) kept: &'a mut usize,
    hosts: &'a mut HostBits,
    /// Rules that one direction may wait for.
    pub(crate) armed: usize,
    drops: bool,
    /// A rule lets the flow pass.
    pub(crate) passed: bool,
    matched: Vec<Match>,
    /// Numbers of the keys that the filter found last.
    pub(crate) keys: Vec<u16>,
    /// Numbers of those that it found in the bytes of this frame.
    own: Vec<u16>,
    /// One of the keys that it found last announces a message.
    pub(crate) announced: bool,
    /// The rules' memory of the flow.
    pub(crate) memory: FlowMemory,
    /// The bits of the flow, for reports.
    bits: Option<Json>,
    /// Messages that have records of their own.
    pub(crate) records: Vec<AppObject>,
    /// Files that have records: protocol, message and file.
    pub(crate) files: Vec<(AppObject, Json)>,
    pub(crate) evaluated: bool,
    pub(crate) hit: bool,
}

/// How the bytes of a packet's payload are looked at elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Payload {
    /// Nowhere: it belongs to no stream.
    Alone,
    /// In a stream.
    InStream,
    /// In a stream, and the filter has just searched them as they are here.
    Searched,
}

/// The data of a look that outlives it.
pub(crate) struct Around<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) detect: &'a mut DetectStats,
    pub(crate) kept: &'a mut usize,
    pub(crate) hosts: &'a mut HostBits,
    /// Rules that one direction may wait for.
    pub(crate) armed: usize,
}

impl<'a> Look<'a> {
    pub(crate) fn new(around: Around<'a>, drops: bool) -> Self {
        let Around { plan, detect, kept, hosts, armed } = around;
        let (matched, keys, own, memory) = (Vec::new(), Vec::new(), Vec::new(), FlowMemory::default());
        let (evaluated, hit, records, files) = (false, false, Vec::new(), Vec::new());
        Self {
            plan,
            detect,
            kept,
            hosts,
            armed,
            drops,
            passed: false,
            matched,
            keys,
            own,
            announced: false,
            memory,
            bits: None,
            records,
            files,
            evaluated,
            hit,
        }
    }

    /// Gives the rules' memory back to the flow, at the end of the look.
    pub(crate) fn give_memory(&mut self) -> FlowMemory {
        if !self.matched.is_empty() {
            let bits: Vec<&str> = self.memory.bits().collect();
            self.bits = (!bits.is_empty()).then(|| json!({"flowbits": bits}));
        }
        std::mem::take(&mut self.memory)
    }

    /// Counts what limits have done.
    pub(crate) fn limits(&mut self, limited: &Limited) {
        self.detect.limited += limited.stopped;
        self.detect.limited_negated += limited.negated;
    }

    /// Whether ends, flow and what rules remember are as a rule asks, whatever the bytes are.
    pub(crate) fn may_match(&self, rule: &Rule, seen: &Seen<'_>) -> bool {
        header_matches(rule, seen)
            && self.memory.fits(rule)
            && self.hosts.fit(rule, seen.source.0, seen.destination.0, seen.time)
            && rule.checks.iter().all(|check| flow_holds(check, seen))
    }

    /// Takes bytes of a stream in order: finds their keys and keeps them. Bytes from `before` on are of this frame.
    pub(crate) fn take(&mut self, seen: &Seen<'_>, side: &mut Side, chunk: Chunk<'_>, before: u64) {
        let plan = self.plan;
        if chunk.gap > 0 {
            // No match has bytes on both sides of a gap.
            self.evaluate(seen, side, before, true);
            *self.kept -= side.history.len();
            let (armed, mixed) = (std::mem::take(&mut side.armed), std::mem::take(&mut side.mixed));
            *side = Side { base: chunk.at, armed, mixed, credit: side.credit, ..Side::default() };
        }
        side.credit = side.credit.saturating_add(CREDIT_PER_BYTE * chunk.bytes.len() as i64).min(CREDIT);
        self.filter(&mut side.window, chunk.bytes);
        let announces = |key: &u16| plan.program.announces.get(usize::from(*key)) == Some(&true);
        self.announced = self.keys.iter().any(announces);
        if chunk.direct {
            self.own.clone_from(&self.keys);
        }
        if plan.streams {
            side.keep(chunk.bytes);
            *self.kept += chunk.bytes.len();
            let end = side.end();
            for key in &self.keys {
                for number in &plan.program.by_key[usize::from(*key)] {
                    let rule = plan.rule(*number);
                    if direction_matches(rule, seen) {
                        side.arm(*number, rule, end);
                    }
                }
            }
        }
    }

    /// Evaluates rules on a stream whose bytes from `before` on are of this frame. `all`: no rule waits any longer.
    fn evaluate(&mut self, seen: &Seen<'_>, side: &mut Side, before: u64, all: bool) {
        let (plan, end) = (self.plan, side.end());
        if end <= before && !side.is_behind() {
            return;
        }
        if end > before {
            for number in &plan.always_stream {
                let rule = plan.rule(*number);
                if direction_matches(rule, seen) {
                    side.arm(*number, rule, end);
                }
            }
        }
        let count = side.armed.len();
        for (level, at) in (0..=plan.levels).flat_map(|level| (0..count).map(move |at| (level, at))) {
            let armed = &mut side.armed[at];
            if plan.level(armed.rule) != level {
                continue;
            }
            let rule = plan.rule(armed.rule);
            if !self.may_match(rule, seen) {
                continue;
            }
            if !seen.spoken.fits(&rule.layers) {
                // The rule's bytes are here, and more bytes or the end say whether the protocol is right.
                if end > before && seen.spoken.waits(&rule.layers) {
                    armed.deferred.get_or_insert(before);
                }
                continue;
            }
            // Bytes that the rule has not been evaluated on.
            let from = armed.deferred.unwrap_or(before);
            if end <= from {
                continue;
            }
            let new = usize::try_from(end - from).unwrap_or(usize::MAX);
            // A content alone has a byte of this frame, or it was found before.
            let skip = match &rule.steps[..] {
                [Step::Content(content)] if is_alone(rule) => {
                    side.history.len().saturating_sub(new.saturating_add(content.bytes.len() - 1))
                }
                _ => 0,
            };
            // A rule that misses a content looks only at bytes that may be this content.
            let missing = armed.absent.and_then(|(step, searched)| match &rule.steps[step] {
                Step::Content(content) => {
                    let known = searched.saturating_sub(side.base) as usize;
                    Some((content, (known + 1).saturating_sub(content.bytes.len()).min(side.history.len())))
                }
                _ => None,
            });
            let cost = (side.history.len() - missing.map_or(skip, |(_, from)| from)) as i64 + COST;
            if cost > side.credit && !all {
                armed.deferred.get_or_insert(before);
                self.detect.deferred += 1;
                continue;
            }
            side.credit -= cost;
            armed.deferred = None;
            self.detect.evaluated += 1;
            self.evaluated = true;
            if let Some((content, from)) = missing {
                armed.absent = armed.absent.map(|(step, _)| (step, end));
                if find(content, &side.history[from..]).is_none() {
                    continue;
                }
            }
            armed.absent = None;
            // A rule's condition on other rules is about the present, so its match must be new.
            let fresh = if armed.alerted || rule.tests_memory() { from } else { 0 };
            let bytes = Bytes { bytes: &side.history[skip..], base: side.base + skip as u64, fresh };
            let mut limited = Limited::default();
            let matches = bytes.matches(&rule.steps, &mut limited);
            side.credit = side.credit.saturating_sub_unsigned(limited.searches * SEARCH_COST.unsigned_abs());
            self.limits(&limited);
            let armed = &mut side.armed[at];
            if matches {
                armed.alerted = true;
                let rule = armed.rule;
                self.found_in(seen, rule, true, None);
            } else if skip == 0 {
                armed.absent = bytes.absent(&rule.steps).map(|step| (step, end));
            }
        }
        self.mixed(seen, side, all);
    }

    /// Evaluates the rules whose messages have come on the bytes of the stream.
    fn mixed(&mut self, seen: &Seen<'_>, side: &mut Side, all: bool) {
        let plan = self.plan;
        let mut waiting = std::mem::take(&mut side.mixed);
        waiting.retain(|Mixed { rule: number, values }| {
            let cost = side.history.len() as i64 + COST;
            if cost > side.credit && !all {
                self.detect.deferred += 1;
                return true;
            }
            side.credit -= cost;
            let mut limited = Limited::default();
            let bytes = Bytes { bytes: &side.history, base: side.base, fresh: 0 };
            let rule = plan.rule(*number);
            let matches = bytes.matches(&rule.steps, &mut limited);
            side.credit = side.credit.saturating_sub_unsigned(limited.searches * SEARCH_COST.unsigned_abs());
            self.limits(&limited);
            if matches {
                for (at, value) in values {
                    *self.kept -= value.len();
                    let group = rule.messages.as_ref().and_then(|messages| messages.groups.get(*at));
                    group.into_iter().for_each(|group| change(&group.steps, value));
                }
                self.found_in(seen, *number, true, None);
            }
            !matches
        });
        side.mixed = waiting;
    }

    /// Takes a match, which may change what rules remember. `whole_flow`: its action is about the flow, not about this
    /// frame alone.
    pub(crate) fn found_in(&mut self, seen: &Seen<'_>, rule: u32, whole_flow: bool, app: Option<AppObject>) {
        let about = self.plan.rule(rule);
        self.memory.change(about);
        self.hosts.change(about, seen.source.0, seen.destination.0, seen.time);
        self.matched.push(Match { rule, whole_flow, app });
    }

    /// Ends the stream's part of a frame: evaluates rules, and forgets what is too old.
    pub(crate) fn stream(&mut self, seen: &Seen<'_>, side: &mut Side, before: u64, keep: usize, last: bool) {
        // Bytes that are about to be forgotten are evaluated first.
        self.evaluate(seen, side, before, last || side.history.len() > 2 * keep);
        let (plan, end) = (self.plan, side.end());
        side.armed.retain(|armed| {
            let rule = plan.rule(armed.rule);
            (end < armed.until || armed.deferred.is_some()) && direction_matches(rule, seen)
        });
        // Rules that came last have no room.
        self.detect.unarmed += side.armed.len().saturating_sub(self.armed) as u64;
        side.armed.truncate(self.armed);
        // Twice as much as is kept may stay, so that bytes are moved seldom.
        if side.history.len() > 2 * keep {
            let gone = side.history.len() - keep;
            side.history.drain(..gone);
            side.base += gone as u64;
            *self.kept -= gone;
            self.detect.forgotten_bytes += gone as u64;
        }
    }

    /// Takes a packet. Rules about streams look at the payload of a segment that belongs to none.
    pub(crate) fn packet(&mut self, seen: &Seen<'_>, packet: &Packet<'_>, payload: Payload) {
        let plan = self.plan;
        let stray = payload == Payload::Alone && matches!(packet.transport, Transport::Tcp(_));
        let keys = if payload == Payload::Alone {
            self.filter(&mut Window::default(), packet.payload);
            std::mem::take(&mut self.keys)
        } else if !plan.tcp_packets {
            Vec::new()
        } else if payload == Payload::Searched {
            std::mem::take(&mut self.own)
        } else {
            self.filter(&mut Window::default(), packet.payload);
            // The bytes count once, with the stream.
            self.detect.searched_bytes -= packet.payload.len() as u64;
            std::mem::take(&mut self.keys)
        };
        if keys.is_empty() && !stray && plan.always_packets.is_none(packet) {
            return;
        }
        let of_keys = |level: usize| {
            let all = keys.iter().flat_map(|key| &plan.program.by_key[usize::from(*key)]);
            all.copied().filter(move |number| plan.level(*number) == level)
        };
        let of_streams = |level: usize| {
            let all = plan.always_stream.iter().filter(|_| stray).copied();
            all.filter(move |number| plan.level(*number) == level)
        };
        let all = |level: usize| of_keys(level).chain(plan.always_packets.of(packet, level)).chain(of_streams(level));
        for number in (0..=plan.levels).flat_map(all) {
            let rule = plan.rule(number);
            let known = || self.matched.iter().any(|known| known.rule == number);
            if !(looks_at_packet(rule, packet.protocol) || stray && rule.messages.is_none() && rule.looks.strays)
                || !self.may_match(rule, seen)
                || !seen.spoken.fits(&rule.layers)
                || known()
                || seen.way.is_some_and(|way| self.memory.is_done(rule, way))
                || !rule.checks.iter().all(|check| check_holds(check, packet, seen.streams))
            {
                continue;
            }
            self.detect.evaluated += 1;
            self.evaluated = true;
            let bytes = Bytes { bytes: packet.payload, base: 0, fresh: 0 };
            let mut limited = Limited::default();
            let matches = rule.headers.iter().all(|group| header_holds(group, packet, &mut limited))
                && bytes.matches(&rule.steps, &mut limited);
            self.limits(&limited);
            if matches {
                rule.headers.iter().for_each(|group| change_sets(group, packet));
                if let Some(way) = seen.way {
                    self.memory.done(rule, way);
                }
                self.found_in(seen, number, rule.once, None);
            }
        }
    }

    /// Runs the filter; `keys` has what it found.
    fn filter(&mut self, window: &mut Window, bytes: &[u8]) {
        let keys = &mut self.keys;
        keys.clear();
        if bytes.is_empty() {
            return;
        }
        self.detect.searched_bytes += bytes.len() as u64;
        *window = self.plan.scanner.scan(*window, bytes, &mut |key, _| {
            if !keys.contains(&key) {
                keys.push(key);
            }
        });
        self.hit |= !keys.is_empty();
    }

    /// Whether a rule that reports has matched.
    pub(crate) fn has_matched(&self) -> bool {
        !self.passes() && self.matched.iter().any(|known| !self.plan.rule(known.rule).silent)
    }

    /// Whether a rule lets the frame pass whatever others say.
    fn passes(&self) -> bool {
        self.passed || self.matched.iter().any(|known| self.plan.rule(known.rule).action == Action::Pass)
    }

    /// Whether a rule lets the flow pass from this frame on.
    pub(crate) fn passes_flow(&self) -> bool {
        let is_pass = |known: &Match| known.whole_flow && self.plan.rule(known.rule).action == Action::Pass;
        self.passed || self.matched.iter().any(is_pass)
    }

    /// Whether rules drop the frame, and the flow: such a match is about more than this frame.
    pub(crate) fn drops(&self) -> (bool, bool) {
        let drops =
            |known: &&Match| self.drops && matches!(self.plan.rule(known.rule).action, Action::Drop | Action::Reject);
        if self.passes() {
            return (false, false);
        }
        let mut all = self.matched.iter().filter(drops).peekable();
        (all.peek().is_some(), all.any(|known| known.whole_flow))
    }

    /// The alerts: rules that drop come first, otherwise the order is that of the rules.
    pub(crate) fn report(self, seen: &Seen<'_>, blocked: bool, told: &mut Reported, fields: AlertFields) -> Vec<Alert> {
        if self.matched.is_empty() || self.passes() {
            return Vec::new();
        }
        let mut rules: Vec<u32> = self.matched.iter().map(|known| known.rule).collect();
        rules.sort_by_key(|number| (self.plan.rule(*number).action, *number));
        rules.dedup();
        let Reported { hits, thresholds } = told;
        rules.retain(|number| {
            let rule = self.plan.rule(*number);
            let suppressed = || {
                let (source, destination) = (seen.source.0, seen.destination.0);
                rule.suppress.iter().any(|suppress| suppress.holds(source, destination))
            };
            !rule.silent && !suppressed() && thresholds.is_due(rule, seen)
        });
        self.detect.alerts += rules.len() as u64;
        let alert = |number: u32| {
            hits[number as usize] += 1;
            let app = self.matched.iter().filter(|known| known.rule == number).find_map(|known| known.app.as_ref());
            let alert = seen.alert(self.plan.rule(number), blocked, app, fields);
            Alert { metadata: self.bits.clone(), ..alert }
        };
        rules.into_iter().map(alert).collect()
    }
}
