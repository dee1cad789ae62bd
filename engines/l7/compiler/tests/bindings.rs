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
