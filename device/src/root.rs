// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Where the repository is: the RTL, the firmware kit and the caches live in it.

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
        if let Some(path) = std::env::var_os("PENSTOCK_ROOT") {
            let path = PathBuf::from(path);
            return if path.join(MARK).exists() {
                Ok(Self(path))
            } else {
                Err(RootError { tried: format!("at PENSTOCK_ROOT={}", path.display()) })
            };
        }
        let program = std::env::current_exe().unwrap_or_default();
        program
            .ancestors()
            .find(|folder| folder.join(MARK).exists())
            .map(|folder| Self(folder.to_path_buf()))
            .ok_or_else(|| RootError { tried: format!("above {}", program.display()) })
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
