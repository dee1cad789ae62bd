// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! All rules of a block.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::classes::Classes;
use crate::datasets::{Dataset, Datasets};
use crate::ends::Variables;
use crate::faults::{Fault, Faults};
use crate::parse::{self, Refusal};
use crate::rule::Rule;
use crate::text;
use crate::tuning::Tuning;

/// A file of rules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleFile {
    /// Its name in messages.
    pub name: String,
    /// What it holds.
    pub text: String,
}

/// How rules are read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Options {
    /// Variables of headers.
    pub variables: Variables,
    /// Classes that a file describes.
    pub classes: Classes,
    /// A file's settings about when rules report.
    pub tuning: Tuning,
    /// The folder that sets of values are written to, and that has nothing else.
    pub datasets: Option<PathBuf>,
    /// Rules that are wrong or use what the engine does not support are left out; those whose variables are wrong
    /// are not.
    pub skip_unsupported: bool,
}

/// All rules of a block, in the order of their files.
#[derive(Debug, Clone, Default)]
pub struct Ruleset {
    /// The rules.
    pub rules: Vec<Rule>,
    /// Names of the files.
    pub files: Vec<String>,
    /// Rules that were left out, and why.
    pub skipped: Vec<Fault>,
    /// Names of files in which no rule stands.
    pub empty: Vec<String>,
    /// Sets of values that the rules share.
    pub datasets: Vec<Arc<Dataset>>,
    /// Number of rules that ask for files or certificates to be stored.
    pub storing: usize,
    /// What of the file of thresholds is about no rule: sentences.
    pub untuned: Vec<String>,
}

impl Ruleset {
    /// Reads files.
    ///
    /// # Errors
    /// All rules that are wrong or, unless they are to be left out, not supported.
    pub fn read(files: &[RuleFile], options: &Options) -> Result<Self, Faults> {
        let mut set = Self { files: files.iter().map(|file| file.name.clone()).collect(), ..Self::default() };
        let (mut faults, mut datasets) = (Vec::new(), Datasets::new(options.datasets.clone()));
        let mut known: HashMap<(u32, u32), (usize, usize)> = HashMap::new();
        for (number, file) in files.iter().enumerate() {
            let rules = text::rules(&file.text);
            let folder = Path::new(&file.name).parent().unwrap_or(Path::new(""));
            if rules.is_empty() {
                set.empty.push(file.name.clone());
            }
            for (line, rule) in rules {
                let fault = |message, unsupported| Fault { file: file.name.clone(), line, message, unsupported };
                let left_out = if options.skip_unsupported { &mut set.skipped } else { &mut faults };
                let stores = || text::split(&rule).is_ok_and(|split| split.options.iter().any(is_storing));
                match parse::rule(&rule, options, (folder, &mut datasets), number, line) {
                    Ok(mut rule) => match known.insert((rule.gid, rule.sid), (number, line)) {
                        None => {
                            options.tuning.apply(&mut rule);
                            set.storing += usize::from(stores());
                            set.rules.push(rule);
                        }
                        Some((other, line)) => {
                            let (sid, other) = (rule.sid, &files[other].name);
                            let message =
                                format!("sid {sid} is also the number of the rule at {other}:{line}: each has its own");
                            left_out.push(fault(message, None));
                        }
                    },
                    // The rule itself asks to be left out.
                    Err(Refusal::Unmet(message)) => set.skipped.push(fault(message, Some("requires".to_owned()))),
                    Err(Refusal::Wrong(message)) => left_out.push(fault(message, None)),
                    Err(Refusal::Unsupported(keyword, message)) => left_out.push(fault(message, Some(keyword))),
                    // Otherwise one variable would take rules out of a set without a word.
                    Err(Refusal::Variable(message)) => faults.push(fault(message, None)),
                }
            }
        }
        set.datasets = datasets.all();
        set.untuned = options.tuning.unused(|gid, sid| known.contains_key(&(gid, sid)));
        if faults.is_empty() { Ok(set) } else { Err(Faults(faults)) }
    }

    /// A set of values by its name.
    #[must_use]
    pub fn dataset(&self, name: &str) -> Option<&Arc<Dataset>> {
        // They are in the order of their names.
        self.datasets.binary_search_by(|set| set.name().cmp(name)).ok().map(|at| &self.datasets[at])
    }

    /// Warnings about rules that load: sentences.
    #[must_use]
    pub fn remarks(&self) -> Vec<String> {
        let empty = |name| format!("{name}: there is no rule in this file: every line is empty or a comment");
        let mut remarks: Vec<String> = self.empty.iter().map(empty).collect();
        let unsupported = self.skipped.iter().filter(|fault| fault.unsupported.is_some()).count();
        let wrong = self.skipped.len() - unsupported;
        if wrong + unsupported > 0 {
            remarks.push(format!("rules left out: {wrong} are wrong, {unsupported} use what is not supported"));
        }
        if self.rules.is_empty() && !self.skipped.is_empty() {
            remarks.push("all rules were left out: nothing will be reported".to_owned());
        }
        if self.storing > 0 {
            remarks.push(format!("rules with filestore or tls.store: {}; nothing is stored", self.storing));
        }
        remarks.extend(self.untuned.iter().cloned());
        remarks
    }

    /// File and line of a rule.
    #[must_use]
    pub fn place(&self, rule: &Rule) -> String {
        format!("{}:{}", self.files.get(rule.file).map_or("", String::as_str), rule.line)
    }
}

/// Whether an option asks for files or certificates to be stored.
fn is_storing((keyword, _): &(&str, Option<&str>)) -> bool {
    matches!(*keyword, "filestore" | "tls.store")
}

#[cfg(test)]
mod tests {
    use super::*;
    use penstock_app::{Field, Protocol};

    use crate::rule::{Looks, Named, Place, Step};

    fn read(text: &str, skip_unsupported: bool) -> Result<Ruleset, Faults> {
        let file = RuleFile { name: "my.rules".into(), text: text.into() };
        Ruleset::read(&[file], &Options { skip_unsupported, ..Options::default() })
    }

    /// A rule with these options.
    fn rule(options: &str) -> Result<Rule, String> {
        let text = format!("alert tcp any any -> any any ({options} sid:7;)");
        read(&text, false).map(|set| set.rules[0].clone()).map_err(|faults| faults.to_string())
    }

    #[test]
    fn contents_have_places() {
        let place = |modifiers: &str| {
            let rule = rule(&format!("content:\"first\"; content:\"abc\"; {modifiers}")).unwrap();
            let Step::Content(content) = &rule.steps[1] else { panic!("{rule:?}") };
            (content.place, content.at_end)
        };
        let absolute = |offset, end| (Place::Absolute { offset, end }, false);
        assert_eq!((place(""), place("offset:3;")), (absolute(0, None), absolute(3, None)));
        assert_eq!((place("offset:3; depth:4;"), place("startswith;")), (absolute(3, Some(7)), absolute(0, Some(3))));
        assert_eq!(place("distance:-2;").0, Place::Relative { distance: -2, within: None });
        assert_eq!(place("within:9;").0, Place::Relative { distance: 0, within: Some(9) });
        assert!(place("endswith;").1);
        for (modifiers, words) in [
            ("depth:2;", "depth is shorter than the content, which has 3 bytes"),
            ("within:2;", "within is shorter"),
            ("offset:1; within:5;", "either offset and depth or distance and within"),
            ("startswith; offset:1;", "startswith stands with none of"),
            ("fast_pattern:2,5;", "outside of the content"),
            ("offset:name;", "offset: no byte_extract or byte_math sets `name` before this"),
        ] {
            let error = rule(&format!("content:\"abc\"; {modifiers}")).unwrap_err();
            assert!(error.starts_with("my.rules:1: ") && error.contains(words), "{error}");
        }
    }

    #[test]
    fn rules_look_at_packets_or_streams() {
        for (options, packets, stream) in [
            ("content:\"a\"; flow:only_stream;", false, true),
            ("content:\"a\";", false, true),
            ("content:\"a\"; depth:9;", true, true),
            ("content:\"a\"; dsize:>5;", true, false),
            ("content:\"a\"; flow:no_stream;", true, false),
            ("content:\"a\"; depth:9; flow:only_stream;", false, true),
            ("content:!\"a\";", true, false),
            ("flags:S;", true, false),
            ("pcre:\"/a/\";", false, true),
        ] {
            let strays = !options.contains("only_stream");
            assert_eq!(rule(options).unwrap().looks, Looks { packets, stream, strays }, "{options}");
        }
    }

    /// The steps of decodings in each other, and what is asked of the innermost one.
    #[test]
    fn decodings_keep_their_conditions() {
        let nested =
            "base64_decode; base64_data; content:\"a\"; base64_decode; base64_data; content:\"b\"; content:\"c\";";
        let rule_of = rule(nested).unwrap();
        let [Step::Base64(outer)] = &rule_of.steps[..] else { panic!("{rule_of:?}") };
        let [Step::Content(_), Step::Base64(inner)] = &outer.steps[..] else { panic!("{rule_of:?}") };
        assert_eq!(inner.steps.len(), 2);
        for (options, words) in [
            ("base64_decode; base64_data; to_lowercase; content:\"a\";", "decoded bytes cannot be transformed"),
            ("base64_decode; base64_data; absent;", "absent is about a field of messages, not about base64_data"),
            ("base64_decode; base64_data; content:\"a\"; absent:or_else;", "absent is about a field"),
        ] {
            let error = rule(options).unwrap_err();
            assert!(error.contains(words), "{error}");
        }
    }

    /// Forms that mean the same as others, or change no match.
    #[test]
    fn forms_have_twins() {
        for (form, twin) in [
            ("content:\"one\"; content:\"two\"; prefilter;", "content:\"one\"; content:\"two\"; fast_pattern;"),
            (
                "content:\"one\"; content:\"two\"; fast_pattern; dsize:1; prefilter;",
                "content:\"one\"; content:\"two\"; fast_pattern; dsize:1;",
            ),
            ("dsize:1; prefilter;", "dsize:1;"),
            ("pcre:/one.[^/]/Ri;", "pcre:\"/one.[^/]/Ri\";"),
            ("pcre:! /one/U;", "pcre:!\"/one/U\";"),
            ("app-layer-protocol:dns,exact;", "app-layer-protocol:dns;"),
            ("content:\"a\"; http_cookie; isdataat:!9,relative;", "http.cookie; content:\"a\"; isdataat:!9,relative;"),
            (
                "content:\"a\"; http_uri; base64_decode:offset 1,relative; base64_data; content:\"b\";",
                "http.uri; content:\"a\"; base64_decode:offset 1,relative; base64_data; content:\"b\";",
            ),
            ("pcre:\"/a/U\"; byte_test:1,>,1,0,relative;", "http.uri; pcre:\"/a/\"; byte_test:1,>,1,0,relative;"),
            ("content:\"a\"; http_uri; byte_test:1,>,1,0;", "http.uri; content:\"a\"; pkt_data; byte_test:1,>,1,0;"),
            ("dns.answer.name; content:\"a\";", "dns.answers.rrname; content:\"a\";"),
            ("requires: feature ja3, keyword tls.sni, version >= 7.0.3 < 9 | >= 99; dsize:1;", "dsize:1;"),
            ("requires: version >=7.0.3<9; dsize:1;", "dsize:1;"),
            ("tls.cert_subject; content:\"a\"; tls.store;", "tls.cert_subject; content:\"a\";"),
        ] {
            let [first, second] = [form, twin].map(|options| format!("{:?}", rule(options).unwrap()));
            assert_eq!(first, second);
        }
        assert_eq!(rule("dsize:1;").map(|rule| rule.named), Ok(None));
        for (options, words) in [
            ("app-layer-protocol:dns,final;", "the mode `final` of app-layer-protocol is not supported"),
            ("content:\"a\"; dataset:isset,a,type string;", "dataset is about a buffer"),
            ("base64_decode; base64_data; dataset:set,a,type string;", "behind base64_data is not supported"),
            ("http.uri; dataset:isset,a;", "gives the set `a` a type"),
            ("requires: release 7;", "not `release`"),
            ("requires: version >= x;", "is no number"),
            ("requires: version 99;", "is no condition on a version"),
            ("requires: version;", "is no condition on a version"),
            ("requires: version >= 7 9;", "is no condition on a version"),
            ("requires: version >= 7 |;", "is no condition on a version"),
            ("requires: version >= 7.0.3.1;", "is no condition on a version"),
            ("decode-event:tcp.pkt_too_small; content:\"a\";", "its ports are any"),
            ("decode-event:tcp.pkt_too_small; flow:to_server;", "its ports are any"),
            ("decode-event:tcp.pkt_too_small; ttl:1;", "its ports are any"),
            ("decode-event:tcp.pkt_too_small; flowbits:isset,a;", "its ports are any"),
            ("decode-event:tcp.pkt_too_small; decode-event:ipv4.trunc_pkt;", "its ports are any"),
        ] {
            let error = rule(options).unwrap_err();
            assert!(error.contains(words), "{error}");
        }
    }

    /// Ports of a frame that cannot be decoded are not known.
    #[test]
    fn faults_have_no_ports() {
        let read = |ends: &str| read(&format!("alert tcp {ends} (decode-event:tcp.pkt_too_small; sid:1;)"), false);
        assert!(read("10.0.0.0/8 any -> any any").is_ok());
        for ends in ["any 80 -> any any", "any any <> any !80"] {
            let error = read(ends).unwrap_err().to_string();
            assert!(error.starts_with("my.rules:1: ") && error.contains("its ports are any"), "{error}");
        }
    }

    /// A rule that requires something else is left out, whatever else it has.
    #[test]
    fn rules_may_ask_to_be_left_out() {
        for requirement in [
            "keyword no.such",
            "feature no-such",
            "version >= 9",
            "version < 7 | > 8.0.1",
            "version <7",
            "version >=7<8",
            "version >=99",
        ] {
            let text = format!("alert no-such any any -> any any (own:1; requires: {requirement}; sid:1;)");
            let set = read(&text, false).unwrap();
            assert_eq!((set.rules.len(), set.skipped.len()), (0, 1), "{requirement}");
            assert_eq!(set.skipped[0].message, format!("the rule requires `{requirement}`, which does not hold here"));
        }
    }

    #[test]
    fn sizes_of_files_are_numbers() {
        for (options, number) in [("filesize:1KB;", 1024), ("filesize: 2 mb;", 2 << 20)] {
            let groups = rule(options).unwrap().messages.unwrap().groups;
            let [Step::Value(within)] = &groups[0].steps[..] else { panic!("{groups:?}") };
            assert!(within.holds(number) && !within.holds(1));
        }
        for options in ["filesize:é1KB;", "filesize:KB;", "filesize:1éKB;"] {
            assert!(rule(options).unwrap_err().starts_with("my.rules:1: "), "{options}");
        }
    }

    /// Lists of hashes that have no end, or no bytes.
    #[test]
    fn lists_of_hashes_are_files_with_an_end() {
        for name in ["/dev/zero", "/dev/null", "/"] {
            let error = rule(&format!("filemd5:{name};")).unwrap_err();
            assert!(error.contains("this is no regular file"), "{error}");
        }
        let path = std::env::temp_dir().join(format!("penstock-hashes-{}", std::process::id()));
        let file = std::fs::File::create(&path).unwrap();
        let found = |bytes| {
            file.set_len(bytes).unwrap();
            rule(&format!("filemd5:{};", path.display())).unwrap_err()
        };
        // A file of zeros that takes no room on the disk.
        let (large, fits) = (found((64 << 20) + 1), found(1 << 20));
        std::fs::remove_file(&path).unwrap();
        assert!(large.contains("a file of hashes has 64 MiB at most"), "{large}");
        assert!(fits.contains("is no hash of 16 bytes"), "{}", &fits[fits.len() - 99..]);
    }

    #[test]
    fn faults_name_the_line() {
        let text = "alert tcp any any -> any any (sid:1;)\n\nalert tcp any any -> any any (rfb.name; content:\"a\"; sid:2;)\n\
            alert nosuch any any -> any any (sid:3;)\nalert udp any any -> any any (sid:1;)\n";
        let error = read(text, false).unwrap_err();
        let lines: Vec<String> = error.0.iter().map(ToString::to_string).collect();
        assert!(lines[0].starts_with("my.rules:3: the keyword `rfb.name` is not supported: "), "{lines:?}");
        assert!(lines[1].starts_with("my.rules:4: the protocol `nosuch` is not supported: "), "{lines:?}");
        assert_eq!(lines[2], "my.rules:5: sid 1 is also the number of the rule at my.rules:1: each has its own");
        assert!(error.to_string().contains("2 of these rules use") && error.to_string().contains("--skip-unsupported"));
        let set = read(&text[..text.rfind("alert").unwrap()], true).unwrap();
        assert_eq!((set.rules.len(), set.skipped.len()), (1, 2));
        assert_eq!(set.skipped[0].unsupported.as_deref(), Some("rfb.name"));
        assert_eq!(set.place(&set.rules[0]), "my.rules:1");
        // A rule of a set that is wrong is no reason to be without the others.
        let wrong = "alert tcp any any -> any any (content:\"ab\"; depth:1; sid:4;)\n";
        let set = read(&format!("{wrong}{text}"), true).unwrap();
        let kinds: Vec<bool> = set.skipped.iter().map(|fault| fault.unsupported.is_some()).collect();
        assert_eq!((set.rules.len(), kinds), (1, vec![false, true, true, false]));
        assert_eq!(set.remarks(), ["rules left out: 2 are wrong, 2 use what is not supported"]);
        // One variable is used by many rules.
        let unknown = "alert tcp $HOME_NET any -> $OWN_NET any (sid:8;)\n";
        let error = read(&format!("{wrong}{unknown}{text}"), true).unwrap_err();
        assert_eq!(error.0.len(), 1);
        assert!(error.to_string().starts_with("my.rules:2: there is no variable $OWN_NET: "), "{error}");
    }

    #[test]
    fn files_without_rules_are_told() {
        let set = read("# alert\n\n", false).unwrap();
        assert_eq!(set.remarks(), ["my.rules: there is no rule in this file: every line is empty or a comment"]);
        let set = read("alert nosuch any any -> any any (sid:1;)", true).unwrap();
        let left_out = "rules left out: 0 are wrong, 1 use what is not supported";
        assert_eq!(set.remarks(), [left_out, "all rules were left out: nothing will be reported"]);
        assert!(read("alert tcp any any -> any any (sid:1;)", true).unwrap().remarks().is_empty());
        let set = read("alert http any any -> any any (msg:\"filestore\"; filestore; sid:1;)", false);
        assert_eq!(set.unwrap().remarks(), ["rules with filestore or tls.store: 1; nothing is stored"]);
    }

    /// Both forms of the same rule, and the direction that its keywords say.
    #[test]
    fn buffers_are_named_before_or_behind_contents() {
        let groups = |options: &str| {
            let rule = rule(options).unwrap();
            let messages = rule.messages.unwrap();
            let groups: Vec<(Field, usize)> =
                messages.groups.iter().map(|group| (group.field, group.steps.len())).collect();
            (messages.protocol.unwrap(), messages.to_server, groups, messages.groups.len() + rule.steps.len())
        };
        let uri = (Protocol::Http, Some(true), vec![(Field::Uri, 3), (Field::Headers, 1)], 2);
        assert_eq!(groups("http.uri; content:\"a\"; content:\"b\"; pcre:\"/c/R\"; http.header; content:\"d\";"), uri);
        let legacy = "content:\"a\"; http_uri; content:\"d\"; http_header; content:\"b\"; http_uri; pcre:\"/c/RU\";";
        assert_eq!(groups(legacy), uri);
        let older = "uricontent:\"a\"; uricontent:\"b\"; pcre:\"/c/RU\"; content:\"d\"; http_header;";
        assert_eq!(groups(older), uri);
        // Fields that come several times have conditions of their own.
        let dns = groups("dns.query; content:\"a\"; dns.query; content:\"b\"; bsize:<9; pkt_data; content:\"c\";");
        assert_eq!(dns, (Protocol::Dns, Some(true), vec![(Field::Query, 1), (Field::Query, 2)], 3));
        let body = groups("flow:to_client; http.stat_code; content:\"a\"; file_data; content:\"a\";");
        assert_eq!(body, (Protocol::Http, Some(false), vec![(Field::StatusCode, 1), (Field::File, 1)], 2));
        assert_eq!(rule("file_data; content:\"a\";").unwrap().messages.unwrap().protocol, None);
    }

    #[test]
    fn options_are_read() {
        let rule = rule(
            "msg:\"a \\\"b\\\"\"; content:\"|41|bc\"; nocase; fast_pattern; pcre:\"/x\\/y/Ri\"; flow:established,to_server; \
             classtype:trojan-activity; metadata:a b, c; rev:4; gid:9; reference:url,x.org;",
        )
        .unwrap();
        assert_eq!((rule.message.as_str(), rule.rev, rule.gid, rule.priority), ("a \"b\"", 4, 9, 1));
        assert_eq!(rule.category, "A Network Trojan was detected");
        assert_eq!(rule.metadata, [("a".into(), "b".into()), ("c".into(), String::new())]);
        assert_eq!((rule.flow.established, rule.flow.to_server), (Some(true), Some(true)));
        assert_eq!(rule.named, Some(Named { group: None, step: 0, part: 0..3 }));
        let Step::Pcre(pcre) = &rule.steps[1] else { panic!("{rule:?}") };
        assert!(pcre.relative && pcre.regex.is_match(b"aX/Y").unwrap());
        for (options, words) in [
            ("pcre:\"/(/\";", "pcre does not compile: "),
            ("pcre:\"/a/T\";", "the flag T of pcre is not supported"),
            ("pcre:\"/a/UH\";", "two flags that name buffers"),
            ("http.uri; sid:8;", "nothing is asked of http.uri"),
            ("http.uri; content:\"a\"; http.stat_code; content:\"b\";", "opposite directions"),
            ("http.uri; content:\"a\"; tls.sni; content:\"b\";", "different protocols"),
            ("http.uri; content:\"a\"; flow:to_client;", "the other direction"),
            ("http.uri; content:\"a\"; to_md5; content:\"b\";", "between the name of a buffer and its first content"),
            ("http.host; content:\"Evil\";", "in lower case"),
            ("bsize:3;", "about a buffer"),
            ("http.uri; content:\"a\"; flags:S;", "conditions on headers of packets"),
            ("app-layer-protocol:nosuch;", "`nosuch` is not one"),
            (
                "content:\"a\"; http_uri; byte_extract:1,0,n; http.cookie; content:\"b\"; offset:n;",
                "in the same buffer",
            ),
            ("flowint:a,+,b;", "a counter in place of the number"),
            ("xbits:set,a,track ip_user;", "ip_src, ip_dst and ip_pair"),
            ("stream_size:all,>,1;", "none of server, client, both, either"),
            ("byte_test:9,>,1,0;", "byte_test: a number has 0 to 8 bytes"),
            ("byte_test:1,>,name,0;", "sets `name` before this"),
            ("byte_jump:1,0,back;", "there is no option `back`"),
            ("flowbits:set;", "flowbits:set,NAME"),
            ("threshold:type limit, track by_src, count 1;", "seconds 60"),
            ("priority:0;", "from 1 to 255"),
            ("nocase;", "nocase stands behind no content"),
            ("msg;", "msg has no value"),
            ("content:abc;", "`abc` is not in quotes"),
        ] {
            let error = super::tests::rule(options).unwrap_err();
            assert!(error.contains(words), "{error}");
        }
    }
}
