// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Another program for xdp units at work: no frame is lost, each meets one of the two, and what maps hold stays where
//! it may.
#![allow(clippy::unwrap_used)]

use std::fmt::Write;
use std::ops::Range;
use std::path::PathBuf;

use penstock_device::{Design, Device, Image, Port, Rate, Request, Root, Run, Target, Traffic, open};
use serde_json::{Value as Json, json};

/// Frames come back with the program's mark in the bytes 20 and 21, the processor in 22 and 23, and in 24 to 27 the
/// entry 3 of the map NOTES. Between the two marks there are requests, so that other rows can come between.
const SOURCE: &str = r#"
#include <bpf.h>
#define MAP(name, kind, of, entries) \
  struct { __uint(type, BPF_MAP_TYPE_##kind); __type(key, __u32); __type(value, of); __uint(max_entries, entries); } name SEC(".maps")
MAP(all, HASH, __u64, 64);
MAP(each, PERCPU_ARRAY, __u64, 4);
MAP(NOTES, KIND, __u32, ENTRIES);
__u64 sum = 5;
volatile const __u8 mark = MARK;
SEC("xdp") int marks(struct xdp_md *ctx) {
  __u8 *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
  if (data + 60 > end) return XDP_DROP;
  data[20] = mark;
  __u32 key = data[1], three = 3, zero = 0;
  __u64 *counted = bpf_map_lookup_elem(&all, &key), *own = bpf_map_lookup_elem(&each, &zero);
  if (!counted || !own) return XDP_ABORTED;
  __sync_fetch_and_add(counted, 1);
  __sync_fetch_and_add(&sum, 1);
  *own += 1;
  __u32 *note = bpf_map_lookup_elem(&NOTES, &three);
  *(__u32 *)(data + 24) = note ? *note : 0;
  *(__u16 *)(data + 22) = bpf_get_smp_processor_id();
  data[21] = mark;
  PRINT
  return XDP_TX;
}
char _license[] SEC("license") = "GPL";
"#;

const UNITS: u32 = 2;
const DESIGN: &str = "[card]\nname = \"marks\"\nports = 2\n[dispatch]\npolicy = \"round-robin\"\n[[units]]\nengine = \"xdp\"\ncount = 2\n";

/// The folder of programs.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("penstock-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    /// A program with such a map of notes, which begins with `note` as number 3.
    fn image(&self, mark: u8, (notes, kind, entries): (&str, &str, u32), note: u32, print: &str) -> (Design, Image) {
        let mut text = SOURCE.to_owned();
        for (word, by) in [("NOTES", notes), ("KIND", kind), ("ENTRIES", &entries.to_string()), ("PRINT", print)] {
            text = text.replace(word, by);
        }
        std::fs::write(self.0.join(format!("{mark}.c")), text.replace("MARK", &mark.to_string())).unwrap();
        std::fs::write(self.0.join(format!("{mark}.json")), format!("[[3, {note}]]")).unwrap();
        let mut design = DESIGN.to_owned();
        write!(design, "program = \"{mark}.c\"\n[units.xdp.maps]\n{notes} = \"{mark}.json\"\n").unwrap();
        let design = Design::parse(&self.0.join("marks.toml"), &design).unwrap();
        let image = Image::of(&Root::find().unwrap(), &design).unwrap();
        (design, image)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).unwrap();
    }
}

/// Frames, each with a number in its last bytes.
fn frames(numbers: Range<u32>) -> Traffic {
    let mut traffic = Traffic::default();
    for number in numbers {
        let mut frame = [0u8; 60];
        frame[1] = number as u8 & 15;
        frame[56..].copy_from_slice(&number.to_le_bytes());
        traffic.push(Port::Ethernet(0), &frame, 0);
    }
    traffic
}

/// Mark, unit and note of each frame, by its number. Both its marks are the same.
fn seen(run: &Run) -> Vec<(u8, u16, u32)> {
    let word = |bytes: &[u8]| u32::from_le_bytes(bytes[..4].try_into().unwrap());
    let mut seen: Vec<_> = run
        .departures
        .iter()
        .map(|out| {
            let bytes = &out.bytes;
            assert_eq!(bytes[20], bytes[21], "one program begins with a frame and another ends with it");
            let cpu = u16::from_le_bytes([bytes[22], bytes[23]]);
            (word(&bytes[56..]), (bytes[20], cpu / 16, word(&bytes[24..])))
        })
        .collect();
    seen.sort_by_key(|(number, _)| *number);
    assert!((seen.first().map_or(0, |first| first.0)..).zip(&seen).all(|(n, (number, _))| n == *number));
    seen.into_iter().map(|(_, seen)| seen).collect()
}

/// Asks the service `map`.
fn ask(card: &mut dyn Device, ask: Json) -> Json {
    card.call(&Request { service: "map".into(), ask }).unwrap()
}

/// The counts of shared maps, of per-processor maps, and of the variable.
fn counts(card: &mut dyn Device) -> [u64; 3] {
    let number = |value: &Json| value.as_u64().unwrap();
    let all = ask(card, json!({"do": "dump", "name": "all"}));
    let all = all["entries"].as_array().unwrap().iter().map(|entry| number(&entry["value"])).sum();
    let mut first = |name| ask(card, json!({"do": "get", "name": name, "key": 0}))["entries"][0].take();
    let each = first("each")["value"].as_array().unwrap().iter().map(number).sum();
    [all, each, number(&first(".data")["value"]["sum"])]
}

fn fill(card: &mut dyn Device) {
    let entries: Vec<_> = (0..16).map(|key| [key, 0]).collect();
    let fill = json!({"do": "fill", "name": "all", "file": "all.json", "entries": entries});
    assert_eq!(ask(card, fill), json!({"changed": 16}));
}

fn kept(mut maps: Vec<(String, bool)>) -> Vec<String> {
    maps.retain(|(_, kept)| *kept);
    maps.sort();
    maps.into_iter().map(|(name, _)| name).collect()
}

const PROGRAMS: [(u8, (&str, &str, u32), u32); 4] = [
    (1, ("notes", "HASH", 100), 11),
    (2, ("notes", "ARRAY", 40), 22),
    (3, ("others", "PERCPU_ARRAY", 300), 33),
    (1, ("notes", "HASH", 100), 11),
];

/// On soft between two runs, on a card in RTL among frames: all of them come back, the first with the old and the
/// others with the new program's marks and notes.
#[test]
fn no_frame_is_lost() {
    let folder = Folder::new("swap");
    let images: Vec<_> = PROGRAMS.iter().map(|(mark, notes, note)| folder.image(*mark, *notes, *note, "")).collect();
    for target in [Target::Soft, Target::Rtl] {
        let mut card = open(&Root::find().unwrap(), &images[0].0, target, &mut |_| {}).unwrap();
        card.load(&images[0].1).unwrap();
        fill(&mut *card);
        let (mut number, many) = (0, if target == Target::Soft { 100 } else { 2000 });
        for ((_, image), (old, new)) in images[1..].iter().zip(PROGRAMS.iter().zip(&PROGRAMS[1..])) {
            card.send(&frames(number..number + many), Rate::Lossless).unwrap();
            match target {
                Target::Soft => assert_eq!(card.run(&mut |_| {}).unwrap().departures.len() as u32, many),
                Target::Rtl | Target::Fpga => assert!(card.advance(1500).unwrap().len() > 10),
            }
            assert_eq!(kept(card.swap(&image.groups[0]).unwrap()), [".data", "all", "each"]);
            number += many;
            card.send(&frames(number..number + many), Rate::Lossless).unwrap();
            let run = card.run(&mut |_| {}).unwrap();
            number += many;
            assert_eq!((run.drops.total(), run.faults.len()), (0, 0), "{:?}", run.faults);
            let seen = seen(&run);
            let expected = if target == Target::Soft { many } else { 2 * many };
            assert_eq!(seen.len() as u32, expected, "{target}");
            for unit in 0..UNITS as u16 {
                let of_unit: Vec<_> =
                    seen.iter().filter(|(_, by, _)| *by == unit).map(|(mark, _, note)| (*mark, *note)).collect();
                let ((old, _, old_note), (new, _, new_note)) = (*old, *new);
                let first_of_new = of_unit.iter().position(|seen| *seen == (new, new_note)).unwrap();
                assert!(of_unit[..first_of_new].iter().all(|seen| *seen == (old, old_note)), "{target}");
                assert!(of_unit[first_of_new..].iter().all(|seen| *seen == (new, new_note)), "{target}");
                let among = target == Target::Soft || (10..many as usize - 10).contains(&first_of_new);
                assert!(among, "the swap is to be while frames of unit {unit} are there, not at {first_of_new}");
            }
            let all = u64::from(number);
            assert_eq!(counts(&mut *card), [all, all, all + 5], "{target}");
        }
    }
}

/// A program that does not fit beside the running one is refused, and the running one goes on; once the program before
/// is gone, there is room again.
#[test]
fn what_has_no_room_changes_nothing() {
    let folder = Folder::new("room");
    // 9,500 rows of each bank, of 16,384.
    let large = |mark| folder.image(mark, ("large", "ARRAY", 9500 * 16), 44, "");
    let small = folder.image(3, ("notes", "ARRAY", 40), 33, "");
    let (first, second) = (large(1), folder.image(2, ("larger", "ARRAY", 9400 * 16), 55, ""));
    let mut card = open(&Root::find().unwrap(), &first.0, Target::Rtl, &mut |_| {}).unwrap();
    card.load(&first.1).unwrap();
    fill(&mut *card);
    let mut number = 0;
    let mut passes = |card: &mut dyn Device, mark, note| {
        card.send(&frames(number..number + 50), Rate::Lossless).unwrap();
        number += 50;
        let seen = seen(&card.run(&mut |_| {}).unwrap());
        assert!(seen.len() == 50 && seen.iter().all(|(by, _, noted)| (*by, *noted) == (mark, note)));
        assert_eq!(counts(card), [number.into(), number.into(), u64::from(number) + 5]);
    };
    passes(&mut *card, 1, 44);
    let error = card.swap(&second.1.groups[0]).unwrap_err().to_string();
    assert!(error.contains("it uses the map larger: it takes 9400 rows of each of the card's banks, 68"), "{error}");
    passes(&mut *card, 1, 44);
    for (image, mark, note) in [(&small, 3, 33), (&second, 2, 55), (&small, 3, 33)] {
        card.swap(&image.1.groups[0]).unwrap();
        passes(&mut *card, mark, note);
    }
}

/// Lines that were printed before a swap are still there after it, each once.
#[test]
fn lines_stay() {
    let folder = Folder::new("lines");
    let print = |text: &str| {
        format!("{{ static const char text[] = \"{text} %d\"; bpf_trace_printk(text, sizeof(text), key); }}")
    };
    let first = folder.image(1, ("notes", "ARRAY", 4), 1, &print("first"));
    let second = folder.image(2, ("notes", "ARRAY", 4), 2, &print("second"));
    let mut card: Box<dyn Device> = open(&Root::find().unwrap(), &first.0, Target::Rtl, &mut |_| {}).unwrap();
    card.load(&first.1).unwrap();
    fill(&mut *card);
    card.send(&frames(0..2), Rate::Lossless).unwrap();
    assert_eq!(card.advance(2000).unwrap().len(), 2);
    card.swap(&second.1.groups[0]).unwrap();
    card.send(&frames(2..3), Rate::Lossless).unwrap();
    let mut log = card.run(&mut |_| {}).unwrap().log;
    log.sort();
    assert_eq!(log, ["first 0", "first 1", "second 2"]);
}
