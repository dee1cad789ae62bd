// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! How many instructions a second the simulator executes: a checksum over data memory, with loads, arithmetic and
//! branches. Seconds are those that this thread had a processor (Linux), so that other work on the machine does not
//! count.
#![allow(clippy::print_stdout, reason = "a program for developers, which prints what it finds")]
#![allow(clippy::unwrap_used)]

use std::path::Path;

use penstock_rpu::{Unit, accelerator::Kinds, regs};
use penstock_rpu_compiler::{Options, compile};
use penstock_unit::{Answer, Departure, Destination, Identity, Outside, Unit as _};

struct Nothing;

impl Outside for Nothing {
    fn send(&mut self, _departure: Departure, _bytes: &[u8]) -> Answer {
        Answer::Taken
    }
    fn generate(&mut self, _destination: Destination, _bytes: &[u8]) {}
    fn free(&mut self, _slot: u8) {}
    fn declare(&mut self, _count: u8, _bytes: u16) {}
}

/// Seconds of processor time that this thread has had.
fn seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    stat.split(' ').next().unwrap().parse::<f64>().unwrap() / 1e9
}

fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(3).unwrap();
    let source = root.join("engines/rpu/soft/benches/checksum.c");
    let firmware = compile(&[source], &Options::new(root)).unwrap();
    let mut unit = Unit::new(Identity { unit: 0, units: 1, ports: 1 }, Kinds::default());
    for (word, offset) in firmware.imem.chunks_exact(4).zip((0..).step_by(4)) {
        unit.host_write(0x0200_0000 + offset, u32::from_le_bytes(word.try_into().unwrap()));
    }
    unit.host_write(regs::UNIT_RESET, 0);
    for _ in 0..3 {
        let start = seconds();
        unit.run(&mut Nothing, 200_000_000);
        println!("{:.0} M instructions/s", 200.0 / (seconds() - start));
    }
}
