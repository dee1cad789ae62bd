// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The counters of a card, and the frames that did not leave, by reason.

use penstock_engine::UnitCounters;
use penstock_registry::engine;
use serde::{Deserialize, Serialize, Serializer};

/// Bytes that a frame without FCS costs on the wire beside its own: preamble 8, FCS 4, gap 12.
pub const WIRE_OVERHEAD: u64 = 24;

/// Frames that did not leave, by reason (docs/architecture.md, "Drop reasons"). JSON has only the reasons that
/// occurred.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Drops {
    /// Shorter than an Ethernet header.
    pub runt: u64,
    /// Longer than the card or the slot holds.
    pub oversize: u64,
    /// The ingress buffer was full.
    pub overflow: u64,
    /// The MAC said so.
    pub damaged: u64,
    /// The port was disabled.
    pub disabled: u64,
    /// The hash policy that drops.
    pub policy: u64,
    /// The program dropped it.
    pub blocked: u64,
    /// Descriptor with a destination that does not exist.
    pub refused: u64,
    /// The program ended abnormally.
    pub aborted: u64,
    /// Held by a unit that died.
    pub lost: u64,
    /// The receiver of its exit took nothing for too long.
    pub unsent: u64,
}

impl Drops {
    /// Reason words and numbers, in the order of the documentation.
    pub fn list(&self) -> [(&'static str, u64); 11] {
        [
            ("runt", self.runt),
            ("oversize", self.oversize),
            ("overflow", self.overflow),
            ("damaged", self.damaged),
            ("disabled", self.disabled),
            ("policy", self.policy),
            ("blocked", self.blocked),
            ("refused", self.refused),
            ("aborted", self.aborted),
            ("lost", self.lost),
            ("unsent", self.unsent),
        ]
    }

    /// Frames dropped for any reason.
    pub fn total(&self) -> u64 {
        self.list().iter().map(|(_, count)| count).sum()
    }

    pub(crate) fn add_port(&mut self, port: &PortCounters) {
        self.runt += port.drop_runt;
        self.oversize += port.drop_oversize;
        self.overflow += port.drop_overflow;
        self.damaged += port.drop_damaged;
        self.disabled += port.drop_disabled;
        self.policy += port.drop_policy;
        self.unsent += port.drop_unsent;
    }

    pub(crate) fn add_unit(&mut self, unit: &UnitCounters) {
        self.blocked += unit.blocked;
        self.refused += unit.refused;
        self.aborted += unit.aborted;
    }
}

impl Serialize for Drops {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.list().into_iter().filter(|(_, count)| *count > 0))
    }
}

/// Counters of one stream: an Ethernet port, the host or the loopback.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct PortCounters {
    /// Frames that entered whole.
    pub rx_frames: u64,
    /// Their bytes.
    pub rx_bytes: u64,
    /// Cycles in which a frame waited for a slot; 0 on `soft`.
    pub rx_stalls: u64,
    /// Frames that left.
    pub tx_frames: u64,
    /// Their bytes.
    pub tx_bytes: u64,
    /// Cycles in which the receiver was not ready; 0 on `soft`.
    pub tx_stalls: u64,
    /// Dropped: ingress buffer full.
    pub drop_overflow: u64,
    /// Dropped: too long.
    pub drop_oversize: u64,
    /// Dropped: too short.
    pub drop_runt: u64,
    /// Dropped: arrived damaged.
    pub drop_damaged: u64,
    /// Dropped: port disabled.
    pub drop_disabled: u64,
    /// Dropped: by the hash policy that drops.
    pub drop_policy: u64,
    /// Dropped at this exit: its receiver took nothing for too long; 0 on `soft`.
    pub drop_unsent: u64,
}

/// Counters of host memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct HostMemoryCounters {
    /// Reads by units.
    pub reads: u64,
    /// Their bytes.
    pub read_bytes: u64,
    /// Writes by units.
    pub writes: u64,
    /// Their bytes.
    pub write_bytes: u64,
    /// Reads and writes that the host refused.
    pub errors: u64,
    /// Reads and writes outside the range of host memory of their unit. They count as nothing else.
    pub denied: u64,
}

/// Counters of the inline blocks.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct InlineCounters {
    /// Frames that the blocks sent to ports or units that the card does not have.
    pub refused: u64,
    /// The blocks, in their order.
    pub blocks: Vec<BlockCounters>,
}

/// Counters of an inline block.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct BlockCounters {
    /// Its name; empty if it is the only block and has no name.
    pub name: String,
    /// Its engine.
    pub engine: String,
    /// Frames that entered it.
    pub frames: u64,
    /// Frames that it made.
    pub made: u64,
    /// Frames that ended in it, as they were meant to.
    pub absorbed: u64,
    /// Frames that its program dropped.
    pub blocked: u64,
    /// The engine's own counters.
    #[serde(default, skip_serializing_if = "serde_json::Value::is_null")]
    pub own: serde_json::Value,
}

/// All counters of a card.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Counters {
    /// Ethernet ports.
    pub ports: Vec<PortCounters>,
    /// The host.
    pub host: PortCounters,
    /// The loopback.
    pub loopback: PortCounters,
    /// Units.
    pub units: Vec<UnitCounters>,
    /// Host memory.
    pub host_memory: HostMemoryCounters,
    /// Inline blocks, if the card has any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inline: Option<InlineCounters>,
}

impl PortCounters {
    fn since(&self, earlier: &Self) -> Self {
        Self {
            rx_frames: self.rx_frames.saturating_sub(earlier.rx_frames),
            rx_bytes: self.rx_bytes.saturating_sub(earlier.rx_bytes),
            rx_stalls: self.rx_stalls.saturating_sub(earlier.rx_stalls),
            tx_frames: self.tx_frames.saturating_sub(earlier.tx_frames),
            tx_bytes: self.tx_bytes.saturating_sub(earlier.tx_bytes),
            tx_stalls: self.tx_stalls.saturating_sub(earlier.tx_stalls),
            drop_overflow: self.drop_overflow.saturating_sub(earlier.drop_overflow),
            drop_oversize: self.drop_oversize.saturating_sub(earlier.drop_oversize),
            drop_runt: self.drop_runt.saturating_sub(earlier.drop_runt),
            drop_damaged: self.drop_damaged.saturating_sub(earlier.drop_damaged),
            drop_disabled: self.drop_disabled.saturating_sub(earlier.drop_disabled),
            drop_policy: self.drop_policy.saturating_sub(earlier.drop_policy),
            drop_unsent: self.drop_unsent.saturating_sub(earlier.drop_unsent),
        }
    }
}

impl HostMemoryCounters {
    fn since(&self, earlier: &Self) -> Self {
        Self {
            reads: self.reads.saturating_sub(earlier.reads),
            read_bytes: self.read_bytes.saturating_sub(earlier.read_bytes),
            writes: self.writes.saturating_sub(earlier.writes),
            write_bytes: self.write_bytes.saturating_sub(earlier.write_bytes),
            errors: self.errors.saturating_sub(earlier.errors),
            denied: self.denied.saturating_sub(earlier.denied),
        }
    }
}

impl InlineCounters {
    fn since(&self, earlier: &Self) -> Self {
        let both = self.blocks.iter().zip(&earlier.blocks);
        Self {
            refused: self.refused.saturating_sub(earlier.refused),
            blocks: both.map(|(now, then)| now.since(then)).collect(),
        }
    }
}

impl BlockCounters {
    fn since(&self, earlier: &Self) -> Self {
        let own =
            engine(&self.engine).map_or_else(|| self.own.clone(), |engine| engine.counted(&self.own, &earlier.own));
        Self {
            frames: self.frames.saturating_sub(earlier.frames),
            made: self.made.saturating_sub(earlier.made),
            absorbed: self.absorbed.saturating_sub(earlier.absorbed),
            blocked: self.blocked.saturating_sub(earlier.blocked),
            own,
            ..self.clone()
        }
    }
}

impl Counters {
    /// The same card's counts since `earlier` was read. Error flags keep their present values.
    pub fn since(&self, earlier: &Self) -> Self {
        let (ports, units) = (self.ports.iter().zip(&earlier.ports), self.units.iter().zip(&earlier.units));
        Self {
            ports: ports.map(|(now, then)| now.since(then)).collect(),
            host: self.host.since(&earlier.host),
            loopback: self.loopback.since(&earlier.loopback),
            units: units.map(|(now, then)| now.since(then)).collect(),
            host_memory: self.host_memory.since(&earlier.host_memory),
            inline: self.inline.as_ref().zip(earlier.inline.as_ref()).map(|(now, then)| now.since(then)),
        }
    }

    /// Frames that inline blocks made.
    pub fn made_by_blocks(&self) -> u64 {
        self.inline.iter().flat_map(|inline| &inline.blocks).map(|block| block.made).sum()
    }

    /// Frames that ended in inline blocks, as they were meant to.
    pub fn absorbed(&self) -> u64 {
        self.inline.iter().flat_map(|inline| &inline.blocks).map(|block| block.absorbed).sum()
    }

    /// Frames dropped, by the reasons that the card counts.
    pub fn drops(&self) -> Drops {
        let mut drops = Drops::default();
        for port in self.ports.iter().chain([&self.host, &self.loopback]) {
            drops.add_port(port);
        }
        self.units.iter().for_each(|unit| drops.add_unit(unit));
        if let Some(InlineCounters { refused, blocks }) = &self.inline {
            drops.blocked += blocks.iter().map(|block| block.blocked).sum::<u64>();
            drops.refused += refused;
        }
        drops
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drops_add_up() {
        let port = PortCounters { drop_runt: 1, drop_policy: 2, drop_oversize: 3, ..PortCounters::default() };
        let unit = UnitCounters { blocked: 5, refused: 7, ..UnitCounters::default() };
        let counters =
            Counters { ports: vec![port; 2], host: port, loopback: port, units: vec![unit; 3], ..Counters::default() };
        let drops = counters.drops();
        assert_eq!((drops.runt, drops.policy, drops.oversize, drops.blocked, drops.refused), (4, 8, 12, 15, 21));
        assert_eq!(drops.total(), 60);
    }
}
