# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""The block in a card, with echo units behind it: loaded over the host address space, it reports frames to the host,
and in IPS mode drops the frames that the host rejects.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import cocotb
from penstock.hdl import ROOT, simulate

sys.path[:0] = [str(Path(__file__).resolve().parent), str(ROOT / "shell" / "tests")]

from card_bench import AxiError, CardBench, regs  # noqa: E402
from ids_bench import BANK, IPS, LOG, LOG_STRIDE, SEARCH  # noqa: E402
from ids_machine import Record, Tables, distinct  # noqa: E402

WINDOW, CHAIN = 0x4500_0000, 0x4400_1000
SETS, ENTRIES, ROWS = 4, 6, 10
ATTACK = distinct([b"attack99", b"evil", b"bad"])


def udp(payload: bytes, port: int) -> bytes:
    """A frame with IPv4 and UDP without a checksum."""
    ip = (
        bytes.fromhex("4500")
        + (28 + len(payload)).to_bytes(2, "big")
        + bytes.fromhex("000000004011000001020304")
        + bytes((5, 6, 7, port & 255))
    )
    head = (
        bytes.fromhex("020000000001020000000002 0800")
        + ip
        + port.to_bytes(2, "big") * 2
        + (8 + len(payload)).to_bytes(2, "big")
        + bytes(2)
    )
    return (head + payload).ljust(60, b"\0")


async def load(bench: CardBench, tables: Tables, control: int) -> None:
    await bench.write(WINDOW + regs.IDS_BLOCK_CONTROL, 0)
    await bench.write(WINDOW + regs.IDS_BLOCK_CLEAR, 7)
    while await bench.read(WINDOW + regs.IDS_BLOCK_STATUS) & 1:
        await bench.clocks(5000)
    for (way, index), number in tables.entries.items():
        window = tables.keys[number].rjust(8, b"\0")
        await bench.write(WINDOW + regs.IDS_BLOCK_KEY_L, int.from_bytes(window[:4], "little"))
        await bench.write(WINDOW + regs.IDS_BLOCK_KEY_H, int.from_bytes(window[4:], "little"))
        await bench.write(WINDOW + regs.IDS_BLOCK_PLACE, way << 16 | index)
        await bench.write(WINDOW + regs.IDS_BLOCK_ENTRY, len(tables.keys[number]) << 16 | number)
    for which, entries in enumerate(tables.maps):
        for index, value in entries.items():
            await bench.write(WINDOW + regs.IDS_BLOCK_BITMAP, value << 20 | which << 16 | index)
    await bench.write(WINDOW + regs.IDS_BLOCK_CONTROL, SEARCH | BANK | control)


async def told(bench: CardBench) -> Record | None:
    head = await bench.read(WINDOW + regs.IDS_BLOCK_RECORD)
    if not head >> 31:
        return None
    at = WINDOW + LOG + LOG_STRIDE * (head >> 29 & 3) + 64 * ((head & 0x1FFFFFFF) % (1 << ROWS))
    row = b"".join([(await bench.read(at + 4 * word)).to_bytes(4, "little") for word in range(16)])
    await bench.write(WINDOW + regs.IDS_BLOCK_RECORD, 0)
    return Record.read(row)


@cocotb.test()
async def frames_pass_and_are_told(dut: Any) -> None:
    bench = CardBench(dut, 1)
    await bench.start()
    await bench.boot()
    await load(bench, Tables(ATTACK, ENTRIES), 0)
    sent: list[list[bytes]] = [[], []]
    wanted = []
    for n in range(100):
        for p in range(2):
            payload = bench.rng.choice([b"nothing", b"Evil", b"x" * bench.rng.randint(18, 1400), b"so BAD" + bytes(60)])
            sent[p].append(udp(payload, n))
            bench.send(p, sent[p][-1])
            if payload in (b"Evil", b"so BAD" + bytes(60)):
                wanted.append((p, n, [1 if payload == b"Evil" else 2]))
    await bench.drained(200)
    assert [sorted(out.data for out in bench.out[p ^ 1]) for p in range(2)] == [sorted(frames) for frames in sent]
    records = []
    while (record := await told(bench)) is not None:
        records.append((record.port, record.number, record.ids))
    assert sorted(records) == sorted(wanted) and records
    assert await bench.read(CHAIN + regs.INLINE_BLOCK_BASE + regs.INLINE_BLOCK_FRAMES) == 200


@cocotb.test()
async def the_host_drops(dut: Any) -> None:
    bench = CardBench(dut, 2)
    await bench.start()
    await bench.boot()
    await load(bench, Tables(ATTACK, ENTRIES), IPS)
    await bench.write(WINDOW + regs.IDS_BLOCK_TIMEOUT, 1 << 30)
    frames = [udp(b"evil %d" % n if n % 2 else b"good %d" % n, n) for n in range(20)]
    for frame in frames:
        bench.send(0, frame)
    await bench.drained(10)
    dropped = []
    while (record := await told(bench)) is not None:
        assert record.held and record.ids == [1]
        drop = record.number % 3 == 0
        dropped += [frames[record.number]] * drop
        await bench.write(WINDOW + regs.IDS_BLOCK_VERDICT, drop << 31 | record.ticket)
    await bench.drained(20 - len(dropped))
    assert sorted(out.data for out in bench.out[1]) == sorted(frame for frame in frames if frame not in dropped)
    assert await bench.read(CHAIN + regs.INLINE_BLOCK_BASE + regs.INLINE_BLOCK_BLOCKED) == len(dropped) > 0
    try:
        await bench.read(WINDOW + 0x1000)
    except AxiError:
        return
    raise AssertionError("an address without a register was answered")


def test_ids_card() -> None:
    simulate(
        "card_top",
        ["lib/rtl/rtl.f", "shell/tests/unit.sv", "engines/inline.f", "shell/rtl/rtl.f"],
        Path(__file__).stem,
        {
            "Ports": 2,
            "Units": 4,
            "IngressDepth": 1024,
            "Blocks": 1,
            "BlockEngine": "64'h4",
            "BlockParam": f"512'h{ROWS << 16 | ENTRIES << 8 | SETS:x}",
        },
    )
