# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Many runs side by side, and one table of their results: `penstock sweep` (docs/sweeps.md).

`plan` makes jobs of a file, `work` does a job, `pool` and `cluster` do many of them, `table` writes the results.
"""

from __future__ import annotations

from penstock.sweep.plan import Job, PlanError, read
from penstock.sweep.pool import Pool
from penstock.sweep.table import rows, write_csv, write_parquet
from penstock.sweep.work import Done

__all__ = ["Done", "Job", "PlanError", "Pool", "read", "rows", "write_csv", "write_parquet"]
