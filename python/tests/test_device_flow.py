# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""`Device.flow`: contexts, registers, events, rows and the clock of the inline chain from Python."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator
from pathlib import Path

import pytest
from penstock import Device, FlowError, ProgramError
from penstock.flow import Context, Event
from scapy.layers.inet import IP, TCP, UDP
from scapy.layers.l2 import Ether

MACS = {"src": "02:00:00:00:00:01", "dst": "02:00:00:00:00:02"}
KNOCKS = (5123, 6234, 7345, 8456)


def tcp(source: str, port: int) -> Ether:
    return Ether(**MACS) / IP(src=source, dst="10.0.0.1") / TCP(sport=1000, dport=port, flags="S")


def design_of(folder: Path, program: Path) -> Path:
    """A card with one inline block, before a unit that forwards."""
    design = folder / "card.toml"
    design.write_text(
        f'[card]\nname = "card"\nports = 2\n[[inline]]\nname = "one"\nengine = "flow"\nprogram = "{program}"\n'
        f'[[units]]\nengine = "rpu"\ncount = 1\nprogram = "{Path("engines/rpu/programs/forward.c").resolve()}"\n'
    )
    return design


@pytest.fixture
def card(tmp_path: Path) -> Iterator[Device]:
    with Device.open(design_of(tmp_path, Path("engines/flow/programs/port_knocking.efsm").resolve())) as card:
        yield card


def test_contexts_states_and_time(card: Device) -> None:
    knock = card.flow["knock"]
    assert (list(card.flow), knock.key, knock.states[4], knock.size) == (["knock"], ("ip.src",), "OPEN", 16384)
    assert len(knock) == 0 and list(knock) == [] and knock.flow_registers == () and knock.registers == {}
    for at, port in enumerate(KNOCKS):
        card.flow.time = at * 400_000
        card.send(tcp("192.0.2.1", port))
        assert card.run().drops["blocked"] == 1
    # The door stands open for a minute from the last knock on.
    card.flow.time = 10_000_000
    left = 60_000_000 - 10_000_000 + 3 * 400_000
    open_ = Context({"ip.src": "192.0.2.1"}, "OPEN", {}, left, None, None, None, None)
    assert knock["192.0.2.1"] == knock[ipaddress.ip_address("192.0.2.1")] == open_ and list(knock) == [open_]
    card.send([tcp("192.0.2.1", 22), tcp("192.0.2.2", 22)])
    result = card.run()
    assert result.at(1) == [bytes(tcp("192.0.2.1", 22))] and result.drops["blocked"] == 1
    # Another host is let in by hand, until the time given is over.
    knock.insert(["192.0.2.2"], "OPEN", ends=1_000_000, ends_then="THREE")
    assert len(knock) == 2 and "192.0.2.2" in knock and "192.0.2.3" not in knock
    card.send(tcp("192.0.2.2", 22))
    assert len(card.run().at(1)) == 1
    card.flow.time += 1_000_000
    card.flow.time = 5
    assert card.flow.time == 11_000_000
    card.send(tcp("192.0.2.2", KNOCKS[3]))
    card.run()
    assert (knock["192.0.2.2"].state, knock["192.0.2.2"].ends) == ("OPEN", 60_000_000)
    del knock["192.0.2.1"]
    assert [event.kind for event in card.flow.events()] == ["new", "expired"] and card.flow.events() == []
    with pytest.raises(KeyError):
        del knock["192.0.2.1"]
    with pytest.raises(KeyError):
        knock["192.0.2.1"]
    knock.clear()
    assert len(knock) == 0
    card.load()
    assert card.flow.time == 0


def test_registers_events_and_rows(tmp_path: Path) -> None:
    text = """element count {
        key ip.src, udp.dport
        flow frames = 10
        global all, last = 5
        table 2
        udp => frames = frames + 1, all = all + 1, last = udp.dport, notify, port 1
    }"""
    first, second, other = (tmp_path / name for name in ("first.efsm", "second.efsm", "other.efsm"))
    first.write_text(text)
    second.write_text(text.replace("port 1", "port 0"))
    other.write_text(text.replace("table 2", "table 3"))
    frames = [
        Ether(**MACS) / IP(src=source, dst="10.0.0.1") / UDP(sport=9, dport=port)
        for source, port in (("192.0.2.1", 53), ("192.0.2.1", 53), ("192.0.2.2", 54), ("192.0.2.3", 55))
    ]
    with Device.open(design_of(tmp_path, first)) as card:
        card.send(frames)
        assert len(card.run().at(1)) == 4
        count = card.flow["count"]
        assert count.registers == {"all": 4, "last": 55} and len(count) == count.size == 2
        key = {"ip.src": "192.0.2.1", "udp.dport": 53}
        assert count[key].registers == {"frames": 12} and count["192.0.2.2", 54].registers == {"frames": 11}
        kinds = [(event.kind, event.registers["frames"]) for event in card.flow.events()]
        assert kinds == [
            ("new", 11),
            ("notified", 11),
            ("notified", 12),
            ("new", 11),
            ("full", 11),
            ("notified", 11),
            ("notified", 11),
        ]
        counters = card.counters().inline
        assert counters is not None and counters.frames == 4 and counters.elements[0].unkept == 1
        assert counters.elements[0].rows == ((6, 4),)
        with pytest.raises(FlowError, match="table of element count is full with 2 contexts"):
            count.insert(("192.0.2.9", 1))
        count.insert(key, registers={"frames": 100})
        count.set(all=2**32 - 1)
        with pytest.raises(FlowError, match="registers: give numbers of 32 bits by name, of all, last"):
            count.set(none=1)
        with pytest.raises(FlowError, match="other contexts in its table"):
            card.flow.change(other, "one")
        with pytest.raises(FlowError, match="no inline block `two`"):
            card.flow.change(second, "two")
        other.write_text("element count { bogus => drop }")
        with pytest.raises(ProgramError, match=r"other\.efsm:1:17: "):
            card.flow.change(other)
        # The rows are others, what was counted and set stays.
        card.flow.change(second)
        card.send(frames[0])
        assert len(card.run().at(0)) == 1
        assert count[key].registers == {"frames": 101} and count.registers == {"all": 0, "last": 53}
        assert card.flow.events() == [Event("notified", "count", 0, key, "", {"frames": 101})]
        with pytest.raises(KeyError, match="there are: count"):
            card.flow["cuont"]
        with pytest.raises(FlowError, match=r"no key of element count: that is ip\.src, udp\.dport"):
            count.get("192.0.2.1")


def test_a_card_without_a_chain() -> None:
    with Device.open("designs/forward.toml", units=1) as card:
        assert card.counters().inline is None
        with pytest.raises(FlowError, match="no inline chain"):
            list(card.flow)
