// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Damaged captures and designs are refused, or read as far as they are sound, with messages that name the file: no
//! panic, no case that takes long, none that takes much memory.
//!
//! `PENSTOCK_FUZZ_SECONDS` sets the time for new cases of each campaign, `PENSTOCK_SEED` the number of the first case.
#![allow(clippy::print_stdout, reason = "a program for developers, which prints what it finds")]
#![allow(clippy::unwrap_used)]

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use penstock_device::capture::{self, Packing};
use penstock_device::{Design, Root};
use penstock_testing::{Campaign, Counting, Numbers, alone, damage, most_held};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// A file that is removed with this.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        Self(std::env::temp_dir().join(format!("penstock-campaign-{}-{name}", std::process::id())))
    }

    fn write(&self, bytes: &[u8]) {
        fs::write(&self.0, bytes).unwrap();
    }

    /// Whether a message names the file.
    fn is_named(&self, text: &str) -> bool {
        text.contains(&*self.0.to_string_lossy())
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// A pcapng file with two sections: blocks of all kinds that the reader knows, and one that nobody knows.
fn pcapng(frames: &[Vec<u8>]) -> Vec<u8> {
    let mut file = Vec::new();
    let mut block = |kind: u32, body: &[u8]| {
        let padded = body.len().next_multiple_of(4);
        let length = (padded as u32 + 12).to_le_bytes();
        file.extend(kind.to_le_bytes());
        file.extend(length);
        file.extend(body);
        file.resize(file.len() + padded - body.len(), 0);
        file.extend(length);
    };
    for (number, frame) in frames.iter().enumerate() {
        if number == 0 || number == frames.len() / 2 {
            let section = [&[0x4D, 0x3C, 0x2B, 0x1A, 1, 0, 0, 0][..], &[0xFF; 8]].concat();
            block(0x0A0D_0D0A, &section);
            // Ethernet; a name, and a resolution of 10^-6 or 2^-20 s.
            let resolution = if number == 0 { 6 } else { 0x94 };
            block(
                1,
                &[1, 0, 0, 0, 0, 0, 4, 0, 2, 0, 2, 0, b'e', b'0', 0, 0, 9, 0, 1, 0, resolution, 0, 0, 0, 0, 0, 0, 0],
            );
            block(0x0BAD_0BAD, b"somebody's");
            block(4, &[1, 0, 9, 0, 192, 0, 2, 1, b'h', b'o', b's', b't', 0, 0, 0, 0, 0, 0, 0, 0]);
        }
        let length = (frame.len() as u32).to_le_bytes();
        match number % 3 {
            0 => block(3, &[&length[..], frame].concat()),
            _ => block(6, &[&[0; 4][..], &[0; 4], &(number as u32).to_le_bytes(), &length, &length, frame].concat()),
        }
    }
    file
}

/// Captures in all formats: pcap in both byte orders and resolutions, pcapng, and packed ones.
fn captures(root: &Path) -> Vec<(Vec<u8>, Packing)> {
    let real = fs::read(root.join("designs/traffic/web.outside.pcap")).unwrap();
    let frames: Vec<Vec<u8>> = (0..12u8).map(|n| vec![n; 14 + 17 * usize::from(n)]).collect();
    let mut all = vec![real[..8192].to_vec(), pcapng(&frames)];
    for (mark, is_big) in [(0xA1B2_C3D4u32, false), (0xA1B2_C3D4, true), (0xA1B2_3C4D, false), (0xA1B2_3C4D, true)] {
        let word = |word: u32| if is_big { word.to_be_bytes() } else { word.to_le_bytes() };
        let half = |half: u16| if is_big { half.to_be_bytes() } else { half.to_le_bytes() };
        let mut file = [&word(mark)[..], &half(2), &half(4), &[0; 8], &word(1 << 18), &word(1)].concat();
        for (time, frame) in (0..).zip(&frames) {
            let length = word(frame.len() as u32);
            file.extend([&word(time)[..], &word(7), &length, &length, frame].concat());
        }
        all.push(file);
    }
    let packings = [Packing::Plain, Packing::Plain, Packing::Gzip, Packing::Zstandard];
    all.iter().flat_map(|file| packings.map(|packing| (file.clone(), packing))).collect()
}

fn packed(file: &[u8], packing: Packing) -> Vec<u8> {
    match packing {
        Packing::Plain => file.to_vec(),
        Packing::Gzip => {
            let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            gzip.write_all(file).unwrap();
            gzip.finish().unwrap()
        }
        Packing::Zstandard => ruzstd::encoding::compress_to_vec(file, ruzstd::encoding::CompressionLevel::Fastest),
    }
}

/// Reads a capture to its end: the number of its frames. Nothing if it is refused.
fn read(file: &Scratch) -> Option<u64> {
    let mut reader = match capture::Reader::open(&file.0, Arc::default()) {
        Ok(reader) => reader,
        Err(error) => {
            assert!(file.is_named(&error.to_string()), "{error}");
            return None;
        }
    };
    let (mut frames, mut bytes) = (0, Vec::new());
    while reader.next(&mut bytes).is_some() {
        frames += 1;
    }
    assert!(reader.faults.iter().all(|fault| file.is_named(fault)), "{:?}", reader.faults);
    Some(frames)
}

#[test]
fn damaged_captures() {
    let (alone, root) = (alone(), Root::find().unwrap());
    let (captures, file) = (captures(root.path()), Scratch::new("capture"));
    // All are whole before they are damaged.
    for (capture, packing) in &captures {
        file.write(&packed(capture, *packing));
        assert!(read(&file).unwrap() >= 12);
    }
    // Small files that become large: 256 MiB of zeros behind a pcap header.
    for packing in [Packing::Gzip, Packing::Zstandard] {
        let mut large = captures[8].0[..24].to_vec();
        large.resize(256 << 20, 0);
        file.write(&packed(&large, packing));
        drop(large);
        let bytes = most_held(&alone, || assert!(read(&file).is_some()));
        assert!(bytes < Campaign::default().most_bytes, "{packing:?} takes {bytes} bytes");
    }
    let (mut refused, mut cut, mut whole) = (0, 0, 0);
    let tried = Campaign { cases: 6000, ..Campaign::default() }.run(&alone, |numbers| {
        let (capture, packing) = &captures[numbers.below(captures.len())];
        let (mut capture, mut packing) = (capture.clone(), *packing);
        // Damage of the capture, of what is packed, or of both.
        let when = numbers.below(3);
        if when != 1 {
            damage::bytes(&mut capture, numbers);
        }
        if numbers.below(8) == 0 {
            packing = numbers.of(&[Packing::Gzip, Packing::Zstandard]);
        }
        let mut bytes = packed(&capture, packing);
        if when != 0 {
            damage::bytes(&mut bytes, numbers);
        }
        file.write(&bytes);
        match read(&file) {
            None => refused += 1,
            Some(0..12) => cut += 1,
            Some(_) => whole += 1,
        }
    });
    println!("captures: {tried}; refused {refused}, cut {cut}, read to the end {whole}");
    // Otherwise the campaign would only try the first check of the reader.
    assert!([refused, cut, whole].iter().all(|part| part * 50 > tried.cases), "{refused} {cut} {whole}");
}

/// Words of designs that stand in none of ours.
const WORDS: &[&str] = &[
    "[",
    "]",
    "[[",
    "]]",
    "{",
    "}",
    "=",
    ".",
    ",",
    "\"",
    "\"\"\"",
    "'",
    "'''",
    "#",
    "\\",
    "\\u0000",
    "\n",
    "\0",
    "é",
    "true",
    "inf",
    "nan",
    "-0",
    "0x10",
    "1e400",
    "2026-11-29T00:00:00Z",
    "[card]",
    "[[units]]",
    "[[inline]]",
    "[[tenants]]",
    "[dispatch]",
    "engine",
    "count = 33",
    "ports = 5",
    "name = \"\"",
    "program = \"/\"",
    "vlan = 4096",
    "..",
    "../..",
    "/dev/zero",
];

/// The designs of a folder.
fn designs(folder: &Path) -> Vec<String> {
    let mut paths: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.retain(|path| path.extension().is_some_and(|end| end == "toml") && !path.ends_with("mutants.toml"));
    paths.iter().map(|path| fs::read_to_string(path).unwrap()).collect()
}

#[test]
fn damaged_designs() {
    let (alone, root) = (alone(), Root::find().unwrap());
    let folder = root.path();
    let texts: Vec<Vec<String>> = designs(&folder.join("designs")).iter().map(|text| damage::words(text)).collect();
    assert!(texts.len() > 10);
    // Paths in designs count from the design's own folder.
    let path = folder.join("designs/campaign.toml");
    let file = Scratch::new("design.toml");
    let (mut refused, mut taken) = (0, 0);
    let tried = Campaign { cases: 6000, ..Campaign::default() }.run(&alone, |numbers: &mut Numbers| {
        let text = damage::text(&texts, WORDS, numbers);
        let (design, name) = if numbers.below(8) == 0 {
            let mut bytes = text.into_bytes();
            damage::bytes(&mut bytes, numbers);
            file.write(&bytes);
            (Design::read(&file.0), &file.0)
        } else {
            (Design::parse(&path, &text), &path)
        };
        match design {
            Err(error) => {
                let error = error.to_string();
                assert!(error.contains(&*name.to_string_lossy()), "{error}");
                refused += 1;
            }
            Ok(design) => {
                assert!((1..=32).contains(&design.units()) && (1..=4).contains(&design.ports), "{design:?}");
                taken += 1;
            }
        }
    });
    println!("designs: {tried}; refused {refused}, taken {taken}");
    assert!(refused * 10 > tried.cases && taken * 10 > tried.cases, "{refused} {taken}");
}
