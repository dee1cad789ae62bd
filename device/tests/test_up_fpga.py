# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""`penstock up` on a card of the target `fpga`: simulated cards, alone, between interfaces, and behind a proxy that
resets them.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import struct
import subprocess
import threading
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from built import COMMAND_LINE
from netns import LEFT, RIGHT, Net, Up, finish
from penstock import regs
from penstock.hdl import ROOT
from system import DesignMaker

FORWARD = ROOT / "designs/one-unit.toml"
TO_HOST = ROOT / "engines/rpu/programs/to_host.c"
HANG = ROOT / "engines/rpu/programs/bad/hang.c"
BAR_RESET = 0x30


class Alone:
    """`penstock up` on a card, without interfaces."""

    def __init__(self, folder: Path, design: Path, *options: str | Path) -> None:
        folder.mkdir(exist_ok=True)
        self.json = folder / "up.json"
        (folder / "run").mkdir(mode=0o700)
        self.env = {**os.environ, "XDG_RUNTIME_DIR": str(folder / "run"), "PENSTOCK_ROOT": str(ROOT)}
        words = [COMMAND_LINE, "up", design, "--target", "fpga", "--json", self.json, *options]
        self.errors = folder / "stderr"
        with self.errors.open("w") as errors:
            self.process = subprocess.Popen(
                words, stdout=subprocess.PIPE, stderr=errors, text=True, env=self.env, start_new_session=True
            )
        self.head = ""
        assert self.process.stdout
        while "control socket" not in self.head:
            line = self.process.stdout.readline()
            assert line, self.head + self.errors.read_text()
            self.head += line

    def call(self, *words: str | Path) -> subprocess.CompletedProcess[str]:
        command = [COMMAND_LINE, *words]
        return subprocess.run(command, check=False, capture_output=True, text=True, env=self.env, timeout=120)

    def ctl(self, *words: str | Path) -> str:
        done = self.call("ctl", *words)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def refusal(self, *words: str | Path) -> str:
        done = self.call("ctl", *words)
        assert done.returncode == 1, done.stdout
        return done.stderr

    def status(self) -> dict[str, Any]:
        return json.loads(self.ctl("--json", "status"))["status"]

    def wait_for(self, words: str, times: int = 1) -> None:
        end = time.monotonic() + 60
        while self.errors.read_text().count(words) < times:
            assert time.monotonic() < end and self.process.poll() is None, self.errors.read_text()
            time.sleep(0.05)

    def stop(self) -> dict[str, Any]:
        """As Ctrl-C in a terminal, which sends the signal to all processes of the command."""
        os.killpg(self.process.pid, signal.SIGINT)
        out, _ = self.process.communicate(timeout=60)
        assert self.process.returncode == 0, out + self.errors.read_text()
        return json.loads(self.json.read_text())

    def __enter__(self) -> Alone:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


def test_a_card_with_cables_of_its_own(tmp_path: Path) -> None:
    """Control socket, counters, top, reload and metrics, without an interface of this machine."""
    with Alone(tmp_path, FORWARD, "--metrics", "127.0.0.1:0") as up:
        assert up.head.startswith("one-unit is up: its ports have cables of their own; sim-opennic\n")
        status = up.status()
        assert status["driver"] == "sim-opennic" and status["drops"] == {} and status["faults"] == []
        assert [(unit["state"], unit["held"]) for unit in status["units"]] == [("running", 0)]
        assert [port["interface"] for port in status["ports"]] == [None] * 3
        assert int(up.ctl("read", hex(regs.CARD_PORTS)).split()[-1], 16) == 2
        counters = json.loads(up.ctl("counters"))
        assert len(counters["ports"]) == 2 and counters["ports"][0]["rx_frames"] == 0
        up.ctl("disable", "0")
        assert up.status()["units"][0]["state"] == "disabled"
        assert int(up.ctl("read", hex(regs.CARD_UNIT_ENABLE)).split()[-1], 16) == 0
        up.ctl("enable", "0")
        assert int(up.ctl("read", hex(regs.CARD_UNIT_ENABLE)).split()[-1], 16) == 1
        assert "1 unit" in up.ctl("reload", TO_HOST) and "to_host.c" in up.ctl("prog", "list")
        assert "do not pass through the host" in up.refusal("capture", "0", "-w", tmp_path / "none.pcapng")
        top = up.call("top", "--once", "--interval", "0.2").stdout
        assert "sim-opennic" in top and "running" in top
        page = up.head.split("metrics at ")[1].split()[0]
        with urllib.request.urlopen(page, timeout=60) as metrics:
            assert 'penstock_card_info{design="one-unit",driver="sim-opennic"' in metrics.read().decode()
        assert up.stop()["units"][0]["state"] == "running"


SEND = """
    import socket, sys
    sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
    sock.bind((sys.argv[1], 0))
    print("ready", flush=True)
    for size in map(int, sys.argv[2:]):
        sock.send(bytes([2, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 0x88, 0xB5]) + (bytes(range(256)) * 6)[:size - 14])
"""
# Prints the sizes of frames of our type at argv[1], and whether their contents are right, until argv[2] have come.
RECEIVE = """
    import socket, sys
    sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x88B5))
    sock.bind((sys.argv[1], 0x88B5))
    sock.settimeout(60)
    print("ready", flush=True)
    got = []
    while len(got) < int(sys.argv[2]):
        frame = sock.recv(65536)
        size = len(frame)
        got.append(size if frame[14:] == (bytes(range(256)) * 6)[:size - 14] else "damaged")
    print(*got)
"""
SIZES = ["60", "64", "65", "128", "129", "1000", "1514"] * 3


@pytest.fixture
def net() -> Iterator[Net]:
    with Net() as net:
        yield net


def send(net: Net, place: str, interface: str, to: tuple[str, str], *sizes: str) -> list[str]:
    """Sizes of the frames that arrive, in order."""
    receiver = net.python(to[0], RECEIVE, to[1], str(len(sizes)))
    finish(net.python(place, SEND, interface, *sizes))
    return finish(receiver).split()


def test_a_simulated_card_between_interfaces(net: Net, tmp_path: Path) -> None:
    """Frames of real interfaces go through the model of a shell; a new program has the next ones."""
    options = ("--target", "fpga", "--card", "sim", "--host", "p2")
    up = Up(net, tmp_path, FORWARD, *options, driver="packet")
    assert up.head.startswith("one-unit is up: port0 = p0, port1 = p1, host = p2; sim-opennic, AF_PACKET"), up.head
    assert send(net, LEFT, "l0", (RIGHT, "r0"), *SIZES) == SIZES
    assert send(net, RIGHT, "r0", (LEFT, "l0"), *SIZES) == SIZES
    up.ctl("reload", TO_HOST)
    assert send(net, LEFT, "l0", (LEFT, "l1"), *SIZES) == SIZES
    # The host's frames leave at port 0.
    assert send(net, LEFT, "l1", (LEFT, "l0"), *SIZES) == SIZES
    status = up.stop()
    count = len(SIZES)
    seen = [(port["rx_frames"], port["tx_frames"]) for port in status["ports"]]
    assert seen == [(2 * count, 2 * count), (count, count), (count, count)] and status["drops"] == {}
    assert status["faults"] == []


def test_frames_that_leave_at_a_port_without_interface_are_not_lost(net: Net, tmp_path: Path) -> None:
    """They are on the cable of that port."""
    up = Up(net, tmp_path, FORWARD, "--target", "fpga", ports=1, driver="packet")
    finish(net.python(LEFT, SEND, "l0", *SIZES))
    end = time.monotonic() + 60
    while up.status()["ports"][1]["tx_frames"] < len(SIZES):
        assert time.monotonic() < end
        time.sleep(0.1)
    assert up.stop()["drops"] == {}


def test_a_unit_that_hangs_on_a_card(net: Net, tmp_path: Path, make_design: DesignMaker) -> None:
    """It is reported, gets no more frames, and works again after a reload."""
    design = make_design(HANG, units=1)
    up = Up(net, tmp_path, design, "--target", "fpga", driver="packet")
    hang = """
        import socket
        sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
        sock.bind(("l0", 0))
        print("ready", flush=True)
        sock.send(bytes([0xEE]) + bytes(59))
    """
    finish(net.python(LEFT, hang))
    up.wait_for("unit 0 has not released a slot for 10,000 cycles, pc=0x", 60)
    status = up.status()
    assert [unit["state"] for unit in status["units"]] == ["dead"] and status["drops"] == {"lost": 1}
    assert "unit 0 is dead; reload" in up.refusal("enable", "0")
    up.ctl("reload", ROOT / "engines/rpu/programs/forward.c")
    assert send(net, LEFT, "l0", (RIGHT, "r0"), *SIZES) == SIZES
    assert up.stop()["units"][0]["state"] == "running"


class Proxy:
    """Between a driver and a simulated card: can send requests of its own between those of the driver."""

    def __init__(self, path: Path, card: Path) -> None:
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(path))
        self.listener.listen(1)
        self.card = socket.socket(socket.AF_UNIX)
        self.card.connect(str(card))
        self.one = threading.Lock()  # of a request to the card and its answer
        self.wanted = threading.Event()
        self.done = threading.Event()
        self.thread = threading.Thread(target=self.work, daemon=True)
        self.thread.start()

    def take(self, from_: socket.socket, count: int) -> bytes:
        data = b""
        while len(data) < count:
            part = from_.recv(count - len(data))
            if not part:
                raise EOFError
            data += part
        return data

    def answer(self, kind: int) -> bytes:
        """The card's answer to a request: status, word, cycle, and what follows."""
        head = self.take(self.card, 13)
        status, word = struct.unpack_from("<BI", head)
        rest = b""
        if status == 0 and kind == ord("E"):
            rest = self.take(self.card, 8 * word)
        elif status == 0 and kind == ord("G"):
            for _ in range(word):
                frame = self.take(self.card, 20)
                rest += frame + self.take(self.card, struct.unpack_from("<I", frame)[0])
        return head + rest

    def send_reset(self) -> None:
        """Resets the card between two requests of the driver, most likely between two of its looks."""
        with self.one:
            self.card.sendall(b"W" + struct.pack("<II", BAR_RESET, 1))
            self.answer(ord("W"))

    def reset(self) -> None:
        """Resets the card behind the driver's next request, hence in the middle of a look."""
        self.done.clear()
        self.wanted.set()
        assert self.done.wait(60)

    def work(self) -> None:
        driver, _ = self.listener.accept()
        try:
            while True:
                if self.wanted.is_set():
                    self.send_reset()
                    self.wanted.clear()
                    self.done.set()
                head = self.take(driver, 9)
                more = self.take(driver, struct.unpack("<I", head[5:])[0]) if head[0] == ord("F") else b""
                with self.one:
                    self.card.sendall(head + more)
                    answer = self.answer(head[0])
                driver.sendall(answer)
        except (EOFError, OSError):
            self.card.close()
            driver.close()


def test_a_card_that_somebody_resets_is_loaded_again(tmp_path: Path) -> None:
    command = [COMMAND_LINE, "fpga", "sim", FORWARD, "--at", tmp_path / "card"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as card:
        try:
            assert card.stdout and card.stdout.readline() == "ready\n"
            proxy = Proxy(tmp_path / "proxy", tmp_path / "card")
            with Alone(tmp_path / "up", FORWARD, "--card", f"sim:{tmp_path / 'proxy'}") as up:
                assert up.status()["faults"] == []
                # The program that runs comes back, not the design's.
                up.ctl("reload", TO_HOST)
                proxy.reset()
                up.wait_for("somebody else has reset the card; its programs and tables are loaded again")
                status = up.status()
                assert len(status["faults"]) == 1 and status["units"][0]["state"] == "running"
                assert "to_host.c" in up.ctl("prog", "list")
                # A unit that was disabled stays so.
                up.ctl("disable", "0")
                proxy.reset()
                up.wait_for("somebody else has reset the card", times=2)
                assert up.status()["units"][0]["state"] == "disabled"
                assert int(up.ctl("read", hex(regs.CARD_UNIT_ENABLE)).split()[-1], 16) == 0
                # Requests that come before `up` has looked, which it does every 200 ms: it looks first.
                up.ctl("enable", "0")
                count = up.errors.read_text().count("somebody else has reset the card")
                for number, words in enumerate(
                    (["status"], ["counters"], ["read", hex(regs.CARD_PORTS)], ["disable", "0"])
                ):
                    proxy.send_reset()
                    up.ctl(*words)
                    up.wait_for("somebody else has reset the card", times=count + number + 1)
                assert up.status()["units"][0]["state"] == "disabled"
                # A card that goes ends the command, with the reason.
                card.kill()
                assert up.process.wait(60) == 1 and "the card is gone" in up.errors.read_text()
        finally:
            card.kill()


class Watch:
    """A socket in the place of a simulated card: notes who comes, and answers nothing."""

    def __init__(self, path: Path) -> None:
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(path))
        self.listener.listen(1)
        self.listener.settimeout(0.5)

    def came(self) -> bool:
        try:
            self.listener.accept()[0].close()
        except TimeoutError:
            return False
        return True


def test_what_is_wrong_is_found_before_the_card_is_opened(tmp_path: Path) -> None:
    """To open a card resets it, and another `up` may have it in use."""
    watch = Watch(tmp_path / "card")
    (tmp_path / "run").mkdir(mode=0o700)
    env = {**os.environ, "XDG_RUNTIME_DIR": str(tmp_path / "run"), "PENSTOCK_ROOT": str(ROOT)}
    taken = socket.socket(socket.AF_UNIX)
    taken.bind(str(tmp_path / "taken"))
    taken.listen(1)
    (tmp_path / "file").write_text("")
    card = f"sim:{tmp_path / 'card'}"

    def refused(says: str, *words: str | Path, at: str = card) -> None:
        command = [COMMAND_LINE, "up", FORWARD, "--target", "fpga", "--card", at, *words]
        done = subprocess.run(command, check=False, capture_output=True, text=True, env=env, timeout=60)
        assert done.returncode == 1 and says in done.stderr, done.stderr
        assert not watch.came(), words

    refused("there is no port7: the card has ports 0..1", "--port", "7=lo")
    refused("port0 has two interfaces", "--port", "0=lo", "--port", "0=eth9")
    refused("lo is at port0 and at port1", "--port", "0=lo", "--port", "1=lo")
    refused(str(tmp_path / "taken"), "--socket", tmp_path / "taken")
    refused(str(tmp_path / "file"), "--socket", tmp_path / "file")
    refused("No such file or directory", "--socket", tmp_path / "none/socket")
    refused("socket", "--socket", tmp_path / ("x" * 120))
    # Interfaces at a real card, which is not looked for
    refused("no cables that the host reaches", "--port", "0=lo", at="pci:0000:ff:1f.7")
    # All is well: it comes.
    command = [COMMAND_LINE, "up", FORWARD, "--target", "fpga", "--card", card]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env) as up:
        watch.listener.settimeout(60)
        assert watch.came() and up.wait(60) == 1


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ([], "give at least one interface: --port PORT=IFACE"),
        (["--target", "rtl"], "a card on rtl carries no frames of interfaces"),
        (["--card", "sim", "--port", "0=lo"], "--card needs --target fpga"),
        (["--target", "fpga", "--card", "usb:1"], "`usb:1` names no card"),
        (["--target", "fpga", "--card", "pci:0000:ff:1f.7"], "see `lspci -D` for the address"),
        (["--target", "fpga", "--card", "sim:/nowhere"], "`penstock fpga sim DESIGN --at SOCKET` starts a card"),
    ],
)
def test_what_up_refuses(words: list[str], says: str, tmp_path: Path) -> None:
    env = {**os.environ, "XDG_RUNTIME_DIR": str(tmp_path)}
    command = [COMMAND_LINE, "up", FORWARD, *words]
    done = subprocess.run(command, check=False, capture_output=True, text=True, env=env, timeout=60)
    assert done.returncode == 1 and says in done.stderr, done.stderr
    # In the background, too
    done = subprocess.run([*command, "--daemon"], check=False, capture_output=True, text=True, env=env, timeout=60)
    assert done.returncode == 1 and says in done.stderr, done.stderr
