# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Cards of xdp units, from Python: state that lasts from one frame to the next."""

from __future__ import annotations

import random
import struct
from collections import defaultdict
from pathlib import Path

import pytest
from penstock import Device, ProgramError, UnsupportedError
from scapy.layers.inet import IP, TCP, UDP
from scapy.layers.l2 import Ether

ROOT = Path(__file__).resolve().parents[3]
PROGRAMS = ROOT / "engines" / "xdp" / "programs"
FIRMWARE = ROOT / "engines" / "xdp" / "tests" / "firmware"


def xdp_design(folder: Path, program: Path, units: int = 1, policy: str = "round-robin") -> Path:
    design = folder / "design.toml"
    text = f"""
        [card]
        name = "test"
        ports = 2
        [dispatch]
        policy = "{policy}"
        [[units]]
        engine = "xdp"
        count = {units}
        program = "{program}"
        """
    design.write_text(text)
    return design


def test_loaded_again_maps_begin_anew(target: str, tmp_path: Path) -> None:
    """A unit without a program has nothing to count; loaded a second time, it counts from 0. All are of one flow, so of
    one context.
    """
    with Device.open(xdp_design(tmp_path, FIRMWARE / "numbered.c", policy="flow-hash"), target) as card:
        for _ in range(2):
            card.load()
            card.send([bytes(60)] * 5)
            before = [struct.unpack("<Q", data[12:20])[0] for data in card.run().at(0)]
            assert sorted(before) == [0, 1, 2, 3, 4]


def test_a_unit_has_no_memories_of_another_engine(tmp_path: Path) -> None:
    """At the addresses of an rpu unit's memories, an xdp unit has its rows and maps."""
    with Device.open(xdp_design(tmp_path, FIRMWARE / "shared.c"), "soft") as card:
        (unit,) = card.units
        assert unit.engine == "xdp" and not unit.memories
        for name in ("imem", "dmem", "pmem", "table"):
            with pytest.raises(UnsupportedError, match=rf"unit 0 is of the engine xdp, whose units have no `{name}`"):
                getattr(unit, name)
    with Device.open(ROOT / "designs/forward.toml", "soft", units=1) as card:
        assert card.units[0].engine == "rpu" and list(card.units[0].memories) == ["imem", "dmem", "pmem", "table"]


def test_units_share_maps(target: str, tmp_path: Path) -> None:
    """Counters in a hash table, in an array and in a variable, of two units at a time: no frame is counted twice or not
    at all.
    """
    rng = random.Random(5)
    stations = [rng.randbytes(6) for _ in range(40)]
    with Device.open(xdp_design(tmp_path, FIRMWARE / "shared.c", units=2), target) as card:
        for _ in range(2):
            card.load()
            frames = [rng.choice(stations) + bytes(54) for _ in range(300)]
            card.send(frames)
            out = card.run().at(0)
            assert len(out) == len(frames)
            by_station, by_remainder, numbers = defaultdict(list), defaultdict(list), []
            for data in out:
                of_station, of_all, of_remainder, mark = struct.unpack("<QQQH", data[12:38])
                by_station[data[:6]].append(of_station)
                by_remainder[data[0] % 37].append(of_remainder)
                numbers.append(of_all)
                assert mark == 0x5AA5
            assert sorted(numbers) == list(range(1000, 1000 + len(frames)))
            for counts in [*by_station.values(), *by_remainder.values()]:
                assert sorted(counts) == list(range(len(counts)))
            assert {data[:6] for data in out} == {frame[:6] for frame in frames}


def test_a_firewall_knows_who_has_called(target: str, tmp_path: Path) -> None:
    """Flows from inside open the way back, whichever unit saw them; others from outside are dropped."""
    rng = random.Random(7)

    def packet(transport: type, source: str, dest: str, ports: tuple[int, int]) -> bytes:
        return bytes(
            Ether(dst="02:00:00:00:00:01") / IP(src=source, dst=dest) / transport(sport=ports[0], dport=ports[1])
        )

    def flow() -> tuple[type, str, str, tuple[int, int]]:
        inside, outside = f"10.0.{rng.randrange(4)}.{rng.randrange(8)}", f"192.0.2.{rng.randrange(8)}"
        return rng.choice([TCP, UDP]), inside, outside, (rng.randrange(1024, 1030), rng.choice([53, 80]))

    with Device.open(xdp_design(tmp_path, PROGRAMS / "simple_firewall.c", units=2), target) as card:
        called = [flow() for _ in range(150)]
        card.send([packet(*flow) for flow in called], port=0)
        assert sorted(card.run().at(1)) == sorted(packet(*flow) for flow in called)
        asked = [flow() for _ in range(150)] + rng.sample(called, 50)
        answers = [packet(transport, outside, inside, ports[::-1]) for transport, inside, outside, ports in asked]
        known = [answer for answer, flow in zip(answers, asked, strict=True) if flow in called]
        assert 50 <= len(known) < len(answers) - 50
        card.send(answers, port=1)
        result = card.run()
        assert sorted(result.at(0)) == sorted(known) and result.drops["blocked"] == len(answers) - len(known)


MARKS = """#include <packet.h>
struct { __uint(type, BPF_MAP_TYPE_HASH); __type(key, __u32); __type(value, __u32); __uint(max_entries, %d); } \
%s SEC(".maps");
__u64 frames;
SEC("xdp") int marks(struct xdp_md *ctx) {
  __u8 *data = frame_start(ctx);
  if (data + 60 > (__u8 *)frame_end(ctx)) return XDP_DROP;
  __u32 key = 7, *found = bpf_map_lookup_elem(&%s, &key);
  data[20] = %d;
  data[21] = found ? *found : 0;
  __sync_fetch_and_add(&frames, 1);
  return XDP_TX;
}
"""


def test_a_program_is_swapped(target: str, tmp_path: Path) -> None:
    def program(mark: int, name: str, entries: int) -> Path:
        path = tmp_path / f"{mark}.c"
        path.write_text(MARKS % (entries, name, name, mark))
        return path

    def marks(card: Device) -> set[bytes]:
        card.send([bytes(60)] * 20)
        return {data[20:22] for data in card.run().at(0)}

    with Device.open(xdp_design(tmp_path, program(1, "first", 8), units=2), target) as card:
        card.maps["first"][7] = 77
        assert marks(card) == {bytes([1, 77])}
        assert card.swap(program(2, "first", 8)) == {"first": True, ".bss": True}
        assert marks(card) == {bytes([2, 77])}
        assert card.swap(program(3, "first", 9)) == {"first": False, ".bss": True}
        assert marks(card) == {bytes([3, 0])}
        (tmp_path / "broken.c").write_text("int broken")
        with pytest.raises(ProgramError, match="broken"):
            card.swap(tmp_path / "broken.c")
        assert card.swap(program(4, "second", 9), group="") == {"second": False, ".bss": True}
        card.maps["second"][7] = 44
        assert marks(card) == {bytes([4, 44])} and "first" not in card.maps
        assert card.maps[".bss"][0] == {"frames": 80}
        card.load()
        assert marks(card) == {bytes([4, 0])} and card.maps[".bss"][0] == {"frames": 20}


def test_packet_units_are_not_swapped() -> None:
    with Device.open(ROOT / "designs/forward.toml", units=1) as card:
        with pytest.raises(UnsupportedError, match="reload it"):
            card.swap(ROOT / "engines/rpu/programs/forward.c")
