# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Lines that programs print: on both targets they equal those of Python's own formatting."""

from __future__ import annotations

import json
import random
import struct
import time
from pathlib import Path

import pytest
from netns import LEFT, Net, Up, finish
from system import TARGETS, DesignMaker, run_design, write_capture
from test_xdp import SEND

PROGRAM = Path(__file__).parent / "firmware" / "printed.c"


def printed(frame: bytes) -> list[str]:
    """The lines of firmware/printed.c. The last kind has too few arguments: Linux prints nothing."""
    words = struct.unpack_from("<6Q", frame, 16)
    low = [word & 0xFFFFFFFF for word in words]
    signed = [struct.unpack_from("<i", frame, 16 + 8 * n)[0] for n in range(6)]
    lines = [
        "hello",
        f"{signed[0]} and {low[1]}, 0x{low[2]:08x}",
        f"a line of more than sixty-four bytes, with [{words[0]:<21}] and [{signed[1]:+6}] in it",
        f"built {chr(ord('A') + words[0] % 16)} {chr(words[1] & 255)}%",
        " ".join(f"{word:x}" for word in words[:5]),
    ]
    return lines[frame[0] : frame[0] + 1]


@pytest.mark.parametrize("target", TARGETS)
def test_prints(target: str, make_design: DesignMaker, tmp_path: Path) -> None:
    rng = random.Random(177)
    frames = []
    for number in range(120):
        words = [rng.choice([0, 1, rng.randrange(1 << 64), (1 << 64) - rng.randrange(1, 99)]) for _ in range(6)]
        if number % 6 == 3:
            words[1] = rng.randrange(ord("a"), ord("z"))
        # All of them of one flow, and so in order.
        frames.append(bytes([number % 6]) + bytes(15) + struct.pack("<6Q", *words))
    capture = write_capture(tmp_path / "in.pcap", frames)
    run = run_design(make_design(PROGRAM, units=2, engine="xdp"), [capture], tmp_path / "out", target)
    assert run.status == 0, run.stderr
    expected = [line for frame in frames for line in printed(frame)]
    assert run.result["log"] == expected
    assert run.stdout.startswith("".join(f"log: {line}\n" for line in expected))


def test_more_lines_than_there_is_room(make_design: DesignMaker, tmp_path: Path) -> None:
    capture = write_capture(tmp_path / "in.pcap", [bytes(64)] * 700)
    run = run_design(make_design(PROGRAM, units=1, engine="xdp"), [capture], tmp_path / "out", "rtl")
    # A line takes 8 bytes for its header and 8 for sizes, 24 of arguments and 6 of format, rounded up.
    kept = (2**14 - 1) // 48
    assert run.result["log"] == ["hello"] * kept + [f"(lines lost since the load: {700 - kept})"]


def test_lines_of_a_card_that_is_up(make_design: DesignMaker, net: Net, tmp_path: Path) -> None:
    """Each line comes once, even those of a program that no longer runs."""
    up = Up(net, tmp_path, make_design(PROGRAM, units=1, engine="xdp"), driver="packet")
    frames = [bytes([kind, *bytes(15)]) + struct.pack("<6Q", *range(kind, 6 + kind)) for kind in (0, 1, 4)]
    lines = [line for frame in frames for line in printed(frame)]

    def passes(all_of_them: int) -> None:
        finish(net.python(LEFT, SEND, "l0", "1", *(frame.hex() for frame in frames)))
        end = time.monotonic() + 20
        while up.status()["drops"].get("blocked", 0) < all_of_them:
            assert time.monotonic() < end
            time.sleep(0.05)

    assert up.ctl("log") == ""
    passes(3)
    assert up.ctl("log") == "".join(f"{line}\n" for line in lines)
    assert up.ctl("log") == ""
    # A terminal obeys none of a frame's bytes.
    frames.append(bytes([3, *bytes(15)]) + struct.pack("<6Q", 0, 0x1B, 0, 0, 0, 0))
    passes(7)
    assert up.ctl("log").splitlines()[3:] == ["built A \\u{1b}%"]
    frames.pop()
    for change in (("prog", "swap"), ("reload",)):
        before = up.status()["drops"].get("blocked", 0)
        passes(before + 3)
        up.ctl(*change)
        assert json.loads(up.ctl("log", "--json")) == {"log": {"lines": lines, "lost": 0}}
    up.stop()
