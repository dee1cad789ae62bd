// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! What the server asks of a card.

use std::sync::Arc;

use penstock_rmt_compiler::ir::{
    ActionCall, CounterId, DigestId, Entry, Match, MemberGroup, MeterId, ProfileId, Program, Rates, RegisterId,
    Replica, Session, TableId, ValueSetId,
};
use serde::{Deserialize, Serialize};

use crate::refusal::Refusal;

/// The program of a device.
#[derive(Debug, Clone, PartialEq)]
pub struct Loaded {
    /// Its source: what P4Runtime calls the device config.
    pub source: String,
    /// The program.
    pub program: Program,
    /// The number that the controller gave the program when it loaded it; 0 if no controller did.
    pub cookie: u64,
}

/// A counter's value. A counter of packets has no bytes, and the other way round: 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Count {
    /// Frames.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// A change of what a program works with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// Adds an entry.
    Insert(TableId, Entry),
    /// Gives an entry another action.
    Modify(TableId, Entry),
    /// Removes an entry; its action does not matter.
    Delete(TableId, Entry),
    /// Sets the default action; None: the one of the source.
    Default(TableId, Option<ActionCall>),
    /// Writes a cell of a register; None: all cells.
    Register(RegisterId, Option<u32>, u128),
    /// Sets a cell of an indirect counter; None: all cells.
    Counter(CounterId, Option<u32>, Count),
    /// Sets the direct counter of an entry.
    EntryCounter(TableId, Entry, Count),
    /// Sets the rates of an entry's direct meter; None: every frame is green.
    EntryMeter(TableId, Entry, Option<Rates>),
    /// Sets the rates of a cell of an indirect meter, or of all cells; no rates: every frame is green.
    Meter(MeterId, Option<u32>, Option<Rates>),
    /// Gives a value set other members.
    ValueSet(ValueSetId, Vec<Vec<Match>>),
    /// Adds, changes or removes an object. Only the number of a removed one matters.
    Object(Act, Object),
    /// Changes that are carried out together or not at all.
    All(Vec<Change>),
}

/// Ways to change an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Act {
    /// It is not there yet.
    Insert,
    /// It is there.
    Modify,
    /// It is there and goes.
    Delete,
}

/// Something that has a number and is no entry of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Object {
    /// A multicast group.
    Group(u16, Vec<Replica>),
    /// A clone session.
    Session(u16, Session),
    /// A member of an action profile.
    Member(ProfileId, u32, ActionCall),
    /// A group of members.
    MemberGroup(ProfileId, u32, MemberGroup),
    /// Messages of a kind are sent to the controller.
    Digest(DigestId, DigestConfig),
}

/// Kinds of objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ObjectKind {
    /// Multicast groups.
    Groups,
    /// Clone sessions.
    Sessions,
    /// Members of an action profile.
    Members(ProfileId),
    /// Groups of members of an action profile.
    MemberGroups(ProfileId),
    /// Kinds of messages that are sent.
    Digests,
}

/// How messages are sent to controllers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DigestConfig {
    /// Nanoseconds that a message waits for others at most; 0: not at all.
    #[serde(default)]
    pub max_wait_ns: u64,
    /// Messages of one list at most; 0: any number.
    #[serde(default)]
    pub max_list: u32,
    /// Nanoseconds that a message is not sent again, unless its list is acknowledged before.
    #[serde(default)]
    pub ack_wait_ns: u64,
}

/// State of an entry beside its match and action.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct EntryState {
    /// Value of its direct counter.
    pub count: Count,
    /// Rates of its direct meter.
    pub rates: Option<Rates>,
    /// Nanoseconds since its last frame.
    pub idle_ns: u64,
}

/// Frames, messages and notices of a device for its controllers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Streamed {
    /// Frames for them, each with its header `packet_in`.
    pub packets: Vec<Vec<u8>>,
    /// For each kind of messages that is sent, how, and messages.
    pub digests: Vec<(DigestId, DigestConfig, Vec<Vec<u128>>)>,
    /// Entries that have been idle for longer than they may.
    pub idle: Vec<(TableId, Entry)>,
}

/// Whether a batch is carried out as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Atomic {
    /// Each change for itself.
    #[default]
    No,
    /// All changes or none; frames may meet a part of them for a while.
    Rollback,
    /// All changes or none, and no frame meets a part of them.
    Dataplane,
}

/// Ways to load a program that compiles and fits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Load {
    /// Nothing.
    Check,
    /// The device gets it between two frames. Entries, registers and counters begin anew.
    Commit,
    /// The device gets it between two frames, with the entries and other state that controllers set in the program
    /// before.
    Reconcile,
}

/// A card with programs. P4Runtime's device N is the program of tenant N.
///
/// Indices are those of the program that [`Switch::loaded`] gave. If another one was loaded since, the request is refused.
pub trait Switch: Send + Sync + 'static {
    /// The program of a device; None if it has no program.
    ///
    /// # Errors
    /// There is no such device.
    fn loaded(&self, device: u64) -> Result<Option<Arc<Loaded>>, Refusal>;

    /// Compiles a program, checks that it fits, and does with it what `how` says.
    ///
    /// # Errors
    /// The program has faults or does not fit, which the message explains.
    fn load(&self, device: u64, source: &str, cookie: u64, how: Load) -> Result<Arc<Loaded>, Refusal>;

    /// Carries out changes in their order; the result of each.
    ///
    /// # Errors
    /// The request as a whole is refused.
    fn write(&self, device: u64, changes: &[Change], atomic: Atomic) -> Result<Vec<Result<(), Refusal>>, Refusal>;

    /// Entries of a table, those of the source included, each with its state, and the default action.
    ///
    /// # Errors
    /// The card refuses.
    fn entries(&self, device: u64, table: TableId) -> Result<(Vec<(Entry, EntryState)>, ActionCall), Refusal>;

    /// Objects of a kind, by their numbers.
    ///
    /// # Errors
    /// The card refuses.
    fn objects(&self, device: u64, kind: ObjectKind) -> Result<Vec<Object>, Refusal>;

    /// Rates of the cells of an indirect meter.
    ///
    /// # Errors
    /// The card refuses.
    fn meter(&self, device: u64, meter: MeterId) -> Result<Vec<Option<Rates>>, Refusal>;

    /// Members of a value set.
    ///
    /// # Errors
    /// The card refuses.
    fn value_set(&self, device: u64, set: ValueSetId) -> Result<Vec<Vec<Match>>, Refusal>;

    /// Takes what the device has for its controllers.
    ///
    /// # Errors
    /// The card refuses.
    fn stream(&self, device: u64) -> Result<Streamed, Refusal>;

    /// Lets a frame of a controller enter the program.
    ///
    /// # Errors
    /// The card refuses.
    fn send(&self, device: u64, frame: &[u8]) -> Result<(), Refusal>;

    /// Cells of a register.
    ///
    /// # Errors
    /// The card refuses.
    fn register(&self, device: u64, register: RegisterId) -> Result<Vec<u128>, Refusal>;

    /// Cells of an indirect counter.
    ///
    /// # Errors
    /// The card refuses.
    fn counter(&self, device: u64, counter: CounterId) -> Result<Vec<Count>, Refusal>;
}
