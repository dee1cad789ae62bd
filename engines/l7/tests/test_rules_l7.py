# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Rules that change while a card is at work, and receivers that do not."""

from __future__ import annotations

from pathlib import Path

import pytest
from penstock import Device, ProgramError, ServiceError
from qnp import Message
from scapy.layers.l2 import Ether
from shop import amount, answer
from system import ROOT, TARGETS

DESIGN = ROOT / "designs/l7.toml"
PROGRAM = (ROOT / "engines/l7/programs/shop.l7").read_text()
# Reviews of rule a go to the unit, and no longer to the host.
CHANGED = PROGRAM.replace("=> queue 0;", "=> unit 0;")
REVIEW = Message(1, 1, 1, [(1, b"/CA/20240919"), (2, b"/CS/Algebra"), (3, b"good " * 500)])
ORDER = Message(2, 2, 1, [(1, b"/order/9"), (2, amount(30)), (3, b"box")], dport=8000)


def load(card: Device, text: str, application: str = "reviews") -> None:
    card.call("l7", {"load": {"application": application, "file": "new.l7", "text": text}})


def answered(message: Message, packets: int) -> bytes:
    return answer(Ether(message.delivered(packets)))


@pytest.mark.parametrize("target", TARGETS)
def test_rules_are_swapped_between_two_messages(target: str) -> None:
    """A message whose first packet has arrived keeps the decision of the old rules."""
    late = REVIEW.to(id=2)
    first, second = REVIEW.packets([1400])
    with Device.open(DESIGN, target) as card:
        card.send(first)
        card.run()
        load(card, CHANGED)
        card.send([*late.packets(), second])
        card.run()
        assert card.receive("host") == [REVIEW.delivered(2)]
        assert card.receive(0) == [answered(late, 1)]
        # And back again. The answer says what was loaded.
        asked = {"load": {"application": "reviews", "file": "new.l7", "text": PROGRAM}}
        place = {"name": "reviews", "number": 1, "port": 7000, "tenant": 0}
        assert card.call("l7", asked) == [{**place, "rules": 2, "rows": 5, "swaps": 2}]
        card.send(REVIEW.to(id=3).packets([700]))
        card.run()
        assert card.receive("host") == [REVIEW.to(id=3).delivered(2)]
        apps = card.call("l7", "apps")
        assert isinstance(apps, list) and [app["swaps"] for app in apps] == [2, 0]
        rules = card.call("l7", "rules")
        assert isinstance(rules, list)
        hits = {(rule["application"], rule["rule"]): rule["messages"] for rule in rules if rule["message"]}
        # The rules that were loaded last begin to count at 0.
        assert (hits["reviews", "a"], hits["shop", "order"]) == (1, 0)


# With these rules the second application needs more decisions than are free beside the old ones.
MANY = PROGRAM.replace(
    "        rule shards",
    "".join(f'        rule r{n} {{ path = "/r{n}"; }} => queue {100 + n};\n' for n in range(8183))
    + "        rule shards",
)


@pytest.mark.parametrize(
    ("target", "shop", "words"),
    [
        ("soft", PROGRAM.replace("port 8000", "port 8001"), "another number, port, protocol or tenant"),
        ("rtl", PROGRAM.replace("port 8000", "port 8001"), "another number, port, protocol or tenant"),
        ("rtl", MANY, "the rules of `shop` take"),
    ],
    ids=["soft-port", "rtl-port", "rtl-room"],
)
def test_a_swap_of_all_applications_is_whole(target: str, shop: str, words: str, tmp_path: Path) -> None:
    """If the second application cannot be swapped, the first one has its old rules."""
    program = tmp_path / "new.l7"
    program.write_text(shop.replace("=> queue 0;", "=> queue 7;"))
    with Device.open(DESIGN, target) as card:
        with pytest.raises((ServiceError, ProgramError)) as error:
            card.swap(program)
        assert words in str(error.value), error.value
        card.send(REVIEW.packets([1400]))
        (frame,) = card.run().frames
        assert (bytes(frame), frame.mark & 0xFFFF) == (REVIEW.delivered(2), 0)
        apps = card.call("l7", "apps")
        assert isinstance(apps, list) and [app["swaps"] for app in apps] == [0, 0]
        # And a swap that is right changes both.
        program.write_text(PROGRAM.replace("=> queue 0;", "=> queue 7;"))
        card.swap(program)
        card.send(REVIEW.to(id=5).packets([1400]))
        (frame,) = card.run().frames
        assert frame.mark & 0xFFFF == 7


def test_rules_that_cannot_be_loaded_change_nothing() -> None:
    with Device.open(DESIGN, "soft") as card:
        for text, application, words in [
            (CHANGED, "revews", "there is no application `revews`; there are: reviews, shop"),
            (
                CHANGED.replace("unit 0", "unit 7"),
                "reviews",
                "new.l7:21:74: there is no unit 7: the card's last unit is 0",
            ),
            (CHANGED.replace("port 7000", "port 7001"), "reviews", "another number, port, protocol or tenant"),
            (
                CHANGED.replace("application reviews", "application other"),
                "reviews",
                "new.l7 has no application `reviews`",
            ),
            (CHANGED.replace("priority 1 { student", "{ student"), "reviews", "new.l7:22:14: `b` and `a` (line 21)"),
        ]:
            with pytest.raises((ServiceError, ProgramError)) as error:
                load(card, text, application)
            assert words in str(error.value), error.value
        card.send(REVIEW.packets())
        card.run()
        assert card.receive("host") == [REVIEW.delivered(1)]


@pytest.mark.parametrize("target", ["rtl"])
def test_no_message_is_lost_in_a_swap_under_load(target: str) -> None:
    reviews = [REVIEW.to(id=at) for at in range(60)]
    orders = [ORDER.to(id=at) for at in range(60)]
    pairs = zip(reviews, orders, strict=True)
    frames = [frame for review, order in pairs for frame in review.packets([300]) + order.packets([17])]
    with Device.open(DESIGN, target) as card:
        card.send(frames)
        for text in (CHANGED, PROGRAM, CHANGED):
            card.step(700)
            load(card, text)
        card.run()
        host, port = card.receive("host"), card.receive(0)
        swapped = sorted(frame for frame in port if frame in {answered(one, 2) for one in reviews})
        assert sorted(set(port) - set(swapped)) == sorted(answered(one, 2) for one in orders)
        kept = [one.delivered(2) for one in reviews if answered(one, 2) not in swapped]
        assert sorted(host) == sorted(kept)
        assert host and swapped


@pytest.mark.parametrize("target", TARGETS)
def test_a_dead_receiver_beside_a_live_one(tmp_path: Path, target: str) -> None:
    """A unit that takes messages and gives none back stops neither the other unit nor the host."""
    dead = PROGRAM.replace("rule shards", 'rule dead { path = "/dead/" ..; } => unit 1;\n        rule shards')
    (tmp_path / "two.l7").write_text(dead)
    (tmp_path / "dead.c").write_text(
        "#include <penstock.h>\nint main(void) {\n  pn_init();\n  for (;;) pn_recv();\n}\n"
    )
    (tmp_path / "two.toml").write_text(
        '[card]\nname = "two"\nports = 2\n[[inline]]\nengine = "l7"\nprogram = "two.l7"\n'
        f'[[units]]\nname = "answers"\nengine = "rpu"\ncount = 1\nprogram = "{ROOT / "engines/l7/programs/answer.c"}"\n'
        '[[units]]\nname = "dead"\nengine = "rpu"\ncount = 1\nprogram = "dead.c"\n'
    )
    buried = [ORDER.to(id=100 + at, fields=[(1, b"/dead/%d" % at), (2, amount(1))]) for at in range(20)]
    frames = [frame for one in buried for frame in one.packets()] + ORDER.packets() + REVIEW.packets([1000])
    with Device.open(tmp_path / "two.toml", target) as card:
        card.send(frames)
        result = card.run(check=False)
        assert card.receive(0) == [answered(ORDER, 1)]
        assert card.receive("host") == [REVIEW.delivered(2)]
        assert result.faults and all("unit 1" in fault or "frames" in fault for fault in result.faults), result.faults
