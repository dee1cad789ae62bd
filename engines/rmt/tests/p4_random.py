# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Random well-typed programs of P4-16 for v1model, with frames and entries that reach their parts."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import p4_tree as p4
from p4_case import Case, Scope, state_of
from p4_interpreter import Interpreter, State, width
from p4_parsers import LONELY, Extracted, only_varbit
from p4_tree import BOOL, ERROR, Bits, Const, Entry, Expr, Fields, Member, Name, Param, Stack, Varbit

STD = {
    "ingress_port": Bits(9), "packet_length": Bits(32), "instance_type": Bits(32), "checksum_error": Bits(1),
}  # fmt: skip
STANDARD = Fields("struct", "standard_metadata_t", ())
FEATURES = (
    "register", "counter", "direct_counter", "meter", "direct_meter", "hash", "random", "digest", "assert", "truncate",
    "clone", "clone_egress", "multicast", "resubmit", "recirculate", "selector", "profile", "value_set", "checksum",
    "payload", "exit", "action_run", "sub", "sub_parser", "function", "varbit", "stack", "log", "loop", "egress",
    "compound", "guard", "edges",
)  # fmt: skip


def moment(at: int) -> int:
    """The time of a program's frame by its number, in ns: meters' buckets get a token for a frame in 0.5 to 1 ms."""
    return 100_000 * at * at


class Writer:
    """`card` programs mostly fit a card, others use everything that `soft` does."""

    def __init__(self, seed: int, card: bool) -> None:
        self.rng, self.card = random.Random(seed), card
        self.count = 0
        self.values = [self.rng.getrandbits(128) for _ in range(3)]
        self.types: list[Fields] = []
        self.functions: list[p4.Function] = []
        self.subs: list[p4.Parser | p4.Control] = []
        self.applied_to: dict[str, list[Expr] | None] = {}
        share = 0.3
        some = (
            "register", "counter", "direct_counter", "checksum", "sub", "function", "sub_parser", "stack", "varbit",
            "compound", "guard", "multicast", "meter", "direct_meter", "digest", "clone", "clone_egress",
        )  # fmt: skip
        shares = {name: share if name in some or not card else 0 for name in FEATURES}
        if card:
            shares["guard"] = 0.1  # the card has few bits for conditions
            shares["clone"] = shares["clone_egress"] = 0.1
        self.features = {name for name in FEATURES if self.rng.random() < shares[name]}
        if card and "clone_egress" in self.features:
            self.features -= {"clone", "multicast"}
        if not card:
            lonely = [name for name in LONELY if name in self.features]
            self.features -= set(lonely)
            self.features |= set(self.rng.sample(lonely, min(1, len(lonely))))

    def chance(self, of: float) -> bool:
        return self.rng.random() < of

    def name(self, of: str) -> str:
        self.count += 1
        return f"{of}{self.count}"

    def number(self, bits: int) -> int:
        """Mostly one of a few numbers, so that comparisons hold now and then."""
        full = (1 << bits) - 1
        some = [0, 1, 2, full, full >> 1, (full >> 1) + 1, *self.values]
        return (self.rng.choice(some) if self.chance(0.85) else self.rng.getrandbits(bits)) & full

    def const(self, of: Any) -> Const:
        if isinstance(of, Bits):
            return Const(of, of.wrap(self.number(of.width)))
        return Const(of, self.chance(0.5)) if of == BOOL else Const(ERROR, self.error())

    def error(self) -> str:
        return self.rng.choice(
            [
                "NoError",
                "PacketTooShort",
                "PacketTooShort",
                "NoMatch",
                "HeaderTooShort",
                "HeaderTooShort",
                "StackOutOfBounds",
            ]
        )

    # ---- types
    def widths(self, total: int, most: int) -> list[int]:
        rest, out = total, []
        while rest:
            word = 32 - (total - rest) % 32 if self.card and self.chance(0.9) else rest
            size = min(self.rng.choice([1, 3, 4, 7, 8, 8, 9, 12, 16, 16, 24, 32, 32, 48, 64, 128]), most, rest, word)
            out.append(size)
            rest -= size
        return out

    def field_type(self, bits: int) -> Bits | p4.Plain:
        if self.card:
            return Bits(bits)
        if bits == 1 and self.chance(0.3):
            return BOOL
        return Bits(bits, signed=bits > 1 and self.chance(0.25))

    def pair(self) -> tuple[Fields, Fields]:
        """A header that says how long the one behind it is."""
        sizes = self.widths(28 + 32 * self.rng.randint(0, 1), 32)
        fields = [("size", Bits(4)), *((f"f{n}", Bits(bits)) for n, bits in enumerate(sizes))]
        first = Fields("header", self.name("t"), tuple(fields))
        second = Fields("header", self.name("t"), (("options", Varbit(32 * self.rng.choice([1, 2, 4]))),))
        self.types += [first, second]
        return first, second

    def header(self, varbit: bool) -> Fields:
        total = 32 * self.rng.randint(1, 3) if self.card else 8 * self.rng.randint(1, 20)
        sizes = self.widths(total, 32 if self.card else 128)
        fields: list[tuple[str, Any]] = [(f"f{n}", self.field_type(bits)) for n, bits in enumerate(sizes)]
        if "checksum" in self.features and self.chance(0.7):
            fields += [("sum", Bits(16)), ("last", Bits(16))]
        if varbit:
            fields[:0] = [("size", Bits(8))]
            fields.append(("options", Varbit(8 * self.rng.choice([4, 8, 12, 40]))))
        of = Fields("header", self.name("t"), tuple(fields))
        self.types.append(of)
        return of

    # ---- expressions
    def value(self, of: Any, scope: Scope, depth: int) -> Expr:
        if of == BOOL:
            return self.condition(scope, depth)
        if of == ERROR:
            return self.leaf(of, scope)
        if depth == 0 or self.chance(0.25) or (self.card and of.width > 32):
            return self.leaf(of, scope)
        if "edges" in self.features and self.chance(0.3):
            return self.edge(of, scope, depth)
        options = [self.arithmetic, self.shift, self.concat, self.cast, self.invert]
        if not self.card or self.chance(0.3):
            options.append(self.mux)
        options += [self.cast] * of.signed
        if self.functions and scope.place not in ("function", "key", "parser") and self.chance(0.5):
            options.append(self.function_call)
        return self.rng.choice(options)(of, scope, depth)

    def leaf(self, of: Any, scope: Scope) -> Expr:
        fitting = [one for one in scope.readable if one.type == of]
        if fitting and self.chance(0.75):
            return self.rng.choice(fitting)
        wider = [one for one in scope.readable if isinstance(one.type, Bits) and not one.type.signed]
        wider = [one for one in wider if isinstance(of, Bits) and not of.signed and one.type.width > of.width]
        if wider and self.chance(0.6):
            one = self.rng.choice(wider)
            low = self.rng.randint(0, one.type.width - of.width)
            return p4.Slice(of, one, low + of.width - 1, low)
        return self.const(of)

    def arithmetic(self, of: Bits, scope: Scope, depth: int) -> Expr:
        signs = ["+", "-", "&", "|", "^"] if self.card else ["+", "-", "&", "|", "^", "*", "|+|", "|-|"]
        left, right = (self.value(of, scope, depth - 1) for _ in range(2))
        # Units and the folding of constants have ways of their own for these.
        right = self.const(of) if self.chance(0.3) else right
        return p4.Binary(of, self.rng.choice(signs), left, right)

    def edge(self, of: Bits, scope: Scope, depth: int) -> Expr:
        """Sign extension, and saturation of signed and wide numbers near their limits."""
        if self.chance(0.4) and of.width > 2:
            narrow = Bits(self.rng.randint(2, of.width - 1))
            signed = p4.Cast(Bits(narrow.width, True), self.value(narrow, scope, depth - 1))
            longer = p4.Cast(Bits(of.width, True), signed)
            return longer if of.signed else p4.Cast(of, longer)
        like = Bits(of.width, of.width > 1 and self.chance(0.6))
        same = like == of
        left, right = self.value(of, scope, depth - 1), self.const(of)
        if not same:
            left, right = p4.Cast(like, left), p4.Cast(like, right)
        made = p4.Binary(like, self.rng.choice(["|+|", "|-|"]), left, right)
        return made if same else p4.Cast(of, made)

    def shift(self, of: Bits, scope: Scope, depth: int) -> Expr:
        left, sign = self.value(of, scope, depth - 1), self.rng.choice(["<<", ">>"])
        if self.card or self.chance(0.5):
            return p4.Shift(of, sign, left, self.rng.randint(0, of.width + 1))
        return p4.Binary(of, sign, left, self.value(Bits(self.rng.choice([3, 8, 16, 70])), scope, depth - 1))

    def concat(self, of: Bits, scope: Scope, depth: int) -> Expr:
        if of.width == 1 or of.signed:
            return self.leaf(of, scope)
        low = self.rng.randint(1, of.width - 1)
        left, right = (self.value(Bits(bits), scope, depth - 1) for bits in (of.width - low, low))
        return p4.Binary(of, "++", left, right)

    def cast(self, of: Bits, scope: Scope, depth: int) -> Expr:
        if self.card or self.chance(0.5):
            other: Any = Bits(self.rng.choice([1, 4, 8, 9, 16, 24, 32, 32 if self.card else 77]), of.signed)
            there = [one.type for one in scope.readable if isinstance(one.type, Bits) and one.type.signed == of.signed]
            if there and not self.card and self.chance(0.6):
                other = self.rng.choice(there)
        else:
            other = Bits(of.width, not of.signed)
            if of == Bits(1) and self.chance(0.5):
                other = BOOL
        return p4.Cast(of, self.value(other, scope, depth - 1))

    def mux(self, of: Bits, scope: Scope, depth: int) -> Expr:
        condition = self.condition(scope, depth - 1)
        return p4.Mux(of, condition, self.value(of, scope, depth - 1), self.value(of, scope, depth - 1))

    def invert(self, of: Bits, scope: Scope, depth: int) -> Expr:
        return p4.Unary(of, self.rng.choice(["~"] if self.card else ["~", "-"]), self.value(of, scope, depth - 1))

    def function_call(self, of: Bits, scope: Scope, depth: int) -> Expr:
        function = self.rng.choice(self.functions)
        args = [self.value(param.type, scope, depth - 1) for param in function.params]
        call = p4.FunctionCall(function.type, function.name, args)
        assert isinstance(function.type, Bits)
        return call if function.type == of else p4.Cast(of, call) if not of.signed else self.leaf(of, scope)

    def condition(self, scope: Scope, depth: int) -> Expr:
        what = self.rng.random()
        if depth > 0 and what < 0.25:
            left, right = self.condition(scope, depth - 1), self.condition(scope, depth - 1)
            return p4.Binary(BOOL, self.rng.choice(["&&", "||"]), left, right)
        if depth > 0 and what < 0.35:
            return p4.Unary(BOOL, "!", self.condition(scope, depth - 1))
        if what < 0.5 and scope.headers:
            return p4.IsValid(self.rng.choice(scope.headers))
        bools = [one for one in scope.readable if one.type == BOOL]
        if what < 0.55 and bools:
            return self.rng.choice(bools)
        if what < 0.6 and scope.place in ("ingress", "sub_main"):
            return p4.Binary(BOOL, self.rng.choice(["==", "!="]), self.std("parser_error", ERROR), self.const(ERROR))
        if what < 0.63 and len(scope.headers) > 1 and not self.card:
            left = self.rng.choice(scope.headers)
            right = self.rng.choice([one for one in scope.headers if one.type == left.type])
            if not any(isinstance(one, Varbit) for _, one in left.type.fields):
                return p4.Binary(BOOL, self.rng.choice(["==", "!="]), left, right)
        some = [one for one in scope.readable if isinstance(one.type, Bits) and not (self.card and one.type.width > 32)]
        of = self.rng.choice(some).type if some else Bits(8)
        signs = ["==", "==", "==", "!=", "<", "<=", ">", ">="]
        left, right = self.value(of, scope, min(depth, 1)), self.value(of, scope, 0)
        if isinstance(left, Const) and isinstance(right, Const) and some:
            left = self.rng.choice([one for one in some if one.type == of])
        return p4.Binary(BOOL, self.rng.choice(signs), left, right)

    def std(self, name: str, of: Any) -> Member:
        return Member(of, Name(STANDARD, "std"), name)

    # ---- statements
    def block(self, scope: Scope, depth: int, most: int = 3) -> p4.Block:
        inner = scope.inner()
        return p4.Block([self.statement(inner, depth) for _ in range(self.rng.randint(1, most))])

    def assign(self, scope: Scope, depth: int) -> p4.Statement:
        to = self.rng.choice(scope.writable)
        of = to.type
        if isinstance(of, Bits) and not of.signed and of.width > 1 and self.chance(0.15):
            low = self.rng.randrange(of.width)
            high = self.rng.randint(low, of.width - 1)
            to, of = p4.Slice(Bits(high + 1 - low), to, high, low), Bits(high + 1 - low)
        fitting = [param for param in scope.params if param.type == of]
        if fitting and self.chance(0.6):
            if self.card:
                param = self.rng.choice(fitting)
                return p4.Assign(
                    to, self.rng.choice([param, p4.Binary(of, self.rng.choice("+-&|^"), self.leaf(of, scope), param)])
                )
            scope = replace(scope, readable=[*scope.readable, *fitting])
        if self.card and scope.place == "action":
            depth = min(depth, 1)
        if self.card:
            depth = min(depth, self.rng.choice([0, 1, 1, 2]))
        part = self.card and isinstance(to, p4.Slice)
        if isinstance(of, Bits) and "compound" in self.features and not part and self.chance(0.4):
            signs = ["+", "-", "&", "|", "^"] if self.card else ["+", "-", "&", "|", "^", "*", "|+|", "|-|"]
            # The card has one operation for a field in an action.
            rest = self.leaf(of, scope) if self.card else self.value(of, scope, max(depth - 1, 0))
            return p4.Assign(to, rest, self.rng.choice(signs))
        return p4.Assign(to, self.value(of, scope, depth))

    def statement(self, scope: Scope, depth: int) -> p4.Statement:
        what = self.rng.random()
        if depth > 0 and what < (0.15 if self.card else 0.22):
            otherwise = self.block(scope, depth - 1) if self.chance(0.5) else None
            return p4.If(self.condition(scope, 1 if self.card else 2), self.block(scope, depth - 1), otherwise)
        if depth > 0 and what < (0.17 if self.card else 0.27):
            return self.switch(scope, depth)
        if what < 0.32 and len(scope.headers) > 0 and scope.place != "parser" and not (self.card and self.chance(0.5)):
            of = self.rng.choice(scope.headers)
            # The card neither adds nor removes a header of variable length.
            if not (self.card and any(isinstance(one, Varbit) for _, one in of.type.fields)):
                return p4.SetValid(of, self.chance(0.5))
        stacks = [(name, of) for name, of in self.headers.fields if isinstance(of, Stack)] if scope.headers else []
        if stacks and scope.place in ("ingress", "egress", "action") and self.chance(0.02 if self.card else 0.1):
            name, of = self.rng.choice(stacks)
            count = 1 if self.card else self.rng.randint(0, of.size + 1)
            member = Member(of, Name(self.headers, "h"), name)
            return p4.Push(member, self.rng.choice(["push_front", "pop_front"]), count)
        if what < 0.36 and scope.headers and not self.card:
            to = self.rng.choice(scope.headers)
            plain = not any(isinstance(one, Varbit) for _, one in to.type.fields)
            same = [one for one in scope.headers if one.type == to.type]
            if plain and self.chance(0.5):
                return p4.AssignList(to, [self.value(one, scope, 1) for _, one in to.type.fields])
            return p4.Assign(to, self.rng.choice(same))
        if what < 0.42:
            var = p4.Var(Bits(self.rng.choice([8, 16, 32])), self.name("v"), self.const(BOOL))
            var.value = self.value(var.type, scope, 1)
            scope.readable.append(Name(var.type, var.name))
            scope.writable.append(Name(var.type, var.name))
            return var
        if what < 0.5 and scope.actions:
            return self.direct_call(scope)
        if what < 0.55 and scope.subs:
            one = self.rng.choice(scope.subs)
            sub = next(sub for sub in self.subs if sub.name == one.kind)
            args = self.args(sub.params, scope)
            # On a card, each place that it writes is the same in all its calls.
            before = self.applied_to.setdefault(one.name, args)
            if args is not None and not self.card and self.chance(0.6):
                return p4.Call(one.name, args, apply=True)
            if args is not None and before is not None:
                args = [
                    old if "out" in param.direction else new
                    for param, new, old in zip(sub.params, args, before, strict=True)
                ]
                if all(
                    arg in scope.writable
                    for param, arg in zip(sub.params, args, strict=True)
                    if "out" in param.direction
                ):
                    return p4.Call(one.name, args, apply=True)
        if what < 0.68 and scope.objects:
            found = self.method(scope)
            if found:
                return found
        if what < 0.72 and scope.place in ("ingress", "egress", "action", "sub"):
            if self.chance(0.1) or scope.place == "action":
                return p4.If(self.condition(scope, 1), p4.Block([p4.Return()]))
            if "exit" in self.features and self.chance(0.3):
                return p4.If(self.condition(scope, 1), p4.Block([p4.Exit()]))
        if what < 0.78 and scope.place == "ingress":
            return self.way_out(scope)
        if what < 0.84 and self.card and "digest" in self.features and scope.place in ("ingress", "action"):
            return self.digest(scope)
        if what < 0.84 and not self.card and scope.place == "ingress":
            found = self.global_extern(scope)
            if found:
                return found
        return self.assign(scope, 2)

    def way_out(self, scope: Scope) -> p4.Statement:
        if self.chance(0.2):
            return p4.Extern("mark_to_drop", [Name(STANDARD, "std")])
        spec = self.std("egress_spec", Bits(9))
        if self.chance(0.2):
            narrow = [one for one in scope.readable if isinstance(one.type, Bits) and one.type == Bits(8)]
            if narrow:
                return p4.Assign(spec, p4.Cast(Bits(9), self.rng.choice(narrow)))
        return p4.Assign(spec, Const(Bits(9), self.rng.choice([0, 1, 2, 3, 255, 509, 510, 511])))

    def switch(self, scope: Scope, depth: int) -> p4.Statement:
        small = [one for one in scope.readable if isinstance(one.type, Bits) and not one.type.signed]
        small = [one for one in small if one.type.width <= 32]
        if not small:
            return self.assign(scope, 1)
        of = self.rng.choice(small)
        labels: list[Any] = list({self.number(of.type.width) for _ in range(3)})
        if self.chance(0.7):
            labels.append(None)
        return p4.Switch(of, self.cases(labels, scope, depth))

    def cases(self, labels: list[Any], scope: Scope, depth: int) -> list[p4.Case]:
        cases = [p4.Case(one, self.block(scope, depth - 1, 2) if self.chance(0.75) else None) for one in labels]
        cases[-1].block = cases[-1].block or self.block(scope, depth - 1, 2)
        return cases

    def args(self, params: list[Param], scope: Scope) -> list[Expr] | None:
        """Arguments, of which no two name the same place to write."""
        out: list[Expr] = []
        for param in params:
            if "out" not in param.direction:
                out.append(self.const(param.type) if not param.direction else self.value(param.type, scope, 1))
                continue
            fitting = [one for one in [*scope.writable, *scope.headers] if one.type == param.type and one not in out]
            if not fitting:
                return None
            out.append(self.rng.choice(fitting))
        return out

    def direct_call(self, scope: Scope) -> p4.Statement:
        action = self.rng.choice(scope.actions)
        args = self.args(action.params, scope)
        return self.assign(scope, 1) if args is None else p4.Call(action.name, args)

    def index(self, scope: Scope, size: int) -> Expr:
        narrow = [one for one in scope.readable if isinstance(one.type, Bits) and not one.type.signed]
        narrow = [one for one in narrow if one.type.width < 32]
        if narrow and self.chance(0.6):
            one = self.rng.choice(narrow)
            if one.type.width > 4 and self.chance(0.7):
                one = p4.Slice(Bits(3), one, 2, 0)
            return p4.Cast(Bits(32), one)
        return Const(Bits(32), self.rng.choice([*range(size), size - 1, size, size + 1]))

    def method(self, scope: Scope) -> p4.Statement | None:
        one = self.rng.choice(scope.objects)
        if self.card:
            scope.objects.remove(one)  # the card has one use of each
        if one.kind == "counter":
            return p4.Extern("count", [self.index(scope, one.args[0])], one.name)
        if one.kind == "meter":
            to = [place for place in scope.writable if place.type == Bits(8)]
            return (
                p4.Extern("execute_meter", [self.index(scope, one.args[0]), self.rng.choice(to)], one.name)
                if to
                else None
            )
        if one.kind != "register":
            return None
        index, of = self.index(scope, one.args[0]), one.type
        to = [place for place in scope.writable if place.type == of]
        what = self.rng.randrange(4)
        if what == 0 and to:
            return p4.Extern("read", [self.rng.choice(to), index], one.name)
        if what == 1:
            return p4.Extern("write", [index, self.value(of, scope, 0 if self.card else 1)], one.name)
        var = Name(of, self.name("v"))
        does = p4.Binary(of, self.rng.choice("+-&|^"), var, self.leaf(of, scope))
        statements: list[p4.Statement] = [
            p4.Var(of, var.name, Const(of, 0)), p4.Extern("read", [var, index], one.name), p4.Assign(var, does),
            p4.Extern("write", [index, var], one.name),
        ]  # fmt: skip
        if to and self.chance(0.6):
            again = p4.Extern("read", [self.rng.choice(to), index], one.name)
            statements.append(again if self.chance(0.4) else p4.Assign(self.rng.choice(to), var))
        return p4.Block(statements)

    def data(self, scope: Scope, most: int = 4) -> list[Expr]:
        plain = [one for one in scope.readable if isinstance(one.type, Bits)]
        return [self.rng.choice(plain) for _ in range(self.rng.randint(1, most))]

    def hash(self, scope: Scope) -> p4.Extern:
        plain = [one for one in scope.writable if isinstance(one.type, Bits) and not one.type.signed]
        algorithm = f"HashAlgorithm.{self.rng.choice(['crc32', 'crc16', 'csum16', 'xor16', 'identity'])}"
        of = Bits(self.rng.choice([16, 32, 64]))
        most = Const(of, self.rng.choice([0, 1, 7, 256, (1 << of.width) - 1, (1 << of.width) - 1]))
        return p4.Extern("hash", [self.rng.choice(plain), algorithm, self.const(of), self.data(scope), most])

    def global_extern(self, scope: Scope) -> p4.Statement | None:
        rng = self.rng
        wanted = [name for name in ("hash", "random", "digest", "log", "assert") if name in self.features]
        if not wanted:
            return None
        plain = [one for one in scope.writable if isinstance(one.type, Bits) and not one.type.signed]
        what, to = rng.choice(wanted), rng.choice(plain)
        if what == "hash":
            return self.hash(scope)
        if what == "random":
            only = self.const(to.type)
            return p4.Extern("random", [to, only, only])
        if what == "assert":
            return p4.Extern("assert", [self.condition(scope, 1)])
        if what == "digest":
            return self.digest(scope)
        return rng.choice([p4.Extern("assume", [self.condition(scope, 1)]), p4.Extern("log_msg", ['"here"'])])

    def digest(self, scope: Scope) -> p4.Extern:
        depth = 0 if self.card and self.chance(0.7) else 1
        values = [self.value(Bits(bits), scope, depth) for bits in (32, 8)]
        return p4.Extern("digest<digest_t>", [Const(Bits(32), 1), values])

    # ---- declarations
    def function(self) -> p4.Function:
        params = [
            Param("in", Bits(self.rng.choice([8, 16, 32])), self.name("p")) for _ in range(self.rng.randint(1, 2))
        ]
        readable: list[Expr] = [Name(param.type, param.name) for param in params]
        of = Bits(self.rng.choice([8, 16, 32]))
        scope = Scope("function", readable, [])
        first = p4.If(self.condition(scope, 1), p4.Block([p4.Return(self.value(of, scope, 1))]))
        statements: list[p4.Statement] = [first] if self.chance(0.5) else []
        return p4.Function(of, self.name("fn"), params, p4.Block([*statements, p4.Return(self.value(of, scope, 2))]))

    def action(self, scope: Scope, called: bool) -> p4.Function:
        """An action of tables, or with `called` one that statements call."""
        params = []
        for _ in range(self.rng.randint(0, 2)):
            direction = self.rng.choice(["in", "inout", "out"]) if called else ""
            places = [one.type for one in scope.writable if isinstance(one.type, Bits) and not one.type.signed]
            if direction and self.card:
                direction = "in"
            params.append(Param(direction, self.rng.choice(places), self.name("p")))
        names = [Name(param.type, param.name) for param in params]
        inner = replace(scope.inner(), place="action", actions=[], tables=[], subs=[], params=list(names))
        statements: list[p4.Statement] = []
        for param, name in zip(params, names, strict=True):
            if param.direction == "out":
                statements.append(p4.Assign(name, self.const(param.type)))
            if "out" in param.direction:
                inner.writable.append(name)
            if not self.card or called:
                inner.readable.append(name)
        if self.card:
            inner.objects = []
        statements += self.block(inner, 1, 3).statements
        return p4.Function(None, self.name("a"), params, p4.Block(statements))

    def exits(self, scope: Scope) -> list[p4.Function]:
        """Actions that say where frames go."""
        param = Param("", Bits(9), self.name("port"))
        spec = self.std("egress_spec", Bits(9))
        forward = p4.Function(
            None, self.name("forward"), [param], p4.Block([p4.Assign(spec, Name(Bits(9), param.name))])
        )
        drop = p4.Block([p4.Extern("mark_to_drop", [Name(STANDARD, "std")])])
        forward.body.statements += [self.assign(scope, 1)] * self.chance(0.5)
        return [forward, p4.Function(None, self.name("drop"), [], drop)]

    def table(self, scope: Scope, actions: list[p4.Function]) -> tuple[p4.Table, list[p4.Object]]:
        fields = [one for one in scope.readable if isinstance(one, Member) and isinstance(one.type, Bits)]
        fields = [one for one in fields if not one.type.signed]
        if self.card:
            fields = [one for one in fields if one.name not in ("ingress_port", "packet_length")]
        kinds = ["exact", "exact", "lpm", "ternary", "range", "optional"]
        chosen = self.rng.sample(fields, min(len(fields), self.rng.choice([1, 1, 2, 3])))
        keys = [p4.Key(one, self.rng.choice(kinds), f"k{n}") for n, one in enumerate(chosen)]
        if not self.card:
            for key in keys:
                key.value = (
                    self.value(key.value.type, replace(scope, place="key"), 1) if self.chance(0.2) else key.value
                )
        prefixes = [key for key in keys if key.kind == "lpm"]
        for key in prefixes[1:]:
            key.kind = "exact"
        used = self.rng.sample(actions, min(len(actions), self.rng.randint(1, 3)))
        default = self.rng.choice(used)
        table = p4.Table(self.name("tb"), keys, [one.name for one in used], (default.name, self.call_args(default)))
        table.size = 100 if self.card and any(key.kind == "range" for key in keys) else self.rng.choice([8, 16])
        objects: list[p4.Object] = []
        if "direct_counter" in self.features and self.chance(0.5):
            kind = self.rng.choice(["packets", "bytes", "packets_and_bytes"])
            objects.append(p4.Object("direct_counter", self.name("dc"), [f"CounterType.{kind}"]))
            table.counter = objects[-1].name
        if "direct_meter" in self.features and self.chance(0.6):
            kind = self.rng.choice(["packets", "bytes"])
            objects.append(p4.Object("direct_meter", self.name("dm"), [f"MeterType.{kind}"], Bits(8)))
            table.meter = objects[-1].name
        # An action reads its own table's meter, so actions with one are of no other table.
        elif not self.card and self.chance(0.8) and ("profile" in self.features or "selector" in self.features):
            self.profile(table, objects, scope)
        if not (table.profile or table.meter) and self.chance(0.2):
            table.const = []
        return table, objects

    def profile(self, table: p4.Table, objects: list[p4.Object], scope: Scope) -> None:
        if "selector" in self.features:
            algorithm = f"HashAlgorithm.{self.rng.choice(['crc32', 'crc16', 'csum16', 'xor16', 'identity'])}"
            objects.append(
                p4.Object("action_selector", self.name("as"), [algorithm, 16, self.rng.choice([1, 2, 3, 16])])
            )
            table.keys += [p4.Key(one, "selector", f"s{n}") for n, one in enumerate(self.data(scope, 2))]
        else:
            objects.append(p4.Object("action_profile", self.name("ap"), [16]))
        table.profile = objects[-1].name

    def call_args(self, action: p4.Function) -> list[int]:
        return [self.argument(param) for param in action.params]

    def argument(self, param: Param) -> int:
        if param.name.startswith("port"):
            return self.rng.choice([0, 1, 2, 3, 255, 510, 511])
        assert isinstance(param.type, Bits)
        return self.number(param.type.width)

    def objects(self) -> list[p4.Object]:
        out = []
        for _ in range(("register" in self.features) * self.rng.randint(1, 2)):
            of = Bits(32) if self.card else Bits(self.rng.choice([1, 8, 16, 32, 48, 128]), self.chance(0.2))
            of = Bits(of.width, of.signed and of.width > 1)
            out.append(p4.Object("register", self.name("r"), [self.rng.choice([1, 3, 4, 8])], of))
        kind = self.rng.choice(["packets", "bytes", "packets_and_bytes"])
        if "counter" in self.features:
            out.append(p4.Object("counter", self.name("c"), [self.rng.choice([1, 3, 8]), f"CounterType.{kind}"]))
        if "meter" in self.features:
            kind = self.rng.choice(["packets", "bytes"])
            out.append(p4.Object("meter", self.name("mt"), [self.rng.choice([1, 4]), f"MeterType.{kind}"]))
        return out

    # ---- a program
    def program(self) -> Case:
        rng = self.rng
        self.case = Case(None, [], features=self.features)  # type: ignore[arg-type]
        eth = Fields("header", "eth_t", (("dst", Bits(48)), ("src", Bits(48)), ("kind", Bits(16))))
        self.types.append(eth)
        kinds = [self.header(False) for _ in range(rng.randint(1, 3))]
        paired = "varbit" in self.features and (self.card or self.chance(0.5))
        if "varbit" in self.features and not paired:
            kinds.append(self.header(True))
        fields: list[tuple[str, Any]] = [("eth", eth)]
        for _ in range(rng.randint(1, 2 if self.card else 4)):
            fields.append((self.name("h"), rng.choice(kinds)))
        if paired:
            fields += [(self.name("h"), of) for of in self.pair()]
        elif "varbit" in self.features:
            fields.append((self.name("h"), kinds[-1]))
        if "stack" in self.features:
            fields.append((self.name("s"), Stack(kinds[0], rng.randint(2, 3))))
        self.headers = Fields("struct", "headers_t", tuple(fields))
        sizes = [
            rng.choice([1, 8, 8, 9, 16, 16, 32, 32] if self.card else [1, 5, 8, 8, 16, 32, 33, 64, 128])
            for _ in range(4)
        ]
        meta: list[tuple[str, Any]] = [(f"m{n}", self.field_type(bits)) for n, bits in enumerate(sizes)]
        meta.append(("round", Bits(8)))
        if self.chance(0.5):
            meta.append(("flag", BOOL))
        kept = tuple(name for name, _ in meta if name == "round" or self.chance(0.5))
        self.meta = Fields("struct", "meta_t", tuple(meta), kept)
        if not self.card or "digest" in self.features:
            self.types.append(Fields("struct", "digest_t", (("one", Bits(32)), ("two", Bits(8)))))
        self.types += [self.headers, self.meta]
        self.functions = [self.function() for _ in range(("function" in self.features) * rng.randint(1, 2))]
        parser = self.parser()
        self.sub_controls()
        ingress = self.control("ingress", "I")
        egress = self.control("egress", "E")
        verify, update = self.checksums()
        emits: list[Expr] = [Member(self.headers, Name(None, "h"), name) for name, _ in self.headers.fields]  # type: ignore[arg-type]
        emits = [Member(of, Name(self.headers, "h"), name) for name, of in self.headers.fields]
        if self.chance(0.3):
            emits = [Name(self.headers, "h")]
        elif self.chance(0.2) and len(emits) > 2:
            del emits[rng.randrange(1, len(emits))]
        elif not self.card and self.chance(0.2):
            rng.shuffle(emits)
        self.case.program = p4.Program(
            self.types, self.functions, self.subs, parser, verify, ingress, egress, update, emits, self.guards(emits)
        )
        drawn = [self.frame() for _ in range(rng.randint(6, 14))]
        self.case.frames = [(port, moment(at), self.summed(frame)) for at, (port, frame) in enumerate(drawn)]
        self.copies()
        self.choose()
        return self.case

    def guards(self, emits: list[Expr]) -> dict[int, Expr]:
        """Conditions in the deparser, which sees the headers alone."""
        if "guard" not in self.features:
            return {}
        scope = self.scope("deparser")
        own = [one for one in scope.readable if isinstance(one, Member) and isinstance(one.of.type, Fields)]
        scope.readable = [one for one in own if one.of.type.kind == "header" and one.name != "sum"]
        if not scope.readable:
            return {}
        made: dict[int, Expr] = {}
        for at, emit in enumerate(emits):
            if at == 0 or self.chance(0.5) or not isinstance(emit.type, Fields):
                continue
            made[at] = p4.IsValid(emit) if self.chance(0.5) else self.condition(scope, 1)
        return made

    def places(self) -> list[Expr]:
        """All headers."""
        out: list[Expr] = []
        for name, of in self.headers.fields:
            member = Member(of, Name(self.headers, "h"), name)
            out += [p4.Element(of.of, member, at) for at in range(of.size)] if isinstance(of, Stack) else [member]
        return out

    def scope(self, place: str) -> Scope:
        headers = self.places()
        fields = [
            Member(of, one, name) for one in headers for name, of in one.type.fields if not isinstance(of, Varbit)
        ]
        if not self.card and place in ("ingress", "egress"):
            # Elements that an index chooses.
            for name, of in self.headers.fields:
                if isinstance(of, Stack):
                    index = Member(Bits(8), Name(self.meta, "m"), "round")
                    low = p4.Slice(Bits(2), index, 1, 0)
                    one = p4.Element(of.of, Member(of, Name(self.headers, "h"), name), self.rng.choice([index, low]))
                    headers.append(one)
                    fields += [Member(t, one, n) for n, t in of.of.fields if not isinstance(t, Varbit)]
        if self.card:
            headers = [one for one in headers[1:] if not only_varbit(one)]
        meta = [Member(of, Name(self.meta, "m"), name) for name, of in self.meta.fields]
        if "recirculate" in self.features:
            meta = [one for one in meta if one.name != "round"]
        std = [self.std(name, of) for name, of in STD.items() if place == "ingress" or name == "ingress_port"]
        if place == "egress":
            std += [
                self.std("egress_port", Bits(9)),
                self.std("instance_type", Bits(32)),
                self.std("egress_rid", Bits(16)),
            ]
        if self.card:
            std = [one for one in std if one.name not in ("instance_type", "egress_rid")]
        sizes = [one for one in fields if one.name == "size"]
        return Scope(place, [*fields, *meta, *std], [one for one in [*fields, *meta] if one not in sizes], headers)

    def parser(self) -> p4.Parser:
        params = [Param("out", self.headers, "h"), Param("inout", self.meta, "m"), Param("inout", STANDARD, "std")]
        extracted = Extracted(self)
        states = extracted.states()
        return p4.Parser("P", params, extracted.locals, states)

    def sub_controls(self) -> None:
        for _ in range(("sub" in self.features) * self.rng.randint(1, 2)):
            what = self.rng.choice(["whole", "whole", "header", "values", "values"])
            if what == "header":
                # A list has no value for a varbit.
                plain = [
                    one.type for one in self.places() if not any(isinstance(t, Varbit) for _, t in one.type.fields)
                ]
                of = self.rng.choice(plain)
                params = [Param(self.rng.choice(["out", "inout"]), of, self.name("x"))]
                place = Name(of, params[0].name)
                fields: list[Expr] = [Member(one, place, name) for name, one in of.fields if isinstance(one, Bits)]
                scope = Scope("sub", list(fields), list(fields), [place])
            elif what == "whole":
                scope = replace(self.scope("sub"), headers=[])
                params = [
                    Param("inout", self.headers, "h"),
                    Param("inout", self.meta, "m"),
                    Param("inout", STANDARD, "std"),
                ]
            else:
                kinds = self.rng.sample(["in", "inout", "out"], self.rng.randint(1, 3))
                params = [Param(kind, Bits(self.rng.choice([8, 16, 32])), self.name("p")) for kind in kinds]
                readable: list[Expr] = [Name(param.type, param.name) for param in params]
                writable = [Name(param.type, param.name) for param in params if "out" in param.direction]
                if not writable:
                    continue
                scope = Scope("sub", readable, list(writable))
            locals_: list[Any] = []
            if not self.card and self.chance(0.5):
                scope.objects = self.objects()
                locals_ += scope.objects
            outs = [param for param in params if param.direction == "out" and not isinstance(param.type, Fields)]
            before: list[p4.Statement] = [
                p4.Assign(Name(param.type, param.name), self.const(param.type)) for param in outs
            ]
            if what == "header" and params[0].direction == "out":
                # It begins invalid, with fields that have no value yet.
                two = [p4.Block([p4.AssignList(place, [self.const(one) for _, one in of.fields])]) for _ in range(2)]
                before += [p4.If(p4.IsValid(place), *two), *[p4.SetValid(place, False)] * self.chance(0.5)]
            control = p4.Control(self.name("S"), params, locals_, p4.Block([*before, *self.block(scope, 1).statements]))
            self.subs.append(control)

    def control(self, place: str, name: str) -> p4.Control:
        params = [Param("inout", self.headers, "h"), Param("inout", self.meta, "m"), Param("inout", STANDARD, "std")]
        scope = self.scope(place)
        if place == "egress" and (self.card or "egress" not in self.features):
            body: list[p4.Statement] = [self.assign(scope, 1)] * (self.chance(0.3) and not self.card)
            cloned = self.features & {"clone", "clone_egress"}
            if self.card and cloned and self.chance(0.6):
                # The card does nothing to clones.
                own = p4.Binary(BOOL, "==", self.std("instance_type", Bits(32)), Const(Bits(32), 0))
                body.append(p4.If(own, p4.Block([self.assign(scope, 0)])))
            if self.card and "multicast" in self.features and not cloned and self.chance(0.5):
                came, goes = self.std("ingress_port", Bits(9)), self.std("egress_port", Bits(9))
                drop = p4.Block([p4.Extern("mark_to_drop", [Name(STANDARD, "std")])])
                body.append(p4.If(p4.Binary(BOOL, "==", goes, came), drop))
            return p4.Control(name, params, [], p4.Block([*body, *self.at_end(place, scope)]))
        locals_: list[Any] = list(self.objects())
        scope.objects = list(locals_)
        for _ in range(self.rng.randint(0, 1)):
            of = Bits(self.rng.choice([8, 32]))
            locals_.append(p4.Var(of, self.name("v"), self.const(of)))
            scope.readable.append(Name(of, locals_[-1].name))
            scope.writable.append(Name(of, locals_[-1].name))
        called = [self.action(scope, True) for _ in range(self.rng.randint(0, 1 if self.card else 2))]
        actions = [self.action(scope, False) for _ in range(self.rng.randint(1, 3))]
        if place == "ingress":
            actions += self.exits(scope)
        scope.actions = called
        objects: list[Any] = []
        special: list[p4.Function] = []  # actions of one table each
        tables = []
        for _ in range(self.rng.randint(1, 2 if self.card else 3)):
            table, more = self.table(scope, actions)
            if table.meter:
                name_ = self.name("a")
                to = self.rng.choice([one for one in scope.writable if one.type == Bits(8)] or [Name(Bits(8), "color")])
                body_ = p4.Block([p4.Extern("read", [to], table.meter)])
                if isinstance(to, Name) and to.name == "color":
                    body_.statements.insert(0, p4.Var(Bits(8), "color", Const(Bits(8), 0)))
                special.append(p4.Function(None, name_, [], body_))
                table.actions, table.default = [name_], (name_, [])
            if table.counter and self.chance(0.4):
                name_ = self.name("a")
                special.append(p4.Function(None, name_, [], p4.Block([p4.Extern("count", [], table.counter)])))
                table.actions.append(name_)
            objects += more
            tables.append(table)
        own_subs = [one for one in self.subs if isinstance(one, p4.Control)]
        subs = [p4.Object(one.name, self.name("i"), []) for one in own_subs if place == "ingress"]
        # One control with the whole of the headers, or others that have values.
        scope.subs = [one for one in subs if self.sub(one).params[0].type != self.headers]
        whole = [one for one in subs if one not in scope.subs]
        body = []
        for table in tables:
            body += self.block(scope, 1 if self.card else 2, 2).statements * self.chance(0.4 if self.card else 0.8)
            body.append(self.applied(table, scope))
        for one in whole:
            args: list[Expr] = [Name(self.headers, "h"), Name(self.meta, "m"), Name(STANDARD, "std")]
            body.insert(self.rng.randint(0, len(body)), p4.Call(one.name, args, apply=True))
        body += self.block(scope, 1 if self.card else 2, 2).statements
        for one in scope.subs:
            found = self.args(self.sub(one).params, scope)
            if found is not None and self.applied_to.setdefault(one.name, found) is found:
                body.insert(self.rng.randint(0, len(body)), p4.Call(one.name, found, apply=True))
        if "hash" in self.features:
            body.insert(self.rng.randint(0, len(body)), self.hash(scope))
        if self.features & set(LONELY):
            # Which copy a frame is.
            kind = p4.Cast(Bits(16), self.std("instance_type", Bits(32)))
            eth = Member(self.types[0], Name(self.headers, "h"), "eth")
            body.insert(0, p4.Assign(Member(Bits(16), eth, "kind"), kind))
        # Often enough, registers are changed and errors of the parser seen.
        body += [statement for _ in scope.objects[:1] if self.chance(0.6) and (statement := self.method(scope))]
        if place == "ingress" and self.chance(0.35):
            error = p4.Binary(BOOL, "==", self.std("parser_error", ERROR), Const(ERROR, self.error()))
            seen = p4.Assign(
                Member(Bits(16), Member(self.types[0], Name(self.headers, "h"), "eth"), "kind"), self.const(Bits(16))
            )
            body.append(p4.If(error, p4.Block([seen])))
        body += self.at_end(place, scope)
        if place == "ingress" and self.chance(0.7):
            body.insert(0, p4.Assign(self.std("egress_spec", Bits(9)), Const(Bits(9), 1)))
        return p4.Control(
            name, params, [*locals_, *objects, *subs, *called, *actions, *special, *tables], p4.Block(body)
        )

    def sub(self, one: p4.Object) -> Any:
        return next(sub for sub in self.subs if sub.name == one.kind)

    def applied(self, table: p4.Table, scope: Scope) -> p4.Statement:
        what = self.rng.random()
        if what < 0.4:
            return p4.Apply(table.name)
        if what < 0.7 or (self.card or "action_run" not in self.features):
            then, otherwise = self.block(scope, 1, 2), self.block(scope, 1, 2) if self.chance(0.5) else None
            return p4.If(p4.Hit(table.name, self.rng.choice(["hit", "miss"])), then, otherwise)
        labels: list[Any] = [*table.actions, None] if self.chance(0.6) else list(table.actions)
        return p4.Switch(table.name, self.cases(labels, scope, 1))

    def at_end(self, place: str, scope: Scope) -> list[p4.Statement]:
        """What a frame makes of itself: once, as no copy makes copies."""
        first = p4.Binary(BOOL, "==", self.std("instance_type", Bits(32)), Const(Bits(32), 0))
        out: list[p4.Statement] = []
        kept = self.rng.choice(["0", "1"])
        session = Const(Bits(32), self.rng.choice([1, 2, 9]))
        if place == "ingress":
            if "assert" in self.features:
                out.append(p4.Extern("assert", [self.condition(scope, 1)]))
            if "truncate" in self.features:
                out.append(
                    p4.If(
                        self.condition(scope, 1),
                        p4.Block([p4.Extern("truncate", [Const(Bits(32), self.rng.randint(14, 60))])]),
                    )
                )
            if "clone" in self.features:
                out.append(p4.Extern("clone_preserving_field_list", ["CloneType.I2E", session, kept]))
            if "resubmit" in self.features:
                out.append(p4.If(first, p4.Block([p4.Extern("resubmit_preserving_field_list", [kept])])))
            if "multicast" in self.features:
                out.append(p4.Assign(self.std("mcast_grp", Bits(16)), Const(Bits(16), self.rng.choice([1, 2, 9]))))
        elif "recirculate" in self.features:
            # Egress sees all frames of ingress as normal ones, so a mark in the frame's own metadata ends the round.
            seen = Member(Bits(8), Name(self.meta, "m"), "round")
            done = p4.Binary(BOOL, "<", seen, Const(Bits(8), self.rng.randint(1, 3)))
            more = p4.Assign(seen, p4.Binary(Bits(8), "+", seen, Const(Bits(8), 1)))
            out.append(p4.If(done, p4.Block([more, p4.Extern("recirculate_preserving_field_list", ["1"])])))
        elif "clone_egress" in self.features:
            out.append(
                p4.If(first, p4.Block([p4.Extern("clone_preserving_field_list", ["CloneType.E2E", session, kept])]))
            )
        for name in ("clone", "multicast", "resubmit"):
            if name in self.features and out and self.chance(0.6):
                # A condition that the compiler knows would leave a program without copies.
                port = p4.Binary(
                    BOOL, self.rng.choice(["==", "!="]), self.std("ingress_port", Bits(9)), Const(Bits(9), 1)
                )
                return [p4.If(port, p4.Block(out))]
        return out

    def checksums(self) -> tuple[p4.Block, p4.Block]:
        verify, update = p4.Block(), p4.Block()
        wanted = [block for block in (verify, update) if self.chance(0.7)] if "checksum" in self.features else []
        if self.card and "clone" in self.features:
            # The card does not write the checksum of a clone anew.
            wanted = [block for block in wanted if block is verify]
        for block in wanted:
            # Often with all that a checksum needs.
            of = self.rng.choice(self.places()[1:])
            halves = [one for one in of.type.fields if one[1] == Bits(16)]
            if self.card:
                starts = [sum(width(one) for _, one in of.type.fields[:at]) for at in range(len(of.type.fields))]
                halves = [
                    one for one, start in zip(of.type.fields, starts, strict=True) if one in halves and start % 16 == 0
                ]
            if not halves or only_varbit(of):
                continue
            to = Member(Bits(16), of, halves[0][0])
            plain = [Member(one, of, name) for name, one in of.type.fields if name != to.name and isinstance(one, Bits)]
            if not plain:
                continue
            algorithm = "csum16" if self.card or self.chance(0.5) else self.rng.choice(["crc16", "xor16", "csum16"])
            while algorithm == "csum16" and sum(width(one.type) for one in plain) % 16:
                plain.pop()
            if not plain:
                continue
            payload = "_with_payload" if "payload" in self.features or (not self.card and self.chance(0.8)) else ""
            name = f"{'verify' if block is verify else 'update'}_checksum{payload}"
            block.statements.append(p4.Extern(name, [p4.IsValid(of), plain, to, f"HashAlgorithm.{algorithm}"]))
        return verify, update

    # ---- what the program works on
    def frame(self) -> tuple[int, bytes]:
        bits = self.path.bits()
        data = bits.to_bytes(self.path.length, "big") + self.rng.randbytes(self.rng.choice([0, 3, 20, 40]))
        data = data.ljust(14, b"\0")
        if self.chance(0.12):
            data = data[: self.rng.randint(14, len(data))]
        return self.rng.randrange(2), data

    def summed(self, frame: bytes) -> bytes:
        """Mostly with the checksum that the program verifies."""
        for one in self.case.program.verify.statements:
            interpreter = Interpreter(self.case.program, self.state())
            interpreter.carry(0, frame, 0)
            to = one.args[2]
            place = interpreter.value(to.of, interpreter.parsed)
            if not place.valid or self.chance(0.3):
                continue
            low = 8 * len(frame) - place.at - width(to.type)
            for name, of in to.of.type.fields:
                if name == to.name:
                    break
                low -= width(of)
            right = interpreter.sum(one, interpreter.parsed) << low
            mask = (1 << width(to.type)) - 1 << low
            frame = (int.from_bytes(frame, "big") & ~mask | right).to_bytes(len(frame), "big")
        return frame

    def copies(self) -> None:
        case, rng = self.case, self.rng
        for number in (1, 2):
            copies = {(rng.choice([0, 1, 2, 7]), rng.choice([0, 1, 9])) for _ in range(rng.randint(1, 3))}
            case.groups[number] = sorted(copies)
            case.sessions[number] = sorted(
                {(rng.choice([0, 1, 5]), rng.choice([0, 3])) for _ in range(rng.randint(1, 2))}
            )

    def state(self) -> State:
        return state_of(self.case)

    def choose(self) -> None:
        """Entries, members of value sets and rates, from what the frames lead to; twice, as entries lead further."""
        case = self.case
        for _ in range(2):
            interpreter = Interpreter(case.program, self.state())
            for port, time, frame in case.frames:
                interpreter.carry(port, frame, time)
            for set_, keys in self.path.sets.items():
                seen = [one[0] for one in interpreter.compared.get(keys, [])]
                case.sets[set_] = sorted(set(self.rng.sample(seen, min(len(seen), 2))))[:4]
            for control, path in ((case.program.ingress, "I"), (case.program.egress, "E")):
                self.of_control(control, path, interpreter)
        for control, path in ((case.program.ingress, "I"), (case.program.egress, "E")):
            for one in control.locals:
                if isinstance(one, p4.Object) and one.kind == "meter":
                    case.rates[f"{path}.{one.name}", 0] = self.rates(one.args[1])

    def rates(self, kind: str) -> dict[str, int]:
        size = 60 if kind.endswith("bytes") else 1
        return {"cir": 1000, "cbs": size * self.rng.randint(1, 3), "pir": 2000, "pbs": size * self.rng.randint(1, 5)}

    def of_control(self, control: p4.Control, path: str, interpreter: Interpreter) -> None:
        case = self.case
        actions = {one.name: one for one in control.locals if isinstance(one, p4.Function)}
        for table in control.locals:
            if not isinstance(table, p4.Table):
                continue
            name = f"{path}.{table.name}"
            before = table.const if table.const is not None else [one for one in case.entries if one.table == name]
            profile = f"{path}.{table.profile}"
            if table.profile and not any(of == profile for of, _ in case.members):
                self.members(table, profile, actions)
            seen = interpreter.seen.get(name, [])
            for keys in self.rng.sample(seen, min(len(seen), self.rng.randint(1, 3))):
                if len(before) >= table.size:
                    break
                entry = self.entry(table, name, keys, actions, len(before))
                if not any(one.keys == entry.keys for one in before):
                    before.append(entry)
                    if table.const is None:
                        case.entries.append(entry)
            if table.meter and before:
                kind = next(one for one in control.locals if one.name == table.meter).args[0]
                case.rates[name, 0] = self.rates(kind)

    def members(self, table: p4.Table, profile: str, actions: dict[str, p4.Function]) -> None:
        case = self.case
        for member in (1, 2, 3):
            name = self.rng.choice(table.actions)
            case.members[profile, member] = name, self.call_args(actions[name])
        if "selector" in self.features:
            case.member_groups[profile, 1] = [(1, 1), (2, self.rng.randint(1, 3)), (3, 1)]
            case.member_groups[profile, 2] = []

    def entry(
        self, table: p4.Table, name: str, keys: tuple[int, ...], actions: dict[str, p4.Function], count: int
    ) -> Entry:
        others = [one for one in table.actions if one != table.default[0]] or table.actions
        action = actions[self.rng.choice(others)]
        looked = [key for key in table.keys if key.kind != "selector"]
        matches = [self.match(key.kind, value, width(key.value.type)) for key, value in zip(looked, keys, strict=True)]
        via = None
        if table.profile:
            via = ("member", self.rng.randint(1, 3))
            if "selector" in self.features and self.chance(0.7):
                via = ("group", self.rng.choice([1, 1, 1, 2]))
        # Priorities differ, so there is one entry of the highest.
        priority = (count * 7 + self.rng.randint(1, 3) * 64) if table.has_priorities and table.const is None else 0
        return Entry(name, matches, action.name, self.call_args(action), priority, via)

    def match(self, kind: str, value: int, bits: int) -> Any:
        full = (1 << bits) - 1
        if self.chance(0.1):
            value = self.number(bits)
        if kind == "lpm":
            length = self.rng.randint(0, bits)
            return ("/", value & ~(full >> length), length)
        if kind == "ternary":
            mask = self.rng.choice([full, 0, self.rng.getrandbits(bits), 1 << self.rng.randrange(bits)])
            return ("&&&", value & mask, mask) if mask else None
        if kind == "range":
            low, high = (
                (self.rng.randint(0, value), self.rng.randint(value, full)) if self.chance(0.6) else (value, value)
            )
            return ("..", low, high)
        return None if kind == "optional" and self.chance(0.3) else value
