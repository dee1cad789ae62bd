// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Commands and replies of FTP (RFC 959).

use crate::field::{Field, Protocol};
use crate::lines::Lines;
use crate::side::{Emit, Exchange, Limits, Message, whole};

/// Lines of a reply that are looked at.
const LINES: usize = 64;

/// One direction of a control connection.
#[derive(Debug, Clone)]
pub(crate) struct Ftp {
    to_server: bool,
    lines: Lines,
    /// Lines of the reply that is not complete, and its code.
    reply: Vec<Vec<u8>>,
    code: Vec<u8>,
}

/// The code of a line of a reply, and the byte behind it.
fn code(line: &[u8]) -> Option<(&[u8], Option<u8>)> {
    let code = line.get(..3)?;
    code.iter().all(u8::is_ascii_digit).then(|| (code, line.get(3).copied()))
}

impl Ftp {
    pub(crate) fn new(to_server: bool) -> Self {
        Self { to_server, lines: Lines::default(), reply: Vec::new(), code: Vec::new() }
    }

    pub(crate) fn memory(&self) -> usize {
        self.lines.memory() + self.reply.iter().map(|line| line.capacity() + 24).sum::<usize>()
    }

    pub(crate) fn push(&mut self, bytes: &[u8], limits: &Limits, exchange: &mut Exchange, emit: &mut Emit<'_>) {
        let mut rest = bytes;
        while !rest.is_empty() {
            let (taken, line) = self.lines.take(rest, limits.line);
            rest = &rest[taken..];
            match line {
                Some(line) if self.to_server => command(&line, exchange, emit),
                Some(line) => self.reply(line, exchange, emit),
                None => {}
            }
        }
    }

    /// Takes a line of a reply. A reply of several lines ends with a line that has its code and a space.
    fn reply(&mut self, line: Vec<u8>, exchange: &mut Exchange, emit: &mut Emit<'_>) {
        let more = match code(&line) {
            Some((code, behind)) if self.reply.is_empty() => {
                self.code = code.to_vec();
                behind == Some(b'-')
            }
            Some((code, behind)) => code != self.code || behind == Some(b'-'),
            None => !self.reply.is_empty(),
        };
        if self.reply.len() < LINES {
            self.reply.push(line);
        } else {
            exchange.counters.too_long += u64::from(!more);
        }
        if !more {
            self.finish(exchange, emit);
        }
    }

    /// The reply ends here.
    pub(crate) fn finish(&mut self, exchange: &mut Exchange, emit: &mut Emit<'_>) {
        if self.reply.is_empty() {
            return;
        }
        let mut message = Message::new(Protocol::Ftp, false);
        message.fields.push((Field::FtpCode, std::mem::take(&mut self.code)));
        for line in self.reply.drain(..) {
            let text = match code(&line) {
                Some((_, Some(b' ' | b'-'))) => line[4..].to_vec(),
                Some((_, None)) => Vec::new(),
                _ => line,
            };
            message.fields.push((Field::FtpReply, text));
        }
        whole(&message, exchange, emit);
    }
}

/// Takes a command.
fn command(line: &[u8], exchange: &mut Exchange, emit: &mut Emit<'_>) {
    let line = line.trim_ascii_start();
    if line.is_empty() {
        return;
    }
    let end = line.iter().position(|byte| *byte == b' ').unwrap_or(line.len());
    let mut message = Message::new(Protocol::Ftp, true);
    message.fields.push((Field::FtpCommand, line[..end].to_vec()));
    let data = line[end..].trim_ascii_start();
    if !data.is_empty() {
        message.fields.push((Field::FtpCommandData, data.to_vec()));
    }
    whole(&message, exchange, emit);
}

/// The address in the argument of PORT: six numbers with commas between them. None: it is none.
#[must_use]
pub fn port_address(data: &[u8]) -> Option<std::net::Ipv4Addr> {
    let text = str::from_utf8(data).ok()?;
    let numbers: Vec<u8> = text.trim().split(',').map(|number| number.trim().parse().ok()).collect::<Option<_>>()?;
    match numbers[..] {
        [a, b, c, d, _, _] => Some(std::net::Ipv4Addr::new(a, b, c, d)),
        _ => None,
    }
}
