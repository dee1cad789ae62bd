// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Conditions under which a row can read and edit a frame.

use std::collections::BTreeSet;

use penstock_headers::{Field, Header};

use crate::program::{Check, Edit, Operand, Value};
use crate::syntax::Tag;

/// VLAN tags that a frame may have.
const TAGS: usize = 2;

/// The needs of a row, and the tags of a frame during its edits.
#[derive(Default)]
pub(crate) struct Needs {
    /// Fields that the frame must have.
    pub fields: BTreeSet<Field>,
    /// Other tests that must hold or must not hold.
    pub checks: Vec<(Check, bool)>,
    /// VLAN tags that the row pushed and did not pop.
    pushed: usize,
    /// VLAN tags of the frame that the row popped.
    popped: usize,
    label: Label,
    /// Fields that the row set since the last push or pop of a tag.
    set: Vec<Field>,
}

/// The topmost MPLS label.
#[derive(Default, Clone, Copy, PartialEq)]
enum Label {
    /// As the frame arrived.
    #[default]
    Own,
    /// Pushed by the row.
    Pushed,
    /// Popped by the row.
    Popped,
}

impl Needs {
    /// Adds the fields of operands.
    pub(crate) fn operands(&mut self, operands: impl IntoIterator<Item = Operand>) {
        self.fields.extend(operands.into_iter().filter_map(|operand| match operand {
            Operand::Field(field) => Some(field),
            Operand::Register(_) | Operand::Constant(_) => None,
        }));
    }

    /// Adds an edit after the earlier ones. An error gives the reason why it is not possible.
    pub(crate) fn edit(&mut self, edit: &Edit) -> Result<(), String> {
        if let Edit::Set(_, Value::Field(from)) | Edit::Push(_, Value::Field(from)) = edit {
            self.fields.insert(*from);
        }
        match edit {
            Edit::Set(field, _) => self.set(*field),
            Edit::Swap(pair) => {
                let (source, destination) = pair.fields();
                self.set(source)?;
                self.set(destination)
            }
            Edit::Push(tag, _) => {
                self.set.retain(|field| !in_tag(*field));
                match tag {
                    Tag::Vlan => self.push_vlan(),
                    Tag::Mpls => self.push_label(),
                }
            }
            Edit::Pop(tag) => {
                self.set.retain(|field| !in_tag(*field));
                match tag {
                    Tag::Vlan => self.pop_vlan(),
                    Tag::Mpls => self.pop_label(),
                }
            }
        }
    }

    fn set(&mut self, field: Field) -> Result<(), String> {
        if let Some(other) = self.set.iter().find(|other| overlap(**other, field)) {
            let (other, field) = (other.name(), field.name());
            return Err(if other == field {
                format!("the row sets `{field}` twice; take one out")
            } else {
                format!("the row sets `{other}` and `{field}`, which have bits in common; take one out")
            });
        }
        self.set.push(field);
        match field.header() {
            Some(Header::Vlan) => self.vlan(0)?,
            Some(Header::Vlan2) => self.vlan(1)?,
            Some(Header::Mpls) => match self.label {
                Label::Own => drop(self.fields.insert(field)),
                Label::Pushed => (),
                Label::Popped => return Err(format!("the row has popped the label of `{}`", field.name())),
            },
            _ => {
                self.fields.insert(field);
                if matches!(field, Field::Ip6Src | Field::Ip6Dst) {
                    self.checks.push((Check::Checksums, true));
                }
            }
        }
        Ok(())
    }

    /// The frame must have the VLAN tag at this distance from the outermost.
    fn vlan(&mut self, behind: usize) -> Result<(), String> {
        let Some(own) = behind.checked_sub(self.pushed) else { return Ok(()) };
        let tag = [Field::VlanTci, Field::Vlan2Tci].get(own + self.popped);
        self.fields.insert(*tag.ok_or_else(|| {
            format!("a frame has {TAGS} VLAN tags at most, and the row has popped too many for this one to be there")
        })?);
        Ok(())
    }

    fn push_vlan(&mut self) -> Result<(), String> {
        // The frame may have had this number.
        match (TAGS - 1 + self.popped).checked_sub(self.pushed) {
            Some(0) => self.checks.push((Check::Has(Header::Vlan), false)),
            Some(1) => self.checks.push((Check::Has(Header::Vlan2), false)),
            Some(_) => (),
            None => return Err(format!("a frame has {TAGS} VLAN tags at most; take one `push vlan` out")),
        }
        self.pushed += 1;
        Ok(())
    }

    fn pop_vlan(&mut self) -> Result<(), String> {
        if self.pushed > 0 {
            self.pushed -= 1;
        } else {
            self.vlan(0)?;
            self.popped += 1;
        }
        Ok(())
    }

    fn push_label(&mut self) -> Result<(), String> {
        match self.label {
            Label::Own => self.checks.extend([(Check::Has(Header::Mpls), false), (Check::Packet, true)]),
            Label::Pushed => return Err("a frame has one MPLS label at most; take one `push mpls` out".to_owned()),
            Label::Popped => (),
        }
        self.label = Label::Pushed;
        Ok(())
    }

    fn pop_label(&mut self) -> Result<(), String> {
        match self.label {
            Label::Own => {
                self.fields.insert(Field::MplsLabel);
                self.checks.push((Check::Packet, true));
            }
            Label::Pushed => (),
            Label::Popped => return Err("a frame has one MPLS label at most; take one `pop mpls` out".to_owned()),
        }
        self.label = Label::Popped;
        Ok(())
    }
}

fn in_tag(field: Field) -> bool {
    matches!(field.header(), Some(Header::Vlan | Header::Vlan2 | Header::Mpls))
}

/// Whether two fields share bits.
fn overlap(a: Field, b: Field) -> bool {
    let within = |part: Field, whole: Field| match whole {
        Field::VlanTci => matches!(part, Field::VlanId | Field::VlanPcp),
        Field::Vlan2Tci => matches!(part, Field::Vlan2Id | Field::Vlan2Pcp),
        Field::TcpFlags => matches!(part, Field::TcpSyn | Field::TcpAckFlag | Field::TcpFin | Field::TcpRst),
        Field::L4Sport => matches!(part, Field::TcpSport | Field::UdpSport),
        Field::L4Dport => matches!(part, Field::TcpDport | Field::UdpDport),
        _ => false,
    };
    a == b || within(a, b) || within(b, a)
}
