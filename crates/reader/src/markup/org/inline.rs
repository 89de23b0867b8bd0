//! Reduces the inline markup of Org to its words.

use crate::markup::inline::{MAX_SPAN_BYTES, push_between, push_code, scan, until};
use crate::markup::writer::within;

/// Returns the words of a text, with as many line breaks.
pub(super) fn inline(text: &str) -> String {
    scan(text, |rest, out| {
        let before = out.chars().next_back();
        let may_open = before.is_none_or(|c| c.is_whitespace() || "-({'\"".contains(c));
        match rest.chars().next() {
            Some('[') if rest.starts_with("[[") => link(rest, out),
            Some('[') if rest.starts_with("[fn:") => footnote(rest, out),
            Some('<') if rest.starts_with("<<") => target(rest, out),
            Some(mark @ ('*' | '/' | '_' | '=' | '~' | '+')) if may_open => {
                emphasis(rest, mark, out)
            }
            Some('\\') if rest == "\\\\" || rest.starts_with("\\\\\n") => 2,
            Some('s') if may_open && rest.starts_with("src_") => source(rest, out),
            _ => 0,
        }
    })
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
        Some((_, words)) => push_between([" (", ")"], &inline(words), out),
        None => push_between(["[", "]"], inside, out),
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
    let inside = until(inside, mark.encode_utf8(&mut [0; 4]), |before, after| {
        !before.ends_with(char::is_whitespace)
            && after.is_none_or(|c| c.is_whitespace() || "-.,;:!?'\")}[\\".contains(c))
    });
    let Some(inside) = inside else { return 0 };
    if inside.matches('\n').count() > 1 {
        return 0;
    }
    match mark {
        '=' | '~' => push_code(inside, out),
        _ => out.push_str(&inline(inside)),
    }
    inside.len() + 2
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
    push_code(&text[open + 1..open + close], out);
    open + close + 1
}
