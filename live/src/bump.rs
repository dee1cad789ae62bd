// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The card as a bump in the wire, or beside wires of its own: one thread takes frames in, lets the units work, sends
//! the frames that leave, and serves requests of the control socket in between. It sleeps when there is nothing to do.

use std::collections::{BTreeMap, VecDeque};
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::PoisonError;
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant, SystemTime};

use penstock_device::{
    CLOCK_MHZ, Counters, Design, DeviceError, Drops, Image, LiveDevice, PartId, PartImage, Port, PortCounters, Root,
    SoftDevice, fpga, regs,
};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use tracing::warn;

use crate::control::{Changed, Command, ControlError, Server, What, about};
use crate::driver::Driver;
use crate::protocol::{
    Answer, Log, MAX_WORDS, PortStatus, ProgramAbout, Reloaded, Reply, Request, Status, Swapped, UnitStatus, Way,
};
use crate::socket::{PollFd, wait};
use crate::tap::{self, Tap};
use crate::wire::{Link, Wire, WireCounters, WireError};
use crate::xdp::XdpError;

/// Frames of a port between two looks at the others: enough to keep every unit at work, few enough to stay in the
/// cache.
const BATCH: usize = 256;
/// Pause of a card whose units execute without a frame.
const RESTLESS: Duration = Duration::from_millis(1);
/// Time between two checks of error flags while frames flow, and of interfaces that are not up.
const LOOK: Duration = Duration::from_millis(200);
/// Time that frames which have arrived before a stop get to leave.
const LAST_FRAMES: Duration = Duration::from_millis(500);
/// Requests that are carried out between two looks at the ports: a flood of them must not stop the frames.
const REQUESTS: usize = 32;
/// Sentences that are kept.
const FAULTS: usize = 100;

/// The interfaces and the driver of a card.
#[derive(Debug, Clone)]
pub struct Setup {
    /// Ports and their interfaces. Frames that leave at a port without an interface are counted as unsent.
    pub interfaces: Vec<(Port, String)>,
    /// The driver between them and the card.
    pub driver: Driver,
    /// The place of the control socket.
    pub socket: PathBuf,
}

/// Why a card is not up any more, or never was.
#[derive(Debug, thiserror::Error)]
pub enum LiveError {
    /// An interface.
    #[error(transparent)]
    Wire(#[from] WireError),
    /// The control socket.
    #[error(transparent)]
    Control(#[from] ControlError),
    /// The card.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// A port that the card does not have, or has twice.
    #[error("{0}")]
    Port(String),
    /// The system.
    #[error("{doing}: {source}")]
    System {
        /// The action that failed.
        doing: &'static str,
        /// The system's error.
        source: io::Error,
    },
}

/// A card between interfaces.
pub struct Live {
    design: Design,
    device: Box<dyn LiveDevice>,
    /// The programs of the units.
    image: Image,
    wires: Vec<Wire>,
    /// Frames that left at ports without an interface: Ethernet ports, then the host.
    unconnected: Vec<u64>,
    server: Server,
    /// Readable when a signal has arrived.
    stop: UnixStream,
    reload: Option<Reload>,
    start: Instant,
    /// Cycles since then that the card knows of.
    passed: u64,
    next_look: Instant,
    /// Frames have arrived since the last check.
    is_new: bool,
    faults: VecDeque<String>,
    /// Captures under way.
    taps: Vec<Tap>,
}

/// Units that are being reloaded.
struct Reload {
    design: Design,
    /// Their groups, by index.
    groups: Vec<usize>,
    image: Image,
    /// Units that are still to be loaded, the next one first.
    left: VecDeque<u32>,
    /// The first of them has been started.
    is_starting: bool,
    /// Why the new program does not start: units get the old one again.
    failure: Option<String>,
    lost_before: u64,
    answer: Sender<Answer>,
}

/// The time, ns.
fn since_1970() -> u64 {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(now.as_nanos()).unwrap_or_default()
}

impl Reload {
    /// All of them, in ascending order.
    fn units(&self) -> impl DoubleEndedIterator<Item = u32> {
        self.groups.iter().flat_map(|group| self.design.groups[*group].units.clone())
    }
}

impl Live {
    /// Loads a design, puts it between interfaces and serves its control socket. From now on SIGINT, SIGTERM and SIGHUP
    /// end [`Live::run`].
    pub fn open(root: &Root, design: &Design, image: Image, setup: &Setup) -> Result<Self, LiveError> {
        Self::on(root, design, image, setup, || Ok(Box::new(SoftDevice::open(design)?)))
    }

    /// As [`Live::open`], with the card that `device` opens, after ports and socket were checked: to open a real card
    /// resets it. A card whose ports have cables of their own needs no interfaces.
    pub fn on(
        root: &Root,
        design: &Design,
        image: Image,
        setup: &Setup,
        device: impl FnOnce() -> Result<Box<dyn LiveDevice>, DeviceError>,
    ) -> Result<Self, LiveError> {
        for (index, (port, interface)) in setup.interfaces.iter().enumerate() {
            let earlier = &setup.interfaces[..index];
            if earlier.iter().any(|(other, _)| other == port) {
                return Err(LiveError::Port(format!("{port} has two interfaces; give it one")));
            }
            if let Some((other, _)) = earlier.iter().find(|(_, name)| name == interface) {
                let text =
                    format!("{interface} is at {other} and at {port}; each frame would enter twice, so give it to one");
                return Err(LiveError::Port(text));
            }
            if matches!(port, Port::Ethernet(number) if u32::from(*number) >= design.ports) {
                return Err(LiveError::Port(format!("there is no {port}: the card has ports 0..{}", design.ports - 1)));
            }
        }
        Server::check(&setup.socket)?;
        let mut device = device()?;
        let system = |doing| move |source| LiveError::System { doing, source };
        let (stop, signalled) = UnixStream::pair().map_err(system("making a pipe for signals"))?;
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            let end = signalled.try_clone().map_err(system("making a pipe for signals"))?;
            signal_hook::low_level::pipe::register(signal, end).map_err(system("waiting for signals"))?;
        }
        stop.set_nonblocking(true).map_err(system("making a pipe for signals"))?;
        if !setup.interfaces.is_empty() {
            device.accept()?;
        }
        // Secret keys, from the machine's randomness.
        device.set_seed(RandomState::new().hash_one(()))?;
        device.set_epoch(since_1970())?;
        device.bring_up(&image)?;
        // The socket first: a second card of this design must not touch the interfaces of the first.
        let server = Server::start(&setup.socket, root, design)?;
        let wires = setup.interfaces.iter().map(|(port, interface)| Wire::open(*port, interface, setup.driver));
        let now = Instant::now();
        Ok(Self {
            wires: wires.collect::<Result<_, _>>()?,
            design: design.clone(),
            device,
            image,
            unconnected: vec![0; design.ports as usize + 1],
            server,
            stop,
            reload: None,
            start: now,
            passed: 0,
            next_look: now,
            is_new: false,
            faults: VecDeque::new(),
            taps: Vec::new(),
        })
    }

    /// The features that were switched off, by interface.
    pub fn switched_off(&self) -> impl Iterator<Item = (&str, &str)> {
        self.wires.iter().flat_map(|wire| wire.switched_off().map(|what| (wire.interface.as_str(), what)))
    }

    /// Where the card is, and the drivers of frames, in words: for all interfaces at once, or for each.
    pub fn driver(&self) -> String {
        match self.device.place() {
            Some(place) if self.wires.is_empty() => place,
            Some(place) => format!("{place}, {}", self.of_frames()),
            None => self.of_frames(),
        }
    }

    fn of_frames(&self) -> String {
        let mut words: Vec<&str> = self.wires.iter().map(Wire::driver).collect();
        words.dedup();
        if let [all] = words[..] {
            return all.to_string();
        }
        let each = self.wires.iter().map(|wire| format!("{} by {}", wire.interface, wire.driver()));
        each.collect::<Vec<_>>().join(", ")
    }

    /// Interfaces that AF_XDP was to be tried at, and why they do without.
    pub fn without_xdp(&self) -> impl Iterator<Item = (&str, &XdpError)> {
        self.wires.iter().filter_map(|wire| Some((wire.interface.as_str(), wire.refusal()?)))
    }

    /// Carries frames until a signal arrives, and logs faults as they occur. Returns the card's last status.
    pub fn run(&mut self) -> Result<Status, LiveError> {
        while !self.is_stopped() {
            let moved = self.carry()?;
            let has_more = self.obey()?;
            self.step_reload()?;
            self.look(moved)?;
            if moved == 0 && !has_more && self.reload.is_none() {
                self.sleep()?;
            }
        }
        let end = Instant::now() + LAST_FRAMES;
        while self.carry()? > 0 && Instant::now() < end {}
        let circling = self.device.finish();
        self.device.end_run()?;
        self.send_out();
        self.wires.iter_mut().for_each(Wire::flush);
        if circling > 0 {
            self.note(format!("{circling} frames still circle over loopback"));
        }
        self.look_closely()?;
        Ok(self.status()?)
    }

    /// Moves arrived frames through the card; returns their number.
    fn carry(&mut self) -> Result<usize, DeviceError> {
        let (mut moved, mut failed) = (0, None);
        self.device.set_time(self.start.elapsed().as_nanos() as u64);
        let open = if self.device.is_closed() { 0 } else { self.wires.len() };
        for wire in &mut self.wires[..open] {
            let (port, device, taps) = (wire.port, &mut self.device, &self.taps);
            moved += wire.receive(BATCH, &mut |bytes| {
                taps.iter().for_each(|tap| tap.offer(port, Way::In, bytes));
                if let Err(error) = device.push(port, bytes) {
                    failed = Some(error);
                }
            });
        }
        self.send_out();
        failed.map_or(Ok(moved), Err)
    }

    /// Lets the units work, with the time that has passed, and sends the frames that leave.
    fn send_out(&mut self) {
        let cycles = (self.start.elapsed().as_nanos() * u128::from(CLOCK_MHZ) / 1000) as u64;
        self.device.pass(cycles - self.passed);
        self.passed = cycles;
        let mut out: Vec<Vec<&[u8]>> = vec![Vec::new(); self.unconnected.len()];
        let (host, has_cables) = (out.len() - 1, self.device.has_cables());
        for (port, bytes) in self.device.pump() {
            self.taps.iter().for_each(|tap| tap.offer(port, Way::Out, bytes));
            out[stream(port, host)].push(bytes);
        }
        for wire in &mut self.wires {
            let frames = std::mem::take(&mut out[stream(wire.port, host)]);
            if !frames.is_empty() {
                wire.send(&frames);
            }
        }
        if has_cables {
            return;
        }
        for (count, frames) in self.unconnected.iter_mut().zip(&out) {
            *count += frames.len() as u64;
        }
    }

    /// Carries out requests of the control socket; whether there may be more.
    fn obey(&mut self) -> Result<bool, DeviceError> {
        for _ in 0..REQUESTS {
            let Ok(Command { what, answer }) = self.server.commands.try_recv() else { return Ok(false) };
            let reply = match what {
                What::Request(request) => self.execute(request),
                What::Refill(changed) => self.refill(*changed),
                What::Tap(tap) => self.add_tap(tap),
                What::Swap(changed) => self.swap(*changed),
                What::Reload(all) => {
                    let (design, groups, image) = *all;
                    let left = groups.iter().flat_map(|group| design.groups[*group].units.clone()).collect();
                    let lost_before = self.device.lost();
                    let (is_starting, failure) = (false, None);
                    self.reload =
                        Some(Reload { design, groups, image, left, is_starting, failure, lost_before, answer });
                    continue;
                }
            };
            respond(&answer, reply);
        }
        Ok(true)
    }

    fn add_tap(&mut self, tap: Tap) -> Result<Reply, String> {
        self.taps.retain(|tap| !tap.is_over());
        if matches!(tap.port, Port::Ethernet(number) if u32::from(number) >= self.design.ports) {
            return Err(format!("there is no {}: the card has ports 0..{} and host", tap.port, self.design.ports - 1));
        }
        if self.wires.is_empty() && self.device.has_cables() {
            return Err(
                "the frames of this card do not pass through the host: capture them at the other ends of its cables"
                    .to_owned(),
            );
        }
        if self.taps.len() == tap::MOST {
            return Err(format!("{} captures are under way already; end one of them", tap::MOST));
        }
        self.taps.push(tap);
        Ok(Reply::default())
    }

    fn execute(&mut self, request: Request) -> Result<Reply, String> {
        let done = self.try_execute(request.clone()).or_else(|error| {
            // Perhaps nobody has looked since somebody reset the card. The look takes it into use again.
            let is_back = self.device.has_cables() && self.look_closely()?;
            if is_back { self.try_execute(request) } else { Err(error) }
        });
        done.map_err(|error| error.to_string())
    }

    fn try_execute(&mut self, request: Request) -> Result<Reply, DeviceError> {
        let mut reply = Reply::default();
        match request {
            Request::Status => reply.status = Some(self.status()?),
            Request::Programs => reply.programs = Some(self.programs()),
            Request::Counters => reply.counters = Some(self.device.totals()?),
            Request::Read { address, count } => {
                let words = addresses(address, count)?.map(|address| self.device.device().read(address));
                reply.words = Some(words.collect::<Result<_, _>>()?);
            }
            Request::Write { address, value } => self.device.device().write(address, value)?,
            Request::MemRead { unit, address, count } => {
                let words = addresses(address, count)?.map(|address| self.device.read_unit(unit, address));
                reply.words = Some(words.collect::<Result<_, _>>()?);
            }
            Request::MemWrite { unit, address, values } => {
                for (address, value) in addresses(address, values.len() as u32)?.zip(&values) {
                    self.device.write_unit(unit, address, *value)?;
                }
            }
            Request::Call(request) => reply.answer = Some(self.device.device().call(&request)?),
            Request::Log => {
                let log = self.device.device().take_log()?;
                reply.log = Some(Log { lines: log.lines, lost: log.lost });
            }
            Request::Poke { unit } => self.device.write_unit(unit, regs::UNIT_POKE, 1)?,
            Request::Evict { unit } => self.device.write_unit(unit, regs::UNIT_EVICT, 1)?,
            Request::Debug { unit, value } => {
                if let Some(value) = value {
                    self.device.write_unit(unit, regs::UNIT_DEBUG_IN_L, value as u32)?;
                    self.device.write_unit(unit, regs::UNIT_DEBUG_IN_H, (value >> 32) as u32)?;
                }
                let mut half = |register| self.device.read_unit(unit, register).map(u64::from);
                reply.debug = Some(half(regs::UNIT_DEBUG_OUT_H)? << 32 | half(regs::UNIT_DEBUG_OUT_L)?);
            }
            Request::Enable { unit } => self.device.set_enabled(unit, true)?,
            Request::Disable { unit } => self.device.set_enabled(unit, false)?,
            Request::Ingress { groups } => self.set_ingress(&groups)?,
            // The connection's thread first compiles the programs of these, so they arrive as another `What`.
            Request::Reload { .. }
            | Request::Load { .. }
            | Request::Swap { .. }
            | Request::Table { .. }
            | Request::Capture { .. } => {
                return Err(DeviceError::Unsupported("the request came without what it loads".to_owned()));
            }
        }
        Ok(reply)
    }

    fn set_ingress(&mut self, groups: &[String]) -> Result<(), DeviceError> {
        let chosen = self.design.find_all("ingress", groups);
        let chosen = chosen.map_err(|error| DeviceError::Unsupported(error.to_string()))?;
        self.device.device().set_ingress(&chosen)?;
        let mut design = self.design.clone();
        for (index, group) in design.groups.iter_mut().enumerate() {
            group.ports = chosen.contains(&index);
        }
        self.runs(design);
        Ok(())
    }

    fn refill(&mut self, Changed { design, image }: Changed) -> Result<Reply, String> {
        self.device.device().refill(&image).map_err(|error| error.to_string())?;
        self.runs_image(image);
        self.runs(design);
        Ok(Reply::default())
    }

    fn swap(&mut self, Changed { design, image }: Changed) -> Result<Reply, String> {
        let swapped = self.device.device().swap(&image);
        let tables = swapped.map_err(|error| format!("{error}; the program before goes on"))?;
        let named = |was_kept: bool| {
            tables.iter().filter(move |(_, kept)| *kept == was_kept).map(|(name, _)| name.clone()).collect()
        };
        let messages = image.image.messages().to_owned();
        let swap = Some(Swapped { kept: named(true), anew: named(false), messages });
        self.runs_image(image);
        self.runs(design);
        Ok(Reply { swap, ..Reply::default() })
    }

    /// The program of each part.
    fn programs(&self) -> Vec<ProgramAbout> {
        let images = self.image.inline.iter().chain(&self.image.groups);
        images.map(|image| about(&self.design, self.design.program(image.part), image)).collect()
    }

    /// Notes the image that a part runs now.
    fn runs_image(&mut self, image: PartImage) {
        match image.part {
            PartId::Units(group) => self.image.groups[group] = image,
            PartId::Inline(block) => self.image.inline[block] = image,
        }
    }

    /// Continues a reload, if there is one: starts the next unit, or checks whether it is up. If the new program does
    /// not start, units that have it get the old one again.
    fn step_reload(&mut self) -> Result<(), DeviceError> {
        let Some(mut reload) = self.reload.take() else { return Ok(()) };
        let Some(&unit) = reload.left.front() else {
            self.end_reload(reload);
            return Ok(());
        };
        if !reload.is_starting {
            let image = if reload.failure.is_none() { &reload.image } else { &self.image };
            match self.device.start_unit(unit, image) {
                Ok(()) => reload.is_starting = true,
                // The next look takes the card into use again, and then this goes on.
                Err(DeviceError::Fpga(fpga::FpgaError::WasReset(_))) => {
                    self.next_look = Instant::now();
                    self.reload = Some(reload);
                    return Ok(());
                }
                Err(error) => return Err(error),
            }
        }
        match self.device.is_up(unit) {
            Ok(false) => {}
            Ok(true) => {
                reload.left.pop_front();
                reload.is_starting = false;
            }
            Err(error) => {
                reload.is_starting = false;
                if reload.failure.is_none() {
                    reload.left = reload.units().filter(|loaded| *loaded <= unit).rev().collect();
                    reload.failure = Some(error.to_string());
                } else {
                    reload.left.pop_front();
                    self.note(format!("unit {unit} gets no more frames: {error}"));
                }
            }
        }
        self.reload = Some(reload);
        Ok(())
    }

    fn end_reload(&mut self, reload: Reload) {
        let units = reload.units().count() as u32;
        let Reload { design, groups, mut image, failure, lost_before, answer, .. } = reload;
        let reply = match failure {
            Some(error) => Err(format!("{error}; the program before goes on")),
            None => {
                let lost = self.device.lost().saturating_sub(lost_before);
                let messages = groups.iter().map(|group| image.groups[*group].image.messages()).collect();
                let reload = Some(Reloaded { units, lost, messages });
                // The other groups keep their programs.
                groups
                    .iter()
                    .for_each(|group| std::mem::swap(&mut self.image.groups[*group], &mut image.groups[*group]));
                self.runs(design);
                Ok(Reply { reload, ..Reply::default() })
            }
        };
        respond(&answer, reply);
    }

    /// Records the running programs.
    fn runs(&mut self, design: Design) {
        *self.server.design.lock().unwrap_or_else(PoisonError::into_inner) = design.clone();
        self.design = design;
    }

    /// Looks now and then, and when a unit was given up.
    fn look(&mut self, moved: usize) -> Result<(), DeviceError> {
        self.is_new |= moved > 0;
        if Instant::now() >= self.next_look || self.device.has_faults() {
            self.look_closely()?;
        }
        Ok(())
    }

    /// Takes a card that was reset into use again, with the programs that ran.
    fn bring_back(&mut self) -> Result<(), DeviceError> {
        self.device.set_epoch(since_1970())?;
        self.device.bring_up(&self.image)?;
        // A reload begins anew; one that has failed is over, since all units have the old program.
        if let Some(mut reload) = self.reload.take() {
            reload.is_starting = false;
            reload.left = if reload.failure.is_none() { reload.units().collect() } else { VecDeque::new() };
            self.reload = Some(reload);
        }
        let groups: Vec<usize> =
            (0..).zip(&self.design.groups).filter(|(_, group)| group.ports).map(|(at, _)| at).collect();
        self.device.device().set_ingress(&groups)
    }

    /// Reports faults, and finds interfaces that are down or back. Whether somebody had reset the card, which is in use
    /// again now.
    fn look_closely(&mut self) -> Result<bool, DeviceError> {
        self.next_look = Instant::now() + LOOK;
        self.is_new = false;
        self.taps.retain(|tap| !tap.is_over());
        // A reset can come between two accesses of a look. The second look tells whether it was one.
        let looked = self.device.take_faults().or_else(|error| {
            let mut news = self.device.take_faults()?;
            news.push(error.to_string());
            Ok(news)
        });
        let was_reset = matches!(looked, Err(DeviceError::Fpga(fpga::FpgaError::WasReset(_))));
        let mut news = match looked {
            Err(DeviceError::Fpga(fpga::FpgaError::WasReset(place))) => {
                self.bring_back()?;
                vec![format!(
                    "{place}: somebody else has reset the card; its programs and tables are loaded again, all that was \
                     changed in tables since is gone"
                )]
            }
            other => other?,
        };
        for wire in &mut self.wires {
            news.extend(wire.take_news());
            news.extend(wire.retry().or_else(|| wire.check()));
        }
        news.into_iter().for_each(|text| self.note(text));
        Ok(was_reset)
    }

    /// Logs a fault and keeps it for the status.
    fn note(&mut self, text: String) {
        warn!("{text}");
        if self.faults.len() == FAULTS {
            self.faults.pop_front();
        }
        self.faults.push_back(text);
    }

    /// Waits until there is something to do.
    fn sleep(&mut self) -> Result<(), LiveError> {
        let mut time = None;
        if self.is_new
            || self.device.has_cables()
            || self.wires.iter().any(|wire| wire.link() != Link::Up || wire.changes_silently())
        {
            time = Some(LOOK);
        }
        if let Some(cycles) = self.device.until_timer() {
            let rings = Duration::from_nanos(cycles.saturating_mul(1000) / u64::from(CLOCK_MHZ));
            time = Some(time.map_or(rings, |time| time.min(rings)));
        }
        if self.device.is_restless() {
            time = Some(RESTLESS);
        }
        let mut fds =
            vec![PollFd::new(self.stop.as_fd(), libc::POLLIN), PollFd::new(self.server.wake.as_fd(), libc::POLLIN)];
        let own = fds.len();
        let mut of_wire = Vec::new();
        for (index, wire) in self.wires.iter().enumerate() {
            for fd in wire.readable() {
                fds.push(PollFd::new(fd, libc::POLLIN));
                of_wire.push(index);
            }
        }
        wait(&mut fds, time).map_err(|source| LiveError::System { doing: "waiting for frames", source })?;
        let failed: Vec<bool> = fds[own..].iter().map(PollFd::has_error).collect();
        self.server.quiet();
        for (index, _) in of_wire.into_iter().zip(failed).filter(|(_, failed)| *failed) {
            if let Some(text) = self.wires[index].check() {
                self.note(text);
            }
        }
        Ok(())
    }

    fn is_stopped(&mut self) -> bool {
        use std::io::Read;
        matches!(self.stop.read(&mut [0]), Ok(1..))
    }

    /// How the card is.
    fn status(&mut self) -> Result<Status, DeviceError> {
        let all = self.device.totals()?;
        let mut drops = BTreeMap::new();
        let count = |drops: &mut BTreeMap<String, u64>, reason: &str, frames: u64| {
            if frames > 0 {
                *drops.entry(reason.to_string()).or_default() += frames;
            }
        };
        for (reason, frames) in all.drops().list() {
            count(&mut drops, reason, frames);
        }
        let Counters { ports, host, units, .. } = all;
        let mut statuses = Vec::new();
        let names = (0..ports.len() as u8).map(Port::Ethernet).chain([Port::Host]);
        for (index, (port, counters)) in names.zip(ports.iter().chain([&host])).enumerate() {
            let wire = self.wires.iter_mut().find(|wire| wire.port == port);
            let (interface, link) = wire.as_ref().map(|wire| (wire.interface.clone(), wire.link())).unzip();
            let beside = wire.map_or(WireCounters::default(), Wire::counters);
            let mut of_port = BTreeMap::new();
            for (reason, frames) in port_drops(counters) {
                count(&mut of_port, reason, frames);
            }
            // Frames that the card does not count.
            let unsent = beside.unsent + self.unconnected[index];
            let of_wire = [
                ("oversize", beside.oversize),
                ("overflow", beside.overflow),
                ("damaged", beside.damaged),
                ("unsent", unsent),
            ];
            for (reason, frames) in of_wire {
                count(&mut of_port, reason, frames);
                count(&mut drops, reason, frames);
            }
            statuses.push(PortStatus {
                port: port.to_string(),
                interface,
                link,
                rx_frames: counters.rx_frames,
                rx_bytes: counters.rx_bytes,
                tx_frames: counters.tx_frames,
                tx_bytes: counters.tx_bytes,
                drops: of_port,
            });
        }
        let mut unit_statuses = Vec::new();
        for ((unit, counters), vitals) in (0..).zip(&units).zip(self.device.vitals()?) {
            let group = self.design.group_of(unit).map_or("", |group| &self.design.groups[group].name);
            unit_statuses.push(UnitStatus {
                unit,
                group: group.to_string(),
                vitals,
                rx_frames: counters.rx_frames,
                tx_frames: counters.tx_frames,
                blocked: counters.blocked,
                refused: counters.refused,
                generated: counters.generated,
                errors: counters.errors,
            });
        }
        count(&mut drops, "lost", self.device.lost());
        Ok(Status {
            design: self.design.name.clone(),
            manifest: self.design.path.clone(),
            programs: self.design.groups.iter().map(|group| group.program.clone()).collect(),
            driver: self.driver(),
            process: std::process::id(),
            seconds: self.start.elapsed().as_secs_f64(),
            ports: statuses,
            units: unit_statuses,
            drops,
            faults: self.faults.iter().cloned().collect(),
        })
    }
}

/// Place of a port among all of them, the host last.
fn stream(port: Port, host: usize) -> usize {
    match port {
        Port::Ethernet(number) => usize::from(number),
        Port::Host => host,
    }
}

/// Frames that did not get to a unit or did not leave at the port, by reason, as far as the card counts them.
fn port_drops(counters: &PortCounters) -> impl Iterator<Item = (&'static str, u64)> {
    let drops = Drops {
        runt: counters.drop_runt,
        oversize: counters.drop_oversize,
        overflow: counters.drop_overflow,
        damaged: counters.drop_damaged,
        disabled: counters.drop_disabled,
        policy: counters.drop_policy,
        unsent: counters.drop_unsent,
        ..Drops::default()
    };
    drops.list().into_iter()
}

/// Addresses of this many words.
fn addresses(first: u32, count: u32) -> Result<impl Iterator<Item = u32>, DeviceError> {
    let last = u64::from(first) + 4 * u64::from(count);
    if count == 0 || count > MAX_WORDS || last > 1 << 32 {
        let text = format!("{count} words from 0x{first:x} on: give 1..{MAX_WORDS} words that end below 0x100000000");
        return Err(DeviceError::Unsupported(text));
    }
    Ok((0..count).map(move |index| first + 4 * index))
}

fn respond(answer: &Sender<Answer>, reply: Result<Reply, String>) {
    // The client may have gone.
    let _ = answer.send(reply.map_or_else(Answer::Error, |reply| Answer::Ok(Box::new(reply))));
}
