//! Lists every tool of `kb mcp` with a call of it, and the command that answers the same.

use serde_json::Value;

/// A tool with a call.
pub(crate) struct ToolCall {
    pub(crate) name: &'static str,
    arguments: &'static str,
    /// The command that prints the same with `--format=json`, without `kb`; none for skills and what writes.
    command: Option<&'static str>,
}

/// The values in calls. The rows have the words in capitals as placeholders.
#[derive(Clone, Copy)]
pub(crate) struct CallSubject<'a> {
    /// `DOC`: a document.
    pub(crate) document: i64,
    /// `NOTE`: a note.
    pub(crate) note: i64,
    /// `WORD`: the word to search for.
    pub(crate) word: &'a str,
    /// `PATH`: the file to add.
    pub(crate) path: &'a str,
}

/// A home with the sample documents and a page `ferry.md`.
pub(crate) const SAMPLE: CallSubject<'_> =
    CallSubject { document: 4, note: 7, word: "gauge", path: "ferry.md" };

/// The tools that are always offered, sorted by name. Those of skills are about the skill `tide-guide`.
const READING: [ToolCall; 18] = [
    document("kb_grep", r#"{ "pattern": "WORD" }"#, "grep WORD"),
    document("kb_info", r#"{ "document": DOC }"#, "info DOC"),
    document("kb_list", "{}", "list"),
    document("kb_open", r#"{ "document": DOC, "max_lines": 3 }"#, "open DOC --max-lines=3"),
    document("kb_outline", r#"{ "document": DOC }"#, "outline DOC"),
    document("kb_search", r#"{ "query": "WORD", "top": 3 }"#, "search WORD --top=3"),
    document("kb_show", r#"{ "document": DOC }"#, "show DOC"),
    document("kb_similar", r#"{ "document": DOC }"#, "similar DOC"),
    document("kb_status", "{}", "status"),
    document("kb_tags", "{}", "tags"),
    other("skill_lint", r#"{ "skill": "tide-guide" }"#),
    other("skill_list", "{}"),
    other("skill_open", r#"{ "skill": "tide-guide", "path": "ferry.txt" }"#),
    other("skill_outline", r#"{ "skill": "tide-guide" }"#),
    other("skill_search", r#"{ "skill": "tide-guide", "query": "lamp" }"#),
    other("skill_show", r#"{ "skill": "tide-guide", "section": "Repair" }"#),
    other("skill_sources", r#"{ "skill": "tide-guide" }"#),
    other("skill_stats", r#"{ "skill": "tide-guide" }"#),
];

/// The tools that are offered only if writing is allowed.
const WRITING: [ToolCall; 5] = [
    other("kb_add", r#"{ "paths": ["PATH"] }"#),
    other("kb_add_note", r#"{ "text": "The anchor is red." }"#),
    other("kb_update_note", r#"{ "document": NOTE, "text": "The charger is lost." }"#),
    other("skill_build", r#"{ "skill": "tide-guide" }"#),
    other("skill_init", r#"{ "name": "new-skill" }"#),
];

const fn document(name: &'static str, arguments: &'static str, command: &'static str) -> ToolCall {
    ToolCall { name, arguments, command: Some(command) }
}

const fn other(name: &'static str, arguments: &'static str) -> ToolCall {
    ToolCall { name, arguments, command: None }
}

impl ToolCall {
    /// Returns the arguments of a call.
    pub(crate) fn arguments(&self, about: CallSubject<'_>) -> Value {
        serde_json::from_str(&filled(self.arguments, about)).unwrap()
    }

    /// Returns the words after `kb` of the command that prints the same.
    pub(crate) fn command(&self, about: CallSubject<'_>) -> Option<Vec<String>> {
        let typed = filled(self.command?, about);
        Some(typed.split(' ').chain(["--format=json"]).map(str::to_owned).collect())
    }
}

fn filled(text: &str, about: CallSubject<'_>) -> String {
    text.replace("DOC", &about.document.to_string())
        .replace("NOTE", &about.note.to_string())
        .replace("WORD", about.word)
        .replace("PATH", about.path)
}

/// Returns the tools, first those that only read.
pub(crate) fn all() -> impl Iterator<Item = ToolCall> {
    READING.into_iter().chain(WRITING)
}

/// Returns the tools about documents that only read.
pub(crate) fn of_documents() -> impl Iterator<Item = ToolCall> {
    READING.into_iter().filter(|call| call.command.is_some())
}

/// Returns the names of the tools that only read.
pub(crate) fn reading() -> Vec<&'static str> {
    READING.into_iter().map(|call| call.name).collect()
}

/// Returns the names of the tools that write.
pub(crate) fn writing() -> Vec<&'static str> {
    WRITING.into_iter().map(|call| call.name).collect()
}
