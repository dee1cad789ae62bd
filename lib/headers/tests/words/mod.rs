// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Frames and edits as header_vectors.py writes them.

#![allow(clippy::panic)]

use penstock_headers::{EditError, Field, Headers};

pub(crate) fn bytes(hex: &str) -> Vec<u8> {
    let hex = hex.trim_matches('-');
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
}

pub(crate) fn edit(headers: &mut Headers, frame: &mut Vec<u8>, edit: &str) -> Result<(), EditError> {
    let number = |hex| u128::from_str_radix(hex, 16).unwrap();
    let field = |name| Field::parse(name).unwrap();
    match edit.split(':').collect::<Vec<_>>()[..] {
        ["set", name, value] => headers.set(frame, field(name), number(value)),
        ["swap", one, other] => headers.swap(frame, field(one), field(other)),
        ["push_vlan", tci] => headers.push_vlan(frame, number(tci) as u16),
        ["pop_vlan"] => headers.pop_vlan(frame),
        ["push_mpls", label] => headers.push_mpls(frame, number(label) as u32),
        ["pop_mpls"] => headers.pop_mpls(frame),
        _ => panic!("{edit}"),
    }
}
