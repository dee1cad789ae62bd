# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""The parsers of random P4 programs, and frames that take their ways."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import p4_tree as p4
from p4_case import Scope
from p4_interpreter import width
from p4_tree import ERROR, Bits, Const, Expr, Fields, Member, Name, Param, Stack, Varbit

if TYPE_CHECKING:
    from p4_random import Writer

# A copy would take the others with it.
LONELY = ("assert", "truncate", "clone", "clone_egress", "multicast", "resubmit", "recirculate")
LEAST = 3
"""Of the field that says how long a header is."""


def only_varbit(one: Expr) -> bool:
    return isinstance(one.type, Fields) and isinstance(one.type.fields[0][1], Varbit)


def is_next(one: Expr) -> bool:
    return isinstance(one, Member) and isinstance(one.of.type, Stack) and one.name == "next"


def extracted(one: Expr) -> Expr:
    """The header that is extracted to a place, as later statements name it."""
    return Member(one.type, one.of, "last") if is_next(one) and isinstance(one, Member) else one


def is_last(one: Expr) -> bool:
    return isinstance(one, Member) and isinstance(one.of.type, Stack) and one.name == "last"


class Extracted:
    """The states of a parser, and frames that take its ways."""

    def __init__(self, writer: Writer) -> None:
        self.writer, self.rng = writer, writer.rng
        self.locals: list[Any] = []
        self.sets: dict[str, str] = {}
        writer.path = self  # type: ignore[attr-defined]

    def states(self) -> list[p4.State]:
        writer, rng = self.writer, self.rng
        places = writer.places()
        order = [places[0]]
        # A header of options alone is extracted with the one in front of it.
        behind = {id(one): other for one, other in pairwise(places) if only_varbit(other)}
        rest = [one for one in places[1:] if not only_varbit(one)]
        # A loop extracts all elements of a stack.
        looped = [one for one in rest if isinstance(one, p4.Element) and not only_varbit(one)]
        if looped and writer.chance(0.4 if writer.card else 0.7):
            of = looped[0]
            rest = [one for one in rest if one not in looped[1:]]
            rest[rest.index(of)] = Member(of.type, of.of, "next")
        if not writer.card and writer.chance(0.3):
            rng.shuffle(rest)
        order += rest
        names = ["start", *(f"s{n}" for n in range(1, len(order)))]
        self.made: list[p4.State] = []
        for at, one in enumerate(order):
            later = names[at + 1 : at + (3 if writer.card else 4)]
            state = p4.State(names[at], self.extracts(one), [], [])
            if id(one) in behind:
                size = p4.Cast(Bits(32), Member(Bits(4), one, "size"))
                words = p4.Binary(Bits(32), "-", size, Const(Bits(32), LEAST))
                state.statements.append(
                    p4.Extern("extract", [behind[id(one)], p4.Shift(Bits(32), "<<", words, 5)], "p")
                )
            self.select(state, extracted(one), later)
            self.made.append(state)
        return self.made

    def extracts(self, one: Expr) -> list[p4.Statement]:
        writer, rng = self.writer, self.rng
        out: list[p4.Statement] = []
        of = one.type
        assert isinstance(of, Fields)
        if isinstance(of.fields[-1][1], Varbit):
            # The length is read ahead of the header.
            words = p4.Binary(Bits(32), "-", p4.Cast(Bits(32), p4.Lookahead(Bits(8))), Const(Bits(32), LEAST))
            bits = p4.Shift(Bits(32), "<<", words, 5)
            return [p4.Extern("extract", [one, bits], "p")]
        if writer.chance(0.25) and "sub_parser" in writer.features and of.fields[0][0] != "size" and not is_next(one):
            return [self.sub(one)]
        out.append(p4.Extern("extract", [one], "p"))
        one = extracted(one)
        if not writer.card and writer.chance(0.1):
            out.append(p4.Extern("advance", [Const(Bits(32), 8 * rng.randint(1, 4))], "p"))
        if not writer.card and writer.chance(0.15):
            scope = Scope("parser", [Member(t, one, n) for n, t in of.fields], [])
            out.append(
                p4.Extern("verify", [writer.condition(scope, 1), Const(writer.const(ERROR).type, writer.error())])
            )
        if not writer.card and writer.chance(0.15) and not any(name in writer.features for name in LONELY):
            meta = (
                [Member(t, Name(writer.meta, "m"), n) for n, t in writer.meta.fields] if hasattr(writer, "meta") else []
            )
            meta = [place for place in meta if isinstance(place.type, Bits)]
            if meta:
                scope = Scope("parser", [*[Member(t, one, n) for n, t in of.fields], *meta], meta)
                out.append(writer.assign(scope, 1))
        return out

    def sub(self, one: Expr) -> p4.Statement:
        writer = self.writer
        header = Name(one.type, "x")
        state = p4.State("start", [p4.Extern("extract", [header], "p")], [], [p4.Row([], "accept")])
        found = next(
            (sub for sub in writer.subs if isinstance(sub, p4.Parser) and sub.params[0].type == one.type), None
        )
        if found is None:
            found = p4.Parser(writer.name("Q"), [Param("out", one.type, "x")], [], [state])
            if writer.chance(0.4):
                self.select(state, header, [])
            writer.subs.append(found)
        instance = p4.Object(found.name, writer.name("q"), [])
        self.locals.append(instance)
        return p4.Call(instance.name, [Name(None, "p"), one], apply=True)  # type: ignore[arg-type]

    def select(self, state: p4.State, one: Expr, later: list[str]) -> None:
        writer, rng = self.writer, self.rng
        ends = ["accept", *(["reject"] * (not writer.card and writer.chance(0.1)))]
        assert isinstance(one.type, Fields)
        fields = [Member(of, one, name) for name, of in one.type.fields if isinstance(of, Bits) and not of.signed]
        fields = [place for place in fields if place.type.width <= (32 if writer.card else 64) and place.name != "size"]
        if not fields or (not later and not is_last(one) and writer.chance(0.8)):
            state.rows = [p4.Row([], rng.choice(later or ["accept"]))]
            return
        keys: list[Expr] = [rng.choice(fields)]
        if not writer.card and writer.chance(0.3):
            keys.append(rng.choice(fields))
        if writer.chance(0.15):
            keys = [p4.Lookahead(Bits(rng.choice([4, 8, 16])))]
        elif writer.chance(0.15) and keys[0].type.width > 2:
            low = rng.randrange(keys[0].type.width - 1)
            keys[0] = p4.Slice(Bits(2), keys[0], low + 1, low)
        state.keys, state.rows = keys, []
        for to in [*later, *rng.sample([*ends, *later], min(1 if writer.card else 2, len(ends) + len(later)))]:
            state.rows.append(p4.Row([self.match(width(key.type)) for key in keys], to))
        own = not any(isinstance(statement, p4.Call) for statement in state.statements)
        if own and state.name != "start" and not writer.card and "loop" in writer.features and isinstance(one, Member):
            state.rows.insert(0, p4.Row([writer.number(width(key.type)) for key in keys], state.name))
        if is_last(one):
            # Rows that stay in the loop come first, and often.
            row = p4.Row([self.match(width(key.type)) for key in keys], state.name)
            state.rows[:0] = [row] if writer.card else [row, *state.rows[:1]]
        if "value_set" in writer.features and not self.sets and state.name != "start" and later:
            set_ = writer.name("vs")
            self.locals.append(p4.Object("value_set", set_, [4], keys[0].type))
            self.sets[f"P.{set_}"] = f"P.{state.name}"
            others = [rng.choice([None, self.match(width(key.type))]) for key in keys[1:]]
            state.rows.insert(0, p4.Row([set_, *others], rng.choice(later)))
        if writer.chance(0.8):
            state.rows.append(p4.Row([None], rng.choice([*ends, *later])))

    def match(self, bits: int) -> Any:
        writer = self.writer
        full, value = (1 << bits) - 1, writer.number(bits)
        what = self.rng.random()
        if what < 0.15:
            mask = self.rng.getrandbits(bits)
            return ("&&&", value & mask, mask)
        if what < 0.25 and not (writer.card and writer.chance(0.7)):
            return ("..", value, min(full, value + self.rng.choice([0, 1, 5] if writer.card else [0, 1, 5, 100])))
        return value

    # ---- frames
    def bits(self) -> int:
        """A frame's headers along a way through the states; `length` is how many bytes they have."""
        self.data, self.size = 0, 0
        ahead: list[tuple[int, int]] = []  # bits that the next header begins with
        name, steps = "start", 0
        by_name = {state.name: state for state in self.made}
        while name in by_name and steps < 12:
            steps += 1
            state = by_name[name]
            begin = self.size
            header: Any = None
            for statement in state.statements:
                header = self.append(statement) or header
            for value, bits in ahead:
                self.patch(begin, bits, value)
            ahead = []
            row = self.rng.choice(state.rows)
            for key, match in zip(state.keys, row.matches, strict=False):
                value = self.within(match, width(key.type))
                if value is None:
                    continue
                if isinstance(key, p4.Lookahead):
                    ahead.append((value, width(key.type)))
                    continue
                low, place = (key.low, key.of) if isinstance(key, p4.Slice) else (0, key)
                at = begin
                for field_name, of in header.fields:
                    if isinstance(place, Member) and field_name == place.name and not isinstance(of, Varbit):
                        self.patch(at + width(of) - low - width(key.type), width(key.type), value)
                    at += 0 if isinstance(of, Varbit) else width(of)
            name = row.state
        self.length = self.size // 8
        return self.data

    def within(self, match: Any, bits: int) -> int | None:
        if match is None or isinstance(match, str):
            return None
        if not isinstance(match, tuple):
            return match
        if match[0] == "..":
            return self.rng.randint(match[1], match[2])
        return match[1] | self.writer.number(bits) & ~match[2]

    def patch(self, at: int, bits: int, value: int) -> None:
        if at + bits > self.size:
            return
        low = self.size - at - bits
        mask = (1 << bits) - 1 << low
        self.data = self.data & ~mask | value << low

    def append(self, statement: p4.Statement) -> Any:
        """Bytes that a statement takes."""
        if isinstance(statement, p4.Extern) and statement.name == "advance":
            self.more(statement.args[0].value, self.rng.getrandbits(statement.args[0].value))
            return None
        if isinstance(statement, p4.Call):
            of: Any = statement.args[1].type
        elif isinstance(statement, p4.Extern) and statement.name == "extract":
            of = statement.args[0].type
        else:
            return None
        for name, one in of.fields:
            if isinstance(one, Varbit):
                continue
            self.more(width(one), self.writer.number(width(one)))
            if name == "size":
                words = self.rng.choice([0, 0, 1, 1, 2, 4, 5])
                self.patch(
                    self.size - width(one),
                    width(one),
                    words + LEAST if self.rng.random() < 0.85 else self.rng.randrange(LEAST),
                )
                self.options = 32 * words
        if isinstance(of.fields[-1][1], Varbit):
            self.more(self.options, self.rng.getrandbits(self.options + 1) & (1 << self.options) - 1)
        return None if only_varbit(statement.args[0]) else of  # type: ignore[union-attr]

    def more(self, bits: int, value: int) -> None:
        self.data, self.size = self.data << bits | value, self.size + bits
