# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Writes the register maps (SystemRDL) as a SystemVerilog package, a C header, a Rust module and a Python module.

Usage: python tools/regs.py [--check] [--html DIR]

Each address map MAP with registers REG gives the constant MAP_REG, its byte offset; an array of register files
gives MAP_FILE_REG (offset within the file), MAP_FILE_BASE, MAP_FILE_STRIDE and MAP_FILE_COUNT.
"""

from __future__ import annotations

import argparse
import sys

from generated import ROOT, bring
from systemrdl import RDLCompiler
from systemrdl.node import AddrmapNode, RegfileNode, RegNode

SOURCES = [
    "shell/regs/card.rdl",
    "shell/regs/inline.rdl",
    "shell/regs/unit.rdl",
    "engines/rpu/regs/rpu.rdl",
    "engines/xdp/regs/xdp.rdl",
    "engines/xdp/regs/maps.rdl",
    "engines/flow/regs/flow.rdl",
    *sorted(str(path.relative_to(ROOT)) for path in (ROOT / "engines/rpu/accelerators").glob("*/*.rdl")),
]


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


def describe(node: RegNode) -> str:
    return " ".join((node.get_property("desc") or "").split())


def compile_maps() -> list[tuple[str, list[tuple[str, int, str]], AddrmapNode]]:
    maps = []
    for source in SOURCES:
        rdl = RDLCompiler()
        rdl.compile_file(str(ROOT / source))
        for name in [d for d in rdl.root.comp_defs if rdl.root.comp_defs[d].__class__.__name__ == "Addrmap"]:
            top = rdl.elaborate(top_def_name=name).top
            maps.append((source, constants(top), top))
    return maps


NOTICE = "Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0"


def render(maps: list[tuple[str, list[tuple[str, int, str]], AddrmapNode]]) -> dict[str, str]:
    origin = "Written by tools/regs.py from the .rdl files; change those."
    sv = [f"// {NOTICE}", f"// {origin}", "package regs_pkg;"]
    c = [f"/* {NOTICE} */", f"/* {origin} */", "#ifndef PENSTOCK_REGS_H", "#define PENSTOCK_REGS_H"]
    rust = [f"// {NOTICE}", f"//! {origin}"]
    py = [f"# {NOTICE}", f'"""{origin}"""']
    for source, rows, _ in maps:
        sv.append(f"\n  // {source}")
        c.append(f"\n/* {source} */")
        rust.append(f"\n// {source}")
        py.append(f"\n# {source}")
        for name, value, desc in rows:
            sv.append(f"  localparam logic [31:0] {name} = 32'h{value:08X};")
            c.append(f"#define {name} 0x{value:X}u /* {desc} */")
            rust.append(f"/// {desc}\npub const {name}: u32 = 0x{value:X};")
            py.append(f"{name} = 0x{value:X}")
    sv.append("\nendpackage")
    c.append("\n#endif")
    files = {
        "lib/regs/regs_pkg.sv": sv,
        "lib/regs/regs.h": c,
        "lib/regs/regs.rs": rust,
        "python/penstock/regs.py": py,
    }
    return {name: "\n".join(lines) + "\n" for name, lines in files.items()}


def main() -> int:
    args = argparse.ArgumentParser(description=__doc__)
    args.add_argument("--check", action="store_true", help="write nothing; fail when a file is not up to date")
    args.add_argument("--html", metavar="DIR", help="also write the register reference as HTML")
    opts = args.parse_args()
    maps = compile_maps()
    current = bring(render(maps), opts.check, "regs.py")
    if opts.html:
        from peakrdl_html import HTMLExporter

        HTMLExporter().export([top for _, _, top in maps], opts.html)
    return 0 if current else 1


if __name__ == "__main__":
    sys.exit(main())
