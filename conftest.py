# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Fixtures that the tests of all folders share (device/tests/shared.py), and the folders from which tests import."""

import sys
from pathlib import Path

pytest_plugins = ["shared"]

# Tests of an engine import modules that stand beside them.
sys.path += [str(folder) for folder in sorted(Path(__file__).parent.glob("engines/*/tests"))]
