//! Checks that the files of a crate form no circle: no chain of files, each of which uses the next, leads back to its
//! first file.
//!
//! A file uses another if it imports or names an item that is defined there. A name that a file only passes on is
//! followed to its definition, so a `mod.rs` that declares and re-exports uses nothing, and nothing uses it. Tests do not
//! count. Neither do methods and what macros expand to, as no path says where they are.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::sources::{Source, sources};

/// The words of a path, of which the first is the name of a crate.
type Path<'a> = Vec<&'a str>;

/// A name that a file imports.
struct Import<'a> {
    name: &'a str,
    path: Path<'a>,
    /// Whether other files may use the name from here.
    is_public: bool,
}

/// A file with the items that it defines, imports and names.
struct File<'a> {
    path: &'a str,
    imports: Vec<Import<'a>>,
    functions: BTreeSet<&'a str>,
    /// The paths and words of its code, as if they began with the names of its items, and whether each is called.
    named: BTreeSet<(Path<'a>, bool)>,
}

/// All files by the paths of their modules.
struct Files<'a>(BTreeMap<Path<'a>, File<'a>>);

/// Reads a tree of imports, adds the path and the name of each, and returns the sign that ends the tree.
fn read_tree<'a>(
    tokens: &mut impl Iterator<Item = &'a str>,
    above: &[&'a str],
    found: &mut Vec<(Path<'a>, &'a str)>,
) -> &'a str {
    let mut path = above.to_vec();
    let mut alias = None;
    loop {
        match tokens.next().expect("an import ends") {
            "::" => {}
            "as" => alias = tokens.next(),
            "{" => {
                while read_tree(tokens, &path, found) == "," {}
                return tokens.next().expect("an import ends");
            }
            end @ ("," | "}" | ";") => {
                // A comma may be followed by nothing.
                if path.len() > above.len() {
                    path.pop_if(|last| *last == "self");
                    let name = alias.or(path.last().copied());
                    found.extend(name.map(|name| (path, name)));
                }
                return end;
            }
            word => path.push(word),
        }
    }
}

impl<'a> File<'a> {
    fn read(source: &'a Source, module: &[&'a str], modules: &BTreeSet<Path<'a>>) -> Self {
        let is_word = |text: &str| text.starts_with(|c: char| c.is_alphabetic() || c == '_');
        let (imports, functions, named) = Default::default();
        let mut file = Self { path: &source.path, imports, functions, named };
        let tokens = source.tokens();
        let mut at = 0;
        while let Some(token) = tokens.get(at) {
            let before = at.checked_sub(1).map_or("", |before| tokens[before]);
            at += 1;
            if *token == "use" {
                let (mut tree, mut found) = (tokens[at..].iter().copied(), Vec::new());
                read_tree(&mut tree, &[], &mut found);
                at = tokens.len() - tree.len();
                let is_public = ["pub", ")"].contains(&before);
                file.imports.extend(found.into_iter().filter_map(|(path, name)| {
                    // All others are from outside.
                    let is_inside = ["crate", "super", "self"].contains(&path[0])
                        || path[0].starts_with("kb_")
                        || modules.contains(&[module, &path[..1]].concat());
                    is_inside.then(|| Import { name, path: absolute(module, &path), is_public })
                }));
            } else if before == "fn" {
                file.functions.insert(token);
            } else if is_word(token) && ![".", "::", "mod"].contains(&before) {
                let mut path = vec![*token];
                while let ["::", word, ..] = tokens[at..]
                    && is_word(word)
                {
                    path.push(word);
                    at += 2;
                }
                let is_called = tokens.get(at) == Some(&"(");
                file.named.insert((absolute(module, &path), is_called));
            }
        }
        file
    }
}

/// Returns a path in the file of a module as a path from the top.
fn absolute<'a>(module: &[&'a str], path: &[&'a str]) -> Path<'a> {
    let num_supers = path.iter().take_while(|word| **word == "super").count();
    match path[0] {
        "crate" => [&module[..1], &path[1..]].concat(),
        "self" => [module, &path[1..]].concat(),
        "super" => {
            let len = module.len().saturating_sub(num_supers);
            [&module[..len], &path[num_supers..]].concat()
        }
        first => match first.strip_prefix("kb_") {
            Some(name) => [&[name], &path[1..]].concat(),
            None => [module, path].concat(),
        },
    }
}

impl<'a> Files<'a> {
    fn new(sources: &'a [Source]) -> Self {
        let crates: BTreeSet<&str> =
            sources.iter().filter_map(|source| source.path.strip_suffix("/lib.rs")).collect();
        let module = |source: &'a Source| {
            let mut module: Path<'a> = source.path.trim_end_matches(".rs").split('/').collect();
            module.pop_if(|last| ["lib", "mod"].contains(last));
            if !module.first().is_some_and(|first| crates.contains(first)) {
                module.insert(0, "program");
            }
            module
        };
        let modules: BTreeSet<Path<'a>> = sources.iter().map(module).collect();
        let read = |source| (module(source), File::read(source, &module(source), &modules));
        Self(sources.iter().map(read).collect())
    }

    /// Returns the file that defines what a path leads to, and what it is called there; `None` for a module.
    fn home(&self, path: &[&'a str], is_called: bool) -> Option<(&'a str, String)> {
        let end = (1..path.len()).rev().find(|end| self.0.contains_key(&path[..*end]))?;
        let (file, name, rest) = (&self.0[&path[..end]], path[end], &path[end + 1..]);
        let mut imports = file.imports.iter().filter(|import| import.name == name).peekable();
        if imports.peek().is_some() {
            return imports.find_map(|import| self.home(&[&import.path, rest].concat(), is_called));
        }
        // A function may have the name of a module.
        let is_function = is_called && file.functions.contains(name);
        let is_item = !rest.is_empty() || !self.0.contains_key(path) || is_function;
        is_item.then(|| (file.path, path[end..].join("::")))
    }

    /// Returns the other files that a file uses, each with an item that is the reason.
    fn used_by(&self, file: &File<'a>) -> BTreeMap<&'a str, String> {
        let private = file.imports.iter().filter(|import| !import.is_public);
        let homes = private.filter_map(|import| self.home(&import.path, false));
        let homes = homes
            .chain(file.named.iter().filter_map(|(path, is_called)| self.home(path, *is_called)));
        homes.filter(|(path, _)| *path != file.path).collect()
    }

    /// Returns a shortest circle through each file that is in one, as one line.
    fn circles(&self) -> BTreeSet<String> {
        let uses: BTreeMap<&str, _> =
            self.0.values().map(|file| (file.path, self.used_by(file))).collect();
        let mut seen = BTreeSet::new();
        let ways = uses.keys().filter_map(|start| way_back(&uses, start));
        let ways = ways.filter(|way| seen.insert(way.iter().copied().collect::<BTreeSet<_>>()));
        ways.map(|way| {
            let steps =
                way.windows(2).map(|step| format!(" → {} ({})", step[1], uses[step[0]][step[1]]));
            format!("{}{}", way[0], steps.collect::<String>())
        })
        .collect()
    }
}

/// Returns a shortest way from a file back to itself.
fn way_back<'a>(
    uses: &BTreeMap<&'a str, BTreeMap<&'a str, String>>,
    start: &'a str,
) -> Option<Vec<&'a str>> {
    let mut seen = BTreeSet::new();
    let mut ways = VecDeque::from([vec![start]]);
    while let Some(way) = ways.pop_front() {
        for next in uses[way[way.len() - 1]].keys() {
            let longer = [way.as_slice(), &[*next]].concat();
            if *next == start {
                return Some(longer);
            }
            if seen.insert(*next) {
                ways.push_back(longer);
            }
        }
    }
    None
}

#[test]
fn no_circle_between_files() {
    let sources = sources();
    let files = Files::new(&sources);
    let num_uses: usize = files.0.values().map(|file| files.used_by(file).len()).sum();
    assert!(num_uses > 4 * sources.len(), "names are not found");
    let circles: Vec<String> = files.circles().into_iter().collect();
    assert!(circles.is_empty(), "{}", circles.join("\n"));
}

/// Returns the circles between these files.
fn circles_between(files: &[(&str, &str)]) -> Vec<String> {
    let source =
        |(path, code): &(&str, &str)| Source { path: (*path).into(), code: (*code).into() };
    let sources: Vec<Source> = files.iter().map(source).collect();
    Files::new(&sources).circles().into_iter().collect()
}

#[test]
fn planted_circles_are_found() {
    let lib = "pub mod a; pub mod b; pub use b::two;";
    for (one, two) in [
        ("use crate::b::Two; pub struct One;", "use crate::a::One; pub struct Two;"),
        ("use super::b::{self, Two}; pub struct One;", "struct Two; type T = crate::a::One;"),
        ("fn one() { crate::b::two() }", "use crate::{\n    a::{one as first,},\n}; fn two() {}"),
        ("const A: u8 = super::b::B;", "const B: u8 = 1; fn f() -> u8 { use crate::a; a::A }"),
        ("use crate::two; trait One {}", "pub use crate::a::One; fn two(_: impl One) {}"),
        ("use crate::b; fn one() { b::two('\"') }", "/* \" */ fn two(_: char) { crate::a::one() }"),
    ] {
        let found = circles_between(&[("lib.rs", lib), ("a.rs", one), ("b.rs", two)]);
        assert_eq!(found.len(), 1, "{one} {two}");
        assert!(
            found[0].starts_with("a.rs → b.rs (") && found[0].contains(") → a.rs ("),
            "{found:?}"
        );
    }
    let folder = [
        ("m/mod.rs", "mod n; pub use n::g; pub fn f() { g() }"),
        ("m/n.rs", "use super::f; pub fn g() { f() }"),
    ];
    assert_eq!(circles_between(&folder), ["m/mod.rs → m/n.rs (g) → m/mod.rs (f)"]);
    let of_crate = [
        ("store/lib.rs", "mod a; mod b; mod c;"),
        ("store/a.rs", "use crate::b::B; struct A;"),
        ("store/b.rs", "use crate::c::C; struct B;"),
        ("store/c.rs", "use crate::a::A; struct C;"),
    ];
    let found = circles_between(&of_crate);
    assert_eq!(found, ["store/a.rs → store/b.rs (B) → store/c.rs (C) → store/a.rs (A)"]);
}

#[test]
fn declarations_re_exports_comments_and_literals_are_no_uses() {
    let lib = "pub mod a; pub mod b; pub use a::One; pub use b::two;";
    let one = "use crate::two; pub struct One; fn f() { two() }";
    for two in [
        "fn two() {}",
        "fn two() {} // crate::a::One\n/* crate::a::One */",
        "fn two() -> (char, &'static str) { ('\"', \"crate::a::One \\\" crate::a::One\") }",
        "fn two() { r#\"\" crate::a::One\"#; }",
        "fn two<'a>(a: &'a str) {}",
        "pub use crate::a::One; fn two() {}",
        "use kb_a::One; use outside::a; fn two() { a::One; crate::One_; one.One }",
    ] {
        let found = circles_between(&[("lib.rs", lib), ("a.rs", one), ("b.rs", two)]);
        assert_eq!(found, [""; 0], "{two}");
    }
}
