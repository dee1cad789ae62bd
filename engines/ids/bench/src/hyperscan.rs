// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Hyperscan's search for the strings of the filter, or that of its fork Vectorscan, if one of them is installed: both
//! are the library libhs.so.5, for example Debian's packages libhyperscan5 and libvectorscan5.

use std::ffi::{CStr, c_char, c_int, c_uint, c_ulonglong, c_void};
use std::ptr::{null, null_mut};

use libloading::{Library, Symbol};
use penstock_ids_compiler::Filter;

use crate::library::keys;

/// The file, which the loader of the system finds.
pub(crate) const FILE: &str = "libhs.so.5";

/// Values of hs_common.h and hs_compile.h.
const SUCCESS: c_int = 0;
const CASELESS: c_uint = 1;
const BLOCK: c_uint = 1;

/// `hs_compile_lit_multi`.
type Compile = unsafe extern "C" fn(
    *const *const c_char,
    *const c_uint,
    *const c_uint,
    *const usize,
    c_uint,
    c_uint,
    *const c_void,
    *mut *mut c_void,
    *mut *mut c_void,
) -> c_int;
/// `hs_alloc_scratch`.
type Alloc = unsafe extern "C" fn(*const c_void, *mut *mut c_void) -> c_int;
/// `match_event_handler`.
type Event = unsafe extern "C" fn(c_uint, c_ulonglong, c_ulonglong, c_uint, *mut c_void) -> c_int;
/// `hs_scan`.
type Scan = unsafe extern "C" fn(
    *const c_void,
    *const c_char,
    c_uint,
    c_uint,
    *mut c_void,
    Option<Event>,
    *mut c_void,
) -> c_int;
/// `hs_free_scratch`, `hs_free_database`.
type Free = unsafe extern "C" fn(*mut c_void) -> c_int;

/// The keys of a filter as the library searches for them, in whatever case.
pub(crate) struct Hyperscan {
    library: Library,
    scan: Scan,
    database: *mut c_void,
    scratch: *mut c_void,
    /// Its version.
    pub version: String,
}

/// Counts a match, and goes on.
unsafe extern "C" fn count(_: c_uint, _: c_ulonglong, _: c_ulonglong, _: c_uint, found: *mut c_void) -> c_int {
    // SAFETY: `Hyperscan::count` gives a pointer to its own counter.
    unsafe { *found.cast::<usize>() += 1 };
    0
}

impl Hyperscan {
    /// The keys of these tables. None: the library is not installed, or does not take them.
    pub(crate) fn new(filter: &Filter) -> Option<Self> {
        // SAFETY: the initializers of this library ask for the features of the processor only.
        let library = unsafe { Library::new(FILE) }.ok()?;
        let keys = keys(filter);
        let texts: Vec<*const c_char> = keys.iter().map(|key| key.as_ptr().cast()).collect();
        let lengths: Vec<usize> = keys.iter().map(Vec::len).collect();
        let flags = vec![CASELESS; keys.len()];
        let ids: Vec<c_uint> = (0..).take(keys.len()).collect();
        let (mut database, mut scratch, mut error) = (null_mut(), null_mut(), null_mut());
        // SAFETY: the types are those of the library's headers. All lists have a value for each key and outlive the
        // calls. An error's text is not freed: the process ends soon.
        let (scan, version) = unsafe {
            let compile: Symbol<Compile> = library.get(b"hs_compile_lit_multi\0").ok()?;
            let alloc: Symbol<Alloc> = library.get(b"hs_alloc_scratch\0").ok()?;
            let scan: Symbol<Scan> = library.get(b"hs_scan\0").ok()?;
            let version: Symbol<unsafe extern "C" fn() -> *const c_char> = library.get(b"hs_version\0").ok()?;
            let (texts, flags, ids) = (texts.as_ptr(), flags.as_ptr(), ids.as_ptr());
            let count = keys.len() as c_uint;
            let compiled =
                compile(texts, flags, ids, lengths.as_ptr(), count, BLOCK, null(), &mut database, &mut error);
            if compiled != SUCCESS || alloc(database, &mut scratch) != SUCCESS {
                return None;
            }
            let words = CStr::from_ptr(version()).to_string_lossy().into_owned();
            (*scan, words.split(' ').next().unwrap_or_default().to_owned())
        };
        Some(Self { library, scan, database, scratch, version })
    }

    /// Occurrences, also those that overlap.
    pub(crate) fn count(&self, bytes: &[u8]) -> usize {
        let mut found = 0_usize;
        let (text, length) = (bytes.as_ptr().cast(), bytes.len() as c_uint);
        let counter = (&raw mut found).cast();
        // SAFETY: database and scratch are those of this library, which one thread uses; the counter outlives the call.
        unsafe { (self.scan)(self.database, text, length, 0, self.scratch, Some(count), counter) };
        found
    }
}

impl Drop for Hyperscan {
    fn drop(&mut self) {
        for (name, memory) in [(&b"hs_free_scratch\0"[..], self.scratch), (b"hs_free_database\0", self.database)] {
            // SAFETY: the library gave this memory, and nothing uses it any more.
            unsafe {
                if let Ok(free) = self.library.get::<Free>(name) {
                    free(memory);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use penstock_ids_compiler::rule::Key;

    use super::*;

    /// If the library is installed, it finds the keys that the filter finds, also those that overlap.
    #[test]
    fn it_finds_the_keys() {
        let mut filter = Filter::new(11);
        for key in [&b"abc"[..], b"bcd", b"evilword"] {
            assert!(Key::of(key).and_then(|key| filter.add(&key)).is_some());
        }
        if let Some(hyperscan) = Hyperscan::new(&filter) {
            assert_eq!(hyperscan.count(b"xABCd EvilWord abx"), 3, "{}", hyperscan.version);
        }
    }
}
