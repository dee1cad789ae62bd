// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Both targets answer the host alike: the same values, and the same errors at the same addresses.
#![allow(clippy::panic, clippy::unwrap_used)]

use penstock_device::{Design, Device, Root, Target, open, regs};

const DESIGN: &str = "
[card]
name = \"registers\"
ports = 2

[dispatch]
policy = \"round-robin\"

[[units]]
engine = \"rpu\"
count = 1
program = \"../engines/rpu/programs/forward.c\"
";

const WINDOW: u32 = 0x4000_0000;
/// Registers that depend on a clock, or on the core's fetches before it has a program.
const OWN: [u32; 5] = [
    regs::CARD_CYCLES_L,
    regs::CARD_CYCLES_H,
    WINDOW + regs::UNIT_PC,
    WINDOW + regs::UNIT_TIME_L,
    WINDOW + regs::UNIT_TIME_H,
];

struct Twins {
    soft: Box<dyn Device>,
    rtl: Box<dyn Device>,
}

impl Twins {
    fn read(&mut self, address: u32) {
        let (soft, rtl) = (self.soft.read(address), self.rtl.read(address));
        let text = format!("read of {address:#x}: soft {soft:x?}, rtl {rtl:x?}");
        match (soft, rtl) {
            (Ok(soft), Ok(rtl)) => assert!(soft == rtl || OWN.contains(&address), "{text}"),
            (Err(soft), Err(rtl)) => assert_eq!(soft.to_string(), rtl.to_string()),
            _ => panic!("{text}"),
        }
    }

    fn write(&mut self, address: u32, value: u32) {
        let (soft, rtl) = (self.soft.write(address, value), self.rtl.write(address, value));
        match (&soft, &rtl) {
            (Err(soft), Err(rtl)) => assert_eq!(soft.to_string(), rtl.to_string()),
            _ => assert!(soft.is_ok() && rtl.is_ok(), "write of {address:#x}: soft {soft:?}, rtl {rtl:?}"),
        }
    }
}

#[test]
fn the_host_address_space_is_the_same_on_both_targets() {
    let root = Root::find().unwrap();
    let design = Design::parse(&root.join("designs/registers.toml"), DESIGN).unwrap();
    let [soft, rtl] = [Target::Soft, Target::Rtl].map(|target| open(&root, &design, target, &mut |_| {}).unwrap());
    let mut twins = Twins { soft, rtl };

    let card = || (0..0x1004).step_by(4).chain([1, 0x202, 0x403, 0x3FFF_FFFC, 0x4400_0000, 0x8000_0000, 0xFFFF_FFFC]);
    card().for_each(|address| twins.read(address));
    for value in [u32::MAX, 0] {
        card().for_each(|address| twins.write(address, value));
        card().for_each(|address| twins.read(address));
    }

    twins.write(regs::CARD_UNIT_WRITE_MASK, u32::MAX);
    let registers = || (0..0x200).step_by(4).map(|offset| WINDOW + offset);
    registers().for_each(|address| twins.read(address));
    registers().for_each(|address| twins.write(address, u32::MAX)); // the core stays in reset
    registers().for_each(|address| twins.read(address));
    // First and last words of data, packet and instruction memory and of the tables, and their neighbours.
    for (base, bytes) in
        [(0x80_0000, 0x8000), (0x100_0000, 0x10_0000), (0x200_0000, 0x1_0000), (0x300_0000, 0x100_0000)]
    {
        for offset in [base - 4, base, base + 2, base + bytes - 4, base + bytes] {
            twins.write(WINDOW + offset, 0x1234_5678 ^ offset);
            twins.read(WINDOW + offset);
        }
    }
    // Units that the card does not have, and none.
    for (reader, mask) in [(1, 2), (31, 1 << 31), (0, 0), (0, 3)] {
        twins.write(regs::CARD_UNIT_READ, reader);
        twins.write(regs::CARD_UNIT_WRITE_MASK, mask);
        twins.write(WINDOW + regs::UNIT_DEBUG_IN_L, 5);
        twins.read(WINDOW + regs::UNIT_DEBUG_IN_L);
    }
}
