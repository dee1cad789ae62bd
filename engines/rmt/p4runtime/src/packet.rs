// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Frames from and to controllers: the fields of their first header are P4Runtime's metadata.

use penstock_rmt_compiler::ir::{ControllerHeader, Program};

use crate::bits;
use crate::proto::p4::v1::{PacketIn, PacketMetadata, PacketOut};
use crate::refusal::Refusal;

fn header<'p>(program: &'p Program, name: &str) -> Option<&'p ControllerHeader> {
    program.controller_headers.iter().find(|header| header.name == name)
}

/// A frame for the controller; None if it is shorter than its header.
pub(crate) fn packet_in(program: &Program, frame: &[u8]) -> Option<PacketIn> {
    let (mut metadata, mut offset) = (Vec::new(), 0);
    for field in header(program, "packet_in").into_iter().flat_map(|header| &header.fields) {
        let value = take(frame, offset, field.width as usize)?;
        offset += field.width as usize;
        if !field.padding {
            metadata.push(PacketMetadata { metadata_id: field.id, value: bits::write(value) });
        }
    }
    Some(PacketIn { payload: frame.get(offset / 8..)?.to_vec(), metadata })
}

/// The frame that a controller sends.
pub(crate) fn packet_out(program: &Program, packet: &PacketOut) -> Result<Vec<u8>, Refusal> {
    let fields = header(program, "packet_out").map(|header| &header.fields[..]).unwrap_or_default();
    let mut values = vec![None; fields.len()];
    for given in &packet.metadata {
        let at = fields.iter().position(|field| field.id == given.metadata_id && !field.padding);
        let Some(at) = at else {
            let text = format!("the program's packet_out has no metadata {}", given.metadata_id);
            return Err(Refusal::argument(text));
        };
        let value = bits::read(&given.value, fields[at].width, &format!("{} of packet_out", fields[at].name))?;
        if values[at].replace(value).is_some() {
            return Err(Refusal::argument(format!("{} of packet_out is given twice", fields[at].name)));
        }
    }
    let mut out = Bits::default();
    for (field, value) in fields.iter().zip(values) {
        let value = match value {
            None if !field.padding => {
                return Err(Refusal::argument(format!("{} of packet_out is missing", field.name)));
            }
            value => value.unwrap_or(0),
        };
        out.push(value, field.width);
    }
    out.bytes.extend(&packet.payload);
    Ok(out.bytes)
}

/// The `width` bits of the frame from bit `offset` on; None if the frame is shorter.
fn take(frame: &[u8], offset: usize, width: usize) -> Option<u128> {
    (offset..offset + width)
        .try_fold(0, |value, at| Some(value << 1 | u128::from(frame.get(at / 8)? >> (7 - at % 8) & 1)))
}

/// Bytes that are put together from bits.
#[derive(Default)]
struct Bits {
    bytes: Vec<u8>,
    count: usize,
}

impl Bits {
    fn push(&mut self, value: u128, width: u32) {
        for bit in (0..width).rev() {
            if self.count.is_multiple_of(8) {
                self.bytes.push(0);
            }
            if let Some(last) = self.bytes.last_mut() {
                *last |= ((value >> bit & 1) as u8) << (7 - self.count % 8);
            }
            self.count += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::refusal::Reason;

    fn program() -> Program {
        let text = include_str!("../../tests/programs/control.p4");
        penstock_rmt_compiler::compile("control.p4", text).unwrap_or_else(|faults| panic!("{faults}")).program
    }

    fn metadata(fields: &[(u32, &[u8])]) -> Vec<PacketMetadata> {
        let one =
            |(metadata_id, value): &(u32, &[u8])| PacketMetadata { metadata_id: *metadata_id, value: value.to_vec() };
        fields.iter().map(one).collect()
    }

    #[test]
    fn the_first_header_is_metadata() {
        let program = program();
        // Nine bits of the port 257, then seven of the kind 42.
        let packet = packet_in(&program, &[0x80, 0xAA, 1, 2, 3]).unwrap();
        assert_eq!(packet, PacketIn { payload: vec![1, 2, 3], metadata: metadata(&[(1, &[1, 1]), (2, &[42])]) });
        assert_eq!(packet_in(&program, &[0x80]), None);
    }

    #[test]
    fn a_frame_of_a_controller_begins_with_its_metadata() {
        let program = program();
        let out = |fields: &[(u32, &[u8])]| {
            let packet = PacketOut { payload: vec![7, 8], metadata: metadata(fields) };
            packet_out(&program, &packet).map_err(|refusal| refusal.reason)
        };
        assert_eq!(out(&[(1, &[1, 1])]), Ok(vec![0x80, 0x80, 7, 8]));
        assert_eq!(out(&[(1, &[0, 0, 1])]), Ok(vec![0, 0x80, 7, 8]));
        assert_eq!(out(&[(1, &[2, 0])]), Err(Reason::Range));
        // Padding has no metadata.
        let wrong: [&[(u32, &[u8])]; 5] =
            [&[], &[(2, &[0])], &[(1, &[0]), (1, &[0])], &[(1, &[0]), (9, &[0])], &[(1, &[])]];
        for fields in wrong {
            assert_eq!(out(fields), Err(Reason::Argument), "{fields:?}");
        }
    }
}
