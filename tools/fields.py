# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Writes the fields of frames (lib/headers/fields.toml) as Rust enums, as a SystemVerilog package and as a page.

Usage: python tools/fields.py [--check]
"""

from __future__ import annotations

import argparse
import re
import sys
import textwrap
import tomllib
from typing import Any

from generated import ROOT, bring

SOURCE = "lib/headers/fields.toml"
NOTICE = "Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0"
ORIGIN = f"Written by tools/fields.py from {SOURCE}; change that."


def variant(name: str) -> str:
    """A name as Rust writes variants: `ip.src` is `IpSrc`."""
    return "".join(word.capitalize() for word in re.split(r"[._]", name))


def enum(name: str, what: str, entries: dict[str, str], scope: str) -> list[str]:
    lines = ["", f"/// {what}", "#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]", "#[repr(u8)]"]
    lines.append(f"{scope} enum {name} {{")
    for entry, text in entries.items():
        lines += [f"    /// `{entry}`: {text}.", f"    {variant(entry)},"]
    return [*lines, "}"]


def table(name: str, what: str, row: str, rows: list[str]) -> list[str]:
    return ["", f"/// {what}", f"pub(crate) static {name}: [{row}; {len(rows)}] = [", *rows, "];"]


def rust(source: dict[str, Any]) -> list[str]:
    headers, fields = source["header"], source["field"]
    parts = {**headers, **source["part"]}
    lines = [f"// {NOTICE}", f"//! {ORIGIN}", "", "use crate::field::{FieldRow, HeaderRow};"]
    lines += enum(
        "Field", "A field of a frame that a program can read.", {n: f["what"] for n, f in fields.items()}, "pub"
    )
    lines += enum("Header", "A protocol that a frame may have.", headers, "pub")
    lines += enum(
        "Part",
        "A part that a frame may have: a header, or another group of fields. Its number is its bit in hardware.",
        parts,
        "pub",
    )
    sizes = (("PARTS", len(parts), "parts"), ("WORDS", len(words(source)), "words of fields, including number 0,"))
    for name, count, what in sizes:
        lines += ["", f"/// Number of {what} that hardware distinguishes.", f"pub const {name}: usize = {count};"]
    layers = {name: layer["what"] for name, layer in source["layer"].items()}
    lines += enum("Layer", "A place that the parser finds.", layers, "pub(crate)")
    lines += table(
        "HEADERS",
        "By [`Header`].",
        "HeaderRow",
        [
            f"    HeaderRow {{ header: Header::{variant(name)}, part: Part::{variant(name)}, "
            f"name: {quoted(name)}, what: {quoted(what)} }},"
            for name, what in headers.items()
        ],
    )
    rows, numbers = [], words(source)
    for name, field in fields.items():
        part = f"Some(Part::{variant(field['part'])})" if "part" in field else "None"
        at = f"Some((Layer::{variant(field['at'][0])}, {field['at'][1]}))" if "at" in field else "None"
        rows.append(
            f"    FieldRow {{ field: Field::{variant(name)}, name: {quoted(name)}, bits: {field['bits']}, "
            f"part: {part}, at: {at}, set: {str(field.get('set', False)).lower()}, "
            f"word: {number(numbers, name)}, what: {quoted(field['what'])} }},"
        )
    lines += table("FIELDS", "By [`Field`].", "FieldRow", rows)
    first = sinks(source)[1]
    numbers = [f"    {f'Some({first[name]})' if name in first else 'None'}, // {name}" for name in fields]
    return lines + table("SINKS", "By [`Field`]: where hardware's edits write its lowest word.", "Option<u8>", numbers)


def places(source: dict[str, Any]) -> dict[str, int]:
    """The lowest bit of each field in hardware's `headers_t`: layers one after the other, the first byte of each
    topmost, below them `tcp.len`.
    """
    lowest = {"tcp.len": 0}
    end, layers = source["field"]["tcp.len"]["bits"], {}
    for name, layer in reversed(source["layer"].items()):
        end += layer["bytes"] * 8
        layers[name] = end
    for name, field in source["field"].items():
        if "at" in field:
            layer, first = field["at"]
            lowest[name] = layers[layer] - first - field["bits"]
    return lowest


def words(source: dict[str, Any]) -> list[list[tuple[str, int]]]:
    """The words of 32 bits that hardware selects, by number: each is a field and the number of its word, from the
    lowest. Fields in one place share words. Number 0 is no word.
    """
    listed: list[list[tuple[str, int]]] = [[]]
    seen: dict[tuple, int] = {}
    for name, field in source["field"].items():
        of = [(name, word) for word in range(-(-field["bits"] // 32))]
        first = seen.setdefault((*field.get("at", [name]), field["bits"]), len(listed))
        if first == len(listed):
            listed += [[] for _ in of]
        for at, word in enumerate(of, first):
            listed[at].append(word)
    return listed


def number(listed: list[list[tuple[str, int]]], name: str) -> int:
    """The number of a field's lowest word."""
    return next(at for at, of in enumerate(listed) if (name, 0) in of)


def sinks(source: dict[str, Any]) -> tuple[list[tuple[int, int]], dict[str, int]]:
    """The sinks of hardware's edits: words of fields that may be set, as (lowest bit in a `headers_t`, bits), and for
    each such field the number of its lowest word's sink; the others follow. Fields at one place share sinks. Narrow
    fields come after the wide ones that may contain them. Metadata, which are not in a `headers_t`, have the numbers
    after the last.
    """
    lowest = places(source)
    found: list[tuple[int, int]] = []
    first: dict[str, int] = {}
    settable = {name: field["bits"] for name, field in source["field"].items() if field.get("set")}
    for name in sorted(settable.keys() & lowest.keys(), key=lambda name: (-settable[name], lowest[name])):
        words = [(lowest[name] + bit, min(32, settable[name] - bit)) for bit in range(0, settable[name], 32)]
        if words[0] not in found:
            found += words
        first[name] = found.index(words[0])
        assert found[first[name] :][: len(words)] == words, f"{name} is partly within another field"
    metadata = [name for name in settable if name not in lowest]
    return found, first | {name: len(found) + index for index, name in enumerate(metadata)}


def verilog(source: dict[str, Any]) -> list[str]:
    parts, lowest = [*source["header"], *source["part"]], places(source)
    lines = [
        f"// {NOTICE}",
        f"// {ORIGIN}",
        "",
        "// The output of the parser of frames (lib/rtl/header_parser.sv).",
        "package fields_pkg;",
    ]
    lines += ["  // Bits of `parts`", f"  localparam int unsigned PARTS = 32'd{len(parts)};"]
    lines += [f"  localparam int unsigned PART_{constant(name)} = 32'd{index};" for index, name in enumerate(parts)]
    lines += [
        "",
        "  // Bytes in the order of the frame, the first one topmost",
        "  typedef struct packed {",
        "    logic [PARTS-1:0] parts;",
    ]
    lines += [
        f"    logic [{layer['bytes'] * 8 - 1}:0] {name};  // {layer['what']}" for name, layer in source["layer"].items()
    ]
    lines += [
        f"    logic [{source['field']['tcp.len']['bits'] - 1}:0] tcp_len;  // TCP's payload in bytes",
        "  } headers_t;",
        "",
    ]
    lines.append("  // Fields: the lowest bit in a headers_t, the number of bits, and the part that makes them valid")
    for name, at in sorted(lowest.items(), key=lambda item: list(source["field"]).index(item[0])):
        field = source["field"][name]
        for what, value in (("AT", at), ("BITS", field["bits"]), ("PART", parts.index(field["part"]))):
            lines.append(f"  localparam int unsigned {constant(name)}_{what} = 32'd{value};")
    listed = words(source)
    bits = [min(32, source["field"][of[0][0]]["bits"] - 32 * of[0][1]) if of else 0 for of in listed]
    lines += [
        "",
        "  // Words of fields, by number, a field's lowest first; fields in one place share words. Number 0 is no word",
        f"  localparam int unsigned WORDS = 32'd{len(listed)};",
        "  // Words of more than 16 bits",
        (
            "  localparam logic [WORDS-1:0] WIDE = "
            f"{len(listed)}'h{sum(1 << at for at, n in enumerate(bits) if n > 16):x};"
        ),
        "  // Words of metadata, which are not in the frame",
    ]
    outside = [name for name in source["field"] if name not in lowest]
    lines += [f"  localparam int unsigned WORD_{constant(name)} = 32'd{number(listed, name)};" for name in outside]
    lines += [
        "",
        "  // All other words; they are valid if their part is present",
        "  function automatic logic [WORDS-1:0][31:0] words_of(headers_t headers);",
        "    words_of = '0;",
    ]
    for at, of in enumerate(listed):
        if of and of[0][0] not in outside:
            name, word = of[0]
            begin = f"{constant(name)}_AT+{32 * word}" if word else f"{constant(name)}_AT"
            lines.append(f"    words_of[{at}] = 32'(headers[{begin}+:{bits[at]}]);")
    lines.append("  endfunction")
    found, first = sinks(source)
    lines += [
        "",
        (
            "  // Sinks, where edits write: the lowest bit in a headers_t, and the number of bits. Sinks of metadata "
            "follow"
        ),
        f"  localparam int unsigned SINKS = 32'd{len(found)};",
        *array("SINK_AT[SINKS]", [at for at, _ in found]),
        *array("SINK_BITS[SINKS]", [bits for _, bits in found]),
    ]
    lines += [
        f"  localparam int unsigned SINK_{constant(name)} = 32'd{number};"
        for name, number in first.items()
        if number >= len(found)
    ]
    return [*lines, "endpackage"]


def array(name: str, numbers: list[int]) -> list[str]:
    text = ", ".join(map(str, numbers))
    lines = textwrap.wrap(text, 120, initial_indent="    ", subsequent_indent="    ")
    return [f"  localparam int unsigned {name} = '{{", *lines, "  };"]


def constant(name: str) -> str:
    return name.replace(".", "_").upper()


def quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def page(source: dict[str, Any]) -> list[str]:
    lines = [f"<!-- {NOTICE} -->", f"<!-- {ORIGIN} -->", "# Fields of a frame for inline engines", ""]
    lines += ["| header | |", "|---|---|"]
    lines += [f"| `{name}` | {what} |" for name, what in source["header"].items()]
    lines += ["", "| field | bits | can be set | |", "|---|---|---|---|"]
    for name, field in source["field"].items():
        lines.append(f"| `{name}` | {field['bits']} | {'yes' if field.get('set') else ''} | {field['what']} |")
    return lines


def render() -> dict[str, str]:
    source = tomllib.loads((ROOT / SOURCE).read_text())
    files = {
        "lib/headers/src/table.rs": rust(source),
        "lib/headers/fields_pkg.sv": verilog(source),
        "lib/headers/fields.md": page(source),
    }
    return {name: "\n".join(lines) + "\n" for name, lines in files.items()}


def main() -> int:
    args = argparse.ArgumentParser(description=__doc__)
    args.add_argument("--check", action="store_true", help="write nothing; fail when a file is not up to date")
    opts = args.parse_args()
    return 0 if bring(render(), opts.check, "tools/fields.py") else 1


if __name__ == "__main__":
    sys.exit(main())
