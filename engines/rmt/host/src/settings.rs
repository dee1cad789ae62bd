// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Settings of rmt blocks in a design.

use std::any::Any;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use penstock_engine::{Fault, FilesError, Part, Section, TableNames, only_file};
use penstock_rmt_compiler::backend::{self, Feature, Pipeline};
use schemars::JsonSchema;
use serde::Deserialize;
use toml::Spanned;

/// Default number of stages of the pipeline in hardware.
const STAGES: usize = 3;
/// Most stages.
pub(crate) const MOST_STAGES: u8 = backend::MOST_STAGES as u8;
/// log2 of the ternary rows that a stage may have.
const ROWS_LOG2: [u32; 3] = [7, 8, 9];
/// Name of the file of entries, for `--table entries=FILE`.
pub(crate) const ENTRIES: &str = "entries";

/// The settings of one block: `[inline.rmt]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// Files of programs, by the name of the tenant.
    pub programs: BTreeMap<String, PathBuf>,
    /// File of the entries that the tables begin with.
    pub entries: Option<PathBuf>,
    /// The pipeline in hardware.
    pub pipeline: Pipeline,
}

impl Default for Settings {
    fn default() -> Self {
        Self { programs: BTreeMap::new(), entries: None, pipeline: Pipeline::new(STAGES) }
    }
}

impl Part for Settings {
    fn table_names(&self) -> TableNames {
        TableNames::Fixed(vec![ENTRIES])
    }

    fn given_files(&self) -> Vec<(String, PathBuf)> {
        self.entries.iter().map(|file| (ENTRIES.to_owned(), file.clone())).collect()
    }

    fn with_files(&self, name: &str, files: Vec<PathBuf>) -> Result<Arc<dyn Part>, FilesError> {
        match name {
            ENTRIES => Ok(Arc::new(Self { entries: Some(only_file(name, files)?), ..self.clone() })),
            _ => Err(FilesError::NoTable(format!("there is no file `{name}` of an rmt block: it has `{ENTRIES}`"))),
        }
    }

    fn needs_program(&self) -> bool {
        self.programs.is_empty()
    }
}

/// `[inline.rmt]`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "inline.rmt")]
pub(crate) struct Keys {
    /// Files of programs, by the name of the tenant.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, PathBuf>")]
    programs: BTreeMap<String, Spanned<PathBuf>>,
    /// File of the entries that the tables begin with.
    #[schemars(with = "Option<PathBuf>")]
    entries: Option<Spanned<PathBuf>>,
    /// Stages of the pipeline in hardware.
    #[schemars(with = "Option<i64>", range(min = 1, max = MOST_STAGES))]
    stages: Option<Spanned<i64>>,
    /// Stages with ternary tables.
    #[schemars(with = "Option<Vec<i64>>")]
    ternary_stages: Option<Spanned<Vec<i64>>>,
    /// Rows of a stage with ternary tables: 128, 256 or 512.
    #[schemars(with = "Option<i64>")]
    ternary_rows: Option<Spanned<i64>>,
    /// Stages with trees for longest prefixes.
    #[schemars(with = "Option<Vec<i64>>")]
    prefix_stages: Option<Spanned<Vec<i64>>>,
    /// Stages with meters.
    #[schemars(with = "Option<Vec<i64>>")]
    meter_stages: Option<Spanned<Vec<i64>>>,
}

impl Keys {
    fn pipeline(&self) -> Result<Pipeline, Fault> {
        let stages = self.stages.as_ref().map_or(Ok(STAGES), |stages| {
            let known =
                usize::try_from(*stages.get_ref()).ok().filter(|stages| (1..=backend::MOST_STAGES).contains(stages));
            let text = || format!("stages: a pipeline has 1 to {MOST_STAGES} stages, not {}", stages.get_ref());
            known.ok_or_else(|| Fault::at(stages.span(), text()))
        })?;
        let mut pipeline = Pipeline::new(stages);
        for (feature, given) in [
            (Feature::Ternary, &self.ternary_stages),
            (Feature::Prefixes, &self.prefix_stages),
            (Feature::Meters, &self.meter_stages),
        ] {
            if let Some(given) = given {
                let mask = given.get_ref().iter().try_fold(0, |mask, stage| {
                    let known = usize::try_from(*stage).ok().filter(|stage| *stage < stages);
                    known.map(|stage| mask | 1 << stage).ok_or(stage)
                });
                let text =
                    |stage| format!("{}: there is no stage {stage}, there are 0 to {}", feature.key(), stages - 1);
                pipeline.give(feature, mask.map_err(|stage| Fault::at(given.span(), text(stage)))?);
            }
        }
        if let Some(rows) = &self.ternary_rows {
            let known = ROWS_LOG2.into_iter().find(|log2| i64::from(1 << log2) == *rows.get_ref());
            let text = || format!("ternary_rows: a stage has 128, 256 or 512 rows, not {}", rows.get_ref());
            pipeline.rows_log2 = known.ok_or_else(|| Fault::at(rows.span(), text()))?;
        }
        Ok(pipeline)
    }
}

impl Settings {
    /// Reads `[inline.rmt]`.
    ///
    /// # Errors
    /// A key is unknown or has a wrong value, or a file does not exist.
    pub fn read(section: Option<Section<'_>>) -> Result<Self, Fault> {
        let Some(section) = section else { return Ok(Self::default()) };
        let folder = section.folder;
        let keys: Keys = section.read()?;
        let file = |what: &str, file: &Spanned<PathBuf>| {
            let path = folder.join(file.get_ref());
            match path.exists() {
                true => Ok(path),
                false => Err(Fault::at(file.span(), format!("{what}: {} does not exist", path.display()))),
            }
        };
        let programs = keys.programs.iter().map(|(tenant, path)| Ok((tenant.clone(), file("programs", path)?)));
        Ok(Self {
            programs: programs.collect::<Result<_, Fault>>()?,
            entries: keys.entries.as_ref().map(|path| file(ENTRIES, path)).transpose()?,
            pipeline: keys.pipeline()?,
        })
    }

    /// The settings in a part of a design. All parts that the engine reads have them.
    pub(crate) fn of(part: &dyn Part) -> Self {
        (part as &dyn Any).downcast_ref::<Self>().cloned().unwrap_or_default()
    }
}

/// `[card.rmt]`, which has no keys.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "card.rmt")]
pub(crate) struct CardKeys {}

/// The settings of the engine on the whole card, `[card.rmt]`: it has no keys.
#[derive(Debug)]
struct OnCard;

impl Part for OnCard {}

/// Reads `[card.rmt]`.
///
/// # Errors
/// The table has a key.
pub(crate) fn card(section: Option<Section<'_>>) -> Result<Arc<dyn Part>, Fault> {
    section.map(Section::read::<CardKeys>).transpose()?;
    Ok(Arc::new(OnCard))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use toml::de::DeTable;

    use super::*;

    /// Reads the table `rmt` of a manifest in the folder of this crate.
    fn read(manifest: &str) -> Result<Settings, Fault> {
        let mut tables = DeTable::parse(manifest).unwrap().into_inner();
        let (_, table) = tables.remove_entry("rmt").unwrap();
        Settings::read(Some(Section { folder: Path::new(env!("CARGO_MANIFEST_DIR")), table }))
    }

    #[test]
    fn a_block_has_programs_by_tenant() {
        let settings =
            read("[rmt]\nprograms = { bob = \"Cargo.toml\" }\nentries = \"Cargo.toml\"\nstages = 5\n").unwrap();
        assert!(settings.programs["bob"].ends_with("Cargo.toml") && !settings.needs_program());
        assert_eq!((settings.pipeline.stages, settings.given_files().len()), (5, 1));
        let other = settings.with_files("entries", vec!["b.json".into()]).unwrap();
        assert_eq!(Settings::of(&*other).entries, Some("b.json".into()));
        assert!(settings.with_files("routes", vec!["b.json".into()]).unwrap_err().to_string().contains("`routes`"));
        assert!(Settings::read(None).unwrap().needs_program());
    }

    #[test]
    fn stages_have_the_tables_that_the_design_gives_them() {
        let of = |keys: &str| read(&format!("[rmt]\n{keys}\n")).unwrap().pipeline;
        assert_eq!(of("stages = 5"), Pipeline::new(5));
        let asked =
            of("stages = 5\nternary_stages = [0, 4]\nprefix_stages = []\nmeter_stages = [2]\nternary_rows = 512");
        assert_eq!(asked, Pipeline { stages: 5, ternary: 0b10001, prefixes: 0, meters: 0b100, rows_log2: 9 });
    }

    #[test]
    fn faults_have_places() {
        for (value, words) in [
            ("programs = { bob = \"no.p4\" }", "programs: "),
            ("entries = \"no.json\"", "entries: "),
            ("stages = 0", "stages: a pipeline has 1 to 12 stages, not 0"),
            ("stages = 13", "not 13"),
            ("stages = 6\nternary_stages = [0, 6]", "ternary_stages: there is no stage 6, there are 0 to 5"),
            ("meter_stages = [-1]", "meter_stages: there is no stage -1"),
            ("ternary_rows = 129", "128, 256 or 512 rows, not 129"),
            ("tables = 1", "unknown field `tables`"),
        ] {
            let fault = read(&format!("[rmt]\n{value}\n")).unwrap_err();
            assert!(fault.message.contains(words) && fault.span.is_some(), "{fault:?}");
        }
    }
}
