//! Source code in, one block per definition out (tree-sitter).
