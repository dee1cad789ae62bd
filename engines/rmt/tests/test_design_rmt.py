# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""A card with two tenants, frame by frame against plain Python: a router at VLAN 1 and a calculator at VLAN 257."""

from __future__ import annotations

import ipaddress
import operator
import random
from pathlib import Path

import pytest
from penstock import Device, PenstockError
from rmt_frames import asked, frames
from rmt_oracle import Calculator, Card, demo_router, tenant_of
from scapy.layers.inet import IP
from scapy.layers.l2 import Ether
from scapy.utils import RawPcapReader
from system import ROOT, TARGETS, run_design, write_capture

DESIGN = ROOT / "designs/rmt.toml"
PROGRAMS = ROOT / "engines/rmt/programs"
VLANS = {1: "bob", 257: "eve"}


def captures(sent: list[tuple[int, bytes]], folder: Path) -> list[str]:
    ports = {port: [frame for at, frame in sent if at == port] for port in (0, 1)}
    return [f"{write_capture(folder / f'in{port}.pcap', of_port)}@{port}" for port, of_port in ports.items()]


def by_source(sent: list[tuple[int, bytes]]) -> list[tuple[int, bytes]]:
    """The calculator counts requests of both ports; which come first is not said. All are at port 0 then."""
    return [(0 if b"P4" in frame else port, frame) for port, frame in sent]


# The card behind its shell is a model of its own.
@pytest.mark.parametrize("target", [*TARGETS, pytest.param("fpga", marks=pytest.mark.long)])
def test_two_tenants(target: str, tmp_path: Path) -> None:
    """Every frame leaves as the model says, or is dropped and counted; the order of each port's frames stays."""
    sent = by_source(frames(seed=1, count=1200 if target == "soft" else 400))
    model = Card(VLANS, {"bob": demo_router(), "eve": Calculator()})
    run = run_design(DESIGN, captures(sent, tmp_path), tmp_path / "out", target)
    assert run.status == 0, run.stderr
    # Frames of port 0 first: that is how the calculator counts them.
    expected = model.outputs(sorted(sent, key=lambda one: one[0]))
    for port, wanted in expected.items():
        assert sorted(run.frames[port]) == sorted(wanted), port
    dropped = len(sent) - sum(map(len, expected.values()))
    assert dropped > 50 and run.result["drops"] == {"blocked": dropped}
    assert min(len(expected["port0"]), len(expected["port1"])) > 50


# Where the entries of designs/router-entries.json send a frame, by the network of its destination.
HOPS = {
    "192.0.2.": (1, "02:00:00:00:01:00", "02:00:00:00:01:01"),
    "198.51.100.": (0, "02:00:00:00:02:00", "02:00:00:00:02:02"),
}


def routed(frame: bytes) -> tuple[int, bytes] | None:
    """The frame behind the router of designs/router.toml, with its port: Scapy computes the checksum."""
    packet = Ether(frame)
    if not packet.haslayer(IP) or packet[IP].dst == "198.51.100.66":
        return None
    port, packet.src, packet.dst = next(hop for net, hop in HOPS.items() if packet[IP].dst.startswith(net))
    packet[IP].ttl -= 1
    del packet[IP].chksum
    return port, bytes(packet)


@pytest.mark.parametrize("target", TARGETS)
def test_router(target: str, tmp_path: Path) -> None:
    """Real sessions in both directions through the router of untagged frames."""
    traffic = ROOT / "designs/traffic"
    inputs = [f"{traffic}/web.outside.pcap@0", f"{traffic}/web.inside.pcap@1"]
    run = run_design(ROOT / "designs/router.toml", inputs, tmp_path / "out", target)
    assert run.status == 0, run.stderr
    sent = [bytes(frame) for one in inputs for frame, _ in RawPcapReader(one.split("@")[0])]
    behind = [out for out in map(routed, sent) if out]
    for port in (0, 1):
        wanted = [frame for at, frame in behind if at == port]
        assert len(wanted) > 150 and run.frames[f"port{port}"] == wanted
    assert run.result["drops"] == {"blocked": len(sent) - len(behind)} and len(sent) - len(behind) > 50


def test_targets_agree(tmp_path: Path) -> None:
    sent = by_source(frames(seed=2, count=300))
    runs = {target: run_design(DESIGN, captures(sent, tmp_path), tmp_path / target, target) for target in TARGETS}
    assert all(run.status == 0 for run in runs.values()), [run.stderr for run in runs.values()]
    soft, rtl = runs["soft"], runs["rtl"]
    # Frames of nobody take another way, past the unit, so the order of all is not one.
    assert {port: sorted(out) for port, out in soft.frames.items()} == {
        port: sorted(out) for port, out in rtl.frames.items()
    }
    for key in ("frames_in", "generated", "frames_out", "drops", "bytes_in", "bytes_out"):
        assert soft.result[key] == rtl.result[key], key


@pytest.mark.parametrize("target", TARGETS)
def test_service(target: str) -> None:
    """Entries, registers and default actions are what the service makes of them, and frames meet them."""
    with Device.open(DESIGN, target=target) as device:

        def rmt(ask: object) -> object:
            return device.call("rmt", ask)

        def call(kind: str, **ask: object) -> object:
            return rmt({kind: ask})

        tenants = rmt("tenants")
        assert isinstance(tenants, list)
        assert [(one["name"], one["number"], one["entries"]) for one in tenants] == [("bob", 1, 6), ("eve", 2, 5)]
        router = demo_router()
        model = Card(VLANS, {"bob": router, "eve": Calculator()})

        def check(seed: int) -> None:
            sent = by_source(frames(seed, 60))
            expected = model.outputs(sorted(sent, key=lambda one: one[0]))
            for port in (0, 1):
                device.send([frame for at, frame in sent if at == port], port=port)
            device.run()
            for port in (0, 1):
                assert sorted(device.receive(port)) == sorted(expected[f"port{port}"])

        check(3)
        route = {
            "table": "routes",
            "match": {"hdr.ipv4.dst": "11.0.0.0/24"},
            "action": "route",
            "params": {"next_hop": 2},
        }
        call("insert", tenant="bob", entry=route)
        router.routes[ipaddress.IPv4Network("11.0.0.0/24")] = 2
        check(4)
        with pytest.raises(PenstockError, match="has this entry already"):
            call("insert", tenant="bob", entry=route)
        call("modify", tenant="bob", entry={**route, "params": {"next_hop": 1}})
        router.routes[ipaddress.IPv4Network("11.0.0.0/24")] = 1
        check(5)
        call("delete", tenant="bob", entry={"table": "routes", "match": {"hdr.ipv4.dst": "10.1.2.3/32"}})
        del router.routes[ipaddress.IPv4Network("10.1.2.3/32")]
        call("delete", tenant="bob", entry={"table": "next_hops", "match": {"meta.next_hop": 1}})
        hop = router.hops.pop(1)
        check(6)
        with pytest.raises(PenstockError, match="no such entry"):
            call("delete", tenant="bob", entry={"table": "next_hops", "match": {"meta.next_hop": 1}})
        port, src, dst = hop
        params = {"port": port, "src": src.hex(":"), "dst": dst.hex(":")}
        call(
            "insert",
            tenant="bob",
            entry={"table": "next_hops", "match": {"meta.next_hop": 1}, "action": "forward", "params": params},
        )
        router.hops[1] = hop
        check(7)
        # An entry is shown as it was given.
        shown = call("entries", tenant="bob", table="routes")
        assert isinstance(shown, list)
        routes = {
            one["match"]["hdr.ipv4.dst"]: one.get("params", {}).get("next_hop") for one in shown if "match" in one
        }
        assert routes == {str(net): hop for net, hop in router.routes.items()}
        (register,) = call("registers", tenant="eve", register="requests")
        assert register["cells"] == [model.programs["eve"].count]
        call("write", tenant="eve", changes=[{"modify": {"register": "requests", "index": 0, "value": 1000}}])
        model.programs["eve"].count = 1000
        check(8)
        for ask, words in (
            ({"entries": {"table": "routes"}}, "several programs, so say whose is meant"),
            ({"entries": {"tenant": "mallory", "table": "routes"}}, "no tenant `mallory`"),
            ({"entries": {"tenant": "eve", "table": "routes"}}, "no table `routes`"),
            (
                {
                    "insert": {
                        "tenant": "eve",
                        "entry": {"table": "operators", "match": {"operator": 1}, "action": "drop"},
                    }
                },
                "const",
            ),
        ):
            with pytest.raises(PenstockError, match=words):
                rmt(ask)


def test_batches_are_whole_or_nothing() -> None:
    with Device.open(DESIGN) as device:

        def entries() -> object:
            return device.call("rmt", {"entries": {"tenant": "bob", "table": "routes"}})

        def insert(net: str) -> dict[str, object]:
            return {"insert": {"table": "routes", "match": {"hdr.ipv4.dst": net}, "action": "drop"}}

        def write(atomic: bool, *changes: object) -> list[dict[str, str] | None]:
            ask = {"write": {"tenant": "bob", "changes": list(changes), "atomic": "rollback" if atomic else "no"}}
            answer = device.call("rmt", ask)
            assert isinstance(answer, list)
            return answer

        before = entries()
        delete = {"delete": {"table": "routes", "match": {"hdr.ipv4.dst": "10.0.0.0/8"}}}
        refused = write(True, insert("1.0.0.0/8"), delete, insert("10.1.0.0/16"), insert("2.0.0.0/8"))
        assert [one and one["reason"] for one in refused] == ["aborted", "aborted", "exists", "aborted"]
        assert entries() == before
        refused = write(False, insert("1.0.0.0/8"), insert("10.1.0.0/16"), insert("2.0.0.0/8"))
        assert [one and one["reason"] for one in refused] == [None, "exists", None]
        after = entries()
        assert isinstance(before, list) and isinstance(after, list) and len(after) == len(before) + 2


def other_calculator() -> str:
    """The calculator, whose + subtracts."""
    source = (PROGRAMS / "calculator.p4").read_text()
    return source.replace("hdr.calculator.left + hdr.calculator.right", "hdr.calculator.left - hdr.calculator.right")


@pytest.mark.parametrize("target", TARGETS)
def test_a_swap_leaves_the_neighbour_alone(target: str) -> None:
    """The program of one tenant is swapped; its register begins anew, and the other's entries stay."""
    with Device.open(DESIGN, target=target) as device:

        def check(calculator: Calculator, seed: int) -> None:
            sent = by_source(frames(seed, 80))
            model = Card(VLANS, {"bob": demo_router(), "eve": calculator})
            expected = model.outputs(sorted(sent, key=lambda one: one[0]))
            assert calculator.count > 5
            for port in (0, 1):
                device.send([frame for at, frame in sent if at == port], port=port)
            device.run()
            for port in (0, 1):
                assert sorted(device.receive(port)) == sorted(expected[f"port{port}"])

        check(Calculator(), 10)
        with pytest.raises(PenstockError, match=r"other\.p4:\d+:\d+"):
            device.call("rmt", {"swap": {"tenant": "eve", "file": "other.p4", "source": other_calculator() + "}"}})
        device.call("rmt", {"swap": {"tenant": "eve", "file": "other.p4", "source": other_calculator()}})
        check(Calculator(plus=operator.sub), 10)
        tenants = device.call("rmt", "tenants")
        assert isinstance(tenants, list)
        assert [(one["name"], one["program"].split("/")[-1], one["loads"]) for one in tenants] == [
            ("bob", "router.p4", 1),
            ("eve", "other.p4", 2),
        ]


def test_a_swap_under_load() -> None:
    """On the card, while frames of both tenants arrive at line rate: each of eve's frames meets one program or the
    other as a whole, all in order; none is lost, and bob does not notice.
    """
    rng = random.Random(11)
    # Long frames, so that there is traffic for as long as a swap takes; each with a number.
    requests = [asked(rng, 257)[:38] + number.to_bytes(4, "big") + bytes(1458) for number in range(22_000)]
    few = [frame for _, frame in frames(seed=12, count=200) if tenant_of(frame, VLANS) == "bob" and b"P4" not in frame]
    others = [few[number % len(few)] + number.to_bytes(4, "big") + bytes(1200) for number in range(22_000)]
    with Device.open(DESIGN, target="rtl") as device:
        device.send(requests, port=0)
        device.send(others, port=1)
        before = len(device.step(3000))
        device.call("rmt", {"swap": {"tenant": "eve", "file": "other.p4", "source": other_calculator()}})
        assert 0 < before < len(device.step(1)) + before < len(requests)
        device.run()
        left = {port: device.receive(port) for port in (0, 1)}
    model = Card(VLANS, {"bob": demo_router(), "eve": Calculator()})
    expected = model.outputs((1, frame) for frame in others)
    for port, got in left.items():
        assert [frame for frame in got if frame[18:20] != b"P4"] == expected[f"port{port}"]
    answers = [frame for frame in left[0] if frame[18:20] == b"P4"]
    programs = [Calculator(), Calculator(plus=operator.sub)]
    answered = iter(answers)
    met = [0, 0]
    program = 0
    for request in requests:
        wanted = programs[program](0, request)
        if wanted is None:
            continue
        answer = (0, next(answered))
        if program == 0 and answer != wanted:
            program = 1
            wanted = programs[program](0, request)
        assert answer == wanted
        met[program] += 1
    assert next(answered, None) is None and min(met) > 500, met
