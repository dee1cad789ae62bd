// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Records about flows, files, dropped frames and anomalies, in the fields of Suricata's EVE.

use penstock_app::{Field, Message};
use penstock_streams::{Ending, Flow, Packet, Tcp, Transport};
use serde_json::{Map, Value as Json, json};

use crate::report::timestamp;

/// Names of the flags of TCP, from bit 0.
const FLAGS: [&str; 8] = ["fin", "syn", "rst", "psh", "ack", "urg", "ecn", "cwr"];

/// Adds the flags that are set.
fn put_flags(to: &mut Map<String, Json>, flags: u8) {
    for (bit, name) in (0..).zip(FLAGS) {
        if flags >> bit & 1 == 1 {
            to.insert(name.to_owned(), true.into());
        }
    }
}

/// The objects `flow` and, of TCP, `tcp` of a flow that has ended, or that a run ends with. `action`: what a rule has
/// decided for the whole flow.
pub(crate) fn flow<S>(flow: &Flow<S>, epoch: u64, alerted: bool, action: Option<&str>) -> (Json, Option<Json>) {
    let is_tcp = flow.key.protocol == 6;
    let state = match () {
        () if flow.closed => "closed",
        () if flow.established => "established",
        () => "new",
    };
    let reason = match flow.ending {
        Some(Ending::Aged) => "timeout",
        Some(Ending::Evicted) => "forced",
        Some(Ending::Reopened) => "tcp_reuse",
        None => "shutdown",
    };
    let mut about = json!({
        "pkts_toserver": flow.frames[0],
        "pkts_toclient": flow.frames[1],
        "bytes_toserver": flow.bytes[0],
        "bytes_toclient": flow.bytes[1],
        "start": timestamp(epoch.saturating_add(flow.start)),
        "end": timestamp(epoch.saturating_add(flow.last)),
        "age": flow.last.saturating_sub(flow.start) / 1_000_000_000,
        "state": state,
        "reason": reason,
        "alerted": alerted,
    });
    if let Some(action) = action {
        about["action"] = action.into();
    }
    let tcp = is_tcp.then(|| {
        let [to_server, to_client] = flow.flags;
        let mut tcp = Map::new();
        for (name, flags) in
            [("tcp_flags", to_server | to_client), ("tcp_flags_ts", to_server), ("tcp_flags_tc", to_client)]
        {
            tcp.insert(name.to_owned(), format!("{flags:02x}").into());
        }
        put_flags(&mut tcp, to_server | to_client);
        let state = match (flow.closed, flow.established) {
            (true, _) => "closed",
            (false, true) => "established",
            (false, false) if flow.flags[1] & Tcp::SYN != 0 => "syn_recv",
            (false, false) => "syn_sent",
        };
        tcp.insert("state".to_owned(), state.into());
        Json::Object(tcp)
    });
    (about, tcp)
}

/// The objects `fileinfo` of the files of a message.
pub(crate) fn files(message: &Message) -> Vec<Json> {
    // The name stands before the size, and hashes behind it.
    let mut files: Vec<Map<String, Json>> = Vec::new();
    let mut name = None;
    for (field, bytes) in &message.fields {
        let hash = match field {
            Field::FileName => {
                name = Some(String::from_utf8_lossy(bytes).into_owned());
                continue;
            }
            Field::FileSize => {
                let mut file = Map::new();
                file.insert("filename".to_owned(), name.take().unwrap_or_default().into());
                file.insert("gaps".to_owned(), false.into());
                file.insert("state".to_owned(), "CLOSED".into());
                file.insert("stored".to_owned(), false.into());
                file.insert("size".to_owned(), number(bytes).into());
                files.push(file);
                continue;
            }
            Field::FileMd5 => "md5",
            Field::FileSha1 => "sha1",
            Field::FileSha256 => "sha256",
            _ => continue,
        };
        let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        if let Some(file) = files.last_mut() {
            file.insert(hash.to_owned(), digits.into());
        }
    }
    // Without a hash only a part of the file was looked at.
    for file in &mut files {
        if !file.contains_key("sha256") {
            file.insert("state".to_owned(), "TRUNCATED".into());
        }
    }
    files.into_iter().map(Json::Object).collect()
}

/// The number in a field of 4 bytes.
fn number(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// The object `drop` of a packet.
pub(crate) fn dropped(packet: &Packet<'_>, reason: &str) -> Json {
    let mut out = Map::new();
    let v4 = packet.source.is_ipv4();
    out.insert("len".to_owned(), (packet.ip.len() + packet.body.len()).into());
    if v4 {
        out.insert("tos".to_owned(), packet.ip.get(1).copied().unwrap_or_default().into());
    }
    out.insert(if v4 { "ttl" } else { "hoplimit" }.to_owned(), packet.ttl.into());
    if v4 {
        let id = packet.ip.get(4..6).map_or(0, |id| u16::from_be_bytes([id[0], id[1]]));
        out.insert("ipid".to_owned(), id.into());
    }
    match packet.transport {
        Transport::Tcp(tcp) => {
            out.insert("tcpseq".to_owned(), tcp.sequence.into());
            out.insert("tcpack".to_owned(), tcp.acknowledged.into());
            out.insert("tcpwin".to_owned(), tcp.window.into());
            for (bit, name) in (0..6).zip(FLAGS) {
                out.insert(name.to_owned(), (tcp.flags >> bit & 1 == 1).into());
            }
        }
        Transport::Udp => {
            out.insert("udplen".to_owned(), (packet.payload.len() + 8).into());
        }
        _ => {}
    }
    out.insert("reason".to_owned(), reason.into());
    Json::Object(out)
}
