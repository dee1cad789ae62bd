// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The program: its declarations, then the parts that `V1Switch` names.

use std::collections::HashMap;

use super::value::{Place, Shape};
use super::{Context, Instance, Lower, Return, Scope, Symbol, settle, unroll};
use crate::ast::{self, Call, ControlDecl, Decl, DeclKind, ExprKind as Ast, ParserDecl, TypeKind};
use crate::fault::{Check, Fault};
use crate::ir::{self, FieldKind, Next, Standard};
use crate::source::{Sources, Span};
use crate::types::Type;

/// Checks and lowers a program.
pub(crate) fn lower(sources: &Sources, name: &str, decls: &[Decl]) -> Result<ir::Program, Vec<Fault>> {
    let program = ir::Program {
        name: name.to_owned(),
        headers: Vec::new(),
        instances: Vec::new(),
        fields: Vec::new(),
        errors: Vec::new(),
        parser: ir::Parser { states: Vec::new() },
        verify: Vec::new(),
        ingress: Vec::new(),
        egress: Vec::new(),
        update: Vec::new(),
        deparse: Vec::new(),
        deparser: Vec::new(),
        tables: Vec::new(),
        actions: Vec::new(),
        registers: Vec::new(),
        counters: Vec::new(),
        meters: Vec::new(),
        digests: Vec::new(),
        profiles: Vec::new(),
        value_sets: Vec::new(),
        controller_headers: Vec::new(),
    };
    let mut lower = Lower {
        sources,
        program,
        scopes: vec![Scope::new()],
        faults: Vec::new(),
        stacks: Vec::new(),
        siblings: HashMap::new(),
        out: Vec::new(),
        path: String::new(),
        returning: Return::default(),
        context: Context::Pure,
        in_parser: false,
        depth: 0,
        made: 0,
        actions: HashMap::new(),
        applied: HashMap::new(),
        ids: HashMap::new(),
        keys: Vec::new(),
        states: Vec::new(),
        ops: Vec::new(),
        current: 0,
        field_lists: HashMap::new(),
        match_kinds: HashMap::new(),
        listed: Vec::new(),
        made_types: HashMap::new(),
        loops: Vec::new(),
        turns: None,
        in_turn: false,
    };
    for (standard, name, width) in Standard::ALL {
        let kind = FieldKind::Standard(standard);
        lower.field(format!("standard_metadata.{name}"), width, kind, Span::default());
    }
    if let Err(fault) = lower.run(decls) {
        lower.fail(fault);
    }
    if lower.faults.is_empty() { Ok(lower.program) } else { Err(lower.faults) }
}

impl<'a> Lower<'a> {
    fn run(&mut self, decls: &'a [Decl]) -> Check<()> {
        let mut main = None;
        for decl in decls {
            match &decl.kind {
                DeclKind::Instance(ty, args) if decl.name.text == "main" => {
                    main = Some((decl, ty, args));
                    self.declare(&decl.name, Symbol::Main);
                }
                _ => {
                    if let Err(fault) = self.declaration(decl) {
                        self.fail_to_declare(decl, fault);
                    }
                }
            }
        }
        // A missing declaration would otherwise be reported again at each use.
        if !self.faults.is_empty() {
            return Ok(());
        }
        let Some((decl, ty, args)) = main else {
            let end = self.sources.files.first().map_or(0, |file| u32::try_from(file.text.len()).unwrap_or(u32::MAX));
            return Err(Fault::new(Span { file: 0, start: end, end }, "the program has no `main`")
                .help("end it with `V1Switch(MyParser(), …) main;`"));
        };
        match &ty.kind {
            TypeKind::Named(name, _) if name == "V1Switch" => {}
            _ => {
                return Err(
                    Fault::missing(ty.span, "packages other than V1Switch").help("write the program for v1model")
                );
            }
        }
        let parts = self.arguments("V1Switch", &["p", "vr", "ig", "eg", "ck", "dep"], args, decl.span)?;
        let mut instances = Vec::new();
        for part in parts {
            instances.push(self.part(part)?);
        }
        self.parts(&instances)
    }

    /// A part of the package: `MyParser()`.
    fn part(&mut self, part: &'a ast::Expr) -> Check<Instance<'a>> {
        let wrong = || Fault::new(part.span, "a parser or control is expected").help("write its name with `()`");
        let Ast::Call(call) = &part.kind else { return Err(wrong()) };
        let Call { callee: name, args, .. } = &**call;
        let Ast::Name(text) = &name.kind else { return Err(wrong()) };
        match self.lookup(text, name.span)? {
            Symbol::Decl(decl) => {
                let args = self.constructor_arguments(decl, text, args, part.span)?;
                Ok(Instance { decl, path: text.clone(), args })
            }
            _ => Err(wrong()),
        }
    }

    fn parts(&mut self, parts: &[Instance<'a>]) -> Check<()> {
        let [parser, verify, ingress, egress, update, deparser] = parts else { return Ok(()) };
        let parser_decl = as_parser(parser)?;
        let ingress_decl = as_control(ingress)?;
        if parser_decl.params.len() != 4 || ingress_decl.params.len() != 3 {
            return Err(Fault::new(parser.decl.span, "a parser of v1model has four parameters, its ingress control three")
                .help("(packet_in b, out H hdr, inout M meta, inout standard_metadata_t std) and (inout H hdr, inout M meta, inout standard_metadata_t std)"));
        }
        let (header_type, meta_type) = (self.ty(&parser_decl.params[1].ty)?, self.ty(&parser_decl.params[2].ty)?);
        let standard = self.standard(parser_decl)?;
        let names = (&ingress_decl.params[0].name, &ingress_decl.params[1].name);
        let headers = self.variable(&names.0.text, &header_type, FieldKind::Metadata, names.0.span)?;
        let meta = self.variable(&names.1.text, &meta_type, FieldKind::Metadata, names.1.span)?;
        self.find_listed(&meta);
        let packet = |ty| Place { shape: Shape::Packet, ty, writable: true, span: parser.decl.span };
        let places = [packet(Type::PacketIn), headers.clone(), meta.clone(), standard.clone()];
        self.check_params(parser, &parser_decl.params, &places)?;
        self.path.clone_from(&parser.path);
        let first = self.parser(parser, parser_decl, &places, Next::Accept, parser.decl.span)?;
        debug_assert_eq!(first, 0);
        self.program.parser.states = std::mem::take(&mut self.states);
        unroll::unroll(&mut self.program, &self.stacks)?;
        settle::settle(&mut self.program);
        self.context = Context::Pure;

        let sums = [headers.clone(), meta.clone()];
        let control = as_control(verify)?;
        let scope = self.checked_scope(verify, control, &sums)?;
        self.program.verify = self.checksums(control, scope, true);
        let full = [headers.clone(), meta, standard];
        self.program.ingress = self.pipeline(ingress, ingress_decl, &full)?;
        self.program.egress = self.pipeline(egress, as_control(egress)?, &full)?;
        let control = as_control(update)?;
        let scope = self.checked_scope(update, control, &sums)?;
        self.program.update = self.checksums(control, scope, false);
        let control = as_control(deparser)?;
        let scope = self.checked_scope(deparser, control, &[packet(Type::PacketOut), headers])?;
        self.deparser(control, scope);
        Ok(())
    }

    /// Ingress or egress.
    fn pipeline(
        &mut self,
        instance: &Instance<'a>,
        control: &'a ControlDecl,
        places: &[Place],
    ) -> Check<Vec<ir::Stmt>> {
        self.check_params(instance, &control.params, places)?;
        self.path.clone_from(&instance.path);
        self.context = Context::Control;
        let scopes = self.control_scopes(instance, control, places, instance.decl.span)?;
        let (_, stmts) = self.capture(|this| this.apply_block(control, scopes));
        Ok(stmts)
    }

    fn checked_scope(
        &mut self,
        instance: &Instance<'a>,
        control: &'a ControlDecl,
        places: &[Place],
    ) -> Check<Scope<'a>> {
        self.check_params(instance, &control.params, places)?;
        self.path.clone_from(&instance.path);
        self.parameter_scope(instance, &control.params, &control.constructor, places, instance.decl.span)
    }

    fn check_params(&mut self, instance: &Instance<'a>, params: &'a [ast::Param], places: &[Place]) -> Check<()> {
        if params.len() != places.len() {
            return Err(Fault::new(
                instance.decl.span,
                format!("`{}` needs {} parameters here", instance.path, places.len()),
            )
            .label(format!("it has {}", params.len()))
            .help("v1model.p4 declares what each part of V1Switch takes"));
        }
        for (param, place) in params.iter().zip(places) {
            let ty = self.ty(&param.ty)?;
            if ty != place.ty {
                return Err(Fault::new(
                    param.ty.span,
                    format!("mismatched types: `{}` is expected, this is `{ty}`", place.ty),
                )
                .label("all parts of V1Switch work on the same headers and metadata"));
            }
        }
        Ok(())
    }

    /// The standard metadata, whose fields are the first ones of the program.
    fn standard(&mut self, parser: &'a ParserDecl) -> Check<Place> {
        let span = parser.params[3].ty.span;
        let ty = self.ty(&parser.params[3].ty)?;
        let Type::Struct(of) = &ty else {
            return Err(Fault::new(span, format!("`standard_metadata_t` is expected, this is `{ty}`")));
        };
        let member = |(name, ty): &(String, Type)| {
            let field = Standard::ALL.iter().position(|(_, known, _)| known == name)?;
            Some((name.clone(), Place { shape: Shape::Scalar(field), ty: ty.clone(), writable: true, span }))
        };
        let members: Option<Vec<_>> = of.fields.iter().map(member).collect();
        match members {
            Some(members) => Ok(Place { shape: Shape::Struct(members), ty, writable: true, span }),
            None => Err(Fault::new(span, "`standard_metadata_t` is expected").help("include <v1model.p4>")),
        }
    }
}

fn as_parser<'a>(instance: &Instance<'a>) -> Check<&'a ParserDecl> {
    match &instance.decl.kind {
        DeclKind::Parser(parser) if parser.states.is_some() => Ok(parser),
        _ => Err(Fault::new(instance.decl.span, format!("`{}` is not a parser", instance.path))),
    }
}

fn as_control<'a>(instance: &Instance<'a>) -> Check<&'a ControlDecl> {
    match &instance.decl.kind {
        DeclKind::Control(control) if control.apply.is_some() => Ok(control),
        _ => Err(Fault::new(instance.decl.span, format!("`{}` is not a control", instance.path))),
    }
}
