// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Protocols that the engine knows by the first bytes of a direction or datagram, and does not read.

use crate::rule::Protocol;

/// Such a protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wire {
    /// Calls of DCE/RPC over TCP.
    Dcerpc,
    /// DHCP.
    Dhcp,
    /// DNP3.
    Dnp3,
    /// EtherNet/IP.
    Enip,
    /// Key exchange of IPsec.
    Ike,
    /// IMAP.
    Imap,
    /// Kerberos.
    Krb5,
    /// LDAP.
    Ldap,
    /// Modbus over TCP.
    Modbus,
    /// MQTT.
    Mqtt,
    /// NFS over TCP.
    Nfs,
    /// NTP.
    Ntp,
    /// PostgreSQL.
    Pgsql,
    /// POP3.
    Pop3,
    /// QUIC.
    Quic,
    /// RDP.
    Rdp,
    /// RFB (VNC).
    Rfb,
    /// SIP.
    Sip,
    /// SMB.
    Smb,
    /// SNMP.
    Snmp,
    /// Telnet.
    Telnet,
    /// TFTP.
    Tftp,
}

/// The protocols with their names in rules, and what carries them; `ip` stands for TCP and UDP.
const NAMES: [(&str, Wire, Protocol); 22] = [
    ("dcerpc", Wire::Dcerpc, Protocol::Tcp),
    ("dhcp", Wire::Dhcp, Protocol::Udp),
    ("dnp3", Wire::Dnp3, Protocol::Ip),
    ("enip", Wire::Enip, Protocol::Ip),
    ("ike", Wire::Ike, Protocol::Udp),
    ("imap", Wire::Imap, Protocol::Tcp),
    ("krb5", Wire::Krb5, Protocol::Ip),
    ("ldap", Wire::Ldap, Protocol::Tcp),
    ("modbus", Wire::Modbus, Protocol::Tcp),
    ("mqtt", Wire::Mqtt, Protocol::Tcp),
    ("nfs", Wire::Nfs, Protocol::Tcp),
    ("ntp", Wire::Ntp, Protocol::Udp),
    ("pgsql", Wire::Pgsql, Protocol::Tcp),
    ("pop3", Wire::Pop3, Protocol::Tcp),
    ("quic", Wire::Quic, Protocol::Udp),
    ("rdp", Wire::Rdp, Protocol::Tcp),
    ("rfb", Wire::Rfb, Protocol::Tcp),
    ("sip", Wire::Sip, Protocol::Ip),
    ("smb", Wire::Smb, Protocol::Tcp),
    ("snmp", Wire::Snmp, Protocol::Udp),
    ("telnet", Wire::Telnet, Protocol::Tcp),
    ("tftp", Wire::Tftp, Protocol::Udp),
];

/// First words of requests and answers of SIP.
const SIP: [&[u8]; 15] = [
    b"INVITE sip",
    b"REGISTER sip",
    b"OPTIONS sip",
    b"ACK sip",
    b"BYE sip",
    b"CANCEL sip",
    b"SUBSCRIBE sip",
    b"NOTIFY sip",
    b"MESSAGE sip",
    b"PUBLISH sip",
    b"INFO sip",
    b"REFER sip",
    b"UPDATE sip",
    b"PRACK sip",
    b"SIP/2.0 ",
];

/// Whether bytes begin as a message of DCE/RPC: version, type, flags, how it writes numbers, and a length that has room
/// for the header. The first bytes alone are also those of SOCKS5.
fn is_dcerpc(first: &[u8]) -> bool {
    let length = match *first {
        [5, 0 | 1, 0..=19, _, 0x10, 0, 0, 0, low, high, ..] => u16::from_le_bytes([low, high]),
        [5, 0 | 1, 0..=19, _, 0, 0, 0, 0, high, low, ..] => u16::from_be_bytes([high, low]),
        _ => return false,
    };
    length >= 16
}

/// Whether bytes begin as the message of MQTT that opens a session: its length has one to four bytes, all but the last
/// one with the top bit.
fn is_mqtt(first: &[u8]) -> bool {
    let Some((0x10, rest)) = first.split_first() else { return false };
    let length = rest.iter().take_while(|byte| **byte >= 0x80).count() + 1;
    let name = rest.get(length..).filter(|_| length <= 4).unwrap_or_default();
    name.starts_with(b"\0\x04MQTT") || name.starts_with(b"\0\x06MQIsdp")
}

impl Wire {
    /// First bytes of a direction that decide.
    pub const BYTES: usize = 13;

    /// The protocol with this name in rules, and what carries it.
    pub(crate) fn named(name: &str) -> Option<(Self, Protocol)> {
        NAMES.iter().find(|(known, ..)| *known == name).map(|(_, wire, protocol)| (*wire, *protocol))
    }

    /// Its name in rules and records.
    #[must_use]
    pub fn name(self) -> &'static str {
        NAMES.iter().find(|(_, wire, _)| *wire == self).map_or("", |(name, ..)| name)
    }

    /// The protocol of a direction of a TCP connection that begins with these bytes, by them and by its ports.
    #[must_use]
    pub fn of_stream(first: &[u8], ports: [u16; 2]) -> Option<Self> {
        let at = |port: u16| ports.contains(&port);
        match first {
            [_, _, _, _, 0xFD..=0xFF, b'S', b'M', b'B', ..] => Some(Self::Smb),
            // A session of NetBIOS begins before the first message.
            [0x81..=0x85, 0, ..] if at(139) => Some(Self::Smb),
            _ if is_dcerpc(first) => Some(Self::Dcerpc),
            [b'R', b'F', b'B', b' ', b'0', b'0', ..] => Some(Self::Rfb),
            _ if is_mqtt(first) => Some(Self::Mqtt),
            [0x20, 2, 0 | 1, ..] if at(1883) => Some(Self::Mqtt),
            [b'*', b' ', b'O', b'K', b' ', ..] => Some(Self::Imap),
            [b'+', b'O', b'K', ..] => Some(Self::Pop3),
            [3, 0, _, _, _, 0xD0 | 0xE0, ..] if at(3389) => Some(Self::Rdp),
            [0xFF, 0xFB..=0xFE, _, ..] if at(23) => Some(Self::Telnet),
            [_, _, _, _, 0x6A..=0x6E | 0x7E, ..] if at(88) => Some(Self::Krb5),
            [_, _, 0, 0, _, _, _, _, ..] if at(502) => Some(Self::Modbus),
            [0x30, _, ..] if at(389) || at(3268) => Some(Self::Ldap),
            [0, 0, _, _, 0, 3, 0, 0, ..] | [0, 0, 0, 8, 4, 0xD2, 0x16, 0x2F, ..] if at(5432) => Some(Self::Pgsql),
            [0x80..=0xFF, _, _, _, _, _, _, _, 0, 0, 0, 0 | 1, ..] if at(2049) => Some(Self::Nfs),
            _ => Self::of_both(first, ports),
        }
    }

    /// The protocol of a datagram, by its first bytes and its ports.
    #[must_use]
    pub fn of_datagram(payload: &[u8], ports: [u16; 2]) -> Option<Self> {
        let at = |port: u16| ports.contains(&port);
        match payload {
            [0x30, ..] if at(161) || at(162) => Some(Self::Snmp),
            [0, 1..=6, _, _, ..] if at(69) => Some(Self::Tftp),
            [0x08..=0x27 | 0xC8..=0xE7, ..] if at(123) && payload.len() >= 48 => Some(Self::Ntp),
            _ if (at(67) || at(68)) && payload.get(236..240) == Some(&[0x63, 0x82, 0x53, 0x63]) => Some(Self::Dhcp),
            _ if at(500) && payload.len() >= 28 && matches!(payload[17], 0x10 | 0x20) => Some(Self::Ike),
            [0xC0..=0xFF, _, _, _, _, ..] if at(443) || at(80) => Some(Self::Quic),
            [0x6A..=0x6E | 0x7E, ..] if at(88) => Some(Self::Krb5),
            _ => Self::of_both(payload, ports),
        }
    }

    /// Protocols that come in streams and datagrams alike.
    fn of_both(first: &[u8], ports: [u16; 2]) -> Option<Self> {
        let at = |port: u16| ports.contains(&port);
        match first {
            [5, 0x64, ..] if at(20_000) => Some(Self::Dnp3),
            [4 | 0x63..=0x66 | 0x6F | 0x70, 0, _, _, ..] if at(44_818) => Some(Self::Enip),
            _ if SIP.iter().any(|word| first.starts_with(word)) => Some(Self::Sip),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_bytes_name_the_protocol() {
        let stream = |bytes: &[u8], port| Wire::of_stream(bytes, [40_000, port]).map(Wire::name);
        assert_eq!(stream(b"\0\0\0\x85\xffSMBr", 9), Some("smb"));
        assert_eq!((stream(b"\x81\0\0\x44 abc", 139), stream(b"\x81\0\0\x44 abc", 445)), (Some("smb"), None));
        assert_eq!(stream(b"\x05\0\x0b\x03\x10\0\0\0\x48\0\0\0\x01", 135), Some("dcerpc"));
        assert_eq!(stream(b"\x05\0\x0b\x03\0\0\0\0\0\x48\0\0\0", 135), Some("dcerpc"));
        // Another type, and lengths without room for a header.
        assert_eq!(stream(b"\x05\0\x55\x03\x10\0\0\0\x48\0\0\0\x01", 135), None);
        assert_eq!(stream(b"\x05\0\x0b\x03\x10\0\0\0\x0f\0\0\0\x01", 135), None);
        assert_eq!(stream(b"\x05\0\x0b\x03\0\0\0\0\0\x0f\0\0\0", 135), None);
        // Both directions of SOCKS5: greeting and request, choice and answer.
        assert_eq!(stream(b"\x05\x01\0\x05\x01\0\x01\x0a\0\0\x01\0\x50", 1080), None);
        assert_eq!(stream(b"\x05\0\x05\0\0\x01\x0a\0\0\x01\0\x50", 1080), None);
        assert_eq!((stream(b"* OK ready", 143), stream(b"+OK hello", 110)), (Some("imap"), Some("pop3")));
        assert_eq!((stream(b"\xff\xfd\x18", 23), stream(b"\xff\xfd\x18", 24)), (Some("telnet"), None));
        assert_eq!(stream(b"\x10\x0c\0\x04MQTT\x04", 5), Some("mqtt"));
        assert_eq!(stream(b"\x10\x8c\x80\x80\x01\0\x06MQIsdp", 5), Some("mqtt"));
        assert_eq!(
            (stream(b"\x10\x8c\x01\0\x05MQTTx", 5), stream(b"\x10\xff\xff\xff\xff\x01\0\x04MQTT", 5)),
            (None, None)
        );
        assert_eq!((stream(b"INVITE sip:a@b", 5060), stream(b"INVITE them all", 5060)), (Some("sip"), None));
        let datagram = |bytes: &[u8], port| Wire::of_datagram(bytes, [port, 40_000]).map(Wire::name);
        assert_eq!((datagram(b"\x30\x26\x02\x01", 161), datagram(b"\x30\x26\x02\x01", 53)), (Some("snmp"), None));
        assert_eq!((datagram(b"\0\x01file\0", 69), datagram(b"SIP/2.0 200 OK", 1)), (Some("tftp"), Some("sip")));
        for word in SIP {
            assert!(word.len() <= Wire::BYTES);
            assert_eq!(stream(&[word, b"s:a@b.test".as_slice()].concat()[..Wire::BYTES], 5060), Some("sip"));
        }
        for (name, wire, protocol) in NAMES {
            assert_eq!((Wire::named(name), wire.name()), (Some((wire, protocol)), name));
        }
    }
}
