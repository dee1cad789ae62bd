# Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
"""Fixtures that the tests of all folders share (device/tests/shared.py)."""

pytest_plugins = ["shared"]
