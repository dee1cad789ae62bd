# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Two groups of xdp units on one card: each has maps of its own, also where names are the same; the routes are the
card's.
"""

from __future__ import annotations

import random
import struct
from collections import Counter
from ipaddress import IPv4Address
from pathlib import Path

import pytest
from penstock import Device, ProgramError

FIRMWARE = Path(__file__).parent / "firmware"
GROUPS = ("first", "second")
RING, SMALL = 0, 1


def open_card(folder: Path, target: str, *programs: Path) -> Device:
    """A unit for each program, in a separate group."""
    groups = [
        f'[[units]]\nname = "{name}"\nengine = "xdp"\ncount = 1\nports = true\nprogram = "{program}"\n'
        for name, program in zip(GROUPS, programs, strict=True)
    ]
    design = folder / "groups.toml"
    design.write_text('[card]\nname = "groups"\nports = 2\n[dispatch]\npolicy = "round-robin"\n' + "".join(groups))
    return Device.open(design, target)


def number(value: int | bytes) -> int:
    """A key or a value with or without a type."""
    return value if isinstance(value, int) else int.from_bytes(value, "little")


def through(card: Device, group: str, frames: list[bytes]) -> list[bytes]:
    """Sends frames through a group and returns its output."""
    card.set_ingress(group)
    card.send(frames)
    return card.run().at(0)


def test_maps_of_one_name(target: str, tmp_path: Path) -> None:
    """The same program in both groups: neither counts the other's frames, and the host reads and writes the group that
    it names.
    """
    rng = random.Random(23)
    stations = [rng.randbytes(6) for _ in range(20)]
    with open_card(tmp_path, target, FIRMWARE / "shared.c", FIRMWARE / "shared.c") as card:
        for _ in range(2):
            card.load()
            seen = {group: Counter[bytes]() for group in GROUPS}
            for count, group in ((60, "first"), (35, "second"), (40, "first"), (30, "second")):
                before = seen[group].copy()
                frames = [rng.choice(stations) + bytes(54) for _ in range(count)]
                out = through(card, group, frames)
                seen[group].update(frame[:6] for frame in frames)
                numbers = sorted(struct.unpack_from("<Q", frame, 20)[0] for frame in out)
                assert numbers == list(range(1000 + before.total(), 1000 + seen[group].total()))
                for station in stations:
                    of_station = sorted(struct.unpack_from("<Q", f, 12)[0] for f in out if f[:6] == station)
                    assert of_station == list(range(before[station], seen[group][station]))
            for group, counts in seen.items():
                maps = {name: card.maps[f"{group}.{name}"] for name in ("stations", "remainders", ".data")}
                assert {bytes(key): count for key, count in maps["stations"].items()} == dict(counts)
                by_remainder = Counter[int]()
                for station, count in counts.items():
                    by_remainder[station[0] % 37] += count
                assert {number: count for number, count in maps["remainders"].items() if count} == dict(by_remainder)
                assert maps[".data"][0] == {"all": 1000 + counts.total()}
        with pytest.raises(
            KeyError, match=r"there is no map 'stations'; there are: .*first\.stations, .*second\.stations"
        ):
            card.maps["stations"]
        station = next(iter(seen["first"]))
        card.maps["second.stations"][station] = 500
        card.maps["second.remainders"][station[0] % 37] = 7000
        counts = (struct.unpack_from("<QQQ", through(card, group, [station + bytes(54)])[0], 12) for group in GROUPS)
        assert [(by_station, all_of_them) for by_station, all_of_them, _ in counts] == [
            (seen["first"][station], 1000 + seen["first"].total()),
            (500, 1000 + seen["second"].total()),
        ]
        del card.maps["second.stations"][station]
        assert station in card.maps["first.stations"] and station not in card.maps["second.stations"]


def test_maps_of_all_kinds_behind_those_of_others(target: str, tmp_path: Path) -> None:
    with open_card(tmp_path, target, FIRMWARE / "shared.c", FIRMWARE / "maps.c") as card:
        through(card, "first", [bytes(60)] * 5)
        card.maps["routes"].update([("8 0 0 0 a 0 0 0", 1), ("10 0 0 0 a 1 0 0", 2)])
        card.maps["limits"][5] = {"rate": 55}
        card.maps[".bss"][0] = {"step": 7}
        rng = random.Random(29)
        frames = [
            bytes([rng.randrange(1, 256)])
            + bytes(13)
            + bytes([rng.choice([10, 11]), rng.randrange(2), 0, 1])
            + bytes(60)
            for _ in range(80)
        ]
        expected = []
        for frame in frames:
            route = {(10, 0): 1, (10, 1): 2}.get((frame[14], frame[15]), 0xFFFFFFFF)
            marks = struct.pack("<4I", route, 55 * (frame[0] % 8 == 5), 0xC0FFEE, 7)
            expected.append(frame[:20] + marks + frame[36:])
        assert Counter(through(card, "second", frames)) == Counter(expected)
        counts = card.maps["counts"]
        assert list(counts.processors) == list(range(16, 32))
        assert {kind: sum(counts[kind]) for kind in counts} == Counter(frame[0] & 3 for frame in frames)
        assert set(card.maps["recent"]) == {int.from_bytes(frame[14:18], "little") for frame in frames}
        assert card.maps["second..data"][0]["total"] == 1000 + len(frames)
        assert card.maps["first..data"][0] == {"all": 1005} and len(card.maps["stations"]) == 1
        assert sum(card.maps["remainders"].values()) == 5


def test_maps_in_maps_of_each(target: str, tmp_path: Path) -> None:
    """The contents of a map of maps, and a map that is one of several, belong to the group."""
    inner = Path(__file__).parents[1] / "compiler" / "tests" / "objects" / "inner.c"
    # The map of the lookup, the entry there, and the map that contains it.
    asked = [
        (0, 1, "hash_a"),
        (0, 3, "hash_b"),
        (1, 0, "array_a"),
        (1, 2, "array_b"),
        (3, 0, "hash_b"),
        (3, 2, "hash_a"),
    ]
    names = ("hash_a", "hash_b", "array_a", "array_b")
    with open_card(tmp_path, target, inner, inner) as card:
        expected = {
            (group, name): dict.fromkeys(range(3), 0) if "array" in name else {} for group in GROUPS for name in names
        }
        for at, group in enumerate(GROUPS):
            frames = []
            for count, (of, entry, name) in enumerate(asked):
                # A separate key for each, because frames are in flight together.
                key, value = count % 3 if of == 1 else count, 100 * at + count + 1
                frames.append(bytes([4 | of, entry, key, 0]) + struct.pack("<I", value) + bytes(56))
                expected[group, name][key] = value
            assert len(through(card, group, frames)) == len(frames)
        found = {(group, name): dict(card.maps[f"{group}.{name}"].items()) for group in GROUPS for name in names}
        outer = [dict(card.maps[f"{group}.hashes"].items()) for group in GROUPS]
        assert outer[0] == outer[1] and len(outer[0]) == 2
        assert {of: {number(k): number(v) for k, v in entries.items()} for of, entries in found.items()} == expected


def test_routes_are_of_the_card(target: str, tmp_path: Path) -> None:
    near = {"dst": "10.1.0.1", "dev": 2, "lladdr": "02:aa:00:00:00:01"}
    interfaces = {1: {"mac": "02:00:00:00:00:01"}, 2: {"mac": "02:00:00:00:00:02"}}
    query = bytes([2, *bytes(7)]) + struct.pack("<I", 1) + bytes(20) + IPv4Address("10.1.0.1").packed
    telling = tmp_path / "telling.c"
    text = (FIRMWARE / "routed.c").read_text()
    telling.write_text(
        text.replace(
            "  long answer;\n", '  long answer;\n  static const char asked[] = "asked"; bpf_trace_printk(asked, 6);\n'
        )
    )
    with open_card(tmp_path, target, FIRMWARE / "routed.c", telling) as card:
        for routes, answer in (([{"dst": "10.0.0.0/8", "dev": 2}], 0), ([], 4)):
            card.set_routes({"interfaces": interfaces, "routes": routes, "neighbours": [near]})
            for group in GROUPS:
                card.set_ingress(group)
                card.send([bytes(16) + query.ljust(64, b"\0")])
                run = card.run()
                assert struct.unpack_from("<q", run.at(0)[0], 8)[0] == answer, group
                assert run.log == ("asked",) * (group == "second")


def test_records_and_lines_of_each(target: str, tmp_path: Path) -> None:
    def frame(kind: int, record: bytes) -> bytes:
        return bytes([kind, len(record), *bytes(14)]) + record.ljust(64, b"\0")

    with open_card(tmp_path, target, FIRMWARE / "recorded.c", FIRMWARE / "recorded.c") as card:
        for group in GROUPS:
            name = group.encode()
            through(card, group, [frame(RING, name), frame(SMALL, name[:2])])
        for group in GROUPS:
            name = group.encode()
            assert card.maps[f"{group}.ring"].take() == ([name], 0)
            assert card.maps[f"{group}.small"].take() == ([name[:2]], 0)
    with open_card(tmp_path, target, FIRMWARE / "printed.c", FIRMWARE / "printed.c") as card:
        for group, number in zip(GROUPS, (7, 8), strict=True):
            card.set_ingress(group)
            card.send([bytes([4]) + bytes(15) + struct.pack("<6Q", *[number] * 6)] * 2)
            assert card.run().log == (" ".join(str(number) * 5),) * 2


def test_what_the_first_has_left_is_not_enough(tmp_path: Path) -> None:
    """An array takes 12,500 of the 16,383 rows of a bank; on soft each group has as much as it wants."""
    large = tmp_path / "large.c"
    large.write_text(
        "#include <bpf.h>\nstruct { __uint(type, BPF_MAP_TYPE_ARRAY); __type(key, __u32); __type(value, __u64);\n"
        '  __uint(max_entries, 200000); } large SEC(".maps");\n'
        'SEC("xdp") int count(struct xdp_md *ctx) { __u32 key = 199999; '
        "__u64 *value = bpf_map_lookup_elem(&large, &key);\n"
        "  if (value) __sync_fetch_and_add(value, 1); return XDP_DROP; }\n"
    )
    with open_card(tmp_path, "soft", large, large) as card:
        through(card, "second", [bytes(60)])
        assert (card.maps["first.large"][199_999], card.maps["second.large"][199_999]) == (0, 1)
    told = "it uses the map large: it takes 12500 rows of each of the card's banks, 3883 are left"
    with pytest.raises(ProgramError, match=told):
        open_card(tmp_path, "rtl", large, large)
