// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! What the filter looks for: the keys that a rule may have, best first.

use crate::rule::{Content, Key, Rule, Step};

/// Text that most connections carry. A key that stands in it would be found all the time.
const COMMON: &str = "get / http/1.1\r\nhost: www..com\r\npost /index.html http/1.0\r\nuser-agent: mozilla/5.0 (windows nt 10.0; win64; x64) applewebkit/537.36 \
    (khtml, like gecko) chrome/ safari/537.36\r\naccept: */*\r\naccept-encoding: gzip, deflate\r\naccept-language: en-us,en\r\nconnection: keep-alive\r\n\
    connection: close\r\ncontent-type: text/html; charset=utf-8\r\ncontent-type: application/x-www-form-urlencoded\r\ncontent-length: \r\ncache-control: no-cache\r\n\
    referer: http://www.\r\ncookie: \r\nhttp/1.1 200 ok\r\nserver: apache nginx\r\ndate: mon, gmt\r\nlast-modified: \r\nset-cookie: path=/\r\n<!doctype html>\
    <html><head><title><body><script type=\"text/javascript\"></script></div></body></html>function(return this.document.https://";

/// Keys that are tried for a rule before it is left without one.
const TRIED: usize = 12;

/// How rare a byte is, from common to rare.
fn rarity(byte: u8) -> u32 {
    match byte {
        0 | b' ' | b'\r' | b'\n' | 0xFF => 2,
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' => 4,
        0x21..=0x7E => 5,
        _ => 6,
    }
}

/// How good a key is. A repeated byte says less than a new one.
fn score(bytes: &[u8]) -> u32 {
    let lower = bytes.to_ascii_lowercase();
    let fresh = |(at, byte): (usize, &u8)| if lower[..at].contains(byte) { 1 } else { rarity(*byte) };
    let sum: u32 = lower.iter().enumerate().map(fresh).sum();
    if memchr::memmem::find(COMMON.as_bytes(), &lower).is_some() { sum / 4 } else { sum }
}

/// The best windows of a string, with their scores.
fn windows(bytes: &[u8]) -> Vec<(u32, Key)> {
    let length = bytes.len().min(*Key::LENGTHS.end());
    bytes.windows(length.max(1)).filter_map(|window| Some((score(window), Key::of(window)?))).collect()
}

fn ranked(mut keys: Vec<(u32, Key)>) -> Vec<Key> {
    // The order of equal keys depends on nothing but the keys.
    keys.sort_by(|left, right| right.0.cmp(&left.0).then_with(|| left.1.cmp(&right.1)));
    keys.dedup();
    keys.truncate(TRIED);
    keys.into_iter().map(|(_, key)| key).collect()
}

/// Keys of a rule, best first: each occurs in every payload or stream that the rule matches. The part that a rule names with
/// `fast_pattern` comes before all else.
#[must_use]
pub fn keys(rule: &Rule) -> Vec<Key> {
    let positive = |step: &Step| match step {
        Step::Content(content) if !content.negated => Some(content.bytes.clone()),
        _ => None,
    };
    let named = rule.named.as_ref().and_then(|(step, part)| match rule.steps.get(*step) {
        Some(Step::Content(Content { bytes, .. })) => bytes.get(part.clone()),
        _ => None,
    });
    let mut all = named.map_or_else(Vec::new, |bytes| ranked(windows(bytes)));
    let rest = rule.steps.iter().filter_map(positive).flat_map(|bytes| windows(&bytes)).collect();
    all.extend(ranked(rest));
    // Tails are places of last resort.
    let tails: Vec<Key> =
        all.iter().filter_map(|key| Key::of(key.bytes().get(key.bytes().len().checked_sub(4)?..)?)).collect();
    all.extend(tails);
    all
}
