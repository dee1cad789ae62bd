# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Writes the register maps (SystemRDL) as a SystemVerilog package, a C header, a Rust module and a Python module.

Usage: python tools/regs.py [--check] [--html DIR]

Each address map MAP with registers REG gives the constant MAP_REG, its byte offset; an array of register files
gives MAP_FILE_REG (offset within the file), MAP_FILE_BASE, MAP_FILE_STRIDE and MAP_FILE_COUNT.
"""

from __future__ import annotations

import argparse
import sys
import textwrap
from collections.abc import Iterable

from generated import ROOT, bring
from systemrdl import RDLCompiler
from systemrdl.node import AddrmapNode, RegfileNode, RegNode

import registry
from registry import Engine

SHELL = ["shell/regs/card.rdl", "shell/regs/inline.rdl", "shell/regs/unit.rdl"]
# Registers around the card on a board: their constants stay out of the models of cards that have no board.
CARDS = ["shell/cards/regs/bar.rdl"]
Map = tuple[str, list[tuple[str, int, str]], AddrmapNode]


def constants(top: AddrmapNode) -> list[tuple[str, int, str]]:
    """Name, value and one-line description of every constant of one address map."""
    prefix = top.inst_name.upper()
    rows: list[tuple[str, int, str]] = []
    for node in top.children(unroll=False):
        if isinstance(node, RegNode):
            rows.append((f"{prefix}_{node.inst_name}", node.raw_absolute_address, describe(node)))
            if node.is_array:
                rows.append(
                    (f"{prefix}_{node.inst_name}_COUNT", node.array_dimensions[0], "How many there are, 4 bytes apart.")
                )
        elif isinstance(node, RegfileNode):
            base = f"{prefix}_{node.inst_name}"
            rows.append((f"{base}_BASE", node.raw_absolute_address, "First of these."))
            rows.append((f"{base}_STRIDE", node.array_stride or 0, "Bytes from one to the next."))
            rows.append((f"{base}_COUNT", (node.array_dimensions or [1])[0], "How many there are."))
            for reg in node.registers(unroll=False):
                rows.append((f"{base}_{reg.inst_name}", reg.raw_address_offset, describe(reg)))
    return rows


def wrapped(text: str, first: str, others: str) -> list[str]:
    """A comment in lines of 120 columns."""
    return textwrap.wrap(
        text, 120, initial_indent=first, subsequent_indent=others, break_long_words=False, break_on_hyphens=False
    )


def describe(node: RegNode) -> str:
    return " ".join((node.get_property("desc") or "").split())


def compile_maps(sources: Iterable[str]) -> list[Map]:
    maps = []
    for source in sources:
        rdl = RDLCompiler()
        rdl.compile_file(str(ROOT / source))
        for name in [d for d in rdl.root.comp_defs if rdl.root.comp_defs[d].__class__.__name__ == "Addrmap"]:
            top = rdl.elaborate(top_def_name=name).top
            maps.append((source, constants(top), top))
    return maps


NOTICE = "Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0"
ORIGIN = "Written by tools/regs.py from the .rdl files; change those."


def system_verilog(package: str, maps: list[Map]) -> str:
    lines = [f"// {NOTICE}", f"// {ORIGIN}", f"package {package};"]
    for source, rows, _ in maps:
        lines.append(f"\n  // {source}")
        lines += [f"  localparam logic [31:0] {name} = 32'h{value:08X};" for name, value, _ in rows]
    return "\n".join([*lines, "\nendpackage", ""])


def c(guard: str, maps: list[Map]) -> str:
    lines = [f"/* {NOTICE} */", f"/* {ORIGIN} */", f"#ifndef {guard}", f"#define {guard}"]
    for source, rows, _ in maps:
        lines.append(f"\n/* {source} */")
        for name, value, desc in rows:
            lines += [*wrapped(f"{desc} */", "/* ", " * "), f"#define {name} 0x{value:X}u"]
    return "\n".join([*lines, "\n#endif", ""])


def rust(maps: list[Map]) -> str:
    lines = [f"// {NOTICE}", f"//! {ORIGIN}"]
    lines += ["", '#![allow(unreachable_pub, reason = "some crates export these registers, others do not")]']
    for source, rows, _ in maps:
        lines.append(f"\n// {source}")
        for name, value, desc in rows:
            lines += [*wrapped(desc, "/// ", "/// "), f"pub const {name}: u32 = 0x{value:X};"]
    return "\n".join([*lines, ""])


def python(maps: list[Map]) -> str:
    lines = [f"# {NOTICE}", f'"""{ORIGIN}"""']
    for source, rows, _ in maps:
        lines.append(f"\n# {source}")
        lines += [f"{name} = 0x{value:X}" for name, value, _ in rows]
    return "\n".join([*lines, ""])


def render(shell: list[Map], cards: list[Map], of: list[tuple[Engine, list[Map]]]) -> dict[str, str]:
    """The shell's registers beside what all engines build on, a board's and each engine's in their folders, and for
    Python all in one module.
    """
    files = {
        "lib/regs/regs_pkg.sv": system_verilog("regs_pkg", shell),
        "lib/regs/regs.rs": rust(shell),
        "shell/cards/regs/bar_regs_pkg.sv": system_verilog("bar_regs_pkg", cards),
        "shell/cards/regs/regs.rs": rust(cards),
        "python/penstock/regs.py": python(shell + cards + [each for _, maps in of for each in maps]),
    }
    for engine, maps in of:
        folder = f"engines/{engine.name}/regs"
        files[f"{folder}/{engine.name}_regs_pkg.sv"] = system_verilog(f"{engine.name}_regs_pkg", maps)
        files[f"{folder}/regs.rs"] = rust(maps)
        if engine.firmware:
            files[f"{folder}/regs.h"] = c(f"PENSTOCK_{engine.name.upper()}_REGS_H", maps)
    return files


def main() -> int:
    args = argparse.ArgumentParser(description=__doc__)
    args.add_argument("--check", action="store_true", help="write nothing; fail when a file is not up to date")
    args.add_argument("--html", metavar="DIR", help="also write the register reference as HTML")
    opts = args.parse_args()
    shell, cards = compile_maps(SHELL), compile_maps(CARDS)
    try:
        of = [(engine, compile_maps(engine.sources())) for engine in registry.read() if engine.registers]
    except registry.RegistryError as error:
        print(error, file=sys.stderr)
        return 1
    current = bring(render(shell, cards, of), opts.check, "tools/regs.py")
    if opts.html:
        from peakrdl_html import HTMLExporter

        maps = shell + cards + [each for _, own in of for each in own]
        HTMLExporter().export([top for _, _, top in maps], opts.html)
    return 0 if current else 1


if __name__ == "__main__":
    sys.exit(main())
