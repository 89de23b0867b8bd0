//! Lists the control words and signs with a meaning.

/// Groups whose text is not part of the document.
pub(super) const SKIPPED: &[&str] = &[
    "colortbl", "pict", "header", "headerl", "headerr", "headerf", "footer", "footerl", "footerr",
    "footerf", "ftnsep", "ftnsepc", "ftncn", "aftnsep", "aftnsepc", "aftncn", "xe", "tc",
    "nonshppict", "fldinst", "sn", "sv", "listtable", "listoverridetable", "revtbl", "filetbl",
    "rsidtbl", "template", "nonesttables", "annotation", "atnid", "atnauthor", "bkmkstart",
    "bkmkend", "falt", "panose", "objclass", "objname", "objdata", "upr", "mmathPict", "pntxta",
    "pntxtb", "private",
];

/// Groups that older programs ignore, but whose text is part of the document.
pub(super) const KEPT: &[&str] = &["shpinst", "shptxt", "ud", "moMath", "moMathPara", "fldrslt"];

/// Characters that begin the items of lists.
pub(super) const BULLETS: &[char] =
    &['•', '·', '◦', '▪', '●', '○', '■', '□', '–', '-', 'o', '\u{F0B7}', '\u{F0A7}'];

/// Splits a bullet or a number and the tabulator after it from a paragraph.
pub(super) fn bullet(text: &str) -> (&str, &str) {
    let Some((marker, rest)) = text.split_once('\t') else { return ("", text) };
    let marker = marker.trim();
    let is_number = marker.strip_suffix(['.', ')']).is_some_and(|number| {
        !number.is_empty() && number.len() <= 3 && number.bytes().all(|byte| byte.is_ascii_digit())
    });
    let is_bullet = marker.chars().count() == 1 && marker.starts_with(BULLETS);
    if is_number || is_bullet { (marker, rest.trim()) } else { ("", text) }
}

/// Returns the text that a control word means.
pub(super) fn character(word: &str) -> Option<&'static str> {
    Some(match word {
        "tab" => "\t",
        "line" | "lbr" => "\n",
        "emdash" => "—",
        "endash" => "–",
        "emspace" | "enspace" | "qmspace" => " ",
        "bullet" => "•",
        "lquote" => "‘",
        "rquote" => "’",
        "ldblquote" => "“",
        "rdblquote" => "”",
        _ => return None,
    })
}
