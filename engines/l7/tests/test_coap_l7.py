# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""designs/l7-coap.toml on requests of libcoap's client and answers of its server: Scapy reads each request, and plain
Python says where it goes.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from penstock import Device
from scapy.contrib.coap import CoAP
from scapy.layers.inet import UDP
from scapy.layers.l2 import Ether
from scapy.utils import rdpcap
from system import ROOT, TARGETS

TRAFFIC = ROOT / "designs/traffic"
DESIGN = ROOT / "designs/l7-coap.toml"
# A walker takes a request every 10 to 20 cycles; line rate is faster.
RATES: dict[str, float | None] = {"soft": None, "rtl": 5}
UNREADABLE = b"\x40\x03\0\7\xbfvalley"


def frames(name: str) -> list[bytes]:
    return [bytes(packet) for packet in rdpcap(str(TRAFFIC / name))]


def where(frame: bytes) -> tuple[int | str, int] | None:
    """Port and queue of a frame of a client by the description of sensors.l7."""
    packet = Ether(frame)
    if UDP not in packet or packet[UDP].dport != 5683:
        return 1, 0
    request = CoAP(bytes(packet[UDP].payload))
    options: dict[str, list[bytes]] = {}
    for name, value in request.options:
        options.setdefault(name, []).append(value)
    segments = options.get("Uri-Path", [])
    media = int.from_bytes(options["Content-Format"][0], "big") if "Content-Format" in options else None
    if segments[:1] == [b"firmware"] and len(segments) > 1:
        return (2, 0) if request.code == 1 else None
    is_level = len(segments) == 3 and (segments[0], segments[2]) == (b"valley", b"level")
    if is_level and request.code in (2, 3) and media in (0, 50):
        return "host", 1 if media == 50 else 0
    return 1, 0


@pytest.mark.parametrize("target", TARGETS)
def test_requests_and_answers_of_libcoap(target: str) -> None:
    sent, answers = frames("sensors.outside.pcap"), frames("sensors.inside.pcap")
    wanted = [(frame, place) for frame in sent if (place := where(frame))]
    with Device.open(DESIGN, target) as card:
        card.send(sent, port=0)
        card.send(answers, port=1)
        left = [(bytes(frame), (frame.port, frame.mark & 0xFFFF)) for frame in card.run(rate=RATES[target]).frames]
        rules = card.call("l7", "rules")
        counters = card.call("l7", "counters")
    assert Counter(left) == Counter(wanted) + Counter((answer, (0, 0)) for answer in answers)
    assert isinstance(rules, list) and isinstance(counters, list)
    hits = {rule["rule"]: rule["messages"] for rule in rules if rule["message"]}
    # Five clients: 5 levels as text and one in JSON, a read of firmware and two attempts to change it, five others.
    assert hits == {"level": 25, "level_json": 5, "firmware": 5, "no_upload": 10, "default": 25}
    assert [(one["denied"], one["malformed"]) for one in counters] == [(10, 0)]


@pytest.mark.parametrize("target", TARGETS)
def test_requests_that_the_card_cannot_read_are_counted(target: str) -> None:
    """They get the default of the application, which counts them."""
    first = frames("sensors.outside.pcap")[1]
    packet = Ether(first)
    packet[UDP].remove_payload()
    del packet[UDP].len, packet[UDP].chksum, packet["IP"].len, packet["IP"].chksum
    liar = bytes(packet / UNREADABLE)
    with Device.open(DESIGN, target) as card:
        card.send([liar, first, liar])
        left = [(bytes(frame), frame.port) for frame in card.run().frames]
        rules = card.call("l7", "rules")
    assert Counter(left) == Counter([(liar, 1), (liar, 1), (first, "host")])
    assert isinstance(rules, list)
    assert [rule["messages"] for rule in rules if not rule["message"]] == [2]


@pytest.mark.parametrize("name", ["sensors", "logins", "edge"])
def test_programs_compile(name: str, tmp_path: Path) -> None:
    """As they stand in programs/, on a card of four ports."""
    design = DESIGN.read_text().replace("ports = 3", "ports = 4").replace("sensors.l7", f"{name}.l7")
    (tmp_path / "card.toml").write_text(design.replace("../engines", str(ROOT / "engines")))
    with Device.open(tmp_path / "card.toml", "soft") as card:
        apps = card.call("l7", "apps")
    assert isinstance(apps, list) and [app["name"] for app in apps] == [name]
