// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Mails on their way to a server: SMTP (RFC 5321), with BDAT (RFC 3030).

use crate::field::{Field, Protocol};
use crate::lines::Lines;
use crate::mime::{File, Mail};
use crate::side::{Emit, Event, Exchange, LAST, Limits, Message, file_fields};

/// Recipients of a mail that are looked at.
const RECIPIENTS: usize = 256;

/// Bytes of all attachments of a mail that are looked at, in limits of one.
const MAILS: usize = 4;

/// The kind of the next bytes of a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Command,
    /// Lines of a mail, up to one with a dot alone.
    Data,
    /// This many bytes of a mail; the last ones of it or not.
    Chunk(u64, bool),
    /// Encrypted bytes.
    Encrypted,
}

/// One direction of a connection.
#[derive(Debug, Clone)]
pub(crate) struct Smtp {
    to_server: bool,
    /// The server has sent its first reply, which may be the greeting.
    greeted: bool,
    phase: Phase,
    lines: Lines,
    /// Lines of a mail in chunks: a chunk ends anywhere.
    chunks: Lines,
    /// The name that the client gave itself.
    helo: Vec<u8>,
    message: Message,
    told: usize,
    recipients: usize,
    /// A chunk of the mail has come, and the server may have refused it.
    has_chunk: bool,
    /// The stage that was handed on, and one more.
    stage: u8,
    mail: Mail,
    /// Bytes of its attachments so far.
    used: usize,
}

/// The argument of a command, if a line is this command; in any case.
fn argument<'a>(line: &'a [u8], command: &str) -> Option<&'a [u8]> {
    let (word, rest) = line.split_at_checked(command.len())?;
    word.eq_ignore_ascii_case(command.as_bytes()).then(|| rest.trim_ascii())
}

/// The address between angle brackets, or the first word.
fn path(text: &[u8]) -> Vec<u8> {
    let text = match text.iter().position(|byte| *byte == b'<') {
        Some(begin) => text[begin + 1..].split(|byte| *byte == b'>').next().unwrap_or_default(),
        None => text.split(|byte| *byte == b' ').next().unwrap_or_default(),
    };
    text.to_vec()
}

impl Smtp {
    pub(crate) fn new(to_server: bool) -> Self {
        Self {
            to_server,
            greeted: false,
            phase: Phase::Command,
            lines: Lines::default(),
            chunks: Lines::default(),
            helo: Vec::new(),
            message: Message::new(Protocol::Smtp, to_server),
            told: 0,
            recipients: 0,
            has_chunk: false,
            stage: 0,
            mail: Mail::new(),
            used: 0,
        }
    }

    /// Whether nothing more can be read.
    pub(crate) fn is_over(&self) -> bool {
        self.phase == Phase::Encrypted
    }

    pub(crate) fn memory(&self) -> usize {
        let fields: usize = self.message.fields.iter().map(|(_, bytes)| bytes.capacity() + 32).sum();
        self.lines.memory() + self.chunks.memory() + self.helo.capacity() + fields + self.mail.memory()
    }

    pub(crate) fn push(&mut self, bytes: &[u8], limits: &Limits, exchange: &mut Exchange, emit: &mut Emit<'_>) {
        let mut rest = bytes;
        while !rest.is_empty() {
            if exchange.is_encrypted {
                self.phase = Phase::Encrypted;
            }
            match self.phase {
                Phase::Encrypted => return,
                Phase::Chunk(left, last) => {
                    let now = rest.len().min(usize::try_from(left).unwrap_or(usize::MAX));
                    if last {
                        // The message ends with it, refused or not.
                        self.recipients_are_known(emit);
                    }
                    self.chunk(&rest[..now], limits);
                    self.has_chunk = true;
                    rest = &rest[now..];
                    self.phase = Phase::Chunk(left - now as u64, last);
                    if left == now as u64 {
                        self.phase = Phase::Command;
                        if last {
                            let line = self.chunks.rest();
                            if !line.is_empty() {
                                self.mail_line(&line, limits);
                            }
                            self.end_mail(limits, exchange, emit);
                        }
                    }
                }
                _ => {
                    let (taken, line) = self.lines.take(rest, limits.line);
                    rest = &rest[taken..];
                    let Some(line) = line else { return };
                    if self.to_server {
                        self.line(&line, limits, exchange, emit);
                    } else {
                        self.reply(&line, exchange);
                    }
                }
            }
        }
    }

    /// Takes a part of a mail.
    fn chunk(&mut self, mut bytes: &[u8], limits: &Limits) {
        while !bytes.is_empty() {
            let (taken, line) = self.chunks.take(bytes, limits.line);
            bytes = &bytes[taken..];
            if let Some(line) = line {
                self.mail_line(&line, limits);
            }
        }
    }

    /// Takes a line of a client.
    fn line(&mut self, line: &[u8], limits: &Limits, exchange: &mut Exchange, emit: &mut Emit<'_>) {
        if self.phase == Phase::Data && exchange.refused_data {
            // The server takes no mail: what follows are commands.
            self.phase = Phase::Command;
        }
        if self.phase == Phase::Data {
            self.recipients_are_known(emit);
            if line == b"." {
                self.phase = Phase::Command;
                exchange.unanswered_lines = exchange.unanswered_lines.saturating_add(1);
                self.end_mail(limits, exchange, emit);
            } else {
                self.mail_line(line.strip_prefix(b".").unwrap_or(line), limits);
            }
            return;
        }
        if std::mem::take(&mut exchange.refused_chunk) && std::mem::take(&mut self.has_chunk) {
            // The server has thrown its bytes away, and the files in them. Otherwise a message could grow for ever.
            self.chunks.rest();
            self.mail = Mail::new();
            let told = self.told;
            let mut known = 0;
            self.message.fields.retain(|(field, _)| {
                known += 1;
                known <= told || matches!(field, Field::Helo | Field::MailFrom | Field::Recipient)
            });
        }
        let greeting = ["ehlo ", "helo ", "lhlo "].iter().find_map(|command| argument(line, command));
        if let Some(name) = greeting {
            self.end_message(emit);
            self.helo = name.to_vec();
            self.message.fields.push((Field::Helo, self.helo.clone()));
            self.tell(Field::Helo.stage(), false, emit);
        } else if let Some(from) = argument(line, "mail from:") {
            if self.message.field(Field::MailFrom).is_some() {
                self.end_message(emit);
            }
            if self.message.fields.is_empty() && !self.helo.is_empty() {
                self.message.fields.push((Field::Helo, self.helo.clone()));
            }
            self.message.fields.push((Field::MailFrom, path(from)));
            self.tell(Field::MailFrom.stage(), false, emit);
        } else if let Some(to) = argument(line, "rcpt to:") {
            if self.recipients < RECIPIENTS {
                self.message.fields.push((Field::Recipient, path(to)));
            } else {
                exchange.counters.too_long += u64::from(self.recipients == RECIPIENTS);
            }
            self.recipients += 1;
        } else if argument(line, "data").is_some_and(<[u8]>::is_empty) {
            exchange.refused_data = false;
            exchange.data = Some(exchange.unanswered_lines + 1);
            self.phase = Phase::Data;
        } else if let Some(text) = argument(line, "bdat ") {
            let mut words = text.split(|byte| *byte == b' ').filter(|word| !word.is_empty());
            let size = words.next().and_then(|size| str::from_utf8(size).ok()?.parse().ok());
            let last = words.next().is_some_and(|word| word.eq_ignore_ascii_case(b"last"));
            if self.has_chunk {
                self.recipients_are_known(emit);
            }
            match size {
                Some(0) if last => self.end_mail(limits, exchange, emit),
                Some(0) => {}
                Some(size) => {
                    exchange.chunk.get_or_insert(exchange.unanswered_lines + 1);
                    self.phase = Phase::Chunk(size, last);
                }
                None => exchange.counters.malformed += 1,
            }
        } else if argument(line, "starttls").is_some_and(<[u8]>::is_empty) {
            exchange.encryption = Some(exchange.unanswered_lines + 1);
        } else if argument(line, "rset").is_some_and(<[u8]>::is_empty) {
            self.end_message(emit);
        }
        exchange.unanswered_lines = exchange.unanswered_lines.saturating_add(1);
    }

    /// All recipients are there, since a mail has begun. A command alone does not say so: the server may refuse it,
    /// and the client may go on with more recipients.
    fn recipients_are_known(&mut self, emit: &mut Emit<'_>) {
        let stage = Field::Recipient.stage();
        if self.stage <= stage {
            self.tell(stage, false, emit);
        }
    }

    /// Bytes that an attachment may have.
    fn room(&self, limits: &Limits) -> usize {
        limits.body.min(limits.body.saturating_mul(MAILS).saturating_sub(self.used))
    }

    fn mail_line(&mut self, line: &[u8], limits: &Limits) {
        if let Some(file) = self.mail.line(line, self.room(limits)) {
            self.file(file, limits);
        }
    }

    /// Takes an attachment.
    fn file(&mut self, file: File, limits: &Limits) {
        let File { name, bytes, size } = file;
        self.used += bytes.len();
        self.message.fields.extend(file_fields(&name, &bytes, size, limits));
        self.message.fields.push((Field::File, bytes));
    }

    /// A mail is complete.
    fn end_mail(&mut self, limits: &Limits, exchange: &mut Exchange, emit: &mut Emit<'_>) {
        if let Some(file) = self.mail.end(self.room(limits)) {
            self.file(file, limits);
        }
        exchange.counters.smtp += 1;
        exchange.counters.too_long += u64::from(self.mail.cut);
        self.end_message(emit);
    }

    /// Ends the message, if there is one.
    fn end_message(&mut self, emit: &mut Emit<'_>) {
        if !self.message.fields.is_empty() {
            self.tell(LAST, true, emit);
        }
        self.message = Message::new(Protocol::Smtp, self.to_server);
        self.chunks.rest();
        (self.told, self.recipients, self.stage, self.mail) = (0, 0, 0, Mail::new());
        (self.has_chunk, self.used) = (false, 0);
    }

    fn tell(&mut self, stage: u8, last: bool, emit: &mut Emit<'_>) {
        emit(&Event { message: &self.message, stage, from: self.told, last });
        self.told = self.message.fields.len();
        self.stage = stage + 1;
    }

    /// Bytes are missing here, or the stream ends: the mail ends with what it has.
    pub(crate) fn gap(&mut self, limits: &Limits, exchange: &mut Exchange, emit: &mut Emit<'_>) {
        let line = [self.chunks.rest(), self.lines.rest()].concat();
        if self.phase == Phase::Data && !exchange.refused_data && !line.is_empty() {
            self.recipients_are_known(emit);
        }
        if self.has_chunk && !exchange.refused_chunk {
            self.recipients_are_known(emit);
        }
        if self.to_server && self.stage > Field::Recipient.stage() {
            if !line.is_empty() {
                self.mail_line(&line, limits);
            }
            if let Some(file) = self.mail.end(self.room(limits)) {
                self.file(file, limits);
            }
        }
        if self.to_server {
            self.end_message(emit);
        }
        if self.phase != Phase::Encrypted {
            self.phase = Phase::Command;
        }
        (exchange.data, exchange.chunk, exchange.encryption) = (None, None, None);
        // The missing bytes of a server have the greeting, or come behind it.
        self.greeted = true;
    }

    /// Takes a line of a server.
    fn reply(&mut self, line: &[u8], exchange: &mut Exchange) {
        let ends = line.len() >= 3 && line[..3].iter().all(u8::is_ascii_digit) && line.get(3) != Some(&b'-');
        if !ends {
            return;
        }
        // The greeting answers no line, and the client may have sent some before it. If the connection was not seen
        // from its beginning, the first reply is an answer: no greeting has another number than these (RFC 5321,
        // section 4.3.2).
        let is_greeting = [b"220", b"421", b"554"].iter().any(|number| line.starts_with(*number));
        if !std::mem::replace(&mut self.greeted, true) && is_greeting {
            return;
        }
        exchange.unanswered_lines = exchange.unanswered_lines.saturating_sub(1);
        let is_answer = |waiting: &mut Option<u32>| {
            *waiting = waiting.map(|lines| lines - 1);
            *waiting == Some(0) && waiting.take().is_some()
        };
        if is_answer(&mut exchange.encryption) {
            exchange.is_encrypted = line.starts_with(b"220");
        }
        if is_answer(&mut exchange.data) {
            exchange.refused_data = line[0] != b'3';
        }
        if is_answer(&mut exchange.chunk) {
            exchange.refused_chunk = line[0] != b'2';
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Both directions, and what was told: stages and the new fields that are recipients.
    struct Case {
        sides: [Smtp; 2],
        exchange: Exchange,
        told: Vec<(u8, String)>,
    }

    impl Case {
        fn new() -> Self {
            Self { sides: [Smtp::new(false), Smtp::new(true)], exchange: Exchange::default(), told: Vec::new() }
        }

        fn say(&mut self, to_server: bool, text: &str) {
            let Self { sides, exchange, told } = self;
            sides[usize::from(to_server)].push(text.as_bytes(), &Limits::default(), exchange, &mut |event| {
                let recipients = event.new_fields().filter(|(field, _)| *field == Field::Recipient);
                let names: Vec<_> = recipients.map(|(_, name)| String::from_utf8_lossy(name)).collect();
                told.push((event.stage, names.join(" ")));
            });
        }

        fn recipients(&self) -> Vec<(u8, &str)> {
            self.told.iter().filter(|(_, names)| !names.is_empty()).map(|(stage, names)| (*stage, &**names)).collect()
        }
    }

    /// A client that does not wait for the greeting: each of its lines has the answer at the same place, so the mail is
    /// one, and commands in it are text.
    #[test]
    fn a_greeting_answers_nothing() {
        for (replies, mails) in [("220 hi\r\n250 a\r\n250 b\r\n354 go\r\n", 0), ("250 a\r\n250 b\r\n503 no\r\n", 1)] {
            let mut case = Case::new();
            case.say(true, "EHLO me\r\nMAIL FROM:<a>\r\nDATA\r\n");
            case.say(false, replies);
            assert_eq!((case.exchange.unanswered_lines, case.exchange.data), (0, None));
            assert_eq!(u64::from(case.exchange.refused_data), mails);
        }
    }

    #[test]
    fn recipients_behind_a_refused_mail_are_told() {
        let stage = Field::Recipient.stage();
        let mut case = Case::new();
        case.say(false, "220 hi\r\n");
        for (line, reply) in [
            ("EHLO me\r\n", "250 ok\r\n"),
            ("MAIL FROM:<a>\r\n", "250 ok\r\n"),
            ("DATA\r\n", "503 whom\r\n"),
            ("RCPT TO:<eve>\r\n", "250 ok\r\n"),
            ("DATA\r\n", "354 go\r\n"),
        ] {
            case.say(true, line);
            case.say(false, reply);
        }
        assert!(case.recipients().is_empty());
        case.say(true, "text\r\n");
        assert_eq!(case.recipients(), [(stage, "eve")]);
        case.say(true, ".\r\n");
        assert_eq!((case.recipients(), case.exchange.counters.smtp), (vec![(stage, "eve")], 1));
        // A mail without a line, and mails in chunks of which the first one has no byte.
        for mail in ["DATA\r\n.\r\n", "BDAT 1\r\nxBDAT 0 LAST\r\n"] {
            let mut case = Case::new();
            case.say(true, "MAIL FROM:<a>\r\nRCPT TO:<b>\r\n");
            case.say(true, mail);
            assert_eq!((case.recipients(), case.exchange.counters.smtp), (vec![(stage, "b")], 1), "{mail}");
        }
    }

    /// A chunk that the server refuses is no part of the mail, and no sign that all recipients are there.
    #[test]
    fn recipients_behind_a_refused_chunk_are_told() {
        let stage = Field::Recipient.stage();
        for (answer, told) in [("503 whom\r\n", vec![]), ("250 ok\r\n", vec![(stage, "b")])] {
            let mut case = Case::new();
            case.say(false, "220 hi\r\n");
            case.say(true, "MAIL FROM:<a>\r\n");
            case.say(false, "250 ok\r\n");
            case.say(true, "BDAT 1\r\nx");
            case.say(false, answer);
            case.say(true, "RCPT TO:<b>\r\n");
            case.say(false, "250 ok\r\n");
            assert!(case.recipients().is_empty());
            case.say(true, "BDAT 9\r\n");
            assert_eq!(case.recipients(), told, "{answer}");
            case.say(true, "Subject:y");
            case.say(true, "BDAT 1 LAST\r\nz");
            assert_eq!((case.recipients(), case.exchange.counters.smtp), (vec![(stage, "b")], 1));
        }
    }
}
