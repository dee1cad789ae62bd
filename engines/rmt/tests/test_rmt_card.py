# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""An rmt block in the card: a router and an adder, written as rows of the machine, for the tenants of VLAN 1 and VLAN
257; the adder is swapped under load. Judged by Scapy.
"""

from __future__ import annotations

import ipaddress
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import cocotb

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "shell/tests"))

import machine
from card_bench import HOST, CardBench, regs
from machine import ACTION, CHECK, EXIT, KEY, LEAF, LPM, M32, PARSER, REGISTER, SEGMENT, TENANT, WAY
from machine_random import Write, nodes, pack, second, unit, units
from penstock.hdl import simulate
from scapy.layers.inet import IP, UDP, IPOption_Router_Alert
from scapy.layers.l2 import Dot1Q, Ether

CHAIN, BLOCK = 0x4400_1000, 0x4500_0000
STAGES = 2
PARAM = f"512'h{7 << 44 | 3 << 32 | 3 << 20 | 3 << 8 | STAGES:x}"  # both stages have all kinds of tables
ROUTER, ADDER = 5, 6  # tenants
VLANS = {ROUTER: 1, ADDER: 257}
ADD = 0x1234  # Ethernet type of the adder's header: two numbers and a result
NEVER = 3 << 6
B, XOR, ADDS, SUB = 2, 5, 6, 7  # operations
ACCEPT = 8


def state(
    dst: int, words: int, need: int, key: int = 0, cases: tuple[tuple[int, int, int], ...] = (), flags: int = 0
) -> tuple[int, ...]:
    """A state that extracts `words` words; cases: mask, value, where to go."""
    more = (0, 0, ACCEPT)
    four = [*cases, *[more] * (4 - len(cases))]
    select = pack(
        (key, 0), (ACCEPT, 6), *((case[2], 10 + 4 * n) for n, case in enumerate(four)), ((1 << len(cases)) - 1, 26)
    )
    shape = pack((dst, 0), (words, 5), (words, 10))
    return (shape, 0, pack((flags, 0), (need, 16)), select, *(case[0] for case in four), *(case[1] for case in four))


def action(*words: tuple[int, int, int], register: tuple[int, int, int] = (0, 0, 0)) -> tuple[int, ...]:
    return (*units(*words), *register, 0, 0)


def program(bt: int, rows: dict[tuple[int, int, int], tuple[int, ...]]) -> list[Write]:
    """All rows of a program: memory, stage, row within `bt`; rows that are not given do nothing."""
    each = {PARSER: 8, ACTION: 8}
    writes: list[Write] = []
    for memory, stages in ((PARSER, 1), (CHECK, 1), (EXIT, 1), (KEY, STAGES), (ACTION, STAGES), (SEGMENT, STAGES)):
        for stage in range(stages if memory != PARSER else 3):
            count = each.get(memory, 1)
            for n in range(count):
                idle = {PARSER: state(0, 0, 0), CHECK: (0, 0, 0, NEVER), EXIT: (0, 0, 0, NEVER)}
                nothing = idle.get(memory, (0,) * machine.SHAPES[memory][1])
                writes.append((memory, stage, count * bt + n, rows.get((memory, stage, n), nothing)))
    return writes


# Words: Ethernet with tag 0 to 4, IPv4 5 to 9, its options 10 to 19.
ETHERNET = {
    ROUTER: state(0, 5, 20, 4, ((0xFFFF, 0x0800, 0),)),
    ADDER: state(0, 5, 20, 4, ((0xFFFF, ADD, 0),)),
}
ROUTES = {"10.0.0.0/8": 1, "10.1.0.0/16": 2, "10.1.2.0/24": 3, "192.168.0.0/16": 1}
HOPS = {1: ("02:00:00:00:01:01", 0), 2: ("02:00:00:00:02:02", 1), 3: ("02:00:00:00:03:03", 510)}
OWN = "02:aa:bb:cc:dd:ee"


def router(bank: int) -> list[Write]:
    bt = 64 * bank + ROUTER
    own = int(OWN.replace(":", ""), 16)
    ipv4 = list(state(5, 5, 20, flags=1))
    ipv4[0] |= pack((1, 15), (10, 16), (10, 21), (1, 27))
    ipv4[1] = pack((0, 0), (24, 6), (15, 11), (5, 17), (ACCEPT + 4, 23))
    covers = sum(3 << 2 * word for word in range(5, 20)) & ~(1 << 15)
    checksum = (covers & M32, covers >> 32)
    drop = unit(B, (29, 0, 32), value=3 << 16)
    rows = {
        (PARSER, 0, 0): ETHERNET[ROUTER],
        (PARSER, 1, 0): tuple(ipv4),
        # If the frame has IPv4's header (flag 0), bit 19 of v31 means that its checksum is wrong.
        (CHECK, 0, 0): (0, *checksum, pack((32, 0), (1, 6), (15, 8))),
        (EXIT, 0, 0): (0xFFFFF, *checksum, pack((32, 0), (1, 6), (15, 8))),
        # Frames with flag 0, no error, and a right checksum; all others are dropped.
        (KEY, 0, 0): (
            pack((2, 0), (1, 2), (1, 5), (31, 8), (9, 13)),
            pack((0, 8), (4, 24)), 0xF0001, 1, M32, 0, 0, 0, 0, 0, 0, 0,
        ),
        (ACTION, 0, 1): action(drop),
        # The hop's number goes to v20.
        (ACTION, 0, 2): action(unit(B, (20, 0, 32), b=second(4))),
        (KEY, 1, 0): (pack((1, 0), (1, 2), (0, 5), (30, 8), (20, 13)), pack((0, 8), (2, 24)), 1, 1, M32, *(0,) * 7),
        (ACTION, 1, 1): action(drop),
        # Addresses, TTL (word 7, highest byte), port.
        (ACTION, 1, 2): action(
            unit(B, (0, 0, 16), b=second(4)),
            unit(B, (1, 0, 32), b=second(5)),
            unit(B, (2, 0, 32), value=own >> 16),
            unit(B, (3, 16, 16), value=own & 0xFFFF),
            unit(SUB, (7, 24, 8), (7, 24, 8), value=1),
            unit(B, (29, 0, 18), b=second(6)),
        ),
    }  # fmt: skip
    writes = program(bt, rows)
    starts = {0: 0}  # first keys of intervals, and their hops
    for prefix, hop in sorted(ROUTES.items(), key=lambda item: int(item[0].split("/")[1])):
        net = ipaddress.ip_network(prefix)
        first, behind = int(net.network_address), int(net.broadcast_address) + 1
        after = starts[max(start for start in starts if start <= behind)]
        starts = {start: to for start, to in starts.items() if not first <= start < behind} | {
            first: hop,
            behind: after,
        }
    intervals = sorted(starts.items())
    intervals += [(M32, intervals[-1][1])] * (16 - len(intervals))
    writes += [(LPM + level, 0, row, node) for level, row, node in nodes([start for start, _ in intervals])]
    for n, (_, hop) in enumerate(intervals):
        writes.append((LEAF, 0, n, (pack((hop != 0, 0), (ROUTER, 1), (2, 7)), hop, 0, 0, 0)))
    writes += [(WAY + way, 1, n, (0,) * 9) for way in range(4) for n in range(4)]
    model, taken = machine.Machine(STAGES), set()
    for hop, (address, port) in HOPS.items():
        mac = int(address.replace(":", ""), 16)
        places = list(enumerate(model.buckets(0, 2, (hop, 0, 0, 0))))
        place = next(place for place in places if place not in taken)
        taken.add(place)
        entry = (pack((1, 0), (ROUTER, 1), (2, 7)), hop, 0, 0, 0, mac >> 32, mac & M32, 1 << 16 | port, 0)
        writes.append((WAY + place[0], 1, place[1], entry))
    return writes


def adder(bank: int, op: int) -> list[Write]:
    """Result: the first number and the second one, added or subtracted. The frame goes back, and the host's
    register counts it.
    """
    bt = 64 * bank + ADDER
    count = (pack((3, 0)), pack((1, 27)), pack((0, 0), (1, 16)))
    rows = {
        (PARSER, 0, 0): ETHERNET[ADDER],
        (PARSER, 1, 0): state(19, 3, 12, flags=2),
        (EXIT, 0, 0): (1 << 21, 0, 0, NEVER),
        (KEY, 0, 0): (pack((0, 0), (2, 2), (1, 5), (31, 8)), 0, 0x70002, 2, *(0,) * 8),
        (ACTION, 0, 1): action(unit(B, (29, 0, 32), value=3 << 16)),
        # Port numbers are bits 16 to 23 of v28.
        (ACTION, 0, 2): action(
            unit(op, (21, 0, 32), (19, 0, 32), second(9)),
            unit(B, (29, 0, 8), b=second(3, 2, 8)),
            unit(B, (29, 16, 2), value=1),
            register=count,
        ),
        (SEGMENT, 0, 0): (pack((4095, 0), (1, 16)), 0, 0),
    }
    return program(bt, rows)


async def write_rows(bench: CardBench, writes: list[Write]) -> None:
    for memory, stage, row, words in writes:
        await bench.write(BLOCK + regs.RMT_BLOCK_SELECT, memory << 24 | stage << 16 | row)
        for n, word in enumerate(words):
            await bench.write(BLOCK + regs.RMT_BLOCK_DATA + 4 * n, word)
        await bench.write(BLOCK + regs.RMT_BLOCK_COMMIT, 0)


def routed(data: bytes) -> tuple[int | None, bytes]:
    """The router's port and bytes for a frame, by Scapy."""
    frame = Ether(data)
    if IP not in frame or frame[Dot1Q].type != 0x0800:
        return None, b""
    packet = frame[IP]
    header = frame[IP].copy()
    header.remove_payload()
    del header.chksum
    if packet.chksum != IP(bytes(header)).chksum:
        return None, b""
    fitting = [
        ipaddress.ip_network(prefix)
        for prefix in ROUTES
        if ipaddress.ip_address(packet.dst) in ipaddress.ip_network(prefix)
    ]
    if not fitting:
        return None, b""
    address, port = HOPS[ROUTES[str(max(fitting, key=lambda net: net.prefixlen))]]
    frame.dst, frame.src = address, OWN
    packet.ttl -= 1
    del packet.chksum
    return HOST if port == 510 else port, bytes(frame)


def packet(bench: CardBench, number: int) -> bytes:
    rng = bench.rng
    dst = rng.choice(
        [
            "10.1.2.3",
            "10.1.255.255",
            "10.2.0.0",
            "10.255.255.255",
            "11.0.0.0",
            "192.168.7.7",
            "9.255.255.255",
            "10.1.3.0",
        ]
    )
    options = [IPOption_Router_Alert()] * rng.choice([0, 0, 1, 3, 10])
    ip = IP(dst=dst, ttl=rng.randint(2, 255), id=number & 0xFFFF, options=options) / UDP(
        sport=number & 0xFFFF, chksum=0
    )
    data = bytes(
        Ether(src="02:00:00:00:00:01")
        / Dot1Q(vlan=VLANS[ROUTER], prio=rng.randrange(8))
        / ip
        / rng.randbytes(rng.choice([4, 30, 80, 900]))
    )
    if rng.random() < 0.1:
        data = data[:30] + bytes([data[30] ^ 0x40]) + data[31:]
    return data


@cocotb.test()
async def two_tenants(dut: Any) -> None:
    """Frames of both tenants and of neither on both ports; the adder becomes a subtracter while they flow."""
    bench = CardBench(dut)
    await bench.start()
    await bench.boot()
    rng = bench.rng
    for tenant, vlan in VLANS.items():
        await bench.write(CHAIN + regs.INLINE_TENANT_VLAN, 0xF << 16 | vlan)
        await bench.write(CHAIN + regs.INLINE_TENANT, tenant)
    await write_rows(bench, [(REGISTER, 0, 4095, (0,)), *router(0), (TENANT, 0, ROUTER, (1,))])
    await write_rows(bench, [*adder(1, ADDS), (TENANT, 0, ADDER, (7,))])
    routes: defaultdict[tuple[int, int], list[bytes]] = defaultdict(list)  # way in, way out
    sums = [0, 0]
    total = 0

    def feed(port: int) -> None:
        nonlocal total
        kind = rng.random()
        if kind < 0.5:
            data = packet(bench, total)
            to, result = routed(data)
            if to is not None:
                routes[port, to].append(result)
                total += 1
        elif kind < 0.9:
            head = bytes(Ether(src="02:00:00:00:00:02", dst="02:00:00:00:00:03") / Dot1Q(vlan=VLANS[ADDER], type=ADD))
            data = head + rng.randbytes(12) + rng.randbytes(40)
            sums[port] += 1
            total += 1
        else:  # of the system, and of a VLAN whose number is that of a tenant's in its lower bits
            vlan = rng.choice([0, 2, 513, 4095])
            data = bytes(Ether(src="02:00:00:00:00:04") / Dot1Q(vlan=vlan) / IP(dst="10.1.2.3") / rng.randbytes(30))
            routes[port, port ^ 1].append(data)
            total += 1
        bench.send(port, data)

    async def swap() -> None:
        await write_rows(bench, [*adder(0, SUB), (TENANT, 0, ADDER, (5,))])
        # The old program is overwritten at once.
        await write_rows(bench, adder(1, XOR))

    swapping = cocotb.start_soon(swap())
    while not swapping.done():
        for port in range(2):
            if len(bench.queue[port]) < 4:
                feed(port)
        await bench.clocks(40)
    for _ in range(300):
        for port in range(2):
            feed(port)
    await bench.drained(total)
    left: defaultdict[tuple[int, int], list[bytes]] = defaultdict(list)
    for exit_, frames in bench.out.items():
        for frame in frames:
            if frame.data[14:16] != (VLANS[ADDER]).to_bytes(2, "big"):
                left[frame.src, exit_].append(frame.data)
    assert {way: sorted(frames) for way, frames in left.items()} == {
        way: sorted(frames) for way, frames in routes.items()
    }
    assert len(routes) >= 5 and all(len(frames) > 20 for frames in routes.values())
    for port in range(2):
        answers = [frame.data for frame in bench.out[port] if frame.data[16:18] == ADD.to_bytes(2, "big")]
        assert len(answers) == sums[port]
        kinds = []
        for data in answers:
            a, b, result = (int.from_bytes(data[at : at + 4], "big") for at in (18, 22, 26))
            kinds.append([(a + b) & M32, (a - b) & M32].index(result))
        assert kinds == sorted(kinds) and set(kinds) == {0, 1}, (
            "a frame took neither program, or the old one behind the new one"
        )
    await bench.write(BLOCK + regs.RMT_BLOCK_SELECT, REGISTER << 24 | 4095)
    assert await bench.read(BLOCK + regs.RMT_BLOCK_DATA) == sum(sums)


def test_rmt_card() -> None:
    simulate(
        "card_top",
        ["lib/rtl/rtl.f", "shell/tests/unit.sv", "engines/inline.f", "shell/rtl/rtl.f"],
        Path(__file__).stem,
        {"Ports": 2, "Units": 1, "IngressDepth": 1024, "Blocks": 1, "BlockEngine": 3, "BlockParam": PARAM},
    )
