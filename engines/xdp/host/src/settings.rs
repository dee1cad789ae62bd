// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The settings of xdp units in a design: `[units.xdp]` of each group, `[card.xdp]` of the whole card.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use penstock_engine::{Fault, FilesError, Identity, Part, Section, TableNames, only_file};
use penstock_unit::Unit;
use penstock_xdp_compiler::btf::Value;
use penstock_xdp_compiler::card::{BANKS, ROWS};
use penstock_xdp_compiler::rows::Lanes;
use schemars::JsonSchema;
use serde::Deserialize;
use toml::Spanned;

use crate::program::Settings;

/// Rows of 16 bytes in a MiB.
const ROWS_PER_MIB: u32 = 1 << 16;

/// Settings of a group of units.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupSettings {
    /// Lanes of each core.
    pub lanes: Lanes,
    /// Program of the object; None if it has only one.
    pub entry: Option<String>,
    /// Constants of the program and sizes of maps.
    pub settings: Settings,
    /// Files of the entries that maps begin with, by name of the map.
    pub maps: BTreeMap<String, PathBuf>,
}

impl Default for GroupSettings {
    fn default() -> Self {
        Self { lanes: Lanes::FOUR, entry: None, settings: Settings::default(), maps: BTreeMap::new() }
    }
}

/// Settings of the engine on the whole card.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CardSettings {
    /// File of the routes that programs look up.
    pub routes: Option<PathBuf>,
    /// MiB of memory for maps. 4 are on the chip; of 8 or 16 the others are in the card's memory.
    pub map_mib: u32,
    /// Where the manifest says how many.
    pub map_mib_at: Option<Range<usize>>,
}

impl Default for CardSettings {
    fn default() -> Self {
        Self { routes: None, map_mib: BANKS * ROWS / ROWS_PER_MIB, map_mib_at: None }
    }
}

/// `[units.xdp]`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "units.xdp")]
pub(crate) struct GroupTable {
    /// Operations in a row of the core.
    #[schemars(with = "Option<usize>", extend("enum" = [1, 2, 3, 4, 8]))]
    lanes: Option<Spanned<usize>>,
    /// Name of the program, if the object has several.
    entry: Option<String>,
    /// Values for constants of the program, by name.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, serde_json::Value>")]
    constants: BTreeMap<String, Spanned<toml::Value>>,
    /// Entries of maps in place of their `max_entries`, by name of the map.
    #[serde(default)]
    entries: BTreeMap<String, u32>,
    /// Files of the entries that maps begin with, by name of the map.
    #[serde(default)]
    maps: BTreeMap<String, PathBuf>,
}

/// `[card.xdp]`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "card.xdp")]
pub(crate) struct CardTable {
    /// File of the routes that programs look up.
    routes: Option<PathBuf>,
    /// MiB of memory for maps.
    #[schemars(with = "Option<u32>", extend("enum" = [4, 8, 16]))]
    map_mib: Option<Spanned<u32>>,
}

impl GroupSettings {
    /// Reads `[units.xdp]`.
    ///
    /// # Errors
    /// A key is unknown or has a wrong value.
    pub fn read(section: Section<'_>) -> Result<Self, Fault> {
        let folder = section.folder;
        let GroupTable { lanes, entry, constants, entries, maps } = section.read()?;
        let constant = |(name, value): (String, Spanned<toml::Value>)| {
            let wrong = || Fault::at(value.span(), "a constant is a whole number, text, a list or a table of them");
            let known = constant(value.get_ref()).ok_or_else(wrong)?;
            Ok((name, known))
        };
        let of_count = |count: &Spanned<usize>| {
            let wrong = || format!("a core has 1, 2, 3, 4 or 8 lanes, not {}", count.get_ref());
            Lanes::new(*count.get_ref()).ok_or_else(|| Fault::at(count.span(), wrong()))
        };
        Ok(Self {
            lanes: lanes.as_ref().map(of_count).transpose()?.unwrap_or(Lanes::FOUR),
            entry,
            settings: Settings { constants: constants.into_iter().map(constant).collect::<Result<_, _>>()?, entries },
            maps: maps.into_iter().map(|(name, file)| (name, folder.join(file))).collect(),
        })
    }
}

impl CardSettings {
    /// Reads `[card.xdp]`.
    ///
    /// # Errors
    /// A key is unknown or has a wrong value.
    pub fn read(section: Section<'_>) -> Result<Self, Fault> {
        let folder = section.folder;
        let CardTable { routes, map_mib } = section.read()?;
        let map_mib_at = map_mib.as_ref().map(Spanned::span);
        let map_mib = match map_mib {
            None => Self::default().map_mib,
            Some(mib) if matches!(mib.get_ref(), 4 | 8 | 16) => *mib.get_ref(),
            Some(mib) => {
                let found = mib.get_ref();
                let message = format!("maps have 4 MiB, on the chip, or 8 or 16, in the card's memory, not {found}");
                return Err(Fault::at(mib.span(), message));
            }
        };
        Ok(Self { routes: routes.map(|file| folder.join(file)), map_mib, map_mib_at })
    }

    /// Rows of 16 bytes in each bank of the maps.
    #[must_use]
    pub fn map_rows(&self) -> u32 {
        self.map_mib * ROWS_PER_MIB / BANKS
    }
}

/// The value of a constant; None if constants cannot have it.
fn constant(value: &toml::Value) -> Option<Value> {
    Some(match value {
        toml::Value::Integer(number) => Value::Int((*number).into()),
        toml::Value::String(text) => Value::Text(text.clone()),
        toml::Value::Array(values) => Value::List(values.iter().map(constant).collect::<Option<_>>()?),
        toml::Value::Table(fields) => {
            let field = |(name, value): (&String, &toml::Value)| Some((name.clone(), constant(value)?));
            Value::Record(fields.iter().map(field).collect::<Option<_>>()?)
        }
        toml::Value::Boolean(set) => Value::Int((*set).into()),
        toml::Value::Float(_) | toml::Value::Datetime(_) => return None,
    })
}

impl Part for GroupSettings {
    fn parameter(&self) -> u64 {
        self.lanes.count() as u64
    }

    fn unit(&self, identity: Identity) -> Option<Box<dyn Unit>> {
        Some(Box::new(penstock_xdp_soft::Unit::new(identity)))
    }

    fn given_files(&self) -> Vec<(String, PathBuf)> {
        self.maps.iter().map(|(name, file)| (name.clone(), file.clone())).collect()
    }

    fn table_names(&self) -> TableNames {
        TableNames::OfProgram
    }

    fn with_files(&self, name: &str, files: Vec<PathBuf>) -> Result<Arc<dyn Part>, FilesError> {
        let mut changed = self.clone();
        changed.maps.insert(name.to_owned(), only_file(name, files)?);
        Ok(Arc::new(changed))
    }
}

/// Name of the file of routes on the command line: as in a design, so that a map may be called `routes`.
const ROUTES: &str = "xdp.routes";

impl Part for CardSettings {
    fn table_names(&self) -> TableNames {
        TableNames::Fixed(vec![ROUTES])
    }

    fn with_files(&self, name: &str, files: Vec<PathBuf>) -> Result<Arc<dyn Part>, FilesError> {
        match name {
            ROUTES => Ok(Arc::new(Self { routes: Some(only_file(name, files)?), ..self.clone() })),
            _ => Err(FilesError::NoTable(format!("there is no table `{name}`: for the card, xdp has `{ROUTES}` only"))),
        }
    }

    fn without_memory(&self) -> Option<Fault> {
        let on_chip = Self::default().map_mib;
        let message = format!(
            "maps above {on_chip} MiB are in card memory, of which this card has no channel: say {on_chip}, or leave the key out"
        );
        (self.map_mib > on_chip).then(|| Fault { span: self.map_mib_at.clone(), message })
    }

    fn card_parameters(&self) -> Vec<(&'static str, u64)> {
        vec![("MapRows", self.map_rows().into())]
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use toml::de::DeTable;

    use super::*;

    /// The table `xdp` of a text.
    fn section(text: &str) -> Section<'_> {
        let table = DeTable::parse(text).unwrap().into_inner();
        let table = table.into_iter().find(|(name, _)| name.get_ref() == "xdp").unwrap().1;
        Section { folder: Path::new("folder"), table }
    }

    #[test]
    fn a_group_has_lanes_constants_and_maps() {
        let none = GroupSettings::read(section("[xdp]\n")).unwrap();
        assert_eq!(none, GroupSettings::default());
        assert_eq!(none.parameter(), 4);
        let text = "[xdp]\nlanes = 8\nentry = \"first\"\n[xdp.constants]\nlimit = 3\nmac = [2, 0]\n\
            to = { address = \"192.0.2.1\" }\n[xdp.maps]\nvips = \"vips.json\"\n[xdp.entries]\nvips = 8\n";
        let group = GroupSettings::read(section(text)).unwrap();
        assert_eq!((group.parameter(), group.entry.as_deref()), (8, Some("first")));
        let constants = &group.settings.constants;
        assert_eq!(constants["limit"], Value::Int(3));
        assert_eq!(constants["mac"], Value::List(vec![Value::Int(2), Value::Int(0)]));
        let address = Value::Text("192.0.2.1".into());
        assert_eq!(constants["to"], Value::Record(vec![("address".into(), address)]));
        assert_eq!(group.settings.entries["vips"], 8);
        assert_eq!(group.maps["vips"], PathBuf::from("folder/vips.json"));
    }

    #[test]
    fn the_card_has_routes_and_memory() {
        let none = CardSettings::read(section("[xdp]\n")).unwrap();
        assert_eq!((none.clone(), none.map_rows()), (CardSettings::default(), ROWS));
        let card = CardSettings::read(section("[xdp]\nroutes = \"routes.json\"\nmap_mib = 16\n")).unwrap();
        assert_eq!(card.routes.as_deref(), Some(Path::new("folder/routes.json")));
        assert_eq!(card.card_parameters(), [("MapRows", 4 * u64::from(ROWS))]);
        assert!(card.without_memory().is_some_and(|fault| fault.message.contains("maps above 4 MiB")));
        assert_eq!(CardSettings::default().without_memory(), None);
        let other = card.with_files("xdp.routes", vec!["other.json".into()]).unwrap();
        assert!(format!("{other:?}").contains("\"other.json\""));
        assert!(card.with_files("route", vec!["other.json".into()]).unwrap_err().to_string().contains("`xdp.routes`"));
    }

    #[test]
    fn a_fault_has_its_place() {
        let fault = |text: &str, read: fn(Section<'_>) -> Option<Fault>| {
            let Fault { span, message } = read(section(text)).unwrap();
            (text[span.unwrap()].to_owned(), message)
        };
        let group = |section: Section<'_>| GroupSettings::read(section).err();
        let card = |section: Section<'_>| CardSettings::read(section).err();
        for (text, read, at, told) in [
            ("[xdp]\nlanes = 5\n", group as fn(Section<'_>) -> _, "5", "1, 2, 3, 4 or 8 lanes, not 5"),
            ("[xdp]\nlane = 4\n", group, "lane", "unknown field `lane`"),
            ("[xdp]\nlanes = -1\n", group, "-1", "invalid value"),
            ("[xdp.constants]\nlimit = 0.5\n", group, "0.5", "a constant is a whole number"),
            ("[xdp.entries]\nvips = \"8\"\n", group, "\"8\"", "write a whole number"),
            ("[xdp]\nmap_mib = 5\n", card, "5", "or 8 or 16, in the card's memory, not 5"),
            ("[xdp]\nroute = \"routes.json\"\n", card, "route", "unknown field `route`"),
        ] {
            let (span, message) = fault(text, read);
            assert_eq!(span, at, "{message}");
            assert!(message.contains(told), "{message}");
        }
    }
}
