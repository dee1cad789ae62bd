# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Two applications at one port of a card: the messages of one go to a slow unit."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from penstock import Device
from qnp import Message

COUNT = 1200

RULES = """message Text {
    option (type) = 1;
    string text = 1 [(dispatch) = true];
}
application slow = 1 {
    udp port 7000;
    on Text { default => unit 0; }
}
application quick = 2 {
    udp port 8000;
    on Text { default => queue 5; }
}
"""

# A thousand cycles for a message
SLOW = """#include <penstock.h>
int main(void) {
  pn_init();
  for (;;) {
    pn_desc_t desc = pn_recv();
    for (volatile int i = 0; i < 200; i++) {}
    pn_drop(desc);
  }
}
"""

DESIGN = """[card]
name = "two"
ports = 1

[[units]]
engine = "rpu"
count = 1
program = "slow.c"

[[inline]]
engine = "l7"
program = "two.l7"
"""


def test_a_slow_unit_of_one_application_refuses_nothing_of_the_other(tmp_path: Path) -> None:
    """At line rate, every message of the quick application arrives, although the slow one's messages find no slot."""
    (tmp_path / "two.l7").write_text(RULES)
    (tmp_path / "slow.c").write_text(SLOW)
    (tmp_path / "two.toml").write_text(DESIGN)
    messages = [
        Message(1 + at % 2, 1, at, [(1, b"message %d" % at + b"x" * 40)], dport=7000 + 1000 * (at % 2))
        for at in range(2 * COUNT)
    ]
    with Device.open(tmp_path / "two.toml", "rtl") as device:
        device.send(frame for message in messages for frame in message.packets())
        result = device.run()
    assert Counter(frame.mark for frame in result.frames) == {5: COUNT}
    wanted = [message.delivered(1) for message in messages if message.application == 2]
    assert [bytes(frame) for frame in result.frames] == wanted
    # The slow application pays: the unit took some of its messages, and the dispatcher dropped the others.
    assert result.counters.units[0].rx_frames + result.counters.ports[0].drop_policy == COUNT
    assert result.counters.units[0].rx_frames > 20
