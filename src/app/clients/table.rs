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
    /// Keys that are used instead if the file already has them all.
    pub(super) newer_keys: Option<&'static [&'static str]>,
    /// The fields of an entry.
    pub(super) shape: Shape,
    /// A variable that names another folder, and the path of the settings below that.
    variable: Option<(&'static str, &'static str)>,
    /// The settings on Linux and other systems, macOS and Windows.
    places: [Place; 3],
    /// A name of the settings file that is used if such a file exists.
    other_name: Option<&'static str>,
}

/// A notation of settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Notation {
    /// JSON as the standard defines it.
    Json,
    /// JSON with comments and commas after the last value.
    Jsonc,
    /// TOML.
    Toml,
}

/// The fields of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// `command` and `args`.
    Plain,
    /// The same after `type: stdio`.
    Stdio,
    /// `type: local`, one list of program and arguments, and `enabled`.
    Local,
}

/// A file below a folder of the user.
type Place = (Base, &'static str);

/// A folder of the user.
#[derive(Debug, Clone, Copy)]
enum Base {
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

/// All programs, in alphabetical order.
pub static CLIENTS: [Client; 8] = [
    // code.claude.com/docs/en/mcp: servers of all projects.
    Client {
        name: "claude-code",
        title: "Claude Code",
        notation: Notation::Json,
        keys: &["mcpServers"],
        newer_keys: None,
        shape: Shape::Stdio,
        variable: Some(("CLAUDE_CONFIG_DIR", ".claude.json")),
        places: [(Base::Home, ".claude.json"); 3],
        other_name: None,
    },
    // modelcontextprotocol.io/docs/develop/connect-local-servers
    Client {
        name: "claude-desktop",
        title: "Claude Desktop",
        notation: Notation::Json,
        keys: &["mcpServers"],
        newer_keys: None,
        shape: Shape::Plain,
        variable: None,
        places: [
            (Base::Config, "Claude/claude_desktop_config.json"),
            (Base::Library, "Claude/claude_desktop_config.json"),
            (Base::Roaming, "Claude/claude_desktop_config.json"),
        ],
        other_name: None,
    },
    // developers.openai.com/codex/mcp
    Client {
        name: "codex",
        title: "Codex",
        notation: Notation::Toml,
        keys: &["mcp_servers"],
        newer_keys: None,
        shape: Shape::Plain,
        variable: Some(("CODEX_HOME", "config.toml")),
        places: [(Base::Home, ".codex/config.toml"); 3],
        other_name: None,
    },
    // cursor.com/docs/mcp
    Client {
        name: "cursor",
        title: "Cursor",
        notation: Notation::Jsonc,
        keys: &["mcpServers"],
        newer_keys: None,
        shape: Shape::Stdio,
        variable: None,
        places: [(Base::Home, ".cursor/mcp.json"); 3],
        other_name: None,
    },
    // geminicli.com/docs/tools/mcp-server
    Client {
        name: "gemini",
        title: "Gemini CLI",
        notation: Notation::Jsonc,
        keys: &["mcpServers"],
        newer_keys: None,
        shape: Shape::Plain,
        variable: Some(("GEMINI_CLI_HOME", ".gemini/settings.json")),
        places: [(Base::Home, ".gemini/settings.json"); 3],
        other_name: None,
    },
    // opencode.ai/docs/mcp-servers; version 2 reads `mcp`, and writes `mcp.servers`.
    Client {
        name: "opencode",
        title: "opencode",
        notation: Notation::Jsonc,
        keys: &["mcp"],
        newer_keys: Some(&["mcp", "servers"]),
        shape: Shape::Local,
        variable: None,
        places: [(Base::Config, "opencode/opencode.json"); 3],
        other_name: Some("opencode.jsonc"),
    },
    // code.visualstudio.com/docs/copilot/reference/mcp-configuration: the default profile.
    Client {
        name: "vscode",
        title: "VS Code",
        notation: Notation::Jsonc,
        keys: &["servers"],
        newer_keys: None,
        shape: Shape::Stdio,
        variable: None,
        places: [
            (Base::Config, "Code/User/mcp.json"),
            (Base::Library, "Code/User/mcp.json"),
            (Base::Roaming, "Code/User/mcp.json"),
        ],
        other_name: None,
    },
    // zed.dev/docs/ai/mcp; `source` is no longer a field.
    Client {
        name: "zed",
        title: "Zed",
        notation: Notation::Jsonc,
        keys: &["context_servers"],
        newer_keys: None,
        shape: Shape::Plain,
        variable: None,
        places: [
            (Base::Config, "zed/settings.json"),
            (Base::Home, ".config/zed/settings.json"),
            (Base::Roaming, "Zed/settings.json"),
        ],
        other_name: None,
    },
];

impl Client {
    /// Returns the program with this name.
    pub fn named(name: &str) -> Option<&'static Self> {
        CLIENTS.iter().find(|client| client.name == name)
    }

    /// Returns the keys that lead to the servers, joined by points.
    pub fn key(&self) -> String {
        self.keys.join(".")
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
                Base::Home => home,
                Base::Config => named("XDG_CONFIG_HOME").unwrap_or_else(|| home.join(".config")),
                Base::Library => home.join("Library/Application Support"),
                Base::Roaming => named("APPDATA").unwrap_or_else(|| home.join("AppData/Roaming")),
            };
            folder.join(below)
        });
        let other = self.other_name.map(|name| path.with_file_name(name));
        other.filter(|other| other.exists()).unwrap_or(path)
    }
}

impl Shape {
    /// Returns the fields of an entry in their order.
    pub(super) fn fields(self, command: &str, args: &[String]) -> Vec<(&'static str, Value)> {
        match self {
            Self::Plain => vec![("command", json!(command)), ("args", json!(args))],
            Self::Stdio => {
                vec![("type", json!("stdio")), ("command", json!(command)), ("args", json!(args))]
            }
            Self::Local => {
                let line: Vec<&str> =
                    [command].into_iter().chain(args.iter().map(String::as_str)).collect();
                vec![("type", json!("local")), ("command", json!(line)), ("enabled", json!(true))]
            }
        }
    }
}

/// Returns the program and the arguments of an entry; `None` if it starts no program.
pub(super) fn started(entry: &Value) -> Option<(String, Vec<String>)> {
    let texts = |value: &Value| -> Vec<String> {
        let items = value.as_array().into_iter().flatten();
        items.filter_map(|item| Some(item.as_str()?.to_owned())).collect()
    };
    match &entry["command"] {
        Value::String(command) => Some((command.clone(), texts(&entry["args"]))),
        line @ Value::Array(_) => {
            let mut words = texts(line).into_iter();
            Some((words.next()?, words.collect()))
        }
        _ => None,
    }
}

/// Whether a program is kb, judged by its name.
pub(super) fn is_kb(command: &str) -> bool {
    Path::new(command).file_stem().is_some_and(|name| name == "kb" || name == "skc")
}
