// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Answers of the service `l7` as text.

use serde_json::Value;

/// An answer: a line for each object of a list, as `NAME VALUE, NAME VALUE`. Requests that only change something have
/// no text.
pub(crate) fn text(answer: &Value) -> String {
    answer.as_array().into_iter().flatten().map(|one| fields(one) + "\n").collect()
}

fn fields(object: &Value) -> String {
    let shown = object.as_object().into_iter().flatten().filter(|(_, value)| !value.is_array());
    let plain = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    shown.map(|(name, value)| format!("{name} {}", plain(value))).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn objects_are_lines() {
        let answer = json!([{"application": "reviews", "queue": 3, "rules": []}, {"application": "x", "queue": 0}]);
        assert_eq!(text(&answer), "application reviews, queue 3\napplication x, queue 0\n");
        assert_eq!(text(&Value::Null), "");
    }
}
