// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The bytes of a capture: of a file or of standard input, decompressed where they are compressed.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::os::fd::AsFd;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use flate2::read::MultiGzDecoder;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use ruzstd::decoding::StreamingDecoder;

use super::Bytes;

/// Standard input, where a file would be named.
pub const STDIN: &str = "-";

/// First bytes of gzip (RFC 1952) and of Zstandard (RFC 8878).
const GZIP: [u8; 2] = [0x1F, 0x8B];
const ZSTANDARD: [u8; 4] = [0x28, 0xB5, 0x2F, 0xFD];

/// Time between two looks at whether to stop, while a pipe has no bytes.
const LOOK: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };

/// Opens a capture; also returns its first four bytes, fewer if it is shorter.
pub(super) fn open(path: &Path, stop: &Arc<AtomicBool>) -> io::Result<(Vec<u8>, Bytes)> {
    let file = match path == Path::new(STDIN) {
        true => File::from(io::stdin().as_fd().try_clone_to_owned()?),
        false => File::open(path)?,
    };
    let raw: Bytes =
        if file.metadata()?.is_file() { Box::new(file) } else { Box::new(Pipe { file, stop: stop.clone() }) };
    let (mark, raw) = peek(raw)?;
    if mark.starts_with(&GZIP) {
        peek(Box::new(MultiGzDecoder::new(raw)))
    } else if mark == ZSTANDARD {
        peek(Box::new(Zstandard(Some(decoder(BufReader::new(raw))?))))
    } else {
        Ok((mark, raw))
    }
}

/// The first four bytes, and all of them again.
fn peek(mut from: Bytes) -> io::Result<(Vec<u8>, Bytes)> {
    let mut mark = Vec::new();
    from.by_ref().take(ZSTANDARD.len() as u64).read_to_end(&mut mark)?;
    Ok((mark.clone(), Box::new(Cursor::new(mark).chain(from))))
}

/// A file that may have no bytes yet: a pipe, a terminal, a socket. It ends when it is to stop.
struct Pipe {
    file: File,
    stop: Arc<AtomicBool>,
}

impl Read for Pipe {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        while !self.stop.load(Ordering::Relaxed) {
            match poll(&mut [PollFd::new(&self.file, PollFlags::IN)], Some(&LOOK)) {
                Ok(0) | Err(rustix::io::Errno::INTR) => {}
                Ok(_) => return self.file.read(bytes),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(0)
    }
}

type Decoder = StreamingDecoder<BufReader<Bytes>, ruzstd::decoding::FrameDecoder>;

/// Frames of Zstandard, one after the other; None at the end.
struct Zstandard(Option<Decoder>);

fn decoder(source: BufReader<Bytes>) -> io::Result<Decoder> {
    StreamingDecoder::new(source).map_err(io::Error::other)
}

impl Read for Zstandard {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        while let Some(frame) = &mut self.0 {
            let count = frame.read(bytes)?;
            if count > 0 || bytes.is_empty() {
                return Ok(count);
            }
            let mut source = self.0.take().map(StreamingDecoder::into_inner);
            if let Some(source) = source.take_if(|source| source.fill_buf().map_or(true, |rest| !rest.is_empty())) {
                self.0 = Some(decoder(source)?);
            }
        }
        Ok(0)
    }
}
