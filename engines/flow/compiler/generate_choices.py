# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Generates the choices of an element of the flow engine, for its hardware and its compiler: the words of fields that
each half of the key and each operand can reach. A choice among all words is three times as large; the compiler finds
places for the words of a program (a matching).

Usage: python engines/flow/compiler/generate_choices.py [--check]
"""

from __future__ import annotations

import argparse
import itertools
import sys
import textwrap
import tomllib
from collections.abc import Hashable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "tools"))

import fields
from generated import ROOT, bring

Place = tuple[Hashable, int]  # of bits: where they are, and how many
Lists = list[list[tuple[int, int]]]

NOTICE = fields.NOTICE
TOOL = "engines/flow/compiler/generate_choices.py"
ORIGIN = f"Written by {TOOL} from lib/headers/fields.toml; change those."
HALVES, OPERANDS = 20, 8

# Both sides of a pair have places that `biflow` exchanges (n and n + 8, 16 and 17): those of each side, from its lowest
# half on.
HOMES = {
    "ip6.src": range(8),
    "ip6.dst": range(8, 16),
    "ip.src": (4, 5),  # where the same bits of the IPv6 address are
    "ip.dst": (12, 13),
    "eth.src": (0, 1, 6),
    "eth.dst": (8, 9, 14),
    "l4.sport": (16,),
    "l4.dport": (17,),
}
MOST = 64  # words among which one chooses
SMALL = 12  # bits of a part of a key that reaches all of the last halves
NOT_IN_KEYS = "time"


class Words:
    """Words of fields by their numbers (fields.words), and where their bits are: fields share bits, IPv4's addresses
    with IPv6's.
    """

    def __init__(self) -> None:
        self.source = tomllib.loads((ROOT / fields.SOURCE).read_text())
        self.listed = fields.words(self.source)
        self.lowest = fields.places(self.source)

    def bits(self, number: int, first: int, most: int) -> int:
        """How many there are of a word from its bit `first` on, `most` at most."""
        if not self.listed[number]:
            return 0
        name, word = self.listed[number][0]
        return max(0, min(most, self.source["field"][name]["bits"] - 32 * word - first))

    def place(self, number: int, first: int, most: int) -> Place:
        """Equal for the same bits of a frame."""
        name, word = self.listed[number][0]
        where = self.lowest[name] + 32 * word + first if name in self.lowest else (name, first)
        return where, self.bits(number, first, most)

    def distinct(self, most: int) -> dict[Place, list[tuple[int, int]]]:
        """Parts of words, of `most` bits, by their place: each as (number of the word, which part), all that are the
        same.
        """
        found: dict[Place, list[tuple[int, int]]] = {}
        for number in range(1, len(self.listed)):
            for part in range(32 // most):
                if self.bits(number, part * most, most):
                    found.setdefault(self.place(number, part * most, most), []).append((number, part))
        return found


def half_places(words: Words) -> dict[Place, set[int]]:
    """The halves of a key that reach each 16 bits of fields. Addresses and ports have homes; all but IP addresses and
    ports also have others: three of the last four, which are left beside IPv6's addresses, and two of each eight. The
    steps are such that any seven find places (key.rs tests that).
    """
    reach: dict[Place, set[int]] = {}
    number = 0
    for place, same in words.distinct(16).items():
        names = {(name, 2 * word + part) for at, part in same for name, word in words.listed[at]}
        homes = {home[half] for name, home in HOMES.items() for at, half in names if at == name}
        reach[place] = homes
        ends = {name for name, _ in names} & HOMES.keys()
        if NOT_IN_KEYS in {name for name, _ in names} or (ends and not ends & {"eth.src", "eth.dst"}):
            continue
        turn, step = divmod(number, 8)
        first, second = (step + 6 * turn) % 8, (7 * step + 2 * turn) % 8
        lower = {first, (first + 3 + turn) % 8}
        upper = {8 + second, 8 + (second + 4 + turn) % 8}
        if ends:
            lower, upper = (set(), {8 + second}) if "eth.src" in ends else ({first}, set())
        last = {16, 17, 18, 19}
        reach[place] |= lower | upper | (last if place[1] <= SMALL else last - {16 + number % 4})
        number += 1
    return reach


def operand_places(words: Words) -> dict[Place, set[int]]:
    """The operands that reach each word: another four of the eight for each, so any six words find places (places.rs
    tests that).
    """
    fours = [set(four) for four in itertools.combinations(range(OPERANDS), 4)]
    return {place: fours[23 * number % len(fours)] for number, place in enumerate(words.distinct(32))}


def choices(words: Words, count: int, most: int, reach: dict[Place, set[int]]) -> Lists:
    """The choices of each place, by number, as (number of the word, which part): nothing first, then by width, so that
    few choices are for upper bits.
    """
    distinct = words.distinct(most)
    lists: Lists = [[(0, 0)] for _ in range(count)]
    for place, same in sorted(distinct.items(), key=lambda one: -words.bits(one[1][0][0], most * one[1][0][1], most)):
        for at in reach[place]:
            lists[at].append(same[0])
    assert max(map(len, lists)) <= MOST
    return lists


def halves(words: Words) -> Lists:
    """The choices of each half of the key, by number: (number of a word, 1 for its upper half)."""
    return choices(words, HALVES, 16, half_places(words))


def operands(words: Words) -> Lists:
    """The same of operands."""
    return choices(words, OPERANDS, 32, operand_places(words))


def array(name: str, what: str, lists: list[list[int]]) -> list[str]:
    counts = ", ".join(str(len(listed)) for listed in lists)
    lines = ["", f"  // {what}; how many there are, and behind these nothing"]
    lines += [f"  localparam int unsigned {name}_COUNT[{len(lists)}] = '{{{counts}}};"]
    lines += [f"  localparam int unsigned {name}[{len(lists)}][{MOST}] = '{{"]
    for index, listed in enumerate(lists):
        text = ", ".join(map(str, listed + [0] * (MOST - len(listed))))
        lines += textwrap.wrap(f"'{{{text}}}", 130, initial_indent="    ", subsequent_indent="      ")
        lines[-1] += "," if index + 1 < len(lists) else ""
    return [*lines, "  };"]


def verilog(words: Words) -> list[str]:
    lines = [
        f"// {NOTICE}",
        f"// {ORIGIN}",
        "",
        "// The choices of an element (flow_extract.sv); the first one is nothing.",
    ]
    lines += ["package choices_pkg;"]
    numbers = [[2 * number + part for number, part in listed] for listed in halves(words)]
    lines += array("HALVES", "By half of the key: twice the number of a word, and 1 for its upper half", numbers)
    numbers = [[number for number, _ in listed] for listed in operands(words)]
    lines += array("OPERANDS", "By operand: the number of a word", numbers)
    return [*lines, "endpackage"]


def rows(words: Words, most: int, lists: Lists) -> list[list[int]]:
    """For each part of a word its choice at each place, 0 if the place cannot choose it."""
    parts = 32 // most
    found = [[0] * len(lists) for _ in range(parts * len(words.listed))]
    for same in words.distinct(most).values():
        for place, listed in enumerate(lists):
            if same[0] in listed:
                for number, part in same:
                    found[parts * number + part][place] = listed.index(same[0])
    return found


def rust(words: Words) -> list[str]:
    lines = [f"// {NOTICE}", f"//! {ORIGIN}"]
    tables = (
        (
            "HALVES",
            16,
            halves(words),
            "By half of a word, the lower one first: the number by which each half of a key chooses it",
        ),
        ("OPERANDS", 32, operands(words), "By word: the number by which each operand chooses it"),
    )
    for name, most, lists, what in tables:
        table = rows(words, most, lists)
        lines += ["", f"/// {what}; 0 where it does not reach it."]
        lines += [f"pub(crate) static {name}: [[u8; {len(lists)}]; {len(table)}] = ["]
        lines += [f"    [{', '.join(map(str, row))}]," for row in table]
        lines += ["];"]
    return lines


def render() -> dict[str, str]:
    words = Words()
    files = {"engines/flow/rtl/choices_pkg.sv": verilog(words), "engines/flow/compiler/src/choices.rs": rust(words)}
    return {name: "\n".join(lines) + "\n" for name, lines in files.items()}


def main() -> int:
    args = argparse.ArgumentParser(description=__doc__)
    args.add_argument("--check", action="store_true", help="write nothing; fail when a file is not up to date")
    opts = args.parse_args()
    return 0 if bring(render(), opts.check, TOOL) else 1


if __name__ == "__main__":
    sys.exit(main())
