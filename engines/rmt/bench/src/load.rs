// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Entries of the programs, and frames that meet them.

use penstock_bench::PORTS;
use penstock_device::{Port, Traffic};
use serde_json::{Value, json};

use crate::card::Program;

/// Frames of a port's list, a prime.
const FRAMES: u32 = 61;
/// Routes and chains of a tenant.
const ENTRIES: u32 = 16;

/// Frames of both ports, those of a port in turn from each tenant.
pub fn traffic(program: Program, ports: u8, tenants: u16, size: usize) -> Traffic {
    let mut traffic = Traffic::default();
    for port in 0..ports {
        for number in 0..FRAMES {
            let vlan = 1 + number as u16 % tenants;
            traffic.push(Port::Ethernet(port), &(program.frame)(port, vlan, number, size), 0);
        }
    }
    traffic
}

/// The router's: 10.n.0.0/16 leaves at port n % 2.
pub fn routes() -> Vec<Value> {
    let route = |n: u32| {
        let key = json!({"hdr.ipv4.dst": format!("10.{n}.0.0/16")});
        json!({"table": "routes", "match": key, "action": "route", "params": {"next_hop": 1 + n % PORTS}})
    };
    let hop = |port: u32| {
        let params = json!({"port": port, "src": "02:00:00:00:01:00", "dst": "02:00:00:00:01:01"});
        json!({"table": "next_hops", "match": {"meta.next_hop": 1 + port}, "action": "forward", "params": params})
    };
    (0..ENTRIES).map(route).chain((0..PORTS).map(hop)).collect()
}

/// The access list's: two lines, of which one is met, and a class.
pub fn lines() -> Vec<Value> {
    vec![
        json!({"table": "lines", "match": {"hdr.ipv4.src": "10.0.0.0&&&255.0.0.0"}, "priority": 20, "action": "deny"}),
        json!({"table": "lines", "match": {"hdr.ipv4.protocol": 17}, "priority": 10, "action": "permit"}),
        json!({"table": "classes", "match": {"hdr.ipv4.dst": "10.0.0.0/8", "hdr.ipv4.protocol": 17},
               "action": "set_class", "params": {"class": 46}}),
    ]
}

/// The sequencer's: requests of chain n leave at port n % 2.
pub fn chains() -> Vec<Value> {
    let chain = |n: u32| {
        let params = json!({"index": n, "port": n % PORTS});
        json!({"table": "chains", "match": {"hdr.chain.id": n}, "action": "sequence", "params": params})
    };
    (0..ENTRIES).map(chain).collect()
}

/// The number of a route or a chain that leads to the other port.
fn entry(port: u8, number: u32) -> u8 {
    (2 * number % ENTRIES + (u32::from(port) + 1) % PORTS) as u8
}

/// Ethernet with a VLAN tag.
fn ethernet(vlan: u16, ethertype: u16) -> Vec<u8> {
    let mut frame = vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x81, 0];
    frame.extend(vlan.to_be_bytes());
    frame.extend(ethertype.to_be_bytes());
    frame
}

/// UDP over IPv4 to 10.n.x.y.
pub fn ipv4(port: u8, vlan: u16, number: u32, size: usize) -> Vec<u8> {
    let mut frame = ethernet(vlan, 0x0800);
    let length = (size - frame.len()) as u16;
    let [.., x, y] = number.to_be_bytes();
    let destination = [10, entry(port, number), x, y];
    let mut header = [&[0x45, 0][..], &length.to_be_bytes(), &[0, 0, 0x40, 0, 64, 17, 0, 0, 198, 18, 0, 1]].concat();
    header.extend(destination);
    let sum: u32 = header.chunks(2).map(|pair| u32::from(pair[0]) << 8 | u32::from(pair[1])).sum();
    let sum = !((sum >> 16) + (sum & 0xFFFF)) as u16;
    header[10..12].copy_from_slice(&sum.to_be_bytes());
    frame.extend(header);
    frame.extend([4, 0, 0, 53]);
    frame.extend((length - 20).to_be_bytes());
    frame.resize(size, 0);
    frame
}

/// A request of the sequencer.
pub fn request(port: u8, vlan: u16, number: u32, size: usize) -> Vec<u8> {
    let mut frame = ethernet(vlan, 0x1235);
    frame.extend([0, entry(port, number)]);
    frame.resize(size, 0);
    frame
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::card::{ACL, NETCHAIN, ROUTER};

    #[test]
    fn frames_have_their_size_and_tenants_take_turns() {
        for program in [ROUTER, ACL, NETCHAIN] {
            for size in [64, 1500] {
                let traffic = traffic(program, 2, 3, size);
                assert_eq!(traffic.frames.len(), 122);
                for (index, frame) in traffic.frames.iter().enumerate() {
                    assert_eq!(frame.range.len(), size);
                    assert_eq!(traffic.frame(index)[14..16], [0, 1 + (index % 61 % 3) as u8]);
                }
            }
        }
    }

    #[test]
    fn frames_lead_to_the_other_port() {
        for port in 0..2 {
            for number in 0..FRAMES {
                assert_eq!(entry(port, number) % 2, 1 - port);
                assert!(u32::from(entry(port, number)) < ENTRIES);
            }
        }
    }

    #[test]
    fn headers_have_a_right_checksum() {
        let frame = ipv4(0, 5, 300, 64);
        let sum: u32 = frame[18..38].chunks(2).map(|pair| u32::from(pair[0]) << 8 | u32::from(pair[1])).sum();
        assert_eq!((sum >> 16) + (sum & 0xFFFF), 0xFFFF);
    }
}
