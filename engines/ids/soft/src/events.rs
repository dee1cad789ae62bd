// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Events of messages that rules ask for.

use penstock_app::{Field, Message};
use penstock_ids_compiler::rule::MessageEvent;

/// Whether a message has an event.
pub(crate) fn has(message: &Message, event: MessageEvent) -> bool {
    match event {
        MessageEvent::MissingHost => {
            // Earlier versions need no host. A URI that names it does not stand for the header.
            let newer = message.field(Field::Version).is_some_and(|version| version.eq_ignore_ascii_case(b"HTTP/1.1"));
            newer && headers(message, b"host").next().is_none()
        }
        MessageEvent::AmbiguousHost => {
            let header = headers(message, b"host").next().map(host);
            authority(message).and_then(host).zip(header).is_some_and(|(named, header)| {
                header.is_none_or(|header| {
                    let ports = named.1.zip(header.1);
                    !named.0.eq_ignore_ascii_case(header.0) || ports.is_some_and(|(named, header)| named != header)
                })
            })
        }
        MessageEvent::MissingColon => lines(message).any(|line| !line.contains(&b':')),
        MessageEvent::InvalidLength => headers(message, b"content-length").any(|value| length(value).is_none()),
        MessageEvent::DuplicateLength => {
            let mut all = headers(message, b"content-length").map(length);
            let first = all.next().flatten();
            all.any(|other| first.is_none() || other != first)
        }
        MessageEvent::Hello => true,
        MessageEvent::Malformed => message.dns.as_ref().is_some_and(|dns| dns.cut),
    }
}

/// Lines of the headers of a message that begin one.
fn lines(message: &Message) -> impl Iterator<Item = &[u8]> {
    let all = message.field(Field::HeadersRaw).unwrap_or_default();
    let lines = all.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii_end);
    lines.filter(|line| line.first().is_some_and(|first| !matches!(first, b' ' | b'\t')))
}

/// Values of headers with this name.
fn headers<'a>(message: &'a Message, name: &'static [u8]) -> impl Iterator<Item = &'a [u8]> {
    lines(message).filter_map(move |line| {
        let colon = line.iter().position(|byte| *byte == b':')?;
        line[..colon].trim_ascii().eq_ignore_ascii_case(name).then(|| line[colon + 1..].trim_ascii())
    })
}

/// The part of a URI that names the host.
fn authority(message: &Message) -> Option<&[u8]> {
    let uri = message.field(Field::UriRaw)?;
    let at = uri.windows(3).position(|bytes| bytes == b"://").filter(|at| !uri[..*at].contains(&b'/'))?;
    uri[at + 3..].split(|byte| matches!(byte, b'/' | b'?' | b'#')).next()
}

/// The number that a value of Content-Length stands for: its first digits, whatever stands around them.
fn length(value: &[u8]) -> Option<i64> {
    let digits = &value[value.iter().position(u8::is_ascii_digit)?..];
    let end = digits.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(digits.len());
    str::from_utf8(&digits[..end]).ok()?.parse().ok()
}

/// A host without user, and its port; None: there is no host.
fn host(text: &[u8]) -> Option<(&[u8], Option<u16>)> {
    let text = text.rsplit(|byte| *byte == b'@').next().unwrap_or(text).trim_ascii();
    let end = match text.first()? {
        b'[' => text.iter().position(|byte| *byte == b']')? + 1,
        _ => text.iter().position(|byte| *byte == b':').unwrap_or(text.len()),
    };
    let (name, rest) = text.split_at(end);
    let port = rest.strip_prefix(b":").and_then(|port| str::from_utf8(port).ok()?.trim().parse().ok());
    Some((name.strip_suffix(b".").unwrap_or(name), port))
}
