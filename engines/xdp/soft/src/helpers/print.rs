// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! `bpf_trace_printk` and `bpf_trace_vprintk`: lines for the engine's log.

use std::fmt::Write;

use penstock_xdp_maps::{Errno, Memory};

use crate::state::State;

/// Arguments that `bpf_trace_vprintk` takes at most.
const MAX_ARGUMENTS: usize = 12;
/// Characters of a line, and of a string in it.
const MAX_LINE: usize = 1024;
const MAX_STRING: usize = 128;

pub(super) extern "C" fn trace_printk(state: &mut State, format: u64, bytes: u64, a: u64, b: u64, c: u64) -> u64 {
    print(state, format, bytes, &[a, b, c])
}

pub(super) extern "C" fn trace_vprintk(
    state: &mut State,
    format: u64,
    bytes: u64,
    data: u64,
    data_bytes: u64,
    _: u64,
) -> u64 {
    let words = data_bytes as u32 as usize / 8;
    if !(data_bytes as u32).is_multiple_of(8) || words > MAX_ARGUMENTS {
        return Errno::Invalid.result();
    }
    let arguments = match state.maps.memory.bytes(data, words * 8) {
        Ok(bytes) => bytes.as_chunks::<8>().0.iter().map(|word| u64::from_ne_bytes(*word)).collect::<Vec<_>>(),
        Err(error) => return error.result(),
    };
    print(state, format, bytes, &arguments)
}

fn print(state: &mut State, format: u64, bytes: u64, arguments: &[u64]) -> u64 {
    let memory = &state.maps.memory;
    let string = |address| text(memory, address);
    let line = memory.bytes(format, bytes as u32 as usize).and_then(|format| render(format, arguments, &string));
    match line {
        Ok(line) => {
            let length = line.chars().count();
            state.log.push(line.chars().take(MAX_LINE - 1).collect());
            length as u64
        }
        Err(error) => error.result(),
    }
}

/// The text at an address, up to its zero.
fn text(memory: &Memory, address: u64) -> Result<String, Errno> {
    let bytes = memory.bytes(address, MAX_STRING)?;
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(MAX_STRING - 1);
    Ok(String::from_utf8_lossy(&bytes[..end]).into_owned())
}

/// The line of a format, which ends with a zero, and its arguments; `string` reads the string at an address.
///
/// # Errors
/// EINVAL: it is no format of Linux' bpf_trace_printk(), or there are not as many arguments; errors of `string`.
pub fn render(
    format: &[u8],
    arguments: &[u64],
    string: &impl Fn(u64) -> Result<String, Errno>,
) -> Result<String, Errno> {
    let end = format.iter().position(|byte| *byte == 0).ok_or(Errno::Invalid)?;
    let mut rest = &format[..end];
    let mut arguments = arguments.iter().copied();
    let mut line = String::new();
    while let [first, behind @ ..] = rest {
        rest = behind;
        match (first, rest) {
            (b'%', [b'%', behind @ ..]) => {
                line.push('%');
                rest = behind;
            }
            (b'%', _) => {
                let (conversion, behind) = Conversion::read(rest).ok_or(Errno::Invalid)?;
                conversion.write(&mut line, arguments.next().ok_or(Errno::Invalid)?, string)?;
                rest = behind;
            }
            (b' '..=b'~' | b'\t'..=b'\r', _) => line.push(char::from(*first)),
            _ => return Err(Errno::Invalid),
        }
    }
    Ok(line)
}

/// A conversion after `%`.
#[derive(Debug, Default)]
struct Conversion {
    left: bool,
    zeros: bool,
    plus: bool,
    space: bool,
    width: usize,
    long: bool,
    kind: u8,
}

impl Conversion {
    fn read(mut text: &[u8]) -> Option<(Conversion, &[u8])> {
        let mut read = Conversion::default();
        while let [flag @ (b'-' | b'0' | b'+' | b' '), behind @ ..] = text {
            match flag {
                b'-' => read.left = true,
                b'0' => read.zeros = true,
                b'+' => read.plus = true,
                _ => read.space = true,
            }
            text = behind;
        }
        while let [digit @ b'0'..=b'9', behind @ ..] = text {
            read.width = (read.width * 10 + usize::from(digit - b'0')).min(MAX_LINE);
            text = behind;
        }
        let (&kind, mut behind) = text.split_first()?;
        read.kind = kind;
        match kind {
            b'l' => {
                let (&next, after) = behind.split_first()?;
                let (&next, after) = if next == b'l' { after.split_first()? } else { (&next, after) };
                read.long = true;
                read.kind = next;
                behind = after;
                b"diuxX".contains(&next).then_some((read, behind))
            }
            b'p' => {
                // Pointers print as their value; there is nothing to hide.
                behind = behind.strip_prefix(b"x").or(behind.strip_prefix(b"K")).unwrap_or(behind);
                let ends = behind.first().is_none_or(|next| next.is_ascii_whitespace() || next.is_ascii_punctuation());
                ends.then_some((read, behind))
            }
            b'd' | b'i' | b'u' | b'x' | b'X' | b'c' | b's' => Some((read, behind)),
            _ => None,
        }
    }

    fn write(
        &self,
        line: &mut String,
        argument: u64,
        string: &impl Fn(u64) -> Result<String, Errno>,
    ) -> Result<(), Errno> {
        let number = if self.long { argument } else { u64::from(argument as u32) };
        let signed = if self.long { argument.cast_signed() } else { i64::from(argument as u32 as i32) };
        let mut digits = String::new();
        let written = match self.kind {
            b'd' | b'i' => write!(digits, "{}", signed.unsigned_abs()),
            b'u' => write!(digits, "{number}"),
            b'x' => write!(digits, "{number:x}"),
            b'X' => write!(digits, "{number:X}"),
            b'p' => write!(digits, "{argument:016x}"),
            b'c' => write!(digits, "{}", char::from(argument as u8)),
            _ => write!(digits, "{}", string(argument)?),
        };
        written.map_err(|_| Errno::Invalid)?;
        let sign = match self.kind {
            b'd' | b'i' if signed < 0 => "-",
            b'd' | b'i' if self.plus => "+",
            b'd' | b'i' if self.space => " ",
            _ => "",
        };
        let missing = self.width.saturating_sub(sign.len() + digits.len());
        let zeros = self.zeros && !self.left && !matches!(self.kind, b'c' | b's');
        let [before, between, behind] = match (self.left, zeros) {
            (true, _) => [0, 0, missing],
            (_, true) => [0, missing, 0],
            _ => [missing, 0, 0],
        };
        line.extend(std::iter::repeat_n(' ', before));
        line.push_str(sign);
        line.extend(std::iter::repeat_n('0', between));
        line.push_str(&digits);
        line.extend(std::iter::repeat_n(' ', behind));
        Ok(())
    }
}
