// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Events of messages that rules ask for.

use penstock_app::{Field, Message};
use penstock_ids_compiler::rule::MessageEvent;

/// Whether a message has an event.
pub(crate) fn has(message: &Message, event: MessageEvent) -> bool {
    match event {
        MessageEvent::MissingHost => {
            // Earlier versions need no host, and a URI may name it.
            let newer = message.field(Field::Version).is_some_and(|version| version.eq_ignore_ascii_case(b"HTTP/1.1"));
            newer && headers(message, b"host").next().is_none() && authority(message).is_none()
        }
        MessageEvent::AmbiguousHost => {
            let named = authority(message).map(host);
            let header = headers(message, b"host").next().map(host);
            named.zip(header).is_some_and(|(named, header)| !named.eq_ignore_ascii_case(header))
        }
        MessageEvent::MissingColon => lines(message).any(|line| !line.contains(&b':')),
        MessageEvent::InvalidLength => {
            let is_number = |value: &[u8]| !value.is_empty() && value.iter().all(u8::is_ascii_digit);
            headers(message, b"content-length").any(|value| !is_number(value))
        }
        MessageEvent::DuplicateLength => headers(message, b"content-length").nth(1).is_some(),
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

/// A host without user and port.
fn host(text: &[u8]) -> &[u8] {
    let text = text.rsplit(|byte| *byte == b'@').next().unwrap_or(text);
    match text.iter().rposition(|byte| *byte == b':') {
        Some(colon) if text[colon + 1..].iter().all(u8::is_ascii_digit) => &text[..colon],
        _ => text,
    }
}
