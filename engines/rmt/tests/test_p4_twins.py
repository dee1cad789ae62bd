# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Random P4 programs: `soft`, the rows of the machine and plain Python agree (p4_twins.py). PENSTOCK_SEED sets the
first program, PENSTOCK_RMT_PROGRAMS how many there are.
"""

from __future__ import annotations

import os

import p4_tree as p4
import pytest
from p4_case import Case, state_of
from p4_interpreter import Interpreter
from p4_tree import Bits, Fields, Member, Name, Param
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
    "Push", "stack.next", "stack.last", "variable index", "compound assignment", "emit with condition",
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


def test_value_sets_beside_other_values() -> None:
    """A row of a select names a set for its second key: frames of both members, of another one, and with other bits in
    the first key.
    """
    byte, meta = Bits(8), Fields("struct", "meta_t", (("round", Bits(8)),))
    pair = Fields("header", "pair_t", (("a", byte), ("b", byte), ("c", byte), ("kind", byte)))
    headers = Fields("struct", "headers_t", (("one", pair), ("two", pair)))
    h, standard = Name(headers, "h"), Fields("struct", "standard_metadata_t", ())
    one, two = (Member(pair, h, name) for name in ("one", "two"))
    first = p4.State("start", [p4.Extern("extract", [one], "p")], [Member(byte, one, "a"), Member(byte, one, "b")], [])
    first.rows = [p4.Row([("&&&", 1, 1), "known"], "more"), p4.Row([None], "accept")]
    more = p4.State("more", [p4.Extern("extract", [two], "p")], [], [p4.Row([], "accept")])
    params = [Param("out", headers, "h"), Param("inout", meta, "m"), Param("inout", standard, "std")]
    inout = [Param("inout", headers, "h"), *params[1:]]
    parser = p4.Parser("P", params, [p4.Object("value_set", "known", [4], byte)], [first, more])
    seen = p4.If(p4.IsValid(two), p4.Block([p4.Assign(Member(byte, one, "kind"), p4.Const(byte, 9))]))
    out = p4.Assign(Member(Bits(9), Name(standard, "std"), "egress_spec"), p4.Const(Bits(9), 1))
    ingress, egress = p4.Control("I", inout, [], p4.Block([out, seen])), p4.Control("E", inout, [], p4.Block())
    program = p4.Program([pair, headers, meta], [], [], parser, p4.Block(), ingress, egress, p4.Block(), [h])
    frames = [(0, 0, bytes([a, b, 0, 0, *range(20)])) for a in (0, 1, 3) for b in (4, 5, 6)]
    case = Case(program, frames, sets={"P.known": [4, 6]})
    outcome = compare(case, Twins())
    assert not outcome.fault and not outcome.wrong, outcome
    interpreter = Interpreter(program, state_of(case))
    kinds = [interpreter.carry(0, frame, 0)[0][1][3] for _, _, frame in frames]
    assert kinds == [0, 0, 0, 9, 0, 9, 9, 0, 9]
