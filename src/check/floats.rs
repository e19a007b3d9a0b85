//! Float instructions in a WebAssembly module: a proof that a simulation computes with none.
//!
//! Floats that are added and multiplied come out alike on most machines; their minimum, their
//! square root, what a library makes of a sine, and what a compiler fuses do not. A game cannot see
//! from its source whether a float is in what it simulates: a crate may hold it. The compiled
//! module shows it, since WebAssembly names its floats in each instruction.
//!
//! # Which module
//! A program for `wasm32-wasip1` in which the game plays by itself and prints checksums: build,
//! bots, steps, checksums, and nothing else. Then all that is simulated must be in it, and what
//! draws the world is not: the linker leaves out what cannot be reached. The dungeon's is
//! `examples/dungeon/examples/golden`, whose count is 0:
//!
//! ```text
//! cargo build --release -p dungeon --example golden --target wasm32-wasip1
//! dungeon check floats target/wasm32-wasip1/release/examples/golden.wasm
//! ```
//!
//! A game's own client is the wrong module: its picture has floats by right. Build for
//! release, and keep the names (no `strip`): a debug build holds what is never called. A few
//! functions may be neighbours of the simulation rather than part of it. A program that reads
//! recordings, for one, has serde's messages about unexpected values, which can print a float:
//! `<serde_core::de::Unexpected as`, `core::fmt::float::` and `<f64 as core::fmt::`, five
//! instructions in all. [`Floats::allow`] sets such apart by the beginning of their names.
//! Code that was inlined goes by the name of the function that it ended in, so allow what you
//! know, and no more.
//!
//! # How the rules come to it
//! A float may be hidden in a crate that the rules use, behind a name that says nothing to the
//! game's author. So the calls are followed from `think` on: what it leads to is told first, by the
//! last function of the rules' own crate on the way, and the whole way with it. Calls through
//! tables are not followed. If `think` was inlined, the way begins with the engine's step.
//!
//! It reads bytes and changes nothing. A module that is damaged is refused as a whole: half
//! a proof is none.

use std::cmp::Reverse;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, VecDeque};
use std::fmt;

use lockstone_net::text::escaped;
use serde::Serialize;
use wasmparser::{KnownCustom, Name, Operator, Parser, Payload, TypeRef, Validator};

/// Why a file cannot be looked through.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FloatsError {
    /// It begins otherwise than a module does.
    #[error("it is no WebAssembly module")]
    NoModule,
    /// It begins as a module, and is none.
    #[error("the WebAssembly module is damaged: {0}")]
    Damaged(String),
}

/// What was found in a module.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Floats {
    /// How many functions were looked through.
    pub looked_through: usize,
    /// Those with float instructions: first those to which `think` leads, the shortest way first;
    /// then those with most.
    pub functions: Vec<FloatFunction>,
    /// Those that may have them: see [`Floats::allow`].
    pub allowed: Vec<FloatFunction>,
}

/// A function with float instructions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FloatFunction {
    /// Its name, as it is in the source. Of a module without names, its number.
    pub name: String,
    /// How many it has.
    pub count: usize,
    /// The first: `f64.mul`.
    pub first: String,
    /// Where that is: bytes from the beginning of the file.
    pub offset: u64,
    /// How `think` leads to it: from function to function, itself the last. Empty if it does not.
    pub way: Vec<String>,
}

impl FloatFunction {
    /// The last function on the way from `think` that is of the rules' own crate.
    pub fn own(&self) -> Option<&str> {
        let own = crate_of(self.way.first()?);
        self.way.iter().rev().map(String::as_str).find(|name| crate_of(name) == own)
    }
}

/// The crate that a function is declared in: `game` of `<game::Wolves as sim::Rules>::think`.
fn crate_of(name: &str) -> &str {
    name.trim_start_matches(['<', '&', '(']).split("::").next().unwrap_or_default()
}

impl Floats {
    /// How many float instructions there are, without those that are allowed.
    pub fn count(&self) -> usize {
        self.functions.iter().map(|function| function.count).sum()
    }

    /// Sets apart the functions whose names begin with one of these.
    pub fn allow(&mut self, beginnings: &[String]) {
        let may =
            |function: &mut FloatFunction| beginnings.iter().any(|begin| function.name.starts_with(begin.as_str()));
        self.allowed.extend(self.functions.extract_if(.., may));
    }
}

impl fmt::Display for Floats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for function in &self.functions {
            let FloatFunction { name, count, first, offset, way } = function;
            match function.own().filter(|own| own != name) {
                Some(own) => writeln!(f, "{count:6}  {own} calls {name}, the first {first} at byte {offset}")?,
                None => writeln!(f, "{count:6}  {name}, the first {first} at byte {offset}")?,
            }
            if way.len() > 1 {
                writeln!(f, "        by way of {}", way.join(" > "))?;
            }
        }
        for FloatFunction { name, count, .. } in &self.allowed {
            writeln!(f, "{count:6}  {name}, allowed")?;
        }
        write!(f, "functions {}\nfloats {}", self.looked_through, self.count())
    }
}

/// Looks for float instructions in a module: all whose names hold `f32` or `f64`, so constants,
/// loads, conversions and vectors too.
///
/// # Errors
/// [`FloatsError`] if the bytes are no module, or a damaged one.
pub fn floats(wasm: &[u8]) -> Result<Floats, FloatsError> {
    if !wasm.starts_with(b"\0asm") {
        return Err(FloatsError::NoModule);
    }
    let damaged = |error: wasmparser::Error| FloatsError::Damaged(error.to_string());
    Validator::new().validate_all(wasm).map_err(damaged)?;
    look_through(wasm).map_err(damaged)
}

fn look_through(wasm: &[u8]) -> wasmparser::Result<Floats> {
    let (mut next, mut looked_through) = (0_u32, 0);
    let (mut found, mut names, mut calls) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
    for payload in Parser::new(0).parse_all(wasm) {
        match payload? {
            Payload::ImportSection(imports) => {
                for import in imports.into_imports() {
                    next += u32::from(matches!(import?.ty, TypeRef::Func(_) | TypeRef::FuncExact(_)));
                }
            }
            Payload::CodeSectionEntry(body) => {
                let (floats, called) = read_body(next, &body)?;
                found.extend(floats.map(|function| (next, function)));
                calls.insert(next, called);
                next += 1;
                looked_through += 1;
            }
            Payload::CustomSection(section) => {
                if let KnownCustom::Name(sections) = section.as_known() {
                    names.extend(sections.into_iter().flatten().flat_map(function_names));
                }
            }
            _ => {}
        }
    }
    let came_from = reached(&names, &calls);
    for (index, function) in &mut found {
        if let Some(name) = names.get(index) {
            function.name.clone_from(name);
        }
        function.way = way(*index, &came_from, &names);
    }
    let mut functions: Vec<_> = found.into_values().collect();
    functions.sort_by_key(|function| (function.way.is_empty(), function.way.len(), Reverse(function.count)));
    Ok(Floats { looked_through, functions, allowed: Vec::new() })
}

/// What `think` leads to, and from which function it is reached first; a root from itself.
fn reached(names: &BTreeMap<u32, String>, calls: &BTreeMap<u32, Vec<u32>>) -> BTreeMap<u32, u32> {
    let roots =
        |is_root: fn(&str) -> bool| names.iter().filter(move |(_, name)| is_root(name)).map(|(index, _)| *index);
    let thinks: Vec<u32> = roots(|name| name.ends_with("::think")).collect();
    let mut next: VecDeque<u32> = match thinks.is_empty() {
        true => roots(|name| name.contains("lockstone_sim::world::step")).collect(),
        false => thinks.into(),
    };
    let mut came_from: BTreeMap<u32, u32> = next.iter().map(|root| (*root, *root)).collect();
    while let Some(caller) = next.pop_front() {
        for &called in calls.get(&caller).into_iter().flatten() {
            if let Entry::Vacant(place) = came_from.entry(called) {
                place.insert(caller);
                next.push_back(called);
            }
        }
    }
    came_from
}

/// The names on the way to a function.
fn way(to: u32, came_from: &BTreeMap<u32, u32>, names: &BTreeMap<u32, String>) -> Vec<String> {
    let name = |index: &u32| names.get(index).cloned().unwrap_or_else(|| format!("function {index}"));
    let before = |index: &u32| came_from.get(index).copied().filter(|before| before != index);
    let on_way = std::iter::successors(came_from.contains_key(&to).then_some(to), before);
    let mut way: Vec<_> = on_way.map(|index| name(&index)).collect();
    way.reverse();
    way
}

/// The float instructions of a function that has no name but its number yet, and which functions it
/// calls.
fn read_body(index: u32, body: &wasmparser::FunctionBody<'_>) -> wasmparser::Result<(Option<FloatFunction>, Vec<u32>)> {
    let (mut found, mut calls) = (None::<FloatFunction>, Vec::new());
    for operator in body.get_operators_reader()?.into_iter_with_offsets() {
        let (operator, offset) = operator?;
        if let Operator::Call { function_index } | Operator::ReturnCall { function_index } = operator {
            calls.push(function_index);
        }
        let instruction = instruction(&operator);
        if instruction.contains("f32") || instruction.contains("f64") {
            let (name, first) = (format!("function {index}"), instruction.replacen('_', ".", 1));
            let way = Vec::new();
            found.get_or_insert(FloatFunction { name, count: 0, first, offset, way }).count += 1;
        }
    }
    Ok((found, calls))
}

/// What an instruction is called: `f32_add`.
fn instruction(operator: &Operator<'_>) -> &'static str {
    macro_rules! names {
        ($(@$proposal:ident $op:ident $({ $($arg:ident: $type:ty),* })? => $visit:ident ($($arity:tt)*))*) => {
            match operator {
                $(Operator::$op { .. } => stringify!($visit),)*
                _ => "",
            }
        };
    }
    let name = wasmparser::for_each_operator!(names);
    name.strip_prefix("visit_").unwrap_or(name)
}

/// The functions' names, of a part of the section of names. What cannot be read there is left out:
/// names prove nothing.
fn function_names(part: Name<'_>) -> Vec<(u32, String)> {
    let Name::Function(names) = part else { return Vec::new() };
    names.into_iter().flatten().map(|naming| (naming.index, demangled(naming.name))).collect()
}

/// As it is in the source, without the hash at the end, and with nothing that a
/// terminal would obey.
fn demangled(name: &str) -> String {
    escaped(format_args!("{:#}", rustc_demangle::demangle(name)))
}
