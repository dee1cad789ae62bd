// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Rules with the filter that finds their candidates.

use crate::choose;
use crate::filter::Filter;
use crate::rule::{Key, Protocol, Rule, Step};
use crate::set::Ruleset;

/// Classes of frames that the host looks at whatever the filter finds: bits of the register TELL.
pub mod tell {
    /// TCP with payload.
    pub const TCP_PAYLOAD: u8 = 1 << 0;
    /// TCP without payload.
    pub const TCP_EMPTY: u8 = 1 << 1;
    /// UDP.
    pub const UDP: u8 = 1 << 2;
    /// ICMP.
    pub const ICMP: u8 = 1 << 3;
    /// Other IP.
    pub const OTHER: u8 = 1 << 4;
    /// What is not IP.
    pub const NOT_IP: u8 = 1 << 5;
    /// TCP with SYN, FIN or RST.
    pub const TCP_ENDS: u8 = 1 << 6;
}

/// How candidates of a rule are found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// The filter finds this key, which has this number.
    Key(Key, u16),
    /// Every frame of the rule's classes is a candidate, for this reason.
    Always(&'static str),
}

/// Rules and filter.
#[derive(Debug, Clone)]
pub struct Program {
    /// The rules.
    pub set: Ruleset,
    /// The filter's tables.
    pub filter: Filter,
    /// How candidates of each rule are found, in the order of the rules.
    pub found: Vec<Found>,
    /// Rules by number of their key.
    pub by_key: Vec<Vec<u32>>,
    /// Rules without a key.
    pub always: Vec<u32>,
    /// Classes of frames for which there are rules without a key ([`tell`]).
    pub tell: u8,
}

impl Program {
    /// Chooses keys and fills the tables.
    #[must_use]
    pub fn new(set: Ruleset) -> Self {
        let keys: Vec<Vec<Key>> = set.rules.iter().map(choose::keys).collect();
        let filter = Filter::for_keys(keys.iter().filter(|keys| !keys.is_empty()).count());
        Self::fill(set, &keys, filter)
    }

    /// The same rules with ways of 2^`log` entries, for a card that has such ways.
    #[must_use]
    pub fn sized(&self, log: u32) -> Self {
        let keys: Vec<Vec<Key>> = self.set.rules.iter().map(choose::keys).collect();
        Self::fill(self.set.clone(), &keys, Filter::new(log))
    }

    fn fill(set: Ruleset, keys: &[Vec<Key>], mut filter: Filter) -> Self {
        let (mut found, mut by_key, mut always, mut classes) = (Vec::new(), Vec::new(), Vec::new(), 0);
        for (number, (rule, keys)) in (0..).zip(set.rules.iter().zip(keys)) {
            let placed = keys.iter().find_map(|key| Some((key, filter.add(key)?)));
            found.push(match placed {
                Some((key, id)) => {
                    if by_key.len() <= usize::from(id) {
                        by_key.resize(usize::from(id) + 1, Vec::new());
                    }
                    by_key[usize::from(id)].push(number);
                    Found::Key(key.clone(), id)
                }
                None => {
                    always.push(number);
                    classes |= class(rule);
                    Found::Always(reason(rule, !keys.is_empty()))
                }
            });
        }
        Self { set, filter, found, by_key, always, tell: classes }
    }
}

/// Classes of frames that a rule can match.
fn class(rule: &Rule) -> u8 {
    let with_bytes = rule.steps.iter().any(Step::is_positive);
    let tcp = tell::TCP_PAYLOAD | if with_bytes { 0 } else { tell::TCP_EMPTY };
    match rule.protocol {
        Protocol::Tcp => tcp,
        Protocol::Udp => tell::UDP,
        Protocol::Icmp => tell::ICMP,
        Protocol::Ip => tcp | tell::UDP | tell::ICMP | tell::OTHER,
    }
}

/// Why a rule has no key.
fn reason(rule: &Rule, has_keys: bool) -> &'static str {
    let contents = || {
        rule.steps.iter().filter_map(|step| match step {
            Step::Content(content) => Some(content),
            _ => None,
        })
    };
    if has_keys {
        "the exact table has no place for its keys"
    } else if contents().any(|content| !content.negated) {
        "all its contents are shorter than 3 bytes"
    } else if rule.steps.iter().any(Step::is_positive) {
        "it has a pcre and no content that must be there"
    } else {
        "it has no content that must be there"
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::set::{Options, RuleFile};

    fn program(rules: &[&str]) -> Program {
        let text: String = rules
            .iter()
            .enumerate()
            .map(|(at, rule)| {
                let (protocol, options) = rule.split_once(' ').unwrap();
                format!("alert {protocol} any any -> any any ({options} sid:{at};)\n")
            })
            .collect();
        Program::new(Ruleset::read(&[RuleFile { name: "r".into(), text }], &Options::default()).unwrap())
    }

    #[test]
    fn rules_have_their_rarest_key() {
        let program = program(&[
            "tcp content:\"User-Agent: Mozilla/5.0\"; content:\"Xq7zWv\";",
            "tcp content:\"xQ7zwV\"; nocase;",
            "udp content:\"ab\";",
            "icmp content:!\"abcdef\";",
            "tcp content:\"GET\"; fast_pattern; content:\"very-rare\";",
            "tcp pcre:\"/abc/\";",
        ]);
        let key = |at: usize| match &program.found[at] {
            Found::Key(key, id) => (String::from_utf8(key.bytes().to_vec()).unwrap(), *id),
            Found::Always(why) => ((*why).to_owned(), u16::MAX),
        };
        assert_eq!((key(0), key(1)), (("xq7zwv".into(), 0), ("xq7zwv".into(), 0)));
        assert_eq!(program.by_key, [vec![0, 1], vec![4]]);
        assert_eq!(key(2).0, "all its contents are shorter than 3 bytes");
        assert_eq!(key(3).0, "it has no content that must be there");
        assert_eq!(key(4), ("get".into(), 1));
        assert_eq!(key(5).0, "it has a pcre and no content that must be there");
        assert_eq!((program.always.clone(), program.tell), (vec![2, 3, 5], tell::UDP | tell::ICMP | tell::TCP_PAYLOAD));
    }
}
