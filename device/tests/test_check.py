# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""`penstock check`: all mistakes of a design at once, and its JSON Schema beside a real validator."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import jsonschema
import pytest
from system import ROOT, call

GOOD = """[card]
name = "checked"
ports = 2

[dispatch]
policy = "flow-hash"

[[inline]]
name = "nat"
engine = "flow"
program = "nat.efsm"
flow.contexts = 1000

[[units]]
name = "filter"
engine = "rpu"
count = 2
program = "filter.c"
rpu.accelerators = ["ip_prefix"]

[units.rpu.tables]
ip_prefix = "list.txt"

[[units]]
name = "inspect"
engine = "xdp"
count = 1
program = "drop.c"
xdp.lanes = 2
"""
# A change of the good design, the line of the mistake, and words of the message.
MISTAKES = [
    ("ports = 2", "port = 2", 3, "unknown field `port`, expected one of `name`, `ports`, `clock_mhz`"),
    ("ports = 2", "port = 2", 3, "did you mean `ports`?"),
    ("ports = 2", 'ports = "2"', 3, 'here is the text "2"; write a whole number, without quotes'),
    ('"flow-hash"', '"flow-hahs"', 6, "did you mean `flow-hash`?"),
    ('"flow"', '"flwo"', 10, "there is no engine `flwo`; here it is one of"),
    ('"flow"', '"flwo"', 10, "did you mean `flow`?"),
    ("contexts = 1000", "contexts = [1]", 12, "here is a list; write a whole number"),
    ('["ip_prefix"]', '["ip_prefx"]', 19, "did you mean `ip_prefix`?"),
    ('["ip_prefix"]', '"ip_prefix"', 19, "write a list: [...]"),
    ("count = 1", "count = true", 27, "here is the word true, without quotes"),
    ('"drop.c"', '"dorp.c"', 28, "dorp.c does not exist"),
    ("xdp.lanes", "xdp.lane", 29, "did you mean `lanes`?"),
    ("[dispatch]", "[dispath]", 5, "did you mean `dispatch`?"),
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    programs = ROOT / "engines"
    (tmp_path / "filter.c").write_text((programs / "rpu/programs/firewall.c").read_text())
    (tmp_path / "drop.c").write_text((programs / "xdp/programs/drop.c").read_text())
    (tmp_path / "nat.efsm").write_text((programs / "flow/programs/nat.efsm").read_text())
    (tmp_path / "list.txt").write_text("192.0.2.0/24\n")
    return tmp_path


def checked(folder: Path, text: str) -> tuple[int, list[tuple[int, str]]]:
    """Exit status, and the line and message of each mistake."""
    design = folder / "card.toml"
    design.write_text(text)
    done = call("check", "--json", design)
    mistakes = json.loads(done.stdout)
    assert all(mistake["design"] == str(design) for mistake in mistakes)
    return done.returncode, [(mistake["line"], mistake["message"]) for mistake in mistakes]


@pytest.mark.parametrize(("old", "new", "line", "words"), MISTAKES)
def test_a_mistake_has_its_line_and_the_way_out(old: str, new: str, line: int, words: str, folder: Path) -> None:
    assert GOOD.count(old) == 1
    status, mistakes = checked(folder, GOOD.replace(old, new))
    assert status == 1
    assert [(at, words in message) for at, message in mistakes] == [(line, True)], mistakes


def test_all_mistakes_at_once(folder: Path) -> None:
    """One in each table of the design, in a program and in a table of an accelerator."""
    text = GOOD
    changes = [("ports = 2", 'ports = "2"\nspeed = 1'), ("flow-hash", "flow-hahs"), ("contexts = 1000", "context = 1")]
    changes += [
        ("count = 2", "count = 200"),
        ("count = 1\n", 'count = "1"\nprots = true\n'),
        ("xdp.lanes = 2", "xdp.lanes = 5"),
    ]
    for old, new in changes:
        text = text.replace(old, new)
    status, mistakes = checked(folder, text)
    assert status == 1 and sorted(line for line, _ in mistakes) == [3, 4, 7, 13, 18, 28, 29, 31], mistakes
    (folder / "nat.efsm").write_text("element\n")
    (folder / "drop.c").write_text("int drop(void) { return nothing; }\n")
    (folder / "list.txt").write_text("192.0.2.0/24\n192.0.2.0/33\n")
    status, mistakes = checked(folder, GOOD)
    texts = sorted(message for _, message in mistakes)
    assert status == 1 and len(texts) == 3, mistakes
    for words in ("nat.efsm:1", "drop.c:1", "list.txt:2"):
        assert any(words in text for text in texts), (words, texts)


def test_a_part_with_a_mistake_does_not_hide_the_others(folder: Path) -> None:
    """The units with the unknown key are not compiled; the block's program is."""
    (folder / "drop.c").write_text("int drop(void) { return nothing; }\n")
    (folder / "nat.efsm").write_text("element\n")
    status, mistakes = checked(folder, GOOD.replace("xdp.lanes", "xdp.lane"))
    assert status == 1 and len(mistakes) == 2, mistakes
    assert mistakes[0][0] == 29 and "nat.efsm:1" in mistakes[1][1], mistakes


def test_lines_that_are_not_toml(folder: Path) -> None:
    status, mistakes = checked(folder, GOOD.replace("ports = 2", "ports = ").replace("count = 1\n", "count = 1 2\n"))
    assert status == 1 and [line for line, _ in mistakes] == [3, 27], mistakes


def test_a_program_that_does_not_start(folder: Path) -> None:
    (folder / "filter.c").write_text("#include <penstock.h>\nint main(void) { return 0; }\n")
    status, mistakes = checked(folder, GOOD)
    assert status == 1 and len(mistakes) == 1 and "unit 0" in mistakes[0][1], mistakes


def test_text_and_several_designs(folder: Path) -> None:
    good, bad = folder / "good.toml", folder / "bad.toml"
    good.write_text(GOOD)
    bad.write_text(GOOD.replace("ports = 2", "port = 2"))
    other = folder / "other.toml"
    other.write_text(GOOD.replace("[dispatch]", "[dispath]"))
    done = call("check", good, bad, other, folder / "none.toml")
    assert done.returncode == 1
    assert f"{good}: no mistakes; 3 units, 1 inline block" in done.stdout
    assert f"{bad}:3: unknown field `port`" in done.stdout and "\n    port = 2\n" in done.stdout
    assert "none.toml: No such file" in done.stdout
    assert done.stderr.endswith("error: 3 mistakes in 3 designs\n")
    assert call("check", good).returncode == 0


def test_the_designs_of_the_tree_have_none() -> None:
    designs = sorted((ROOT / "designs").glob("*.toml"))
    done = call("check", *designs)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("no mistakes") == len(designs) > 5


@pytest.fixture(scope="module")
def validator() -> jsonschema.Draft7Validator:
    schema = json.loads(call("check", "--schema").stdout)
    jsonschema.Draft7Validator.check_schema(schema)
    return jsonschema.Draft7Validator(schema)


def test_the_schema_takes_the_designs_of_the_tree(validator: jsonschema.Draft7Validator) -> None:
    designs = [*(ROOT / "designs").glob("*.toml"), *(ROOT / "engines").glob("*/bench/cards/*.toml")]
    assert len(designs) > 10
    for design in designs:
        validator.validate(tomllib.loads(design.read_text()))
    guide = (ROOT / "docs/designs.md").read_text()
    validator.validate(tomllib.loads(guide.split("```toml\n")[1].split("```")[0]))


def test_designs_beside_the_code_have_no_mistakes() -> None:
    designs = [path for glob in ("designs/*.toml", "engines/*/bench/cards/*.toml") for path in ROOT.glob(glob)]
    assert len(designs) > 30
    run = call("check", *designs)
    assert run.returncode == 0, run.stdout + run.stderr


@pytest.mark.parametrize(("old", "new"), sorted({(old, new) for old, new, *_ in MISTAKES}))
def test_the_schema_refuses_mistakes(old: str, new: str, validator: jsonschema.Draft7Validator) -> None:
    """The schema does not know which files and accelerators exist."""
    validator.validate(tomllib.loads(GOOD))
    knows = new not in ('["ip_prefx"]', '"dorp.c"')
    assert validator.is_valid(tomllib.loads(GOOD.replace(old, new))) != knows


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("ports = 2", "ports = 5"),
        ("ports = 2", "ports = 2\nclock_mhz = 100"),
        ("contexts = 1000", "contexts = 0"),
        ("xdp.lanes = 2", "xdp.lanes = 5"),
        ("xdp.lanes = 2", "rpu.accelerators = []"),
        ('engine = "flow"', 'engine = "rpu"'),
        ('name = "checked"\n', ""),
    ],
)
def test_the_schema_knows_bounds_and_engines(old: str, new: str, validator: jsonschema.Draft7Validator) -> None:
    assert old in GOOD and not validator.is_valid(tomllib.loads(GOOD.replace(old, new)))


def test_the_schema_describes_each_key(validator: jsonschema.Draft7Validator) -> None:
    schema = validator.schema
    tables = [schema["properties"]["card"], schema["properties"]["units"]["items"], *schema["definitions"].values()]
    described = [key for table in tables for key in table.get("properties", {}).values() if "$ref" not in key]
    assert len(described) > 20 and all("description" in key for key in described), described
