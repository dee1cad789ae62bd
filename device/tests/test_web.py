# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""The page of a live card, in a real browser, and its server among clients that mean harm."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browser import Browser
from netns import CARD, Net, Up, finish
from system import ROOT, DesignMaker
from test_watch import BLOCK, FORWARD, send

FLOW = sorted((ROOT / "engines/flow/programs").glob("*.efsm"))[0]
TOKEN = "correct-horse-battery-staple"
# A name that a page must not take for markup.
NAME = "<img src=x>&"


@pytest.fixture
def browser(net: Net, tmp_path: Path) -> Iterator[Browser]:
    one = Browser(net, CARD, tmp_path / "profile")
    yield one
    one.close()


def named(design: Path) -> Path:
    """The design under a name that is markup, and with a flow block."""
    text = re.sub(r'^name = ".*"$', f"name = '{NAME}'", design.read_text(), count=1, flags=re.MULTILINE)
    design.write_text(text + BLOCK.format(FLOW))
    return design


def address(up: Up) -> str:
    """Of the page; it is told when the card is up."""
    return next(line for line in up.head.splitlines() if line.startswith("page at ")).split()[-1]


def token(folder: Path) -> Path:
    path = folder / "token"
    path.write_text(TOKEN + "\n")
    path.chmod(0o600)
    return path


def asked(net: Net, url: str, *, body: Any = None, headers: dict[str, str] | None = None) -> tuple[int, str]:
    """Status and text of an answer, asked for in the card's namespace; POST if there is a body."""
    ask = f"""
        import json, urllib.error, urllib.request
        print("ready", flush=True)
        data = {None if body is None else json.dumps(body).encode()!r}
        request = urllib.request.Request({url!r}, data=data, headers={headers or {}!r})
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                print(json.dumps([answer.status, answer.read().decode()]))
        except urllib.error.HTTPError as error:
            print(json.dumps([error.code, error.read().decode()]))
        """
    status, text = json.loads(finish(net.python(CARD, ask)))
    return status, text


def test_page_shows(net: Net, tmp_path: Path, make_design: DesignMaker, browser: Browser) -> None:
    """Frames appear in the tiles, the drawing and the tables; names stay text; nothing is loaded from elsewhere."""
    up = Up(net, tmp_path, named(make_design(FORWARD, units=2, policy="round-robin")), "--web", "127.0.0.1:0")
    browser.open(address(up))
    browser.wait("document.title.endsWith('Penstock') && document.title !== 'Penstock'")
    assert browser.text("#design") == NAME and browser.read("document.images.length") == 0
    send(net, 300)
    shown = "[...document.querySelectorAll('{}')].map((one) => one.innerText)"
    browser.wait("document.getElementById('tiles').innerText.includes('300 frames')")
    units = [row.split("\t") for row in browser.read(shown.format("#units tr"))[1:]]
    status = up.status()
    assert [int(unit[3]) for unit in units] == [unit["rx_frames"] for unit in status["units"]]
    assert sum(int(unit[3]) for unit in units) == 300
    ports = [row.split("\t") for row in browser.read(shown.format("#ports tr"))[1:]]
    assert [port[:2] for port in ports] == [["port0", "p0"], ["port1", "p1"], ["host", "–"]]
    drawing = browser.read("document.querySelector('#drawing svg').textContent")
    assert "300frames in" in drawing and "300frames given" in drawing, drawing
    block = browser.read(shown.format("#blocks tr"))[1].split("\t")
    assert block[1:3] == ["flow", "300"], block
    assert "Elements of flow blocks" in browser.text("#views")
    assert browser.text("#drops") == "none"
    # After two looks there are points, and the curve of what entered is higher than 0 once.
    browser.wait("document.querySelectorAll('#plot path.line')[0].getAttribute('d').split('L').length > 2")
    assert browser.read("document.getElementById('control').hidden") is True
    assert "only shows" in browser.text("#rights")
    assert browser.faults == []
    up.stop()
    browser.wait("!document.getElementById('away').hidden")


def test_page_acts(net: Net, tmp_path: Path, make_design: DesignMaker, browser: Browser) -> None:
    design = named(make_design(FORWARD, units=2, policy="round-robin"))
    up = Up(net, tmp_path, design, "--web", "127.0.0.1:0", "--web-token", token(tmp_path))
    browser.open(address(up))
    browser.wait("!document.getElementById('control').hidden")
    browser.click("#programs button")
    browser.wait("document.getElementById('answer').innerText.includes('the token is not')")
    browser.type("#token", TOKEN)
    browser.type("#line", "flow list")
    browser.click("#control button")
    listed = up.ctl("flow", "list").strip()
    browser.wait(f"document.getElementById('answer').innerText.trim() === {json.dumps(listed)}")
    for row, done in ((2, '"kept"'), (3, '"units": 2')):
        browser.click(f"#programs tr:nth-child({row}) button")
        browser.wait(f"document.getElementById('answer').innerText.includes({json.dumps(done)})")
    send(net, 100)
    browser.wait("document.getElementById('tiles').innerText.includes('100 frames')")
    # The wrong token is an entry of the browser's log as every answer with an error is.
    assert [fault for fault in browser.faults if "401" not in fault] == []
    up.stop()


def test_who_may_ask(net: Net, tmp_path: Path, make_design: DesignMaker) -> None:
    """Without the token nobody changes anything, and a foreign name for the server's address gets nothing."""
    up = Up(net, tmp_path, named(make_design(FORWARD, units=2)), "--web", "127.0.0.1:0", "--web-token", token(tmp_path))
    page = address(up)
    right = {"Authorization": f"Bearer {TOKEN}"}
    halt = {"do": "disable", "unit": 0}
    assert asked(net, page + "card", headers={"Host": "evil.example"})[0] == 421
    assert asked(net, page + "do", body=halt, headers={**right, "Host": "evil.example"})[0] == 421
    for headers in ({}, {"Authorization": TOKEN}, {"Authorization": "Bearer "}, {"Authorization": f"Bearer {TOKEN}x"}):
        for path in ("do", "ctl"):
            assert asked(net, page + path, body=halt, headers=headers)[0] == 401, headers
    assert json.loads(asked(net, page + "card")[1])["acts"] is True
    for path, body, status, words in (
        ("do", {"do": "fly"}, 400, "no request"),
        ("do", {"do": "capture", "port": "0"}, 400, "captures go over the control socket"),
        ("do", {"do": "reload", "program": "/none.c"}, 400, "/none.c"),
        ("ctl", ["fly"], 400, "unrecognized subcommand 'fly'"),
        ("ctl", "flow list", 400, "no list of words"),
        ("ctl", ["flow", "dump", "none"], 400, "none"),
        ("ctl", ["x" * 70_000], 413, "65536 bytes"),
        ("none", {}, 404, "there is only /"),
        ("do", {"do": "status"}, 200, '"driver"'),
    ):
        told = asked(net, page + path, body=body, headers=right)
        assert told[0] == status and words in told[1], told
    up.stop()

    up = Up(net, tmp_path, make_design(FORWARD, units=2), "--web", "127.0.0.1:0")
    told = asked(net, address(up) + "do", body=halt, headers=right)
    assert told[0] == 403 and "--web-token" in told[1]
    for options, refused in (
        (("--web", "nowhere:1"), "--web nowhere:1"),
        (("--web-token", "f"), "--web <ADDRESS>"),
        (("--web", "127.0.0.1:0", "--web-token", str(tmp_path / "none")), "openssl rand"),
        (("--web", "127.0.0.1:0", "--web-token", os.devnull), "others may read it"),
    ):
        done = up.call("up", ROOT / "designs/forward.toml", "--port", "0=nothing", *options)
        assert done.returncode != 0 and refused in done.stderr, done.stderr
    up.stop()
