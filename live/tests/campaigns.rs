// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Hostile input of a live card: requests at its control socket, and frames with headers of virtio-net. The card goes
//! on: no panic, no request that takes long, none that takes much memory, and each request has an answer.
//!
//! `PENSTOCK_FUZZ_SECONDS` sets the time for new cases of each campaign, `PENSTOCK_SEED` the number of the first case.
#![allow(clippy::print_stdout, reason = "a program for developers, which prints what it finds")]
#![allow(clippy::panic, clippy::unwrap_used)]

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use penstock_device::{Design, Image, Root};
use penstock_live::offload::{HEADER_BYTES, Left};
use penstock_live::partial::left_of;
use penstock_live::protocol::{Answer, Request};
use penstock_live::{Driver, Live, Setup};
use penstock_testing::{Campaign, Counting, Numbers, alone, damage};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The beginning of the card; each engine has its part in tests/requests.
const CARD: &str = "[card]\nname = \"campaign\"\nports = 2\n";

/// Requests that no engine sees; each engine has its own in tests/requests.
const REQUESTS: &[&str] = &[
    r#"{"do":"status"}"#,
    r#"{"do":"counters"}"#,
    r#"{"do":"programs"}"#,
    r#"{"do":"log"}"#,
    r#"{"do":"read","address":8,"count":16}"#,
    r#"{"do":"write","address":64,"value":1}"#,
    r#"{"do":"mem_read","unit":0,"address":8388608,"count":64}"#,
    r#"{"do":"mem_write","unit":1,"address":8388608,"values":[1,2,3]}"#,
    r#"{"do":"poke","unit":0}"#,
    r#"{"do":"evict","unit":1}"#,
    r#"{"do":"debug","unit":0,"value":18446744073709551615}"#,
    r#"{"do":"enable","unit":3}"#,
    r#"{"do":"disable","unit":3}"#,
    r#"{"do":"capture","port":"0","way":"in","filter":"tcp and port 80","snap":64,"count":1,"ms":10}"#,
];

/// The card with a part of each engine, and requests to it: those that are answered in no time, and those that compile a
/// program, each some hundred milliseconds.
fn card(root: &Root) -> (String, Vec<String>, Vec<String>) {
    let mut folders: Vec<PathBuf> =
        fs::read_dir(root.join("engines")).unwrap().map(|entry| entry.unwrap().path()).collect();
    folders.sort();
    let (mut text, mut requests) = (CARD.to_owned(), REQUESTS.iter().map(|&line| line.to_owned()).collect::<Vec<_>>());
    for folder in folders.iter().map(|folder| folder.join("tests/requests")).filter(|folder| folder.is_dir()) {
        text += &fs::read_to_string(folder.join("part.toml")).unwrap();
        let lines = fs::read_to_string(folder.join("requests.jsonl")).unwrap();
        requests.extend(lines.lines().map(|line| line.replace("ROOT", &root.path().to_string_lossy())));
    }
    let (slow, quick) = requests.into_iter().partition(|line| line.contains("\"program\":"));
    (text, quick, slow)
}

/// Words of requests that stand in none of ours.
const WORDS: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    "\"",
    "\\",
    "\\u0000",
    "\\ud800",
    ":",
    ",",
    "null",
    "true",
    "-1",
    "1e999",
    "0.5",
    "[[[[[[[[",
    "é",
    "\"do\"",
    "\"unit\"",
    "\"../..\"",
    "\"/\"",
    "\"0x\"",
    "18446744073709551616",
    "4294967295",
    "0",
    "{}",
    "[]",
    "\"\"",
];

/// Time in which a request must be answered: a reload waits for its units.
const ANSWER: Duration = Duration::from_secs(20);

/// A connection to the card.
struct Client {
    lines: BufReader<UnixStream>,
}

impl Client {
    fn connect(path: &Path) -> Self {
        let stream = UnixStream::connect(path).unwrap();
        stream.set_read_timeout(Some(ANSWER)).unwrap();
        stream.set_write_timeout(Some(ANSWER)).unwrap();
        Self { lines: BufReader::new(stream) }
    }

    /// Sends a line; gives the answer to it.
    fn ask(&mut self, line: &[u8]) -> Answer {
        let stream = self.lines.get_mut();
        stream.write_all(line).and_then(|()| stream.write_all(b"\n")).unwrap();
        let mut answer = String::new();
        self.lines.read_line(&mut answer).unwrap();
        serde_json::from_str(&answer).unwrap_or_else(|error| panic!("{error}: {answer}"))
    }
}

/// A card that serves its control socket, in a thread of its own, until the process ends.
fn serve(root: &Root, text: &str, socket: PathBuf) {
    let design = Design::parse(&root.join("designs/campaign.toml"), text).unwrap();
    let image = Image::of(root, &design).unwrap();
    let (root, setup) =
        (root.clone(), Setup { interfaces: Vec::new(), driver: Driver::Packet, socket: socket.clone() });
    std::thread::spawn(move || {
        let end = Live::open(&root, &design, image, &setup).and_then(|mut live| live.run());
        panic!("the card is down: {end:?}");
    });
    for _ in 0..1000 {
        if UnixStream::connect(&socket).is_ok() {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("the card does not serve {}", socket.display());
}

#[test]
fn hostile_requests() {
    let (alone, root) = (alone(), Root::find().unwrap());
    let socket = std::env::temp_dir().join(format!("penstock-campaign-{}.sock", std::process::id()));
    let (text, quick, slow) = card(&root);
    assert!(quick.len() > REQUESTS.len() && !slow.is_empty());
    serve(&root, &text, socket.clone());
    let words = |lines: &[String]| lines.iter().map(|line| damage::words(line)).collect::<Vec<_>>();
    let (quick, slow) = (words(&quick), words(&slow));
    let mut client = Client::connect(&socket);
    for text in quick.iter().chain(&slow).map(|words| words.concat()) {
        serde_json::from_str::<Request>(&text).unwrap();
        client.ask(text.as_bytes());
        client = Client::connect(&socket);
    }
    let (mut done, mut refused, mut foreign) = (0, 0, 0);
    let campaign =
        Campaign { cases: 3000, most_bytes: 256 << 20, most_left: 64 << 20, longest: Duration::from_secs(30) };
    let tried = campaign.run(&alone, |numbers: &mut Numbers| {
        let of = if numbers.below(100) == 0 { &slow } else { &quick };
        let mut line =
            if numbers.below(4) == 0 { of[numbers.below(of.len())].concat() } else { damage::text(of, WORDS, numbers) }
                .into_bytes();
        if numbers.below(6) == 0 {
            damage::bytes(&mut line, numbers);
        }
        if numbers.below(40) == 0 {
            // A client that goes in the middle of a request.
            let _ = client.lines.get_mut().write_all(&line);
            client = Client::connect(&socket);
            return;
        }
        line.retain(|byte| *byte != b'\n');
        let request = serde_json::from_slice::<Request>(&line);
        foreign += u64::from(request.is_err());
        match client.ask(&line) {
            Answer::Ok(_) => {
                assert!(request.is_ok(), "{}", String::from_utf8_lossy(&line));
                done += 1;
            }
            Answer::Error(why) => {
                assert!(!why.is_empty());
                refused += 1;
            }
        }
        if matches!(request, Ok(Request::Capture { .. })) {
            client = Client::connect(&socket);
        }
        if numbers.below(16) == 0 {
            assert!(matches!(Client::connect(&socket).ask(br#"{"do":"status"}"#), Answer::Ok(_)));
        }
    });
    println!("requests: {tried}; done {done}, refused {refused}, of these no requests {foreign}");
    assert!(done * 10 > tried.cases && (refused - foreign) * 20 > tried.cases, "{done} {refused} {foreign}");
    fs::remove_file(socket).unwrap();
}

/// A frame that Linux could hand over: tags, IPv4 or IPv6, TCP or UDP, and where its transport header begins.
fn frame(numbers: &mut Numbers) -> (Vec<u8>, usize) {
    let mut frame = vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2];
    for _ in 0..numbers.of(&[0, 0, 1, 2, 30]) {
        frame.extend(numbers.of(&[[0x81, 0, 0, 5], [0x88, 0xA8, 0, 6]]));
    }
    let (tcp, most) = (numbers.below(2) == 0, numbers.of(&[1, 100, 3000, 66_000]));
    let payload = numbers.below(most);
    let (protocol, transport_bytes) = if tcp { (6, 20 + 4 * numbers.below(11)) } else { (17, 8) };
    let length = ((transport_bytes + payload) as u16).to_be_bytes();
    if numbers.below(2) == 0 {
        let options = numbers.of(&[0, 0, 1, 10]);
        let total = ((20 + 4 * options + transport_bytes + payload) as u16).to_be_bytes();
        frame.extend([8, 0, 0x45 + options as u8, 0, total[0], total[1], 0, 1, 0x40, 0, 64, protocol, 0, 0]);
        frame.extend(numbers.bytes(8 + 4 * options));
    } else {
        frame.extend([0x86, 0xDD, 0x60, 0, 0, 0, length[0], length[1], protocol, 64]);
        frame.extend(numbers.bytes(32));
    }
    let transport = frame.len();
    let mut header = numbers.bytes(transport_bytes);
    match tcp {
        true => header[12] = (transport_bytes as u8 / 4) << 4,
        false => header[4..6].copy_from_slice(&length),
    }
    frame.extend(header);
    frame.extend(numbers.bytes(payload));
    (frame, transport)
}

#[test]
fn hostile_headers_of_virtio_net() {
    let alone = alone();
    /// Bytes of all frames that one becomes, at most: each part has headers of its own.
    const MOST_OUT: usize = 16 << 20;
    let (mut refused, mut finished, mut cut, mut scratch) = (0u64, 0u64, 0u64, Vec::new());
    let campaign = Campaign { cases: 100_000, most_bytes: 1 << 20, ..Campaign::default() };
    let tried = campaign.run(&alone, |numbers: &mut Numbers| {
        let (mut frame, transport) = frame(numbers);
        let tcp = frame.len() > transport && numbers.below(2) == 0;
        let mut header = [0; HEADER_BYTES];
        header[0] = numbers.of(&[0, 1, 1, 3]);
        header[1] = numbers.of(&[0, 1, 4, 5, 0x81, 0x84, 3, 0xFF]);
        let half = |numbers: &mut Numbers, good: usize| match numbers.below(6) {
            0 => numbers.next() as u16,
            1 => numbers.of(&[0, 1, 2, 7, 8, 9, 0x7FFF, 0x8000, 0xFFFF]),
            _ => good as u16,
        };
        let size = numbers.of(&[8, 536, 1448, 1460]);
        for (at, good) in [(2, transport), (4, size), (6, transport), (8, if tcp { 16 } else { 6 })] {
            header[at..at + 2].copy_from_slice(&half(numbers, good).to_ne_bytes());
        }
        if numbers.below(2) == 0 {
            damage::bytes(&mut frame, numbers);
        }
        let vlan = (numbers.below(4) == 0).then_some([0x81, 0, 0x20, 1]);
        for left in [Left::new(header, vlan), left_of(&frame)] {
            let (mut frames, mut bytes) = (0, 0);
            let done = left.finish(&frame, &mut scratch, &mut |out| {
                frames += 1;
                bytes += out.len();
                assert!(out.len() <= frame.len() + 4, "a frame grows by more than a tag");
            });
            assert!(bytes <= MOST_OUT, "{} bytes become {bytes}", frame.len());
            match done {
                Err(error) => {
                    assert!(frames == 0 && !error.to_string().is_empty());
                    refused += 1;
                }
                Ok(()) if frames > 1 => cut += 1,
                Ok(()) => finished += 1,
            }
        }
    });
    println!("frames: {tried}; refused {refused}, finished {finished}, cut {cut}");
    assert!([refused, finished, cut].iter().all(|part| part * 20 > tried.cases), "{refused} {finished} {cut}");
}
