# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Writes the numbers of the xdp engine's core (engines/xdp/isa/isa.toml) as a SystemVerilog package, a Rust module and
a Python module.

Usage: python engines/xdp/isa/generate_isa.py [--check]

An entry NAME of table TABLE is the constant TABLE_NAME; a field [lowest bit, how many] is TABLE_NAME_AT and
TABLE_NAME_BITS.
"""

from __future__ import annotations

import argparse
import sys
import tomllib
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "tools"))

from generated import ROOT, bring

SOURCE = "engines/xdp/isa/isa.toml"
TOOL = "engines/xdp/isa/generate_isa.py"
NOTICE = "Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0"
ORIGIN = f"Written by {TOOL} from {SOURCE}; change that."


# What an entry of each table is: a field of something, or a number that means something.
ENTRIES = {
    "lane": "a lane's word",
    "control": "a row's control word",
    "bytes": "the place of the bytes of an access to a window",
    "field": "the operand of the operation `field`",
    "target": "the target of a branch",
    "request": "the operand `imm` of a request",
    "op": "The operation `{}`.",
    "condition": "The condition `{}`.",
    "source": "The source `{}`.",
    "kind": "A request of the kind `{}`.",
    "atomic": "The atomic operation `{}`.",
    "address": "The lowest address of the memory `{}`.",
}
SIZES = {
    "rows": "Rows that a program can have.",
    "packet": "Bytes of a packet's buffer.",
    "packet_end": "The end of the longest packet in the buffer, in bytes.",
    "headroom": "Bytes before a packet that arrives.",
    "stack": "Bytes of the stack.",
    "packet_window": "Bytes of the packet that a row reaches.",
    "stack_window": "Bytes of the stack that a row reaches.",
    "window_word": "Bytes in a unit of a window's offset.",
}


def constants() -> dict[str, list[tuple[str, int, str]]]:
    """By table, name, value and meaning of each constant."""
    tables: dict[str, list[tuple[str, int, str]]] = {}
    for table, entries in tomllib.loads((ROOT / SOURCE).read_text()).items():
        rows = tables.setdefault(table, [])
        for name, value in entries.items():
            constant = f"{table}_{name}".upper()
            if isinstance(value, list):
                of = f"`{name}` in {ENTRIES[table]}."
                rows += [(f"{constant}_AT", value[0], f"Lowest bit of {of}")]
                rows += [(f"{constant}_BITS", value[1], f"Number of bits of {of}")]
            else:
                rows.append((constant, value, SIZES[name] if table == "size" else ENTRIES[table].format(name)))
    return tables


def render(tables: dict[str, list[tuple[str, int, str]]]) -> dict[str, str]:
    sv = [f"// {NOTICE}", f"// {ORIGIN}", "package xdp_isa_pkg;"]
    rust = [f"// {NOTICE}", f"//! {ORIGIN}"]
    py = [f"# {NOTICE}", f'"""{ORIGIN}"""']
    for table, rows in tables.items():
        sv.append(f"\n  // {table}")
        rust.append(f"\n// {table}")
        py.append(f"\n# {table}")
        for name, value, meaning in rows:
            number = f"0x{value:X}" if table == "address" else str(value)
            sv.append(f"  localparam int unsigned {name} = 32'd{value};")
            rust += [f"/// {meaning}", f"pub const {name}: u32 = {number};"]
            py.append(f"{name} = {number}")
    sv.append("\nendpackage")
    files = {
        "engines/xdp/isa/xdp_isa_pkg.sv": sv,
        "engines/xdp/isa/isa.rs": rust,
        "engines/xdp/tests/xdp_isa.py": py,
    }
    return {name: "\n".join(lines) + "\n" for name, lines in files.items()}


def main() -> int:
    args = argparse.ArgumentParser(description=__doc__)
    args.add_argument("--check", action="store_true", help="write nothing; fail when a file is not up to date")
    opts = args.parse_args()
    return 0 if bring(render(constants()), opts.check, TOOL) else 1


if __name__ == "__main__":
    sys.exit(main())
