// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The resources of a program: fields, rules by application, rows and cycles for each rule.

use std::fmt::Write;

use serde_json::{Value as Json, json};

use crate::image::AppImage;
use crate::limits::ROWS;
use crate::program::{Action, MessageType, Program};

/// Cycles until a message is decided that takes no row.
const CYCLES: usize = 9;
/// Cycles of a row.
const ROW_CYCLES: usize = 2;

/// The program as text.
pub(crate) fn text(program: &Program, images: &[AppImage]) -> String {
    let mut text = String::new();
    for message in &program.messages {
        let _ = writeln!(text, "message {} (type {})", message.name, message.number);
        for field in &message.fields {
            let dispatch = if field.dispatch { "  dispatch" } else { "" };
            let _ = writeln!(text, "  {:>3} {:7} {}{dispatch}", field.number, field.kind.name(), field.name);
        }
    }
    for (application, image) in program.applications.iter().zip(images) {
        let _ = writeln!(
            text,
            "\napplication {} (number {}, UDP port {}): {} of {ROWS} rows",
            application.name,
            application.number,
            application.port,
            image.row_count()
        );
        for (rules, rows) in application.types.iter().zip(&image.types) {
            let message = program.message(rules);
            let _ = writeln!(text, "  on {}: {} rows", message.name, rows.rows.len());
            let steps = rows.steps();
            let named = rules.rules.iter().enumerate().map(|(at, rule)| (Some(at), rule.name.as_str(), rule.action));
            for (rule, name, action) in named.chain([(None, "default", rules.default)]) {
                let cost = steps.get(&rule).map_or_else(|| "never decided".to_owned(), |steps| cost(*steps));
                let _ = writeln!(text, "    {name:16} => {:24} {cost}", shown(action, Some(message)));
            }
        }
    }
    text
}

fn cost((least, most): (usize, usize)) -> String {
    let cycles = |rows: usize| CYCLES + ROW_CYCLES * rows;
    if least == most {
        format!("{least} step{}, {} cycles", if least == 1 { "" } else { "s" }, cycles(least))
    } else {
        format!("{least} to {most} steps, {} to {} cycles", cycles(least), cycles(most))
    }
}

/// An action in words of the language. `message` is the type whose fields the action may name.
#[must_use]
pub fn shown(action: Action, message: Option<&MessageType>) -> String {
    let name = |field: u8| message.map_or("", |message| message.field_name(field));
    match action {
        Action::Queue(queue) => format!("queue {queue}"),
        Action::QueuesBy { first, bits, field } => {
            format!("queues {first} ..= {} by {}", u32::from(first) + (1 << bits) - 1, name(field))
        }
        Action::Unit(unit) => format!("unit {unit}"),
        Action::UnitsBy(field) => format!("units by {}", name(field)),
        Action::QueuesInTurn { first, bits } => {
            format!("queues {first} ..= {} in turn", u32::from(first) + (1 << bits) - 1)
        }
        Action::Port(port) => format!("port {port}"),
        Action::Drop => "drop".to_owned(),
    }
}

/// The program as JSON.
pub(crate) fn json(program: &Program, images: &[AppImage]) -> Json {
    let messages: Vec<Json> = program.messages.iter().map(message).collect();
    let applications = program.applications.iter().zip(images).map(|(application, image)| {
        let types = application.types.iter().zip(&image.types).map(|(rules, rows)| {
            let message = program.message(rules);
            let all_steps = rows.steps();
            let one = |rule: Option<usize>, name: &str, line: u32, action| {
                let steps = all_steps.get(&rule).map(|(least, most)| [*least, *most]);
                json!({"name": name, "line": line, "action": shown(action, Some(message)), "steps": steps})
            };
            let list =
                rules.rules.iter().enumerate().map(|(at, rule)| one(Some(at), &rule.name, rule.line, rule.action));
            let list: Vec<Json> = list.chain([one(None, "default", 0, rules.default)]).collect();
            json!({"message": message.name, "rows": rows.rows.len(), "rules": list})
        });
        let types: Vec<Json> = types.collect();
        json!({"name": application.name, "number": application.number, "port": application.port,
            "rows": image.row_count(), "types": types})
    });
    let applications: Vec<Json> = applications.collect();
    json!({"messages": messages, "applications": applications})
}

fn message(message: &MessageType) -> Json {
    let field = |field: &crate::program::Field| {
        let dispatch = field.dispatch;
        json!({"name": field.name, "number": field.number, "type": field.kind.name(), "dispatch": dispatch})
    };
    let fields: Vec<Json> = message.fields.iter().map(field).collect();
    json!({"name": message.name, "type": message.number, "fields": fields})
}
