# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Frames in turns find the times of their captures, and what is over by then takes no room: the
same on both targets.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from flow_card import CHAIN, TARGETS
from flow_soft import PROGRAMS
from penstock import Device, regs
from scapy.packet import Packet
from system import Run
from test_flow_cards import design_of
from test_flow_designs import play
from test_flow_programs import Bucket, S, udp

# Passes only the time at which the next one is not its flow's first.
AGING = """element one {
    key ip.src
    states NEW, KNOWN
    table 2
    new && full => drop
    udp         => goto KNOWN for 1 us, port 1
}
"""
EVICTING = """element one {
    key ip.src
    flow worth
    states NEW, KNOWN
    table 2 evict lowest
    in KNOWN { udp          => port 1 }
    udp.sport == 1          => worth = 9, goto KNOWN for 10 us, host
    udp                     => worth = udp.sport, goto KNOWN for 1000 s, host
}
"""


def taken(text: str, steps: list[tuple[int, int, Packet]], folder: Path, target: str) -> Run:
    design, _ = design_of(folder, text)
    # The tables have their declared sizes.
    (folder / "program.efsm").write_text(text)
    run = play(design, steps, folder, "--rate", "turns", target=target)
    assert run.status == 0, run.stderr
    return run


def of(host: int, sport: int = 1, data: bytes = b"") -> Packet:
    return udp(f"10.0.0.{host}", "10.9.9.9", sport, 1, data)


@pytest.mark.parametrize("target", TARGETS)
def test_what_is_over_takes_no_room(target: str, tmp_path: Path) -> None:
    """Each time, the contexts of two sources find room, because the earlier ones are over; a third source does not. In
    a microsecond, no walker has visited all places.
    """
    steps = [(time, 0, of(3 * time + n)) for time in range(1, 20) for n in range(3)]
    steps += [(5 * S * time, 0, of(100 + n)) for time in range(1, 4) for n in range(2)]
    run = taken(AGING, steps, tmp_path, target)
    passed = [bytes(packet) for at, (_, _, packet) in enumerate(steps) if at >= 57 or at % 3 < 2]
    assert run.frames["port1"] == passed and run.result["drops"] == {"blocked": 19}


@pytest.mark.parametrize("target", TARGETS)
def test_what_is_over_gives_way_first(target: str, tmp_path: Path) -> None:
    """Though it is worth more than the other one, which stays."""
    steps = [(1, 0, of(1, 1)), (2, 0, of(2, 2)), (20, 0, of(3, 3)), (21, 0, of(2, 2)), (22, 0, of(3, 3))]
    run = taken(EVICTING, steps, tmp_path, target)
    assert run.frames["port1"] == [bytes(of(2, 2)), bytes(of(3, 3))] and len(run.frames["host"]) == 3
    (element,) = [
        one for one in run.result["counters"]["inline"]["blocks"][0]["own"]["elements"] if one["name"].endswith("one")
    ]
    assert (element["evicted"], element["expired"], element["contexts"]) == (0, 1, 2)


@pytest.mark.parametrize("target", TARGETS)
def test_frames_find_their_times(target: str, tmp_path: Path) -> None:
    """Six at one time, that of the capture, the first of which is before the card was ready."""
    times = [time for time in (3, 700, S) for _ in range(6)]
    steps = [(time, 0, of(1, data=bytes(4))) for time in times]
    run = taken("element stamp { udp => data.0 = time, port 1 }\n", steps, tmp_path, target)
    assert [int.from_bytes(frame[-4:]) for frame in run.frames["port1"]] == times


@pytest.mark.parametrize("target", TARGETS)
def test_bursts_of_a_policed_source(target: str, tmp_path: Path) -> None:
    """A token arrives 1,000 us after the burst that took all, however many requests come a microsecond before."""
    counts = {1000: 12, 1999: 4, 2000: 4, 2999: 6, 4000: 3}
    steps = [(time, 0, of(1, number, b"")) for time, count in counts.items() for number in range(count)]
    run = taken((PROGRAMS / "policer.efsm").read_text(), steps, tmp_path, target)
    bucket = Bucket()
    passed = [bytes(packet) for time, port, packet in steps if bucket(time, port, packet)[0] == ("pass",)]
    assert run.frames["port1"] == passed and len(passed) == 10 + 0 + 1 + 0 + 2


def test_the_clock_goes_on_behind_turns(tmp_path: Path) -> None:
    design, _ = design_of(tmp_path, "element pass_on { udp => port 1 }\n")
    with Device.open(design, "rtl") as card:
        card.send(bytes(of(1)))
        assert len(card.run(rate="turns").at(1)) == 1
        assert card.read(CHAIN + regs.INLINE_HOLD) == 0
        before = card.flow.time
        card.step(1000)
        # 4 µs of steps, and the registers that both looks read.
        assert 2 <= card.flow.time - before <= 20
