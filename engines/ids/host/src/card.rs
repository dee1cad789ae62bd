// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! An ids block of a card in hardware (engines/ids/machine.md): its tables, and the frames that it tells.

use std::collections::HashMap;
use std::sync::Arc;

use penstock_engine::{Bus, CardError};
use penstock_ids::{Bounds, Inspector, Log, Told};
use penstock_ids_compiler::filter::Entry;
use penstock_ids_compiler::rule::Protocol;
use penstock_ids_compiler::{Filter, Program, tell};
use penstock_streams::{TEREDO, Tunnels};
use serde_json::json;

use crate::error::IdsError;
use crate::record::{REASONS, Record};
use crate::regs as own;
use crate::settings::{Late, Mode, Settings};

/// Host address of the first block's window, and the distance to the next block's.
const BLOCKS: u32 = 0x4500_0000;
const BLOCK: u32 = 0x0100_0000;
/// The logs in a block's window, and the distance between those of two ports.
const LOGS: u32 = 0x80_0000;
const LOG: u32 = 0x20_0000;
/// Registers TUNNEL, and their bits: the port is the destination, the source.
const TUNNELS: usize = own::IDS_BLOCK_TUNNEL_COUNT as usize;
const TO: u32 = 1 << 16;
const FROM: u32 = 1 << 17;
/// Bytes of a row of a log.
const ROW: u32 = 64;
/// Told frames that wait in the card, at most.
const WAITING: usize = 512;
/// Bits of CONTROL.
const IPS: u32 = 1;
const LATE_DROPS: u32 = 1 << 1;
const FOLLOW: u32 = 1 << 2;
const BANK: u32 = 1 << 3;
const SEARCH: u32 = 1 << 4;
/// Cycles between two reads of a status, and cycles after which the status must have changed.
const LOOK: u64 = 500;
const PATIENCE: u64 = 1_000_000;
/// Bytes of payload of which a chain is followed back: those that the log can hold.
const RECORDS: usize = 1 << 15;

/// Counters of the block's registers and of the host, since the block was loaded.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
pub(crate) struct CardStats {
    /// Frames that passed the block.
    pub frames: u64,
    /// Frames that the host was told.
    pub told: u64,
    /// Searched frames in which the filter found a key.
    pub strings: u64,
    /// Searched frames with more hits than the card could look up.
    pub unchecked: u64,
    /// Told frames for which the queue had no room: the host does not know of them.
    pub lost_records: u64,
    /// Told frames, or frames before them in their stream, that the log no longer had.
    pub gone: u64,
    /// Frames that the card did not tell and that the host has read from the log, for those that it told.
    pub history: u64,
    /// Held frames on which the policy decided.
    pub late: u64,
    /// Flow lines that were given to another flow.
    pub evicted: u64,
    /// Flow lines that were read from card memory.
    pub fetched: u64,
    /// Reads and writes of flow lines that card memory answered with an error.
    pub memory_errors: u64,
    /// Told frames that the host has read, by reason; a frame may have several.
    #[serde(flatten)]
    pub reasons: Reasons,
}

/// The counters of the block's registers: frames, told, strings, unchecked, `lost_records`, late, evicted, fetched,
/// `memory_errors`.
type Registers = [u64; 9];

/// Told frames by reason, in the order of the record's bits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
pub(crate) struct Reasons {
    /// The filter found a key.
    pub told_string: u64,
    /// There were more hits than lookups.
    pub told_unchecked: u64,
    /// The direction was out of order.
    pub told_order: u64,
    /// The beginning of the direction was not seen.
    pub told_midstream: u64,
    /// It is a fragment.
    pub told_fragment: u64,
    /// Its headers are damaged or too long.
    pub told_headers: u64,
    /// The host follows the direction.
    pub told_followed: u64,
    /// The host wants all frames of its class.
    pub told_class: u64,
}

impl Reasons {
    fn count(&mut self, bits: u8) {
        let all: [&mut u64; REASONS] = [
            &mut self.told_string,
            &mut self.told_unchecked,
            &mut self.told_order,
            &mut self.told_midstream,
            &mut self.told_fragment,
            &mut self.told_headers,
            &mut self.told_followed,
            &mut self.told_class,
        ];
        for (bit, count) in all.into_iter().enumerate() {
            *count += u64::from(bits >> bit & 1);
        }
    }
}

/// The last record of a direction that the inspector has seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Seen {
    generation: u8,
    port: u8,
    place: u32,
}

/// A block of a card in hardware.
#[derive(Debug)]
pub(crate) struct CardBlock {
    base: u32,
    /// Rows of a log.
    rows: u32,
    ports: u8,
    control: u32,
    program: Arc<Program>,
    settings: Settings,
    inspector: Inspector,
    log: Log,
    /// Rules that frames searched in the bank in use are looked at with, until the first of them comes.
    next: Option<Arc<Program>>,
    /// By flow line and direction.
    seen: HashMap<(u32, bool), Seen>,
    gone: u64,
    history: u64,
    reasons: Reasons,
    /// The block's registers when it was loaded: nothing sets them back.
    loaded: Registers,
}

/// Classes of frames that the host has to see whatever the filter finds.
fn classes(program: &Program, settings: &Settings) -> u8 {
    let rules = &program.set.rules;
    let of = |protocol: Protocol| {
        rules.iter().filter(move |rule| rule.protocol == protocol || rule.protocol == Protocol::Ip)
    };
    // The host knows more headers between Ethernet and IP than the card.
    let mut classes = program.tell | tell::NOT_IP;
    if !rules.is_empty() {
        // IP in IP and GRE.
        classes |= tell::OTHER;
        // The card does not compare so many ports of tunnels.
        classes |= if tunnels(settings).is_some() { 0 } else { tell::UDP };
    }
    if of(Protocol::Tcp).next().is_some() {
        // The opener of a connection, and whether the connection begins again.
        classes |= tell::TCP_ENDS;
    }
    // Rules that remember something of a flow need each of its datagrams, as the flow ends when none comes for a while.
    if of(Protocol::Udp).any(|rule| !rule.flow.is_empty() || rule.tests_memory() || rule.changes_memory()) {
        classes |= tell::UDP;
    }
    classes
}

/// Values of the registers TUNNEL: ports of datagrams that the card tells because they may carry a packet. None: there
/// are more than registers.
fn tunnels(settings: &Settings) -> Option<[u32; TUNNELS]> {
    let Tunnels { vxlan, geneve, teredo } = &settings.bounds.tunnels;
    let to = vxlan.iter().chain(geneve).map(|port| u32::from(*port) | TO);
    let either = teredo.then_some(u32::from(TEREDO) | TO | FROM);
    let mut all = [0; TUNNELS];
    let mut free = all.iter_mut();
    for value in to.chain(either) {
        *free.next()? = value;
    }
    Some(all)
}

/// Entries of two bitmaps that differ: index and the entry of the second.
fn changes<'a>(from: &'a [u8], to: &'a [u8]) -> impl Iterator<Item = (usize, u8)> + 'a {
    from.iter().zip(to).enumerate().filter(|(_, (from, to))| from != to).map(|(index, (_, to))| (index, *to))
}

impl CardBlock {
    /// Loads a block through which no frame goes.
    ///
    /// # Errors
    /// The card refuses or breaks.
    pub(crate) fn load(
        bus: &mut dyn Bus,
        block: usize,
        program: &Arc<Program>,
        settings: &Settings,
        bounds: Bounds,
        log: Log,
    ) -> Result<Self, IdsError> {
        let base = BLOCKS + BLOCK * block as u32;
        let shape = bus.read(base + own::IDS_BLOCK_SHAPE)?;
        let program = fitting(program, shape >> 8 & 0x1F);
        let mut card = Self {
            base,
            rows: 1 << (shape >> 24 & 0x1F),
            ports: (shape & 0xF) as u8,
            control: 0,
            inspector: Inspector::reporting(Arc::clone(&program), bounds, settings.mode == Mode::Ips, settings.reports),
            program,
            settings: settings.clone(),
            log,
            next: None,
            seen: HashMap::new(),
            gone: 0,
            history: 0,
            reasons: Reasons::default(),
            loaded: Registers::default(),
        };
        card.write(bus, own::IDS_BLOCK_CONTROL, 0)?;
        card.write(bus, own::IDS_BLOCK_CLEAR, 7)?;
        card.wait(bus, 1)?;
        while card.read(bus, own::IDS_BLOCK_RECORD)? >> 31 == 1 {
            card.write(bus, own::IDS_BLOCK_RECORD, 0)?;
        }
        let program = Arc::clone(&card.program);
        card.write_exact(bus, &program.filter)?;
        let empty = Filter::new(program.filter.log);
        card.write_bitmaps(bus, &empty.bitmaps, &program.filter.bitmaps)?;
        card.write(bus, own::IDS_BLOCK_TELL, classes(&program, settings).into())?;
        for (place, value) in (0..).zip(tunnels(settings).unwrap_or_default()) {
            card.write(bus, own::IDS_BLOCK_TUNNEL + 4 * place, value)?;
        }
        let mode = match settings.mode {
            Mode::Ids => FOLLOW,
            Mode::Ips => FOLLOW | IPS | if settings.late == Late::Drop { LATE_DROPS } else { 0 },
        };
        card.loaded = card.registers(bus)?;
        card.control = SEARCH | BANK | mode;
        card.write(bus, own::IDS_BLOCK_CONTROL, card.control)?;
        Ok(card)
    }

    /// Exchanges the rules while frames pass: no key of either set is missed.
    ///
    /// # Errors
    /// The card refuses or breaks.
    pub(crate) fn exchange(&mut self, bus: &mut dyn Bus, program: &Arc<Program>) -> Result<(), IdsError> {
        let old = Arc::clone(&self.program);
        let new = fitting(program, old.filter.log);
        self.write(bus, own::IDS_BLOCK_CLEAR, 2)?;
        self.wait(bus, 1)?;
        self.write_exact(bus, &new.filter)?;
        let either = |map: usize| -> Vec<u8> {
            old.filter.bitmaps[map].iter().zip(&new.filter.bitmaps[map]).map(|(old, new)| old | new).collect()
        };
        let both = [either(0), either(1), either(2)];
        self.write_bitmaps(bus, &old.filter.bitmaps, &both)?;
        let (before, behind) = (classes(&old, &self.settings), classes(&new, &self.settings));
        self.write(bus, own::IDS_BLOCK_TELL, (before | behind).into())?;
        self.control ^= BANK;
        self.write(bus, own::IDS_BLOCK_CONTROL, self.control)?;
        self.wait(bus, 2)?;
        self.next = Some(Arc::clone(&new));
        self.poll(bus)?;
        self.use_next();
        self.write(bus, own::IDS_BLOCK_TELL, behind.into())?;
        self.write_bitmaps(bus, &both, &new.filter.bitmaps)?;
        self.program = new;
        Ok(())
    }

    /// Uses the rules that belong to the bank in use, if the inspector does not yet.
    fn use_next(&mut self) {
        if let Some(program) = self.next.take() {
            self.inspector.reload(program);
        }
    }

    /// The inspector and the log of alerts.
    pub(crate) fn parts(&mut self) -> (&mut Inspector, &mut Log) {
        (&mut self.inspector, &mut self.log)
    }

    /// Looks at the frames that the card has told; false if there was none. While the host looks, a real card tells
    /// more, perhaps without end: those can wait.
    ///
    /// # Errors
    /// The card refuses or breaks.
    pub(crate) fn poll(&mut self, bus: &mut dyn Bus) -> Result<bool, IdsError> {
        for taken in 0..WAITING {
            let told = self.read(bus, own::IDS_BLOCK_RECORD)?;
            if told >> 31 == 0 {
                return Ok(taken > 0);
            }
            self.write(bus, own::IDS_BLOCK_RECORD, 0)?;
            let port = (told >> 29 & 3) as u8;
            match self.record(bus, port, told & 0x1FFF_FFFF)? {
                Some(record) => {
                    self.reasons.count(record.reasons);
                    self.look(bus, &record)?;
                }
                None => self.gone += 1,
            }
        }
        Ok(true)
    }

    /// Ends a run at a time in ns: everything that waits is looked at, and the log has everything.
    ///
    /// # Errors
    /// The card refuses or breaks, or the log cannot be written.
    pub(crate) fn finish(&mut self, bus: &mut dyn Bus, now: u64) -> Result<(), IdsError> {
        self.poll(bus)?;
        let (alerts, records) = self.inspector.finish();
        self.log.push(alerts);
        self.log.records(&records);
        let card = json!(self.stats(bus)?);
        self.log.finish(now, &self.inspector.stats(), &card)?;
        Ok(())
    }

    /// Reads the block's counters.
    ///
    /// # Errors
    /// The card refuses or breaks.
    pub(crate) fn stats(&self, bus: &mut dyn Bus) -> Result<CardStats, IdsError> {
        let (now, then) = (self.registers(bus)?, self.loaded);
        let [frames, told, strings, unchecked, lost_records, late, evicted, fetched, memory_errors] =
            std::array::from_fn(|at| now[at].wrapping_sub(then[at]));
        Ok(CardStats {
            frames,
            told,
            strings,
            unchecked,
            lost_records,
            gone: self.gone,
            history: self.history,
            late,
            evicted,
            fetched,
            memory_errors,
            reasons: self.reasons,
        })
    }

    fn registers(&self, bus: &mut dyn Bus) -> Result<Registers, IdsError> {
        let one = |bus: &mut dyn Bus, register| {
            let low = u64::from(self.read(bus, register)?);
            Ok::<_, IdsError>(low | u64::from(self.read(bus, own::IDS_BLOCK_COUNT_H)?) << 32)
        };
        let of_ports = |bus: &mut dyn Bus, register| {
            (0..u32::from(self.ports)).try_fold(0, |sum, port| Ok::<_, IdsError>(sum + one(bus, register + 4 * port)?))
        };
        Ok([
            of_ports(bus, own::IDS_BLOCK_FRAMES)?,
            of_ports(bus, own::IDS_BLOCK_TOLD)?,
            of_ports(bus, own::IDS_BLOCK_STRINGS)?,
            of_ports(bus, own::IDS_BLOCK_UNCHECKED)?,
            one(bus, own::IDS_BLOCK_LOST_RECORDS)?,
            one(bus, own::IDS_BLOCK_LATE)?,
            one(bus, own::IDS_BLOCK_EVICTED)?,
            one(bus, own::IDS_BLOCK_FETCHED)?,
            one(bus, own::IDS_BLOCK_MEMORY_ERRORS)?,
        ])
    }

    /// Looks at a told frame, after those of its direction that the card did not tell.
    fn look(&mut self, bus: &mut dyn Bus, record: &Record) -> Result<(), IdsError> {
        if record.bank == (self.control & BANK != 0) {
            self.use_next();
        }
        let (chain, whole) = self.chain(bus, record)?;
        self.history += chain.len() as u64;
        for (at, before) in chain.iter().rev().enumerate() {
            self.carry(bus, before, Told { after_gap: at == 0 && !whole, has_passed: true })?;
        }
        let drop = self.carry(bus, record, Told { after_gap: chain.is_empty() && !whole, has_passed: false })?;
        if record.held {
            let verdict = u32::from(record.ticket) | u32::from(record.port) << 16 | u32::from(drop) << 31;
            self.write(bus, own::IDS_BLOCK_VERDICT, verdict)?;
        }
        if record.has_line {
            let seen = Seen { generation: record.generation, port: record.port, place: record.place };
            self.seen.insert((record.line, record.direction), seen);
        }
        Ok(())
    }

    /// Records of a direction before this one that the inspector has not seen, the newest first; and whether they are
    /// all that there are.
    fn chain(&mut self, bus: &mut dyn Bus, record: &Record) -> Result<(Vec<Record>, bool), IdsError> {
        let seen = self.seen.get(&(record.line, record.direction)).copied();
        // Rules look at so many bytes of a stream, and of a message with its head.
        let bounds = &self.settings.bounds;
        let most = bounds.history.max(bounds.messages.head + bounds.messages.body);
        let mut chain: Vec<Record> = Vec::new();
        let mut bytes = 0;
        let mut at = record.before;
        while let Some((port, place)) = at {
            if seen == Some(Seen { generation: record.generation, port, place }) {
                return Ok((chain, true));
            }
            if bytes > most || chain.len() >= RECORDS {
                return Ok((chain, false));
            }
            let Some(before) = self.record(bus, port, place)? else {
                self.gone += 1;
                return Ok((chain, false));
            };
            bytes += usize::from(before.payload);
            at = before.before;
            chain.push(before);
        }
        // The first frame of a line. If the inspector knows the flow from an earlier line, frames between the two are
        // missing.
        Ok((chain, false))
    }

    /// Hands a frame to the inspector; whether it is to be dropped.
    fn carry(&mut self, bus: &mut dyn Bus, record: &Record, told: Told) -> Result<bool, IdsError> {
        let Some(frame) = self.frame(bus, record)? else {
            self.gone += 1;
            return Ok(false);
        };
        let outcome = self.inspector.carry_told(&frame, record.tenant, record.time, told);
        self.log.records(&outcome.records);
        self.log.push(outcome.alerts);
        if record.has_line {
            let line = record.line >> 16 << 27 | record.line & 0xFFFF | u32::from(record.generation) << 20;
            if outcome.drops_flow {
                // From now on the host drops all frames of the flow.
                self.write(bus, own::IDS_BLOCK_FOLLOW, line)?;
                self.write(bus, own::IDS_BLOCK_FOLLOW, line | 1 << 16)?;
            } else if record.is_followed() && !outcome.wanted {
                // The card ignores this if it has more frames of the direction by now.
                let last = u32::from(record.port) << 25 | u32::from(record.direction) << 16;
                self.write(bus, own::IDS_BLOCK_SEEN, record.place)?;
                self.write(bus, own::IDS_BLOCK_RELEASE, line | last)?;
            }
        }
        Ok(outcome.drop)
    }

    /// Reads a record; None if the log no longer has it.
    fn record(&self, bus: &mut dyn Bus, port: u8, place: u32) -> Result<Option<Record>, IdsError> {
        let mut bytes = [0; ROW as usize];
        self.row(bus, port, place, &mut bytes)?;
        let record = Record::read(&bytes);
        let same = (record.place ^ place) & 0x1FFF_FFFF == 0 && record.port == port;
        Ok((same && self.has(bus, port, record.place)?).then_some(record))
    }

    /// Reads the frame of a record; None if the log no longer has it.
    fn frame(&self, bus: &mut dyn Bus, record: &Record) -> Result<Option<Vec<u8>>, IdsError> {
        let mut bytes = vec![0; usize::from(record.length).next_multiple_of(ROW as usize)];
        for (place, row) in (0..).zip(bytes.chunks_mut(ROW as usize)) {
            self.row(bus, record.port, record.first.wrapping_add(place), row)?;
        }
        bytes.truncate(record.length.into());
        Ok(self.has(bus, record.port, record.first)?.then_some(bytes))
    }

    /// Whether a row was in the log when it was read before.
    fn has(&self, bus: &mut dyn Bus, port: u8, place: u32) -> Result<bool, IdsError> {
        let head = self.read(bus, own::IDS_BLOCK_LOG_HEAD + 4 * u32::from(port))?;
        Ok(head.wrapping_sub(place) <= self.rows)
    }

    fn row(&self, bus: &mut dyn Bus, port: u8, place: u32, to: &mut [u8]) -> Result<(), IdsError> {
        let row = LOGS + LOG * u32::from(port) + ROW * (place & (self.rows - 1));
        for (word, bytes) in (0..).zip(to.chunks_mut(4)) {
            bytes.copy_from_slice(&self.read(bus, row + 4 * word)?.to_le_bytes()[..bytes.len()]);
        }
        Ok(())
    }

    /// Writes the keys into the bank that is not in use, which is empty.
    fn write_exact(&self, bus: &mut dyn Bus, filter: &Filter) -> Result<(), IdsError> {
        for (place, Entry { a, b, length, id }) in (0..).zip(&filter.exact) {
            if *length > 0 {
                let (way, index) = (place >> filter.log, place & ((1_u32 << filter.log) - 1));
                self.write(bus, own::IDS_BLOCK_KEY_L, *a)?;
                self.write(bus, own::IDS_BLOCK_KEY_H, *b)?;
                self.write(bus, own::IDS_BLOCK_PLACE, way << 16 | index)?;
                self.write(bus, own::IDS_BLOCK_ENTRY, u32::from(*length) << 16 | u32::from(*id))?;
            }
        }
        Ok(())
    }

    fn write_bitmaps(&self, bus: &mut dyn Bus, from: &[Vec<u8>; 3], to: &[Vec<u8>; 3]) -> Result<(), IdsError> {
        for (map, (from, to)) in (0..).zip(from.iter().zip(to)) {
            for (index, entry) in changes(from, to) {
                self.write(bus, own::IDS_BLOCK_BITMAP, u32::from(entry) << 20 | map << 16 | index as u32)?;
            }
        }
        Ok(())
    }

    /// Waits until bits of STATUS are 0.
    fn wait(&self, bus: &mut dyn Bus, bits: u32) -> Result<(), IdsError> {
        for _ in 0..PATIENCE / LOOK {
            if self.read(bus, own::IDS_BLOCK_STATUS)? & bits == 0 {
                return Ok(());
            }
            bus.pass(LOOK)?;
        }
        Err(CardError::Broken(format!("the ids block is still busy after {PATIENCE} cycles (STATUS & {bits})")).into())
    }

    fn read(&self, bus: &mut dyn Bus, offset: u32) -> Result<u32, IdsError> {
        Ok(bus.read(self.base + offset)?)
    }

    fn write(&self, bus: &mut dyn Bus, offset: u32, value: u32) -> Result<(), IdsError> {
        Ok(bus.write(self.base + offset, value)?)
    }
}

/// The program with tables of the card's size.
fn fitting(program: &Arc<Program>, log: u32) -> Arc<Program> {
    if program.filter.log == log { Arc::clone(program) } else { Arc::new(program.sized(log)) }
}
