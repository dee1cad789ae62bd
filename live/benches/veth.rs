// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! How fast the card is between two veth pairs, by packet sockets and by AF_XDP: `cargo bench -p penstock-live`, as
//! root. A process in one network namespace sends 64 flows as fast as it can, the card is in a second one, and the
//! kernel counts what arrives in a third.
#![allow(clippy::print_stderr, clippy::print_stdout, reason = "a program for developers, which prints what it finds")]
#![allow(clippy::panic, clippy::unwrap_used)]

use std::env;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use penstock_device::{Design, Image, Port, Root};
use penstock_live::protocol::{Request, Status};
use penstock_live::socket::{Sender, index_of};
use penstock_live::{Client, Driver, Live, Setup};

const NAMESPACES: [&str; 3] = ["penstock-bench-left", "penstock-bench-card", "penstock-bench-right"];
const SECONDS: u64 = 5;
const FLOWS: usize = 64;
/// Bytes of a frame on the wire beside its own: preamble, FCS, gap.
const OVERHEAD: u64 = 24;

fn main() {
    let words: Vec<String> = env::args().skip(1).filter(|word| word != "--bench").collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["card", driver, design] => card(driver, design),
        ["send", bytes, rate] => send(bytes.parse().unwrap(), rate.parse().unwrap()),
        [] => measure(),
        _ => panic!("cargo bench -p penstock-live takes no arguments"),
    }
}

fn measure() {
    for name in NAMESPACES {
        // The remains of a run that was killed.
        ip(&format!("netns del {name}"));
        if !ip(&format!("netns add {name}")) {
            println!("skipped: needs root and ip (iproute2), for network namespaces");
            return;
        }
    }
    let [left, card, right] = NAMESPACES;
    for (outside, outer, inner) in [(left, "l0", "p0"), (right, "r0", "p1")] {
        assert!(ip(&format!("link add {outer} netns {outside} type veth peer name {inner} netns {card}")));
        for (place, interface) in [(outside, outer), (card, inner)] {
            // No frames of the kernel's own.
            let quiet = format!("echo 1 > /proc/sys/net/ipv6/conf/{interface}/disable_ipv6");
            assert!(in_namespace(place, "sh").args(["-c", &quiet]).status().unwrap().success());
            assert!(ip(&format!("-n {place} link set {interface} up")));
        }
    }
    println!(
        "driver  design    bytes  offered Mpps  carried Mpps  carried Gb/s  overflow  other drops  card's CPU, ns a frame"
    );
    for driver in ["packet", "xdp"] {
        for design in ["forward", "firewall"] {
            for bytes in [64, 1500] {
                // At full speed, then at half of the carried rate: the second must lose nothing.
                let carried = run(driver, design, bytes, 0);
                run(driver, design, bytes, (carried / 2.0) as u64);
            }
        }
    }
    NAMESPACES.iter().for_each(|name| assert!(ip(&format!("netns del {name}"))));
}

/// Carries frames for some seconds; gives frames a second.
fn run(driver: &str, design: &str, bytes: usize, rate: u64) -> f64 {
    let [left, place, _] = NAMESPACES;
    let mut card = start(place, &["card", driver, design]);
    let mut client = loop {
        sleep(Duration::from_millis(100));
        if let Ok(client) = Client::connect(&socket()) {
            break client;
        }
        assert!(card.try_wait().unwrap().is_none(), "the card ended");
    };
    let before = arrived();
    let busy_before = cpu_seconds(status(&mut client).process);
    let clock = Instant::now();
    let mut sender = start(left, &["send", &bytes.to_string(), &rate.to_string()]);
    assert!(sender.wait().unwrap().success());
    let seconds = clock.elapsed().as_secs_f64();
    sleep(Duration::from_millis(500));
    let frames = arrived() - before;
    let status = status(&mut client);
    let busy = (cpu_seconds(status.process) - busy_before) * 1e9 / frames.max(1) as f64;
    let overflow = status.drops.get("overflow").copied().unwrap_or(0);
    let others: u64 = status.drops.iter().filter(|(reason, _)| *reason != "overflow").map(|(_, count)| count).sum();
    let offered = (status.ports[0].rx_frames + overflow) as f64 / seconds / 1e6;
    let mpps = frames as f64 / seconds / 1e6;
    let gbps = mpps * 1e6 * ((bytes as u64 + OVERHEAD) * 8) as f64 / 1e9;
    println!(
        "{driver:6}  {design:8}  {bytes:5}  {offered:12.3}  {mpps:12.3}  {gbps:12.3}  {overflow:8}  {others:11}  {busy:22.0}"
    );
    assert!(Command::new("kill").args(["-INT", &status.process.to_string()]).status().unwrap().success());
    assert!(card.wait().unwrap().success());
    mpps * 1e6
}

fn status(client: &mut Client) -> Status {
    client.ask(&Request::Status).unwrap().status.unwrap()
}

/// Processor time of a process: its cost, whatever else the machine does. Clock ticks are 10 ms.
fn cpu_seconds(process: u32) -> f64 {
    let text = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap();
    let ticks = text.rsplit(')').next().unwrap().split_whitespace().skip(11).take(2);
    ticks.map(|word| word.parse::<f64>().unwrap()).sum::<f64>() / 100.0
}

/// The card itself.
fn card(driver: &str, name: &str) {
    let root = Root::find().unwrap();
    let design = Design::read(&root.join("designs").join(name).with_extension("toml")).unwrap();
    let image = Image::of(&root, &design).unwrap();
    let interfaces = vec![(Port::Ethernet(0), "p0".to_string()), (Port::Ethernet(1), "p1".to_string())];
    let setup = Setup { interfaces, driver: Driver::parse(driver).unwrap(), socket: socket() };
    let mut live = Live::open(&root, &design, image, &setup).unwrap();
    live.run().unwrap().faults.iter().for_each(|fault| eprintln!("{fault}"));
}

/// The sender: UDP in IPv4, at most `rate` frames a second, as many as possible if that is 0.
fn send(bytes: usize, rate: u64) {
    let frames: Vec<Vec<u8>> = (0..FLOWS as u8)
        .map(|flow| {
            let mut frame = vec![2, 0, 0, 0, 0, 9, 2, 0, 0, 0, 0, 1, 8, 0, 0x45, 0, 0, 50, 0, 0, 0x40, 0, 64, 17, 0, 0];
            frame.extend_from_slice(&[9, 1, flow, 1, 9, 2, 0, 1, 0x30, flow, 0, 53]);
            frame.resize(bytes, 0);
            frame
        })
        .collect();
    let frames: Vec<&[u8]> = frames.iter().map(Vec::as_slice).collect();
    let mut sender = Sender::open(index_of("l0").unwrap()).unwrap();
    let clock = Instant::now();
    let mut sent = 0;
    while clock.elapsed() < Duration::from_secs(SECONDS) {
        if rate > 0 && sent as f64 > clock.elapsed().as_secs_f64() * rate as f64 {
            sleep(Duration::from_micros(50));
            continue;
        }
        sender.send(&frames);
        sent += FLOWS as u64;
    }
}

fn socket() -> PathBuf {
    env::temp_dir().join("penstock-bench-live.sock")
}

/// Frames that have arrived on the right.
fn arrived() -> u64 {
    let text = in_namespace(NAMESPACES[2], "cat").arg("/proc/net/dev").output().unwrap().stdout;
    let text = String::from_utf8(text).unwrap();
    let line = text.lines().find(|line| line.trim_start().starts_with("r0:")).unwrap();
    line.split_whitespace().nth(2).unwrap().parse().unwrap()
}

fn ip(words: &str) -> bool {
    let mut command = Command::new("ip");
    command.args(words.split(' ')).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

fn in_namespace(name: &str, program: &str) -> Command {
    let mut command = Command::new("ip");
    command.args(["netns", "exec", name, program]);
    command
}

/// Starts this program in a namespace.
fn start(name: &str, words: &[&str]) -> Child {
    let program = env::current_exe().unwrap();
    in_namespace(name, program.to_str().unwrap()).args(words).spawn().unwrap()
}
