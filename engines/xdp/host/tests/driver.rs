// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The driver with units in native code, through the engines' contract alone.
#![allow(clippy::unwrap_used)]

mod common;

use std::sync::Arc;

use common::{Card, Folder, begins, call, compile, compile_one, load, load_all};
use penstock_engine::{Driver, ErrorKind, Image, UnitCounters};
use penstock_xdp_host::maps::{Map, MapError, Store};
use penstock_xdp_host::rows::RowImage;
use penstock_xdp_host::{GroupSettings, Value, XdpDriver, XdpImage};
use serde_json::{Value as Json, json};

/// Counts frames in entry 7 of `seen` and prints a line for each.
const SOURCE: &str = r#"
#include <bpf.h>
#define MAP(name, kind, of, entries) \
  struct { __uint(type, kind); __type(key, __u32); __type(value, of); __uint(max_entries, entries); } name SEC(".maps")
MAP(seen, BPF_MAP_TYPE_HASH, __u64, 4);
MAP(LIMITS, BPF_MAP_TYPE_ARRAY, __u32, 2);
SEC("xdp") int counts(struct xdp_md *ctx) {
  __u32 key = 7, zero = 0;
  __u64 *count = bpf_map_lookup_elem(&seen, &key);
  __u32 *limit = bpf_map_lookup_elem(&LIMITS, &zero);
  if (count && limit) *count += 1;
  bpf_printk("hello");
  return XDP_DROP;
}
char _license[] SEC("license") = "GPL";
"#;

/// Entries of the map `seen`, sorted by key.
fn seen(card: &mut Card, driver: &mut dyn Driver) -> Vec<(u64, u64)> {
    let answer = call(card, driver, "map", json!({"do": "dump", "name": "seen"})).unwrap();
    let number = |value: &Json| value.as_u64().unwrap();
    let entries = answer["entries"].as_array().unwrap().iter();
    let mut all: Vec<_> = entries.map(|entry| (number(&entry["key"]), number(&entry["value"]))).collect();
    all.sort_unstable();
    all
}

#[test]
fn the_service_lists_reads_and_changes_maps() {
    let folder = Folder::new();
    let program = folder.write("counts.c", SOURCE);
    let image = compile_one(&program, &begins("seen", folder.write("seen.json", "[[7, 100]]")));
    assert_eq!((image.name(), image.tables().join(" ")), (Some("counts"), "seen LIMITS .rodata".into()));
    assert!(image.elf().starts_with(b"\x7fELF"));
    let (mut card, mut driver) = Card::new();
    let list = json!({"do": "list"});
    assert_eq!(call(&mut card, &mut *driver, "map", list.clone()).unwrap(), json!({"maps": []}));
    load_all(&mut card, &mut *driver, &image);
    card.push(0, 3);
    card.push(1, 2);
    let mut ask = |ask: Json| call(&mut card, &mut *driver, "map", ask);
    let about = &ask(list).unwrap()["maps"][0];
    let wanted = json!({"name": "seen", "kind": "hash", "key": "__u32", "key_bytes": 4, "value": "__u64",
        "value_bytes": 8, "max_entries": 4, "read_only": false, "has_records": false});
    assert_eq!(*about, wanted);
    let get = ask(json!({"do": "get", "name": "seen", "key": 7})).unwrap();
    assert_eq!(get, json!({"map": wanted, "entries": [{"key": 7, "value": 105}]}));
    let fill = json!({"do": "fill", "name": "seen", "file": "more.json", "entries": [[1, 2], ["3", 4]]});
    assert_eq!(ask(fill).unwrap(), json!({"changed": 2}));
    let set = |key: u8, store: &str| json!({"do": "set", "name": "seen", "key": key, "value": 9, "store": store});
    assert_eq!(ask(set(1, "exist")).unwrap(), json!({"changed": 1}));
    assert_eq!(ask(json!({"do": "delete", "name": "seen", "key": 3})).unwrap(), json!({"changed": 1}));
    let again = json!({"do": "delete", "name": "seen", "key": 3, "optional": true});
    assert_eq!(ask(again).unwrap(), json!({"changed": 0}));
    let none = json!({"do": "get", "name": "seen", "key": 3, "optional": true});
    assert_eq!(ask(none).unwrap()["entries"], json!([]));
    for (wrong, told) in [
        (set(1, "noexist"), "seen has such an entry already"),
        (set(2, "exist"), "seen has no such entry"),
        (json!({"do": "get", "name": "seen", "key": 3}), "seen has no such entry"),
        (json!({"do": "delete", "name": "seen", "key": 3}), "seen has no such entry"),
        (json!({"do": "get", "name": "sene", "key": 3}), "there is no map `sene`; there are: seen, LIMITS, .rodata"),
        (json!({"do": "get", "name": "seen", "key": null}), "null is no key and no value"),
        (json!({"do": "take", "name": "seen"}), "seen has entries and no records: it is a hash"),
        (json!({"do": "set", "name": "LIMITS", "key": 2, "value": 0}), "LIMITS has 2 entries, the last is number 1"),
        (
            json!({"do": "fill", "name": "seen", "file": "f.json", "entries": [[5, 6], [7, -1]]}),
            "f.json: entry 2: value of seen: -1 does not fit",
        ),
        (json!({"do": "drop", "name": "seen"}), "not a request to the service `map`"),
        (json!({"do": "list", "names": "seen"}), "not a request to the service `map`"),
    ] {
        let error = ask(wrong).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Service("map"), "{error}");
        assert!(error.to_string().contains(told), "{error}");
    }
    assert_eq!(seen(&mut card, &mut *driver), [(1, 9), (7, 105)], "requests that fail change nothing");
    // The same through types.
    let driver = XdpDriver::of(&mut *driver).unwrap();
    let mut maps = driver.maps(&mut card);
    let map = maps.find("seen").unwrap();
    assert_eq!(maps.get(&map, &1u32.to_le_bytes()).unwrap(), Some(9u64.to_le_bytes().to_vec()));
    let mut counters = UnitCounters { aborted: 5, ..UnitCounters::default() };
    driver.count(&mut card, 0, &mut counters).unwrap();
    assert_eq!((counters.aborted, counters.wild), (0, 0));
    let error = call(&mut card, driver, "maps", Json::Null).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Unsupported);
}

/// The API for programs in Rust, which pass bytes.
#[test]
fn bytes_of_another_size_and_maps_that_are_gone_are_refused() {
    let folder = Folder::new();
    let each = "MAP(each, BPF_MAP_TYPE_PERCPU_ARRAY, __u64, 2);\nSEC(\"xdp\")";
    let text = SOURCE.replace("SEC(\"xdp\")", each).replace(
        "if (count && limit)",
        "__u64 *own = bpf_map_lookup_elem(&each, &zero);\n  if (own) *own += 1;\n  if (count && limit)",
    );
    let program = folder.write("counts.c", &text);
    let [first, second] = [(); 2].map(|()| compile_one(&program, &GroupSettings::default()));
    let (mut card, mut driver) = Card::new();
    load_all(&mut card, &mut *driver, &first);
    let of_xdp = XdpDriver::of(&mut *driver).unwrap();
    let mut maps = of_xdp.maps(&mut card);
    let [limits, each] = ["LIMITS", "each"].map(|name| maps.find(name).unwrap());
    let mut refused =
        |map: &Map, key: &[u8], value: &[u8]| maps.set(map, key, value, Store::Any).unwrap_err().to_string();
    assert_eq!(refused(&limits, &[1, 0, 0], &[0; 4]), "a key of LIMITS has 4 B (__u32), this one 3 B");
    assert_eq!(refused(&limits, &[1, 0, 0, 0], &[0; 3]), "a value of LIMITS has 4 B (__u32), this one 3 B");
    let told = "a value of each has 8 B, for all processors 256 B (__u64), this one 16 B";
    assert_eq!(refused(&each, &[0; 4], &[0; 16]), told);
    assert_eq!(each.processors, Some(0..32));
    assert_eq!(each.value(&Value::List((0..32).map(Value::Int).collect())).unwrap().len(), 256);
    assert_eq!(each.value(&Value::Bytes(vec![9; 8])).unwrap(), [9; 8]);
    let error = maps.get(&limits, &[0; 3]).unwrap_err().to_string();
    assert_eq!(error, "a key of LIMITS has 4 B (__u32), this one 3 B");
    maps.set(&limits, &[1, 0, 0, 0], &[5, 6, 7, 8], Store::Existing).unwrap();
    assert_eq!(maps.get(&limits, &[1, 0, 0, 0]).unwrap(), Some(vec![5, 6, 7, 8]));
    // A new program of the same object has new maps.
    load_all(&mut card, &mut *driver, &second);
    let mut maps = XdpDriver::of(&mut *driver).unwrap().maps(&mut card);
    assert!(matches!(maps.get(&limits, &[1, 0, 0, 0]), Err(MapError::Gone(_))));
    let now = maps.find("LIMITS").unwrap();
    assert_eq!(maps.get(&now, &[1, 0, 0, 0]).unwrap(), Some(vec![0; 4]));
}

#[test]
fn units_that_join_share_maps_and_a_new_program_begins_anew() {
    let folder = Folder::new();
    let program = folder.write("counts.c", SOURCE);
    let settings = begins("seen", folder.write("seen.json", "[[7, 100]]"));
    let [first, second] = [(); 2].map(|()| compile_one(&program, &settings));
    let (mut card, mut driver) = Card::new();
    load_all(&mut card, &mut *driver, &first);
    card.push(0, 3);
    load(&mut card, &mut *driver, 0b01, true, &first);
    card.push(0, 1);
    card.push(1, 1);
    assert_eq!(seen(&mut card, &mut *driver), [(7, 105)]);
    // No other unit runs this one yet.
    load(&mut card, &mut *driver, 0b01, true, &second);
    card.push(1, 1);
    card.push(0, 1);
    assert_eq!(seen(&mut card, &mut *driver), [(7, 101)]);
    load(&mut card, &mut *driver, 0b10, true, &second);
    card.push(1, 1);
    assert_eq!(seen(&mut card, &mut *driver), [(7, 102)]);
}

#[test]
fn a_swap_keeps_maps_and_one_that_fails_changes_nothing() {
    let folder = Folder::new();
    let program = folder.write("counts.c", SOURCE);
    let other = folder.write("other.c", &SOURCE.replace("LIMITS", "bounds"));
    let entries = folder.write("entries.json", "[[7, 100]]");
    let first = compile_one(&program, &begins("seen", entries.clone()));
    let mut settings = begins("seen", entries);
    settings.maps.insert("bounds".into(), folder.write("bounds.json", "[[1, 11]]"));
    let second = compile_one(&other, &settings);
    let five = folder.write("five.json", "[[1, 1], [2, 1], [3, 1], [4, 1], [5, 1]]");
    let third = compile_one(&other, &begins("seen", five));
    let (mut card, mut driver) = Card::new();
    load_all(&mut card, &mut *driver, &first);
    card.push(0, 3);
    let error = driver.swap(&mut card, 0, &*third).unwrap_err();
    assert!(error.to_string().contains("seen is full, it takes 4 entries"), "{error}");
    card.push(0, 1);
    assert_eq!(seen(&mut card, &mut *driver), [(7, 104)], "the program before goes on");
    let kept = driver.swap(&mut card, 0, &*second).unwrap();
    assert_eq!(kept, [("seen".to_owned(), true), ("bounds".into(), false)]);
    card.push(1, 1);
    assert_eq!(seen(&mut card, &mut *driver), [(7, 105)]);
    let bounds = call(&mut card, &mut *driver, "map", json!({"do": "get", "name": "bounds", "key": 1})).unwrap();
    assert_eq!(bounds["entries"][0]["value"], 11);
    let rows = XdpImage::of_rows(RowImage::default());
    assert!(driver.swap(&mut card, 0, &rows).unwrap_err().to_string().contains("rows that were put together by hand"));
    assert!(driver.swap(&mut card, 1, &*second).unwrap_err().to_string().contains("no group of xdp units"));
}

#[test]
fn lines_are_taken_once_and_outlast_their_program() {
    let folder = Folder::new();
    let program = folder.write("counts.c", SOURCE);
    let [first, second, third] = [(); 3].map(|()| compile_one(&program, &GroupSettings::default()));
    let (mut card, mut driver) = Card::new();
    load_all(&mut card, &mut *driver, &first);
    fn taken(card: &mut Card, driver: &mut dyn Driver) -> (usize, u64) {
        let log = driver.take_log(card).unwrap();
        assert!(log.lines.iter().all(|line| line == "hello"));
        (log.lines.len(), log.lost)
    }
    card.push(0, 3);
    assert_eq!((taken(&mut card, &mut *driver), taken(&mut card, &mut *driver)), ((3, 0), (0, 0)));
    card.push(0, 2);
    driver.swap(&mut card, 0, &*second).unwrap();
    card.push(1, 2);
    for units in [0b01, 0b10] {
        load(&mut card, &mut *driver, units, true, &third);
        card.push(0, 1);
    }
    assert_eq!(taken(&mut card, &mut *driver), (6, 0));
    for _ in 0..2048 {
        card.push(0, 32);
    }
    card.push(0, 5);
    assert_eq!(taken(&mut card, &mut *driver), (2048 * 32, 5));
    card.push(0, 1);
    assert_eq!(taken(&mut card, &mut *driver), (1, 5), "lost lines count from the load on");
    load_all(&mut card, &mut *driver, &first);
    assert_eq!(taken(&mut card, &mut *driver), (0, 0));
}

#[test]
fn routes_are_replaced_and_outlast_a_swap() {
    let folder = Folder::new();
    let program = folder.write("counts.c", SOURCE);
    let [first, second] = [(); 2].map(|()| compile_one(&program, &GroupSettings::default()));
    let (mut card, mut driver) = Card::new();
    load_all(&mut card, &mut *driver, &first);
    let routes = json!({"interfaces": {"1": {"mac": "02:00:00:00:00:01", "mtu": 1500, "forwards": true}},
        "routes": [{"dst": "10.0.0.0/8", "dev": 1}], "neighbours": []});
    let set = json!({"do": "set", "routes": routes});
    assert_eq!(call(&mut card, &mut *driver, "routes", set).unwrap(), json!({}));
    for (wrong, told) in [
        (json!({"do": "set", "routes": {"routes": [{"dst": "10.0.0.0/8", "dev": 99}]}}), "there is no interface 99"),
        (json!({"do": "set", "routes": {"routes": [{"dst": "10.0.0/8"}]}}), "`10.0.0/8` is no destination"),
        (json!({"do": "get"}), "not a request to the service `routes`"),
        (json!({"do": "show", "all": true}), "not a request to the service `routes`"),
    ] {
        let error = call(&mut card, &mut *driver, "routes", wrong).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Service("routes"), "{error}");
        assert!(error.to_string().contains(told), "{error}");
    }
    driver.swap(&mut card, 0, &*second).unwrap();
    assert_eq!(call(&mut card, &mut *driver, "routes", json!({"do": "show"})).unwrap(), routes);
    for unit in &card.units {
        let there = unit.loaded().unwrap().with(|engine| engine.routes().routes.len());
        assert_eq!(there, 1);
    }
    load_all(&mut card, &mut *driver, &first);
    let none = json!({"interfaces": {}, "routes": [], "neighbours": []});
    assert_eq!(call(&mut card, &mut *driver, "routes", json!({"do": "show"})).unwrap(), none);
}

#[test]
fn images_of_two_compilations_may_not_meet() {
    let folder = Folder::new();
    let program = folder.write("counts.c", SOURCE);
    let settings = GroupSettings::default();
    let together = compile(&program, &settings, &[1, 1], false).unwrap();
    let (_, driver) = Card::new();
    let parts = |images: &[Arc<dyn Image>], native| {
        let images: Vec<_> = (0..).zip(images).map(|(part, image)| (part, &**image)).collect();
        driver.check(&images, native)
    };
    parts(&together, false).unwrap();
    let apart = [compile_one(&program, &settings), compile_one(&program, &settings)];
    let error = parts(&apart, false).unwrap_err();
    assert!(error.to_string().contains("compile the groups together"), "{error}");
    parts(&apart, true).unwrap();
    let rows: Arc<dyn Image> = Arc::new(XdpImage::of_rows(RowImage::default()));
    parts(std::slice::from_ref(&rows), false).unwrap();
    let error = parts(&[rows], true).unwrap_err();
    assert!(error.to_string().contains("rows run on cards in RTL only"), "{error}");
}

#[test]
fn settings_that_a_given_program_does_not_have_are_left_out() {
    let folder = Folder::new();
    let program = folder.write("counts.c", SOURCE);
    let mut settings = begins("limits", folder.write("limits.json", "[]"));
    settings.settings.entries.insert("sene".into(), 8);
    let error = compile(&program, &settings, &[2], false).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Program);
    let told = "design.toml: [units.xdp.entries] names the map sene, which ";
    assert!(error.to_string().starts_with(told), "{error}");
    let image = compile(&program, &settings, &[2], true).unwrap().remove(0);
    let messages: Vec<_> = image.messages().lines().collect();
    assert_eq!(messages.len(), 2, "{messages:?}");
    assert!(messages[0].starts_with(told) && messages[0].ends_with("; left out"), "{messages:?}");
    assert!(messages[1].contains("[units.xdp.maps] names the map limits, which "), "{messages:?}");
    let error = compile(&folder.0.join("none.c"), &settings, &[2], true).unwrap_err();
    assert_eq!(error.kind, ErrorKind::File);
    let error = compile(&program, &begins("seen", folder.0.join("none.json")), &[2], true).unwrap_err();
    assert_eq!(error.kind, ErrorKind::File);
}
