# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""The files of the Device API use each other in one direction: none needs itself by way of others."""

from __future__ import annotations

import re
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest
from penstock.hdl import ROOT

SOURCES = ROOT / "device/src"
TESTS = re.compile(r"#\[cfg\(test\)\]\s*(?:#\[[^\n]*\]\s*)*mod \w+ \{.*", re.DOTALL)
USE = re.compile(r"^\s*(?:pub(?:\(crate\))? )?use ((?:crate|super|self)::[^;]*);", re.MULTILINE)
PATH = re.compile(r"\b((?:crate|super)(?:::\w+)+)")


def modules(folder: Path) -> dict[tuple[str, ...], Path]:
    """Files by the names on the way to their module."""
    found = {}
    for path in folder.rglob("*.rs"):
        names = path.relative_to(folder).with_suffix("").parts
        found[names[:-1] if names[-1] in ("mod", "lib") else names] = path
    return found


def flat(tree: str) -> list[str]:
    """The paths of a use declaration."""
    head, brace, rest = tree.partition("{")
    if not brace:
        return [tree.strip()]
    parts, depth, part = [], 0, ""
    for letter in rest.rstrip().removesuffix("}") + ",":
        depth += {"{": 1, "}": -1}.get(letter, 0)
        if letter == "," and depth == 0:
            parts += flat(head.strip() + part.strip()) if part.strip() else []
            part = ""
        else:
            part += letter
    return parts


def used(text: str, here: tuple[str, ...], known: dict[tuple[str, ...], Path]) -> set[tuple[str, ...]]:
    """The modules that a file names."""
    code = TESTS.sub("", re.sub(r"//.*", "", text))
    found = set()
    for path in [path for tree in USE.findall(code) for path in flat(tree)] + PATH.findall(code):
        names = re.sub(r" as \w+", "", path).split("::")
        at = list(here)
        if names[0] == "crate":
            at = []
        while names and names[0] in ("crate", "super", "self"):
            at = at[:-1] if names[0] == "super" else at
            names = names[1:]
        way = (*at, *names)
        while way and way not in known:
            way = way[:-1]
        if way and way != here:
            found.add(way)
    return found


def order(folder: Path) -> list[tuple[str, ...]]:
    known = modules(folder)
    graph = {here: used(path.read_text(), here, known) for here, path in known.items() if here}
    return list(TopologicalSorter(graph).static_order())


def test_no_file_of_device_needs_itself() -> None:
    found = order(SOURCES)
    assert found.index(("counters",)) < found.index(("run",)) < found.index(("device",)) < found.index(("rtl",))


def test_a_circle_is_found(tmp_path: Path) -> None:
    (tmp_path / "lib.rs").write_text("mod a;\nmod b;\n")
    (tmp_path / "a.rs").write_text("use std::fmt;\nuse crate::{b::{self, B}};\n")
    (tmp_path / "b.rs").write_text("pub struct B;\n#[cfg(test)]\nmod tests {\n    use crate::a;\n}\n")
    assert order(tmp_path) == [("b",), ("a",)]
    (tmp_path / "b.rs").write_text("pub struct B(super::a::A);\n")
    with pytest.raises(CycleError):
        order(tmp_path)
