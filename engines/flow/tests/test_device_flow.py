# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""`Device.flow`: contexts, registers, events, rows and the clock of the inline chain from Python."""

from __future__ import annotations

import ipaddress
from pathlib import Path

import pytest
from penstock import DesignError, Device, FlowError, ProgramError, flow_counters
from penstock.flow import Context, Event
from scapy.layers.inet import IP, TCP, UDP
from scapy.layers.l2 import Ether

ROOT = Path(__file__).resolve().parents[3]
MACS = {"src": "02:00:00:00:00:01", "dst": "02:00:00:00:00:02"}
KNOCKS = (5123, 6234, 7345, 8456)
HOUR = 3600 * 1_000_000


def tcp(source: str, port: int) -> Ether:
    return Ether(**MACS) / IP(src=source, dst="10.0.0.1") / TCP(sport=1000, dport=port, flags="S")


# The clock of a card in RTL goes on with its cycles: its maximum lead, in µs.
SLACK = {"soft": 0, "rtl": 20_000}


# A second element, which does nothing, so that all cards are of a kind that other tests also build
# (engines/flow/tests/test_flow_cards.py).
REST = "\nelement rest { port == 255 => drop }\n"
CONTEXTS = 62


def design_of(folder: Path, program: str, rest: str = REST) -> Path:
    """A card with one inline block, before a unit that forwards."""
    (folder / "one.efsm").write_text(program + rest)
    design = folder / "card.toml"
    design.write_text(
        '[card]\nname = "card"\nports = 2\n[[inline]]\nname = "one"\nengine = "flow"\nprogram = "one.efsm"\n'
        f"flow.contexts = {CONTEXTS}\n"
        f'[[units]]\nengine = "rpu"\ncount = 1\nprogram = "{ROOT / "engines/rpu/programs/forward.c"}"\n'
    )
    return design


def udp(source: str, port: int) -> Ether:
    return Ether(**MACS) / IP(src=source, dst="10.0.0.1") / UDP(sport=9, dport=port)


def test_contexts_states_and_time(tmp_path: Path, target: str) -> None:
    slack = SLACK[target]
    # Expired contexts return to this state, so on both targets a test can let hosts in for a time.
    text = (ROOT / "engines/flow/programs/port_knocking.efsm").read_text()
    text = text.replace("goto OPEN for 60 s,", "goto OPEN for 60 s then THREE,")
    with Device.open(design_of(tmp_path, text, rest=""), target) as card:
        knock = card.flow["knock"]
        assert (list(card.flow), knock.key, knock.states[4]) == (["gate", "knock"], ("ip.src",), "OPEN")
        assert knock.size == CONTEXTS
        assert len(knock) == 0 and list(knock) == [] and knock.flow_registers == () and knock.registers == {}
        for at, port in enumerate(KNOCKS):
            card.flow.time = at * 400_000
            card.send(tcp("192.0.2.1", port))
            assert card.run().drops["blocked"] == 1
        # The door is open for a minute after the last knock.
        card.flow.time = 10_000_000
        left = 60_000_000 - 10_000_000 + 3 * 400_000
        found = knock["192.0.2.1"]
        assert found.ends is not None and abs(found.ends - left) <= slack
        open_ = Context({"ip.src": "192.0.2.1"}, "OPEN", {}, found.ends, "THREE", None, None, None)
        assert found == open_ and [context.key for context in knock] == [open_.key]
        assert knock[ipaddress.ip_address("192.0.2.1")].state == "OPEN"
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
        assert 0 <= card.flow.time - 11_000_000 <= slack
        card.send(tcp("192.0.2.2", KNOCKS[3]))
        card.run()
        found = knock["192.0.2.2"]
        assert found.state == "OPEN" and found.ends is not None and 0 <= 60_000_000 - found.ends <= slack
        del knock["192.0.2.1"]
        events = card.flow.events()
        assert [event.kind for event in events] == ["new", "expired"] and card.flow.events() == []
        for event, time in zip(events, (0, 11_000_000), strict=True):
            assert 0 <= event.time - time <= slack
        with pytest.raises(KeyError):
            del knock["192.0.2.1"]
        with pytest.raises(KeyError):
            knock["192.0.2.1"]
        # An hour later, and then more than 32 bits of µs later: expired contexts have ended, and stay so.
        for hours in (1, 3):
            card.flow.time += hours * HOUR
        assert 0 <= card.flow.time - 11_000_000 - 4 * HOUR <= 3 * slack
        assert knock["192.0.2.2"] == Context({"ip.src": "192.0.2.2"}, "THREE", {}, None, None, None, None, None)
        [expired] = card.flow.events()
        assert (expired.kind, expired.state) == ("expired", "OPEN")
        knock.clear()
        assert len(knock) == 0
        # Another load starts without the old contexts, the events that were not taken, and the frames in flight.
        card.send([tcp(f"192.0.2.{host}", KNOCKS[0]) for host in range(60)])
        if target == "rtl":
            card.step(400)
        else:
            card.run()
        card.load()
        assert card.flow.time <= slack and len(knock) == 0 and card.flow.events() == []
        card.send(tcp("192.0.2.1", KNOCKS[0]))
        assert card.run().drops["blocked"] == 1 and len(knock) == 1


def test_registers_events_and_rows(tmp_path: Path, target: str) -> None:
    text = """element count {
        key ip.src, udp.dport
        flow frames = 10
        global all, last = 5
        table 2
        udp => frames = frames + 1, all = all + 1, last = udp.dport, notify, port 1
    }"""
    second, other = (tmp_path / name for name in ("second.efsm", "other.efsm"))
    second.write_text(text.replace("port 1", "port 0") + REST)
    other.write_text(text.replace("table 2", "table 3") + REST)
    frames = [udp("192.0.2.1", 53), udp("192.0.2.1", 53), udp("192.0.2.2", 54), udp("192.0.2.3", 55)]
    with Device.open(design_of(tmp_path, text), target) as card:
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
        counters = flow_counters(card.counters())
        assert counters is not None and counters.frames == 4 and counters.elements[0].unkept == 1
        assert counters.elements[0].rows == ((6, 4),)
        with pytest.raises(FlowError, match="table of element count is full with 2 contexts"):
            count.insert(("192.0.2.9", 1))
        count.insert(key, registers={"frames": 100})
        count.set(all=2**32 - 1)
        with pytest.raises(FlowError, match="registers: give numbers of 32 bits by name, of all, last"):
            count.set(none=1)
        with pytest.raises(ProgramError, match="other contexts in its table"):
            card.flow.change(other, "one")
        with pytest.raises(DesignError, match="none is named `two`; there are: one"):
            card.flow.change(second, "two")
        other.write_text("element count { bogus => drop }")
        with pytest.raises(ProgramError, match=r"other\.efsm:1:17: "):
            card.flow.change(other)
        # The rows are new; counters and registers stay.
        card.flow.change(second)
        card.send(frames[0])
        assert len(card.run().at(0)) == 1
        assert count[key].registers == {"frames": 101} and count.registers == {"all": 0, "last": 53}
        [event] = card.flow.events()
        assert event == Event("notified", "count", event.time, key, "", {"frames": 101})
        assert 0 <= event.time <= 2 * SLACK[target]
        with pytest.raises(KeyError, match="there are: count"):
            card.flow["cuont"]
        with pytest.raises(FlowError, match=r"no key of element count: that is ip\.src, udp\.dport"):
            count.get("192.0.2.1")


def test_timeouts_keep_their_meaning(tmp_path: Path, target: str) -> None:
    """Rows change, and with them the timeouts that they name and the order of these: contexts end as the rows said that
    made them.
    """
    rows = [
        "udp.dport == 1 => goto B for 5 s then A",
        "udp.dport == 2 => goto B for 50 s then C",
        "udp.dport == 3 => goto C for 500 s",
    ]
    text = (
        "element timed {{ key ip.src states A, B, C in A {{ {} }} in B {{ udp => port 1 }} in C {{ udp => port 0 }} }}"
    )
    changed = tmp_path / "changed.efsm"
    changed.write_text(text.format(" ".join(["udp.dport == 4 => goto B for 7 s", *reversed(rows)])) + REST)
    sources = [f"192.0.2.{port}" for port in range(1, 5)]
    with Device.open(design_of(tmp_path, text.format(" ".join(rows))), target) as card:
        timed = card.flow["timed"]
        card.send([udp(source, port) for port, source in enumerate(sources[:3], 1)])
        card.run()
        before = [timed[source] for source in sources[:3]]
        card.flow.change(changed)
        for context, source, ends in zip(before, sources, (5, 50, 500), strict=False):
            after = timed[source]
            assert after.state == context.state and after.ends_then == context.ends_then and after.ends is not None
            assert 0 <= ends * 1_000_000 - after.ends <= 2 * SLACK[target]
        card.send(udp(sources[3], 4))
        card.run()
        # After 10 s, 100 s, 1,000 s: expired contexts go to the state of their row.
        there = []
        for power in (1, 2, 3):
            card.flow.time = 10**power * 1_000_000
            there.append([context.state if (context := timed.get(source)) else None for source in sources])
        assert there == [["A", "B", "C", None], ["A", "C", "C", None], ["A", "C", None, None]]


def test_a_card_without_a_chain() -> None:
    with Device.open(ROOT / "designs/forward.toml", units=1) as card:
        assert flow_counters(card.counters()) is None
        with pytest.raises(FlowError, match="this design has none"):
            list(card.flow)


def test_a_state_machine_finds_the_inline_block(tmp_path: Path) -> None:
    design = design_of(tmp_path, "element gate { ip => drop }")
    other = tmp_path / "other.efsm"
    other.write_text("element gate { ip => port 1 }")
    with Device.open(design, program=other) as card:
        card.send(udp("192.0.2.1", 1))
        assert len(card.run().at(1)) == 1
        other.write_text("element gate { ip => port 0 }")
        card.swap(other)
        card.send(udp("192.0.2.1", 1))
        assert len(card.run().at(0)) == 1
    with pytest.raises(DesignError, match="and the design has none"):
        Device.open(ROOT / "designs/forward.toml", program=other)


def test_all_elements_change_between_the_same_two_frames(tmp_path: Path, target: str) -> None:
    """A frame that meets an element of one program and then an element of another would be dropped. No frame is
    dropped, and none is lost.
    """
    text = "element one {{\n ip => meta0 = {0}\n}}\nelement two {{\n meta0 == {0} => opposite\n ip => drop\n}}"
    frames = [bytes(udp("192.0.2.1", number) / bytes(1000)) for number in range(2000)]
    left = []
    with Device.open(design_of(tmp_path, text.format(1), ""), target) as card:
        for number in (2, 3):
            card.send(frames)
            if target == "rtl":
                card.step(1000)
            else:
                left += card.run().at(1)
            other = tmp_path / "other.efsm"
            other.write_text(text.format(number))
            card.flow.change(other)
            counters = flow_counters(card.counters())
            assert counters is not None and counters.changes == number - 1
            assert target == "soft" or counters.frames < (number - 1) * len(frames), (
                "all frames had gone before the change"
            )
        card.send(frames)
        result = card.run()
        left += result.at(1)
    assert left == 3 * frames
    assert not any(result.drops.values())


def test_events_are_kept_by_their_kinds(tmp_path: Path, target: str) -> None:
    """A flood of new flows fills the queue, and the events of rows are lost unless only those are selected."""
    text = (
        "element guard {\n key ip.src\n flow age\n table 62 evict lowest\n udp.dport == 7 => notify, drop\n"
        " ip => keep, drop\n}"
    )
    flood = [udp(f"10.1.{number >> 8}.{number & 255}", 5) for number in range(4200)]
    with Device.open(design_of(tmp_path, text), target) as card:
        guard = card.flow["guard"]
        for kinds, expected in (("new", "notified"), {"new", "notified"}), (("notified",), {"notified"}), ((), set()):
            guard.tell(*kinds)
            card.send([udp("192.0.2.1", 7), udp("192.0.2.2", 5)])
            card.run()
            assert {event.kind for event in card.flow.events()} == expected
            guard.clear()
        guard.tell("notified")
        card.send([*flood, udp("192.0.2.1", 7)])
        card.run()
        assert [(event.kind, event.key) for event in card.flow.events()] == [("notified", {"ip.src": "192.0.2.1"})]
        counters = flow_counters(card.counters())
        assert counters is not None and counters.events_lost == 0
        with pytest.raises(
            FlowError, match="no events of the kind `all`; there are: expired, evicted, new, full, notified"
        ):
            guard.tell("all")
        # A load forgets that.
        card.load()
        card.send(udp("192.0.2.1", 5))
        card.run()
        assert [event.kind for event in card.flow.events()] == ["new"]
