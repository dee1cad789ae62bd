// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Written by tools/fields.py from lib/headers/fields.toml; change that.

use crate::field::{FieldRow, HeaderRow};

/// A field of a frame that a program can read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Field {
    /// `port`: where the frame came from, numbered as in descriptors.
    Port,
    /// `len`: length in bytes, without FCS.
    Len,
    /// `time`: microseconds, modulo 2^32.
    Time,
    /// `hash`: flow hash with which the frame entered the card.
    Hash,
    /// `meta0`: metadata, 0 at the beginning of the chain.
    Meta0,
    /// `meta1`: more of it.
    Meta1,
    /// `eth.dst`: destination address.
    EthDst,
    /// `eth.src`: source address.
    EthSrc,
    /// `eth.type`: type, behind the VLAN tags.
    EthType,
    /// `vlan.id`: outer VLAN.
    VlanId,
    /// `vlan.pcp`: its priority.
    VlanPcp,
    /// `vlan.tci`: both, and the drop eligible bit between them.
    VlanTci,
    /// `vlan2.id`: inner VLAN.
    Vlan2Id,
    /// `vlan2.pcp`: its priority.
    Vlan2Pcp,
    /// `vlan2.tci`: both, and the drop eligible bit between them.
    Vlan2Tci,
    /// `mpls.label`: label of the topmost entry.
    MplsLabel,
    /// `mpls.tc`: its traffic class.
    MplsTc,
    /// `mpls.ttl`: its time to live.
    MplsTtl,
    /// `ip.src`: source address.
    IpSrc,
    /// `ip.dst`: destination address.
    IpDst,
    /// `ip.proto`: protocol.
    IpProto,
    /// `ip.tos`: differentiated services and ECN.
    IpTos,
    /// `ip.ttl`: time to live.
    IpTtl,
    /// `ip.len`: total length in bytes, with the header.
    IpLen,
    /// `ip.id`: identification.
    IpId,
    /// `ip.frag`: flags and fragment offset.
    IpFrag,
    /// `ip6.src`: source address.
    Ip6Src,
    /// `ip6.dst`: destination address.
    Ip6Dst,
    /// `ip6.proto`: protocol, behind the extension headers.
    Ip6Proto,
    /// `ip6.class`: traffic class.
    Ip6Class,
    /// `ip6.label`: flow label.
    Ip6Label,
    /// `ip6.hops`: hop limit.
    Ip6Hops,
    /// `ip6.len`: length in bytes of what follows the header of 40.
    Ip6Len,
    /// `tcp.sport`: source port.
    TcpSport,
    /// `tcp.dport`: destination port.
    TcpDport,
    /// `tcp.seq`: sequence number.
    TcpSeq,
    /// `tcp.ack`: acknowledgment number.
    TcpAck,
    /// `tcp.flags`: CWR, ECE, URG, ACK, PSH, RST, SYN, FIN.
    TcpFlags,
    /// `tcp.window`: window, not scaled.
    TcpWindow,
    /// `tcp.len`: payload in bytes.
    TcpLen,
    /// `tcp.syn`: flag SYN.
    TcpSyn,
    /// `tcp.ack_flag`: flag ACK.
    TcpAckFlag,
    /// `tcp.fin`: flag FIN.
    TcpFin,
    /// `tcp.rst`: flag RST.
    TcpRst,
    /// `udp.sport`: source port.
    UdpSport,
    /// `udp.dport`: destination port.
    UdpDport,
    /// `udp.len`: length in bytes, with the header of 8.
    UdpLen,
    /// `icmp.type`: type.
    IcmpType,
    /// `icmp.code`: code.
    IcmpCode,
    /// `l4.sport`: source port of TCP or UDP.
    L4Sport,
    /// `l4.dport`: destination port of TCP or UDP.
    L4Dport,
    /// `l4.proto`: 6 or 17.
    L4Proto,
    /// `data.0`: payload of TCP or UDP: its first 32 bits.
    Data0,
    /// `data.1`: payload of TCP or UDP: its second 32 bits.
    Data1,
    /// `data.2`: payload of TCP or UDP: its third 32 bits.
    Data2,
    /// `data.3`: payload of TCP or UDP: its fourth 32 bits.
    Data3,
    /// `data.4`: payload of TCP or UDP: its fifth 32 bits.
    Data4,
    /// `data.5`: payload of TCP or UDP: its sixth 32 bits.
    Data5,
    /// `data.6`: payload of TCP or UDP: its seventh 32 bits.
    Data6,
    /// `data.7`: payload of TCP or UDP: its eighth 32 bits.
    Data7,
}

/// A protocol that a frame may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Header {
    /// `vlan`: a VLAN tag (802.1Q 0x8100, 802.1ad 0x88A8).
    Vlan,
    /// `vlan2`: a second VLAN tag, behind the first.
    Vlan2,
    /// `mpls`: an MPLS label (RFC 3032).
    Mpls,
    /// `ip`: IPv4 (RFC 791).
    Ip,
    /// `ip6`: IPv6 (RFC 8200).
    Ip6,
    /// `tcp`: TCP (RFC 9293), over IPv4 or IPv6.
    Tcp,
    /// `udp`: UDP (RFC 768), over IPv4 or IPv6.
    Udp,
    /// `icmp`: ICMP over IPv4 (RFC 792), ICMPv6 over IPv6 (RFC 4443).
    Icmp,
    /// `fragment`: a part of an IPv4 or IPv6 packet; only the first part has ports.
    Fragment,
}

/// A part that a frame may have: a header, or another group of fields. Its number is its bit in hardware.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Part {
    /// `vlan`: a VLAN tag (802.1Q 0x8100, 802.1ad 0x88A8).
    Vlan,
    /// `vlan2`: a second VLAN tag, behind the first.
    Vlan2,
    /// `mpls`: an MPLS label (RFC 3032).
    Mpls,
    /// `ip`: IPv4 (RFC 791).
    Ip,
    /// `ip6`: IPv6 (RFC 8200).
    Ip6,
    /// `tcp`: TCP (RFC 9293), over IPv4 or IPv6.
    Tcp,
    /// `udp`: UDP (RFC 768), over IPv4 or IPv6.
    Udp,
    /// `icmp`: ICMP over IPv4 (RFC 792), ICMPv6 over IPv6 (RFC 4443).
    Icmp,
    /// `fragment`: a part of an IPv4 or IPv6 packet; only the first part has ports.
    Fragment,
    /// `eth`: Ethernet's addresses.
    Eth,
    /// `type`: the type behind the VLAN tags.
    Type,
    /// `net`: IPv4 or IPv6.
    Net,
    /// `proto`: the protocol behind IPv6's extension headers.
    Proto,
    /// `l4`: TCP or UDP.
    L4,
    /// `sums`: the parser's limits hide nothing, so the checksums that cover IP addresses can be repaired.
    Sums,
    /// `routed`: an IPv6 routing header with segments left, so checksums cover another destination than the header's.
    Routed,
    /// `data.0`: payload of TCP or UDP: its first 32 bits.
    Data0,
    /// `data.1`: payload of TCP or UDP: its second 32 bits.
    Data1,
    /// `data.2`: payload of TCP or UDP: its third 32 bits.
    Data2,
    /// `data.3`: payload of TCP or UDP: its fourth 32 bits.
    Data3,
    /// `data.4`: payload of TCP or UDP: its fifth 32 bits.
    Data4,
    /// `data.5`: payload of TCP or UDP: its sixth 32 bits.
    Data5,
    /// `data.6`: payload of TCP or UDP: its seventh 32 bits.
    Data6,
    /// `data.7`: payload of TCP or UDP: its eighth 32 bits.
    Data7,
}

/// Number of parts that hardware distinguishes.
pub const PARTS: usize = 24;

/// Number of words of fields, including number 0, that hardware distinguishes.
pub const WORDS: usize = 63;

/// A place that the parser finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub(crate) enum Layer {
    /// `eth`: the frame's first byte.
    Eth,
    /// `kind`: its type, behind the VLAN tags.
    Kind,
    /// `mpls`: the label's entry.
    Mpls,
    /// `net`: the IPv4 or IPv6 header.
    Net,
    /// `proto`: the number of the protocol behind IPv4, or behind IPv6 and its extension headers.
    Proto,
    /// `l4`: the header behind that.
    L4,
    /// `data`: the payload of TCP or UDP.
    Data,
}

/// By [`Header`].
pub(crate) static HEADERS: [HeaderRow; 9] = [
    HeaderRow { header: Header::Vlan, part: Part::Vlan, name: "vlan", what: "a VLAN tag (802.1Q 0x8100, 802.1ad 0x88A8)" },
    HeaderRow { header: Header::Vlan2, part: Part::Vlan2, name: "vlan2", what: "a second VLAN tag, behind the first" },
    HeaderRow { header: Header::Mpls, part: Part::Mpls, name: "mpls", what: "an MPLS label (RFC 3032)" },
    HeaderRow { header: Header::Ip, part: Part::Ip, name: "ip", what: "IPv4 (RFC 791)" },
    HeaderRow { header: Header::Ip6, part: Part::Ip6, name: "ip6", what: "IPv6 (RFC 8200)" },
    HeaderRow { header: Header::Tcp, part: Part::Tcp, name: "tcp", what: "TCP (RFC 9293), over IPv4 or IPv6" },
    HeaderRow { header: Header::Udp, part: Part::Udp, name: "udp", what: "UDP (RFC 768), over IPv4 or IPv6" },
    HeaderRow { header: Header::Icmp, part: Part::Icmp, name: "icmp", what: "ICMP over IPv4 (RFC 792), ICMPv6 over IPv6 (RFC 4443)" },
    HeaderRow { header: Header::Fragment, part: Part::Fragment, name: "fragment", what: "a part of an IPv4 or IPv6 packet; only the first part has ports" },
];

/// By [`Field`].
pub(crate) static FIELDS: [FieldRow; 60] = [
    FieldRow { field: Field::Port, name: "port", bits: 8, part: None, at: None, set: false, word: 1, what: "where the frame came from, numbered as in descriptors" },
    FieldRow { field: Field::Len, name: "len", bits: 16, part: None, at: None, set: false, word: 2, what: "length in bytes, without FCS" },
    FieldRow { field: Field::Time, name: "time", bits: 32, part: None, at: None, set: false, word: 3, what: "microseconds, modulo 2^32" },
    FieldRow { field: Field::Hash, name: "hash", bits: 32, part: None, at: None, set: false, word: 4, what: "flow hash with which the frame entered the card" },
    FieldRow { field: Field::Meta0, name: "meta0", bits: 32, part: None, at: None, set: true, word: 5, what: "metadata, 0 at the beginning of the chain" },
    FieldRow { field: Field::Meta1, name: "meta1", bits: 32, part: None, at: None, set: true, word: 6, what: "more of it" },
    FieldRow { field: Field::EthDst, name: "eth.dst", bits: 48, part: Some(Part::Eth), at: Some((Layer::Eth, 0)), set: true, word: 7, what: "destination address" },
    FieldRow { field: Field::EthSrc, name: "eth.src", bits: 48, part: Some(Part::Eth), at: Some((Layer::Eth, 48)), set: true, word: 9, what: "source address" },
    FieldRow { field: Field::EthType, name: "eth.type", bits: 16, part: Some(Part::Type), at: Some((Layer::Kind, 0)), set: false, word: 11, what: "type, behind the VLAN tags" },
    FieldRow { field: Field::VlanId, name: "vlan.id", bits: 12, part: Some(Part::Vlan), at: Some((Layer::Eth, 116)), set: true, word: 12, what: "outer VLAN" },
    FieldRow { field: Field::VlanPcp, name: "vlan.pcp", bits: 3, part: Some(Part::Vlan), at: Some((Layer::Eth, 112)), set: true, word: 13, what: "its priority" },
    FieldRow { field: Field::VlanTci, name: "vlan.tci", bits: 16, part: Some(Part::Vlan), at: Some((Layer::Eth, 112)), set: true, word: 14, what: "both, and the drop eligible bit between them" },
    FieldRow { field: Field::Vlan2Id, name: "vlan2.id", bits: 12, part: Some(Part::Vlan2), at: Some((Layer::Eth, 148)), set: true, word: 15, what: "inner VLAN" },
    FieldRow { field: Field::Vlan2Pcp, name: "vlan2.pcp", bits: 3, part: Some(Part::Vlan2), at: Some((Layer::Eth, 144)), set: true, word: 16, what: "its priority" },
    FieldRow { field: Field::Vlan2Tci, name: "vlan2.tci", bits: 16, part: Some(Part::Vlan2), at: Some((Layer::Eth, 144)), set: true, word: 17, what: "both, and the drop eligible bit between them" },
    FieldRow { field: Field::MplsLabel, name: "mpls.label", bits: 20, part: Some(Part::Mpls), at: Some((Layer::Mpls, 0)), set: true, word: 18, what: "label of the topmost entry" },
    FieldRow { field: Field::MplsTc, name: "mpls.tc", bits: 3, part: Some(Part::Mpls), at: Some((Layer::Mpls, 20)), set: true, word: 19, what: "its traffic class" },
    FieldRow { field: Field::MplsTtl, name: "mpls.ttl", bits: 8, part: Some(Part::Mpls), at: Some((Layer::Mpls, 24)), set: true, word: 20, what: "its time to live" },
    FieldRow { field: Field::IpSrc, name: "ip.src", bits: 32, part: Some(Part::Ip), at: Some((Layer::Net, 96)), set: true, word: 21, what: "source address" },
    FieldRow { field: Field::IpDst, name: "ip.dst", bits: 32, part: Some(Part::Ip), at: Some((Layer::Net, 128)), set: true, word: 22, what: "destination address" },
    FieldRow { field: Field::IpProto, name: "ip.proto", bits: 8, part: Some(Part::Ip), at: Some((Layer::Net, 72)), set: false, word: 23, what: "protocol" },
    FieldRow { field: Field::IpTos, name: "ip.tos", bits: 8, part: Some(Part::Ip), at: Some((Layer::Net, 8)), set: true, word: 24, what: "differentiated services and ECN" },
    FieldRow { field: Field::IpTtl, name: "ip.ttl", bits: 8, part: Some(Part::Ip), at: Some((Layer::Net, 64)), set: true, word: 25, what: "time to live" },
    FieldRow { field: Field::IpLen, name: "ip.len", bits: 16, part: Some(Part::Ip), at: Some((Layer::Net, 16)), set: false, word: 26, what: "total length in bytes, with the header" },
    FieldRow { field: Field::IpId, name: "ip.id", bits: 16, part: Some(Part::Ip), at: Some((Layer::Net, 32)), set: true, word: 27, what: "identification" },
    FieldRow { field: Field::IpFrag, name: "ip.frag", bits: 16, part: Some(Part::Ip), at: Some((Layer::Net, 48)), set: false, word: 28, what: "flags and fragment offset" },
    FieldRow { field: Field::Ip6Src, name: "ip6.src", bits: 128, part: Some(Part::Ip6), at: Some((Layer::Net, 64)), set: true, word: 29, what: "source address" },
    FieldRow { field: Field::Ip6Dst, name: "ip6.dst", bits: 128, part: Some(Part::Ip6), at: Some((Layer::Net, 192)), set: true, word: 33, what: "destination address" },
    FieldRow { field: Field::Ip6Proto, name: "ip6.proto", bits: 8, part: Some(Part::Proto), at: Some((Layer::Proto, 0)), set: false, word: 37, what: "protocol, behind the extension headers" },
    FieldRow { field: Field::Ip6Class, name: "ip6.class", bits: 8, part: Some(Part::Ip6), at: Some((Layer::Net, 4)), set: true, word: 38, what: "traffic class" },
    FieldRow { field: Field::Ip6Label, name: "ip6.label", bits: 20, part: Some(Part::Ip6), at: Some((Layer::Net, 12)), set: true, word: 39, what: "flow label" },
    FieldRow { field: Field::Ip6Hops, name: "ip6.hops", bits: 8, part: Some(Part::Ip6), at: Some((Layer::Net, 56)), set: true, word: 40, what: "hop limit" },
    FieldRow { field: Field::Ip6Len, name: "ip6.len", bits: 16, part: Some(Part::Ip6), at: Some((Layer::Net, 32)), set: false, word: 27, what: "length in bytes of what follows the header of 40" },
    FieldRow { field: Field::TcpSport, name: "tcp.sport", bits: 16, part: Some(Part::Tcp), at: Some((Layer::L4, 0)), set: true, word: 41, what: "source port" },
    FieldRow { field: Field::TcpDport, name: "tcp.dport", bits: 16, part: Some(Part::Tcp), at: Some((Layer::L4, 16)), set: true, word: 42, what: "destination port" },
    FieldRow { field: Field::TcpSeq, name: "tcp.seq", bits: 32, part: Some(Part::Tcp), at: Some((Layer::L4, 32)), set: true, word: 43, what: "sequence number" },
    FieldRow { field: Field::TcpAck, name: "tcp.ack", bits: 32, part: Some(Part::Tcp), at: Some((Layer::L4, 64)), set: true, word: 44, what: "acknowledgment number" },
    FieldRow { field: Field::TcpFlags, name: "tcp.flags", bits: 8, part: Some(Part::Tcp), at: Some((Layer::L4, 104)), set: true, word: 45, what: "CWR, ECE, URG, ACK, PSH, RST, SYN, FIN" },
    FieldRow { field: Field::TcpWindow, name: "tcp.window", bits: 16, part: Some(Part::Tcp), at: Some((Layer::L4, 112)), set: true, word: 46, what: "window, not scaled" },
    FieldRow { field: Field::TcpLen, name: "tcp.len", bits: 16, part: Some(Part::Tcp), at: None, set: false, word: 47, what: "payload in bytes" },
    FieldRow { field: Field::TcpSyn, name: "tcp.syn", bits: 1, part: Some(Part::Tcp), at: Some((Layer::L4, 110)), set: true, word: 48, what: "flag SYN" },
    FieldRow { field: Field::TcpAckFlag, name: "tcp.ack_flag", bits: 1, part: Some(Part::Tcp), at: Some((Layer::L4, 107)), set: true, word: 49, what: "flag ACK" },
    FieldRow { field: Field::TcpFin, name: "tcp.fin", bits: 1, part: Some(Part::Tcp), at: Some((Layer::L4, 111)), set: true, word: 50, what: "flag FIN" },
    FieldRow { field: Field::TcpRst, name: "tcp.rst", bits: 1, part: Some(Part::Tcp), at: Some((Layer::L4, 109)), set: true, word: 51, what: "flag RST" },
    FieldRow { field: Field::UdpSport, name: "udp.sport", bits: 16, part: Some(Part::Udp), at: Some((Layer::L4, 0)), set: true, word: 41, what: "source port" },
    FieldRow { field: Field::UdpDport, name: "udp.dport", bits: 16, part: Some(Part::Udp), at: Some((Layer::L4, 16)), set: true, word: 42, what: "destination port" },
    FieldRow { field: Field::UdpLen, name: "udp.len", bits: 16, part: Some(Part::Udp), at: Some((Layer::L4, 32)), set: false, word: 52, what: "length in bytes, with the header of 8" },
    FieldRow { field: Field::IcmpType, name: "icmp.type", bits: 8, part: Some(Part::Icmp), at: Some((Layer::L4, 0)), set: true, word: 53, what: "type" },
    FieldRow { field: Field::IcmpCode, name: "icmp.code", bits: 8, part: Some(Part::Icmp), at: Some((Layer::L4, 8)), set: true, word: 54, what: "code" },
    FieldRow { field: Field::L4Sport, name: "l4.sport", bits: 16, part: Some(Part::L4), at: Some((Layer::L4, 0)), set: true, word: 41, what: "source port of TCP or UDP" },
    FieldRow { field: Field::L4Dport, name: "l4.dport", bits: 16, part: Some(Part::L4), at: Some((Layer::L4, 16)), set: true, word: 42, what: "destination port of TCP or UDP" },
    FieldRow { field: Field::L4Proto, name: "l4.proto", bits: 8, part: Some(Part::L4), at: Some((Layer::Proto, 0)), set: false, word: 37, what: "6 or 17" },
    FieldRow { field: Field::Data0, name: "data.0", bits: 32, part: Some(Part::Data0), at: Some((Layer::Data, 0)), set: true, word: 55, what: "payload of TCP or UDP: its first 32 bits" },
    FieldRow { field: Field::Data1, name: "data.1", bits: 32, part: Some(Part::Data1), at: Some((Layer::Data, 32)), set: true, word: 56, what: "payload of TCP or UDP: its second 32 bits" },
    FieldRow { field: Field::Data2, name: "data.2", bits: 32, part: Some(Part::Data2), at: Some((Layer::Data, 64)), set: true, word: 57, what: "payload of TCP or UDP: its third 32 bits" },
    FieldRow { field: Field::Data3, name: "data.3", bits: 32, part: Some(Part::Data3), at: Some((Layer::Data, 96)), set: true, word: 58, what: "payload of TCP or UDP: its fourth 32 bits" },
    FieldRow { field: Field::Data4, name: "data.4", bits: 32, part: Some(Part::Data4), at: Some((Layer::Data, 128)), set: true, word: 59, what: "payload of TCP or UDP: its fifth 32 bits" },
    FieldRow { field: Field::Data5, name: "data.5", bits: 32, part: Some(Part::Data5), at: Some((Layer::Data, 160)), set: true, word: 60, what: "payload of TCP or UDP: its sixth 32 bits" },
    FieldRow { field: Field::Data6, name: "data.6", bits: 32, part: Some(Part::Data6), at: Some((Layer::Data, 192)), set: true, word: 61, what: "payload of TCP or UDP: its seventh 32 bits" },
    FieldRow { field: Field::Data7, name: "data.7", bits: 32, part: Some(Part::Data7), at: Some((Layer::Data, 224)), set: true, word: 62, what: "payload of TCP or UDP: its eighth 32 bits" },
];

/// By [`Field`]: where hardware's edits write its lowest word.
pub(crate) static SINKS: [Option<u8>; 60] = [
    None, // port
    None, // len
    None, // time
    None, // hash
    Some(47), // meta0
    Some(48), // meta1
    Some(10), // eth.dst
    Some(8), // eth.src
    None, // eth.type
    Some(31), // vlan.id
    Some(42), // vlan.pcp
    Some(29), // vlan.tci
    Some(30), // vlan2.id
    Some(41), // vlan2.pcp
    Some(28), // vlan2.tci
    Some(23), // mpls.label
    Some(40), // mpls.tc
    Some(39), // mpls.ttl
    Some(6), // ip.src
    Some(5), // ip.dst
    None, // ip.proto
    Some(37), // ip.tos
    Some(35), // ip.ttl
    None, // ip.len
    Some(27), // ip.id
    None, // ip.frag
    Some(4), // ip6.src
    Some(0), // ip6.dst
    None, // ip6.proto
    Some(38), // ip6.class
    Some(22), // ip6.label
    Some(36), // ip6.hops
    None, // ip6.len
    Some(26), // tcp.sport
    Some(25), // tcp.dport
    Some(21), // tcp.seq
    Some(20), // tcp.ack
    Some(32), // tcp.flags
    Some(24), // tcp.window
    None, // tcp.len
    Some(44), // tcp.syn
    Some(46), // tcp.ack_flag
    Some(43), // tcp.fin
    Some(45), // tcp.rst
    Some(26), // udp.sport
    Some(25), // udp.dport
    None, // udp.len
    Some(34), // icmp.type
    Some(33), // icmp.code
    Some(26), // l4.sport
    Some(25), // l4.dport
    None, // l4.proto
    Some(19), // data.0
    Some(18), // data.1
    Some(17), // data.2
    Some(16), // data.3
    Some(15), // data.4
    Some(14), // data.5
    Some(13), // data.6
    Some(12), // data.7
];
