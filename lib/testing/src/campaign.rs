// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Campaigns: many random cases, of which none may panic, take long, or take much memory.

use std::alloc::{GlobalAlloc, Layout, System};
use std::fmt;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::Numbers;

/// An allocator that counts. A test with campaigns declares it:
///
/// ```
/// #[global_allocator]
/// static ALLOCATOR: penstock_testing::Counting = penstock_testing::Counting;
/// ```
pub struct Counting;

/// Bytes that are allocated now, and the most of them since they were last looked at.
static NOW: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);
/// One test of a process allocates at a time.
static ALONE: Mutex<()> = Mutex::new(());

/// The right to allocate, which each test of a file with campaigns takes first. The memory of a case is that of the
/// process.
#[derive(Debug)]
pub struct Alone {
    _guard: MutexGuard<'static, ()>,
}

/// Waits until no other test of the process has this.
pub fn alone() -> Alone {
    Alone { _guard: ALONE.lock().unwrap_or_else(PoisonError::into_inner) }
}

fn add(bytes: usize) {
    let now = NOW.fetch_add(bytes, Ordering::Relaxed) + bytes;
    MOST.fetch_max(now, Ordering::Relaxed);
}

// SAFETY: the system's allocator does the work.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        add(layout.size());
        // SAFETY: the caller's promise is handed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        add(layout.size());
        // SAFETY: the caller's promise is handed on.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller's promise is handed on.
        unsafe { System.dealloc(at, layout) }
    }
}

/// The most bytes that are allocated at a time while `case` runs, beside those before.
pub fn most_held(_alone: &Alone, case: impl FnOnce()) -> usize {
    let before = NOW.load(Ordering::Relaxed);
    MOST.store(before, Ordering::Relaxed);
    case();
    MOST.load(Ordering::Relaxed).saturating_sub(before)
}

/// A campaign. `PENSTOCK_FUZZ_SECONDS` sets the time in which it tries new cases, `PENSTOCK_SEED` the number of the
/// first one; a case follows from its number.
#[derive(Debug, Clone, Copy)]
pub struct Campaign {
    /// Cases if `PENSTOCK_FUZZ_SECONDS` is not set.
    pub cases: u64,
    /// Bytes that a case may hold at a time.
    pub most_bytes: usize,
    /// Bytes that may stay behind after all cases.
    pub most_left: usize,
    /// How long a case may take.
    pub longest: Duration,
}

impl Default for Campaign {
    fn default() -> Self {
        Self { cases: 2000, most_bytes: 64 << 20, most_left: 1 << 20, longest: Duration::from_secs(10) }
    }
}

/// Figures of a campaign without a failure.
#[derive(Debug, Clone, Copy, Default)]
pub struct Tried {
    /// Its cases.
    pub cases: u64,
    /// Time of the slowest case.
    pub slowest: Duration,
    /// Most bytes that a case held at a time.
    pub largest: usize,
    /// Bytes that stayed behind.
    pub left: usize,
}

impl fmt::Display for Tried {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { cases, slowest, largest, left } = self;
        write!(f, "{cases} cases; slowest {slowest:?}, largest {largest} bytes, {left} bytes left")
    }
}

impl Campaign {
    /// Tries cases. A panic is passed on, after the number of its case was printed; a case that takes too long ends the
    /// process.
    ///
    /// # Panics
    /// A case panics or takes too much memory, or all of them leave too much behind.
    pub fn run(&self, alone: &Alone, mut case: impl FnMut(&mut Numbers)) -> Tried {
        assert!(NOW.load(Ordering::Relaxed) > 0, "this test needs the allocator `Counting`");
        let number = |name| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
        let limit = number("PENSTOCK_FUZZ_SECONDS").map(Duration::from_secs);
        let first = number("PENSTOCK_SEED").unwrap_or(1);
        let (now, watch) = (Arc::new(AtomicU64::new(first)), Arc::new(AtomicBool::new(true)));
        self.watch(&now, &watch);
        let (begin, before) = (Instant::now(), NOW.load(Ordering::Relaxed));
        let mut tried = Tried::default();
        while limit.map_or(tried.cases < self.cases, |limit| begin.elapsed() < limit) {
            let seed = first + tried.cases;
            now.store(seed, Ordering::Relaxed);
            let start = Instant::now();
            let bytes = most_held(alone, || {
                if let Err(panic) = catch_unwind(AssertUnwindSafe(|| case(&mut Numbers::of_case(seed)))) {
                    watch.store(false, Ordering::Relaxed);
                    say(&format!("case {seed} panics; PENSTOCK_SEED={seed} begins with it"));
                    resume_unwind(panic);
                }
            });
            assert!(bytes <= self.most_bytes, "case {seed} takes {bytes} bytes");
            (tried.slowest, tried.largest) = (tried.slowest.max(start.elapsed()), tried.largest.max(bytes));
            tried.cases += 1;
        }
        watch.store(false, Ordering::Relaxed);
        tried.left = NOW.load(Ordering::Relaxed).saturating_sub(before);
        assert!(tried.left <= self.most_left, "{} bytes stay behind", tried.left);
        tried
    }

    /// Ends the process if a case takes too long.
    fn watch(&self, now: &Arc<AtomicU64>, goes_on: &Arc<AtomicBool>) {
        let (now, goes_on, longest) = (Arc::clone(now), Arc::clone(goes_on), self.longest);
        std::thread::spawn(move || {
            let mut last = (u64::MAX, Instant::now());
            while goes_on.load(Ordering::Relaxed) {
                std::thread::sleep(longest / 20);
                let case = now.load(Ordering::Relaxed);
                if case != last.0 {
                    last = (case, Instant::now());
                } else if last.1.elapsed() > longest && goes_on.load(Ordering::Relaxed) {
                    say(&format!("case {case} takes more than {longest:?}"));
                    std::process::abort();
                }
            }
        });
    }
}

/// Writes a line past libtest, which keeps the output of tests until they end.
fn say(text: &str) {
    // There is no other way to report it.
    let _ = writeln!(std::io::stderr(), "{text}");
}
