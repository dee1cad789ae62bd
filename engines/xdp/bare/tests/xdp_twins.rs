// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Random programs on random frames: native code, plain Python (engines/xdp/tests/ebpf.py) and the core's RTL do the
//! same with frames and maps.
//!
//! `PENSTOCK_XDP_ROUNDS` says how many programs, `PENSTOCK_SEED` which is the first, `PENSTOCK_XDP_LANES` on cores of
//! how many lanes each runs ("1,2,3,4,8"); without that, on one of 1, 2, 4 and 8 lanes, in turn.
#![allow(clippy::panic, clippy::unwrap_used)]

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::time::Instant;

use penstock_device::rtl::RtlDevice;
use penstock_device::{Design, Device, Image, PartId, PartImage, Port, Rate, Root, Traffic};
use penstock_xdp_compiler::card::place;
use penstock_xdp_compiler::check::{Facts, check};
use penstock_xdp_compiler::ir::CONTEXTS;
use penstock_xdp_compiler::object;
use penstock_xdp_compiler::object::Object;
use penstock_xdp_compiler::random;
use penstock_xdp_compiler::translate::translate;
use penstock_xdp_host::rows::RowImage;
use penstock_xdp_host::{Lanes, XDP, XdpImage, object_of};
use penstock_xdp_soft::{Action, Engine, Frame, Input, Target};

/// Programs that go to the cards at a time.
const CHUNK: usize = 50;
/// Frames of a program, and the type of frames without IP: they belong to one flow, so one context processes them, in
/// order.
const FRAMES: usize = 10;
const ONE_FLOW: [u8; 2] = [0x88, 0xB5];

/// Pseudo-random numbers, the same in each run (SplitMix64).
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, limit: u64) -> usize {
        (self.next() % limit) as usize
    }

    /// A frame; of one flow with all others, or of any.
    fn frame(&mut self, one_flow: bool) -> Vec<u8> {
        let length = [14, 45, 46, 60, 64, 65, 14 + self.below(120), 60 + self.below(400)][self.below(8)];
        let mut frame: Vec<u8> = (0..length).map(|_| self.next() as u8).collect();
        frame[0] &= 0x7F;
        if one_flow {
            frame[12..14].copy_from_slice(&ONE_FLOW);
        } else if length >= 34 {
            frame[12..15].copy_from_slice(&[8, 0, 0x45]);
        }
        frame
    }
}

/// The fate of a frame.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Fate(Option<(Port, Vec<u8>)>);

/// A program, its frames, and the results of native code and Python.
struct Case {
    seed: u64,
    object: Object,
    program: object::Program,
    facts: Facts,
    frames: Vec<Vec<u8>>,
    wanted: Vec<Fate>,
}

/// The interpreter in Python.
struct Oracle {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Oracle {
    fn new(root: &Root) -> Oracle {
        let mut child = Command::new(root.join("build/venv/bin/python"))
            .arg(root.join("engines/xdp/tests/ebpf.py"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (input, output) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        Oracle { child, input, output }
    }

    /// Results, interfaces and frames, as native code gives them.
    fn run(&mut self, object: &Object, program: &object::Program, frames: &[Vec<u8>]) -> Vec<(u32, u32, Vec<u8>)> {
        let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        let mut text = format!("program {}", hex(&program.code.encode()));
        for map in &object.maps {
            let (kind, shape) = (map.shape.kind().unwrap(), &map.shape);
            text += &format!(" {kind}:{}:{}:{}", shape.key_bytes, shape.value_bytes, shape.max_entries);
        }
        text += "\n";
        frames.iter().for_each(|frame| text += &format!("frame {}\n", hex(frame)));
        self.input.write_all(text.as_bytes()).unwrap();
        self.input.flush().unwrap();
        let mut one = |_| {
            let mut line = String::new();
            self.output.read_line(&mut line).unwrap();
            let words: Vec<&str> = line.split_whitespace().collect();
            let bytes = words[2].as_bytes().chunks(2);
            let byte = |digits: &[u8]| u8::from_str_radix(std::str::from_utf8(digits).unwrap(), 16).unwrap();
            (words[0].parse().unwrap(), words[1].parse().unwrap(), bytes.map(byte).collect())
        };
        frames.iter().map(&mut one).collect()
    }
}

impl Drop for Oracle {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A program on frames by native code and by Python, which must agree; None: the checker refuses it.
fn case(bytes: &[u8], seed: u64, oracle: &mut Oracle) -> Option<Case> {
    let object = Object::read(bytes).unwrap();
    let program = random::for_card(&object, seed).unwrap();
    let facts = check(&object, &program).ok()?.facts;
    let mut numbers = Numbers(seed);
    let mut frames: Vec<Vec<u8>> = (0..FRAMES).map(|_| numbers.frame(!facts.maps.is_empty())).collect();
    let mut look = vec![0; random::LOOK_BYTES];
    look[0] = random::LOOK;
    look[12..14].copy_from_slice(&ONE_FLOW);
    frames.push(look);
    let mut engine = Engine::new(&object, 8).unwrap();
    let id = engine.add(&object, &program).unwrap();
    let python = oracle.run(&object, &program, &frames);
    let mut wanted = Vec::new();
    for (data, python) in frames.iter().zip(python) {
        let mut frame = Frame::new(data.clone());
        let verdict = engine.run(id, &mut frame, &Input { ifindex: 1, ..Input::default() }).unwrap();
        assert!(!verdict.stopped);
        let named = match (&verdict.target, verdict.action()) {
            (Some(Target::Port(port)), Action::Redirect) => port.ifindex,
            _ => 0,
        };
        let target = if verdict.action() == Action::Redirect { python.1 } else { 0 };
        let ours = (verdict.result, named, &frame.data);
        assert_eq!(ours, (python.0, target, &python.2), "seed {seed}, frame {data:02x?}\n{}", listing(&program));
        let to = match (verdict.action(), named) {
            (Action::Pass, _) | (Action::Redirect, 16) => Some(Port::Host),
            (Action::Tx, _) | (Action::Redirect, 1) => Some(Port::Ethernet(0)),
            (Action::Redirect, 2) => Some(Port::Ethernet(1)),
            _ => None,
        };
        wanted.push(Fate(to.map(|to| (to, frame.data))));
    }
    Some(Case { seed, object, program, facts, frames, wanted })
}

fn listing(program: &object::Program) -> String {
    program.code.iter().map(|(slot, insn)| format!("{slot}: {insn}\n")).collect()
}

/// A simulated card of one unit.
fn card(root: &Root, lanes: Lanes) -> RtlDevice {
    let text = format!(
        "[card]\nname = \"twins\"\nports = 2\n[dispatch]\npolicy = \"flow-hash\"\n[[units]]\nengine = \"xdp\"\ncount = 1\nxdp.lanes = {}\n\
         program = \"drop.c\"\n",
        lanes.count()
    );
    let design = Design::parse(&root.join("engines/xdp/programs/twins.toml"), &text).unwrap();
    RtlDevice::open(root, &design, None, &mut |_| {}).unwrap()
}

/// Runs a program on the card; gives how many rows it has.
fn on_card(card: &mut RtlDevice, lanes: Lanes, case: &Case) -> usize {
    let what = || format!("seed {}, {} lanes\n{}", case.seed, lanes.count(), listing(&case.program));
    let placement = place(&case.object, &case.facts.helpers, CONTEXTS);
    let translated = translate(&case.object, &case.program, &case.facts, lanes, &placement.layout);
    let translated = translated.unwrap_or_else(|error| panic!("{error}: {}", what()));
    let rows = translated.compiled.rows.len();
    let image = RowImage::of(&case.object, &case.facts, translated, placement)
        .unwrap_or_else(|error| panic!("{error}: {}", what()));
    let image = Arc::new(XdpImage::of_rows(image));
    let group = PartImage { part: PartId::Units(0), units: 0..1, engine: &XDP, image };
    card.load(&Image { groups: vec![group], ..Image::default() }).unwrap();
    let mut traffic = Traffic::default();
    case.frames.iter().for_each(|frame| traffic.push(Port::Ethernet(0), frame, 0));
    card.send(&traffic, Rate::Lossless).unwrap();
    let run = card.run(&mut |_| {}).unwrap();
    assert!(run.faults.is_empty(), "{:?}: {}", run.faults, what());
    let mut found = vec![Fate(None); case.frames.len()];
    for departure in run.departures {
        found[departure.input.unwrap()] = Fate(Some((departure.to, departure.bytes)));
    }
    for (number, (found, wanted)) in found.iter().zip(&case.wanted).enumerate() {
        assert_eq!(found, wanted, "frame {number}, {:02x?}: {}", case.frames[number], what());
    }
    rows
}

#[test]
fn programs() {
    let number = |name| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let (rounds, first) = (number("PENSTOCK_XDP_ROUNDS").unwrap_or(500), number("PENSTOCK_SEED").unwrap_or(1));
    let asked = std::env::var("PENSTOCK_XDP_LANES").ok();
    let words = asked.as_deref().unwrap_or("1,2,4,8");
    let lanes: Vec<Lanes> = words.split(',').map(|count| Lanes::new(count.parse().unwrap()).unwrap()).collect();
    let each = if asked.is_some() { 1 } else { lanes.len() };
    let root = Root::find().unwrap();
    let (bytes, _) = object_of(&root, &root.join("engines/xdp/compiler/tests/objects/twins.c")).unwrap();
    let mut oracle = Oracle::new(&root);
    // A card for each, on a separate thread.
    let worker = |(number, lanes): (usize, &Lanes)| {
        let (first, lanes) = (number % each, *lanes);
        let (to, cases) = sync_channel::<Arc<Vec<Case>>>(1);
        let root = root.clone();
        let work = move || {
            let mut card = card(&root, lanes);
            cases
                .iter()
                .flat_map(|cases| {
                    let mine = cases.iter().skip(first).step_by(each);
                    mine.map(|case| on_card(&mut card, lanes, case)).collect::<Vec<_>>()
                })
                .fold((0, 0), |(runs, all), rows| (runs + 1, all + rows))
        };
        (to, std::thread::spawn(work))
    };
    let workers: Vec<_> = lanes.iter().enumerate().map(worker).collect();
    let (begin, mut run, mut refused, mut frames) = (Instant::now(), 0, 0, 0);
    for start in (first..first + rounds).step_by(CHUNK) {
        let seeds = start..(start + CHUNK as u64).min(first + rounds);
        let cases: Vec<Case> = seeds.clone().filter_map(|seed| case(&bytes, seed * 7919, &mut oracle)).collect();
        refused += (seeds.end - seeds.start) as usize - cases.len();
        run += cases.len();
        frames += cases.iter().flat_map(|case| &case.wanted).filter(|fate| fate.0.is_some()).count();
        println!("{run} programs until seed {}, {:.0} s", seeds.end, begin.elapsed().as_secs_f64());
        let cases = Arc::new(cases);
        for (to, _) in &workers {
            // A worker that has failed reports the reason when it is joined.
            let _ = to.send(Arc::clone(&cases));
        }
    }
    let done = workers.into_iter().map(|(to, worker)| {
        drop(to);
        worker.join().unwrap()
    });
    let (runs, rows): (usize, usize) = done.fold((0, 0), |all, one| (all.0 + one.0, all.1 + one.1));
    let seconds = begin.elapsed().as_secs_f64();
    println!(
        "{run} programs, {runs} runs on {} cards ({:.0} rows each), {refused} refused, {frames} frames left; {:.1} runs/s",
        lanes.len(),
        rows as f64 / runs as f64,
        runs as f64 / seconds,
    );
    // The checker refuses few, and most frames leave the card, so that something is compared.
    assert!(refused * 4 < run && frames > 5 * run, "{run} run, {refused} refused, {frames} frames left");
}
