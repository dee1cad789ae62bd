// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The unit's part of the broadcast: the region of memory that the words of all units come into, and the queue of
//! messages.

use std::collections::VecDeque;

use penstock_unit::Word;

/// Bytes of the region.
pub(crate) const REGION_BYTES: u32 = 8 * 1024;
const WORDS: usize = REGION_BYTES as usize / 4;

pub(crate) struct Broadcast {
    region: Box<[[u8; 4]; WORDS]>,
    pub mask: u32,
    pub value: u32,
    listening: bool,
    /// The oldest message, and those after it. An address occurs once among the latter.
    head: Option<u16>,
    behind: VecDeque<u16>,
    is_behind: Box<[bool; WORDS]>,
    /// A word has arrived since the program looked last.
    news: bool,
}

impl Broadcast {
    pub(crate) fn new() -> Self {
        #[expect(clippy::unreachable, reason = "the vector has as many elements as the array")]
        let region = vec![[0; 4]; WORDS].into_boxed_slice().try_into().unwrap_or_else(|_| unreachable!());
        Self {
            region,
            mask: 0,
            value: 0,
            listening: false,
            head: None,
            behind: VecDeque::new(),
            is_behind: Box::new([false; WORDS]),
            news: false,
        }
    }

    /// Forgets messages; the region stays.
    pub(crate) fn reset(&mut self) {
        self.listen(false);
        (self.mask, self.value) = (0, 0);
    }

    /// The word at an offset in the region.
    pub(crate) fn word(&self, offset: u32) -> u32 {
        u32::from_le_bytes(self.region[(offset >> 2) as usize % WORDS])
    }

    /// Writes the word at an offset for this unit alone.
    pub(crate) fn write(&mut self, offset: u32, word: u32) {
        self.region[(offset >> 2) as usize % WORDS] = word.to_le_bytes();
    }

    /// The program stores `bytes` at an offset: returns the words for the other units.
    pub(crate) fn store(&mut self, offset: u32, bytes: &[u8]) -> Word {
        let (index, lane) = ((offset >> 2) as usize % WORDS, (offset & 3) as usize);
        self.region[index][lane..lane + bytes.len()].copy_from_slice(bytes);
        Word { index: index as u16, bytes: self.region[index], stored: ((1 << bytes.len()) - 1) << lane }
    }

    /// Receives a word from another unit; true if it is a message that reaches the head of the queue.
    pub(crate) fn receive(&mut self, word: Word) -> bool {
        let to = &mut self.region[usize::from(word.index)];
        for byte in (0..4).filter(|byte| word.stored >> byte & 1 != 0) {
            to[byte] = word.bytes[byte];
        }
        self.news = true;
        let address = u32::from(word.index) << 2;
        if !self.listening || address & self.mask != self.value {
            return false;
        }
        if !std::mem::replace(&mut self.is_behind[usize::from(word.index)], true) {
            self.behind.push_back(word.index);
        }
        self.head.is_none() && self.advance()
    }

    /// Takes messages from now on, or forgets all and takes no more.
    pub(crate) fn listen(&mut self, listening: bool) {
        self.listening = listening;
        if !listening {
            self.head = None;
            self.behind.drain(..).for_each(|index| self.is_behind[usize::from(index)] = false);
        }
    }

    /// Whether messages are taken.
    pub(crate) fn listens(&self) -> bool {
        self.listening
    }

    /// Takes the oldest message away; true when there is another one.
    pub(crate) fn release(&mut self) -> bool {
        self.head.is_some() && self.advance()
    }

    fn advance(&mut self) -> bool {
        self.head = self.behind.pop_front();
        if let Some(index) = self.head {
            self.is_behind[usize::from(index)] = false;
        }
        self.head.is_some()
    }

    /// Offset in the region of the oldest message.
    pub(crate) fn head(&self) -> Option<u32> {
        self.head.map(|index| u32::from(index) << 2)
    }

    /// Messages after the oldest.
    pub(crate) fn waiting(&self) -> usize {
        self.behind.len()
    }

    /// Whether a word has arrived since the last call.
    pub(crate) fn take_news(&mut self) -> bool {
        std::mem::take(&mut self.news)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn word(index: u16, byte: u8) -> Word {
        Word { index, bytes: [byte; 4], stored: 0b1111 }
    }

    #[test]
    fn only_the_bytes_that_were_stored_come_over() {
        let (mut from, mut to) = (Broadcast::new(), Broadcast::new());
        to.write(8, 0x4433_2211);
        from.write(8, 0x8877_6655);
        let sent = from.store(10, &[0xAA]);
        assert_eq!(sent, Word { index: 2, bytes: [0x55, 0x66, 0xAA, 0x88], stored: 0b0100 });
        to.receive(sent);
        assert_eq!((from.word(8), to.word(8)), (0x88AA_6655, 0x44AA_2211));
    }

    #[test]
    fn an_address_waits_once_and_a_word_behind_its_head_queues_again() {
        let mut port = Broadcast::new();
        port.receive(word(7, 1));
        port.listen(true);
        (port.mask, port.value) = (0x10, 0x10);
        assert!(!port.receive(word(3, 1)), "the filter");
        assert!(port.receive(word(4, 1)));
        for index in [5, 6, 5, 4, 5] {
            assert!(!port.receive(word(index, 2)));
        }
        assert_eq!((port.head(), port.waiting()), (Some(16), 3));
        assert!(port.release());
        assert!(!port.receive(word(6, 3)), "behind the new head it waits still");
        let mut heads = Vec::from_iter(port.head());
        while port.release() {
            heads.extend(port.head());
        }
        assert_eq!((heads, port.head()), (vec![20, 24, 16], None));
        assert!(port.receive(word(5, 3)));
        port.listen(false);
        port.listen(true);
        assert_eq!((port.head(), port.waiting()), (None, 0));
        assert!(port.receive(word(5, 3)), "nothing of before stands in the way");
    }
}
