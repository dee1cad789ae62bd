// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Rows of a program, as a card in hardware takes them.

use std::collections::BTreeSet;

use penstock_xdp_compiler::card::{CardMap, Placement};
use penstock_xdp_compiler::check::{Facts, MapRef, helper_name};
use penstock_xdp_compiler::ir::Layout;
use penstock_xdp_compiler::object::Object;
use penstock_xdp_compiler::rows::{Asks, Do};
use penstock_xdp_compiler::translate::Translated;

/// The image for a card in hardware.
#[derive(Debug, Default)]
pub struct RowImage {
    /// Rows, each as the words that the core reads: control word, then two words for each lane.
    pub rows: Vec<Vec<u32>>,
    /// Programs in the rows: name and first row, which an entry of a program array holds beside
    /// [`penstock_xdp_compiler::helpers::PROGRAM`].
    pub programs: Vec<(String, u32)>,
    /// Initial contents of each unit's own memory: offset in bytes, and bytes.
    pub unit: Vec<(u32, Vec<u8>)>,
    /// Maps that units share.
    pub maps: Vec<CardMap>,
    /// Numbers of maps that the program before has made and whose entries stay.
    pub kept: BTreeSet<u32>,
    /// The compiler's places for values that need no search, by index of the map.
    pub layout: Layout,
    /// By index of the map, why it has no place on the card.
    pub missing: Vec<Option<String>>,
}

/// A feature of a program that a card in hardware lacks.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Beyond(pub String);

impl RowImage {
    /// The image of one program without tail calls, for the maps at their places.
    ///
    /// # Errors
    /// The program asks for something that a card in hardware cannot do.
    pub fn of(object: &Object, facts: &Facts, translated: Translated, placement: Placement) -> Result<Self, Beyond> {
        match beyond(object, facts, &translated, &placement).pop_first() {
            Some(what) => Err(Beyond(what)),
            None => Ok(Self::at(placement, translated.compiled.words, vec![])),
        }
    }

    /// The image of linked programs.
    pub(crate) fn at(placement: Placement, rows: Vec<Vec<u32>>, programs: Vec<(String, u32)>) -> Self {
        let Placement { layout, maps, kept, unit, missing, without: _, rows: _ } = placement;
        Self { rows, programs, unit, maps, kept, layout, missing }
    }
}

/// All that a program asks for and that a card in hardware cannot do, each as a clause: "it calls …".
pub fn beyond(
    object: &Object,
    facts: &Facts,
    Translated { compiled, beyond }: &Translated,
    placement: &Placement,
) -> BTreeSet<String> {
    let missing = |map: usize| {
        let why = placement.missing.get(map)?.as_ref()?;
        Some(format!("it uses the map {}: {why}", object.maps.get(map)?.name))
    };
    let asks = compiled.code.blocks.iter().flat_map(|block| &block.nodes).filter_map(|node| match &node.op {
        Do::Request { asks, .. } => match asks {
            Asks::Helper { number } => {
                let why = placement.without.get(&(*number).into()).map_or(String::new(), |why| format!(": {why}"));
                Some(format!("it calls {}{why}", helper_name((*number).into())))
            }
            Asks::Lookup { map, .. } | Asks::Update { map, .. } | Asks::Delete { map, .. } => match map {
                Some(map) => missing(placement.layout.index((*map).into())?),
                // Inner maps are on the card if their map of maps is.
                None => facts.insns.get(node.slot)?.maps.iter().find_map(|map| match map {
                    MapRef::Of(map) => missing(*map as usize),
                    MapRef::In(_) => None,
                }),
            },
            _ => None,
        },
        _ => None,
    });
    // The compiler may have given a more precise reason for the same call.
    let asks = asks.filter(|what| !beyond.iter().any(|known| known.starts_with(what)));
    beyond.iter().cloned().chain(asks).collect()
}
