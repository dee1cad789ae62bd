// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! A card behind a BAR, as [`CardDevice`](crate::card::CardDevice) drives it.
//!
//! Frames go over the cables of a simulated card; a real one's end elsewhere. At the far end of a cable a frame does not
//! say where it entered: it is matched to the oldest frame inside with the same bytes, or to the only one inside. The
//! host's frames go over one more cable, which stands for the shell's network interface; those to the host say where
//! they entered.

use std::collections::{HashMap, VecDeque};
use std::time::Instant;

use penstock_engine::{Bus, CardError, Native, Root};

use super::bar::{Bar, Place};
use super::window::{Window, gone};
use super::{FpgaError, Hardware, Identity, MAGIC, Shell, memory, registers};
use crate::card::Machine;
use crate::design::Design;
use crate::error::DeviceError;
use crate::rate::Rate;
use crate::regs;
use crate::rtl::LINE_GBPS;
use crate::rtl::model::{Entry, Exit, Frame, Step, UNKNOWN};
use crate::target::Target;
use crate::traffic::Port;

/// Cycles that a reset takes at most, and between two looks whether it is over.
const RESET_LIMIT: u64 = 100_000;
const RESET_LOOK: u64 = 1_000;
/// A MAC fills shorter frames up to this.
const SHORTEST: usize = 60;
/// Picoseconds of a byte at line rate.
const LINE_PS: f64 = 80.0;
/// Bytes that are on a port's cable at most when nothing is to be lost, and rows of 128 bytes in its buffer, which has
/// 4,096, above which none are added.
const CABLE_BYTES: usize = 64 << 10;
const BUFFER_ROWS: u32 = 1_024;
/// Cycles between two looks for room in a port's buffer.
const ROOM_LOOK: u64 = 500;
/// Source bytes of Ethernet ports, and of the host.
const FIRST_PORT: u8 = 0x08;
const HOST: u8 = 0x02;
/// The first bytes of the header in front of each frame to the host, its EtherType, and its length
/// (shell/cards/lib/host_mark.sv).
const MARKED: [u8; 7] = [0x02, b'P', b'N', b'F', b'P', 1, 0x02];
const MARKED_TYPE: [u8; 2] = [0x88, 0xB5];
const MARKED_BYTES: usize = 20;

/// The hardware that a driver is for.
pub struct Wanted {
    design: String,
    hardware: Hardware,
    /// For each shell: why its cards have no memory for the design.
    refusals: [Option<String>; Shell::ALL.len()],
}

impl Wanted {
    /// The hardware of a design.
    pub fn of(root: &Root, design: &Design) -> Result<Self, DeviceError> {
        Ok(Self {
            design: design.name.clone(),
            hardware: Hardware::of(root, design)?,
            refusals: Shell::ALL.map(|shell| memory::refused(design, shell, None).map(|refusal| refusal.to_string())),
        })
    }

    /// Refuses a card with other hardware.
    fn check(&self, place: &Place, identity: Identity) -> Result<(), FpgaError> {
        for (shell, refusal) in Shell::ALL.into_iter().zip(&self.refusals) {
            if let Some(text) = refusal.as_ref().filter(|_| shell.letters() == identity.shell) {
                return Err(FpgaError::NoMemory(text.clone()));
            }
        }
        let hash = self.hardware.hash();
        if identity.hash == hash {
            return Ok(());
        }
        let words: String = hash.iter().map(|word| format!("{word:08x}")).collect();
        Err(FpgaError::OtherDesign {
            place: place.clone(),
            found: identity.to_string(),
            design: self.design.clone(),
            wanted: format!("{}, hardware {words}", self.hardware),
        })
    }
}

/// The header in front of a frame to the host.
struct Marked {
    source: u8,
    mark: u32,
}

impl Marked {
    /// The header of a frame that came from the card; None if it has none.
    fn of(frame: &[u8]) -> Option<Self> {
        let word = |at: usize| Some(u32::from_be_bytes(frame.get(at..at + 4)?.try_into().ok()?));
        let is_ours = frame.starts_with(&MARKED) && frame.get(12..14)? == MARKED_TYPE;
        // Ports 0 and 1 have two numbers.
        let source = match *frame.get(7)? {
            port @ 0..=1 => FIRST_PORT + port,
            other => other,
        };
        let header = Self { source, mark: word(8)? };
        (is_ours && frame.len() > MARKED_BYTES).then_some(header)
    }
}

/// A port's cable on the way to the card; the last one is the host's.
#[derive(Default)]
struct Cable {
    /// Frames that wait for room in the card.
    waiting: VecDeque<Vec<u8>>,
    /// Frames that were sent and have not entered.
    sent: VecDeque<Vec<u8>>,
    sent_bytes: usize,
}

/// A card behind a BAR.
pub struct Behind {
    window: Window,
    place: Place,
    wanted: Wanted,
    identity: Identity,
    opened: Instant,
    cables: Vec<Cable>,
    /// No frame is sent that might find no room.
    is_lossless: bool,
    /// Frames inside, by their bytes: where and when they entered.
    inside: HashMap<Vec<u8>, VecDeque<(u8, u64)>>,
    entries: Vec<Entry>,
    exits: Vec<Exit>,
    bytes: Vec<u8>,
}

impl Behind {
    /// Identifies a card and resets it.
    pub fn open(wanted: Wanted, place: Place, mut bar: Box<dyn Bar>, ports: u32) -> Result<Self, DeviceError> {
        let identity = Identity::read(&place, &mut *bar)?;
        wanted.check(&place, identity)?;
        let mut machine = Self {
            window: Window::new(bar)?,
            place,
            wanted,
            identity,
            opened: Instant::now(),
            cables: (0..=ports).map(|_| Cable::default()).collect(),
            is_lossless: true,
            inside: HashMap::new(),
            entries: Vec::new(),
            exits: Vec::new(),
            bytes: Vec::new(),
        };
        machine.reset()?;
        // Frames of an earlier host.
        machine.queue(&[], &[])?;
        machine.take()?;
        machine.clear();
        Ok(machine)
    }

    /// The card's identity, which the driver read when it opened the card.
    pub fn identity(&self) -> Identity {
        self.identity
    }

    /// Where the card is.
    pub(super) fn place(&self) -> &Place {
        &self.place
    }

    /// Frames that wait for room in the card.
    pub(super) fn waiting(&self) -> usize {
        self.cables.iter().map(|cable| cable.waiting.len()).sum()
    }

    /// The number of the host's cable.
    fn host(&self) -> usize {
        self.cables.len() - 1
    }

    /// Frames that the converters between card and shell lost, from and to each port; then those of the host.
    pub fn lost(&mut self) -> Result<Vec<(u32, u32)>, DeviceError> {
        (0..self.cables.len() as u32)
            .map(|port| {
                let base = registers::BAR_PORT_BASE + port * registers::BAR_PORT_STRIDE;
                let mut read = |register| self.window.bar.read(base + register).map_err(gone);
                Ok((read(registers::BAR_PORT_RX_LOST)?, read(registers::BAR_PORT_TX_LOST)?))
            })
            .collect()
    }

    /// Resets the card, and waits until it is out of it.
    fn reset(&mut self) -> Result<(), DeviceError> {
        self.window.bar.write(registers::BAR_RESET, 1).map_err(gone)?;
        let mut waited = 0;
        loop {
            self.window.pass(RESET_LOOK)?;
            if self.window.bar.read(registers::BAR_STATUS).map_err(gone)? & 1 == 1 {
                return Ok(());
            }
            waited += RESET_LOOK;
            if waited >= RESET_LIMIT {
                return Err(FpgaError::InReset(self.place.clone()).into());
            }
        }
    }

    /// Sends frames that wait, as far as there is room for them.
    fn feed(&mut self) -> Result<(), DeviceError> {
        for port in 0..self.cables.len() {
            if self.cables[port].waiting.is_empty() || self.is_lossless && !self.has_room(port)? {
                continue;
            }
            let Some(wires) = self.window.bar.wires() else { continue };
            let cable = &mut self.cables[port];
            while !self.is_lossless || cable.sent_bytes < CABLE_BYTES {
                let Some(frame) = cable.waiting.pop_front() else { break };
                wires.send(port as u32, &frame).map_err(gone)?;
                cable.sent_bytes += frame.len();
                cable.sent.push_back(frame);
            }
        }
        Ok(())
    }

    /// Whether the card has room for as many bytes as a cable holds.
    fn has_room(&mut self, port: usize) -> Result<bool, DeviceError> {
        if self.cables[port].sent_bytes >= CABLE_BYTES / 2 {
            return Ok(false);
        }
        if port == self.host() {
            // Its stream waits for the card.
            return Ok(true);
        }
        let level = regs::CARD_STREAM_BASE + port as u32 * regs::CARD_STREAM_STRIDE + regs::CARD_STREAM_RX_LEVEL;
        Ok(self.window.read(level)? < BUFFER_ROWS)
    }

    /// Takes note of the frames that have entered and left.
    fn take(&mut self) -> Result<(), DeviceError> {
        let host = self.host() as u32;
        let Some(wires) = self.window.bar.wires() else { return Ok(()) };
        for (port, cable) in (0..).zip(&mut self.cables) {
            for cycle in wires.entered(port).map_err(gone)? {
                self.entries.push(Entry { cycle, stream: port, ..Entry::default() });
                let Some(mut frame) = cable.sent.pop_front() else { continue };
                cable.sent_bytes -= frame.len();
                // A MAC fills the frame up where it leaves.
                frame.resize(frame.len().max(SHORTEST), 0);
                let source = if port == host { HOST } else { FIRST_PORT + port as u8 };
                self.inside.entry(frame).or_default().push_back((source, cycle));
            }
        }
        for port in 0..=host {
            for mut arrived in wires.receive(port).map_err(gone)? {
                let marked = if port == host {
                    Some(Marked::of(&arrived.bytes).ok_or_else(|| FpgaError::Unmarked(self.place.clone()))?)
                } else {
                    None
                };
                if marked.is_some() {
                    arrived.bytes.drain(..MARKED_BYTES);
                }
                let said = marked.as_ref().map(|marked| marked.source);
                // The frame has left, also if its header says where it entered.
                let known = entry_of(&mut self.inside, &arrived.bytes, said);
                let (source, entered) = known.unwrap_or((said.unwrap_or(UNKNOWN), arrived.first));
                self.exits.push(Exit {
                    first: arrived.first,
                    last: arrived.last,
                    offset: self.bytes.len() as u64,
                    length: arrived.bytes.len() as u32,
                    timestamp: entered as u32,
                    stream: port as u8,
                    source,
                    mark: marked.map_or(0, |marked| marked.mark),
                    ..Exit::default()
                });
                self.bytes.extend(arrived.bytes);
            }
        }
        Ok(())
    }

    /// Why the card is not as its driver left it.
    fn fault(&mut self) -> DeviceError {
        let place = self.place.clone();
        match self.window.bar.read(registers::BAR_MAGIC) {
            Ok(MAGIC) => FpgaError::WasReset(place).into(),
            Ok(u32::MAX) => FpgaError::AllOnes(place).into(),
            Ok(found) => FpgaError::NoCard { place, found }.into(),
            Err(error) => gone(error).into(),
        }
    }
}

/// The host does not reach the cables of a real card.
fn no_cables() -> DeviceError {
    DeviceError::NotOnFpga {
        what: "cables that the host reaches",
        way_out: "send from another machine, and look at the counters; on a simulated card (card=\"sim\") frames go both ways",
    }
}

/// Refuses to send frames to a card whose cables the host does not reach. The card need not be open.
///
/// # Errors
/// It is a real card.
pub fn accept(place: &Place) -> Result<(), DeviceError> {
    match place {
        Place::Own(_) | Place::Sim(_) => Ok(()),
        Place::Pci(_) => Err(no_cables()),
    }
}

/// Where and when a frame entered that leaves with these bytes; the source, if its header says it.
fn entry_of(inside: &mut HashMap<Vec<u8>, VecDeque<(u8, u64)>>, bytes: &[u8], source: Option<u8>) -> Option<(u8, u64)> {
    let is_it = |entry: &(u8, u64)| source.is_none_or(|source| source == entry.0);
    let mut filled = bytes.to_vec();
    filled.resize(bytes.len().max(SHORTEST), 0);
    if let Some(same) = inside.get_mut(&filled) {
        let entry = same.iter().position(is_it).and_then(|at| same.remove(at));
        if same.is_empty() {
            inside.remove(&filled);
        }
        return entry;
    }
    let mut all = inside.values().flatten();
    let (only, None) = (*all.next()?, all.next()) else { return None };
    is_it(&only).then(|| inside.clear())?;
    Some(only)
}

impl Machine for Behind {
    const TARGET: Target = Target::Fpga;
    const KNOWS_MAKERS: bool = false;
    const KEEPS_TIMES: bool = false;

    fn cycle(&self) -> u64 {
        self.window.bar.cycle().unwrap_or_else(|| self.opened.elapsed().as_nanos() as u64 / 4)
    }

    fn failure(&self) -> Option<String> {
        None
    }

    fn step(&mut self, cycles: u64, idle: u64) -> Result<Step, DeviceError> {
        let end = self.cycle().saturating_add(cycles);
        loop {
            self.feed()?;
            let left = end.saturating_sub(self.cycle());
            if left == 0 {
                return Ok(Step::OutOfCycles);
            }
            let waits = self.cables.iter().any(|cable| !cable.waiting.is_empty());
            let Some(wires) = self.window.bar.wires() else {
                self.window.pass(left)?;
                return Ok(Step::OutOfCycles);
            };
            let is_quiet = wires.run(if waits { left.min(ROOM_LOOK) } else { left }, idle).map_err(gone)?;
            self.take()?;
            if is_quiet && !waits {
                return Ok(Step::Idle);
            }
        }
    }

    fn entries(&self) -> &[Entry] {
        &self.entries
    }

    fn exits(&self) -> (&[Exit], &[u8]) {
        (&self.exits, &self.bytes)
    }

    fn clear(&mut self) {
        self.entries.clear();
        self.exits.clear();
        self.bytes.clear();
    }

    fn queue(&mut self, frames: &[Frame], bytes: &[u8]) -> Result<(), DeviceError> {
        for cable in &mut self.cables {
            cable.waiting.clear();
        }
        if let Some(wires) = self.window.bar.wires() {
            wires.forget().map_err(gone)?;
            // Frames that had entered by then are noted; of the others, at most one that is half way in is left.
            self.take()?;
            for cable in &mut self.cables {
                cable.sent.clear();
                cable.sent_bytes = 0;
            }
        }
        self.add(frames, bytes)
    }

    fn add(&mut self, frames: &[Frame], bytes: &[u8]) -> Result<(), DeviceError> {
        for frame in frames {
            let (begin, end) = (frame.offset as usize, frame.offset as usize + frame.length as usize);
            self.cables[usize::from(frame.stream)].waiting.push_back(bytes[begin..end].to_vec());
        }
        Ok(())
    }

    fn pace(&mut self, rate: Rate, _repeat: bool, _stopped: &[Port]) -> Result<(), DeviceError> {
        self.is_lossless = matches!(rate, Rate::Lossless | Rate::Turns);
        let gbps = match rate {
            Rate::Gbps(gbps) | Rate::Ports(gbps) => gbps,
            Rate::Lossless | Rate::Turns | Rate::Line | Rate::Captured => LINE_GBPS,
        };
        let Some(wires) = self.window.bar.wires() else { return Ok(()) };
        let picoseconds = (LINE_PS * LINE_GBPS / gbps).round() as u32;
        (0..self.cables.len() as u32).try_for_each(|port| Ok(wires.pace(port, picoseconds).map_err(gone)?))
    }

    fn accept(&mut self) -> Result<(), DeviceError> {
        if self.window.bar.wires().is_some() { Ok(()) } else { Err(no_cables()) }
    }

    fn emptied(&mut self) {
        self.inside.clear();
    }

    fn is_as_left(&mut self) -> Result<(), DeviceError> {
        // A reset empties all ranges of host memory, which the driver has opened: base 0 tells that none came.
        match self.window.read(regs::CARD_MEMORY_BASE_L) {
            Ok(0) => Ok(()),
            Ok(_) | Err(_) => Err(self.fault()),
        }
    }

    fn revive(&mut self) -> Result<bool, DeviceError> {
        match self.is_as_left() {
            Ok(()) => return Ok(false),
            Err(DeviceError::Fpga(FpgaError::WasReset(_))) => {}
            Err(error) => return Err(error),
        }
        self.identity = Identity::read(&self.place, &mut *self.window.bar)?;
        self.wanted.check(&self.place, self.identity)?;
        self.reset()?;
        self.window.forget()?;
        Ok(true)
    }

    fn flush(&mut self) -> Result<(), DeviceError> {
        Ok(self.window.flush()?)
    }

    fn has_host_memory(&self) -> Result<(), DeviceError> {
        Err(DeviceError::NotOnFpga {
            what: "host memory",
            way_out: "OpenNIC's box_322mhz has no path to it, and the card does not use Corundum's DMA engine yet, so the \
                      bursts of its units are refused (docs/cards.md); use soft or rtl",
        })
    }

    fn host_read(&self, _address: u64, _bytes: &mut [u8]) -> Result<(), DeviceError> {
        self.has_host_memory()
    }

    fn host_write(&mut self, _address: u64, _bytes: &[u8]) -> Result<(), DeviceError> {
        self.has_host_memory()
    }
}

impl Bus for Behind {
    fn read(&mut self, address: u32) -> Result<u32, CardError> {
        self.window.read(address)
    }

    fn write(&mut self, address: u32, value: u32) -> Result<(), CardError> {
        self.window.write(address, value)
    }

    fn pass(&mut self, cycles: u64) -> Result<(), CardError> {
        self.window.pass(cycles)
    }

    fn native(&mut self) -> Option<&mut dyn Native> {
        None
    }
}
