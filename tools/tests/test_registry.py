# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""The registry of engines: errors name file and line, and the generated files follow the registry."""

from __future__ import annotations

from pathlib import Path

import pytest

import registry

GOOD = """\
[[engine]]
name = "one"
number = 0
kind = "unit"
rtl = "rtl/rtl.f"
registers = ["regs/*.rdl"]
host = "soft"
params = [3]

[[engine]]
name = "two"
number = 7
kind = "inline"
rtl = "rtl/rtl.f"
registers = []
host = "soft"
params = [1]
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A checkout with the files that GOOD names."""
    for name in ("one", "two"):
        for file in ("rtl/rtl.f", "regs/a.rdl", "soft/Cargo.toml", "maps.f"):
            path = tmp_path / "engines" / name / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
    return tmp_path


def read(root: Path, text: str) -> list[registry.Engine]:
    (root / registry.REGISTRY).write_text(text)
    return registry.read(root)


def test_a_good_one(root: Path) -> None:
    one, two = read(root, GOOD)
    assert (one.name, one.number, one.kind, one.params, one.line) == ("one", 0, "unit", [3], 1)
    assert (two.name, two.number, two.kind, two.params, two.line) == ("two", 7, "inline", [1], 10)


WRONG = [
    ('name = "two"', 'name = "one"', 11, "name 'one' is taken by the engine in line 1"),
    ("number = 7", "number = 0", 12, "number 0 is taken by the engine in line 1"),
    ("number = 7", "number = 256", 12, "use 0 to 255"),
    ("number = 7", 'number = "7"', 12, "`number` must be a number"),
    ("number = 7\n", "", 10, "the engine has no `number`: add it"),
    ('kind = "inline"', 'kind = "block"', 13, "kind 'block' is unknown; there are 'unit' and 'inline'"),
    ("params = [1]\n", "", 10, "an engine needs `params`"),
    ('name = "two"', 'name = "Two"', 11, "use lower-case letters and digits"),
    ('name = "two"', 'name = "three"', 14, "there is no file engines/three/rtl/rtl.f"),
    (
        'registers = ["regs/*.rdl"]',
        'registers = ["regs/*.rdl", "none.rdl"]',
        6,
        "there is no file engines/one/none.rdl",
    ),
    ('registers = ["regs/*.rdl"]', "registers = [4]", 6, "`registers` must be a list of paths"),
    ("params = [3]", 'params = ["3"]', 8, "`params` must be a list of numbers"),
    ('host = "soft"\nparams', 'host = "host"\nparams', 7, "there is no crate in engines/one/host"),
    ("params = [3]", "params = [3]\nmemory = true", 9, "`memory` is for inline engines"),
    ("params = [3]", "params = [3]\nrecords = true", 9, "`records` is for inline engines"),
    ("params = [1]", "params = [1]\nmemory = 1", 18, "`memory` must be true or false"),
    ("params = [3]", "params = [3]\nlanes = 4", 9, "`lanes` is unknown; an engine has name, number,"),
    ("params = [3]", 'params = [3]\ncard_maps = "none.f"', 9, "there is no file engines/one/none.f"),
]


@pytest.mark.parametrize(("old", "new", "line", "text"), WRONG)
def test_what_is_wrong_is_said_with_its_line(root: Path, old: str, new: str, line: int, text: str) -> None:
    assert old in GOOD
    with pytest.raises(registry.RegistryError) as error:
        read(root, GOOD.replace(old, new))
    assert str(error.value).startswith(f"engines/engines.toml:{line}: ")
    assert text in str(error.value)


def test_one_engine_has_the_maps_of_the_card(root: Path) -> None:
    both = GOOD.replace('host = "soft"', 'host = "soft"\ncard_maps = "maps.f"')
    with pytest.raises(registry.RegistryError, match=r"engines.toml:18: .*`one` in line 1 has the module card_maps"):
        read(root, both)


def test_no_toml(root: Path) -> None:
    with pytest.raises(registry.RegistryError, match=r"engines\.toml: .*line 2"):
        read(root, "[[engine]]\nname one\n")
    with pytest.raises(registry.RegistryError, match=r"`units` is unknown"):
        read(root, "units = 3\n")


@pytest.mark.parametrize("kind", ["unit", "inline"])
def test_a_selector_instantiates_the_engines_of_its_kind_by_number(root: Path, kind: str) -> None:
    """Text above the mark and after `endmodule` stays, for a unit's selector as for a block's."""
    chosen = [engine for engine in read(root, GOOD) if engine.kind == kind]
    before = f"module m (\n);\n{registry.MARK}  old\nendmodule\n// behind\n"
    after = registry.selector(kind, before, chosen)
    name, number, module = {"unit": ("one", 0, "one_unit"), "inline": ("two", 7, "two_block")}[kind]
    assert after.startswith(
        f"module m (\n);\n{registry.MARK}  if (Engine == {number}) begin : gen_{name}\n    {module} #("
    )
    assert after.endswith("endmodule\n// behind\n")
    assert "old" not in after and "else" not in after
    assert f"if (Engine != {number}) begin" in after and "$error" in after
    assert registry.selector(kind, after, chosen) == after


def test_a_selector_without_the_mark(root: Path) -> None:
    with pytest.raises(registry.RegistryError, match=r"engines/unit\.sv: has no line .*tools/registry\.py"):
        registry.selector("unit", "module unit;\nendmodule\n", [])


def test_the_crate_that_lists_the_engines(root: Path) -> None:
    engines = read(root, GOOD)
    listed = registry.list_of_engines(engines)
    assert "use penstock_one_host::ONE;" in listed and listed.index("&ONE,") < listed.index("&TWO,")
    before = f"[dependencies]\nkept = 1\n{registry.CRATE_MARK}old = 2\n\n[dev-dependencies]\n"
    after = registry.crate("registry", before, "host", engines)
    assert after.startswith(f"[dependencies]\nkept = 1\n{registry.CRATE_MARK}penstock-one-host = {{ path = ")
    assert after.endswith(" }\n\n[dev-dependencies]\n") and "old" not in after
    assert registry.crate("registry", after, "host", engines) == after
    assert "penstock-" not in registry.crate("bench/all", before, "bench", engines)
    with pytest.raises(registry.RegistryError, match=r"registry/Cargo\.toml: has no line .*tools/registry\.py"):
        registry.crate("registry", "[dependencies]\n\n", "host", engines)


def test_what_the_shell_knows_of_an_engine(root: Path) -> None:
    plain = registry.package(read(root, GOOD))
    assert "return 1'b0;" in plain
    maps = registry.package(read(root, GOOD.replace("params = [3]", 'params = [3]\ncard_maps = "maps.f"')))
    assert "return number == 0;" in maps


MODULE = '''
__all__ = ["Table", "rows"]

class Table:
    """A table.

    More about it.
    """
'''


def test_python_modules_of_engines(root: Path) -> None:
    """A module becomes a link of the package, with its names in the list; both go when it goes."""
    engines = read(root, GOOD)
    path = root / "engines/two/python/table.py"
    path.parent.mkdir()
    path.write_text(MODULE)
    (root / registry.PACKAGE).mkdir(parents=True)
    found = registry.modules(root, engines)
    text = registry.list_of_modules(found)
    assert 'self.table = Table(card)\n        """A table."""' in text
    assert '__all__ = [\n    "Table",\n    "rows",\n]' in text
    wanted = registry.links(root, found)
    assert not registry.bring_links(wanted, root, check=True)
    assert registry.bring_links(wanted, root, check=False)
    assert (root / registry.PACKAGE / "table.py").read_text() == MODULE
    assert registry.bring_links(wanted, root, check=True)
    path.unlink()
    assert not registry.bring_links({}, root, check=True)
    assert registry.bring_links(registry.links(root, registry.modules(root, engines)), root, check=False)
    assert list((root / registry.PACKAGE).iterdir()) == []


def test_a_python_module_about_no_card(root: Path) -> None:
    """It becomes a link, and the list does not have it."""
    engines = read(root, GOOD)
    path = root / "engines/two/python/wire.py"
    path.parent.mkdir()
    path.write_text(f"{MODULE}\nSTANDALONE = True\n")
    (root / registry.PACKAGE).mkdir(parents=True)
    found = registry.modules(root, engines)
    assert registry.list_of_modules(found) == registry.list_of_modules([])
    assert registry.bring_links(registry.links(root, found), root, check=False)
    assert (root / registry.PACKAGE / "wire.py").read_text() == path.read_text()


def test_a_python_module_that_cannot_be_listed(root: Path) -> None:
    engines = read(root, GOOD)
    for name in ("one", "two"):
        path = root / f"engines/{name}/python/table.py"
        path.parent.mkdir()
        path.write_text(MODULE)
    with pytest.raises(
        registry.RegistryError, match=r"engines/two/python/table\.py: the module table is there already"
    ):
        registry.modules(root, engines)
    path.write_text("class Table:\n    pass\n")
    with pytest.raises(registry.RegistryError, match=r"engines/two/python/table\.py: list the class Table"):
        registry.modules(root, engines)
