// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Messages of programs to controllers, in the forms of answers.

use std::collections::BTreeMap;

use penstock_rmt::Message;
use penstock_rmt_compiler::ir::{DigestId, Program};
use penstock_rmt_p4runtime::DigestConfig;
use serde_json::{Map, Value as Json};

use crate::value::Format;

/// Messages by the names of digests and their fields.
pub(crate) fn named(
    program: &Program,
    messages: impl IntoIterator<Item = Message>,
) -> Vec<(String, Map<String, Json>)> {
    let named = |message: Message| {
        let digest = &program.digests[message.digest];
        let fields = digest.fields.iter().zip(message.values);
        let fields = fields.map(|((name, width), value)| (name.clone(), Format::of(*width, &[]).json(value)));
        (digest.name.clone(), fields.collect())
    };
    messages.into_iter().map(named).collect()
}

/// Messages by the kinds that are sent to controllers, with how each is sent.
pub(crate) fn by_kind(
    kinds: &BTreeMap<DigestId, DigestConfig>,
    messages: impl IntoIterator<Item = Message>,
) -> Vec<(DigestId, DigestConfig, Vec<Vec<u128>>)> {
    let mut sorted: BTreeMap<DigestId, Vec<Vec<u128>>> = BTreeMap::new();
    for message in messages {
        sorted.entry(message.digest).or_default().push(message.values);
    }
    kinds.iter().map(|(digest, config)| (*digest, *config, sorted.remove(digest).unwrap_or_default())).collect()
}
