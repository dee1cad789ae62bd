# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""A sweep on a Ray cluster of two nodes on this machine, of which one is killed in the middle.

Usage: ray_sweep.py FILE OUT. Writes OUT/said.json: the rows, and the number of nodes before and after.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import ray
from penstock.sweep import read, rows, write_parquet
from penstock.sweep.cluster import Cluster
from ray.cluster_utils import Cluster as Nodes


def alive() -> int:
    return sum(node["Alive"] for node in ray.nodes())


def parent(process: int) -> int:
    """The parent of a process; 0 if it has ended."""
    try:
        return int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0


def runs_below(raylet: int) -> bool:
    """Whether a run is at work on the node of this process."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if (folder / "comm").read_text() != "penstock\n":
                continue
        except OSError:
            continue
        process = int(folder.name)
        while process > 1 and process != raylet:
            process = parent(process)
        if process == raylet:
            return True
    return False


def main() -> None:
    nodes = Nodes(initialize_head=True, head_node_args={"num_cpus": 1})
    second = nodes.add_node(num_cpus=1)
    nodes.wait_for_nodes()
    out = Path(sys.argv[2])
    cluster = Cluster(nodes.address)
    done, counts = [], [alive()]
    for one in cluster.carry(read(Path(sys.argv[1])), out):
        done.append(one)
        if len(done) == 3:
            raylet = second.all_processes["raylet"][0].process.pid
            end = time.monotonic() + 60
            while not runs_below(raylet) and time.monotonic() < end:
                time.sleep(0.001)
            nodes.remove_node(second, allow_graceful=False)
    # The head notices the death of a node after some seconds.
    end = time.monotonic() + 60
    while alive() == 2 and time.monotonic() < end:
        time.sleep(0.1)
    counts.append(alive())
    table = rows(done)
    write_parquet(out / "table.parquet", table)
    (out / "said.json").write_text(json.dumps({"rows": table, "nodes": counts}))
    ray.shutdown()
    nodes.shutdown()


main()
