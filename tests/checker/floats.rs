//! Float instructions in wasm modules: every one is found and named, and what is no
//! module is refused.

use lockstone::check::floats::{FloatFunction, FloatsError, floats};

/// Rules with a float in them, as a compiler would leave them: one function computes with it, one
/// only with integers.
const WARM: &str = r#"(module $game
    (import "host" "draw" (func $draw (param i32)))
    (memory 1)
    (func $_ZN4game5rules4step17h0123456789abcdefE (param i32) (result i32)
        local.get 0
        f32.convert_i32_s
        f32.const 1.5
        f32.mul
        i32.trunc_f32_s)
    (func $_ZN4game5rules4walk17h0123456789abcdefE (param i64) (result i64)
        local.get 0
        i64.const 3
        i64.mul)
    (func $_ZN4core3fmt5float7decimal17h0123456789abcdefE (param i32) (result f64)
        local.get 0
        f64.load))"#;

fn module(text: &str) -> Vec<u8> {
    wat::parse_str(text).expect("the text is a module")
}

#[test]
fn every_float_instruction_is_found_and_named() {
    let wasm = module(WARM);
    let found = floats(&wasm).unwrap();
    let told: Vec<_> = found.functions.iter().map(|f| (f.name.as_str(), f.count, f.first.as_str())).collect();
    assert_eq!(told, [("game::rules::step", 4, "f32.convert_i32_s"), ("core::fmt::float::decimal", 1, "f64.load")]);
    assert_eq!((found.looked_through, found.count()), (3, 5));
    let opcodes = found.functions.iter().map(|f| wasm[f.offset as usize]);
    assert_eq!(opcodes.collect::<Vec<_>>(), [0xb2, 0x2b], "the offsets are those of the first instructions");
}

/// A dependency computes with floats, and so does much beside the rules.
const HIDDEN: &str = r#"(module $game
    (func $_ZN3aaa6format17h0123456789abcdefE (result f64) f64.const 1 f64.const 2 f64.add)
    (func $_ZN4libm4math4sqrt17h0123456789abcdefE (result f32) f32.const 2)
    (func $_ZN5curve6length17h0123456789abcdefE call $_ZN4libm4math4sqrt17h0123456789abcdefE drop)
    (func $_ZN4game4wolf4howl17h0123456789abcdefE call $_ZN5curve6length17h0123456789abcdefE)
    (func $_ZN4game5rules5think17h0123456789abcdefE call $_ZN4game4wolf4howl17h0123456789abcdefE)
    (func $_ZN4game4main17h0123456789abcdefE
        call $_ZN4game5rules5think17h0123456789abcdefE
        call $_ZN3aaa6format17h0123456789abcdefE
        drop))"#;

#[test]
fn floats_that_a_dependency_hides_are_named_somewhere_in_a_list() {
    let found = floats(&module(HIDDEN)).unwrap();
    let [hidden, beside] = &found.functions[..] else { panic!("{found}") };
    assert_eq!((hidden.name.as_str(), hidden.own()), ("libm::math::sqrt", Some("game::wolf::howl")));
    assert_eq!(hidden.way, ["game::rules::think", "game::wolf::howl", "curve::length", "libm::math::sqrt"]);
    assert_eq!((beside.name.as_str(), beside.own(), beside.way.len()), ("aaa::format", None, 0));
    let told = found.to_string();
    assert!(told.trim_start().starts_with("1  game::wolf::howl calls libm::math::sqrt, the first f32.const"), "{told}");
}

#[test]
fn what_is_allowed_is_set_apart() {
    let mut found = floats(&module(WARM)).unwrap();
    found.allow(&["core::fmt::".to_owned()]);
    assert_eq!((found.functions.len(), found.allowed.len(), found.count()), (1, 1, 4));
}

#[test]
fn vectors_of_floats_are_floats_and_integers_are_not() {
    let lanes = "(module (func (param v128) (result v128) local.get 0 local.get 0 f32x4.add))";
    assert_eq!(floats(&module(lanes)).unwrap().count(), 1);
    let whole = "(module (func (param v128) (result v128) local.get 0 local.get 0 i32x4.add))";
    assert_eq!(floats(&module(whole)).unwrap().count(), 0);
}

#[test]
fn a_function_without_a_name_has_its_number() {
    let text = "(module (import \"a\" \"b\" (func)) (func) (func (result f32) f32.const 0))";
    let [FloatFunction { name, .. }] = &floats(&module(text)).unwrap().functions[..] else { panic!("there is one") };
    assert_eq!(name, "function 2");
}

#[test]
fn a_name_says_nothing_to_a_terminal() {
    let text = "(module (func $\"\\1b[2J\" (result f32) f32.const 0))";
    assert_eq!(floats(&module(text)).unwrap().functions[0].name, r"\u001b[2J");
}

#[test]
fn what_is_no_module_is_refused() {
    for bytes in [&b""[..], b"\0as", b"fn main() {}", &[0x7f, b'E', b'L', b'F']] {
        assert_eq!(floats(bytes), Err(FloatsError::NoModule));
    }
    let wasm = module("(module (func (result i32) i32.const 7))");
    for len in 8..wasm.len() {
        match floats(&wasm[..len]) {
            Err(error) => assert_eq!(error.to_string().lines().count(), 1),
            // Cut between two sections, a module can be whole: without code, or without names.
            Ok(found) => assert_eq!(found.count(), 0),
        }
    }
    // Without the memory that it loads from it would not run, and proves nothing.
    assert!(matches!(floats(&module(&WARM.replace("(memory 1)", ""))), Err(FloatsError::Damaged(_))));
    // A component begins as a module does.
    assert!(matches!(floats(b"\0asm\x0d\0\x01\0"), Err(FloatsError::Damaged(_))));
}
