// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Serde's errors about a design in the words of its reader: TOML's types instead of Rust's, and the key that was
//! probably meant.

/// Changes of letters between a misspelt word and the right one; one more for every four letters.
const SLIPS: usize = 1;

/// The candidate that is spelt almost like `word`.
#[must_use]
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let most = SLIPS + word.chars().count() / 4;
    let distance = |candidate: &'a str| (strsim::damerau_levenshtein(word, candidate), candidate);
    candidates.into_iter().map(distance).filter(|(slips, _)| *slips <= most).min().map(|(_, candidate)| candidate)
}

/// The end of an error about an unknown word: ``; did you mean `policy`?``, or nothing.
#[must_use]
pub fn did_you_mean<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> String {
    nearest(word, candidates).map_or_else(String::new, |near| format!("; did you mean `{near}`?"))
}

/// An error of serde in these words. An error in other words comes back as it is, in one line.
#[must_use]
pub fn in_words(error: &str) -> String {
    let error = error.replace('\n', " ");
    if let Some(types) = error.strip_prefix("invalid type: ")
        && let Some((found, expected)) = types.split_once(", expected ")
    {
        return format!("here is {}; write {}", found_in_words(found), expected_in_words(expected));
    }
    // unknown field `a`, expected one of `b`, `c`
    let mut quoted = error.split('`').skip(1).step_by(2);
    match quoted.next() {
        Some(word) if error.starts_with("unknown field") || error.starts_with("unknown variant") => {
            let hint = did_you_mean(word, quoted);
            error.replacen("unknown variant", "unknown word", 1) + &hint
        }
        _ => error,
    }
}

fn found_in_words(found: &str) -> String {
    let value = |prefix: &str| found.strip_prefix(prefix).map(|value| value.trim_matches('`').to_owned());
    match found {
        "sequence" => "a list".to_owned(),
        "map" => "a table".to_owned(),
        _ => None
            .or(value("string ").map(|text| format!("the text {text}")))
            .or(value("integer ").or(value("floating point ")).map(|number| format!("the number {number}")))
            .or(value("boolean ").map(|set| format!("the word {set}, without quotes")))
            .unwrap_or_else(|| found.to_owned()),
    }
}

fn expected_in_words(expected: &str) -> &str {
    match expected {
        "i64" | "i32" | "u64" | "u32" | "u16" | "u8" | "usize" => "a whole number, without quotes",
        "f64" => "a number, without quotes",
        "a boolean" => "true or false, without quotes",
        "a string" | "path string" | "string or table" => "a text in quotes",
        "a sequence" => "a list: [...]",
        "a map" => "a table: { name = value }",
        kind if kind.starts_with("struct ") => "a table: { name = value }",
        kind if kind.starts_with("enum ") => "a word in quotes",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_have_the_names_of_toml() {
        for (error, words) in [
            (
                "invalid type: string \"2\", expected i64",
                "here is the text \"2\"; write a whole number, without quotes",
            ),
            (
                "invalid type: integer `1`, expected a boolean",
                "here is the number 1; write true or false, without quotes",
            ),
            (
                "invalid type: boolean `true`, expected path string",
                "here is the word true, without quotes; write a text in quotes",
            ),
            ("invalid type: map, expected a sequence", "here is a table; write a list: [...]"),
            ("invalid type: sequence, expected struct Keys", "here is a list; write a table: { name = value }"),
            (
                "invalid type: floating point `2.5`, expected u32",
                "here is the number 2.5; write a whole number, without quotes",
            ),
            ("missing field\n`a`", "missing field `a`"),
        ] {
            assert_eq!(in_words(error), words);
        }
    }

    #[test]
    fn a_misspelt_key_is_recognised() {
        let error = "unknown field `polcy`, expected `policy`";
        assert_eq!(in_words(error), format!("{error}; did you mean `policy`?"));
        let error = "unknown field `speed`, expected one of `name`, `ports`";
        assert_eq!(in_words(error), error);
        let error = "unknown variant `flow-hsh`, expected one of `round-robin`, `flow-hash`, `flow-hash-drop`";
        assert!(in_words(error).starts_with("unknown word `flow-hsh`, expected"));
        assert!(in_words(error).ends_with("; did you mean `flow-hash`?"));
    }

    #[test]
    fn only_near_words_are_offered() {
        let words = ["ip_prefix", "crc32", "checksum"];
        for (word, near) in [("ip_prefx", Some("ip_prefix")), ("crc23", Some("crc32")), ("sum", None), ("", None)] {
            assert_eq!(nearest(word, words), near, "{word}");
        }
    }
}
