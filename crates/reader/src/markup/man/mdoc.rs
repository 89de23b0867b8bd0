//! Reads the macros of mdoc, which name what words are.

use super::escapes::{plain, raw_arguments};
use super::{ManReader, MdocList};
use crate::markup::writer::within;

/// Longest name that `.Nm` stands for, in bytes: it may be used often.
const MAX_NAME_BYTES: usize = 60;

/// Macros that can be called within the line of another one.
const CALLABLE: &[&str] = &[
    "Ac", "Ad", "An", "Ao", "Ap", "Aq", "Ar", "At", "Bc", "Bo", "Bq", "Brc", "Bro", "Brq", "Bx",
    "Cd", "Cm", "Dc", "Do", "Dq", "Dv", "Dx", "Em", "Er", "Ev", "Fa", "Fl", "Fn", "Ft", "Fx", "Ic",
    "In", "Li", "Lk", "Mt", "Nm", "No", "Ns", "Oc", "Oo", "Op", "Ot", "Pa", "Pc", "Pf", "Po", "Pq",
    "Qc", "Ql", "Qo", "Qq", "Sc", "So", "Sq", "St", "Sx", "Sy", "Ta", "Tn", "Ux", "Va", "Vt", "Xc",
    "Xo", "Xr", "Nx", "Ox", "Bsx",
];

/// The macros that enclose the rest of their line, those that open and those that close an enclosure, and its marks.
type Enclosure =
    (&'static [&'static str], &'static [&'static str], &'static [&'static str], [&'static str; 2]);

const ENCLOSURES: [Enclosure; 7] = [
    (&["Op", "Bq"], &["Oo", "Bo"], &["Oc", "Bc"], ["[", "]"]),
    (&["Aq"], &["Ao"], &["Ac"], ["<", ">"]),
    (&["Pq"], &["Po"], &["Pc"], ["(", ")"]),
    (&["Brq"], &["Bro"], &["Brc"], ["{", "}"]),
    (&["Dq"], &["Do"], &["Dc"], ["“", "”"]),
    (&["Qq"], &["Qo"], &["Qc"], ["\"", "\""]),
    (&["Sq", "Ql"], &["So"], &["Sc"], ["‘", "’"]),
];

/// Kinds of lists whose items do not begin with a term.
const WITHOUT_TERMS: [&str; 6] = ["-bullet", "-enum", "-dash", "-item", "-hyphen", "-column"];

impl ManReader {
    /// Reads a line with a macro.
    pub(super) fn mdoc(&mut self, number: u32, name: &str, rest: &str) {
        let parts = raw_arguments(rest);
        match name {
            "Dd" | "Os" | "Sm" | "Bk" | "Ek" | "Db" | "Lb" | "Rs" | "Re" | "Xo" | "Xc" => {}
            "Dt" => self.title(&parts),
            "Sh" | "Ss" => {
                self.end_code();
                self.flush();
                let level = if name == "Sh" { 2 } else { 3 };
                let text = self.words_of(&parts);
                self.writer.heading(number, level, &text);
            }
            "Pp" | "Lp" => match self.fixed {
                Some(_) => self.say(number, ""),
                None => self.flush(),
            },
            "Bl" => {
                self.flush();
                let has = |word: &str| parts.iter().any(|part| part == word);
                let mark = if has("-enum") { "1." } else { "-" };
                let has_terms = !WITHOUT_TERMS.iter().any(|kind| has(kind));
                self.lists.push(MdocList { mark, has_terms, is_code: false });
            }
            "El" => {
                self.flush();
                self.lists.pop();
            }
            "It" => {
                self.end_code();
                self.flush();
                let Some(list) = self.lists.last() else { return };
                let has_terms = list.has_terms;
                self.mark = Some(list.mark.to_owned());
                let words = self.words_of(&parts);
                if !words.is_empty() {
                    let end = if has_terms { ": " } else { "" };
                    self.words.push(number, &format!("{words}{end}"));
                }
            }
            "Bd" => {
                self.flush();
                let is_code = parts.iter().any(|part| part == "-literal" || part == "-unfilled");
                if is_code {
                    self.fixed.get_or_insert_default();
                }
                self.lists.push(MdocList { mark: "-", has_terms: false, is_code });
            }
            "Ed" => {
                if self.lists.pop().is_some_and(|list| list.is_code) {
                    self.end_code();
                } else {
                    self.flush();
                }
            }
            "D1" | "Dl" => {
                self.flush();
                let words = self.words_of(&parts);
                self.say(number, &words);
                self.flush();
            }
            "Nd" => {
                let words = self.words_of(&parts);
                self.say(number, &format!("– {words}"));
            }
            "Nm" if self.name.is_empty() => {
                let name = parts.first().map(|name| plain(name)).unwrap_or_default();
                self.name = within(&name, MAX_NAME_BYTES).to_owned();
                let words = self.words_of(&parts);
                self.say(number, &words);
            }
            "Ex" => {
                let name = self.name.clone();
                self.say(
                    number,
                    &format!("The {name} utility exits 0 on success, and >0 if an error occurs."),
                );
            }
            "Rv" => self.say(number, "Upon successful completion, the value 0 is returned."),
            _ => {
                let mut all = vec![name.to_owned()];
                all.extend(parts);
                let words = self.words_of(&all);
                if !words.is_empty() {
                    self.say(number, &words);
                }
            }
        }
    }

    /// Returns the words of a line, in which macros may be called.
    fn words_of(&self, parts: &[String]) -> String {
        let mut out = Sentence::default();
        // The closing marks of the enclosures that end with the line.
        let mut closing: Vec<&str> = Vec::new();
        let mut current = "";
        for (idx, part) in parts.iter().enumerate() {
            let is_macro = CALLABLE.contains(&part.as_str()) || (idx == 0 && part.starts_with('%'));
            if !is_macro {
                let words = plain(part);
                match current {
                    "Fl" if !is_punctuation(&words) => out.push(&format!("-{words}")),
                    "Xr" if words.chars().all(|c| c.is_ascii_digit()) => {
                        out.glue(&format!("({words})"));
                    }
                    "Fn" if !is_punctuation(&words) => {
                        out.push(&format!("{words}()"));
                        current = "";
                    }
                    "Pf" => {
                        out.push(&words);
                        out.is_glued = true;
                        current = "";
                    }
                    _ => out.push(&words),
                }
                continue;
            }
            current = part.as_str();
            let next_is_word = parts
                .get(idx + 1)
                .is_some_and(|next| !CALLABLE.contains(&next.as_str()) && !is_punctuation(next));
            match current {
                "Ns" => out.is_glued = true,
                "Ap" => {
                    out.glue("'");
                    out.is_glued = true;
                }
                "Nm" if !next_is_word => out.push(&self.name),
                "Ar" if !next_is_word => out.push("file ..."),
                "Fl" if !next_is_word => out.push("-"),
                "Bx" => out.push("BSD"),
                "Fx" => out.push("FreeBSD"),
                "Nx" => out.push("NetBSD"),
                "Ox" => out.push("OpenBSD"),
                "Dx" => out.push("DragonFly"),
                "Ux" | "At" => out.push("UNIX"),
                name => {
                    for (of_line, opening, ending, [open, close]) in ENCLOSURES {
                        if of_line.contains(&name) || opening.contains(&name) {
                            out.push(open);
                            out.is_glued = true;
                            closing.extend(of_line.contains(&name).then_some(close));
                        } else if ending.contains(&name) {
                            out.glue(close);
                        }
                    }
                }
            }
        }
        for close in closing.into_iter().rev() {
            out.glue(close);
        }
        out.text
    }
}

/// Words with the right blanks between them.
#[derive(Default)]
struct Sentence {
    text: String,
    /// Whether the next word follows without a blank.
    is_glued: bool,
}

impl Sentence {
    fn push(&mut self, words: &str) {
        let is_glued = std::mem::take(&mut self.is_glued);
        if !self.text.is_empty() && !is_glued && !is_punctuation(words) {
            self.text.push(' ');
        }
        self.text.push_str(words);
        self.is_glued = matches!(words, "(" | "[");
    }

    fn glue(&mut self, words: &str) {
        self.is_glued = false;
        self.text.push_str(words);
    }
}

fn is_punctuation(text: &str) -> bool {
    matches!(text, "." | "," | ";" | ":" | "?" | "!" | ")" | "]")
}
