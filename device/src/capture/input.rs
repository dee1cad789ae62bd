// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The bytes of a capture: of a file or of standard input, decompressed where they are compressed.

use std::fs::File;
use std::io::{self, Cursor, Read};
use std::path::Path;

use flate2::read::MultiGzDecoder;
use ruzstd::decoding::StreamingDecoder;

/// Standard input, where a file would be named.
pub const STDIN: &str = "-";

/// First bytes of gzip (RFC 1952) and of Zstandard (RFC 8878).
const GZIP: [u8; 2] = [0x1F, 0x8B];
const ZSTANDARD: [u8; 4] = [0x28, 0xB5, 0x2F, 0xFD];

/// Opens a capture; also returns its first four bytes, fewer if it is shorter.
pub fn open(path: &Path) -> io::Result<(Vec<u8>, Box<dyn Read>)> {
    let raw: Box<dyn Read> =
        if path == Path::new(STDIN) { Box::new(io::stdin().lock()) } else { Box::new(File::open(path)?) };
    let (mark, raw) = peek(raw)?;
    if mark.starts_with(&GZIP) {
        peek(Box::new(MultiGzDecoder::new(raw)))
    } else if mark == ZSTANDARD {
        peek(Box::new(StreamingDecoder::new(raw).map_err(io::Error::other)?))
    } else {
        Ok((mark, raw))
    }
}

/// The first four bytes, and all of them again.
fn peek(mut from: Box<dyn Read>) -> io::Result<(Vec<u8>, Box<dyn Read>)> {
    let mut mark = Vec::new();
    from.by_ref().take(ZSTANDARD.len() as u64).read_to_end(&mut mark)?;
    Ok((mark.clone(), Box::new(Cursor::new(mark).chain(from))))
}
