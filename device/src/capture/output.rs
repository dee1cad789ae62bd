// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Captures out: pcap with nanoseconds, plain or compressed.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;
use pcap_file::pcap::{PcapHeader, PcapWriter, RawPcapPacket};
use pcap_file::{DataLink, Endianness, TsResolution};
use ruzstd::encoding::{CompressionLevel, compress_to_vec};

use super::CaptureError;

/// Bytes of a capture that become a frame of Zstandard: long enough to compress well, short enough for the memory.
const CHUNK: usize = 1 << 20;

/// The compression of a capture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Packing {
    /// None.
    Plain,
    /// gzip.
    Gzip,
    /// Zstandard.
    Zstandard,
}

impl Packing {
    /// The end of a file's name.
    #[must_use]
    pub fn extension(self) -> &'static str {
        match self {
            Self::Plain => "pcap",
            Self::Gzip => "pcap.gz",
            Self::Zstandard => "pcap.zst",
        }
    }
}

type Out = BufWriter<Box<dyn Write + Send>>;

/// Bytes on their way into a file.
enum Packed {
    Plain(Out),
    Gzip(GzEncoder<Out>),
    /// One frame of Zstandard after the other; the bytes of the next one wait.
    Zstandard(Out, Vec<u8>),
}

impl Packed {
    fn of(out: Box<dyn Write + Send>, packing: Packing) -> Self {
        let out = BufWriter::new(out);
        match packing {
            Packing::Plain => Self::Plain(out),
            Packing::Gzip => Self::Gzip(GzEncoder::new(out, Compression::fast())),
            Packing::Zstandard => Self::Zstandard(out, Vec::new()),
        }
    }

    /// Writes the bytes that wait for compression, and what ends the file.
    fn finish(self) -> io::Result<()> {
        match self {
            Self::Plain(mut out) => out.flush(),
            Self::Gzip(packer) => packer.finish()?.flush(),
            Self::Zstandard(mut out, chunk) => {
                if !chunk.is_empty() {
                    out.write_all(&compress_to_vec(&chunk[..], CompressionLevel::Fastest))?;
                }
                out.flush()
            }
        }
    }
}

impl Write for Packed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(out) => out.write(bytes),
            Self::Gzip(packer) => packer.write(bytes),
            Self::Zstandard(out, chunk) => {
                chunk.extend_from_slice(bytes);
                if chunk.len() >= CHUNK {
                    out.write_all(&compress_to_vec(&chunk[..], CompressionLevel::Fastest))?;
                    chunk.clear();
                }
                Ok(bytes.len())
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(out) | Self::Zstandard(out, _) => out.flush(),
            Self::Gzip(packer) => packer.flush(),
        }
    }
}

/// A pcap file with nanosecond times that is being written.
pub struct Writer {
    path: PathBuf,
    writer: PcapWriter<Packed>,
}

impl Writer {
    /// Creates a file, in place of one that is there.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn create(path: &Path, packing: Packing) -> Result<Self, CaptureError> {
        let file = File::create(path).map_err(|error| fail(path, &error))?;
        Self::begin(path, Box::new(file), packing)
    }

    /// Writes to standard output.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn stdout(packing: Packing) -> Result<Self, CaptureError> {
        Self::begin(Path::new("standard output"), Box::new(io::stdout()), packing)
    }

    fn begin(path: &Path, out: Box<dyn Write + Send>, packing: Packing) -> Result<Self, CaptureError> {
        let header = PcapHeader {
            snaplen: 262_144,
            datalink: DataLink::ETHERNET,
            ts_resolution: TsResolution::NanoSecond,
            endianness: Endianness::Little,
            ..PcapHeader::default()
        };
        let writer = PcapWriter::with_header(Packed::of(out, packing), header).map_err(|error| fail(path, &error))?;
        Ok(Self { path: path.to_path_buf(), writer })
    }

    /// Writes a frame and its time, ns since 1970.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(&mut self, time_ns: u64, bytes: &[u8]) -> Result<(), CaptureError> {
        let length = u32::try_from(bytes.len()).map_err(|error| fail(&self.path, &error))?;
        let packet = RawPcapPacket {
            ts_sec: (time_ns / 1_000_000_000) as u32,
            ts_frac: (time_ns % 1_000_000_000) as u32,
            incl_len: length,
            orig_len: length,
            data: Cow::Borrowed(bytes),
        };
        self.writer.write_raw_packet(&packet).map_err(|error| fail(&self.path, &error))?;
        Ok(())
    }

    /// Completes the file.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn finish(self) -> Result<(), CaptureError> {
        self.writer.into_writer().finish().map_err(|error| fail(&self.path, &error))
    }
}

fn fail(path: &Path, error: &dyn std::error::Error) -> CaptureError {
    CaptureError::Write { path: path.to_path_buf(), message: error.to_string() }
}

/// Writes frames, each with its time in ns, as a pcap file with nanosecond times.
pub fn write<'a>(path: &Path, frames: impl IntoIterator<Item = (u64, &'a [u8])>) -> Result<(), CaptureError> {
    let mut writer = Writer::create(path, Packing::Plain)?;
    frames.into_iter().try_for_each(|(time_ns, bytes)| writer.write(time_ns, bytes))?;
    writer.finish()
}
