// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! `penstock compile ids`: which rules load, how each is evaluated, and what the filter costs.

use std::path::PathBuf;

use clap::{ArgMatches, Args, Command, FromArgMatches};
use penstock_engine::{Tool, ToolError, Workbench, files, say};
use penstock_ids_compiler::{Found, Options, Program, RuleFile, Ruleset, class_name, key_text};
use serde_json::{Value as Json, json};

use crate::config::ConfigFiles;
use crate::image::RULES;

/// `penstock compile ids`.
pub(crate) const COMPILE: Tool = Tool { command, run };

/// Reads rules and tells which of them load and what the filter costs.
#[derive(Debug, Args)]
struct Arguments {
    /// Files of rules.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Print how each rule is evaluated.
    #[arg(long)]
    explain: bool,
    /// Write all about the rules as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Leave rules out that are wrong or use what the engine does not support, and name them.
    #[arg(long)]
    skip_unsupported: bool,
    /// Take the variables of rule headers from this file, in the form of suricata.yaml.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Take descriptions and priorities of classes from this file, in the form of classification.config.
    #[arg(long, value_name = "FILE")]
    classification: Option<PathBuf>,
    /// Take from this file when rules report, in the form of threshold.config.
    #[arg(long, value_name = "FILE")]
    thresholds: Option<PathBuf>,
    /// Take this as the folder that sets of values are written to. Nothing is written here.
    #[arg(long, value_name = "FOLDER")]
    datasets: Option<PathBuf>,
    /// Value of a variable of rule headers, for example HOME_NET=[10.0.0.0/8]. Repeatable.
    #[arg(long = "variable", value_name = "NAME=VALUE", value_parser = variable)]
    variables: Vec<(String, String)>,
}

fn variable(text: &str) -> Result<(String, String), String> {
    let parts = text.split_once('=').filter(|(name, value)| !name.is_empty() && !value.is_empty());
    let (name, value) = parts.ok_or_else(|| format!("`{text}`: write NAME=VALUE, for example HOME_NET=10.0.0.0/8"))?;
    Ok((name.to_owned(), value.to_owned()))
}

fn command() -> Command {
    Arguments::augment_args(Command::new("ids"))
}

fn run(matches: &ArgMatches, _: &dyn Workbench) -> Result<(), ToolError> {
    let arguments = Arguments::from_arg_matches(matches)?;
    let Arguments { files: paths, explain, json: to, skip_unsupported, .. } = arguments;
    let mut texts = Vec::new();
    for path in &paths {
        texts.push(RuleFile { name: path.display().to_string(), text: files::read(path, RULES)? });
    }
    let Arguments { config, classification, thresholds, datasets, .. } = arguments;
    let files = ConfigFiles { config, classification, thresholds };
    let (mut variables, classes) = (files.variables()?, files.classes()?);
    variables.0.extend(arguments.variables);
    let tuning = files.tuning(&variables)?;
    let options = Options { variables, classes, tuning, datasets, skip_unsupported };
    let program = Program::new(Ruleset::read(&texts, &options)?);
    for fault in &program.set.skipped {
        say!("left out: {fault}");
    }
    program.set.remarks().iter().for_each(|remark| say!("{remark}"));
    if explain {
        (0..program.set.rules.len()).for_each(|number| say!("{}", program.explain(number)));
    }
    say!("{}", program.cost());
    let classes: Vec<&str> = program.classes().collect();
    if !classes.is_empty() {
        say!("the host looks at every frame of: {}", classes.join(", "));
    }
    to.map_or(Ok(()), |path| Ok(files::write(&path, format!("{:#}\n", about(&program)))?))
}

/// All about the rules.
fn about(program: &Program) -> Json {
    let rules = program.set.rules.iter().zip(&program.found).zip(&program.classes).map(|((rule, found), class)| {
        let (key, why) = match found {
            Found::Guards(_) => (None, None),
            Found::Key(key, _) => (Some(key_text(key)), None),
            Found::Always(why) => (None, Some(*why)),
        };
        json!({
            "gid": rule.gid, "sid": rule.sid, "rev": rule.rev, "place": program.set.place(rule),
            "packets": rule.looks.packets, "stream": rule.looks.stream, "key": key, "without_key": why,
            "class": class.map(class_name),
        })
    });
    let skipped = program.set.skipped.iter().map(
        |fault| json!({"file": fault.file, "line": fault.line, "keyword": fault.unsupported, "message": fault.message}),
    );
    let cost = program.cost();
    json!({
        "rules": rules.collect::<Vec<_>>(),
        "skipped": skipped.collect::<Vec<_>>(),
        "filter": {
            "keys": cost.long_keys + cost.short_keys, "long_keys": cost.long_keys, "short_keys": cost.short_keys,
            "classes": {"raw": cost.classes[0], "transformable": cost.classes[1], "host-only": cost.classes[2]},
            "places": cost.places, "random_hits": cost.random_hits,
        },
        "every_frame_of": program.classes().collect::<Vec<_>>(),
    })
}
