// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The whole way of frames through an inspector on one core: `cargo bench -p penstock-ids`. HTTP sessions of text, and
//! 10,000 rules, of which one session in a hundred meets one.

#![allow(clippy::unwrap_used)]

use std::fmt::Write;
use std::sync::Arc;

use penstock_ids::{Bounds, Inspector, Scanner, Window};
use penstock_ids_compiler::{Options, Program, RuleFile, Ruleset};

const RULES: usize = 10_000;
const FLOWS: usize = 1_000;
const SEGMENTS: usize = 20;
const SEGMENT: usize = 1_448;
const SYLLABLES: [&str; 24] = [
    "ad", "min", "log", "in", "sys", "tem", "down", "load", "ex", "ec", "ro", "ot", "pass", "wd", "cmd", "shell", "up",
    "date", "bot", "net", "key", "gen", "web", "mail",
];

/// The words of the sessions' text, which differ from those of the rules, as in most traffic.
const TEXT: [&str; 24] = [
    "the ", "of ", "and ", "er", "ing ", "tion ", "al ", "re", "con", "ver", "mo", "st", "ar", "ti", "cle", "pro",
    "duct ", "news ", "pri", "ce ", "color", "size ", "about ", "div",
];

/// A linear congruential generator: the same text in each run.
struct Random(u64);

impl Random {
    fn below(&mut self, below: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % below
    }

    fn text(&mut self) -> String {
        (0..8).map(|_| TEXT[self.below(TEXT.len())]).collect()
    }

    fn word(&mut self) -> String {
        (0..2 + self.below(3)).map(|_| SYLLABLES[self.below(SYLLABLES.len())]).collect()
    }
}

fn rules(random: &mut Random) -> (String, Vec<String>) {
    let (mut text, mut strings) = (String::new(), Vec::new());
    for sid in 1..=RULES {
        let string = match sid % 4 {
            0 => format!("/{}/{}.php?{}=", random.word(), random.word(), random.word()),
            1 => format!("{}-{}/{}", random.word(), sid % 97, random.word()),
            2 => format!("{}_{}", random.word(), random.word()),
            _ => format!("{}{}", random.word(), sid),
        };
        let nocase = if random.below(3) == 0 { "nocase; " } else { "" };
        let other = if random.below(4) == 0 { "content:\"HTTP/1.\"; " } else { "" };
        let _ = writeln!(
            text,
            "alert tcp any any -> any any (msg:\"r{sid}\"; flow:established,to_server; {other}content:\"{string}\"; {nocase}sid:{sid};)"
        );
        strings.push(string);
    }
    (text, strings)
}

fn frame(flow: usize, flags: u8, sequence: u32, payload: &[u8]) -> Vec<u8> {
    let mut frame = vec![2; 12];
    frame.extend([8, 0, 0x45, 0]);
    frame.extend((40 + payload.len() as u16).to_be_bytes());
    frame.extend([0, 0, 0, 0, 64, 6, 0, 0, 10, 0, (flow >> 8) as u8, flow as u8, 192, 0, 2, 1]);
    frame.extend([0x80, 0, 0, 80]);
    frame.extend(sequence.to_be_bytes());
    frame.extend([0, 0, 0, 1, 0x50, flags, 1, 0, 0, 0, 0, 0]);
    frame.extend(payload);
    frame
}

/// Seconds of processor time that this process has had: others on the machine do not count.
fn now() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the call writes one value.
    assert_eq!(unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut time) }, 0);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

fn main() {
    let mut random = Random(1);
    let (text, strings) = rules(&mut random);
    let begin = now();
    let file = RuleFile { name: "bench.rules".into(), text };
    let program = Arc::new(Program::new(Ruleset::read(&[file], &Options::default()).unwrap()));
    println!("{RULES} rules compile in {:.2} s: {}", now() - begin, program.cost());

    let mut frames: Vec<Vec<u8>> = (0..FLOWS).map(|flow| frame(flow, 2, 99, b"")).collect();
    for segment in 0..SEGMENTS {
        for flow in 0..FLOWS {
            let mut payload = format!(
                "GET /articles/{}/index{flow}.html HTTP/1.1\r\nHost: www.example{}.com\r\n\r\n",
                random.below(1000),
                random.below(1000)
            );
            if segment == 10 && flow % 100 == 0 {
                payload += &strings[random.below(RULES)];
            }
            while payload.len() < SEGMENT {
                payload += &format!("<p>{}{}</p>\n", random.text(), random.below(100_000));
            }
            payload.truncate(SEGMENT);
            frames.push(frame(flow, 16, 100 + (segment * SEGMENT) as u32, payload.as_bytes()));
        }
    }
    let bytes: usize = frames.iter().map(Vec::len).sum();
    let report = |what: &str, seconds: f64| {
        println!("{what}: {:.2} Gb/s, {:.2} Mpps", bytes as f64 * 8e-9 / seconds, frames.len() as f64 * 1e-6 / seconds);
    };

    let begin = now();
    let (scanner, mut keys) = (Scanner::new(&program.filter), 0_u64);
    for frame in &frames {
        let _ = scanner.scan(Window::default(), &frame[54..], &mut |_, _| keys += 1);
    }
    report(&format!("the filter alone ({keys} keys found)"), now() - begin);

    let mut inspector = Inspector::new(Arc::clone(&program), Bounds::default(), false);
    let begin = now();
    for (number, frame) in frames.iter().enumerate() {
        inspector.carry(frame, 0, number as u64 * 1000);
    }
    report("the whole way", now() - begin);
    let detect = inspector.stats().detect;
    println!(
        "{} alerts; the matcher looked at {:.1} % of frames, at {:.2} rules each",
        detect.alerts,
        100.0 * detect.host_frames as f64 / frames.len() as f64,
        detect.evaluated as f64 / detect.host_frames.max(1) as f64
    );
}
