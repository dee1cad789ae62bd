# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Programs of P4-16 for v1model as trees, and their text. Trees are what rmt's random programs are made of: the
compiler gets the text, and p4_interpreter.py runs the tree.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

# ---- types


@dataclass(frozen=True)
class Bits:
    width: int
    signed: bool = False

    def __str__(self) -> str:
        return f"{'int' if self.signed else 'bit'}<{self.width}>"

    def wrap(self, value: int) -> int:
        value &= (1 << self.width) - 1
        return value - (1 << self.width) if self.signed and value >> self.width - 1 else value


@dataclass(frozen=True)
class Plain:
    """`bool` or `error`."""

    name: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Varbit:
    most: int

    def __str__(self) -> str:
        return f"varbit<{self.most}>"


@dataclass(frozen=True)
class Fields:
    """A header or struct. Some fields of metadata have a number of `@field_list`."""

    kind: str
    name: str
    fields: tuple[tuple[str, Type], ...]
    kept: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.name

    def declared(self) -> str:
        lines = [f"    {'@field_list(1) ' * (name in self.kept)}{declare(of, name)};" for name, of in self.fields]
        return "\n".join([f"{self.kind} {self.name} {{", *lines, "}"])

    def of(self, name: str) -> Type:
        return dict(self.fields)[name]


@dataclass(frozen=True)
class Stack:
    of: Fields
    size: int

    def __str__(self) -> str:
        return f"{self.of}[{self.size}]"


Type = Bits | Plain | Varbit | Fields | Stack
BOOL, ERROR = Plain("bool"), Plain("error")


def declare(of: Type, name: str) -> str:
    return f"{of} {name}"


# ---- expressions


@dataclass
class Const:
    type: Type
    value: Any

    def __str__(self) -> str:
        if isinstance(self.type, Bits):
            if not self.type.signed:
                return f"{self.type.width}w{self.value}"
            return f"{self.type.width}s{self.value}" if self.value >= 0 else f"(({self.type})({self.value}))"
        if self.type == BOOL:
            return "true" if self.value else "false"
        return f"error.{self.value}"


@dataclass
class Name:
    type: Type
    name: str

    def __str__(self) -> str:
        return self.name


@dataclass
class Member:
    type: Type
    of: Expr
    name: str

    def __str__(self) -> str:
        return f"{self.of}.{self.name}"


@dataclass
class Element:
    """An element of a stack, by a number or by an expression."""

    type: Type
    of: Expr
    index: Any

    def __str__(self) -> str:
        return f"{self.of}[{self.index}]"


@dataclass
class Slice:
    type: Type
    of: Expr
    high: int
    low: int

    def __str__(self) -> str:
        return f"{self.of}[{self.high}:{self.low}]"


@dataclass
class Unary:
    type: Type
    sign: str
    of: Expr

    def __str__(self) -> str:
        return f"({self.sign}{self.of})"


@dataclass
class Binary:
    type: Type
    sign: str
    left: Expr
    right: Expr

    def __str__(self) -> str:
        return f"({self.left} {self.sign} {self.right})"


@dataclass
class Shift:
    """A shift by a constant."""

    type: Type
    sign: str
    left: Expr
    by: int

    def __str__(self) -> str:
        return f"({self.left} {self.sign} {self.by})"


@dataclass
class Mux:
    type: Type
    condition: Expr
    yes: Expr
    no: Expr

    def __str__(self) -> str:
        return f"({self.condition} ? {self.yes} : {self.no})"


@dataclass
class Cast:
    type: Type
    of: Expr

    def __str__(self) -> str:
        return f"(({self.type}){self.of})"


@dataclass
class IsValid:
    of: Expr
    type: Type = BOOL

    def __str__(self) -> str:
        return f"{self.of}.isValid()"


@dataclass
class Lookahead:
    type: Type

    def __str__(self) -> str:
        return f"p.lookahead<{self.type}>()"


@dataclass
class Hit:
    """`hit` or `miss` of a table that is applied."""

    table: str
    which: str
    type: Type = BOOL

    def __str__(self) -> str:
        return f"{self.table}.apply().{self.which}"


@dataclass
class FunctionCall:
    type: Type
    name: str
    args: list[Expr]

    def __str__(self) -> str:
        return f"{self.name}({', '.join(map(str, self.args))})"


Expr = (
    Const
    | Name
    | Member
    | Element
    | Slice
    | Unary
    | Binary
    | Shift
    | Mux
    | Cast
    | IsValid
    | Lookahead
    | Hit
    | FunctionCall
)

# ---- statements


@dataclass
class Assign:
    """With a sign, `to sign= value`."""

    to: Expr
    value: Expr
    sign: str = ""

    def __str__(self) -> str:
        return f"{self.to} {self.sign}= {self.value};"


@dataclass
class AssignList:
    """Gives a header or struct the values of a list."""

    to: Expr
    values: list[Expr]

    def __str__(self) -> str:
        return f"{self.to} = {{ {', '.join(map(str, self.values))} }};"


@dataclass
class Var:
    type: Type
    name: str
    value: Expr

    def __str__(self) -> str:
        return f"{self.type} {self.name} = {self.value};"


@dataclass
class Block:
    statements: list[Statement] = field(default_factory=list)

    def __str__(self) -> str:
        return "{ " + " ".join(map(str, self.statements)) + " }"


@dataclass
class If:
    condition: Expr
    then: Block
    otherwise: Block | None = None

    def __str__(self) -> str:
        return f"if ({self.condition}) {self.then}" + (f" else {self.otherwise}" if self.otherwise else "")


@dataclass
class Case:
    """Labels are numbers or, of a table that is applied, actions; None is `default`. Without a block the next one is
    meant.
    """

    label: int | str | None
    block: Block | None

    def __str__(self) -> str:
        return f"{'default' if self.label is None else self.label}: {self.block or ''}"


@dataclass
class Switch:
    """Over a value, or over the action of the table that is named."""

    of: Expr | str
    cases: list[Case]

    def __str__(self) -> str:
        of = f"{self.of}.apply().action_run" if isinstance(self.of, str) else str(self.of)
        return f"switch ({of}) {{ {' '.join(map(str, self.cases))} }}"


@dataclass
class Call:
    """An action, or the sub-control or sub-parser of this name with `.apply`."""

    name: str
    args: list[Expr]
    apply: bool = False

    def __str__(self) -> str:
        return f"{self.name}{'.apply' * self.apply}({', '.join(map(str, self.args))});"


@dataclass
class Apply:
    table: str

    def __str__(self) -> str:
        return f"{self.table}.apply();"


@dataclass
class Extern:
    """A call of core.p4 or v1model, with the object's name if it is a method. Lists of values are arguments as well."""

    name: str
    args: list[Any]
    object: str = ""

    def __str__(self) -> str:
        args = ("{ " + ", ".join(map(str, arg)) + " }" if isinstance(arg, list) else str(arg) for arg in self.args)
        return f"{self.object}{'.' * bool(self.object)}{self.name}({', '.join(args)});"


@dataclass
class SetValid:
    of: Expr
    valid: bool

    def __str__(self) -> str:
        return f"{self.of}.{'setValid' if self.valid else 'setInvalid'}();"


@dataclass
class Push:
    """`push_front` or `pop_front` of a stack."""

    of: Expr
    which: str
    count: int

    def __str__(self) -> str:
        return f"{self.of}.{self.which}({self.count});"


@dataclass
class Return:
    value: Expr | None = None

    def __str__(self) -> str:
        return f"return{f' {self.value}' if self.value else ''};"


@dataclass
class Exit:
    def __str__(self) -> str:
        return "exit;"


Statement = Assign | AssignList | Var | Block | If | Switch | Call | Apply | Extern | SetValid | Push | Return | Exit

# ---- parsers


@dataclass
class Row:
    """A row of a select. Each match is None for `_`, a number, `("&&&", value, mask)`, `("..", low, high)` or the name
    of a value set.
    """

    matches: list[Any]
    state: str

    def __str__(self) -> str:
        def show(match: Any) -> str:
            if isinstance(match, tuple):
                return f"{match[1]} {match[0]} {match[2]}"
            return "_" if match is None else str(match)

        shown = ", ".join(map(show, self.matches))
        return f"{f'({shown})' if len(self.matches) > 1 else shown}: {self.state};"


@dataclass
class State:
    name: str
    statements: list[Statement]
    keys: list[Expr]
    rows: list[Row]
    """Without keys there is one row, whose state comes next."""

    def __str__(self) -> str:
        to = f"{self.rows[0].state};"
        if self.keys:
            to = f"select({', '.join(map(str, self.keys))}) {{ {' '.join(map(str, self.rows))} }}"
        return f"state {self.name} {{ {' '.join(map(str, self.statements))} transition {to} }}"


# ---- declarations


@dataclass
class Param:
    direction: str
    type: Type
    name: str

    def __str__(self) -> str:
        return f"{self.direction} {self.type} {self.name}".strip()


@dataclass
class Function:
    """An action, if there is no type."""

    type: Type | None
    name: str
    params: list[Param]
    body: Block

    def __str__(self) -> str:
        return f"{self.type or 'action'} {self.name}({', '.join(map(str, self.params))}) {self.body}"


@dataclass
class Key:
    value: Expr
    kind: str
    name: str


@dataclass
class Entry:
    """Matches: a number, `("/", value, length)`, `("&&&", value, mask)`, `("..", low, high)`, None for any value. With
    a `via`, `("member", 1)` or `("group", 1)`, there is no action.
    """

    table: str
    keys: list[Any]
    action: str
    args: list[int]
    priority: int = 0
    via: tuple[str, int] | None = None


@dataclass
class Table:
    name: str
    keys: list[Key]
    actions: list[str]
    default: tuple[str, list[int]]
    size: int = 16
    counter: str = ""
    meter: str = ""
    profile: str = ""
    const: list[Entry] | None = None

    def __str__(self) -> str:
        keys = " ".join(f'{key.value}: {key.kind} @name("{key.name}");' for key in self.keys)
        lines = [f"key = {{ {keys} }}", f"actions = {{ {' '.join(f'{action};' for action in self.actions)} }}"]
        lines += [f"default_action = {self.default[0]}({', '.join(map(str, self.default[1]))});"]
        lines += [f"size = {self.size};"]
        lines += [f"counters = {self.counter};"] * bool(self.counter) + [f"meters = {self.meter};"] * bool(self.meter)
        lines += [f"implementation = {self.profile};"] * bool(self.profile)
        if self.const is not None:
            rows = " ".join(map(self.entry, self.const))
            lines += [f"const entries = {{ {rows} }}"]
        return f"table {self.name} {{ {' '.join(lines)} }}"

    def entry(self, entry: Entry) -> str:
        def show(match: Any, key: Key) -> str:
            if match is None:
                return "_"
            if isinstance(match, tuple) and match[0] == "/":
                of = key.value.type
                assert isinstance(of, Bits)
                ones = (1 << of.width) - 1
                return f"{match[1]} &&& {ones ^ ones >> match[2]}"
            return f"{match[1]} {match[0]} {match[2]}" if isinstance(match, tuple) else str(match)

        keys = ", ".join(show(match, key) for match, key in zip(entry.keys, self.keys, strict=True))
        return f"({keys}): {entry.action}({', '.join(map(str, entry.args))});"

    @property
    def has_priorities(self) -> bool:
        return any(key.kind in ("ternary", "range", "optional") for key in self.keys)


@dataclass
class Object:
    """An extern object: `register`, `counter`, `meter`, `direct_counter`, `direct_meter`, `action_profile`,
    `action_selector`, or a `value_set`; or a sub-control or sub-parser.
    """

    kind: str
    name: str
    args: list[Any]
    type: Type | None = None

    def __str__(self) -> str:
        of = f"<{self.type}>" if self.type else ""
        return f"{self.kind}{of}({', '.join(map(str, self.args))}) {self.name};"


@dataclass
class Control:
    name: str
    params: list[Param]
    locals: list[Function | Table | Object | Var]
    body: Block

    def __str__(self) -> str:
        head = f"control {self.name}({', '.join(map(str, self.params))})"
        return "\n".join([f"{head} {{", *(f"    {one}" for one in self.locals), f"    apply {self.body}", "}"])


@dataclass
class Parser:
    name: str
    params: list[Param]
    locals: list[Object | Var]
    states: list[State]

    def __str__(self) -> str:
        params = ", ".join(["packet_in p", *map(str, self.params)])
        lines = [f"    {one}" for one in [*self.locals, *self.states]]
        return "\n".join([f"parser {self.name}({params}) {{", *lines, "}"])


@dataclass
class Program:
    types: list[Fields]
    functions: list[Function]
    subs: list[Parser | Control]
    parser: Parser
    verify: Block
    ingress: Control
    egress: Control
    update: Block
    emits: list[Expr]
    guards: dict[int, Expr] = field(default_factory=dict)
    """Conditions that some of `emits` stand under, by their numbers."""

    def __str__(self) -> str:
        parts = ["#include <core.p4>", "#include <v1model.p4>", *(of.declared() for of in self.types)]
        parts += [*map(str, self.functions), *map(str, self.subs), str(self.parser)]
        parts += [f"control V(inout headers_t h, inout meta_t m) {{ apply {self.verify} }}"]
        parts += [str(self.ingress), str(self.egress)]
        parts += [f"control C(inout headers_t h, inout meta_t m) {{ apply {self.update} }}"]
        emits = " ".join(
            f"if ({self.guards[at]}) {{ p.emit({emit}); }}" if at in self.guards else f"p.emit({emit});"
            for at, emit in enumerate(self.emits)
        )
        parts += [f"control D(packet_out p, in headers_t h) {{ apply {{ {emits} }} }}"]
        return "\n".join([*parts, "V1Switch(P(), V(), I(), E(), C(), D()) main;", ""])
