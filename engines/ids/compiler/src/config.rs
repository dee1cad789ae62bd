// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Variables of rule headers, as a user of Suricata has them in suricata.yaml.

/// Maps of variables under `vars`.
const GROUPS: [&str; 2] = ["address-groups", "port-groups"];

/// Name and value of each entry of `vars.address-groups` and `vars.port-groups` in the text of a YAML file. All else
/// in the file is passed over.
///
/// # Errors
/// An entry of these maps has no value in its line, or there is no entry: a sentence.
pub fn variables(text: &str) -> Result<Vec<(String, String)>, String> {
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
        let Some((key, value)) = entry.split_once(':') else { continue };
        let (key, value) = (unquoted(key.trim()), unquoted(value.trim()));
        if matches!(path[..], [(0, "vars"), (_, group)] if GROUPS.contains(&group)) {
            if value.is_empty() {
                return Err(format!("line {number}: the variable {key} has no value in its line"));
            }
            found.push((key.to_owned(), value.to_owned()));
        }
        path.push((indentation, key));
    }
    if found.is_empty() {
        Err("there are no variables under vars, address-groups or port-groups".to_owned())
    } else {
        Ok(found)
    }
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

/// A text without the quotes around it.
fn unquoted(text: &str) -> &str {
    let inner = |quote: char| text.strip_prefix(quote).and_then(|text| text.strip_suffix(quote));
    inner('"').or_else(|| inner('\'')).unwrap_or(text).trim()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
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
        let error = variables("vars:\n  port-groups:\n    A:\n      - 80\n").unwrap_err();
        assert_eq!(error, "line 3: the variable A has no value in its line");
        assert!(variables("a: b\n").unwrap_err().contains("no variables"));
    }
}
