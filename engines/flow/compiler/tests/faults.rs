// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Errors in programs are reported with their place.
#![allow(clippy::expect_used, clippy::unwrap_used)]

use penstock_flow_compiler::compile;

/// Asserts that a program is refused with this message alone, at the first `^` of the line below the source's.
fn refused(source: &str, message: &str) {
    let lines: Vec<&str> = source.lines().collect();
    let at = lines.iter().position(|line| line.contains('^') && line.trim_start().starts_with('^')).unwrap();
    let (column, length) = (lines[at].find('^').unwrap() + 1, lines[at].matches('^').count());
    let text: Vec<&str> = lines.iter().enumerate().filter(|(line, _)| *line != at).map(|(_, line)| *line).collect();
    let faults = compile("x.efsm", &text.join("\n")).expect_err(source);
    let found: Vec<_> = faults.iter().collect();
    assert_eq!(found.len(), 1, "{faults}");
    let span = found[0].span;
    assert!(found[0].message.contains(message), "{faults}");
    assert_eq!((span.line, span.column, span.length), (at as u32, column as u32, length as u32), "{faults}");
}

/// A program of one element with a key, two states, registers, and these rows.
fn rows(rows: &str) -> String {
    format!("element e {{ key 5tuple\nstates A, B\nflow r, s\nglobal g\nin A {{ ip.ttl == 77 => goto B }}\n{rows}\n}}")
}

#[test]
fn faults_show_their_line() {
    let faults = compile("x.efsm", "element e {\n\ttcp.dprt == 1 => drop\n}").unwrap_err();
    let text = "x.efsm:2:2: there is no register or field `tcp.dprt`; the nearest is `tcp.dport`\n 2 | \ttcp.dprt == \
                1 => drop\n   | \t^^^^^^^^";
    assert_eq!(faults.to_string(), text);
}

#[test]
fn all_faults_of_a_checked_program_are_said() {
    let faults = compile("x.efsm", &rows("tcp.x == 1 => drop\nnope => drop\nelse => goto C")).unwrap_err();
    assert_eq!(faults.iter().count(), 3, "{faults}");
}

#[test]
fn what_cannot_be_read() {
    refused("element e { tcp => drop @ }\n                        ^", "`@` has no meaning here");
    refused("element e { ip.src == 1.2.3.400 => drop }\n                      ^^^^^^^^^", "is not an IPv4 address");
    refused("element e { tcp => }\n                   ^", "expected an action, not `}`");
    refused("element e { tcp => drop\n                       ^", "the file ends");
    refused("element e { drop }\n            ^^^^", "`drop` is an action");
    refused("element e { tcp => pas }\n                   ^^^", "the nearest is `pass`");
    refused("element e { flow tcp.x }\n                 ^^^^^", "only fields have names with dots");
    refused("element e { !ip.ttl == 1 => drop }\n            ^", "write the opposite of `==`");
    refused("const a = 1\nelement e { global a }\n                   ^", "is a constant");
    refused("element e { key ip.src\ntcp => keep for 3 x }\n                  ^", "expected the unit of the time");
    refused("elemnt e { }\n^^^^^^", "expected `element NAME {`");
}

#[test]
fn what_other_languages_have() {
    refused(&rows("tcp => r = r + 1 + 2\n                 ^"), "combine numbers");
    refused(&rows("tcp => r = (r + 1) * 2\n           ^"), "let an earlier element compute the inner one");
    refused(&rows("tcp || udp => drop\n    ^"), "write a row for each case");
    refused(&rows("ip.src = 1.2.3.4 => drop\n       ^"), "write `==` to compare");
    refused(&rows("tcp => goto A then B\n              ^^^^"), "as in `for 5 s then A`");
    refused(&rows("tcp.dport in 1000..2000 => drop\n             ^^^^^^^^^^"), "there are no ranges");
}

#[test]
fn names() {
    refused(&rows("tcp => t = 1\n       ^"), "there is no register or field `t`");
    refused(&rows("tcp => goto AA\n            ^^"), "there is no state `AA`; the nearest is `A`");
    refused(&rows("tcp => next f\n            ^"), "there is no element `f`");
    refused(
        "element e { key ip.src, ip.srk\n                        ^^^^^^\n}",
        "there is no field `ip.srk`; the nearest is `ip.src`",
    );
    refused(
        "element e { key ip.src states A, A }\n                                 ^",
        "there is a state `A` already, in line 1",
    );
    refused(
        "element e { tcp => drop } element e { tcp => drop }\n                                  ^",
        "there is an element `e` already, in line 1",
    );
    refused(
        "element e { tcp => drop }\nelement f { tcp => next e }\n                        ^",
        "frames only move down",
    );
    refused(&rows("tcp => ip.proto = 1\n       ^^^^^^^^"), "`ip.proto` cannot be set");
    refused("element e { ip.ttl => drop }\n            ^^^^^^", "`ip.ttl` is no test");
}

#[test]
fn widths() {
    refused(&rows("ip.ttl == 256 => drop\n          ^^^"), "256 does not fit into 8 bits");
    refused(&rows("ip.ttl == 0x100 => drop\n          ^^^^^"), "0x100 does not fit into 8 bits");
    refused(&rows("ip.ttl == 1.2.3.4 => drop\n          ^^^^^^^"), "an IPv4 address has 32 bits; here are 8");
    refused(&rows("eth.src == r => drop\n^^^^^^^"), "`eth.src` has 48 bits; registers and conditions take 32");
    refused(&rows("eth.src != 02:00:00:00:00:01 => drop\n^^^^^^^"), "put a row for the equal ones before");
    refused(&rows("eth.src < 02:00:00:00:00:01 => drop\n^^^^^^^^^^^^^^^^^^^^^^^^^^^"), "compared with `==` and `in`");
    refused(&rows("ip.src in 10.0.0.1/8 => drop\n          ^^^^^^^^"), "bits below its prefix of 8");
    refused(&rows("ip.src in 10.0.0.0/33 => drop\n                   ^^"), "has 1 to 32 bits");
    refused(&rows("tcp.flags & 2 == 3 => drop\n                 ^"), "never equal");
    refused(&rows("tcp => eth.dst = ip.src\n                 ^^^^^^"), "`eth.dst` has 48 bits, `ip.src` has 32");
    refused(&rows("tcp => goto A for 4001 s\n                  ^^^^^^"), "from 1 us to 4000 s");
    refused(&rows("tcp => keep idle 0 us\n                 ^^^^"), "from 1 us to 4000 s");
    refused(&rows("tcp => port 4\n            ^"), "ports are numbers from 0 to 3");
    refused(&rows("tcp => r = ewma(r, s, 32)\n                      ^^"), "0 to 31 bits");
}

#[test]
fn what_contradicts_itself() {
    refused(&rows("tcp && udp => drop\n^^^^^^^^^^^^^^^^^^"), "contradict each other");
    refused(
        &rows("tcp.dport == 1 && tcp.dport > 1 => drop\n^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^"),
        "contradict each other",
    );
    refused(
        &rows("tcp.syn == 1 && tcp.flags & 3 == 1 => drop\n^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^"),
        "contradict each other",
    );
    refused(&rows("r < s && s < r => drop\n^^^^^^^^^^^^^^^^^^^^^^"), "contradict each other");
    refused(&rows("r < 0 => drop\n^^^^^^^^^^^^^"), "contradict each other");
    refused(&rows("ip6 => drop\n^^^^^^^^^^^"), "contradict each other");
    refused(&rows("tcp => drop, host\n             ^^^^"), "already says where the frame goes");
    refused(&rows("tcp => forget, r = 1\n               ^^^^^"), "a context that is removed keeps nothing");
    refused(&rows("tcp => goto A, keep\n               ^^^^"), "already names a state");
    refused(&rows("tcp => r = 1, r = 2\n              ^^^^^"), "sets `r` twice");
    refused(&rows("tcp => tcp.syn = 1, tcp.flags = 2\n^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^"), "have bits in common");
    refused(&rows("tcp => swap ip, ip.src = 1.1.1.1\n^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^"), "sets `ip.src` twice");
    refused(&rows("tcp => push mpls 1, push mpls 2\n^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^"), "one MPLS label at most");
    refused(
        &rows("tcp => pop vlan, vlan2.id = 2\n^^^^^^^^^^^^^^^^^^^^^^^^^^^^^"),
        "popped too many for this one to be there",
    );
    refused(&rows("r == r => drop\n^^^^^^"), "both sides are the same");
    refused("element e { key tcp.sport, udp.sport\n                           ^^^^^^^^^\n}", "no frame has both");
    refused("element e { key biflow(ip.src)\n            ^^^^^^^^^^^^^^^^^^\n}", "without `ip.dst`; add it");
}

#[test]
fn what_needs_contexts() {
    refused("element e { states A }\n                   ^", "an element without a `key` has no contexts");
    refused("element e { new => drop }\n            ^^^", "an element without a `key` has none");
    refused("element e { tcp => goto A }\n                   ^^^^^^", "add a key");
    refused(
        "element e { key ip.src table 4 evict lowest }\n                                     ^^^^^^",
        "add `flow NAME`",
    );
    refused(
        "element e { key ip.src flow r table 4 evict lowest full => drop \
         }\n                                                   ^^^^",
        "never full",
    );
    refused("element e { key ip.src table 0 }\n                             ^", "from 1 to 1048576 contexts");
}

#[test]
fn what_never_happens() {
    refused(
        "element e { key ip.src states A, B, C\n                                    ^\nin A { else => goto B } in C { \
         tcp => goto C } }",
        "no flow gets into the state `C`",
    );
    refused(
        &rows("tcp => drop\ntcp.dport == 1 => pass\n^^^^^^^^^^^^^^^^^^^^^^"),
        "the row of line 6 takes all its frames",
    );
    refused(
        &rows("r <= s => drop\ns < r => pass\nelse => host\n^^^^^^^^^^^^"),
        "the rows before it take all its frames",
    );
    refused(
        &rows(
            "ip.src in 10.0.0.0/8 => drop\nip.src in 10.1.0.0/16 && tcp => pass\n^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^",
        ),
        "the row of line 6",
    );
    refused(
        &rows("tcp.dport < 100 => drop\ntcp.dport > 98 => drop\ntcp.dport == 5 => pass\n^^^^^^^^^^^^^^^^^^^^^^"),
        "never matches",
    );
    refused(&rows("in B { new => drop\n       ^^^^^^^^^^^\n}"), "never matches");
}

#[test]
fn bits_in_the_middle() {
    // Too many numbers lack them to try one by one.
    for text in [
        "eth.dst & 0x10000000000 != 0 => drop",
        "data.0 & 1 == 0 => pass\ndata.0 & 1 == 1 => drop\ndata.0 & 2 == 2 => host",
    ] {
        assert!(compile("x.efsm", &rows(text)).is_ok(), "{text}");
    }
    refused(
        &rows(
            "tcp.sport & 1 == 0 => pass\ntcp.sport & 1 == 1 => drop\ntcp.sport & 2 == 2 => \
             host\n^^^^^^^^^^^^^^^^^^^^^^^^^^",
        ),
        "never matches",
    );
    let quarters = "tcp.seq & 0x60000000 == 0 => pass\ntcp.seq & 0x60000000 == 0x20000000 => pass\n\
                    tcp.seq & 0x60000000 == 0x40000000 => pass\ntcp.seq & 0x60000000 == 0x60000000 => pass";
    refused(&rows(&format!("{quarters}\ntcp.seq & 1 == 1 => host\n^^^^^^^^^^^^^^^^^^^^^^^^")), "never matches");
}

#[test]
fn a_state_can_be_one_that_only_time_leads_to() {
    let text = "element e { key ip.src states A, B, C in A { else => goto B for 1 s then C } in C { tcp => forget } }";
    assert!(compile("x.efsm", text).is_ok());
}

#[test]
fn too_much() {
    let many = |count: usize, item: &dyn Fn(usize) -> String| (0..count).map(item).collect::<Vec<_>>();
    let registers = many(5, &|at| format!("r{at}")).join(", ");
    refused(
        &format!("element e {{ key ip.src\nflow {registers}\n{:21}^^\n}}", ""),
        "there are 5 flow registers, 4 at most",
    );
    let rows = |rows: &[String]| format!("element e {{\nglobal a, b, c, d, e, f, g, h\n{}\n}}", rows.join("\n"));
    let message = |text: &str| compile("x.efsm", text).unwrap_err().to_string();
    let text = rows(&many(65, &|at| format!("ip.ttl == 7 && ip.id == {at} => drop")));
    assert!(message(&text).contains("has 65 rows, 64 at most"), "{}", message(&text));
    assert!(message(&text).contains("needs 66 predicates"), "{}", message(&text));
    let text = rows(&many(9, &|at| format!("a == {at} => drop")));
    assert!(message(&text).starts_with("x.efsm:11:1: element `e` needs 9 conditions"), "{}", message(&text));
    let text = rows(&many(17, &|at| format!("ip.id == {at} => a = {at}")));
    assert!(message(&text).contains("needs 17 functions"), "{}", message(&text));
    let text = rows(&many(5, &|at| format!("ip.id == {at} => a = a << {}", at + 1)));
    assert!(
        message(&text).contains("needs 5 functions that shift, average or multiply, 4 at most"),
        "{}",
        message(&text)
    );
    // Ten functions read the first global registers on the left, and ten on the right; with the sides swapped there are
    // three more.
    let global = |rows: &[String]| format!("element e {{ global g, h\n{}\n}}", rows.join("\n"));
    assert!(compile("x.efsm", &global(&many(10, &|at| format!("ip.id == {at} => h = g - {}", at + 1)))).is_ok());
    let text = global(&many(11, &|at| format!("ip.id == {at} => h = g - {}", at + 1)));
    assert!(
        message(&text).starts_with("x.efsm:12:1: element `e` has no place in hardware for the functions"),
        "{}",
        message(&text)
    );
    assert!(compile("x.efsm", &global(&many(13, &|at| format!("ip.id == {at} => h = g + {}", at + 1)))).is_ok());
    let fields = ["port", "meta1", "vlan.tci", "ip.tos", "ip.len", "tcp.window", "data.0"];
    assert!(compile("x.efsm", &rows(&many(6, &|at| format!("{} == 1 => drop", fields[at])))).is_ok());
    let text = rows(&many(7, &|at| format!("{} == 1 => drop", fields[at])));
    assert!(
        message(&text).contains("reads 7 words of fields of which operands X of hardware reach 6 only: `port`"),
        "{}",
        message(&text)
    );
    assert!(message(&text).starts_with("x.efsm:9:1:"), "{}", message(&text));
    let fields = ["eth.type", "ip.src", "ip.dst", "ip.id", "ip.ttl", "ip.tos", "ip.len", "ip.proto", "ip.frag"];
    let text = rows(&many(9, &|at| format!("{} == 1 => drop", fields[at])));
    assert!(message(&text).contains("needs 9 operands X"), "{}", message(&text));
    let text = rows(&[format!("tcp => {}", many(9, &|at| format!("data.{at} = 1")).join(", "))]);
    assert!(message(&text).contains("there is no register or field `data.8`"), "{}", message(&text));
    let text = many(16, &|at| format!("element e{at} {{ tcp => drop }}")).join("\n");
    assert!(message(&text).starts_with("x.efsm:16:9: there are 16 elements, 15 at most"), "{}", message(&text));
    let text = "element e { key ip.tos, ip.ttl, ip.proto, tcp.flags, tcp.syn, tcp.fin, tcp.rst, tcp.ack_flag, \
                vlan.id, vlan.pcp, vlan2.id, \
                vlan2.pcp, mpls.tc, mpls.ttl, port, len, ip.len, ip.id, ip.frag, tcp.window, tcp.len }";
    assert!(
        message(text).starts_with("x.efsm:1:13: the key has no place in hardware, which has 20 halves"),
        "{}",
        message(text)
    );
    let text = many(11, &|at| format!("ip.ttl == {at} => keep for {} s", at + 1)).join("\n");
    assert!(
        message(&format!("element e {{ key ip.src\n{text} }}"))
            .starts_with("x.efsm:10:1: element `e` has 11 different timeouts"),
    );
    let text = "element e { key ip6.src, ip6.dst, eth.src, eth.dst, tcp.sport }";
    assert!(message(text).contains("the key has 368 bits, 320 at most"), "{}", message(text));
}

/// The search for rows that never match goes through all states and, for each row, all earlier rows, so an excessive
/// program is reported without it.
#[test]
fn far_too_much_is_refused_at_once() {
    let states: Vec<String> = (0..256).map(|at| format!("S{at}")).collect();
    let fields = ["ip.ttl", "ip.id", "tcp.sport", "tcp.window"];
    let rows = |count: usize| -> String {
        let test = |at: usize| format!("{} {} {}", fields[at % 4], ["!=", "<", ">"][at % 3], [50, 200][at % 2]);
        let row = |at: usize| {
            format!("{} && {} && {} && tcp.dport != {} => drop\n", test(at), test(at / 2 + 1), test(at / 3 + 2), at % 3)
        };
        (0..count).map(row).collect()
    };
    let text = format!("element e {{ key ip.src states {}\n{} }}", states.join(", "), rows(300));
    assert!(compile("x.efsm", &text).unwrap_err().to_string().contains("has 300 rows, 64 at most"));
    // As many as there may be are looked at. That the last ones never fit takes more ways to go than there is time for,
    // in each state.
    let ways: String =
        (0..25).map(|at| format!("ip.ttl < {} && ip.id < {} => drop\n", at % 5 + 1, at / 5 + 1)).collect();
    let never: String = (0..20).map(|at| format!("tcp.dport == {at} => host\n")).collect();
    let text = format!(
        "element e {{ key ip.src states {}\n{ways}tcp.syn == 1 => drop\ntcp.syn == 0 => drop\n{never} }}",
        states.join(", ")
    );
    assert!(compile("x.efsm", &text).unwrap_err().to_string().contains("no flow gets into the state"));
}
