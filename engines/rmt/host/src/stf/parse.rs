// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Reads STF: a statement a line, comments from `#` on.

use super::statement::{Call, Cell, Change, Comparison, Line, Pattern, Statement};

/// A line that is no statement.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}: {message}\n    {text}")]
pub(super) struct ParseError {
    file: String,
    line: usize,
    message: String,
    text: String,
}

/// Reads a test.
///
/// # Errors
/// A line is no statement.
pub(super) fn parse(file: &str, text: &str) -> Result<Vec<Line>, ParseError> {
    let mut lines = Vec::new();
    for (number, text) in (1..).zip(text.lines()) {
        let words = text.split('#').next().unwrap_or_default().trim();
        if words.is_empty() {
            continue;
        }
        let wrong = |message| ParseError { file: file.to_owned(), line: number, message, text: text.trim().to_owned() };
        lines.push(Line { number, statement: statement(words).map_err(wrong)? });
    }
    Ok(lines)
}

fn statement(text: &str) -> Result<Statement, String> {
    let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let rest = rest.trim();
    Ok(match word.to_ascii_lowercase().as_str() {
        "packet" => {
            let (port, data) = port(rest)?;
            Statement::Packet { port, bytes: bytes(data)? }
        }
        "expect" if rest.is_empty() => Statement::NoPacket,
        "expect" => {
            let (port, data) = port(rest)?;
            Statement::Expect { port, pattern: pattern(data)? }
        }
        "no_packet" => Statement::NoPacket,
        "wait" => Statement::Wait,
        "remove" if rest.eq_ignore_ascii_case("all") => Statement::RemoveAll,
        "add" => add(rest)?,
        "setdefault" => {
            let (table, action) = rest.split_once(char::is_whitespace).ok_or("write setdefault TABLE ACTION(...)")?;
            Statement::SetDefault { table: table.to_owned(), action: call(action.trim())? }
        }
        "check_counter" => check_counter(rest)?,
        "register_write" => match rest.split_whitespace().collect::<Vec<_>>()[..] {
            [name, index, value] => {
                Statement::RegisterWrite { name: name.to_owned(), index: number(index)?, value: value.to_owned() }
            }
            _ => return Err("write register_write NAME INDEX VALUE".to_owned()),
        },
        "register_read" => match rest.split_whitespace().collect::<Vec<_>>()[..] {
            [name, index] => Statement::RegisterRead { name: name.to_owned(), index: number(index)?, value: None },
            [name, index, value] => {
                let value = Some(value.to_owned());
                Statement::RegisterRead { name: name.to_owned(), index: number(index)?, value }
            }
            _ => return Err("write register_read NAME INDEX [VALUE]".to_owned()),
        },
        "counter_read" | "meter_get_rates" | "mirroring_get" => Statement::Look,
        word => Statement::Change(change(word, &rest.split_whitespace().collect::<Vec<_>>())?),
    })
}

/// A change of groups, sessions, counters, registers or meters.
fn change(word: &str, words: &[&str]) -> Result<Change, String> {
    let short = |text: &str| u16::try_from(number(text)?).map_err(|_| format!("`{text}` has more than 16 bits"));
    let count = |text: &str| text.parse().map_err(|_| format!("`{text}` is no number"));
    let (change, form) = match word {
        "mc_mgrp_create" => (if let [group] = words { Some(Change::Group(short(group)?)) } else { None }, "GROUP"),
        "mc_node_create" => {
            let made = match words {
                [node, ports @ ..] => {
                    let ports = ports.iter().map(|port| short(port)).collect::<Result<_, _>>()?;
                    Some(Change::Node(short(node)?, ports))
                }
                [] => None,
            };
            (made, "NUMBER PORT ...")
        }
        "mc_node_associate" => {
            let made = match words {
                [group, node] => Some(Change::Associate(short(group)?, number(node)? as usize)),
                _ => None,
            };
            (made, "GROUP NODE")
        }
        "mirroring_add" => {
            (if let [a, b] = words { Some(Change::Mirror(short(a)?, short(b)?)) } else { None }, "SESSION PORT")
        }
        "mirroring_add_mc" => {
            (if let [a, b] = words { Some(Change::MirrorGroup(short(a)?, short(b)?)) } else { None }, "SESSION GROUP")
        }
        "mirroring_delete" => {
            (if let [session] = words { Some(Change::MirrorDelete(short(session)?)) } else { None }, "SESSION")
        }
        "counter_write" => {
            let made = match words {
                [name, index, packets, bytes] => {
                    Some(Change::Counter((*name).to_owned(), number(index)?, count(packets)?, count(bytes)?))
                }
                _ => None,
            };
            (made, "NAME INDEX PACKETS BYTES")
        }
        "counter_reset" => {
            (if let [name] = words { Some(Change::CounterReset((*name).to_owned())) } else { None }, "NAME")
        }
        "register_reset" => {
            (if let [name] = words { Some(Change::RegisterReset((*name).to_owned())) } else { None }, "NAME")
        }
        "meter_set_rates" => {
            let made = match words {
                [name, index, low, high] => {
                    Some(Change::Meter((*name).to_owned(), Some(number(index)?), [rate(low)?, rate(high)?]))
                }
                _ => None,
            };
            (made, "NAME INDEX RATE:BURST RATE:BURST")
        }
        "meter_array_set_rates" => {
            let made = match words {
                [name, low, high] => Some(Change::Meter((*name).to_owned(), None, [rate(low)?, rate(high)?])),
                _ => None,
            };
            (made, "NAME RATE:BURST RATE:BURST")
        }
        _ => {
            return Err(format!(
                "`{word}` is no statement of STF: write packet, expect, no_packet, add, setdefault, remove all, wait, \
                 check_counter, or a statement of registers, meters, groups or sessions"
            ));
        }
    };
    change.ok_or_else(|| format!("write {word} {form}"))
}

/// A rate per µs, and a burst.
fn rate(text: &str) -> Result<(u64, u64), String> {
    let wrong = || format!("`{text}` is no rate: write RATE:BURST, the rate in frames or bytes per µs");
    let (rate, burst) = text.split_once(':').ok_or_else(wrong)?;
    let rate: f64 = rate.parse().map_err(|_| wrong())?;
    Ok(((rate * 1e6).round() as u64, burst.parse().map_err(|_| wrong())?))
}

/// A port and the text after it.
fn port(text: &str) -> Result<(u32, &str), String> {
    let (port, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    Ok((number(port)?, rest.trim()))
}

fn number(text: &str) -> Result<u32, String> {
    let value = match text.split_at_checked(2) {
        Some(("0x" | "0X", digits)) => u32::from_str_radix(digits, 16).ok(),
        _ => text.parse().ok(),
    };
    value.ok_or_else(|| format!("`{text}` is no number: write 3 or 0x3"))
}

fn digits(text: &str) -> Result<Vec<Option<u8>>, String> {
    let digit = |letter: char| match letter {
        '*' => Ok(None),
        _ => letter.to_digit(16).map(|digit| Some(digit as u8)).ok_or(letter),
    };
    let found: Result<Vec<_>, char> = text.chars().filter(|letter| !letter.is_whitespace()).map(digit).collect();
    let found = found.map_err(|letter| format!("`{letter}` is no hexadecimal digit"))?;
    Ok(found)
}

fn bytes(text: &str) -> Result<Vec<u8>, String> {
    let digits = digits(text)?;
    if digits.len() % 2 == 1 {
        return Err(format!("{} digits are no whole bytes", digits.len()));
    }
    let pair = |pair: &[Option<u8>]| Some(pair[0]? << 4 | pair[1]?);
    let bytes: Option<Vec<u8>> = digits.chunks(2).map(pair).collect();
    bytes.ok_or_else(|| "a packet has all digits: `*` is for expect".to_owned())
}

fn pattern(text: &str) -> Result<Option<Pattern>, String> {
    let (data, ends) = text.strip_suffix('$').map_or((text, false), |data| (data, true));
    let digits = digits(data)?;
    Ok((!digits.is_empty() || ends).then_some(Pattern { digits, ends }))
}

fn add(text: &str) -> Result<Statement, String> {
    // Keys may also have parentheses: `hdr.ipv4.isValid()`.
    let open = text.rfind('(').ok_or("write add TABLE [PRIORITY] KEY:VALUE ... ACTION(NAME:VALUE, ...)")?;
    // Spaces around colons are allowed.
    let head = joined(&text[..open].replace(" &&& ", "&&&").replace(" / ", "/"));
    let mut words: Vec<&str> = head.split_whitespace().collect();
    let name = words.pop().ok_or("the action is missing")?;
    let action = call(&format!("{name}{}", &text[open..]))?;
    if words.is_empty() {
        return Err("the table is missing".to_owned());
    }
    let table = words.remove(0).to_owned();
    let has_priority = words.first().is_some_and(|word| !word.contains(':'));
    let priority = has_priority.then(|| number(words.remove(0))).transpose()?;
    let key = |word: &str| {
        let (key, value) = word.split_once(':').ok_or_else(|| format!("`{word}` is no match: write KEY:VALUE"))?;
        Ok((key.to_owned(), value.to_owned()))
    };
    let keys = words.into_iter().map(key).collect::<Result<_, String>>()?;
    let behind = text.rsplit_once(')').and_then(|(_, rest)| rest.trim().strip_prefix('='));
    let id = behind.map(|id| id.trim().trim_start_matches('$').to_owned());
    Ok(Statement::Add { table, priority, keys, action, id })
}

fn joined(text: &str) -> String {
    let mut words: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match words.last_mut() {
            Some(last) if last.ends_with(':') || word.starts_with(':') => last.push_str(word),
            _ => words.push(word.to_owned()),
        }
    }
    words.join(" ")
}

/// `ACTION(NAME:VALUE, ...)`, perhaps followed by ` = ID`, a name that other statements could use.
fn call(text: &str) -> Result<Call, String> {
    let wrong = || format!("`{text}` is no action: write ACTION(NAME:VALUE, ...)");
    let (name, rest) = text.split_once('(').ok_or_else(wrong)?;
    let (arguments, _) = rest.split_once(')').ok_or_else(wrong)?;
    let argument = |word: &str| {
        let (name, value) = word.split_once(':').ok_or_else(wrong)?;
        Ok((name.trim().to_owned(), value.trim().to_owned()))
    };
    let words = arguments.split(',').filter(|word| !word.trim().is_empty());
    let arguments = words.map(argument).collect::<Result<_, String>>()?;
    Ok(Call { name: name.trim().to_owned(), arguments })
}

fn check_counter(text: &str) -> Result<Statement, String> {
    let wrong = || "write check_counter NAME(INDEX) [packets|bytes] == VALUE, with ==, !=, <, <=, > or >=".to_owned();
    let (name, rest) = text.split_once('(').ok_or_else(wrong)?;
    let (cell, rest) = rest.split_once(')').ok_or_else(wrong)?;
    let cell = match cell.trim() {
        id if id.starts_with(|first: char| first.is_ascii_digit()) => Cell::Index(number(id)?),
        id => Cell::Entry(id.trim_start_matches('$').to_owned()),
    };
    let name = name.trim().to_owned();
    let rest = rest.trim();
    if rest.is_empty() {
        return Ok(Statement::CheckCounter { name, cell, bytes: false, value: None });
    }
    let at = rest.find(['=', '!', '<', '>']).ok_or_else(wrong)?;
    let (unit, rest) = rest.split_at(at);
    let bytes = match unit.trim().to_ascii_lowercase().as_str() {
        "" | "packets" => false,
        "bytes" => true,
        _ => return Err(wrong()),
    };
    let known = |(operator, comparison)| Some((comparison, rest.strip_prefix(operator)?));
    let (comparison, value) = Comparison::ALL.into_iter().find_map(known).ok_or_else(wrong)?;
    let value = value.trim().parse().map_err(|_| wrong())?;
    Ok(Statement::CheckCounter { name, cell, bytes, value: Some((comparison, value)) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(text: &str) -> Statement {
        parse("a.stf", text).unwrap().remove(0).statement
    }

    fn error(text: &str) -> String {
        parse("a.stf", &format!("# first\n{text}")).unwrap_err().to_string()
    }

    fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn packets_and_expectations() {
        assert_eq!(one("packet 0 01 02 aB # end"), Statement::Packet { port: 0, bytes: vec![1, 2, 0xAB] });
        let Statement::Expect { port: 3, pattern: Some(pattern) } = one("expect 3 0* FF") else { panic!() };
        assert!(pattern.matches(&[0x0A, 0xFF]) && pattern.matches(&[0x01, 0xFF, 7]) && !pattern.matches(&[1]));
        assert!(!pattern.matches(&[0x1A, 0xFF]));
        let Statement::Expect { pattern: Some(pattern), .. } = one("expect 3 0102$") else { panic!() };
        assert!(pattern.matches(&[1, 2]) && !pattern.matches(&[1, 2, 3]));
        assert_eq!(one("expect 1"), Statement::Expect { port: 1, pattern: None });
        assert_eq!(one("no_packet"), Statement::NoPacket);
    }

    #[test]
    fn entries() {
        let action = Call { name: "c.go".into(), arguments: pairs(&[("port", "2"), ("x", "0x1")]) };
        let keys = pairs(&[("a.b", "0x12**"), ("d", "0x0a000000/8"), ("e", "1->3")]);
        let expected = Statement::Add { table: "c.t".into(), priority: Some(5), keys, action, id: None };
        assert_eq!(one("add c.t 5 a.b:0x12** d:0x0a000000/8 e:1->3 c.go(port:2, x : 0x1)"), expected);
        let Statement::Add { priority: None, keys, id, .. } = one("add t k : 0b1*0 h.isValid():1 a() = x") else {
            panic!()
        };
        assert_eq!((keys, id.as_deref()), (pairs(&[("k", "0b1*0"), ("h.isValid()", "1")]), Some("x")));
        let action = Call { name: "a".into(), arguments: Vec::new() };
        assert_eq!(one("setdefault t a()"), Statement::SetDefault { table: "t".into(), action });
    }

    #[test]
    fn counters_and_registers() {
        let counter = |cell, bytes, value| Statement::CheckCounter { name: "c".into(), cell, bytes, value };
        let second = || Cell::Index(2);
        assert_eq!(one("check_counter c(2) == 7"), counter(second(), false, Some((Comparison::Equal, 7))));
        assert_eq!(one("check_counter c(2) bytes = 9"), counter(second(), true, Some((Comparison::Equal, 9))));
        assert_eq!(one("check_counter c(2) packets >= 1"), counter(second(), false, Some((Comparison::AtLeast, 1))));
        assert_eq!(one("check_counter c($A)"), counter(Cell::Entry("A".into()), false, None));
        let write = Statement::RegisterWrite { name: "r".into(), index: 1, value: "0xff".into() };
        assert_eq!(one("register_write r 1 0xff"), write);
        assert_eq!(one("mc_node_create 3 1 0x2"), Statement::Change(Change::Node(3, vec![1, 2])));
        assert_eq!(one("mirroring_add 5 6"), Statement::Change(Change::Mirror(5, 6)));
        let rates = [(500_000, 9), (1_000_000, 10)];
        assert_eq!(one("meter_set_rates m 1 0.5:9 1:10"), Statement::Change(Change::Meter("m".into(), Some(1), rates)));
    }

    #[test]
    fn errors_name_the_line() {
        for (text, words) in [
            ("paket 0 00", "a.stf:2: `paket` is no statement"),
            ("packet x 00", "`x` is no number"),
            ("packet 0 0", "1 digits are no whole bytes"),
            ("packet 0 0g", "`g` is no hexadecimal digit"),
            ("packet 0 0*", "all digits"),
            ("add t k:1", "write add TABLE"),
            ("add t k:1 j a()", "`j` is no match"),
            ("mc_node_associate 1", "write mc_node_associate GROUP NODE"),
            ("mirroring_add 1 70000", "more than 16 bits"),
            ("setdefault t", "write setdefault"),
            ("check_counter c == 1", "write check_counter"),
        ] {
            let text = error(text);
            assert!(text.contains(words), "{text}");
        }
    }
}
