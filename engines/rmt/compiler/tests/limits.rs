// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Programs that would exhaust the compiler's stack, memory or time: a tenant's controller may send any text.

#![allow(clippy::expect_used, clippy::unwrap_used)]

/// A program with declarations, declarations of its ingress, and statements of its ingress.
fn program(top: &str, locals: &str, apply: &str) -> String {
    format!(
        "#include <v1model.p4>\nstruct H {{}}\nstruct M {{ bit<32> x; }}\n{top}\n\
         parser P(packet_in p, out H h, inout M m, inout standard_metadata_t s) {{ state start {{ transition accept; }} }}\n\
         control V(inout H h, inout M m) {{ apply {{}} }}\n\
         control I(inout H h, inout M m, inout standard_metadata_t s) {{ {locals} apply {{ {apply} }} }}\n\
         control E(inout H h, inout M m, inout standard_metadata_t s) {{ apply {{}} }}\n\
         control C(inout H h, inout M m) {{ apply {{}} }}\n\
         control D(packet_out p, in H h) {{ apply {{}} }}\n\
         V1Switch(P(), V(), I(), E(), C(), D()) main;\n"
    )
}

/// The compiler's messages for a program; empty if it accepts the program. It runs on a stack as large as that of a
/// main thread: a debug build needs several times as much of it as a release build.
fn said(text: &str) -> String {
    let text = text.to_owned();
    let compile = move || {
        penstock_rmt_compiler::compile("a.p4", &text).map_or_else(|faults| faults.to_string(), |_| String::new())
    };
    let thread = std::thread::Builder::new().stack_size(8 << 20).spawn(compile).expect("there is a thread");
    thread.join().expect("the compiler does not panic")
}

/// A line for each of some numbers.
fn lines(count: usize, line: impl Fn(usize) -> String) -> String {
    (0..count).map(line).collect()
}

#[test]
fn what_stands_in_itself_has_an_end() {
    const MANY: usize = 100_000;
    for (apply, words) in [
        (format!("m.x = {}1{};", "(".repeat(MANY), ")".repeat(MANY)), "parts stand in each other"),
        (format!("m.x = {}m.x;", "-".repeat(MANY)), "parts stand in each other"),
        (format!("m.x = {}m.x;", "(bit<32>)".repeat(MANY)), "parts stand in each other"),
        (format!("{}{}", "{".repeat(MANY), "}".repeat(MANY)), "parts stand in each other"),
        (format!("{}{{}}", "if (m.x == 1) {} else ".repeat(MANY)), "parts stand in each other"),
        (format!("{}bit<8>{} t;", "tuple<".repeat(MANY), ">".repeat(MANY)), "parts stand in each other"),
        (format!("m.x = m.x{};", " + m.x".repeat(MANY)), "operators in one expression"),
        (format!("m{} = 1;", ".x".repeat(MANY)), "operators in one expression"),
    ] {
        let said = said(&program("", "", &apply));
        assert!(said.contains(words) && said.contains("a.p4:7:"), "{}", said.lines().next().unwrap_or_default());
    }
    let types = program(&lines(1000, |n| format!("struct S{} {{ {} a; }}\n", n + 1, of(n))), "", "");
    assert!(said(&types).contains("more than 64 types stand in each other"));
    let types = program(
        &lines(1000, |n| format!("type {} T{};\n", if n == 0 { "bit<8>".into() } else { format!("T{n}") }, n + 1)),
        "",
        "",
    );
    assert!(said(&types).contains("more than 64 types stand in each other"));
}

/// The type that a struct has in it.
fn of(n: usize) -> String {
    if n == 0 { "bit<8>".into() } else { format!("S{n}") }
}

#[test]
fn what_people_write_is_no_fault() {
    let sum = vec!["m.x"; 100].join(" + ");
    let deep = format!("{}m.x{}", "(1 + ".repeat(20), ")".repeat(20));
    let choice = "if (m.x == 1) { m.x = 2; } else ".repeat(50);
    assert_eq!(said(&program("", "", &format!("m.x = {sum}; m.x = {deep}; {choice} {{}}"))), "");
    assert_eq!(said(&program("", "", &"m.x = m.x + 1;".repeat(2000))), "");
}

#[test]
fn what_doubles_has_an_end() {
    let macros = lines(40, |n| format!("#define A{} A{n} A{n}\n", n + 1));
    for text in [format!("#define A0 1\n{macros}A40"), format!("#define A0\n{macros}A40")] {
        assert!(said(&text).contains("macros make more than 200000 tokens"));
    }
    let chain = lines(5000, |n| format!("#define A{} A{n}\n", n + 1));
    assert!(said(&format!("{chain}A5000")).contains("more than 100 macros stand in each other"));
    assert!(said(&format!("#if {}1\n#endif", "(".repeat(100_000))).contains("parts of a condition"));

    let actions = lines(30, |n| format!("action a{}() {{ a{n}(); a{n}(); }}\n", n + 1));
    let actions = program("", &format!("action a0() {{ m.x = m.x + 1; }}\n{actions}"), "a30();");
    assert!(said(&actions).contains("more than 131072 statements"));
    let fields = lines(40, |n| format!("struct S{} {{ {} a; {} b; }}\n", n + 1, of(n), of(n)));
    assert!(said(&program(&fields, "S40 z;", "")).contains("more than 65536 fields"));
    let numbers = lines(40, |n| format!("const int K{} = K{n} * K{n};\n", n + 1));
    let numbers = program(&format!("const int K0 = 1 << 4096;\n{numbers}"), "", "m.x = (bit<32>)K40;");
    assert!(said(&numbers).contains("constants of more than 65536 bits"));
    assert!(said(&program("", "", &format!("m.x = {};", "9".repeat(1_000_000)))).contains("is not a number"));
}

#[test]
fn what_stacks_multiply_has_an_end() {
    let stack = "header B { bit<8> v; }";
    let nested = |depth: usize| format!("m.x = (bit<32>)s[{}m.x{}].v;", "s[".repeat(depth), "].v".repeat(depth));
    assert_eq!(said(&program(stack, "B[64] s;", &nested(1))), "");
    let deep = said(&program(stack, "B[64] s;", &nested(4)));
    assert!(deep.contains("takes more than 65536 operations") && deep.contains("to a variable first"), "{deep}");

    let fields = lines(12, |n| format!("struct S{} {{ {} a; {} b; }}\n", n + 1, of(n), of(n)));
    let exits = lines(2000, |n| format!("if (m.x == {n}) {{ exit; }}\n"));
    let exits = program(&fields, &format!("S12 z; action a(inout S12 z) {{ {exits} }}"), "a(z);");
    assert!(said(&exits).contains("more than 131072 statements"));

    let states = "\
        state start { m.z = m.y; transition select(p.lookahead<bit<8>>()) { 0: one; 1: two; default: accept; } }
        state one { p.extract(h.s.next); transition start; }
        state two { p.extract(h.t.next); transition start; }";
    let text = program("", "", "")
        .replace("struct H {}", &format!("{stack} struct H {{ B[60] s; B[60] t; }}"))
        .replace("struct M { bit<32> x; }", &format!("{fields} struct M {{ bit<32> x; S12 y; S12 z; }}"))
        .replace("state start { transition accept; }", states);
    let said = said(&text);
    assert!(said.contains("the parser has more than 262144 operations"), "{said}");
}

#[test]
fn memory_that_a_program_asks_for_has_an_end() {
    for locals in ["register<bit<128>>(4294967295) r;", "counter(4294967295, CounterType.packets) c;"] {
        let said = said(&program("", locals, ""));
        assert!(said.contains("a program has 16777216 at most"), "{said}");
    }
    assert_eq!(said(&program("", "register<bit<128>>(16777216) r;", "")), "");
}

/// A program that was sent reads no file of the card's host, whatever the path, and gets the library all the same.
#[test]
fn sent_programs_include_the_library_alone() {
    for path in ["/etc/passwd", "../Cargo.toml", "mine.p4"] {
        let text = format!("#include <core.p4>\n#include \"v1model.p4\"\n#include \"{path}\"\n");
        let said = penstock_rmt_compiler::compile_sent("sent.p4", &text).unwrap_err().to_string();
        assert!(said.contains("sent.p4:3") && said.contains("did not come with the program"), "{said}");
        assert!(!said.contains("root:"), "{said}");
    }
}
