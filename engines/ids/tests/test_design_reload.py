# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Rules that are exchanged in the middle of a stream, on both targets, through the service `ids`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from ids_soft import frame
from penstock import Device, PenstockError
from system import ROOT, TARGETS
from test_rules import SECRET, handshake, sent

DESIGN = ROOT / "designs/ids.toml"
TWO = 'alert tcp any any -> any any (content:"first-part"; content:"second-part"; distance:0; sid:2;)'
THREE = 'alert tcp any any -> any any (content:"other words"; sid:3;)'


def reload(*rules: str) -> dict[str, Any]:
    return {"reload": {"files": [{"name": "new.rules", "text": "\n".join(rules) + "\n"}]}}


@pytest.mark.parametrize("target", TARGETS)
def test_rules_are_exchanged_in_a_stream(target: str, tmp_path: Path) -> None:
    rules = tmp_path / "before.rules"
    rules.write_text(f"{SECRET}\n{TWO}\n")
    with Device.open(DESIGN, target, tables={"rules": rules}) as card:

        def sids(*segments: tuple[int, bytes]) -> list[int]:
            card.send([frame(packet) for packet in sent(*segments)])
            card.run()
            alerts = card.call("ids", "alerts")
            assert isinstance(alerts, list)
            return [alert["alert"]["signature_id"] for alert in alerts]

        card.send([frame(packet) for packet in handshake()])
        assert sids((100, b"first-part"), (110, b"secret word other w")) == [1]
        with pytest.raises(PenstockError, match=r"new\.rules:1: .*`rfb\.name` is not supported"):
            card.call("ids", reload('alert tcp any any -> any any (rfb.name; content:"x"; sid:9;)'))
        assert card.call("ids", reload(THREE, TWO)) == []
        # A rule that stays continues; a new one also finds a string that began before the reload.
        assert sids((129, b"ords second-part"), (145, b"secret word")) == [3, 2]
        assert card.call("ids", reload(SECRET)) == []
        assert sids((156, b"other words, secret word")) == [1]
        stats = card.call("ids", "stats")
        assert isinstance(stats, dict)
        assert (stats["detect"]["reloads"], stats["detect"]["alerts"]) == (2, 4)
        listed = card.call("ids", {"rules": {"hits": True}})
        assert isinstance(listed, list)
        assert [(rule["sid"], rule["hits"], rule["place"]) for rule in listed] == [(1, 1, "new.rules:1")]


@pytest.mark.parametrize("target", TARGETS)
def test_counters_begin_with_a_load(target: str, tmp_path: Path) -> None:
    """A load begins with counters of 0, those of the card's registers included; an exchange of rules keeps them."""
    rules = tmp_path / "one.rules"
    rules.write_text(SECRET)
    frames = [frame(packet) for packet in [*handshake(), *sent((100, b"secret word"))]]

    def counted(card: Device) -> tuple[int, ...]:
        card.send(frames)
        card.run()
        stats = card.call("ids", "stats")
        assert isinstance(stats, dict)
        if target == "soft":
            return (stats["frames"]["frames"], stats["detect"]["alerts"])
        own = stats["card"]
        return (own["frames"], own["told"], own["strings"], own["told_string"], stats["detect"]["alerts"])

    with Device.open(DESIGN, target, tables={"rules": rules}) as card:
        first = counted(card)
        assert first[0] == len(frames) and min(first) > 0
        card.load(tables={"rules": rules})
        assert counted(card) == first
        assert card.call("ids", reload(THREE)) == []
        assert counted(card)[0] == 2 * len(frames)
