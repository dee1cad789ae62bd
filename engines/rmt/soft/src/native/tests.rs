// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Native code beside plain Rust: bits of frames, and values of random expressions.

use cranelift_codegen::ir::InstBuilder;
use penstock_rmt_compiler::ir::{BinaryOp, Checksum, ChecksumData, Expr, ExprKind, HashAlgorithm, Program, UnaryOp};
use penstock_rmt_compiler::{Span, binary, mask, signed, unary};

use super::*;
use crate::bits;
use crate::machine::Part;

/// Runs native code on bytes and on the slots of each of some runs.
fn run<'s>(
    maker: &mut Maker<'_>,
    runs: impl IntoIterator<Item = &'s mut Vec<u64>>,
    bytes: &mut [u8],
    body: impl FnOnce(&mut Function),
) {
    let mut compiler = Compiler::new().expect("there is a code generator");
    let id = compiler.function(maker, body).expect("there is native code");
    compiler.module.finalize_definitions().expect("there is memory for it");
    // SAFETY: the signature is that of all functions. The tests' code takes no `Work`.
    unsafe {
        let entry = std::mem::transmute::<*const u8, Entry>(compiler.module.get_finalized_function(id));
        for slots in runs {
            entry(std::ptr::null_mut(), slots.as_mut_ptr(), bytes.as_mut_ptr());
        }
        compiler.module.free_memory();
    }
}

fn program() -> Program {
    let source = include_str!("../../../programs/calculator.p4");
    penstock_rmt_compiler::compile("calculator.p4", source).expect("the program has no faults").program
}

fn maker(program: &Program) -> Maker<'_> {
    Maker {
        program,
        instances: &[],
        slots: Slots::new(program),
        operations: Vec::new(),
        sums: Vec::new(),
        selects: Vec::new(),
        kept: Vec::new(),
    }
}

fn random(seed: &mut u64) -> u64 {
    crate::hash::random(seed)
}

/// Bits one by one.
fn slowly(bytes: &[u8], offset: usize, width: u32) -> u64 {
    let bit = |at: usize| u64::from(bytes[at / 8] >> (7 - at % 8) & 1);
    (offset..offset + width as usize).fold(0, |value, at| value << 1 | bit(at))
}

/// Offsets and widths, each with the bytes of the shortest piece that has these bits, and of a longer one.
fn pieces() -> impl Iterator<Item = (usize, u32, usize)> {
    (1..=64u32).flat_map(|width| {
        (0..24).flat_map(move |offset| {
            let end = (offset + width as usize).div_ceil(8);
            [end, 16].map(|length| (offset, width, length))
        })
    })
}

/// Bytes of a piece.
const PIECE: usize = 16;

#[test]
fn bits_are_read_from_every_place() {
    let program = program();
    let mut bytes: Vec<u8> = (0..PIECE).map(|index| (index * 73 + 41) as u8).collect();
    let mut slots = vec![0; pieces().count()];
    let whole = bytes.clone();
    run(&mut maker(&program), [&mut slots], &mut bytes, |function| {
        for ((offset, width, length), slot) in pieces().zip(0..) {
            let value = function.read_bits(function.data, length, offset, width);
            function.set_slot(slot, value);
        }
    });
    for ((offset, width, length), value) in pieces().zip(slots) {
        assert_eq!(value, slowly(&whole, offset, width), "{width} bits from {offset} of {length} bytes");
    }
}

#[test]
fn bits_are_written_to_every_place_and_to_no_other() {
    let program = program();
    let mut seed = 1;
    let mut slots: Vec<u64> = pieces().map(|(_, width, _)| random(&mut seed) & bits::mask(width)).collect();
    let mut bytes = vec![0x5A; slots.len() * PIECE];
    run(&mut maker(&program), [&mut slots], &mut bytes, |function| {
        for ((offset, width, _), slot) in pieces().zip(0..) {
            let base = function.builder.ins().iadd_imm(function.data, i64::from(slot) * PIECE as i64);
            let value = function.slot(slot);
            function.write_bits(base, offset, width, value);
        }
    });
    for (((offset, width, _), value), piece) in pieces().zip(slots).zip(bytes.chunks(PIECE)) {
        let mut expected = [0x5A; PIECE];
        bits::write(&mut expected, offset, width, value);
        assert_eq!(piece, expected, "{width} bits from {offset}");
    }
}

/// Bits of the values that expressions begin with.
const WIDTHS: [u32; 17] = [1, 2, 7, 8, 9, 16, 31, 32, 33, 48, 63, 64, 65, 96, 100, 127, 128];

const BINARY: [BinaryOp; 19] = [
    BinaryOp::Add,
    BinaryOp::Sub,
    BinaryOp::Mul,
    BinaryOp::And,
    BinaryOp::Or,
    BinaryOp::Xor,
    BinaryOp::Shl,
    BinaryOp::Shr,
    BinaryOp::ShrSigned,
    BinaryOp::AddSat,
    BinaryOp::SubSat,
    BinaryOp::AddSatSigned,
    BinaryOp::SubSatSigned,
    BinaryOp::Eq,
    BinaryOp::Ne,
    BinaryOp::Lt,
    BinaryOp::Le,
    BinaryOp::LtSigned,
    BinaryOp::LeSigned,
];

fn number(seed: &mut u64) -> u128 {
    let all = u128::from(random(seed)) << 64 | u128::from(random(seed));
    // Small and large values, where overflows begin.
    match random(seed) % 4 {
        0 => all & 0xF,
        1 => !(all & 0xF),
        2 => 1 << (all % 128),
        _ => all,
    }
}

/// A random expression. Field number n has the width of that number in [`WIDTHS`].
fn expression(seed: &mut u64, width: u32, depth: u32) -> Expr {
    let below = depth.saturating_sub(1);
    let boxed = |seed: &mut u64, width| Box::new(expression(seed, width, below));
    let other = WIDTHS[random(seed) as usize % WIDTHS.len()];
    let kind = match if depth == 0 { random(seed) % 2 } else { random(seed) % 12 } {
        0 => ExprKind::Const(number(seed) & mask(width)),
        1 => match WIDTHS.iter().position(|of| *of == width) {
            Some(field) => ExprKind::Field(field),
            None => ExprKind::Const(number(seed) & mask(width)),
        },
        2 => ExprKind::Unary([UnaryOp::Not, UnaryOp::Neg][random(seed) as usize % 2], boxed(seed, width)),
        3 if other > width => ExprKind::Slice(boxed(seed, other), random(seed) as u32 % (other - width + 1)),
        4 => ExprKind::Resize(boxed(seed, other)),
        5 if width > 1 => {
            let lower = 1 + random(seed) as u32 % (width - 1);
            ExprKind::Concat(boxed(seed, width - lower), boxed(seed, lower))
        }
        6 if other <= width => ExprKind::SignExtend(boxed(seed, other)),
        7 => ExprKind::Mux(boxed(seed, 1), boxed(seed, width), boxed(seed, width)),
        _ => {
            let op = BINARY[random(seed) as usize % BINARY.len()];
            let shifts = matches!(op, BinaryOp::Shl | BinaryOp::Shr | BinaryOp::ShrSigned);
            let compared = if op.compares() { other } else { width };
            let of = ExprKind::Binary(op, boxed(seed, compared), boxed(seed, if shifts { other } else { compared }));
            if op.compares() && width != 1 {
                ExprKind::Resize(Box::new(Expr { kind: of, width: 1, span: Span::default() }))
            } else {
                of
            }
        }
    };
    Expr { kind, width, span: Span::default() }
}

/// The value of an expression, as the compiler folds constants.
fn evaluate(expr: &Expr, fields: &[u128]) -> u128 {
    let of = |expr: &Expr| evaluate(expr, fields);
    let value = match &expr.kind {
        ExprKind::Const(value) => *value,
        ExprKind::Field(field) => fields[*field],
        ExprKind::Unary(op, a) => unary(*op, of(a), a.width),
        ExprKind::Binary(op, a, b) => binary(*op, of(a), of(b), a.width),
        ExprKind::Slice(a, low) => of(a) >> low,
        ExprKind::Concat(a, b) => of(a) << b.width | of(b),
        ExprKind::Resize(a) => of(a),
        ExprKind::SignExtend(a) => signed(of(a), a.width).cast_unsigned(),
        ExprKind::Mux(condition, yes, no) => of(if of(condition) != 0 { yes } else { no }),
        ExprKind::Param(_) | ExprKind::Lookahead { .. } => 0,
    };
    value & mask(expr.width)
}

#[test]
fn random_expressions_have_the_values_that_the_compiler_folds() {
    let program = program();
    let mut seed = 7;
    for _ in 0..20 {
        let mut maker = maker(&program);
        maker.slots.count = 0;
        maker.slots.fields = WIDTHS.iter().map(|width| maker.slots.place(*width)).collect();
        let expressions: Vec<Expr> = (0..200)
            .map(|_| {
                let width = WIDTHS[random(&mut seed) as usize % WIDTHS.len()];
                let depth = 1 + random(&mut seed) as u32 % 4;
                expression(&mut seed, width, depth)
            })
            .collect();
        let results: Vec<Place> = expressions.iter().map(|expr| maker.slots.place(expr.width)).collect();
        let fields: Vec<u128> = WIDTHS.iter().map(|width| number(&mut seed) & mask(*width)).collect();
        let mut slots = vec![0; maker.slots.count];
        for (place, value) in maker.slots.fields.iter().zip(&fields) {
            place.store(&mut slots, *value);
        }
        run(&mut maker, [&mut slots], &mut [], |function| {
            for (expr, place) in expressions.iter().zip(&results) {
                let value = function.value(expr);
                function.set(*place, value);
            }
        });
        for (expr, place) in expressions.iter().zip(&results) {
            assert_eq!(place.load(&slots), evaluate(expr, &fields), "{expr:?} of {fields:x?}");
        }
    }
}

#[test]
fn operators_have_the_values_that_the_compiler_folds_where_they_change() {
    let program = program();
    for width in WIDTHS {
        let mut maker = maker(&program);
        maker.slots.count = 0;
        // Distances of shifts have any width.
        maker.slots.fields = [width, width, 128, 8].map(|width| maker.slots.place(width)).to_vec();
        let operands = BINARY.iter().flat_map(|op| {
            let shifts = matches!(op, BinaryOp::Shl | BinaryOp::Shr | BinaryOp::ShrSigned);
            [1, 2, 3].into_iter().filter(move |right| *right == 1 || shifts).map(move |right| (*op, right))
        });
        let operands: Vec<(BinaryOp, usize)> = operands.collect();
        let results: Vec<Place> = operands.iter().map(|_| maker.slots.place(width)).collect();
        let all = mask(width);
        let bits = u128::from(width);
        let ends = [0, 1, 2, bits - 1, bits, bits + 1, 64, all >> 1, (all >> 1) + 1, all - 1, all].map(|end| end & all);
        let pairs: Vec<(u128, u128)> = ends.iter().flat_map(|a| ends.map(|b| (*a, b))).collect();
        let fields = |(a, b): (u128, u128)| [a, b, b, b & 0xFF];
        let with = |pair: &(u128, u128), maker: &Maker<'_>| {
            let mut slots = vec![0; maker.slots.count];
            let places = maker.slots.fields.iter();
            places.zip(fields(*pair)).for_each(|(place, value)| place.store(&mut slots, value));
            slots
        };
        let mut runs: Vec<Vec<u64>> = pairs.iter().map(|pair| with(pair, &maker)).collect();
        run(&mut maker, &mut runs, &mut [], |function| {
            for ((op, right), place) in operands.iter().zip(&results) {
                let [a, b] = [0, *right].map(|field| function.get(function.maker.slots.fields[field]));
                let value = function.binary(*op, a, b, width);
                function.set(if op.compares() { Place { width: 1, ..*place } } else { *place }, value);
            }
        });
        for (pair, slots) in pairs.iter().zip(&runs) {
            for ((op, right), place) in operands.iter().zip(&results) {
                let (a, b) = (pair.0, fields(*pair)[*right]);
                assert_eq!(place.load(slots), binary(*op, a, b, width), "{op:?} of {width} bits: {a:x}, {b:x}");
            }
        }
    }
}

/// Native code adds values as the sum in Rust code does, whose tests are those of the RFC.
#[test]
fn internet_checksums_carry_as_often_as_they_must() {
    let program = program();
    let mut seed = 3;
    let mut maker = maker(&program);
    maker.slots.count = 0;
    maker.slots.fields = WIDTHS.iter().map(|width| maker.slots.place(*width)).collect();
    let result = maker.slots.place(64);
    let places = maker.slots.fields.clone();
    let mut runs: Vec<Vec<u64>> = (0..4000)
        .map(|run| {
            let mut slots = vec![0; maker.slots.count];
            // Sums of such values often end just below a carry.
            for place in &places {
                let value =
                    if run % 2 == 0 { [u128::MAX, 0][random(&mut seed) as usize % 2] } else { number(&mut seed) };
                place.store(&mut slots, value & mask(place.width));
            }
            slots
        })
        .collect();
    // All of them, and then values of 48 bits that begin at the second bit of a word: a few of them have 64 bits.
    let numbers: Vec<usize> = (0..WIDTHS.len()).chain([0; 3]).chain([9; 8]).collect();
    let field = |number: &usize| Expr::field(*number, WIDTHS[*number], Span::default());
    let data = numbers.iter().map(field).map(ChecksumData::Value).collect();
    let sum = Checksum {
        condition: Expr::constant(1, 1, Span::default()),
        data,
        field: 0,
        algorithm: HashAlgorithm::Csum16,
        payload: false,
        span: Span::default(),
    };
    run(&mut maker, &mut runs, &mut [], |function| {
        let value = function.sum_of_values(&sum);
        function.set(result, value);
    });
    let parts = numbers.iter().map(|number| Part::Value(places[*number])).collect();
    let sum = Sum { parts, width: 16, algorithm: sum.algorithm, payload: false };
    for slots in &runs {
        assert_eq!(u128::from(sum.compute(slots, &[], 0)), result.load(slots), "{slots:x?}");
    }
}
