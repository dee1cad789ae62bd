# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""The same cards on `rtl` and on `fpga`, simulated cards behind a BAR and the model of a shell: the frames that leave
are those of `soft`. Then what only `fpga` has: owners, resets, and cards that end.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from built import COMMAND_LINE
from penstock import AccessError, CardError, Device, Result, UnsupportedError, regs
from penstock.hdl import ROOT
from scapy.layers.inet import IP, TCP, UDP
from scapy.layers.l2 import Ether
from system import call, run_design, write_capture

FORWARD = ROOT / "designs/one-unit.toml"
FIREWALL = ROOT / "designs/firewall.toml"
MESSAGES = ROOT / "device/tests/cards/messages.toml"  # in card memory
NAT = ROOT / "designs/nat.toml"
XDP_FIREWALL = ROOT / "designs/xdp-firewall.toml"
FLOW_PROGRAMS = ROOT / "engines/flow/programs"
TO_HOST = ROOT / "engines/rpu/programs/to_host.c"
SHORTEST = 60


# Where a card is: on rtl, or simulated in OpenNIC's or in Corundum's shell. A second model of a card takes minutes.
EVERYWHERE = pytest.mark.parametrize("place", ("rtl", "sim", "sim-corundum"))
MOSTLY = pytest.mark.parametrize("place", ("rtl", "sim", pytest.param("sim-corundum", marks=pytest.mark.long)))


def opened(design: Path, place: str, **options: Any) -> Device:
    """The design on soft, on rtl, or on fpga on a card at this place."""
    if place in ("soft", "rtl"):
        return Device.open(design, place, **options)
    return Device.open(design, "fpga", card=place, **options)


def packet(source: str, destination: str, ports: tuple[int, int], transport: type = UDP, size: int = 0) -> bytes:
    head = Ether(src="02:00:00:00:00:01", dst="02:00:00:00:00:02") / IP(src=source, dst=destination)
    return bytes(head / transport(sport=ports[0], dport=ports[1]) / bytes(size)).ljust(SHORTEST, b"\0")


def left(result: Result) -> list[list[bytes]]:
    """What left at each port, in an order of its own: units of a card may overtake each other."""
    return [sorted(result.at(port)) for port in (0, 1)]


@EVERYWHERE
def test_forwarding(place: str) -> None:
    rng = random.Random(1)
    sizes = [60, 61, 64, 65, 127, 128, 129, 192, 1500, 1514, 9000, *(rng.randrange(60, 2000) for _ in range(60))]
    sent = [[rng.randbytes(size) for size in sizes] for _ in range(2)]
    with opened(FORWARD, place) as card:
        assert card.target == ("rtl" if place == "rtl" else "fpga") and card.read(regs.CARD_PORTS) == 2
        with pytest.raises(AccessError, match="0x00000ff0"):
            card.read(0x0000_0FF0)
        for port in (0, 1):
            card.send(sent[port], port)
        result = card.run()
        # forward.c sends each frame out of the neighbour port.
        assert result.at(0) == sent[1] and result.at(1) == sent[0]
        assert sum(result.drops.values()) == 0
        assert all(frame.latency_ns is not None and frame.latency_ns > 0 for frame in result.frames)
        counters = card.counters()
        for port in counters.ports:
            assert port.rx_frames == port.tx_frames == len(sizes) and port.rx_bytes == sum(sizes)
        # By steps, and at a rate
        card.send(sent[0])
        some = card.step(1000)
        assert 0 < len(some) < len(sizes) and card.run().at(1) == sent[0]
        card.send([bytes([number]) * 100 for number in range(8)])
        slow = card.run(rate=1)
        # 124 bytes on the wire at 1 Gb/s take 992 ns
        gaps = [later.time_ns - sooner.time_ns for sooner, later in zip(slow.frames, slow.frames[1:], strict=False)]
        assert all(abs(gap - 992) < 100 for gap in gaps) and len(gaps) == 7


@EVERYWHERE
def test_frames_that_a_program_generates(place: str) -> None:
    """They are told apart from those that entered, although no frame says who made it."""
    with opened(FORWARD, place, program=ROOT / "engines/rpu/programs/generator.c") as card:
        # 40 frames of 60 bytes to ports 0 and 1 in turn, 100 cycles apart
        card.units[0].debug_in = (40 | 100 << 16) << 32 | 60 | 1 << 20
        sent = [bytes([number]) * 64 for number in range(30)]
        card.send(sent)
        result = card.run()
        # The run begins to count when the first ones may have left.
        assert 20 < result.generated <= 40 and len(result.frames) == 70 and not any(result.drops.values())
        assert [frame.data for frame in result.frames if frame.data in sent and frame.port == 1] == sent
        assert len(result.at(0)) == 20


@EVERYWHERE
def test_frames_of_the_host(place: str) -> None:
    """Through the shell's network interface: in order, with the bytes that they have on rtl. A header of
    20 bytes stands before those from the card, so their ends fall on all places of a beat.
    """
    rng = random.Random(5)
    sizes = [*range(40, 175), 1500, 9000, 16384, *(rng.randrange(60, 2000) for _ in range(20))]
    with opened(FORWARD, place, program=TO_HOST) as card:
        # A port's frames go to the host, and the host's leave at port 0.
        sent = [rng.randbytes(max(size, SHORTEST)) for size in sizes]
        card.send(sent, 1)
        result = card.run()
        assert result.at("host") == sent and not any(result.drops.values())
        assert [(frame.source, frame.mark) for frame in result.frames] == [(number, 0) for number in range(len(sent))]
        asked = [rng.randbytes(size) for size in sizes]
        card.send(asked, "host")
        result = card.run()
        filled = [data.ljust(SHORTEST if place != "rtl" else 0, b"\0") for data in asked]
        assert result.at(0) == filled and not any(result.drops.values())
        assert [frame.source for frame in result.frames] == list(range(len(asked)))
        # The same bytes at two ports: the header tells which frame it is.
        twice = [bytes([number]) * 100 for number in range(20)]
        card.send(twice, 0)
        card.send(twice, 1)
        result = card.run()
        assert sorted(frame.source for frame in result.frames) == list(range(40))
        assert all(frame.latency_ns is not None and frame.latency_ns > 0 for frame in result.frames)
        # Both ways at once. The host's stream waits for the card, so none is lost at any rate.
        card.send(sent, 0)
        card.send(asked, "host")
        result = card.run(rate="line")
        assert result.at("host") == sent and result.at(0) == filled and not any(result.drops.values())
        counters = card.counters()
        assert counters.host.rx_frames == 2 * len(asked) and counters.host.tx_frames == 2 * len(sent) + 2 * len(twice)


def test_nothing_overflows() -> None:
    """More frames than a port's buffer holds come faster than the unit takes them. At line rate they find no room."""
    frames = [number.to_bytes(4, "big") + bytes(56) for number in range(9000)]
    with Device.open(FORWARD, "fpga") as card:
        card.send(frames)
        result = card.run()
        assert result.at(1) == frames and not any(result.drops.values())
        card.send(frames)
        result = card.run(rate="line")
        assert result.drops["overflow"] > 100 and len(result.at(1)) + result.drops["overflow"] == len(frames)


@EVERYWHERE
def test_units_are_seen(place: str) -> None:
    """Memories, registers and halts of a unit."""
    with opened(FORWARD, place) as card:
        unit = card.units[0]
        unit.dmem[0x4000:0x400C] = b"twelve bytes"
        assert unit.dmem[0x4000:0x400C] == b"twelve bytes"
        unit.halt()
        assert unit.halted and unit.pc < 0x1000
        unit.resume()
        card.send([bytes(64)] * 3)
        assert card.run().at(1) == [bytes(64)] * 3
        card.load()
        card.send(bytes(64))
        assert card.run().at(1) == [bytes(64)] and card.counters().units[0].rx_frames >= 1


@EVERYWHERE
def test_firewall(place: str, tmp_path: Path) -> None:
    """A table of an accelerator, filled again while the unit goes on."""
    rng = random.Random(2)
    sources = [f"{rng.choice(('192.0.2', '198.51.100', '203.0.113'))}.{rng.randrange(256)}" for _ in range(120)]
    frames = [packet(source, "10.0.0.1", (1000 + n, 53), size=rng.randrange(200)) for n, source in enumerate(sources)]
    lists = (["192.0.2.0/24"], ["198.51.100.0/24", "203.0.113.128/25"])
    seen = {}
    for on in ("soft", place):
        with opened(FIREWALL, on, units=1, tables={"ip_prefix": lists[0]}) as card:
            results = []
            for prefixes in lists:
                if prefixes != card.tables["ip_prefix"]:
                    card.tables["ip_prefix"] = prefixes
                card.send(frames)
                results.append(card.run())
            seen[on] = [(left(result), result.drops) for result in results]
    assert seen["soft"] == seen[place]
    assert all(10 < drops["blocked"] < len(frames) - 10 for _, drops in seen["soft"])


@MOSTLY
def test_xdp_firewall(place: str) -> None:
    """State that frames of one port leave for those of the other."""
    rng = random.Random(7)
    flows = [(rng.choice((TCP, UDP)), f"10.0.0.{n}", f"192.0.2.{n % 9}", (1024 + n, 80)) for n in range(60)]
    called = [packet(inside, outside, ports, kind) for kind, inside, outside, ports in flows[:30]]
    answers = [packet(outside, inside, ports[::-1], kind) for kind, inside, outside, ports in flows]
    rng.shuffle(answers)
    seen = {}
    for on in ("soft", place):
        with opened(XDP_FIREWALL, on, units=1) as card:
            card.send(called, 0)
            first = card.run()
            card.send(answers, 1)
            second = card.run()
            seen[on] = left(first), left(second), second.drops, len(card.maps["flows"])
    assert seen["soft"] == seen[place]
    assert len(seen[place][1][0]) == 30 and seen[place][2]["blocked"] == 30


MARK = """#include <packet.h>
SEC("xdp") int mark(struct xdp_md *ctx) {
  __u8 *data = frame_start(ctx);
  if (data + 60 > (__u8 *)frame_end(ctx)) return XDP_DROP;
  data[20] = %d;
  return XDP_TX;
}
"""


@MOSTLY
def test_reload_under_load(place: str, tmp_path: Path) -> None:
    """A program gives way to another one while frames come at line rate: none is lost, and each meets one of them."""
    programs = [tmp_path / f"{mark}.c" for mark in (1, 2)]
    for mark, path in enumerate(programs, 1):
        path.write_text(MARK % mark)
    frames = [number.to_bytes(4, "big") + bytes(60) for number in range(900)]
    with opened(XDP_FIREWALL, place, units=1, program=programs[0]) as card:
        card.send(frames)
        card.step(2000)
        card.swap(programs[1])
        out = card.run().at(0)
        assert sorted(data[:4] for data in out) == [frame[:4] for frame in frames]
        marks = [data[20] for data in out]
        assert set(marks) == {1, 2} and marks == sorted(marks)


@MOSTLY
def test_nat(place: str, tmp_path: Path) -> None:
    """An inline block that keeps flows and changes frames; then two frames in turns, one of which is dropped."""
    design = tmp_path / "nat.toml"
    # Two elements with few contexts, as in other tests, which share the model of the card.
    text = NAT.read_text().replace("flow.contexts = 63569", "flow.contexts = 62").replace('"../', f'"{ROOT}/')
    design.write_text(text)
    inside = [packet(f"10.0.0.{n}", "192.0.2.1", (5000 + n, 53)) for n in range(20)]
    answers = [packet("192.0.2.1", "203.0.113.1", (53, 1024 + n)) for n in range(30)]
    seen = {}
    for on in ("soft", place):
        with opened(design, on) as card:
            seen[on] = []
            for port, frames in ((1, inside), (0, answers)):
                card.send(frames, port)
                result = card.run(rate="turns" if on == "soft" else "lossless")
                block = card.counters().inline.blocks[0]
                contexts = [len(element) for element in card.flow.values()]
                seen[on].append((left(result), result.drops, block.frames, block.blocked, contexts))
            card.send([answers[25], answers[5]], 0)
            result = card.run(rate="turns")
            seen[on].append((left(result), result.drops, [frame.source for frame in result.frames]))
    assert seen["soft"] == seen[place]
    assert len(seen[place][0][0][0]) == 20 and len(seen[place][1][0][1]) == 20
    assert seen[place][1][1]["blocked"] == 10 and seen[place][2][2] == [1]


@pytest.fixture(scope="module")
def simulated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, int]]:
    """A simulated card at a socket, and its process."""
    path = tmp_path_factory.mktemp("card") / "socket"
    command = [COMMAND_LINE, "fpga", "sim", FORWARD, "--at", path, "--drift", "100"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stdout and process.stdout.readline() == "ready\n"
        yield f"sim:{path}", process.pid
        process.kill()


def test_run_on_a_card(simulated: tuple[str, int], tmp_path: Path) -> None:
    """The command line's outputs are those of rtl, and frames shorter than a MAC's shortest are filled up."""
    place, _ = simulated
    rng = random.Random(3)
    sizes = (60, 64, 65, 128, 1500, 9000)
    frames = write_capture(tmp_path / "in.pcap", (rng.randbytes(size) for size in sizes))
    runs = {}
    for target, options in (("rtl", []), ("fpga", ["--card", place]), ("fpga", ["--card", place])):
        out = tmp_path / target
        runs[target] = run_design(FORWARD, [f"{frames}@1"], out, target, *options)
        assert runs[target].status == 0, runs[target].stderr
        assert sorted(path.name for path in out.iterdir()) == ["host.pcap", "port0.pcap", "port1.pcap", "result.json"]
    rtl, fpga = runs["rtl"], runs["fpga"]
    assert fpga.frames == rtl.frames and [len(frame) for frame in fpga.frames["port0"]] == list(sizes)
    assert fpga.result["target"] == "fpga" and fpga.result["frames_out"] == rtl.result["frames_out"]
    assert fpga.result.keys() == rtl.result.keys() and fpga.result["drops"] == {}
    assert fpga.result["latency_ns"]["p50"] > rtl.result["latency_ns"]["p50"]
    short = write_capture(tmp_path / "short.pcap", [b"\x01" * 14, b"\x02" * 59, b"\x03" * 5])
    run = run_design(FORWARD, [short], tmp_path / "short", "fpga", "--card", place)
    assert run.frames["port1"] == [(b"\x01" * 14).ljust(60, b"\0"), (b"\x02" * 59).ljust(60, b"\0")]
    assert run.result["drops"] == {"runt": 1}


def test_a_card_has_one_owner_and_one_design(simulated: tuple[str, int]) -> None:
    place, _ = simulated
    with Device.open(FORWARD, "fpga", card=place) as card:
        with pytest.raises(CardError, match="another process drives this card: end it first"):
            Device.open(FORWARD, "fpga", card=place)
        other = call("fpga", "check", place)
        assert other.returncode == 1 and "another process drives this card" in other.stderr
        card.send(bytes(60))
        assert card.run().at(1) == [bytes(60)]
    with pytest.raises(CardError, match=r"2 ports, 1 units, .*the design firewall asks for 2 ports, 1 units"):
        Device.open(FIREWALL, "fpga", card=place, units=1)
    assert "2 ports, 1 units" in call("fpga", "check", place).stdout


def test_a_card_that_was_reset_is_loaded_again(simulated: tuple[str, int]) -> None:
    place, process = simulated
    with Device.open(FORWARD, "fpga", card=place) as card:
        card.send([bytes(60)] * 2)
        assert len(card.run().at(1)) == 2
        os.kill(process, signal.SIGUSR1)
        for use in (card.counters, lambda: card.send(bytes(60)) and card.run()):
            with pytest.raises(CardError, match=r"the card was reset under its driver.*load it again"):
                use()
        card.load()
        assert card.counters().ports[0].rx_frames == 0
        # The frames that were to be sent have waited.
        card.send(bytes(61))
        assert card.run().at(1) == [bytes(60), bytes(61)]


def test_a_card_waits_until_its_memories_are_calibrated(tmp_path: Path) -> None:
    """One of four is not. The card is reset with it, stays in reset, and works when it is calibrated again."""
    path = tmp_path / "socket"
    command = [COMMAND_LINE, "fpga", "sim", MESSAGES, "--shell", "corundum", "--at", path]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stdout and process.stdout.readline() == "ready\n"
        try:
            with Device.open(MESSAGES, "fpga", card=f"sim:{path}") as card:
                assert card.counters().ports[0].rx_frames == 0
                os.kill(process.pid, signal.SIGUSR2)
                with pytest.raises(CardError, match="the card was reset under its driver"):
                    card.counters()
                with pytest.raises(CardError, match="a memory that it uses is in reset or not calibrated"):
                    card.load()
                os.kill(process.pid, signal.SIGUSR2)
                card.load()
                card.send(bytes(60))
                card.run()
                assert card.counters().ports[0].rx_frames == 1
        finally:
            process.kill()


def test_a_card_that_ends(tmp_path: Path) -> None:
    path = tmp_path / "socket"
    command = [COMMAND_LINE, "fpga", "sim", FORWARD, "--at", path]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stdout and process.stdout.readline() == "ready\n"
        with Device.open(FORWARD, "fpga", card=f"sim:{path}") as card:
            process.kill()
            process.wait()
            for use in (card.counters, card.load, lambda: card.read(0), lambda: card.step(10)):
                with pytest.raises(CardError, match="the card is gone"):
                    use()
    with pytest.raises(CardError, match="`penstock fpga sim DESIGN --at SOCKET` starts a card"):
        Device.open(FORWARD, "fpga", card=f"sim:{path}")


def test_what_there_is_not(simulated: tuple[str, int], tmp_path: Path) -> None:
    place, _ = simulated
    with Device.open(FORWARD, "fpga", card=place) as card:
        for use in (lambda: card.host_memory[0], lambda: card.units[0].set_host_range(0, 1)):
            with pytest.raises(UnsupportedError, match=r"no host memory: .*use soft or rtl"):
                use()
    with pytest.raises(UnsupportedError, match="names no card: give sim"):
        Device.open(FORWARD, "fpga", card="usb:1")
    with pytest.raises(UnsupportedError, match="a card needs target fpga, and not rtl"):
        Device.open(FORWARD, "rtl", card="sim")
    for options, says in (
        (["--target", "rtl", "--card", "sim"], "--card needs --target fpga"),
        (["--target", "fpga", "--card", "usb:1"], "names no card"),
        (["--target", "fpga", "--wave", "x.fst"], "--wave needs --target rtl"),
        (["--target", "fpga", "--card", "pci:ffff:ff:1f.7"], "see `lspci -D` for the address"),
    ):
        done = call("run", FORWARD, "--in", FLOW_PROGRAMS / "nat.0.pcap", "--out", tmp_path / "out", *options)
        assert done.returncode == 1 and says in done.stderr, done.stderr
    assert "this command knows none" in call("fpga", "check", "sim").stderr
