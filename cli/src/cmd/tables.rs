// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Files of tables on the command line: `--table NAME=FILE`, and the options that engines declare for tables of theirs.

use std::path::PathBuf;

use clap::{Arg, ArgAction, ArgMatches, Args, Command, Error, FromArgMatches, value_parser};
use penstock_engine::TableOption;
use penstock_registry::engines;

/// Files of tables, by table, in the order of the command line for each table.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tables(pub Vec<(String, PathBuf)>);

/// The option that takes any table.
const TABLE: &str = "table";

fn options() -> impl Iterator<Item = &'static TableOption> {
    engines().iter().flat_map(|engine| engine.options())
}

/// Parses TABLE=FILE.
pub(crate) fn table(text: &str) -> Result<(String, PathBuf), String> {
    match text.split_once('=') {
        Some((name, file)) if !name.is_empty() && !file.is_empty() => Ok((name.to_string(), file.into())),
        _ => Err(format!("`{text}` is no table: write TABLE=FILE, for example ip_prefix=list.txt")),
    }
}

impl Args for Tables {
    fn augment_args(command: Command) -> Command {
        let any = Arg::new(TABLE)
            .long(TABLE)
            .value_name("[PART.]TABLE=FILE")
            .action(ArgAction::Append)
            .value_parser(table)
            .help("Fill a table from this file, for example `ip_prefix=list.txt`. Repeatable");
        let named = |option: &TableOption| {
            let arg = Arg::new(option.name).long(option.name).value_name("FILE").action(ArgAction::Append);
            arg.value_parser(value_parser!(PathBuf)).help(option.help)
        };
        options().map(named).fold(command.arg(any), Command::arg)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for Tables {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let mut tables: Vec<(String, PathBuf)> = matches.get_many(TABLE).into_iter().flatten().cloned().collect();
        for option in options() {
            let files = matches.get_many::<PathBuf>(option.name).into_iter().flatten();
            tables.extend(files.map(|file| (option.name.to_owned(), file.clone())));
        }
        Ok(Self(tables))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_read() {
        let read = |words: &[&str]| {
            let command = Tables::augment_args(Command::new("run").no_binary_name(true));
            command.try_get_matches_from(words).and_then(|matches| Tables::from_arg_matches(&matches))
        };
        let tables = read(&["--table", "a=x", "--table", "b=y=z", "--table", "a=w"]).unwrap().0;
        let expected = [("a", "x"), ("b", "y=z"), ("a", "w")];
        assert_eq!(tables, expected.map(|(name, file)| (name.to_owned(), PathBuf::from(file))));
        for wrong in ["a", "=x", "a="] {
            let text = read(&["--table", wrong]).unwrap_err().to_string();
            assert!(text.contains("write TABLE=FILE"), "{text}");
        }
    }
}
