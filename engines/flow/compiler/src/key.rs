// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Places of fields in a key of hardware.
//!
//! A key has twenty halves of words. A field takes a half for each 16 bits or part of it, and each part reaches some of
//! the halves (generate_choices.py). With `biflow`, halves that hold both sides of a pair are swapped: 0 to 7 with 8
//! to 15, and 16 with 17.

use penstock_headers::Field;

use crate::choices;
use crate::matching::matching;
use crate::program::Key;

/// Halves of a key.
pub(crate) const HALVES: usize = 20;
/// Pairs of halves that can be swapped.
pub(crate) const PAIRS: usize = 9;

/// Halves of a key that a field takes.
pub(crate) fn halves(field: Field) -> usize {
    field.bits().div_ceil(16) as usize
}

/// Up to 16 bits of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Part {
    /// Its number in the key.
    pub(crate) field: usize,
    /// Number of the 16 bits, counted from the lowest.
    pub(crate) part: usize,
    /// The half of the key that holds them.
    pub(crate) half: usize,
}

/// Places of fields in a key.
pub(crate) struct Layout {
    /// The selection of each half.
    pub(crate) choices: [u8; HALVES],
    /// Halves that are swapped.
    pub(crate) swap: u32,
    /// All fields' parts.
    pub(crate) parts: Vec<Part>,
}

impl Layout {
    /// Finds places for a key's fields. An error lists the fields without room.
    pub(crate) fn new(key: &Key) -> Result<Layout, String> {
        let mut layout = Layout { choices: [0; HALVES], swap: 0, parts: vec![] };
        for (source, destination) in &key.pairs {
            layout.pair(key, *source, *destination)?;
        }
        layout.singles(key)?;
        Ok(layout)
    }

    /// Places both sides of a pair, each in its half.
    fn pair(&mut self, key: &Key, source: usize, destination: usize) -> Result<(), String> {
        for part in 0..halves(key.fields[source]) {
            let (one, other) = (row(key.fields[source], part), row(key.fields[destination], part));
            let home = (0..PAIRS).find(|pair| one[half(*pair)] != 0 && other[opposite(*pair)] != 0);
            let Some(pair) = home.filter(|pair| self.choices[half(*pair)] == 0) else {
                let other = self.parts.iter().find(|part| home.map(half) == Some(part.half));
                return Err(format!(
                    "the key has no place in hardware, which has {HALVES} halves of words, {PAIRS} for each side of \
                     `biflow`: `{}` and `{}` have the same places there; take one of them out, and its other side",
                    other.map_or("another field", |part| key.fields[part.field].name()),
                    key.fields[source].name()
                ));
            };
            self.choices[half(pair)] = one[half(pair)];
            self.choices[opposite(pair)] = other[opposite(pair)];
            self.swap |= 1 << pair;
            self.parts.push(Part { field: source, part, half: half(pair) });
            self.parts.push(Part { field: destination, part, half: opposite(pair) });
        }
        Ok(())
    }

    /// Places all other fields.
    fn singles(&mut self, key: &Key) -> Result<(), String> {
        let paired = |at: usize| key.pairs.iter().any(|(source, destination)| at == *source || at == *destination);
        let fields = key.fields.iter().enumerate().filter(|(at, _)| !paired(*at));
        let all: Vec<(usize, usize)> =
            fields.flat_map(|(at, field)| (0..halves(*field)).map(move |part| (at, part))).collect();
        // Fields that are the same bits, such as `tcp.sport` and `l4.sport`, share a place.
        let mut rows: Vec<&[u8; HALVES]> = Vec::new();
        for (at, part) in &all {
            let row = row(key.fields[*at], *part);
            if !rows.contains(&row) {
                rows.push(row);
            }
        }
        let reach: Vec<u32> = rows.iter().map(|row| self.reach(row)).collect();
        let places = matching(&reach).map_err(|stuck| {
            let reached = stuck.iter().fold(0, |all, at| all | reach[*at]).count_ones();
            let mut names: Vec<String> = Vec::new();
            for (at, part) in &all {
                let name = format!("`{}`", key.fields[*at].name());
                if stuck.iter().any(|at_| rows[*at_] == row(key.fields[*at], *part)) && !names.contains(&name) {
                    names.push(name);
                }
            }
            format!(
                "the key has no place in hardware, which has {HALVES} halves of words: {} take {}, one for \
                 each 16 bits or part of them, and reach {reached} that are free; take one of them out",
                names.join(", "),
                stuck.len()
            )
        })?;
        for (row, half) in rows.iter().zip(&places) {
            self.choices[*half] = row[*half];
        }
        self.parts.extend(all.iter().filter_map(|(field, part)| {
            let at = rows.iter().position(|one| *one == row(key.fields[*field], *part))?;
            Some(Part { field: *field, part: *part, half: places[at] })
        }));
        Ok(())
    }

    /// The free halves that a part reaches.
    fn reach(&self, row: &[u8; HALVES]) -> u32 {
        (0..HALVES).filter(|half| row[*half] != 0 && self.choices[*half] == 0).fold(0, |all, half| all | 1 << half)
    }
}

/// For each half, the number with which it selects 16 bits of a field.
fn row(field: Field, part: usize) -> &'static [u8; HALVES] {
    &choices::HALVES[2 * usize::from(field.word()) + part]
}

/// The half of a pair's source. Ports have the last.
fn half(pair: usize) -> usize {
    if pair < PAIRS - 1 { pair } else { 16 }
}

/// The half that it is swapped with.
fn opposite(pair: usize) -> usize {
    if pair < PAIRS - 1 { pair + 8 } else { 17 }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::check::exclusive;

    const FREE: u32 = (1 << HALVES) - 1;

    fn mask(row: &[u8; HALVES]) -> u32 {
        (0..HALVES).filter(|half| row[*half] != 0).fold(0, |all, half| all | 1 << half)
    }

    /// The number of halves, apart from those of pairs, that always find places beside both sides of these pairs. By
    /// Hall's theorem: the smallest set of halves to which more parts of fields are confined than it has halves, among
    /// fields that one key may have.
    fn always(pairs: &[(Field, Field)]) -> u32 {
        let key = Key {
            fields: pairs.iter().flat_map(|(source, destination)| [*source, *destination]).collect(),
            pairs: (0..pairs.len()).map(|at| (2 * at, 2 * at + 1)).collect(),
        };
        let free = FREE & !Layout::new(&key).unwrap().parts.iter().fold(0, |all, part| all | 1 << part.half);
        let has_other_end = |field: Field| {
            field.name().ends_with("src") || field.name().ends_with("dst") || field.name().ends_with("port")
        };
        let mut fewest = free.count_ones();
        for net in [Field::IpSrc, Field::Ip6Src] {
            for transport in [Field::TcpSeq, Field::UdpLen, Field::IcmpType] {
                if key.fields.iter().any(|field| exclusive(*field, net) || exclusive(*field, transport)) {
                    continue;
                }
                let fields = Field::ALL.iter().filter(|field| {
                    **field != Field::Time
                        && !exclusive(**field, net)
                        && !exclusive(**field, transport)
                        && (pairs.is_empty() || **field == Field::Port || !has_other_end(**field))
                });
                let rows: BTreeSet<_> =
                    fields.flat_map(|field| (0..halves(*field)).map(|part| *row(*field, part))).collect();
                // For each set of halves, the number of parts that reach no other half.
                let mut confined = vec![0u8; 1 << HALVES];
                rows.iter().for_each(|row| confined[(mask(row) & free) as usize] += 1);
                for half in 0..HALVES {
                    for set in (0..1usize << HALVES).filter(|set| set >> half & 1 == 1) {
                        confined[set] += confined[set ^ 1 << half];
                    }
                }
                let tight = (0..1u32 << HALVES).filter(|set| {
                    set & !free == 0 && *set != free && u32::from(confined[*set as usize]) > set.count_ones()
                });
                fewest = tight.map(u32::count_ones).min().unwrap_or(fewest).min(fewest);
            }
        }
        fewest
    }

    #[test]
    fn any_eight_halves_find_places() {
        let (ip, ip6) = ((Field::IpSrc, Field::IpDst), (Field::Ip6Src, Field::Ip6Dst));
        let (eth, ports) = ((Field::EthSrc, Field::EthDst), (Field::L4Sport, Field::L4Dport));
        assert_eq!(always(&[]), 8);
        assert_eq!(always(&[ip, ports]), 7);
        assert_eq!(always(&[eth, ip, ports]), 2);
        // Two are left.
        assert_eq!(always(&[ip6, ports]), 1);
    }

    #[test]
    fn both_sides_of_a_pair_change_places() {
        let key = Key {
            fields: vec![Field::L4Dport, Field::Ip6Dst, Field::L4Sport, Field::Ip6Src],
            pairs: vec![(3, 1), (2, 0)],
        };
        let layout = Layout::new(&key).unwrap();
        assert_eq!(layout.swap, 0x1FF);
        let half = |field, part| layout.parts.iter().find(|one| (one.field, one.part) == (field, part)).unwrap().half;
        assert!((0..8).all(|part| half(3, part) == part && half(1, part) == part + 8));
        assert_eq!((half(2, 0), half(0, 0)), (16, 17));
    }

    #[test]
    fn what_collides_is_named() {
        let fields = [Field::Ip6Src, Field::Ip6Dst, Field::TcpSport, Field::TcpDport, Field::Meta0, Field::VlanId];
        let message = Layout::new(&Key { fields: fields.to_vec(), pairs: vec![] }).err().unwrap();
        assert!(
            message.ends_with("and reach 13 that are free; take one of them out")
                && message.contains("`meta0`, `vlan.id`"),
            "{message}"
        );
        let fields = vec![Field::EthSrc, Field::EthDst, Field::Ip6Src, Field::Ip6Dst];
        let message = Layout::new(&Key { fields, pairs: vec![(0, 1), (2, 3)] }).err().unwrap();
        assert!(message.contains("`eth.src` and `ip6.src` have the same places"), "{message}");
    }

    #[test]
    fn the_same_bits_share_a_place() {
        let layout = Layout::new(&Key { fields: vec![Field::TcpSport, Field::L4Sport], pairs: vec![] }).unwrap();
        assert_eq!(layout.parts[0].half, layout.parts[1].half);
    }
}
