// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Filters of captures beside tcpdump's, on real captures.
#![allow(clippy::unwrap_used)]

use std::path::Path;
use std::process::Command;

use penstock_device::capture;
use penstock_live::Filter;

const FILTERS: [&str; 19] = [
    "tcp",
    "udp",
    "icmp or arp",
    "ip6",
    "ip and not tcp",
    "port 80",
    "tcp dst port 80 or udp src port 53",
    "src net 198.51.100.0/26",
    "dst net 192.0.2.64/26 and portrange 1-1023",
    "proto 17",
    "greater 200 and less 1000",
    "not (tcp or udp)",
    "icmp6",
    "ip6 and not icmp6",
    "host 198.51.100.12",
    "src host 198.51.100.12 and tcp",
    "dst host 192.0.2.80 or dst port 53",
    "net 0.0.0.0/0",
    "tcp and (port 80 or port 443 or port 6379) and greater 100",
];

#[test]
fn filters_are_those_of_tcpdump() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../designs/traffic");
    let captures = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let captures: Vec<_> = captures.filter(|path| path.extension().is_some_and(|end| end == "pcap")).collect();
    assert!(captures.len() > 5);
    let (mut passed, mut seen) = (0, 0);
    for path in captures {
        let frames = capture::read(&path).unwrap();
        for text in FILTERS {
            let filter: Filter = text.parse().unwrap();
            let mine = frames.frames().filter(|(_, bytes)| filter.passes(bytes)).count();
            let Ok(theirs) = Command::new("tcpdump").arg("-ntr").arg(&path).arg(text).output() else {
                return penstock_testing::skipped("needs tcpdump: install tcpdump");
            };
            // Addresses are numbers of one line for each frame.
            let theirs =
                String::from_utf8_lossy(&theirs.stdout).lines().filter(|line| !line.starts_with(['\t', ' '])).count();
            assert_eq!(mine, theirs, "{text}: {}", path.display());
            passed += mine;
            seen += frames.frames().count();
        }
    }
    assert!(passed > 1000 && passed < seen, "{passed} of {seen}");
}
