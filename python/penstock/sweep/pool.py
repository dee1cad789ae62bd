# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""The processors of this machine do the jobs."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from pathlib import Path

from penstock.sweep.plan import Job
from penstock.sweep.work import Done, do, folder_of


class Pool:
    """So many jobs at a time, each in a process of its own; a thread waits for each."""

    def __init__(self, jobs: int | None = None) -> None:
        self.jobs = jobs or len(os.sched_getaffinity(0))

    def carry(self, jobs: list[Job], out: Path) -> Iterator[Done]:
        """What came of the jobs, in the order in which they end.

        When the caller closes the iterator, jobs that have not begun never do.
        """
        pool = ThreadPoolExecutor(self.jobs)
        try:
            waiting: list[Future[Done]] = [pool.submit(do, job, folder_of(out, job)) for job in jobs]
            for future in as_completed(waiting):
                yield future.result()
        finally:
            pool.shutdown(cancel_futures=True)
