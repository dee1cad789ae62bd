// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Little-endian words out of bytes that may end anywhere.

use super::BtfError;

/// The 32-bit word at `offset`.
pub(super) fn word(bytes: &[u8], offset: usize) -> Result<u32, BtfError> {
    let end = offset.checked_add(4).ok_or(BtfError::Short)?;
    let word = bytes.get(offset..end).ok_or(BtfError::Short)?;
    Ok(u32::from_le_bytes([word[0], word[1], word[2], word[3]]))
}

/// `length` bytes from `offset` on.
pub(super) fn part(bytes: &[u8], offset: usize, length: usize) -> Result<&[u8], BtfError> {
    offset.checked_add(length).and_then(|end| bytes.get(offset..end)).ok_or(BtfError::Short)
}

/// Length of the header, after its magic number and version have been checked.
pub(super) fn header_length(bytes: &[u8]) -> Result<usize, BtfError> {
    let first = word(bytes, 0)?;
    if first & 0xffff != 0xeb9f {
        return Err(BtfError::Magic);
    }
    match first >> 16 & 0xff {
        1 => Ok(word(bytes, 4)? as usize),
        version => Err(BtfError::Version(version as u8)),
    }
}

/// The string that begins at `offset`.
pub(super) fn string(strings: &[u8], offset: u32) -> Result<String, BtfError> {
    let rest = strings.get(offset as usize..).ok_or(BtfError::String(offset))?;
    let end = rest.iter().position(|&byte| byte == 0).ok_or(BtfError::String(offset))?;
    Ok(String::from_utf8_lossy(&rest[..end]).into_owned())
}
