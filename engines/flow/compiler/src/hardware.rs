// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Programs for elements of hardware, as the host needs them: their words, the places of a key's fields, and the
//! numbers of timeouts.

use crate::fault::Fault;
use crate::image::Image;
use crate::key::{HALVES, Layout, Part};
use crate::program::{Element, Key, Program, Timeout};
use crate::words;

/// Words of 32 bits of a key.
pub const KEY_WORDS: usize = HALVES / 2;

/// A program for hardware.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hardware {
    /// The words of each element's program, in the order in which they are shifted in.
    pub words: Vec<Vec<u32>>,
    /// For each row of an element's hardware, the number of the program's row.
    pub rows: Vec<Vec<usize>>,
    /// Contexts of each element; None without a key.
    pub contexts: Vec<Option<Contexts>>,
}

/// Compiles a program for hardware. `contexts`: contexts that the table of each element holds. `before`: contexts that
/// the elements hold already and that stay.
///
/// # Errors
/// The program needs more than the hardware has.
pub fn compile(program: &Program, contexts: u32, before: &[Option<Contexts>]) -> Result<Hardware, Vec<Fault>> {
    let image = Image::new(program)?;
    let before = before.iter().map(|known| known.as_ref().map_or(&[][..], |known| known.timeouts.as_slice()));
    let each = program.elements.iter().zip(before.chain(std::iter::repeat(&[][..])));
    let timeouts: Vec<_> = each.map(|(element, before)| words::timeouts(element, before)).collect();
    let words = words::words(program, &image, contexts, &timeouts)?;
    let rows = image.elements.iter().map(|element| element.rows.iter().map(|row| row.row).collect()).collect();
    let each = program.elements.iter().zip(timeouts);
    let contexts = each.map(|(element, timeouts)| Contexts::with(element, timeouts)).collect();
    Ok(Hardware { words, rows, contexts })
}

/// An element's contexts in hardware.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contexts {
    key: Key,
    /// Places of its fields.
    parts: Vec<Part>,
    /// Timeouts by their numbers.
    timeouts: Vec<Timeout>,
}

impl Contexts {
    /// Contexts of an element; None if it has no key, or a key that does not fit hardware.
    #[must_use]
    pub fn of(element: &Element) -> Option<Self> {
        Self::with(element, words::timeouts(element, &[]))
    }

    fn with(element: &Element, timeouts: Vec<Timeout>) -> Option<Self> {
        let key = element.key.clone()?;
        let parts = Layout::new(&key).ok()?.parts;
        Some(Self { key, parts, timeouts })
    }

    /// The key with these values, in the table's form: with `biflow` the smaller side comes first.
    ///
    /// ```
    /// use penstock_flow_compiler::hardware::Contexts;
    /// let text = "element both { key biflow(ip.src, ip.dst, ip.proto) ip => keep }";
    /// let program = penstock_flow_compiler::compile("both.efsm", text)?.program;
    /// let contexts = Contexts::of(&program.elements[0]).unwrap();
    /// let there = contexts.pack(&[1, 2, 6]);
    /// assert_eq!(there, contexts.pack(&[2, 1, 6]));
    /// assert_eq!(contexts.unpack(&there), [1, 2, 6]);
    /// # Ok::<(), penstock_flow_compiler::Faults>(())
    /// ```
    #[must_use]
    pub fn pack(&self, values: &[u128]) -> [u32; KEY_WORDS] {
        let mut values = values.to_vec();
        let differ = self.key.pairs.iter().find(|(source, destination)| values[*source] != values[*destination]);
        if differ.is_some_and(|(source, destination)| values[*source] > values[*destination]) {
            self.key.pairs.iter().for_each(|(source, destination)| values.swap(*source, *destination));
        }
        let mut words = [0; KEY_WORDS];
        for Part { field, part, half } in &self.parts {
            words[half / 2] |= u32::from((values[*field] >> (16 * part)) as u16) << (half % 2 * 16);
        }
        words
    }

    /// The values of a key's fields.
    #[must_use]
    pub fn unpack(&self, words: &[u32; KEY_WORDS]) -> Vec<u128> {
        let mut values = vec![0; self.key.fields.len()];
        for Part { field, part, half } in &self.parts {
            values[*field] |= u128::from((words[half / 2] >> (half % 2 * 16)) as u16) << (16 * part);
        }
        values
    }

    /// The timeout with a number.
    #[must_use]
    pub fn timeout(&self, number: usize) -> Option<Timeout> {
        self.timeouts.get(number).copied()
    }

    /// The number of the first timeout that `wanted` accepts.
    #[must_use]
    pub fn number(&self, wanted: impl Fn(&Timeout) -> bool) -> Option<usize> {
        self.timeouts.iter().position(wanted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contexts(element: &str) -> Contexts {
        let program = crate::compile("test.efsm", element).unwrap().program;
        Contexts::of(&program.elements[0]).unwrap()
    }

    #[test]
    fn keys_come_back() {
        for (key, values) in [
            ("ip.src", vec![0xC000_0201]),
            ("ip6.src, ip6.dst", vec![u128::MAX - 5, 7 << 64 | 9]),
            ("eth.src, vlan.id, ip.proto", vec![0x0200_0000_00FF, 0xABC, 17]),
            ("biflow(ip.src, ip.dst, tcp.sport, tcp.dport, ip.proto)", vec![1, 2, 0xFFFF, 3, 6]),
        ] {
            let contexts = contexts(&format!("element one {{ key {key} else => keep }}"));
            assert_eq!(contexts.unpack(&contexts.pack(&values)), values, "{key}");
        }
    }

    #[test]
    fn an_element_without_a_key_has_none() {
        let program = crate::compile("test.efsm", "element one { ip => drop }").unwrap().program;
        assert!(Contexts::of(&program.elements[0]).is_none());
    }

    #[test]
    fn timeouts_have_numbers() {
        let contexts = contexts(
            "element one { key ip.src states A, B in A { ip => goto B for 5 s then A idle 7 s } in B { ip => drop } }",
        );
        let then = |wanted| contexts.number(move |timeout: &Timeout| timeout.then == wanted);
        assert_eq!((then(Some(0)), then(None), then(Some(1))), (Some(0), Some(1), None));
        assert_eq!(contexts.timeout(1).map(|timeout| timeout.micros), Some(7_000_000));
        assert_eq!(contexts.timeout(2), None);
    }

    #[test]
    fn timeouts_keep_their_numbers_when_rows_change() {
        let program = |rows: &str| {
            let text = format!(
                "element one {{ key ip.src states A, B in A {{ {rows} ip => goto B }} in B {{ ip => drop }} }}"
            );
            crate::compile("test.efsm", &text).unwrap().program
        };
        let timed = |seconds: &[u32]| -> String {
            seconds.iter().map(|time| format!("ip.ttl == {time} => goto B for {time} s ")).collect()
        };
        let seconds = |hardware: &Hardware| -> Vec<u32> {
            let contexts = hardware.contexts[0].as_ref().unwrap();
            (0..).map_while(|number| contexts.timeout(number)).map(|timeout| timeout.micros / 1_000_000).collect()
        };
        let first = compile(&program(&timed(&[5, 7])), 100, &[]).unwrap();
        let second = compile(&program(&timed(&[9, 7])), 100, &first.contexts).unwrap();
        assert_eq!((seconds(&first), seconds(&second)), (vec![5, 7], vec![5, 7, 9]));
        // Rows name timeouts by these numbers, so the words depend on the old program.
        assert_ne!(second.words, compile(&program(&timed(&[9, 7])), 100, &[]).unwrap().words);
        // Eight timeouts fit.
        let many = program(&timed(&[1, 2, 3, 4, 6]));
        assert_eq!(seconds(&compile(&many, 100, &second.contexts).unwrap()), [5, 7, 9, 1, 2, 3, 4, 6]);
        let faults = compile(&program(&timed(&[1, 2, 3, 4, 6, 8])), 100, &second.contexts).unwrap_err();
        let text = faults[0].message.as_str();
        assert!(text.contains("9 different timeouts") && text.contains("contexts may still have them"), "{text}");
    }
}
