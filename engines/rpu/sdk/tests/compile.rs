// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The kit compiles the project's programs without a word, and says what is wrong with wrong ones.
#![allow(clippy::unwrap_used)]

use std::{
    fs,
    path::{Path, PathBuf},
};

use penstock_rpu_sdk::{CompileError, Firmware, Options, compile};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(3).unwrap().to_owned()
}

fn options() -> Options {
    let mut options = Options::new(&root());
    options.flags.push("-Werror".into());
    options
}

fn write(name: &str, text: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("penstock-sdk-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join(name);
    fs::write(&path, text).unwrap();
    path
}

fn programs(folder: &str) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = fs::read_dir(root().join(folder)).unwrap().map(|e| e.unwrap().path()).collect();
    paths.retain(|p| p.extension().is_some_and(|e| e == "c"));
    paths.sort();
    paths
}

#[test]
fn all_programs_compile_without_warnings() {
    let paths: Vec<PathBuf> =
        ["engines/rpu/programs", "engines/rpu/programs/bad"].into_iter().flat_map(programs).collect();
    assert!(paths.len() >= 8);
    // What a design with a group of units `inspect` says to its programs.
    let flags = ["-DPN_FIRST_INSPECT=12u", "-DPN_COUNT_INSPECT=4u"].map(str::to_string).to_vec();
    let options = Options { flags, ..options() };
    for path in paths {
        let firmware = compile(std::slice::from_ref(&path), &options).unwrap();
        assert_eq!(firmware.messages, "", "{}", path.display());
        assert!(firmware.sizes.text > 100 && firmware.sizes.text < 4096, "{}", firmware.sizes);
        assert_eq!(firmware.imem.len() % 4, 0);
    }
}

/// The words of the hot loop decide the card's speed: three a frame.
#[test]
fn the_forwarder_takes_three_instructions_a_frame() {
    let firmware = compile(&[root().join("engines/rpu/programs/forward.c")], &options()).unwrap();
    let words: Vec<u32> = firmware.imem.chunks_exact(4).map(|w| u32::from_le_bytes(w.try_into().unwrap())).collect();
    // lw x, 0x100(zero) and sw x, 0x108(zero), without their registers
    let receives: Vec<usize> = (0..words.len()).filter(|&i| words[i] & !(0x1F << 7) == 0x1000_2003).collect();
    assert_eq!(receives.len(), 8);
    for at in receives {
        assert_eq!(words[at + 2] & !(0x1F << 20), 0x1000_2423, "a send two instructions after each receive");
    }
}

#[test]
fn the_papers_listing_compiles_unmodified() {
    // The suite says where captures and lists are that are not part of the repository; the papers are beside them.
    let data = std::env::var_os("PENSTOCK_DATA").map(PathBuf::from).unwrap_or_default();
    let path = data.join("../papers/rosebud-appendix-c.c");
    if data.as_os_str().is_empty() || !path.is_file() {
        return penstock_testing::skipped("PENSTOCK_DATA does not lead to the paper's listing");
    }
    compile(&[path], &options()).unwrap();
}

#[test]
fn data_lies_where_the_host_writes_it() {
    let path = write(
        "data.c",
        "const int table[3] = {1, 2, 0x11223344}; int zeros[5]; int volatile first = 7;\n\
        int main(void) { for (;;) first += table[first] + zeros[first]; }\n",
    );
    let firmware = compile(&[path], &Options::new(&root())).unwrap();
    assert_eq!(firmware.sizes.data, 16);
    assert_eq!(firmware.sizes.bss, 20);
    assert_eq!(firmware.dmem.len(), 16);
    assert!(firmware.dmem.windows(4).any(|w| w == [0x44, 0x33, 0x22, 0x11]));
}

#[test]
fn a_pc_has_a_line_and_a_function() {
    let path = write("where.c", "#include <penstock.h>\nint main(void) {\n  for (;;)\n    pn_debug(1, 2);\n}\n");
    let firmware = compile(&[path], &options()).unwrap();
    let main = firmware.symbols.iter().find(|s| s.name == "main").unwrap();
    let place = firmware.locate(main.address).unwrap();
    assert!(place.ends_with("(main)") && place.contains(':'), "{place}");
    assert_eq!(firmware.locate(0x8000), None);
}

#[test]
fn an_elf_is_taken_as_it_is() {
    let first = compile(&[root().join("engines/rpu/programs/forward.c")], &options()).unwrap();
    let folder = write("x", "").parent().unwrap().to_owned();
    let path = folder.join("forward.elf");
    fs::write(&path, &first.elf).unwrap();
    let second = compile(std::slice::from_ref(&path), &options()).unwrap();
    assert_eq!(first.imem, second.imem);
    for cut in [0, 3, 51, 80, first.elf.len() / 2] {
        fs::write(&path, &first.elf[..cut]).unwrap();
        let error = compile(std::slice::from_ref(&path), &options()).unwrap_err();
        assert!(matches!(error, CompileError::Firmware { .. }), "{cut}: {error}");
    }
}

/// Numbers without a pattern (xorshift, Marsaglia 2003).
fn random(state: &mut u64) -> usize {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    (*state >> 8) as usize
}

#[test]
fn a_damaged_elf_is_refused_or_loads_within_the_memories() {
    let whole = compile(&[root().join("engines/rpu/programs/forward.c")], &options()).unwrap().elf;
    let mut state = 5;
    let mut refused = 0;
    for round in 0..4_000 {
        let mut elf = whole.clone();
        // Most of what a loader believes stands in the first bytes.
        for _ in 0..1 + round % 4 {
            let reach = if round % 2 == 0 { 200 } else { elf.len() };
            let at = random(&mut state) % reach;
            elf[at] = [0, 1, 0x7F, 0x80, 0xFF, random(&mut state) as u8][random(&mut state) % 6];
        }
        match Firmware::from_elf(elf) {
            Ok(firmware) => {
                assert!(firmware.imem.len() <= 64 * 1024 && firmware.dmem.len() <= 16 * 1024);
                let _ = firmware.locate(random(&mut state) as u32 % 0x500);
            }
            Err(_) => refused += 1,
        }
    }
    assert!(refused > 200 && refused < 3_800, "{refused}");
}

#[test]
fn wrong_source_is_refused_with_file_and_line() {
    let path = write("wrong.c", "#include <penstock.h>\nint main(void) {\n  pn_innit();\n}\n");
    let error = compile(&[path], &options()).unwrap_err();
    assert!(matches!(error, CompileError::Refused(_)));
    assert!(error.to_string().contains("wrong.c:3:"), "{error}");
}

#[test]
fn warnings_come_every_time() {
    let text = "#include <penstock.h>\nint main(void) {\n  int unused;\n  for (;;) pn_drop(pn_recv());\n}\n";
    let path = write("warning.c", text);
    for _ in 0..3 {
        let messages = compile(std::slice::from_ref(&path), &Options::new(&root())).unwrap().messages;
        assert!(messages.contains("warning.c:3:") && messages.contains("unused"), "{messages}");
    }
    assert!(compile(&[path], &options()).unwrap_err().to_string().contains("warning.c:3:"));
}

#[test]
fn a_program_of_several_sources() {
    let call = "#include <penstock.h>\nint twice(int);\nvoid start(void);\n\
                int main(void) { start(); for (;;) pn_debug((uint32_t)twice(3), 0); }\n";
    let sources = [
        write("call.c", call),
        write("twice.c", "int twice(int x); int twice(int x) { return 2 * x; }\n"),
        write("start.S", "#define RETURN ret\n.globl start\nstart: RETURN\n"),
    ];
    let firmware = compile(&sources, &options()).unwrap();
    assert!(firmware.symbols.iter().any(|symbol| symbol.name == "twice"));
}

#[test]
fn numbers_in_network_order() {
    let text = "#include <packet_headers.h>\n_Static_assert(PN_BE16(0x0800) == 0x0008 && PN_BE32(0x0A0B0C0D) == 0x0D0C0B0A, \"\");\n\
                int main(void) { for (;;) __asm__(\"\"); }\n";
    compile(&[write("order.c", text)], &options()).unwrap();
}

#[test]
fn what_is_missing_is_named() {
    let error = compile(&["/nowhere/x.c".into()], &options()).unwrap_err().to_string();
    assert!(error.contains("/nowhere/x.c"), "{error}");
    let error = compile(&[], &options()).unwrap_err().to_string();
    assert!(error.contains("name a .c file"), "{error}");
    let elsewhere = Options { python: "/nowhere/python".into(), ..options() };
    let error = compile(&[root().join("engines/rpu/programs/forward.c")], &elsewhere).unwrap_err().to_string();
    assert!(error.contains("run `./penstock` once"), "{error}");
}

#[test]
fn what_does_not_fit_is_told_in_numbers() {
    let cases = [
        ("text.c", "int main(void) { for (;;) __asm__ volatile(\".rept 20000\\nnop\\n.endr\"); }\n", "overflowed by 1"),
        ("data.c", "volatile char b[30000]; int main(void) { for (;;) b[(int)b[0]] = 1; }\n", "overflowed by 1"),
        ("stack.c", "volatile char b[16000]; int main(void) { for (;;) b[(int)b[0]] = 1; }\n", "16 KiB of data memory"),
    ];
    for (name, text, expected) in cases {
        let error = compile(&[write(name, text)], &options()).unwrap_err();
        assert!(matches!(error, CompileError::DoesNotFit { .. }), "{error}");
        assert!(error.to_string().contains(expected), "{error}");
    }
}
