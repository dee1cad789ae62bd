// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The demo's traffic: captures of real programs, and hostile frames made here, always the same.

use std::net::Ipv4Addr;

use penstock_device::capture::{self, CaptureError};
use penstock_device::{Port, Root, Traffic};

use super::list::Rule;
use penstock_bench::five_tuple::{Flow, Random};

/// Captures in designs/traffic, by program: `NAME.outside.pcap` enters at port 0, `NAME.inside.pcap` at port 1.
pub(super) const PROGRAMS: [&str; 3] = ["web", "store", "names"];
/// Frames made for each captured frame.
const HOSTILE_PER_FRAME: usize = 12;
/// The targets of the hostile frames: the servers of the captures.
const SERVERS: [Ipv4Addr; 3] =
    [Ipv4Addr::new(192, 0, 2, 80), Ipv4Addr::new(192, 0, 2, 79), Ipv4Addr::new(192, 0, 2, 53)];

/// The demo's frames, and their number by kind.
pub(super) struct Mix {
    pub traffic: Traffic,
    pub captured: u64,
    pub made: u64,
    /// Faults of the captures.
    pub faults: Vec<String>,
}

/// Reads the captures and mixes them with frames from addresses inside, at the edges of, and beside the prefixes of
/// `list`.
pub(super) fn mix(root: &Root, list: &[Rule]) -> Result<Mix, CaptureError> {
    let mut captured: Vec<(Port, Vec<u8>)> = Vec::new();
    let mut faults = Vec::new();
    for program in PROGRAMS {
        let mut both: Vec<(u64, Port, Vec<u8>)> = Vec::new();
        for (side, port) in [("outside", Port::Ethernet(0)), ("inside", Port::Ethernet(1))] {
            let mut read = capture::read(&root.join(format!("designs/traffic/{program}.{side}.pcap")))?;
            both.extend(read.frames().map(|(time, bytes)| (time, port, bytes.to_vec())));
            faults.append(&mut read.faults);
        }
        both.sort_by_key(|(time, ..)| *time);
        captured.extend(both.into_iter().map(|(_, port, bytes)| (port, bytes)));
    }
    let mut random = Random(0x70656e73746f636b);
    let mut mix = Mix { traffic: Traffic::default(), captured: captured.len() as u64, made: 0, faults };
    for (port, bytes) in captured {
        for _ in 0..HOSTILE_PER_FRAME {
            let frame = hostile(&mut random, list, mix.made);
            mix.traffic.push(Port::Ethernet((random.next() % 2) as u8), &frame, 0);
            mix.made += 1;
        }
        mix.traffic.push(port, &bytes, 0);
    }
    Ok(mix)
}

/// One frame for one of the servers.
fn hostile(random: &mut Random, list: &[Rule], number: u64) -> Vec<u8> {
    let tcp = random.below(2) == 0;
    let flow = Flow {
        tcp,
        source: address(random, list),
        destination: SERVERS[random.below(SERVERS.len() as u64) as usize].into(),
        source_port: 1024 + random.below(64_000) as u16,
        destination_port: if tcp { 80 } else { 53 },
    };
    // Mostly floods of small frames, and some that carry data.
    let size = if random.below(4) > 0 { 60 } else { 60 + random.below(1455) as usize };
    let mut frame = Vec::with_capacity(size);
    flow.write(&mut frame, size, number);
    frame
}

/// A source address: of nine, four lie inside a prefix of the list, four are at its edges, and one is random.
fn address(random: &mut Random, list: &[Rule]) -> u32 {
    let anything = random.next() as u32;
    let Some(rule) = list.get(random.below(list.len().max(1) as u64) as usize) else { return anything };
    let (first, last) = (rule.first(), rule.last());
    match random.below(9) {
        0..=3 => first + (u64::from(anything) % (u64::from(last - first) + 1)) as u32,
        4 => first,
        5 => last,
        6 => first.wrapping_sub(1),
        7 => last.wrapping_add(1),
        _ => anything,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_frames_are_whole_and_the_same_every_time() {
        let list = [Rule { prefix: u32::from(Ipv4Addr::new(198, 18, 4, 0)), length: 22, class: 1 }];
        let frames = |seed| {
            let mut random = Random(seed);
            (0..500).map(|number| hostile(&mut random, &list, number)).collect::<Vec<_>>()
        };
        let made = frames(1);
        assert_eq!(made, frames(1));
        assert_ne!(made, frames(2));
        for frame in &made {
            assert!((60..=1514).contains(&frame.len()));
        }
        let inside = made.iter().filter(|f| f[26] == 198 && f[27] == 18 && (4..8).contains(&f[28])).count();
        assert!((300..450).contains(&inside), "{inside} of 500 inside the prefix");
    }
}
