// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Table entries between P4Runtime's numbers and the program's indices.

use penstock_rmt_compiler::ir::{ActionCall, Entry, Key, Match, MatchKind, Program, Table, TableId, Via, Weighted};

use crate::bits;
use crate::object;
use crate::proto::p4::v1::field_match::{self, FieldMatchType};
use crate::proto::p4::v1::{self as p4, FieldMatch, TableAction, TableEntry, action, table_action};
use crate::refusal::Refusal;

/// The table of this number.
pub(crate) fn table(program: &Program, id: u32) -> Result<(TableId, &Table), Refusal> {
    let found = program.tables.iter().enumerate().find(|(_, table)| table.id == id);
    found.ok_or_else(|| Refusal::not_found(format!("the program {} has no table {id}", program.name)))
}

/// Reads an entry: match and priority, with the action of `target`.
#[expect(deprecated, reason = "a controller that sends it is told what to use")]
pub(crate) fn read(table: &Table, entry: &TableEntry, target: Target) -> Result<Entry, Refusal> {
    if entry.controller_metadata != 0 {
        return Err(Refusal::argument("controller_metadata is of old versions of P4Runtime: use metadata"));
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
    let name = |key: &Key| format!("{} of {}", key.name, table.name);
    let keys = table.keys.iter().zip(given).map(|(key, field)| read_match(&name(key), (key.kind, key.width), field));
    let idle_timeout = u64::try_from(entry.idle_timeout_ns)
        .map_err(|_| Refusal::argument("an idle timeout is not negative: 0 means none"))?;
    if idle_timeout != 0 && !table.idle_timeouts {
        let text = format!("entries of {} have no idle timeouts: write `support_timeout = true` in it", table.name);
        return Err(Refusal::argument(text));
    }
    let Target { call, via } = target;
    let (keys, metadata) = (keys.collect::<Result<_, _>>()?, entry.metadata.clone());
    Ok(Entry { keys, priority: entry.priority, call, via, idle_timeout, metadata })
}

/// The action of an entry, and where it comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Target {
    pub call: ActionCall,
    pub via: Option<Via>,
}

impl Target {
    /// An action of the entry's own.
    pub(crate) fn of(call: ActionCall) -> Self {
        Self { call, via: None }
    }
}

/// Reads the match of a key, or of a part of a value set. `name` is for messages.
pub(crate) fn read_match(
    name: &str,
    (kind, width): (MatchKind, u32),
    field: Option<&FieldMatchType>,
) -> Result<Match, Refusal> {
    let key = Kind { kind, width };
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

/// Kind and bits of what is matched.
struct Kind {
    kind: MatchKind,
    width: u32,
}

/// The name of a field's kind of match.
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
pub(crate) fn read_action(
    program: &Program,
    table: &Table,
    action: Option<&TableAction>,
    is_default: bool,
) -> Result<Target, Refusal> {
    let Some(given) = action.and_then(|action| action.r#type.as_ref()) else {
        return Err(Refusal::argument(format!("an entry of {} needs an action", table.name)));
    };
    let profile = table.profile.map(|profile| &program.profiles[profile]);
    let via = match (given, profile) {
        (table_action::Type::Action(call), profile) if profile.is_none() || is_default => {
            return read_call(program, table, call, is_default).map(Target::of);
        }
        (table_action::Type::Action(_), Some(profile)) => {
            let text = format!("{} takes its actions from {}: name a member or group of it", table.name, profile.name);
            return Err(Refusal::argument(text));
        }
        (_, None) => {
            let text = format!("{} has no action profile: give the entry an action", table.name);
            return Err(Refusal::argument(text));
        }
        _ if is_default => return Err(Refusal::argument("a default action is an action, no member or group")),
        (table_action::Type::ActionProfileMemberId(member), _) => Via::Member(*member),
        (_, Some(profile)) if profile.selector.is_none() => {
            return Err(Refusal::argument(format!("{} has no selector: name a member of it", profile.name)));
        }
        (table_action::Type::ActionProfileGroupId(group), _) => Via::Group(*group),
        (table_action::Type::ActionProfileActionSet(set), _) => read_set(program, table, set)?,
    };
    Ok(Target { call: table.default.clone(), via: Some(via) })
}

/// Actions of an entry's own, one of which each frame chooses.
#[expect(deprecated, reason = "controllers may write ports in the old form")]
fn read_set(program: &Program, table: &Table, set: &p4::ActionProfileActionSet) -> Result<Via, Refusal> {
    use p4::action_profile_action::WatchKind;
    if set.group_action.is_some() {
        return Err(Refusal::unsupported("actions of a whole set are not there: put them into its actions"));
    }
    if set.action_profile_actions.is_empty() {
        return Err(Refusal::argument("a set of actions needs at least one"));
    }
    let one = |one: &p4::ActionProfileAction| {
        let call = one.action.as_ref().ok_or_else(|| Refusal::argument("an action of a set is missing"))?;
        let watch = match &one.watch_kind {
            Some(WatchKind::Watch(port)) => Some(*port as u32),
            Some(WatchKind::WatchPort(port)) => Some(object::port(port)?.into()),
            None => None,
        };
        Ok(Weighted { call: read_call(program, table, call, false)?, weight: object::weight(one.weight)?, watch })
    };
    Ok(Via::Set(set.action_profile_actions.iter().map(one).collect::<Result<_, Refusal>>()?))
}

/// An action with its parameters.
pub(crate) fn read_call(
    program: &Program,
    table: &Table,
    call: &p4::Action,
    is_default: bool,
) -> Result<ActionCall, Refusal> {
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
pub(crate) fn write(program: &Program, table: &Table, entry: &Entry) -> TableEntry {
    let fields = (1..).zip(table.keys.iter().zip(&entry.keys));
    TableEntry {
        table_id: table.id,
        r#match: fields.filter_map(|(id, (key, value))| write_match(id, (key.kind, key.width), *value)).collect(),
        action: Some(write_target(program, entry)),
        priority: entry.priority,
        is_const: table.const_entries,
        idle_timeout_ns: i64::try_from(entry.idle_timeout).unwrap_or(i64::MAX),
        metadata: entry.metadata.clone(),
        ..TableEntry::default()
    }
}

/// Writes the match of a key, or of a part of a value set; None if it matches anything.
pub(crate) fn write_match(field_id: u32, (kind, width): (MatchKind, u32), value: Match) -> Option<FieldMatch> {
    let all = bits::prefix_mask(width, width);
    let field = match (kind, value) {
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
pub(crate) fn write_call(program: &Program, call: &ActionCall) -> p4::Action {
    let params = (1..).zip(&call.args);
    let params = params.map(|(param_id, value)| action::Param { param_id, value: bits::write(*value) }).collect();
    p4::Action { action_id: program.actions[call.action].id, params }
}

/// An action for the controller, as entries have it.
pub(crate) fn write_action(program: &Program, call: &ActionCall) -> TableAction {
    TableAction { r#type: Some(table_action::Type::Action(write_call(program, call))) }
}

/// The action of an entry for the controller, or where it comes from.
fn write_target(program: &Program, entry: &Entry) -> TableAction {
    use p4::action_profile_action::WatchKind;
    let one = |one: &Weighted| p4::ActionProfileAction {
        action: Some(write_call(program, &one.call)),
        weight: one.weight as i32,
        watch_kind: one.watch.map(|port| WatchKind::WatchPort(bits::write(port.into()))),
    };
    let to = match &entry.via {
        None => return write_action(program, &entry.call),
        Some(Via::Member(member)) => table_action::Type::ActionProfileMemberId(*member),
        Some(Via::Group(group)) => table_action::Type::ActionProfileGroupId(*group),
        Some(Via::Set(set)) => table_action::Type::ActionProfileActionSet(p4::ActionProfileActionSet {
            action_profile_actions: set.iter().map(one).collect(),
            ..p4::ActionProfileActionSet::default()
        }),
    };
    TableAction { r#type: Some(to) }
}
