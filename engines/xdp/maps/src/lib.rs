// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The memory of the xdp engine's soft side, and the maps in it, with Linux' semantics.
//!
//! A map is two things: an index, which leads from a key to a *place*, and the values, one at each place, which lie in
//! the [`Memory`] that programs reach. A value's address therefore never changes while its key exists, and no store of
//! a program damages an index.
//!
//! ```
//! use penstock_xdp_compiler::maps::{MapKind, MapShape};
//! use penstock_xdp_maps::{Maps, Store};
//!
//! let mut maps = Maps::new(1)?;
//! let number = MapKind::Hash.number();
//! let shape = MapShape { number, key_bytes: 2, value_bytes: 4, max_entries: 8, flags: 0 };
//! let map = maps.create(&shape, None)?;
//! maps.set(map, &[1, 2], &7u32.to_le_bytes(), Store::Any)?;
//! assert_eq!(maps.get(map, &[1, 2])?, 7u32.to_le_bytes());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod errno;
mod events;
mod hash;
mod host;
mod map;
mod maps;
mod memory;
mod prefixes;
mod ring;
mod values;

pub use errno::Errno;
pub use events::Events;
pub use hash::Hash;
pub use host::{Entry, SLICE};
pub use map::{Index, Map, Store, admit};
pub use maps::{CreateError, MapId, Maps};
pub use memory::{Memory, MemoryError};
pub use prefixes::Prefixes;
pub use ring::Ring;
pub use values::Values;
