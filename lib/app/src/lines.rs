// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Lines of a stream.

use memchr::memchr;

/// Cuts bytes into lines of a bounded length.
#[derive(Debug, Clone, Default)]
pub(crate) struct Lines {
    /// The line that is not complete, up to the bound.
    line: Vec<u8>,
    /// Bytes of it that were left out.
    left_out: bool,
}

impl Lines {
    /// Takes bytes up to the end of a line. Gives how many were taken, and the line without its end if it is complete.
    pub(crate) fn take(&mut self, bytes: &[u8], most: usize) -> (usize, Option<Vec<u8>>) {
        let end = memchr(b'\n', bytes);
        let taken = end.map_or(bytes.len(), |end| end + 1);
        let room = most.saturating_sub(self.line.len());
        let part = &bytes[..end.unwrap_or(taken)];
        self.line.extend_from_slice(&part[..part.len().min(room)]);
        self.left_out |= part.len() > room;
        if end.is_none() {
            return (taken, None);
        }
        let mut line = std::mem::take(&mut self.line);
        if !std::mem::take(&mut self.left_out) && line.last() == Some(&b'\r') {
            line.pop();
        }
        (taken, Some(line))
    }

    /// Forgets the line that is not complete; the bytes of it.
    pub(crate) fn rest(&mut self) -> Vec<u8> {
        self.left_out = false;
        std::mem::take(&mut self.line)
    }

    pub(crate) fn memory(&self) -> usize {
        self.line.capacity()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_cut_at_their_ends() {
        let mut lines = Lines::default();
        let mut all = Vec::new();
        let mut rest = &b"one\r\ntwo\n\r\nfour is too long\r\nfive"[..];
        while !rest.is_empty() {
            let (taken, line) = lines.take(&rest[..rest.len().min(3)], 8);
            rest = &rest[taken..];
            all.extend(line);
        }
        assert_eq!(all, [&b"one"[..], b"two", b"", b"four is "]);
        assert_eq!((lines.rest(), lines.rest()), (b"five".to_vec(), vec![]));
    }
}
