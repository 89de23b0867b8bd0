//! Describes the programs that start the server: where each keeps its settings, and how an entry looks.
//!
//! Every row follows the documentation of the program. A new program is a new row.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::config::Environment;

/// A program that starts the server, as its documentation describes it.
#[derive(Debug)]
pub struct Client {
    /// The name on the command line.
    pub name: &'static str,
    /// The name for people.
    pub title: &'static str,
    /// The notation of its settings.
    pub(super) notation: Notation,
    /// The keys that lead to the servers, from the outside in; never empty.
    pub(super) keys: &'static [&'static str],
    /// The keys and fields of a newer version of the program, and the first number of that version. They are used if the
    /// file has these keys already or if that version is installed.
    pub(super) newer: Option<NewerEntry>,
    /// The fields of an entry.
    pub(super) shape: EntryShape,
    /// A variable that names another folder, and the path of the settings below that.
    variable: Option<(&'static str, &'static str)>,
    /// The settings on Linux and other systems, macOS and Windows.
    places: [Place; 3],
    /// A name of the settings file that is used if such a file exists.
    other_name: Option<&'static str>,
    /// The settings of a project, below its folder.
    project: Option<&'static str>,
}

/// How an entry looks in a newer version of a program.
#[derive(Debug, Clone, Copy)]
pub(super) struct NewerEntry {
    pub(super) keys: &'static [&'static str],
    pub(super) shape: EntryShape,
    pub(super) version: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Notation {
    /// JSON as the standard defines it.
    Json,
    /// JSON with comments and commas after the last value.
    Jsonc,
    Toml,
    Yaml,
}

/// The fields of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EntryShape {
    /// `command` and `args`.
    Plain,
    /// The same after `type: stdio`.
    Stdio,
    /// `type: local`, one list of program and arguments, and `enabled`.
    Local,
    /// The same without `enabled`.
    LocalAlone,
    /// `type: local`, `command`, `args`, and the tools that may be used: all.
    WithTools,
    /// `type: stdio`, `name`, `cmd`, `args`, `enabled` and the longest time of an answer in seconds.
    Extension,
}

/// A file below a folder of the user.
type Place = (UserFolder, &'static str);

/// A folder of the user.
#[derive(Debug, Clone, Copy)]
enum UserFolder {
    /// The home directory.
    Home,
    /// `XDG_CONFIG_HOME`, else `.config` in the home directory.
    Config,
    /// `Library/Application Support` in the home directory.
    Library,
    /// `APPDATA`, else `AppData/Roaming` in the home directory.
    Roaming,
}

/// A kind of operating system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum System {
    /// Linux, and every other system.
    Linux,
    /// macOS.
    MacOs,
    /// Windows.
    Windows,
}

impl System {
    /// Returns the one this program was built for.
    pub fn this() -> Self {
        match std::env::consts::OS {
            "macos" => Self::MacOs,
            "windows" => Self::Windows,
            _ => Self::Linux,
        }
    }
}

/// The properties that most programs have in common.
const COMMON: Client = Client {
    name: "",
    title: "",
    notation: Notation::Json,
    keys: &["mcpServers"],
    newer: None,
    shape: EntryShape::Plain,
    variable: None,
    places: [(UserFolder::Home, ""); 3],
    other_name: None,
    project: None,
};

/// The same path below the folder of settings that each system has.
const fn below_settings(path: &'static str) -> [Place; 3] {
    [(UserFolder::Config, path), (UserFolder::Library, path), (UserFolder::Roaming, path)]
}

/// All programs, in alphabetical order.
pub static CLIENTS: [Client; 13] = [
    // code.claude.com/docs/en/mcp: servers of all projects.
    Client {
        name: "claude-code",
        title: "Claude Code",
        shape: EntryShape::Stdio,
        variable: Some(("CLAUDE_CONFIG_DIR", ".claude.json")),
        places: [(UserFolder::Home, ".claude.json"); 3],
        project: Some(".mcp.json"),
        ..COMMON
    },
    // modelcontextprotocol.io/docs/develop/connect-local-servers
    Client {
        name: "claude-desktop",
        title: "Claude Desktop",
        places: below_settings("Claude/claude_desktop_config.json"),
        ..COMMON
    },
    // docs.cline.bot/mcp/configuring-mcp-servers: the fields; the extension of VS Code keeps its file where VS Code has
    // those of extensions.
    Client {
        name: "cline",
        title: "Cline",
        places: below_settings(
            "Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
        ),
        ..COMMON
    },
    // developers.openai.com/codex/mcp
    Client {
        name: "codex",
        title: "Codex",
        notation: Notation::Toml,
        keys: &["mcp_servers"],
        variable: Some(("CODEX_HOME", "config.toml")),
        places: [(UserFolder::Home, ".codex/config.toml"); 3],
        ..COMMON
    },
    // docs.github.com/en/copilot/how-tos/use-copilot-agents/use-copilot-cli: `tools` names those that may be used.
    Client {
        name: "copilot",
        title: "Copilot CLI",
        shape: EntryShape::WithTools,
        variable: Some(("COPILOT_HOME", "mcp-config.json")),
        places: [(UserFolder::Home, ".copilot/mcp-config.json"); 3],
        ..COMMON
    },
    // cursor.com/docs/mcp
    Client {
        name: "cursor",
        title: "Cursor",
        notation: Notation::Jsonc,
        shape: EntryShape::Stdio,
        places: [(UserFolder::Home, ".cursor/mcp.json"); 3],
        project: Some(".cursor/mcp.json"),
        ..COMMON
    },
    // geminicli.com/docs/tools/mcp-server
    Client {
        name: "gemini",
        title: "Gemini CLI",
        notation: Notation::Jsonc,
        variable: Some(("GEMINI_CLI_HOME", ".gemini/settings.json")),
        places: [(UserFolder::Home, ".gemini/settings.json"); 3],
        ..COMMON
    },
    // block.github.io/goose/docs/getting-started/using-extensions
    Client {
        name: "goose",
        title: "Goose",
        notation: Notation::Yaml,
        keys: &["extensions"],
        shape: EntryShape::Extension,
        places: [
            (UserFolder::Config, "goose/config.yaml"),
            (UserFolder::Home, ".config/goose/config.yaml"),
            (UserFolder::Roaming, "Block/goose/config/config.yaml"),
        ],
        ..COMMON
    },
    // lmstudio.ai/docs/app/mcp: the notation is that of Cursor.
    Client {
        name: "lm-studio",
        title: "LM Studio",
        places: [(UserFolder::Home, ".lmstudio/mcp.json"); 3],
        ..COMMON
    },
    // opencode.ai/docs/mcp-servers; opencode.ai/v2/docs/mcp-servers: names are below
    // `mcp.servers` from version 2 on, without `enabled`.
    Client {
        name: "opencode",
        title: "opencode",
        notation: Notation::Jsonc,
        keys: &["mcp"],
        newer: Some(NewerEntry {
            keys: &["mcp", "servers"],
            shape: EntryShape::LocalAlone,
            version: 2,
        }),
        shape: EntryShape::Local,
        places: [(UserFolder::Config, "opencode/opencode.json"); 3],
        other_name: Some("opencode.jsonc"),
        ..COMMON
    },
    // code.visualstudio.com/docs/copilot/reference/mcp-configuration: the default profile.
    Client {
        name: "vscode",
        title: "VS Code",
        notation: Notation::Jsonc,
        keys: &["servers"],
        shape: EntryShape::Stdio,
        places: below_settings("Code/User/mcp.json"),
        project: Some(".vscode/mcp.json"),
        ..COMMON
    },
    // docs.windsurf.com/windsurf/cascade/mcp
    Client {
        name: "windsurf",
        title: "Windsurf",
        places: [(UserFolder::Home, ".codeium/windsurf/mcp_config.json"); 3],
        ..COMMON
    },
    // zed.dev/docs/ai/mcp; `source` is no longer a field.
    Client {
        name: "zed",
        title: "Zed",
        notation: Notation::Jsonc,
        keys: &["context_servers"],
        places: [
            (UserFolder::Config, "zed/settings.json"),
            (UserFolder::Home, ".config/zed/settings.json"),
            (UserFolder::Roaming, "Zed/settings.json"),
        ],
        ..COMMON
    },
];

impl Client {
    /// Returns the program with this name.
    pub fn named(name: &str) -> Option<&'static Self> {
        CLIENTS.iter().find(|client| client.name == name)
    }

    /// Returns where a project has settings, below its folder.
    pub fn of_project(&self) -> Option<&'static str> {
        self.project
    }

    /// Returns the path of its settings, which may be missing.
    pub fn settings(&self, environment: &Environment, system: System) -> PathBuf {
        // Programs ignore a relative folder, or take it relative to where they are started.
        let named = |variable: &str| environment.path(variable).filter(|path| path.is_absolute());
        let place = self.variable.and_then(|(variable, below)| Some(named(variable)?.join(below)));
        let path = place.unwrap_or_else(|| {
            let (base, below) = self.places[system as usize];
            let home = environment.home();
            let folder = match base {
                UserFolder::Home => home,
                UserFolder::Config => {
                    named("XDG_CONFIG_HOME").unwrap_or_else(|| home.join(".config"))
                }
                UserFolder::Library => home.join("Library/Application Support"),
                UserFolder::Roaming => {
                    named("APPDATA").unwrap_or_else(|| home.join("AppData/Roaming"))
                }
            };
            folder.join(below)
        });
        let other = self.other_name.map(|name| path.with_file_name(name));
        other.filter(|other| other.exists()).unwrap_or(path)
    }
}

/// The program that an entry starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerEntry {
    /// The absolute path of a program.
    pub command: String,
    /// Its arguments.
    pub args: Vec<String>,
}

/// The fields of an entry with their values, in order.
pub(super) type Fields = Vec<(&'static str, Value)>;

impl ServerEntry {
    /// Returns the fields of the entry in this form.
    pub(super) fn fields(&self, shape: EntryShape) -> Fields {
        let Self { command, args } = self;
        match shape {
            EntryShape::Plain => vec![("command", json!(command)), ("args", json!(args))],
            EntryShape::Stdio => {
                vec![("type", json!("stdio")), ("command", json!(command)), ("args", json!(args))]
            }
            EntryShape::Local | EntryShape::LocalAlone => {
                let line: Vec<&String> = [command].into_iter().chain(args).collect();
                let mut fields = vec![("type", json!("local")), ("command", json!(line))];
                fields.extend((shape == EntryShape::Local).then(|| ("enabled", json!(true))));
                fields
            }
            EntryShape::WithTools => vec![
                ("type", json!("local")),
                ("command", json!(command)),
                ("args", json!(args)),
                ("tools", json!(["*"])),
            ],
            EntryShape::Extension => vec![
                ("type", json!("stdio")),
                ("name", json!("kb")),
                ("cmd", json!(command)),
                ("args", json!(args)),
                ("enabled", json!(true)),
                ("timeout", json!(300)),
            ],
        }
    }
}

/// Returns the program and the arguments of an entry; `None` if it starts no program.
pub(super) fn started(entry: &Value) -> Option<(String, Vec<String>)> {
    let command = if entry["cmd"].is_string() { &entry["cmd"] } else { &entry["command"] };
    match command {
        Value::String(command) => Some((command.clone(), texts(&entry["args"]))),
        line @ Value::Array(_) => {
            let mut words = texts(line).into_iter();
            Some((words.next()?, words.collect()))
        }
        _ => None,
    }
}

/// Returns the texts in an array; others are left out.
fn texts(value: &Value) -> Vec<String> {
    let items = value.as_array().into_iter().flatten();
    items.filter_map(|item| Some(item.as_str()?.to_owned())).collect()
}

/// Whether a program is kb, judged by its name.
pub(super) fn is_kb(command: &str) -> bool {
    Path::new(command).file_stem().is_some_and(|name| name == "kb" || name == "skc")
}
