// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Sessions as frames on a wire, many at a time.

use penstock_bench::five_tuple::{Random, checksum};

use crate::rules::Rules;
use crate::sessions::{Session, session};
use crate::words::{chance, pick};

/// Sessions that are open at a time.
const OPEN: usize = 400;
/// Ns between two frames.
const GAP: u64 = 2_000;
const FIN: u8 = 1;
const SYN: u8 = 2;
const PUSH: u8 = 8;
const ACK: u8 = 16;
/// Bytes of the headers of Ethernet, IPv4, and TCP.
const HEADERS: usize = 14 + 20;

/// A frame with its time in ns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    /// When it comes.
    pub time: u64,
    /// Its bytes, without FCS.
    pub bytes: Vec<u8>,
}

/// Frames, and the rules that their sessions meet on purpose.
#[derive(Debug, Clone, Default)]
pub struct Traffic {
    /// The frames in their order.
    pub frames: Vec<Frame>,
    /// Sids of the rules, in the order of the sessions.
    pub met: Vec<u32>,
}

/// A frame from an address and port to another. Without flags it is UDP.
fn frame(from: (u32, u16), to: (u32, u16), tcp: Option<(u32, u32, u8)>, payload: &[u8]) -> Vec<u8> {
    let mut frame = vec![2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 8, 0];
    let (protocol, header) = if tcp.is_some() { (6_u8, 20) } else { (17, 8) };
    let transport = (header + payload.len()) as u16;
    frame.extend([0x45, 0]);
    frame.extend((20 + transport).to_be_bytes());
    frame.extend([0, 0, 0x40, 0, 64, protocol, 0, 0]);
    frame.extend([from.0.to_be_bytes(), to.0.to_be_bytes()].concat());
    let sum = checksum(&frame[14..], 0);
    frame[24..26].copy_from_slice(&sum.to_be_bytes());
    frame.extend([from.1.to_be_bytes(), to.1.to_be_bytes()].concat());
    let at = match tcp {
        Some((sequence, acknowledged, flags)) => {
            frame.extend([sequence.to_be_bytes(), acknowledged.to_be_bytes()].concat());
            frame.extend([0x50, flags, 0xFF, 0xFF, 0, 0, 0, 0]);
            16
        }
        None => {
            frame.extend(transport.to_be_bytes());
            frame.extend([0, 0]);
            6
        }
    };
    frame.extend(payload);
    let halves = |address: u32| (address >> 16) + (address & 0xFFFF);
    let pseudo = halves(from.0) + halves(to.0) + u32::from(protocol) + u32::from(transport);
    let sum = checksum(&frame[HEADERS..], pseudo);
    frame[HEADERS + at..HEADERS + at + 2].copy_from_slice(&sum.to_be_bytes());
    frame
}

/// All frames of a session. Segments have up to `segment` bytes of payload; the receiver acknowledges every other one.
fn frames(session: &Session, segment: usize, ends: [(u32, u16); 2], random: &mut Random) -> Vec<Vec<u8>> {
    let way = |client: bool| usize::from(!client);
    if !session.tcp {
        return session
            .turns
            .iter()
            .map(|(client, bytes)| frame(ends[way(*client)], ends[1 - way(*client)], None, bytes))
            .collect();
    }
    let mut next = [random.next() as u32, random.next() as u32];
    let mut frames = Vec::new();
    let mut send = |from: usize, next: &[u32; 2], flags: u8, payload: &[u8]| {
        frames.push(frame(ends[from], ends[1 - from], Some((next[from], next[1 - from], flags)), payload));
    };
    send(0, &[next[0], 0], SYN, b"");
    next[0] = next[0].wrapping_add(1);
    send(1, &next, SYN | ACK, b"");
    next[1] = next[1].wrapping_add(1);
    send(0, &next, ACK, b"");
    for (client, bytes) in &session.turns {
        let from = way(*client);
        let segments = bytes.chunks(segment);
        let last = segments.len() - 1;
        for (at, payload) in segments.enumerate() {
            send(from, &next, if at == last { ACK | PUSH } else { ACK }, payload);
            next[from] = next[from].wrapping_add(payload.len() as u32);
            if at % 2 == 1 {
                send(1 - from, &next, ACK, b"");
            }
        }
    }
    for from in [0, 1] {
        send(from, &next, FIN | ACK, b"");
        next[from] = next[from].wrapping_add(1);
    }
    send(0, &next, ACK, b"");
    frames
}

/// Sessions of `bytes` bytes of frames or a little more, in segments of `segment` bytes. In a thousand sessions,
/// `share` meet one of the rules.
#[must_use]
pub fn traffic(rules: &Rules, bytes: usize, segment: usize, share: u64, seed: u64) -> Traffic {
    let mut random = Random(seed);
    let mut traffic = Traffic::default();
    let (mut made, mut number) = (0, 0_u32);
    let mut open: Vec<std::vec::IntoIter<Vec<u8>>> = Vec::new();
    loop {
        while open.len() < OPEN && made < bytes {
            let met =
                (!rules.triggers.is_empty() && chance(&mut random, share)).then(|| pick(&mut random, &rules.triggers));
            traffic.met.extend(met.map(|(sid, _)| sid));
            let session = session(&mut random, met.map(|(_, trigger)| trigger));
            // 10.0.0.0/8 is for private use (RFC 1918), 198.18.0.0/15 for benchmarks (RFC 2544).
            let client = (0x0A00_0000 | number.wrapping_mul(0x9E_3779) & 0xFF_FFFF, 1024 + (number % 60_000) as u16);
            let server = (0xC612_0000 | random.next() as u32 & 0x1_FFFF, session.port);
            let all = frames(&session, segment, [client, server], &mut random);
            made += all.iter().map(Vec::len).sum::<usize>();
            open.push(all.into_iter());
            number += 1;
        }
        if open.is_empty() {
            return traffic;
        }
        let at = random.below(open.len() as u64) as usize;
        // Frames of a session come in bursts.
        for _ in 0..1 + random.below(8) {
            match open[at].next() {
                Some(bytes) => traffic.frames.push(Frame { time: traffic.frames.len() as u64 * GAP, bytes }),
                None => {
                    drop(open.swap_remove(at));
                    break;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use penstock_ids::{Bounds, Inspector};
    use penstock_ids_compiler::{Options, Program, RuleFile, Ruleset};

    use super::*;
    use crate::rules;

    /// All rules load, and every session that is to meet a rule does.
    #[test]
    #[allow(clippy::unwrap_used)]
    fn sessions_meet_their_rules() {
        let rules = rules(1_000, 1);
        let file = RuleFile { name: "r".into(), text: rules.text.clone() };
        let program = Program::new(Ruleset::read(&[file], &Options::default()).unwrap());
        assert_eq!(program.set.rules.len(), 1_000);
        for segment in [1_448, 100] {
            let traffic = traffic(&rules, 8 << 20, segment, 300, 2);
            assert!(traffic.met.len() > 10);
            let mut inspector = Inspector::new(Arc::new(program.clone()), Bounds::default(), false);
            let mut alerts = Vec::new();
            for frame in &traffic.frames {
                alerts.extend(inspector.carry(&frame.bytes, 0, frame.time).alerts);
            }
            alerts.extend(inspector.finish().0);
            let sids: Vec<u32> = alerts.iter().map(|alert| alert.alert.signature_id).collect();
            for sid in &traffic.met {
                assert!(sids.contains(sid), "{sid}");
            }
            let stats = inspector.stats();
            assert_eq!((stats.frames.malformed, stats.streams.out_of_order, stats.detect.app.malformed), (0, 0, 0));
            assert!(stats.detect.app.tls_clients > 5 && stats.detect.app.dns_responses > 5, "{stats:?}");
        }
    }

    #[test]
    fn a_seed_says_which_frames() {
        let rules = rules(50, 1);
        let first = |seed| traffic(&rules, 1 << 16, 1_448, 100, seed).frames;
        assert_eq!(first(1), first(1));
        assert_ne!(first(1), first(2));
    }
}
