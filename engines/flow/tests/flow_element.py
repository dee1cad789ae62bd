# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""The element of the flow engine in plain Python: programs as bits and their meaning (engines/flow/element.md)."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "engines/flow/compiler")]

import fields  # noqa: E402
import generate_choices  # noqa: E402

WORD = 1 << 32
OPERANDS, PREDICATES, CONDITIONS, FUNCTIONS, REGISTERS, GLOBALS, ROWS, PERIODS = 8, 32, 8, 16, 4, 8, 64, 8
HALVES, PAIRS, PLACE = 20, 9, 18
EDIT_WORDS, CHOICE_WORDS = 12, 3
ROW_WORDS = EDIT_WORDS + CHOICE_WORDS
SOURCE = fields.tomllib.loads((ROOT / fields.SOURCE).read_text())
PARTS = [*SOURCE["header"], *SOURCE["part"]]
WORDS = fields.words(SOURCE)
CHOICE_BITS = 6
# The choices for each half of a key and each operand: (number of a word, 1 for its upper half).
HALF_CHOICES = generate_choices.halves(generate_choices.Words())
OPERAND_CHOICES = generate_choices.operands(generate_choices.Words())
SIDES = (
    ("eth.src", "eth.dst"),
    ("ip.src", "ip.dst"),
    ("ip6.src", "ip6.dst"),
    ("l4.sport", "l4.dport"),
)


class Reader:
    """Takes fields off a value, the highest first."""

    def __init__(self, value: int, width: int) -> None:
        self.value, self.width = value, width

    def take(self, width: int) -> int:
        self.width -= width
        return self.value >> self.width & ((1 << width) - 1)

    def option(self, width: int) -> int | None:
        there, value = self.take(1), self.take(width)
        return value if there else None


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
    """The source of a value: "r", "g", "x" and a number, or the constant."""

    of: str = "constant"
    index: int = 0

    def bits(self) -> tuple[int, int]:
        return bits((("r", "g", "x", "constant").index(self.of), 2), (self.index, 3))

    @classmethod
    def read(cls, reader: Reader) -> Source:
        return cls(("r", "g", "x", "constant")[reader.take(2)], reader.take(3))


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
    "ewma": lambda a, b, k: a + (signed((b - a) % WORD) >> k),
    "mul": lambda a, b, k: a * b,
}


# Only the first functions do these.
FULL = ("shl", "shr", "ror", "ewma", "mul")
FULL_FUNCTIONS = 4


def reads(source: Source, upper: int) -> bool:
    """Whether the side of a function reads it that has the upper half of operands and global registers, or the lower
    one.
    """
    return source.of not in {"g", "x"} or source.index // 4 == upper


@dataclass(frozen=True)
class Key:
    """The parts of a key: parts that a frame must have, halves that change places, pairs that decide it, and the choice
    for each half.
    """

    parts: int = 0
    swap: int = 0
    order: Sequence[int] = (0, 0, 0)
    halves: Sequence[int] = (0,) * HALVES

    def bits(self) -> tuple[int, int]:
        return bits(
            (self.parts, len(PARTS)),
            (self.swap, PAIRS),
            repeated([(pair, 2) for pair in self.order]),
            repeated([(half, CHOICE_BITS) for half in self.halves]),
        )

    @classmethod
    def read(cls, reader: Reader) -> Key:
        parts, swap = reader.take(len(PARTS)), reader.take(PAIRS)
        order = [reader.take(2) for _ in range(3)]
        halves = [reader.take(CHOICE_BITS) for _ in range(HALVES)]
        return cls(parts, swap, order[::-1], halves[::-1])

    def of(self, values: Mapping[str, int], parts: int) -> int | None:
        """The key of a frame, which has these fields and parts, if it has all."""
        if self.parts & ~parts:
            return None
        key = []
        for choices, choice in zip(HALF_CHOICES, self.halves, strict=True):
            number, upper = choices[choice]
            key.append(word_of(number, values) >> 16 * upper & 0xFFFF)
        sides = [[values.get(name, 0) for name in SIDES[pair]] for pair in self.order]
        if [source for source, _ in sides] > [destination for _, destination in sides]:
            for pair in range(PAIRS):
                if self.swap >> pair & 1:
                    one, other = (16, 17) if pair == 8 else (pair, pair + 8)
                    key[one], key[other] = key[other], key[one]
        return sum(half << 16 * at for at, half in enumerate(key))


def word_of(number: int, values: Mapping[str, int]) -> int:
    """A word of a field that the frame has; 0 for a missing field."""
    return next((values[name] >> 32 * word & WORD - 1 for name, word in WORDS[number] if name in values), 0)


def operands_of(chosen: Sequence[int], values: Mapping[str, int]) -> list[int]:
    """The operands for these choices."""
    return [word_of(choices[choice][0], values) for choices, choice in zip(OPERAND_CHOICES, chosen, strict=True)]


@dataclass(frozen=True)
class Predicate:
    x: int = 0
    mask: int = WORD - 1
    op: str = "=="
    value: int = 0

    def bits(self) -> tuple[int, int]:
        return bits((list(PREDICATE).index(self.op), 2), (self.x, 3), (self.mask, 32), (self.value, 32))

    @classmethod
    def read(cls, reader: Reader) -> Predicate:
        op = list(PREDICATE)[reader.take(2)]
        return cls(reader.take(3), reader.take(32), op, reader.take(32))


@dataclass(frozen=True)
class Condition:
    op: str = "=="
    a: Source = Source()
    b: Source = Source()
    value: int = 0

    def bits(self) -> tuple[int, int]:
        return bits((list(CONDITION).index(self.op), 2), self.a.bits(), self.b.bits(), (self.value, 32))

    @classmethod
    def read(cls, reader: Reader) -> Condition:
        op = list(CONDITION)[reader.take(2)]
        return cls(op, Source.read(reader), Source.read(reader), reader.take(32))


@dataclass(frozen=True)
class Function:
    op: str = "copy"
    a: Source = Source()
    b: Source = Source()
    shift: int = 0
    value: int = 0

    def bits(self) -> tuple[int, int]:
        return bits((list(FUNCTION).index(self.op), 4), self.a.bits(), self.b.bits(), (self.shift, 5), (self.value, 32))

    @classmethod
    def read(cls, reader: Reader) -> Function:
        op = list(FUNCTION)[reader.take(4)]
        return cls(op, Source.read(reader), Source.read(reader), reader.take(5), reader.take(32))


@dataclass(frozen=True)
class Row:
    """Its condition (None: always) and its action."""

    state: int | None = None
    true_p: int = 0
    false_p: int = 0
    has: int = 0  # parts
    lacks: int = 0
    true_c: int = 0
    false_c: int = 0
    new: bool | None = None
    full: bool | None = None
    r: dict[int, int] = field(default_factory=dict)  # register: function
    g: dict[int, int] = field(default_factory=dict)
    goto: int | None = None
    keep: bool = False  # names the state that there is
    hard: int | None = None  # period
    idle: int | None = None
    forget: bool = False
    notify: bool = False

    @property
    def named(self) -> bool:
        """Whether it names a state, and so sets both timeouts."""
        return self.keep or self.goto is not None

    def match(self) -> tuple[int, int]:
        return bits(
            (1, 1),
            (int(self.state is None), 1),
            (self.state or 0, 8),
            (self.true_p, PREDICATES),
            (self.false_p, PREDICATES),
            (self.has, len(PARTS)),
            (self.lacks, len(PARTS)),
            (self.true_c, CONDITIONS),
            (self.false_c, CONDITIONS),
            *((int(flag is want), 1) for flag in (self.new, self.full) for want in (True, False)),
        )

    def choice(self) -> tuple[int, int]:
        def option(value: int | None, width: int) -> tuple[int, int]:
            return bits((int(value is not None), 1), (value or 0, width))

        return bits(
            repeated([option(self.r.get(i), 4) for i in range(REGISTERS)]),
            repeated([option(self.g.get(i), 4) for i in range(GLOBALS)]),
            (int(self.named), 1),
            option(self.goto, 8),
            option(self.hard, 3),
            option(self.idle, 3),
            (int(self.forget), 1),
            (int(self.notify), 1),
        )

    @classmethod
    def read(cls, reader: Reader, choice: Reader) -> Row | None:
        def either() -> bool | None:
            return {(0, 0): None, (1, 0): True, (0, 1): False}[reader.take(1), reader.take(1)]

        def functions(count: int) -> dict[int, int]:
            chosen = [choice.option(4) for _ in range(count)][::-1]
            return {register: function for register, function in enumerate(chosen) if function is not None}

        used, any_state, state = reader.take(1), reader.take(1), reader.take(8)
        match = {name: reader.take(PREDICATES) for name in ("true_p", "false_p")}
        match |= {name: reader.take(len(PARTS)) for name in ("has", "lacks")}
        match |= {name: reader.take(CONDITIONS) for name in ("true_c", "false_c")}
        new, full = either(), either()
        r, g = functions(REGISTERS), functions(GLOBALS)
        named, goto = choice.take(1), choice.option(8)
        hard, idle = choice.option(3), choice.option(3)
        forget, notify = bool(choice.take(1)), bool(choice.take(1))
        keep = bool(named) and goto is None
        row = cls(None if any_state else state, **match, new=new, full=full, r=r, g=g, goto=goto, keep=keep)
        row = replace(row, hard=hard, idle=idle, forget=forget, notify=notify)
        return row if used else None


@dataclass(frozen=True)
class Period:
    duration: int = 0
    then: int | None = None

    def bits(self) -> tuple[int, int]:
        return bits((int(self.then is not None), 1), (self.then or 0, 8), (self.duration, 32))

    @classmethod
    def read(cls, reader: Reader) -> Period:
        then = reader.option(8)
        return cls(reader.take(32), then)


@dataclass
class Program:
    capacity: int
    keyed: bool = True
    evict: str | None = None  # "lowest", "highest"
    places: int = (1 << PLACE) - 1  # bits of an address in a way
    key: Key = Key()
    operands: Sequence[int] = (0,) * OPERANDS
    initial: Sequence[int] = (0,) * REGISTERS
    initial_g: Sequence[int] = (0,) * GLOBALS
    periods: Sequence[Period] = ()
    predicates: Sequence[Predicate] = ()
    conditions: Sequence[Condition] = ()
    functions: Sequence[Function] = ()
    rows: Sequence[Row] = ()
    edits: Sequence[int] = ()  # of each row, as one number

    @property
    def serial(self) -> bool:
        return any(row.g for row in self.rows)

    def words(self, count: int) -> Iterator[int]:
        """The words that the host shifts in, for the element's number of rows: first the actions of each row."""
        for edit, row in zip_longest(self.edits, self.rows):
            yield from ((edit or 0) >> 32 * at & WORD - 1 for at in range(EDIT_WORDS))
            yield from ((row.choice()[0] if row else 0) >> 32 * at & WORD - 1 for at in range(CHOICE_WORDS))
        yield from [0] * (ROW_WORDS * (ROWS - max(len(self.edits), len(self.rows))))
        count -= ROWS * ROW_WORDS

        def filled(parts: Sequence[tuple[int, int]], number: int, empty: tuple[int, int]) -> tuple[int, int]:
            assert len(parts) <= number
            return repeated([*parts] + [empty] * (number - len(parts)))

        def all_of(parts: Sequence, number: int, empty: Any) -> tuple[int, int]:
            return filled([part.bits() for part in parts], number, empty.bits())

        value, width = bits(
            (int(self.keyed), 1),
            (int(self.serial), 1),
            (int(self.evict is not None), 1),
            (int(self.evict == "highest"), 1),
            (self.places, PLACE),
            self.key.bits(),
            repeated([(number, CHOICE_BITS) for number in self.operands]),
            (self.capacity, 32),
            repeated([(value, 32) for value in self.initial]),
            repeated([(value, 32) for value in self.initial_g]),
            all_of(self.periods, PERIODS, Period()),
            all_of(self.predicates, PREDICATES, Predicate()),
            all_of(self.conditions, CONDITIONS, Condition()),
            all_of(self.functions, FUNCTIONS, Function()),
            filled([row.match() for row in self.rows], ROWS, (0, Row().match()[1])),
        )
        assert (width + 31) // 32 == count, (width, count)
        for _ in range(count):
            yield value % WORD
            value >>= 32

    @classmethod
    def read(cls, words: Sequence[int]) -> Program:
        """What words mean."""

        def number(words: Sequence[int]) -> int:
            return sum(word << 32 * at for at, word in enumerate(words))

        of_rows = [words[at : at + ROW_WORDS] for at in range(0, ROWS * ROW_WORDS, ROW_WORDS)]
        words = words[ROWS * ROW_WORDS :]
        one_of_each = (Period(), Predicate(), Condition(), Function())
        counts = (PERIODS, PREDICATES, CONDITIONS, FUNCTIONS)
        width = 4 + PLACE + Key().bits()[1] + OPERANDS * CHOICE_BITS + 32 * (1 + REGISTERS + GLOBALS)
        width += sum(count * part.bits()[1] for part, count in zip(one_of_each, counts, strict=True))
        width += ROWS * Row().match()[1]
        assert (width + 31) // 32 == len(words)
        reader = Reader(number(words), width)
        assert reader.value >> width == 0
        keyed, serial = bool(reader.take(1)), bool(reader.take(1))
        evict = (None, "lowest", None, "highest")[reader.take(1) + 2 * reader.take(1)]
        places = reader.take(PLACE)
        key = Key.read(reader)
        operands = [reader.take(CHOICE_BITS) for _ in range(OPERANDS)][::-1]
        capacity = reader.take(32)
        initial, initial_g = ([reader.take(32) for _ in range(count)][::-1] for count in (REGISTERS, GLOBALS))
        periods, predicates, conditions, functions = (
            [type(part).read(reader) for _ in range(count)][::-1]
            for part, count in zip(one_of_each, counts, strict=True)
        )
        choices = [Reader(number(words[EDIT_WORDS:]), Row().choice()[1]) for words in of_rows]
        assert all(choice.value >> choice.width == 0 for choice in choices)
        rows = [Row.read(reader, choice) for choice in reversed(choices)][::-1]
        used = [row for row in rows if row is not None]
        assert used == rows[: len(used)], "rows stand one after the other"
        program = cls(capacity, keyed, evict, places, key, operands, initial, initial_g)
        program = replace(
            program, periods=periods, predicates=predicates, conditions=conditions, functions=functions, rows=used
        )
        assert all(one.op not in FULL for one in functions[FULL_FUNCTIONS:])
        for at, one in enumerate(functions[FULL_FUNCTIONS:], FULL_FUNCTIONS):
            assert reads(one.a, at & 1) and reads(one.b, at >> 1 & 1)
        program.edits = [number(words[:EDIT_WORDS]) for words in of_rows[: len(used)]]
        assert program.serial == serial
        return program


@dataclass
class Context:
    state: int
    r: list[int]
    hard: tuple[int, int] | None = None  # period, time
    idle: tuple[int, int] | None = None


@dataclass(frozen=True)
class Event:
    """An event for the host: `kind` is "expired", "evicted", "new", "full" or "notified"."""

    kind: str
    key: int
    state: int
    r: tuple[int, ...]


@dataclass(frozen=True)
class Outcome:
    """The outcome for a frame: the row that it matched, and the registers afterwards; those of the flow only if a row
    matched.
    """

    row: int | None
    unkept: bool
    r: tuple[int, ...] | None
    g: tuple[int, ...]
    events: tuple[Event, ...]


class Element:
    """Takes frames one after the other; `contexts` is all that it remembers of flows, `g` the globals."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.contexts: dict[int, Context] = {}
        self.g = list(program.initial_g)
        self.now = 0
        # If several contexts could give way, any may: the keys of those that the device evicted, in their order.
        self.gone: list[int] = []
        self.ambiguous = False  # it was not known which

    def expire(self, key: int) -> Event | None:
        """The event if the time of a key's context is over; its timeout decides what follows."""
        context = self.contexts.get(key)
        if context is None:
            return None
        # How late each timeout is. A timeout that is more than 268 s late counts as a future one.
        late = {timeout: (self.now - timeout[1]) % WORD for timeout in (context.hard, context.idle) if timeout}
        late = {timeout: by for timeout, by in late.items() if by < 1 << 28}
        if not late:
            return None
        # The first of equal ones is `hard`.
        then = self.program.periods[max(late, key=lambda timeout: late[timeout])[0]].then
        if then is None:
            del self.contexts[key]
        else:
            self.contexts[key] = Context(then, context.r)
        return Event("expired", key, context.state, tuple(context.r))

    def evict(self) -> Event:
        """A context gives way: of all, so tables are to be small."""
        sign = 1 if self.program.evict == "lowest" else -1
        first = min(sign * context.r[0] for context in self.contexts.values())
        equal = [key for key, context in self.contexts.items() if sign * context.r[0] == first]
        key = self.gone.pop(0) if self.gone else equal[0]
        self.ambiguous |= not self.gone and len(equal) > 1
        assert key in equal, f"{key:x} gave way, and not one of {equal}"
        context = self.contexts.pop(key)
        return Event("evicted", key, context.state, tuple(context.r))

    def vector(self, values: Mapping[str, int], parts: int) -> Outcome:
        """A frame with these fields, including metadata, and these parts."""
        x = operands_of(self.program.operands, values)
        return self.frame(self.program.key.of(values, parts), x, parts)

    def frame(self, key: int | None, x: Sequence[int], parts: int) -> Outcome:
        program = self.program
        events: list[Event] = []
        found = None
        if key is not None and program.keyed:
            if expired := self.expire(key):
                events.append(expired)
            found = self.contexts.get(key)
        context = found or Context(0, list(program.initial))
        nothing = Outcome(None, False, None, tuple(self.g), tuple(events))
        if key is None and program.keyed:
            return nothing

        def value(source: Source, constant: int) -> int:
            return {"r": context.r, "g": self.g, "x": x, "constant": [constant] * 8}[source.of][source.index]

        p = sum(PREDICATE[q.op](x[q.x] & q.mask, q.value) << i for i, q in enumerate(program.predicates))
        c = sum(
            CONDITION[q.op](value(q.a, q.value), value(q.b, q.value)) << i for i, q in enumerate(program.conditions)
        )
        full = len(self.contexts) >= program.capacity and program.evict is None
        for number, row in enumerate(program.rows):  # noqa: B007
            if (
                row.state not in (None, context.state)
                or row.new not in (None, found is None)
                or row.full not in (None, full)
            ):
                continue
            if (
                row.true_p & ~p
                or row.false_p & p
                or row.true_c & ~c
                or row.false_c & c
                or row.has & ~parts
                or row.lacks & parts
            ):
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
        stores = bool(row.r) or row.named
        keeps = program.keyed and not row.forget and (found is not None or (stores and not full))
        unkept = program.keyed and found is None and stores and not row.forget and full
        state = context.state if row.goto is None else row.goto

        def tell(kind: str) -> None:
            events.append(Event(kind, key if key is not None and program.keyed else 0, state, tuple(new_r)))

        if keeps:
            at = [(self.now + period.duration) % WORD for period in program.periods]
            hard, idle = context.hard, context.idle and (context.idle[0], at[context.idle[0]])
            if row.named:
                hard, idle = (None if period is None else (period, at[period]) for period in (row.hard, row.idle))
            if found is None and len(self.contexts) >= program.capacity:
                events.append(self.evict())
            self.contexts[key] = Context(state, new_r, hard, idle)
            if found is None:
                tell("new")
                if program.evict is None and len(self.contexts) == program.capacity:
                    tell("full")
        elif key is not None:
            self.contexts.pop(key, None)
        if row.notify:
            tell("notified")
        return Outcome(number, unkept, tuple(new_r), tuple(new_g), tuple(events))
