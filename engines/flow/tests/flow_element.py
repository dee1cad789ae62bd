# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""The element of the flow engine in plain Python: what a program is, as bits and in meaning (engines/flow/element.md)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

WORD = 1 << 32
OPERANDS, PREDICATES, CONDITIONS, FUNCTIONS, REGISTERS, GLOBALS, ROWS, PERIODS = 8, 32, 8, 16, 4, 8, 64, 8


def bits(*parts: tuple[int, int]) -> tuple[int, int]:
    """Fields (value, width), the highest first, as one: (value, width)."""
    value = width = 0
    for part, size in parts:
        assert 0 <= part < 1 << size, (part, size)
        value, width = value << size | part, width + size
    return value, width


def repeated(parts: Sequence[tuple[int, int]]) -> tuple[int, int]:
    """The elements of a packed array: the first is the lowest."""
    return bits(*reversed(parts))


@dataclass(frozen=True)
class Source:
    """Where a value comes from: "r", "g", "x" and a number, or the constant."""

    of: str = "constant"
    index: int = 0

    def bits(self) -> tuple[int, int]:
        return bits((("r", "g", "x", "constant").index(self.of), 2), (self.index, 3))


PREDICATE: dict[str, Callable[[int, int], bool]] = {
    "==": lambda a, b: a == b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
}


def signed(value: int) -> int:
    return value - WORD if value >> 31 else value


CONDITION: dict[str, Callable[[int, int], bool]] = {
    "==": lambda a, b: a == b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    "<s": lambda a, b: signed(a) < signed(b),
    "before": lambda a, b: signed((a - b) % WORD) < 0,
}

FUNCTION: dict[str, Callable[[int, int, int], int]] = {
    "copy": lambda a, b, k: a,
    "add": lambda a, b, k: a + b,
    "sub": lambda a, b, k: a - b,
    "and": lambda a, b, k: a & b,
    "or": lambda a, b, k: a | b,
    "xor": lambda a, b, k: a ^ b,
    "not": lambda a, b, k: ~a,
    "shl": lambda a, b, k: a << b % 32,
    "shr": lambda a, b, k: a >> b % 32,
    "ror": lambda a, b, k: (a << 32 | a) >> b % 32,
    "min": lambda a, b, k: min(a, b),
    "max": lambda a, b, k: max(a, b),
    "ewma": lambda a, b, k: a + ((b - a) >> k),
}


@dataclass(frozen=True)
class Predicate:
    x: int = 0
    mask: int = WORD - 1
    op: str = "=="
    value: int = 0

    def bits(self) -> tuple[int, int]:
        return bits((list(PREDICATE).index(self.op), 2), (self.x, 3), (self.mask, 32), (self.value, 32))


@dataclass(frozen=True)
class Condition:
    op: str = "=="
    a: Source = Source()
    b: Source = Source()
    value: int = 0

    def bits(self) -> tuple[int, int]:
        return bits((list(CONDITION).index(self.op), 3), self.a.bits(), self.b.bits(), (self.value, 32))


@dataclass(frozen=True)
class Function:
    op: str = "copy"
    a: Source = Source()
    b: Source = Source()
    shift: int = 0
    value: int = 0

    def bits(self) -> tuple[int, int]:
        return bits((list(FUNCTION).index(self.op), 4), self.a.bits(), self.b.bits(), (self.shift, 5), (self.value, 32))


@dataclass(frozen=True)
class Row:
    """When it fits (None: it does not ask) and what it does."""

    state: int | None = None
    true_p: int = 0
    false_p: int = 0
    needs: int = 0
    true_c: int = 0
    false_c: int = 0
    new: bool | None = None
    full: bool | None = None
    r: dict[int, int] = field(default_factory=dict)  # register: function
    g: dict[int, int] = field(default_factory=dict)
    goto: int | None = None
    hard: int | None = None  # period
    idle: int | None = None
    forget: bool = False
    notify: bool = False

    def bits(self) -> tuple[int, int]:
        def option(value: int | None, width: int) -> tuple[int, int]:
            return bits((int(value is not None), 1), (value or 0, width))

        match = bits(
            (1, 1),
            (int(self.state is None), 1),
            (self.state or 0, 8),
            (self.true_p, PREDICATES),
            (self.false_p, PREDICATES),
            (self.needs, OPERANDS),
            (self.true_c, CONDITIONS),
            (self.false_c, CONDITIONS),
            *((int(flag is want), 1) for flag in (self.new, self.full) for want in (True, False)),
        )
        choice = bits(
            repeated([option(self.r.get(i), 4) for i in range(REGISTERS)]),
            repeated([option(self.g.get(i), 4) for i in range(GLOBALS)]),
            option(self.goto, 8),
            option(self.hard, 3),
            option(self.idle, 3),
            (int(self.forget), 1),
            (int(self.notify), 1),
        )
        return bits(match, choice)


@dataclass(frozen=True)
class Period:
    duration: int = 0
    then: int | None = None

    def bits(self) -> tuple[int, int]:
        return bits((int(self.then is not None), 1), (self.then or 0, 8), (self.duration, 32))


@dataclass
class Program:
    capacity: int
    keyed: bool = True
    initial: Sequence[int] = (0,) * REGISTERS
    periods: Sequence[Period] = ()
    predicates: Sequence[Predicate] = ()
    conditions: Sequence[Condition] = ()
    functions: Sequence[Function] = ()
    rows: Sequence[Row] = ()

    @property
    def serial(self) -> bool:
        return any(row.g for row in self.rows)

    def words(self, count: int) -> Iterator[int]:
        """The words that the host shifts in, of which the element has so many."""

        def filled(parts: Sequence, number: int, empty: tuple[int, int]) -> tuple[int, int]:
            assert len(parts) <= number
            return repeated([part.bits() for part in parts] + [empty] * (number - len(parts)))

        value, width = bits(
            (int(self.keyed), 1),
            (int(self.serial), 1),
            (self.capacity, 32),
            repeated([(value, 32) for value in self.initial]),
            filled(self.periods, PERIODS, Period().bits()),
            filled(self.predicates, PREDICATES, Predicate().bits()),
            filled(self.conditions, CONDITIONS, Condition().bits()),
            filled(self.functions, FUNCTIONS, Function().bits()),
            filled(self.rows, ROWS, (0, Row().bits()[1])),
        )
        assert (width + 31) // 32 == count, (width, count)
        for _ in range(count):
            yield value % WORD
            value >>= 32


@dataclass
class Context:
    state: int
    r: list[int]
    hard: tuple[int, int] | None = None  # period, time
    idle: tuple[int, int] | None = None


@dataclass(frozen=True)
class Outcome:
    """What became of a frame: the row that was taken, and the registers as they are then; of the flow's only when there was a row."""

    row: int | None
    unkept: bool
    r: tuple[int, ...] | None
    g: tuple[int, ...]
    events: frozenset[str]


class Element:
    """Takes frames one after the other; `contexts` is all that it remembers of flows, `g` the globals."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.contexts: dict[int, Context] = {}
        self.g = [0] * GLOBALS
        self.now = 0

    def expire(self, key: int) -> bool:
        """Whether the time of a key's context was over; then it is as its timeout says."""
        context = self.contexts.get(key)
        if context is None:
            return False
        for timeout in (context.hard, context.idle):
            if timeout is not None and signed((self.now - timeout[1]) % WORD) >= 0:
                then = self.program.periods[timeout[0]].then
                if then is None:
                    del self.contexts[key]
                else:
                    self.contexts[key] = Context(then, context.r)
                return True
        return False

    def frame(self, key: int | None, x: Sequence[int], here: int) -> Outcome:
        program = self.program
        events = set()
        found = None
        if key is not None and program.keyed:
            if self.expire(key):
                events.add("expired")
            found = self.contexts.get(key)
        context = found or Context(0, list(program.initial))
        nothing = Outcome(None, False, None, tuple(self.g), frozenset(events))
        if key is None and program.keyed:
            return nothing

        def value(source: Source, constant: int) -> int:
            return {"r": context.r, "g": self.g, "x": x, "constant": [constant] * 8}[source.of][source.index]

        p = sum(PREDICATE[q.op](x[q.x] & q.mask, q.value) << i for i, q in enumerate(program.predicates))
        c = sum(
            CONDITION[q.op](value(q.a, q.value), value(q.b, q.value)) << i for i, q in enumerate(program.conditions)
        )
        full = found is None and len(self.contexts) >= program.capacity and "expired" not in events
        for number, row in enumerate(program.rows):  # noqa: B007
            if (
                row.state not in (None, context.state)
                or row.new not in (None, found is None)
                or row.full not in (None, full)
            ):
                continue
            if row.true_p & ~p or row.false_p & p or row.true_c & ~c or row.false_c & c or row.needs & ~here:
                continue
            break
        else:
            return nothing

        def result(f: int) -> int:
            q = program.functions[f]
            return FUNCTION[q.op](value(q.a, q.value), value(q.b, q.value), q.shift) % WORD

        new_r = [result(row.r[i]) if i in row.r else old for i, old in enumerate(context.r)]
        new_g = [result(row.g[i]) if i in row.g else old for i, old in enumerate(self.g)]
        self.g = new_g
        stores = bool(row.r) or row.goto is not None or row.hard is not None or row.idle is not None
        keeps = program.keyed and not row.forget and (found is not None or (stores and not full))
        unkept = program.keyed and found is None and stores and not row.forget and full
        if keeps:
            at = [(self.now + period.duration) % WORD for period in program.periods]
            idle = context.idle and (context.idle[0], at[context.idle[0]])
            self.contexts[key] = Context(
                context.state if row.goto is None else row.goto,
                new_r,
                context.hard if row.hard is None else (row.hard, at[row.hard]),
                idle if row.idle is None else (row.idle, at[row.idle]),
            )
            if found is None:
                events.add("new")
        elif key is not None:
            self.contexts.pop(key, None)
        if row.notify:
            events.add("notified")
        return Outcome(number, unkept, tuple(new_r), tuple(new_g), frozenset(events))
