// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Variables of rule headers, as a user of Suricata has them in suricata.yaml.

use crate::faults::ConfigFault;

/// Way out of a value that cannot be read.
const ONE_LINE: &str = "write it on one line, as NAME: \"VALUE\"";

/// Maps of variables under `vars`.
const GROUPS: [&str; 2] = ["address-groups", "port-groups"];

/// Name and value of each entry of `vars.address-groups` and `vars.port-groups` in the text of a YAML file. All else
/// in the file is passed over.
///
/// # Errors
/// An entry of these maps has no value that stands in its line, or there is no entry.
pub fn variables(text: &str) -> Result<Vec<(String, String)>, ConfigFault> {
    let mut found = Vec::new();
    // Keys that the line stands under, with their indentation.
    let mut path: Vec<(usize, &str)> = Vec::new();
    for (number, line) in (1..).zip(text.strip_prefix('\u{feff}').unwrap_or(text).lines()) {
        let entry = without_comment(line).trim_end();
        let indentation = entry.len() - entry.trim_start().len();
        let entry = entry.trim_start();
        if entry.is_empty() {
            continue;
        }
        path.retain(|(above, _)| *above < indentation);
        if let [(0, "vars"), (_, group), (_, key), ..] = path[..]
            && GROUPS.contains(&group)
        {
            return Err(ConfigFault::at(number, format!("the value of {key} goes on in this line: {ONE_LINE}")));
        }
        let Some((key, value)) = entry.split_once(':') else { continue };
        let (key, value) = (unquoted(key.trim()), value.trim());
        match path[..] {
            [(0, "vars"), (_, group)] if GROUPS.contains(&group) => {
                let wrong = |why| ConfigFault::at(number, format!("the value of {key} {why}: {ONE_LINE}"));
                let value = scalar(value).map_err(wrong)?;
                found.push((key.to_owned(), value.to_owned()));
            }
            [(0, "vars")] if GROUPS.contains(&key) && !value.is_empty() => {
                let message = format!("write each variable of {key} on a line of its own below");
                return Err(ConfigFault::at(number, message));
            }
            [] if key == "vars" && !value.is_empty() => {
                let message = "write address-groups and port-groups on lines of their own below";
                return Err(ConfigFault::at(number, message));
            }
            _ => {}
        }
        path.push((indentation, key));
    }
    if found.is_empty() { Err(ConfigFault::NoVariables) } else { Ok(found) }
}

/// A line up to a `#` that begins a comment: outside of quotes, at the beginning or behind a space.
fn without_comment(line: &str) -> &str {
    let (mut quote, mut before) = (None, ' ');
    for (at, letter) in line.char_indices() {
        match (quote, letter) {
            (Some(open), _) if letter == open => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(letter),
            (None, '#') if before.is_whitespace() => return &line[..at],
            _ => {}
        }
        before = letter;
    }
    line
}

/// The value that a text stands for, if all of it is there; or what is wrong with it.
fn scalar(text: &str) -> Result<&str, &'static str> {
    let inner = match text.chars().next() {
        None => return Err("does not stand in its line"),
        Some('|' | '>' | '{') => return Err("has a form that is not read"),
        Some('&' | '*') => return Err("refers to another place"),
        Some(quote @ ('"' | '\'')) => match text[1..].split_once(quote) {
            None => return Err("has quotes that are not closed in its line"),
            Some((inner, "")) => inner.trim(),
            Some(_) => return Err("goes on behind its quotes"),
        },
        Some(_) => text,
    };
    let closed = inner.chars().try_fold(0_usize, |depth, letter| match letter {
        '[' => Some(depth + 1),
        ']' => depth.checked_sub(1),
        _ => Some(depth),
    });
    match closed {
        Some(0) if inner.is_empty() => Err("is empty"),
        Some(0) => Ok(inner),
        _ => Err("has brackets that are not closed in its line"),
    }
}

/// A text without the quotes around it.
fn unquoted(text: &str) -> &str {
    let inner = |quote: char| text.strip_prefix(quote).and_then(|text| text.strip_suffix(quote));
    inner('"').or_else(|| inner('\'')).unwrap_or(text).trim()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_stand_in_two_maps() {
        let text = "\u{feff}%YAML 1.1\r\n---\r\n# vars:\r\nvars:\r\n  # ours\r\n  address-groups:\r\n    \
            HOME_NET: \"[10.0.0.0/8, !10.1.0.0/16]\" # net\r\n    #HOME_NET: \"any\"\r\n\r\n    \
            EXTERNAL_NET: '!$HOME_NET'\r\n  port-groups:\r\n    HTTP_PORTS: 80\r\n    SHELL: \"!80\"\r\n\
            other:\r\n  address-groups:\r\n    NOT: \"this\"\r\nhost-os-policy:\r\n  linux: []\r\n";
        let found = variables(text).unwrap();
        let found: Vec<(&str, &str)> = found.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let known = [
            ("HOME_NET", "[10.0.0.0/8, !10.1.0.0/16]"),
            ("EXTERNAL_NET", "!$HOME_NET"),
            ("HTTP_PORTS", "80"),
            ("SHELL", "!80"),
        ];
        assert_eq!(found, known);
        for (value, why) in [
            ("\n      - 80", "line 3: the value of A does not stand in its line"),
            (" \"[80,", "line 3: the value of A has quotes that are not closed in its line"),
            (" '80 # one", "line 3: the value of A has quotes that are not closed in its line"),
            (" \"80\" 81", "line 3: the value of A goes on behind its quotes"),
            (" [80,\n      81]", "line 3: the value of A has brackets that are not closed in its line"),
            (" \"[80]]\"", "line 3: the value of A has brackets that are not closed in its line"),
            (" |\n      80", "line 3: the value of A has a form that is not read"),
            (" >-\n      80", "line 3: the value of A has a form that is not read"),
            (" {80}", "line 3: the value of A has a form that is not read"),
            (" &ports 80", "line 3: the value of A refers to another place"),
            (" *ports", "line 3: the value of A refers to another place"),
            (" \"\"", "line 3: the value of A is empty"),
            (" 80\n      81", "line 4: the value of A goes on in this line"),
        ] {
            let error = variables(&format!("vars:\n  port-groups:\n    A:{value}\n")).unwrap_err();
            assert_eq!(error.to_string(), format!("{why}: {ONE_LINE}"));
        }
        for text in ["vars: {address-groups: {A: any}}\n", "vars:\n  address-groups: {A: any}\n"] {
            assert!(variables(text).unwrap_err().to_string().contains("own below"), "{text}");
        }
        assert_eq!(variables("a: b\n").unwrap_err(), ConfigFault::NoVariables);
    }
}
