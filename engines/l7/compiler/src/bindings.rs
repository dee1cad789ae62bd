// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Message types in a programming language: a type for each message of QNP, which becomes a message of the library and
//! is read from one.

use std::collections::HashSet;
use std::fmt::Write;

use crate::program::{Kind, MessageType, Program, Protocol};

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
/// Names that the generated source in Rust uses: a type with such a name would take their place.
const RUST_TYPES: &[&str] =
    &["Error", "Message", "Option", "Result", "String", "Vec", "penstock_qnp", "u16", "u32", "u64", "u8"];
/// Keywords of Python, and names that the generated classes have already or use.
const PYTHON: &[&str] = &[
    "False",
    "None",
    "True",
    "and",
    "as",
    "assert",
    "async",
    "await",
    "break",
    "class",
    "continue",
    "def",
    "del",
    "elif",
    "else",
    "except",
    "finally",
    "for",
    "from",
    "global",
    "if",
    "import",
    "in",
    "is",
    "lambda",
    "nonlocal",
    "not",
    "or",
    "pass",
    "raise",
    "return",
    "try",
    "while",
    "with",
    "yield",
    "TYPE",
    "encode",
    "decode",
    "cls",
    "self",
    "ClassVar",
    "bytes",
    "classmethod",
    "dataclass",
    "int",
    "list",
    "qnp",
    "str",
    "tuple",
];

/// Keywords of C and C++, and macros and types of their headers and of compilers.
#[rustfmt::skip]
const C: &[&str] = &[
    "EOF", "NULL", "alignas", "alignof", "and", "and_eq", "asm", "auto", "bitand", "bitor", "bool", "break", "case",
    "catch", "char", "char16_t", "char32_t", "char8_t", "class", "co_await", "co_return", "co_yield", "compl",
    "concept", "const", "const_cast", "consteval", "constexpr", "constinit", "continue", "decltype", "default",
    "delete", "do", "double", "dynamic_cast", "else", "enum", "errno", "explicit", "export", "extern", "false",
    "float", "for", "friend", "goto", "i386", "if", "inline", "int", "linux", "long", "max_align_t", "mutable",
    "namespace", "new", "noexcept", "not", "not_eq", "nullptr", "nullptr_t", "offsetof", "operator", "or", "or_eq",
    "private", "protected", "ptrdiff_t", "public", "register", "reinterpret_cast", "requires", "restrict", "return",
    "short", "signed", "size_t", "sizeof", "static", "static_assert", "static_cast", "stderr", "stdin", "stdout",
    "struct", "switch", "template", "this", "thread_local", "throw", "true", "try", "typedef", "typeid", "typename",
    "typeof", "typeof_unqual", "union", "unix", "unsigned", "using", "virtual", "void", "volatile", "wchar_t",
    "while", "xor", "xor_eq",
];

/// Whether C or C++ may have another meaning for this name, beside the words of [`C`].
fn is_taken_in_c(name: &str) -> bool {
    let limits = ["INT", "UINT", "PTRDIFF_", "SIG_ATOMIC_", "SIZE_", "WCHAR_", "WINT_"];
    let ends = ["_MAX", "_MIN", "_WIDTH", "_C"];
    // Those of the implementation, and of the library's header.
    let reserved =
        name.starts_with("__") || name.starts_with('_') && name[1..].starts_with(|one: char| one.is_uppercase());
    let ours = ["qnp_", "QNP_", "PENSTOCK_"].iter().any(|begin| name.starts_with(begin));
    let limit = limits.iter().any(|begin| name.starts_with(begin)) && ends.iter().any(|end| name.ends_with(end));
    let integer = (name.starts_with("int") || name.starts_with("uint")) && name.ends_with("_t");
    C.contains(&name) || reserved || ours || limit || integer
}

/// Whether a constant of an application may have this name.
fn is_constant(name: &str) -> bool {
    name.starts_with("APPLICATION_") || name.starts_with("PORT_")
}

/// The names in a language, in their order. Those that the language takes as they are keep their names. If another one
/// becomes equal to one of them, it gets a `_` more.
fn names<'a>(own: impl IntoIterator<Item = &'a str>, safe: impl Fn(&str) -> String) -> Vec<String> {
    let own: Vec<(&str, String)> = own.into_iter().map(|name| (name, safe(name))).collect();
    let mut taken: HashSet<String> =
        own.iter().filter(|(name, safe)| name == safe).map(|(name, _)| (*name).to_owned()).collect();
    let other = |(name, mut safe): (&str, String)| {
        if name != safe {
            while !taken.insert(safe.clone()) {
                safe.push('_');
            }
        }
        safe
    };
    own.into_iter().map(other).collect()
}

fn field_names(message: &MessageType, safe: impl Fn(&str) -> String) -> Vec<String> {
    names(message.fields.iter().map(|field| field.name.as_str()), safe)
}

/// Each message with its name in the language.
fn named<'a>(
    messages: &[&'a MessageType],
    safe: impl Fn(&str) -> String,
) -> impl Iterator<Item = (&'a MessageType, String)> {
    let names = names(messages.iter().map(|message| message.name.as_str()), safe);
    messages.iter().copied().zip(names)
}

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
    let names = names(own.clone().map(|application| application.name.as_str()), str::to_uppercase);
    own.zip(names).map(|(application, name)| (name, application.number, application.port))
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
    let of_type = |name: &str| if RUST_TYPES.contains(&name) { format!("{name}_") } else { safe(name) };
    for (message, name) in named(messages, of_type) {
        let fields = || message.fields.iter().zip(field_names(message, safe));
        let _ = writeln!(text, "\n/// Messages of type {}.\n#[allow(non_camel_case_types)]", message.number);
        let _ = writeln!(text, "#[derive(Debug, Clone, PartialEq, Eq, Default)]\npub struct {name} {{");
        for (field, own) in fields() {
            let kind = match field.kind {
                Kind::String => "String",
                Kind::Uint32 => "u32",
                Kind::Uint64 => "u64",
                Kind::Bytes | Kind::Name | Kind::Uint8 | Kind::Uint16 => "Vec<u8>",
            };
            let what = if field.dispatch { ", by which cards dispatch" } else { "" };
            let _ = writeln!(text, "    /// Field {}{what}.\n    pub {}: Option<{kind}>,", field.number, own);
        }
        let _ = writeln!(
            text,
            "}}\n\nimpl {name} {{\n    /// Number of this type.\n    pub const TYPE: u8 = {};",
            message.number
        );
        let _ = writeln!(text, "\n    /// The message, for this application.\n    #[must_use]");
        let _ = writeln!(text, "    pub fn encode(self, application: u8) -> Message {{");
        let _ = writeln!(text, "        let mut message = Message::new(application, Self::TYPE);");
        for (field, own) in fields() {
            let put = if field.dispatch { "dispatch" } else { "field" };
            let value = if field.kind.width().is_some() { "value.to_be_bytes()" } else { "value" };
            let _ = writeln!(text, "        if let Some(value) = self.{} {{", own);
            let _ = writeln!(text, "            message = message.{put}({}, {value});\n        }}", field.number);
        }
        let _ = writeln!(
            text,
            "        message\n    }}\n\n    /// Reads the fields of a message.\n    ///\n    /// # Errors"
        );
        let _ = writeln!(text, "    /// The message is of another type, or a field is no value of its kind.");
        let _ = writeln!(text, "    pub fn decode(message: &Message) -> Result<Self, Error> {{");
        let _ = writeln!(text, "        message.expect_type(Self::TYPE)?;\n        Ok(Self {{");
        for (field, own) in fields() {
            let read = match field.kind {
                Kind::String => format!("message.text({})?", field.number),
                Kind::Uint32 => format!("message.uint32({})?", field.number),
                Kind::Uint64 => format!("message.uint64({})?", field.number),
                Kind::Bytes | Kind::Name | Kind::Uint8 | Kind::Uint16 => {
                    format!("message.get({}).map(<[u8]>::to_vec)", field.number)
                }
            };
            let _ = writeln!(text, "            {}: {read},", own);
        }
        let _ = writeln!(text, "        }})\n    }}\n}}");
    }
    text
}

/// Whether a name has a meaning of its own in Python, such as `__init__`.
fn is_special(name: &str) -> bool {
    name.starts_with("__") && name.ends_with("__")
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
    let safe =
        |name: &str| if PYTHON.contains(&name) || is_special(name) { format!("{name}_") } else { name.to_owned() };
    // A class beside the constants of the applications
    let of_type = |name: &str| match name {
        name if is_constant(name) => format!("own_{name}"),
        name => safe(name),
    };
    for (message, name) in named(messages, of_type) {
        let fields = || message.fields.iter().zip(field_names(message, safe));
        let _ = writeln!(text, "\n\n@dataclass\nclass {name}:\n    \"\"\"Messages of type {}.\"\"\"\n", message.number);
        let _ = writeln!(text, "    TYPE: ClassVar[int] = {}", message.number);
        for (field, own) in fields() {
            let kind = match field.kind {
                Kind::String => "str",
                Kind::Uint32 | Kind::Uint64 => "int",
                Kind::Bytes | Kind::Name | Kind::Uint8 | Kind::Uint16 => "bytes",
            };
            let dispatch = if field.dispatch { ", by which cards dispatch" } else { "" };
            let _ = writeln!(text, "    # Field {}{dispatch}\n    {}: {kind} | None = None", field.number, own);
        }
        let _ = writeln!(text, "\n    def encode(self, application: int) -> qnp.Message:");
        let _ = writeln!(text, "        \"\"\"The message, for this application.\"\"\"");
        for (list, dispatch) in [("dispatch", true), ("fields", false)] {
            let _ = writeln!(text, "        {list}: list[tuple[int, bytes]] = []");
            for (field, own) in fields().filter(|(field, _)| field.dispatch == dispatch) {
                let own = format!("self.{own}");
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
    let safe = |name: &str| match name {
        name if is_constant(name) => format!("own_{name}"),
        name if is_taken_in_c(name) => format!("{name}_"),
        name => name.to_owned(),
    };
    for (message, tag) in named(messages, safe) {
        let (name, of_type) = (&message.name, message.number);
        let fields = || message.fields.iter().zip(field_names(message, safe));
        let _ = writeln!(text, "\n/* Messages of type {of_type} */\nstruct {tag} {{");
        for (field, own) in fields() {
            let kind = if field.kind.width().is_some() { "qnp_number" } else { "qnp_bytes" };
            let what = if field.dispatch { ", by which cards dispatch" } else { "" };
            let _ = writeln!(text, "  {kind} {}; /* field {}, {}{what} */", own, field.number, field.kind.name());
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
        for (field, own) in fields() {
            let put = if field.dispatch { "qnp_dispatch" } else { "qnp_field" };
            let own = format!("from->{own}");
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
        for (field, own) in fields() {
            let (own, number) = (format!("to->{own}"), field.number);
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
