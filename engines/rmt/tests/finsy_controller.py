# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""The jobs of finsy in test_p4runtime.py. It runs in finsy's environment: `finsy_controller.py JOB ADDRESS [FILE]`."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

import finsy as fy
from finsy.p4client import P4ClientError
from finsy.proto.p4.config.v1.p4info_pb2 import P4Info
from google.protobuf import text_format

BOB, EVE = 1, 2


def route(net: str, **params: int) -> fy.P4TableEntry:
    return fy.P4TableEntry("routes", match=fy.Match(**{"hdr.ipv4.dst": net}), action=fy.Action("route", **params))


async def table(switch: fy.Switch, name: str) -> list[str]:
    found = [entry async for entry in switch.read(fy.P4TableEntry(name))]
    return sorted(
        f"{entry.match_dict(switch.p4info, wildcard='*')} {entry.action_str(switch.p4info)}" for entry in found
    )


async def tables(address: str) -> dict[str, object]:
    """Inserts, modifies, deletes and reads entries of bob's router."""
    said: dict[str, object] = {}
    async with fy.Switch("bob", address, fy.SwitchOptions(device_id=BOB)) as switch:
        said["primary"] = switch.is_primary
        said["version"] = str(switch.p4runtime_version)
        said["tables"] = sorted(one.alias for one in switch.p4info.tables)
        said["ids"] = sorted(one.id for one in switch.p4info.tables)
        said["before"] = await table(switch, "routes")
        await switch.write([+route("172.16.0.0/12", next_hop=2), +route("172.16.5.0/24", next_hop=1)])
        said["inserted"] = await table(switch, "routes")
        await switch.write([~route("172.16.5.0/24", next_hop=2), -route("172.16.0.0/12", next_hop=2)])
        said["changed"] = await table(switch, "routes")
        hop = fy.P4TableEntry(
            "next_hops",
            match=fy.Match(**{"meta.next_hop": 7}),
            action=fy.Action("forward", port=1, src="02:00:00:00:07:00", dst="02:00:00:00:07:07"),
        )
        await switch.insert([hop, route("172.17.0.0/16", next_hop=7)])
        said["default"] = [
            entry.action_str(switch.p4info)
            async for entry in switch.read(fy.P4TableEntry("routes", is_default_action=True))
        ]
        try:
            await switch.insert([route("172.18.0.0/16", next_hop=1), route("172.17.0.0/16", next_hop=1)])
        except P4ClientError as error:
            said["twice"] = {at: one.canonical_code.name for at, one in error.details.items()}
        said["after"] = await table(switch, "routes")
    return said


async def registers(address: str) -> dict[str, object]:
    """Reads and writes eve's register."""
    async with fy.Switch("eve", address, fy.SwitchOptions(device_id=EVE)) as switch:
        wanted = fy.P4RegisterEntry("requests")
        before = [(entry.index, entry.data) async for entry in switch.read(wanted)]
        await switch.modify([fy.P4RegisterEntry("requests", index=0, data=41)])
        after = [(entry.index, entry.data) async for entry in switch.read(wanted)]
    return {"before": before, "after": after}


async def program(address: str, source: str) -> dict[str, object]:
    """Gives eve another program with the P4Info of the one that it has."""
    async with fy.Switch("eve", address, fy.SwitchOptions(device_id=EVE)) as switch:
        info = Path(source).with_suffix(".txtpb")
        info.write_text(text_format.MessageToString(switch.p4info.p4info))
        await switch.modify([fy.P4RegisterEntry("requests", index=0, data=41)])
    options = fy.SwitchOptions(device_id=EVE, p4info=info, p4blob=Path(source))
    said: dict[str, object] = {}
    # The second time the program is there already.
    for turn in ("first", "second"):
        async with fy.Switch("eve", address, options) as switch:
            registers = [entry.data async for entry in switch.read(fy.P4RegisterEntry("requests"))]
            said[turn] = [len(await table(switch, "operators")), registers]
    return said


async def backup(address: str) -> dict[str, object]:
    """Two controllers of one device: only the primary one writes."""
    first = fy.Switch("first", address, fy.SwitchOptions(device_id=BOB, initial_election_id=20))
    second = fy.Switch("second", address, fy.SwitchOptions(device_id=BOB, initial_election_id=10))
    async with first, second:
        said: dict[str, object] = {"primary": [first.is_primary, second.is_primary]}
        try:
            await second.insert([route("172.19.0.0/16", next_hop=1)])
        except P4ClientError as error:
            said["refused"] = error.code.name
        said["read"] = len(await table(second, "routes"))
    return said


async def text(_: str, info: str) -> dict[str, object]:
    """Whether P4Info as text is what protobuf itself writes."""
    given = Path(info).read_text()
    return {"same": text_format.MessageToString(text_format.Parse(given, P4Info())) == given}


JOBS = {"text": text, "tables": tables, "registers": registers, "program": program, "backup": backup}

if __name__ == "__main__":
    print(json.dumps(asyncio.run(JOBS[sys.argv[1]](*sys.argv[2:]))))
