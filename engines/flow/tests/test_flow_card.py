# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Elements of the flow engine in the card's inline chain: NAT, which is two of them, loaded through their windows,
beside the interpreter of its text.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import cocotb
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "shell/tests"))

from card_bench import HOST, CardBench, regs
from efsm import Machine
from flow_soft import PROGRAMS
from flow_words import words
from penstock.hdl import simulate
from scapy.layers.inet import IP, TCP, UDP
from scapy.layers.l2 import ARP, Ether

CHAIN, ELEMENT, STRIDE = 0x4400_1000, 0x4510_0000, 0x10_0000  # windows
COUNTERS = CHAIN + regs.INLINE_BLOCK_BASE
PLACES = 256  # 2^8
CHANGE_ALL = 7  # commit, no contexts, global registers as they begin
NAT = PROGRAMS / "nat.efsm"


class NatBench:
    """The card with NAT in it, and the interpreter, which is given the same frames."""

    def __init__(self, dut: Any) -> None:
        self.bench = CardBench(dut)
        self.machine = Machine(NAT.read_text(), PLACES * 97 // 100)
        self.expected: dict[int, list[bytes]] = {0: [], 1: [], HOST: []}
        self.dropped = self.sent = 0

    async def start(self, program: list[list[int]]) -> None:
        await self.bench.start()
        for element, loaded in enumerate(program):
            base = ELEMENT + STRIDE * element
            shape = await self.bench.read(base + regs.FLOW_HOST_SHAPE)
            assert (shape & 0xFF, shape >> 8 & 0xFF, shape >> 16) == (8, element, len(loaded))
            for _ in range(11):
                await self.bench.write(base + regs.FLOW_HOST_SECRET, self.bench.rng.getrandbits(32))
            await self.bench.write(base + regs.FLOW_HOST_BEGIN, 0)
            for word in loaded:
                await self.bench.write(base + regs.FLOW_HOST_PROGRAM, word)
            await self.bench.write(base + regs.FLOW_HOST_CHANGE, CHANGE_ALL)
            while await self.bench.read(base + regs.FLOW_HOST_STATUS) & 2:
                pass
        await self.bench.boot()

    async def play(self, inside: list[bytes], outside: list[bytes]) -> list[bytes]:
        """Sends frames into both ports at once; returns the frames that left for the outside. The flow of an answer
        already exists, so it does not matter which of two frames of different ports comes first.
        """
        before = {exit_: len(out) for exit_, out in self.bench.out.items()}
        past: dict[int, list[bytes]] = {0: [], 1: [], HOST: []}
        onward: dict[int, list[bytes]] = {0: [], 1: [], HOST: []}
        for port, frames in ((1, inside), (0, outside)):
            for data in frames:
                verdict, left = self.machine.run(data, port, 0)
                self.sent += 1
                if verdict[0] == "drop":
                    self.dropped += 1
                else:
                    # Frames that pass go through the unit, to the neighbour port.
                    (past[verdict[1]] if verdict[0] == "port" else onward[port ^ 1]).append(left)
                self.bench.send(port, data)
        leave = sum(map(len, (*past.values(), *onward.values())))
        await self.bench.drained(sum(before.values()) + leave)
        for exit_, out in self.bench.out.items():
            new = [frame.data for frame in out[before[exit_] :]]
            assert [data for data in new if data not in onward[exit_]] == past[exit_]
            assert [data for data in new if data in onward[exit_]] == onward[exit_]
        return past[0]


@cocotb.test()
async def nat(dut: Any) -> None:
    """Flows from inside get ports, answers return, strangers do not enter; ARP passes. Both ports at once, while the
    clock goes on.
    """
    both = NatBench(dut)
    bench, rng = both.bench, both.bench.rng
    await both.start(json.loads(os.environ["PENSTOCK_FLOW_WORDS"]))
    ether = Ether(src="02:00:00:00:00:01", dst="02:00:00:00:00:02")
    arp = bytes(Ether(src="02:00:00:00:00:01", dst="ff:ff:ff:ff:ff:ff") / ARP(psrc="10.0.0.1", pdst="10.0.0.2"))

    def inside(flow: int) -> bytes:
        layer = TCP(sport=4000 + flow, dport=80) if flow % 3 else UDP(sport=4000 + flow, dport=53)
        load = rng.randbytes(rng.choice([0, 5, 30, 200, 1400]))
        return bytes(ether / IP(src=f"10.0.0.{flow % 7}", dst="198.51.100.7") / layer / load)

    def answer(data: bytes, stranger: bool) -> bytes:
        packet = Ether(data)
        layer = packet[TCP] if TCP in packet else packet[UDP]
        source = "198.51.100.8" if stranger else packet[IP].dst
        ports = {"sport": layer.dport, "dport": layer.sport}
        return bytes(
            ether / IP(src=source, dst=packet[IP].src) / type(layer)(**ports) / rng.randbytes(rng.randint(0, 90))
        )

    out: list[bytes] = []
    answers: list[bytes] = []
    for flows in (40, 40, 40, 0):
        # Answers to earlier frames, beside flows that may be new.
        out += await both.play([arp, *(inside(rng.randrange(flows)) for _ in range(60 * bool(flows)))], [*answers, arp])
        answers = [answer(data, rng.random() < 0.2) for data in rng.sample(out, 40)]
    assert both.dropped > 10 and {len(set(contexts)) for contexts in both.machine.contexts} != {0}
    assert await bench.read(COUNTERS + regs.INLINE_BLOCK_FRAMES) == both.sent
    assert await bench.read(COUNTERS + regs.INLINE_BLOCK_BLOCKED) == both.dropped
    for element, contexts in enumerate(both.machine.contexts):
        base = ELEMENT + STRIDE * element
        assert await bench.read(base + regs.FLOW_HOST_CONTEXTS) == len(contexts)
        for name in ("keyless", "unmatched", "unkept"):
            told = await bench.read(base + getattr(regs, f"FLOW_HOST_{name.upper()}"))
            assert told == both.machine.counters[element][name], name
    assert await bench.read(ELEMENT + regs.FLOW_HOST_GLOBALS) == both.machine.globals[0]["next_port"]


# Its model takes a minute and a half to build; engines/flow/tests/test_flow_cards.py sends both ports' frames through a
# card that is built anyway.
@pytest.mark.long
def test_flow_card() -> None:
    program = words(NAT, PLACES * 97 // 100)
    assert isinstance(program, list), program
    simulate(
        "card_top",
        [
            "lib/rtl/rtl.f",
            "shell/tests/unit.sv",
            "engines/flow/rtl/rtl.f",
            "engines/inline_block.sv",
            "shell/rtl/rtl.f",
        ],
        "test_flow_card",
        {"Ports": 2, "Units": 1, "IngressDepth": 1024, "Blocks": 1, "BlockEngine": 2, "BlockParam": 2 | 8 << 8},
        env={"PENSTOCK_FLOW_WORDS": json.dumps([element["words"] for element in program])},
    )
