// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The preprocessor: `#include`, `#define` with and without parameters, `#if` and its kin.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::condition;
use crate::fault::{Check, Fault};
use crate::source::{Sources, Span};
use crate::token::{self, Kind, Token};

/// Bytes of the longest file that is included.
const LONGEST: u64 = 64 << 20;
/// Our own files of the standard library, which `#include <…>` finds.
const LIBRARY: [(&str, &str); 2] =
    [("core.p4", include_str!("../include/core.p4")), ("v1model.p4", include_str!("../include/v1model.p4"))];
/// Includes in includes: more are a circle.
const DEPTH: usize = 32;
/// Files in all: includes that double on each level are no circle, but never end.
const FILES: usize = 1_000;
/// Macros in macros and in their arguments.
const MACROS: usize = 100;
/// Tokens that macros may make in all, for the same reason as files.
const MADE: usize = 200_000;

/// A macro.
#[derive(Debug, Clone)]
struct Macro {
    /// Names of its parameters; None without parentheses.
    params: Option<Vec<String>>,
    body: Vec<Token>,
}

/// Which files `#include` may name beside the library's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Includes {
    /// Those of this computer.
    Files,
    /// None: the text came from another machine, and its sender may not read this computer's files.
    Nothing,
}

/// Reads a file of at most [`LONGEST`] bytes.
fn read(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    match File::open(path)?.take(LONGEST + 1).read_to_string(&mut text)? as u64 {
        0..=LONGEST => Ok(text),
        _ => Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("more than {} MiB", LONGEST >> 20))),
    }
}

/// The preprocessor.
pub(crate) struct Preprocessor<'a> {
    sources: &'a mut Sources,
    includes: Includes,
    macros: HashMap<String, Macro>,
    out: Vec<Token>,
    /// Files that are being read, innermost last.
    open: Vec<u32>,
    /// Macros that are being replaced, in each other.
    depth: usize,
    /// Tokens that macros made.
    made: usize,
}

/// A branch of `#if`.
struct Branch {
    /// Its beginning.
    span: Span,
    /// Lines are taken now.
    taken: bool,
    /// An earlier part was taken, or all of it is inside of something that is not.
    done: bool,
    /// `#else` was there.
    last: bool,
}

impl<'a> Preprocessor<'a> {
    /// Reads the first file of `sources` and all that it includes. Gives the tokens of the program.
    pub(crate) fn run(sources: &'a mut Sources, includes: Includes) -> Check<Vec<Token>> {
        let (macros, out, open) = (HashMap::new(), Vec::new(), Vec::new());
        let mut this = Self { sources, includes, macros, out, open, depth: 0, made: 0 };
        this.file(0)?;
        let length = u32::try_from(this.sources.files.first().map_or(0, |file| file.text.len())).unwrap_or(u32::MAX);
        let span = Span { file: 0, start: length, end: length };
        this.out.push(Token { kind: Kind::End, text: "end of the program".into(), span });
        Ok(this.out)
    }

    fn file(&mut self, file: u32) -> Check<()> {
        self.open.push(file);
        let tokens = token::tokens(self.sources, file)?;
        let mut branches: Vec<Branch> = Vec::new();
        let mut text: Vec<Token> = Vec::new();
        let mut at = 0;
        while at < tokens.len() {
            let first = at == 0 || tokens[at - 1].kind == Kind::Newline;
            if first && tokens[at].kind == Kind::Hash {
                let end = tokens[at..].iter().position(|t| t.kind == Kind::Newline).map_or(tokens.len(), |n| at + n);
                let done = std::mem::take(&mut text);
                self.flush(done)?;
                self.directive(tokens[at].span, &tokens[at + 1..end], &mut branches)?;
                at = end;
            } else if tokens[at].kind == Kind::Word && &*tokens[at].text == "pragma" && is_sign(&tokens, at, "@") {
                // `@pragma` goes on to the end of its line. The compiler knows none of them.
                if branches.iter().all(|branch| branch.taken) {
                    text.pop();
                }
                at += tokens[at..].iter().position(|t| t.kind == Kind::Newline).unwrap_or(tokens.len() - at);
            } else if tokens[at].kind == Kind::Hash && !is_sign(&tokens, at, "{") {
                return Err(Fault::new(tokens[at].span, "`#` stands in the middle of a line")
                    .help("a directive stands on a line of its own"));
            } else {
                if tokens[at].kind != Kind::Newline && branches.iter().all(|branch| branch.taken) {
                    text.push(tokens[at].clone());
                }
                at += 1;
            }
        }
        self.flush(text)?;
        if let Some(branch) = branches.last() {
            return Err(Fault::new(branch.span, "this condition has no `#endif`").help("end it with `#endif`"));
        }
        self.open.pop();
        Ok(())
    }

    /// Adds text between directives, with its macros replaced.
    fn flush(&mut self, text: Vec<Token>) -> Check<()> {
        let replaced = self.expand(text, &mut Vec::new())?;
        self.out.extend(replaced);
        Ok(())
    }

    fn directive(&mut self, hash: Span, line: &[Token], branches: &mut Vec<Branch>) -> Check<()> {
        let Some((word, rest)) = line.split_first() else { return Ok(()) };
        let span = hash.to(line.last().map_or(hash, |token| token.span));
        let active = branches.iter().all(|branch| branch.taken);
        match &*word.text {
            "ifdef" | "ifndef" => {
                let name = name(word, rest)?;
                let taken = self.macros.contains_key(&*name.text) == (&*word.text == "ifdef");
                branches.push(Branch { span, taken: active && taken, done: !active || taken, last: false });
            }
            "if" => {
                let taken = active && self.condition(word, rest)?;
                branches.push(Branch { span, taken, done: !active || taken, last: false });
            }
            "elif" => {
                let branch = open_branch(branches, word)?;
                let undecided = !branch.done;
                let taken = undecided && self.condition(word, rest)?;
                let branch = open_branch(branches, word)?;
                (branch.taken, branch.done) = (taken, branch.done || taken);
            }
            "else" => {
                let branch = open_branch(branches, word)?;
                (branch.taken, branch.done, branch.last) = (!branch.done, true, true);
            }
            "endif" => {
                if branches.pop().is_none() {
                    return Err(Fault::new(span, "this `#endif` ends nothing").help("remove it"));
                }
            }
            _ if !active => {}
            "include" => self.include(span, rest)?,
            "define" => self.define(word, rest)?,
            "undef" => {
                self.macros.remove(&*name(word, rest)?.text);
            }
            // The specification leaves pragmas that a compiler does not know to be ignored.
            "pragma" | "line" => {}
            // A mark of another preprocessor: `# 1 "file.p4"`.
            _ if word.kind == Kind::Number => {}
            "error" => {
                let said = rest.iter().map(|token| &*token.text).collect::<Vec<_>>().join(" ");
                return Err(Fault::new(span, format!("#error {said}")));
            }
            other => {
                return Err(Fault::new(word.span, format!("unknown directive `#{other}`"))
                    .help("known are include, define, undef, if, ifdef, ifndef, elif, else, endif, error, pragma"));
            }
        }
        Ok(())
    }

    fn include(&mut self, span: Span, rest: &[Token]) -> Check<()> {
        if self.open.len() >= DEPTH {
            return Err(Fault::new(span, format!("more than {DEPTH} files include each other"))
                .help("a file probably includes itself: guard it with #ifndef"));
        }
        if self.sources.files.len() >= FILES {
            return Err(Fault::new(span, format!("more than {FILES} files are included"))
                .help("guard files that include others with #ifndef"));
        }
        let from = *self.open.last().unwrap_or(&0);
        if let [Token { kind: Kind::Text, text, .. }] = rest {
            let wanted = text.trim_matches('"');
            if self.includes == Includes::Nothing {
                if LIBRARY.iter().any(|(name, _)| *name == wanted) {
                    return self.library(span, wanted);
                }
                return Err(Fault::new(
                    span,
                    format!("\"{wanted}\" did not come with the program, which was sent as one text"),
                )
                .label("file of the sender")
                .help("put its text here, for example with `cpp -P`, or let the design name the program"));
            }
            let here = self.sources.files.get(from as usize).map_or("", |file| &file.name);
            let path: PathBuf = Path::new(here).parent().unwrap_or(Path::new("")).join(wanted);
            match read(&path) {
                Ok(text) => {
                    let file = self.sources.add(path.display().to_string(), text);
                    return self.file(file);
                }
                Err(error) if !LIBRARY.iter().any(|(name, _)| *name == wanted) => {
                    return Err(Fault::new(span, format!("{}: {error}", path.display()))
                        .help("paths are relative to the file that includes"));
                }
                Err(_) => {}
            }
            return self.library(span, wanted);
        }
        let inner: String = rest.iter().map(|token| &*token.text).collect();
        match inner.strip_prefix('<').and_then(|inner| inner.strip_suffix('>')) {
            Some(wanted) => self.library(span, wanted),
            None => Err(Fault::new(span, "an include names one file")
                .help("write `#include <v1model.p4>` or `#include \"mine.p4\"`")),
        }
    }

    fn library(&mut self, span: Span, wanted: &str) -> Check<()> {
        let Some((name, text)) = LIBRARY.iter().find(|(name, _)| *name == wanted) else {
            return Err(Fault::new(span, format!("there is no library file <{wanted}>"))
                .label("unknown file")
                .help("this compiler has <core.p4> and <v1model.p4>; files of your own stand in quotes"));
        };
        let file = self.sources.add(format!("<{name}>"), *text);
        self.file(file)
    }

    fn define(&mut self, word: &Token, rest: &[Token]) -> Check<()> {
        let (name, body) = match rest.split_first() {
            Some((name, body)) if name.kind == Kind::Word => (name, body),
            _ => return Err(Fault::new(word.span, "`#define` needs a name")),
        };
        // As in C, a parenthesis directly after the name begins parameters.
        let adjacent = body.first().is_some_and(|token| &*token.text == "(" && token.span.start == name.span.end);
        let (params, body) = if adjacent {
            let close = body.iter().position(|token| &*token.text == ")");
            let close = close.ok_or_else(|| Fault::new(name.span, "the parameters of this macro have no `)`"))?;
            let params =
                body[1..close].iter().filter(|token| &*token.text != ",").map(|t| t.text.to_string()).collect();
            (Some(params), &body[close + 1..])
        } else {
            (None, body)
        };
        if let Some(hash) = body.iter().find(|token| token.kind == Kind::Hash) {
            return Err(Fault::missing(hash.span, "`#` and `##` in macros"));
        }
        self.macros.insert(name.text.to_string(), Macro { params, body: body.to_vec() });
        Ok(())
    }

    fn condition(&mut self, word: &Token, rest: &[Token]) -> Check<bool> {
        let mut plain = Vec::new();
        let mut tokens = rest.iter().peekable();
        while let Some(token) = tokens.next() {
            if &*token.text != "defined" {
                plain.push(token.clone());
                continue;
            }
            let mut names: Vec<&Token> = tokens.next().into_iter().collect();
            if names.first().is_some_and(|token| &*token.text == "(") {
                names = tokens.by_ref().take_while(|token| &*token.text != ")").collect();
            }
            let [name] = names[..] else { return Err(Fault::new(token.span, "`defined` asks for one name")) };
            let value = if self.macros.contains_key(&*name.text) { "1" } else { "0" };
            plain.push(Token { kind: Kind::Number, text: value.into(), span: name.span });
        }
        let replaced = self.expand(plain, &mut Vec::new())?;
        condition::holds(word.span, &replaced)
    }

    /// Replaces macros; `inside` names those whose bodies the tokens are from.
    fn expand(&mut self, tokens: Vec<Token>, inside: &mut Vec<String>) -> Check<Vec<Token>> {
        if let Some(token) = tokens.first().filter(|_| self.depth >= MACROS) {
            return Err(Fault::new(token.span, format!("more than {MACROS} macros stand in each other"))
                .help("a macro may name others, but not so many behind one another"));
        }
        self.depth += 1;
        let mut out = Vec::with_capacity(tokens.len());
        let mut at = 0;
        while at < tokens.len() {
            let token = &tokens[at];
            at += 1;
            let found = self.macros.get(&*token.text).filter(|_| token.kind == Kind::Word);
            let Some(found) = found.filter(|_| !inside.iter().any(|name| **name == *token.text)) else {
                out.push(token.clone());
                continue;
            };
            let Macro { params, mut body } = found.clone();
            if let Some(params) = &params {
                if tokens.get(at).is_none_or(|next| &*next.text != "(") {
                    out.push(token.clone());
                    continue;
                }
                let (args, behind) = arguments(token, &tokens, at + 1)?;
                at = behind;
                let empty = params.is_empty() && args.len() == 1 && args[0].is_empty();
                if args.len() != params.len() && !empty {
                    return Err(Fault::new(token.span, format!("`{}` has {} parameters", token.text, params.len()))
                        .label(format!("{} are given", args.len())));
                }
                let args = args.into_iter().map(|arg| self.expand(arg, inside)).collect::<Check<Vec<_>>>()?;
                let mut replaced = Vec::new();
                for part in body {
                    match params.iter().position(|name| **name == *part.text) {
                        Some(index) if part.kind == Kind::Word => {
                            let arg = args.get(index).map_or(&[][..], Vec::as_slice);
                            self.make(token, arg.len())?;
                            replaced.extend_from_slice(arg);
                        }
                        _ => replaced.push(part),
                    }
                }
                body = replaced;
            }
            // A macro without tokens also counts as work.
            self.make(token, body.len() + 1)?;
            for made in &mut body {
                made.span = token.span;
            }
            inside.push(token.text.to_string());
            out.extend(self.expand(body, inside)?);
            inside.pop();
        }
        self.depth -= 1;
        Ok(out)
    }

    /// Counts tokens that a macro makes.
    fn make(&mut self, name: &Token, count: usize) -> Check<()> {
        self.made += count;
        if self.made > MADE {
            return Err(Fault::new(name.span, format!("macros make more than {MADE} tokens"))
                .label(format!("the limit is exceeded in `{}`", name.text))
                .help(
                    "a macro that names another one twice, and that one a third one twice, doubles the text each time",
                ));
        }
        Ok(())
    }
}

/// Whether this symbol stands in front of a token.
fn is_sign(tokens: &[Token], at: usize, symbol: &str) -> bool {
    at.checked_sub(1).is_some_and(|before| tokens[before].kind == Kind::Symbol && &*tokens[before].text == symbol)
}

/// The one name after a directive.
fn name<'t>(word: &Token, rest: &'t [Token]) -> Check<&'t Token> {
    match rest {
        [name] if name.kind == Kind::Word => Ok(name),
        _ => Err(Fault::new(word.span, format!("`#{}` is followed by one name", word.text))),
    }
}

/// The innermost branch, which may still have other parts.
fn open_branch<'b>(branches: &'b mut [Branch], word: &Token) -> Check<&'b mut Branch> {
    match branches.last_mut() {
        Some(branch) if branch.last => {
            Err(Fault::new(word.span, format!("`#{}` stands behind `#else`", word.text))
                .also(branch.span, "begins here"))
        }
        Some(branch) => Ok(branch),
        None => Err(Fault::new(word.span, format!("`#{}` without `#if`", word.text))),
    }
}

/// Arguments of a macro, from after the opening parenthesis on, and the index after the closing one.
fn arguments(name: &Token, tokens: &[Token], from: usize) -> Check<(Vec<Vec<Token>>, usize)> {
    let mut args = vec![Vec::new()];
    let mut depth = 0;
    for (at, token) in tokens.iter().enumerate().skip(from) {
        match &*token.text {
            ")" if depth == 0 => return Ok((args, at + 1)),
            "," if depth == 0 => {
                args.push(Vec::new());
                continue;
            }
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth -= 1,
            _ => {}
        }
        if let Some(last) = args.last_mut() {
            last.push(token.clone());
        }
    }
    Err(Fault::new(name.span, format!("the arguments of the macro `{}` have no `)`", name.text)))
}
