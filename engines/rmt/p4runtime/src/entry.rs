// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Table entries between P4Runtime's numbers and the program's indices.

use penstock_rmt_compiler::ir::{ActionCall, Entry, Key, Match, MatchKind, Program, Table, TableId};

use crate::bits;
use crate::proto::p4::v1::field_match::{self, FieldMatchType};
use crate::proto::p4::v1::{self as p4, FieldMatch, TableAction, TableEntry, action, table_action};
use crate::refusal::Refusal;

/// The table of this number.
pub fn table(program: &Program, id: u32) -> Result<(TableId, &Table), Refusal> {
    let found = program.tables.iter().enumerate().find(|(_, table)| table.id == id);
    found.ok_or_else(|| Refusal::not_found(format!("the program {} has no table {id}", program.name)))
}

/// What an entry matches and its priority, with the action of `call`.
pub fn read(table: &Table, entry: &TableEntry, call: ActionCall) -> Result<Entry, Refusal> {
    if entry.idle_timeout_ns != 0 || entry.time_since_last_hit.is_some() {
        return Err(Refusal::unsupported("idle timeouts of entries are not there yet"));
    }
    if entry.meter_config.is_some() || entry.meter_counter_data.is_some() {
        return Err(Refusal::unsupported("meters are not there yet"));
    }
    if !entry.metadata.is_empty() {
        return Err(Refusal::unsupported("metadata of entries is not kept"));
    }
    match (table.has_priorities(), entry.priority) {
        (true, ..=0) => {
            let text = format!("an entry of {} needs a priority above 0, for keys may overlap", table.name);
            return Err(Refusal::argument(text));
        }
        (false, priority) if priority != 0 => {
            return Err(Refusal::argument(format!("entries of {} have no priority: leave it 0", table.name)));
        }
        _ => {}
    }
    let mut given: Vec<Option<&FieldMatchType>> = vec![None; table.keys.len()];
    for field in &entry.r#match {
        let place = (field.field_id as usize).checked_sub(1).and_then(|at| given.get_mut(at));
        let Some(place) = place else {
            return Err(Refusal::argument(format!("{} has no match field {}", table.name, field.field_id)));
        };
        if place.is_some() {
            return Err(Refusal::argument(format!("match field {} is given twice", field.field_id)));
        }
        *place = field.field_match_type.as_ref();
    }
    let keys = table.keys.iter().zip(given).map(|(key, field)| read_key(table, key, field));
    Ok(Entry { keys: keys.collect::<Result<_, _>>()?, priority: entry.priority, call })
}

fn read_key(table: &Table, key: &Key, field: Option<&FieldMatchType>) -> Result<Match, Refusal> {
    let name = format!("{} of {}", key.name, table.name);
    let all = bits::prefix_mask(key.width, key.width);
    let omit = |what: &str| Err(Refusal::argument(format!("{name}: {what} matches anything: leave the field out")));
    let number = |bytes: &[u8], what: &str| bits::read(bytes, key.width, &format!("{what}{name}"));
    let outside =
        || Err(Refusal::argument(format!("{name}: the value has bits that are not compared; they must be 0")));
    match (key.kind, field) {
        (MatchKind::Exact, Some(FieldMatchType::Exact(exact))) => Ok(Match::Exact(number(&exact.value, "")?)),
        (MatchKind::Exact, None) => Err(Refusal::argument(format!("{name} is missing, which every entry must have"))),
        (MatchKind::Lpm, Some(FieldMatchType::Lpm(field_match::Lpm { value, prefix_len }))) => {
            let value = number(value, "")?;
            match u32::try_from(*prefix_len) {
                Ok(0) => omit("a prefix of 0 bits"),
                Ok(length) if length <= key.width => {
                    if value & !bits::prefix_mask(key.width, length) != 0 {
                        outside()
                    } else {
                        Ok(Match::Lpm(value, length))
                    }
                }
                _ => Err(Refusal::range(format!("{name}: a prefix has 1 to {} bits, not {prefix_len}", key.width))),
            }
        }
        (MatchKind::Lpm, None) => Ok(Match::Lpm(0, 0)),
        (MatchKind::Ternary, Some(FieldMatchType::Ternary(field_match::Ternary { value, mask }))) => {
            let (value, mask) = (number(value, "")?, number(mask, "the mask of ")?);
            match mask {
                0 => omit("a mask of 0"),
                _ if value & !mask != 0 => outside(),
                _ => Ok(Match::Ternary(value, mask)),
            }
        }
        (MatchKind::Ternary, None) => Ok(Match::Ternary(0, 0)),
        (MatchKind::Range, Some(FieldMatchType::Range(field_match::Range { low, high }))) => {
            let (low, high) = (number(low, "the lower end of ")?, number(high, "the upper end of ")?);
            match (low, high) {
                _ if low > high => Err(Refusal::argument(format!("{name}: {low}..{high} has no values"))),
                (0, high) if high == all => omit("the range of all values"),
                _ => Ok(Match::Range(low, high)),
            }
        }
        (MatchKind::Range, None) => Ok(Match::Range(0, all)),
        (MatchKind::Optional, Some(FieldMatchType::Optional(optional))) => {
            Ok(Match::Exact(number(&optional.value, "")?))
        }
        (MatchKind::Optional, None) => Ok(Match::Ternary(0, 0)),
        _ => Err(Refusal::argument(format!("{name} is no {} match in the program", word(field)))),
    }
}

/// What kind of match a field is.
fn word(field: Option<&FieldMatchType>) -> &'static str {
    match field {
        Some(FieldMatchType::Exact(_)) => "exact",
        Some(FieldMatchType::Ternary(_)) => "ternary",
        Some(FieldMatchType::Lpm(_)) => "lpm",
        Some(FieldMatchType::Range(_)) => "range",
        Some(FieldMatchType::Optional(_)) => "optional",
        _ => "such",
    }
}

/// The action of an entry, or the default action.
pub fn read_action(
    program: &Program,
    table: &Table,
    action: Option<&TableAction>,
    is_default: bool,
) -> Result<ActionCall, Refusal> {
    let call = match action.and_then(|action| action.r#type.as_ref()) {
        Some(table_action::Type::Action(call)) => call,
        Some(_) => return Err(Refusal::unsupported("action profiles and selectors are not there yet")),
        None => return Err(Refusal::argument(format!("an entry of {} needs an action", table.name))),
    };
    let found = table.actions.iter().find(|one| program.actions[one.action].id == call.action_id);
    let Some(reference) = found else {
        return Err(Refusal::argument(format!("{} has no action {}", table.name, call.action_id)));
    };
    let action = &program.actions[reference.action];
    match is_default {
        true if reference.table_only => {
            return Err(Refusal::argument(format!("{} is only for entries of {}", action.name, table.name)));
        }
        false if reference.default_only => {
            return Err(Refusal::argument(format!("{} is only the default action of {}", action.name, table.name)));
        }
        _ => {}
    }
    let mut args = vec![None; action.params.len()];
    for param in &call.params {
        let at = (param.param_id as usize).checked_sub(1).filter(|at| *at < args.len());
        let Some(at) = at else {
            return Err(Refusal::argument(format!("{} has no parameter {}", action.name, param.param_id)));
        };
        let (name, width) = (&action.params[at].name, action.params[at].width);
        let value = bits::read(&param.value, width, &format!("{name} of {}", action.name))?;
        if args[at].replace(value).is_some() {
            return Err(Refusal::argument(format!("{name} of {} is given twice", action.name)));
        }
    }
    let missing =
        |at: usize| Refusal::argument(format!("{} needs its parameter {}", action.name, action.params[at].name));
    let args = args.into_iter().enumerate().map(|(at, value)| value.ok_or_else(|| missing(at)));
    Ok(ActionCall { action: reference.action, args: args.collect::<Result<_, _>>()? })
}

/// An entry for the controller.
pub fn write(program: &Program, table: &Table, entry: &Entry) -> TableEntry {
    let fields = (1..).zip(table.keys.iter().zip(&entry.keys));
    TableEntry {
        table_id: table.id,
        r#match: fields.filter_map(|(id, (key, value))| write_key(id, key, *value)).collect(),
        action: Some(write_action(program, &entry.call)),
        priority: entry.priority,
        is_const: table.const_entries,
        ..TableEntry::default()
    }
}

fn write_key(field_id: u32, key: &Key, value: Match) -> Option<FieldMatch> {
    let all = bits::prefix_mask(key.width, key.width);
    let field = match (key.kind, value) {
        (_, Match::Lpm(_, 0) | Match::Ternary(_, 0)) => return None,
        (MatchKind::Range, Match::Range(0, high)) if high == all => return None,
        (MatchKind::Optional, Match::Exact(value)) => {
            FieldMatchType::Optional(field_match::Optional { value: bits::write(value) })
        }
        (_, Match::Exact(value)) => FieldMatchType::Exact(field_match::Exact { value: bits::write(value) }),
        (_, Match::Lpm(value, length)) => {
            FieldMatchType::Lpm(field_match::Lpm { value: bits::write(value), prefix_len: length as i32 })
        }
        (_, Match::Ternary(value, mask)) => {
            FieldMatchType::Ternary(field_match::Ternary { value: bits::write(value), mask: bits::write(mask) })
        }
        (_, Match::Range(low, high)) => {
            FieldMatchType::Range(field_match::Range { low: bits::write(low), high: bits::write(high) })
        }
    };
    Some(FieldMatch { field_id, field_match_type: Some(field) })
}

/// An action for the controller.
pub fn write_action(program: &Program, call: &ActionCall) -> TableAction {
    let params = (1..).zip(&call.args);
    let params = params.map(|(param_id, value)| action::Param { param_id, value: bits::write(*value) }).collect();
    let action = p4::Action { action_id: program.actions[call.action].id, params };
    TableAction { r#type: Some(table_action::Type::Action(action)) }
}
