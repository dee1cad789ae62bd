// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! A rule's transforms of the bytes of a buffer.

use md5::{Digest, Md5};
use penstock_app::base64;
use sha1::Sha1;
use sha2::Sha256;

use crate::numbers::number;
use crate::parse::PCRE_LIMITS;
use crate::text;

/// A change of bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Transform {
    /// ASCII letters in lower case.
    Lower,
    /// ASCII letters in upper case.
    Upper,
    /// No white space.
    StripSpace,
    /// One space for each run of white space.
    CompressSpace,
    /// The 16 bytes of the MD5.
    Md5,
    /// The 20 bytes of the SHA-1.
    Sha1,
    /// The 32 bytes of the SHA-256.
    Sha256,
    /// `%HH` and `+` decoded.
    UrlDecode,
    /// A dot in front.
    DotPrefix,
    /// Names of headers in lower case.
    HeaderLower,
    /// No lines that begin with a colon.
    StripPseudo,
    /// All bytes combined with these, which repeat.
    Xor(Vec<u8>),
    /// The bytes that base64 stands for: from this byte on, of so many letters. A buffer that has not so
    /// many, or that cannot be decoded, stays as it is.
    FromBase64(FromBase64),
    /// The first group of a regular expression. A buffer that does not match stays as it is.
    Pcre(Expression),
}

/// How `from_base64` reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FromBase64 {
    offset: usize,
    /// None: all.
    letters: Option<usize>,
    /// Bytes that are no letters are skipped.
    skips: bool,
    /// All bytes are letters and padding.
    strict: bool,
}

impl FromBase64 {
    fn read(text: &str) -> Result<Self, String> {
        let mut all = Self { offset: 0, letters: None, skips: false, strict: false };
        for word in text.split(',').map(str::trim).filter(|word| !word.is_empty()) {
            match word.split_whitespace().collect::<Vec<_>>()[..] {
                ["offset", offset] => all.offset = number(offset)?,
                ["bytes", bytes] => all.letters = Some(number(bytes)?),
                ["mode", "rfc4648"] => (all.skips, all.strict) = (false, false),
                ["mode", "rfc2045"] => (all.skips, all.strict) = (true, false),
                ["mode", "strict"] => (all.skips, all.strict) = (false, true),
                _ => return Err(format!("from_base64 has no option `{word}`: bytes n, offset n, mode rfc4648")),
            }
        }
        Ok(all)
    }

    fn apply(self, bytes: &[u8]) -> Vec<u8> {
        self.decoded(bytes).filter(|decoded| !decoded.is_empty()).unwrap_or_else(|| bytes.to_vec())
    }

    fn decoded(self, bytes: &[u8]) -> Option<Vec<u8>> {
        let rest = bytes.get(self.offset..)?;
        let rest = self.letters.map_or(Some(rest), |letters| rest.get(..letters))?;
        let is_letter = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
        if self.skips {
            let letters: Vec<u8> = rest.iter().copied().filter(is_letter).collect();
            return Some(base64::decoded(&letters));
        }
        let letters = rest.iter().take_while(|byte| is_letter(byte)).count();
        let whole = rest[letters..].iter().all(|byte| *byte == b'=') && rest.len() % 4 == 0;
        (!self.strict || whole).then(|| base64::decoded(rest))
    }
}

/// A regular expression that is equal to another one with the same text.
#[derive(Debug, Clone)]
pub struct Expression {
    text: String,
    regex: pcre2::bytes::Regex,
}

impl PartialEq for Expression {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for Expression {}

impl Expression {
    fn read(value: &str) -> Result<Self, String> {
        let (negated, text) = text::quoted(value)?;
        if negated {
            return Err("pcrexform cannot be negated".to_owned());
        }
        let limited = format!("{PCRE_LIMITS}(?:{text})");
        let mut builder = pcre2::bytes::RegexBuilder::new();
        // Alone first: the surrounding expression must not close its groups.
        let compiled = builder.build(text).and_then(|_| builder.jit_if_available(true).build(&limited));
        let regex = compiled.map_err(|error| format!("pcrexform does not compile: {error}"))?;
        if regex.captures_len() != 2 {
            return Err("pcrexform has one group, which becomes the buffer".to_owned());
        }
        Ok(Self { text: text.to_owned(), regex })
    }

    fn apply(&self, bytes: &[u8]) -> Vec<u8> {
        // A search that reaches its limits finds nothing.
        let found = self.regex.captures(bytes).ok().flatten();
        let group = found.as_ref().and_then(|found| found.get(1));
        group.map_or_else(|| bytes.to_vec(), |group| group.as_bytes().to_vec())
    }
}

fn digit(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).map(|value| value as u8)
}

/// White space as C's `isspace` has it.
fn is_space(byte: u8) -> bool {
    byte.is_ascii_whitespace() || byte == 0x0B
}

impl Transform {
    /// The transform with this name; None if it does not exist.
    ///
    /// # Errors
    /// Its value is wrong: a sentence.
    pub(crate) fn read(keyword: &str, value: Option<&str>) -> Result<Option<Self>, String> {
        Ok(Some(match keyword {
            "to_lowercase" => Self::Lower,
            "to_uppercase" => Self::Upper,
            "strip_whitespace" => Self::StripSpace,
            "compress_whitespace" => Self::CompressSpace,
            "to_md5" => Self::Md5,
            "to_sha1" => Self::Sha1,
            "to_sha256" => Self::Sha256,
            "url_decode" => Self::UrlDecode,
            "dotprefix" => Self::DotPrefix,
            "header_lowercase" => Self::HeaderLower,
            "strip_pseudo_headers" => Self::StripPseudo,
            "xor" => {
                let text = value.unwrap_or_default().trim_matches('"');
                let digits: Option<Vec<u8>> = text.bytes().map(digit).collect();
                let bytes: Vec<u8> = digits
                    .filter(|digits| digits.len() % 2 == 0)
                    .unwrap_or_default()
                    .chunks(2)
                    .map(|pair| pair[0] << 4 | pair[1])
                    .collect();
                if bytes.is_empty() {
                    return Err("xor has bytes as hexadecimal digits: write xor:\"0d0ac8ff\"".to_owned());
                }
                Self::Xor(bytes)
            }
            "from_base64" => Self::FromBase64(FromBase64::read(value.unwrap_or_default())?),
            "pcrexform" => Self::Pcre(Expression::read(value.unwrap_or_default())?),
            _ => return Ok(None),
        }))
    }

    /// Does it.
    #[must_use]
    pub fn apply(&self, bytes: &[u8]) -> Vec<u8> {
        match self {
            Self::Lower => bytes.to_ascii_lowercase(),
            Self::Upper => bytes.to_ascii_uppercase(),
            Self::StripSpace => bytes.iter().copied().filter(|byte| !is_space(*byte)).collect(),
            Self::CompressSpace => {
                let mut out: Vec<u8> = Vec::with_capacity(bytes.len());
                for byte in bytes {
                    match is_space(*byte) {
                        false => out.push(*byte),
                        true if out.last() != Some(&b' ') => out.push(b' '),
                        true => {}
                    }
                }
                out
            }
            Self::Md5 => Md5::digest(bytes).to_vec(),
            Self::Sha1 => Sha1::digest(bytes).to_vec(),
            Self::Sha256 => Sha256::digest(bytes).to_vec(),
            Self::UrlDecode => url_decoded(bytes),
            Self::DotPrefix => [b".", bytes].concat(),
            Self::HeaderLower => {
                let mut name = true;
                let lower = |byte: &u8| {
                    name = match byte {
                        b':' => false,
                        b'\n' => true,
                        _ => name,
                    };
                    if name { byte.to_ascii_lowercase() } else { *byte }
                };
                bytes.iter().map(lower).collect()
            }
            Self::StripPseudo => bytes
                .split_inclusive(|byte| *byte == b'\n')
                .filter(|line| !line.starts_with(b":"))
                .flatten()
                .copied()
                .collect(),
            Self::FromBase64(how) => how.apply(bytes),
            Self::Pcre(expression) => expression.apply(bytes),
            Self::Xor(key) => bytes.iter().zip(key.iter().cycle()).map(|(byte, key)| byte ^ key).collect(),
        }
    }

    /// Whether a string of the result, in any case, stands in the bytes before.
    pub(crate) fn keeps_strings(&self) -> bool {
        matches!(self, Self::Lower | Self::Upper | Self::HeaderLower)
    }
}

fn url_decoded(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some((first, behind)) = rest.split_first() {
        rest = behind;
        out.push(match (first, behind) {
            (b'%', [high, low, behind @ ..]) if digit(*high).is_some() && digit(*low).is_some() => {
                rest = behind;
                digit(*high).unwrap_or_default() << 4 | digit(*low).unwrap_or_default()
            }
            (b'+', _) => b' ',
            (byte, _) => *byte,
        });
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_changed() {
        for (keyword, before, behind) in [
            ("to_lowercase", "aBc", "abc"),
            ("to_uppercase", "aBc", "ABC"),
            ("strip_whitespace", " a\t b\r\n", "ab"),
            ("compress_whitespace", " a\t b\r\n", " a b "),
            ("url_decode", "a%41+%4", "aA %4"),
            ("dotprefix", "a.b", ".a.b"),
            ("header_lowercase", "Host: A\r\nX-Y: B:C\r\n", "host: A\r\nx-y: B:C\r\n"),
            ("strip_pseudo_headers", ":method: a\r\nhost: b\r\n", "host: b\r\n"),
        ] {
            let transform = Transform::read(keyword, None).unwrap().unwrap();
            assert_eq!(String::from_utf8(transform.apply(before.as_bytes())).unwrap(), behind, "{keyword}");
        }
        for (keyword, value, before, behind) in [
            ("from_base64", "", "Zm9v Zm9v", "foo"),
            ("from_base64", "mode rfc2045", "Zm9v Zm9v", "foofoo"),
            ("from_base64", "mode strict", "Zm9v Zm9v", "Zm9v Zm9v"),
            ("from_base64", "mode strict, offset 2", "a=Zm9vYg==", "foob"),
            ("from_base64", "offset 2, bytes 4", "a=Zm9vYg==", "foo"),
            ("from_base64", "offset 20", "a=Zm9vYg==", "a=Zm9vYg=="),
            ("from_base64", "offset 2, bytes 9", "a=Zm9vYg==", "a=Zm9vYg=="),
            ("from_base64", "", "!no letters", "!no letters"),
            ("pcrexform", "\"[a-z]+=([0-9]+)\"", "x ab=12&", "12"),
            ("pcrexform", "\"[a-z]+=([0-9]+)\"", "x ab=", "x ab="),
        ] {
            let transform = Transform::read(keyword, Some(value)).unwrap().unwrap();
            assert_eq!(String::from_utf8(transform.apply(before.as_bytes())).unwrap(), behind, "{value} {before}");
        }
        for value in ["\"a\"", "\"(a)(b)\"", "\"(\"", "a"] {
            assert!(Transform::read("pcrexform", Some(value)).is_err(), "{value}");
        }
        assert!(Transform::read("from_base64", Some("mode other")).is_err());
        let hash = |keyword: &str| Transform::read(keyword, None).unwrap().unwrap().apply(b"abc");
        // The first bytes of the test vectors of RFC 1321 and FIPS 180.
        assert_eq!((hash("to_md5")[..2].to_vec(), hash("to_md5").len()), (vec![0x90, 0x01], 16));
        assert_eq!((hash("to_sha1")[..2].to_vec(), hash("to_sha1").len()), (vec![0xA9, 0x99], 20));
        assert_eq!((hash("to_sha256")[..2].to_vec(), hash("to_sha256").len()), (vec![0xBA, 0x78], 32));
        let xor = Transform::read("xor", Some("\"0120\"")).unwrap().unwrap();
        assert_eq!(xor.apply(b"abc"), b"`Bb");
        assert!(Transform::read("xor", Some("\"012\"")).is_err() && Transform::read("nocase", None) == Ok(None));
    }
}
