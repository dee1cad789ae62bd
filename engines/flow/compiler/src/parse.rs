// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Parses a source; engines/flow/language.md has the grammar. The parser stops at the first fault.

use std::collections::HashMap;

use crate::fault::{Fault, Span, nearest};
use crate::lex::{Number, Token, tokens};
use crate::syntax::{
    Action, Compare, Element, Evict, Expression, File, Key, Name, Operand, Register, Row, Table, Tag, Test, Timeout,
    Timeouts, What,
};

/// Words that begin actions. `port` is also a field.
const ACTIONS: [&str; 12] =
    ["goto", "keep", "forget", "notify", "push", "pop", "swap", "pass", "next", "opposite", "host", "drop"];
/// Other words that a program cannot use as names.
const WORDS: [&str; 24] = [
    "const", "element", "key", "biflow", "states", "flow", "global", "table", "evict", "lowest", "highest", "in",
    "else", "new", "full", "before", "not", "min", "max", "ewma", "ror", "for", "idle", "then",
];
const COMPARES: [(&str, Compare); 9] = [
    ("==", Compare::Equal),
    ("!=", Compare::NotEqual),
    ("<", Compare::Less),
    ("<=", Compare::LessEqual),
    (">", Compare::Greater),
    (">=", Compare::GreaterEqual),
    ("<s", Compare::SignedLess),
    (">=s", Compare::SignedGreaterEqual),
    ("before", Compare::Before),
];
const OPERATIONS: [&str; 9] = ["+", "-", "&", "|", "^", "<<", ">>", "*", "ror"];

/// Parses a source.
pub(crate) fn parse(text: &str) -> Result<File, Fault> {
    let mut parser = Parser { tokens: tokens(text)?, at: 0, constants: HashMap::new() };
    let mut file = File::default();
    loop {
        if parser.word("const") {
            let name = parser.new_name("a constant")?;
            parser.expect("=")?;
            let (value, _) = parser.number("the constant's number")?;
            parser.constants.insert(name.text.clone(), value);
            file.constants.push(name);
        } else if parser.word("element") {
            file.elements.push(parser.element()?);
        } else if parser.token() == &Token::End {
            return Ok(file);
        } else {
            return Err(parser.unexpected("`element NAME {` or `const NAME = number`"));
        }
    }
}

struct Parser {
    tokens: Vec<(Token, Span)>,
    at: usize,
    constants: HashMap<String, Number>,
}

impl Parser {
    fn token(&self) -> &Token {
        &self.tokens[self.at].0
    }

    fn span(&self) -> Span {
        self.tokens[self.at].1
    }

    /// The place from a token to the one read last, or to the end of the line in which it begins.
    fn since(&self, start: Span) -> Span {
        let read = self.tokens[..self.at].iter().rev().map(|(_, span)| span);
        let end = read.take_while(|span| span.line >= start.line).find(|span| span.line == start.line);
        let length = end.map_or(start.length, |end| end.column + end.length - start.column);
        Span { length, ..start }
    }

    /// Goes to the next token; the end stays the end.
    fn next(&mut self) {
        self.at = (self.at + 1).min(self.tokens.len() - 1);
    }

    fn is_sign(&self, sign: &str) -> bool {
        matches!(self.token(), Token::Sign(found) if *found == sign)
    }

    fn sign(&mut self, sign: &str) -> bool {
        let found = self.is_sign(sign);
        if found {
            self.next();
        }
        found
    }

    fn is_word(&self, word: &str) -> bool {
        matches!(self.token(), Token::Word(found) if found == word)
    }

    fn word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        if found {
            self.next();
        }
        found
    }

    fn unexpected(&self, wanted: &str) -> Fault {
        let found = match self.token() {
            Token::Word(word) => format!("not `{word}`"),
            Token::Number(_) => "not a number".to_owned(),
            Token::Sign(sign) => format!("not `{sign}`"),
            Token::End => "and the file ends".to_owned(),
        };
        Fault::new(self.span(), format!("expected {wanted}, {found}"))
    }

    fn expect(&mut self, sign: &'static str) -> Result<(), Fault> {
        if self.sign(sign) { Ok(()) } else { Err(self.unexpected(&format!("`{sign}`"))) }
    }

    fn name(&mut self, what: &str) -> Result<Name, Fault> {
        let span = self.span();
        match self.token() {
            Token::Word(text) => {
                let text = text.clone();
                self.next();
                Ok(Name { text, span })
            }
            _ => Err(self.unexpected(what)),
        }
    }

    /// A name that the program chooses.
    fn new_name(&mut self, what: &str) -> Result<Name, Fault> {
        let name = self.name(&format!("the name of {what}"))?;
        if name.text.contains('.') {
            return Err(Fault::new(name.span, "only fields have names with dots; choose a name without dots"));
        }
        if WORDS.iter().chain(&ACTIONS).any(|word| *word == name.text) {
            let message = format!("`{}` is a word of the language; choose another name", name.text);
            return Err(Fault::new(name.span, message));
        }
        if self.constants.contains_key(&name.text) {
            let message = format!("`{}` is a constant of this file; choose another name", name.text);
            return Err(Fault::new(name.span, message));
        }
        Ok(name)
    }

    fn number(&mut self, what: &str) -> Result<(Number, Span), Fault> {
        let span = self.span();
        let number = match self.token() {
            Token::Number(number) => *number,
            Token::Word(word) => match self.constants.get(word) {
                Some(number) => *number,
                None => return Err(self.unexpected(what)),
            },
            _ => return Err(self.unexpected(what)),
        };
        self.next();
        Ok((number, span))
    }

    fn list<T>(&mut self, mut item: impl FnMut(&mut Self) -> Result<T, Fault>) -> Result<Vec<T>, Fault> {
        let mut items = vec![item(self)?];
        while self.sign(",") {
            items.push(item(self)?);
        }
        Ok(items)
    }

    fn element(&mut self) -> Result<Element, Fault> {
        let name = self.new_name("the element")?;
        let mut element =
            Element { name, key: None, states: vec![], flow: vec![], global: vec![], table: None, rows: vec![] };
        self.expect("{")?;
        while !self.sign("}") {
            let span = self.span();
            let again = |there: bool, what: &str| {
                let message = format!("the element already has its {what}; write one list");
                if there { Err(Fault::new(span, message)) } else { Ok(()) }
            };
            if self.word("key") {
                again(element.key.is_some(), "key")?;
                element.key = Some(self.key(span)?);
            } else if self.word("states") {
                again(!element.states.is_empty(), "states")?;
                element.states = self.list(|parser| parser.new_name("a state"))?;
            } else if self.word("flow") {
                again(!element.flow.is_empty(), "flow registers")?;
                element.flow = self.list(Self::register)?;
            } else if self.word("global") {
                again(!element.global.is_empty(), "global registers")?;
                element.global = self.list(Self::register)?;
            } else if self.word("table") {
                again(element.table.is_some(), "table")?;
                element.table = Some(self.table()?);
            } else if self.word("in") {
                let states = self.list(|parser| parser.name("a state"))?;
                self.expect("{")?;
                while !self.sign("}") {
                    let row = self.row(states.clone())?;
                    element.rows.push(row);
                }
            } else if self.token() == &Token::End {
                return Err(self.unexpected("a row, or `}` to close the element"));
            } else {
                let row = self.row(vec![])?;
                element.rows.push(row);
            }
        }
        Ok(element)
    }

    fn key(&mut self, span: Span) -> Result<Key, Fault> {
        let biflow = self.word("biflow");
        if biflow {
            self.expect("(")?;
        }
        let fields = self.list(|parser| parser.name("a field of the key"))?;
        if biflow {
            self.expect(")")?;
        }
        Ok(Key { span: self.since(span), fields, biflow })
    }

    fn register(&mut self) -> Result<Register, Fault> {
        let name = self.new_name("a register")?;
        let initial = if self.sign("=") { Some(self.number("the register's first value")?) } else { None };
        Ok(Register { name, initial })
    }

    fn table(&mut self) -> Result<Table, Fault> {
        let places = self.number("the number of contexts that the table holds")?;
        let mut evict = None;
        if self.word("evict") {
            let span = self.span();
            let which = if self.word("lowest") {
                Evict::Lowest
            } else if self.word("highest") {
                Evict::Highest
            } else {
                return Err(self.unexpected("`lowest` or `highest`"));
            };
            evict = Some((which, span));
        }
        Ok(Table { places, evict })
    }

    fn row(&mut self, states: Vec<Name>) -> Result<Row, Fault> {
        let span = self.span();
        if let Token::Word(word) = self.token()
            && ACTIONS.contains(&word.as_str())
        {
            let message = format!(
                "`{word}` is an action; write the row's tests and `=>` before it, or `,` between it and the action \
                 above"
            );
            return Err(Fault::new(span, message));
        }
        let tests = if self.word("else") { vec![] } else { self.tests()? };
        self.expect("=>")?;
        let actions = self.list(Self::action)?;
        self.sign(";");
        Ok(Row { span: self.since(span), states, tests, actions })
    }

    fn tests(&mut self) -> Result<Vec<Test>, Fault> {
        let mut tests = vec![self.test()?];
        while self.sign("&&") {
            tests.push(self.test()?);
        }
        if self.is_sign("|") {
            let message =
                "all tests of a row must hold, and there is no `or`; write a row for each case, with the same actions";
            return Err(Fault::new(self.span(), message));
        }
        Ok(tests)
    }

    fn test(&mut self) -> Result<Test, Fault> {
        let start = self.span();
        let negated = self.sign("!");
        let left = self.operand(true)?;
        if let Operand::Name(name) = &left {
            if self.word("in") {
                let value = self.number("the prefix, as in `10.0.0.0/8`")?;
                self.expect("/")?;
                let length = self.number("the length of the prefix in bits")?;
                return Ok(Test::Prefix { field: name.clone(), value, length, negated });
            }
            if self.is_sign("=") {
                return Err(Fault::new(self.span(), "`=` sets a value after `=>`; write `==` to compare"));
            }
            let compares = COMPARES.iter().any(|(sign, _)| self.is_sign(sign) || self.is_word(sign));
            if !compares {
                return Ok(Test::Word { name: name.clone(), negated });
            }
        }
        let Some((sign, compare)) = COMPARES.into_iter().find(|(sign, _)| self.sign(sign) || self.word(sign)) else {
            return Err(self.unexpected("a comparison"));
        };
        let right = self.operand(true)?;
        let span = self.since(start);
        let compare = match (negated, compare) {
            (false, compare) => compare,
            (true, Compare::Before) => Compare::NotBefore,
            (true, _) => {
                let message =
                    format!("`!` is possible before names, `in` and `before`; write the opposite of `{sign}`");
                return Err(Fault::new(start, message));
            }
        };
        Ok(Test::Compare { left, compare, right, span })
    }

    /// An operand, which may have a mask if `masked`.
    fn operand(&mut self, masked: bool) -> Result<Operand, Fault> {
        let start = self.span();
        match self.token() {
            Token::Word(word) if !self.constants.contains_key(word) => {
                let name = self.name("an operand")?;
                if masked && self.sign("&") {
                    let (mask, _) = self.number("the mask, a number")?;
                    return Ok(Operand::Masked(name, mask, self.since(start)));
                }
                Ok(Operand::Name(name))
            }
            Token::Sign("(") => {
                let message = "there are no parentheses: an expression is one operation; let an earlier element \
                               compute the inner one into \
                     `meta0`, or write a row for each alternative test";
                Err(Fault::new(start, message))
            }
            _ => self.number("a field, a register or a number").map(|(number, span)| Operand::Number(number, span)),
        }
    }

    fn action(&mut self) -> Result<Action, Fault> {
        let start = self.span();
        let name = self.name("an action")?;
        let what = match name.text.as_str() {
            _ if self.sign("=") => What::Set(name, self.expression()?),
            "goto" => What::Goto(self.name("the next state")?, self.timeouts()?),
            "keep" => What::Keep(self.timeouts()?),
            "forget" => What::Forget,
            "notify" => What::Notify,
            "push" => What::Push(self.tag()?, self.operand(false)?),
            "pop" => What::Pop(self.tag()?),
            "swap" => What::Swap(self.name("the pair to swap: `eth`, `ip`, `ip6` or `l4`")?),
            "pass" => What::Pass,
            "next" => What::Next(self.name("the element that comes next")?),
            "port" => What::Port(self.operand(false)?),
            "opposite" => What::Opposite,
            "host" => What::Host,
            "drop" => What::Drop,
            _ => {
                let near = nearest(&name.text, ACTIONS.into_iter().chain(["port"]));
                let near = near.map_or(String::new(), |near| format!("; the nearest is `{near}`"));
                let message = format!(
                    "`{}` is no action{near}; registers and fields are set with `{} = …`, and `,` separates actions \
                     only",
                    name.text, name.text
                );
                return Err(Fault::new(name.span, message));
            }
        };
        Ok(Action { span: self.since(start), what })
    }

    fn tag(&mut self) -> Result<Tag, Fault> {
        if self.word("vlan") {
            Ok(Tag::Vlan)
        } else if self.word("mpls") {
            Ok(Tag::Mpls)
        } else {
            Err(self.unexpected("`vlan` or `mpls`"))
        }
    }

    fn timeouts(&mut self) -> Result<Timeouts, Fault> {
        let mut timeouts = Timeouts::default();
        loop {
            let span = self.span();
            let place = if self.word("for") {
                &mut timeouts.hard
            } else if self.word("idle") {
                &mut timeouts.idle
            } else if self.is_word("then") {
                let message =
                    "`then` follows a time, as in `for 5 s then A`; without a time, `goto` names the next state";
                return Err(Fault::new(span, message));
            } else {
                return Ok(timeouts);
            };
            if place.is_some() {
                return Err(Fault::new(span, "a row has one timeout of each kind; take one out"));
            }
            let (number, start) = self.number("a time, as in `20 s`")?;
            let units = [("us", 1), ("ms", 1_000), ("s", 1_000_000)];
            let Some((_, scale)) = units.into_iter().find(|(unit, _)| self.word(unit)) else {
                return Err(self.unexpected("the unit of the time: `us`, `ms` or `s`"));
            };
            let span = self.since(start);
            let then = if self.word("then") { Some(self.name("the state that follows")?) } else { None };
            *place = Some(Timeout { micros: number.value.saturating_mul(scale), span, then });
        }
    }

    fn expression(&mut self) -> Result<Expression, Fault> {
        let start = self.span();
        if self.word("not") {
            let a = self.operand(false)?;
            let span = self.since(start);
            return Ok(Expression::Operation { name: "not".to_owned(), a, b: None, shift: None, span });
        }
        for name in ["min", "max", "ewma"] {
            if self.word(name) {
                self.expect("(")?;
                let a = self.operand(false)?;
                self.expect(",")?;
                let b = Some(self.operand(false)?);
                let mut shift = None;
                if name == "ewma" {
                    self.expect(",")?;
                    shift = Some(self.number("the shift of the difference, a number")?);
                }
                self.expect(")")?;
                let span = self.since(start);
                return Ok(Expression::Operation { name: name.to_owned(), a, b, shift, span });
            }
        }
        let a = self.operand(false)?;
        let Some(name) = self.operation() else { return Ok(Expression::Operand(a)) };
        let b = Some(self.operand(false)?);
        let span = self.since(start);
        let second = self.span();
        if let Some(name) = self.operation() {
            let message = format!(
                "an expression is one operation, and `{name}` is a second; combine numbers, or let an earlier element \
                 compute \
                 the first into `meta0`"
            );
            return Err(Fault::new(second, message));
        }
        Ok(Expression::Operation { name: name.to_owned(), a, b, shift: None, span })
    }

    fn operation(&mut self) -> Option<&'static str> {
        OPERATIONS.into_iter().find(|name| self.sign(name) || self.word(name))
    }
}
