// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Sets of values that rules ask for and change: `dataset` and `datarep`.

use std::collections::HashMap;
use std::fs::File;
use std::io::{Read, Write};
use std::net::IpAddr;
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use penstock_app::base64;

use crate::byte_ops::Wrong;
use crate::numbers::{number, within};
use crate::rule::Within;

/// Bytes of the file of a set, and bytes of the values of all sets together, with [`ENTRY`] for each value.
const MOST: usize = 64 << 20;
/// Memory that a value needs beside its bytes.
const ENTRY: usize = 64;

/// The kind of the values of a set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
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

    /// The value that a buffer stands for. No bytes stand for none: a file has no line for them.
    fn value(self, bytes: &[u8]) -> Option<Vec<u8>> {
        match (self, bytes.len()) {
            (_, 0) => None,
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
                let bytes = Some(bytes).filter(|bytes| !bytes.is_empty())?;
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

/// The answer of a set about a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct About {
    /// 0 unless a file gives another.
    reputation: u16,
    /// A rule has added the value: no file has it.
    learned: bool,
}

/// The values of a set.
#[derive(Debug, Default)]
struct Store {
    values: HashMap<Vec<u8>, About>,
    changed: bool,
    /// Values for which there was no room.
    missed: u64,
    /// Bytes of all sets, which share it.
    used: Arc<AtomicUsize>,
}

impl Store {
    /// Adds a value; false if there is no room.
    fn add(&mut self, value: Vec<u8>, about: About) -> bool {
        if self.values.contains_key(&value) {
            return true;
        }
        let with = |used: usize| Some(used + value.len() + ENTRY).filter(|used| *used <= MOST);
        if self.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, with).is_err() {
            return false;
        }
        self.values.insert(value, about);
        true
    }
}

impl Store {
    fn has_room(&self, value: &[u8]) -> bool {
        self.used.load(Ordering::Relaxed) + value.len() + ENTRY <= MOST
    }

    /// Bytes of its values.
    fn bytes(&self) -> usize {
        self.values.keys().map(|value| value.len() + ENTRY).sum()
    }
}

/// A set of values, which all rules share that name it.
#[derive(Debug)]
pub struct Dataset {
    name: String,
    kind: Kind,
    /// The file that the values were read from.
    load: Option<PathBuf>,
    /// The file that the values are written to at the end of a run.
    save: Option<Target>,
    store: Mutex<Store>,
}

impl Dataset {
    fn store(&self) -> std::sync::MutexGuard<'_, Store> {
        // No method leaves a store half changed.
        self.store.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Its name in rules.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether both sets are written to the same file, if to any.
    #[must_use]
    pub fn is_kept_as(&self, other: &Self) -> bool {
        self.save == other.save
    }

    /// Takes over what another set has learned if it has the same name and kind, so that rules that are loaded anew go
    /// on with it. A set that both write to one file goes on as a whole. Otherwise values that the file of the other set
    /// alone has are gone.
    pub fn take_from(&self, other: &Self) {
        if self.name != other.name || self.kind != other.kind || std::ptr::eq(self, other) {
            return;
        }
        let mut theirs = other.store();
        let mut own = self.store();
        if self.save.is_some() && self.save == other.save {
            let before = own.bytes();
            (own.values, own.changed) = (std::mem::take(&mut theirs.values), theirs.changed);
            let behind = own.bytes();
            theirs.used.fetch_sub(behind, Ordering::Relaxed);
            own.used.fetch_add(behind, Ordering::Relaxed);
            own.used.fetch_sub(before, Ordering::Relaxed);
            return;
        }
        for (value, about) in theirs.values.iter().filter(|(_, about)| about.learned) {
            let added = own.add(value.clone(), *about);
            own.changed |= added;
            own.missed += u64::from(!added);
        }
    }

    /// Values for which there was no room, which are then counted anew if `anew`.
    #[must_use]
    pub fn missed(&self, anew: bool) -> u64 {
        let mut store = self.store();
        if anew { std::mem::take(&mut store.missed) } else { store.missed }
    }

    /// Writes the values to the file that the rules name with `save` or `state`, if they have changed. Whoever reads it
    /// meanwhile finds the old file or the new one.
    ///
    /// # Errors
    /// The file cannot be written: the error names it.
    pub fn save(&self) -> std::io::Result<()> {
        let Some(target) = &self.save else { return Ok(()) };
        let mut store = self.store();
        if !store.changed {
            return Ok(());
        }
        let line = |(value, about): (&Vec<u8>, &About)| match about.reputation {
            0 => self.kind.write(value) + "\n",
            reputation => format!("{},{reputation}\n", self.kind.write(value)),
        };
        let mut lines: Vec<String> = store.values.iter().map(line).collect();
        lines.sort_unstable();
        target.write(&lines.concat())?;
        store.changed = false;
        Ok(())
    }
}

/// The question of a rule to a set.
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
        let mut store = self.set.store();
        let found = store.values.get(&value);
        match self.ask {
            Ask::Set => {
                let is_new = found.is_none();
                let has_room = store.has_room(&value);
                store.missed += u64::from(is_new && !has_room);
                is_new && has_room
            }
            Ask::Unset | Ask::IsSet => found.is_some(),
            Ask::IsNotSet => found.is_none(),
            Ask::Reputation(within) => found.is_some_and(|about| within.holds(about.reputation.into())),
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
            Ask::Set => store.changed |= store.add(value, About { reputation: 0, learned: true }),
            Ask::Unset if store.values.remove(&value).is_some() => {
                store.used.fetch_sub(value.len() + ENTRY, Ordering::Relaxed);
                store.changed = true;
            }
            _ => {}
        }
    }
}

/// The sets of all rules by name.
#[derive(Debug, Default)]
pub(crate) struct Datasets {
    sets: HashMap<String, Arc<Dataset>>,
    /// The folder that sets are written to.
    kept: Option<PathBuf>,
    /// Bytes of all sets.
    used: Arc<AtomicUsize>,
}

impl Datasets {
    /// No sets. `kept`: the folder that sets may be written to.
    pub(crate) fn new(kept: Option<PathBuf>) -> Self {
        Self { kept, ..Self::default() }
    }

    /// All of them, in the order of their names.
    pub(crate) fn all(self) -> Vec<Arc<Dataset>> {
        let mut all: Vec<Arc<Dataset>> = self.sets.into_values().collect();
        all.sort_by(|left, right| left.name.cmp(&right.name));
        all
    }

    /// The value of `dataset`, or of `datarep` if `rated`: `COMMAND,NAME[,type KIND][,load|save|state FILE]`. The file
    /// of `load` lies in `folder`, those of `save` and `state` in the folder of sets.
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
                ("load", value) => load = Some((inside(folder, value, RULES)?, true)),
                ("save", value) => save = Some(self.target(folder, value)?),
                ("state", value) => {
                    let target = self.target(folder, value)?;
                    (load, save) = (Some((target.checked()?, false)), Some(target));
                }
                // The bound is the same for all sets.
                ("memcap" | "hashsize", _) => {}
                (other, _) => return Err(Wrong::Unsupported(format!("the option `{other}` is not supported"))),
            }
        }
        if rated && save.is_some() {
            return Err(Wrong::Value("reputations are not written: leave save and state out".to_owned()));
        }
        let path = load.as_ref().map(|(path, _)| path);
        let set = match (self.sets.get(name), kind) {
            (Some(known), kind)
                if kind.is_none_or(|kind| kind == known.kind)
                    && (path.is_none() || path == known.load.as_ref())
                    && (save.is_none() || save == known.save) =>
            {
                Arc::clone(known)
            }
            (Some(_), _) => {
                return Err(Wrong::Value(format!("another rule gives the set `{name}` another type or file")));
            }
            (None, None) => return Err(Wrong::Value(format!("no rule before this gives the set `{name}` a type"))),
            (None, Some(kind)) => {
                if let Some(other) = self.sets.values().find(|other| save.is_some() && other.save == save) {
                    let message = format!("the set `{}` is written to the same file: each has its own", other.name);
                    return Err(Wrong::Value(message));
                }
                let mut store = Store { used: Arc::clone(&self.used), ..Store::default() };
                if let Some((path, must)) = &load
                    && let Err(wrong) = fill(&mut store, path, *must, kind, rated)
                {
                    self.used.fetch_sub(store.bytes(), Ordering::Relaxed);
                    return Err(wrong);
                }
                let load = load.map(|(path, _)| path);
                let set = Arc::new(Dataset { name: name.to_owned(), kind, load, save, store: Mutex::new(store) });
                self.sets.insert(name.to_owned(), Arc::clone(&set));
                set
            }
        };
        Ok(DatasetUse { set, ask })
    }

    /// The file that a rule names with `save` or `state`. Rules of others must not write over files of the user, so it
    /// lies in a folder that has nothing else.
    fn target(&self, rules: &Path, name: &str) -> Result<Target, Wrong> {
        let Some(kept) = &self.kept else {
            let message = "save and state need a folder that sets are written to: set ids.datasets, or --datasets";
            return Err(Wrong::Value(message.to_owned()));
        };
        let folder = real(kept)?;
        if real(rules)?.starts_with(&folder) {
            let message = format!("{}: the rules lie here: {KEPT} has sets alone", kept.display());
            return Err(Wrong::Value(message));
        }
        let path = inside(&folder, name, KEPT)?;
        let above = real(path.parent().unwrap_or(&folder))?;
        let target = Target { path: above.join(path.file_name().unwrap_or_default()), folder };
        target.checked()?;
        Ok(target)
    }
}

/// Where a file of a set lies, in messages.
const RULES: &str = "the folder of the rules";
const KEPT: &str = "the folder that ids.datasets names";

/// A file that a set is written to.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Target {
    /// The folder of sets, without links.
    folder: PathBuf,
    /// The file, whose folder is without links.
    path: PathBuf,
}

impl Target {
    /// The path, as long as neither it nor its folder is a link to a place outside of the folder of sets.
    fn checked(&self) -> Result<PathBuf, Wrong> {
        let is_free = match std::fs::symlink_metadata(&self.path) {
            Ok(about) => about.is_file(),
            Err(error) => error.kind() == std::io::ErrorKind::NotFound,
        };
        let above = self.path.parent().and_then(|above| above.canonicalize().ok());
        if is_free && above.is_some_and(|above| above.starts_with(&self.folder)) {
            return Ok(self.path.clone());
        }
        Err(Wrong::Value(format!("{}: this is no regular file in {KEPT}", self.path.display())))
    }

    /// Writes a file beside it, which then takes its name: a link that has the name is replaced and not followed.
    fn write(&self, text: &str) -> std::io::Result<()> {
        let failed =
            |error: std::io::Error| std::io::Error::new(error.kind(), format!("{}: {error}", self.path.display()));
        let path = self.checked().map_err(|_| failed(std::io::ErrorKind::InvalidInput.into()))?;
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let beside = path.with_file_name(format!(".{name}.{}", std::process::id()));
        // Files that a process with this number has left.
        let _ = std::fs::remove_file(&beside);
        let written = File::create_new(&beside).and_then(|mut file| {
            file.write_all(text.as_bytes())?;
            file.sync_all()?;
            std::fs::rename(&beside, &path)
        });
        written.map_err(|error| {
            let _ = std::fs::remove_file(&beside);
            failed(error)
        })
    }
}

/// The path of a file by its name in a rule, which must not lead out of a folder.
fn inside(folder: &Path, name: &str, place: &str) -> Result<PathBuf, Wrong> {
    let name = Path::new(name.trim_matches('"'));
    let outside = || Wrong::Value(format!("`{}`: this file has to lie in {place} or below it", name.display()));
    let is_inside = name.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    if name.file_name().is_none() || !is_inside {
        return Err(outside());
    }
    let folder = real(folder)?;
    let path = folder.join(name);
    match path.canonicalize() {
        // A link may lead anywhere.
        Ok(real) if !real.starts_with(&folder) => Err(outside()),
        _ => Ok(path),
    }
}

/// A folder without links.
fn real(folder: &Path) -> Result<PathBuf, Wrong> {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    folder.canonicalize().map_err(|error| Wrong::Value(format!("{}: {error}", folder.display())))
}

/// Adds the values in a file; none if it need not exist and does not.
fn fill(store: &mut Store, path: &Path, must: bool, kind: Kind, rated: bool) -> Result<(), Wrong> {
    let failed = |error: std::io::Error| Wrong::Value(format!("{}: {error}", path.display()));
    let file = match std::fs::metadata(path) {
        Ok(about) if about.is_file() => File::open(path).map_err(failed)?,
        // A device or a pipe may have no end.
        Ok(_) => return Err(Wrong::Value(format!("{}: this is no regular file", path.display()))),
        Err(error) if !must && error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(failed(error)),
    };
    let mut text = String::new();
    file.take(MOST as u64 + 1).read_to_string(&mut text).map_err(failed)?;
    let too_large = || Wrong::Value(format!("{}: sets have {} MiB at most, all together", path.display(), MOST >> 20));
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
        if !store.add(value, About { reputation, learned: false }) {
            return Err(too_large());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder with rules and one below it for sets.
    fn folders(name: &str) -> (PathBuf, PathBuf) {
        let folder = std::env::temp_dir().join(format!("penstock-sets-{name}-{}", std::process::id()));
        let kept = folder.join("kept");
        std::fs::create_dir_all(&kept).unwrap();
        (folder, kept)
    }

    fn refused(read: Result<DatasetUse, Wrong>, words: &str) {
        let (Wrong::Value(error) | Wrong::Unsupported(error)) = read.unwrap_err();
        assert!(error.contains(words), "{error}");
    }

    #[test]
    fn sets_are_read_changed_and_written() {
        let (folder, kept) = folders("read");
        std::fs::write(folder.join("names"), "# a comment\nYWJj\n\nZGVm\n").unwrap();
        std::fs::write(folder.join("rated"), "10.0.0.1,7\nfd00::1,900\n").unwrap();
        let mut sets = Datasets::new(Some(kept.clone()));
        let mut read = |text: &str, rated| sets.read(text, rated, &folder);
        let set = read("set,names,type string,load names,save out", false).unwrap();
        let has = read("isset,names", false).unwrap();
        assert!(has.holds(b"abc") && !has.holds(b"ghi") && set.holds(b"ghi") && !set.holds(b"abc"));
        assert!(set.is_change() && !has.is_change());
        // No line of a file stands for no bytes.
        assert!(!set.holds(b"") && !has.holds(b""));
        set.change(b"");
        set.change(b"ghi");
        read("unset,names", false).unwrap().change(b"abc");
        assert!(has.holds(b"ghi") && !has.holds(b"abc") && read("isnotset,names", false).unwrap().holds(b"abc"));
        let high = read("rated,>,100,type ip,load rated", true).unwrap();
        assert!(!high.holds(&[10, 0, 0, 1]) && high.holds(&Kind::Ip.read("fd00::1").unwrap()));
        assert!(read("isset,names,load ./names,save out", false).is_ok());
        for (text, rated, words) in [
            ("isset,others", false, "gives the set `others` a type"),
            ("isset,names,type md5", false, "another type"),
            ("isset,names,load rated", false, "another type or file"),
            ("isset,names,save other", false, "another type or file"),
            ("isset,names,state out", false, "another type or file"),
            ("isset,a,type string,save ./out", false, "the set `names` is written to the same file"),
            ("isset,a,type string,load ../names", false, "in the folder of the rules"),
            ("isset,a,type string,load /dev/zero", false, "in the folder of the rules"),
            ("isset,a,type string,save ../names", false, "in the folder that ids.datasets names"),
            ("isset,a,type string,save none/names", false, "none: "),
            ("isset,a,type md5,load names", false, "names:2: `YWJj` is no value"),
            ("isset,a,type string,load missing", false, "missing: "),
            ("a,>,1,type string,load names", true, "names:2: there is no reputation"),
        ] {
            refused(read(text, rated), words);
        }
        assert!(read("isset,b,type sha256,state missing", false).is_ok());
        let rated = read("set,c,type ip,load rated,save rated", false).unwrap();
        rated.change(&[10, 0, 0, 2]);
        for set in sets.all() {
            set.save().unwrap();
        }
        let written = ["out", "rated"].map(|name| std::fs::read_to_string(kept.join(name)).unwrap());
        let left = std::fs::read_dir(&kept).unwrap().count();
        std::fs::remove_dir_all(&folder).unwrap();
        assert_eq!(written, ["Z2hp\nZGVm\n", "10.0.0.1,7\n10.0.0.2\nfd00::1,900\n"]);
        assert_eq!(left, 2);
    }

    /// Rules of others write over no file outside of the folder of sets, and read none outside of their own.
    #[test]
    fn links_lead_nowhere() {
        let (folder, kept) = folders("links");
        let mine = folder.join("my.rules");
        std::fs::write(&mine, "mine").unwrap();
        for (link, to) in [("kept/out", "../my.rules"), ("kept/up", ".."), ("etc", "/etc")] {
            std::os::unix::fs::symlink(to, folder.join(link)).unwrap();
        }
        let mut sets = Datasets::new(Some(kept.clone()));
        for (text, words) in [
            ("set,a,type string,save out", "in the folder that ids.datasets names"),
            ("set,a,type string,state up/my.rules", "in the folder that ids.datasets names"),
            ("set,a,type string,save up/new", "no regular file in the folder that ids.datasets names"),
            ("set,a,type string,load etc/passwd", "in the folder of the rules"),
        ] {
            refused(sets.read(text, false, &folder), words);
        }
        // A link that comes later is not followed either.
        let late = sets.read("set,a,type string,save late", false, &folder).unwrap();
        late.change(b"value");
        std::os::unix::fs::symlink("../my.rules", kept.join("late")).unwrap();
        assert!(late.set.save().is_err());
        for (datasets, words) in [(None, "set ids.datasets"), (Some(folder.clone()), "the rules lie here")] {
            refused(Datasets::new(datasets).read("set,a,type string,save my.rules", false, &folder), words);
        }
        let text = std::fs::read_to_string(&mine).unwrap();
        std::fs::remove_dir_all(&folder).unwrap();
        assert_eq!(text, "mine");
    }

    /// Sets of rules that are loaded anew.
    #[test]
    fn sets_go_on_with_what_they_have_learned() {
        let (folder, kept) = folders("anew");
        let load = |options: &str, lines: &str| {
            std::fs::write(folder.join("names"), lines).unwrap();
            let mut sets = Datasets::new(Some(kept.clone()));
            sets.read(&format!("set,names,type string,load names{options}"), false, &folder).unwrap()
        };
        for (options, has_gone) in [("", false), (",save out", true)] {
            let old = load(options, "YWJj\n");
            old.change(b"ghi");
            // Someone has taken `abc` out of the file.
            let new = load(options, "ZGVm\n");
            new.set.take_from(&old.set);
            let has = |value: &[u8]| new.set.store().values.contains_key(value);
            assert_eq!((has(b"abc"), has(b"def"), has(b"ghi")), (has_gone, !has_gone, true), "{options}");
        }
        std::fs::remove_dir_all(&folder).unwrap();
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
        let mut sets = Datasets::default();
        let mut read = |text: &str| sets.read(text, false, Path::new("")).unwrap();
        let (one, other) = (read("set,one,type string"), read("set,other,type string"));
        // Another set has the rest.
        one.set.store().used.store(MOST - ENTRY - 1, Ordering::Relaxed);
        assert!(!other.holds(b"ab") && other.set.missed(true) == 1);
        assert!(other.holds(b"a") && other.set.missed(false) == 0);
        other.change(b"a");
        other.change(b"a");
        assert!(!one.holds(b"b") && one.set.missed(false) == 1);
        read("unset,other").change(b"a");
        assert!(one.holds(b"b"));
    }
}
