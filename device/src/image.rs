// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The images of the parts of a card.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use penstock_engine::{self as contract, Engine, EngineError, Job, Part, PartJob, Root};
use penstock_registry::engines;

use crate::design::{Design, PartId};

/// The image of a part.
#[derive(Debug, Clone)]
pub struct PartImage {
    /// Which part of the design.
    pub part: PartId,
    /// Its units; empty for an inline block.
    pub units: Range<u32>,
    /// Its engine.
    pub engine: &'static dyn Engine,
    /// The compiled program, and all else that the engine loads with it.
    pub image: Arc<dyn contract::Image>,
}

/// The image of a card.
#[derive(Debug, Clone, Default)]
pub struct Image {
    /// Groups of units, in the order of the design.
    pub groups: Vec<PartImage>,
    /// Inline blocks, in the order of the design.
    pub inline: Vec<PartImage>,
}

impl Image {
    /// Compiles all programs of a design.
    ///
    /// # Errors
    /// The error of the first program that does not compile, or of its files.
    pub fn of(root: &Root, design: &Design) -> Result<Self, EngineError> {
        Self::with_given(root, design, |_| false)
    }

    /// As [`Image::of`], where some parts were given another program than the design's: settings of the design that
    /// refer to things which such a program does not have are left out, and a message says so.
    ///
    /// # Errors
    /// As [`Image::of`].
    pub fn with_given(root: &Root, design: &Design, is_given: impl Fn(PartId) -> bool) -> Result<Self, EngineError> {
        let groups = (0..design.groups.len()).map(PartId::Units);
        let inline = (0..design.inline.len()).map(PartId::Inline);
        let images = compile(root, design, &groups.chain(inline).collect::<Vec<_>>(), is_given)?;
        let (groups, inline) = images.into_iter().partition(|image| matches!(image.part, PartId::Units(_)));
        Ok(Self { groups, inline })
    }

    /// The image of a unit.
    pub fn of_unit(&self, unit: u32) -> Option<&PartImage> {
        self.groups.iter().find(|group| group.units.contains(&unit))
    }

    /// The images of an engine, by the index of their parts.
    pub(crate) fn of_engine(&self, engine: &dyn Engine) -> Vec<(usize, &dyn contract::Image)> {
        let all = self.groups.iter().chain(&self.inline).filter(|image| image.engine.name() == engine.name());
        all.map(|image| (image.part.index(), &*image.image)).collect()
    }

    /// The compilers' messages.
    pub fn messages(&self) -> String {
        self.groups.iter().chain(&self.inline).map(|image| image.image.messages()).collect()
    }
}

impl PartImage {
    /// Compiles the program of one part of a design, without the others.
    ///
    /// # Errors
    /// As [`Image::of`].
    pub fn of(root: &Root, design: &Design, part: PartId) -> Result<Self, EngineError> {
        Self::only(root, design, part, false)
    }

    /// The word that chooses the hardware of an inline block.
    pub(crate) fn parameter(&self) -> u64 {
        self.image.parameter().unwrap_or_default()
    }

    /// Compiles the program of one part alone, for a swap or to look at it; the program was given in place of the
    /// design's.
    ///
    /// # Errors
    /// As [`Image::of`].
    pub fn alone(root: &Root, design: &Design, part: PartId) -> Result<Self, EngineError> {
        Self::only(root, design, part, true)
    }

    fn only(root: &Root, design: &Design, part: PartId, is_given: bool) -> Result<Self, EngineError> {
        let none = || EngineError::unsupported("the engine has compiled nothing");
        compile(root, design, &[part], |_| is_given)?.pop().ok_or_else(none)
    }
}

/// Compiles the programs of the inline blocks of a design.
pub(crate) fn inline(root: &Root, design: &Design) -> Result<Vec<PartImage>, EngineError> {
    compile(root, design, &(0..design.inline.len()).map(PartId::Inline).collect::<Vec<_>>(), |_| false)
}

/// Compiles the programs of parts, engine by engine, as parts of an engine may share room; gives the images in the
/// order of the parts.
fn compile(
    root: &Root,
    design: &Design,
    parts: &[PartId],
    is_given: impl Fn(PartId) -> bool,
) -> Result<Vec<PartImage>, EngineError> {
    let groups = design.named_groups();
    let mut images = Vec::new();
    for engine in engines() {
        let own: Vec<_> = parts.iter().filter(|part| design.engine(**part).name() == engine.name()).collect();
        let Some(card) = design.card_of(*engine).filter(|_| !own.is_empty()) else { continue };
        let jobs = own.iter().map(|part| {
            let (name, units, settings): (&str, Range<u32>, &dyn Part) = match **part {
                PartId::Units(group) => {
                    let group = &design.groups[group];
                    (&group.name, group.units.clone(), &*group.part)
                }
                PartId::Inline(block) => (&design.inline[block].name, 0..0, &*design.inline[block].part),
            };
            let program: &Path = design.program(**part);
            PartJob { name, index: part.index(), units, program, part: settings, given: is_given(**part) }
        });
        let job = Job {
            root,
            design: &design.path,
            ports: design.ports,
            groups: &groups,
            tenants: &design.tenants,
            card: &**card,
            parts: jobs.collect(),
        };
        let made = engine.compile(&job)?;
        images.extend(job.parts.iter().zip(own).zip(made).map(|((job, part), image)| PartImage {
            part: *part,
            units: job.units.clone(),
            engine: *engine,
            image,
        }));
    }
    images.sort_by_key(|image| image.part);
    Ok(images)
}
