// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! `rmt-soft`: frames a second of native code on one processor, 64-byte frames.
//!
//! Routes have random prefixes of 8 to 28 bits. Lines of access lists match a random source network and a range of
//! ports; the frames meet none of them, so that all lines count. Beside it stands what bmv2's documentation says of
//! the reference switch.

use std::hint::black_box;

use penstock_bench::five_tuple::Random;
use penstock_bench::row::{Better::Higher, Row};
use penstock_bench::{BenchError, Lab, parameters, soft};
use penstock_device::{Root, files};
use penstock_rmt::Block;
use penstock_rmt_compiler::ir::{ActionCall, Entry, Match, Program};
use penstock_unit::{Block as _, Entering, Verdict};
use serde_json::json;

use crate::load;

/// The bench's name in its rows.
const BENCH: &str = "rmt-soft";
const SIZE: usize = 64;
const TENANT: u8 = 1;
const FRAMES: u32 = 4096;
/// Frames that are timed at once.
const TIMED: usize = 400_000;
/// The origin of the figure beside ours.
const PEER: &str = "bmv2's documentation: a simple router at 80 kpps; 4,500 pps with 10,000 routes and 500 lines";

/// A case: name, program, what its tables hold, bmv2's figure and our goal, Mpps.
struct Case {
    program: &'static str,
    routes: usize,
    lines: usize,
    peer: f64,
    goal: f64,
}

const CASES: [Case; 3] = [
    Case { program: "router", routes: 16, lines: 0, peer: 0.08, goal: 10.0 },
    Case { program: "router", routes: 10_000, lines: 0, peer: 0.08, goal: 5.0 },
    Case { program: "acl", routes: 10_000, lines: 500, peer: 0.0045, goal: 5.0 },
];

/// Measures all cases.
pub(crate) fn run(lab: &Lab) -> Result<(), BenchError> {
    for case in CASES {
        let mpps = measure(lab.root, &case)?;
        let parameters = parameters(&[
            ("program", json!(case.program)),
            ("routes", json!(case.routes)),
            ("lines", json!(case.lines)),
        ]);
        let row = Row::new(
            BENCH,
            &parameters,
            ("mpps", "million frames/s", Higher),
            [Some(case.peer), Some(case.goal)],
            mpps,
        );
        lab.report(&[Row { peer: Some(PEER.into()), ..row }]);
    }
    Ok(())
}

fn wrong(text: impl ToString) -> BenchError {
    BenchError::Wrong(BENCH, text.to_string())
}

/// The number of the table or action whose full name ends like this.
fn index<'a>(mut names: impl Iterator<Item = &'a String>, end: &str) -> Result<usize, BenchError> {
    names.position(|name| name.ends_with(end)).ok_or_else(|| wrong(format!("the program has no {end}")))
}

/// The program, with tables that are large enough.
fn program(root: &Root, name: &str) -> Result<Program, BenchError> {
    let path = root.join("engines/rmt/programs").join(format!("{name}.p4"));
    let mut source = files::read(&path, "it is one of the engine's programs")?;
    for (small, large) in
        [("size = 1024;", "size = 16384;"), ("size = 8;", "size = 16384;"), ("size = 32;", "size = 512;")]
    {
        source = source.replace(small, large);
    }
    let compiled = penstock_rmt_compiler::compile(&path.display().to_string(), &source);
    Ok(compiled.map_err(wrong)?.program)
}

fn measure(root: &Root, case: &Case) -> Result<f64, BenchError> {
    let program = program(root, case.program)?;
    let (mut block, addresses) = filled(&program, case)?;
    let fresh: Vec<Vec<u8>> =
        (0..FRAMES).map(|n| load::udp(addresses[n as usize * 7 % addresses.len()], 1, n, SIZE)).collect();
    let mut work = Vec::new();
    let mut made = Vec::new();
    soft::mpps_of(TIMED, fresh.len(), || {
        for frame in &fresh {
            work.clone_from(frame);
            let entering = Entering { port: 0, hash: 0, tenant: TENANT };
            match black_box(block.carry(&mut work, &mut 0, entering, &mut made)) {
                Verdict::Port(_) => {}
                other => return Err(wrong(format!("a frame does not leave at a port: {other:?}"))),
            }
        }
        Ok(())
    })
}

/// The program with its entries, and an address of each prefix.
fn filled(program: &Program, case: &Case) -> Result<(Block, Vec<u32>), BenchError> {
    let table = |end: &str| index(program.tables.iter().map(|table| &table.name), end);
    let action = |end: &str| index(program.actions.iter().map(|action| &action.name), end);
    let mut block = Block::default();
    block.load(TENANT, program.clone().into()).map_err(wrong)?;
    let tenant = block.tenant_mut(TENANT).ok_or_else(|| wrong("the block has no program"))?;
    let (prefixes, of_prefix) = match case.program {
        "router" => {
            let (next_hops, forward) = (table(".next_hops")?, action(".forward")?);
            for hop in 0..16 {
                let call =
                    ActionCall { action: forward, args: vec![hop % 2, 0x0200_0000_0000 + hop, 0x0400_0000_0000] };
                tenant.insert(next_hops, &Entry::new(vec![Match::Exact(hop)], 0, call)).map_err(wrong)?;
            }
            (table(".routes")?, action(".route")?)
        }
        _ => (table(".classes")?, action(".set_class")?),
    };
    let mut random = Random(1);
    let mut addresses = Vec::new();
    while addresses.len() < case.routes {
        let length = 8 + random.next() as u32 % 21;
        let address = random.next() as u32;
        let prefix = Match::Lpm((address & !(u32::MAX >> length)).into(), length);
        let keys = if case.program == "router" { vec![prefix] } else { vec![prefix, Match::Exact(17)] };
        let call = ActionCall { action: of_prefix, args: vec![u128::from(address % 16)] };
        // Two random prefixes can be the same one.
        if tenant.insert(prefixes, &Entry::new(keys, 0, call)).is_ok() {
            addresses.push(address);
        }
    }
    for line in 0..case.lines as u128 {
        let (lines, deny) = (table(".lines")?, action(".deny")?);
        let mask = u32::MAX << (random.next() % 17);
        let network = (0xAC10_0000 | random.next() as u32 & 0xF_FFFF) & mask;
        let keys = vec![
            Match::Ternary(network.into(), mask.into()),
            Match::Ternary(0, 0),
            Match::Exact(17),
            Match::Range(1024, 1024 + line),
        ];
        let entry = Entry::new(keys, 1 + line as i32, ActionCall { action: deny, args: Vec::new() });
        tenant.insert(lines, &entry).map_err(wrong)?;
    }
    Ok((block, addresses))
}
