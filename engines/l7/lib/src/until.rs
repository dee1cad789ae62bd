// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! How long a call waits.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Cancels calls from another thread.
#[derive(Debug, Clone, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// Ends all calls that wait with this token within 50 ms, and all later ones at once, with
    /// [`crate::Error::Cancelled`].
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Release);
    }

    /// Whether it was cancelled.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}

/// How long a call waits.
#[derive(Debug, Clone, Default)]
pub struct Until {
    pub(crate) end: Option<Instant>,
    cancel: Option<Cancel>,
}

impl Until {
    /// Without an end.
    #[must_use]
    pub fn forever() -> Self {
        Self::default()
    }

    /// For this time.
    #[must_use]
    pub fn within(time: Duration) -> Self {
        Self { end: Instant::now().checked_add(time), cancel: None }
    }

    /// Also until the token is cancelled.
    #[must_use]
    pub fn or(self, cancel: &Cancel) -> Self {
        Self { cancel: Some(cancel.clone()), ..self }
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancel.as_ref().is_some_and(Cancel::is_cancelled)
    }
}
