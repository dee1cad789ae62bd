// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Frames made, described and edited by Scapy and plain Python (header_vectors.py).
#![allow(clippy::panic, clippy::unwrap_used)]

mod words;

use std::{collections::BTreeMap, path::Path, process::Command};

use penstock_headers::{Field, Header, Headers};
use words::{bytes, edit};

/// The output of the script, line by line, in words.
fn vectors(what: &str, count: usize) -> Vec<Vec<String>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let script = root.join("lib/headers/tests/header_vectors.py");
    let mut python = Command::new(root.join("build/venv/bin/python"));
    let done = python.arg(script).args([what, &count.to_string()]).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let text = String::from_utf8(done.stdout).unwrap();
    text.lines().map(|line| line.split(' ').map(str::to_owned).collect()).collect()
}

/// The headers and fields that a frame has, as the script writes them.
fn described(headers: &Headers, frame: &[u8]) -> [String; 2] {
    let names = Header::ALL.into_iter().filter(|header| headers.has(*header)).map(Header::name);
    let fields = Field::ALL.into_iter().filter_map(|field| Some((field.name(), headers.get(frame, field)?)));
    let fields: BTreeMap<_, _> = fields.collect();
    let mut names: Vec<_> = names.collect();
    names.sort();
    let fields: Vec<_> = fields.into_iter().map(|(name, value)| format!("{name}={value:x}")).collect();
    [names.join(","), fields.join(",")].map(|text| if text.is_empty() { "-".to_owned() } else { text })
}

#[test]
fn parse() {
    let lines = vectors("parse", 1000);
    for line in &lines {
        let [what, frame, expected @ ..] = &line[..] else { panic!("{line:?}") };
        assert_eq!(what, "parse");
        let data = bytes(frame);
        assert_eq!(described(&Headers::parse(&data), &data), expected, "{frame}");
    }
    println!("{} frames", lines.len());
    assert!(lines.len() > 15_000);
}

/// Carries out edits; the last one alone may be refused, and changes nothing then.
fn edits(lines: &[Vec<String>]) {
    for line in lines {
        let mut frame = bytes(&line[1]);
        let mut headers = Headers::parse(&frame);
        let (last, others) =
            line[2].split(',').collect::<Vec<_>>().split_last().map(|(l, o)| (*l, o.to_vec())).unwrap();
        for one in others {
            edit(&mut headers, &mut frame, one).unwrap_or_else(|error| panic!("{one}: {error}: {line:?}"));
        }
        let before = (frame.clone(), described(&headers, &frame));
        let done = edit(&mut headers, &mut frame, last);
        match &line[3..] {
            [result, there @ ..] => {
                assert!(done.is_ok(), "{last}: {done:?}: {line:?}");
                headers.repair(&mut frame);
                assert_eq!(frame, bytes(result), "{line:?}");
                assert_eq!(described(&headers, &frame), there, "{line:?}");
            }
            [] => {
                assert!(done.is_err(), "{line:?}");
                assert_eq!((frame.clone(), described(&headers, &frame)), before, "{line:?}");
            }
        }
    }
}

#[test]
fn edit_and_repair() {
    let lines = vectors("edit", 1500);
    let refused = lines.iter().filter(|line| line[0] == "refuse").count();
    println!("{} frames, {refused} with an edit that is refused", lines.len());
    assert!(refused > 100 && lines.len() - refused > 1000);
    edits(&lines);
}

#[test]
fn checksums_of_ones() {
    edits(&vectors("ones", 1500));
}

#[test]
fn udp_checksum_of_zero() {
    edits(&vectors("zero", 200));
}
