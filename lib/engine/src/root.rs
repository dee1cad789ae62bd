// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The place of the repository, which holds the RTL, the firmware kit and the caches.

use std::path::{Path, PathBuf};

/// File that marks the top of the repository.
const MARK: &str = "shell/regs/card.rdl";

/// The repository that this program belongs to.
#[derive(Debug, Clone)]
pub struct Root(PathBuf);

/// No repository was found.
#[derive(Debug, thiserror::Error)]
#[error(
    "the Penstock repository was not found {tried}; start penstock through ./penstock, or set PENSTOCK_ROOT to the checkout"
)]
pub struct RootError {
    tried: String,
}

impl Root {
    /// PENSTOCK_ROOT when it is set, else the nearest folder above the running program.
    pub fn find() -> Result<Self, RootError> {
        Self::named().unwrap_or_else(|| Self::above(&std::env::current_exe().unwrap_or_default()))
    }

    /// PENSTOCK_ROOT, when it is set. A program that the system gave more rights than its user has (by setcap, say)
    /// ignores it: the checkout holds code that the program runs.
    pub fn named() -> Option<Result<Self, RootError>> {
        // SAFETY: the call reads data that the system gave the program at its start.
        if unsafe { libc::getauxval(libc::AT_SECURE) } != 0 {
            return None;
        }
        let path = PathBuf::from(std::env::var_os("PENSTOCK_ROOT")?);
        Some(match path.join(MARK).exists() {
            true => Ok(Self(path)),
            false => Err(RootError { tried: format!("at PENSTOCK_ROOT={}", path.display()) }),
        })
    }

    /// The nearest folder above a file that is a checkout.
    pub fn above(file: &Path) -> Result<Self, RootError> {
        file.ancestors()
            .find(|folder| folder.join(MARK).exists())
            .map(|folder| Self(folder.to_path_buf()))
            .ok_or_else(|| RootError { tried: format!("above {}", file.display()) })
    }

    /// The folder itself.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// A path inside the repository.
    pub fn join(&self, path: impl AsRef<Path>) -> PathBuf {
        self.0.join(path)
    }
}
