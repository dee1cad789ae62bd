// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! One direction of a flow: which protocol it speaks, and its messages.

use std::collections::VecDeque;

use crate::dns::{self, Dns};
use crate::field::{Field, Protocol};
use crate::http::{self, Http};
use crate::tls::Tls;

/// The limits of a direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of a body that are looked at, decompressed.
    pub body: usize,
    /// Bytes of first line and headers of an HTTP message.
    pub head: usize,
    /// Bytes of one TLS handshake message.
    pub handshake: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { body: 102_400, head: 1 << 17, handshake: 1 << 17 }
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
}

impl Message {
    pub(crate) fn new(protocol: Protocol, to_server: bool) -> Self {
        let (fields, request, dns, client_hello) = (Vec::new(), None, None, Vec::new());
        Self { protocol, to_server, fields, request, dns, client_hello, body_bytes: 0 }
    }

    /// The first field of this kind.
    #[must_use]
    pub fn field(&self, field: Field) -> Option<&[u8]> {
        self.all(field).next()
    }

    /// All fields of this kind.
    pub fn all(&self, field: Field) -> impl Iterator<Item = &[u8]> + '_ {
        self.fields.iter().filter(move |(known, _)| *known == field).map(|(_, bytes)| bytes.as_slice())
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
pub(crate) const LAST: u8 = 2;

/// A message that is complete at once.
pub(crate) fn whole(message: &Message, exchange: &mut Exchange, emit: &mut Emit<'_>) {
    let counters = &mut exchange.counters;
    let count = match message.protocol {
        Protocol::Http => &mut counters.http,
        Protocol::Dns => &mut counters.dns,
        Protocol::Tls => &mut counters.tls,
    };
    count[usize::from(!message.to_server)] += 1;
    if message.dns.as_ref().is_some_and(|dns| dns.cut) {
        counters.malformed += 1;
    }
    emit(&Event { message, stage: LAST, from: 0, last: true });
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
            State::Unknown(_) | State::Http(_) | State::Dns(_) => true,
            State::Tls(tls) => !tls.is_over(),
            State::Other => false,
        }
    }

    /// Memory that is taken.
    #[must_use]
    pub fn memory(&self) -> usize {
        match &self.state {
            State::Unknown(bytes) => bytes.capacity(),
            State::Http(http) => size_of::<Http>() + http.memory(),
            State::Tls(tls) => size_of::<Tls>() + tls.memory(),
            State::Dns(stream) => stream.memory(),
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
                    match guess(&all, self.to_server, self.dns) {
                        Guess::More => {
                            self.state = State::Unknown(all);
                            return;
                        }
                        Guess::Other => self.state = State::Other,
                        Guess::Is(state) => {
                            self.state = state;
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
                State::Other => return,
            }
        }
    }

    /// Bytes are missing here: messages end, and the next ones are looked for.
    pub fn gap(&mut self, exchange: &mut Exchange, emit: &mut Emit<'_>) {
        match &mut self.state {
            State::Http(http) => http.gap(exchange, emit),
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
    pub fn finish(&mut self, exchange: &mut Exchange, emit: &mut Emit<'_>) {
        match &mut self.state {
            State::Http(http) => http.gap(exchange, emit),
            State::Tls(tls) => tls.finish(emit),
            _ => {}
        }
    }
}

/// The protocol in the first bytes of a direction.
fn guess(begin: &[u8], to_server: bool, dns: bool) -> Guess {
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
    match http::begins(begin, to_server) {
        Some(true) => state(State::Http(Box::new(Http::new(to_server)))),
        Some(false) => Guess::Other,
        None if begin.len() > BEGIN => Guess::Other,
        None => Guess::More,
    }
}
