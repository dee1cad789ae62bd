// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Events that rules ask for: `decode-event`, `stream-event` and `app-layer-event`.

use penstock_app::Protocol;

/// Events of packets, with the keyword before the name: those of frames that cannot be decoded come first.
const PACKET: [(&str, &str); 38] = [
    ("decode-event", "ethernet.pkt_too_small"),
    ("decode-event", "vlan.header_too_small"),
    ("decode-event", "ipv4.pkt_too_small"),
    ("decode-event", "ipv4.hlen_too_small"),
    ("decode-event", "ipv4.iplen_smaller_than_hlen"),
    ("decode-event", "ipv4.trunc_pkt"),
    ("decode-event", "ipv4.wrong_ip_version"),
    ("decode-event", "ipv6.pkt_too_small"),
    ("decode-event", "ipv6.trunc_pkt"),
    ("decode-event", "ipv6.trunc_exthdr"),
    ("decode-event", "ipv6.wrong_ip_version"),
    ("decode-event", "tcp.pkt_too_small"),
    ("decode-event", "tcp.hlen_too_small"),
    ("decode-event", "tcp.invalid_optlen"),
    ("decode-event", "udp.pkt_too_small"),
    ("decode-event", "udp.hlen_too_small"),
    ("decode-event", "udp.len_invalid"),
    ("decode-event", "icmpv4.pkt_too_small"),
    ("decode-event", "icmpv6.pkt_too_small"),
    ("decode-event", "tcp.opt_invalid_len"),
    ("decode-event", "tcp.opt_duplicate"),
    ("decode-event", "icmpv4.unknown_type"),
    ("decode-event", "icmpv4.unknown_code"),
    ("decode-event", "ipv6.rh_type_0"),
    ("decode-event", "ipv6.exthdr_dupl_hh"),
    ("decode-event", "ipv6.exthdr_dupl_rh"),
    ("decode-event", "ipv6.exthdr_dupl_fh"),
    ("decode-event", "ipv6.exthdr_dupl_ah"),
    ("decode-event", "ipv6.exthdr_dupl_dh"),
    ("decode-event", "ipv4.frag_overlap"),
    ("decode-event", "ipv4.frag_pkt_too_large"),
    ("decode-event", "ipv6.frag_overlap"),
    ("decode-event", "ipv6.frag_pkt_too_large"),
    ("stream-event", "fin_syn"),
    ("stream-event", "pkt_broken_ack"),
    ("stream-event", "fin_but_no_session"),
    ("stream-event", "pkt_retransmission"),
    ("stream-event", "reassembly_seq_gap"),
];
/// Events of frames that cannot be decoded.
const FAULTS: usize = 19;

/// An event of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PacketEvent(u8);

impl PacketEvent {
    /// The event with this name, of this keyword.
    #[must_use]
    pub fn named(keyword: &str, name: &str) -> Option<Self> {
        let at = PACKET.iter().position(|known| *known == (keyword, name))?;
        Some(Self(at as u8))
    }

    /// A set with this event alone.
    #[must_use]
    pub fn bit(self) -> u64 {
        1 << self.0
    }

    /// Whether other segments of a connection decide about it.
    #[must_use]
    pub fn is_of_stream(self) -> bool {
        PACKET[usize::from(self.0)].0 == "stream-event"
    }

    /// Whether other fragments of a packet decide about it.
    #[must_use]
    pub fn is_of_fragments(self) -> bool {
        PACKET[usize::from(self.0)].1.contains(".frag_")
    }

    /// Whether frames that cannot be decoded have it.
    #[must_use]
    pub fn is_fault(self) -> bool {
        usize::from(self.0) < FAULTS
    }
}

/// An event of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MessageEvent {
    /// A request of HTTP/1.1 names no host.
    MissingHost,
    /// The URI and the header name different hosts.
    AmbiguousHost,
    /// A line of the headers has no colon.
    MissingColon,
    /// A value of Content-Length is no number.
    InvalidLength,
    /// There is more than one Content-Length.
    DuplicateLength,
    /// Lengths or names in a message of DNS are wrong.
    Malformed,
    /// A hello of TLS: each message has it.
    Hello,
}

/// Events of messages: name, protocol, and direction if the name says it.
const MESSAGE: [(&str, MessageEvent, Protocol, Option<bool>); 9] = [
    ("http.missing_host_header", MessageEvent::MissingHost, Protocol::Http, Some(true)),
    ("http.host_header_ambiguous", MessageEvent::AmbiguousHost, Protocol::Http, Some(true)),
    ("http.request_field_missing_colon", MessageEvent::MissingColon, Protocol::Http, Some(true)),
    ("http.response_field_missing_colon", MessageEvent::MissingColon, Protocol::Http, Some(false)),
    ("http.invalid_content_length_field_in_request", MessageEvent::InvalidLength, Protocol::Http, Some(true)),
    ("http.invalid_content_length_field_in_response", MessageEvent::InvalidLength, Protocol::Http, Some(false)),
    ("http.duplicate_content_length_field_in_request", MessageEvent::DuplicateLength, Protocol::Http, Some(true)),
    ("http.duplicate_content_length_field_in_response", MessageEvent::DuplicateLength, Protocol::Http, Some(false)),
    ("dns.malformed_data", MessageEvent::Malformed, Protocol::Dns, None),
];

impl MessageEvent {
    /// The event with this name: with its protocol, and the direction if the name says it.
    pub(crate) fn named(name: &str) -> Option<(Self, Protocol, Option<bool>)> {
        MESSAGE.iter().find(|(known, ..)| *known == name).map(|(_, event, protocol, way)| (*event, *protocol, *way))
    }

    /// The stage of a message with which it is known.
    #[must_use]
    pub fn stage(self) -> u8 {
        u8::from(!matches!(self, Self::Malformed | Self::Hello))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_have_a_bit_each() {
        let bits = PACKET.iter().filter_map(|(keyword, name)| PacketEvent::named(keyword, name)).map(PacketEvent::bit);
        assert_eq!(bits.fold(0, |all, bit| all | bit), (1 << PACKET.len()) - 1);
        let fault = |name| PacketEvent::named("decode-event", name).is_some_and(PacketEvent::is_fault);
        assert!(fault("icmpv6.pkt_too_small") && !fault("tcp.opt_invalid_len") && !fault("fin_syn"));
    }
}
