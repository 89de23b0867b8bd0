//! Declares the skill commands and their parameters as data, for the command line and the server.

/// The kind of value a parameter takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParameterKind {
    /// Any text.
    Text,
    /// A whole number within these bounds, both included.
    Number(u32, u32),
    /// One of these words.
    Choice(&'static [&'static str]),
    /// No value: the flag is given or not.
    Flag,
    /// Several texts; the parameter is repeated for each.
    Texts,
    /// Several texts, separated by commas.
    CommaTexts,
}

/// A parameter of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parameter {
    /// In `snake_case`; with hyphens on the command line.
    pub name: &'static str,
    /// The kind of value.
    pub kind: ParameterKind,
    /// Whether the parameter must be given.
    pub is_required: bool,
    /// Whether it is positional on the command line.
    pub is_positional: bool,
    /// Its short option on the command line.
    pub letter: Option<char>,
    /// The value used by default, or a sentence that describes it.
    pub default: Option<&'static str>,
    /// A description of its effect, without a full stop.
    pub about: &'static str,
    /// Whether only people may set it: it writes to places that agents read instructions from.
    pub is_for_people: bool,
    /// Whether so few calls need it that servers accept it without listing it.
    pub is_rare: bool,
}

/// A skill command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SkillCommand {
    /// Its name.
    pub name: &'static str,
    /// A description of its effect, without a full stop.
    pub about: &'static str,
    /// Whether it changes only the access log.
    pub is_read_only: bool,
    /// Whether servers offer it as a tool.
    pub is_tool: bool,
    /// In the order of the help text.
    pub parameters: &'static [Parameter],
}

impl SkillCommand {
    /// Returns a command by its name.
    pub fn find(name: &str) -> Option<&'static Self> {
        COMMANDS.iter().find(|command| command.name == name)
    }
}

const fn option(name: &'static str, kind: ParameterKind, about: &'static str) -> Parameter {
    Parameter {
        name,
        kind,
        is_required: false,
        is_positional: false,
        letter: None,
        default: None,
        about,
        is_for_people: false,
        is_rare: false,
    }
}

const fn flag(name: &'static str, about: &'static str) -> Parameter {
    option(name, ParameterKind::Flag, about)
}

const fn word(name: &'static str, about: &'static str) -> Parameter {
    Parameter { is_positional: true, ..option(name, ParameterKind::Text, about) }
}

const fn required(parameter: Parameter) -> Parameter {
    Parameter { is_required: true, ..parameter }
}

const fn short(letter: char, parameter: Parameter) -> Parameter {
    Parameter { letter: Some(letter), ..parameter }
}

const fn default(value: &'static str, parameter: Parameter) -> Parameter {
    Parameter { default: Some(value), ..parameter }
}

const fn for_people(parameter: Parameter) -> Parameter {
    Parameter { is_for_people: true, ..parameter }
}

const fn rare(parameter: Parameter) -> Parameter {
    Parameter { is_rare: true, ..parameter }
}

const COUNT: ParameterKind = ParameterKind::Number(0, u32::MAX);

const SKILL: Parameter = required(word("skill", "Name of a skill, or its directory"));

const MAX_LINES: Parameter = rare(option("max_lines", COUNT, "Return at most this many lines"));

/// All skill commands.
pub const COMMANDS: &[SkillCommand] = &[
    SkillCommand {
        name: "list",
        about: "List skills",
        is_read_only: true,
        is_tool: true,
        parameters: &[
            option(
                "search",
                ParameterKind::Text,
                "Only skills with this text in name or description",
            ),
            option("capability", ParameterKind::Text, "Only skills that have this capability"),
            rare(default(
                "all",
                option(
                    "scope",
                    ParameterKind::Choice(&["project", "global", "all"]),
                    "Only skills of the project or of the user",
                ),
            )),
            rare(default(
                "all",
                option(
                    "status",
                    ParameterKind::Choice(&["normal", "not-built", "obsolete", "all"]),
                    "Only skills that are built, not built, or out of date",
                ),
            )),
            rare(short('l', option("limit", COUNT, "Return at most this many skills"))),
            rare(short(
                'p',
                option("pattern", ParameterKind::Text, "Only skills whose name matches this glob"),
            )),
            rare(flag("check_obsolete", "Compare the files with the last build")),
            for_people(option(
                "skills_root",
                ParameterKind::Text,
                "Look only in this directory [env: KB_SKILLS_ROOT]",
            )),
        ],
    },
    SkillCommand {
        name: "build",
        about: "Index a skill, so that it can be searched and shown",
        is_read_only: false,
        is_tool: true,
        parameters: &[
            SKILL,
            for_people(flag("import", "Copy the directory into the store first")),
            for_people(short('f', flag("force", "Replace a skill of this name when importing"))),
            for_people(short(
                'g',
                flag("global", "Use the user's store even if the skill is in a project"),
            )),
            for_people(short(
                't',
                option(
                    "target",
                    ParameterKind::CommaTexts,
                    "Install it for these agents (agents, claude, codex, copilot, cursor, gemini, kiro, \
                     opencode, trae) or into these directories",
                ),
            )),
            for_people(flag("copy", "Install copies instead of links")),
            for_people(flag(
                "ingest",
                "Also add its Markdown to the knowledge base, tagged skill:NAME",
            )),
        ],
    },
    SkillCommand {
        name: "search",
        about: "Search a skill for sections that contain all words",
        is_read_only: true,
        is_tool: true,
        parameters: &[
            SKILL,
            required(word("query", "Words to search for; quote several words")),
            rare(short(
                'l',
                default("10", option("limit", COUNT, "Return at most this many sections")),
            )),
        ],
    },
    SkillCommand {
        name: "outline",
        about: "List the headings of a skill",
        is_read_only: true,
        is_tool: true,
        parameters: &[
            SKILL,
            option("level", ParameterKind::Number(1, 6), "Deepest level to list, 1 to 6"),
        ],
    },
    SkillCommand {
        name: "show",
        about: "Show a section of a skill",
        is_read_only: true,
        is_tool: true,
        parameters: &[
            SKILL,
            required(option(
                "section",
                ParameterKind::Text,
                "Heading of the section; case is ignored",
            )),
            option("file", ParameterKind::Text, "Look only in this file"),
            MAX_LINES,
        ],
    },
    SkillCommand {
        name: "open",
        about: "Show a file of a skill",
        is_read_only: true,
        is_tool: true,
        parameters: &[
            SKILL,
            required(word("path", "Path of the file, relative to the skill's directory")),
            MAX_LINES,
        ],
    },
    SkillCommand {
        name: "sources",
        about: "List the files of a skill as a tree",
        is_read_only: true,
        is_tool: true,
        parameters: &[
            SKILL,
            option("depth", COUNT, "Levels to show [default: all]"),
            rare(option("dir", ParameterKind::Text, "Start at this directory of the skill")),
            rare(short(
                'l',
                default("100", option("limit", COUNT, "Return at most this many entries")),
            )),
            rare(short(
                'p',
                option("pattern", ParameterKind::Text, "Only files that match this glob"),
            )),
        ],
    },
    SkillCommand {
        name: "stats",
        about: "Count accesses to a skill",
        is_read_only: true,
        is_tool: true,
        parameters: &[
            SKILL,
            default(
                "summary",
                option(
                    "group_by",
                    ParameterKind::Text,
                    "Count by: summary, sections, files, commands, projects, errors, search",
                ),
            ),
            rare(option(
                "since",
                ParameterKind::Text,
                "Only from this time on; RFC 3339 or YYYY-MM-DD",
            )),
            rare(option(
                "until",
                ParameterKind::Text,
                "Only up to this time; RFC 3339 or YYYY-MM-DD",
            )),
            rare(option(
                "project",
                ParameterKind::Texts,
                "Only commands started at or below this directory (can be repeated)",
            )),
        ],
    },
    SkillCommand {
        name: "lint",
        about: "Check a skill for its author",
        is_read_only: true,
        is_tool: true,
        parameters: &[SKILL, rare(short('f', flag("force", "Also check a built skill")))],
    },
    SkillCommand {
        name: "sync",
        about: "Merge access logs that were written next to the project",
        is_read_only: false,
        is_tool: false,
        parameters: &[
            word("skill", "Name of the skill [default: all]"),
            option(
                "project",
                ParameterKind::Text,
                "Directory of the project [default: working directory]",
            ),
            flag("dry_run", "Only report what would be done"),
        ],
    },
    SkillCommand {
        name: "init",
        about: "Create a skill, or the store of a project",
        is_read_only: false,
        is_tool: true,
        parameters: &[
            word("name", "Name of the skill; without it, only a store is created"),
            short('g', flag("global", "Create it in the user's store")),
        ],
    },
    SkillCommand {
        name: "install",
        about: "Install kb's own skill for an agent, so that it knows how to use kb",
        is_read_only: false,
        is_tool: false,
        parameters: &[
            short(
                't',
                default(
                    "claude",
                    option(
                        "target",
                        ParameterKind::Text,
                        "Agent (agents, claude, codex, copilot, cursor, gemini, kiro, opencode, trae) \
                         or directory of skills, written with a /",
                    ),
                ),
            ),
            short('y', flag("yes", "Replace an existing file without asking")),
        ],
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_is_unique_and_complete() {
        let names: Vec<&str> = COMMANDS.iter().map(|command| command.name).collect();
        assert_eq!(
            names,
            [
                "list", "build", "search", "outline", "show", "open", "sources", "stats", "lint",
                "sync", "init", "install"
            ]
        );
        for command in COMMANDS {
            let mut seen: Vec<&str> =
                command.parameters.iter().map(|parameter| parameter.name).collect();
            seen.sort_unstable();
            seen.dedup();
            assert_eq!(seen.len(), command.parameters.len(), "{}", command.name);
        }
        assert!(SkillCommand::find("sync").is_some_and(|command| !command.is_tool));
    }

    #[test]
    fn defaults_are_those_of_the_protocols() {
        let default = |command: &str, name: &str| {
            let parameters = SkillCommand::find(command).unwrap().parameters;
            parameters.iter().find(|parameter| parameter.name == name).unwrap().default
        };
        assert_eq!(default("search", "limit"), Some("10"));
        assert_eq!(default("sources", "limit"), Some("100"));
        assert_eq!(default("stats", "group_by"), Some("summary"));
        assert_eq!(default("outline", "level"), None);
        assert_eq!(default("build", "target"), None);
    }
}
