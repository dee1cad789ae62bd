# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""The card on real interfaces: real programs through it, its control socket, and faults."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import random
import re
import select
import shutil
import signal
import socket
import stat
import struct
import subprocess
import termios
import textwrap
import time
from pathlib import Path

import pytest
from built import COMMAND_LINE
from netns import CARD, LEFT, RIGHT, Net, Up, finish
from remote import Debugged, Remote, Symbols
from system import ROOT, DesignMaker, call

FORWARD = ROOT / "engines/rpu/programs/forward.c"
FIREWALL = ROOT / "engines/rpu/programs/firewall.c"
HANG = ROOT / "engines/rpu/programs/bad/hang.c"

# Serves files of the folder argv[1] at 10.0.0.2.
SERVER = """
    import functools, http.server, sys
    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_): pass
    handler = functools.partial(Quiet, directory=sys.argv[1])
    server = http.server.ThreadingHTTPServer(("10.0.0.2", 8000), handler)
    print("ready", flush=True)
    server.serve_forever()
"""

# Fetches /small several times from each of several threads, each time over a new connection.
CONNECTIONS = """
    import sys, threading, urllib.request
    print("ready", flush=True)
    threads, times, expected = int(sys.argv[1]), int(sys.argv[2]), open(sys.argv[3], "rb").read()
    good = []
    def fetch():
        for _ in range(times):
            with urllib.request.urlopen("http://10.0.0.2:8000/small", timeout=30) as page:
                good.append(page.read() == expected)
    all = [threading.Thread(target=fetch) for _ in range(threads)]
    [thread.start() for thread in all]
    [thread.join() for thread in all]
    print(sum(good))
"""

# Sends numbered datagrams from argv[1] to argv[2] while the file argv[3] exists, some ports at each end, a few at a
# time; and counts those that arrive.
NUMBERS = """
    import os, socket, struct, sys, threading, time
    own, other, go = sys.argv[1:4]
    sockets = []
    for port in range(16):
        sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        sock.setsockopt(socket.SOL_SOCKET, 33, 1 << 24)
        sock.bind((own, 7000 + port))
        sock.settimeout(4)
        sockets.append(sock)
    come = [[] for _ in sockets]
    def receive(sock, numbers):
        try:
            while True:
                numbers.append(struct.unpack_from("!I", sock.recv(2048))[0])
        except TimeoutError:
            pass  # 4 s after the last one
    threads = [threading.Thread(target=receive, args=pair) for pair in zip(sockets, come)]
    [thread.start() for thread in threads]
    print("ready", flush=True)
    while not os.path.exists(go):
        time.sleep(0.01)
    sent = 0
    while os.path.exists(go):
        for port, sock in enumerate(sockets):
            sock.sendto(struct.pack("!I", sent) + bytes(sent * 37 % 1400), (other, 7000 + port))
        sent += 1
        time.sleep(0.001)
    [thread.join() for thread in threads]
    in_order = all(numbers == sorted(numbers) for numbers in come)
    print(sent * len(sockets), sum(len(set(numbers)) for numbers in come), sum(map(len, come)), in_order)
"""


def page(folder: Path, name: str, size: int) -> bytes:
    folder.mkdir(exist_ok=True)
    content = random.Random(size).randbytes(size)
    (folder / name).write_bytes(content)
    return content


def test_curl_through_the_firewall(driver: str, net: Net, tmp_path: Path) -> None:
    """A page arrives byte for byte at a host that is not listed, and not at all at one that is."""
    if shutil.which("curl") is None:
        pytest.skip("needs curl (Debian: apt-get install curl)")
    content = page(tmp_path / "www", "page", 3_000_000)
    (tmp_path / "list").write_text("10.0.9.0/24\n")
    up = Up(net, tmp_path, ROOT / "designs/firewall.toml", "--table", f"ip_prefix={tmp_path / 'list'}", driver=driver)
    words = {"packet": "AF_PACKET (TPACKET_V3 ring in, sendmmsg out)", "xdp": "AF_XDP (native, copied)"}[driver]
    assert up.head.startswith(f"firewall is up: port0 = p0, port1 = p1; {words}\n") and "no AF_XDP" not in up.head
    assert up.status()["driver"] == words
    net.python(RIGHT, SERVER, str(tmp_path / "www"))

    def curl(source: str, seconds: int) -> tuple[int, bytes]:
        got = tmp_path / "got"
        got.unlink(missing_ok=True)
        words = ["curl", "--silent", "--interface", source, "--max-time", str(seconds), "--output", got]
        child = net.start(LEFT, *words, "http://10.0.0.2:8000/page")
        child.communicate(timeout=60)
        return child.returncode, got.read_bytes() if got.exists() else b""

    assert curl("10.0.0.1", 30) == (0, content)
    assert curl("10.0.9.1", 2) == (28, b"")
    blocked = up.status()["drops"]["blocked"]
    assert blocked >= 1
    # The list changes while the card is up.
    (tmp_path / "list").write_text("10.0.0.0/24\n")
    up.ctl("table", "ip_prefix", tmp_path / "list")
    assert curl("10.0.9.1", 2) == (28, b"")  # the server's own address is listed now
    (tmp_path / "list").write_text("10.0.0.1\n")
    up.ctl("table", "ip_prefix", tmp_path / "list")
    assert curl("10.0.9.1", 30) == (0, content)
    assert curl("10.0.0.1", 2) == (28, b"")
    # A later program gets the list that was loaded last.
    (tmp_path / "last").write_text("10.0.9.1\n")
    up.ctl("table", "ip_prefix", tmp_path / "last")
    up.ctl("reload", FIREWALL)
    assert curl("10.0.9.1", 2) == (28, b"")
    assert curl("10.0.0.1", 30) == (0, content)

    end = up.stop()
    assert "firewall (firewall.c), up for" in up.summary and "blocked" in up.summary
    ports, drops = end["ports"], end["drops"]
    assert sum(port["rx_frames"] for port in ports) == sum(port["tx_frames"] for port in ports) + drops.pop("blocked")
    assert drops == {} and end["faults"] == [] and up.stderr() == ""
    assert list((tmp_path / "run/penstock").iterdir()) == []


def test_many_connections(driver: str, net: Net, tmp_path: Path) -> None:
    """All pages of many connections at a time arrive; SIGTERM ends the card as well as Ctrl-C."""
    page(tmp_path / "www", "small", 20_000)
    up = Up(net, tmp_path, ROOT / "designs/forward.toml", driver=driver)
    net.python(RIGHT, SERVER, str(tmp_path / "www"))
    client = net.python(LEFT, CONNECTIONS, "16", "25", str(tmp_path / "www/small"))
    assert finish(client, 120).strip() == str(16 * 25)
    # The flows were spread over the units.
    assert sum(unit["rx_frames"] > 0 for unit in up.status()["units"]) == 16
    end = up.stop(signal.SIGTERM)
    assert end["drops"] == {} and end["ports"][0]["rx_frames"] == end["ports"][1]["tx_frames"] > 16 * 25 * 4


def test_tags_come_out_as_they_went_in(driver: str, net: Net, tmp_path: Path) -> None:
    """Linux takes the outer VLAN tag out of a frame; it must be in again, whatever protocol it has."""
    up = Up(net, tmp_path, ROOT / "designs/forward.toml", driver=driver)
    receive = """
        import socket, struct, sys
        sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
        sock.setsockopt(263, 8, 1)
        sock.bind(("r0", 3))
        sock.settimeout(20)
        print("ready", flush=True)
        for _ in range(4):
            frame, [(_, _, auxiliary)], _, _ = sock.recvmsg(2048, 256)
            status, _, _, _, _, tci, tpid = struct.unpack("=IIIHHHH", auxiliary)
            tag = struct.pack("!HH", tpid, tci) if status & 0x10 else b""
            print((frame[:12] + tag + frame[12:]).hex())
    """
    header = bytes.fromhex("020000000002020000000001")
    frames = [
        header + bytes.fromhex(tags) + bytes(range(60))
        for tags in ("810020070888", "88a8e0010888", "88a80005810000060888", "0888")
    ]
    send = """
        import socket, sys
        sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
        sock.bind(("l0", 0))
        print("ready", flush=True)
        [sock.send(bytes.fromhex(frame)) for frame in sys.argv[1:]]
    """
    receiver = net.python(RIGHT, receive)
    finish(net.python(LEFT, send, *(frame.hex() for frame in frames)))
    assert finish(receiver).split() == [frame.hex() for frame in frames]
    up.stop()


def test_what_hardware_should_have_cut(driver: str, net: Net, tmp_path: Path) -> None:
    """Datagrams that the sender leaves to be cut (UDP_SEGMENT) arrive one by one, and so do pages over TCP, in frames
    that fit a wire.
    """
    up = Up(net, tmp_path, ROOT / "designs/forward.toml", driver=driver)
    receive = """
        import socket
        sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        sock.setsockopt(socket.SOL_SOCKET, 33, 1 << 24)
        sock.bind(("10.0.0.2", 7000))
        sock.settimeout(20)
        print("ready", flush=True)
        print(*(sock.recv(4096).hex() for _ in range(51)))
    """
    send = """
        import socket
        print("ready", flush=True)
        sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        sock.setsockopt(17, 103, 1001)
        sock.sendto(b"".join(bytes([n] * 1001) for n in range(50)) + b"end", ("10.0.0.2", 7000))
    """
    receiver = net.python(RIGHT, receive)
    finish(net.python(LEFT, send))
    assert finish(receiver).split() == [*(bytes([n] * 1001).hex() for n in range(50)), b"end".hex()]
    ports = up.status()["ports"]
    assert ports[0]["rx_frames"] == 51 and ports[0]["rx_bytes"] == 50 * (1001 + 42) + 45
    page(tmp_path / "www", "small", 1_000_000)
    net.python(RIGHT, SERVER, str(tmp_path / "www"))
    assert finish(net.python(LEFT, CONNECTIONS, "2", "2", str(tmp_path / "www/small"))).strip() == "4"
    pages = up.stop()["ports"][1]
    # An MTU of 1500 B: 1448 B of the page in each frame at most.
    assert pages["rx_frames"] > 4_000_000 / 1448 and pages["rx_bytes"] / pages["rx_frames"] < 1514


def test_a_burst(driver: str, net: Net, tmp_path: Path) -> None:
    """Frames that arrived while the card was stopped leave complete and in order: more frames than it takes at a time,
    and more than it sends at a time.
    """
    up = Up(net, tmp_path, ROOT / "designs/forward.toml", driver=driver)
    receive = """
        import socket, sys
        kind, count = sys.argv[1], int(sys.argv[2])
        raw = kind == "raw"
        sock = socket.socket(*((socket.AF_PACKET, socket.SOCK_RAW) if raw else (socket.AF_INET, socket.SOCK_DGRAM)))
        sock.setsockopt(socket.SOL_SOCKET, 33, 1 << 24)
        sock.bind(("r0", 0x88B5) if raw else ("10.0.0.2", 7000))
        sock.settimeout(20)
        print("ready", flush=True)
        for _ in range(count):
            frame = sock.recv(4096)
            print(int.from_bytes(frame[14 if raw else 0:][:4]), len(frame))
    """
    send_frames = """
        import socket
        sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
        sock.bind(("l0", 0))
        print("ready", flush=True)
        for number in range(257):
            sock.send(bytes.fromhex("02000000000202000000000188B5") + number.to_bytes(4) + bytes(60))
    """
    send_datagrams = """
        import socket
        print("ready", flush=True)
        sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        sock.setsockopt(17, 103, 1001)
        for datagram in range(8):
            sock.sendto(b"".join((datagram * 50 + n).to_bytes(4) + bytes(997) for n in range(50)), ("10.0.0.2", 7000))
    """
    for kind, send, count, length in (("raw", send_frames, 257, 78), ("cut", send_datagrams, 400, 1001)):
        receiver = net.python(RIGHT, receive, kind, str(count))
        up.process.send_signal(signal.SIGSTOP)
        finish(net.python(LEFT, send))
        up.process.send_signal(signal.SIGCONT)
        assert finish(receiver) == "".join(f"{number} {length}\n" for number in range(count))
    assert up.stop()["drops"] == {}


COUNTER = """
#include <penstock.h>
int main(void) {{
  pn_init();
  for (uint32_t count = 1;; count++) {{
    pn_desc_t frame = pn_recv();
    PN_REG(RPU_CORE_DEBUG_OUT_L) = count;
    PN_REG(RPU_CORE_DEBUG_OUT_H) = {mark};
    pn_send(frame ^ pn_port(1));
  }}
}}
"""


@pytest.mark.parametrize("units", [16, 1])
def test_reload_under_load(units: int, driver: str, net: Net, tmp_path: Path, make_design: DesignMaker) -> None:
    """Programs follow each other under frames in both directions, of which none is lost; a broken
    one changes nothing.
    """
    programs = []
    for mark in range(1, 4):
        programs.append(tmp_path / f"counter{mark}.c")
        programs[-1].write_text(COUNTER.format(mark=mark))
    (tmp_path / "broken.c").write_text("#include <penstock.h>\nint main(void) {\n  pn_init()\n}\n")
    (tmp_path / "broken.elf").write_bytes(b"\x7fELF" + bytes(200))
    # It starts on all units except the last one.
    silent = COUNTER.format(mark=9).replace("pn_init();", f"if (pn_unit() == {units - 1}) for (;;); pn_init();")
    (tmp_path / "silent.c").write_text(silent)
    picky = COUNTER.format(mark=8).replace("pn_init();", "if (pn_debug_in()) for (;;); pn_init();")
    (tmp_path / "picky.c").write_text(picky)
    up = Up(net, tmp_path, make_design(FORWARD, units=units), driver=driver)
    # Both ends must be there before the first one sends.
    go = tmp_path / "go"
    right = net.python(RIGHT, NUMBERS, "10.0.0.2", "10.0.0.1", str(go))
    left = net.python(LEFT, NUMBERS, "10.0.0.1", "10.0.0.2", str(go))
    go.touch()

    def mark_of(unit: int) -> int:
        return int(up.ctl("debug", str(unit)), 16) >> 32

    for number in range(6):
        mark = number % 3 + 1
        assert f"{units} units loaded, no frame lost" in up.ctl("reload", programs[mark - 1])
        time.sleep(0.1)
        assert {mark_of(0), mark_of(units - 1)} <= {0, mark}
        if number == 1:
            assert "broken.c:3:" in up.refusal("reload", tmp_path / "broken.c")
            assert "broken.elf" in up.refusal("reload", tmp_path / "broken.elf")
            assert "no-such-file.c" in up.refusal("reload", tmp_path / "no-such-file.c")
            refusal = up.refusal("reload", tmp_path / "silent.c")
            assert f"unit {units - 1} has not declared its slots" in refusal
            assert "the program before goes on" in refusal and up.status()["programs"][0].endswith("counter2.c")
            assert all(mark_of(unit) in {0, 2} for unit in range(units))
        # A program that starts on all units except the last: those that had it get the old one again.
        if number == 3 and units > 1:
            up.ctl("debug", str(units - 1), "1")
            assert f"unit {units - 1} has not declared its slots" in up.refusal("reload", tmp_path / "picky.c")
            up.ctl("debug", str(units - 1), "0")
            assert all(mark_of(unit) in {0, 1} for unit in range(units))
    go.unlink()
    ends = [finish(child).split() for child in (left, right)]
    for (sent, *_), (_, different, come, in_order) in (ends, ends[::-1]):
        assert (different, come, in_order) == (sent, sent, "True"), "frames were lost, doubled or overtaken"
    status = up.stop()
    assert status["drops"] == {} and status["faults"] == []
    assert sum(unit["rx_frames"] for unit in status["units"]) == sum(port["rx_frames"] for port in status["ports"])


def test_a_hanging_unit_is_taken_out(net: Net, tmp_path: Path, make_design: DesignMaker) -> None:
    """It is reported with its place in the source, its flows go elsewhere, and a reload restarts it."""
    up = Up(net, tmp_path, make_design(HANG))
    send = """
        import socket, sys
        sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
        sock.bind(("l0", 0))
        print("ready", flush=True)
        sock.send(bytes([0xEE]) + bytes(59))
    """
    finish(net.python(LEFT, send))
    up.wait_for("unit 0 has not released a slot for 10,000 instructions, pc=0x")
    assert re.search(r"hang\.c:9 |hang\.c:10 |hang\.c:8 ", up.stderr()), up.stderr()
    status = up.status()
    assert [unit["state"] for unit in status["units"]] == ["dead", "running", "running", "running"]
    assert status["drops"] == {"lost": 1} and len(status["faults"]) == 1
    assert "unit 0 is dead; reload" in up.refusal("enable", "0")
    page(tmp_path / "www", "small", 20_000)
    net.python(RIGHT, SERVER, str(tmp_path / "www"))
    assert finish(net.python(LEFT, CONNECTIONS, "8", "5", str(tmp_path / "www/small"))).strip() == "40"
    once = up.call("top", "--once", "--interval", "0.2").stdout
    assert re.search(r"^0 +dead +1/32 ", once, re.MULTILINE) and "fault: unit 0 has not released" in once
    up.ctl("reload", FORWARD)
    finish(net.python(LEFT, send))
    status = up.status()
    assert {unit["state"] for unit in status["units"]} == {"running"} and status["drops"] == {"lost": 1}
    up.stop()


def test_interfaces_that_go_and_come(driver: str, net: Net, tmp_path: Path, make_design: DesignMaker) -> None:
    """One pair of ports goes on while an interface of the other is down, removed, and created again."""
    up = Up(net, tmp_path, make_design(FORWARD, ports=4), ports=4, driver=driver)

    def passes(pair: int) -> bool:
        receive = """
            import socket, sys
            sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            sock.bind((sys.argv[1], 7000))
            sock.settimeout(float(sys.argv[2]))
            print("ready", flush=True)
            try:
                print(sock.recv(100) == b"through")
            except TimeoutError:
                print(False)
        """
        send = """
            import socket, sys
            print("ready", flush=True)
            socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"through", (sys.argv[1], 7000))
        """
        receiver = net.python(RIGHT, receive, f"10.{pair}.0.2", "10" if pair == 1 or whole else "0.5")
        finish(net.python(LEFT, send, f"10.{pair}.0.2"))
        return finish(receiver) == "True\n"

    def link() -> str:
        return up.status()["ports"][1]["link"]

    whole = True
    assert passes(0) and passes(1)
    net.run(CARD, "ip", "link", "set", "p1", "down")
    up.wait_for("port1 (p1) is down")
    whole = False
    assert not passes(0) and passes(1) and link() == "down"
    assert up.status()["ports"][1]["drops"] == {"unsent": 1}
    net.run(CARD, "ip", "link", "set", "p1", "up")
    up.wait_for("port1 (p1) is up again")
    whole = True
    assert passes(0) and passes(1) and link() == "up"
    net.run(CARD, "ip", "link", "del", "p1")
    up.wait_for("port1 (p1) is gone")
    assert passes(1) and link() == "gone"
    assert "p1 (gone)" in up.call("top", "--once", "--interval", "0.2").stdout
    net.link(RIGHT, "r0", "p1")
    end = time.monotonic() + 20
    while link() != "up":
        assert time.monotonic() < end, up.stderr()
        time.sleep(0.1)
    net.run(RIGHT, "ip", "addr", "add", "10.0.0.2/16", "dev", "r0")
    net.run(LEFT, "ip", "neigh", "replace", "10.0.0.2", "lladdr", net.ether(RIGHT, "r0"), "dev", "l0")
    assert passes(0) and passes(1)
    # An interface that is down can disappear later.
    net.run(CARD, "ip", "link", "set", "p3", "down")
    up.wait_for("port3 (p3) is down")
    net.run(CARD, "ip", "link", "del", "p3")
    up.wait_for("port3 (p3) is gone")
    assert passes(0)
    up.stop()


def test_ctl(net: Net, tmp_path: Path, make_design: DesignMaker) -> None:
    """Registers, memories, interrupts and units, by the command and by the lines on the socket."""
    program = tmp_path / "echo.c"
    program.write_text(
        "#include <penstock.h>\n"
        "volatile uint32_t pokes;\n"
        "int main(void) {\n"
        "  pn_init();\n"
        "  for (;;) {\n"
        "    pn_desc_t frame = pn_recv();\n"
        "    PN_REG(RPU_CORE_DEBUG_OUT_L) = ~PN_REG(RPU_CORE_DEBUG_IN_L);\n"
        "    PN_REG(RPU_CORE_DEBUG_OUT_H) = ~PN_REG(RPU_CORE_DEBUG_IN_H);\n"
        "    if (*pn_hdr() == 0xC2) pn_send(pn_to(frame, PN_PORT_UNIT(1)));\n"
        "    else pn_send(frame ^ pn_port(1));\n"
        "  }\n"
        "}\n"
    )
    up = Up(net, tmp_path, make_design(program, policy="round-robin", units=2))
    assert up.ctl("read", "0", "4") == "0x00000000: 50454e53 00010000 00000002 00000002\n"
    up.ctl("write", "0x200", "5")
    assert up.ctl("test", "read", "0x200").split()[1] == "00000005"
    assert "refused a write of register 0x00000000" in up.refusal("write", "0", "1")
    up.ctl("mem", "write", "1", "0x803000", "1", "0xfeedf00d")
    assert up.ctl("mem", "read", "1", "0x803000", "2") == "0x00803000: 00000001 feedf00d\n"
    assert up.ctl("mem", "read", "0", "0x803000", "2") == "0x00803000: 00000000 00000000\n"
    # No request to a unit changes the registers that the host's registers name.
    assert up.ctl("read", "0x20").split()[1] == "00000003"
    assert "there is no unit 2; the card has units 0..1" in up.refusal("poke", "2")
    assert "words" in up.refusal("read", "0", "100000")
    up.ctl("poke", "0")
    up.ctl("evict", "1")
    assert up.ctl("debug", "1", "0x123456789abcdef0") == "0x0000000000000000\n"

    def pass_frames(count: int, byte: int = 2) -> None:
        send = """
            import socket, sys
            print("ready", flush=True)
            sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
            sock.bind(("l0", 0))
            [sock.send(bytes([int(sys.argv[2])] * 60)) for _ in range(int(sys.argv[1]))]
        """
        before = up.status()["ports"][0]["rx_frames"]
        finish(net.python(LEFT, send, str(count), str(byte)))
        end = time.monotonic() + 20
        while up.status()["ports"][0]["rx_frames"] < before + count:
            assert time.monotonic() < end

    pass_frames(10)
    assert up.ctl("debug", "1") == "0xedcba9876543210f\n"
    up.ctl("disable", "1")
    before = [unit["rx_frames"] for unit in up.status()["units"]]
    pass_frames(10)
    status = up.status()
    assert [unit["rx_frames"] for unit in status["units"]] == [before[0] + 10, before[1]]
    assert [unit["state"] for unit in status["units"]] == ["running", "disabled"]
    # Loopback frames for the unit that is out are dropped and counted.
    pass_frames(3, 0xC2)
    assert status["drops"] == {} and up.status()["drops"] == {"policy": 3}
    before[0] += 3
    up.ctl("enable", "1")
    pass_frames(10)
    assert [unit["rx_frames"] for unit in up.status()["units"]] == [before[0] + 15, before[1] + 5]
    assert json.loads(up.ctl("counters"))["ports"][0]["rx_frames"] == sum(before) + 20

    path = tmp_path / "run/penstock/test.sock"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600 and stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(str(path))
        lines = client.makefile("rw")

        def ask(line: str) -> str:
            lines.write(line + "\n")
            lines.flush()
            return lines.readline().strip()

        assert ask('{"do":"read","address":8}') == '{"ok":{"words":[2]}}'
        assert ask('{"do":"poke","unit":1}') == '{"ok":{}}'
        assert ask('{"do":"poke","unit":77}') == '{"error":"there is no unit 77; the card has units 0..1"}'
        assert ask("nonsense").startswith('{"error":"this is no request')
        assert ask('{"do":"table","name":"ip_prefix","file":"/dev/null"}').startswith('{"error":')

        # If two clients change programs at once, one is refused: its program would undo the other's.
        with socket.socket(socket.AF_UNIX) as other:
            other.connect(str(path))
            for each in (client, other):
                each.sendall(b'{"do":"reload"}\n')
            answers = sorted([lines.readline(), other.makefile().readline()])
        assert answers[0].startswith('{"error":"programs or tables are being changed already'), answers
        assert answers[1].startswith('{"ok":{"reload":{"units":2,'), answers
        assert ask('{"do":"reload"}').startswith('{"ok":')
    up.stop()


CLOCK = """
#include <penstock.h>
static uint32_t rings;
void int_handler(void) {
    uint32_t flags = pn_interrupts();
    rings += (flags & PN_INT_TIMER) != 0;
    if (flags & PN_INT_POKE) pn_debug((uint32_t)(pn_cycles() >> 8), rings);
    pn_ack(flags);
}
int main(void) {
    pn_init();
    pn_set_interrupts(PN_INT_TIMER | PN_INT_POKE);
    pn_set_timer(250000);
    for (;;) pn_drop(pn_recv());
}
"""


def test_the_clock(net: Net, tmp_path: Path, make_design: DesignMaker) -> None:
    """The clock of a unit that has no frames is the machine's, and its timer wakes it."""
    program = tmp_path / "clock.c"
    program.write_text(CLOCK)
    up = Up(net, tmp_path, make_design(program, units=1))

    def look() -> tuple[float, float, float, int]:
        """When the unit was asked, its clock in seconds, when that was known; and how often its timer has rung."""
        asked = time.monotonic()
        up.ctl("poke", "0")
        words = int(up.ctl("debug", "0"), 16)
        return asked, (words & 0xFFFFFFFF) * 256 * 4e-9, time.monotonic(), words >> 32

    first = look()
    time.sleep(0.5)
    second = look()
    resolution = 2e-6
    assert second[0] - first[2] - resolution <= second[1] - first[1] <= second[2] - first[0] + resolution
    # Missed timer interrupts count as one.
    assert 10 <= second[3] - first[3] <= (second[2] - first[0]) * 1000 + 1
    up.stop()


def test_a_unit_is_debugged_while_the_other_carries_frames(net: Net, tmp_path: Path, make_design: DesignMaker) -> None:
    """By hand with ctl, then with a debugger: a unit that is halted keeps its frames, and they
    leave when it goes on.
    """
    mixer = ROOT / "engines/rpu/tests/firmware/mixer.c"
    up = Up(net, tmp_path, make_design(mixer, policy="round-robin", units=2))

    def pass_frames(count: int, sent: int) -> None:
        """Sends frames, and waits until this many more have left the card than before."""
        send = """
            import socket, sys
            print("ready", flush=True)
            sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
            sock.bind(("l0", 0))
            [sock.send(bytes([2] * 60)) for _ in range(int(sys.argv[1]))]
        """
        before = up.status()["ports"][1]["tx_frames"]
        finish(net.python(LEFT, send, str(count)))
        wait_for_frames(before + sent)

    def wait_for_frames(total: int) -> None:
        end = time.monotonic() + 20
        while up.status()["ports"][1]["tx_frames"] < total:
            assert time.monotonic() < end, up.status()["units"]

    assert "halt it first" in up.refusal("regs", "1") and "units 0..1" in up.refusal("halt", "2")
    assert re.fullmatch(r"unit 1 is halted, pc=0x\w+ \(.*mixer.c:\d+ .*\)\n", up.ctl("halt", "1"))
    assert [unit["state"] for unit in up.status()["units"]] == ["running", "halted"]
    pass_frames(10, 5)
    assert [unit["held"] for unit in up.status()["units"]] == [0, 5]
    before = json.loads(up.ctl("--json", "regs", "1"))
    assert f"pc   {before['pc']:08x}\nzero 00000000" in up.ctl("regs", "1") and len(before["x"]) == 32
    assert up.ctl("step", "1").startswith(f"unit 1 is halted, pc=0x{before['pc'] + 4:x} (")
    word = int(up.ctl("mem", "read", "1", hex(0x2000000 + before["pc"])).split()[1], 16)
    after = json.loads(up.ctl("--json", "regs", "1"))
    assert word & 0xFFFF_F07F == 0x7000_2003 and after["x"][word >> 7 & 31] == 60 | 1 << 16
    assert up.ctl("resume", "1") == "unit 1 runs\n"
    wait_for_frames(10)
    assert "waits in a load" in (up.ctl("halt", "1"), up.ctl("step", "1"))[1]
    up.ctl("resume", "1")

    (tmp_path / "elf").mkdir()
    call("compile", "rpu", mixer, "-o", tmp_path / "elf" / "mixer.elf")
    symbols = Symbols(tmp_path / "elf" / "mixer.elf")
    with Debugged("ctl", "gdb", "1", "--listen", "0", env=up.env) as server:
        for _ in range(2):
            gdb = Remote(server.port())
            here = symbols.line(mixer, "the frame is here")
            gdb.set_breakpoint(here)
            gdb.go()
            pass_frames(10, 5)
            assert "swbreak" in gdb.receive() and gdb.pc() == here
            gdb.write(symbols["key"], b"\x77")
            left = up.status()["ports"][1]["tx_frames"]
            gdb.close()
            wait_for_frames(left + 5)
        status, said = server.stop()
    assert (status, said.count("gdb is there")) == (0, 2), said
    assert up.ctl("mem", "read", "1", hex(symbols["key"])).split()[1] == "00000077"
    assert [unit["state"] for unit in up.status()["units"]] == ["running", "running"]
    assert up.stop()["drops"] == {}


def test_top_on_a_terminal(net: Net, tmp_path: Path) -> None:
    """The screen shows the card, refreshes, and ends with `q`; when the card ends, it says so and leaves the terminal
    in order.
    """
    up = Up(net, tmp_path, ROOT / "designs/one-unit.toml")
    for key in (b"q", None):
        child, terminal = pty.fork()
        if child == 0:
            os.environ.update(up.env | {"TERM": "xterm"})
            os.execv(COMMAND_LINE, ["penstock", "top", "--interval", "0.1"])
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 120, 0, 0))
        screen = b""
        while b"running" not in screen or b"up for" not in screen or screen.count(b"\x1b[") < 100:
            assert select.select([terminal], [], [], 20)[0], screen
            screen += os.read(terminal, 4096)
        assert b"one-unit (forward.c)" in screen and b"p0" in screen and b"port1" in screen
        os.write(terminal, key) if key else up.stop()
        rest = b""
        while True:
            try:
                assert select.select([terminal], [], [], 20)[0], rest
                chunk = os.read(terminal, 4096)
            except OSError:  # Linux says so when the other side is closed
                break
            rest += chunk
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        os.close(terminal)
        assert b"\x1b[?1049l" in rest and status == (0 if key else 1)
        assert key or b"no card is up" in rest


def test_what_up_refuses(net: Net, tmp_path: Path) -> None:
    """Each has its way out, and no file remains."""
    forward = ROOT / "designs/forward.toml"
    up = Up(net, tmp_path, forward)
    sockets = tmp_path / "run/penstock"

    def refusal(*words: str | Path) -> str:
        child = net.start(CARD, *map(str, [COMMAND_LINE, "up", forward, *words]), env=up.env)
        _, err = child.communicate(timeout=20)
        assert child.returncode == 1 and err.startswith("error: "), err
        return err

    assert "is in use: this design is up already" in refusal("--port", "0=p0")
    other = ("--socket", tmp_path / "other.sock")
    assert "there is no interface `nosuch`" in refusal("--port", "0=nosuch", *other)
    net.run(CARD, "ip", "link", "set", "p2", "down")
    assert "`ip link set p2 up` starts it" in refusal("--port", "0=p2", *other)
    assert "there is no port7: the card has ports 0..1" in refusal("--port", "7=p3", *other)
    assert "p3 is at port0 and at port1" in refusal("--port", "0=p3", "--port", "1=p3", *other)
    assert "port0 has two interfaces" in refusal("--port", "0=p3", "--port", "0=p2", *other)
    long = ("--socket", tmp_path / ("x" * 120))
    assert "at most 107 bytes; give a shorter one: --socket PATH" in refusal("--port", "0=p3", *long)
    # Two cards at an interface would both take its frames.
    assert "interface `p1` is at a port of another card" in refusal("--port", "0=p1", *other)
    assert not (tmp_path / "other.sock").exists()
    assert up.status()["design"] == "forward"
    # The remains of a killed card do not keep the next one from its place.
    up.process.kill()
    up.process.communicate(timeout=20)
    assert (sockets / "forward.sock").exists()
    done = up.call("ctl", "status")
    assert done.returncode == 1 and "no card is up" in done.stderr
    assert Up(net, tmp_path, forward).stop()["design"] == "forward"
    assert "several" not in up.call("top", "--once").stderr


def test_only_the_user_controls(net: Net, tmp_path: Path) -> None:
    """The file of the socket is for its user alone, and other users who reach it all the same are told that the card
    is not theirs.
    """
    up = Up(net, tmp_path, ROOT / "designs/forward.toml")
    control = tmp_path / "run/penstock/forward.sock"
    assert stat.S_IMODE(control.stat().st_mode) == 0o600
    nobody = 65534
    for folder in (control.parent, tmp_path / "run", tmp_path, *tmp_path.parents):
        folder.chmod(folder.stat().st_mode | 0o055)
    control.chmod(0o666)
    ask = """
        import socket, sys
        print("ready", flush=True)
        link = socket.socket(socket.AF_UNIX)
        link.connect(sys.argv[1])
        link.sendall(b'"status"\\n')
        print(link.makefile().readline())
    """
    words = ["setpriv", f"--reuid={nobody}", "--clear-groups", "/usr/bin/python3", "-c", textwrap.dedent(ask), control]
    child = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=60, check=False)
    assert child.returncode == 0 and "belongs to another user" in child.stdout, child.stdout + child.stderr
    control.parent.chmod(0o700)
    assert up.status()["design"] == "forward"
    up.stop()


def test_rights_of_a_file_open_no_folder(tmp_path: Path) -> None:
    """A program with rights that its user lacks runs no code from a checkout that this user names."""
    if shutil.which("setcap") is None:
        pytest.skip("needs setcap (Debian: apt-get install libcap2-bin)")
    if os.geteuid() != 0:
        pytest.skip("needs root, to give rights to a file")
    program, checkout = tmp_path / "penstock", tmp_path / "checkout"
    shutil.copy(COMMAND_LINE, program)
    (checkout / "shell/regs").mkdir(parents=True)
    (checkout / "shell/regs/card.rdl").touch()
    for folder in (tmp_path, *tmp_path.parents):
        folder.chmod(folder.stat().st_mode | 0o055)

    def tried() -> str:
        child = subprocess.run(
            [
                "setpriv",
                "--reuid=65534",
                "--clear-groups",
                program,
                "run",
                "nothing.toml",
                "--in",
                "no.pcap",
                "--out",
                "out",
            ],
            env={"PENSTOCK_ROOT": str(checkout)},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        return child.stdout + child.stderr

    assert "nothing.toml" in tried()
    subprocess.run(["setcap", "cap_net_raw+ep", program], check=True)
    assert "the Penstock repository was not found above" in tried()


def test_two_cards_and_offloads(net: Net, tmp_path: Path) -> None:
    """Merging of frames is off while a card is up and as before afterwards; with two cards up one has to be named."""

    def merges(interface: str) -> bool:
        return "generic-receive-offload: on" in net.run(CARD, "ethtool", "-k", interface)

    net.run(CARD, "ethtool", "-K", "p0", "gro", "on")
    assert merges("p0") and not merges("p1")
    up = Up(net, tmp_path, ROOT / "designs/forward.toml")
    assert "p0: GRO is off while the card is up" in up.head and "p1: GRO" not in up.head
    assert not merges("p0")
    words = ["up", ROOT / "designs/one-unit.toml", "--port", "0=p2"]
    second = net.start(CARD, COMMAND_LINE, *words, env=up.env)
    assert second.stdout and second.stdout.readline().startswith("one-unit is up: port0 = p2;")
    second.stdout.readline()
    assert "several cards are up: " in up.refusal("status")
    assert up.ctl("one-unit", "read", "0xc").split()[1] == "00000001"
    assert up.ctl(ROOT / "designs/forward.toml", "read", "0xc").split()[1] == "00000010"
    second.send_signal(signal.SIGINT)
    finish(second)
    up.stop()
    assert merges("p0") and not merges("p1")


def test_an_interface_renamed_meanwhile_gets_its_settings_back(net: Net, tmp_path: Path) -> None:
    net.run(CARD, "ethtool", "-K", "p0", "gro", "on")
    up = Up(net, tmp_path, ROOT / "designs/one-unit.toml")
    net.run(CARD, "ip", "link", "set", "p0", "down")
    net.run(CARD, "ip", "link", "set", "p0", "name", "q0")
    net.run(CARD, "ip", "link", "set", "q0", "up")
    assert "generic-receive-offload: off" in net.run(CARD, "ethtool", "-k", "q0")
    up.stop()
    assert "generic-receive-offload: on" in net.run(CARD, "ethtool", "-k", "q0")


def test_a_name_with_control_characters_reaches_no_terminal(net: Net, tmp_path: Path, make_design: DesignMaker) -> None:
    """`up`, `status` and `top` escape the name of a design."""
    design = make_design(FORWARD, units=1)
    design.write_text(design.read_text().replace('name = "test"', 'name = "te\\u001b]0;st"'))
    up = Up(net, tmp_path, design)
    top = finish(net.start(CARD, COMMAND_LINE, "top", "--once", env=up.env))
    for shown in (up.head, up.ctl("status"), top):
        assert "\x1b" not in shown and "te\\u{1b}]0;st" in shown
    up.stop()


def test_without_a_card(tmp_path: Path) -> None:
    nobody = ("--socket", tmp_path / "none.sock")
    for words in (("ctl", *nobody, "status"), ("top", *nobody, "--once")):
        done = call(*words)
        assert done.returncode == 1 and "no card is up at" in done.stderr and "penstock up" in done.stderr
