"""Finds the places in the program and its crates where a mutant can be made, and draws a sample of them."""

import dataclasses
import hashlib
import re

OPERATORS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "&&": "||", "||": "&&", "+": "-",
             "-": "+", "*": "/", "/": "*", "+=": "-=", "-=": "+="}
METHODS = {"min": "max", "first": "last", "is_some": "is_none", "is_ok": "is_err", "any": "all",
           "starts_with": "ends_with", "trim_start": "trim_end", "saturating_sub": "saturating_add", "floor": "ceil"}
METHODS |= {other: name for name, other in METHODS.items()}
# No mutants in these: the compiler evaluates them, or they are not expressions.
SKIPPED = {"const_item", "static_item", "const_block", "attribute_item", "inner_attribute_item", "macro_definition",
           "macro_invocation", "line_comment", "block_comment", "type_arguments"}
SKIPPED_FIELDS = {"pattern", "type", "return_type", "type_parameters", "parameters", "trait", "length"}
# Code that the tests of this machine do not run: tests, and what is compiled for other systems.
LEFT_OUT = re.compile(r"#\[test\]|\bcfg\(.*(\btest\b|windows|aarch64|fuzzing|not\()", re.DOTALL)
VALUES = {"binary_expression", "arguments", "return_expression", "let_declaration", "index_expression", "match_arm",
          "range_expression", "field_initializer", "block", "assignment_expression", "compound_assignment_expr",
          "tuple_expression", "parenthesized_expression", "array_expression", "unary_expression", "closure_expression"}
# A source file: its crate, unless it is the program's, and its path below `src/`.
SOURCE = re.compile(r"(?:crates/(?P<crate>\w+)/)?src/(?P<path>.*)\.rs")
# Longer texts are shortened where they name a mutant.
SHOWN = 90


@dataclasses.dataclass
class Site:
    """One mutant: an expression and the code that replaces it, or a statement that is left out (`code` is `None`)."""

    file: str
    function: str
    line: int
    column: int
    start: int
    end: int
    code: str | None
    original: str
    mutated: str
    occurrence: int = 1
    number: int = 0

    def place(self):
        return f"{self.file}:{self.line}:{self.column}"

    def stage(self):
        """Returns the path of the crate, and in the program of the top-level module."""
        parts = self.module().split("::")
        return "::".join(parts[:2]) if parts[0] == "kb" else parts[0]

    def module(self):
        """Returns the path of the module, from its crate on."""
        found = SOURCE.fullmatch(self.file)
        parts = [f"kb_{found['crate']}" if found["crate"] else "kb", *found["path"].split("/")]
        return "::".join(part for part in parts if part not in ("mod", "lib"))

    def shown(self):
        """Returns the original and the mutated text, each on one line; of long ones the part that differs."""
        before, after = " ".join(self.original.split()), " ".join(self.mutated.split()) or "(nothing)"
        differing = next((at for at, (old, new) in enumerate(zip(before, after)) if old != new), 0)
        start = max(0, differing - SHOWN // 2) if len(before) > SHOWN else 0
        return tuple(("… " if start else "") + text[start:start + SHOWN] + (" …" if start + SHOWN < len(text) else "")
                     for text in (before, after))

    def identity(self):
        """Returns what stays the same when lines above it change."""
        return (self.file, self.function, *self.shown(), self.occurrence)


class Finder:
    """Walks over the syntax tree of one file."""

    def __init__(self, file, source, tree):
        self.file, self.source, self.sites = file, source, []
        # Modules that are declared for other builds.
        self.left_out = []
        self.walk(tree.root_node, None, ())

    def text(self, node):
        return self.source[node.start_byte:node.end_byte].decode()

    def walk(self, node, function, names):
        attributes = ""
        for at, child in enumerate(node.children):
            if child.type == "attribute_item":
                attributes += self.text(child)
                continue
            if child.type in ("line_comment", "block_comment"):
                continue
            attributes, own = "", attributes
            if LEFT_OUT.search(own):
                if child.type == "mod_item":
                    self.left_out.append(self.text(child.child_by_field_name("name")))
                continue
            if child.type in SKIPPED or node.field_name_for_child(at) in SKIPPED_FIELDS:
                continue
            inner, path = function, names
            if child.type in ("impl_item", "trait_item", "mod_item"):
                named = child.child_by_field_name("type") or child.child_by_field_name("name")
                path = (*names, re.sub(r"<.*|\s", "", self.text(named)).split("::")[-1])
            if child.type == "function_item":
                head = self.source[child.start_byte:child.child_by_field_name("name").start_byte]
                if b"const " in head:
                    continue
                path = (*names, self.text(child.child_by_field_name("name")))
                inner = "::".join(path)
            if inner:
                self.mutate(child, node, inner)
            self.walk(child, inner, path)

    def with_part(self, node, part, text):
        """Returns the text of a node in which a part has another text."""
        before = self.source[node.start_byte:part.start_byte].decode()
        return before + text + self.source[part.end_byte:node.end_byte].decode()

    def add(self, node, function, code, shown=None):
        """Adds a mutant. `shown` is a larger node that says more about where it is."""
        shown = shown or node
        shown = shown.parent if shown.type == "arguments" else shown
        row, column = node.start_point
        self.sites.append(Site(self.file, function, row + 1, column + 1, node.start_byte, node.end_byte, code,
                               self.text(shown), self.with_part(shown, node, code or "")))

    def mutate(self, node, parent, function):
        kind = node.type
        if kind in ("binary_expression", "compound_assignment_expr"):
            operator = node.child_by_field_name("operator")
            # Texts can only be added.
            is_text = self.text(node.child_by_field_name("right")).startswith(("&", '"'))
            if self.text(operator) in OPERATORS and not (is_text and operator.type in ("+", "+=")):
                self.add(node, function, self.with_part(node, operator, OPERATORS[self.text(operator)]))
        elif kind == "integer_literal" and parent.type in VALUES:
            self.add(node, function, f"({self.text(node)} + 1)", shown=parent)
        elif kind == "boolean_literal" and parent.type in VALUES:
            self.add(node, function, {"true": "false", "false": "true"}[self.text(node)], shown=parent)
        elif kind == "if_expression":
            condition = node.child_by_field_name("condition")
            operator = condition.child_by_field_name("operator")
            is_equality = operator is not None and operator.type in ("==", "!=")
            if condition.type not in ("let_condition", "let_chain") and not is_equality:
                self.add(condition, function, f"!({self.text(condition)})")
        elif kind == "call_expression":
            called = node.child_by_field_name("function")
            method = called.child_by_field_name("field") if called.type == "field_expression" else None
            if method and self.text(method) in METHODS:
                self.add(node, function, self.with_part(node, method, METHODS[self.text(method)]))
        elif kind == "expression_statement" and parent.type == "block" and self.text(node).endswith(";"):
            what = node.children[0]
            what = what.children[0] if what.type == "try_expression" else what
            is_exit = what.type in ("return_expression", "break_expression", "continue_expression")
            if is_exit or what.type in ("call_expression", "assignment_expression"):
                self.add(node, function, None)


def find(root, parser):
    """Returns all sites, in the order of files and lines."""
    finders, left_out = {}, ["src/main.rs"]
    for path in sorted([*(root / "src").rglob("*.rs"), *root.glob("crates/*/src/**/*.rs")]):
        file, source = str(path.relative_to(root)), path.read_bytes()
        finders[file] = Finder(file, source, parser.parse(source))
        folder = file.removesuffix(".rs").removesuffix("/mod").removesuffix("/lib") + "/"
        for name in finders[file].left_out:
            left_out += [f"{folder}{name}.rs", f"{folder}{name}/"]
    sites = [site for file, finder in finders.items() if not file.startswith(tuple(left_out)) for site in finder.sites]
    counts = {}
    for site in sites:
        key = site.identity()
        counts[key] = site.occurrence = counts.get(key, 0) + 1
    for number, site in enumerate(sites, 1):
        site.number = number
    return sites


def draw(sites, seed):
    """Yields all sites in the order of a sample: one of each stage, then the next of each. A change of the source does
    not change the order of all other sites, and neither does a file that moves to another folder of its stage."""
    stages = {}
    for site in sites:
        stages.setdefault(site.stage(), []).append(site)
    for found in stages.values():
        key = lambda site: f"{seed} {site.file.split('/')[-1]} {site.identity()[1:]}"
        found.sort(key=lambda site: hashlib.sha256(key(site).encode()).digest())
    for turn in range(max(map(len, stages.values()), default=0)):
        yield from (found[turn] for found in stages.values() if turn < len(found))
