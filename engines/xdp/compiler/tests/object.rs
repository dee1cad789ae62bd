// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Objects: reading them, linking programs, and damaged files.
#![allow(clippy::unwrap_used)]

mod common;

use common::{compile, compile_text, programs, root};
use penstock_xdp_compiler::btf::Shape;
use penstock_xdp_compiler::check::check;
use penstock_xdp_compiler::insn::{Callee, Imm64, Insn};
use penstock_xdp_compiler::maps::{Contents, MapError, MapKind};
use penstock_xdp_compiler::object::{Attach, Object, ObjectError, Program};

fn all(flags: &[&str]) -> Object {
    Object::read(&compile(&root().join("engines/xdp/compiler/tests/objects/all.c"), flags)).unwrap()
}

fn program(object: &Object, name: &str) -> Program {
    object.program(object.entries.iter().find(|entry| entry.name == name).unwrap()).unwrap()
}

/// The maps that a program names, by name, with the offset in their value.
fn named<'a>(object: &'a Object, program: &Program) -> Vec<(&'a str, Option<u32>)> {
    let name = |map: u32| object.maps[map as usize].name.as_str();
    let imm = |(_, insn)| match insn {
        Insn::LoadImm64 { imm: Imm64::Map(map), .. } => Some((name(map), None)),
        Insn::LoadImm64 { imm: Imm64::MapValue { map, offset }, .. } => Some((name(map), Some(offset))),
        _ => None,
    };
    program.code.iter().filter_map(imm).collect()
}

#[test]
fn entries_and_notes() {
    let object = all(&[]);
    let entries: Vec<_> = object.entries.iter().map(|e| (e.name.as_str(), e.section.as_str(), e.attach)).collect();
    assert_eq!(
        entries,
        [
            ("first_program", "xdp", Attach::Xdp),
            ("second_program", "xdp", Attach::Xdp),
            ("leaving", "xdp/devmap", Attach::Devmap)
        ]
    );
    assert_eq!(object.notes, ["map table: pinning is ignored", "section `tc` holds no XDP program and is left out"]);
    assert!(object.free_license());
    for (section, attach) in [
        ("xdp", Some(Attach::Xdp)),
        ("?xdp", Some(Attach::Xdp)),
        ("xdp.frags", Some(Attach::Xdp)),
        ("xdp_router", Some(Attach::Xdp)),
        ("prog", Some(Attach::Xdp)),
        ("xdp_devmap/out", Some(Attach::Devmap)),
        ("xdp.frags/cpumap", Some(Attach::Cpumap)),
        ("classifier", None),
        (".text", None),
    ] {
        assert_eq!(Attach::of_section(section), attach, "{section}");
    }
}

#[test]
fn maps_with_their_types() {
    let object = all(&[]);
    let (_, table) = object.map("table").unwrap();
    assert_eq!((table.shape.kind().unwrap(), table.shape.key_bytes, table.shape.value_bytes), (MapKind::Hash, 8, 24));
    assert_eq!((table.shape.max_entries, table.shape.memory()), (100, 3200));
    table.check().unwrap();
    let Some(Shape::Record { name, members, .. }) = &table.key_type else { panic!("{:?}", table.key_type) };
    assert_eq!(name, "key");
    let of_key: Vec<_> = members.iter().map(|m| (m.name.as_str(), m.bit_offset, m.bits, m.shape.to_string())).collect();
    assert_eq!(
        of_key,
        [
            ("address", 0, None, "__be32".to_owned()),
            ("port", 32, None, "__be16".to_owned()),
            ("kind", 48, Some(4), "__u16".to_owned()),
            ("rest", 52, Some(12), "__u16".to_owned())
        ]
    );
    let Some(Shape::Record { members, .. }) = &table.value_type else { panic!("{:?}", table.value_type) };
    assert_eq!(members[2].shape.to_string(), "__u8[6]");
    let Shape::Enum { values, .. } = &members[1].shape else { panic!("{:?}", members[1]) };
    assert_eq!(*values, [("RED".to_owned(), 1), ("GREEN".to_owned(), -2)]);

    let (_, outer) = object.map("outer").unwrap();
    assert_eq!(outer.inner.as_ref().unwrap().max_entries, 8);
    assert_eq!(outer.contents, Contents::Names(vec![(2, "first".to_owned())]));
    outer.check().unwrap();
    assert_eq!(object.map("ring").unwrap().1.shape.memory(), 4096);
}

#[test]
fn global_variables_are_maps() {
    let object = all(&[]);
    let rodata = object.map(".rodata").unwrap().1;
    assert_eq!(rodata.constants(), Some(&7u32.to_le_bytes()[..]));
    let data = object.map(".data").unwrap().1;
    assert_eq!(data.contents, Contents::Data { bytes: 5u32.to_le_bytes().to_vec(), read_only: false });
    assert_eq!(object.map(".bss").unwrap().1.contents, Contents::Data { bytes: vec![0; 16], read_only: false });
}

#[test]
fn a_program_has_what_it_calls() {
    for cpu in ["v1", "v2", "v3", "v4"] {
        let object = all(&[&format!("-mcpu={cpu}")]);
        let first = program(&object, "first_program");
        let functions: Vec<_> = first.functions.iter().map(|f| f.name.as_str()).collect();
        assert_eq!(functions, ["first_program", "count", "other"], "{cpu}");
        let calls: Vec<_> = first
            .code
            .iter()
            .filter(|(_, insn)| matches!(insn, Insn::Call(Callee::Local(_))))
            .map(|(slot, _)| first.function_at(first.code.target(slot).unwrap()).unwrap())
            .map(|function| first.functions[function].name.as_str())
            .collect();
        assert_eq!(calls, ["count", "other"], "{cpu}");
        let maps = named(&object, &first);
        assert_eq!(maps[..2], [("table", None), (".rodata", Some(0))], "{cpu}");
        let mut variables: Vec<_> =
            maps.iter().filter(|(name, _)| *name == ".bss").map(|(_, offset)| *offset).collect();
        variables.sort();
        assert_eq!(variables, [Some(0), Some(8)], "{cpu}");
        let second = program(&object, "second_program");
        assert_eq!((second.functions.len(), named(&object, &second)), (1, vec![("outer", None)]), "{cpu}");
    }
}

#[test]
fn lines_of_instructions() {
    let object = all(&[]);
    let first = program(&object, "first_program");
    let source = std::fs::read_to_string(root().join("engines/xdp/compiler/tests/objects/all.c")).unwrap();
    let lines: Vec<_> = source.lines().collect();
    let call = first.code.iter().find(|(_, insn)| matches!(insn, Insn::Call(Callee::Helper(1)))).unwrap().0;
    let place = first.place(call);
    let line = place.line.clone().unwrap();
    assert!(line.file.ends_with("all.c") && lines[line.line as usize - 1].trim() == line.text, "{line:?}");
    assert_eq!(line.text, "struct value *value = bpf_map_lookup_elem(&table, &key);");
    assert!(place.to_string().ends_with(&format!("instruction {call} of first_program() in section `xdp`")), "{place}");
    // In a called function, slots count from its own beginning.
    let other = first.functions[2].slots.clone();
    assert_eq!((first.place(other.start).function.as_str(), first.place(other.start).slot), ("other", 0));
}

/// Offsets and numbers as in Linux' own headers (include/uapi/linux: bpf.h, icmp.h, in.h, ipv6.h, if_ether.h).
#[test]
fn headers_by_names_of_linux() {
    let text = r#"
        #include <packet.h>
        #define AT(type, member, at) _Static_assert(__builtin_offsetof(struct type, member) == at, #member)
        #define IS(name, number) _Static_assert(name == number, #name)
        AT(bpf_fib_lookup, mtu_result, 6);
        AT(bpf_fib_lookup, tos, 12);
        AT(bpf_fib_lookup, rt_metric, 12);
        AT(bpf_fib_lookup, ipv6_src[3], 28);
        AT(bpf_fib_lookup, ipv6_dst, 32);
        AT(bpf_fib_lookup, h_vlan_proto, 48);
        AT(bpf_fib_lookup, h_vlan_TCI, 50);
        AT(bpf_fib_lookup, dmac, 58);
        IS(sizeof(struct bpf_fib_lookup), 64);
        AT(icmphdr, un.gateway, 4);
        AT(icmphdr, un.echo.sequence, 6);
        AT(icmphdr, un.frag.mtu, 6);
        IS(sizeof(struct icmphdr), 8);
        AT(ipv6hdr, flow_lbl, 1);
        AT(ipv6hdr, saddr.s6_addr32[1], 12);
        IS(sizeof(struct ipv6hdr), 40);
        IS(ETH_P_ARP, 0x0806);
        IS(ETH_HLEN, 14);
        IS(IPPROTO_FRAGMENT, 44);
        IS(IPPROTO_SCTP, 132);
        IS(AF_INET6, 10);
        IS(BPF_FIB_LOOKUP_SKIP_NEIGH, 4);
        IS(BPF_FIB_LKUP_RET_NO_NEIGH, 7);
        IS(BPF_FIB_LKUP_RET_FRAG_NEEDED, 8);
        IS(BPF_F_CURRENT_CPU, 0xFFFFFFFF);
        IS(BPF_F_CTXLEN_MASK, 0xFFFFF00000000);
        IS(BPF_F_EXCLUDE_INGRESS, 16);
        IS(BPF_RB_FORCE_WAKEUP, 2);
        IS(BPF_RB_PROD_POS, 3);
        IS(bpf_cpu_to_be64(1), 1ULL << 56);
        IS(sizeof(__s8) + sizeof(__s16) + sizeof(__be64) + sizeof(__sum16) + sizeof(__wsum), 17);
        SEC("xdp") int names(struct xdp_md *ctx) {
          struct ipv6hdr *ip = frame_start(ctx);
          if ((void *)(ip + 1) > frame_end(ctx) || ip == NULL) return XDP_DROP;
          return ip->version == 6 && ip->priority == 0 ? XDP_PASS : XDP_DROP;
        }"#;
    assert_eq!(Object::read(&compile_text("names", text, &[])).unwrap().entries.len(), 1);
}

#[test]
fn maps_of_the_old_kind() {
    let text = r#"
        #include <bpf.h>
        struct bpf_map_def { unsigned type, key_size, value_size, max_entries, map_flags; };
        struct bpf_map_def SEC("maps") one = {BPF_MAP_TYPE_ARRAY, 4, 8, 3, 0};
        struct bpf_map_def SEC("maps") two = {BPF_MAP_TYPE_LPM_TRIE, 8, 8, 4, 1};
        SEC("prog") int old(struct xdp_md *ctx) {
          __u32 key[2] = {0, 0};
          return bpf_map_lookup_elem(&two, key) ? 1 : bpf_map_lookup_elem(&one, key) ? 2 : 3;
        }"#;
    let object = Object::read(&compile_text("old", text, &["-g0"])).unwrap();
    let sizes: Vec<_> = object.maps.iter().map(|map| (map.name.as_str(), map.shape.max_entries)).collect();
    assert_eq!(sizes, [("one", 3), ("two", 4)]);
    assert_eq!(named(&object, &program(&object, "old")), [("two", None), ("one", None)]);
    assert!(!object.free_license() && program(&object, "old").lines.iter().all(Option::is_none));
}

/// Objects of old compilers have symbols without a size: a declaration then ends where the next one begins.
#[test]
fn maps_of_the_old_kind_without_sizes() {
    let text = r#"
        #include <bpf.h>
        struct bpf_map_def { unsigned type, key_size, value_size, max_entries, map_flags; };
        struct bpf_map_def SEC("maps") one = {BPF_MAP_TYPE_ARRAY, 4, 8, 3, 0};
        struct bpf_map_def SEC("maps") two = {BPF_MAP_TYPE_LPM_TRIE, 8, 8, 4, 1};
        SEC("prog") int old(struct xdp_md *ctx) {
          __u32 key[2] = {0, 0};
          return bpf_map_lookup_elem(&two, key) ? 1 : bpf_map_lookup_elem(&one, key) ? 2 : 3;
        }"#;
    let bytes = without_sizes(compile_text("old", text, &["-g0"]), 20);
    let object = Object::read(&bytes).unwrap();
    let sizes: Vec<_> = object.maps.iter().map(|map| (map.name.as_str(), map.shape.max_entries)).collect();
    assert_eq!(sizes, [("one", 3), ("two", 4)]);
    assert_eq!(named(&object, &program(&object, "old")), [("two", None), ("one", None)]);
}

/// Sets the sizes of all symbols of `size` bytes to 0.
fn without_sizes(mut bytes: Vec<u8>, size: u64) -> Vec<u8> {
    let word = |bytes: &[u8], at: usize, count: usize| {
        bytes[at..at + count].iter().rev().fold(0, |all, byte| all << 8 | usize::from(*byte))
    };
    // ELF64: the section headers' place, size and number; of a header its type, place and size.
    let (headers, header, count) = (word(&bytes, 0x28, 8), word(&bytes, 0x3A, 2), word(&bytes, 0x3C, 2));
    let tables = (0..count).map(|at| headers + at * header).filter(|at| word(&bytes, at + 4, 4) == 2);
    let tables: Vec<_> = tables.map(|at| (word(&bytes, at + 0x18, 8), word(&bytes, at + 0x20, 8))).collect();
    let mut changed = 0;
    for symbol in tables.into_iter().flat_map(|(start, bytes)| (start..start + bytes).step_by(24)) {
        if word(&bytes, symbol + 16, 8) as u64 == size {
            bytes[symbol + 16..symbol + 24].fill(0);
            changed += 1;
        }
    }
    assert_eq!(changed, 2);
    bytes
}

/// Maps of maps as the kernel's samples and iproute2 declared them.
#[test]
fn maps_of_maps_of_the_old_kind() {
    let program = r#"SEC("prog") int old(struct xdp_md *ctx) {
          __u32 key = 0;
          void *inner = bpf_map_lookup_elem(&outer, &key);
          return inner && bpf_map_lookup_elem(inner, &key) ? 1 : 2;
        }"#;
    let samples = format!(
        r#"#include <bpf.h>
        struct bpf_map_def {{ unsigned type, key_size, value_size, max_entries, map_flags, inner_map_idx, numa_node; }};
        struct bpf_map_def SEC("maps") inner_map = {{BPF_MAP_TYPE_ARRAY, 4, 8, 3}};
        struct bpf_map_def SEC("maps") outer = {{BPF_MAP_TYPE_ARRAY_OF_MAPS, 4, 4, 5, 0, 0}};
        {program}"#
    );
    let object = Object::read(&compile_text("samples", &samples, &["-g0"])).unwrap();
    let (_, outer) = object.map("outer").unwrap();
    assert_eq!(outer.inner, Some(object.map("inner_map").unwrap().1.shape.clone()));
    assert_eq!(outer.contents, Contents::Empty);
    check(&object, &crate::program(&object, "old")).unwrap();

    let iproute = |inner_id: u32| {
        format!(
            r#"#include <bpf.h>
            struct bpf_elf_map {{
              unsigned type, size_key, size_value, max_elem, flags, id, pinning, inner_id, inner_idx;
            }};
            struct bpf_elf_map SEC("maps") outer = {{BPF_MAP_TYPE_ARRAY_OF_MAPS, 4, 4, 5, 0, 0, 0, {inner_id}, 0}};
            struct bpf_elf_map SEC("maps") inner_map = {{BPF_MAP_TYPE_ARRAY, 4, 8, 3, 0, 42, 0, 0, 2}};
            {program}"#
        )
    };
    let object = Object::read(&compile_text("iproute", &iproute(42), &["-g0"])).unwrap();
    let (_, outer) = object.map("outer").unwrap();
    assert_eq!(outer.inner, Some(object.map("inner_map").unwrap().1.shape.clone()));
    assert_eq!(outer.contents, Contents::Names(vec![(2, "inner_map".into())]));
    check(&object, &crate::program(&object, "old")).unwrap();

    let error = Object::read(&compile_text("iproute", &iproute(41), &["-g0"])).unwrap_err().to_string();
    assert!(error.starts_with("map outer in section `maps`: no other map"), "{error}");
}

/// Compiles a program with `text` in it and gives the first map's error.
fn map_error(name: &str, text: &str) -> String {
    let text = format!(
        "#include <bpf.h>\nstruct big {{ char bytes[300]; }};\nstruct {{ {text} }} m SEC(\".maps\");\n\
         SEC(\"xdp\") int p(struct xdp_md *c) {{ __u64 k[40] = {{0}}; return bpf_map_lookup_elem(&m, k) != 0; }}"
    );
    let object = Object::read(&compile_text(name, &text, &[])).unwrap();
    object.map("m").unwrap().1.check().unwrap_err().to_string()
}

#[test]
fn maps_that_do_not_fit() {
    let hash = "__uint(type, BPF_MAP_TYPE_HASH); __uint(max_entries, 9);";
    assert_eq!(
        map_error("key", &format!("{hash} __type(key, struct big); __type(value, __u32);")),
        "its key has 300 bytes, the engine takes up to 64"
    );
    assert_eq!(
        map_error("value", &format!("{hash} __type(key, __u32); __type(value, struct big);")),
        "its value has 300 bytes, the engine takes up to 256"
    );
    assert_eq!(
        map_error("empty", "__uint(type, BPF_MAP_TYPE_HASH); __type(key, __u32); __type(value, __u32);"),
        "it has no entries; give it max_entries, or say how many in [units.xdp.entries] of a design or by --entries"
    );
    let stack = map_error("stack", "__uint(type, 23); __type(value, __u32); __uint(max_entries, 9);");
    assert!(stack.starts_with("maps of the type stack are not supported; those that are: hash, array,"), "{stack}");
    let trie = "__uint(type, BPF_MAP_TYPE_LPM_TRIE); __type(key, __u64); __type(value, __u32); __uint(max_entries, 9);";
    assert_eq!(map_error("trie", trie), MapError::Prealloc.to_string());
    assert_eq!(
        map_error("ring", "__uint(type, BPF_MAP_TYPE_RINGBUF); __uint(max_entries, 5000);"),
        MapError::Ring(5000).to_string()
    );
    assert_eq!(
        map_error(
            "dev",
            "__uint(type, BPF_MAP_TYPE_DEVMAP); __type(key, __u64); __type(value, __u32); __uint(max_entries, 9);"
        ),
        "a map of the type devmap has keys of 4 bytes, this one says 8 bytes"
    );
    assert_eq!(
        map_error(
            "nested",
            "__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS); __type(key, __u32); __type(value, __u32); __uint(max_entries, \
             9);"
        ),
        MapError::NoInner.to_string()
    );
}

/// A loader may set the size of a map.
#[test]
fn entries_of_maps() {
    let text = "#include <bpf.h>\nstruct { __uint(type, BPF_MAP_TYPE_HASH); __type(key, __u32); __type(value, __u32); } table SEC(\".maps\");\n\
        int kept = 1;\n\
        SEC(\"xdp\") int one(struct xdp_md *ctx) { __u32 key = kept; return bpf_map_lookup_elem(&table, &key) ? XDP_DROP : XDP_PASS; }\n";
    let mut object = Object::read(&compile_text("entries", text, &[])).unwrap();
    assert!(check(&object, &program(&object, "one")).unwrap_err().to_string().contains("it has no entries"));
    object.set_entries("table", 9).unwrap();
    assert_eq!(object.map("table").unwrap().1.shape.max_entries, 9);
    assert!(check(&object, &program(&object, "one")).is_ok());
    assert_eq!(object.set_entries("tables", 9).unwrap_err().to_string(), "it has no map tables; it has .data, table");
    assert_eq!(
        object.set_entries(".data", 9).unwrap_err().to_string(),
        ".data holds global variables, which are one entry"
    );
}

#[test]
fn what_is_in_maps_of_maps() {
    let shape = |value_bytes, entries| {
        format!(
            "__uint(type, BPF_MAP_TYPE_HASH); __uint(key_size, 4); __uint(value_size, {value_bytes}); \
             __uint(max_entries, {entries});"
        )
    };
    let read = |name: &str, inner: &str, entry: &str| {
        let text = format!(
            "#include <bpf.h>\nint p(struct xdp_md *ctx);\nstruct {{ {} }} one SEC(\".maps\");\n\
             struct {{ __uint(type, BPF_MAP_TYPE_HASH_OF_MAPS); __uint(key_size, 4); __uint(max_entries, 2);\n\
             __array(values, struct {{ {inner} }}); }} outer SEC(\".maps\") = {{.values = {{[1] = (void *)&{entry}}}}};\n\
             SEC(\"xdp\") int p(struct xdp_md *ctx) {{ return 1; }}",
            shape(8, 6)
        );
        Object::read(&compile_text(name, &text, &[])).map(drop).map_err(|error| error.to_string())
    };
    assert_eq!(read("fits", &shape(8, 6), "one"), Ok(()));
    assert_eq!(read("longer", &shape(8, 7), "one"), Ok(()), "of hash tables the number of entries may differ");
    let error = read("wider", &shape(16, 6), "one").unwrap_err();
    assert!(error.starts_with("map outer in section `.maps`: its entry 1, one, has another shape"), "{error}");
    let error = read("program", &shape(8, 6), "p").unwrap_err();
    assert!(error.contains("its entry 1, p, has no place in this object: it is to be a map"), "{error}");
}

fn link_error(name: &str, text: &str) -> String {
    let object = Object::read(&compile_text(name, &format!("#include <packet.h>\n{text}"), &[])).unwrap();
    object.program(&object.entries[0]).unwrap_err().to_string()
}

#[test]
fn what_only_a_kernel_has() {
    let kfunc = link_error(
        "kfunc",
        "extern int bpf_xdp_metadata_rx_hash(struct xdp_md *c, __u32 *h);\n\
         SEC(\"xdp\") int p(struct xdp_md *c) { __u32 h = 0; return bpf_xdp_metadata_rx_hash(c, &h); }",
    );
    assert!(kfunc.contains("p() in section `xdp`: `bpf_xdp_metadata_rx_hash` is not defined"), "{kfunc}");
    let config = link_error(
        "config",
        "extern const int CONFIG_HZ __attribute__((section(\".kconfig\")));\nSEC(\"xdp\") int p(struct xdp_md *c) { \
         return CONFIG_HZ; }",
    );
    assert!(config.contains("`CONFIG_HZ` is not defined") && config.contains(":3: instruction 0"), "{config}");
    let core = link_error(
        "core",
        "struct net_device { int mtu; } __attribute__((preserve_access_index));\n\
         SEC(\"xdp\") int p(struct xdp_md *c) { struct net_device *d = frame_start(c); return d->mtu; }",
    );
    assert!(core.contains("layout of `struct net_device` in a kernel (CO-RE)"), "{core}");
    let partial = link_error(
        "partial",
        "struct ipv6_opt_hdr { __u8 hdrlen; } __attribute__((preserve_access_index));\n\
         SEC(\"xdp\") int p(struct xdp_md *c) { struct ipv6_opt_hdr *d = frame_start(c); return d->hdrlen; }",
    );
    assert!(partial.contains("`struct ipv6_opt_hdr` is declared with 1 of its 2 bytes"), "{partial}");
    let whole = "#include <packet.h>\n\
        struct ipv6_opt_hdr { __u8 nexthdr, hdrlen; } __attribute__((preserve_access_index));\n\
        SEC(\"xdp\") int p(struct xdp_md *c) { struct ipv6_opt_hdr *d = frame_start(c); return d->hdrlen; }";
    program(&Object::read(&compile_text("whole", whole, &[])).unwrap(), "p");
}

#[test]
fn no_objects() {
    let refused = |data: &[u8]| Object::read(data).unwrap_err();
    assert!(refused(b"hello").to_string().starts_with("not an ELF object"));
    assert!(refused(b"").to_string().ends_with("`clang -target bpf -O2 -g -c`"));
    let itself = std::fs::read(std::env::current_exe().unwrap()).unwrap();
    assert!(matches!(refused(&itself), ObjectError::Machine(_)));
    let none = compile_text("none", "#include <bpf.h>\nSEC(\"tc\") int p(void *c) { return 0; }", &[]);
    assert_eq!(
        refused(&none).to_string(),
        "there is no XDP program: code is in `tc`; put SEC(\"xdp\") before the function"
    );
}

/// Every truncated file gives the error for truncated files.
#[test]
fn objects_that_are_cut_off() {
    for flags in [&[][..], &["-g0"]] {
        let bytes = compile(&root().join("engines/xdp/programs/xdp2.c"), flags);
        for found in 6..bytes.len() {
            let error = Object::read(&bytes[..found]).unwrap_err();
            assert!(matches!(error, ObjectError::CutOff { found: n, .. } if n == found as u64), "{found}: {error}");
        }
        let error = Object::read(&bytes[..bytes.len() - 1]).unwrap_err().to_string();
        let words = format!("cut off, or damaged: it has {} B, and speaks of {} B", bytes.len() - 1, bytes.len());
        assert!(error.contains(&words), "{error}");
    }
}

/// Without optimization clang calls helpers by registers, if their names are variables, as libbpf's were before its
/// version 1.4.
#[test]
fn objects_that_are_not_optimized() {
    let text = "#include <packet.h>\nstatic int (*ask)(void) = (void *)5;\nSEC(\"xdp\") int slow(struct xdp_md *ctx) { return ask(); }\n";
    let object = Object::read(&compile_text("slow", text, &["-O0"])).unwrap();
    let error = object.program(&object.entries[0]).unwrap_err().to_string();
    assert!(error.contains("-slow.c:3: instruction") && error.contains("of slow() in section `xdp`"), "{error}");
    assert!(error.contains("(callx)") && error.contains("compile with -O1 or higher"), "{error}");
}

#[test]
fn all_shipped_programs_are_put_together() {
    for path in programs() {
        let object = Object::read(&compile(&path, &[])).unwrap();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let program = program(&object, &name);
        assert!(program.lines.iter().flatten().count() > 0, "{name}");
        assert!(object.maps.iter().all(|map| map.check().is_ok()), "{name}");
    }
}
