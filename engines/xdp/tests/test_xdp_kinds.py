# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Maps of rare kinds, on both targets: lookups by programs and the final contents equal plain Python's."""

from __future__ import annotations

import json
import random
import struct
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

from system import TARGETS, DesignMaker, Run, assert_twins, run_design, write_capture

FIRMWARE = Path(__file__).parent / "firmware"


def both(design: Path, frames: list[bytes], maps: dict[str, Any], folder: Path) -> dict[str, tuple[Run, Path]]:
    """Runs on each target, with maps filled before and dumped afterwards."""
    capture = write_capture(folder / "in.pcap", frames)
    options: list[str | Path] = []
    for name, content in maps.items():
        path = folder / f"{name}.json"
        path.write_text(json.dumps(content))
        options += ["--table", f"{name}={path}"]
    runs = {}
    for target in TARGETS:
        dump = folder / f"maps-{target}"
        run = run_design(design, [capture], folder / target, target, *options, "--dump", f"map={dump}")
        assert run.status == 0, run.stderr
        runs[target] = (run, dump)
    assert_twins(runs["soft"][0], runs["rtl"][0])
    return runs


def entries(folder: Path, name: str) -> dict[str, Any]:
    """The entries of a file, keys as JSON."""
    found = json.loads((folder / f"{name}.json").read_text())
    by_key = {json.dumps(entry["key"]): entry["value"] for entry in found}
    assert len(by_key) == len(found)
    return by_key


def by_text(numbers: dict[int, Any]) -> dict[str, Any]:
    """The same with keys as JSON has them."""
    return {str(number): value for number, value in numbers.items()}


def test_redirection_to_processors_and_sockets(make_design: DesignMaker, tmp_path: Path) -> None:
    """A card has neither: a frame that an entry sends there is refused; without an entry the program gets what it asked
    for.
    """
    rng = random.Random(21)
    cpus, sockets = {1: 2, 4: 16384}, {0: 0, 3: 1}
    frames = [bytes([rng.randrange(6), rng.choice([*range(7), 255])]) + rng.randbytes(58) for _ in range(400)]
    fates: Counter[tuple[str, bytes]] = Counter()
    for frame in frames:
        what, key = frame[:2]
        if what == 2:
            fates["port0", frame[:2] + bytes([key in sockets, sockets.get(key, 0)]) + frame[4:]] += 1
        elif what in (3, 4):
            fates["aborted", b""] += 1
        elif what == 5 or key in (cpus, sockets)[what]:
            fates["refused", b""] += 1
        else:
            fates[("host", "port0")[what], frame] += 1
    design = make_design(FIRMWARE / "targets.c", units=2, engine="xdp")
    runs = both(design, frames, {"cpus": by_text(cpus), "sockets": by_text(sockets)}, tmp_path)
    for run, dump in runs.values():
        found = Counter((to, frame) for to, frames in run.frames.items() for frame in frames)
        found.update({(why, b""): count for why, count in run.result["drops"].items()})
        assert found == fates
        assert entries(dump, "sockets") == by_text(sockets)
        assert entries(dump, "cpus") == by_text(cpus)


SMALL, LARGE = range(2)  # tables of each.c
COUNT, LOOKUP, UPDATE, DELETE = range(4)
ENOENT, E2BIG, EEXIST, EINVAL = -2, -7, -17, -22


def asked(flow: bytes, table: int, what: int, key: int, flags: int = 0, value: int = 0) -> bytes:
    """A frame for each.c; units and contexts are chosen by its addresses."""
    header = bytes(12) + b"\x08\x00\x45\x00" + bytes(10) + flow + bytes(6)
    return header + bytes([what << 1 | table, key, flags, 0]) + struct.pack("<I12x", value)


def answered(frame: bytes) -> tuple[int, int, int]:
    """Result, processor and the initial value."""
    return struct.unpack("<iII", frame[48:60])


def key_of(table: int, key: int) -> Any:
    return {"words": [key, 0, 7, key, 1]} if table == LARGE else key


def shown(table: int, key: int, value: int) -> Any:
    """A value in the form of a file of entries; 0 is a value that no program has stored."""
    if table == SMALL:
        return value
    return {"first": value, "rest": [1, 2, 3, 4, key] if value else [0] * 5}


def test_each_processor_counts_in_hash_tables(make_design: DesignMaker, tmp_path: Path) -> None:
    """Every other processor begins at 0 in an entry, whichever processor makes it."""
    rng = random.Random(31)
    flows = [rng.randbytes(8) for _ in range(60)]
    frames = [asked(rng.choice(flows), rng.randrange(2), COUNT, rng.randrange(6), value=1) for _ in range(600)]
    runs = both(make_design(FIRMWARE / "each.c", units=2, engine="xdp"), frames, {}, tmp_path)
    for run, dump in runs.values():
        counts = [[Counter[int]() for _ in range(6)] for _ in range(2)]
        before: dict[tuple[int, int, int], list[int]] = defaultdict(list)
        for frame in run.frames["port0"]:
            result, processor, found = answered(frame)
            table, key = frame[40] & 1, frame[41]
            assert result == 0 and processor < 32
            counts[table][key][processor] += 1
            before[table, key, processor].append(found)
        assert len({processor for _, _, processor in before}) > 8
        # Frames of several flows that share a processor may leave in another order.
        for (table, key, processor), found in before.items():
            assert sorted(found) == list(range(counts[table][key][processor]))
        small, large = entries(dump, "small"), entries(dump, "large")
        assert small == {str(key): [counts[SMALL][key][n] for n in range(32)] for key in range(6)}
        assert len(large) == 6
        for key in range(6):
            values = large[json.dumps(key_of(LARGE, key))]
            assert [value["first"] for value in values] == [counts[LARGE][key][n] for n in range(32)]
            # Only processors that have found no entry create one: one of them, or several at the same time.
            rests = Counter(tuple(value["rest"]) for value in values)
            assert 1 <= rests[1, 2, 3, 4, key] <= 4
            assert rests[0, 0, 0, 0, 0] == 32 - rests[1, 2, 3, 4, key]


def test_a_new_entry_is_zeros_to_others(make_design: DesignMaker, tmp_path: Path) -> None:
    """One processor updates, deletes and looks up in tables that the host has filled for all; the others' values stay
    until the entry goes.
    """
    rng = random.Random(32)
    flow = rng.randbytes(8)
    model: list[dict[int, list[int]]] = [
        {key: [rng.randrange(1, 1 << 32) for _ in range(32)] for key in range(5)} for _ in range(2)
    ]
    maps = {
        name: [
            [key_of(table, key), [shown(table, key, value) for value in values]] for key, values in model[table].items()
        ]
        for table, name in enumerate(("small", "large"))
    }
    frames = []
    for _ in range(500):
        table, what = rng.randrange(2), rng.choice([LOOKUP, UPDATE, UPDATE, DELETE])
        # A table that forgets has room for all of these.
        key = rng.randrange(11 if table == SMALL else 9)
        frames.append(asked(flow, table, what, key, rng.choice([0, 0, 1, 2, 3]), rng.randrange(1, 1 << 32)))
    runs = both(make_design(FIRMWARE / "each.c", units=2, engine="xdp"), frames, maps, tmp_path)
    processor = answered(runs["soft"][0].frames["port0"][0])[1]
    expected = []
    for frame in frames:
        head, key, flags, value = struct.unpack("<BBBxI", frame[40:48])
        table, what = model[head & 1], head >> 1
        there, full = key in table, head & 1 == SMALL and len(table) == 8
        found = table[key][processor] if there else 0
        result = 0
        if what == LOOKUP:
            result = int(there)
        elif what == DELETE:
            result = 0 if there else ENOENT
            table.pop(key, None)
        elif flags == 3:
            result = EINVAL
        elif there:
            result = EEXIST if flags == 1 else 0
        else:
            result = ENOENT if flags == 2 else E2BIG if full else 0
        if what == UPDATE and result == 0:
            table.setdefault(key, [0] * 32)[processor] = value
        expected.append(frame[:48] + struct.pack("<iII", result, processor, found))
    for run, dump in runs.values():
        assert run.frames["port0"] == expected
        for table, name in enumerate(("small", "large")):
            assert entries(dump, name) == {
                json.dumps(key_of(table, key)): [shown(table, key, value) for value in values]
                for key, values in model[table].items()
            }


HASHES, ARRAYS, OWNS, ONE_OF_TWO = range(4)  # what inner.c looks up in
IN_MAPS: list[dict[int, str]] = [
    {1: "hash_a", 3: "hash_b"},
    {0: "array_a", 1: "array_b", 2: "array_b"},
    {0: "own_a", 1: "own_b"},
    {0: "hash_b", 1: "hash_a", 2: "hash_a", 3: "hash_a"},
]


def updated(table: dict[int, int], key: int, flags: int, of: int) -> int:
    """The result of an update of a map in maps."""
    if flags == 3:
        return EINVAL
    if of == ARRAYS and key not in table:
        return E2BIG
    if key in table:
        return EEXIST if flags == 1 else 0
    return ENOENT if flags == 2 else E2BIG if len(table) == 6 else 0


def test_maps_in_maps(make_design: DesignMaker, tmp_path: Path) -> None:
    """A map that a lookup gives, or that is one of several, is looked up in, updated and emptied as by its name."""
    rng = random.Random(41)
    rest = b"\x08\x00\x45\x00" + bytes(10) + rng.randbytes(8) + bytes(26)
    frames = []
    for _ in range(900):
        of, what = rng.randrange(4), rng.choice([0, 0, 4, 4, 8])
        # Maps that forget have room for six.
        key = rng.randrange(6 if of == OWNS else 8)
        frames.append(
            bytes([of | what, rng.randrange(4), key, rng.randrange(4)]) + rng.randbytes(4) + bytes(4) + rest[2:]
        )
    model: dict[str, dict[int, int]] = {name: {} for name in ("hash_a", "hash_b", "own_a", "own_b")}
    model |= {name: dict.fromkeys(range(3), 0) for name in ("array_a", "array_b")}
    expected: dict[str, list[bytes]] = {"port0": [], "host": []}
    for frame in frames:
        of, what, key, value = frame[0] & 3, frame[0] & 12, frame[2], int.from_bytes(frame[4:8], "little")
        name = IN_MAPS[of].get(frame[1])
        if name is None:
            expected["host"].append(frame)
            continue
        table = model[name]
        before = table.get(key, 0)
        if what == 4:
            result = updated(table, key, frame[3], of)
            if not result:
                table[key] = value
        elif what == 8:
            result = EINVAL if of == ARRAYS else 0 if key in table else ENOENT
            if of != ARRAYS:
                table.pop(key, None)
        else:
            result = 0
            if key in table:
                result = table[key] = before + 1 & 0xFFFFFFFF
        expected["port0"].append(frame[:4] + struct.pack("<II", result & 0xFFFFFFFF, before) + frame[12:])
    program = FIRMWARE.parents[1] / "compiler" / "tests" / "objects" / "inner.c"
    runs = both(make_design(program, units=2, engine="xdp"), frames, {}, tmp_path)
    outer: list[dict[str, Any]] = []
    for run, dump in runs.values():
        assert {to: run.frames[to] for to in expected} == expected
        for name in ("array_a", "array_b"):
            assert numbers(entries(dump, name)) == by_text(model[name])
        for name in ("hash_a", "hash_b"):
            assert numbers(entries(dump, name)) == {key_bytes(key): value for key, value in model[name].items()}
        processors = set()
        for name in ("own_a", "own_b"):
            found = entries(dump, name)
            assert set(found) == {key_bytes(key) for key in model[name]}
            for key, value in model[name].items():
                for processor, bytes_ in enumerate(found[key_bytes(key)]):
                    if bytes_ != "0x" + "00" * 20:
                        processors.add(processor)
                        assert bytes_ == "0x" + struct.pack("<I16x", value).hex()
        assert len(processors) == 1
        outer.append({name: entries(dump, name) for name in ("hashes", "arrays", "owns")})
    assert outer[0] == outer[1]
    assert [sorted(outer[0][name]) for name in ("hashes", "owns")] == [["1", "3"], ["0", "1"]]
    assert len(set(outer[0]["arrays"].values())) == 2 and len(outer[0]["arrays"]) == 3


def key_bytes(number: int) -> str:
    """A key of four bytes without a type."""
    return json.dumps("0x" + number.to_bytes(4, "little").hex())


def numbers(found: dict[str, str]) -> dict[str, int]:
    """Values without a type, as numbers."""
    return {key: int.from_bytes(bytes.fromhex(value[2:]), "little") for key, value in found.items()}
