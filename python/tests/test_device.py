# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Frames through a card from Python, on both targets, judged by plain Python and Scapy."""

from __future__ import annotations

import dataclasses
import ipaddress
import itertools
import json
import os
import random
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from penstock import CaptureError, Device, FaultError, Frame, UnsupportedError
from scapy.layers.inet import IP, TCP, UDP
from scapy.layers.l2 import Ether
from scapy.packet import Raw
from scapy.plist import PacketList
from scapy.utils import rdpcap, wrpcap

FORWARD = "designs/one-unit.toml"
FIREWALL = "designs/firewall.toml"


def packet(source: str, number: int = 0, size: int = 64) -> Ether:
    head = Ether(src="02:00:00:00:00:01", dst="02:00:00:00:00:02") / IP(src=source, dst="198.51.100.1", id=number)
    udp = head / UDP(sport=1000 + number, dport=53)
    return udp / Raw(bytes(max(0, size - len(udp))))


def random_frames(seed: int, count: int) -> list[bytes]:
    rng = random.Random(seed)
    return [rng.randbytes(rng.choice((14, 59, 60, 64, 65, 128, 1514, rng.randrange(14, 3000)))) for _ in range(count)]


def test_every_kind_of_frame_goes_in_and_comes_out_as_bytes(target: str) -> None:
    scapy = packet("192.0.2.1")
    with Device.open(FORWARD, target) as card:
        assert card.send(b"\x01" * 60) == 1
        assert card.send(bytearray(b"\x02" * 61)) == 1
        assert card.send(memoryview(b"\x03" * 62)) == 1
        assert card.send(scapy) == 1
        assert card.send([scapy, b"\x04" * 63]) == 2
        assert card.send(PacketList([scapy, scapy])) == 2
        assert card.send(frame for frame in (b"\x05" * 64,)) == 1
        assert card.send([]) == 0
        first = card.run()
        want = [b"\x01" * 60, b"\x02" * 61, b"\x03" * 62, bytes(scapy)]
        want += [bytes(scapy), b"\x04" * 63, bytes(scapy), bytes(scapy), b"\x05" * 64]
        assert first.at(1) == want == [frame.data for frame in first.frames]
        assert card.send(first.frames[:2], port=1) == 2
        assert card.run().at(0) == want[:2]
        for wrong in (60, "frame", [60], None, [b"", "x"]):
            with pytest.raises(TypeError, match="a frame is bytes or a Scapy packet"):
                card.send(wrong)  # type: ignore[arg-type]
        assert card.receive(1) == want and card.receive(0) == want[:2]
        assert card.receive(1) == [] == card.receive("host")


def test_a_result_says_where_each_frame_went(target: str) -> None:
    frames = random_frames(1, 120)
    with Device.open("designs/forward.toml", target, units=4) as card:
        card.run()
        for number, frame in enumerate(frames):
            card.send(frame, port=number % 2)
        result = card.run()
        assert {frame.source for frame in result.frames} == set(range(len(frames)))
        for frame in result.frames:
            assert frame.source is not None
            assert frame.data == bytes(frame) == frames[frame.source] and len(frame) == len(frame.data)
            assert frame.port == 1 - frame.source % 2
        assert not any(result.drops.values()) and result.faults == ()
        reasons = "runt oversize overflow damaged disabled policy blocked refused aborted lost unsent"
        assert set(result.drops) == set(reasons.split())
        for port in (0, 1):
            ours, theirs = result.counters.ports[port], frames[port::2]
            assert (ours.rx_frames, ours.rx_bytes) == (len(theirs), sum(map(len, theirs)))
            assert (ours.tx_frames, ours.tx_bytes) == (len(frames) - len(theirs), sum(map(len, frames[1 - port :: 2])))
        assert sum(unit.rx_frames for unit in result.counters.units) == len(frames) and len(card.units) == 4
        assert card.counters().ports[0].rx_frames == 60 and result.seconds > 0
        if target == "soft":
            assert result.cycles is None
            assert all(f.entered is f.first is f.last is f.latency_ns is None for f in result.frames)
        else:
            first = min(frame.entered for frame in result.frames)
            assert result.cycles == max(frame.last for frame in result.frames) + 1 - first
            for frame in result.frames:
                assert frame.latency_ns == (frame.last - frame.entered) * 4 >= 200
                assert frame.last - frame.first == (len(frame) - 1) // 64 or len(frame) > 64


def test_as_the_command_line(target: str, tmp_path: Path, command_line: list[str]) -> None:
    table, capture = "designs/blocklist-demo.txt", "designs/traffic/names.outside.pcap"
    options = ["--table", f"ip_prefix={table}", "--target", target, "--in", capture, "--out", str(tmp_path)]
    command = [*command_line, "run", FIREWALL, *options, "--json", str(tmp_path / "result.json"), "--units", "4"]
    subprocess.run(command, check=True, capture_output=True)
    theirs = json.loads((tmp_path / "result.json").read_text())
    with Device.open(FIREWALL, target, tables={"ip_prefix": table}, units=4) as card:
        assert card.send_capture(capture) == len(rdpcap(capture))
        ours = card.run()
    timing = ("seconds", "mpps", "gbps") if target == "soft" else ()
    assert {k: v for k, v in ours.json.items() if k not in timing} == {
        k: v for k, v in theirs.items() if k not in timing
    }
    for port in (0, 1, "host"):
        name = "host.pcap" if port == "host" else f"port{port}.pcap"
        ours.write_capture(tmp_path / "ours.pcap", port)
        assert (tmp_path / "ours.pcap").read_bytes() == (tmp_path / name).read_bytes()


def test_the_firewall_blocks_what_is_on_the_list(target: str, tmp_path: Path) -> None:
    rng = random.Random(3)
    networks = [ipaddress.IPv4Network((rng.getrandbits(32) & 0xFFFFFF00, 24)) for _ in range(50)]
    exempt = ipaddress.IPv4Network((int(networks[0].network_address) + 64, 26))
    sources = [str(network[rng.randrange(256)]) for network in networks]
    sources += [str(ipaddress.IPv4Address(rng.getrandbits(32))) for _ in range(50)] + [str(exempt[1])]
    frames = [bytes(packet(source, number)) for number, source in enumerate(sources)]

    def passing(listed: list[ipaddress.IPv4Network]) -> list[bytes]:
        blocked = [any(ipaddress.ip_address(source) in network for network in listed) for source in sources]
        return sorted(frame for frame, is_blocked in zip(frames, blocked, strict=True) if not is_blocked)

    with Device.open(FIREWALL, target, tables={"ip_prefix": networks}, units=4) as card:
        card.send(frames)
        result = card.run()
        assert sorted(result.at(1)) == passing(networks) and result.drops["blocked"] == 51
        # Another list, while the programs stay.
        card.tables["ip_prefix"] = [str(network) for network in networks[:10]]
        card.send(frames)
        assert sorted(card.run().at(1)) == passing(networks[:10])
        card.tables["ip_prefix"] = {networks[0]: 1, exempt: 0}
        card.send(frames)
        result = card.run()
        assert result.drops["blocked"] == 1 and bytes(packet(str(exempt[1]), 100)) in result.at(1)
        # The last assignment outlives the program, whether it is a file or a list.
        file = tmp_path / "list.txt"
        file.write_text("# of a test\n" + "".join(f"{network} # blocked\n" for network in networks[10:20]))
        card.tables["ip_prefix"] = file
        assert dict(card.tables) == {"ip_prefix": file}
        for _ in range(2):
            card.send(frames)
            assert sorted(card.run().at(1)) == passing(networks[10:20])
            card.load()
        card.tables["ip_prefix"] = networks
        card.load()
        card.send(frames)
        assert sorted(card.run().at(1)) == passing(networks)


def test_frames_for_the_host_and_from_it(target: str) -> None:
    frames = random_frames(4, 20)
    with Device.open(FORWARD, target, program="engines/rpu/programs/to_host.c") as card:
        card.send(frames, port=1)
        assert card.run().at("host") == frames and card.receive("host") == frames
        card.load("engines/rpu/programs/forward.c")
        card.send(frames, port="host")
        result = card.run()
        assert result.counters.host.rx_frames == len(frames)
        with pytest.raises(UnsupportedError, match=r"frames for port 2, and the card has ports 0\.\.1"):
            card.send(frames, port=2)
        with pytest.raises(UnsupportedError, match="`left` is no port"):
            card.send(frames, port="left")


def test_captures_that_are_damaged_give_what_came_before(target: str, tmp_path: Path) -> None:
    path = tmp_path / "in.pcap"
    packets = [packet("192.0.2.1", number) for number in range(5)]
    wrpcap(str(path), packets)
    path.write_bytes(path.read_bytes()[:-3])
    with Device.open(FORWARD, target) as card:
        assert card.send_capture(path) == 4
        with pytest.raises(FaultError, match=r"in\.pcap: cut short after 4 frames") as caught:
            card.run()
        assert caught.value.result.at(1) == [bytes(p) for p in packets[:4]]
        path.write_text("no capture")
        with pytest.raises(CaptureError, match="not a capture; give a pcap or pcapng file"):
            card.send_capture(path)
        assert card.send_capture("designs/traffic/names.inside.pcap") > 0
        result = card.run()
        assert result.faults == () and len(result.at(1)) == len(rdpcap("designs/traffic/names.inside.pcap"))


def test_what_goes_wrong_is_raised_with_all_that_came_out(target: str) -> None:
    with Device.open(FORWARD, target, program="engines/rpu/programs/bad/nowhere.c") as card:
        card.send(random_frames(5, 10))
        with pytest.raises(FaultError, match="destination that does not exist") as caught:
            card.run()
        result = caught.value.result
        assert result.drops["refused"] == 10 and result.frames == () and str(caught.value) == "\n".join(result.faults)
        assert card.receive(1) == []
        card.load("engines/rpu/programs/forward.c")
        card.send(b"\x07" * 100)
        assert card.run().at(1) == [b"\x07" * 100]
        card.load("engines/rpu/programs/bad/hang.c")
        card.send(b"\xee" * 100)
        result = card.run(check=False)
        assert (
            result.drops["lost"] == 1
            and "has not released a slot" in result.faults[0]
            and "hang.c:" in result.faults[0]
        )


def test_rates_and_latencies(target: str) -> None:
    frames = [bytes(60)] * 200
    with Device.open(FORWARD, target) as card:
        card.send(frames)
        if target == "soft":
            with pytest.raises(UnsupportedError, match="a rate needs target rtl or fpga"):
                card.run(rate=1)
            assert len(card.receive(1)) == 200
            return
        # 84 bytes on the wire: at 1 Gb/s a frame each 168 cycles.
        slow = card.run(rate=1)
        gaps = {b.entered - a.entered for a, b in zip(slow.frames, slow.frames[1:], strict=False)}
        assert gaps <= {167, 168} and {frame.latency_ns for frame in slow.frames} <= {208.0, 212.0, 216.0}
        # One frame every 33,600 cycles, so slow that the card could be taken to have lost them
        card.send(frames[:3])
        slowest = [frame.entered for frame in card.run(rate=0.005).frames]
        assert [later - earlier for earlier, later in itertools.pairwise(slowest)] == pytest.approx(
            [33_600] * 2, rel=1e-3
        )
        card.send(frames)
        fast = card.run(rate="lossless")
        assert fast.cycles < slow.cycles / 10 and len(fast.frames) == 200
        card.send(frames)
        with pytest.raises(UnsupportedError, match="`fast` is no rate"):
            card.run(rate="fast")
        assert len(card.run().frames) == 200


def test_cycles_pass_step_by_step(target: str) -> None:
    frames = random_frames(6, 300)
    with Device.open(FORWARD, target) as card:
        card.send(frames[:200])
        if target == "soft":
            with pytest.raises(UnsupportedError, match="soft has no cycles"):
                card.step(10)
            assert card.receive(1) == frames[:200]
            return
        early: list[Frame] = []
        while len(early) < 20:
            early += card.step(50)
        assert 20 <= len(early) < 30 and card.receive(1) == [frame.data for frame in early] == frames[: len(early)]
        taken = len(early)
        # Frames sent meanwhile follow those that have not entered yet.
        assert card.counters().ports[0].rx_frames < 200
        card.send(frames[200:])
        early += card.step(10)
        assert len(early) < 150
        result = card.run()
        assert [frame.data for frame in result.frames] == frames and result.frames[: len(early)] == tuple(
            dataclasses.replace(frame, time_ns=late.time_ns) for frame, late in zip(early, result.frames, strict=False)
        )
        assert [frame.source for frame in result.frames] == list(range(300)) and result.json["frames_in"] == 300
        assert not any(result.drops.values()) and result.counters.ports[0].rx_frames == 300
        assert card.receive(1) == frames[taken:]
        card.step(1)
        before = cycle_of(card)
        assert card.step(1000) == [] and 1000 <= cycle_of(card) - before < 1020
        assert card.run().frames == ()
        # A load discards the frames in flight.
        card.send(frames)
        card.step(500)
        card.load()
        card.send(frames[:3])
        result = card.run()
        assert [frame.source for frame in result.frames] == [0, 1, 2] and result.json["frames_in"] == 3


def cycle_of(card: Device) -> int:
    from penstock import regs

    return card.read(regs.CARD_CYCLES_L)


def test_other_threads_go_on_while_a_device_works() -> None:
    with Device.open(FORWARD, "rtl") as card:
        card.send([bytes(1500)] * 3000)
        ticks: list[float] = []
        done = threading.Event()

        def tick() -> None:
            while not done.is_set():
                ticks.append(time.monotonic())
                time.sleep(0.001)

        thread = threading.Thread(target=tick)
        thread.start()
        start = time.monotonic()
        card.run()
        seconds = time.monotonic() - start
        done.set()
        thread.join()
        within = [t for t in ticks if start <= t <= start + seconds]
        assert seconds > 0.1 and len(within) > seconds * 20


def test_threads_share_a_device_and_use_several(target: str) -> None:
    with Device.open(FORWARD, target) as one, Device.open(FORWARD, target) as other:
        failures: list[object] = []

        def work(seed: int) -> None:
            card = (one, other)[seed % 2]
            rng = random.Random(seed)
            for _ in range(20):
                value = rng.getrandbits(32)
                card.host_memory.set_word(4 * seed, value)
                if card.host_memory.word(4 * seed) != value:
                    failures.append(seed)
            if seed < 2:
                frames = random_frames(seed, 50)
                card.send(frames)
                if card.run().at(1) != frames:
                    failures.append(card)

        threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert failures == []


def test_tcp_checksums_survive(target: str) -> None:
    sent = [
        Ether(src="02:00:00:00:00:01", dst="02:00:00:00:00:02") / IP(src="192.0.2.1", dst="192.0.2.2") / TCP(sport=n)
        for n in range(1, 30)
    ]
    with Device.open(FORWARD, target) as card:
        card.send(sent)
        for data, before in zip(card.receive(1), sent, strict=True):
            after = Ether(data)
            checksum = after[TCP].chksum
            del after[TCP].chksum
            assert Ether(bytes(after))[TCP].chksum == checksum and after[TCP].sport == before[TCP].sport


INTERRUPTED = """
import os, signal, threading, time
from penstock import Device, PenstockError

# As in a terminal: a process that was started in the background ignores SIGINT.
signal.signal(signal.SIGINT, signal.default_int_handler)
card = Device.open("designs/one-unit.toml", "TARGET")
card.send([bytes(60)] * COUNT)
threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
start = time.monotonic()
try:
    card.run()
except KeyboardInterrupt:
    print(f"{time.monotonic() - start:.1f}")
try:
    card.counters()
except PenstockError as error:
    print(error)
"""


def test_control_c_ends_a_run(target: str) -> None:
    # Seconds of work.
    Device.open("designs/one-unit.toml", target).close()  # the model is there, so what is waited for is the run
    script = INTERRUPTED.replace("TARGET", target).replace("COUNT", "4_000_000" if target == "soft" else "100_000")
    env = {**os.environ, "PYTHONPATH": "python"}
    done = subprocess.run(
        [sys.executable, "-c", script], env=env, check=False, capture_output=True, text=True, timeout=60
    )
    seconds, message = done.stdout.splitlines()
    assert done.returncode == 0 and "panicked" not in done.stderr and "Traceback" not in done.stderr
    assert 0.2 <= float(seconds) < 5 and message == "the device was interrupted or has failed; open it anew"
