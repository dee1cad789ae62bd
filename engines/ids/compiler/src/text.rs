// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! From the text of a file to headers and options.

/// The rules of a file: line where each begins, and its text on one line. A line that ends in a backslash goes on;
/// lines that begin with `#` are comments. The mark that some editors put before UTF-8 is no part of the first line.
#[must_use]
pub(crate) fn rules(text: &str) -> Vec<(usize, String)> {
    let (mut all, mut rule, mut begin) = (Vec::new(), String::new(), 0);
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    for (number, line) in text.lines().enumerate() {
        let line = line.trim();
        if rule.is_empty() {
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            begin = number + 1;
        }
        match line.strip_suffix('\\') {
            Some(part) => {
                rule.push_str(part.trim_end());
                rule.push(' ');
            }
            None => {
                rule.push_str(line);
                all.push((begin, std::mem::take(&mut rule)));
            }
        }
    }
    if !rule.is_empty() {
        all.push((begin, rule));
    }
    all
}

/// A rule, split: the words of its header, and its options as keyword and value.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Split<'a> {
    /// Action, protocol, addresses, ports, direction, addresses, ports.
    pub header: [&'a str; 7],
    /// Options in their order.
    pub options: Vec<(&'a str, Option<&'a str>)>,
}

/// Splits a rule.
///
/// # Errors
/// A sentence.
pub(crate) fn split(rule: &str) -> Result<Split<'_>, String> {
    let open =
        rule.find('(').ok_or("the rule has no options: write ACTION PROTOCOL ADDRESS PORT -> ADDRESS PORT (…)")?;
    let words = words(&rule[..open]);
    let found = words.len();
    let header = <[&str; 7]>::try_from(words).map_err(|_| {
        format!("the header has {found} words: write ACTION PROTOCOL ADDRESS PORT -> ADDRESS PORT before the options")
    })?;
    let inner = rule[open + 1..].trim_end().strip_suffix(')').ok_or("the options have no `)` at their end")?;
    let mut options = Vec::new();
    let mut rest = inner.trim_start();
    while !rest.is_empty() {
        let end = option_end(rest)?;
        let option = rest[..end].trim();
        let (keyword, value) =
            option.split_once(':').map_or((option, None), |(keyword, value)| (keyword.trim(), Some(value.trim())));
        if keyword.is_empty() {
            return Err("there is an empty option: remove one `;`".to_owned());
        }
        options.push((keyword, value));
        rest = rest[end + 1..].trim_start();
    }
    Ok(Split { header, options })
}

/// Splits into words; text in brackets is one word.
fn words(text: &str) -> Vec<&str> {
    let (mut depth, mut begin, mut all) = (0_usize, None, Vec::new());
    for (at, letter) in text.char_indices() {
        match letter {
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if letter.is_whitespace() && depth == 0 {
            all.extend(begin.take().map(|begin: usize| &text[begin..at]));
        } else {
            begin.get_or_insert(at);
        }
    }
    all.extend(begin.map(|begin| &text[begin..]));
    all
}

/// Offset of the semicolon that ends the first option.
fn option_end(text: &str) -> Result<usize, String> {
    let (mut quoted, mut escaped) = (false, false);
    for (at, letter) in text.char_indices() {
        match letter {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => quoted = !quoted,
            ';' if !quoted => return Ok(at),
            _ => {}
        }
    }
    let begin: String = text.chars().take(40).collect();
    let what = if quoted { "has no second quote" } else { "does not end in `;`" };
    Err(format!("the option `{begin}` {what}"))
}

/// A value in quotes, perhaps with `!` before them: whether it is negated, and the text between the quotes.
///
/// # Errors
/// A sentence.
pub(crate) fn quoted(value: &str) -> Result<(bool, &str), String> {
    let (negated, rest) = value.strip_prefix('!').map_or((false, value), |rest| (true, rest.trim_start()));
    let inner = rest.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).filter(|inner| !ends_escaped(inner));
    inner.map(|inner| (negated, inner)).ok_or_else(|| format!("`{value}` is not in quotes"))
}

/// Whether the quote after a text is escaped: an odd number of backslashes precedes it.
fn ends_escaped(text: &str) -> bool {
    (text.len() - text.trim_end_matches('\\').len()) % 2 == 1
}

/// A text without its escapes.
#[must_use]
pub(crate) fn unescaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut escaped = false;
    for letter in text.chars() {
        escaped = letter == '\\' && !escaped;
        if !escaped {
            out.push(letter);
        }
    }
    out
}

/// The bytes of a content: text, with bytes as hexadecimal numbers between bars.
///
/// # Errors
/// A sentence.
pub(crate) fn bytes(text: &str) -> Result<Vec<u8>, String> {
    let mut out = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((first, behind)) = rest.split_first() {
        rest = behind;
        match first {
            b'|' => {
                let end = rest.iter().position(|byte| *byte == b'|').ok_or("there is no `|` that ends the bytes")?;
                let digits: Vec<u8> = rest[..end].iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect();
                let digit = |byte: u8| char::from(byte).to_digit(16).map(|digit| digit as u8);
                for pair in digits.chunks(2) {
                    let [high, low] = pair else { return Err("bytes between `|` have two digits each".to_owned()) };
                    let (Some(high), Some(low)) = (digit(*high), digit(*low)) else {
                        return Err("between `|` stand hexadecimal numbers".to_owned());
                    };
                    out.push(high << 4 | low);
                }
                rest = &rest[end + 1..];
            }
            b'\\' => {
                let (next, behind) = rest.split_first().ok_or("there is nothing behind the `\\`")?;
                if !matches!(next, b'\\' | b'"' | b';' | b':') {
                    return Err(format!(
                        "`\\{}`: only \\\\, \\\", \\; and \\: are escapes; write other bytes as |hh|",
                        char::from(*next)
                    ));
                }
                out.push(*next);
                rest = behind;
            }
            byte => out.push(*byte),
        }
    }
    if out.is_empty() { Err("the content is empty".to_owned()) } else { Ok(out) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_rules() {
        let text = "# first\n\nalert a\n  # second\nalert \\\n  b \\\n  c\n#x \\\nlast \\";
        let found = rules(text);
        let found: Vec<(usize, &str)> = found.iter().map(|(line, rule)| (*line, rule.as_str())).collect();
        assert_eq!(found, [(3, "alert a"), (5, "alert b c"), (9, "last ")]);
        // Ends of lines of another system, and the mark of its editor.
        let windows = rules("\u{feff}alert \\\r\n  b\r\n# c\r\n\r\nalert d\r\n");
        assert_eq!(windows, [(1, "alert b".to_owned()), (5, "alert d".to_owned())]);
    }

    #[test]
    fn options_end_outside_of_quotes() {
        let rule = r#"alert tcp [1.1.1.1, 2.2.2.2] any -> any 80 (msg:"a;b\"; (c)"; content:!"x|3b|"; nocase;sid:1; )"#;
        let split = split(rule).unwrap();
        assert_eq!(split.header, ["alert", "tcp", "[1.1.1.1, 2.2.2.2]", "any", "->", "any", "80"]);
        let value = |at: usize| split.options[at].1.unwrap();
        assert_eq!((split.options.len(), value(0), split.options[2]), (4, r#""a;b\"; (c)""#, ("nocase", None)));
        assert_eq!(quoted(value(1)), Ok((true, "x|3b|")));
        assert_eq!(quoted(r#""ab\\""#), Ok((false, r"ab\\")));
        assert!(quoted(r#""ab\""#).is_err() && quoted(r#""ab\\\""#).is_err());
        for (rule, words) in [
            ("alert tcp any any -> any any", "no options"),
            ("alert tcp any -> any any (sid:1;)", "6 words"),
            ("alert tcp any any -> any any (sid:1;", "no `)`"),
            ("alert tcp any any -> any any (sid:1)", "does not end in `;`"),
            (r#"alert tcp any any -> any any (msg:"a;)"#, "no second quote"),
            ("alert tcp any any -> any any (sid:1;;)", "empty option"),
        ] {
            let error = super::split(rule).unwrap_err();
            assert!(error.contains(words), "{error}");
        }
    }

    #[test]
    fn contents_are_bytes() {
        assert_eq!(
            bytes(r"a|0D 0a|\;\:\\\|7C|").unwrap_err(),
            "`\\|`: only \\\\, \\\", \\; and \\: are escapes; write other bytes as |hh|"
        );
        assert_eq!(bytes(r"a|0D 0aff|\;\:\\|7C|é").unwrap(), b"a\r\n\xff;:\\|\xc3\xa9");
        for text in ["|0|", "|0g|", "|00", "", "||", "\\"] {
            assert!(bytes(text).is_err(), "{text}");
        }
        assert_eq!(unescaped(r#"a\"b\\c\;"#), r#"a"b\c;"#);
    }
}
