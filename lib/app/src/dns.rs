// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! DNS messages (RFC 1035), over UDP and in the frames of TCP.

use crate::field::{Field, Protocol};
use crate::side::{Emit, Exchange, Message, whole};

/// Questions and answers of a message that are looked at.
const MOST: usize = 64;
/// Longest name as text, and pointers that one name may follow.
const NAME: usize = 1025;
const POINTERS: usize = 64;
/// Bytes of TXT and of unknown data that an answer keeps.
const DATA: usize = 256;

/// A question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// Labels with dots between them, without a dot at the end.
    pub name: Vec<u8>,
    /// Type of record.
    pub kind: u16,
}

/// A record of the answer section.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// Name of the record.
    pub name: Vec<u8>,
    /// Type of record.
    pub kind: u16,
    /// Seconds that it may be kept.
    pub ttl: u32,
    /// Address, name or text; empty for other types.
    pub data: String,
}

/// A message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dns {
    /// Id that query and response share.
    pub id: u16,
    /// Flags as they stand in the header.
    pub flags: u16,
    /// Questions.
    pub questions: Vec<Question>,
    /// Answers.
    pub answers: Vec<Answer>,
    /// Names of records of the authority section.
    pub authorities: Vec<Vec<u8>>,
    /// Names of additional records.
    pub additionals: Vec<Vec<u8>>,
    /// Names in the data of records of all sections: of CNAME, NS, PTR and MX, and of SOA the primary server.
    pub targets: Vec<Vec<u8>>,
    /// The message ends early, or has more than is looked at.
    pub cut: bool,
}

/// Name of a type of record; None: it is shown as a number.
#[must_use]
pub fn type_name(kind: u16) -> Option<&'static str> {
    Some(match kind {
        1 => "A",
        2 => "NS",
        5 => "CNAME",
        6 => "SOA",
        12 => "PTR",
        13 => "HINFO",
        15 => "MX",
        16 => "TXT",
        28 => "AAAA",
        33 => "SRV",
        35 => "NAPTR",
        41 => "OPT",
        43 => "DS",
        46 => "RRSIG",
        47 => "NSEC",
        48 => "DNSKEY",
        64 => "SVCB",
        65 => "HTTPS",
        255 => "ANY",
        _ => return None,
    })
}

fn word(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(bytes.get(at..at.checked_add(2)?)?.try_into().ok()?))
}

/// The name at an offset, and the offset behind it.
fn name(bytes: &[u8], begin: usize) -> Option<(Vec<u8>, usize)> {
    let (mut out, mut at, mut behind, mut pointers) = (Vec::new(), begin, None, 0);
    loop {
        let length = *bytes.get(at)?;
        match length >> 6 {
            0 if length == 0 => return Some((out, behind.unwrap_or(at + 1))),
            0 => {
                let label = bytes.get(at + 1..at + 1 + usize::from(length))?;
                if !out.is_empty() {
                    out.push(b'.');
                }
                out.extend_from_slice(label);
                if out.len() > NAME {
                    return None;
                }
                at += 1 + usize::from(length);
            }
            3 => {
                let to = usize::from(word(bytes, at)? & 0x3FFF);
                behind.get_or_insert(at + 2);
                pointers += 1;
                if pointers > POINTERS {
                    return None;
                }
                at = to;
            }
            _ => return None,
        }
    }
}

/// The name in the data of a record, if its type has one there.
fn target(bytes: &[u8], at: usize, kind: u16) -> Option<Vec<u8>> {
    let begin = match kind {
        2 | 5 | 6 | 12 => at,
        15 => at + 2,
        _ => return None,
    };
    name(bytes, begin).map(|(name, _)| name)
}

/// Data of a record as text.
fn data(bytes: &[u8], at: usize, length: usize, kind: u16) -> Option<String> {
    let own = bytes.get(at..at.checked_add(length)?)?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Some(match kind {
        1 => <[u8; 4]>::try_from(own).map(|own| std::net::Ipv4Addr::from(own).to_string()).unwrap_or_default(),
        28 => <[u8; 16]>::try_from(own).map(|own| std::net::Ipv6Addr::from(own).to_string()).unwrap_or_default(),
        2 | 5 | 12 | 15 => target(bytes, at, kind).map(|name| text(&name)).unwrap_or_default(),
        16 => {
            let (mut out, mut rest) = (Vec::new(), own);
            while let Some((length, behind)) = rest.split_first() {
                let Some((part, behind)) = behind.split_at_checked(usize::from(*length)) else { break };
                out.extend_from_slice(part);
                rest = behind;
            }
            out.truncate(DATA);
            text(&out)
        }
        _ => String::new(),
    })
}

/// Reads a message. The part before damage counts. None: it has no header.
pub(crate) fn read(bytes: &[u8]) -> Option<Dns> {
    let header = bytes.get(..12)?;
    let mut dns = Dns {
        id: word(header, 0)?,
        flags: word(header, 2)?,
        questions: Vec::new(),
        answers: Vec::new(),
        authorities: Vec::new(),
        additionals: Vec::new(),
        targets: Vec::new(),
        cut: true,
    };
    let mut counts = [0; 4];
    for (at, count) in counts.iter_mut().enumerate() {
        *count = usize::from(word(header, 4 + 2 * at)?);
    }
    dns.cut = sections(bytes, counts, &mut dns).is_none() || counts[..2].iter().any(|count| *count > MOST);
    Some(dns)
}

fn sections(bytes: &[u8], counts: [usize; 4], dns: &mut Dns) -> Option<()> {
    let mut at = 12;
    for number in 0..counts[0] {
        let (name, behind) = name(bytes, at)?;
        let kind = word(bytes, behind)?;
        bytes.get(behind..behind + 4)?;
        if number < MOST {
            dns.questions.push(Question { name, kind });
        }
        at = behind + 4;
    }
    for _ in 0..counts[1].min(MOST) {
        let (name, behind) = name(bytes, at)?;
        let kind = word(bytes, behind)?;
        let ttl = u32::from(word(bytes, behind + 4)?) << 16 | u32::from(word(bytes, behind + 6)?);
        let length = usize::from(word(bytes, behind + 8)?);
        let data = data(bytes, behind + 10, length, kind)?;
        dns.answers.push(Answer { name, kind, ttl, data });
        dns.targets.extend(target(bytes, behind + 10, kind));
        at = behind + 10 + length;
    }
    if counts[1] > MOST {
        // The other sections are behind answers that are not looked at.
        return Some(());
    }
    for (count, names) in [(counts[2], &mut dns.authorities), (counts[3], &mut dns.additionals)] {
        for _ in 0..count.min(MOST) {
            let (name, behind) = name(bytes, at)?;
            let kind = word(bytes, behind)?;
            let length = usize::from(word(bytes, behind + 8)?);
            bytes.get(behind + 10..behind + 10 + length)?;
            names.push(name);
            dns.targets.extend(target(bytes, behind + 10, kind));
            at = behind + 10 + length;
        }
        if count > MOST {
            break;
        }
    }
    Some(())
}

/// Whether these bytes may be a message: few of the values of the header are in use.
pub(crate) fn plausible(bytes: &[u8]) -> bool {
    // Bit 6 of the flags is always 0, operation codes above 6 are not assigned, and a query asks something.
    bytes.len() >= 12
        && bytes[3] & 0x40 == 0
        && bytes[2] >> 3 & 15 <= 6
        && (bytes[2] & 0x80 != 0 || bytes[4..6] != [0, 0])
}

/// A message with its fields.
pub(crate) fn message(dns: Dns) -> Message {
    let number = |value: u32| value.to_be_bytes().to_vec();
    let query = dns.flags & 0x8000 == 0;
    let mut fields = vec![(Field::Opcode, number(u32::from(dns.flags >> 11 & 15)))];
    if !query {
        fields.push((Field::ResponseCode, number(u32::from(dns.flags & 15))));
    }
    for question in &dns.questions {
        if query {
            fields.push((Field::Query, question.name.clone()));
        }
        fields.push((Field::QuestionName, question.name.clone()));
        fields.push((Field::RecordType, number(question.kind.into())));
    }
    for answer in &dns.answers {
        fields.push((Field::AnswerName, answer.name.clone()));
        fields.push((Field::RecordType, number(answer.kind.into())));
    }
    for (kind, names) in [(Field::AuthorityName, &dns.authorities), (Field::AdditionalName, &dns.additionals)] {
        fields.extend(names.iter().map(|name| (kind, name.clone())));
    }
    if !query {
        let questions = dns.questions.iter().map(|question| &question.name);
        let answers = dns.answers.iter().map(|answer| &answer.name);
        let all = questions.chain(answers).chain(&dns.authorities).chain(&dns.additionals).chain(&dns.targets);
        fields.extend(all.map(|name| (Field::ResponseName, name.clone())));
    }
    Message { fields, dns: Some(dns), ..Message::new(Protocol::Dns, query) }
}

/// Messages in a TCP stream: a length of two bytes stands before each.
#[derive(Debug, Clone, Default)]
pub(crate) struct Stream {
    bytes: Vec<u8>,
}

impl Stream {
    pub(crate) fn push(&mut self, mut bytes: &[u8], exchange: &mut Exchange, emit: &mut Emit<'_>) {
        while !bytes.is_empty() {
            let wanted = if self.bytes.len() < 2 {
                2
            } else {
                2 + usize::from(u16::from_be_bytes([self.bytes[0], self.bytes[1]]))
            };
            let (taken, rest) = bytes.split_at(bytes.len().min(wanted - self.bytes.len()));
            self.bytes.extend_from_slice(taken);
            bytes = rest;
            let length = self.bytes.len();
            if length == wanted && (length > 2 || self.bytes == [0, 0]) {
                match read(&self.bytes[2..]) {
                    Some(dns) => whole(&message(dns), exchange, emit),
                    None => exchange.counters.malformed += 1,
                }
                self.bytes.clear();
            }
        }
    }

    pub(crate) fn memory(&self) -> usize {
        self.bytes.capacity()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_follow_pointers() {
        let bytes = b"\x03www\x07Example\x03com\0\x04mail\xC0\x04\xC0\x11\xC0\x1a";
        assert_eq!(name(bytes, 0), Some((b"www.Example.com".to_vec(), 17)));
        assert_eq!(name(bytes, 17), Some((b"mail.Example.com".to_vec(), 24)));
        assert_eq!(name(bytes, 24), Some((b"mail.Example.com".to_vec(), 26)));
        // A pointer to itself, one behind the end, a label that is too long, a reserved kind.
        assert_eq!((name(bytes, 26), name(b"\xC0", 0)), (None, None));
        assert_eq!((name(b"\x05abc", 0), name(b"\x40abc", 0)), (None, None));
    }

    #[test]
    fn damage_keeps_what_came_before() {
        let head = [0, 1, 1, 0, 0, 2, 0, 0, 0, 0, 0, 0];
        let bytes = [&head[..], b"\x01a\0\0\x01\0\x01", b"\x05b"].concat();
        let dns = read(&bytes).unwrap();
        assert_eq!((dns.questions.len(), dns.cut), (1, true));
        assert_eq!(read(&head[..11]), None);
    }
}
