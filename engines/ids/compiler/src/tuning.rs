// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! What a file in the form of threshold.config says about rules of other files: when they report, and for whom not.

use std::net::IpAddr;

use crate::byte_ops::Wrong;
use crate::conditions::{self, Threshold};
use crate::ends::{self, Addresses, EndFault, Variables};
use crate::faults::ConfigFault;
use crate::numbers::number;
use crate::rule::Rule;

/// Whose address decides that a rule reports nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SuppressBy {
    /// The source.
    Source,
    /// The destination.
    Destination,
    /// One of the two.
    Either,
}

/// Addresses for which a rule reports nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Suppress {
    /// Whose address it is.
    pub by: SuppressBy,
    /// The addresses.
    pub addresses: Addresses,
}

impl Suppress {
    /// Whether a packet between these ends is not reported.
    #[must_use]
    pub fn holds(&self, source: IpAddr, destination: IpAddr) -> bool {
        match self.by {
            SuppressBy::Source => self.addresses.has(source),
            SuppressBy::Destination => self.addresses.has(destination),
            SuppressBy::Either => self.addresses.has(source) || self.addresses.has(destination),
        }
    }
}

/// The setting in a line.
#[derive(Debug, Clone, PartialEq, Eq)]
enum What {
    /// The rule reports as this says.
    Threshold(Threshold),
    /// The rule reports nothing for these addresses; None: for none at all.
    Suppress(Option<Suppress>),
}

/// A line of the file. A number that is 0 stands for all.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Line {
    /// Its number in the file.
    at: usize,
    gid: u32,
    sid: u32,
    what: What,
}

/// The lines of the file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tuning(Vec<Line>);

impl Tuning {
    /// Reads `suppress gen_id N, sig_id N[, track by_src|by_dst|by_either, ip ADDRESSES]` and `threshold gen_id N, sig_id
    /// N, type …`, for which `event_filter` is another name.
    ///
    /// # Errors
    /// A line has another form.
    pub fn read(text: &str, variables: &Variables) -> Result<Self, ConfigFault> {
        let mut all = Vec::new();
        for (at, line) in crate::text::rules(text) {
            let read = Line::read(at, &line, variables).map_err(|wrong| match wrong {
                Wrong::Value(message) | Wrong::Unsupported(message) => ConfigFault::at(at, message),
            });
            all.push(read?);
        }
        Ok(Self(all))
    }

    /// Lines about a rule that does not exist: sentences. `exists`: whether there is a rule with this gid and sid.
    pub(crate) fn unused(&self, exists: impl Fn(u32, u32) -> bool) -> Vec<String> {
        let unused = self.0.iter().filter(|line| line.sid != 0 && !exists(line.gid, line.sid));
        let sentence =
            |line: &Line| format!("line {} of the thresholds: no rule has gid {}, sid {}", line.at, line.gid, line.sid);
        unused.map(sentence).collect()
    }

    /// Changes a rule as the lines about it say. A line about all rules does not replace the threshold of a rule. The
    /// `detection_filter` of a rule says when it matches, and no line changes that.
    pub(crate) fn apply(&self, rule: &mut Rule) {
        let about = |own: u32, named: u32| named == 0 || named == own;
        for line in self.0.iter().filter(|line| about(rule.gid, line.gid) && about(rule.sid, line.sid)) {
            match &line.what {
                What::Threshold(threshold) if line.sid != 0 || rule.threshold.is_none() && rule.filter.is_none() => {
                    rule.threshold = Some(*threshold);
                }
                What::Threshold(_) => {}
                What::Suppress(None) => rule.silent = true,
                What::Suppress(Some(suppress)) => rule.suppress.push(suppress.clone()),
            }
        }
    }
}

impl Line {
    fn read(at: usize, line: &str, variables: &Variables) -> Result<Self, Wrong> {
        let (kind, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let (mut gid, mut sid, mut track, mut addresses, mut others) = (None, None, None, None, Vec::new());
        for part in ends::entries(rest) {
            let (key, value) = part.split_once(char::is_whitespace).unwrap_or((part, ""));
            match (key, value.trim()) {
                ("gen_id", value) => gid = Some(number(value)?),
                ("sig_id", value) => sid = Some(number(value)?),
                ("track", value) if kind == "suppress" => track = Some(value),
                ("ip", value) if kind == "suppress" => {
                    let read = ends::addresses(value, variables);
                    let read = read.map_err(|fault| match fault {
                        EndFault::Header(why) | EndFault::Variable(why) => Wrong::Value(why),
                    });
                    addresses = Some(read?);
                }
                _ => others.push(part),
            }
        }
        let what = match kind {
            "suppress" => {
                let by = match track {
                    None => None,
                    Some("by_src") => Some(SuppressBy::Source),
                    Some("by_dst") => Some(SuppressBy::Destination),
                    Some("by_either") => Some(SuppressBy::Either),
                    Some(other) => return Err(Wrong::Value(format!("`{other}` is none of by_src, by_dst, by_either"))),
                };
                match (by, addresses, &others[..]) {
                    (None, None, []) => What::Suppress(None),
                    (Some(by), Some(addresses), []) => What::Suppress(Some(Suppress { by, addresses })),
                    _ => {
                        return Err(Wrong::Value(
                            "write suppress gen_id 1, sig_id 7, track by_src, ip 10.0.0.1".into(),
                        ));
                    }
                }
            }
            "threshold" | "event_filter" => What::Threshold(conditions::threshold(&others.join(","), false)?),
            "rate_filter" => {
                return Err(Wrong::Unsupported("rate_filter is not supported: a rule keeps its action".to_owned()));
            }
            other => return Err(Wrong::Value(format!("`{other}` is none of suppress, threshold, event_filter"))),
        };
        match (gid, sid) {
            (Some(gid), Some(sid)) if gid != 0 || sid == 0 => Ok(Self { at, gid, sid, what }),
            _ => Err(Wrong::Value(format!("write {kind} gen_id 1, sig_id 7: a sig_id needs a gen_id that is not 0"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rule::{ThresholdKind, Track};
    use crate::set::{Options, RuleFile, Ruleset};

    fn set(text: &str) -> Ruleset {
        let tuning = Tuning::read(text, &Variables::default()).unwrap();
        let rules = "alert ip any any -> any any (sid:1;)\n\
            alert ip any any -> any any (threshold:type limit,track by_dst,count 5,seconds 9; sid:2;)\n\
            alert ip any any -> any any (gid:3; sid:1;)\n\
            alert ip any any -> any any (detection_filter:track by_src,count 4,seconds 9; sid:5;)\n";
        let file = RuleFile { name: "r".into(), text: rules.into() };
        Ruleset::read(&[file], &Options { tuning, ..Options::default() }).unwrap()
    }

    fn rules(text: &str) -> Vec<Rule> {
        set(text).rules
    }

    #[test]
    fn lines_change_rules() {
        let counts = |text: &str| {
            let all = rules(text);
            all.iter().map(|rule| rule.threshold.map(|threshold| threshold.count)).collect::<Vec<_>>()
        };
        let line = "type both, track by_src, count 7, seconds 60";
        assert_eq!(counts(&format!("threshold gen_id 1, sig_id 2, {line}\n")), [None, Some(7), None, None]);
        assert_eq!(counts(&format!("event_filter gen_id 1, sig_id 0, {line}\n")), [Some(7), Some(5), None, None]);
        assert_eq!(
            counts(&format!("# all\nthreshold gen_id 0, \\\n sig_id 0, {line}\n")),
            [Some(7), Some(5), Some(7), None]
        );
        let wanted = Threshold { kind: ThresholdKind::Both, track: Track::Source, count: 7, seconds: 60 };
        assert_eq!(rules(&format!("threshold gen_id 3, sig_id 1, {line}"))[2].threshold, Some(wanted));
        assert!(rules("suppress gen_id 1, sig_id 1").iter().map(|rule| rule.silent).eq([true, false, false, false]));
        // A threshold says what is reported of what passes the filter.
        let both = &rules(&format!("threshold gen_id 1, sig_id 5, {line}"))[3];
        assert_eq!((both.threshold, both.filter.map(|filter| filter.count)), (Some(wanted), Some(4)));
        let unknown = set("\nsuppress gen_id 1, sig_id 77\nsuppress gen_id 1, sig_id 1\nsuppress gen_id 0, sig_id 0");
        assert_eq!(unknown.remarks(), ["line 2 of the thresholds: no rule has gid 1, sid 77"]);
        let suppressed = |by: &str, source: &str, destination: &str| {
            let text = format!("suppress gen_id 1, sig_id 1, track {by}, ip [10.0.0.0/8,!10.0.0.1]");
            rules(&text)[0].suppress[0].holds(source.parse().unwrap(), destination.parse().unwrap())
        };
        assert!(suppressed("by_src", "10.0.0.2", "9.9.9.9") && !suppressed("by_src", "9.9.9.9", "10.0.0.2"));
        assert!(suppressed("by_dst", "9.9.9.9", "10.0.0.2") && !suppressed("by_dst", "10.0.0.2", "10.0.0.1"));
        assert!(suppressed("by_either", "9.9.9.9", "10.0.0.2") && !suppressed("by_either", "10.0.0.1", "9.9.9.9"));
        for (line, words) in [
            ("rate_filter gen_id 1, sig_id 1, track by_src, count 1, seconds 1", "rate_filter is not supported"),
            ("suppress gen_id 1", "write suppress gen_id 1, sig_id 7"),
            ("suppress gen_id 0, sig_id 4", "needs a gen_id"),
            ("suppress gen_id 1, sig_id 4, track by_src", "track by_src, ip"),
            ("suppress gen_id 1, sig_id 4, track by_src, ip 10.0.0", "is none of"),
            ("threshold gen_id 1, sig_id 4, type limit", "write type limit"),
            ("limit gen_id 1, sig_id 4", "`limit` is none of"),
        ] {
            let error = Tuning::read(&format!("\n{line}\n"), &Variables::default()).unwrap_err().to_string();
            assert!(error.starts_with("line 2: ") && error.contains(words), "{error}");
        }
    }
}
