// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Lines that programs printed, until they are taken.

/// Lines that are kept: the first ones, which explain most.
const MOST: usize = 1 << 16;

/// Lines, and how many more there were than room.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Log {
    /// Oldest first.
    pub lines: Vec<String>,
    /// Those for which there was no room.
    pub lost: u64,
}

impl Log {
    /// Adds a line, if there is room.
    pub fn push(&mut self, line: String) {
        if self.lines.len() < MOST {
            self.lines.push(line);
        } else {
            self.lost += 1;
        }
    }

    /// Adds the lines of another log.
    pub fn append(&mut self, other: Log) {
        other.lines.into_iter().for_each(|line| self.push(line));
        self.lost += other.lost;
    }

    /// The lines as a run reports them: if some were lost, the last line has their number.
    #[must_use]
    pub fn into_lines(mut self) -> Vec<String> {
        self.lines.extend((self.lost > 0).then(|| format!("(lines lost since the load: {})", self.lost)));
        self.lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_room_is_counted() {
        let lines = |count: usize| Log { lines: vec!["a".into(); count], lost: 0 };
        let mut log = lines(MOST - 1);
        log.append(lines(3));
        log.append(Log { lost: 4, ..lines(1) });
        assert_eq!((log.lines.len(), log.lost), (MOST, 7));
        assert_eq!(log.into_lines().last().map(String::as_str), Some("(lines lost since the load: 7)"));
        assert_eq!(lines(1).into_lines(), ["a"]);
    }
}
