// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! AF_XDP sockets (Documentation/networking/af_xdp.rst in Linux): one for each queue of an interface, whose frames come
//! before the kernel has made packets of them, in memory that both sides share.

use std::error::Error;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::net::UnixDatagram;
use std::thread::sleep;
use std::time::{Duration, Instant};

use xdp::error::SocketError;
use xdp::nic::NicIndex;

use xdp::slab::{HeapSlab, Slab};
use xdp::socket::{OptName, XdpSocket, XdpSocketBuilder};
use xdp::umem::{FrameSize, UmemCfgBuilder};
use xdp::{CompletionRing, FillRing, Packet, RingConfigBuilder, RxRing, TxRing, Umem};

use crate::bpf::{AttachError, MAX_QUEUES, Mode, Redirect};
use crate::ethtool::{self, TagsKept};
use crate::offload::Left;
use crate::partial;
use crate::socket::{Missed, SEND_BUFFER, SEND_WAIT, Watch, get, set};

/// Frames of a queue that may wait between the kernel and the card; a power of two.
const RECEIVE_FRAMES: u32 = 8192;
/// Frames that may wait to be sent; a power of two.
const SEND_FRAMES: u32 = 2048;
/// Frames handed over at a time.
const BATCH: usize = 256;
/// Calls in which the kernel must have taken all frames, when it takes any: one takes 32 at least.
const KICKS: usize = 2 * SEND_FRAMES as usize / 32;
/// How long frames on their way out are waited for at the end.
const LAST_FRAMES: Duration = Duration::from_millis(100);
/// Bytes of a piece of the shared memory, and of the kernel's room in front of the frame in it.
const SHORT_PIECE: usize = 2048;
const LONG_PIECE: usize = 4096;
const PIECE_HEAD: usize = 256;
/// Bytes of a header with two VLAN tags, which the MTU does not count.
const ETHERNET_BYTES: usize = 14;
const TAG_BYTES: usize = 4;
/// Most bytes that a frame may carry.
const MAX_MTU: usize = LONG_PIECE - PIECE_HEAD - ETHERNET_BYTES - 2 * TAG_BYTES;
/// linux/if_xdp.h; new in Linux 6.18.
const MAX_TX_SKB_BUDGET: libc::c_int = 9;

/// Why an interface has no AF_XDP.
#[derive(Debug, thiserror::Error)]
pub enum XdpError {
    /// The kernel was built without it.
    #[error("this kernel has no AF_XDP (CONFIG_XDP_SOCKETS)")]
    Missing,
    /// This user may not.
    #[error(
        "it needs the rights CAP_NET_RAW, CAP_NET_ADMIN, CAP_BPF and CAP_IPC_LOCK; run as root, or give them with setcap"
    )]
    Forbidden,
    /// There is an XDP program.
    #[error("there is an XDP program at the interface already, which sees frames first; `ip link show` shows it")]
    Taken,
    /// No XDP program can be there.
    #[error("neither the driver takes an XDP program ({native}) nor the kernel behind it ({generic})")]
    Refused {
        /// The system's error for the driver's mode.
        native: io::Error,
        /// The system's error for the generic mode.
        generic: io::Error,
    },
    /// Frames are too long.
    #[error(
        "its MTU of {0} is more than AF_XDP carries in a frame; `ip link set INTERFACE mtu {MAX_MTU}` makes it fit"
    )]
    Mtu(usize),
    /// It hides tags.
    #[error("its hardware takes VLAN tags out of frames, where XDP does not see them, and cannot be told not to: {0}")]
    Tags(io::Error),
    /// It has too many queues.
    #[error("it has more than {MAX_QUEUES} queues; `ethtool -L INTERFACE combined {MAX_QUEUES}` makes them fewer")]
    Queues,
    /// One of them.
    #[error("queue {queue}: {source}")]
    Queue {
        /// The queue.
        queue: u32,
        /// The system's error.
        source: io::Error,
    },
    /// Frames are not as they would be on a wire.
    #[error(
        "frames come from {from}, which can leave checksums unfinished and VLAN tags beside the frame, and XDP shows neither; \
         `--driver xdp` takes it all the same"
    )]
    NoWire {
        /// The driver.
        from: String,
    },
    /// Anything else.
    #[error("{doing}: {source}")]
    System {
        /// The action that failed.
        doing: &'static str,
        /// The system's error.
        source: io::Error,
    },
}

/// Both directions of an interface. It is promiscuous, and VLAN tags stay in its frames, while this lives.
pub(crate) struct Ends {
    // In this order they go: the program before the sockets that it sends frames to.
    redirect: Redirect,
    queues: Vec<Queue>,
    sender: Sender,
    tags: TagsKept,
    watch: Watch,
    /// Frames were on a wire, so nothing of them is left to be done.
    is_from_wire: bool,
    /// The interface's shape at the opening.
    shape: Shape,
    next: usize,
}

/// The properties of an interface that determine its memory and sockets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Shape {
    mtu: usize,
    queues: Option<u32>,
}

/// A queue's socket and its memory.
struct Queue {
    fill: FillRing,
    receive: RxRing,
    completed: CompletionRing,
    socket: XdpSocket,
    memory: Umem,
    /// Frames that were taken from the kernel.
    taken: HeapSlab,
    /// Pieces that the kernel is still to get back.
    owed: usize,
}

/// The sender; all frames leave through the first queue.
struct Sender {
    ring: TxRing,
    waiting: HeapSlab,
    /// Frames that the kernel has not given back yet.
    on_the_way: usize,
    /// The kernel has not taken all of them.
    is_stuck: bool,
    is_zero_copy: bool,
}

impl Shape {
    fn of(ask: BorrowedFd<'_>, interface: &str) -> io::Result<Self> {
        Ok(Self { mtu: ethtool::mtu(ask, interface)?, queues: ethtool::queues(ask, interface) })
    }
}

impl Ends {
    /// Takes over the frames of an interface.
    pub(crate) fn open(interface: &str, index: i32, is_from_wire: bool) -> Result<Self, XdpError> {
        let system = |doing| move |source| XdpError::System { doing, source };
        let ask = UnixDatagram::unbound().map_err(system("opening a socket"))?;
        let shape = Shape::of(ask.as_fd(), interface).map_err(system("asking for its MTU"))?;
        if shape.mtu > MAX_MTU {
            return Err(XdpError::Mtu(shape.mtu));
        }
        // The calls that must not change the interface if they are refused come first.
        let first = XdpSocketBuilder::new().map_err(|error| match reason(&error).raw_os_error() {
            Some(libc::EAFNOSUPPORT) => XdpError::Missing,
            Some(libc::EPERM) => XdpError::Forbidden,
            _ => system("opening an AF_XDP socket")(reason(&error)),
        })?;
        let watch = Watch::open(index).map_err(system("making it promiscuous"))?;
        let tags = TagsKept::keep(interface).map_err(XdpError::Tags)?;
        let redirect = Redirect::attach(index).map_err(|error| match error {
            AttachError::Forbidden => XdpError::Forbidden,
            AttachError::Taken => XdpError::Taken,
            AttachError::Refused { native, generic } => XdpError::Refused { native, generic },
            AttachError::Load(source) => system("loading the XDP program")(source),
        })?;
        let index = NicIndex::new(index.cast_unsigned());
        let (queue, ring) = Queue::open(first, index, 0, shape.mtu)?;
        let ring = ring.ok_or_else(|| system("making a ring")(io::ErrorKind::Unsupported.into()))?;
        let sender = Sender::new(ring, &queue.socket);
        let mut queues = vec![queue];
        // The kernel knows best how many there are: beyond the last one there is nothing to bind to.
        loop {
            let number = queues.len() as u32;
            let next = XdpSocketBuilder::new().map_err(|error| system("opening an AF_XDP socket")(reason(&error)))?;
            match Queue::open(next, index, number, shape.mtu) {
                Ok(_) if number == MAX_QUEUES => return Err(XdpError::Queues),
                Ok((queue, _)) => queues.push(queue),
                Err(XdpError::Queue { source, .. })
                    if source.raw_os_error() == Some(libc::EINVAL)
                        && shape.queues.is_none_or(|known| known <= number) =>
                {
                    break;
                }
                Err(error) => return Err(error),
            }
        }
        for (number, queue) in (0..).zip(&queues) {
            let serve = redirect.serve(number, queue.as_fd());
            serve.map_err(|source| XdpError::Queue { queue: number, source })?;
        }
        Ok(Self { redirect, queues, sender, tags, watch, is_from_wire, shape, next: 0 })
    }

    /// The drivers of frames, in words.
    pub(crate) fn words(&self) -> &'static str {
        match (self.redirect.mode(), self.sender.is_zero_copy) {
            (Mode::Native, true) => "AF_XDP (native, zero-copy)",
            (Mode::Native, false) => "AF_XDP (native, copied)",
            (Mode::Generic, _) => "AF_XDP (generic, copied)",
        }
    }

    /// The features that were switched off on the interface, in words.
    pub(crate) fn switched_off(&self) -> Option<&'static str> {
        self.tags.words()
    }

    /// The descriptors to poll.
    pub(crate) fn readable(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        std::iter::once(self.watch.as_fd()).chain(self.queues.iter().map(AsFd::as_fd))
    }

    /// Gives about `limit` received frames to `take`, each with the work that is left for it; returns their number.
    /// Also retries frames that wait to be sent; `unsent` counts those that the interface did not take.
    pub(crate) fn receive(&mut self, limit: usize, unsent: &mut u64, take: &mut impl FnMut(&[u8], Left)) -> usize {
        if self.sender.is_stuck {
            *unsent += self.sender.kick(&self.queues[0].socket);
        }
        let is_from_wire = self.is_from_wire;
        let mut taken = 0;
        // The first to be asked is another one each time, so that none waits for ever.
        let count = self.queues.len();
        for number in 0..count {
            taken += self.queues[(self.next + number) % count].receive(limit.saturating_sub(taken), &mut |bytes| {
                take(bytes, if is_from_wire { Left::default() } else { partial::left_of(bytes) });
            });
        }
        self.next = (self.next + 1) % count;
        taken
    }

    /// Sends frames; returns the number that the interface did not take. The others are in flight.
    pub(crate) fn send(&mut self, frames: &[&[u8]]) -> u64 {
        let mtu = self.shape.mtu;
        let (fitting, too_long): (Vec<&[u8]>, Vec<&[u8]>) = frames.iter().partition(|frame| fits(frame, mtu));
        too_long.len() as u64 + self.sender.send(&mut self.queues[0], &fitting)
    }

    /// Waits briefly for frames that are on their way out; returns the number that still are.
    pub(crate) fn flush(&mut self) -> u64 {
        let end = Instant::now() + LAST_FRAMES;
        let mut unsent = 0;
        loop {
            if self.sender.is_stuck {
                unsent += self.sender.kick(&self.queues[0].socket);
            }
            self.sender.reap(&mut self.queues[0]);
            if self.sender.on_the_way == 0 || Instant::now() > end {
                return unsent + std::mem::take(&mut self.sender.on_the_way) as u64;
            }
            sleep(Duration::from_millis(1));
        }
    }

    /// Frames that have been missed so far.
    pub(crate) fn missed(&self) -> Missed {
        let mut missed = Missed::default();
        for statistics in self.queues.iter().filter_map(|queue| queue.socket.statistics().ok()) {
            // A frame that the kernel copies is dropped when there is no memory for it, or it is too long for that.
            let without_room = statistics.rx_dropped.min(statistics.rx_fill_ring_empty_descs);
            missed.overflow += statistics.rx_ring_full + without_room;
            missed.oversize += statistics.rx_dropped - without_room;
        }
        missed
    }

    /// The error that was met, if any: the interface is down or gone.
    pub(crate) fn take_error(&self) -> Option<io::Error> {
        self.watch.take_error()
    }

    /// The interface has another MTU or other queues than those for which this was opened.
    pub(crate) fn is_outdated(&self, ask: BorrowedFd<'_>, interface: &str) -> bool {
        Shape::of(ask, interface).is_ok_and(|shape| shape != self.shape)
    }
}

impl Queue {
    fn open(
        mut builder: XdpSocketBuilder,
        index: NicIndex,
        number: u32,
        mtu: usize,
    ) -> Result<(Self, Option<TxRing>), XdpError> {
        let failed = |source: io::Error| match source.raw_os_error() {
            Some(libc::EPERM) => XdpError::Forbidden,
            _ => XdpError::Queue { queue: number, source },
        };
        let is_short = mtu + ETHERNET_BYTES + 2 * TAG_BYTES <= SHORT_PIECE - PIECE_HEAD;
        let send_frames = if number == 0 { SEND_FRAMES } else { 0 };
        let memory = UmemCfgBuilder {
            frame_size: if is_short { FrameSize::TwoK } else { FrameSize::FourK },
            frame_count: RECEIVE_FRAMES + send_frames,
            ..UmemCfgBuilder::default()
        };
        let memory = memory.build().map_err(|error| failed(io::Error::other(error.to_string())))?;
        let memory = Umem::map(memory).map_err(failed)?;
        let rings = RingConfigBuilder {
            rx_count: RECEIVE_FRAMES,
            fill_count: RECEIVE_FRAMES,
            tx_count: send_frames,
            completion_count: SEND_FRAMES,
        };
        let rings = rings.build().map_err(|error| failed(io::Error::other(error.to_string())))?;
        // Without wake-ups: a driver without memory polls for it.
        let (rings, flags) = builder.build_rings(&memory, rings).map_err(|error| match &error {
            // Memory that stays where it is.
            SocketError::SetSockOpt { inner, option: OptName::UmemRegion }
                if inner.raw_os_error() == Some(libc::ENOBUFS) =>
            {
                XdpError::Forbidden
            }
            _ => failed(reason(&error)),
        })?;
        let receive = rings.rx_ring.ok_or_else(|| failed(io::ErrorKind::Unsupported.into()))?;
        let socket = builder.bind(index, number, flags).map_err(|error| failed(reason(&error)))?;
        let taken = HeapSlab::with_capacity(BATCH);
        let (fill, completed) = (rings.fill_ring, rings.completion_ring);
        let mut queue = Self { fill, receive, completed, socket, memory, taken, owed: RECEIVE_FRAMES as usize };
        queue.refill();
        Ok((queue, rings.tx_ring))
    }

    fn receive(&mut self, limit: usize, take: &mut impl FnMut(&[u8])) -> usize {
        let mut total = 0;
        while total < limit {
            // SAFETY: each packet is given back below, while the memory lives.
            if unsafe { self.receive.recv(&self.memory, &mut self.taken) } == 0 {
                break;
            }
            while let Some(packet) = self.taken.pop_back() {
                take(&packet);
                self.memory.free_packet(packet);
                total += 1;
                self.owed += 1;
            }
            self.refill();
        }
        total
    }

    /// Gives the kernel memory for future frames, as much as it gave back.
    fn refill(&mut self) {
        // SAFETY: the memory goes after the socket.
        self.owed -= unsafe { self.fill.enqueue(&mut self.memory, self.owed) };
    }
}

impl AsFd for Queue {
    fn as_fd(&self) -> BorrowedFd<'_> {
        // SAFETY: the socket, whose descriptor it is, lives as long as the returned value.
        unsafe { BorrowedFd::borrow_raw(self.socket.as_raw_fd()) }
    }
}

impl Sender {
    fn new(ring: TxRing, socket: &XdpSocket) -> Self {
        // SAFETY: the socket outlives the borrow.
        let fd = unsafe { BorrowedFd::borrow_raw(socket.as_raw_fd()) };
        // As for packet sockets; and more frames in one call. Both only make it faster.
        let _ = set(fd, libc::SOL_SOCKET, libc::SO_SNDBUFFORCE, &SEND_BUFFER)
            .or_else(|_| set(fd, libc::SOL_SOCKET, libc::SO_SNDBUF, &SEND_BUFFER));
        let _ = set(fd, libc::SOL_XDP, MAX_TX_SKB_BUDGET, &(BATCH as u32));
        let mut options = libc::xdp_options { flags: 0 };
        let is_known = get(fd, libc::SOL_XDP, libc::XDP_OPTIONS, &mut options).is_ok();
        let is_zero_copy = is_known && options.flags & libc::XDP_OPTIONS_ZEROCOPY != 0;
        Self { ring, waiting: HeapSlab::with_capacity(BATCH), on_the_way: 0, is_stuck: false, is_zero_copy }
    }

    fn send(&mut self, queue: &mut Queue, frames: &[&[u8]]) -> u64 {
        let (mut refused, mut waited) = (0, false);
        for (number, frame) in frames.iter().enumerate() {
            let packet = loop {
                // SAFETY: the packet goes to the ring, and the ring is dropped before the memory.
                if let Some(packet) = unsafe { queue.memory.alloc() } {
                    break Some(packet);
                }
                refused += self.hand_over(queue);
                self.reap(queue);
                if queue.memory.allocatable() == 0 {
                    if waited {
                        break None;
                    }
                    sleep(SEND_WAIT);
                    waited = true;
                }
            };
            // All others would fare the same.
            let Some(mut packet) = packet else { return refused + (frames.len() - number) as u64 };
            if packet.append(frame).is_err() {
                queue.memory.free_packet(packet);
                refused += 1;
                continue;
            }
            self.put(packet);
            if self.waiting.len() >= BATCH {
                refused += self.hand_over(queue);
            }
        }
        refused += self.hand_over(queue);
        self.reap(queue);
        refused
    }

    fn put(&mut self, packet: Packet) {
        self.on_the_way += 1;
        // There is room: a full batch is handed over at once.
        let _ = self.waiting.push_front(packet);
    }

    /// Gives waiting frames to the kernel; returns the number that it dropped.
    fn hand_over(&mut self, queue: &mut Queue) -> u64 {
        // The ring has as many places as the memory has pieces, so there is one for each. SAFETY: the memory is dropped
        // after the socket.
        if unsafe { self.ring.send(&mut self.waiting) } > 0 || self.is_stuck { self.kick(&queue.socket) } else { 0 }
    }

    /// Lets the kernel send the frames in the ring; returns the number that it dropped.
    fn kick(&mut self, socket: &XdpSocket) -> u64 {
        let (mut dropped, mut tries) = (0, 0);
        self.is_stuck = true;
        while tries < KICKS && dropped < u64::from(SEND_FRAMES) {
            // SAFETY: no pointer is passed.
            let status = unsafe {
                libc::sendto(socket.as_raw_fd(), std::ptr::null(), 0, libc::MSG_DONTWAIT, std::ptr::null(), 0)
            };
            if status >= 0 {
                self.is_stuck = false;
                break;
            }
            match io::Error::last_os_error().raw_os_error() {
                // The interface has dropped one frame (net/xdp/xsk.c, __xsk_generic_xmit); the others wait in the ring.
                Some(libc::EBUSY) if !self.is_zero_copy => dropped += 1,
                Some(libc::EAGAIN | libc::ENOBUFS | libc::EBUSY | libc::EINTR) => tries += 1,
                // It is down or gone.
                _ => break,
            }
        }
        dropped
    }

    /// Takes memory back of frames that have been sent.
    fn reap(&mut self, queue: &mut Queue) {
        self.on_the_way -= queue.completed.dequeue(&mut queue.memory, self.on_the_way);
    }
}

/// Whether an interface takes a frame, as packet sockets have it (net/packet/af_packet.c, packet_snd).
fn fits(frame: &[u8], mtu: usize) -> bool {
    let is_tagged = frame.get(12..14) == Some(&[0x81, 0x00]);
    (ETHERNET_BYTES..=mtu + ETHERNET_BYTES + if is_tagged { TAG_BYTES } else { 0 }).contains(&frame.len())
}

/// The system's error.
fn reason(error: &SocketError) -> io::Error {
    let inner = error.source().and_then(|source| source.downcast_ref::<io::Error>());
    match inner.and_then(io::Error::raw_os_error) {
        Some(number) => io::Error::from_raw_os_error(number),
        None => io::Error::other(error.to_string()),
    }
}
