// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Captures: pcap and pcapng in, pcap with nanoseconds out.

mod input;

use std::borrow::Cow;
use std::fs::File;
use std::io::{BufWriter, Read};
use std::path::{Path, PathBuf};

pub use input::STDIN;
use pcap_file::pcap::{PcapHeader, PcapReader, PcapWriter, RawPcapPacket};
use pcap_file::pcapng::blocks::interface_description::{InterfaceDescriptionBlock, InterfaceDescriptionOption};
use pcap_file::pcapng::{Block, PcapNgReader};
use pcap_file::{DataLink, Endianness, PcapError, TsResolution};

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

/// Reads a capture: pcap or pcapng, plain or compressed by gzip or Zstandard, of standard input if the path is `-`. One
/// that ends early or turns to rubbish gives the frames before that point and a fault.
pub fn read(path: &Path) -> Result<Capture, CaptureError> {
    let (mark, bytes) = input::open(path).map_err(|source| CaptureError::Read { path: path.to_path_buf(), source })?;
    let mut capture = Capture::default();
    match mark[..] {
        [0x0A, 0x0D, 0x0D, 0x0A] => read_pcapng(path, bytes, &mut capture)?,
        [0xA1, 0xB2, 0xC3, 0xD4] | [0xD4, 0xC3, 0xB2, 0xA1] | [0xA1, 0xB2, 0x3C, 0x4D] | [0x4D, 0x3C, 0xB2, 0xA1] => {
            read_pcap(path, bytes, &mut capture)?;
        }
        _ => return Err(CaptureError::NotACapture { path: path.to_path_buf() }),
    }
    Ok(capture)
}

fn read_pcap(path: &Path, bytes: impl Read, capture: &mut Capture) -> Result<(), CaptureError> {
    let mut reader = PcapReader::new(bytes).map_err(|_| CaptureError::NotACapture { path: path.to_path_buf() })?;
    check_link(path, reader.header().datalink)?;
    let ns = if reader.header().ts_resolution == TsResolution::MicroSecond { 1000 } else { 1 };
    let mut snapped = 0u64;
    // Raw packets, because many writers put frames above the snap length of their own header into a file.
    while let Some(packet) = reader.next_raw_packet() {
        match packet {
            Ok(packet) => {
                snapped += u64::from(packet.incl_len < packet.orig_len);
                capture.push(u64::from(packet.ts_sec) * 1_000_000_000 + u64::from(packet.ts_frac) * ns, &packet.data);
            }
            Err(error) => {
                capture.faults.push(broken(path, capture.frames.len(), &error));
                break;
            }
        }
    }
    note_snapped(path, snapped, capture);
    Ok(())
}

fn read_pcapng(path: &Path, bytes: impl Read, capture: &mut Capture) -> Result<(), CaptureError> {
    let mut reader = PcapNgReader::new(bytes).map_err(|_| CaptureError::NotACapture { path: path.to_path_buf() })?;
    let mut snapped = 0u64;
    let mut ticks_a_second = Vec::new();
    while let Some(block) = reader.next_block() {
        let is_known = match block {
            // A section describes its own interfaces.
            Ok(Block::SectionHeader(_)) => {
                ticks_a_second.clear();
                true
            }
            Ok(Block::InterfaceDescription(interface)) => {
                check_link(path, interface.linktype)?;
                ticks_a_second.push(resolution(&interface));
                true
            }
            Ok(Block::EnhancedPacket(packet)) => match ticks_a_second.get(packet.interface_id as usize) {
                Some(a_second) => {
                    snapped += u64::from((packet.data.len() as u64) < u64::from(packet.original_len));
                    // The parser hands the ticks of the interface on as if they were nanoseconds.
                    let ticks = packet.timestamp.as_nanos();
                    capture.push(u64::try_from(ticks * 1_000_000_000 / a_second).unwrap_or(0), &packet.data);
                    true
                }
                None => false,
            },
            Ok(Block::SimplePacket(packet)) if !ticks_a_second.is_empty() => {
                let length = packet.data.len().min(packet.original_len as usize);
                capture.push(0, &packet.data[..length]);
                true
            }
            Ok(Block::SimplePacket(_)) => false,
            Ok(_) => true,
            Err(error) => {
                capture.faults.push(broken(path, capture.frames.len(), &error));
                break;
            }
        };
        if !is_known {
            capture.faults.push(format!(
                "{}: damaged after {} frames, which were read: a packet of an interface that the file does not describe; \
                 record it anew",
                path.display(),
                capture.frames.len()
            ));
            break;
        }
    }
    note_snapped(path, snapped, capture);
    Ok(())
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

fn broken(path: &Path, frames: usize, error: &PcapError) -> String {
    match error {
        PcapError::IoError(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => {
            format!("{}: cut short after {frames} frames, which were read; copy or record it anew", path.display())
        }
        error => {
            format!(
                "{}: damaged after {frames} frames, which were read: {error}; copy or record it anew",
                path.display()
            )
        }
    }
}

fn note_snapped(path: &Path, snapped: u64, capture: &mut Capture) {
    if snapped > 0 {
        let text = format!("{}: {snapped} frames were not captured whole; capture with `-s 0`", path.display());
        capture.faults.push(text);
    }
}

/// Writes frames, each with its time in ns, as a pcap file with nanosecond times.
pub fn write<'a>(path: &Path, frames: impl IntoIterator<Item = (u64, &'a [u8])>) -> Result<(), CaptureError> {
    let fail = |message: String| CaptureError::Write { path: path.to_path_buf(), message };
    let file = File::create(path).map_err(|e| fail(e.to_string()))?;
    let header = PcapHeader {
        snaplen: 262_144,
        datalink: DataLink::ETHERNET,
        ts_resolution: TsResolution::NanoSecond,
        endianness: Endianness::Little,
        ..PcapHeader::default()
    };
    let mut writer = PcapWriter::with_header(BufWriter::new(file), header).map_err(|e| fail(e.to_string()))?;
    for (time_ns, bytes) in frames {
        let length = u32::try_from(bytes.len()).map_err(|e| fail(e.to_string()))?;
        let packet = RawPcapPacket {
            ts_sec: (time_ns / 1_000_000_000) as u32,
            ts_frac: (time_ns % 1_000_000_000) as u32,
            incl_len: length,
            orig_len: length,
            data: Cow::Borrowed(bytes),
        };
        writer.write_raw_packet(&packet).map_err(|e| fail(e.to_string()))?;
    }
    writer.into_writer().into_inner().map_err(|e| fail(e.to_string()))?;
    Ok(())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
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
