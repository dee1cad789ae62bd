// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Message types in programming languages.
#![allow(clippy::unwrap_used)]

use penstock_l7_compiler::bindings::{Language, text};
use penstock_l7_compiler::compile;

/// The example of the library uses the generated types.
#[test]
fn the_example_has_the_bindings_of_its_program() {
    let program = compile("kv.l7", include_str!("../../programs/kv.l7")).unwrap().program;
    assert_eq!(
        text(&program, "kv.l7", Language::Rust),
        include_str!("../../lib/examples/kv/messages.rs"),
        "run ./penstock compile l7 engines/l7/programs/kv.l7 --bindings rust > engines/l7/lib/examples/kv/messages.rs"
    );
    assert_eq!(
        text(&program, "kv.l7", Language::C),
        include_str!("../../c/examples/kv_messages.h"),
        "run ./penstock compile l7 engines/l7/programs/kv.l7 --bindings c > engines/l7/c/examples/kv_messages.h"
    );
}

#[test]
fn names_of_the_languages_are_changed() {
    let source =
        "message try { option (type) = 1; bytes type = 3; uint64 pass = 2 [(dispatch) = true]; string self = 1; }
        application a = 9 { udp port 1; on try { default => drop; } }";
    let program = compile("a.l7", source).unwrap().program;
    let rust = text(&program, "a.l7", Language::Rust);
    for line in [
        "pub const APPLICATION_A: u8 = 9;",
        "pub struct r#try {",
        "    pub r#type: Option<Vec<u8>>,",
        "    pub pass: Option<u64>,",
        "    pub self_: Option<String>,",
        "            message = message.dispatch(2, value.to_be_bytes());",
        "            message = message.field(3, value);",
        "            pass: message.uint64(2)?,",
    ] {
        assert!(rust.lines().any(|one| one == line), "{line}\n{rust}");
    }
    let python = text(&program, "a.l7", Language::Python);
    for line in [
        "PORT_A = 1",
        "class try_:",
        "    pass_: int | None = None",
        "    type: bytes | None = None",
        "    self_: str | None = None",
        "            dispatch.append((2, self.pass_.to_bytes(8, \"big\")))",
        "            fields.append((1, self.self_.encode()))",
        // The order on the wire: dispatch fields first.
        "        return cls(message.uint(2, 8), message.text(1), message.get(3))",
    ] {
        assert!(python.lines().any(|one| one == line), "{line}\n{python}");
    }
    let c = text(&program, "a.l7", Language::C);
    for line in [
        "#define PORT_A 1",
        "struct try_ {",
        "  qnp_number pass; /* field 2, uint64, by which cards dispatch */",
        "  qnp_put_number(message, qnp_dispatch, 2, from->pass, 8);",
        "  if (from->type.data) qnp_field(message, 3, from->type.data, from->type.bytes);",
        "  if (qnp_get_number(message, 2, 8, &to->pass) != 0) return QNP_FAULT;",
    ] {
        assert!(c.lines().any(|one| one == line), "{line}\n{c}");
    }
}

/// Names with which the generated source would not compile, and names that become equal.
const NAMES: &str = "
    message Error { option (type) = 1; }
    message Message { option (type) = 2; bytes a = 1; }
    message Result { option (type) = 3; string class = 1; string class_ = 2; string class__ = 3; }
    message Option { option (type) = 4; uint32 unix = 1; uint64 linux = 2; string qnp_bytes = 3; uint32 qnp_number = 4; }
    message String { option (type) = 5; uint32 classmethod = 1; uint32 xor_eq = 2; uint32 __slots__ = 3; }
    message Vec { option (type) = 6; bytes self = 1; bytes self_ = 2; bytes NULL = 3; bytes UINT8_MAX = 4; bytes PORT_KV = 5; }
    message qnp { option (type) = 7; bytes _Bool = 1; bytes int = 2; bytes str = 3; uint32 bytes = 4; }
    message dataclass { option (type) = 8; uint32 uint8_t = 1; uint32 size_t = 2; }
    message class { option (type) = 9; }
    message class_ { option (type) = 10; }
    message u8 { option (type) = 11; uint32 qnp = 1; }
    message qnp_message { option (type) = 12; string concept = 1; }
    message PORT_KV { option (type) = 13; string list = 1; }
    message penstock_qnp { option (type) = 14; }
    application kv = 9 { udp port 1; on Error { default => drop; } }
    application KV = 8 { udp port 2; on Error { default => drop; } }
";

#[test]
fn names_do_not_collide() {
    let program = compile("n.l7", NAMES).unwrap().program;
    let has = |language, lines: &[&str]| {
        let text = text(&program, "n.l7", language);
        for line in lines {
            assert!(text.lines().any(|one| one.trim() == *line), "{line}\n{text}");
        }
        // Each definition of the outermost level once
        let begins = ["pub struct ", "pub const ", "class ", "struct ", "#define ", "APPLICATION_", "PORT_"];
        let mut all: Vec<&str> =
            text.lines().filter(|line| begins.iter().any(|begin| line.starts_with(begin))).collect();
        let count = all.len();
        assert_eq!(count, 14 + 2 * 2);
        all.sort_unstable();
        all.dedup_by_key(|line| line.split([' ', ':', '{', '=']).take(3).collect::<Vec<_>>());
        assert_eq!(all.len(), count, "{text}");
    };
    has(
        Language::Rust,
        &[
            "pub struct Error_ {",
            "pub struct Message_ {",
            "pub struct Result_ {",
            "pub struct Option_ {",
            "pub struct String_ {",
            "pub struct Vec_ {",
            "pub struct u8_ {",
            "pub struct penstock_qnp_ {",
            "pub self_: Option<Vec<u8>>,",
            "pub self__: Option<Vec<u8>>,",
            "pub const PORT_KV: u16 = 2;",
            "pub const PORT_KV_: u16 = 1;",
        ],
    );
    has(
        Language::Python,
        &[
            "class qnp_:",
            "class dataclass_:",
            "class class_:",
            "class class__:",
            "class own_PORT_KV:",
            "class_: str | None = None",
            "class__: str | None = None",
            "class___: str | None = None",
            "classmethod_: int | None = None",
            "__slots___: int | None = None",
            "bytes_: int | None = None",
            "PORT_KV_ = 1",
        ],
    );
    has(
        Language::C,
        &[
            "struct class_ {",
            "struct class__ {",
            "struct qnp_message_ {",
            "qnp_number unix_; /* field 1, uint32 */",
            "qnp_number linux_; /* field 2, uint64 */",
            "qnp_bytes qnp_bytes_; /* field 3, string */",
            "qnp_number qnp_number_; /* field 4, uint32 */",
            "qnp_number xor_eq_; /* field 2, uint32 */",
            "qnp_bytes NULL_; /* field 3, bytes */",
            "qnp_bytes UINT8_MAX_; /* field 4, bytes */",
            "qnp_bytes own_PORT_KV; /* field 5, bytes */",
            "qnp_bytes _Bool_; /* field 1, bytes */",
            "qnp_number size_t_; /* field 2, uint32 */",
            "qnp_bytes concept_; /* field 1, string */",
            "#define PORT_KV_ 1",
        ],
    );
}

/// The compiler knows the messages of other protocols itself; clients do not send them through the library.
#[test]
fn other_protocols_have_no_bindings() {
    let program = compile("names.l7", include_str!("../../programs/names.l7")).unwrap().program;
    for language in [Language::Rust, Language::Python, Language::C] {
        let text = text(&program, "names.l7", language);
        let of_types = ["class ", "struct ", "pub struct "];
        assert!(!text.lines().any(|line| of_types.iter().any(|begin| line.starts_with(begin))), "{text}");
        assert!(!text.contains("NAMES"), "{text}");
    }
}
