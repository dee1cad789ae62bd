// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Rules about messages of application protocols.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::net::IpAddr;

use penstock_app::{Event, Exchange, Field, Limits, Message, Protocol, Side, port_address, type_name};
use penstock_ids_compiler::rule::{Absent, DateTest, Group, Layer, Spoken as Named};
use penstock_ids_compiler::wire::Wire;
use penstock_streams::Chunk;
use serde_json::{Map, Value as Json, json};

use crate::events;
use crate::look::{Look, Mixed};
use crate::matching::{Bytes, Limited, change, is_change};
use crate::records;
use crate::scan::Window;
use crate::seen::Seen;

/// Port of DNS.
const DNS: u16 = 53;

/// How far the rules have come with a message.
#[derive(Debug, Clone, Default)]
pub(crate) struct Progress {
    /// Rules whose key a field of the message has.
    candidates: Vec<u32>,
    /// Rules up to the stage before this one are evaluated.
    next: u8,
}

/// One direction of a flow.
#[derive(Debug)]
pub(crate) struct AppSide {
    side: Side,
    progress: Progress,
    /// The filter has found a key that announces a message, and the message has not ended.
    announced: bool,
    /// Keys of rules about messages that the filter has found since the last message ended, in order; None: it looked
    /// for other keys in a part of these bytes.
    keys: Option<Vec<u16>>,
    /// Its first bytes, as long as they may decide about a protocol.
    first: Vec<u8>,
    /// No more bytes decide: the first ones are there, or some of them never came, or the direction has ended.
    decided: bool,
}

/// The protocol of both directions of a flow.
#[derive(Debug)]
pub(crate) struct App {
    sides: [AppSide; 2],
    exchange: Exchange,
    ports: [u16; 2],
    /// A protocol that one of the directions began with.
    wire: Option<Wire>,
    /// Memory that was counted.
    counted: usize,
}

/// The meaning of bytes to a direction.
pub(crate) enum Piece<'a> {
    /// They follow the last ones, or a gap.
    Chunk(&'a Chunk<'a>),
    /// The flow is over.
    End,
}

impl App {
    /// A flow of which nothing was seen, with these ports.
    pub(crate) fn new(ports: [u16; 2]) -> Self {
        let side = |to_server| AppSide {
            side: Side::new(to_server, ports.contains(&DNS)),
            progress: Progress::default(),
            announced: false,
            keys: Some(Vec::new()),
            first: Vec::new(),
            decided: false,
        };
        Self { sides: [side(true), side(false)], exchange: Exchange::default(), ports, wire: None, counted: 0 }
    }

    /// Takes the first bytes of a direction, which may name a protocol that is not read. Behind a gap no bytes do:
    /// they would be taken for the first ones.
    fn begin(&mut self, way: usize, piece: &Piece<'_>) {
        let AppSide { first, decided, .. } = &mut self.sides[way];
        if *decided || self.wire.is_some() {
            return;
        }
        match piece {
            Piece::Chunk(chunk) if chunk.gap == 0 && chunk.at == first.len() as u64 => {
                let room = Wire::BYTES - first.len();
                first.extend_from_slice(&chunk.bytes[..chunk.bytes.len().min(room)]);
                self.wire = Wire::of_stream(first, self.ports);
                *decided = first.len() == Wire::BYTES;
            }
            Piece::Chunk(_) | Piece::End => *decided = true,
        }
    }

    /// The first bytes of a direction were not seen, unless some have come before.
    pub(crate) fn miss(&mut self, way: usize) {
        self.sides[way].decided = true;
    }

    /// The protocol of a direction, and whether more bytes may decide it.
    pub(crate) fn layer(&self, way: usize) -> Spoken {
        let side = &self.sides[way].side;
        let open = self.wire.is_none() && !self.sides[way].decided;
        match side.protocol() {
            Some(protocol) => Spoken { protocol: Some(Named::Read(protocol)), undecided: false, open: false },
            None => Spoken { protocol: self.wire.map(Named::Known), undecided: side.is_undecided(), open },
        }
    }

    /// Whether rules about messages want more bytes of a direction whether or not these have a key. `every_http`: they
    /// need every message of HTTP. Otherwise each message that a rule may match has a key of its own: with the key the
    /// card tells a frame of it, and the host reads from the log what came before.
    pub(crate) fn is_wanted(&self, way: usize, every_http: [bool; 2]) -> bool {
        let AppSide { side, announced, .. } = &self.sides[way];
        match side.protocol() {
            Some(Protocol::Http) if !every_http[way] => *announced,
            Some(_) => side.is_open(),
            None => side.is_open() && *announced,
        }
    }

    /// Whether a message waits for its end.
    pub(crate) fn waits(&self) -> bool {
        self.sides.iter().any(|side| side.side.protocol().is_some())
    }

    /// The same flow for a look ahead: what happens to it changes nothing here.
    pub(crate) fn snapshot(&self) -> Self {
        let side = |side: &AppSide| AppSide {
            side: side.side.snapshot(),
            progress: side.progress.clone(),
            announced: side.announced,
            keys: side.keys.clone(),
            first: side.first.clone(),
            decided: side.decided,
        };
        let sides = [side(&self.sides[0]), side(&self.sides[1])];
        Self { sides, exchange: self.exchange.clone(), counted: 0, ..*self }
    }

    /// Other rules are used from now on: `place` says which number a rule has among them.
    pub(crate) fn reload(&mut self, place: &dyn Fn(u32) -> Option<u32>) {
        for side in &mut self.sides {
            let candidates = &mut side.progress.candidates;
            *candidates = candidates.iter().filter_map(|number| place(*number)).collect();
            side.keys = None;
        }
    }

    /// Memory that is counted for the flow.
    pub(crate) fn counted(&self) -> usize {
        self.counted
    }

    /// Counts the memory of the flow; `kept` is the sum of all flows.
    fn count(&mut self, kept: &mut usize) {
        let candidates =
            |side: &AppSide| side.progress.candidates.capacity() * 4 + side.keys.as_ref().map_or(0, Vec::capacity) * 2;
        let sides = self.sides.iter().map(|side| side.side.memory() + candidates(side)).sum::<usize>();
        let now = sides + self.exchange.memory() + size_of::<Self>();
        *kept = (*kept + now).saturating_sub(self.counted);
        self.counted = now;
    }
}

/// The protocol of a direction or a datagram.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Spoken {
    pub(crate) protocol: Option<Named>,
    /// More bytes may show a protocol that is read.
    pub(crate) undecided: bool,
    /// More bytes may show one that is known by first bytes.
    pub(crate) open: bool,
}

impl Spoken {
    /// Whether this is what a rule asks for.
    pub(crate) fn fits(self, layers: &[Layer]) -> bool {
        layers.iter().all(|layer| {
            if layer.protocol == Named::Nothing {
                let decided = self.protocol.is_some() || !self.may_become(Named::Nothing);
                decided && (self.protocol.is_none() != layer.negated)
            } else if layer.negated {
                !self.may_become(layer.protocol) && self.protocol != Some(layer.protocol)
            } else {
                self.protocol == Some(layer.protocol)
            }
        })
    }

    /// Whether a rule asks for another protocol than one that more bytes may show.
    pub(crate) fn waits(self, layers: &[Layer]) -> bool {
        let asks = |layer: &Layer| {
            if layer.protocol == Named::Nothing { self.protocol.is_none() } else { layer.negated }
        };
        layers.iter().any(|layer| asks(layer) && self.may_become(layer.protocol))
    }

    fn may_become(self, protocol: Named) -> bool {
        match protocol {
            Named::Read(_) => self.undecided,
            Named::Known(_) => self.open,
            Named::Nothing => self.undecided || self.open,
        }
    }
}

/// Whether one of the fields of a message meets the conditions.
fn meets(group: &Group, message: &Message, limited: &mut Limited) -> bool {
    if group.absent != Absent::Never {
        let there = message.field(group.field).is_some();
        if !there || group.absent == Absent::Must {
            return !there;
        }
    }
    the_one(group, message, limited).is_some()
}

/// The first of the fields of a message that meets the conditions, behind the transforms.
fn the_one<'a>(group: &Group, message: &'a Message, limited: &mut Limited) -> Option<Cow<'a, [u8]>> {
    message.all(group.field).find_map(|bytes| {
        let bytes = Cow::Borrowed(bytes);
        let bytes = group.transforms.iter().fold(bytes, |bytes, transform| Cow::Owned(transform.apply(&bytes)));
        Bytes { bytes: &bytes, base: 0, fresh: 0 }.matches(&group.steps, limited).then_some(bytes)
    })
}

/// Values that change the sets of a rule if it matches, with the number of the conditions that have met them. Before a
/// match, conditions on other bytes may still fail.
fn values<'a>(groups: &'a [Group], message: &'a Message) -> impl Iterator<Item = (usize, Cow<'a, [u8]>)> {
    let changing = groups.iter().enumerate().filter(|(_, group)| group.steps.iter().any(is_change));
    changing.filter_map(|(at, group)| Some((at, the_one(group, message, &mut Limited::default())?)))
}

/// Changes the sets that a rule names, after a match.
fn change_sets(groups: &[Group], message: &Message) {
    values(groups, message).for_each(|(at, value)| change(&groups[at].steps, &value));
}

/// Whether the validity of a certificate is as a rule asks.
fn in_time(date: &DateTest, message: &Message, seen: &Seen<'_>) -> bool {
    let now = i64::try_from(seen.time / 1_000_000_000).unwrap_or(i64::MAX);
    message.field(date.field).is_some_and(|field| date.holds(field, now))
}

/// Whether a client of FTP asks for a connection to another host.
fn bounces(message: &Message, seen: &Seen<'_>) -> bool {
    let is_port = message.field(Field::FtpCommand).is_some_and(|command| command.eq_ignore_ascii_case(b"port"));
    let address = message.field(Field::FtpCommandData).filter(|_| is_port).and_then(port_address);
    address.is_some_and(|address| seen.source.0 != IpAddr::V4(address))
}

impl Look<'_> {
    /// Takes bytes of a stream for the messages in it. `mixed` gets the rules whose messages have come and that also
    /// ask for bytes of the stream.
    pub(crate) fn app(
        &mut self,
        seen: &Seen<'_>,
        way: usize,
        app: &mut App,
        piece: &Piece<'_>,
        limits: &Limits,
        mixed: &mut Vec<Mixed>,
    ) {
        app.begin(way, piece);
        let App { sides, exchange, .. } = app;
        let AppSide { side, progress, announced, keys, .. } = &mut sides[way];
        if let Piece::Chunk(_) = piece {
            *announced |= self.announced;
            let may_be_http = matches!(side.protocol(), None | Some(Protocol::Http));
            if let Some(keys) = keys.as_mut().filter(|_| may_be_http) {
                for key in self.keys.iter().filter(|key| self.plan.program.finds_messages(**key)) {
                    if let Err(at) = keys.binary_search(key) {
                        keys.insert(at, *key);
                    }
                }
            }
        }
        let in_stream = keys.as_deref();
        let mut emit = |event: &Event<'_>| self.event(seen, progress, event, in_stream, None, mixed);
        match piece {
            Piece::Chunk(chunk) => {
                if chunk.gap > 0 {
                    side.gap(limits, exchange, &mut emit);
                }
                side.push(chunk.bytes, limits, exchange, &mut emit);
            }
            Piece::End => side.finish(limits, exchange, &mut emit),
        }
        if side.is_between_messages() {
            *announced = false;
            keys.get_or_insert_default().clear();
        }
        self.detect.app.add(std::mem::take(&mut exchange.counters));
        if matches!(piece, Piece::End) && way == 1 && self.plan.records {
            // Requests without an answer are also reported.
            for request in exchange.unanswered() {
                self.records.push(("http", http_of_request(&request)));
            }
        }
        app.count(self.kept);
    }

    /// Takes a datagram with these ports, and the message in it.
    pub(crate) fn datagram(&mut self, seen: &Seen<'_>, payload: &[u8], ports: [u16; 2]) -> Spoken {
        let exchange = &mut Exchange::default();
        let message = ports.contains(&DNS).then(|| penstock_app::datagram(payload, exchange)).flatten();
        self.detect.app.add(std::mem::take(&mut exchange.counters));
        if let Some(message) = &message {
            let event = Event { message, stage: u8::MAX, from: 0, last: true };
            self.event(seen, &mut Progress::default(), &event, None, Some(payload), &mut Vec::new());
        }
        let read = message.map(|message| Named::Read(message.protocol));
        let protocol = read.or_else(|| Wire::of_datagram(payload, ports).map(Named::Known));
        Spoken { protocol, ..Spoken::default() }
    }

    /// Evaluates the rules that a message may match now. `in_stream`: keys of rules in its bytes as they were sent.
    /// `payload`: the datagram that has it.
    fn event(
        &mut self,
        seen: &Seen<'_>,
        progress: &mut Progress,
        event: &Event<'_>,
        in_stream: Option<&[u16]>,
        payload: Option<&[u8]>,
        mixed: &mut Vec<Mixed>,
    ) {
        let plan = self.plan;
        let message = event.message;
        if event.from == 0 {
            progress.candidates.clone_from(&plan.program.always_messages);
        }
        // The bytes of such a body were searched in the stream.
        let in_stream = in_stream.filter(|_| message.is_plain && !plan.program.searches_bodies);
        for (field, bytes) in event.new_fields() {
            if let (Field::Body, Some(keys)) = (field, in_stream) {
                let rules = keys.iter().flat_map(|key| &plan.program.by_message_key[usize::from(*key)]);
                progress.candidates.extend(rules);
                continue;
            }
            if !plan.has_keys(*field) {
                continue;
            }
            let _ = plan.fields.scan(Window::default(), bytes, &mut |key, _| {
                let rules = plan.program.by_field_key.get(usize::from(key));
                progress.candidates.extend(rules.into_iter().flatten());
            });
        }
        progress.candidates.sort_unstable();
        progress.candidates.dedup();
        for level in 0..=plan.levels {
            for number in &progress.candidates {
                let rule = plan.rule(*number);
                let Some(messages) = &rule.messages else { continue };
                if plan.level(*number) != level
                    || messages.protocol.is_some_and(|protocol| protocol != message.protocol)
                    || messages.to_server.is_some_and(|way| way != message.to_server)
                    || !(progress.next..=event.stage).contains(&messages.stage())
                    || !self.may_match(rule, seen)
                {
                    continue;
                }
                self.detect.evaluated += 1;
                self.evaluated = true;
                let limited = &mut Limited::default();
                let found = messages.groups.iter().all(|group| meets(group, message, limited))
                    && messages.dates.iter().all(|date| in_time(date, message, seen))
                    && (!messages.bounces || bounces(message, seen))
                    && messages.events.iter().all(|event| events::has(message, *event));
                self.limits(limited);
                if !found {
                    continue;
                }
                match payload {
                    _ if rule.steps.is_empty() => {
                        change_sets(&messages.groups, message);
                        self.found_message(seen, *number, payload.is_none(), message);
                    }
                    Some(bytes) => {
                        if (Bytes { bytes, base: 0, fresh: 0 }).matches(&rule.steps, limited) {
                            change_sets(&messages.groups, message);
                            self.found_message(seen, *number, false, message);
                        }
                    }
                    None if mixed.iter().any(|known| known.rule == *number) => {}
                    None if mixed.len() < self.armed => {
                        let values = values(&messages.groups, message).map(|(at, value)| (at, value.into_owned()));
                        let new = Mixed { rule: *number, values: values.collect() };
                        *self.kept += new.memory();
                        mixed.push(new);
                    }
                    None => self.detect.unarmed += 1,
                }
            }
        }
        progress.next = event.stage.saturating_add(1);
        if event.last {
            *progress = Progress::default();
            if plan.records {
                self.records.extend(record(message));
            }
            if plan.files {
                let about = |file| ((message.protocol.name(), object(message)), file);
                self.files.extend(records::files(message).into_iter().map(about));
            }
        }
    }

    fn found_message(&mut self, seen: &Seen<'_>, rule: u32, in_stream: bool, message: &Message) {
        let about = self.plan.rule(rule);
        if let Some(way) = seen.way {
            if self.memory.is_done(about, way) {
                return;
            }
            self.memory.done(about, way);
        }
        self.found_in(seen, rule, in_stream || about.once, Some((message.protocol.name(), object(message))));
    }
}

fn text(bytes: &[u8]) -> Json {
    String::from_utf8_lossy(bytes).into_owned().into()
}

/// Adds a field of a message to an object, if it is there.
fn put(to: &mut Map<String, Json>, name: &str, bytes: Option<&[u8]>) {
    if let Some(bytes) = bytes.filter(|bytes| !bytes.is_empty()) {
        to.insert(name.to_owned(), text(bytes));
    }
}

/// A message as the object of a record: `http`, `dns` or `tls`.
pub(crate) fn object(message: &Message) -> Json {
    match message.protocol {
        Protocol::Http => http(message),
        Protocol::Dns => dns(message),
        Protocol::Tls => tls(message),
        Protocol::Ssh => ssh(message),
        Protocol::Smtp => smtp(message),
        Protocol::Ftp => ftp(message),
    }
}

/// The record of a message that is over, if it has one of its own: of HTTP the response, of TLS the server's hello.
fn record(message: &Message) -> Option<(&'static str, Json)> {
    match message.protocol {
        Protocol::Http | Protocol::Tls | Protocol::Ssh if message.to_server => None,
        protocol => Some((protocol.name(), object(message))),
    }
}

fn http_of_request(request: &penstock_app::Request) -> Json {
    let mut out = Map::new();
    let penstock_app::Request { method, url, host, user_agent, referer, version } = request;
    put(&mut out, "hostname", Some(host));
    put(&mut out, "url", Some(url));
    put(&mut out, "http_user_agent", Some(user_agent));
    put(&mut out, "http_refer", Some(referer));
    put(&mut out, "http_method", Some(method));
    put(&mut out, "protocol", Some(version));
    Json::Object(out)
}

fn http(message: &Message) -> Json {
    let mut out = match &message.request {
        Some(request) => match http_of_request(request) {
            Json::Object(out) => out,
            _ => Map::new(),
        },
        None => Map::new(),
    };
    let field = |field| message.field(field);
    if message.to_server {
        put(&mut out, "hostname", field(Field::Host));
        put(&mut out, "url", field(Field::UriRaw));
        put(&mut out, "http_user_agent", field(Field::UserAgent));
        put(&mut out, "http_refer", field(Field::Referer));
        put(&mut out, "http_method", field(Field::Method));
    } else {
        put(&mut out, "http_content_type", field(Field::ContentType));
        let code = field(Field::StatusCode).and_then(|code| str::from_utf8(code).ok()?.parse::<u16>().ok());
        if let Some(code) = code {
            out.insert("status".to_owned(), code.into());
        }
        put(&mut out, "redirect", field(Field::Location));
    }
    put(&mut out, "protocol", field(Field::Version));
    out.insert("length".to_owned(), message.body_bytes.into());
    Json::Object(out)
}

/// Name of a type of DNS record, or its number.
fn kind(kind: u16) -> String {
    type_name(kind).map_or_else(|| kind.to_string(), str::to_owned)
}

/// Names of response codes (RFC 1035, RFC 2136).
const CODES: [&str; 11] = [
    "NOERROR", "FORMERR", "SERVFAIL", "NXDOMAIN", "NOTIMP", "REFUSED", "YXDOMAIN", "YXRRSET", "NXRRSET", "NOTAUTH",
    "NOTZONE",
];

fn dns(message: &Message) -> Json {
    let Some(dns) = &message.dns else { return Json::Null };
    let opcode = dns.flags >> 11 & 15;
    let first = dns.questions.first();
    let (rrname, rrtype) = (first.map(|first| text(&first.name)), first.map(|first| kind(first.kind)));
    if message.to_server {
        return json!({"version": 2, "type": "query", "id": dns.id, "rrname": rrname, "rrtype": rrtype, "opcode": opcode});
    }
    let answers: Vec<Json> = dns
        .answers
        .iter()
        .map(|answer| {
            let mut out = json!({"rrname": text(&answer.name), "rrtype": kind(answer.kind), "ttl": answer.ttl});
            if !answer.data.is_empty() {
                out["rdata"] = answer.data.clone().into();
            }
            out
        })
        .collect();
    let code = usize::from(dns.flags & 15);
    let mut out = json!({
        "version": 2, "type": "answer", "id": dns.id, "flags": format!("{:x}", dns.flags), "qr": true,
        "rrname": rrname, "rrtype": rrtype, "opcode": opcode,
        "rcode": CODES.get(code).map_or_else(|| code.to_string(), |name| (*name).to_owned()),
    });
    for (bit, name) in [(10, "aa"), (9, "tc"), (8, "rd"), (7, "ra")] {
        if dns.flags >> bit & 1 == 1 {
            out[name] = true.into();
        }
    }
    if !answers.is_empty() {
        out["answers"] = answers.into();
    }
    // Data by type, for readers that look for addresses.
    let mut grouped: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for answer in dns.answers.iter().filter(|answer| !answer.data.is_empty()) {
        grouped.entry(kind(answer.kind)).or_default().push(&answer.data);
    }
    if !grouped.is_empty() {
        out["grouped"] = json!(grouped);
    }
    out
}

fn ssh(message: &Message) -> Json {
    let mut own = Map::new();
    put(&mut own, "proto_version", message.field(Field::SshProto));
    put(&mut own, "software_version", message.field(Field::SshSoftware));
    let (hash, string) = if message.to_server {
        (Field::Hassh, Field::HasshString)
    } else {
        (Field::HasshServer, Field::HasshServerString)
    };
    if let (Some(hash), Some(string)) = (message.field(hash), message.field(string)) {
        own.insert("hassh".to_owned(), json!({"hash": text(hash), "string": text(string)}));
    }
    if message.to_server { json!({ "client": own }) } else { json!({ "server": own }) }
}

fn smtp(message: &Message) -> Json {
    let mut out = Map::new();
    put(&mut out, "helo", message.field(Field::Helo));
    put(&mut out, "mail_from", message.field(Field::MailFrom));
    let recipients: Vec<Json> = message.all(Field::Recipient).map(text).collect();
    if !recipients.is_empty() {
        out.insert("rcpt_to".to_owned(), recipients.into());
    }
    Json::Object(out)
}

fn ftp(message: &Message) -> Json {
    let mut out = Map::new();
    put(&mut out, "command", message.field(Field::FtpCommand));
    put(&mut out, "command_data", message.field(Field::FtpCommandData));
    for (name, field) in [("completion_code", Field::FtpCode), ("reply", Field::FtpReply)] {
        let all: Vec<Json> = message.all(field).map(text).collect();
        if !all.is_empty() {
            out.insert(name.to_owned(), all.into());
        }
    }
    Json::Object(out)
}

fn tls(message: &Message) -> Json {
    let mut out = Map::new();
    let own = |field| message.field(field);
    let client =
        |field| message.client_hello.iter().find(|(known, _)| *known == field).map(|(_, bytes)| bytes.as_slice());
    let either = |field| own(field).or_else(|| client(field));
    let mut certificate = Map::new();
    put(&mut certificate, "subject", own(Field::Subject));
    put(&mut certificate, "issuerdn", own(Field::Issuer));
    put(&mut certificate, "serial", own(Field::Serial));
    put(&mut certificate, "fingerprint", own(Field::Fingerprint));
    if !message.to_server {
        out.append(&mut certificate);
    } else if !certificate.is_empty() {
        out.insert("client".to_owned(), certificate.into());
    }
    put(&mut out, "sni", either(Field::ServerName));
    if let Some(version) = own(Field::TlsVersion) {
        let version = String::from_utf8_lossy(version);
        let named = if version.starts_with("1.") { format!("TLS {version}") } else { version.into_owned() };
        out.insert("version".to_owned(), named.replace("TLS 1.0", "TLSv1").into());
    }
    for (name, hash, string) in
        [("ja3", Field::Ja3Hash, Field::Ja3String), ("ja3s", Field::Ja3sHash, Field::Ja3sString)]
    {
        if let (Some(hash), Some(string)) = (either(hash), either(string)) {
            out.insert(name.to_owned(), json!({"hash": text(hash), "string": text(string)}));
        }
    }
    Json::Object(out)
}
