//! Markdown in, blocks that carry their heading path out (pulldown-cmark).
