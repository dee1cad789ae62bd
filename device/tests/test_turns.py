# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Frames in turns: a stateful program handles captures of several ports in the order of their
times, on both targets.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from penstock import Device, regs
from scapy.layers.inet import IP, TCP, UDP
from scapy.layers.l2 import Ether
from scapy.utils import RawPcapReader
from system import ROOT, TARGETS, DesignMaker, run_design

TRAFFIC = ROOT / "designs" / "traffic"
Sides = tuple[str, str]


def frames_of(capture: str, sides: Sides) -> list[tuple[float, int, bytes]]:
    """Frames of both sides by their times: time, port, and frame."""
    frames = []
    for port, side in enumerate(sides):
        for data, meta in RawPcapReader(str(TRAFFIC / f"{capture}.{side}.pcap")):
            frames.append((meta.sec + meta.usec / 1e9, port, bytes(data)))
    return sorted(frames, key=lambda frame: frame[0])


def ends(packet: Ether) -> tuple | None:
    """A flow of TCP or UDP, whichever way."""
    ports = next((packet[layer] for layer in (TCP, UDP) if layer in packet), None)
    return (
        None
        if ports is None
        else (packet[IP].proto, frozenset([(packet[IP].src, ports.sport), (packet[IP].dst, ports.dport)]))
    )


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("sides", [("outside", "inside"), ("inside", "outside")])
@pytest.mark.parametrize("capture", ["web", "names"])
def test_a_firewall_sees_questions_before_answers(capture: str, sides: Sides, target: str, tmp_path: Path) -> None:
    """With the servers at port 0 the first call of each connection is stopped, and none is answered; with the clients
    there all pass.
    """
    inputs = [f"{TRAFFIC / capture}.{side}.pcap@{port}" for port, side in enumerate(sides)]
    run = run_design(ROOT / "designs/xdp-firewall.toml", inputs, tmp_path, target, "--units", "2", "--rate", "turns")
    assert run.status == 0, run.stderr
    begun, blocked = set(), 0
    left: dict[str, list[bytes]] = {"port0": [], "port1": [], "host": []}
    for _, port, data in frames_of(capture, sides):
        flow = ends(Ether(data))
        if flow is None:
            left["host"].append(data)
        elif port == 0 or flow in begun:
            begun |= {flow} if port == 0 else set()
            left[f"port{port ^ 1}"].append(data)
        else:
            blocked += 1
    assert {name: run.frames.get(name, []) for name in left} == left
    assert run.result["drops"] == ({"blocked": blocked} if blocked else {})
    assert (blocked > 0) == (sides[0] == "inside")


COUNTS = """
#include <packet.h>

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __type(key, __u32);
  __type(value, __u32);
  __uint(max_entries, 1);
} counts SEC(".maps");

SEC("xdp") int count(struct xdp_md *ctx) {
  __u32 *words = frame_start(ctx), zero = 0;
  if ((void *)(words + 4) > frame_end(ctx)) return XDP_DROP;
  __u32 *count = bpf_map_lookup_elem(&counts, &zero);
  if (!count) return XDP_DROP;
  __u32 before = *count, mixed = words[0];
#pragma clang loop unroll(disable)
  for (int i = 0; i < 300; i++) mixed = (mixed ^ mixed >> 7) * 1664525 + 1013904223;
  *count = before + 1;
  words[2] = before;
  words[3] = mixed;
  return XDP_TX;
}
"""


@pytest.mark.parametrize("target", TARGETS)
def test_a_frame_waits_until_the_one_before_has_left(target: str, make_design: DesignMaker, tmp_path: Path) -> None:
    """A program takes longer over a frame than the card waits between checks, and counts without an
    atomic operation.
    """
    (tmp_path / "count.c").write_text(COUNTS)
    with Device.open(make_design(tmp_path / "count.c", units=1, engine="xdp"), target=target) as card:
        # Frames of different flows, so that nothing else keeps them in order.
        card.send([bytes(Ether() / IP(dst="192.0.2.1") / UDP(sport=1000 + n) / bytes(20)) for n in range(6)])
        left = [frame.data for frame in card.run(rate="turns").frames]
    assert [data[8:12] for data in left] == [n.to_bytes(4, "little") for n in range(6)]
    assert [UDP(data[34:]).sport for data in left] == [1000 + n for n in range(6)]


@pytest.mark.parametrize("target", TARGETS)
def test_frames_that_do_not_leave_are_lost_in_their_own_run(target: str, make_design: DesignMaker) -> None:
    """No unit takes frames: each of them enters all the same, and none is left for the next run."""
    frames = [bytes(59) + bytes([n]) for n in range(3)]
    design = make_design(ROOT / "engines/xdp/programs/tx.c", units=1, engine="xdp")
    with Device.open(design, target=target) as card:
        card.write(regs.CARD_UNIT_ENABLE, 0)
        card.send(frames)
        result = card.run(rate="turns", check=False)
        assert not result.frames and sum(result.drops.values()) == 3
        card.write(regs.CARD_UNIT_ENABLE, 1)
        card.send(frames[:1])
        assert [frame.source for frame in card.run(rate="turns").frames if frame.source is not None] == [0]
