# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Random P4 programs: `soft`, the rows of the machine and plain Python agree (p4_twins.py). PENSTOCK_SEED sets the first
program, PENSTOCK_RMT_PROGRAMS how many there are.
"""

from __future__ import annotations

import os

import pytest
from p4_twins import Campaign, Twins, compare, random_case, report, shrunk

SEED = int(os.environ.get("PENSTOCK_SEED", "1"))
PROGRAMS = int(os.environ.get("PENSTOCK_RMT_PROGRAMS", "300"))
# Features that at least one of a hundred programs has.
COMMON = (
    "action_profile", "action_selector", "assert", "clone_preserving_field_list", "count", "counter", "digest",
    "direct_counter", "direct_meter", "execute_meter", "hash", "mark_to_drop", "meter", "random",
    "recirculate_preserving_field_list", "register", "resubmit_preserving_field_list", "truncate", "update_checksum",
    "update_checksum_with_payload", "value_set", "verify", "verify_checksum", "verify_checksum_with_payload",
    "multicast", "assume", "log_msg", "sub-control", "sub-parser", "Exit", "Lookahead", "FunctionCall", "Switch",
    "advance", "key exact", "key lpm", "key ternary", "key range", "key optional", "key selector",
)  # fmt: skip


@pytest.mark.parametrize("programs", [PROGRAMS, pytest.param(10_000, marks=pytest.mark.long)])
def test_twins_agree(programs: int) -> None:
    twins, campaign = Twins(), Campaign()
    for seed in range(SEED, SEED + programs):
        case = random_case(seed)
        outcome = compare(case, twins)
        campaign.add(case, outcome)
        if outcome.wrong:
            small = shrunk(case, twins, outcome.wrong.split(",")[0])
            raise AssertionError(f"seed {seed}: {report(small, compare(small, twins))}")
    print(campaign)
    assert campaign.met >= 0.3 * campaign.frames, campaign
    assert campaign.fits >= 0.5 * campaign.programs, campaign
    assert sum(campaign.faults.values()) <= 0.01 * campaign.programs, campaign
    rare = [name for name in COMMON if campaign.features[name] < 0.01 * campaign.programs]
    assert not rare, (rare, campaign)
