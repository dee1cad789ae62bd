# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Two network namespaces with a card between them in a third: l0 --- p0 [card] p1 --- r0, and a second pair l1, p2, p3,
r1.

Addresses are 10.N.0.1 on the left and 10.N.0.2 on the right (N is 0 or 1, /16), and 10.N.9.1 as a second one on the
left. Neighbours are set by hand, since not every card lets ARP through. Tests add further namespaces (`server`).
"""

from __future__ import annotations

import itertools
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from typing import Any

import pytest
from built import COMMAND_LINE
from system import ROOT

LEFT, CARD, RIGHT = "left", "card", "right"
NUMBERS = itertools.count()


class Net:
    """The namespaces, as long as the `with` lasts."""

    def __init__(self) -> None:
        for tool, package in (("ip", "iproute2"), ("ethtool", "ethtool")):
            if shutil.which(tool) is None:
                pytest.skip(f"needs {tool} (Debian: apt-get install {package})")
        if os.geteuid() != 0:
            pytest.skip("needs root, for network namespaces")
        self.number = next(NUMBERS)
        self.children: list[subprocess.Popen[str]] = []
        self.places = [LEFT, CARD, RIGHT]

    def name(self, place: str) -> str:
        return f"penstock-{os.getpid()}-{self.number}-{place}"

    def __enter__(self) -> Net:
        made = subprocess.run(["ip", "netns", "add", self.name(LEFT)], capture_output=True, text=True, check=False)
        if made.returncode != 0:
            pytest.skip(f"no network namespaces here: {made.stderr.strip()}")
        try:
            self.build()
        except BaseException:
            self.__exit__()
            raise
        return self

    def build(self) -> None:
        for place in (CARD, RIGHT):
            run("ip", "netns", "add", self.name(place))
        for place in (LEFT, CARD, RIGHT):
            self.run(place, "ip", "link", "set", "lo", "up")
        for pair in range(2):
            self.link(LEFT, f"l{pair}", f"p{2 * pair}")
            self.link(RIGHT, f"r{pair}", f"p{2 * pair + 1}")
            self.address(pair)

    def place(self, name: str) -> None:
        """Another namespace."""
        run("ip", "netns", "add", self.name(name))
        self.places.append(name)
        self.run(name, "ip", "link", "set", "lo", "up")

    def server(self, name: str, inner: str) -> None:
        """A namespace with the addresses of r0, behind the card's interface `inner`: another server of one service."""
        self.place(name)
        self.link(name, "r0", inner)
        self.run(name, "ip", "addr", "add", "10.0.0.2/16", "dev", "r0")
        self.run(name, "ip", "neigh", "replace", "10.0.0.1", "lladdr", self.ether(LEFT, "l0"), "dev", "r0")

    def link(self, place: str, outer: str, inner: str, queues: int = 1) -> None:
        """A veth pair from the card to a namespace, without traffic of its own."""
        many = ["numrxqueues", str(queues), "numtxqueues", str(queues)]
        ends = [["netns", self.name(place), *many], ["netns", self.name(CARD), *many]]
        run("ip", "link", "add", outer, *ends[0], "type", "veth", "peer", "name", inner, *ends[1])
        # Linux would choose a random one, and programs of the tests use the first byte of frames.
        self.run(place, "ip", "link", "set", outer, "address", f"02:00:00:00:0{outer[1]}:{ord(outer[0]):02x}")
        for where, interface in ((place, outer), (CARD, inner)):
            path = Path(f"/proc/sys/net/ipv6/conf/{interface}/disable_ipv6")
            self.run(where, "sh", "-c", f"test ! -e {path} || echo 1 > {path}")
            self.run(where, "ip", "link", "set", interface, "up")

    def address(self, pair: int) -> None:
        for place, interface, hosts in ((LEFT, f"l{pair}", ("0.1", "9.1")), (RIGHT, f"r{pair}", ("0.2",))):
            for host in hosts:
                self.run(place, "ip", "addr", "add", f"10.{pair}.{host}/16", "dev", interface)
        for place, interface, host in (
            (LEFT, f"l{pair}", "0.2"),
            (RIGHT, f"r{pair}", "0.1"),
            (RIGHT, f"r{pair}", "9.1"),
        ):
            other = (RIGHT, f"r{pair}") if place == LEFT else (LEFT, f"l{pair}")
            ether = self.ether(*other)
            self.run(place, "ip", "neigh", "replace", f"10.{pair}.{host}", "lladdr", ether, "dev", interface)

    def ether(self, place: str, interface: str) -> str:
        shown = self.run(place, "ip", "link", "show", interface)
        found = re.search(r"link/ether (\S+)", shown)
        assert found, shown
        return found[1]

    def __exit__(self, *_: object) -> None:
        for child in self.children:
            if child.poll() is None:
                child.kill()
                child.communicate()
        for place in self.places:
            subprocess.run(["ip", "netns", "del", self.name(place)], capture_output=True, check=False)

    def command(self, place: str, *words: str | Path) -> list[str]:
        return ["ip", "netns", "exec", self.name(place), *map(str, words)]

    def run(self, place: str, *words: str | Path) -> str:
        """Runs a command there, and returns its output."""
        return run(*self.command(place, *words))

    def start(self, place: str, *words: str | Path, env: dict[str, str] | None = None) -> subprocess.Popen[str]:
        """Starts a command there; it ends with the net at the latest."""
        child = subprocess.Popen(
            self.command(place, *words),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, **(env or {})},
        )
        self.children.append(child)
        return child

    def python(self, place: str, text: str, *words: str) -> subprocess.Popen[str]:
        """Starts a Python program there. It prints `ready` when others may begin."""
        child = self.start(place, sys.executable, "-c", textwrap.dedent(text), *words)
        assert child.stdout and child.stdout.readline() == "ready\n", finish(child)
        return child


def run(*words: str) -> str:
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, f"{' '.join(words)}: {done.stdout}{done.stderr}"
    return done.stdout


def finish(child: subprocess.Popen[str], timeout: float = 60) -> str:
    """Waits for the end of a program, and returns its output."""
    out, err = child.communicate(timeout=timeout)
    assert child.returncode == 0, out + err
    return out


class Up:
    """`penstock up` in the card's namespace."""

    def __init__(
        self, net: Net, folder: Path, design: Path, *options: str | Path, ports: int = 2, driver: str = "auto"
    ) -> None:
        self.folder = folder
        self.runtime = folder / "run"
        self.runtime.mkdir(mode=0o700, exist_ok=True)
        self.json = folder / "up.json"
        places = [word for port in range(ports) for word in ("--port", f"{port}=p{port}")]
        self.env = {"XDG_RUNTIME_DIR": str(self.runtime), "PENSTOCK_ROOT": str(ROOT)}
        words = [COMMAND_LINE, "up", design, *places, "--driver", driver, "--json", self.json, *options]
        self.errors = (folder / "up.stderr").open("w+")
        self.process = subprocess.Popen(
            net.command(CARD, *words),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            text=True,
            env={**os.environ, **self.env},
        )
        net.children.append(self.process)
        assert self.process.stdout
        self.head = ""
        while "control socket" not in self.head:
            line = self.process.stdout.readline()
            assert line, f"{self.head}{self.stderr()}"
            self.head += line

    def stderr(self) -> str:
        return Path(self.errors.name).read_text()

    def wait_for(self, words: str, seconds: float = 20) -> None:
        """Waits until it has said something."""
        end = time.monotonic() + seconds
        while words not in self.stderr():
            assert time.monotonic() < end, f"has not said `{words}`: {self.stderr()}"
            time.sleep(0.05)

    def call(self, *words: str | Path, timeout: float = 60) -> subprocess.CompletedProcess[str]:
        """The command line, as the same user calls it elsewhere."""
        return subprocess.run(
            [str(COMMAND_LINE), *map(str, words)],
            env={**os.environ, **self.env},
            check=False,
            capture_output=True,
            text=True,
            timeout=timeout,
        )

    def ctl(self, *words: str | Path) -> str:
        done = self.call("ctl", *words)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def refusal(self, *words: str | Path) -> str:
        """Why `ctl` does not do something."""
        done = self.call("ctl", *words)
        assert done.returncode != 0 and done.stderr.startswith("error: "), done.stdout + done.stderr
        return done.stderr

    def status(self) -> dict[str, Any]:
        return json.loads(self.ctl("--json", "status"))["status"]

    def stop(self, how: signal.Signals = signal.SIGINT) -> dict[str, Any]:
        """Ends it, which must succeed, and returns its output."""
        self.process.send_signal(how)
        out, _ = self.process.communicate(timeout=20)
        assert self.process.returncode == 0, out + self.stderr()
        self.summary = out
        return json.loads(self.json.read_text())
