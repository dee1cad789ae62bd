// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! A card with an inline block and tenants, on both targets: the host writes the tenants when it opens the card, and
//! frames come out alike.
#![allow(clippy::unwrap_used)]

use penstock_device::{Design, Image, Port, Rate, Root, Target, Traffic, open, regs};

const DESIGN: &str = "
[card]
name = \"tenants\"
ports = 2

[[tenants]]
name = \"bob\"
vlan = 100

[[tenants]]
name = \"eve\"
vlan = 4094
ports = [1]

[[inline]]
engine = \"flow\"
program = \"PROGRAM\"
flow.contexts = 62

[[units]]
engine = \"rpu\"
count = 1
program = \"../engines/rpu/programs/forward.c\"
";

/// Address of TENANT_VLAN (shell/regs/inline.rdl).
const TENANT_VLAN: u32 = 0x4400_1000 + regs::INLINE_TENANT_VLAN;

#[test]
fn a_card_with_tenants_is_the_same_on_both_targets() {
    let root = Root::find().unwrap();
    let program = std::env::temp_dir().join(format!("penstock-tenants-{}.efsm", std::process::id()));
    // Two elements with few contexts, as in other tests, which share the model of the card.
    let text = "element one { eth.type == 0x88b5 => drop }\nelement other { eth.type == 0x88b6 => host }\n";
    std::fs::write(&program, text).unwrap();
    let text = DESIGN.replace("PROGRAM", program.to_str().unwrap());
    let design = Design::parse(&root.join("designs/tenants.toml"), &text).unwrap();
    let mut traffic = Traffic::default();
    for number in 0..60u8 {
        let mut frame = vec![2; 12];
        frame.extend([0x81, 0, number % 2, 100, 0x88, 0xB4 + number % 3]);
        frame.resize(60 + usize::from(number), number);
        traffic.push(Port::Ethernet(number % 2), &frame, 0);
    }
    let [soft, rtl] = [Target::Soft, Target::Rtl].map(|target| {
        let mut card = open(&root, &design, target, &mut |_| {}).unwrap();
        // The last value written.
        assert_eq!(card.read(TENANT_VLAN).unwrap(), 2 << 16 | 4094);
        assert!(card.read(0x4400_1000 + regs::INLINE_TENANT).is_err());
        card.load(&Image::of(&root, &design).unwrap()).unwrap();
        card.send(&traffic, Rate::Lossless).unwrap();
        let run = card.run(&mut |_| {}).unwrap();
        assert!(run.faults.is_empty(), "{:?}", run.faults);
        let inline = run.counters.inline.clone().unwrap();
        let block = &inline.blocks[0];
        let mut left: Vec<_> = run.departures.iter().map(|one| (one.to, one.input, one.bytes.clone())).collect();
        left.sort();
        (left, run.drops, run.generated, (block.frames, block.made, block.absorbed, block.blocked), inline.refused)
    });
    std::fs::remove_file(program).unwrap();
    assert_eq!(soft, rtl);
    assert_eq!((soft.0.len() as u64 + soft.3.3, soft.3.0), (60, 60));
}
