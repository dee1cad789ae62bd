// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The counters of a block.

use penstock_app::Counters as AppCounters;
use penstock_streams::{DefragCounters, FlowCounters, StreamCounters};
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
    /// Fragments.
    pub fragments: u64,
    /// Packets in packets.
    pub tunnels: u64,
    /// Segments of TCP with a wrong checksum, which belong to no stream.
    pub wrong_checksums: u64,
}

/// Packets from fragments.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DefragStats {
    /// Packets that are whole.
    pub reassembled: u64,
    /// Fragments that had bytes of earlier ones.
    pub overlaps: u64,
    /// Packets that waited too long for a fragment.
    pub timeouts: u64,
    /// Packets that made room for others.
    pub evicted: u64,
    /// Fragments that end behind the largest packet.
    pub too_large: u64,
}

impl From<DefragCounters> for DefragStats {
    fn from(counters: DefragCounters) -> Self {
        let DefragCounters { reassembled, overlaps, timeouts, evicted, too_large } = counters;
        Self { reassembled, overlaps, timeouts, evicted, too_large }
    }
}

/// The counters of the filter and the matcher.
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
    /// Searches of a pcre that a limit stopped and that found nothing, and variables with too many values.
    pub limited: u64,
    /// Searches of a negated pcre that a limit stopped: the rule went on as if it had not been found.
    pub limited_negated: u64,
    /// Evaluations of rules that waited for more bytes of their stream because it had cost too much.
    pub deferred: u64,
    /// Rules that a direction should have waited for and had no room for.
    pub unarmed: u64,
    /// Sets of values that could not be written to their files.
    pub unsaved: u64,
    /// Values for which sets had no room.
    pub missed_values: u64,
    /// Messages of application protocols.
    pub app: AppStats,
    /// Bytes of streams that are no longer kept: a rule that needs them together with later bytes does not match.
    pub forgotten_bytes: u64,
    /// Times that rules were exchanged.
    pub reloads: u64,
}

/// Messages of application protocols.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AppStats {
    /// Requests of HTTP.
    pub http_requests: u64,
    /// Responses of HTTP.
    pub http_responses: u64,
    /// Queries of DNS.
    pub dns_queries: u64,
    /// Responses of DNS.
    pub dns_responses: u64,
    /// Hellos of TLS clients.
    pub tls_clients: u64,
    /// Hellos of TLS servers.
    pub tls_servers: u64,
    /// Identifications of SSH clients.
    pub ssh_clients: u64,
    /// Identifications of SSH servers.
    pub ssh_servers: u64,
    /// Mails.
    pub smtp_mails: u64,
    /// Commands of FTP.
    pub ftp_commands: u64,
    /// Replies of FTP.
    pub ftp_replies: u64,
    /// Messages that break the rules of their protocol: the part before the fault was inspected.
    pub malformed: u64,
    /// Messages that are too long: their beginning was looked at.
    pub too_long: u64,
    /// Bodies of which only the first bytes were looked at.
    pub cut_bodies: u64,
    /// Bodies that could not be decompressed to their end.
    pub damaged: u64,
    /// Bodies with a compression that the engine does not undo.
    pub unknown_codings: u64,
}

impl AppStats {
    pub(crate) fn add(&mut self, counters: AppCounters) {
        let AppCounters { http, dns, tls, ssh, smtp, ftp, malformed, too_long, cut_bodies, damaged, unknown_codings } =
            counters;
        self.http_requests += http[0];
        self.http_responses += http[1];
        self.dns_queries += dns[0];
        self.dns_responses += dns[1];
        self.tls_clients += tls[0];
        self.tls_servers += tls[1];
        self.ssh_clients += ssh[0];
        self.ssh_servers += ssh[1];
        self.smtp_mails += smtp;
        self.ftp_commands += ftp[0];
        self.ftp_replies += ftp[1];
        self.malformed += malformed;
        self.too_long += too_long;
        self.cut_bodies += cut_bodies;
        self.damaged += damaged;
        self.unknown_codings += unknown_codings;
    }
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
    /// Packets from fragments.
    pub defrag: DefragStats,
    /// Flows.
    pub flows: FlowStats,
    /// Streams.
    pub streams: StreamStats,
}
