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


def constants() -> dict[str, list[tuple[str, int]]]:
    """By table, name and value of each constant."""
    tables: dict[str, list[tuple[str, int]]] = {}
    for table, entries in tomllib.loads((ROOT / SOURCE).read_text()).items():
        rows = tables.setdefault(table, [])
        for name, value in entries.items():
            constant = f"{table}_{name}".upper()
            if isinstance(value, list):
                rows += [(f"{constant}_AT", value[0]), (f"{constant}_BITS", value[1])]
            else:
                rows.append((constant, value))
    return tables


def render(tables: dict[str, list[tuple[str, int]]]) -> dict[str, str]:
    sv = [f"// {NOTICE}", f"// {ORIGIN}", "package xdp_isa_pkg;"]
    rust = [f"// {NOTICE}", f"//! {ORIGIN}"]
    py = [f"# {NOTICE}", f'"""{ORIGIN}"""']
    for table, rows in tables.items():
        sv.append(f"\n  // {table}")
        rust.append(f"\n// {table}")
        py.append(f"\n# {table}")
        for name, value in rows:
            number = f"0x{value:X}" if table == "address" else str(value)
            sv.append(f"  localparam int unsigned {name} = 32'd{value};")
            rust.append(f"pub const {name}: u32 = {number};")
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
