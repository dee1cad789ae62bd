// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! P4 programs of the rmt engine as native code.
