// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Objects that controllers change beside entries: action profiles, value sets, copies of frames, rates; and headers of
//! the frames that they send and receive.

use serde::{Deserialize, Serialize};

use super::{ActionCall, HashAlgorithm, MatchKind};
use crate::source::Span;

/// An action profile: members, each of which is an action with its arguments. With a selector it also has groups of members.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Profile {
    /// Full name.
    pub name: String,
    /// P4Runtime's number.
    pub id: u32,
    /// Members that it must hold; of a selector, members of all groups together.
    pub size: u32,
    /// How a frame chooses among the members of a group; None for an action profile without groups.
    pub selector: Option<Selector>,
    /// Annotations, as written.
    pub annotations: Vec<String>,
    /// Where it is declared.
    pub span: Span,
}

/// How a frame chooses among the members of a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Selector {
    /// Hash of the table's selector keys.
    pub algorithm: HashAlgorithm,
    /// Bits of the hash that are used.
    pub width: u32,
}

/// Where the action of an entry comes from.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
pub enum Via {
    /// A member of the table's profile.
    Member(u32),
    /// A group of the table's profile.
    Group(u32),
    /// Actions of the entry's own, one of which each frame chooses: P4Runtime's one-shot programming.
    Set(Vec<Weighted>),
}

/// An action of a set.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
pub struct Weighted {
    /// The action.
    pub call: ActionCall,
    /// Its share, from 1 on.
    pub weight: u32,
    /// Port whose link decides whether the action takes part. Links of a card are always up.
    pub watch: Option<u32>,
}

/// A value set of the parser: the controller says what is in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ValueSet {
    /// Full name.
    pub name: String,
    /// P4Runtime's number.
    pub id: u32,
    /// Members that it must hold.
    pub size: u32,
    /// The parts of a member.
    pub keys: Vec<ValueKey>,
    /// Annotations, as written.
    pub annotations: Vec<String>,
    /// Where it is declared.
    pub span: Span,
}

/// Part of a member of a value set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ValueKey {
    /// Its name; empty if the set has no struct.
    pub name: String,
    /// Its bits.
    pub width: u32,
    /// How it matches: `@match`, else exact.
    pub kind: MatchKind,
}

/// A header with `@controller_header`: it stands in front of frames that a controller sends or gets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ControllerHeader {
    /// `packet_in` for frames to the controller, `packet_out` for frames from it.
    pub name: String,
    /// P4Runtime's number.
    pub id: u32,
    /// Its fields, from the first bit on the wire on.
    pub fields: Vec<ControllerField>,
    /// Annotations, as written.
    pub annotations: Vec<String>,
}

/// A field of a controller header.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ControllerField {
    /// P4Runtime's number: its place, from 1 on, or `@id`.
    pub id: u32,
    /// Its name.
    pub name: String,
    /// Its bits.
    pub width: u32,
    /// `@padding`: controllers do not see it, it is 0.
    pub padding: bool,
    /// Annotations, as written.
    pub annotations: Vec<String>,
}

/// A group of members of an action profile.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MemberGroup {
    /// Members that it holds at most; 0: as many as its profile.
    #[serde(default)]
    pub max_size: u32,
    /// Its members. A group without any leads to the entry's own action, the default one of the table.
    pub members: Vec<GroupMember>,
}

/// A member of a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GroupMember {
    /// The member of the profile.
    pub member: u32,
    /// Its share, from 1 on.
    #[serde(default = "one")]
    pub weight: u32,
    /// Port whose link decides whether it takes part. Links of a card are always up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub watch: Option<u32>,
}

fn one() -> u32 {
    1
}

/// A copy of a multicast group or clone session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Replica {
    /// Where it goes.
    pub port: u16,
    /// Its `egress_rid`.
    #[serde(default)]
    pub instance: u16,
}

/// A clone session.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Session {
    /// Its copies.
    #[serde(default)]
    pub copies: Vec<Replica>,
    /// A multicast group whose copies are also made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<u16>,
    /// Bytes that copies have at most; 0: all.
    #[serde(default)]
    pub length: u32,
    /// Class of service of the copies, which the card keeps and does not use: it has no priority queues.
    #[serde(default)]
    pub class: u32,
}

/// Rates of a meter, in frames or bytes per second, and bursts in frames or bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rates {
    /// Committed rate.
    pub cir: u64,
    /// Committed burst.
    pub cbs: u64,
    /// Peak rate.
    pub pir: u64,
    /// Peak burst.
    pub pbs: u64,
}
