// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Places for parts that each reach only some places.

/// Assigns each item its own place among the places that it reaches, given as bits: a matching by augmenting paths,
/// which finds places if they exist.
///
/// # Errors
/// The first item without a place, after the items that block it: together they reach one place fewer than there are
/// items.
pub(crate) fn matching(reach: &[u32]) -> Result<Vec<usize>, Vec<usize>> {
    let mut owners = [None; 32];
    for item in 0..reach.len() {
        let mut seen = 0;
        if !seek(item, reach, &mut owners, &mut seen) {
            let others = owners.iter().enumerate().filter(|(place, _)| seen >> place & 1 == 1);
            let mut stuck: Vec<usize> = others.filter_map(|(_, owner)| *owner).collect();
            stuck.sort_unstable();
            stuck.push(item);
            return Err(stuck);
        }
    }
    let mut places = vec![0; reach.len()];
    for (place, owner) in owners.iter().enumerate() {
        if let Some(item) = owner {
            places[*item] = place;
        }
    }
    Ok(places)
}

/// Finds a place for an item; items that have places may move.
fn seek(item: usize, reach: &[u32], owners: &mut [Option<usize>; 32], seen: &mut u32) -> bool {
    loop {
        let left = reach[item] & !*seen;
        if left == 0 {
            return false;
        }
        let place = left.trailing_zeros() as usize;
        *seen |= 1 << place;
        if owners[place].is_none_or(|owner| seek(owner, reach, owners, seen)) {
            owners[place] = Some(item);
            return true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn others_move() {
        assert_eq!(matching(&[0b11, 0b01, 0b110]).unwrap(), [1, 0, 2]);
        assert_eq!(matching(&[]).unwrap(), [0; 0]);
    }

    #[test]
    fn those_in_the_way_are_named() {
        assert_eq!(matching(&[0b100, 0b11, 0b01, 0b1000, 0b10]).unwrap_err(), [1, 2, 4]);
        assert_eq!(matching(&[1, 0]).unwrap_err(), [1]);
    }
}
