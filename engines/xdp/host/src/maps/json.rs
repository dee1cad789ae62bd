// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Keys and values as JSON, and files of entries.
//!
//! Numbers are numbers, arrays are lists, structs are objects, bytes are text: `"0x0a0b"`. The type of a key or value
//! says how text is read ([`Shape::encode`](penstock_xdp_compiler::btf::Shape::encode)). A file holds a list of
//! entries, each `[key, value]` or `{"key": …, "value": …}`, or an object whose names are the keys.

use std::path::{Path, PathBuf};

use penstock_engine::files::{self, FileError};
use penstock_engine::{EngineError, ErrorKind};
use penstock_xdp_compiler::btf::Value;
use serde_json::{Number, Value as Json, json};

use super::{Entry, Map, MapError, Record};
use crate::services::map::SERVICE;

/// The only name of an object that is bytes, whatever the type: `{"$bytes": "0a0b"}`. No member of a struct is called
/// so.
const BYTES: &str = "$bytes";

/// The way out in messages about a file that cannot be read.
const ENTRIES: &str = "give a JSON file of entries, [[KEY, VALUE], ...]";

/// JSON that is no key and no value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum JsonError {
    /// It is null.
    #[error("null is no key and no value")]
    Null,
    /// A number of another kind.
    #[error("{0} is no whole number of 64 bits")]
    Number(Number),
    /// Text that begins as JSON does.
    #[error("`{text}` is no JSON: {why}")]
    Text {
        /// The text.
        text: String,
        /// The parser's message.
        why: String,
    },
    /// Bytes that are not hexadecimal digits.
    #[error("{0} is no bytes: write {{\"$bytes\": \"0a0b\"}}")]
    Bytes(Json),
    /// An element of a list of entries is no entry.
    #[error("{0} is no entry")]
    Entry(Json),
    /// Entries that are neither a list nor an object.
    #[error("it is neither a list nor an object")]
    Form,
}

/// A file of entries that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum EntriesError {
    /// It cannot be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// It is no JSON.
    #[error("{}: {source}", path.display())]
    Json {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        source: serde_json::Error,
    },
    /// It is JSON and no list of entries.
    #[error(
        "{}: {source}; a list has entries [KEY, VALUE] or {{\"key\": KEY, \"value\": VALUE}}, an object VALUEs by KEY",
        path.display()
    )]
    Form {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        source: JsonError,
    },
    /// The map refuses an entry.
    #[error("{}: entry {entry}: {source}", path.display())]
    Entry {
        /// The file.
        path: PathBuf,
        /// Number of the entry, from 1.
        entry: usize,
        /// Why.
        source: Box<MapError>,
    },
}

impl From<EntriesError> for EngineError {
    fn from(error: EntriesError) -> Self {
        match error {
            EntriesError::File(error) => error.into(),
            error => Self::new(ErrorKind::Service(SERVICE), error),
        }
    }
}

/// A key or a value as JSON.
pub fn of(value: &Value) -> Json {
    match value {
        Value::Int(number) => u64::try_from(*number)
            .map(Number::from)
            .or_else(|_| i64::try_from(*number).map(Number::from))
            // Types have no numbers of more than 64 bits.
            .map_or(Json::Null, Json::Number),
        Value::Bytes(bytes) => Json::String(bytes.iter().fold("0x".into(), |text, byte| format!("{text}{byte:02x}"))),
        Value::Text(text) => Json::String(text.clone()),
        Value::List(values) => values.iter().map(of).collect(),
        Value::Record(fields) => fields.iter().map(|(name, value)| (name.clone(), of(value))).collect(),
    }
}

/// A key or a value out of JSON.
///
/// # Errors
/// It has a part that is no key and no value.
pub fn parse(json: &Json) -> Result<Value, JsonError> {
    Ok(match json {
        Json::Null => return Err(JsonError::Null),
        Json::Bool(set) => Value::Int((*set).into()),
        Json::Number(number) => {
            let whole = number.as_u64().map(i128::from).or_else(|| number.as_i64().map(i128::from));
            Value::Int(whole.ok_or_else(|| JsonError::Number(number.clone()))?)
        }
        Json::String(text) => Value::Text(text.clone()),
        Json::Array(values) => Value::List(values.iter().map(parse).collect::<Result<_, _>>()?),
        Json::Object(fields) if fields.len() == 1 && fields.contains_key(BYTES) => {
            let text = fields[BYTES].as_str().unwrap_or_default();
            let digits = |at: usize| text.get(at..at + 2).and_then(|two| u8::from_str_radix(two, 16).ok());
            let bytes = (0..text.len()).step_by(2).map(digits).collect::<Option<Vec<u8>>>();
            Value::Bytes(bytes.ok_or_else(|| JsonError::Bytes(json.clone()))?)
        }
        Json::Object(fields) => {
            let field = |(name, value): (&String, &Json)| Ok((name.clone(), parse(value)?));
            Value::Record(fields.iter().map(field).collect::<Result<_, JsonError>>()?)
        }
    })
}

/// A key or value of a command line: JSON if it begins as a list or an object does, else text.
///
/// # Errors
/// It begins so and is no JSON.
pub fn typed(text: &str) -> Result<Json, JsonError> {
    if text.trim_start().starts_with(['{', '[']) {
        return serde_json::from_str(text)
            .map_err(|error| JsonError::Text { text: text.to_owned(), why: error.to_string() });
    }
    Ok(Json::String(text.to_owned()))
}

/// Entries of a map as JSON: a list of `{"key": …, "value": …}`.
pub fn entries(map: &Map, entries: &[Entry]) -> Json {
    let entry =
        |(key, value): &Entry| json!({"key": of(&map.shape_of_key.decode(key)), "value": of(&map.decode(value))});
    entries.iter().map(entry).collect()
}

/// Records of a map as JSON: bytes, of perf event arrays `{"cpu": …, "data": …}`.
pub fn records(records: &[Record]) -> Json {
    let bytes = |record: &Record| of(&Value::Bytes(record.bytes.clone()));
    let record = |record: &Record| match record.processor {
        Some(processor) => json!({"cpu": processor, "data": bytes(record)}),
        None => bytes(record),
    };
    records.iter().map(record).collect()
}

/// Reads a file of entries as JSON.
///
/// # Errors
/// It cannot be read, or is no JSON.
pub fn read(path: &Path) -> Result<Json, EntriesError> {
    let text = files::read(path, ENTRIES)?;
    serde_json::from_str(&text).map_err(|source| EntriesError::Json { path: path.to_owned(), source })
}

/// The entries for a map that a file holds.
///
/// # Errors
/// The file cannot be read, or the map refuses an entry.
pub fn entries_of(map: &Map, path: &Path) -> Result<Vec<Entry>, EntriesError> {
    entries_in(map, path, 0, &read(path)?)
}

/// The entries for a map in the JSON that a file held behind its first `before` entries.
///
/// # Errors
/// It is no list of entries, or the map refuses an entry.
pub fn entries_in(map: &Map, path: &Path, before: usize, json: &Json) -> Result<Vec<Entry>, EntriesError> {
    let pairs = pairs(json).map_err(|source| EntriesError::Form { path: path.to_owned(), source })?;
    let entry = |(entry, (key, value)): (usize, (Value, Value))| {
        let wrong = |source| EntriesError::Entry { path: path.to_owned(), entry, source: Box::new(source) };
        Ok((map.key(&key).map_err(wrong)?, map.value(&value).map_err(wrong)?))
    };
    (before + 1..).zip(pairs).map(entry).collect()
}

/// The keys and values of a list of entries.
fn pairs(json: &Json) -> Result<Vec<(Value, Value)>, JsonError> {
    let pair = |key: &Json, value: &Json| Ok((parse(key)?, parse(value)?));
    match json {
        Json::Object(by_key) => by_key.iter().map(|(key, value)| pair(&Json::String(key.clone()), value)).collect(),
        Json::Array(entries) => entries
            .iter()
            .map(|entry| match entry {
                Json::Array(two) if two.len() == 2 => pair(&two[0], &two[1]),
                Json::Object(named) if named.len() == 2 => match (named.get("key"), named.get("value")) {
                    (Some(key), Some(value)) => pair(key, value),
                    _ => Err(JsonError::Entry(entry.clone())),
                },
                _ => Err(JsonError::Entry(entry.clone())),
            })
            .collect(),
        _ => Err(JsonError::Form),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_json_and_back() {
        for (value, text) in [
            (Value::Int(i128::from(u64::MAX)), "18446744073709551615"),
            (Value::Int(i128::from(i64::MIN)), "-9223372036854775808"),
            (Value::List(vec![Value::Int(1), Value::Text("0x0a".into())]), r#"[1,"0x0a"]"#),
            (Value::Record(vec![("z".into(), Value::Int(1)), ("a".into(), Value::Int(2))]), r#"{"z":1,"a":2}"#),
        ] {
            assert_eq!(of(&value).to_string(), text);
            assert_eq!(parse(&serde_json::from_str(text).unwrap()), Ok(value));
        }
        assert_eq!(of(&Value::Bytes(vec![0, 0xAB])).to_string(), r#""0x00ab""#);
        for text in ["null", "1.5", "[null]", r#"{"a": 1e30}"#, "18446744073709551616"] {
            assert!(parse(&serde_json::from_str(text).unwrap()).is_err(), "{text}");
        }
    }

    #[test]
    fn a_file_is_a_list_or_an_object() {
        let read = |text: &str| pairs(&serde_json::from_str(text).unwrap());
        let (text, int) = (|text: &str| Value::Text(text.into()), Value::Int);
        assert_eq!(read(r#"[[1, 2], {"value": 4, "key": "x"}]"#).unwrap(), [(int(1), int(2)), (text("x"), int(4))]);
        assert_eq!(read(r#"{"1": 2, "x": 3}"#).unwrap(), [(text("1"), int(2)), (text("x"), int(3))]);
        for wrong in ["1", "[1]", "[[1]]", "[[1, 2, 3]]", r#"[{"key": 1, "values": 2}]"#, "[[1, null]]"] {
            let (path, source) = (PathBuf::from("f.json"), read(wrong).unwrap_err());
            let error = EntriesError::Form { path, source }.to_string();
            assert!(error.starts_with("f.json: ") && error.contains("a list has entries"), "{error}");
        }
    }

    #[test]
    fn arguments_are_text_or_json() {
        assert_eq!(typed("17"), Ok(json!("17")));
        assert_eq!(typed(" {\"a\": 1}"), Ok(json!({"a": 1})));
        assert!(typed("[1, 2").unwrap_err().to_string().contains("`[1, 2` is no JSON"));
    }
}
