# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Records from Python: taken between runs, lap after lap of their ring."""

from __future__ import annotations

import random
import struct
from collections.abc import Iterator
from pathlib import Path

import pytest
from penstock import Device, MapError

ROOT = Path(__file__).parents[3]
PROGRAM = ROOT / "engines" / "xdp" / "tests" / "firmware" / "recorded.c"
RING, SMALL, QUERY, LONGER, DAWDLE = 0, 1, 6, 7, 8
WAITING, SIZE, TAKEN, WRITTEN = range(4)


@pytest.fixture(scope="module", params=["soft", "rtl"])
def opened(request: pytest.FixtureRequest) -> Iterator[Device]:
    with Device.open(ROOT / "designs/xdp.toml", request.param, units=1, program=PROGRAM) as card:
        yield card


@pytest.fixture
def card(opened: Device) -> Device:
    opened.load()
    return opened


def frame(kind: int, number: int, data: bytes = b"") -> bytes:
    return bytes([kind, number, *bytes(14)]) + data.ljust(64, b"\0")


def answers(card: Device, *frames: bytes) -> list[int]:
    """The helpers' results."""
    card.send(frames)
    card.run()
    return [struct.unpack_from("<q", answer, 8)[0] for answer in card.receive(0)]


def test_lap_after_lap(card: Device) -> None:
    rng = random.Random(4096)
    small = card.maps["small"]
    written = 0
    for _ in range(12):
        records = [rng.randbytes(rng.randrange(64)) for _ in range(50)]
        assert answers(card, *(frame(SMALL, len(record), record) for record in records)) == [0] * 50
        whole = sum((len(record) + 7) // 8 * 8 + 8 for record in records)
        written += whole
        asked = [frame(QUERY, what) for what in range(5)]
        assert answers(card, *asked) == [whole, 4096, written - whole, written, 0]
        assert small.take() == (records, 0)
        assert small.take() == ([], 0)
    assert written > 3 * 4096


def test_what_finds_no_room_is_lost(card: Device) -> None:
    full = [bytes([n]) * 56 for n in range(70)]
    assert answers(card, *(frame(SMALL, 56, record) for record in full)) == [0] * 63 + [-11] * 7
    assert answers(card, frame(LONGER, 0)) == [1]
    assert answers(card, frame(SMALL, 55, b"x")) == [-11]
    # 4032 bytes are used: 56 bytes and their header still fit.
    assert answers(card, frame(SMALL, 48, b"last")) == [0]
    assert card.maps["small"].take() == ([*full[:63], b"last".ljust(48, b"\0")], 9)
    assert card.maps["small"].take() == ([], 9)


def test_records_are_no_entries(card: Device) -> None:
    ring = card.maps["ring"]
    for wrong in (lambda: ring[0], ring.items, lambda: ring.set(b"", b""), lambda: ring.__delitem__(b"")):
        with pytest.raises(MapError, match="ring has records and no entries"):
            wrong()
    assert "ringbuf" in repr(ring)


def test_a_program_that_is_stopped_leaves_its_record(card: Device) -> None:
    if card.target == "soft":
        pytest.skip("no program is stopped on soft that the checker accepts")
    card.send([frame(RING, 3, b"one"), frame(DAWDLE, 0), frame(RING, 3, b"two"), frame(RING, 5, b"three")])
    # More than the 65,536 rows that it may take, six cycles each; no run waits so long.
    card.step(420_000)
    assert card.run().drops["aborted"] == 1
    assert card.maps["ring"].take() == ([b"one", b"two", b"three"], 1)


def test_what_a_program_works_on_holds_what_is_behind_it(card: Device) -> None:
    if card.target == "soft":
        pytest.skip("soft works on one frame after the other")
    # Another flow, and so another context; both of this unit.
    other = frame(RING, 3, b"two")
    other = other[:12] + b"\x08\x00\x45\x00" + (b"two" + bytes(7) + bytes([1] * 8)).ljust(64, b"\0")
    card.send([frame(RING, 3, b"one"), frame(DAWDLE, 0)])
    card.step(5_000)
    card.send(other)
    card.step(5_000)
    assert card.maps["ring"].take() == ([b"one"], 0)
    card.step(420_000)
    card.run()
    assert card.maps["ring"].take() == ([b"two"], 1)
