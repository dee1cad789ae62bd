// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Numbers and text as the page prints them.

use crate::show::grouped;

/// Text that is safe between tags and inside quoted attributes.
pub(super) fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            c => safe.push(c),
        }
    }
    safe
}

/// Three significant digits, without an exponent: `0.0123`, `12.3`, `1,230`.
pub(super) fn short(value: f64) -> String {
    if !value.is_finite() {
        return "–".to_owned();
    }
    if value == 0.0 {
        return "0".to_owned();
    }
    let decimals = (2 - value.abs().log10().floor() as i32).clamp(0, 6) as usize;
    if value.abs() >= 1000.0 {
        return grouped(value.abs().round() as u64);
    }
    let fixed = format!("{value:.decimals$}");
    match fixed.contains('.') {
        true => fixed.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => fixed,
    }
}

/// A time in ns, with the unit that suits it.
pub(super) fn duration(ns: f64) -> String {
    match ns.abs() {
        x if x < 1e4 => format!("{} ns", short(ns)),
        x if x < 1e6 => format!("{} µs", short(ns / 1e3)),
        x if x < 1e9 => format!("{} ms", short(ns / 1e6)),
        _ => format!("{} s", short(ns / 1e9)),
    }
}

/// `1 frame`, `2 frames`.
pub(super) fn plural(n: u64, word: &str) -> String {
    format!("{} {word}{}", grouped(n), if n == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!(short(0.012_34), "0.0123");
        assert_eq!(short(12.0), "12");
        assert_eq!(short(99.95), "100");
        assert_eq!(short(1234.5), "1,235");
        assert_eq!(duration(888.0), "888 ns");
        assert_eq!(duration(12_340.0), "12.3 µs");
        assert_eq!(plural(1, "frame"), "1 frame");
    }

    #[test]
    fn text_cannot_leave_its_place() {
        assert_eq!(escape("<a href=\"x\">&"), "&lt;a href=&quot;x&quot;&gt;&amp;");
    }
}
