//! Reduces the inline markup of Org to its words.

use crate::markup::writer::within;

/// Longest inline construct, in bytes.
const MAX_SPAN_BYTES: usize = 1000;

/// Returns the words of a text, with as many line breaks.
pub(super) fn inline(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let before = out.chars().next_back();
        let may_open = before.is_none_or(|c| c.is_whitespace() || "-({'\"".contains(c));
        let used = match first {
            '[' if rest.starts_with("[[") => link(rest, &mut out),
            '[' if rest.starts_with("[fn:") => footnote(rest, &mut out),
            '<' if rest.starts_with("<<") => target(rest, &mut out),
            '*' | '/' | '_' | '=' | '~' | '+' if may_open => emphasis(rest, first, &mut out),
            '\\' if rest == "\\\\" || rest.starts_with("\\\\\n") => 2,
            's' if may_open && rest.starts_with("src_") => source(rest, &mut out),
            _ => 0,
        };
        if used == 0 {
            out.push(first);
            rest = &rest[first.len_utf8()..];
        } else {
            rest = &rest[used..];
        }
    }
    out
}

/// Reads `[[target]]` and `[[target][text]]`.
fn link(text: &str, out: &mut String) -> usize {
    let Some(end) = within(text, MAX_SPAN_BYTES).find("]]").filter(|end| *end > 2) else {
        return 0;
    };
    let inside = &text[2..end];
    match inside.split_once("][") {
        // The text of a link may be a picture.
        Some((target, label)) => {
            let num_lines = target.matches('\n').count();
            out.push_str(&inline(label));
            out.push_str(&"\n".repeat(num_lines));
        }
        None if is_picture(inside) => out.push_str(&"\n".repeat(inside.matches('\n').count())),
        None => out.push_str(inside.trim_start_matches(['*', '#'])),
    }
    end + 2
}

fn is_picture(target: &str) -> bool {
    let name = target.to_ascii_lowercase();
    [".png", ".jpg", ".jpeg", ".svg", ".gif"].iter().any(|extension| name.ends_with(extension))
}

/// Reads `[fn:1]` and `[fn:name:text]`.
fn footnote(text: &str, out: &mut String) -> usize {
    let Some(end) = within(text, MAX_SPAN_BYTES).find(']') else { return 0 };
    let inside = &text[4..end];
    match inside.split_once(':') {
        Some((_, words)) => {
            out.push_str(" (");
            out.push_str(&inline(words));
            out.push(')');
        }
        None => {
            out.push('[');
            out.push_str(inside);
            out.push(']');
        }
    }
    end + 1
}

/// Reads `<<target>>` and `<<<radio target>>>`, which only the second shows.
fn target(text: &str, out: &mut String) -> usize {
    let open = text.bytes().take(4).take_while(|byte| *byte == b'<').count();
    let Some(close) = [">>", ">>>"].get(open - 2) else { return 0 };
    let Some(end) = within(text, 300).find(close) else { return 0 };
    if text[open..end].contains(['<', '\n']) {
        return 0;
    }
    if open == 3 {
        out.push_str(&text[open..end]);
    }
    end + open
}

/// Reads `*text*`, and the same with other marks.
fn emphasis(text: &str, mark: char, out: &mut String) -> usize {
    let inside = &text[1..];
    if inside.starts_with(char::is_whitespace) {
        return 0;
    }
    let found = within(inside, MAX_SPAN_BYTES).match_indices(mark).map(|(at, _)| at);
    let mut found = found.filter(|at| {
        let after = inside[at + 1..].chars().next();
        *at > 0
            && !inside[..*at].ends_with(char::is_whitespace)
            && after.is_none_or(|c| c.is_whitespace() || "-.,;:!?'\")}[\\".contains(c))
    });
    let Some(end) = found.next() else { return 0 };
    let inside = &inside[..end];
    if inside.matches('\n').count() > 1 {
        return 0;
    }
    if matches!(mark, '=' | '~') {
        out.push('`');
        out.push_str(inside);
        out.push('`');
    } else {
        out.push_str(&inline(inside));
    }
    end + 2
}

/// Reads `src_language[options]{source}`.
fn source(text: &str, out: &mut String) -> usize {
    let Some(open) = within(text, 80).find('{') else { return 0 };
    if text[..open].contains(char::is_whitespace) && !text[..open].contains('[') {
        return 0;
    }
    let Some(close) = within(&text[open..], MAX_SPAN_BYTES).find('}') else {
        return 0;
    };
    out.push('`');
    out.push_str(&text[open + 1..open + close]);
    out.push('`');
    open + close + 1
}
