// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! L7 blocks of a card in hardware, over their registers (engines/l7/machine.md).

use std::ops::Range;

use penstock_engine::Bus;
use penstock_engine::window::read_count;
use penstock_l7_compiler::Compiled;
use penstock_l7_compiler::image::ROW_WORDS;
use penstock_l7_compiler::limits::{APPLICATIONS, DECISIONS, ROWS};
use penstock_l7_compiler::program::Application;

use crate::counters::AppCounters;
use crate::error::L7Error;
use crate::image::L7Image;
use crate::machine::Machine;
use crate::regs as own;

/// Host address of the first block's window, and the distance to the next block's.
const BLOCKS: u32 = 0x4500_0000;
const BLOCK: u32 = 0x0100_0000;
/// Offset of the first application's registers, and the distance to the next one's.
const APPS: u32 = 0x100;
const APP: u32 = 0x80;
/// A row of FILTER that is used.
const VALID: u32 = 1 << 31;
/// Cycles between two looks at OLD, and how many looks there are.
const LOOK: u64 = 200;
const LOOKS: u32 = 500;

/// The contents of a block in hardware.
#[derive(Debug)]
pub(crate) struct CardBlock {
    apps: Vec<CardApp>,
    staged: Staged,
}

/// The words of ROW_WORDS that were written last; those that stay the same are not written again.
type Staged = [Option<u32>; ROW_WORDS];

/// The contents of an application.
#[derive(Debug, Clone)]
struct CardApp {
    name: String,
    rows: Range<usize>,
    decisions: Range<usize>,
}

/// A block, by its window.
struct Window<'a> {
    bus: &'a mut dyn Bus,
    base: u32,
}

impl Window<'_> {
    fn read(&mut self, offset: u32) -> Result<u32, L7Error> {
        Ok(self.bus.read(self.base + offset)?)
    }

    /// Reads a counter of 64 bits, by the offset of its low word.
    fn count(&mut self, low: u32) -> Result<u64, L7Error> {
        Ok(read_count(self.bus, self.base + low, self.base + own::L7_BLOCK_COUNT_H)?)
    }

    fn write(&mut self, offset: u32, value: u32) -> Result<(), L7Error> {
        Ok(self.bus.write(self.base + offset, value)?)
    }

    fn write_all(&mut self, offset: u32, first: usize, values: &[u32]) -> Result<(), L7Error> {
        let at = |index: usize| offset + 4 * (first + index) as u32;
        values.iter().enumerate().try_for_each(|(index, value)| self.write(at(index), *value))
    }

    /// Register of an application.
    fn app(app: usize, register: u32) -> u32 {
        APPS + APP * app as u32 + register
    }
}

fn window(bus: &mut dyn Bus, block: usize) -> Window<'_> {
    Window { bus, base: BLOCKS + BLOCK * block as u32 }
}

impl CardBlock {
    /// Gives a block a program while no frame enters it.
    ///
    /// # Errors
    /// The card refuses, or its block is another one.
    pub(crate) fn load(bus: &mut dyn Bus, block: usize, image: &L7Image) -> Result<Self, L7Error> {
        let mut window = window(bus, block);
        let rows = window.read(own::L7_BLOCK_SHAPE)? >> 16;
        let in_card = window.read(own::L7_BLOCK_CARD)?;
        for (what, found, known) in
            [("rows", rows, ROWS as u32), ("messages in card memory", in_card, image.settings.in_card())]
        {
            if found != known {
                return Err(L7Error::Foreign { block, what, found, known });
            }
        }
        window.write_all(own::L7_BLOCK_FILTER, 0, &[0; own::L7_BLOCK_FILTER_COUNT as usize])?;
        window.write(own::L7_BLOCK_TIMEOUT, image.settings.ticks())?;
        let compiled = &image.compiled;
        let mut card = Self { apps: Vec::new(), staged: [None; ROW_WORDS] };
        for (app, application) in compiled.program.applications.iter().enumerate() {
            let bank = window.read(Window::app(app, own::L7_APP_BANK))?;
            let place = card.place(compiled, app)?;
            bring(&mut window, &mut card.staged, compiled, app, &place, bank)?;
            window.write(Window::app(app, own::L7_APP_MATCHERS), matchers(app, compiled.program.applications.len()))?;
            card.apps.push(place);
            let Application { number, port, tenant, protocol, id_bytes, .. } = application;
            let protocol = u32::from(protocol.number()) | u32::from(*id_bytes) << 8;
            window.write(Window::app(app, own::L7_APP_PROTOCOL), protocol)?;
            let filter = u32::from(*port) | u32::from(*number) << 16 | u32::from(*tenant) << 24 | (app as u32) << 30;
            window.write_all(own::L7_BLOCK_FILTER, app, &[filter | VALID])?;
        }
        Ok(card)
    }

    /// Cycles of the last decision for a message that found the block idle.
    ///
    /// # Errors
    /// The card does not answer.
    pub(crate) fn cycles(bus: &mut dyn Bus, block: usize) -> Result<u32, L7Error> {
        window(bus, block).read(own::L7_BLOCK_CYCLES)
    }

    /// Finds rows and decisions for the rules of an application, beside those that are in use.
    fn place(&self, compiled: &Compiled, app: usize) -> Result<CardApp, L7Error> {
        let image = &compiled.images[app];
        let name = compiled.program.applications[app].name.clone();
        let gap = |what, needed, of: fn(&CardApp) -> &Range<usize>, most| {
            let used: Vec<_> = self.apps.iter().map(of).cloned().collect();
            gap(&used, app, needed, most).map_err(|free| L7Error::Room {
                application: name.clone(),
                what,
                needed,
                free,
            })
        };
        let rows = gap("rows", image.row_count(), |app| &app.rows, ROWS)?;
        let decisions = gap("decisions", image.decisions().len(), |app| &app.decisions, DECISIONS)?;
        Ok(CardApp { name, rows, decisions })
    }

    /// Gives an application other rules between two messages.
    fn swap(&mut self, window: &mut Window<'_>, app: usize, compiled: &Compiled) -> Result<(), L7Error> {
        // The rows of any application's last swap count as free, but messages may still run in them.
        for (app, of) in self.apps.iter().enumerate() {
            let old = Window::app(app, own::L7_APP_OLD);
            let mut looks = 0;
            while let messages @ 1.. = window.read(old)? {
                looks += 1;
                if looks == LOOKS {
                    return Err(L7Error::Running { application: of.name.clone(), messages });
                }
                window.bus.pass(LOOK)?;
            }
        }
        let place = self.place(compiled, app)?;
        let bank = Window::app(app, own::L7_APP_BANK);
        let other = window.read(bank)? ^ 1;
        bring(window, &mut self.staged, compiled, app, &place, other)?;
        window.write(bank, other)?;
        self.apps[app] = place;
        Ok(())
    }
}

/// A place for so many numbers below `most`, beside those that applications use; otherwise the length of the longest
/// gap. Of both ends of all gaps it is the one that leaves the longest gap when `app` has left its former place, so that
/// applications do not cut the numbers into pieces. A half of them is always enough for one application alone, and a
/// quarter for each of two.
fn gap(used: &[Range<usize>], app: usize, needed: usize, most: usize) -> Result<Range<usize>, usize> {
    if needed == 0 {
        return Ok(0..0);
    }
    let free = gaps(used.to_vec(), most);
    let longest = |gaps: Vec<Range<usize>>| gaps.iter().map(Range::len).max().unwrap_or_default();
    let left = |place: &Range<usize>| {
        let others = used.iter().enumerate().filter(|(other, _)| *other != app).map(|(_, range)| range);
        longest(gaps(others.chain([place]).cloned().collect(), most))
    };
    let ends = free.iter().filter(|gap| gap.len() >= needed);
    let places = ends.flat_map(|gap| {
        let (low, high) = (gap.start..gap.start + needed, gap.end - needed..gap.end);
        // Of places that are as good the last one is taken: two applications begin at different ends.
        if app.is_multiple_of(2) { [high, low] } else { [low, high] }
    });
    places.max_by_key(left).ok_or_else(|| longest(free.clone()))
}

/// What is between ranges, from 0 to `most`.
fn gaps(mut used: Vec<Range<usize>>, most: usize) -> Vec<Range<usize>> {
    used.sort_by_key(|range| range.start);
    let mut begin = 0;
    let mut gaps = Vec::new();
    for range in used.into_iter().chain(std::iter::once(most..most)) {
        if range.start > begin {
            gaps.push(begin..range.start);
        }
        begin = begin.max(range.end);
    }
    gaps
}

/// The matchers that serve an application: each application has its own, so that none delays another.
fn matchers(app: usize, apps: usize) -> u32 {
    let each = 4 / apps.clamp(1, APPLICATIONS) as u32;
    ((1 << each) - 1) << (each * app as u32)
}

/// Writes the rules of an application into a bank that no message uses.
fn bring(
    window: &mut Window<'_>,
    staged: &mut Staged,
    compiled: &Compiled,
    app: usize,
    place: &CardApp,
    bank: u32,
) -> Result<(), L7Error> {
    let image = &compiled.images[app];
    let (base, first) = (place.rows.start, place.decisions.start);
    for (row, words) in (base..).zip(image.rows(base, first)) {
        for ((at, word), staged) in (0..).zip(words).zip(&mut *staged) {
            if *staged != Some(word) {
                // A write that fails may have reached the card.
                *staged = None;
                window.write(own::L7_BLOCK_ROW_WORDS + 4 * at, word)?;
                *staged = Some(word);
            }
        }
        window.write(own::L7_BLOCK_ROW, row as u32)?;
    }
    let decisions = image.decisions();
    window.write_all(own::L7_BLOCK_DECISIONS, first, &decisions)?;
    window.write_all(own::L7_BLOCK_HITS, first, &vec![0; decisions.len()])?;
    let part = 2 * app + bank as usize;
    window.write_all(own::L7_BLOCK_CLASSES, 32 * part, &image.class_words())?;
    window.write_all(own::L7_BLOCK_STARTS, 16 * part, &image.starts(base, first))
}

/// A block in hardware, and the way to it.
pub(crate) struct OnCard<'a> {
    /// What it holds.
    pub card: &'a mut CardBlock,
    /// Its place in the design.
    pub block: usize,
    /// The card.
    pub bus: &'a mut dyn Bus,
}

impl Machine for OnCard<'_> {
    fn count(&mut self, app: usize) -> Result<(AppCounters, Vec<u64>), L7Error> {
        let mut window = window(self.bus, self.block);
        let mut count = |register| window.count(Window::app(app, register));
        let counters = AppCounters {
            packets: count(own::L7_APP_PACKETS)?,
            malformed: count(own::L7_APP_MALFORMED)?,
            duplicates: count(own::L7_APP_DUPLICATES)?,
            oversize: count(own::L7_APP_OVERSIZE)?,
            refused: count(own::L7_APP_REFUSED)?,
            busy: count(own::L7_APP_BUSY)?,
            delivered: count(own::L7_APP_DELIVERED)?,
            denied: count(own::L7_APP_DENIED)?,
            expired: count(own::L7_APP_EXPIRED)?,
            stuck: count(own::L7_APP_STUCK)?,
            failed: count(own::L7_APP_FAILED)?,
            in_flight: window.read(Window::app(app, own::L7_APP_MESSAGES))?.into(),
            pages: window.read(Window::app(app, own::L7_APP_PAGES))?.into(),
            ..AppCounters::default()
        };
        let decisions = self.card.apps.get(app).map_or(0..0, |app| app.decisions.clone());
        let hits = decisions.map(|at| window.count(own::L7_BLOCK_HITS + 4 * at as u32));
        Ok((counters, hits.collect::<Result<_, _>>()?))
    }

    fn set_rules(&mut self, app: usize, compiled: &Compiled) -> Result<(), L7Error> {
        self.card.swap(&mut window(self.bus, self.block), app, compiled)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use penstock_engine::{CardError, Native};

    use super::*;

    /// A card whose counters have the address of their register in the low word and its complement in the high one.
    struct Counting {
        high: u32,
    }

    impl Bus for Counting {
        fn read(&mut self, address: u32) -> Result<u32, CardError> {
            if address == BLOCKS + own::L7_BLOCK_COUNT_H {
                return Ok(self.high);
            }
            self.high = !address;
            Ok(address)
        }

        fn write(&mut self, address: u32, _: u32) -> Result<(), CardError> {
            Err(CardError::Broken(format!("0x{address:08x} was written")))
        }

        fn pass(&mut self, _: u64) -> Result<(), CardError> {
            Ok(())
        }

        fn native(&mut self) -> Option<&mut dyn Native> {
            None
        }
    }

    #[test]
    fn counters_have_64_bits() {
        let app = CardApp { name: "one".into(), rows: 0..0, decisions: 3..5 };
        let mut card = CardBlock { apps: vec![app.clone(), app], staged: [None; ROW_WORDS] };
        let mut on = OnCard { card: &mut card, block: 0, bus: &mut Counting { high: 0 } };
        let (counters, hits) = on.count(1).unwrap();
        let count = |offset: u32| u64::from(!(BLOCKS + offset)) << 32 | u64::from(BLOCKS + offset);
        let of_app = APPS + APP;
        let packets_and_failed = [count(of_app + own::L7_APP_PACKETS), count(of_app + own::L7_APP_FAILED)];
        assert_eq!([counters.packets, counters.failed], packets_and_failed);
        assert_eq!(counters.pages, u64::from(BLOCKS + of_app + own::L7_APP_PAGES));
        assert_eq!(hits, [count(own::L7_BLOCK_HITS + 12), count(own::L7_BLOCK_HITS + 16)]);
    }

    #[test]
    fn rules_go_into_a_gap() {
        assert_eq!(gap(&[], 0, 8, 8), Ok(0..8));
        assert_eq!(gap(&[], 0, 9, 8), Err(8));
        assert_eq!(gap(std::slice::from_ref(&(0..2)), 1, 3, 10), Ok(7..10));
        assert_eq!(gap(&[0..2, 6..8], 0, 4, 10), Ok(2..6));
        assert_eq!(gap(&[6..8, 0..2], 0, 5, 12), Err(4));
        assert_eq!(gap(&[0..1, 1..2], 1, 0, 2), Ok(0..0));
    }

    #[test]
    fn an_application_alone_swaps_half_of_the_rows() {
        let mut place = gap(&[], 0, 100, ROWS).unwrap();
        for _ in 0..4 {
            place = gap(&[place], 0, ROWS / 2, ROWS).unwrap();
        }
    }

    /// From each way in which two applications can lie, each of them finds a place for any rules of a quarter.
    #[test]
    fn two_applications_swap_a_quarter_each() {
        const MOST: usize = 16;
        let sizes = 1..=MOST / 4;
        let mut to_do = Vec::new();
        for (first, second) in sizes.clone().flat_map(|first| sizes.clone().map(move |second| (first, second))) {
            let first = gap(&[], 0, first, MOST).unwrap();
            let second = gap(std::slice::from_ref(&first), 1, second, MOST).unwrap();
            to_do.push([first, second]);
        }
        let mut seen = std::collections::HashSet::new();
        while let Some(places) = to_do.pop() {
            if !seen.insert(places.clone()) {
                continue;
            }
            for (app, size) in [0, 1].into_iter().flat_map(|app| sizes.clone().map(move |size| (app, size))) {
                let mut next = places.clone();
                next[app] = gap(&places, app, size, MOST).unwrap();
                let [one, other] = &next;
                assert!(one.end <= other.start || other.end <= one.start, "{places:?} {next:?}");
                to_do.push(next);
            }
        }
        assert!(seen.len() > 1000);
    }

    #[test]
    fn applications_share_no_matcher() {
        assert_eq!((matchers(0, 1), matchers(0, 2), matchers(1, 2)), (0xF, 0x3, 0xC));
    }
}
