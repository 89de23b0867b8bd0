//! Tests languages whose syntax needs special handling.

use super::*;

#[test]
fn all_forms_of_named_javascript_functions_are_found() {
    let text = "#!/usr/bin/env node\nimport fs from 'fs';\n\n/** Adds. */\nexport function add(a, b) { return a + b; }\n\n\
        export const twice = async (x) => {\n  return 2 * x;\n};\n\nconst LIMIT = 5;\n\n\
        exports.half = function (x) { return x / 2; };\n\nfunction* all() {}\n\n\
        const Item = memo((props) => {\n  return <b>{props.x}</b>;\n});\n\nconst sums = list.map((x) => x + 1);\n";
    check(
        Language::JavaScript,
        text,
        &[
            "§ - | #!/usr/bin/env node … import fs from 'fs';",
            "§ add | /** Adds. */ … export function add(a, b) { return a + b; }",
            "§ twice | export const twice = async (x) => { … };",
            "§ - | const LIMIT = 5;",
            "§ exports.half | exports.half = function (x) { return x / 2; };",
            "§ all | function* all() {}",
            "§ Item | const Item = memo((props) => { … });",
            "§ - | const sums = list.map((x) => x + 1);",
        ],
    );
}

#[test]
fn a_large_javascript_class_is_split_into_its_methods() {
    let line = "    this.print('a statement of some length');\n";
    let text = format!(
        "/**\n * Keeps things.\n * @since 2\n */\nexport default class Store extends Base {{\n  #x = 1;\n\n  \
        // about get\n  get size() {{\n{}  }}\n\n  handle = (event) => {{\n{}  }};\n}}\n\nrun();\n",
        filler(line),
        filler(line)
    );
    check(
        Language::JavaScript,
        &text,
        &[
            "§ Store | /** … #x = 1;",
            "§ Store.size < class Store extends Base / Keeps things. | // about get … }",
            "§ Store.handle < class Store extends Base / Keeps things. | handle = (event) => { … };",
            "  Store.handle < class Store extends Base > handle = (event) => / Keeps things. | }",
            "§ - | run();",
        ],
    );
}

#[test]
fn javascript_in_a_closure_is_found() {
    let text = "(function (root) {\n  'use strict';\n\n  function load(x) {\n    return x;\n  }\n\n  \
        var save = function (y) {\n    return y;\n  };\n}(this));\n";
    check(
        Language::JavaScript,
        text,
        &[
            "§ - | (function (root) { … 'use strict';",
            "§ load | function load(x) { … }",
            "§ save | var save = function (y) { … };",
            "§ - | }(this));",
        ],
    );
}

#[cfg(feature = "grammar-typescript")]
#[test]
fn typescript_types_modules_and_decorated_methods_are_found() {
    let line = "    this.print('a statement of some length');\n";
    let text = format!(
        "// The shape.\nexport interface Shape {{ area(): number }}\n\ntype Id = string | number;\n\n\
        declare function load(path: string): void;\n\nexport enum Kind {{ A, B }}\n\n\
        namespace Geo.Flat {{\n  export function area(s: Shape): number {{ return 1; }}\n}}\n\n\
        @Component({{ selector: 'x' }})\nexport abstract class Page<T> implements OnInit {{\n  \
        constructor(private x: T) {{}}\n\n  @Input()\n  public async read(x?: T): Promise<T> {{\n{}  }}\n\n  \
        abstract write(): void;\n\n  change = (x: T): void => {{\n{}  }};\n}}\n",
        filler(line),
        filler(line)
    );
    let head = "Page.constructor < abstract class Page<T> implements OnInit";
    let found = outline(&text, Language::TypeScript);
    assert_sound(&text, Language::TypeScript);
    for expected in [
        "§ Shape | // The shape. … export interface Shape { area(): number }",
        "§ Id | type Id = string | number;",
        "§ - | declare function load(path: string): void;",
        "§ Kind | export enum Kind { A, B }",
        "§ Geo.Flat | namespace Geo.Flat { … }",
        "§ Page | @Component({ selector: 'x' }) … export abstract class Page<T> implements OnInit {",
        &format!("§ {head} | constructor(private x: T) {{}}"),
        "§ Page.read < abstract class Page<T> implements OnInit | @Input() … }",
        "§ Page < abstract class Page<T> implements OnInit | abstract write(): void;",
        "§ Page.change < abstract class Page<T> implements OnInit | change = (x: T): void => { … };",
    ] {
        assert!(found.contains(&format!("{expected}\n")), "{expected}\n{found}");
    }
}

#[cfg(feature = "grammar-typescript")]
#[test]
fn typescript_is_parsed_with_jsx_elements_and_with_casts() {
    let elements = "export function App(p: Props) {\n  return <div className=\"x\">{p.name}</div>;\n}\n\nconst a = 1;\n";
    check(
        Language::TypeScript,
        elements,
        &["§ App | export function App(p: Props) { … }", "§ - | const a = 1;"],
    );
    let casts = "function f(x: any) {\n  return <string>x;\n}\n\nfunction g() {}\n";
    check(
        Language::TypeScript,
        casts,
        &["§ f | function f(x: any) { … }", "§ g | function g() {}"],
    );
}

#[cfg(feature = "grammar-rust")]
#[test]
fn rust_methods_are_qualified_by_their_type() {
    let line = "        say(\"a statement of some length\");\n";
    let text = format!(
        "//! About.\n\nuse std::fmt;\n\n/// Keeps things.\n///\n/// More.\n#[derive(Debug)]\npub struct Stack<T> {{ items: Vec<T> }}\n\n\
        impl<T> Stack<T> {{\n    /// Pushes.\n    #[inline]\n    pub fn push(&mut self, x: T) {{\n{}    }}\n\n    \
        fn len(&self) -> usize {{\n{}        0\n    }}\n}}\n\nimpl<T: fmt::Debug> fmt::Display for &mut Stack<T> {{\n    \
        fn fmt(&self) {{}}\n}}\n\n#[test] fn works() {{}}\n\nmacro_rules! all {{ () => {{}} }}\n\nmod tests;\n",
        filler(line),
        filler(line)
    );
    check(
        Language::Rust,
        &text,
        &[
            "§ - | //! About. … use std::fmt;",
            "§ Stack | /// Keeps things. … pub struct Stack<T> { items: Vec<T> }",
            "§ Stack | impl<T> Stack<T> {",
            "§ Stack::push < impl<T> Stack<T> / Keeps things. | /// Pushes. … }",
            "§ Stack::len < impl<T> Stack<T> / Keeps things. | fn len(&self) -> usize { … }",
            "  Stack::len < impl<T> Stack<T> > fn len(&self) -> usize / Keeps things. | }",
            "§ Stack | impl<T: fmt::Debug> fmt::Display for &mut Stack<T> { … }",
            "§ works | #[test] fn works() {}",
            "§ all | macro_rules! all { () => {} }",
            "§ - | mod tests;",
        ],
    );
}

#[test]
fn rust_modules_and_traits_qualify_their_items() {
    let line = "            say(\"a statement of some length\");\n";
    let text = format!(
        "mod inner {{\n    trait Shape {{\n        fn area(&self) -> f64;\n\n        fn name(&self) {{\n{}{}        }}\n    }}\n}}\n",
        filler(line),
        filler(line)
    );
    let found = outline(&text, Language::Rust);
    assert!(
        found.contains("§ inner::Shape < mod inner | trait Shape { … fn area(&self) -> f64;"),
        "{found}"
    );
    assert!(found.contains("§ inner::Shape::name < mod inner > trait Shape |"), "{found}");
}

#[test]
fn c_functions_are_named_by_their_declarators() {
    let text = "#include <stdio.h>\n\n#define SQUARE(x) ((x) * (x))\n// Says it.\nstatic const char **names(int n)\n{\n  return 0;\n}\n\n\
        int (*pick(void))(int) { return 0; }\n\nstruct point { int x, y; };\n\n\
        typedef struct {\n  int a;\n} pair_t;\n\nstatic struct { int z; } table[2];\n\n\
        int declared(struct point *p);\n\nenum kind { A, B };\n\n#ifdef DEBUG\nvoid trace(void) {}\n#endif /* DEBUG */\n";
    check(
        Language::C,
        text,
        &[
            "§ - | #include <stdio.h> … #define SQUARE(x) ((x) * (x))",
            "§ names | // Says it. … }",
            "§ pick | int (*pick(void))(int) { return 0; }",
            "§ point | struct point { int x, y; };",
            "§ pair_t | typedef struct { … } pair_t;",
            "§ table | static struct { int z; } table[2];",
            "§ - | int declared(struct point *p);",
            "§ kind | enum kind { A, B };",
            "§ trace | #ifdef DEBUG … void trace(void) {}",
            "  trace < void trace(void) | #endif /* DEBUG */",
        ],
    );
}

#[cfg(feature = "grammar-cpp")]
#[test]
fn cpp_names_include_namespace_and_class() {
    let line = "    std::puts(\"a statement of some length\");\n";
    let text = format!(
        "#include <vector>\n\nnamespace geo {{\n\n// A shape.\ntemplate <typename T>\nclass Shape : public Base {{\n public:\n  \
        Shape() : x(1) {{}}\n\n  virtual ~Shape() = default;\n\n  bool operator==(const Shape& o) const {{\n{}  }}\n\n  \
        explicit operator bool() const {{\n{}  }}\n\n \
        private:\n  T x;\n}};\n\ntemplate <typename T>\nvoid Shape<T>::draw(int n) {{\n{}}}\n\n}}  // namespace geo\n\n\
        int main() {{ return 0; }}\n",
        filler(line),
        filler(line),
        filler(line)
    );
    check(
        Language::Cpp,
        &text,
        &[
            "§ - | #include <vector>",
            "§ geo | namespace geo {",
            "§ geo::Shape < namespace geo | // A shape. … public:",
            "§ geo::Shape::Shape < namespace geo > class Shape : public Base / A shape. | Shape() : x(1) {}",
            "§ geo::Shape < namespace geo > class Shape : public Base / A shape. | virtual ~Shape() = default;",
            "§ geo::Shape::operator== < namespace geo > class Shape : public Base / A shape. | bool operator==(const Shape& o) const { … }",
            "§ geo::Shape::operator bool < namespace geo > class Shape : public Base / A shape. | explicit operator bool() const { … }",
            "§ geo::Shape < namespace geo > class Shape : public Base / A shape. | private: … };",
            "§ geo::Shape::draw < namespace geo | template <typename T> … }",
            "  geo::Shape::draw < namespace geo > void Shape<T>::draw(int n) | }  // namespace geo",
            "§ main | int main() { return 0; }",
        ],
    );
}

#[test]
fn java_methods_have_their_class_and_its_documentation_as_context() {
    let line = "        System.out.println(\"a statement of some length\");\n";
    let text = format!(
        "package org.tide;\n\nimport java.util.List;\n\n/**\n * Reads gauges.\n *\n * @author A\n */\n@Service\n\
        public final class Reader<T> implements Closeable {{\n    private int x = 1;\n\n    public Reader() {{\n{}    }}\n\n    \
        /** Reads. */\n    @Override\n    public List<T> read(int n) throws IOException {{\n{}    }}\n\n    \
        record Point(int x, int y) {{}}\n}}\n\ninterface Small {{ void run(); }}\n",
        filler(line),
        filler(line)
    );
    let class = "@Service public final class Reader<T> implements Closeable / Reads gauges.";
    check(
        Language::Java,
        &text,
        &[
            "§ - | package org.tide; … import java.util.List;",
            "§ Reader | /** … private int x = 1;",
            &format!("§ Reader.Reader < {class} | public Reader() {{ … }}"),
            &format!("§ Reader.read < {class} | /** Reads. */ … }}"),
            &format!("§ Reader.Point < {class} | record Point(int x, int y) {{}}"),
            "  Reader.Point < @Service public final class Reader<T> implements Closeable > record Point(int x, int y) / Reads gauges. | }",
            "§ Small | interface Small { void run(); }",
        ],
    );
}

pub(super) const JAVASCRIPT: &str = "import a from 'a';\n/** D */\nexport class A extends B {\n  #x = `ä${1}\n`;\n  \
    m(y) { return <b>{y}</b>; }\n}\nconst f = async (x) => { };\nexports.g = function () {};\n";
pub(super) const TYPESCRIPT: &str = "@dec()\nexport abstract class A<T> {\n  @p() x: T;\n  abstract m(): void;\n}\n\
    declare module 'ü' { function f(x: string): void; }\ntype T = { a?: number };\nenum E { A }\n";
pub(super) const RUST: &str = "//! D ß\nuse a::b;\n/// S\n#[derive(Debug)] #[x]\nstruct S<T>(T);\nimpl<T> Tr for S<T> {\n  \
    fn m<'a>(&'a self) -> u8 { match 1 { _ => 2 } }\n}\nmod m { trait T { fn f(); } }\nmacro_rules! x { () => {} }\n";
pub(super) const C: &str = "#include <a.h>\n#define M(x) \\\n  x\n#if X\nint *f(int a[]) /* ö */\n{ if (a) { } }\n#else\n\
    typedef struct s { int x; } s_t;\n#endif\nstatic struct { int y; } z = { 1 };\nenum { A };\n";
pub(super) const CPP: &str = "namespace a::b {\ntemplate <class T>\nclass C : D {\n public:\n  C() : x{1} {}\n  \
    operator bool() const { return true; }\n};\n}  // namespace ä\nint N::C<int>::f() { return 1; }\n";
pub(super) const JAVA: &str = "package p;\n/** D */\n@A(1)\nclass C<T> extends B {\n  // ï\n  C() {}\n  \
    @Override int m() { return 1; }\n  enum E { X { void f() {} } }\n  record R(int x) { R {} }\n}\n";
