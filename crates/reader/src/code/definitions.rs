//! Finds the definitions that begin in a line, for languages without a grammar in this build.

use std::sync::LazyLock;

use serde::Deserialize;

use super::grammar::point;
use crate::document::Language;
use crate::extract::built_in;

/// The table of words, with an explanation of its fields.
const TABLE: &str = include_str!("definitions.toml");

/// How a line begins that is a comment or an attribute, in most languages.
const COMMENTS: [&str; 5] = ["//", "/*", "*", "@", "#["];

/// How many words of a line are looked at: modifiers, the word that begins a definition, its name. A minified line
/// may have a million.
const MAX_WORDS: usize = 12;

/// Marks around names: strings, and quoted names of SQL.
const QUOTES: &[char] = &['"', '\'', '`', '[', ']'];

/// How the definitions of some languages begin. Case is ignored.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Definitions {
    #[serde(default)]
    names: Vec<String>,
    #[serde(default)]
    containers: Vec<String>,
    #[serde(default)]
    functions: Vec<String>,
    #[serde(default)]
    modifiers: Vec<String>,
    after_name: Option<String>,
    #[serde(default = "usual_comments")]
    comments: Vec<String>,
    #[serde(default = "point")]
    pub(super) separator: String,
}

/// The whole table.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct LanguageTable {
    language: Vec<Definitions>,
}

/// A definition that begins in a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Definition {
    pub(super) name: String,
    /// Whether it may contain other definitions.
    pub(super) is_container: bool,
}

/// Returns how definitions begin in a language; nothing is known of most.
pub(super) fn of(language: Language) -> &'static Definitions {
    static ROWS: LazyLock<LanguageTable> = LazyLock::new(|| built_in::table(TABLE));
    static UNKNOWN: LazyLock<Definitions> = LazyLock::new(|| built_in::table(""));
    let mut rows = ROWS.language.iter();
    rows.find(|row| row.names.iter().any(|name| name == language.as_str())).unwrap_or(&UNKNOWN)
}

fn usual_comments() -> Vec<String> {
    COMMENTS.map(str::to_owned).into()
}

impl Definitions {
    /// Whether a line is a comment, or an attribute of the line below it.
    pub(super) fn is_comment(&self, line: &str) -> bool {
        let has_mark = self.comments.iter().any(|mark| {
            line.get(..mark.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(mark))
        });
        has_mark && !self.is_function_word(line)
    }

    /// Whether a line begins with a word that begins a definition, such as `@mixin`.
    fn is_function_word(&self, line: &str) -> bool {
        let word = line.split_whitespace().next().unwrap_or_default();
        self.functions.iter().any(|known| known == word)
    }

    /// Returns a comment without the marks that [`super::words::comment_docs`] does not know.
    pub(super) fn uncommented(&self, comment: &str) -> String {
        comment.lines().map(|line| self.without_mark(line)).collect::<Vec<_>>().join("\n")
    }

    fn without_mark<'a>(&self, line: &'a str) -> &'a str {
        let line = line.trim_start();
        let mark = self.comments.iter().find(|mark| line.starts_with(mark.as_str()));
        // Attributes and the marks of documentation stay, to be left out there.
        let mark = mark.filter(|mark| !mark.starts_with(['@', '#', '/', '*']));
        mark.map_or(line, |mark| line[mark.len()..].trim_start_matches(mark.as_str()))
    }

    /// Returns the definition that begins in a line, given without its indentation.
    pub(super) fn find(&self, line: &str, is_indented: bool) -> Option<Definition> {
        let words: Vec<&str> = line.split_whitespace().take(MAX_WORDS).collect();
        let mut begun: Option<bool> = None;
        for (idx, word) in words.iter().enumerate() {
            if let Some((is_container, rest)) = self.keyword(word) {
                if let Some(rest) = rest {
                    return define(rest, is_container);
                }
                begun = Some(is_container);
                continue;
            }
            let is_modifier = self.modifiers.iter().any(|known| known.eq_ignore_ascii_case(word));
            if is_modifier || word.starts_with(['@', '^', '<']) {
                continue;
            }
            if let Some(is_container) = begun {
                return define(after_result(line).unwrap_or(word), is_container);
            }
            // `name <- function(…)`, `const Name = struct {`
            if let [_, "<-" | "<<-" | "=", value, ..] = words[idx..] {
                return define(word, self.keyword(value)?.0);
            }
            let is_named = idx == 0 && !is_indented && self.is_name(word, words.get(1));
            return if is_named { define(word, false) } else { None };
        }
        None
    }

    /// Whether a word is a name, by the mark after it.
    fn is_name(&self, word: &str, next: Option<&&str>) -> bool {
        self.after_name.as_deref().is_some_and(|mark| {
            word.starts_with(|c: char| c.is_alphanumeric() || c == '_')
                && (next == Some(&mark) || word.ends_with(mark))
        })
    }

    /// Returns whether a word begins a container or a function, and what else is in the word if
    /// that is the name: `function(name`, `init(argument`.
    fn keyword<'a>(&self, word: &'a str) -> Option<(bool, Option<&'a str>)> {
        let containers = self.containers.iter().map(|known| (true, known.as_str()));
        let functions = self.functions.iter().map(|known| (false, known.as_str()));
        containers.chain(functions).find_map(|(is_container, known)| {
            let begin = word.get(..known.len())?;
            let rest = word.get(known.len()..)?;
            let is_same = begin.eq_ignore_ascii_case(known);
            match rest {
                _ if !is_same => None,
                "" => Some((is_container, None)),
                _ if known.ends_with('(') => Some((is_container, Some(rest))),
                _ if rest.starts_with('(') && !known.starts_with('(') => {
                    Some((is_container, Some(begin)))
                }
                _ => None,
            }
        })
    }
}

/// Returns the rest of a line after the text between `function` or `func` and the name: `name(x)` in
/// `function result = name(x)` and in `func (receiver Type) name(x)`.
fn after_result(line: &str) -> Option<&str> {
    if let Some(rest) = line.strip_prefix("func (") {
        return Some(rest.split_once(") ")?.1);
    }
    let (before, after) = line.split_once(" = ")?;
    (before.starts_with("function ") && !before.contains('(')).then_some(after)
}

/// Returns the definition of the name at the beginning of a text.
fn define(text: &str, is_container: bool) -> Option<Definition> {
    Some(Definition { name: name(text)?, is_container })
}

/// Returns the name at the beginning of a text, without quotes and arguments.
fn name(text: &str) -> Option<String> {
    let text = text.trim_start_matches('(');
    let mut name = String::new();
    if text.starts_with(QUOTES) {
        let quoted = text.split(['(', ';', ',']).next().unwrap_or_default();
        let quoted = quoted.split_whitespace().next().unwrap_or_default();
        name.extend(quoted.chars().filter(|c| !QUOTES.contains(c)));
    } else {
        let mut rest = text.chars().peekable();
        while let Some(c) = rest.next() {
            // `Package::name`, and the scope in `s:name`
            let is_colon =
                c == ':' && (rest.peek() == Some(&':') || name.ends_with(':') || name.len() == 1);
            if !is_in_name(c) && !is_colon {
                break;
            }
            name.push(c);
        }
    }
    let name = name.trim_end_matches([':', '.', '*', '-', '=']);
    name.contains(char::is_alphabetic).then(|| name.to_owned())
}

fn is_in_name(c: char) -> bool {
    c.is_alphanumeric() || "_.$?!-#/%+*".contains(c)
}

#[cfg(test)]
mod tests {
    use std::str::FromStr;

    use super::*;

    #[test]
    fn each_name_in_the_table_is_one_language() {
        let table: LanguageTable = toml::from_str(TABLE).unwrap();
        let names: Vec<&String> = table.language.iter().flat_map(|row| &row.names).collect();
        for (idx, name) in names.iter().enumerate() {
            assert!(Language::from_str(name).is_ok(), "{name} is no language");
            assert!(!names[..idx].contains(name), "{name} is there twice");
        }
    }

    /// Builds may leave out grammars.
    #[test]
    fn definitions_of_languages_with_a_grammar_are_found_by_words_too() {
        let lines = [
            (Language::Python, "async def read(port):", "read"),
            (Language::Bash, "usage() {", "usage"),
            (Language::Go, "func (g *Gauge) Read(port int) error {", "Read"),
            (Language::Go, "func main() {", "main"),
            (Language::JavaScript, "export default class Store extends Base {", "Store"),
            (Language::TypeScript, "export interface Options {", "Options"),
            (Language::Rust, "pub(crate) async fn read(port: u16) {", "read"),
            (Language::C, "typedef struct gauge {", "gauge"),
            (Language::Cpp, "class Gauge : public Base {", "Gauge"),
            (Language::Java, "public final class Gauge {", "Gauge"),
            (Language::Ruby, "def empty?", "empty?"),
            (Language::Php, "public static function find(int $id)", "find"),
            (Language::CSharp, "internal sealed class Gauge", "Gauge"),
            (Language::Lua, "local function read(port)", "read"),
            (Language::Hcl, "resource \"gauge\" \"north\" {", "gauge"),
        ];
        for (language, line, name) in lines {
            let found = of(language).find(line, false).map(|definition| definition.name);
            assert_eq!(found.as_deref(), Some(name), "{language}: {line}");
        }
    }
}
