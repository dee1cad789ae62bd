// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The rules of a program by what they look at.

use std::sync::Arc;

use penstock_app::{Field, Protocol as AppProtocol};
use penstock_ids_compiler::rule::{Check, Protocol, Rule};
use penstock_ids_compiler::{Found, Program};

use crate::always::Always;
use crate::inspector::Reports;
use crate::scan::Scanner;

/// The rules of a program by what they look at.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) program: Arc<Program>,
    pub(crate) scanner: Scanner,
    /// Rules without a key that look at streams, and at packets.
    pub(crate) always_stream: Vec<u32>,
    pub(crate) always_packets: Always,
    /// There are rules with a key that look at packets of TCP.
    pub(crate) tcp_packets: bool,
    /// Rules look at streams.
    pub(crate) streams: bool,
    /// Flows are read for messages of application protocols.
    pub(crate) reads: bool,
    /// Messages have records of their own.
    pub(crate) records: bool,
    /// Files have records.
    pub(crate) files: bool,
    /// Rules or records ask for facts about files.
    pub(crate) facts: bool,
    /// Rules or records ask for hashes of files.
    pub(crate) hashes: bool,
    /// Rules ask for certificates of TLS clients.
    pub(crate) client_certificates: bool,
    /// Finds keys in fields of messages.
    pub(crate) fields: Scanner,
    /// Fields that may have one of these keys, as bits.
    keyed: u128,
    /// Directions of HTTP, to the server and to the client, of which rules need every message, whatever it has.
    pub(crate) every_http: [bool; 2],
    /// Events of packets that rules ask for, as bits, and the rules that ask.
    pub(crate) events: u64,
    pub(crate) event_rules: Vec<u32>,
    /// Levels of the rules ([`Rule::level`]), and the highest one.
    level: Vec<u8>,
    pub(crate) levels: usize,
}

/// Whether a rule looks at the payload of a packet of this protocol.
pub(crate) fn looks_at_packet(rule: &Rule, protocol: u8) -> bool {
    rule.messages.is_none() && (rule.looks.packets || protocol != 6)
}

/// Whether a certificate has a field.
fn is_of_certificate(field: Field) -> bool {
    field.protocol() == Some(penstock_app::Protocol::Tls) && field.stage() > 0
}

/// Events of packets that a rule asks for, as bits.
pub(crate) fn events(rule: &Rule) -> u64 {
    let bit = |check: &Check| if let Check::Event(event) = check { event.bit() } else { 0 };
    rule.checks.iter().map(bit).fold(0, |all, bit| all | bit)
}

impl Plan {
    pub(crate) fn new(program: Arc<Program>, reports: Reports) -> Self {
        let Reports { messages: records, files, .. } = reports;
        let rules = &program.set.rules;
        let is_hash = |field| matches!(field, Field::FileMd5 | Field::FileSha1 | Field::FileSha256);
        let asks = |wanted: &dyn Fn(Field) -> bool| {
            let groups = rules.iter().filter_map(|rule| rule.messages.as_ref()).flat_map(|messages| &messages.groups);
            groups.map(|group| group.field).any(wanted)
        };
        let always = || program.always.iter().map(|number| (*number, &rules[*number as usize]));
        let of_tcp = |rule: &Rule| matches!(rule.protocol, Protocol::Tcp | Protocol::Ip) && rule.looks.packets;
        let all_of_http = rules
            .iter()
            .zip(&program.found)
            .filter(|(_, found)| matches!(found, Found::Guards(None | Some(AppProtocol::Http))));
        let ways = || all_of_http.clone().filter_map(|(rule, _)| rule.messages.as_ref()).map(|own| own.to_server);
        Self {
            every_http: [true, false].map(|way| ways().any(|to_server| to_server.is_none_or(|own| own == way))),
            always_stream: always().filter(|(_, rule)| rule.looks.stream).map(|(number, _)| number).collect(),
            always_packets: Always::new(always()),
            tcp_packets: program.by_key.iter().flatten().any(|number| of_tcp(&rules[*number as usize])),
            streams: rules.iter().any(|rule| rule.looks.stream || rule.messages.is_some() && !rule.steps.is_empty()),
            reads: records || files || program.reads_messages(),
            files,
            records,
            facts: files || asks(&|field| matches!(field, Field::FileName | Field::FileSize) || is_hash(field)),
            hashes: files || asks(&is_hash),
            client_certificates: rules.iter().filter_map(|rule| rule.messages.as_ref()).any(|messages| {
                messages.to_server != Some(false) && messages.groups.iter().any(|group| is_of_certificate(group.field))
            }),
            fields: Scanner::new(&program.fields),
            keyed: program.keyed_fields.iter().fold(0, |all, field| all | 1 << *field as u32),
            events: rules.iter().map(events).fold(0, |all, bits| all | bits),
            event_rules: (0..).zip(rules).filter(|(_, rule)| events(rule) != 0).map(|(number, _)| number).collect(),
            level: rules.iter().map(|rule| rule.level() as u8).collect(),
            levels: rules.iter().map(Rule::level).max().unwrap_or_default(),
            scanner: Scanner::new(&program.filter),
            program,
        }
    }

    /// Whether a field may have a key.
    pub(crate) fn has_keys(&self, field: Field) -> bool {
        self.keyed >> field as u32 & 1 == 1
    }

    /// The level of a rule.
    pub(crate) fn level(&self, number: u32) -> usize {
        self.level[number as usize].into()
    }

    pub(crate) fn rule(&self, number: u32) -> &Rule {
        &self.program.set.rules[number as usize]
    }
}
