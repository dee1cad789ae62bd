// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! What a block counted.

use penstock_streams::{FlowCounters, StreamCounters};
use serde::{Deserialize, Serialize};

/// Frames by kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FrameStats {
    /// Frames.
    pub frames: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Frames that are not IP.
    pub not_ip: u64,
    /// Frames of IP with wrong headers: not searched.
    pub malformed: u64,
    /// IPv4.
    pub ipv4: u64,
    /// IPv6.
    pub ipv6: u64,
    /// TCP.
    pub tcp: u64,
    /// UDP.
    pub udp: u64,
    /// ICMP and ICMPv6.
    pub icmp: u64,
    /// Fragments: searched one by one, for rules of `ip` only.
    pub fragments: u64,
}

/// What the filter and the matcher did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DetectStats {
    /// Rules that are loaded.
    pub rules: u64,
    /// Bytes of payload that the filter searched.
    pub searched_bytes: u64,
    /// Frames in which the filter found a key.
    pub hit_frames: u64,
    /// Frames for which the matcher evaluated at least one rule.
    pub host_frames: u64,
    /// Rules that it evaluated.
    pub evaluated: u64,
    /// Alerts.
    pub alerts: u64,
    /// Frames that were dropped.
    pub blocked: u64,
    /// Searches of a pcre that a limit stopped.
    pub limited: u64,
    /// Bytes of streams that are no longer kept: a rule that needs them together with later bytes does not match.
    pub forgotten_bytes: u64,
    /// Times that rules were exchanged.
    pub reloads: u64,
}

/// Flows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlowStats {
    /// Flows that are there now.
    pub now: u64,
    /// Flows that began.
    pub begun: u64,
    /// Flows that ended because no frame came for long.
    pub aged: u64,
    /// Flows that made room for others before their time.
    pub evicted: u64,
    /// Flows that ended because a new connection began between the same ends.
    pub reopened: u64,
}

impl FlowStats {
    pub(crate) fn of(now: usize, counters: FlowCounters) -> Self {
        let FlowCounters { begun, aged, evicted, reopened } = counters;
        Self { now: now as u64, begun, aged, evicted, reopened }
    }
}

/// Streams of TCP.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StreamStats {
    /// Segments with payload.
    pub segments: u64,
    /// Segments of which every byte had been seen.
    pub retransmitted: u64,
    /// Segments that waited behind a hole.
    pub out_of_order: u64,
    /// Segments that shared bytes with a waiting one.
    pub overlaps: u64,
    /// Segments too far ahead of the stream: not searched as a stream.
    pub far: u64,
    /// Holes that were given up.
    pub gaps: u64,
    /// Bytes in these holes: not searched.
    pub gap_bytes: u64,
    /// Bytes that wait behind holes now.
    pub waiting_bytes: u64,
}

impl From<StreamCounters> for StreamStats {
    fn from(counters: StreamCounters) -> Self {
        let StreamCounters { segments, retransmitted, out_of_order, overlaps, far, gaps, gap_bytes } = counters;
        Self { segments, retransmitted, out_of_order, overlaps, far, gaps, gap_bytes, waiting_bytes: 0 }
    }
}

/// All that a block counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stats {
    /// Frames by kind.
    pub frames: FrameStats,
    /// Filter and matcher.
    pub detect: DetectStats,
    /// Flows.
    pub flows: FlowStats,
    /// Streams.
    pub streams: StreamStats,
}
