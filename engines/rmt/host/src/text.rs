// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Answers of the service `rmt` as text.

use serde_json::Value as Json;

use penstock_rmt_compiler::ir::{Rates, Replica};

use crate::answers::{CopiesAbout, CounterAbout, MeterAbout, ProfileAbout, RegisterAbout, TableAbout, TenantAbout};
use crate::ask::Ask;
use crate::entry::NamedEntry;

/// An answer: a line for each tenant, table, entry or cell. Requests that only change something have no text.
pub(crate) fn text(asked: &Ask, answer: &Json) -> String {
    match asked {
        Ask::Tenants => lines(answer, tenant),
        Ask::Tables { .. } => lines(answer, table),
        Ask::Entries { .. } => lines(answer, |one| entry(&one)),
        Ask::Registers { .. } => lines(answer, register),
        Ask::Counters { .. } => lines(answer, counter),
        Ask::Meters { .. } => lines(answer, meter),
        Ask::ValueSets { .. } | Ask::Digests { .. } => lines(answer, |one: Json| one.to_string()),
        Ask::Copies { .. } => of(answer, copies),
        Ask::Profiles { .. } => lines(answer, profile),
        Ask::Events { .. } | Ask::Stream { .. } => format!("{answer}\n"),
        Ask::Write { .. } => {
            let refused = answer.as_array().into_iter().flatten().filter_map(|one| one["message"].as_str());
            refused.map(|message| format!("refused: {message}\n")).collect()
        }
        _ => String::new(),
    }
}

/// A line for each element of a list. A text that is not understood is shown unchanged.
fn lines<T: serde::de::DeserializeOwned>(answer: &Json, line: impl Fn(T) -> String) -> String {
    let show = |one: &Json| serde_json::from_value(one.clone()).map_or_else(|_| one.to_string(), &line) + "\n";
    answer.as_array().into_iter().flatten().map(show).collect()
}

/// An answer that is no list. An answer of another form is shown as JSON.
fn of<T: serde::de::DeserializeOwned>(answer: &Json, text: impl Fn(T) -> String) -> String {
    serde_json::from_value(answer.clone()).map_or_else(|_| format!("{answer}\n"), text)
}

fn replicas(copies: &[Replica]) -> String {
    let one = |copy: &Replica| match copy.instance {
        0 => format!(" port {}", copy.port),
        instance => format!(" port {} instance {instance}", copy.port),
    };
    let all: Vec<_> = copies.iter().map(one).collect();
    if all.is_empty() { " none".to_owned() } else { all.join(",") }
}

fn copies(CopiesAbout { groups, sessions }: CopiesAbout) -> String {
    let groups = groups.iter().map(|group| format!("group {}:{}\n", group.multicast, replicas(&group.copies)));
    let sessions = sessions.iter().map(|session| {
        let group = session.group.map_or(String::new(), |group| format!(", group {group}"));
        let length = if session.length == 0 { String::new() } else { format!(", {} bytes", session.length) };
        format!("clone session {}:{}{group}{length}\n", session.clone, replicas(&session.copies))
    });
    groups.chain(sessions).collect()
}

fn profile(ProfileAbout { name, size, members, groups, .. }: ProfileAbout) -> String {
    let params = |of: &serde_json::Map<String, Json>| {
        of.iter().map(|(name, value)| format!(" {name}={}", plain(value))).collect::<String>()
    };
    let action = |of: &Option<String>| of.clone().unwrap_or_default();
    let of_members =
        members.iter().map(|one| format!("\nmember {}: {}{}", one.member, action(&one.action), params(&one.params)));
    let of_groups = groups.iter().map(|group| {
        let members = group.members.iter().map(|one| match one.weight {
            1 => one.member.to_string(),
            weight => format!("{} (weight {weight})", one.member),
        });
        format!("\ngroup {}: {}", group.group, members.collect::<Vec<_>>().join(", "))
    });
    format!("{name}: {} of {size} members{}", members.len(), of_members.chain(of_groups).collect::<String>())
}

fn meter(MeterAbout { name, unit, size, cells }: MeterAbout) -> String {
    let rates = |rates: Rates| format!("cir {} cbs {} pir {} pbs {}", rates.cir, rates.cbs, rates.pir, rates.pbs);
    let cells = cells.into_iter().flatten().enumerate();
    let cells: String = cells.filter_map(|(at, of)| Some(format!("\n{at}: {}", rates(of?)))).collect();
    format!("{name}: {size} cells, {unit} per second{cells}")
}

fn tenant(TenantAbout { name, number, program, entries, loads }: TenantAbout) -> String {
    let swaps = match loads {
        0 | 1 => String::new(),
        loads => format!(", swapped {} times", loads - 1),
    };
    format!("{name} ({number}): {program}, {entries} entries{swaps}")
}

fn table(TableAbout { name, keys, actions, entries, size, is_const, default }: TableAbout) -> String {
    let keys: Vec<_> = keys.iter().map(|key| format!("{} {} {}", key.name, key.width, key.kind)).collect();
    let keys = if keys.is_empty() { "no keys".to_owned() } else { keys.join(", ") };
    let actions: Vec<_> = actions
        .iter()
        .map(|action| {
            let params: Vec<_> = action.params.iter().map(|(name, width)| format!("{name} {width}")).collect();
            format!("{}({})", action.name, params.join(", "))
        })
        .collect();
    let fixed = if is_const { ", const" } else { "" };
    format!("{name}: {keys}; {}; {entries} of {size} entries{fixed}; default {}", actions.join(", "), call(&default))
}

fn plain(value: &Json) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn call(entry: &NamedEntry) -> String {
    let params: Vec<_> = entry.params.iter().map(|(name, value)| format!(" {name}={}", plain(value))).collect();
    let weighted = |one: &crate::entry::NamedWeighted| format!("{} (weight {})", one.action, one.weight);
    let action = match (entry.member, entry.group, &entry.actions[..]) {
        (Some(member), ..) => format!("member {member}"),
        (_, Some(group), _) => format!("group {group}"),
        (_, _, []) => entry.action.clone().unwrap_or_else(|| "none".to_owned()),
        (_, _, actions) => actions.iter().map(weighted).collect::<Vec<_>>().join(", "),
    };
    format!("{action}{}", params.concat())
}

fn entry(entry: &NamedEntry) -> String {
    let keys: Vec<_> = entry.keys.iter().map(|(name, value)| format!("{name}={}", plain(value))).collect();
    let keys = match (entry.default, keys.is_empty()) {
        (true, _) => "default".to_owned(),
        (false, true) => "*".to_owned(),
        (false, false) => keys.join(" "),
    };
    let priority = if entry.priority == 0 { String::new() } else { format!(" priority {}", entry.priority) };
    let count =
        entry.count.map_or(String::new(), |count| format!(" ({} frames, {} bytes)", count.packets, count.bytes));
    format!("{keys}{priority}: {}{count}", call(entry))
}

fn register(RegisterAbout { name, width, size, cells }: RegisterAbout) -> String {
    let cells = cells.into_iter().flatten().enumerate();
    let cells: String = cells.map(|(at, value)| format!("\n{at}: {}", plain(&value))).collect();
    format!("{name}: {size} cells of {width} bits{cells}")
}

fn counter(CounterAbout { name, size, cells }: CounterAbout) -> String {
    let cells = cells.into_iter().flatten().enumerate();
    let cells: String =
        cells.map(|(at, count)| format!("\n{at}: {} frames, {} bytes", count.packets, count.bytes)).collect();
    format!("{name}: {size} cells{cells}")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn answers_are_lines() {
        let tenants = json!([{"name": "bob", "number": 1, "program": "router.p4", "entries": 3, "loads": 3}]);
        assert_eq!(text(&Ask::Tenants, &tenants), "bob (1): router.p4, 3 entries, swapped 2 times\n");
        let tables = json!([{
            "name": "I.routes", "keys": [{"name": "dst", "width": 32, "kind": "lpm"}],
            "actions": [{"name": "I.forward", "params": [["port", 9]]}, {"name": "I.drop", "params": []}],
            "entries": 1, "size": 1024, "is_const": false,
            "default": {"table": "I.routes", "default": true, "action": "I.drop"},
        }]);
        assert_eq!(
            text(&Ask::Tables { tenant: None }, &tables),
            "I.routes: dst 32 lpm; I.forward(port 9), I.drop(); 1 of 1024 entries; default I.drop\n"
        );
        let entries = json!([
            {"table": "t", "match": {"a": "1&&&3"}, "priority": 7, "action": "x", "params": {"p": 1},
             "count": {"packets": 2, "bytes": 128}},
            {"table": "t", "action": "x", "params": {"p": 1}},
            {"table": "t", "default": true, "action": "drop"},
        ]);
        assert_eq!(
            text(&Ask::Entries { tenant: None, table: "t".into() }, &entries),
            "a=1&&&3 priority 7: x p=1 (2 frames, 128 bytes)\n*: x p=1\ndefault: drop\n"
        );
        let registers = json!([{"name": "last", "width": 32, "size": 2, "cells": [1, "0x20"]}]);
        assert_eq!(
            text(&Ask::Registers { tenant: None, register: None }, &registers),
            "last: 2 cells of 32 bits\n0: 1\n1: 0x20\n"
        );
        let counters = json!([{"name": "seen", "size": 1, "cells": [{"packets": 1, "bytes": 60}]}]);
        assert_eq!(
            text(&Ask::Counters { tenant: None, counter: None }, &counters),
            "seen: 1 cells\n0: 1 frames, 60 bytes\n"
        );
        let write = Ask::Write { tenant: None, program: None, changes: Vec::new(), atomic: Default::default() };
        assert_eq!(text(&write, &json!([null, {"reason": "full", "message": "no room"}])), "refused: no room\n");
    }
}
