// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Entries of the programs, and frames that meet them.

use penstock_bench::PORTS;
use penstock_bench::five_tuple::Flow;
use penstock_bench::traffic::CLEAN;
use penstock_device::{Port, Traffic};
use serde_json::{Value, json};

use crate::card::Program;

/// Frames of a port's list, a prime.
const FRAMES: u32 = 61;
/// Routes and chains of a tenant.
const ENTRIES: u32 = 16;
/// Bytes of a VLAN tag, and of the addresses before it.
const TAG: usize = 4;
const ADDRESSES: usize = 12;

/// Frames of both ports, those of a port in turn from each tenant.
pub(crate) fn traffic(program: Program, ports: u8, tenants: u16, size: usize) -> Traffic {
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
pub(crate) fn routes() -> Vec<Value> {
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
pub(crate) fn lines() -> Vec<Value> {
    vec![
        json!({"table": "lines", "match": {"hdr.ipv4.src": "10.0.0.0&&&255.0.0.0"}, "priority": 20, "action": "deny"}),
        json!({"table": "lines", "match": {"hdr.ipv4.protocol": 17}, "priority": 10, "action": "permit"}),
        json!({"table": "classes", "match": {"hdr.ipv4.dst": "10.0.0.0/8", "hdr.ipv4.protocol": 17},
               "action": "set_class", "params": {"class": 46}}),
    ]
}

/// The sequencer's: requests of chain n leave at port n % 2.
pub(crate) fn chains() -> Vec<Value> {
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

/// Gives a frame the tag of a VLAN, behind the addresses.
fn tag(frame: &mut Vec<u8>, vlan: u16) {
    let [high, low] = vlan.to_be_bytes();
    frame.splice(ADDRESSES..ADDRESSES, [0x81, 0, high, low]);
}

/// UDP over IPv4 to an address of 10.n.0.0/16.
pub(crate) fn ipv4(port: u8, vlan: u16, number: u32, size: usize) -> Vec<u8> {
    let destination = 0x0A00_0000 | u32::from(entry(port, number)) << 16 | number & 0xFFFF;
    udp(destination, vlan, number, size)
}

/// UDP over IPv4 to an address.
pub(crate) fn udp(destination: u32, vlan: u16, number: u32, size: usize) -> Vec<u8> {
    let flow = Flow { tcp: false, source: CLEAN, destination, source_port: 1024, destination_port: 53 };
    let mut frame = Vec::new();
    flow.write(&mut frame, size - TAG, number.into());
    tag(&mut frame, vlan);
    frame
}

/// A request of the sequencer.
pub(crate) fn request(port: u8, vlan: u16, number: u32, size: usize) -> Vec<u8> {
    let mut frame = vec![2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x12, 0x35, 0, entry(port, number)];
    frame.resize(size - TAG, 0);
    tag(&mut frame, vlan);
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
}
