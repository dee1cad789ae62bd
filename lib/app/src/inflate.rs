// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Decompression of bodies, piece by piece, up to a bound.

use flate2::{Decompress, FlushDecompress, Status};

/// Compressions of a body that are undone, one inside the other.
const LAYERS: usize = 2;
/// Bytes that may come out of a piece, unless `Inflater::bound` says otherwise.
const PIECE: usize = 1 << 20;
/// Bytes that come out at a time.
const STEP: usize = 4 << 10;
/// Longest header of gzip: names and comments have no length of their own.
const HEADER: usize = 64 << 10;
/// Bytes behind the data of a member of gzip.
const TRAILER: usize = 8;
/// Memory that a decoder takes.
const DECODER: usize = 48 << 10;

/// A compression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Coding {
    /// gzip (RFC 1952).
    Gzip,
    /// zlib (RFC 1950), or deflate alone (RFC 1951), as some servers send it.
    Deflate,
}

/// Where in the data a layer is.
#[derive(Debug)]
enum State {
    /// Before the data: of gzip in a header, of deflate before the byte that tells the form.
    Header(Vec<u8>),
    Data(Decompress),
    /// Behind the data of a member of gzip: bytes that are still to come.
    Trailer(usize),
    /// The data have ended or are damaged, or the bound is reached: the output so far counts.
    Ended,
}

/// One layer.
#[derive(Debug)]
struct Layer {
    coding: Coding,
    state: State,
    most: usize,
    damaged: bool,
}

/// Length of the header of gzip; None: it is not complete; Some(0): it is none.
fn header(bytes: &[u8]) -> Option<usize> {
    let flags = *bytes.get(3)?;
    if bytes[..3] != [0x1F, 0x8B, 8] {
        return Some(0);
    }
    let mut length = 10;
    if flags & 4 != 0 {
        let extra = bytes.get(length..length + 2)?;
        length += 2 + usize::from(u16::from_le_bytes([extra[0], extra[1]]));
    }
    // The name of a file, and a comment.
    for bit in [8, 16] {
        if flags & bit != 0 {
            length += bytes.get(length..)?.iter().position(|byte| *byte == 0)? + 1;
        }
    }
    if flags & 2 != 0 {
        length += 2;
    }
    (bytes.len() >= length).then_some(length)
}

impl Layer {
    fn new(coding: Coding) -> Self {
        Self { coding, state: State::Header(Vec::new()), most: PIECE, damaged: false }
    }

    /// Decompresses a piece.
    fn push(&mut self, mut bytes: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        // The decoder may hold more than there was room for.
        let mut full = false;
        while (!bytes.is_empty() || full) && out.len() < self.most {
            full = false;
            match &mut self.state {
                State::Header(head) => {
                    if self.coding == Coding::Deflate {
                        // Method 8 with a window of 32 KiB at most: deflate alone does not begin so in practice.
                        let zlib = bytes[0] & 0x0F == 8 && bytes[0] >> 4 <= 7;
                        self.state = State::Data(Decompress::new(zlib));
                        continue;
                    }
                    let before = head.len();
                    head.extend_from_slice(bytes);
                    match header(head) {
                        None if head.len() > HEADER => self.end(true),
                        None => return out,
                        Some(0) => self.end(true),
                        Some(length) => {
                            bytes = &bytes[length.saturating_sub(before)..];
                            self.state = State::Data(Decompress::new(false));
                        }
                    }
                }
                State::Data(decompress) => {
                    let (read, before, wrote) = (decompress.total_in(), decompress.total_out(), out.len());
                    out.resize((wrote + STEP).min(self.most), 0);
                    let status = decompress.decompress(bytes, &mut out[wrote..], FlushDecompress::None);
                    let count = (decompress.total_out() - before) as usize;
                    full = count == out.len() - wrote;
                    out.truncate(wrote + count);
                    bytes = &bytes[(decompress.total_in() - read) as usize..];
                    match status {
                        Ok(Status::StreamEnd) if self.coding == Coding::Gzip => self.state = State::Trailer(TRAILER),
                        Ok(Status::StreamEnd) => self.end(false),
                        Ok(_) if decompress.total_in() == read && count == 0 && !bytes.is_empty() => self.end(true),
                        Ok(_) => {}
                        Err(_) => self.end(true),
                    }
                }
                State::Trailer(left) => {
                    let taken = bytes.len().min(*left);
                    bytes = &bytes[taken..];
                    *left -= taken;
                    if *left == 0 {
                        // Another member may follow.
                        self.state = State::Header(Vec::new());
                    }
                }
                State::Ended => return out,
            }
        }
        if out.len() >= self.most {
            self.end(false);
        }
        out
    }

    fn end(&mut self, damaged: bool) {
        self.damaged |= damaged;
        self.state = State::Ended;
    }
}

/// Undoes the compressions of a body.
#[derive(Debug, Default)]
pub(crate) struct Inflater {
    /// The one that was applied last comes first.
    layers: Vec<Layer>,
}

impl Inflater {
    /// For these codings in the order in which they were applied. None: there are too many.
    pub(crate) fn new(codings: &[Coding]) -> Option<Self> {
        let layers = || codings.iter().rev().map(|coding| Layer::new(*coding)).collect();
        (codings.len() <= LAYERS).then(|| Self { layers: layers() })
    }

    /// Whether there is nothing to undo.
    pub(crate) fn is_plain(&self) -> bool {
        self.layers.is_empty()
    }

    /// Sets how many bytes may come out from now on.
    pub(crate) fn bound(&mut self, most: usize) {
        for layer in &mut self.layers {
            layer.most = most;
        }
    }

    /// Decompresses a piece.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Vec<u8> {
        self.layers.iter_mut().fold(bytes.to_vec(), |bytes, layer| layer.push(&bytes))
    }

    /// Whether data were damaged.
    pub(crate) fn is_damaged(&self) -> bool {
        self.layers.iter().any(|layer| layer.damaged)
    }

    /// Memory that is taken.
    pub(crate) fn memory(&self) -> usize {
        self.layers.iter().filter(|layer| !matches!(layer.state, State::Ended)).count() * DECODER
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};

    use super::*;

    fn text() -> Vec<u8> {
        (0..5000_u32).flat_map(|number| (number * number).to_string().into_bytes()).collect()
    }

    fn packed(form: usize, bytes: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        match form {
            0 => GzEncoder::new(&mut out, Compression::default()).write_all(bytes).unwrap(),
            1 => ZlibEncoder::new(&mut out, Compression::default()).write_all(bytes).unwrap(),
            _ => DeflateEncoder::new(&mut out, Compression::default()).write_all(bytes).unwrap(),
        }
        out
    }

    #[test]
    fn pieces_of_all_forms_give_the_text() {
        let text = text();
        for (form, coding) in [(0, Coding::Gzip), (1, Coding::Deflate), (2, Coding::Deflate)] {
            for piece in [1, 7, 1000, 1 << 20] {
                let mut inflater = Inflater::new(&[coding]).unwrap();
                let out: Vec<u8> = packed(form, &text).chunks(piece).flat_map(|piece| inflater.push(piece)).collect();
                assert!(out == text, "{form} {piece}");
                assert!(!inflater.is_damaged());
            }
        }
        let mut two = Inflater::new(&[Coding::Gzip, Coding::Deflate]).unwrap();
        assert!(two.push(&packed(1, &packed(0, &text))) == text);
        assert!(Inflater::new(&[Coding::Gzip; 3]).is_none());
    }

    /// A small body that expands a thousandfold gives no more than the bound.
    #[test]
    fn a_bomb_is_bounded() {
        let bomb = packed(0, &vec![0; 50_000_000]);
        let mut inflater = Inflater::new(&[Coding::Gzip]).unwrap();
        inflater.bound(10_000);
        assert_eq!(inflater.push(&bomb).len(), 10_000);
        assert!(inflater.push(&bomb).is_empty() && inflater.memory() == 0 && !inflater.is_damaged());
    }

    #[test]
    fn damage_keeps_what_came_before() {
        let text = text();
        let mut data = packed(0, &text);
        data.truncate(data.len() / 2);
        let mut damaged = Inflater::new(&[Coding::Gzip]).unwrap();
        damaged.push(b"no header at all");
        assert!(damaged.is_damaged() && damaged.push(&data).is_empty());
        let mut inflater = Inflater::new(&[Coding::Gzip]).unwrap();
        let out = inflater.push(&data);
        assert!(out.len() > text.len() / 3 && text.starts_with(&out[..text.len() / 3]));
        // A wrong checksum damages nothing, and a second member goes on.
        let mut data = packed(0, &text);
        let end = data.len() - 8;
        data[end] ^= 1;
        let mut inflater = Inflater::new(&[Coding::Gzip]).unwrap();
        assert!(inflater.push(&[&data[..], &packed(0, b"more")].concat()) == [&text[..], b"more"].concat());
    }
}
