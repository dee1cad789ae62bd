// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! What client and server say to each other in a session.

use std::fmt::Write as _;
use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;
use penstock_bench::five_tuple::Random;

use crate::rules::Trigger;
use crate::words::{chance, hex, host, made_up, noise, pick, word};

/// Programs that fetch pages.
const AGENTS: [&str; 4] = [
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0 Safari/537.36",
    "Mozilla/5.0 (X11; Linux x86_64; rv:121.0) Gecko/20100101 Firefox/121.0",
    "Mozilla/5.0 (iPhone; CPU iPhone OS 17_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148",
    "curl/8.4.0",
];

/// The messages of a session, in turn: whether the client sends it, and the bytes.
#[derive(Debug, Clone)]
pub(crate) struct Session {
    pub(crate) port: u16,
    pub(crate) tcp: bool,
    pub(crate) turns: Vec<(bool, Vec<u8>)>,
}

/// A size between two, small ones more often than large ones.
fn size(random: &mut Random, least: f64, most: f64) -> usize {
    (least * (most / least).powf(random.part())) as usize
}

/// A page, a script or an answer of a service.
fn text(random: &mut Random, length: usize) -> String {
    let mut text = String::with_capacity(length + 100);
    match random.below(3) {
        0 => text += "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>",
        1 => text += "(function(){\"use strict\";var ",
        _ => text += "{\"status\":\"ok\",\"items\":[",
    }
    while text.len() < length {
        let (a, b, number) = (word(random), made_up(random), random.below(10_000));
        // Writing to a string does not fail.
        let _ = match random.below(6) {
            0 => writeln!(text, "<div class=\"{a}\"><a href=\"/{a}/{b}.html\">{} {a}</a></div>", word(random)),
            1 => write!(text, "<p>{} {a} {} {a} {}</p>", word(random), word(random), word(random)),
            2 => write!(text, "function {b}(e,t){{return e.{a}||t.{}}}var {b}={number};", word(random)),
            3 => write!(text, "{{\"id\":{number},\"{a}\":\"{}\",\"{}\":true}},", word(random), word(random)),
            4 => writeln!(text, ".{a}-{}{{margin:0 auto;color:#{}}}", word(random), hex(random, 6)),
            _ => {
                write!(text, "The {a} of the {} is {} and the {} was {b}. ", word(random), word(random), word(random))
            }
        };
    }
    text
}

fn gzip(text: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    // Writing to memory does not fail.
    let _ = encoder.write_all(text.as_bytes());
    encoder.finish().unwrap_or_default()
}

/// One to four exchanges of HTTP. Half of the answers are text, and half of this text is compressed. The other answers
/// are random bytes, like pictures.
fn http(random: &mut Random, trigger: Option<&str>) -> Session {
    let mut turns = Vec::new();
    let host = host(random);
    let agent = pick(random, &AGENTS);
    for number in 0..1 + random.below(4) {
        let path = match trigger.filter(|_| number == 0) {
            Some(uri) => uri.to_owned(),
            None => {
                let end = pick(random, &["html", "js", "css", "php", "png", "jpg", "json"]);
                let query =
                    if chance(random, 300) { format!("?{}={}", word(random), hex(random, 8)) } else { String::new() };
                format!("/{}/{}/{}.{end}{query}", word(random), word(random), made_up(random))
            }
        };
        let body = if trigger.is_none() && chance(random, 150) {
            format!("{}={}&{}={}", word(random), made_up(random), word(random), hex(random, 32))
        } else {
            String::new()
        };
        let (method, more) = if body.is_empty() {
            ("GET", String::new())
        } else {
            let kind = "application/x-www-form-urlencoded";
            ("POST", format!("Content-Type: {kind}\r\nContent-Length: {}\r\n", body.len()))
        };
        // Pages lead to pages; what meets a rule comes from nowhere.
        let referer = if trigger.is_none() { format!("Referer: http://{host}/\r\n") } else { String::new() };
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: {host}\r\nUser-Agent: {agent}\r\nAccept: */*\r\n\
             Accept-Language: en-US,en;q=0.5\r\nAccept-Encoding: gzip, deflate\r\n{referer}{more}\
             Cookie: session={}\r\nConnection: keep-alive\r\n\r\n{body}",
            hex(random, 32)
        );
        turns.push((true, request.into_bytes()));
        let length = size(random, 300.0, 120_000.0);
        let (kind, coding, body) = match random.below(4) {
            0 => ("text/html; charset=utf-8", "", text(random, length).into_bytes()),
            1 => ("application/javascript", "Content-Encoding: gzip\r\n", gzip(&text(random, length))),
            2 => ("image/jpeg", "", noise(random, length)),
            _ => ("application/octet-stream", "", noise(random, length)),
        };
        let head = format!(
            "HTTP/1.1 200 OK\r\nServer: nginx\r\nDate: Mon, 05 Jan 2026 10:00:00 GMT\r\nContent-Type: {kind}\r\n\
             Content-Length: {}\r\n{coding}Cache-Control: max-age=3600\r\nETag: \"{}\"\r\n\r\n",
            body.len(),
            hex(random, 16)
        );
        turns.push((false, [head.into_bytes(), body].concat()));
    }
    Session { port: 80, tcp: true, turns }
}

/// Bytes behind a length of two bytes.
fn vector(bytes: &[u8]) -> Vec<u8> {
    [&(bytes.len() as u16).to_be_bytes(), bytes].concat()
}

fn extension(kind: u16, bytes: &[u8]) -> Vec<u8> {
    [kind.to_be_bytes().to_vec(), vector(bytes)].concat()
}

/// A record of TLS.
fn record(kind: u8, bytes: &[u8]) -> Vec<u8> {
    [vec![kind, 3, 3], vector(bytes)].concat()
}

/// A message of the handshake in its record.
fn handshake(kind: u8, body: &[u8]) -> Vec<u8> {
    record(22, &[&[kind, 0], &vector(body)[..]].concat())
}

/// Hellos of TLS 1.3, then what is encrypted.
fn tls(random: &mut Random, trigger: Option<&str>) -> Session {
    let name = trigger.map_or_else(|| host(random), str::to_owned);
    let entry = [&[0], &vector(name.as_bytes())[..]].concat();
    let share = [vec![0, 29], vector(&noise(random, 32))].concat();
    let extensions = [
        extension(0, &vector(&entry)),
        extension(10, &vector(&[0, 29, 0, 23, 0, 24])),
        extension(11, &[1, 0]),
        extension(13, &vector(&[4, 3, 8, 4, 4, 1, 5, 3])),
        extension(16, &vector(b"\x02h2\x08http/1.1")),
        extension(43, &[4, 3, 4, 3, 3]),
        extension(51, &vector(&share)),
    ];
    let ciphers = vector(&[0x13, 1, 0x13, 2, 0x13, 3, 0xC0, 0x2B, 0xC0, 0x2F, 0xC0, 0x2C, 0xC0, 0x30]);
    let begin = |random: &mut Random| [vec![3, 3], noise(random, 32), vec![32], noise(random, 32)].concat();
    let client = [begin(random), ciphers, vec![1, 0], vector(&extensions.concat())].concat();
    let answer = [extension(43, &[3, 4]), extension(51, &share)].concat();
    let server = [begin(random), vec![0x13, 1, 0], vector(&answer)].concat();
    let sealed = |random: &mut Random, length: usize| -> Vec<u8> {
        let records =
            (0..length.div_ceil(16_000)).map(|at| record(23, &noise(random, (length - at * 16_000).min(16_000))));
        records.collect::<Vec<_>>().concat()
    };
    let mut turns = vec![(true, handshake(1, &client))];
    turns.push((false, [handshake(2, &server), record(20, &[1]), sealed(random, 3_000)].concat()));
    for _ in 0..1 + random.below(4) {
        let (asked, length) = (300 + random.below(500) as usize, size(random, 500.0, 150_000.0));
        turns.push((true, sealed(random, asked)));
        turns.push((false, sealed(random, length)));
    }
    Session { port: 443, tcp: true, turns }
}

/// A query and its answer.
fn dns(random: &mut Random, trigger: Option<&str>) -> Session {
    let name = trigger.map_or_else(|| host(random), str::to_owned);
    let mut question: Vec<u8> =
        name.split('.').flat_map(|label| [&[label.len() as u8], label.as_bytes()].concat()).collect();
    question.extend([0, 0, 1, 0, 1]);
    let id = noise(random, 2);
    let query = [&id[..], &[1, 0, 0, 1, 0, 0, 0, 0, 0, 0], &question].concat();
    let mut answer = [&id[..], &[0x81, 0x80, 0, 1, 0, 2, 0, 0, 0, 0], &question].concat();
    for _ in 0..2 {
        answer.extend([0xC0, 12, 0, 1, 0, 1, 0, 0, 1, 44, 0, 4]);
        answer.extend(noise(random, 4));
    }
    Session { port: 53, tcp: false, turns: vec![(true, query), (false, answer)] }
}

/// A mail with an attachment in base64.
fn smtp(random: &mut Random) -> Session {
    let (from, to) = (host(random), host(random));
    let length = size(random, 1_000.0, 60_000.0);
    let letters = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut mail = format!(
        "From: {} <{}@{from}>\r\nTo: <{}@{to}>\r\nSubject: {} {}\r\nMIME-Version: 1.0\r\n\r\n{}\r\n",
        made_up(random),
        word(random),
        word(random),
        word(random),
        word(random),
        text(random, 1_000)
    );
    while mail.len() < length {
        mail.extend(noise(random, 76).iter().map(|byte| char::from(letters[usize::from(*byte % 64)])));
        mail += "\r\n";
    }
    let turns = [
        (false, format!("220 {to} ESMTP Postfix\r\n")),
        (true, format!("EHLO {from}\r\n")),
        (false, format!("250-{to}\r\n250-SIZE 10240000\r\n250 8BITMIME\r\n")),
        (true, format!("MAIL FROM:<{}@{from}>\r\n", word(random))),
        (false, "250 2.1.0 Ok\r\n".to_owned()),
        (true, format!("RCPT TO:<{}@{to}>\r\n", word(random))),
        (false, "250 2.1.5 Ok\r\n".to_owned()),
        (true, "DATA\r\n".to_owned()),
        (false, "354 End data with <CR><LF>.<CR><LF>\r\n".to_owned()),
        (true, mail + ".\r\nQUIT\r\n"),
        (false, "250 2.0.0 Ok: queued\r\n221 2.0.0 Bye\r\n".to_owned()),
    ];
    Session {
        port: 25,
        tcp: true,
        turns: turns.into_iter().map(|(client, text)| (client, text.into_bytes())).collect(),
    }
}

/// A session: of a hundred, 45 of HTTP, 25 of TLS, 25 of DNS and 5 of SMTP; or one that meets a rule.
pub(crate) fn session(random: &mut Random, trigger: Option<&Trigger>) -> Session {
    match trigger {
        Some(Trigger::Uri(uri)) => http(random, Some(uri)),
        Some(Trigger::Name(name)) => dns(random, Some(name)),
        Some(Trigger::Server(name)) => tls(random, Some(name)),
        None => match random.below(100) {
            0..45 => http(random, None),
            45..70 => tls(random, None),
            70..95 => dns(random, None),
            _ => smtp(random),
        },
    }
}
