// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Tenants of a card.

/// The owner of frames, as the design defines it. All other frames belong to tenant 0, the system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tenant {
    /// Its name in the design.
    pub name: String,
    /// Its number in the metadata of frames, 1 to 63: its place in the design.
    pub number: u8,
    /// VLAN id of the first tag of its frames, 1 to 4094.
    pub vlan: u16,
    /// Ethernet ports at which frames with that tag are the tenant's, a bit each.
    pub ports: u32,
}
