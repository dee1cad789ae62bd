// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Members and groups of action profiles.

use std::collections::BTreeMap;
use std::iter;

use penstock_rmt_compiler::ir::{ActionCall, Entry, MemberGroup, ProfileId, TableId, Via};

use crate::table::{Call, Target};
use crate::tenant::Tenant;

/// The contents of an action profile.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Members {
    /// Its members, by their numbers.
    pub members: BTreeMap<u32, ActionCall>,
    /// Its groups, by their numbers.
    pub groups: BTreeMap<u32, MemberGroup>,
}

impl Tenant {
    /// The contents of an action profile.
    #[must_use]
    pub fn members(&self, profile: ProfileId) -> &Members {
        &self.profiles[profile]
    }

    /// Sets a member of an action profile, or takes it away. Entries and groups that lead to it follow.
    pub fn set_member(&mut self, profile: ProfileId, member: u32, call: Option<ActionCall>) {
        let members = &mut self.profiles[profile].members;
        match call {
            Some(call) => members.insert(member, call),
            None => members.remove(&member),
        };
        self.retarget(profile);
    }

    /// Sets a group of an action profile, or takes it away. Entries that lead to it follow.
    pub fn set_member_group(&mut self, profile: ProfileId, group: u32, to: Option<MemberGroup>) {
        let groups = &mut self.profiles[profile].groups;
        match to {
            Some(to) => groups.insert(group, to),
            None => groups.remove(&group),
        };
        self.retarget(profile);
    }

    /// Finds the actions of all entries that lead to an action profile.
    fn retarget(&mut self, profile: ProfileId) {
        let (program, profiles) = (self.program().clone(), &self.profiles);
        for (about, table) in program.tables.iter().zip(&mut self.state.tables) {
            if about.profile == Some(profile) {
                table.retarget(|entry, resolve| target(&profiles[profile], entry, resolve));
            }
        }
    }

    /// The actions of an entry.
    pub(crate) fn target(&self, table: TableId, entry: &Entry) -> Target {
        let resolve = |call: &ActionCall| self.state.tables[table].resolve(call);
        match self.program().tables[table].profile {
            Some(profile) => target(&self.profiles[profile], entry, &resolve),
            None => Target { call: resolve(&entry.call), choice: None },
        }
    }
}

fn target(of: &Members, entry: &Entry, resolve: &dyn Fn(&ActionCall) -> Call) -> Target {
    let only = |call: &ActionCall| Target { call: resolve(call), choice: None };
    let several = |weighted: Vec<(&ActionCall, u32)>| {
        let repeated = weighted.into_iter().flat_map(|(call, weight)| iter::repeat_n(resolve(call), weight as usize));
        let choice: Vec<Call> = repeated.collect();
        Target { choice: (!choice.is_empty()).then(|| choice.into()), ..only(&entry.call) }
    };
    match &entry.via {
        None => only(&entry.call),
        Some(Via::Member(member)) => only(of.members.get(member).unwrap_or(&entry.call)),
        Some(Via::Group(group)) => {
            let members = of.groups.get(group).into_iter().flat_map(|group| &group.members);
            several(members.filter_map(|one| Some((of.members.get(&one.member)?, one.weight))).collect())
        }
        Some(Via::Set(set)) => several(set.iter().map(|one| (&one.call, one.weight)).collect()),
    }
}
