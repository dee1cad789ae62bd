// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Records in Suricata's EVE format: a line of JSON each.

use std::net::IpAddr;

use penstock_ids_compiler::rule::Rule;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json, json};
use time::OffsetDateTime;

use crate::stats::Stats;

/// The rule in an alert.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Signature {
    /// `allowed`, or `blocked` if the frame was dropped.
    pub action: String,
    /// Group of the rule.
    pub gid: u32,
    /// Number of the rule.
    pub signature_id: u32,
    /// Its revision.
    pub rev: u32,
    /// Its message.
    pub signature: String,
    /// Description of its class.
    pub category: String,
    /// Its priority; 1 is the most important.
    pub severity: u8,
    /// Its metadata: a list of values for each word.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub metadata: Map<String, Json>,
}

impl Signature {
    /// The report of a rule whose frame was dropped or not.
    #[must_use]
    pub fn of(rule: &Rule, blocked: bool) -> Self {
        let mut metadata = Map::new();
        for (key, value) in &rule.metadata {
            if let Some(list) = metadata.entry(key.clone()).or_insert_with(|| json!([])).as_array_mut() {
                list.push(value.clone().into());
            }
        }
        Self {
            action: if blocked { "blocked" } else { "allowed" }.to_owned(),
            gid: rule.gid,
            signature_id: rule.sid,
            rev: rule.rev,
            signature: rule.message.clone(),
            category: rule.category.clone(),
            severity: rule.priority,
            metadata,
        }
    }
}

/// The ends of a flow, which all its records have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ends {
    /// The same for all records of a flow.
    pub flow_id: u64,
    /// Ids of the VLAN tags, the outer one first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub vlan: Vec<u16>,
    /// Source of the frame.
    pub src_ip: IpAddr,
    /// Its port, of TCP and UDP.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub src_port: Option<u16>,
    /// Destination of the frame.
    pub dest_ip: IpAddr,
    /// Its port, of TCP and UDP.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dest_port: Option<u16>,
    /// Protocol: `TCP`, `UDP`, `ICMP`, `IPv6-ICMP`, otherwise its number.
    pub proto: String,
    /// Type of ICMP.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub icmp_type: Option<u8>,
    /// Code of ICMP.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub icmp_code: Option<u8>,
    /// Direction of the frame in its flow: `to_server` or `to_client`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub direction: Option<String>,
    /// Tenant of the frame, unless it is tenant 0.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub tenant: u8,
}

/// A message as an object, and the name of the object: `http`, `dns` or `tls`.
pub(crate) type AppObject = (&'static str, Json);

/// The optional fields of alerts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct AlertFields {
    /// The payload of the frame.
    pub payload: bool,
    /// The frame.
    pub packet: bool,
    /// Frames and bytes of the flow by direction, and its begin.
    pub flow: bool,
}

/// An alert, as a line of EVE.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Alert {
    /// Time of the frame in UTC: `2026-01-31T12:00:00.000000+0000`.
    pub timestamp: String,
    /// Always `alert`.
    pub event_type: String,
    /// The ends of the flow.
    #[serde(flatten)]
    pub ends: Ends,
    /// The bits of the flow that rules have set: `{"flowbits": […]}`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Json>,
    /// Application protocol of the direction, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub app_proto: Option<String>,
    /// What was found.
    pub alert: Signature,
    /// The message of HTTP that matched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub http: Option<Json>,
    /// The message of DNS that matched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dns: Option<Json>,
    /// The hello of TLS that matched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tls: Option<Json>,
    /// The identification of SSH that matched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ssh: Option<Json>,
    /// The mail that matched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub smtp: Option<Json>,
    /// The command or reply of FTP that matched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ftp: Option<Json>,
    /// The flow, if it is asked for: frames and bytes that were looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow: Option<Json>,
    /// Payload of the frame in base64, if it is asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payload: Option<String>,
    /// The frame in base64, if it is asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub packet: Option<String>,
}

/// A record of a message: `event_type` is its protocol.
pub(crate) fn record_line(ns: u64, ends: &Ends, (name, object): AppObject) -> String {
    let mut record = json!({"timestamp": timestamp(ns), "event_type": name});
    if let (Some(record), Json::Object(ends)) = (record.as_object_mut(), json!(ends)) {
        record.extend(ends);
        record.insert(name.to_owned(), object);
    }
    record.to_string()
}

/// A record that has more objects than the one that its type names.
pub(crate) fn record_with(ns: u64, ends: Option<&Ends>, kind: &str, objects: Vec<(&str, Json)>) -> String {
    let mut record = json!({"timestamp": timestamp(ns), "event_type": kind});
    if let Some(record) = record.as_object_mut() {
        if let Some(Json::Object(ends)) = ends.map(|ends| json!(ends)) {
            record.extend(ends);
        }
        record.extend(objects.into_iter().map(|(name, object)| (name.to_owned(), object)));
    }
    record.to_string()
}

#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_zero(number: &u8) -> bool {
    *number == 0
}

impl Alert {
    /// The record as a line, without the line's end.
    #[must_use]
    pub fn line(&self) -> String {
        // All that it consists of is JSON.
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// The record of the counters, as a line without its end. `card`: the counters of a card in hardware, of which the
/// inspector only sees reported frames.
#[must_use]
pub fn stats_line(ns: u64, stats: &Stats, card: &Json) -> String {
    let Stats { frames, streams, flows, .. } = stats;
    let entered = card["frames"].as_u64().unwrap_or(frames.frames);
    let mut own = json!(stats);
    if !card.is_null() {
        own["card"] = card.clone();
    }
    json!({
        "timestamp": timestamp(ns),
        "event_type": "stats",
        "stats": {
            "decoder": {
                "pkts": entered,
                "bytes": frames.bytes,
                "invalid": frames.malformed,
                "ipv4": frames.ipv4,
                "ipv6": frames.ipv6,
                "tcp": frames.tcp,
                "udp": frames.udp,
                "icmp": frames.icmp,
                "fragments": frames.fragments,
                "tunnels": frames.tunnels,
            },
            "flow": {
                "total": flows.begun,
                "active": flows.now,
                "aged": flows.aged,
                "evicted": flows.evicted,
                "reopened": flows.reopened,
            },
            "defrag": {
                "reassembled": stats.defrag.reassembled,
                "overlaps": stats.defrag.overlaps,
                "timeouts": stats.defrag.timeouts,
                "evicted": stats.defrag.evicted,
            },
            "tcp": {
                "invalid_checksum": frames.wrong_checksums,
                "segments": streams.segments,
                "retransmitted": streams.retransmitted,
                "out_of_order": streams.out_of_order,
                "overlap": streams.overlaps,
                "segment_far_ahead": streams.far,
                "reassembly_gap": streams.gaps,
                "gap_bytes": streams.gap_bytes,
            },
            "detect": { "alert": stats.detect.alerts, "rules": stats.detect.rules, "pcre_limited": stats.detect.limited + stats.detect.limited_negated, "deferred": stats.detect.deferred, "unarmed": stats.detect.unarmed },
            "app_layer": stats.detect.app,
            "ips": { "accepted": entered - stats.detect.blocked, "blocked": stats.detect.blocked },
            "penstock": own,
        }
    })
    .to_string()
}

/// A time in ns since 1970, in UTC, as EVE writes it.
#[must_use]
pub fn timestamp(ns: u64) -> String {
    let time = OffsetDateTime::from_unix_timestamp_nanos(ns.into()).unwrap_or(OffsetDateTime::UNIX_EPOCH);
    let (hour, minute, second, micro) = time.to_hms_micro();
    let (year, month, day) = (time.year(), u8::from(time.month()), time.day());
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{micro:06}+0000")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_utc() {
        assert_eq!(timestamp(0), "1970-01-01T00:00:00.000000+0000");
        assert_eq!(timestamp(1_259_098_029_534_255_999), "2009-11-24T21:27:09.534255+0000");
    }
}
