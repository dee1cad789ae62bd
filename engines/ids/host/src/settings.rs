// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Settings of ids blocks in a design.

use std::any::Any;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use penstock_engine::{EngineError, Fault, FilesError, Part, Section, TableNames, only_file};
use penstock_ids::{AlertFields, Bounds, Reports};
use penstock_ids_compiler::{Classes, Tuning, Variables};
use penstock_streams::{Policy, Systems, Tunnels};
use schemars::JsonSchema;
use serde::Deserialize;
use toml::Spanned;

use crate::config::ConfigFiles;

/// The block's mode for frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Reports; every frame passes.
    #[default]
    Ids,
    /// Rules with the action drop or reject also drop frames.
    Ips,
}

/// The action for a frame that a card holds if the host's verdict is late.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Late {
    /// It passes.
    #[default]
    Pass,
    /// It is dropped.
    Drop,
}

/// The contents of the file of EVE records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Records {
    /// Alerts and counters.
    #[default]
    Alerts,
    /// Also messages of application protocols.
    All,
}

/// Records that are written beside alerts, counters and messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum MoreRecords {
    /// Flows that have ended, or that a run ends with.
    Flow,
    /// Files in messages of HTTP and SMTP.
    Fileinfo,
    /// Dropped packets.
    Drop,
    /// Frames, streams and messages that are not as they should be.
    Anomaly,
}

/// The treatment of TCP segments with a wrong checksum.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Checksums {
    /// They belong to no stream.
    Check,
    /// They are taken as any other.
    Ignore,
    /// `check`, and `ignore` if more than a tenth of the first 1,000 segments have a wrong one.
    #[default]
    Auto,
}

/// A field that alerts may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum MoreOfAlerts {
    /// The payload of the frame.
    Payload,
    /// The frame.
    Packet,
    /// The flow.
    Flow,
}

/// The settings of one block: `[inline.ids]`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Settings {
    /// Files of rules beside the block's program.
    pub rules: Vec<PathBuf>,
    /// Files of rules that the command line gave in place of the program and of `rules`.
    pub given: Option<Vec<PathBuf>>,
    /// The block's mode for frames.
    pub mode: Mode,
    /// The action for a late verdict.
    pub late: Late,
    /// File that gets alerts as EVE records.
    pub eve: Option<PathBuf>,
    /// The contents of the reports.
    pub reports: Reports,
    /// Variables of rule headers.
    pub variables: Variables,
    /// Classes that a file describes.
    pub classes: Classes,
    /// A file's settings about when rules report.
    pub tuning: Tuning,
    /// The folder that sets of values are written to.
    pub datasets: Option<PathBuf>,
    /// Rules that are wrong or use what the engine does not support are left out, with a message.
    pub skip_unsupported: bool,
    /// The limits of the block.
    pub bounds: Bounds,
    /// Powers of two: buckets of flow lines in a card's memory; 0: all lines are on the chip.
    pub buckets: u32,
    /// Where the manifest says how many flows there are.
    pub flows_at: Option<std::ops::Range<usize>>,
}

impl Part for Settings {
    /// A block without a program runs the rules of its table, or none.
    fn needs_program(&self) -> bool {
        false
    }

    fn table_names(&self) -> TableNames {
        TableNames::Fixed(vec!["rules", "eve"])
    }

    fn without_memory(&self) -> Option<Fault> {
        let most = 1 << ON_CHIP;
        let message = format!(
            "flows: above {most} their lines are in card memory, of which this card has no channels: say {most} at most"
        );
        (self.buckets != 0).then(|| Fault { span: self.flows_at.clone(), message })
    }

    fn with_files(&self, name: &str, files: Vec<PathBuf>) -> Result<Arc<dyn Part>, FilesError> {
        let mut settings = self.clone();
        match name {
            "rules" => settings.given = Some(files),
            "eve" => settings.eve = Some(only_file(name, files)?),
            _ => {
                let text = format!("there is no table `{name}`: the ids engine has rules and eve");
                return Err(FilesError::NoTable(text));
            }
        }
        Ok(Arc::new(settings))
    }
}

/// Flows that a block may be given memory for.
const FLOWS: std::ops::RangeInclusive<i64> = 1..=4_000_000;
/// Flow lines of a card on the chip, of a bucket in its memory, and buckets that it may have: powers of two.
const ON_CHIP: u32 = 10;
const BUCKET: u32 = 4;
const BUCKETS: std::ops::RangeInclusive<u32> = 11..=17;
/// Bytes of a stream that may be kept: those of a key before a segment at least.
const HISTORY: std::ops::RangeInclusive<i64> = 64..=(1 << 26);

/// Rules that one direction may wait for.
const ARMED: std::ops::RangeInclusive<i64> = 1..=1_000_000;
/// Bytes of a body that are looked at.
const BODY: std::ops::RangeInclusive<i64> = 1..=(1 << 26);

/// `[inline.ids]`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "inline.ids")]
pub(crate) struct Keys {
    /// Files of rules beside the block's program.
    #[serde(default)]
    #[schemars(with = "Vec<PathBuf>")]
    rules: Vec<Spanned<PathBuf>>,
    /// The block's mode for frames.
    #[serde(default)]
    mode: Mode,
    /// The action for a frame whose verdict is late.
    #[serde(default)]
    late: Late,
    /// File that gets alerts as EVE records.
    eve: Option<PathBuf>,
    /// The contents of the file of EVE records.
    #[serde(default)]
    log: Records,
    /// More records.
    #[serde(default)]
    records: Vec<MoreRecords>,
    /// More fields of alerts.
    #[serde(default)]
    alert: Vec<MoreOfAlerts>,
    /// File with the variables of rule headers, in the form of suricata.yaml.
    #[schemars(with = "Option<PathBuf>")]
    config: Option<Spanned<PathBuf>>,
    /// File with descriptions and priorities of classes, in the form of classification.config.
    #[schemars(with = "Option<PathBuf>")]
    classification: Option<Spanned<PathBuf>>,
    /// File that says when rules report, in the form of threshold.config.
    #[schemars(with = "Option<PathBuf>")]
    thresholds: Option<Spanned<PathBuf>>,
    /// Folder that sets of values of rules are written to, and that has nothing else.
    #[schemars(with = "Option<PathBuf>")]
    datasets: Option<Spanned<PathBuf>>,
    /// Variables of rule headers, such as HOME_NET; they replace those of `config`.
    #[serde(default)]
    variables: BTreeMap<String, String>,
    /// Leave out rules that are wrong or use what the engine does not support.
    #[serde(default)]
    skip_unsupported: bool,
    /// The treatment of TCP segments with a wrong checksum.
    #[serde(default)]
    checksums: Checksums,
    /// Systems of hosts, which choose between overlapping segments: addresses by the name of a system.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, Vec<String>>")]
    host_os: BTreeMap<Spanned<String>, Vec<Spanned<String>>>,
    /// Destination ports of VXLAN.
    vxlan: Option<Vec<u16>>,
    /// Destination ports of Geneve.
    geneve: Option<Vec<u16>>,
    /// Whether datagrams to and from port 3544 may carry IPv6.
    teredo: Option<bool>,
    /// Flows that the block remembers. A card remembers 1,024, or has lines for more in its memory.
    #[schemars(with = "Option<i64>", range(min = *FLOWS.start(), max = *FLOWS.end()))]
    flows: Option<Spanned<i64>>,
    /// Bytes of a stream that are kept for later matches.
    #[schemars(with = "Option<i64>", range(min = *HISTORY.start(), max = *HISTORY.end()))]
    history: Option<Spanned<i64>>,
    /// Rules that one direction of a flow may wait for.
    #[schemars(with = "Option<i64>", range(min = *ARMED.start(), max = *ARMED.end()))]
    armed: Option<Spanned<i64>>,
    /// Bytes of a body that rules look at.
    #[schemars(with = "Option<i64>", range(min = *BODY.start(), max = *BODY.end()))]
    body: Option<Spanned<i64>>,
}

/// Buckets in a card's memory for so many flows, as a power of two: with two lines for each flow, few buckets are full.
fn buckets(flows: Option<&Spanned<i64>>) -> u32 {
    let flows = flows.map_or(0, |flows| flows.get_ref().unsigned_abs());
    if flows <= 1 << ON_CHIP {
        return 0;
    }
    let lines = (2 * flows).next_power_of_two().ilog2();
    lines.saturating_sub(BUCKET).clamp(*BUCKETS.start(), *BUCKETS.end())
}

/// Reads `host_os`.
fn systems(table: BTreeMap<Spanned<String>, Vec<Spanned<String>>>) -> Result<Systems, Fault> {
    let mut systems = Systems::default();
    for (name, addresses) in table {
        let Some(policy) = Policy::named(name.get_ref()) else {
            let known: Vec<&str> = Policy::names().collect();
            let message = format!("host_os: there is no system `{}`: {}", name.get_ref(), known.join(", "));
            return Err(Fault::at(name.span(), message));
        };
        for address in addresses {
            if !systems.add(address.get_ref(), policy) {
                let message = format!("host_os: `{}` is neither ADDRESS nor ADDRESS/LENGTH", address.get_ref());
                return Err(Fault::at(address.span(), message));
            }
        }
    }
    Ok(systems)
}

impl Settings {
    /// Reads `[inline.ids]`.
    ///
    /// # Errors
    /// A key is unknown or has a wrong value.
    pub fn read(section: Option<Section<'_>>) -> Result<Self, Fault> {
        let Some(section) = section else { return Ok(Self::default()) };
        let folder = section.folder;
        let keys: Keys = section.read()?;
        let mut rules = Vec::new();
        for file in keys.rules {
            let path = folder.join(file.get_ref());
            if !path.exists() {
                return Err(Fault::at(file.span(), format!("rules: {} does not exist", path.display())));
            }
            rules.push(path);
        }
        let number = |name: &str, value: Option<Spanned<i64>>, range: std::ops::RangeInclusive<i64>, default: usize| {
            let Some(value) = value else { return Ok(default) };
            let (low, high) = (range.start(), range.end());
            let wrong = || Fault::at(value.span(), format!("{name} is {low} to {high}, not {}", value.get_ref()));
            range.contains(value.get_ref()).then(|| usize::try_from(*value.get_ref()).ok()).flatten().ok_or_else(wrong)
        };
        let default = Bounds::default();
        let buckets = buckets(keys.flows.as_ref());
        let flows_at = keys.flows.as_ref().map(Spanned::span);
        let bounds = Bounds {
            systems: systems(keys.host_os)?,
            tunnels: Tunnels {
                vxlan: keys.vxlan.unwrap_or(default.tunnels.vxlan),
                geneve: keys.geneve.unwrap_or(default.tunnels.geneve),
                teredo: keys.teredo.unwrap_or(default.tunnels.teredo),
            },
            checksums: match keys.checksums {
                Checksums::Check => penstock_ids::Checksums::Check,
                Checksums::Ignore => penstock_ids::Checksums::Ignore,
                Checksums::Auto => penstock_ids::Checksums::Auto,
            },
            flows: number("flows", keys.flows, FLOWS, default.flows)?,
            history: number("history", keys.history, HISTORY, default.history)?,
            armed: number("armed", keys.armed, ARMED, default.armed)?,
            messages: penstock_app::Limits {
                body: number("body", keys.body, BODY, default.messages.body)?,
                ..default.messages
            },
            ..default
        };
        let has = |more| keys.alert.contains(&more);
        let fields = AlertFields {
            payload: has(MoreOfAlerts::Payload),
            packet: has(MoreOfAlerts::Packet),
            flow: has(MoreOfAlerts::Flow),
        };
        let path = |file: &Option<Spanned<PathBuf>>| file.as_ref().map(|file| folder.join(file.get_ref()));
        let datasets = path(&keys.datasets);
        if let (Some(key), Some(folder)) = (&keys.datasets, &datasets)
            && !folder.is_dir()
        {
            return Err(Fault::at(key.span(), format!("datasets: there is no folder {}", folder.display())));
        }
        let beside = ConfigFiles {
            config: path(&keys.config),
            classification: path(&keys.classification),
            thresholds: path(&keys.thresholds),
        };
        let span = |key: &Option<Spanned<PathBuf>>| key.as_ref().map_or(0..0, Spanned::span);
        let fault = |key| move |error: EngineError| Fault::at(span(key), error.to_string());
        let mut variables = beside.variables().map_err(fault(&keys.config))?;
        let classes = beside.classes().map_err(fault(&keys.classification))?;
        variables.0.extend(keys.variables);
        let tuning = beside.tuning(&variables).map_err(fault(&keys.thresholds))?;
        Ok(Self {
            rules,
            given: None,
            mode: keys.mode,
            late: keys.late,
            eve: keys.eve.map(|eve| folder.join(eve)),
            reports: Reports {
                fields,
                messages: keys.log == Records::All,
                flows: keys.records.contains(&MoreRecords::Flow),
                files: keys.records.contains(&MoreRecords::Fileinfo),
                drops: keys.records.contains(&MoreRecords::Drop),
                anomalies: keys.records.contains(&MoreRecords::Anomaly),
            },
            variables,
            classes,
            tuning,
            datasets,
            skip_unsupported: keys.skip_unsupported,
            bounds,
            buckets,
            flows_at,
        })
    }

    /// The settings behind a part of a design. Every part that the engine reads is one.
    pub(crate) fn of(part: &dyn Part) -> Self {
        (part as &dyn Any).downcast_ref::<Self>().cloned().unwrap_or_default()
    }
}

/// `[card.ids]`, which has no keys.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "card.ids")]
pub(crate) struct CardKeys {}

/// The settings of the engine on the whole card, `[card.ids]`: it has no keys.
#[derive(Debug)]
struct OnCard;

impl Part for OnCard {}

/// Reads `[card.ids]`.
///
/// # Errors
/// The table has a key.
pub fn card(section: Option<Section<'_>>) -> Result<Arc<dyn Part>, Fault> {
    section.map(Section::read::<CardKeys>).transpose()?;
    Ok(Arc::new(OnCard))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::path::Path;

    use toml::de::DeTable;

    use super::*;

    fn read(manifest: &str) -> Result<Settings, Fault> {
        let mut tables = DeTable::parse(manifest).unwrap().into_inner();
        let (_, table) = tables.remove_entry("ids").unwrap();
        Settings::read(Some(Section { folder: Path::new("/there"), table }))
    }

    #[test]
    fn settings_are_read() {
        assert_eq!((Settings::read(None), read("[ids]\n")), (Ok(Settings::default()), Ok(Settings::default())));
        let settings = read(
            "[ids]\nmode = \"ips\"\neve = \"eve.json\"\nskip_unsupported = true\nhistory = 100\nvariables.HOME_NET = \"10.0.0.0/8\"\n",
        )
        .unwrap();
        assert_eq!((settings.mode, settings.bounds.history), (Mode::Ips, 100));
        let more = read("[ids]\nlog = \"all\"\nalert = [\"payload\", \"flow\"]\nbody = 9\narmed = 8\n").unwrap();
        let fields = AlertFields { payload: true, packet: false, flow: true };
        assert_eq!(more.reports, Reports { fields, messages: true, ..Reports::default() });
        let records = read("[ids]\nrecords = [\"flow\", \"drop\"]\n").unwrap().reports;
        assert_eq!((records.flows, records.files, records.drops, records.anomalies), (true, false, true, false));
        assert_eq!((more.bounds.messages.body, more.bounds.armed), (9, 8));
        let view =
            read("[ids]\nchecksums = \"ignore\"\nvxlan = []\nhost_os.linux = [\"10.0.0.0/8\"]\n").unwrap().bounds;
        assert_eq!((view.checksums, view.tunnels.vxlan.len()), (penstock_ids::Checksums::Ignore, 0));
        assert_eq!(view.systems.of("10.2.3.4".parse().unwrap()), Policy::Linux);
        assert_eq!(settings.eve.as_deref(), Some(Path::new("/there/eve.json")));
        assert_eq!(settings.variables.0["HOME_NET"], "10.0.0.0/8");
        assert_eq!(settings.variables.0["HTTP_PORTS"], "80");
        let buckets = |flows| read(&format!("[ids]\nflows = {flows}\n")).unwrap().buckets;
        assert_eq!((settings.buckets, buckets(1_024)), (0, 0));
        let some = [1_025, 8_192, 8_193, 1_000_000, 1 << 20, 4_000_000].map(buckets);
        assert_eq!(some, [11, 11, 11, 17, 17, 17]);
        let refused = |flows| read(&format!("[ids]\nflows = {flows}\n")).unwrap().without_memory();
        assert_eq!((settings.without_memory(), refused(1_024)), (None, None));
        assert_eq!(refused(1_025).unwrap().span, Some(14..18));
        for (text, words) in [
            ("mode = \"both\"", "expected `ids` or `ips`"),
            ("history = 1", "history is 64 to"),
            ("body = 0", "body is 1 to"),
            ("armed = 0", "armed is 1 to"),
            ("log = \"none\"", "unknown word"),
            ("alert = [\"frame\"]", "unknown word"),
            ("records = [\"netflow\"]", "unknown word"),
            ("flows = 0", "flows is 1 to"),
            ("checksums = \"some\"", "unknown word"),
            ("host_os.plan9 = [\"10.0.0.0/8\"]", "no system `plan9`: bsd, "),
            ("host_os.linux = [\"10.0.0.0/40\"]", "`10.0.0.0/40` is neither"),
            ("lanes = 4", "unknown field `lanes`"),
            ("rules = [\"none.rules\"]", "rules: /there/none.rules does not exist"),
        ] {
            let fault = read(&format!("[ids]\n{text}\n")).unwrap_err();
            assert!(fault.message.contains(words) && fault.span.is_some(), "{fault:?}");
        }
    }

    #[test]
    fn the_command_line_gives_files() {
        let settings = Settings::default();
        let part = settings.with_files("rules", vec!["a".into(), "b".into()]).unwrap();
        let part = part.with_files("eve", vec!["e".into()]).unwrap();
        let given = Settings::of(&*part);
        assert_eq!((given.given, given.eve), (Some(vec!["a".into(), "b".into()]), Some("e".into())));
        assert!(settings.with_files("eve", vec!["a".into(), "b".into()]).is_err());
        assert!(settings.with_files("map", vec!["a".into()]).is_err());
    }
}
