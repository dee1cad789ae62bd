/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
#include <linux/if_ether.h>
