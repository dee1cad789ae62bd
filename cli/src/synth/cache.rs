// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Results that are kept until something they were made from changes.
//!
//! A result is stored with the list of files it was made from. For sources, these are the files that its block really
//! uses (the elaborator lists them), so that an edit of one block does not rebuild its neighbours, although all come
//! from the same file lists.

use std::fs;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::{SynthError, io_error};

#[derive(Serialize, Deserialize)]
struct Entry<T> {
    key: String,
    used: Vec<PathBuf>,
    result: T,
}

/// The kept result at `path`, if `recipe` and the files it was made from are the same. All paths are relative to
/// `root`.
pub(crate) fn load<T: DeserializeOwned>(root: &Path, path: &Path, recipe: &str) -> Option<T> {
    let entry: Entry<T> = serde_json::from_str(&fs::read_to_string(root.join(path)).ok()?).ok()?;
    (key(root, recipe, &entry.used).ok()? == entry.key).then_some(entry.result)
}

/// Keeps a result of `recipe` made from the files `used`; makes its folder when it is not there.
pub(crate) fn store<T: Serialize>(
    root: &Path,
    path: &Path,
    recipe: &str,
    used: Vec<PathBuf>,
    result: &T,
) -> Result<(), SynthError> {
    let path = root.join(path);
    let entry = Entry { key: key(root, recipe, &used)?, used, result };
    let text = serde_json::to_string_pretty(&entry)
        .map_err(|error| SynthError::Output { path: path.clone(), message: error.to_string() })?;
    path.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::write(&path, text)).map_err(io_error(&path))
}

/// Hash over the recipe (scripts, parameters, tool versions, file list) and the contents of the files.
fn key(root: &Path, recipe: &str, used: &[PathBuf]) -> Result<String, SynthError> {
    let mut hash = Sha256::new();
    hash.update(recipe);
    for path in used {
        let content = fs::read(root.join(path)).map_err(io_error(path))?;
        hash.update(path.as_os_str().as_encoded_bytes());
        hash.update((content.len() as u64).to_le_bytes());
        hash.update(content);
    }
    Ok(hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn result_lasts_until_a_used_file_or_the_recipe_changes() {
        let folder = std::env::temp_dir().join(format!("penstock-cache-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let (source, kept) = (PathBuf::from("a.sv"), Path::new("kept.json"));
        fs::write(folder.join(&source), "module a; endmodule").unwrap();
        store(&folder, kept, "recipe", vec![source.clone()], &7).unwrap();
        assert_eq!(load::<i32>(&folder, kept, "recipe"), Some(7));
        assert_eq!(load::<i32>(&folder, kept, "another recipe"), None);
        fs::write(folder.join(&source), "module b; endmodule").unwrap();
        assert_eq!(load::<i32>(&folder, kept, "recipe"), None);
        fs::remove_file(folder.join(&source)).unwrap();
        assert_eq!(load::<i32>(&folder, kept, "recipe"), None);
        fs::remove_dir_all(&folder).unwrap();
    }
}
