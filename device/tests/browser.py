# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""A real browser without a screen, driven over a pipe by the DevTools protocol."""

from __future__ import annotations

import itertools
import json
import os
import select
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from netns import Net

NAMES = ("chromium-headless-shell", "chromium", "google-chrome", "chromium-browser")


class Browser:
    """Chromium in a network namespace, with one page. `faults` are errors that the page had: exceptions, and what its
    policy forbade."""

    def __init__(self, net: Net, place: str, profile: Path) -> None:
        found = next((path for path in map(shutil.which, NAMES) if path), None)
        if found is None:
            pytest.skip("needs a browser (Debian: apt-get install chromium-headless-shell)")
        to_browser, self.out = os.pipe()
        self.answers, from_browser = os.pipe()
        options = [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--remote-debugging-pipe",
            f"--user-data-dir={profile}",
        ]
        # The protocol wants the pipe at descriptors 3 and 4.
        script = f'exec "$@" 3<&{to_browser} 4>&{from_browser}'
        command = net.command(place, "bash", "-c", script, "bash", found, *options)
        self.child = subprocess.Popen(
            command, pass_fds=(to_browser, from_browser), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        os.close(to_browser)
        os.close(from_browser)
        self.numbers = itertools.count(1)
        self.unread = b""
        self.session: str | None = None
        self.faults: list[str] = []
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Runtime", "Log", "Page"):
            self.ask(f"{domain}.enable")

    def ask(self, method: str, **parameters: Any) -> dict[str, Any]:
        """A request of the protocol, and its result."""
        number = next(self.numbers)
        message = {"id": number, "method": method, "params": parameters}
        if self.session is not None:
            message["sessionId"] = self.session
        os.write(self.out, json.dumps(message).encode() + b"\0")
        while True:
            told = self.message()
            if told.get("id") == number:
                assert "error" not in told, (method, told["error"])
                result: dict[str, Any] = told["result"]
                return result

    def message(self) -> dict[str, Any]:
        while b"\0" not in self.unread:
            ready, _, _ = select.select([self.answers], [], [], 30)
            assert ready, "the browser says nothing"
            some = os.read(self.answers, 1 << 16)
            assert some, "the browser has ended"
            self.unread += some
        one, self.unread = self.unread.split(b"\0", 1)
        told: dict[str, Any] = json.loads(one)
        if told.get("method") == "Runtime.exceptionThrown":
            self.faults.append(str(told["params"]["exceptionDetails"]))
        if told.get("method") == "Log.entryAdded":
            self.faults.append(told["params"]["entry"]["text"])
        return told

    def open(self, address: str) -> None:
        self.ask("Page.navigate", url=address)
        self.wait("location.href !== 'about:blank' && document.readyState === 'complete'")

    def read(self, script: str) -> Any:
        """The value of an expression in the page."""
        told = self.ask("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in told, told
        return told["result"].get("value")

    def wait(self, script: str) -> Any:
        """Its first value that is true."""
        end = time.monotonic() + 30
        while not (value := self.read(script)):
            assert time.monotonic() < end, (script, self.read("document.body.innerText"), self.faults)
            time.sleep(0.1)
        return value

    def text(self, of: str) -> str:
        """The text of the first element that a selector finds."""
        return str(self.read(f"document.querySelector({json.dumps(of)}).innerText"))

    def type(self, into: str, text: str) -> None:
        """Writes into a field, as keys do."""
        self.read(f"document.querySelector({json.dumps(into)}).focus()")
        self.ask("Input.insertText", text=text)

    def click(self, on: str) -> None:
        """Clicks in the middle of an element."""
        place = self.read(
            f"(() => {{ const one = document.querySelector({json.dumps(on)}); one.scrollIntoView({{block: 'center'}});"
            " const box = one.getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2]; })()"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self.ask("Input.dispatchMouseEvent", type=kind, x=place[0], y=place[1], button="left", clickCount=1)

    def close(self) -> None:
        self.child.terminate()
        try:
            self.child.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.child.kill()
            self.child.wait()
        os.close(self.out)
        os.close(self.answers)
