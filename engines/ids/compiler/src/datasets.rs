// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Sets of values that rules ask for and change: `dataset` and `datarep`.

use std::collections::HashMap;
use std::io::Read;
use std::net::IpAddr;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use penstock_app::base64;

use crate::byte_ops::Wrong;
use crate::numbers::{number, within};
use crate::rule::Within;

/// Bytes of the file of a set, and bytes of values that a set keeps, with [`ENTRY`] for each value.
const MOST: usize = 64 << 20;
/// Memory that a value needs beside its bytes.
const ENTRY: usize = 64;

/// The kind of the values of a set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Bytes; in files in base64.
    Text,
    /// This number of bytes; in files in hexadecimal.
    Hash(usize),
    /// An IPv4 address.
    Ipv4,
    /// An address. An IPv4 address is kept as the IPv6 address that stands for it.
    Ip,
}

impl Kind {
    fn named(name: &str) -> Option<Self> {
        Some(match name {
            "string" => Self::Text,
            "md5" => Self::Hash(16),
            "sha256" => Self::Hash(32),
            "ipv4" => Self::Ipv4,
            "ip" | "ipv6" => Self::Ip,
            _ => return None,
        })
    }

    /// The value that a buffer stands for.
    fn value(self, bytes: &[u8]) -> Option<Vec<u8>> {
        match (self, bytes.len()) {
            (Self::Text, _) | (Self::Ipv4, 4) | (Self::Ip, 16) => Some(bytes.to_vec()),
            (Self::Ip, 4) => Some([&[0; 10][..], &[0xFF; 2], bytes].concat()),
            (Self::Hash(length), found) if length == found => Some(bytes.to_vec()),
            _ => None,
        }
    }

    /// The value that a word of a file stands for.
    fn read(self, word: &str) -> Option<Vec<u8>> {
        match self {
            Self::Text => {
                let bytes = base64::decoded(word.as_bytes());
                (base64::encoded(&bytes).trim_end_matches('=') == word.trim_end_matches('=')).then_some(bytes)
            }
            Self::Hash(length) => {
                let digits: Option<Vec<u8>> = word.chars().map(|digit| Some(digit.to_digit(16)? as u8)).collect();
                let digits = digits.filter(|digits| digits.len() == 2 * length)?;
                Some(digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect())
            }
            Self::Ipv4 | Self::Ip => self.value(&match word.parse().ok()? {
                IpAddr::V4(address) => address.octets().to_vec(),
                IpAddr::V6(address) => address.octets().to_vec(),
            }),
        }
    }

    /// A value as a word of a file.
    fn write(self, value: &[u8]) -> String {
        match self {
            Self::Text => base64::encoded(value),
            Self::Hash(_) => value.iter().map(|byte| format!("{byte:02x}")).collect(),
            Self::Ipv4 => <[u8; 4]>::try_from(value).map(|value| IpAddr::from(value).to_string()).unwrap_or_default(),
            Self::Ip => {
                let address = <[u8; 16]>::try_from(value).map(|value| IpAddr::from(value).to_canonical());
                address.map(|address| address.to_string()).unwrap_or_default()
            }
        }
    }
}

/// The values of a set with their reputations, which are 0 unless a file gives others.
#[derive(Debug, Default)]
struct Store {
    values: HashMap<Vec<u8>, u16>,
    bytes: usize,
    changed: bool,
}

impl Store {
    /// Adds a value; false if there is no room.
    fn add(&mut self, value: Vec<u8>, reputation: u16) -> bool {
        let size = value.len() + ENTRY;
        if self.values.contains_key(&value) {
            return true;
        }
        if self.bytes + size > MOST {
            return false;
        }
        self.bytes += size;
        self.values.insert(value, reputation);
        true
    }
}

/// A set of values, which all rules share that name it.
#[derive(Debug)]
pub struct Dataset {
    name: String,
    kind: Kind,
    /// The file that the values are written to at the end of a run.
    save: Option<PathBuf>,
    store: Mutex<Store>,
}

impl Dataset {
    fn store(&self) -> std::sync::MutexGuard<'_, Store> {
        // No method leaves a store half changed.
        self.store.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes over the values of another set if it has the same name and kind, so that rules that are loaded anew go on
    /// with the values that the old rules had.
    pub fn take_from(&self, other: &Self) {
        if self.name != other.name || self.kind != other.kind || std::ptr::eq(self, other) {
            return;
        }
        let theirs = other.store();
        let mut own = self.store();
        for (value, reputation) in &theirs.values {
            own.add(value.clone(), *reputation);
        }
        own.changed |= theirs.changed;
    }

    /// Writes the values to the file that the rules name with `save` or `state`, if they have changed.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn save(&self) -> std::io::Result<()> {
        let Some(path) = &self.save else { return Ok(()) };
        let mut store = self.store();
        if !store.changed {
            return Ok(());
        }
        let mut lines: Vec<String> = store.values.keys().map(|value| self.kind.write(value) + "\n").collect();
        lines.sort_unstable();
        std::fs::write(path, lines.concat())?;
        store.changed = false;
        Ok(())
    }
}

/// What a rule asks of a set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ask {
    /// The value is not in it, and is added when the rule matches.
    Set,
    /// The value is in it, and is removed when the rule matches.
    Unset,
    /// The value is in it.
    IsSet,
    /// The value is not in it.
    IsNotSet,
    /// The value is in it with such a reputation.
    Reputation(Within),
}

/// A condition on a buffer: `dataset` or `datarep`.
#[derive(Debug, Clone)]
pub struct DatasetUse {
    set: Arc<Dataset>,
    ask: Ask,
}

impl DatasetUse {
    /// Whether it holds for a buffer.
    #[must_use]
    pub fn holds(&self, bytes: &[u8]) -> bool {
        let Some(value) = self.set.kind.value(bytes) else { return self.ask == Ask::IsNotSet };
        let store = self.set.store();
        let found = store.values.get(&value);
        match self.ask {
            Ask::Set => found.is_none() && store.bytes + value.len() + ENTRY <= MOST,
            Ask::Unset | Ask::IsSet => found.is_some(),
            Ask::IsNotSet => found.is_none(),
            Ask::Reputation(within) => found.is_some_and(|reputation| within.holds((*reputation).into())),
        }
    }

    /// Whether a match changes the set.
    #[must_use]
    pub fn is_change(&self) -> bool {
        matches!(self.ask, Ask::Set | Ask::Unset)
    }

    /// Changes the set by the value of a buffer.
    pub fn change(&self, bytes: &[u8]) {
        let Some(value) = self.set.kind.value(bytes) else { return };
        let mut store = self.set.store();
        match self.ask {
            Ask::Set => store.changed |= store.add(value, 0),
            Ask::Unset if store.values.remove(&value).is_some() => {
                store.bytes -= value.len() + ENTRY;
                store.changed = true;
            }
            _ => {}
        }
    }
}

/// The sets of all rules by name.
#[derive(Debug, Default)]
pub(crate) struct Datasets(HashMap<String, Arc<Dataset>>);

impl Datasets {
    /// All of them, in the order of their names.
    pub(crate) fn all(self) -> Vec<Arc<Dataset>> {
        let mut all: Vec<Arc<Dataset>> = self.0.into_values().collect();
        all.sort_by(|left, right| left.name.cmp(&right.name));
        all
    }

    /// The value of `dataset`, or of `datarep` if `rated`: `COMMAND,NAME[,type KIND][,load|save|state FILE]`. Names of
    /// files are relative to `folder`.
    pub(crate) fn read(&mut self, text: &str, rated: bool, folder: &Path) -> Result<DatasetUse, Wrong> {
        let words: Vec<&str> = text.split(',').map(str::trim).collect();
        let (ask, name, rest) = match (&words[..], rated) {
            ([name, operator, limit, rest @ ..], true) => {
                let sign = match *operator {
                    "<" | ">" | "<=" | ">=" | "!=" => operator,
                    "=" | "==" => "=",
                    other => return Err(Wrong::Value(format!("`{other}` is none of < > <= >= == !="))),
                };
                (Ask::Reputation(within(&format!("{sign}{limit}"), u16::MAX.into())?), *name, rest)
            }
            ([command, name, rest @ ..], false) => {
                let ask = match *command {
                    "set" => Ask::Set,
                    "unset" => Ask::Unset,
                    "isset" => Ask::IsSet,
                    "isnotset" => Ask::IsNotSet,
                    other => return Err(Wrong::Value(format!("`{other}` is none of set, unset, isset, isnotset"))),
                };
                (ask, *name, rest)
            }
            (_, true) => return Err(Wrong::Value("write datarep:NAME,>,100,type string,load FILE".to_owned())),
            (_, false) => return Err(Wrong::Value("write dataset:isset,NAME,type string,load FILE".to_owned())),
        };
        let (mut kind, mut load, mut save) = (None, None, None);
        for word in rest {
            let (key, value) = word.split_once(char::is_whitespace).unwrap_or((word, ""));
            match (key, value.trim()) {
                ("type", value) => {
                    let known = Kind::named(value).ok_or_else(|| {
                        Wrong::Unsupported(format!("the type `{value}` is none of string, md5, sha256, ipv4, ip"))
                    })?;
                    kind = Some(known);
                }
                ("load", value) => load = Some((path(folder, value)?, true)),
                ("save", value) => save = Some(path(folder, value)?),
                ("state", value) => {
                    let path = path(folder, value)?;
                    (load, save) = (Some((path.clone(), false)), Some(path));
                }
                // The bound is the same for all sets.
                ("memcap" | "hashsize", _) => {}
                (other, _) => return Err(Wrong::Unsupported(format!("the option `{other}` is not supported"))),
            }
        }
        if rated && save.is_some() {
            return Err(Wrong::Value("reputations are not written: leave save and state out".to_owned()));
        }
        let set = match (self.0.get(name), kind) {
            (Some(known), None) => Arc::clone(known),
            (Some(known), Some(kind)) if known.kind == kind && (save.is_none() || known.save == save) => {
                Arc::clone(known)
            }
            (Some(_), Some(_)) => {
                return Err(Wrong::Value(format!("another rule gives the set `{name}` another type or file")));
            }
            (None, None) => return Err(Wrong::Value(format!("no rule before this gives the set `{name}` a type"))),
            (None, Some(kind)) => {
                let store = load.map_or(Ok(Store::default()), |(path, must)| loaded(&path, must, kind, rated))?;
                let set = Arc::new(Dataset { name: name.to_owned(), kind, save, store: Mutex::new(store) });
                self.0.insert(name.to_owned(), Arc::clone(&set));
                set
            }
        };
        Ok(DatasetUse { set, ask })
    }
}

/// A file in the folder of the rules, or below it: rules of others must not reach other files.
fn path(folder: &Path, name: &str) -> Result<PathBuf, Wrong> {
    let name = Path::new(name.trim_matches('"'));
    let inside = name.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    if name.as_os_str().is_empty() || !inside {
        let name = name.display();
        return Err(Wrong::Value(format!("`{name}`: files of sets lie in the folder of the rules or below it")));
    }
    Ok(folder.join(name))
}

/// The values in a file; none if it need not exist and does not.
fn loaded(path: &Path, must: bool, kind: Kind, rated: bool) -> Result<Store, Wrong> {
    let failed = |error: std::io::Error| Wrong::Value(format!("{}: {error}", path.display()));
    let mut store = Store::default();
    let file = match std::fs::metadata(path) {
        Ok(about) if about.is_file() => std::fs::File::open(path).map_err(failed)?,
        // A device or a pipe may have no end.
        Ok(_) => return Err(Wrong::Value(format!("{}: this is no regular file", path.display()))),
        Err(error) if !must && error.kind() == std::io::ErrorKind::NotFound => return Ok(store),
        Err(error) => return Err(failed(error)),
    };
    let mut text = String::new();
    file.take(MOST as u64 + 1).read_to_string(&mut text).map_err(failed)?;
    let too_large = || Wrong::Value(format!("{}: a set has {} MiB at most", path.display(), MOST >> 20));
    if text.len() > MOST {
        return Err(too_large());
    }
    for (at, line) in (1..).zip(text.lines()) {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let (word, reputation) = line.split_once(',').map_or((line, None), |(word, rest)| (word.trim(), Some(rest)));
        let reputation = match reputation {
            Some(reputation) => number(reputation)?,
            None if rated => return Err(Wrong::Value(format!("{}:{at}: there is no reputation", path.display()))),
            None => 0,
        };
        let value = kind.read(word).ok_or_else(|| {
            Wrong::Value(format!("{}:{at}: `{word}` is no value of the type of the set", path.display()))
        })?;
        if !store.add(value, reputation) {
            return Err(too_large());
        }
    }
    Ok(store)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_read_changed_and_written() {
        let folder = std::env::temp_dir().join(format!("penstock-sets-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("names"), "# a comment\nYWJj\n\nZGVm\n").unwrap();
        std::fs::write(folder.join("rated"), "10.0.0.1,7\nfd00::1,900\n").unwrap();
        let mut sets = Datasets::default();
        let mut read = |text: &str, rated| sets.read(text, rated, &folder);
        let set = read("set,names,type string,load names,save out", false).unwrap();
        let has = read("isset,names", false).unwrap();
        assert!(has.holds(b"abc") && !has.holds(b"ghi") && set.holds(b"ghi") && !set.holds(b"abc"));
        assert!(set.is_change() && !has.is_change());
        set.change(b"ghi");
        read("unset,names", false).unwrap().change(b"abc");
        assert!(has.holds(b"ghi") && !has.holds(b"abc") && read("isnotset,names", false).unwrap().holds(b"abc"));
        let high = read("rated,>,100,type ip,load rated", true).unwrap();
        assert!(!high.holds(&[10, 0, 0, 1]) && high.holds(&Kind::Ip.read("fd00::1").unwrap()));
        for (text, rated, words) in [
            ("isset,others", false, "gives the set `others` a type"),
            ("isset,names,type md5", false, "another type"),
            ("isset,a,type string,load ../names", false, "in the folder of the rules"),
            ("isset,a,type string,load /dev/zero", false, "in the folder of the rules"),
            ("isset,a,type md5,load names", false, "names:2: `YWJj` is no value"),
            ("isset,a,type string,load missing", false, "missing: "),
            ("a,>,1,type string,load names", true, "names:2: there is no reputation"),
        ] {
            let (Wrong::Value(error) | Wrong::Unsupported(error)) = read(text, rated).unwrap_err();
            assert!(error.contains(words), "{error}");
        }
        assert!(read("isset,b,type sha256,state missing", false).is_ok());
        let all = sets.all();
        let again = Dataset { name: "names".into(), kind: Kind::Text, save: None, store: Mutex::default() };
        let [_, names, _] = &all[..] else { panic!("{all:?}") };
        again.take_from(names);
        assert_eq!(again.store().values.len(), 2);
        names.save().unwrap();
        let written = std::fs::read_to_string(folder.join("out")).unwrap();
        std::fs::remove_dir_all(&folder).unwrap();
        assert_eq!(written, "Z2hp\nZGVm\n");
    }

    #[test]
    fn values_have_kinds() {
        assert_eq!(Kind::Ip.value(&[10, 0, 0, 1]), Kind::Ip.read("10.0.0.1"));
        assert_eq!(Kind::Ip.write(&Kind::Ip.read("10.0.0.1").unwrap()), "10.0.0.1");
        assert_eq!(
            (Kind::Ipv4.read("fd00::1"), Kind::Hash(2).read("00f"), Kind::Hash(2).value(b"abc")),
            (None, None, None)
        );
        assert_eq!(Kind::Hash(2).read("0aFf").map(|value| Kind::Hash(2).write(&value)), Some("0aff".to_owned()));
        assert_eq!((Kind::Text.read("YWI="), Kind::Text.read("no base64!")), (Some(b"ab".to_vec()), None));
    }

    #[test]
    fn memory_is_bounded() {
        let mut store = Store { bytes: MOST - ENTRY - 1, ..Store::default() };
        assert!(!store.add(b"ab".to_vec(), 0) && store.add(b"a".to_vec(), 0) && store.add(b"a".to_vec(), 0));
    }
}
