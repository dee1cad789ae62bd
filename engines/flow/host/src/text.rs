// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Answers of the service `flow` as text.

use std::fmt::Write;

use serde_json::Value;

use crate::ask::Ask;

/// An answer: a line for each element, context or event. Requests that only change something have no text.
pub(crate) fn text(asked: &Ask, answer: &Value) -> String {
    let line: fn(&Value) -> String = match asked {
        Ask::List => element,
        Ask::Events => event,
        Ask::Dump { .. } | Ask::Get { .. } => context,
        Ask::Time { .. } => return format!("{answer} µs\n"),
        Ask::Table { .. } => return fields(answer).join(", ") + "\n",
        _ => return String::new(),
    };
    let list = answer.get("contexts").unwrap_or(answer);
    list.as_array().into_iter().flatten().map(|one| line(one) + "\n").collect()
}

/// Text without quotes, other values as JSON.
fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// `NAME VALUE` of each field of an object.
fn fields(object: &Value) -> Vec<String> {
    object.as_object().into_iter().flatten().map(|(name, value)| format!("{name} {}", plain(value))).collect()
}

fn element(element: &Value) -> String {
    let mut text = plain(&element["name"]);
    match element["key"].as_array() {
        Some(key) => {
            let names: Vec<String> = key.iter().map(plain).collect();
            let both = if element["biflow"] == true { " of both directions" } else { "" };
            // Writing to a String does not fail.
            let _ =
                write!(text, ": key {}{both}; {} of {} contexts", names.join(", "), element["contexts"], element["of"]);
        }
        None => text.push_str(": no contexts"),
    }
    let registers = fields(&element["registers"]);
    if !registers.is_empty() {
        let _ = write!(text, "; {}", registers.join(", "));
    }
    text
}

fn context(context: &Value) -> String {
    let mut text = fields(&context["key"]).join(", ");
    text.push(':');
    let mut parts = Vec::new();
    if let Some(state) = context["state"].as_str().filter(|state| !state.is_empty()) {
        parts.push(state.to_owned());
    }
    parts.extend(fields(&context["registers"]));
    for (name, left) in [("for", "us"), ("idle", "left")] {
        if let Some(micros) = context[name][left].as_u64() {
            let then = context[name]["then"].as_str().map_or(String::new(), |state| format!(" then {state}"));
            parts.push(format!("{name} {:.3} s{then}", micros as f64 / 1e6));
        }
    }
    if parts.is_empty() { text } else { format!("{text} {}", parts.join(", ")) }
}

fn event(event: &Value) -> String {
    let seconds = event["time"].as_u64().unwrap_or_default() as f64 / 1e6;
    format!("{seconds:.6} s {} {}: {}", plain(&event["element"]), plain(&event["kind"]), context(event))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn elements_contexts_and_events_are_lines() {
        let elements = json!([
            {"name": "knock", "key": ["ip.src"], "biflow": false, "contexts": 2, "of": 16384, "registers": {}},
            {"name": "both", "key": ["l4.sport", "l4.dport"], "biflow": true, "contexts": 0, "of": 8,
             "registers": {"next": 7}},
            {"name": "mark", "key": null, "biflow": false, "contexts": 0, "of": null, "registers": {}},
        ]);
        assert_eq!(
            text(&Ask::List, &elements),
            "knock: key ip.src; 2 of 16384 contexts\n\
             both: key l4.sport, l4.dport of both directions; 0 of 8 contexts; next 7\nmark: no contexts\n"
        );
        let open = json!({
            "key": {"ip.src": "192.0.2.1", "l4.sport": 80}, "state": "OPEN", "registers": {"count": 3},
            "for": {"us": 59_000_000}, "idle": {"us": 2_000_000, "left": 1_500_000, "then": "ONE"},
        });
        let bare = json!({"key": {"ip.src": "192.0.2.1"}, "state": "", "registers": {}});
        assert_eq!(
            text(&Ask::Dump { element: "knock".into(), from: 0 }, &json!({"contexts": [open, bare], "next": 9})),
            "ip.src 192.0.2.1, l4.sport 80: OPEN, count 3, for 59.000 s, idle 1.500 s then ONE\nip.src 192.0.2.1:\n"
        );
        let gone = json!({"kind": "expired", "element": "knock", "time": 1_000_001, "key": {"ip.src": "1.2.3.4"},
            "state": "ONE", "registers": {}});
        assert_eq!(text(&Ask::Events, &json!([gone])), "1.000001 s knock expired: ip.src 1.2.3.4: ONE\n");
        assert_eq!(text(&Ask::Time { us: None }, &json!(5)), "5 µs\n");
        let table = json!({"places": 64, "stash": 0});
        assert_eq!(text(&Ask::Table { element: "knock".into(), forget: false }, &table), "places 64, stash 0\n");
        assert_eq!(text(&Ask::Clear { element: "knock".into() }, &Value::Null), "");
    }
}
