// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Which headers a frame has, and where.

use crate::chunk::Chunk;
use crate::edit::EditError;
use crate::table::{FIELDS, Field, Header, Layer, Part};

/// How many layers there are.
const LAYERS: usize = Layer::Data as usize + 1;

/// Which headers a frame has and where they begin: 20 bytes, which hold nothing of the frame itself.
///
/// Fields are read from the frame when they are asked for. The frame that is given then must be the one that was
/// parsed, in the state to which edits have brought it. With another one the answers mean nothing, but nothing worse
/// happens.
#[derive(Clone, Copy, Debug, Default)]
pub struct Headers {
    /// A bit for each [`Part`].
    parts: u32,
    /// The beginnings of the layers that are present, at even places.
    at: [u8; LAYERS],
    /// Bytes of TCP's payload.
    pub(crate) tcp_len: u16,
    /// The amounts that edits have added to the sums of checksums since the last [`Headers::repair`]: IPv4's header;
    /// TCP, UDP, ICMP and ICMPv6.
    pub(crate) added: [u16; 2],
}

/// The place of a field, if the frame has it.
#[derive(Clone, Copy)]
pub(crate) struct Place {
    /// The bit of its part; 0 if the field is not in the frame.
    mask: u32,
    /// It, or its lower half.
    pub(crate) low: Chunk,
    /// The upper half of a field of 128 bits.
    pub(crate) high: Option<Chunk>,
    /// Whether edits may set it.
    pub(crate) set: bool,
    /// Whether it is under IPv4's checksum, and whether under that of the layer after IP.
    pub(crate) sums: [When; 2],
}

/// Whether something is so, by the parts that there are: of those in the mask just these.
#[derive(Clone, Copy)]
pub(crate) struct When {
    mask: u32,
    parts: u32,
}

impl When {
    const ALWAYS: When = When { mask: 0, parts: 0 };
    const NEVER: When = When { mask: 0, parts: 1 };

    const fn has(part: Part) -> When {
        When { mask: 1 << part as u32, parts: 1 << part as u32 }
    }

    const fn has_not(part: Part) -> When {
        When { mask: 1 << part as u32, parts: 0 }
    }

    #[inline]
    pub(crate) fn holds(self, headers: &Headers) -> bool {
        headers.parts & self.mask == self.parts
    }
}

/// The checksums that a field of a layer is under.
const fn sums(field: Field, layer: Layer) -> [When; 2] {
    let ip = if matches!(layer, Layer::Net) { When::has(Part::Ip) } else { When::NEVER };
    let transport = match field {
        // ICMP does not cover addresses, ICMPv6 does.
        Field::IpSrc | Field::IpDst => When::has(Part::L4),
        Field::Ip6Src => When::ALWAYS,
        Field::Ip6Dst => When::has_not(Part::Routed),
        _ if layer as u8 >= Layer::L4 as u8 => When::ALWAYS,
        _ => When::NEVER,
    };
    [ip, transport]
}

/// By [`Field`].
static PLACES: [Place; FIELDS.len()] = {
    let nowhere = Place { mask: 0, low: Chunk::new(Layer::Eth, 0, 1), high: None, set: false, sums: [When::NEVER; 2] };
    let mut places = [nowhere; FIELDS.len()];
    let mut field = 0;
    while field < places.len() {
        let row = &FIELDS[field];
        if let (Some(part), Some((layer, first))) = (row.part, row.at) {
            let first = first as u32;
            let (low, high) = if row.bits == 128 {
                (Chunk::new(layer, first + 64, 64), Some(Chunk::new(layer, first, 64)))
            } else {
                (Chunk::new(layer, first, row.bits), None)
            };
            places[field] = Place { mask: 1 << part as u32, low, high, sums: sums(row.field, layer), ..nowhere };
        }
        places[field].set = row.set;
        field += 1;
    }
    places
};

impl Field {
    /// Its place in the frames that have it: one chunk, or for 128 bits the upper half and the lower one. None for
    /// fields outside of the frame: metadata, and the length of TCP's payload.
    pub fn chunks(self) -> impl Iterator<Item = Chunk> {
        let place = PLACES[self as usize];
        let low = (place.mask != 0).then_some(place.low);
        place.high.into_iter().chain(low)
    }
}

impl Headers {
    /// Whether the frame has this header.
    #[inline]
    pub fn has(&self, header: Header) -> bool {
        self.has_part(header.row().part)
    }

    /// Whether the frame has this field; it has no metadata.
    #[inline]
    pub fn has_field(&self, field: Field) -> bool {
        field.row().part.is_some_and(|part| self.has_part(part))
    }

    /// A field of the frame, in its low bits; none when the frame does not have it, and for metadata, which do not
    /// stand in the frame.
    ///
    /// ```
    /// use penstock_headers::{Field, Headers};
    /// let frame = *b"\x02\0\0\0\0\x01\x02\0\0\0\0\x02\x88\xb5";
    /// let headers = Headers::parse(&frame);
    /// assert_eq!(headers.get(&frame, Field::EthType), Some(0x88b5));
    /// assert_eq!(headers.get(&frame, Field::IpSrc), None);
    /// ```
    #[inline]
    pub fn get(&self, frame: &[u8], field: Field) -> Option<u128> {
        let place = &PLACES[field as usize];
        if self.parts & place.mask == 0 {
            return self.computed(field);
        }
        let low = place.low.read(self, frame)?;
        Some(match place.high {
            Some(high) => u128::from(high.read(self, frame)?) << 64 | u128::from(low),
            None => low.into(),
        })
    }

    /// A bit for each [`Part`](crate::Part) that is present.
    #[inline]
    pub fn parts(&self) -> u32 {
        self.parts
    }

    /// The length of TCP's payload is the one field that is not in the frame.
    #[inline]
    fn computed(&self, field: Field) -> Option<u128> {
        (field == Field::TcpLen && self.has_part(Part::Tcp)).then_some(self.tcp_len.into())
    }

    /// The field's place, if it is in the frame and may be set.
    #[inline]
    pub(crate) fn place(&self, field: Field) -> Result<&'static Place, EditError> {
        let place = &PLACES[field as usize];
        match field {
            _ if !place.set => Err(EditError::Fixed(field)),
            _ if self.parts & place.mask == 0 => Err(EditError::Missing(field)),
            Field::Ip6Src | Field::Ip6Dst if !self.has_part(Part::Sums) => Err(EditError::Hidden(field)),
            _ => Ok(place),
        }
    }

    #[inline]
    pub(crate) fn has_part(&self, part: Part) -> bool {
        self.parts & 1 << part as u32 != 0
    }

    #[inline]
    pub(crate) fn set_part(&mut self, part: Part, there: bool) {
        self.parts = self.parts & !(1 << part as u32) | u32::from(there) << part as u32;
    }

    #[inline]
    pub(crate) fn at(&self, layer: Layer) -> usize {
        self.at[layer as usize].into()
    }

    #[inline]
    pub(crate) fn set_at(&mut self, layer: Layer, at: u8) {
        self.at[layer as usize] = at;
    }

    /// The number of 32-bit words of payload, at most eight.
    #[inline]
    pub(crate) fn set_data(&mut self, words: usize) {
        self.parts |= ((1 << words.min(8)) - 1) << Part::Data0 as u32;
    }

    /// Layers from this one on have moved, even absent ones: their places mean nothing.
    pub(crate) fn move_from(&mut self, layer: Layer, by: i8) {
        for at in &mut self.at[layer as usize..] {
            *at = at.wrapping_add_signed(by);
        }
    }
}
