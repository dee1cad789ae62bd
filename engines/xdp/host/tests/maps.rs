// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Maps from the host's side: both targets give and refuse the same.
#![allow(clippy::panic, clippy::unwrap_used)]

use std::collections::BTreeMap;

use penstock_device::{
    Design, Device, DeviceError, Image, LiveDevice, PartId, Port, Rate, Request, Root, SoftDevice, Target, Traffic,
    open,
};
use penstock_engine::next_slice;
use serde_json::{Value as Json, json};

const DESIGN: &str = "
[card]
name = \"maps\"
ports = 2
[dispatch]
policy = \"flow-hash\"
[[units]]
engine = \"xdp\"
count = 2
program = \"../engines/xdp/tests/firmware/maps.c\"
";

fn design(root: &Root) -> Design {
    Design::parse(&root.join("designs/maps.toml"), DESIGN).unwrap()
}

fn card(target: Target) -> Box<dyn Device> {
    let root = Root::find().unwrap();
    let mut card = open(&root, &design(&root), target, &mut |_| {}).unwrap();
    assert!(maps(&mut *card).is_empty(), "nothing is loaded");
    card.load(&Image::of(&root, &design(&root)).unwrap()).unwrap();
    card
}

/// Asks the service `map`.
fn ask(card: &mut dyn Device, ask: Json) -> Result<Json, DeviceError> {
    card.call(&Request { service: "map".into(), ask })
}

/// The service's list of all maps.
fn maps(card: &mut dyn Device) -> Vec<Json> {
    ask(card, json!({"do": "list"})).unwrap()["maps"].as_array().unwrap().clone()
}

/// Bits of the numbers that a key or value of a map is made of; the last is that of all that follow. None: it is one
/// number, or bytes.
fn bits_of(map: &str) -> [&'static [usize]; 2] {
    match map.rsplit_once('.').filter(|(group, _)| !group.is_empty()).map_or(map, |(_, name)| name) {
        "flows" => [&[32, 16, 2, 6, 8], &[64, 32, 8]],
        "routes" => [&[32, 8], &[]],
        "limits" => [&[], &[16]],
        "large" => [&[32], &[32]],
        ".data" => [&[], &[64, 8]],
        _ => [&[], &[]],
    }
}

/// Adds the bits of all numbers of a key or value, and whether they are bytes.
fn add_bits(json: &Json, widths: &mut dyn Iterator<Item = usize>, to: &mut Vec<bool>) {
    match json {
        Json::Number(number) => {
            let number = number.as_u64().unwrap_or_else(|| number.as_i64().unwrap() as u64);
            to.extend((0..widths.next().unwrap()).map(|bit| number >> bit & 1 == 1));
        }
        Json::String(text) => {
            let digits = text.strip_prefix("0x").unwrap().as_bytes().chunks(2);
            let bytes = digits.map(|two| u8::from_str_radix(std::str::from_utf8(two).unwrap(), 16).unwrap());
            to.extend(bytes.flat_map(|byte| (0..8).map(move |bit| byte >> bit & 1 == 1)));
        }
        Json::Array(all) => all.iter().for_each(|one| add_bits(one, widths, to)),
        Json::Object(fields) => fields.values().for_each(|one| add_bits(one, widths, to)),
        Json::Null | Json::Bool(_) => panic!("{json}"),
    }
}

/// The bytes of a key or value.
fn bytes_of(json: &Json, bits: &[usize], bytes: usize) -> Vec<u8> {
    let last = bits.last().map_or(8 * bytes, |bits| *bits);
    let mut all = Vec::new();
    add_bits(json, &mut bits.iter().copied().chain(std::iter::repeat(last)), &mut all);
    assert!(all.len() <= 8 * bytes, "{json}");
    all.resize(8 * bytes, false);
    all.chunks(8).map(|bits| bits.iter().rev().fold(0, |byte, bit| byte << 1 | u8::from(*bit))).collect()
}

/// Bytes in memory order.
fn plain(bytes: &[u8]) -> Json {
    json!({"$bytes": bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>()})
}

/// Whether an entry that is set may be there, or must.
#[derive(Clone, Copy)]
enum Store {
    Any,
    New,
    Existing,
}

/// A map of a card, to be worked with by bytes.
struct Worked<'a> {
    card: &'a mut dyn Device,
    name: String,
    about: Json,
}

impl<'a> Worked<'a> {
    fn new(card: &'a mut dyn Device, name: &str) -> Self {
        let about = maps(card).into_iter().find(|map| map["name"] == name).unwrap();
        Self { card, name: name.to_string(), about }
    }

    /// Processors that have values, in maps in which each has its own.
    fn processors(&self) -> Option<(u64, u64)> {
        let both = self.about["processors"].as_array()?;
        Some((both[0].as_u64().unwrap(), both[1].as_u64().unwrap()))
    }

    fn size(&self, what: &str) -> usize {
        self.about[what].as_u64().unwrap() as usize
    }

    fn set_json(&mut self, key: &[u8], value: Json, store: Store) -> Result<(), String> {
        let store = match store {
            Store::Any => "any",
            Store::New => "noexist",
            Store::Existing => "exist",
        };
        let set = json!({"do": "set", "name": self.name, "key": plain(key), "value": value, "store": store});
        let answer = ask(self.card, set).map_err(|error| error.to_string())?;
        assert_eq!(answer, json!({"changed": 1}));
        Ok(())
    }

    /// For maps with a value for each processor, the values of all, one after the other, or a single value for all.
    fn set(&mut self, key: &[u8], value: &[u8], store: Store) -> Result<(), String> {
        let each = self.size("value_bytes");
        let is_list = self.processors().is_some_and(|(first, end)| value.len() == (end - first) as usize * each);
        let value = if is_list { value.chunks(each).map(plain).collect() } else { plain(value) };
        self.set_json(key, value, store)
    }

    fn entries_in(&self, answer: &Json) -> Vec<(Vec<u8>, Vec<u8>)> {
        let [bits_of_key, bits_of_value] = bits_of(&self.name);
        let value = |value: &Json| bytes_of(value, bits_of_value, self.size("value_bytes"));
        let values = |json: &Json| match self.processors() {
            Some(_) => json.as_array().unwrap().iter().flat_map(value).collect(),
            None => value(json),
        };
        let entries = answer["entries"].as_array().unwrap().iter();
        entries
            .map(|entry| (bytes_of(&entry["key"], bits_of_key, self.size("key_bytes")), values(&entry["value"])))
            .collect()
    }

    fn get(&mut self, key: &[u8]) -> Option<Vec<u8>> {
        let get = json!({"do": "get", "name": self.name, "key": plain(key), "optional": true});
        let answer = ask(self.card, get).unwrap();
        let mut found = self.entries_in(&answer);
        assert!(found.iter().all(|(of, _)| of == key) && found.len() < 2, "{found:x?}");
        found.pop().map(|(_, value)| value)
    }

    fn delete(&mut self, key: &[u8]) -> Result<(), String> {
        let delete = json!({"do": "delete", "name": self.name, "key": plain(key)});
        let answer = ask(self.card, delete).map_err(|error| error.to_string())?;
        assert_eq!(answer, json!({"changed": 1}));
        Ok(())
    }

    fn entries(&mut self) -> BTreeMap<Vec<u8>, Vec<u8>> {
        let mut all = Vec::new();
        let mut dump = json!({"do": "dump", "name": self.name});
        loop {
            let answer = ask(self.card, dump.clone()).unwrap();
            all.append(&mut self.entries_in(&answer));
            let Some(next) = next_slice(&dump, &answer) else { break };
            dump = next;
        }
        let (count, by_key) = (all.len(), BTreeMap::from_iter(all));
        assert_eq!(by_key.len(), count, "no key twice");
        by_key
    }
}

#[test]
fn maps_are_listed() {
    for target in [Target::Soft, Target::Rtl] {
        let mut card = card(target);
        let all = maps(&mut *card);
        let shown: Vec<String> = all
            .iter()
            .map(|map| {
                let text = |key: &str| map[key].as_str().unwrap();
                let (kind, name, key, value) = (text("kind"), text("name"), text("key"), text("value"));
                format!("{kind} {name}: {key} to {value}, {} {}", map["max_entries"], map["read_only"])
            })
            .collect();
        for line in [
            "hash flows: struct flow to struct seen, 32 false",
            "lru_hash recent: __be32 to __be16, 64 false",
            "lpm_trie routes: struct prefix to __u32, 16 false",
            "array limits: __u32 to struct limit, 8 false",
            "percpu_array counts: __u32 to __u64, 4 false",
            "percpu_array unused: __u32 to 6 bytes, 2 false",
            "array .rodata: __u32 to struct .rodata, 1 true",
            "array .data: __u32 to struct .data, 1 false",
            "array .bss: __u32 to struct .bss, 1 false",
        ] {
            assert!(shown.iter().any(|shown| shown == line), "{line}: {shown:#?}");
        }
        assert_eq!(shown.len(), 9);
        let counts = all.iter().find(|map| map["name"] == "counts").unwrap();
        assert_eq!(counts["processors"], json!([0, 32]));
        let error = ask(&mut *card, json!({"do": "dump", "name": "flow"})).unwrap_err().to_string();
        assert!(error.starts_with("there is no map `flow`; there are: .rodata, .data, "), "{error}");
    }
}

/// The design with more of it.
fn with(root: &Root, more: &str) -> Design {
    Design::parse(&root.join("designs/maps.toml"), &format!("{DESIGN}{more}")).unwrap()
}

#[test]
fn a_design_says_what_a_program_begins_with() {
    let root = Root::find().unwrap();
    let file = std::env::temp_dir().join(format!("penstock-recent-{}.json", std::process::id()));
    std::fs::write(&file, r#"[["192.0.2.1", 7], {"key": "192.0.2.2", "value": 8}]"#).unwrap();
    let more = format!("[units.xdp.constants]\nmark = 0xBEEF\n[units.xdp.maps]\nrecent = {file:?}\n");
    let design = with(&root, &more);
    let image = Image::of(&root, &design).unwrap();
    for target in [Target::Soft, Target::Rtl] {
        let mut card = open(&root, &design, target, &mut |_| {}).unwrap();
        for _ in 0..2 {
            card.load(&image).unwrap();
            let mut recent = Worked::new(&mut *card, "recent");
            assert_eq!(recent.entries(), [(vec![192, 0, 2, 1], vec![7, 0]), (vec![192, 0, 2, 2], vec![8, 0])].into());
            recent.delete(&[192, 0, 2, 1]).unwrap();
        }
        let mut traffic = Traffic::default();
        traffic.push(Port::Ethernet(0), &[0; 60], 0);
        card.send(&traffic, Rate::Lossless).unwrap();
        let run = card.run(&mut |_| {}).unwrap();
        assert_eq!(run.departures[0].bytes[28..32], 0xBEEF_u32.to_le_bytes());
    }
    std::fs::write(&file, r#"[["192.0.2.1", 65536]]"#).unwrap();
    for (more, told) in [
        (more.as_str(), "entry 1: value of recent: 65536 does not fit"),
        ("[units.xdp.constants]\nmarks = 1", "[units.xdp.constants] names the constant marks, which "),
        ("[units.xdp.constants]\nmark = -1", "maps.c: constant mark: -1 does not fit"),
        ("[units.xdp.maps]\nrecents = \"none.json\"", "[units.xdp.maps] names the map recents, which "),
        ("[units.xdp.maps]\nrecent = \"none.json\"", "none.json: "),
    ] {
        let error = Image::of(&root, &with(&root, more)).unwrap_err().to_string();
        assert!(error.contains(told), "{told}: {error}");
    }
    std::fs::remove_file(&file).unwrap();
}

#[test]
fn entries_come_and_go() {
    for target in [Target::Soft, Target::Rtl] {
        let mut card = card(target);
        let mut flows = Worked::new(&mut *card, "flows");
        let key = |number: u8| [number, 1, 2, 3, 4, 5, 6, 7];
        let value = |number: u8| [number; 16];
        assert!(flows.entries().is_empty());
        for number in 0..32 {
            flows.set(&key(number), &value(number), Store::New).unwrap();
        }
        assert_eq!(flows.entries(), (0..32).map(|n| (key(n).to_vec(), value(n).to_vec())).collect());
        assert_eq!(
            flows.set(&key(40), &value(0), Store::Any).unwrap_err(),
            "flows is full, it takes 32 entries; delete some, or give it more max_entries"
        );
        assert_eq!(flows.set(&key(5), &value(0), Store::New).unwrap_err(), "flows has such an entry already");
        assert_eq!(flows.set(&key(40), &value(0), Store::Existing).unwrap_err(), "flows has no such entry");
        flows.set(&key(5), &value(55), Store::Existing).unwrap();
        flows.set(&key(6), &value(66), Store::Any).unwrap();
        assert_eq!([5, 6, 7].map(|n| flows.get(&key(n)).unwrap()[0]), [55, 66, 7]);
        flows.delete(&key(9)).unwrap();
        assert_eq!((flows.get(&key(9)), flows.entries().len()), (None, 31));
        assert_eq!(flows.delete(&key(9)).unwrap_err(), "flows has no such entry");
        flows.set(&key(40), &value(40), Store::Any).unwrap();
        assert_eq!(flows.get(&key(40)).unwrap(), value(40));
    }
}

#[test]
fn prefixes_arrays_and_variables() {
    for target in [Target::Soft, Target::Rtl] {
        let mut card = card(target);
        let mut routes = Worked::new(&mut *card, "routes");
        for (length, first, mark) in [(8, [10, 0], 1), (16, [10, 1], 2), (0, [0, 0], 3)] {
            routes.set(&[length, 0, 0, 0, first[0], first[1], 0, 0], &[mark, 0, 0, 0], Store::Any).unwrap();
        }
        let mut mark = |length, first, second| routes.get(&[length, 0, 0, 0, first, second, 9, 9]).unwrap()[0];
        assert_eq!([mark(32, 10, 1), mark(32, 10, 2), mark(15, 10, 1), mark(32, 11, 1)], [2, 1, 1, 3]);
        assert!(
            routes.set(&[33, 0, 0, 0, 1, 2, 3, 4], &[0; 4], Store::Any).unwrap_err().contains("routes, an lpm_trie")
        );
        routes.delete(&[8, 0, 0, 0, 10, 0, 0, 0]).unwrap();
        assert_eq!(routes.entries().len(), 2);

        let mut limits = Worked::new(&mut *card, "limits");
        let tenth: Vec<u8> = (0..10).chain([0, 0]).collect();
        limits.set(&[7, 0, 0, 0], &tenth, Store::Any).unwrap();
        assert_eq!((limits.get(&[7, 0, 0, 0]).unwrap(), limits.get(&[8, 0, 0, 0])), (tenth.clone(), None));
        assert_eq!(limits.entries()[&vec![7, 0, 0, 0]], tenth);
        assert_eq!(limits.entries().len(), 8);
        assert_eq!(
            limits.set(&[8, 0, 0, 0], &tenth, Store::Any).unwrap_err(),
            "limits has 8 entries, the last is number 7"
        );
        assert_eq!(limits.set(&[1, 0, 0, 0], &tenth, Store::New).unwrap_err(), "limits has such an entry already");
        assert!(limits.delete(&[7, 0, 0, 0]).unwrap_err().starts_with("limits, an array, refuses that"));
        assert_eq!(
            limits.set(&[1, 0, 0], &tenth, Store::Any).unwrap_err(),
            "key of limits: __u32 has 4 bytes, and these are 3"
        );
        assert_eq!(
            limits.set(&[1, 0, 0, 0], &tenth[1..], Store::Any).unwrap_err(),
            "value of limits: struct limit has 12 bytes, and these are 11"
        );

        let mut data = Worked::new(&mut *card, ".data");
        let mut bytes = data.get(&[0; 4]).unwrap();
        let get = json!({"do": "get", "name": ".data", "key": 0});
        assert_eq!(ask(data.card, get).unwrap()["entries"][0]["value"]["total"], 1000);
        assert!(bytes.len() >= 308);
        bytes.iter_mut().enumerate().for_each(|(at, byte)| *byte = (at % 251) as u8);
        data.set(&[0; 4], &bytes, Store::Existing).unwrap();
        assert_eq!(data.get(&[0; 4]).unwrap(), bytes);
        assert_eq!(data.set(&[0; 4], &bytes, Store::New).unwrap_err(), ".data has such an entry already");

        let mut constants = Worked::new(&mut *card, ".rodata");
        assert_eq!(constants.get(&[0; 4]).unwrap()[..4], 0xC0FFEEu32.to_le_bytes());
        let error = constants.set(&[0; 4], &[0; 4], Store::Any).unwrap_err();
        assert!(error.contains("holds constants"), "{error}");
    }
}

#[test]
fn each_processor_has_its_own() {
    for target in [Target::Soft, Target::Rtl] {
        let mut card = card(target);
        let mut unused = Worked::new(&mut *card, "unused");
        let all: Vec<u8> = (0..32 * 6).collect();
        unused.set(&[1, 0, 0, 0], &all, Store::Any).unwrap();
        assert_eq!(unused.get(&[1, 0, 0, 0]).unwrap(), all);
        assert_eq!(unused.get(&[0; 4]).unwrap(), [0; 192]);
        unused.set(&[0; 4], &[1, 2, 3, 4, 5, 6], Store::Existing).unwrap();
        assert_eq!(unused.get(&[0; 4]).unwrap(), [1, 2, 3, 4, 5, 6].repeat(32));
        assert_eq!(unused.get(&[1, 0, 0, 0]).unwrap(), all);
        assert_eq!((unused.get(&[2, 0, 0, 0]), unused.entries().len()), (None, 2));
        assert!(unused.set(&[0; 4], &[0; 6], Store::New).is_err() && unused.delete(&[0; 4]).is_err());
        let error = unused.set(&[0; 4], &[0; 12], Store::Any).unwrap_err();
        assert_eq!(error, "value of unused: 6 bytes has 6 bytes, and these are 12");
        assert_eq!(unused.about["value"], "6 bytes");
        unused.set_json(&[0; 4], (0..32).collect(), Store::Any).unwrap();
        let each: Vec<u8> = (0..32).flat_map(|number| [number, 0, 0, 0, 0, 0]).collect();
        assert_eq!(unused.get(&[0; 4]).unwrap(), each);
    }
}

/// A card that runs a program of the tests.
fn running(program: &str, target: Target) -> Box<dyn Device> {
    let root = Root::find().unwrap();
    let text = DESIGN.replace("engines/xdp/tests/firmware/maps.c", program);
    let design = Design::parse(&root.join("designs/maps.toml"), &text).unwrap();
    let mut card = open(&root, &design, target, &mut |_| {}).unwrap();
    card.load(&Image::of(&root, &design).unwrap()).unwrap();
    card
}

/// Hash tables with a value for each processor: the host reads and writes all of them.
#[test]
fn tables_of_processors() {
    for target in [Target::Soft, Target::Rtl] {
        let mut card = running("engines/xdp/tests/firmware/each.c", target);
        for (name, key_bytes, value_bytes, entries) in [("small", 4, 8, 8), ("large", 20, 24, 16)] {
            let mut table = Worked::new(&mut *card, name);
            assert_eq!(table.processors(), Some((0, 32)));
            let key = |number: u8| vec![number; key_bytes];
            let all =
                |number: u8| -> Vec<u8> { (0..32 * value_bytes).map(|at| (at as u8).wrapping_mul(number)).collect() };
            assert_eq!(table.set(&key(1), &all(1), Store::Existing).unwrap_err(), format!("{name} has no such entry"));
            for number in 1..4 {
                table.set(&key(number), &all(number), Store::New).unwrap();
            }
            assert_eq!(
                table.set(&key(2), &all(5), Store::New).unwrap_err(),
                format!("{name} has such an entry already")
            );
            table.set(&key(3), &all(7)[..value_bytes], Store::Existing).unwrap();
            let third = all(7)[..value_bytes].repeat(32);
            assert_eq!([1, 2, 3].map(|n| table.get(&key(n)).unwrap()), [all(1), all(2), third.clone()]);
            table.delete(&key(1)).unwrap();
            assert_eq!(table.delete(&key(1)).unwrap_err(), format!("{name} has no such entry"));
            let left = [(key(2), all(2)), (key(3), third)];
            assert_eq!((table.get(&key(1)), table.entries()), (None, left.into()));
            if name == "small" {
                (4..10).for_each(|number| table.set(&key(number), &all(number), Store::Any).unwrap());
                let error = table.set(&key(10), &all(10), Store::Any).unwrap_err();
                assert_eq!(
                    error,
                    format!("small is full, it takes {entries} entries; delete some, or give it more max_entries")
                );
                assert_eq!(table.entries().len(), 8);
            }
        }
    }
}

/// Entries of processors and sockets, of which some exist and some do not.
#[test]
fn entries_that_are_there_or_not() {
    for target in [Target::Soft, Target::Rtl] {
        let mut card = running("engines/xdp/tests/firmware/targets.c", target);
        let key = |number: u32| number.to_le_bytes();
        let mut cpus = Worked::new(&mut *card, "cpus");
        assert!(cpus.entries().is_empty() && cpus.get(&key(2)).is_none());
        cpus.set(&key(2), &key(192), Store::Any).unwrap();
        cpus.set(&key(3), &key(1), Store::Existing).unwrap();
        cpus.set(&key(3), &key(0), Store::Any).unwrap();
        assert_eq!(cpus.entries(), [(key(2).to_vec(), key(192).to_vec())].into());
        assert_eq!(cpus.set(&key(4), &key(1), Store::New).unwrap_err(), "cpus has such an entry already");
        let error = cpus.set(&key(4), &key(16_385), Store::Any).unwrap_err();
        assert_eq!(error, "cpus, a cpumap, refuses that: the number is too large (EOVERFLOW)");
        assert_eq!(cpus.set(&key(6), &key(1), Store::Any).unwrap_err(), "cpus has 6 entries, the last is number 5");
        cpus.delete(&key(2)).unwrap();
        cpus.delete(&key(2)).unwrap();
        assert!(cpus.delete(&key(6)).unwrap_err().ends_with("not valid for a map of this kind (EINVAL)"));
        assert!(cpus.entries().is_empty());
        let error = Worked::new(&mut *card, "devices").set(&key(0), &[2, 0, 0, 0, 7, 0, 0, 0], Store::Any).unwrap_err();
        assert!(error.starts_with("an entry of devices, a devmap, has a program"), "{error}");
        let mut sockets = Worked::new(&mut *card, "sockets");
        assert_eq!(sockets.set(&key(0), &key(0), Store::Existing).unwrap_err(), "sockets has no such entry");
        sockets.set(&key(0), &key(0), Store::New).unwrap();
        assert_eq!(sockets.set(&key(0), &key(1), Store::New).unwrap_err(), "sockets has such an entry already");
        sockets.set(&key(4), &key(9), Store::Any).unwrap();
        assert_eq!(sockets.get(&key(0)).unwrap(), [0; 4]);
        assert_eq!(sockets.entries().len(), 2);
        sockets.delete(&key(0)).unwrap();
        assert_eq!((sockets.get(&key(0)), sockets.entries().len()), (None, 1));
    }
}

/// Maps of maps are shown alike on both targets, and entries are taken out; only the object puts some in.
#[test]
fn maps_of_maps() {
    for target in [Target::Soft, Target::Rtl] {
        let mut card = running("engines/xdp/compiler/tests/objects/inner.c", target);
        let key = |number: u32| number.to_le_bytes();
        let pointer = |card: &mut dyn Device, name: &str| {
            let index = maps(card).iter().position(|map| map["name"] == name).unwrap() as u32;
            key(index + 1).to_vec()
        };
        let [a, b] = ["hash_a", "hash_b"].map(|name| pointer(&mut *card, name));
        let mut hashes = Worked::new(&mut *card, "hashes");
        assert_eq!(hashes.entries(), [(key(1).to_vec(), a), (key(3).to_vec(), b.clone())].into());
        assert!(hashes.set(&key(0), &b, Store::Any).unwrap_err().contains("is filled by the object"));
        hashes.delete(&key(1)).unwrap();
        assert_eq!(hashes.delete(&key(1)).unwrap_err(), "hashes has no such entry");
        assert_eq!((hashes.get(&key(1)), hashes.get(&key(3))), (None, Some(b)));
        let [a, b] = ["array_a", "array_b"].map(|name| pointer(&mut *card, name));
        let mut arrays = Worked::new(&mut *card, "arrays");
        assert_eq!([0, 1, 2, 3].map(|n| arrays.get(&key(n))), [Some(a), Some(b.clone()), Some(b), None]);
        arrays.delete(&key(2)).unwrap();
        assert_eq!((arrays.entries().len(), arrays.delete(&key(2)).is_err()), (2, true));
    }
}

/// Two groups of units that run the same program.
fn two_groups(root: &Root) -> Design {
    let group = |name: &str| {
        format!(
            "[[units]]\nname = \"{name}\"\nengine = \"xdp\"\ncount = 1\nports = true\n\
             program = \"../engines/xdp/tests/firmware/maps.c\"\n"
        )
    };
    let head = "[card]\nname = \"maps\"\nports = 2\n[dispatch]\npolicy = \"round-robin\"\n";
    let text = [head, &group("first"), &group("second")].concat();
    Design::parse(&root.join("designs/maps.toml"), &text).unwrap()
}

/// Each group of units has its own maps, and its processors are those of its units.
#[test]
fn groups_have_their_own() {
    let root = Root::find().unwrap();
    let design = two_groups(&root);
    for target in [Target::Soft, Target::Rtl] {
        let mut card = open(&root, &design, target, &mut |_| {}).unwrap();
        card.load(&Image::of(&root, &design).unwrap()).unwrap();
        let error = ask(&mut *card, json!({"do": "dump", "name": "counts"})).unwrap_err().to_string();
        assert_eq!(error, "several groups of units have a map counts, so say whose: first.counts, second.counts");
        let mut traffic = Traffic::default();
        (0..30).for_each(|_| traffic.push(Port::Ethernet(0), &[0; 60], 0));
        card.send(&traffic, Rate::Lossless).unwrap();
        card.run(&mut |_| {}).unwrap();
        let sum = |value: Vec<u8>| value.chunks(8).map(|value| u64::from(value[0])).sum::<u64>();
        for (name, processors) in [("first", (0, 16)), ("second", (16, 32))] {
            let mut counts = Worked::new(&mut *card, &format!("{name}.counts"));
            assert_eq!(counts.processors(), Some(processors));
            assert_eq!(sum(counts.get(&[0; 4]).unwrap()), 15);
            counts.set(&[0; 4], &[if name == "first" { 10 } else { 11 }, 0, 0, 0, 0, 0, 0, 0], Store::Any).unwrap();
            let flows = Worked::new(&mut *card, &format!("{name}.flows")).entries();
            assert_eq!(flows.into_values().map(|seen| seen[0]).collect::<Vec<_>>(), [15]);
        }
        card.send(&traffic, Rate::Lossless).unwrap();
        card.run(&mut |_| {}).unwrap();
        for (name, all) in [("first", 16 * 10 + 15), ("second", 16 * 11 + 15)] {
            assert_eq!(sum(Worked::new(&mut *card, &format!("{name}.counts")).get(&[0; 4]).unwrap()), all);
        }
    }
}

/// The places of maps on a card in RTL follow from all its groups: images are not combined from others.
#[test]
fn groups_of_different_images_do_not_meet() {
    let root = Root::find().unwrap();
    let design = two_groups(&root);
    let mut card = open(&root, &design, Target::Rtl, &mut |_| {}).unwrap();
    let image = Image::of(&root, &design).unwrap();
    card.load(&image).unwrap();
    let mut second = Image::of(&root, &design).unwrap().groups.swap_remove(0);
    (second.part, second.units) = (PartId::Units(1), 1..2);
    let groups = vec![image.groups[0].clone(), second];
    let error = card.load(&Image { groups, ..image }).unwrap_err().to_string();
    assert!(error.contains("maps of two groups of units lie in the same place"), "{error}");
}

/// The swap happens between two frames, so that each frame is in the counts once; the next program continues the
/// counts.
#[test]
fn a_swap_keeps_maps() {
    let root = Root::find().unwrap();
    let folder = std::env::temp_dir().join(format!("penstock-swap-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let text = std::fs::read_to_string(root.join("engines/xdp/tests/firmware/maps.c")).unwrap();
    let next = text.replace("max_entries, 32)", "max_entries, 31)").replace("short slack", "unsigned short slack");
    std::fs::write(folder.join("next.c"), next.replace("0xC0FFEE", "0xBEEF")).unwrap();
    let other = DESIGN.replace("../engines/xdp/tests/firmware/maps.c", "next.c");
    let image = Image::of(&root, &Design::parse(&folder.join("maps.toml"), &other).unwrap()).unwrap();
    std::fs::remove_dir_all(folder).unwrap();

    let mut card = SoftDevice::open(&design(&root)).unwrap();
    card.load(&Image::of(&root, &design(&root)).unwrap()).unwrap();
    Worked::new(&mut card, "routes").set(&[0; 8], &[9, 0, 0, 0], Store::Any).unwrap();
    Worked::new(&mut card, "limits").set(&[0; 4], &[7; 12], Store::Any).unwrap();
    let pass = |card: &mut SoftDevice, constant: u32| {
        (0..5).for_each(|_| card.push(Port::Ethernet(0), &[0; 60]).unwrap());
        let marks: Vec<_> = card.pump().map(|(_, bytes)| [bytes[20], bytes[28], bytes[29]]).collect();
        assert_eq!(marks, vec![[9, constant as u8, (constant >> 8) as u8]; 5]);
    };
    pass(&mut card, 0xC0FFEE);
    let mut kept = card.swap(&image.groups[0]).unwrap();
    kept.sort();
    let told: Vec<_> = kept.iter().map(|(name, kept)| (name.as_str(), *kept)).collect();
    let expected = [".bss", ".data", "counts", "flows", "limits", "recent", "routes", "unused"]
        .map(|name| (name, !["flows", "limits"].contains(&name)));
    assert_eq!(told, expected);
    pass(&mut card, 0xBEEF);
    let count = |card: &mut SoftDevice, name: &str| -> u64 {
        let values = Worked::new(card, name).get(&[0; 4]).unwrap();
        values.chunks_exact(8).map(|value| u64::from_le_bytes(value.try_into().unwrap())).sum()
    };
    assert_eq!(count(&mut card, "counts"), 10);
    assert_eq!(Worked::new(&mut card, "recent").entries().len(), 1);
    assert_eq!(Worked::new(&mut card, "flows").entries().into_values().next().unwrap()[0], 5);
    assert_eq!(Worked::new(&mut card, "limits").get(&[0; 4]).unwrap(), [0; 12]);
    // Its constants are its own; and a map that was kept can be filled and emptied.
    assert_eq!(Worked::new(&mut card, ".rodata").get(&[0; 4]).unwrap()[..4], 0xBEEFu32.to_le_bytes());
    let mut routes = Worked::new(&mut card, "routes");
    routes.delete(&[0; 8]).unwrap();
    assert_eq!(routes.get(&[0; 8]), None);
}

/// A new program of the same object has new maps, and the old ones are gone.
#[test]
fn a_map_goes_with_its_program() {
    for target in [Target::Soft, Target::Rtl] {
        let mut card = card(target);
        Worked::new(&mut *card, "recent").set(&[1, 2, 3, 4], &[5, 6], Store::Any).unwrap();
        let mut traffic = Traffic::default();
        traffic.push(Port::Ethernet(0), &[0; 60], 0);
        card.send(&traffic, Rate::Lossless).unwrap();
        card.run(&mut |_| {}).unwrap();
        assert_eq!(Worked::new(&mut *card, "recent").entries().len(), 2);
        let root = Root::find().unwrap();
        card.load(&Image::of(&root, &design(&root)).unwrap()).unwrap();
        let mut recent = Worked::new(&mut *card, "recent");
        assert!(recent.get(&[1, 2, 3, 4]).is_none() && recent.entries().is_empty());
    }
}
