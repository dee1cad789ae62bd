// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Explains messages of the compiler and the linker in terms of the kit: headers and functions that it does not have.

use std::{collections::BTreeSet, ffi::OsStr, path::Path};

use crate::compiler::Kit;

/// Adds the way out to the compiler's messages if a header was not found.
pub(crate) fn explain_missing_headers(messages: String, kit: &Kit) -> String {
    let messages = messages.trim_end().to_owned();
    let missing: BTreeSet<&str> = messages
        .lines()
        .filter_map(|line| line.split_once("fatal error: '")?.1.split_once("' file not found"))
        .map(|(name, _)| name)
        .collect();
    if missing.is_empty() {
        return messages;
    }
    let missing: Vec<&str> = missing.into_iter().collect();
    let headers: Vec<_> = kit.headers.iter().map(|name| name.to_string_lossy()).collect();
    format!(
        "{messages}\nthere is no {}: units have no operating system and no C library. The kit has {}, and the compiler \
         has stdint.h, stddef.h, stdbool.h, stdarg.h and limits.h; put your own headers beside the source",
        missing.join(" and no "),
        headers.join(", ")
    )
}

/// Lists the undefined functions that a program uses, a line for each, from the linker's messages.
pub(crate) fn explain_undefined(messages: &str) -> String {
    let mut lines: Vec<String> = Vec::new();
    let mut messages = messages.lines().filter(|line| !line.trim().is_empty()).peekable();
    while let Some(message) = messages.next() {
        let message = message.trim_start_matches("ld.lld: error: ");
        let Some(symbol) = message.strip_prefix("undefined symbol: ") else {
            lines.push(message.to_owned());
            continue;
        };
        // `>>> referenced by x.c:5 (/folder/x.c:5)`, or without the part in brackets; then the object file.
        let mut place = None;
        while let Some(line) = messages.next_if(|line| line.starts_with(">>>")) {
            let referenced =
                line.strip_prefix(">>> referenced by ").map(|by| by.rsplit_once(" (").unwrap_or((by, by)).1);
            place = place.or(referenced.map(|by| by.trim_end_matches(')').to_owned()));
        }
        let line = match (symbol, place) {
            ("main", _) => {
                "there is no `main`: a program starts with `int main(void)`, which takes frames in an endless loop"
                    .into()
            }
            (name, Some(place)) if is_float(name) => {
                format!("{place}: floating-point arithmetic: a unit's core has none; use integers or fixed point")
            }
            (name, place) => format!(
                "{}`{name}` is not defined: give the source that defines it; of the C library the kit has only \
                 memcpy, memmove, memset, memcmp and strlen",
                place.map(|place| format!("{place}: ")).unwrap_or_default()
            ),
        };
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    lines.join("\n")
}

/// Whether the compiler calls this function for float (sf), double (df) or long double (tf) arithmetic.
fn is_float(name: &str) -> bool {
    name.strip_prefix("__").is_some_and(|name| ["sf", "df", "tf"].iter().any(|kind| name.contains(kind)))
}

/// A warning for each header in the list of files `included` (as `-MMD` writes it) that has the name of a kit's header
/// and is not the kit's.
pub(crate) fn foreign_headers(included: &str, source: &Path, kit: &Kit) -> String {
    let files = included.replace("\\\n", " ").replace("\\ ", "\0");
    let files = files.split_whitespace().map(|file| file.replace('\0', " "));
    let foreign = |file: &String| {
        let path = Path::new(file);
        let is_kits = path.parent().is_some_and(|folder| kit.folders.iter().any(|own| own == folder));
        !is_kits && path.file_name().is_some_and(|name: &OsStr| kit.headers.contains(name))
    };
    let warning = |file: String| {
        let name = Path::new(&file).file_name().unwrap_or_default().to_string_lossy();
        format!(
            "{}: warning: it includes {file}, not the kit's {name}; \
             to have the kit's, write #include <{name}> or rename the file\n",
            source.display()
        )
    };
    files.filter(foreign).map(warning).collect()
}
