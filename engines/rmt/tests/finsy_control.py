# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Everything that a controller sets on control.p4, by finsy, for test_p4runtime_control.py. It runs in finsy's
environment: `finsy_control.py JOB ADDRESS EXCHANGE`, where EXCHANGE is a JSON list, the command that sends frames into
port 0 and prints those that leave there, all as hexadecimal digits.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncIterator, Iterable
from pathlib import Path
from typing import Any

import finsy as fy
import finsy.p4client
from finsy.p4client import P4ClientError
from finsy.p4entity import P4ValueSetMember
from finsy.p4schema import P4ConfigAction
from finsy.proto import p4r

# finsy gives a request 10 s, in which a simulated card does not load a program while the machine has other work.
finsy.p4client._DEFAULT_RPC_TIMEOUT = 120.0

REST = bytes(range(20))


def frame(op: int, key: int = 0, flow: int = 0, result: int = 0) -> bytes:
    return bytes([op, key, flow, result]) + REST


class Card:
    """A switch, and frames at its port 0."""

    def __init__(self, switch: fy.Switch, exchange: list[str]) -> None:
        self.switch = switch
        self.exchange = exchange

    async def frames(self, *frames: bytes) -> list[str]:
        """The frames that leave for these, without the part that is always the same."""
        command = [*self.exchange, *(one.hex() for one in frames)]
        done = await asyncio.to_thread(subprocess.run, command, capture_output=True, text=True, check=True)
        return [line.removesuffix(REST.hex()) for line in done.stdout.split()]

    async def results(self, *frames: bytes) -> list[int]:
        """The fourth byte of the frames that leave."""
        return [int(one[6:8], 16) for one in await self.frames(*frames)]

    async def read(self, entity: Any) -> list[Any]:
        return [entry async for entry in self.switch.read(entity)]

    async def refused(self, updates: Iterable[Any]) -> list[list[str]]:
        """Codes and messages with which updates are refused."""
        try:
            await self.switch.write(list(updates))
        except P4ClientError as error:
            if error.details:
                return [[one.canonical_code.name, one.message] for one in error.details.values()]
            return [[error.code.name, error.message]]
        return []


async def first(items: AsyncIterator[Any], seconds: float = 15) -> Any:
    return await asyncio.wait_for(anext(items), seconds)


def entry(table: str, key: int, action: Any, **more: Any) -> fy.P4TableEntry:
    return fy.P4TableEntry(table, match=fy.Match(**{"hdr.op.key": key}), action=action, **more)


async def copies(card: Card) -> dict[str, object]:
    """Multicast groups and clone sessions."""
    said: dict[str, object] = {}

    def group() -> fy.P4MulticastGroupEntry:
        return fy.P4MulticastGroupEntry(3, replicas=[0, (0, 7)])

    said["before"] = await card.frames(frame(8, 3), frame(9, 9))
    await card.switch.write([+group(), +fy.P4CloneSessionEntry(9, replicas=[0])])
    said["group"] = await card.frames(frame(8, 3))
    said["clone"] = await card.frames(frame(9, 9))
    said["groups"] = [list(map(str, one.replicas)) for one in await card.read(fy.P4MulticastGroupEntry())]
    said["sessions"] = [one.session_id for one in await card.read(fy.P4CloneSessionEntry())]
    said["twice"] = await card.refused([+group()])
    said["missing"] = await card.refused([~fy.P4MulticastGroupEntry(4, replicas=[0])])
    said["same"] = await card.refused([+fy.P4MulticastGroupEntry(4, replicas=[0, 0])])
    # The length cuts the clone alone.
    await card.switch.write([~fy.P4CloneSessionEntry(9, replicas=[0], packet_length_bytes=16), -group()])
    said["cut"] = sorted(len(one) // 2 for one in await card.frames(frame(9, 9)))
    said["gone"] = await card.frames(frame(8, 3))
    return said


async def groups(card: Card) -> dict[str, object]:
    """Multicast groups alone."""
    said: dict[str, object] = {"before": await card.frames(frame(8, 3))}
    group = fy.P4MulticastGroupEntry(3, replicas=[0, (0, 7)])
    await card.switch.insert([group])
    said["group"] = await card.frames(frame(8, 3))
    said["groups"] = [list(map(str, one.replicas)) for one in await card.read(fy.P4MulticastGroupEntry())]
    said["twice"] = await card.refused([+group])
    said["far"] = await card.refused([+fy.P4MulticastGroupEntry(64, replicas=[0])])
    await card.switch.delete([group])
    said["gone"] = await card.frames(frame(8, 3))
    return said


async def clones(card: Card) -> dict[str, object]:
    """Clone sessions alone."""
    said: dict[str, object] = {"before": await card.frames(frame(9, 9))}
    session = fy.P4CloneSessionEntry(9, replicas=[0, (0, 1)])
    await card.switch.insert([session])
    said["clones"] = await card.frames(frame(9, 9))
    said["other"] = await card.frames(frame(9, 8))
    said["sessions"] = [
        [one.session_id, list(map(str, one.replicas))] for one in await card.read(fy.P4CloneSessionEntry())
    ]
    said["twice"] = await card.refused([+session])
    said["far"] = await card.refused([+fy.P4CloneSessionEntry(64, replicas=[0])])
    said["cut"] = await card.refused([+fy.P4CloneSessionEntry(5, replicas=[0], packet_length_bytes=16)])
    await card.switch.modify([fy.P4CloneSessionEntry(9, replicas=[0])])
    said["fewer"] = await card.frames(frame(9, 9))
    await card.switch.delete([session])
    said["gone"] = await card.frames(frame(9, 9))
    return said


async def meters(card: Card) -> dict[str, object]:
    """Meters and direct meters: of frames at once the first ones are green, later ones yellow and red."""
    rates = fy.P4MeterConfig(cir=1, cburst=2, pir=1, pburst=3)
    said: dict[str, object] = {}
    await card.switch.modify([fy.P4MeterEntry("police", index=2, config=rates)])
    said["colors"] = await card.results(*[frame(4, 2)] * 5)
    said["others"] = await card.results(*[frame(4, 1)] * 5)
    read = await card.read(fy.P4MeterEntry("police"))
    said["read"] = [one.config and [one.config.cir, one.config.pburst] for one in read]
    said["outside"] = await card.refused([fy.P4MeterEntry("police", index=4, config=rates)])
    said["wrong"] = await card.refused(
        [fy.P4MeterEntry("police", index=0, config=fy.P4MeterConfig(cir=2, cburst=1, pir=1, pburst=1))]
    )
    await card.switch.insert([entry("metered", 5, fy.Action("colored"))])
    plain = entry("metered", 5, fy.Action("colored"))
    said["green"] = await card.results(*[frame(5, 5)] * 5)
    await card.switch.modify([fy.P4DirectMeterEntry(table_entry=plain, config=rates)])
    said["direct"] = await card.results(*[frame(5, 5)] * 5)
    said["direct read"] = [
        one.config and one.config.cburst
        for one in await card.read(fy.P4DirectMeterEntry(table_entry=fy.P4TableEntry("metered")))
    ]
    # Without a config the meter is as it begins.
    await card.switch.modify([fy.P4MeterEntry("police", index=2), fy.P4DirectMeterEntry(table_entry=plain)])
    said["reset"] = [await card.results(*[frame(4, 2)] * 5), await card.results(*[frame(5, 5)] * 5)]
    return said


async def profiles(card: Card) -> dict[str, object]:
    """Members, groups and sets of actions."""
    said: dict[str, object] = {}
    switch = card.switch

    def member(number: int, value: int, profile: str = "shared_actions") -> fy.P4ActionProfileMember:
        return fy.P4ActionProfileMember(profile, member_id=number, action=fy.Action("answer", value=value))

    said["no member"] = await card.refused([+entry("by_member", 1, fy.P4IndirectAction(member_id=1))])
    await switch.insert([member(1, 0x11), member(2, 0x22)])
    await switch.insert([entry("by_member", key, fy.P4IndirectAction(member_id=key)) for key in (1, 2)])
    said["members"] = await card.results(frame(6, 1), frame(6, 2), frame(6, 3))
    # The entry follows its member.
    await switch.modify([member(2, 0x33)])
    said["changed"] = await card.results(frame(6, 2))
    said["used"] = await card.refused([-member(2, 0)])
    said["full"] = await card.refused([+member(3, 0), +member(4, 0), +member(5, 0)])
    said["read"] = sorted(one.member_id for one in await card.read(fy.P4ActionProfileMember("shared_actions")))
    await switch.insert([member(number, number, "choices") for number in (1, 2, 3)])

    def group(**weights: int) -> fy.P4ActionProfileGroup:
        """Weights of the members m1, m2, ..."""
        members = [fy.P4Member(int(name[1:]), weight=weight) for name, weight in weights.items()]
        return fy.P4ActionProfileGroup("choices", group_id=7, members=members)

    def by_group() -> fy.P4TableEntry:
        return entry("by_group", 1, fy.P4IndirectAction(group_id=7))

    await switch.insert([group(m1=1, m2=2)])
    await switch.insert([by_group()])
    # The hash of the selector's key is the key: weights 1 and 2 take it in turns of three.
    said["group"] = await card.results(*[frame(7, 1, flow) for flow in range(6)])
    said["unknown"] = await card.refused([~group(m9=1)])
    await switch.modify([group(m3=1)])
    said["other"] = await card.results(*[frame(7, 1, flow) for flow in range(3)])
    said["member of group"] = await card.refused([-member(3, 3, "choices")])
    # A group without members leads to the default action.
    await switch.modify([group()])
    said["empty"] = await card.results(frame(7, 1, 0, 0x5A))
    said["group used"] = await card.refused([-group()])
    await switch.delete([by_group(), group()])
    said["mixed"] = await card.refused(
        [+entry("by_group", 2, fy.P4IndirectAction([(1, fy.Action("answer", value=1))]))]
    )
    await switch.delete([member(number, 0, "choices") for number in (1, 2, 3)])
    one_shot = fy.P4IndirectAction([(1, fy.Action("answer", value=0x41)), (1, fy.Action("answer", value=0x42))])
    await switch.insert([entry("by_group", 2, one_shot)])
    said["set"] = await card.results(*[frame(7, 2, flow) for flow in range(4)])
    (read,) = await card.read(fy.P4TableEntry("by_group"))
    said["set read"] = [[one[0], one[1].args["value"]] for one in read.action.action_set]
    return said


async def packets(card: Card) -> dict[str, object]:
    """Frames to the controller, and from it."""
    said: dict[str, object] = {}
    arriving = card.switch.read_packets()
    waiting = asyncio.create_task(first(arriving))
    await asyncio.sleep(0.1)
    said["to"] = await card.frames(frame(1, 0x2A))
    packet = await waiting
    said["in"] = [packet["port"], packet["kind"], packet.payload.hex().removesuffix(REST.hex())]
    # The frame leaves while the exchange listens for those of nobody.
    listening = asyncio.create_task(card.frames())
    await asyncio.sleep(2)
    await card.switch.write([fy.P4PacketOut(frame(0, 1, 2, 3), port=0)])
    said["out"] = await listening
    if not said["out"]:
        # A device of Python carries frames while it runs, and not between.
        said["out"] = await card.frames()
    return said


async def digests(card: Card) -> dict[str, object]:
    """Lists of messages, which are sent once until they are acknowledged."""
    said: dict[str, object] = {}

    def config() -> fy.P4DigestEntry:
        wait, again = 50_000_000, 60_000_000_000
        return fy.P4DigestEntry("learn_t", max_list_size=10, max_timeout_ns=wait, ack_timeout_ns=again)

    await card.switch.insert([config()])
    said["config"] = [one.max_list_size for one in await card.read(fy.P4DigestEntry("learn_t"))]
    lists = card.switch.read_digests("learn_t")
    waiting = asyncio.create_task(first(lists))
    await asyncio.sleep(0.1)
    await card.frames(frame(2, 5), frame(2, 6), frame(2, 5))
    learned = await waiting
    said["first"] = [[one["key"], one["port"]] for one in learned]
    # Both are known, and only the third one is new.
    waiting = asyncio.create_task(first(lists))
    await card.frames(frame(2, 5), frame(2, 6), frame(2, 7))
    said["second"] = [one["key"] for one in await waiting]
    await card.switch.write([learned.ack()])
    waiting = asyncio.create_task(first(lists))
    await asyncio.sleep(0.1)
    await card.frames(frame(2, 5), frame(2, 7))
    said["acknowledged"] = [one["key"] for one in await waiting]
    await card.switch.delete([config()])
    said["gone"] = len(await card.read(fy.P4DigestEntry()))
    return said


async def idle(card: Card) -> dict[str, object]:
    """An entry without frames is reported once, until it has one."""
    said: dict[str, object] = {}
    short = entry("known", 1, fy.Action("answer", value=1), idle_timeout_ns=300_000_000)
    await card.switch.insert([short, entry("known", 2, fy.Action("answer", value=2))])
    timeouts = card.switch.read_idle_timeouts()

    def keys(notification: Any) -> list[Any]:
        return [int(value) for one in notification for value in one.match.values()]

    said["first"] = keys(await first(timeouts))
    waiting = asyncio.create_task(first(timeouts, 15))
    said["early"] = bool((await asyncio.wait([waiting], timeout=0.7))[0])
    said["hit"] = await card.results(frame(3, 1))
    said["second"] = keys(await waiting)
    read = await card.read(fy.P4TableEntry("known", match=fy.Match(**{"hdr.op.key": 1}), time_since_last_hit=0))
    said["timeout"] = [one.idle_timeout_ns for one in read]
    said["no timeouts"] = await card.refused([+entry("metered", 9, fy.Action("colored"), idle_timeout_ns=1)])
    return said


async def values(card: Card) -> dict[str, object]:
    """A value set of the parser."""
    said: dict[str, object] = {}
    tunnels = fy.P4ValueSetEntry("tunnels", members=[P4ValueSetMember(0x20), P4ValueSetMember(0x30)])
    tunnel = frame(0x20) + bytes(4)
    said["before"] = await card.frames(tunnel)
    await card.switch.modify([tunnels])
    said["after"] = await card.frames(bytes([0x20, 0, 0, 0, 9, 9, 9, 0]) + REST, frame(0x21))
    said["read"] = [one.value for one in (await card.read(fy.P4ValueSetEntry("tunnels", members=[])))[0].members]
    many = fy.P4ValueSetEntry("tunnels", members=[P4ValueSetMember(number) for number in range(5)])
    said["full"] = await card.refused([many])
    return said


async def counters(card: Card) -> dict[str, object]:
    """Direct counters are read and set, metadata is kept."""
    said: dict[str, object] = {}
    await card.switch.insert([entry("known", 8, fy.Action("answer", value=8), metadata=b"note")])
    await card.frames(frame(3, 8), frame(3, 8))

    async def count() -> list[int]:
        wanted = fy.P4DirectCounterEntry(table_entry=fy.P4TableEntry("known", match=fy.Match(**{"hdr.op.key": 8})))
        ((data),) = [one.data for one in await card.read(wanted)]
        return [data.packet_count, data.byte_count]

    said["counted"] = await count()
    data = fy.P4CounterData(packet_count=100, byte_count=1)
    await card.switch.modify([fy.P4DirectCounterEntry(table_entry=entry("known", 8, None), data=data)])
    await card.frames(frame(3, 8))
    said["set"] = await count()
    said["metadata"] = [one.metadata.decode() for one in await card.read(fy.P4TableEntry("known")) if one.metadata]
    return said


async def pipeline(card: Card, source: Path) -> dict[str, object]:
    """RECONCILE_AND_COMMIT keeps what fits the new program, and refuses a program that has no place for something."""
    said: dict[str, object] = {}
    switch = card.switch
    await switch.insert([entry("known", 3, fy.Action("answer", value=0x31)), fy.P4MulticastGroupEntry(2, replicas=[0])])
    text = source.read_text()

    async def reconcile(text: str) -> str:
        config = p4r.ForwardingPipelineConfig(p4_device_config=text.encode())
        # finsy has no public call for this action.
        request = switch._set_pipeline_config_request
        try:
            await request(action=P4ConfigAction.RECONCILE_AND_COMMIT, config=config)
        except P4ClientError as error:
            return error.code.name
        return "OK"

    said["reconciled"] = await reconcile(text.replace("hdr.op.result = value;", "hdr.op.result = value + 1;"))
    said["kept"] = await card.results(frame(3, 3))
    said["groups"] = len(await card.read(fy.P4MulticastGroupEntry()))
    # The new program has no such table.
    said["refused"] = await reconcile(text.replace("known", "other"))
    said["still"] = await card.results(frame(3, 3))
    return said


async def full(card: Card, _: Path) -> dict[str, object]:
    """100,000 entries do not fit a table of 1,024."""
    said: dict[str, object] = {}
    # finsy waits ten seconds for an answer.
    for begin in range(0, 100_000, 5_000):
        refused = await card.refused([+entry_of(number) for number in range(begin, begin + 5_000)])
        said.setdefault("refused", refused)
        said["last"] = refused
    said["few"] = await card.refused([+entry_of(number) for number in (7, 200_000)])
    said["there"] = len(await card.read(fy.P4TableEntry("wide")))
    return said


def entry_of(number: int) -> fy.P4TableEntry:
    return fy.P4TableEntry("wide", match=fy.Match(key=number), action=fy.Action("answer", value=1))


JOBS = {
    "copies": copies,
    "groups": groups,
    "clones": clones,
    "meters": meters,
    "profiles": profiles,
    "packets": packets,
    "digests": digests,
    "idle": idle,
    "values": values,
    "counters": counters,
    "pipeline": pipeline,
    "full": full,
}


async def main(job: str, address: str, exchange: str, *words: str) -> dict[str, object]:
    async with fy.Switch("card", address, fy.SwitchOptions(device_id=1)) as switch:
        card = Card(switch, json.loads(exchange))
        return await JOBS[job](card, *map(Path, words))


if __name__ == "__main__":
    print(json.dumps(asyncio.run(main(*sys.argv[1:]))))
