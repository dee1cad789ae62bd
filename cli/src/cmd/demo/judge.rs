// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Did both targets do the same, and was it right?

use std::collections::HashMap;

use penstock_device::{Drops, Port, Run, Target, Traffic};

use super::list::{Rule, passes};
use crate::report::{Flow, Verdict};
use crate::show::grouped;

/// The frames that left: for each destination and flow its frames, in order. Equal maps mean the same frames at every
/// destination, and the same order within every flow.
struct Output<'a> {
    name: String,
    flows: HashMap<(Port, Flow), Vec<&'a [u8]>>,
}

impl<'a> Output<'a> {
    fn of(target: Target, run: &'a Run) -> Self {
        let mut flows: HashMap<_, Vec<&[u8]>> = HashMap::new();
        for departure in &run.departures {
            flows.entry((departure.to, Flow::of(&departure.bytes))).or_default().push(&departure.bytes);
        }
        Self { name: target.to_string(), flows }
    }

    /// The frames that a firewall with these rules passes, each to the neighbour of its port.
    fn expected(traffic: &'a Traffic, rules: &[Rule]) -> Self {
        let mut flows: HashMap<_, Vec<&[u8]>> = HashMap::new();
        for (index, frame) in traffic.frames.iter().enumerate() {
            let (Port::Ethernet(port), bytes) = (frame.port, traffic.frame(index)) else { continue };
            if passes(rules, bytes) {
                flows.entry((Port::Ethernet(port ^ 1), Flow::of(bytes))).or_default().push(bytes);
            }
        }
        Self { name: "the block list".to_owned(), flows }
    }

    fn frames(&self) -> u64 {
        self.flows.values().map(|frames| frames.len() as u64).sum()
    }

    /// How `self` differs from `other`, in words; none when it does not.
    fn difference(&self, other: &Self) -> Option<String> {
        let mut keys: Vec<_> = self.flows.keys().chain(other.flows.keys()).collect();
        keys.sort_unstable();
        keys.dedup();
        let (mut missing, mut extra, mut disordered, mut example) = (0, 0, 0, None);
        for key in keys {
            let [ours, theirs] = [self, other].map(|o| o.flows.get(key).map_or(&[][..], Vec::as_slice));
            if ours == theirs {
                continue;
            }
            example.get_or_insert_with(|| format!("first at {}: {}", key.0, key.1));
            let (lost, won) = (without(theirs, ours), without(ours, theirs));
            missing += lost;
            extra += won;
            disordered += usize::from(lost + won == 0);
        }
        let example = example?;
        Some(format!(
            "{} differs from {}: {missing} frames are missing, {extra} are too many, {disordered} flows are in another order ({example})",
            self.name, other.name
        ))
    }
}

/// How many of `frames` are not in `others`, each counted as often as it occurs.
fn without(frames: &[&[u8]], others: &[&[u8]]) -> usize {
    let mut left: HashMap<&[u8], usize> = HashMap::new();
    for frame in others {
        *left.entry(frame).or_default() += 1;
    }
    let missing = |frame: &&&[u8]| match left.get_mut(**frame) {
        Some(n) if *n > 0 => {
            *n -= 1;
            false
        }
        _ => true,
    };
    frames.iter().filter(missing).count()
}

/// Compares two runs of the same traffic with each other and with an independent reading of the list.
pub(super) fn judge(traffic: &Traffic, rules: &[Rule], [a, b]: [(Target, &Run); 2]) -> Verdict {
    let expected = Output::expected(traffic, rules);
    let drops = Drops { blocked: traffic.frames.len() as u64 - expected.frames(), ..Drops::default() };
    let (first, second) = (Output::of(a.0, a.1), Output::of(b.0, b.1));

    let mut between: Vec<String> = first.difference(&second).into_iter().collect();
    if a.1.drops != b.1.drops {
        between.push(format!("the drops differ: {} {}, {} {}", a.0, words(&a.1.drops), b.0, words(&b.1.drops)));
    }
    let mut wrong: Vec<String> = Vec::new();
    for (output, (target, run)) in [&first, &second].into_iter().zip([a, b]) {
        wrong.extend(output.difference(&expected));
        if run.drops != drops {
            wrong.push(format!(
                "{target} counted as drops {}, the block list says {}",
                words(&run.drops),
                words(&drops)
            ));
        }
        wrong.extend(run.faults.iter().map(|fault| format!("{target}: {fault}")));
    }
    let headline = match (between.is_empty(), wrong.is_empty()) {
        (true, true) => "Both targets agree.",
        (true, false) => "Both targets agree, but not with the block list.",
        (false, _) => "The targets do not agree.",
    };
    let good = between.is_empty() && wrong.is_empty();
    let reasons = if good {
        vec![
            format!(
                "{} and {} let through the same {} frames, byte for byte, in the same order within each of {} flows.",
                first.name,
                second.name,
                grouped(first.frames()),
                grouped(first.flows.len() as u64)
            ),
            format!("Both counted the same drops: {}.", words(&drops)),
            format!(
                "Both are right: an independent reading of the block list lets {} of {} frames through, the same ones.",
                grouped(expected.frames()),
                grouped(traffic.frames.len() as u64)
            ),
        ]
    } else {
        between.into_iter().chain(wrong).collect()
    };
    Verdict { good, headline: headline.to_owned(), reasons }
}

/// `12 blocked, 1 runt`; `none`.
fn words(drops: &Drops) -> String {
    let some: Vec<String> =
        drops.list().iter().filter(|(_, n)| *n > 0).map(|(reason, n)| format!("{} {reason}", grouped(*n))).collect();
    if some.is_empty() { "none".to_owned() } else { some.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use penstock_device::Departure;

    fn frame(last: u8, number: u8) -> Vec<u8> {
        let mut bytes = vec![0; 60];
        bytes[12] = 8;
        bytes[14] = 0x45;
        bytes[23] = 1;
        bytes[26..30].copy_from_slice(&[10, 0, 0, last]);
        bytes[59] = number;
        bytes
    }

    /// Frames 0..6 from 10.0.0.0 to .2, two each; .2 is blocked.
    fn scene() -> (Traffic, Vec<Rule>, Run) {
        let mut traffic = Traffic::default();
        let mut run = Run { drops: Drops { blocked: 2, ..Drops::default() }, ..Run::default() };
        for number in 0..6 {
            let bytes = frame(number % 3, number);
            traffic.push(Port::Ethernet(0), &bytes, 0);
            if number % 3 < 2 {
                run.departures.push(Departure {
                    to: Port::Ethernet(1),
                    from: Some(Port::Ethernet(0)),
                    time_ns: 0,
                    input: Some(usize::from(number)),
                    made_by: None,
                    mark: 0,
                    entered: 0,
                    first: 0,
                    last: 0,
                    bytes,
                });
            }
        }
        (traffic, vec![Rule { prefix: 0x0A00_0002, length: 32, class: 1 }], run)
    }

    /// The verdict when `spoil` happens to the second target.
    fn verdict(spoil: impl Fn(&mut Run)) -> Verdict {
        let (traffic, rules, good) = scene();
        let mut other = good.clone();
        spoil(&mut other);
        judge(&traffic, &rules, [(Target::Soft, &good), (Target::Rtl, &other)])
    }

    #[test]
    fn order_between_flows_is_free() {
        let verdict = verdict(|run| run.departures.swap(0, 1));
        assert!(verdict.good, "{verdict:?}");
        assert!(verdict.reasons[0].contains("same 4 frames"), "{verdict:?}");
    }

    #[test]
    fn every_difference_is_found() {
        type Spoil = fn(&mut Run);
        let spoils: [(&str, Spoil); 7] = [
            ("1 flows are in another order", |run| run.departures.swap(0, 2)),
            ("1 frames are missing, 0 are too many", |run| drop(run.departures.pop())),
            ("0 frames are missing, 1 are too many", |run| run.departures.push(run.departures[0].clone())),
            ("1 frames are missing, 1 are too many", |run| run.departures[0].bytes[40] ^= 1),
            ("1 frames are missing, 1 are too many", |run| run.departures[0].to = Port::Ethernet(0)),
            ("rtl 1 blocked", |run| run.drops.blocked = 1),
            ("rtl: unit 3", |run| run.faults.push("unit 3 has not released a slot".to_owned())),
        ];
        for (words, spoil) in spoils {
            let verdict = verdict(spoil);
            assert!(!verdict.good, "{words}");
            assert!(verdict.reasons.join("\n").contains(words), "{words}: {verdict:?}");
        }
    }

    #[test]
    fn two_wrong_targets_do_not_pass() {
        let (traffic, _, good) = scene();
        let verdict = judge(&traffic, &[], [(Target::Soft, &good), (Target::Rtl, &good)]);
        assert!(!verdict.good);
        assert_eq!(verdict.headline, "Both targets agree, but not with the block list.");
    }

    #[test]
    fn frames_are_counted_as_often_as_they_occur() {
        let (a, b) = ([1u8], [2u8]);
        assert_eq!(without(&[&a, &a, &b], &[&a]), 2);
        assert_eq!(without(&[&a], &[&a, &a, &b]), 0);
    }
}
