//! Tests which definitions stay together with a type outside of its declaration.

use super::*;

#[test]
fn only_what_belongs_to_a_go_type_continues_its_section() {
    let text = "package x\n\ntype A struct{}\n\nfunc Open() (a *A, err error) { return }\n\n\
        // ---- methods ----\n\nfunc (a A) M() {}\n\nfunc all() []A { return nil }\n\n\
        func (a A) N() {}\n\nfunc (a A) O() {}\n\ntype B struct{}\n\nvar b B\n\nfunc (b B) M() {}\n";
    check(
        Language::Go,
        text,
        &[
            "§ - | package x",
            "§ A | type A struct{}",
            "  Open | func Open() (a *A, err error) { return }",
            "  - | // ---- methods ----",
            "  A.M < type A struct | func (a A) M() {}",
            "§ all | func all() []A { return nil }",
            "§ A.N < type A struct | func (a A) N() {}",
            "§ A.O < type A struct | func (a A) O() {}",
            "§ B | type B struct{}",
            "§ - | var b B",
            "§ B.M < type B struct | func (b B) M() {}",
        ],
    );
}

#[cfg(feature = "grammar-rust")]
#[test]
fn rust_types_and_their_impl_blocks_are_one_section() {
    let text = "/// Keeps.\nstruct A(u8);\n\nimpl A {\n    fn new() -> Self { Self(1) }\n}\n\n\
        impl Clone for A {\n    fn clone(&self) -> Self { Self(self.0) }\n}\n\nfn free() {}\n\n\
        impl Drop for A {\n    fn drop(&mut self) {}\n}\n";
    check(
        Language::Rust,
        text,
        &[
            "§ A | /// Keeps. … struct A(u8);",
            "  A | impl A { … }",
            "  A | impl Clone for A { … }",
            "§ free | fn free() {}",
            "§ A | impl Drop for A { … }",
        ],
    );
}

#[cfg(feature = "grammar-cpp")]
#[test]
fn cpp_classes_and_methods_outside_of_them_are_one_section() {
    let text = "class A {\n public:\n  void m();\n  int n();\n};\n\nvoid A::m() {}\n\nint A::n() { return 1; }\n\n\
        int free() { return 0; }\n\nnamespace geo {\nvoid B::m() {}\nvoid B::n() {}\nvoid C::n() {}\n}\n";
    let found = outline(text, Language::Cpp);
    let signs: Vec<&str> = found.lines().map(|line| line.split(" |").next().unwrap()).collect();
    assert_eq!(signs, ["§ A", "  A::m", "  A::n", "§ free", "§ geo"]);
    // The members of a long namespace are visited.
    let filler = filler("// a comment of some length\n").repeat(2);
    let long = text.replace("void C::n", &format!("{filler}void C::n"));
    let found = outline(&long, Language::Cpp);
    assert!(found.contains("§ geo::B::m") && found.contains("  geo::B::n"), "{found}");
    assert!(found.contains("§ geo::C::n"), "{found}");
}

#[test]
fn long_methods_continue_the_section_of_their_type() {
    let text = format!(
        "package x\n\ntype A struct {{ n int }}\n\nfunc (a *A) M() {{\n{}}}\n\nfunc (a *A) N() {{\n{}}}\n",
        filler("\tfmt.Println(\"a statement\")\n"),
        filler("\tfmt.Println(\"a statement\")\n"),
    );
    check(
        Language::Go,
        &text,
        &[
            "§ - | package x",
            "§ A | type A struct { n int }",
            "  A.M < type A struct | func (a *A) M() { … }",
            "  A.N < type A struct | func (a *A) N() { … }",
        ],
    );
}
