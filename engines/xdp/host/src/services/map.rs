// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The service `map`: lists, reads and fills maps of programs that units run. Keys and values are JSON as
//! [`crate::maps`] writes them.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use clap::{ArgMatches, Args, Command, FromArgMatches, Subcommand, ValueEnum};
use penstock_engine::{EngineError, ErrorKind, Service, View};
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use crate::maps::{self, EntriesError, Map, MapError, Maps, Slice, Store, typed};

/// Name of the service.
pub const SERVICE: &str = "map";
/// Entries of a file, and bytes of their text, that the card gets at once, at most: one or two milliseconds of work
/// between two frames.
const PIECE: usize = 1024;
const PIECE_BYTES: usize = 256 << 10;

/// The service.
pub const MAP: Service =
    Service { name: SERVICE, command, ask, show, dump: Some(dump), views: &[View { title: "Maps", words: &["list"] }] };

/// A request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case", deny_unknown_fields)]
pub enum Ask {
    /// Lists the maps. (In braces, since serde lets a unit variant have any fields.)
    List {},
    /// A slice of the entries of a map ([`Maps::slice`]); of a map that has records, takes those.
    Dump {
        /// The map: NAME, or GROUP.NAME if several groups of units have a map of that name.
        name: String,
        /// 0, or `next` of the slice before.
        #[serde(default, skip_serializing_if = "is_first")]
        from: u32,
    },
    /// One entry.
    Get {
        /// The map.
        name: String,
        /// The key. The type of the map's keys decides how text is parsed: as a number, an address, bytes in
        /// hexadecimal.
        key: Json,
        /// If true, a missing entry is not an error: the answer has no entry.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        optional: bool,
    },
    /// Sets an entry between two frames.
    Set {
        /// The map.
        name: String,
        /// The key.
        key: Json,
        /// The value; of per-CPU kinds one for all processors, or a list with one for each.
        value: Json,
        /// Whether the entry may be new, or must.
        #[serde(default)]
        store: When,
    },
    /// Sets entries of a file. The types of all are checked before the first is set. A long file comes in pieces, between
    /// which frames pass: all pieces first to be checked, then all to be set.
    Fill {
        /// The map.
        name: String,
        /// The file, for messages.
        file: PathBuf,
        /// Entries of the file that earlier pieces had.
        #[serde(default, skip_serializing_if = "is_first")]
        before: usize,
        /// The entries: `[[KEY, VALUE], ...]`.
        entries: Json,
        /// They are not set.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        check: bool,
    },
    /// Deletes an entry.
    Delete {
        /// The map.
        name: String,
        /// The key.
        key: Json,
        /// There may be no such entry. Otherwise that is an error.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        optional: bool,
    },
    /// Takes the records that programs have sent, each once.
    Take {
        /// The map.
        name: String,
    },
}

fn is_first<T: Default + PartialEq>(from: &T) -> bool {
    *from == T::default()
}

/// Whether an entry that is set may be new.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[value(rename_all = "lower")]
#[serde(rename_all = "lowercase")]
pub enum When {
    /// It may.
    #[default]
    Any,
    /// It must.
    NoExist,
    /// It must not.
    Exist,
}

impl From<When> for Store {
    fn from(when: When) -> Self {
        match when {
            When::Any => Self::Any,
            When::NoExist => Self::New,
            When::Exist => Self::Existing,
        }
    }
}

/// An answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Answer {
    /// To `list`.
    Maps {
        /// All maps.
        maps: Vec<About>,
    },
    /// To `dump` and `get`.
    Entries {
        /// The map.
        map: About,
        /// Each `{"key": KEY, "value": VALUE}`; of per-CPU kinds the value is a list.
        entries: Json,
        /// Where the next slice begins; not there in the last slice.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        next: Option<u32>,
    },
    /// To `take`, and to `dump` of a map that has records.
    Records {
        /// Oldest first: text, of perf event arrays `{"cpu": 0, "data": text}`.
        records: Json,
        /// Records lost since the load.
        lost: u64,
    },
    /// To `set`, `fill` and `delete`.
    Changed {
        /// How many entries were set or deleted; of a file that comes in pieces, by this piece and those before.
        changed: usize,
    },
}

/// A map.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct About {
    /// Its name, or GROUP.NAME if several groups of units have a map of that name.
    pub name: String,
    /// Its type: `hash`, `percpu_array`, ...
    pub kind: String,
    /// Type of its keys.
    pub key: String,
    /// Bytes of a key.
    pub key_bytes: u64,
    /// Type of its values; of per-CPU kinds of the value of one processor.
    pub value: String,
    /// Bytes of a value.
    pub value_bytes: u64,
    /// Most entries that it holds.
    pub max_entries: u32,
    /// It holds constants, which the host cannot change.
    pub read_only: bool,
    /// It has records in place of entries.
    pub has_records: bool,
    /// For per-CPU kinds, the first processor (unit · 16 + context) that has values, and the processor after the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processors: Option<(u32, u32)>,
}

impl From<&Map> for About {
    fn from(map: &Map) -> Self {
        Self {
            name: map.name.clone(),
            kind: map.kind.to_string(),
            key: map.shape_of_key.to_string(),
            key_bytes: map.shape_of_key.bytes(),
            value: map.shape_of_value.to_string(),
            value_bytes: map.shape_of_value.bytes(),
            max_entries: map.max_entries,
            read_only: map.read_only,
            has_records: map.has_records(),
            processors: map.processors.as_ref().map(|processors| (processors.start, processors.end)),
        }
    }
}

/// A request that is none of [`Ask`].
#[derive(Debug, thiserror::Error)]
#[error("not a request to the service `map`: {0}; it takes list, dump, get, set, fill, delete and take")]
pub struct BadRequest(serde_json::Error);

/// Carries out a request.
pub(crate) fn answer(maps: &mut Maps<'_>, ask: &Json) -> Result<Json, EngineError> {
    let ask =
        Ask::deserialize(ask).map_err(|error| EngineError::new(ErrorKind::Service(SERVICE), BadRequest(error)))?;
    let answer = carry_out(maps, ask)?;
    // This cannot fail: all keys are text.
    Ok(serde_json::to_value(answer).unwrap_or_default())
}

fn carry_out(maps: &mut Maps<'_>, ask: Ask) -> Result<Answer, EngineError> {
    Ok(match ask {
        Ask::List {} => Answer::Maps { maps: maps.list().iter().map(About::from).collect() },
        Ask::Dump { name, from } => {
            let map = maps.find(&name)?;
            if map.has_records() {
                return take(maps, &map);
            }
            let Slice { entries, next } = maps.slice(&map, from)?;
            Answer::Entries { entries: maps::entries(&map, &entries), map: About::from(&map), next }
        }
        Ask::Get { name, key, optional } => {
            let map = maps.find(&name)?;
            let key = key_of(&map, &key)?;
            let value = maps.get(&map, &key)?;
            if value.is_none() && !optional {
                return Err(MapError::NoEntry(map.name).into());
            }
            let entry: Vec<_> = value.into_iter().map(|value| (key.clone(), value)).collect();
            Answer::Entries { entries: maps::entries(&map, &entry), map: About::from(&map), next: None }
        }
        Ask::Set { name, key, value, store } => {
            let map = maps.find(&name)?;
            let value = maps::parse(&value).map_err(MapError::from)?;
            maps.set(&map, &key_of(&map, &key)?, &map.value(&value)?, store.into())?;
            Answer::Changed { changed: 1 }
        }
        Ask::Fill { name, file, before, entries, check } => {
            let map = maps.find(&name)?;
            let entries = maps::entries_in(&map, &file, before, &entries)?;
            let to_set: &[_] = if check { &[] } else { &entries };
            for (entry, (key, value)) in (before + 1..).zip(to_set) {
                let wrong = |source| EntriesError::Entry { path: file.clone(), entry, source: Box::new(source) };
                maps.set(&map, key, value, Store::Any).map_err(wrong)?;
            }
            Answer::Changed { changed: before + to_set.len() }
        }
        Ask::Delete { name, key, optional } => {
            let map = maps.find(&name)?;
            match maps.delete(&map, &key_of(&map, &key)?) {
                Err(MapError::NoEntry(_)) if optional => Answer::Changed { changed: 0 },
                deleted => Answer::Changed { changed: deleted.map(|()| 1)? },
            }
        }
        Ask::Take { name } => {
            let map = maps.find(&name)?;
            return take(maps, &map);
        }
    })
}

fn key_of(map: &Map, key: &Json) -> Result<Vec<u8>, MapError> {
    map.key(&maps::parse(key)?)
}

fn take(maps: &mut Maps<'_>, map: &Map) -> Result<Answer, EngineError> {
    let taken = maps.take(map)?;
    Ok(Answer::Records { records: maps::records(&taken.records), lost: taken.lost })
}

/// Reads and fills maps of XDP programs. NAME is a map of a program, or the section of its global variables: `.data`,
/// `.bss`, `.rodata`. If several groups of units have a map of that name, it is GROUP.NAME.
#[derive(Debug, Args)]
struct Words {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Lists names, types and sizes.
    List,
    /// Prints all entries; of a map that has records, takes those.
    Dump {
        /// The map.
        name: String,
    },
    /// Prints one entry.
    Get {
        /// The map.
        name: String,
        /// A number, an address (192.0.2.1), bytes ("0a 0b", 02:00:00:00:00:01), or JSON: '{"port": 80}'.
        #[arg(value_parser = typed, allow_negative_numbers = true)]
        key: Json,
    },
    /// Sets an entry between two frames.
    Set {
        /// The map.
        name: String,
        /// Written as for `get`.
        #[arg(value_parser = typed, allow_negative_numbers = true)]
        key: Json,
        /// Written like a key. Fields that are not named become 0; of per-CPU kinds, one value for all processors or a
        /// list for each.
        #[arg(value_parser = typed, allow_negative_numbers = true)]
        value: Json,
        /// Whether the entry may be new, or must.
        #[arg(value_enum, default_value_t = When::Any)]
        when: When,
    },
    /// Sets all entries of a file.
    Fill {
        /// The map.
        name: String,
        /// JSON: [[KEY, VALUE], ...].
        file: PathBuf,
    },
    /// Deletes an entry.
    Delete {
        /// The map.
        name: String,
        /// Written as for `get`.
        #[arg(value_parser = typed, allow_negative_numbers = true)]
        key: Json,
    },
    /// Takes the records that programs have sent.
    Take {
        /// The map.
        name: String,
    },
}

fn command() -> Command {
    Words::augment_args(Command::new(SERVICE))
}

fn ask(matches: &ArgMatches) -> Result<Vec<Json>, String> {
    let words = Words::from_arg_matches(matches).map_err(|error| error.to_string())?;
    let ask = match words.action {
        Action::List => Ask::List {},
        Action::Dump { name } => Ask::Dump { name, from: 0 },
        Action::Get { name, key } => Ask::Get { name, key, optional: false },
        Action::Set { name, key, value, when } => Ask::Set { name, key, value, store: when },
        Action::Fill { name, file } => {
            let entries = maps::read(&file).map_err(|error| error.to_string())?;
            return fill(&name, &file, entries);
        }
        Action::Delete { name, key } => Ask::Delete { name, key, optional: false },
        Action::Take { name } => Ask::Take { name },
    };
    Ok(vec![json_of(ask)?])
}

fn json_of(ask: Ask) -> Result<Json, String> {
    serde_json::to_value(ask).map_err(|error| error.to_string())
}

/// The requests that fill a map from a file.
fn fill(name: &str, file: &Path, entries: Json) -> Result<Vec<Json>, String> {
    let pieces = pieces(entries);
    // The card checks all entries of one piece before it sets the first.
    let rounds: &[bool] = if pieces.len() == 1 { &[false] } else { &[true, false] };
    let ask = &|check, (before, entries): &(usize, Json)| {
        let (name, file, entries) = (name.to_owned(), file.to_owned(), entries.clone());
        json_of(Ask::Fill { name, file, before: *before, entries, check })
    };
    rounds.iter().flat_map(|check| pieces.iter().map(move |piece| ask(*check, piece))).collect()
}

/// The entries of a file in pieces, each with the number of entries before it.
fn pieces(entries: Json) -> Vec<(usize, Json)> {
    let list: Vec<Json> = match entries {
        Json::Array(list) if !list.is_empty() => list,
        Json::Object(by_key) if !by_key.is_empty() => {
            by_key.into_iter().map(|(key, value)| json!([key, value])).collect()
        }
        // It has no entry, or the card refuses it.
        other => return vec![(0, other)],
    };
    let mut pieces: Vec<(usize, Vec<Json>)> = Vec::new();
    let mut bytes = 0;
    for (number, entry) in list.into_iter().enumerate() {
        let length = entry.to_string().len();
        match pieces.last_mut() {
            Some((_, piece)) if piece.len() < PIECE && bytes + length <= PIECE_BYTES => {
                piece.push(entry);
                bytes += length;
            }
            _ => {
                pieces.push((number, vec![entry]));
                bytes = length;
            }
        }
    }
    pieces.into_iter().map(|(before, piece)| (before, piece.into())).collect()
}

fn show(_: &Json, answer: &Json) -> String {
    match Answer::deserialize(answer) {
        Ok(Answer::Maps { maps }) if maps.is_empty() => "no program with maps is loaded\n".to_owned(),
        Ok(Answer::Maps { maps }) => list(&maps),
        Ok(Answer::Entries { map, entries: all, .. }) => entries(&map, &all),
        Ok(Answer::Records { records: all, lost }) => records(&all, lost),
        Ok(Answer::Changed { .. }) => String::new(),
        // A card of another version.
        Err(_) => format!("{answer:#}\n"),
    }
}

/// Maps, a line each.
fn list(maps: &[About]) -> String {
    let row = |map: &About| {
        let end = if map.read_only { ", constants" } else { "" };
        [
            map.name.clone(),
            map.kind.clone(),
            format!("{} ({} B)", map.key, map.key_bytes),
            format!("{} ({} B)", map.value, map.value_bytes),
            format!("{} entries{end}", map.max_entries),
        ]
    };
    let rows: Vec<_> = maps.iter().map(row).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].len()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..4).map(width).collect();
    let mut text = String::new();
    for [name, kind, key, value, end] in &rows {
        let [a, b, c, d] = widths[..] else { continue };
        // Writing into a String does not fail.
        let _ = writeln!(text, "{name:a$}  {kind:b$}  {key:c$}  {value:d$}  {end}");
    }
    text
}

/// Entries, a line each: `KEY: VALUE`. For per-CPU kinds only values that are not 0 are shown.
fn entries(map: &About, entries: &Json) -> String {
    let mut text = String::new();
    for entry in entries.as_array().into_iter().flatten() {
        let value = match (map.processors, entry["value"].as_array()) {
            (Some((first, _)), Some(values)) => {
                let each = (first..).zip(values).filter(|(_, value)| !is_zero(value));
                let mut words: Vec<String> = each.map(|(number, value)| format!("cpu {number}: {value}")).collect();
                if words.len() < values.len() {
                    words.push(if words.is_empty() { "all 0".into() } else { "others 0".into() });
                }
                words.join(", ")
            }
            _ => entry["value"].to_string(),
        };
        let _ = writeln!(text, "{}: {value}", entry["key"]);
    }
    text
}

/// Records, a line each, and how many were lost.
fn records(records: &Json, lost: u64) -> String {
    let mut text = String::new();
    for record in records.as_array().into_iter().flatten() {
        let _ = match record["cpu"].as_u64() {
            Some(processor) => writeln!(text, "cpu {processor}: {}", record["data"].as_str().unwrap_or_default()),
            None => writeln!(text, "{}", record.as_str().unwrap_or_default()),
        };
    }
    if lost > 0 {
        let _ = writeln!(text, "lost since the load: {lost}");
    }
    text
}

fn is_zero(value: &Json) -> bool {
    match value {
        Json::Number(number) => number.as_u64() == Some(0),
        Json::String(text) => text.strip_prefix("0x").is_some_and(|digits| digits.bytes().all(|digit| digit == b'0')),
        Json::Array(values) => values.iter().all(is_zero),
        Json::Object(fields) => fields.values().all(is_zero),
        Json::Null | Json::Bool(_) => false,
    }
}

/// Values of the largest array that is dumped: an array has all its values from the start, so they fill memory and file
/// whatever the frames do.
const LARGEST: u64 = 1 << 22;

/// The contents of all maps, a file for each: one entry a line, so that a diff shows the changes between runs.
fn dump(call: &mut penstock_engine::Ask<'_>) -> Result<Vec<(String, String)>, EngineError> {
    let wrong = |error: serde_json::Error| EngineError::new(ErrorKind::Service(SERVICE), error);
    let mut asked = |ask: Ask| -> Result<Answer, EngineError> {
        let answer = call(serde_json::to_value(ask).map_err(wrong)?)?;
        serde_json::from_value(answer).map_err(wrong)
    };
    let Answer::Maps { maps } = asked(Ask::List {})? else { return Ok(Vec::new()) };
    let values =
        |map: &About| u64::from(map.max_entries) * map.processors.map_or(1, |(first, end)| (end - first).into());
    if let Some(map) = maps.iter().find(|map| map.kind.ends_with("array") && !map.has_records && values(map) > LARGEST)
    {
        let (name, values) = (&map.name, values(map));
        let text = format!(
            "{name} has {values} values, and a dump writes {LARGEST} of an array at most: give it fewer entries in [units.xdp.entries]"
        );
        return Err(EngineError::new(ErrorKind::Service(SERVICE), text));
    }
    let mut texts: Vec<(String, String)> = Vec::new();
    for map in maps {
        let mut answer = match asked(Ask::Dump { name: map.name.clone(), from: 0 }) {
            // No unit uses it, so it has no place on the card.
            Err(error) if matches!(error.downcast_ref(), Some(MapError::Nowhere { .. })) => continue,
            answer => answer?,
        };
        let mut text = text_of(&answer);
        while let Answer::Entries { next: Some(from), .. } = answer {
            answer = asked(Ask::Dump { name: map.name.clone(), from })?;
            text = joined(text, &text_of(&answer));
        }
        let mut name = file_of(&map.name);
        while texts.iter().any(|(other, _)| *other == name) {
            name.insert(0, '_');
        }
        texts.push((name, text));
    }
    Ok(texts)
}

/// The text of no entries.
const EMPTY: &str = "[\n\n]\n";

/// An entry or record a line.
fn text_of(answer: &Answer) -> String {
    let lines =
        |list: &Json| list.as_array().into_iter().flatten().map(Json::to_string).collect::<Vec<_>>().join(",\n");
    match answer {
        Answer::Records { records, lost } => format!("{{\"lost\": {lost}, \"records\": [\n{}\n]}}\n", lines(records)),
        Answer::Entries { entries, .. } => format!("[\n{}\n]\n", lines(entries)),
        _ => String::new(),
    }
}

/// The text of two slices.
fn joined(text: String, next: &str) -> String {
    match (text.as_str(), next) {
        (_, EMPTY) => text,
        (EMPTY, next) => next.to_owned(),
        (text, next) => text.trim_end_matches("\n]\n").to_owned() + ",\n" + next.trim_start_matches("[\n"),
    }
}

/// The file of a map: an object may call it as it likes, and the name of global data begins with a dot, which would
/// hide the file.
fn file_of(map: &str) -> String {
    let hidden = if map.is_empty() || map.starts_with('.') { "globals" } else { "" };
    format!("{hidden}{}.json", map.replace(['/', '\n'], "_"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn about(processors: Option<(u32, u32)>) -> About {
        About {
            name: "flows".into(),
            kind: "hash".into(),
            key: "__u32".into(),
            key_bytes: 4,
            value: "struct seen".into(),
            value_bytes: 16,
            max_entries: 64,
            read_only: false,
            has_records: false,
            processors,
        }
    }

    /// Parses the words of a command line.
    fn asked(words: &[&str]) -> Result<Vec<Json>, String> {
        let matches = command().no_binary_name(true).try_get_matches_from(words);
        ask(&matches.map_err(|error| error.to_string())?)
    }

    #[test]
    fn words_become_requests() {
        let set = json!({"do": "set", "name": "seen", "key": "-7", "value": {"port": 80}, "store": "noexist"});
        assert_eq!(asked(&["set", "seen", "-7", "{\"port\": 80}", "noexist"]), Ok(vec![set]));
        assert_eq!(asked(&["list"]), Ok(vec![json!({"do": "list"})]));
        assert_eq!(asked(&["get", "seen", "1"]), Ok(vec![json!({"do": "get", "name": "seen", "key": "1"})]));
        assert_eq!(asked(&["take", "events"]), Ok(vec![json!({"do": "take", "name": "events"})]));
        for (wrong, told) in [
            (&["get", "seen", "[1"][..], "`[1` is no JSON"),
            (&["fill", "seen", "/none.json"], "/none.json: "),
            (&["set", "seen", "1", "2", "never"], "possible values: any, noexist, exist"),
        ] {
            let error = asked(wrong).unwrap_err();
            assert!(error.contains(told), "{error}");
        }
    }

    #[test]
    fn a_long_file_comes_in_pieces() {
        let entries = |count: usize| Json::from_iter((0..count).map(|key| json!([key, "x"])));
        let of = |piece: &Json| {
            let number = |field: &str| piece[field].as_u64().unwrap_or_default();
            (number("before"), piece["entries"].as_array().unwrap().len(), piece["check"] == true)
        };
        let shapes = |entries| fill("seen", Path::new("a.json"), entries).unwrap().iter().map(of).collect::<Vec<_>>();
        assert_eq!(shapes(entries(0)), [(0, 0, false)]);
        assert_eq!(shapes(entries(1024)), [(0, 1024, false)]);
        let two = [(0, 1024, true), (1024, 1, true), (0, 1024, false), (1024, 1, false)];
        assert_eq!(shapes(entries(1025)), two);
        // Keys of an object are entries too; long ones make short pieces.
        let by_key = Json::from_iter(["a", "b", "c"].map(|key| (key.to_owned(), json!("x".repeat(100 << 10)))));
        assert_eq!(shapes(by_key), [(0, 2, true), (2, 1, true), (0, 2, false), (2, 1, false)]);
        assert_eq!(pieces(json!(7)), [(0, json!(7))]);
    }

    #[test]
    fn answers_become_text() {
        let shown = |answer: Answer| show(&Json::Null, &json!(answer));
        assert_eq!(shown(Answer::Maps { maps: vec![] }), "no program with maps is loaded\n");
        let one = json!([{"key": 7, "value": 8}]);
        assert_eq!(shown(Answer::Entries { map: about(None), entries: one, next: None }), "7: 8\n");
        let two = json!(["0x0a", {"cpu": 3, "data": "0x0b"}]);
        assert_eq!(shown(Answer::Records { records: two, lost: 2 }), "0x0a\ncpu 3: 0x0b\nlost since the load: 2\n");
        assert_eq!(shown(Answer::Changed { changed: 1 }), "");
        assert_eq!(show(&Json::Null, &json!(5)), "5\n");
    }

    #[test]
    fn maps_are_columns() {
        let constants = About { name: ".rodata".into(), read_only: true, max_entries: 1, ..about(None) };
        assert_eq!(
            list(&[about(None), constants]),
            "flows    hash  __u32 (4 B)  struct seen (16 B)  64 entries\n\
             .rodata  hash  __u32 (4 B)  struct seen (16 B)  1 entries, constants\n"
        );
    }

    #[test]
    fn values_of_processors_that_are_zero_are_left_out() {
        let both =
            json!([{"key": 7, "value": [0, {"n": 3}, {"n": [0, 0], "m": "0x0000"}]}, {"key": 8, "value": [0, 0]}]);
        let text = "7: cpu 17: {\"n\":3}, others 0\n8: all 0\n";
        assert_eq!(entries(&about(Some((16, 19))), &both), text);
        assert_eq!(entries(&about(None), &json!([{"key": "0x0a", "value": [0, 1]}])), "\"0x0a\": [0,1]\n");
    }
}
