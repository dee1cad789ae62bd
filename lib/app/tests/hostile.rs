// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Random and mutated input in random pieces: nothing panics, memory stays bounded, and the pieces make no difference.

use penstock_app::{Event, Exchange, Field, Limits, Side, datagram};

/// Numbers that are the same in each run.
struct Random(u64);

impl Random {
    fn below(&mut self, below: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % below
    }
}

const CLIENT_HELLO: &[u8] =
    b"\x16\x03\x01\x00\x45\x01\x00\x00\x41\x03\x030123456789abcdef0123456789abcdef\x00\x00\x02\x13\x01\
    \x01\x00\x00\x16\x00\x00\x00\x12\x00\x10\x00\x00\x0dwww.site.test";
const QUERY: &[u8] = b"\x00\x2a\x12\x34\x01\x00\x00\x01\x00\x01\x00\x00\x00\x00\x03www\x04site\x04test\x00\x00\x01\x00\x01\xc0\x0c\x00\x01\x00\x01\
    \x00\x00\x00\x05\x00\x04\x01\x02\x03\x04";
const REQUESTS: &[u8] = b"POST /a/%2e%2e/b?c HTTP/1.1\r\nHost: A.test:80\r\nTransfer-Encoding: chunked\r\n\r\n5;x=y\r\nhello\r\n0\r\nT: v\r\n\r\n\
    GET http://b.test/ HTTP/1.0\r\nX-Long: a\r\n  b\r\nCookie: c=d\r\nContent-Length: 3\r\n\r\nabcCONNECT h:1 HTTP/1.1\r\n\r\n\x16\x03\x01";
const RESPONSES: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 25\r\n\r\n\
    \x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\xcbH\xcd\xc9\xc9\x07\x00\x86\xa6\x106\x05\x00\x00\x00HTTP/1.1 204 No\n\nHTTP/1.0 404 Not Found\r\n\r\nrest";

const SMTP: &[u8] = b"EHLO a.test\r\nMAIL FROM:<a@b.test>\r\nRCPT TO:<c@d.test>\r\nDATA\r\nContent-Type: multipart/mixed; boundary=\"x\"\r\n\r\n\
    --x\r\nContent-Disposition: attachment; filename=a.bin\r\nContent-Transfer-Encoding: base64\r\n\r\naGVs\r\nbG8=\r\n--x\r\n\
    Content-Type: text/plain; name=b\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\na=3D=\r\nb\r\n--x--\r\n.\r\nMAIL FROM:<e>\r\n\
    RCPT TO:f\r\nBDAT 20 LAST\r\nSubject: x\r\n\r\n012345QUIT\r\n";
const SSH: &[u8] = b"SSH-2.0-Some_1.0 x\r\n\0\0\0\x42\x04\x140123456789abcdef\0\0\0\x01k\0\0\0\x01h\0\0\0\x01e\0\0\0\x01f\0\0\0\x01m\0\0\0\x01n\0\0\0\x01c\0\0\0\x01d\
    \0\0\0\0\0\0\0\0\0\0\0\0\0pad!";
const FTP: &[u8] = b"USER me\r\nPORT 1,2,3,4,5,6\r\nRETR  a b\r\n";
const REPLIES: &[u8] = b"220-FTP\r\n more\r\n220 ready\r\n331 Password\r\n230-x\r\n230-y\r\n230 z\r\n";

/// A sample, changed at random: bytes replaced, removed, repeated, or lengths made large.
fn mutated(random: &mut Random, sample: &[u8]) -> Vec<u8> {
    let mut bytes = sample.to_vec();
    for _ in 0..random.below(6) {
        let at = random.below(bytes.len().max(1)).min(bytes.len().saturating_sub(1));
        match random.below(5) {
            0 => bytes[at] = random.below(256) as u8,
            1 => drop(bytes.remove(at)),
            2 => {
                let end = (at + 1 + random.below(40)).min(bytes.len());
                let part = bytes[at..end].to_vec();
                let to = random.below(bytes.len());
                bytes.splice(to..to, part);
            }
            3 => bytes[at] = [0, 0xFF, b'\n', b' ', b'%', b':'][random.below(6)],
            _ => bytes.splice(at..at, b"99999999999999999999".iter().copied()).for_each(drop),
        }
        if bytes.is_empty() {
            bytes.push(0);
        }
    }
    bytes
}

/// The fields of all messages of a direction that comes in pieces.
fn fields(bytes: &[u8], to_server: bool, dns: bool, mut piece: impl FnMut() -> usize) -> Vec<(Field, Vec<u8>)> {
    let limits = Limits {
        body: 300,
        head: 2_000,
        handshake: 2_000,
        line: 500,
        files: true,
        hashes: true,
        client_certificates: true,
    };
    let (mut side, mut exchange, mut fields) = (Side::new(to_server, dns), Exchange::default(), Vec::new());
    let mut rest = bytes;
    while !rest.is_empty() {
        let (now, behind) = rest.split_at(piece().clamp(1, rest.len()));
        side.push(now, &limits, &mut exchange, &mut |event: &Event<'_>| fields.extend(event.new_fields().cloned()));
        rest = behind;
        // The limits bound the kept state for any input; a decoder has a fixed size.
        assert!(side.memory() + exchange.memory() < 600_000, "{} {}", side.memory(), exchange.memory());
    }
    side.finish(&limits, &mut exchange, &mut |event| fields.extend(event.new_fields().cloned()));
    fields
}

#[test]
fn mutated_messages_in_any_pieces_give_the_same_fields() {
    let mut random = Random(7);
    let samples = [
        (REQUESTS, true, false),
        (RESPONSES, false, false),
        (CLIENT_HELLO, true, false),
        (QUERY, true, true),
        (SMTP, true, false),
        (SSH, true, false),
        (SSH, false, false),
        (FTP, true, false),
        (REPLIES, false, false),
    ];
    let mut found = 0;
    for _ in 0..20_000 {
        let (sample, to_server, dns) = samples[random.below(samples.len())];
        let bytes = mutated(&mut random, sample);
        let whole = fields(&bytes, to_server, dns, || usize::MAX);
        assert_eq!(whole, fields(&bytes, to_server, dns, || 1), "{bytes:?}");
        assert_eq!(whole, fields(&bytes, to_server, dns, || 1 + random.below(20)), "{bytes:?}");
        found += usize::from(!whole.is_empty());
        if dns {
            datagram(&bytes[2.min(bytes.len())..], &mut Exchange::default());
        }
    }
    assert!(found > 10_000, "{found}");
}

#[test]
fn random_bytes_are_no_messages_and_do_no_harm() {
    let mut random = Random(11);
    for round in 0..20_000 {
        let begin: &[u8] = [
            &b""[..],
            b"GET ",
            b"HTTP/1.1 200 ",
            b"\x16\x03\x03",
            b"POST / HTTP/1.1\r\n",
            b"EHLO a\r\nDATA\r\n",
            b"220 SMTP\r\n",
            b"USER ",
            b"SSH-2.0-a\n",
        ][round % 9];
        let mut bytes = begin.to_vec();
        bytes.extend((0..random.below(400)).map(|_| random.below(256) as u8));
        for to_server in [true, false] {
            fields(&bytes, to_server, round % 7 == 0, || 1 + random.below(100));
        }
    }
}

/// A head without an end, a body that expands without an end, and many requests that nobody answers.
#[test]
fn messages_without_an_end_are_bounded() {
    let long = [&b"GET /"[..], &b"a".repeat(3_000_000)].concat();
    let headers = [&b"GET / HTTP/1.1\r\n"[..], &b"A: b\r\n".repeat(300_000)].concat();
    let requests = b"GET /x HTTP/1.1\r\nHost: a\r\n\r\n".repeat(20_000);
    let body = [&b"HTTP/1.1 200 OK\r\n\r\n"[..], &b"x".repeat(3_000_000)].concat();
    let file = b"--x\r\nContent-Disposition: a; filename=b\r\n\r\n0123456789\r\n".repeat(20_000);
    let mail = [&b"EHLO a\r\nDATA\r\nContent-Type: multipart/x; boundary=x\r\n\r\n"[..], &file].concat();
    let recipients = [&b"EHLO a\r\n"[..], &b"RCPT TO:<a>\r\n".repeat(100_000)].concat();
    let line = [&b"USER "[..], &b"a".repeat(3_000_000)].concat();
    let reply = [&b"220-FTP\r\n"[..], &b"220-more\r\n".repeat(300_000)].concat();
    let key = [&b"SSH-2.0-a\r\n\0\xff\xff\xff"[..], &b"a".repeat(3_000_000)].concat();
    let others = [(mail, true), (recipients, true), (line, true), (reply, false), (key, true)];
    let all = [(long, true), (headers, true), (requests, true), (body, false)].into_iter().chain(others);
    for (bytes, to_server) in all {
        fields(&bytes, to_server, false, || 60_000);
    }
}
