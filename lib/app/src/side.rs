// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! One direction of a flow: which protocol it speaks, and its messages.

use std::collections::VecDeque;

use crate::dns::{self, Dns};
use md5::{Digest, Md5};
use sha1::Sha1;
use sha2::Sha256;

use crate::field::{Field, Protocol};
use crate::ftp::Ftp;
use crate::http::{self, Http};
use crate::smtp::Smtp;
use crate::ssh::Ssh;
use crate::tls::Tls;

/// The limits of a direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of a body that are looked at, decompressed.
    pub body: usize,
    /// Bytes of first line and headers of an HTTP message.
    pub head: usize,
    /// Bytes of one TLS handshake message, and of SSH's key exchange.
    pub handshake: usize,
    /// Bytes of a line of SMTP and FTP.
    pub line: usize,
    /// Bodies of HTTP have the fields of files.
    pub files: bool,
    /// Files have hashes.
    pub hashes: bool,
    /// Certificates of TLS clients are read.
    pub client_certificates: bool,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body: 102_400,
            head: 1 << 17,
            handshake: 1 << 17,
            line: 1 << 16,
            files: false,
            hashes: false,
            client_certificates: false,
        }
    }
}

/// What was counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counters {
    /// Messages of HTTP, by direction: requests and responses.
    pub http: [u64; 2],
    /// Messages of DNS: queries and responses.
    pub dns: [u64; 2],
    /// Hellos of TLS: of clients and servers.
    pub tls: [u64; 2],
    /// Identifications of SSH: of clients and servers.
    pub ssh: [u64; 2],
    /// Mails of SMTP.
    pub smtp: u64,
    /// Messages of FTP: commands and replies.
    pub ftp: [u64; 2],
    /// Messages, or parts of them, that break the rules of their protocol: the part before the fault counts.
    pub malformed: u64,
    /// Messages longer than [`Limits`] allow, bodies aside: the part within the limits counts.
    pub too_long: u64,
    /// Bodies of which only the first bytes were looked at.
    pub cut_bodies: u64,
    /// Bodies that could not be decompressed to their end.
    pub damaged: u64,
    /// Bodies with a compression that is not undone.
    pub unknown_codings: u64,
}

/// The known parts of a request when its response arrives. Each part has at most 1,024 bytes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Request {
    /// Method.
    pub method: Vec<u8>,
    /// URI as it stands.
    pub url: Vec<u8>,
    /// Host.
    pub host: Vec<u8>,
    /// Value of User-Agent.
    pub user_agent: Vec<u8>,
    /// Value of Referer.
    pub referer: Vec<u8>,
    /// Version.
    pub version: Vec<u8>,
}

/// Requests that wait for their responses; more are forgotten.
const WAITING: usize = 64;

/// The state that both directions of a flow share.
#[derive(Debug, Clone, Default)]
pub struct Exchange {
    /// Requests that wait for their responses, oldest first.
    pub(crate) requests: VecDeque<Request>,
    /// Parts of the client hello, for records of the server's.
    pub(crate) client_hello: Vec<(Field, Vec<u8>)>,
    /// The protocol that one direction has shown.
    pub(crate) spoken: Option<Protocol>,
    /// A direction has begun as none of the protocols does.
    pub(crate) foreign: bool,
    /// Of SMTP: lines of the client that the server has not answered.
    pub(crate) unanswered_lines: u32,
    /// Of SMTP: the answer, counted from now, that says whether a mail may come.
    pub(crate) data: Option<u32>,
    /// Of SMTP: the answer that says whether encryption begins.
    pub(crate) encryption: Option<u32>,
    pub(crate) refused_data: bool,
    /// Of SMTP: the answer that says whether the server has taken a chunk of a mail.
    pub(crate) chunk: Option<u32>,
    pub(crate) refused_chunk: bool,
    pub(crate) is_encrypted: bool,
    /// The counts since they were last taken.
    pub counters: Counters,
}

impl Exchange {
    pub(crate) fn asked(&mut self, request: Request) {
        if self.requests.len() < WAITING {
            self.requests.push_back(request);
        }
    }

    /// Requests that no response has come for.
    pub fn unanswered(&mut self) -> impl Iterator<Item = Request> + '_ {
        self.requests.drain(..)
    }

    /// Memory that is taken.
    #[must_use]
    pub fn memory(&self) -> usize {
        let request = |request: &Request| {
            let Request { method, url, host, user_agent, referer, version } = request;
            [method, url, host, user_agent, referer, version].map(Vec::capacity).iter().sum::<usize>()
        };
        self.requests.iter().map(request).sum::<usize>()
            + self.client_hello.iter().map(|(_, bytes)| bytes.capacity()).sum::<usize>()
    }
}

/// A message with the fields that it has so far.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// Its protocol.
    pub protocol: Protocol,
    /// A request, query or client hello.
    pub to_server: bool,
    /// Its fields, in the order in which they were complete. HTTP headers that are repeated, and names of DNS, come
    /// several times.
    pub fields: Vec<(Field, Vec<u8>)>,
    /// For a response of HTTP: the request that it answers, if that was seen.
    pub request: Option<Request>,
    /// Of DNS: the message.
    pub dns: Option<Dns>,
    /// For a server's hello of TLS: parts of the client's.
    pub client_hello: Vec<(Field, Vec<u8>)>,
    /// Bytes of the body as it was sent, without chunks.
    pub body_bytes: u64,
    /// Its body is a form whose parts are the files; the body itself is none.
    pub is_form: bool,
    /// Its body is a piece of the stream: neither compressed nor in chunks.
    pub is_plain: bool,
}

impl Message {
    pub(crate) fn new(protocol: Protocol, to_server: bool) -> Self {
        let (fields, request, dns, client_hello) = (Vec::new(), None, None, Vec::new());
        let (is_form, is_plain) = (false, false);
        Self { protocol, to_server, fields, request, dns, client_hello, body_bytes: 0, is_form, is_plain }
    }

    /// The first field of this kind.
    #[must_use]
    pub fn field(&self, field: Field) -> Option<&[u8]> {
        self.all(field).next()
    }

    /// All fields of this kind.
    pub fn all(&self, field: Field) -> impl Iterator<Item = &[u8]> + '_ {
        let body = field == Field::File && !self.is_form;
        let is = move |known: Field| known == field || body && known == Field::Body;
        self.fields.iter().filter(move |(known, _)| is(*known)).map(|(_, bytes)| bytes.as_slice())
    }
}

/// A message has come further.
#[derive(Debug)]
pub struct Event<'a> {
    /// The message.
    pub message: &'a Message,
    /// All fields up to this stage are complete ([`Field::stage`]).
    pub stage: u8,
    /// Index of the first field that earlier events of the message did not have.
    pub from: usize,
    /// The message is over.
    pub last: bool,
}

impl Event<'_> {
    /// Fields that earlier events of the message did not have.
    pub fn new_fields(&self) -> impl Iterator<Item = &(Field, Vec<u8>)> {
        self.message.fields.iter().skip(self.from)
    }
}

/// Gets events.
pub(crate) type Emit<'a> = dyn FnMut(&Event<'_>) + 'a;

/// The last stage of all messages.
pub(crate) const LAST: u8 = 4;

/// A message that is complete at once.
pub(crate) fn whole(message: &Message, exchange: &mut Exchange, emit: &mut Emit<'_>) {
    let counters = &mut exchange.counters;
    let count = match message.protocol {
        Protocol::Http => &mut counters.http,
        Protocol::Dns => &mut counters.dns,
        Protocol::Tls => &mut counters.tls,
        Protocol::Ssh => &mut counters.ssh,
        Protocol::Ftp => &mut counters.ftp,
        Protocol::Smtp => &mut [0; 2],
    };
    count[usize::from(!message.to_server)] += 1;
    if message.dns.as_ref().is_some_and(|dns| dns.cut) {
        counters.malformed += 1;
    }
    emit(&Event { message, stage: LAST, from: 0, last: true });
}

/// The facts about a file whose first bytes are these.
pub(crate) fn file_fields(name: &[u8], bytes: &[u8], size: u64, limits: &Limits) -> Vec<(Field, Vec<u8>)> {
    let mut fields = Vec::new();
    if !name.is_empty() {
        fields.push((Field::FileName, name.to_vec()));
    }
    fields.push((Field::FileSize, u32::try_from(size).unwrap_or(u32::MAX).to_be_bytes().to_vec()));
    // The hash of a part says nothing.
    if limits.hashes && bytes.len() as u64 == size {
        fields.push((Field::FileMd5, Md5::digest(bytes).to_vec()));
        fields.push((Field::FileSha1, Sha1::digest(bytes).to_vec()));
        fields.push((Field::FileSha256, Sha256::digest(bytes).to_vec()));
    }
    fields
}

/// The DNS message in a datagram to or from port 53, if it is one.
pub fn datagram(payload: &[u8], exchange: &mut Exchange) -> Option<Message> {
    let dns = dns::plausible(payload).then(|| dns::read(payload)).flatten();
    if dns.is_none() {
        exchange.counters.malformed += 1;
    }
    let message = dns::message(dns?);
    exchange.counters.dns[usize::from(!message.to_server)] += 1;
    exchange.counters.malformed += u64::from(message.dns.as_ref().is_some_and(|dns| dns.cut));
    Some(message)
}

/// The protocol of a direction.
#[derive(Debug)]
enum State {
    /// The first bytes do not tell yet; they are kept.
    Unknown(Vec<u8>),
    Http(Box<Http>),
    Tls(Box<Tls>),
    Dns(dns::Stream),
    Ssh(Box<Ssh>),
    Smtp(Box<Smtp>),
    Ftp(Ftp),
    /// None of these.
    Other,
}

/// Bytes within which the protocol shows.
const BEGIN: usize = 4096;

/// One direction of a flow.
#[derive(Debug)]
pub struct Side {
    to_server: bool,
    /// One of the ports is that of DNS.
    dns: bool,
    state: State,
}

/// The result of the first bytes.
enum Guess {
    Is(State),
    Other,
    More,
}

impl Side {
    /// A direction of which nothing was seen. `dns`: one of its ports is 53.
    #[must_use]
    pub fn new(to_server: bool, dns: bool) -> Self {
        Self { to_server, dns, state: State::Unknown(Vec::new()) }
    }

    /// Its protocol, if it is known.
    #[must_use]
    pub fn protocol(&self) -> Option<Protocol> {
        match self.state {
            State::Http(_) => Some(Protocol::Http),
            State::Tls(_) => Some(Protocol::Tls),
            State::Dns(_) => Some(Protocol::Dns),
            State::Ssh(_) => Some(Protocol::Ssh),
            State::Smtp(_) => Some(Protocol::Smtp),
            State::Ftp(_) => Some(Protocol::Ftp),
            State::Unknown(_) | State::Other => None,
        }
    }

    /// Whether more bytes may show what it speaks.
    #[must_use]
    pub fn is_undecided(&self) -> bool {
        matches!(self.state, State::Unknown(_))
    }

    /// Whether more bytes may give messages.
    #[must_use]
    pub fn is_open(&self) -> bool {
        match &self.state {
            State::Unknown(_) | State::Http(_) | State::Dns(_) | State::Ftp(_) => true,
            State::Tls(tls) => !tls.is_over(),
            State::Ssh(ssh) => !ssh.is_over(),
            State::Smtp(smtp) => !smtp.is_over(),
            State::Other => false,
        }
    }

    /// Whether the last message is over, and nothing of the next one has come. Known of HTTP only.
    #[must_use]
    pub fn is_between_messages(&self) -> bool {
        matches!(&self.state, State::Http(http) if http.is_between_messages())
    }

    /// Memory that is taken.
    #[must_use]
    pub fn memory(&self) -> usize {
        match &self.state {
            State::Unknown(bytes) => bytes.capacity(),
            State::Http(http) => size_of::<Http>() + http.memory(),
            State::Tls(tls) => size_of::<Tls>() + tls.memory(),
            State::Dns(stream) => stream.memory(),
            State::Ssh(ssh) => size_of::<Ssh>() + ssh.memory(),
            State::Smtp(smtp) => size_of::<Smtp>() + smtp.memory(),
            State::Ftp(ftp) => ftp.memory(),
            State::Other => 0,
        }
    }

    /// The same direction for a look ahead: a body that is compressed goes on undecoded.
    #[must_use]
    pub fn snapshot(&self) -> Self {
        let state = match &self.state {
            State::Unknown(begin) => State::Unknown(begin.clone()),
            State::Http(http) => State::Http(Box::new(http.snapshot())),
            State::Tls(tls) => State::Tls(tls.clone()),
            State::Dns(stream) => State::Dns(stream.clone()),
            State::Ssh(ssh) => State::Ssh(ssh.clone()),
            State::Smtp(smtp) => State::Smtp(smtp.clone()),
            State::Ftp(ftp) => State::Ftp(ftp.clone()),
            State::Other => State::Other,
        };
        Self { state, ..*self }
    }

    /// Takes bytes that follow the last ones.
    pub fn push(&mut self, bytes: &[u8], limits: &Limits, exchange: &mut Exchange, emit: &mut Emit<'_>) {
        let mut bytes = std::borrow::Cow::Borrowed(bytes);
        // A direction may change its protocol: HTTP that becomes a tunnel. Each round takes a byte at least.
        while !bytes.is_empty() {
            match &mut self.state {
                State::Unknown(begin) => {
                    begin.extend_from_slice(&bytes);
                    let all = std::mem::take(begin);
                    match guess(&all, self.to_server, self.dns, exchange) {
                        Guess::More => {
                            self.state = State::Unknown(all);
                            return;
                        }
                        Guess::Other => {
                            exchange.foreign = true;
                            self.state = State::Other;
                        }
                        Guess::Is(state) => {
                            self.state = state;
                            exchange.spoken = self.protocol();
                            bytes = std::borrow::Cow::Owned(all);
                        }
                    }
                }
                State::Http(http) => match http.push(&bytes, limits, exchange, emit) {
                    Some(taken) => {
                        bytes = std::borrow::Cow::Owned(bytes[taken..].to_vec());
                        self.state = State::Unknown(Vec::new());
                    }
                    None => return,
                },
                State::Tls(tls) => {
                    tls.push(&bytes, limits, exchange, emit);
                    return;
                }
                State::Dns(stream) => {
                    stream.push(&bytes, exchange, emit);
                    return;
                }
                State::Ssh(ssh) => {
                    ssh.push(&bytes, limits, exchange, emit);
                    return;
                }
                State::Smtp(smtp) => {
                    smtp.push(&bytes, limits, exchange, emit);
                    return;
                }
                State::Ftp(ftp) => {
                    ftp.push(&bytes, limits, exchange, emit);
                    return;
                }
                State::Other => return,
            }
        }
    }

    /// Bytes are missing here: messages end, and the next ones are looked for.
    pub fn gap(&mut self, limits: &Limits, exchange: &mut Exchange, emit: &mut Emit<'_>) {
        match &mut self.state {
            State::Http(http) => http.gap(limits, exchange, emit),
            State::Ssh(ssh) => {
                ssh.finish(emit);
                self.state = State::Other;
            }
            State::Smtp(smtp) => smtp.gap(limits, exchange, emit),
            State::Ftp(ftp) => {
                ftp.finish(exchange, emit);
                *ftp = Ftp::new(self.to_server);
            }
            State::Tls(tls) => {
                tls.finish(emit);
                self.state = State::Other;
            }
            State::Dns(_) => self.state = State::Other,
            State::Unknown(begin) => begin.clear(),
            State::Other => {}
        }
    }

    /// The flow is over: messages end.
    pub fn finish(&mut self, limits: &Limits, exchange: &mut Exchange, emit: &mut Emit<'_>) {
        match &mut self.state {
            State::Http(http) => http.gap(limits, exchange, emit),
            State::Ssh(ssh) => ssh.finish(emit),
            State::Smtp(smtp) => smtp.gap(limits, exchange, emit),
            State::Ftp(ftp) => ftp.finish(exchange, emit),
            State::Tls(tls) => tls.finish(emit),
            // The bytes were too few to be those of a protocol.
            State::Unknown(_) => self.state = State::Other,
            _ => {}
        }
    }
}

/// The protocol in the first bytes of a direction.
fn guess(begin: &[u8], to_server: bool, dns: bool, exchange: &Exchange) -> Guess {
    let state = |state| Guess::Is(state);
    if dns {
        return match begin.get(..14) {
            None => Guess::More,
            Some(head) if dns::plausible(&head[2..]) => state(State::Dns(dns::Stream::default())),
            Some(_) => Guess::Other,
        };
    }
    // A record of a handshake whose version is 3.0 to 3.4; the first message is a hello.
    let hello = [0x16..=0x16, 3..=3, 0..=4];
    if begin.iter().zip(&hello).all(|(byte, wanted)| wanted.contains(byte)) {
        return match begin.get(5) {
            None => Guess::More,
            Some(kind) if *kind == if to_server { 1 } else { 2 } => state(State::Tls(Box::new(Tls::new(to_server)))),
            Some(_) => Guess::Other,
        };
    }
    if is_begin(begin, b"SSH-") {
        return if begin.len() < 4 { Guess::More } else { state(State::Ssh(Box::new(Ssh::new(to_server)))) };
    }
    let of_lines = if to_server { client_of_lines(begin, exchange) } else { server_of_lines(begin, exchange) };
    match of_lines {
        Some(Lined::Smtp) => return state(State::Smtp(Box::new(Smtp::new(to_server)))),
        Some(Lined::Ftp) => return state(State::Ftp(Ftp::new(to_server))),
        Some(Lined::More) if begin.len() <= BEGIN => return Guess::More,
        _ => {}
    }
    match http::begins(begin, to_server) {
        Some(true) => state(State::Http(Box::new(Http::new(to_server)))),
        Some(false) => Guess::Other,
        None if begin.len() > BEGIN => Guess::Other,
        None => Guess::More,
    }
}

/// A guess about the protocols whose directions are lines of text.
enum Lined {
    Smtp,
    Ftp,
    More,
}

/// Whether bytes are this word, or the beginning of it; in any case.
fn is_begin(bytes: &[u8], word: &[u8]) -> bool {
    let length = bytes.len().min(word.len());
    bytes[..length].eq_ignore_ascii_case(&word[..length])
}

/// Commands by which clients of SMTP and FTP begin.
const OF_SMTP: [&[u8]; 4] = [b"EHLO ", b"HELO ", b"LHLO ", b"QUIT\r"];
const OF_FTP: [&[u8]; 3] = [b"USER ", b"PASS ", b"PORT "];

fn client_of_lines(begin: &[u8], exchange: &Exchange) -> Option<Lined> {
    // A server that speaks something else, as of POP3, also has users.
    if exchange.foreign {
        return None;
    }
    match exchange.spoken {
        Some(Protocol::Smtp) => return Some(Lined::Smtp),
        Some(Protocol::Ftp) => return Some(Lined::Ftp),
        _ => {}
    }
    for (words, found) in [(&OF_SMTP[..], Lined::Smtp), (&OF_FTP[..], Lined::Ftp)] {
        if words.iter().any(|word| begin.len() >= word.len() && is_begin(begin, word)) {
            return Some(found);
        }
    }
    let more = OF_SMTP.iter().chain(&OF_FTP).any(|word| is_begin(begin, word));
    more.then_some(Lined::More)
}

fn server_of_lines(begin: &[u8], exchange: &Exchange) -> Option<Lined> {
    match exchange.spoken {
        Some(Protocol::Smtp) => return Some(Lined::Smtp),
        Some(Protocol::Ftp) => return Some(Lined::Ftp),
        _ => {}
    }
    if !is_begin(begin, b"220") || begin.get(3).is_some_and(|behind| !matches!(behind, b' ' | b'-')) {
        return None;
    }
    // The greeting may name the protocol; otherwise the client does.
    let line = begin.split(|byte| *byte == b'\n').next().unwrap_or_default();
    if begin.len() == line.len() {
        return Some(Lined::More);
    }
    let names = |word: &[u8]| line.windows(word.len()).any(|part| part.eq_ignore_ascii_case(word));
    Some(match (names(b"SMTP"), names(b"FTP")) {
        (true, false) => Lined::Smtp,
        (false, true) => Lined::Ftp,
        _ => Lined::More,
    })
}
