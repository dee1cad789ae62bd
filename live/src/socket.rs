// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Packet sockets (packet(7); Documentation/networking/packet_mmap.rst in Linux): a ring of blocks that the kernel
//! fills with frames, and a sender that hands over many frames in one call. Options, errors and waiting, which other
//! sockets also need, are here.

use std::ffi::CString;
use std::io;
use std::mem::{size_of, zeroed};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use crate::offload::{HEADER_BYTES, Left};

/// The drivers of frames, in words.
pub const PACKET: &str = "AF_PACKET (TPACKET_V3 ring in, sendmmsg out)";

/// Bytes of a block: the longest frame that veth hands around, 64 KiB before it is cut into segments, must fit.
const BLOCK_BYTES: usize = 128 << 10;
/// Blocks of a ring. The kernel hands over a block that is not full after [`BLOCK_MS`], so this many also bridge as
/// many milliseconds.
const BLOCKS: usize = 256;
/// Milliseconds after which a block is handed over though it is not full.
const BLOCK_MS: u32 = 1;
/// Frames in one call to the kernel.
const SEND_BATCH: usize = 256;
/// Bytes that may wait in the kernel to be sent.
pub(crate) const SEND_BUFFER: libc::c_int = 8 << 20;
/// How long an interface that takes no more is waited for.
pub(crate) const SEND_WAIT: Duration = Duration::from_millis(2);
/// A protocol of which no frame on Ethernet is (ETH_P_AX25).
const NO_PROTOCOL: u16 = 2;
/// Protocol identifier of an 802.1Q tag, if the kernel does not report it.
const TPID: u16 = 0x8100;

/// Number of an interface in this network namespace.
pub fn index_of(interface: &str) -> io::Result<i32> {
    let name = CString::new(interface).map_err(|_| io::Error::from(io::ErrorKind::InvalidInput))?;
    // SAFETY: the name ends with 0 and lives until the call returns.
    match unsafe { libc::if_nametoindex(name.as_ptr()) } {
        0 => Err(io::Error::last_os_error()),
        index => Ok(index as i32),
    }
}

/// Frames that were lost before they could be read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Missed {
    /// There was no room in the ring.
    pub overflow: u64,
    /// Longer than a block.
    pub oversize: u64,
}

/// The frames that an interface receives. It is promiscuous while this lives.
pub struct Receiver {
    socket: OwnedFd,
    ring: NonNull<u8>,
    block: usize,
    /// Frames of the block that are still to be read, and where the next of them is; None when the kernel has the
    /// block.
    open: Option<(u32, usize)>,
    missed: Missed,
}

impl Receiver {
    /// Receives from the interface with this number.
    pub fn open(index: i32) -> io::Result<Self> {
        // No protocol: no frames arrive before the ring is there.
        let socket = packet_socket()?;
        set(
            socket.as_fd(),
            libc::SOL_PACKET,
            libc::PACKET_VERSION,
            &(libc::tpacket_versions::TPACKET_V3 as libc::c_int),
        )?;
        set(socket.as_fd(), libc::SOL_PACKET, libc::PACKET_VNET_HDR, &1)?;
        set(socket.as_fd(), libc::SOL_PACKET, libc::PACKET_IGNORE_OUTGOING, &1)?;
        let request = libc::tpacket_req3 {
            tp_block_size: BLOCK_BYTES as u32,
            tp_block_nr: BLOCKS as u32,
            tp_frame_size: BLOCK_BYTES as u32,
            tp_frame_nr: BLOCKS as u32,
            tp_retire_blk_tov: BLOCK_MS,
            tp_sizeof_priv: 0,
            tp_feature_req_word: 0,
        };
        set(socket.as_fd(), libc::SOL_PACKET, libc::PACKET_RX_RING, &request)?;
        // SAFETY: a new mapping of the ring just made, at an address that the kernel chooses.
        let ring = unsafe {
            let access = libc::PROT_READ | libc::PROT_WRITE;
            let flags = libc::MAP_SHARED | libc::MAP_POPULATE;
            libc::mmap(std::ptr::null_mut(), BLOCKS * BLOCK_BYTES, access, flags, socket.as_raw_fd(), 0)
        };
        if ring == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let ring = NonNull::new(ring.cast()).ok_or_else(io::Error::last_os_error)?;
        let receiver = Self { socket, ring, block: 0, open: None, missed: Missed::default() };
        make_promiscuous(&receiver.socket, index)?;
        bind(&receiver.socket, index, libc::ETH_P_ALL as u16)?;
        Ok(receiver)
    }

    /// Gives up to `limit` received frames to `take`, each with the work that is left for it; returns their number.
    pub fn receive(&mut self, limit: usize, take: &mut impl FnMut(&[u8], Left)) -> usize {
        let mut taken = 0;
        while taken < limit {
            let Some((count, at)) = self.open.take().or_else(|| self.next_block()) else { break };
            let (mut rest, mut at) = (count, at);
            while rest > 0 && taken < limit {
                at = self.frame(at, take);
                rest -= 1;
                taken += 1;
            }
            if rest > 0 {
                self.open = Some((rest, at));
            } else {
                self.status().store(libc::TP_STATUS_KERNEL, Ordering::Release);
                self.block = (self.block + 1) % BLOCKS;
            }
        }
        taken
    }

    /// Frames and place of the first one in the next block, when the kernel has handed it over.
    fn next_block(&mut self) -> Option<(u32, usize)> {
        if self.status().load(Ordering::Acquire) & libc::TP_STATUS_USER == 0 {
            return None;
        }
        // SAFETY: the block is ours until its status changes; its header is the one that TPACKET_V3 writes at its
        // start.
        let header = unsafe { (*self.block_start().cast::<libc::tpacket_block_desc>().as_ptr()).hdr.bh1 };
        Some((header.num_pkts, header.offset_to_first_pkt as usize))
    }

    /// Hands over the frame at `at` of the open block; gives the place of the next one.
    fn frame(&mut self, at: usize, take: &mut impl FnMut(&[u8], Left)) -> usize {
        // SAFETY: the block is ours, and the kernel's offsets are within it.
        let (header, bytes, unfinished) = unsafe {
            let start = self.block_start().as_ptr().add(at);
            let header = *start.cast::<libc::tpacket3_hdr>();
            let frame = start.add(usize::from(header.tp_mac));
            let bytes = std::slice::from_raw_parts(frame, header.tp_snaplen as usize);
            // The kernel puts it right before the frame (net/packet/af_packet.c, tpacket_rcv).
            (header, bytes, *frame.sub(HEADER_BYTES).cast::<[u8; HEADER_BYTES]>())
        };
        let tag = header.hv1;
        let vlan = (header.tp_status & libc::TP_STATUS_VLAN_VALID != 0).then(|| {
            let is_named = header.tp_status & libc::TP_STATUS_VLAN_TPID_VALID != 0;
            let [high, low] = if is_named { tag.tp_vlan_tpid } else { TPID }.to_be_bytes();
            let control = (tag.tp_vlan_tci as u16).to_be_bytes();
            [high, low, control[0], control[1]]
        });
        if header.tp_snaplen < header.tp_len {
            self.missed.oversize += 1;
        } else {
            take(bytes, Left::new(unfinished, vlan));
        }
        at + header.tp_next_offset as usize
    }

    fn block_start(&self) -> NonNull<u8> {
        // SAFETY: `block` is less than BLOCKS, so the place is in the mapping.
        unsafe { self.ring.add(self.block * BLOCK_BYTES) }
    }

    /// The owner of the block.
    fn status(&self) -> &AtomicU32 {
        let block = self.block_start().cast::<libc::tpacket_block_desc>().as_ptr();
        // SAFETY: the word lives as long as the mapping, is aligned, and the kernel too changes it as a whole.
        unsafe { AtomicU32::from_ptr(&raw mut (*block).hdr.bh1.block_status) }
    }

    /// Frames that have been missed so far.
    pub fn missed(&mut self) -> Missed {
        // SAFETY: all of tpacket_stats_v3 may be zero.
        let mut statistics: libc::tpacket_stats_v3 = unsafe { zeroed() };
        // Reading clears it.
        if get(self.socket.as_fd(), libc::SOL_PACKET, libc::PACKET_STATISTICS, &mut statistics).is_ok() {
            self.missed.overflow += u64::from(statistics.tp_drops);
        }
        self.missed
    }

    /// The error that the socket has met, if any: the interface is down or gone.
    pub fn take_error(&self) -> Option<io::Error> {
        error_of(&self.socket)
    }
}

impl AsFd for Receiver {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        // SAFETY: the mapping was made in `open`, and nothing that this lent out is left.
        unsafe { libc::munmap(self.ring.as_ptr().cast(), BLOCKS * BLOCK_BYTES) };
    }
}

/// Makes an interface promiscuous while it lives, and knows when that goes down or away.
pub struct Watch(OwnedFd);

impl Watch {
    /// Watches the interface with this number.
    pub fn open(index: i32) -> io::Result<Self> {
        let socket = packet_socket()?;
        make_promiscuous(&socket, index)?;
        // Only a socket that receives frames is notified.
        bind(&socket, index, NO_PROTOCOL)?;
        Ok(Self(socket))
    }

    /// The error that it has met, if any: the interface is down or gone.
    pub fn take_error(&self) -> Option<io::Error> {
        error_of(&self.0)
    }
}

impl AsFd for Watch {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// Sends frames out of an interface.
pub struct Sender {
    socket: OwnedFd,
    vectors: Vec<libc::iovec>,
    messages: Vec<libc::mmsghdr>,
}

impl Sender {
    /// Sends to the interface with this number.
    pub fn open(index: i32) -> io::Result<Self> {
        let socket = packet_socket()?;
        // More than other users may have; without that right, or in a namespace, as much as there is.
        if set(socket.as_fd(), libc::SOL_SOCKET, libc::SO_SNDBUFFORCE, &SEND_BUFFER).is_err() {
            set(socket.as_fd(), libc::SOL_SOCKET, libc::SO_SNDBUF, &SEND_BUFFER)?;
        }
        // No protocol: it receives nothing.
        bind(&socket, index, 0)?;
        Ok(Self { socket, vectors: Vec::new(), messages: Vec::new() })
    }

    /// Sends frames; says how many the interface did not take, because it is down, has no room for long, or they are
    /// longer than it lets through. The others are on their way.
    pub fn send(&mut self, frames: &[&[u8]]) -> u64 {
        frames.chunks(SEND_BATCH).map(|batch| self.send_batch(batch)).sum()
    }

    fn send_batch(&mut self, frames: &[&[u8]]) -> u64 {
        self.vectors.clear();
        self.vectors.extend(
            frames.iter().map(|frame| libc::iovec { iov_base: frame.as_ptr().cast_mut().cast(), iov_len: frame.len() }),
        );
        self.messages.clear();
        self.messages.extend(self.vectors.iter_mut().map(|vector| {
            // SAFETY: all of mmsghdr may be zero.
            let mut message: libc::mmsghdr = unsafe { zeroed() };
            message.msg_hdr.msg_iov = vector;
            message.msg_hdr.msg_iovlen = 1;
            message
        }));
        let (mut next, mut refused, mut waited) = (0, 0, false);
        while next < self.messages.len() {
            let rest = &mut self.messages[next..];
            // SAFETY: messages, vectors and frames live until the call returns; the kernel only reads the frames.
            let sent = unsafe {
                libc::sendmmsg(self.socket.as_raw_fd(), rest.as_mut_ptr(), rest.len() as u32, libc::MSG_DONTWAIT)
            };
            if sent > 0 {
                next += sent as usize;
                waited = false;
                continue;
            }
            match io::Error::last_os_error().raw_os_error() {
                Some(libc::EINTR) => {}
                Some(libc::EAGAIN | libc::ENOBUFS) if !waited => {
                    let mut fd = [PollFd::new(self.socket.as_fd(), libc::POLLOUT)];
                    // When that fails, the next attempt tells.
                    let _ = wait(&mut fd, Some(SEND_WAIT));
                    waited = true;
                }
                // All others would fare the same.
                Some(libc::ENETDOWN | libc::ENXIO | libc::ENODEV | libc::EAGAIN | libc::ENOBUFS) => {
                    return refused + rest.len() as u64;
                }
                // This one alone: most often it is too long.
                _ => {
                    next += 1;
                    refused += 1;
                }
            }
        }
        self.messages.clear();
        self.vectors.clear();
        refused
    }
}

/// Something to wait for.
#[repr(transparent)]
pub struct PollFd<'a> {
    raw: libc::pollfd,
    lifetime: std::marker::PhantomData<BorrowedFd<'a>>,
}

impl<'a> PollFd<'a> {
    /// Waits for `events` (POLLIN, POLLOUT); errors always count.
    pub fn new(fd: BorrowedFd<'a>, events: i16) -> Self {
        Self { raw: libc::pollfd { fd: fd.as_raw_fd(), events, revents: 0 }, lifetime: std::marker::PhantomData }
    }

    /// Something has gone wrong with it.
    pub fn has_error(&self) -> bool {
        self.raw.revents & (libc::POLLERR | libc::POLLHUP | libc::POLLNVAL) != 0
    }
}

/// Waits until one of them is readable, a signal arrives or the time is over; without a time, for ever.
pub fn wait(fds: &mut [PollFd<'_>], time: Option<Duration>) -> io::Result<()> {
    let milliseconds = time.map_or(-1, |time| time.as_millis().min(i32::MAX as u128) as libc::c_int);
    // SAFETY: PollFd is a pollfd, and the slice lives until the call returns.
    let status = unsafe { libc::poll(fds.as_mut_ptr().cast(), fds.len() as libc::nfds_t, milliseconds) };
    match status {
        0.. => Ok(()),
        _ => match io::Error::last_os_error() {
            error if error.kind() == io::ErrorKind::Interrupted => Ok(()),
            error => Err(error),
        },
    }
}

fn packet_socket() -> io::Result<OwnedFd> {
    // SAFETY: no pointer is passed.
    let fd = unsafe { libc::socket(libc::AF_PACKET, libc::SOCK_RAW | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK, 0) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the descriptor is new and nothing else owns it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// For the lifetime of the socket.
fn make_promiscuous(socket: &OwnedFd, index: i32) -> io::Result<()> {
    let promiscuous = libc::packet_mreq {
        mr_ifindex: index,
        mr_type: libc::PACKET_MR_PROMISC as u16,
        mr_alen: 0,
        mr_address: [0; 8],
    };
    set(socket.as_fd(), libc::SOL_PACKET, libc::PACKET_ADD_MEMBERSHIP, &promiscuous)
}

/// The error that a socket has met since the last call.
fn error_of(socket: &OwnedFd) -> Option<io::Error> {
    let mut error: libc::c_int = 0;
    match get(socket.as_fd(), libc::SOL_SOCKET, libc::SO_ERROR, &mut error) {
        Ok(()) if error == 0 => None,
        Ok(()) => Some(io::Error::from_raw_os_error(error)),
        Err(error) => Some(error),
    }
}

fn bind(socket: &OwnedFd, index: i32, protocol: u16) -> io::Result<()> {
    // SAFETY: all of sockaddr_ll may be zero.
    let mut address: libc::sockaddr_ll = unsafe { zeroed() };
    address.sll_family = libc::AF_PACKET as u16;
    address.sll_protocol = protocol.to_be();
    address.sll_ifindex = index;
    let length = size_of::<libc::sockaddr_ll>() as libc::socklen_t;
    // SAFETY: the address lives until the call returns, and has the given length.
    let status = unsafe { libc::bind(socket.as_raw_fd(), (&raw const address).cast(), length) };
    if status < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

pub(crate) fn set<T: Copy>(
    socket: BorrowedFd<'_>,
    level: libc::c_int,
    option: libc::c_int,
    value: &T,
) -> io::Result<()> {
    let length = size_of::<T>() as libc::socklen_t;
    // SAFETY: the value lives until the call returns, and has the given length.
    let status = unsafe { libc::setsockopt(socket.as_raw_fd(), level, option, (&raw const *value).cast(), length) };
    if status < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

pub(crate) fn get<T: Copy>(
    socket: BorrowedFd<'_>,
    level: libc::c_int,
    option: libc::c_int,
    value: &mut T,
) -> io::Result<()> {
    let mut length = size_of::<T>() as libc::socklen_t;
    // SAFETY: the kernel writes at most `length` bytes of the value, which all of its bits may be.
    let status =
        unsafe { libc::getsockopt(socket.as_raw_fd(), level, option, (&raw mut *value).cast(), &raw mut length) };
    if status < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
