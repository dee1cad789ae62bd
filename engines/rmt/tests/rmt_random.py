# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Random well-typed statements of P4, each as text and as its effect on a dictionary of numbers."""

from __future__ import annotations

import random
from collections.abc import Callable

Numbers = dict[str, int]
Value = tuple[str, int, Callable[[Numbers], int]]
"""Text, width, value."""
Stmt = tuple[str, Callable[[Numbers], None]]

FIELDS = {"a": 32, "b": 32, "c": 16, "d": 8, "e": 4, "f": 4, "x": 32, "y": 32, "z": 64}
NAMES = {name: f"h.n.{name}" for name in FIELDS} | {"m": "m.m", "small": "m.small"}
WIDTHS = FIELDS | {"m": 32, "small": 8}


class Random:
    """`easy` values are those that a card's units compute; others are for `soft` alone."""

    def __init__(self, seed: int, easy: bool) -> None:
        self.rng, self.easy = random.Random(seed), easy

    def leaf(self, width: int) -> Value:
        names = [name for name, of in WIDTHS.items() if of == width]
        if names and self.rng.random() < 0.7:
            name = self.rng.choice(names)
            return NAMES[name], width, lambda n: n[name]
        if self.rng.random() < 0.5:
            wider = [name for name, of in WIDTHS.items() if of > width]
            if wider:
                name = self.rng.choice(wider)
                low = self.rng.randrange(WIDTHS[name] - width + 1)
                return f"{NAMES[name]}[{low + width - 1}:{low}]", width, lambda n: n[name] >> low & (1 << width) - 1
        constant = self.rng.choice([0, 1, (1 << width) - 1, self.rng.getrandbits(width)])
        return f"{width}w{constant}", width, lambda _: constant

    def value(self, width: int, depth: int) -> Value:
        mask = (1 << width) - 1
        if depth == 0 or self.rng.random() < 0.2 or (self.easy and width > 32):
            return self.leaf(width)
        what = self.rng.randrange(9 if self.easy else 12)
        if what == 0:
            text, _, of = self.value(width, depth - 1)
            return f"(~{text})", width, lambda n: of(n) ^ mask
        if what == 1:
            text, _, of = self.value(width, depth - 1)
            by = self.rng.randrange(width + 2)
            return f"({text} << {by})", width, lambda n: of(n) << by & mask
        if what == 2:
            text, _, of = self.value(width, depth - 1)
            by = self.rng.randrange(width + 2)
            return f"({text} >> {by})", width, lambda n: of(n) >> by
        if what == 3 and width > 1:
            low = self.rng.randrange(1, width)
            (upper, _, one), (lower, _, two) = self.value(width - low, depth - 1), self.value(low, depth - 1)
            return f"({upper} ++ {lower})", width, lambda n: one(n) << low | two(n)
        if what == 4:
            other = self.rng.choice([4, 8, 16, 32])
            text, _, of = self.value(other, depth - 1)
            return f"((bit<{width}>){text})", width, lambda n: of(n) & mask
        if what == 5:
            (condition, yes), (no_text, _, no) = self.condition(depth - 1), self.value(width, depth - 1)
            yes_text, _, of = self.value(width, depth - 1)
            return f"({condition} ? {yes_text} : {no_text})", width, lambda n: of(n) if yes(n) else no(n)
        (left, _, one), (right, _, two) = self.value(width, depth - 1), self.value(width, depth - 1)
        operators: list[tuple[str, Callable[[int, int], int]]] = [
            ("+", lambda p, q: p + q), ("-", lambda p, q: p - q), ("&", lambda p, q: p & q),
            ("|", lambda p, q: p | q), ("^", lambda p, q: p ^ q),
        ]  # fmt: skip
        if not self.easy:
            operators += [
                ("*", lambda p, q: p * q),
                ("|+|", lambda p, q: min(p + q, mask)),
                ("|-|", lambda p, q: max(p - q, 0)),
            ]
        sign, does = self.rng.choice(operators)
        return f"({left} {sign} {right})", width, lambda n: does(one(n), two(n)) & mask

    def condition(self, depth: int) -> tuple[str, Callable[[Numbers], bool]]:
        if depth > 0 and self.rng.random() < 0.4:
            (left, one), (right, two) = self.condition(depth - 1), self.condition(depth - 1)
            if self.rng.random() < 0.5:
                return f"({left} && {right})", lambda n: one(n) and two(n)
            if self.rng.random() < 0.5:
                return f"({left} || {right})", lambda n: one(n) or two(n)
            return f"(!{left})", lambda n: not one(n)
        width = self.rng.choice([4, 8, 16, 32] if self.easy else [4, 8, 16, 32, 64])
        (left, _, p), (right, _, q) = self.value(width, min(depth, 1)), self.value(width, min(depth, 1))
        does: dict[str, Callable[[int, int], bool]] = {
            "==": lambda x, y: x == y, "!=": lambda x, y: x != y, "<": lambda x, y: x < y,
            "<=": lambda x, y: x <= y, ">": lambda x, y: x > y, ">=": lambda x, y: x >= y,
        }  # fmt: skip
        sign = self.rng.choice(list(does))
        return f"({left} {sign} {right})", lambda n: does[sign](p(n), q(n))

    def stmt(self, depth: int) -> Stmt:
        if depth > 0 and self.rng.random() < 0.35:
            condition, holds = self.condition(depth - 1)
            then, otherwise = self.block(depth - 1), self.block(depth - 1)
            return (
                f"if {condition} {{ {then[0]} }} else {{ {otherwise[0]} }}",
                lambda n: then[1](n) if holds(n) else otherwise[1](n),
            )
        name = self.rng.choice(list(WIDTHS))
        width = WIDTHS[name]
        if self.rng.random() < 0.2:
            low = self.rng.randrange(width)
            high = self.rng.randrange(low, width)
            text, _, of = self.value(high + 1 - low, depth)

            def part(n: Numbers) -> None:
                n[name] = n[name] & ~(((1 << high + 1 - low) - 1) << low) | of(n) << low

            return f"{NAMES[name]}[{high}:{low}] = {text};", part
        text, _, of = self.value(width, depth)

        def whole(n: Numbers) -> None:
            n[name] = of(n)

        return f"{NAMES[name]} = {text};", whole

    def block(self, depth: int) -> Stmt:
        stmts = [self.stmt(depth) for _ in range(self.rng.randrange(1, 4))]

        def run(n: Numbers) -> None:
            for _, does in stmts:
                does(n)

        return " ".join(text for text, _ in stmts), run
