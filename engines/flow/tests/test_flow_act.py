# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Edits of frames by an element, in hardware: random edit words against plain Python, and rows of the language, in the
words that the compiler makes, against the interpreter (efsm.py), which executes their edits one after the other.
"""

from __future__ import annotations

import copy
import json
import random
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge
from penstock.cargo import example
from penstock.hdl import simulate

sys.path.insert(0, str(Path(__file__).resolve().parent))

from efsm import MASK, Frame, Machine, Missing, calculate
from flow_edit import COUNTS, Edit, Values, meaning
from flow_element import FUNCTIONS, GLOBALS, OPERANDS, PARTS, REGISTERS, repeated
from flow_random import Traffic, Writer
from flow_vector import BESIDE, NO_ELEMENT, SIZES, Vector, of_frame


def random_values(rng: random.Random) -> Values:
    return {kind: [rng.getrandbits(32) for _ in range(count)] for kind, count in COUNTS.items()}


def random_vector(rng: random.Random) -> Vector:
    parts = {part for part in PARTS if rng.random() < 0.5} - {"vlan", "vlan2", "ip", "ip6", "net"} | {"eth"}
    parts |= set(("vlan", "vlan2")[: rng.randrange(3)])
    parts |= rng.choice([{"ip", "net"}, {"ip6", "net"}, set()])
    layers = {name: rng.randbytes(size) for name, size in SIZES.items()}
    beside = {name: rng.getrandbits(width) for name, width in BESIDE.items()}
    return Vector(parts, layers, rng.getrandbits(16), beside, "onward", 0, rng.randrange(NO_ELEMENT))


class Bench:
    def __init__(self, dut: Any) -> None:
        self.dut = dut

    async def start(self) -> None:
        cocotb.start_soon(Clock(self.dut.clk, 4, unit="ns").start())
        self.dut.rst.value, self.dut.in_valid.value = 1, 0
        for _ in range(3):
            await FallingEdge(self.dut.clk)
        self.dut.rst.value = 0

    async def step(self, vector: Vector, edit: int, values: Values, takes: bool = True, fits: bool = True) -> Vector:
        """Edits a vector; the next vector may follow at once."""
        dut = self.dut
        dut.in_valid.value, dut.takes.value, dut.fits.value = 1, int(takes), int(fits)
        getattr(dut, "in").value, dut.row.value = vector.pack(), edit
        for name, kind in (("results", "result"), ("x", "operand"), ("r", "flow"), ("g", "global")):
            getattr(dut, name).value = repeated([(value, 32) for value in values[kind]])[0]
        await FallingEdge(dut.clk)
        dut.in_valid.value = 0
        assert dut.out_valid.value == 1
        return Vector.unpack(int(dut.out.value))


@cocotb.test()
async def random_words(dut: Any) -> None:
    rng = random.Random(5)
    bench = Bench(dut)
    await bench.start()
    for _ in range(4000):
        vector, values = random_vector(rng), random_values(rng)
        edit = Edit.any(rng, vector)
        takes, fits = rng.random() < 0.9, rng.random() < 0.9
        left = await bench.step(vector, edit.bits(), values, takes, fits)
        if takes and fits:
            left, wanted = meaning(left), meaning(edit.apply(vector, values))
        else:
            wanted = copy.deepcopy(vector)
            wanted.next += takes
        assert left == wanted, f"{vector}\n{vars(edit)}"
    await FallingEdge(dut.clk)
    assert dut.out_valid.value == 0, "nothing came in, and something goes out"


OPERATIONS = {
    "Add": "+",
    "Sub": "-",
    "And": "&",
    "Or": "|",
    "Xor": "^",
    "ShiftLeft": "<<",
    "ShiftRight": ">>",
    "Multiply": "*",
    "RotateRight": "ror",
    "Not": "not",
    "Min": "min",
    "Max": "max",
}


class Rows:
    """Random programs of one row, with their hardware words."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.compiler = subprocess.Popen([example("edits")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.writer = Writer(rng.getrandbits(32))
        self.writer.keyed, self.writer.states = True, []
        self.writer.flow = [f"r{n}" for n in range(REGISTERS)]
        self.writer.globals = [f"g{n}" for n in range(GLOBALS)]

    def edit(self) -> str:
        if self.rng.random() < 0.5:
            return self.writer.edit()
        tag = self.rng.choice(("vlan", "vlan", "mpls"))
        field = {"vlan": ("vlan.id", "vlan.pcp", "vlan.tci", "vlan2.id", "vlan2.tci"), "mpls": ("mpls.tc", "mpls.ttl")}[
            tag
        ]
        return self.rng.choice((f"push {tag} r0", f"push {tag} 7", f"pop {tag}", f"{self.rng.choice(field)} = r1"))

    def row(self) -> tuple[str, dict]:
        """A program that the compiler takes, and its first element as hardware has it."""
        rng, writer = self.rng, self.writer
        assert self.compiler.stdin is not None and self.compiler.stdout is not None
        for _ in range(10_000):
            registers = writer.flow + writer.globals
            actions = [f"{name} = {writer.expression()}" for name in rng.sample(registers, rng.randrange(3))]
            actions += [self.edit() for _ in range(rng.randint(1, 6))]
            port = f"port {writer.operand()}"
            actions.append(rng.choice(("pass", "next e1", "next e2", port, port, "opposite", "host", "drop")))
            text = (
                f"element e0 {{ key meta0 flow {', '.join(writer.flow)} global {', '.join(writer.globals)} "
                f"else => {', '.join(actions)} }}"
            )
            text += " element e1 { ip => drop } element e2 { ip => drop }"
            self.compiler.stdin.write(json.dumps(text) + "\n")
            self.compiler.stdin.flush()
            answer = json.loads(self.compiler.stdout.readline())
            if "fault" not in answer:
                return text, answer[0]
        raise AssertionError("no program was accepted")


def word_of(frame: Frame, name: str, word: int, rng: random.Random) -> int:
    """A word of a field, anything when the frame does not have it."""
    try:
        return frame.get(name) >> 32 * word & MASK
    except Missing:
        return rng.getrandbits(32)


def results(functions: Sequence, values: Values, rng: random.Random) -> list[int]:
    """The results of the element's functions, from the registers before."""

    def value(source: tuple[str, int]) -> int:
        return source[1] if source[0] == "constant" else values[source[0]][source[1]]

    found = []
    for operation, a, b in functions:
        if operation.startswith("Ewma"):
            expression: tuple = ("ewma", value(a), value(b), int(operation[5:-1]))
        else:
            expression = (OPERATIONS[operation], value(a), value(b)) if operation != "Copy" else (value(a),)
        found.append(calculate(expression, int))
    return found + [rng.getrandbits(32) for _ in range(FUNCTIONS - len(found))]


@cocotb.test()
async def rows_of_programs(dut: Any) -> None:
    rng = random.Random(7)
    bench = Bench(dut)
    await bench.start()
    rows, traffic = Rows(rng), Traffic(3)
    frames = [traffic.frame() for _ in range(400)]
    fitted = 0
    while fitted < 2000:
        text, image = rows.row()
        machine = Machine(text)
        [row] = machine.elements[0].rows
        words = sum(word << 32 * index for index, word in enumerate(image["edits"]["0"]))
        for data, port, time, hash_ in rng.sample(frames, 10):
            frame = Frame(data, port, hash_, time)
            frame.outside |= {"meta0": rng.getrandbits(32), "meta1": rng.getrandbits(32)}
            before = {name: rng.getrandbits(32) for name in (*machine.elements[0].flow, *machine.elements[0].globals)}

            def value(operand: str | int, frame: Frame = frame, before: dict[str, int] = before) -> int:
                return (
                    operand
                    if isinstance(operand, int)
                    else before[operand]
                    if operand in before
                    else frame.get(operand)
                )

            fits = machine.fits(row, frame, value, {})
            if fits is None:
                continue
            fitted += 1
            updates, edited = fits
            operands = [word_of(frame, name, word, rng) for name, word in image["operands"]]
            values = {"operand": operands + [rng.getrandbits(32) for _ in range(OPERANDS - len(operands))]}
            values |= {
                kind: [before[f"{kind[0].replace('f', 'r')}{n}"] for n in range(COUNTS[kind])]
                for kind in ("flow", "global")
            }
            values["result"] = results(image["functions"], values, rng)
            for name, number in updates.items():
                values["flow" if name[0] == "r" else "global"][int(name[1:])] = number
            left = await bench.step(of_frame(frame, rng), words, values)

            said = f"{data.hex()}\n{text}"
            assert left.fields() == edited.found.fields, said
            assert left.headers() == edited.found.headers, said
            tags = len(left.parts & {"vlan", "vlan2"})
            assert left.layers["eth"][: 12 + 4 * tags] == edited.data[: 12 + 4 * tags], said
            beside = {"meta0", "meta1", "len", "hash"}
            assert {name: left.beside[name] for name in beside} == {name: edited.outside[name] for name in beside}, said
            wanted = {
                "pass": ("onward", None, 1),
                "next": ("onward", None, int(str(row.verdict[-1])[1:]) if row.verdict[0] == "next" else None),
                "opposite": ("port", port ^ 1, NO_ELEMENT),
                "host": ("host", None, NO_ELEMENT),
                "drop": ("drop", None, NO_ELEMENT),
            }.get(row.verdict[0])
            if wanted is None:
                to = row.verdict[1]
                # Hardware has eight bits for a port; 255, which no card has, represents all larger numbers.
                wanted = ("port", min(updates[to] if to in updates else value(to), 0xFF), NO_ELEMENT)
            assert (left.verdict, left.verdict_port if wanted[0] == "port" else None, left.next) == wanted, said
    rows.compiler.communicate()


def run(case: str) -> None:
    simulate("flow_act", ["engines/flow/rtl/rtl.f"], Path(__file__).stem, testcase=case)


def test_random_words() -> None:
    run("random_words")


def test_rows_of_programs() -> None:
    example("edits")
    run("rows_of_programs")
