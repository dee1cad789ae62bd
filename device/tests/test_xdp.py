# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""The driver of a card's frames, AF_XDP or packet sockets: which one it is, and that it makes no difference except in
messages.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

from built import COMMAND_LINE
from netns import CARD, LEFT, RIGHT, Net, Up, finish
from scapy.layers.inet import IP, TCP, UDP
from scapy.layers.l2 import Ether
from system import ROOT

FORWARD = ROOT / "designs/forward.toml"
PR_CAPBSET_DROP = 24
CAP_SYS_ADMIN, CAP_BPF = 21, 39

# Prints the frames that arrive at the interface argv[1] until no frame has arrived for argv[2] seconds.
CAPTURE = """
    import socket, sys
    sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
    sock.setsockopt(socket.SOL_SOCKET, 33, 1 << 26)
    sock.bind((sys.argv[1], 3))
    print("ready", flush=True)
    try:
        while True:
            sock.settimeout(float(sys.argv[2]))
            frame, origin = sock.recvfrom(70_000)
            if origin[2] != socket.PACKET_OUTGOING:
                print(frame.hex())
    except TimeoutError:
        pass
"""

# Sends frames to the interface argv[1], each argv[2] times, and prints the number that the interface has taken.
SEND = """
    import socket, sys
    sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
    sock.bind((sys.argv[1], 0))
    print("ready", flush=True)
    taken = 0
    for frame in map(bytes.fromhex, sys.argv[3:]):
        for _ in range(int(sys.argv[2])):
            try:
                taken += sock.send(frame) == len(frame)
            except OSError:
                pass
    print(taken)
"""


def shows_xdp(net: Net, interface: str) -> bool:
    return "xdp" in net.run(CARD, "ip", "link", "show", interface)


def pass_all(net: Net, interface: str, folder: Path) -> None:
    """Attaches an XDP program that belongs to no card and passes every frame."""
    source, program = folder / "pass.c", folder / "pass.o"
    source.write_text('__attribute__((section("xdp"))) int pass(void *frame) { return 2; }\n')
    compiler = [sys.executable, "-m", "ziglang", "cc", "-target", "bpfel-freestanding", "-O2", "-c"]
    subprocess.run([*compiler, source, "-o", program], check=True)
    net.run(CARD, "ip", "link", "set", interface, "xdp", "obj", str(program), "sec", "xdp")


def refusal(net: Net, up: Up, *words: str | Path, without: tuple[int, ...] = ()) -> str:
    """Why a card does not start; without some rights, if they are given."""
    drop = "import ctypes, os, sys\nfor right in map(int, sys.argv[1].split()):\n"
    drop += f"    assert ctypes.CDLL(None).prctl({PR_CAPBSET_DROP}, right, 0, 0, 0) == 0\n"
    drop += "os.execv(sys.argv[2], sys.argv[2:])"
    rights = " ".join(map(str, without))
    child = net.start(CARD, sys.executable, "-c", drop, rights, COMMAND_LINE, "up", *words, env=up.env)
    out, err = child.communicate(timeout=20)
    assert child.returncode == 1 and err.startswith("error: "), out + err
    return err


def test_auto_says_why_it_is_not_xdp(net: Net, tmp_path: Path) -> None:
    """Frames of a veth pair may be incomplete, and the card cannot tell."""
    up = Up(net, tmp_path, FORWARD)
    assert "port0 = p0, port1 = p1; AF_PACKET (TPACKET_V3" in up.head
    for interface in ("p0", "p1"):
        assert f"{interface}: no AF_XDP: frames come from veth, which can leave checksums unfinished" in up.head
        assert not shows_xdp(net, interface)
    assert up.stop()["driver"].startswith("AF_PACKET")
    up = Up(net, tmp_path, FORWARD, driver="packet")
    assert "no AF_XDP" not in up.head
    up.stop()
    done = up.call("up", FORWARD, "--port", "0=p0", "--driver", "pigeon")
    assert done.returncode == 2 and "`pigeon` is no driver: give auto, xdp or packet" in done.stderr


def test_xdp_is_refused_with_the_way_out(has_xdp: None, net: Net, tmp_path: Path) -> None:
    """A refusal leaves the interface unchanged, including a program of another user."""
    up = Up(net, tmp_path, FORWARD, driver="xdp")
    assert up.status()["driver"] == "AF_XDP (native, copied)"
    assert shows_xdp(net, "p0") and shows_xdp(net, "p1")
    other = ("--driver", "xdp", "--socket", tmp_path / "other.sock")
    assert "interface `p0` is at a port of another card" in refusal(net, up, FORWARD, "--port", "0=p0", *other)
    pass_all(net, "p2", tmp_path)
    taken = refusal(net, up, FORWARD, "--port", "0=p2", *other)
    assert "port0: no AF_XDP on `p2`: there is an XDP program at the interface already" in taken
    assert "Without `--driver xdp`" in taken and shows_xdp(net, "p2")
    net.run(CARD, "ip", "link", "set", "p2", "xdp", "off")
    poor = refusal(net, up, FORWARD, "--port", "0=p2", *other, without=(CAP_BPF, CAP_SYS_ADMIN))
    assert "it needs the rights CAP_NET_RAW, CAP_NET_ADMIN, CAP_BPF" in poor
    net.run(CARD, "ip", "link", "set", "p2", "mtu", "9000")
    assert "its MTU of 9000 is more than AF_XDP carries" in refusal(net, up, FORWARD, "--port", "0=p2", *other)
    # The first port goes back when the second one is refused.
    refusal(net, up, FORWARD, "--port", "0=p3", "--port", "1=p2", *other)
    assert not shows_xdp(net, "p2") and not shows_xdp(net, "p3")
    assert "rx-vlan-offload: on" in net.run(CARD, "ethtool", "-k", "p3")
    # The card that is up is none the worse for it.
    receiver = net.python(RIGHT, CAPTURE, "r0", "1")
    finish(net.python(LEFT, SEND, "l0", "3", bytes([2] * 60).hex()))
    assert finish(receiver).split() == [bytes([2] * 60).hex()] * 3
    # However it ends, its programs go.
    assert "rx-vlan-offload: off" in net.run(CARD, "ethtool", "-k", "p0")
    up.process.kill()
    up.process.communicate(timeout=20)
    assert not shows_xdp(net, "p0") and not shows_xdp(net, "p1")
    Up(net, tmp_path, FORWARD, driver="xdp").stop()
    assert not shows_xdp(net, "p0")


def test_checksums_are_finished(driver: str, net: Net, tmp_path: Path) -> None:
    """Checksums and segments that the sender's Linux leaves to hardware are right when the frames leave the card;
    deliberate errors stay.
    """
    up = Up(net, tmp_path, FORWARD, driver=driver)
    receiver = net.python(RIGHT, CAPTURE, "r0", "2")
    send = """
        import socket
        print("ready", flush=True)
        sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        for size in range(0, 1400, 101):
            sock.sendto(bytes([size % 251] * size), ("10.0.0.2", 7000))
        sock = socket.socket()
        sock.settimeout(1)
        try:
            sock.connect(("10.0.0.2", 7000))
        except OSError:
            pass  # nobody listens
    """
    finish(net.python(LEFT, send))
    wrong = bytes(Ether(src="02:00:00:00:00:6c") / IP(src="10.0.0.1", dst="10.0.0.2") / UDP(chksum=0x1234) / b"wrong")
    finish(net.python(LEFT, SEND, "l0", "1", wrong.hex()))
    frames = [bytes.fromhex(line) for line in finish(receiver).split()]
    assert wrong in frames
    kinds = []
    for frame in (frame for frame in frames if frame != wrong):
        again = Ether(frame)
        kinds.append(TCP if TCP in again else UDP)
        del again[kinds[-1]].chksum
        assert bytes(again) == frame, f"wrong checksum in {frame.hex()}"
    assert kinds.count(UDP) == 14 and TCP in kinds
    assert up.stop()["drops"] == {}


def test_frames_too_long_for_an_interface(driver: str, net: Net, tmp_path: Path) -> None:
    """They are counted, and the others leave; also when the MTU changes while the card is up."""
    up = Up(net, tmp_path, FORWARD, driver=driver)
    header = bytes.fromhex("02000000007202000000006c")
    plain, tagged = header + b"\x08\x88", header + b"\x81\x00\x00\x05\x08\x88"

    def pass_frames(*sizes: tuple[bytes, int]) -> list[int]:
        receiver = net.python(RIGHT, CAPTURE, "r0", "1")
        finish(net.python(LEFT, SEND, "l0", "1", *((start + bytes(size - len(start))).hex() for start, size in sizes)))
        return [len(line) // 2 for line in finish(receiver).split()]

    # Linux takes the tag out of the frame that the receiver gets.
    assert pass_frames((plain, 1514), (tagged, 1518), (plain, 60)) == [1514, 1514, 60]
    net.run(CARD, "ip", "link", "set", "p1", "mtu", "1000")
    if driver == "xdp":
        up.wait_for("port1 (p1) has another MTU or other queues, and is opened anew")
        up.wait_for("port1 (p1) is up again")
    assert pass_frames((plain, 1014), (plain, 1015), (tagged, 1018), (tagged, 1019), (plain, 60)) == [1014, 1014, 60]
    end = up.stop()
    assert end["drops"] == {"unsent": 2} and end["ports"][1]["drops"] == {"unsent": 2}


def test_what_the_ring_cannot_hold_is_counted(has_xdp: None, net: Net, tmp_path: Path) -> None:
    """While the card is stopped, frames fill its ring; the counters have all others."""
    up = Up(net, tmp_path, FORWARD, driver="xdp")
    receiver = net.python(RIGHT, CAPTURE, "r0", "4")
    up.process.send_signal(signal.SIGSTOP)
    taken = int(finish(net.python(LEFT, SEND, "l0", "12000", bytes([2] * 60).hex())))
    up.process.send_signal(signal.SIGCONT)
    assert len(finish(receiver).split()) == 8192
    # The card goes on.
    receiver = net.python(RIGHT, CAPTURE, "r0", "1")
    finish(net.python(LEFT, SEND, "l0", "3", bytes([2] * 60).hex()))
    assert len(finish(receiver).split()) == 3
    end = up.stop()
    port = end["ports"][0]
    assert (port["rx_frames"], port["drops"]) == (8192 + 3, {"overflow": taken - 8192}) and end["drops"] == port[
        "drops"
    ]


def test_all_queues_are_served(has_xdp: None, net: Net, tmp_path: Path) -> None:
    """Frames of each queue of an interface reach the card, even of queues that are added while the card is up."""
    for place, outer, inner in ((LEFT, "l1", "p2"), (RIGHT, "r1", "p3")):
        net.run(CARD, "ip", "link", "del", inner)
        net.link(place, outer, inner, queues=4)
    net.address(1)
    net.run(CARD, "ethtool", "-L", "p2", "rx", "3", "tx", "3")
    net.run(LEFT, "ethtool", "-L", "l1", "rx", "3", "tx", "3")
    words = ("--port", "0=p2", "--port", "1=p3")
    up = Up(net, tmp_path, FORWARD, *words, ports=0, driver="xdp")
    receive = """
        import select, socket
        sockets = []
        for port in range(100):
            sockets.append(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
            sockets[-1].bind(("10.1.0.2", 7000 + port))
        print("ready", flush=True)
        come = set()
        while len(come) < 100 and (ready := select.select(sockets, [], [], 3)[0]):
            come |= {sock.recv(100) for sock in ready}
        print(len(come))
    """
    send = """
        import socket
        print("ready", flush=True)
        for port in range(100):
            sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            sock.bind(("10.1.0.1", 9000 + port))
            sock.sendto(str(port).encode(), ("10.1.0.2", 7000 + port))
    """

    def used() -> list[int]:
        """Frames that arrived at each queue."""
        lines = net.run(CARD, "ethtool", "-S", "p2").splitlines()
        return [int(line.split()[-1]) for line in lines if "_xdp_packets" in line and "rx_queue" in line]

    for queues in (3, 4):
        receiver = net.python(RIGHT, receive)
        finish(net.python(LEFT, send))
        assert finish(receiver) == "100\n"
        if queues == 3:
            assert len(used()) == 3 and sum(count > 0 for count in used()) > 1
            net.run(CARD, "ethtool", "-L", "p2", "rx", "4", "tx", "4")
            net.run(LEFT, "ethtool", "-L", "l1", "rx", "4", "tx", "4")
            up.wait_for("port0 (p2) has another MTU or other queues, and is opened anew")
            up.wait_for("port0 (p2) is up again")
            time.sleep(0.3)
    assert len(used()) == 4 and used()[3] > 0
    assert up.stop()["drops"] == {}
