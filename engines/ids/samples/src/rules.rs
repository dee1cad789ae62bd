// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Rules with the shape of large open sets: of a hundred, 53 are about HTTP, 19 about TCP, 14 about DNS, 6 about TLS, 3
//! about UDP and 5 about ICMP and other headers; 97 have a content, 38 nocase, 22 a pcre, 8 bits of flows. Strings have
//! 3 to 80 bytes, half of them 12 or fewer; the first string of a rule is the longer one of two.

use std::fmt::Write;

use penstock_bench::five_tuple::Random;

use crate::words::{chance, hex, host, made_up, noise, pick, word};

/// Lengths of contents: of a thousand, so many have a length from the first number to the second.
const LENGTHS: [(u64, usize, usize); 8] =
    [(40, 3, 3), (80, 4, 5), (130, 6, 7), (270, 8, 11), (220, 12, 16), (150, 17, 24), (80, 25, 40), (30, 41, 80)];

/// Ports of rules about TCP: single ones, groups, ranges and all.
const PORTS: [&str; 12] = [
    "any",
    "any",
    "$HTTP_PORTS",
    "25",
    "445",
    "[139,445]",
    "1024:",
    "[80,443,8080,8443]",
    "!80",
    "3306",
    "21",
    "[1433,3306,5432]",
];

/// A request by which a session meets a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trigger {
    /// It asks for this URI by GET.
    Uri(String),
    /// It asks for the address of this name.
    Name(String),
    /// It names this server in a TLS hello.
    Server(String),
}

/// A set of rules.
#[derive(Debug, Clone)]
pub struct Rules {
    /// The file.
    pub text: String,
    /// Ways to meet some of the rules, each with the rule's sid.
    pub triggers: Vec<(u32, Trigger)>,
}

/// The options of a rule that is being written.
struct Draft<'a> {
    random: &'a mut Random,
    options: String,
}

impl Draft<'_> {
    fn add(&mut self, option: &str) {
        self.options += option;
        self.options.push(' ');
    }

    fn length(&mut self) -> usize {
        let mut at = self.random.below(1000);
        for (share, from, to) in LENGTHS {
            if at < share {
                return from + self.random.below((to - from + 1) as u64) as usize;
            }
            at -= share;
        }
        8
    }

    /// Text as it stands in protocols: commands, paths, parameters, names of programs.
    fn text(&mut self, length: usize) -> String {
        let mut text = String::new();
        while text.len() < length {
            let part = if chance(self.random, 250) { word(self.random).to_owned() } else { made_up(self.random) };
            text += &part;
            text.push(char::from(*pick(self.random, b"/_-.=&? 0123456789")));
        }
        text.truncate(length);
        text.trim_end().to_owned() + if text.ends_with(' ') { "_" } else { "" }
    }

    /// The content by which a rule is to be found: authors take care that it is long.
    fn first_content(&mut self) {
        let length = self.length().max(self.length());
        self.content_of(length);
    }

    /// A further content.
    fn content(&mut self) {
        let length = self.length();
        self.content_of(length);
    }

    fn content_of(&mut self, length: usize) {
        if chance(self.random, 300) {
            let bytes: Vec<String> = noise(self.random, length).iter().map(|byte| format!("{byte:02x}")).collect();
            self.add(&format!("content:\"|{}|\";", bytes.join(" ")));
        } else {
            let text = self.text(length);
            self.add(&format!("content:\"{text}\";"));
        }
    }

    fn nocase(&mut self, in_a_thousand: u64) {
        if chance(self.random, in_a_thousand) {
            self.add("nocase;");
        }
    }

    /// A request for a URI that begins with a path of the rule.
    fn uri(&mut self) -> Trigger {
        let length = self.length().max(10);
        let end = *pick(self.random, &[".php", ".php", ".exe", ".asp", ".jsp", ".js", ""]);
        let mut path = String::from("/");
        while path.len() + end.len() < length {
            path += &if chance(self.random, 300) { word(self.random).to_owned() } else { made_up(self.random) };
            path.push(*pick(self.random, &['/', '_', '-']));
        }
        path.truncate(length.saturating_sub(end.len()).max(3));
        path += end;
        if chance(self.random, 500) {
            self.add("http.method; content:\"GET\";");
        }
        self.add(&format!("http.uri; content:\"{path}\";"));
        if chance(self.random, 700) {
            self.add("fast_pattern;");
        }
        self.nocase(420);
        let mut uri = path;
        if chance(self.random, 400) {
            let name = made_up(self.random);
            let digits = 4 + self.random.below(9) as usize;
            uri += &format!("?{name}={}", hex(self.random, digits));
            if chance(self.random, 600) {
                self.add(&format!("pcre:\"/\\?{name}=[0-9a-f]{{{digits}}}$/\";"));
            } else {
                self.add(&format!("content:\"?{name}=\"; distance:0;"));
            }
        }
        if chance(self.random, 120) {
            self.add("http.header_names; content:!\"Referer\";");
        }
        Trigger::Uri(uri)
    }

    /// Conditions of a rule about HTTP.
    fn http(&mut self) -> Option<Trigger> {
        let random = &mut *self.random;
        match random.below(100) {
            0..50 => {
                self.add("flow:established,to_server;");
                return Some(self.uri());
            }
            50..75 => {
                let buffer = *pick(
                    random,
                    &[
                        "http.user_agent",
                        "http.host",
                        "http.header",
                        "http.cookie",
                        "http.request_body",
                        "http.referer",
                    ],
                );
                self.add(&format!("flow:established,to_server; {buffer};"));
                if buffer == "http.host" {
                    let host = host(self.random);
                    self.add(&format!("content:\"{host}\";"));
                } else {
                    self.first_content();
                    self.nocase(400);
                    if chance(self.random, 300) {
                        self.content();
                        self.add("distance:0;");
                    }
                    self.pcre(420);
                }
            }
            _ => {
                self.add("flow:established,to_client;");
                if chance(self.random, 500) {
                    self.add("http.stat_code; content:\"200\";");
                }
                self.add("file_data;");
                self.first_content();
                self.nocase(400);
                if chance(self.random, 500) {
                    self.content();
                    self.add("distance:0; within:500;");
                }
                self.pcre(450);
            }
        }
        None
    }

    fn pcre(&mut self, in_a_thousand: u64) {
        if chance(self.random, in_a_thousand) {
            let name = made_up(self.random);
            let pcre = match self.random.below(3) {
                0 => format!("/{name}[0-9]{{2,8}}/i"),
                1 => format!("/\\b{name}\\s*=\\s*[\\x22\\x27]/R"),
                _ => format!("/{name}(?:{}|{})[^\\r\\n]{{10,}}/", word(self.random), word(self.random)),
            };
            self.add(&format!("pcre:\"{pcre}\";"));
        }
    }

    fn dns(&mut self) -> Trigger {
        let name = host(self.random);
        match self.random.below(3) {
            0 => self.add(&format!("dns.query; content:\"{name}\"; nocase; bsize:{};", name.len())),
            1 => self.add(&format!("dns.query; dotprefix; content:\".{name}\"; nocase; endswith;")),
            _ => self.add(&format!("dns.query; content:\"{name}\"; endswith;")),
        }
        Trigger::Name(name)
    }

    fn tls(&mut self) -> Option<Trigger> {
        let name = host(self.random);
        match self.random.below(10) {
            0..7 => {
                self.add(&format!("flow:established,to_server; tls.sni; content:\"{name}\"; endswith;"));
                return Some(Trigger::Server(name));
            }
            7..9 => self.add(&format!("flow:established,to_client; tls.cert_subject; content:\"CN={name}\";")),
            _ => {
                let hash = hex(self.random, 32);
                self.add(&format!("flow:established,to_server; ja3.hash; content:\"{hash}\";"));
            }
        }
        None
    }

    fn tcp(&mut self) {
        let way = if chance(self.random, 600) { "to_server" } else { "to_client" };
        self.add(&format!("flow:established,{way};"));
        self.first_content();
        self.nocase(300);
        if chance(self.random, 250) {
            let depth = 100 + self.random.below(200);
            self.add(&format!("depth:{depth};"));
        }
        for _ in 0..self.random.below(3) {
            self.content();
            self.nocase(300);
            match self.random.below(3) {
                0 => self.add("distance:0;"),
                1 => self.add("distance:4; within:120;"),
                _ => {}
            }
        }
        self.pcre(300);
    }

    fn udp(&mut self) {
        if chance(self.random, 400) {
            let size = self.random.below(64);
            self.add(&format!("dsize:>{size};"));
        }
        self.first_content();
        if chance(self.random, 400) {
            self.add("depth:120;");
        }
        if chance(self.random, 400) {
            self.content();
            self.add("distance:0;");
        }
    }
}

/// This many rules.
#[must_use]
pub fn rules(count: usize, seed: u64) -> Rules {
    let mut random = Random(seed);
    let mut made = Rules { text: String::new(), triggers: Vec::new() };
    for sid in 1..=count as u32 {
        let what = random.below(1000);
        let bits = random.below(1000);
        let port = *pick(&mut random, &PORTS);
        let mut draft = Draft { random: &mut random, options: String::new() };
        let (header, trigger) = match what {
            0..530 => ("http $HOME_NET any -> $EXTERNAL_NET any".to_owned(), draft.http()),
            530..720 => {
                draft.tcp();
                (format!("tcp any any -> any {port}"), None)
            }
            720..860 => ("dns any any -> any any".to_owned(), Some(draft.dns())),
            860..920 => ("tls $HOME_NET any -> $EXTERNAL_NET any".to_owned(), draft.tls()),
            920..950 => {
                draft.udp();
                let port = pick(draft.random, &["any", "53", "123", "161", "1900", "[5060,5061]", "1024:"]);
                (format!("udp any any -> any {port}"), None)
            }
            950..970 => {
                draft.add("itype:8;");
                draft.first_content();
                ("icmp any any -> any any".to_owned(), None)
            }
            _ => {
                let port = 1 + draft.random.below(1023);
                draft.add("flags:S,12; threshold:type both, track by_src, count 70, seconds 60;");
                (format!("tcp $EXTERNAL_NET any -> $HOME_NET {port}"), None)
            }
        };
        // Four rules in a hundred set a bit and report nothing, and four ask for one.
        if what < 720 && bits < 110 {
            let bit = sid / 40;
            draft.add(&if bits < 55 {
                format!("flowbits:set,b{bit}; noalert;")
            } else {
                format!("flowbits:isset,b{bit};")
            });
        }
        let Draft { options, .. } = draft;
        if bits >= 110
            && let Some(trigger) = trigger
        {
            made.triggers.push((sid, trigger));
        }
        // Writing to a string does not fail.
        let _ = writeln!(
            made.text,
            "alert {header} (msg:\"SAMPLE {} {sid}\"; {options}reference:url,example.org/{sid}; \
             classtype:trojan-activity; sid:{sid}; rev:1; metadata:created_at 2026_01_01, severity Major;)",
            made_up(&mut random)
        );
    }
    made
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The shares that the module promises, in parts of a hundred.
    #[test]
    fn sets_have_their_shape() {
        let Rules { text, .. } = rules(20_000, 3);
        let share = |fits: &dyn Fn(&str) -> bool| text.lines().filter(|line| fits(line)).count() as f64 / 200.0;
        let has = |word: &'static str| share(&move |line: &str| line.contains(word));
        let of = |protocol: &'static str| share(&move |line: &str| line.starts_with(&format!("alert {protocol} ")));
        for (name, is, asked) in [
            ("http", of("http"), 53.0),
            ("tcp", of("tcp"), 22.0),
            ("dns", of("dns"), 14.0),
            ("tls", of("tls"), 6.0),
            ("udp", of("udp"), 3.0),
            ("content", has("content:"), 97.0),
            ("nocase", has("nocase;"), 38.0),
            ("pcre", has("pcre:"), 22.0),
            ("flowbits", has("flowbits:"), 8.0),
        ] {
            assert!((is - asked).abs() < 2.0, "{name}: {is}");
        }
    }

    #[test]
    fn a_seed_says_which_rules() {
        assert_eq!(rules(30, 1).text, rules(30, 1).text);
        assert_ne!(rules(30, 1).text, rules(30, 2).text);
    }
}
