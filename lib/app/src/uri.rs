// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Normalization of the URI of a request, as Suricata's documentation describes `http.uri`.

/// Value of a hexadecimal digit.
pub(crate) fn digit(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).map(|value| value as u8)
}

/// Value of two hexadecimal digits.
fn pair(bytes: &[u8]) -> Option<u8> {
    let [high, low] = bytes else { return None };
    Some(digit(*high)? << 4 | digit(*low)?)
}

/// The byte for a Unicode character in `%uHHHH`: Latin-1, full-width ASCII, or `?`.
fn best_fit(high: u8, low: u8) -> u8 {
    match (high, low) {
        (0, low) => low,
        (0xFF, low @ 1..=0x5E) => low + 0x20,
        _ => b'?',
    }
}

/// Decodes `%HH` and `%uHHHH`, turns backslashes into slashes and joins slashes that follow each other. Percent signs
/// without digits stay.
fn decoded(path: &[u8]) -> Vec<u8> {
    let mut out: Vec<u8> = Vec::with_capacity(path.len());
    let mut at = 0;
    while let Some(first) = path.get(at) {
        let (byte, length) = match first {
            b'%' => {
                if let Some(byte) = path.get(at + 1..at + 3).and_then(pair) {
                    (byte, 3)
                } else if path.get(at + 1).is_some_and(|byte| byte.eq_ignore_ascii_case(&b'u'))
                    && let Some(high) = path.get(at + 2..at + 4).and_then(pair)
                    && let Some(low) = path.get(at + 4..at + 6).and_then(pair)
                {
                    (best_fit(high, low), 6)
                } else {
                    (b'%', 1)
                }
            }
            byte => (*byte, 1),
        };
        at += length;
        let byte = if byte == b'\\' { b'/' } else { byte };
        if byte != b'/' || out.last() != Some(&b'/') {
            out.push(byte);
        }
    }
    out
}

/// Removes `.` and `..` segments (RFC 3986, section 5.2.4).
fn without_dots(path: &[u8]) -> Vec<u8> {
    if !path.starts_with(b"/") {
        return path.to_vec();
    }
    let mut out: Vec<&[u8]> = Vec::new();
    let mut segments = path[1..].split(|byte| *byte == b'/').peekable();
    while let Some(segment) = segments.next() {
        let last = segments.peek().is_none();
        match segment {
            b"." | b".." => {
                if segment == b".." {
                    out.pop();
                }
                if last {
                    out.push(b"");
                }
            }
            other => out.push(other),
        }
    }
    let mut text = Vec::with_capacity(path.len());
    for segment in out {
        text.push(b'/');
        text.extend_from_slice(segment);
    }
    if text.is_empty() { b"/".to_vec() } else { text }
}

/// The parts of a URI: authority of an absolute URI, path, and the rest from `?` or `#` on.
pub(crate) fn parts(uri: &[u8]) -> (Option<&[u8]>, &[u8], &[u8]) {
    let scheme = memchr::memmem::find(uri, b"://")
        .filter(|end| *end > 0 && uri[..*end].iter().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(byte)));
    let (authority, rest) = match scheme {
        Some(end) => {
            let rest = &uri[end + 3..];
            let end = rest.iter().position(|byte| b"/?#\\".contains(byte)).unwrap_or(rest.len());
            (Some(&rest[..end]), &rest[end..])
        }
        None => (None, uri),
    };
    let end = rest.iter().position(|byte| b"?#".contains(byte)).unwrap_or(rest.len());
    (authority, &rest[..end], &rest[end..])
}

/// The URI as `http.uri` has it. The path loses percent-encoding (once), backslashes, repeated slashes and dot
/// segments; query and fragment stay as they stand; scheme and authority of an absolute URI are left out.
#[must_use]
pub fn normalized(uri: &[u8]) -> Vec<u8> {
    let (authority, path, rest) = parts(uri);
    let mut out = without_dots(&decoded(path));
    if authority.is_some() && out.is_empty() {
        out.push(b'/');
    }
    out.extend_from_slice(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_normalized() {
        for (raw, wanted) in [
            ("/a/b", "/a/b"),
            ("/%61%2fb", "/a/b"),
            ("/a//b\\c", "/a/b/c"),
            ("/a/./b/../c", "/a/c"),
            ("/../../x", "/x"),
            ("/a/..", "/"),
            ("/a/b/.", "/a/b/"),
            ("/%2e%2e/x", "/x"),
            ("/%zz%4", "/%zz%4"),
            ("/%u0041%uff0e%u1234", "/A.?"),
            ("/%2561", "/%61"),
            ("/a?x=%61//..", "/a?x=%61//.."),
            ("/a#%61", "/a#%61"),
            ("http://Host:80/x//y?q", "/x/y?q"),
            ("http://host", "/"),
            ("http://host?q", "/?q"),
            ("/a?u=http://b//c", "/a?u=http://b//c"),
            ("*", "*"),
            ("", ""),
        ] {
            assert_eq!(String::from_utf8_lossy(&normalized(raw.as_bytes())), wanted, "{raw}");
        }
    }
}
