// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! What a design asks of a card's hardware: parameters of `card_top`, and a hash by which a host tells whether a card
//! has them.

use std::fmt;

use penstock_engine::Root;
use sha2::{Digest, Sha256};

use crate::card_top::{INGRESS_DEPTH, MAX_BLOCKS, MAX_UNITS, map_rows, packed};
use crate::design::Design;
use crate::error::DeviceError;
use crate::image;

/// The parameters of `card_top` for a design.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hardware {
    /// Ethernet ports.
    pub ports: u32,
    /// The number of each unit's engine, and the word that only the engine understands.
    pub units: Vec<(u8, u32)>,
    /// The same for each inline block.
    pub blocks: Vec<(u8, u64)>,
    /// Rows of a bank of maps.
    pub map_rows: u32,
}

impl Hardware {
    /// The hardware of a design. Programs of inline blocks may ask for hardware of their own, so they are compiled.
    ///
    /// # Errors
    /// A program of an inline block does not compile.
    pub fn of(root: &Root, design: &Design) -> Result<Self, DeviceError> {
        let blocks = image::inline(root, design)?;
        let units = design.groups.iter().flat_map(|group| {
            std::iter::repeat_n((group.engine.number() as u8, group.part.parameter() as u32), group.units.len())
        });
        Ok(Self {
            ports: design.ports,
            units: units.collect(),
            blocks: blocks.iter().map(|block| (block.engine.number() as u8, block.parameter())).collect(),
            map_rows: map_rows(design),
        })
    }

    /// The hash that the card has in its registers DESIGN: of all parameters, in four words.
    pub fn hash(&self) -> [u32; 4] {
        let text = self.parameters().map(|(name, value)| format!("{name}={value}\n")).collect::<String>();
        let hash = Sha256::digest(format!("penstock card 1\n{text}"));
        std::array::from_fn(|word| u32::from_be_bytes(std::array::from_fn(|byte| hash[4 * word + byte])))
    }

    /// Names and values of the parameters in SystemVerilog.
    pub fn parameters(&self) -> impl Iterator<Item = (&'static str, String)> {
        [
            ("Ports", self.ports.to_string()),
            ("Units", self.units.len().to_string()),
            ("IngressDepth", INGRESS_DEPTH.to_string()),
            ("Blocks", self.blocks.len().to_string()),
            ("MapRows", self.map_rows.to_string()),
            ("BlockEngine", packed(8, MAX_BLOCKS, self.blocks.iter().map(|(engine, _)| u64::from(*engine)))),
            ("BlockParam", packed(64, MAX_BLOCKS, self.blocks.iter().map(|(_, word)| *word))),
            ("Engine", packed(8, MAX_UNITS, self.units.iter().map(|(engine, _)| u64::from(*engine)))),
            ("UnitParam", packed(32, MAX_UNITS, self.units.iter().map(|(_, word)| u64::from(*word)))),
        ]
        .into_iter()
    }
}

impl fmt::Display for Hardware {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { ports, units, blocks, .. } = self;
        write!(f, "{ports} ports, {} units, {} inline blocks", units.len(), blocks.len())
    }
}
