// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The ids engine by the contract of engines.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use penstock_engine::{
    CardShape, Driver, Engine, EngineError, Fault, Image, Job, Kind, Part, Schemas, Section, Service, TableOption, Tool,
};
use schemars::SchemaGenerator;
use serde_json::Value as Json;

use crate::compile::COMPILE;
use crate::driver::IdsDriver;
use crate::error::IdsError;
use crate::image::{IdsImage, RULES};
use crate::service::SERVICES;
use crate::settings::{self, Settings};

/// The ids engine.
pub static IDS: Ids = Ids;

/// The engine, exported as [`IDS`].
#[derive(Debug)]
pub struct Ids;

/// Options of `penstock run` and `penstock up`.
const OPTIONS: &[TableOption] = &[
    TableOption { name: "rules", help: "Look for these rules instead of the design's" },
    TableOption { name: "eve", help: "Write alerts into this file, as EVE records" },
];

impl Engine for Ids {
    fn name(&self) -> &'static str {
        "ids"
    }

    fn number(&self) -> u32 {
        4
    }

    fn kind(&self) -> Kind {
        Kind::Inline
    }

    fn card(&self, section: Option<Section<'_>>) -> Result<Arc<dyn Part>, Fault> {
        settings::card(section)
    }

    fn part(&self, section: Option<Section<'_>>) -> Result<Arc<dyn Part>, Fault> {
        Ok(Arc::new(Settings::read(section)?))
    }

    fn schemas(&self, generator: &mut SchemaGenerator) -> Schemas {
        Schemas {
            card: generator.subschema_for::<settings::CardKeys>(),
            part: generator.subschema_for::<settings::Keys>(),
        }
    }

    fn way_out(&self) -> &'static str {
        RULES
    }

    fn options(&self) -> &'static [TableOption] {
        OPTIONS
    }

    fn claims(&self, program: &Path) -> bool {
        program.extension().is_some_and(|extension| extension == "rules")
    }

    fn compile(&self, job: &Job<'_>) -> Result<Vec<Arc<dyn Image>>, EngineError> {
        let folders = job.parts.iter().filter_map(|part| Settings::of(part.part).datasets);
        if let Some(path) = shared(&folders.collect::<Vec<_>>()) {
            let why = "two blocks write their sets of values here: give each a folder of its own".to_owned();
            return Err(IdsError::Config { path, why }.into());
        }
        job.parts.iter().map(|part| Ok(Arc::new(IdsImage::compile(part)?) as Arc<dyn Image>)).collect()
    }

    fn compile_tool(&self) -> Option<Tool> {
        Some(COMPILE)
    }

    /// The host reads frames through registers, which is slower than line rate.
    fn in_turns(&self) -> bool {
        true
    }

    fn driver(&self, shape: &CardShape, _card: &dyn Part) -> Box<dyn Driver> {
        Box::new(IdsDriver::new(shape))
    }

    fn services(&self) -> &'static [Service] {
        SERVICES
    }

    fn counted(&self, now: &Json, then: &Json) -> Json {
        difference(now, then)
    }
}

/// A folder that is also another one of these, or lies in it.
fn shared(folders: &[PathBuf]) -> Option<PathBuf> {
    let real: Vec<PathBuf> = folders.iter().map(|path| path.canonicalize().unwrap_or_else(|_| path.clone())).collect();
    let lies_in = |at: usize| (0..real.len()).any(|other| other != at && real[at].starts_with(&real[other]));
    (0..real.len()).find(|at| lies_in(*at)).map(|at| folders[at].clone())
}

/// Names of gauges, which have an amount and not a number of events.
const LEVELS: [&str; 3] = ["now", "rules", "waiting_bytes"];

/// The counts between two reads.
fn difference(now: &Json, then: &Json) -> Json {
    match (now, then) {
        (Json::Object(now), Json::Object(then)) => {
            let entry = |(name, value): (&String, &Json)| {
                let before = then.get(name).filter(|_| !LEVELS.contains(&name.as_str()));
                (name.clone(), before.map_or_else(|| value.clone(), |before| difference(value, before)))
            };
            now.iter().map(entry).collect()
        }
        (Json::Number(now), Json::Number(then)) => {
            now.as_u64().unwrap_or_default().wrapping_sub(then.as_u64().unwrap_or_default()).into()
        }
        _ => now.clone(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Two blocks that would write over each other's sets.
    #[test]
    fn folders_of_sets_are_apart() {
        let shared = |folders: &[&str]| shared(&folders.iter().map(PathBuf::from).collect::<Vec<_>>());
        assert_eq!(shared(&["/none/a", "/none/ab", "/none/b"]), None);
        assert_eq!(shared(&["/none/a", "/none/a"]), Some("/none/a".into()));
        assert_eq!(shared(&["/none/a/b", "/none/a"]), Some("/none/a/b".into()));
    }

    #[test]
    fn counters_are_differences() {
        let now = json!({"flows": {"now": 3, "begun": 9}, "detect": {"rules": 2, "alerts": 5}});
        let then = json!({"flows": {"now": 7, "begun": 4}, "detect": {"rules": 2, "alerts": 5}});
        let counted = json!({"flows": {"now": 3, "begun": 5}, "detect": {"rules": 2, "alerts": 0}});
        assert_eq!((IDS.counted(&now, &then), IDS.counted(&now, &Json::Null)), (counted, now));
    }
}
