//! Picks the short texts that serve as context for other parts of the source.

use tree_sitter::Node;

/// Longest head of a definition: one readable line.
const MAX_HEAD_CHARS: usize = 120;

/// Longest extract of documentation: the rest of a context of 64 tokens.
const MAX_DOCS_CHARS: usize = 200;

/// Returns the name of a type.
pub(super) fn name<'a>(text: &'a str, definition: Node<'_>) -> Option<&'a str> {
    let name = &text[definition.child_by_field_name("name")?.byte_range()];
    (!name.is_empty()).then_some(name)
}

/// Returns a definition without its body, on one line: `class Point(Base)`.
pub(super) fn head(text: &str, node: Node<'_>) -> String {
    let head = match node.child_by_field_name("body") {
        Some(body) => &text[node.start_byte()..start_with_comments(body)],
        None => {
            let text_of_node = &text[node.byte_range()];
            text_of_node.split(['{', '\n']).next().unwrap_or(text_of_node)
        }
    };
    head_of_line(head)
}

/// Returns where a body begins, with the comments above its first statement.
fn start_with_comments(body: Node<'_>) -> usize {
    let mut first = body;
    while let Some(comment) = first.prev_sibling().filter(|node| node.kind() == "comment") {
        first = comment;
    }
    first.start_byte()
}

/// Returns the beginning of a definition on one line, without the mark that opens its body.
pub(super) fn head_of_line(head: &str) -> String {
    on_one_line(head.trim_end().trim_end_matches([':', '{']), MAX_HEAD_CHARS)
}

/// Returns the first paragraph of a comment, without comment marks, tags and attributes below it.
pub(super) fn comment_docs(comment: &str) -> Option<String> {
    let lines = comment.lines().map(str::trim);
    let lines = lines.filter(|line| !line.starts_with("#[") && !line.starts_with('@'));
    first_paragraph(lines.map(without_marks))
}

/// Returns a line of a comment without its marks; empty for a tag of documentation.
fn without_marks(line: &str) -> &str {
    let line = line.trim_start_matches(['/', '*', '#', '!']).trim_end_matches(['/', '*']);
    // Tags of documentation come after the description.
    let line = line.trim();
    if line.starts_with('@') { "" } else { line }
}

/// Returns the first paragraph of the string that a body begins with.
pub(super) fn docstring(text: &str, definition: Node<'_>) -> Option<String> {
    let body = definition.child_by_field_name("body")?;
    let statement = body.named_child(0).filter(|child| child.kind() == "expression_statement")?;
    let string = statement.named_child(0).filter(|child| child.kind() == "string")?;
    let mut cursor = string.walk();
    let content = string.children(&mut cursor).find(|child| child.kind() == "string_content")?;
    first_paragraph(text[content.byte_range()].lines().map(str::trim))
}

fn first_paragraph<'a>(lines: impl Iterator<Item = &'a str>) -> Option<String> {
    let paragraph: Vec<&str> = lines
        .skip_while(|line| line.is_empty())
        .take_while(|line| !line.is_empty())
        // More lines than this cannot be shown.
        .take(MAX_DOCS_CHARS)
        .collect();
    (!paragraph.is_empty()).then(|| on_one_line(&paragraph.join(" "), MAX_DOCS_CHARS))
}

/// Collapses white space to single spaces and cuts at a word, marking the cut with `…`.
fn on_one_line(text: &str, max_chars: usize) -> String {
    let mut line = String::new();
    let mut num_chars = 0;
    for word in text.split_whitespace() {
        let num_word_chars = word.chars().count() + usize::from(!line.is_empty());
        if num_chars + num_word_chars > max_chars {
            if line.is_empty() {
                line.extend(word.chars().take(max_chars));
            }
            line.push('…');
            break;
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
        num_chars += num_word_chars;
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documentation_is_reduced_to_its_first_paragraph() {
        let check = |comment, expected: Option<&str>| {
            assert_eq!(comment_docs(comment).as_deref(), expected, "{comment}");
        };
        check("// Stack keeps\n// things.\n//\n// More.", Some("Stack keeps things."));
        check("/*\n * Stack keeps.\n *\n * More.\n */", Some("Stack keeps."));
        check("# about it\n", Some("about it"));
        check("/// Keeps\n/// things.\n#[derive(Debug)]\n", Some("Keeps things."));
        check("/**\n * Keeps.\n * @param x what\n */\n@Inject\n", Some("Keeps."));
        check("//", None);
    }

    #[test]
    fn long_documentation_is_cut_at_a_word() {
        assert_eq!(on_one_line(" one\n two  three ", 13), "one two three");
        assert_eq!(on_one_line("one two three", 12), "one two…");
        assert_eq!(on_one_line("äöüäöü", 3), "äöü…");
        assert_eq!(on_one_line(" ", 3), "");
    }
}
