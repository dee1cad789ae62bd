// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The shipped programs and the kernel: the same frames in give the same verdicts, frames and maps.
#![allow(clippy::print_stdout, reason = "a program for developers, which prints what it finds")]
#![allow(clippy::unwrap_used)]

mod common;

use common::frames::{HOSTS, PORTS, address, any, long_address};
use common::shipped;
use common::twins::Twins;
use penstock_testing::Numbers;

/// Frames that each program gets.
fn rounds() -> usize {
    std::env::var("PENSTOCK_XDP_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(1500)
}

/// Runs a program on random frames in both; returns how often each verdict came.
fn compare(file: &str, program: &str, fill: impl FnOnce(&mut Twins)) -> [usize; 5] {
    let mut verdicts = [0; 5];
    let mut twins = Twins::new(shipped(file));
    fill(&mut twins);
    let pair = twins.load(program);
    let mut numbers = Numbers(0x2468_ACE0_1357_9BDF);
    for round in 0..rounds() {
        let outcome = twins.run(&pair, &[], &any(&mut numbers));
        verdicts[outcome.result as usize] += 1;
        if round % 500 == 0 {
            twins.same_maps();
        }
    }
    twins.same_maps();
    println!("{program}: {verdicts:?}");
    verdicts
}

#[test]
fn drop_tx_redirect() {
    compare("drop", "drop", |_| {});
    compare("tx", "tx", |_| {});
    compare("redirect", "redirect", |_| {});
}

#[test]
fn xdp1_and_xdp2() {
    compare("xdp1", "xdp1", |_| {});
    let verdicts = compare("xdp2", "xdp2", |_| {});
    assert!(verdicts[1] > 0 && verdicts[3] > 0);
}

#[test]
fn xdp_adjust_tail() {
    let verdicts = compare("xdp_adjust_tail", "xdp_adjust_tail", |_| {});
    assert!(verdicts[2] > 0 && verdicts[3] > 0);
}

#[test]
fn redirect_map() {
    compare("redirect_map", "redirect_map", |twins| twins.set("ports", &[0; 4], &1u32.to_ne_bytes()));
    compare("redirect_map", "redirect_map", |_| {});
}

#[test]
fn rxq_info() {
    for options in 0..4u32 {
        for ifindex in [1, 2] {
            compare("rxq_info", "rxq_info", |twins| {
                let value: Vec<u8> = [3, ifindex, options].into_iter().flat_map(u32::to_ne_bytes).collect();
                twins.set("configs", &[0; 4], &value);
            });
        }
    }
}

#[test]
fn simple_firewall() {
    let verdicts = compare("simple_firewall", "simple_firewall", |_| {});
    assert!(verdicts[4] > 0);
}

#[test]
fn router_ipv4() {
    let verdicts = compare("router_ipv4", "router_ipv4", |twins| {
        for (bits, host, port, gateway) in [(8, 0, 0, 0), (16, 1, 1, 4), (32, 4, 2, 0), (24, 2, 60, 5), (32, 5, 63, 9)]
        {
            let key: Vec<u8> = u32::to_ne_bytes(bits).into_iter().chain(address(host)).collect();
            let gateway = if gateway == 0 { [0; 4] } else { address(gateway) };
            twins.set("routes", &key, &[u32::to_ne_bytes(port), gateway].concat());
        }
        for host in 0..8 {
            twins.set("neighbours", &address(host), &[host as u8; 12]);
        }
        for port in [0u32, 2, 63] {
            twins.set("ports", &port.to_ne_bytes(), &1u32.to_ne_bytes());
        }
    });
    assert!(verdicts[0] > 0 && verdicts[2] > 0 && verdicts[4] > 0);
}

#[test]
fn tx_ip_tunnel() {
    let verdicts = compare("tx_ip_tunnel", "tx_ip_tunnel", |twins| {
        for host in 0..HOSTS {
            for (protocol, port) in [(6, PORTS[0]), (17, PORTS[1]), (6, PORTS[2]), (1, 0), (58, 0)] {
                let mut short = [0; 16];
                short[..4].copy_from_slice(&address(host));
                for (family, address) in [(2u16, short), (10, long_address(host))] {
                    let mut key = address.to_vec();
                    key.extend(port.to_be_bytes());
                    key.extend(family.to_ne_bytes());
                    key.extend([protocol, 0, 0, 0]);
                    let mut value = [host as u8; 40];
                    value[32..34].copy_from_slice(&family.to_ne_bytes());
                    twins.set("services", &key, &value);
                }
            }
        }
    });
    assert!(verdicts[2] > 0 && verdicts[3] > 0);
}

#[test]
fn load_balancer() {
    let verdicts = compare("load_balancer", "load_balancer", |twins| {
        let mut numbers = Numbers(0x1111_2222_3333_4444);
        for host in 0..HOSTS {
            let (port, protocol) = if host % 2 == 0 { (PORTS[host % 4], 17) } else { (0, 6) };
            let key = [&address(host)[..], &port.to_be_bytes(), &[protocol, 0]].concat();
            twins.set("vips", &key, &[u32::to_ne_bytes(host as u32), u32::to_ne_bytes(host as u32 & 3)].concat());
        }
        for place in 0..HOSTS as u32 * 1021 {
            twins.set("ring", &place.to_ne_bytes(), &(numbers.below(200) as u32).to_ne_bytes());
        }
        for server in 0..256u32 {
            twins.set("servers", &server.to_ne_bytes(), &numbers.bytes(8));
        }
    });
    assert!(verdicts[1] > 0 && verdicts[2] > 0 && verdicts[3] > 0);
}
