// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Captures: pcap and pcapng in, pcap with nanoseconds out.

mod input;
mod output;

use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

pub use input::STDIN;
pub use output::{Packing, Writer, write};
use pcap_file::pcap::PcapReader;
use pcap_file::pcapng::blocks::interface_description::{InterfaceDescriptionBlock, InterfaceDescriptionOption};
use pcap_file::pcapng::{Block, PcapNgReader};
use pcap_file::{DataLink, PcapError, TsResolution};

/// A capture that cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum CaptureError {
    /// The file cannot be read.
    #[error("{}: {source}", path.display())]
    Read {
        /// The capture.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The file is something else.
    #[error("{}: not a capture; give a pcap or pcapng file", path.display())]
    NotACapture {
        /// The file.
        path: PathBuf,
    },
    /// The frames are not Ethernet frames.
    #[error("{}: frames of link type {link:?}, and the card takes Ethernet; capture on an Ethernet interface", path.display())]
    NotEthernet {
        /// The capture.
        path: PathBuf,
        /// What they are.
        link: DataLink,
    },
    /// The file cannot be written.
    #[error("{}: {message}", path.display())]
    Write {
        /// The capture.
        path: PathBuf,
        /// Why.
        message: String,
    },
}

/// Interfaces of a section of a pcapng file at most: more of them are rubbish without an end.
const MOST_INTERFACES: usize = 1 << 16;

/// The frames of one file, in its order.
#[derive(Debug, Default)]
pub struct Capture {
    bytes: Vec<u8>,
    frames: Vec<(u64, std::ops::Range<usize>)>,
    /// Damage after the last good frame, or a defect of the recording; empty for a sound capture.
    pub faults: Vec<String>,
}

impl Capture {
    /// Time in ns since 1970, and bytes, of each frame.
    pub fn frames(&self) -> impl ExactSizeIterator<Item = (u64, &[u8])> {
        self.frames.iter().map(|(time, range)| (*time, &self.bytes[range.clone()]))
    }

    fn push(&mut self, time_ns: u64, bytes: &[u8]) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(bytes);
        self.frames.push((time_ns, start..self.bytes.len()));
    }
}

/// Reads a capture into memory, as a [`Reader`] does.
pub fn read(path: &Path) -> Result<Capture, CaptureError> {
    let (mut reader, mut capture) = (Reader::open(path, Arc::default())?, Capture::default());
    let mut bytes = Vec::new();
    while let Some(time_ns) = reader.next(&mut bytes) {
        capture.push(time_ns, &bytes);
    }
    capture.faults = reader.faults;
    Ok(capture)
}

/// The frames of a capture, read one after the other: pcap or pcapng, plain or compressed by gzip or Zstandard, of
/// standard input if the path is `-`. A capture that ends early or turns to rubbish gives the frames before that point
/// and a fault.
pub struct Reader {
    path: PathBuf,
    format: Format,
    /// The first frame, which was read to find mistakes when the capture was opened.
    first: Option<(u64, Vec<u8>)>,
    /// Frames read, and those of them that were not captured whole.
    frames: usize,
    snapped: u64,
    is_over: bool,
    /// Ends the capture where it is.
    stop: Arc<AtomicBool>,
    /// Damage after the last good frame, or a defect of the recording, known at the end; empty for a sound capture.
    pub faults: Vec<String>,
}

type Bytes = Box<dyn Read + Send>;

enum Format {
    Pcap(PcapReader<Bytes>),
    /// With the ticks a second of the interfaces that the section has described.
    PcapNg(PcapNgReader<Bytes>, Vec<u128>),
}

/// Why a capture ends.
enum End {
    /// It is over.
    Whole,
    /// It is damaged; a sentence.
    Damaged(String),
    /// It has frames of another link type.
    Refused(CaptureError),
}

impl Reader {
    /// Opens a capture. It ends early when `stop` is set, also while it waits for bytes of a pipe.
    ///
    /// # Errors
    /// The file cannot be read, is no capture, or its frames are not Ethernet frames.
    pub fn open(path: &Path, stop: Arc<AtomicBool>) -> Result<Self, CaptureError> {
        let fail = |source| CaptureError::Read { path: path.to_path_buf(), source };
        let other = |_| CaptureError::NotACapture { path: path.to_path_buf() };
        let (mark, bytes) = input::open(path, &stop).map_err(fail)?;
        let format = match mark[..] {
            [0x0A, 0x0D, 0x0D, 0x0A] => Format::PcapNg(PcapNgReader::new(bytes).map_err(other)?, Vec::new()),
            [0xA1, 0xB2, 0xC3, 0xD4]
            | [0xD4, 0xC3, 0xB2, 0xA1]
            | [0xA1, 0xB2, 0x3C, 0x4D]
            | [0x4D, 0x3C, 0xB2, 0xA1] => {
                let reader = PcapReader::new(bytes).map_err(other)?;
                check_link(path, reader.header().datalink)?;
                Format::Pcap(reader)
            }
            _ => return Err(CaptureError::NotACapture { path: path.to_path_buf() }),
        };
        let (path, faults) = (path.to_path_buf(), Vec::new());
        let mut reader = Self { path, format, first: None, frames: 0, snapped: 0, is_over: false, stop, faults };
        let mut first = Vec::new();
        match reader.step(&mut first) {
            Ok(time_ns) => reader.first = Some((time_ns, first)),
            Err(End::Refused(error)) => return Err(error),
            Err(end) => reader.end(end),
        }
        Ok(reader)
    }

    /// Replaces the contents of `bytes` with the bytes of the next frame; gives its time, ns since 1970. None at the
    /// end.
    pub fn next(&mut self, bytes: &mut Vec<u8>) -> Option<u64> {
        if let Some((time_ns, mut first)) = self.first.take() {
            std::mem::swap(bytes, &mut first);
            return Some(time_ns);
        }
        if self.is_over {
            return None;
        }
        match self.step(bytes) {
            Ok(time_ns) => Some(time_ns),
            Err(end) => {
                self.end(end);
                None
            }
        }
    }

    /// Reads the next frame.
    fn step(&mut self, bytes: &mut Vec<u8>) -> Result<u64, End> {
        let Self { path, format, frames, snapped, .. } = self;
        let (time_ns, is_whole) = match format {
            Format::Pcap(reader) => pcap(path, reader, bytes, *frames)?,
            Format::PcapNg(reader, interfaces) => pcapng(path, reader, interfaces, bytes, *frames)?,
        };
        *frames += 1;
        *snapped += u64::from(!is_whole);
        Ok(time_ns)
    }

    fn end(&mut self, end: End) {
        self.is_over = true;
        match end {
            End::Whole => {}
            // A capture that is to end may do so inside a frame.
            End::Damaged(_) if self.stop.load(Ordering::Relaxed) => {}
            End::Damaged(text) => self.faults.push(text),
            End::Refused(error) => self.faults.push(format!("{error}; {} frames before were read", self.frames)),
        }
        if self.snapped > 0 {
            let (path, snapped) = (self.path.display(), self.snapped);
            self.faults.push(format!("{path}: {snapped} frames were not captured whole; capture with `-s 0`"));
        }
    }
}
/// The next frame of a pcap file: its time, and whether it was captured whole.
fn pcap(path: &Path, reader: &mut PcapReader<Bytes>, bytes: &mut Vec<u8>, frames: usize) -> Result<(u64, bool), End> {
    let ns = if reader.header().ts_resolution == TsResolution::MicroSecond { 1000 } else { 1 };
    // Raw packets, because many writers put frames above the snap length of their own header into a file.
    let packet = reader.next_raw_packet().ok_or(End::Whole)?.map_err(|error| broken(path, frames, &error))?;
    bytes.clear();
    bytes.extend_from_slice(&packet.data);
    let time_ns = u64::from(packet.ts_sec) * 1_000_000_000 + u64::from(packet.ts_frac) * ns;
    Ok((time_ns, packet.incl_len >= packet.orig_len))
}

/// The next frame of a pcapng file, and the interfaces that are described before it.
fn pcapng(
    path: &Path,
    reader: &mut PcapNgReader<Bytes>,
    ticks_a_second: &mut Vec<u128>,
    bytes: &mut Vec<u8>,
    frames: usize,
) -> Result<(u64, bool), End> {
    loop {
        match reader.next_block().ok_or(End::Whole)?.map_err(|error| broken(path, frames, &error))? {
            // A section describes its own interfaces.
            Block::SectionHeader(_) => ticks_a_second.clear(),
            Block::InterfaceDescription(interface) => {
                check_link(path, interface.linktype).map_err(End::Refused)?;
                if ticks_a_second.len() == MOST_INTERFACES {
                    return Err(End::Damaged(format!(
                        "{}: more than {MOST_INTERFACES} interfaces; {frames} frames before were read",
                        path.display()
                    )));
                }
                ticks_a_second.push(resolution(&interface));
            }
            Block::EnhancedPacket(packet) => {
                let Some(a_second) = ticks_a_second.get(packet.interface_id as usize) else { break };
                bytes.clear();
                bytes.extend_from_slice(&packet.data);
                // The parser hands the ticks of the interface on as if they were nanoseconds.
                let time_ns = u64::try_from(packet.timestamp.as_nanos() * 1_000_000_000 / a_second).unwrap_or(0);
                return Ok((time_ns, packet.data.len() as u64 >= u64::from(packet.original_len)));
            }
            Block::SimplePacket(packet) => {
                if ticks_a_second.is_empty() {
                    break;
                }
                bytes.clear();
                bytes.extend_from_slice(&packet.data[..packet.data.len().min(packet.original_len as usize)]);
                return Ok((0, true));
            }
            _ => {}
        }
    }
    Err(End::Damaged(format!(
        "{}: damaged after {frames} frames, which were read: a packet of an interface that the file does not describe; \
         record it anew",
        path.display()
    )))
}

/// Ticks a second of an interface's time stamps: the option if_tsresol, a negative power of 10 or, with the top bit
/// set, of 2; microseconds without it.
fn resolution(interface: &InterfaceDescriptionBlock) -> u128 {
    let option = interface.options.iter().find_map(|option| match option {
        InterfaceDescriptionOption::IfTsResol(value) => Some(*value),
        _ => None,
    });
    match option {
        Some(value) if value & 0x80 != 0 => 1u128 << (value & 0x7F).min(64),
        Some(value) => 10u128.pow(u32::from(value).min(18)),
        None => 1_000_000,
    }
}

fn check_link(path: &Path, link: DataLink) -> Result<(), CaptureError> {
    if link == DataLink::ETHERNET { Ok(()) } else { Err(CaptureError::NotEthernet { path: path.to_path_buf(), link }) }
}

fn broken(path: &Path, frames: usize, error: &PcapError) -> End {
    End::Damaged(match error {
        PcapError::IoError(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => {
            format!("{}: cut short after {frames} frames, which were read; copy or record it anew", path.display())
        }
        error => {
            format!(
                "{}: damaged after {frames} frames, which were read: {error}; copy or record it anew",
                path.display()
            )
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(name: &str, bytes: &[u8]) -> PathBuf {
        let path = std::env::temp_dir().join(format!("penstock-{}-{name}", std::process::id()));
        std::fs::write(&path, bytes).unwrap();
        path
    }

    /// A pcap laid out by hand from the file format's description (draft-ietf-opsawg-pcap): big-endian, microseconds.
    fn by_hand() -> Vec<u8> {
        let mut bytes = vec![0xA1, 0xB2, 0xC3, 0xD4, 0, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 64, 0, 0, 0, 1];
        for (time, length) in [(1u32, 60usize), (2, 100)] {
            bytes.extend(time.to_be_bytes());
            bytes.extend(7u32.to_be_bytes());
            bytes.extend((length as u32).to_be_bytes());
            bytes.extend((length as u32).to_be_bytes());
            bytes.extend(std::iter::repeat_n(time as u8, length));
        }
        bytes
    }

    #[test]
    fn reads_what_was_laid_out_by_hand() {
        let path = file("hand.pcap", &by_hand());
        let capture = read(&path).unwrap();
        let frames: Vec<_> = capture.frames().collect();
        assert_eq!(frames, [(1_000_007_000, &[1u8; 60][..]), (2_000_007_000, &[2u8; 100][..])]);
        assert!(capture.faults.is_empty());
        std::fs::remove_file(path).unwrap();
    }

    #[test]
    fn a_cut_capture_gives_what_came_before_the_cut() {
        for cut in [1, 50, 99, 100, 110] {
            let whole = by_hand();
            let path = file("cut.pcap", &whole[..whole.len() - cut]);
            let capture = read(&path).unwrap();
            assert_eq!(capture.frames().len(), 1);
            let expected =
                format!("{}: cut short after 1 frames, which were read; copy or record it anew", path.display());
            assert_eq!(capture.faults, [expected]);
            std::fs::remove_file(path).unwrap();
        }
    }

    #[test]
    fn other_files_are_refused() {
        let path = file("text.pcap", b"hello, this is no capture");
        assert!(read(&path).unwrap_err().to_string().ends_with("not a capture; give a pcap or pcapng file"));
        std::fs::write(&path, &by_hand()[..10]).unwrap();
        assert!(matches!(read(&path), Err(CaptureError::NotACapture { .. })));
        std::fs::write(&path, b"").unwrap();
        assert!(matches!(read(&path), Err(CaptureError::NotACapture { .. })));
        let mut wireless = by_hand();
        wireless[23] = 105;
        std::fs::write(&path, &wireless).unwrap();
        assert!(matches!(read(&path), Err(CaptureError::NotEthernet { .. })));
        std::fs::remove_file(path).unwrap();
    }

    #[test]
    fn reads_pcapng() {
        // Section header, interface (Ethernet), one enhanced packet of 5 bytes, then a block that is cut.
        let mut bytes = vec![0x0A, 0x0D, 0x0D, 0x0A, 28, 0, 0, 0, 0x4D, 0x3C, 0x2B, 0x1A, 1, 0, 0, 0];
        bytes.extend([0xFF; 8]);
        bytes.extend([28, 0, 0, 0, 1, 0, 0, 0, 20, 0, 0, 0, 1, 0, 0, 0, 0, 0, 4, 0, 20, 0, 0, 0]);
        bytes.extend([6, 0, 0, 0, 40, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 5, 0, 0, 0, 5, 0, 0, 0]);
        bytes.extend([1, 2, 3, 4, 5, 0, 0, 0, 40, 0, 0, 0]);
        bytes.extend([6, 0, 0, 0, 40, 0, 0, 0, 0, 0]);
        let path = file("one.pcapng", &bytes);
        let capture = read(&path).unwrap();
        // Nine ticks of the default resolution, microseconds.
        assert_eq!(
            capture.frames().map(|(time, bytes)| (time, bytes.to_vec())).collect::<Vec<_>>(),
            [(9_000, vec![1, 2, 3, 4, 5])]
        );
        let expected = format!("{}: cut short after 1 frames, which were read; copy or record it anew", path.display());
        assert_eq!(capture.faults, [expected]);
        std::fs::remove_file(path).unwrap();
    }

    /// A section, its interface with ticks of 10^-`exponent` s, and a packet of `ticks` of it.
    fn section(exponent: u8, ticks: u8, interface: u8) -> Vec<u8> {
        let mut bytes = vec![0x0A, 0x0D, 0x0D, 0x0A, 28, 0, 0, 0, 0x4D, 0x3C, 0x2B, 0x1A, 1, 0, 0, 0];
        bytes.extend([0xFF; 8]);
        bytes.extend([28, 0, 0, 0, 1, 0, 0, 0, 32, 0, 0, 0, 1, 0, 0, 0, 0, 0, 4, 0]);
        bytes.extend([9, 0, 1, 0, exponent, 0, 0, 0, 0, 0, 0, 0, 32, 0, 0, 0]);
        bytes.extend([6, 0, 0, 0, 36, 0, 0, 0, interface, 0, 0, 0, 0, 0, 0, 0, ticks, 0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0]);
        bytes.extend([1, 2, 0, 0, 36, 0, 0, 0]);
        bytes
    }

    #[test]
    fn sections_of_pcapng_have_their_own_interfaces() {
        let path = file("sections.pcapng", &[section(6, 9, 0), section(9, 9, 0), section(3, 1, 1)].concat());
        let capture = read(&path).unwrap();
        assert_eq!(capture.frames().map(|(time, _)| time).collect::<Vec<_>>(), [9_000, 9]);
        assert_eq!(capture.faults.len(), 1);
        assert!(capture.faults[0].contains("after 2 frames") && capture.faults[0].contains("does not describe"));
        std::fs::remove_file(path).unwrap();
    }

    #[test]
    fn captures_that_were_written_compressed_are_read() {
        let frames: Vec<Vec<u8>> = (0..60_000u32).map(|n| n.to_le_bytes().repeat(15 + n as usize % 30)).collect();
        for packing in [Packing::Plain, Packing::Gzip, Packing::Zstandard] {
            let path = std::env::temp_dir().join(format!("penstock-{}.{}", std::process::id(), packing.extension()));
            let mut writer = Writer::create(&path, packing).unwrap();
            for (time_ns, bytes) in (0..).zip(&frames) {
                writer.write(time_ns, bytes).unwrap();
            }
            writer.finish().unwrap();
            let capture = read(&path).unwrap();
            assert!(capture.faults.is_empty(), "{:?}", capture.faults);
            assert!(capture.frames().eq((0..).zip(frames.iter().map(Vec::as_slice))));
            std::fs::remove_file(path).unwrap();
        }
    }

    #[test]
    fn compressed_captures_are_read() {
        use std::io::Write;
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        gzip.write_all(&by_hand()).unwrap();
        let gzip = gzip.finish().unwrap();
        let zstandard = ruzstd::encoding::compress_to_vec(&by_hand()[..], ruzstd::encoding::CompressionLevel::Fastest);
        for bytes in [&gzip, &zstandard] {
            let path = file("packed", bytes);
            let capture = read(&path).unwrap();
            assert_eq!((capture.frames().len(), capture.faults.len()), (2, 0));
            std::fs::write(&path, &bytes[..bytes.len() - 12]).unwrap();
            // The rest of the file may still hold a frame, or no frame, but it is never accepted as complete.
            assert!(read(&path).map_or(true, |capture| !capture.faults.is_empty()));
            std::fs::remove_file(path).unwrap();
        }
    }

    #[test]
    fn an_input_without_an_end_is_no_capture() {
        assert!(matches!(read(Path::new("/dev/zero")), Err(CaptureError::NotACapture { .. })));
    }

    #[test]
    fn writes_nanoseconds() {
        let path = file("out.pcap", b"");
        write(&path, [(5_000_000_123, &[9u8; 14][..])]).unwrap();
        let bytes = std::fs::read(&path).unwrap();
        assert_eq!(bytes[..4], [0x4D, 0x3C, 0xB2, 0xA1]);
        assert_eq!(bytes[24..40], [5, 0, 0, 0, 123, 0, 0, 0, 14, 0, 0, 0, 14, 0, 0, 0]);
        assert_eq!(bytes.len(), 24 + 16 + 14);
        std::fs::remove_file(path).unwrap();
    }
}
