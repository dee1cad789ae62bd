// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Frames that wait to enter a card, in a lane for each port. A lane holds one frame in memory and reads the next one
//! when the card has taken it.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::traffic::{Port, Traffic};

/// A frame that enters a card.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arrival {
    /// Its number in what was sent ([`Departure::input`](crate::Departure::input)). Among frames of several ports with
    /// equal times, the lowest number enters first.
    pub index: usize,
    /// When it was captured, ns; 0 when it was not.
    pub time_ns: u64,
}

/// Frames that enter a card at one port, in their order.
pub trait Arrivals: Send {
    /// Replaces the contents of `bytes` with the bytes of the next frame, without FCS; None at the end.
    fn next(&mut self, bytes: &mut Vec<u8>) -> Option<Arrival>;
}

/// The frames of one port in traffic that is in memory.
struct Sent {
    traffic: Arc<Traffic>,
    port: Port,
    /// Place of the next frame of any port.
    next: usize,
    /// Index of the first frame of the traffic.
    base: usize,
}

impl Arrivals for Sent {
    fn next(&mut self, bytes: &mut Vec<u8>) -> Option<Arrival> {
        let number = (self.next..self.traffic.frames.len()).find(|n| self.traffic.frames[*n].port == self.port)?;
        self.next = number + 1;
        bytes.clear();
        bytes.extend_from_slice(self.traffic.frame(number));
        Some(Arrival { index: self.base + number, time_ns: self.traffic.frames[number].time_ns })
    }
}

/// The frames of one port.
pub(crate) struct Lane {
    pub port: Port,
    sources: VecDeque<Box<dyn Arrivals>>,
    /// The next frame, if it was read.
    head: Option<Arrival>,
    bytes: Vec<u8>,
    /// The latest time so far: a clock that was set back in a capture stops until it has caught up.
    latest: u64,
    /// Frames and bytes that were taken.
    taken: (u64, u64),
}

impl Lane {
    fn of(port: Port) -> Self {
        Self { port, sources: VecDeque::new(), head: None, bytes: Vec::new(), latest: 0, taken: (0, 0) }
    }

    /// The next frame, read if it has to be.
    #[inline]
    pub(crate) fn head(&mut self) -> Option<Arrival> {
        if self.head.is_none() {
            self.read();
        }
        self.head
    }

    fn read(&mut self) {
        while let Some(source) = self.sources.front_mut() {
            self.head = source.next(&mut self.bytes);
            match self.head {
                Some(arrival) => return self.latest = self.latest.max(arrival.time_ns),
                None => drop(self.sources.pop_front()),
            }
        }
    }

    /// The bytes of the next frame, once it was read.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The next frame has entered.
    #[inline]
    pub(crate) fn take(&mut self) {
        if self.head.take().is_some() {
            self.taken.0 += 1;
            self.taken.1 += self.bytes.len() as u64;
        }
    }
}

/// Frames that wait to enter a card.
#[derive(Default)]
pub(crate) struct Lanes {
    /// One for each port that had frames, in the order of ports: few, and looked through for each frame.
    lanes: Vec<Lane>,
    /// Frames that were sent from memory.
    pub sent: usize,
}

impl Lanes {
    /// Adds frames at a port, behind those that wait there.
    pub(crate) fn push(&mut self, port: Port, frames: Box<dyn Arrivals>) {
        let at = self.lanes.partition_point(|lane| lane.port < port);
        if self.lanes.get(at).is_none_or(|lane| lane.port != port) {
            self.lanes.insert(at, Lane::of(port));
        }
        self.lanes[at].sources.push_back(frames);
    }

    /// The lane of a port, if it had frames.
    pub(crate) fn lane(&mut self, port: Port) -> Option<&mut Lane> {
        self.lanes.iter_mut().find(|lane| lane.port == port)
    }

    /// Adds traffic, behind the frames that wait.
    pub(crate) fn send(&mut self, traffic: &Traffic) {
        let (traffic, base) = (Arc::new(traffic.clone()), self.sent);
        self.sent += traffic.frames.len();
        for port in traffic.ports() {
            self.push(port, Box::new(Sent { traffic: traffic.clone(), port, next: 0, base }));
        }
    }

    /// Ports with frames that wait.
    pub(crate) fn ports(&mut self) -> Vec<Port> {
        self.lanes.iter_mut().filter_map(|lane| lane.head().map(|_| lane.port)).collect()
    }

    /// Whether no frame waits.
    pub(crate) fn is_empty(&mut self) -> bool {
        self.lanes.iter_mut().all(|lane| lane.head().is_none())
    }

    /// The lane whose next frame is the first by time: the frames of each port keep their order.
    pub(crate) fn earliest(&mut self) -> Option<&mut Lane> {
        let mut first: Option<((u64, usize), &mut Lane)> = None;
        for lane in &mut self.lanes {
            let Some(head) = lane.head() else { continue };
            let key = (lane.latest, head.index);
            if first.as_ref().is_none_or(|(least, _)| key < *least) {
                first = Some((key, lane));
            }
        }
        first.map(|(_, lane)| lane)
    }

    /// The time of the earliest next frame of a port, ns.
    pub(crate) fn oldest(&mut self) -> Option<u64> {
        self.lanes.iter_mut().filter_map(|lane| Some(lane.head()?.time_ns)).min()
    }

    /// The same of frames that were captured: other frames have the time 0.
    pub(crate) fn oldest_captured(&mut self) -> Option<u64> {
        let heads = self.lanes.iter_mut().filter_map(|lane| Some(lane.head()?.time_ns));
        heads.filter(|time_ns| *time_ns != 0).min()
    }

    /// Frames and bytes that were taken.
    pub(crate) fn taken(&self) -> (u64, u64) {
        self.lanes.iter().fold((0, 0), |(frames, bytes), lane| (frames + lane.taken.0, bytes + lane.taken.1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_of_several_ports_come_by_time() {
        let mut traffic = Traffic::default();
        // The clock of port 0 is set back; frames with equal times keep their order.
        for (port, time) in [(0, 5), (1, 1), (1, 5), (0, 3), (0, 8), (1, 9), (1, 9)] {
            traffic.push(Port::Ethernet(port), &[port; 60], time);
        }
        let mut lanes = Lanes::default();
        lanes.send(&traffic);
        lanes.send(&traffic);
        let mut order = Vec::new();
        while let Some(lane) = lanes.earliest() {
            order.extend(lane.head().map(|arrival| arrival.index));
            lane.take();
        }
        assert_eq!(order, [1, 0, 2, 3, 4, 7, 10, 11, 5, 6, 8, 9, 12, 13]);
        assert_eq!(lanes.taken(), (14, 14 * 60));
        assert!(lanes.is_empty() && lanes.ports().is_empty());
    }
}
