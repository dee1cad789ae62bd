// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Message types in a programming language: a type for each message of QNP, which becomes a message of the library and
//! is read from one.

use std::fmt::Write;

use crate::program::{Field, Kind, MessageType, Program, Protocol};

/// A programming language.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// For the crate `penstock-qnp`.
    Rust,
    /// For the module `penstock.qnp`.
    Python,
    /// For the header penstock_qnp.h, C11.
    C,
}

/// Words that are no names of fields.
const RUST: &[&str] = &[
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "do", "dyn", "else", "enum",
    "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop", "macro", "match", "mod", "move",
    "mut", "override", "priv", "pub", "ref", "return", "static", "struct", "trait", "true", "try", "type", "typeof",
    "unsafe", "unsized", "use", "virtual", "where", "while", "yield",
];
/// Those that even `r#` makes no names.
const NEVER: &[&str] = &["self", "Self", "super", "crate", "_"];
/// Keywords of Python, and names that the generated classes have already.
const PYTHON: &[&str] = &[
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue", "def", "del",
    "elif", "else", "except", "finally", "for", "from", "global", "if", "import", "in", "is", "lambda", "nonlocal",
    "not", "or", "pass", "raise", "return", "try", "while", "with", "yield", "TYPE", "encode", "decode", "cls", "self",
];

/// Keywords of C and C++.
const C: &[&str] = &[
    "alignas",
    "alignof",
    "asm",
    "auto",
    "bool",
    "break",
    "case",
    "catch",
    "char",
    "class",
    "const",
    "constexpr",
    "continue",
    "default",
    "delete",
    "do",
    "double",
    "else",
    "enum",
    "explicit",
    "export",
    "extern",
    "false",
    "float",
    "for",
    "friend",
    "goto",
    "if",
    "inline",
    "int",
    "long",
    "mutable",
    "namespace",
    "new",
    "nullptr",
    "operator",
    "private",
    "protected",
    "public",
    "register",
    "restrict",
    "return",
    "short",
    "signed",
    "sizeof",
    "static",
    "static_assert",
    "struct",
    "switch",
    "template",
    "this",
    "thread_local",
    "throw",
    "true",
    "try",
    "typedef",
    "typeof",
    "union",
    "unsigned",
    "using",
    "virtual",
    "void",
    "volatile",
    "while",
];

/// Source text with the message types of a program that was read from `file`, a name without a folder.
#[must_use]
pub fn text(program: &Program, file: &str, language: Language) -> String {
    let messages: Vec<&MessageType> =
        program.messages.iter().filter(|message| message.protocol == Protocol::Qnp).collect();
    match language {
        Language::Rust => rust(program, &messages, file),
        Language::Python => python(program, &messages, file),
        Language::C => c(program, &messages, file),
    }
}

/// The applications whose messages are of QNP: name in capitals, number and UDP port.
fn applications(program: &Program) -> impl Iterator<Item = (String, u8, u16)> {
    let own = program.applications.iter().filter(|application| application.protocol == Protocol::Qnp);
    own.map(|application| (application.name.to_uppercase(), application.number, application.port))
}

fn rust(program: &Program, messages: &[&MessageType], file: &str) -> String {
    let mut text = format!("// Written by `penstock compile l7 {file} --bindings rust`; change {file}.\n");
    let _ = writeln!(text, "//! Message types of {file}.\n\nuse penstock_qnp::{{Error, Message}};");
    for (name, number, port) in applications(program) {
        let _ = writeln!(text, "\n/// Number of this application.\npub const APPLICATION_{name}: u8 = {number};");
        let _ = writeln!(text, "/// Its UDP port.\npub const PORT_{name}: u16 = {port};");
    }
    let safe = |name: &str| match name {
        name if NEVER.contains(&name) => format!("{name}_"),
        name if RUST.contains(&name) => format!("r#{name}"),
        name => name.to_owned(),
    };
    let field_name = |field: &Field| safe(&field.name);
    for message in messages {
        let name = safe(&message.name);
        let _ = writeln!(text, "\n/// Messages of type {}.\n#[allow(non_camel_case_types)]", message.number);
        let _ = writeln!(text, "#[derive(Debug, Clone, PartialEq, Eq, Default)]\npub struct {name} {{");
        for field in &message.fields {
            let kind = match field.kind {
                Kind::String => "String",
                Kind::Uint32 => "u32",
                Kind::Uint64 => "u64",
                Kind::Bytes | Kind::Name | Kind::Uint16 => "Vec<u8>",
            };
            let what = if field.dispatch { ", by which cards dispatch" } else { "" };
            let _ =
                writeln!(text, "    /// Field {}{what}.\n    pub {}: Option<{kind}>,", field.number, field_name(field));
        }
        let _ = writeln!(
            text,
            "}}\n\nimpl {name} {{\n    /// Number of this type.\n    pub const TYPE: u8 = {};",
            message.number
        );
        let _ = writeln!(text, "\n    /// The message, for this application.\n    #[must_use]");
        let _ = writeln!(text, "    pub fn encode(self, application: u8) -> Message {{");
        let _ = writeln!(text, "        let mut message = Message::new(application, Self::TYPE);");
        for field in &message.fields {
            let put = if field.dispatch { "dispatch" } else { "field" };
            let value = if field.kind.width().is_some() { "value.to_be_bytes()" } else { "value" };
            let _ = writeln!(text, "        if let Some(value) = self.{} {{", field_name(field));
            let _ = writeln!(text, "            message = message.{put}({}, {value});\n        }}", field.number);
        }
        let _ = writeln!(
            text,
            "        message\n    }}\n\n    /// Reads the fields of a message.\n    ///\n    /// # Errors"
        );
        let _ = writeln!(text, "    /// The message is of another type, or a field is no value of its kind.");
        let _ = writeln!(text, "    pub fn decode(message: &Message) -> Result<Self, Error> {{");
        let _ = writeln!(text, "        message.expect_type(Self::TYPE)?;\n        Ok(Self {{");
        for field in &message.fields {
            let read = match field.kind {
                Kind::String => format!("message.text({})?", field.number),
                Kind::Uint32 => format!("message.uint32({})?", field.number),
                Kind::Uint64 => format!("message.uint64({})?", field.number),
                Kind::Bytes | Kind::Name | Kind::Uint16 => format!("message.get({}).map(<[u8]>::to_vec)", field.number),
            };
            let _ = writeln!(text, "            {}: {read},", field_name(field));
        }
        let _ = writeln!(text, "        }})\n    }}\n}}");
    }
    text
}

fn python(program: &Program, messages: &[&MessageType], file: &str) -> String {
    let mut text = format!("# Written by `penstock compile l7 {file} --bindings python`; change {file}.\n");
    let _ = writeln!(text, "\"\"\"Message types of {file}.\"\"\"\n\nfrom __future__ import annotations\n");
    let _ =
        writeln!(text, "from dataclasses import dataclass\nfrom typing import ClassVar\n\nfrom penstock import qnp");
    for (name, number, port) in applications(program) {
        let _ = writeln!(text, "\n# Number of this application, and its UDP port\nAPPLICATION_{name} = {number}");
        let _ = writeln!(text, "PORT_{name} = {port}");
    }
    let safe = |name: &str| if PYTHON.contains(&name) { format!("{name}_") } else { name.to_owned() };
    for message in messages {
        let name = safe(&message.name);
        let _ = writeln!(text, "\n\n@dataclass\nclass {name}:\n    \"\"\"Messages of type {}.\"\"\"\n", message.number);
        let _ = writeln!(text, "    TYPE: ClassVar[int] = {}", message.number);
        for field in &message.fields {
            let kind = match field.kind {
                Kind::String => "str",
                Kind::Uint32 | Kind::Uint64 => "int",
                Kind::Bytes | Kind::Name | Kind::Uint16 => "bytes",
            };
            let dispatch = if field.dispatch { ", by which cards dispatch" } else { "" };
            let _ = writeln!(
                text,
                "    # Field {}{dispatch}\n    {}: {kind} | None = None",
                field.number,
                safe(&field.name)
            );
        }
        let _ = writeln!(text, "\n    def encode(self, application: int) -> qnp.Message:");
        let _ = writeln!(text, "        \"\"\"The message, for this application.\"\"\"");
        for (list, dispatch) in [("dispatch", true), ("fields", false)] {
            let _ = writeln!(text, "        {list}: list[tuple[int, bytes]] = []");
            for field in message.fields.iter().filter(|field| field.dispatch == dispatch) {
                let own = format!("self.{}", safe(&field.name));
                let value = match (field.kind, field.kind.width()) {
                    (Kind::String, _) => format!("{own}.encode()"),
                    (_, Some(width)) => format!("{own}.to_bytes({width}, \"big\")"),
                    _ => own.clone(),
                };
                let _ = writeln!(text, "        if {own} is not None:");
                let _ = writeln!(text, "            {list}.append(({}, {value}))", field.number);
            }
        }
        let _ = writeln!(text, "        return qnp.Message(application, self.TYPE, dispatch, fields)");
        let _ = writeln!(text, "\n    @classmethod\n    def decode(cls, message: qnp.Message) -> {name}:");
        let _ = writeln!(
            text,
            "        \"\"\"Reads the fields of a message; raises ValueError if it is of another type or kind.\"\"\""
        );
        let _ = writeln!(text, "        message.expect_type(cls.TYPE)");
        let reads = message.fields.iter().map(|field| match (field.kind, field.kind.width()) {
            (Kind::String, _) => format!("message.text({})", field.number),
            (_, Some(width)) => format!("message.uint({}, {width})", field.number),
            _ => format!("message.get({})", field.number),
        });
        let _ = writeln!(text, "        return cls({})", reads.collect::<Vec<_>>().join(", "));
    }
    text
}

fn c(program: &Program, messages: &[&MessageType], file: &str) -> String {
    let mut text = format!("/* Written by `penstock compile l7 {file} --bindings c`; change {file}. */\n");
    let _ = writeln!(
        text,
        "/* Message types of {file}. In encode and decode, a field without data or value is not there. */"
    );
    let _ = writeln!(text, "#pragma once\n\n#include <penstock_qnp.h>");
    for (name, number, port) in applications(program) {
        let _ =
            writeln!(text, "\n/* Number of this application, and its UDP port */\n#define APPLICATION_{name} {number}");
        let _ = writeln!(text, "#define PORT_{name} {port}");
    }
    let safe = |name: &str| if C.contains(&name) { format!("{name}_") } else { name.to_owned() };
    for message in messages {
        let (name, of_type) = (&message.name, message.number);
        let tag = safe(name);
        let _ = writeln!(text, "\n/* Messages of type {of_type} */\nstruct {tag} {{");
        for field in &message.fields {
            let kind = if field.kind.width().is_some() { "qnp_number" } else { "qnp_bytes" };
            let what = if field.dispatch { ", by which cards dispatch" } else { "" };
            let _ = writeln!(
                text,
                "  {kind} {}; /* field {}, {}{what} */",
                safe(&field.name),
                field.number,
                field.kind.name()
            );
        }
        if message.fields.is_empty() {
            let _ = writeln!(text, "  char no_fields;");
        }
        let _ = writeln!(text, "}};\n\n/* The message, for this application; the caller frees it. */");
        let _ = writeln!(
            text,
            "static inline qnp_message *{name}_encode(const struct {tag} *from, uint8_t application) {{"
        );
        let _ = writeln!(text, "  qnp_message *message = qnp_message_new(application, {of_type});\n  (void)from;");
        for field in &message.fields {
            let put = if field.dispatch { "qnp_dispatch" } else { "qnp_field" };
            let own = format!("from->{}", safe(&field.name));
            let number = field.number;
            let _ = match field.kind.width() {
                Some(width) => writeln!(text, "  qnp_put_number(message, {put}, {number}, {own}, {width});"),
                None => writeln!(text, "  if ({own}.data) {put}(message, {number}, {own}.data, {own}.bytes);"),
            };
        }
        let _ = writeln!(text, "  return message;\n}}\n");
        let _ = writeln!(
            text,
            "/* Reads the fields, which point into the message; QNP_FAULT if it is of another type or kind. */"
        );
        let _ = writeln!(text, "static inline int {name}_decode(struct {tag} *to, const qnp_message *message) {{");
        let _ = writeln!(text, "  if (qnp_message_type(message) != {of_type}) return QNP_FAULT;\n  (void)to;");
        for field in &message.fields {
            let (own, number) = (format!("to->{}", safe(&field.name)), field.number);
            let _ = match field.kind.width() {
                Some(width) => {
                    writeln!(text, "  if (qnp_get_number(message, {number}, {width}, &{own}) != 0) return QNP_FAULT;")
                }
                None => writeln!(text, "  {own}.data = qnp_get(message, {number}, &{own}.bytes);"),
            };
        }
        let _ = writeln!(text, "  return 0;\n}}");
    }
    text
}
