// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Counters of l7 blocks.

use penstock_l7::Counters;
use penstock_l7_compiler::image::{AppImage, Decided};
use penstock_l7_compiler::program::{Action, Application, Program};
use penstock_l7_compiler::shown;
use serde::{Deserialize, Serialize};

/// Counters of a block.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct BlockCounters {
    /// Its applications, in their order.
    pub applications: Vec<AppCounters>,
}

/// Counters of an application.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct AppCounters {
    /// Its name.
    pub name: String,
    /// Packets that were accepted.
    pub packets: u64,
    /// Packets dropped because a length or number in them is wrong.
    pub malformed: u64,
    /// Packets dropped because their number was there already.
    pub duplicates: u64,
    /// Packets dropped because their message became too long.
    pub oversize: u64,
    /// Packets dropped because there was no room for their message.
    pub refused: u64,
    /// Packets dropped because a queue of the card had no room, before the matchers or card memory; 0 on `soft`.
    pub busy: u64,
    /// Messages that were delivered.
    pub delivered: u64,
    /// Messages that a rule dropped.
    pub denied: u64,
    /// Messages that expired before they were whole.
    pub expired: u64,
    /// Messages given up by a matcher, which is a fault of the compiler; 0 on `soft`.
    pub stuck: u64,
    /// Messages dropped because card memory answered with an error, or not at all; 0 on `soft`.
    pub failed: u64,
    /// Messages in flight now.
    pub in_flight: u64,
    /// Pages that they take now: of 512 bytes, or of 2,048 if messages wait in card memory.
    pub pages: u64,
    /// How often its rules were swapped. Counters of rules start again at each swap.
    pub swaps: u64,
    /// Messages by the rule that decided them.
    pub rules: Vec<RuleCounter>,
}

/// A rule, and the messages that it decided.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct RuleCounter {
    /// MESSAGE.RULE, or `default` for messages of other types: its name among all rules of the application.
    #[serde(default)]
    pub name: String,
    /// The message type; empty for messages of other types.
    pub message: String,
    /// Its name; `default` for messages that match no rule.
    pub rule: String,
    /// Its action, as in the source.
    pub action: String,
    /// The lowest host queue that it names, if it names one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue: Option<u16>,
    /// Messages.
    pub messages: u64,
}

impl AppCounters {
    /// The counters that native code also has.
    pub(crate) fn of(counters: &Counters) -> Self {
        let Counters { packets, malformed, duplicates, oversize, refused, delivered, denied, expired } = *counters;
        Self { packets, malformed, duplicates, oversize, refused, delivered, denied, expired, ..Self::default() }
    }
}

/// Counters of an application's rules, from the messages of each decision. Each rule has one decision.
pub(crate) fn rules(application: &Application, program: &Program, image: &AppImage, hits: &[u64]) -> Vec<RuleCounter> {
    let counter = |(decided, messages): (Decided, &u64)| {
        let rules = decided.of_type.map(|at| &application.types[at]);
        let (rule, action) = match (rules, decided.rule) {
            (Some(rules), Some(rule)) => (rules.rules[rule].name.clone(), rules.rules[rule].action),
            (Some(rules), None) => ("default".to_owned(), rules.default),
            (None, _) => ("default".to_owned(), application.others),
        };
        let message = rules.map(|rules| program.message(rules));
        let queue = match action {
            Action::Queue(queue)
            | Action::QueuesBy { first: queue, .. }
            | Action::QueuesInTurn { first: queue, .. } => Some(queue),
            Action::Unit(_) | Action::UnitsBy(_) | Action::Port(_) | Action::Drop => None,
        };
        let message_name = message.map_or_else(String::new, |message| message.name.clone());
        RuleCounter {
            name: if message_name.is_empty() { rule.clone() } else { format!("{message_name}.{rule}") },
            message: message_name,
            rule,
            action: shown(action, message),
            queue,
            messages: *messages,
        }
    };
    image.decided().into_iter().zip(hits).map(counter).collect()
}

impl BlockCounters {
    /// The difference to `earlier`, which was read before. Messages in flight stay what they are now.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let applications = self.applications.iter().zip(&earlier.applications);
        Self { applications: applications.map(|(now, then)| now.since(then)).collect() }
    }
}

impl AppCounters {
    fn since(&self, then: &Self) -> Self {
        let same_rules = self.swaps == then.swaps;
        let rules = self.rules.iter().enumerate().map(|(at, now)| {
            let before = then.rules.get(at).filter(|_| same_rules).map_or(0, |then| then.messages);
            RuleCounter { messages: now.messages.saturating_sub(before), ..now.clone() }
        });
        Self {
            name: self.name.clone(),
            packets: self.packets.saturating_sub(then.packets),
            malformed: self.malformed.saturating_sub(then.malformed),
            duplicates: self.duplicates.saturating_sub(then.duplicates),
            oversize: self.oversize.saturating_sub(then.oversize),
            refused: self.refused.saturating_sub(then.refused),
            busy: self.busy.saturating_sub(then.busy),
            delivered: self.delivered.saturating_sub(then.delivered),
            denied: self.denied.saturating_sub(then.denied),
            expired: self.expired.saturating_sub(then.expired),
            stuck: self.stuck.saturating_sub(then.stuck),
            failed: self.failed.saturating_sub(then.failed),
            in_flight: self.in_flight,
            pages: self.pages,
            swaps: self.swaps,
            rules: rules.collect(),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use penstock_l7_compiler::Compiled;

    use super::*;

    #[test]
    fn counters_of_rules_have_names() {
        let text = "message M { option (type) = 1; string s = 1 [(dispatch) = true]; }
            message N { option (type) = 2; string s = 1 [(dispatch) = true]; }
            application a = 1 { udp port 7000;
                on M { rule r { s = \"x\"; } => queue 3; default => drop; }
                on N { rule r { s = \"x\"; } => port 0; default => drop; } }";
        let compiled = penstock_l7_compiler::compile("a.l7", text).unwrap();
        let Compiled { program, images } = &compiled;
        let found = rules(&program.applications[0], program, &images[0], &[0, 1, 2, 3, 4]);
        let found: Vec<_> = found.iter().map(|rule| (rule.name.as_str(), rule.messages)).collect();
        assert_eq!(found, [("default", 0), ("M.r", 1), ("M.default", 2), ("N.r", 3), ("N.default", 4)]);
    }

    #[test]
    fn a_run_counts_from_its_start() {
        let rule = |messages| RuleCounter { rule: "a".into(), messages, ..Default::default() };
        let of = |packets, messages, swaps| {
            let app =
                AppCounters { packets, in_flight: packets, swaps, rules: vec![rule(messages)], ..Default::default() };
            BlockCounters { applications: vec![app] }
        };
        let app = of(17, 9, 1).since(&of(10, 4, 1)).applications.remove(0);
        assert_eq!((app.packets, app.in_flight, app.rules[0].messages), (7, 17, 5));
        // Counters of rules that were swapped in between started at 0.
        let app = of(17, 2, 2).since(&of(10, 4, 1)).applications.remove(0);
        assert_eq!(app.rules[0].messages, 2);
        let app = of(5 << 32, 3 << 32, 1).since(&of((1 << 32) - 1, 1 << 32, 1)).applications.remove(0);
        assert_eq!((app.packets, app.rules[0].messages), ((4 << 32) + 1, 2 << 32));
    }
}
