// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! `penstock gen`: makes traffic and writes it as a capture.

use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};

use clap::{Args as ClapArgs, ValueEnum};
use penstock_bench::five_tuple::{Flow, Random};
use penstock_bench::mix::{Mix, Trace};
use penstock_bench::wire::{self, LINE_GBPS};
use penstock_device::capture::{self, CaptureError};
use penstock_engine::say;
use serde_json::json;

use crate::files::{self, FileError};
use crate::show::{grouped, warn};

/// Ethernet, IPv4 and UDP headers.
const MIN_UDP: usize = 42;
/// Ethernet, IPv4 and TCP headers.
const MIN_TCP: usize = 54;
/// Longest frame that an IPv4 length field describes.
const MAX_SIZE: usize = 65_549;
/// Longest frame that a card takes.
const CARD_SIZE: usize = 16_384;

/// Makes traffic and writes it as a capture.
#[derive(Debug, ClapArgs)]
pub(crate) struct Args {
    /// Capture to write.
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
    /// Frames.
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u64).range(1..))]
    pub count: u64,
    /// Bytes of a frame without FCS: one size, a list `60,64,1500` to draw from, or `imix` (7 x 60, 4 x 590, 1 x 1514).
    #[arg(long, default_value = "64", value_parser = Sizes::parse)]
    pub size: Sizes,
    /// Flows (five-tuples) to draw from.
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub flows: u32,
    /// Protocol of the flows.
    #[arg(long, value_enum, default_value_t = Protocol::Udp)]
    pub proto: Protocol,
    /// Flows and sizes like those of a trace in the FlowBlaze paper (Table 6).
    #[arg(long, value_enum, value_name = "TRACE", conflicts_with_all = ["size", "flows", "proto", "hostile"])]
    pub mix: Option<Trace>,
    /// Rate that the times of the capture tell, Gb/s on the wire.
    #[arg(long, default_value_t = LINE_GBPS)]
    pub rate: f64,
    /// Seed: the same arguments give the same capture.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Draw the sources of some flows from this block list.
    #[arg(long, value_name = "LIST")]
    pub hostile: Option<PathBuf>,
    /// Share of the flows, 0..1, whose source is on the block list.
    #[arg(long, default_value_t = 0.5, requires = "hostile")]
    pub share: f64,
    /// Print what was written as JSON: file, frames, bytes, and ns from the first frame to the last.
    #[arg(long)]
    pub json: bool,
}

/// Sizes to draw from.
#[derive(Debug, Clone)]
pub(crate) struct Sizes(Vec<usize>);

impl Sizes {
    fn parse(text: &str) -> Result<Self, String> {
        if text == "imix" {
            return Ok(Self([vec![60; 7], vec![590; 4], vec![1514]].concat()));
        }
        let sizes: Result<Vec<usize>, _> = text.split(',').map(|word| word.trim().parse()).collect();
        match sizes {
            Ok(sizes) if sizes.iter().all(|size| (MIN_UDP..=MAX_SIZE).contains(size)) => Ok(Self(sizes)),
            _ => Err(format!(
                "`{text}`: give `imix` or sizes between {MIN_UDP} and {MAX_SIZE}, for example 64 or 60,64,1500"
            )),
        }
    }
}

/// Transport of the flows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Protocol {
    /// All UDP.
    Udp,
    /// All TCP; sizes from 54 bytes.
    Tcp,
    /// Half and half.
    Mix,
}

/// Why there is no traffic.
#[derive(Debug, thiserror::Error)]
pub(crate) enum GenError {
    #[error("{0}; choose a place that can be written, in a folder that is there")]
    Capture(#[from] CaptureError),
    #[error(transparent)]
    File(#[from] FileError),
    #[error("{}:{line}: `{text}` is no IPv4 prefix; write a.b.c.d/len", path.display())]
    Prefix { path: PathBuf, line: usize, text: String },
    #[error("{}: no prefix in it to draw sources from; add one, a.b.c.d/len", path.display())]
    NoPrefix { path: PathBuf },
    #[error("{0}")]
    Option(String),
}

/// Makes the frames and writes them.
pub(crate) fn run(args: &Args) -> Result<(), GenError> {
    if args.proto != Protocol::Udp && args.size.0.iter().any(|size| *size < MIN_TCP) {
        return Err(GenError::Option(format!(
            "TCP frames have at least {MIN_TCP} bytes; raise --size or use --proto udp"
        )));
    }
    if !(0.0..=1.0).contains(&args.share) {
        return Err(GenError::Option(format!("--share is {}; give a part of the flows, 0..1", args.share)));
    }
    if !(args.rate > 0.0 && args.rate.is_finite()) {
        return Err(GenError::Option(format!("--rate is {}; give Gb/s, above 0", args.rate)));
    }
    let mut random = Random(args.seed);
    let hostile = args.hostile.as_deref().map(read_prefixes).transpose()?.unwrap_or_default();
    let mut mix = args.mix.map(|trace| Mix::new(trace, args.seed));
    let flows: Vec<Flow> = (0..args.flows).map(|_| draw(&mut random, args, &hostile)).collect();
    let mut bytes = Vec::new();
    let mut places = Vec::new();
    let mut time = 0.0;
    for index in 0..args.count {
        let (flow, size) = mix.as_mut().and_then(Mix::next).unwrap_or_else(|| {
            let flow = flows[random.below(flows.len() as u64) as usize];
            (flow, args.size.0[random.below(args.size.0.len() as u64) as usize])
        });
        let start = bytes.len();
        flow.write(&mut bytes, size, index);
        places.push((time as u64, start..bytes.len()));
        time += wire::bits(size) / args.rate;
    }
    let ns = places.last().map_or(0, |(time, _)| *time);
    capture::write(&args.output, places.into_iter().map(|(time, range)| (time, &bytes[range])))?;
    if args.size.0.iter().any(|size| *size > CARD_SIZE) {
        warn(&format!("warning: a card drops frames of more than {CARD_SIZE} bytes as oversize\n"));
    }
    if args.json {
        say!("{}", json!({ "file": args.output, "frames": args.count, "bytes": bytes.len(), "ns": ns }));
        return Ok(());
    }
    say!("{}: {} frames, {} bytes", args.output.display(), grouped(args.count), grouped(bytes.len() as u64));
    Ok(())
}

/// Network address and length of each prefix of a block list that does not exempt.
fn read_prefixes(path: &Path) -> Result<Vec<(u32, u32)>, GenError> {
    let text = files::read(path, files::BLOCK_LIST)?;
    let mut prefixes = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or("").trim();
        let mut words = line.split_whitespace();
        let Some(word) = words.next() else { continue };
        if words.next() == Some("0") {
            continue;
        }
        let (address, length) = word.split_once('/').unwrap_or((word, "32"));
        match (address.parse::<Ipv4Addr>(), length.parse::<u32>()) {
            (Ok(address), Ok(length)) if length <= 32 => prefixes.push((u32::from(address), length)),
            _ => return Err(GenError::Prefix { path: path.to_path_buf(), line: index + 1, text: shown(line) }),
        }
    }
    if prefixes.is_empty() { Err(GenError::NoPrefix { path: path.to_path_buf() }) } else { Ok(prefixes) }
}

/// A line of a file as a message shows it: not too long, and nothing in it that a terminal obeys.
fn shown(line: &str) -> String {
    line.chars().take(60).collect::<String>().escape_debug().to_string()
}

/// A flow of those that the arguments describe.
fn draw(random: &mut Random, args: &Args, hostile: &[(u32, u32)]) -> Flow {
    // Friendly sources are of 198.18.0.0/15 (RFC 2544), which belongs to benchmarks.
    let mut source = 0xC612_0000 | random.below(1 << 17) as u32;
    if !hostile.is_empty() && random.below(1 << 32) as f64 / (1u64 << 32) as f64 <= args.share {
        let (network, length) = hostile[random.below(hostile.len() as u64) as usize];
        let host = u32::MAX.checked_shr(length).unwrap_or(0);
        source = (network & !host) | (random.below(1 << 32) as u32 & host);
    }
    Flow {
        tcp: match args.proto {
            Protocol::Udp => false,
            Protocol::Tcp => true,
            Protocol::Mix => random.below(2) == 1,
        },
        source,
        destination: 0xC000_0200 | random.below(256) as u32,
        source_port: 1024 + random.below(64_512) as u16,
        destination_port: [53, 80, 443, 6379][random.below(4) as usize],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        assert_eq!(Sizes::parse("60,1500").map(|s| s.0), Ok(vec![60, 1500]));
        assert_eq!(Sizes::parse("imix").map(|s| s.0.len()), Ok(12));
        assert!(Sizes::parse("41").is_err() && Sizes::parse("big").is_err() && Sizes::parse("").is_err());
    }
}
