// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! No bytes and no edits cause a panic, and refused edits change nothing.
#![allow(clippy::unwrap_used)]

use penstock_headers::{Field, Header, Headers};
use penstock_testing::Numbers;

fn field(numbers: &mut Numbers) -> Field {
    Field::ALL[numbers.below(Field::ALL.len())]
}

/// Bytes that lead the parser on: types, versions, protocols and lengths that it knows, at places where it looks
/// for them, among others.
fn frame(numbers: &mut Numbers) -> Vec<u8> {
    let mut frame = vec![0; numbers.below(300)];
    if numbers.below(3) > 0 {
        frame.iter_mut().for_each(|byte| *byte = numbers.next() as u8);
    }
    let mut at = 12;
    for _ in 0..numbers.below(4) {
        put(&mut frame, at, [&[0x81, 0], &[0x88, 0xA8]][numbers.below(2)]);
        at += 4;
    }
    let version6 = numbers.below(2) == 0;
    let labelled = numbers.below(4) == 0;
    put(&mut frame, at, if version6 { &[0x86, 0xDD] } else { &[8, 0] });
    if labelled {
        put(&mut frame, at, &[0x88, 0x47]);
        put(&mut frame, at + 4, &[numbers.below(4) as u8]);
        at += 4;
    }
    at += 2;
    let rest = frame.len().saturating_sub(at + numbers.below(3)) as u16;
    if !version6 {
        let options = numbers.below(6) / 4;
        put(&mut frame, at, &[0x45 + options as u8, 0]);
        put(&mut frame, at + 2, &rest.to_be_bytes());
        put(&mut frame, at + 6, [&[0, 0], &[0, 0], &[0x20, 0], &[0, 1]][numbers.below(4)]);
        put(&mut frame, at + 9, &[protocol(numbers)]);
        at += 20 + 4 * options;
    } else {
        put(&mut frame, at, &[0x60]);
        put(&mut frame, at + 4, &rest.saturating_sub(40).to_be_bytes());
        put(&mut frame, at + 6, &[protocol(numbers)]);
        at += 40;
        for _ in 0..numbers.below(6) {
            put(&mut frame, at, &[protocol(numbers), numbers.below(2) as u8]);
            at += 8;
        }
    }
    let rest = frame.len().saturating_sub(at + numbers.below(2)) as u16;
    put(&mut frame, at + 4, &rest.to_be_bytes());
    put(&mut frame, at + 12, &[0x50 + (numbers.below(5) << 4) as u8]);
    frame
}

fn protocol(numbers: &mut Numbers) -> u8 {
    [0, 1, 43, 44, 58, 60, 6, 17, 6, 17, 6, 17][numbers.below(12)]
}
fn put(frame: &mut [u8], at: usize, bytes: &[u8]) {
    if let Some(place) = frame.get_mut(at..at + bytes.len()) {
        place.copy_from_slice(bytes);
    }
}

fn all(headers: &Headers, frame: &[u8]) -> Vec<Option<u128>> {
    let there = Header::ALL.map(|header| Some(headers.has(header).into()));
    there.into_iter().chain(Field::ALL.map(|field| headers.get(frame, field))).collect()
}

/// One edit, and whether it was allowed.
fn edit(numbers: &mut Numbers, headers: &mut Headers, frame: &mut Vec<u8>) -> bool {
    let value = numbers.next();
    match numbers.below(8) {
        0 => headers.push_vlan(frame, value as u16).is_ok(),
        1 => headers.pop_vlan(frame).is_ok(),
        2 => headers.push_mpls(frame, value as u32).is_ok(),
        3 => headers.pop_mpls(frame).is_ok(),
        4 => headers.swap(frame, field(numbers), field(numbers)).is_ok(),
        _ => {
            let field = field(numbers);
            let done = headers.set(frame, field, value.into()).is_ok();
            assert!(
                !done || headers.get(frame, field) == Some(u128::from(value) & (u128::MAX >> (128 - field.bits())))
            );
            done
        }
    }
}

#[test]
fn any_bytes() {
    let mut numbers = Numbers(0x5EED);
    let mut deep = 0;
    for _ in 0..200_000 {
        let mut frame = frame(&mut numbers);
        let mut headers = Headers::parse(&frame);
        deep += usize::from(headers.has(Header::Tcp) || headers.has(Header::Udp));
        for _ in 0..numbers.below(12) {
            let (before, there) = (frame.clone(), all(&headers, &frame));
            if !edit(&mut numbers, &mut headers, &mut frame) {
                assert_eq!((&frame, all(&headers, &frame)), (&before, there));
            }
        }
        headers.repair(&mut frame);
    }
    println!("{deep} frames had ports");
    assert!(deep > 20_000);
}

#[test]
fn another_frame_than_the_one_that_was_parsed() {
    let mut numbers = Numbers(0xF00D);
    for _ in 0..100_000 {
        let mut headers = Headers::parse(&frame(&mut numbers));
        let mut other = frame(&mut numbers);
        all(&headers, &other);
        for _ in 0..numbers.below(12) {
            // Several pops, up to the number of tags, may shorten it too.
            let _ = match numbers.below(4) {
                0 => headers.pop_vlan(&mut other),
                1 => headers.push_mpls(&mut other, 7),
                2 => headers.pop_mpls(&mut other),
                _ => headers.set(&mut other, field(&mut numbers), 1),
            };
        }
        headers.repair(&mut other);
    }
}
