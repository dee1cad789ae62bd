# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Random programs and messages: native code and the block in RTL do what plain Python says (l7_twins.py)."""

from __future__ import annotations

from collections import Counter

import pytest
from l7_twins import campaign, campaign_rtl, report
from penstock.cargo import example

ACTIONS = ["drop", "port", "queue", "queues by", "queues in turn", "unit", "units"]
PATTERNS = ["Name", "Range", "Skip", "Text", "Until"]
# Message types that a protocol's walker tells apart; 0: messages that it cannot read.
TYPES = {"coap": 2, "dns": 2, "memcached": 4, "quic": 3, "radius": 4}
OUTCOMES = ["delivered", "denied", "duplicates", "malformed", "oversize", "packets", "passed", "refused", "expired"]


def check(coverage: Counter, outcomes: list[str]) -> None:
    """Most messages match a rule, and nothing was left out."""
    assert coverage["rule hit"] >= coverage["rule default"], report(coverage)
    names = [f"action {name}" for name in ACTIONS] + [f"pattern {name}" for name in PATTERNS]
    missing = [name for name in [*names, *(f"outcome {name}" for name in outcomes)] if not coverage[name]]
    assert not missing, report(coverage)


@pytest.mark.parametrize("count", [200, pytest.param(10_000, marks=pytest.mark.long)])
def test_native_code(count: int) -> None:
    coverage = campaign(example("l7exec"), 0, count)
    check(coverage, OUTCOMES)
    types = [coverage[f"type {protocol} {kind}"] for protocol, count in TYPES.items() for kind in range(count)]
    assert min(types) >= 20, report(coverage)
    assert coverage["cases that fit a card"] >= 0.9 * count, report(coverage)


# Messages of more than 16,256 bytes are rare where frames take so long.
@pytest.mark.parametrize("count", [20, pytest.param(500, marks=pytest.mark.long)])
def test_rtl(count: int) -> None:
    check(campaign_rtl(example("l7exec"), 0, count), [name for name in OUTCOMES if name != "oversize"])


def test_native_code_with_many_rules() -> None:
    coverage = campaign(example("l7exec"), 20_000, 10, many=1500)
    assert coverage["cases"] == 10 and coverage["rule hit"] >= coverage["rule default"], report(coverage)
    assert coverage["cases that fit a card"] >= 7, report(coverage)


def test_rtl_with_many_rules() -> None:
    coverage = campaign_rtl(example("l7exec"), 20_000, 4, many=500)
    assert coverage["rows"] >= 2000 and coverage["rule hit"] >= coverage["rule default"], report(coverage)
