// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The secret that lets a page change the card.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

/// Letters that a token has at least.
const LETTERS: usize = 16;
/// Letters that it has at most.
const MOST: u64 = 1024;

/// A secret, as its SHA-256.
pub(crate) struct Token([u8; 32]);

/// Why a file has no token.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TokenError {
    #[error("--web-token {}: {source}; make one: (umask 077; openssl rand -hex 16 > FILE)", path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("--web-token {}: others may read it; take their right away: chmod 600 {}", path.display(), path.display())]
    Open { path: PathBuf },
    #[error(
        "--web-token {}: a token is one line of {LETTERS} to {MOST} letters and digits; \
         make one: (umask 077; openssl rand -hex 16 > FILE)", path.display()
    )]
    Form { path: PathBuf },
}

impl Token {
    /// Reads a file that only its owner may read.
    ///
    /// # Errors
    /// The file cannot be read, others may read it, or it has no token.
    pub(crate) fn read(path: &Path) -> Result<Self, TokenError> {
        let failed = |source| TokenError::Read { path: path.to_owned(), source };
        let mut file = File::open(path).map_err(failed)?;
        if file.metadata().map_err(failed)?.permissions().mode() & 0o077 != 0 {
            return Err(TokenError::Open { path: path.to_owned() });
        }
        let mut text = String::new();
        file.by_ref().take(MOST + 2).read_to_string(&mut text).map_err(failed)?;
        let word = text.trim_end_matches(['\r', '\n']);
        let letters = word.len() >= LETTERS && word.len() as u64 <= MOST;
        if !letters || !word.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(TokenError::Form { path: path.to_owned() });
        }
        Ok(Self(Sha256::digest(word).into()))
    }

    /// Whether `given` is the token. The time that this takes tells nothing about the token, only about its hash.
    pub(crate) fn is(&self, given: &str) -> bool {
        self.0 == <[u8; 32]>::from(Sha256::digest(given))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_token_is_one_long_line_that_nobody_else_reads() {
        let folder = std::env::temp_dir().join(format!("penstock-token-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let path = folder.join("token");
        let read = |text: &str, mode| {
            fs::write(&path, text).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            Token::read(&path)
        };
        let token = read("0123456789abcdef\n", 0o600).unwrap_or_else(|error| panic!("{error}"));
        assert!(token.is("0123456789abcdef"));
        for other in ["", "0123456789abcde", "0123456789abcdeF", "0123456789abcdef\n", "0123456789abcdef0"] {
            assert!(!token.is(other), "{other:?}");
        }
        assert!(matches!(read("0123456789abcdef\n", 0o640), Err(TokenError::Open { .. })));
        assert!(matches!(read("0123456789abcdef\n", 0o604), Err(TokenError::Open { .. })));
        for text in ["", "0123456789abcde\n", "two lines of text\nand more", "0123456789 abcdef", &"x".repeat(1025)] {
            assert!(matches!(read(text, 0o600), Err(TokenError::Form { .. })), "{text:?}");
        }
        assert!(matches!(Token::read(&folder.join("none")), Err(TokenError::Read { .. })));
        fs::remove_dir_all(&folder).unwrap();
    }
}
