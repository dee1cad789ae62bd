// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Reads messages for tests. Each line of the input is a direction: `request`, `response` or `dns`, and pieces of it in
//! hexadecimal. A line may have two directions with `|` between them, of one flow. The answer is a line of JSON: the
//! fields of each message as pairs of a name and bytes in hexadecimal.

use std::error::Error;
use std::fmt::Write as _;
use std::io::{BufRead, Write};

use penstock_app::{Event, Exchange, Limits, Side};

fn bytes(hex: &str) -> Result<Vec<u8>, Box<dyn Error>> {
    let digits = hex.as_bytes().chunks(2);
    digits.map(|pair| Ok(u8::from_str_radix(str::from_utf8(pair)?, 16)?)).collect()
}

/// Fields of messages, as JSON.
fn show(messages: &[Vec<(String, Vec<u8>)>]) -> String {
    let field = |(name, value): &(String, Vec<u8>)| {
        let mut hex = String::new();
        for byte in value {
            // Writing to a string does not fail.
            let _ = write!(hex, "{byte:02x}");
        }
        format!("[\"{name}\", \"{hex}\"]")
    };
    let message = |fields: &Vec<_>| format!("[{}]", fields.iter().map(field).collect::<Vec<_>>().join(", "));
    format!("[{}]", messages.iter().map(message).collect::<Vec<_>>().join(", "))
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut out = std::io::stdout().lock();
    let limits = Limits { files: true, hashes: true, ..Limits::default() };
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let (mut messages, mut exchange) = (Vec::new(), Exchange::default());
        for direction in line.split('|') {
            let mut words = direction.split_whitespace();
            let kind = words.next().unwrap_or_default();
            let mut side = Side::new(kind != "response", kind == "dns");
            let mut emit = |event: &Event<'_>| {
                if event.last {
                    let field = |(field, value): &(_, Vec<u8>)| (format!("{field:?}"), value.clone());
                    messages.push(event.message.fields.iter().map(field).collect());
                }
            };
            for piece in words {
                side.push(&bytes(piece)?, &limits, &mut exchange, &mut emit);
            }
            side.finish(&limits, &mut exchange, &mut emit);
        }
        writeln!(out, "{}", show(&messages))?;
        out.flush()?;
    }
    Ok(())
}
