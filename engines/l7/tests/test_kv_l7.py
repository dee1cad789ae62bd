# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""A key-value service behind a card (engines/l7/lib/examples/kv): 100 senders, four servers by the prefix of the key,
and a network that loses, duplicates and reorders in both directions.
"""

from __future__ import annotations

import re
import subprocess
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest
from netns import CARD, LEFT, Net, Up, finish
from penstock.cargo import example
from system import ROOT

# In the order of their ports, 1 to 3; the last one is behind the host's queue.
PREFIXES = ("cart:", "item:", "page:", "user:")
SENDERS, MESSAGES = 100, 32
KEYS, ZIPF = 1000, 0.9


@pytest.fixture
def net() -> Iterator[Net]:
    with Net() as made:
        yield made


def lines(text: str) -> list[tuple[int, int, str]]:
    """Sender, number and key of each put."""
    rows = (line.split() for line in text.splitlines())
    return [(int(sender), int(number), key) for sender, number, key in rows]


def test_each_message_arrives_once_and_in_order(net: Net, tmp_path: Path) -> None:
    kv = example("kv")
    options = []
    # A message of several packets leaves as one frame.
    for port, prefix in enumerate(PREFIXES, 1):
        server, inner = prefix[:-1], f"s{port}"
        net.server(server, inner)
        net.run(server, "ip", "link", "set", "r0", "mtu", "9000")
        net.run(CARD, "ip", "link", "set", inner, "mtu", "9000")
        options += ["--host", inner] if port == 4 else ["--port", f"{port}={inner}"]
    up = Up(net, tmp_path, ROOT / "designs/l7-kv.toml", *options, ports=1)
    servers = []
    for seed, prefix in enumerate(PREFIXES, 1):
        child = net.start(prefix[:-1], kv, "serve", "0.0.0.0:7000", tmp_path / f"{prefix[:-1]}.redb", str(seed))
        assert child.stdout and child.stdout.readline() == "ready\n", finish(child)
        servers.append(child)
    log = tmp_path / "log"
    load = net.start(LEFT, kv, "load", "10.0.0.2:7000", log, str(SENDERS), str(MESSAGES), "7")
    words = finish(load).split()
    figures = dict(zip(words[::2], map(int, words[1::2]), strict=True))
    print(f"100 senders: p50 {figures['p50_us']} us, p99 {figures['p99_us']} us, {figures['repeated']} packets again")
    # A server stores a message before it replies, so it can be killed at any time.
    for child in servers:
        assert child.poll() is None, finish(child)
        child.kill()
        child.communicate()

    assert figures["messages"] == figures["received"] == SENDERS * MESSAGES
    # Both directions lose five packets of a hundred.
    assert figures["repeated"] > SENDERS * MESSAGES // 20 and figures["again"] > 0
    sent = lines(log.read_text())
    assert len(sent) == SENDERS * MESSAGES * 3 // 4
    arrived = []
    for prefix in PREFIXES:
        dump = subprocess.run(
            [kv, "dump", tmp_path / f"{prefix[:-1]}.redb"], capture_output=True, text=True, check=True
        )
        rows = lines(dump.stdout)
        assert rows and all(key.startswith(prefix) for _, _, key in rows)
        order = defaultdict(list)
        for sender, number, _ in rows:
            order[sender].append(number)
        assert all(numbers == sorted(numbers) for numbers in order.values())
        arrived += rows
    assert Counter(arrived) == Counter(sent), "each message arrives once"
    # The most frequent key comes as often as Zipf says, within five standard deviations.
    share = 1 / sum(rank**-ZIPF for rank in range(1, KEYS + 1))
    most = Counter(key for _, _, key in sent)["cart:0"]
    assert abs(most - share * len(sent)) < 5 * (share * len(sent)) ** 0.5
    # Each message came to its rule, and some of them again.
    rules = {name: int(count) for name, count in re.findall(r"rule (\w+).*?messages (\d+)", up.ctl("l7", "rules"))}
    for prefix in PREFIXES:
        assert rules[f"put_{prefix[:-1]}"] >= sum(key.startswith(prefix) for _, _, key in sent)
    assert sum(rules.values()) > SENDERS * MESSAGES and rules["default"] == 0
    assert up.stop()["faults"] == []
