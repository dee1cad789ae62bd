// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! HTTP/1 messages in a stream (RFC 9112), read as generously as servers do.

use memchr::memchr;

use crate::field::{Field, Protocol};
use crate::inflate::{Coding, Inflater};
use crate::mime::{self, File, parameter};
use crate::side::{Emit, Event, Exchange, LAST, Limits, Message, Request, file_fields};
use crate::uri;

/// Methods by which a request is known before its first line is complete.
const METHODS: [&[u8]; 20] = [
    b"GET",
    b"POST",
    b"HEAD",
    b"PUT",
    b"DELETE",
    b"OPTIONS",
    b"TRACE",
    b"CONNECT",
    b"PATCH",
    b"PROPFIND",
    b"PROPPATCH",
    b"MKCOL",
    b"COPY",
    b"MOVE",
    b"LOCK",
    b"UNLOCK",
    b"REPORT",
    b"SEARCH",
    b"SUBSCRIBE",
    b"M-SEARCH",
];
/// Those of them that are also methods of SIP, whose requests begin with an address of its own.
const SHARED: [&[u8]; 2] = [b"OPTIONS", b"SUBSCRIBE"];
/// Bytes of each part of a request that is kept for its response.
const KEPT: usize = 1024;
/// Headers of a message that are looked at.
const HEADERS: usize = 1024;

/// Headers whose values are fields, in requests and in responses.
const VALUES: [(&[u8], Field); 11] = [
    (b"user-agent", Field::UserAgent),
    (b"accept", Field::Accept),
    (b"accept-encoding", Field::AcceptEncoding),
    (b"accept-language", Field::AcceptLanguage),
    (b"referer", Field::Referer),
    (b"connection", Field::Connection),
    (b"content-type", Field::ContentType),
    (b"content-length", Field::ContentLength),
    (b"server", Field::Server),
    (b"location", Field::Location),
    // Cookie or Set-Cookie: see `is_cookie`.
    (b"", Field::Cookie),
];

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

fn trimmed(mut bytes: &[u8]) -> &[u8] {
    while let [first, rest @ ..] = bytes
        && is_space(*first)
    {
        bytes = rest;
    }
    while let [rest @ .., last] = bytes
        && is_space(*last)
    {
        bytes = rest;
    }
    bytes
}

fn is_token(bytes: &[u8]) -> bool {
    !bytes.is_empty() && bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(byte))
}

/// Whether a line may be the first one of a message.
fn is_start(line: &[u8], to_server: bool) -> bool {
    if !to_server {
        return line.len() >= 5 && line[..5].eq_ignore_ascii_case(b"HTTP/");
    }
    let line = trimmed(line);
    let end = line.iter().position(|byte| is_space(*byte)).unwrap_or(line.len());
    is_token(&line[..end]) && !trimmed(&line[end..]).is_empty()
}

/// Whether a stream begins with HTTP; None: more bytes tell.
pub(crate) fn begins(bytes: &[u8], to_server: bool) -> Option<bool> {
    let skip = bytes.iter().position(|byte| !byte.is_ascii_whitespace())?;
    let bytes = &bytes[skip..];
    if !to_server {
        let length = bytes.len().min(5);
        return if !bytes[..length].eq_ignore_ascii_case(&b"HTTP/"[..length]) {
            Some(false)
        } else {
            (length == 5).then_some(true)
        };
    }
    let is = |method: &&&[u8]| bytes.starts_with(method) && bytes.get(method.len()).is_some_and(|next| is_space(*next));
    if let Some(method) = METHODS.iter().find(is) {
        return if SHARED.contains(method) { is_no_sip(&bytes[method.len() + 1..]) } else { Some(true) };
    }
    // A method that nobody knows: the first line ends in a version.
    let end = bytes.iter().position(|byte| is_space(*byte) || *byte == b'\n').unwrap_or(bytes.len());
    if !is_token(&bytes[..end]) {
        return Some(false);
    }
    let line = &bytes[..memchr(b'\n', bytes)?];
    let line = trimmed(line.strip_suffix(b"\r").unwrap_or(line));
    Some(is_start(line, true) && version_at(line).is_some())
}

/// Whether a target is none of SIP; None: more bytes tell.
fn is_no_sip(target: &[u8]) -> Option<bool> {
    let begins = |word: &&&[u8]| {
        let length = target.len().min(word.len());
        target[..length].eq_ignore_ascii_case(&word[..length])
    };
    match [&b"sip:"[..], b"sips:"].iter().find(begins) {
        Some(word) => (target.len() >= word.len()).then_some(false),
        None => Some(true),
    }
}

/// Where the version at the end of a request line begins.
fn version_at(line: &[u8]) -> Option<usize> {
    let begin = line.iter().rposition(|byte| is_space(*byte))? + 1;
    line.get(begin..begin + 5)?.eq_ignore_ascii_case(b"HTTP/").then_some(begin)
}

/// Where in a message the stream is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Before a first line.
    Line,
    Headers,
    /// A body of this many bytes more.
    Fixed(u64),
    /// Before the size of a chunk.
    Size,
    /// A chunk of this many bytes more.
    Chunk(u64),
    /// Before the end of line behind a chunk.
    ChunkEnd,
    /// Headers behind the last chunk.
    Trailers,
    /// A body up to the end of the stream.
    Rest,
    /// Bytes are missing, or are none of HTTP: lines are skipped until one begins a message.
    Seek,
}

/// The continuation after a message.
enum Next {
    Message,
    Tunnel,
}

/// Messages of one direction.
#[derive(Debug)]
pub(crate) struct Http {
    to_server: bool,
    phase: Phase,
    /// The line that is not complete.
    line: Vec<u8>,
    /// Bytes of the head so far.
    head: usize,
    message: Message,
    /// Fields that were handed on.
    told: usize,
    raw: Vec<u8>,
    headers: Vec<(Vec<u8>, Vec<u8>)>,
    body: Vec<u8>,
    inflater: Inflater,
    /// Headers behind the last chunk.
    trailer: Vec<u8>,
    /// Bytes of the body without its compression, as far as they were counted.
    body_size: u64,
    /// The body was handed on: nothing more of it is looked at.
    body_told: bool,
    /// Names and sizes of the files of a form.
    files: Vec<(Vec<u8>, u64)>,
    /// The stream stops being HTTP behind this message.
    tunnel: bool,
}

impl Http {
    pub(crate) fn new(to_server: bool) -> Self {
        Self {
            to_server,
            phase: Phase::Line,
            line: Vec::new(),
            head: 0,
            message: Message::new(Protocol::Http, to_server),
            told: 0,
            raw: Vec::new(),
            headers: Vec::new(),
            body: Vec::new(),
            inflater: Inflater::default(),
            trailer: Vec::new(),
            body_size: 0,
            body_told: false,
            files: Vec::new(),
            tunnel: false,
        }
    }

    /// The same stream for a look ahead, without what undoes a compression.
    pub(crate) fn snapshot(&self) -> Self {
        Self {
            line: self.line.clone(),
            message: self.message.clone(),
            files: self.files.clone(),
            raw: self.raw.clone(),
            headers: self.headers.clone(),
            body: self.body.clone(),
            trailer: self.trailer.clone(),
            inflater: Inflater::default(),
            ..*self
        }
    }

    pub(crate) fn is_between_messages(&self) -> bool {
        self.phase == Phase::Line && self.line.is_empty()
    }

    pub(crate) fn memory(&self) -> usize {
        let fields: usize = self.message.fields.iter().map(|(_, bytes)| bytes.capacity() + 32).sum();
        let headers: usize = self.headers.iter().map(|(name, value)| name.capacity() + value.capacity() + 48).sum();
        self.line.capacity()
            + self.raw.capacity()
            + self.body.capacity()
            + self.trailer.capacity()
            + self.files.iter().map(|(name, _)| name.capacity() + 32).sum::<usize>()
            + fields
            + headers
            + self.inflater.memory()
    }

    /// Takes bytes; gives how many belong to HTTP, if others follow.
    pub(crate) fn push(
        &mut self,
        bytes: &[u8],
        limits: &Limits,
        exchange: &mut Exchange,
        emit: &mut Emit<'_>,
    ) -> Option<usize> {
        let mut at = 0;
        while at < bytes.len() {
            let rest = &bytes[at..];
            let part = |left: u64| rest.len().min(usize::try_from(left).unwrap_or(usize::MAX));
            match self.phase {
                Phase::Fixed(left) => {
                    let taken = part(left);
                    at += taken;
                    self.data(&rest[..taken], limits, exchange, emit);
                    self.phase = Phase::Fixed(left - taken as u64);
                    if left == taken as u64 && matches!(self.end(limits, exchange, emit), Next::Tunnel) {
                        return Some(at);
                    }
                }
                Phase::Chunk(left) => {
                    let taken = part(left);
                    at += taken;
                    self.data(&rest[..taken], limits, exchange, emit);
                    self.phase = if left == taken as u64 { Phase::ChunkEnd } else { Phase::Chunk(left - taken as u64) };
                }
                Phase::Rest => {
                    self.data(rest, limits, exchange, emit);
                    at = bytes.len();
                }
                _ => {
                    let end = memchr(b'\n', rest);
                    let taken = end.map_or(rest.len(), |end| end + 1);
                    at += taken;
                    self.head += taken;
                    self.line.extend_from_slice(&rest[..taken]);
                    if self.phase == Phase::Seek || self.phase == Phase::Line {
                        self.head = self.line.len();
                    }
                    if self.head > limits.head {
                        exchange.counters.too_long += u64::from(self.phase != Phase::Seek);
                        self.give_up(limits, exchange, emit);
                    } else if end.is_some() {
                        let line = std::mem::take(&mut self.line);
                        if matches!(self.line(&line, limits, exchange, emit), Next::Tunnel) {
                            return Some(at);
                        }
                    }
                }
            }
        }
        None
    }

    /// Takes a line with its end.
    fn line(&mut self, whole: &[u8], limits: &Limits, exchange: &mut Exchange, emit: &mut Emit<'_>) -> Next {
        let line = whole.strip_suffix(b"\n").unwrap_or(whole);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        match self.phase {
            Phase::Line | Phase::Seek => {
                // Where nobody knows what came before, a request has a version.
                let sure = !self.to_server || self.phase == Phase::Line || version_at(trimmed(line)).is_some();
                if sure && is_start(line, self.to_server) {
                    return self.start(line, limits, exchange, emit);
                }
                if !trimmed(line).is_empty() && self.phase == Phase::Line {
                    exchange.counters.malformed += 1;
                    self.phase = Phase::Seek;
                }
            }
            Phase::Headers => {
                self.raw.extend_from_slice(whole);
                if line.is_empty() {
                    return self.head_ends(limits, exchange, emit);
                }
                self.header(line, exchange);
            }
            Phase::Size => {
                let digits = trimmed(line.split(|byte| *byte == b';').next().unwrap_or_default());
                let size = str::from_utf8(digits).ok().and_then(|digits| u64::from_str_radix(digits, 16).ok());
                match size.filter(|_| !digits.starts_with(b"+")) {
                    Some(0) => self.phase = Phase::Trailers,
                    Some(size) => self.phase = Phase::Chunk(size),
                    None => self.broken(limits, exchange, emit),
                }
            }
            Phase::ChunkEnd if line.is_empty() => self.phase = Phase::Size,
            Phase::ChunkEnd => self.broken(limits, exchange, emit),
            Phase::Trailers if line.is_empty() => return self.end(limits, exchange, emit),
            Phase::Trailers => {
                let colon = memchr(b':', line).unwrap_or(line.len());
                let (name, value) = (trimmed(&line[..colon]), trimmed(line.get(colon + 1..).unwrap_or_default()));
                self.trailer.extend_from_slice(&[name, b": ", value, b"\r\n"].concat());
            }
            _ => {}
        }
        Next::Message
    }

    /// Takes the first line of a message.
    fn start(&mut self, line: &[u8], limits: &Limits, exchange: &mut Exchange, emit: &mut Emit<'_>) -> Next {
        self.head = line.len();
        let line = trimmed(line);
        let end = line.iter().position(|byte| is_space(*byte)).unwrap_or(line.len());
        let (first, rest) = (&line[..end], trimmed(&line[end..]));
        let mut put = |field, bytes: &[u8]| self.message.fields.push((field, bytes.to_vec()));
        put(Field::Line, line);
        let mut complete = true;
        if self.to_server {
            let begin = version_at(line).filter(|begin| *begin > end);
            let url = trimmed(begin.map_or(rest, |begin| &line[end..begin]));
            put(Field::Method, first);
            put(Field::Uri, &uri::normalized(url));
            put(Field::UriRaw, url);
            match begin {
                Some(begin) => put(Field::Version, &line[begin..]),
                // HTTP/0.9: the line is the whole request.
                None => complete = false,
            }
        } else {
            let end = rest.iter().position(|byte| is_space(*byte)).unwrap_or(rest.len());
            put(Field::Version, first);
            put(Field::StatusCode, &rest[..end]);
            put(Field::StatusMessage, trimmed(&rest[end..]));
            let code = &rest[..end];
            // An interim response is not the one that the request waits for.
            self.message.request = if code.starts_with(b"1") && code != b"101" {
                exchange.requests.front().cloned()
            } else {
                exchange.requests.pop_front()
            };
        }
        self.tell(0, false, emit);
        self.phase = Phase::Headers;
        if complete { Next::Message } else { self.head_ends(limits, exchange, emit) }
    }

    /// Takes a line of the headers.
    fn header(&mut self, line: &[u8], exchange: &mut Exchange) {
        if let (Some(first), Some((_, value))) = (line.first(), self.headers.last_mut())
            && is_space(*first)
        {
            // A folded line goes on with the value.
            if !value.is_empty() {
                value.push(b' ');
            }
            value.extend_from_slice(trimmed(line));
            return;
        }
        if self.headers.len() >= HEADERS {
            exchange.counters.too_long += u64::from(self.headers.len() == HEADERS);
            return;
        }
        let (name, value) = match memchr(b':', line) {
            Some(colon) => (trimmed(&line[..colon]), trimmed(&line[colon + 1..])),
            None => {
                exchange.counters.malformed += 1;
                (trimmed(line), &b""[..])
            }
        };
        self.headers.push((name.to_vec(), value.to_vec()));
    }

    /// Values of all headers of this name in lower case, with `, ` between them.
    fn value(&self, name: &[u8]) -> Option<Vec<u8>> {
        let mut all = self.headers.iter().filter(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value);
        let mut value = all.next()?.clone();
        for more in all {
            value.extend_from_slice(b", ");
            value.extend_from_slice(more);
        }
        Some(value)
    }

    fn is_cookie(&self, name: &[u8]) -> bool {
        name.eq_ignore_ascii_case(if self.to_server { b"cookie" } else { b"set-cookie" })
    }

    /// All fields of the headers.
    fn head_fields(&mut self) {
        let (mut all, mut names) = (Vec::new(), b"\r\n".to_vec());
        let mut start = self.message.field(Field::Line).unwrap_or_default().to_vec();
        start.extend_from_slice(b"\r\n");
        let mut single = Vec::new();
        for (name, value) in &self.headers {
            let line = [name, &b": "[..], value].concat();
            names.extend_from_slice(&[name, &b"\r\n"[..]].concat());
            start.extend_from_slice(&[&line, &b"\r\n"[..]].concat());
            if !self.is_cookie(name) {
                all.extend_from_slice(&[&line, &b"\r\n"[..]].concat());
            }
            single.push((Field::Header, line));
        }
        for ending in [&mut names, &mut start] {
            ending.extend_from_slice(b"\r\n");
        }
        let mut fields = Vec::new();
        if !self.headers.is_empty() {
            fields.push((Field::Headers, all));
            fields.push((Field::HeaderNames, names));
        }
        if !self.raw.is_empty() {
            fields.push((Field::HeadersRaw, std::mem::take(&mut self.raw)));
        }
        fields.push((Field::Start, start));
        fields.append(&mut single);
        for (name, field) in VALUES {
            let cookie: &[u8] = if self.to_server { b"cookie" } else { b"set-cookie" };
            fields.extend(self.value(if field == Field::Cookie { cookie } else { name }).map(|value| (field, value)));
        }
        if self.to_server {
            let url = self.message.field(Field::UriRaw).unwrap_or_default().to_vec();
            let method = self.message.field(Field::Method).unwrap_or_default();
            let authority = uri::parts(&url).0.map(<[u8]>::to_vec).or((method == b"CONNECT").then_some(url));
            if let Some(raw) = authority.or_else(|| self.value(b"host")) {
                fields.push((Field::Host, host(&raw)));
                fields.push((Field::HostRaw, raw));
            }
        }
        self.message.fields.append(&mut fields);
    }

    /// The head is complete.
    fn head_ends(&mut self, limits: &Limits, exchange: &mut Exchange, emit: &mut Emit<'_>) -> Next {
        self.head_fields();
        self.tell(1, false, emit);
        exchange.counters.http[usize::from(!self.to_server)] += 1;
        let length = self.value(b"content-length").and_then(|value| {
            let digits: Vec<u8> = value.iter().copied().take_while(u8::is_ascii_digit).collect();
            let length = str::from_utf8(&digits).ok()?.parse::<u64>().ok();
            exchange.counters.malformed += u64::from(length.is_none());
            length
        });
        let transfer = self.value(b"transfer-encoding").unwrap_or_default().to_ascii_lowercase();
        let chunked = memchr::memmem::find(&transfer, b"chunked").is_some();
        let mut codings = Vec::new();
        let encoding = self.value(b"content-encoding").unwrap_or_default().to_ascii_lowercase();
        for word in encoding.split(|byte| *byte == b',').chain(transfer.split(|byte| *byte == b',')) {
            match trimmed(word) {
                b"gzip" | b"x-gzip" => codings.push(Coding::Gzip),
                b"deflate" | b"x-deflate" => codings.push(Coding::Deflate),
                b"" | b"identity" | b"none" | b"chunked" => {}
                _ => exchange.counters.unknown_codings += 1,
            }
        }
        self.message.is_plain = codings.is_empty() && !chunked;
        self.coded(&codings, exchange);
        let empty;
        if self.to_server {
            let field = |field| self.message.field(field).map(|bytes| bytes[..bytes.len().min(KEPT)].to_vec());
            let request = Request {
                method: field(Field::Method).unwrap_or_default(),
                url: field(Field::UriRaw).unwrap_or_default(),
                host: field(Field::Host).unwrap_or_default(),
                user_agent: field(Field::UserAgent).unwrap_or_default(),
                referer: field(Field::Referer).unwrap_or_default(),
                version: field(Field::Version).unwrap_or_default(),
            };
            // The bytes after a request for a tunnel belong to the tunnel.
            self.tunnel = request.method == b"CONNECT";
            empty = self.tunnel;
            exchange.asked(request);
        } else {
            let code = self.message.field(Field::StatusCode).unwrap_or_default();
            let asked = self.message.request.as_ref().map(|request| request.method.as_slice()).unwrap_or_default();
            self.tunnel = code == b"101" || asked == b"CONNECT" && code.starts_with(b"2");
            empty = self.tunnel || code.starts_with(b"1") || matches!(code, b"204" | b"304") || asked == b"HEAD";
        }
        self.phase = match length {
            _ if empty => return self.end(limits, exchange, emit),
            _ if chunked => Phase::Size,
            Some(0) => return self.end(limits, exchange, emit),
            Some(length) => Phase::Fixed(length),
            None if self.to_server => return self.end(limits, exchange, emit),
            None => Phase::Rest,
        };
        self.head = 0;
        Next::Message
    }

    /// Prepares for a body with these codings.
    fn coded(&mut self, codings: &[Coding], exchange: &mut Exchange) {
        self.inflater = Inflater::new(codings).unwrap_or_else(|| {
            exchange.counters.unknown_codings += 1;
            Inflater::default()
        });
    }

    /// Takes bytes of the body.
    fn data(&mut self, bytes: &[u8], limits: &Limits, exchange: &mut Exchange, emit: &mut Emit<'_>) {
        self.head = 0;
        self.message.body_bytes += bytes.len() as u64;
        if self.body_told {
            self.body_size += bytes.len() as u64;
            return;
        }
        let room = limits.body - self.body.len().min(limits.body);
        if self.inflater.is_plain() {
            self.body.extend_from_slice(&bytes[..bytes.len().min(room)]);
            self.body_size += bytes.len() as u64;
        } else {
            self.inflater.bound(room.saturating_add(1));
            let more = self.inflater.push(bytes);
            self.body.extend_from_slice(&more[..more.len().min(room)]);
            self.body_size += more.len() as u64;
        }
        if self.body.len() >= limits.body {
            exchange.counters.cut_bodies += 1;
            self.tell_body(limits, exchange);
            self.tell(Field::Body.stage(), false, emit);
        }
    }

    /// Name of the file that is the body: the headers say it, otherwise it is the path.
    fn file_name(&self) -> Vec<u8> {
        if let Some(name) = self.value(b"content-disposition").and_then(|value| parameter(&value, b"filename")) {
            return name;
        }
        let url = match &self.message.request {
            Some(request) => request.url.as_slice(),
            None => self.message.field(Field::UriRaw).unwrap_or_default(),
        };
        let end = url.iter().position(|byte| matches!(byte, b'?' | b'#')).unwrap_or(url.len());
        uri::normalized(&url[..end])
    }

    /// Makes the body a field.
    fn tell_body(&mut self, limits: &Limits, exchange: &mut Exchange) {
        self.body_told = true;
        exchange.counters.damaged += u64::from(self.inflater.is_damaged());
        self.inflater = Inflater::default();
        let kind = if self.to_server { self.value(b"content-type") } else { None };
        let form = kind.and_then(|kind| mime::form(&kind, &self.body, limits.body)).filter(|_| !self.body.is_empty());
        exchange.counters.too_long += u64::from(form.as_ref().is_some_and(|form| form.cut));
        exchange.counters.malformed += u64::from(form.as_ref().is_some_and(|form| form.parts == 0));
        // A form whose parts nobody finds is a body as any other.
        let form = form.filter(|form| form.parts > 0);
        self.message.is_form = form.is_some();
        if !self.body.is_empty() {
            self.message.fields.push((Field::Body, std::mem::take(&mut self.body)));
        }
        for File { name, bytes, size } in form.into_iter().flat_map(|form| form.files) {
            self.message.fields.push((Field::File, bytes));
            self.files.push((name, size));
        }
    }

    /// Hands the message on.
    fn tell(&mut self, stage: u8, last: bool, emit: &mut Emit<'_>) {
        emit(&Event { message: &self.message, stage, from: self.told, last });
        self.told = self.message.fields.len();
    }

    /// The message is over.
    fn end(&mut self, limits: &Limits, exchange: &mut Exchange, emit: &mut Emit<'_>) -> Next {
        if !self.body_told {
            self.tell_body(limits, exchange);
        }
        if !self.trailer.is_empty() {
            self.message.fields.push((Field::Trailer, std::mem::take(&mut self.trailer)));
        }
        if self.message.is_form && limits.files {
            // The bytes behind those that are looked at may be more of the last file.
            let seen = self.message.field(Field::Body).map_or(0, <[u8]>::len) as u64;
            if let Some((_, size)) = self.files.last_mut() {
                *size += self.body_size.saturating_sub(seen);
            }
            let files = self.files.iter().zip(self.message.all(Field::File));
            let facts = files.flat_map(|((name, size), bytes)| file_fields(name, bytes, *size, limits));
            let facts: Vec<_> = facts.collect();
            self.message.fields.extend(facts);
        } else if let Some(body) = self.message.field(Field::Body).filter(|_| limits.files) {
            let facts = file_fields(&self.file_name(), body, self.body_size, limits);
            self.message.fields.extend(facts);
        }
        self.tell(LAST, true, emit);
        let tunnel = self.tunnel;
        *self = Self::new(self.to_server);
        if tunnel { Next::Tunnel } else { Next::Message }
    }

    /// The rest of the message cannot be read.
    fn broken(&mut self, limits: &Limits, exchange: &mut Exchange, emit: &mut Emit<'_>) {
        exchange.counters.malformed += 1;
        self.give_up(limits, exchange, emit);
    }

    /// Ends a message early, with what it has.
    fn give_up(&mut self, limits: &Limits, exchange: &mut Exchange, emit: &mut Emit<'_>) {
        if self.phase == Phase::Headers {
            // The line that is not complete may be what a rule looks for.
            let line = std::mem::take(&mut self.line);
            self.raw.extend_from_slice(&line);
            if !line.is_empty() {
                self.header(&line, exchange);
            }
            self.head_fields();
            self.tell(1, false, emit);
            exchange.counters.http[usize::from(!self.to_server)] += 1;
        }
        if !matches!(self.phase, Phase::Line | Phase::Seek) {
            self.end(limits, exchange, emit);
        }
        *self = Self { phase: Phase::Seek, ..Self::new(self.to_server) };
    }

    /// Bytes are missing here, or the stream ends.
    pub(crate) fn gap(&mut self, limits: &Limits, exchange: &mut Exchange, emit: &mut Emit<'_>) {
        self.give_up(limits, exchange, emit);
    }
}

/// The name of a host: without user, port and dots at the end, in lower case.
fn host(raw: &[u8]) -> Vec<u8> {
    let begin = raw.iter().rposition(|byte| *byte == b'@').map_or(0, |at| at + 1);
    let raw = &raw[begin..];
    let end = if raw.starts_with(b"[") {
        memchr(b']', raw).map_or(raw.len(), |end| end + 1)
    } else {
        memchr(b':', raw).unwrap_or(raw.len())
    };
    let mut name = raw[..end].to_ascii_lowercase();
    while name.last() == Some(&b'.') {
        name.pop();
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_of_sip_are_not_http() {
        for (bytes, is) in [
            (&b"OPTIONS * HTTP/1.1"[..], Some(true)),
            (b"OPTIONS sip:a@b SIP/2.0", Some(false)),
            (b"SUBSCRIBE sips:a@b SIP/2.0", Some(false)),
            (b"OPTIONS sip", None),
            (b"SUBSCRIBE sips", None),
            (b"OPTIONS ", None),
            (b"SUBSCRIBE sipx", Some(true)),
            (b"GET ", Some(true)),
            (b"MESSAGE sip:a@b SIP/2.0\r\n", Some(false)),
        ] {
            assert_eq!(begins(bytes, true), is, "{}", bytes.escape_ascii());
        }
    }
}
