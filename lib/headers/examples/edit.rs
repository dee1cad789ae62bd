// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Edits frames: lib/tests/test_deparser.py drives it. Reads lines `FRAME EDITS` as tests/header_vectors.py writes
//! them, and writes what has become of each frame, and which tags it has: `FRAME TAGS`, `-` for none. Edits that the
//! frame does not allow change nothing.
#![allow(clippy::print_stdout, reason = "a program for developers, which prints what it finds")]
#![allow(clippy::unwrap_used)]

#[path = "../tests/words/mod.rs"]
mod words;

use std::io;

use penstock_headers::{Header, Headers};

fn main() {
    for line in io::stdin().lines().map(Result::unwrap) {
        let (frame, edits) = line.split_once(' ').unwrap();
        let mut frame = words::bytes(frame);
        let mut headers = Headers::parse(&frame);
        for edit in edits.split(',') {
            let _ = words::edit(&mut headers, &mut frame, edit);
        }
        headers.repair(&mut frame);
        let hex: String = frame.iter().map(|byte| format!("{byte:02x}")).collect();
        let tags = [Header::Vlan, Header::Vlan2, Header::Mpls].into_iter().filter(|tag| headers.has(*tag));
        let tags: Vec<_> = tags.map(Header::name).collect();
        println!("{hex} {}", if tags.is_empty() { "-".to_owned() } else { tags.join(",") });
    }
}
