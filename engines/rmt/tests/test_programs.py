# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Six tenants' programs side by side on one card, with their entries: every frame leaves as in plain Python, and every
counter has counted its frames. The models are written from the programs' intent; Scapy makes and reads the frames.
"""

from __future__ import annotations

import ipaddress
import json
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from penstock import Device
from rmt_language import run
from scapy.layers.inet import ICMP, IP, TCP, UDP
from scapy.layers.l2 import ARP, Dot1Q, Ether
from scapy.packet import Packet, Raw
from system import ROOT

PROGRAMS = ROOT / "engines/rmt/programs"
Out = tuple[int, bytes] | None
Frame = tuple[int, bytes]
TENANTS = {
    "acl": "acl",
    "balancer": "load_balancer",
    "cache": "netcache",
    "chain": "netchain",
    "qos": "qos",
    "route": "source_routing",
}
VLANS = {name: 20 + number for number, name in enumerate(TENANTS)}


def entries(name: str) -> list[dict[str, Any]]:
    path = PROGRAMS / f"{TENANTS[name]}.json"
    return json.loads(path.read_text())[name] if path.exists() else []


def number(text: str | int) -> int:
    if isinstance(text, int):
        return text
    return int(ipaddress.IPv4Address(text)) if "." in text else int(text, 0)


def takes(rule: str | int | None, value: int) -> bool:
    """Whether a key of an entry, as the file has it, takes a value."""
    if rule is None:
        return True
    if isinstance(rule, str) and "&&&" in rule:
        wanted, mask = map(number, rule.split("&&&"))
        return value & mask == wanted
    if isinstance(rule, str) and ".." in rule:
        low, high = map(number, rule.split(".."))
        return low <= value <= high
    if isinstance(rule, str) and "/" in rule:
        return ipaddress.IPv4Address(value) in ipaddress.IPv4Network(rule)
    return number(rule) == value


@dataclass
class Program:
    """A tenant's program; `counts` are frames and bytes by the entry that they met."""

    name: str
    counts: Counter[tuple[str, str, str]] = field(default_factory=Counter)

    def find(self, table: str, frame: bytes, **values: int) -> dict[str, Any] | None:
        """The entry of highest priority, or of the longest prefix, that takes these values, of keys named by their
        ends.
        """

        def fits(entry: dict[str, Any]) -> bool:
            return all(
                takes(rule, values[key.replace("hdr.", "").replace(".", "_")]) for key, rule in entry["match"].items()
            )

        def rank(entry: dict[str, Any]) -> int:
            prefixes = [
                int(rule.split("/")[1]) for rule in entry["match"].values() if isinstance(rule, str) and "/" in rule
            ]
            return entry.get("priority", max(prefixes, default=0))

        fitting = [entry for entry in entries(self.name) if entry["table"] == table and fits(entry)]
        if not fitting:
            return None
        best = max(fitting, key=rank)
        key = json.dumps([best["match"], best.get("priority", 0)], sort_keys=True)
        self.counts[table, key, "packets"] += 1
        self.counts[table, key, "bytes"] += len(frame)
        return best


def ports_of(packet: Packet) -> tuple[int, int]:
    """Of IPv4 without options, whose fragment is the first one; else 0."""
    ip = packet[IP]
    if ip.frag == 0 and (TCP in packet or UDP in packet):
        return packet.payload.payload.payload.sport, packet.payload.payload.payload.dport
    return 0, 0


def with_class(frame: bytes, number: int) -> bytes:
    packet = Ether(frame)
    packet[IP].tos = number << 2 | packet[IP].tos & 3
    del packet[IP].chksum
    return bytes(packet)


@dataclass
class Acl(Program):
    classified: Counter[int] = field(default_factory=Counter)

    def __call__(self, port: int, frame: bytes) -> Out:
        packet = Ether(frame)
        if IP not in packet:
            return port ^ 1, frame
        ip, (_, dport) = packet[IP], ports_of(packet)
        src, dst = (int(ipaddress.IPv4Address(address)) for address in (ip.src, ip.dst))
        chosen = self.find("classes", frame, ipv4_dst=dst, ipv4_protocol=ip.proto)
        out = with_class(frame, chosen["params"]["class"]) if chosen else frame
        self.classified[chosen["params"]["class"] if chosen else -1] += 1
        line = self.find("lines", frame, ipv4_src=src, ipv4_dst=dst, ipv4_protocol=ip.proto, ports_dst=dport)
        action = line["action"] if line else "permit"
        if action == "deny":
            return None
        return (line["params"]["port"] if line and action == "redirect" else port ^ 1), out


class Balancer(Program):
    def __call__(self, port: int, frame: bytes) -> Out:
        packet = Ether(frame)
        if IP not in packet or ports_of(packet) == (0, 0):
            return port ^ 1, frame
        ip, (sport, dport) = packet[IP], ports_of(packet)
        src, dst = (int(ipaddress.IPv4Address(address)) for address in (ip.src, ip.dst))
        values = {"ipv4_src": src, "ipv4_dst": dst, "ports_src": sport, "ports_dst": dport, "ipv4_protocol": ip.proto}
        entry = self.find("flows", frame, **values) or self.find("shares", frame, **values)
        if entry is None:
            return port ^ 1, frame
        return entry["params"]["port"], bytes.fromhex(entry["params"]["address"].replace(":", "")) + frame[6:]


@dataclass
class Cache(Program):
    values: dict[int, int] = field(default_factory=dict)

    def __call__(self, port: int, frame: bytes) -> Out:
        if frame[16:18] != b"\x12\x36" or len(frame) < 30:
            return port ^ 1, frame
        op, key = frame[18], int.from_bytes(frame[22:26], "big")
        entry = self.find("cached", frame, cache_op=op, cache_key=key)
        if entry is None:
            return port ^ 1, frame
        if entry["action"] == "put":
            self.values[entry["params"]["index"]] = int.from_bytes(frame[26:30], "big")
            return port ^ 1, frame
        value = self.values.get(entry["params"]["index"], 0)
        return port, frame[:18] + b"\x03" + frame[19:26] + value.to_bytes(4, "big") + frame[30:]


@dataclass
class Chain(Program):
    numbers: Counter[int] = field(default_factory=Counter)

    def __call__(self, port: int, frame: bytes) -> Out:
        if frame[16:18] != b"\x12\x35" or len(frame) < 26:
            return None
        entry = self.find("chains", frame, chain_id=int.from_bytes(frame[18:20], "big"))
        if entry is None:
            return None
        index, to = entry["params"]["index"], entry["params"]["port"]
        self.numbers[index] += 1
        return to, frame[:22] + self.numbers[index].to_bytes(4, "big") + frame[26:]


class Qos(Program):
    def __call__(self, port: int, frame: bytes) -> Out:
        packet = Ether(frame)
        if IP not in packet:
            return port ^ 1, frame
        sport, dport = ports_of(packet)
        rule = self.find("rules", frame, ipv4_protocol=packet[IP].proto, ports_src=sport, ports_dst=dport)
        return port ^ 1, with_class(frame, rule["params"]["class"] if rule else 0)


@dataclass
class Route(Program):
    hops: Counter[int] = field(default_factory=Counter)

    def __call__(self, port: int, frame: bytes) -> Out:
        if frame[16:18] != b"\x12\x37" or len(frame) < 22:
            return None
        last, port = frame[18] >> 7, frame[19]
        self.hops[last] += 1
        return port, frame[:16] + (b"\x08\0" if last else b"\x12\x37") + frame[22:]


ORACLES: dict[str, Callable[[str], Program]] = {
    "acl": Acl, "balancer": Balancer, "cache": Cache, "chain": Chain, "qos": Qos, "route": Route,
}  # fmt: skip


def internet(rng: random.Random, tenant: str) -> Packet:
    src = rng.choice(["10.0.0.1", "10.1.0.9", "10.1.255.254", "10.2.0.2", "11.0.0.4", "192.0.2.1"])
    dst = rng.choice(
        ["10.2.3.7", "10.2.3.4", "10.2.9.7", "10.9.9.9", "192.168.1.7", "192.168.2.2", "192.0.2.80", "192.0.2.80"]
    )
    sport = rng.choice([1, 22, 1023, 1024, 5001, 5001, 65535])
    dport = rng.choice([0, 79, 80, 80, 80, 443, 444, 999, 1000, 1500, 1999, 2000, 5060, 5061, 5062])
    protocol = rng.choice([TCP(sport=sport, dport=dport), UDP(sport=sport, dport=dport), ICMP()])
    if tenant == "balancer" and rng.random() < 0.5:
        dst, protocol = "192.0.2.80", TCP(sport=rng.choice([5001, 5002]), dport=80)
        src = rng.choice(["10.1.0.9", "10.1.0.8"])
    ip = IP(src=src, dst=dst, tos=rng.randrange(256), id=rng.randrange(65536), frag=rng.choice([0, 0, 0, 0, 9]))
    return ip / protocol


def made(rng: random.Random, tenant: str) -> bytes:
    """A frame of a tenant; some are not for its program."""
    head = Ether(src="02:aa:00:00:00:01", dst="02:bb:00:00:00:02") / Dot1Q(vlan=VLANS[tenant])
    if rng.random() < 0.08:
        frame = bytes(head / ARP())
    elif tenant == "cache":
        head[Dot1Q].type = 0x1236
        key = rng.choice([7, 3_000_000_000, 8])
        frame = bytes(head) + bytes([rng.choice([1, 1, 2, 3]), 0, 0, 0]) + key.to_bytes(4, "big") + rng.randbytes(4)
    elif tenant == "chain":
        head[Dot1Q].type = 0x1235
        frame = bytes(head) + rng.choice([1, 500, 501]).to_bytes(2, "big") + bytes(6)
    elif tenant == "route":
        head[Dot1Q].type = 0x1237
        # Routes of up to six hops: the parser takes four.
        hops = [bytes([0, rng.randrange(2), 0, 0]) for _ in range(rng.randrange(6))]
        frame = bytes(head) + b"".join(hops) + bytes([0x80, rng.randrange(2), 0, 0])
    else:
        frame = bytes(head / internet(rng, tenant) / Raw(rng.randbytes(8)))
    return frame + rng.randbytes(max(0, rng.choice([60, 64, 90, 130, 400]) - len(frame)))


def design(folder: Path) -> Path:
    """The card of all tenants, and a file of all their entries."""
    (folder / "entries.json").write_text(json.dumps({name: entries(name) for name in TENANTS if entries(name)}))
    tenants = "".join(f'[[tenants]]\nname = "{name}"\nvlan = {vlan}\n' for name, vlan in VLANS.items())
    programs = ", ".join(f'{name} = "{PROGRAMS / file}.p4"' for name, file in TENANTS.items())
    path = folder / "programs.toml"
    path.write_text(
        f'[card]\nname = "programs"\nports = 2\n{tenants}[[inline]]\nengine = "rmt"\nrmt.programs = {{ {programs} }}\n'
        'rmt.entries = "entries.json"\n[[units]]\nengine = "rpu"\ncount = 1\n'
        f'program = "{ROOT}/engines/rpu/programs/forward.c"\n'
    )
    return path


def test_rows_of_source_routing() -> None:
    """`soft`, and the program's rows on the model of the machine."""
    rng, oracle = random.Random(2), Route("route")
    frames = [(rng.randrange(2), made(rng, "route")) for _ in range(500)]
    ran = run("source_routing.p4", (PROGRAMS / "source_routing.p4").read_text(), [], frames, stages=3)
    assert ran.faults is None and ran.refused is None and ran.card is not None, (ran.faults, ran.refused)
    for (port, frame), soft, card in zip(frames, ran.soft, ran.card, strict=True):
        out = oracle(port, frame)
        want = ("drop", b"") if out is None else (f"port {out[0]}", out[1])
        assert soft == want, frame
        assert card == want, frame
    assert min(oracle.hops.values()) > 50


# On rtl the seven programs and their entries take minutes to load.
@pytest.mark.parametrize("target", ["soft", pytest.param("rtl", marks=pytest.mark.long)])
def test_programs(target: str, tmp_path: Path) -> None:
    rng = random.Random(1)
    oracles: dict[str, Any] = {name: ORACLES[name](name) for name in TENANTS}
    with Device.open(design(tmp_path), target=target) as device:

        def send(count: int) -> int:
            """Frames at port 0 and then at port 1, so that programs that remember see them in one order. How many are
            dropped.
            """
            dropped = 0
            for port in (0, 1):
                frames = [(name, made(rng, name)) for name in rng.choices(list(TENANTS), k=count)]
                wanted: dict[int, list[bytes]] = {0: [], 1: []}
                for name, frame in frames:
                    out = oracles[name](port, frame)
                    if out is None:
                        dropped += 1
                    else:
                        wanted[out[0]].append(out[1])
                device.send([frame for _, frame in frames], port=port)
                device.run()
                for to, some in wanted.items():
                    assert device.receive(to) == some, (port, to)
            return dropped

        def check_counters() -> None:
            for name, tables in (
                ("acl", ["lines"]),
                ("balancer", ["flows", "shares"]),
                ("cache", ["cached"]),
                ("chain", ["chains"]),
                ("qos", ["rules"]),
            ):
                for table in tables:
                    bytes_too = name not in ("cache", "chain")
                    for one in entries(name):
                        if one["table"] != table:
                            continue
                        key = json.dumps([one["match"], one.get("priority", 0)], sort_keys=True)
                        counts = oracles[name].counts
                        wanted = (counts[table, key, "packets"], counts[table, key, "bytes"] if bytes_too else 0)
                        shown = device.call("rmt", {"entries": {"tenant": name, "table": table}})
                        assert isinstance(shown, list)
                        mine = [each for each in shown if same(each, one)]
                        assert len(mine) == 1, (one, shown)
                        assert (mine[0]["count"]["packets"], mine[0]["count"]["bytes"]) == wanted, one
            (classified,) = cells("acl", "classified")
            assert [one["packets"] for one in classified] == [oracles["acl"].classified[number] for number in range(64)]
            (hops,) = cells("route", "hops")
            assert [one["packets"] for one in hops] == [oracles["route"].hops[last] for last in range(2)]

        def cells(tenant: str, counter: str) -> list[list[dict[str, int]]]:
            answer = device.call("rmt", {"counters": {"tenant": tenant, "counter": counter}})
            assert isinstance(answer, list)
            return [one["cells"] for one in answer]

        dropped = send(300)
        assert dropped > 20
        check_counters()
        met = {(name, table) for name in TENANTS for table, *_ in oracles[name].counts}
        assert len(met) == 7 and all(oracles["route"].hops[last] for last in range(2))


def same(shown: dict[str, Any], given: dict[str, Any]) -> bool:
    """Whether an entry is shown that was given: the same keys take the same values."""

    def canonical(entry: dict[str, Any]) -> dict[str, object]:
        def one(rule: str | int) -> object:
            for between in ("&&&", ".."):
                if isinstance(rule, str) and between in rule:
                    first, second = map(number, rule.split(between))
                    # The card shows a mask of the field's whole width as the value alone.
                    return first if between == "&&&" and second in (0xFF, 0xFFFF, 0xFFFFFFFF) else (first, second)
            return rule if isinstance(rule, str) and "/" in rule else number(rule)

        return {key: one(rule) for key, rule in entry.get("match", {}).items()}

    return canonical(shown) == canonical(given) and shown.get("priority", 0) == given.get("priority", 0)
