# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Maps of XDP programs from Python: they behave as dicts do, on both targets."""

from __future__ import annotations

import random
import struct
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from penstock import Device, MapError

ROOT = Path(__file__).resolve().parents[3]
PROGRAM = Path(__file__).resolve().parent / "firmware" / "maps.c"
DESIGN = f"""
    [card]
    name = "maps"
    ports = 2
    [dispatch]
    policy = "round-robin"
    [[units]]
    engine = "xdp"
    count = 2
    program = "{PROGRAM}"
    """


@pytest.fixture
def card(target: str, tmp_path: Path) -> Iterator[Device]:
    design = tmp_path / "design.toml"
    design.write_text(DESIGN)
    with Device.open(design, target) as card:
        yield card


def test_a_hash_is_a_dict(card: Device) -> None:
    """The same operations at random on a map and on a dict, and the same things are in both."""
    rng = random.Random(1)
    flows, twin = card.maps["flows"], {}
    assert (flows.kind, flows.key_bytes, flows.value_bytes, flows.max_entries) == ("hash", 8, 16, 32)

    def key_of(number: int) -> dict[str, int]:
        return {"address": number * 77, "port": number, "kind": number % 4, "rest": number % 64, "always_7": 7}

    for _ in range(100):
        number = rng.randrange(40)
        key = key_of(number)
        assert (key in flows) == (number in twin)
        match rng.randrange(3):
            case 0 if len(twin) == 32 and number not in twin:
                with pytest.raises(MapError, match="flows is full, it takes 32 entries"):
                    flows[key] = {}
            case 0 | 1 if len(twin) < 32 or number in twin:
                value = {"frames": rng.randrange(1 << 64), "bytes": rng.randrange(1 << 32), "tag": [*rng.randbytes(4)]}
                flows[key] = twin[number] = value
            case _ if number in twin:
                del flows[key]
                del twin[number]
            case _:
                with pytest.raises(KeyError):
                    del flows[key]
        assert flows.get(key) == twin.get(number)
    assert len(flows) == len(twin) > 10

    def in_order(pairs: list[tuple[dict[str, int], object]]) -> list[tuple[dict[str, int], object]]:
        return sorted(pairs, key=lambda pair: pair[0]["port"])

    assert in_order(flows.items()) == in_order([(key_of(number), value) for number, value in twin.items()])
    assert sorted(key["port"] for key in flows) == sorted(twin)
    number = next(iter(twin))
    packed = struct.pack("<IHBB", number * 77, number, number % 4 | number % 64 << 2, 7)
    assert flows[packed] == flows[key_of(number)] == twin[number]
    flows.clear()
    assert len(flows) == 0 and flows.get(key_of(1), 5) == 5
    flows.update([(key_of(1), bytes(16)), (key_of(2), {"frames": 2})])
    assert flows.values() == [{"frames": n, "bytes": 0, "tag": [0] * 4} for n in (0, 2)] or len(flows) == 2


def test_what_programs_find_and_leave(card: Device) -> None:
    rng = random.Random(2)
    card.maps["routes"].update([({"length": 8, "address": [10, 0, 0, 0]}, 1), ("16 0 0 0 a 1 0 0", 2)])
    del card.maps["routes"]["16 0 0 0 a 1 0 0"]
    card.maps["routes"]["10 0 0 0 a 1 0 0"] = 2
    card.maps["limits"][5] = {"rate": 55}
    card.maps[".bss"][0] = {"step": 7}
    card.maps["counts"][3] = 1000
    frames = []
    for _ in range(200):
        address = bytes([rng.choice([10, 11]), rng.randrange(2), 0, 1])
        frames.append(bytes([rng.randrange(1, 256)]) + bytes(13) + address + bytes(60))
    card.send(frames)
    expected = []
    for frame in frames:
        route = {(10, 0): 1, (10, 1): 2}.get((frame[14], frame[15]), 0xFFFFFFFF)
        marks = struct.pack("<4I", route, 55 * (frame[0] % 8 == 5), 0xC0FFEE, 7)
        expected.append(frame[:20] + marks + frame[36:])
    assert Counter(card.run().at(0)) == Counter(expected)

    kinds = Counter(frame[0] & 3 for frame in frames)
    counts = card.maps["counts"]
    assert list(counts.processors) == list(range(32)) and len(counts[0]) == 32
    assert {kind: sum(counts[kind]) - 32_000 * (kind == 3) for kind in counts} == kinds
    assert card.maps["flows"][{"address": "10.1.0.1", "kind": 1, "always_7": 7}]["frames"] == sum(
        frame[0] & 3 == 1 and frame[14:18] == bytes([10, 1, 0, 1]) for frame in frames
    )
    assert card.maps[".data"][0]["total"] == 1000 + len(frames)
    assert set(card.maps["recent"]) == {int.from_bytes(frame[14:18], "little") for frame in frames}
    counts[1] = list(range(32))
    assert counts[1] == list(range(32))


def test_what_maps_say_of_themselves(card: Device) -> None:
    assert sorted(card.maps) == sorted(
        [".bss", ".data", ".rodata", "counts", "flows", "limits", "recent", "routes", "unused"]
    )
    assert len(card.maps) == 9 and "flows" in card.maps and "flow" not in card.maps
    assert repr(card.maps["recent"]) == "<lru_hash 'recent': __be32 to __be16, 64 entries>"
    assert card.maps[".rodata"].read_only and card.maps[".rodata"][0] == {"mark": 0xC0FFEE}
    assert card.maps["limits"].keys() == list(range(8)) and len(card.maps["limits"]) == 8
    assert card.maps["unused"][1] == [bytes(6)] * 32
    assert card.maps["limits"][0] == {"rate|parts": bytes(4), "slack": [0, 0, 0]}


def test_what_is_wrong_is_said(card: Device) -> None:
    limits = card.maps["limits"]
    limits.set(1, {"rate": 1}, when="exist")
    with pytest.raises(KeyError, match="there is no map 'limit'; there are"):
        card.maps["limit"]
    with pytest.raises(KeyError):
        limits[8]
    for key, value, told in (
        (8, {}, "limits has 8 entries, the last is number 7"),
        (-1, {}, "-1 does not fit into __u32"),
        (b"123", {}, "__u32 has 4 bytes, and these are 3"),
        ("one", {}, "`one` is no __u32"),
        (0, {"rates": 1}, "struct limit has no field `rates`; it has rate|parts, slack"),
        (0, {"slack": [1, 2, 1 << 15]}, "slack: 2: 32768 does not fit into short"),
        (0, 5, "a number is given for struct limit"),
    ):
        with pytest.raises(MapError) as error:
            limits[key] = value
        assert told in str(error.value)
    with pytest.raises(MapError, match="has such an entry already"):
        limits.set(1, {}, when="noexist")
    with pytest.raises(MapError, match="holds constants"):
        card.maps[".rodata"][0] = {"mark": 1}
    with pytest.raises(MapError, match="refuses that"):
        limits.clear()
    for wrong in (1.5, None, 1 << 64, {1: 2}, [[]] * 3 + [object()]):
        with pytest.raises(TypeError):
            limits[0] = wrong
    deep: list[object] = []
    for _ in range(1000):
        deep = [deep]
    with pytest.raises(TypeError, match="nests so deep"):
        limits[0] = deep
    assert limits[0] == {"rate|parts": bytes(4), "slack": [0, 0, 0]}
    assert limits[1] == {"rate|parts": b"\1\0\0\0", "slack": [0, 0, 0]}
    card.close()
    with pytest.raises(Exception, match="closed"):
        limits[0]


def test_packet_units_have_none(target: str) -> None:
    with Device.open(ROOT / "designs/one-unit.toml", target) as card:
        assert list(card.maps) == []
