// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Designs with parts of several engines.
#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};

use penstock_device::{Design, DesignError, ForGroup, Override, PartId, Policy};
use penstock_engine::Tenant;

const GOOD: &str = r#"
[card]
name = "test"
ports = 2
[dispatch]
policy = "round-robin"
[[units]]
engine = "rpu"
count = 16
program = "design.rs"
rpu.accelerators = ["ip_prefix", "crc32"]
[units.rpu.tables]
ip_prefix = "list.txt"
"#;

/// The files of all programs of groups.
fn programs_of(design: &Design) -> Vec<PathBuf> {
    design.groups.iter().map(|group| group.program.clone()).collect()
}

fn parse(text: &str) -> Result<Design, DesignError> {
    Design::parse(Path::new("src/card.toml"), text).or_else(|e| match e {
        DesignError::Line { message, .. } if message.contains("src/design.rs does not exist") => {
            Design::parse(Path::new("device/src/card.toml"), text)
        }
        e => Err(e),
    })
}

fn error(text: &str) -> String {
    parse(text).unwrap_err().to_string()
}

#[test]
fn reads_every_key() {
    let design = parse(GOOD).unwrap();
    assert_eq!((design.ports, design.units(), design.clock_mhz), (2, 16, 250));
    assert_eq!(design.policy, Policy::RoundRobin);
    let [group] = &design.groups[..] else { panic!("{design:?}") };
    assert_eq!((group.part.parameter(), group.mask(), group.ports), (0b01001, 0xFFFF, true));
    assert!(format!("{:?}", group.part).contains("src/list.txt") && group.name.is_empty());
}

/// Another group after that of [`GOOD`].
const MORE: &str = r#"
[[units]]
name = "more"
engine = "xdp"
count = 3
program = "design.rs"
"#;

fn two_groups() -> String {
    GOOD.replace("count = 16", "count = 5\nname = \"first\"") + MORE
}

#[test]
fn groups_are_numbered_through() {
    let text = two_groups() + &MORE.replace("more", "last_1").replace("count = 3", "count = 2\nports = true");
    let design = parse(&text).unwrap();
    let groups: Vec<_> =
        design.groups.iter().map(|group| (group.name.as_str(), group.units.clone(), group.ports)).collect();
    assert_eq!(groups, [("first", 0..5, true), ("more", 5..8, false), ("last_1", 8..10, true)]);
    assert_eq!((design.units(), design.groups[1].mask()), (10, 0xE0));
    assert_eq!([4, 5, 9, 10].map(|unit| design.group_of(unit)), [Some(0), Some(1), Some(2), None]);
}

#[test]
fn groups_that_are_wrong_name_their_line() {
    let good = two_groups();
    for (old, new, line, words) in [
        ("name = \"more\"\n", "", 16, "each needs a `name`"),
        ("name = \"first\"\n", "", 7, "each needs a `name`"),
        ("\"more\"", "\"first\"", 17, "`first` is the name of two"),
        ("\"more\"", "\"More\"", 17, "lower-case letters"),
        ("\"more\"", "\"1st\"", 17, "a letter first"),
        ("count = 3", "count = 28", 19, "33 units in all; a card has 32 at most"),
        ("count = 3", "rpu.accelerators = []\ncount = 3", 19, "is for the engine \"rpu\", and this is \"xdp\""),
        ("count = 5", "ports = false\ncount = 5", 9, "no group of units has `ports = true`"),
        ("count = 3", "count = 3\nports = 1", 20, "here is the number 1; write true or false"),
    ] {
        let text = error(&good.replace(old, new));
        assert!(text.starts_with(&format!("src/card.toml:{line}: ")) && text.contains(words), "{new}: {text}");
    }
}

/// Two inline blocks, in front of [`GOOD`]'s units.
const INLINE: &str = r#"
[[inline]]
name = "mark"
engine = "flow"
program = "design.rs"
[[inline]]
name = "count"
engine = "flow"
program = "image.rs"
flow.contexts = 1048576
"#;

#[test]
fn inline_blocks_have_their_order() {
    assert!(parse(GOOD).unwrap().inline.is_empty());
    let design = parse(&(GOOD.to_string() + INLINE)).unwrap();
    let blocks: Vec<_> = design
        .inline
        .iter()
        .map(|block| (block.name.as_str(), block.program.to_str().unwrap(), block.engine.name()))
        .collect();
    assert_eq!(blocks, [("mark", "src/design.rs", "flow"), ("count", "src/image.rs", "flow")]);
    let programs = vec![ForGroup { group: Some("count".to_string()), value: "other.efsm".into() }];
    let changed = design.with(Override { programs, ..Override::default() }).unwrap();
    assert_eq!(changed.inline[1].program, PathBuf::from("other.efsm"));
    let one = "[[inline]]\nengine = \"flow\"\nprogram = \"design.rs\"\n";
    assert_eq!(parse(&(GOOD.to_string() + one)).unwrap().inline[0].name, "");
}

/// A state machine finds the only block that can run it, and never gets to units.
#[test]
fn a_state_machine_is_for_an_inline_block() {
    let block = "[[inline]]\nengine = \"flow\"\nprogram = \"design.rs\"\n";
    let bare = parse(&(GOOD.to_string() + block)).unwrap();
    let named = parse(&(two_groups() + &block.replace("[[inline]]\n", "[[inline]]\nname = \"nat\"\n"))).unwrap();
    let with = |design: &Design, text: &str| {
        let ForGroup { group, value } = ForGroup::parse(text);
        let programs = vec![ForGroup { group, value: value.into() }];
        design.clone().with(Override { programs, ..Override::default() })
    };
    for (design, text) in [(&bare, "a.efsm"), (&named, "a.efsm"), (&named, "nat=a.efsm"), (&named, "nat=a.c")] {
        let changed = with(design, text).unwrap();
        assert!(changed.inline[0].program.starts_with(text.rsplit('=').next().unwrap()), "{text}");
        assert_eq!(programs_of(&changed), programs_of(design));
    }
    assert_eq!(with(&bare, "a.c").unwrap().groups[0].program, PathBuf::from("a.c"));
    let several = parse(&(GOOD.to_string() + INLINE)).unwrap();
    for (design, text, words) in [
        (
            &parse(GOOD).unwrap(),
            "a.efsm",
            "program: a.efsm is for an inline block of the engine flow, and the design has none",
        ),
        (&several, "a.efsm", "several inline blocks, so say whose it is: NAME=..., of mark, count"),
        (&several, "more=a.efsm", "none is named `more`; there are: mark, count"),
        (&named, "more=a.efsm", "none is named `more`; there are: nat"),
        (&bare, "nat=a.efsm", "it has no name, so leave the name out"),
    ] {
        let text = with(design, text).unwrap_err().to_string();
        assert!(text.contains(words), "{text}");
    }
    assert_eq!(named.part_for(Some("more"), Path::new("a.c")).unwrap(), PartId::Units(1));
    let units =
        format!("{}program = \"../engines/flow/programs/nat.efsm\"\n", MORE.replace("program = \"design.rs\"\n", ""));
    let text =
        Design::parse(Path::new("../designs/card.toml"), &("[card]\nname = \"x\"\nports = 1\n".to_string() + &units));
    let text = text.unwrap_err().to_string();
    assert!(
        text.starts_with(
            "../designs/card.toml:9: program: ../designs/../engines/flow/programs/nat.efsm is for the engine \"flow\""
        ),
        "{text}"
    );
    for name in [None, Some("nat")] {
        assert_eq!(named.part_for(name, Path::new("a.efsm")).unwrap(), PartId::Inline(0));
    }
}

#[test]
fn inline_blocks_that_are_wrong_name_their_line() {
    let good = two_groups() + INLINE;
    for (old, new, line, words) in [
        ("name = \"mark\"\n", "", 22, "of several inline blocks each needs a `name`"),
        ("\"mark\"", "\"Mark\"", 23, "lower-case letters"),
        ("\"count\"", "\"mark\"", 27, "`mark` is the name of two inline blocks"),
        ("\"count\"", "\"more\"", 27, "`more` is the name of two inline blocks, or of one and of units"),
        ("engine = \"flow\"", "engine = \"xdp\"", 24, "`xdp` is an engine of units"),
        ("engine = \"flow\"\n", "", 22, "missing field `engine`"),
        ("program = \"image.rs\"\n", "", 26, "missing field `program`"),
        ("image.rs", "none.efsm", 29, "program: src/none.efsm does not exist"),
        ("contexts = 1048576", "contexts = 0", 30, "1 to 1048576 contexts, not 0"),
        ("contexts = 1048576", "contexts = 1048577", 30, "1 to 1048576 contexts, not 1048577"),
        ("contexts = 1048576", "contexts = \"all\"", 30, "write a whole number"),
        ("contexts", "context", 30, "`contexts`"),
    ] {
        assert!(good.contains(old));
        let text = error(&good.replace(old, new));
        assert!(text.starts_with(&format!("src/card.toml:{line}: ")) && text.contains(words), "{new}: {text}");
    }
}

#[test]
fn options_are_for_one_group() {
    let rpu = "engine = \"rpu\"\nrpu.accelerators = [\"ip_prefix\", \"string_match\"]";
    let design = parse(&two_groups().replace("engine = \"xdp\"", rpu)).unwrap();
    let with = |programs: &[&str], units: &[&str], tables: &[&str]| {
        let programs = programs.iter().map(|text| ForGroup::parse(text));
        let units = units.iter().map(|text| ForGroup::parse(text));
        design.clone().with(Override {
            programs: programs.map(|ForGroup { group, value }| ForGroup { group, value: value.into() }).collect(),
            units: units.map(|ForGroup { group, value }| ForGroup { group, value: value.parse().unwrap() }).collect(),
            tables: tables.iter().map(|name| (name.to_string(), PathBuf::from("other"))).collect(),
            ..Override::default()
        })
    };
    let changed = with(&["more=a.c"], &["first=7", "more=1"], &["more.ip_prefix", "string_match"]).unwrap();
    assert_eq!((&changed.groups[0].units, &changed.groups[1].units), (&(0..7), &(7..8)));
    assert_eq!(changed.groups[0].program, design.groups[0].program);
    assert_eq!(changed.groups[1].program, PathBuf::from("a.c"));
    assert_eq!(format!("{:?}", changed.groups[0].part), format!("{:?}", design.groups[0].part));
    let part = format!("{:?}", changed.groups[1].part);
    assert!(part.contains("\"ip_prefix\": \"other\"") && part.contains("\"string_match\": \"other\""), "{part}");
    for (programs, units, tables, words) in [
        (
            vec!["a.c"],
            vec![],
            vec![],
            "program: there are several groups of units, so say whose it is: NAME=..., of first, more",
        ),
        (vec!["none=a.c"], vec![], vec![], "there is no group of units `none`; there are: first, more"),
        (vec![], vec!["3"], vec![], "units: there are several groups"),
        (vec![], vec!["more=28"], vec![], "units: 33 is out of range: 1..32"),
        (vec![], vec!["more=0"], vec![], "units: 0 is out of range: 1..32"),
        (vec![], vec![], vec!["ip_prefix"], "have a table ip_prefix, so say whose: first.ip_prefix, more.ip_prefix"),
        (vec![], vec![], vec!["first.string_match"], "with \"string_match\" among"),
        (vec![], vec![], vec!["none.ip_prefix"], "there is no group of units `none`"),
    ] {
        let text = with(&programs, &units, &tables).unwrap_err().to_string();
        assert!(text.contains(words), "{text}");
    }
    // A table of an xdp program may have any name; the name of an accelerator's table has priority.
    let tables = vec![("ip_prefix".to_owned(), PathBuf::from("other")), ("a_map".to_owned(), PathBuf::from("map"))];
    let mixed = parse(&two_groups()).unwrap().with(Override { tables, ..Override::default() }).unwrap();
    let given = |group: usize| mixed.groups[group].part.given_files();
    assert_eq!(given(0), [("ip_prefix".to_owned(), PathBuf::from("other"))]);
    assert_eq!(given(1), [("a_map".to_owned(), PathBuf::from("map"))]);
    let single = parse(GOOD).unwrap();
    let text = single.find("program", Some("more")).unwrap_err().to_string();
    assert!(text.contains("the only one has no name"), "{text}");
    assert_eq!(ForGroup::parse("./a=b.c"), ForGroup::only("./a=b.c"));
}

/// The reference shows every key, and names every word that a key may have.
#[test]
fn the_reference_is_right() {
    let text = include_str!("../../docs/designs.md");
    let example = text.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let design = Design::parse(Path::new("../designs/reference.toml"), example).unwrap();
    let groups: Vec<_> =
        design.groups.iter().map(|group| (group.units.clone(), group.part.parameter(), group.ports)).collect();
    assert_eq!((design.ports, groups), (2, vec![(0..12, 0b00001, true), (12..16, 0b10000, false)]));
    for key in [
        "name",
        "ports",
        "clock_mhz",
        "policy",
        "name",
        "engine",
        "flow.contexts",
        "count",
        "ports",
        "program",
        "rpu.accelerators",
        "ip_prefix",
        "string_match",
    ] {
        assert!(example.contains(&format!("\n{key} = ")) && text.contains(&format!("`{key}`")), "{key}");
    }
    let error = error(&GOOD.replace("round-robin", "random"));
    let policies: Vec<&str> = error.split('`').skip(3).step_by(2).collect();
    assert!(policies.len() == 4 && policies.iter().all(|word| text.contains(&format!("`{word}`"))), "{policies:?}");
    let ranges = [("ports = 2", "ports = 0"), ("count = 16", "count = 0")].map(|(old, new)| {
        let text = parse(&GOOD.replace(old, new)).unwrap_err().to_string();
        text.lines().next().and_then(|line| line.rsplit(' ').next()).unwrap().to_string()
    });
    assert!(ranges.iter().all(|range| text.contains(&format!("required, {range}"))), "{ranges:?}");
}

#[test]
fn unknown_key_names_line_and_allowed_keys() {
    let text = error(&GOOD.replace("count = 16", "counts = 16"));
    assert!(text.starts_with("src/card.toml:9: "), "{text}");
    assert!(text.contains("`counts`") && text.contains("`count`") && text.contains("[units.ENGINE]"), "{text}");
    let text = error(&format!("{GOOD}[units.xdp.constants]\nlimit = 3\n"));
    assert!(text.starts_with("src/card.toml:14: [units.xdp] is for the engine \"xdp\", and this is \"rpu\""), "{text}");
    let text = error(&GOOD.replace("ports = 2", "ports = 2\nspeed = 1"));
    assert!(text.starts_with("src/card.toml:5: ") && text.contains("`clock_mhz`"), "{text}");
}

#[test]
fn values_out_of_range_name_their_line() {
    assert_eq!(
        error(&GOOD.replace("ports = 2", "ports = 5")),
        "src/card.toml:4: 5 is out of range: 1..4\n    ports = 5"
    );
    assert_eq!(
        error(&GOOD.replace("count = 16", "count = 33")),
        "src/card.toml:9: 33 is out of range: 1..32\n    count = 33"
    );
    assert!(error(&GOOD.replace("ports = 2", "ports = 2\nclock_mhz = 300")).starts_with("src/card.toml:5: clock_mhz"));
    let text = error(&GOOD.replace("round-robin", "random"));
    assert!(text.starts_with("src/card.toml:6: ") && text.contains("`flow-hash-drop`"), "{text}");
    let text = error(&GOOD.replace("design.rs", "none.c"));
    assert!(text.contains(":10: program: ") && text.contains("none.c does not exist"), "{text}");
}

#[test]
fn a_table_needs_its_accelerator() {
    let text = error(&GOOD.replace("\"ip_prefix\", ", ""));
    assert!(text.starts_with("src/card.toml:13: a table ip_prefix needs units with \"ip_prefix\" among"), "{text}");
    for name in ["crc32", "nothing"] {
        let text = error(&GOOD.replace("ip_prefix = ", &format!("{name} = ")));
        assert!(text.contains(&format!("no table `{name}`; there are: ip_prefix, flow_hash, string_match")), "{text}");
    }
}

#[test]
fn accelerators_are_a_list_of_names() {
    let with = |list: &str| error(&GOOD.replace("accelerators = [\"ip_prefix\", \"crc32\"]", list));
    let text = with("accelerators = [\"ip_prefix\", \"crc33\"]");
    assert!(text.starts_with("src/card.toml:11: there is no accelerator `crc33`; there are: `ip_prefix`, "), "{text}");
    let text = with("accelerators = [\"ip_prefix\", \"ip_prefix\"]");
    assert!(text.starts_with("src/card.toml:11: `ip_prefix` twice"), "{text}");
    let text = with("accelerator = \"ip_prefix\"");
    assert!(text.starts_with("src/card.toml:11: ") && text.contains("unknown field `accelerator`"), "{text}");
}

#[test]
fn broken_toml_names_its_line() {
    assert!(error(&GOOD.replace("count = 16", "count = ")).starts_with("src/card.toml:9: "));
}

#[test]
fn options_override() {
    let tables = vec![("ip_prefix".to_string(), PathBuf::from("other"))];
    let units = vec![ForGroup::only(4)];
    let change = Override { units, policy: Some(Policy::FlowHash), tables, ..Override::default() };
    let design = parse(GOOD).unwrap().with(change).unwrap();
    assert_eq!((design.units(), design.policy), (4, Policy::FlowHash));
    assert!(format!("{:?}", design.groups[0].part).contains("\"ip_prefix\": \"other\""));
    let wrong = Override { units: vec![ForGroup::only(40)], ..Override::default() };
    assert_eq!(parse(GOOD).unwrap().with(wrong).unwrap_err().to_string(), "units: 40 is out of range: 1..32");
}

/// Two tenants of a card with an inline block.
const TENANTS: &str = "
[[tenants]]
name = \"bob\"
vlan = 100
[[tenants]]
name = \"eve\"
vlan = 4094
ports = [1]
";

#[test]
fn tenants_are_numbered_in_their_order() {
    let block = "[[inline]]\nengine = \"flow\"\nprogram = \"design.rs\"\n";
    assert!(parse(&(GOOD.to_string() + block)).unwrap().tenants.is_empty());
    let design = parse(&(GOOD.to_string() + block + TENANTS)).unwrap();
    let tenant = |name: &str, number, vlan, ports| Tenant { name: name.to_owned(), number, vlan, ports };
    assert_eq!(design.tenants, [tenant("bob", 1, 100, 0xF), tenant("eve", 2, 4094, 2)]);
    // An id may be that of another tenant at another port.
    let third = "[[tenants]]\nname = \"ann\"\nvlan = 4094\nports = [0]\n";
    assert_eq!(parse(&(GOOD.to_string() + block + TENANTS + third)).unwrap().tenants.len(), 3);
}

#[test]
fn tenants_that_are_wrong_name_their_line() {
    let text = GOOD.to_string() + "[[inline]]\nengine = \"flow\"\nprogram = \"design.rs\"\n" + TENANTS;
    let first = text.lines().position(|line| line == "[[tenants]]").unwrap() + 1;
    for (from, to, line, message) in [
        ("vlan = 100", "vlan = 0", 2, "0 is out of range"),
        ("vlan = 100", "vlan = 4095", 2, "4095 is out of range"),
        ("vlan = 100", "vlan = 4094", 5, "VLAN 4094 is that of tenant `bob` at the same port"),
        ("\"eve\"", "\"bob\"", 4, "`bob` is the name of two tenants"),
        ("\"eve\"", "\"Eve\"", 4, "a name is lower-case letters"),
        ("ports = [1]", "ports = [1, 2]", 6, "there is no port 2: the card has ports 0 to 1"),
        ("ports = [1]", "ports = []", 6, "name the ports of the tenant's frames"),
        ("ports = [1]", "port = 1", 6, "unknown field `port`"),
        ("vlan = 100\n", "", 0, "missing field `vlan`"),
    ] {
        assert!(text.contains(from), "{from}");
        let told = error(&text.replace(from, to));
        assert!(told.contains(&format!("src/card.toml:{}:", first + line)) && told.contains(message), "{told}");
    }
    let many: String = (1..=64).map(|n| format!("[[tenants]]\nname = \"t{n}\"\nvlan = {n}\n")).collect();
    assert!(error(&text.replace(TENANTS, &many)).contains("a card has at most 63 tenants"));
    assert!(error(&(GOOD.to_string() + TENANTS)).contains("[[tenants]] is for inline blocks, and the card has none"));
}
