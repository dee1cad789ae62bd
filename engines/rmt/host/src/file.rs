// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Files of entries and other items: for each tenant a list, `{"bob": [{"table": ...}, ...]}`, or one list if there
//! is one program only.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use penstock_engine::files::{self, FileError};
use serde_json::value::RawValue;

use crate::item::NamedItem;

/// Way out when a file of entries cannot be read.
const ENTRIES: &str = "give a JSON file of entries, for example designs/rmt-entries.json";

/// Why a file holds no entries.
#[derive(Debug, thiserror::Error)]
pub enum EntriesError {
    /// It cannot be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// A line is wrong.
    #[error("{}:{line}: {message}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// Line, from 1.
        line: usize,
        /// What is wrong.
        message: String,
    },
}

/// An entry or other item, and its line in the file.
pub(crate) type Placed = (usize, NamedItem);

/// The entries of each tenant; of a file with one list, under the empty name.
pub(crate) fn read(path: &Path) -> Result<BTreeMap<String, Vec<Placed>>, EntriesError> {
    parse(path, &files::read(path, ENTRIES)?)
}

fn parse(path: &Path, text: &str) -> Result<BTreeMap<String, Vec<Placed>>, EntriesError> {
    let wrong = |line, message| EntriesError::Line { path: path.to_path_buf(), line, message };
    let lists: BTreeMap<String, Vec<&RawValue>> = match text.trim_start().starts_with('[') {
        true => serde_json::from_str(text).map(|list| BTreeMap::from([(String::new(), list)])),
        false => serde_json::from_str(text),
    }
    .map_err(|error| {
        wrong(error.line(), format!("{error}; a file of entries is {{\"TENANT\": [{{\"table\": ...}}]}}"))
    })?;
    let entry = |raw: &RawValue| {
        // The value is a part of the text.
        let line = text[..raw.get().as_ptr().addr() - text.as_ptr().addr()].matches('\n').count() + 1;
        let kind = serde_json::from_str(raw.get()).map(|json| NamedItem::kind(&json));
        let entry = kind.and_then(|kind| kind.read(&mut serde_json::Deserializer::from_str(raw.get())));
        Ok((line, entry.map_err(|error| wrong(line + error.line() - 1, error.to_string()))?))
    };
    let list = |(tenant, list): (String, Vec<&RawValue>)| {
        Ok((tenant, list.into_iter().map(entry).collect::<Result<_, EntriesError>>()?))
    };
    lists.into_iter().map(list).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_have_lines() {
        let text =
            "{\n  \"bob\": [\n    {\"table\": \"a\"},\n    {\"table\": \"b\", \"priority\": 3}],\n  \"eve\": []\n}";
        let read = parse(Path::new("e.json"), text).unwrap();
        let entry = |item: &NamedItem| match item {
            NamedItem::Entry(entry) => (entry.table.clone(), entry.priority),
            other => panic!("{other:?}"),
        };
        let lines: Vec<_> = read["bob"].iter().map(|(line, one)| (*line, entry(one))).collect();
        assert_eq!(lines, [(3, ("a".to_owned(), 0)), (4, ("b".to_owned(), 3))]);
        assert!(read["eve"].is_empty());
        assert_eq!(parse(Path::new("e.json"), " [{\"table\": \"a\"}]").unwrap()[""].len(), 1);
    }

    #[test]
    fn faults_have_lines() {
        for (text, words) in [
            ("{\"bob\": [\n{\"tabel\": \"a\"}]}", "e.json:2: unknown field `tabel`"),
            ("{\"bob\": [{\"table\": \"a\",\n\"priority\": \"x\"}]}", "e.json:2: invalid type"),
            ("[{\"multicast\": 1,\n\"copys\": []}]", "e.json:2: unknown field `copys`"),
            ("[{\"meter\": \"m\",\n\"rates\": 3}]", "e.json:2: invalid type"),
            ("{\"bob\": 7}", "e.json:1: invalid type"),
            ("", "e.json:1: EOF"),
        ] {
            let error = parse(Path::new("e.json"), text).unwrap_err().to_string();
            assert!(error.starts_with(words), "{error}");
        }
    }
}
