// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Whose a frame is: the stage before the first inline block (shell/rtl/tenant_stage.sv).

use std::collections::BTreeMap;

/// EtherTypes of the tags that count: 802.1Q and 802.1ad.
const TAGS: [[u8; 2]; 2] = [[0x81, 0x00], [0x88, 0xA8]];

/// Tenants by port and VLAN id.
#[derive(Debug, Default)]
pub(crate) struct Tenants {
    /// The register TENANT_VLAN: VLAN id in bits 11:0, ports in bits 19:16.
    pub select: u32,
    /// Pairs of port and VLAN id that the host has given a tenant.
    given: BTreeMap<(u8, u16), u8>,
}

impl Tenants {
    /// Gives the frames that [`Tenants::select`] names to a tenant.
    pub(crate) fn give(&mut self, tenant: u8) {
        let vlan = (self.select & 0xFFF) as u16;
        for port in (0..4).filter(|port| self.select >> (16 + port) & 1 != 0) {
            self.given.insert((port, vlan), tenant);
        }
    }

    /// The tenant of a frame that entered at this port.
    pub(crate) fn of(&self, port: u8, frame: &[u8]) -> u8 {
        if self.given.is_empty() {
            return 0;
        }
        match frame {
            [_, _, _, _, _, _, _, _, _, _, _, _, kind0, kind1, high, low, ..] if TAGS.contains(&[*kind0, *kind1]) => {
                let vlan = u16::from_be_bytes([high & 0xF, *low]);
                self.given.get(&(port, vlan)).copied().unwrap_or(0)
            }
            _ => 0,
        }
    }
}
