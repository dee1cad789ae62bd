# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Reads the registry of engines (engines/engines.toml) and writes the files that follow from it.

Usage: python tools/registry.py [--check]

It writes the file lists engines/units.f and engines/inline.f, the package engines/engines_pkg.sv, the list of engines
in the crate `registry`, and the lists of their benches and commands in the crates bench/all and registry/tools, each
with its dependencies. It writes the engines' crates among the members of the workspace. In the modules that pick a
unit's or a block's engine, it writes all that stands between the line that names this tool and `endmodule`. The Python
package gets a link to each module engines/NAME/python/MODULE.py, and the module `engines`, which adds the names in
their `__all__` to the package and an attribute for each to the class Device.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
import textwrap
import tomllib
from dataclasses import dataclass, field, fields
from itertools import pairwise
from pathlib import Path
from typing import Any

from generated import ROOT, bring

REGISTRY = "engines/engines.toml"
# For each kind of engine the module that selects an engine, the file list, and the ending of an engine's module.
KINDS = {
    "unit": ("engines/unit.sv", "engines/units.f", "unit"),
    "inline": ("engines/inline_block.sv", "engines/inline.f", "block"),
}
# Parameters of an engine's module beside `Param`.
BESIDE: dict[str, tuple[str, ...]] = {"unit": (), "inline": ("Ports", "Number")}
# The stand-in for a link that an engine's module does not have, by the word that asks for the link.
IDLE: dict[str, dict[str, str]] = {
    "unit": {},
    "inline": {
        "memory": "    for (genvar c = 0; c < int'(MemoryChannels); c++) begin : gen_no_memory\n"
        "      axi_idle i_idle (.link(mem[c]));\n"
        "    end",
        "records": "    record_idle i_no_records (.*);",
    },
}
# The crate that lists the engines: each one's host crate is penstock-NAME-host, and has the engine as the static NAME
# in capitals.
CRATE = "registry"
# The crate that lists the benches: each engine's bench crate is penstock-NAME-bench, and has them as the static
# BENCHES.
BENCH_CRATE = "bench/all"
# The crate that lists the engines' commands: penstock-NAME-bare has the one of `penstock exec` as the static EXEC.
TOOL_CRATE = "registry/tools"
# The Python package, and the module of it that lists the modules of engines.
PACKAGE = "python/penstock"
MODULES = f"{PACKAGE}/engines.py"
# The workspace, whose members below engines/ are the engines' crates.
WORKSPACE = "Cargo.toml"
CRATE_MARK = "# Written by tools/registry.py from engines/engines.toml.\n"
MARK = "  // Written by tools/registry.py from engines/engines.toml.\n"
NOTICE = "Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0"


class RegistryError(Exception):
    """The registry is wrong: has file and line, and the way out."""


@dataclass(frozen=True)
class Engine:
    """An entry of the registry; engines/engines.toml explains the keys. Paths begin in the engine's folder."""

    name: str
    number: int
    kind: str
    rtl: str
    registers: list[str]
    host: str
    bench: str | None = None
    bare: str | None = None
    params: list[int] = field(default_factory=list)
    card_maps: str | None = None
    trace: str | None = None
    words: str | None = None
    firmware: bool = False
    memory: bool = False
    records: bool = False
    line: int = field(default=0, compare=False)

    def sources(self) -> list[str]:
        """The register sources, from the root of the repository on."""
        return [str(path.relative_to(ROOT)) for pattern in self.registers for path in find(ROOT, self.name, pattern)]


def find(root: Path, name: str, pattern: str) -> list[Path]:
    return sorted((root / "engines" / name).glob(pattern))


class Lines:
    """The places of an entry and its words in the registry's text."""

    def __init__(self, text: str) -> None:
        self.text = text.splitlines()
        self.starts = [at for at, line in enumerate(self.text) if re.match(r"\s*\[\[\s*engine\s*\]\]", line)]

    def of(self, entry: int, word: str | None = None) -> int:
        """Line of the entry, counted from 1, or of one of its keys if it is there."""
        start = self.starts[entry]
        end = self.starts[entry + 1] if entry + 1 < len(self.starts) else len(self.text)
        for at in range(start, end):
            if word is not None and re.match(rf"\s*\"?{re.escape(word)}\"?\s*=", self.text[at]):
                return at + 1
        return start + 1


def read(root: Path = ROOT) -> list[Engine]:
    """The engines of a checkout, in the order of their numbers."""
    path = root / REGISTRY
    try:
        text = path.read_text()
        document = tomllib.loads(text)
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise RegistryError(f"{REGISTRY}: {error}") from error
    lines = Lines(text)
    entries = document.pop("engine", [])
    if document:
        raise RegistryError(f"{REGISTRY}: `{next(iter(document))}` is unknown; each engine is a table [[engine]]")
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise RegistryError(f"{REGISTRY}: each engine is a table of its own: write [[engine]] above it")
    engines: list[Engine] = []
    for at, entry in enumerate(entries):

        def wrong(word: str | None, what: str, at: int = at) -> RegistryError:
            return RegistryError(f"{REGISTRY}:{lines.of(at, word)}: {what}")

        check_words(entry, wrong)
        engine = Engine(**entry, line=lines.of(at))
        check_values(root, engine, wrong)
        for other in engines:
            for word in ("name", "number"):
                if getattr(engine, word) == getattr(other, word):
                    raise wrong(word, f"{word} {getattr(engine, word)!r} is taken by the engine in line {other.line}")
            if engine.card_maps and other.card_maps:
                raise wrong(
                    "card_maps", f"the engine `{other.name}` in line {other.line} has the module card_maps already"
                )
        engines.append(engine)
    return sorted(engines, key=lambda engine: engine.number)


def check_words(entry: dict[str, Any], wrong: Any) -> None:
    """Each word is known, has a value of its type, and none is missing."""
    types = {"number": int, "registers": list, "params": list, "firmware": bool, "memory": bool, "records": bool}
    items = {"registers": str, "params": int}
    names = {
        "registers": "a list of paths",
        "params": "a list of numbers",
        "number": "a number",
        "firmware": "true or false",
        "memory": "true or false",
        "records": "true or false",
    }
    known = [item.name for item in fields(Engine) if item.name != "line"]
    for word, value in entry.items():
        if word not in known:
            raise wrong(word, f"`{word}` is unknown; an engine has {', '.join(known)}")
        wanted = types.get(word, str)
        if type(value) is not wanted or (wanted is list and not all(type(item) is items[word] for item in value)):
            raise wrong(word, f"`{word}` must be {names.get(word, 'a text')}")
    for word in ("name", "number", "kind", "rtl", "registers", "host"):
        if word not in entry:
            raise wrong(None, f"the engine has no `{word}`: add it")


def check_values(root: Path, engine: Engine, wrong: Any) -> None:
    """Each value can be used, and files that are named exist."""
    if not re.fullmatch(r"[a-z][a-z0-9]*", engine.name):
        raise wrong("name", f"name {engine.name!r}: use lower-case letters and digits, a letter first")
    if not 0 <= engine.number < 256:
        raise wrong("number", f"number {engine.number}: use 0 to 255")
    try:
        re.compile(engine.words or "")
    except re.error as error:
        raise wrong("words", f"`words` is no regular expression: {error}") from error
    if engine.kind not in KINDS:
        raise wrong("kind", f"kind {engine.kind!r} is unknown; there are {' and '.join(map(repr, KINDS))}")
    for word in IDLE["inline"]:
        if getattr(engine, word) and engine.kind != "inline":
            raise wrong(word, f"`{word}` is for inline engines: drop the line")
    if not engine.params:
        raise wrong(
            "params", "an engine needs `params`, values of its word that the lint checks: for example params = [0]"
        )
    folder = f"engines/{engine.name}"
    for word, needed in (("rtl", engine.rtl), ("card_maps", engine.card_maps), ("trace", engine.trace)):
        if needed is not None and not (root / folder / needed).is_file():
            raise wrong(word, f"there is no file {folder}/{needed}")
    for pattern in engine.registers:
        if not find(root, engine.name, pattern):
            raise wrong("registers", f"there is no file {folder}/{pattern}")
    for word, crate in (("host", engine.host), ("bench", engine.bench), ("bare", engine.bare)):
        if crate is not None and not (root / folder / crate / "Cargo.toml").is_file():
            raise wrong(word, f"there is no crate in {folder}/{crate}: it has no Cargo.toml")


def selection(kind: str, engines: list[Engine]) -> str:
    """The body of the module that picks an engine. Each engine's module has the ports of that module, so `.*` connects
    them.
    """
    _, _, suffix = KINDS[kind]
    lines = []
    for engine in engines:
        lines += [
            f"  if (Engine == {engine.number}) begin : gen_{engine.name}",
            f"    {engine.name}_{suffix} #(",
            *(f"        .{name}({name})," for name in BESIDE[kind]),
            "        .Param(Param)",
            f"    ) i_{engine.name} (",
            "        .*",
            "    );",
            *(idle for asked, idle in IDLE[kind].items() if not getattr(engine, asked)),
            "  end",
        ]
    unknown = " && ".join(f"Engine != {engine.number}" for engine in engines) or "1"
    lines += [
        f"  if ({unknown}) begin : gen_unknown",
        f'    $error("{suffix}: no engine of this kind has the number %0d: see {REGISTRY}", Engine);',
        "  end",
    ]
    return "\n".join(lines) + "\n"


def selector(kind: str, text: str, engines: list[Engine]) -> str:
    """The text of a selecting module with its body replaced."""
    path = KINDS[kind][0]
    head, mark, rest = text.partition(MARK)
    _, end, tail = rest.partition("endmodule\n")
    if not mark or not end:
        raise RegistryError(f"{path}: has no line {MARK.strip()!r} above `endmodule`: add it behind the ports")
    return head + mark + selection(kind, engines) + end + tail


def package(engines: list[Engine]) -> str:
    """The shell's knowledge about an engine, by its number."""
    numbers = [engine.number for engine in engines if engine.card_maps]
    has_maps = " || ".join(f"number == {number}" for number in numbers) or "1'b0"
    return f"""// {NOTICE}
// Written by tools/registry.py from {REGISTRY}; change that.
`default_nettype none

package engines_pkg;
  // Whether units of the engine share maps, which the module card_maps serves
  function automatic bit engine_has_maps(int number);
    return {has_maps};
  endfunction
endpackage

`default_nettype wire
"""


def file_list(top: str, engines: list[Engine]) -> str:
    """The list of all engines of a kind, and of the file `top` that picks one."""
    lines = [f"# Written by tools/registry.py from {REGISTRY}; change that."]
    lines += [f"-f {engine.name}/{engine.rtl}" for engine in engines]
    return "\n".join([*lines, Path(top).name]) + "\n"


def list_of_engines(engines: list[Engine]) -> str:
    """The module of the crate `registry` that names the engines."""
    uses = sorted(f"use penstock_{engine.name}_host::{engine.name.upper()};" for engine in engines)
    rows = [f"    &{engine.name.upper()}," for engine in engines]
    return "\n".join(
        [
            f"// {NOTICE}",
            f"//! The engines by their numbers. Written by tools/registry.py from {REGISTRY}; change that.",
            "",
            *sorted(["use penstock_engine::Engine;", *uses]),
            "",
            "#[rustfmt::skip]",
            "pub(crate) static ENGINES: &[&dyn Engine] = &[",
            *rows,
            "];",
            "",
        ]
    )


def list_of_benches(engines: list[Engine]) -> str:
    """The module of the crate bench/all that names the benches of the engines."""
    rows = [f"    penstock_{engine.name}_bench::BENCHES," for engine in engines if engine.bench]
    return "\n".join(
        [
            f"// {NOTICE}",
            f"//! The benches of the engines. Written by tools/registry.py from {REGISTRY}; change that.",
            "",
            "use penstock_bench::Bench;",
            "",
            "#[rustfmt::skip]",
            "pub(crate) static BENCHES: &[&[Bench]] = &[",
            *rows,
            "];",
            "",
        ]
    )


def list_of_tools(engines: list[Engine]) -> str:
    """The module of the crate registry/tools that names the commands of engines."""
    rows = [f'    ("{engine.name}", penstock_{engine.name}_bare::EXEC),' for engine in engines if engine.bare]
    return "\n".join(
        [
            f"// {NOTICE}",
            f"//! The commands of engines. Written by tools/registry.py from {REGISTRY}; change that.",
            "",
            "use penstock_engine::Tool;",
            "",
            "#[rustfmt::skip]",
            "pub(crate) static EXEC: &[(&str, Tool)] = &[",
            *rows,
            "];",
            "",
        ]
    )


def crate(folder: str, text: str, part: str, engines: list[Engine]) -> str:
    """The manifest of a crate that lists the engines' crates `part`, with these dependencies written anew: all between
    the line that names this tool and the next empty one.
    """
    head, mark, rest = text.partition(CRATE_MARK)
    _, empty, tail = rest.partition("\n\n")
    if not mark or not empty:
        raise RegistryError(f"{folder}/Cargo.toml: has no line {CRATE_MARK.strip()!r} among its dependencies: add it")
    up = "../" * (folder.count("/") + 1)
    named = {engine.name: getattr(engine, part) for engine in engines if getattr(engine, part)}
    lines = sorted(
        f'penstock-{name}-{part} = {{ path = "{up}engines/{name}/{place}" }}' for name, place in named.items()
    )
    return head + mark + "\n".join(lines) + empty + tail


def workspace(root: Path, text: str, engines: list[Engine]) -> str:
    """The manifest of the workspace, with the engines' crates written anew: all between the line that names this tool
    and the end of the list.
    """
    mark = f"    {CRATE_MARK}"
    head, found, rest = text.partition(mark)
    _, end, tail = rest.partition("]\n")
    if not found or not end:
        raise RegistryError(f"{WORKSPACE}: has no line {mark.strip()!r} among its members: add it")
    lines = []
    for engine in sorted(engines, key=lambda engine: engine.name):
        manifests = sorted((root / "engines" / engine.name).glob("*/Cargo.toml"))
        folders = [f'"{path.parent.relative_to(root)}"' for path in manifests]
        lines += textwrap.wrap(", ".join(folders) + ",", 116, initial_indent="    ", subsequent_indent="    ")
    return head + mark + "".join(f"{line}\n" for line in lines) + end + tail


@dataclass(frozen=True)
class Module:
    """A Python module of an engine: `penstock.flow`, say. Its class of the same name, Flow, is the device's attribute
    `flow`. A module with a line `STANDALONE = True` is about no card: it has no names here, and the package gets only
    the link to it.
    """

    path: Path
    name: str
    names: list[str]
    # The first sentence about the class.
    about: str

    @property
    def attribute(self) -> str:
        return self.name.capitalize()


def modules(root: Path, engines: list[Engine]) -> list[Module]:
    """The Python modules of the engines, by name."""
    paths = [path for engine in engines for path in find(root, engine.name, "python/*.py")]
    found = [module(root, path) for path in sorted(paths, key=lambda path: path.stem)]
    for one, other in pairwise(found):
        if one.name == other.name:
            raise RegistryError(f"{other.path}: the module {one.name} is there already, in {one.path}: rename one")
    return found


def module(root: Path, path: Path) -> Module:
    """Reads a module without importing it."""
    tree = ast.parse((root / path).read_text())
    shown = path.relative_to(root)
    names: list[str] | None = None
    about = ""
    for node in tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            names = ast.literal_eval(node.value)
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "STANDALONE":
            return Module(shown, path.stem, [], "")
        if isinstance(node, ast.ClassDef) and node.name == path.stem.capitalize():
            about = (ast.get_docstring(node) or "").partition("\n")[0]
    if names is None or path.stem.capitalize() not in names:
        raise RegistryError(f"{shown}: list the class {path.stem.capitalize()} and other public names in `__all__`")
    return Module(shown, path.stem, names, about)


def list_of_modules(found: list[Module]) -> str:
    """The module of the Python package that names the modules of engines."""
    found = [module for module in found if module.names]
    # Names in capitals come first, as ruff sorts them.
    every = sorted((name for module in found for name in module.names), key=lambda name: (name.islower(), name))
    imports = [
        line
        for module in found
        for line in (f"    from penstock.{module.name} import (", *(f"        {n}," for n in module.names), "    )")
    ]
    attributes = [
        line
        for module in found
        for line in (f"        self.{module.name} = {module.attribute}(card)", f'        """{module.about}"""')
    ]
    return "\n".join(
        [
            f"# {NOTICE}",
            '"""What engines add to the package. Written by tools/registry.py from engines/*/python; change those."""',
            "",
            "from __future__ import annotations",
            "",
            "from typing import TYPE_CHECKING",
            "",
            "if TYPE_CHECKING:",
            "    from penstock import _native",
            *imports,
            "",
            "__all__ = [",
            *(f'    "{name}",' for name in every),
            "]",
            "",
            "MODULES = (",
            *(f'    "penstock.{module.name}",' for module in found),
            ")",
            "",
            "",
            "class OfEngines:",
            '    """The attributes of a device that engines add."""',
            "",
            "    def __init__(self, card: _native.Card) -> None:",
            *(f"        from penstock.{module.name} import {module.attribute}" for module in found),
            "",
            *attributes,
            "",
        ]
    )


def links(root: Path, found: list[Module]) -> dict[Path, Path]:
    """The links of the package that there should be, and where they lead to."""
    up = Path("../" * (PACKAGE.count("/") + 1))
    return {root / PACKAGE / module.path.name: up / module.path for module in found}


def bring_links(wanted: dict[Path, Path], root: Path, check: bool) -> bool:
    """Makes the package's links those that are wanted; with `check` only tells. Whether all is up to date."""
    there = {path: path.readlink() for path in (root / PACKAGE).iterdir() if path.is_symlink()}
    stale = [path for path in {**there, **wanted} if there.get(path) != wanted.get(path)]
    for path in stale:
        if check:
            print(f"{path.relative_to(root)}: not up to date; run python tools/registry.py", file=sys.stderr)
            continue
        path.unlink(missing_ok=True)
        if path in wanted:
            path.symlink_to(wanted[path])
    return not (check and stale)


def render(engines: list[Engine]) -> dict[str, str]:
    files = {
        WORKSPACE: workspace(ROOT, (ROOT / WORKSPACE).read_text(), engines),
        MODULES: list_of_modules(modules(ROOT, engines)),
        "engines/engines_pkg.sv": package(engines),
        f"{CRATE}/src/list.rs": list_of_engines(engines),
        f"{CRATE}/Cargo.toml": crate(CRATE, (ROOT / CRATE / "Cargo.toml").read_text(), "host", engines),
        f"{BENCH_CRATE}/src/list.rs": list_of_benches(engines),
        f"{BENCH_CRATE}/Cargo.toml": crate(
            BENCH_CRATE, (ROOT / BENCH_CRATE / "Cargo.toml").read_text(), "bench", engines
        ),
        f"{TOOL_CRATE}/src/list.rs": list_of_tools(engines),
        f"{TOOL_CRATE}/Cargo.toml": crate(TOOL_CRATE, (ROOT / TOOL_CRATE / "Cargo.toml").read_text(), "bare", engines),
    }
    for kind, (path, listed, _) in KINDS.items():
        chosen = [engine for engine in engines if engine.kind == kind]
        files[path] = selector(kind, (ROOT / path).read_text(), chosen)
        files[listed] = file_list(path, chosen)
    return files


def main() -> int:
    args = argparse.ArgumentParser(description=__doc__)
    args.add_argument("--check", action="store_true", help="write nothing; fail when a file is not up to date")
    opts = args.parse_args()
    try:
        engines = read()
        current = bring(render(engines), opts.check, "tools/registry.py")
        return 0 if bring_links(links(ROOT, modules(ROOT, engines)), ROOT, opts.check) and current else 1
    except RegistryError as error:
        print(error, file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
