// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The kit compiles the project's programs without a message, and explains errors in wrong ones.
#![allow(clippy::unwrap_used)]

use std::{
    fs,
    path::{Path, PathBuf},
};

use penstock_rpu_compiler::{CompileError, Firmware, Options, compile};
use penstock_testing::Numbers;

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
    // The flags of a design with a group of units `inspect`.
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
    // lw x, RECV(zero) and sw x, SEND(zero), without their registers
    let receives: Vec<usize> = (0..words.len()).filter(|&i| words[i] & !(0x1F << 7) == 0x7000_2003).collect();
    assert_eq!(receives.len(), 8);
    for at in receives {
        assert_eq!(words[at + 2] & !(0x1F << 20), 0x7000_2423, "a send two instructions after each receive");
    }
}

#[test]
fn the_papers_listing_compiles_unmodified() {
    // The suite sets the folder of captures and lists outside of the repository; the papers are beside them.
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

#[test]
fn a_damaged_elf_is_refused_or_loads_within_the_memories() {
    let whole = compile(&[root().join("engines/rpu/programs/forward.c")], &options()).unwrap().elf;
    let mut numbers = Numbers(5);
    let mut refused = 0;
    for round in 0..4_000 {
        let mut elf = whole.clone();
        // The first bytes have most of the fields that a loader trusts.
        for _ in 0..1 + round % 4 {
            let reach = if round % 2 == 0 { 200 } else { elf.len() };
            let at = numbers.below(reach);
            elf[at] = [0, 1, 0x7F, 0x80, 0xFF, numbers.next() as u8][numbers.below(6)];
        }
        match Firmware::from_elf(elf) {
            Ok(firmware) => {
                assert!(firmware.imem.len() <= 64 * 1024 && firmware.dmem.len() <= 16 * 1024);
                let _ = firmware.locate(numbers.below(0x500) as u32);
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

/// The message for a program that is refused.
fn refusal(name: &str, text: &str) -> String {
    compile(&[write(name, text)], &options()).unwrap_err().to_string()
}

#[test]
fn constants_out_of_range_do_not_compile() {
    for (number, (statement, expected)) in [
        ("pn_init_slots(0, PN_PMEM_BASE, 2048);", "count from 1 to 32"),
        ("pn_init_slots(33, PN_PMEM_BASE, 2048);", "count from 1 to 32"),
        ("pn_init_slots(32, PN_PMEM_BASE + 10, 65536);", "within packet memory"),
        ("pn_init_slots(1, PN_PMEM_BASE + 10, 10);", "larger than its packet offset"),
        ("pn_init_slots(8, 10, 2048);", "within packet memory"),
        ("pn_init_slots(8, PN_PMEM_BASE + 16, 2048);", "even and at most 14"),
        ("pn_init_headers(33, PN_HEADERS_BASE, 128);", "count from 1 to 32"),
        ("pn_init_headers(2, PN_HEADERS_BASE, 64);", "at least 128 bytes apart"),
        ("pn_init_headers(32, PN_HEADERS_BASE + 0x1000, 256);", "0x804000 to 0x806000"),
        ("init_slots(32, 0x0A, 65536);", "within packet memory"),
        ("init_hdr_slots(16, 0x803000, 128);", "0x804000 to 0x806000"),
        ("pn_send(pn_recv() ^ pn_port(256));", "a port is a byte"),
        ("pn_send(pn_to(pn_recv(), PN_PORT_UNIT(192)));", "a port is a byte"),
        ("pn_generate(PN_PORT_ETH(0), (void *)PN_PMEM_BASE, 16385);", "1 to 16,384 bytes"),
        ("pn_host_write(33, 0, (void *)PN_PMEM_BASE, 64);", "1 to 32"),
        ("pn_host_read(1, 0, (void *)PN_PMEM_BASE, 65537);", "1 to 16,384 bytes"),
        ("pn_listen(0xF0, 0x110);", "no word passes this filter"),
        ("SLOT_ADDR = 0x01000000;", "init_slots()"),
        ("LB_TAG_LEN = 4;", "set_lb_offset()"),
    ]
    .into_iter()
    .enumerate()
    {
        let text = format!("#include <core.h>\nint main(void) {{\n  {statement}\n  for (;;) pn_drop(pn_recv());\n}}\n");
        let said = refusal(&format!("range{number}.c"), &text);
        assert!(said.contains(&format!("range{number}.c:3:")) && said.contains(expected), "{statement}: {said}");
    }
    // The largest that are right.
    let text = "#include <core.h>\nint main(void) {\n  pn_init_headers(32, PN_HEADERS_BASE, 256);\n  pn_init_slots(16, PN_PMEM_BASE + 14, 65536);\n\
                pn_listen(0xF0, 0x10);\n  init_hdr_slots(32, 0x4000, 256);\n  init_slots(1, 0, 0x100000);\n\
                for (;;) pn_send(pn_to(pn_recv(), 255) ^ pn_port(255));\n}\n";
    compile(&[write("largest.c", text)], &options()).unwrap();
}

#[test]
fn a_descriptor_that_nothing_sends_does_not_link() {
    let text = |send: &str| {
        format!(
            "#include <core.h>\nint main(void) {{ init_slots(16, 10, 16384); for (;;) {{ SEND_DESC = RECV_DESC; {send} }} }}\n"
        )
    };
    let said = refusal("unsent.c", &text("RECV_DESC_RELEASE = 1;"));
    assert!(
        said.starts_with("firmware does not link:\nthe program writes SEND_DESC but never SEND_DESC_TYPE"),
        "{said}"
    );
    compile(&[write("sent.c", &text("SEND_DESC_TYPE = 0;"))], &options()).unwrap();
}

#[test]
fn rosebuds_headers_have_its_names() {
    let text = "#include \"core.h\"\n#include \"packet_headers.h\"\n\
        int main(void) {\n  unsigned now = TIMER_16_LL | TIMER_16_LH | TIMER_16_HL | TIMER_16_HH | TIMER_32_L | TIMER_32_H | BC_REGION_SIZE;\n\
        struct Desc d = {.desc_low = now};\n  d.desc_high = (unsigned)d.len + d.tag + d.port;\n\
        struct ipv4_header ip = {.dscp_ecn = 1, .flags_fragment_offset = 2, .hdr_sum = 3};\n\
        struct tcp_header tcp = {.flags = 0x0210, .urgent_ptr = 4};\n\
        _Static_assert(sizeof(struct tcp_header) == TCP_HEADER_SIZE && sizeof(struct ipv4_header) == IPV4_HEADER_SIZE, \"\");\n\
        _Static_assert(__builtin_offsetof(struct tcp_header, flags) == 12, \"\");\n\
        write_debug(ip.hdr_sum + tcp.flags + d.desc_high);\n  init_slots(16, 10, 16384);\n\
        for (;;) error_ack(error_flags());\n}\n";
    compile(&[write("names.c", text)], &options()).unwrap();
    let said = refusal(
        "late.c",
        "#include <packet_headers.h>\n#include <core.h>\nint main(void) { for (;;) pn_barrier(); }\n",
    );
    assert!(said.contains("include core.h before packet_headers.h"), "{said}");
}

#[test]
fn a_foreign_header_with_a_name_of_the_kit_is_told() {
    let folder = std::env::temp_dir().join(format!("penstock sdk {}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("core.h"), "static inline void init_slots(int n) { (void)n; }\n").unwrap();
    let program = folder.join("foreign.c");
    let text = |include: &str| format!("#include {include}\nint main(void) {{ for (;;) __asm__(\"\"); }}\n");
    fs::write(&program, text("\"core.h\"")).unwrap();
    let messages = compile(std::slice::from_ref(&program), &options()).unwrap().messages;
    let (theirs, ours) = (folder.join("core.h"), "not the kit's core.h; to have the kit's, write #include <core.h>");
    assert!(messages.contains("foreign.c: warning: it includes ") && messages.contains(ours), "{messages}");
    assert!(messages.contains(theirs.to_str().unwrap()), "{messages}");
    fs::write(&program, text("<core.h>")).unwrap();
    assert_eq!(compile(std::slice::from_ref(&program), &options()).unwrap().messages, "");
}

#[test]
fn what_the_kit_does_not_have_is_told() {
    let program = |line: &str| {
        format!(
            "#include <penstock.h>\nvolatile float half = 0.5f;\nint printf(const char *, ...);\nint main(void) {{\n  {line}\n  for (;;) pn_drop(pn_recv());\n}}\n"
        )
    };
    let said = refusal("float.c", &program("half = half * half + 1;"));
    assert!(said.contains("float.c:5: floating-point arithmetic: a unit's core has none; use integers"), "{said}");
    assert!(!said.contains("lld") && !said.contains(">>>"), "{said}");
    let said = refusal("print.c", &program("printf(\"x\");"));
    assert!(said.contains("print.c:5: `printf` is not defined") && said.contains("memcpy"), "{said}");
    let said = refusal("stdio.c", "#include <stdio.h>\nint main(void) { for (;;) puts(\"\"); }\n");
    assert!(
        said.contains("stdio.c:1:") && said.contains("there is no stdio.h") && said.contains("penstock.h"),
        "{said}"
    );
    for (name, text) in [("empty.c", ""), ("empty.S", ""), ("other.c", "void start(void); void start(void) {}\n")] {
        assert!(refusal(name, text).contains("there is no `main`"), "{name}");
    }
    assert!(refusal("empty.elf", "").contains("not an ELF file"));
    for name in ["x.efsm", "x.cpp", "x", "x.o"] {
        let said = refusal(name, "");
        assert!(said.contains(&format!("{name} for units; give C (.c) or assembly")), "{said}");
    }
    let handler = "#include <penstock.h>\nvoid __attribute__((interrupt)) int_handler(void) { pn_ack(1); }\n\
                   int main(void) { pn_init(); for (;;) pn_drop(pn_recv()); }\n";
    assert!(refusal("handler.c", handler).contains("int_handler has __attribute__((interrupt))"));
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
