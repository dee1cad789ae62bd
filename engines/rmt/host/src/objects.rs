// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Checks of objects that refer to each other: members, groups of them, and entries that lead to both.

use penstock_rmt_compiler::ir::{Entry, MemberGroup, ProfileId, Program, Via};
use penstock_rmt_p4runtime::{Object, ObjectKind, Reason, Refusal};

use crate::error::RmtError;
use crate::running::Running;

/// Most weights of a group together: its choices stand one behind the other in memory.
const CHOICES: u64 = 65_536;

/// The kind of an object.
pub(crate) fn kind(object: &Object) -> ObjectKind {
    match object {
        Object::Group(..) => ObjectKind::Groups,
        Object::Session(..) => ObjectKind::Sessions,
        Object::Member(profile, ..) => ObjectKind::Members(*profile),
        Object::MemberGroup(profile, ..) => ObjectKind::MemberGroups(*profile),
        Object::Digest(..) => ObjectKind::Digests,
    }
}

/// Whether two objects of one kind have the same number.
pub(crate) fn is_same(one: &Object, other: &Object) -> bool {
    match (one, other) {
        (Object::Group(one, _), Object::Group(other, _)) => one == other,
        (Object::Session(one, _), Object::Session(other, _)) => one == other,
        (Object::Member(_, one, _), Object::Member(_, other, _)) => one == other,
        (Object::MemberGroup(_, one, _), Object::MemberGroup(_, other, _)) => one == other,
        (Object::Digest(one, _), Object::Digest(other, _)) => one == other,
        _ => false,
    }
}

/// An object in messages.
pub(crate) fn name(program: &Program, object: &Object) -> String {
    match object {
        Object::Group(group, _) => format!("multicast group {group}"),
        Object::Session(session, _) => format!("clone session {session}"),
        Object::Member(profile, member, _) => format!("member {member} of {}", program.profiles[*profile].name),
        Object::MemberGroup(profile, group, _) => format!("group {group} of {}", program.profiles[*profile].name),
        Object::Digest(digest, _) => format!("config of the digest {}", program.digests[*digest].name),
    }
}

/// Entries of the tables of an action profile.
fn entries(running: &mut dyn Running, program: &Program, profile: ProfileId) -> Result<Vec<Entry>, RmtError> {
    let mut all = Vec::new();
    for table in (0..program.tables.len()).filter(|table| program.tables[*table].profile == Some(profile)) {
        all.extend(running.entries(table)?.into_iter().map(|(entry, _)| entry));
    }
    Ok(all)
}

fn members(running: &mut dyn Running, profile: ProfileId) -> Result<Vec<u32>, RmtError> {
    let all = running.objects(ObjectKind::Members(profile))?;
    let number = |one: Object| match one {
        Object::Member(_, member, _) => Some(member),
        _ => None,
    };
    Ok(all.into_iter().filter_map(number).collect())
}

fn has_member(running: &mut dyn Running, program: &Program, profile: ProfileId, member: u32) -> Result<bool, RmtError> {
    let Some(table) = program.tables.iter().find(|table| table.profile == Some(profile)) else { return Ok(false) };
    Ok(running.object(&Object::Member(profile, member, table.default.clone()))?.is_some())
}

/// Checks an object that is to be set.
pub(crate) fn check(running: &mut dyn Running, program: &Program, object: &Object) -> Result<(), RmtError> {
    match object {
        Object::Member(profile, member, _) => {
            let (about, members) = (&program.profiles[*profile], members(running, *profile)?);
            if !members.contains(member) && members.len() >= about.size as usize {
                let text = format!("{} is full: it has {} members", about.name, about.size);
                return Err(Refusal::new(Reason::Full, text).into());
            }
            let of_its_own = |entry: &Entry| matches!(entry.via, Some(Via::Set(_)));
            if members.is_empty() && entries(running, program, *profile)?.iter().any(of_its_own) {
                let text = format!("entries of {} have actions of their own: it takes no members then", about.name);
                return Err(Refusal::argument(text).into());
            }
            Ok(())
        }
        Object::MemberGroup(profile, group, of) => {
            let about = &program.profiles[*profile];
            if about.selector.is_none() {
                return Err(Refusal::argument(format!("{} has no selector, so no groups", about.name)).into());
            }
            for (index, one) in of.members.iter().enumerate() {
                if !has_member(running, program, *profile, one.member)? {
                    return Err(Refusal::not_found(format!("{} has no member {}", about.name, one.member)).into());
                }
                if of.members[..index].iter().any(|other| other.member == one.member) {
                    let text = format!("member {} stands in group {group} twice: give it a weight", one.member);
                    return Err(Refusal::argument(text).into());
                }
            }
            let most = if of.max_size == 0 { about.size } else { of.max_size };
            let weights = of.members.iter().map(|one| u64::from(one.weight)).sum::<u64>();
            if of.members.len() > most as usize || weights > CHOICES {
                let text = format!(
                    "group {group} has {} members with weights of {weights} together: {most} members and {CHOICES} are possible",
                    of.members.len()
                );
                return Err(Refusal::new(Reason::Full, text).into());
            }
            Ok(())
        }
        Object::Group(..) | Object::Session(..) | Object::Digest(..) => Ok(()),
    }
}

/// Checks that nothing refers to an object that is to go.
pub(crate) fn check_unused(running: &mut dyn Running, program: &Program, object: &Object) -> Result<(), RmtError> {
    let refused = |what: &str| {
        let text = format!("{what} leads to {}: change that first", name(program, object));
        Err(Refusal::new(Reason::Precondition, text).into())
    };
    match object {
        Object::Member(profile, member, _) => {
            let groups = running.objects(ObjectKind::MemberGroups(*profile))?;
            let holds = |one: &Object| match one {
                Object::MemberGroup(_, _, group) => group.members.iter().any(|one| one.member == *member),
                _ => false,
            };
            if groups.iter().any(holds) {
                return refused("a group");
            }
            match entries(running, program, *profile)?.iter().any(|entry| entry.via == Some(Via::Member(*member))) {
                true => refused("an entry"),
                false => Ok(()),
            }
        }
        Object::MemberGroup(profile, group, _) => {
            match entries(running, program, *profile)?.iter().any(|entry| entry.via == Some(Via::Group(*group))) {
                true => refused("an entry"),
                false => Ok(()),
            }
        }
        Object::Group(..) | Object::Session(..) | Object::Digest(..) => Ok(()),
    }
}

/// Checks that what an entry leads to is there.
pub(crate) fn check_via(
    running: &mut dyn Running,
    program: &Program,
    profile: ProfileId,
    entry: &Entry,
) -> Result<(), RmtError> {
    let about = &program.profiles[profile];
    match &entry.via {
        None => Ok(()),
        Some(Via::Member(member)) if has_member(running, program, profile, *member)? => Ok(()),
        Some(Via::Member(member)) => Err(Refusal::not_found(format!("{} has no member {member}", about.name)).into()),
        Some(Via::Group(group))
            if running.object(&Object::MemberGroup(profile, *group, MemberGroup::default()))?.is_some() =>
        {
            Ok(())
        }
        Some(Via::Group(group)) => Err(Refusal::not_found(format!("{} has no group {group}", about.name)).into()),
        Some(Via::Set(set)) => {
            if set.iter().map(|one| u64::from(one.weight)).sum::<u64>() > CHOICES {
                let text = format!("the weights of a set of actions are {CHOICES} together at most");
                return Err(Refusal::new(Reason::Full, text).into());
            }
            match members(running, profile)?.is_empty() {
                true => Ok(()),
                false => {
                    let text =
                        format!("{} has members: entries lead to these, not to actions of their own", about.name);
                    Err(Refusal::argument(text).into())
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use penstock_rmt::Tenant;
    use penstock_rmt_p4runtime::Atomic;
    use serde_json::{Value as Json, json};

    use crate::ask::NamedChange;
    use crate::native::OnSoft;
    use crate::requests;

    /// The program at work, and what requests about it answer.
    struct Card {
        tenant: Tenant,
        digests: BTreeMap<usize, penstock_rmt_p4runtime::DigestConfig>,
    }

    impl Card {
        fn new() -> Self {
            let text = include_str!("../../tests/programs/control.p4");
            let compiled =
                penstock_rmt_compiler::compile("control.p4", text).unwrap_or_else(|faults| panic!("{faults}"));
            Self { tenant: Tenant::new(compiled.program.into()).unwrap(), digests: BTreeMap::new() }
        }

        fn running(&mut self) -> OnSoft<'_> {
            OnSoft { tenant: &mut self.tenant, digests: &mut self.digests }
        }

        /// Reasons of refusals, or null.
        fn write(&mut self, changes: Json, atomic: Atomic) -> Vec<Json> {
            let changes: Vec<NamedChange> = serde_json::from_value(changes).unwrap();
            let results = requests::write(&mut self.running(), &changes, atomic).unwrap();
            results.as_array().unwrap().iter().map(|one| one["reason"].clone()).collect()
        }

        fn everything(&mut self) -> Json {
            json!(requests::everything(&mut self.running()).unwrap())
        }
    }

    /// Something of every kind, in an order in which it can be inserted.
    fn all() -> Vec<Json> {
        let rates = json!({"cir": 1, "cbs": 2, "pir": 3, "pbs": 4});
        vec![
            json!({"multicast": 1, "copies": [{"port": 0, "instance": 0}, {"port": 0, "instance": 7}]}),
            json!({"clone": 9, "copies": [{"port": 1, "instance": 0}], "length": 64, "class": 0}),
            json!({"digest": "learn_t", "max_wait_ns": 5, "max_list": 6, "ack_wait_ns": 7}),
            json!({"profile": "In.shared_actions", "member": 1, "action": "In.answer", "params": {"value": 17}}),
            json!({"profile": "In.choices", "member": 2, "action": "In.drop"}),
            json!({"profile": "In.choices", "group": 3, "max_size": 0, "members": [{"member": 2, "weight": 5}]}),
            json!({"table": "In.known", "match": {"hdr.op.key": 1}, "action": "In.answer", "params": {"value": 1},
                   "idle_timeout_ns": 1000, "metadata": "6e6f"}),
            json!({"table": "In.by_member", "match": {"hdr.op.key": 1}, "member": 1}),
            json!({"table": "In.by_group", "match": {"hdr.op.key": 1}, "group": 3}),
            json!({"meter": "In.police", "index": 2, "rates": rates}),
            json!({"value_set": "Parse.tunnels", "members": [{"value": 32}]}),
        ]
    }

    fn inserts() -> Json {
        all().into_iter().map(|item| json!({"insert": item})).collect()
    }

    #[test]
    fn everything_is_read_back_as_it_was_set() {
        let mut card = Card::new();
        assert_eq!(card.write(inserts(), Atomic::No), vec![Json::Null; all().len()]);
        let found = card.everything();
        let items = found.as_array().unwrap().iter().map(|one| one.as_object().unwrap().values().next().unwrap());
        assert_eq!(items.cloned().collect::<Vec<_>>(), all());
        // It begins another program in the same state.
        let mut other = Card::new();
        assert_eq!(other.write(found.clone(), Atomic::Dataplane), vec![Json::Null; all().len()]);
        assert_eq!(other.everything(), found);
    }

    #[test]
    fn a_batch_with_a_fault_leaves_everything_as_it_was() {
        let mut card = Card::new();
        assert_eq!(card.write(inserts(), Atomic::No), vec![Json::Null; all().len()]);
        let before = card.everything();
        let rates = json!({"cir": 9, "cbs": 9, "pir": 9, "pbs": 9});
        let known = json!({"table": "known", "match": {"hdr.op.key": 1}});
        let changes = json!([
            {"modify": {"multicast": 1, "copies": []}},
            {"delete": {"clone": 9}},
            {"insert": {"clone": 8, "copies": [{"port": 2}]}},
            {"delete": {"table": "by_group", "match": {"hdr.op.key": 1}}},
            {"delete": {"profile": "choices", "group": 3}},
            {"modify": {"profile": "shared_actions", "member": 1, "action": "drop"}},
            {"modify": {"meter": "police", "rates": rates}},
            {"modify": {"value_set": "tunnels", "members": []}},
            {"delete": {"digest": "learn_t"}},
            {"modify": {"table": "known", "match": {"hdr.op.key": 1}, "count": {"packets": 7, "bytes": 8}}},
            {"delete": known},
            {"insert": {"multicast": 1, "copies": []}},
        ]);
        let count = changes.as_array().unwrap().len();
        let mut expected = vec![json!("aborted"); count];
        expected[count - 1] = json!("exists");
        assert_eq!(card.write(changes.clone(), Atomic::Rollback), expected);
        assert_eq!(card.everything(), before);
        let Json::Array(entries) = requests::entries(&mut card.running(), "known").unwrap() else { panic!() };
        assert_eq!(entries[0]["count"], json!({"packets": 0, "bytes": 0}));
        // Without atomicity all but the last one are carried out.
        let done = card.write(changes, Atomic::No);
        assert_eq!(done.iter().filter(|one| one.is_null()).count(), count - 1);
        assert_ne!(card.everything(), before);
    }

    #[test]
    fn references_are_kept_whole() {
        let mut card = Card::new();
        assert_eq!(card.write(inserts(), Atomic::No), vec![Json::Null; all().len()]);
        for (change, reason) in [
            (json!({"delete": {"profile": "shared_actions", "member": 1}}), "precondition"),
            (json!({"delete": {"profile": "choices", "member": 2}}), "precondition"),
            (json!({"delete": {"profile": "choices", "group": 3}}), "precondition"),
            (json!({"insert": {"table": "by_member", "match": {"hdr.op.key": 2}, "member": 9}}), "not_found"),
            (json!({"insert": {"table": "by_group", "match": {"hdr.op.key": 2}, "group": 9}}), "not_found"),
            (json!({"insert": {"table": "by_member", "match": {"hdr.op.key": 2}, "group": 3}}), "argument"),
            (json!({"insert": {"table": "by_member", "match": {"hdr.op.key": 2}, "action": "drop"}}), "argument"),
            (json!({"insert": {"table": "known", "match": {"hdr.op.key": 2}, "member": 1}}), "argument"),
            (json!({"insert": {"profile": "choices", "group": 4, "members": [{"member": 9}]}}), "not_found"),
            (
                json!({"insert": {"profile": "choices", "group": 4, "members": [{"member": 2, "weight": 0}]}}),
                "argument",
            ),
            (
                json!({"insert": {"profile": "choices", "group": 4, "members": [{"member": 2}, {"member": 2}]}}),
                "argument",
            ),
            (json!({"insert": {"profile": "shared_actions", "group": 4}}), "argument"),
            (json!({"insert": {"multicast": 0}}), "argument"),
            (json!({"insert": {"multicast": 2, "copies": [{"port": 512}]}}), "range"),
            (json!({"insert": {"multicast": 2, "copies": [{"port": 1}, {"port": 1}]}}), "argument"),
            (json!({"modify": {"meter": "police", "index": 4}}), "range"),
            (json!({"modify": {"meter": "of_entry"}}), "argument"),
            (
                json!({"insert": {"table": "metered", "match": {"hdr.op.key": 2}, "action": "colored", "idle_timeout_ns": 1}}),
                "argument",
            ),
            (json!({"modify": {"table": "metered", "match": {"hdr.op.key": 2}, "rates": null}}), "not_found"),
        ] {
            assert_eq!(card.write(json!([change]), Atomic::No), [json!(reason)], "{change}");
        }
    }
}
