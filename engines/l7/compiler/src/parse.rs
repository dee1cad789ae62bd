// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The grammar: message types as in protobuf, and rules.

use crate::fault::{Fault, Span, word};
use crate::lex::{Token, tokens};
use crate::syntax::{Action, Application, At, Condition, Field, Message, On, Piece, Rule, Source};

/// Reads a source.
///
/// # Errors
/// The first place at which the source cannot be parsed.
pub(crate) fn parse(text: &str) -> Result<Source, Fault> {
    let mut parser = Parser { tokens: tokens(text)?, at: 0 };
    let mut source = Source::default();
    while parser.peek() != &Token::End {
        if parser.eat_word("message") {
            source.messages.push(parser.message()?);
        } else if parser.eat_word("application") {
            source.applications.push(parser.application()?);
        } else if parser.eat_word("syntax") {
            parser.sign("=")?;
            parser.text("\"proto3\"")?;
            parser.sign(";")?;
        } else if parser.eat_word("package") {
            parser.name("the package's name")?;
            parser.sign(";")?;
        } else {
            return Err(parser.unexpected("`message NAME { ... }` or `application NAME = NUMBER { ... }`"));
        }
    }
    Ok(source)
}

struct Parser {
    tokens: Vec<(Token, Span)>,
    at: usize,
}

impl Parser {
    fn peek(&self) -> &Token {
        &self.tokens[self.at].0
    }

    fn span(&self) -> Span {
        self.tokens[self.at].1
    }

    fn take(&mut self) -> (Token, Span) {
        let token = self.tokens[self.at].clone();
        // The end of the source is never passed.
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        token
    }

    fn unexpected(&self, wanted: &str) -> Fault {
        let found = match self.peek() {
            Token::Word(word) => format!("`{word}`"),
            Token::Number(number) => format!("{number}"),
            Token::Text(text) => format!("{:?}", word(&String::from_utf8_lossy(text))),
            Token::Sign(sign) => format!("`{sign}`"),
            Token::End => "the end of the file".to_owned(),
        };
        Fault::new(self.span(), format!("expected {wanted}, found {found}"))
    }

    fn eat_word(&mut self, word: &str) -> bool {
        let there = matches!(self.peek(), Token::Word(found) if found == word);
        if there {
            self.take();
        }
        there
    }

    fn eat_sign(&mut self, sign: &str) -> bool {
        let there = matches!(self.peek(), Token::Sign(found) if *found == sign);
        if there {
            self.take();
        }
        there
    }

    fn sign(&mut self, sign: &str) -> Result<(), Fault> {
        if self.eat_sign(sign) { Ok(()) } else { Err(self.unexpected(&format!("`{sign}`"))) }
    }

    fn word(&mut self, word: &str) -> Result<(), Fault> {
        if self.eat_word(word) { Ok(()) } else { Err(self.unexpected(&format!("`{word}`"))) }
    }

    fn name(&mut self, what: &str) -> Result<At<String>, Fault> {
        match self.peek() {
            Token::Word(_) => match self.take() {
                (Token::Word(value), span) => Ok(At { value, span }),
                _ => Err(self.unexpected(what)),
            },
            _ => Err(self.unexpected(what)),
        }
    }

    fn number(&mut self, what: &str) -> Result<At<u64>, Fault> {
        match *self.peek() {
            Token::Number(value) => Ok(At { value, span: self.take().1 }),
            _ => Err(self.unexpected(what)),
        }
    }

    fn text(&mut self, what: &str) -> Result<At<Vec<u8>>, Fault> {
        match self.peek() {
            Token::Text(value) => {
                let value = value.clone();
                Ok(At { value, span: self.take().1 })
            }
            _ => Err(self.unexpected(what)),
        }
    }

    fn message(&mut self) -> Result<Message, Fault> {
        let name = self.name("the message's name")?;
        self.sign("{")?;
        let mut message = Message { name, number: None, fields: Vec::new() };
        while !self.eat_sign("}") {
            let begin = self.span();
            if self.eat_word("option") {
                self.sign("(")?;
                self.word("type")?;
                self.sign(")")?;
                self.sign("=")?;
                let number = self.number("the number of the message type")?;
                self.sign(";")?;
                if message.number.replace(number).is_some() {
                    return Err(Fault::new(begin, "a message has one type: leave the second out"));
                }
            } else {
                message.fields.push(self.field()?);
            }
        }
        Ok(message)
    }

    fn field(&mut self) -> Result<Field, Fault> {
        let kind = self.name("a field, for example `string name = 1;`, or `option (type) = NUMBER;`")?;
        let later = ["message", "enum", "oneof", "map", "repeated", "optional", "reserved"];
        if later.contains(&kind.value.as_str()) {
            let message = format!(
                "`{}` is not supported yet: a message has fields of the types string, bytes, uint32 and uint64",
                kind.value
            );
            return Err(Fault::new(kind.span, message));
        }
        let name = self.name("the field's name")?;
        self.sign("=")?;
        let number = self.number("the field's number")?;
        let mut dispatch = false;
        if self.eat_sign("[") {
            self.sign("(")?;
            self.word("dispatch")?;
            self.sign(")")?;
            self.sign("=")?;
            dispatch = self.eat_word("true");
            if !dispatch {
                self.word("false")?;
            }
            self.sign("]")?;
        }
        self.sign(";")?;
        Ok(Field { kind, name, number, dispatch })
    }

    fn application(&mut self) -> Result<Application, Fault> {
        let name = self.name("the application's name")?;
        self.sign("=")?;
        let number = self.number("the application's number, which messages carry")?;
        self.sign("{")?;
        let mut application = Application {
            name,
            number,
            port: None,
            protocol: None,
            id_bytes: None,
            tenant: None,
            types: Vec::new(),
            others: None,
        };
        while !self.eat_sign("}") {
            let begin = self.span();
            if self.eat_word("udp") {
                self.word("port")?;
                let port = self.number("a UDP port")?;
                self.sign(";")?;
                if application.port.replace(port).is_some() {
                    return Err(Fault::new(begin, "an application has one UDP port so far: leave the second out"));
                }
            } else if self.eat_word("protocol") {
                let protocol = self.name("a protocol: `dns`, `memcached`, `coap`, `radius` or `quic`")?;
                if self.eat_word("id") {
                    application.id_bytes = Some(self.number("the number of bytes of a connection ID")?);
                }
                self.sign(";")?;
                if application.protocol.replace(protocol).is_some() {
                    return Err(Fault::new(begin, "an application has one protocol: leave the second out"));
                }
            } else if self.eat_word("tenant") {
                let tenant = self.number("the number of a tenant")?;
                self.sign(";")?;
                if application.tenant.replace(tenant).is_some() {
                    return Err(Fault::new(begin, "an application has one tenant: leave the second out"));
                }
            } else if self.eat_word("on") {
                application.types.push(self.on()?);
            } else if self.eat_word("default") {
                self.default(&mut application.others, begin)?;
            } else {
                return Err(self.unexpected(
                    "`udp port NUMBER;`, `protocol NAME;`, `tenant NUMBER;`, `on MESSAGE { ... }` or `default => ACTION;`",
                ));
            }
        }
        Ok(application)
    }

    fn on(&mut self) -> Result<On, Fault> {
        let message = self.name("the name of a message type")?;
        let longest =
            if self.eat_word("longest") { Some(self.name("the field whose longest pattern wins")?) } else { None };
        self.sign("{")?;
        let mut on = On { message, longest, rules: Vec::new(), default: None };
        while !self.eat_sign("}") {
            let begin = self.span();
            if self.eat_word("rule") {
                on.rules.push(self.rule()?);
            } else if self.eat_word("default") {
                self.default(&mut on.default, begin)?;
            } else {
                return Err(self.unexpected("`rule NAME { ... } => ACTION;` or `default => ACTION;`"));
            }
        }
        Ok(on)
    }

    fn default(&mut self, place: &mut Option<At<Action>>, begin: Span) -> Result<(), Fault> {
        self.sign("=>")?;
        let action = self.action()?;
        self.sign(";")?;
        match place.replace(action) {
            Some(_) => Err(Fault::new(begin, "there is a default already: leave this one out")),
            None => Ok(()),
        }
    }

    fn rule(&mut self) -> Result<Rule, Fault> {
        let name = self.name("the rule's name")?;
        let priority = if self.eat_word("priority") { self.number("a priority; the highest wins")?.value } else { 0 };
        self.sign("{")?;
        let mut conditions = Vec::new();
        while !self.eat_sign("}") {
            let field = self.name("`FIELD = PATTERN;` or `}`")?;
            self.sign("=")?;
            let mut alternatives = vec![self.pattern()?];
            while self.eat_sign("|") {
                alternatives.push(self.pattern()?);
            }
            self.sign(";")?;
            conditions.push(Condition { field, alternatives });
        }
        self.sign("=>")?;
        let action = self.action()?;
        self.sign(";")?;
        Ok(Rule { name, priority, conditions, action })
    }

    fn pattern(&mut self) -> Result<Vec<At<Piece>>, Fault> {
        let mut pieces = Vec::new();
        loop {
            let span = self.span();
            let value = if let Token::Text(text) = self.peek() {
                let text = text.clone();
                self.take();
                Piece::Text(text)
            } else if let Token::Number(low) = *self.peek() {
                self.take();
                let high = if self.eat_sign("..=") { self.number("the last number of the range")?.value } else { low };
                Piece::Range(low, high)
            } else if self.eat_word("skip") {
                Piece::Skip(self.number("how many bytes are skipped")?.value)
            } else if self.eat_word("until") {
                Piece::Until(self.text("the delimiters, for example `until \"/\"`")?.value)
            } else if self.eat_word("zone") {
                Piece::Zone(self.text("a domain name, for example `zone \"example.com\"`")?.value)
            } else if self.eat_sign("..") {
                Piece::Rest
            } else if pieces.is_empty() {
                return Err(self.unexpected(
                    "a pattern: \"text\", `skip N`, `until \"set\"`, `..`, or a number or range of numbers",
                ));
            } else {
                return Ok(pieces);
            };
            pieces.push(At { value, span });
        }
    }

    fn action(&mut self) -> Result<At<Action>, Fault> {
        let begin = self.span();
        let value = if self.eat_word("queue") {
            Action::Queue(self.number("the number of a host queue")?)
        } else if self.eat_word("queues") {
            let low = self.number("the number of the first host queue")?;
            self.sign("..=")?;
            let high = self.number("the number of the last host queue")?;
            if self.eat_word("in") {
                self.word("turn")?;
                Action::QueuesInTurn(low, high)
            } else {
                self.word("by")?;
                Action::QueuesBy(low, high, self.name("a dispatch field whose hash chooses the queue")?)
            }
        } else if self.eat_word("unit") {
            Action::Unit(self.number("the number of a unit")?)
        } else if self.eat_word("units") {
            self.word("by")?;
            Action::UnitsBy(self.name("a dispatch field whose hash chooses the unit")?)
        } else if self.eat_word("port") {
            Action::Port(self.number("the number of an Ethernet port")?)
        } else if self.eat_word("drop") {
            Action::Drop
        } else {
            return Err(self.unexpected(
                "an action: `queue N`, `queues N ..= M by FIELD`, `queues N ..= M in turn`, `unit N`, `units by FIELD`, \
                 `port N` or `drop`",
            ));
        };
        Ok(At { value, span: begin })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_source_is_read() {
        let text = r#"
            syntax = "proto3";
            message Review { option (type) = 1; string student = 1 [(dispatch) = true]; bytes text = 2; }
            application reviews = 7 {
                udp port 7000;
                on Review {
                    rule a priority 2 { student = "/" until "/" "2024" .. | skip 3; } => units by student;
                    default => queue 1;
                }
            }"#;
        let source = parse(text).unwrap();
        let message = &source.messages[0];
        assert_eq!((message.number.as_ref().unwrap().value, message.fields.len()), (1, 2));
        assert_eq!((message.fields[0].dispatch, message.fields[1].dispatch), (true, false));
        let on = &source.applications[0].types[0];
        let rule = &on.rules[0];
        assert_eq!((rule.priority, rule.conditions[0].alternatives.len()), (2, 2));
        let pieces: Vec<_> = rule.conditions[0].alternatives[0].iter().map(|piece| piece.value.clone()).collect();
        let text = |text: &str| text.as_bytes().to_vec();
        assert_eq!(pieces, [Piece::Text(text("/")), Piece::Until(text("/")), Piece::Text(text("2024")), Piece::Rest]);
        assert!(matches!(&on.default.as_ref().unwrap().value, Action::Queue(At { value: 1, .. })));
    }

    #[test]
    fn faults_say_what_was_expected() {
        for (text, column, words) in [
            (
                "massage A {}",
                1,
                "expected `message NAME { ... }` or `application NAME = NUMBER { ... }`, found `massage`",
            ),
            ("message A { repeated string a = 1; }", 13, "`repeated` is not supported yet"),
            ("message A { string a = 1 }", 26, "expected `;`, found `}`"),
            ("application a = 1 { on A { rule r { f = ; } => drop; } }", 41, "expected a pattern: "),
            ("application a = 1 { on A { default => host 3; } }", 39, "expected an action: `queue N`"),
            ("application a = 1 { on A {", 27, "found the end of the file"),
            ("application a = 1 { udp port 1; udp port 2; }", 33, "one UDP port"),
            ("application a = 1 { protocol dns; protocol dns; }", 35, "one protocol"),
            ("application a = 1 { tenant 1; tenant 1; }", 31, "one tenant"),
            ("message M { option (type) = 1; option (type) = 1; }", 32, "one type"),
        ] {
            let fault = parse(text).unwrap_err();
            assert!(fault.message.contains(words) && fault.span.column == column, "{text}: {fault:?}");
        }
    }
}
