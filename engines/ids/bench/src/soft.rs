// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! `ids-soft`: Gb/s of native code on one processor, from frames in memory to a file of EVE: decoding, flows,
//! streams, messages, filter, rules, alerts. Beside it the filter alone over the payloads, and libraries that search
//! for the same strings.

use std::hint::black_box;
use std::path::PathBuf;

use penstock_bench::row::{Better::Higher, Row};
use penstock_bench::{BenchError, Lab, parameters, soft};
use penstock_engine::note;
use penstock_ids::{Block, Bounds, Inspector, Log, Scanner, Window};
use penstock_ids_compiler::Program;
use penstock_ids_samples::Frame;
use penstock_streams::decode;
use penstock_unit::{Block as _, Entering};
use serde_json::json;
use std::sync::Arc;

use crate::hyperscan::{self, Hyperscan};
use crate::input::{Source, program, sample};
use crate::library::{self, Library};

/// The bench's name in its rows.
const BENCH: &str = "ids-soft";
const RULES: [usize; 3] = [1_000, 10_000, 40_000];
const SOURCES: [Source; 3] = [Source::Sessions(1_448), Source::Sessions(200), Source::Captures];
/// The number of rules that figure and goal are about.
const LARGE: usize = 10_000;
/// Frames that are timed at once, at least: some hundreds of milliseconds.
const TIMED: usize = 300_000;
/// Suricata's figure, and our goal, Gb/s.
const PEER: (f64, &str) = (0.83, "published: Suricata, for a thread");
const GOAL: f64 = 5.0;

/// Measures all cases.
pub(crate) fn run(lab: &Lab) -> Result<(), BenchError> {
    for count in RULES {
        let mut loaded = None;
        for source in SOURCES {
            let case = parameters(&[("rules", json!(count)), ("traffic", json!(source.name()))]);
            if !lab.selection.takes(&case) {
                continue;
            }
            if loaded.is_none() {
                let rules = sample(count);
                let program = program(&rules)?;
                let library = Library::new(&program.filter)
                    .ok_or_else(|| wrong(format!("{} does not take the keys", library::NAME)))?;
                let hyperscan = Hyperscan::new(&program.filter);
                if hyperscan.is_none() {
                    note!(
                        "{BENCH}: Hyperscan is not measured: {} is not installed (Debian: apt install libhyperscan5)",
                        hyperscan::FILE
                    );
                }
                loaded = Some((rules, program, library, hyperscan));
            }
            let Some((rules, program, library, hyperscan)) = &loaded else { continue };
            let Some(frames) = source.frames(rules)? else { continue };
            let rates = measure(program, library, hyperscan.as_ref(), frames)?;
            let about = count == LARGE;
            let beside = [about.then_some(PEER.0), about.then_some(GOAL)];
            let whole = Row::new(BENCH, &case, ("gbps", "Gb/s", Higher), beside, rates.whole);
            let alone =
                |metric: &str, unit: &str, value| Row::new(BENCH, &case, (metric, unit, Higher), [None, None], value);
            let mut rows = vec![
                Row { peer: about.then(|| PEER.1.to_owned()), ..whole },
                alone("filter_gbps", "Gb/s of payload, the filter alone", rates.filter),
                alone("library_gbps", &format!("Gb/s of payload, {}", library::NAME), rates.library),
                alone("mpps", "million frames/s", rates.mpps),
                alone("host_share", "% of the frames had a rule evaluated", rates.host),
            ];
            let hyperscan = rates.hyperscan.zip(hyperscan.as_ref());
            rows.extend(hyperscan.map(|(rate, library)| {
                alone("hyperscan_gbps", &format!("Gb/s of payload, Hyperscan {}", library.version), rate)
            }));
            lab.report(&rows);
        }
    }
    Ok(())
}

fn wrong(text: String) -> BenchError {
    BenchError::Wrong(BENCH, text)
}

/// The figures of a case.
struct Rates {
    whole: f64,
    filter: f64,
    library: f64,
    /// If it is installed.
    hyperscan: Option<f64>,
    mpps: f64,
    host: f64,
}

/// A file that is removed in the end.
struct Eve(PathBuf);

impl Drop for Eve {
    fn drop(&mut self) {
        // Nothing depends on it.
        let _ = std::fs::remove_file(&self.0);
    }
}

fn measure(
    program: &Arc<Program>,
    library: &Library,
    hyperscan: Option<&Hyperscan>,
    frames: Vec<Frame>,
) -> Result<Rates, BenchError> {
    let count = frames.len();
    let bytes = |all: &[usize]| all.iter().sum::<usize>() as f64 * 8e-3 / count as f64;
    let payload = |frame: &'_ Frame| {
        decode(&frame.bytes).map_or(0..0, |packet| packet.payload_at..packet.payload_at + packet.payload.len())
    };
    let payloads: Vec<_> = frames.iter().map(payload).collect();
    let of_payload = bytes(&payloads.iter().map(ExactSizeIterator::len).collect::<Vec<_>>());
    let of_frames = bytes(&frames.iter().map(|frame| frame.bytes.len()).collect::<Vec<_>>());
    let all = || frames.iter().zip(&payloads).map(|(frame, range)| &frame.bytes[range.clone()]);

    let scanner = Scanner::new(&program.filter);
    let filter = soft::mpps_of(TIMED, count, || {
        let mut found = 0;
        for bytes in all() {
            let _ = scanner.scan(Window::default(), bytes, &mut |_, _| found += 1);
        }
        black_box(found);
        Ok(())
    })?;
    let searched = |search: &dyn Fn(&[u8]) -> usize| {
        soft::mpps_of(TIMED, count, || {
            black_box(all().map(search).sum::<usize>());
            Ok(())
        })
    };
    let plain = searched(&|bytes| library.count(bytes))?;
    let hyperscan = hyperscan.map(|library| searched(&|bytes| library.count(bytes))).transpose()?;

    let eve = Eve(std::env::temp_dir().join(format!("penstock-{}-{BENCH}.json", std::process::id())));
    let log = Log::new(Some(&eve.0)).map_err(|error| wrong(format!("{}: {}", error.path.display(), error.why)))?;
    let mut block = Block::new(Inspector::new(Arc::clone(program), Bounds::default(), false), log);
    let times: Vec<u64> = frames.iter().map(|frame| frame.time).collect();
    let length = times.last().copied().unwrap_or_default();
    let mut frames: Vec<Vec<u8>> = frames.into_iter().map(|frame| frame.bytes).collect();
    let (mut round, mut made, mut mark) = (0_u64, Vec::new(), 0);
    let mpps = soft::mpps_of(TIMED, count, || {
        // Frames of another tenant are of other flows: none is a retransmission of the round before. When numbers of
        // tenants begin again, the flows that had them have timed out.
        let entering = Entering { port: 0, hash: 0, tenant: round as u8 };
        for (frame, time) in frames.iter_mut().zip(&times) {
            block.set_time(round * length + time);
            black_box(block.carry(frame, &mut mark, entering, &mut made));
        }
        let (_, log) = block.parts();
        drop(log.take());
        round += 1;
        Ok(())
    })?;
    let stats = block.parts().0.stats();
    if stats.detect.searched_bytes == 0 || stats.frames.frames != round * count as u64 {
        return Err(wrong("frames were not searched".to_owned()));
    }
    Ok(Rates {
        whole: mpps * of_frames,
        filter: filter * of_payload,
        library: plain * of_payload,
        hyperscan: hyperscan.map(|rate| rate * of_payload),
        mpps,
        host: 100.0 * stats.detect.host_frames as f64 / stats.frames.frames as f64,
    })
}
