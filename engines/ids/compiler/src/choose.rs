// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Chooses the strings of the filter: the keys that a rule may have, best first.

use penstock_app::{Field, Protocol};

use crate::rule::{Absent, Content, Group, Key, Rule, Step, Transform};

/// Text that most connections carry. A key that stands in it would be found all the time.
const COMMON: &str = "get / http/1.1\r\nhost: www..com\r\npost /index.html http/1.0\r\nuser-agent: mozilla/5.0 (windows nt 10.0; win64; x64) applewebkit/537.36 \
    (khtml, like gecko) chrome/ safari/537.36\r\naccept: */*\r\naccept-encoding: gzip, deflate\r\naccept-language: en-us,en\r\nconnection: keep-alive\r\n\
    connection: close\r\ncontent-type: text/html; charset=utf-8\r\ncontent-type: application/x-www-form-urlencoded\r\ncontent-length: \r\ncache-control: no-cache\r\n\
    referer: http://www.\r\ncookie: \r\nhttp/1.1 200 ok\r\nserver: apache nginx\r\ndate: mon, gmt\r\nlast-modified: \r\nset-cookie: path=/\r\n<!doctype html>\
    <html><head><title><body><script type=\"text/javascript\"></script></div></body></html>function(return this.document.https://";

/// Keys that are tried for a rule before it is left without one.
const TRIED: usize = 12;

/// How rare a byte is, from common to rare.
fn rarity(byte: u8) -> u32 {
    match byte {
        0 | b' ' | b'\r' | b'\n' | 0xFF => 2,
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' => 4,
        0x21..=0x7E => 5,
        _ => 6,
    }
}

/// How good a key is. A repeated byte says less than a new one.
fn score(bytes: &[u8]) -> u32 {
    let lower = bytes.to_ascii_lowercase();
    let fresh = |(at, byte): (usize, &u8)| if lower[..at].contains(byte) { 1 } else { rarity(*byte) };
    let sum: u32 = lower.iter().enumerate().map(fresh).sum();
    if memchr::memmem::find(COMMON.as_bytes(), &lower).is_some() { sum / 4 } else { sum }
}

/// The best windows of a string, with their scores.
fn windows(bytes: &[u8]) -> Vec<(u32, Key)> {
    let length = bytes.len().min(*Key::LENGTHS.end());
    bytes.windows(length.max(1)).filter_map(|window| Some((score(window), Key::of(window)?))).collect()
}

fn ranked(mut keys: Vec<(u32, Key)>) -> Vec<Key> {
    // The order of equal keys depends on nothing but the keys.
    keys.sort_by(|left, right| right.0.cmp(&left.0).then_with(|| left.1.cmp(&right.1)));
    keys.dedup();
    keys.truncate(TRIED);
    keys.into_iter().map(|(_, key)| key).collect()
}

/// A content that must be there.
fn positive(step: &Step) -> Option<&Content> {
    match step {
        Step::Content(content) if !content.negated => Some(content),
        _ => None,
    }
}

/// All keys of these windows, best first, those of a part that the rule names before all others.
fn all(named: Vec<(u32, Key)>, rest: Vec<(u32, Key)>) -> Vec<Key> {
    let mut all = ranked(named);
    all.extend(ranked(rest));
    // Tails are places of last resort.
    let tails: Vec<Key> =
        all.iter().filter_map(|key| Key::of(key.bytes().get(key.bytes().len().checked_sub(4)?..)?)).collect();
    all.extend(tails);
    all
}

/// Keys of a rule about payload or streams, best first: each occurs in every payload or stream that the rule matches.
/// The part that a rule names with `fast_pattern` comes before all else.
#[must_use]
pub(crate) fn keys(rule: &Rule) -> Vec<Key> {
    let named = rule.named.as_ref().filter(|named| named.group.is_none()).and_then(|named| {
        let content = positive(rule.steps.get(named.step)?)?;
        content.bytes.get(named.part.clone())
    });
    let rest = rule.steps.iter().filter_map(positive).flat_map(|content| windows(&content.bytes)).collect();
    all(named.map_or_else(Vec::new, windows), rest)
}

/// The parts of contents of messages that stand in the fields themselves, before any transform, in whatever case: each
/// with its field, and whether the rule names it for the filter.
fn parts(rule: &Rule) -> Vec<(Field, &[u8], bool)> {
    let mut parts = Vec::new();
    let Some(messages) = &rule.messages else { return parts };
    for (number, Group { field, transforms, steps, absent }) in messages.groups.iter().enumerate() {
        if *absent != Absent::Never {
            continue;
        }
        let keeps = |transform: &Transform| transform.keeps_strings() || *transform == Transform::DotPrefix;
        if !transforms.iter().all(keeps) {
            continue;
        }
        // A dot in front is not in the field.
        let dotted = transforms.contains(&Transform::DotPrefix);
        let own = |bytes: &'_ [u8]| usize::from(dotted && bytes.first() == Some(&b'.'));
        for (at, step) in steps.iter().enumerate() {
            let Some(content) = positive(step) else { continue };
            let named = rule.named.as_ref().filter(|named| named.group == Some(number) && named.step == at);
            if let Some(part) = named.and_then(|named| content.bytes.get(named.part.clone())) {
                parts.push((*field, &part[own(part)..], true));
            }
            parts.push((*field, &content.bytes[own(&content.bytes)..], false));
        }
    }
    parts
}

/// Keys of a rule about messages, best first: each occurs in one of the fields that the rule asks about.
#[must_use]
pub(crate) fn message_keys(rule: &Rule) -> Vec<Key> {
    let parts = parts(rule);
    let of = |wanted: bool| {
        parts.iter().filter(|(.., named)| *named == wanted).flat_map(|(_, bytes, _)| windows(bytes)).collect()
    };
    all(of(true), of(false))
}

/// Fields that may have the key of a rule about messages.
pub(crate) fn message_fields(rule: &Rule) -> impl Iterator<Item = Field> {
    // A body that is no form is a file.
    let with_body = |field| [Some(field), (field == Field::File).then_some(Field::Body)];
    parts(rule).into_iter().flat_map(move |(field, ..)| with_body(field)).flatten()
}

/// How a string of a message stands in the bytes of its stream or datagram.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// As it is.
    Raw,
    /// Parts of it do; or bytes that stand before all such messages.
    Transformable,
    /// Perhaps nowhere: the host looks at every frame.
    HostOnly,
}

/// The card's search for a rule about messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OnCard {
    /// One of these keys is looked for, the first one that has a place; none: the guards are enough.
    pub keys: Vec<Key>,
    /// The card also searches for all of these.
    pub guards: Vec<Key>,
}

/// Names of headers that say that a body is not sent as it is; the parser takes no other.
const ENCODED: [&[u8]; 2] = [b"nt-encod", b"er-encod"];
/// Bytes that every HTTP direction has before its first message is complete: a version, or a method that the parser
/// knows.
const HTTP: [&str; 21] = [
    "http/",
    "get",
    "post",
    "head",
    "put",
    "delete",
    "options",
    "trace",
    "connect",
    "patch",
    "propfind",
    "proppatch",
    "mkcol",
    "copy",
    "move",
    "lock",
    "unlock",
    "report",
    "search",
    "subscribe",
    "m-search",
];
/// Headers of TLS records of a handshake: the parser takes no other version.
const TLS: [&[u8]; 5] = [&[22, 3, 0], &[22, 3, 1], &[22, 3, 2], &[22, 3, 3], &[22, 3, 4]];

/// Bytes by which clients of SMTP and FTP begin, and servers.
const SMTP: [&[u8]; 5] = [b"ehlo ", b"helo ", b"lhlo ", b"quit\r", b"220"];
const FTP: [&[u8]; 4] = [b"user ", b"pass ", b"port ", b"220"];

/// Bytes that split the strings of a field: the pieces between them stand in the stream as they are. None: no piece
/// need.
fn splits(field: Field) -> Option<(&'static [u8], bool)> {
    Some(match field {
        Field::Line
        | Field::Method
        | Field::UriRaw
        | Field::Version
        | Field::StatusCode
        | Field::StatusMessage
        | Field::HeadersRaw => (b"", false),
        // Lines may be folded, and values of several headers are joined.
        Field::Headers | Field::HeaderNames | Field::Header | Field::Start => (b" \t\r\n:,", false),
        Field::UserAgent
        | Field::Host
        | Field::HostRaw
        | Field::Accept
        | Field::AcceptEncoding
        | Field::AcceptLanguage
        | Field::Referer
        | Field::Connection
        | Field::ContentType
        | Field::ContentLength
        | Field::Cookie
        | Field::Server
        | Field::Location => (b" \t,", false),
        Field::Body => (b"", true),
        // Lines of a mail have other ends, and dots before them.
        Field::File => (b"\r\n.", true),
        // Labels have lengths between them.
        Field::Query
        | Field::QuestionName
        | Field::AnswerName
        | Field::AuthorityName
        | Field::AdditionalName
        | Field::ResponseName => (b".", false),
        Field::SshProto
        | Field::SshSoftware
        | Field::Helo
        | Field::MailFrom
        | Field::Recipient
        | Field::FtpCommand
        | Field::FtpCommandData
        | Field::FtpReply
        | Field::FtpCode => (b"", false),
        // The lists of algorithms have lengths between them.
        Field::HasshString | Field::HasshServerString => (b";", false),
        _ => return None,
    })
}

/// The best string of a rule: whether the rule names it, its score, its field, and its windows with their scores.
type Best = (bool, u32, Field, Vec<(u32, Key)>);

/// Bytes of the filter's keys that stand for `http`: each method with what follows it, and the version. A request
/// has white space before the version and a response does not, so no response has a key for requests alone.
fn http_guards(only_requests: bool) -> Vec<Key> {
    let with = |word: &&str| -> Vec<String> {
        if !word.ends_with('/') {
            vec![format!("{word} "), format!("{word}\t")]
        } else if only_requests {
            vec![format!(" {word}"), format!("\t{word}")]
        } else {
            vec![(*word).to_owned()]
        }
    };
    let tail = |text: String| Key::of(&text.as_bytes()[text.len().saturating_sub(*Key::LENGTHS.end())..]);
    HTTP.iter().flat_map(with).filter_map(tail).collect()
}

/// The card's search for a rule about messages. None: no string announces such a message.
#[must_use]
pub(crate) fn on_card(rule: &Rule) -> (Class, Option<OnCard>) {
    let Some(messages) = &rule.messages else { return (Class::HostOnly, None) };
    let fixed = |keys: &[&[u8]]| keys.iter().filter_map(|key| Key::of(key)).collect::<Vec<_>>();
    let mut best: Option<Best> = None;
    for (field, bytes, named) in parts(rule) {
        let Some((split, _)) = splits(field) else { continue };
        let pieces = bytes.split(|byte| split.contains(byte));
        let windows: Vec<(u32, Key)> = pieces.flat_map(windows).collect();
        let Some(score) = windows.iter().map(|(score, _)| *score).max() else { continue };
        if best.as_ref().is_none_or(|(known, most, ..)| (named, score) > (*known, *most)) {
            best = Some((named, score, field, windows));
        }
    }
    if let Some((_, _, field, windows)) = best {
        let (split, encoded) = splits(field).unwrap_or_default();
        let guards = if encoded { fixed(&ENCODED) } else { Vec::new() };
        let class = if split.is_empty() && !encoded { Class::Raw } else { Class::Transformable };
        return (class, Some(OnCard { keys: all(Vec::new(), windows), guards }));
    }
    let guards = match messages.protocol {
        Some(Protocol::Http) => http_guards(messages.to_server == Some(true)),
        Some(Protocol::Tls) => fixed(&TLS),
        Some(Protocol::Dns) => return (Class::HostOnly, None),
        Some(Protocol::Ssh) => fixed(&[b"ssh-"]),
        Some(Protocol::Smtp) => fixed(&SMTP),
        Some(Protocol::Ftp) => fixed(&FTP),
        None => [http_guards(false), fixed(&SMTP)].concat(),
    };
    (Class::Transformable, Some(OnCard { keys: Vec::new(), guards }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::set::{Options, RuleFile, Ruleset};

    #[test]
    fn strings_of_messages_have_classes() {
        let class = |protocol: &str, options: &str| {
            let text = format!("alert {protocol} any any -> any any ({options} sid:1;)");
            let set = Ruleset::read(&[RuleFile { name: "r".into(), text }], &Options::default()).unwrap();
            let (class, card) = on_card(&set.rules[0]);
            let text = |key: &Key| String::from_utf8_lossy(key.bytes()).into_owned();
            let first = card.as_ref().map(|card| card.keys.first().map(text));
            (class, first, card.map_or(0, |card| card.guards.len()))
        };
        let key = |text: &str| Some(Some(text.to_owned()));
        assert_eq!(class("http", "http.uri.raw; content:\"/Evil%2e\";"), (Class::Raw, key("/evil%2e"), 0));
        // A piece of a value without white space, where lines fold; a label; a body that may be encoded.
        assert_eq!(class("http", "http.user_agent; content:\"a bad-bot\";"), (Class::Transformable, key("bad-bot"), 0));
        assert_eq!(class("http", "http.header; content:\"X-Y: Zebra\";"), (Class::Transformable, key("zebra"), 0));
        assert_eq!(
            class("dns", "dns.query; dotprefix; content:\".evil.com\";"),
            (Class::Transformable, key("evil"), 0)
        );
        assert_eq!(
            class("http", "http.request_body; content:\"shellcode\";"),
            (Class::Transformable, key("shellcod"), 2)
        );
        // Nothing of a decoded URI need be in the stream: all directions of the protocol go to the host.
        assert_eq!(class("http", "http.uri; content:\"/evil\";"), (Class::Transformable, Some(None), 42));
        // A rule about requests has keys that no response begins with; one about responses has their first bytes.
        assert_eq!(class("http", "http.header_names; flow:to_server; content:\"|0d 0a|\";").2, 42);
        assert_eq!(class("http", "http.header_names; flow:to_client; content:\"|0d 0a|\";").2, 41);
        assert_eq!(class("tls", "tls.sni; content:\"evil\";"), (Class::Transformable, Some(None), 5));
        assert_eq!(class("dns", "dns.query; content:\"a.b\";"), (Class::HostOnly, None, 0));
        assert_eq!(
            class("http", "http.user_agent; to_md5; content:\"|00 01 02 03|\";"),
            (Class::Transformable, Some(None), 42)
        );
    }
}
