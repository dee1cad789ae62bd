// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Conditions on the time for which a certificate is valid.

use penstock_app::{Field, days};

/// The times that a condition allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// From one time to another, in s since 1970; both are allowed.
    Between(i64, i64),
    /// Before the packet.
    Past,
    /// Not before the packet.
    Future,
}

/// A condition on the begin or the end of a validity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DateTest {
    /// [`Field::NotBefore`] or [`Field::NotAfter`].
    pub field: Field,
    /// The times that it allows.
    pub when: When,
}

impl DateTest {
    /// Whether it holds for a field at the time of a packet in s since 1970.
    #[must_use]
    pub fn holds(&self, field: &[u8], now: i64) -> bool {
        let Ok(bytes) = field.try_into() else { return false };
        let time = i64::from_be_bytes(bytes);
        match self.when {
            When::Between(first, last) => (first..=last).contains(&time),
            When::Past => time < now,
            When::Future => time >= now,
        }
    }
}

/// A date as s since 1970: `YYYY[-MM[-DD[THH[:MM[:SS]]]]]`, where a space may stand for the `T`.
fn date(text: &str) -> Result<i64, String> {
    let wrong = || format!("`{text}` is no date: write YYYY-MM-DD or YYYY-MM-DDTHH:MM:SS");
    let parts: Vec<&str> = text.trim().split(['-', 'T', ' ', ':']).collect();
    let mut numbers = [0, 1, 1, 0, 0, 0];
    if parts.len() > numbers.len() || parts[0].len() != 4 {
        return Err(wrong());
    }
    for (number, part) in numbers.iter_mut().zip(parts) {
        *number = part.parse::<u16>().map_err(|_| wrong())?.into();
    }
    let [year, month, day, hour, minute, second] = numbers;
    let valid = (1..=12).contains(&month) && (1..=31).contains(&day) && hour < 24 && minute < 60 && second < 60;
    if valid { Ok(days(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second) } else { Err(wrong()) }
}

/// The condition of a keyword; None: it is not one of these.
///
/// # Errors
/// Its value is wrong: a sentence.
pub(crate) fn test(keyword: &str, value: Option<&str>) -> Result<Option<DateTest>, String> {
    let field = match keyword {
        "tls_cert_notbefore" => Field::NotBefore,
        "tls_cert_notafter" => Field::NotAfter,
        "tls_cert_expired" => return Ok(Some(DateTest { field: Field::NotAfter, when: When::Past })),
        "tls_cert_valid" => return Ok(Some(DateTest { field: Field::NotAfter, when: When::Future })),
        _ => return Ok(None),
    };
    let text = value.ok_or_else(|| format!("{keyword} has no value: write {keyword}:>2020-01-31;"))?.trim();
    let when = if let Some((first, last)) = text.split_once("<>") {
        When::Between(date(first)?, date(last)?)
    } else if let Some(first) = text.strip_prefix('>') {
        When::Between(date(first)?, i64::MAX)
    } else if let Some(last) = text.strip_prefix('<') {
        When::Between(i64::MIN, date(last)?)
    } else {
        let only = date(text)?;
        When::Between(only, only)
    };
    Ok(Some(DateTest { field, when }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_seconds() {
        assert_eq!((date("1970"), date("1970-01-02"), date("1970-01-01T01:01:01")), (Ok(0), Ok(86_400), Ok(3661)));
        for text in ["", "70", "1970-13", "1970-01-01T24", "1970-01-01T00:00:00:00", "x"] {
            assert!(date(text).is_err(), "{text}");
        }
    }
}
